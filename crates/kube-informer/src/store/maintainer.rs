//! Indexes as the writer keeps them: what each slot has been indexed under, and how that changes.

use super::{
    held::{Held, HeldBySlot},
    index::{Definition, Frozen, FrozenIndex, IndexId, Posting, Postings},
    table::FreeSlots,
};
use crate::object::ObjectKey;
use std::{any::Any, collections::HashMap, hash::Hash, mem, sync::Arc, sync::Mutex, sync::PoisonError};

/// One index of a writer, whatever its values.
///
/// A change has two steps: [`compute`](IndexMaintainer::compute) calls user code and changes nothing, [`apply`](IndexMaintainer::apply)
/// changes the index and calls none.
pub(crate) trait IndexMaintainer<R>: Send {
    fn id(&self) -> &IndexId;

    /// Finds the values of an object and sets them aside; `slot` is where an object of this key is already. User code:
    /// may panic.
    fn compute(&mut self, slot: Option<u32>, key: &ObjectKey, object: &R);

    /// Indexes a slot under the values computed last.
    fn apply(&mut self, slot: u32);

    /// Indexes a slot under nothing.
    fn clear(&mut self, slot: u32);

    /// The index as it is now, for readers; none if it is being added still.
    fn freeze(&mut self) -> Option<Arc<dyn FrozenIndex<R>>>;

    /// Everything noted so far is now published. Called under the control lock.
    fn published(&mut self) {}

    /// Repeats what a [`Recorder`] of the same index has noted but not published.
    fn repeat(&mut self, _recorder: Box<dyn IndexMaintainer<R>>) {}

    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// A value that was computed and waits to be applied.
#[derive(PartialEq, Eq)]
enum Computed<V> {
    KnownObjects(u32),
    New { hash: u32, value: V },
}

/// A complete index.
pub(crate) struct Working<R, V> {
    definition: Arc<Definition<R, V>>,
    postings: Postings<V>,
    free: FreeSlots,
    /// By slot of the object, its values by their slots in [`Postings::values`]. The index function is not asked again
    /// when an object goes: one that is not pure would leave entries behind.
    held: HeldBySlot,
    computed: Vec<Computed<V>>,
    /// The published form, if nothing has changed since.
    frozen: Option<Arc<dyn FrozenIndex<R>>>,
}

impl<R, V: Hash + Eq> Working<R, V> {
    pub(crate) fn new(definition: Arc<Definition<R, V>>) -> Self {
        let (postings, free) = (Postings::default(), FreeSlots::default());
        Self {
            definition,
            postings,
            free,
            held: HeldBySlot::default(),
            computed: Vec::new(),
            frozen: None,
        }
    }

    /// Indexes a slot under these values.
    pub(crate) fn put(&mut self, slot: u32, values: Vec<V>) {
        self.computed.clear();
        for value in values {
            set_aside(&mut self.computed, place(&self.postings, value, None));
        }
        self.change(slot);
    }

    fn change(&mut self, slot: u32) {
        let same = match (&self.computed[..], self.held.single(slot)) {
            ([], Some(Held::Nothing)) => true,
            ([Computed::KnownObjects(value)], Some(Held::One(held))) => held == *value,
            _ => false,
        };
        if same {
            return;
        }
        self.frozen = None;
        let new = self.resolve();
        let old = self.held.replace(slot, new.clone());
        for value in new
            .as_slice()
            .iter()
            .filter(|value| !old.as_slice().contains(value))
        {
            if let Some(posting) = self.postings.values.get_mut(*value) {
                posting.slots.insert(slot);
            }
        }
        for value in old
            .as_slice()
            .iter()
            .filter(|value| !new.as_slice().contains(value))
        {
            self.take_out(*value, slot);
        }
        if self.postings.values.len() == 0 {
            self.held = HeldBySlot::default();
        }
    }

    /// Gives every computed value a place among the postings.
    fn resolve(&mut self) -> Held {
        let (values, free) = (&mut self.postings.values, &mut self.free);
        let mut resolved = self.computed.drain(..).map(|computed| match computed {
            Computed::KnownObjects(slot) => slot,
            Computed::New { hash, value } => {
                let slot = free.take();
                values.insert(
                    slot,
                    hash,
                    Posting {
                        value: Arc::new(value),
                        slots: Default::default(),
                    },
                );
                slot
            }
        });
        match (resolved.next(), resolved.next()) {
            (None, _) => Held::Nothing,
            (Some(one), None) => Held::One(one),
            (Some(one), Some(two)) => Held::Many([one, two].into_iter().chain(resolved).collect()),
        }
    }

    /// Takes a slot from under a value, and the value with the last of its slots.
    fn take_out(&mut self, value: u32, slot: u32) {
        let values = &mut self.postings.values;
        let Some(posting) = values.get_mut(value) else {
            return;
        };
        posting.slots.remove(slot);
        if posting.slots.is_empty() {
            let posting_value = posting.value.clone();
            let hash = values.hash(&*posting_value);
            values.remove(value, hash);
            self.free.give(value);
        }
    }
}

/// Finds a value among the postings; `held` is where it probably is, and where looking costs no hash.
fn place<V: Hash + Eq>(postings: &Postings<V>, value: V, held: Option<u32>) -> Computed<V> {
    let values = &postings.values;
    let probably = held.and_then(|held| values.get(held));
    if let (Some(held), Some(posting)) = (held, probably)
        && *posting.value == value
    {
        return Computed::KnownObjects(held);
    }
    let hash = values.hash(&value);
    match values.find(hash, |posting| *posting.value == value) {
        Some((known, _)) => Computed::KnownObjects(known),
        None => Computed::New { hash, value },
    }
}

/// Sets a value aside, once.
fn set_aside<V: Eq>(computed: &mut Vec<Computed<V>>, new: Computed<V>) {
    if !computed.contains(&new) {
        computed.push(new);
    }
}

impl<R, V> IndexMaintainer<R> for Working<R, V>
where
    R: Send + Sync + 'static,
    V: Hash + Eq + Send + Sync + 'static,
{
    fn id(&self) -> &IndexId {
        &self.definition.id
    }

    fn compute(&mut self, slot: Option<u32>, key: &ObjectKey, object: &R) {
        let (postings, computed) = (&self.postings, &mut self.computed);
        computed.clear();
        let held = match slot.and_then(|slot| self.held.single(slot)) {
            Some(Held::One(value)) => Some(value),
            _ => None,
        };
        (self.definition.function)(key, object, &mut |value| {
            set_aside(computed, place(postings, value, held));
        });
    }

    fn apply(&mut self, slot: u32) {
        self.change(slot);
    }

    fn clear(&mut self, slot: u32) {
        self.computed.clear();
        self.change(slot);
    }

    fn freeze(&mut self) -> Option<Arc<dyn FrozenIndex<R>>> {
        let frozen = self.frozen.get_or_insert_with(|| {
            Arc::new(Frozen {
                definition: self.definition.clone(),
                postings: self.postings.clone(),
            })
        });
        Some(frozen.clone())
    }

    fn repeat(&mut self, recorder: Box<dyn IndexMaintainer<R>>) {
        if let Ok(recorder) = recorder.into_any().downcast::<Recorder<R, V>>() {
            recorder
                .batch
                .into_iter()
                .for_each(|(slot, values)| self.put(slot, values));
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// What the writer has published of an index that is being added: the new values of slots.
pub(crate) type Log<V> = Mutex<HashMap<u32, Vec<V>>>;

/// Notes the values of what is written while somebody else computes those of everything else.
pub(crate) struct Recorder<R, V> {
    definition: Arc<Definition<R, V>>,
    computed: Vec<V>,
    batch: Vec<(u32, Vec<V>)>,
    log: Arc<Log<V>>,
}

impl<R, V> Recorder<R, V> {
    pub(crate) fn new(definition: Arc<Definition<R, V>>, log: Arc<Log<V>>) -> Self {
        Self {
            definition,
            computed: Vec::new(),
            batch: Vec::new(),
            log,
        }
    }
}

impl<R, V> IndexMaintainer<R> for Recorder<R, V>
where
    R: Send + Sync + 'static,
    V: Hash + Eq + Send + Sync + 'static,
{
    fn id(&self) -> &IndexId {
        &self.definition.id
    }

    fn compute(&mut self, _: Option<u32>, key: &ObjectKey, object: &R) {
        let computed = &mut self.computed;
        computed.clear();
        (self.definition.function)(key, object, &mut |value| computed.push(value));
    }

    fn apply(&mut self, slot: u32) {
        self.batch.push((slot, mem::take(&mut self.computed)));
    }

    fn clear(&mut self, slot: u32) {
        self.batch.push((slot, Vec::new()));
    }

    fn freeze(&mut self) -> Option<Arc<dyn FrozenIndex<R>>> {
        None
    }

    fn published(&mut self) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.extend(self.batch.drain(..));
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
