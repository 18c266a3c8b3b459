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
    /// The number of regressions of the version at the time the wanted version was obtained.
    rewinds: Option<u64>,
}

/// Why a wait for a resource version ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The version is opaque, so it cannot be determined when it is reached.
    #[error("cannot wait for resource version {0:?}: it cannot be compared")]
    Opaque(ResourceVersion),
    /// The store is at a version that cannot be compared with the wanted one.
    #[error(
        "cannot wait for resource version {wanted}: partition {partition} is at {reached:?}, which cannot be compared"
    )]
    Incomparable {
        /// The version that was waited for.
        wanted: ResourceVersion,
        /// The partition in which it is not known to be applied.
        partition: Partition,
        /// The version of that partition; `None` if it has no version.
        reached: ResourceVersion,
    },
    /// The partition that was waited for is no longer part of the store.
    #[error("resource version {wanted} will never be reached: partition {partition} was removed")]
    Removed {
        /// The version that was waited for.
        wanted: ResourceVersion,
        /// The partition.
        partition: Partition,
    },
    /// During the wait the store's version regressed: the server was restored or replaced, so versions obtained
    /// before have no meaning any more.
    #[error("gave up waiting for resource version {wanted}: the server's version went back, partition {partition} is at {}", display(.reached))]
    VersionRegressed {
        /// The version that was waited for.
        wanted: ResourceVersion,
        /// The first partition in which it had not been applied.
        partition: Partition,
        /// The version of that partition; `None` if it has no version.
        reached: Option<ResourceVersion>,
    },
    /// The timeout elapsed.
    #[error("timed out waiting for resource version {wanted}: partition {partition} is at {}", display(.reached))]
    Timeout {
        /// The version that was waited for.
        wanted: ResourceVersion,
        /// The first partition in which it has not been applied yet.
        partition: Partition,
        /// The version of that partition; `None` if it has none yet.
        reached: Option<ResourceVersion>,
    },
    /// The store's writer was dropped, so the version will never be reached.
    #[error("resource version {wanted} will never be reached: the store is closed with partition {partition} at {}", display(.reached))]
    Closed {
        /// The version that was waited for.
        wanted: ResourceVersion,
        /// The first partition in which it has not been applied.
        partition: Partition,
        /// The version of that partition; `None` if it has none.
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

    /// Waits for this partition only. By default all partitions must have reached the version.
    pub fn partition(self, partition: Partition) -> Self {
        Self {
            partition: Some(partition),
            ..self
        }
    }

    /// Sets a timeout. By default the wait has none; zero checks once.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self {
            timeout: Some(timeout),
            ..self
        }
    }

    /// Also fails if versions have regressed more than `rewinds` times.
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
            Err(_) => match self.check()? {
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
            // Created before the check, so that it completes with any publication after this line.
            let changed = self.shared.changed.notified();
            let closed = self.shared.closed.load(Ordering::Acquire);
            match self.check()? {
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

    /// The first partition that has not reached the version, with its version.
    fn check(&self) -> Result<Option<(Partition, Option<ResourceVersion>)>, WaitError> {
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
