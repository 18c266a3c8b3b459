//! The group's Lease is deleted while replicas work.

use super::unwritable::{REFUSED, without};
use super::*;
use std::sync::{Arc, Mutex};

fn delete(cluster: &Cluster, name: &str) {
    let (version, kind) = LEASES;
    let store = cluster.sim.store();
    store.delete(version, kind, Some("default"), name).unwrap();
}

/// Checks for some time that no shard is in two sets.
async fn never_two(replicas: &[&Replica], time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        let mut all = BTreeSet::new();
        for shard in replicas.iter().flat_map(|replica| replica.shards.shards()) {
            assert!(all.insert(shard), "two have shard {shard}");
        }
        sleep(SECOND / 100).await;
    }
}

/// What becomes of a replica's requests, but for those of its own Lease.
type OfGroup = Arc<Mutex<Fate>>;

/// A client, and what becomes of its requests with one of these methods.
fn client_with(cluster: &Cluster, identity: &str, methods: &'static [Method]) -> (kube::Client, OfGroup) {
    let fate = OfGroup::new(Mutex::new(Fate::OK));
    let (of_group, own) = (fate.clone(), config(identity).lease_name(identity));
    let client = Network::client_by_path(&cluster.sim, move |method, path| {
        match methods.contains(method) && !path.ends_with(&own) {
            true => *of_group.lock().unwrap(),
            false => Fate::OK,
        }
    });
    (client, fate)
}

#[tokio::test(start_paused = true)]
async fn work_goes_on_when_the_lease_is_deleted() {
    for annotation_only in [false, true] {
        let cluster = Cluster::new();
        let (a, b) = halves(&cluster, config("b")).await;
        let before = (a.shards.shards(), b.shards.shards());
        let holds = [&a, &b].map(|replica| {
            replica
                .shards
                .hold_number(*replica.shards.shards().first().unwrap())
        });
        match annotation_only {
            false => delete(&cluster, "workers"),
            true => {
                let mut lease = group(&cluster);
                lease["metadata"]["annotations"] = json!({});
                cluster.sim.store().update(lease).unwrap();
            }
        }
        never_two(&[&a, &b], 60 * SECOND).await;
        assert_eq!((a.shards.shards(), b.shards.shards()), before);
        assert!(holds.iter().flatten().all(|hold| !hold.is_expired()));
        let again = assignment(&group(&cluster));
        assert_eq!(again["owners"].as_object().unwrap().len(), 2);
        assert_eq!(again["unconfirmed"], Value::Null);
        drop(holds);
        b.leave().await;
        a.has(8).await;
    }
}

// It renews its own Lease, so that others know that it works on something, but not on what.
#[tokio::test(start_paused = true)]
async fn nothing_is_taken_from_who_does_not_know_that_the_lease_was_deleted() {
    let cluster = Cluster::new();
    let (client, looks) = client_with(&cluster, "a", &[Method::GET, Method::POST, Method::PUT]);
    let a = Replica::start_with(client, config("a"));
    a.has(8).await;
    let b = Replica::start(&cluster, config("b"));
    a.has(4).await;
    b.has(4).await;
    *looks.lock().unwrap() = Fate::SILENCE;
    delete(&cluster, "workers");
    never_two(&[&a, &b], 40 * SECOND).await;
    // Nor by somebody who was not there before.
    let c = Replica::start(&cluster, config("c"));
    never_two(&[&a, &b, &c], 60 * SECOND).await;
    assert_eq!(a.shards.shards().len(), 4);
    *looks.lock().unwrap() = Fate::OK;
    never_two(&[&a, &b, &c], 60 * SECOND).await;
    for replica in [&a, &b, &c] {
        assert!((2..=3).contains(&replica.shards.shards().len()));
    }
}

// Its own Lease was deleted, too: who was there before knows of it.
#[tokio::test(start_paused = true)]
async fn all_leases_are_deleted() {
    let cluster = Cluster::new();
    let (a, b) = halves(&cluster, config("b")).await;
    for name in [
        "workers".to_owned(),
        config("a").lease_name("a"),
        config("a").lease_name("b"),
    ] {
        delete(&cluster, &name);
    }
    never_two(&[&a, &b], 60 * SECOND).await;
    assert_eq!((a.shards.shards().len(), b.shards.shards().len()), (4, 4));
}

// It cannot say what it owns, so it gives that up: else what nobody owns would be free for nobody.
#[tokio::test(start_paused = true)]
async fn who_cannot_write_does_not_hold_up_others_for_ever() {
    let cluster = Cluster::new();
    let (client, writes) = client_with(&cluster, "a", &[Method::POST, Method::PUT]);
    let a = Replica::start_with(client, config("a"));
    a.has(8).await;
    let b = Replica::start(&cluster, config("b"));
    b.has(4).await;
    let c = Replica::start(&cluster, config("c"));
    sleep(20 * SECOND).await;
    assert!(!c.shards.is_empty());
    *writes.lock().unwrap() = REFUSED;
    c.running.abort();
    delete(&cluster, "workers");
    never_two(&[&a, &b], 20 * SECOND).await;
    b.has(8).await;
    *writes.lock().unwrap() = Fate::OK;
    a.has(4).await;
}

#[tokio::test(start_paused = true)]
async fn who_leaves_finishes_its_work_first() {
    let cluster = Cluster::new();
    let (a, b) = halves(&cluster, config("b")).await;
    let own = *a.shards.shards().first().unwrap();
    let hold = a.shards.hold_number(own).unwrap();
    a.shutdown.cancel();
    a.has(0).await;
    delete(&cluster, "workers");
    sleep(20 * SECOND).await;
    assert!(!b.shards.shards().contains(&own) && !hold.is_expired());
    drop(hold);
    b.has(8).await;
    a.running.await.unwrap().unwrap();
}

/// Whether a request reads what a look reads.
fn looks(method: &Method, path: &str) -> bool {
    *method == Method::GET && (path.ends_with("/leases") || path.ends_with("/workers"))
}

// It has not read that others wait for it.
#[tokio::test(start_paused = true)]
async fn who_cannot_look_does_not_hold_up_a_new_group() {
    let cluster = Cluster::new();
    let client = Network::client_by_path(&cluster.sim, |method, path| match looks(method, path) {
        true => REFUSED,
        false => Fate::OK,
    });
    let c = Replica::start_with(client, config("c"));
    sleep(SECOND / 2).await;
    let (a, b) = halves(&cluster, config("b")).await;
    assert!(c.shards.is_empty());
    drop((a, b));
}

// While nobody may take anything, nothing is given up.
#[tokio::test(start_paused = true)]
async fn nothing_is_given_up_to_nobody() {
    let cluster = Cluster::new();
    let a = Replica::start(&cluster, config("a"));
    a.has(8).await;
    let (client, of_c) = client_with(&cluster, "c", &[Method::GET]);
    let c = Replica::start_with(client, config("c"));
    c.has(4).await;
    *of_c.lock().unwrap() = Fate::SILENCE;
    sleep(2 * SECOND).await;
    delete(&cluster, "workers");
    sleep(5 * SECOND).await;
    let b = Replica::start(&cluster, config("b"));
    let (longest, _) = without(&[&a, &b, &c], 120 * SECOND).await;
    assert_eq!(longest, Duration::ZERO);
    *of_c.lock().unwrap() = Fate::OK;
    never_two(&[&a, &b, &c], 60 * SECOND).await;
    assert!(
        [&a, &b, &c]
            .iter()
            .all(|replica| (2..=3).contains(&replica.shards.shards().len()))
    );
}

// It was created by a request that took its time. Since then, shards have moved, and the Lease was deleted again.
#[tokio::test(start_paused = true)]
async fn a_lease_that_comes_late_is_not_believed() {
    let cluster = Cluster::new();
    let late = Arc::new(Mutex::new(false));
    let (is_late, deleted) = (late.clone(), Instant::now());
    let client = Network::client_by_path(&cluster.sim, move |method, path| {
        let creates = *method == Method::POST && path.ends_with("/leases");
        match creates && std::mem::take(&mut *is_late.lock().unwrap()) {
            true => Fate {
                // Not just when it looks.
                there: Duration::from_millis(12_300),
                ..Fate::OK
            },
            false => Fate::OK,
        }
    });
    let a = Replica::start_with(client, config("a"));
    a.has(8).await;
    *late.lock().unwrap() = true;
    delete(&cluster, "workers");
    // By then `a` has sent the request.
    sleep(2 * SECOND).await;
    let b = Replica::start(&cluster, config("b"));
    b.has(4).await;
    a.has(4).await;
    assert!(deleted.elapsed() < 10 * SECOND, "{:?}", deleted.elapsed());
    // It is gone whenever the late one might come.
    let (version, kind) = LEASES;
    let mut came = false;
    for _ in 0..100 * 20 {
        let lease = cluster.sim.store().get(version, kind, Some("default"), "workers");
        if !came && let Ok(lease) = lease {
            let now = assignment(&lease);
            let mut owners = now["owners"].as_object().unwrap().iter();
            if let Some((a, _)) = owners.find(|(_, owned)| owned.as_array().unwrap().len() == 8) {
                came = true;
                // So nobody takes what `a` got since.
                let unconfirmed = now["unconfirmed"].as_array().unwrap();
                assert!(unconfirmed.iter().any(|term| term == a), "{now}");
            }
            if !came {
                delete(&cluster, "workers");
            }
        }
        never_two(&[&a, &b], SECOND / 100).await;
    }
    assert!(came);
    assert_eq!((a.shards.shards().len(), b.shards.shards().len()), (4, 4));
}
