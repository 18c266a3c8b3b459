//! What of the partitions has synced, what has not, and why.

use tokio::sync::watch;

use crate::informer::Stopped;
use crate::object::{Partition, ResourceVersion};
use crate::reflector::ReflectorStatus;
use crate::selector::{ShardField, ShardSelector};

use super::names::name_of;
use super::{PartitionState, Partitions, WHOLE, Wanted};

impl Partitions {
    /// Whether everything that is selected has been published.
    pub(in crate::informer) fn have_synced(&self) -> bool {
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
    pub(in crate::informer) fn have_synced_for(&self, namespace: Option<&str>, uid: Option<&str>) -> bool {
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
    pub(in crate::informer) fn unsynced_for(
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

    /// Waits until [`have_synced`](Self::have_synced).
    pub(in crate::informer) async fn synced(&self) -> Result<(), Stopped> {
        self.wait_for(|partitions| partitions.have_synced().then_some(()))
            .await
    }

    /// Waits until [`have_synced_for`](Self::have_synced_for).
    pub(in crate::informer) async fn synced_for(
        &self,
        namespace: Option<&str>,
        uid: Option<&str>,
    ) -> Result<(), Stopped> {
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
    pub(in crate::informer) fn location(&self, namespace: Option<&str>, uid: Option<&str>) -> Location {
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

    /// Whether an object with this uid can be in any of the partitions: it is hashed by a uid that is not known.
    pub(in crate::informer) fn may_be_in_any(&self, uid: Option<&str>) -> bool {
        match &self.wanted {
            Wanted::Shards(set) => uid.is_none() && set.field() == ShardField::Uid && !set.kept().is_empty(),
            Wanted::Whole | Wanted::Namespaces(_) => false,
        }
    }

    /// Waits until the [location](Self::location) is known; `None` if nothing there is selected.
    pub(in crate::informer) async fn settled(
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
    pub(in crate::informer) fn reflector(&self, partition: Partition) -> watch::Receiver<ReflectorStatus> {
        let state = self.state.borrow();
        let entry = state.by_name.values().find(|entry| entry.partition == partition);
        entry.map_or_else(
            || watch::channel(ReflectorStatus::default()).1,
            |entry| entry.status.clone(),
        )
    }

    /// The state of each partition, sorted by namespace.
    pub(in crate::informer) fn status(
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
    pub(in crate::informer) fn unsynced(&self) -> Vec<(Option<String>, String)> {
        let names = self.names();
        let state = self.state.borrow();
        let unsynced = names.into_iter().filter_map(|name| {
            let entry = state.by_name.get(&*name).filter(|entry| !entry.is_leaving());
            let why = match entry {
                Some(entry) if entry.synced => return None,
                Some(entry) if entry.restored => {
                    format!(
                        "restored from a file, not confirmed by the server: {}",
                        entry.status.borrow().reason()
                    )
                }
                Some(entry) => entry.status.borrow().reason(),
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

/// The partition of a namespace's objects.
pub(in crate::informer) enum Location {
    /// It is this partition.
    Partition(Partition),
    /// The namespace is selected, but not watched yet.
    NotYet,
    /// The namespace is not selected.
    NotSelected,
}

/// The state of one partition of an informer, see
/// [`InformerStatus::partitions`](crate::informer::InformerStatus::partitions).
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
