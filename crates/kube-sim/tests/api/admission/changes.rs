//! What webhooks may change of an object, and what becomes of it.

use kube_sim::Sim;

use super::*;

const PODS: &str = "/api/v1/namespaces/default/pods";

#[tokio::test]
async fn a_service_keeps_what_was_drawn_for_it() {
    let client = Client::empty();
    let webhook = Webhook::allows().await;
    let rules = rule("", &["services"]);
    configure(
        &client,
        "Validating",
        "v",
        json!([hook("v", webhook.client_config(), rules)]),
    )
    .await;
    let spec = json!({"type": "NodePort", "ports": [{"port": 80}]});
    let made = client
        .post(
            "/api/v1/namespaces/default/services",
            json!({"metadata": {"name": "a"}, "spec": spec}),
        )
        .await
        .ok();
    let [asked] = &webhook.asked()[..] else {
        panic!("asked once")
    };
    assert!(made["spec"]["clusterIP"].is_string() && made["spec"]["ports"][0]["nodePort"].is_u64());
    assert_eq!(asked["object"]["spec"], made["spec"]);
}

#[tokio::test]
async fn a_webhook_writes_only_what_a_client_may_write() {
    let client = Client::empty();
    let webhook = Webhook::new(|request| match request["operation"].as_str() {
        Some("CREATE") => patch(json!([
            {"op": "add", "path": "/status", "value": {"replicas": 3}},
            {"op": "add", "path": "/metadata/deletionTimestamp", "value": "2020-01-01T00:00:00Z"},
            {"op": "add", "path": "/metadata/deletionGracePeriodSeconds", "value": 3},
            {"op": "add", "path": "/metadata/resourceVersion", "value": "7"},
        ])),
        Some("UPDATE") => patch(json!([
            {"op": "add", "path": "/metadata/finalizers", "value": ["sim.example/held", "sim.example/more"]},
        ])),
        _ => json!({"allowed": true}),
    })
    .await;
    let config = webhook.client_config();
    let hooks = json!([
        hook("m", config.clone(), rule("apps", &["deployments"])),
        hook("n", config, json!({}))
    ]);
    configure(&client, "Mutating", "m", hooks).await;
    let template =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let spec = json!({"selector": {"matchLabels": {"a": "b"}}, "template": template});
    let made = client
        .post(DEPLOYMENTS, json!({"metadata": {"name": "d"}, "spec": spec}))
        .await
        .ok();
    assert_eq!(made["status"]["replicas"], Value::Null);
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
        assert_eq!(made["metadata"][field], Value::Null, "{field}");
    }
    // Nobody adds finalizers to what is being deleted.
    let mut map = configmap("a", 0);
    map["metadata"]["finalizers"] = json!(["sim.example/held"]);
    client.store().create(map).unwrap();
    let path = format!("{CONFIGMAPS}/a");
    client.delete(&path, Value::Null).await.ok();
    let (code, _, message) = client.merge(&path, json!({"data": {"k": "w"}})).await.refusal();
    assert_eq!(code, 422);
    assert!(message.contains("no new finalizers can be added"), "{message}");
}

// What is written as null stays there.
#[tokio::test]
async fn what_is_empty_stays_so_when_a_webhook_changes_the_rest() {
    const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
    const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    let client = Client::empty();
    let webhook = Webhook::annotates("m").await;
    let config = webhook.client_config();
    let hooks = json!([
        hook("r", config.clone(), rule("rbac.authorization.k8s.io", &["roles"])),
        hook("s", config, rule("discovery.k8s.io", &["endpointslices"]))
    ]);
    configure(&client, "Mutating", "m", hooks).await;
    let role = json!({"metadata": {"name": "a"}, "rules": null});
    let slice = json!({"metadata": {"name": "a"}, "addressType": "IPv4", "endpoints": [], "ports": null});
    for (path, field, object) in [(ROLES, "rules", role), (SLICES, "ports", slice)] {
        client.post(path, object.clone()).await.ok();
        let changed = client.put(&format!("{path}/a"), object).await.ok();
        assert_eq!(changed.get(field), Some(&Value::Null), "{field}");
        let generation = &changed["metadata"]["generation"];
        assert!(generation.is_null() || generation == 1, "{field}: {generation}");
    }
}

#[tokio::test]
async fn a_webhook_says_what_a_generated_name_begins_with() {
    let client = Client::empty();
    let webhook =
        Webhook::new(|_| patch(json!([{"op": "add", "path": "/metadata/generateName", "value": "b-"}])))
            .await;
    let other = Webhook::allows().await;
    configure_one(&client, "Mutating", "m", &webhook).await;
    configure_one(&client, "Validating", "v", &other).await;
    let path = format!("{CONFIGMAPS}?timeout=5s");
    for metadata in [json!({}), json!({"generateName": "a-"})] {
        let made = client.post(&path, json!({"metadata": metadata})).await.ok();
        let name = made["metadata"]["name"].as_str().unwrap();
        assert!(name.starts_with("b-") && name.len() == 7, "{name}");
        let asked = other.asked().pop().unwrap();
        assert_eq!(asked["name"], made["metadata"]["name"]);
    }
}

#[tokio::test]
async fn owners_that_a_webhook_repeats_are_kept_once() {
    let client = Client::empty();
    let webhook = Webhook::new(
        |request| match &request["object"]["metadata"]["ownerReferences"] {
            Value::Array(owners) => {
                let twice = [owners.as_slice(), owners.as_slice()].concat();
                patch(json!([{"op": "add", "path": "/metadata/ownerReferences", "value": twice}]))
            }
            _ => json!({"allowed": true}),
        },
    )
    .await;
    configure_one(&client, "Mutating", "m", &webhook).await;
    client.post(CONFIGMAPS, configmap("o", 0)).await.ok();
    let path = format!("{CONFIGMAPS}/o");
    let uid = client.get(&path).await.ok()["metadata"]["uid"].clone();
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": uid});
    let mut owned = configmap("a", 0);
    owned["metadata"]["ownerReferences"] = json!([owner]);
    let created = client.post(CONFIGMAPS, owned).await;
    let patched = client.merge(&format!("{CONFIGMAPS}/a"), json!({})).await;
    for answer in [created, patched] {
        let said = warnings(&answer);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].contains("entries after mutating admission happens; API"),
            "{said:?}"
        );
        assert_eq!(answer.ok()["metadata"]["ownerReferences"], json!([owner]));
    }
}

#[tokio::test]
async fn managers_that_a_webhook_breaks_are_put_back() {
    let client = Client::empty();
    let webhook = Webhook::new(|request| match request["object"]["data"]["break"].as_str() {
        Some(at) => patch(json!([
            {"op": "add", "path": format!("/metadata/managedFields/0/{at}"), "value": "other"},
        ])),
        None => json!({"allowed": true}),
    })
    .await;
    configure_one(&client, "Mutating", "m", &webhook).await;
    for (at, manager, warned) in [("operation", Value::Null, 1), ("manager", json!("other"), 0)] {
        let mut map = configmap(at, 0);
        map["data"] = json!({"break": at});
        let created = client.post(CONFIGMAPS, map).await;
        let patched = client
            .merge(&format!("{CONFIGMAPS}/{at}"), json!({"data": {"x": "y"}}))
            .await;
        for answer in [created, patched] {
            let said = warnings(&answer);
            assert_eq!(said.len(), warned, "{said:?}");
            let expected = "was in an invalid state after admission";
            assert!(said.iter().all(|warning| warning.contains(expected)), "{said:?}");
            let entry = &answer.ok()["metadata"]["managedFields"][0];
            assert_eq!(entry["operation"], "Update");
            assert!(manager.is_null() || entry["manager"] == manager, "{entry}");
        }
    }
}

#[tokio::test]
async fn a_webhook_can_change_a_scale_that_is_applied() {
    let client = Client::empty();
    let template =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let spec = json!({"selector": {"matchLabels": {"a": "b"}}, "template": template});
    let made = json!({"metadata": {"name": "d"}, "spec": spec});
    client.post(DEPLOYMENTS, made).await.ok();
    let webhook =
        Webhook::new(|_| patch(json!([{"op": "replace", "path": "/spec/replicas", "value": 7}]))).await;
    let rules = rule("apps", &["deployments/scale"]);
    let hooks = json!([hook("m", webhook.client_config(), rules)]);
    configure(&client, "Mutating", "m", hooks).await;
    let scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"}, "spec": {"replicas": 3}});
    let headers = [("content-type", "application/apply-patch+yaml")];
    let path = format!("{DEPLOYMENTS}/d/scale?fieldManager=m&force=true");
    let applied = client
        .send(Method::PATCH, &path, &headers, scale.to_string())
        .await;
    assert_eq!(applied.ok()["spec"]["replicas"], 7);
    let now = client.get(&format!("{DEPLOYMENTS}/d")).await.json();
    assert_eq!(now["spec"]["replicas"], 7);
}

#[tokio::test]
async fn webhooks_see_what_the_server_has_added() {
    let client = Client::new(Sim::builder().controllers([]).build().unwrap());
    client
        .post(
            "/apis/storage.k8s.io/v1/storageclasses",
            json!({"metadata": {"name": "s", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}, "provisioner": "x.io/y"}),
        )
        .await
        .ok();
    client
        .post(
            "/apis/networking.k8s.io/v1/ingressclasses",
            json!({"metadata": {"name": "i", "annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}}, "spec": {"controller": "x.io/y"}}),
        )
        .await
        .ok();
    let webhook = Webhook::allows().await;
    let rules = json!({"rules": [{
        "apiGroups": ["*"], "apiVersions": ["*"], "operations": ["CREATE"],
        "resources": ["pods", "nodes", "persistentvolumeclaims", "ingresses"],
    }]});
    let hooks = json!([hook("m", webhook.client_config(), rules)]);
    configure(&client, "Mutating", "m", hooks).await;
    let claim = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    let backend = json!({"service": {"name": "a", "port": {"number": 80}}});
    for (path, spec, added) in [
        (
            PODS,
            json!({"containers": [{"name": "c", "image": "i"}]}),
            vec!["priority", "preemptionPolicy", "tolerations"],
        ),
        ("/api/v1/nodes", json!({}), vec!["taints"]),
        (
            "/api/v1/namespaces/default/persistentvolumeclaims",
            claim,
            vec!["storageClassName"],
        ),
        (
            "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
            json!({"defaultBackend": backend}),
            vec!["ingressClassName"],
        ),
    ] {
        let made = client
            .post(path, json!({"metadata": {"name": "a"}, "spec": spec}))
            .await
            .ok();
        let asked = webhook.asked().pop().expect("asked");
        for field in added {
            assert!(!made["spec"][field].is_null(), "{path} {field}");
            assert_eq!(
                asked["object"]["spec"][field], made["spec"][field],
                "{path} {field}"
            );
        }
    }

    // What is refused anyway is nothing to ask about.
    let count = webhook.asked().len();
    let spec = json!({"runtimeClassName": "none", "containers": [{"name": "c", "image": "i"}]});
    let refused = client
        .post(PODS, json!({"metadata": {"generateName": "p-"}, "spec": spec}))
        .await;
    assert_eq!(
        refused.refusal().2,
        "pods \"p-\" is forbidden: pod rejected: RuntimeClass \"none\" not found"
    );
    assert_eq!(webhook.asked().len(), count);
}

#[tokio::test]
async fn the_server_adds_again_what_a_webhook_takes_away() {
    let client = Client::empty();
    client
        .post(
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            json!({"metadata": {"name": "high"}, "value": 100}),
        )
        .await
        .ok();
    let webhook = Webhook::new(|request| match request["name"].as_str() {
        Some("less") => patch(json!([
            {"op": "remove", "path": "/spec/tolerations"},
            {"op": "remove", "path": "/spec/priority"},
        ])),
        _ => patch(json!([{"op": "add", "path": "/spec/priorityClassName", "value": "high"}])),
    })
    .await;
    let hooks = json!([hook("m", webhook.client_config(), rule("", &["pods"]))]);
    configure(&client, "Mutating", "m", hooks).await;
    let pod = |name: &str| json!({"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let made = client.post(PODS, pod("less")).await.ok();
    assert_eq!(made["spec"]["priority"], 0);
    assert_eq!(made["spec"]["tolerations"].as_array().map(Vec::len), Some(2));
    // It has got the priority of no class already.
    assert_eq!(
        client.post(PODS, pod("high")).await.refusal().2,
        "pods \"high\" is forbidden: the integer value of priority (0) must not be provided in pod spec; priority \
         admission controller computed 100 from the given PriorityClass name"
    );
}
