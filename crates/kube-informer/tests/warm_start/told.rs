//! What handlers are told of what changed while the program was down: once, whatever stops or panics.

use super::{Maps, Run, builder, cluster, delete, put, save, save_with_deletions, source, text, value};
use kube_informer::{Deleted, Delivery, HandlerOptions, ResourceEventHandler, SharedInformer};
use std::path::Path;
use std::time::Duration;

use futures::StreamExt as _;
use kube_informer::warm_start::WarmStart;
use kube_sim::Sim;
use kube_sim::faults::ANY;
use tempfile::TempDir;

/// What two runs after each other are told that is not initial.
async fn told_by_two_runs(sim: &Sim, directory: &Path) -> [Vec<String>; 2] {
    let mut both = [Vec::new(), Vec::new()];
    for told in &mut both {
        let mut run = Run::synced(builder(source(sim), directory)).await;
        *told = run.told().await;
        told.retain(|told| !told.starts_with("initial"));
        run.stop().await;
    }
    both
}

#[tokio::test(start_paused = true)]
async fn a_deletion_that_was_not_told_is_told_by_the_next_run() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    let mut run = Run::synced(builder(source(&sim), directory.path())).await;
    run.is_told(3).await;
    put(&sim, "m-1", "last");
    delete(&sim, "m-1");
    run.holds(2).await;
    run.stop().await;
    let [next, last] = told_by_two_runs(&sim, directory.path()).await;
    assert_eq!(next, ["delete default/m-1 last event"]);
    assert!(last.is_empty(), "once: {last:?}");
}

#[tokio::test(start_paused = true)]
async fn a_killed_program_is_told_of_deletions_it_had_saved() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    let each = || WarmStart::in_directory(directory.path()).interval(Duration::from_secs(1));
    let builder = SharedInformer::<Maps>::builder(source(&sim)).warm_start(each());
    let mut run = Run::synced(builder.unwrap()).await;
    run.is_told(3).await;
    let saves = |run: &Run| run.maps.status().warm_start.unwrap().saves;
    tokio::time::sleep(Duration::from_secs(10)).await;
    let before = saves(&run);
    delete(&sim, "m-1");
    run.holds(2).await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(saves(&run), before + 1, "what is not told is no change");
    run.running.abort();
    let _ = run.running.await;
    let [next, last] = told_by_two_runs(&sim, directory.path()).await;
    assert_eq!(next, ["delete default/m-1 old event"]);
    assert!(last.is_empty(), "once: {last:?}");
}

#[tokio::test(start_paused = true)]
async fn what_was_told_after_a_save_is_saved_again() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    let each = WarmStart::in_directory(directory.path()).interval(Duration::from_secs(1));
    let builder = SharedInformer::<Maps>::builder(source(&sim)).warm_start(each);
    let mut run = Run::synced(builder.unwrap()).await;
    run.is_told(3).await;
    delete(&sim, "m-1");
    run.holds(2).await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(run.told().await, ["delete default/m-1 old event"]);
    tokio::time::sleep(Duration::from_secs(10)).await;
    run.running.abort();
    let _ = run.running.await;
    let [next, _] = told_by_two_runs(&sim, directory.path()).await;
    assert!(next.is_empty(), "{next:?}");
}

#[tokio::test(start_paused = true)]
async fn a_successor_comes_after_a_deletion_that_was_not_told() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    let mut run = Run::synced(builder(source(&sim), directory.path())).await;
    run.is_told(3).await;
    for value in ["second", "third"] {
        delete(&sim, "m-1");
        put(&sim, "m-1", value);
    }
    delete(&sim, "m-2");
    put(&sim, "m-2", "second");
    delete(&sim, "m-2");
    run.holds(2).await;
    while value(&run.maps.store().get("default/m-1").unwrap()) != "third" {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    run.stop().await;
    let [mut next, last] = told_by_two_runs(&sim, directory.path()).await;
    next.sort_by_key(|told| told.contains("m-2"));
    assert_eq!(
        next,
        [
            "delete default/m-1 old missed",
            "add default/m-1 second",
            "delete default/m-1 second missed",
            "add default/m-1 third",
            "delete default/m-2 old missed",
            "add default/m-2 second",
            "delete default/m-2 second event",
        ]
    );
    assert!(last.is_empty(), "once: {last:?}");
}

#[tokio::test(start_paused = true)]
async fn a_successor_that_was_told_is_told_deleted_too() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    let mut run = Run::synced(builder(source(&sim), directory.path())).await;
    run.is_told(3).await;
    // Another handler knows of the successor, this one not.
    let mut quick = run.maps.subscribe("quick").unwrap();
    delete(&sim, "m-1");
    put(&sim, "m-1", "second");
    while text(&quick.next().await.unwrap()) != "add default/m-1 second" {}
    run.stop().await;
    drop(quick);
    delete(&sim, "m-1");
    let mut run = Run::start(builder(source(&sim), directory.path()));
    let merged = Delivery::Coalesced { capacity: 0 };
    let options = HandlerOptions::named("slow").delivery(merged);
    run.told = run.maps.subscribe(options).unwrap();
    run.maps.synced().await.unwrap();
    // Everything was pending until now.
    let mut told = run.told().await;
    told.retain(|told| told.contains("m-1") && !told.starts_with("initial"));
    assert_eq!(
        told.last().unwrap(),
        "delete default/m-1 second event",
        "{told:?}"
    );
    run.stop().await;
}

// Made anew under another uid while the program was down: the old one is deleted before the new one is added.
#[tokio::test(start_paused = true)]
async fn an_object_made_anew_while_down_is_a_deletion_and_an_add() {
    for lists in [false, true] {
        let (sim, directory) = (cluster(2), TempDir::new().unwrap());
        save(&sim, directory.path()).await;
        delete(&sim, "m-1");
        put(&sim, "m-1", "new");
        if lists {
            sim.faults().compact();
        }
        let mut run = Run::start(builder(source(&sim), directory.path()));
        let mut told = run.told().await;
        told.retain(|told| told.contains("m-1"));
        let cause = if lists { "missed" } else { "event" };
        let deleted = format!("delete default/m-1 old {cause}");
        assert_eq!(told, ["initial default/m-1 old", &deleted, "add default/m-1 new"]);
        run.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_deletion_being_handled_at_the_stop_is_told_once() {
    // A call that returns in time has told it; one that does not is repeated.
    for (takes, again) in [(3, false), (20, true)] {
        let (sim, directory) = (cluster(3), TempDir::new().unwrap());
        let run = Run::synced(builder(source(&sim), directory.path())).await;
        let (begins, mut begun) = tokio::sync::mpsc::unbounded_channel();
        let slow = Slow(Duration::from_secs(takes), begins);
        let handler = run.maps.add_handler("slow", slow).unwrap();
        handler.synced().await.unwrap();
        drop(run.told);
        delete(&sim, "m-1");
        begun.recv().await.unwrap();
        run.stop.cancel();
        run.running.await.unwrap().unwrap();
        let [next, _] = told_by_two_runs(&sim, directory.path()).await;
        assert_eq!(next.len(), usize::from(again), "{takes} s: {next:?}");
        drop(handler);
    }
}

#[tokio::test(start_paused = true)]
async fn of_too_many_untold_deletions_the_oldest_are_dropped() {
    let (sim, directory) = (cluster(1030), TempDir::new().unwrap());
    let mut run = Run::synced(builder(source(&sim), directory.path())).await;
    run.is_told(1030).await;
    for number in 0..1030 {
        delete(&sim, &format!("m-{number}"));
    }
    run.holds(0).await;
    run.stop().await;
    let [mut next, last] = told_by_two_runs(&sim, directory.path()).await;
    next.sort();
    let first: Vec<_> = (0..6)
        .map(|number| format!("delete default/m-{number} old event"))
        .collect();
    assert_eq!((next.len(), last.len()), (1024, 0));
    assert!(first.iter().all(|told| !next.contains(told)), "{next:?}");
}

/// Takes so long for a deletion, of which it says that it has begun.
struct Slow(Duration, tokio::sync::mpsc::UnboundedSender<()>);

impl ResourceEventHandler<Maps> for Slow {
    async fn on_delete(&mut self, _: Deleted<Maps>) {
        let _ = self.1.send(());
        tokio::time::sleep(self.0).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_handler_is_told_of_what_was_deleted() {
    let (sim, directory) = (cluster(20), TempDir::new().unwrap());
    save(&sim, directory.path()).await;
    delete(&sim, "m-5");
    let mut run = Run::start(builder(source(&sim), directory.path()));
    let merged = Delivery::Coalesced { capacity: 0 };
    run.told = run
        .maps
        .subscribe(HandlerOptions::named("slow").delivery(merged))
        .unwrap();
    run.maps.synced().await.unwrap();
    // Everything was pending until now.
    let told = run.told().await;
    assert_eq!((run.restored(), told.len()), (20, 21), "{told:?}");
    assert_eq!(told.last().unwrap(), "delete default/m-5 old event");
    run.stop().await;
}

// A program that is stopped before the server has confirmed the file repeats no deletion.
#[tokio::test(start_paused = true)]
async fn deletions_told_before_the_confirmation_are_not_repeated() {
    let (sim, directory) = (cluster(4), TempDir::new().unwrap());
    save_with_deletions(&sim, directory.path()).await;
    sim.faults().silence(ANY, "*").start();
    let mut run = Run::start(builder(source(&sim), directory.path()));
    let told = run.told().await;
    assert_eq!(told.iter().filter(|told| told.starts_with("delete")).count(), 2);
    run.stop().await;
    let mut run = Run::start(builder(source(&sim), directory.path()));
    let mut told = run.told().await;
    told.sort();
    assert_eq!(told, ["initial default/m-0 old", "initial default/m-3 old"]);
    run.stop().await;
}
