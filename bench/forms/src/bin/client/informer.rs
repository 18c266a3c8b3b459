//! kube-informer, whatever the form.

use crate::measure::{Counter, Measurement};
use k8s_openapi::api::core::v1::Pod;
use kube::core::ApiResource;
use kube_informer::form::{Decode, Metadata};
use kube_informer::reflector::{InitialState, ReflectorOptions};
use kube_informer::source::{ClientSource, Selection};
use kube_informer::wire::FieldPlan;
use kube_informer::{CachedObject, Notification, SharedInformer};
use serde::Deserialize;
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
    let (informer, runner) = SharedInformer::<F>::builder(source).reflector(options).build();
    let handler = move |notification: Notification<F>| {
        let key = notification.key();
        counter.count(key.namespace().unwrap_or_default(), key.name());
    };
    informer.add_handler("count", handler)?.detach();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    measurement.run().await?;
    anyhow::ensure!(
        informer.store().len() == measurement.arguments.pods + 1,
        "the store is not complete"
    );
    stop.cancel();
    running.await??;
    Ok(())
}
