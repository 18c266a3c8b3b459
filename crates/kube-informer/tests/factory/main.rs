//! What users of a factory may rely on.

mod lifetimes;
mod sharing;

use futures::StreamExt;
use http_body_util::BodyExt;
use instances as _;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Secret};
use kube::core::discovery::{ApiCapabilities, Scope, verbs};
use kube::core::{ApiResource, DynamicObject, PartialObjectMeta};
use kube_informer::factory::{FactoryBuilder, Namespaces};
use kube_informer::informer::{RunError, Transform, WriteTracker};
use kube_informer::reflector::ReflectorOptions;
use kube_informer::selector::LabelSelector;
use kube_informer::source::{ClientSource, ErrorClass, Selection};
use kube_informer::{
    FieldPlan, HandlerOptions, InformerRequest, NamespaceSet, Notification, SharedInformer,
    SharedInformerFactory,
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
        SharedInformerFactory::builder(self.client.clone()).idle_timeout(GRACE)
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
    let all = factory.informer_with(InformerRequest::<ConfigMap>::new().namespaces(Namespaces::All));
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
async fn shutdown_names_what_is_stuck() {
    let cluster = Cluster::new();
    let metrics = tokio::runtime::Handle::current().metrics();
    let before = metrics.num_alive_tasks();
    let factory = cluster
        .factory()
        .namespaces(["x", "y"])
        .stop_timeout(Duration::from_secs(3))
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
    let both = factory.informer_with(InformerRequest::<ConfigMap>::new().transform(&own));
    assert!(same(
        &both,
        &factory.informer_with(InformerRequest::<ConfigMap>::new().transform(&own))
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
