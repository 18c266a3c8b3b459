//! What was written, as the server answered it: against this, histories are held.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A state of an object, as far as it is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) uid: String,
    pub(crate) version: u64,
    /// Which write made it; each is tried once.
    pub(crate) write: u64,
}

/// What became of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Outcome {
    /// Nobody knows (yet): it may have been done.
    Unknown,
    Refused,
    Done {
        uid: String,
        version: u64,
    },
}

/// All writes, and what became of them.
#[derive(Debug, Default)]
pub(crate) struct Record {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    last: u64,
    /// Creations and updates, by number: the key, and what became of it.
    writes: HashMap<u64, (String, Outcome)>,
    /// Deletions, by key: the uid that is gone, if the server said so.
    deletions: HashMap<String, Vec<Outcome>>,
    /// How many were done, refused, unknown.
    counts: [u64; 3],
}

impl Record {
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A write of an object is about to be tried; its number.
    pub(crate) fn tries_to_write(&self, key: &str) -> u64 {
        let mut entries = self.lock();
        entries.last += 1;
        let number = entries.last;
        entries.writes.insert(number, (key.to_owned(), Outcome::Unknown));
        number
    }

    /// It was done.
    pub(crate) fn wrote(&self, number: u64, uid: &str, version: u64) {
        let uid = uid.to_owned();
        self.lock().settle(number, Outcome::Done { uid, version });
    }

    /// The server said no.
    pub(crate) fn refused(&self, number: u64) {
        self.lock().settle(number, Outcome::Refused);
    }

    /// A deletion was tried: the uid that the server says is gone; none if it did not answer. (A refused one never was.)
    pub(crate) fn deleted(&self, key: &str, uid: Option<&str>) {
        let outcome = uid.map_or(Outcome::Unknown, |uid| Outcome::Done {
            uid: uid.to_owned(),
            version: 0,
        });
        let mut entries = self.lock();
        entries.count(&outcome);
        entries.deletions.entry(key.to_owned()).or_default().push(outcome);
    }

    /// Nobody knows what became of a write: the server went away.
    pub(crate) fn unknown(&self) {
        self.lock().count(&Outcome::Unknown);
    }

    /// How many writes were done, refused, and neither for sure.
    pub(crate) fn counts(&self) -> [u64; 3] {
        self.lock().counts
    }

    /// Why the server never had an object in this state; none if it had, or may have had.
    pub(crate) fn objection(&self, key: &str, state: &State) -> Option<String> {
        let entries = self.lock();
        match entries.writes.get(&state.write) {
            None => Some("nobody wrote that".into()),
            Some((other, _)) if other != key => Some(format!("that was written to {other}")),
            Some((_, Outcome::Refused)) => Some("the server refused that".into()),
            Some((_, Outcome::Done { uid, version })) if (uid, version) != (&state.uid, &state.version) => {
                Some(format!("the server said {uid} at {version}"))
            }
            Some((_, Outcome::Unknown | Outcome::Done { .. })) => None,
        }
    }

    /// Why nobody can have deleted an object; none if somebody did, or may have.
    pub(crate) fn objection_to_deletion(&self, key: &str, uid: &str) -> Option<String> {
        let entries = self.lock();
        let mut outcomes = entries.deletions.get(key).into_iter().flatten();
        let may_be = |outcome: &Outcome| match outcome {
            Outcome::Unknown => true,
            Outcome::Refused => false,
            Outcome::Done { uid: gone, .. } => gone == uid,
        };
        (!outcomes.any(may_be)).then(|| "nobody deleted that".into())
    }
}

impl Entries {
    fn settle(&mut self, number: u64, outcome: Outcome) {
        self.count(&outcome);
        if let Some((_, settled)) = self.writes.get_mut(&number) {
            *settled = outcome;
        }
    }

    fn count(&mut self, outcome: &Outcome) {
        let place = match outcome {
            Outcome::Done { .. } => 0,
            Outcome::Refused => 1,
            Outcome::Unknown => 2,
        };
        self.counts[place] += 1;
    }
}
