//! kube-controller, without a line of tuning. Its objects are packed, as those of `Controller::new` are; or decoded, as kube-rs's are.

use crate::measure::{Latencies, Runs};
use futures::{StreamExt as _, stream};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::{Api, Client};
use kube_controller::Controller;
use kube_controller::controller::{Action, Source};
use kube_controller::reflector::Store;
use kube_controller::watcher;
use kube_informer::SharedInformerFactory;
use kube_informer::form::{StaticResource, WholeObject};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

pub async fn nothing(client: Client, runs: Arc<Runs>) {
    let maps = Api::<ConfigMap>::all(client);
    nothing_of(Controller::new(maps, watcher::Config::default()), runs).await;
}

pub async fn nothing_decoded(client: Client, runs: Arc<Runs>) {
    let factory = SharedInformerFactory::new(client);
    let maps = factory.informer::<ConfigMap>();
    factory.start();
    nothing_of(Controller::for_informer(&maps), runs).await;
}

async fn nothing_of(controller: Controller<ConfigMap>, runs: Arc<Runs>) {
    controller
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
pub async fn pods<O: StaticResource + WholeObject<Object = Pod>>(client: Client, latencies: Arc<Latencies>) {
    let factory = SharedInformerFactory::new(client);
    let pods = factory.informer::<O>();
    let told = latencies.clone();
    let source = Source::mapped(&pods, move |pod| {
        let key = O::key_of(pod);
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
