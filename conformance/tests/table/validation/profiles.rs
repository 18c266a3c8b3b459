//! Profiles, operating systems, and containers that look into pods.

use serde_json::{Value, json};

use super::pods::pod;
use super::{Kind, container, said, with};
use crate::case::{Ask, Case, json_patch, post, strategic};
use crate::objects::PODS;

/// A pod, or a template of one, whose container `c` has an annotation and a profile.
fn profiled(annotation: &str, profile: &Value) -> Value {
    let annotations = json!({"container.apparmor.security.beta.kubernetes.io/c": annotation});
    let spec = container(json!({"securityContext": {"appArmorProfile": profile}}));
    json!({"metadata": {"annotations": annotations}, "spec": spec})
}

/// Rows of profiles that annotations and fields name.
fn profiles() -> Vec<(&'static str, Value)> {
    let plain = |kind: &str| json!({"type": kind});
    let local = |name: &str| json!({"type": "Localhost", "localhostProfile": name});
    let of_pod = |profile: &Value| json!({"spec": {"securityContext": {"appArmorProfile": profile}}});
    let init =
        json!({"name": "i", "image": "x", "securityContext": {"appArmorProfile": plain("Unconfined")}});
    let annotated_init = json!({
        "metadata": {"annotations": {"container.apparmor.security.beta.kubernetes.io/i": "localhost/p"}},
        "spec": {"initContainers": [init]},
    });
    let windows = json!({"spec": {"os": {"name": "windows"}}});
    vec![
        ("the same", profiled("runtime/default", &plain("RuntimeDefault"))),
        ("another type", profiled("unconfined", &plain("RuntimeDefault"))),
        (
            "a name instead of a type",
            profiled("localhost/p", &plain("Unconfined")),
        ),
        (
            "a type instead of a name",
            profiled("runtime/default", &local("p")),
        ),
        ("the same name", profiled("localhost/p", &local("p"))),
        ("another name", profiled("localhost/p", &local("q"))),
        (
            "a name that is missing",
            profiled("localhost/p", &plain("Localhost")),
        ),
        (
            "a name too many",
            profiled(
                "unconfined",
                &json!({"type": "Unconfined", "localhostProfile": "p"}),
            ),
        ),
        ("a type that is none", profiled("unconfined", &plain("X"))),
        (
            "a name beside a type that is none",
            profiled("localhost/p", &plain("X")),
        ),
        ("a name beside no type", profiled("localhost/p", &json!({}))),
        ("an annotation that is none", profiled("x", &plain("Unconfined"))),
        ("an empty annotation", profiled("", &plain("Unconfined"))),
        (
            "that of the pod",
            with(
                profiled("unconfined", &Value::Null),
                of_pod(&plain("RuntimeDefault")),
            ),
        ),
        (
            "the same as that of the pod",
            with(profiled("unconfined", &Value::Null), of_pod(&plain("Unconfined"))),
        ),
        (
            "two containers",
            with(profiled("unconfined", &plain("RuntimeDefault")), annotated_init),
        ),
        (
            "something else",
            with(
                profiled("unconfined", &plain("RuntimeDefault")),
                json!({"spec": {"restartPolicy": "X", "schedulingGates": [{"name": "a"}], "nodeName": "n", "ephemeralContainers": [{"name": "e", "image": "x"}]}}),
            ),
        ),
        ("Windows", with(profiled("unconfined", &Value::Null), windows)),
    ]
}

pub(super) fn contradictions() -> Case {
    let mut kind = pod();
    kind.name = "pod-profiles";
    kind.objects(profiles().into_iter().chain(seccomp()))
}

/// Profiles, each in the field of a container.
pub(super) fn profiles_of_containers() -> Case {
    let long = "a".repeat(4096);
    let seccomp = |profile: Value| container(json!({"securityContext": {"seccompProfile": profile}}));
    let app_armor = |profile: Value| container(json!({"securityContext": {"appArmorProfile": profile}}));
    let mut kind = pod();
    kind.name = "profiles";
    kind.specs([
        ("seccomp of no type", seccomp(json!({}))),
        (
            "seccomp of no type with a path",
            seccomp(json!({"localhostProfile": "p"})),
        ),
        (
            "seccomp of a type that is none",
            seccomp(json!({"type": "X", "localhostProfile": "p"})),
        ),
        (
            "an empty path",
            seccomp(json!({"type": "Localhost", "localhostProfile": ""})),
        ),
        (
            "an absolute path",
            seccomp(json!({"type": "Localhost", "localhostProfile": "/x"})),
        ),
        (
            "a path that goes up",
            seccomp(json!({"type": "Localhost", "localhostProfile": "../x"})),
        ),
        (
            "a path too many",
            seccomp(json!({"type": "Unconfined", "localhostProfile": "p"})),
        ),
        ("AppArmor of no type", app_armor(json!({}))),
        (
            "AppArmor of no type with a name",
            app_armor(json!({"localhostProfile": "p"})),
        ),
        (
            "AppArmor of a type that is none",
            app_armor(json!({"type": "X", "localhostProfile": "p"})),
        ),
        ("no name", app_armor(json!({"type": "Localhost"}))),
        (
            "an empty name",
            app_armor(json!({"type": "Localhost", "localhostProfile": ""})),
        ),
        (
            "a name of blanks",
            app_armor(json!({"type": "Localhost", "localhostProfile": "  "})),
        ),
        (
            "a padded name",
            app_armor(json!({"type": "Localhost", "localhostProfile": " p"})),
        ),
        (
            "a long name",
            app_armor(json!({"type": "Localhost", "localhostProfile": long})),
        ),
        (
            "a name too many",
            app_armor(json!({"type": "RuntimeDefault", "localhostProfile": "p"})),
        ),
        (
            "those of the pod",
            json!({"securityContext": {
                "seccompProfile": {"type": "Localhost", "localhostProfile": "/x"},
                "appArmorProfile": {"type": "Localhost", "localhostProfile": " p"},
            }}),
        ),
    ])
}

pub(super) fn contradictions_of_templates() -> Case {
    let kind = Kind::new(
        "template-profiles",
        "/apis/apps/v1/namespaces/{ns}/deployments",
        json!({"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": container(json!({}))}}),
    );
    kind.specs(
        profiles()
            .into_iter()
            .chain(seccomp())
            .map(|(what, template)| (what, json!({"template": template}))),
    )
}

/// The same of seccomp, of the pod and of its container `c`.
fn seccomp() -> Vec<(&'static str, Value)> {
    let local = |path: &str| json!({"type": "Localhost", "localhostProfile": path});
    let of_pod = |annotation: &str, profile: Value| {
        let annotations = json!({"seccomp.security.alpha.kubernetes.io/pod": annotation});
        json!({"metadata": {"annotations": annotations}, "spec": {"securityContext": {"seccompProfile": profile}}})
    };
    let of_container = |annotation: &str, profile: Value| {
        let annotations = json!({"container.seccomp.security.alpha.kubernetes.io/c": annotation});
        let spec = container(json!({"securityContext": {"seccompProfile": profile}}));
        json!({"metadata": {"annotations": annotations}, "spec": spec})
    };
    let default = || json!({"type": "RuntimeDefault"});
    vec![
        ("seccomp: the same", of_pod("runtime/default", default())),
        (
            "seccomp: the same by its former name",
            of_pod("docker/default", default()),
        ),
        ("seccomp: another type", of_pod("unconfined", default())),
        (
            "seccomp: a type instead of a name",
            of_pod("unconfined", local("p")),
        ),
        ("seccomp: another name", of_pod("localhost/q", local("p"))),
        (
            "seccomp: a name that is missing",
            of_pod("localhost/q", json!({"type": "Localhost"})),
        ),
        (
            "seccomp: a type that is none",
            of_pod("unconfined", json!({"type": "X"})),
        ),
        ("seccomp: an annotation that is none", of_pod("x", default())),
        ("seccomp: an empty annotation", of_pod("", default())),
        (
            "seccomp: a path that goes up",
            of_pod("localhost/../x", Value::Null),
        ),
        ("seccomp: an absolute path", of_pod("localhost//x", Value::Null)),
        (
            "seccomp: an absolute path that goes up",
            of_container("localhost//../x", Value::Null),
        ),
        ("seccomp: no path", of_container("localhost/", local(""))),
        (
            "seccomp: another type of a container",
            of_container("unconfined", default()),
        ),
        (
            "seccomp: another name of a container",
            of_container("localhost/q", local("p")),
        ),
        (
            "seccomp: that of the pod",
            with(
                of_container("unconfined", Value::Null),
                json!({"spec": {"securityContext": {"seccompProfile": default()}}}),
            ),
        ),
        (
            "seccomp: pod, container and AppArmor",
            with(
                with(of_pod("unconfined", default()), of_container("x", local("p"))),
                with(
                    profiled("y", &json!({"type": "Unconfined"})),
                    json!({"spec": {"containers": [{
                    "name": "c", "image": "x",
                    "securityContext": {"appArmorProfile": {"type": "Unconfined"}, "seccompProfile": local("p")},
                }], "restartPolicy": "X"}}),
                ),
            ),
        ),
        (
            "seccomp: Windows",
            with(
                of_container("unconfined", default()),
                json!({"spec": {"os": {"name": "windows"}}}),
            ),
        ),
    ]
}

/// Everything that a pod may have, whatever it runs on.
fn everything() -> Value {
    let options = json!({"runAsUserName": "a"});
    let profile = json!({"type": "Unconfined"});
    let context = json!({
        "appArmorProfile": profile, "seccompProfile": profile, "seLinuxOptions": {"level": "s0"}, "capabilities": {"add": ["X"]},
        "readOnlyRootFilesystem": false, "privileged": false, "allowPrivilegeEscalation": true, "procMount": "Default",
        "runAsUser": 0, "runAsGroup": 0, "runAsNonRoot": false, "windowsOptions": options,
    });
    json!({
        "hostUsers": true, "hostPID": true, "hostIPC": true, "hostNetwork": true, "shareProcessNamespace": false,
        "securityContext": {
            "appArmorProfile": profile, "seccompProfile": profile, "seLinuxOptions": {"level": "s0"}, "fsGroup": 0,
            "fsGroupChangePolicy": "Always", "sysctls": [{"name": "kernel.shm_rmid_forced", "value": "0"}], "runAsUser": 0, "runAsGroup": 0,
            "runAsNonRoot": false, "supplementalGroups": [1], "supplementalGroupsPolicy": "Merge", "seLinuxChangePolicy": "Recursive",
            "windowsOptions": options,
        },
        "containers": [{"name": "c", "image": "x", "securityContext": context}],
        "initContainers": [{"name": "i", "image": "x", "securityContext": context}],
    })
}

/// What a pod may have on the operating system that it names.
pub(super) fn systems() -> Case {
    let kind = Kind {
        name: "systems",
        ..pod()
    };
    let on = |os: Value, more: Value| with(more, json!({"os": os}));
    kind.specs([
        ("everything", everything()),
        (
            "everything on Windows",
            on(json!({"name": "windows"}), everything()),
        ),
        ("everything on Linux", on(json!({"name": "linux"}), everything())),
        (
            "nothing",
            on(
                json!({"name": "windows"}),
                json!({"hostPID": false, "hostIPC": false, "securityContext": {"sysctls": []}}),
            ),
        ),
        (
            "users of the host",
            on(
                json!({"name": "windows"}),
                json!({"hostUsers": false, "shareProcessNamespace": true}),
            ),
        ),
        ("no name of a system", on(json!({}), json!({}))),
        ("another system", on(json!({"name": "X<"}), everything())),
        (
            "something else",
            on(
                json!({"name": "windows"}),
                json!({"securityContext": {"runAsUser": 1}, "hostname": "H_"}),
            ),
        ),
    ])
}

/// What only Windows has.
pub(super) fn windows() -> Case {
    let kind = Kind {
        name: "windows",
        ..pod()
    };
    let options = |options: Value| json!({"securityContext": {"windowsOptions": options}});
    let user = |user: &str| options(json!({"runAsUserName": user}));
    let process = |is: bool| options(json!({"hostProcess": is}));
    let containers = |one: Value, other: Value| {
        let named = |name: &str, more: Value| with(json!({"name": name, "image": "x"}), more);
        json!({"containers": [named("c", one), named("d", other)]})
    };
    kind.specs([
        (
            "credentials",
            options(json!({"gmsaCredentialSpecName": "A_<", "gmsaCredentialSpec": ""})),
        ),
        (
            "long credentials",
            options(json!({"gmsaCredentialSpec": "a".repeat(65_537)})),
        ),
        (
            "credentials of a container",
            container(options(
                json!({"gmsaCredentialSpecName": "A_", "runAsUserName": ""}),
            )),
        ),
        ("a user", user("a.b\\c d")),
        (
            "a user of a long domain",
            user(&format!("{}\\a", "a".repeat(256))),
        ),
        ("a user of a domain that is none", user(".a\\b")),
        ("a user of no domain", user("\\b")),
        ("a user of three parts", user("a\\b\\c")),
        ("a user with a tab", user("a\tb")),
        ("no user of a domain", user("a\\")),
        ("a long user", user(&"a".repeat(105))),
        ("dots", user(". .")),
        ("a user with a sign", user("a<b>")),
        ("a process of the host", process(true)),
        (
            "a process of the host on its network",
            with(process(true), json!({"hostNetwork": true})),
        ),
        ("no process of the host", process(false)),
        ("one process of the host", containers(process(true), json!({}))),
        (
            "another than the pod",
            with(containers(process(false), process(true)), process(true)),
        ),
    ])
}

/// What a pod may have of its host, and how it is called.
pub(super) fn hosts() -> Case {
    let kind = Kind {
        name: "hosts",
        ..pod()
    };
    let device = json!({
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "a"}}],
        "containers": [{"name": "c", "image": "x", "volumeDevices": [{"name": "v", "devicePath": "/d"}]}],
    });
    kind.specs([
        ("own users", json!({"hostUsers": false})),
        (
            "own users and all of the host",
            json!({"hostUsers": false, "hostNetwork": true, "hostPID": true, "hostIPC": true}),
        ),
        (
            "own users and a device",
            with(device, json!({"hostUsers": false})),
        ),
        (
            "policies",
            json!({"securityContext": {"supplementalGroupsPolicy": "X<", "seLinuxChangePolicy": "Y<"}}),
        ),
        (
            "another policy",
            json!({"securityContext": {"seLinuxChangePolicy": "MountOption"}}),
        ),
        ("a name", json!({"hostnameOverride": "a.b"})),
        ("a name that is none", json!({"hostnameOverride": "A_"})),
        ("an empty name", json!({"hostnameOverride": ""})),
        (
            "a long name",
            json!({"hostnameOverride": "a".repeat(65), "hostNetwork": true, "setHostnameAsFQDN": true}),
        ),
    ])
}

/// A pod, whose strings show how they are quoted.
pub(super) fn quoted() -> Case {
    let kind = Kind {
        name: "quoted",
        ..pod()
    };
    let odd = "a<b>&\"\\\u{1}\u{7f}\u{8}\t\u{2028}ä";
    let context = |context: Value| container(json!({"securityContext": context}));
    kind.specs([
        ("a name of AppArmor", context(json!({"appArmorProfile": {"type": "Unconfined", "localhostProfile": odd}}))),
        ("a padded name of AppArmor", context(json!({"appArmorProfile": {"type": "Localhost", "localhostProfile": format!(" {odd}")}}))),
        ("a type of AppArmor", context(json!({"appArmorProfile": {"type": odd}}))),
        ("a profile of seccomp", context(json!({"seccompProfile": {"type": odd, "localhostProfile": odd}}))),
        ("a path of seccomp", context(json!({"seccompProfile": {"type": "Localhost", "localhostProfile": format!("/{odd}")}}))),
        ("a restart policy", json!({"restartPolicy": odd})),
        ("a DNS policy", json!({"dnsPolicy": odd})),
        ("a pull policy", container(json!({"imagePullPolicy": odd}))),
        ("a message policy", container(json!({"terminationMessagePolicy": odd}))),
        ("a container's restart policy", container(json!({"restartPolicy": odd}))),
        ("a proc mount", context(json!({"procMount": odd}))),
        ("a name", container(json!({"name": odd}))),
        ("an image", container(json!({"image": format!(" {odd}")}))),
        ("a protocol", super::port(json!({"protocol": odd}))),
        ("a field", super::env(json!({"valueFrom": {"fieldRef": {"fieldPath": format!("metadata.{odd}")}}}))),
        ("a field of the pod", super::env(json!({"valueFrom": {"fieldRef": {"fieldPath": "metadata.labels"}}}))),
        ("a resource", super::env(json!({"valueFrom": {"resourceFieldRef": {"resource": odd}}}))),
        ("a scheme", super::probe(json!({"httpGet": {"scheme": odd}}))),
        ("a toleration", super::toleration(json!({"operator": odd, "effect": odd, "tolerationSeconds": 5}))),
        ("a propagation", super::mount(json!({"mountPropagation": odd}))),
        ("a path on the host", super::volume(json!({"hostPath": {"path": "/a", "type": odd}}))),
        ("a system", json!({"os": {"name": odd}})),
        ("a spread", json!({"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "k", "whenUnsatisfiable": odd, "nodeTaintsPolicy": odd}]})),
        ("a claim", json!({"resourceClaims": [{"name": "a", "resourceClaimName": odd, "resourceClaimTemplateName": odd}]})),
        (
            "a term of nodes",
            json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": odd}]}]}}}}),
        ),
        (
            "a selector of pods",
            json!({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "k", "labelSelector": {"matchExpressions": [{"key": "a", "operator": odd}]}}]}}}),
        ),
        ("a resize policy", container(json!({"resizePolicy": [{"resourceName": odd, "restartPolicy": odd}]}))),
        ("a secret", super::volume(json!({"projected": {"sources": [{"secret": {"name": odd}}]}}))),
    ])
}

/// Templates that stand for themselves.
pub(super) fn of_pod_templates() -> Case {
    let kind = Kind::whole(
        "podtemplate",
        "/api/v1/namespaces/{ns}/podtemplates",
        json!({"template": {"metadata": {"labels": {"a": "b"}}, "spec": container(json!({}))}}),
    );
    let template = |template: Value| json!({"template": template});
    kind.objects([
        ("the right one", json!({})),
        ("no template", json!({"template": null})),
        ("another profile", template(profiled("unconfined", &json!({"type": "RuntimeDefault"})))),
        ("a profile", template(profiled("x", &json!({"type": "X"})))),
        ("no containers", template(json!({"spec": {"containers": []}}))),
        ("a container", template(json!({"spec": {"containers": [{"name": "A_", "image": " x", "imagePullPolicy": "X"}], "ephemeralContainers": [{"name": "e", "image": "x"}]}}))),
        ("a label", template(json!({"metadata": {"labels": {"a b": "c d"}, "annotations": {"e f": "g"}}}))),
        ("a port of the host's network", template(with(super::port(json!({"hostPort": 81})), json!({})))),
        ("another port of the host's network", template(json!({"spec": with(super::port(json!({"hostPort": 81})), json!({"hostNetwork": true}))}))),
        ("a port of the host's network that is not said", template(json!({"spec": with(super::port(json!({})), json!({"hostNetwork": true}))}))),
    ])
}

/// Pods with containers that look into them, made of one that is there.
pub(super) fn ephemeral() -> Case {
    let path = format!("{PODS}/x/ephemeralcontainers");
    let right = with(
        container(json!({})),
        json!({"initContainers": [{"name": "i", "image": "x"}], "volumes": [{"name": "v"}]}),
    );
    let first = json!({"name": "first", "image": "x"});
    let add = |what: &'static str, containers: Value| {
        let body = json!({"spec": {"ephemeralContainers": containers}});
        said(strategic(&path, &body)).named(what)
    };
    let one =
        |what: &'static str, more: Value| add(what, json!([with(json!({"name": "e", "image": "x"}), more)]));
    let context = |more: Value| json!({"securityContext": more});
    let dry = |mut ask: Ask| {
        ask.path += "?dryRun=All";
        ask
    };
    let annotations = json!({"container.apparmor.security.beta.kubernetes.io/c": "unconfined", "container.seccomp.security.alpha.kubernetes.io/e": "unconfined"});
    let object = json!({"metadata": {"name": "x", "annotations": annotations}, "spec": right});
    let mirror = json!({"metadata": {"name": "y", "annotations": {"kubernetes.io/config.mirror": "m"}}, "spec": with(container(json!({})), json!({"nodeName": "n"}))});
    let rows = vec![
        one(
            "AppArmor of a type that is none",
            context(json!({"appArmorProfile": {"type": "X"}})),
        ),
        one(
            "an absolute path of seccomp",
            context(json!({"seccompProfile": {"type": "Localhost", "localhostProfile": "/x"}})),
        ),
        one(
            "seccomp of no type",
            context(json!({"seccompProfile": {"type": ""}})),
        ),
        one(
            "seccomp unlike the annotation",
            context(json!({"seccompProfile": {"type": "RuntimeDefault"}})),
        ),
        one("no image", json!({"image": null})),
        one("a padded image", json!({"image": " x"})),
        one("the name of a container", json!({"name": "c"})),
        one("the name of an init container", json!({"name": "i"})),
        one("a name", json!({"name": "D_"})),
        add("an empty name", json!([{"name": "", "image": "x"}])),
        one("a port", json!({"ports": [{"containerPort": 80}]})),
        one("a pull policy", json!({"imagePullPolicy": "X"})),
        one("a message policy", json!({"terminationMessagePolicy": "X"})),
        one(
            "probes",
            json!({"livenessProbe": {"exec": {"command": ["x"]}}, "readinessProbe": {"exec": {"command": ["x"]}}, "startupProbe": {"exec": {"command": ["x"]}}, "lifecycle": {"preStop": {"exec": {"command": ["x"]}}}}),
        ),
        one("probes of nothing", json!({"livenessProbe": {}, "lifecycle": {}})),
        one("resources", json!({"resources": {"requests": {"cpu": "1"}}})),
        one("no resources", json!({"resources": {}})),
        one(
            "more requested than allowed",
            json!({"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}),
        ),
        one(
            "policies",
            json!({"resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}], "restartPolicy": "Always"}),
        ),
        one("a target", json!({"targetContainerName": "c"})),
        one(
            "a target that is an init container",
            json!({"targetContainerName": "i"}),
        ),
        one("a target that is none", json!({"targetContainerName": "q"})),
        add(
            "a target that looks, too",
            json!([{"name": "e", "image": "x"}, {"name": "f", "image": "x", "targetContainerName": "e"}]),
        ),
        one(
            "a mount",
            json!({"volumeMounts": [{"name": "v", "mountPath": "/v"}]}),
        ),
        one(
            "a mount of a part",
            json!({"volumeMounts": [{"name": "v", "mountPath": "/v", "subPath": "a"}, {"name": "v", "mountPath": "/w", "subPathExpr": "b"}]}),
        ),
        one(
            "a mount of nothing",
            json!({"volumeMounts": [{"name": "w", "mountPath": "/v"}]}),
        ),
        one("a variable", json!({"env": [{"name": "A=B"}]})),
        add(
            "several things",
            json!([{"name": "D_"}, {"name": "c", "image": "x ", "ports": [{"containerPort": 0}], "targetContainerName": "q", "lifecycle": {}}]),
        ),
        one(
            "the right one",
            json!({"stdin": true, "tty": true, "command": ["a"], "workingDir": "/"}),
        ),
        add("another image", json!([{"name": "first", "image": "y"}])),
        add(
            "another image and something else",
            json!([{"name": "first", "image": "y", "imagePullPolicy": "X"}, {"name": "e"}]),
        ),
        add("without it", json!([{"$patch": "delete", "name": "first"}])),
        add(
            "without it, with another",
            json!([{"$patch": "replace"}, {"name": "e"}]),
        ),
        add("the same", json!([first])),
    ];
    Case::new("validation-ephemeral")
        .ask(said(post(PODS, &object)).named("create"))
        .ask(add("the first", json!([first])))
        .asks(rows.into_iter().map(dry))
        .ask(said(post(PODS, &mirror)).named("create a pod of a node"))
        .ask(
            said(strategic(
                &format!("{PODS}/y/ephemeralcontainers"),
                &json!({"spec": {"ephemeralContainers": [{"name": "E_"}]}}),
            ))
            .named("of a pod of a node"),
        )
}

/// Labels and annotations without values, as YAML has them after a colon.
pub(super) fn without_values() -> Case {
    let asks = [
        (
            "a pod and its profile",
            PODS,
            json!({"annotations": {"container.apparmor.security.beta.kubernetes.io/c": null}}),
            json!({"spec": container(json!({"securityContext": {"appArmorProfile": {"type": "Unconfined"}}}))}),
        ),
        (
            "labels of a pod",
            PODS,
            json!({"labels": {"a": null}}),
            json!({"spec": with(container(json!({})), json!({"nodeSelector": {}}))}),
        ),
        (
            "a class",
            "/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses",
            json!({"annotations": {"kubernetes.io/ingress.class": null}}),
            json!({"spec": {"ingressClassName": "a", "defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}}),
        ),
        (
            "source ranges",
            "/api/v1/namespaces/{ns}/services",
            json!({"annotations": {"service.beta.kubernetes.io/load-balancer-source-ranges": null}}),
            json!({"spec": {"ports": [{"port": 80}]}}),
        ),
    ];
    let asks = asks.map(|(what, path, mut metadata, mut object)| {
        metadata["name"] = "x".into();
        object["metadata"] = metadata;
        let ask = post(&format!("{path}?dryRun=All"), &object).named(what);
        ask.only([
            "/message",
            "/reason",
            "/details",
            "/metadata/labels",
            "/metadata/annotations",
        ])
    });
    let maps = "/api/v1/namespaces/{ns}/configmaps";
    let map = json!({"metadata": {"name": "x", "labels": {"l": null}, "annotations": {"a": null}}, "data": {"k": null}});
    let secret = json!({"metadata": {"name": "x", "labels": {"l": null}}, "data": {"k": null}});
    let limited =
        json!({"metadata": {"name": "z"}, "spec": with(container(json!({})), json!({"nodeSelector": {}}))});
    let mut limited = limited;
    limited["spec"]["nodeSelector"]["n"] = Value::Null;
    limited["spec"]["containers"][0]["resources"] = json!({"limits": {"cpu": null}});
    let patch = json!([{"op": "add", "path": "/metadata/labels", "value": {"z": null}}, {"op": "add", "path": "/data/z", "value": null}]);
    Case::new("without-values")
        .asks(asks)
        .ask(post(maps, &map).named("a map"))
        .ask(json_patch(&format!("{maps}/x"), &patch).named("a patched map"))
        .ask(
            post("/api/v1/namespaces/{ns}/secrets", &secret)
                .named("a secret")
                .only(["/metadata/labels", "/data"]),
        )
        .ask(
            post(PODS, &limited)
                .named("limits")
                .only(["/spec/nodeSelector", "/spec/containers/0/resources"]),
        )
        .ask(post(maps, &json!({"metadata": {"name": "y", "labels": {"l": 3}}})).named("a number"))
}
