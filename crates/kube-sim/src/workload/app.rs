//! Applications: the values that the pods of one template share.

use rand::Rng;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use super::{EPOCH, NAMESPACES, Workload, hex, pick, suffix, uid};

/// The number of pods of one application, approximately.
pub(super) const PODS_PER_APP: u64 = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Deployment,
    StatefulSet,
    DaemonSet,
}

/// One application, as its pod template describes it.
pub(super) struct App {
    pub(super) name: String,
    pub(super) namespace: &'static str,
    pub(super) owner: Owner,
    pub(super) owner_uid: String,
    /// The hash of the template, as in the names of ReplicaSets.
    pub(super) hash: String,
    pub(super) created: i64,
    pub(super) containers: Vec<Container>,
    pub(super) host_network: bool,
}

pub(super) struct Container {
    pub(super) name: String,
    pub(super) image: String,
    pub(super) digest: String,
    pub(super) template: Value,
}

impl Workload {
    /// The `n`th application.
    pub(super) fn app(&self, n: u64) -> App {
        let mut rng = self.rng("app", n);
        let owner = match n % 20 {
            0..14 => Owner::Deployment,
            14..17 => Owner::StatefulSet,
            _ => Owner::DaemonSet,
        };
        let kind = pick(
            &mut rng,
            &[
                "api",
                "worker",
                "gateway",
                "indexer",
                "cache",
                "sync",
                "proxy",
                "scheduler",
                "exporter",
            ],
        );
        let subject = pick(
            &mut rng,
            &[
                "order", "cart", "user", "invoice", "event", "media", "price", "stock", "audit", "token",
            ],
        );
        let name = format!("{subject}-{kind}-{n}");
        let mut containers = vec![container(&mut rng, &name, true)];
        if rng.random_bool(0.35) {
            let sidecar = pick(&mut rng, &["istio-proxy", "log-shipper", "metrics-agent"]);
            containers.push(container(&mut rng, sidecar, false));
        }
        App {
            namespace: NAMESPACES[rng.random_range(0..NAMESPACES.len())],
            owner,
            owner_uid: uid(&mut rng),
            hash: suffix(&mut rng, 10),
            created: EPOCH - rng.random_range(86_400..86_400 * 90),
            host_network: owner == Owner::DaemonSet && rng.random_bool(0.4),
            containers,
            name,
        }
    }
}

fn container(rng: &mut StdRng, name: &str, main: bool) -> Container {
    let registry = pick(
        rng,
        &[
            "registry.example.com/platform",
            "ghcr.io/example-org",
            "eu.gcr.io/example-prod",
        ],
    );
    let version = format!(
        "{}.{}.{}",
        rng.random_range(0..5),
        rng.random_range(0..40),
        rng.random_range(0..20)
    );
    let image = format!("{registry}/{name}:{version}");
    let port = rng.random_range(80..100) * 100 + rng.random_range(0..99);
    let probe = |path: &str, period: u32| {
        json!({
            "httpGet": {"path": path, "port": "http", "scheme": "HTTP"},
            "initialDelaySeconds": period, "timeoutSeconds": 2, "periodSeconds": period, "successThreshold": 1,
            "failureThreshold": 3,
        })
    };
    let cpu = rng.random_range(1..20) * 50;
    let memory = rng.random_range(1..32) * 64;
    let variables = if main { rng.random_range(4..10) } else { 3 };
    let mut template = json!({
        "name": name,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "ports": [
            {"name": "http", "containerPort": port, "protocol": "TCP"},
            {"name": "metrics", "containerPort": port + 1, "protocol": "TCP"},
        ],
        "env": env(rng, name, variables),
        "resources": {
            "limits": {"cpu": format!("{}m", cpu * 2), "memory": format!("{}Mi", memory * 2)},
            "requests": {"cpu": format!("{cpu}m"), "memory": format!("{memory}Mi")},
        },
        "livenessProbe": probe("/healthz", 10),
        "readinessProbe": probe("/readyz", 5),
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "securityContext": {
            "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "runAsNonRoot": true,
            "capabilities": {"drop": ["ALL"]},
        },
    });
    if main {
        template["args"] = json!([
            format!("--listen=:{port}"),
            format!("--log-level={}", pick(rng, &["info", "warn", "debug"])),
            format!("--config=/etc/{name}/config.yaml"),
        ]);
        template["startupProbe"] = probe("/startupz", 3);
        template["lifecycle"] = json!({"preStop": {"exec": {"command": ["/bin/sh", "-c", "sleep 10"]}}});
    }
    Container {
        name: name.into(),
        image,
        digest: hex(rng, 64),
        template,
    }
}

fn env(rng: &mut StdRng, app: &str, count: usize) -> Vec<Value> {
    const NAMES: [&str; 9] = [
        "DATABASE_URL",
        "CACHE_ADDRESS",
        "QUEUE_TOPIC",
        "FEATURE_FLAGS",
        "TRACE_ENDPOINT",
        "MAX_CONNECTIONS",
        "REGION",
        "BUILD_SHA",
        "UPSTREAM_TIMEOUT",
    ];
    let mut env = vec![
        json!({"name": "POD_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}}),
        json!({"name": "POD_IP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}}),
        json!({"name": "API_TOKEN", "valueFrom": {"secretKeyRef": {"name": format!("{app}-credentials"), "key": "token"}}}),
    ];
    env.extend(NAMES.iter().take(count).map(|name| {
        let value = match *name {
            "DATABASE_URL" => format!("postgres://{app}@db-{}.internal:5432/{app}", suffix(rng, 6)),
            "BUILD_SHA" => hex(rng, 40),
            "REGION" => pick(rng, &["eu-west-1", "us-east-1", "ap-south-1"]).to_owned(),
            "MAX_CONNECTIONS" | "UPSTREAM_TIMEOUT" => rng.random_range(10..5000).to_string(),
            _ => format!(
                "{}.{app}.svc.cluster.local:{}",
                suffix(rng, 8),
                rng.random_range(1024..60000)
            ),
        };
        json!({"name": name, "value": value})
    }));
    env
}
