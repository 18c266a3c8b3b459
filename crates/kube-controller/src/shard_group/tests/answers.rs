//! What a replica makes of the answers to its writes: those that are lost, refusals and conflicts.

use super::unwritable::{REFUSED, UNANSWERED, Writes, client_with, without, writer};
use super::*;
use std::sync::{Arc, Mutex};

const UNAVAILABLE: Fate = Fate {
    arrives: false,
    answer: Answer::Status(503),
    ..Fate::OK
};
const CONFLICT: Fate = Fate {
    answer: Answer::Status(409),
    ..UNAVAILABLE
};

/// A write that is sent twice: the first arrives after this time, and the second is refused before that.
fn resent(there: Duration) -> Fate {
    Fate {
        there,
        answer: Answer::Resent(403),
        ..Fate::OK
    }
}

// What it has taken for others is more than its share, and it learns of it only by a look.
#[tokio::test(start_paused = true)]
async fn who_gets_no_answers_keeps_what_others_did_not_take() {
    let (cluster, a, writes) = writer().await;
    let (client, others) = Writes::of(&cluster);
    let b = Replica::start_with(client, config("b"));
    a.has(4).await;
    b.has(4).await;
    let c = Replica::start(&cluster, config("c"));
    timeout(60 * SECOND, async {
        while a.shards.shards().len() + b.shards.shards().len() > 6 || c.shards.is_empty() {
            sleep(SECOND / 10).await;
        }
    })
    .await
    .expect("c has its share");
    others.are(REFUSED);
    writes.are(UNANSWERED);
    c.leave().await;
    let (longest, _) = without(&[&a, &b], 120 * SECOND).await;
    assert!(longest <= 17 * SECOND, "{longest:?}");
}

/// The shards that a replica of this identity owns.
fn owned(cluster: &Cluster, identity: &str) -> BTreeSet<u16> {
    let owners = assignment(&group(cluster))["owners"].take();
    let of_it = |(term, _): &(&String, &Value)| term.starts_with(&format!("{identity}_"));
    let shards = owners.as_object().unwrap().iter().filter(of_it);
    shards
        .flat_map(|(_, shards)| shards.as_array().unwrap())
        .map(|shard| shard.as_u64().unwrap().try_into().unwrap())
        .collect()
}

// The write that frees a shard is done after the refusal.
#[tokio::test(start_paused = true)]
async fn a_refusal_does_not_say_that_nothing_is_freed() {
    let (cluster, a, writes) = writer().await;
    let hold = a.shards.hold_number(7).unwrap();
    let (client, others) = Writes::of(&cluster);
    let b = Replica::start_with(client, config("b"));
    b.has(3).await;
    others.are(REFUSED);
    writes.are(resent(5 * SECOND / 2));
    drop(hold);
    // What others write would make the write of a fail.
    b.leave().await;
    for _ in 0..100 {
        sleep(SECOND / 10).await;
        let (works_on, owned) = (a.shards.shards(), owned(&cluster, "a"));
        assert!(works_on.is_subset(&owned), "{works_on:?}, {owned:?}");
    }
    a.has(8).await;
}

// The write that takes shards is done after the refusal, and then its lists fail, while it renews its Lease.
#[tokio::test(start_paused = true)]
async fn a_refusal_does_not_say_that_nothing_is_taken() {
    let cluster = Cluster::new();
    let (client, writes, _lists) = client_with(&cluster);
    let a = Replica::start(&cluster, config("a"));
    let b = Replica::start_with(client, config("b"));
    a.has(4).await;
    b.has(4).await;
    writes.are(resent(SECOND));
    a.leave().await;
    sleep(3 * SECOND).await;
    assert_eq!((owned(&cluster, "b").len(), b.shards.shards().len()), (8, 4));
    let c = Replica::start(&cluster, config("c"));
    c.has(8).await;
}

#[tokio::test(start_paused = true)]
async fn who_cannot_take_more_keeps_what_it_has() {
    for fate in [REFUSED, UNAVAILABLE, Fate::SILENCE] {
        let (cluster, b, writes) = writer().await;
        let a = Replica::start(&cluster, config("a2"));
        b.has(4).await;
        a.has(4).await;
        writes.are(fate);
        a.leave().await;
        let selected = b.shards.subscribe();
        sleep(60 * SECOND).await;
        assert!(!selected.has_changed().unwrap(), "{fate:?}");
        writes.are(Fate::OK);
        b.has(8).await;
    }
}

/// A replica, `a`, whose writes are answered with a conflict after some failures, while it should free a shard for the other.
async fn conflicts() -> (Cluster, Replica, Replica, Writes) {
    let (cluster, a, writes) = writer().await;
    let hold = a.shards.hold_number(7).unwrap();
    let b = Replica::start(&cluster, config("b"));
    b.has(3).await;
    writes.are(UNAVAILABLE);
    drop(hold);
    sleep(3 * SECOND / 2).await;
    writes.are(CONFLICT);
    (cluster, a, b, writes)
}

// The server can be reached, and somebody has written.
#[tokio::test(start_paused = true)]
async fn conflicts_after_a_failure_do_not_end_a_term() {
    let (cluster, a, b, writes) = conflicts().await;
    for number in 0..120 {
        let mut lease = group(&cluster);
        lease["metadata"]["annotations"]["number"] = number.to_string().into();
        cluster.sim.store().update(lease).unwrap();
        sleep(SECOND / 10).await;
    }
    assert_eq!(a.shards.shards().len(), 4, "its term goes on");
    writes.are(Fate::OK);
    b.has(4).await;
}

// A webhook may answer so. Nobody writes, and the shard would never be free.
#[tokio::test(start_paused = true)]
async fn conflicts_without_another_version_end_a_term() {
    let (_cluster, _a, b, _writes) = conflicts().await;
    b.has(8).await;
}

#[tokio::test(start_paused = true)]
async fn a_delete_that_hangs_holds_up_no_look() {
    let cluster = Cluster::new();
    let (looks, deletes) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicU32::new(0)));
    let client = Network::client_by_path(&cluster.sim, {
        let (looks, deletes) = (looks.clone(), deletes.clone());
        move |method, path| {
            if method == Method::GET && path.ends_with("/leases") {
                looks.lock().unwrap().push(Instant::now());
            }
            if method == Method::DELETE {
                deletes.fetch_add(1, Ordering::Relaxed);
                return Fate::SILENCE;
            }
            Fate::OK
        }
    });
    let _a = Replica::start_with(client, config("a"));
    let b = Replica::start(&cluster, config("b"));
    b.has(4).await;
    b.leave().await;
    sleep(200 * SECOND).await;
    assert!(deletes.load(Ordering::Relaxed) > 1);
    let looks = looks.lock().unwrap();
    let longest = looks.windows(2).map(|looks| looks[1] - looks[0]).max().unwrap();
    assert!(longest <= 3 * SECOND / 2, "{longest:?}");
}
