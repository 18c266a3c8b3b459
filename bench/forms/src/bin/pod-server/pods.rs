//! Pods of about 10.8 KB, of which about 3.9 KB are managedFields.
//!
//! They are not those of `kube-sim`'s workload, which may change to make a better demo: figures of these pods must stay
//! comparable, the number of templates is an argument, and a real API server must accept them.
//!
//! Pods of one template share what a Deployment gives its pods. What is unique in a real cluster is unique here, and is
//! random: uids, the digits of container ids and token volumes, addresses, nodes, instants. Templates share what
//! clusters share, the vocabulary of the API, and differ in the rest: names, images and their digests, variables and their
//! values, checksums, ports, resources, the number of containers.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Map, Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// Namespaces of the pods; one more holds the mark.
const NAMESPACES: usize = 50;

/// The namespace and name of the pod that is changed last. The namespace is the last one of a list.
pub const MARK: (&str, &str) = ("zz-mark", "mark");

/// The mean size of pods as JSON, in bytes.
pub struct Size {
    pub whole: usize,
    /// Without managedFields.
    pub pruned: usize,
}

impl Size {
    pub fn of(pods: impl IntoIterator<Item = Value>) -> Self {
        let (mut count, mut whole, mut pruned) = (0, 0, 0);
        for mut pod in pods {
            count += 1;
            whole += pod.to_string().len();
            if let Some(metadata) = pod["metadata"].as_object_mut() {
                metadata.remove("managedFields");
            }
            pruned += pod.to_string().len();
        }
        let count = count.max(1);
        Self {
            whole: whole / count,
            pruned: pruned / count,
        }
    }
}

/// All namespaces that the pods and the mark need.
pub fn namespaces() -> impl Iterator<Item = Value> {
    let teams = (0..NAMESPACES).map(|n| format!("team-{n:02}"));
    teams
        .chain([MARK.0.to_owned()])
        .map(|name| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}))
}

/// Which of so many pods is changed by the change of this number: none twice until all were, in an order that is not that
/// of any list.
pub fn changed(change: usize, pods: usize) -> usize {
    // A prime.
    change * 2_654_435_761 % pods
}

/// The pods of a collection by number.
pub struct Pods {
    templates: Vec<Template>,
    nodes: usize,
}

/// What the pods of a Deployment share.
struct Template {
    app: String,
    namespace: String,
    hash: String,
    owner: Value,
    labels: Value,
    annotations: Value,
    spec: Value,
    /// Digest of the image of each container.
    digests: Vec<String>,
    managed_fields: Value,
}

impl Pods {
    /// `count` pods from so many different templates; 0: each has its own.
    pub fn new(count: usize, templates: usize) -> Self {
        Self {
            templates: (0..templates).map(Template::new).collect(),
            nodes: (count / 30).max(3),
        }
    }

    pub fn pod(&self, n: usize) -> Value {
        match self.templates.len() {
            0 => self.pod_of(&Template::new(n), n),
            count => self.pod_of(&self.templates[n % count], n),
        }
    }

    /// The pod that is changed last, beside so many others.
    pub fn mark(&self, count: usize) -> Value {
        let mut mark = self.pod(count);
        mark["metadata"]["namespace"] = MARK.0.into();
        mark["metadata"]["name"] = MARK.1.into();
        mark
    }

    /// Where pod `n` is: namespace and name.
    pub fn key(&self, n: usize) -> (String, String) {
        let key_of = |template: &Template| (template.namespace.clone(), template.pod_name(n));
        match self.templates.len() {
            0 => key_of(&Template::new(n)),
            count => key_of(&self.templates[n % count]),
        }
    }

    fn pod_of(&self, template: &Template, n: usize) -> Value {
        let mut rng = rng(2, n);
        let node = rng.random_range(0..self.nodes);
        let started = rng.random_range(0..30 * 86_400);
        let token = format!("kube-api-access-{}", letters(&mut rng, 5));
        let mut spec = template.spec.clone();
        spec["nodeName"] = format!("node-{node:05}").into();
        spec["volumes"][2]["name"] = token.as_str().into();
        for container in spec["containers"].as_array_mut().into_iter().flatten() {
            container["volumeMounts"][2]["name"] = token.as_str().into();
        }
        let mut managed_fields = template.managed_fields.clone();
        managed_fields[0]["time"] = time(started).into();
        managed_fields[1]["time"] = time(started + 20).into();
        json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": template.pod_name(n),
                "generateName": format!("{}-{}-", template.app, template.hash),
                "namespace": template.namespace,
                "uid": uid(&mut rng),
                "generation": 1,
                "creationTimestamp": time(started),
                "labels": template.labels,
                "annotations": template.annotations,
                "ownerReferences": [template.owner],
                "managedFields": managed_fields,
            },
            "spec": spec,
            "status": status(template, node, n, started, &mut rng),
        })
    }
}

impl Template {
    fn new(number: usize) -> Self {
        let mut rng = rng(1, number);
        let subject = pick(
            &mut rng,
            &[
                "order", "cart", "user", "invoice", "event", "media", "price", "stock",
            ],
        );
        let kind = pick(
            &mut rng,
            &["api", "worker", "gateway", "indexer", "cache", "sync", "exporter"],
        );
        let app = format!("{subject}-{kind}-{number}");
        let hash = letters(&mut rng, 10);
        let namespace = format!("team-{:02}", rng.random_range(0..NAMESPACES));
        let mut containers = vec![container(&mut rng, &app, Some(8 + number % 8))];
        // By number, so that few templates have as many as many have.
        if number.is_multiple_of(3) {
            let sidecar = pick(&mut rng, &["istio-proxy", "log-shipper", "metrics-agent"]);
            containers.push(container(&mut rng, sidecar, None));
        }
        let digests = containers.iter().map(|_| hex(&mut rng, 64)).collect();
        let labels = json!({
            "app.kubernetes.io/name": app,
            "app.kubernetes.io/instance": format!("{app}-{}", letters(&mut rng, 4)),
            "app.kubernetes.io/version": version(&mut rng),
            "pod-template-hash": hash,
            "team": namespace,
            "tier": pick(&mut rng, &["frontend", "backend", "data"]),
        });
        let annotations = json!({
            "checksum/config": hex(&mut rng, 64),
            "prometheus.io/scrape": "true",
            "prometheus.io/port": rng.random_range(8000..10_000).to_string(),
            "kubectl.kubernetes.io/restartedAt": time(rng.random_range(0..30 * 86_400)),
        });
        let owner = json!({
            "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": format!("{app}-{hash}"), "uid": uid(&mut rng),
            "controller": true, "blockOwnerDeletion": true,
        });
        let spec = spec(&mut rng, &app, containers);
        let managed_fields = managed_fields(&labels, &annotations, &owner, &spec);
        Self {
            app,
            namespace,
            hash,
            owner,
            labels,
            annotations,
            spec,
            digests,
            managed_fields,
        }
    }

    /// With five letters that no other pod of the template has.
    fn pod_name(&self, n: usize) -> String {
        // The factor has none in common with 27^5, so different numbers stay different.
        let mut rest = (n as u64).wrapping_mul(5_864_117) % 14_348_907;
        let mut suffix = String::new();
        for _ in 0..5 {
            suffix.push(LETTERS[(rest % 27) as usize] as char);
            rest /= 27;
        }
        format!("{}-{}-{suffix}", self.app, self.hash)
    }
}

/// A container; that of the application has so many variables of its own, a sidecar has few.
fn container(rng: &mut StdRng, name: &str, variables: Option<usize>) -> Value {
    let registry = pick(
        rng,
        &[
            "registry.example.com/platform",
            "ghcr.io/example-org",
            "eu.gcr.io/example-prod",
        ],
    );
    let port = rng.random_range(3000..10_000);
    let (cpu, memory) = (rng.random_range(1..20) * 50, rng.random_range(1..32) * 64);
    let period = rng.random_range(3..30);
    let probe = |path: &str| {
        json!({"httpGet": {"path": path, "port": "http", "scheme": "HTTP"}, "initialDelaySeconds": period,
            "timeoutSeconds": 2, "periodSeconds": period, "successThreshold": 1, "failureThreshold": 3})
    };
    let mut container = json!({
        "name": name,
        "image": format!("{registry}/{name}:{}", version(rng)),
        "imagePullPolicy": "IfNotPresent",
        "ports": [{"name": "http", "containerPort": port, "protocol": "TCP"},
            {"name": "metrics", "containerPort": port + 1, "protocol": "TCP"}],
        "env": env(rng, name, variables.unwrap_or(4)),
        "resources": {"limits": {"cpu": format!("{}m", cpu * 2), "memory": format!("{}Mi", memory * 2)},
            "requests": {"cpu": format!("{cpu}m"), "memory": format!("{memory}Mi")}},
        "volumeMounts": [{"name": "config", "readOnly": true, "mountPath": format!("/etc/{name}")},
            {"name": "tmp", "mountPath": "/tmp"},
            {"name": "", "readOnly": true, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}],
        "livenessProbe": probe("/healthz"),
        "readinessProbe": probe("/readyz"),
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "securityContext": {"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "runAsNonRoot": true,
            "capabilities": {"drop": ["ALL"]}},
    });
    if variables.is_some() {
        let level = pick(rng, &["info", "warn", "debug"]);
        container["args"] = json!([
            format!("--listen=:{port}"),
            format!("--log-level={level}"),
            format!("--config=/etc/{name}/config.yaml"),
            format!("--shards={}", rng.random_range(1..64))
        ]);
        container["startupProbe"] = probe("/startupz");
    }
    container
}

fn env(rng: &mut StdRng, name: &str, count: usize) -> Vec<Value> {
    let field = |name: &str, path: &str| json!({"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}});
    let mut env = vec![
        field("POD_NAME", "metadata.name"),
        field("POD_IP", "status.podIP"),
        json!({"name": "API_TOKEN", "valueFrom": {"secretKeyRef": {"name": format!("{name}-credentials"), "key": "token"}}}),
    ];
    env.extend((0..count).map(|_| {
        let what = pick(
            rng,
            &[
                "DATABASE", "CACHE", "QUEUE", "TRACES", "UPSTREAM", "STORAGE", "SEARCH", "BILLING",
            ],
        );
        let aspect = pick(rng, &["URL", "TIMEOUT", "REGION", "SHA", "ADDRESS", "POOL"]);
        let value = match aspect {
            "URL" => format!(
                "postgres://{name}@{}.internal:5432/{}",
                letters(rng, 8),
                letters(rng, 6)
            ),
            "SHA" => hex(rng, 40),
            "REGION" => pick(rng, &["eu-west-1", "us-east-1", "ap-south-1"]).to_owned(),
            "TIMEOUT" | "POOL" => rng.random_range(10..5000).to_string(),
            _ => format!(
                "{}.{name}.svc.cluster.local:{}",
                letters(rng, 8),
                rng.random_range(1024..60_000)
            ),
        };
        json!({"name": format!("{what}_{aspect}_{}", letters(rng, 2).to_uppercase()), "value": value})
    }));
    env
}

fn spec(rng: &mut StdRng, app: &str, containers: Vec<Value>) -> Value {
    let toleration = |key: &str| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
    json!({
        "volumes": [
            {"name": "config", "configMap": {"name": format!("{app}-config"), "defaultMode": 420}},
            {"name": "tmp", "emptyDir": {}},
            {"name": "", "projected": {"sources": [{"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                {"downwardAPI": {"items": [{"path": "namespace",
                    "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}}], "defaultMode": 420}},
        ],
        "containers": containers,
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": rng.random_range(1..12) * 10,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": app,
        "serviceAccount": app,
        "nodeName": "",
        "securityContext": {"fsGroup": 65532, "seccompProfile": {"type": "RuntimeDefault"}},
        "schedulerName": "default-scheduler",
        "tolerations": [toleration("node.kubernetes.io/not-ready"), toleration("node.kubernetes.io/unreachable")],
        "priority": 0,
        "enableServiceLinks": true,
        "preemptionPolicy": "PreemptLowerPriority",
    })
}

fn status(template: &Template, node: usize, n: usize, started: i64, rng: &mut StdRng) -> Value {
    let host = format!("10.0.{}.{}", node / 250 % 250, node % 250);
    let ip = format!("10.{}.{}.{}", 64 + n / 65_536 % 128, n / 256 % 256, n % 256);
    let ready = started + rng.random_range(6..40);
    let condition = |kind: &str, at: i64| {
        json!({"type": kind, "status": "True", "observedGeneration": 1, "lastProbeTime": null,
            "lastTransitionTime": time(at)})
    };
    let containers = template.spec["containers"].as_array().into_iter().flatten();
    let containers = containers.zip(&template.digests);
    let containers: Vec<_> = containers
        .map(|(container, digest)| container_status(container, digest, started, rng))
        .collect();
    json!({
        "phase": "Running", "observedGeneration": 1, "hostIP": host, "hostIPs": [{"ip": host}], "podIP": ip,
        "podIPs": [{"ip": ip}], "startTime": time(started), "qosClass": "Burstable",
        "conditions": [condition("PodReadyToStartContainers", started + 3), condition("Initialized", started),
            condition("Ready", ready), condition("ContainersReady", ready), condition("PodScheduled", started)],
        "containerStatuses": containers,
    })
}

fn container_status(container: &Value, digest: &str, started: i64, rng: &mut StdRng) -> Value {
    let image = container["image"].as_str().unwrap_or_default();
    let repository = image.rsplit_once(':').map_or("", |(repository, _)| repository);
    let restarts = if rng.random_bool(0.1) {
        rng.random_range(1..6)
    } else {
        0
    };
    let running = started + 3 + restarts * 600;
    let last_state = match restarts {
        0 => json!({}),
        _ => json!({"terminated": {
            "exitCode": 137, "reason": "OOMKilled", "startedAt": time(started + 3), "finishedAt": time(running - 2),
            "containerID": format!("containerd://{}", hex(rng, 64)),
        }}),
    };
    json!({
        "name": container["name"], "state": {"running": {"startedAt": time(running)}}, "lastState": last_state,
        "ready": true, "restartCount": restarts, "image": image, "imageID": format!("{repository}@sha256:{digest}"),
        "containerID": format!("containerd://{}", hex(rng, 64)), "started": true,
        "allocatedResources": container["resources"]["requests"], "resources": container["resources"],
        "user": {"linux": {"uid": 65532, "gid": 65532, "supplementalGroups": [65532]}},
    })
}

/// What the controller manager and the kubelet have set; their times are each pod's own.
fn managed_fields(labels: &Value, annotations: &Value, owner: &Value, spec: &Value) -> Value {
    let metadata =
        json!({"labels": labels, "annotations": annotations, "generateName": "", "ownerReferences": [owner]});
    let condition = json!({".": {}, "f:lastProbeTime": {}, "f:lastTransitionTime": {}, "f:observedGeneration": {},
        "f:status": {}, "f:type": {}});
    let conditions = [
        "ContainersReady",
        "Initialized",
        "PodReadyToStartContainers",
        "Ready",
    ]
    .map(|kind| (format!("k:{{\"type\":\"{kind}\"}}"), condition.clone()));
    let entry = |manager: &str, fields: Value| {
        json!({"manager": manager, "operation": "Update", "apiVersion": "v1", "time": "", "fieldsType": "FieldsV1",
            "fieldsV1": fields})
    };
    let set = json!({"f:metadata": field_set(&metadata), "f:spec": field_set(spec)});
    let mut kubelet = entry(
        "kubelet",
        json!({"f:status": {
        "f:conditions": Value::Object(conditions.into_iter().collect()), "f:containerStatuses": {}, "f:hostIP": {},
        "f:hostIPs": {}, "f:observedGeneration": {}, "f:phase": {}, "f:podIP": {}, "f:podIPs": {}, "f:startTime": {}}}),
    );
    kubelet["subresource"] = "status".into();
    json!([entry("kube-controller-manager", set), kubelet])
}

/// The members of a value, as the API server notes who set them.
fn field_set(value: &Value) -> Value {
    let mut set = Map::new();
    for (name, member) in value.as_object().into_iter().flatten() {
        let fields = match member {
            Value::Object(members) if !members.is_empty() && !whole(name) => {
                let mut fields = field_set(member);
                fields["."] = json!({});
                fields
            }
            Value::Array(items) => keyed_set(name, items),
            _ => json!({}),
        };
        set.insert(format!("f:{name}"), fields);
    }
    Value::Object(set)
}

/// Set as a whole, or near enough: the sizes are those of real pods.
fn whole(name: &str) -> bool {
    matches!(
        name,
        "httpGet" | "limits" | "requests" | "capabilities" | "startupProbe" | "securityContext"
    )
}

/// The same for a list that is merged by keys; others are set as a whole.
fn keyed_set(list: &str, items: &[Value]) -> Value {
    let keys: &[&str] = match list {
        "containers" | "env" => &["name"],
        "ports" => &["containerPort", "protocol"],
        "volumeMounts" => &["mountPath"],
        "ownerReferences" => &["uid"],
        _ => return json!({}),
    };
    // The last mount and volume is the token's, which admission adds on behalf of whoever created the pod.
    let sets = items.iter().map(|item| {
        let key: Map<_, _> = keys
            .iter()
            .map(|key| ((*key).to_owned(), item[*key].clone()))
            .collect();
        let mut fields = if matches!(list, "env" | "ownerReferences") {
            json!({})
        } else {
            field_set(item)
        };
        fields["."] = json!({});
        (format!("k:{}", Value::Object(key)), fields)
    });
    Value::Object(sets.collect())
}

/// The annotation that says when a pod was changed, in nanoseconds since 1970.
pub const AT: &str = "bench/at";

/// Says in the pod that it is changed now.
pub fn stamp(pod: &mut Value) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    pod["metadata"]["annotations"][AT] = now.as_nanos().to_string().into();
}

/// Changes a pod's status, as the restart of a container does.
pub fn restart(pod: &mut Value, number: usize) {
    let mut rng = rng(3, number);
    let now = time(31 * 86_400 + number as i64);
    let status = &mut pod["status"];
    let container = &mut status["containerStatuses"][0];
    container["restartCount"] = (container["restartCount"].as_i64().unwrap_or(0) + 1).into();
    container["containerID"] = format!("containerd://{}", hex(&mut rng, 64)).into();
    container["state"]["running"]["startedAt"] = now.as_str().into();
    for condition in status["conditions"].as_array_mut().into_iter().flatten() {
        if condition["type"] == "Ready" || condition["type"] == "ContainersReady" {
            condition["lastTransitionTime"] = now.as_str().into();
        }
    }
    pod["metadata"]["managedFields"][1]["time"] = now.into();
}

fn rng(what: u64, n: usize) -> StdRng {
    StdRng::seed_from_u64(what << 60 | n as u64)
}

fn pick<'a>(rng: &mut StdRng, choices: &[&'a str]) -> &'a str {
    choices[rng.random_range(0..choices.len())]
}

/// Letters and digits as Kubernetes makes names from.
const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

fn letters(rng: &mut StdRng, count: usize) -> String {
    (0..count)
        .map(|_| LETTERS[rng.random_range(0..LETTERS.len())] as char)
        .collect()
}

fn hex(rng: &mut StdRng, digits: usize) -> String {
    (0..digits)
        .map(|_| b"0123456789abcdef"[rng.random_range(0..16)] as char)
        .collect()
}

fn version(rng: &mut StdRng) -> String {
    format!(
        "{}.{}.{}",
        rng.random_range(0..5),
        rng.random_range(0..40),
        rng.random_range(0..20)
    )
}

fn uid(rng: &mut StdRng) -> String {
    let digits = hex(rng, 31);
    format!(
        "{}-{}-4{}-a{}-{}",
        &digits[..8],
        &digits[8..12],
        &digits[12..15],
        &digits[15..18],
        &digits[19..31]
    )
}

/// An instant so many seconds after the start of June 2026.
fn time(seconds: i64) -> String {
    let (day, second) = (seconds / 86_400, seconds % 86_400);
    let (month, day) = if day < 30 {
        (6, day + 1)
    } else {
        (7, (day - 30) % 31 + 1)
    };
    format!(
        "2026-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn pods_are_as_large_as_real_ones() {
        for templates in [0, 10, 1000] {
            let pods = Pods::new(2000, templates);
            let Size {
                whole,
                pruned: without,
            } = Size::of((0..2000).map(|n| pods.pod(n)));
            println!("{templates} templates: {whole} bytes, {without} without managedFields");
            assert!(
                (10_000..11_600).contains(&whole),
                "{templates} templates: {whole} bytes"
            );
            assert!(
                (6_300..7_500).contains(&without),
                "{templates} templates: {without} bytes without managedFields"
            );
        }
    }

    #[test]
    fn identities_are_unique() {
        for templates in [0, 10] {
            let pods = Pods::new(5000, templates);
            let (mut keys, mut uids) = (HashSet::new(), HashSet::new());
            for n in 0..5000 {
                let pod = pods.pod(n);
                let (namespace, name) = pods.key(n);
                assert_eq!(
                    (&pod["metadata"]["namespace"], &pod["metadata"]["name"]),
                    (&json!(namespace), &json!(name))
                );
                assert!(keys.insert((namespace, name)));
                assert!(uids.insert(pod["metadata"]["uid"].to_string()));
            }
        }
    }
}
