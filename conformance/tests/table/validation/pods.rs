//! Pods: their containers, their volumes, and what may be changed of them.

use serde_json::{Value, json};

use super::{Kind, container, env, mount, port, probe, resources, toleration, volume, with};
use crate::case::Case;
use crate::objects::PODS;

pub(super) fn pod() -> Kind {
    Kind::new("pod", PODS, container(json!({})))
}

pub(super) fn containers() -> Case {
    let c = json!({"name": "c", "image": "nginx"});
    let long = "a".repeat(64);
    pod().specs([
        ("no containers", json!({"containers": []})),
        ("no list of containers", json!({"containers": null})),
        ("no name", json!({"containers": [{"image": "nginx"}]})),
        ("no image", json!({"containers": [{"name": "c"}]})),
        ("an image with spaces", container(json!({"image": " nginx"}))),
        ("a name", container(json!({"name": "A_"}))),
        ("a long name", container(json!({"name": long}))),
        ("a name twice", json!({"containers": [c, c]})),
        ("a name of an init container", json!({"initContainers": [c]})),
        ("an init container without anything", json!({"initContainers": [{}]})),
        ("an ephemeral container", json!({"ephemeralContainers": [{"name": "e", "image": "x"}]})),
        ("a pull policy", container(json!({"imagePullPolicy": "Sometimes"}))),
        ("a message policy", container(json!({"terminationMessagePolicy": "X"}))),
        ("no message path", container(json!({"terminationMessagePath": ""}))),
        ("a container's restart policy", container(json!({"restartPolicy": "X"}))),
        ("an init container's restart policy", json!({"initContainers": [{"name": "i", "image": "x", "restartPolicy": "X"}]})),
        ("an init container with a probe", json!({"initContainers": [{"name": "i", "image": "x", "livenessProbe": {"exec": {"command": ["x"]}}, "readinessProbe": {"exec": {"command": ["x"]}}, "startupProbe": {"exec": {"command": ["x"]}}, "lifecycle": {"preStop": {"exec": {"command": ["x"]}}}}]})),
        ("a sidecar with a probe", json!({"initContainers": [{"name": "i", "image": "x", "restartPolicy": "Always", "livenessProbe": {"exec": {"command": ["x"]}}}]})),
        ("no port", container(json!({"ports": [{}]}))),
        ("a port", port(json!({"containerPort": 70000}))),
        ("a negative port", port(json!({"containerPort": -1}))),
        ("a host port", port(json!({"hostPort": 70000}))),
        ("a protocol", port(json!({"protocol": "X"}))),
        ("a long name of a port", port(json!({"name": "a-very-long-name-of-a-port"}))),
        ("a name of a port", port(json!({"name": "A_"}))),
        ("a port named by a number", port(json!({"name": "80"}))),
        ("a port's name with two hyphens", port(json!({"name": "a--b"}))),
        ("a port's name with a hyphen at its end", port(json!({"name": "a-"}))),
        ("a port's name twice", container(json!({"ports": [{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]}))),
        ("a host port twice", container(json!({"ports": [{"containerPort": 1, "hostPort": 5}, {"containerPort": 2, "hostPort": 5}]}))),
        ("a port twice", container(json!({"ports": [{"containerPort": 1}, {"containerPort": 1}]}))),
        ("another port of the host's network", with(port(json!({"hostPort": 81})), json!({"hostNetwork": true}))),
        ("a variable without a name", env(json!({"name": null}))),
        ("a variable with an equals sign", env(json!({"name": "A=B"}))),
        ("a variable that begins with a digit", env(json!({"name": "1A"}))),
        ("a variable with a letter", env(json!({"name": "ü"}))),
        ("a value and a source", env(json!({"value": "x", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}))),
        ("a source of nothing", env(json!({"valueFrom": {}}))),
        ("two sources", env(json!({"valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}, "configMapKeyRef": {"name": "m", "key": "k"}}}))),
        ("a field", env(json!({"valueFrom": {"fieldRef": {"fieldPath": "spec.bogus"}}}))),
        ("no field", env(json!({"valueFrom": {"fieldRef": {"fieldPath": ""}}}))),
        ("a label", env(json!({"valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['a b']"}}}))),
        ("all labels", env(json!({"valueFrom": {"fieldRef": {"fieldPath": "metadata.labels"}}}))),
        ("a resource", env(json!({"valueFrom": {"resourceFieldRef": {"resource": "limits.bogus"}}}))),
        ("no resource", env(json!({"valueFrom": {"resourceFieldRef": {"resource": ""}}}))),
        ("no key of a secret", env(json!({"valueFrom": {"secretKeyRef": {"name": "s", "key": ""}}}))),
        ("a key of a map", env(json!({"valueFrom": {"configMapKeyRef": {"name": "m", "key": "a b"}}}))),
        ("no name of a map", env(json!({"valueFrom": {"configMapKeyRef": {"key": "a"}}}))),
        ("variables of nothing", container(json!({"envFrom": [{}]}))),
        ("variables of a map without a name", container(json!({"envFrom": [{"configMapRef": {}}]}))),
        ("variables of two", container(json!({"envFrom": [{"configMapRef": {"name": "m"}, "secretRef": {"name": "s"}}]}))),
        ("no volume", container(json!({"volumeMounts": [{"name": "w", "mountPath": "/w"}]}))),
        ("a mount without a name", mount(json!({"name": null}))),
        ("a mount without a path", mount(json!({"mountPath": null}))),
        ("a mount twice", with(container(json!({"volumeMounts": [{"name": "v", "mountPath": "/v"}, {"name": "v", "mountPath": "/v"}]})), json!({"volumes": [{"name": "v"}]}))),
        ("an absolute sub path", mount(json!({"subPath": "/a"}))),
        ("a sub path that goes up", mount(json!({"subPath": "a/../b"}))),
        ("two sub paths", mount(json!({"subPath": "a", "subPathExpr": "b"}))),
        ("a propagation", mount(json!({"mountPropagation": "X"}))),
        ("a propagation without privileges", mount(json!({"mountPropagation": "Bidirectional"}))),
        ("a probe without a handler", container(json!({"livenessProbe": {}}))),
        ("a probe with two handlers", probe(json!({"exec": {"command": ["x"]}}))),
        ("a probe's port", probe(json!({"httpGet": {"port": 0}}))),
        ("a probe's named port", probe(json!({"httpGet": {"port": "A_"}}))),
        ("a probe's scheme", probe(json!({"httpGet": {"scheme": "X"}}))),
        ("a probe's header", probe(json!({"httpGet": {"httpHeaders": [{"name": "a b", "value": "x"}]}}))),
        ("a probe's times", probe(json!({"initialDelaySeconds": -1, "timeoutSeconds": -1, "periodSeconds": -1, "successThreshold": -1, "failureThreshold": -1}))),
        ("a liveness probe that needs two successes", probe(json!({"successThreshold": 2}))),
        ("a startup probe that needs two successes", container(json!({"startupProbe": {"tcpSocket": {"port": 80}, "successThreshold": 2}}))),
        ("a probe without a command", container(json!({"readinessProbe": {"exec": {}}}))),
        ("a readiness probe with a grace period", container(json!({"readinessProbe": {"exec": {"command": ["x"]}, "terminationGracePeriodSeconds": 5}}))),
        ("a probe with a grace period", probe(json!({"terminationGracePeriodSeconds": 0}))),
        ("a handler of nothing", container(json!({"lifecycle": {"preStop": {}}}))),
        ("two handlers", container(json!({"lifecycle": {"postStart": {"exec": {"command": ["x"]}, "httpGet": {"port": 80}}}}))),
        ("a long sleep", container(json!({"lifecycle": {"preStop": {"sleep": {"seconds": 100}}}}))),
        ("more requested than allowed", resources(json!({"cpu": "2"}), json!({"cpu": "1"}))),
        ("more memory requested than allowed", resources(json!({"memory": "1Gi"}), json!({"memory": "1000Mi"}))),
        ("a negative amount", resources(json!({"cpu": "-1"}), json!({}))),
        ("a resource that is none", resources(json!({"bogus": "1"}), json!({}))),
        ("a resource's name", resources(json!({"a b/c": "1"}), json!({}))),
        ("a request of another's resource without a limit", resources(json!({"example.com/gpu": "1"}), json!({}))),
        ("another limit of another's resource", resources(json!({"example.com/gpu": "1"}), json!({"example.com/gpu": "2"}))),
        ("a part of another's resource", resources(json!({"example.com/gpu": "500m"}), json!({"example.com/gpu": "500m"}))),
        ("huge pages alone", resources(json!({"hugepages-2Mi": "2Mi"}), json!({"hugepages-2Mi": "2Mi"}))),
        ("bytes in parts", resources(json!({"memory": "100m"}), json!({}))),
        ("a user", container(json!({"securityContext": {"runAsUser": -1, "runAsGroup": -1}}))),
        ("a profile", container(json!({"securityContext": {"seccompProfile": {"type": "X"}}}))),
        ("a local profile without a name", container(json!({"securityContext": {"seccompProfile": {"type": "Localhost"}}}))),
        ("a proc mount", container(json!({"securityContext": {"procMount": "X"}}))),
        ("a resize policy", container(json!({"resizePolicy": [{"resourceName": "cpu", "restartPolicy": "X"}]}))),
        ("a device without a volume", container(json!({"volumeDevices": [{"name": "d", "devicePath": "/d"}]}))),
        ("two without a name", json!({"containers": [{"image": "x"}, {"image": "x"}], "initContainers": [{"image": "x"}]})),
        ("the order of what is wrong", json!({"containers": [{"name": "c", "image": "x", "restartPolicy": "X", "livenessProbe": {}}, {"name": "c", "image": " x", "ports": [{"containerPort": 1, "hostPort": 5}, {"containerPort": 2, "hostPort": 5}]}], "initContainers": [{"name": "c", "image": " i", "livenessProbe": {}}]})),
        ("several things", json!({"containers": [{"image": "x", "imagePullPolicy": "X"}, {"name": "b"}]})),
    ])
}

pub(super) fn volumes() -> Case {
    let mut kind = pod();
    kind.name = "volume";
    kind.specs([
        ("no name", volume(json!({"name": null}))),
        ("a name", volume(json!({"name": "A_"}))),
        ("a name twice", json!({"volumes": [{"name": "v"}, {"name": "v"}]})),
        ("two sources", volume(json!({"emptyDir": {}, "configMap": {"name": "m"}}))),
        ("a size", volume(json!({"emptyDir": {"sizeLimit": "-1"}}))),
        ("a path of the host", volume(json!({"hostPath": {"path": ""}}))),
        ("a path of the host that goes up", volume(json!({"hostPath": {"path": "/a/../b"}}))),
        ("a type of a path", volume(json!({"hostPath": {"path": "/x", "type": "X"}}))),
        ("a secret without a name", volume(json!({"secret": {}}))),
        ("a map without a name", volume(json!({"configMap": {}}))),
        ("a mode", volume(json!({"secret": {"secretName": "s", "defaultMode": 5000}}))),
        ("an item without a key", volume(json!({"configMap": {"name": "m", "items": [{"key": "", "path": "p"}]}}))),
        ("an item without a path", volume(json!({"configMap": {"name": "m", "items": [{"key": "k", "path": ""}]}}))),
        ("an item with an absolute path", volume(json!({"configMap": {"name": "m", "items": [{"key": "k", "path": "/p"}]}}))),
        ("an item that goes up", volume(json!({"configMap": {"name": "m", "items": [{"key": "k", "path": "../p"}]}}))),
        ("an item's mode", volume(json!({"configMap": {"name": "m", "items": [{"key": "k", "path": "p", "mode": -1}]}}))),
        ("a claim without a name", volume(json!({"persistentVolumeClaim": {"claimName": ""}}))),
        ("a server without a name", volume(json!({"nfs": {"server": "", "path": "/x"}}))),
        ("a server's path", volume(json!({"nfs": {"server": "s", "path": "x"}}))),
        ("a driver", volume(json!({"csi": {"driver": ""}}))),
        ("a projection of nothing", volume(json!({"projected": {"sources": [{}]}}))),
        ("a projection of two", volume(json!({"projected": {"sources": [{"secret": {"name": "s"}, "configMap": {"name": "m"}}]}}))),
        ("a projection without a name", volume(json!({"projected": {"sources": [{"secret": {}}]}}))),
        ("a projected token", with(volume(json!({"projected": {"sources": [{"serviceAccountToken": {"path": "", "expirationSeconds": 5}}]}})), json!({"serviceAccountName": "a"}))),
        ("a projected path twice", volume(json!({"projected": {"sources": [{"secret": {"name": "s", "items": [{"key": "a", "path": "p"}]}}, {"configMap": {"name": "m", "items": [{"key": "a", "path": "p"}]}}]}}))),
        ("a field", volume(json!({"downwardAPI": {"items": [{"path": "p", "fieldRef": {"fieldPath": "spec.bogus"}}]}}))),
        ("a field and a resource", volume(json!({"downwardAPI": {"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.name"}, "resourceFieldRef": {"containerName": "c", "resource": "limits.cpu"}}]}}))),
        ("neither field nor resource", volume(json!({"downwardAPI": {"items": [{"path": "p"}]}}))),
        ("a template without a spec", volume(json!({"ephemeral": {}}))),
        ("a template of a claim", volume(json!({"ephemeral": {"volumeClaimTemplate": {"spec": {}}}}))),
    ])
}

pub(super) fn pods() -> Case {
    let mut kind = pod();
    kind.name = "pod-spec";
    let term = |more: Value| {
        with(
            json!({"topologyKey": "k", "labelSelector": {"matchLabels": {"a": "b"}}}),
            more,
        )
    };
    let nodes = |more: Value| json!({"affinity": {"nodeAffinity": more}});
    let spread = |more: Value| {
        let right = json!({"maxSkew": 1, "topologyKey": "k", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"a": "b"}}});
        json!({"topologySpreadConstraints": [with(right, more)]})
    };
    kind.specs([
        ("a restart policy", json!({"restartPolicy": "Sometimes"})),
        ("a DNS policy", json!({"dnsPolicy": "X"})),
        ("no DNS", json!({"dnsPolicy": "None"})),
        ("a name server", json!({"dnsConfig": {"nameservers": ["x"]}})),
        ("a search path", json!({"dnsConfig": {"searches": ["a b"]}})),
        ("an option without a name", json!({"dnsConfig": {"options": [{"value": "x"}]}})),
        ("a deadline", json!({"activeDeadlineSeconds": 0})),
        ("a grace period", json!({"terminationGracePeriodSeconds": -1})),
        ("a node selector", json!({"nodeSelector": {"a b": "c"}})),
        ("a node selector's value", json!({"nodeSelector": {"a": "b c"}})),
        ("an account", json!({"serviceAccountName": "A_"})),
        ("a node", json!({"nodeName": "A_"})),
        ("a host name", json!({"hostname": "a.b"})),
        ("a sub domain", json!({"subdomain": "A_"})),
        ("a scheduler", json!({"schedulerName": "A_"})),
        ("a pull secret without a name", json!({"imagePullSecrets": [{}]})),
        ("a host's alias", json!({"hostAliases": [{"ip": "x", "hostnames": ["a b"]}]})),
        ("an operator", toleration(json!({"key": "a", "operator": "X"}))),
        ("a value of what exists", toleration(json!({"key": "a", "operator": "Exists", "value": "x"}))),
        ("no key", toleration(json!({"operator": "Equal", "value": "x"}))),
        ("a key", toleration(json!({"key": "a b", "operator": "Exists"}))),
        ("a value", toleration(json!({"key": "a", "value": "a b"}))),
        ("an effect", toleration(json!({"key": "a", "operator": "Exists", "effect": "X"}))),
        ("seconds of another effect", toleration(json!({"key": "a", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 5}))),
        ("no terms", nodes(json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}))),
        ("a term's operator", nodes(json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "X"}]}]}}))),
        ("a term without values", nodes(json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In"}, {"key": "a", "operator": "Exists", "values": ["b"]}, {"key": "a", "operator": "Gt", "values": ["1", "2"]}]}]}}))),
        ("a term's field", nodes(json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": [{"key": "a", "operator": "In", "values": ["b"]}]}]}}))),
        ("a weight of a node", nodes(json!({"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 0, "preference": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}]}))),
        ("no topology", json!({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term(json!({"topologyKey": ""}))]}}})),
        ("a topology", json!({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term(json!({"topologyKey": "a b"}))]}}})),
        ("a weight", json!({"affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 101, "podAffinityTerm": term(json!({}))}]}}})),
        ("a selector of others", json!({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term(json!({"labelSelector": {"matchExpressions": [{"key": "a", "operator": "X"}]}}))]}}})),
        ("a namespace of others", json!({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term(json!({"namespaces": ["A_"]}))]}}})),
        ("a skew", spread(json!({"maxSkew": 0}))),
        ("no key of a spread", spread(json!({"topologyKey": ""}))),
        ("what is unsatisfiable", spread(json!({"whenUnsatisfiable": "X"}))),
        ("domains", spread(json!({"minDomains": 0}))),
        ("domains of another rule", spread(json!({"minDomains": 2, "whenUnsatisfiable": "ScheduleAnyway"}))),
        ("a spread twice", json!({"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "k", "whenUnsatisfiable": "DoNotSchedule"}, {"maxSkew": 2, "topologyKey": "k", "whenUnsatisfiable": "DoNotSchedule"}]})),
        ("a policy of a spread", spread(json!({"nodeAffinityPolicy": "X"}))),
        ("a user", json!({"securityContext": {"runAsUser": -1, "runAsGroup": -1, "fsGroup": -1, "supplementalGroups": [-1]}})),
        ("a group's policy", json!({"securityContext": {"fsGroupChangePolicy": "X"}})),
        ("a sysctl", json!({"securityContext": {"sysctls": [{"name": "a b", "value": "x"}, {"name": "", "value": "x"}]}})),
        ("a sysctl twice", json!({"securityContext": {"sysctls": [{"name": "kernel.shm_rmid_forced", "value": "0"}, {"name": "kernel.shm_rmid_forced", "value": "0"}]}})),
        ("a shared namespace and the host's", json!({"hostPID": true, "shareProcessNamespace": true})),
        ("a scheduling gate", json!({"schedulingGates": [{"name": "a b"}, {"name": "c"}, {"name": "c"}]})),
        ("a node of what is gated", json!({"nodeName": "n", "schedulingGates": [{"name": "a"}]})),
        ("a readiness gate", json!({"readinessGates": [{"conditionType": "a b"}]})),
        ("an operating system", json!({"os": {"name": "x"}})),
        ("many search paths", json!({"dnsConfig": {"searches": (0..33).map(|n| format!("a{n}")).collect::<Vec<_>>()}})),
        ("long search paths", json!({"dnsConfig": {"searches": (0..9).map(|n| ["a"; 127].join(".") + &n.to_string()).collect::<Vec<_>>()}})),
        ("no claims", json!({"resourceClaims": [{"name": ""}]})),
        ("addresses with zeros", json!({"hostAliases": [{"ip": "010.0.0.1"}, {"ip": "::ffff:1.2.3.4"}], "dnsConfig": {"nameservers": ["010.0.0.1", "::ffff:1.2.3.4"]}})),
        ("claims of the pod", json!({"resources": {"claims": [{"name": "a"}], "requests": {"cpu": "1"}}})),
        ("containers that claim", json!({
            "resourceClaims": [{"name": "b", "resourceClaimName": "x"}, {"name": "a", "resourceClaimName": "x"}],
            "containers": [{"name": "c", "image": "i", "resources": {"claims": [
                {"name": ""}, {"name": "a"}, {"name": "a"}, {"name": "c"}, {"name": "b", "request": "A_"}, {"name": "b", "request": "r"}, {"name": "b", "request": "r"},
                {"name": "b"}]}}]})),
        ("a container that claims what is in no pod", json!({"containers": [{"name": "c", "image": "i", "resources": {"claims": [{"name": "a", "request": "r"}]}}]})),
        ("claims", json!({"resourceClaims": [
            {"name": "A_", "resourceClaimName": "B_"}, {"name": "a", "resourceClaimTemplateName": "B_"}, {"name": "a", "resourceClaimName": "b"},
            {"name": "b", "resourceClaimName": "c", "resourceClaimTemplateName": "d"}, {"name": "c"}]})),
    ])
}

pub(super) fn pod_changes() -> Case {
    let right = with(
        container(json!({"resources": {"requests": {"cpu": "1"}}})),
        json!({
            "initContainers": [{"name": "i", "image": "x"}], "activeDeadlineSeconds": 50,
            "tolerations": [{"key": "a", "operator": "Exists"}], "nodeSelector": {"a": "b"},
        }),
    );
    let kind = Kind::new("pod", PODS, right);
    let containers = |more: Value| json!({"containers": [with(json!({"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "1"}}}), more)]});
    let rows = [
        ("an image", containers(json!({"image": "other"}))),
        ("no image", containers(json!({"image": null}))),
        (
            "another container",
            json!({"containers": [{"name": "c", "image": "nginx"}, {"name": "d", "image": "x"}]}),
        ),
        ("no init containers", json!({"initContainers": []})),
        ("a longer deadline", json!({"activeDeadlineSeconds": 60})),
        ("a shorter deadline", json!({"activeDeadlineSeconds": 40})),
        ("no deadline", json!({"activeDeadlineSeconds": null})),
        (
            "one more toleration",
            json!({"tolerations": [{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}]}),
        ),
        ("a scheduling gate", json!({"schedulingGates": [{"name": "a"}]})),
        ("an account", json!({"serviceAccountName": "x"})),
        ("a priority", json!({"priority": 5})),
    ];
    kind.changes(rows.map(|(what, spec)| (what, json!({"spec": spec}))))
}

/// Where a pod may be scheduled can get narrower while a gate holds it back.
pub(super) fn gated_changes() -> Case {
    let require = |values: &[&str]| json!({"key": "k", "operator": "In", "values": values});
    let terms = |terms: Value| {
        let required = json!({"nodeSelectorTerms": terms});
        json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}})
    };
    let [a, b] = ["a", "b"].map(|value| require(&[value]));
    let right = with(
        container(json!({})),
        with(
            terms(json!([{"matchExpressions": [a]}])),
            json!({"schedulingGates": [{"name": "g"}], "nodeSelector": {"a": "b"}}),
        ),
    );
    let kind = Kind::new("gated-pod", PODS, right);
    let rows = [
        ("no gate", json!({"schedulingGates": []})),
        ("another gate", json!({"schedulingGates": [{"name": "h"}]})),
        ("one more label of nodes", json!({"nodeSelector": {"c": "d"}})),
        ("another label of nodes", json!({"nodeSelector": {"a": "c"}})),
        ("no label of nodes", json!({"nodeSelector": null})),
        (
            "one more requirement",
            terms(json!([{"matchExpressions": [a, b]}])),
        ),
        (
            "one more field",
            terms(
                json!([{"matchExpressions": [a], "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]),
            ),
        ),
        ("another requirement", terms(json!([{"matchExpressions": [b]}]))),
        (
            "one more term",
            terms(json!([{"matchExpressions": [a]}, {"matchExpressions": [b]}])),
        ),
        ("no term", json!({"affinity": {"nodeAffinity": null}})),
        ("no affinity", json!({"affinity": null})),
        (
            "a preference",
            json!({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {"matchExpressions": [a]}}]}}}),
        ),
        (
            "an affinity to pods",
            json!({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "z", "labelSelector": {}}]}}}),
        ),
        (
            "an account",
            json!({"serviceAccountName": "x", "nodeSelector": {"c": "d"}}),
        ),
    ];
    kind.changes(rows.map(|(what, spec)| (what, json!({"spec": spec}))))
}

/// What has no affinity may get one while a gate holds it back.
pub(super) fn gated_without_affinity() -> Case {
    let right = with(container(json!({})), json!({"schedulingGates": [{"name": "g"}]}));
    let kind = Kind::new("gated-pod-without-affinity", PODS, right);
    let required = json!({"nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "Exists"}]}]});
    let rows = [
        (
            "an affinity to nodes",
            json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}),
        ),
        ("an affinity to nothing", json!({"affinity": {}})),
        (
            "an affinity to pods",
            json!({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "z", "labelSelector": {}}]}}}),
        ),
        ("a label of nodes", json!({"nodeSelector": {"c": "d"}})),
    ];
    kind.changes(rows.map(|(what, spec)| (what, json!({"spec": spec}))))
}
