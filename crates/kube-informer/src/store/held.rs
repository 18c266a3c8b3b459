//! What each object is indexed under, for the writer of an index.

use std::collections::HashMap;

/// The values of one slot, each by its number.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) enum Held {
    #[default]
    Nothing,
    One(u32),
    Many(Box<[u32]>),
}

impl Held {
    pub(crate) fn as_slice(&self) -> &[u32] {
        match self {
            Self::Nothing => &[],
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}

const NOTHING: u32 = u32::MAX;
const MANY: u32 = u32::MAX - 1;

/// The values of every slot: 4 bytes each, as long as there is one at most.
#[derive(Debug, Default)]
pub(crate) struct HeldBySlot {
    one: Vec<u32>,
    many: HashMap<u32, Box<[u32]>>,
}

impl HeldBySlot {
    /// The values of a slot that has one at most.
    pub(crate) fn single(&self, slot: u32) -> Option<Held> {
        match self.one.get(slot as usize).copied().unwrap_or(NOTHING) {
            NOTHING => Some(Held::Nothing),
            MANY => None,
            value => Some(Held::One(value)),
        }
    }

    /// Sets the values of a slot and gives the old ones.
    pub(crate) fn replace(&mut self, slot: u32, new: Held) -> Held {
        let old = self
            .single(slot)
            .unwrap_or_else(|| Held::Many(self.many.remove(&slot).unwrap_or_default()));
        let at = slot as usize;
        if self.one.len() <= at && new != Held::Nothing {
            self.one.resize(at + 1, NOTHING);
        }
        let code = match new {
            Held::Nothing => NOTHING,
            Held::One(value) => value,
            Held::Many(values) => {
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
