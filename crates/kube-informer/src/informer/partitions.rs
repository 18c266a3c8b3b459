//! The parts of an informer's collection, and how far each is.

use super::{NamespaceSet, Stopped};
use crate::object::{Partition, ResourceVersion};
use crate::reflector::{Phase, ReflectorStatus};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::sync::watch;

/// The parts that are watched now, as the informer's handles and tasks know them.
///
/// A part is known by its namespace, or by the empty name if it is the whole collection. A number is given to one part
/// only, ever: what is still on its way from one that was taken out cannot be taken for another's.
pub(super) struct Partitions {
    /// The namespaces that are wanted; `None`: the whole collection is one part.
    wanted: Option<NamespaceSet>,
    parts: watch::Sender<Parts>,
}

#[derive(Default)]
struct Parts {
    by_name: BTreeMap<Arc<str>, Part>,
    /// The number of the next part.
    next: u32,
    /// The initial state of all parts has been published once.
    populated: bool,
    /// The informer was stopped.
    stopped: bool,
}

struct Part {
    partition: Partition,
    synced: bool,
    /// No longer wanted: its objects are about to be taken out.
    leaving: bool,
    status: watch::Receiver<ReflectorStatus>,
    /// Where its reflector reports; the reflector has it once it runs.
    reporter: Option<watch::Sender<ReflectorStatus>>,
}

impl Part {
    fn new(partition: Partition) -> Self {
        let (reporter, status) = watch::channel(ReflectorStatus::default());
        Self {
            partition,
            synced: false,
            leaving: false,
            status,
            reporter: Some(reporter),
        }
    }
}

impl Parts {
    fn get_or_add(&mut self, name: Arc<str>) -> &mut Part {
        self.by_name.entry(name).or_insert_with(|| {
            self.next += 1;
            Part::new(Partition::new(self.next - 1))
        })
    }
}

/// The name of the part that is the whole collection.
pub(super) const WHOLE: &str = "";

/// The names of the parts that a set of namespaces is watched in: all namespaces are one part, and leave no others.
pub(super) fn part_names(namespaces: &BTreeSet<String>) -> BTreeSet<String> {
    match namespaces.contains(WHOLE) {
        true => [WHOLE.to_owned()].into(),
        false => namespaces.clone(),
    }
}

impl Partitions {
    /// No parts yet of those that are wanted, or the one that is the whole collection.
    pub(super) fn new(wanted: Option<NamespaceSet>) -> Self {
        let partitions = Self {
            wanted,
            parts: watch::Sender::default(),
        };
        if partitions.wanted.is_none() {
            partitions
                .parts
                .send_modify(|parts| _ = parts.get_or_add(WHOLE.into()));
        }
        partitions
    }

    /// The namespaces that are wanted, as they change; `None`: the whole collection is one part.
    pub(super) fn wanted(&self) -> Option<&NamespaceSet> {
        self.wanted.as_ref()
    }

    /// A part is about to be watched: its number, and where its reflector reports. One that is not known is added.
    pub(super) fn start(&self, name: Arc<str>) -> (Partition, watch::Sender<ReflectorStatus>) {
        let mut started = (Partition::SINGLE, None);
        self.parts.send_modify(|parts| {
            let part = parts.get_or_add(name);
            started = (part.partition, part.reporter.take());
        });
        (started.0, started.1.unwrap_or_default())
    }

    /// Nothing is wanted yet. Returns the number that the queue waits for, which no part gets any more.
    pub(super) fn start_with_nothing(&self) -> Partition {
        self.parts.send_modify(|parts| parts.next = parts.next.max(1));
        Partition::SINGLE
    }

    /// The name of a part: its namespace, or [the whole collection](WHOLE). `None` if there is no such part.
    pub(super) fn name(&self, partition: Partition) -> Option<Arc<str>> {
        let parts = self.parts.borrow();
        let mut named = parts.by_name.iter();
        let (name, _) = named.find(|(_, part)| part.partition == partition)?;
        Some(name.clone())
    }

    /// A part is about to be taken out.
    pub(super) fn leaving(&self, name: &str) {
        self.parts.send_modify(|parts| {
            if let Some(part) = parts.by_name.get_mut(name) {
                part.leaving = true;
            }
        });
    }

    /// A part has been taken out.
    pub(super) fn remove(&self, partition: Partition) {
        self.parts
            .send_modify(|parts| parts.by_name.retain(|_, part| part.partition != partition));
    }

    /// A list of a part has been published. Nothing happens if that is no news.
    pub(super) fn set_synced(&self, partition: Partition) {
        self.parts.send_if_modified(|parts| {
            let part = parts
                .by_name
                .values_mut()
                .find(|part| part.partition == partition);
            part.is_some_and(|part| !std::mem::replace(&mut part.synced, true))
        });
    }

    /// The initial state of all parts has been published.
    pub(super) fn set_populated(&self) {
        self.parts
            .send_if_modified(|parts| !std::mem::replace(&mut parts.populated, true));
    }

    /// The informer was stopped.
    pub(super) fn stop(&self) {
        self.parts.send_modify(|parts| {
            parts.stopped = true;
            // Of those that never ran.
            parts.by_name.values_mut().for_each(|part| part.reporter = None);
        });
    }

    /// Whether everything that is wanted has been published.
    pub(super) fn have_synced(&self) -> bool {
        let parts = self.parts.borrow();
        let synced = |name: &str| {
            let part = parts.by_name.get(name);
            part.is_some_and(|part| part.synced && !part.leaving)
        };
        parts.populated && self.names().iter().all(|name| synced(name))
    }

    /// The parts that are wanted, whether they are there or not.
    fn names(&self) -> BTreeSet<String> {
        match &self.wanted {
            None => [WHOLE.to_owned()].into(),
            Some(set) => part_names(&set.subscribe().borrow()),
        }
    }

    /// Waits until [`have_synced`](Self::have_synced).
    pub(super) async fn synced(&self) -> Result<(), Stopped> {
        self.wait_for(|parts| parts.have_synced().then_some(())).await
    }

    /// Waits until the parts, or what is wanted of them, are such that `look` gives something.
    async fn wait_for<T>(&self, look: impl Fn(&Self) -> Option<T>) -> Result<T, Stopped> {
        let mut parts = self.parts.subscribe();
        let mut wanted = self.wanted.as_ref().map(NamespaceSet::subscribe);
        loop {
            // Marked as seen before the look, so that no change after it is missed.
            let stopped = parts.borrow_and_update().stopped;
            if let Some(wanted) = &mut wanted {
                wanted.borrow_and_update();
            }
            if let Some(found) = look(self) {
                return Ok(found);
            }
            if stopped {
                return Err(Stopped);
            }
            let wanted = async {
                match &mut wanted {
                    Some(wanted) => wanted.changed().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = parts.changed() => {}
                _ = wanted => {}
            }
        }
    }

    /// Where a namespace's objects are.
    pub(super) fn place(&self, namespace: Option<&str>) -> Place {
        let name = match (&self.wanted, namespace) {
            (None, _) => WHOLE,
            (Some(set), _) if set.contains(WHOLE) => WHOLE,
            (Some(set), Some(namespace)) if set.contains(namespace) => namespace,
            (Some(_), _) => return Place::Nowhere,
        };
        let parts = self.parts.borrow();
        let part = parts.by_name.get(name).filter(|part| !part.leaving);
        part.map_or(Place::NotYet, |part| Place::Part(part.partition))
    }

    /// Waits until it is known where a namespace's objects are; `None` if they are not wanted.
    pub(super) async fn settled(&self, namespace: Option<&str>) -> Result<Option<Partition>, Stopped> {
        self.wait_for(|parts| match parts.place(namespace) {
            Place::Part(partition) => Some(Some(partition)),
            Place::Nowhere => Some(None),
            Place::NotYet => None,
        })
        .await
    }

    /// What the reflector of a part reports; of an unknown part, a channel that is closed.
    pub(super) fn reflector(&self, partition: Partition) -> watch::Receiver<ReflectorStatus> {
        let parts = self.parts.borrow();
        let part = parts.by_name.values().find(|part| part.partition == partition);
        part.map_or_else(
            || watch::channel(ReflectorStatus::default()).1,
            |part| part.status.clone(),
        )
    }

    /// The state of each part, sorted by namespace.
    pub(super) fn status(
        &self,
        applied: impl Fn(Partition) -> Option<ResourceVersion>,
    ) -> Vec<PartitionStatus> {
        let parts = self.parts.borrow();
        let status = parts.by_name.iter().map(|(name, part)| PartitionStatus {
            partition: part.partition,
            namespace: (**name != *WHOLE).then(|| name.to_string()),
            synced: part.synced,
            applied: applied(part.partition),
            reflector: part.status.borrow().clone(),
        });
        status.collect()
    }

    /// What stands in the way of [`have_synced`](Self::have_synced): the parts that have not, and why.
    pub(super) fn obstacles(&self) -> Vec<(Option<String>, String)> {
        let parts = self.parts.borrow();
        let unsynced = self.names().into_iter().filter_map(|name| {
            let part = parts.by_name.get(&*name).filter(|part| !part.leaving);
            let why = match part {
                Some(part) if part.synced => return None,
                Some(part) => why(&part.status.borrow()),
                None if parts.stopped => "stopped".to_owned(),
                None => "not started".to_owned(),
            };
            Some(((*name != *WHOLE).then_some(name), why))
        });
        let mut unsynced: Vec<_> = unsynced.collect();
        if unsynced.is_empty() && !parts.populated {
            unsynced.push((None, "about to sync".to_owned()));
        }
        unsynced
    }
}

/// Where a namespace's objects are.
pub(super) enum Place {
    /// In this part.
    Part(Partition),
    /// They are wanted, but not watched yet.
    NotYet,
    /// They are not wanted.
    Nowhere,
}

/// Why a reflector has not listed yet, as far as is known.
fn why(status: &ReflectorStatus) -> String {
    match (&status.last_error, status.phase) {
        (Some(error), Phase::NotServed { .. }) => {
            format!(
                "{}: the server has no such resource (yet): {}",
                error.class, error.message
            )
        }
        (Some(error), _) => format!("{}: {}", error.class, error.message),
        (None, phase) => format!("no error so far, {phase:?}"),
    }
}

/// The state of one part of an informer's collection, see
/// [`InformerStatus::partitions`](super::InformerStatus::partitions).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PartitionStatus {
    /// The part.
    pub partition: Partition,
    /// Its namespace; `None` if the whole collection is one part.
    pub namespace: Option<String>,
    /// Whether the store holds all of it.
    pub synced: bool,
    /// The version up to which the store is complete in this part.
    pub applied: Option<ResourceVersion>,
    /// The state of its list and watch.
    pub reflector: ReflectorStatus,
}
