//! What a handler was told, and whether that is a history that can have been.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use crate::record::{Record, State};
use crate::writers::PREFIX;

/// One notification. The state is the new one, or the last one known of what is gone.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub(crate) key: String,
    pub(crate) change: Change,
    pub(crate) state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Add,
    /// From this version on.
    Update(u64),
    Delete,
}

/// How a history differs from what handlers should be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Flaw {
    /// The same version again.
    Repeated,
    /// An object and another one that took its name are told of as one.
    Mixed,
    /// The end of what the handler was never told of, or was told the end of before.
    Unheard,
    /// Whatever nobody should ever be told.
    Wrong,
}

/// What a handler is told, in order; of the writers' objects alone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<Told>>>);

impl Log {
    pub(crate) fn push(&self, told: Told) {
        let written = told
            .key
            .split_once('/')
            .is_some_and(|(_, name)| name.starts_with(PREFIX));
        if written {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(told);
        }
    }

    pub(crate) fn told(&self) -> Vec<Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The objects that there are, by key: their uids and versions.
pub(crate) type KnownObjects = BTreeMap<String, (String, u64)>;

/// What somebody knows who was told this.
pub(crate) fn known(told: &[Told]) -> KnownObjects {
    let mut known = KnownObjects::new();
    for Told { key, change, state } in told {
        match change {
            Change::Delete => known.remove(key),
            _ => known.insert(key.clone(), (state.uid.clone(), state.version)),
        };
    }
    known
}

/// Holds a history against what was written; what is wrong with it, in words.
pub(crate) fn flaws(told: &[Told], record: &Record) -> Vec<(Flaw, String)> {
    let mut judge = Judge {
        record,
        held: HashMap::new(),
        newest: HashMap::new(),
    };
    let flaw = |told: &Told| {
        let (flaw, why) = judge.hear(told).err()?;
        Some((flaw, format!("{why}: {told:?}")))
    };
    told.iter().filter_map(flaw).collect()
}

struct Judge<'a> {
    record: &'a Record,
    held: HashMap<String, State>,
    /// The newest version told of each key, also of what is gone.
    newest: HashMap<String, u64>,
}

fn check(condition: bool, flaw: Flaw, why: &str) -> Result<(), (Flaw, String)> {
    if condition {
        Ok(())
    } else {
        Err((flaw, why.to_owned()))
    }
}

impl Judge<'_> {
    fn hear(&mut self, told: &Told) -> Result<(), (Flaw, String)> {
        let Told { key, change, state } = told;
        let newest = self.newest.insert(key.clone(), state.version).unwrap_or(0);
        let held = match change {
            Change::Delete => self.held.remove(key),
            _ => self.held.insert(key.clone(), state.clone()),
        };
        match change {
            Change::Delete => self.deleted(key, state, held),
            Change::Add => {
                self.written(key, state)?;
                check(held.is_none(), Flaw::Wrong, "it was there already")?;
                check(state.version > newest, Flaw::Wrong, "newer was told before")
            }
            Change::Update(old) => {
                self.written(key, state)?;
                let Some(held) = held else {
                    return Err((Flaw::Wrong, "it was not there".into()));
                };
                check(held.version == *old, Flaw::Wrong, "not from what was told before")?;
                check(held.uid == state.uid, Flaw::Mixed, "another object")?;
                check(state.version != newest, Flaw::Repeated, "told before")?;
                check(state.version > newest, Flaw::Wrong, "newer was told before")
            }
        }
    }

    fn deleted(&self, key: &str, state: &State, held: Option<State>) -> Result<(), (Flaw, String)> {
        let Some(held) = held else {
            return Err((Flaw::Unheard, "it was not there".into()));
        };
        check(held.uid == state.uid, Flaw::Mixed, "another object")?;
        check(
            state.version >= held.version,
            Flaw::Wrong,
            "newer was told before",
        )?;
        match self.record.objection_to_deletion(key, &state.uid) {
            None => Ok(()),
            Some(why) => Err((Flaw::Wrong, why)),
        }
    }

    fn written(&self, key: &str, state: &State) -> Result<(), (Flaw, String)> {
        match self.record.objection(key, state) {
            None => Ok(()),
            Some(why) => Err((Flaw::Wrong, why)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `+1` adds what the write 1 made, at version 10; `*2` updates to 2; `-2` deletes. Each object has its letter.
    fn told(texts: &str) -> Vec<Told> {
        let mut last = 0;
        let one = |text: &str| {
            let write: u64 = text[1..2].parse().unwrap();
            let change = match &text[..1] {
                "+" => Change::Add,
                "*" => Change::Update(last),
                _ => Change::Delete,
            };
            last = write * 10;
            let uid = text.get(2..).unwrap_or("").to_owned();
            let (key, version) = (format!("ns/{PREFIX}1"), write * 10);
            let state = State { uid, version, write };
            Told { key, change, state }
        };
        texts.split_whitespace().map(one).collect()
    }

    #[test]
    fn each_flaw_is_found() {
        let record = Record::default();
        let key = format!("ns/{PREFIX}1");
        for (number, uid) in [(1, "a"), (2, "a"), (3, "a"), (4, "b"), (5, "b")] {
            assert_eq!(record.tries_to_write(&key), number);
            record.wrote(number, uid, number * 10);
        }
        record.tries_to_write(&key);
        record.refused(6);
        record.tries_to_write("ns/other");
        record.deleted(&key, Some("a"));
        let found = |texts: &str| -> Vec<Flaw> {
            flaws(&told(texts), &record)
                .into_iter()
                .map(|(flaw, _)| flaw)
                .collect()
        };
        for legal in ["", "+1a *2a *3a", "+2a -2a +4b *5b", "+1a -3a +5b", "+3a -3a"] {
            assert_eq!(found(legal), [], "{legal}");
        }
        assert_eq!(found("+1a *1a"), [Flaw::Repeated]);
        assert_eq!(found("+1a *4b"), [Flaw::Mixed]);
        assert_eq!(found("-1a"), [Flaw::Unheard]);
        for (wrong, why) in [
            ("+1a +2a", "twice there"),
            ("*1a", "changed before it was there"),
            ("+2a *1a", "back"),
            ("+3a -3a +2a", "back after its end"),
            ("+3a -2a", "ended before it was last told of"),
            ("+1b", "another uid than the server said"),
            ("+6a", "refused"),
            ("+8a", "never tried"),
            ("+7a", "written to another object"),
            ("+4b -4b", "never deleted"),
        ] {
            assert_eq!(found(wrong), [Flaw::Wrong], "{why}");
        }
        let mut skips = told("+1a *3a");
        skips[1].change = Change::Update(20);
        assert_eq!(
            flaws(&skips, &record)[0].0,
            Flaw::Wrong,
            "old is not what was told before"
        );
    }
}
