//! Readers, a writer and people who add indexes, all at once.

use kube_informer::{
    Fingerprint, ObjectKey, Partition, ResourceVersion,
    low_level::{KnownObjects, StoreWriter},
    store::{Index, IndexError, Indexer, WaitError},
};
use std::{
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread::{self, ThreadId},
    time::Duration,
};

type Store = Indexer<Arc<u64>>;

fn put(writer: &mut StoreWriter<Arc<u64>>, key: u64, value: u64) {
    writer
        .upsert(name(key), Arc::new(value), None, Partition::SINGLE)
        .unwrap();
}

fn name(key: u64) -> ObjectKey {
    ObjectKey::from(format!("ns/{key}"))
}

/// Checks that an index finds what is there.
fn agrees(store: &Store, index: &Index<u64>, value_of: impl Fn(u64) -> u64) {
    let snapshot = store.snapshot();
    for (value, count) in snapshot.index_values(index).unwrap() {
        let expected = snapshot
            .iter()
            .filter(|object| value_of(***object) == *value)
            .count();
        assert_eq!(count, expected, "value {value}");
    }
    assert_eq!(
        snapshot
            .index_values(index)
            .unwrap()
            .map(|(_, count)| count)
            .sum::<usize>(),
        snapshot.len()
    );
}

#[test]
fn everything_may_be_sent_and_shared() {
    fn send_and_sync<T: Send + Sync>() {}
    fn send<T: Send>() {}
    send_and_sync::<Indexer<Arc<u64>>>();
    send_and_sync::<kube_informer::store::Snapshot<Arc<u64>>>();
    send_and_sync::<Index<String>>();
    send::<StoreWriter<Arc<u64>>>();
    send::<kube_informer::store::OwnedIndexer<Arc<u64>>>();
}

/// The writer moves one unit from key to key; whoever looks must always find all of it, by objects and by index.
#[test]
fn a_reader_never_sees_half_a_batch() {
    let (store, mut writer) = Store::new();
    let by_value = store.add_index("value", |value: &Arc<u64>| [**value]).unwrap();
    (0..100).for_each(|key| put(&mut writer, key, u64::from(key == 0)));
    writer.publish();
    let (stop, looked) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(SeqCst) {
                    let snapshot = store.snapshot();
                    assert_eq!(snapshot.iter().map(|value| **value).sum::<u64>(), 1);
                    assert_eq!(snapshot.count(&by_value, &1).unwrap(), 1);
                    let holder = snapshot
                        .keys_by_index(&by_value, &1)
                        .unwrap()
                        .next()
                        .unwrap()
                        .clone();
                    assert_eq!(snapshot.get(holder.as_str()).map(|value| **value), Some(1));
                    assert_eq!(store.by_index(&by_value, &1).unwrap().len(), 1);
                    looked.fetch_add(1, SeqCst);
                }
            });
        }
        for step in 0.. {
            put(&mut writer, step % 100, 0);
            put(&mut writer, (step + 1) % 100, 1);
            writer.publish();
            if step > 3_000 && looked.load(SeqCst) > 300 {
                break;
            }
        }
        stop.store(true, SeqCst);
    });
}

/// Indexes come while objects are written, and must lack nothing when `add_index` returns.
#[test]
fn an_index_is_complete_whenever_it_is_added() {
    let (store, mut writer) = Store::new();
    (0..300).for_each(|key| put(&mut writer, key, key));
    writer.publish();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let (stop, store) = (&stop, &store);
        let written = scope.spawn(move || {
            let mut step = 0;
            while !stop.load(SeqCst) {
                put(&mut writer, step * 7 % 400, step);
                if step % 5 == 0 {
                    writer.remove(name(step * 3 % 400).as_str());
                }
                if step % 3 == 0 {
                    writer.publish();
                }
                step += 1;
            }
            writer.publish();
        });
        let adders: Vec<_> = (0..3u64)
            .map(|adder| {
                scope.spawn(move || {
                    let mut added = Vec::new();
                    for round in 0..8 {
                        let modulus = 2 + adder * 8 + round;
                        let name = format!("mod-{modulus}");
                        let index = store
                            .add_index(&name, move |value: &Arc<u64>| [**value % modulus])
                            .unwrap();
                        agrees(store, &index, |value| value % modulus);
                        added.push((index, modulus));
                    }
                    added
                })
            })
            .collect();
        let added: Vec<_> = adders
            .into_iter()
            .flat_map(|adder| adder.join().unwrap())
            .collect();
        stop.store(true, SeqCst);
        written.join().unwrap();
        for (index, modulus) in added {
            agrees(store, &index, |value| value % modulus);
        }
    });
}

/// A slow index function holds up neither readers nor the rest of the batch, and the writer may go on meanwhile.
#[test]
fn the_writer_goes_on_while_an_index_is_added() {
    let (store, mut writer) = Store::new();
    put(&mut writer, 0, 0);
    put(&mut writer, 1, 1);
    writer.publish();
    let (at_work, go_on) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let me: ThreadId = thread::current().id();
    thread::scope(|scope| {
        let (working, going) = (at_work.clone(), go_on.clone());
        let adding = scope.spawn(|| {
            store.add_index("slow", move |value: &Arc<u64>| {
                working.store(true, SeqCst);
                while thread::current().id() != me && !going.load(SeqCst) {
                    thread::yield_now();
                }
                [**value]
            })
        });
        while !at_work.load(SeqCst) {
            thread::yield_now();
        }
        put(&mut writer, 0, 10);
        writer.remove("ns/1");
        put(&mut writer, 2, 2);
        writer.publish();
        assert_eq!(store.get("ns/0").map(|value| *value), Some(10));
        assert_eq!(
            store.by_index_name("slow", "x").err(),
            Some(IndexError::Unknown("slow".into()))
        );
        let again = store.add_index("slow", |value: &Arc<u64>| [**value]);
        assert_eq!(again.unwrap_err(), IndexError::Conflict("slow".into()));
        put(&mut writer, 3, 3);
        go_on.store(true, SeqCst);
        let index = adding.join().unwrap().unwrap();
        let values = || {
            let snapshot = store.snapshot();
            let mut values: Vec<_> = snapshot
                .index_values(&index)
                .unwrap()
                .map(|(value, _)| *value)
                .collect();
            values.sort_unstable();
            values
        };
        assert_eq!(values(), [2, 10]);
        writer.publish();
        assert_eq!(values(), [2, 3, 10]);
    });
}

#[test]
fn an_index_function_may_read_the_store_and_add_an_index() {
    let (store, mut writer) = Store::new();
    let inner: Arc<OnceLock<Index<u64>>> = Arc::default();
    let (reader, made) = (store.clone(), inner.clone());
    let function = move |value: &Arc<u64>| {
        made.get_or_init(|| {
            reader
                .add_index("inner", |value: &Arc<u64>| [**value % 10])
                .unwrap()
        });
        [reader.list().len() as u64 + **value]
    };
    let outer = store.add_index("outer", function).unwrap();
    put(&mut writer, 1, 15);
    put(&mut writer, 2, 25);
    writer.publish();
    assert_eq!(store.by_index(inner.get().unwrap(), &5).unwrap().len(), 2);
    assert_eq!(store.by_index(&outer, &15).unwrap().len(), 1);
    put(&mut writer, 3, 35);
    writer.publish();
    assert_eq!(store.by_index(inner.get().unwrap(), &5).unwrap().len(), 3);
    assert_eq!(store.keys_by_index(&outer, &37).unwrap(), [name(3)]);
}

#[test]
fn handles_know_their_store_and_snapshots_their_age() {
    let ((store, mut writer), (other, _other)) = (Store::new(), Store::new());
    put(&mut writer, 1, 1);
    writer.publish();
    let before = store.snapshot();
    let index = store.add_index("value", |value: &Arc<u64>| [**value]).unwrap();
    assert_eq!(
        store.by_index(&index, &1).unwrap().len(),
        1,
        "also without another publication"
    );
    assert_eq!(
        before.by_index(&index, &1).err(),
        Some(IndexError::NotInSnapshot("value".into()))
    );
    assert_eq!(
        other.by_index(&index, &1).err(),
        Some(IndexError::OtherStore("value".into()))
    );
    assert_eq!(store.index_names(), ["namespace", "value"]);
}

#[test]
fn an_index_that_panics_is_not_added_and_its_name_is_free_again() {
    let (store, mut writer) = Store::new();
    put(&mut writer, 1, 1);
    writer.publish();
    let panics = |_: &Arc<u64>| -> [u64; 1] { std::panic::resume_unwind(Box::new("no".to_owned())) };
    let error = store.add_index("value", panics).unwrap_err();
    let IndexError::Panic(panic) = error else {
        panic!("{error}")
    };
    assert_eq!(
        panic.to_string(),
        r#"index function "value" panicked on ns/1: no"#
    );
    put(&mut writer, 2, 2);
    writer.publish();
    let index = store.add_index("value", |value: &Arc<u64>| [**value]).unwrap();
    agrees(&store, &index, |value| value);
}

#[test]
fn what_a_new_index_lacks_is_not_known_as_unchanged() {
    let (store, mut writer) = Store::new();
    let fingerprint = Some(Fingerprint::new(7));
    let put = |key: &str, writer: &mut StoreWriter<_>| {
        writer
            .upsert(key.into(), Arc::new(1), fingerprint, Partition::SINGLE)
            .unwrap();
    };
    put("ns/a", &mut writer);
    writer.publish();
    // The writer meets the index when it publishes, and its function fails for one object only then.
    let calls = AtomicUsize::new(0);
    let fails = move |_: &Arc<u64>| -> [u64; 1] {
        match calls.fetch_add(1, SeqCst) {
            0 => [1],
            _ => std::panic::resume_unwind(Box::new("no".to_owned())),
        }
    };
    put("ns/b", &mut writer);
    store.add_index("fails", fails).unwrap();
    writer.publish();
    assert!(store.is_stale("ns/b"));
    assert_eq!(
        KnownObjects::get(&store, "ns/b"),
        None,
        "a list shall index it again"
    );
    assert!(KnownObjects::get(&store, "ns/a").is_some());
}

/// An object that says on which thread it was dropped.
struct Traced(Arc<Mutex<Vec<ThreadId>>>);

impl Drop for Traced {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(thread::current().id());
    }
}

#[test]
fn what_is_replaced_under_a_reader_is_freed_by_the_writer() {
    let freed: Arc<Mutex<Vec<ThreadId>>> = Arc::default();
    let (store, mut writer) = Indexer::<Arc<Traced>>::new();
    let traced = || Arc::new(Traced(freed.clone()));
    writer
        .upsert("a".into(), traced(), None, Partition::SINGLE)
        .unwrap();
    writer.publish();
    // A reader in the middle of a read: the index function that `index` calls.
    let (reading, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (started, finish, me) = (reading.clone(), done.clone(), thread::current().id());
    store
        .add_index("wait", move |_: &Arc<Traced>| {
            started.store(thread::current().id() != me, SeqCst);
            while thread::current().id() != me && !finish.load(SeqCst) {
                thread::yield_now();
            }
            [1]
        })
        .unwrap();
    thread::scope(|scope| {
        let probe = traced();
        let (store, leaked) = (&store, probe.clone());
        let reader = scope.spawn(move || drop(store.sharing_index("wait", &"b".into(), &leaked)));
        while !reading.load(SeqCst) {
            thread::yield_now();
        }
        writer.remove("a");
        writer.publish();
        assert_eq!(*freed.lock().unwrap(), [], "a reader is looking at it");
        done.store(true, SeqCst);
        reader.join().unwrap();
        assert_eq!(*freed.lock().unwrap(), [], "the reader left it to the writer");
        writer.publish();
        assert_eq!(*freed.lock().unwrap(), [me]);
        drop(probe);
    });
}

#[test]
fn a_snapshot_is_freed_by_whoever_kept_it() {
    let freed: Arc<Mutex<Vec<ThreadId>>> = Arc::default();
    let (store, mut writer) = Indexer::<Arc<Traced>>::new();
    writer
        .upsert(
            "a".into(),
            Arc::new(Traced(freed.clone())),
            None,
            Partition::SINGLE,
        )
        .unwrap();
    writer.publish();
    let (snapshot, copy) = (store.snapshot(), store.snapshot().clone());
    drop(writer.remove("a"));
    writer.publish();
    drop(snapshot);
    writer.publish();
    assert!(copy.contains("a"));
    assert_eq!(*freed.lock().unwrap(), []);
    drop(copy);
    assert_eq!(
        *freed.lock().unwrap(),
        [thread::current().id()],
        "without another publication"
    );
}

fn version(number: u64) -> ResourceVersion {
    number.into()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_waiter_is_woken_by_the_version_it_waits_for() {
    let (store, mut writer) = Store::new();
    let waiters: Vec<_> = (1..=60)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move {
                store.wait_until(&version(number)).await.unwrap();
                store.resource_version().unwrap() >= version(number)
            })
        })
        .collect();
    for number in 1..=60 {
        writer.set_resource_version(Partition::SINGLE, version(number));
        writer.publish();
        if number % 7 == 0 {
            tokio::task::yield_now().await;
        }
    }
    for waiter in waiters {
        let reached = tokio::time::timeout(Duration::from_secs(20), waiter)
            .await
            .expect("was not woken");
        assert!(reached.unwrap());
    }
}

/// The publication comes at about the moment at which the waiter looks, and no other follows it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_wake_up_is_lost_between_looking_and_waiting() {
    let (store, mut writer) = Store::new();
    for number in 1..=20_000 {
        let (reader, begun) = (store.clone(), Arc::new(AtomicBool::new(false)));
        let beginning = begun.clone();
        let waiter = tokio::spawn(async move {
            beginning.store(true, SeqCst);
            reader.wait_until(&version(number)).await
        });
        while !begun.load(SeqCst) {
            tokio::task::yield_now().await;
        }
        (0..number % 64).for_each(|_| std::hint::spin_loop());
        writer.set_resource_version(Partition::SINGLE, version(number));
        writer.publish();
        let woken = tokio::time::timeout(Duration::from_secs(20), waiter).await;
        woken.expect("was not woken").unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_says_how_far_it_is() {
    let (store, mut writer) = Store::new();
    let (first, second) = (Partition::SINGLE, Partition::new(1));
    let wanted = version(20);
    let late = |partition, reached| WaitError::Timeout {
        wanted: version(20),
        partition,
        reached,
    };
    let wait = || store.wait_until(&wanted).timeout(Duration::from_secs(3));

    let start = tokio::time::Instant::now();
    assert_eq!(wait().await, Err(late(first, None)));
    assert_eq!(start.elapsed(), Duration::from_secs(3));
    writer.set_resource_version(first, version(20));
    writer.add_partition(second);
    assert_eq!(wait().await, Err(late(first, None)), "not published");
    writer.publish();
    assert_eq!(wait().await, Err(late(second, None)));
    assert_eq!(wait().partition(first).await, Ok(()));
    writer.set_resource_version(second, version(19));
    writer.publish();
    assert_eq!(
        wait().partition(second).await,
        Err(late(second, Some(version(19))))
    );
    assert_eq!(store.resource_version(), Some(version(19)));
    writer.remove_partition(second);
    writer.publish();
    assert_eq!(wait().await, Ok(()));
    assert_eq!(
        wait().partition(second).await,
        Err(WaitError::Removed {
            wanted: version(20),
            partition: second
        })
    );
}

#[test]
fn stale_keys_belong_to_a_partition() {
    let (store, mut writer) = Store::new();
    let parts = [Partition::new(0), Partition::new(1)];
    writer.mark_stale(&"x/a".into(), parts[0]);
    writer.mark_stale(&"y/a".into(), parts[1]);
    for partition in parts {
        let stale: Vec<_> = writer.stale(partition).map(|key| key.name().to_owned()).collect();
        assert_eq!(stale, ["a"]);
    }
    writer.clear_stale("x/a");
    writer.publish();
    assert_eq!(store.stale_keys(), ["y/a".into()]);
}

#[tokio::test]
async fn a_version_without_order_cannot_be_waited_for() {
    let (store, mut writer) = Store::new();
    let opaque = ResourceVersion::from("abc");
    assert_eq!(
        store.wait_until(&opaque).await,
        Err(WaitError::Opaque(opaque.clone()))
    );
    writer.set_resource_version(Partition::SINGLE, opaque.clone());
    writer.publish();
    assert_eq!(
        store.wait_until(&opaque).await,
        Ok(()),
        "this very version is there"
    );
    let error = WaitError::Incomparable {
        wanted: version(1),
        partition: Partition::SINGLE,
        reached: opaque,
    };
    assert_eq!(store.wait_until(&version(1)).await, Err(error));
}

#[tokio::test]
async fn a_wait_ends_with_the_writer() {
    let (store, mut writer) = Store::new();
    writer.set_resource_version(Partition::SINGLE, version(4));
    writer.publish();
    let reader = store.clone();
    let waiting = tokio::spawn(async move { reader.wait_until(&version(5)).await });
    tokio::task::yield_now().await;
    drop(writer);
    let error = WaitError::Closed {
        wanted: version(5),
        partition: Partition::SINGLE,
        reached: Some(version(4)),
    };
    assert_eq!(waiting.await.unwrap(), Err(error));
    assert_eq!(store.wait_until(&version(4)).await, Ok(()));
}
