//! Classes that claims and ingresses get, and what they allow.

use serde_json::{Value, json};

use crate::client::Client;

const STORAGE: &str = "/apis/storage.k8s.io/v1/storageclasses";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const OF_INGRESSES: &str = "/apis/networking.k8s.io/v1/ingressclasses";
const INGRESSES: &str = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";

fn class(name: &str, annotation: &str, more: Value) -> Value {
    let mut class = json!({"metadata": {"name": name, "annotations": {annotation: "true"}}});
    class
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    class
}

fn claim(name: &str, spec: Value) -> Value {
    let mut claim = json!({"metadata": {"name": name}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
    }});
    claim["spec"]
        .as_object_mut()
        .unwrap()
        .extend(spec.as_object().unwrap().clone());
    claim
}

#[tokio::test]
async fn what_names_no_class_gets_the_default_one() {
    let client = Client::empty();
    let class_of =
        async |claim: Value| client.post(CLAIMS, claim).await.json()["spec"]["storageClassName"].clone();
    assert_eq!(class_of(claim("none", json!({}))).await, Value::Null);
    let provisioner = json!({"provisioner": "example.com/x"});
    for (name, annotation) in [
        ("c", "storageclass.beta.kubernetes.io/is-default-class"),
        ("b", "storageclass.kubernetes.io/is-default-class"),
        ("a", "storageclass.kubernetes.io/is-default"),
    ] {
        client
            .post(STORAGE, class(name, annotation, provisioner.clone()))
            .await
            .ok();
    }
    // Both were made in one second.
    let given = class_of(claim("default", json!({}))).await;
    assert!(given == "b" || given == "c", "{given}");
    assert_eq!(
        class_of(claim("empty", json!({"storageClassName": ""}))).await,
        ""
    );
    assert_eq!(
        class_of(claim("other", json!({"storageClassName": "a"}))).await,
        "a"
    );
    let mut old = claim("old", json!({}));
    old["metadata"]["annotations"] = json!({"volume.beta.kubernetes.io/storage-class": "a"});
    assert_eq!(class_of(old).await, Value::Null);

    let annotation = "ingressclass.kubernetes.io/is-default-class";
    let controller = json!({"spec": {"controller": "example.com/x"}});
    client
        .post(OF_INGRESSES, class("i", annotation, controller))
        .await
        .ok();
    let ingress = |name: &str| {
        let backend = json!({"service": {"name": "s", "port": {"number": 80}}});
        json!({"metadata": {"name": name}, "spec": {"defaultBackend": backend}})
    };
    let class_of = async |ingress: Value| {
        client.post(INGRESSES, ingress).await.json()["spec"]["ingressClassName"].clone()
    };
    assert_eq!(class_of(ingress("default")).await, "i");
    let mut old = ingress("old");
    old["metadata"]["annotations"] = json!({"kubernetes.io/ingress.class": "a"});
    assert_eq!(class_of(old).await, Value::Null);
}
