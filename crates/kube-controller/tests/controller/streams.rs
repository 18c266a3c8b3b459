//! The streams of a watcher, and what is built of them.

use crate::harness::{Cluster, Failure, SECOND};
use futures::channel::mpsc;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::api::rbac::v1::ClusterRole;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Api, ResourceExt};
use kube_controller::controller::{Action, Controller};
use kube_controller::reflector::ObjectRef;
use kube_controller::utils::Backoff;
use kube_controller::wait::delete::delete_and_finalize;
use kube_controller::wait::{await_condition, conditions};
use kube_controller::watcher::{self, Event, metadata_watcher, watch_object, watcher};
use kube_controller::{WatchStreamExt, predicates, reflector};
use kube_informer::SharedInformerFactory;
use kube_sim::script::{Answer, Kind, ScriptedServer, event, status};
use serde::de::DeserializeOwned;
use serde_json::json;
use std::fmt::Debug;
use std::future::ready;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

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
    let maps = || Api::<DynamicObject>::namespaced_with(cluster.client(), "default", &resource);
    let mut objects = watcher(maps(), everything()).applied_objects().boxed();
    assert_eq!(objects.try_next().await.unwrap().unwrap().name_any(), "a");
    cluster.touch("a");
    let changed = objects.try_next().await.unwrap().unwrap();
    assert_eq!(changed.types.unwrap().kind, "ConfigMap");

    let typed = watcher::watcher_with(maps(), &resource, everything()).applied_objects();
    let listed = std::pin::pin!(typed).try_next().await.unwrap().unwrap();
    assert_eq!(listed.types.unwrap().kind, "ConfigMap", "also of a list");
}

#[tokio::test(start_paused = true)]
async fn a_group_is_found_in_the_path_of_an_api() {
    let cluster = Cluster::new();
    cluster.create(json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "a", "namespace": "default"},
    }));
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("coordination.k8s.io", "v1", "Lease"));
    for leases in [
        Api::<DynamicObject>::all_with(cluster.client(), &resource),
        Api::namespaced_with(cluster.client(), "default", &resource),
    ] {
        let mut objects = watcher(leases, everything()).applied_objects().boxed();
        assert_eq!(objects.try_next().await.unwrap().unwrap().name_any(), "a");
    }
}

#[tokio::test(start_paused = true)]
async fn metadata_is_watched_alone() {
    let cluster = Cluster::new();
    cluster.map("a");
    cluster.touch("a");
    let mut events = metadata_watcher(cluster.maps(), everything()).boxed();
    let mut seen = Vec::new();
    while seen.len() < 3 {
        seen.push(events.try_next().await.unwrap().unwrap());
    }
    let seen: Vec<_> = seen.iter().map(ToString::to_string).collect();
    assert_eq!(seen, ["Init", "InitApply(a)", "InitDone"]);
}

/// The words of kube, for programs that tell failures apart.
#[tokio::test(start_paused = true)]
async fn failures_of_a_watcher_have_kubes_names() {
    use watcher::Error::{InitialListFailed, WatchError, WatchStartFailed};
    let refusal = || Answer::status(403, "Forbidden", "no");
    let teapot = event("ERROR", &status(418, "Teapot", "no tea"));
    for (refused, watch) in [
        (true, refusal()),
        (false, refusal()),
        (false, Answer::watch([teapot])),
    ] {
        let list = match refused {
            true => refusal(),
            false => Answer::json(Kind::new("v1", "ConfigMap").list("1", [0; 0])),
        };
        let server = ScriptedServer::new().otherwise(move |request| match request.parameter("watch") {
            None => list.clone(),
            Some(_) if request.parameter("sendInitialEvents").is_some() => Answer::code(422),
            Some(_) => watch.clone(),
        });
        let maps = Api::<ConfigMap>::all(kube::Client::new(server.service(), "default"));
        let failures = watcher(maps, everything()).filter_map(async |event| event.err());
        match std::pin::pin!(failures).next().await.unwrap() {
            InitialListFailed(kube::Error::Api(status)) if refused => assert!(status.is_forbidden()),
            WatchStartFailed(kube::Error::Api(status)) if !refused => assert!(status.is_forbidden()),
            WatchError(status) => assert_eq!((status.code, &*status.reason), (418, "Teapot")),
            other => panic!("{other:?}"),
        }
    }
}

/// The longer one of two pauses counts, and the end of the pauses is the end of the stream.
#[tokio::test(start_paused = true)]
async fn a_stream_pauses_as_the_program_says() {
    let broken = ScriptedServer::new().otherwise(|_| Answer::code(500));
    let maps = Api::<ConfigMap>::all(kube::Client::new(broken.service(), "default"));
    let began = tokio::time::Instant::now();
    let failures = watcher(maps, everything())
        .backoff(Pauses(vec![600 * SECOND; 2]))
        .count();
    assert_eq!((failures.await, began.elapsed().as_secs() / 600), (3, 2));
}

struct Pauses(Vec<Duration>);

impl Iterator for Pauses {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.0.pop()
    }
}

impl Backoff for Pauses {
    fn reset(&mut self) {}
}

#[tokio::test(start_paused = true)]
async fn one_object_is_watched_and_waited_for() {
    let cluster = Cluster::new();
    cluster.map("a");
    let mut states = watch_object(cluster.maps(), "b").boxed();
    let mut next = async || states.try_next().await.unwrap().unwrap();
    assert!(next().await.is_none());
    cluster.map("b");
    assert_eq!(next().await.unwrap().name_any(), "b");
    cluster.touch("b");
    let touched = |map: Option<&ConfigMap>| map.is_some_and(|map| map.data.is_some());
    let waited = await_condition(cluster.maps(), "b", touched).await.unwrap();
    assert_eq!(waited, next().await);

    cluster.change("ConfigMap", "b", |map| {
        map["metadata"]["finalizers"] = json!(["example.com/held"]);
    });
    next().await.unwrap();
    let maps = Api::<ConfigMap>::namespaced(cluster.client(), "default");
    let mut deleted = tokio::spawn(async move { delete_and_finalize(maps, "b", &Default::default()).await });
    assert!(next().await.unwrap().metadata.deletion_timestamp.is_some());
    assert!(
        tokio::time::timeout(60 * SECOND, &mut deleted).await.is_err(),
        "it is held"
    );
    cluster.change("ConfigMap", "b", |map| map["metadata"]["finalizers"] = json!([]));
    deleted.await.unwrap().unwrap();
    assert!(next().await.is_none());
}

/// Names of roles may contain what separates the terms of a selector.
#[tokio::test(start_paused = true)]
async fn an_object_of_any_name_is_watched() {
    let cluster = Cluster::new();
    for name in ["a", "a,b=c"] {
        cluster.create(json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name},
        }));
    }
    let roles = Api::<ClusterRole>::all(cluster.client());
    let mut states = watch_object(roles, "a,b=c").boxed();
    let state = states.try_next().await.unwrap().unwrap();
    assert_eq!(state.unwrap().name_any(), "a,b=c");
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_what_may_not_be_seen_ends() {
    let refusing = ScriptedServer::new().otherwise(|_| Answer::status(403, "Forbidden", "no"));
    let maps = Api::<ConfigMap>::all(kube::Client::new(refusing.service(), "default"));
    let error = await_condition(maps, "a", conditions::is_created())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("no: Forbidden"), "{error}");
}

/// What a program's generic code asks of a kind for kube's `watcher`, `reflector` and `await_condition`.
#[tokio::test(start_paused = true)]
async fn generic_code_needs_no_more_bounds_than_for_kube() {
    async fn watched<K>(api: Api<K>, name: &str) -> Vec<String>
    where
        K: kube::Resource + Clone + DeserializeOwned + Debug + Send + 'static,
        K::DynamicType: Default + Eq + Hash + Clone,
    {
        let found = await_condition(api.clone(), name, conditions::is_created()).await;
        let writer = reflector::store::Writer::<K>::default();
        let reader = writer.as_reader();
        let events = reflector::reflector(writer, watcher(api, everything()));
        let listed = |event: &watcher::Result<_>| ready(!matches!(event, Ok(Event::InitDone)));
        events.take_while(listed).for_each(|_| ready(())).await;
        let held = reader.state().into_iter().map(|object| object.name_any());
        held.chain(found.unwrap().map(|object| object.name_any()))
            .collect()
    }
    let cluster = Cluster::new();
    cluster.map("a");
    assert_eq!(watched(cluster.maps(), "a").await, ["a", "a"]);
}

/// A store that a stream fills, and a filter behind it.
/// Of a stream of which only the trait is known, too.
#[tokio::test(start_paused = true)]
async fn adapted_streams_can_be_sent() {
    fn adapted(
        events: impl WatchStreamExt<Item = watcher::Result<Event<ConfigMap>>> + Send + 'static,
        writer: reflector::Writer<ConfigMap>,
    ) -> BoxStream<'static, watcher::Result<ConfigMap>> {
        events
            .modify(|map| map.annotations_mut().clear())
            .reflect(writer)
            .touched_objects()
            .predicate_filter(predicates::labels, Default::default())
            .default_backoff()
            .boxed()
    }

    let cluster = Cluster::new();
    cluster.map("a");
    let (reader, writer) = reflector::store();
    let mut maps = adapted(watcher(cluster.maps(), everything()), writer);
    assert_eq!(maps.try_next().await.unwrap().unwrap().name_any(), "a");
    cluster.map("b");
    assert_eq!(maps.try_next().await.unwrap().unwrap().name_any(), "b");
    assert_eq!(reader.len(), 2);
}

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
/// As its owner goes, so do its children, and their streams lead to it as well.
#[tokio::test(start_paused = true)]
async fn what_streams_have_comes_before_the_next_run() {
    let map = |name: &str| {
        let mut map = ConfigMap::default();
        map.metadata.name = Some(name.into());
        map.metadata.namespace = Some("default".into());
        map
    };
    let (maps, events) = mpsc::unbounded();
    let (children, touched) = mpsc::unbounded();
    let (reader, writer) = reflector::store();
    let objects = events.map(Ok).reflect(writer).applied_objects();
    let controller = Controller::for_stream(objects, reader)
        .watches_stream(touched.map(Ok), |secret: Secret| {
            [ObjectRef::new(&secret.name_any()).within("default")]
        });
    let policy = |_: &Failure| Action::backoff();
    let mut runs = crate::harness::start_with(controller, |_| async { Ok(Action::await_change()) }, policy);
    for event in [Event::Init, Event::InitDone] {
        maps.unbounded_send(event).unwrap();
    }
    for turn in 0..20 {
        let name = format!("map-{turn}");
        maps.unbounded_send(Event::Apply(map(&name))).unwrap();
        assert_eq!(runs.run().await.name, name);
        let mut child = Secret::default();
        child.metadata.name = Some(name.clone());
        children.unbounded_send(child).unwrap();
        maps.unbounded_send(Event::Delete(map(&name))).unwrap();
        runs.quiet_for(SECOND).await;
    }
}

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

/// Every stream that a program may have, of kinds that are known at run time, with a store of its own.
#[tokio::test(start_paused = true)]
async fn streams_of_kinds_known_at_run_time_lead_to_objects() {
    let cluster = Cluster::new();
    let map = cluster.map("a");
    cluster.secret("child", &[&map]);
    let resource = |kind| ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", kind));
    let (maps, secrets) = (resource("ConfigMap"), resource("Secret"));
    let api = |resource| Api::<DynamicObject>::all_with(cluster.client(), resource);
    let objects = |resource| watcher(api(resource), everything()).touched_objects();
    let shared = |resource| objects(resource).filter_map(async |object| object.ok().map(Arc::new));
    let writer = reflector::Writer::new(maps.clone());
    let (reader, named) = (writer.as_reader(), maps.clone());
    let to_map = move |secret: &DynamicObject| {
        assert_eq!(secret.name_any(), "child");
        [ObjectRef::new_with("a", named.clone()).within("default")]
    };
    let also_to_map = to_map.clone();
    let own = watcher(api(&maps), everything())
        .reflect(writer)
        .applied_objects();
    let failing = stream::repeat_with(|| Err(watcher::Error::NoResourceVersion));
    let controller = Controller::for_stream_with(own, reader, maps.clone())
        .owns_stream_with(objects(&secrets), secrets.clone())
        .owns_shared_stream_with(shared(&secrets), secrets.clone())
        .watches_stream_with(objects(&secrets), move |secret| to_map(&secret), secrets.clone())
        .watches_shared_stream_with(
            shared(&secrets),
            move |secret| also_to_map(&secret),
            secrets.clone(),
        )
        .watches_stream_with(failing, |_: DynamicObject| [], secrets.clone())
        .trigger_backoff(Pauses(vec![SECOND; 100]));
    let began = tokio::time::Instant::now();
    let mut running = crate::harness::start(controller, |_| async { Ok(Action::await_change()) });
    assert_eq!(running.run().await.name, "a");
    for _ in 0..5 {
        running.error().await;
    }
    assert!(began.elapsed() >= 4 * SECOND, "a failure is followed by a pause");
}
