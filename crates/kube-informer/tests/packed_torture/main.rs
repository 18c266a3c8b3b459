//! Packed objects beside the truth: a defect of theirs would corrupt data silently.
//!
//! Threads create, update and delete objects that are hard to pack; others read live objects, old snapshots and fields
//! meanwhile, and hold what they decoded. All is compared with the plain JSON, and what the packer says of its memory with
//! what there is.
//!
//! ```sh
//! PACKED_TORTURE_SECONDS=3600 PACKED_TORTURE_SEED=1 cargo test --release -p kube-informer --test packed_torture -- --nocapture
//! ```
//! Without the variables it takes two seconds for each kind of object, and draws a seed, which it prints.

#![expect(clippy::print_stderr, reason = "the seed, and how far it is")]

mod objects;
mod targeted;

use kube::core::{DynamicObject, TypeMeta};
use kube_informer::FieldPath;
use kube_informer::form::{Decode, DecodeError, DecoderConfig, Packed, Packer};
use kube_informer::{
    FieldPlan,
    low_level::wire::{Encoding, RawObject},
};
use objects::{Recipe, Truth, find};
use rand::{Rng, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const WRITERS: u64 = 2;
const READERS: u64 = 3;
/// So many objects there can be.
const SLOTS: u32 = 300;
/// So many old states each reader holds.
const SNAPSHOTS: usize = 60;
/// The nature of the data changes after so many changes.
const ERA: u64 = 5000;

const DECLARED: [&str; 5] = [
    "/spec/nodeName",
    "/spec/items/*/n",
    "/kind",
    "/metadata",
    "/status/m1",
];
const PATHS: [&str; 12] = [
    "/spec/nodeName",
    "/spec/items/*/n",
    "/kind",
    "/metadata",
    "/status/m1",
    "/apiVersion",
    "/spec",
    "/status/m0",
    "/metadata/labels/app",
    "/status/*/0",
    "/status/é",
    "/metadata/managedFields",
];

fn known() -> TypeMeta {
    TypeMeta {
        api_version: "v1".into(),
        kind: "Thing".into(),
    }
}

fn packer<K: Send + Sync + 'static>() -> Packer<K> {
    let managed = FieldPath::parse("/metadata/managedFields").unwrap();
    let fields = DECLARED.map(|path| FieldPath::parse(path).unwrap());
    Packed::<K>::decoder(DecoderConfig {
        types: Some(known()),
        plan: FieldPlan::new([managed], fields).unwrap(),
        ..DecoderConfig::default()
    })
}

fn pack<K: Send + Sync + 'static>(packer: &Packer<K>, plan: &FieldPlan, truth: &Truth) -> Packed<K> {
    let raw = RawObject::scan_with(Encoding::Json, truth.sent.clone().into(), plan).unwrap();
    Packed::decode_raw(packer, &raw.key(), &raw).unwrap()
}

/// A type to decode objects to.
trait Target: DeserializeOwned + Debug + Send + Sync + 'static {
    fn check(&self, truth: &Truth);
}

impl Target for Value {
    fn check(&self, truth: &Truth) {
        assert!(*self == truth.value, "{}", difference(self, &truth.value));
    }
}

impl Target for DynamicObject {
    fn check(&self, truth: &Truth) {
        let known = known();
        let types = self.types.as_ref().unwrap();
        assert_eq!(&types.kind, truth.kind.as_ref().unwrap_or(&known.kind));
        assert_eq!(
            &types.api_version,
            truth.api_version.as_ref().unwrap_or(&known.api_version)
        );
        assert_eq!(self.metadata.uid.as_deref(), Some(&*truth.uid));
        assert_eq!(self.metadata.labels.as_ref(), Some(&truth.labels));
        for part in ["spec", "status"] {
            let (read, truth) = (&self.data[part], &truth.value[part]);
            assert!(read == truth, "{}", difference(read, truth));
        }
    }
}

/// Where two values differ first; the values are too long to be shown.
fn difference(one: &Value, other: &Value) -> String {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => one
            .iter()
            .find(|(name, value)| other.get(*name) != Some(value))
            .map_or("members are missing".to_owned(), |(name, value)| {
                format!(
                    "{name}: {}",
                    difference(value, other.get(name).unwrap_or(&Value::Null))
                )
            }),
        (Value::Array(one), Value::Array(other)) => {
            let pair = one.iter().zip(other).find(|(one, other)| one != other);
            pair.map_or("another length".to_owned(), |(one, other)| difference(one, other))
        }
        _ => format!("{one} instead of {other}"),
    }
}

/// Compares all that can be read of a packed object with the truth.
fn check<K: Target>(packed: &Packed<K>, recipe: &Recipe) {
    let truth = recipe.truth();
    assert!(packed.body() == truth.body, "the body is another one");
    assert_eq!(packed.key().as_str(), truth.key);
    assert_eq!(packed.uid().unwrap_or_default(), truth.uid);
    let labels = packed
        .labels()
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(labels.collect::<std::collections::BTreeMap<_, _>>(), truth.labels);
    check_decoded(packed.decode(), &truth);
    if !truth.broken {
        PATHS.iter().for_each(|path| check_field(packed, path, &truth));
    }
}

fn check_decoded<K: Target>(decoded: Result<Arc<K>, DecodeError>, truth: &Truth) {
    match decoded {
        Ok(decoded) if !truth.broken => decoded.check(truth),
        Err(_) if truth.broken => {}
        decoded => panic!("broken: {}, but decoded: {:?}", truth.broken, decoded.map(|_| ())),
    }
}

fn check_field<K: Target>(packed: &Packed<K>, path: &str, truth: &Truth) {
    let known = known();
    let (kind, api_version) = (
        Value::from(truth.kind.as_ref().unwrap_or(&known.kind).as_str()),
        Value::from(truth.api_version.as_ref().unwrap_or(&known.api_version).as_str()),
    );
    let mut expected = Vec::new();
    match path {
        "/kind" => expected.push(&kind),
        "/apiVersion" => expected.push(&api_version),
        _ => find(
            &truth.value,
            &path.split('/').skip(1).collect::<Vec<_>>(),
            &mut expected,
        ),
    }
    expected.retain(|value| !value.is_null());
    let path = FieldPath::parse(path).unwrap();
    let mut read: Vec<_> = packed
        .fields::<Value>(&path)
        .unwrap()
        .iter()
        .map(Value::to_string)
        .collect();
    let mut expected: Vec<_> = expected.into_iter().map(Value::to_string).collect();
    read.sort();
    expected.sort();
    assert!(
        read == expected,
        "{path}: {read:.200?} instead of {expected:.200?}"
    );
    if !path.steps().any(|step| step == "*") {
        let field = packed.field::<Value>(&path).unwrap();
        assert_eq!(field.map(|value| value.to_string()), expected.pop(), "{path}");
    }
}

/// Panics with what it was about, unless `check` passes.
fn about<R>(recipe: &Recipe, check: impl FnOnce() -> R) -> R {
    let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check));
    checked.unwrap_or_else(|cause| {
        eprintln!("this was about {recipe:?}");
        std::panic::resume_unwind(cause)
    })
}

type Slot<K> = Mutex<Option<(Packed<K>, Recipe)>>;

struct World<K> {
    packer: Packer<K>,
    plan: FieldPlan,
    slots: Vec<Slot<K>>,
    /// How many changes there were, and how many objects were compared.
    changes: AtomicU64,
    checks: AtomicU64,
    /// Somebody panicked.
    failed: AtomicBool,
}

struct OnPanic<'a>(&'a AtomicBool);

impl Drop for OnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<K: Target> World<K> {
    fn new() -> Self {
        let packer = packer();
        let managed = FieldPath::parse("/metadata/managedFields").unwrap();
        let fields = DECLARED.map(|path| FieldPath::parse(path).unwrap());
        Self {
            packer,
            plan: FieldPlan::new([managed], fields).unwrap(),
            slots: (0..SLOTS).map(|_| Slot::default()).collect(),
            changes: AtomicU64::new(0),
            checks: AtomicU64::new(0),
            failed: AtomicBool::new(false),
        }
    }

    fn go_on(&self, until: Instant) -> bool {
        Instant::now() < until && !self.failed.load(Ordering::Relaxed)
    }

    /// Creates, updates and deletes.
    fn write(&self, mut rng: StdRng, until: Instant) {
        let _on_panic = OnPanic(&self.failed);
        while self.go_on(until) {
            let change = self.changes.fetch_add(1, Ordering::Relaxed);
            let era = change / ERA;
            let number = rng.random_range(0..SLOTS);
            let slot = &self.slots[number as usize];
            let current = lock(slot).as_ref().map(|(_, recipe)| *recipe);
            let next = match current {
                None => Some(Recipe::draw(&mut rng, number, era)),
                Some(_) if rng.random_ratio(1, 8) => None,
                Some(recipe) => Some(recipe.next(&mut rng, era)),
            };
            let next = next.map(|recipe| {
                let packed = about(&recipe, || pack(&self.packer, &self.plan, &recipe.truth()));
                (packed, recipe)
            });
            // The old state is dropped while others may read it.
            let old = std::mem::replace(&mut *lock(slot), next);
            drop(old);
            if rng.random_ratio(1, 4000) {
                // A whole collection goes, and its families with it.
                self.slots.iter().for_each(|slot| *lock(slot) = None);
            }
        }
    }

    /// Reads live objects and old states, and holds what it decoded for a while.
    fn read(&self, mut rng: StdRng, until: Instant) {
        let _on_panic = OnPanic(&self.failed);
        let mut old: Vec<(Packed<K>, Recipe)> = Vec::new();
        let mut decoded: Vec<(Arc<K>, Recipe)> = Vec::new();
        while self.go_on(until) {
            let Some((packed, recipe)) = lock(self.slots.choose(&mut rng).unwrap()).clone() else {
                continue;
            };
            match rng.random_range(0..4) {
                0 => about(&recipe, || check(&packed, &recipe)),
                1 => {
                    if let Ok(object) = packed.decode() {
                        assert!(Arc::ptr_eq(&object, &packed.clone().decode().unwrap()));
                        // The packed object goes, what was decoded stays.
                        decoded.push((object, recipe));
                    }
                }
                2 => old.push((packed, recipe)),
                _ => {
                    if let Some((packed, recipe)) = old.choose(&mut rng) {
                        about(recipe, || check(packed, recipe));
                    }
                }
            }
            self.checks.fetch_add(1, Ordering::Relaxed);
            if old.len() > SNAPSHOTS {
                let (packed, recipe) = old.swap_remove(rng.random_range(0..old.len()));
                about(&recipe, || check(&packed, &recipe));
            }
            if decoded.len() > SNAPSHOTS {
                let (object, recipe) = decoded.swap_remove(rng.random_range(0..decoded.len()));
                about(&recipe, || object.check(&recipe.truth()));
            }
        }
        old.iter()
            .for_each(|(packed, recipe)| about(recipe, || check(packed, recipe)));
    }

    /// Compares every object, and what the packer says with what there is, while nobody writes.
    fn check_all(&self) {
        let slots: Vec<_> = self.slots.iter().map(|slot| lock(slot).clone()).collect();
        let live: Vec<_> = slots.into_iter().flatten().collect();
        live.iter()
            .for_each(|(packed, recipe)| about(recipe, || check(packed, recipe)));

        let stats = self.packer.stats();
        let total: u64 = live.iter().map(|(packed, _)| packed.size() as u64).sum();
        let bodies: u64 = live.iter().map(|(packed, _)| stored_body(packed)).sum();
        assert_eq!(
            (stats.objects, stats.body_bytes, stats.total_bytes),
            (live.len() as u64, bodies, total)
        );
        // A base is at most four times as large as an object that needs it; others go with the next sweep.
        let bases = 4 * bodies + (16 << 20);
        assert!(stats.family_bytes <= bases, "{bodies} bytes of bodies: {stats:?}");
        assert!(stats.families <= 40, "{stats:?}");
        assert!(stats.label_sets <= 2 * u64::from(SLOTS) + 600, "{stats:?}");
        // Attempts become rarer and rarer; one more is due to the size of the collection.
        let periods = 2 + self.changes.load(Ordering::Relaxed) / 1024;
        assert!(stats.dictionaries <= 3 + u64::from(periods.ilog2()), "{stats:?}");
    }
}

/// How much memory the process takes, in bytes, where it can be told.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace()
        .nth(1)?
        .parse::<u64>()
        .ok()
        .map(|kib| kib << 10)
}

/// A variable of the environment, which has to be a number.
fn variable(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|value| value.parse().unwrap_or_else(|_| panic!("{name} is no number")))
}

fn torture<K: Target>() {
    let seconds = variable("PACKED_TORTURE_SECONDS");
    let seed = variable("PACKED_TORTURE_SEED").unwrap_or_else(rand::random);
    eprintln!("PACKED_TORTURE_SEED={seed}");
    let world = World::<K>::new();
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(2));
    let mut rounds = 0;
    let mut settled = None;
    while Instant::now() < end {
        let until = end.min(Instant::now() + Duration::from_secs(20));
        thread::scope(|scope| {
            let rng =
                |role: u64, number: u64| StdRng::seed_from_u64(seed ^ rounds << 16 ^ role << 8 ^ number);
            let world = &world;
            let writers = (0..WRITERS).map(|number| scope.spawn(move || world.write(rng(1, number), until)));
            let readers = (0..READERS).map(|number| scope.spawn(move || world.read(rng(2, number), until)));
            let threads: Vec<_> = writers
                .collect::<Vec<_>>()
                .into_iter()
                .chain(readers.collect::<Vec<_>>())
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
        world.check_all();
        rounds += 1;
        // A heap has its largest extent after some time, whatever is in it.
        if rounds == 15 {
            settled = resident();
        }
        if let (Some(settled), Some(now)) = (settled, resident()) {
            assert!(
                now < settled * 3 / 2 + (64 << 20),
                "{now} bytes are resident, {settled} were after five minutes"
            );
        }
        if seconds.is_some() {
            let (changes, checks) = (
                world.changes.load(Ordering::Relaxed),
                world.checks.load(Ordering::Relaxed),
            );
            eprintln!(
                "{changes} changes, {checks} checks, {:?} bytes resident, {:?}",
                resident(),
                world.packer.stats()
            );
        }
    }
    world.slots.iter().for_each(|slot| *lock(slot) = None);
    let stats = world.packer.stats();
    assert_eq!(
        (
            stats.objects,
            stats.body_bytes,
            stats.kept_bytes,
            stats.total_bytes
        ),
        (0, 0, 0, 0)
    );
}

#[test]
fn values_survive_torture() {
    torture::<Value>();
}

#[test]
fn dynamic_objects_survive_torture() {
    torture::<DynamicObject>();
}

/// The size of a body without the uid, which is stored beside.
fn stored_body<K>(packed: &Packed<K>) -> u64 {
    let (body, uid) = (packed.body(), packed.uid().unwrap_or_default());
    let contains = !uid.is_empty() && memchr::memmem::find(&body, uid.as_bytes()).is_some();
    (body.len() - if contains { uid.len() } else { 0 }) as u64
}
