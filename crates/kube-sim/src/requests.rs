//! The log of requests, and waiting for what comes of them.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::time::Instant;

use crate::api::Api;
use crate::script::Received;

/// How many requests are kept.
const KEPT: usize = 4096;
/// How many bytes their bodies may have together.
const BODIES: usize = 16 * 1024 * 1024;

/// How long a condition has to come true, unless somebody says so.
const PATIENCE: Duration = Duration::from_secs(10);
/// A condition is looked at so often, beside whenever an object changes.
const LOOK: Duration = Duration::from_millis(50);

/// The last requests.
#[derive(Default)]
pub(crate) struct Requests(Mutex<Log>);

#[derive(Default)]
struct Log {
    requests: VecDeque<Arc<Received>>,
    bodies: usize,
}

impl Requests {
    pub(crate) fn add(&self, request: Arc<Received>) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.bodies += request.body.len();
        log.requests.push_back(request);
        while log.requests.len() > KEPT || log.bodies > BODIES {
            let Some(oldest) = log.requests.pop_front() else {
                break;
            };
            log.bodies -= oldest.body.len();
        }
    }

    pub(crate) fn all(&self) -> Vec<Received> {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.requests.iter().map(|request| (**request).clone()).collect()
    }
}

/// Waits for a condition; made by [`Sim::eventually`](crate::Sim::eventually).
#[must_use = "it waits only when it is awaited"]
pub struct Eventually<C> {
    api: Arc<Api>,
    condition: C,
    patience: Duration,
}

impl<C> fmt::Debug for Eventually<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Eventually")
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}

impl<C> Eventually<C> {
    pub(crate) fn new(api: Arc<Api>, condition: C) -> Self {
        Self {
            api,
            condition,
            patience: PATIENCE,
        }
    }

    /// Waits for so long. Default: 10 s, by tokio's clock.
    pub fn within(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}

/// A condition did not come true in time.
///
/// `Display` lists the last requests, which often tell why.
#[derive(Debug, Clone)]
pub struct NotYet {
    waited: Duration,
    requests: Vec<String>,
}

impl fmt::Display for NotYet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "this did not come true within {:?}; the last requests:",
            self.waited
        )?;
        self.requests
            .iter()
            .try_for_each(|request| write!(f, "\n  {request}"))
    }
}

impl std::error::Error for NotYet {}

impl<C, F, T> IntoFuture for Eventually<C>
where
    C: FnMut() -> F + Send + 'static,
    F: Future<Output = Option<T>> + Send,
    T: Send + 'static,
{
    type Output = Result<T, NotYet>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(mut self) -> Self::IntoFuture {
        async move {
            let end = Instant::now() + self.patience;
            let mut versions = self.api.storage.versions();
            loop {
                versions.mark_unchanged();
                if let Some(value) = (self.condition)().await {
                    return Ok(value);
                }
                if Instant::now() >= end {
                    let requests = self.api.requests.all();
                    let last = requests.iter().rev().take(20).rev();
                    return Err(NotYet {
                        waited: self.patience,
                        requests: last.map(ToString::to_string).collect(),
                    });
                }
                let look = (Instant::now() + LOOK).min(end);
                let _ = tokio::time::timeout_at(look, versions.changed()).await;
            }
        }
        .boxed()
    }
}
