//! Delta compression of objects with the same owners, which are similar.
//!
//! The pods of a ReplicaSet differ in names, addresses and times. They form a family: the body of one of them, the
//! family's base, is the compression dictionary of the others.

use super::coding::{Base, Coding, Compressor};
use lru::LruCache;
use std::{
    collections::HashMap,
    mem,
    num::NonZeroUsize,
    ptr,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
};
use xxhash_rust::xxh3::xxh3_64_with_seed;
use zstd_safe::{CCtx, CDict};

/// Up to this size of base and object together, zstd's smallest hash table covers enough of the base.
const SMALL: usize = 48 << 10;
const SMALL_LEVEL: i32 = -1;
/// Up to this size, the hash table of level 2 does.
const MEDIUM: usize = 128 << 10;
/// Larger bodies have no family, because indexing the base would cost more than it saves.
const LARGE: usize = 128 << 10;
/// The number of owners of a single object that are remembered, the latest. Lists are sorted by name, so siblings arrive
/// together.
const SINGLES: NonZeroUsize = NonZeroUsize::new(256).unwrap();
/// An object is stored as a delta if the delta is at most the base's stored size divided by this.
const MIN_SAVING: usize = 2;
/// The largest size of a base relative to its objects, because one object may be the only one left that keeps the
/// base alive.
const MAX_BASE_FACTOR: usize = 4;
/// After this many consecutive objects that are not similar to the base, the last of them becomes the base.
const MISSES_BEFORE_NEW_BASE: u8 = 2;
/// After this many, the family's objects are no longer compared.
const MAX_MISSES: u8 = 8;
/// A base is indexed for all that follow when this many of its objects have come in succession. The index costs what it saves
/// in four of them.
const MIN_RUN: u8 = 6;
/// The minimum number of objects between two removals of unused families; it grows with the number of families.
const MIN_SWEEP: usize = 256;
/// The bytes of uncompressed bases that may always be cached.
const MAX_CACHED: u64 = 256 << 10;
/// Above that, cached bases may take the collection's size divided by this.
const MAX_CACHED_PART: u64 = 4;

/// The families of a collection.
pub(super) struct Families {
    context: CCtx<'static>,
    run: Run,
    /// The seed of the hashes of owners, so that nobody can prepare two with the same hash.
    seed: u64,
    /// The hashes of the owners of single objects.
    singles: LruCache<u64, ()>,
    families: HashMap<u64, Family>,
    /// The number of objects until unused families are removed.
    sweep_in: usize,
    /// They are removed earlier when all bases take this many bytes.
    sweep_at: u64,
    /// The stored bytes of all bases in use.
    bases: Arc<AtomicU64>,
    /// The size of the cached uncompressed bases.
    cached: usize,
    /// Incremented each time unused bases are evicted.
    round: u32,
}

struct Family {
    /// `None` if the objects are not similar; then they are no longer compared.
    base: Option<Arc<Base>>,
    /// The uncompressed base, if it is cached.
    body: Option<Box<[u8]>>,
    /// The round in which the base was last used.
    used: u32,
    /// The number of consecutive objects that were not similar to the base.
    misses: u8,
    /// Whether an object has been added since the last sweep.
    active: bool,
}

/// The objects that came last, one after the other, and have the same base. A list is sorted by name, so siblings come in
/// succession.
#[derive(Default)]
struct Run {
    base: Weak<Base>,
    /// The number of objects, up to [`MIN_RUN`].
    objects: u8,
    /// The indexed base, once there are enough objects.
    index: Option<CDict<'static>>,
}

impl Families {
    /// The number of families, and the bytes of their bases.
    pub(super) fn size(&self) -> (usize, u64) {
        let bases = self.bases.load(Ordering::Relaxed);
        let index = self.run.index.as_ref().map_or(0, CDict::sizeof);
        (self.families.len(), bases + (self.cached + index) as u64)
    }

    /// The stored bytes of all bases, to which a restored base adds its own.
    pub(super) fn all_bases(&self) -> Arc<AtomicU64> {
        self.bases.clone()
    }

    /// The seed of the families' names, and each family that has a base with its name.
    pub(super) fn saved(&self) -> (u64, Vec<(u64, Arc<Base>)>) {
        let families = self.families.iter();
        let families = families.filter_map(|(name, family)| Some((*name, family.base.clone()?)));
        (self.seed, families.collect())
    }

    /// Goes on with families that were saved.
    pub(super) fn restore(&mut self, seed: u64, families: Vec<(u64, Arc<Base>)>) {
        self.seed = seed;
        // The bodies that are cached go with their families.
        self.cached = 0;
        let round = self.round;
        let families = families.into_iter();
        self.families = families
            .map(|(name, base)| (name, Family::new(base, round)))
            .collect();
        self.sweep_in = MIN_SWEEP.max(self.families.len());
        self.sweep_at = MAX_CACHED.max(2 * self.bases.load(Ordering::Relaxed));
    }

    /// Writes the body of an object with these owners into `out` as a delta, replacing its content. Returns `None` if
    /// it has no similar base. `collection` is the size of the collection in bytes.
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
        let name = xxh3_64_with_seed(owners, self.seed);
        if !self.families.contains_key(&name) {
            if self.singles.pop(&name).is_none() {
                self.singles.push(name, ());
                return None;
            }
            let base = base(body, dictionary, &self.bases, out);
            self.families.insert(name, Family::new(base, self.round));
        }
        let family = self.families.get_mut(&name)?;
        family.active = true;
        family.used = self.round;
        self.cached += family.cache_body();
        let delta = family.write_delta(&mut self.context, &mut self.run, body, out);
        family.misses = if delta.is_some() {
            0
        } else {
            family.misses.saturating_add(1)
        };
        let coding = delta.or_else(|| {
            if family.base.is_none() || !family.misses.is_multiple_of(MISSES_BEFORE_NEW_BASE) {
                return None;
            }
            self.cached -= family.evict_body();
            family.base = Some(base(body, dictionary, &self.bases, out));
            self.cached += family.cache_body();
            family.write_delta(&mut self.context, &mut self.run, body, out)
        });
        if family.misses >= MAX_MISSES {
            self.cached -= family.evict_body();
            family.base = None;
        }
        self.evict_unused(collection);
        coding
    }

    /// Removes families whose base is unused, and families without a base that have received no object since the last
    /// sweep, if a sweep is due.
    fn sweep(&mut self) {
        let bases = |bases: &AtomicU64| bases.load(Ordering::Relaxed);
        self.sweep_in = self.sweep_in.saturating_sub(1);
        if self.sweep_in > 0 && bases(&self.bases) < self.sweep_at {
            return;
        }
        if self.run.base.strong_count() == 0 {
            self.run = Run::default();
        }
        let cached = &mut self.cached;
        self.families.retain(|_, family| {
            let active = mem::take(&mut family.active);
            let stays = family
                .base
                .as_ref()
                .map_or(active, |base| Arc::strong_count(base) > 1);
            if !stays {
                *cached -= family.evict_body();
            }
            stays
        });
        self.sweep_in = MIN_SWEEP.max(self.families.len());
        self.sweep_at = MAX_CACHED.max(2 * bases(&self.bases));
    }

    /// Evicts uncompressed bases that have not been used recently, if too many are cached.
    fn evict_unused(&mut self, collection: u64) {
        if self.cached as u64 <= MAX_CACHED.max(collection / MAX_CACHED_PART) {
            return;
        }
        for family in self.families.values_mut() {
            if family.used < self.round {
                self.cached -= family.evict_body();
            }
        }
        self.round += 1;
    }
}

impl Run {
    /// Adds an object with this base, and returns the indexed base if there is one.
    fn index(&mut self, base: &Arc<Base>, body: &[u8]) -> Option<&CDict<'static>> {
        // The address is not that of another base: this one's memory is not freed while there is a `Weak`.
        if !ptr::eq(self.base.as_ptr(), Arc::as_ptr(base)) {
            *self = Self {
                base: Arc::downgrade(base),
                objects: 0,
                index: None,
            };
        }
        self.objects = MIN_RUN.min(self.objects + 1);
        if self.objects == MIN_RUN && self.index.is_none() {
            self.index = CDict::try_create(body, SMALL_LEVEL);
        }
        self.index.as_ref()
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

    /// Caches the uncompressed base. Returns its size if it was not cached.
    fn cache_body(&mut self) -> usize {
        match (&self.base, &self.body) {
            (Some(base), None) => self.body.insert(base.body().into()).len(),
            _ => 0,
        }
    }

    /// Writes a body as a delta to the base, if the delta is small.
    fn write_delta(
        &self,
        context: &mut CCtx<'static>,
        run: &mut Run,
        body: &[u8],
        out: &mut Vec<u8>,
    ) -> Option<Coding> {
        let (base, base_body) = (self.base.as_ref()?, self.body.as_deref()?);
        if base_body.len() > MAX_BASE_FACTOR * body.len() {
            return None;
        }
        out.clear();
        out.reserve(zstd_safe::compress_bound(body.len()));
        let level = level(base_body.len() + body.len());
        let index = if level == SMALL_LEVEL {
            run.index(base, base_body)
        } else {
            None
        };
        let written = match index {
            Some(index) => context.compress_using_cdict(out, body, index),
            None => context.compress_using_dict(out, body, base_body, level),
        };
        let size = written.ok()?;
        (size * MIN_SAVING <= base.stored_size()).then(|| Coding::Delta(base.clone()))
    }

    /// Evicts the uncompressed base. Returns its size if it was cached.
    fn evict_body(&mut self) -> usize {
        self.body.take().map_or(0, |body| body.len())
    }
}

/// Creates a base from a body.
fn base(body: &[u8], dictionary: &mut Compressor, bases: &Arc<AtomicU64>, out: &mut Vec<u8>) -> Arc<Base> {
    let coding = dictionary.write(body, out);
    Arc::new(Base::new(coding, out, body.len(), bases.clone()))
}

/// The fastest level whose hash table covers the whole base; `size` is that of base and object together.
///
/// Negative levels also omit an object's entropy tables, which hardly compress the differing names and numbers.
fn level(size: usize) -> i32 {
    if size <= SMALL {
        SMALL_LEVEL
    } else if size <= MEDIUM {
        2
    } else {
        3
    }
}

impl Default for Families {
    fn default() -> Self {
        Self {
            context: CCtx::create(),
            run: Run::default(),
            seed: rand::random(),
            singles: LruCache::new(SINGLES),
            families: HashMap::new(),
            sweep_in: MIN_SWEEP,
            sweep_at: MAX_CACHED,
            bases: Arc::default(),
            cached: 0,
            round: 0,
        }
    }
}
