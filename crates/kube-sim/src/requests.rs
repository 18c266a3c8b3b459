//! The log of requests, and waiting for what comes of them.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::script::Received;
use crate::storage::Storage;

/// How many requests are kept.
const KEPT: usize = 4096;
/// How many bytes their bodies may have together.
const BODIES: usize = 16 * 1024 * 1024;

/// How long a condition has to come true, unless somebody says so.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// How many different requests are shown when it does not.
const SHOWN: usize = 20;
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

/// A condition did not come true in time.
///
/// `Display` lists the last requests, which often tell why; equal ones once, where the last of them was.
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

/// Waits until the condition returns something.
pub(crate) async fn eventually<F, T>(
    requests: &Requests,
    storage: &Storage,
    patience: Duration,
    mut condition: impl FnMut() -> F,
) -> Result<T, NotYet>
where
    F: Future<Output = Option<T>>,
{
    let end = Instant::now() + patience;
    let mut versions = storage.versions();
    loop {
        versions.mark_unchanged();
        if let Some(value) = condition().await {
            return Ok(value);
        }
        if Instant::now() >= end {
            return Err(NotYet {
                waited: patience,
                requests: last(&requests.all()),
            });
        }
        let look = (Instant::now() + LOOK).min(end);
        let _ = tokio::time::timeout_at(look, versions.changed()).await;
    }
}

/// The last requests. Equal ones are one line, because those that renew a Lease would hide all others.
fn last(requests: &[Received]) -> Vec<String> {
    let mut lines: Vec<(String, usize)> = Vec::new();
    for request in requests.iter().rev().map(ToString::to_string) {
        match lines.iter().position(|(line, _)| *line == request) {
            Some(at) => lines[at].1 += 1,
            None if lines.len() < SHOWN => lines.push((request, 1)),
            None => {}
        }
    }
    let shown = lines.into_iter().rev().map(|(line, times)| match times {
        1 => line,
        times => format!("{line} ({times} times)"),
    });
    shown.collect()
}
