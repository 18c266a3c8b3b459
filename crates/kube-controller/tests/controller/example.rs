//! The program `examples/quotas.rs` against a cluster.

#[allow(dead_code, unreachable_pub, reason = "the program has a main")]
#[path = "../../../../examples/quotas.rs"]
mod quotas;

use crate::harness::Cluster;
use futures::StreamExt;
use kube_controller::controller::Error;
use kube_informer::SharedInformerFactory;
use quotas::{Context, controller, error_policy, reconcile};
use serde_json::{Value, json};
use std::sync::Arc;

#[tokio::test(start_paused = true)]
async fn each_team_has_the_quota_that_its_namespace_says() {
    let cluster = Cluster::new();
    let namespace = |name: &str, labels: Value, pods: &str| {
        let metadata = json!({"name": name, "labels": labels, "annotations": {"example.com/pods": pods}});
        cluster.create(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}));
    };
    let quota = |name: &str| cluster.find("ResourceQuota", name, "team");
    let pods = |name: &str| quota(name).map(|quota| quota["spec"]["hard"]["pods"].clone());
    namespace("shop", json!({"team": "a"}), "7");
    namespace("bank", json!({"team": "b"}), "many");
    namespace("other", json!({}), "7");

    let client = cluster.client();
    let factory = SharedInformerFactory::new(client.clone());
    let results = controller(&factory).run(reconcile, error_policy, Arc::new(Context { client }));
    factory.start();
    let mut results = std::pin::pin!(results);
    let mut wrong = Vec::new();
    while pods("shop").is_none() || wrong.is_empty() {
        if let Err(Error::ReconcilerFailed(error, namespace)) = results.next().await.unwrap() {
            assert!(matches!(error, quotas::Error::Annotation(_)), "{error:?}");
            wrong.push(namespace.name);
        }
    }
    assert_eq!(pods("shop").unwrap(), "7");
    assert_eq!(wrong, ["bank"], "a terminal error");
    assert!(quota("bank").is_none() && quota("other").is_none());

    cluster.change_in("ResourceQuota", Some("shop"), "team", |quota| {
        quota["spec"]["hard"]["pods"] = json!("99")
    });
    while pods("shop").unwrap() != "7" {
        results.next().await.unwrap().unwrap();
    }
    cluster.change_in("Namespace", None, "bank", |bank| {
        bank["metadata"]["annotations"]["example.com/pods"] = json!("3");
    });
    while pods("bank").is_none() {
        results.next().await.unwrap().unwrap();
    }
    assert_eq!(pods("bank").unwrap(), "3");
}
