//! The fan-out: all listeners of an informer.

use super::coalescing::Change;
use super::listener::{End, Listener};
use super::{HandlerOptions, Stopped};
use crate::drain_shrinking::drain_shrinking;
use crate::object::CachedObject;
use crate::store::Indexer;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// The listeners of one informer.
///
/// Publishing a state of the store and handing out the notifications that belong to it happen under one lock, and so
/// do adding a listener and taking the snapshot it starts with: a late handler misses nothing and sees nothing twice.
pub(super) struct Processor<O: CachedObject> {
    state: Mutex<State<O>>,
    /// How often it is looked whether a listener is due for a resync.
    check: watch::Sender<Duration>,
}

struct State<O: CachedObject> {
    listeners: Vec<Arc<Listener<O>>>,
    resync: ResyncPeriods,
    synced: bool,
    stopped: bool,
}

/// How often handlers are told again of everything.
///
/// An informer looks at its *check period* whether a handler is due, so a handler's period is rounded up to a multiple
/// of that. Before the informer runs, a handler that asks for less shortens the check period; after that, its own period
/// is raised. If the informer has no period of its own, a handler shortens the check period at any time, and so does who
/// asks a factory for the informer with a shorter period. A check period of zero is never.
struct ResyncPeriods {
    default: Duration,
    check: Duration,
    running: bool,
}

/// The shortest resync period; shorter ones are raised.
const SHORTEST_RESYNC: Duration = Duration::from_secs(1);

impl ResyncPeriods {
    /// What a handler asks for, before it is fitted to the check period.
    fn asked(&self, options: &HandlerOptions) -> Duration {
        raised(options.resync.unwrap_or(self.default))
    }

    /// What a handler gets.
    fn fitted(&self, options: &HandlerOptions) -> Duration {
        match (self.asked(options), self.check) {
            (Duration::ZERO, _) | (_, Duration::ZERO) => Duration::ZERO,
            (asked, check) => asked.max(check),
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

    /// Adds a listener; it starts with what the store holds now.
    pub(super) fn add(&self, listener: Arc<Listener<O>>, store: &Indexer<O::Handle>) -> Result<(), Stopped> {
        let mut state = self.lock();
        if state.stopped {
            return Err(Stopped);
        }
        let asked = state.resync.asked(listener.options());
        if !state.resync.running || state.resync.default.is_zero() {
            self.shorten_check(&mut state, asked);
        }
        listener.set_resync(state.resync.fitted(listener.options()));
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
        for listener in &state.listeners {
            listener.set_resync(state.resync.fitted(listener.options()));
        }
    }

    /// Looks at least this often whether a listener is due for a resync. Zero changes nothing.
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

    /// Takes a listener out; nothing more will be pushed to it.
    pub(super) fn remove(&self, listener: &Arc<Listener<O>>, end: End) {
        let mut state = self.lock();
        state.listeners.retain(|other| !Arc::ptr_eq(other, listener));
        drop(state);
        listener.end(end);
    }

    pub(super) fn listeners(&self) -> Vec<Arc<Listener<O>>> {
        self.lock().listeners.clone()
    }

    /// Whether some listener wants to hear of what has not changed.
    pub(super) fn any_resync(&self) -> bool {
        self.lock()
            .listeners
            .iter()
            .any(|listener| listener.wants_resync())
    }

    /// Handlers no longer shorten the check period, because the informer runs now; returns it. Zero is never.
    pub(super) fn start_resync(&self) -> watch::Receiver<Duration> {
        self.lock().resync.running = true;
        self.check.subscribe()
    }

    /// The listeners that are to be told again of everything.
    pub(super) fn due_for_resync(&self, now: Instant) -> Vec<Arc<Listener<O>>> {
        let state = self.lock();
        state
            .listeners
            .iter()
            .filter(|listener| listener.resync_is_due(now))
            .cloned()
            .collect()
    }

    /// Makes a state visible and tells everybody what led to it.
    pub(super) fn publish(&self, changes: Vec<Change<O>>, publish: impl FnOnce()) {
        let state = self.lock();
        publish();
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

    /// The initial state has been published.
    pub(super) fn set_synced(&self) {
        let mut state = self.lock();
        if std::mem::replace(&mut state.synced, true) {
            return;
        }
        for listener in &state.listeners {
            listener.push_synced();
        }
    }

    /// No listener can be added any more; those that are there end without taking what is pending.
    pub(super) fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        let listeners = std::mem::take(&mut state.listeners);
        drop(state);
        for listener in listeners {
            listener.end(End::Drop);
        }
    }
}

/// A resync period that is not too short.
fn raised(period: Duration) -> Duration {
    match period {
        Duration::ZERO => period,
        period => period.max(SHORTEST_RESYNC),
    }
}
