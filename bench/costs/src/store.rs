//! The store at 100,000 keys, and the keys themselves.

use crate::meter::Meter;
use k8s_openapi::api::core::v1::{Pod, PodSpec};
use kube_informer::low_level::StoreWriter;
use kube_informer::store::{Indexer, Snapshot};
use kube_informer::{ObjectKey, Partition};
use std::hint::black_box;
use std::sync::Arc;

const OBJECTS: usize = 100_000;
const NAMESPACES: usize = 20;
/// Each has 100 objects.
const NODES: usize = 1000;
const READS: usize = 2_000;

type Object = Arc<Pod>;

pub fn measure(meter: &mut Meter) {
    keys(meter);
    if !meter.wants("store: ") {
        return;
    }
    let (store, mut writer) = Indexer::<Object>::new();
    let node_of = |pod: &Object| pod.spec.as_ref()?.node_name.clone();
    let by_node = store.add_index("by-node", node_of).expect("a new index");
    for number in 0..OBJECTS {
        put(&mut writer, number, pod(number));
    }
    writer.publish();

    // An order without a pattern, always the same: far from each other, as in a map.
    let numbers = || (0..READS).map(|n| n * 2_654_435_761 % OBJECTS);
    let keys: Vec<ObjectKey> = numbers().map(key).collect();
    meter.path("store: get, 100,000 objects", READS, || {
        for key in &keys {
            black_box(store.get(key.as_str()));
        }
    });
    let snapshot: Snapshot<Object> = store.snapshot();
    meter.path("store: get from a snapshot, 100,000 objects", READS, || {
        for key in &keys {
            black_box(snapshot.get(key.as_str()));
        }
    });
    drop(snapshot);
    let nodes: Vec<String> = numbers().map(node).collect();
    meter.path("store: look up 100 objects by an index", READS, || {
        for node in &nodes {
            black_box(store.by_index(&by_node, node.as_str()).expect("an index"));
        }
    });
    meter.path("store: count objects by an index", READS, || {
        let snapshot = store.snapshot();
        for node in &nodes {
            black_box(snapshot.count(&by_node, node.as_str()).expect("an index"));
        }
    });
    let list = || drop(black_box(store.list()));
    meter.path("store: list, per object", OBJECTS, list);
    let pods: Vec<(usize, Object)> = numbers().map(|number| (number, pod(number))).collect();
    meter.path("store: update an object and publish", READS, || {
        for (number, pod) in &pods {
            put(&mut writer, *number, pod.clone());
            writer.publish();
        }
    });
    meter.path("store: update an object, 250 at once", READS, || {
        for batch in pods.chunks(250) {
            for (number, pod) in batch {
                put(&mut writer, *number, pod.clone());
            }
            writer.publish();
        }
    });
}

fn keys(meter: &mut Meter) {
    let names: Vec<String> = (0..READS)
        .map(|n| format!("deployment-7c5ddbdf54-{n:07}"))
        .collect();
    meter.path("key: make from namespace and name", READS, || {
        for name in &names {
            black_box(ObjectKey::new(Some("namespace-01"), name));
        }
    });
    let keys: Vec<ObjectKey> = names
        .iter()
        .map(|name| ObjectKey::new(Some("namespace-01"), name))
        .collect();
    meter.path("key: format", READS, || {
        for key in &keys {
            black_box(key.to_string());
        }
    });
    let texts: Vec<String> = keys.iter().map(ObjectKey::to_string).collect();
    meter.path("key: parse", READS, || {
        for text in &texts {
            black_box(text.parse::<ObjectKey>().expect("a key"));
        }
    });
}

fn put(writer: &mut StoreWriter<Object>, number: usize, pod: Object) {
    writer
        .upsert(key(number), pod, None, Partition::SINGLE)
        .expect("indexed");
}

fn key(number: usize) -> ObjectKey {
    ObjectKey::from(format!(
        "namespace-{:02}/deployment-7c5ddbdf54-{number:07}",
        number % NAMESPACES
    ))
}

fn node(number: usize) -> String {
    format!("node-{}", number % NODES)
}

fn pod(number: usize) -> Object {
    let spec = PodSpec {
        node_name: Some(node(number)),
        ..Default::default()
    };
    let metadata = kube::core::ObjectMeta {
        name: Some(format!("deployment-7c5ddbdf54-{number:07}")),
        namespace: Some(format!("namespace-{:02}", number % NAMESPACES)),
        ..Default::default()
    };
    Arc::new(Pod {
        metadata,
        spec: Some(spec),
        ..Default::default()
    })
}
