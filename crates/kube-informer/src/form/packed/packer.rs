//! What makes the packed objects of one collection.

use super::{
    Header, Packed,
    coding::{Coding, Compressor, JUDGES},
    families::Families,
    labels::LabelSets,
    write_prefixed,
};
use crate::field_path::FieldPath;
use crate::form::{self, Collection, DecodeError};
use crate::object::ObjectKey;
use crate::wire::{FieldPlan, RawObject};
use std::{
    borrow::Cow,
    collections::HashMap,
    fmt, mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};
use triomphe::ThinArc;

/// A dictionary is learned from so many objects.
const SAMPLES: usize = 64;
/// How much of an object is a sample.
const SAMPLE_SIZE: usize = 32 << 10;
/// An object of this size is compressed even without a dictionary.
const LARGE: usize = 16 << 10;
/// A dictionary is judged after so many objects.
const PERIOD: u64 = 1024;
/// It no longer pays when objects are so much larger than those of its best period.
const WORSE: f64 = 1.25;
/// Another dictionary has to make objects so much smaller than the current one does.
const BETTER: f64 = 0.9;

/// Packs the objects of one collection; [`Packed`]'s decoder.
///
/// It learns the dictionary, shares sets of labels, and knows which objects are decoded at the moment.
pub struct Packer<K> {
    shared: Arc<Shared<K>>,
    state: Mutex<State>,
}

/// What a [`Packer`] has done, and what is held of it.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kube_informer::form::{Collection, Decode, Packed};
///
/// let packer = Packed::<Pod>::decoder(Collection::default());
/// assert_eq!(packer.stats().objects, 0);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackerStats {
    /// How many packed objects are held.
    pub objects: u64,
    /// Their size as the server sent it, in bytes, without what the plan leaves out.
    pub body_bytes: u64,
    /// What their bodies take, in bytes.
    pub kept_bytes: u64,
    /// What they take all in all, in bytes, beside keys, labels, dictionaries and families.
    pub total_bytes: u64,
    /// How many dictionaries were learned.
    pub dictionaries: u64,
    /// The size of the latest dictionary, in bytes.
    pub dictionary_bytes: u64,
    /// How many families there are: objects with the same owners, each kept as what makes it differ from one of them.
    pub families: u64,
    /// What the bodies that these differ from take, in bytes.
    pub family_bytes: u64,
    /// How many different sets of labels there are.
    pub label_sets: u64,
}

/// What the objects of a collection share for as long as they live.
pub(super) struct Shared<K> {
    pub(super) collection: Collection,
    /// The declared fields whose values stand beside each object, and their numbers in the plan. A field that contains
    /// what is left out is not among them: it is read from the body.
    pub(super) declared: Vec<(u16, FieldPath)>,
    pub(super) held: Held,
    decoded: Mutex<Decoded<K>>,
}

/// What is held: how many objects, the bytes of their bodies, what these are kept in, and all bytes.
#[derive(Default)]
pub(super) struct Held {
    objects: AtomicU64,
    bodies: AtomicU64,
    kept: AtomicU64,
    all: AtomicU64,
}

/// The objects that are decoded at the moment, by the places of the packed ones. An entry is gone before another object
/// can come to its place.
struct Decoded<K> {
    objects: HashMap<usize, Weak<K>>,
    /// How many there may be before those that nobody holds any more are forgotten.
    sweep_at: usize,
}

struct State {
    compressor: Option<Compressor>,
    /// What another dictionary is to be learned from, if there is to be one.
    samples: Option<Vec<Vec<u8>>>,
    watching: Watching,
    families: Families,
    labels: LabelSets,
    dictionaries: u64,
    body: Vec<u8>,
    kept: Vec<u8>,
}

/// Whether a dictionary pays.
struct Watching {
    /// The objects of this period, their size, and what they take.
    objects: u64,
    before: u64,
    after: u64,
    /// What is left of the size in the best period.
    best: f64,
    /// How many periods have to go by before another attempt, and how many the last wait was.
    wait: u64,
    last_wait: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The fields of a plan that do not contain what it leaves out, with their numbers.
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
    pub(super) fn new(collection: Collection) -> Self {
        Self {
            shared: Arc::new(Shared {
                declared: declared(&collection.plan),
                collection,
                held: Held::default(),
                decoded: Mutex::new(Decoded {
                    objects: HashMap::new(),
                    sweep_at: 64,
                }),
            }),
            state: Mutex::new(State {
                compressor: None,
                samples: Some(Vec::new()),
                watching: Watching::default(),
                families: Families::default(),
                labels: LabelSets::default(),
                dictionaries: 0,
                body: Vec::new(),
                kept: Vec::new(),
            }),
        }
    }

    /// What it has done, and what is held of it.
    pub fn stats(&self) -> PackerStats {
        let state = lock(&self.state);
        let dictionary = state.compressor.as_ref().map(Compressor::coding);
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let held = &self.shared.held;
        let (families, family_bytes) = state.families.size();
        PackerStats {
            objects: read(&held.objects),
            body_bytes: read(&held.bodies),
            kept_bytes: read(&held.kept),
            total_bytes: held.total::<K>(),
            dictionaries: state.dictionaries,
            dictionary_bytes: match dictionary {
                Some(Coding::With(dictionary)) => dictionary.size as u64,
                _ => 0,
            },
            families: families as u64,
            family_bytes,
            label_sets: state.labels.len() as u64,
        }
    }

    #[cfg(test)]
    pub(super) fn plan(&self) -> crate::wire::FieldPlan {
        self.shared.collection.plan.clone()
    }

    /// How many decoded objects are remembered.
    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        lock(&self.shared.decoded).objects.len()
    }

    pub(super) fn pack(&self, key: &ObjectKey, raw: &RawObject) -> Result<Packed<K>, DecodeError> {
        let mut state = lock(&self.state);
        let state = &mut *state;
        raw.write_body(&mut state.body);
        let coding = state.compress(raw.owner_references(), self.shared.held.total::<K>());
        let (size, kept) = (state.body.len() as u32, state.kept.len() as u32);
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
            typed: raw.kind().is_some() || raw.api_version().is_some(),
            decoded: AtomicBool::new(false),
        };
        let packed = Packed(ThinArc::from_header_and_slice(header, &state.kept));
        self.shared.held.add(size, kept, all);
        Ok(packed)
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

impl Held {
    fn add(&self, body: u32, kept: u32, all: u32) {
        self.objects.fetch_add(1, Ordering::Relaxed);
        self.bodies.fetch_add(body.into(), Ordering::Relaxed);
        self.kept.fetch_add(kept.into(), Ordering::Relaxed);
        self.all.fetch_add(all.into(), Ordering::Relaxed);
    }

    /// What packed objects take all in all.
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
    /// The values of the field `path`, which has this number in the plan of the scan, as they were written. An object
    /// that does not say what it is has the kind and the apiVersion of its collection.
    pub(super) fn values<'r>(
        &self,
        raw: &'r RawObject,
        number: u16,
        path: &FieldPath,
    ) -> impl Iterator<Item = Cow<'r, [u8]>> {
        let types = || form::types(raw, self.collection.types.as_ref());
        let mut steps = path.steps();
        let of_type = match (steps.next(), steps.next()) {
            (Some("kind"), None) => Some(types().map(|types| types.kind)),
            (Some("apiVersion"), None) => Some(types().map(|types| types.api_version)),
            _ => None,
        };
        let found = of_type
            .is_none()
            .then(|| raw.extracted(number).map(Cow::Borrowed));
        let of_type = of_type.flatten().filter(|text| !text.is_empty());
        let of_type = of_type.map(|text| Cow::Owned(serde_json::Value::from(text).to_string().into_bytes()));
        found.into_iter().flatten().chain(of_type)
    }

    /// The packed object at `place` is about to go.
    pub(super) fn forget(&self, place: usize) {
        lock(&self.decoded).objects.remove(&place);
    }

    /// The object at `place`, decoded: what is alive, or what `decode` gives.
    pub(super) fn decoded(
        &self,
        place: usize,
        decode: impl FnOnce() -> Result<K, DecodeError>,
    ) -> Result<Arc<K>, DecodeError> {
        let alive = |decoded: &Decoded<K>| decoded.objects.get(&place).and_then(Weak::upgrade);
        if let Some(object) = alive(&lock(&self.decoded)) {
            return Ok(object);
        }
        let object = Arc::new(decode()?);
        let mut decoded = lock(&self.decoded);
        // Somebody else may have been faster.
        if let Some(object) = alive(&decoded) {
            return Ok(object);
        }
        if decoded.objects.len() >= decoded.sweep_at {
            decoded.objects.retain(|_, object| object.strong_count() > 0);
            decoded.sweep_at = 64.max(2 * decoded.objects.len());
        }
        decoded.objects.insert(place, Arc::downgrade(&object));
        Ok(object)
    }
}

impl State {
    /// Writes the body of an object with these owners as it will be kept, in a collection that takes so many bytes.
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
            None if self.body.len() >= LARGE => Compressor::alone().write(&self.body, &mut self.kept),
            None => {
                self.kept.clear();
                self.kept.extend_from_slice(&self.body);
                Coding::Plain
            }
        };
        self.watch();
        coding
    }

    /// Gathers samples and learns from them, when it is time to.
    fn watch(&mut self) {
        if let Some(samples) = &mut self.samples {
            samples.push(self.body[..self.body.len().min(SAMPLE_SIZE)].to_vec());
            if samples.len() == SAMPLES {
                let samples = mem::take(samples);
                self.samples = None;
                self.learn(&samples);
            }
        } else if self
            .watching
            .is_time(self.body.len(), self.kept.len(), self.compressor.is_some())
        {
            self.samples = Some(Vec::new());
        }
    }

    /// Takes what can be learned from samples, if it is better than what there is.
    fn learn(&mut self, samples: &[Vec<u8>]) {
        let Some(mut learned) = Compressor::learn(samples) else {
            return;
        };
        let judges = &samples[..JUDGES];
        if let Some(current) = &mut self.compressor
            && learned.ratio(judges) > BETTER * current.ratio(judges)
        {
            return;
        }
        self.dictionaries += 1;
        self.compressor = Some(learned);
        self.watching.best = f64::INFINITY;
    }
}

impl Default for Watching {
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

impl Watching {
    /// Counts an object, and says whether it is time for another attempt to learn. Attempts that lead to nothing become
    /// rarer and rarer.
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
