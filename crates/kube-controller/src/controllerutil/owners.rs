//! References from children to their owners.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Resource;

/// Why an owner reference was not set or removed. The object is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OwnerError {
    /// Another object controls it already; an object has one controller at most.
    #[error("object {object} is already controlled by {kind} {name}")]
    AlreadyOwned {
        /// The child, as `namespace/name`.
        object: String,
        /// The kind of its controller.
        kind: String,
        /// The name of its controller.
        name: String,
    },
    /// An owner with a namespace cannot own a cluster-scoped object, nor one whose namespace is not set yet.
    #[error(
        "object {object} has no namespace, so it cannot be owned by {owner} in namespace {namespace:?}; set its namespace if it has one"
    )]
    ClusterScopedChild {
        /// The child's name.
        object: String,
        /// The owner's name.
        owner: String,
        /// The owner's namespace.
        namespace: String,
    },
    /// Owner and child are in different namespaces; the garbage collector would delete the child.
    #[error("object {object} cannot be owned by {owner} in another namespace, {namespace:?}")]
    OtherNamespace {
        /// The child, as `namespace/name`.
        object: String,
        /// The owner's name.
        owner: String,
        /// The owner's namespace.
        namespace: String,
    },
    /// The owner has no name or no uid: it does not come from the server.
    #[error("the owner has no name or no uid: it does not come from the server")]
    OwnerNotStored,
    /// There is no reference to remove.
    #[error("object {object} has no owner reference to {kind} {name}")]
    NotFound {
        /// The child, as `namespace/name`.
        object: String,
        /// The owner's kind.
        kind: String,
        /// The owner's name.
        name: String,
    },
}

/// Makes `owner` the controller of `child`, in memory: the child is deleted with it, and its changes reconcile it.
///
/// The reference blocks the owner's deletion in the foreground (`blockOwnerDeletion`). One to the same owner (its group, kind
/// and name) is replaced, whatever its version and uid, and whether or not it was a controller's.
///
/// ```
/// use k8s_openapi::api::apps::v1::Deployment;
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube_controller::controllerutil::set_controller_reference;
///
/// let mut owner = ConfigMap::default();
/// owner.metadata.namespace = Some("shop".into());
/// owner.metadata.name = Some("web".into());
/// owner.metadata.uid = Some("8b5c".into()); // the server sets it
///
/// let mut child = Deployment::default();
/// child.metadata.namespace = Some("shop".into());
/// set_controller_reference(&owner, &mut child)?;
/// assert_eq!(child.metadata.owner_references.unwrap()[0].controller, Some(true));
/// # Ok::<(), kube_controller::controllerutil::OwnerError>(())
/// ```
///
/// # Errors
///
/// Another object controls the child, the owner is in another namespace or has one where the child has none, or the owner
/// does not come from the server.
pub fn set_controller_reference<O, C>(owner: &O, child: &mut C) -> Result<(), OwnerError>
where
    O: Resource<DynamicType: Default>,
    C: Resource,
{
    set_controller_reference_with(owner, &O::DynamicType::default(), child)
}

/// [`set_controller_reference`] for an owner whose kind is known at run time only.
///
/// # Errors
///
/// As there.
pub fn set_controller_reference_with<O: Resource, C: Resource>(
    owner: &O,
    owner_type: &O::DynamicType,
    child: &mut C,
) -> Result<(), OwnerError> {
    let mut reference = reference_to(owner, owner_type, child)?;
    reference.controller = Some(true);
    reference.block_owner_deletion = Some(true);
    let references = child.meta().owner_references.iter().flatten();
    let mut controllers = references.filter(|held| held.controller == Some(true));
    if let Some(other) = controllers.find(|held| !is_same(held, &reference)) {
        return Err(OwnerError::AlreadyOwned {
            object: name_of(child),
            kind: other.kind.clone(),
            name: other.name.clone(),
        });
    }
    upsert(child, reference);
    Ok(())
}

/// Makes `owner` one of the owners of `child`, in memory: the child is deleted with the last of them.
///
/// The reference has neither `controller` nor `blockOwnerDeletion`. One to the same owner (its group, kind and name) is
/// replaced, whatever its version and uid.
///
/// # Errors
///
/// The owner is in another namespace or has one where the child has none, or it does not come from the server.
pub fn set_owner_reference<O, C>(owner: &O, child: &mut C) -> Result<(), OwnerError>
where
    O: Resource<DynamicType: Default>,
    C: Resource,
{
    set_owner_reference_with(owner, &O::DynamicType::default(), child)
}

/// [`set_owner_reference`] for an owner whose kind is known at run time only.
///
/// # Errors
///
/// As there.
pub fn set_owner_reference_with<O: Resource, C: Resource>(
    owner: &O,
    owner_type: &O::DynamicType,
    child: &mut C,
) -> Result<(), OwnerError> {
    let reference = reference_to(owner, owner_type, child)?;
    upsert(child, reference);
    Ok(())
}

/// Removes the reference to `owner` from `child`, in memory, whatever its version and uid.
///
/// # Errors
///
/// There is none, or the owner does not come from the server.
pub fn remove_owner_reference<O: Resource, C: Resource>(
    owner: &O,
    owner_type: &O::DynamicType,
    child: &mut C,
) -> Result<(), OwnerError> {
    let reference = owner.owner_ref(owner_type).ok_or(OwnerError::OwnerNotStored)?;
    let object = name_of(child);
    let references = child.meta_mut().owner_references.get_or_insert_default();
    let before = references.len();
    references.retain(|held| !is_same(held, &reference));
    let (removed, empty) = (references.len() < before, references.is_empty());
    if empty {
        child.meta_mut().owner_references = None;
    }
    match removed {
        true => Ok(()),
        false => Err(OwnerError::NotFound {
            object,
            kind: reference.kind,
            name: reference.name,
        }),
    }
}

/// The reference without flags, if the owner may own the child.
fn reference_to<O: Resource, C: Resource>(
    owner: &O,
    owner_type: &O::DynamicType,
    child: &C,
) -> Result<OwnerReference, OwnerError> {
    let reference = owner.owner_ref(owner_type).ok_or(OwnerError::OwnerNotStored)?;
    let namespace = |namespace: &Option<String>| namespace.clone().filter(|name| !name.is_empty());
    let (Some(owners), child_namespace) = (
        namespace(&owner.meta().namespace),
        namespace(&child.meta().namespace),
    ) else {
        return Ok(reference);
    };
    match child_namespace {
        Some(child_namespace) if child_namespace == owners => Ok(reference),
        Some(_) => Err(OwnerError::OtherNamespace {
            object: name_of(child),
            owner: reference.name,
            namespace: owners,
        }),
        None => Err(OwnerError::ClusterScopedChild {
            object: name_of(child),
            owner: reference.name,
            namespace: owners,
        }),
    }
}

/// Puts a reference in place of the one to the same owner, or behind the others.
fn upsert<C: Resource>(child: &mut C, reference: OwnerReference) {
    let references = child.meta_mut().owner_references.get_or_insert_default();
    match references.iter_mut().find(|held| is_same(held, &reference)) {
        Some(held) => *held = reference,
        None => references.push(reference),
    }
}

/// Whether both refer to the same group, kind and name.
fn is_same(one: &OwnerReference, other: &OwnerReference) -> bool {
    fn group(reference: &OwnerReference) -> &str {
        let group = reference.api_version.split_once('/');
        group.map_or("", |(group, _)| group)
    }
    group(one) == group(other) && one.kind == other.kind && one.name == other.name
}

fn name_of<C: Resource>(child: &C) -> String {
    let meta = child.meta();
    let name = meta
        .name
        .as_deref()
        .or(meta.generate_name.as_deref())
        .unwrap_or("");
    match &meta.namespace {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::apps::v1::Deployment;
    use k8s_openapi::api::core::v1::{ConfigMap, Node, PersistentVolume};
    use kube::core::{ApiResource, DynamicObject, GroupVersionKind};

    fn owner(name: &str) -> ConfigMap {
        let mut owner = ConfigMap::default();
        owner.metadata.namespace = Some("ns".into());
        owner.metadata.name = Some(name.into());
        owner.metadata.uid = Some(format!("uid-{name}"));
        owner
    }

    fn child() -> Deployment {
        let mut child = Deployment::default();
        child.metadata.namespace = Some("ns".into());
        child.metadata.name = Some("child".into());
        child
    }

    fn references(child: &Deployment) -> &[OwnerReference] {
        child.metadata.owner_references.as_deref().unwrap_or_default()
    }

    #[test]
    fn a_second_controller_is_refused() {
        // Case 80.
        let mut child = child();
        set_controller_reference(&owner("a"), &mut child).unwrap();
        let reference = &references(&child)[0];
        let flags = (reference.controller, reference.block_owner_deletion);
        assert_eq!(flags, (Some(true), Some(true)));
        let before = child.clone();
        let error = set_controller_reference(&owner("b"), &mut child).unwrap_err();
        assert_eq!(
            error.to_string(),
            "object ns/child is already controlled by ConfigMap a"
        );
        assert_eq!(child, before);
        set_owner_reference(&owner("b"), &mut child).unwrap();
        assert_eq!(references(&child)[1].controller, None);
        assert_eq!(references(&child)[1].block_owner_deletion, None);
    }

    #[test]
    fn owners_of_other_scopes_and_namespaces_are_refused() {
        // Case 81.
        let mut volume = PersistentVolume::default();
        volume.metadata.name = Some("pv".into());
        let error = set_controller_reference(&owner("a"), &mut volume).unwrap_err();
        assert!(matches!(error, OwnerError::ClusterScopedChild { .. }));
        let mut elsewhere = child();
        elsewhere.metadata.namespace = Some("other".into());
        let error = set_owner_reference(&owner("a"), &mut elsewhere).unwrap_err();
        assert!(matches!(error, OwnerError::OtherNamespace { .. }));
        assert_eq!(references(&elsewhere), []);

        let mut node = Node::default();
        node.metadata.name = Some("n".into());
        let error = set_owner_reference(&node, &mut elsewhere).unwrap_err();
        assert_eq!(error, OwnerError::OwnerNotStored, "it has no uid");
        node.metadata.uid = Some("1".into());
        set_owner_reference(&node, &mut elsewhere).expect("a cluster-scoped owner owns anything");
    }

    #[test]
    fn an_owner_at_another_version_has_one_reference() {
        // Case 82.
        let owner_at = |version| {
            let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", version, "Foo"));
            let mut owner = DynamicObject::new("foo", &kind).within("ns");
            owner.metadata.uid = Some(format!("uid-{version}"));
            (owner, kind)
        };
        let mut child = child();
        let (old, old_kind) = owner_at("v1alpha1");
        set_owner_reference_with(&old, &old_kind, &mut child).unwrap();
        let (new, new_kind) = owner_at("v1");
        set_controller_reference_with(&new, &new_kind, &mut child).expect("a plain reference is upgraded");
        let [reference] = references(&child) else {
            panic!("one reference");
        };
        assert_eq!(reference.api_version, "example.com/v1");
        assert_eq!((&*reference.uid, reference.controller), ("uid-v1", Some(true)));

        remove_owner_reference(&old, &old_kind, &mut child).unwrap();
        assert_eq!(child.metadata.owner_references, None);
        let error = remove_owner_reference(&old, &old_kind, &mut child).unwrap_err();
        assert_eq!(
            error.to_string(),
            "object ns/child has no owner reference to Foo foo"
        );
    }
}
