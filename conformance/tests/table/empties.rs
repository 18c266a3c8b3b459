//! Lists and maps without items, and structs that are null: a client that compares what it sent with what is stored sees them.

use crate::case::{Ask, Case, any, get, json_patch, merge, post, put};
use serde_json::{Value, json};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/{ns}/deployments";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases";
const MAPS: &str = "/api/v1/namespaces/{ns}/configmaps";
const QUOTAS: &str = "/api/v1/namespaces/{ns}/resourcequotas";

fn deployment(name: &str, container: &Value, pod: &Value) -> Value {
    let mut template = json!({"metadata": {"labels": {"a": "b"}}, "spec": pod});
    template["spec"]["containers"] = json!([{"name": "c", "image": "i"}]);
    let given = container.as_object().into_iter().flatten();
    for (name, value) in given {
        template["spec"]["containers"][0][name] = value.clone();
    }
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {"replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": template},
    })
}

fn apply(path: &str, config: &Value) -> Ask {
    any("PATCH", &format!("{path}?fieldManager=m"))
        .text(&config.to_string())
        .content_type("application/apply-patch+yaml")
}

fn of_creation(name: &str, path: &str, body: &Value) -> Ask {
    let mut body = body.clone();
    body["metadata"] = json!({"name": "{ns}"});
    post(path, &body).named(format!("a {name}"))
}

fn creations() -> Case {
    let lists = json!({"env": [], "args": [], "ports": [], "volumeMounts": [], "envFrom": []});
    let maps = json!({"resources": {"limits": {}, "requests": {}}, "securityContext": {}});
    let nulls = json!({"resources": null, "securityContext": null, "env": null});
    let of_pod = json!({"nodeSelector": {}, "tolerations": [], "volumes": [], "securityContext": {}, "initContainers": []});
    Case::new("empties-creations")
        .ask(post(DEPLOYMENTS, &deployment("lists", &lists, &json!({}))).named("lists of a container"))
        .ask(post(DEPLOYMENTS, &deployment("maps", &maps, &json!({}))).named("maps of a container"))
        .ask(post(DEPLOYMENTS, &deployment("nulls", &nulls, &json!({}))).named("nulls of a container"))
        .ask(post(DEPLOYMENTS, &deployment("pod", &json!({}), &of_pod)).named("what is empty in a pod"))
        .ask(of_creation("lease", LEASES, &json!({"spec": null})))
        .ask(of_creation("map", MAPS, &json!({"data": {}, "binaryData": {}})))
        .ask(of_creation(
            "secret",
            "/api/v1/namespaces/{ns}/secrets",
            &json!({"data": {}, "stringData": {}}),
        ))
        .ask(of_creation("quota", QUOTAS, &json!({"spec": {"hard": {}, "scopes": []}})))
        .ask(of_creation(
            "service",
            "/api/v1/namespaces/{ns}/services",
            &json!({"spec": {"clusterIP": "None", "selector": {}, "ports": [{"port": 1}], "externalIPs": []}}),
        ))
        .ask(of_creation(
            "policy",
            "/apis/networking.k8s.io/v1/namespaces/{ns}/networkpolicies",
            &json!({"spec": {"podSelector": {"matchLabels": {}, "matchExpressions": []}, "ingress": [], "egress": []}}),
        ))
        .ask(of_creation(
            "storage class",
            "/apis/storage.k8s.io/v1/storageclasses",
            &json!({"provisioner": "p", "parameters": {}, "mountOptions": []}),
        ))
        .ask(of_creation(
            "runtime class",
            "/apis/node.k8s.io/v1/runtimeclasses",
            &json!({"handler": "h", "overhead": {"podFixed": {}}, "scheduling": {"nodeSelector": {}, "tolerations": []}}),
        ))
        .ask(of_creation(
            "limit range",
            "/api/v1/namespaces/{ns}/limitranges",
            &json!({"spec": {"limits": [{"type": "Container", "max": {}, "default": {}}]}}),
        ))
        .ask(of_creation(
            "job",
            "/apis/batch/v1/namespaces/{ns}/jobs",
            &json!({"spec": {"suspend": true, "template": {
                "metadata": {"annotations": {}, "finalizers": []},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]},
            }}}),
        ).only(["/spec/template/metadata/annotations", "/spec/template/metadata/finalizers", "/spec/template/spec"]))
        .ask(of_creation(
            "budget",
            "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets",
            &json!({"spec": {"selector": {"matchLabels": {}}, "minAvailable": 1}}),
        ))
}

fn changes() -> Case {
    let (map, lease, d) = (
        format!("{MAPS}/m"),
        format!("{LEASES}/l"),
        format!("{DEPLOYMENTS}/d"),
    );
    let full = json!({
        "resources": {"limits": {"cpu": "1"}}, "env": [{"name": "A", "value": "1"}], "securityContext": {"runAsUser": 1},
    });
    let empty = json!({"resources": {}, "env": [], "securityContext": {}});
    let of_lease = |spec: Value| json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}, "spec": spec});
    Case::new("empties-changes")
        .ask(post(MAPS, &json!({"metadata": {"name": "m"}, "data": {"a": "1"}})).named("a map"))
        .ask(json_patch(&map, &json!([{"op": "remove", "path": "/data/a"}])).named("its last item goes"))
        .ask(merge(&map, &json!({"data": {}})).named("no items, by a patch"))
        .ask(put(&map, &json!({"metadata": {"name": "m"}, "data": {}})).named("no items, by an update"))
        .ask(apply(&lease, &of_lease(json!({"holderIdentity": "h"}))).named("a lease"))
        .ask(apply(&lease, &of_lease(json!({}))).named("nothing in it"))
        .ask(merge(&lease, &json!({"spec": null})).named("a null for it"))
        .ask(
            apply(&d, &deployment("d", &full, &json!({"nodeSelector": {"a": "b"}})))
                .named("a full container"),
        )
        .ask(apply(&d, &deployment("d", &empty, &json!({"nodeSelector": {}}))).named("an empty container"))
        .ask(get(&d).named("and how it is stored"))
        .ask(
            apply(
                &d,
                &deployment("d", &json!({"resources": {"limits": {}}}), &json!({})),
            )
            .named("limits without items"),
        )
        .ask(
            merge(
                &d,
                &json!({"spec": {"strategy": null, "template": {"spec": {"securityContext": null}}}}),
            )
            .named("nulls"),
        )
}

pub(crate) fn cases() -> Vec<Case> {
    vec![creations(), changes()]
}
