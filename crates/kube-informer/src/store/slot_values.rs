//! The index values of each object, kept by the writer of an index.

use std::collections::HashMap;

/// The values of one slot, each identified by its slot in the postings.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) enum SlotValues {
    #[default]
    Empty,
    One(u32),
    Many(Box<[u32]>),
}

impl SlotValues {
    pub(crate) fn as_slice(&self) -> &[u32] {
        match self {
            Self::Empty => &[],
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}

const EMPTY: u32 = u32::MAX;
const MANY: u32 = u32::MAX - 1;

/// The values of every slot. A slot with at most one value takes 4 bytes.
#[derive(Debug, Default)]
pub(crate) struct ValuesBySlot {
    one: Vec<u32>,
    many: HashMap<u32, Box<[u32]>>,
}

impl ValuesBySlot {
    /// The values of a slot that has at most one; `None` if it has more.
    pub(crate) fn single(&self, slot: u32) -> Option<SlotValues> {
        match self.one.get(slot as usize).copied().unwrap_or(EMPTY) {
            EMPTY => Some(SlotValues::Empty),
            MANY => None,
            value => Some(SlotValues::One(value)),
        }
    }

    /// Sets the values of a slot and returns the previous ones.
    pub(crate) fn replace(&mut self, slot: u32, new: SlotValues) -> SlotValues {
        let old = self
            .single(slot)
            .unwrap_or_else(|| SlotValues::Many(self.many.remove(&slot).unwrap_or_default()));
        let at = slot as usize;
        if self.one.len() <= at && new != SlotValues::Empty {
            self.one.resize(at + 1, EMPTY);
        }
        let code = match new {
            SlotValues::Empty => EMPTY,
            SlotValues::One(value) => value,
            SlotValues::Many(values) => {
                self.many.insert(slot, values);
                MANY
            }
        };
        if let Some(place) = self.one.get_mut(at) {
            *place = code;
        }
        old
    }
}
