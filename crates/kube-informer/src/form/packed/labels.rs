//! Sets of labels, shared by the objects that have the same.

use super::{prefixed, write_prefixed};
use crate::wire::RawObject;
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// The labels of an object: name and value of each, with their lengths before them. No name is there twice.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Labels(Option<Arc<[u8]>>);

impl Labels {
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut rest = self.0.as_deref().unwrap_or_default();
        std::iter::from_fn(move || Some((text(&mut rest)?, text(&mut rest)?)))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

fn text<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let (text, behind) = prefixed(rest)?;
    *rest = behind;
    // They were texts when they were put here.
    std::str::from_utf8(text).ok()
}

/// The sets of labels that objects have; those that no object has any more go when there are many.
#[derive(Debug, Default)]
pub(super) struct LabelSets {
    sets: HashSet<Arc<[u8]>>,
    buffer: Vec<u8>,
    /// The number of sets at which the next sweep is due.
    sweep_at: usize,
}

/// Fewer sets than this are never swept.
const FEW: usize = 256;

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

    /// Writes labels over what the buffer holds.
    fn write<'r>(&mut self, labels: impl Iterator<Item = (Cow<'r, str>, Cow<'r, str>)>) {
        self.buffer.clear();
        for (name, value) in labels {
            write_prefixed(&mut self.buffer, name.as_bytes());
            write_prefixed(&mut self.buffer, value.as_bytes());
        }
    }

    /// The set that the buffer holds.
    fn get_or_insert(&mut self) -> Arc<[u8]> {
        if let Some(set) = self.sets.get(&*self.buffer) {
            return set.clone();
        }
        if self.sets.len() >= self.sweep_at.max(FEW) {
            self.sets.retain(|set| Arc::strong_count(set) > 1);
            self.sweep_at = 2 * self.sets.len();
        }
        let set: Arc<[u8]> = self.buffer.as_slice().into();
        self.sets.insert(set.clone());
        set
    }

    /// How many sets there are.
    pub(super) fn len(&self) -> usize {
        self.sets.len()
    }
}
