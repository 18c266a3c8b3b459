//! PodSecurity: what the labels of a namespace allow its pods.

use serde_json::{Value, json};

use crate::case::{Ask, Case, any, get, merge, post, put};

const NAMESPACES: &str = "/api/v1/namespaces";
const PREFIX: &str = "pod-security.kubernetes.io/";

/// A namespace beside that of the case, with labels whose prefix is left out.
fn namespace(suffix: &str, labels: &[(&str, &str)]) -> Ask {
    let labels = labels.iter().map(|(name, value)| {
        let name = match name.contains('/') {
            true => (*name).to_owned(),
            false => format!("{PREFIX}{name}"),
        };
        (name, Value::from(*value))
    });
    let labels: serde_json::Map<_, _> = labels.collect();
    post(
        NAMESPACES,
        &json!({"metadata": {"name": format!("{{ns}}-{suffix}"), "labels": labels}}),
    )
    .named(format!("namespace {suffix}"))
    .only(["/message", "/reason", "/details"])
}

fn labels() -> Case {
    let one = |name: &'static str, value: &'static str| {
        namespace(&format!("{name}-{}", value.len()), &[(name, value)]).named(format!("{name}={value}"))
    };
    let odd = [
        ("enforce", "strict"),
        ("enforce", ""),
        ("enforce-version", "v1.01"),
        ("enforce-version", "1.20"),
        ("enforce-version", "v2.0"),
        ("enforce-version", "v1.9223372036854775808"),
        ("audit", "Baseline"),
        ("audit-version", "newest"),
        ("warn", "none"),
        ("warn-version", "v1."),
        ("other", "x"),
    ];
    let path = format!("{NAMESPACES}/{{ns}}-plain");
    let label = |name: &'static str, value: Value| {
        merge(
            &path,
            &json!({"metadata": {"labels": {format!("{PREFIX}{name}"): value}}}),
        )
        .named(format!("label {name} {value}"))
        .only(["/message", "/metadata/labels"])
    };
    Case::new("pod-security-labels")
        .asks(odd.map(|(name, value)| one(name, value)))
        .ask(namespace(
            "all",
            &[
                ("enforce", "a"),
                ("enforce-version", "b"),
                ("audit", "c"),
                ("audit-version", "d"),
                ("warn", "e"),
                ("warn-version", "f"),
            ],
        ))
        .ask(namespace("plain", &[]))
        .ask(label("enforce", json!("baseline")))
        .ask(label("enforce", json!("base")))
        .ask(label("enforce-version", json!("v1.99")))
        .ask(label("warn", json!("w")))
        .ask(label("enforce", Value::Null))
}

fn container() -> Value {
    json!({"name": "c", "image": "i"})
}

/// A container with these members.
fn with(name: &str, members: Value) -> Value {
    let mut container = json!({"name": name, "image": "i"});
    container
        .as_object_mut()
        .unwrap()
        .extend(members.as_object().unwrap().clone());
    container
}

fn secured(name: &str, context: Value) -> Value {
    with(name, json!({"securityContext": context}))
}

/// What a restricted pod is.
fn hardened(name: &str) -> Value {
    secured(
        name,
        json!({
            "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}, "runAsNonRoot": true,
            "seccompProfile": {"type": "RuntimeDefault"},
        }),
    )
}

/// Pods that do what some level or other forbids.
fn pods() -> Vec<(&'static str, Value)> {
    let context = |context: Value| json!({"securityContext": context, "containers": [container()]});
    let inside = |context: Value| {
        json!({
            "initContainers": [secured("a", context.clone())],
            "containers": [secured("b", context), container()],
        })
    };
    let volume = |source: &str, given: Value| json!({"name": source.to_lowercase(), source: given});
    vec![
        ("bare", json!({"containers": [container()]})),
        ("hardened", json!({"containers": [hardened("c")]})),
        (
            "hardened by the pod",
            json!({
                "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "Localhost", "localhostProfile": "p"}},
                "containers": [secured("c", json!({"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}}))],
            }),
        ),
        (
            "host namespaces",
            json!({"hostNetwork": true, "hostPID": true, "hostIPC": true, "containers": [container()]}),
        ),
        (
            "host network",
            json!({"hostNetwork": true, "containers": [container()]}),
        ),
        ("privileged", inside(json!({"privileged": true}))),
        (
            "capabilities",
            inside(json!({"capabilities": {"add": ["SYS_TIME", "NET_ADMIN", "CHOWN"], "drop": ["ALL"]}})),
        ),
        (
            "capability",
            json!({"containers": [secured("c", json!({"capabilities": {"add": ["NET_RAW"]}}))]}),
        ),
        (
            "host path",
            json!({"containers": [container()], "volumes": [volume("hostPath", json!({"path": "/"}))]}),
        ),
        (
            "volumes",
            json!({"containers": [container()], "volumes": [
                volume("hostPath", json!({"path": "/"})),
                volume("nfs", json!({"server": "s", "path": "/"})),
                volume("iscsi", json!({"targetPortal": "p", "iqn": "iqn.2001-04.com.x:y", "lun": 1})),
                volume("emptyDir", json!({})),
            ]}),
        ),
        (
            "host port",
            json!({"containers": [with("c", json!({"ports": [{"containerPort": 1, "hostPort": 1}]}))]}),
        ),
        (
            "host ports",
            json!({
                "initContainers": [with("a", json!({"ports": [{"containerPort": 1, "hostPort": 90}, {"containerPort": 2}]}))],
                "containers": [with("b", json!({"ports": [{"containerPort": 1, "hostPort": 100}, {"containerPort": 2, "hostPort": 8}]}))],
            }),
        ),
        (
            "probe",
            json!({"containers": [with("c", json!({"livenessProbe": {"httpGet": {"port": 1, "host": "h"}}}))]}),
        ),
        (
            "probes",
            json!({"containers": [
                with("b", json!({"readinessProbe": {"tcpSocket": {"port": 1, "host": "z"}}, "startupProbe": {"httpGet": {"port": 1}}})),
                with("a", json!({"lifecycle": {
                    "postStart": {"httpGet": {"port": 1, "host": "a"}}, "preStop": {"tcpSocket": {"port": 1, "host": "z"}},
                }})),
            ]}),
        ),
        (
            "proc mount",
            json!({"hostUsers": false, "containers": [secured("c", json!({"procMount": "Unmasked"}))]}),
        ),
        (
            "SELinux of the pod",
            context(json!({"seLinuxOptions": {"type": "spc_t", "user": "u", "role": "r", "level": "l"}})),
        ),
        (
            "SELinux",
            json!({
                "securityContext": {"seLinuxOptions": {"type": "container_t"}},
                "containers": [
                    secured("a", json!({"seLinuxOptions": {"type": "x"}})), secured("b", json!({"seLinuxOptions": {"type": "w"}})),
                    secured("c", json!({"seLinuxOptions": {"type": "container_engine_t"}})),
                ],
            }),
        ),
        (
            "seccomp of the pod",
            context(json!({"seccompProfile": {"type": "Unconfined"}})),
        ),
        (
            "seccomp",
            json!({
                "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
                "containers": [secured("c", json!({"seccompProfile": {"type": "Unconfined"}}))],
            }),
        ),
        (
            "AppArmor of the pod",
            context(json!({"appArmorProfile": {"type": "Unconfined"}})),
        ),
        (
            "AppArmor",
            inside(json!({"appArmorProfile": {"type": "Unconfined"}})),
        ),
        (
            "AppArmor that is fine",
            context(json!({"appArmorProfile": {"type": "RuntimeDefault"}})),
        ),
        (
            "sysctls",
            context(json!({"sysctls": [
                {"name": "kernel.shm_rmid_forced", "value": "0"}, {"name": "kernel.msgmax", "value": "0"},
                {"name": "net.ipv4.tcp_rmem", "value": "1"}, {"name": "net.ipv4.tcp_fin_timeout", "value": "1"},
                {"name": "net.ipv4.ip_local_reserved_ports", "value": "1"},
            ]})),
        ),
        (
            "host process",
            json!({
                "os": {"name": "windows"}, "hostNetwork": true,
                "securityContext": {"windowsOptions": {"hostProcess": true}}, "containers": [container()],
            }),
        ),
        (
            "host process of a container",
            json!({
                "os": {"name": "windows"}, "hostNetwork": true,
                "containers": [secured("c", json!({"windowsOptions": {"hostProcess": true}}))],
            }),
        ),
        (
            "Windows",
            json!({
                "os": {"name": "windows"}, "securityContext": {"runAsNonRoot": true}, "containers": [container()],
            }),
        ),
        ("escalation", inside(json!({"allowPrivilegeEscalation": true}))),
        ("root", context(json!({"runAsNonRoot": false, "runAsUser": 0}))),
        (
            "root by containers",
            inside(json!({"runAsNonRoot": false, "runAsUser": 0})),
        ),
        (
            "root of its own users",
            json!({
                "hostUsers": false, "securityContext": {"runAsUser": 0}, "containers": [container()],
            }),
        ),
    ]
}

/// Every pod in a namespace of each level.
fn levels() -> Case {
    let dry = |level: &str, (name, spec): (&str, Value)| {
        let pod = json!({"metadata": {"name": "p"}, "spec": spec});
        post(&format!("{NAMESPACES}/{{ns}}-{level}/pods?dryRun=All"), &pod)
            .named(format!("{level}: {name}"))
            .only(["/message"])
    };
    let mut case = Case::new("pod-security-levels");
    for level in ["privileged", "baseline", "restricted"] {
        let pods = pods().into_iter().map(|pod| dry(level, pod));
        case = case.ask(namespace(level, &[("enforce", level)])).asks(pods);
    }
    case
}

/// One pod that does everything whose rules have changed, in a namespace of each version that changed one.
fn versions() -> Case {
    let pod = json!({
        "metadata": {
            "name": "p",
            "annotations": {
                "seccomp.security.alpha.kubernetes.io/pod": "unconfined",
                "container.seccomp.security.alpha.kubernetes.io/c": "localhost/x",
                "container.seccomp.security.alpha.kubernetes.io/d": "unconfined",
            },
        },
        "spec": {
            "hostUsers": false,
            "securityContext": {
                "runAsUser": 0,
                "sysctls": [
                    {"name": "net.ipv4.tcp_rmem", "value": "1"}, {"name": "net.ipv4.tcp_fin_timeout", "value": "1"},
                    {"name": "net.ipv4.ip_local_reserved_ports", "value": "1"},
                ],
                "seLinuxOptions": {"type": "container_engine_t"},
            },
            "containers": [
                secured("c", json!({"procMount": "Unmasked", "capabilities": {"add": ["NET_RAW"]}})),
                with("d", json!({"livenessProbe": {"httpGet": {"port": 1, "host": "h"}}})),
            ],
        },
    });
    let windows = json!({
        "metadata": {"name": "w"},
        "spec": {"os": {"name": "windows"}, "securityContext": {"runAsNonRoot": true}, "containers": [container()]},
    });
    let mut case = Case::new("pod-security-versions");
    for minor in [
        0, 7, 8, 18, 19, 21, 22, 23, 24, 25, 27, 29, 31, 32, 34, 35, 36, 99,
    ] {
        let version = format!("v1.{minor}");
        for level in ["baseline", "restricted"] {
            let suffix = format!("{}-{minor}", &level[..1]);
            let path = format!("{NAMESPACES}/{{ns}}-{suffix}/pods?dryRun=All");
            let asked = |name: &str, pod: &Value| {
                post(&path, pod)
                    .named(format!("{level} {version}: {name}"))
                    .only(["/message"])
            };
            case = case
                .ask(namespace(
                    &suffix,
                    &[("enforce", level), ("enforce-version", &version)],
                ))
                .ask(asked("pod", &pod))
                .ask(asked("windows", &windows));
        }
    }
    case
}

/// Templates are taken, with a warning.
fn templates() -> Case {
    let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container()]}});
    let once = json!({
        "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container()], "restartPolicy": "Never"},
    });
    let selector = json!({"matchLabels": {"a": "b"}});
    let of_app = json!({"selector": selector, "template": template});
    let kinds = [
        ("api/v1", "podtemplates", json!({"template": template})),
        (
            "api/v1",
            "replicationcontrollers",
            json!({"spec": {"selector": {"a": "b"}, "template": template}}),
        ),
        ("apis/apps/v1", "replicasets", json!({"spec": of_app})),
        ("apis/apps/v1", "deployments", json!({"spec": of_app})),
        ("apis/apps/v1", "daemonsets", json!({"spec": of_app})),
        (
            "apis/apps/v1",
            "statefulsets",
            json!({"spec": {"selector": selector, "template": template, "serviceName": "s"}}),
        ),
        ("apis/batch/v1", "jobs", json!({"spec": {"template": once}})),
        (
            "apis/batch/v1",
            "cronjobs",
            json!({"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": once}}}}),
        ),
    ];
    let make = |suffix: &str, (api, plural, body): &(&str, &str, Value)| {
        let mut body = body.clone();
        body["metadata"] = json!({"name": "x"});
        post(&format!("/{api}/namespaces/{{ns}}-{suffix}/{plural}"), &body)
            .named(format!("{plural} {suffix}"))
            .only(["/message"])
    };
    let change = |path: &str, patch: Value| {
        merge(
            &format!("/apis/apps/v1/namespaces/{{ns}}-enforced/deployments/x{path}"),
            &patch,
        )
        .named(format!("change{path} {patch}"))
        .only(["/message"])
    };
    let of_each = |suffix: &'static str| {
        let kinds = kinds.clone();
        kinds.map(|kind| make(suffix, &kind))
    };
    Case::new("pod-security-templates")
        .ask(namespace(
            "enforced",
            &[("enforce", "restricted"), ("enforce-version", "v1.24")],
        ))
        .asks(of_each("enforced"))
        .ask(change("", json!({"metadata": {"labels": {"c": "d"}}})))
        .ask(change("", json!({"spec": {"replicas": 0}})))
        .ask(change("/scale", json!({"spec": {"replicas": 2}})))
        .ask(change("/status", json!({"status": {"observedGeneration": 1}})))
        .ask(namespace("audited", &[("audit", "restricted")]))
        .ask(make("audited", &kinds[3]))
        .ask(namespace(
            "silent",
            &[("enforce", "restricted"), ("warn", "privileged")],
        ))
        .ask(make("silent", &kinds[3]))
        .ask(namespace(
            "warned",
            &[
                ("enforce", "restricted"),
                ("warn", "baseline"),
                ("warn-version", "v1.20"),
            ],
        ))
        .ask(make("warned", &kinds[3]))
        .ask(namespace(
            "dated",
            &[
                ("enforce", "restricted"),
                ("enforce-version", "v1.7"),
                ("warn-version", "v1.20"),
            ],
        ))
        .ask(make("dated", &kinds[3]))
        .ask(namespace("low", &[("enforce", "baseline")]))
        .ask(make("low", &kinds[3]))
}

/// Pods that were there before, and what becomes of them.
fn changes() -> Case {
    let path = |rest: &str| format!("{NAMESPACES}/{{ns}}-n/pods{rest}");
    let make = |name: &str, spec: Value| {
        post(&path(""), &json!({"metadata": {"name": name}, "spec": spec}))
            .named(format!("pod {name}"))
            .only(["/message"])
    };
    let label = |name: &str, labels: Value| {
        merge(
            &format!("{NAMESPACES}/{{ns}}-n"),
            &json!({"metadata": {"labels": labels}}),
        )
        .named(name.to_owned())
        .only(["/message"])
    };
    let enforce = |level: &str, version: &str| json!({format!("{PREFIX}enforce"): level, format!("{PREFIX}enforce-version"): version});
    let probe = |name: &str, spec: Value| {
        post(
            &path("?dryRun=All"),
            &json!({"metadata": {"generateName": name}, "spec": spec}),
        )
    };
    let bare = json!({"containers": [container()]});
    let image = |name: &str, image: &str| {
        let patch = json!({"spec": {"containers": [{"name": "c", "image": image}]}});
        any("PATCH", &path(&format!("/{name}")))
            .text(&patch.to_string())
            .content_type("application/strategic-merge-patch+json")
            .named(format!("image of {name}"))
            .only(["/message"])
    };
    let ephemeral = |name: &str, container: Value| {
        any("PATCH", &path("/one/ephemeralcontainers"))
            .text(&json!({"spec": {"ephemeralContainers": [container]}}).to_string())
            .content_type("application/strategic-merge-patch+json")
            .named(name.to_owned())
            .only(["/message"])
    };
    Case::new("pod-security-changes")
        .ask(namespace("n", &[]))
        .ask(make("two", bare.clone()))
        .ask(make("one", bare.clone()))
        .ask(make("three", bare.clone()))
        .ask(make("wild", json!({"hostPID": true, "containers": [container()]})))
        .ask(make("fine", json!({"containers": [hardened("c")]})))
        .ask(make("also", json!({"hostPID": true, "containers": [secured("c", json!({"privileged": true}))]})))
        .ask(make("alone", json!({"hostPID": true, "containers": [secured("c", json!({"privileged": true}))]})))
        .ask(get(&path("/fine")).named("until all are known").only(["/message"]))
        .ask(label("nothing new", json!({"a": "b"})))
        .ask(label("baseline", enforce("baseline", "latest")))
        .ask(label("restricted", enforce("restricted", "latest")))
        .ask(label("restricted as before", enforce("restricted", "v1.7")))
        // A patch begins with the state in the server's cache: an older one is restricted in another version, and that is told. A list
        // waits for the cache.
        .ask(get(NAMESPACES).named("until the version is known").only(["/kind"]))
        .ask(label("a baseline again", enforce("baseline", "v1.7")))
        .ask(label("audit", json!({format!("{PREFIX}audit"): "restricted"})))
        .ask(label("restricted at last", enforce("restricted", "v1.30")))
        .until(probe("x", bare.clone()), 403)
        .ask(probe("generated-", bare.clone()).named("a generated name").only(["/code"]))
        .ask(merge(&path("/one"), &json!({"metadata": {"labels": {"a": "b"}}})).named("a label").only(["/message"]))
        .ask(merge(&path("/one"), &json!({"spec": {"activeDeadlineSeconds": 5}})).named("a deadline").only(["/message"]))
        .ask(image("one", "j"))
        .ask(image("fine", "j"))
        .ask(ephemeral("a container more", with("d", json!({}))).named("a debugger"))
        .ask(ephemeral("a hardened container more", hardened("e")))
        .ask(merge(&path("/one/status"), &json!({"status": {"message": "m"}})).named("a status").only(["/message"]))
        .ask(
            put(&format!("{NAMESPACES}/{{ns}}-n"), &json!({
                "metadata": {"name": "{ns}-n", "labels": {format!("{PREFIX}enforce"): "restricted", format!("{PREFIX}warn"): "?"}},
            }))
            .named("a fault")
            .only(["/message"]),
        )
        .ask(make("late", bare))
}

pub(crate) fn cases() -> Vec<Case> {
    vec![labels(), levels(), versions(), templates(), changes()]
}
