//! What the store takes in memory beyond its objects, counted at the allocator: `cargo run --release --bin store-memory`.

#[path = "../../../counting.rs"]
mod counting;

use kube_informer::low_level::StoreWriter;
use kube_informer::store::Indexer;
use kube_informer::{ObjectKey, Partition};
use std::sync::Arc;
use store_bench::objects::{key, node};

type Node = Arc<str>;

fn main() {
    println!(
        "bytes (allocations) per object beyond objects and keys: no index | namespace | + 1000 nodes | + unique"
    );
    for count in [1_000, 10_000, 50_000, 100_000, 160_000, 1_000_000] {
        let figures = [0, 1, 2, 3].map(|indexes| per_object(count, indexes)).join(" | ");
        println!("  {count:8}  {figures}");
    }
    let keys: usize = (0..1000).map(|number| 16 + key(number).as_str().len()).sum();
    println!(
        "  a key of {} characters is one allocation of {} bytes",
        key(0).as_str().len(),
        keys / 1000
    );
}

/// The state after a fill and an update of every object, each published: with its holes and copies.
fn per_object(count: usize, indexes: usize) -> String {
    let nodes: Vec<Node> = (0..1000).map(|number| node(number).into()).collect();
    let objects: Vec<(ObjectKey, Arc<(usize, Node)>)> = (0..count)
        .map(|number| (key(number), Arc::new((number, nodes[number % 1000].clone()))))
        .collect();
    let (bytes, blocks) = (counting::bytes(), counting::blocks());
    let store = filled(&objects, indexes);
    let each = |all: i64| all as f64 / count as f64;
    let (bytes, blocks) = (counting::bytes() - bytes, counting::blocks() - blocks);
    let figure = format!("{:5.1} ({:.2})", each(bytes), each(blocks));
    drop(store);
    figure
}

type Store = (Indexer<Arc<(usize, Node)>>, StoreWriter<Arc<(usize, Node)>>);

fn filled(objects: &[(ObjectKey, Arc<(usize, Node)>)], indexes: usize) -> Store {
    let (indexer, mut writer) = if indexes == 0 {
        Indexer::without_indexes()
    } else {
        Indexer::new()
    };
    if indexes > 1 {
        indexer
            .add_index("node", |object: &Arc<(usize, Node)>| [object.1.clone()])
            .unwrap();
    }
    if indexes > 2 {
        indexer
            .add_index("number", |object: &Arc<(usize, Node)>| [object.0])
            .unwrap();
    }
    for _ in 0..2 {
        for (key, object) in objects {
            writer
                .upsert(key.clone(), object.clone(), None, Partition::SINGLE)
                .unwrap();
        }
        writer.publish();
    }
    (indexer, writer)
}
