//! What a real server makes of the objects of built-in kinds, and what it refuses.

use crate::case::{Ask, Case, any, get, json_patch, merge, post, put};
use crate::objects::{CONFIG_MAPS, PODS, SECRETS};
use serde_json::{Value, json};

const SERVICES: &str = "/api/v1/namespaces/{ns}/services";
const CLAIMS: &str = "/api/v1/namespaces/{ns}/persistentvolumeclaims";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/{ns}/deployments";
const REPLICA_SETS: &str = "/apis/apps/v1/namespaces/{ns}/replicasets";
const STATEFUL_SETS: &str = "/apis/apps/v1/namespaces/{ns}/statefulsets";
const DAEMON_SETS: &str = "/apis/apps/v1/namespaces/{ns}/daemonsets";
const JOBS: &str = "/apis/batch/v1/namespaces/{ns}/jobs";
const CRON_JOBS: &str = "/apis/batch/v1/namespaces/{ns}/cronjobs";
const INGRESSES: &str = "/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses";
const POLICIES: &str = "/apis/networking.k8s.io/v1/namespaces/{ns}/networkpolicies";
const SCALERS: &str = "/apis/autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers";
const BUDGETS: &str = "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets";

/// A pod's spec with a bit of everything that has defaults.
fn rich() -> Value {
    json!({
        "initContainers": [{"name": "i", "image": "busybox"}],
        "containers": [{
            "name": "c", "image": "nginx:1.2@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "ports": [{"containerPort": 80}, {"containerPort": 81, "protocol": "UDP", "hostPort": 81}],
            "livenessProbe": {"httpGet": {"port": 80}}, "readinessProbe": {"tcpSocket": {"port": "http"}}, "startupProbe": {"grpc": {"port": 5}},
            "lifecycle": {"preStop": {"httpGet": {"port": 80}}, "postStart": {"exec": {"command": ["x"]}}},
            "env": [
                {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                {"name": "B", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
                {"name": "C", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "k"}}},
            ],
            "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
            "volumeMounts": [{"name": "v0", "mountPath": "/v0"}],
            "securityContext": {"capabilities": {"add": ["NET_ADMIN"]}},
        }, {"name": "d", "image": "registry:5000/x:latest", "resources": {"requests": {"cpu": "100m"}}}],
        "volumes": [
            {"name": "v0"}, {"name": "v1", "secret": {"secretName": "s"}}, {"name": "v2", "configMap": {"name": "m"}},
            {"name": "v3", "downwardAPI": {"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.name"}}]}},
            {"name": "v4", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}, {"downwardAPI": {"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.name"}}]}}]}},
            {"name": "v5", "hostPath": {"path": "/x"}}, {"name": "v6", "emptyDir": {}},
            {"name": "v7", "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}},
            {"name": "v8", "iscsi": {"targetPortal": "1.2.3.4", "iqn": "iqn.2001-04.com.example:storage", "lun": 0}},
            {"name": "v9", "rbd": {"monitors": ["m"], "image": "i"}},
            {"name": "v10", "azureDisk": {"diskName": "d", "diskURI": "https://a.blob.core.windows.net/c/d.vhd"}},
            {"name": "v11", "scaleIO": {"gateway": "g", "system": "s", "secretRef": {"name": "x"}, "volumeName": "v"}},
        ],
        "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "k", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"a": "b"}}}],
        "tolerations": [{"key": "a", "operator": "Exists"}],
        "hostNetwork": false, "serviceAccountName": "a",
    })
}

fn small() -> Value {
    json!({"containers": [{"name": "c", "image": "nginx"}]})
}

fn template(spec: Value) -> Value {
    json!({"metadata": {"labels": {"a": "b"}}, "spec": spec})
}

fn selected(spec: Value) -> Value {
    json!({"selector": {"matchLabels": {"a": "b"}}, "template": template(spec)})
}

fn with(mut value: Value, more: Value) -> Value {
    value
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    value
}

fn object(name: &str, spec: Value) -> Value {
    json!({"metadata": {"name": name}, "spec": spec})
}

fn create(path: &str, what: &str, name: &str, spec: Value) -> Ask {
    post(path, &object(name, spec)).named(what)
}

fn defaults() -> Case {
    let claim = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    let scaler = json!({"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "maxReplicas": 3});
    // Its uid is in labels.
    let of_job = [
        "/spec/completions",
        "/spec/parallelism",
        "/spec/backoffLimit",
        "/spec/completionMode",
        "/spec/suspend",
        "/spec/manualSelector",
        "/spec/podReplacementPolicy",
        "/spec/podFailurePolicy",
        "/spec/template/spec",
        "/metadata/managedFields",
        "/metadata/generation",
        "/metadata/labels/job-name",
        "/spec/template/metadata/labels/job-name",
        "/status",
    ];
    let backend = json!({"service": {"name": "s", "port": {"number": 80}}});
    Case::new("specs-defaults")
        .ask(create(PODS, "a pod", "small", small()))
        .ask(create(PODS, "a pod with a bit of everything", "rich", rich()))
        .ask(create(PODS, "a pod on the host's network", "host", json!({"hostNetwork": true, "containers": [{"name": "c", "image": "nginx", "ports": [{"containerPort": 80}]}]})))
        .ask(create(PODS, "a pod with limits", "limits", json!({"containers": [{"name": "c", "image": "nginx", "resources": {"limits": {"cpu": "1", "memory": "1"}}}]})))
        .ask(create(PODS, "a pod with requests", "requests", json!({"containers": [{"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "1"}}}]})))
        .ask(create(PODS, "a pod with an account", "account", json!({"serviceAccount": "x", "containers": [{"name": "c", "image": "nginx"}]})))
        .ask(create(PODS, "a pod with a sidecar", "sidecar", json!({"initContainers": [{"name": "i", "image": "x", "restartPolicy": "Always"}], "containers": [{"name": "c", "image": "nginx"}], "restartPolicy": "Never"})))
        .ask(create(DEPLOYMENTS, "a deployment", "d", selected(small())))
        .ask(create(DEPLOYMENTS, "a deployment that recreates", "recreate", with(selected(small()), json!({"strategy": {"type": "Recreate"}, "replicas": 0}))))
        .ask(create(DEPLOYMENTS, "a deployment with a part of a strategy", "rolling", with(selected(small()), json!({"strategy": {"rollingUpdate": {"maxSurge": 1}}}))))
        .ask(create(REPLICA_SETS, "a replica set", "r", selected(small())))
        .ask(create(STATEFUL_SETS, "a stateful set", "s", with(selected(small()), json!({"serviceName": "s", "volumeClaimTemplates": [{"metadata": {"name": "c"}, "spec": claim}]}))))
        .ask(create(STATEFUL_SETS, "a stateful set that is deleted by hand", "on-delete", with(selected(small()), json!({"updateStrategy": {"type": "OnDelete"}}))))
        .ask(create(DAEMON_SETS, "a daemon set", "d", selected(small())))
        .ask(create(DAEMON_SETS, "a daemon set that is deleted by hand", "on-delete", with(selected(small()), json!({"updateStrategy": {"type": "OnDelete"}}))))
        .ask(create(JOBS, "a job", "j", json!({"template": {"spec": with(small(), json!({"restartPolicy": "Never"}))}})).only(of_job))
        .ask(create(JOBS, "an indexed job", "indexed", json!({"completionMode": "Indexed", "completions": 3, "parallelism": 2, "template": {"spec": with(small(), json!({"restartPolicy": "OnFailure"}))}})).only(of_job))
        .ask(create(JOBS, "a job with a policy", "policy", json!({"podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "X"}]}]}, "template": {"spec": with(small(), json!({"restartPolicy": "Never"}))}})).only(of_job))
        .ask(create(CRON_JOBS, "a cron job", "c", json!({"schedule": "* * * * *", "jobTemplate": {"spec": {"template": {"spec": with(small(), json!({"restartPolicy": "Never"}))}}}})))
        .ask(create(INGRESSES, "an ingress", "i", json!({"defaultBackend": backend})))
        .ask(create(INGRESSES, "an ingress with rules", "rules", json!({"rules": [{"host": "a.example", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}]})))
        .ask(create(CLAIMS, "a claim", "c", claim.clone()))
        .ask(create(CLAIMS, "a claim of a snapshot", "snapshot", with(claim, json!({"dataSource": {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "x"}}))))
        .ask(create(SCALERS, "an autoscaler", "s", scaler.clone()))
        .ask(create(SCALERS, "an autoscaler with metrics and behaviour", "b", with(scaler, json!({
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}],
            "behavior": {"scaleDown": {"stabilizationWindowSeconds": 5}},
        }))))
        .ask(get("/apis/autoscaling/v1/namespaces/{ns}/horizontalpodautoscalers").named("autoscalers in version 1"))
        .ask(create(BUDGETS, "a budget", "b", json!({"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}})))
        .ask(create(POLICIES, "a policy", "p", json!({"podSelector": {}, "ingress": [{"ports": [{"port": 80}]}]})))
        .ask(create(POLICIES, "a policy with egress", "egress", json!({"podSelector": {}, "egress": [{}]})))
        .ask(create("/api/v1/namespaces/{ns}/replicationcontrollers", "a replication controller", "r", json!({"template": template(small())})))
        .ask(post("/apis/storage.k8s.io/v1/volumeattributesclasses", &json!({"metadata": {"name": "{ns}"}, "driverName": "a.b", "parameters": {"a": "b"}})).named("a class of volume attributes"))
        .ask(merge(&format!("{CLAIMS}/snapshot"), &json!({"metadata": {"finalizers": null}})).named("a claim without its finalizer").only(["/metadata"]))
        .ask(post("/api/v1/persistentvolumes", &object("{ns}-v", json!({"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}))).named("a volume"))
        .ask(post("/apis/storage.k8s.io/v1/storageclasses", &json!({"metadata": {"name": "{ns}-c"}, "provisioner": "x"})).named("a storage class"))
        .ask(post("/api/v1/nodes", &json!({"metadata": {"name": "{ns}-node"}, "status": {"capacity": {"cpu": "1"}}})).named("a node"))
        .ask(post("/api/v1/nodes", &json!({"metadata": {"name": "{ns}-tainted"}, "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "node.kubernetes.io/not-ready", "value": "v", "effect": "NoSchedule"}]}})).named("a node that says that it is not ready"))
        .ask(post("/api/v1/nodes", &json!({"metadata": {"name": "{ns}-evicting"}, "spec": {"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]}})).named("a node that says so of pods that run"))
        .ask(post("/api/v1/namespaces/{ns}/serviceaccounts", &json!({"metadata": {"name": "a"}})).named("a service account"))
        .ask(post("/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/rolebindings", &json!({"metadata": {"name": "b"}, "roleRef": {"kind": "Role", "name": "r"}, "subjects": [{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "name": "s", "namespace": "n"}]})).named("a role binding"))
        .ask(post("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?dryRun=All", &json!({"metadata": {"name": "{ns}-w"}, "webhooks": [{"name": "a.example.com", "clientConfig": {"service": {"name": "s", "namespace": "n"}}, "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}], "sideEffects": "None", "admissionReviewVersions": ["v1"]}]})).named("a webhook"))
        .ask(post("/apis/scheduling.k8s.io/v1/priorityclasses", &json!({"metadata": {"name": "{ns}-p"}, "value": 5})).named("a priority class"))
        .ask(post("/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices", &json!({"metadata": {"name": "e"}, "addressType": "IPv4", "endpoints": [{"addresses": ["1.2.3.4"]}], "ports": [{"port": 80}]})).named("an endpoint slice"))
        .ask(post("/api/v1/namespaces/{ns}/endpoints", &json!({"metadata": {"name": "e"}, "subsets": [{"addresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 80}]}]})).named("endpoints"))
        .ask(post("/api/v1/namespaces/{ns}/limitranges", &json!({"metadata": {"name": "l-later"}, "spec": {"limits": [{"type": "PersistentVolumeClaim", "max": {"storage": "9Gi"}}]}})).named("a limit range"))
        .ask(put(&format!("{DEPLOYMENTS}/d"), &object("d", selected(small()))).named("a deployment that is put"))
        .ask(merge(&format!("{DEPLOYMENTS}/d"), &json!({"spec": {"replicas": null, "template": {"spec": {"containers": [{"name": "c", "image": "x:latest"}]}}}})).named("a deployment that is patched"))
        .ask(get(&format!("{DEPLOYMENTS}/d/scale")).named("its scale"))
}

/// Services: addresses that the server chooses are not compared.
fn services() -> Case {
    let port = json!([{"port": 80}]);
    let only = [
        "/spec/type",
        "/spec/sessionAffinity",
        "/spec/sessionAffinityConfig",
        "/spec/ports",
        "/spec/ipFamilies",
        "/spec/ipFamilyPolicy",
        "/spec/internalTrafficPolicy",
        "/spec/externalTrafficPolicy",
        "/spec/allocateLoadBalancerNodePorts",
        "/spec/publishNotReadyAddresses",
        "/status",
        "/message",
        "/metadata/managedFields",
        "/metadata/name",
    ];
    let service = |what: &str, name: &str, spec: Value| create(SERVICES, what, name, spec).only(only);
    let mut asks = vec![
        service("a service", "a", json!({"ports": port})),
        service(
            "a headless service",
            "b",
            json!({"clusterIP": "None", "ports": port}),
        ),
        create(
            SERVICES,
            "an external name",
            "c",
            json!({"type": "ExternalName", "externalName": "a.example"}),
        ),
        service(
            "a name",
            "d",
            json!({"ports": [{"port": 80, "targetPort": "http", "name": "x"}, {"port": 81, "name": "y", "protocol": "UDP"}]}),
        ),
        service(
            "affinity",
            "e",
            json!({"sessionAffinity": "ClientIP", "ports": port}),
        ),
        service(
            "an address",
            "f",
            json!({"clusterIP": "10.96.0.8", "ports": port}),
        ),
        create(SERVICES, "a name that is not valid", "1a", json!({"ports": port})).only(only),
        merge(
            &format!("{SERVICES}/f"),
            &json!({"spec": {"clusterIP": "10.96.0.9"}}),
        )
        .named("another address")
        .only(only),
        merge(&format!("{SERVICES}/f"), &json!({"spec": {"clusterIP": null}}))
            .named("no address")
            .only(only),
        merge(
            &format!("{SERVICES}/f"),
            &json!({"spec": {"selector": {"a": "b"}}}),
        )
        .named("a selector")
        .only(["/spec/clusterIP", "/spec/clusterIPs", "/spec/selector"]),
        put(&format!("{SERVICES}/f"), &object("f", json!({"ports": port})))
            .named("put without an address")
            .only(["/spec/clusterIP", "/spec/clusterIPs"]),
    ];
    let node_ports = only
        .iter()
        .filter(|pointer| !pointer.contains("ports") && !pointer.contains("managed"))
        .copied()
        .collect::<Vec<_>>();
    for (what, name, kind) in [
        ("a node port", "h", "NodePort"),
        ("a load balancer", "i", "LoadBalancer"),
    ] {
        let mut ask = create(SERVICES, what, name, json!({"type": kind, "ports": port}));
        ask.only = node_ports.clone();
        asks.push(ask);
    }
    Case::new("specs-services").asks(asks)
}

/// What a Service has for clients outside of the cluster, and what of it goes with its type.
fn service_types() -> Case {
    let only = [
        "/message",
        "/spec/externalTrafficPolicy",
        "/spec/internalTrafficPolicy",
        "/spec/loadBalancerClass",
        "/spec/allocateLoadBalancerNodePorts",
        "/spec/sessionAffinityConfig",
    ];
    let port = json!([{"port": 80}]);
    let service = |name: &str, rest: Value| {
        create(
            SERVICES,
            &format!("create {name}"),
            name,
            with(json!({"ports": port}), rest),
        )
        .only(only)
    };
    let change = |what: &str, name: &str, spec: Value| {
        merge(&format!("{SERVICES}/{name}"), &json!({"spec": spec}))
            .named(what)
            .only(only)
    };
    let addresses = json!({"externalIPs": ["1.1.1.1"]});
    Case::new("specs-service-types").asks([
        service("outside", addresses.clone()),
        change("no addresses", "outside", json!({"externalIPs": []})),
        change("addresses again", "outside", addresses),
        service("none", json!({"clusterIP": "None"})),
        service(
            "external",
            json!({"type": "ExternalName", "externalName": "a.example", "internalTrafficPolicy": "Cluster"}),
        ),
        service("changed", json!({})),
        change(
            "an external name",
            "changed",
            json!({"type": "ExternalName", "externalName": "a.example"}),
        ),
        change(
            "an address again",
            "changed",
            json!({"type": "ClusterIP", "externalName": null}),
        ),
        service(
            "balanced",
            json!({"type": "LoadBalancer", "loadBalancerClass": "a.example/a"}),
        ),
        change(
            "another class",
            "balanced",
            json!({"loadBalancerClass": "a.example/b"}),
        ),
        change("no class", "balanced", json!({"loadBalancerClass": null})),
        change(
            "a class with another type",
            "balanced",
            json!({"type": "NodePort", "loadBalancerClass": "a.example/b"}),
        ),
        change("another type", "balanced", json!({"type": "NodePort"})),
        change(
            "a class with the type",
            "balanced",
            json!({"type": "LoadBalancer", "loadBalancerClass": "a.example/b"}),
        ),
        service("unclassed", json!({"type": "LoadBalancer"})),
        change(
            "a class",
            "unclassed",
            json!({"loadBalancerClass": "a.example/a"}),
        ),
        service("affine", json!({"sessionAffinity": "ClientIP"})),
        change("no affinity", "affine", json!({"sessionAffinity": "None"})),
    ])
}

fn secrets() -> Case {
    let secret = |what: &str, name: &str, rest: Value| {
        post(SECRETS, &with(json!({"metadata": {"name": name}}), rest)).named(what)
    };
    let change =
        |what: &str, path: &str, patch: Value| merge(&format!("{path}?fieldManager=two"), &patch).named(what);
    let (a, m) = (format!("{SECRETS}/a"), format!("{CONFIG_MAPS}/m"));
    Case::new("specs-secrets")
        .ask(secret("text", "a", json!({"stringData": {"k": "v", "l": "ü"}, "data": {"k": "eA==", "m": "eA=="}})))
        .ask(get(&a).named("as it is"))
        .ask(change("more text", &a, json!({"stringData": {"n": "w"}})))
        .ask(put(&a, &json!({"metadata": {"name": "a"}, "stringData": {"o": ""}})).named("put text"))
        .ask(change("no text", &a, json!({"stringData": null})))
        .ask(
            crate::case::any("PATCH", &format!("{SECRETS}/applied?fieldManager=one"))
                .text(&json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "applied"}, "stringData": {"k": "v"}}).to_string())
                .content_type("application/apply-patch+yaml")
                .named("apply text"),
        )
        .ask(
            crate::case::any("PATCH", &format!("{SECRETS}/applied?fieldManager=one"))
                .text(&json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "applied"}, "stringData": {"l": "v"}}).to_string())
                .content_type("application/apply-patch+yaml")
                .named("apply other text"),
        )
        .ask(secret("a key that is not valid", "b", json!({"stringData": {"a/b": "v"}})))
        .ask(secret("a key that is a dot", "b", json!({"data": {"..": "eA=="}})))
        .ask(secret("data that is not encoded", "b", json!({"data": {"k": "%"}})))
        .asks(
            [
                ("with lines", "YWJj\r\nZA==\n"),
                ("of nothing but a line", "\n"),
                ("with bits that are left", "YR=="),
                ("without padding", "YQ"),
                ("with too little padding", "YQ="),
                ("that goes on", "YQ==\nYQ=="),
                ("with a space", "YW Jj"),
            ]
            .into_iter()
            .enumerate()
            .map(|(n, (what, data))| {
                secret(&format!("data {what}"), &format!("data-{n}"), json!({"data": {"k": data}}))
                    .only(["/data", "/message"])
            }),
        )
        .ask(secret("text that is no text", "b", json!({"stringData": {"k": 5}})))
        .ask(secret("another type", "c", json!({"type": "kubernetes.io/basic-auth"})))
        .ask(secret("a certificate without a key", "c", json!({"type": "kubernetes.io/tls", "data": {"tls.crt": "eA=="}})))
        .ask(secret("a docker config without one", "c", json!({"type": "kubernetes.io/dockerconfigjson"})))
        .ask(secret("a token of no account", "c", json!({"type": "kubernetes.io/service-account-token"})))
        .ask(secret("a key of SSH", "c", json!({"type": "kubernetes.io/ssh-auth", "stringData": {"x": "y"}})))
        .ask(change("another type of a secret", &a, json!({"type": "x"})))
        .ask(change("immutable", &a, json!({"immutable": true})))
        .ask(change("data of what is immutable", &a, json!({"stringData": {"o": "x"}})))
        .ask(change("the same data of what is immutable", &a, json!({"stringData": {"o": ""}})))
        .ask(change("a label of what is immutable", &a, json!({"metadata": {"labels": {"x": "y"}}})))
        .ask(change("no longer immutable", &a, json!({"immutable": false})))
        .ask(post(CONFIG_MAPS, &json!({"metadata": {"name": "m"}, "data": {"k": "v"}, "binaryData": {"b": "eA=="}, "immutable": true})).named("an immutable map"))
        .ask(change("its data", &m, json!({"data": {"k": "w"}})))
        .ask(change("its bytes", &m, json!({"binaryData": {"b": "eQ=="}})))
        .ask(change("its immutability", &m, json!({"immutable": null})))
        .ask(post(CONFIG_MAPS, &json!({"metadata": {"name": "n"}, "data": {"k": "v"}, "binaryData": {"k": "eA=="}})).named("a key in both"))
        .ask(post(CONFIG_MAPS, &json!({"metadata": {"name": "n"}, "data": {"a b": "v"}})).named("a key of a map that is not valid"))
}

/// Names and labels.
fn names() -> Case {
    let long = |length: usize| "a".repeat(length);
    let mut asks = Vec::new();
    for name in ["v1.", "v1.example.com", "v2.example.com", "v1.other", "a%b", "V1"] {
        let service = json!({"namespace": "{ns}", "name": "s"});
        let spec = json!({
            "group": "example.com", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1, "service": service,
            "insecureSkipTLSVerify": true,
        });
        let object = json!({"metadata": {"name": name}, "spec": spec});
        asks.push(
            post("/apis/apiregistration.k8s.io/v1/apiservices?dryRun=All", &object)
                .named(format!("API service {name}"))
                .only(["/message", "/details"]),
        );
    }
    for (kind, path, rest) in [
        ("pod", PODS, json!({"spec": small()})),
        ("service", SERVICES, json!({"spec": {"ports": [{"port": 80}]}})),
        ("map", CONFIG_MAPS, json!({})),
        ("namespace", "/api/v1/namespaces", json!({})),
        ("deployment", DEPLOYMENTS, json!({"spec": selected(small())})),
        (
            "cron job",
            CRON_JOBS,
            json!({"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": {"spec": with(small(), json!({"restartPolicy": "Never"}))}}}}}),
        ),
        (
            "role",
            "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles",
            json!({}),
        ),
        ("account", "/api/v1/namespaces/{ns}/serviceaccounts", json!({})),
    ] {
        for name in [
            "a.b", "A", "a_b", "-a", "a-", "1a", "a..b", "a%b", "a b", "é", ".", "..", "a:b",
        ]
        .into_iter()
        .map(str::to_owned)
        .chain([long(53), long(64), long(254)])
        {
            let object = with(json!({"metadata": {"name": name}}), rest.clone());
            let shown = if name.len() > 20 {
                format!("{} letters", name.len())
            } else {
                name.clone()
            };
            asks.push(
                post(&format!("{path}?dryRun=All"), &object)
                    .named(format!("{kind}: {shown}"))
                    .only(["/code", "/message", "/details/causes"]),
            );
        }
    }
    for (what, metadata) in [
        ("a long value", json!({"labels": {"a": long(64)}})),
        ("a long key", json!({"labels": {long(64): "b"}})),
        (
            "a long prefix",
            json!({"labels": {format!("{}/a", long(254)): "b"}}),
        ),
        ("an empty key", json!({"labels": {"": "b"}})),
        ("no name", json!({"labels": {"a/": "b"}})),
        ("no prefix", json!({"labels": {"/a": "b"}})),
        ("two prefixes", json!({"labels": {"a/b/c": "d"}})),
        ("a prefix", json!({"labels": {"A_/b": "d"}})),
        // One label only: a real server goes over a map of labels in any order.
        ("several", json!({"labels": {"a b": "c d"}})),
        (
            "an annotation",
            json!({"annotations": {"A/b": "c d", "e f": "g"}}),
        ),
        (
            "annotations that are too long",
            json!({"annotations": {"a": long(262145)}}),
        ),
        ("an owner", json!({"ownerReferences": [{}]})),
        ("finalizers", json!({"finalizers": ["a", "b c"]})),
    ] {
        let object = json!({"metadata": with(json!({"name": "x"}), metadata)});
        asks.push(post(&format!("{CONFIG_MAPS}?dryRun=All"), &object).named(format!("metadata: {what}")));
    }
    Case::new("specs-names").asks(asks)
}

/// What an update may not change.
fn updates() -> Case {
    let change =
        |what: &str, path: &str, patch: Value| merge(&format!("{path}?dryRun=All"), &patch).named(what);
    let never = || with(small(), json!({"restartPolicy": "Never"}));
    let (d, s, j, p) = (
        format!("{DEPLOYMENTS}/d"),
        format!("{STATEFUL_SETS}/s"),
        format!("{JOBS}/j"),
        format!("{PODS}/p"),
    );
    let b = format!("{BUDGETS}/b");
    let a = format!("{DAEMON_SETS}/a");
    let only = ["/kind"];
    Case::new("specs-changed")
        .ask(create(DEPLOYMENTS, "create a deployment", "d", selected(small())).only(only))
        .ask(create(STATEFUL_SETS, "create a stateful set", "s", with(selected(small()), json!({"serviceName": "s"}))).only(only))
        .ask(create(DAEMON_SETS, "create a daemon set", "a", selected(small())).only(only))
        .ask(create(JOBS, "create a job", "j", json!({"template": {"spec": never()}})).only(only))
        .ask(create(PODS, "create a pod", "p", small()).only(only))
        .ask(create(BUDGETS, "create a budget", "b", json!({"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}})).only(only))
        .ask(change("another selector", &d, json!({"spec": {"selector": {"matchLabels": {"a": "c"}}, "template": {"metadata": {"labels": {"a": "c"}}}}})))
        .ask(change("a stateful set's service", &s, json!({"spec": {"serviceName": "t"}})))
        .ask(change("a stateful set's selector", &s, json!({"spec": {"selector": {"matchLabels": {"a": "c"}}, "template": {"metadata": {"labels": {"a": "c"}}}}})))
        .ask(change("a stateful set's replicas", &s, json!({"spec": {"replicas": 3}})).only(["/spec/replicas"]))
        .ask(change("a daemon set's selector", &a, json!({"spec": {"selector": {"matchLabels": {"a": "c"}}, "template": {"metadata": {"labels": {"a": "c"}}}}})))
        .ask(change("a job's template", &j, json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "other"}]}}}})).only(["/reason", "/code"]))
        .ask(change("a job's completions", &j, json!({"spec": {"completions": 5}})).only(["/reason", "/code", "/message"]))
        .ask(change("a job's parallelism", &j, json!({"spec": {"parallelism": 5}})).only(["/spec/parallelism"]))
        .ask(change("a job that is suspended", &j, json!({"spec": {"suspend": true}})).only(["/spec/suspend"]))
        .ask(change("a pod's image", &p, json!({"spec": {"containers": [{"name": "c", "image": "other"}]}})).only(["/spec/containers/0/image", "/reason"]))
        .ask(change("a pod's command", &p, json!({"spec": {"containers": [{"name": "c", "image": "nginx", "command": ["x"]}]}})).only(["/reason", "/code"]))
        .ask(change("a budget's selector", &b, json!({"spec": {"selector": {"matchLabels": {"a": "c"}}}})).only(["/spec", "/message"]))
        .ask(json_patch(&format!("{d}?dryRun=All"), &json!([{"op": "remove", "path": "/spec/template/spec/terminationGracePeriodSeconds"}, {"op": "remove", "path": "/spec/strategy"}])).named("defaults that are removed").only(["/spec", "/metadata/generation"]))
        .ask(put(&format!("{d}?dryRun=All"), &object("d", with(selected(small()), json!({"paused": true})))).named("put").only(["/spec", "/metadata/generation"]))
}

/// How StatefulSets are updated.
fn strategies() -> Case {
    let set = |name: &str, strategy: Value| {
        let spec = with(
            selected(small()),
            json!({"serviceName": "s", "updateStrategy": strategy}),
        );
        create(STATEFUL_SETS, name, name, spec).only(["/message", "/spec/updateStrategy"])
    };
    Case::new("specs-strategies")
        .ask(set("none", Value::Null))
        .ask(set("empty", json!({})))
        .ask(set("rolling", json!({"type": "RollingUpdate"})))
        .ask(set(
            "rolling-null",
            json!({"type": "RollingUpdate", "rollingUpdate": null}),
        ))
        .ask(set(
            "rolling-empty",
            json!({"type": "RollingUpdate", "rollingUpdate": {}}),
        ))
        .ask(set(
            "unavailable",
            json!({"rollingUpdate": {"maxUnavailable": 2}}),
        ))
        .ask(set(
            "unavailable-by-hand",
            json!({"type": "OnDelete", "rollingUpdate": {"maxUnavailable": 2}}),
        ))
        .ask(
            merge(
                &format!("{STATEFUL_SETS}/rolling"),
                &json!({"spec": {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 2}}}}),
            )
            .named("unavailable later")
            .only(["/message", "/spec/updateStrategy"]),
        )
}

/// Claims that are to grow.
fn growth() -> Case {
    const CLASSES: &str = "/apis/storage.k8s.io/v1/storageclasses";
    let class = |name: &str, more: Value| {
        let mut class =
            json!({"metadata": {"name": format!("{name}-{{ns}}")}, "provisioner": "example.com/x"});
        class
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        post(CLASSES, &class)
            .named(format!("class {name}"))
            .only(["/kind"])
    };
    let claim = |name: &str, class: &str| {
        let spec = json!({"accessModes": ["ReadWriteOnce"], "storageClassName": class, "resources": {"requests": {"storage": "1Gi"}}});
        post(CLAIMS, &json!({"metadata": {"name": name}, "spec": spec}))
            .named(name)
            .only(["/spec/storageClassName"])
    };
    let resize = |name: &str, size: &str, what: &str| {
        merge(
            &format!("{CLAIMS}/{name}"),
            &json!({"spec": {"resources": {"requests": {"storage": size}}}}),
        )
        .named(format!("{what} {name}"))
        .only(["/spec/resources", "/message", "/reason", "/details"])
    };
    let bind = |name: &str| {
        merge(
            &format!("{CLAIMS}/{name}/status"),
            &json!({"status": {"phase": "Bound"}}),
        )
        .named(format!("bind {name}"))
        .only(["/status/phase"])
    };
    let names = ["fixed", "growing", "classless", "gone"];
    Case::new("claims-growth")
        .ask(class("fixed", json!({})))
        .ask(class("growing", json!({"allowVolumeExpansion": true})))
        .asks(names.map(|name| {
            claim(
                name,
                &match name {
                    "classless" => String::new(),
                    name => format!("{name}-{{ns}}"),
                },
            )
        }))
        .asks(names.map(|name| resize(name, "2Gi", "grow before it is bound:")))
        .asks(names.map(bind))
        .asks(names.map(|name| resize(name, "1024Mi", "keep")))
        .asks(names.map(|name| resize(name, "2Gi", "grow")))
        .asks(names.map(|name| resize(name, "1Gi", "shrink")))
        .asks(["fixed", "growing"].map(|name| {
            any("DELETE", &format!("{CLASSES}/{name}-{{ns}}"))
                .named(format!("delete class {name}"))
                .only(["/status"])
        }))
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        growth(),
        strategies(),
        defaults(),
        services(),
        service_types(),
        secrets(),
        names(),
        updates(),
    ]
}
