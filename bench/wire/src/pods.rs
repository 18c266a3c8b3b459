//! Pods of about 10.8 KB, 4 KB of which are managedFields, no two alike.
//!
//! They are not those of `bench/forms`, because here the members of each object must be in the order in which the API
//! server sends them.

use serde_json::{Value, json};

/// The pod number `i`, as an item of a list: without kind and apiVersion, members in the API server's order.
pub fn pod(i: usize) -> String {
    let ordered = |members: &[(&str, Value)]| {
        let members: Vec<String> = members
            .iter()
            .map(|(name, value)| format!("\"{name}\":{value}"))
            .collect();
        format!("{{{}}}", members.join(","))
    };
    let metadata = ordered(&[
        ("name", json!(format!("web-{:x}-{i:05}", i % 10))),
        ("generateName", json!(format!("web-{:x}-", i % 10))),
        ("namespace", json!(format!("team-{}", i % 50))),
        ("uid", json!(uid(i))),
        ("resourceVersion", json!((1_000_000 + i * 7).to_string())),
        ("generation", json!(1)),
        ("creationTimestamp", json!("2026-07-01T10:00:00Z")),
        ("labels", labels(i)),
        ("annotations", annotations(i)),
        (
            "ownerReferences",
            json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": format!("web-{:x}", i % 10),
            "uid": uid(i % 10), "controller": true, "blockOwnerDeletion": true}]),
        ),
        ("managedFields", managed_fields()),
    ]);
    format!(
        "{{\"metadata\":{metadata},\"spec\":{},\"status\":{}}}",
        spec(i),
        status(i)
    )
}

fn uid(i: usize) -> String {
    let h = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    format!(
        "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
        h >> 32,
        h & 0xffff,
        h >> 52,
        (h >> 16) & 0xfff,
        h >> 16
    )
}

fn labels(i: usize) -> Value {
    json!({"app.kubernetes.io/name": format!("web-{:x}", i % 10), "app.kubernetes.io/instance": format!("web-{}", i % 50),
        "app.kubernetes.io/version": "1.24.3", "pod-template-hash": format!("{:x}", i % 10 * 7919),
        "team": format!("team-{}", i % 50), "tier": "frontend"})
}

fn annotations(i: usize) -> Value {
    json!({"checksum/config": format!("{}{}", uid(i % 10), uid(i % 10)), "prometheus.io/scrape": "true",
        "prometheus.io/port": "9090", "kubectl.kubernetes.io/restartedAt": "2026-07-01T09:59:58Z",
        "sidecar/status": "{\"version\":\"a1b2\",\"containers\":[\"proxy\"],\"volumes\":[\"certs\",\"tmp\"]}"})
}

fn container(name: &str, i: usize) -> Value {
    let env: Vec<Value> = (0..12)
        .map(|n| match n % 3 {
            0 => json!({"name": format!("SETTING_{n}"), "value": format!("value of setting {n} of {name}")}),
            1 => json!({"name": format!("SECRET_{n}"), "valueFrom": {"secretKeyRef": {"name": format!("web-{:x}", i % 10), "key": format!("key-{n}")}}}),
            _ => json!({"name": format!("FIELD_{n}"), "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}}),
        })
        .collect();
    let probe = |path: &str| {
        json!({"httpGet": {"path": path, "port": 8080, "scheme": "HTTP"}, "initialDelaySeconds": 5,
            "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3})
    };
    json!({"name": name, "image": format!("registry.example.com/shop/{name}:1.24.{}", i % 10),
        "args": ["--listen=:8080", "--log-level=info", format!("--shard={}", i % 50)],
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}, {"name": "metrics", "containerPort": 9090, "protocol": "TCP"}],
        "env": env, "resources": {"limits": {"cpu": "500m", "memory": "512Mi"}, "requests": {"cpu": "100m", "memory": "256Mi"}},
        "volumeMounts": [{"name": "config", "readOnly": true, "mountPath": "/etc/web"}, {"name": "tmp", "mountPath": "/tmp"},
            {"name": "kube-api-access-x7k2p", "readOnly": true, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}],
        "livenessProbe": probe("/healthz"), "readinessProbe": probe("/readyz"),
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File", "imagePullPolicy": "IfNotPresent",
        "securityContext": {"capabilities": {"drop": ["ALL"]}, "runAsNonRoot": true, "readOnlyRootFilesystem": true, "allowPrivilegeEscalation": false}})
}

fn spec(i: usize) -> Value {
    json!({"volumes": [{"name": "config", "configMap": {"name": format!("web-{:x}", i % 10), "defaultMode": 420}}, {"name": "tmp", "emptyDir": {}},
            {"name": "kube-api-access-x7k2p", "projected": {"sources": [{"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}}], "defaultMode": 420}}],
        "containers": [container("web", i), container("proxy", i)], "restartPolicy": "Always", "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst", "serviceAccountName": "web", "serviceAccount": "web", "nodeName": format!("node-{:04}", i % 1000),
        "securityContext": {"fsGroup": 1000}, "schedulerName": "default-scheduler",
        "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
            {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}],
        "priority": 0, "enableServiceLinks": true, "preemptionPolicy": "PreemptLowerPriority"})
}

fn status(i: usize) -> Value {
    let condition = |kind: &str| json!({"type": kind, "status": "True", "lastProbeTime": null, "lastTransitionTime": format!("2026-07-01T10:00:{:02}Z", i % 60)});
    let container = |name: &str| {
        json!({"name": name, "state": {"running": {"startedAt": format!("2026-07-01T10:00:{:02}Z", i % 60)}}, "lastState": {}, "ready": true,
            "restartCount": 0, "image": format!("registry.example.com/shop/{name}:1.24.{}", i % 10),
            "imageID": format!("registry.example.com/shop/{name}@sha256:{0}{0}", uid(i % 10)),
            "containerID": format!("containerd://{0}{0}", uid(i)), "started": true})
    };
    let conditions = [
        "PodReadyToStartContainers",
        "Initialized",
        "Ready",
        "ContainersReady",
        "PodScheduled",
    ]
    .map(condition);
    let containers = ["web", "proxy"].map(container);
    json!({"phase": "Running", "conditions": conditions,
        "hostIP": format!("10.0.{}.{}", i % 1000 / 250, i % 250), "podIP": format!("10.1.{}.{}", i / 250 % 250, i % 250),
        "startTime": "2026-07-01T10:00:00Z", "containerStatuses": containers, "qosClass": "Burstable"})
}

fn managed_fields() -> Value {
    let fields = |names: &[&str]| -> Value {
        let fields = names.iter().map(|name| (format!("f:{name}"), json!({})));
        Value::Object(
            std::iter::once((".".to_owned(), json!({})))
                .chain(fields)
                .collect(),
        )
    };
    let probe = fields(&[
        "failureThreshold",
        "httpGet",
        "periodSeconds",
        "successThreshold",
        "timeoutSeconds",
    ]);
    let container = json!({".": {}, "f:args": {}, "f:env": {".": {}, "k:{\"name\":\"SETTING_0\"}": fields(&["name", "value"]),
            "k:{\"name\":\"SECRET_1\"}": {".": {}, "f:name": {}, "f:valueFrom": fields(&["secretKeyRef"])}},
        "f:image": {}, "f:imagePullPolicy": {}, "f:livenessProbe": probe, "f:name": {}, "f:ports": {".": {},
            "k:{\"containerPort\":8080,\"protocol\":\"TCP\"}": fields(&["containerPort", "name", "protocol"]),
            "k:{\"containerPort\":9090,\"protocol\":\"TCP\"}": fields(&["containerPort", "name", "protocol"])},
        "f:readinessProbe": probe, "f:resources": {".": {}, "f:limits": fields(&["cpu", "memory"]), "f:requests": fields(&["cpu", "memory"])},
        "f:securityContext": fields(&["allowPrivilegeEscalation", "readOnlyRootFilesystem", "runAsNonRoot"]),
        "f:terminationMessagePath": {}, "f:terminationMessagePolicy": {}, "f:volumeMounts": {".": {},
            "k:{\"mountPath\":\"/etc/web\"}": fields(&["mountPath", "name", "readOnly"]), "k:{\"mountPath\":\"/tmp\"}": fields(&["mountPath", "name"])}});
    let condition = fields(&["lastProbeTime", "lastTransitionTime", "status", "type"]);
    json!([{"manager": "kube-controller-manager", "operation": "Update", "apiVersion": "v1", "time": "2026-07-01T10:00:00Z",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {"f:annotations": fields(&["checksum/config", "prometheus.io/port", "prometheus.io/scrape"]),
                "f:generateName": {}, "f:labels": fields(&["app.kubernetes.io/instance", "app.kubernetes.io/name", "pod-template-hash", "team", "tier"]),
                "f:ownerReferences": {".": {}, "k:{\"uid\":\"5d1f6f6c-0b1c-4b39-a7be-2a4b8a3f6a53\"}": {}}},
                "f:spec": {"f:containers": {"k:{\"name\":\"web\"}": container, "k:{\"name\":\"proxy\"}": container}, "f:dnsPolicy": {}, "f:restartPolicy": {},
                    "f:schedulerName": {}, "f:securityContext": fields(&["fsGroup"]), "f:serviceAccount": {}, "f:terminationGracePeriodSeconds": {}}}},
        {"manager": "kubelet", "operation": "Update", "apiVersion": "v1", "time": "2026-07-01T10:00:09Z", "fieldsType": "FieldsV1", "subresource": "status",
            "fieldsV1": {"f:status": {"f:conditions": {"k:{\"type\":\"ContainersReady\"}": condition, "k:{\"type\":\"Initialized\"}": condition,
                "k:{\"type\":\"Ready\"}": condition}, "f:containerStatuses": {}, "f:hostIP": {}, "f:phase": {}, "f:podIP": {}, "f:startTime": {}}}}])
}
