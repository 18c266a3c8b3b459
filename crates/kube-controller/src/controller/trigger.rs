//! Requests of objects that the program makes, by streams of its own.

use crate::utils::{Backoff, StreamBackoff};
use crate::watcher;
use futures::StreamExt;
use futures::stream::{self, BoxStream, SelectAll};
use kube_informer::ObjectKey;

/// A request of objects that does not come from an informer.
pub(super) enum Trigger {
    All,
    Key(ObjectKey),
    /// The program named this object.
    Named(ObjectKey),
    Failed(watcher::Error),
}

impl Trigger {
    pub(super) fn of(keys: Result<Vec<ObjectKey>, watcher::Error>) -> Vec<Self> {
        match keys {
            Ok(keys) => keys.into_iter().map(Self::Key).collect(),
            Err(error) => vec![Self::Failed(error)],
        }
    }
}

/// Pauses the streams after failures of any of them, if that was asked for.
pub(super) fn paused(
    triggers: SelectAll<BoxStream<'static, Trigger>>,
    backoff: Option<Box<dyn Backoff>>,
) -> SelectAll<BoxStream<'static, Trigger>> {
    let Some(backoff) = backoff else {
        return triggers;
    };
    let results = triggers.map(|trigger| match trigger {
        Trigger::Failed(error) => Err(error),
        trigger => Ok(trigger),
    });
    let paused = StreamBackoff::new(results, backoff);
    stream::select_all([paused
        .map(|result| result.unwrap_or_else(Trigger::Failed))
        .boxed()])
}
