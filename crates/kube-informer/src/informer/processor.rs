//! The fan-out: all listeners of an informer.

use super::coalescing::QueuedNotification;
use super::listener::{End, Listener};
use super::{HandlerOptions, Stopped};
use crate::drain_shrinking::drain_shrinking;
use crate::object::{CachedObject, ObjectKey};
use crate::store::{Indexer, Snapshot};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// The listeners of one informer.
///
/// One lock covers publishing a state of the store and passing on its notifications, and also adding a listener and
/// taking its initial snapshot. So a handler that is added late misses nothing and sees nothing twice.
pub(super) struct Processor<O: CachedObject> {
    state: Mutex<State<O>>,
    /// The period of checks whether a listener is due for a resync.
    check: watch::Sender<Duration>,
}

/// What handlers have not been told of.
pub(super) struct Untold<O: CachedObject> {
    /// The last states of the objects whose deletions will not be delivered any more.
    dropped: Vec<O::Handle>,
    /// The listeners whose handlers may be handling another one.
    listeners: Vec<Arc<Listener<O>>>,
}

impl<O: CachedObject> Untold<O> {
    /// The last states of the objects whose deletions have not been handled, without what a handler [cannot bear](Self::unbearable).
    pub(super) fn deleted(&self) -> Vec<O::Handle> {
        let unbearable = self.unbearable();
        let handling = self.listeners.iter().filter_map(|listener| listener.handling());
        let deleted = handling.chain(self.dropped.iter().cloned());
        deleted
            .filter(|object| !unbearable.contains(&identity_of::<O>(object)))
            .collect()
    }

    /// The keys and uids of the objects that have made a handler end by a panic. They are not told to any handler again: the one would
    /// panic again, after each restart.
    pub(super) fn unbearable(&self) -> HashSet<(ObjectKey, Option<String>)> {
        let unbearable = self.listeners.iter().filter_map(|listener| listener.unbearable());
        unbearable.map(|object| identity_of::<O>(&object)).collect()
    }

    /// Whether a handler has ended by a panic.
    pub(super) fn has_panic(&self) -> bool {
        self.listeners.iter().any(|listener| listener.has_panicked())
    }
}

/// The key and the uid of an object.
pub(super) fn identity_of<O: CachedObject>(object: &O::Handle) -> (ObjectKey, Option<String>) {
    (O::key_of(object), O::uid_of(object).map(str::to_owned))
}

struct State<O: CachedObject> {
    listeners: Vec<Arc<Listener<O>>>,
    /// Those that start when the initial state has been published.
    waiting: Vec<Arc<Listener<O>>>,
    resync: ResyncPeriods,
    /// The number of published states with changes.
    generation: u64,
    synced: bool,
    stopped: bool,
}

/// The resync periods of handlers.
///
/// An informer checks in every *check period* whether a handler is due, so a handler's period is rounded up to a
/// multiple of it. Before the informer runs, a handler with a shorter period shortens the check period; afterwards
/// the handler's period is raised. If the informer has no period itself, a handler shortens the check period at any
/// time, and so does a factory request for the informer with a shorter period. A check period of zero means never.
struct ResyncPeriods {
    default: Duration,
    check: Duration,
    running: bool,
}

/// The shortest resync period; shorter ones are raised to it.
const SHORTEST_RESYNC: Duration = Duration::from_secs(1);

impl ResyncPeriods {
    /// The period that a handler requests, before it is rounded.
    fn requested(&self, options: &HandlerOptions) -> Duration {
        raised(options.resync.unwrap_or(self.default))
    }

    /// The effective period of a handler.
    fn effective(&self, options: &HandlerOptions) -> Duration {
        match (self.requested(options), self.check) {
            (Duration::ZERO, _) | (_, Duration::ZERO) => Duration::ZERO,
            (requested, check) => requested.max(check),
        }
    }
}

impl<O: CachedObject> Processor<O> {
    pub(super) fn new(resync: Duration) -> Self {
        let resync = raised(resync);
        let state = State {
            resync: ResyncPeriods {
                default: resync,
                check: resync,
                running: false,
            },
            listeners: Vec::new(),
            waiting: Vec::new(),
            generation: 0,
            synced: false,
            stopped: false,
        };
        Self {
            state: Mutex::new(state),
            check: watch::Sender::new(resync),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<O>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a listener; it starts with the current state of the store.
    pub(super) fn add(&self, listener: Arc<Listener<O>>, store: &Indexer<O::Handle>) -> Result<(), Stopped> {
        let mut state = self.lock();
        if state.stopped {
            return Err(Stopped);
        }
        let requested = state.resync.requested(listener.options());
        if !state.resync.running || state.resync.default.is_zero() {
            self.shorten_check(&mut state, requested);
        }
        listener.set_resync(state.resync.effective(listener.options()));
        if listener.options().after_sync && !state.synced {
            state.waiting.push(listener);
            return Ok(());
        }
        listener.start_with(store.snapshot());
        if state.synced {
            listener.push_synced();
        }
        state.listeners.push(listener);
        Ok(())
    }

    fn set_check(&self, state: &mut State<O>, check: Duration) {
        state.resync.check = check;
        self.check.send_replace(check);
        for listener in state.listeners.iter().chain(&state.waiting) {
            listener.set_resync(state.resync.effective(listener.options()));
        }
    }

    /// Shortens the check period to at most `period`. Zero changes nothing.
    pub(super) fn shorten_resync(&self, period: Duration) {
        let period = raised(period);
        self.shorten_check(&mut self.lock(), period);
    }

    fn shorten_check(&self, state: &mut State<O>, period: Duration) {
        let check = state.resync.check;
        if !period.is_zero() && (check.is_zero() || period < check) {
            self.set_check(state, period);
        }
    }

    /// Removes a listener; nothing more is pushed to it.
    pub(super) fn remove(&self, listener: &Arc<Listener<O>>, end: End) {
        let mut state = self.lock();
        state.listeners.retain(|other| !Arc::ptr_eq(other, listener));
        state.waiting.retain(|other| !Arc::ptr_eq(other, listener));
        drop(state);
        listener.end(end);
    }

    pub(super) fn listeners(&self) -> Vec<Arc<Listener<O>>> {
        let state = self.lock();
        state.listeners.iter().chain(&state.waiting).cloned().collect()
    }

    /// Whether any listener has a resync, and so receives unchanged objects.
    pub(super) fn any_resync(&self) -> bool {
        self.lock()
            .listeners
            .iter()
            .any(|listener| listener.wants_resync())
    }

    /// Called when the informer starts, after which handlers no longer shorten the check period. Returns the check
    /// period; zero means never.
    pub(super) fn start_resync(&self) -> watch::Receiver<Duration> {
        self.lock().resync.running = true;
        self.check.subscribe()
    }

    /// The listeners whose resync is due.
    pub(super) fn due_for_resync(&self, now: Instant) -> Vec<Arc<Listener<O>>> {
        let state = self.lock();
        state
            .listeners
            .iter()
            .filter(|listener| listener.resync_is_due(now))
            .cloned()
            .collect()
    }

    /// The published state, and the last states of the objects that it lacks although a handler has not been told of their
    /// deletion yet.
    pub(super) fn snapshot(&self, store: &Indexer<O::Handle>) -> (Snapshot<O::Handle>, Vec<O::Handle>) {
        let state = self.lock();
        let untold = state.listeners.iter().flat_map(|listener| listener.untold());
        (store.snapshot(), untold.collect())
    }

    /// How often a state with changes was published.
    pub(super) fn generation(&self) -> u64 {
        self.lock().generation
    }

    /// Publishes a state and passes its changes to all listeners.
    pub(super) fn publish(&self, changes: Vec<QueuedNotification<O>>, publish: impl FnOnce()) {
        let mut state = self.lock();
        publish();
        state.generation += u64::from(!changes.is_empty());
        if let Some((last, others)) = state.listeners.split_last()
            && !changes.is_empty()
        {
            let now = Instant::now();
            for listener in others {
                listener.push(changes.iter().cloned(), now);
            }
            last.push(drain_shrinking(changes), now);
        }
    }

    /// Marks the initial state as published, and starts the listeners that wait for it.
    pub(super) fn set_synced(&self, store: &Indexer<O::Handle>) {
        let mut state = self.lock();
        if std::mem::replace(&mut state.synced, true) {
            return;
        }
        let state = &mut *state;
        for listener in &state.waiting {
            listener.start_with(store.snapshot());
        }
        state.listeners.append(&mut state.waiting);
        for listener in &state.listeners {
            listener.push_synced();
        }
    }

    /// Stops: listeners can no longer be added, and existing ones end without handling pending notifications. Returns what
    /// they have not been told of.
    pub(super) fn stop(&self) -> Untold<O> {
        let mut state = self.lock();
        state.stopped = true;
        let mut listeners = std::mem::take(&mut state.listeners);
        listeners.append(&mut state.waiting);
        drop(state);
        let dropped = listeners
            .iter()
            .flat_map(|listener| listener.end(End::Drop))
            .collect();
        Untold { dropped, listeners }
    }
}

/// Raises a resync period to the shortest allowed one.
fn raised(period: Duration) -> Duration {
    match period {
        Duration::ZERO => period,
        period => period.max(SHORTEST_RESYNC),
    }
}
