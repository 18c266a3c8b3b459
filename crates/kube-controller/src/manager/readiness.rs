//! Readiness: whether the caches follow the server.

use crate::controller::AnyInformer;
use kube_informer::SharedInformerFactory;
use kube_informer::informer::{InformerStatus, PartitionStatus, RunError};
use kube_informer::reflector::Phase;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::time::Instant;

/// API servers send a bookmark every minute, once they have sent one.
const SILENCE: Duration = Duration::from_secs(90);

/// Whether a program is ready: whether every informer of a factory has synced, and hears from the server.
///
/// A silent watch may be dead, or nothing may have changed. But a watch that has [sent a
/// bookmark](kube_informer::reflector::ReflectorStatus::sends_bookmarks) sends one about every minute. So if it
/// has been silent for longer than [`watch_silence`](Self::watch_silence), it counts as dead; that is 90
/// seconds by default. A watch without any bookmark so far may stay silent: of events, for example, servers send
/// none. But a server that has sent bookmarks before, and is silent in its next watch, is asked for its version
/// after 75 to 90 seconds. An informer that cannot reach the server, or gets no answer to that, is not
/// ready once it has heard nothing for `watch_silence`, so that a short outage takes no pod out of service.
///
/// ```no_run
/// # fn example(factory: kube_informer::SharedInformerFactory) {
/// use kube_controller::manager::Readiness;
///
/// let readiness = Readiness::new(factory);
/// if let Err(not_ready) = readiness.check() {
///     println!("{not_ready}"); // for example: pods: not a bookmark for 95 s
/// }
/// # }
/// ```
#[derive(Clone)]
#[must_use = "ask `check`"]
pub struct Readiness {
    factory: SharedInformerFactory,
    /// Those that controllers have made and run.
    others: Others,
    silence: Duration,
}

/// Informers that are in no factory, for as long as they exist.
#[derive(Clone, Default)]
pub(super) struct Others(Arc<Mutex<Vec<Weak<dyn AnyInformer>>>>);

impl Others {
    pub(super) fn add(&self, informers: Vec<Weak<dyn AnyInformer>>) {
        self.lock().extend(informers);
    }

    fn living(&self) -> Vec<Arc<dyn AnyInformer>> {
        let mut informers = self.lock();
        informers.retain(|informer| informer.strong_count() > 0);
        informers.iter().filter_map(Weak::upgrade).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Weak<dyn AnyInformer>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An informer at some time.
pub(super) struct State {
    pub(super) resource: String,
    pub(super) status: InformerStatus,
    failure: Option<RunError>,
}

/// Why a program is not ready.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .reasons.join("; "))]
pub struct NotReady {
    /// Each names the informer, the namespace if the informer is over several, and the problem.
    pub reasons: Vec<String>,
}

impl Readiness {
    /// The readiness of all informers that the factory has at the time of each [`check`](Self::check).
    pub fn new(factory: SharedInformerFactory) -> Self {
        Self {
            factory,
            others: Others::default(),
            silence: SILENCE,
        }
    }

    /// The informers that are asked besides those of the factory.
    pub(super) fn others(&self) -> &Others {
        &self.others
    }

    /// All informers, sorted by resource.
    pub(super) fn informers(&self) -> Vec<State> {
        let of_factory = self.factory.informers().into_iter().map(|informer| State {
            resource: informer.resource,
            status: informer.status,
            failure: informer.failure,
        });
        let others = self.others.living();
        let others = others.iter().map(|informer| State {
            resource: informer.resource().to_owned(),
            status: informer.status(),
            failure: None,
        });
        let mut informers: Vec<_> = of_factory.chain(others).collect();
        informers.sort_by(|a, b| a.resource.cmp(&b.resource));
        informers
    }

    /// How long a watch may be silent. Default: 90 seconds, because servers send bookmarks about every
    /// minute.
    pub fn watch_silence(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    /// Whether all informers follow the server now.
    ///
    /// # Errors
    /// Some informers do not; the error says which, and why.
    pub fn check(&self) -> Result<(), NotReady> {
        let informers = self.informers();
        let reasons: Vec<_> = informers
            .iter()
            .flat_map(|informer| self.reasons(informer))
            .collect();
        match reasons.is_empty() {
            true => Ok(()),
            false => Err(NotReady { reasons }),
        }
    }

    fn reasons(&self, informer: &State) -> Vec<String> {
        let resource = &informer.resource;
        if let Some(failure) = &informer.failure {
            return vec![format!("{resource}: {failure}")];
        }
        let partitions = informer.status.partitions.iter();
        let mut reasons: Vec<_> = partitions
            .filter_map(|partition| {
                let what = self.what_is_wrong(partition)?;
                Some(match (&partition.namespace, &partition.shards) {
                    (Some(namespace), _) => format!("{resource} in {namespace}: {what}"),
                    (None, Some(shards)) => {
                        let ranges: Vec<_> = shards.ranges().iter().map(ToString::to_string).collect();
                        format!("{resource} in shards {}: {what}", ranges.join(","))
                    }
                    (None, None) => format!("{resource}: {what}"),
                })
            })
            .collect();
        if reasons.is_empty() && !informer.status.synced {
            reasons.push(format!("{resource}: not synced"));
        }
        reasons
    }

    fn what_is_wrong(&self, partition: &PartitionStatus) -> Option<String> {
        let status = &partition.reflector;
        if !partition.synced {
            return Some(format!("not synced: {}", status.reason()));
        }
        if matches!(status.phase, Phase::NotServed { .. }) {
            return Some(status.reason());
        }
        let silent = Instant::now().saturating_duration_since(status.last_heard?);
        if silent <= self.silence {
            return None;
        }
        match status.failures {
            0 if !status.sends_bookmarks => None,
            0 => Some(format!("not a bookmark for {} s", silent.as_secs())),
            _ => Some(format!("nothing for {} s: {}", silent.as_secs(), status.reason())),
        }
    }
}

impl std::fmt::Debug for Readiness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Readiness")
            .field("factory", &self.factory)
            .field("silence", &self.silence)
            .finish_non_exhaustive()
    }
}
