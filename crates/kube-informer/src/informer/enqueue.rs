//! Handlers that put keys on a work queue.
//!
//! A controller's handlers do no work: they add keys to a queue, and workers read the current state of each key from
//! the store. There are three choices of the keys that a change adds:
//!
//! | function | keys |
//! |---|---|
//! | [`object`] | the key of the object itself |
//! | [`owner`] | the keys of its owners of one kind, such as the ReplicaSet of a pod |
//! | [`mapped`] | the keys that a function returns for the object |
//!
//! ```no_run
//! use k8s_openapi::api::apps::v1::ReplicaSet;
//! use k8s_openapi::api::core::v1::Pod;
//! use kube_informer::informer::enqueue::{self, OwnerKind};
//! use kube_informer::{ObjectKey, SharedInformerFactory};
//! use kube_workqueue::{Requeue, WorkQueue, Workers};
//!
//! # async fn example(factory: SharedInformerFactory) -> Result<(), Box<dyn std::error::Error>> {
//! let (sets, pods) = (factory.informer::<ReplicaSet>(), factory.informer::<Pod>());
//! let queue = WorkQueue::<ObjectKey>::new();
//! let (own, of_pods) = (queue.clone(), queue.clone());
//! sets.add_handler("sets", enqueue::object(move |key| own.add(key)))?.detach();
//! let owner = OwnerKind::of::<ReplicaSet>().controller_only();
//! pods.add_handler("pods", enqueue::owner(owner, move |key| of_pods.add(key)))?.detach();
//!
//! let lister = sets.lister();
//! let workers = Workers::new(queue, 4).run(move |key: ObjectKey| {
//!     let set = lister.get(&key).ok();
//!     async move {
//!         println!("{key} exists: {}", set.is_some());
//!         Ok::<_, std::convert::Infallible>(Requeue::No)
//!     }
//! });
//! # Ok(())
//! # }
//! ```
//!
//! Any queue will do; this one is from the crate `kube-workqueue`, on which this crate does not depend. The function
//! that adds a key runs on the handler's task, so it must not block.
//!
//! The keys of [`owner`] and [`mapped`] depend on an object's states. With
//! [`Delivery::Coalesced`](super::Delivery::Coalesced), intermediate states are skipped while very many changes wait.
//! These handlers are quick, so they can use [`Delivery::Unbounded`](super::Delivery::Unbounded), which skips none.

use super::{Notification, ResourceEventHandler};
use crate::object::{CachedObject, HasOwners, ObjectKey};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::core::discovery::Scope;
use kube::core::{ApiResource, ClusterResourceScope};
use std::any::TypeId;
use std::collections::HashSet;

/// A handler that adds the key of each object that is added, updated or deleted.
///
/// ```no_run
/// # use k8s_openapi::api::core::v1::Pod;
/// # use kube_informer::{ObjectKey, SharedInformer, informer::{Stopped, enqueue}};
/// # fn example(pods: SharedInformer<Pod>, queue: kube_workqueue::WorkQueue<ObjectKey>) -> Result<(), Stopped> {
/// pods.add_handler("pods", enqueue::object(move |key| queue.add(key)))?.detach();
/// # Ok(())
/// # }
/// ```
#[doc(alias = "EnqueueRequestForObject")]
pub fn object<O: CachedObject>(
    mut add: impl FnMut(ObjectKey) + Send + 'static,
) -> impl ResourceEventHandler<O> {
    move |change: Notification<O>| add(change.key())
}

/// A handler that adds the keys of the owners that are of one kind. For an update, these are the owners before and
/// after it, each once; for a deletion, those of the last known state.
///
/// A packed object is decompressed to read its owners; declaring `/metadata/ownerReferences` in the collection's
/// [`FieldPlan`](crate::FieldPlan) avoids that.
///
/// ```no_run
/// # use k8s_openapi::api::{apps::v1::ReplicaSet, core::v1::Pod};
/// # use kube_informer::{ObjectKey, SharedInformer, informer::Stopped};
/// use kube_informer::informer::enqueue::{self, OwnerKind};
///
/// # fn example(pods: SharedInformer<Pod>, queue: kube_workqueue::WorkQueue<ObjectKey>) -> Result<(), Stopped> {
/// let handler = enqueue::owner(OwnerKind::of::<ReplicaSet>(), move |key| queue.add(key));
/// pods.add_handler("owners", handler)?.detach();
/// # Ok(())
/// # }
/// ```
#[doc(alias = "EnqueueRequestForOwner")]
pub fn owner<O: HasOwners>(
    owner: OwnerKind,
    add: impl FnMut(ObjectKey) + Send + 'static,
) -> impl ResourceEventHandler<O> {
    mapped(move |object: &O::Handle| owner.keys::<O>(object), add)
}

/// A handler that adds the keys that `map` returns for an object. For an update, these are the keys of the old and of
/// the new object, each once; for a deletion, those of the last known state.
///
/// ```no_run
/// # use k8s_openapi::api::core::v1::Pod;
/// # use kube_informer::{ObjectKey, SharedInformer, informer::{Stopped, enqueue}};
/// # fn example(pods: SharedInformer<Pod>, queue: kube_workqueue::WorkQueue<ObjectKey>) -> Result<(), Stopped> {
/// let node = |pod: &std::sync::Arc<Pod>| pod.spec.as_ref()?.node_name.clone().map(ObjectKey::from);
/// pods.add_handler("nodes-of-pods", enqueue::mapped::<Pod, _>(node, move |key| queue.add(key)))?.detach();
/// # Ok(())
/// # }
/// ```
#[doc(alias = "EnqueueRequestsFromMapFunc")]
pub fn mapped<O: CachedObject, I: IntoIterator<Item = ObjectKey>>(
    mut map: impl FnMut(&O::Handle) -> I + Send + 'static,
    mut add: impl FnMut(ObjectKey) + Send + 'static,
) -> impl ResourceEventHandler<O> {
    move |change: Notification<O>| {
        let old = match &change {
            Notification::Update { old, .. } => Some(old),
            _ => None,
        };
        let mut added = HashSet::new();
        for object in old.into_iter().chain(change.object()) {
            for key in map(object) {
                if added.insert(key.clone()) {
                    add(key);
                }
            }
        }
    }
}

/// Which of an object's owners [`owner`] adds.
///
/// Owners are identified by group and kind; the version is ignored. An owner is in the namespace of what it owns,
/// unless its kind has no namespaces.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "it says which owners to add"]
pub struct OwnerKind {
    group: String,
    kind: String,
    namespaced: bool,
    controller_only: bool,
}

impl OwnerKind {
    /// All owners of a kind that is known at compile time.
    pub fn of<K: kube::Resource<DynamicType = (), Scope: 'static>>() -> Self {
        let scope = match TypeId::of::<K::Scope>() == TypeId::of::<ClusterResourceScope>() {
            true => Scope::Cluster,
            false => Scope::Namespaced,
        };
        Self::new(&ApiResource::erase::<K>(&()), scope)
    }

    /// All owners of any kind.
    pub fn new(resource: &ApiResource, scope: Scope) -> Self {
        Self {
            group: resource.group.clone(),
            kind: resource.kind.clone(),
            namespaced: scope == Scope::Namespaced,
            controller_only: false,
        }
    }

    /// Only the owner that is the object's controller; an object has one at most.
    #[doc(alias = "OnlyControllerOwner")]
    pub fn controller_only(mut self) -> Self {
        self.controller_only = true;
        self
    }

    fn is_meant(&self, owner: &OwnerReference) -> bool {
        let group = match owner.api_version.split_once('/') {
            None => "",
            Some((group, version)) if !version.contains('/') => group,
            Some(_) => return false,
        };
        let controls = || owner.controller == Some(true);
        owner.kind == self.kind && group == self.group && (!self.controller_only || controls())
    }

    /// The keys of the object's owners that are meant.
    pub fn keys<O: HasOwners>(&self, object: &O::Handle) -> Vec<ObjectKey> {
        let namespace = O::namespace_of(object).filter(|_| self.namespaced);
        let owners = O::owners_of(object);
        let meant = owners.iter().filter(|owner| self.is_meant(owner));
        meant
            .map(|owner| ObjectKey::new(namespace, &owner.name))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::informer::handler::handle;
    use crate::object::{DeleteCause, Deleted};
    use futures::FutureExt;
    use k8s_openapi::api::apps::v1::ReplicaSet;
    use k8s_openapi::api::core::v1::{Node, Pod};
    use std::sync::{Arc, Mutex};

    /// A pod `shop/web-0` with these owners: apiVersion, kind, name, whether it is the controller.
    fn pod(owners: &[(&str, &str, &str, bool)]) -> Arc<Pod> {
        let mut pod = Pod::default();
        (pod.metadata.namespace, pod.metadata.name) = (Some("shop".into()), Some("web-0".into()));
        let owners = owners
            .iter()
            .map(|(version, kind, name, controller)| OwnerReference {
                api_version: (*version).into(),
                kind: (*kind).into(),
                name: (*name).into(),
                controller: Some(*controller),
                ..Default::default()
            });
        pod.metadata.owner_references = Some(owners.collect());
        pod.into()
    }

    fn add(object: &Arc<Pod>) -> Notification<Pod> {
        Notification::Add {
            object: object.clone(),
            initial: false,
        }
    }

    fn update(old: &Arc<Pod>, new: &Arc<Pod>) -> Notification<Pod> {
        Notification::Update {
            old: old.clone(),
            new: new.clone(),
        }
    }

    fn delete(last_known: Option<&Arc<Pod>>) -> Notification<Pod> {
        Notification::Delete(Deleted {
            key: "shop/web-0".into(),
            last_known: last_known.cloned(),
            cause: DeleteCause::Event,
        })
    }

    type Keys = Arc<Mutex<Vec<String>>>;

    fn queue() -> (Keys, impl FnMut(ObjectKey) + Send + 'static) {
        let keys = Keys::default();
        let queued = keys.clone();
        (keys, move |key| queued.lock().unwrap().push(key.to_string()))
    }

    /// What a handler adds for one change.
    fn added(handler: &mut impl ResourceEventHandler<Pod>, keys: &Keys, change: Notification<Pod>) -> String {
        handle(handler, change).now_or_never().unwrap();
        std::mem::take(&mut *keys.lock().unwrap()).join(" ")
    }

    #[test]
    fn every_change_adds_the_key_of_its_object() {
        let (keys, queue) = queue();
        let (handler, pod) = (&mut object(queue), pod(&[]));
        for change in [add(&pod), update(&pod, &pod), delete(Some(&pod)), delete(None)] {
            assert_eq!(added(handler, &keys, change), "shop/web-0");
        }
    }

    #[test]
    fn owners_are_told_by_group_and_kind() {
        let (keys, queue) = queue();
        let handler = &mut owner(OwnerKind::of::<ReplicaSet>(), queue);
        let pod = pod(&[
            ("apps/v1", "ReplicaSet", "a", true),
            ("apps/v1beta1", "ReplicaSet", "b", false),
            ("example.com/v1", "ReplicaSet", "c", false),
            ("v1", "ReplicaSet", "d", false),
            ("apps/v1/beta", "ReplicaSet", "f", false),
            ("apps/v1", "StatefulSet", "e", false),
        ]);
        assert_eq!(added(handler, &keys, add(&pod)), "shop/a shop/b");
        assert_eq!(added(handler, &keys, delete(Some(&pod))), "shop/a shop/b");
        assert_eq!(added(handler, &keys, delete(None)), "");
    }

    #[test]
    fn only_the_controller_can_be_asked_for() {
        let (keys, queue) = queue();
        let handler = &mut owner(OwnerKind::of::<ReplicaSet>().controller_only(), queue);
        let pod = pod(&[
            ("apps/v1", "ReplicaSet", "a", false),
            ("apps/v1", "ReplicaSet", "b", true),
        ]);
        assert_eq!(added(handler, &keys, add(&pod)), "shop/b");
    }

    #[test]
    fn an_owner_without_namespaces_has_none_in_its_key() {
        let (keys, queue) = queue();
        let handler = &mut owner(OwnerKind::of::<Node>(), queue);
        assert_eq!(
            added(handler, &keys, add(&pod(&[("v1", "Node", "node-1", true)]))),
            "node-1"
        );
    }

    #[test]
    fn an_update_adds_the_owners_before_and_after_each_once() {
        let (keys, queue) = queue();
        let handler = &mut owner(OwnerKind::of::<ReplicaSet>(), queue);
        let owners = |names: &[&'static str]| {
            let owners = names.iter().map(|name| ("apps/v1", "ReplicaSet", *name, false));
            pod(&owners.collect::<Vec<_>>())
        };
        let change = update(&owners(&["a", "b"]), &owners(&["b", "c"]));
        assert_eq!(added(handler, &keys, change), "shop/a shop/b shop/c");
        let same = owners(&["a"]);
        assert_eq!(added(handler, &keys, update(&same, &same)), "shop/a");
    }

    #[cfg(feature = "packed")]
    #[test]
    fn the_owners_of_packed_objects_are_read_too() {
        use crate::form::{Decode, DecoderConfig, Packed};
        use crate::low_level::wire::{Encoding, RawObject};
        let packed = |owners: &str| {
            let body =
                format!(r#"{{"metadata":{{"name":"a","namespace":"shop","ownerReferences":{owners}}}}}"#);
            let raw = RawObject::scan_with(Encoding::Json, body.into(), &Packed::<Pod>::plan()).unwrap();
            let packer = Packed::<Pod>::decoder(DecoderConfig::default());
            Packed::<Pod>::decode_raw(&packer, &raw.key(), &raw).unwrap()
        };
        let owner = r#"[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"1"}]"#;
        let keys = |owners: &str| OwnerKind::of::<ReplicaSet>().keys::<Packed<Pod>>(&packed(owners));
        assert_eq!(keys(owner), ["shop/web".into()]);
        assert_eq!(keys("[]"), []);
        assert_eq!(keys(r#"["nonsense"]"#), []);
    }

    #[test]
    fn mapped_keys_of_one_change_are_added_once() {
        let (keys, queue) = queue();
        let labels = |pod: &Arc<Pod>| {
            ["node-1", "node-1", pod.metadata.uid.as_deref().unwrap_or("none")].map(ObjectKey::from)
        };
        let handler = &mut mapped::<Pod, _>(labels, queue);
        let (old, mut new) = (pod(&[]), pod(&[]));
        Arc::make_mut(&mut new).metadata.uid = Some("node-2".into());
        assert_eq!(added(handler, &keys, update(&old, &new)), "node-1 none node-2");
        assert_eq!(
            added(handler, &keys, add(&old)),
            "node-1 none",
            "it starts anew for each change"
        );
    }
}
