//! Writes, as a real kube-apiserver 1.36 answers them.

use http::Method;
use serde_json::{Value, json};

use crate::client::{
    CONFIGMAPS, Client, WIDGETS, configmap, version, widget, widget_definition, with_widgets,
};

mod creations;
mod deletions;

const A: &str = "/api/v1/namespaces/default/configmaps/a";

fn refused(code: u16, reason: &str, message: &str) -> (u16, String, String) {
    (code, reason.into(), message.into())
}

#[tokio::test]
async fn methods_that_make_no_sense_are_refused() {
    let client = Client::empty();
    client.configmaps(&["a"]);
    let everywhere = "/api/v1/configmaps";
    for (method, path) in [
        (Method::POST, everywhere),
        (Method::DELETE, everywhere),
        (Method::POST, A),
        (Method::PUT, CONFIGMAPS),
        (Method::PATCH, CONFIGMAPS),
        (Method::OPTIONS, A),
    ] {
        let (code, reason, _) = client.send(method.clone(), path, &[], "{}").await.refusal();
        assert_eq!(
            (code, reason.as_str()),
            (405, "MethodNotAllowed"),
            "{method} {path}"
        );
    }
}

#[tokio::test]
async fn an_update_replaces_the_version_it_names() {
    let client = Client::empty();
    let first = client.post(CONFIGMAPS, configmap("a", 0)).await.ok();
    let mut changed = first.clone();
    changed["data"] = json!({"k": "w"});
    let second = client.put(A, changed.clone()).await.ok();
    assert!(version(&second) > version(&first));
    for kept in ["uid", "creationTimestamp"] {
        assert_eq!(second["metadata"][kept], first["metadata"][kept]);
    }
    // The old version is gone.
    let stale = "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the latest version and try again";
    assert_eq!(
        client.put(A, changed).await.refusal(),
        refused(409, "Conflict", stale)
    );
    // No version: whatever it is.
    let third = client.put(A, configmap("a", 5)).await.ok();
    assert!(version(&third) > version(&second));
    // Nothing changed, nothing happens.
    assert_eq!(client.put(A, configmap("a", 5)).await.ok(), third);

    let mut other = configmap("a", 0);
    other["metadata"]["uid"] = "abc".into();
    let (code, reason, message) = client.put(A, other).await.refusal();
    assert_eq!((code, reason.as_str()), (409, "Conflict"));
    assert!(
        message.contains("Precondition failed: UID in precondition: abc, UID in object meta: "),
        "{message}"
    );
    assert_eq!(
        client.put(A, configmap("b", 0)).await.refusal(),
        refused(
            400,
            "BadRequest",
            "the name of the object (b) does not match the name on the URL (a)"
        )
    );
    assert_eq!(client.put(A, json!({"metadata": {}})).await.code, 400);
    assert_eq!(
        client
            .put(&format!("{CONFIGMAPS}/b"), configmap("b", 0))
            .await
            .code,
        404
    );
}

#[tokio::test]
async fn patches_change_a_part() {
    let client = Client::empty();
    let made = client.post(CONFIGMAPS, configmap("a", 0)).await.ok();
    let patched = client
        .merge(
            A,
            json!({"metadata": {"labels": {"n": null, "x": "y"}}, "data": {"l": "1"}}),
        )
        .await
        .ok();
    assert_eq!(patched["metadata"]["labels"], json!({"x": "y"}));
    assert_eq!(patched["data"], json!({"k": "v", "l": "1"}));
    assert!(version(&patched) > version(&made));
    // Again: nothing.
    assert_eq!(client.merge(A, json!({"data": {"l": "1"}})).await.ok(), patched);

    let operations =
        json!([{"op": "add", "path": "/data/m", "value": "2"}, {"op": "remove", "path": "/data/k"}]);
    let patched = client
        .patch(A, "application/json-patch+json", operations)
        .await
        .ok();
    assert_eq!(patched["data"], json!({"l": "1", "m": "2"}));
    let strategic = json!({"metadata": {"finalizers": ["x/y"]}, "data": {"m": null}});
    let patched = client
        .patch(A, "application/strategic-merge-patch+json", strategic)
        .await
        .ok();
    assert_eq!(
        (&patched["data"], &patched["metadata"]["finalizers"]),
        (&json!({"l": "1"}), &json!(["x/y"]))
    );
}

#[tokio::test]
async fn a_self_link_is_dropped() {
    let client = with_widgets();
    let linked = |mut object: Value| {
        object["metadata"] = json!({"name": "a", "selfLink": "/a/b"});
        object
    };
    for (path, object) in [(CONFIGMAPS, configmap("a", 0)), (WIDGETS, widget("a", 1))] {
        let (one, object) = (format!("{path}/a?fieldManager=m"), linked(object));
        let dry = client
            .post(&format!("{path}?dryRun=All"), object.clone())
            .await
            .ok();
        assert_eq!(dry["metadata"]["selfLink"], json!(null));
        let made = client.post(path, object.clone()).await.ok();
        assert_eq!(made["metadata"]["selfLink"], json!(null));
        // Nothing changes, so the version stays.
        let link = json!({"metadata": {"selfLink": "/c"}});
        assert_eq!(client.merge(&one, link).await.ok(), made);
        let mut labelled = object.clone();
        labelled["metadata"]["labels"] = json!({"x": "y"});
        let mut whole = labelled.clone();
        whole["metadata"]["resourceVersion"] = made["metadata"]["resourceVersion"].clone();
        let put = client.put(&one, whole).await.ok();
        let applied = client
            .patch(&one, "application/apply-patch+yaml", labelled)
            .await
            .ok();
        for changed in [put, applied] {
            assert!(!changed.to_string().contains("selfLink"), "{changed}");
        }
    }
}

/// JSON has no `undefined`: clients that have no value for an operation leave it out.
#[tokio::test]
async fn an_operation_without_a_value_has_null() {
    let client = Client::empty();
    client.post(CONFIGMAPS, configmap("a", 0)).await.ok();
    for (operation, expected) in [
        (json!({"op": "add", "path": "/data/x"}), Some("")),
        (json!({"op": "replace", "path": "/data/x"}), Some("")),
        (
            json!({"op": "copy", "from": "/data/none", "path": "/data/x"}),
            Some(""),
        ),
        (json!({"op": "test", "path": "/data/none"}), None),
    ] {
        let patched = client
            .patch(
                &format!("{A}?dryRun=All"),
                "application/json-patch+json",
                json!([operation.clone()]),
            )
            .await
            .ok();
        assert_eq!(patched["data"]["x"].as_str(), expected, "{operation}");
    }
}

#[tokio::test]
async fn patches_that_are_wrong_are_refused() {
    let client = with_widgets();
    client.configmaps(&["a"]);
    client.store().create(widget("w", 1)).unwrap();
    assert_eq!(
        client
            .merge(A, json!({"metadata": {"resourceVersion": "3"}}))
            .await
            .code,
        409
    );
    let (code, _, message) = client
        .merge(A, json!({"metadata": {"uid": "zzz"}}))
        .await
        .refusal();
    assert_eq!(
        (code, message.as_str()),
        (
            422,
            "ConfigMap \"a\" is invalid: metadata.uid: Invalid value: \"zzz\": field is immutable"
        )
    );
    assert_eq!(
        client.merge(A, json!({"metadata": {"name": "zzz"}})).await.code,
        400
    );
    assert_eq!(
        client.merge(&format!("{CONFIGMAPS}/nope"), json!({})).await.code,
        404
    );
    assert_eq!(client.merge(A, json!([])).await.code, 400);
    assert_eq!(client.merge(A, json!({"metadata": null})).await.code, 400);
    let json_patch = "application/json-patch+json";
    assert_eq!(client.patch(A, json_patch, json!({"op": "add"})).await.code, 400);
    for (operation, code) in [
        (json!([{"op": "remove", "path": "/data/none"}]), 422),
        (json!([{"op": "test", "path": "/data/k", "value": "other"}]), 422),
        (json!([{"op": "replace", "path": "", "value": 5}]), 400),
    ] {
        assert_eq!(
            client.patch(A, json_patch, operation.clone()).await.code,
            code,
            "{operation}"
        );
    }
    for (path, kind) in [
        (A, "application/json"),
        (A, "application/apply-patch+cbor"),
        (&*format!("{WIDGETS}/w"), "application/strategic-merge-patch+json"),
    ] {
        assert_eq!(client.patch(path, kind, json!({})).await.code, 415, "{kind}");
    }
}

#[tokio::test]
async fn status_and_the_rest_are_written_apart() {
    let client = with_widgets();
    let path = format!("{WIDGETS}/w");
    let mut object = widget("w", 1);
    object["status"] = json!({"x": 1});
    let made = client.post(WIDGETS, object).await.ok();
    assert_eq!(
        (&made["status"], &made["metadata"]["generation"]),
        (&json!(null), &json!(1))
    );

    let mut changed = made.clone();
    changed["spec"]["size"] = 2.into();
    changed["status"] = json!({"x": 2});
    let spec = client.put(&path, changed.clone()).await.ok();
    assert_eq!(
        (
            &spec["spec"]["size"],
            &spec["status"],
            &spec["metadata"]["generation"]
        ),
        (&json!(2), &json!(null), &json!(2))
    );
    changed["spec"]["size"] = 3.into();
    changed["metadata"] = spec["metadata"].clone();
    changed["metadata"]["labels"] = json!({"not": "kept"});
    let status = client.put(&format!("{path}/status"), changed).await.ok();
    assert_eq!(
        (
            &status["spec"]["size"],
            &status["status"],
            &status["metadata"]["generation"]
        ),
        (&json!(2), &json!({"x": 2}), &json!(2))
    );
    assert_eq!(status["metadata"]["labels"], json!(null));
    let patched = client
        .merge(
            &format!("{path}/status"),
            json!({"status": {"y": 3}, "spec": {"size": 9}}),
        )
        .await
        .ok();
    assert_eq!(
        (&patched["spec"]["size"], &patched["status"]),
        (&json!(2), &json!({"x": 2, "y": 3}))
    );
    assert_eq!(client.get(&format!("{path}/status")).await.ok(), patched);
    // Custom resources are not replaced without their version.
    let (code, _, message) = client.put(&path, widget("w", 1)).await.refusal();
    assert_eq!(
        (code, message.as_str()),
        (
            422,
            "widgets.sim.example \"w\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update"
        )
    );
}

#[tokio::test]
async fn dry_runs_change_nothing() {
    let client = Client::empty();
    let before = client.store().resource_version();
    let dry = format!("{CONFIGMAPS}?dryRun=All");
    let made = client.post(&dry, configmap("a", 0)).await;
    assert_eq!(made.code, 201);
    let metadata = made.json()["metadata"].take();
    assert!(
        metadata["uid"].is_string() && metadata["resourceVersion"].is_null(),
        "{metadata}"
    );
    let copied = json!({"metadata": {"name": "a", "resourceVersion": "5"}});
    let made = client.post(&dry, copied.clone()).await.ok();
    assert_eq!(
        made["metadata"]["resourceVersion"], "5",
        "as a copy of another object has it"
    );
    assert_eq!(client.post(CONFIGMAPS, copied).await.code, 500);
    assert_eq!(
        (client.get(A).await.code, client.store().resource_version()),
        (404, before)
    );
}

/// What a real server has `AllowCreateOnUpdate` for.
#[tokio::test]
async fn a_put_creates_leases_and_the_like() {
    let client = Client::empty();
    let leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    let lease = |name: &str| json!({"metadata": {"name": name, "resourceVersion": "5"}, "spec": {}});
    let tried = client.put(&format!("{leases}/a?dryRun=All"), lease("a")).await;
    assert_eq!(
        (tried.code, client.get(&format!("{leases}/a")).await.code),
        (201, 404)
    );
    let made = client.put(&format!("{leases}/a"), lease("a")).await;
    assert_eq!(made.code, 201);
    assert_eq!(version(&made.json()), client.store().resource_version());
    // The second one is an update: it needs a version, and conflicts.
    let unversioned = json!({"metadata": {"name": "a"}});
    let refusal = client.put(&format!("{leases}/a"), unversioned).await.refusal();
    assert_eq!(
        refusal.2,
        "leases.coordination.k8s.io \"a\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified \
         for an update"
    );
    assert_eq!(client.put(&format!("{leases}/a"), lease("a")).await.code, 409);

    let mut known = lease("b");
    known["metadata"]["uid"] = json!("abc");
    let (code, _, message) = client.put(&format!("{leases}/b"), known).await.refusal();
    assert_eq!(code, 409);
    assert!(
        message.ends_with("UID in precondition: abc, UID in object meta: "),
        "{message}"
    );
    let nowhere = "/apis/coordination.k8s.io/v1/namespaces/nowhere/leases/a";
    let refusal = client.put(nowhere, lease("a")).await.refusal();
    assert_eq!(refusal.2, "namespaces \"nowhere\" not found");
    // Patches and other kinds create nothing.
    assert_eq!(client.merge(&format!("{leases}/c"), lease("c")).await.code, 404);
    assert_eq!(client.put(A, json!({"metadata": {"name": "a"}})).await.code, 404);
}

#[tokio::test]
async fn definitions_make_resources_come_and_go() {
    let client = Client::empty();
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(client.get(WIDGETS).await.code, 404);
    let made = client.post(definitions, widget_definition()).await.ok();
    assert_eq!(
        made["status"]["conditions"][1],
        json!({
            "type": "Established", "status": "True", "reason": "InitialNamesAccepted",
            "message": "the initial names have been accepted", "lastTransitionTime": made["metadata"]["creationTimestamp"],
        })
    );
    client.post(WIDGETS, widget("w", 1)).await.ok();
    let (code, _, message) = client
        .post(WIDGETS, json!({"kind": "Widget", "metadata": {"name": "x"}}))
        .await
        .refusal();
    assert_eq!(
        (code, message.as_str()),
        (
            400,
            "the API version in the data () does not match the expected API version (sim.example/v1)"
        )
    );
    assert_eq!(
        client
            .get(&format!("{WIDGETS}?fieldSelector=spec.color%3Dred"))
            .await
            .names(),
        ["w"]
    );
    let mut watch = client.watch(&format!("{WIDGETS}?watch=1")).await;
    watch.event().await;
    client
        .delete(&format!("{definitions}/widgets.sim.example"), json!(null))
        .await
        .ok();
    assert_eq!(watch.rest().await, ["DELETED w"]);
    assert_eq!(client.get(WIDGETS).await.code, 404);

    // The same without any object.
    client.post(definitions, widget_definition()).await.ok();
    let mut watch = client.watch(&format!("{WIDGETS}?watch=1")).await;
    let path = format!("{definitions}/widgets.sim.example");
    let (rest, deleted) = tokio::join!(watch.rest(), client.delete(&path, json!(null)));
    deleted.ok();
    assert!(rest.is_empty());

    let mut wrong = widget_definition();
    wrong["metadata"]["name"] = "other.sim.example".into();
    assert_eq!(client.post(definitions, wrong.clone()).await.code, 422);
    let error = kube_sim::Sim::builder().crd(wrong).build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "custom resource definition \"other.sim.example\" is refused"
    );
}

/// Both go through the same rules, but the owner writes statuses too.
#[tokio::test]
async fn the_owner_writes_without_http() {
    let client = Client::empty();
    let store = client.store();
    let pod = |phase: &str| {
        json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default", "uid": "my-uid"},
            "spec": {"nodeName": "n"}, "status": {"phase": phase},
        })
    };
    let made = store.create(pod("Running")).unwrap();
    assert_eq!(
        (&made["status"]["phase"], &made["metadata"]["uid"]),
        (&json!("Running"), &json!("my-uid"))
    );
    assert_eq!(store.update(pod("Failed")).unwrap()["status"]["phase"], "Failed");
    assert_eq!(
        store.get("v1", "Pod", Some("default"), "p").unwrap()["status"]["phase"],
        "Failed"
    );
    let mut stale = pod("Running");
    stale["metadata"]["resourceVersion"] = made["metadata"]["resourceVersion"].clone();
    assert_eq!(store.update(stale).unwrap_err().code(), 409);
    store.delete("v1", "Pod", Some("default"), "p").unwrap();
    assert_eq!(
        store
            .delete("v1", "Pod", Some("default"), "p")
            .unwrap_err()
            .reason(),
        "NotFound"
    );
    for wrong in [
        json!(5),
        json!({}),
        json!({"apiVersion": "v1", "kind": "Nope"}),
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}),
    ] {
        assert_eq!(store.create(wrong.clone()).unwrap_err().code(), 400, "{wrong}");
    }
}

#[tokio::test]
async fn strict_validation_names_unknown_and_duplicate_fields() {
    let client = Client::empty();
    let json = [("content-type", "application/json")];
    let body = r#"{"kind": "ConfigMap", "metadata": {"name": "a", "x": 1}, "data": {"k": "a", "k": "b"}, "dat": {}}"#;
    let path = format!("{CONFIGMAPS}?fieldValidation=Strict");
    let refused = client.send(Method::POST, &path, &json, body).await;
    let expected = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: \
         unknown field \"metadata.x\", duplicate field \"data.k\", unknown field \"dat\"";
    assert_eq!(
        refused.refusal(),
        (400, "BadRequest".to_owned(), expected.to_owned())
    );
    let body = r#"{"metadata": {"name": "a", "labels": {"k": "v"}}, "data": {"k": "a"}}"#;
    assert_eq!(client.send(Method::POST, &path, &json, body).await.code, 201);
}

#[tokio::test]
async fn clients_get_defaults_and_the_store_keeps_what_it_is_given() {
    let client = Client::empty();
    let spec = json!({"containers": [{"name": "c", "image": "i:1"}]});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"}, "spec": spec});
    client.store().create(pod.clone()).unwrap();
    let kept = client.store().get("v1", "Pod", Some("default"), "p").unwrap();
    assert_eq!(kept["spec"], spec);
    let pods = "/api/v1/namespaces/default/pods";
    let made = client
        .post(pods, json!({"metadata": {"name": "q"}, "spec": spec}))
        .await
        .ok();
    assert_eq!(made["spec"]["restartPolicy"], "Always");
    assert_eq!(made["spec"]["containers"][0]["imagePullPolicy"], "IfNotPresent");
    assert_eq!(
        made["status"],
        json!({"phase": "Pending", "qosClass": "BestEffort"})
    );

    let put = client
        .put(
            &format!("{pods}/q"),
            json!({"metadata": {"name": "q"}, "spec": spec}),
        )
        .await
        .ok();
    assert_eq!(
        put["metadata"]["resourceVersion"],
        made["metadata"]["resourceVersion"]
    );

    // Defaults are no change of what is wanted.
    let labelled = client
        .merge(&format!("{pods}/p"), json!({"metadata": {"labels": {"a": "b"}}}))
        .await
        .ok();
    assert_eq!(labelled["spec"]["dnsPolicy"], "ClusterFirst");
    assert_eq!(labelled["metadata"]["generation"], kept["metadata"]["generation"]);
}

#[tokio::test]
async fn services_get_addresses_of_their_own_and_keep_them() {
    let client = Client::empty();
    let services = "/api/v1/namespaces/default/services";
    let mut addresses = std::collections::BTreeSet::new();
    for n in 0..20 {
        let spec =
            json!({"type": "NodePort", "ports": [{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]});
        let made = client
            .post(
                services,
                json!({"metadata": {"name": format!("s{n}")}, "spec": spec}),
            )
            .await
            .ok();
        let ports = made["spec"]["ports"].as_array().unwrap();
        let of_nodes = ports.iter().map(|port| port["nodePort"].to_string());
        addresses.extend(of_nodes.chain([made["spec"]["clusterIP"].to_string()]));
    }
    assert_eq!(addresses.len(), 60);
    let before = client.get(&format!("{services}/s0")).await.ok();
    let spec = json!({"type": "NodePort", "ports": [{"port": 80}]});
    let put = client
        .put(
            &format!("{services}/s0"),
            json!({"metadata": {"name": "s0"}, "spec": spec}),
        )
        .await
        .ok();
    assert_eq!(put["spec"]["clusterIP"], before["spec"]["clusterIP"]);
    assert_eq!(
        put["spec"]["ports"][0]["nodePort"],
        before["spec"]["ports"][0]["nodePort"]
    );
    let outside = json!({"spec": {"type": "ExternalName", "externalName": "a.example", "ports": null}});
    let named = client.merge(&format!("{services}/s1"), outside).await.ok();
    assert_eq!(named["spec"]["clusterIP"], json!(null));
    let other = json!({"spec": {"clusterIP": "10.97.0.1"}});
    assert_eq!(client.merge(&format!("{services}/s0"), other).await.code, 422);
}

#[tokio::test]
async fn the_text_of_a_secret_becomes_data() {
    let client = Client::empty();
    let secrets = "/api/v1/namespaces/default/secrets";
    let text =
        json!({"metadata": {"name": "s"}, "stringData": {"k": "v"}, "data": {"k": "eA==", "l": "eA=="}});
    let made = client.post(secrets, text).await.ok();
    assert_eq!(
        (&made["data"], &made["type"]),
        (&json!({"k": "dg==", "l": "eA=="}), &json!("Opaque"))
    );
    assert_eq!(made["stringData"], json!(null));
    let more = json!({"stringData": {"m": "w"}});
    let merged = client.merge(&format!("{secrets}/s"), more).await.ok();
    assert_eq!(merged["data"], json!({"k": "dg==", "l": "eA==", "m": "dw=="}));
    let bad = json!({"metadata": {"name": "t"}, "stringData": {"a/b": "v"}});
    assert_eq!(client.post(secrets, bad).await.code, 422);
}

#[tokio::test]
async fn only_pods_get_the_ports_of_their_host() {
    let client = Client::empty();
    let ports = json!([{"containerPort": 80}]);
    let spec = json!({"hostNetwork": true, "containers": [{"name": "c", "image": "i:1", "ports": ports}]});
    let pod = json!({"metadata": {"name": "p"}, "spec": spec});
    let made = client.post("/api/v1/namespaces/default/pods", pod).await.ok();
    assert_eq!(made["spec"]["containers"][0]["ports"][0]["hostPort"], 80);
    let labels = json!({"a": "b"});
    let template = json!({"metadata": {"labels": labels}, "spec": spec});
    let set = json!({"metadata": {"name": "s"}, "spec": {"selector": {"matchLabels": labels}, "template": template}});
    let sets = "/apis/apps/v1/namespaces/default/daemonsets";
    let made = client.post(sets, set).await.ok();
    let port = &made["spec"]["template"]["spec"]["containers"][0]["ports"][0];
    assert_eq!(port["hostPort"], Value::Null);
}

#[tokio::test]
async fn images_without_a_tag_are_the_latest_if_they_are_images() {
    let client = Client::empty();
    let pods = "/api/v1/namespaces/default/pods?dryRun=All";
    let digest = "a".repeat(64);
    for (image, policy) in [
        ("i".to_owned(), "Always"),
        ("h:80/i".to_owned(), "Always"),
        ("H.io/i".to_owned(), "Always"),
        ("i:latest".to_owned(), "Always"),
        (format!("i:latest@sha256:{digest}"), "Always"),
        (format!("i@sha256:{digest}"), "IfNotPresent"),
        ("($IMAGE)".to_owned(), "IfNotPresent"),
        ("a/I".to_owned(), "IfNotPresent"),
        ("{{ image }}:latest".to_owned(), "IfNotPresent"),
    ] {
        let spec = json!({"containers": [{"name": "c", "image": image}]});
        let pod = json!({"metadata": {"name": "p"}, "spec": spec});
        let made = client.post(pods, pod).await.ok();
        assert_eq!(
            made["spec"]["containers"][0]["imagePullPolicy"], policy,
            "{image}"
        );
    }
}

#[tokio::test]
async fn containers_do_not_find_volumes_that_are_refused() {
    let client = Client::empty();
    let mounts = json!([{"name": "v", "mountPath": "/v"}]);
    let containers = json!([{"name": "c", "image": "i", "volumeMounts": mounts}]);
    let spec = json!({"containers": containers, "volumes": [{"name": "v", "configMap": {}}]});
    let refused = client
        .post(
            "/api/v1/namespaces/default/pods",
            json!({"metadata": {"name": "p"}, "spec": spec}),
        )
        .await;
    let fields = [
        "spec.volumes[0].configMap.name",
        "spec.containers[0].volumeMounts[0].name",
    ];
    assert_eq!(refused.refused_fields(), fields);
}

#[tokio::test]
async fn metrics_without_a_type_have_no_supported_one() {
    let client = Client::empty();
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"});
    let spec = json!({"maxReplicas": 2, "scaleTargetRef": target, "metrics": [{}]});
    let scalers = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    let refused = client
        .post(scalers, json!({"metadata": {"name": "s"}, "spec": spec}))
        .await;
    assert_eq!(refused.refused_fields(), ["spec.metrics[0].type"; 3]);
}
