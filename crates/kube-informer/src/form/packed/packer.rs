//! The decoder that packs the objects of one collection.

use super::{
    Header, Packed, UID_ELSEWHERE,
    ahead::Ahead,
    coding::{Coding, Compressor, VALIDATION_SAMPLES},
    decoded::{DECODED_CACHE, DecodedObjects},
    families::Families,
    labels::LabelSets,
    write_prefixed,
};
use crate::field_path::FieldPath;
use crate::form::{self, DecodeError, DecoderConfig};
use crate::low_level::wire::{Encoding, FieldPlan, RawObject};
use crate::object::ObjectKey;
use std::{
    borrow::Cow,
    fmt, mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};
use triomphe::ThinArc;

/// The number of objects of which a dictionary is made.
const SAMPLES: usize = 64;
/// A dictionary is trained once this many objects have arrived that no family took. Training takes as much time as it saves in
/// 5,000 of them, and 10 MiB, of which an allocator may keep 6: too much for a small collection that seldom changes.
const TRAINED: u64 = 4096;
/// The most bytes of an object that are used as a sample.
const SAMPLE_SIZE: usize = 32 << 10;
/// Objects of at least this size are compressed even without a dictionary.
const LARGE: usize = 16 << 10;
/// The number of objects after which a dictionary's compression ratio is evaluated.
const PERIOD: u64 = 1024;
/// A new dictionary is made when the ratio is this many times that of the best period.
const WORSE: f64 = 1.25;

/// Packs the objects of one collection; [`Packed`]'s decoder.
///
/// It makes the dictionary, shares label sets, and tracks which objects are currently decoded.
pub struct Packer<K> {
    pub(super) shared: Arc<Shared<K>>,
    state: Mutex<State>,
}

/// Statistics of a [`Packer`] and of the packed objects in memory.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kube_informer::form::{DecoderConfig, Decode, Packed};
///
/// let packer = Packed::<Pod>::decoder(DecoderConfig::default());
/// assert_eq!(packer.stats().objects, 0);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackerStats {
    /// The number of packed objects in memory.
    pub objects: u64,
    /// Their size as sent by the server, in bytes, without pruned parts and without their uids, which are stored beside.
    pub body_bytes: u64,
    /// The stored size of their bodies, in bytes.
    pub kept_bytes: u64,
    /// Their total size, in bytes, without keys, labels, dictionaries and families.
    pub total_bytes: u64,
    /// The number of dictionaries made so far.
    pub dictionaries: u64,
    /// The size of the latest dictionary, in bytes.
    pub dictionary_bytes: u64,
    /// The number of families. A family is a group of objects with the same owners, stored as deltas to one of them,
    /// the base.
    pub families: u64,
    /// Bytes used by family bases.
    pub family_bytes: u64,
    /// The number of distinct label sets.
    pub label_sets: u64,
}

/// State shared by the packed objects of a collection.
pub(super) struct Shared<K> {
    pub(super) config: DecoderConfig,
    /// The declared fields whose values are stored next to each object, with their numbers in the plan. A field that
    /// contains a pruned part is not among them; it is read from the body.
    pub(super) declared: Vec<(u16, FieldPath)>,
    pub(super) counters: Counters,
    pub(super) ahead: Ahead<K>,
    pub(super) decoded: DecodedObjects<K>,
}

/// Counters of the objects in memory: their number, and the bytes of their bodies, of their stored bodies and in
/// total.
#[derive(Default)]
pub(super) struct Counters {
    objects: AtomicU64,
    bodies: AtomicU64,
    kept: AtomicU64,
    all: AtomicU64,
}

pub(super) struct State {
    pub(super) compressor: Option<Compressor>,
    /// The samples for a new dictionary, if one is to be made.
    pub(super) samples: Option<Vec<Vec<u8>>>,
    /// Whether it was tried to train one.
    pub(super) trained: bool,
    /// The number of objects that have arrived and that no family took.
    alone: u64,
    ratio: RatioTracker,
    pub(super) families: Families,
    pub(super) labels: LabelSets,
    pub(super) dictionaries: u64,
    body: Vec<u8>,
    kept: Vec<u8>,
}

/// Tracks the compression ratio, to decide when to make a new dictionary.
struct RatioTracker {
    /// The number of objects of this period, their size, and their compressed size.
    objects: u64,
    before: u64,
    after: u64,
    /// The lowest compression ratio of a period.
    best: f64,
    /// The number of periods until another attempt, and the length of the last wait in periods.
    wait: u64,
    last_wait: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The fields of a plan that contain no pruned part, with their numbers.
fn declared(plan: &FieldPlan) -> Vec<(u16, FieldPath)> {
    let contains = |outer: &FieldPath, inner: &FieldPath| {
        let meet = |(a, b)| a == b || a == "*" || b == "*";
        outer.steps().len() < inner.steps().len() && outer.steps().zip(inner.steps()).all(meet)
    };
    let fields = (0..=u16::MAX).zip(plan.fields());
    fields
        .filter(|(_, field)| !plan.pruned().iter().any(|pruned| contains(field, pruned)))
        .map(|(number, field)| (number, field.clone()))
        .collect()
}

impl<K> Packer<K> {
    pub(super) fn new(config: DecoderConfig) -> Self {
        let limit = config.decoded_cache.unwrap_or(DECODED_CACHE);
        Self {
            shared: Arc::new(Shared {
                declared: declared(&config.plan),
                config,
                counters: Counters::default(),
                ahead: Ahead::default(),
                decoded: DecodedObjects::new(limit),
            }),
            state: Mutex::new(State {
                compressor: None,
                samples: Some(Vec::new()),
                trained: false,
                alone: 0,
                ratio: RatioTracker::default(),
                families: Families::default(),
                labels: LabelSets::default(),
                dictionaries: 0,
                body: Vec::new(),
                kept: Vec::new(),
            }),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Returns statistics of this packer and of its objects in memory.
    pub fn stats(&self) -> PackerStats {
        let state = lock(&self.state);
        let dictionary = state.compressor.as_ref().map(Compressor::coding);
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counters = &self.shared.counters;
        let (families, family_bytes) = state.families.size();
        PackerStats {
            objects: read(&counters.objects),
            body_bytes: read(&counters.bodies),
            kept_bytes: read(&counters.kept),
            total_bytes: counters.total::<K>(),
            dictionaries: state.dictionaries,
            dictionary_bytes: match dictionary {
                Some(Coding::Dictionary(dictionary)) => dictionary.bytes.len() as u64,
                _ => 0,
            },
            families: families as u64,
            family_bytes,
            label_sets: state.labels.len() as u64,
        }
    }

    #[cfg(test)]
    pub(super) fn plan(&self) -> crate::FieldPlan {
        self.shared.config.plan.clone()
    }

    pub(super) fn pack(&self, key: &ObjectKey, raw: &RawObject) -> Result<Packed<K>, DecodeError> {
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        let place = raw.write_body_without_uid(&mut state.body);
        let place = place.map_or(UID_ELSEWHERE, |place| place as u32);
        let coding = state.compress(raw.owner_references(), self.shared.counters.total::<K>());
        let (size, kept) = (state.body.len() as u32, state.kept.len() as u32);
        state.kept.extend_from_slice(&place.to_le_bytes());
        write_prefixed(&mut state.kept, raw.uid().unwrap_or_default().as_bytes());
        self.write_fields(raw, &mut state.kept);
        let all = state.kept.len() as u32;
        let header = Header {
            key: key.clone(),
            shared: self.shared.clone(),
            coding,
            version: raw.resource_version(),
            labels: state.labels.of(raw),
            fingerprint: raw.fingerprint(),
            size,
            kept,
            all,
            encoding: raw.encoding(),
            // A message does not contain them.
            typed: raw.encoding() == Encoding::Json && (raw.kind().is_some() || raw.api_version().is_some()),
            decoded: AtomicBool::new(false),
            unread: self.shared.ahead.arrival(),
        };
        let packed = Packed(ThinArc::from_header_and_slice(header, &state.kept));
        drop(guard);
        self.shared.counters.add(size, kept, all);
        self.decode_ahead(&packed, raw);
        Ok(packed)
    }

    /// Decodes an object that is likely to be read. It is still in its plain form, so it need not be decompressed.
    /// An object that cannot be decoded fails when it is read.
    fn decode_ahead(&self, packed: &Packed<K>, raw: &RawObject) {
        let (header, shared) = (packed.header(), &self.shared);
        let Some(decode) = shared.ahead.is_read_soon() else {
            return;
        };
        let size = header.decoded_size();
        if size > DECODED_CACHE || shared.decoded.room_for(size) == 0 {
            return;
        }
        // Users' code decodes, and drops what is evicted. If it panics, the packed object is as good as before.
        let ahead = || {
            let object = Arc::new(decode(&shared.config, raw).ok()?);
            header.decoded.store(true, Ordering::Relaxed);
            shared.decoded.add(header.address(), object, size);
            Some(())
        };
        _ = catch_unwind(AssertUnwindSafe(ahead));
    }

    /// Appends the declared fields.
    fn write_fields(&self, raw: &RawObject, out: &mut Vec<u8>) {
        for (number, path) in &self.shared.declared {
            for value in self.shared.values(raw, *number, path) {
                out.extend_from_slice(&number.to_le_bytes());
                write_prefixed(out, &value);
            }
        }
    }
}

impl Counters {
    pub(super) fn add(&self, body: u32, kept: u32, all: u32) {
        self.objects.fetch_add(1, Ordering::Relaxed);
        self.bodies.fetch_add(body.into(), Ordering::Relaxed);
        self.kept.fetch_add(kept.into(), Ordering::Relaxed);
        self.all.fetch_add(all.into(), Ordering::Relaxed);
    }

    /// The total size of packed objects.
    fn total<K>(&self) -> u64 {
        let headers = self.objects.load(Ordering::Relaxed) * Header::<K>::SIZE as u64;
        self.all.load(Ordering::Relaxed) + headers
    }

    pub(super) fn remove(&self, body: u32, kept: u32, all: u32) {
        self.objects.fetch_sub(1, Ordering::Relaxed);
        self.bodies.fetch_sub(body.into(), Ordering::Relaxed);
        self.kept.fetch_sub(kept.into(), Ordering::Relaxed);
        self.all.fetch_sub(all.into(), Ordering::Relaxed);
    }
}

impl<K> Shared<K> {
    /// The values, as bytes of JSON, of the field `path`, which has this number in the scan's plan. An object without
    /// kind or apiVersion has those of its collection.
    pub(super) fn values<'r>(
        &self,
        raw: &'r RawObject,
        number: u16,
        path: &FieldPath,
    ) -> impl Iterator<Item = Cow<'r, [u8]>> {
        let types = || form::types(raw, self.config.types.as_ref());
        let mut steps = path.steps();
        let of_type = match (steps.next(), steps.next()) {
            (Some("kind"), None) => Some(types().map(|types| types.kind)),
            (Some("apiVersion"), None) => Some(types().map(|types| types.api_version)),
            _ => None,
        };
        let found = of_type
            .is_none()
            .then(|| raw.extracted(number).map(Cow::Borrowed));
        let of_type = of_type.flatten().filter(|name| !name.is_empty());
        let of_type = of_type.map(|name| Cow::Owned(serde_json::Value::from(name).to_string().into_bytes()));
        found.into_iter().flatten().chain(of_type)
    }
}

impl State {
    /// Writes the body of an object with these owners in its stored form. `collection` is the size of the collection
    /// in bytes.
    fn compress(&mut self, owners: Option<&[u8]>, collection: u64) -> Coding {
        if let (Some(owners), Some(dictionary)) = (owners, &mut self.compressor) {
            let Self {
                families, body, kept, ..
            } = self;
            if let Some(coding) = families.write(owners, body, dictionary, collection, kept) {
                return coding;
            }
        }
        let coding = match &mut self.compressor {
            Some(compressor) => compressor.write(&self.body, &mut self.kept),
            None if self.body.len() >= LARGE => {
                Compressor::without_dictionary().write(&self.body, &mut self.kept)
            }
            None => {
                self.kept.clear();
                self.kept.extend_from_slice(&self.body);
                Coding::Plain
            }
        };
        self.alone += 1;
        self.collect_sample(self.alone >= TRAINED);
        coding
    }

    /// Collects samples and makes a dictionary, when it is time to.
    fn collect_sample(&mut self, may_train: bool) {
        if let Some(samples) = &mut self.samples {
            samples.push(self.body[..self.body.len().min(SAMPLE_SIZE)].to_vec());
            if samples.len() == SAMPLES {
                let samples = mem::take(samples);
                self.samples = None;
                self.renew_dictionary(&samples, may_train);
            }
            return;
        }
        let compressed = self.compressor.is_some();
        let is_time = self.ratio.is_time(self.body.len(), self.kept.len(), compressed);
        if is_time || (may_train && !self.trained) {
            self.samples = Some(Vec::new());
        }
    }

    /// Makes a dictionary and uses it if it is better than the current one.
    fn renew_dictionary(&mut self, samples: &[Vec<u8>], may_train: bool) {
        self.trained |= may_train;
        let Some(mut new) = Compressor::of(samples, may_train) else {
            return;
        };
        let validation = &samples[..VALIDATION_SAMPLES];
        if let Some(current) = &mut self.compressor
            && !new.replaces(current, validation)
        {
            return;
        }
        self.dictionaries += 1;
        self.compressor = Some(new);
        self.ratio.best = f64::INFINITY;
    }
}

impl Default for RatioTracker {
    fn default() -> Self {
        Self {
            objects: 0,
            before: 0,
            after: 0,
            best: f64::INFINITY,
            wait: 0,
            last_wait: 0,
        }
    }
}

impl RatioTracker {
    /// Counts an object, and returns whether it is time to make another dictionary. The wait doubles with every
    /// attempt.
    fn is_time(&mut self, before: usize, after: usize, compressed: bool) -> bool {
        self.objects += 1;
        self.before += before as u64;
        self.after += after as u64;
        if self.objects < PERIOD {
            return false;
        }
        let ratio = self.after as f64 / self.before.max(1) as f64;
        (self.objects, self.before, self.after) = (0, 0, 0);
        self.best = self.best.min(ratio);
        if self.wait > 0 {
            self.wait -= 1;
            return false;
        }
        if compressed && ratio <= WORSE * self.best {
            return false;
        }
        self.last_wait = 1.max(2 * self.last_wait);
        self.wait = self.last_wait;
        true
    }
}

impl<K> fmt::Debug for Packer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Packer").field(&self.stats()).finish()
    }
}
