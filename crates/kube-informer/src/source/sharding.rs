//! Sources of shards: what is of another shard is left out, and the shards may become fewer.

use super::{
    ApiError, Item, ListPart, ListRequest, ListStream, ListerWatcher, ShardedSource, WatchEvent,
    WatchRequest, WatchStream,
};
use crate::object::CachedObject;
use crate::selector::ShardSelector;
use futures::future::{BoxFuture, ready};
use futures::{FutureExt, StreamExt};
use kube::core::TypeMeta;
use std::sync::Arc;
use tokio::sync::watch;

/// Whether an object may be of these shards. One that cannot be read may be.
fn may_be_of<O: CachedObject>(shards: &ShardSelector, item: &Item<O>) -> bool {
    match item {
        Item::Raw(raw) => shards.matches(raw.uid(), raw.namespace()),
        Item::Object(object) => shards.matches(O::uid_of(object), O::namespace_of(object)),
        Item::Invalid(_) => true,
    }
}

/// Leaves out what a server that ignores shards has sent.
pub(super) fn list_of<O: CachedObject>(shards: Option<ShardSelector>, parts: ListStream<O>) -> ListStream<O> {
    let Some(shards) = shards else {
        return parts;
    };
    let of_shards = parts.filter(move |part| {
        ready(match part {
            Ok(ListPart::Item(item)) => may_be_of(&shards, item),
            Ok(ListPart::End(_)) | Err(_) => true,
        })
    });
    of_shards.boxed()
}

/// The same of a watch.
pub(super) fn watch_of<O: CachedObject>(
    shards: Option<ShardSelector>,
    events: WatchStream<O>,
) -> WatchStream<O> {
    let Some(shards) = shards else {
        return events;
    };
    let of_shards = events.filter(move |event| {
        ready(match event {
            Ok(WatchEvent::Added(item) | WatchEvent::Modified(item) | WatchEvent::Deleted(item)) => {
                may_be_of(&shards, item)
            }
            Ok(WatchEvent::Bookmark { .. } | WatchEvent::Error(_)) | Err(_) => true,
        })
    });
    of_shards.boxed()
}

/// A source of shards that may become fewer. A watch ends then, and the next one is of the shards that are left.
pub(crate) struct Narrowing<O: CachedObject> {
    source: Arc<dyn ShardedSource<O>>,
    shards: watch::Receiver<ShardSelector>,
}

impl<O: CachedObject> Narrowing<O> {
    pub(crate) fn new(source: Arc<dyn ShardedSource<O>>, shards: watch::Receiver<ShardSelector>) -> Self {
        Self { source, shards }
    }

    fn now(&self) -> Arc<dyn ListerWatcher<O>> {
        let shards = self.shards.borrow().clone();
        self.source.in_shards(shards)
    }
}

impl<O: CachedObject> ListerWatcher<O> for Narrowing<O> {
    fn resource(&self) -> String {
        self.source.resource()
    }

    fn type_meta(&self) -> Option<TypeMeta> {
        self.source.type_meta()
    }

    fn namespace(&self) -> Option<String> {
        self.now().namespace()
    }

    fn supports_watch_list(&self) -> bool {
        self.now().supports_watch_list()
    }

    fn watch_list_failed(&self) {
        self.now().watch_list_failed();
    }

    fn server_identity(&self) -> BoxFuture<'_, Result<Option<String>, ApiError>> {
        let source = self.now();
        async move { source.server_identity().await }.boxed()
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListStream<O>, ApiError>> {
        let source = self.now();
        async move { source.list(request).await }.boxed()
    }

    fn watch(&self, request: WatchRequest) -> BoxFuture<'_, Result<WatchStream<O>, ApiError>> {
        let mut shards = self.shards.clone();
        shards.mark_unchanged();
        let source = self.now();
        async move {
            let events = source.watch(request).await?;
            let narrowed = async move {
                if shards.changed().await.is_err() {
                    futures::future::pending().await
                }
            };
            Ok(events.take_until(narrowed.boxed()).boxed())
        }
        .boxed()
    }
}
