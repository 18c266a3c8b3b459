//! The rules of client-go's election, one by one. The numbers are those of the catalogue of its own tests.

mod candidate;
mod elector;

use super::candidate::Try;
use super::clock::{Clock, SystemClock};
use super::config::{ConfigError, LeaderElectionConfig, unique_identity};
use super::elector::{LeaderElectionError, LeaderElector};
use super::leadership::Leadership;
use super::lock::{LeaseLock, LockError};
use super::testing::{Answer, Cluster, Fate, config, seconds};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::Method;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

const LONG_AGO: &str = "2001-01-01T00:00:00.000000Z";
const LATER: &str = "2101-01-01T00:00:00.000000Z";

fn held_by(holder: &str) -> Value {
    json!({
        "holderIdentity": holder, "leaseDurationSeconds": 15, "leaseTransitions": 3,
        "acquireTime": LONG_AGO, "renewTime": LONG_AGO,
    })
}

fn renew(cluster: &Cluster, time: &str) {
    cluster.change(|lease| lease["spec"]["renewTime"] = time.into());
}

fn is_held(attempt: Result<Try, LockError>) -> bool {
    matches!(attempt, Ok(Try::Held(_)))
}

async fn until_cancelled(leadership: Leadership) {
    leadership.cancelled().await;
}

/// Runs the elector with work that lasts until it is cancelled, and waits until it has begun.
async fn leading(
    mut elector: LeaderElector,
) -> (
    Leadership,
    CancellationToken,
    tokio::task::JoinHandle<Result<Option<()>, LeaderElectionError>>,
) {
    let shutdown = CancellationToken::new();
    let (began, begun) = oneshot::channel();
    let task = tokio::spawn({
        let shutdown = shutdown.clone();
        async move {
            let work = |leadership: Leadership| async move {
                began.send(leadership.clone()).unwrap();
                leadership.cancelled().await;
            };
            elector.run(shutdown, work).await
        }
    });
    (begun.await.expect("it leads"), shutdown, task)
}
