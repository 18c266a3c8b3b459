//! The partitions of an informer's collection and their state. Which partitions there are is decided here only.

use super::{NamespaceSet, Stopped};
use crate::object::{Partition, ResourceVersion};
use crate::reflector::{Phase, ReflectorStatus};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The watched partitions, shared by the informer's handles and tasks.
///
/// A partition is identified by its namespace, or by the empty name if it is the whole collection. Partition numbers
/// are never reused, so that queued changes of a removed partition cannot be attributed to another one.
pub(super) struct Partitions {
    /// The selected namespaces; `None`: the whole collection is one partition.
    wanted: Option<NamespaceSet>,
    state: watch::Sender<State>,
}

#[derive(Default)]
struct State {
    by_name: BTreeMap<Arc<str>, PartitionState>,
    /// The number of the next partition.
    next: u32,
    /// Whether the initial state of all partitions has been published once.
    populated: bool,
    /// Whether the informer was stopped.
    stopped: bool,
}

struct PartitionState {
    partition: Partition,
    synced: bool,
    /// Whether its objects were read from a file.
    restored: bool,
    status: watch::Receiver<ReflectorStatus>,
    stage: Stage,
}

enum Stage {
    /// Its reflector has not started. It will take this sender of its status; `None` if the informer was stopped first.
    Waiting(Option<watch::Sender<ReflectorStatus>>),
    /// Its reflector runs until this is cancelled.
    Running(CancellationToken),
    /// Its reflector ends, and then its objects are deleted from the store.
    Leaving,
}

/// A partition whose reflector is to be run.
pub(super) struct Started {
    pub(super) name: Arc<str>,
    pub(super) partition: Partition,
    /// Where the reflector reports to.
    pub(super) status: watch::Sender<ReflectorStatus>,
    /// Ends the reflector.
    pub(super) leave: CancellationToken,
}

impl PartitionState {
    fn new(partition: Partition) -> Self {
        let (reporter, status) = watch::channel(ReflectorStatus::default());
        Self {
            partition,
            synced: false,
            restored: false,
            status,
            stage: Stage::Waiting(Some(reporter)),
        }
    }

    fn is_leaving(&self) -> bool {
        matches!(self.stage, Stage::Leaving)
    }
}

impl State {
    fn get_or_add(&mut self, name: Arc<str>) -> &mut PartitionState {
        self.by_name.entry(name).or_insert_with(|| {
            self.next += 1;
            PartitionState::new(Partition::new(self.next - 1))
        })
    }
}

/// The name of the partition that is the whole collection.
pub(super) const WHOLE: &str = "";

/// The names of the partitions for a set of namespaces. All namespaces are one partition, without any others.
fn partition_names(namespaces: &BTreeSet<String>) -> BTreeSet<String> {
    match namespaces.contains(WHOLE) {
        true => [WHOLE.to_owned()].into(),
        false => namespaces.clone(),
    }
}

impl Partitions {
    /// Without partitions for the selected namespaces yet, or with the one that is the whole collection.
    pub(super) fn new(wanted: Option<NamespaceSet>) -> Self {
        let partitions = Self {
            wanted,
            state: watch::Sender::default(),
        };
        if partitions.wanted.is_none() {
            partitions
                .state
                .send_modify(|state| _ = state.get_or_add(WHOLE.into()));
        }
        partitions
    }

    /// The selected namespaces; `None`: the whole collection is one partition.
    pub(super) fn wanted(&self) -> Option<&NamespaceSet> {
        self.wanted.as_ref()
    }

    /// Follows the selected namespaces: adds what is missing and ends what is no longer selected. Returns the partitions
    /// whose reflectors are to be started; `stop` ends all of them.
    pub(super) fn follow(&self, stop: &CancellationToken) -> Vec<Started> {
        let names = self.names();
        let (mut left, mut started) = (Vec::new(), Vec::new());
        self.state.send_if_modified(|state| {
            for (name, entry) in &mut state.by_name {
                if !names.contains(&**name) && !entry.is_leaving() {
                    left.push(std::mem::replace(&mut entry.stage, Stage::Leaving));
                }
            }
            // The partition of all namespaces overlaps with that of a single one, so the one is removed before the
            // other is listed.
            let whole = names.contains(WHOLE);
            if state.by_name.keys().any(|name| (**name == *WHOLE) != whole) {
                return !left.is_empty();
            }
            for name in names {
                let name: Arc<str> = name.into();
                let entry = state.get_or_add(name.clone());
                if let Stage::Waiting(status) = &mut entry.stage {
                    let (status, leave) = (status.take().unwrap_or_default(), stop.child_token());
                    entry.stage = Stage::Running(leave.clone());
                    started.push(Started {
                        name,
                        partition: entry.partition,
                        status,
                        leave,
                    });
                }
            }
            !(left.is_empty() && started.is_empty())
        });
        for stage in left {
            if let Stage::Running(leave) = stage {
                leave.cancel();
            }
        }
        started
    }

    /// Nothing is wanted yet. Returns the number that the queue waits for, which no partition gets any more.
    pub(super) fn start_with_nothing(&self) -> Partition {
        self.state.send_modify(|state| state.next = state.next.max(1));
        Partition::SINGLE
    }

    /// The name of a partition: its namespace, or [the whole collection](WHOLE). `None` if there is no such
    /// partition.
    pub(super) fn name(&self, partition: Partition) -> Option<Arc<str>> {
        let state = self.state.borrow();
        let mut named = state.by_name.iter();
        let (name, _) = named.find(|(_, entry)| entry.partition == partition)?;
        Some(name.clone())
    }

    /// The name of a partition that has synced.
    pub(super) fn synced_name(&self, partition: Partition) -> Option<Arc<str>> {
        let state = self.state.borrow();
        let mut named = state.by_name.iter();
        let (name, _) = named.find(|(_, entry)| entry.partition == partition && entry.synced)?;
        Some(name.clone())
    }

    /// Whether the partition of this name is selected and has not synced.
    pub(super) fn waits_for(&self, name: &str) -> bool {
        let state = self.state.borrow();
        state.by_name.get(name).is_some_and(|entry| !entry.synced)
    }

    /// Removes a partition.
    pub(super) fn remove(&self, partition: Partition) {
        self.state
            .send_modify(|state| state.by_name.retain(|_, entry| entry.partition != partition));
    }

    /// Marks a partition as synced after its list has been published. Does nothing if it was synced already.
    pub(super) fn set_synced(&self, partition: Partition) {
        self.state.send_if_modified(|state| {
            let entry = state
                .by_name
                .values_mut()
                .find(|entry| entry.partition == partition);
            entry.is_some_and(|entry| !std::mem::replace(&mut entry.synced, true))
        });
    }

    /// Marks a partition as restored from a file.
    pub(super) fn set_restored(&self, partition: Partition) {
        self.state.send_if_modified(|state| {
            let mut entries = state.by_name.values_mut();
            let entry = entries.find(|entry| entry.partition == partition);
            entry.is_some_and(|entry| !std::mem::replace(&mut entry.restored, true))
        });
    }

    /// Marks the initial state of all partitions as published.
    pub(super) fn set_populated(&self) {
        self.state
            .send_if_modified(|state| !std::mem::replace(&mut state.populated, true));
    }

    /// Marks the informer as stopped.
    pub(super) fn stop(&self) {
        self.state.send_modify(|state| {
            state.stopped = true;
            // Drop the senders of reflectors that never ran.
            for entry in state.by_name.values_mut() {
                if let Stage::Waiting(status) = &mut entry.stage {
                    *status = None;
                }
            }
        });
    }

    /// Whether everything that is selected has been published.
    pub(super) fn have_synced(&self) -> bool {
        let state = self.state.borrow();
        let synced = |name: &str| {
            let entry = state.by_name.get(name);
            entry.is_some_and(|entry| entry.synced && !entry.is_leaving())
        };
        state.populated && self.names().iter().all(|name| synced(name))
    }

    /// The names of the selected partitions, whether they exist or not.
    pub(super) fn names(&self) -> BTreeSet<String> {
        match &self.wanted {
            None => [WHOLE.to_owned()].into(),
            Some(set) => partition_names(&set.subscribe().borrow()),
        }
    }

    /// Waits until [`have_synced`](Self::have_synced).
    pub(super) async fn synced(&self) -> Result<(), Stopped> {
        self.wait_for(|partitions| partitions.have_synced().then_some(()))
            .await
    }

    /// Waits until `check` returns a value; checks again after each change of the partitions or of the selected
    /// namespaces.
    async fn wait_for<T>(&self, check: impl Fn(&Self) -> Option<T>) -> Result<T, Stopped> {
        let mut state = self.state.subscribe();
        let mut wanted = self.wanted.as_ref().map(NamespaceSet::subscribe);
        loop {
            // Marked as seen before the check, so that no change after it is missed.
            let stopped = state.borrow_and_update().stopped;
            if let Some(wanted) = &mut wanted {
                wanted.borrow_and_update();
            }
            if let Some(found) = check(self) {
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
                _ = state.changed() => {}
                _ = wanted => {}
            }
        }
    }

    /// The partition of a namespace's objects.
    pub(super) fn location(&self, namespace: Option<&str>) -> Location {
        let name = match (&self.wanted, namespace) {
            (None, _) => WHOLE,
            (Some(set), _) if set.contains(WHOLE) => WHOLE,
            (Some(set), Some(namespace)) if set.contains(namespace) => namespace,
            (Some(_), _) => return Location::NotSelected,
        };
        let state = self.state.borrow();
        let entry = state.by_name.get(name).filter(|entry| !entry.is_leaving());
        entry.map_or(Location::NotYet, |entry| Location::Partition(entry.partition))
    }

    /// Waits until the partition of a namespace is known; `None` if the namespace is not selected.
    pub(super) async fn settled(&self, namespace: Option<&str>) -> Result<Option<Partition>, Stopped> {
        self.wait_for(|partitions| match partitions.location(namespace) {
            Location::Partition(partition) => Some(Some(partition)),
            Location::NotSelected => Some(None),
            Location::NotYet => None,
        })
        .await
    }

    /// The status of a partition's reflector; a closed channel if the partition is unknown.
    pub(super) fn reflector(&self, partition: Partition) -> watch::Receiver<ReflectorStatus> {
        let state = self.state.borrow();
        let entry = state.by_name.values().find(|entry| entry.partition == partition);
        entry.map_or_else(
            || watch::channel(ReflectorStatus::default()).1,
            |entry| entry.status.clone(),
        )
    }

    /// The state of each partition, sorted by namespace.
    pub(super) fn status(
        &self,
        applied: impl Fn(Partition) -> Option<ResourceVersion>,
    ) -> Vec<PartitionStatus> {
        let state = self.state.borrow();
        let status = state.by_name.iter().map(|(name, entry)| PartitionStatus {
            partition: entry.partition,
            namespace: (**name != *WHOLE).then(|| name.to_string()),
            synced: entry.synced,
            unconfirmed: entry.restored && !entry.synced,
            applied: applied(entry.partition),
            reflector: entry.status.borrow().clone(),
        });
        status.collect()
    }

    /// The partitions that prevent [`have_synced`](Self::have_synced), each with the reason.
    pub(super) fn unsynced(&self) -> Vec<(Option<String>, String)> {
        let state = self.state.borrow();
        let unsynced = self.names().into_iter().filter_map(|name| {
            let entry = state.by_name.get(&*name).filter(|entry| !entry.is_leaving());
            let why = match entry {
                Some(entry) if entry.synced => return None,
                Some(entry) if entry.restored => {
                    format!(
                        "restored from a file, not confirmed by the server: {}",
                        why(&entry.status.borrow())
                    )
                }
                Some(entry) => why(&entry.status.borrow()),
                None if state.stopped => "stopped".to_owned(),
                None => "not started".to_owned(),
            };
            Some(((*name != *WHOLE).then_some(name), why))
        });
        let mut unsynced: Vec<_> = unsynced.collect();
        if unsynced.is_empty() && !state.populated {
            unsynced.push((None, "about to sync".to_owned()));
        }
        unsynced
    }
}

/// The partition of a namespace's objects.
pub(super) enum Location {
    /// It is this partition.
    Partition(Partition),
    /// The namespace is selected, but not watched yet.
    NotYet,
    /// The namespace is not selected.
    NotSelected,
}

/// The reason why a reflector has not listed yet, if it is known.
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

/// The state of one partition of an informer, see [`InformerStatus::partitions`](super::InformerStatus::partitions).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PartitionStatus {
    /// The partition.
    pub partition: Partition,
    /// Its namespace; `None` if the whole collection is one partition.
    pub namespace: Option<String>,
    /// Whether the store holds the whole partition.
    pub synced: bool,
    /// Whether the store holds objects of the partition that were [restored from a file](crate::warm_start), and that the
    /// server has not confirmed: they may be out of date, or gone.
    pub unconfirmed: bool,
    /// The version up to which the store is complete in this partition.
    pub applied: Option<ResourceVersion>,
    /// The state of its list and watch.
    pub reflector: ReflectorStatus,
}
