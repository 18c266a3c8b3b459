//! What a run waits for when the collection of its controller grows.
//!
//! An informer over namespaces or shards lists what is added to its set while it runs, each informer in its own time. A run that began
//! before all that its controller watches was listed would see an object without what it owns, and make that a second time. So the
//! keys of such an object wait here.

use super::any_informer::AnyInformer;
use super::error::RunnerError;
use super::follower::settle;
use kube_informer::informer::{PartitionStatus, Stopped};
use kube_informer::selector::ShardField;
use kube_informer::{ObjectKey, Partition};
use kube_workqueue::Priority;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{AbortHandle, JoinSet};

/// Keys with the priorities of their runs.
pub(super) type Keys = BTreeMap<ObjectKey, Priority>;

/// What a source lists together, so that it is waited for once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    All,
    Shard(u16),
    Namespace(String),
}

/// What has to be listed by a source before a run.
#[derive(Clone)]
struct Asked {
    place: Place,
    /// Of one object in that place.
    namespace: Option<String>,
    uid: Option<String>,
}

/// Keys that wait until all sources have listed their part of the collection.
pub(super) struct Coverage {
    /// How long a source is waited for.
    timeout: Duration,
    sources: BTreeMap<usize, Source>,
    /// The keys that wait, by what they wait for.
    parked: BTreeMap<(usize, Place), Parked>,
    waits: JoinSet<Waited>,
}

/// Keys that wait for the same.
struct Parked {
    asked: Asked,
    keys: Keys,
    /// Ends the wait.
    wait: AbortHandle,
}

struct Source {
    informer: Arc<dyn AnyInformer>,
    /// The controller's own kind, of which it knows the uid.
    is_main: bool,
    /// The partitions that are refused, or have had their time: runs go on without them until they have synced. What the source
    /// gains later is in others. Those of the controller's own kind are waited for all the same, but that was reported.
    given_up: BTreeSet<Partition>,
    /// It was given up before it had any partition.
    is_unstarted: bool,
}

/// The end of a wait for a source.
struct Waited {
    source: usize,
    asked: Asked,
    /// An error: it is not worth waiting for any longer.
    result: Result<(), RunnerError>,
}

impl Coverage {
    pub(super) fn new(timeout: Duration) -> Self {
        Self {
            timeout,
            sources: BTreeMap::new(),
            parked: BTreeMap::new(),
            waits: JoinSet::new(),
        }
    }

    pub(super) fn add(&mut self, source: usize, informer: Arc<dyn AnyInformer>, is_main: bool) {
        let source_of = Source {
            informer,
            is_main,
            given_up: BTreeSet::new(),
            is_unstarted: false,
        };
        self.sources.insert(source, source_of);
    }

    /// Runs go on without what a source has not listed of what it watches now, until it has: all of it if it had its time, or what the
    /// server refuses.
    pub(super) fn go_on_without(&mut self, source: usize, why: &RunnerError) {
        if let Some(source) = self.sources.get_mut(&source) {
            source.give_up(&hopeless(all_unsynced(&*source.informer), why));
        }
    }

    /// A source has ended.
    pub(super) fn remove(&mut self, source: usize) {
        self.sources.remove(&source);
    }

    /// Whether all sources have listed what is in the shard and namespace of the object under a key, which has this uid. Else the key
    /// waits for that.
    pub(super) fn admits(&mut self, key: &ObjectKey, priority: Priority, uid: Option<&str>) -> bool {
        for (number, source) in &self.sources {
            if source.has_listed(key.namespace(), uid) {
                continue;
            }
            let asked = source.asked(key.namespace(), uid);
            if source.is_late(&asked) {
                continue;
            }
            let parked = match self.parked.entry((*number, asked.place.clone())) {
                Entry::Occupied(parked) => parked.into_mut(),
                Entry::Vacant(place) => {
                    let (resource, of) = (source.informer.resource(), &asked.place);
                    tracing::debug!(resource, ?of, "runs wait for a list");
                    let wait = source.wait(*number, asked.clone(), Some(self.timeout));
                    place.insert(Parked {
                        asked,
                        keys: Keys::new(),
                        wait: self.waits.spawn(wait),
                    })
                }
            };
            let of_key = parked.keys.entry(key.clone()).or_insert(priority);
            *of_key = priority.max(*of_key);
            return false;
        }
        true
    }

    /// The next keys whose wait is over, unless they have to wait for another source; with the error if it is because runs go on without
    /// something from now on, or because the controller's own kind cannot be listed. `None` if none waits.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Option<(Keys, Option<RunnerError>)> {
        loop {
            let Waited {
                source,
                asked,
                result,
            } = match self.waits.join_next().await? {
                Ok(waited) => waited,
                Err(error) if error.is_cancelled() => continue,
                // It is not known which; those that have to wait will wait again.
                Err(_) => return Some((self.release(|_, _| true), None)),
            };
            let of_wait = (source, asked.place.clone());
            let (Err(error), Some(of)) = (result, self.sources.get_mut(&source)) else {
                return Some((self.release(|place, _| *place == of_wait), None));
            };
            let unsynced = asked.unsynced(&*of.informer);
            // What has not even started is no partition yet: it is waited for again.
            let has_begun = !unsynced.is_empty();
            let is_new = of.give_up(&hopeless(unsynced, &error));
            let error = (is_new || !has_begun).then_some(error);
            let mut keys = Keys::new();
            if !of.is_main {
                keys = Self::released(&mut self.parked, |place, parked| {
                    *place == of_wait || place.0 == source && of.is_late(&parked.asked)
                });
            } else if let Some(parked) = self.parked.get_mut(&of_wait) {
                parked.wait = self.waits.spawn(of.wait(source, asked, None));
            }
            return Some((keys, error));
        }
    }

    /// Takes out the keys of which `is_over` says that their wait is over.
    fn release(&mut self, is_over: impl Fn(&(usize, Place), &Parked) -> bool) -> Keys {
        Self::released(&mut self.parked, is_over)
    }

    fn released(
        parked: &mut BTreeMap<(usize, Place), Parked>,
        is_over: impl Fn(&(usize, Place), &Parked) -> bool,
    ) -> Keys {
        let mut keys = Keys::new();
        parked.retain(|place, parked| {
            let is_over = is_over(place, parked);
            if is_over {
                parked.wait.abort();
                keys.append(&mut parked.keys);
            }
            !is_over
        });
        keys
    }

    /// Ends all waits.
    pub(super) async fn stop(&mut self) {
        self.waits.shutdown().await;
        self.sources.clear();
        self.parked.clear();
    }
}

/// The partitions of an informer that have not synced.
fn all_unsynced(informer: &dyn AnyInformer) -> Vec<PartitionStatus> {
    let mut partitions = informer.status().partitions;
    partitions.retain(|partition| !partition.synced);
    partitions
}

/// Those of some partitions that are not worth waiting for, because of this.
fn hopeless(mut unsynced: Vec<PartitionStatus>, why: &RunnerError) -> Vec<PartitionStatus> {
    if let RunnerError::Refused { .. } = why {
        unsynced.retain(|partition| partition.reflector.is_refused());
    }
    unsynced
}

impl Asked {
    /// Waits until an informer has listed it.
    async fn listed(&self, informer: &dyn AnyInformer) -> Result<(), Stopped> {
        match self.place {
            Place::All => informer.synced().await,
            _ => {
                let (namespace, uid) = (self.namespace.as_deref(), self.uid.as_deref());
                informer.synced_for(namespace, uid).await
            }
        }
    }

    /// The partitions of an informer that have to sync for it.
    fn unsynced(&self, informer: &dyn AnyInformer) -> Vec<PartitionStatus> {
        match self.place {
            Place::All => all_unsynced(informer),
            _ => informer.unsynced_partitions(self.namespace.as_deref(), self.uid.as_deref()),
        }
    }

    /// Whether each partition that has to sync for it, but has not, is one of these, and nothing is about to be one.
    fn waits_only_for(&self, informer: &dyn AnyInformer, these: impl Fn(&PartitionStatus) -> bool) -> bool {
        let unsynced = self.unsynced(informer);
        let are_all = self.place != Place::All || informer.unsynced().len() <= unsynced.len();
        are_all && !unsynced.is_empty() && unsynced.iter().all(these)
    }
}

impl Source {
    /// Whether a run for an object of this namespace needs all of it: what belongs to the object may be anywhere.
    fn is_needed_whole(&self, namespace: Option<&str>) -> bool {
        match self.informer.shards() {
            Some(_) if self.is_main => false,
            Some(set) => namespace.is_none() || set.field() != ShardField::Namespace,
            None => namespace.is_none(),
        }
    }

    /// The uid by which it is asked: what belongs to an object has uids of its own.
    fn known<'u>(&self, uid: Option<&'u str>) -> Option<&'u str> {
        uid.filter(|_| self.is_main)
    }

    /// Whether it has listed what a run for an object with this namespace and uid needs of it.
    fn has_listed(&self, namespace: Option<&str>, uid: Option<&str>) -> bool {
        match self.is_needed_whole(namespace) {
            true => self.informer.has_synced(),
            false => self.informer.has_synced_for(namespace, self.known(uid)),
        }
    }

    /// What a run for an object with this namespace and uid needs of it.
    fn asked(&self, namespace: Option<&str>, uid: Option<&str>) -> Asked {
        let uid = self.known(uid);
        let place = match (self.informer.shards(), namespace) {
            _ if self.is_needed_whole(namespace) => Place::All,
            (Some(set), _) => Place::Shard(set.shard_of(uid, namespace)),
            (None, namespace) => Place::Namespace(namespace.unwrap_or_default().to_owned()),
        };
        Asked {
            place,
            namespace: namespace.map(str::to_owned),
            uid: uid.map(str::to_owned),
        }
    }

    /// Whether runs go on without what it has not listed.
    fn is_late(&self, asked: &Asked) -> bool {
        if self.is_main || self.given_up.is_empty() && !self.is_unstarted {
            return false;
        }
        let is_given_up = |partition: &PartitionStatus| self.given_up.contains(&partition.partition);
        asked.waits_only_for(&*self.informer, is_given_up)
            || self.is_unstarted && self.informer.status().partitions.is_empty()
    }

    /// These partitions are not worth waiting for. Returns whether that is new of any.
    fn give_up(&mut self, unsynced: &[PartitionStatus]) -> bool {
        let partitions = self.informer.status().partitions;
        let existing: BTreeSet<_> = partitions.iter().map(|partition| partition.partition).collect();
        self.given_up.retain(|partition| existing.contains(partition));
        let was_unstarted = std::mem::replace(&mut self.is_unstarted, existing.is_empty());
        let mut is_new = self.is_unstarted && !was_unstarted;
        for partition in unsynced {
            is_new |= self.given_up.insert(partition.partition);
        }
        is_new
    }

    fn wait(
        &self,
        source: usize,
        asked: Asked,
        timeout: Option<Duration>,
    ) -> impl Future<Output = Waited> + Send + use<> {
        let (informer, given_up) = (self.informer.clone(), self.given_up.clone());
        async move {
            let listed = asked.listed(&*informer);
            let listed = match timeout {
                None => Ok(listed.await.is_ok()),
                Some(timeout) => {
                    let is_hopeless = |partition: &PartitionStatus| {
                        given_up.contains(&partition.partition) || partition.reflector.is_refused()
                    };
                    let is_refused = || asked.waits_only_for(&*informer, is_hopeless);
                    settle(&*informer, listed, timeout, is_refused).await
                }
            };
            let result = match listed {
                // Its follower says so when its handlers have ended, too.
                Ok(false) => {
                    informer.stopped().await;
                    Ok(())
                }
                listed => listed.map(drop),
            };
            Waited {
                source,
                asked,
                result,
            }
        }
    }
}
