use super::super::entries::{Entries, Position};
use super::*;
use crate::queue::batching::WORTH_WAKING;
use proptest::prelude::*;
use std::time::Duration;

fn key(name: &str) -> ObjectKey {
    name.into()
}

fn list(names: &[(&str, u32)]) -> Vec<(ObjectKey, u32)> {
    names.iter().map(|(name, object)| (key(name), *object)).collect()
}

const SINGLE: Partition = Partition::SINGLE;

fn at(version: &str) -> Option<ResourceVersion> {
    Some(version.into())
}

fn position(version: &str) -> Position {
    Position {
        partition: SINGLE,
        resource_version: version.into(),
    }
}

/// Polls a future that must complete at once.
fn now<F: Future>(future: F) -> F::Output {
    futures::FutureExt::now_or_never(future).expect("had to wait")
}

fn pop_deltas(fifo: &DeltaFifo<u32>, max: usize) -> Vec<(String, Vec<Delta<u32>>)> {
    match now(fifo.pop(max)).unwrap().entries {
        Entries::Changes(entries) => entries
            .into_iter()
            .map(|(_, key, deltas)| (key.to_string(), deltas.into_iter().collect()))
            .collect(),
        other => panic!("expected changes, got {other:?}"),
    }
}

#[test]
fn a_key_keeps_its_position_in_the_queue() {
    let fifo = DeltaFifo::new(100);
    for (name, object) in [("foo", 10), ("bar", 1), ("foo", 11), ("foo", 13), ("zab", 30)] {
        now(fifo.push(SINGLE, key(name), Delta::Added(object), None));
    }
    let first = pop_deltas(&fifo, 1);
    assert_eq!(
        first,
        [(
            "foo".into(),
            vec![Delta::Added(10), Delta::Added(11), Delta::Added(13)]
        )]
    );
    now(fifo.push(SINGLE, key("foo"), Delta::Added(14), None));
    let names: Vec<_> = pop_deltas(&fifo, 10).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["bar", "zab", "foo"]);
}

#[test]
fn merged_deletions_take_no_capacity() {
    let fifo = DeltaFifo::new(2);
    now(fifo.push(SINGLE, key("a"), Delta::Deleted(Some(1)), None));
    now(fifo.push(SINGLE, key("a"), Delta::Deleted(None), None));
    assert_eq!(fifo.len(), 1);
    assert_eq!(
        pop_deltas(&fifo, 1),
        [("a".into(), vec![Delta::Deleted(Some(1))])]
    );
}

#[test]
fn nothing_overtakes_a_list() {
    let fifo = DeltaFifo::new(100);
    now(fifo.push(SINGLE, key("a"), Delta::Added(1), at("1")));
    now(fifo.replace(SINGLE, list(&[("b", 2)]), at("9")));
    now(fifo.push(SINGLE, key("a"), Delta::Added(3), at("10")));

    let before = now(fifo.pop(usize::MAX)).unwrap();
    assert!(matches!(before.entries, Entries::Changes(ref entries) if entries.len() == 1));
    assert_eq!(before.positions, [position("1")]);
    let replace = now(fifo.pop(usize::MAX)).unwrap();
    assert!(matches!(replace.entries, Entries::Replace { ref entries, .. } if entries.len() == 1));
    assert_eq!(replace.positions, [position("9")]);
    let after = now(fifo.pop(usize::MAX)).unwrap();
    assert_eq!(after.positions, [position("10")]);
}

#[test]
fn a_position_is_reached_only_when_all_up_to_it_has_been_popped() {
    let fifo = DeltaFifo::new(100);
    now(fifo.push(SINGLE, key("a"), Delta::Added(1), at("1")));
    now(fifo.push(SINGLE, key("b"), Delta::Added(2), at("2")));
    assert_eq!(now(fifo.pop(1)).unwrap().positions, []);
    assert_eq!(now(fifo.pop(1)).unwrap().positions, [position("2")]);
    fifo.bookmark(SINGLE, "5".into());
    let batch = now(fifo.pop(1)).unwrap();
    assert!(matches!(batch.entries, Entries::Changes(ref entries) if entries.is_empty()));
    assert_eq!(batch.positions, [position("5")]);
}

#[test]
fn synced_when_the_first_list_has_been_processed() {
    let fifo = DeltaFifo::new(100);
    assert!(!fifo.has_synced());
    fifo.bookmark(SINGLE, "1".into());
    now(fifo.replace(SINGLE, list(&[("a", 1)]), at("9")));
    assert!(!fifo.has_synced(), "a bookmark does not populate");
    drop(now(fifo.pop(10)));
    let batch = now(fifo.pop(10)).unwrap();
    assert!(batch.initial);
    assert!(!fifo.has_synced(), "popped, but not processed");
    drop(batch);
    assert!(fifo.has_synced());
    now(fifo.replace(SINGLE, list(&[]), at("9")));
    assert!(!now(fifo.pop(10)).unwrap().initial);
}

#[test]
fn an_empty_first_list_syncs() {
    let fifo = DeltaFifo::<u32>::new(100);
    now(fifo.replace(SINGLE, list(&[]), at("9")));
    assert!(!fifo.has_synced());
    drop(now(fifo.pop(10)));
    assert!(fifo.has_synced());
}

#[test]
fn a_first_push_that_is_no_list_syncs_at_once() {
    let fifo = DeltaFifo::new(100);
    now(fifo.push(SINGLE, key("a"), Delta::Added(1), None));
    assert!(fifo.has_synced());
}

#[test]
fn several_partitions_must_all_be_listed() {
    let parts = [Partition::new(0), Partition::new(1)];
    let fifo = DeltaFifo::<u32>::with_partitions(100, parts);
    for partition in parts {
        assert!(!fifo.has_synced());
        listed_and_popped(&fifo, partition);
    }
    assert!(fifo.has_synced());
}

#[test]
fn a_resync_is_queued_once() {
    let fifo = DeltaFifo::new(1);
    now(fifo.push(SINGLE, key("a"), Delta::Updated(6), None));
    fifo.resync();
    fifo.resync();
    assert_eq!(fifo.len(), 1, "it takes no room");
    assert_eq!(pop_deltas(&fifo, 10), [("a".into(), vec![Delta::Updated(6)])]);
    assert!(matches!(now(fifo.pop(10)).unwrap().entries, Entries::Resync));
    assert!(futures::FutureExt::now_or_never(fifo.pop(10)).is_none());
}

#[test]
fn requeue_is_refused_if_newer_changes_are_pending() {
    let fifo = DeltaFifo::new(1);
    now(fifo.push(SINGLE, key("a"), Delta::Added(1), None));
    let Entries::Changes(mut popped) = now(fifo.pop(1)).unwrap().entries else {
        panic!()
    };
    let (_, _, deltas) = popped.remove(0);
    now(fifo.push(SINGLE, key("a"), Delta::Added(2), None));
    assert!(!fifo.requeue(SINGLE, key("a"), deltas.clone()));
    drop(now(fifo.pop(1)));
    assert!(fifo.requeue(SINGLE, key("a"), deltas));
    assert_eq!(pop_deltas(&fifo, 1), [("a".into(), vec![Delta::Added(1)])]);
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_makes_the_producer_wait() {
    let fifo = DeltaFifo::new(2);
    let producer = tokio::spawn({
        let fifo = fifo.clone();
        async move {
            for n in 0..10 {
                fifo.push(SINGLE, key(&n.to_string()), Delta::Added(n), None)
                    .await;
            }
            fifo.close();
        }
    });
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(fifo.len(), 2, "the paused clock moves only when everybody waits");
    let mut seen = vec![];
    while let Some(batch) = fifo.pop(usize::MAX).await {
        let Entries::Changes(entries) = batch.entries else {
            panic!()
        };
        assert!(entries.len() <= 2);
        seen.extend(
            entries
                .into_iter()
                .map(|(_, key, _)| key.to_string().parse::<u32>().unwrap()),
        );
    }
    assert_eq!(seen, (0..10).collect::<Vec<_>>());
    producer.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn close_wakes_both_sides() {
    let fifo = DeltaFifo::new(1);
    let consumer = tokio::spawn({
        let fifo = DeltaFifo::<u32>::clone(&fifo);
        async move { fifo.pop(1).await.is_some() }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    fifo.close();
    assert!(!consumer.await.unwrap());
    for n in 0..3 {
        now(fifo.push(SINGLE, key("a"), Delta::Added(n), None));
    }
    assert!(now(fifo.pop(1)).is_none());
}

#[test]
fn a_closed_queue_is_drained_and_drops_later_changes() {
    let fifo = DeltaFifo::new(1);
    now(fifo.push(SINGLE, key("a"), Delta::Added(1), at("1")));
    fifo.close();
    for n in 0..1000 {
        now(fifo.push(SINGLE, key("b"), Delta::Added(n), None));
    }
    now(fifo.push_quietly(SINGLE, key("c"), Delta::Added(1), None));
    now(fifo.replace(SINGLE, list(&[("b", 2)]), at("9")));
    fifo.resync();
    fifo.add_partition(Partition::new(5));
    fifo.bookmark(SINGLE, "9".into());
    assert!(!fifo.requeue(SINGLE, key("b"), Delta::Added(1).into()));
    assert_eq!(fifo.len(), 1);
    let batch = now(fifo.pop(usize::MAX)).unwrap();
    assert_eq!(batch.positions, [position("1")]);
    let Entries::Changes(deltas) = batch.entries else {
        panic!("no list was queued")
    };
    assert_eq!(deltas, [(SINGLE, key("a"), Delta::Added(1).into())]);
    assert!(now(fifo.pop(usize::MAX)).is_none());
}

#[derive(Debug, Clone)]
enum Op {
    Push(u8, u32),
    Delete(u8),
    Replace(Vec<u8>),
    Bookmark(u32),
    Pop(usize),
    Requeue,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (0..5u8, any::<u32>()).prop_map(|(k, v)| Op::Push(k, v)),
        3 => (0..5u8).prop_map(Op::Delete),
        1 => proptest::collection::vec(0..5u8, 0..4).prop_map(Op::Replace),
        1 => (1..1000u32).prop_map(Op::Bookmark),
        3 => (1..4usize).prop_map(Op::Pop),
        1 => Just(Op::Requeue),
    ]
}

/// A naive model of the queue: a list of entries that is searched from its end.
#[derive(Default)]
struct Model {
    entries: Vec<ModelEntry>,
}

#[derive(Debug, Clone, PartialEq)]
enum ModelEntry {
    Deltas(String, Vec<Delta<u32>>),
    Replace(Vec<String>),
}

impl Model {
    fn push(&mut self, name: &str, delta: Delta<u32>) {
        let after_last_list = self
            .entries
            .iter()
            .rposition(|e| matches!(e, ModelEntry::Replace(_)))
            .map_or(0, |i| i + 1);
        for entry in &mut self.entries[after_last_list..] {
            if let ModelEntry::Deltas(key, deltas) = entry
                && key == name
            {
                match (deltas.last_mut(), delta) {
                    (Some(Delta::Deleted(older)), Delta::Deleted(newer)) => *older = older.or(newer),
                    (_, delta) => deltas.push(delta),
                }
                return;
            }
        }
        self.entries
            .push(ModelEntry::Deltas(name.to_owned(), vec![delta]));
    }

    fn pop(&mut self, max: usize) -> Vec<ModelEntry> {
        if matches!(self.entries.first(), Some(ModelEntry::Replace(_))) {
            return vec![self.entries.remove(0)];
        }
        let first_list = self
            .entries
            .iter()
            .position(|e| matches!(e, ModelEntry::Replace(_)));
        let count = first_list.unwrap_or(self.entries.len()).min(max);
        self.entries.drain(..count).collect()
    }

    fn is_pending(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| match entry {
            ModelEntry::Deltas(key, _) => key == name,
            ModelEntry::Replace(_) => true,
        })
    }

    fn len(&self) -> usize {
        let count = |entry: &ModelEntry| match entry {
            ModelEntry::Deltas(_, deltas) => deltas.len(),
            ModelEntry::Replace(_) => 1,
        };
        self.entries.iter().map(count).sum()
    }
}

fn popped(batch: &Batch<Deltas<u32>>) -> Vec<ModelEntry> {
    match &batch.entries {
        Entries::Changes(entries) => entries
            .iter()
            .map(|(_, key, deltas)| ModelEntry::Deltas(key.to_string(), deltas.iter().cloned().collect()))
            .collect(),
        Entries::Replace { entries, .. } => {
            vec![ModelEntry::Replace(
                entries.iter().map(|(key, _)| key.to_string()).collect(),
            )]
        }
        other => panic!("nothing else was pushed: {other:?}"),
    }
}

proptest! {
    #[test]
    fn behaves_like_the_naive_model(ops in proptest::collection::vec(op(), 0..120)) {
        let (fifo, mut model) = (DeltaFifo::new(usize::MAX), Model::default());
        let mut version = 0u32;
        let (mut pushed_up_to, mut reached) = (None, None);
        let mut last_popped = None;
        for op in ops {
            match op {
                Op::Push(k, v) => {
                    version += 1;
                    model.push(&k.to_string(), Delta::Updated(v));
                    now(fifo.push(SINGLE, key(&k.to_string()), Delta::Updated(v), at(&version.to_string())));
                    pushed_up_to = Some(version);
                }
                Op::Delete(k) => {
                    version += 1;
                    let name = k.to_string();
                    model.push(&name, Delta::Deleted(None));
                    now(fifo.push(SINGLE, key(&name), Delta::Deleted(None), at(&version.to_string())));
                    pushed_up_to = Some(version);
                }
                Op::Replace(keys) => {
                    version += 1;
                    let names: Vec<_> = keys.iter().map(u8::to_string).collect();
                    model.entries.push(ModelEntry::Replace(names.clone()));
                    let entries = names.iter().map(|name| (key(name), 0)).collect();
                    now(fifo.replace(SINGLE, entries, Some(ResourceVersion::from(u64::from(version)))));
                    pushed_up_to = Some(version);
                }
                Op::Bookmark(by) => {
                    version += by;
                    fifo.bookmark(SINGLE, version.to_string().as_str().into());
                    pushed_up_to = Some(version);
                }
                Op::Pop(max) => {
                    let Some(Some(batch)) = futures::FutureExt::now_or_never(fifo.pop(max)) else {
                        prop_assert_eq!(model.pop(max), vec![]);
                        continue;
                    };
                    // A bookmark without other changes is an empty batch.
                    let entries = popped(&batch);
                    if !entries.is_empty() {
                        prop_assert_eq!(&entries, &model.pop(max));
                    }
                    if let Some(position) = batch.positions.last() {
                        reached = position.resource_version.to_string().parse().ok();
                    }
                    if let Entries::Changes(mut entries) = batch.entries {
                        last_popped = entries.pop();
                    }
                }
                Op::Requeue => {
                    let Some((_, k, deltas)) = last_popped.take() else { continue };
                    let pending = model.is_pending(k.as_str());
                    if !pending {
                        deltas.iter().for_each(|delta| model.push(k.as_str(), delta.clone()));
                    }
                    prop_assert_eq!(fifo.requeue(SINGLE, k, deltas), !pending);
                }
            }
            prop_assert_eq!(fifo.len(), model.len());
            prop_assert!(reached <= pushed_up_to, "a position is never ahead of what was pushed");
            for k in 0..5u8 {
                prop_assert_eq!(fifo.is_pending(SINGLE, &k.to_string()), model.is_pending(&k.to_string()));
            }
        }
        while let Some(Some(batch)) = futures::FutureExt::now_or_never(fifo.pop(usize::MAX)) {
            if let Some(position) = batch.positions.last() {
                reached = position.resource_version.to_string().parse().ok();
            }
        }
        prop_assert_eq!(reached, pushed_up_to, "an empty queue has reached everything");
    }
}

fn listed_and_popped(fifo: &DeltaFifo<u32>, partition: Partition) {
    now(fifo.replace(partition, vec![], None));
    drop(now(fifo.pop(10)));
}

/// Pops an entry for a whole partition.
fn pop_entry(fifo: &DeltaFifo<u32>) -> String {
    format!("{:?}", now(fifo.pop(10)).unwrap().entries)
}

#[test]
fn sync_depends_on_partitions_until_they_are_removed() {
    let (first, second, third) = (Partition::new(0), Partition::new(1), Partition::new(2));
    let fifo = DeltaFifo::<u32>::new(100);
    for added in [second, third] {
        fifo.add_partition(added);
        assert_eq!(pop_entry(&fifo), format!("PartitionAdded({added:?})"));
    }
    listed_and_popped(&fifo, first);
    listed_and_popped(&fifo, third);
    let removed = fifo.remove_partition(second);
    assert!(!fifo.has_synced(), "the consumer does not know yet");
    let batch = now(fifo.pop(10)).unwrap();
    assert!(matches!(batch.entries, Entries::PartitionRemoved(partition) if partition == second));
    assert!(!fifo.has_synced(), "popped, but not processed");
    drop(batch);
    now(removed);
    assert!(fifo.has_synced());
    fifo.add_partition(second);
    assert!(fifo.has_synced(), "too late to be part of the initial population");
}

#[test]
fn removal_drops_pending_changes_of_that_partition_only() {
    let (kept, removed) = (Partition::new(0), Partition::new(1));
    let fifo = DeltaFifo::new(100);
    for partition in [kept, removed] {
        now(fifo.push(partition, key("a"), Delta::Added(1), at("3")));
        now(fifo.replace(partition, list(&[("b", 2)]), at("9")));
        now(fifo.push(partition, key("c"), Delta::Added(3), at("10")));
    }
    let done = fifo.remove_partition(removed);
    assert!(fifo.is_pending(removed, "a"), "it is about to be removed");
    let mut entries = Vec::new();
    while let Some(Some(batch)) = futures::FutureExt::now_or_never(fifo.pop(1)) {
        assert!(batch.positions.iter().all(|position| position.partition == kept));
        match &batch.entries {
            Entries::Changes(changes) => assert!(changes.iter().all(|(of, _, _)| *of == kept)),
            Entries::Replace { partition, .. } => assert_eq!(*partition, kept),
            _ => {}
        }
        entries.push(format!("{:?}", batch.entries));
    }
    let expected = [r#"Changes(["a"])"#, "Replace(1)", r#"Changes(["c"])"#];
    assert_eq!(entries[..3], expected);
    assert_eq!(entries[3..], [format!("PartitionRemoved({removed:?})")]);
    now(done);
    assert!(fifo.is_empty());
}

#[tokio::test]
async fn removal_frees_capacity() {
    let fifo = DeltaFifo::new(1);
    fifo.push(SINGLE, key("a"), Delta::Added(1), None).await;
    let producer = tokio::spawn({
        let fifo = fifo.clone();
        async move {
            fifo.push(Partition::new(1), key("b"), Delta::Added(2), None)
                .await
        }
    });
    tokio::task::yield_now().await;
    drop(fifo.remove_partition(SINGLE));
    producer.await.unwrap();
}

/// A sleeping consumer, which returns the number of entries of its next batch.
async fn sleeping_consumer(fifo: &DeltaFifo<u32>) -> tokio::task::JoinHandle<usize> {
    let fifo = fifo.clone();
    let consumer = tokio::spawn(async move {
        match fifo.pop(usize::MAX).await.unwrap().entries {
            Entries::Changes(entries) => entries.len(),
            _ => 0,
        }
    });
    tokio::task::yield_now().await;
    consumer
}

async fn push_quietly(fifo: &DeltaFifo<u32>, count: usize) {
    for n in 0..count {
        fifo.push_quietly(SINGLE, key(&n.to_string()), Delta::Added(0), None)
            .await;
    }
    // If the consumer was woken, it runs now.
    tokio::task::yield_now().await;
}

#[tokio::test]
async fn quiet_changes_wake_the_consumer_when_announced() {
    let fifo = DeltaFifo::new(100);
    let consumer = sleeping_consumer(&fifo).await;
    push_quietly(&fifo, WORTH_WAKING - 1).await;
    assert!(!consumer.is_finished());
    fifo.announce();
    assert_eq!(consumer.await.unwrap(), WORTH_WAKING - 1);
}

#[tokio::test]
async fn many_quiet_changes_wake_the_consumer() {
    let fifo = DeltaFifo::new(100);
    for _ in 0..2 {
        let consumer = sleeping_consumer(&fifo).await;
        push_quietly(&fifo, WORTH_WAKING).await;
        assert_eq!(consumer.await.unwrap(), WORTH_WAKING);
    }
}

#[tokio::test]
async fn a_normal_push_announces_quiet_changes() {
    let fifo = DeltaFifo::new(100);
    let consumer = sleeping_consumer(&fifo).await;
    push_quietly(&fifo, 2).await;
    fifo.push(SINGLE, key("x"), Delta::Added(0), None).await;
    assert_eq!(consumer.await.unwrap(), 3);
}

#[tokio::test]
async fn a_producer_wakes_the_consumer_before_it_waits() {
    let fifo = DeltaFifo::new(4);
    let consumer = sleeping_consumer(&fifo).await;
    push_quietly(&fifo, 5).await;
    assert_eq!(consumer.await.unwrap(), 4);
}

fn pop_newest(fifo: &Fifo<u32>, max: usize) -> Vec<(String, u32)> {
    match now(fifo.pop(max)).unwrap().entries {
        Entries::Changes(entries) => entries
            .into_iter()
            .map(|(_, key, newest)| (key.to_string(), newest.into_inner().expect("not deleted")))
            .collect(),
        other => panic!("expected changes, got {other:?}"),
    }
}

#[test]
fn a_fifo_pops_each_object_once_in_its_newest_state() {
    let fifo = Fifo::new(100);
    now(fifo.push(SINGLE, key("a"), Delta::Added(1), None));
    now(fifo.push(SINGLE, key("b"), Delta::Added(2), None));
    now(fifo.push(SINGLE, key("a"), Delta::Updated(3), None));
    now(fifo.push(SINGLE, key("a"), Delta::Updated(4), None));
    assert_eq!(fifo.len(), 2);
    assert_eq!(pop_newest(&fifo, 10), [("a".into(), 4), ("b".into(), 2)]);
}

#[test]
fn a_fifo_skips_objects_deleted_before_they_are_popped() {
    let fifo = Fifo::new(100);
    now(fifo.push(SINGLE, key("a"), Delta::Added(1), None));
    now(fifo.push(SINGLE, key("a"), Delta::Deleted(None), None));
    now(fifo.push(SINGLE, key("x"), Delta::Deleted(None), None));
    fifo.resync();
    assert!(!fifo.is_pending(SINGLE, "a"));
    assert!(
        futures::FutureExt::now_or_never(fifo.pop(10)).is_none(),
        "nothing is left"
    );
    now(fifo.push(SINGLE, key("a"), Delta::Added(2), None));
    assert_eq!(pop_newest(&fifo, 10), [("a".into(), 2)]);
}

#[test]
fn a_list_replaces_pending_changes_in_a_fifo() {
    let fifo = Fifo::new(100);
    now(fifo.replace(SINGLE, list(&[("a", 1), ("b", 1)]), at("9")));
    now(fifo.push(SINGLE, key("b"), Delta::Updated(2), at("10")));
    now(fifo.push(SINGLE, key("c"), Delta::Added(1), at("11")));
    now(fifo.replace(SINGLE, list(&[("c", 3), ("b", 3)]), at("12")));
    now(fifo.push(SINGLE, key("c"), Delta::Updated(4), at("13")));
    let batch = now(fifo.pop(1)).unwrap();
    assert!(batch.positions.is_empty() && !fifo.has_synced());
    drop(batch);
    assert!(!fifo.has_synced(), "half of the list has been processed");
    assert_eq!(pop_newest(&fifo, 1), [("b".into(), 3)]);
    assert!(fifo.has_synced());
    assert!(fifo.is_empty());
}

#[test]
fn an_empty_list_syncs_a_fifo() {
    let fifo = Fifo::<u32>::new(100);
    now(fifo.replace(SINGLE, list(&[]), at("9")));
    assert!(!fifo.has_synced());
    let batch = now(fifo.pop(1)).unwrap();
    assert_eq!(batch.positions, [position("9")]);
    drop(batch);
    assert!(fifo.has_synced());
}

#[test]
fn a_fifo_accepts_requeued_changes() {
    let fifo = Fifo::new(100);
    now(fifo.push(SINGLE, key("a"), Delta::Added(1), None));
    let Entries::Changes(mut popped) = now(fifo.pop(1)).unwrap().entries else {
        panic!()
    };
    let (_, _, newest) = popped.remove(0);
    now(fifo.push(SINGLE, key("a"), Delta::Updated(2), None));
    assert!(
        !fifo.requeue(SINGLE, key("a"), newest.clone()),
        "a newer state waits"
    );
    now(fifo.push(SINGLE, key("a"), Delta::Deleted(None), None));
    assert!(fifo.requeue(SINGLE, key("a"), newest));
    assert_eq!(pop_newest(&fifo, 10), [("a".into(), 1)]);
    assert!(fifo.is_empty());
}

proptest! {
    /// The model is a map of each key's newest object, and the order of the keys.
    #[test]
    fn a_fifo_behaves_like_a_map(ops in proptest::collection::vec(op(), 0..120)) {
        let (fifo, mut model) = (Fifo::new(usize::MAX), Vec::<(String, Option<u32>)>::new());
        let set = |model: &mut Vec<(String, Option<u32>)>, name: &str, object: Option<u32>| {
            match model.iter_mut().find(|(key, _)| key == name) {
                Some((_, newest)) => *newest = object,
                None => model.extend(object.map(|object| (name.to_owned(), Some(object)))),
            }
        };
        for op in ops {
            match op {
                Op::Push(k, v) => {
                    set(&mut model, &k.to_string(), Some(v));
                    now(fifo.push(SINGLE, key(&k.to_string()), Delta::Updated(v), None));
                }
                Op::Delete(k) => {
                    let name = k.to_string();
                    set(&mut model, &name, None);
                    now(fifo.push(SINGLE, key(&name), Delta::Deleted(None), None));
                }
                Op::Replace(keys) => {
                    model.clear();
                    let names: Vec<_> = keys.iter().map(u8::to_string).collect();
                    names.iter().for_each(|name| set(&mut model, name, Some(0)));
                    let entries = names.iter().map(|name| (key(name), 0)).collect();
                    now(fifo.replace(SINGLE, entries, None));
                }
                Op::Pop(max) => {
                    let mut expected = Vec::new();
                    while expected.is_empty() && !model.is_empty() {
                        let taken = model.drain(..max.min(model.len()));
                        expected.extend(taken.filter_map(|(name, newest)| Some((name, newest?))));
                    }
                    let mut popped = Vec::new();
                    // A list whose objects were all deleted is an empty batch.
                    while popped.is_empty()
                        && let Some(Some(batch)) = futures::FutureExt::now_or_never(fifo.pop(max))
                    {
                        let Entries::Changes(entries) = batch.entries else { panic!() };
                        popped.extend(entries.into_iter().map(|(_, k, n)| (k.to_string(), n.into_inner().unwrap())));
                    }
                    prop_assert_eq!(popped, expected);
                }
                Op::Bookmark(_) | Op::Requeue => fifo.resync(),
            }
            prop_assert_eq!(fifo.len(), model.len());
            for k in 0..5u8 {
                let name = k.to_string();
                let waits = model.iter().any(|(key, newest)| *key == name && newest.is_some());
                prop_assert_eq!(fifo.is_pending(SINGLE, &name), waits);
            }
        }
    }
}

#[tokio::test]
async fn nobody_waits_for_a_removal_in_a_closed_queue() {
    let fifo = DeltaFifo::<u32>::new(10);
    let removed = fifo.remove_partition(SINGLE);
    fifo.close();
    now(removed);
    assert!(matches!(
        now(fifo.pop(1)).map(|batch| batch.entries),
        Some(Entries::PartitionRemoved(SINGLE))
    ));
}

#[test]
fn a_fifo_has_a_key_once_whatever_other_partitions_do() {
    let other = Partition::new(1);
    let fifo = Fifo::with_partitions(10, [SINGLE, other]);
    now(fifo.replace(SINGLE, list(&[("kept", 1), ("deleted", 2)]), at("9")));
    now(fifo.replace(other, list(&[("x", 7)]), at("9")));
    now(fifo.push(SINGLE, key("deleted"), Delta::Deleted(None), None));
    now(fifo.push(SINGLE, key("kept"), Delta::Updated(3), None));
    fifo.add_partition(Partition::new(2));
    now(fifo.push(SINGLE, key("kept"), Delta::Updated(4), at("12")));

    let mut popped = Vec::new();
    while let Some(Some(batch)) = futures::FutureExt::now_or_never(fifo.pop(1)) {
        let Entries::Changes(changes) = batch.entries else {
            continue;
        };
        popped.extend(
            changes
                .into_iter()
                .map(|(_, key, newest)| (key.to_string(), newest.into_inner())),
        );
    }
    assert_eq!(popped, [("kept".into(), Some(4)), ("x".into(), Some(7))]);
    assert_eq!(fifo.len(), 0);
}

/// Additions and deletions that undo each other.
struct Balance(usize);

impl Accumulator for Balance {
    type Object = u32;
    const LIST_REPLACES: bool = false;

    fn start(change: Delta<u32>) -> Option<Self> {
        let mut balance = Self(0);
        balance.add(change);
        Some(balance)
    }

    fn add(&mut self, change: Delta<u32>) {
        match change {
            Delta::Deleted(_) => self.0 = 0,
            _ => self.0 += 1,
        }
    }

    fn len(&self) -> usize {
        self.0
    }
}

#[test]
fn an_accumulator_may_shrink() {
    let queue = Queue::<Balance>::new(10);
    for number in 0..3 {
        now(queue.push(SINGLE, key("a"), Delta::Updated(number), None));
    }
    now(queue.push(SINGLE, key("b"), Delta::Added(1), None));
    assert_eq!(queue.len(), 4);
    now(queue.push(SINGLE, key("a"), Delta::Deleted(None), None));
    assert_eq!(queue.len(), 2, "a key of which nothing is left stays in line");
    let batch = now(queue.pop(10)).unwrap();
    let Entries::Changes(changes) = &batch.entries else {
        panic!("changes")
    };
    assert_eq!(changes.len(), 1);
    assert_eq!(queue.len(), 0);
}
