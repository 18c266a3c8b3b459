//! What each fault does to a program, in schedules that name it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{ListParams, PostParams, WatchParams};
use kube::core::WatchEvent;
use kube::{Client, ResourceExt as _};
use kube_sim::simulation::{Run, Simulation};
use serde_json::json;
use tokio::time::sleep;

use crate::objects::{cached, map, maps, named, with_data};

/// What a program has noted of its run.
#[derive(Debug, Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn add(&self, note: impl Into<String>) {
        self.0.lock().unwrap().push(note.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Runs a program with these faults, and returns what it has noted.
fn noted<F>(faults: &str, program: impl Fn(Client, Notes) -> F + Send + Sync + 'static) -> (Vec<String>, Run)
where
    F: Future<Output = ()> + 'static,
{
    let notes = Notes::default();
    let simulation = {
        let notes = notes.clone();
        Simulation::new(move |client| program(client, notes.clone())).setup(|sim| {
            for name in ["a", "b"] {
                let map = json!({
                    "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"},
                });
                sim.store().create(map).unwrap();
            }
        })
    };
    let schedule = format!("0[even,{faults}]").parse().expect("a schedule");
    let run = simulation.replay(&schedule);
    assert!(run.broken.is_none(), "{:?}\n{}", run.broken, run.trace);
    assert_eq!(run.schedule, schedule, "{}", run.trace);
    (notes.take(), run)
}

fn told<T>(result: kube::Result<T>) -> String {
    match result {
        Ok(_) => "ok".into(),
        Err(kube::Error::Api(status)) => status.code.to_string(),
        Err(_) => "lost".into(),
    }
}

/// Creates a map twice, and stays.
async fn creates_twice(client: Client, notes: Notes) {
    for _ in 0..2 {
        let created = maps(&client)
            .create(&PostParams::default(), &map(named("web")))
            .await;
        notes.add(told(created));
    }
    std::future::pending().await
}

#[test]
fn without_faults_requests_succeed() {
    assert_eq!(noted("", creates_twice).0, ["ok", "409"]);
}

#[test]
fn a_request_is_lost_before_it_takes_effect() {
    assert_eq!(
        noted("p0.0:create:configmaps:1=lose-request", creates_twice).0,
        ["lost", "ok"]
    );
}

#[test]
fn an_answer_is_lost_after_the_request_took_effect() {
    assert_eq!(
        noted("p0.0:create:configmaps:1=lose-answer", creates_twice).0,
        ["lost", "409"]
    );
}

#[test]
fn a_refused_request_takes_no_effect() {
    assert_eq!(
        noted("p0.0:create:configmaps:1=refuse(503)", creates_twice).0,
        ["503", "ok"]
    );
}

#[test]
fn a_crash_comes_before_a_request() {
    let (notes, run) = noted("p0.0:create:configmaps:1=crash-before(700)", creates_twice);
    assert_eq!(notes, ["ok", "409"]);
    let trace = run.trace.to_string();
    let lines: Vec<_> = trace.lines().map(|line| &line[13..]).collect();
    assert_eq!(
        lines[..5],
        [
            "p0.0      starts",
            "p0.0      crashes before: create configmaps in default; down for 0.700 s",
            "p0.1      starts",
            "p0.1      create configmaps in default -> 201, default/web at 1009",
            "p0.1      create configmaps in default -> 409 AlreadyExists",
        ]
    );
}

#[test]
fn a_crash_comes_between_a_request_and_its_answer() {
    let (notes, _) = noted("p0.0:create:configmaps:1=crash-after(700)", creates_twice);
    assert_eq!(notes, ["409", "409"], "noted by the second start only");
}

#[test]
fn what_a_program_spawned_writes_nothing_after_a_crash() {
    let starts = AtomicU32::new(0);
    let simulation = Simulation::new(move |client| {
        let start = starts.fetch_add(1, Ordering::Relaxed);
        async move {
            tokio::spawn(async move {
                for number in 0.. {
                    let name = format!("{start}-{number}");
                    let _ = maps(&client)
                        .create(&PostParams::default(), &map(named(&name)))
                        .await;
                    sleep(Duration::from_secs(1)).await;
                }
            });
            std::future::pending::<()>().await;
        }
    });
    let by = |cluster: &kube_sim::simulation::Cluster<'_>, start: &str| {
        let maps = cluster.list::<ConfigMap>();
        maps.iter()
            .filter(|map| map.name_any().starts_with(start))
            .count()
    };
    let simulation = simulation
        .always("the first start ends after five maps", move |cluster| {
            by(cluster, "0-") <= 5
        })
        .eventually("the second start goes on", move |cluster| by(cluster, "1-") > 10);
    let run = simulation.replay(&"0[even,p0@4900=crash(1000)]".parse().unwrap());
    assert!(run.broken.is_none(), "{}", run.trace);
}

#[test]
fn a_conflict_meets_updates_of_a_version_only() {
    async fn updates(client: Client, notes: Notes) {
        let maps = maps(&client);
        let found = maps.get("a").await.unwrap();
        notes.add(told(maps.replace("a", &PostParams::default(), &found).await));
        notes.add(told(maps.replace("a", &PostParams::default(), &found).await));
        std::future::pending().await
    }
    let (notes, _) = noted("p0.0:update:configmaps:1=conflict", updates);
    assert_eq!(notes, ["409", "ok"]);
    // A random schedule has no conflict of a write that names no version.
    let simulation = Simulation::new(|client: Client| async move {
        loop {
            let written = maps(&client)
                .replace("a", &PostParams::default(), &with_data("a", json!({})))
                .await;
            assert_ne!(told(written), "409");
            sleep(Duration::from_secs(1)).await;
        }
    });
    simulation
        .faults([kube_sim::simulation::FaultKind::Conflict])
        .schedules(5)
        .run();
}

#[test]
fn a_slow_request_arrives_late_and_a_slow_answer_too() {
    async fn times(client: Client, notes: Notes) {
        let started = tokio::time::Instant::now();
        let _ = maps(&client).get("a").await;
        notes.add(format!("{}", started.elapsed().as_secs()));
        let _ = maps(&client).get("a").await;
        notes.add(format!("{}", started.elapsed().as_secs()));
        std::future::pending().await
    }
    let slow = "p0.0:get:configmaps:1=slow-request(3000),p0.0:get:configmaps:2=slow-answer(4000)";
    assert_eq!(noted(slow, times).0, ["3", "7"]);
}

#[test]
fn a_slow_request_is_lost_with_its_sender() {
    async fn gives_up(client: Client, notes: Notes) {
        let (maps, create) = (maps(&client), map(named("web")));
        let params = PostParams::default();
        let waited = tokio::time::timeout(Duration::from_secs(1), maps.create(&params, &create));
        notes.add(format!("{}", waited.await.is_ok()));
        sleep(Duration::from_secs(30)).await;
        notes.add(told(maps.get("web").await));
        std::future::pending().await
    }
    let (notes, _) = noted("p0.0:create:configmaps:1=slow-request(3000)", gives_up);
    assert_eq!(notes, ["false", "404"]);
}

fn names(list: kube::Result<kube::core::ObjectList<ConfigMap>>) -> String {
    let names: Vec<_> = list.expect("a list").iter().map(|map| map.name_any()).collect();
    names.join("")
}

#[test]
fn a_lagging_server_shows_an_old_state_to_reads_of_any() {
    async fn reads(client: Client, notes: Notes) {
        let maps = maps(&client);
        maps.create(&PostParams::default(), &map(named("c")))
            .await
            .unwrap();
        notes.add(names(maps.list(&cached()).await));
        notes.add(names(maps.list(&ListParams::default()).await));
        sleep(Duration::from_secs(20)).await;
        notes.add(names(maps.list(&cached()).await));
        std::future::pending().await
    }
    assert_eq!(noted("", reads).0, ["abc", "abc", "abc"]);
    assert_eq!(
        noted("p0.0:list:configmaps:1=lag(1;10000)", reads).0,
        ["ab", "abc", "abc"]
    );
    // The scene was set before the server started.
    assert_eq!(
        noted("p0.0:list:configmaps:1=lag(8;10000)", reads).0,
        ["ab", "abc", "abc"]
    );
}

/// Watches from the start, and notes each event with its second.
async fn watches(client: Client, notes: Notes) {
    let maps = maps(&client);
    let started = tokio::time::Instant::now();
    let from = maps
        .list(&ListParams::default())
        .await
        .unwrap()
        .metadata
        .resource_version
        .unwrap();
    for _ in 0..2 {
        let writer = maps.clone();
        tokio::spawn(async move {
            for name in ["c", "d"] {
                sleep(Duration::from_secs(5)).await;
                let _ = writer.create(&PostParams::default(), &map(named(name))).await;
            }
        });
        let params = WatchParams::default().disable_bookmarks();
        let mut events = Box::pin(maps.watch(&params, &from).await.unwrap());
        while let Some(event) = events.next().await {
            let second = started.elapsed().as_secs();
            match event {
                Ok(WatchEvent::Added(map)) => notes.add(format!("{} at {second}", map.name_any())),
                Ok(WatchEvent::Error(status)) => notes.add(format!("{} at {second}", status.code)),
                Ok(_) => {}
                Err(_) => notes.add(format!("broken at {second}")),
            }
        }
        notes.add(format!("ended at {}", started.elapsed().as_secs()));
    }
    std::future::pending().await
}

#[test]
fn a_held_watch_delivers_late_and_in_order() {
    assert_eq!(noted("", watches).0, ["c at 5", "d at 10"]);
    assert_eq!(
        noted("p0.0:watch:configmaps:1.1=hold(20000)", watches).0,
        ["c at 25", "d at 25"]
    );
}

#[test]
fn a_lagging_server_holds_back_events() {
    let (notes, _) = noted("p0.0:list:configmaps:1=lag(0;8000)", watches);
    assert_eq!(notes, ["c at 8", "d at 10"]);
}

#[test]
fn a_watch_breaks_or_ends_between_two_events() {
    let (notes, _) = noted("p0.0:watch:configmaps:1.2=cut", watches);
    assert_eq!(
        notes,
        ["c at 5", "broken at 10", "ended at 10", "c at 10", "d at 10"]
    );
    let (notes, _) = noted("p0.0:watch:configmaps:1.2=end", watches);
    assert_eq!(notes, ["c at 5", "ended at 10", "c at 10", "d at 10"]);
}

#[test]
fn all_watches_break_and_a_restart_forgets_the_history() {
    let (notes, _) = noted("server@7000=cut-all", watches);
    assert_eq!(
        notes,
        ["c at 5", "broken at 7", "ended at 7", "c at 7", "d at 10"]
    );
    let (notes, _) = noted("server@7000=restart", watches);
    assert_eq!(
        notes,
        ["c at 5", "broken at 7", "ended at 7", "410 at 7", "ended at 7"]
    );
}

#[test]
fn a_program_that_is_cut_off_fails_and_sees_nothing() {
    async fn gets(client: Client, notes: Notes) {
        let started = tokio::time::Instant::now();
        for _ in 0..2 {
            sleep(Duration::from_secs(2)).await;
            let answer = told(maps(&client).get("a").await);
            notes.add(format!("{answer} at {}", started.elapsed().as_secs()));
        }
        std::future::pending().await
    }
    assert_eq!(
        noted("p0@1000=partition(9000)", gets).0,
        ["lost at 10", "ok at 12"]
    );
}

#[test]
fn events_wait_for_a_program_that_is_cut_off() {
    let notes = Notes::default();
    let simulation = {
        let notes = notes.clone();
        Simulation::new(move |client| watches(client, notes.clone())).workload(async |client| {
            maps(&client)
                .create(&PostParams::default(), &map(named("e")))
                .await
                .unwrap();
        })
    };
    let run = simulation.replay(&"0[even,p0@900=partition(3000)]".parse().unwrap());
    assert!(run.broken.is_none(), "{}", run.trace);
    assert_eq!(notes.take(), ["e at 3", "c at 5", "d at 10"]);
}

#[test]
fn a_program_that_ends_starts_again() {
    let (notes, _) = noted("", |_, notes| async move { notes.add("starts") });
    assert!(notes.len() >= 3, "{notes:?}");
}
