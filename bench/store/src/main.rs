//! Measures the store against other structures: `cargo run --release [-- get|list|write|relist|indexes|select|readers]`.

use k8s_openapi::api::core::v1::Pod;
use kube_informer::{CachedObject as _, ObjectKey, Partition, selector::LabelSelector, store::Indexer};
use std::{
    collections::HashMap,
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};
use store_bench::{
    contenders::{Concurrent, Locked, Ours, PersistentWriter, Reader, Writer},
    measure::{millis, nanos_each, process_time, thread_time, time, typical, waits},
    objects::{self, Object, key, pod, shuffled},
};

fn main() {
    let only = std::env::args().nth(1);
    let parts: [(&str, fn()); 7] = [
        ("get", get),
        ("list", list),
        ("write", write),
        ("relist", relist),
        ("indexes", indexes),
        ("select", select),
        ("readers", readers),
    ];
    for (name, part) in parts {
        if only.as_deref().is_none_or(|only| only == name) {
            println!("\n{name}");
            part();
        }
    }
}

fn filled<W: Writer>(count: usize) -> W {
    let mut writer = W::new();
    writer.write((0..count).map(|number| (key(number), pod(number, 1))));
    writer
}

fn get() {
    for count in [10_000, 1_000_000] {
        println!("  ns per get, {count} objects: idle | writer, batches of 1 | of 64");
        let objects: Vec<_> = (0..count).map(|number| (key(number), pod(number, 1))).collect();
        get_of::<Ours>(&objects);
        get_of::<Locked>(&objects);
        get_of::<PersistentWriter>(&objects);
        get_of::<Concurrent>(&objects);
        get_bare(&objects);
    }
}

/// The least that a get can cost: nobody else may read or write this map, and there are no snapshots.
fn get_bare(objects: &[(ObjectKey, Object)]) {
    let map: HashMap<ObjectKey, Object, foldhash::quality::RandomState> = objects.iter().cloned().collect();
    println!(
        "    {:16} {:6.0}",
        "bare hash map",
        gets(objects.len(), |key| map.get(key).cloned())
    );
}

/// Nanoseconds of processor time per get, in no order.
fn gets(count: usize, get: impl Fn(&str) -> Option<Object>) -> f64 {
    let keys: Vec<ObjectKey> = shuffled(count).into_iter().map(key).collect();
    let gets = 5_000;
    let mut at = 0;
    let time = typical(200, || {
        at = (at + gets) % count;
        let keys = &keys[at..at + gets];
        time(|| keys.iter().for_each(|key| drop(black_box(get(key.as_str()))))).0
    });
    nanos_each(time, gets)
}

fn get_of<W: Writer>(objects: &[(ObjectKey, Object)]) {
    let (mut writer, count) = (W::new(), objects.len());
    writer.write(objects.iter().cloned());
    let reader = writer.reader();
    let idle = gets(count, |key| reader.get(key));
    let mut random = objects::Random(7);
    let spares: Vec<(ObjectKey, Object)> = (0..count.min(100_000)).map(|n| (key(n), pod(n, 2))).collect();
    let spares = Arc::new(spares);
    let busy: Vec<f64> = [1, 64]
        .into_iter()
        .map(|size| {
            let (stop, spares) = (Arc::new(AtomicBool::new(false)), spares.clone());
            let stopped = stop.clone();
            let mut seed = objects::Random(random.below(1 << 30) as u64 + 1);
            thread::scope(|scope| {
                let writer = &mut writer;
                scope.spawn(move || {
                    while !stopped.load(Relaxed) {
                        writer.write((0..size).map(|_| spares[seed.below(spares.len())].clone()));
                    }
                });
                thread::sleep(Duration::from_millis(20));
                let nanos = gets(count, |key| reader.get(key));
                stop.store(true, Relaxed);
                nanos
            })
        })
        .collect();
    println!(
        "    {:16} {idle:6.0} | {:6.0} | {:6.0}",
        W::NAME,
        busy[0],
        busy[1]
    );
}

fn list() {
    println!("  ms per list of 100000: fresh | after every object was replaced in random order");
    list_of::<Ours>();
    list_of::<Locked>();
    list_of::<PersistentWriter>();
    list_of::<Concurrent>();
}

fn list_of<W: Writer>() {
    let mut writer = filled::<W>(100_000);
    let reader = writer.reader();
    let run = || typical(50, || time(|| black_box(reader.list())).0);
    let fresh = run();
    for number in shuffled(100_000) {
        writer.write([(key(number), pod(number, 2))].into_iter());
    }
    println!("    {:16} {:6.2} | {:6.2}", W::NAME, millis(fresh), millis(run()));
}

fn write() {
    println!(
        "  thousand writes per second: fill 100k | update all, one batch | update 160k, batches of 1 | of 16 | of 256"
    );
    write_of::<Ours>();
    write_of::<Locked>();
    write_of::<PersistentWriter>();
    write_of::<Concurrent>();
}

fn write_of<W: Writer>() {
    let thousands = |count: usize, time: Duration| count as f64 / time.as_secs_f64() / 1e3;
    let batch = |count, version| -> Vec<_> {
        (0..count)
            .map(|number| (key(number), pod(number, version)))
            .collect()
    };
    let mut fills: Vec<(Duration, Duration)> = (0..9)
        .map(|_| {
            let (first, second) = (batch(100_000, 1), batch(100_000, 2));
            let mut writer = W::new();
            let fill = time(|| writer.write(first.into_iter())).0;
            (fill, time(|| writer.write(second.into_iter())).0)
        })
        .collect();
    fills.sort_unstable();
    let (fill, update) = fills[1];
    print!(
        "    {:16} {:6.0} | {:6.0}",
        W::NAME,
        thousands(100_000, fill),
        thousands(100_000, update)
    );
    let mut writer = filled::<W>(160_000);
    for size in [1, 16, 256] {
        let mut updates: Vec<_> = shuffled(160_000)
            .into_iter()
            .map(|number| (key(number), pod(number, 3)))
            .collect();
        let time = typical(70, || {
            let mut some: Vec<_> = updates.drain(updates.len() - 2048..).collect();
            time(|| {
                while !some.is_empty() {
                    writer.write(some.drain(some.len() - size..));
                }
            })
            .0
        });
        print!(" | {:6.0}", thousands(2048, time));
    }
    println!();
}

fn relist() {
    println!(
        "  gets while 100000 objects are replaced, 20 times: all | that waited, over 200 us | most processor time of one"
    );
    relist_of::<Ours>();
    relist_of::<Locked>();
    relist_of::<PersistentWriter>();
    relist_of::<Concurrent>();
}

fn relist_of<W: Writer>() {
    let mut writer = filled::<W>(100_000);
    let reader = writer.reader();
    let keys: Vec<ObjectKey> = shuffled(100_000).into_iter().map(key).collect();
    let stop = AtomicBool::new(false);
    let reads = thread::scope(|scope| {
        let reads = scope.spawn(|| reads_until(&reader, &keys, &stop));
        for round in 0..20 {
            let objects: Vec<_> = (0..100_000)
                .map(|number| (key(number), pod(number, 2 + round)))
                .collect();
            writer.write(objects.into_iter());
        }
        stop.store(true, Relaxed);
        reads.join().unwrap()
    });
    println!(
        "    {:16} {} | {} | {} us",
        W::NAME,
        reads.count,
        reads.waited,
        reads.worst.as_micros()
    );
}

#[derive(Default)]
struct Reads {
    count: usize,
    /// How many took more than 200 us because they waited for somebody.
    waited: usize,
    /// The most processor time of one.
    worst: Duration,
}

fn reads_until(reader: &impl Reader, keys: &[ObjectKey], stop: &AtomicBool) -> Reads {
    let mut reads = Reads::default();
    for key in keys.iter().cycle().take_while(|_| !stop.load(Relaxed)) {
        let (before, start) = (waits(), Instant::now());
        let (spent, _) = time(|| black_box(reader.get(key.as_str())));
        reads.waited += usize::from(start.elapsed() > Duration::from_micros(200) && waits() > before);
        reads.worst = reads.worst.max(spent);
        reads.count += 1;
    }
    reads
}

fn indexes() {
    println!(
        "  ours, thousand objects per second in one batch of 100000: fill | update, same values | update, new values"
    );
    for count in 0..=2 {
        let times: Vec<[Duration; 3]> = (0..9).map(|_| indexed(count)).collect();
        let second_best = |part: usize| {
            let mut times: Vec<Duration> = times.iter().map(|times| times[part]).collect();
            times.sort_unstable();
            times[1]
        };
        let rates = [0, 1, 2]
            .map(second_best)
            .map(|time| format!("{:6.0}", 100.0 / time.as_secs_f64()))
            .join(" | ");
        println!("    {count} indexes        {rates}");
    }
}

fn indexed(count: usize) -> [Duration; 3] {
    let (indexer, mut writer) = if count == 0 {
        Indexer::without_indexes()
    } else {
        Indexer::new()
    };
    if count > 1 {
        indexer
            .add_index("node", |pod: &Object| {
                pod.spec.as_ref().and_then(|spec| spec.node_name.clone())
            })
            .unwrap();
    }
    [(0, 0), (1, 0), (2, 1)].map(|(version, shift)| {
        let objects: Vec<_> = (0..100_000)
            .map(|number| (key(number), pod(number + shift, version)))
            .collect();
        time(|| {
            for (key, object) in objects {
                writer.upsert(key, object, None, Partition::SINGLE).unwrap();
            }
            writer.publish();
        })
        .0
    })
}

fn select() {
    println!(
        "  ms per list of 100000 by label, 100 match: fresh | after every object was replaced in random order"
    );
    let mut ours = filled::<Ours>(100_000);
    let selector = LabelSelector::parse("app=app-7").unwrap();
    let reader = ours.reader();
    let run = || {
        typical(50, || {
            let (time, found) = time(|| {
                let snapshot = reader.snapshot();
                snapshot
                    .iter()
                    .filter(|pod| selector.matches(|label| Pod::label_of(pod, label)))
                    .cloned()
                    .collect::<Vec<_>>()
            });
            assert_eq!(found.len(), 100);
            time
        })
    };
    let fresh = run();
    for number in shuffled(100_000) {
        ours.write([(key(number), pod(number, 2))].into_iter());
    }
    println!(
        "    kube-informer    {:6.2} | {:6.2}",
        millis(fresh),
        millis(run())
    );
}

/// client-go's informer benchmark in its shape: a writer at full speed, readers that list. New pods are made beforehand.
fn readers() {
    println!(
        "  160000 pods, namespace index, batches of 16 | 256 without readers: thousand writes per processor second"
    );
    let none = |_: &Indexer<Object>| ();
    println!(
        "    {:.0} | {:.0}",
        with_readers(0, 16, none).writes / 1e3,
        with_readers(0, 256, none).writes / 1e3
    );
    println!("  with readers that list into a Vec | look at all in a snapshot:");
    println!(
        "  writes per second, writes per processor second of the writer, lists per processor second of the readers"
    );
    for readers in [1, 10, 80] {
        let vectors = with_readers(readers, 16, |indexer| drop(black_box(indexer.list())));
        let snapshots = with_readers(readers, 16, |indexer| {
            black_box(
                indexer
                    .snapshot()
                    .iter()
                    .map(|pod| Arc::as_ptr(pod) as usize)
                    .fold(0, usize::wrapping_add),
            );
        });
        println!("    {readers:3} readers: {vectors} | {snapshots}");
    }
}

struct Rates {
    per_second: f64,
    writes: f64,
    lists: f64,
}

impl std::fmt::Display for Rates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:7.0} {:7.0} {:5.0}",
            self.per_second, self.writes, self.lists
        )
    }
}

fn with_readers(count: usize, batch: usize, read: impl Fn(&Indexer<Object>) + Sync) -> Rates {
    let (indexer, mut writer) = Indexer::new();
    for number in 0..160_000 {
        writer
            .upsert(key(number), pod(number, 1), None, Partition::SINGLE)
            .unwrap();
    }
    writer.publish();
    let updates: Vec<_> = shuffled(160_000)
        .into_iter()
        .map(|number| (key(number), pod(number, 2)))
        .collect();
    let (stop, lists) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                while !stop.load(Relaxed) {
                    read(&indexer);
                    lists.fetch_add(1, Relaxed);
                }
            });
        }
        thread::sleep(Duration::from_millis(200));
        lists.store(0, Relaxed);
        let (start, all, own) = (Instant::now(), process_time(), thread_time());
        let mut writes = 0;
        for (key, object) in updates.iter().cycle() {
            writer
                .upsert(key.clone(), object.clone(), None, Partition::SINGLE)
                .unwrap();
            writes += 1;
            if writes % batch == 0 {
                writer.publish();
                if start.elapsed() > Duration::from_secs(3) {
                    break;
                }
            }
        }
        let own = thread_time() - own;
        let others = process_time() - all - own;
        stop.store(true, Relaxed);
        Rates {
            per_second: writes as f64 / start.elapsed().as_secs_f64(),
            writes: writes as f64 / own.as_secs_f64(),
            lists: lists.load(Relaxed) as f64 / others.as_secs_f64().max(1e-9),
        }
    })
}
