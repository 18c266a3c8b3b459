//! An informer whose form does not matter.

use futures::FutureExt;
use futures::future::BoxFuture;
use kube_informer::informer::{InformerStatus, PartitionStatus, Stopped, Unsynced};
use kube_informer::{CachedObject, ShardSet, SharedInformer};

/// An informer, whatever its form.
pub(crate) trait AnyInformer: Send + Sync {
    fn resource(&self) -> &str;
    fn status(&self) -> InformerStatus;
    fn shards(&self) -> Option<&ShardSet>;
    fn unsynced(&self) -> Vec<Unsynced>;
    fn unsynced_partitions(&self, namespace: Option<&str>, uid: Option<&str>) -> Vec<PartitionStatus>;
    fn has_synced(&self) -> bool;
    fn synced(&self) -> BoxFuture<'_, Result<(), Stopped>>;
    fn has_synced_for(&self, namespace: Option<&str>, uid: Option<&str>) -> bool;
    fn synced_for<'a>(
        &'a self,
        namespace: Option<&'a str>,
        uid: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(), Stopped>>;
    fn stopped(&self) -> BoxFuture<'_, ()>;
}

impl<O: CachedObject> AnyInformer for SharedInformer<O> {
    fn resource(&self) -> &str {
        self.resource()
    }

    fn status(&self) -> InformerStatus {
        self.status()
    }

    fn shards(&self) -> Option<&ShardSet> {
        self.shards()
    }

    fn unsynced(&self) -> Vec<Unsynced> {
        SharedInformer::unsynced(self)
    }

    fn unsynced_partitions(&self, namespace: Option<&str>, uid: Option<&str>) -> Vec<PartitionStatus> {
        self.unsynced_partitions(namespace, uid)
    }

    fn has_synced(&self) -> bool {
        self.has_synced()
    }

    fn synced(&self) -> BoxFuture<'_, Result<(), Stopped>> {
        self.synced().boxed()
    }

    fn has_synced_for(&self, namespace: Option<&str>, uid: Option<&str>) -> bool {
        self.has_synced_for(namespace, uid)
    }

    fn synced_for<'a>(
        &'a self,
        namespace: Option<&'a str>,
        uid: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(), Stopped>> {
        self.synced_for(namespace, uid).boxed()
    }

    fn stopped(&self) -> BoxFuture<'_, ()> {
        self.stopped().boxed()
    }
}
