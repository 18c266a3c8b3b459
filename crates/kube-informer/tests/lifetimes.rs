//! How long a factory's informers live, what they are shared by, and what is said of those that are not well.

use futures::StreamExt;
use http_body_util::BodyExt;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Secret};
use kube::core::discovery::Scope;
use kube::core::{ApiResource, DynamicObject, PartialObjectMeta};
use kube_informer::factory::{FactoryBuilder, Namespaces};
use kube_informer::informer::{RunError, Transform, WriteTracker};
use kube_informer::selector::LabelSelector;
use kube_informer::source::{ClientSource, ErrorClass, Selection};
use kube_informer::{
    HandlerOptions, InformerRequest, NamespaceSet, Notification, SharedInformer, SharedInformerFactory,
};
use kube_sim::Sim;
use serde_json::{Value, json};
use std::any::Any;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

const MOMENT: Duration = Duration::from_millis(10);
const GRACE: Duration = Duration::from_secs(60);

/// A cluster, and what was asked of it.
struct Cluster {
    sim: Sim,
    client: kube::Client,
    /// The paths and queries of all requests.
    requests: Arc<Mutex<Vec<String>>>,
    /// Held by the body of every answer to a watch.
    watching: Arc<()>,
}

impl Cluster {
    fn new() -> Self {
        let sim = Sim::builder().build().unwrap();
        for namespace in ["x", "y"] {
            let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
            sim.store().create(object).unwrap();
            sim.store().create(config_map(namespace, "a", "odd")).unwrap();
        }
        let (requests, watching) = (Arc::<Mutex<Vec<String>>>::default(), Arc::new(()));
        let (service, log, held) = (sim.service(), requests.clone(), watching.clone());
        let spy = tower::service_fn(move |request: http::Request<kube::client::Body>| {
            let uri = request.uri().to_string();
            log.lock().unwrap().push(uri.clone());
            let (service, held) = (service.clone(), held.clone());
            async move {
                if uri.contains("/namespaces/forbidden/") {
                    let status = kube_sim::script::status(403, "Forbidden", "you may not");
                    let body = http_body_util::Full::new(bytes::Bytes::from(status.to_string()));
                    let body = body.map_err(|never| match never {}).boxed_unsync();
                    return Ok(http::Response::builder().status(403).body(body).unwrap());
                }
                let response = service.oneshot(request).await?;
                let held = uri.contains("watch=true").then_some(held);
                Ok::<_, std::io::Error>(response.map(|body| {
                    let body = body.map_frame(move |frame| {
                        let _held = &held;
                        frame
                    });
                    body.boxed_unsync()
                }))
            }
        });
        Self {
            sim,
            client: kube::Client::new(spy, "default"),
            requests,
            watching,
        }
    }

    fn factory(&self) -> FactoryBuilder {
        SharedInformerFactory::builder(self.client.clone()).grace_period(GRACE)
    }

    /// How many watches are open.
    fn watches(&self) -> usize {
        // One is ours, one the spy's.
        Arc::strong_count(&self.watching) - 2
    }

    fn requests(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    /// Whether a change of the cluster comes to a store, which would have a third of the name.
    async fn is_followed(&self, keys: impl Fn() -> usize, name: &str) -> bool {
        let before = keys();
        self.sim.store().create(config_map("x", name, "odd")).unwrap();
        tokio::time::sleep(MOMENT).await;
        keys() == before + 1
    }
}

fn config_map(namespace: &str, name: &str, parity: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "labels": {"parity": parity}, "annotations": {"note": "long"}},
        "data": {"k": "v"},
    })
}

fn same<O: kube_informer::CachedObject>(a: &SharedInformer<O>, b: &SharedInformer<O>) -> bool {
    // An index is bound to its store.
    let index = a
        .store()
        .add_index(&format!("probe-{}", a.store().index_names().len()), |_| [0])
        .unwrap();
    b.store().by_index(&index, &0).is_ok()
}

#[tokio::test(start_paused = true)]
async fn an_unused_informer_stops_after_the_grace_period() {
    let cluster = Cluster::new();
    let factory = cluster.factory().build();
    let configs = factory.informer::<ConfigMap>();
    factory.start();
    factory.wait_for_sync(GRACE).await.unwrap();
    tokio::time::sleep(10 * GRACE).await;
    assert_eq!(cluster.watches(), 1, "it is used");
    drop(configs);
    tokio::time::sleep(GRACE - MOMENT).await;
    assert_eq!(cluster.watches(), 1);
    tokio::time::sleep(2 * MOMENT).await;
    assert_eq!(cluster.watches(), 0);
    assert_eq!(
        format!("{factory:?}"),
        "SharedInformerFactory { informers: [], .. }"
    );

    let requests = cluster.requests();
    let configs = factory.informer::<ConfigMap>();
    configs.synced().await.unwrap();
    assert!(cluster.requests() > requests);
    assert_eq!(configs.store().len(), 2);
    assert!(cluster.is_followed(|| configs.store().len(), "new").await);
    factory.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_request_within_the_grace_period_gets_the_same_informer() {
    let cluster = Cluster::new();
    let factory = cluster.factory().build();
    factory.start();
    let configs = factory.informer::<ConfigMap>();
    configs.synced().await.unwrap();
    let held = configs.store().get("x/a").unwrap();
    drop(configs);
    let requests = cluster.requests();
    for _ in 0..10 {
        tokio::time::sleep(GRACE - MOMENT).await;
        let configs = factory.informer::<ConfigMap>();
        assert!(configs.has_synced());
        assert!(Arc::ptr_eq(&held, &configs.store().get("x/a").unwrap()));
    }
    let lists = cluster.requests.lock().unwrap()[requests..]
        .iter()
        .filter(|uri| !uri.contains("watch=true"))
        .count();
    assert_eq!(lists, 0);
    factory.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn everybody_who_reads_or_is_told_is_a_user() {
    type Use = fn(SharedInformer<ConfigMap>) -> Box<dyn Any>;
    let uses: [(&str, Use); 7] = [
        ("handle", |informer| Box::new(informer.clone())),
        ("lister", |informer| Box::new(informer.lister())),
        ("store", |informer| Box::new(informer.store().clone())),
        ("handler", |informer| {
            Box::new(
                informer
                    .add_handler("h", |_: Notification<ConfigMap>| ())
                    .unwrap(),
            )
        }),
        ("stream", |informer| Box::new(informer.subscribe("s").unwrap())),
        ("own writes", |informer| Box::new(WriteTracker::new(informer))),
        ("own writes of a clone", |informer| {
            Box::new(WriteTracker::new(informer).clone())
        }),
    ];
    let cluster = Cluster::new();
    let factory = cluster.factory().build();
    factory.start();
    for (name, make) in uses {
        let user = make(factory.informer());
        tokio::time::sleep(3 * GRACE).await;
        assert_eq!(cluster.watches(), 1, "{name}");
        drop(user);
        tokio::time::sleep(GRACE + MOMENT).await;
        assert_eq!(cluster.watches(), 0, "{name}");
    }
    let snapshot = factory.informer::<ConfigMap>().store().snapshot();
    tokio::time::sleep(GRACE + MOMENT).await;
    assert_eq!(cluster.watches(), 0, "a snapshot does not change anyway");
    drop(snapshot);

    // A detached handler is one until the end, even if the factory is dropped.
    let told = Arc::new(Mutex::new(0));
    let count = told.clone();
    let handler = move |_: Notification<ConfigMap>| *count.lock().unwrap() += 1;
    factory
        .informer()
        .add_handler("detached", handler)
        .unwrap()
        .detach();
    tokio::time::sleep(3 * GRACE).await;
    let again = factory.clone();
    drop(factory);
    assert!(cluster.is_followed(|| *told.lock().unwrap(), "new").await);
    again.shutdown().await.unwrap();
    assert_eq!(cluster.watches(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_is_still_at_work_is_a_user() {
    let cluster = Cluster::new();
    let factory = cluster.factory().build();
    factory.start();
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    struct Slow(Arc<tokio::sync::Semaphore>);
    impl kube_informer::ResourceEventHandler<ConfigMap> for Slow {
        async fn on_add(&mut self, _: Arc<ConfigMap>, _: bool) {
            self.0.acquire().await.unwrap().forget();
        }
    }
    let registration = factory
        .informer()
        .add_handler("slow", Slow(gate.clone()))
        .unwrap();
    tokio::time::sleep(MOMENT).await;
    let draining = tokio::spawn(registration.drain());
    tokio::time::sleep(3 * GRACE).await;
    assert_eq!(cluster.watches(), 1);
    gate.add_permits(2);
    draining.await.unwrap();
    tokio::time::sleep(GRACE + MOMENT).await;
    assert_eq!(cluster.watches(), 0);
    factory.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn nothing_is_left_behind_by_informers_that_come_and_go() {
    let cluster = Cluster::new();
    let metrics = tokio::runtime::Handle::current().metrics();
    // The client has a task of its own.
    let before = metrics.num_alive_tasks();
    let factory = cluster.factory().grace_period(Duration::ZERO).build();
    factory.start();
    let tenants = NamespaceSet::new(["x"]);
    for _ in 0..5 {
        let request = InformerRequest::<ConfigMap>::new().namespaces(&tenants);
        let configs = factory.request(request.clone());
        configs
            .add_handler("h", |_: Notification<ConfigMap>| ())
            .unwrap()
            .remove()
            .await;
        configs.synced().await.unwrap();
        assert_eq!(metrics.num_alive_tasks(), before + 3, "run, driver, reflector");
        tenants.add("y");
        configs.synced().await.unwrap();
        assert_eq!((metrics.num_alive_tasks(), cluster.watches()), (before + 4, 2));
        tenants.remove("y");
        tokio::time::sleep(MOMENT).await;
        assert_eq!((metrics.num_alive_tasks(), cluster.watches()), (before + 3, 1));
        assert!(same(&configs, &factory.request(request)));
        drop(configs);
        tokio::time::sleep(MOMENT).await;
        assert_eq!((metrics.num_alive_tasks(), cluster.watches()), (before, 0));
    }
    let kept = factory.informer::<ConfigMap>();
    kept.synced().await.unwrap();
    factory.shutdown().await.unwrap();
    assert_eq!((metrics.num_alive_tasks(), cluster.watches()), (before, 0));
    assert_eq!(kept.store().len(), 2, "readable after the end");
    assert!(same(&kept, &factory.informer()));
    assert!(
        factory.informer::<Secret>().synced().await.is_err(),
        "there is no start after the end"
    );
    factory.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn who_never_starts_is_stopped_all_the_same() {
    let cluster = Cluster::new();
    let factory = cluster.factory().build();
    let configs = factory.informer::<ConfigMap>();
    let mut changes = configs.subscribe("test").unwrap();
    let error = factory.wait_for_sync(MOMENT).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("configmaps as ConfigMap (no error so far, Connecting)"),
        "{error}"
    );
    let (one, two) = tokio::join!(factory.shutdown(), factory.shutdown());
    assert!(one.is_ok() && two.is_ok());
    assert!(changes.next().await.is_none() && configs.synced().await.is_err());
    assert_eq!(cluster.requests(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_informer_run_by_hand_has_no_users_to_wait_for() {
    let cluster = Cluster::new();
    let source = ClientSource::new(
        cluster.client.clone(),
        ApiResource::erase::<ConfigMap>(&()),
        Selection::default(),
    );
    let (informer, runner) = SharedInformer::<ConfigMap>::builder(source).build();
    drop(informer);
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    tokio::time::sleep(10 * GRACE).await;
    assert_eq!(cluster.watches(), 1);
    stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_failed_informer_is_reported_and_replaced_at_a_request() {
    let cluster = Cluster::new();
    let factory = cluster.factory().build();
    factory.start();
    let configs = factory.informer::<ConfigMap>();
    let secrets = factory.informer::<Secret>();
    configs
        .add_handler("bad", |_: Notification<ConfigMap>| panic!("cannot cope"))
        .unwrap()
        .detach();
    let error = factory.failed().await;
    assert!(matches!(&error, RunError::HandlerPanicked { handler, .. } if handler == "bad"));
    tokio::time::sleep(MOMENT).await;
    assert!(configs.subscribe("late").is_err(), "this one is over");
    assert!(secrets.has_synced());

    let fresh = factory.informer::<ConfigMap>();
    assert!(!same(&configs, &fresh));
    fresh.synced().await.unwrap();
    assert_eq!(fresh.store().len(), 2);
    factory.wait_for_sync(GRACE).await.unwrap();
    let error = factory.shutdown().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"handler "bad" of the informer for configmaps panicked: cannot cope"#
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_selected_differently_is_never_shared() {
    let cluster = Cluster::new();
    let factory = cluster.factory().build();
    let strip = |mut config: Arc<ConfigMap>| {
        Arc::make_mut(&mut config).metadata.annotations = None;
        Ok(config)
    };
    let (slim, other) = (Transform::new(strip), Transform::new(strip));
    let tenants = NamespaceSet::new(["x"]);
    let plain = InformerRequest::<ConfigMap>::new;
    let different = [
        plain(),
        plain().namespaces(["x"]),
        plain().namespaces(["y"]),
        plain().namespaces(["x", "y"]),
        plain().namespaces(&tenants),
        plain().namespaces(NamespaceSet::new(["x"])),
        plain().label_selector("parity=odd"),
        plain().field_selector("metadata.name=a"),
        plain()
            .label_selector("parity=odd")
            .field_selector("metadata.name=a"),
        plain().transform(&slim),
        plain().transform(&other),
    ];
    let informers: Vec<_> = different
        .iter()
        .map(|request| factory.request(request.clone()))
        .collect();
    for (i, a) in informers.iter().enumerate() {
        for (j, b) in informers.iter().enumerate() {
            assert_eq!(same(a, b), i == j, "{:?} and {:?}", different[i], different[j]);
        }
    }
    let alike = [
        (plain().resync(GRACE), 0),
        (
            plain()
                .namespaces(Namespaces::All)
                .label_selector("")
                .selection(Selection::default()),
            0,
        ),
        (
            plain().selection(Selection {
                namespace: Some("x".into()),
                ..Selection::default()
            }),
            1,
        ),
        (plain().namespaces(vec!["y", "x", "y"]), 3),
        (plain().namespaces(tenants.clone()), 4),
    ];
    for (request, like) in alike {
        assert!(
            same(&informers[like], &factory.request(request.clone())),
            "{request:?}"
        );
    }
    let metadata = factory.metadata_informer::<ConfigMap>();
    assert!(same(
        &metadata,
        &factory.request(InformerRequest::<PartialObjectMeta<ConfigMap>>::new())
    ));
    let dynamic = factory
        .informer_for_resource::<DynamicObject>(ApiResource::erase::<ConfigMap>(&()), Selection::default());

    factory.start();
    factory.wait_for_sync(GRACE).await.unwrap();
    let sizes: Vec<_> = informers.iter().map(|informer| informer.store().len()).collect();
    assert_eq!(sizes, [2, 1, 1, 2, 1, 1, 2, 2, 2, 2, 2]);
    assert_eq!((metadata.store().len(), dynamic.store().len()), (2, 2));
    let noted = |informer: &SharedInformer<ConfigMap>| {
        informer
            .store()
            .get("x/a")
            .unwrap()
            .metadata
            .annotations
            .is_some()
    };
    assert!(noted(&informers[0]) && !noted(&informers[9]));
    factory.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn informers_of_all_kinds_follow_one_set_of_namespaces() {
    let cluster = Cluster::new();
    let tenants = NamespaceSet::new(["x"]);
    let factory = cluster.factory().namespaces(&tenants).build();
    let (configs, secrets, nodes) = (
        factory.informer::<ConfigMap>(),
        factory.informer::<Secret>(),
        factory.informer::<Node>(),
    );
    let mut changes = configs.subscribe("test").unwrap();
    factory.start();
    factory.wait_for_sync(GRACE).await.unwrap();
    let namespaces = |status: kube_informer::informer::InformerStatus| {
        status
            .partitions
            .into_iter()
            .map(|part| part.namespace)
            .collect::<Vec<_>>()
    };
    assert_eq!(namespaces(nodes.status()), [None], "nodes have no namespace");
    assert_eq!(namespaces(secrets.status()), [Some("x".to_owned())]);

    tenants.add("y");
    factory.wait_for_sync(GRACE).await.unwrap();
    assert_eq!(namespaces(secrets.status()).len(), 2);
    assert_eq!(configs.lister().namespace("y").list().len(), 1);
    tenants.remove("x");
    let mut told = vec![];
    while let Ok(Some(change)) = tokio::time::timeout(Duration::from_secs(1), changes.next()).await {
        let version = change
            .object()
            .unwrap()
            .metadata
            .resource_version
            .clone()
            .unwrap();
        told.push(format!("{change:?}").replace(&format!("@{version}"), ""));
    }
    assert_eq!(told, ["Add(x/a, initial)", "Add(y/a)", "Delete(x/a, Unselected)"]);
    assert_eq!(configs.lister().list().len(), 1);
    factory.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_has_not_synced_is_named_down_to_the_namespace() {
    let cluster = Cluster::new();
    let errors = Arc::<Mutex<Vec<_>>>::default();
    let record = errors.clone();
    let factory = cluster
        .factory()
        .namespaces(["x", "forbidden"])
        .on_error(move |error| {
            let error = (error.resource.clone(), error.namespace.clone(), error.class);
            record.lock().unwrap().push(error);
        })
        .build();
    let (configs, secrets) = (factory.informer::<ConfigMap>(), factory.informer::<Secret>());
    let all = factory.request(InformerRequest::<ConfigMap>::new().namespaces(Namespaces::All));
    factory.start();
    let error = factory.wait_for_sync(Duration::from_secs(5)).await.unwrap_err();
    let named: Vec<_> = error
        .unsynced
        .iter()
        .map(|u| (u.resource.as_str(), u.namespace.as_deref()))
        .collect();
    assert_eq!(
        named,
        [("configmaps", Some("forbidden")), ("secrets", Some("forbidden"))]
    );
    assert!(
        error.to_string().starts_with(
            r#"not synced within 5 s: configmaps as ConfigMap in "forbidden" (forbidden: the server answered 403 Forbidden: you may not); secrets as Secret in"#
        ),
        "{error}"
    );
    assert!(all.has_synced());
    assert_eq!(
        configs.lister().namespace("x").list().len(),
        1,
        "the others are there"
    );
    let errors = errors.lock().unwrap().clone();
    for informer in ["configmaps", "secrets"] {
        assert!(errors.contains(&(informer.into(), Some("forbidden".into()), ErrorClass::Forbidden)));
    }
    assert!(
        errors
            .iter()
            .all(|(_, namespace, _)| namespace.as_deref() == Some("forbidden"))
    );
    drop((configs, secrets));
    // What nobody wants any more is no obstacle.
    tokio::time::sleep(GRACE + MOMENT).await;
    factory.wait_for_sync(MOMENT).await.unwrap();
    factory.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_empty_namespace_is_all_namespaces() {
    let cluster = Cluster::new();
    let empty = || Selection {
        namespace: Some(String::new()),
        ..Selection::default()
    };
    let factories = [
        cluster.factory().selection(empty()).build(),
        cluster.factory().namespaces(["x", ""]).build(),
        cluster
            .factory()
            .namespaces(Namespaces::Fixed([String::new()].into()))
            .build(),
        cluster.factory().namespaces(NamespaceSet::new(["x", ""])).build(),
    ];
    for factory in factories {
        let configs = factory.informer::<ConfigMap>();
        factory.start();
        factory.wait_for_sync(GRACE).await.unwrap();
        let lister = configs.lister();
        assert_eq!((lister.list().len(), lister.namespace("").list().len()), (2, 2));
        assert_eq!(
            lister
                .namespace("")
                .select(&LabelSelector::parse("parity").unwrap())
                .len(),
            2
        );
        factory.shutdown().await.unwrap();
    }
    let factory = cluster.factory().namespaces(["x"]).build();
    let request = InformerRequest::<ConfigMap>::new;
    let all = factory.request(request().namespaces(Namespaces::All));
    assert!(same(&all, &factory.request(request().namespaces([""]))));
    assert!(same(&all, &factory.request(request().selection(empty()))));
    let resource = ApiResource::erase::<ConfigMap>(&());
    assert!(same(&all, &factory.informer_for_resource(resource, empty())));
    let asked = cluster.requests.lock().unwrap();
    assert!(
        asked.iter().all(|uri| uri.starts_with("/api/v1/configmaps")),
        "{asked:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn kinds_without_namespaces_ignore_which_are_selected() {
    let cluster = Cluster::new();
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}});
    cluster.sim.store().create(node).unwrap();
    let factory = cluster.factory().namespaces(["x"]).build();
    let nodes = || ApiResource::erase::<Node>(&());
    #[cfg(feature = "packed")]
    type HeldNode = kube_informer::form::Packed<Node>;
    #[cfg(not(feature = "packed"))]
    type HeldNode = Node;
    let held = factory.request(InformerRequest::<HeldNode>::of(nodes()));
    let metadata = factory.metadata_informer_for_resource::<Node>(nodes(), Selection::default());
    factory.start();
    factory.wait_for_sync(GRACE).await.unwrap();
    assert_eq!((held.store().len(), metadata.store().len()), (1, 1));

    let kinds = kube::Discovery::new(cluster.client.clone())
        .run_aggregated()
        .await
        .unwrap();
    let kinds: Vec<_> = kinds
        .groups()
        .flat_map(|group| group.resources_by_stability())
        .collect();
    assert!(kinds.len() > 50);
    let covers_all = |request: InformerRequest<DynamicObject>| {
        let informer = factory.request(request.label_selector("never=started"));
        informer.partition(Some("unselected")).is_some()
    };
    for (resource, capabilities) in kinds {
        let is_cluster = capabilities.scope == Scope::Cluster;
        assert_eq!(
            covers_all(InformerRequest::of(resource.clone())),
            is_cluster,
            "{}",
            resource.plural
        );
        let custom = ApiResource {
            group: "example.com".into(),
            ..resource
        };
        assert!(!covers_all(InformerRequest::of(custom.clone())));
        assert_eq!(
            covers_all(InformerRequest::of(custom).scope(capabilities.scope)),
            is_cluster
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_invalid_namespace_is_reported_and_never_asked_for() {
    let cluster = Cluster::new();
    for name in ["a?x=1", "a#b", "..", "a/../b", "A", "a.b", "a%2e", "-"] {
        let selection = Selection {
            namespace: Some(name.into()),
            ..Selection::default()
        };
        let factories = [
            cluster.factory().selection(selection).build(),
            cluster.factory().namespaces([name]).build(),
            cluster.factory().namespaces(NamespaceSet::new([name])).build(),
        ];
        for factory in factories {
            let configs = factory.informer::<ConfigMap>();
            factory.start();
            let error = factory.wait_for_sync(GRACE).await.unwrap_err().to_string();
            assert!(
                error.contains(&format!("invalid namespace {name:?}: expected a DNS label")),
                "{error}"
            );
            let reflector = configs.status().reflector;
            let class = reflector.last_error.unwrap().class;
            assert!(class == ErrorClass::Invalid && !class.is_retryable());
            assert!(reflector.failures < 10, "with pauses: {}", reflector.failures);
            factory.shutdown().await.unwrap();
        }
    }
    assert_eq!(cluster.requests(), 0);
    let resource = ApiResource {
        plural: "pods/../secrets".into(),
        ..ApiResource::erase::<Secret>(&())
    };
    let factory = cluster.factory().build();
    let _informer = factory.informer_for_resource::<DynamicObject>(resource, Selection::default());
    factory.start();
    let error = factory.wait_for_sync(GRACE).await.unwrap_err().to_string();
    assert!(error.contains("invalid plural name of a resource"), "{error}");
    assert_eq!(cluster.requests(), 0);
}

#[tokio::test(start_paused = true)]
async fn shutdown_names_what_is_stuck() {
    let cluster = Cluster::new();
    let metrics = tokio::runtime::Handle::current().metrics();
    let before = metrics.num_alive_tasks();
    let factory = cluster
        .factory()
        .namespaces(["x", "y"])
        .stop_deadline(Duration::from_secs(3))
        .build();
    factory.start();
    struct Stuck;
    impl kube_informer::ResourceEventHandler<ConfigMap> for Stuck {
        async fn on_add(&mut self, _: Arc<ConfigMap>, _: bool) {
            std::future::pending().await
        }
    }
    factory.informer().add_handler("stuck", Stuck).unwrap().detach();
    factory
        .informer::<ConfigMap>()
        .add_handler("fine", |_: Notification<_>| ())
        .unwrap()
        .detach();
    factory.wait_for_sync(GRACE).await.unwrap();
    let early = tokio::time::timeout(Duration::from_secs(1), factory.shutdown()).await;
    assert!(early.is_err());
    let error = factory.shutdown().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the informer for configmaps was stopped, but these handlers did not return within 3 s: stuck"
    );
    assert_eq!(metrics.num_alive_tasks(), before);
}

#[tokio::test(start_paused = true)]
async fn a_resync_belongs_to_the_request_and_makes_no_other_informer() {
    let cluster = Cluster::new();
    let factory = cluster.factory().build();
    factory.start();
    let counter = |informer: &SharedInformer<ConfigMap>, options: HandlerOptions| {
        let count = Arc::new(Mutex::new(0));
        let updates = count.clone();
        let handler = move |change: Notification<ConfigMap>| {
            *updates.lock().unwrap() += usize::from(matches!(change, Notification::Update { .. }));
        };
        informer.add_handler(options, handler).unwrap().detach();
        count
    };
    let never = factory.informer::<ConfigMap>();
    let quiet = counter(&never, "quiet".into());
    never.synced().await.unwrap();
    // It runs already, and looked for no resync so far.
    let often = factory.request(InformerRequest::<ConfigMap>::new().resync(Duration::from_secs(10)));
    let rarely = factory.request(InformerRequest::<ConfigMap>::new().resync(Duration::from_secs(30)));
    assert!(same(&never, &often) && same(&never, &rarely));
    let (often, rarely, own) = (
        counter(&often, "often".into()),
        counter(&rarely, "rarely".into()),
        counter(
            &often,
            HandlerOptions::named("own").resync(Duration::from_secs(60)),
        ),
    );
    tokio::time::sleep(Duration::from_secs(61)).await;
    let count = |count: &Mutex<usize>| *count.lock().unwrap();
    assert_eq!(
        (count(&quiet), count(&often), count(&rarely), count(&own)),
        (0, 12, 4, 2)
    );
    factory.shutdown().await.unwrap();
}

#[tokio::test]
async fn informers_can_be_asked_for_from_any_thread() {
    let cluster = Cluster::new();
    let factory = cluster.factory().build();
    factory.start();
    let asks = factory.clone();
    let configs = std::thread::spawn(move || asks.informer::<ConfigMap>())
        .join()
        .unwrap();
    configs.synced().await.unwrap();
    factory.shutdown().await.unwrap();
}

/// The names of nodes, and nothing else.
#[derive(Debug, serde::Deserialize, kube_informer::CachedObject)]
#[object(resource = Node)]
struct NodeName {
    metadata: kube_informer::form::Metadata,
}

fn node(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
}

#[tokio::test(start_paused = true)]
async fn the_resource_and_its_scope_come_from_the_form() {
    let cluster = Cluster::new();
    cluster.sim.store().create(node("node-1")).unwrap();
    // Namespaces play no part for nodes.
    let factory = cluster.factory().namespaces(["x"]).build();
    let views = factory.informer::<NodeName>();
    assert!(same(&views, &factory.request(InformerRequest::new())));
    let metadata = factory.informer::<PartialObjectMeta<Node>>();
    assert!(same(&metadata, &factory.metadata_informer::<Node>()));
    factory.start();
    factory.wait_for_sync(Duration::from_secs(5)).await.unwrap();
    assert_eq!(views.store().list()[0].metadata.name, "node-1");
    assert_eq!((views.store().len(), metadata.store().len()), (1, 1));
    factory.shutdown().await.unwrap();
}

#[cfg(feature = "packed")]
#[tokio::test(start_paused = true)]
async fn packed_objects_are_asked_for_like_typed_ones() {
    use kube_informer::form::Packed;
    let cluster = Cluster::new();
    cluster.sim.store().create(node("node-1")).unwrap();
    let factory = cluster.factory().namespaces(["x"]).build();
    let nodes = factory.informer::<Packed<Node>>();
    let configs = factory.request(InformerRequest::<Packed<ConfigMap>>::new().label_selector("parity=odd"));
    factory.start();
    factory.wait_for_sync(Duration::from_secs(5)).await.unwrap();
    assert_eq!(nodes.store().list()[0].key().as_str(), "node-1");
    assert_eq!(configs.store().len(), 1, "those in x only");
    factory.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_informer_has_stopped_when_its_last_handler_has_returned() {
    let cluster = Cluster::new();
    let resource = ApiResource::erase::<ConfigMap>(&());
    let source = ClientSource::new(cluster.client.clone(), resource, Selection::default());
    let (configs, runner) = SharedInformer::<ConfigMap>::builder(source).build();
    struct Slow;
    impl kube_informer::ResourceEventHandler<ConfigMap> for Slow {
        async fn on_add(&mut self, _: Arc<ConfigMap>, _: bool) {
            tokio::time::sleep(Duration::from_secs(5)).await;
        }
    }
    configs.add_handler("slow", Slow).unwrap().detach();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    configs.synced().await.unwrap();
    tokio::time::sleep(MOMENT).await;
    assert!(!configs.is_stopped());
    stop.cancel();
    tokio::time::sleep(MOMENT).await;
    assert!(!configs.is_stopped(), "the handler has not returned");
    configs.stopped().await;
    assert!(configs.is_stopped());
    assert!(
        configs
            .add_handler("late", |_: Notification<ConfigMap>| ())
            .is_err()
    );
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_informer_whose_runner_is_dropped_has_stopped() {
    let cluster = Cluster::new();
    let resource = ApiResource::erase::<ConfigMap>(&());
    let source = ClientSource::new(cluster.client.clone(), resource, Selection::default());
    let (configs, runner) = SharedInformer::<ConfigMap>::builder(source).build();
    assert!(!configs.is_stopped());
    let waiting = tokio::spawn({
        let configs = configs.clone();
        async move { configs.stopped().await }
    });
    drop(runner);
    waiting.await.unwrap();
    let factory = cluster.factory().build();
    factory.shutdown().await.unwrap();
    assert!(factory.informer::<ConfigMap>().is_stopped(), "asked for too late");
}

#[tokio::test(start_paused = true)]
async fn an_error_hook_gets_the_error_itself() {
    let cluster = Cluster::new();
    let met = Arc::<Mutex<Vec<_>>>::default();
    let record = met.clone();
    let factory = cluster
        .factory()
        .namespaces(["forbidden"])
        .on_error(move |failure| {
            let status = failure.error().and_then(|error| error.status());
            let code = status.map(|status| status.code);
            record.lock().unwrap().push((failure.class, code));
        })
        .build();
    let configs = factory.informer::<ConfigMap>();
    factory.start();
    tokio::time::sleep(MOMENT).await;
    assert_eq!(met.lock().unwrap()[0], (ErrorClass::Forbidden, Some(403)));
    assert!(!configs.has_synced());
    factory.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_informer_over_a_source_of_ones_own_is_shared_by_name() {
    let (cluster, other) = (Cluster::new(), Cluster::new());
    other.sim.store().create(config_map("y", "b", "even")).unwrap();
    let factory = cluster.factory().namespaces(["x"]).build();
    let source = || {
        let resource = ApiResource::erase::<ConfigMap>(&());
        // Whoever makes a source may use the factory.
        factory.informer::<Secret>();
        ClientSource::new(other.client.clone(), resource, Selection::default())
    };
    let ours = factory.informer::<ConfigMap>();
    let others = factory.informer_with_source::<ConfigMap, _>("other", source);
    assert!(same(
        &others,
        &factory.informer_with_source::<ConfigMap, _>("other", source)
    ));
    assert!(!same(
        &others,
        &factory.informer_with_source::<ConfigMap, _>("third", source)
    ));
    assert!(!same(&others, &ours));
    factory.start();
    factory.wait_for_sync(Duration::from_secs(5)).await.unwrap();
    assert_eq!((ours.store().len(), others.store().len()), (1, 3));
    assert_eq!(other.watches(), 2, "the third runs for its grace period");
    drop(others);
    tokio::time::sleep(GRACE + MOMENT).await;
    assert_eq!(other.watches(), 0);
    factory.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_factory_transforms_the_objects_of_all_informers() {
    let cluster = Cluster::new();
    let factory = cluster
        .factory()
        .transform(|object| {
            if let Some(metadata) = object.metadata_mut() {
                metadata.annotations = None;
            }
            if let Some(config) = object.downcast_mut::<Arc<ConfigMap>>() {
                Arc::make_mut(config).data = None;
            }
            Ok(())
        })
        .build();
    let resource = ApiResource::erase::<ConfigMap>(&());
    let dynamic = factory.informer_for_resource::<DynamicObject>(resource, Selection::default());
    let own = Transform::<ConfigMap>::new(|mut config| {
        assert_eq!(config.metadata.annotations, None, "the factory's comes first");
        Arc::make_mut(&mut config).metadata.labels = None;
        Ok(config)
    });
    let typed = factory.informer::<ConfigMap>();
    let both = factory.request(InformerRequest::<ConfigMap>::new().transform(&own));
    assert!(same(
        &both,
        &factory.request(InformerRequest::<ConfigMap>::new().transform(&own))
    ));
    factory.start();
    factory.wait_for_sync(Duration::from_secs(5)).await.unwrap();
    let get = |informer: &SharedInformer<ConfigMap>| informer.store().get("x/a").unwrap();
    let (typed, both, dynamic) = (get(&typed), get(&both), dynamic.store().get("x/a").unwrap());
    assert_eq!((&typed.metadata.annotations, &typed.data), (&None, &None));
    assert!(typed.metadata.labels.is_some());
    assert_eq!((&both.metadata.labels, &both.data), (&None, &None));
    assert_eq!(dynamic.metadata.annotations, None);
    assert!(dynamic.data["data"].is_object());
    factory.shutdown().await.unwrap();
}
