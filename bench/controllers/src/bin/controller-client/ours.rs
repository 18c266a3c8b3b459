//! kube-controller, without a line of tuning.

use crate::measure::{Latencies, Runs};
use futures::{StreamExt as _, stream};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::{Api, Client};
use kube_controller::Controller;
use kube_controller::controller::{Action, Source};
use kube_controller::reflector::Store;
use kube_controller::watcher;
use kube_informer::form::Packed;
use kube_informer::{CachedObject, SharedInformerFactory};
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

/// The pods are a source that notes when it was told of a pod. Otherwise this is `Controller::new`.
pub async fn pods(client: Client, latencies: Arc<Latencies>) {
    let factory = SharedInformerFactory::new(client);
    let pods = factory.informer::<Packed<Pod>>();
    let told = latencies.clone();
    let source = Source::mapped(&pods, move |pod| {
        let key = Packed::<Pod>::key_of(pod);
        told.told(&key.to_string());
        [key]
    });
    factory.start();
    Controller::for_shared_stream(stream::pending(), Store::of(&pods))
        .source(source)
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
