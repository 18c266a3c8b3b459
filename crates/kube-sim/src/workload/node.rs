//! Nodes.

use rand::Rng;
use serde_json::{Value, json};

use super::{EPOCH, Workload, hex, managed, node_ip, node_name, pick, time, uid};

impl Workload {
    /// The `n`th node.
    pub(crate) fn node(&self, n: usize) -> Value {
        let mut rng = self.rng("node", n as u64);
        let name = node_name(n);
        let created = EPOCH - rng.random_range(86_400..86_400 * 200);
        let zone = pick(&mut rng, &["eu-west-1a", "eu-west-1b", "eu-west-1c"]);
        let network = format!("10.{}.{}.0/24", 128 + n / 256 % 127, n % 256);
        let resources = json!({
            "cpu": "16", "memory": format!("{}Ki", rng.random_range(63_000_000..65_000_000)), "pods": "110",
            "ephemeral-storage": format!("{}Ki", rng.random_range(200_000_000..210_000_000)), "hugepages-2Mi": "0",
        });
        let condition = |kind: &str, status: &str, reason: &str| {
            json!({
                "type": kind, "status": status, "reason": reason, "message": format!("kubelet has {reason}"),
                "lastHeartbeatTime": time(EPOCH), "lastTransitionTime": time(created + 40),
            })
        };
        let mut node = json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "uid": uid(&mut rng),
                "creationTimestamp": time(created),
                "labels": {
                    "beta.kubernetes.io/arch": "amd64",
                    "kubernetes.io/arch": "amd64",
                    "kubernetes.io/hostname": name,
                    "kubernetes.io/os": "linux",
                    "node-role.kubernetes.io/worker": "",
                    "node.kubernetes.io/instance-type": "m6i.4xlarge",
                    "topology.kubernetes.io/region": "eu-west-1",
                    "topology.kubernetes.io/zone": zone,
                },
                "annotations": {"node.alpha.kubernetes.io/ttl": "0"},
            },
            "spec": {
                "podCIDR": network,
                "podCIDRs": [network],
                "providerID": format!("aws:///{zone}/i-{}", hex(&mut rng, 17)),
            },
            "status": {
                "capacity": resources,
                "allocatable": resources,
                "conditions": [
                    condition("MemoryPressure", "False", "KubeletHasSufficientMemory"),
                    condition("DiskPressure", "False", "KubeletHasNoDiskPressure"),
                    condition("PIDPressure", "False", "KubeletHasSufficientPID"),
                    condition("Ready", "True", "KubeletReady"),
                ],
                "addresses": [
                    {"type": "InternalIP", "address": node_ip(n)},
                    {"type": "Hostname", "address": name},
                ],
                "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
                "nodeInfo": {
                    "machineID": hex(&mut rng, 32),
                    "systemUUID": uid(&mut rng),
                    "bootID": uid(&mut rng),
                    "kernelVersion": "6.8.0-1021-aws",
                    "osImage": "Ubuntu 24.04.2 LTS",
                    "containerRuntimeVersion": "containerd://2.0.5",
                    "kubeletVersion": "v1.36.0",
                    "kubeProxyVersion": "",
                    "operatingSystem": "linux",
                    "architecture": "amd64",
                },
                "images": self.images(n),
            },
        });
        let entries = vec![
            managed::entry(
                "kubelet",
                None,
                &time(created),
                &node,
                &["spec"],
                &["annotations", "labels"],
            ),
            managed::entry("kubelet", Some("status"), &time(EPOCH), &node, &["status"], &[]),
        ];
        node["metadata"]["managedFields"] = entries.into();
        node
    }

    /// Images on the node's disk.
    fn images(&self, n: usize) -> Vec<Value> {
        let mut rng = self.rng("images", n as u64);
        let mut image = || {
            let repository = format!(
                "registry.example.com/platform/{}",
                pick(&mut rng, &["api", "worker", "gateway", "cache"])
            );
            let digest = format!("{repository}@sha256:{}", hex(&mut rng, 64));
            let tag = format!(
                "{repository}:1.{}.{}",
                rng.random_range(0..40),
                rng.random_range(0..20)
            );
            json!({"names": [digest, tag], "sizeBytes": rng.random_range(20_000_000..900_000_000)})
        };
        (0..20).map(|_| image()).collect()
    }
}
