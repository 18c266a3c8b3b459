//! Leader election: of several replicas of a program, one works.
//!
//! The replicas are candidates for one Lease, an object of `coordination.k8s.io/v1`. The one that holds it renews it every
//! [`retry_period`](LeaderElectionConfig::retry_period) and leads; the others look at it, and take it when it was released,
//! or was not renewed for [`lease_duration`](LeaderElectionConfig::lease_duration). A [`LeaderElector`] is one candidate.
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
//! They are those of client-go's package `tools/leaderelection`, so that replicas in Go and in Rust may share a Lease:
//!
//! - A candidate notes by its own monotonic clock when it has seen the record (the Lease's `spec`) change. The Lease is held
//!   until that time and the record's `leaseDurationSeconds` have passed. The times in the record are for people: nothing
//!   compares them, so clocks may show different times of day.
//! - A Lease that does not exist is created; one whose holder is empty is taken at once.
//! - Every write is conditional: a create fails if the Lease exists, an update if it was changed since it was read. The loser
//!   tries again later.
//! - A candidate looks every `retry_period` and up to 1.2 times as much, at random. The leader renews every `retry_period`,
//!   without reading first; if that fails it reads, and tries once more.
//! - A takeover counts up `leaseTransitions` and sets `acquireTime`; a renewal changes `renewTime` only. Labels, annotations
//!   and fields that others have set are kept.
//! - A release sets an empty holder and a duration of one second, and keeps `leaseTransitions`.
//!
//! Where the rules differ, they are stricter:
//!
//! - The leader's deadline counts from when the request of its last renewal was *sent*. client-go counts from when the answer
//!   came, plus a `retry_period`; a slow server then makes two leaders.
//! - A leader that finds another holder in the Lease stops at once, not at its deadline.
//! - The lease is released only after the work has ended, and until then it is renewed, if it can be.
//! - A record without a positive duration counts as one of our own [`lease_duration`](LeaderElectionConfig::lease_duration).
//! - A Lease that was deleted, or that suddenly names this candidate (a restored backup), is taken only when the holder that
//!   was seen before has had its time.
//! - `lease_duration` is compared in whole seconds, as others see it.
//!
//! # Safety
//!
//! The [`Leadership`]s of two candidates are never live at the same time, provided that
//!
//! - no clock runs as fast as `lease_duration / renew_deadline` times another one, which is 1.5 times by default. A machine
//!   that was suspended has a slow clock;
//! - nobody else writes or deletes the Lease. If somebody does, two may lead until the old leader's next renewal;
//! - identities are unique among living processes: use [`unique_identity`].
//!
//! There is no fencing: see [`Leadership`] for what that means for the requests of the work.
//!
//! # Liveness
//!
//! When a leader has crashed, another one leads after `lease_duration` and two of the others' pauses: at most
//! `lease_duration + 4.4 * retry_period`, 23.8 seconds by default, and the time of some requests. After a release it is one
//! pause: at most 4.4 seconds by default. Both by the candidate's clock, once the API server answers.
//!
//! Work begins when the answer to the takeover has come. To begin fast, do slow things before: informers that were started and
//! have synced while waiting for the leadership are warm.
//!
//! # Standing again
//!
//! A run ends with its leadership. A program may exit then, and be started again by its Deployment, or run the elector again:
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
//! Coordinated election (KEP-4355), where the server chooses among `LeaseCandidate`s.
//!
//! # What it tells
//!
//! The log, and [events](LeaderElector::with_recorder) about the Lease for who wants them: `became leader` and
//! `stopped leading`.

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
