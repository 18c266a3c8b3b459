//! Replicas that renew their own Lease, but cannot write the group's.

use super::*;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// What becomes of the writes of the group's Lease by one replica.
#[derive(Clone)]
pub(super) struct Writes(Arc<Mutex<Fate>>);

pub(super) const REFUSED: Fate = Fate {
    arrives: false,
    answer: Answer::Status(403),
    ..Fate::OK
};
pub(super) const UNANSWERED: Fate = Fate {
    answer: Answer::Never,
    ..Fate::OK
};

impl Writes {
    /// A client, and what becomes of its writes.
    pub(super) fn of(cluster: &Cluster) -> (kube::Client, Self) {
        let writes = Self(Arc::new(Mutex::new(Fate::OK)));
        let fate = writes.clone();
        let client = Network::client_by_path(&cluster.sim, move |method, path| {
            match method == Method::PUT && path.ends_with("/leases/workers") {
                true => *fate.0.lock().unwrap(),
                false => Fate::OK,
            }
        });
        (client, writes)
    }

    pub(super) fn are(&self, fate: Fate) {
        *self.0.lock().unwrap() = fate;
    }
}

/// A replica, `a`, with all shards, and what becomes of its writes.
pub(super) async fn writer() -> (Cluster, Replica, Writes) {
    let cluster = Cluster::new();
    let (client, writes) = Writes::of(&cluster);
    let a = Replica::start_with(client, config("a"));
    a.has(8).await;
    (cluster, a, writes)
}

/// For how long each shard was without a replica at most, and how often it was, while this time passes.
pub(super) async fn without(replicas: &[&Replica], time: Duration) -> (Duration, u32) {
    const STEP: Duration = Duration::from_millis(50);
    let end = Instant::now() + time;
    let (mut since, mut longest, mut gaps) = ([None; 8], Duration::ZERO, 0);
    while Instant::now() < end {
        sleep(STEP).await;
        for (shard, since) in (0..8).zip(&mut since) {
            if replicas
                .iter()
                .any(|replica| replica.shards.shards().contains(&shard))
            {
                *since = None;
                continue;
            }
            let since = since.get_or_insert_with(|| {
                gaps += 1;
                Instant::now()
            });
            longest = longest.max(since.elapsed());
        }
    }
    (longest, gaps)
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_handed_over_is_not_given_up() {
    for fate in [REFUSED, Fate::SILENCE, UNANSWERED] {
        let (cluster, a, writes) = writer().await;
        writes.are(fate);
        let b = Replica::start(&cluster, config("b"));
        let (longest, _) = without(&[&a, &b], 60 * SECOND).await;
        assert_eq!(longest, Duration::ZERO, "{fate:?}");
        writes.are(Fate::OK);
        b.has(4).await;
        a.has(4).await;
    }
}

// It could write that it is about to give shards up, but not that they are free.
#[tokio::test(start_paused = true)]
async fn shards_that_cannot_be_freed_are_free_with_the_term() {
    for fate in [REFUSED, Fate::SILENCE, UNANSWERED] {
        let (cluster, a, writes) = writer().await;
        let hold = a.shards.hold_number(7).unwrap();
        let b = Replica::start(&cluster, config("b"));
        b.has(3).await;
        assert!(!a.shards.shards().contains(&7));
        writes.are(fate);
        drop(hold);
        let (longest, _) = without(&[&a, &b], 60 * SECOND).await;
        assert!(longest <= 17 * SECOND, "{fate:?}: {longest:?}");
        let mut selected = b.shards.subscribe();
        let takes = selected.wait_for(|selected| selected.contains(&7));
        timeout(60 * SECOND, takes).await.expect("in time").unwrap();
        writes.are(Fate::OK);
        a.has(4).await;
    }
}

// It renews its own Lease all the time.
#[tokio::test(start_paused = true)]
async fn who_has_never_written_is_left_no_share() {
    let (cluster, a) = alone().await;
    let (client, writes) = Writes::of(&cluster);
    writes.are(REFUSED);
    let b = Replica::start_with(client, config("b"));
    let (longest, gaps) = without(&[&a, &b], 120 * SECOND).await;
    assert_eq!((longest, gaps), (Duration::ZERO, 0));
    writes.are(Fate::OK);
    b.has(4).await;
}

// Each time, they are without a replica until it is clear that it does not take them.
#[tokio::test(start_paused = true)]
async fn shards_are_kept_from_one_that_never_takes_them() {
    let (cluster, a) = alone().await;
    let (client, writes) = Writes::of(&cluster);
    let b = Replica::start_with(client, config("b"));
    joined(&cluster, "b").await;
    writes.are(REFUSED);
    let (longest, gaps) = without(&[&a, &b], 600 * SECOND).await;
    assert!(gaps > 0, "it takes part");
    assert!(longest <= 5 * SECOND, "{longest:?}");
    assert!(gaps <= 6 * 4, "{gaps}");
    // Another one gets its share all the same.
    let c = Replica::start(&cluster, config("c"));
    let joined = Instant::now();
    let mut selected = c.shards.subscribe();
    selected.wait_for(|selected| !selected.is_empty()).await.unwrap();
    assert!(joined.elapsed() <= 20 * SECOND, "{:?}", joined.elapsed());
    writes.are(Fate::OK);
    for replica in [&a, &b, &c] {
        let mut selected = replica.shards.subscribe();
        let shared = selected.wait_for(|selected| (2..=3).contains(&selected.len()));
        timeout(300 * SECOND, shared).await.expect("in time").unwrap();
    }
}

// It sees in the Lease that it owns them.
#[tokio::test(start_paused = true)]
async fn who_gets_no_answers_works_on_what_it_took() {
    let (cluster, a) = alone().await;
    let (client, writes) = Writes::of(&cluster);
    writes.are(UNANSWERED);
    let b = Replica::start_with(client, config("b"));
    let (longest, gaps) = without(&[&a, &b], 60 * SECOND).await;
    // It has to learn that it takes part, and until then the shards that are left to it are taken back.
    assert!(longest <= 8 * SECOND && gaps == 8, "{longest:?}, {gaps}");
    b.has(4).await;
}

#[tokio::test(start_paused = true)]
async fn who_cannot_write_leaves_when_nothing_is_held() {
    let (_cluster, a, writes) = writer().await;
    let hold = a.shards.hold_number(3).unwrap();
    writes.are(REFUSED);
    a.shutdown.cancel();
    sleep(3 * SECOND).await;
    assert!(a.shards.is_empty() && !a.running.is_finished());
    drop(hold);
    let left = timeout(2 * SECOND, a.running).await;
    left.expect("the release frees the shards").unwrap().unwrap();
}

// It wanted to take what another replica did not take, and then that one took it.
#[tokio::test(start_paused = true)]
async fn who_could_not_step_in_gives_shards_up() {
    let (cluster, a, writes) = writer().await;
    let (client, others) = Writes::of(&cluster);
    let b = Replica::start_with(client, config("b"));
    joined(&cluster, "b").await;
    others.are(REFUSED);
    a.has(4).await;
    sleep(SECOND / 2).await;
    writes.are(REFUSED);
    sleep(5 * SECOND).await;
    others.are(Fate::OK);
    b.has(4).await;
    writes.are(Fate::OK);
    let c = Replica::start(&cluster, config("c"));
    let mut selected = a.shards.subscribe();
    let gives = selected.wait_for(|selected| selected.len() < 4);
    timeout(5 * SECOND, gives).await.expect("it gives up").unwrap();
    let mut selected = c.shards.subscribe();
    let takes = selected.wait_for(|selected| selected.len() >= 2);
    timeout(5 * SECOND, takes).await.expect("in time").unwrap();
}

// The hold ends after the look has found it, and before the look is over.
#[tokio::test(start_paused = true)]
async fn a_hold_that_ends_during_a_write_is_noticed() {
    let (cluster, a) = alone().await;
    let hold = a.shards.hold_number(3).unwrap();
    cluster.requests(|method| Fate {
        there: if method == Method::PUT {
            2 * SECOND / 5
        } else {
            Duration::ZERO
        },
        ..Fate::OK
    });
    let asked = Instant::now();
    a.shutdown.cancel();
    sleep(SECOND / 5).await;
    drop(hold);
    a.running.await.unwrap().unwrap();
    // It says that it is leaving, then that the shards are free, and releases its Lease.
    assert!(asked.elapsed() < 3 * SECOND / 2, "{:?}", asked.elapsed());
}

/// A client whose PUTs of the group's Lease and whose lists have these fates. After the first PUT that gets no true answer, lists are refused.
pub(super) fn client_with(cluster: &Cluster) -> (kube::Client, Writes, Writes) {
    let (writes, lists) = (
        Writes(Arc::new(Mutex::new(Fate::OK))),
        Writes(Arc::new(Mutex::new(Fate::OK))),
    );
    let (put, list) = (writes.clone(), lists.clone());
    let client = Network::client_by_path(&cluster.sim, move |method, path| {
        if method == Method::PUT && path.ends_with("/leases/workers") {
            let fate = *put.0.lock().unwrap();
            if fate.answer != Answer::Real {
                *list.0.lock().unwrap() = REFUSED;
            }
            fate
        } else if method == Method::GET && path.ends_with("/leases") {
            *list.0.lock().unwrap()
        } else {
            Fate::OK
        }
    });
    (client, writes, lists)
}

// The answer to the write that took shards is lost, and then its lists fail, while it renews its Lease.
#[tokio::test(start_paused = true)]
async fn who_does_not_know_what_it_took_ends_its_term() {
    let (cluster, a) = alone().await;
    let (client, writes, _lists) = client_with(&cluster);
    writes.are(UNANSWERED);
    let b = Replica::start_with(client, config("b"));
    let (longest, _) = without(&[&a, &b], 120 * SECOND).await;
    assert!(longest <= 32 * SECOND, "{longest:?}");
}

// It has freed what it gave up, and only then its lists fail, while it renews its Lease.
#[tokio::test(start_paused = true)]
async fn who_has_handed_over_keeps_the_rest() {
    let cluster = Cluster::new();
    let (client, _writes, lists) = client_with(&cluster);
    let a = Replica::start_with(client, config("a"));
    a.has(8).await;
    let b = Replica::start(&cluster, config("b"));
    // The write that frees is done, and no look was after it.
    loop {
        sleep(SECOND / 100).await;
        let owners = assignment(&group(&cluster))["owners"].take();
        let is_a = |(term, shards): (&String, &Value)| {
            term.starts_with("a_") && shards.as_array().unwrap().contains(&json!(7))
        };
        if !a.shards.shards().contains(&7) && !owners.as_object().unwrap().iter().any(is_a) {
            break;
        }
    }
    lists.are(REFUSED);
    let (longest, gaps) = without(&[&a, &b], 60 * SECOND).await;
    assert_eq!(a.shards.shards().len(), 4, "{longest:?} {gaps}");
}

// Each list is answered, though late, and a write that takes shards is not.
#[tokio::test(start_paused = true)]
async fn who_can_read_goes_on_after_a_slow_write() {
    let cluster = Cluster::new();
    let is_slow = Arc::new(AtomicBool::new(false));
    let client = Network::client_by_path(&cluster.sim, {
        let is_slow = is_slow.clone();
        move |method, path| match is_slow.load(Ordering::Relaxed) {
            true if method == Method::GET && path.ends_with("/leases") => Fate {
                back: 5 * SECOND / 2,
                ..Fate::OK
            },
            true if method == Method::PUT && path.ends_with("/leases/workers") => Fate::SILENCE,
            _ => Fate::OK,
        }
    });
    let a = Replica::start(&cluster, config("a"));
    let b = Replica::start_with(client, config("b"));
    a.has(4).await;
    b.has(4).await;
    is_slow.store(true, Ordering::Relaxed);
    a.leave().await;
    let selected = b.shards.subscribe();
    sleep(60 * SECOND).await;
    assert!(!selected.has_changed().unwrap(), "its term goes on");
}
