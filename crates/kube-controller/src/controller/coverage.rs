//! What a run waits for when the collection of its controller grows.
//!
//! An informer over namespaces or shards lists what is added to its set while it runs, each informer in its own time. A run that began
//! before all that its controller watches was listed would see an object without what it owns, and make that a second time. So the
//! keys of such an object wait here.

use super::source::{AnyInformer, settle};
use crate::watcher;
use kube_informer::ObjectKey;
use kube_workqueue::Processing;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

type Item = Processing<'static, ObjectKey>;

/// The objects that are listed together: those of a shard, or of a namespace.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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
    parked: HashMap<Part, Vec<Item>>,
    waits: JoinSet<Waited>,
    /// The keys whose wait is over, unless they have to wait for another source.
    covered: VecDeque<Item>,
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
            parked: HashMap::new(),
            waits: JoinSet::new(),
            covered: VecDeque::new(),
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

    /// Returns a key if all sources have listed what is in the shard and namespace of its object, which has this uid. Else the key
    /// waits for that.
    pub(super) fn admit(&mut self, item: Item, shard: Option<u16>, uid: Option<&str>) -> Option<Item> {
        let namespace = item.namespace();
        let behind = |(number, source): (_, &mut Source)| source.is_behind(namespace, uid).then_some(number);
        let Some(source) = self.sources.iter_mut().find_map(behind).copied() else {
            return Some(item);
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
        self.parked.entry(part).or_default().push(item);
        None
    }

    /// The next key whose wait is over, to be [admitted](Self::admit) again. `None` if none waits.
    ///
    /// # Errors
    /// Runs go on without a source from now on.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Option<Result<Item, watcher::Error>> {
        loop {
            if let Some(item) = self.covered.pop_front() {
                return Some(Ok(item));
            }
            let Ok(Waited { part, source, result }) = self.waits.join_next().await? else {
                // It is not known which; those that have to wait will wait again.
                let parked = self.parked.drain().flat_map(|(_, items)| items);
                self.covered.extend(parked);
                continue;
            };
            self.covered.extend(self.parked.remove(&part).unwrap_or_default());
            if let Err(error) = result {
                self.go_on_without(source);
                return Some(Err(error));
            }
        }
    }

    /// Ends all waits.
    pub(super) async fn stop(&mut self) {
        self.waits.shutdown().await;
        self.sources.clear();
        self.parked.clear();
        self.covered.clear();
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
                (false, namespace) => {
                    settle(&*informer, informer.synced_for(namespace, None), timeout).await
                }
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
