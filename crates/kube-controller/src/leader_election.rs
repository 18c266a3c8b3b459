//! Leader election: of several replicas of a program, only one works at a time.
//!
//! The replicas are candidates for one Lease, an object of `coordination.k8s.io/v1`. The replica that holds
//! the Lease leads, and renews it every [`retry_period`](LeaderElectionConfig::retry_period). The others read
//! the Lease, and take it when it was released, or was not renewed for
//! [`lease_duration`](LeaderElectionConfig::lease_duration). A [`LeaderElector`] is one candidate.
//!
//! ```no_run
//! use kube_controller::leader_election::{LeaderElectionConfig, LeaderElector, unique_identity};
//! use tokio_util::sync::CancellationToken;
//!
//! # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = kube::Client::try_from(kube::Config::new("http://127.0.0.1:8001".parse()?))?;
//! let config = LeaderElectionConfig::new("default", "my-controller", unique_identity());
//! let mut elector = LeaderElector::new(client, config)?;
//!
//! let shutdown = CancellationToken::new(); // cancel it on SIGTERM
//! elector
//!     .run(shutdown.clone(), async |leadership| {
//!         // Start the controllers here. They have to stop when the leadership is cancelled.
//!         leadership.cancelled().await;
//!     })
//!     .await?;
//! # Ok(()) }
//! ```
//!
//! # Rules
//!
//! The rules are those of client-go's package `tools/leaderelection`, so that replicas in Go and in Rust can
//! share a Lease:
//!
//! - A candidate records by its own monotonic clock when it has seen the record (the Lease's `spec`) change.
//!   It regards the Lease as held until `leaseDurationSeconds` after that. The times in the record are for
//!   people: no candidate compares them, so clocks may show different times of day.
//! - A Lease that does not exist is created; one whose holder is empty is taken at once.
//! - Every write is conditional: a create fails if the Lease exists, an update if the Lease was changed since
//!   it was read. A candidate whose write fails tries again later.
//! - A candidate reads the Lease after a random pause of 1 to 2.2 times `retry_period`. The leader renews
//!   every `retry_period`, without reading first; if that fails, it reads the Lease and tries once more.
//! - A takeover counts up `leaseTransitions` and sets `acquireTime`; a renewal changes `renewTime` only.
//!   Labels, annotations and fields that others have set are kept.
//! - A release sets an empty holder and a duration of one second, and keeps `leaseTransitions`.
//!
//! Where the rules differ, they are stricter:
//!
//! - The leader's deadline counts from when the request of its last renewal was *sent*. client-go counts from
//!   when the answer arrived, plus a `retry_period`, so a slow server can lead to two leaders.
//! - A leader that finds another holder in the Lease stops at once, not at its deadline.
//! - The lease is released only after the work has ended, and until then it is renewed, if it can be.
//! - If a record has no positive duration, this candidate's own
//!   [`lease_duration`](LeaderElectionConfig::lease_duration) counts.
//! - If the Lease was deleted, or suddenly names this candidate (after the restore of a backup), it is taken
//!   only after the lease of the previous holder has run out.
//! - `lease_duration` is compared in whole seconds, because a Lease contains whole seconds.
//!
//! # Safety
//!
//! The [`Leadership`]s of two candidates are never live at the same time, provided that
//!
//! - clocks differ in rate by less than the factor `lease_duration / renew_deadline`, which is 1.5 by
//!   default. (The clock of a suspended machine is slow.)
//! - nobody else writes or deletes the Lease. If somebody does, two candidates may lead until the old
//!   leader's next renewal.
//! - identities are unique among running processes: use [`unique_identity`].
//!
//! Work that does not stop when its leadership ends is aborted before the next leader begins, if clocks differ by less than the square root
//! of that factor, 1.22 by default: so much is the difference of two that are wrong by a tenth. An abort ends a task at its next
//! await; threads, and tasks that it has started, go on.
//!
//! There is no fencing: see [`Leadership`] for what that means for the requests of the work.
//!
//! # Liveness
//!
//! When a leader has crashed, another candidate leads after `lease_duration` and two of its pauses: at most
//! `lease_duration + 4.4 * retry_period`, 23.8 seconds by default, and the time of some requests. After a
//! release it takes one pause: at most 4.4 seconds by default. Both hold by the candidate's clock, and while
//! the API server answers.
//!
//! Work begins when the request that takes the Lease was answered. To begin fast, do slow things before:
//! start informers and let them sync while the replica waits for the leadership.
//!
//! # Running again
//!
//! A run ends with its leadership. Then the program may exit, so that its Deployment starts it again, or run
//! the elector again:
//!
//! ```no_run
//! # use kube_controller::leader_election::{LeaderElectionError, LeaderElector, Leadership};
//! # use tokio_util::sync::CancellationToken;
//! # async fn work(leadership: Leadership) {}
//! # async fn example(mut elector: LeaderElector, shutdown: CancellationToken) -> Result<(), LeaderElectionError> {
//! while !shutdown.is_cancelled() {
//!     match elector.run(shutdown.clone(), work).await {
//!         Ok(_) | Err(LeaderElectionError::Lost { .. }) => {}
//!         Err(error) => return Err(error),
//!     }
//! }
//! # Ok(()) }
//! ```
//!
//! # What it does not do
//!
//! It does not support coordinated election (KEP-4355), where the server chooses among `LeaseCandidate`s.
//!
//! # Log and events
//!
//! `became leader` and `stopped leading` are logged, and on request published as
//! [events](LeaderElector::with_recorder) about the Lease.

pub(crate) mod candidate;
pub(crate) mod clock;
mod config;
mod elector;
mod leadership;
pub(crate) mod lock;
pub(crate) mod record;
mod status;

pub use config::{ConfigError, LeaderElectionConfig, unique_identity};
pub(crate) use elector::panic_message;
pub use elector::{LeaderElectionError, LeaderElector};
pub use leadership::Leadership;
pub use status::{LeaderElectionStatus, LeaseExpired};

#[cfg(test)]
pub(crate) mod histories;
#[cfg(test)]
mod simulation;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
