//! Indexes on the writer's side: the values of each slot, and how they change.

use super::{
    index::{Definition, Frozen, FrozenIndex, IndexId, Posting, Postings},
    slot_values::{SlotValues, ValuesBySlot},
    table::FreeSlots,
};
use crate::object::ObjectKey;
use std::{any::Any, collections::HashMap, hash::Hash, mem, sync::Arc, sync::Mutex, sync::PoisonError};

/// One index of a writer, with its value type erased.
///
/// A change has two steps: [`compute`](IndexMaintainer::compute) calls user code and changes nothing, [`apply`](IndexMaintainer::apply)
/// changes the index and calls none.
pub(crate) trait IndexMaintainer<R>: Send {
    fn id(&self) -> &IndexId;

    /// Computes the values of an object and stores them for [`apply`](IndexMaintainer::apply). `slot` is the slot of
    /// the object that the store already holds under this key. Calls user code, so it may panic.
    fn compute(&mut self, slot: Option<u32>, key: &ObjectKey, object: &R);

    /// Indexes a slot under the values computed last.
    fn apply(&mut self, slot: u32);

    /// Removes a slot from the index.
    fn clear(&mut self, slot: u32);

    /// The current index for readers; `None` while it is still being added.
    fn freeze(&mut self) -> Option<Arc<dyn FrozenIndex<R>>>;

    /// Marks everything recorded so far as published. Called under the control lock.
    fn published(&mut self) {}

    /// Applies what a [`Recorder`] of the same index has recorded but not published.
    fn replay(&mut self, _recorder: Box<dyn IndexMaintainer<R>>) {}

    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// A value that was computed and is not applied yet.
#[derive(PartialEq, Eq)]
enum Computed<V> {
    Existing(u32),
    New { hash: u32, value: V },
}

/// A complete index.
pub(crate) struct Working<R, V> {
    definition: Arc<Definition<R, V>>,
    postings: Postings<V>,
    free: FreeSlots,
    /// Maps an object's slot to the slots of its values in [`Postings::values`]. The index function is not called
    /// when an object is removed, because an impure one would leave entries behind.
    values: ValuesBySlot,
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
            values: ValuesBySlot::default(),
            computed: Vec::new(),
            frozen: None,
        }
    }

    /// Indexes a slot under these values.
    pub(crate) fn put(&mut self, slot: u32, values: Vec<V>) {
        self.computed.clear();
        for value in values {
            push_computed(&mut self.computed, find_posting(&self.postings, value, None));
        }
        self.change(slot);
    }

    fn change(&mut self, slot: u32) {
        let same = match (&self.computed[..], self.values.single(slot)) {
            ([], Some(SlotValues::Empty)) => true,
            ([Computed::Existing(value)], Some(SlotValues::One(current))) => current == *value,
            _ => false,
        };
        if same {
            return;
        }
        self.frozen = None;
        let new = self.resolve();
        let old = self.values.replace(slot, new.clone());
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
            self.remove_slot(*value, slot);
        }
        if self.postings.values.len() == 0 {
            self.values = ValuesBySlot::default();
        }
    }

    /// Looks up the postings of every computed value, and inserts those that are missing.
    fn resolve(&mut self) -> SlotValues {
        let (values, free) = (&mut self.postings.values, &mut self.free);
        let mut resolved = self.computed.drain(..).map(|computed| match computed {
            Computed::Existing(slot) => slot,
            Computed::New { hash, value } => {
                let slot = free.allocate();
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
            (None, _) => SlotValues::Empty,
            (Some(one), None) => SlotValues::One(one),
            (Some(one), Some(two)) => SlotValues::Many([one, two].into_iter().chain(resolved).collect()),
        }
    }

    /// Removes a slot from a value's postings, and the value itself with its last slot.
    fn remove_slot(&mut self, value: u32, slot: u32) {
        let values = &mut self.postings.values;
        let Some(posting) = values.get_mut(value) else {
            return;
        };
        posting.slots.remove(slot);
        if posting.slots.is_empty() {
            let posting_value = posting.value.clone();
            let hash = values.hash(&*posting_value);
            values.remove(value, hash);
            self.free.release(value);
        }
    }
}

/// Finds the posting of a value. `previous` is its likely position; checking it first avoids computing a hash.
fn find_posting<V: Hash + Eq>(postings: &Postings<V>, value: V, previous: Option<u32>) -> Computed<V> {
    let values = &postings.values;
    let likely = previous.and_then(|slot| values.get(slot));
    if let (Some(slot), Some(posting)) = (previous, likely)
        && *posting.value == value
    {
        return Computed::Existing(slot);
    }
    let hash = values.hash(&value);
    match values.find(hash, |posting| *posting.value == value) {
        Some((known, _)) => Computed::Existing(known),
        None => Computed::New { hash, value },
    }
}

/// Adds a computed value unless it is there already.
fn push_computed<V: Eq>(computed: &mut Vec<Computed<V>>, new: Computed<V>) {
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
        let previous = match slot.and_then(|slot| self.values.single(slot)) {
            Some(SlotValues::One(value)) => Some(value),
            _ => None,
        };
        (self.definition.function)(key, object, &mut |value| {
            push_computed(computed, find_posting(postings, value, previous));
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

    fn replay(&mut self, recorder: Box<dyn IndexMaintainer<R>>) {
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

/// The new values of slots that the writer has published while an index is being added.
pub(crate) type Log<V> = Mutex<HashMap<u32, Vec<V>>>;

/// Records the values of objects that are written while another thread computes the values of the others.
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
