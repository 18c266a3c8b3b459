//! An in-memory source with small pods, which are updated in no order.

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use k8s_openapi::api::core::v1::Pod;
use kube_informer::ResourceVersion;
use kube_informer::source::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

fn pod(number: u64, version: u64) -> Arc<Pod> {
    let metadata = kube::core::ObjectMeta {
        name: Some(format!("pod-{number}")),
        namespace: Some("default".into()),
        uid: Some(number.to_string()),
        resource_version: Some(version.to_string()),
        ..Default::default()
    };
    Arc::new(Pod { metadata, ..Default::default() })
}

/// Lists the pods, then updates them as fast as anybody takes the updates. The version of the list is the number of pods;
/// each update adds one.
pub struct Memory {
    pub pods: u64,
    /// The version up to which there are updates; it may grow.
    pub until: Arc<AtomicU64>,
}

impl ListerWatcher<Pod> for Memory {
    fn resource(&self) -> String {
        "pods".into()
    }

    fn list(&self, _: ListRequest) -> BoxFuture<'_, Result<ListStream<Pod>, ApiError>> {
        let items = (0..self.pods).map(|n| ListPart::Item(Item::Object(pod(n, n + 1))));
        let version = Some(ResourceVersion::from(self.pods));
        let end = ListPart::End(ListEnd { resource_version: version, ..Default::default() });
        async move { Ok(stream::iter(items.chain([end]).map(Ok)).boxed()) }.boxed()
    }

    fn watch(&self, _: WatchRequest) -> BoxFuture<'_, Result<WatchStream<Pod>, ApiError>> {
        let (pods, until) = (self.pods, self.until.clone());
        async move {
            let updates = stream::unfold(pods, move |version| {
                let until = until.clone();
                async move {
                    while version >= until.load(Relaxed) {
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                    // A stride that visits all pods, far from each other.
                    let number = version.wrapping_mul(2_654_435_761) % pods;
                    Some((Ok(WatchEvent::Modified(Item::Object(pod(number, version + 1)))), version + 1))
                }
            });
            Ok(updates.boxed())
        }
        .boxed()
    }
}

