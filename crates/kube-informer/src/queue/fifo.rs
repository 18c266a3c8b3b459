//! The queue itself.

use super::{Delta, Deltas, Replace};
use crate::metrics::QueuedItems;
use crate::object::{ObjectKey, Partition, ResourceVersion};
use foldhash::fast::RandomState;
use hashbrown::{HashTable, hash_table::Entry};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, watch};

/// Where in the history of the server a change stands.
///
/// ```
/// use kube_informer::{Partition, queue::Position};
/// let position = Position { partition: Partition::ONLY, resource_version: "7".into() };
/// assert_eq!(position.resource_version.as_str(), "7");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The part of the collection whose watch this came from.
    pub partition: Partition,
    /// Everything of that partition up to this version has been pushed.
    pub resource_version: ResourceVersion,
}

/// So many changes are worth waking the consumer for, even if more follow at once.
const WORTHWHILE: usize = 32;

/// A bounded queue of changes, grouped by key; see the [module](super) for the contract.
///
/// A clone is another handle to the same queue. Any number of tasks may push; only one may pop.
///
/// # Cancel safety
/// [`push`](Self::push), [`replace`](Self::replace) and [`pop`](Self::pop) can be dropped at any time: what was not
/// pushed is not in the queue, what was not returned is still in it.
#[doc(alias = "DeltaFIFO")]
#[doc(alias = "RealFIFO")]
#[derive(Debug)]
pub struct DeltaFifo<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Clone for DeltaFifo<T> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
        }
    }
}

#[derive(Debug)]
struct Shared<T> {
    capacity: usize,
    state: Mutex<State<T>>,
    /// Signalled when there is something to pop, or when the queue is closed.
    readable: Notify,
    /// Signalled when there is room again, or when the queue is closed.
    writable: Notify,
    synced: watch::Sender<bool>,
    /// Moved with every change of the length, and back when the queue is gone.
    gauge: QueuedItems,
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        let len = self.lock().len;
        self.gauge.moved(len, 0);
    }
}

#[derive(Debug)]
struct State<T> {
    segments: VecDeque<Segment<T>>,
    /// Pending deltas and replaces.
    len: usize,
    /// How many changes the consumer has not been woken for.
    unannounced: usize,
    /// How many batches were popped and have not been applied.
    in_flight: usize,
    closed: bool,
    /// Whether anything but bookmarks was ever pushed.
    populated: bool,
    /// Partitions whose first replace has not been processed.
    unsynced: BTreeSet<Partition>,
}

/// What is pending between two whole-collection entries.
#[derive(Debug)]
enum Segment<T> {
    Deltas(Keyed<T>),
    Replace(Replace<T>),
}

/// Pending changes by key, in the order in which the keys first came.
#[derive(Debug)]
struct Keyed<T> {
    entries: VecDeque<(ObjectKey, Deltas<T>)>,
    /// Where each key stands in `entries`, counted from the first entry that this segment ever had.
    places: HashTable<usize>,
    hasher: RandomState,
    popped: usize,
    positions: BTreeMap<Partition, ResourceVersion>,
}

impl<T> Default for Keyed<T> {
    fn default() -> Self {
        Self {
            entries: VecDeque::new(),
            places: HashTable::new(),
            hasher: RandomState::default(),
            popped: 0,
            positions: BTreeMap::new(),
        }
    }
}

impl<T> Keyed<T> {
    /// Appends a delta and returns by how many the number of pending deltas grew.
    fn push(&mut self, key: ObjectKey, delta: Delta<T>) -> usize {
        let (entries, popped) = (&mut self.entries, self.popped);
        let is_key = |place: &usize| entries[place - popped].0 == key;
        let rehash = |place: &usize| self.hasher.hash_one(&*entries[place - popped].0);
        match self.places.entry(self.hasher.hash_one(&*key), is_key, rehash) {
            Entry::Occupied(place) => {
                let deltas = &mut entries[place.get() - popped].1;
                let before = deltas.len();
                deltas.push(delta);
                deltas.len() - before
            }
            Entry::Vacant(place) => {
                place.insert(popped + entries.len());
                entries.push_back((key, delta.into()));
                1
            }
        }
    }

    fn contains(&self, key: &str) -> bool {
        let is_key = |place: &usize| self.entries[place - self.popped].0.as_str() == key;
        self.places.find(self.hasher.hash_one(key), is_key).is_some()
    }

    /// Takes up to `max` keys from the front.
    fn pop(&mut self, max: usize) -> Vec<(ObjectKey, Deltas<T>)> {
        if max >= self.entries.len() {
            self.places.clear();
            self.popped = 0;
            return std::mem::take(&mut self.entries).into();
        }
        let taken: Vec<_> = self.entries.drain(..max).collect();
        for (place, (key, _)) in (self.popped..).zip(&taken) {
            let hash = self.hasher.hash_one(&**key);
            if let Ok(entry) = self.places.find_entry(hash, |other| *other == place) {
                entry.remove();
            }
        }
        self.popped += taken.len();
        taken
    }
}

/// What [`DeltaFifo::pop`] returns.
#[derive(Debug)]
#[must_use = "what is popped is gone from the queue"]
pub struct Batch<T> {
    /// The changes.
    pub entries: Entries<T>,
    /// For each partition that moved on, the version up to which everything has now been popped.
    pub positions: Vec<Position>,
    /// Whether this belongs to the initial population: the queue had not synced when it was popped.
    pub initial: bool,
    /// Whether the queue was full, so that somebody may have been waiting for the room that this has made.
    pub(crate) was_full: bool,
    /// Drop this when the batch has been processed.
    pub processed: Processed<T>,
}

/// The changes of a [`Batch`].
#[derive(Debug)]
pub enum Entries<T> {
    /// Changes of single keys, each key once; empty if only a bookmark came.
    Deltas(Vec<(ObjectKey, Deltas<T>)>),
    /// A new list of a partition. It is popped alone.
    Replace(Replace<T>),
}

/// Tells the queue, when dropped, that a batch has been processed.
#[derive(Debug)]
#[must_use = "dropping this says that the batch has been processed"]
pub struct Processed<T> {
    shared: Arc<Shared<T>>,
    replaced: Option<Partition>,
    in_flight: bool,
}

impl<T> Processed<T> {
    /// Whoever asks what is held sees the batch from now on, although it has not been processed in full.
    pub(crate) fn applied(&mut self) {
        let shared = self.shared.clone();
        self.land(&mut shared.lock());
    }

    fn land(&mut self, state: &mut State<T>) {
        if std::mem::take(&mut self.in_flight) {
            state.in_flight -= 1;
        }
    }
}

impl<T> Drop for Processed<T> {
    fn drop(&mut self) {
        let shared = self.shared.clone();
        let mut state = shared.lock();
        self.land(&mut state);
        if let Some(partition) = self.replaced {
            state.unsynced.remove(&partition);
            shared.update_synced(&state);
        }
    }
}

impl<T> Shared<T> {
    /// The state is consistent between any two statements that can panic, so a poisoned lock is as good as another.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update_synced(&self, state: &State<T>) {
        if state.unsynced.is_empty() {
            self.synced
                .send_if_modified(|synced| !std::mem::replace(synced, true));
        }
    }
}

impl<T> State<T> {
    /// The last segment, made one for deltas if it is none.
    fn tail(&mut self) -> &mut Keyed<T> {
        if !matches!(self.segments.back(), Some(Segment::Deltas(_))) {
            self.segments.push_back(Segment::Deltas(Keyed::default()));
        }
        match self.segments.back_mut() {
            Some(Segment::Deltas(keyed)) => keyed,
            _ => unreachable!("just pushed"),
        }
    }

    fn push(&mut self, key: ObjectKey, delta: Delta<T>, at: Option<Position>) {
        if !self.populated {
            self.populated = true;
            self.unsynced.clear();
        }
        let tail = self.tail();
        let grown = tail.push(key, delta);
        if let Some(at) = at {
            tail.positions.insert(at.partition, at.resource_version);
        }
        self.len += grown;
    }

    fn is_pending(&self, key: &str) -> bool {
        self.segments.iter().any(|segment| match segment {
            Segment::Deltas(keyed) => keyed.contains(key),
            Segment::Replace(_) => true,
        })
    }

    /// Takes the front of the queue; `None` if there is nothing.
    fn pop(&mut self, max: usize) -> Option<(Entries<T>, Vec<Position>)> {
        match self.segments.front_mut()? {
            Segment::Deltas(keyed) => {
                let entries = keyed.pop(max);
                self.len -= entries.iter().map(|(_, deltas)| deltas.len()).sum::<usize>();
                let mut positions = vec![];
                if keyed.entries.is_empty() {
                    let reached = std::mem::take(&mut keyed.positions).into_iter();
                    positions = reached
                        .map(|(p, rv)| Position {
                            partition: p,
                            resource_version: rv,
                        })
                        .collect();
                    self.segments.pop_front();
                }
                Some((Entries::Deltas(entries), positions))
            }
            Segment::Replace(_) => {
                let Some(Segment::Replace(replace)) = self.segments.pop_front() else {
                    unreachable!("just seen")
                };
                self.len -= 1;
                let reached = replace.resource_version.clone().into_iter();
                let positions = reached
                    .map(|rv| Position {
                        partition: replace.partition,
                        resource_version: rv,
                    })
                    .collect();
                Some((Entries::Replace(replace), positions))
            }
        }
    }
}

impl<T> DeltaFifo<T> {
    /// A queue of one partition in which at most `capacity` changes wait (at least one).
    pub fn new(capacity: usize) -> Self {
        Self::with_partitions(capacity, [Partition::ONLY])
    }

    /// A queue that has synced when the first replace of each of `partitions` has been processed.
    pub fn with_partitions(capacity: usize, partitions: impl IntoIterator<Item = Partition>) -> Self {
        Self::with_gauge(capacity, partitions, QueuedItems::none())
    }

    /// A queue that shows its length.
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

    /// Makes a partition count: unless the queue has synced already, it does so only after the first replace of this
    /// one, too.
    pub fn add_partition(&self, partition: Partition) {
        let mut state = self.shared.lock();
        if !*self.shared.synced.borrow() {
            state.unsynced.insert(partition);
        }
    }

    /// Makes a partition count no longer: the queue may sync without it. What is pending of it stays.
    pub fn remove_partition(&self, partition: Partition) {
        let mut state = self.shared.lock();
        state.unsynced.remove(&partition);
        self.shared.update_synced(&state);
    }

    /// Runs `change` under the lock as soon as there is room. Then wakes the consumer, unless so many changes are not
    /// `worthwhile` yet.
    async fn when_writable(&self, worthwhile: usize, change: impl FnOnce(&mut State<T>)) {
        let mut change = Some(change);
        while !self.try_change(worthwhile, &mut change) {
            self.announce();
            let mut room = std::pin::pin!(self.shared.writable.notified());
            // Registered before the second look, so that room made in between is not missed.
            room.as_mut().enable();
            if self.try_change(worthwhile, &mut change) {
                return;
            }
            room.await;
        }
    }

    /// Runs `change` if there is room, and returns false if there is none. A closed queue drops the change.
    fn try_change(&self, worthwhile: usize, change: &mut Option<impl FnOnce(&mut State<T>)>) -> bool {
        let mut state = self.shared.lock();
        if state.closed {
            // Without the lock: dropping an object may run the user's code.
            drop(state);
            *change = None;
            return true;
        }
        if state.len >= self.shared.capacity {
            return false;
        }
        let before = state.len;
        if let Some(change) = change.take() {
            change(&mut state);
        }
        self.shared.gauge.moved(before, state.len);
        self.shared.update_synced(&state);
        state.unannounced += 1;
        if state.unannounced >= worthwhile {
            state.unannounced = 0;
            drop(state);
            self.shared.readable.notify_one();
        }
        true
    }

    /// Wakes the consumer for what was pushed [quietly](Self::push_quietly).
    pub(crate) fn announce(&self) {
        if std::mem::take(&mut self.shared.lock().unannounced) > 0 {
            self.shared.readable.notify_one();
        }
    }

    /// Adds a change of `key`, waiting while the queue is full. `at` says up to where in the server's history the
    /// queue is complete with this change. A closed queue drops it.
    #[doc(alias = "Add")]
    #[doc(alias = "Update")]
    #[doc(alias = "Delete")]
    pub async fn push(&self, key: ObjectKey, delta: Delta<T>, at: Option<Position>) {
        self.when_writable(1, |state| state.push(key, delta, at)).await;
    }

    /// The same, but the consumer may sleep on until [`announce`](Self::announce), if it is not many changes: to be used
    /// by those who know that more is to follow at once.
    pub(crate) async fn push_quietly(&self, key: ObjectKey, delta: Delta<T>, at: Option<Position>) {
        self.when_writable(WORTHWHILE, |state| state.push(key, delta, at))
            .await;
    }

    /// Adds a new list of a partition, waiting while the queue is full. A closed queue drops it.
    #[doc(alias = "Replace")]
    pub async fn replace(&self, replace: Replace<T>) {
        self.when_writable(1, |state| {
            state.populated = true;
            state.segments.push_back(Segment::Replace(replace));
            state.len += 1;
        })
        .await;
    }

    /// Adds a [`Delta::Sync`] for each of `known`, but not for keys with pending changes: a state that is held must
    /// not overtake one that is on its way. A closed queue takes nothing.
    #[doc(alias = "Resync")]
    pub async fn resync(&self, known: impl IntoIterator<Item = (ObjectKey, T)>) {
        for (key, object) in known {
            self.when_writable(1, |state| {
                if !state.is_pending(&key) {
                    state.push(key, Delta::Sync(object), None);
                }
            })
            .await;
        }
    }

    /// Notes that everything up to `at` has been pushed. Never waits: it takes no room. A closed queue ignores it.
    #[doc(alias = "Bookmark")]
    pub fn bookmark(&self, at: Position) {
        let mut state = self.shared.lock();
        if state.closed {
            return;
        }
        let positions = &mut state.tail().positions;
        positions.insert(at.partition, at.resource_version);
        drop(state);
        self.shared.readable.notify_one();
    }

    /// Puts back changes that could not be processed, unless newer ones of that key are pending already or the queue is
    /// closed; returns whether it did. Never waits.
    #[doc(alias = "AddIfNotPresent")]
    pub fn requeue(&self, key: ObjectKey, deltas: Deltas<T>) -> bool {
        let mut state = self.shared.lock();
        if state.closed || state.is_pending(&key) {
            drop(state);
            return false;
        }
        let before = state.len;
        for delta in deltas {
            state.push(key.clone(), delta, None);
        }
        self.shared.gauge.moved(before, state.len);
        self.shared.update_synced(&state);
        drop(state);
        self.shared.readable.notify_one();
        true
    }

    /// Whether changes of `key` are pending, or a list that may change it.
    pub fn is_pending(&self, key: &str) -> bool {
        self.shared.lock().is_pending(key)
    }

    /// Whether a change of `key` is pending, or may be part of a batch that was popped and has not been applied yet.
    pub(crate) fn is_on_its_way(&self, key: &str) -> bool {
        let state = self.shared.lock();
        state.in_flight > 0 || state.is_pending(key)
    }

    /// How many changes are pending; a list counts as one.
    pub fn len(&self) -> usize {
        self.shared.lock().len
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits until there is something to take, or nothing more will come.
    pub(crate) async fn readable(&self) {
        let is_readable = |state: MutexGuard<'_, State<T>>| state.closed || !state.segments.is_empty();
        while !is_readable(self.shared.lock()) {
            self.shared.readable.notified().await;
        }
    }

    /// How many changes fit in.
    pub(crate) fn capacity(&self) -> usize {
        self.shared.capacity
    }

    /// Takes the changes of up to `max` keys from the front, or one list; waits while there is nothing. `None` once
    /// the queue is closed and empty.
    #[doc(alias = "Pop")]
    #[doc(alias = "PopBatch")]
    pub async fn pop(&self, max: usize) -> Option<Batch<T>> {
        loop {
            {
                let mut state = self.shared.lock();
                let before = state.len;
                if let Some((entries, positions)) = state.pop(max.max(1)) {
                    state.unannounced = 0;
                    state.in_flight += 1;
                    let was_full = before >= self.shared.capacity;
                    self.shared.gauge.moved(before, state.len);
                    let replaced = match &entries {
                        Entries::Replace(replace) => Some(replace.partition),
                        Entries::Deltas(_) => None,
                    };
                    let processed = Processed {
                        shared: self.shared.clone(),
                        replaced,
                        in_flight: true,
                    };
                    let initial = !*self.shared.synced.borrow();
                    drop(state);
                    self.shared.writable.notify_waiters();
                    return Some(Batch {
                        entries,
                        positions,
                        initial,
                        was_full,
                        processed,
                    });
                }
                if state.closed {
                    return None;
                }
            }
            self.shared.readable.notified().await;
        }
    }

    /// Whether the initial population has been processed: the first replace of each partition, or, if the first
    /// thing that ever happened was something else, at once.
    #[doc(alias = "HasSynced")]
    pub fn has_synced(&self) -> bool {
        *self.shared.synced.borrow()
    }

    /// Waits until [`has_synced`](Self::has_synced).
    pub async fn synced(&self) {
        // An error would mean that the sender is gone, but `self` holds it.
        let _ = self.shared.synced.subscribe().wait_for(|synced| *synced).await;
    }

    /// Ends waiting: the consumer gets what is pending and then `None`. Nothing is taken in from now on: what is pushed is
    /// dropped, without waiting for room.
    #[doc(alias = "Close")]
    pub fn close(&self) {
        self.shared.lock().closed = true;
        self.shared.readable.notify_one();
        self.shared.writable.notify_waiters();
    }
}

#[cfg(test)]
mod tests;
