//! Label sets, shared by the objects with equal labels.

use super::{prefixed, write_prefixed};
use crate::low_level::wire::RawObject;
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// The labels of an object: the name and value of each, both length-prefixed. Names are unique.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Labels(Option<Arc<[u8]>>);

impl Labels {
    /// The set as it is stored; `None` if it is empty.
    pub(super) fn stored(&self) -> Option<&Arc<[u8]>> {
        self.0.as_ref()
    }

    /// A set that was stored.
    pub(super) fn of_stored(stored: Option<Arc<[u8]>>) -> Self {
        Self(stored)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut rest = self.0.as_deref().unwrap_or_default();
        std::iter::from_fn(move || Some((read_string(&mut rest)?, read_string(&mut rest)?)))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

fn read_string<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let (string, remaining) = prefixed(rest)?;
    *rest = remaining;
    // The bytes were valid UTF-8 when they were written.
    std::str::from_utf8(string).ok()
}

/// The distinct label sets of a collection. Sets without objects are removed when there are many sets.
#[derive(Debug, Default)]
pub(super) struct LabelSets {
    sets: HashSet<Arc<[u8]>>,
    buffer: Vec<u8>,
    /// The number of sets that triggers the next removal of unused sets.
    sweep_at: usize,
}

/// The minimum of [`LabelSets::sweep_at`].
const MIN_SWEEP: usize = 256;

impl LabelSets {
    pub(super) fn of(&mut self, raw: &RawObject) -> Labels {
        self.write(raw.labels());
        if self.buffer.is_empty() {
            return Labels(None);
        }
        if let Some(set) = self.sets.get(&*self.buffer) {
            return Labels(Some(set.clone()));
        }
        let numbered = || raw.labels().zip(0..);
        let last: HashMap<_, u32> = numbered().map(|((name, _), number)| (name, number)).collect();
        if last.len() < raw.labels().count() {
            let labels = numbered().filter(|((name, _), number)| last[name] == *number);
            self.write(labels.map(|(label, _)| label));
        }
        Labels(Some(self.get_or_insert()))
    }

    /// Shares these sets, too.
    pub(super) fn restore(&mut self, sets: impl IntoIterator<Item = Arc<[u8]>>) {
        self.sets.extend(sets);
        self.sweep_at = 2 * self.sets.len();
    }

    /// Writes labels into the buffer, replacing its content.
    fn write<'r>(&mut self, labels: impl Iterator<Item = (Cow<'r, str>, Cow<'r, str>)>) {
        self.buffer.clear();
        for (name, value) in labels {
            write_prefixed(&mut self.buffer, name.as_bytes());
            write_prefixed(&mut self.buffer, value.as_bytes());
        }
    }

    /// The set in the buffer, shared with an equal one if there is one.
    fn get_or_insert(&mut self) -> Arc<[u8]> {
        if let Some(set) = self.sets.get(&*self.buffer) {
            return set.clone();
        }
        if self.sets.len() >= self.sweep_at.max(MIN_SWEEP) {
            self.sets.retain(|set| Arc::strong_count(set) > 1);
            self.sweep_at = 2 * self.sets.len();
        }
        let set: Arc<[u8]> = self.buffer.as_slice().into();
        self.sets.insert(set.clone());
        set
    }

    /// The number of sets.
    pub(super) fn len(&self) -> usize {
        self.sets.len()
    }
}
