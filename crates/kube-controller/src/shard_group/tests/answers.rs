//! What a replica makes of the answers to its writes of the group's Lease: those that are lost, refusals and conflicts.

use super::unwritable::{REFUSED, UNANSWERED, Writes, without, writer};
use super::*;

const UNAVAILABLE: Fate = Fate {
    arrives: false,
    answer: Answer::Status(503),
    ..Fate::OK
};
const CONFLICT: Fate = Fate {
    answer: Answer::Status(409),
    ..UNAVAILABLE
};

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

// A write that was refused frees nothing any more, so that the shard is worked on again without another write.
#[tokio::test(start_paused = true)]
async fn what_was_refused_to_be_freed_is_kept_at_once() {
    let (cluster, a, writes) = writer().await;
    let holds: Vec<_> = (4..8).map(|shard| a.shards.hold_number(shard).unwrap()).collect();
    let b = Replica::start(&cluster, config("b"));
    a.has(4).await;
    writes.are(REFUSED);
    drop(holds);
    sleep(2 * SECOND).await;
    assert_eq!(a.shards.shards().len(), 4, "the others are to be b's");
    b.leave().await;
    sleep(3 * SECOND).await;
    assert_eq!(a.shards.shards().len(), 8, "there is nobody else");
    let selected = a.shards.subscribe();
    sleep(60 * SECOND).await;
    assert!(!selected.has_changed().unwrap(), "its term goes on");
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

// A conflict is an answer: the server can be reached, and somebody has written.
#[tokio::test(start_paused = true)]
async fn conflicts_after_a_failure_do_not_end_a_term() {
    let (cluster, a, writes) = writer().await;
    let hold = a.shards.hold_number(7).unwrap();
    let b = Replica::start(&cluster, config("b"));
    b.has(3).await;
    writes.are(UNAVAILABLE);
    drop(hold);
    sleep(3 * SECOND / 2).await;
    writes.are(CONFLICT);
    sleep(12 * SECOND).await;
    assert_eq!(a.shards.shards().len(), 4, "its term goes on");
    writes.are(Fate::OK);
    b.has(4).await;
}
