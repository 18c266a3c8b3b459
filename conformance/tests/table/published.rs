//! What the definitions and manifests that other projects publish rely on: defaults of a status that nobody has written, zeros that
//! templates print, and objects that are wrong in several ways at once.

use serde_json::{Value, json};

use crate::case::{Ask, Case, any, get, merge, post, put};
use crate::objects::{CONFIG_MAPS, DEFINITIONS, PODS};

const THINGS: &str = "/apis/{ns}.example.com/v1/namespaces/{ns}/things";

fn definition(schema: &Value) -> Value {
    json!({
        "metadata": {"name": "things.{ns}.example.com"},
        "spec": {
            "group": "{ns}.example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": schema},
            }],
        },
    })
}

fn defined(name: &str, schema: &Value) -> Case {
    let define = post(DEFINITIONS, &definition(schema))
        .named("define")
        .only(["/kind"]);
    Case::new(name).ask(define).until(get(THINGS), 200)
}

fn thing(name: &str, metadata: &Value, spec: &Value) -> Value {
    let mut thing = json!({"apiVersion": "{ns}.example.com/v1", "kind": "Thing", "metadata": {"name": name}, "spec": spec});
    for (field, value) in metadata.as_object().into_iter().flatten() {
        thing["metadata"][field] = value.clone();
    }
    thing
}

fn apply(path: &str, config: &Value) -> Ask {
    any("PATCH", &format!("{path}?fieldManager=m&force=true"))
        .text(&config.to_string())
        .content_type("application/apply-patch+yaml")
}

/// As Flux and the Gateway API have it: a status that says that nothing has been observed.
fn default_status() -> Case {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"a": {"type": "string"}}},
        "status": {"type": "object", "default": {"observedGeneration": -1}, "properties": {
            "observedGeneration": {"type": "integer"}, "phase": {"type": "string"},
        }},
    }});
    let one = &format!("{THINGS}/one");
    let status = &format!("{one}/status");
    defined("published-status", &schema)
        .ask(post(THINGS, &thing("one", &json!({}), &json!({}))).named("create"))
        .ask(get(one).named("read"))
        .ask(merge(one, &json!({"spec": {"a": "b"}})).named("change the spec"))
        .ask(merge(status, &json!({"status": {"phase": "p"}})).named("write the status"))
        .ask(merge(status, &json!({"status": null})).named("take the status away"))
        .ask(apply(&format!("{THINGS}/two"), &thing("two", &json!({}), &json!({}))).named("apply"))
}

/// Metadata and spec are wrong at once.
fn faults() -> Case {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "maxLength": 3}}},
    }});
    let bad = [
        ("labels", json!({"labels": {"a b": "c"}})),
        ("annotations", json!({"annotations": {"a b": "c"}})),
        ("finalizers", json!({"finalizers": ["a b", "x"]})),
        (
            "owners",
            json!({"ownerReferences": [{"apiVersion": "v1", "kind": "", "name": "n", "uid": "u"}]}),
        ),
    ];
    let mut all = json!({});
    for (_, metadata) in &bad {
        all.as_object_mut()
            .unwrap()
            .extend(metadata.as_object().unwrap().clone());
    }
    let one = &format!("{THINGS}/one");
    let (fits, long) = (&json!({"a": "b"}), &json!({"a": "too long"}));
    let mut case = defined("published-faults", &schema).ask(
        post(THINGS, &thing("one", &json!({}), fits))
            .named("one")
            .only(["/kind"]),
    );
    for (name, metadata) in &bad {
        case = case
            .ask(post(THINGS, &thing("two", metadata, fits)).named(format!("{name}, created")))
            .ask(
                post(THINGS, &thing("two", metadata, long)).named(format!("{name} and a long text, created")),
            )
            .ask(apply(one, &thing("one", metadata, fits)).named(format!("{name}, applied")))
            .ask(
                merge(one, &json!({"metadata": metadata, "spec": long}))
                    .named(format!("{name} and a long text, merged")),
            );
    }
    let nameless = thing("", &all, &json!({}));
    let mut generated = nameless.clone();
    generated["metadata"]["generateName"] = "Bad_".into();
    let maps = &format!("{CONFIG_MAPS}?dryRun=All");
    case.ask(post(THINGS, &thing("Bad_", &all, &json!({}))).named("everything"))
        .ask(post(THINGS, &nameless).named("everything and no name"))
        .ask(
            post(
                maps,
                &json!({"metadata": {"name": "Bad_", "labels": {"a b": "c"}}, "data": {"a b": "c"}}),
            )
            .named("a map"),
        )
        .ask(
            post(
                PODS,
                &json!({"metadata": {"name": "Bad_", "finalizers": ["x"]}, "spec": {"containers": []}}),
            )
            .named("a pod"),
        )
        .ask(
            post(THINGS, &generated)
                .named("a generated name")
                .only(["/details/causes/0", "/code"]),
        )
        .ask(
            post(THINGS, &thing("one", &json!({"generateName": "o"}), fits))
                .named("a name that is taken, and a prefix"),
        )
}

/// What templates print where nothing is given.
fn zeros() -> Case {
    let container = json!({
        "name": "a", "image": "b", "stdin": false, "workingDir": "", "volumeMounts": [{"name": "v", "mountPath": "/x", "readOnly": false, "subPath": ""}],
        "ports": [{"containerPort": 80, "hostPort": 0, "name": ""}],
        "livenessProbe": {"httpGet": {"path": "", "port": 80, "host": ""}, "initialDelaySeconds": 0, "failureThreshold": 0},
    });
    let spec = json!({
        "hostNetwork": false, "nodeName": "", "priorityClassName": "", "serviceAccountName": "", "containers": [container],
        "volumes": [{"name": "v", "emptyDir": {"medium": ""}}],
    });
    let named = |name: &str, path: &str, body: &Value| {
        let mut body = body.clone();
        body["metadata"]["name"] = "{ns}".into();
        post(&format!("{path}?dryRun=All"), &body).named(name)
    };
    let applied = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "{ns}"}, "spec": spec});
    let ports = |port: i64| json!({"addressType": "IPv4", "endpoints": [{"addresses": ["1.2.3.4"]}], "ports": [{"name": "", "port": port}]});
    let slices = "/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices";
    Case::new("published-zeros")
        .ask(named("a pod", PODS, &json!({"spec": spec})).only(["/spec/containers", "/spec/volumes", "/spec/hostNetwork", "/spec/nodeName", "/metadata/managedFields/0/fieldsV1"]))
        .ask(apply(&format!("{PODS}/p"), &applied).named("an applied pod").only(["/spec/containers", "/metadata/managedFields/0/fieldsV1"]))
        .ask(named(
            "a service",
            "/api/v1/namespaces/{ns}/services",
            &json!({"spec": {"clusterIP": "None", "externalName": "", "publishNotReadyAddresses": false, "ports": [{"port": 80, "name": "", "nodePort": 0, "protocol": ""}]}}),
        ))
        .ask(named("a map", CONFIG_MAPS, &json!({"metadata": {"generateName": "", "selfLink": ""}, "immutable": false, "data": {"a": ""}})))
        .ask(named("a secret", "/api/v1/namespaces/{ns}/secrets", &json!({"type": "", "immutable": false, "stringData": {"a": ""}})))
        .ask(named(
            "a claim",
            "/api/v1/namespaces/{ns}/persistentvolumeclaims",
            &json!({"spec": {"volumeName": "", "storageClassName": "", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}),
        ).only(["/spec"]))
        .ask(named(
            "a cron job",
            "/apis/batch/v1/namespaces/{ns}/cronjobs",
            &json!({"spec": {"schedule": "* * * * *", "suspend": false, "concurrencyPolicy": "", "jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "b"}]}}}}}}),
        ))
        .ask(named("an event", "/api/v1/namespaces/{ns}/events", &json!({"involvedObject": {"namespace": "{ns}", "name": "", "uid": ""}, "reason": "", "count": 0, "source": {"component": ""}})))
        .ask(named("a slice with a port of 0", slices, &ports(0)))
        .ask(named("a slice with a large port", slices, &ports(70000)))
}

/// Numbers, nulls and objects in what is written.
fn values() -> Case {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "atomic": {"type": "array", "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            "any": {"x-kubernetes-preserve-unknown-fields": true},
            "port": {"type": "integer", "format": "int32", "maximum": 65535},
            "object": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
        }},
        "status": {"type": "object", "additionalProperties": {"type": "string"}},
    }});
    let one = &format!("{THINGS}/one");
    let spec = |spec: Value| thing("one", &json!({}), &spec);
    let object =
        |kind: &str| json!({"object": {"apiVersion": "v1", "kind": kind, "metadata": {"name": "n"}}});
    defined("published-values", &schema)
        .ask(post(THINGS, &spec(json!({"atomic": [{"percent": 100.0}], "any": {"a": 1.0}}))).named("whole numbers"))
        .ask(
            any("PATCH", &format!("{one}?fieldManager=m"))
                .text(&spec(json!({"atomic": [{"percent": 100.0}]})).to_string())
                .content_type("application/apply-patch+yaml")
                .named("the same, applied"),
        )
        .ask(merge(one, &json!({"spec": {"atomic": [{"a": null, "b": [{"c": null}], "d": [null]}], "any": {"b": {"c": null}}}})).named("nulls in lists"))
        .ask(merge(one, &json!({"spec": {"any": [{"a": null}]}})).named("a list in the place of an object"))
        .ask(apply(&format!("{THINGS}/two"), &thing("two", &json!({}), &json!({"port": null, "any": null}))).named("nulls, applied"))
        .ask(merge(one, &json!({"spec": {"port": 2_147_483_648_i64}})).named("a number that is too large twice"))
        .ask(merge(one, &json!({"spec": object("http://x y")})).named("a kind that is none"))
        .ask(merge(one, &json!({"spec": object("Some")})).named("a kind"))
        .ask(put(&format!("{one}/status"), &json!({"apiVersion": "{ns}.example.com/v1", "kind": "Thing", "metadata": {"name": "one"}})).named("no version"))
}

/// What is wrong within the schemas of a definition.
fn schemas() -> Case {
    let property = |name: &str, query: &str, property: Value| {
        let schema = json!({"type": "object", "properties": {"a": property}});
        post(&format!("{DEFINITIONS}?dryRun=All{query}"), &definition(&schema))
            .named(name)
            .only([
                "/message",
                "/details/causes",
                "/spec/versions/0/schema/openAPIV3Schema",
            ])
    };
    let root = |name: &str, properties: Value| {
        let schema = json!({"type": "object", "properties": properties});
        post(&format!("{DEFINITIONS}?dryRun=All"), &definition(&schema))
            .named(name)
            .only(["/message", "/details/causes"])
    };
    let list = |keys: Value| {
        let items = json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}});
        json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys, "items": items})
    };
    let of_items = |items: Value| json!({"type": "array", "items": items});
    let of_values = |values: Value| json!({"type": "object", "additionalProperties": values});
    let empty = json!({
        "type": "string", "format": "", "description": "", "title": "", "nullable": false, "uniqueItems": false, "enum": [],
        "minLength": 0, "pattern": "", "default": null, "example": null, "x-kubernetes-int-or-string": false,
    });
    Case::new("published-schemas")
        .ask(property("items that are a text", "", of_items(json!("x"))))
        .ask(property("items that are a number", "", of_items(json!(7))))
        .ask(property(
            "a type in items that is a number",
            "",
            of_items(json!({"type": 7})),
        ))
        .ask(property("values that are a text", "", of_values(json!("x"))))
        .ask(property(
            "a description in values that is a number",
            "",
            of_values(json!({"type": "string", "description": 7})),
        ))
        .ask(property(
            "an unknown field",
            "&fieldValidation=Strict",
            json!({"type": "string", "foo": 1}),
        ))
        .ask(property(
            "an unknown field in items",
            "&fieldValidation=Strict",
            of_items(json!({"type": "string", "foo": 1})),
        ))
        .ask(property(
            "an unknown field in values",
            "&fieldValidation=Strict",
            of_values(json!({"type": "string", "foo": 1})),
        ))
        .ask(property("what is empty", "", empty.clone()))
        .ask(property("what is empty in items", "", of_items(empty)))
        .ask(property(
            "unknown fields that are not preserved",
            "",
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": false}),
        ))
        .ask(property("a key that is no property", "", list(json!(["b"]))))
        .ask(property("several of them", "", list(json!(["a", "b", "c"]))))
        .ask(root(
            "metadata that is a text",
            json!({"metadata": {"type": "string"}}),
        ))
        .ask(root("metadata without a type", json!({"metadata": {}})))
}

/// The claims that a StatefulSet makes are volumes of its pods.
fn claims() -> Case {
    let set = |name: &str, claim: Value, container: Value, volumes: Value| {
        let mut of_container =
            json!({"name": "c", "image": "i", "volumeMounts": [{"name": "www", "mountPath": "/x"}]});
        for (field, value) in container.as_object().into_iter().flatten() {
            of_container[field] = value.clone();
        }
        let claim_spec =
            json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
        let body = json!({"metadata": {"name": "s"}, "spec": {
            "serviceName": "x", "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [of_container], "volumes": volumes}},
            "volumeClaimTemplates": [{"metadata": {"name": claim}, "spec": claim_spec}],
        }});
        post("/apis/apps/v1/namespaces/{ns}/statefulsets?dryRun=All", &body)
            .named(name)
            .only(["/message", "/details/causes", "/spec/template/spec/volumes"])
    };
    let device = json!({"volumeMounts": [], "volumeDevices": [{"name": "www", "devicePath": "/dev/x"}]});
    let empty = |names: &[&str]| {
        names
            .iter()
            .map(|name| json!({"name": name, "emptyDir": {}}))
            .collect::<Value>()
    };
    Case::new("published-claims")
        .ask(set("a mounted claim", json!("www"), json!({}), json!([])))
        .ask(set("a claim as a device", json!("www"), device, json!([])))
        .ask(set("another claim", json!("other"), json!({}), json!([])))
        .ask(set(
            "a claim and a volume of its name",
            json!("www"),
            json!({}),
            empty(&["www"]),
        ))
        .ask(set(
            "volumes of one name after a claim",
            json!("www"),
            json!({}),
            empty(&["a", "a"]),
        ))
        .ask(set("a claim of a bad name", json!("A_"), json!({}), json!([])))
        .ask(set("a claim without a name", json!(""), json!({}), json!([])))
        .ask(set(
            "a mount without a path",
            json!("www"),
            json!({"volumeMounts": [{"name": "www", "mountPath": ""}]}),
            json!([]),
        ))
}

pub(crate) fn cases() -> Vec<Case> {
    vec![default_status(), faults(), zeros(), values(), schemas(), claims()]
}
