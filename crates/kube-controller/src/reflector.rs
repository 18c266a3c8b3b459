//! References to objects, and a view of the objects that a controller has: the words of kube's `runtime::reflector`.
//!
//! An informer fills a [`Store`], and a [`Controller`](crate::Controller) runs its informers itself. For programs that are built
//! from streams, a [`Writer`] fills one from a [`watcher`](crate::watcher::watcher).

mod writer;

pub use writer::{ReflectHandle, Writer, reflector, store, store_shared};

use futures::FutureExt;
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::core::{ApiResource, DynamicObject, Selector, SelectorExt};
use kube::{Resource, ResourceExt};
use kube_informer::form::{DecodeError, WholeObject};
use kube_informer::informer::Stopped;
use kube_informer::{ObjectKey, SharedInformer};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

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
pub struct ObjectRef<K: Resource> {
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

impl<K: Resource> ObjectRef<K>
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
        Self::from_obj_with(object, Default::default())
    }
}

impl<K: Resource> ObjectRef<K> {
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
        let metadata = object.meta();
        Self {
            dyntype,
            name: metadata.name.clone().unwrap_or_default(),
            namespace: metadata.namespace.clone(),
            extra: Extra {
                resource_version: metadata.resource_version.clone(),
                uid: metadata.uid.clone(),
            },
        }
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
    pub fn into_kind_unchecked<K2: Resource>(self, dyntype: K2::DynamicType) -> ObjectRef<K2> {
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
        let resource = ApiResource::erase::<K>(&self.dyntype);
        self.into_kind_unchecked(resource)
    }
}

impl<K: Resource> From<&K> for ObjectRef<K>
where
    K::DynamicType: Default,
{
    fn from(object: &K) -> Self {
        Self::from_obj(object)
    }
}

impl<K: Resource> From<ObjectRef<K>> for ObjectReference {
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

impl<K: Resource> From<ObjectRef<K>> for ObjectKey {
    fn from(reference: ObjectRef<K>) -> Self {
        reference.key()
    }
}

impl<K: Resource> Clone for ObjectRef<K>
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

impl<K: Resource> PartialEq for ObjectRef<K>
where
    K::DynamicType: PartialEq,
{
    fn eq(&self, other: &Self) -> bool {
        (&self.dyntype, &self.name, &self.namespace) == (&other.dyntype, &other.name, &other.namespace)
    }
}

impl<K: Resource> Eq for ObjectRef<K> where K::DynamicType: Eq {}

impl<K: Resource> Hash for ObjectRef<K>
where
    K::DynamicType: Hash,
{
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.dyntype, &self.name, &self.namespace).hash(state);
    }
}

impl<K: Resource> fmt::Debug for ObjectRef<K>
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
impl<K: Resource> fmt::Display for ObjectRef<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, version) = (K::kind(&self.dyntype), K::version(&self.dyntype));
        write!(f, "{kind}.{version}.{}/{}", K::group(&self.dyntype), self.name)?;
        match &self.namespace {
            Some(namespace) => write!(f, ".{namespace}"),
            None => Ok(()),
        }
    }
}

/// What reads the objects of one kind, whatever the form in which they are held.
pub(crate) trait Read<K>: Send + Sync {
    fn get(&self, key: &str) -> Option<Result<Arc<K>, DecodeError>>;
    fn contains(&self, key: &str) -> bool;
    fn keys(&self) -> Vec<ObjectKey>;
    fn len(&self) -> usize;
    /// Calls `each` for every object until it returns false.
    fn each(&self, each: &mut dyn FnMut(Result<Arc<K>, DecodeError>) -> bool);
    fn ready(&self) -> BoxFuture<'_, Result<(), Stopped>>;
}

impl<O: WholeObject> Read<O::Object> for SharedInformer<O> {
    fn get(&self, key: &str) -> Option<Result<Arc<O::Object>, DecodeError>> {
        self.store().get(key).as_ref().map(O::object_of)
    }

    fn contains(&self, key: &str) -> bool {
        self.store().contains(key)
    }

    fn keys(&self) -> Vec<ObjectKey> {
        self.store().list_keys()
    }

    fn len(&self) -> usize {
        self.store().len()
    }

    fn each(&self, each: &mut dyn FnMut(Result<Arc<O::Object>, DecodeError>) -> bool) {
        let _ = self
            .store()
            .list()
            .iter()
            .all(|handle| each(O::object_of(handle)));
    }

    fn ready(&self) -> BoxFuture<'_, Result<(), Stopped>> {
        self.synced().boxed()
    }
}

/// Reads the objects of one kind by reference: the objects of a [`Controller`](crate::Controller::store), or of any shared
/// informer.
///
/// A clone reads the same objects. If they are held in a packed form, each call decodes what it returns; decoded objects
/// that somebody still uses are shared. An object that does not match its type is left out; the controller reports it.
///
/// ```no_run
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube_controller::reflector::{ObjectRef, Store};
///
/// # fn example(factory: kube_informer::SharedInformerFactory) {
/// let store = Store::of(&factory.informer::<ConfigMap>());
/// if let Some(settings) = store.get(&ObjectRef::new("settings").within("shop")) {
///     println!("{:?}", settings.data);
/// }
/// # }
/// ```
pub struct Store<K: Resource> {
    objects: Arc<dyn Read<K>>,
}

impl<K: Resource + Send + Sync + 'static> Store<K> {
    /// A view of the objects of a shared informer.
    pub fn of<O: WholeObject<Object = K>>(informer: &SharedInformer<O>) -> Self {
        Self {
            objects: Arc::new(informer.clone()),
        }
    }
}

impl<K: Resource> Store<K> {
    fn reading(objects: Arc<dyn Read<K>>) -> Self {
        Self { objects }
    }

    pub(crate) fn objects(&self) -> &dyn Read<K> {
        &*self.objects
    }

    /// Waits until the store holds the whole collection.
    ///
    /// # Errors
    /// The informer was stopped first.
    pub async fn wait_until_ready(&self) -> Result<(), Stopped> {
        self.objects.ready().await
    }

    /// The object, if there is one. For a cluster-scoped kind, the namespace of the reference is ignored.
    #[must_use]
    pub fn get(&self, reference: &ObjectRef<K>) -> Option<Arc<K>> {
        let found = self.objects.get(&reference.key());
        found.or_else(|| self.objects.get(&reference.name))?.ok()
    }

    /// All objects, in no particular order.
    #[must_use]
    pub fn state(&self) -> Vec<Arc<K>> {
        self.state_filter(|_| true)
    }

    /// The first object found that `predicate` accepts.
    #[must_use]
    pub fn find<P: Fn(&K) -> bool>(&self, predicate: P) -> Option<Arc<K>> {
        let mut found = None;
        self.objects.each(&mut |object| {
            found = object.ok().filter(|object| predicate(object));
            found.is_none()
        });
        found
    }

    /// The objects that `predicate` accepts, in no particular order.
    #[must_use]
    pub fn state_filter<P: Fn(&K) -> bool>(&self, predicate: P) -> Vec<Arc<K>> {
        let mut accepted = Vec::new();
        self.objects.each(&mut |object| {
            accepted.extend(object.ok().filter(|object| predicate(object)));
            true
        });
        accepted
    }

    /// The objects whose labels match `selector`, in no particular order.
    #[must_use]
    pub fn state_filter_selector(&self, selector: &Selector) -> Vec<Arc<K>> {
        self.state_filter(|object| selector.matches(object.labels()))
    }

    /// How many objects there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there are no objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<K: Resource> Clone for Store<K> {
    fn clone(&self) -> Self {
        Self {
            objects: self.objects.clone(),
        }
    }
}

impl<K: Resource> fmt::Debug for Store<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("objects", &self.len()).finish()
    }
}
