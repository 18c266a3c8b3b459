//! A controller that reads its own writes.

use crate::harness::{Cluster, Failure, SECOND, start};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::PostParams;
use kube::{Api, ResourceExt};
use kube_controller::controller::Action;
use kube_controller::own_writes::OwnWrites;
use kube_controller::reflector::ObjectRef;
use kube_controller::watcher;
use kube_sim::script::{Answer, Received, ScriptedServer};
use serde_json::json;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// As many changes as are more than a handler has pending before it merges them.
const MANY: usize = 1200;

/// The handler is stuck on its thread meanwhile, so the clock is the real one.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn an_own_write_hides_no_change_while_many_are_pending() {
    let cluster = Cluster::new();
    cluster.map("slow");
    cluster.map("a");
    (0..MANY).for_each(|number| drop(cluster.map(&format!("map-{number}"))));
    let writes = OwnWrites::new();
    let api = Api::<ConfigMap>::default_namespaced(writes.client(cluster.client()));
    let (ask, asked) = tokio::sync::mpsc::unbounded_channel();
    let asked = futures::stream::unfold(asked, |mut asked| async { Some((asked.recv().await?, asked)) });
    let (stuck, is_stuck) = mpsc::channel();
    let (release, released) = mpsc::channel();
    let controller = cluster
        .controller()
        .read_your_writes(&writes)
        .reconcile_on(asked)
        .filter_updates(move |_, new: &ConfigMap| {
            if new.name_any() == "slow" {
                stuck.send(()).unwrap();
                released.recv_timeout(Duration::from_secs(60)).unwrap();
            }
            true
        });
    let store = controller.store();
    let mut running = start(controller, move |map: Arc<ConfigMap>| {
        let api = api.clone();
        async move {
            if map.name_any() == "a" {
                // It writes the newest state, whatever the cache has.
                let mut newest = api.get("a").await.map_err(|_| Failure("get"))?;
                let version = newest.resource_version().unwrap_or_default();
                newest.labels_mut().insert("read".into(), version);
                let written = api.replace("a", &PostParams::default(), &newest).await;
                written.map_err(|_| Failure("replace"))?;
            }
            Ok(Action::await_change())
        }
    });
    running.names(MANY + 2).await;
    running.quiet_for(SECOND).await;

    cluster.touch("slow");
    tokio::task::block_in_place(|| is_stuck.recv_timeout(Duration::from_secs(60)).unwrap());
    (0..MANY).for_each(|number| cluster.touch(&format!("map-{number}")));
    cluster.touch("a");
    let changed = cluster.get("ConfigMap", "a")["metadata"]["resourceVersion"].clone();
    ask.send(ObjectRef::new("a").within("default")).unwrap();
    assert_eq!(running.run().await.name, "a");
    let written = || {
        store
            .get(&ObjectRef::new("a").within("default"))
            .unwrap()
            .labels()["read"]
            == changed
    };
    while !written() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    release.send(()).unwrap();
    let mut names = Vec::new();
    while let Ok(run) = tokio::time::timeout(2 * SECOND, running.run()).await {
        names.push(run.name);
    }
    assert_eq!(names.len(), MANY + 2, "everything has changed");
}

/// A cache that was refused from the start sees nothing, so no run waits for what it wrote of that kind.
#[tokio::test(start_paused = true)]
async fn writes_of_a_refused_kind_are_not_waited_for() {
    let cluster = Cluster::new();
    cluster.map("a");
    let forbidden = |_: &Received| Answer::status(403, "Forbidden", "you may not");
    let refused = ScriptedServer::new().otherwise(forbidden).service();
    let refused = Api::<Secret>::all(kube::Client::new(refused, "default"));
    let writes = OwnWrites::new();
    let api = Api::<Secret>::default_namespaced(writes.client(cluster.client()));
    let controller = cluster
        .controller()
        .owns(refused, watcher::Config::default())
        .read_your_writes(&writes);
    let mut running = start(controller, move |_| {
        let api = api.clone();
        async move {
            let secret = serde_json::from_value(json!({"metadata": {"generateName": "s-"}})).unwrap();
            let created = api.create(&PostParams::default(), &secret).await;
            created.map_err(|_| Failure("create"))?;
            Ok(Action::requeue(SECOND))
        }
    });
    let first = running.run().await.at;
    for _ in 0..3 {
        running.run().await;
    }
    assert!(running.run().await.at - first < 5 * SECOND);
}
