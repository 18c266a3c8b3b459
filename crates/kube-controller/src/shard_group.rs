//! Shard groups: the replicas of a program divide the objects among them.
//!
//! The hashes of uids (or of namespaces) are divided into [`shards`](ShardGroupConfig::shards), and each
//! shard belongs to one replica. A [`ShardGroup`] is the membership of one replica. It keeps a
//! [`ShardSet`](kube_informer::ShardSet) equal to the shards that the replica owns. Informers over that set
//! [have only the objects of these shards](kube_informer::SharedInformer::over_shards), and a controller [of
//! such an informer](crate::Controller::for_informer) reconciles only these.
//!
//! This program only watches. For a controller see [below](#with-a-manager).
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
//! let client = kube::Client::try_default().await?;
//! let config = ShardGroupConfig::new("default", "my-controller", unique_identity());
//! let mut group = ShardGroup::new(client.clone(), config)?;
//!
//! let source = ClientSource::new(client, ApiResource::erase::<ConfigMap>(&()), Selection::default());
//! let (informer, runner) = SharedInformer::<ConfigMap>::over_shards(source, group.shards()).build();
//!
//! let shutdown = CancellationToken::new(); // cancel it on SIGTERM
//! let informing = tokio::spawn(runner.run(shutdown.clone()));
//! group.run(shutdown).await?;
//! informing.await??;
//! # Ok(()) }
//! ```
//!
//! # With a manager
//!
//! Give the [set](ShardGroup::shards) to the factory, the factory to the manager, and add the group as a
//! runnable around the informers:
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube_controller::controller::{Action, Controller};
//! use kube_controller::leader_election::unique_identity;
//! use kube_controller::manager::{Manager, RunContext, RunWhen};
//! use kube_controller::shard_group::{ShardGroup, ShardGroupConfig};
//! use kube_informer::SharedInformerFactory;
//! use std::convert::Infallible;
//! use std::sync::Arc;
//!
//! async fn reconcile(map: Arc<ConfigMap>, _: Arc<()>) -> Result<Action, Infallible> {
//!     println!("{:?}", map.metadata.name);
//!     Ok(Action::await_change())
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let client = kube::Client::try_default().await?;
//!     let config = ShardGroupConfig::new("default", "my-controller", unique_identity());
//!     let mut group = ShardGroup::new(client.clone(), config)?;
//!     let factory = SharedInformerFactory::builder(client.clone()).shards(group.shards()).build();
//!     let manager = Manager::with_factory(client, "my-controller", factory);
//!     // With the feature `server`: `let manager = manager.serve_on(([0, 0, 0, 0], 8080).into())?;`
//!     let run = async move |context: RunContext| {
//!         group.retire_on(context.stopping().clone());
//!         group.run(context.token().clone()).await
//!     };
//!     manager.add("shards", RunWhen::AroundInformers, run)?;
//!     let maps = Controller::for_informer(&manager.factory().informer::<ConfigMap>());
//!     manager.add_controller(maps, reconcile, |_, _, _| Action::backoff(), Arc::new(()))?;
//!     // On SIGTERM: retire, finish reconciles, stop informers, hand over the shards.
//!     manager.run().await?;
//!     Ok(())
//! }
//! ```
//!
//! Do not call [`leader_election`](crate::manager::Manager::leader_election): with it, only one replica
//! works. Run several replicas (`replicas: 3`), with these [permissions](#permissions).
//! [`shards.rs`](https://github.com/kube-informer/kube-informer/blob/main/examples/shards.rs) and
//! [`sharded-controller.rs`](https://github.com/kube-informer/kube-informer/blob/main/examples/sharded-controller.rs)
//! are programs without a manager.
//!
//! When the program begins to stop, the replica [retires](ShardGroup::retire_on): it takes no more shards.
//! Running reconciles end first. Then the informers stop, and [save their
//! caches](kube_informer::warm_start). Then the replica hands over all shards together. All of this must end
//! within the manager's [graceful shutdown
//! timeout](crate::manager::Manager::graceful_shutdown_timeout), else the Lease runs out.
//!
//! So shards wait for the slowest reconcile. If reconciles may take long and nothing is saved, add the group
//! as a [`Warm`](crate::manager::RunWhen::Warm) runnable instead: each shard is then handed over as soon as
//! its own work has ended.
//!
//! # Owned kinds
//!
//! The shard of the owner counts: when an owned object changes, a controller reconciles the owner only if the
//! owner is in one of its shards. With
//! [`ShardField::Namespace`](kube_informer::selector::ShardField::Namespace), owner and owned object are in
//! the same shard, so all kinds can be watched over the same set: give the set to the
//! [factory](kube_informer::factory#shards). With uids (the default), an owned kind must be watched as a whole,
//! because a server cannot select by the uid of an owner. Request its informer for all shards, or use
//! [`Controller::owns`](crate::Controller::owns):
//!
//! ```no_run
//! # use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
//! # use kube_controller::Controller;
//! # use kube_informer::SharedInformerFactory;
//! use kube_informer::factory::InformerRequest;
//!
//! # fn example(factory: &SharedInformerFactory) {
//! let sets = factory.informer_with(InformerRequest::<ReplicaSet>::new().all_shards());
//! let controller = Controller::for_informer(&factory.informer::<Deployment>()).owns_informer(&sets);
//! # }
//! ```
//!
//! A factory's informer of an owned kind over shards by uid ends the controller with
//! [`OwnedByUid`](crate::controller::RunnerError::OwnedByUid), and with it the [manager](crate::manager::Manager::add_controller).
//!
//! A run [waits](crate::controller#namespaces-and-shards-that-are-added) until all kinds that the controller
//! watches have listed the shard.
//!
//! # Leases
//!
//! The state of the group is in Leases in one namespace, with the label [`GROUP_LABEL`]:
//!
//! - Each replica has a Lease, which shows that the replica is alive. The rules are those of the [leader
//!   election](crate::leader_election): the replica renews it every
//!   [`retry_period`](ShardGroupConfig::retry_period), and others record by their own clock when they have
//!   seen it change. Its holder consists of the replica's identity, a random number of the process, and the
//!   number of the *term*, which grows each time the replica joins.
//! - The group has a Lease with an annotation that says which terms take part, and which of them owns which
//!   shards. Every write of it is conditional on the version that was read, so each shard has one owner.
//!
//! A shard is free if nobody owns it, or if the term of its owner has ended: the owner's Lease was released,
//! is held by another term, or was not renewed for [`lease_duration`](ShardGroupConfig::lease_duration). A
//! Lease has run out only if a list that was requested after that time shows it unchanged.
//!
//! If somebody deletes the group's Lease, the work goes on: the first replica that looks writes a new one, with
//! its own shards and the names of all terms that are alive, and each of these adds what it owns. Until all
//! have done so, or have ended, no shard is free, and none is given up. The same holds for a new group. So if a
//! replica crashes just then, or can read the new Lease and not write it, others wait for a `lease_duration` at
//! most, and for one that renews its Lease, but has become unable to read the group's, until it can. Do not delete the Leases of
//! running replicas: one that has just started, and has never seen them, does not know of these.
//!
//! # Who gets which shards
//!
//! There is no coordinator. Each replica counts the replicas that take part: they are alive, are not about to
//! leave, and have written themselves into the group's Lease, so that no share is left to one that cannot. It
//! computes its share: the number of shards divided by the number of replicas. If that leaves a remainder, some replicas, chosen by a
//! hash of their identities, get one shard more. A replica with less than its share takes free shards. A
//! replica with more gives some up. So no more shards move than necessary.
//!
//! If a replica does not take the free shards of its share, because it has just crashed or because the
//! replicas see different ones alive, any replica takes them after a short time. They are balanced after a
//! `lease_duration`. If a replica then does not take them again, the time doubles, up to 16 times as long, until
//! other replicas take part.
//!
//! # Handing over
//!
//! A replica gives up a shard in three steps. It [removes](kube_informer::ShardSet::remove) the shard from
//! the set. It [waits](kube_informer::ShardSet::idle) until nobody holds the shard: no running reconcile, and
//! no informer that has its objects. Then it writes that the shard is free. On shutdown, it hands over all
//! shards in this way.
//!
//! Before these steps, a replica that is not shutting down writes the group's Lease once, to see that it can.
//! If it cannot, it keeps its shards and works on. If it has given shards up, or others wait for it to say what it
//! owns, and it cannot read or write the group's Lease for [`renew_deadline`](ShardGroupConfig::renew_deadline), it gives up all shards: when the work
//! on them has ended, it releases its Lease, and others take them. A replica also gives up all shards if it
//! cannot read the group's Lease for that long after a write failed that takes shards. It may own those
//! shards: whatever the answer was, the write may be done later, because clients and proxies may send a
//! request twice.
//!
//! If a replica could not renew its Lease for [`renew_deadline`](ShardGroupConfig::renew_deadline), it owns
//! nothing any more, and no shard can be held. Running work may continue until 0.8 times the
//! [`lease_duration`](ShardGroupConfig::lease_duration), or until the renew deadline if that is later. Then
//! it must [stop at once](kube_informer::ShardSet::expire). If somebody else holds the Lease or owns the
//! shards, against these rules, running work must stop as soon as the replica sees that. After that, the replica joins again in a new
//! term. It knows that its former terms have ended, so it takes its Lease at once when it reaches the server
//! again.
//!
//! # A replica that cannot list
//!
//! A replica that renews its Lease, but whose lists or watches fail, keeps its shards and is *not ready*:
//! [`Readiness`](crate::manager::Readiness), the manager's `/readyz`, the informer's status and an error in
//! the controller's stream name the kind, the shards and the reason. It works on the objects that it has
//! listed, and on the others as soon as they are listed.
//!
//! It does not give the shards up, because another replica would not do better. It can renew, so it reaches
//! the server with the same credentials. The usual reasons for failing lists (missing permissions, a
//! conversion webhook that is down, a server that throttles) are the same for every replica. If shards moved
//! for such a reason, they would go from replica to replica and be listed again and again, and kinds without
//! a problem would move with them.
//!
//! If such a replica should be replaced nevertheless, use `/readyz` in a liveness probe with a long
//! `failureThreshold`. Or cancel the token of [`run`](ShardGroup::run) when
//! [`Readiness::check`](crate::manager::Readiness::check) has failed for too long: the replica then hands
//! over its shards.
//!
//! # Safety and liveness
//!
//! A shard is never in the sets of two replicas, under the [conditions of the leader
//! election](crate::leader_election#safety). Nor is it held by one replica while it is in the set of another, if
//! the work stops as soon as it is [told to](kube_informer::ShardHold::expired), and clocks differ in rate by
//! less than the factor 1.25, or `lease_duration / renew_deadline` if that is less. There is no fencing: a
//! request that was sent before a shard was lost may reach the server later, so make writes conditional.
//!
//! When a replica crashes, its shards have new owners after at most `lease_duration`, two seconds and the
//! time of some requests: 17 seconds by default. A request whose answer is lost takes half a
//! `renew_deadline`, and the replica learns of its effect when it looks again. If a new owner crashes before it has begun to work, this
//! time begins again. When a replica leaves, it takes about half a `retry_period`. This holds also if some
//! replicas renew their Leases and cannot write the group's, with three exceptions: shards that such a replica
//! was about to hand over wait until its work on others has ended, for another `lease_duration` at most;
//! shards of a replica that is leaving, for its `graceful_shutdown_timeout` at most; and shards of a replica
//! that [retires](ShardGroup::retire_on), until its shutdown, for which only the program can set a limit.
//!
//! # Load
//!
//! In each `retry_period`, a replica writes its Lease once and lists the Leases twice; if that is less than
//! one list each second, it lists once a second. So by default a replica sends half a write and one list each
//! second, whatever the number of shards. A list is about 1 KB for each replica. A replica that joins writes
//! the group's Lease once. Moving shards takes three writes for all that move at the same time.
//!
//! # Permissions
//!
//! A replica needs the verbs `get`, `list`, `create`, `update` and `delete` on `leases` in
//! `coordination.k8s.io`. Without `delete`, the Leases of replicas that no longer exist remain.

mod assignment;
mod config;
mod error;
mod free;
mod group;
mod member;
mod members;
mod owns_until;
mod share;
mod stop;
mod unanswered;

pub use config::{GROUP_LABEL, ShardGroupConfig, ShardGroupConfigError};
pub use error::ShardGroupError;
pub use group::ShardGroup;

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
