//! Objects with the same owners are alike: each is kept as what makes it differ from one of them.
//!
//! The pods of a ReplicaSet differ in names, addresses and times. So the body of one of them, the family's base, serves
//! all others as a dictionary of their own.

use super::coding::{Base, Coding, Compressor};
use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    mem,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use zstd_safe::CCtx;

/// Up to this size, base and object together, zstd remembers enough places of the base in its smallest table.
const SMALL: usize = 48 << 10;
/// Up to this size in the table of level 2.
const MEDIUM: usize = 128 << 10;
/// A larger body has no family: to go over the base would cost more than it saves.
const LARGE: usize = 128 << 10;
/// How many owners of a single object are remembered. Lists come in the order of names, so that siblings follow each other.
const SINGLES: usize = 256;
/// So much smaller than the base an object has to become, to be kept by it.
const ALIKE: usize = 2;
/// A base has at most so many times the size of an object that is kept by it: the object may be all that is left of the family.
const MUCH_LARGER: usize = 4;
/// After so many objects in a row that are unlike the base, the next such one takes its place.
const ANOTHER_BASE: u8 = 2;
/// After so many, its objects are no longer compared.
const HOPELESS: u8 = 8;
/// Families are swept after so many objects, or as many as there are families.
const OFTEN: usize = 256;
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
    /// The bases of families are swept when so many objects have come.
    sweep_in: usize,
    /// They are swept earlier when all bases take so many bytes.
    sweep_at: u64,
    /// The bytes of all bases that somebody holds, as they are kept.
    bases: Arc<AtomicU64>,
    /// The size of the bases that are at hand.
    at_hand: usize,
    /// Grows each time bases are put away.
    round: u32,
}

struct Family {
    /// None if the objects are not alike: then they are no longer compared.
    base: Option<Arc<Base>>,
    /// The base as it was, if it is at hand.
    body: Option<Box<[u8]>>,
    /// The round in which the base was last used.
    used: u32,
    /// How many objects in a row were unlike the base.
    misses: u8,
    /// Whether an object has come since the last sweep.
    active: bool,
}

impl Families {
    /// How many there are, and how many bytes their bases take.
    pub(super) fn size(&self) -> (usize, u64) {
        let bases = self.bases.load(Ordering::Relaxed);
        (self.families.len(), bases + self.at_hand as u64)
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
        self.sweep();
        let name = self.hashes.hash_one(owners);
        if !self.families.contains_key(&name) {
            let single = &mut self.singles[name as usize % SINGLES];
            if mem::replace(single, name) != name {
                return None;
            }
            let base = base(body, dictionary, &self.bases, out);
            self.families.insert(name, Family::new(base, self.round));
        }
        let family = self.families.get_mut(&name)?;
        family.active = true;
        family.used = self.round;
        self.at_hand += family.take_out();
        let like = write_like(family, &mut self.context, body, out);
        family.misses = if like.is_some() {
            0
        } else {
            family.misses.saturating_add(1)
        };
        let coding = like.or_else(|| {
            if family.base.is_none() || !family.misses.is_multiple_of(ANOTHER_BASE) {
                return None;
            }
            self.at_hand -= family.put_away();
            family.base = Some(base(body, dictionary, &self.bases, out));
            self.at_hand += family.take_out();
            write_like(family, &mut self.context, body, out)
        });
        if family.misses >= HOPELESS {
            self.at_hand -= family.put_away();
            family.base = None;
        }
        self.put_away(collection);
        coding
    }

    /// Forgets families whose base nobody is kept by, and those without one to which nothing has come lately, if it is
    /// time to.
    fn sweep(&mut self) {
        let bases = |bases: &AtomicU64| bases.load(Ordering::Relaxed);
        self.sweep_in = self.sweep_in.saturating_sub(1);
        if self.sweep_in > 0 && bases(&self.bases) < self.sweep_at {
            return;
        }
        let at_hand = &mut self.at_hand;
        self.families.retain(|_, family| {
            let active = mem::take(&mut family.active);
            let stays = family
                .base
                .as_ref()
                .map_or(active, |base| Arc::strong_count(base) > 1);
            if !stays {
                *at_hand -= family.put_away();
            }
            stays
        });
        self.sweep_in = OFTEN.max(self.families.len());
        self.sweep_at = AT_HAND.max(2 * bases(&self.bases));
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
    fn new(base: Arc<Base>, round: u32) -> Self {
        Self {
            base: Some(base),
            body: None,
            used: round,
            misses: 0,
            active: true,
        }
    }

    /// Has the base at hand, and gives its size if it was not.
    fn take_out(&mut self) -> usize {
        match (&self.base, &self.body) {
            (Some(base), None) => self.body.insert(base.body().into()).len(),
            _ => 0,
        }
    }

    /// No longer has the base at hand, and gives its size if it was.
    fn put_away(&mut self) -> usize {
        self.body.take().map_or(0, |body| body.len())
    }
}

/// A body that others are to be kept by.
fn base(body: &[u8], dictionary: &mut Compressor, bases: &Arc<AtomicU64>, out: &mut Vec<u8>) -> Arc<Base> {
    let coding = dictionary.write(body, out);
    Arc::new(Base::new(coding, out, body.len(), bases.clone()))
}

/// The fastest level that remembers places all over a base; `size` is that of base and object together.
///
/// Negative levels also spare each object tables of its own; what differs are names and numbers, which such tables
/// hardly shrink.
fn level(size: usize) -> i32 {
    if size <= SMALL {
        -1
    } else if size <= MEDIUM {
        2
    } else {
        3
    }
}

/// Writes what makes a body differ from the base, if it is little.
fn write_like(
    family: &Family,
    context: &mut CCtx<'static>,
    body: &[u8],
    out: &mut Vec<u8>,
) -> Option<Coding> {
    let (base, base_body) = (family.base.as_ref()?, family.body.as_deref()?);
    if base_body.len() > MUCH_LARGER * body.len() {
        return None;
    }
    out.clear();
    out.reserve(zstd_safe::compress_bound(body.len()));
    let level = level(base_body.len() + body.len());
    let size = context.compress_using_dict(out, body, base_body, level).ok()?;
    (size * ALIKE <= base.kept()).then(|| Coding::Like(base.clone()))
}

impl Default for Families {
    fn default() -> Self {
        Self {
            context: CCtx::create(),
            hashes: RandomState::new(),
            singles: vec![0; SINGLES].into(),
            families: HashMap::new(),
            sweep_in: OFTEN,
            sweep_at: AT_HAND,
            bases: Arc::default(),
            at_hand: 0,
            round: 0,
        }
    }
}
