//! Pods.

use rand::Rng;
use rand::rngs::StdRng;
use serde_json::{Map, Value, json};

use super::app::{App, Container, Owner, PODS_PER_APP};
use super::{EPOCH, Workload, hex, managed, node_ip, node_name, suffix, time, uid};

impl Workload {
    /// The `n`th pod; it was started some time before `now`, in seconds since 1970.
    pub(crate) fn pod(&self, n: u64, now: i64) -> Value {
        self.pod_of(&self.app(n / PODS_PER_APP), n, now)
    }

    /// The first `count` pods.
    pub(super) fn pods(&self, count: u64) -> impl Iterator<Item = Value> + '_ {
        (0..count.div_ceil(PODS_PER_APP)).flat_map(move |number| {
            let app = self.app(number);
            let first = number * PODS_PER_APP;
            (first..count.min(first + PODS_PER_APP)).map(move |n| self.pod_of(&app, n, EPOCH))
        })
    }

    fn pod_of(&self, app: &App, n: u64, now: i64) -> Value {
        let mut rng = self.rng("pod", n);
        let node = if self.nodes == 0 {
            None
        } else {
            Some(rng.random_range(0..self.nodes))
        };
        let started = (now - rng.random_range(60..86_400 * 30)).max(app.created);
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod"});
        pod["metadata"] = metadata(app, n, &mut rng, started);
        pod["spec"] = spec(app, node, &mut rng);
        pod["status"] = status(app, n, node, &mut rng, started);
        if node.is_none() {
            pod["status"] = json!({"phase": "Pending", "qosClass": "Burstable"});
        }
        let manager = "kube-controller-manager";
        let set = ["annotations", "generateName", "labels", "ownerReferences"];
        let entries = vec![
            managed::entry(manager, None, &time(started), &pod, &["spec"], &set),
            managed::entry(
                "kubelet",
                Some("status"),
                &time(started + 12),
                &pod,
                &["status"],
                &[],
            ),
        ];
        pod["metadata"]["managedFields"] = entries.into();
        pod
    }
}

fn metadata(app: &App, n: u64, rng: &mut StdRng, created: i64) -> Value {
    let ordinal = n % PODS_PER_APP;
    let (kind, owner, generate_name) = match app.owner {
        Owner::Deployment => {
            let set = format!("{}-{}", app.name, app.hash);
            ("ReplicaSet", set.clone(), format!("{set}-"))
        }
        Owner::StatefulSet => ("StatefulSet", app.name.clone(), format!("{}-", app.name)),
        Owner::DaemonSet => ("DaemonSet", app.name.clone(), format!("{}-", app.name)),
    };
    let mut labels = json!({
        "app": app.name,
        "app.kubernetes.io/name": app.name,
        "app.kubernetes.io/part-of": app.namespace,
        "tier": if n.is_multiple_of(3) { "backend" } else { "frontend" },
    });
    let name = match app.owner {
        Owner::StatefulSet => {
            labels["statefulset.kubernetes.io/pod-name"] = format!("{generate_name}{ordinal}").into();
            labels["apps.kubernetes.io/pod-index"] = ordinal.to_string().into();
            labels["controller-revision-hash"] = format!("{}-{}", app.name, app.hash).into();
            format!("{generate_name}{ordinal}")
        }
        Owner::DaemonSet => {
            labels["controller-revision-hash"] = app.hash.as_str().into();
            labels["pod-template-generation"] = "1".into();
            format!("{generate_name}{}", suffix(rng, 5))
        }
        Owner::Deployment => {
            labels["pod-template-hash"] = app.hash.as_str().into();
            format!("{generate_name}{}", suffix(rng, 5))
        }
    };
    json!({
        "name": name,
        "generateName": generate_name,
        "namespace": app.namespace,
        "uid": uid(rng),
        "creationTimestamp": time(created),
        "labels": labels,
        "annotations": {
            "checksum/config": hex(rng, 64),
            "prometheus.io/scrape": "true",
            "prometheus.io/port": "9090",
        },
        "ownerReferences": [{
            "apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": app.owner_uid, "controller": true,
            "blockOwnerDeletion": true,
        }],
    })
}

fn spec(app: &App, node: Option<usize>, rng: &mut StdRng) -> Value {
    let token = format!("kube-api-access-{}", suffix(rng, 5));
    let containers: Vec<_> = app
        .containers
        .iter()
        .map(|container| {
            let mut container = container.template.clone();
            container["volumeMounts"] = json!([
                {"name": "config", "mountPath": format!("/etc/{}", app.name), "readOnly": true},
                {"name": "tmp", "mountPath": "/tmp"},
                {"name": token, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": true},
            ]);
            container
        })
        .collect();
    let toleration = |key: &str| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
    let mut spec = json!({
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": app.name,
        "serviceAccount": app.name,
        "securityContext": {"fsGroup": 65532, "seccompProfile": {"type": "RuntimeDefault"}},
        "schedulerName": "default-scheduler",
        "tolerations": [toleration("node.kubernetes.io/not-ready"), toleration("node.kubernetes.io/unreachable")],
        "priority": 0,
        "enableServiceLinks": true,
        "preemptionPolicy": "PreemptLowerPriority",
    });
    spec["containers"] = containers.into();
    spec["volumes"] = volumes(app, &token);
    if let Some(node) = node {
        spec["nodeName"] = node_name(node).into();
    }
    if app.host_network {
        spec["hostNetwork"] = true.into();
    }
    spec
}

fn volumes(app: &App, token: &str) -> Value {
    json!([
        {"name": "config", "configMap": {"name": format!("{}-config", app.name), "defaultMode": 420}},
        {"name": "tmp", "emptyDir": {}},
        {
            "name": token,
            "projected": {
                "sources": [
                    {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                    {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                    {"downwardAPI": {"items": [
                        {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}},
                    ]}},
                ],
                "defaultMode": 420,
            },
        },
    ])
}

fn status(app: &App, n: u64, node: Option<usize>, rng: &mut StdRng, started: i64) -> Value {
    let host = node_ip(node.unwrap_or(0));
    let ip = match app.host_network {
        true => host.clone(),
        false => format!("10.{}.{}.{}", 128 + n / 65_536 % 127, n / 256 % 256, n % 256),
    };
    let condition = |kind: &str, after: i64| json!({"type": kind, "status": "True", "observedGeneration": 1, "lastProbeTime": null, "lastTransitionTime": time(started + after)});
    let ready = rng.random_range(6..40);
    let statuses: Vec<_> = app
        .containers
        .iter()
        .map(|c| container_status(c, rng, started))
        .collect();
    let mut status = json!({
        "phase": "Running",
        "observedGeneration": 1,
        "hostIP": host,
        "hostIPs": [{"ip": host}],
        "podIP": ip,
        "podIPs": [{"ip": ip}],
        "startTime": time(started),
        "qosClass": "Burstable",
    });
    status["conditions"] = vec![
        condition("PodReadyToStartContainers", 3),
        condition("Initialized", 0),
        condition("Ready", ready),
        condition("ContainersReady", ready),
        condition("PodScheduled", 0),
    ]
    .into();
    status["containerStatuses"] = statuses.into();
    status
}

fn container_status(container: &Container, rng: &mut StdRng, started: i64) -> Value {
    let mut last_state = Map::new();
    let restarts = if rng.random_bool(0.1) {
        rng.random_range(1..6)
    } else {
        0
    };
    let running = started + 3 + i64::from(restarts) * 600;
    if restarts > 0 {
        last_state.insert("terminated".into(), json!({
            "exitCode": 137, "reason": "OOMKilled", "startedAt": time(started + 3), "finishedAt": time(running - 2),
            "containerID": format!("containerd://{}", hex(rng, 64)),
        }));
    }
    json!({
        "name": container.name,
        "state": {"running": {"startedAt": time(running)}},
        "lastState": last_state,
        "ready": true,
        "restartCount": restarts,
        "image": container.image,
        "imageID": format!("{}@sha256:{}", container.image.split(':').next().unwrap_or(""), container.digest),
        "containerID": format!("containerd://{}", hex(rng, 64)),
        "started": true,
        "allocatedResources": container.template["resources"]["requests"],
        "resources": container.template["resources"],
        "user": {"linux": {"uid": 65532, "gid": 65532, "supplementalGroups": [65532]}},
    })
}
