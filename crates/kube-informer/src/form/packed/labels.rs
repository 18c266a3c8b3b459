//! Sets of labels, shared by the objects that have the same.

use crate::wire::Raw;
use std::{collections::HashSet, sync::Arc};

/// The labels of an object: for each, the lengths of name and value, then both.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Labels(Option<Arc<[u8]>>);

impl Labels {
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut rest = self.0.as_deref().unwrap_or_default();
        std::iter::from_fn(move || Some((text(&mut rest)?, text(&mut rest)?)))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.iter()
            .filter(|(key, _)| *key == name)
            .map(|(_, value)| value)
            .last()
    }
}

fn text<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let (length, behind) = rest.split_first_chunk()?;
    let (text, behind) = behind.split_at_checked(u32::from_le_bytes(*length) as usize)?;
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
    pub(super) fn of(&mut self, raw: &Raw) -> Labels {
        self.buffer.clear();
        for (name, value) in raw.labels() {
            for text in [name, value] {
                // An object has at most 4 GiB.
                self.buffer.extend_from_slice(&(text.len() as u32).to_le_bytes());
                self.buffer.extend_from_slice(text.as_bytes());
            }
        }
        if self.buffer.is_empty() {
            return Labels(None);
        }
        if let Some(set) = self.sets.get(&*self.buffer) {
            return Labels(Some(set.clone()));
        }
        if self.sets.len() >= self.sweep_at.max(FEW) {
            self.sets.retain(|set| Arc::strong_count(set) > 1);
            self.sweep_at = 2 * self.sets.len();
        }
        let set: Arc<[u8]> = self.buffer.as_slice().into();
        self.sets.insert(set.clone());
        Labels(Some(set))
    }

    /// How many sets there are.
    pub(super) fn len(&self) -> usize {
        self.sets.len()
    }
}
