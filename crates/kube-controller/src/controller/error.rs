//! What a controller reports.

use crate::reflector::ObjectRef;
use kube::core::DynamicObject;
use kube_informer::form::DecodeError;
use kube_informer::informer::Unsynced;
use kube_informer::reflector::LastError;
use std::time::Duration;

/// Why an object was not reconciled, or a watch failed. The controller goes on after any of them, except for
/// [some reasons](RunnerError) that end it.
///
/// The variants are those of kube, so that a program written for kube may match all of them.
#[derive(Debug, thiserror::Error)]
pub enum Error<ReconcilerErr: 'static, QueueErr: 'static> {
    /// [`reconcile_on`](super::Controller::reconcile_on) named an object that does not exist. An object that
    /// was deleted before its turn is not an error and not reported.
    #[error("there is no {0} to reconcile")]
    ObjectNotFound(Box<ObjectRef<DynamicObject>>),
    /// The reconciler returned an error. The error policy decides when the object is retried.
    #[error("reconciling {1} failed: {0}")]
    ReconcilerFailed(#[source] ReconcilerErr, Box<ObjectRef<DynamicObject>>),
    /// A stream that the program has given to the controller returned an error. Whether it goes on is up to
    /// the stream.
    #[error("{0}")]
    QueueError(#[source] QueueErr),
    /// Any other reason.
    #[error(transparent)]
    RunnerError(#[from] RunnerError),
}

/// Why an object was not reconciled although its reconciler has not returned an error, or why an informer of
/// the controller has not what it needs.
///
/// An error of an informer names the kind. It does not affect other kinds, and its requests are retried.
/// After [`OwnedByUid`](Self::OwnedByUid) and [`OtherShards`](Self::OtherShards), the controller ends, and
/// after [`Stopped`](Self::Stopped) of its own kind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunnerError {
    /// The reconciler or the error policy panicked. The object is retried after a
    /// [backoff](super::Action::backoff).
    #[error("reconciling {object} panicked: {message}")]
    ReconcilerPanicked {
        /// The panic's message.
        message: String,
        /// The object.
        object: Box<ObjectRef<DynamicObject>>,
    },
    /// The reconciler exceeded its [time](super::Config::reconcile_timeout), and was dropped. The object is
    /// retried after a [backoff](super::Action::backoff).
    #[error("reconciling {object} took longer than {} s", .timeout.as_secs_f64())]
    ReconcilerTimedOut {
        /// The limit.
        timeout: Duration,
        /// The object.
        object: Box<ObjectRef<DynamicObject>>,
    },
    /// The reconciler was dropped, because this replica had to give up the object's
    /// [shard](crate::shard_group) at once. Another replica reconciles the object, or this one once the shard
    /// is back.
    #[error("reconciling {0} was stopped, because its shard was lost")]
    ShardLost(Box<ObjectRef<DynamicObject>>),
    /// The object does not match its type, so the reconciler was not called. It is tried again when the
    /// object changes.
    #[error("{1} cannot be read: {0}")]
    ObjectInvalid(#[source] DecodeError, Box<ObjectRef<DynamicObject>>),
    /// The server refuses the requests, and waiting does not help: permissions or credentials are missing, or
    /// the kind is not installed. The controller continues without the refused part of this kind, and uses it
    /// as soon as it is served. If it is the controller's own kind, the controller waits for it.
    #[error("cannot watch {resource}: {}", reasons(.unsynced))]
    Refused {
        /// The resource: `pods`, `deployments.apps`.
        resource: String,
        /// The reasons, one for each namespace that is listed separately.
        unsynced: Vec<Unsynced>,
    },
    /// The kind, or a namespace or shard that was added, has not been listed in time. The controller
    /// continues without it, and uses it as soon as it has been listed. If it is the controller's own kind,
    /// the controller waits for it.
    #[error("{resource} have not synced within {} s: {}", .timeout.as_secs_f64(), reasons(.unsynced))]
    NotSynced {
        /// The resource: `pods`, `deployments.apps`.
        resource: String,
        /// The [time limit](super::Config::sync_timeout).
        timeout: Duration,
        /// The reasons, one for each namespace that is listed separately.
        unsynced: Vec<Unsynced>,
    },
    /// A request failed after the kind had synced.
    #[error("{} of {} failed: {}", .0.operation, .0.resource, .0.message)]
    WatchFailed(LastError),
    /// The informer of owned objects is over shards by uid. An owned object has another uid than its owner,
    /// so it may be in a shard of another replica, and the controller would take it for absent. So the
    /// controller ends.
    #[error(
        "{resource} are owned objects, and their informer is over shards by uid: request it for all shards, or divide by namespace"
    )]
    OwnedByUid {
        /// The resource: `pods`, `deployments.apps`.
        resource: String,
    },
    /// The informer is over another [`ShardSet`](kube_informer::ShardSet) than that of the controller's own
    /// kind. So it may lack objects that belong to the reconciled objects, and the controller could not
    /// notice. So the controller ends.
    #[error(
        "the informer of {resource} is over other shards than the controller's own kind: use one ShardSet for both"
    )]
    OtherShards {
        /// The resource: `pods`, `deployments.apps`.
        resource: String,
    },
    /// The informer has stopped, so there will be no more changes.
    #[error("the informer of {resource} has stopped")]
    Stopped {
        /// The resource: `pods`, `deployments.apps`.
        resource: String,
    },
}

impl RunnerError {
    /// Whether the program has to be changed: a controller ends after such an error.
    pub(crate) fn ends_controller(&self) -> bool {
        matches!(self, Self::OwnedByUid { .. } | Self::OtherShards { .. })
    }
}

/// The reasons, with their namespaces if the informer is over several.
fn reasons(unsynced: &[Unsynced]) -> String {
    let reasons = unsynced.iter().map(|unsynced| match &unsynced.namespace {
        Some(namespace) => format!("{namespace}: {}", unsynced.why),
        None => unsynced.why.clone(),
    });
    reasons.collect::<Vec<_>>().join("; ")
}
