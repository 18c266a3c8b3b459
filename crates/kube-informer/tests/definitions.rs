//! Custom resources whose definition comes, changes and goes while informers watch: on a simulated cluster, or a real
//! one when `KUBE_INFORMER_SERVER` says so.

use conformance::cluster::Cluster;
use futures::StreamExt;
use instances as _;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube_informer::reflector::ReflectorOptions;
use kube_informer::source::{ErrorClass, Selection};
use kube_informer::{Notification, SharedInformer, SharedInformerFactory};
use serde_json::{Value, json};
use std::time::Duration;

const NAME: &str = "widgets.example.com";
/// Long enough for a busy machine and for a few pauses of the reflector; nothing waits for it unless it fails.
const PATIENCE: Duration = Duration::from_secs(90);

/// Widgets in two versions.
fn definition() -> Value {
    let version = |name: &str, storage: bool| {
        json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": {
            "type": "object", "x-kubernetes-preserve-unknown-fields": true,
        }}})
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": NAME},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [version("v1", true), version("v1beta1", false)],
        },
    })
}

fn widget(name: &str, size: u32) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": name, "namespace": "default"}, "spec": {"size": size}})
}

fn widgets(version: &str) -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", version, "Widget"))
}

fn definitions(cluster: &Cluster) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    Api::all_with(cluster.client(), &ApiResource::from_gvk(&kind))
}

/// Serves v1beta1, or no longer.
async fn serve_v1beta1(cluster: &Cluster, served: bool) {
    let mut versions = definition()["spec"]["versions"].take();
    versions[1]["served"] = served.into();
    let patch = Patch::Merge(json!({"spec": {"versions": versions}}));
    let (definitions, params) = (definitions(cluster), PatchParams::default());
    let patched = definitions.patch(NAME, &params, &patch);
    patched.await.unwrap();
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let wait = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait)
        .await
        .unwrap_or_else(|_| panic!("never: {what}"));
}

fn size(informer: &SharedInformer<DynamicObject>, name: &str) -> Option<u64> {
    let object = informer.store().get(&format!("default/{name}"))?;
    object.data["spec"]["size"].as_u64()
}

/// The number and the class of the last error.
fn last_error(informer: &SharedInformer<DynamicObject>) -> (u64, Option<ErrorClass>) {
    let status = informer
        .reflector_status(kube_informer::Partition::SINGLE)
        .borrow()
        .clone();
    status
        .last_error
        .map_or((0, None), |error| (error.number, Some(error.class)))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_comes_changes_goes_and_comes_again() {
    let cluster = Cluster::start().await;
    // Failures are part of it: short pauses, so that it does not take minutes.
    let mut options = ReflectorOptions::default();
    options.backoff.cap = Duration::from_secs(1);
    let factory = SharedInformerFactory::builder(cluster.client())
        .reflector_options(options)
        .build();
    let v1 = factory.informer_for_resource::<DynamicObject>(widgets("v1"), Selection::default());
    let old = factory.informer_for_resource::<DynamicObject>(widgets("v1beta1"), Selection::default());
    let mut told = v1.subscribe("told").unwrap();
    let history = tokio::spawn(async move {
        let mut history = Vec::new();
        while let Some(change) = told.next().await {
            let what = match &change {
                Notification::Add { .. } => "add",
                Notification::Update { .. } => "update",
                Notification::Delete(_) => "delete",
            };
            history.push((change.key().as_str().to_owned(), what));
        }
        history
    });

    // It comes after the informers have started.
    factory.start();
    let error = factory.wait_for_sync(Duration::from_secs(2)).await.unwrap_err();
    assert!(
        error
            .unsynced
            .iter()
            .all(|one| one.why.starts_with("not-found: ")),
        "{error}"
    );
    cluster.create(definition()).await;
    cluster.create(widget("a", 1)).await;
    cluster.create(widget("b", 1)).await;
    factory.wait_for_sync(PATIENCE).await.unwrap();
    until("both are there", || {
        size(&v1, "b") == Some(1) && size(&old, "b") == Some(1)
    })
    .await;
    cluster.update(widget("a", 2)).await;
    until("both versions follow", || {
        size(&v1, "a") == Some(2) && size(&old, "a") == Some(2)
    })
    .await;
    for (informer, version) in [(&v1, "example.com/v1"), (&old, "example.com/v1beta1")] {
        let a = informer.store().get("default/a").unwrap();
        assert_eq!(a.types.as_ref().unwrap().api_version, version);
    }

    // It changes: one version is no longer served, then it is again.
    let (before, _) = last_error(&old);
    serve_v1beta1(&cluster, false).await;
    until(
        "it is missed",
        || matches!(last_error(&old), (number, Some(ErrorClass::NotFound)) if number > before),
    )
    .await;
    cluster.update(widget("b", 2)).await;
    until("the other version goes on", || size(&v1, "b") == Some(2)).await;
    assert_eq!(size(&old, "b"), Some(1), "what was known last");
    serve_v1beta1(&cluster, true).await;
    until("the old version catches up", || size(&old, "b") == Some(2)).await;

    // It goes, and all objects with it, and comes again with others.
    definitions(&cluster)
        .delete(NAME, &DeleteParams::default())
        .await
        .unwrap();
    let gone = async { while definitions(&cluster).get_opt(NAME).await.unwrap().is_some() {} };
    tokio::time::timeout(PATIENCE, gone)
        .await
        .expect("the definition goes");
    cluster.create(definition()).await;
    cluster.create(widget("a", 3)).await;
    // Whether the deletions were seen, or missed in a pause that the change before has led to: they are told.
    let only_the_new = |informer| size(informer, "a") == Some(3) && informer.store().len() == 1;
    until("only the new object is left", || {
        only_the_new(&v1) && only_the_new(&old)
    })
    .await;

    factory.shutdown().await.unwrap();
    let history = history.await.unwrap();
    let of = |key: &str| -> Vec<_> {
        history
            .iter()
            .filter(|(k, _)| k == key)
            .map(|(_, what)| *what)
            .collect()
    };
    assert_eq!(of("default/a"), ["add", "update", "delete", "add"], "{history:?}");
    assert_eq!(of("default/b"), ["add", "update", "delete"], "{history:?}");
}
