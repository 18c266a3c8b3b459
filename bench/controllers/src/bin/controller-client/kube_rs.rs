//! kube-rs's Controller, without a line of tuning.

use crate::measure::{Latencies, Runs};
use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::{WatchStreamExt as _, reflector, watcher};
use kube::{Api, Client, ResourceExt as _};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

pub async fn nothing(client: Client, runs: Arc<Runs>) {
    Controller::new(Api::<ConfigMap>::all(client), watcher::Config::default())
        .run(
            |_, runs: Arc<Runs>| async move {
                Ok::<_, Infallible>(match runs.another() {
                    true => Action::requeue(Duration::ZERO),
                    false => Action::await_change(),
                })
            },
            |_, error, _| match *error {},
            runs,
        )
        .for_each(async |_| ())
        .await;
}

/// The stream notes when it has a pod. Otherwise this is what `Controller::new` does.
pub async fn pods(client: Client, latencies: Arc<Latencies>) {
    let (reader, writer) = reflector::store();
    let watch = watcher(Api::<Pod>::all(client), watcher::Config::default());
    let told = latencies.clone();
    let pods = watch.reflect(writer).applied_objects().inspect_ok(move |pod| {
        let namespace = pod.namespace().unwrap_or_default();
        told.told(&format!("{namespace}/{}", pod.name_any()));
    });
    Controller::for_stream(pods, reader)
        .run(
            |pod, latencies: Arc<Latencies>| {
                latencies.reconciled(&pod);
                async { Ok::<_, Infallible>(Action::await_change()) }
            },
            |_, error, _| match *error {},
            latencies,
        )
        .for_each(async |_| ())
        .await;
}
