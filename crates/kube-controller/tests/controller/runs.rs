//! What leads to a run, and what follows from it.

use crate::harness::{Cluster, Failure, MS, SECOND, start, start_with};
use futures::{FutureExt, StreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, ResourceExt};
use kube_controller::controller::{Action, Attempt, Config, Controller, Error, Priority, RunnerError};
use kube_controller::reflector::ObjectRef;
use kube_controller::watcher;
use kube_sim::script::{Answer, Kind, ScriptedServer};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task;

async fn done() -> Result<Action, Failure> {
    Ok(Action::await_change())
}

/// Case 8, and that each change leads to a run.
#[tokio::test(start_paused = true)]
async fn what_exists_and_each_change_is_reconciled() {
    let cluster = Cluster::new();
    (0..20).for_each(|number| drop(cluster.map(&format!("map-{number:02}"))));
    let controller = cluster.controller();
    let store = controller.store();
    let mut running = start(controller, move |_| {
        assert_eq!(store.len(), 20, "all exist before the first run");
        done()
    });
    let names = running.names(20).await;
    assert_eq!((names[0].as_str(), names[19].as_str()), ("map-00", "map-19"));
    running.quiet_for(SECOND).await;
    cluster.touch("map-07");
    assert_eq!(running.run().await.name, "map-07");
    for _ in 0..20 {
        running.report().await.unwrap();
    }
    let (object, action) = running.report().await.unwrap();
    assert_eq!(object.namespace.as_deref(), Some("default"));
    assert_eq!(action, Action::await_change());
    let state = &cluster.get("ConfigMap", "map-07")["metadata"];
    assert_eq!(object.extra.uid.as_deref(), state["uid"].as_str());
    let version = object.extra.resource_version.as_deref();
    assert_eq!(version, state["resourceVersion"].as_str());
}

/// What the reconciler and the error policy log says which object it is about.
#[tokio::test(start_paused = true)]
async fn the_error_policy_is_called_in_the_span_of_its_run() {
    // While there is only one subscriber, a span that a thread without it is the first to come by is off for all threads.
    let _second = tracing::Dispatch::new(tracing_subscriber::registry());
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry());
    let cluster = Cluster::new();
    cluster.map("at-once");
    cluster.map("later");
    let spans = Arc::new(Mutex::new(Vec::new()));
    let entered = {
        let spans = spans.clone();
        move || spans.lock().unwrap().push(tracing::Span::current().id())
    };
    let of_policy = entered.clone();
    let fails = move |map: Arc<ConfigMap>, _| {
        let entered = entered.clone();
        async move {
            entered();
            if map.name_any() == "later" {
                tokio::time::sleep(MS).await;
            }
            Err(Failure("always"))
        }
    };
    let policy = move |_, _: &Failure, _| {
        of_policy();
        Action::await_change()
    };
    let reports = cluster.controller().run(fails, policy, Arc::new(()));
    let reports = std::pin::pin!(reports);
    assert_eq!(reports.take(2).collect::<Vec<_>>().await.len(), 2);
    let spans = spans.lock().unwrap();
    assert!(spans.iter().all(Option::is_some), "{spans:?}");
    let runs: HashMap<_, usize> = spans.iter().fold(HashMap::new(), |mut runs, span| {
        *runs.entry(span.clone()).or_default() += 1;
        runs
    });
    assert_eq!(
        runs.into_values().collect::<Vec<_>>(),
        [2, 2],
        "each by a run and its policy"
    );
}

/// Case 1.
#[tokio::test(start_paused = true)]
async fn a_panic_is_an_error_of_its_object() {
    let cluster = Cluster::new();
    cluster.map("in-the-call");
    cluster.map("in-the-future");
    cluster.map("well");
    let mut running = start(cluster.controller(), |map: Arc<ConfigMap>| {
        let name = map.name_any();
        assert_ne!(name, "in-the-call", "this one panics");
        async move {
            assert_ne!(name, "in-the-future", "this one panics, too");
            done().await
        }
    });
    let mut seen = HashMap::new();
    for _ in 0..7 {
        *seen.entry(running.run().await.name).or_insert(0) += 1;
    }
    assert_eq!(seen["well"], 1, "it is not retried: {seen:?}");
    assert_eq!(seen["in-the-call"] + seen["in-the-future"], 6, "{seen:?}");
    let errors = running.errors();
    assert!(
        errors.iter().any(|error| error.contains("this one panics, too")),
        "{errors:?}"
    );
    let Error::RunnerError(RunnerError::ReconcilerPanicked { object, .. }) = running.error().await else {
        panic!("another error");
    };
    assert!(
        object.to_string().starts_with("ConfigMap.v1./in-the-"),
        "{object}"
    );
}

/// Case 2.
#[tokio::test(start_paused = true)]
async fn a_panic_goes_on_if_it_is_not_recovered() {
    let cluster = Cluster::new();
    cluster.map("a");
    let controller = cluster
        .controller()
        .with_config(Config::default().recover_panic(false));
    let running = start(controller, |_| async { panic!("out of here") });
    let panic = running.task.await.unwrap_err().into_panic();
    assert_eq!(panic.downcast_ref(), Some(&"out of here"));
}

/// Whether the future of a run was polled last by the task that called its reconciler.
async fn ended_in(caller: task::Id) -> Result<Action, Failure> {
    let same = task::id() == caller;
    Ok(Action::requeue(if same { MS } else { SECOND }))
}

#[tokio::test(start_paused = true)]
async fn only_a_run_that_waits_is_spawned() {
    let cluster = Cluster::new();
    cluster.map("ready");
    cluster.map("waits");
    let mut running = start(cluster.controller(), |map| {
        let caller = task::id();
        async move {
            if map.name_any() == "waits" {
                task::yield_now().await;
            }
            ended_in(caller).await
        }
    });
    for _ in 0..2 {
        let (object, action) = running.report().await.unwrap();
        let place = if object.name == "waits" { SECOND } else { MS };
        assert_eq!(action, Action::requeue(place), "{object}");
    }
}

/// The clock is the real one, since the run blocks its thread.
#[tokio::test]
async fn runs_are_spawned_after_one_that_blocked() {
    let cluster = Cluster::new();
    (0..3).for_each(|number| drop(cluster.map(&format!("map-{number}"))));
    let mut running = start(cluster.controller(), |_| {
        let caller = task::id();
        async move {
            std::thread::sleep(MS);
            ended_in(caller).await
        }
    });
    let mut actions = Vec::new();
    for _ in 0..3 {
        actions.push(running.report().await.unwrap().1);
    }
    let spawned = Action::requeue(SECOND);
    assert_eq!(actions, [Action::requeue(MS), spawned.clone(), spawned]);
}

/// Cases 3 and 4.
#[tokio::test(start_paused = true)]
async fn a_run_that_takes_too_long_is_dropped() {
    let cluster = Cluster::new();
    cluster.map("slow");
    let controller = cluster.controller();
    let controller = controller.with_config(Config::default().reconcile_timeout(5 * SECOND));
    let mut running = start(controller, |_| async {
        tokio::time::sleep(6 * SECOND).await;
        done().await
    });
    let first = running.run().await;
    assert_eq!(first.attempt.failures, 0);
    let error = running.error().await;
    assert!(
        matches!(error, Error::RunnerError(RunnerError::ReconcilerTimedOut { timeout, .. }) if timeout == 5 * SECOND)
    );
    let second = running.run().await;
    assert_eq!(second.attempt.failures, 1);
    assert!((5 * SECOND..5 * SECOND + 10 * MS).contains(&(second.at - first.at)));

    for config in [
        Config::default(),
        Config::default().reconcile_timeout(Duration::ZERO),
    ] {
        let mut unlimited = start(cluster.controller().with_config(config), |_| async {
            tokio::time::sleep(3600 * SECOND).await;
            done().await
        });
        assert!(unlimited.report().await.is_ok(), "no limit unless there is one");
    }
}

/// Cases 12 and 14.
#[tokio::test(start_paused = true)]
async fn errors_are_retried_with_backoff_until_a_success() {
    let cluster = Cluster::new();
    cluster.map("a");
    let calls = AtomicUsize::new(0);
    let mut running = start(cluster.controller(), move |_| {
        let fails = [0, 1, 2, 3, 5].contains(&calls.fetch_add(1, Ordering::Relaxed));
        async move {
            if fails {
                Err(Failure("not yet"))
            } else {
                done().await
            }
        }
    });
    let mut runs = Vec::new();
    for _ in 0..5 {
        runs.push(running.run().await);
    }
    let failures: Vec<_> = runs.iter().map(|run| run.attempt.failures).collect();
    assert_eq!(failures, [0, 1, 2, 3, 4]);
    let pauses = runs.windows(2).map(|pair| (pair[1].at - pair[0].at).as_millis());
    for (pause, expected) in pauses.zip([5, 10, 20, 40]) {
        assert!(
            (expected..expected + 3).contains(&pause),
            "{pause} ms instead of {expected} ms"
        );
    }
    running.quiet_for(SECOND).await;
    cluster.touch("a");
    assert_eq!(
        running.run().await.attempt.failures,
        0,
        "the success forgot the failures"
    );
    assert_eq!(running.run().await.attempt.failures, 1);
    let Error::ReconcilerFailed(failure, object) = running.error().await else {
        panic!("another error");
    };
    assert_eq!((failure.0, &*object.name), ("not yet", "a"));
}

#[tokio::test(start_paused = true)]
async fn the_backoff_has_a_longest_pause() {
    let cluster = Cluster::new();
    cluster.map("a");
    let config = Config::default().backoff(SECOND, 3 * SECOND);
    let mut running = start(cluster.controller().with_config(config), |_| async {
        Err(Failure("never"))
    });
    let mut last = running.run().await.at;
    for expected in [1, 2, 3, 3, 3] {
        let at = running.run().await.at;
        assert_eq!((at - last).as_secs(), expected);
        last = at;
    }
}

/// Cases 13 and 17: the error policy decides, whatever the reconciler wants.
#[tokio::test(start_paused = true)]
async fn a_terminal_error_waits_for_a_change() {
    let cluster = Cluster::new();
    cluster.map("a");
    let mut running = start_with(
        cluster.controller(),
        |_| async { Err(Failure("of no use")) },
        |failure| {
            assert_eq!(failure.0, "of no use");
            Action::await_change()
        },
    );
    running.run().await;
    running.quiet_for(3600 * SECOND).await;
    cluster.touch("a");
    assert_eq!(running.run().await.attempt.failures, 1);
}

#[tokio::test(start_paused = true)]
async fn the_error_policy_may_choose_the_pause() {
    let cluster = Cluster::new();
    cluster.map("a");
    let policy = |_: &Failure| Action::requeue(7 * SECOND);
    let mut running = start_with(cluster.controller(), |_| async { Err(Failure("again")) }, policy);
    let first = running.run().await;
    let second = running.run().await;
    assert_eq!((second.at - first.at).as_secs(), 7);
    assert_eq!(running.run().await.attempt.failures, 2);
}

/// Case 15.
#[tokio::test(start_paused = true)]
async fn a_success_may_ask_for_a_backoff() {
    let cluster = Cluster::new();
    cluster.map("a");
    let mut running = start(cluster.controller(), |_| async { Ok(Action::backoff()) });
    for failures in 0..4 {
        assert_eq!(running.run().await.attempt.failures, failures);
    }
    assert!(running.errors().is_empty());
}

/// Case 16.
#[tokio::test(start_paused = true)]
async fn requeue_comes_after_its_time_and_forgets_failures() {
    let cluster = Cluster::new();
    cluster.map("a");
    let calls = AtomicUsize::new(0);
    let mut running = start(cluster.controller(), move |_| {
        let call = calls.fetch_add(1, Ordering::Relaxed);
        async move {
            match call {
                0 => Err(Failure("once")),
                _ => Ok(Action::requeue(90 * SECOND)),
            }
        }
    });
    running.run().await;
    let second = running.run().await;
    let third = running.run().await;
    assert_eq!((second.attempt.failures, third.attempt.failures), (1, 0));
    assert!((90 * SECOND..90 * SECOND + 2 * MS).contains(&(third.at - second.at)));
}

/// Case 45: the last run decides when the next one is.
#[tokio::test(start_paused = true)]
async fn a_change_replaces_an_earlier_requeue() {
    let cluster = Cluster::new();
    cluster.map("a");
    let calls = AtomicUsize::new(0);
    let mut running = start(cluster.controller(), move |_| {
        let call = calls.fetch_add(1, Ordering::Relaxed);
        async move {
            Ok(match call {
                0 => Action::requeue(60 * SECOND),
                _ => Action::await_change(),
            })
        }
    });
    running.run().await;
    running.quiet_for(10 * SECOND).await;
    cluster.touch("a");
    running.run().await;
    running.quiet_for(3600 * SECOND).await;
}

/// kubernetes#132805: a failure counts only for the run that the backoff released.
#[tokio::test(start_paused = true)]
async fn changes_during_a_backoff_do_not_lengthen_it() {
    let cluster = Cluster::new();
    cluster.map("a");
    let config = Config::default().backoff(100 * SECOND, 1000 * SECOND);
    let mut running = start(cluster.controller().with_config(config), |_| async {
        Err(Failure("broken"))
    });
    let first = running.run().await;
    for _ in 0..8 {
        running.quiet_for(10 * SECOND).await;
        cluster.touch("a");
        assert_eq!(
            running.run().await.attempt.failures,
            1,
            "the change is reconciled at once"
        );
    }
    let released = running.run().await;
    assert_eq!(
        (released.at - first.at).as_secs(),
        100,
        "as if nothing had changed"
    );
    let next = running.run().await;
    assert_eq!((next.at - released.at).as_secs(), 200);
    assert_eq!(next.attempt.failures, 2);
}

/// Cases 18, 19, 62: initial objects have low priority, changes have not, and what follows keeps it.
#[tokio::test(start_paused = true)]
async fn priorities_are_kept_unless_an_action_says_otherwise() {
    let cluster = Cluster::new();
    cluster.map("a");
    let calls = AtomicUsize::new(0);
    let mut running = start(cluster.controller(), move |_| {
        let call = calls.fetch_add(1, Ordering::Relaxed);
        async move {
            match call {
                0 => Ok(Action::requeue(SECOND)),
                1 => Err(Failure("once")),
                2 => Ok(Action::requeue(SECOND).with_priority(Priority(7))),
                _ => done().await,
            }
        }
    });
    for expected in [Priority::LOW, Priority::LOW, Priority::LOW, Priority(7)] {
        assert_eq!(running.run().await.attempt.priority, expected);
    }
    cluster.touch("a");
    assert_eq!(running.run().await.attempt.priority, Priority::NORMAL);
    cluster.map("b");
    assert_eq!(running.run().await.attempt.priority, Priority::NORMAL);
}

/// Case 21.
#[tokio::test(start_paused = true)]
async fn each_run_has_its_own_number() {
    let cluster = Cluster::new();
    cluster.map("a");
    let mut running = start(cluster.controller(), |_| async { Ok(Action::requeue(SECOND)) });
    let first = running.run().await.attempt.id;
    assert!(running.run().await.attempt.id > first);
}

/// Cases 39, 40, 92.
#[tokio::test(start_paused = true)]
async fn an_object_is_never_reconciled_twice_at_once() {
    let cluster = Cluster::new();
    cluster.map("a");
    let working = Arc::new(AtomicUsize::new(0));
    let mut running = start(cluster.controller(), move |_| {
        let working = working.clone();
        async move {
            assert_eq!(working.fetch_add(1, Ordering::SeqCst), 0, "two work");
            tokio::time::sleep(10 * SECOND).await;
            working.fetch_sub(1, Ordering::SeqCst);
            done().await
        }
    });
    let first = running.run().await;
    for _ in 0..3 {
        running.quiet_for(SECOND).await;
        cluster.touch("a");
    }
    let second = running.run().await;
    assert_eq!((second.at - first.at).as_secs(), 10, "once more after the end");
    running.quiet_for(60 * SECOND).await;
    assert!(running.errors().is_empty());
}

/// Cases 33 and 95.
#[tokio::test(start_paused = true)]
async fn concurrency_is_limited() {
    let cluster = Cluster::new();
    (0..10).for_each(|number| drop(cluster.map(&format!("map-{number}"))));
    let controller = cluster.controller().with_config(Config::default().concurrency(3));
    let mut running = start(controller, |_| async {
        tokio::time::sleep(10 * SECOND).await;
        done().await
    });
    let mut starts = Vec::new();
    let mut first = None;
    for _ in 0..10 {
        let at = running.run().await.at;
        starts.push((at - *first.get_or_insert(at)).as_secs());
    }
    assert_eq!(starts, [0, 0, 0, 10, 10, 10, 20, 20, 20, 30]);
}

/// Case 91: a burst is one run, and an object that always changes does not starve.
#[tokio::test(start_paused = true)]
async fn debounce_joins_a_burst_without_starving() {
    let cluster = Cluster::new();
    let controller = cluster
        .controller()
        .with_config(Config::default().debounce(5 * SECOND));
    let mut running = start(controller, |_| done());
    running.quiet_for(SECOND).await;
    cluster.map("a");
    let mut runs = 0;
    for _ in 0..60 {
        tokio::time::sleep(SECOND).await;
        cluster.touch("a");
        runs += usize::from(running.run().now_or_never().is_some());
    }
    assert!((9..=12).contains(&runs), "{runs} runs in a minute");
}

/// Case 96.
#[tokio::test(start_paused = true)]
async fn very_many_immediate_requeues_do_not_block() {
    let cluster = Cluster::new();
    (0..5000).for_each(|number| drop(cluster.map(&format!("map-{number}"))));
    let calls = Mutex::new(HashMap::new());
    let mut running = start(cluster.controller(), move |map: Arc<ConfigMap>| {
        let mut calls = calls.lock().unwrap();
        let calls = calls.entry(map.name_any()).or_insert(0);
        *calls += 1;
        let action = match *calls {
            1..=3 => Action::requeue(Duration::ZERO),
            _ => Action::await_change(),
        };
        async { Ok(action) }
    });
    running.names(20_000).await;
    running.quiet_for(SECOND).await;
}

/// An object that cannot be read fails alone, and is tried again when it changes.
#[tokio::test(start_paused = true)]
async fn an_object_that_does_not_decode_fails_alone() {
    let kind = Kind::new("v1", "ConfigMap");
    let mut bad = kind.object("default/bad", "2");
    bad["data"] = serde_json::json!(["no map"]);
    let mut mended = kind.object("default/bad", "3");
    mended["data"] = serde_json::json!({"a": "map"});
    let list = kind.list("2", [kind.object("default/good", "1"), bad]);
    let server = ScriptedServer::new().otherwise(move |request| match request.parameter("watch") {
        None => Answer::json(list.clone()),
        Some(_) if request.parameter("sendInitialEvents").is_some() => Answer::code(422),
        Some(_) => Answer::watch(Vec::<String>::new())
            .pause(60 * SECOND)
            .chunk(kube_sim::script::event("MODIFIED", &mended))
            .open(),
    });
    let maps: Api<ConfigMap> = Api::all(kube::Client::new(server.service(), "default"));
    let controller = Controller::new(maps, watcher::Config::default());
    let store = controller.store();
    let mut running = start(controller, |_| done());
    assert_eq!(running.run().await.name, "good");
    let Error::RunnerError(RunnerError::ObjectInvalid(error, object)) = running.error().await else {
        panic!("another error");
    };
    assert!(error.to_string().starts_with("data: "), "{error}");
    assert_eq!(object.name, "bad");
    assert_eq!((store.len(), store.state().len()), (2, 1), "it is left out");
    let run = running.run().await;
    assert_eq!((run.name.as_str(), run.at.as_secs()), ("bad", 60));
}

/// A deleted object is no error; one that the program names and that does not exist is.
#[tokio::test(start_paused = true)]
async fn only_a_named_object_can_be_missing() {
    let cluster = Cluster::new();
    cluster.map("a");
    let later = stream::once(tokio::time::sleep(10 * SECOND))
        .flat_map(|()| stream::iter(["a", "b"].map(|name| ObjectRef::new(name).within("default"))))
        .chain(stream::pending());
    let mut running = start(cluster.controller().reconcile_on(later), |_| async {
        Ok(Action::requeue(3 * SECOND))
    });
    running.run().await;
    cluster.delete("ConfigMap", "a");
    tokio::time::sleep(5 * SECOND).await;
    assert!(running.errors().is_empty(), "what is gone is done");
    cluster.map("a");
    running.run().await;
    let error = running.error().await;
    assert!(
        matches!(&error, Error::ObjectNotFound(object) if object.name == "b"),
        "{error}"
    );
}

/// Case 9, and that bulk requests have low priority.
#[tokio::test(start_paused = true)]
async fn streams_of_the_program_ask_for_objects() {
    let cluster = Cluster::new();
    cluster.map("a");
    cluster.map("b");
    let all = stream::once(tokio::time::sleep(10 * SECOND)).chain(stream::pending());
    let one = stream::once(tokio::time::sleep(20 * SECOND))
        .map(|()| ObjectRef::new("b").within("default"))
        .chain(stream::pending());
    let controller = cluster.controller().reconcile_all_on(all).reconcile_on(one);
    let mut running = start(controller, |_| done());
    assert_eq!(running.names(2).await, ["a", "b"]);
    let again = running.run().await;
    assert_eq!((again.at.as_secs(), again.attempt.priority), (10, Priority::LOW));
    running.run().await;
    let named = running.run().await;
    assert_eq!((named.name.as_str(), named.at.as_secs()), ("b", 20));
    assert_eq!(named.attempt.priority, Priority::NORMAL);
}

/// Case 99: another object of the same name is another object.
#[tokio::test(start_paused = true)]
async fn an_object_that_is_created_anew_is_reconciled() {
    let cluster = Cluster::new();
    cluster.map("a");
    let controller = cluster.controller().filter(kube_controller::predicates::labels);
    let mut running = start(controller, |_| done());
    running.run().await;
    cluster.touch("a");
    running.quiet_for(SECOND).await;
    cluster.delete("ConfigMap", "a");
    cluster.map("a");
    assert_eq!(running.run().await.name, "a");
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_a_late_run_is_dropped_is_its_error() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("while it is dropped");
        }
    }
    let cluster = Cluster::new();
    cluster.map("a");
    let config = Config::default().reconcile_timeout(SECOND).concurrency(1);
    let mut running = start(cluster.controller().with_config(config), |_| {
        let is_first = Attempt::current().unwrap().failures == 0;
        async move {
            if is_first {
                let _bomb = Bomb;
                std::future::pending::<()>().await;
            }
            done().await
        }
    });
    running.run().await;
    let error = running.error().await;
    assert!(
        matches!(error, Error::RunnerError(RunnerError::ReconcilerPanicked { .. })),
        "{error}"
    );
    assert_eq!(running.run().await.attempt.failures, 1, "it is retried");
}

#[tokio::test(start_paused = true)]
async fn no_pause_is_too_long() {
    for action in [Action::requeue(Duration::MAX), Action::backoff()] {
        let cluster = Cluster::new();
        cluster.map("a");
        let config = Config::default().backoff(Duration::MAX, Duration::MAX);
        let controller = cluster.controller().with_config(config);
        let fails = |_| async { Err(Failure("always")) };
        let mut running = start_with(controller, fails, move |_| action.clone());
        running.run().await;
        assert!(matches!(running.error().await, Error::ReconcilerFailed(..)));
        cluster.touch("a");
        assert_eq!(running.run().await.attempt.failures, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn changes_do_not_keep_failures_from_being_counted() {
    let cluster = Cluster::new();
    cluster.map("a");
    let fails = |_| async { Err(Failure("always")) };
    let mut running = start_with(cluster.controller(), fails, |_| Action::requeue(10 * SECOND));
    let mut failures = vec![running.run().await.attempt.failures];
    for _ in 0..4 {
        running.quiet_for(4 * SECOND).await;
        cluster.touch("a");
        failures.push(running.run().await.attempt.failures);
    }
    assert_eq!(failures, [0, 1, 1, 1, 2], "the pause is over after 10 s");
}

#[tokio::test(start_paused = true)]
async fn a_new_object_does_not_inherit_failures() {
    let cluster = Cluster::new();
    cluster.map("a");
    let mut running = start(cluster.controller(), |_| async {
        tokio::time::sleep(SECOND).await;
        Err(Failure("always"))
    });
    assert_eq!(running.run().await.attempt.failures, 0);
    assert_eq!(running.run().await.attempt.failures, 1);
    // While the second run goes on, which fails for the old object.
    cluster.delete("ConfigMap", "a");
    cluster.map("a");
    assert_eq!(running.run().await.attempt.failures, 0);
    assert_eq!(running.run().await.attempt.failures, 1);
}
