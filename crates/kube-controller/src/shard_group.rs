//! Shard groups: the replicas of a program divide the objects among them.
//!
//! All hashes of uids (or of namespaces) are divided into [`shards`](ShardGroupConfig::shards), and each shard belongs to one replica. A
//! [`ShardGroup`] is one replica's membership. It keeps a [`ShardSet`](kube_informer::ShardSet) equal to what the replica owns:
//! informers over that set [hold only these objects](kube_informer::SharedInformer::over_shards), and a controller
//! [of such an informer](crate::Controller::for_informer) reconciles only these.
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::core::ApiResource;
//! use kube_controller::leader_election::unique_identity;
//! use kube_controller::shard_group::{ShardGroup, ShardGroupConfig};
//! use kube_informer::SharedInformer;
//! use kube_informer::source::{ClientSource, Selection};
//! use tokio_util::sync::CancellationToken;
//!
//! # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = kube::Client::try_from(kube::Config::new("http://127.0.0.1:8001".parse()?))?;
//! let config = ShardGroupConfig::new("default", "my-controller", unique_identity());
//! let mut group = ShardGroup::new(client.clone(), config)?;
//!
//! let source = ClientSource::new(client, ApiResource::erase::<ConfigMap>(&()), Selection::default());
//! let (informer, runner) = SharedInformer::<ConfigMap>::over_shards(source, group.shards()).build();
//!
//! let shutdown = CancellationToken::new(); // cancel it on SIGTERM
//! tokio::spawn(runner.run(CancellationToken::new()));
//! group.run(shutdown).await?;
//! # Ok(()) }
//! ```
//!
//! # Owned kinds
//!
//! The objects that a controller makes follow their owner's shard: a change of an owned object leads to its owner, and the controller
//! reconciles that only if the owner is in one of its shards. With [`ShardField::Namespace`](kube_informer::selector::ShardField::Namespace), all
//! kinds can be watched over the same set: give it to the [factory](kube_informer::factory#shards). With uids, which differ, an owned kind is
//! watched as a whole: a server cannot select by the uid of an owner.
//!
//! A run [waits](crate::controller#namespaces-and-shards-that-are-added) until all kinds that the controller watches have listed the shard.
//!
//! # Leases
//!
//! The group is some Leases in one namespace, with the label [`GROUP_LABEL`]:
//!
//! - one for each replica, which says that it is alive. The rules are those of the [leader election](crate::leader_election): the
//!   replica renews it every [`retry_period`](ShardGroupConfig::retry_period), and others note by their own clock when they have seen it
//!   change. Its holder is the replica's identity, a random number of the process and the number of the *term*.
//! - one for the group, which says in an annotation which term owns which shards. Every write of it is conditional on the version
//!   that was read, so each shard has one owner.
//!
//! A shard is free if nobody owns it, or if the term that does has ended: its Lease was released, is held by another term, or was not
//! renewed for [`lease_duration`](ShardGroupConfig::lease_duration). That a Lease has run out is decided by a list that was asked for
//! after that time and shows it unchanged.
//!
//! # Who gets which shards
//!
//! There is no coordinator. Each replica counts those that are alive, so it knows its share: the shards divided by their number,
//! and one of the rest for some, by a hash of their terms. With less than its share, it takes free shards. With more, it gives
//! some up. So no more shards move than have to.
//!
//! Free shards that others do not take, because they have just crashed or because the replicas do not agree about who is alive, are
//! taken by anybody after a moment, and are divided later.
//!
//! # Handing over
//!
//! A shard that is given up is first [removed](kube_informer::ShardSet::remove) from the set; then it is
//! [waited](kube_informer::ShardSet::idle) for those who hold it: reconciles that run, and informers that have its objects. Only then is
//! it free. On shutdown, all shards are handed over like that.
//!
//! A replica whose Lease could not be renewed for [`renew_deadline`](ShardGroupConfig::renew_deadline) owns nothing any more: no shard
//! can be held. What is running has until 0.8 times the [`lease_duration`](ShardGroupConfig::lease_duration), or the renew deadline if that is later, and is [told to stop at
//! once](kube_informer::ShardSet::expire) then. After that the replica joins again, in a new term. It knows that its former terms have ended, so
//! it takes its Lease at once when the server can be reached again.
//!
//! # A replica that cannot list
//!
//! A replica that renews its Lease, but whose lists or watches fail, keeps its shards, and is *not ready*:
//! [`Readiness`](crate::manager::Readiness), the manager's `/readyz`, the informer's status and an error in the controller's stream name the kind, the
//! shards and the reason. What has been listed is worked on, and the rest as soon as it can be. It does not give the shards up:
//! who can renew reaches the server with the same credentials, and what makes its lists fail (missing permissions, a conversion webhook that is down, a
//! server that throttles) is the same for every replica. Shards that were handed on for such a reason would go round and be listed again and
//! again, and kinds that are well would lose theirs.
//!
//! To have such a replica replaced, use `/readyz` in a liveness probe with a long `failureThreshold`; or cancel the token of
//! [`run`](ShardGroup::run) when [`Readiness::check`](crate::manager::Readiness::check) has failed for too long: it then hands its shards over.
//!
//! # Safety and liveness
//!
//! No shard is in the sets of two replicas, or held by one and in the set of another, under the
//! [conditions of the leader election](crate::leader_election#safety). There is no fencing: a write that is on its way when a
//! shard is lost may still reach the server, so make writes conditional.
//!
//! When a replica crashes, its shards are owned again after `lease_duration` and two seconds at most, and the time of some
//! requests: 17 seconds by default. When one leaves, after about half a `retry_period`.
//!
//! # Load
//!
//! Each replica writes its Lease once in a `retry_period` and lists the Leases twice, or once a second if that is more often: half a write and one list each second by
//! default, whatever the number of shards. A list is about 1 KB for each replica. A shard that moves is two writes of the group's
//! Lease, together with the others that move at the same time.
//!
//! # Permissions
//!
//! The verbs `get`, `list`, `create`, `update` and `delete` on `leases` in `coordination.k8s.io`. Without `delete`, the Leases of replicas
//! that no longer exist stay.

mod assignment;
mod config;
mod group;
mod members;
mod share;

pub use config::{GROUP_LABEL, ShardGroupConfig, ShardGroupConfigError};
pub use group::{ShardGroup, ShardGroupError};

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
