//! The partitions of an informer's collection and their state. Which partitions there are is decided here only.

use super::NamespaceSet;
use super::shards::{ShardHold, ShardSet};
use crate::object::Partition;
use crate::reflector::ReflectorStatus;
use crate::selector::ShardSelector;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

mod names;
mod sharding;
mod sync;

pub(super) use names::shards_of;
pub(super) use sharding::ShardMap;
pub(super) use sync::Location;
pub use sync::PartitionStatus;

use names::name_of;
use sharding::ShardState;

/// The watched partitions, shared by the informer's handles and tasks.
///
/// A partition is identified by its namespace, by the ranges of its shards when it was added, or by the empty name if it is the
/// whole collection. Partition numbers are never reused, so that queued changes of a removed partition cannot be attributed to
/// another one.
pub(super) struct Partitions {
    wanted: Wanted,
    state: watch::Sender<State>,
    /// Told when the objects of lost shards are gone from the store.
    dropped: Notify,
}

/// What is selected.
pub(super) enum Wanted {
    /// The whole collection, in one partition.
    Whole,
    /// A partition for each of these namespaces.
    Namespaces(NamespaceSet),
    /// A partition for the shards that are added to this set at the same time. Shards that are removed leave it.
    Shards(ShardSet),
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
    /// The shards whose objects belong to a partition.
    shards: BTreeMap<u16, ShardState>,
    /// The shards that were lost, and whose objects may be in the store.
    lost: Vec<ShardHold>,
    /// How often the shards have changed.
    shard_changes: u64,
    /// Lost shards whose objects the driver is deleting now.
    dropping: BTreeSet<u16>,
}

struct PartitionState {
    partition: Partition,
    synced: bool,
    /// Whether it has objects that were read from a file.
    restored: bool,
    /// Whether it starts with the state of some shards that was read from a file.
    starts_saved: bool,
    status: watch::Receiver<ReflectorStatus>,
    stage: Stage,
    /// What is asked for; `None` unless it is of shards.
    selector: Option<watch::Sender<ShardSelector>>,
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
    /// What to ask for, if it is of shards.
    pub(super) selector: Option<watch::Receiver<ShardSelector>>,
    /// The name under which its shards were saved, if they were.
    pub(super) saved_as: Option<String>,
}

impl PartitionState {
    fn new(partition: Partition) -> Self {
        let (reporter, status) = watch::channel(ReflectorStatus::default());
        Self {
            partition,
            synced: false,
            restored: false,
            starts_saved: false,
            status,
            stage: Stage::Waiting(Some(reporter)),
            selector: None,
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
    /// Without partitions for the selected namespaces or shards yet, or with the one that is the whole collection.
    pub(super) fn new(wanted: Wanted) -> Self {
        let partitions = Self {
            wanted,
            state: watch::Sender::default(),
            dropped: Notify::new(),
        };
        if let Wanted::Whole = partitions.wanted {
            partitions
                .state
                .send_modify(|state| _ = state.get_or_add(WHOLE.into()));
        }
        partitions
    }

    /// The selected shards, if there are shards.
    pub(super) fn shards(&self) -> Option<&ShardSet> {
        match &self.wanted {
            Wanted::Shards(set) => Some(set),
            Wanted::Whole | Wanted::Namespaces(_) => None,
        }
    }

    /// A receiver of changes of what is selected.
    pub(super) fn changes(&self) -> Changes {
        match &self.wanted {
            Wanted::Whole => Changes::Never,
            Wanted::Namespaces(set) => Changes::Namespaces(set.subscribe()),
            Wanted::Shards(set) => Changes::Shards(set.subscribe_kept()),
        }
    }

    /// Follows what is selected: adds what is missing and ends what is no longer selected. Returns the partitions
    /// whose reflectors are to be started; `stop` ends all of them. `saved_as` is the name under which an earlier run has saved a shard:
    /// what was saved together is restored together.
    pub(super) fn follow(
        &self,
        stop: &CancellationToken,
        saved_as: impl Fn(u16) -> Option<String>,
    ) -> Vec<Started> {
        match &self.wanted {
            Wanted::Whole => self.follow_names(&[WHOLE.to_owned()].into(), stop),
            Wanted::Namespaces(set) => {
                let names = partition_names(&set.subscribe().borrow());
                self.follow_names(&names, stop)
            }
            Wanted::Shards(set) => self.follow_shards(set, stop, saved_as),
        }
    }

    fn follow_names(&self, names: &BTreeSet<String>, stop: &CancellationToken) -> Vec<Started> {
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
                let name: Arc<str> = name.as_str().into();
                let entry = state.get_or_add(name.clone());
                if let Stage::Waiting(status) = &mut entry.stage {
                    let (status, leave) = (status.take().unwrap_or_default(), stop.child_token());
                    entry.stage = Stage::Running(leave.clone());
                    started.push(Started {
                        name,
                        partition: entry.partition,
                        status,
                        leave,
                        selector: None,
                        saved_as: None,
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

    /// The name of what a partition that has synced holds now.
    pub(super) fn synced_name(&self, partition: Partition) -> Option<String> {
        let state = self.state.borrow();
        let mut named = state.by_name.iter();
        let (name, entry) = named.find(|(_, entry)| entry.partition == partition && entry.synced)?;
        match &entry.selector {
            // Its name says what it was of when it was added.
            Some(selector) => (!entry.is_leaving()).then(|| name_of(&selector.borrow())),
            None => Some(name.to_string()),
        }
    }

    /// Whether shards start with a state that was read from a file and that the server has not confirmed.
    pub(super) fn has_unconfirmed_shards(&self) -> bool {
        let state = self.state.borrow();
        let mut entries = state.by_name.values();
        entries.any(|entry| entry.starts_saved && !entry.synced && !entry.is_leaving())
    }

    /// The partition of an object, also if the informer has stopped.
    pub(super) fn partition_of(&self, namespace: Option<&str>, uid: Option<&str>) -> Option<Partition> {
        if let Wanted::Shards(_) = self.wanted {
            let state = self.state.borrow();
            let mut entries = state.by_name.values().filter(|entry| !entry.is_leaving());
            let entry = entries.find(|entry| {
                let selector = entry.selector.as_ref();
                selector.is_some_and(|selector| selector.borrow().matches(uid, namespace))
            });
            return entry.map(|entry| entry.partition);
        }
        match self.location(namespace, uid) {
            Location::Partition(partition) => Some(partition),
            Location::NotYet | Location::NotSelected => None,
        }
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

    /// Says whether objects of a partition were restored from a file.
    pub(super) fn set_restored(&self, partition: Partition, restored: bool) {
        self.state.send_if_modified(|state| {
            let mut entries = state.by_name.values_mut();
            let entry = entries.find(|entry| entry.partition == partition);
            entry.is_some_and(|entry| std::mem::replace(&mut entry.restored, restored) != restored)
        });
    }

    /// Whether objects of a partition were restored from a file.
    pub(super) fn is_restored(&self, partition: Partition) -> bool {
        let state = self.state.borrow();
        let mut entries = state.by_name.values();
        entries.any(|entry| entry.partition == partition && entry.restored)
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
            // Nobody is told of their objects any more.
            state.shards.clear();
            state.lost.clear();
            state.shard_changes += 1;
            // Drop the senders of reflectors that never ran.
            for entry in state.by_name.values_mut() {
                if let Stage::Waiting(status) = &mut entry.stage {
                    *status = None;
                }
            }
        });
    }

    /// The names of the selected partitions, whether they exist or not; of shards, those that exist.
    pub(super) fn names(&self) -> BTreeSet<String> {
        match &self.wanted {
            Wanted::Whole => [WHOLE.to_owned()].into(),
            Wanted::Namespaces(set) => partition_names(&set.subscribe().borrow()),
            Wanted::Shards(_) => {
                let state = self.state.borrow();
                let present = state.by_name.iter().filter(|(_, entry)| !entry.is_leaving());
                present.map(|(name, _)| name.to_string()).collect()
            }
        }
    }
}

/// A receiver of changes of what is selected.
pub(super) enum Changes {
    Never,
    Namespaces(watch::Receiver<BTreeSet<String>>),
    Shards(watch::Receiver<BTreeSet<u16>>),
}

impl Changes {
    pub(super) fn mark_unchanged(&mut self) {
        match self {
            Self::Never => {}
            Self::Namespaces(wanted) => wanted.mark_unchanged(),
            Self::Shards(wanted) => wanted.mark_unchanged(),
        }
    }

    /// Pends if there are no more changes.
    pub(super) async fn changed(&mut self) {
        let changed = match self {
            Self::Never => std::future::pending().await,
            Self::Namespaces(wanted) => wanted.changed().await,
            Self::Shards(wanted) => wanted.changed().await,
        };
        if changed.is_err() {
            std::future::pending().await
        }
    }
}
