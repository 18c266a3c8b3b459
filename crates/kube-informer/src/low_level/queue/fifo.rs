//! The queue.

use super::batch::{Batch, BatchGuard};
use super::shared::Shared;
use super::state::{Dropped, Segment, State};
use super::{Accumulator, Delta, Deltas, Newest};
use crate::metrics::QueuedItems;
use crate::object::{ObjectKey, Partition, ResourceVersion};
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex};
use tokio::sync::{Notify, oneshot, watch};

/// A queue that keeps every change of a key as a list of deltas. Informers are built on it.
#[doc(alias = "DeltaFIFO")]
#[doc(alias = "RealFIFO")]
pub type DeltaFifo<T> = Queue<Deltas<T>>;

/// A queue that keeps the newest object of each key.
///
/// ```
/// use kube_informer::Partition;
/// use kube_informer::low_level::queue::{Delta, Entries, Fifo};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let fifo = Fifo::new(100);
/// fifo.push(Partition::SINGLE, "ns/a".into(), Delta::Added(1), None).await;
/// fifo.push(Partition::SINGLE, "ns/b".into(), Delta::Added(2), None).await;
/// fifo.push(Partition::SINGLE, "ns/a".into(), Delta::Updated(3), None).await;
///
/// let batch = fifo.pop(1).await.expect("the queue is open");
/// let Entries::Changes(entries) = batch.entries else { panic!("a Fifo has no other entries") };
/// let (_, key, newest) = &entries[0];
/// assert_eq!((key.as_str(), newest.get()), ("ns/a", Some(&3)));
/// # }
/// ```
#[doc(alias = "FIFO")]
pub type Fifo<T> = Queue<Newest<T>>;

/// A bounded queue of changes, grouped by key; see the [module](super) for the contract.
///
/// A clone is another handle to the same queue. Any number of tasks may push; only one may pop.
///
/// # Cancel safety
/// [`push`](Self::push), [`replace`](Self::replace) and [`pop`](Self::pop) can be dropped at any time. A
/// dropped push adds nothing; a dropped pop removes nothing.
pub struct Queue<A: Accumulator> {
    shared: Arc<Shared<A>>,
}

impl<A: Accumulator> fmt::Debug for Queue<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl<A: Accumulator> Clone for Queue<A> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
        }
    }
}

impl<A: Accumulator> Queue<A> {
    /// A queue of one partition for at most `capacity` pending changes; a capacity of 0 counts as 1.
    pub fn new(capacity: usize) -> Self {
        Self::with_partitions(capacity, [Partition::SINGLE])
    }

    /// A queue that is synced when the first list of each of `partitions` has been processed.
    pub fn with_partitions(capacity: usize, partitions: impl IntoIterator<Item = Partition>) -> Self {
        Self::with_gauge(capacity, partitions, QueuedItems::none())
    }

    /// A queue that reports its length to a gauge.
    pub(crate) fn with_gauge(
        capacity: usize,
        partitions: impl IntoIterator<Item = Partition>,
        gauge: QueuedItems,
    ) -> Self {
        let unsynced: BTreeSet<_> = partitions.into_iter().collect();
        let (synced, _) = watch::channel(unsynced.is_empty());
        let state = State {
            segments: VecDeque::new(),
            len: 0,
            unannounced: 0,
            in_flight: 0,
            closed: false,
            populated: false,
            unsynced,
        };
        Self {
            shared: Arc::new(Shared {
                capacity: capacity.max(1),
                state: Mutex::new(state),
                readable: Notify::new(),
                writable: Notify::new(),
                synced,
                gauge,
            }),
        }
    }

    /// Runs `change` under the lock, unless the queue is closed, and wakes the consumer. Never waits.
    fn change_now(&self, change: impl FnOnce(&mut State<A>) -> Dropped<A>) {
        let mut state = self.shared.lock();
        if state.closed {
            // Release the lock first, because dropping an object may run user code.
            drop(state);
            return;
        }
        let before = state.len;
        let dropped = change(&mut state);
        self.shared.gauge.moved(before, state.len);
        self.shared.update_synced(&state);
        drop(state);
        drop(dropped);
        self.shared.readable.notify_one();
    }

    /// Adds a partition and notifies the consumer. Unless the queue has synced already, it syncs only after
    /// the first list of this partition too. Never waits. A closed queue ignores the call.
    pub fn add_partition(&self, partition: Partition) {
        let synced = *self.shared.synced.borrow();
        self.change_now(|state| {
            if !synced {
                state.unsynced.insert(partition);
            }
            state.segments.push_back(Segment::PartitionAdded(partition));
            Vec::new()
        });
    }

    /// Removes a partition: drops its pending changes and notifies the consumer. Nothing more may be pushed
    /// for it. Never waits for capacity. The returned future completes when the consumer has processed the
    /// removal, or when the queue is closed; from then on the queue can sync without the partition. A closed
    /// queue ignores the call.
    ///
    /// # Cancel safety
    /// The call itself queues the removal. Dropping the future only ends the waiting.
    pub fn remove_partition(&self, partition: Partition) -> impl Future<Output = ()> + Send + 'static {
        let (removed, processed) = oneshot::channel();
        self.change_now(|state| {
            let dropped = state.drop_partition(partition);
            state
                .segments
                .push_back(Segment::PartitionRemoved(partition, Some(removed)));
            dropped
        });
        self.shared.writable.notify_waiters();
        async move {
            let _ = processed.await;
        }
    }

    /// Runs `change` under the lock as soon as there is capacity. Then wakes the consumer if at least
    /// `worthwhile` changes are unannounced.
    async fn when_writable(&self, worthwhile: usize, change: impl FnOnce(&mut State<A>) -> Dropped<A>) {
        let mut change = Some(change);
        while !self.try_change(worthwhile, &mut change) {
            self.announce();
            let mut room = std::pin::pin!(self.shared.writable.notified());
            // Registered before the second check, so that capacity freed in between is not missed.
            room.as_mut().enable();
            if self.try_change(worthwhile, &mut change) {
                return;
            }
            room.await;
        }
    }

    /// Runs `change` if there is capacity; returns false if there is none. A closed queue drops the change.
    fn try_change(
        &self,
        worthwhile: usize,
        change: &mut Option<impl FnOnce(&mut State<A>) -> Dropped<A>>,
    ) -> bool {
        let mut state = self.shared.lock();
        if state.closed {
            // Release the lock first, because dropping an object may run user code.
            drop(state);
            *change = None;
            return true;
        }
        if state.len >= self.shared.capacity {
            return false;
        }
        let before = state.len;
        let dropped = change.take().map(|change| change(&mut state));
        self.shared.gauge.moved(before, state.len);
        self.shared.update_synced(&state);
        state.unannounced += 1;
        let wake = state.unannounced >= worthwhile;
        if wake {
            state.unannounced = 0;
        }
        drop(state);
        drop(dropped);
        if wake {
            self.shared.readable.notify_one();
        }
        true
    }

    /// Wakes the consumer for changes that were [pushed quietly](Self::push_quietly).
    pub(crate) fn announce(&self) {
        if std::mem::take(&mut self.shared.lock().unannounced) > 0 {
            self.shared.readable.notify_one();
        }
    }

    /// Adds a change of `key`, waiting while the queue is full. `at` is the resource version up to which the
    /// partition is complete with this change. A closed queue drops the change.
    ///
    /// # Cancel safety
    /// If the future is dropped before it completes, the change was not added.
    #[doc(alias = "Add")]
    #[doc(alias = "Update")]
    #[doc(alias = "Delete")]
    pub async fn push(
        &self,
        partition: Partition,
        key: ObjectKey,
        change: Delta<A::Object>,
        at: Option<ResourceVersion>,
    ) {
        self.when_writable(1, |state| {
            state.push(partition, key, change, at);
            Vec::new()
        })
        .await;
    }

    /// Like [`push`](Self::push), but defers waking the consumer until [`announce`](Self::announce), up to
    /// [`WORTH_WAKING`](super::batching::WORTH_WAKING) changes. For producers that have more changes ready.
    pub(crate) async fn push_quietly(
        &self,
        partition: Partition,
        key: ObjectKey,
        change: Delta<A::Object>,
        at: Option<ResourceVersion>,
    ) {
        let worthwhile = super::batching::WORTH_WAKING;
        self.when_writable(worthwhile, |state| {
            state.push(partition, key, change, at);
            Vec::new()
        })
        .await;
    }

    /// Adds a new list of a partition, waiting while the queue is full: all its objects under their keys, in
    /// the list's order. `at` is the resource version of the list. A closed queue drops it.
    ///
    /// In a [`Fifo`], the list replaces the pending changes of the partition, and each of its objects counts
    /// towards the capacity, which the list may exceed.
    ///
    /// # Cancel safety
    /// If the future is dropped before it completes, the list was not added.
    #[doc(alias = "Replace")]
    pub async fn replace(
        &self,
        partition: Partition,
        entries: Vec<(ObjectKey, A::Object)>,
        at: Option<ResourceVersion>,
    ) {
        self.when_writable(1, |state| state.replace(partition, entries, at))
            .await;
    }

    /// Adds the objects of a partition that an earlier run has saved, waiting while the queue is full. `at`
    /// is the resource version up to which they are complete. A closed queue drops them.
    pub(crate) async fn restore(
        &self,
        partition: Partition,
        entries: Vec<(ObjectKey, A::Object)>,
        at: ResourceVersion,
    ) {
        self.when_writable(1, |state| {
            state.populated = true;
            state.segments.push_back(Segment::Restored {
                partition,
                entries,
                at,
            });
            state.len += 1;
            Vec::new()
        })
        .await;
    }

    /// Queues an [`Entries::Confirmed`] after the pending changes. Never waits. A closed queue ignores the
    /// call.
    pub(crate) fn confirm(&self, partition: Partition) {
        self.change_now(|state| {
            state.segments.push_back(Segment::Confirmed(partition));
            Vec::new()
        });
    }

    /// Queues an [`Entries::Resync`](super::Entries::Resync) after the pending changes. Never waits. Does
    /// nothing if a resync is pending already, in a closed queue, or in a [`Fifo`].
    #[doc(alias = "Resync")]
    pub fn resync(&self) {
        if A::LIST_REPLACES {
            return;
        }
        self.change_now(|state| {
            let pending = state
                .segments
                .iter()
                .any(|segment| matches!(segment, Segment::Resync));
            if !pending {
                state.segments.push_back(Segment::Resync);
            }
            Vec::new()
        });
    }

    /// Queues an empty batch after the pending changes, to wake the consumer. Never waits. A closed queue
    /// ignores the call.
    pub(crate) fn wake(&self) {
        self.change_now(|state| {
            state.segments.push_back(Segment::Wake);
            Vec::new()
        });
    }

    /// Records that everything of a partition up to `version` has been pushed. Never waits, because it takes
    /// no capacity. A closed queue ignores the call.
    #[doc(alias = "Bookmark")]
    pub fn bookmark(&self, partition: Partition, version: ResourceVersion) {
        self.change_now(|state| {
            state.tail().positions.insert(partition, version);
            Vec::new()
        });
    }

    /// Queues changes again that could not be processed, unless newer changes of the key are pending or the
    /// queue is closed. Returns whether they were queued. Never waits.
    #[doc(alias = "AddIfNotPresent")]
    pub fn requeue(&self, partition: Partition, key: ObjectKey, changes: A) -> bool {
        let mut done = false;
        self.change_now(|state| {
            if !state.is_pending(partition, &key) {
                state.populated = true;
                state.len += state.line_of(partition, &key).requeue(partition, key, changes);
                done = true;
            }
            Vec::new()
        });
        done
    }

    /// Whether changes of `key` are pending, or a list that may change it.
    pub fn is_pending(&self, partition: Partition, key: &str) -> bool {
        self.shared.lock().is_pending(partition, key)
    }

    /// Whether a change of `key` is pending or may be in a popped batch that has not been applied yet.
    pub(crate) fn is_pending_or_in_flight(&self, partition: Partition, key: &str) -> bool {
        let state = self.shared.lock();
        state.in_flight > 0 || state.is_pending(partition, key)
    }

    /// The number of pending changes; an entry for a whole list counts as one.
    pub fn len(&self) -> usize {
        self.shared.lock().len
    }

    /// Whether no change is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Pops the changes of up to `max` keys from the front, or one entry for a whole partition. Waits while
    /// the queue is empty. Returns `None` once the queue is closed and empty.
    ///
    /// # Cancel safety
    /// If the future is dropped before it completes, nothing was popped.
    #[doc(alias = "Pop")]
    #[doc(alias = "PopBatch")]
    pub async fn pop(&self, max: usize) -> Option<Batch<A>> {
        loop {
            {
                let mut state = self.shared.lock();
                let before = state.len;
                let popped = state.pop(max.max(1));
                self.shared.gauge.moved(before, state.len);
                if let Some(popped) = popped {
                    state.unannounced = 0;
                    state.in_flight += 1;
                    let was_full = before >= self.shared.capacity;
                    let guard = BatchGuard {
                        shared: self.shared.clone(),
                        listed: popped.listed,
                        removed: popped.removed,
                        in_flight: true,
                    };
                    let initial = !*self.shared.synced.borrow();
                    drop(state);
                    self.shared.writable.notify_waiters();
                    return Some(Batch {
                        entries: popped.entries,
                        positions: popped.positions,
                        initial,
                        was_full,
                        guard,
                    });
                }
                if before > state.len {
                    self.shared.writable.notify_waiters();
                }
                if state.closed {
                    return None;
                }
            }
            self.shared.readable.notified().await;
        }
    }

    /// Whether the initial population has been processed: the first list of each partition. If the first push
    /// was a single change, the queue counts as synced at once.
    #[doc(alias = "HasSynced")]
    pub fn has_synced(&self) -> bool {
        *self.shared.synced.borrow()
    }

    /// Waits until [`has_synced`](Self::has_synced).
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn synced(&self) {
        // An error would mean that the sender was dropped, but `self` holds it.
        let _ = self.shared.synced.subscribe().wait_for(|synced| *synced).await;
    }

    /// Closes the queue: the consumer gets what is pending and then `None`. From now on pushes drop their
    /// changes without waiting.
    #[doc(alias = "Close")]
    pub fn close(&self) {
        let mut state = self.shared.lock();
        state.closed = true;
        // There may be no consumer any more to process pending removals.
        let waiting = state.segments.iter_mut().filter_map(|segment| match segment {
            Segment::PartitionRemoved(_, removed) => removed.take(),
            _ => None,
        });
        let waiting: Vec<_> = waiting.collect();
        drop(state);
        drop(waiting);
        self.shared.readable.notify_one();
        self.shared.writable.notify_waiters();
    }
}

#[cfg(test)]
mod tests;
