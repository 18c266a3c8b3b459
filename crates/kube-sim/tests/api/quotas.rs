//! ResourceQuotas. What they answer is compared with a real server in the conformance tests.

use k8s_openapi::api::core::v1::{ConfigMap, ResourceQuota};
use kube::Client;
use kube::api::{Api, ObjectMeta, Patch, PatchParams, PostParams};
use kube_sim::Sim;
use serde_json::{Value, json};

fn map(name: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    }
}

/// A cluster with a quota of three config maps, which has this status.
async fn limited(status: Value) -> (Sim, Client) {
    let sim = Sim::builder().build().unwrap();
    let client = Client::new(sim.service(), "default");
    let quotas = Api::<ResourceQuota>::default_namespaced(client.clone());
    let quota = json!({"metadata": {"name": "quota"}, "spec": {"hard": {"configmaps": "3"}}});
    let quota = serde_json::from_value(quota).unwrap();
    quotas.create(&PostParams::default(), &quota).await.unwrap();
    let status = Patch::Merge(json!({"status": status}));
    let params = PatchParams::default();
    quotas.patch_status("quota", &params, &status).await.unwrap();
    (sim, client)
}

async fn used(client: Client) -> String {
    let quota = Api::<ResourceQuota>::default_namespaced(client)
        .get("quota")
        .await;
    let used = quota.unwrap().status.unwrap().used.unwrap();
    used["configmaps"].0.clone()
}

#[tokio::test]
async fn quota_holds_against_creations_at_once() {
    let (_sim, client) = limited(json!({"hard": {"configmaps": "3"}, "used": {"configmaps": "0"}})).await;
    let creations = (0..20).map(|n| {
        let maps = Api::<ConfigMap>::default_namespaced(client.clone());
        tokio::spawn(async move { maps.create(&PostParams::default(), &map(&format!("m{n}"))).await })
    });
    let mut created = 0;
    for creation in creations.collect::<Vec<_>>() {
        match creation.await.unwrap() {
            Ok(_) => created += 1,
            Err(kube::Error::Api(status)) => assert_eq!(status.code, 403, "{status:?}"),
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(created, 3);
    assert_eq!(used(client).await, "3");
}

#[tokio::test]
async fn failed_creation_takes_nothing_of_a_quota() {
    let (_sim, client) = limited(json!({"hard": {"configmaps": "3"}, "used": {"configmaps": "0"}})).await;
    let maps = Api::<ConfigMap>::default_namespaced(client.clone());
    maps.create(&PostParams::default(), &map("same")).await.unwrap();
    let again = maps.create(&PostParams::default(), &map("same")).await;
    assert!(again.unwrap_err().to_string().contains("already exists"));
    assert_eq!(used(client).await, "1");
}

#[tokio::test]
async fn quota_without_a_status_refuses_nothing() {
    let (_sim, client) = limited(json!({})).await;
    let maps = Api::<ConfigMap>::default_namespaced(client);
    for n in 0..5 {
        let created = maps.create(&PostParams::default(), &map(&format!("m{n}"))).await;
        created.unwrap();
    }
}

#[tokio::test]
async fn store_is_above_quotas() {
    let (sim, _client) = limited(json!({"hard": {"configmaps": "0"}, "used": {"configmaps": "0"}})).await;
    let map =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "default"}});
    sim.store().create(map).unwrap();
}
