//! A default that a definition's schema gets later: it changes bodies under an unchanged resource version.

use conformance::cluster::Cluster;
use conformance::real_server::{Part, RealServer};
use futures::StreamExt;
use instances as _;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube_informer::form::Packed;
use kube_informer::informer::Notifications;
use kube_informer::source::Selection;
use kube_informer::{HandlerOptions, Notification, SharedInformerFactory};
use serde_json::{Value, json};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// Widgets whose colour has this default.
fn definition(colour: &Value) -> Value {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "size": {"type": "integer"}, "colour": colour}}}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    })
}

fn widget(name: &str) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": name, "namespace": "default"}, "spec": {"size": 1}})
}

fn colour(widget: &DynamicObject) -> Option<&str> {
    widget.data["spec"]["colour"].as_str()
}

fn version(widget: &DynamicObject) -> &str {
    widget.metadata.resource_version.as_deref().unwrap()
}

async fn next(told: &mut Notifications<DynamicObject>) -> Notification<DynamicObject> {
    let next = tokio::time::timeout(PATIENCE, told.next()).await;
    next.expect("it is told of something").unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a real API server: conformance/run"]
async fn a_new_default_comes_with_the_next_list_and_is_told_as_a_sync() {
    let cluster = Cluster::real(RealServer::start().await.unwrap()).await;
    let server = cluster.real_server().unwrap();
    cluster.create(definition(&json!({"type": "string"}))).await;
    cluster.create(widget("a")).await;
    let widgets = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Widget"));
    // Long enough never to be due: only lists tell of anything again.
    let day = Duration::from_secs(24 * 3600);
    let factory = SharedInformerFactory::builder(cluster.client())
        .resync(day)
        .build();
    let typed = factory.informer_for_resource::<DynamicObject>(widgets.clone(), Selection::default());
    let packed = factory.informer_for_resource::<Packed<DynamicObject>>(widgets, Selection::default());
    let mut with_resync = typed.subscribe("with a resync").unwrap();
    let without = HandlerOptions::named("without a resync").resync(Duration::ZERO);
    let mut without = typed.subscribe(without).unwrap();
    factory.start();
    factory.wait_for_sync(PATIENCE).await.unwrap();
    let before = typed.store().get("default/a").unwrap();
    assert_eq!(colour(&before), None);
    for told in [&mut with_resync, &mut without] {
        assert!(matches!(next(told).await, Notification::Add { .. }));
    }

    // The default comes, then a server without a history, so that informers must list.
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com";
    let with_default = definition(&json!({"type": "string", "default": "red"}));
    server.request("PATCH", path, Some(&with_default)).await.unwrap();
    server.start_again(Part::ApiServer).unwrap();
    server.ready().await.unwrap();
    let arrived = async {
        while typed.store().get("default/a").as_deref().and_then(colour) != Some("red")
            || packed.store().get("default/a").unwrap().decode().unwrap().data["spec"]["colour"] != "red"
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, arrived)
        .await
        .expect("both forms get the default");
    let after = typed.store().get("default/a").unwrap();
    assert_eq!(version(&before), version(&after), "nobody has written it");

    // Those with a resync are told of the change, perhaps after relists that found none; others are not.
    cluster.create(widget("b")).await;
    let mut last_told = None;
    loop {
        match next(&mut with_resync).await {
            Notification::Update { new, .. } => {
                assert_eq!(version(&before), version(&new));
                last_told = colour(&new).map(str::to_owned);
            }
            Notification::Add { object, .. } => {
                assert_eq!(object.metadata.name.as_deref(), Some("b"));
                break;
            }
            other => panic!("{:?}", other.key()),
        }
    }
    assert_eq!(last_told.as_deref(), Some("red"));
    let notification = next(&mut without).await;
    assert!(matches!(notification, Notification::Add { .. }));
    assert_eq!(notification.key().as_str(), "default/b");
    factory.shutdown().await.unwrap();
}
