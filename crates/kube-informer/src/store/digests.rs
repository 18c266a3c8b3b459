//! The digests of the labels of all objects, by slot.
//!
//! They lie side by side: a list by label reads eight of them in one cache line, and the rows only of what passed.

use super::sparse::SparseArray;
use crate::selector::{LabelDigest, LabelPrefilter, RUN};
use std::sync::Arc;

/// How many runs of digests, which are asked at once, lie in a block. A block is large, because finding one costs a cache miss that the
/// processor cannot foresee, and a change copies it, unless it is not shared.
const RUNS: usize = 8;

/// A persistent array: a clone is O(1), and a change copies one block and the path to it, unless they are not shared.
#[derive(Debug, Clone, Default)]
pub(crate) struct Digests {
    blocks: SparseArray<Arc<[[LabelDigest; RUN]; RUNS]>>,
}

/// The block, the run in it, and the digest in that.
fn place(slot: u32) -> (u32, usize, usize) {
    let at = slot as usize;
    (slot / (RUN * RUNS) as u32, at / RUN % RUNS, at % RUN)
}

impl Digests {
    /// The digest of the object in a slot; of any object that was there, if there is none.
    pub(crate) fn get(&self, slot: u32) -> LabelDigest {
        let (number, run, at) = place(slot);
        self.blocks
            .get(number)
            .map_or(LabelDigest::NO_LABELS, |block| block[run][at])
    }

    /// Sets the digest of the object in a slot.
    pub(crate) fn set(&mut self, slot: u32, digest: LabelDigest) {
        let (number, run, at) = place(slot);
        match self.blocks.get(number) {
            Some(block) if block[run][at] == digest => {}
            Some(_) => {
                if let Some(block) = self.blocks.get_mut(number) {
                    Arc::make_mut(block)[run][at] = digest;
                }
            }
            // Also for an object without labels: others are not looked at.
            None => {
                let mut block = [[LabelDigest::NO_LABELS; RUN]; RUNS];
                block[run][at] = digest;
                self.blocks.insert(number, Arc::new(block));
            }
        }
    }

    /// Calls `each` with the slots whose digests pass, in order. There may be no object in them.
    pub(crate) fn for_each_passing(&self, prefilter: &LabelPrefilter, mut each: impl FnMut(u32)) {
        for (number, block) in self.blocks.iter() {
            let mut start = number * (RUN * RUNS) as u32;
            for run in block.iter() {
                let mut passing = prefilter.passing(run);
                while passing != 0 {
                    each(start + passing.trailing_zeros());
                    passing &= passing - 1;
                }
                start += RUN as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selector::LabelSelector;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn digest(value: u8) -> LabelDigest {
        let mut digest = LabelDigest::NO_LABELS;
        if value > 0 {
            digest.add("app", &value.to_string());
        }
        digest
    }

    proptest! {
        #[test]
        fn behaves_as_a_map_and_clones_do_not_change(sets in prop::collection::vec((0..1500_u32, 0..4_u8), 0..200)) {
            let (mut digests, mut model) = (Digests::default(), BTreeMap::new());
            let mut copies = Vec::new();
            for (step, (slot, value)) in sets.into_iter().enumerate() {
                if step % 16 == 0 {
                    copies.push((digests.clone(), model.clone()));
                }
                digests.set(slot, digest(value));
                model.insert(slot, digest(value));
            }
            copies.push((digests, model));
            for selector in ["app=1", "app in (1,2)", "app=1,app=2", "app!=1"] {
                let prefilter = LabelPrefilter::new(&LabelSelector::parse(selector).unwrap());
                for (digests, model) in &copies {
                    let mut passing = Vec::new();
                    digests.for_each_passing(&prefilter, |slot| passing.push(slot));
                    prop_assert!(passing.is_sorted());
                    for (slot, digest) in model {
                        prop_assert_eq!(digests.get(*slot), *digest);
                        let passes = passing.binary_search(slot).is_ok();
                        prop_assert_eq!(passes, prefilter.passes(*digest));
                    }
                }
            }
        }
    }
}
