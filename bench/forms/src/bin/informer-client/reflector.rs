//! kube-rs's reflector.

use crate::measure::{Counter, Measurement, Reader};
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::reflector::{self, ObjectRef};
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt as _, watcher as watch};
use kube::{Api, ResourceExt as _};

/// Measures a reflector with its store; its stream has the place of a handler.
pub async fn run(
    client: kube::Client,
    streaming: bool,
    counter: Counter,
    measurement: Measurement,
) -> anyhow::Result<()> {
    let config = watcher::Config::default();
    let config = if streaming {
        config.streaming_lists()
    } else {
        config
    };
    let (store, writer) = reflector::store();
    let events = reflector::reflector(writer, watch(Api::<Pod>::all(client), config)).default_backoff();
    let reading = tokio::spawn(async move {
        let mut events = std::pin::pin!(events);
        while let Some(event) = events.next().await {
            if let Ok(Event::InitApply(pod) | Event::Apply(pod) | Event::Delete(pod)) = event {
                let key = ObjectRef::from_obj(&pod);
                let at = || pod.annotations().get("bench/at").cloned();
                counter.count(key.namespace.as_deref().unwrap_or_default(), &key.name, at);
            }
        }
    });
    let pods = store.clone();
    let reader = move || {
        let (store, keys) = (pods.clone(), pods.state());
        let keys: Vec<_> = keys.iter().map(|pod| ObjectRef::from_obj(&**pod)).collect();
        Reader::new(keys.len(), move |number| {
            let pod = store.get(&keys[number]);
            pod.and_then(|pod| pod.spec.as_ref()?.node_name.clone()).is_some()
        })
    };
    measurement.run(async { Ok(()) }, reader).await?;
    anyhow::ensure!(
        store.len() == measurement.arguments.pods + 1,
        "the store is not complete"
    );
    reading.abort();
    Ok(())
}
