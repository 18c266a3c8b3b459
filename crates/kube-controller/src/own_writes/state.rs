//! What was written, by whom, and who has not seen it.

use super::ReconcileKey;
use super::tracked_informer::{AnyCache, Change, Lists};
use kube_informer::{ObjectKey, ResourceVersion};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// How many echoes of a cache are expected at a time.
const ECHOES: usize = 4096;
/// How many changes are held back while a run goes on. More of them are told at once.
const HELD_BACK: usize = 4096;
/// With fewer writes than this, those that were seen are not looked for.
const MIN_SWEEP: usize = 64;

/// Puts a key into a queue.
pub(super) type Enqueue = Box<dyn FnOnce() + Send>;

#[derive(Default)]
pub(super) struct State {
    /// By the number that each has got.
    caches: BTreeMap<usize, Known>,
    /// How many there were.
    added: usize,
    by_run: HashMap<ReconcileKey, Vec<Unseen>>,
    by_others: ByOthers,
    /// The length of both at which seen writes are removed.
    sweep_at: usize,
    /// The runs whose scopes have not ended, with the changes that are judged then.
    active: HashMap<ReconcileKey, Vec<(Change, Enqueue)>>,
}

pub(super) struct Known {
    cache: Arc<dyn AnyCache>,
    /// By uid.
    echoes: HashMap<Box<str>, Vec<Echo>>,
    expected: usize,
}

/// Writes outside of any scope, by the number that each has got. There may be many, and every run waits for them.
#[derive(Default)]
struct ByOthers {
    writes: BTreeMap<u64, Unseen>,
    numbers: HashMap<Unseen, u64>,
    next: u64,
}

/// A write that a cache has not seen.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Unseen {
    cache: usize,
    object: ObjectKey,
}

/// What a run's write will be told as.
struct Echo {
    run: ReconcileKey,
    version: ResourceVersion,
    created: bool,
    deleted: bool,
    /// Before the write.
    lists: Lists,
}

/// What the server did.
#[derive(Debug, PartialEq)]
pub(super) struct Written {
    pub(super) key: ObjectKey,
    pub(super) uid: Box<str>,
    /// The version, if the answer has one.
    pub(super) version: Option<ResourceVersion>,
    pub(super) created: bool,
    /// Whether this write, and no other one, made what the answer shows.
    pub(super) proven: bool,
    /// Whether the object is gone.
    pub(super) gone: bool,
}

impl State {
    /// Adds a cache. Returns its number, and those that have stopped, to be dropped without the lock.
    pub(super) fn add(&mut self, cache: Arc<dyn AnyCache>) -> (usize, Vec<Known>) {
        let known = Known {
            cache,
            echoes: HashMap::new(),
            expected: 0,
        };
        let number = self.added;
        self.added += 1;
        let stopped = self.caches.iter().filter(|(_, known)| known.cache.is_stopped());
        let stopped: Vec<_> = stopped.map(|(number, _)| *number).collect();
        let stopped = stopped.iter().filter_map(|number| self.caches.remove(number));
        let stopped = stopped.collect();
        self.caches.insert(number, known);
        (number, stopped)
    }

    /// Removes a cache, to be dropped without the lock.
    pub(super) fn remove(&mut self, number: usize) -> Option<Known> {
        self.caches.remove(&number)
    }

    /// The caches of a resource, and how often each was listed so far.
    pub(super) fn caches_of(&self, resource: &str, namespace: Option<&str>) -> Vec<(usize, Lists)> {
        let caches = self.caches.iter();
        let of = caches.filter(|(_, known)| known.cache.resource() == resource);
        of.map(|(number, known)| (*number, known.cache.lists(namespace)))
            .collect()
    }

    pub(super) fn begin(&mut self, run: &ReconcileKey) {
        self.active.entry(run.clone()).or_default();
    }

    /// Ends a scope, and returns what is to be done about the changes that came meanwhile.
    pub(super) fn end(&mut self, run: &ReconcileKey) -> Vec<Enqueue> {
        let changes = self.active.remove(run).unwrap_or_default().into_iter();
        let foreign =
            changes.filter_map(|(change, enqueue)| (!self.is_echo(run, &change)).then_some(enqueue));
        foreign.collect()
    }

    /// Notes a write, which `run` has made, if it is known.
    pub(super) fn note(
        &mut self,
        caches: &[(usize, Lists)],
        written: &Written,
        run: Option<&ReconcileKey>,
        with_echo: bool,
    ) {
        for (number, lists) in caches {
            // It may have been removed meanwhile.
            let Some(known) = self.caches.get_mut(number) else {
                continue;
            };
            if let Some(version) = &written.version {
                known.cache.record(written.key.clone(), version.clone());
            }
            if written.gone {
                known.cache.record_deletion(written.key.clone(), &written.uid);
            }
            if let (Some(run), true) = (run, written.proven && !with_echo) {
                known.expect(
                    &written.uid,
                    Echo {
                        run: run.clone(),
                        version: written.version.clone().unwrap_or_else(|| "".into()),
                        created: written.created,
                        deleted: written.gone,
                        lists: lists.clone(),
                    },
                );
            }
            let unseen = Unseen {
                cache: *number,
                object: written.key.clone(),
            };
            let Some(run) = run else {
                self.by_others.add(unseen);
                continue;
            };
            // A run writes a few objects, and whatever is outside of any scope may write many.
            let list = self.by_run.entry(run.clone()).or_default();
            if !list.contains(&unseen) {
                list.push(unseen);
            }
        }
        if self.by_run.len() + self.by_others.len() >= self.sweep_at {
            self.sweep();
        }
    }

    /// Forgets the writes that were seen.
    fn sweep(&mut self) {
        let caches = &self.caches;
        let is_unseen = |unseen: &Unseen| unseen.is_unseen(caches);
        self.by_others.retain(is_unseen);
        self.by_run.retain(|_, list| {
            list.retain(is_unseen);
            !list.is_empty()
        });
        self.sweep_at = (2 * (self.by_run.len() + self.by_others.len())).max(MIN_SWEEP);
    }

    /// Whether a cache has not seen what was written for this key.
    pub(super) fn is_behind(&mut self, run: &ReconcileKey) -> bool {
        let others = self.others();
        self.unseen_of_others(others).is_some() || !self.unseen(run).is_empty()
    }

    /// The writes of a run that their caches have not seen.
    pub(super) fn unseen(&mut self, run: &ReconcileKey) -> Vec<(Arc<dyn AnyCache>, ObjectKey)> {
        let Some(list) = self.by_run.get_mut(run) else {
            return Vec::new();
        };
        let caches = &self.caches;
        list.retain(|unseen| unseen.is_unseen(caches));
        let unseen = list.iter().filter_map(|unseen| unseen.with_cache(caches));
        let unseen: Vec<_> = unseen.collect();
        if list.is_empty() {
            self.by_run.remove(run);
        }
        unseen
    }

    /// The numbers of the writes until now that were made outside of any scope.
    pub(super) fn others(&self) -> Range<u64> {
        0..self.by_others.next
    }

    /// The first of these writes that its cache has not seen, and the numbers of those after it. Forgets those that were seen.
    pub(super) fn unseen_of_others(
        &mut self,
        numbers: Range<u64>,
    ) -> Option<(Arc<dyn AnyCache>, ObjectKey, Range<u64>)> {
        loop {
            let (number, write) = self.by_others.writes.range(numbers.clone()).next()?;
            if write.is_unseen(&self.caches) {
                let (cache, object) = write.with_cache(&self.caches)?;
                return Some((cache, object, number + 1..numbers.end));
            }
            let number = *number;
            self.by_others.remove(number);
        }
    }

    /// Returns `enqueue` if the change was made by others, keeps it if that is not known yet, drops it if it is an echo.
    pub(super) fn unless_echo<F: FnOnce() + Send + 'static>(
        &mut self,
        run: &ReconcileKey,
        change: Change,
        enqueue: F,
    ) -> Option<F> {
        if self.is_echo(run, &change) {
            return None;
        }
        let Some(waiting) = self.active.get_mut(run) else {
            return Some(enqueue);
        };
        if waiting.len() >= HELD_BACK {
            return Some(enqueue);
        }
        waiting.push((change, Box::new(enqueue)));
        None
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.by_run.len() + self.by_others.len()
    }

    #[cfg(test)]
    pub(super) fn is_active(&self, run: &ReconcileKey) -> bool {
        self.active.contains_key(run)
    }

    /// Whether a change is what this run wrote, and nothing else. It is expected no longer then.
    fn is_echo(&mut self, run: &ReconcileKey, change: &Change) -> bool {
        let cache = self.caches.get_mut(&change.cache);
        cache.is_some_and(|known| known.take(run, change))
    }
}

impl ByOthers {
    /// Adds a write. One that is not seen yet keeps its number: who waits for it waits for this one, too.
    fn add(&mut self, write: Unseen) {
        if self.numbers.contains_key(&write) {
            return;
        }
        self.numbers.insert(write.clone(), self.next);
        self.writes.insert(self.next, write);
        self.next += 1;
    }

    fn remove(&mut self, number: u64) {
        if let Some(write) = self.writes.remove(&number) {
            self.numbers.remove(&write);
        }
    }

    fn retain(&mut self, keeps: impl Fn(&Unseen) -> bool) {
        self.writes.retain(|_, write| keeps(write));
        self.numbers.retain(|_, number| self.writes.contains_key(number));
    }

    fn len(&self) -> usize {
        self.writes.len()
    }
}

impl Unseen {
    fn with_cache(&self, caches: &BTreeMap<usize, Known>) -> Option<(Arc<dyn AnyCache>, ObjectKey)> {
        Some((caches.get(&self.cache)?.cache.clone(), self.object.clone()))
    }

    /// Whether its cache has not seen it. One that was removed, or that the server refuses, is not asked.
    fn is_unseen(&self, caches: &BTreeMap<usize, Known>) -> bool {
        let Some(Known { cache, .. }) = caches.get(&self.cache) else {
            return false;
        };
        !cache.caught_up(self.object.as_str()) && !cache.is_refused(self.object.namespace())
    }
}

impl Known {
    fn expect(&mut self, uid: &str, echo: Echo) {
        if self.expected >= ECHOES {
            // Most of them will never come, such as those of objects that the cache does not select.
            self.echoes.clear();
            self.expected = 0;
        }
        let of = self.echoes.entry(uid.into()).or_default();
        let same = |held: &Echo| {
            held.run == echo.run && held.version == echo.version && held.deleted == echo.deleted
        };
        if !of.iter().any(same) {
            of.push(echo);
            self.expected += 1;
        }
    }

    fn take(&mut self, run: &ReconcileKey, change: &Change) -> bool {
        let Some(of) = self.echoes.get_mut(&change.uid) else {
            return false;
        };
        let found = of.iter().position(|echo| {
            let nothing_hidden = echo.created || echo.lists == change.lists;
            let same = match change.deleted {
                true => echo.deleted,
                false => echo.version == change.version && nothing_hidden,
            };
            same && echo.run == *run
        });
        let Some(found) = found else { return false };
        of.swap_remove(found);
        self.expected -= 1;
        if of.is_empty() {
            self.echoes.remove(&change.uid);
        }
        true
    }
}
