//! Objects like those of client-go's informer benchmark: small pods.

use k8s_openapi::api::core::v1::{Pod, PodSpec};
use kube_informer::ObjectKey;
use std::{collections::BTreeMap, sync::Arc};

pub type Object = Arc<Pod>;

pub const NAMESPACES: usize = 20;

pub fn key(number: usize) -> ObjectKey {
    ObjectKey::from(format!(
        "namespace-{:02}/deployment-7c5ddbdf54-{number:07}",
        number % NAMESPACES
    ))
}

pub fn pod(number: usize, version: u64) -> Object {
    pod_of_app(number, number % 1000, version)
}

/// A pod whose label `app` has this number.
pub fn pod_of_app(number: usize, app: usize, version: u64) -> Object {
    let labels = [("app", format!("app-{app}")), ("tier", "front".to_owned())];
    Arc::new(Pod {
        metadata: kube::core::ObjectMeta {
            name: Some(format!("deployment-7c5ddbdf54-{number:07}")),
            namespace: Some(format!("namespace-{:02}", number % NAMESPACES)),
            resource_version: Some(version.to_string()),
            labels: Some(BTreeMap::from(labels.map(|(key, value)| (key.to_owned(), value)))),
            ..Default::default()
        },
        spec: Some(PodSpec {
            node_name: Some(node(number)),
            ..Default::default()
        }),
        ..Default::default()
    })
}

pub fn node(number: usize) -> String {
    format!("node-{}", number % 1000)
}

/// Numbers below `count` in an order without pattern, always the same.
pub fn shuffled(count: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..count).collect();
    let mut random = Random(42);
    for at in (1..count).rev() {
        numbers.swap(at, random.below(at + 1));
    }
    numbers
}

/// A small random number generator (xorshift).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}
