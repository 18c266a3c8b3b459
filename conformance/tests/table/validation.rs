//! What a real server refuses in the specs of built-in kinds: objects that are right but for one thing.

use serde_json::{Value, json};

use crate::case::{Ask, Case, Step, merge, post};
use crate::objects::PODS;

/// Where a kind is created, and an object of it that is right.
struct Kind {
    name: &'static str,
    path: &'static str,
    right: Value,
}

impl Kind {
    fn new(name: &'static str, path: &'static str, spec: Value) -> Self {
        Self::whole(name, path, json!({"spec": spec}))
    }

    /// Of a kind without a spec.
    fn whole(name: &'static str, path: &'static str, mut right: Value) -> Self {
        right["metadata"]["name"] = "x".into();
        Self { name, path, right }
    }

    /// A case of objects that are made from the right one by a merge patch of the spec.
    fn specs(self, rows: impl IntoIterator<Item = (&'static str, Value)>) -> Case {
        self.objects(rows.into_iter().map(|(what, spec)| (what, json!({"spec": spec}))))
    }

    /// A case of objects that are made from the right one by a merge patch.
    fn objects(self, rows: impl IntoIterator<Item = (&'static str, Value)>) -> Case {
        let asks = rows.into_iter().map(|(what, patch)| {
            let mut object = self.right.clone();
            patched(&mut object, patch);
            let path = format!("{}?dryRun=All", self.path);
            said(post(&path, &object)).named(format!("{}: {what}", self.name))
        });
        Case::new(&format!("validation-{}", self.name)).asks(asks.collect::<Vec<_>>())
    }

    /// A case of changes of the right object, by merge patches.
    fn changes(self, rows: impl IntoIterator<Item = (&'static str, Value)>) -> Case {
        let path = format!("{}/x?dryRun=All", self.path);
        let changes = rows
            .into_iter()
            .map(|(what, patch)| said(merge(&path, &patch)).named(what));
        let case = Case::new(&format!("validation-changed-{}", self.name));
        case.ask(said(post(self.path, &self.right)).named("create"))
            .asks(changes.collect::<Vec<_>>())
    }
}

impl Case {
    /// The same, without the messages, which show the object.
    fn reasons(mut self) -> Self {
        for step in &mut self.steps {
            if let Step::Ask(ask) = step {
                ask.only = vec!["/reason"];
            }
        }
        self
    }
}

/// Only why it is refused is compared: what is accepted has other tables.
fn said(ask: Ask) -> Ask {
    ask.only(["/message", "/reason", "/details"])
}

/// A merge patch.
fn patched(value: &mut Value, patch: Value) {
    match (value, patch) {
        (Value::Object(object), Value::Object(patch)) => {
            for (name, patch) in patch {
                match patch {
                    Value::Null => _ = object.remove(&name),
                    patch => patched(object.entry(name).or_insert(json!({})), patch),
                }
            }
        }
        (value, patch) => *value = patch,
    }
}

fn with(mut value: Value, patch: Value) -> Value {
    patched(&mut value, patch);
    value
}

/// A spec with a container that has something more.
fn container(more: Value) -> Value {
    json!({"containers": [with(json!({"name": "c", "image": "nginx"}), more)]})
}

fn volume(more: Value) -> Value {
    json!({"volumes": [with(json!({"name": "v"}), more)]})
}

fn port(more: Value) -> Value {
    container(json!({"ports": [with(json!({"containerPort": 80}), more)]}))
}

fn env(more: Value) -> Value {
    container(json!({"env": [with(json!({"name": "A"}), more)]}))
}

fn mount(more: Value) -> Value {
    let spec = container(json!({"volumeMounts": [with(json!({"name": "v", "mountPath": "/v"}), more)]}));
    with(spec, json!({"volumes": [{"name": "v"}]}))
}

fn probe(more: Value) -> Value {
    container(json!({"livenessProbe": with(json!({"httpGet": {"port": 80}}), more)}))
}

fn resources(requests: Value, limits: Value) -> Value {
    container(json!({"resources": {"requests": requests, "limits": limits}}))
}

fn toleration(toleration: Value) -> Value {
    json!({"tolerations": [toleration]})
}

fn pod() -> Kind {
    Kind::new("pod", PODS, container(json!({})))
}

fn containers() -> Case {
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
        ("several things", json!({"containers": [{"image": "x", "imagePullPolicy": "X"}, {"name": "b"}]})),
    ])
}

fn volumes() -> Case {
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

fn pods() -> Case {
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
    ])
}

fn pod_changes() -> Case {
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

fn template(spec: Value) -> Value {
    json!({"metadata": {"labels": {"a": "b"}}, "spec": spec})
}

fn selected() -> Value {
    json!({"selector": {"matchLabels": {"a": "b"}}, "template": template(container(json!({})))})
}

/// What all kinds with a selector and a template refuse.
fn selections() -> Vec<(&'static str, Value)> {
    vec![
        ("no spec", json!(null)),
        ("no selector", json!({"selector": null})),
        ("an empty selector", json!({"selector": {"matchLabels": null}})),
        (
            "another selector",
            json!({"selector": {"matchLabels": {"a": "c"}}}),
        ),
        (
            "a selector's label",
            json!({"selector": {"matchLabels": {"a b": "c d"}}}),
        ),
        (
            "a selector's operator",
            json!({"selector": {"matchExpressions": [{"key": "a", "operator": "X"}]}}),
        ),
        (
            "a selector without values",
            json!({"selector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}),
        ),
        (
            "a selector with values",
            json!({"selector": {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}}),
        ),
        (
            "a selector's key",
            json!({"selector": {"matchExpressions": [{"key": "a b", "operator": "Exists"}]}}),
        ),
        ("no template", json!({"template": null})),
        ("no containers", json!({"template": {"spec": {"containers": []}}})),
        (
            "a restart policy",
            json!({"template": {"spec": {"restartPolicy": "Never"}}}),
        ),
        (
            "a deadline of pods",
            json!({"template": {"spec": {"activeDeadlineSeconds": 5}}}),
        ),
        (
            "a label of the template",
            json!({"template": {"metadata": {"labels": {"c d": "e"}}}}),
        ),
        (
            "an annotation of the template",
            json!({"template": {"metadata": {"annotations": {"c d": "e"}}}}),
        ),
        (
            "a volume of the template",
            json!({"template": {"spec": {"containers": [{"name": "c", "image": "x", "volumeMounts": [{"name": "w", "mountPath": "/w"}]}]}}}),
        ),
        ("negative replicas", json!({"replicas": -1})),
        ("a negative time", json!({"minReadySeconds": -1})),
        ("a negative history", json!({"revisionHistoryLimit": -1})),
    ]
}

fn workloads() -> Vec<Case> {
    let rolling = |more: Value| json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": more}});
    let claim = json!({"metadata": {"name": "d"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}});
    let mut of_deployments = selections();
    of_deployments.extend([
        ("a strategy", json!({"strategy": {"type": "X"}})),
        (
            "parameters of another strategy",
            json!({"strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}}),
        ),
        (
            "no progress",
            rolling(json!({"maxSurge": 0, "maxUnavailable": 0})),
        ),
        ("a percentage", rolling(json!({"maxSurge": "x%"}))),
        (
            "too large a percentage",
            rolling(json!({"maxUnavailable": "150%"})),
        ),
        ("a negative number", rolling(json!({"maxUnavailable": -1}))),
        (
            "a short deadline",
            json!({"progressDeadlineSeconds": 5, "minReadySeconds": 10}),
        ),
        ("a negative deadline", json!({"progressDeadlineSeconds": -1})),
    ]);
    let mut of_stateful_sets = selections();
    of_stateful_sets.extend([
        ("a management policy", json!({"podManagementPolicy": "X"})),
        ("a strategy", json!({"updateStrategy": {"type": "X"}})),
        (
            "a partition",
            json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": -1}}}),
        ),
        (
            "a partition of another strategy",
            json!({"updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 1}}}),
        ),
        (
            "a claim without modes",
            json!({"volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": {}}]}),
        ),
        ("a claim", json!({"volumeClaimTemplates": [claim]})),
        (
            "a retention",
            json!({"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "X"}}),
        ),
        ("ordinals", json!({"ordinals": {"start": -1}})),
        ("a service's name", json!({"serviceName": "A_"})),
    ]);
    let mut of_daemon_sets = selections();
    of_daemon_sets.extend([
        ("a strategy", json!({"updateStrategy": {"type": "X"}})),
        ("no progress", json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0}}})),
        ("too much progress", json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}})),
    ]);
    let apps = "/apis/apps/v1/namespaces/{ns}";
    let path = |plural: &str| -> &'static str { format!("{apps}/{plural}").leak() };
    let changes = || {
        vec![
            (
                "a selector",
                json!({"spec": {"selector": {"matchLabels": {"a": "c"}}, "template": {"metadata": {"labels": {"a": "c"}}}}}),
            ),
            (
                "a selector that does not match",
                json!({"spec": {"selector": {"matchLabels": {"a": "c"}}}}),
            ),
            (
                "a template that does not match",
                json!({"spec": {"template": {"metadata": {"labels": {"a": "c"}}}}}),
            ),
            ("negative replicas", json!({"spec": {"replicas": -1}})),
            (
                "no containers",
                json!({"spec": {"template": {"spec": {"containers": []}}}}),
            ),
            (
                "another image",
                json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "x"}]}}}}),
            ),
        ]
    };
    let mut of_stateful = changes();
    of_stateful.extend([
        ("a service", json!({"spec": {"serviceName": "t"}})),
        ("claims", json!({"spec": {"volumeClaimTemplates": [claim]}})),
        (
            "a management policy",
            json!({"spec": {"podManagementPolicy": "Parallel"}}),
        ),
        (
            "a history",
            json!({"spec": {"revisionHistoryLimit": 3, "minReadySeconds": 3}}),
        ),
    ]);
    let controller = json!({"selector": {"a": "b"}, "template": template(container(json!({})))});
    vec![
        Kind::new("deployment", path("deployments"), selected()).specs(of_deployments),
        Kind::new("replicaset", path("replicasets"), selected()).specs(selections()),
        Kind::new("statefulset", path("statefulsets"), selected()).specs(of_stateful_sets),
        Kind::new("daemonset", path("daemonsets"), selected()).specs(of_daemon_sets),
        Kind::new(
            "replicationcontroller",
            "/api/v1/namespaces/{ns}/replicationcontrollers",
            controller,
        )
        .specs([
            ("another selector", json!({"selector": {"a": "c"}})),
            ("no template", json!({"template": null})),
            ("negative replicas", json!({"replicas": -1})),
            (
                "a restart policy",
                json!({"template": {"spec": {"restartPolicy": "Never"}}}),
            ),
        ]),
        Kind::new("deployment", path("deployments"), selected()).changes(changes()),
        Kind::new("replicaset", path("replicasets"), selected()).changes(changes()),
        Kind::new("statefulset", path("statefulsets"), selected()).changes(of_stateful),
        Kind::new("daemonset", path("daemonsets"), selected()).changes(changes()),
    ]
}

fn jobs() -> Vec<Case> {
    let never = || with(container(json!({})), json!({"restartPolicy": "Never"}));
    let rule = |rule: Value| json!({"podFailurePolicy": {"rules": [rule]}});
    let job = || {
        Kind::new(
            "job",
            "/apis/batch/v1/namespaces/{ns}/jobs",
            json!({"template": {"spec": never()}}),
        )
    };
    let cron = json!({"schedule": "* * * * *", "jobTemplate": {"spec": {"template": {"spec": never()}}}});
    let cron = || Kind::new("cronjob", "/apis/batch/v1/namespaces/{ns}/cronjobs", cron.clone());
    vec![
        job().specs([
            ("a restart policy", json!({"template": {"spec": {"restartPolicy": null}}})),
            ("no template", json!({"template": null})),
            ("negative numbers", json!({"parallelism": -1, "completions": -1, "backoffLimit": -1, "activeDeadlineSeconds": -1, "ttlSecondsAfterFinished": -1})),
            ("a completion mode", json!({"completionMode": "X"})),
            ("no completions of what is indexed", json!({"completionMode": "Indexed"})),
            ("no selector by hand", json!({"manualSelector": true})),
            ("a selector by hand", json!({"manualSelector": true, "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}}})),
            ("another selector by hand", json!({"manualSelector": true, "selector": {"matchLabels": {"a": "c"}}, "template": {"metadata": {"labels": {"a": "b"}}}})),
            ("a replacement policy", json!({"podReplacementPolicy": "X"})),
            ("a limit for each index", json!({"backoffLimitPerIndex": 1})),
            ("failed indexes", json!({"maxFailedIndexes": 1})),
            ("a failure policy's action", rule(json!({"action": "X", "onExitCodes": {"operator": "In", "values": [1]}}))),
            ("a failure policy's operator", rule(json!({"action": "FailJob", "onExitCodes": {"operator": "X", "values": [1]}}))),
            ("a failure policy without codes", rule(json!({"action": "FailJob", "onExitCodes": {"operator": "In", "values": []}}))),
            ("a failure policy of nothing", rule(json!({"action": "FailJob"}))),
            ("a failure policy of success", rule(json!({"action": "FailJob", "onExitCodes": {"operator": "In", "values": [0]}}))),
            ("a failure policy and restarts", with(rule(json!({"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}})), json!({"template": {"spec": {"restartPolicy": "OnFailure"}}}))),
        ]),
        // The selector that is shown has a uid.
        Kind { name: "job-selector", ..job() }.specs([("a selector", json!({"selector": {"matchLabels": {"a": "b"}}}))]).reasons(),
        job().changes([
            ("a template", json!({"spec": {"template": {"metadata": {"labels": {"x": "y"}}}}})),
            ("completions", json!({"spec": {"completions": 3}})),
            ("a mode", json!({"spec": {"completionMode": "Indexed"}})),
            ("a limit for each index", json!({"spec": {"backoffLimitPerIndex": 3}})),
            ("a negative parallelism", json!({"spec": {"parallelism": -3}})),
            ("a failure policy", json!({"spec": {"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}]}}})),
        ]).reasons(),
        cron().specs([
            ("no schedule", json!({"schedule": ""})),
            ("a schedule", json!({"schedule": "x"})),
            ("a schedule of four fields", json!({"schedule": "* * * *"})),
            ("a minute", json!({"schedule": "60 * * * *"})),
            ("a step", json!({"schedule": "*/0 * * * *"})),
            ("a range", json!({"schedule": "5-1 * * * *"})),
            ("a month's name", json!({"schedule": "0 0 1 jan mon-fri"})),
            ("a macro", json!({"schedule": "@daily"})),
            ("another macro", json!({"schedule": "@bogus"})),
            ("every hour", json!({"schedule": "@every 1h30m"})),
            ("every something", json!({"schedule": "@every x"})),
            ("a zone in the schedule", json!({"schedule": "TZ=UTC * * * * *"})),
            ("a zone", json!({"timeZone": "Europe/Berlin"})),
            ("a zone that is none", json!({"timeZone": "Mars/Base"})),
            ("no zone", json!({"timeZone": ""})),
            ("the local zone", json!({"timeZone": "Local"})),
            ("a concurrency", json!({"concurrencyPolicy": "X"})),
            ("a negative deadline", json!({"startingDeadlineSeconds": -1})),
            ("negative histories", json!({"successfulJobsHistoryLimit": -1, "failedJobsHistoryLimit": -1})),
            ("a restart policy", json!({"jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Always"}}}}})),
            ("a selector", json!({"jobTemplate": {"spec": {"selector": {"matchLabels": {"a": "b"}}}}})),
            ("no containers", json!({"jobTemplate": {"spec": {"template": {"spec": {"containers": []}}}}})),
        ]),
        cron().changes([
            ("a schedule", json!({"spec": {"schedule": "x"}})),
            ("a template", json!({"spec": {"jobTemplate": {"spec": {"completions": 2}}}})),
        ]),
    ]
}

fn services() -> Vec<Case> {
    let service = || {
        Kind::new(
            "service",
            "/api/v1/namespaces/{ns}/services",
            json!({"selector": {"a": "b"}, "ports": [{"port": 80}]}),
        )
    };
    let port = |more: Value| json!({"ports": [with(json!({"port": 80}), more)]});
    vec![
        service().specs([
            ("no ports", json!({"ports": []})),
            ("no ports of what is headless", json!({"ports": [], "clusterIP": "None"})),
            ("a port", port(json!({"port": 0}))),
            ("a large port", port(json!({"port": 70000}))),
            ("a protocol", port(json!({"protocol": "X"}))),
            ("a port's name", port(json!({"name": "A_"}))),
            ("a target", port(json!({"targetPort": 70000}))),
            ("a target's name", port(json!({"targetPort": "A_"}))),
            ("a long target's name", port(json!({"targetPort": "a-very-long-name-of-a-port"}))),
            ("ports without names", json!({"ports": [{"port": 80}, {"port": 81}]})),
            ("a name twice", json!({"ports": [{"port": 80, "name": "a"}, {"port": 81, "name": "a"}]})),
            ("a port twice", json!({"ports": [{"port": 80, "name": "a"}, {"port": 80, "name": "b"}]})),
            ("a port of two protocols", json!({"ports": [{"port": 80, "name": "a"}, {"port": 80, "name": "b", "protocol": "UDP"}]})),
            ("a node port of an address", port(json!({"nodePort": 30100}))),
            ("a node port out of range", with(port(json!({"nodePort": 5})), json!({"type": "NodePort"}))),
            ("a type", json!({"type": "X"})),
            ("an affinity", json!({"sessionAffinity": "X"})),
            ("an affinity's time", json!({"sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 0}}})),
            ("a time without an affinity", json!({"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 5}}})),
            ("an address", json!({"clusterIP": "x"})),
            ("a selector", json!({"selector": {"a b": "c"}})),
            ("a selector's value", json!({"selector": {"a": "b c"}})),
            ("an external name", json!({"type": "ExternalName"})),
            ("an external name that is none", json!({"type": "ExternalName", "externalName": "A_"})),
            ("an external name with an address", json!({"type": "ExternalName", "externalName": "a.example", "clusterIP": "10.96.0.77"})),
            ("an external address", json!({"externalIPs": ["x"]})),
            ("an external address that loops", json!({"externalIPs": ["127.0.0.1"]})),
            ("a source range", json!({"type": "LoadBalancer", "loadBalancerSourceRanges": ["x"]})),
            ("a source range of another type", json!({"loadBalancerSourceRanges": ["10.0.0.0/8"]})),
            ("an external policy", json!({"externalTrafficPolicy": "Local"})),
            ("an external policy that is none", json!({"type": "NodePort", "externalTrafficPolicy": "X"})),
            ("an internal policy", json!({"internalTrafficPolicy": "X"})),
            ("a headless node port", json!({"type": "NodePort", "clusterIP": "None"})),
            ("a class", json!({"loadBalancerClass": "a"})),
            ("an application's protocol", port(json!({"appProtocol": "a b"}))),
            ("a family", json!({"ipFamilies": ["X"]})),
            ("a family's policy", json!({"ipFamilyPolicy": "X"})),
            ("a health check's port", json!({"healthCheckNodePort": 30101})),
        ]),
        // The ranges of the two servers differ.
        Kind { name: "service-address", ..service() }.specs([("an address out of range", json!({"clusterIP": "1.2.3.4"}))]).reasons(),
        service().changes([
            ("no ports", json!({"spec": {"ports": []}})),
            ("a type", json!({"spec": {"type": "X"}})),
            ("a headless service", json!({"spec": {"clusterIP": "None", "clusterIPs": ["None"]}})),
            ("a node port", json!({"spec": {"type": "NodePort"}})),
            ("an external name", json!({"spec": {"type": "ExternalName", "externalName": "a.example"}})),
        ]),
    ]
}

fn storage() -> Vec<Case> {
    let claim = || {
        Kind::new(
            "claim",
            "/api/v1/namespaces/{ns}/persistentvolumeclaims",
            json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "s"}),
        )
    };
    let volume = || {
        Kind::new(
            "persistentvolume",
            "/api/v1/persistentvolumes",
            json!({"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}),
        )
    };
    let class = || {
        Kind::whole(
            "storageclass",
            "/apis/storage.k8s.io/v1/storageclasses",
            json!({"provisioner": "x.example", "parameters": {"a": "b"}}),
        )
    };
    vec![
        claim().specs([
            ("no modes", json!({"accessModes": []})),
            ("a mode", json!({"accessModes": ["X"]})),
            (
                "a mode of one pod with another",
                json!({"accessModes": ["ReadWriteOncePod", "ReadWriteOnce"]}),
            ),
            ("no storage", json!({"resources": null})),
            (
                "no storage of what is there",
                json!({"resources": {"requests": {"storage": "0"}}}),
            ),
            (
                "a negative storage",
                json!({"resources": {"requests": {"storage": "-1"}}}),
            ),
            (
                "another resource",
                json!({"resources": {"requests": {"storage": "1Gi", "cpu": "1"}}}),
            ),
            ("a class", json!({"storageClassName": "A_"})),
            ("a mode of volumes", json!({"volumeMode": "X"})),
            (
                "a selector",
                json!({"selector": {"matchExpressions": [{"key": "a", "operator": "X"}]}}),
            ),
            ("a source", json!({"dataSource": {"kind": "Other", "name": "x"}})),
            (
                "a source without a name",
                json!({"dataSource": {"kind": "PersistentVolumeClaim", "name": ""}}),
            ),
        ]),
        claim()
            .changes([
                ("a mode", json!({"spec": {"accessModes": ["ReadWriteMany"]}})),
                (
                    "more storage",
                    json!({"spec": {"resources": {"requests": {"storage": "2Gi"}}}}),
                ),
                (
                    "less storage",
                    json!({"spec": {"resources": {"requests": {"storage": "1Mi"}}}}),
                ),
                ("a class", json!({"spec": {"storageClassName": "t"}})),
                ("a volume", json!({"spec": {"volumeName": "v"}})),
            ])
            .reasons(),
        volume().objects([
            ("no capacity", json!({"spec": {"capacity": null}})),
            (
                "another capacity",
                json!({"spec": {"capacity": {"storage": "1Gi", "cpu": "1"}}}),
            ),
            (
                "no capacity at all",
                json!({"spec": {"capacity": {"storage": "0"}}}),
            ),
            ("no modes", json!({"spec": {"accessModes": []}})),
            ("a mode", json!({"spec": {"accessModes": ["X"]}})),
            ("no source", json!({"spec": {"hostPath": null}})),
            (
                "two sources",
                json!({"spec": {"nfs": {"server": "s", "path": "/x"}}}),
            ),
            (
                "a policy",
                json!({"spec": {"persistentVolumeReclaimPolicy": "X"}}),
            ),
            ("a mode of volumes", json!({"spec": {"volumeMode": "X"}})),
            ("a class", json!({"spec": {"storageClassName": "A_"}})),
            (
                "a local path without a node",
                json!({"spec": {"hostPath": null, "local": {"path": "/x"}}}),
            ),
            (
                "a driver without a handle",
                json!({"spec": {"hostPath": null, "csi": {"driver": "d", "volumeHandle": ""}}}),
            ),
            (
                "a path that is to be recycled",
                json!({"spec": {"hostPath": {"path": "/"}, "persistentVolumeReclaimPolicy": "Recycle"}}),
            ),
        ]),
        class().objects([
            ("no provisioner", json!({"provisioner": ""})),
            ("a provisioner", json!({"provisioner": "A b"})),
            ("a policy", json!({"reclaimPolicy": "X"})),
            ("a mode", json!({"volumeBindingMode": "X"})),
            ("a parameter without a name", json!({"parameters": {"": "x"}})),
            (
                "a topology",
                json!({"allowedTopologies": [{"matchLabelExpressions": [{"key": "a b", "values": []}]}]}),
            ),
        ]),
    ]
}

fn networks() -> Vec<Case> {
    let backend = json!({"service": {"name": "s", "port": {"number": 80}}});
    let ingress = Kind::new(
        "ingress",
        "/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses",
        json!({"defaultBackend": backend}),
    );
    let rule = |more: Value| {
        let path = with(
            json!({"path": "/", "pathType": "Prefix", "backend": backend}),
            more,
        );
        json!({"rules": [{"http": {"paths": [path]}}]})
    };
    let policy = Kind::new(
        "networkpolicy",
        "/apis/networking.k8s.io/v1/namespaces/{ns}/networkpolicies",
        json!({"podSelector": {}}),
    );
    let peer = |peer: Value| json!({"ingress": [{"from": [peer]}]});
    let slice = Kind::whole(
        "endpointslice",
        "/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices",
        json!({"addressType": "IPv4", "endpoints": [{"addresses": ["1.2.3.4"]}], "ports": [{"port": 80}]}),
    );
    let endpoints = Kind::whole(
        "endpoints",
        "/api/v1/namespaces/{ns}/endpoints",
        json!({"subsets": [{"addresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 80}]}]}),
    );
    let class = Kind::new(
        "ingressclass",
        "/apis/networking.k8s.io/v1/ingressclasses",
        json!({"controller": "a.example/x"}),
    );
    vec![
        ingress.specs([
            ("neither rule nor backend", json!({"defaultBackend": null})),
            (
                "a backend of nothing",
                json!({"defaultBackend": {"service": null}}),
            ),
            (
                "a backend without a name",
                json!({"defaultBackend": {"service": {"name": ""}}}),
            ),
            (
                "a backend's name",
                json!({"defaultBackend": {"service": {"name": "A_"}}}),
            ),
            (
                "a backend without a port",
                json!({"defaultBackend": {"service": {"port": null}}}),
            ),
            (
                "a backend with two ports",
                json!({"defaultBackend": {"service": {"port": {"name": "a"}}}}),
            ),
            (
                "a backend's port",
                json!({"defaultBackend": {"service": {"port": {"number": 70000}}}}),
            ),
            (
                "a backend's port's name",
                json!({"defaultBackend": {"service": {"port": {"number": null, "name": "A_"}}}}),
            ),
            (
                "two backends",
                json!({"defaultBackend": {"resource": {"kind": "X", "name": "x"}}}),
            ),
            ("no type of a path", rule(json!({"pathType": null}))),
            ("a type of a path", rule(json!({"pathType": "X"}))),
            ("a relative path", rule(json!({"path": "x"}))),
            ("no path", rule(json!({"path": null}))),
            ("a path with two slashes", rule(json!({"path": "/a//b"}))),
            (
                "a rule without a backend",
                rule(json!({"backend": {"service": null}})),
            ),
            ("no paths", json!({"rules": [{"http": {"paths": []}}]})),
            ("a host", json!({"rules": [{"host": "A_"}]})),
            ("an address as a host", json!({"rules": [{"host": "1.2.3.4"}]})),
            (
                "all hosts of a domain",
                json!({"rules": [{"host": "*.a.example"}]}),
            ),
            (
                "all hosts in the middle",
                json!({"rules": [{"host": "a.*.example"}]}),
            ),
            (
                "a certificate's host",
                json!({"tls": [{"hosts": ["A_"], "secretName": "A_"}]}),
            ),
            ("a class", json!({"ingressClassName": "A_"})),
        ]),
        policy.specs([
            ("a type", json!({"policyTypes": ["X"]})),
            (
                "three types",
                json!({"policyTypes": ["Ingress", "Egress", "Ingress"]}),
            ),
            (
                "a selector",
                json!({"podSelector": {"matchLabels": {"a b": "c"}}}),
            ),
            (
                "a selector's operator",
                json!({"podSelector": {"matchExpressions": [{"key": "a", "operator": "X"}]}}),
            ),
            ("a peer of nothing", peer(json!({}))),
            (
                "a block and a selector",
                peer(json!({"ipBlock": {"cidr": "10.0.0.0/8"}, "podSelector": {}})),
            ),
            ("a block", peer(json!({"ipBlock": {"cidr": "x"}}))),
            ("no block", peer(json!({"ipBlock": {"cidr": ""}}))),
            (
                "an exception",
                peer(json!({"ipBlock": {"cidr": "10.0.0.0/8", "except": ["11.0.0.0/8", "x"]}})),
            ),
            ("a port", json!({"ingress": [{"ports": [{"port": 70000}]}]})),
            ("a port's name", json!({"ingress": [{"ports": [{"port": "A_"}]}]})),
            (
                "a protocol",
                json!({"egress": [{"ports": [{"port": 80, "protocol": "X"}]}]}),
            ),
            (
                "a last port",
                json!({"ingress": [{"ports": [{"port": 80, "endPort": 70}]}]}),
            ),
            (
                "a last port without a first",
                json!({"ingress": [{"ports": [{"endPort": 70}]}]}),
            ),
            (
                "a last port of a name",
                json!({"ingress": [{"ports": [{"port": "a", "endPort": 70}]}]}),
            ),
        ]),
        slice.objects([
            ("no type", json!({"addressType": null})),
            ("a type", json!({"addressType": "X"})),
            ("no addresses", json!({"endpoints": [{"addresses": []}]})),
            ("an address", json!({"endpoints": [{"addresses": ["x"]}]})),
            (
                "an address of another type",
                json!({"endpoints": [{"addresses": ["::1"]}]}),
            ),
            (
                "an address that loops",
                json!({"endpoints": [{"addresses": ["127.0.0.1"]}]}),
            ),
            ("a port's name", json!({"ports": [{"name": "A_", "port": 80}]})),
            (
                "a port's name twice",
                json!({"ports": [{"name": "a", "port": 80}, {"name": "a", "port": 81}]}),
            ),
            ("a protocol", json!({"ports": [{"port": 80, "protocol": "X"}]})),
        ]),
        endpoints.objects([
            ("no addresses", json!({"subsets": [{"ports": [{"port": 80}]}]})),
            ("an address", json!({"subsets": [{"addresses": [{"ip": "x"}]}]})),
            (
                "a port",
                json!({"subsets": [{"addresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 0}]}]}),
            ),
            (
                "ports without names",
                json!({"subsets": [{"addresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 1}, {"port": 2}]}]}),
            ),
        ]),
        class.specs([
            ("no controller", json!({"controller": ""})),
            ("a controller", json!({"controller": "x"})),
        ]),
    ]
}

fn policies() -> Vec<Case> {
    let scaler = Kind::new(
        "autoscaler",
        "/apis/autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers",
        json!({"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "maxReplicas": 3}),
    );
    let metric = |metric: Value| json!({"metrics": [metric]});
    let cpu = |target: Value| json!({"metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]});
    let down = |rules: Value| json!({"behavior": {"scaleDown": rules}});
    let budget = || {
        Kind::new(
            "budget",
            "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets",
            json!({"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}),
        )
    };
    let quota = Kind::new(
        "quota",
        "/api/v1/namespaces/{ns}/resourcequotas",
        json!({"hard": {"pods": "5"}}),
    );
    let limit = |limit: Value| json!({"limits": [with(json!({"type": "Container"}), limit)]});
    let range = Kind::new(
        "limitrange",
        "/api/v1/namespaces/{ns}/limitranges",
        json!({"limits": []}),
    );
    let class = || {
        Kind::whole(
            "priorityclass",
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            json!({"value": 5}),
        )
    };
    vec![
        scaler.specs([
            ("no maximum", json!({"maxReplicas": 0})),
            ("a minimum", json!({"minReplicas": 0})),
            ("a minimum over the maximum", json!({"minReplicas": 5})),
            ("no kind", json!({"scaleTargetRef": {"kind": ""}})),
            ("no name", json!({"scaleTargetRef": {"name": ""}})),
            ("a metric's type", metric(json!({"type": "X"}))),
            ("a metric without its part", metric(json!({"type": "Resource"}))),
            ("a metric with another's part", metric(json!({"type": "Resource", "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "1"}}}))),
            ("no target", cpu(json!({"type": "Utilization"}))),
            ("a target's type", cpu(json!({"type": "X", "averageUtilization": 5}))),
            ("a negative utilization", cpu(json!({"type": "Utilization", "averageUtilization": -5}))),
            ("two targets", cpu(json!({"type": "Utilization", "averageUtilization": 5, "averageValue": "1"}))),
            ("a resource without a name", metric(json!({"type": "Resource", "resource": {"name": "", "target": {"type": "Utilization", "averageUtilization": 5}}}))),
            ("pods without a value", metric(json!({"type": "Pods", "pods": {"metric": {"name": "m"}, "target": {"type": "Value", "value": "1"}}}))),
            ("a window", down(json!({"stabilizationWindowSeconds": 5000}))),
            ("a policy's choice", down(json!({"selectPolicy": "X"}))),
            ("no policies", down(json!({"policies": []}))),
            ("a policy", down(json!({"policies": [{"type": "X", "value": 0, "periodSeconds": 5000}]}))),
        ]),
        budget().specs([
            ("two bounds", json!({"maxUnavailable": 1})),
            ("too large a percentage", json!({"minAvailable": "150%"})),
            ("no percentage", json!({"minAvailable": "x"})),
            ("a negative number", json!({"minAvailable": -1})),
            ("a negative number of others", json!({"minAvailable": null, "maxUnavailable": -1})),
            ("a selector", json!({"selector": {"matchLabels": {"a b": "c"}}})),
            ("a policy", json!({"unhealthyPodEvictionPolicy": "X"})),
        ]),
        quota.specs([
            ("a negative number", json!({"hard": {"pods": "-5"}})),
            ("a part of a pod", json!({"hard": {"pods": "500m"}})),
            ("a resource", json!({"hard": {"bogus": "5"}})),
            ("a resource's name", json!({"hard": {"a b/c": "5"}})),
            ("a scope", json!({"scopes": ["X"]})),
            ("two scopes", json!({"scopes": ["BestEffort", "NotBestEffort"]})),
            ("a scope's resources", json!({"hard": {"cpu": "5"}, "scopes": ["BestEffort"]})),
        ]),
        range.specs([
            ("a type", limit(json!({"type": "a b"}))),
            ("a type twice", json!({"limits": [{"type": "Container"}, {"type": "Container"}]})),
            ("a minimum over the maximum", limit(json!({"min": {"cpu": "2"}, "max": {"cpu": "1"}}))),
            ("a default over the maximum", limit(json!({"default": {"cpu": "2"}, "max": {"cpu": "1"}}))),
            ("a request over the default", limit(json!({"default": {"cpu": "1"}, "defaultRequest": {"cpu": "2"}}))),
            ("a default of pods", limit(json!({"type": "Pod", "default": {"cpu": "1"}}))),
            ("a ratio", limit(json!({"maxLimitRequestRatio": {"cpu": "500m"}}))),
        ]),
        class().objects([
            ("a large value", json!({"value": 2000000000})),
            ("a name of the system", json!({"metadata": {"name": "system-x"}})),
            ("a policy", json!({"preemptionPolicy": "X"})),
        ]),
    ]
}

fn others() -> Vec<Case> {
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    let rule = |more: Value| json!({"rules": [with(json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}), more)]});
    let role = Kind::whole(
        "role",
        "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles",
        rule(json!({})),
    );
    let of_cluster = Kind::whole(
        "clusterrole",
        format!("{rbac}/clusterroles").leak(),
        rule(json!({})),
    );
    let binding = Kind::whole(
        "rolebinding",
        "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/rolebindings",
        json!({"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}, "subjects": [{"kind": "User", "name": "u"}]}),
    );
    let to_cluster = Kind::whole(
        "clusterrolebinding",
        format!("{rbac}/clusterrolebindings").leak(),
        json!({"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"}}),
    );
    let subject = |subject: Value| json!({"subjects": [subject]});
    let lease = || {
        Kind::new(
            "lease",
            "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases",
            json!({"holderIdentity": "a"}),
        )
    };
    let event = Kind::whole(
        "event",
        "/api/v1/namespaces/{ns}/events",
        json!({"involvedObject": {"kind": "Pod", "name": "p", "namespace": "{ns}"}, "reason": "R", "message": "m", "type": "Normal"}),
    );
    let new_event = Kind::whole(
        "new-event",
        "/apis/events.k8s.io/v1/namespaces/{ns}/events",
        json!({"regarding": {"kind": "Pod", "name": "p", "namespace": "{ns}"}, "reason": "R", "note": "m", "type": "Normal", "action": "A", "reportingController": "a.example/c", "reportingInstance": "c-1", "eventTime": "2026-01-01T00:00:00.000000Z"}),
    );
    let node = Kind::new("node", "/api/v1/nodes", json!({}));
    let webhook = |more: Value| {
        let hook = json!({"name": "a.example.com", "clientConfig": {"service": {"name": "s", "namespace": "n"}}, "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}], "sideEffects": "None", "admissionReviewVersions": ["v1"]});
        json!({"webhooks": [with(hook, more)]})
    };
    let hooks = Kind::whole(
        "webhook",
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
        webhook(json!({})),
    );
    let runtime = Kind::whole(
        "runtimeclass",
        "/apis/node.k8s.io/v1/runtimeclasses",
        json!({"handler": "h"}),
    );
    vec![
        role.objects([
            ("no verbs", rule(json!({"verbs": []}))),
            ("no groups", rule(json!({"apiGroups": []}))),
            ("no resources", rule(json!({"resources": []}))),
            ("paths", json!({"rules": [{"nonResourceURLs": ["/x"], "verbs": ["get"]}]})),
            ("paths and resources", rule(json!({"nonResourceURLs": ["/x"]}))),
            ("nothing", json!({"rules": [{}]})),
        ]),
        of_cluster.objects([
            ("paths", json!({"rules": [{"nonResourceURLs": ["/x"], "verbs": ["get"]}]})),
            ("paths and resources", rule(json!({"nonResourceURLs": ["/x"]}))),
            ("a selector", json!({"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a b": "c"}}]}})),
            ("no selectors", json!({"aggregationRule": {"clusterRoleSelectors": []}})),
        ]),
        binding.objects([
            ("no role", json!({"roleRef": null})),
            ("a role's kind", json!({"roleRef": {"kind": "X"}})),
            ("a role's group", json!({"roleRef": {"apiGroup": "x"}})),
            ("no name of a role", json!({"roleRef": {"name": ""}})),
            ("a name of a role", json!({"roleRef": {"name": "a/b"}})),
            ("a subject's kind", subject(json!({"kind": "X", "name": "u"}))),
            ("no name of a subject", subject(json!({"kind": "User"}))),
            ("a subject's group", subject(json!({"kind": "User", "name": "u", "apiGroup": "x"}))),
            ("an account without a namespace", subject(json!({"kind": "ServiceAccount", "name": "u"}))),
            ("an account's name", subject(json!({"kind": "ServiceAccount", "name": "A_", "namespace": "n"}))),
            ("an account's group", subject(json!({"kind": "ServiceAccount", "name": "a", "namespace": "n", "apiGroup": "x"}))),
        ]),
        to_cluster.objects([("a role", json!({"roleRef": {"kind": "Role"}})), ("an account without a namespace", subject(json!({"kind": "ServiceAccount", "name": "u"})))]),
        lease().specs([
            ("a duration", json!({"leaseDurationSeconds": 0})),
            ("transitions", json!({"leaseTransitions": -1})),
            ("no holder", json!({"holderIdentity": ""})),
            ("a preferred holder", json!({"preferredHolder": "a"})),
            ("a strategy", json!({"strategy": "a b"})),
        ]),
        event.objects([
            ("no type", json!({"type": null})),
            ("a type", json!({"type": "X"})),
            ("an object elsewhere", json!({"involvedObject": {"namespace": "other"}})),
            ("an object without a namespace", json!({"involvedObject": {"namespace": null}})),
            ("a time", json!({"eventTime": "2026-01-01T00:00:00.000000Z"})),
            ("a name", json!({"metadata": {"name": "A_"}})),
        ]),
        new_event.objects([
            ("no time", json!({"eventTime": null})),
            ("no controller", json!({"reportingController": ""})),
            ("a controller", json!({"reportingController": "a b"})),
            ("no instance", json!({"reportingInstance": ""})),
            ("no action", json!({"action": ""})),
            ("no reason", json!({"reason": ""})),
            ("no type", json!({"type": ""})),
            ("a type", json!({"type": "X"})),
            ("a long note", json!({"note": "a".repeat(1025)})),
            ("an old field", json!({"deprecatedCount": 5})),
            ("an object elsewhere", json!({"regarding": {"namespace": "other"}})),
        ]),
        node.specs([
            ("a taint", json!({"taints": [{"key": "a b", "value": "c d", "effect": "X"}]})),
            ("no effect", json!({"taints": [{"key": "a"}]})),
            ("a taint twice", json!({"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "value": "b", "effect": "NoSchedule"}]})),
            ("a range of pods", json!({"podCIDR": "x", "podCIDRs": ["x"]})),
        ]),
        hooks.objects([
            ("a name", webhook(json!({"name": "a"}))),
            ("no versions", webhook(json!({"admissionReviewVersions": []}))),
            ("an unknown version", webhook(json!({"admissionReviewVersions": ["v5"]}))),
            ("no side effects", webhook(json!({"sideEffects": null}))),
            ("side effects", webhook(json!({"sideEffects": "Some"}))),
            ("a policy", webhook(json!({"failurePolicy": "X"}))),
            ("a match policy", webhook(json!({"matchPolicy": "X"}))),
            ("a timeout", webhook(json!({"timeoutSeconds": 31}))),
            ("no client", webhook(json!({"clientConfig": {"service": null}}))),
            ("two clients", webhook(json!({"clientConfig": {"url": "https://a.example"}}))),
            ("an unsafe client", webhook(json!({"clientConfig": {"service": null, "url": "http://a.example"}}))),
            ("an operation", webhook(json!({"rules": [{"operations": ["X"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]}))),
            ("no operations", webhook(json!({"rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]}))),
            ("a selector", webhook(json!({"objectSelector": {"matchLabels": {"a b": "c"}}}))),
        ]),
        runtime.objects([("no handler", json!({"handler": ""})), ("a handler", json!({"handler": "A_"}))]),
    ]
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = vec![containers(), volumes(), pods(), pod_changes()];
    for more in [
        workloads(),
        jobs(),
        services(),
        storage(),
        networks(),
        policies(),
        others(),
    ] {
        cases.extend(more);
    }
    cases
}
