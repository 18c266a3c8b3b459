//! What comes from streams instead of informers: the objects of the controller itself, and those that lead to them.

use super::Controller;
use super::trigger::Trigger;
use crate::reflector::{ObjectRef, Store};
use crate::watcher;
use futures::{Stream, StreamExt, stream};
use kube::Resource;
use kube::core::{PartialObjectMeta, PartialObjectMetaExt};
use kube_informer::ObjectKey;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

impl<K> Controller<K>
where
    K: Clone + Resource + DeserializeOwned + Debug + Send + Sync + 'static,
    K::DynamicType: Eq + Hash + Clone,
{
    /// A controller of objects that come from a stream and are read from a store.
    ///
    /// Reconciling begins when the store is ready. Deletions are read from the store, so the stream need not
    /// contain them.
    pub fn for_stream(
        objects: impl Stream<Item = Result<K, watcher::Error>> + Send + 'static,
        reader: Store<K>,
    ) -> Self
    where
        K::DynamicType: Default,
    {
        Self::for_stream_with(objects, reader, Default::default())
    }

    /// [`for_stream`](Self::for_stream), for a kind that is known at run time.
    pub fn for_stream_with(
        objects: impl Stream<Item = Result<K, watcher::Error>> + Send + 'static,
        reader: Store<K>,
        dyntype: K::DynamicType,
    ) -> Self {
        let keys = objects.map(|object| object.map(|object| ObjectKey::of(&object)));
        Self::for_keys(keys, reader, dyntype)
    }

    fn for_keys(
        keys: impl Stream<Item = Result<ObjectKey, watcher::Error>> + Send + 'static,
        reader: Store<K>,
        dyntype: K::DynamicType,
    ) -> Self {
        let triggers = keys.map(|key| key.map_or_else(Trigger::Failed, Trigger::Key));
        let mut controller = Self::make(dyntype, reader, None);
        controller.triggers.push(triggers.boxed());
        controller
    }

    /// [`for_stream`](Self::for_stream), for shared objects.
    pub fn for_shared_stream(objects: impl Stream<Item = Arc<K>> + Send + 'static, reader: Store<K>) -> Self
    where
        K::DynamicType: Default,
    {
        Self::for_shared_stream_with(objects, reader, Default::default())
    }

    /// [`for_shared_stream`](Self::for_shared_stream), for a kind that is known at run time.
    pub fn for_shared_stream_with(
        objects: impl Stream<Item = Arc<K>> + Send + 'static,
        reader: Store<K>,
        dyntype: K::DynamicType,
    ) -> Self {
        Self::for_keys(objects.map(|object| Ok(ObjectKey::of(&*object))), reader, dyntype)
    }
}

impl<K> Controller<K>
where
    K: Resource + Send + Sync + 'static,
    K::DynamicType: Eq + Hash + Clone,
{
    /// Reconciles the owners of objects that come from a stream.
    pub fn owns_stream<Child: Resource<DynamicType = ()> + Send + 'static>(
        self,
        objects: impl Stream<Item = Result<Child, watcher::Error>> + Send + 'static,
    ) -> Self {
        self.owns_stream_with(objects, ())
    }

    /// [`owns_stream`](Self::owns_stream), for a kind that is known at run time. `_dyntype` is not used,
    /// because each object has its owner references.
    pub fn owns_stream_with<Child: Resource + Send + 'static>(
        self,
        objects: impl Stream<Item = Result<Child, watcher::Error>> + Send + 'static,
        _dyntype: Child::DynamicType,
    ) -> Self {
        let owner = self.owner_kind();
        self.triggered_by(objects, move |mut object| {
            let metadata = std::mem::take(object.meta_mut());
            owner.keys::<PartialObjectMeta>(&Arc::new(metadata.into_response_partial()))
        })
    }

    /// Reconciles the owners of shared objects that come from a stream.
    pub fn owns_shared_stream<Child: Resource<DynamicType = ()> + Send + Sync + 'static>(
        self,
        objects: impl Stream<Item = Arc<Child>> + Send + 'static,
    ) -> Self {
        self.owns_shared_stream_with(objects, ())
    }

    /// [`owns_shared_stream`](Self::owns_shared_stream), for a kind that is known at run time.
    pub fn owns_shared_stream_with<Child: Resource + Send + Sync + 'static>(
        self,
        objects: impl Stream<Item = Arc<Child>> + Send + 'static,
        _dyntype: Child::DynamicType,
    ) -> Self {
        let owner = self.owner_kind();
        self.triggered_by(objects.map(Ok), move |object| owner.keys::<Child>(&object))
    }

    /// Reconciles the objects that `mapper` returns for each object of a stream.
    pub fn watches_stream<Other, I>(
        self,
        objects: impl Stream<Item = Result<Other, watcher::Error>> + Send + 'static,
        mapper: impl Fn(Other) -> I + Send + Sync + 'static,
    ) -> Self
    where
        Other: Resource<DynamicType: Default> + Send + 'static,
        I: IntoIterator<Item = ObjectRef<K>> + 'static,
    {
        self.watches_stream_with(objects, mapper, Default::default())
    }

    /// [`watches_stream`](Self::watches_stream), for a kind that is known at run time.
    pub fn watches_stream_with<Other, I>(
        self,
        objects: impl Stream<Item = Result<Other, watcher::Error>> + Send + 'static,
        mapper: impl Fn(Other) -> I + Send + Sync + 'static,
        _dyntype: Other::DynamicType,
    ) -> Self
    where
        Other: Resource + Send + 'static,
        I: IntoIterator<Item = ObjectRef<K>> + 'static,
    {
        self.triggered_by(objects, move |object| {
            mapper(object).into_iter().map(Into::into).collect()
        })
    }

    /// Reconciles the objects that `mapper` returns for each shared object of a stream.
    pub fn watches_shared_stream<Other, I>(
        self,
        objects: impl Stream<Item = Arc<Other>> + Send + 'static,
        mapper: impl Fn(Arc<Other>) -> I + Send + Sync + 'static,
    ) -> Self
    where
        Other: Resource<DynamicType: Default> + Send + Sync + 'static,
        I: IntoIterator<Item = ObjectRef<K>> + 'static,
    {
        self.watches_shared_stream_with(objects, mapper, Default::default())
    }

    /// [`watches_shared_stream`](Self::watches_shared_stream), for a kind that is known at run time.
    pub fn watches_shared_stream_with<Other, I>(
        self,
        objects: impl Stream<Item = Arc<Other>> + Send + 'static,
        mapper: impl Fn(Arc<Other>) -> I + Send + Sync + 'static,
        _dyntype: Other::DynamicType,
    ) -> Self
    where
        Other: Resource + Send + Sync + 'static,
        I: IntoIterator<Item = ObjectRef<K>> + 'static,
    {
        self.triggered_by(objects.map(Ok), move |object| {
            mapper(object).into_iter().map(Into::into).collect()
        })
    }

    /// Reconciles the objects to which those of a stream lead.
    fn triggered_by<T: 'static>(
        mut self,
        objects: impl Stream<Item = Result<T, watcher::Error>> + Send + 'static,
        keys: impl Fn(T) -> Vec<ObjectKey> + Send + 'static,
    ) -> Self {
        let triggers = objects.flat_map(move |object| stream::iter(Trigger::of(object.map(&keys))));
        self.triggers.push(triggers.boxed());
        self
    }
}
