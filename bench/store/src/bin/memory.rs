//! What the store takes in memory beyond its objects, counted at the allocator: `cargo run --release --bin memory`.

use kube_informer::low_level::StoreWriter;
use kube_informer::store::Indexer;
use kube_informer::{ObjectKey, Partition};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::{
        Arc,
        atomic::{AtomicIsize, Ordering::Relaxed},
    },
};
use store_bench::objects::{key, node};

struct Counting;

static BYTES: AtomicIsize = AtomicIsize::new(0);
static BLOCKS: AtomicIsize = AtomicIsize::new(0);

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size() as isize, Relaxed);
        BLOCKS.fetch_add(1, Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size() as isize, Relaxed);
        BLOCKS.fetch_sub(1, Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

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
    let (bytes, blocks) = (BYTES.load(Relaxed), BLOCKS.load(Relaxed));
    let store = filled(&objects, indexes);
    let each = |counter: &AtomicIsize, before| (counter.load(Relaxed) - before) as f64 / count as f64;
    let figure = format!("{:5.1} ({:.2})", each(&BYTES, bytes), each(&BLOCKS, blocks));
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
