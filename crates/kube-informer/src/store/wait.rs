//! Waiting until a resource version has been applied.

use super::{control::Shared, versions::Reached};
use crate::object::{Partition, ResourceVersion};
use std::{
    fmt,
    future::{Future, IntoFuture},
    pin::Pin,
    sync::atomic::Ordering,
    time::Duration,
};

/// A wait for a resource version, see [`Indexer::wait_until`](super::Indexer::wait_until); await it.
#[must_use = "awaited, it waits"]
pub struct Wait<'a, R> {
    shared: &'a Shared<R>,
    version: &'a ResourceVersion,
    partition: Option<Partition>,
    timeout: Option<Duration>,
    /// How often versions had gone back when the wanted one was learned.
    rewinds: Option<u64>,
}

/// Why a wait for a resource version ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The version has no order: there is no saying when it is reached.
    #[error("cannot wait for resource version {0:?}: it cannot be compared")]
    Opaque(ResourceVersion),
    /// The store is at a version that has no order with the one that is waited for.
    #[error(
        "cannot wait for resource version {wanted}: partition {partition} is at {reached:?}, which cannot be compared"
    )]
    Incomparable {
        /// What was waited for.
        wanted: ResourceVersion,
        /// Where it is not known to be applied.
        partition: Partition,
        /// Where that partition is.
        reached: ResourceVersion,
    },
    /// The partition that was waited for is no longer part of the store.
    #[error("resource version {wanted} will never be reached: partition {partition} was taken out")]
    Removed {
        /// What was waited for.
        wanted: ResourceVersion,
        /// Where.
        partition: Partition,
    },
    /// While it was waited for, the store's version went back: the server was restored or replaced, and its versions
    /// from before mean nothing any more.
    #[error("gave up waiting for resource version {wanted}: the server's version went back, partition {partition} is at {}", display(.reached))]
    VersionRegressed {
        /// What was waited for.
        wanted: ResourceVersion,
        /// Where it had not been applied (the first such partition).
        partition: Partition,
        /// Where that partition is.
        reached: Option<ResourceVersion>,
    },
    /// The time was up.
    #[error("timed out waiting for resource version {wanted}: partition {partition} is at {}", display(.reached))]
    Timeout {
        /// What was waited for.
        wanted: ResourceVersion,
        /// Where it has not been applied yet (the first such partition).
        partition: Partition,
        /// Where that partition is; `None` if it has no version yet.
        reached: Option<ResourceVersion>,
    },
    /// The store has no writer any more: the version will never be reached.
    #[error("resource version {wanted} will never be reached: the store is closed with partition {partition} at {}", display(.reached))]
    Closed {
        /// What was waited for.
        wanted: ResourceVersion,
        /// Where it has not been applied (the first such partition).
        partition: Partition,
        /// Where that partition is; `None` if it has no version.
        reached: Option<ResourceVersion>,
    },
}

fn display(version: &Option<ResourceVersion>) -> String {
    version
        .as_ref()
        .map_or_else(|| "none yet".to_owned(), ToString::to_string)
}

impl<'a, R> Wait<'a, R> {
    pub(crate) fn new(shared: &'a Shared<R>, version: &'a ResourceVersion) -> Self {
        Self {
            shared,
            version,
            partition: None,
            timeout: None,
            rewinds: None,
        }
    }

    /// Waits for this partition alone. By default all must have reached the version.
    pub fn partition(self, partition: Partition) -> Self {
        Self {
            partition: Some(partition),
            ..self
        }
    }

    /// Gives up after this time. By default it waits for ever; zero looks once.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self {
            timeout: Some(timeout),
            ..self
        }
    }

    /// Gives up also if versions have gone back since they had gone back so often.
    pub(crate) fn since(self, rewinds: u64) -> Self {
        Self {
            rewinds: Some(rewinds),
            ..self
        }
    }

    async fn wait(self) -> Result<(), WaitError> {
        let Some(timeout) = self.timeout else {
            return self.reached().await;
        };
        match tokio::time::timeout(timeout, self.reached()).await {
            Ok(result) => result,
            Err(_) => match self.look()? {
                None => Ok(()),
                Some((partition, reached)) => Err(WaitError::Timeout {
                    wanted: self.version.clone(),
                    partition,
                    reached,
                }),
            },
        }
    }

    async fn reached(&self) -> Result<(), WaitError> {
        let now = || self.shared.published.load().versions.rewinds();
        let rewinds = self.rewinds.unwrap_or_else(now);
        loop {
            // Made before looking: it completes with any publication after this line.
            let changed = self.shared.changed.notified();
            let closed = self.shared.closed.load(Ordering::Acquire);
            match self.look()? {
                None => return Ok(()),
                Some((partition, reached)) if closed => {
                    return Err(WaitError::Closed {
                        wanted: self.version.clone(),
                        partition,
                        reached,
                    });
                }
                Some((partition, reached)) if now() != rewinds => {
                    return Err(WaitError::VersionRegressed {
                        wanted: self.version.clone(),
                        partition,
                        reached,
                    });
                }
                Some(_) => changed.await,
            }
        }
    }

    /// Where the version has not been reached yet.
    fn look(&self) -> Result<Option<(Partition, Option<ResourceVersion>)>, WaitError> {
        let state = self.shared.published.load();
        match state.versions.reached(self.version, self.partition) {
            Reached::Yes => Ok(None),
            _ if !self.version.is_comparable() => Err(WaitError::Opaque(self.version.clone())),
            Reached::NotYet(partition, reached) => Ok(Some((partition, reached))),
            Reached::Removed(partition) => Err(WaitError::Removed {
                wanted: self.version.clone(),
                partition,
            }),
            Reached::Incomparable(partition, reached) => Err(WaitError::Incomparable {
                wanted: self.version.clone(),
                partition,
                reached,
            }),
        }
    }
}

impl<R> fmt::Debug for Wait<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait")
            .field("version", self.version)
            .field("partition", &self.partition)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl<'a, R: Send + Sync + 'static> IntoFuture for Wait<'a, R> {
    type Output = Result<(), WaitError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.wait())
    }
}
