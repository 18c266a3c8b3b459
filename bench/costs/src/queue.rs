//! The work queue, and the queue of an informer.

use crate::meter::Meter;
use crate::server::runtime;
use kube_informer::low_level::queue::{Delta, DeltaFifo};
use kube_informer::{ObjectKey, Partition};
use kube_workqueue::WorkQueue;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

const ITEMS: usize = 2_000;

pub fn measure(meter: &mut Meter) {
    if !meter.wants("queue: ") && !meter.wants("work queue: ") {
        return;
    }
    let runtime = runtime();
    let keys: Vec<ObjectKey> = (0..ITEMS)
        .map(|n| ObjectKey::new(Some("shop"), &format!("web-{n:05}")))
        .collect();

    let queue = WorkQueue::<ObjectKey>::new();
    meter.path("work queue: add, get, done", ITEMS, || {
        runtime.block_on(async {
            for key in &keys {
                queue.add(key.clone());
                drop(black_box(queue.get().await));
            }
        });
    });
    meter.path("work queue: add, get, done, all at once", ITEMS, || {
        runtime.block_on(async {
            for key in &keys {
                queue.add(key.clone());
            }
            for _ in &keys {
                drop(black_box(queue.get().await));
            }
        });
    });
    meter.path("work queue: add an item that waits already", ITEMS, || {
        queue.add(keys[0].clone());
        for _ in &keys {
            queue.add(keys[0].clone());
        }
        runtime.block_on(async { drop(queue.get().await) });
    });
    meter.path("work queue: add after a delay, get, done", ITEMS, || {
        runtime.block_on(async {
            for (number, key) in keys.iter().enumerate() {
                // In no order.
                queue.add_after(
                    key.clone(),
                    Duration::from_millis((number * 7919 % ITEMS) as u64 + 1),
                );
            }
            for _ in &keys {
                drop(black_box(queue.get().await));
            }
        });
    });

    let fifo = DeltaFifo::<Arc<str>>::new(2 * ITEMS);
    let object: Arc<str> = "object".into();
    meter.path("queue: push and pop a change", ITEMS, || {
        runtime.block_on(async {
            for key in &keys {
                fifo.push(
                    Partition::SINGLE,
                    key.clone(),
                    Delta::Updated(object.clone()),
                    None,
                )
                .await;
            }
            while !fifo.is_empty() {
                black_box(fifo.pop(ITEMS).await);
            }
        });
    });
}
