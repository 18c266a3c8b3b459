//! What differs from kind to kind: whether generations are counted, what a deletion answers, defaults, warnings.

use serde_json::{Value, json};

use crate::case::{Case, delete, delete_with, get, merge, post};

/// A collection, the rest of an object in it, and a change that is more than one of metadata.
fn kinds() -> Vec<(&'static str, Value, Value)> {
    let template = |image: &str| json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": image}]}});
    let slice = |port: u16| json!({"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}], "ports": [{"port": port}]});
    let pool = |generation: u64| {
        let pool = json!({"name": "p", "generation": generation, "resourceSliceCount": 1});
        json!({"spec": {"driver": "a.example", "nodeName": "n", "pool": pool}})
    };
    let device = json!({"name": "a", "exactly": {"deviceClassName": "c"}});
    let claim = json!({"devices": {"requests": [device]}});
    let class = |value: &str| json!({"driverName": "a.example", "parameters": {"a": value}});
    let level = |shares: Value| {
        let limited = json!({"limitResponse": {"type": "Reject"}, "nominalConcurrencyShares": shares});
        json!({"spec": {"type": "Limited", "limited": limited}})
    };
    let flow = |level: &str| json!({"spec": {"priorityLevelConfiguration": {"name": level}}});
    vec![
        (
            "/api/v1/namespaces/{ns}/podtemplates",
            json!({"template": template("i")}),
            json!({"template": template("j")}),
        ),
        (
            "/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices",
            slice(1),
            slice(2),
        ),
        (
            "/apis/networking.k8s.io/v1/ingressclasses",
            json!({"spec": {"controller": "a.example/c"}}),
            json!({"spec": {"parameters": {"kind": "K", "name": "n"}}}),
        ),
        (
            "/apis/networking.k8s.io/v1/servicecidrs",
            json!({"spec": {"cidrs": ["10.201.0.0/24"]}}),
            json!({}),
        ),
        (
            "/apis/storage.k8s.io/v1/csidrivers",
            json!({"spec": {}}),
            json!({"spec": {"podInfoOnMount": true}}),
        ),
        (
            "/apis/storage.k8s.io/v1/storageclasses",
            json!({"provisioner": "a.example/c"}),
            json!({}),
        ),
        (
            "/apis/storage.k8s.io/v1/volumeattributesclasses",
            class("b"),
            json!({}),
        ),
        (
            "/apis/resource.k8s.io/v1/deviceclasses",
            json!({"spec": {}}),
            json!({"spec": {"selectors": [{"cel": {"expression": "true"}}]}}),
        ),
        ("/apis/resource.k8s.io/v1/resourceslices", pool(1), pool(2)),
        (
            "/apis/resource.k8s.io/v1/namespaces/{ns}/resourceclaims",
            json!({"spec": claim}),
            json!({}),
        ),
        (
            "/apis/resource.k8s.io/v1/namespaces/{ns}/resourceclaimtemplates",
            json!({"spec": {"spec": claim}}),
            json!({}),
        ),
        (
            "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
            flow("kinds-none"),
            flow("kinds-other"),
        ),
        (
            "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
            level(Value::Null),
            level(json!(7)),
        ),
    ]
}

fn of_kind((path, rest, change): (&'static str, Value, Value)) -> Case {
    let plural = path.rsplit('/').next().unwrap_or_default();
    let name = format!("kinds-{plural}");
    let mut object = rest;
    object["metadata"] = json!({"name": name});
    let one = format!("{path}/{name}");
    let shown = ["/metadata/generation", "/spec", "/message", "/details"];
    let labelled = json!({"metadata": {"labels": {"a": "b"}}});
    Case::new(&name)
        .ask(post(path, &object).named("create").only(shown))
        .ask(merge(&one, &labelled).named("a label").only(shown))
        .ask(merge(&one, &change).named("a change").only(shown))
        .ask(
            delete_with(&one, &json!({"preconditions": {"uid": "other"}}))
                .named("delete another")
                .only(["/details/group", "/details/kind"]),
        )
        .ask(
            delete(&format!("{one}?dryRun=All"))
                .named("try to delete")
                .only(["/kind", "/status"]),
        )
        .ask(delete(&one).named("delete").only(["/kind"]))
}

fn events() -> Case {
    let path = "/api/v1/namespaces/{ns}/events";
    let event = json!({
        "metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "p", "namespace": "{ns}"}, "reason": "r",
        "type": "Normal",
    });
    let at = json!({"lastTimestamp": "2020-01-01T00:00:00Z", "firstTimestamp": null});
    Case::new("kinds-events")
        .ask(post(path, &event).named("an event without times"))
        .ask(get(&format!("{path}/e")).named("get it"))
        .ask(merge(&format!("{path}/e"), &at).named("a time"))
}

fn status_of_deployments() -> Case {
    let path = "/apis/apps/v1/namespaces/{ns}/deployments";
    let template =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let deployment = json!({"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}});
    let noted = json!({"metadata": {"annotations": {"a": "b"}}, "status": {}});
    let generation = ["/metadata/generation", "/metadata/annotations"];
    Case::new("kinds-deployments")
        .ask(post(path, &deployment).named("create").only(generation))
        .ask(
            merge(&format!("{path}/d/status"), &noted)
                .named("an annotation by the status")
                .only(generation),
        )
        .ask(
            merge(
                &format!("{path}/d"),
                &json!({"metadata": {"annotations": {"c": "d"}}}),
            )
            .named("an annotation")
            .only(generation),
        )
}

fn leases() -> Case {
    let path = "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases";
    let lease = |what: &str, name: &str, time: &str| {
        let lease = json!({"metadata": {"name": name}, "spec": {"holderIdentity": "a", "renewTime": time}});
        post(path, &lease).named(what).only(["/spec", "/message"])
    };
    let zone = "2024-01-01T00:00:00.123456+01:00";
    Case::new("kinds-leases")
        .ask(lease("a time", "a", "2024-01-01T00:00:00.123456Z"))
        .ask(lease("a time of a zone", "b", zone))
        .ask(lease(
            "a time without parts of a second",
            "c",
            "2024-01-01T00:00:00Z",
        ))
        .ask(lease("a time with few digits", "d", "2024-01-01T00:00:00.123Z"))
        .ask(lease(
            "a time with many digits",
            "e",
            "2024-01-01T00:00:00.1234567Z",
        ))
        .ask(lease("no time", "f", "soon"))
}

fn definitions() -> Case {
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let definition = |name: &str| {
        let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}});
        json!({"metadata": {"name": name}, "spec": {
            "group": "kinds.example.com", "scope": "Namespaced", "names": {"plural": "shirts", "kind": "Shirt"}, "versions": [version],
        }})
    };
    let shown = [
        "/spec/conversion",
        "/spec/names",
        "/metadata/managedFields/0/fieldsV1",
        "/message",
        "/details",
    ];
    let name = "shirts.kinds.example.com";
    Case::new("kinds-definitions")
        .ask(
            post(path, &definition("x.kinds.example.com"))
                .named("of another name")
                .only(shown),
        )
        .ask(
            post(&format!("{path}?dryRun=All"), &definition(name))
                .named("with defaults")
                .only(shown),
        )
}

fn rules() -> Case {
    let review = json!({"spec": {"namespace": "{ns}"}});
    let path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    Case::new("kinds-rules").ask(post(path, &review).named("rules").only(["/metadata", "/spec"]))
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases: Vec<_> = kinds().into_iter().map(of_kind).collect();
    cases.extend([
        events(),
        status_of_deployments(),
        leases(),
        definitions(),
        rules(),
    ]);
    cases
}
