//! How often objects have failed in a row, and how long they pause.

use crate::time::after;
use kube_informer::ObjectKey;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;
use tokio::time::Instant;

/// With fewer failures than this, those of objects that are gone are not looked for.
const MIN_SWEEP: usize = 256;

/// The failures of an object in a row.
struct Failing {
    /// Another object under the same key starts anew.
    uid: Option<String>,
    count: u32,
    /// When the pause after the last counted failure ends.
    until: Instant,
}

/// The failures of all objects of a controller.
pub(super) struct Failures {
    /// The pause after the first failure, which each further one doubles, and the longest pause.
    backoff: (Duration, Duration),
    failing: HashMap<ObjectKey, Failing>,
    /// The number of them at which those of objects that are gone are removed.
    sweep_at: usize,
}

impl Failures {
    pub(super) fn new(backoff: (Duration, Duration)) -> Self {
        Self {
            backoff,
            failing: HashMap::new(),
            sweep_at: MIN_SWEEP,
        }
    }

    /// How often an object has failed in a row.
    pub(super) fn in_a_row(&self, key: &ObjectKey, uid: Option<&str>) -> u32 {
        let failing = self.failing.get(key);
        let failing = failing.filter(|failing| failing.uid.as_deref() == uid);
        failing.map_or(0, |failing| failing.count)
    }

    /// Counts the failure of a run that began then, and pauses for a time. A run that began during a pause, because of a change,
    /// does not count.
    pub(super) fn count(
        &mut self,
        key: &ObjectKey,
        uid: Option<&str>,
        began: Instant,
        pause: Option<Duration>,
    ) {
        let failing = self.failing(key, uid, began);
        if failing.until <= began {
            failing.count = failing.count.saturating_add(1);
            if let Some(pause) = pause {
                failing.until = after(Instant::now(), pause);
            }
        }
    }

    /// The pause of an object after the failure of a run that began then. A run that began during a pause does not count.
    pub(super) fn back_off(&mut self, key: &ObjectKey, uid: Option<&str>, began: Instant) -> Duration {
        let (first, longest) = self.backoff;
        let now = Instant::now();
        let failing = self.failing(key, uid, began);
        if failing.until <= began {
            let factor = 1_u32.checked_shl(failing.count).unwrap_or(u32::MAX);
            failing.count = failing.count.saturating_add(1);
            failing.until = after(now, first.saturating_mul(factor).min(longest));
        }
        failing.until.saturating_duration_since(now)
    }

    /// Forgets the failures of an object.
    pub(super) fn forget(&mut self, key: &ObjectKey) {
        if !self.failing.is_empty() {
            self.failing.remove(key);
        }
    }

    /// Whether there are so many that those of objects that are gone should be [removed](Self::retain).
    pub(super) fn are_many(&self) -> bool {
        self.failing.len() >= self.sweep_at
    }

    /// Forgets the failures of objects that are not there.
    pub(super) fn retain(&mut self, is_there: impl Fn(&ObjectKey) -> bool) {
        self.failing.retain(|key, _| is_there(key));
        self.sweep_at = (2 * self.failing.len()).max(MIN_SWEEP);
    }

    /// The failures of an object, before this run was counted.
    fn failing(&mut self, key: &ObjectKey, uid: Option<&str>, began: Instant) -> &mut Failing {
        match self.failing.entry(key.clone()) {
            Entry::Occupied(held) if held.get().uid.as_deref() == uid => held.into_mut(),
            entry => {
                let none = Failing {
                    uid: uid.map(str::to_owned),
                    count: 0,
                    until: began,
                };
                entry.insert_entry(none).into_mut()
            }
        }
    }
}
