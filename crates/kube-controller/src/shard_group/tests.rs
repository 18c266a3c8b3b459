//! One replica, or a few, in a cluster in the process.

mod answers;
mod deleted;
mod retiring;
mod unwritable;

use super::*;
use crate::leader_election::testing::{Answer, Cluster, Fate, Network};
use http::Method;
use kube_informer::ShardSet;
use kube_sim::faults::PUT;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

const SECOND: Duration = Duration::from_secs(1);
const LEASES: (&str, &str) = ("coordination.k8s.io/v1", "Lease");
const ANNOTATION: &str = "kube-informer.dev/shards";

fn config(identity: &str) -> ShardGroupConfig {
    ShardGroupConfig {
        shards: 8,
        ..ShardGroupConfig::new("default", "workers", identity)
    }
}

struct Replica {
    shards: ShardSet,
    retire: CancellationToken,
    shutdown: CancellationToken,
    running: JoinHandle<Result<(), ShardGroupError>>,
}

impl Replica {
    fn start(cluster: &Cluster, config: ShardGroupConfig) -> Self {
        Self::start_with(cluster.client(), config)
    }

    fn start_with(client: kube::Client, config: ShardGroupConfig) -> Self {
        let mut group = ShardGroup::new(client, config).unwrap();
        let shards = group.shards().clone();
        let (retire, shutdown) = (CancellationToken::new(), CancellationToken::new());
        group.retire_on(retire.clone());
        let stop = shutdown.clone();
        let running = tokio::spawn(async move { group.run(stop).await });
        Self {
            shards,
            retire,
            shutdown,
            running,
        }
    }

    async fn has(&self, count: usize) {
        let mut selected = self.shards.subscribe();
        let has = selected.wait_for(|selected| selected.len() == count);
        timeout(60 * SECOND, has).await.expect("in time").unwrap();
    }

    async fn leave(self) {
        self.shutdown.cancel();
        self.running.await.unwrap().unwrap();
    }
}

/// A replica, `a`, with all shards.
async fn alone() -> (Cluster, Replica) {
    let cluster = Cluster::new();
    let a = Replica::start(&cluster, config("a"));
    a.has(8).await;
    (cluster, a)
}

/// Two replicas, `a` and one with this configuration, with half of the shards each.
async fn halves(cluster: &Cluster, other: ShardGroupConfig) -> (Replica, Replica) {
    let (a, b) = (
        Replica::start(cluster, config("a")),
        Replica::start(cluster, other),
    );
    a.has(4).await;
    b.has(4).await;
    (a, b)
}

/// The group's Lease.
fn group(cluster: &Cluster) -> Value {
    let (version, kind) = LEASES;
    let store = cluster.sim.store();
    store.get(version, kind, Some("default"), "workers").unwrap()
}

/// What the group's Lease says.
fn assignment(group: &Value) -> Value {
    serde_json::from_str(group["metadata"]["annotations"][ANNOTATION].as_str().unwrap()).unwrap()
}

/// Waits until the group's Lease says that a replica takes part.
async fn joined(cluster: &Cluster, identity: &str) {
    let prefix = format!("{identity}_");
    let has_joined = || {
        let assignment = assignment(&group(cluster));
        let terms = assignment["owners"].as_object().unwrap().keys();
        terms.into_iter().any(|term| term.starts_with(&prefix))
    };
    timeout(60 * SECOND, async {
        while !has_joined() {
            sleep(SECOND / 100).await;
        }
    })
    .await
    .expect("in time");
}

fn leases(cluster: &Cluster) -> Vec<Value> {
    let (version, kind) = LEASES;
    cluster.sim.store().list(version, kind, Some("default")).unwrap()
}

#[tokio::test(start_paused = true)]
async fn replicas_divide_the_shards() {
    let (cluster, a) = alone().await;
    let b = Replica::start(&cluster, config("b"));
    b.has(4).await;
    assert_eq!(
        &a.shards.shards() | &b.shards.shards(),
        (0..8).collect::<BTreeSet<_>>()
    );
    let kept = a.shards.shards();
    assert!(
        kept.is_subset(&(0..8).collect()) && kept.len() == 4,
        "no more than needed has moved"
    );
    b.leave().await;
    a.has(8).await;
    a.leave().await;
    for lease in leases(&cluster) {
        assert_eq!(lease["metadata"]["labels"][GROUP_LABEL], "workers");
        let holder = &lease["spec"]["holderIdentity"];
        assert!(holder.is_null() || holder == "", "{lease}");
    }
}

#[tokio::test(start_paused = true)]
async fn those_that_start_together_need_not_move_shards() {
    let cluster = Cluster::new();
    let replicas = ["a", "b", "c", "d"].map(|name| Replica::start(&cluster, config(name)));
    for replica in &replicas {
        let selected = replica.shards.subscribe();
        replica.has(2).await;
        assert_eq!(selected.borrow().len(), 2);
    }
}

/// The first list of a replica has no Lease of the group, and another replica makes it, and takes shards, before the GET that follows.
#[tokio::test(start_paused = true)]
async fn who_owns_shards_is_not_judged_by_older_leases() {
    let cluster = Cluster::new();
    let released = config("a").lease_name("a");
    let (version, kind) = LEASES;
    let left = json!({
        "apiVersion": version, "kind": kind,
        "metadata": {"name": released, "namespace": "default", "labels": {GROUP_LABEL: "workers"}},
        "spec": {"holderIdentity": "", "leaseDurationSeconds": 1},
    });
    cluster.sim.store().create(left).unwrap();
    let gets = AtomicU32::new(0);
    let slow = Network::client(&cluster.sim, move |method| {
        // Its own Lease; in a look a list, and the group's Lease.
        let is_meant = method == Method::GET && gets.fetch_add(1, Ordering::Relaxed) == 2;
        Fate {
            there: if is_meant { 4 * SECOND } else { Duration::ZERO },
            ..Fate::OK
        }
    });
    let b = Replica::start_with(slow, config("b"));
    sleep(2 * SECOND).await;
    let a = Replica::start(&cluster, config("a"));
    let mut owned = b.shards.subscribe();
    let owned = owned.wait_for(|owned| !owned.is_empty()).await.unwrap().clone();
    assert!(a.shards.shards().is_disjoint(&owned), "{owned:?}");
}

#[tokio::test(start_paused = true)]
async fn a_shard_moves_when_its_last_hold_is_gone() {
    let (cluster, a) = alone().await;
    let hold = a.shards.hold_number(7).unwrap();
    let b = Replica::start(&cluster, config("b"));
    b.has(3).await;
    sleep(60 * SECOND).await;
    assert!(!a.shards.shards().contains(&7) && !b.shards.shards().contains(&7));
    assert!(!hold.is_expired());
    let released = Instant::now();
    drop(hold);
    b.has(4).await;
    assert!(released.elapsed() < 2 * SECOND, "{:?}", released.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_crashed_replicas_shards_are_taken_after_its_lease() {
    let cluster = Cluster::new();
    let (a, b) = halves(&cluster, config("b")).await;
    b.running.abort();
    let crashed = Instant::now();
    a.has(8).await;
    let took = crashed.elapsed();
    assert!(took >= 13 * SECOND && took <= 17 * SECOND, "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_replica_without_the_server_loses_its_shards_in_time() {
    let (cluster, a) = alone().await;
    let hold = a.shards.hold_number(0).unwrap();
    cluster.requests(|_| Fate::SILENCE);
    let cut = Instant::now();
    a.has(0).await;
    assert!(cut.elapsed() <= 10 * SECOND, "{:?}", cut.elapsed());
    assert!(a.shards.hold_number(0).is_none() && !hold.is_expired());
    hold.expired().await;
    assert!(cut.elapsed() <= 15 * SECOND, "{:?}", cut.elapsed());
    // It joins again when what was running has ended.
    cluster.requests(|_| Fate::OK);
    sleep(30 * SECOND).await;
    assert!(a.shards.is_empty());
    drop(hold);
    a.has(8).await;
}

// Its own Lease, of a term that it knows to have ended, need not run out.
#[tokio::test(start_paused = true)]
async fn a_replica_is_back_as_soon_as_the_server_is() {
    let cluster = Cluster::new();
    let replicas = ["a", "b"].map(|name| Replica::start(&cluster, config(name)));
    for replica in &replicas {
        replica.has(4).await;
    }
    cluster.requests(|_| Fate::SILENCE);
    sleep(60 * SECOND).await;
    assert!(replicas.iter().all(|replica| replica.shards.is_empty()));
    cluster.requests(|_| Fate::OK);
    let back = Instant::now();
    for replica in &replicas {
        replica.has(4).await;
    }
    // A request that waits for its answer, a pause between two tries, and two looks; a lease takes 15 seconds.
    assert!(back.elapsed() < 12 * SECOND, "{:?}", back.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_run_need_not_wait_for_its_lease() {
    let cluster = Cluster::new();
    let mut group = ShardGroup::new(cluster.client(), config("a")).unwrap();
    let shards = group.shards().clone();
    let run = timeout(10 * SECOND, group.run(CancellationToken::new())).await;
    assert!(run.is_err() && shards.is_empty());
    let run = timeout(5 * SECOND, group.run(CancellationToken::new()));
    let owns = async {
        shards
            .subscribe()
            .wait_for(|shards| shards.len() == 8)
            .await
            .unwrap();
    };
    tokio::select! {
        _ = run => panic!("it owns nothing"),
        () = owns => {}
    }
}

#[tokio::test(start_paused = true)]
async fn shards_are_not_taken_twice_by_a_late_write() {
    let (cluster, a) = alone().await;
    let b = Replica::start(&cluster, config("b"));
    // Writes arrive late, and their answers never.
    let mut number = 0;
    cluster.requests(move |method| {
        number += 1;
        match method {
            &Method::PUT if number % 3 == 0 => Fate {
                there: 4 * SECOND,
                answer: Answer::Never,
                ..Fate::OK
            },
            _ => Fate::OK,
        }
    });
    for _ in 0..200 {
        sleep(SECOND / 5).await;
        let both = &a.shards.shards() & &b.shards.shards();
        assert!(both.is_empty(), "{both:?}");
    }
    cluster.requests(|_| Fate::OK);
    a.has(4).await;
    b.has(4).await;
}

#[tokio::test(start_paused = true)]
async fn a_process_of_the_same_name_waits_for_the_first() {
    let cluster = Cluster::new();
    let first = Replica::start(&cluster, config("a"));
    first.has(8).await;
    let second = Replica::start(&cluster, config("a"));
    sleep(60 * SECOND).await;
    assert!(second.shards.is_empty());
    first.leave().await;
    second.has(8).await;
}

// A program may seed the generator of its thread for its own reasons.
#[tokio::test(start_paused = true)]
async fn a_process_of_the_same_name_and_seed_waits_for_the_first() {
    let cluster = Cluster::new();
    fastrand::seed(7);
    let first = Replica::start(&cluster, config("a"));
    first.has(8).await;
    fastrand::seed(7);
    let second = Replica::start(&cluster, config("a"));
    sleep(60 * SECOND).await;
    assert!(second.shards.is_empty());
    assert_eq!(first.shards.shards().len(), 8);
}

#[tokio::test(start_paused = true)]
async fn leases_of_replicas_that_are_gone_are_deleted() {
    let cluster = Cluster::new();
    let a = Replica::start(&cluster, config("a"));
    let b = Replica::start(&cluster, config("b"));
    b.has(4).await;
    b.leave().await;
    assert_eq!(leases(&cluster).len(), 3);
    sleep(200 * SECOND).await;
    assert_eq!(leases(&cluster).len(), 2);
    assert_eq!(a.shards.shards().len(), 8);
}

#[tokio::test(start_paused = true)]
async fn a_group_of_other_shards_is_refused() {
    let (cluster, a) = alone().await;
    let other = ShardGroupConfig {
        shards: 9,
        ..config("b")
    };
    let b = Replica::start(&cluster, other);
    let error = b.running.await.unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the shard group workers has 8 shards by object.metadata.uid; this replica is configured for others"
    );
    a.leave().await;
}

#[tokio::test(start_paused = true)]
async fn a_lease_of_that_name_without_the_label_is_found() {
    for (holder, owns) in [(None, true), (Some("an election"), false)] {
        let cluster = Cluster::new();
        let (version, kind) = LEASES;
        let lease = json!({
            "apiVersion": version, "kind": kind, "metadata": {"namespace": "default", "name": "workers"},
            "spec": {"holderIdentity": holder},
        });
        cluster.sim.store().create(lease).unwrap();
        let a = Replica::start(&cluster, config("a"));
        if owns {
            a.has(8).await;
            a.leave().await;
            continue;
        }
        let error = a.running.await.unwrap().unwrap_err().to_string();
        assert!(error.contains("the Lease workers has a holder"), "{error}");
    }
}

/// Writes that nobody owns anything.
fn take_all_away(cluster: &Cluster) {
    let mut lease = group(cluster);
    let mut nobody = assignment(&lease);
    nobody["owners"] = json!({});
    lease["metadata"]["annotations"][ANNOTATION] = nobody.to_string().into();
    cluster.sim.store().update(lease).unwrap();
}

#[tokio::test(start_paused = true)]
async fn shards_that_somebody_has_taken_away_are_dropped() {
    let (cluster, a) = alone().await;
    let hold = a.shards.hold_number(3).unwrap();
    take_all_away(&cluster);
    hold.expired().await;
    drop(hold);
    sleep(5 * SECOND).await;
    assert_eq!(a.shards.shards().len(), 8, "and taken again");
}

#[tokio::test(start_paused = true)]
async fn work_on_a_moving_shard_is_told_that_it_was_taken_away() {
    let (cluster, a) = alone().await;
    let hold = a.shards.hold_number(7).unwrap();
    let b = Replica::start(&cluster, config("b"));
    b.has(3).await;
    assert!(!a.shards.shards().contains(&7), "it is being given up");
    take_all_away(&cluster);
    timeout(3 * SECOND, hold.expired()).await.expect("it is told");
}

#[tokio::test(start_paused = true)]
async fn work_stops_at_once_when_somebody_else_has_the_lease() {
    let cluster = Cluster::new();
    let (a, b) = halves(&cluster, config("b")).await;
    let own = *a.shards.shards().first().unwrap();
    let hold = a.shards.hold_number(own).unwrap();
    let (version, kind) = LEASES;
    let name = config("a").lease_name("a");
    let store = cluster.sim.store();
    let mut lease = store.get(version, kind, Some("default"), &name).unwrap();
    lease["spec"]["holderIdentity"] = "somebody".into();
    store.update(lease).unwrap();
    timeout(3 * SECOND, hold.expired()).await.expect("it is told");
    assert!(a.shards.is_empty());
    drop(hold);
    b.has(8).await;
}

#[tokio::test(start_paused = true)]
async fn a_replica_has_not_left_while_its_shards_are_held() {
    let (cluster, a) = alone().await;
    let hold = a.shards.hold_number(3).unwrap();
    a.shutdown.cancel();
    a.has(0).await;
    sleep(SECOND).await;
    take_all_away(&cluster);
    sleep(5 * SECOND).await;
    assert!(hold.is_expired() && !a.running.is_finished());
    drop(hold);
    timeout(SECOND, a.running)
        .await
        .expect("it leaves")
        .unwrap()
        .unwrap();
}

// Its Lease was deleted before anybody has written the group's again.
#[tokio::test(start_paused = true)]
async fn a_term_that_left_without_a_trace_is_forgotten() {
    let (cluster, a) = alone().await;
    let mut lease = group(&cluster);
    let mut left = assignment(&lease);
    left["leaving"] = json!(["gone_00000000000000ff-1"]);
    lease["metadata"]["annotations"][ANNOTATION] = left.to_string().into();
    cluster.sim.store().update(lease).unwrap();
    sleep(60 * SECOND).await;
    let b = Replica::start(&cluster, config("b"));
    b.has(4).await;
    assert_eq!(assignment(&group(&cluster))["leaving"], Value::Null);
    a.leave().await;
}

#[tokio::test(start_paused = true)]
async fn a_hold_that_does_not_end_is_an_error_after_the_shutdown() {
    let (_cluster, a) = alone().await;
    let hold = a.shards.hold_number(3).unwrap();
    a.shutdown.cancel();
    let asked = Instant::now();
    hold.expired().await;
    assert_eq!(asked.elapsed().as_secs(), 30);
    assert_eq!(a.running.await.unwrap(), Err(ShardGroupError::StillHeld));
    drop(hold);
}

// It looks in vain at 0 and 6 s, and has lost its Lease before it looks again; then the time to hand over is gone.
#[tokio::test(start_paused = true)]
async fn a_leaving_replica_that_is_cut_off_tells_before_it_gives_up() {
    let cluster = Cluster::new();
    let hasty = ShardGroupConfig {
        graceful_shutdown_timeout: 7 * SECOND,
        ..config("a")
    };
    let a = Replica::start(&cluster, hasty);
    a.has(8).await;
    let hold = a.shards.hold_number(3).unwrap();
    cluster.requests(|_| Fate::SILENCE);
    a.shutdown.cancel();
    hold.expired().await;
    sleep(SECOND).await;
    drop(hold);
    let ended = timeout(60 * SECOND, a.running).await.expect("it ends");
    ended.unwrap().unwrap();
}

// Its own Lease can be written. With the release of that, its shards are free.
#[tokio::test(start_paused = true)]
async fn a_group_that_cannot_be_written_is_left_all_the_same() {
    let (cluster, a) = alone().await;
    let faults = cluster.sim.faults();
    let refused = faults
        .refuse(PUT, "leases.coordination.k8s.io", 403)
        .name("workers");
    let refused = refused.start();
    timeout(60 * SECOND, a.leave()).await.expect("it leaves");
    refused.remove();
    let b = Replica::start(&cluster, config("b"));
    let free = Instant::now();
    b.has(8).await;
    assert!(free.elapsed() < 10 * SECOND, "{:?}", free.elapsed());
}

// Its share is divided among the others at once, and they do not leave it parts of theirs.
#[tokio::test(start_paused = true)]
async fn a_replica_that_is_leaving_is_given_nothing() {
    let cluster = Cluster::new();
    let patient = ShardGroupConfig {
        graceful_shutdown_timeout: 300 * SECOND,
        ..config("b")
    };
    let (a, b) = halves(&cluster, patient).await;
    let own = *b.shards.shards().first().unwrap();
    let hold = b.shards.hold_number(own).unwrap();
    b.shutdown.cancel();
    let left = Instant::now();
    a.has(7).await;
    assert!(left.elapsed() < 2 * SECOND, "{:?}", left.elapsed());
    let selected = a.shards.subscribe();
    sleep(120 * SECOND).await;
    assert!(!selected.has_changed().unwrap());
    drop(hold);
    a.has(8).await;
    b.running.await.unwrap().unwrap();
}

// The last look before the time is over took longer than what holds a shard has to stop.
#[tokio::test(start_paused = true)]
async fn slow_answers_leave_time_to_stop_after_the_shutdown() {
    let cluster = Cluster::new();
    let patient = ShardGroupConfig {
        lease_duration: 60 * SECOND,
        renew_deadline: 50 * SECOND,
        retry_period: SECOND,
        ..config("a")
    };
    let a = Replica::start(&cluster, patient);
    a.has(8).await;
    let hold = a.shards.hold_number(3).unwrap();
    cluster.requests(|_| Fate {
        back: 4 * SECOND,
        ..Fate::OK
    });
    a.shutdown.cancel();
    hold.expired().await;
    drop(hold);
    a.running.await.unwrap().unwrap();
}

#[test]
fn configurations_that_make_no_sense_are_refused() {
    let cluster = |config: ShardGroupConfig| config.validate().unwrap_err().to_string();
    let name = |name: &str| ShardGroupConfig::new("default", name, "a");
    assert_eq!(cluster(name("")), "the name is empty");
    for bad in ["A", "a.b", "-a", "a_b", &"a".repeat(64)] {
        assert!(cluster(name(bad)).starts_with("the group name"), "{bad}");
    }
    let none = ShardGroupConfig {
        shards: 0,
        ..name("a")
    };
    assert_eq!(cluster(none), "there must be at least one shard");
    let fast = ShardGroupConfig {
        lease_duration: SECOND,
        ..name("a")
    };
    assert_eq!(
        cluster(fast),
        "lease_duration, in whole seconds, must be longer than renew_deadline"
    );
}

// All of them write the group's Lease to join, and most writes are conflicts.
#[tokio::test(start_paused = true)]
async fn many_that_start_together_settle_soon() {
    let cluster = Cluster::new();
    cluster.requests(|_| Fate {
        there: SECOND / 100,
        back: SECOND / 100,
        ..Fate::OK
    });
    let start = Instant::now();
    let replicas: Vec<_> = (0..40)
        .map(|number| {
            let config = ShardGroupConfig {
                shards: 80,
                ..config(&format!("replica-{number}"))
            };
            Replica::start(&cluster, config)
        })
        .collect();
    for replica in &replicas {
        replica.has(2).await;
    }
    while replicas.iter().any(|replica| replica.shards.shards().len() != 2) {
        sleep(SECOND / 10).await;
    }
    assert!(start.elapsed() < 10 * SECOND, "{:?}", start.elapsed());
}
