//! Details of a real server on which the tests of client libraries rely.

use http::Method;
use serde_json::{Value, json};

use crate::client::{Answer, CONFIGMAPS, Client};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const SERVICES: &str = "/api/v1/namespaces/default/services";
const PODS: &str = "/api/v1/namespaces/default/pods";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";

fn warnings(answer: &Answer) -> Vec<&str> {
    let headers = answer.headers.get_all("warning").iter();
    headers.map(|header| header.to_str().unwrap()).collect()
}

fn map(metadata: Value) -> Value {
    json!({"metadata": metadata})
}

fn definition(versions: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"},
        "spec": {"group": "example.com", "scope": "Cluster", "names": {"plural": "things", "kind": "Thing"}, "versions": versions},
    })
}

fn version(name: &str, storage: bool) -> Value {
    json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": {"type": "object"}}})
}

#[tokio::test]
async fn keys_that_are_twice_in_yaml_are_warned_of_one_by_one() {
    let client = Client::empty();
    let text =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: b\n  a: c\nmetadata: {name: a}\n";
    let told = [
        r#"299 - "line 6: key \"a\" already set in map""#,
        r#"299 - "line 7: key \"metadata\" already set in map""#,
    ];
    let path = format!("{CONFIGMAPS}/a?fieldManager=one");
    let applied = [("content-type", "application/apply-patch+yaml")];
    let made = [("content-type", "application/yaml")];
    for (method, path, headers) in [
        (Method::POST, CONFIGMAPS, made),
        (Method::PATCH, path.as_str(), applied),
    ] {
        for (level, expected) in [("", &told[..]), ("Warn", &told[..]), ("Ignore", &[])] {
            let and = if path.contains('?') { '&' } else { '?' };
            let path = format!("{path}{and}dryRun=All&fieldValidation={level}");
            let answer = client.send(method.clone(), &path, &headers, text).await;
            assert_eq!(
                (answer.code, warnings(&answer)),
                (201, expected.to_vec()),
                "{path}"
            );
        }
    }

    let labels = json!({"app": "d"});
    let pods = json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let deployment =
        json!({"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": labels}, "template": pods}});
    client.post(DEPLOYMENTS, deployment).await.ok();
    let path = format!("{DEPLOYMENTS}/d/scale?fieldManager=one&force=true");
    let text = "apiVersion: autoscaling/v1\nkind: Scale\nspec:\n  replicas: 1\n  replicas: 2\n";
    let answer = client.send(Method::PATCH, &path, &applied, text).await;
    let told = r#"299 - "line 5: key \"replicas\" already set in map""#;
    assert_eq!((answer.code, warnings(&answer)), (200, vec![told]));
}

#[tokio::test]
async fn answers_are_for_no_cache() {
    let client = Client::empty();
    for path in [
        CONFIGMAPS,
        "/api",
        "/version",
        "/healthz",
        "/bogus",
        "/api/v1/namespaces/default/pods/none",
    ] {
        let answer = client.get(path).await;
        assert_eq!(answer.headers["cache-control"], "no-cache, private", "{path}");
    }
}

#[tokio::test]
async fn what_is_held_while_its_dependents_go_is_accepted() {
    let client = Client::empty();
    let held = map(json!({"name": "a", "finalizers": ["example.com/f"]}));
    client.post(CONFIGMAPS, held).await.ok();
    let path = format!("{CONFIGMAPS}/a");
    assert_eq!(
        client
            .delete(&path, json!({"orphanDependents": false}))
            .await
            .code,
        202
    );
    assert_eq!(
        client
            .delete(&path, json!({"propagationPolicy": "Background"}))
            .await
            .code,
        200
    );
    client.post(CONFIGMAPS, map(json!({"name": "b"}))).await.ok();
    let path = format!("{CONFIGMAPS}/b");
    assert_eq!(
        client
            .delete(&path, json!({"orphanDependents": false}))
            .await
            .code,
        200
    );
}

#[tokio::test]
async fn an_owner_that_is_named_twice_is_kept_once() {
    let client = Client::empty();
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u"});
    let twice = map(json!({"name": "a", "ownerReferences": [owner, owner]}));
    let answer = client.post(CONFIGMAPS, twice).await;
    assert!(
        warnings(&answer)[0].contains("duplicate UID(s) observed: u"),
        "{answer:?}"
    );
    assert_eq!(answer.ok()["metadata"]["ownerReferences"], json!([owner]));
}

#[tokio::test]
async fn deprecated_versions_are_warned_of() {
    let client = Client::empty();
    let answer = client.get("/api/v1/namespaces/default/endpoints").await;
    assert!(warnings(&answer)[0].contains("v1 Endpoints is deprecated in v1.33+"));
    let mut versions = json!([
        version("v1beta1", false),
        version("v1beta2", false),
        version("v1", true)
    ]);
    versions[0]["deprecated"] = true.into();
    versions[1]["deprecated"] = true.into();
    versions[1]["deprecationWarning"] = "do not".into();
    client.post(DEFINITIONS, definition(&versions)).await.ok();
    for (version, warning) in [
        (
            "v1beta1",
            &["299 - \"example.com/v1beta1 Thing is deprecated; use example.com/v1 Thing\""][..],
        ),
        ("v1beta2", &["299 - \"do not\""]),
        ("v1", &[]),
    ] {
        let answer = client.get(&format!("/apis/example.com/{version}/things")).await;
        assert_eq!(warnings(&answer), warning, "{version}");
    }
}

#[tokio::test]
async fn the_newest_stable_version_is_preferred() {
    let client = Client::empty();
    let versions = json!([
        version("v1alpha1", true),
        version("v2", false),
        version("v10", false),
        version("other", false),
        version("v3beta1", false)
    ]);
    client.post(DEFINITIONS, definition(&versions)).await.ok();
    let group = client.get("/apis/example.com").await.ok();
    assert_eq!(group["preferredVersion"]["version"], "v10");
    let names: Vec<_> = group["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|version| version["version"].clone())
        .collect();
    assert_eq!(json!(names), json!(["v10", "v2", "v3beta1", "v1alpha1", "other"]));
}

#[tokio::test]
async fn all_versions_in_which_objects_may_be_stored_are_told() {
    let client = Client::empty();
    client
        .post(
            DEFINITIONS,
            definition(&json!([version("v1", true), version("v2", false)])),
        )
        .await
        .ok();
    let path = format!("{DEFINITIONS}/things.example.com");
    let patch = json!({"spec": {"versions": [version("v1", false), version("v2", true)]}});
    let changed = client.merge(&path, patch).await.ok();
    assert_eq!(changed["status"]["storedVersions"], json!(["v1", "v2"]));
}

#[tokio::test]
async fn a_group_of_the_community_needs_an_approval() {
    let client = Client::empty();
    let mut protected = definition(&json!([version("v1", true)]));
    protected["metadata"]["name"] = "things.sigs.k8s.io".into();
    protected["spec"]["group"] = "sigs.k8s.io".into();
    let (code, _, message) = client.post(DEFINITIONS, protected.clone()).await.refusal();
    assert_eq!(code, 422);
    assert!(
        message.contains("must have approval annotation \"api-approved.kubernetes.io\""),
        "{message}"
    );
    protected["metadata"]["annotations"] = json!({"api-approved.kubernetes.io": "https://example.com/1"});
    let made = client.post(DEFINITIONS, protected).await.ok();
    assert_eq!(made["status"]["conditions"][2]["reason"], "ApprovedAnnotation");
}

#[tokio::test]
async fn a_scale_is_where_a_definition_may_have_it() {
    let client = Client::empty();
    let mut scaled = version("v1", true);
    scaled["subresources"] =
        json!({"scale": {"specReplicasPath": ".status.x", "statusReplicasPath": ".status.y"}});
    let (code, _, message) = client
        .post(DEFINITIONS, definition(&json!([scaled])))
        .await
        .refusal();
    assert_eq!(code, 422);
    assert!(message.contains("spec.subresources.scale.specReplicasPath: Invalid value: \".status.x\": should be a json path under .spec"), "{message}");
}

#[tokio::test]
async fn a_scale_can_be_a_table() {
    let client = Client::empty();
    let template =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let spec = json!({"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": template});
    client
        .post(DEPLOYMENTS, json!({"metadata": {"name": "d"}, "spec": spec}))
        .await
        .ok();
    let table = client.get_as(&format!("{DEPLOYMENTS}/d/scale"), TABLE).await.ok();
    assert_eq!(table["columnDefinitions"][1]["name"], "Desired");
    assert_eq!(
        table["rows"][0]["cells"].as_array().unwrap()[..3],
        [json!("d"), json!(2), json!(0)]
    );
}

#[tokio::test]
async fn a_deployments_annotations_count_as_its_spec() {
    let client = Client::empty();
    let template =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let spec = json!({"selector": {"matchLabels": {"a": "b"}}, "template": template});
    client
        .post(DEPLOYMENTS, json!({"metadata": {"name": "d"}, "spec": spec}))
        .await
        .ok();
    let path = format!("{DEPLOYMENTS}/d");
    let labelled = client
        .merge(&path, json!({"metadata": {"labels": {"x": "y"}}}))
        .await
        .ok();
    assert_eq!(labelled["metadata"]["generation"], 1);
    let annotated = client
        .merge(&path, json!({"metadata": {"annotations": {"x": "y"}}}))
        .await
        .ok();
    assert_eq!(annotated["metadata"]["generation"], 2);
}

#[tokio::test]
async fn no_two_services_have_one_address_or_port() {
    let client = Client::empty();
    let service = |name: &str, address: &str, port: u16| {
        let spec =
            json!({"type": "NodePort", "clusterIP": address, "ports": [{"port": 80, "nodePort": port}]});
        json!({"metadata": {"name": name}, "spec": spec})
    };
    client.post(SERVICES, service("a", "10.96.5.5", 31000)).await.ok();
    for (address, port, expected) in [
        (
            "10.96.5.6",
            31000,
            "spec.ports[0].nodePort: Invalid value: 31000: provided port is already allocated",
        ),
        ("10.96.5.5", 31001, "provided IP is already allocated"),
    ] {
        let (code, _, message) = client.post(SERVICES, service("b", address, port)).await.refusal();
        assert_eq!(code, 422);
        assert!(message.contains(expected), "{message}");
    }
    // Its own it may keep.
    let mut a = client.get(&format!("{SERVICES}/a")).await.ok();
    a["spec"]["selector"] = json!({"x": "y"});
    client.put(&format!("{SERVICES}/a"), a).await.ok();
    client.post(SERVICES, service("b", "10.96.5.6", 31001)).await.ok();
}

/// A cluster with one range of IPv4 gives no addresses of IPv6, and none of other ranges.
#[tokio::test]
async fn services_have_addresses_that_the_cluster_has() {
    let client = Client::empty();
    let service = |mut spec: Value| {
        spec["ports"] = json!([{"port": 80}]);
        json!({"metadata": {"name": "s"}, "spec": spec})
    };
    let multiple = "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' \
                    when multiple";
    for (spec, expected) in [
        (
            json!({"clusterIP": "10.0.0.12"}),
            "spec.clusterIPs: Invalid value: [\"10.0.0.12\"]: failed to allocate IP 10.0.0.12: the provided network does \
             not match the current range"
                .to_owned(),
        ),
        (
            json!({"clusterIP": "10.96.0.0"}),
            "spec.clusterIPs: Invalid value: [\"10.96.0.0\"]: failed to allocate IP 10.96.0.0: the provided IP \
             (10.96.0.0) is not in the valid range. The range of valid IPs is 10.96.0.0/12"
                .to_owned(),
        ),
        (
            json!({"clusterIP": "fd00::1"}),
            "spec.clusterIPs[0]: Invalid value: [\"fd00::1\"]: IPv6 is not configured on this cluster".to_owned(),
        ),
        (
            json!({"ipFamilies": ["IPv6"]}),
            "spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster".to_owned(),
        ),
        (
            json!({"ipFamilies": ["IPv6"], "clusterIP": "10.96.0.9"}),
            "spec.clusterIPs[0]: Invalid value: \"10.96.0.9\": expected an IPv6 value as indicated by `ipFamilies[0]`"
                .to_owned(),
        ),
        (
            json!({"ipFamilyPolicy": "RequireDualStack"}),
            "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured for dual-stack \
             services"
                .to_owned(),
        ),
        (
            json!({"ipFamilies": ["IPv4", "IPv6"]}),
            format!("{multiple} IP families are specified"),
        ),
        (
            json!({"ipFamilies": ["IPv4", "IPv4"]}),
            "spec.ipFamilies[1]: Duplicate value: \"IPv4\"".to_owned(),
        ),
        (
            json!({"clusterIP": "10.96.0.8", "clusterIPs": ["10.96.0.8", "fd00::1"]}),
            format!(
                "[{multiple} cluster IPs are specified, spec.clusterIPs[1]: Invalid value: [\"10.96.0.8\",\"fd00::1\"]: \
                 IPv6 is not configured on this cluster]"
            ),
        ),
        (
            json!({"clusterIP": "10.96.0.8", "clusterIPs": ["10.96.0.8", "10.96.0.9"]}),
            "spec.clusterIPs: Invalid value: [\"10.96.0.8\",\"10.96.0.9\"]: may specify no more than one IP for each IP \
             family"
                .to_owned(),
        ),
        (
            json!({"clusterIP": "None", "clusterIPs": ["None", "10.96.0.9"]}),
            "spec.clusterIPs: Invalid value: [\"None\",\"10.96.0.9\"]: 'None' must be the first and only value".to_owned(),
        ),
    ] {
        let (code, _, message) = client.post(SERVICES, service(spec.clone())).await.refusal();
        let expected = format!("Service \"s\" is invalid: {expected}");
        assert_eq!((code, message), (422, expected), "{spec}");
    }
    // Without a selector and an address, it may have endpoints of both families.
    for (spec, expected) in [
        (json!({"clusterIP": "None"}), json!(["IPv4", "IPv6"])),
        (
            json!({"clusterIP": "None", "ipFamilies": ["IPv6"]}),
            json!(["IPv6", "IPv4"]),
        ),
        (
            json!({"clusterIP": "None", "ipFamilyPolicy": "SingleStack"}),
            json!(["IPv4"]),
        ),
        (json!({"ipFamilyPolicy": "PreferDualStack"}), json!(["IPv4"])),
    ] {
        let made = client
            .post(&format!("{SERVICES}?dryRun=All"), service(spec.clone()))
            .await
            .ok();
        assert_eq!(made["spec"]["ipFamilies"], expected, "{spec}");
    }
}

#[tokio::test]
async fn a_pod_has_the_priority_of_its_class() {
    let client = Client::empty();
    let pod = |name: &str, class: &str| {
        let spec = json!({"priorityClassName": class, "containers": [{"name": "c", "image": "i"}]});
        json!({"metadata": {"name": name}, "spec": spec})
    };
    let made = client.post(PODS, pod("a", "system-node-critical")).await.ok();
    assert_eq!(made["spec"]["priority"], 2_000_001_000);
    let (code, _, message) = client.post(PODS, pod("b", "none")).await.refusal();
    assert_eq!(
        (code, message.as_str()),
        (
            403,
            "pods \"b\" is forbidden: no PriorityClass with name none was found"
        )
    );
    let classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
    let class = json!({"metadata": {"name": "usual"}, "value": 7, "globalDefault": true, "preemptionPolicy": "Never"});
    client.post(classes, class).await.ok();
    let made = client.post(PODS, pod("c", "")).await.ok();
    let spec = ["priority", "priorityClassName", "preemptionPolicy"].map(|field| made["spec"][field].clone());
    assert_eq!(spec, [json!(7), json!("usual"), json!("Never")]);
}

#[tokio::test]
async fn an_event_of_the_core_group_may_be_old_and_new() {
    let client = Client::empty();
    let event = json!({
        "metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}, "type": "Anything",
        "reason": "r", "action": "a", "reportingComponent": "c", "reportingInstance": "i", "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:00:00Z", "count": 1, "eventTime": "2026-01-01T00:00:00.000000Z",
    });
    client.post("/api/v1/namespaces/default/events", event).await.ok();
}

#[tokio::test]
async fn small_things_are_taken_or_refused_as_elsewhere() {
    let client = Client::empty();
    let mut object = map(json!({"name": "a"}));
    object["apiVersion"] = "/v1".into();
    client.post(CONFIGMAPS, object).await.ok();
    let node = json!({"metadata": {"name": "n", "namespace": "default"}});
    let node = client.post("/api/v1/nodes", node).await.ok();
    assert_eq!(node["metadata"].get("namespace"), None);
    let (code, _, message) = client.get(&format!("{CONFIGMAPS}/a?export=true")).await.refusal();
    assert_eq!(
        (code, message.as_str()),
        (
            400,
            "the export parameter, deprecated since v1.14, is no longer supported"
        )
    );
    let verbose = client.send(Method::GET, "/livez?verbose", &[], "").await;
    assert_eq!(verbose.body, "[+]ping ok\nlivez check passed\n");
    let verbs = client.get("/api/v1").await.ok();
    let mut resources = verbs["resources"].as_array().unwrap().iter();
    let namespaces = resources
        .find(|resource| resource["name"] == "namespaces")
        .unwrap();
    assert!(!namespaces["verbs"].to_string().contains("deletecollection"));
}

#[tokio::test]
async fn what_is_taken_may_be_warned_of() {
    const MERGE: &str = "application/merge-patch+json";
    const ADVICE: &str = "to avoid accidental conflicts with other finalizer writers";
    let client = Client::empty();
    let mut served = version("v1", true);
    served["schema"]["openAPIV3Schema"]["properties"] = json!({
        "port": {"type": "integer", "format": "uint16"}, "other": {"type": "array", "items": {"type": "integer", "format": "uint16"}},
        "count": {"type": "integer", "format": "int32"}, "name": {"type": "string", "format": "int32"},
        "when": {"type": "string", "format": "date-time"}, "any": {"x-kubernetes-preserve-unknown-fields": true, "format": "uri"},
    });
    let made = client.post(DEFINITIONS, definition(&json!([served]))).await;
    let of = |format: &str| format!(r#"299 - "unrecognized format \"{format}\"""#);
    assert_eq!(warnings(&made), [of("int32"), of("uint16")]);
    let path = format!("{DEFINITIONS}/things.example.com");
    let label = json!({"metadata": {"labels": {"a": "b"}}});
    assert_eq!(warnings(&client.patch(&path, MERGE, label).await), [""; 0]);

    let things = "/apis/example.com/v1/things";
    let thing = json!({
        "apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a", "finalizers": ["x", "a.b/c", "a.b"]},
    });
    let made = client.post(things, thing).await;
    let of = |name: &str, more: &str| {
        format!(
            r#"299 - "metadata.finalizers: \"{name}\": prefer a domain-qualified finalizer name{more} {ADVICE}""#
        )
    };
    assert_eq!(warnings(&made), [of("a.b", " including a path (/)"), of("x", "")]);
    let others = json!({"metadata": {"finalizers": ["x", "y"]}});
    let changed = client.patch(&format!("{things}/a"), MERGE, others).await;
    assert_eq!(warnings(&changed), [of("y", "")]);
    let mut map = map(json!({"name": "a", "finalizers": ["orphan"]}));
    map["apiVersion"] = "v1".into();
    assert_eq!(warnings(&client.post(CONFIGMAPS, map).await), [""; 0]);
}

#[tokio::test]
async fn verbs_and_columns_of_definitions_are_as_elsewhere() {
    let client = Client::empty();
    let made = client.post(DEFINITIONS, definition(&json!([version("v1", true)])));
    made.await.ok();
    let listed = client.get("/apis/example.com/v1").await.ok();
    let verbs = [
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "create",
        "update",
        "watch",
    ];
    assert_eq!(listed["resources"][0]["verbs"], json!(verbs));
    let table = client
        .send(
            Method::GET,
            "/apis/example.com/v1/things",
            &[("accept", TABLE)],
            "",
        )
        .await
        .ok();
    let described = |column: usize| {
        table["columnDefinitions"][column]["description"]
            .as_str()
            .unwrap()
    };
    assert!(described(0).starts_with("Name must be unique within a namespace. "));
    assert!(described(1).starts_with("CreationTimestamp is a timestamp "));
}

#[tokio::test]
async fn a_client_is_told_the_address_that_it_asked() {
    let client = Client::empty();
    let asked = client
        .send(Method::GET, "/api", &[("host", "127.0.0.1:6443")], "")
        .await;
    let addresses = json!([{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}]);
    assert_eq!(asked.ok()["serverAddressByClientCIDRs"], addresses);
}

#[tokio::test]
async fn the_first_range_of_a_node_has_a_field_of_its_own() {
    const NODES: &str = "/api/v1/nodes";
    let client = Client::empty();
    let node = |name: &str, spec: &Value| json!({"metadata": {"name": name}, "spec": spec});
    let [v4, v6] = ["10.0.0.0/24", "fd00::/64"];
    let cases = [
        (json!({"podCIDRs": [v4]}), v4, json!([v4])),
        (json!({"podCIDR": v4}), v4, json!([v4])),
        (json!({"podCIDR": v4, "podCIDRs": [v4, v6]}), v4, json!([v4, v6])),
        (json!({"podCIDR": v6, "podCIDRs": [v4, v6]}), v6, json!([v6])),
        (json!({"podCIDR": "", "podCIDRs": [v4]}), v4, json!([v4])),
    ];
    for (n, (spec, first, all)) in cases.iter().enumerate() {
        let created = client.post(NODES, node(&format!("n{n}"), spec)).await.ok();
        let created = &created["spec"];
        assert_eq!(
            (&created["podCIDR"], &created["podCIDRs"]),
            (&json!(first), all),
            "{spec}"
        );
    }
    let families = "may specify no more than one CIDR for each IP family";
    let form = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
    for (spec, why) in [
        (
            json!({"podCIDR": "10.0.0.1/24"}),
            "spec.podCIDRs[0]: Invalid value: \"10.0.0.1/24\": must not have bits set beyond the prefix length".to_owned(),
        ),
        (
            json!({"podCIDRs": [v4, "10.1.0.0/24"]}),
            format!("spec.podCIDRs: Invalid value: [\"{v4}\",\"10.1.0.0/24\"]: {families}"),
        ),
        (
            json!({"podCIDRs": [v4, v6, v4]}),
            format!("spec.podCIDRs: Invalid value: [\"{v4}\",\"{v6}\",\"{v4}\"]: {families}"),
        ),
        (
            json!({"podCIDRs": ["x", v4]}),
            format!(
                "[spec.podCIDRs[0]: Invalid value: \"x\": {form}, spec.podCIDRs: Internal error: invalid PodCIDRs. failed to \
                 check with dual stack with error:invalid CIDR[0]: <nil> (invalid CIDR address: x), \
                 spec.podCIDRs: Invalid value: [\"x\",\"{v4}\"]: {families}]"
            ),
        ),
    ] {
        let (code, _, message) = client.post(NODES, node("n", &spec)).await.refusal();
        assert_eq!((code, message), (422, format!("Node \"n\" is invalid: {why}")));
    }
}

#[tokio::test]
async fn a_node_keeps_its_ranges_and_its_provider() {
    let client = Client::empty();
    let node = json!({"metadata": {"name": "n"}});
    client.post("/api/v1/nodes", node).await.ok();
    let spec = json!({"podCIDRs": ["10.0.0.0/24", "fd00::/64"], "providerID": "a"});
    let path = "/api/v1/nodes/n";
    client.merge(path, json!({"spec": spec})).await.ok();
    // The one follows from the other.
    client.merge(path, json!({"spec": {"podCIDR": null}})).await.ok();
    for (spec, fields) in [
        (json!({"podCIDR": "10.1.0.0/24"}), &["spec.podCIDRs"][..]),
        (json!({"podCIDR": null, "podCIDRs": null}), &["spec.podCIDRs"]),
        (
            json!({"podCIDR": "10.1.0.0/24", "podCIDRs": ["10.1.0.0/24", "fd01::/64"]}),
            &["spec.podCIDRs", "spec.podCIDRs"],
        ),
        (json!({"providerID": null}), &["spec.providerID"]),
        (
            json!({"podCIDRs": ["10.0.0.0/24"], "providerID": "b"}),
            &["spec.podCIDRs", "spec.providerID"],
        ),
    ] {
        let refused = client.merge(path, json!({"spec": spec})).await;
        assert_eq!(refused.refused_fields(), fields);
    }
}
