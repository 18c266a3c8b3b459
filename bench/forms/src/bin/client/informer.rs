//! kube-informer, whatever the form.

use crate::measure::{Counter, Measurement};
use k8s_openapi::api::core::v1::Pod;
use kube::core::ApiResource;
use kube_informer::FieldPlan;
use kube_informer::form::{Decode, Metadata};
use kube_informer::informer::enqueue;
use kube_informer::reflector::{InitialState, ReflectorOptions};
use kube_informer::source::{ClientSource, Selection};
use kube_informer::{CachedObject, Notification, ObjectKey, SharedInformer};
use kube_workqueue::{Requeue, WorkQueue, Workers};
use serde::Deserialize;
use std::convert::Infallible;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// A projection: what a scheduler or a router of requests might want to know of a pod.
#[derive(Deserialize, CachedObject)]
pub struct PodView {
    metadata: Metadata,
    #[serde(default)]
    #[expect(dead_code, reason = "held, not read")]
    spec: SpecView,
    #[serde(default)]
    #[expect(dead_code, reason = "held, not read")]
    status: StatusView,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SpecView {
    node_name: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct StatusView {
    phase: String,
    #[serde(rename = "podIP")]
    pod_ip: String,
}

pub fn source(client: kube::Client) -> ClientSource {
    ClientSource::new(client, ApiResource::erase::<Pod>(&()), Selection::default())
}

/// Measures an informer that holds the source's objects in this form, without what the plan leaves out.
pub async fn run<F: Decode>(
    source: ClientSource,
    plan: Option<FieldPlan>,
    streaming: bool,
    counter: Counter,
    measurement: Measurement,
    runtime: Handle,
) -> anyhow::Result<()> {
    let initial = if streaming {
        InitialState::WatchList
    } else {
        InitialState::List
    };
    let options = ReflectorOptions {
        initial,
        plan,
        ..Default::default()
    };
    let (informer, runner) = SharedInformer::<F>::builder(source)
        .reflector_options(options)
        .build();
    match measurement.arguments.workers {
        0 => {
            let handler = move |change: Notification<F>| count(&counter, &change.key());
            informer.add_handler("count", handler)?.detach();
        }
        workers => reconcile(&informer, workers, counter)?,
    }
    let stop = CancellationToken::new();
    let running = runtime.spawn(runner.run(stop.clone()));
    measurement.run().await?;
    anyhow::ensure!(
        informer.store().len() == measurement.arguments.pods + 1,
        "the store is not complete"
    );
    stop.cancel();
    running.await??;
    Ok(())
}

/// As a controller does it: the handler puts the key on a work queue, and workers look the object up.
fn reconcile<F: Decode>(
    informer: &SharedInformer<F>,
    workers: usize,
    counter: Counter,
) -> anyhow::Result<()> {
    let queue = WorkQueue::<ObjectKey>::new();
    let workers = Workers::new(queue.clone(), workers);
    informer
        .add_handler("queue", enqueue::object(move |key| queue.add(key)))?
        .detach();
    let store = informer.store().clone();
    tokio::spawn(workers.run(move |key: ObjectKey| {
        std::hint::black_box(store.get(key.as_str()));
        count(&counter, &key);
        async { Ok::<_, Infallible>(Requeue::No) }
    }));
    Ok(())
}

fn count(counter: &Counter, key: &ObjectKey) {
    counter.count(key.namespace().unwrap_or_default(), key.name());
}
