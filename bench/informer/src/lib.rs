//! An in-memory source with small pods, which are updated in no order.

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use k8s_openapi::api::core::v1::Pod;
use kube_informer::ResourceVersion;
use kube_informer::source::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

fn labels(number: u64) -> [(String, String); 2] {
    [
        ("app", format!("app-{}", number % 1000)),
        ("tier", "front".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
}

fn pod(number: u64, version: u64, labelled: bool) -> Arc<Pod> {
    let metadata = kube::core::ObjectMeta {
        name: Some(format!("pod-{number}")),
        namespace: Some("default".into()),
        uid: Some(number.to_string()),
        resource_version: Some(version.to_string()),
        labels: labelled.then(|| labels(number).into()),
        ..Default::default()
    };
    Arc::new(Pod {
        metadata,
        ..Default::default()
    })
}

/// Lists the pods, then updates them as fast as anybody takes the updates. The version of the list is the number of pods;
/// each update adds one.
pub struct Memory {
    pub pods: u64,
    /// The version up to which there are updates; it may grow.
    pub until: Arc<AtomicU64>,
    /// Whether each pod has two labels.
    pub labelled: bool,
}

impl ListerWatcher<Pod> for Memory {
    fn resource(&self) -> String {
        "pods".into()
    }

    fn list(&self, _: ListRequest) -> BoxFuture<'_, Result<ListStream<Pod>, ApiError>> {
        let labelled = self.labelled;
        let items = (0..self.pods).map(move |n| ListPart::Item(Item::Object(pod(n, n + 1, labelled))));
        let version = Some(ResourceVersion::from(self.pods));
        let end = ListPart::End(ListMeta {
            resource_version: version,
            ..Default::default()
        });
        async move { Ok(stream::iter(items.chain([end]).map(Ok)).boxed()) }.boxed()
    }

    fn watch(&self, _: WatchRequest) -> BoxFuture<'_, Result<WatchStream<Pod>, ApiError>> {
        let (pods, until, labelled) = (self.pods, self.until.clone(), self.labelled);
        async move {
            let updates = stream::unfold(pods, move |version| {
                let until = until.clone();
                async move {
                    while version >= until.load(Relaxed) {
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                    // A stride that visits all pods, far from each other.
                    let number = version.wrapping_mul(2_654_435_761) % pods;
                    Some((
                        Ok(WatchEvent::Modified(Item::Object(pod(
                            number,
                            version + 1,
                            labelled,
                        )))),
                        version + 1,
                    ))
                }
            });
            Ok(updates.boxed())
        }
        .boxed()
    }
}

/// The processor time of all threads so far.
pub fn processor_time() -> Duration {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock exists and `now` is a valid place for its time.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut now) };
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
