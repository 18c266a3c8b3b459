//! What is wrong with metadata, told in full: with that of objects, and with that of objects within a custom resource. And with names.

use serde_json::{Value, json};

use crate::case::{Case, get, json_patch, merge, post};
use crate::objects::{CONFIG_MAPS, DEFINITIONS, PODS};
use crate::schemas::{THINGS, definition_of};

const SERVICES: &str = "/api/v1/namespaces/{ns}/services";

/// Metadata with faults, with what is shown of each.
fn faulty() -> Vec<(&'static str, Value)> {
    let long = |what: &str| what.repeat(70);
    let owner =
        |name: &str| json!({"apiVersion": "v1", "kind": "A", "name": name, "uid": name, "controller": true});
    vec![
        ("a key of many parts", json!({"labels": {"a/b/c": "x"}})),
        (
            "a long key and value",
            json!({"labels": {format!("A_/{}", long("_")): long("-")}}),
        ),
        ("a key of a slash", json!({"labels": {"/": ""}})),
        (
            "a long prefix",
            json!({"labels": {format!("{}/x", "_".repeat(260)): ""}}),
        ),
        (
            "a long key of an annotation",
            json!({"annotations": {format!("A_/-{}", long("_")): "-"}}),
        ),
        (
            "large annotations",
            json!({"annotations": {"-": "x".repeat(256 * 1024)}}),
        ),
        (
            "an owner of nothing",
            json!({"ownerReferences": [{"apiVersion": "", "kind": "", "name": "", "uid": ""}]}),
        ),
        (
            "an owner that is an event",
            json!({"ownerReferences": [{"apiVersion": "v1", "kind": "Event", "name": "a", "uid": "u"}]}),
        ),
        (
            "three controllers",
            json!({"ownerReferences": [owner("a"), owner("b"), owner("c")]}),
        ),
        (
            "an owner of too many parts",
            json!({"ownerReferences": [{"apiVersion": "a/b/c", "kind": "x", "name": "n", "uid": "u"}]}),
        ),
        (
            "an owner of no version",
            json!({"ownerReferences": [{"apiVersion": "a/", "kind": "x", "name": "n", "uid": "u"}]}),
        ),
        (
            "finalizers",
            json!({"finalizers": ["a", "a/b/c", "-", "orphan", "foregroundDeletion"]}),
        ),
        (
            "a long finalizer",
            json!({"finalizers": [format!("a/{}", long("-"))]}),
        ),
    ]
}

fn embedded() -> Case {
    let more = [
        ("a name", json!({"name": "a/b%c"})),
        ("a name of dots", json!({"name": ".."})),
        ("a generated name", json!({"generateName": "a/b%"})),
        ("a long namespace", json!({"namespace": "A".repeat(70)})),
        ("a namespace with dots", json!({"namespace": "a.b"})),
        (
            "a long namespace with dots",
            json!({"namespace": format!("{}a", "a.".repeat(40))}),
        ),
        ("a generation", json!({"generation": -3})),
        (
            "managers",
            json!({"managedFields": [{"operation": "X", "fieldsType": "Y", "manager": format!("a\tb{}", "x".repeat(200)), "subresource": "s".repeat(300)}, {}]}),
        ),
        (
            "all of it",
            json!({
                "name": "a/b%", "namespace": "A", "generation": -1, "labels": {"-": "-"}, "annotations": {"-": "-"},
                "ownerReferences": [{}], "finalizers": ["-"], "managedFields": [{}],
            }),
        ),
    ];
    let within = more.into_iter().chain(faulty());
    let within = within.map(|(name, metadata)| {
        (
            name,
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata}),
        )
    });
    let types = [
        ("a long kind", json!({"apiVersion": "v1", "kind": "_".repeat(70)})),
        ("a kind with a dot", json!({"apiVersion": "v1", "kind": "Pod.x"})),
    ];
    let object = json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true});
    let schema = json!({"type": "object", "properties": {"object": object}});
    let asks = within.chain(types).map(|(name, object)| {
        let thing = json!({"apiVersion": "{ns}.example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "object": object});
        post(THINGS, &thing).named(name)
    });
    Case::new("metadata-embedded")
        .ask(
            post(DEFINITIONS, &definition_of(schema))
                .named("define")
                .only(["/kind"]),
        )
        .until(get(THINGS), 200)
        .asks(asks)
}

fn own() -> Case {
    let named = |name: &str, metadata: &Value| {
        let mut metadata = metadata.clone();
        metadata["name"] = name.into();
        json!({"metadata": metadata})
    };
    let mut case = Case::new("metadata-own").ask(
        post(CONFIG_MAPS, &named("old", &json!({})))
            .named("old")
            .only(["/kind"]),
    );
    for (what, metadata) in faulty() {
        case = case
            .ask(post(CONFIG_MAPS, &named("new", &metadata)).named(format!("new: {what}")))
            .ask(
                merge(&format!("{CONFIG_MAPS}/old"), &json!({"metadata": metadata}))
                    .named(format!("old: {what}")),
            );
    }
    let long = [
        "A".repeat(70),
        format!("{}a", "a.".repeat(40)),
        format!("A_{}", "b".repeat(300)),
    ];
    for name in long {
        let object = json!({"metadata": {"name": name}});
        case = case.ask(post("/api/v1/namespaces", &object).named(format!("a namespace {name}")));
    }
    let long = json!({"metadata": {"name": format!("A_{}", "b".repeat(300))}});
    let role = json!({"metadata": {"name": "a/b%"}});
    case.ask(post(CONFIG_MAPS, &long).named("a long name"))
        .ask(post("/apis/rbac.authorization.k8s.io/v1/clusterroles", &role).named("a role"))
}

/// Owners that are there twice, which are kept once.
fn owners() -> Case {
    let owner = |uid: &str| json!({"apiVersion": "v1", "kind": "Node", "name": "n", "uid": uid});
    let twice = json!([owner("u"), owner("a"), owner("a"), owner("u"), owner("u")]);
    let path = format!("{CONFIG_MAPS}/a");
    let with = |owners: &Value| json!({"metadata": {"name": "a", "ownerReferences": owners}});
    let mut unknown = owner("u");
    unknown["bogus"] = 1.into();
    Case::new("metadata-owners")
        .ask(post(&format!("{CONFIG_MAPS}?dryRun=All"), &with(&twice)).named("create"))
        .ask(
            post(
                &format!("{CONFIG_MAPS}?dryRun=All"),
                &with(&json!([owner("u"), unknown])),
            )
            .named("with an unknown field"),
        )
        .ask(
            post(CONFIG_MAPS, &json!({"metadata": {"name": "a"}}))
                .named("none")
                .only(["/kind"]),
        )
        .ask(merge(&format!("{path}?dryRun=All"), &with(&twice)).named("patch"))
        .ask(
            json_patch(
                &format!("{path}?dryRun=All"),
                &json!([{"op": "add", "path": "/metadata/ownerReferences", "value": twice}]),
            )
            .named("JSON patch"),
        )
}

/// Names in specs that are too long and have the wrong form.
fn names() -> Case {
    let (short, long) = ("_".repeat(70), "_".repeat(260));
    let with = |more: Value| {
        let mut spec = json!({"containers": [{"name": "c", "image": "i"}]});
        spec.as_object_mut()
            .expect("an object")
            .extend(more.as_object().cloned().unwrap_or_default());
        json!({"spec": spec})
    };
    let container = |more: Value| {
        let mut container = json!({"name": "c", "image": "i"});
        container
            .as_object_mut()
            .expect("an object")
            .extend(more.as_object().cloned().unwrap_or_default());
        with(json!({"containers": [container]}))
    };
    let term =
        json!({"topologyKey": short, "namespaces": [short], "labelSelector": {"matchLabels": {"a": short}}});
    let template =
        json!({"metadata": {"labels": {"a": short}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let subjects = json!([{"kind": "ServiceAccount", "name": long, "namespace": "a"}]);
    let reference = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a/%"});
    let names = json!({"plural": short, "singular": short, "kind": short, "listKind": "A", "shortNames": [short], "categories": [short]});
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}});
    let client = json!({"service": {"name": "a", "namespace": "b", "path": format!("/{long}")}});
    let constraints = json!({"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"], "resourceNames": ["a/%"]}]});
    let kind = json!({"apiVersion": format!("{long}/{short}"), "kind": short});
    let all = [
        ("a container", PODS, container(json!({"name": short}))),
        (
            "a volume",
            PODS,
            with(json!({"volumes": [{"name": short, "emptyDir": {}}]})),
        ),
        (
            "a host",
            PODS,
            with(json!({"hostname": short, "subdomain": short})),
        ),
        ("an account", PODS, with(json!({"serviceAccountName": long}))),
        ("a node", PODS, with(json!({"nodeName": long}))),
        (
            "a secret",
            PODS,
            with(json!({"imagePullSecrets": [{"name": long}]})),
        ),
        (
            "a toleration",
            PODS,
            with(json!({"tolerations": [{"key": "a", "value": short}]})),
        ),
        (
            "an affinity",
            PODS,
            with(
                json!({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}),
            ),
        ),
        (
            "variables",
            PODS,
            container(json!({"envFrom": [{"configMapRef": {"name": long}}]})),
        ),
        (
            "a topology",
            PODS,
            with(
                json!({"topologySpreadConstraints": [{"maxSkew": 0, "topologyKey": short, "whenUnsatisfiable": "DoNotSchedule"}]}),
            ),
        ),
        (
            "a driver",
            PODS,
            with(json!({"volumes": [{"name": "a", "csi": {"driver": format!("{short}A")}}]})),
        ),
        (
            "a selector",
            "/apis/apps/v1/namespaces/{ns}/deployments",
            json!({"spec": {"selector": {"matchLabels": {"a": short}}, "template": template}}),
        ),
        (
            "ports",
            SERVICES,
            json!({"spec": {"ports": [{"name": short, "port": 1}, {"name": short, "port": 2}]}}),
        ),
        (
            "an external name",
            SERVICES,
            json!({"spec": {"type": "ExternalName", "externalName": long}}),
        ),
        (
            "a class of balancers",
            SERVICES,
            json!({"spec": {"type": "LoadBalancer", "loadBalancerClass": short, "ports": [{"port": 1}]}}),
        ),
        (
            "a binding",
            "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/rolebindings",
            json!({"roleRef": reference, "subjects": subjects}),
        ),
        (
            "webhooks",
            "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
            json!({"webhooks": [{
                "name": long, "sideEffects": "None", "admissionReviewVersions": ["v1", short], "clientConfig": client,
            }]}),
        ),
        (
            "a policy",
            "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
            json!({"spec": {
                "paramKind": kind, "matchConstraints": constraints, "validations": [{"expression": "true"}],
            }}),
        ),
        (
            "a definition",
            DEFINITIONS,
            json!({"spec": {"group": long, "scope": "Namespaced", "names": names, "versions": [version]}}),
        ),
        (
            "a node's taint",
            "/api/v1/nodes",
            json!({"spec": {"taints": [{"key": short, "value": short, "effect": "NoSchedule"}]}}),
        ),
    ];
    let asks = all.into_iter().map(|(what, path, mut object)| {
        object["metadata"] = json!({"name": "names-{ns}"});
        post(path, &object).named(what)
    });
    Case::new("metadata-names")
        .asks(asks)
        .ask(get(&format!("{PODS}?labelSelector=a%3D{short}")).named("a list"))
}

pub(crate) fn cases() -> Vec<Case> {
    vec![embedded(), own(), owners(), names()]
}
