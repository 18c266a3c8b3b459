//! References to objects by kind and name.

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Resource;
use kube::core::{ApiResource, DynamicObject};
use kube_informer::ObjectKey;
use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

/// What a reference says of an object. Every [`Resource`] has it.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube_controller::reflector::{Lookup, ObjectRef};
///
/// let mut map = ConfigMap::default();
/// map.metadata.name = Some("settings".into());
/// assert_eq!(map.to_object_ref(()), ObjectRef::new("settings"));
/// ```
pub trait Lookup {
    /// What tells the kind, if the type does not.
    type DynamicType;

    /// The kind, such as `ConfigMap`.
    fn kind(dyntype: &Self::DynamicType) -> Cow<'_, str>;
    /// The group; empty for the core group.
    fn group(dyntype: &Self::DynamicType) -> Cow<'_, str>;
    /// The version, such as `v1`.
    fn version(dyntype: &Self::DynamicType) -> Cow<'_, str>;
    /// The plural, such as `configmaps`.
    fn plural(dyntype: &Self::DynamicType) -> Cow<'_, str>;
    /// The name.
    fn name(&self) -> Option<Cow<'_, str>>;
    /// The namespace; `None` for a cluster-scoped kind.
    fn namespace(&self) -> Option<Cow<'_, str>>;
    /// The version of this state.
    fn resource_version(&self) -> Option<Cow<'_, str>>;
    /// The uid.
    fn uid(&self) -> Option<Cow<'_, str>>;

    /// Group and version in one: `v1`, `apps/v1`.
    fn api_version(dyntype: &Self::DynamicType) -> Cow<'_, str> {
        let (group, version) = (Self::group(dyntype), Self::version(dyntype));
        match group.is_empty() {
            true => version,
            false => format!("{group}/{version}").into(),
        }
    }

    /// A reference to the object. Its name is empty if the object has none.
    fn to_object_ref(&self, dyntype: Self::DynamicType) -> ObjectRef<Self> {
        ObjectRef {
            dyntype,
            name: self.name().map(Cow::into_owned).unwrap_or_default(),
            namespace: self.namespace().map(Cow::into_owned),
            extra: Extra {
                resource_version: self.resource_version().map(Cow::into_owned),
                uid: self.uid().map(Cow::into_owned),
            },
        }
    }
}

impl<K: Resource> Lookup for K {
    type DynamicType = K::DynamicType;

    fn kind(dyntype: &Self::DynamicType) -> Cow<'_, str> {
        K::kind(dyntype)
    }

    fn group(dyntype: &Self::DynamicType) -> Cow<'_, str> {
        K::group(dyntype)
    }

    fn version(dyntype: &Self::DynamicType) -> Cow<'_, str> {
        K::version(dyntype)
    }

    fn plural(dyntype: &Self::DynamicType) -> Cow<'_, str> {
        K::plural(dyntype)
    }

    fn name(&self) -> Option<Cow<'_, str>> {
        self.meta().name.as_deref().map(Into::into)
    }

    fn namespace(&self) -> Option<Cow<'_, str>> {
        self.meta().namespace.as_deref().map(Into::into)
    }

    fn resource_version(&self) -> Option<Cow<'_, str>> {
        self.meta().resource_version.as_deref().map(Into::into)
    }

    fn uid(&self) -> Option<Cow<'_, str>> {
        self.meta().uid.as_deref().map(Into::into)
    }
}

/// The name of an object and of its kind.
///
/// ```
/// use k8s_openapi::api::core::v1::{ConfigMap, Secret};
/// use kube_controller::reflector::ObjectRef;
///
/// let reference = ObjectRef::<ConfigMap>::new("settings").within("shop");
/// assert_eq!(reference.to_string(), "ConfigMap.v1./settings.shop");
/// assert_ne!(ObjectRef::<ConfigMap>::new("a").erase(), ObjectRef::<Secret>::new("a").erase());
/// ```
#[non_exhaustive]
pub struct ObjectRef<K: Lookup + ?Sized> {
    /// The kind, if the type `K` does not say it.
    pub dyntype: K::DynamicType,
    /// The object's name.
    pub name: String,
    /// The object's namespace; `None` for a cluster-scoped kind.
    pub namespace: Option<String>,
    /// What else is known. Two references that differ only in this are equal.
    pub extra: Extra,
}

/// What a reference says of its object besides its name.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Extra {
    /// The version of the object that was referred to.
    pub resource_version: Option<String>,
    /// The object's uid.
    pub uid: Option<String>,
}

impl<K: Lookup> ObjectRef<K>
where
    K::DynamicType: Default,
{
    /// A reference to a cluster-scoped object; [`within`](Self::within) adds a namespace.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self::new_with(name, Default::default())
    }

    /// A reference to an object. Its name is empty if the object has none.
    #[must_use]
    pub fn from_obj(object: &K) -> Self {
        object.to_object_ref(Default::default())
    }
}

impl<K: Lookup> ObjectRef<K> {
    /// [`new`](Self::new), for a kind that is known at run time.
    #[must_use]
    pub fn new_with(name: &str, dyntype: K::DynamicType) -> Self {
        Self {
            dyntype,
            name: name.to_owned(),
            namespace: None,
            extra: Extra::default(),
        }
    }

    /// Sets the namespace.
    #[must_use]
    pub fn within(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned());
        self
    }

    /// [`from_obj`](Self::from_obj), for a kind that is known at run time.
    #[must_use]
    pub fn from_obj_with(object: &K, dyntype: K::DynamicType) -> Self {
        object.to_object_ref(dyntype)
    }

    /// A reference to an object by the key under which informers keep it.
    #[must_use]
    pub fn from_key_with(key: &ObjectKey, dyntype: K::DynamicType) -> Self {
        Self {
            dyntype,
            name: key.name().to_owned(),
            namespace: key.namespace().map(str::to_owned),
            extra: Extra::default(),
        }
    }

    /// The key under which informers keep the object.
    pub fn key(&self) -> ObjectKey {
        ObjectKey::new(self.namespace.as_deref(), &self.name)
    }

    /// A reference to an owner, for an object in `namespace`. `None` if the owner is of another group or kind; the version
    /// does not matter.
    #[must_use]
    pub fn from_owner_ref(
        namespace: Option<&str>,
        owner: &OwnerReference,
        dyntype: K::DynamicType,
    ) -> Option<Self> {
        let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
        let is_meant = owner.kind == K::kind(&dyntype) && group == K::group(&dyntype);
        is_meant.then(|| Self {
            name: owner.name.clone(),
            namespace: namespace.map(str::to_owned),
            extra: Extra {
                resource_version: None,
                uid: Some(owner.uid.clone()),
            },
            dyntype,
        })
    }

    /// The same name, of another kind.
    #[must_use]
    pub fn into_kind_unchecked<K2: Lookup>(self, dyntype: K2::DynamicType) -> ObjectRef<K2> {
        ObjectRef {
            dyntype,
            name: self.name,
            namespace: self.namespace,
            extra: self.extra,
        }
    }

    /// The same reference with its kind as a value.
    #[must_use]
    pub fn erase(self) -> ObjectRef<DynamicObject> {
        let resource = ApiResource {
            group: K::group(&self.dyntype).into_owned(),
            version: K::version(&self.dyntype).into_owned(),
            api_version: K::api_version(&self.dyntype).into_owned(),
            kind: K::kind(&self.dyntype).into_owned(),
            plural: K::plural(&self.dyntype).into_owned(),
        };
        self.into_kind_unchecked(resource)
    }
}

impl<K: Lookup> From<&K> for ObjectRef<K>
where
    K::DynamicType: Default,
{
    fn from(object: &K) -> Self {
        Self::from_obj(object)
    }
}

impl<K: Lookup> From<ObjectRef<K>> for ObjectReference {
    fn from(reference: ObjectRef<K>) -> Self {
        Self {
            api_version: Some(K::api_version(&reference.dyntype).into_owned()),
            kind: Some(K::kind(&reference.dyntype).into_owned()),
            name: Some(reference.name),
            namespace: reference.namespace,
            resource_version: reference.extra.resource_version,
            uid: reference.extra.uid,
            field_path: None,
        }
    }
}

impl<K: Lookup> From<ObjectRef<K>> for ObjectKey {
    fn from(reference: ObjectRef<K>) -> Self {
        reference.key()
    }
}

impl<K: Lookup + ?Sized> Clone for ObjectRef<K>
where
    K::DynamicType: Clone,
{
    fn clone(&self) -> Self {
        Self {
            dyntype: self.dyntype.clone(),
            name: self.name.clone(),
            namespace: self.namespace.clone(),
            extra: self.extra.clone(),
        }
    }
}

impl<K: Lookup + ?Sized> PartialEq for ObjectRef<K>
where
    K::DynamicType: PartialEq,
{
    fn eq(&self, other: &Self) -> bool {
        (&self.dyntype, &self.name, &self.namespace) == (&other.dyntype, &other.name, &other.namespace)
    }
}

impl<K: Lookup + ?Sized> Eq for ObjectRef<K> where K::DynamicType: Eq {}

impl<K: Lookup + ?Sized> Hash for ObjectRef<K>
where
    K::DynamicType: Hash,
{
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.dyntype, &self.name, &self.namespace).hash(state);
    }
}

impl<K: Lookup + ?Sized> fmt::Debug for ObjectRef<K>
where
    K::DynamicType: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectRef")
            .field("dyntype", &self.dyntype)
            .field("name", &self.name)
            .field("namespace", &self.namespace)
            .field("extra", &self.extra)
            .finish()
    }
}

/// `Kind.version.group/name.namespace`, as kube prints it.
impl<K: Lookup + ?Sized> fmt::Display for ObjectRef<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, version) = (K::kind(&self.dyntype), K::version(&self.dyntype));
        write!(f, "{kind}.{version}.{}/{}", K::group(&self.dyntype), self.name)?;
        match &self.namespace {
            Some(namespace) => write!(f, ".{namespace}"),
            None => Ok(()),
        }
    }
}
