//! The streams of a watcher, and what is built of them.

use crate::harness::{Cluster, Failure, SECOND};
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Api, ResourceExt};
use kube_controller::controller::{Action, Controller};
use kube_controller::reflector::ObjectRef;
use kube_controller::watcher::{self, Event, watcher};
use kube_controller::{WatchStreamExt, predicates, reflector};
use kube_informer::SharedInformerFactory;
use kube_sim::script::{Answer, ScriptedServer};
use serde_json::json;
use std::sync::Arc;

fn everything() -> watcher::Config {
    watcher::Config::default()
}

#[tokio::test(start_paused = true)]
async fn a_watcher_lists_and_then_tells_of_changes() {
    let cluster = Cluster::new();
    cluster.map("a");
    let mut events = watcher(cluster.maps(), everything()).default_backoff().boxed();
    let mut next = async || match events.try_next().await.unwrap().unwrap() {
        Event::Init => "init".to_owned(),
        Event::InitApply(map) => format!("listed {}", map.name_any()),
        Event::InitDone => "done".to_owned(),
        Event::Apply(map) => format!("applied {}", map.name_any()),
        Event::Delete(map) => format!("deleted {}", map.name_any()),
    };
    for expected in ["init", "listed a", "done"] {
        assert_eq!(next().await, expected);
    }
    cluster.map("b");
    assert_eq!(next().await, "applied b");
    cluster.touch("a");
    assert_eq!(next().await, "applied a");
    cluster.delete("ConfigMap", "b");
    assert_eq!(next().await, "deleted b");
}

#[tokio::test(start_paused = true)]
async fn a_watcher_reports_failures_and_goes_on() {
    let broken = ScriptedServer::new().otherwise(|_| Answer::code(500));
    let maps = Api::<ConfigMap>::all(kube::Client::new(broken.service(), "default"));
    let mut objects = watcher(maps, everything()).touched_objects().boxed();
    for _ in 0..3 {
        let error = objects.next().await.unwrap().unwrap_err();
        assert!(error.to_string().contains("500"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn kinds_known_at_run_time_can_be_watched() {
    let cluster = Cluster::new();
    cluster.map("a");
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "ConfigMap"));
    let maps = Api::<DynamicObject>::all_with(cluster.client(), &resource);
    let mut objects = watcher::watcher_with(maps, &resource, everything())
        .applied_objects()
        .boxed();
    assert_eq!(objects.try_next().await.unwrap().unwrap().name_any(), "a");
}

/// A store that a stream fills, and a filter behind it.
#[tokio::test(start_paused = true)]
async fn a_stream_fills_a_store_and_is_filtered() {
    let cluster = Cluster::new();
    cluster.map("a");
    let (reader, writer) = reflector::store();
    let mut objects = watcher(cluster.maps(), everything())
        .modify(|map| map.annotations_mut().clear())
        .reflect(writer)
        .applied_objects()
        .predicate_filter(predicates::labels, Default::default())
        .boxed();
    assert!(reader.wait_until_ready().now_or_never().is_none());
    assert_eq!(objects.try_next().await.unwrap().unwrap().name_any(), "a");
    cluster.change("ConfigMap", "a", |map| {
        map["metadata"]["annotations"] = json!({"a": "b"});
        map["metadata"]["finalizers"] = json!(["example.com/a"]);
    });
    cluster.map("b");
    assert_eq!(
        objects.try_next().await.unwrap().unwrap().name_any(),
        "b",
        "the labels of a are the same"
    );
    reader.wait_until_ready().await.unwrap();
    assert_eq!(reader.len(), 2);
    assert!(
        reader
            .find(|map| map.annotations().is_empty() && map.name_any() == "a")
            .is_some()
    );
    cluster.delete("ConfigMap", "a");
    assert_eq!(
        objects.try_next().await.unwrap().unwrap().name_any(),
        "a",
        "its deletion begins"
    );
    drop(objects);
    assert_eq!(reader.len(), 2, "the store stays as it is");
}

/// Two controllers on one watch, as kube's programs with shared streams have them.
#[tokio::test(start_paused = true)]
async fn controllers_share_the_stream_of_a_watcher() {
    let cluster = Cluster::new();
    let map = cluster.map("a");
    cluster.secret("child", &[&map]);
    let (reader, writer) = reflector::store_shared::<Secret>(256);
    let subscriber = writer.subscribe().expect("the store is shared");
    let changed = subscriber
        .clone()
        .map(|secret| Ok((*secret).clone()))
        .predicate_filter(predicates::resource_version, Default::default())
        .filter_map(async |secret| secret.ok().map(Arc::new));
    let secrets = Api::<Secret>::all(cluster.client());
    let watch = watcher(secrets, everything())
        .default_backoff()
        .reflect_shared(writer)
        .for_each(async |event| drop(event.unwrap()));
    let policy = |_: &Failure| Action::backoff();
    let secrets = Controller::for_shared_stream(changed, reader);
    let mut secrets = crate::harness::start_with(secrets, |_| async { Ok(Action::await_change()) }, policy);
    let maps = cluster.controller().owns_shared_stream(subscriber);
    let mut maps = crate::harness::start_with(maps, |_| async { Ok(Action::await_change()) }, policy);
    let watch = tokio::spawn(watch);
    assert_eq!(secrets.run().await.name, "child");
    assert_eq!(maps.run().await.name, "a");
    maps.quiet_for(SECOND).await;
    cluster.change("Secret", "child", |secret| {
        secret["metadata"]["labels"] = json!({"a": "b"})
    });
    assert_eq!(secrets.run().await.name, "child");
    assert_eq!(maps.run().await.name, "a");
    watch.abort();
    secrets.task.await.unwrap();
}

/// Whichever ends first, the streams or the informers.
#[tokio::test(start_paused = true)]
async fn a_controller_ends_when_nothing_more_can_come() {
    let cluster = Cluster::new();
    let factory = SharedInformerFactory::new(cluster.client());
    let secrets = factory.informer::<Secret>();
    factory.start();
    let (reader, _) = reflector::store::<ConfigMap>();
    let results = Controller::for_stream(stream::empty(), reader)
        .watches_informer(&secrets, |_| None::<ObjectRef<ConfigMap>>)
        .run(
            async |_, _| Ok::<_, kube::Error>(Action::await_change()),
            |_, _, _| Action::await_change(),
            Arc::new(()),
        );
    let stop = async {
        tokio::time::sleep(SECOND).await;
        factory.shutdown().await.unwrap();
    };
    let both = async { tokio::join!(results.collect::<Vec<_>>(), stop).0 };
    let results = tokio::time::timeout(60 * SECOND, both).await.expect("it ends");
    assert!(results.iter().all(Result::is_err), "{results:?}");
}
