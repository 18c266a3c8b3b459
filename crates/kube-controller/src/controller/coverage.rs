//! What a run waits for when the collection of its controller grows.
//!
//! An informer over namespaces or shards lists what is added to its set while it runs, each informer in its own time. A run that began
//! before all that its controller watches was listed would see an object without what it owns, and make that a second time. So the
//! keys of such an object wait here.

use super::source::{AnyInformer, settle};
use crate::watcher;
use kube_informer::ObjectKey;
use kube_workqueue::Priority;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// Keys with the priorities of their runs.
pub(super) type Keys = BTreeMap<ObjectKey, Priority>;

/// The objects that are listed together: those of a shard, or of a namespace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    shard: Option<u16>,
    namespace: Option<String>,
}

/// Keys that wait until all sources have listed their part of the collection.
pub(super) struct Coverage {
    /// How long a source is waited for.
    timeout: Duration,
    sources: BTreeMap<usize, Source>,
    /// The keys that wait, and a task for each part that does.
    parked: BTreeMap<Part, Keys>,
    waits: JoinSet<Waited>,
}

struct Source {
    informer: Arc<dyn AnyInformer>,
    /// The controller's own kind, of which it knows the uid.
    is_main: bool,
    /// It is refused, or has had its time: runs go on without it, until it has synced.
    is_late: bool,
}

/// The end of a wait for a source.
struct Waited {
    part: Part,
    source: usize,
    /// An error: it is not worth waiting for any longer.
    result: Result<(), watcher::Error>,
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
            is_late: false,
        };
        self.sources.insert(source, source_of);
    }

    /// Runs go on without a source, until it has synced.
    pub(super) fn go_on_without(&mut self, source: usize) {
        if let Some(source) = self.sources.get_mut(&source) {
            source.is_late = !source.is_main;
        }
    }

    /// A source has ended.
    pub(super) fn remove(&mut self, source: usize) {
        self.sources.remove(&source);
    }

    /// Whether all sources have listed what is in the shard and namespace of the object under a key, which has this uid. Else the key
    /// waits for that.
    pub(super) fn admits(
        &mut self,
        key: &ObjectKey,
        priority: Priority,
        shard: Option<u16>,
        uid: Option<&str>,
    ) -> bool {
        let namespace = key.namespace();
        let behind = |(number, source): (_, &mut Source)| source.is_behind(namespace, uid).then_some(number);
        let Some(source) = self.sources.iter_mut().find_map(behind).copied() else {
            return true;
        };
        let part = Part {
            shard,
            namespace: namespace.map(str::to_owned),
        };
        if let Some(behind) = self.sources.get(&source)
            && !self.parked.contains_key(&part)
        {
            tracing::debug!(
                resource = behind.informer.resource(),
                ?part,
                "runs wait for a list"
            );
            let wait = behind.wait(source, part.clone(), uid.map(str::to_owned), self.timeout);
            self.waits.spawn(wait);
        }
        let parked = self.parked.entry(part).or_default();
        let of_key = parked.entry(key.clone()).or_insert(priority);
        *of_key = priority.max(*of_key);
        false
    }

    /// The next keys whose wait is over, unless they have to wait for another source; with the error if it is because runs go on without
    /// a source from now on. `None` if none waits.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Option<(Keys, Option<watcher::Error>)> {
        let Ok(Waited { part, source, result }) = self.waits.join_next().await? else {
            // It is not known which; those that have to wait will wait again.
            let parked = std::mem::take(&mut self.parked);
            return Some((parked.into_values().flatten().collect(), None));
        };
        let keys = self.parked.remove(&part).unwrap_or_default();
        let error = result.err();
        if error.is_some() {
            self.go_on_without(source);
        }
        Some((keys, error))
    }

    /// Ends all waits.
    pub(super) async fn stop(&mut self) {
        self.waits.shutdown().await;
        self.sources.clear();
        self.parked.clear();
    }
}

impl Source {
    /// Whether a run has to wait for it.
    fn is_behind(&mut self, namespace: Option<&str>, uid: Option<&str>) -> bool {
        let informer = &self.informer;
        let behind = match self.is_main {
            true => !informer.has_synced_for(namespace, uid),
            // Objects that belong to one without a namespace may be in any.
            false if namespace.is_none() => !informer.has_synced(),
            false => !informer.has_synced_for(namespace, None),
        };
        self.is_late = self.is_late && !informer.has_synced();
        behind && !self.is_late
    }

    fn wait(
        &self,
        source: usize,
        part: Part,
        uid: Option<String>,
        timeout: Duration,
    ) -> impl Future<Output = Waited> + Send + 'static {
        let (informer, is_main) = (self.informer.clone(), self.is_main);
        async move {
            let namespace = part.namespace.as_deref();
            let synced = match (is_main, namespace) {
                (true, _) => {
                    let synced = informer.synced_for(namespace, uid.as_deref()).await;
                    Ok(synced.is_ok())
                }
                (false, None) => settle(&*informer, informer.synced(), timeout).await,
                (false, namespace) => settle(&*informer, informer.synced_for(namespace, None), timeout).await,
            };
            let result = match synced {
                // Its follower says so when its handlers have ended, too.
                Ok(false) => {
                    informer.stopped().await;
                    Ok(())
                }
                synced => synced.map(drop),
            };
            Waited { part, source, result }
        }
    }
}
