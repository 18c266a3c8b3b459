//! The partitions of an informer's collection and their state. Which partitions there are is decided here only.

use super::shards::{ShardHold, ShardSet};
use super::{NamespaceSet, Stopped};
use crate::object::{Partition, ResourceVersion};
use crate::reflector::{Phase, ReflectorStatus};
use crate::selector::{HashRange, ShardField, ShardSelector};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

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

/// Which partition each shard belongs to.
#[derive(Clone)]
pub(super) struct ShardMap {
    set: ShardSet,
    of: BTreeMap<u16, Partition>,
}

impl ShardMap {
    /// Whether an object with this uid and namespace belongs to a partition.
    pub(super) fn is_of(&self, partition: Partition, uid: Option<&str>, namespace: Option<&str>) -> bool {
        self.of.get(&self.set.shard_of(uid, namespace)) == Some(&partition)
    }

    /// Whether an object with this uid and namespace belongs to no partition.
    pub(super) fn is_of_none(&self, uid: Option<&str>, namespace: Option<&str>) -> bool {
        !self.of.contains_key(&self.set.shard_of(uid, namespace))
    }
}

/// A change of the shards that the store has to follow.
pub(super) struct ShardChange {
    pub(super) map: ShardMap,
    /// Held until the objects of these shards are gone from the store.
    pub(super) lost: Vec<ShardHold>,
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

struct ShardState {
    partition: Partition,
    hold: ShardHold,
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

impl State {
    /// Forms a partition of new shards. `None` if one with the same name is about to leave: then the shards have to wait.
    fn add_shards(
        &mut self,
        new: Vec<ShardHold>,
        saved_as: Option<String>,
        set: &ShardSet,
        stop: &CancellationToken,
    ) -> Option<Started> {
        let selector = set.selector(&new.iter().map(ShardHold::shard).collect());
        let name: Arc<str> = name_of(&selector).into();
        if self.by_name.contains_key(&name) {
            return None;
        }
        let entry = self.get_or_add(name.clone());
        let (asked, receiver) = watch::channel(selector);
        let (status, leave) = (watch::Sender::default(), stop.child_token());
        entry.status = status.subscribe();
        entry.stage = Stage::Running(leave.clone());
        entry.selector = Some(asked);
        entry.starts_saved = saved_as.is_some();
        let partition = entry.partition;
        for hold in new {
            self.shards.insert(hold.shard(), ShardState { partition, hold });
        }
        Some(Started {
            name,
            partition,
            status,
            leave,
            selector: Some(receiver),
            saved_as,
        })
    }

    /// Asks only for the shards that a partition still has. Without any, the partition leaves; returns what ends its reflector.
    fn narrow(&mut self, partition: Partition, set: &ShardSet) -> Option<CancellationToken> {
        let left = self.shards.iter();
        let left = left.filter(|(_, state)| state.partition == partition);
        let left: BTreeSet<_> = left.map(|(shard, _)| *shard).collect();
        let entry = self
            .by_name
            .values_mut()
            .find(|entry| entry.partition == partition)?;
        if !left.is_empty() {
            if let Some(selector) = &entry.selector {
                selector.send_replace(set.selector(&left));
            }
            return None;
        }
        match std::mem::replace(&mut entry.stage, Stage::Leaving) {
            Stage::Running(leave) => Some(leave),
            Stage::Waiting(_) | Stage::Leaving => None,
        }
    }
}

/// The name of a partition of shards: their ranges.
fn name_of(selector: &ShardSelector) -> String {
    let ranges: Vec<_> = selector.ranges().iter().map(ToString::to_string).collect();
    ranges.join(",")
}

/// The shards of a [name](name_of); `None` if it is not one.
pub(super) fn shards_of(name: &str, set: &ShardSet) -> Option<BTreeSet<u16>> {
    let ranges = name
        .split(',')
        .map(str::parse)
        .collect::<Result<Vec<HashRange>, _>>();
    let selector = ShardSelector::new(set.field(), ranges.ok()?);
    let shards = (0..).zip(HashRange::equal(set.count()));
    let within = |range: HashRange| {
        let mut ranges = selector.ranges().iter();
        ranges.any(|saved| saved.first() <= range.first() && range.last() <= saved.last())
    };
    Some(
        shards
            .filter(|(_, range)| within(*range))
            .map(|(shard, _)| shard)
            .collect(),
    )
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

    /// Follows the selected shards, and those that were and that work still holds. Those that are lost leave their partition, and those that are new form one, or several if they were
    /// saved.
    fn follow_shards(
        &self,
        set: &ShardSet,
        stop: &CancellationToken,
        saved_as: impl Fn(u16) -> Option<String>,
    ) -> Vec<Started> {
        let selected = set.kept();
        let (mut left, mut started) = (Vec::new(), Vec::new());
        self.state.send_if_modified(|state| {
            let lost: Vec<_> = state.shards.keys().copied().collect();
            let lost = lost.into_iter().filter(|shard| !selected.contains(shard));
            let lost: Vec<_> = lost.filter_map(|shard| state.shards.remove(&shard)).collect();
            let narrowed: BTreeSet<_> = lost.iter().map(|lost| lost.partition).collect();
            let changed = !lost.is_empty();
            state.lost.extend(lost.into_iter().map(|lost| lost.hold));
            for partition in narrowed {
                left.extend(state.narrow(partition, set));
            }
            // A shard that was lost and is selected again is listed after its objects are gone: else they could be kept as
            // unchanged that are just about to be deleted.
            let leaving = state.lost.iter().map(ShardHold::shard);
            let leaving: BTreeSet<_> = leaving.chain(state.dropping.iter().copied()).collect();
            let new = selected.iter().copied();
            let new = new.filter(|shard| !state.shards.contains_key(shard) && !leaving.contains(shard));
            let mut together = BTreeMap::<_, Vec<_>>::new();
            for hold in new.filter_map(|shard| set.hold_for_informer(shard)) {
                together.entry(saved_as(hold.shard())).or_default().push(hold);
            }
            for (saved_as, new) in together {
                started.extend(state.add_shards(new, saved_as, set, stop));
            }
            let changed = changed || !started.is_empty();
            state.shard_changes += u64::from(changed);
            changed
        });
        left.iter().for_each(CancellationToken::cancel);
        started
    }

    /// What has changed of the shards since there were `seen` changes.
    pub(super) fn shard_change(&self, seen: &mut u64) -> Option<ShardChange> {
        let Wanted::Shards(set) = &self.wanted else {
            return None;
        };
        if self.state.borrow().shard_changes == *seen {
            return None;
        }
        let mut change = None;
        self.state.send_if_modified(|state| {
            *seen = state.shard_changes;
            state.dropping.extend(state.lost.iter().map(ShardHold::shard));
            let of = state.shards.iter();
            let of = of.map(|(shard, state)| (*shard, state.partition)).collect();
            change = Some(ShardChange {
                map: ShardMap { set: set.clone(), of },
                lost: state.lost.drain(..).collect(),
            });
            false
        });
        change
    }

    /// The objects of lost shards are gone from the store.
    pub(super) fn have_dropped(&self, lost: Vec<ShardHold>) {
        if !lost.is_empty() {
            self.state.send_if_modified(|state| {
                lost.iter()
                    .for_each(|hold| _ = state.dropping.remove(&hold.shard()));
                false
            });
            drop(lost);
            self.dropped.notify_one();
        }
    }

    /// Waits until objects of lost shards are gone from the store.
    pub(super) async fn dropped(&self) {
        self.dropped.notified().await;
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

    /// Whether everything that is selected has been published.
    pub(super) fn have_synced(&self) -> bool {
        let names = self.names();
        let state = self.state.borrow();
        let synced = |name: &String| {
            let entry = state.by_name.get(&**name);
            entry.is_some_and(|entry| entry.synced && !entry.is_leaving())
        };
        let covered = match &self.wanted {
            Wanted::Shards(set) => set.kept().iter().all(|shard| state.shards.contains_key(shard)),
            Wanted::Whole | Wanted::Namespaces(_) => true,
        };
        state.populated && covered && names.iter().all(synced)
    }

    /// Whether what is selected of the objects with this namespace and this uid has been published. If they do not say where the
    /// objects are: whether everything has.
    pub(super) fn have_synced_for(&self, namespace: Option<&str>, uid: Option<&str>) -> bool {
        let synced = |entry: &PartitionState| entry.synced && !entry.is_leaving();
        match (&self.wanted, namespace) {
            (Wanted::Whole, _) => {
                let state = self.state.borrow();
                state.populated && state.by_name.get(WHOLE).is_some_and(synced)
            }
            (Wanted::Namespaces(set), Some(namespace)) => {
                let selected = [WHOLE, namespace].into_iter().find(|name| set.contains(name));
                let state = self.state.borrow();
                selected.is_none_or(|name| state.by_name.get(name).is_some_and(synced))
            }
            (Wanted::Shards(set), _) if set.field() == ShardField::Namespace || uid.is_some() => {
                let shard = set.shard_of(uid, namespace);
                let state = self.state.borrow();
                let Some(found) = state.shards.get(&shard) else {
                    return !set.kept().contains(&shard);
                };
                let mut entries = state.by_name.values();
                entries.any(|entry| entry.partition == found.partition && synced(entry))
            }
            _ => self.have_synced(),
        }
    }

    /// The state of the partitions that prevent [`have_synced_for`](Self::have_synced_for). What is not watched yet is in none.
    pub(super) fn unsynced_for(
        &self,
        namespace: Option<&str>,
        uid: Option<&str>,
        applied: impl Fn(Partition) -> Option<ResourceVersion>,
    ) -> Vec<PartitionStatus> {
        if self.have_synced_for(namespace, uid) {
            return Vec::new();
        }
        let is_known = match &self.wanted {
            Wanted::Whole => true,
            Wanted::Namespaces(_) => namespace.is_some(),
            Wanted::Shards(set) => set.field() == ShardField::Namespace || uid.is_some(),
        };
        let only = match (is_known, self.location(namespace, uid)) {
            (false, _) => None,
            (true, Location::Partition(partition)) => Some(partition),
            (true, Location::NotYet | Location::NotSelected) => return Vec::new(),
        };
        let state = self.state.borrow();
        let unsynced = state.by_name.iter().filter(|(_, entry)| {
            !entry.synced && !entry.is_leaving() && only.is_none_or(|only| only == entry.partition)
        });
        unsynced
            .map(|(name, entry)| self.status_of(name, entry, &applied))
            .collect()
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

    /// Waits until [`have_synced`](Self::have_synced).
    pub(super) async fn synced(&self) -> Result<(), Stopped> {
        self.wait_for(|partitions| partitions.have_synced().then_some(()))
            .await
    }

    /// Waits until [`have_synced_for`](Self::have_synced_for).
    pub(super) async fn synced_for(&self, namespace: Option<&str>, uid: Option<&str>) -> Result<(), Stopped> {
        self.wait_for(|partitions| partitions.have_synced_for(namespace, uid).then_some(()))
            .await
    }

    /// Waits until `check` returns a value; checks again after each change of the partitions or of the selected
    /// namespaces.
    async fn wait_for<T>(&self, check: impl Fn(&Self) -> Option<T>) -> Result<T, Stopped> {
        let mut state = self.state.subscribe();
        let mut wanted = self.changes();
        loop {
            // Marked as seen before the check, so that no change after it is missed.
            let stopped = state.borrow_and_update().stopped;
            wanted.mark_unchanged();
            if let Some(found) = check(self) {
                return Ok(found);
            }
            if stopped {
                return Err(Stopped);
            }
            tokio::select! {
                _ = state.changed() => {}
                () = wanted.changed() => {}
            }
        }
    }

    /// The partition of a namespace's objects; of an informer over shards, that of the object with this uid, if it is known.
    pub(super) fn location(&self, namespace: Option<&str>, uid: Option<&str>) -> Location {
        let name = match (&self.wanted, namespace) {
            (Wanted::Whole, _) => WHOLE,
            (Wanted::Namespaces(set), _) if set.contains(WHOLE) => WHOLE,
            (Wanted::Namespaces(set), Some(namespace)) if set.contains(namespace) => namespace,
            (Wanted::Namespaces(_), _) => return Location::NotSelected,
            (Wanted::Shards(set), namespace) => return self.location_in_shards(set, uid, namespace),
        };
        let state = self.state.borrow();
        let entry = state.by_name.get(name).filter(|entry| !entry.is_leaving());
        entry.map_or(Location::NotYet, |entry| Location::Partition(entry.partition))
    }

    /// The partition of an object of a shard. The shard of an object is not known without its uid, if uids are hashed.
    fn location_in_shards(&self, set: &ShardSet, uid: Option<&str>, namespace: Option<&str>) -> Location {
        if set.field() == ShardField::Uid && uid.is_none() {
            return Location::NotSelected;
        }
        let shard = set.shard_of(uid, namespace);
        match self.state.borrow().shards.get(&shard) {
            Some(found) => Location::Partition(found.partition),
            None if set.kept().contains(&shard) => Location::NotYet,
            None => Location::NotSelected,
        }
    }

    /// Waits until the [location](Self::location) is known; `None` if nothing there is selected.
    pub(super) async fn settled(
        &self,
        namespace: Option<&str>,
        uid: Option<&str>,
    ) -> Result<Option<Partition>, Stopped> {
        self.wait_for(|partitions| match partitions.location(namespace, uid) {
            Location::Partition(partition) => Some(Some(partition)),
            Location::NotSelected => Some(None),
            Location::NotYet => None,
        })
        .await
    }

    fn has_namespaces(&self) -> bool {
        matches!(self.wanted, Wanted::Namespaces(_))
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
        let status = state.by_name.iter();
        status
            .map(|(name, entry)| self.status_of(name, entry, &applied))
            .collect()
    }

    fn status_of(
        &self,
        name: &str,
        entry: &PartitionState,
        applied: impl Fn(Partition) -> Option<ResourceVersion>,
    ) -> PartitionStatus {
        PartitionStatus {
            partition: entry.partition,
            namespace: (self.has_namespaces() && name != WHOLE).then(|| name.to_owned()),
            shards: entry.selector.as_ref().map(|selector| selector.borrow().clone()),
            synced: entry.synced,
            unconfirmed: entry.restored && !entry.synced,
            applied: applied(entry.partition),
            reflector: entry.status.borrow().clone(),
        }
    }

    /// The partitions that prevent [`have_synced`](Self::have_synced), each with the reason.
    pub(super) fn unsynced(&self) -> Vec<(Option<String>, String)> {
        let names = self.names();
        let state = self.state.borrow();
        let unsynced = names.into_iter().filter_map(|name| {
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
            match self.has_namespaces() {
                true => Some(((*name != *WHOLE).then_some(name), why)),
                false if *name == *WHOLE => Some((None, why)),
                false => Some((None, format!("shards {name}: {why}"))),
            }
        });
        let mut unsynced: Vec<_> = unsynced.collect();
        if let Wanted::Shards(set) = &self.wanted {
            let mut missing = set.kept();
            missing.retain(|shard| !state.shards.contains_key(shard));
            if !missing.is_empty() && !state.stopped {
                let name = name_of(&set.selector(&missing));
                unsynced.push((None, format!("shards {name}: not started")));
            }
        }
        if unsynced.is_empty() && !state.populated {
            unsynced.push((None, "about to sync".to_owned()));
        }
        unsynced
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
    /// Its shards; `None` unless the informer is over a [set of shards](super::ShardSet).
    pub shards: Option<ShardSelector>,
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
