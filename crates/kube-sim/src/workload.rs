//! Nodes and pods as in a real cluster, and changes of them.
//!
//! Everything is generated from the seed and a number, so an object does not depend on earlier ones. Values that are
//! unique in a real cluster are unique here: uids, hashes, digests, addresses, times. Pods of one application share
//! the values of their template. Times are relative to a fixed day.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use crate::meta::uid_from;

mod app;
pub(crate) mod churn;
mod managed;
mod node;
mod pod;

/// The creation time of all initial objects: 2026-06-01T00:00:00Z.
const EPOCH: i64 = 1_780_272_000;

const NAMESPACES: [&str; 12] = [
    "payments",
    "checkout",
    "catalog",
    "search",
    "identity",
    "logging",
    "monitoring",
    "ingest",
    "batch",
    "frontend",
    "recommendations",
    "shipping",
];

/// The source of a cluster's nodes and pods.
#[derive(Debug, Clone)]
pub(crate) struct Workload {
    seed: u64,
    nodes: usize,
}

impl Workload {
    pub(crate) fn new(seed: u64, nodes: usize) -> Self {
        Self { seed, nodes }
    }

    /// Namespaces, nodes, then pods.
    pub(crate) fn initial_objects(&self, pods: usize) -> impl Iterator<Item = Value> + '_ {
        let namespaces = NAMESPACES
            .iter()
            .filter(move |_| pods > 0)
            .map(|name| self.namespace(name));
        let nodes = (0..self.nodes).map(|n| self.node(n));
        namespaces.chain(nodes).chain(self.pods(pods as u64))
    }

    fn namespace(&self, name: &str) -> Value {
        let mut rng = self.rng("namespace", name.bytes().map(u64::from).sum());
        json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "uid": uid(&mut rng), "creationTimestamp": time(EPOCH - 86_400 * 400)},
        })
    }

    /// The random number generator of one object.
    fn rng(&self, what: &str, n: u64) -> StdRng {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.seed.to_le_bytes());
        seed[8..16].copy_from_slice(&n.to_le_bytes());
        let name = what.as_bytes();
        seed[16..16 + name.len()].copy_from_slice(name);
        StdRng::from_seed(seed)
    }
}

fn uid(rng: &mut StdRng) -> String {
    uid_from(rng.random())
}

fn hex(rng: &mut StdRng, digits: usize) -> String {
    (0..digits)
        .map(|_| char::from_digit(rng.random_range(0..16), 16).unwrap_or('0'))
        .collect()
}

/// The letters and digits of which Kubernetes generates names.
fn suffix(rng: &mut StdRng, length: usize) -> String {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    (0..length)
        .map(|_| ALPHABET[rng.random_range(0..ALPHABET.len())] as char)
        .collect()
}

fn pick<'a>(rng: &mut StdRng, choices: &[&'a str]) -> &'a str {
    choices[rng.random_range(0..choices.len())]
}

fn time(seconds: i64) -> String {
    let time = jiff::Timestamp::from_second(seconds).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    crate::meta::rfc3339(time)
}

fn node_name(n: usize) -> String {
    format!("node-{n}")
}

fn node_ip(n: usize) -> String {
    format!("10.{}.{}.{}", 1 + n / 62_500, n / 250 % 250, 2 + n % 250)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_objects() {
        let make = |seed| Workload::new(seed, 4).initial_objects(20).collect::<Vec<_>>();
        assert_eq!(make(7), make(7));
        assert_ne!(make(7), make(8));
        // A larger number does not change the first ones.
        let more: Vec<_> = Workload::new(7, 4)
            .initial_objects(40)
            .take(make(7).len())
            .collect();
        assert_eq!(make(7), more);
    }

    #[test]
    fn pods_are_as_large_as_real_ones() {
        let workload = Workload::new(1, 10);
        let pods: Vec<_> = (0..500).map(|n| workload.pod(n, EPOCH)).collect();
        let sizes: Vec<_> = pods.iter().map(|pod| pod.to_string().len()).collect();
        let without: Vec<_> = pods
            .iter()
            .map(|pod| {
                let mut pod = pod.clone();
                pod["metadata"].as_object_mut().unwrap().remove("managedFields");
                pod.to_string().len()
            })
            .collect();
        let mean = |sizes: &[usize]| sizes.iter().sum::<usize>() / sizes.len();
        let (mean, without, min, max) = (
            mean(&sizes),
            mean(&without),
            sizes.iter().min(),
            sizes.iter().max(),
        );
        assert!(
            (10_300..11_300).contains(&mean),
            "mean {mean}, without {without}, {min:?} to {max:?}"
        );
        assert!(
            (6_400..7_400).contains(&without),
            "without managedFields: {without}"
        );
    }

    #[test]
    fn identities_are_unique() {
        let workload = Workload::new(1, 10);
        let mut seen = std::collections::HashSet::new();
        for n in 0..2000 {
            let pod = workload.pod(n, EPOCH);
            let key = (
                pod["metadata"]["namespace"].clone(),
                pod["metadata"]["name"].clone(),
            );
            for unique in [
                json!(key),
                pod["metadata"]["uid"].clone(),
                pod["status"]["containerStatuses"][0]["containerID"].clone(),
            ] {
                assert!(
                    unique.to_string().len() > 8 && seen.insert(unique.to_string()),
                    "{unique}"
                );
            }
        }
    }
}
