//! Replicas that are about to stop.

use super::*;

#[tokio::test(start_paused = true)]
async fn who_retires_keeps_what_it_has_and_takes_no_more() {
    let cluster = Cluster::new();
    let (a, b) = halves(&cluster, config("b")).await;
    let selected = b.shards.subscribe();
    b.retire.cancel();
    a.leave().await;
    sleep(60 * SECOND).await;
    assert!(!selected.has_changed().unwrap());
    let c = Replica::start(&cluster, config("c"));
    c.has(4).await;
    sleep(60 * SECOND).await;
    assert!(!selected.has_changed().unwrap());
    b.leave().await;
    c.has(8).await;
}

// Others would leave it its share.
#[tokio::test(start_paused = true)]
async fn who_retires_without_shards_takes_no_part() {
    let (cluster, a) = alone().await;
    let holds: Vec<_> = (4..8).map(|shard| a.shards.hold_number(shard).unwrap()).collect();
    let b = Replica::start(&cluster, config("b"));
    a.has(4).await;
    b.retire.cancel();
    a.has(8).await;
    drop(holds);
    let selected = a.shards.subscribe();
    sleep(60 * SECOND).await;
    assert!(!selected.has_changed().unwrap());
    b.leave().await;
}

// The answer to the write that takes them comes afterwards.
#[tokio::test(start_paused = true)]
async fn what_is_taken_while_it_retires_is_given_up() {
    let cluster = Cluster::new();
    let (a, b) = halves(&cluster, config("b")).await;
    cluster.requests(|method| Fate {
        back: if method == Method::PUT {
            SECOND / 2
        } else {
            Duration::ZERO
        },
        ..Fate::OK
    });
    a.shutdown.cancel();
    let taken = || {
        let owners = assignment(&group(&cluster))["owners"].take();
        let owners = owners.as_object().unwrap().iter();
        let shards = owners.filter(|(term, _)| term.starts_with("b_"));
        shards
            .map(|(_, shards)| shards.as_array().unwrap().len())
            .sum::<usize>()
    };
    while taken() == 4 {
        sleep(SECOND / 100).await;
    }
    b.retire.cancel();
    sleep(3 * SECOND).await;
    assert_eq!((taken(), b.shards.shards().len()), (4, 4));
}

#[tokio::test(start_paused = true)]
async fn who_has_retired_does_not_join_again() {
    let (cluster, a) = alone().await;
    a.retire.cancel();
    cluster.requests(|_| Fate::SILENCE);
    a.has(0).await;
    cluster.requests(|_| Fate::OK);
    let ended = timeout(30 * SECOND, a.running).await;
    ended.expect("it has nothing to do").unwrap().unwrap();
}
