//! Informers against a cluster: a simulated one, or a real one when `KUBE_INFORMER_SERVER` says so. Tests of what only
//! the simulator can do say it.

use conformance::cluster::Cluster;
use futures::StreamExt;
use instances as _;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube_informer::reflector::Phase;
use kube_informer::selector::LabelSelector;
use kube_informer::source::{ClientSource, Selection};
use kube_informer::{
    CachedObject, Deleted, Lister, NamespaceSet, Notification, ObjectKey, Partition,
    ResourceEventHandlerFuncs, SharedInformer,
};
use kube_informer::{ResourceVersion, SharedInformerFactory};
use kube_sim::{Sim, SimServer};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn config_map(name: &str, version: u32) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default", "labels": {"parity": (if version.is_multiple_of(2) { "even" } else { "odd" })}},
        "data": {"version": version.to_string()},
    })
}

/// What was listed, in the form of the cache.
fn truth(objects: Vec<Value>) -> HashMap<String, Value> {
    objects.into_iter().map(|object| (key(&object), object)).collect()
}

fn version(object: &Value) -> &str {
    object["metadata"]["resourceVersion"].as_str().unwrap()
}

fn key(object: &Value) -> String {
    let text = |field: &str| object["metadata"][field].as_str();
    ObjectKey::new(text("namespace"), text("name").unwrap()).to_string()
}

fn assert_holds<K>(store: &kube_informer::store::Indexer<Arc<K>>, truth: &HashMap<String, Value>)
where
    K: kube::Resource + serde::de::DeserializeOwned + serde::Serialize + Send + Sync + 'static,
{
    assert_eq!(store.len(), truth.len());
    for (key, object) in truth {
        let held = store.get(key).unwrap_or_else(|| panic!("{key} is missing"));
        // Both through the type, which leaves out what it does not know.
        let expected: K = serde_json::from_value(object.clone()).unwrap();
        assert_eq!(
            serde_json::to_value(&*held).unwrap(),
            serde_json::to_value(expected).unwrap(),
            "{key}"
        );
    }
}

async fn catches_up<R: Clone + Send + Sync + 'static>(
    store: &kube_informer::store::Indexer<R>,
    version: impl Into<ResourceVersion>,
) {
    // A cluster's version moves with any object: the watch's own events may end before it, so bookmarks tell it.
    tokio::time::timeout(Duration::from_secs(90), store.wait_until(&version.into()))
        .await
        .expect("in time")
        .unwrap();
}

/// A pod that no kubelet runs.
fn pod(name: &str, node: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name, "namespace": "default", "labels": {"app": "web"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "0-0"}],
        },
        // With what a server adds, which protobuf always shows.
        "spec": {
            "nodeName": node,
            "containers": [{"name": "c", "image": "registry.example/image:1", "resources": {}}],
        },
    })
}

/// Creates, changes and deletes pods of its own until it is told to stop, and counts the changes.
async fn churn(client: kube::Client, writer: u32, changed: Arc<AtomicUsize>, stop: CancellationToken) {
    let pods: kube::Api<Pod> = kube::Api::namespaced(client, "default");
    while !stop.is_cancelled() {
        let changes = changed.load(Relaxed);
        let name = format!("pod-{writer}-{}", rand::random_range(0..40));
        let labels = json!({"metadata": {"labels": {"change": changes.to_string()}}});
        let object = serde_json::from_value(pod(&name, &format!("node-{}", changes % 10))).unwrap();
        // What is not there cannot be changed, what is there cannot be created: both are nothing.
        let at_once = DeleteParams::default().grace_period(0);
        let done = match rand::random_range(0..4) {
            0 => pods.delete(&name, &at_once).await.is_ok(),
            1 => pods.create(&PostParams::default(), &object).await.is_ok(),
            _ => pods
                .patch(&name, &PatchParams::default(), &Patch::Merge(&labels))
                .await
                .is_ok(),
        };
        changed.fetch_add(usize::from(done), Relaxed);
    }
}

/// Waits until there have been so many more changes.
async fn more(changed: &AtomicUsize, changes: usize) {
    let enough = changed.load(Relaxed) + changes;
    let waiting = async {
        while changed.load(Relaxed) < enough {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting)
        .await
        .expect("in time");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn caches_end_equal_to_a_cluster_that_changes_all_the_time() {
    let cluster = Cluster::start().await;
    for n in 0..10 {
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": format!("node-{n}")}});
        cluster.create(node).await;
    }
    for n in 0..50 {
        cluster.create(pod(&format!("pod-0-{n}"), "node-0")).await;
    }
    let stop = CancellationToken::new();
    let changed = Arc::<AtomicUsize>::default();
    let writers = (0..4).map(|writer| churn(cluster.client(), writer, changed.clone(), stop.clone()));
    let writers = writers.map(tokio::spawn);
    let writers: Vec<_> = writers.collect();
    let factory = SharedInformerFactory::new(cluster.client());
    let (pods, nodes) = (factory.informer::<Pod>(), factory.informer::<Node>());
    let node_of = |pod: &Arc<Pod>| pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
    let by_node = pods.store().add_index("by-node", node_of).unwrap();

    // What a handler knows after every notification; one from the start, one that comes late.
    type KnownObjects = Arc<Mutex<HashMap<String, Arc<Pod>>>>;
    let known: [KnownObjects; 2] = Default::default();
    let follow = |known: &KnownObjects| {
        let (add, update, delete) = (known.clone(), known.clone(), known.clone());
        ResourceEventHandlerFuncs::<Pod>::new()
            .on_add(move |pod, _| {
                let held = add.lock().unwrap().insert(Pod::key_of(&pod).to_string(), pod);
                assert!(held.is_none(), "added twice");
            })
            .on_update(move |old, new| {
                let mut known = update.lock().unwrap();
                let held = known.insert(Pod::key_of(&new).to_string(), new);
                assert!(Arc::ptr_eq(&held.expect("known before it is updated"), &old));
            })
            .on_delete(move |Deleted { key, .. }| {
                delete
                    .lock()
                    .unwrap()
                    .remove(&*key)
                    .expect("known before it is deleted");
            })
    };
    let first = pods.add_handler("first", follow(&known[0])).unwrap();
    factory.start();
    factory.wait_for_sync(Duration::from_secs(30)).await.unwrap();
    more(&changed, 50).await;
    let late = pods.add_handler("late", follow(&known[1])).unwrap();
    more(&changed, 100).await;
    stop.cancel();
    for writer in writers {
        writer.await.unwrap();
    }
    let truth = truth(cluster.list("v1", "Pod").await);
    // Bookmarks are rare; a last change tells that all before it has come.
    let last = cluster.create(pod("last", "node-0")).await;
    catches_up(pods.store(), version(&last)).await;
    let truth: HashMap<_, _> = truth.into_iter().chain([(key(&last), last)]).collect();
    assert_holds(pods.store(), &truth);
    assert_eq!(nodes.store().len(), 10);
    for node in nodes.store().list_keys() {
        let expected = truth
            .values()
            .filter(|pod| pod["spec"]["nodeName"] == *node.as_str())
            .count();
        assert_eq!(
            pods.store().by_index(&by_node, node.as_str()).unwrap().len(),
            expected,
            "{node}"
        );
    }
    first.drain().await;
    late.drain().await;
    for known in known {
        let known = known.lock().unwrap();
        assert_eq!(known.len(), truth.len());
        assert!(
            known
                .iter()
                .all(|(key, pod)| Arc::ptr_eq(pod, &pods.store().get(key).unwrap()))
        );
    }
    factory.shutdown().await.unwrap();
}

fn over_http(server: &SimServer) -> kube::Client {
    kube::Client::try_from(kube::Config::new(server.url().parse().unwrap())).unwrap()
}

// The workload is the simulator's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn namespaces_come_and_go_while_everything_changes() {
    let server = SimServer::builder()
        .nodes(10)
        .pods(100)
        .churn(200.0)
        .seed(11)
        .bookmark_interval(Duration::from_millis(100))
        .start()
        .await
        .unwrap();
    let names: Vec<String> = truth(server.store().list("v1", "Namespace", None).unwrap())
        .into_keys()
        .collect();
    let selected = NamespaceSet::new(names.iter().step_by(2).cloned());
    let factory = SharedInformerFactory::builder(over_http(&server))
        .namespaces(&selected)
        .build();
    let pods = factory.informer::<Pod>();
    let (known, count) = (
        Arc::<Mutex<HashMap<String, Arc<Pod>>>>::default(),
        Arc::new(Mutex::new(0)),
    );
    let (follow, wrong) = (known.clone(), count.clone());
    let handler = move |change: Notification<Pod>| {
        let mut known = follow.lock().unwrap();
        let key = change.key().to_string();
        let legal = match change {
            Notification::Add { object, .. } => known.insert(key, object).is_none(),
            Notification::Update { old, new } => known
                .insert(key, new)
                .is_some_and(|held| Arc::ptr_eq(&held, &old)),
            Notification::Delete(_) => known.remove(&key).is_some(),
        };
        *wrong.lock().unwrap() += usize::from(!legal);
    };
    let registration = pods.add_handler("follow", handler).unwrap();
    factory.start();
    for turn in 0..120 {
        let name = &names[turn * 7 % names.len()];
        if !selected.add(name) {
            selected.remove(name);
        }
        if turn % 3 == 0 {
            // Time for some to be listed, and for others to be taken out in the middle of it.
            tokio::time::sleep(Duration::from_millis(turn as u64 % 20)).await;
        }
    }
    server.stop_churn().await;
    factory.wait_for_sync(Duration::from_secs(30)).await.unwrap();
    catches_up(pods.store(), server.store().resource_version()).await;
    let mut truth = truth(server.store().list("v1", "Pod", None).unwrap());
    truth.retain(|_, pod| selected.contains(pod["metadata"]["namespace"].as_str().unwrap()));
    assert!(!truth.is_empty() && truth.len() < 100);
    assert_holds(pods.store(), &truth);
    registration.drain().await;
    assert_eq!(*count.lock().unwrap(), 0, "illegal notifications");
    let mut keys: Vec<_> = known.lock().unwrap().keys().cloned().collect();
    let mut expected: Vec<_> = truth.into_keys().collect();
    keys.sort();
    expected.sort();
    assert_eq!(keys, expected);
    factory.shutdown().await.unwrap();
    server.shutdown().await;
}

#[tokio::test]
async fn a_factory_shares_what_is_selected_alike_and_nothing_else() {
    let cluster = Cluster::start().await;
    for n in 0..6 {
        cluster.create(config_map(&format!("c{n}"), n)).await;
    }
    let factory = SharedInformerFactory::new(cluster.client());
    let resource = ApiResource::erase::<k8s_openapi::api::core::v1::ConfigMap>(&());
    let everything = Selection {
        namespace: Some("default".into()),
        ..Selection::default()
    };
    let odd = Selection {
        label_selector: Some("parity=odd".into()),
        ..everything.clone()
    };
    let all = factory.informer_for_resource::<DynamicObject>(resource.clone(), everything.clone());
    let again = factory.informer_for_resource::<DynamicObject>(resource.clone(), everything);
    let some = factory.informer_for_resource::<DynamicObject>(resource, odd);
    factory.start();
    factory.wait_for_sync(Duration::from_secs(10)).await.unwrap();
    assert_eq!(
        (all.store().len(), again.store().len(), some.store().len()),
        (6, 6, 3)
    );
    let index = all
        .store()
        .add_index("parity", |o| {
            kube::ResourceExt::labels(&**o).get("parity").cloned()
        })
        .unwrap();
    assert_eq!(
        again.store().by_index(&index, "odd").unwrap().len(),
        3,
        "one store behind both handles"
    );
    assert!(some.store().by_index(&index, "odd").is_err(), "another store");
    let selected = |text: &str| {
        let selector = LabelSelector::parse(text).unwrap();
        let lister = all.lister();
        let (all, here) = (
            lister.select(&selector),
            lister.namespace("default").select(&selector),
        );
        assert_eq!(all.len(), here.len());
        assert_eq!(lister.namespace("elsewhere").select(&selector).len(), 0);
        all.len()
    };
    assert_eq!(
        (
            selected(""),
            selected("parity=odd"),
            selected("parity,parity!=odd"),
            selected("!parity")
        ),
        (6, 3, 3, 0)
    );

    // An object that leaves the selection is deleted there, and updated here.
    let (mut in_all, mut in_some) = (all.subscribe("all").unwrap(), some.subscribe("some").unwrap());
    cluster.update(config_map("c1", 2)).await;
    let told = loop {
        let change = in_some.next().await.unwrap();
        if !matches!(change, Notification::Add { .. }) {
            break change;
        }
    };
    assert!(matches!(told, Notification::Delete(Deleted { key, .. }) if key.as_str() == "default/c1"));
    while !matches!(in_all.next().await.unwrap(), Notification::Update { .. }) {}
    factory.shutdown().await.unwrap();
    assert_eq!(in_all.next().await.map(|_| ()), None);
}

/// Only on the simulator: a paused clock, and a compaction at a given instant.
#[tokio::test(start_paused = true)]
async fn a_compaction_while_nobody_watches_is_a_relist() {
    let sim = Sim::builder().build().unwrap();
    sim.store().create(config_map("kept", 1)).unwrap();
    sim.store().create(config_map("gone", 1)).unwrap();
    let resource = ApiResource::erase::<k8s_openapi::api::core::v1::ConfigMap>(&());
    let source = ClientSource::new(
        kube::Client::new(sim.service(), "default"),
        resource,
        Selection::default(),
    );
    let (informer, runner) = SharedInformer::<DynamicObject>::builder(source).build();
    let mut changes = informer.subscribe("test").unwrap();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    informer.synced().await.unwrap();
    let kept = informer.store().get("default/kept").unwrap();
    for n in 0..5 {
        let update = sim.store().update(config_map("changed", n));
        if update.is_err() {
            sim.store().create(config_map("changed", n)).unwrap();
        }
    }
    sim.store()
        .delete("v1", "ConfigMap", Some("default"), "gone")
        .unwrap();
    sim.store().compact(sim.store().resource_version());
    // All of this happened before the watch was polled again; when it is, its place in the history is gone.
    catches_up(informer.store(), sim.store().resource_version()).await;
    assert_holds(
        informer.store(),
        &truth(sim.store().list("v1", "ConfigMap", None).unwrap()),
    );
    assert!(
        Arc::ptr_eq(&kept, &informer.store().get("default/kept").unwrap()),
        "unchanged, so not decoded again"
    );
    let mut told = vec![];
    while let Ok(Some(change)) = tokio::time::timeout(Duration::from_secs(1), changes.next()).await {
        told.push(change.key().to_string());
    }
    assert!(told.contains(&"default/gone".to_owned()) && told.contains(&"default/changed".to_owned()));
    stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test]
async fn custom_resources_are_dynamic_objects() {
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}],
        },
    });
    let cluster = Cluster::start().await;
    cluster.create(crd).await;
    let widget = |size: u32| {
        json!({"apiVersion": "example.com/v1", "kind": "Widget",
            "metadata": {"name": "w", "namespace": "default"}, "spec": {"size": size}})
    };
    cluster.create(widget(1)).await;
    let factory = SharedInformerFactory::new(cluster.client());
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Widget"));
    let widgets = factory.informer_for_resource::<DynamicObject>(resource, Selection::default());
    factory.start();
    factory.wait_for_sync(Duration::from_secs(10)).await.unwrap();
    let lister: Lister<DynamicObject> = widgets.lister();
    assert_eq!(
        lister.namespace("default").get("w").unwrap().data["spec"]["size"],
        1
    );
    let missing = lister.namespace("default").get("x").unwrap_err();
    assert_eq!(missing.to_string(), "widgets.example.com \"default/x\" not found");
    let updated = cluster.update(widget(2)).await;
    catches_up(widgets.store(), version(&updated)).await;
    assert_eq!(lister.get("default/w").unwrap().data["spec"]["size"], 2);
    factory.shutdown().await.unwrap();
}

#[tokio::test]
async fn what_stands_in_the_way_of_sync_is_named() {
    let cluster = Cluster::start().await;
    let factory = SharedInformerFactory::new(cluster.client());
    let pods = factory.informer::<Pod>();
    let unknown = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Gadget"));
    factory.informer_for_resource::<DynamicObject>(unknown, Selection::default());
    factory.start();
    let error = factory.wait_for_sync(Duration::from_secs(2)).await.unwrap_err();
    assert_eq!(error.unsynced.len(), 1, "{error}");
    assert_eq!(error.unsynced[0].resource, "gadgets.example.com");
    assert!(error.unsynced[0].why.starts_with("not-found: "), "{error}");
    assert!(pods.has_synced());
    factory.shutdown().await.unwrap();

    let client = kube::Client::try_from(cluster.config()).unwrap();
    cluster.shutdown().await;
    let factory = SharedInformerFactory::new(client);
    factory.informer::<Pod>();
    factory.start();
    let error = factory
        .wait_for_sync(Duration::from_millis(500))
        .await
        .unwrap_err();
    assert!(
        error.unsynced[0]
            .why
            .starts_with("unreachable: cannot reach the server"),
        "{error}"
    );
    factory.shutdown().await.unwrap();
}

fn gadgets() -> (Value, ApiResource) {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "gadgets", "kind": "Gadget"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}],
        },
    });
    (
        definition,
        ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Gadget")),
    )
}

fn gadget(name: &str) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": name, "namespace": "default"}})
}

/// Waits until the informer's reflector is in a phase.
async fn reaches(informer: &SharedInformer<DynamicObject>, phase: impl Fn(Phase) -> bool) {
    let mut status = informer.reflector_status(Partition::SINGLE);
    let reached = status.wait_for(|status| phase(status.phase));
    let reached = tokio::time::timeout(Duration::from_secs(30), reached).await;
    assert!(
        reached.is_ok_and(|reached| reached.is_ok()),
        "{:?}",
        informer.status()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kind_waits_for_its_definition_and_survives_its_deletion() {
    let server = SimServer::builder().start().await.unwrap();
    let factory = SharedInformerFactory::new(over_http(&server));
    let (definition, resource) = gadgets();
    let informer = factory.informer_for_resource::<DynamicObject>(resource, Selection::default());
    let mut changes = informer.subscribe("test").unwrap();
    factory.start();
    reaches(&informer, |phase| matches!(phase, Phase::NotServed { .. })).await;
    let error = factory
        .wait_for_sync(Duration::from_millis(100))
        .await
        .unwrap_err();
    let said = "gadgets.example.com as DynamicObject (not-found: the server has no such resource (yet): \
        the server answered 404 NotFound: nothing is served at /apis/example.com/v1/gadgets, ";
    assert!(error.to_string().contains(said), "{error}");

    server.store().create(definition.clone()).unwrap();
    server.store().create(gadget("one")).unwrap();
    factory.wait_for_sync(Duration::from_secs(10)).await.unwrap();
    assert_eq!(
        format!("{:?}", changes.next().await.unwrap().key()),
        "\"default/one\""
    );

    // To those who watch, the server tells of the deletion of every object, ends the watch, and knows the kind no more.
    reaches(&informer, |phase| phase == Phase::Watching).await;
    let delete = || {
        let (group, kind) = ("apiextensions.k8s.io/v1", "CustomResourceDefinition");
        server
            .store()
            .delete(group, kind, None, "gadgets.example.com")
            .unwrap();
    };
    delete();
    let told = changes.next().await.unwrap();
    assert!(
        format!("{told:?}").starts_with("Delete(default/one@") && format!("{told:?}").ends_with(", Event)")
    );
    reaches(&informer, |phase| matches!(phase, Phase::NotServed { .. })).await;
    assert!(informer.store().is_empty() && informer.has_synced());

    server.store().create(definition.clone()).unwrap();
    server.store().create(gadget("two")).unwrap();
    let told = tokio::time::timeout(Duration::from_secs(10), changes.next()).await;
    assert_eq!(told.expect("in time").unwrap().key().as_str(), "default/two");
    reaches(&informer, |phase| phase == Phase::Watching).await;

    // Gone and back before anybody could look: nothing is missed.
    delete();
    server.store().create(definition).unwrap();
    server.store().create(gadget("two")).unwrap();
    catches_up(informer.store(), server.store().resource_version()).await;
    let (gone, back) = (changes.next().await.unwrap(), changes.next().await.unwrap());
    assert!(matches!(gone, Notification::Delete(_)) && matches!(back, Notification::Add { .. }));
    factory.shutdown().await.unwrap();
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_not_there_is_asked_for_every_few_seconds() {
    let sim = Sim::builder().build().unwrap();
    let (service, requests) = (sim.service(), Arc::new(Mutex::new(0)));
    let count = requests.clone();
    let spy = tower::service_fn(move |request: http::Request<kube::client::Body>| {
        *count.lock().unwrap() += 1;
        tower::ServiceExt::oneshot(service.clone(), request)
    });
    let factory = SharedInformerFactory::new(kube::Client::new(spy, "default"));
    let (definition, resource) = gadgets();
    let informer = factory.informer_for_resource::<DynamicObject>(resource, Selection::default());
    factory.start();
    let hour = Duration::from_secs(3600);
    tokio::time::sleep(hour).await;
    let asked = *requests.lock().unwrap();
    assert!(
        (600..=1210).contains(&asked),
        "{asked} times in an hour: every 3 to 6 s"
    );
    sim.store().create(definition).unwrap();
    let start = tokio::time::Instant::now();
    informer.synced().await.unwrap();
    assert!(start.elapsed() <= Duration::from_secs(6));
    factory.shutdown().await.unwrap();
}

#[tokio::test]
async fn metadata_comes_alone() {
    let cluster = Cluster::start().await;
    for n in 0..20 {
        cluster.create(pod(&format!("pod-{n}"), "node-0")).await;
    }
    let server = cluster.client();
    let accepted = Arc::new(Mutex::new(vec![]));
    let seen = accepted.clone();
    let spy = tower::service_fn(move |request: http::Request<kube::client::Body>| {
        seen.lock()
            .unwrap()
            .push(request.headers()["accept"].to_str().unwrap().to_owned());
        let server = server.clone();
        async move {
            server
                .send(request)
                .await
                .map_err(Box::<dyn std::error::Error + Send + Sync>::from)
        }
    });
    let client = kube::Client::new(spy, "default");
    let factory = SharedInformerFactory::new(client.clone());
    let pods = factory.metadata_informer::<Pod>();
    factory.start();
    factory.wait_for_sync(Duration::from_secs(10)).await.unwrap();
    assert_eq!(pods.store().len(), 20);
    for pod in pods.store().list() {
        assert!(pod.metadata.owner_references.is_some() && pod.metadata.labels.is_some());
    }
    factory.shutdown().await.unwrap();
    assert!(
        accepted.lock().unwrap()[0]
            .starts_with("application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
    );

    // The same by a list, and what it spares.
    let received = async |metadata_only: bool| {
        let source = ClientSource::new(
            client.clone(),
            ApiResource::erase::<Pod>(&()),
            Selection::default(),
        );
        let source = if metadata_only {
            source.metadata_only()
        } else {
            source
        };
        let options = kube_informer::reflector::ReflectorOptions {
            initial: kube_informer::reflector::InitialState::List,
            ..Default::default()
        };
        let builder = SharedInformer::<kube::core::PartialObjectMeta<Pod>>::builder(source.clone())
            .reflector_options(options);
        let (informer, runner) = builder.build();
        let running = tokio::spawn(runner.run(CancellationToken::new()));
        informer.synced().await.unwrap();
        running.abort();
        assert_eq!(informer.store().len(), 20);
        source.bytes_received()
    };
    let (whole, metadata) = (received(false).await, received(true).await);
    assert!(metadata < whole, "{metadata} of {whole} bytes");
    assert!(
        accepted
            .lock()
            .unwrap()
            .iter()
            .any(|accept| accept.contains("as=PartialObjectMetadataList"))
    );
}

#[tokio::test]
async fn a_compressed_answer_is_read() {
    use async_compression::tokio::write::GzipEncoder;
    use tokio::io::AsyncWriteExt;

    let list = r#"{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"5"},
        "items":[{"metadata":{"name":"a","namespace":"ns","resourceVersion":"4"},"data":{"k":"v"}}]}"#;
    let mut encoder = GzipEncoder::new(Vec::new());
    encoder.write_all(list.as_bytes()).await.unwrap();
    encoder.shutdown().await.unwrap();
    let compressed = encoder.into_inner();
    let length = compressed.len() as u64;
    let server = tower::service_fn(move |request: http::Request<kube::client::Body>| {
        assert_eq!(request.headers()["accept-encoding"], "gzip");
        let body = kube::client::Body::from(compressed.clone());
        let response = http::Response::builder()
            .header("content-encoding", "gzip")
            .body(body)
            .unwrap();
        async { Ok::<_, std::convert::Infallible>(response) }
    });
    let resource = ApiResource::erase::<k8s_openapi::api::core::v1::ConfigMap>(&());
    let client = kube::Client::new(server, "default");
    let source = ClientSource::new(client, resource, Selection::default()).compression();
    let request = kube_informer::source::ListRequest::new(kube_informer::source::ListVersion::Any);
    let lister: &dyn kube_informer::source::ListerWatcher<DynamicObject> = &source;
    let parts: Vec<_> = lister.list(request).await.unwrap().collect().await;
    let parts: Vec<_> = parts.into_iter().map(Result::unwrap).collect();
    assert_eq!(parts.len(), 2);
    assert_eq!(format!("{:?}", parts[0]), "Item(RawObject(ns/a))");
    assert_eq!(source.bytes_received(), length);
}
