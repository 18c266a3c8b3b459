//! A reconcile of nothing.

use crate::meter::Meter;
use crate::server::{client, runtime};
use bytes::Bytes;
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::ApiResource;
use kube_controller::Controller;
use kube_controller::controller::Action;
use kube_informer::SharedInformer;
use kube_informer::form::Packed;
use kube_informer::low_level::wire::Encoding;
use kube_informer::reflector::{InitialState, ReflectorOptions};
use kube_informer::source::{ClientSource, Selection};
use serde_json::json;
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const OBJECTS: usize = 200;
/// How often each is reconciled.
const ROUNDS: usize = 20;

pub fn measure(meter: &mut Meter) {
    if !meter.wants("controller: ") {
        return;
    }
    let runtime = runtime();
    let stop = CancellationToken::new();
    // The watch lasts as long as its sender.
    let (maps, _watch) = runtime.block_on(async {
        let (client, watch) = client(Encoding::Json, vec![config_maps()]);
        let source = ClientSource::new(client, ApiResource::erase::<ConfigMap>(&()), Selection::default());
        let options = ReflectorOptions {
            initial: InitialState::List,
            ..Default::default()
        };
        let (maps, runner) = SharedInformer::<Packed<ConfigMap>>::builder(source.encoding(Encoding::Json))
            .reflector_options(options)
            .build();
        tokio::spawn(runner.run(stop.clone()));
        maps.synced().await.expect("not stopped");
        (maps, watch)
    });
    meter.path("controller: reconcile nothing", OBJECTS * ROUNDS, || {
        runtime.block_on(async {
            let started = Arc::new(AtomicUsize::new(0));
            let runs = Controller::for_informer(&maps).run(
                |_, started: Arc<AtomicUsize>| {
                    started.fetch_add(1, Relaxed);
                    async { Ok::<_, Infallible>(Action::requeue(Duration::ZERO)) }
                },
                |_, error, _| match *error {},
                started,
            );
            let ended = pin!(runs.take(OBJECTS * ROUNDS));
            ended
                .for_each(|run| async move { drop(run.expect("nothing fails")) })
                .await;
        });
    });
    stop.cancel();
}

fn config_maps() -> Bytes {
    let items: Vec<_> = (0..OBJECTS)
        .map(|number| {
            json!({
                "metadata": {"namespace": "default", "name": format!("settings-{number:06}"), "uid": number.to_string(),
                    "resourceVersion": (number + 1).to_string()},
                "data": {"number": number.to_string()},
            })
        })
        .collect();
    let list = json!({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {"resourceVersion": "100000"}, "items": items});
    list.to_string().into()
}
