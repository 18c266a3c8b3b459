//! One handler's side of an informer: its queue, what it starts with, and how far it is.

use super::HandlerOptions;
use super::Notification;
use super::coalescing::{CoalescingQueue, Delivery, QueuedNotification};
use crate::object::CachedObject;
use crate::queue::process_loop::after;
use crate::store::{Lease, Snapshot};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

/// How a listener's notifications reach it.
pub(super) struct Listener<O: CachedObject> {
    /// The informer's resource, for the log.
    resource: String,
    options: HandlerOptions,
    state: Mutex<State<O>>,
    /// Signalled when there is something to take, or nothing more to come.
    wake: Notify,
    progress: watch::Sender<Progress>,
    /// A handler makes use of the informer for as long as it is there.
    _lease: Option<Lease>,
}

struct State<O: CachedObject> {
    /// What a late handler starts with.
    initial: Initial<O>,
    /// When it got that.
    started: Instant,
    queue: CoalescingQueue<O>,
    resync: Resync,
    pace: Pace,
    /// What was taken, until the next notification is asked for.
    handling: Option<Handling<O>>,
    panicked: bool,
    /// The object of the call that has panicked.
    unbearable: Option<O::Handle>,
    end: Option<End>,
}

/// A notification that was taken, and that may be being handled.
struct Handling<O: CachedObject> {
    object: O::Handle,
    is_deletion: bool,
}

impl<O: CachedObject> Handling<O> {
    /// The object, if its deletion was taken.
    fn deleted(&self) -> Option<&O::Handle> {
        self.is_deletion.then_some(&self.object)
    }
}

/// When a listener is told again of everything. A period of zero is never.
struct Resync {
    period: Duration,
    next: Instant,
}

/// Detects a handler that is slow while many notifications wait.
struct Pace {
    /// So many waiting notifications make a slow call worth a warning.
    many: usize,
    /// When the last one was taken, if many were waiting then.
    taken: Option<Instant>,
    warned: Option<Instant>,
}

/// The most notifications that wait without a warning, of a queue that merges none before.
const MANY: usize = 1024;
/// A call that takes longer than this is slow.
const SLOW: Duration = Duration::from_millis(100);
/// A handler that stays slow is warned of once in this time.
const WARN_EVERY: Duration = Duration::from_secs(10);

impl Pace {
    fn of(delivery: Delivery) -> Self {
        let many = match delivery {
            Delivery::Coalesced { capacity } => capacity.clamp(1, MANY),
            Delivery::Unbounded => MANY,
        };
        Self {
            many,
            taken: None,
            warned: None,
        }
    }

    /// The next notification is asked for while so many wait; returns how long the last one took if that is worth a
    /// warning.
    fn next(&mut self, waiting: usize) -> Option<Duration> {
        if waiting < self.many {
            self.taken = None;
            return None;
        }
        let now = Instant::now();
        let took = now - self.taken.replace(now)?;
        if took <= SLOW || self.warned.is_some_and(|warned| now - warned < WARN_EVERY) {
            return None;
        }
        self.warned = Some(now);
        Some(took)
    }
}

/// The adds of a late handler, made from the store's state at the time it was added.
enum Initial<O: CachedObject> {
    None,
    Pending(Snapshot<O::Handle>),
    /// So many objects are being read from the snapshot.
    Reading(usize),
    Running(std::vec::IntoIter<O::Handle>),
}

/// How a listener ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// What is pending is dropped.
    Drop,
    /// What is pending is delivered first.
    Drain,
}

/// How far a listener is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// All initial adds have been handled.
    pub(super) synced: bool,
    /// Somebody takes notifications: the handler's task has started, or a stream was made.
    pub(super) started: Option<tokio::task::Id>,
    /// No more notifications will be handled.
    pub(super) ended: bool,
}

impl<O: CachedObject> Listener<O> {
    pub(super) fn new(resource: String, options: HandlerOptions, lease: Option<Lease>) -> Self {
        let state = State {
            initial: Initial::None,
            started: Instant::now(),
            queue: CoalescingQueue::new(options.delivery),
            resync: Resync {
                period: Duration::ZERO,
                next: Instant::now(),
            },
            pace: Pace::of(options.delivery),
            handling: None,
            panicked: false,
            unbearable: None,
            end: None,
        };
        Self {
            resource,
            options,
            state: Mutex::new(state),
            wake: Notify::new(),
            progress: watch::Sender::default(),
            _lease: lease,
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.options.name
    }

    pub(super) fn options(&self) -> &HandlerOptions {
        &self.options
    }

    fn lock(&self) -> MutexGuard<'_, State<O>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the listener with the objects of `snapshot` as initial adds.
    pub(super) fn start_with(&self, snapshot: Snapshot<O::Handle>) {
        let mut state = self.lock();
        state.initial = Initial::Pending(snapshot);
        state.started = Instant::now();
        drop(state);
        self.wake.notify_one();
    }

    pub(super) fn push(&self, changes: impl IntoIterator<Item = QueuedNotification<O>>, now: Instant) {
        let mut state = self.lock();
        if state.end.is_some() {
            return;
        }
        let wants_resync = !state.resync.period.is_zero();
        for change in changes {
            if !change.is_resync() || wants_resync {
                state.queue.push(change, now);
            }
        }
        drop(state);
        self.wake.notify_one();
    }

    /// Marks the end of the initial adds.
    pub(super) fn push_synced(&self) {
        self.lock().queue.push_mark();
        self.wake.notify_one();
    }

    /// Sets how often it is told again of everything; the time counts from now, unless nothing changes.
    pub(super) fn set_resync(&self, period: Duration) {
        let resync = &mut self.lock().resync;
        if resync.period != period {
            *resync = Resync {
                period,
                next: after(Instant::now(), period),
            };
        }
    }

    /// Whether it is time to be told again of everything; if so, the next time is a period away.
    pub(super) fn resync_is_due(&self, now: Instant) -> bool {
        let resync = &mut self.lock().resync;
        let due = !resync.period.is_zero() && now >= resync.next;
        if due {
            resync.next = after(now, resync.period);
        }
        due
    }

    /// No more notifications will be pushed. Returns the last states of the objects whose deletions are dropped.
    pub(super) fn end(&self, end: End) -> Vec<O::Handle> {
        let mut state = self.lock();
        // A drain can still be cut short, but what was dropped cannot come back.
        if state.end != Some(End::Drop) {
            state.end = Some(end);
        }
        let dropped = if end == End::Drop {
            let initial = std::mem::replace(&mut state.initial, Initial::None);
            Some((state.queue.clear(), initial))
        } else {
            None
        };
        drop(state);
        self.wake.notify_one();
        let dropped = dropped.into_iter().flat_map(|(pending, _)| pending);
        let deleted = dropped.filter_map(|change| change.deleted().cloned());
        deleted.collect()
    }

    /// The last states of the objects whose deletions have not been handled. One is handled when its call has ended.
    pub(super) fn untold(&self) -> Vec<O::Handle> {
        let state = self.lock();
        let handling = state.handling.iter().filter_map(Handling::deleted);
        let untold = handling.chain(state.queue.deleted());
        untold.cloned().collect()
    }

    /// The object whose deletion is being handled.
    pub(super) fn handling(&self) -> Option<O::Handle> {
        self.lock().handling.as_ref()?.deleted().cloned()
    }

    /// The call that was running has panicked, and no other will follow. It was told: if it were told again after each restart, it
    /// might panic again.
    pub(super) fn panicked(&self) {
        let mut state = self.lock();
        state.unbearable = state.handling.take().map(|handling| handling.object);
        state.panicked = true;
    }

    /// The object of the call that has panicked, if its handler has ended by that.
    pub(super) fn unbearable(&self) -> Option<O::Handle> {
        self.lock().unbearable.clone()
    }

    /// Whether its handler has ended by a panic.
    pub(super) fn has_panicked(&self) -> bool {
        self.lock().panicked
    }

    pub(super) fn queue_len(&self) -> usize {
        self.lock().waiting()
    }

    pub(super) fn wants_resync(&self) -> bool {
        !self.lock().resync.period.is_zero()
    }

    /// For how long the oldest pending notification has been waiting.
    pub(super) fn lag(&self) -> Duration {
        let state = self.lock();
        let oldest = match state.initial.len() {
            0 => state.queue.oldest(),
            _ => Some(state.started),
        };
        oldest.map(|since| since.elapsed()).unwrap_or_default()
    }

    pub(super) fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    pub(super) fn started(&self) {
        self.progress
            .send_modify(|progress| progress.started = tokio::task::try_id());
    }

    pub(super) fn ended(&self) {
        self.progress.send_modify(|progress| progress.ended = true);
    }

    /// Asks for the next notification, which says that the one before has been handled. `None`: there are no more.
    ///
    /// Cancel safe: what is not returned stays in the queue.
    pub(super) async fn next(&self) -> Option<Notification<O>> {
        loop {
            match self.take() {
                Taken::Notification(notification) => return Some(notification),
                Taken::Ended => return None,
                Taken::Nothing => self.wake.notified().await,
            }
        }
    }

    fn take(&self) -> Taken<O> {
        let mut state = self.lock();
        let handled = state.handling.take();
        if let Some(snapshot) = state.initial.begin() {
            // Without the lock: the driver must not wait for this.
            drop(state);
            let objects: Vec<_> = snapshot.iter().cloned().collect();
            drop(snapshot);
            state = self.lock();
            state.initial.go_on(objects);
        }
        let waiting = state.waiting();
        let slow = state.pace.next(waiting);
        let taken = state.take(&self.progress);
        drop(state);
        drop(handled);
        if let Some(took) = slow {
            let (resource, handler) = (&*self.resource, self.name());
            tracing::warn!(resource, handler, ?took, waiting, "a handler is slow");
        }
        taken
    }
}

impl<O: CachedObject> State<O> {
    /// How many notifications there are to take.
    fn waiting(&self) -> usize {
        self.initial.len() + self.queue.len()
    }

    fn take(&mut self, progress: &watch::Sender<Progress>) -> Taken<O> {
        if let Some(object) = self.initial.next() {
            self.handling = Some(Handling {
                object: object.clone(),
                is_deletion: false,
            });
            return Taken::Notification(Notification::Add {
                object,
                initial: true,
            });
        }
        if self.queue.take_mark() {
            progress.send_modify(|progress| progress.synced = true);
        }
        match self.queue.pop() {
            Some(change) => {
                let notification = change.into_notification();
                self.handling = notification.object().map(|object| Handling {
                    object: object.clone(),
                    is_deletion: notification.deleted().is_some(),
                });
                Taken::Notification(notification)
            }
            None if self.end.is_some() => Taken::Ended,
            None => Taken::Nothing,
        }
    }
}

/// Says, when it is dropped, that no more notifications will be handled.
pub(super) struct EndOnDrop<O: CachedObject>(pub(super) Arc<Listener<O>>);

impl<O: CachedObject> Drop for EndOnDrop<O> {
    fn drop(&mut self) {
        self.0.ended();
    }
}

enum Taken<O: CachedObject> {
    Notification(Notification<O>),
    Nothing,
    Ended,
}

impl<O: CachedObject> Initial<O> {
    fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Pending(snapshot) => snapshot.len(),
            Self::Reading(objects) => *objects,
            Self::Running(objects) => objects.len(),
        }
    }

    /// The snapshot, if it is time to read it; [`go_on`](Self::go_on) then.
    fn begin(&mut self) -> Option<Snapshot<O::Handle>> {
        if !matches!(self, Self::Pending(_)) {
            return None;
        }
        let reading = Self::Reading(self.len());
        match std::mem::replace(self, reading) {
            Self::Pending(snapshot) => Some(snapshot),
            _ => None,
        }
    }

    /// These are the objects of the snapshot; too late, if it was dropped meanwhile.
    fn go_on(&mut self, objects: Vec<O::Handle>) {
        if let Self::Reading(_) = self {
            *self = Self::Running(objects.into_iter());
        }
    }

    fn next(&mut self) -> Option<O::Handle> {
        let Self::Running(objects) = self else { return None };
        let next = objects.next();
        if next.is_none() {
            *self = Self::None;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_slow_handler_of_a_short_queue_is_noticed_too() {
        for (delivery, waiting, noticed) in [
            (Delivery::Coalesced { capacity: 100 }, 99, false),
            (Delivery::Coalesced { capacity: 100 }, 100, true),
            (Delivery::Coalesced { capacity: 5000 }, 1024, true),
            (Delivery::Unbounded, 1023, false),
        ] {
            let mut pace = Pace::of(delivery);
            assert_eq!(pace.next(waiting), None);
            tokio::time::advance(2 * SLOW).await;
            assert_eq!(pace.next(waiting).is_some(), noticed, "{delivery:?}");
        }
    }
}
