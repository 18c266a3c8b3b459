//! Objects in protobuf, as an API server has them for its built-in kinds: what is asked for, and what comes of the answers.

#[path = "common/told.rs"]
mod told;

use conformance::cluster::Cluster;
use futures::StreamExt;
use instances as _;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind, PartialObjectMeta};
use kube_informer::form::{Decode, Packed};
use kube_informer::informer::InformerBuilder;
use kube_informer::low_level::wire::Encoding;
use kube_informer::reflector::{InitialState, Pager, ReflectorOptions};
use kube_informer::source::{ClientSource, ErrorClass, ListRequest, ListVersion, ListerWatcher, Selection};
use kube_informer::watcher::RetryWatcher;
use kube_informer::{
    CachedObject, FieldPlan, HasOwners, Notifications, Partition, ResourceVersion, SharedInformer,
    SharedInformerFactory,
};
use kube_protobuf::{UnknownFields::Deny, to_vec, watch_event_to_vec};
use kube_sim::script::{Answer, Expected, Kind, ScriptedServer, event, status};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use told::told_within;

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const JSON: &str = "application/json";
const BOTH: &str = "application/vnd.kubernetes.protobuf,application/json";
const ANY: &str = "limit=500&resourceVersion=0";
const WATCH: &str = "watch=true&allowWatchBookmarks=true&timeoutSeconds=300..=600";
const SECOND: Duration = Duration::from_secs(1);

fn request(query: &str, accept: &str) -> Expected {
    Expected::from(format!("GET /api/v1/configmaps?{query}")).header("accept", accept)
}

fn watch(version: u32, accept: &str) -> Expected {
    request(&format!("{WATCH}&resourceVersion={version}"), accept)
}

fn map(name: &str, version: u32) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "ns", "uid": name, "resourceVersion": version.to_string()},
        "data": {"version": version.to_string()},
    })
}

fn list(version: u32, items: &[Value]) -> Value {
    let metadata = json!({"resourceVersion": version.to_string()});
    json!({"apiVersion": "v1", "kind": "ConfigMapList", "metadata": metadata, "items": items})
}

fn answer(code: u16) -> Answer {
    Answer::code(code).header("content-type", PROTOBUF)
}

/// In small chunks, so that objects span them.
fn listed(version: u32, items: &[Value]) -> Answer {
    answer(200).in_chunks_of(50, to_vec(&list(version, items), Deny).unwrap())
}

fn frame(kind: &str, object: &Value) -> Vec<u8> {
    let event = watch_event_to_vec(kind, &to_vec(object, Deny).unwrap());
    [&u32::try_from(event.len()).unwrap().to_be_bytes()[..], &event].concat()
}

fn watched(frames: &[(&str, Value)]) -> Answer {
    let watch = answer(200).header("content-type", "application/vnd.kubernetes.protobuf;stream=watch");
    let body: Vec<u8> = frames
        .iter()
        .flat_map(|(kind, object)| frame(kind, object))
        .collect();
    watch.in_chunks_of(70, body).open()
}

struct Scene {
    server: ScriptedServer,
    informer: SharedInformer<ConfigMap>,
    notifications: Notifications<ConfigMap>,
    /// How many objects were decoded.
    decoded: Arc<AtomicUsize>,
    _stop: tokio_util::sync::DropGuard,
}

fn source(server: &ScriptedServer) -> ClientSource {
    let client = kube::Client::new(server.service(), "default");
    let resource = ApiResource::erase::<ConfigMap>(&());
    ClientSource::new(client, resource, Selection::default())
}

impl Scene {
    fn starts(initial: InitialState, script: impl IntoIterator<Item = (Expected, Answer)>) -> Self {
        let expect = |server: ScriptedServer, (request, answer)| server.expect(request, answer);
        let server = script.into_iter().fold(ScriptedServer::new(), expect);
        let (options, decoded) = (
            ReflectorOptions {
                initial,
                ..Default::default()
            },
            Arc::<AtomicUsize>::default(),
        );
        let counter = decoded.clone();
        let (informer, runner) = SharedInformer::builder(source(&server))
            .reflector_options(options)
            .transform(move |object| {
                counter.fetch_add(1, Ordering::Relaxed);
                Ok(object)
            })
            .build();
        let notifications = informer.subscribe("test").unwrap();
        let stop = CancellationToken::new();
        tokio::spawn(runner.run(stop.clone()));
        let _stop = stop.drop_guard();
        Self {
            server,
            informer,
            notifications,
            decoded,
            _stop,
        }
    }

    async fn plays(&mut self, time: Duration, expected: &str) {
        let told = told_within(&mut self.notifications, time).await;
        assert_eq!(told.join("; "), expected);
    }

    fn encoding(&self) -> Option<Encoding> {
        self.informer.status().reflector.encoding
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_and_a_watch_come_in_protobuf() {
    let mut scene = Scene::starts(
        InitialState::List,
        [
            (request(ANY, BOTH), listed(10, &[map("a", 1), map("b", 2)])),
            (
                watch(10, BOTH),
                watched(&[
                    ("MODIFIED", map("a", 11)),
                    ("DELETED", map("b", 12)),
                    (
                        "BOOKMARK",
                        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"resourceVersion": "20"}}),
                    ),
                ]),
            ),
        ],
    );
    let told = "Add(ns/a@1, initial); Add(ns/b@2, initial); Update(ns/a@1->11); Delete(ns/b@12, Event)";
    scene.plays(SECOND, told).await;
    scene.server.assert_finished();
    assert_eq!(scene.encoding(), Some(Encoding::Protobuf));
    assert_eq!(scene.informer.status().applied, Some("20".into()));
    let object = scene.informer.store().get("ns/a").unwrap();
    assert_eq!(object.data.as_ref().unwrap()["version"], "11");
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_comes_in_protobuf() {
    let end = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"resourceVersion": "9", "annotations": {"k8s.io/initial-events-end": "true"}},
    });
    let query = format!("{WATCH}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
    let events = [("ADDED", map("a", 1)), ("BOOKMARK", end), ("ADDED", map("b", 10))];
    let mut scene = Scene::starts(
        InitialState::WatchList,
        [(request(&query, BOTH), watched(&events))],
    );
    scene.plays(SECOND, "Add(ns/a@1, initial); Add(ns/b@10)").await;
    assert!(scene.informer.has_synced());
}

#[tokio::test(start_paused = true)]
async fn a_server_without_protobuf_is_asked_for_json_from_then_on() {
    let json = |version| Answer::json(list(version, &[map("a", 1)]).to_string());
    let refusals = [
        vec![(request(ANY, BOTH), json(10))],
        vec![
            (
                request(ANY, BOTH),
                Answer::status(406, "NotAcceptable", "only json"),
            ),
            (request(ANY, "application/json"), json(10)),
        ],
    ];
    for refusal in refusals {
        let changed = Answer::watch([event("MODIFIED", &map("a", 11))]);
        let script = refusal
            .into_iter()
            .chain([(watch(10, "application/json"), changed)]);
        let mut scene = Scene::starts(InitialState::List, script);
        scene
            .plays(SECOND, "Add(ns/a@1, initial); Update(ns/a@1->11)")
            .await;
        scene.server.assert_finished();
        assert_eq!(scene.encoding(), Some(Encoding::Json));
        assert_eq!(scene.informer.status().reflector.last_error, None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_in_the_other_encoding_is_unchanged() {
    let objects = [map("a", 1), map("b", 2)];
    let mut changed = objects.clone();
    changed[1] = map("b", 11);
    let expired = status(410, "Expired", "too old");
    let newer = "resourceVersion=10&resourceVersionMatch=NotOlderThan";
    let mut scene = Scene::starts(
        InitialState::List,
        [
            (request(ANY, BOTH), listed(10, &objects)),
            (watch(10, BOTH), watched(&[("ERROR", expired)])),
            (request(newer, BOTH), Answer::json(list(12, &changed).to_string())),
        ],
    );
    scene
        .plays(
            20 * SECOND,
            "Add(ns/a@1, initial); Add(ns/b@2, initial); Update(ns/b@2->11)",
        )
        .await;
    assert_eq!(
        scene.decoded.load(Ordering::Relaxed),
        3,
        "of the second list only what has changed"
    );
    assert_eq!(scene.encoding(), Some(Encoding::Json));
}

/// An informer of another form, whose second list comes in the other encoding and shows the same.
async fn stays<O: Decode>(lists: [Answer; 2], accept: &'static str) {
    let newer = "resourceVersion=10&resourceVersionMatch=NotOlderThan";
    let [first, second] = lists;
    let expired = status(410, "Expired", "too old");
    let server = ScriptedServer::new()
        .expect(format!("GET /api/v1/configmaps?{ANY}"), first)
        .expect(
            format!("GET /api/v1/configmaps?{WATCH}&resourceVersion=10"),
            Answer::watch([event("ERROR", &expired)]),
        )
        .expect(format!("GET /api/v1/configmaps?{newer}"), second);
    let source = match accept {
        BOTH => source(&server),
        _ => source(&server).metadata_only(),
    };
    let decoded = Arc::<AtomicUsize>::default();
    let counter = decoded.clone();
    let (informer, runner) = SharedInformer::<O>::builder(source)
        .reflector_options(ReflectorOptions {
            initial: InitialState::List,
            ..Default::default()
        })
        .transform(move |object| {
            counter.fetch_add(1, Ordering::Relaxed);
            Ok(object)
        })
        .build();
    let stop = CancellationToken::new();
    let _stop = stop.clone().drop_guard();
    tokio::spawn(runner.run(stop));
    let version = ResourceVersion::from("12");
    let relisted = informer.store().wait_until(&version);
    tokio::time::timeout(60 * SECOND, relisted)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(decoded.load(Ordering::Relaxed), 2, "nothing of the second list");
    assert_eq!(informer.status().reflector.lists, 2);
}

#[tokio::test(start_paused = true)]
async fn in_every_form_a_list_in_the_other_encoding_is_unchanged() {
    let objects = [map("a", 1), map("b", 2)];
    let both = || {
        let json = |version| Answer::json(list(version, &objects).to_string());
        [[listed(10, &objects), json(12)], [json(10), listed(12, &objects)]]
    };
    for lists in both() {
        stays::<ConfigMap>(lists, BOTH).await;
    }
    for lists in both() {
        stays::<Packed<ConfigMap>>(lists, BOTH).await;
    }
    // Whole objects, from a server that does not reduce them.
    for lists in both() {
        stays::<PartialObjectMeta<ConfigMap>>(lists, "metadata").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_in_protobuf_is_read() {
    let forbidden = to_vec(&status(403, "Forbidden", "not you"), Deny).unwrap();
    let mut scene = Scene::starts(
        InitialState::List,
        [(request(ANY, BOTH), answer(403).chunk(forbidden))],
    );
    scene.plays(Duration::from_millis(100), "").await;
    let error = scene.informer.status().reflector.last_error.expect("an error");
    assert_eq!(error.class, ErrorClass::Forbidden);
    assert!(error.message.contains("not you"), "{}", error.message);
}

#[tokio::test]
async fn what_only_json_has_is_asked_for_in_json() {
    let widgets = GroupVersionKind::gvk("example.com", "v1", "Widget");
    let server = ScriptedServer::new().expect(
        Expected::from("GET /apis/example.com/v1/widgets").header("accept", "application/json"),
        Answer::json(r#"{"kind":"WidgetList","apiVersion":"example.com/v1","items":[]}"#),
    );
    let client = kube::Client::new(server.service(), "default");
    let widgets = ClientSource::new(client, ApiResource::from_gvk(&widgets), Selection::default());
    let most_recent = ListRequest::new(ListVersion::MostRecent);
    assert!(
        ListerWatcher::<DynamicObject>::list(&widgets, most_recent.clone())
            .await
            .is_ok()
    );

    let field = FieldPlan::new([], ["/data/a".parse().unwrap()]).unwrap();
    let reduced = "application/vnd.kubernetes.protobuf;drop=metadata.managedFields,\
                   application/json;drop=metadata.managedFields,\
                   application/vnd.kubernetes.protobuf,application/json";
    for (plan, accept) in [
        (field, "application/json"),
        (FieldPlan::without_managed_fields(), reduced),
    ] {
        let server = ScriptedServer::new().expect(
            Expected::from("GET /api/v1/configmaps").header("accept", accept),
            Answer::json(list(1, &[]).to_string()),
        );
        let request = ListRequest {
            plan,
            ..most_recent.clone()
        };
        assert!(
            ListerWatcher::<ConfigMap>::list(&source(&server), request)
                .await
                .is_ok()
        );
        server.assert_finished();
    }
}

/// Lists once, in this form, and checks what was asked for.
async fn lists<O: Decode>(accept: &str, set: impl FnOnce(ClientSource) -> ClientSource) {
    let maps = ApiResource::erase::<ConfigMap>(&());
    lists_of::<O>("GET /api/v1/configmaps", maps, accept, set).await;
}

/// The same of another resource.
async fn lists_of<O: Decode>(
    request: &str,
    resource: ApiResource,
    accept: &str,
    set: impl FnOnce(ClientSource) -> ClientSource,
) {
    let server = ScriptedServer::new().expect(
        Expected::from(request).header("accept", accept),
        Answer::json(list(1, &[]).to_string()),
    );
    let client = kube::Client::new(server.service(), "default");
    let source = set(ClientSource::new(client, resource, Selection::default()));
    let listed = ListerWatcher::<O>::list(&source, ListRequest::new(ListVersion::MostRecent)).await;
    assert!(listed.is_ok());
    server.assert_finished();
}

#[tokio::test]
async fn protobuf_is_asked_for_unless_somebody_needs_json() {
    lists::<ConfigMap>(BOTH, |source| source).await;
    lists::<Packed<ConfigMap>>(BOTH, |source| source).await;
    lists::<ConfigMap>(JSON, |source| source.encoding(Encoding::Json)).await;
    // A newer server may have fields that the tables have not.
    lists::<DynamicObject>(JSON, |source| source).await;
    lists::<Packed<DynamicObject>>(JSON, |source| source).await;
    lists::<DynamicObject>(BOTH, |source| source.encoding(Encoding::Protobuf)).await;
    let reduced = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,";
    let metadata = format!("{PROTOBUF}{reduced}{JSON}{reduced}{BOTH}");
    lists::<PartialObjectMeta<ConfigMap>>(&metadata, ClientSource::metadata_only).await;
    lists::<PartialObjectMeta<DynamicObject>>(&metadata, ClientSource::metadata_only).await;
}

/// A plan replaces the form's own.
#[tokio::test]
async fn a_pager_and_a_watcher_take_a_plan() {
    type Metadata = PartialObjectMeta<ConfigMap>;
    let maps = Kind::new("v1", "ConfigMap");
    let mut object = maps.object("ns/a", "6");
    object["metadata"]["managedFields"] =
        json!([{"manager": "test", "operation": "Update", "apiVersion": "v1"}]);
    for (plan, kept) in [(None, false), (Some(FieldPlan::default()), true)] {
        let dropped = match kept {
            true => "",
            false => ";drop=metadata.managedFields",
        };
        let accept = |kind: &str| {
            let form = format!(";as=PartialObjectMetadata{kind};g=meta.k8s.io;v=v1{dropped}");
            format!("{JSON}{form},{JSON}")
        };
        let watch = format!("GET /api/v1/configmaps?{WATCH}&resourceVersion=5");
        let server = ScriptedServer::new()
            .expect(
                Expected::from("GET /api/v1/configmaps?limit=500").header("accept", accept("List")),
                Answer::json(maps.list("5", [&object])),
            )
            .expect(
                Expected::from(watch).header("accept", accept("")),
                Answer::watch([event("ADDED", &object)]),
            );
        let source = source(&server).metadata_only().encoding(Encoding::Json);
        let pager = Pager::<Metadata>::new(source.clone());
        let (pager, mut events) = match plan {
            None => (pager, RetryWatcher::<Metadata>::new(source, "5".into())),
            Some(plan) => (
                pager.plan(plan.clone()),
                RetryWatcher::with_plan(source, "5".into(), plan),
            ),
        };
        let listed = pager.list().await.unwrap().objects.remove(0);
        let added = events.next().await.unwrap().unwrap();
        for held in [&listed, added.object().unwrap()] {
            assert_eq!(held.metadata.managed_fields.is_some(), kept);
        }
        server.assert_finished();
    }
}

/// Custom resources have no message, but their metadata has one.
#[tokio::test]
async fn metadata_of_custom_resources_is_asked_for_in_protobuf() {
    const PATH: &str = "GET /apis/example.com/v1/widgets";
    let widgets = || ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Widget"));
    let reduced = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,";
    let metadata = format!("{PROTOBUF}{reduced}{JSON}{reduced}{JSON}");
    lists_of::<PartialObjectMeta<DynamicObject>>(PATH, widgets(), &metadata, ClientSource::metadata_only)
        .await;
    lists_of::<DynamicObject>(PATH, widgets(), JSON, |source| {
        source.encoding(Encoding::Protobuf)
    })
    .await;
}

/// A cluster, simulated or, when `KUBE_INFORMER_SERVER` says so, a real one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metadata_of_custom_resources_is_held_from_protobuf() {
    let cluster = Cluster::start().await;
    cluster
        .create(json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.example.com"},
            "spec": {
                "group": "example.com", "scope": "Namespaced",
                "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                }}}],
            },
        }))
        .await;
    let widget = |name: &str, size: u32| {
        json!({
            "apiVersion": "example.com/v1", "kind": "Widget", "size": size,
            "metadata": {
                "name": name, "namespace": "default", "labels": {"app": name, "size": size.to_string()},
                "annotations": {"example.com/note": "<&>ü"}, "finalizers": ["example.com/hold"],
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "0-0"}],
            },
        })
    };
    cluster.create(widget("before", 1)).await;
    let stop = CancellationToken::new();
    let _stop = stop.clone().drop_guard();
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Widget"));
    let source = |encoding| {
        ClientSource::new(cluster.client(), resource.clone(), Selection::default())
            .metadata_only()
            .encoding(encoding)
    };
    let [json, protobuf] = [Encoding::Json, Encoding::Protobuf].map(|encoding| {
        let builder = SharedInformer::<PartialObjectMeta<DynamicObject>>::builder(source(encoding));
        (encoding, runs(builder, &stop))
    });
    for (_, informer) in [&json, &protobuf] {
        informer.synced().await.unwrap();
    }
    cluster.create(widget("after", 1)).await;
    let mut changed = widget("before", 2);
    changed["metadata"]["finalizers"] = json!([]);
    let changed = cluster.update(changed).await;
    let version: ResourceVersion = changed["metadata"]["resourceVersion"].as_str().unwrap().into();
    for (encoding, informer) in [&json, &protobuf] {
        catch_up(std::slice::from_ref(informer), &version).await;
        let status = informer.reflector_status(Partition::SINGLE);
        assert_eq!(status.borrow().encoding, Some(*encoding));
    }
    let builder =
        SharedInformer::<Packed<PartialObjectMeta<DynamicObject>>>::builder(source(Encoding::Protobuf));
    let packed = runs(builder, &stop);
    packed.synced().await.unwrap();
    for key in ["default/after", "default/before"] {
        let [json, protobuf] = [&json.1, &protobuf.1].map(|informer| informer.store().get(key).unwrap());
        assert_eq!(protobuf.metadata, json.metadata, "{key}");
        let packed = packed.store().get(key).unwrap();
        assert_eq!(packed.decode().unwrap().metadata, json.metadata, "{key}");
        let owners = json.metadata.owner_references.as_deref();
        assert_eq!(Some(&*Packed::owners_of(&packed)), owners, "{key}");
        let note = json.metadata.annotations.as_ref().unwrap()["example.com/note"].as_str();
        assert_eq!(note, "<&>ü");
    }
}

#[tokio::test]
async fn a_factory_asks_for_the_encoding_that_it_is_told() {
    for (encoding, accept) in [(None, BOTH), (Some(Encoding::Json), "application/json")] {
        let server = ScriptedServer::new()
            .expect(
                request(ANY, accept),
                Answer::json(list(1, &[map("a", 1)]).to_string()),
            )
            .expect(watch(1, "application/json"), Answer::watch([""; 0]));
        let client = kube::Client::new(server.service(), "default");
        let factory = SharedInformerFactory::builder(client).reflector_options(ReflectorOptions {
            initial: InitialState::List,
            ..Default::default()
        });
        let factory = match encoding {
            None => factory.build(),
            Some(encoding) => factory.encoding(encoding).build(),
        };
        let maps = factory.informer::<ConfigMap>();
        factory.start();
        maps.synced().await.unwrap();
        factory.shutdown().await.unwrap();
        assert!(maps.store().get("ns/a").is_some());
    }
}

/// A cluster, simulated or, when `KUBE_INFORMER_SERVER` says so, a real one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_encodings_hold_the_same_in_every_form() {
    let cluster = Cluster::start().await;
    let pod = |name: &str| {
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": name, "namespace": "default", "labels": {"app": name},
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "0-0"}],
            },
            "spec": {"containers": [{"name": "c", "image": "registry.example/image:1", "resources": {"limits": {"cpu": "500m"}}}]},
        })
    };
    for n in 0..30 {
        cluster.create(pod(&format!("before-{n}"))).await;
    }
    let stop = CancellationToken::new();
    let _stop = stop.clone().drop_guard();
    let source = |encoding| {
        let resource = ApiResource::erase::<Pod>(&());
        ClientSource::new(cluster.client(), resource, Selection::default()).encoding(encoding)
    };
    let both = [Encoding::Json, Encoding::Protobuf];
    let typed = both.map(|encoding| runs(SharedInformer::<Pod>::builder(source(encoding)), &stop));
    let packed = both.map(|encoding| runs(SharedInformer::<Packed<Pod>>::builder(source(encoding)), &stop));
    let metadata = both.map(|encoding| {
        let source = source(encoding).metadata_only();
        runs(SharedInformer::<PartialObjectMeta<Pod>>::builder(source), &stop)
    });
    let all_metadata = both.map(|encoding| {
        let builder = SharedInformer::builder(source(encoding).metadata_only()).plan(FieldPlan::default());
        runs::<PartialObjectMeta<Pod>>(builder, &stop)
    });
    for informer in &typed {
        informer.synced().await.unwrap();
    }
    for n in 0..10 {
        let mut created = cluster.create(pod(&format!("after-{n}"))).await;
        created["metadata"]["labels"]["change"] = n.to_string().into();
        let changed = cluster.update(created).await;
        if n % 2 == 0 {
            cluster.delete(&changed).await;
        }
    }
    let last = cluster.create(pod("last")).await;
    let last: ResourceVersion = last["metadata"]["resourceVersion"].as_str().unwrap().into();
    catch_up(&typed, &last).await;
    catch_up(&packed, &last).await;
    catch_up(&metadata, &last).await;
    catch_up(&all_metadata, &last).await;

    let [json, protobuf] = &typed;
    let expected = json.store().list();
    assert!(expected.len() > 30);
    for object in &expected {
        let key = Pod::key_of(object);
        assert_eq!(protobuf.store().get(key.as_str()).as_ref(), Some(object), "{key}");
        let [json, protobuf] =
            [&packed[0], &packed[1]].map(|packed| packed.store().get(key.as_str()).expect("held"));
        assert_eq!(protobuf.decode().unwrap(), json.decode().unwrap(), "{key}");
        let owners: [Vec<_>; 2] = [&json, &protobuf].map(|packed| Packed::owners_of(packed).into_owned());
        assert_eq!(owners[0], owners[1]);
        let [json, protobuf] =
            [&metadata[0], &metadata[1]].map(|held| held.store().get(key.as_str()).expect("held"));
        assert_eq!(protobuf.metadata, json.metadata, "{key}");
        let whole = all_metadata
            .each_ref()
            .map(|held| held.store().get(key.as_str()).expect("held"));
        assert!(object.metadata.managed_fields.is_some(), "{key}");
        assert!(
            whole.iter().all(|whole| whole.metadata == object.metadata),
            "{key}"
        );
        let mut pruned = object.metadata.clone();
        pruned.managed_fields = None;
        assert_eq!(json.metadata, pruned, "{key}");
    }
    for (informer, encoding) in typed.iter().zip(both) {
        assert_eq!(informer.store().len(), expected.len());
        assert_eq!(informer.status().reflector.encoding, Some(encoding));
    }
    assert_eq!(packed[1].status().reflector.encoding, Some(Encoding::Protobuf));
    assert_eq!(metadata[1].status().reflector.encoding, Some(Encoding::Protobuf));
    stop.cancel();
    for informer in &typed {
        informer.stopped().await;
    }
    cluster.shutdown().await;
}

fn runs<O: Decode>(builder: InformerBuilder<O>, stop: &CancellationToken) -> SharedInformer<O> {
    let (informer, runner) = builder.build();
    tokio::spawn(runner.run(stop.clone()));
    informer
}

async fn catch_up<O: CachedObject>(informers: &[SharedInformer<O>], version: &ResourceVersion) {
    for informer in informers {
        let reached = informer.store().wait_until(version);
        tokio::time::timeout(90 * SECOND, reached)
            .await
            .expect("in time")
            .unwrap();
    }
}
