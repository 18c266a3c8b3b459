//! State shared by readers and the writer, and how an index is added while the writer may be running.
//!
//! The index function is user code, so no lock is held while it runs and the writer continues. The steps:
//!
//! 1. Under the lock, the index is registered as *being added* and the published state is loaded.
//! 2. Without the lock, the values of that state's objects are computed. From here on, each time the writer
//!    publishes, it first computes the values of the objects it has changed and appends them to a log as part of the
//!    publication.
//! 3. Under the lock, the log is applied. The index now matches the published state, which is published again with
//!    the index added. The index is handed to the writer for the next publication.
//!
//! So a slow index function slows down the writer, but step 3 never waits for user code.

use super::{
    index::{Definition, Index, IndexError, IndexId, IndexPanic},
    maintainer::{IndexMaintainer, Log, Recorder, Working},
    state::{Row, State},
};
use crate::object::ObjectKey;
use arc_swap::ArcSwap;
use std::{
    hash::Hash,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};
use tokio::sync::Notify;

/// State shared by readers and the writer.
pub(crate) struct Shared<R> {
    pub(crate) published: ArcSwap<State<R>>,
    /// Locked to publish and to add an index, never by a reader and never across user code.
    control: Mutex<Control<R>>,
    /// Notified after each publication.
    pub(crate) changed: Notify,
    /// Whether the writer was dropped.
    pub(crate) closed: AtomicBool,
}

/// Index changes that the writer has not applied yet, and the names that are in use.
pub(crate) struct Control<R> {
    /// Incremented when anything here changes.
    pub(crate) generation: u64,
    /// The names of all indexes, including those being added.
    names: Vec<Arc<str>>,
    adding: Vec<Arc<dyn Adding<R>>>,
    /// Indexes that are complete as of the published state and that the writer has not taken over yet.
    ready: Vec<Box<dyn IndexMaintainer<R>>>,
    /// States replaced by one with another index; the writer frees them.
    replaced: Vec<Arc<State<R>>>,
}

/// An index that is being added, with its value type erased.
pub(crate) trait Adding<R>: Send + Sync {
    fn id(&self) -> &IndexId;
    fn recorder(&self) -> Box<dyn IndexMaintainer<R>>;
}

struct Addition<R, V> {
    definition: Arc<Definition<R, V>>,
    log: Arc<Log<V>>,
}

impl<R, V> Adding<R> for Addition<R, V>
where
    R: Send + Sync + 'static,
    V: Hash + Eq + Send + Sync + 'static,
{
    fn id(&self) -> &IndexId {
        &self.definition.id
    }

    fn recorder(&self) -> Box<dyn IndexMaintainer<R>> {
        Box::new(Recorder::new(self.definition.clone(), self.log.clone()))
    }
}

/// Index changes that the writer applies before it publishes.
pub(crate) struct IndexChanges<R> {
    pub(crate) generation: u64,
    pub(crate) adding: Vec<Arc<dyn Adding<R>>>,
    pub(crate) ready: Vec<Box<dyn IndexMaintainer<R>>>,
    pub(crate) replaced: Vec<Arc<State<R>>>,
}

impl<R> Control<R> {
    fn new() -> Self {
        Self {
            generation: 0,
            names: Vec::new(),
            adding: Vec::new(),
            ready: Vec::new(),
            replaced: Vec::new(),
        }
    }

    /// Takes the changes since the previous call.
    pub(crate) fn take_changes(&mut self) -> IndexChanges<R> {
        IndexChanges {
            generation: self.generation,
            adding: self.adding.clone(),
            ready: mem::take(&mut self.ready),
            replaced: mem::take(&mut self.replaced),
        }
    }

    fn end(&mut self, id: &IndexId) {
        self.generation += 1;
        self.adding.retain(|adding| adding.id() != id);
    }
}

impl<R> Shared<R> {
    pub(crate) fn new(published: State<R>) -> Self {
        Self {
            published: ArcSwap::from_pointee(published),
            control: Mutex::new(Control::new()),
            changed: Notify::new(),
            closed: AtomicBool::new(false),
        }
    }

    pub(crate) fn control(&self) -> MutexGuard<'_, Control<R>> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reserves the name of an index. Releases it on drop unless the index was added, also when the adding thread
/// unwinds.
struct Registration<'a, R> {
    shared: &'a Shared<R>,
    id: IndexId,
    done: bool,
}

impl<R> Drop for Registration<'_, R> {
    fn drop(&mut self) {
        if !self.done {
            let mut control = self.shared.control();
            control.end(&self.id);
            control.names.retain(|name| *name != self.id.name);
        }
    }
}

impl<R: Clone + Send + Sync + 'static> Shared<R> {
    pub(crate) fn add_index<V: Hash + Eq + Send + Sync + 'static>(
        &self,
        name: &str,
        function: impl Fn(&ObjectKey, &R, &mut dyn FnMut(V)) + Send + Sync + 'static,
    ) -> Result<Index<V>, IndexError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let id = IndexId {
            name: name.into(),
            store: self.published.load().store,
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
        };
        let definition = Arc::new(Definition {
            id: id.clone(),
            function: Box::new(function),
        });
        let addition = Arc::new(Addition {
            definition: definition.clone(),
            log: Arc::default(),
        });
        let (mut registration, base) = self.register(id.clone(), addition.clone())?;
        let mut index = Working::new(definition);
        index_all(&mut index, &base)?;
        self.install(index, &addition, &mut registration);
        Ok(Index::new(id))
    }

    /// Step 1.
    fn register(
        &self,
        id: IndexId,
        adding: Arc<dyn Adding<R>>,
    ) -> Result<(Registration<'_, R>, Arc<State<R>>), IndexError> {
        let mut control = self.control();
        if control.names.contains(&id.name) {
            return Err(IndexError::Conflict(id.name));
        }
        control.names.push(id.name.clone());
        control.adding.push(adding);
        control.generation += 1;
        let base = self.published.load_full();
        Ok((
            Registration {
                shared: self,
                id,
                done: false,
            },
            base,
        ))
    }

    /// Step 3.
    fn install<V: Hash + Eq + Send + Sync + 'static>(
        &self,
        mut index: Working<R, V>,
        addition: &Addition<R, V>,
        registration: &mut Registration<'_, R>,
    ) {
        let mut control = self.control();
        let log = mem::take(&mut *addition.log.lock().unwrap_or_else(PoisonError::into_inner));
        log.into_iter().for_each(|(slot, values)| index.put(slot, values));
        let published = self.published.load_full();
        let mut indexes = published.indexes.clone();
        indexes.extend(index.freeze());
        self.published.store(Arc::new(State {
            store: published.store,
            rows: published.rows.clone(),
            labels: published.labels.clone(),
            stale: published.stale.clone(),
            indexes,
            versions: published.versions.clone(),
            snapshots: Default::default(),
        }));
        control.replaced.push(published);
        control.end(&addition.definition.id);
        control.ready.push(Box::new(index));
        registration.done = true;
    }
}

/// Step 2.
fn index_all<R, V>(index: &mut Working<R, V>, base: &State<R>) -> Result<(), IndexPanic>
where
    R: Send + Sync + 'static,
    V: Hash + Eq + Send + Sync + 'static,
{
    for (slot, row) in base.rows.slots() {
        compute(index, slot, row)?;
        index.apply(slot);
    }
    Ok(())
}

/// Computes the values of the row in one slot, which may panic.
pub(crate) fn compute<R>(
    index: &mut dyn IndexMaintainer<R>,
    slot: u32,
    row: &Row<R>,
) -> Result<(), IndexPanic> {
    let name = index.id().name.clone();
    catch_unwind(AssertUnwindSafe(|| {
        index.compute(Some(slot), &row.key, &row.object)
    }))
    .map_err(|payload| IndexPanic::new(&name, &row.key, &*payload))
}
