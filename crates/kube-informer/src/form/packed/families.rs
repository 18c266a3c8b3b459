//! Objects with the same owners are alike: each is kept as what makes it differ from one of them.
//!
//! The pods of a ReplicaSet differ in names, addresses and times. So the body of one of them, the family's base, serves
//! all others as a dictionary of their own.

use super::coding::{Base, Coding, Compressor};
use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    mem,
    sync::Arc,
};
use zstd_safe::CCtx;

/// Negative levels spare each object tables of its own; what differs are names and numbers, which such tables hardly shrink.
const LEVEL: i32 = -1;
/// A larger body has no family: to go over the base would cost more than it saves.
const LARGE: usize = 128 << 10;
/// How many owners of a single object are remembered. Lists come in the order of names, so that siblings follow each other.
const SINGLES: usize = 256;
/// So much smaller than the base an object has to be, to be kept by it.
const ALIKE: usize = 2;
/// After so many objects in a row that are unlike the base, the next such one takes its place.
const ANOTHER_BASE: u8 = 2;
/// After so many, its objects are no longer compared.
const HOPELESS: u8 = 8;
/// Fewer families than this are never swept.
const FEW: usize = 256;
/// Bases may take so many bytes uncompressed, whatever the collection takes.
const AT_HAND: u64 = 256 << 10;
/// They may take this part of what the collection takes.
const AT_HAND_PART: u64 = 4;

/// The families of a collection.
pub(super) struct Families {
    context: CCtx<'static>,
    hashes: RandomState,
    /// The owners of single objects, each in the place that its hash gives.
    singles: Box<[u64]>,
    families: HashMap<u64, Family>,
    /// The number of families at which the next sweep is due.
    sweep_at: usize,
    /// The size of the bases that are at hand.
    at_hand: usize,
    /// Grows each time bases are put away.
    round: u32,
}

struct Family {
    base: Arc<Base>,
    /// The base as it was, if it is at hand.
    body: Option<Box<[u8]>>,
    /// The round in which the base was last used.
    used: u32,
    /// How many objects in a row were unlike the base.
    misses: u8,
}

impl Families {
    /// How many there are, and how many bytes their bases take.
    pub(super) fn size(&self) -> (usize, usize) {
        let kept: usize = self.families.values().map(|family| family.base.kept()).sum();
        (self.families.len(), kept + self.at_hand)
    }

    /// Writes the body of an object with these owners over what `out` holds, if there are others that it is like.
    /// `collection` is how many bytes the collection takes.
    pub(super) fn write(
        &mut self,
        owners: &[u8],
        body: &[u8],
        dictionary: &mut Compressor,
        collection: u64,
        out: &mut Vec<u8>,
    ) -> Option<Coding> {
        if body.len() > LARGE {
            return None;
        }
        let name = self.hashes.hash_one(owners);
        if !self.families.contains_key(&name) {
            let single = &mut self.singles[name as usize % SINGLES];
            if mem::replace(single, name) != name {
                return None;
            }
            self.found(name, body, base(body, dictionary, out));
        }
        let family = self.families.get_mut(&name)?;
        if family.misses >= HOPELESS {
            return None;
        }
        family.used = self.round;
        if family.body.is_none() {
            self.at_hand += family.take_out();
        }
        let like = write_like(family, &mut self.context, body, out);
        family.misses = if like.is_some() { 0 } else { family.misses + 1 };
        let coding = like.or_else(|| {
            if !family.misses.is_multiple_of(ANOTHER_BASE) {
                return None;
            }
            self.at_hand -= family.put_away();
            family.base = base(body, dictionary, out);
            self.at_hand += family.take_out();
            write_like(family, &mut self.context, body, out)
        });
        if family.misses >= HOPELESS {
            self.at_hand -= family.put_away();
        }
        self.put_away(collection);
        coding
    }

    /// A new family with this base.
    fn found(&mut self, name: u64, body: &[u8], base: Arc<Base>) {
        if self.families.len() >= self.sweep_at.max(FEW) {
            let at_hand = &mut self.at_hand;
            self.families.retain(|_, family| {
                let used = Arc::strong_count(&family.base) > 1;
                if !used {
                    *at_hand -= family.put_away();
                }
                used
            });
            self.sweep_at = 2 * self.families.len();
        }
        self.at_hand += body.len();
        let family = Family {
            base,
            body: Some(body.into()),
            used: self.round,
            misses: 0,
        };
        self.families.insert(name, family);
    }

    /// Puts away bases that have not been used for a while, if too many are at hand.
    fn put_away(&mut self, collection: u64) {
        if self.at_hand as u64 <= AT_HAND.max(collection / AT_HAND_PART) {
            return;
        }
        for family in self.families.values_mut() {
            if family.used < self.round {
                self.at_hand -= family.put_away();
            }
        }
        self.round += 1;
    }
}

impl Family {
    /// Has the base at hand, and gives its size.
    fn take_out(&mut self) -> usize {
        self.body.insert(self.base.body().into()).len()
    }

    /// No longer has the base at hand, and gives its size.
    fn put_away(&mut self) -> usize {
        self.body.take().map_or(0, |body| body.len())
    }
}

/// A body that others are to be kept by.
fn base(body: &[u8], dictionary: &mut Compressor, out: &mut Vec<u8>) -> Arc<Base> {
    let coding = dictionary.write(body, out);
    Arc::new(Base::new(coding, out, body.len()))
}

/// Writes what makes a body differ from the base, if it is little.
fn write_like(
    family: &Family,
    context: &mut CCtx<'static>,
    body: &[u8],
    out: &mut Vec<u8>,
) -> Option<Coding> {
    let base = family.body.as_deref()?;
    out.clear();
    out.reserve(zstd_safe::compress_bound(body.len()));
    let size = context.compress_using_dict(out, body, base, LEVEL).ok()?;
    if size * ALIKE > family.base.kept() {
        return None;
    }
    Some(Coding::Like(family.base.clone()))
}

impl Default for Families {
    fn default() -> Self {
        Self {
            context: CCtx::create(),
            hashes: RandomState::new(),
            singles: vec![0; SINGLES].into(),
            families: HashMap::new(),
            sweep_at: 0,
            at_hand: 0,
            round: 0,
        }
    }
}
