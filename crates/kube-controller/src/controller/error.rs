//! What a controller reports.

use crate::reflector::ObjectRef;
use kube::core::DynamicObject;
use kube_informer::form::DecodeError;
use std::time::Duration;

/// Why an object was not reconciled, or a watch failed. The controller goes on after any of them, except for
/// two that a [`QueueError`](Self::QueueError) may contain.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error<ReconcilerErr: 'static, QueueErr: 'static> {
    /// [`reconcile_on`](super::Controller::reconcile_on) named an object that does not exist. An object that
    /// was deleted before its turn is not an error and not reported.
    #[error("there is no {0} to reconcile")]
    ObjectNotFound(Box<ObjectRef<DynamicObject>>),
    /// The reconciler returned an error. The error policy decides when the object is retried.
    #[error("reconciling {1} failed: {0}")]
    ReconcilerFailed(#[source] ReconcilerErr, Box<ObjectRef<DynamicObject>>),
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
    /// A watch, or a stream of the program's own, failed. It is retried, except for
    /// [`OwnedByUid`](crate::watcher::Error::OwnedByUid) and
    /// [`OtherShards`](crate::watcher::Error::OtherShards), which end the controller, and for
    /// [`Stopped`](crate::watcher::Error::Stopped).
    #[error("{0}")]
    QueueError(#[source] QueueErr),
}
