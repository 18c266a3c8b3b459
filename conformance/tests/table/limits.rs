//! LimitRanges and ResourceQuotas. The status of a quota, which a controller writes, is written by the case.

use crate::case::{Ask, Case, any, delete, get, merge, post, put};
use crate::objects::{CONFIG_MAPS, SECRETS};
use serde_json::{Value, json};

const RANGES: &str = "/api/v1/namespaces/{ns}/limitranges";
const QUOTAS: &str = "/api/v1/namespaces/{ns}/resourcequotas";
const PODS: &str = "/api/v1/namespaces/{ns}/pods";
const SERVICES: &str = "/api/v1/namespaces/{ns}/services";
const CLAIMS: &str = "/api/v1/namespaces/{ns}/persistentvolumeclaims";
const CRON_JOBS: &str = "/apis/batch/v1/namespaces/{ns}/cronjobs";

fn range(name: &str, limits: Value) -> Ask {
    post(
        RANGES,
        &json!({"metadata": {"name": name}, "spec": {"limits": limits}}),
    )
    .named(format!("range {name}"))
}

/// A pod with a container for each of the resources; its name is also the row's.
fn pod(name: &str, resources: Value) -> Ask {
    let containers: Vec<Value> = resources
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
        .map(|(index, resources)| json!({"name": format!("c{index}"), "image": "i", "resources": resources}))
        .collect();
    pod_of(name, json!({"containers": containers}))
}

fn pod_of(name: &str, spec: Value) -> Ask {
    post(PODS, &json!({"metadata": {"name": name}, "spec": spec})).named(format!("pod {name}"))
}

fn claim(name: &str, storage: &str, class: Value) -> Ask {
    let spec = json!({
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}, "storageClassName": class,
    });
    post(CLAIMS, &json!({"metadata": {"name": name}, "spec": spec}))
        .named(format!("claim {name}"))
        .only(["/message", "/spec/resources"])
}

/// What no other request notices is noticed when a pod of a dry run shows it.
fn defaults() -> Case {
    let seen = [
        "/spec/containers",
        "/spec/initContainers",
        "/metadata/annotations",
        "/metadata/managedFields",
        "/status/qosClass",
    ];
    Case::new("limits-defaults")
        .ask(range("defaults", json!([
            {"type": "Container", "default": {"cpu": "1", "memory": "512Mi"}, "defaultRequest": {"cpu": "100m"}},
            {"type": "Pod", "max": {"cpu": "8"}},
        ])))
        .ask(pod("bare", json!([{}])).only(seen))
        .ask(pod("some", json!([{"limits": {"cpu": "2"}}, {"requests": {"memory": "1Gi"}, "limits": {"memory": "1Gi"}}])).only(seen))
        .ask(pod("full", json!([{"limits": {"cpu": "1", "memory": "1Gi"}}])).only(seen))
        .ask(
            pod_of("init", json!({
                "initContainers": [{"name": "i", "image": "i"}], "containers": [{"name": "c", "image": "i"}],
            }))
            .only(seen),
        )
        .ask(merge(&format!("{PODS}/bare"), &json!({"metadata": {"labels": {"a": "b"}}})).named("a label").only(["/spec/containers"]))
        .ask(get(&format!("{RANGES}/defaults")))
}

/// What a pod that is resized gets if it does not say. The pods were there before the range.
fn defaults_of_resized() -> Case {
    let only = ["/message", "/spec/containers", "/metadata/annotations"];
    let resize = |name: &str, resources: Value| {
        let containers = json!([{"name": "c0", "resources": resources}]);
        any("PATCH", &format!("{PODS}/{name}/resize"))
            .text(&json!({"spec": {"containers": containers}}).to_string())
            .content_type("application/strategic-merge-patch+json")
            .named(format!("resize {name} to {resources}"))
            .only(only)
    };
    Case::new("limits-resized")
        .ask(pod("bare", json!([{}])).only(only))
        .ask(pod("asks", json!([{"requests": {"cpu": "100m"}}])).only(only))
        .ask(range("later", json!([{
            "type": "Container", "default": {"cpu": "500m", "memory": "128Mi"},
            "defaultRequest": {"cpu": "250m", "memory": "64Mi"}, "max": {"cpu": "1", "memory": "1Gi"}, "min": {"cpu": "10m"},
        }])))
        .until(
            post(&format!("{PODS}?dryRun=All"), &json!({
                "metadata": {"name": "probe"},
                "spec": {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"cpu": "2"}}}]},
            })),
            403,
        )
        .ask(resize("bare", json!({})))
        .ask(resize("bare", json!({"requests": {"cpu": "100m"}})))
        .ask(resize("asks", json!({"requests": {"cpu": "150m"}})))
        .ask(resize("asks", json!({"limits": {"cpu": "2"}})))
        .ask(resize("asks", json!({"requests": {"cpu": "1m"}})))
}

fn bounds() -> Case {
    let only = ["/message", "/spec/containers"];
    let asks = |cpu: &str, most: &str| json!({"requests": {"cpu": cpu}, "limits": {"cpu": most}});
    let case = Case::new("limits-bounds")
        .ask(range("bounds", json!([
            {"type": "Container", "min": {"cpu": "100m"}, "max": {"cpu": "2"}, "maxLimitRequestRatio": {"cpu": "4"}},
        ])))
        .ask(pod("little", json!([asks("50m", "100m")])).only(only))
        .ask(pod("much", json!([asks("1", "3")])).only(only))
        .ask(pod("wide", json!([asks("100m", "1")])).only(only))
        .ask(pod("two", json!([asks("50m", "100m"), asks("60m", "100m")])).only(only))
        .ask(pod("same", json!([asks("50m", "100m"), asks("50m", "100m")])).only(only))
        .ask(pod("unsaid", json!([{}])).only(only))
        .ask(pod("fine", json!([asks("0.5", "1000m")])).only(only));
    case.ask(
        post(
            &format!("{PODS}?dryRun=All"),
            &json!({
                "metadata": {"generateName": "gen-"},
                "spec": {"containers": [{"name": "c", "image": "i", "resources": asks("9", "9")}]},
            }),
        )
        .named("a generated name")
        .only(["/code"]),
    )
}

fn bounds_of_pods() -> Case {
    let only = ["/message"];
    let asks = |cpu: &str| json!({"requests": {"cpu": cpu, "memory": "1Mi"}, "limits": {"cpu": cpu}});
    Case::new("limits-pods")
        .ask(range("pods", json!([
            {"type": "Pod", "min": {"memory": "2Mi"}, "max": {"cpu": "1"}, "maxLimitRequestRatio": {"cpu": "2"}},
        ])))
        .ask(pod("sum", json!([asks("600m"), asks("600m")])).only(only))
        .ask(pod("less", json!([asks("600m")])).only(only))
        .ask(pod("unsaid", json!([{"requests": {"memory": "4Mi"}}])).only(only))
        .ask(
            pod_of("beside", json!({
                "initContainers": [
                    {"name": "a", "image": "i", "restartPolicy": "Always", "resources": asks("400m")},
                    {"name": "b", "image": "i", "resources": asks("700m")},
                ],
                "containers": [{"name": "c", "image": "i", "resources": asks("300m")}],
            }))
            .only(only),
        )
        .ask(
            pod_of("whole", json!({
                "resources": {"limits": {"cpu": "1500m"}, "requests": {"cpu": "1"}},
                "containers": [{"name": "c", "image": "i", "resources": {"requests": {"memory": "2Mi"}}}],
            }))
            .only(only),
        )
}

fn bounds_of_claims() -> Case {
    Case::new("limits-claims")
        .ask(range(
            "claims",
            json!([
                {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "5Gi"}},
            ]),
        ))
        .ask(claim("small", "512Mi", Value::Null))
        .ask(claim("large", "6Gi", Value::Null))
        .ask(claim("good", "2048Mi", Value::Null))
}

/// A quota with this status, after the server has noticed it: no more Secrets may be created.
fn quota(case: Case, name: &str, spec: Value, mut hard: Value, mut used: Value) -> Case {
    hard["count/secrets"] = "0".into();
    used["count/secrets"] = "0".into();
    let mut spec = spec;
    spec["hard"] = hard.clone();
    case.ask(post(QUOTAS, &json!({"metadata": {"name": name}, "spec": spec})).named(format!("quota {name}")))
        .ask(
            merge(
                &format!("{QUOTAS}/{name}/status"),
                &json!({"status": {"hard": hard, "used": used}}),
            )
            .named(format!("the status of {name}"))
            .only(["/status"]),
        )
}

fn noticed(case: Case) -> Case {
    let probe = json!({"metadata": {"name": "probe"}});
    case.until(post(&format!("{SECRETS}?dryRun=All"), &probe), 403)
        .ask(post(SECRETS, &probe).named("a secret too many"))
}

fn counts() -> Case {
    let unknown =
        json!({"metadata": {"name": "unknown"}, "spec": {"hard": {"pods": "0", "configmaps": "0"}}});
    let map = |name: &str| post(CONFIG_MAPS, &json!({"metadata": {"name": name}})).named(name);
    let cron_job = |name: &str| {
        let pod = json!({"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]});
        let spec = json!({"schedule": "* * * * *", "jobTemplate": {"spec": {"template": {"spec": pod}}}});
        post(CRON_JOBS, &json!({"metadata": {"name": name}, "spec": spec}))
            .named(name)
            .only(["/message", "/kind"])
    };
    let case = Case::new("quotas-counts").ask(post(QUOTAS, &unknown).named("a quota without a status"));
    let hard = json!({"configmaps": "3", "count/cronjobs.batch": "1", "services.nodeports": "2"});
    let used = json!({"configmaps": "1", "count/cronjobs.batch": "0", "services.nodeports": "0"});
    let service = |name: &str, kind: &str, ports: &[u16]| {
        let ports: Vec<Value> = ports
            .iter()
            .map(|port| json!({"port": port, "name": format!("p{port}")}))
            .collect();
        json!({"metadata": {"name": name}, "spec": {"type": kind, "ports": ports, "selector": {"a": "b"}}})
    };
    noticed(quota(case, "counts", json!({}), hard, used))
        .ask(map("one"))
        .ask(map("two"))
        .ask(map("three"))
        .ask(map("one").named("one again"))
        .ask(delete(&format!("{CONFIG_MAPS}/one")).named("one less"))
        .ask(map("four"))
        .ask(cron_job("cron"))
        .ask(cron_job("more-cron"))
        .ask(
            post(SERVICES, &service("three-ports", "NodePort", &[1, 2, 3]))
                .named("three ports")
                .only(["/message"]),
        )
        .ask(
            post(SERVICES, &service("two-ports", "ClusterIP", &[1, 2]))
                .named("two ports")
                .only(["/spec/type"]),
        )
        .ask(
            merge(
                &format!("{SERVICES}/two-ports"),
                &json!({"spec": {"type": "NodePort"}}),
            )
            .named("they become node ports")
            .only(["/spec/type"]),
        )
        .ask(
            post(SERVICES, &service("one-port", "LoadBalancer", &[1]))
                .named("one more port")
                .only(["/message"]),
        )
        .ask(get(&format!("{QUOTAS}/counts")))
        .ask(get(&format!("{QUOTAS}/unknown")))
}

fn computing() -> Case {
    let only = ["/message", "/status/phase"];
    let asks = |cpu: &str, memory: &str| json!({"requests": {"cpu": cpu, "memory": memory}, "limits": {"memory": memory}});
    let hard = json!({"requests.cpu": "2", "limits.memory": "1Gi", "pods": "3", "requests.storage": "10Gi", "gold.storageclass.storage.k8s.io/requests.storage": "2Gi"});
    let used = json!({"requests.cpu": "0", "limits.memory": "0", "pods": "0", "requests.storage": "0", "gold.storageclass.storage.k8s.io/requests.storage": "0"});
    noticed(quota(Case::new("quotas-computing"), "computing", json!({}), hard, used))
        .ask(pod("unsaid", json!([{}, {"requests": {"cpu": "1"}}])).only(only))
        .ask(pod("first", json!([asks("500m", "256Mi"), asks("1", "256Mi")])).only(only))
        .ask(
            post(&format!("{PODS}?dryRun=All"), &json!({
                "metadata": {"name": "dry"}, "spec": {"containers": [{"name": "c", "image": "i", "resources": asks("500m", "1Mi")}]},
            }))
            .named("a dry run")
            .only(only),
        )
        .ask(pod("cpu", json!([asks("600m", "1Mi")])).only(only))
        .ask(pod("both", json!([asks("600m", "1Gi")])).only(only))
        .ask(pod("second", json!([asks("500m", "256Mi")])).only(only))
        .ask(claim("gold", "2Gi", "gold".into()))
        .ask(claim("more-gold", "1", "gold".into()))
        .ask(claim("silver", "9Gi", "silver".into()))
        .ask(claim("tin", "8Gi", "tin".into()))
        .ask(get(&format!("{QUOTAS}/computing")))
}

fn scopes() -> Case {
    let only = ["/message", "/status/phase"];
    let bare = |name: &str, deadline: Value| {
        pod_of(
            name,
            json!({"activeDeadlineSeconds": deadline, "containers": [{"name": "c", "image": "i"}]}),
        )
        .only(only)
    };
    let one = || json!({"pods": "1"});
    let none = || json!({"pods": "0"});
    let case = Case::new("quotas-scopes");
    let case = quota(case, "ending", json!({"scopes": ["Terminating"]}), one(), none());
    let case = quota(
        case,
        "burstable",
        json!({"scopes": ["NotBestEffort", "NotTerminating"]}),
        none(),
        none(),
    );
    let critical = json!({"scopeSelector": {"matchExpressions": [
        {"scopeName": "PriorityClass", "operator": "In", "values": ["system-node-critical"]},
    ]}});
    let case = quota(case, "critical", critical, none(), none());
    let hard = json!({"count/configmaps": "0"});
    noticed(quota(case, "last", json!({}), hard.clone(), hard))
        .ask(bare("long", Value::Null))
        .ask(bare("short", 5.into()))
        .ask(bare("shorter", 4.into()))
        .ask(pod("burstable", json!([{"requests": {"cpu": "1"}}])).only(only))
        .ask(
            pod_of("critical", json!({"priorityClassName": "system-node-critical", "containers": [{"name": "c", "image": "i"}]}))
                .only(only),
        )
        .ask(merge(&format!("{PODS}/long"), &json!({"spec": {"activeDeadlineSeconds": 9}})).named("long becomes short").only(only))
        .ask(get(&format!("{QUOTAS}/ending")).only(["/status"]))
}

/// A status that does not say what is used.
fn unknown() -> Case {
    let status = json!({"status": {"hard": {"configmaps": "5", "pods": "1"}, "used": {"pods": "0"}}});
    let case = quota(
        Case::new("quotas-unknown"),
        "other",
        json!({}),
        json!({}),
        json!({}),
    );
    let case = case
        .ask(
            post(
                QUOTAS,
                &json!({"metadata": {"name": "unknown"}, "spec": {"hard": {"configmaps": "5", "pods": "1"}}}),
            )
            .named("quota"),
        )
        .ask(
            merge(&format!("{QUOTAS}/unknown/status"), &status)
                .named("status")
                .only(["/status"]),
        );
    let probe = json!({"metadata": {"name": "probe"}});
    case.until(post(&format!("{CONFIG_MAPS}?dryRun=All"), &probe), 403)
        .ask(post(CONFIG_MAPS, &probe).named("what is not counted"))
        .ask(
            put(
                &format!("{CONFIG_MAPS}/kube-root-ca.crt"),
                &json!({"metadata": {"name": "kube-root-ca.crt"}}),
            )
            .named("put"),
        )
        .ask(pod("counted", json!([{}])).only(["/status/phase"]))
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        defaults(),
        defaults_of_resized(),
        bounds(),
        bounds_of_pods(),
        bounds_of_claims(),
        counts(),
        computing(),
        scopes(),
        unknown(),
    ]
}
