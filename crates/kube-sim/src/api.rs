//! What the server does with a request, once it is known what the request asks for.
//!
//! `options` reads and validates the query, `list` and `watch` read, `write` and `patch` change. Answers are bodies of
//! bytes; how they travel is not known here.

use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::access::policy::DecodedPolicy;
use crate::control::controller::Controller;
use crate::faults::rules::Rules;
use crate::issuer::Issuer;
use crate::metrics::Metrics;
use crate::requests::Requests;
use crate::resources::{Registry, Resource};
use crate::status::StatusError;
use crate::storage::Storage;

pub(crate) mod components;
pub(crate) mod fields;
pub(crate) mod list;
pub(crate) mod options;
pub(crate) mod patch;
pub(crate) mod render;
mod review;
pub(crate) mod watch;
pub(crate) mod write;

/// How long a request waits for a resource version that is not there yet, as a real server does.
const FRESHNESS_WAIT: Duration = Duration::from_secs(3);

/// A server's state; shared by all its connections.
pub(crate) struct Api {
    pub(crate) storage: Storage,
    registry: RwLock<Arc<Registry>>,
    pub(crate) bookmark_interval: Duration,
    /// The controllers of the control plane that run.
    pub(crate) controllers: Vec<Controller>,
    /// Held while controllers act.
    pub(crate) settling: Mutex<()>,
    pub(crate) faults: Rules,
    pub(crate) requests: Requests,
    pub(crate) metrics: Metrics,
    /// Whether faults can be made over HTTP.
    pub(crate) control_endpoint: bool,
    /// Whether shard selectors count.
    pub(crate) sharded_lists: bool,
    /// Ends watches when the server stops.
    pub(crate) closing: CancellationToken,
    clock: Clock,
    /// Who may do what; nobody is asked without it.
    pub(crate) access: Option<Access>,
    pub(crate) decoded_policy: Arc<DecodedPolicy>,
    /// Who signs the tokens that are made here; there is nobody before the first one.
    pub(crate) issuer: OnceLock<Issuer>,
    /// Whether this is a simulated run, in which nothing may depend on when a thread ends.
    pub(crate) is_simulated: bool,
}

impl Api {
    pub(crate) fn new(
        storage: Storage,
        registry: Registry,
        bookmark_interval: Duration,
        controllers: Vec<Controller>,
        faults: Rules,
        control_endpoint: bool,
    ) -> Self {
        let closing = CancellationToken::new();
        let clock = Clock {
            started: SystemTime::now(),
            instant: Instant::now(),
        };
        Self {
            storage,
            registry: RwLock::new(Arc::new(registry)),
            bookmark_interval,
            controllers,
            settling: Mutex::new(()),
            faults,
            requests: Requests::default(),
            metrics: Metrics::default(),
            control_endpoint,
            sharded_lists: true,
            closing,
            clock,
            access: None,
            decoded_policy: Arc::default(),
            issuer: OnceLock::new(),
            is_simulated: false,
        }
    }

    /// The same, which ignores shard selectors if this is false.
    pub(crate) fn sharded_lists(mut self, sharded: bool) -> Self {
        self.sharded_lists = sharded;
        self
    }

    /// The same with access control.
    pub(crate) fn guarded(mut self, access: Option<Access>) -> Self {
        self.access = access;
        self
    }

    /// The same in a simulated run, which begins at a time of day.
    pub(crate) fn simulated(mut self, time: SystemTime) -> Self {
        self.is_simulated = true;
        self.clock.started = time;
        self
    }

    pub(crate) fn registry(&self) -> Arc<Registry> {
        self.registry
            .read()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .clone()
    }

    pub(crate) fn with_registry<T>(&self, f: impl FnOnce(&mut Registry) -> T) -> T {
        let mut registry = self
            .registry
            .write()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        f(Arc::make_mut(&mut registry))
    }

    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        self.registry
            .read()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .find(group, version, plural)
    }

    /// Whether the resource is what its definition says now.
    pub(crate) fn is_current(&self, resource: &Arc<Resource>) -> bool {
        self.registry
            .read()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .is_current(resource)
    }

    /// The time now, as objects carry it: it follows tokio's clock, also a paused one.
    pub(crate) fn now(&self) -> jiff::Timestamp {
        self.clock.now()
    }

    /// Waits until the server has reached `version`.
    async fn wait_for(&self, version: u64) -> Result<(), StatusError> {
        let mut versions = self.storage.versions();
        let reached = tokio::time::timeout(FRESHNESS_WAIT, versions.wait_for(|now| *now >= version)).await;
        match reached {
            Ok(_) => Ok(()),
            Err(_) => Err(StatusError::too_large_resource_version(
                version,
                self.storage.resource_version(),
            )),
        }
    }
}

/// Wall-clock time that follows tokio's clock.
struct Clock {
    started: SystemTime,
    instant: Instant,
}

impl Clock {
    fn now(&self) -> jiff::Timestamp {
        let now = self.started + self.instant.elapsed();
        jiff::Timestamp::try_from(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }
}
