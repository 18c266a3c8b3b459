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

/// What is written as null if it is not there.
fn nulls() -> Case {
    const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles";
    const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices";
    const RANGES: &str = "/api/v1/namespaces/{ns}/limitranges";
    const SERVICES: &str = "/api/v1/namespaces/{ns}/services";
    let named = |name: &str, more: &Value| {
        let mut object = json!({"metadata": {"name": name}});
        object
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        object
    };
    let rule = json!([{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]);
    let role = format!("{ROLES}/null");
    let pod = json!({"spec": {"containers": [{"name": "c", "image": "i"}]}});
    let status = |kind: &str, more: Value| {
        let mut condition = json!({"type": kind, "status": "True"});
        condition
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        json!({"status": {"conditions": [condition]}})
    };
    let slice = |more: Value| {
        let mut slice = json!({"addressType": "IPv4"});
        slice
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        slice
    };
    let (pods, of_deployment) = ("/api/v1/namespaces/{ns}/pods", format!("{DEPLOYMENTS}/d"));
    let probed = json!({"lastProbeTime": "2026-01-02T03:04:05Z"});
    Case::new("empties-nulls")
        .ask(post(ROLES, &named("none", &json!({}))).named("a role without rules"))
        .ask(post(ROLES, &named("null", &json!({"rules": null}))).named("a role of which the rules are null"))
        .ask(post(ROLES, &named("empty", &json!({"rules": []}))).named("a role of no rules"))
        .ask(merge(&role, &json!({"rules": null})).named("null again"))
        .ask(merge(&role, &json!({"rules": rule})).named("a rule"))
        .ask(merge(&role, &json!({"rules": null})).named("no rules any more"))
        .ask(put(&role, &named("null", &json!({"rules": []}))).named("an update without rules"))
        .ask(get(&role).named("and how it is stored"))
        .ask(
            post(
                "/apis/rbac.authorization.k8s.io/v1/clusterroles?dryRun=All",
                &named("{ns}", &json!({"rules": null})),
            )
            .named("a cluster role"),
        )
        .ask(post(SLICES, &named("none", &slice(json!({})))).named("a slice without endpoints"))
        .ask(
            post(
                SLICES,
                &named("null", &slice(json!({"endpoints": null, "ports": null}))),
            )
            .named("a slice of nulls"),
        )
        .ask(
            post(
                SLICES,
                &named("empty", &slice(json!({"endpoints": [], "ports": []}))),
            )
            .named("a slice of no endpoints"),
        )
        .ask(post(RANGES, &named("none", &json!({"spec": {}}))).named("a range without limits"))
        .ask(
            post(RANGES, &named("null", &json!({"spec": {"limits": null}})))
                .named("a range of which the limits are null"),
        )
        .ask(post(SERVICES, &named("null", &json!({"spec": {"ports": null}}))).named("ports that are null"))
        .ask(
            post(
                SERVICES,
                &named("none", &json!({"spec": {"ports": null, "clusterIP": "None"}})),
            )
            .named("ports that are null, without an address"),
        )
        .ask(
            post(
                "/apis/storage.k8s.io/v1/csinodes?dryRun=All",
                &named("{ns}", &json!({"spec": {"drivers": null}})),
            )
            .named("drivers that are null"),
        )
        .ask(
            post(
                "/apis/scheduling.k8s.io/v1/priorityclasses?dryRun=All",
                &named("{ns}", &json!({"value": null})),
            )
            .named("a value that is null"),
        )
        .ask(
            post(
                "/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses",
                &named("null", &json!({"spec": {"rules": null, "tls": null}})),
            )
            .named("rules of an ingress that are null"),
        )
        .ask(post(pods, &named("p", &pod)).named("a pod").only(["/kind"]))
        .ask(
            merge(&format!("{pods}/p/status"), &status("Ready", json!({})))
                .named("a condition of a pod")
                .only(["/status"]),
        )
        .ask(
            merge(
                &format!("{pods}/p/status"),
                &status(
                    "Ready",
                    json!({"lastProbeTime": null, "lastTransitionTime": null}),
                ),
            )
            .named("its times are null")
            .only(["/status"]),
        )
        .ask(
            merge(&format!("{pods}/p/status"), &status("Ready", probed))
                .named("a time of probing")
                .only(["/status"]),
        )
        .ask(
            merge(
                &format!("{pods}/p/status"),
                &json!({"status": {"conditions": null}}),
            )
            .named("no conditions")
            .only(["/status"]),
        )
        .ask(
            post(DEPLOYMENTS, &deployment("d", &json!({}), &json!({})))
                .named("a deployment")
                .only(["/kind"]),
        )
        .ask(
            merge(
                &format!("{of_deployment}/status"),
                &status("Available", json!({})),
            )
            .named("a condition of a deployment")
            .only(["/status"]),
        )
        .ask(
            merge("/api/v1/namespaces/{ns}/status", &status("X", json!({})))
                .named("a condition of a namespace")
                .only(["/status"]),
        )
        .ask(
            post(
                LEASES,
                &named(
                    "l",
                    &json!({"spec": {"holderIdentity": "h", "strategy": "Bogus", "preferredHolder": "x"}}),
                ),
            )
            .named("a lease with a strategy"),
        )
        .ask(
            merge(
                &format!("{LEASES}/l"),
                &json!({"spec": {"strategy": "OldestEmulationVersion", "preferredHolder": "y"}}),
            )
            .named("another strategy")
            .only(["/spec"]),
        )
        .ask(
            put(
                &format!("{LEASES}/l"),
                &named("l", &json!({"spec": {"preferredHolder": "y"}})),
            )
            .named("only a preferred holder")
            .only(["/spec", "/message"]),
        )
}

pub(crate) fn cases() -> Vec<Case> {
    vec![creations(), changes(), nulls()]
}
