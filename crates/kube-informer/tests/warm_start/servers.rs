//! Servers with another history: what was saved is not used, or replaced.

use super::{Run, builder, cluster, delete, put, requests, save, source, text};
use kube_sim::faults::{ANY, GET};
use std::time::Duration;

use futures::StreamExt as _;
use kube_informer::HandlerOptions;
use tempfile::TempDir;

#[tokio::test(start_paused = true)]
async fn the_file_of_another_cluster_is_not_used() {
    let directory = TempDir::new().unwrap();
    save(&cluster(10), directory.path()).await;
    let other = cluster(3);
    let mut run = Run::synced(builder(source(&other), directory.path())).await;
    assert!(run.cold().contains("another cluster"), "{}", run.cold());
    let told = run.told().await;
    assert_eq!(told.len(), 3, "{told:?}");
    run.stop().await;
    // It has been replaced by one of this cluster.
    let run = Run::synced(builder(source(&other), directory.path())).await;
    assert_eq!(run.restored(), 3);
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_file_of_a_server_that_went_back_is_not_used() {
    let (sim, directory) = (cluster(10), TempDir::new().unwrap());
    let backup = sim.faults().backup();
    put(&sim, "m-lost", "lost");
    put(&sim, "m-1", "lost");
    save(&sim, directory.path()).await;
    sim.faults().restore(&backup);
    let mut run = Run::synced(builder(source(&sim), directory.path())).await;
    assert!(run.cold().contains("went back"), "{}", run.cold());
    let told = run.told().await;
    assert_eq!(told.len(), 10, "{told:?}");
    assert!(!told.iter().any(|told| told.contains("lost")), "{told:?}");
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_restored_server_that_has_moved_on_is_found_out() {
    for undone in [&["m-1"][..], &["m-1", "m-lost"]] {
        let (sim, directory) = (cluster(10), TempDir::new().unwrap());
        let backup = sim.faults().backup();
        for name in undone {
            put(&sim, name, "lost");
        }
        save(&sim, directory.path()).await;
        sim.faults().restore(&backup);
        for number in 0..10 {
            put(&sim, "m-2", &number.to_string());
        }
        let mut run = Run::synced(builder(source(&sim), directory.path())).await;
        assert!(run.cold().contains("it was restored"), "{}", run.cold());
        let told = run.told().await;
        assert_eq!(told.len(), 10, "{told:?}");
        assert!(!told.iter().any(|told| told.contains("lost")), "{told:?}");
        run.stop().await;
    }
}

// Objects that the restored server never had are gone without a deletion.
#[tokio::test(start_paused = true)]
async fn a_restored_server_that_never_had_the_newest_object_is_listed() {
    for written in [0, 1, 20] {
        let (sim, directory) = (cluster(10), TempDir::new().unwrap());
        let backup = sim.faults().backup();
        put(&sim, "m-lost", "lost");
        save(&sim, directory.path()).await;
        sim.faults().restore(&backup);
        // Changes that come before the saved version in the new history.
        put(&sim, "m-1", "new");
        for number in 0..20 {
            put(&sim, "m-2", &number.to_string());
        }
        let mut run = Run::start(builder(source(&sim), directory.path()));
        run.maps.restored().await.unwrap();
        for number in 0..written {
            put(&sim, "m-3", &number.to_string());
        }
        run.maps.synced().await.unwrap();
        let told = run.told().await;
        assert!(
            told.iter()
                .any(|told| told.starts_with("delete") && told.contains("m-lost")),
            "{told:?}"
        );
        let store = run.maps.store();
        assert_eq!(store.len(), 10);
        let held = store.get("default/m-1").unwrap();
        assert_eq!(super::value(&held), "new");
        run.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_resumes_although_the_newest_object_is_gone() {
    for (gone, resumes) in [(3, true), (4, false)] {
        let (sim, directory) = (cluster(10), TempDir::new().unwrap());
        save(&sim, directory.path()).await;
        for number in 10 - gone..10 {
            delete(&sim, &format!("m-{number}"));
        }
        let skip = sim.requests().len();
        let mut run = Run::synced(builder(source(&sim), directory.path())).await;
        let asked = requests(&sim, skip);
        let questions = asked.iter().filter(|request| *request == "get 1 configmaps");
        assert_eq!(questions.count(), 4);
        assert_eq!(run.restored(), 10);
        let told = run.told().await;
        let event = told.iter().filter(|told| told.ends_with("event")).count();
        assert_eq!((told.len(), event), (10 + gone, if resumes { gone } else { 0 }));
        run.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_throttles_is_not_asked_for_a_list() {
    let (sim, directory) = (cluster(10), TempDir::new().unwrap());
    save(&sim, directory.path()).await;
    let version = sim.store().resource_version();
    let busy = sim.faults().refuse(GET, "namespaces", 429).start();
    let skip = sim.requests().len();
    let run = Run::start(builder(source(&sim), directory.path()));
    assert!(run.maps.restored().await.unwrap());
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert!(busy.hits() > 3);
    busy.remove();
    run.maps.synced().await.unwrap();
    let asked = requests(&sim, skip);
    let for_maps = asked.iter().filter(|request| request.ends_with("configmaps"));
    let expected = [
        "get 1 configmaps".to_owned(),
        format!("watch {version} configmaps"),
    ];
    assert_eq!(for_maps.cloned().collect::<Vec<_>>(), expected);
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn another_cluster_that_cannot_be_listed_is_not_served() {
    let directory = TempDir::new().unwrap();
    save(&cluster(3), directory.path()).await;
    let other = cluster(1);
    let late = other
        .faults()
        .delay(GET, "namespaces", Duration::from_secs(3))
        .start();
    let forbidden = other.faults().refuse(ANY, "configmaps", 403).start();
    let mut run = Run::start(builder(source(&other), directory.path()));
    assert!(run.maps.restored().await.unwrap());
    assert_eq!(run.maps.store().len(), 3);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(run.cold().contains("another cluster"), "{}", run.cold());
    let status = run.maps.status();
    assert_eq!(
        (status.objects, status.unconfirmed, status.synced),
        (0, false, false)
    );
    let told = run.told().await;
    let deleted = told.iter().filter(|told| told.starts_with("delete"));
    assert_eq!(deleted.count(), 3, "{told:?}");
    forbidden.remove();
    run.maps.synced().await.unwrap();
    assert_eq!(run.maps.store().len(), 1);
    run.stop().await;
    late.remove();
}

#[tokio::test(start_paused = true)]
async fn without_proof_of_the_server_a_list_follows() {
    let (sim, directory) = (cluster(10), TempDir::new().unwrap());
    save(&sim, directory.path()).await;
    delete(&sim, "m-5");
    let forbidden = sim.faults().refuse(GET, "namespaces", 403).start();
    let skip = sim.requests().len();
    let mut run = Run::synced(builder(source(&sim), directory.path())).await;
    assert_eq!(run.restored(), 10);
    let asked = requests(&sim, skip);
    assert!(!asked.contains(&"get 1 configmaps".to_owned()), "{asked:?}");
    let told = run.told().await;
    assert_eq!(told.last().unwrap(), "delete default/m-5 old missed");
    assert_eq!(told.len(), 11);
    run.stop().await;
    forbidden.remove();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_down_does_not_keep_the_file_from_readers() {
    let (sim, directory) = (cluster(10), TempDir::new().unwrap());
    save(&sim, directory.path()).await;
    put(&sim, "m-new", "new");
    delete(&sim, "m-5");
    let down = sim.faults().refuse(ANY, "*", 503).start();
    let run = Run::start(builder(source(&sim), directory.path()));
    let mut waits = run
        .maps
        .subscribe(HandlerOptions::named("waits").after_sync())
        .unwrap();
    assert!(run.maps.restored().await.unwrap());
    tokio::time::sleep(Duration::from_secs(20)).await;
    let status = run.maps.status();
    assert!(status.unconfirmed && !status.synced, "{status:?}");
    assert_eq!((status.objects, run.maps.unsynced().len()), (10, 1));
    let none = tokio::time::timeout(Duration::from_secs(1), waits.next()).await;
    assert!(none.is_err(), "nothing is confirmed");

    down.remove();
    run.maps.synced().await.unwrap();
    let mut told = Vec::new();
    while let Ok(Some(change)) = tokio::time::timeout(Duration::from_secs(5), waits.next()).await {
        told.push(text(&change));
    }
    assert_eq!(told.len(), 10);
    assert!(told.contains(&"initial default/m-new new".to_owned()), "{told:?}");
    assert!(!told.iter().any(|told| told.contains("m-5")), "{told:?}");
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn another_cluster_that_answers_late_replaces_what_was_served() {
    let directory = TempDir::new().unwrap();
    save(&cluster(3), directory.path()).await;
    let other = cluster(1);
    let wait = Duration::from_secs(3);
    let late = other.faults().delay(GET, "namespaces", wait).start();
    let mut run = Run::start(builder(source(&other), directory.path()));
    assert!(run.maps.restored().await.unwrap());
    assert_eq!(run.maps.store().len(), 3);
    run.maps.synced().await.unwrap();
    assert_eq!(run.maps.store().len(), 1);
    assert!(run.cold().contains("another cluster"));
    let told = run.told().await;
    // The one with the same name is another object.
    let after: Vec<_> = told[3..]
        .iter()
        .map(|told| told.split(' ').next().unwrap())
        .collect();
    assert_eq!(after, ["delete", "delete", "delete", "add"], "{told:?}");
    run.stop().await;
    late.remove();
}

#[tokio::test(start_paused = true)]
async fn a_server_without_a_readable_uid_is_listed() {
    let (sim, directory) = (cluster(10), TempDir::new().unwrap());
    save(&sim, directory.path()).await;
    let cut = sim.faults().truncate(GET, "namespaces").start();
    let run = Run::start(builder(source(&sim), directory.path()));
    let synced = tokio::time::timeout(Duration::from_secs(600), run.maps.synced()).await;
    synced.expect("a list follows").unwrap();
    assert!(cut.hits() > 0);
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hides_its_uid_later_is_listed() {
    let (sim, directory) = (cluster(10), TempDir::new().unwrap());
    let run = Run::synced(builder(source(&sim), directory.path())).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(run.maps.status().warm_start.unwrap().saves, 1);
    let forbidden = sim.faults().refuse(GET, "namespaces", 403).start();
    put(&sim, "m-1", "new");
    tokio::time::sleep(Duration::from_secs(5)).await;
    run.stop().await;
    forbidden.remove();
    let skip = sim.requests().len();
    let run = Run::synced(builder(source(&sim), directory.path())).await;
    let asked = requests(&sim, skip);
    assert!(!asked.contains(&"get 1 configmaps".to_owned()), "{asked:?}");
    run.stop().await;
}
