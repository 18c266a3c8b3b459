//! What a reflector asks of a server, and what handlers hear of it, for scripted answers.
//!
//! The scripts follow observed behaviour of client-go; where the outcome differs on purpose, the test says so.

#[path = "../common/backoff.rs"]
mod backoff;
#[path = "../common/mod.rs"]
mod common;
mod outages;
mod status;
mod streaming;
#[path = "../common/told.rs"]
mod told;

use backoff::{FIRST_PAUSE, SECOND_PAUSE, THIRD_PAUSE, assert_they_grow};
use common::{Answer::*, Event::*, *};
use instances as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube_informer::low_level::queue::Delta;
use kube_informer::low_level::{DecodeResult, KnownObjects, Sink};
use kube_informer::reflector::{InitialState, Phase, Reflector, ReflectorOptions, ReflectorStatus};
use kube_informer::source::ErrorClass;
use kube_informer::{Fingerprint, Notifications, ObjectKey, ResourceVersion, SharedInformer};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use told::told_within;

/// An informer at work on a script.
struct Scene {
    script: Script,
    informer: SharedInformer<ConfigMap>,
    notifications: Notifications<ConfigMap>,
    stop: CancellationToken,
    running: tokio::task::JoinHandle<Result<(), kube_informer::informer::RunError>>,
}

impl Scene {
    fn start(script: impl IntoIterator<Item = (&'static str, Answer)>) -> Self {
        Self::with(Script::new(script), ReflectorOptions::default())
    }

    fn streaming(script: impl IntoIterator<Item = (&'static str, Answer)>) -> Self {
        Self::with(Script::streaming(script), ReflectorOptions::default())
    }

    fn with(script: Script, options: ReflectorOptions) -> Self {
        let (informer, runner) = SharedInformer::builder(script.clone())
            .reflector_options(options)
            .build();
        let notifications = informer.subscribe("test").unwrap();
        let stop = CancellationToken::new();
        let running = tokio::spawn(runner.run(stop.clone()));
        Self {
            script,
            informer,
            notifications,
            stop,
            running,
        }
    }

    /// Lets everything happen that happens within this (paused) time, and returns what was told until then.
    async fn after(&mut self, time: Duration) -> Vec<String> {
        told_within(&mut self.notifications, time).await
    }

    /// Plays the script and compares what was told.
    async fn plays(mut self, expected: &[&str]) -> Self {
        let told = self.after(Duration::from_secs(3600)).await;
        assert!(
            self.script.is_over(),
            "only these requests came: {:?}",
            self.script.requests()
        );
        assert_eq!(told, expected);
        self
    }

    async fn stop(self) {
        self.stop.cancel();
        self.running.await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn lists_then_watches_from_the_lists_version() {
    let scene = Scene::start([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        (
            "WATCH 10",
            Watch(vec![
                Modified("a", 11),
                Added("c", 12),
                Deleted("b", 13),
                Bookmark(20),
            ]),
        ),
    ]);
    let scene = scene
        .plays(&[
            "Add(ns/a@1, initial)",
            "Add(ns/b@2, initial)",
            "Update(ns/a@1->11)",
            "Add(ns/c@12)",
            "Delete(ns/b@13, Event)",
        ])
        .await;
    let status = scene.informer.status();
    assert!(status.synced && scene.notifications.has_synced());
    assert_eq!(status.objects, 2);
    assert_eq!(status.applied, Some("20".into()), "a bookmark moves the store");
    assert_eq!(status.reflector.resource_version, Some("20".into()));
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_expired_stream_lists_again_after_a_pause() {
    let scene = Scene::start([
        ("LIST any 500", List(10, vec![("a", 1)])),
        (
            "WATCH 10",
            Watch(vec![Status(kube_informer::source::ApiStatus::from_code(
                410, "expired",
            ))]),
        ),
        ("LIST 10 all", List(11, vec![("a", 1)])),
        ("WATCH 11", Watch(vec![])),
    ]);
    // client-go tells every handler of the unchanged object here; only those that asked for a resync should care.
    let scene = scene.plays(&["Add(ns/a@1, initial)"]).await;
    let pauses = scene.script.pauses();
    assert!(
        pauses[0] == 0 && FIRST_PAUSE.contains(&pauses[1]) && pauses[2] == 0,
        "{pauses:?}"
    );
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_expired_list_leads_at_once_to_the_newest_state() {
    let scene = Scene::start([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        (
            "WATCH 10",
            Watch(vec![
                Modified("a", 12),
                Status(kube_informer::source::ApiStatus::from_code(410, "expired")),
            ]),
        ),
        ("LIST 12 all", Error(expired())),
        ("LIST newest 500", List(20, vec![("a", 15)])),
        ("WATCH 20", Watch(vec![])),
    ]);
    let scene = scene
        .plays(&[
            "Add(ns/a@1, initial)",
            "Add(ns/b@2, initial)",
            "Update(ns/a@1->12)",
            "Delete(ns/b@2, Missed)",
            "Update(ns/a@12->15)",
        ])
        .await;
    assert_eq!(scene.script.pauses()[2], 0);
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_is_opened_again_where_it_stopped() {
    let scene = Scene::start([
        ("LIST any 500", List(10, vec![])),
        ("WATCH 10", Watch(vec![Added("a", 12), Close])),
        ("WATCH 12", Watch(vec![Bookmark(13), Close])),
        ("WATCH 13", Watch(vec![Close])),
        ("LIST 13 all", List(13, vec![("a", 12)])),
        ("WATCH 13", Watch(vec![])),
    ]);
    let scene = scene.plays(&["Add(ns/a@12)"]).await;
    let pauses = scene.script.pauses();
    assert_eq!(pauses[..3], [0, 0, 0]);
    assert!(
        FIRST_PAUSE.contains(&pauses[3]),
        "a watch that closes with nothing is suspicious: {pauses:?}"
    );
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn watches_that_end_early_for_ever_are_no_hot_loop() {
    let endless = (0..40).map(|n| {
        let request: &'static str = Box::leak(format!("WATCH {}", 10 + n).into_boxed_str());
        (request, Watch(vec![Bookmark(11 + n), Close]))
    });
    let mut scene = Scene::start([("LIST any 500", List(10, vec![]))].into_iter().chain(endless));
    scene.after(Duration::from_secs(60)).await;
    let requests = scene.script.requests().len();
    assert!((5..=12).contains(&requests), "{requests} requests in a minute");
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_refused_or_throttled_watch_is_tried_again_without_a_list() {
    let scene = Scene::start([
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Error(refused())),
        ("WATCH 10", Error(status(429, "slow down"))),
        (
            "WATCH 10",
            Watch(vec![Status(kube_informer::source::ApiStatus::from_code(
                429,
                "slow down",
            ))]),
        ),
        ("WATCH 10", Watch(vec![Modified("a", 11)])),
    ]);
    let scene = scene.plays(&["Add(ns/a@1, initial)", "Update(ns/a@1->11)"]).await;
    let pauses = scene.script.pauses();
    assert!(FIRST_PAUSE.contains(&pauses[1]), "{pauses:?}");
    assert!(
        SECOND_PAUSE.contains(&pauses[2]) && THIRD_PAUSE.contains(&pauses[3]),
        "the pauses grow: {pauses:?}"
    );
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_server_can_ask_for_a_longer_pause() {
    let mut slow_down = kube_informer::source::ApiStatus::from_code(429, "slow down");
    slow_down.retry_after = Some(Duration::from_secs(100));
    let scene = Scene::start([
        ("LIST any 500", Error(slow_down.clone().into())),
        ("LIST any 500", List(10, vec![])),
        ("WATCH 10", Error(slow_down.into())),
        ("WATCH 10", Watch(vec![])),
    ]);
    let scene = scene.plays(&[]).await;
    assert_eq!(scene.script.pauses()[..3], [100_000, 0, 100_000]);
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_cannot_be_opened_otherwise_leads_to_a_list() {
    for error in [status(410, "gone"), status(500, "boom"), status(403, "no")] {
        let scene = Scene::start([
            ("LIST any 500", List(10, vec![("a", 1)])),
            ("WATCH 10", Error(error)),
            ("LIST 10 all", List(11, vec![])),
            ("WATCH 11", Watch(vec![])),
        ]);
        scene
            .plays(&["Add(ns/a@1, initial)", "Delete(ns/a@1, Missed)"])
            .await
            .stop()
            .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_error_with_a_time_to_wait_leads_to_no_list() {
    let unavailable = || {
        let mut status = kube_informer::source::ApiStatus::from_code(503, "starting");
        status.retry_after = Some(Duration::from_secs(20));
        status
    };
    let scene = Scene::start([
        ("LIST any 500", List(10, vec![])),
        ("WATCH 10", Error(unavailable().into())),
        ("WATCH 10", Watch(vec![Status(unavailable())])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let scene = scene.plays(&[]).await;
    assert_eq!(scene.script.pauses()[..3], [0, 20_000, 20_000]);
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_forgot_while_away_is_listed_at_once() {
    let gone = || Status(kube_informer::source::ApiStatus::from_code(410, "expired"));
    for answer in [Error(expired()), Watch(vec![gone()])] {
        let scene = Scene::start([
            ("LIST any 500", List(10, vec![])),
            ("WATCH 10", Error(refused())),
            ("WATCH 10", answer),
            ("LIST 10 all", List(20, vec![])),
            // Again, but without a pause before.
            ("WATCH 20", Watch(vec![gone()])),
            ("LIST 20 all", List(21, vec![])),
            ("WATCH 21", Watch(vec![])),
        ]);
        let scene = scene.plays(&[]).await;
        let pauses = scene.script.pauses();
        assert_eq!((pauses[2], pauses[3]), (0, 0), "{pauses:?}");
        assert!(SECOND_PAUSE.contains(&pauses[4]), "{pauses:?}");
        scene.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn errors_in_the_stream_lead_to_a_list() {
    let internal = || Status(kube_informer::source::ApiStatus::from_code(500, "etcd is upset"));
    for event in [
        internal(),
        Break(kube_informer::source::ApiError::Protocol("garbage".into())),
    ] {
        let scene = Scene::start([
            ("LIST any 500", List(10, vec![])),
            ("WATCH 10", Watch(vec![Added("a", 11), event])),
            ("LIST 11 all", List(12, vec![("a", 11)])),
            ("WATCH 12", Watch(vec![])),
        ]);
        let scene = scene.plays(&["Add(ns/a@11)"]).await;
        assert!(FIRST_PAUSE.contains(&scene.script.pauses()[1]));
        scene.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_broken_connection_is_a_normal_end() {
    let broken = || {
        Break(kube_informer::source::ApiError::Interrupted(
            "reset by peer".into(),
        ))
    };
    let scene = Scene::start([
        ("LIST any 500", List(10, vec![])),
        ("WATCH 10", Watch(vec![Added("a", 11), broken()])),
        ("WATCH 11", Watch(vec![After(Duration::from_secs(5)), broken()])),
        ("WATCH 11", Watch(vec![])),
    ]);
    scene.plays(&["Add(ns/a@11)"]).await.stop().await;
}

#[tokio::test(start_paused = true)]
async fn pages_are_put_together_and_the_next_list_is_paged_too() {
    let scene = Scene::start([
        ("LIST any 500", Page(10, vec![("a", 1)], "t1")),
        ("LIST any 500 t1", Page(10, vec![("b", 2)], "t2")),
        ("LIST any 500 t2", List(10, vec![("c", 3)])),
        ("WATCH 10", Error(expired())),
        ("LIST 10 500", List(11, vec![("a", 1), ("b", 2), ("c", 3)])),
        ("WATCH 11", Watch(vec![])),
    ]);
    scene
        .plays(&[
            "Add(ns/a@1, initial)",
            "Add(ns/b@2, initial)",
            "Add(ns/c@3, initial)",
        ])
        .await
        .stop()
        .await;
}

#[tokio::test(start_paused = true)]
async fn an_expired_page_is_followed_by_one_list_in_one_piece() {
    let scene = Scene::start([
        ("LIST any 500", Page(10, vec![("a", 1)], "t1")),
        ("LIST any 500 t1", Error(expired())),
        ("LIST any all", List(12, vec![("b", 2)])),
        ("WATCH 12", Watch(vec![])),
    ]);
    scene.plays(&["Add(ns/b@2, initial)"]).await.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_list_that_breaks_changes_nothing() {
    let scene = Scene::start([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        ("WATCH 10", Error(expired())),
        ("LIST 10 all", BrokenList(vec![("c", 3)])),
        ("LIST 10 all", List(11, vec![("a", 1), ("b", 2)])),
        ("WATCH 11", Watch(vec![])),
    ]);
    scene
        .plays(&["Add(ns/a@1, initial)", "Add(ns/b@2, initial)"])
        .await
        .stop()
        .await;
}

#[tokio::test(start_paused = true)]
async fn the_store_decides_what_is_an_add_and_what_an_update() {
    let scene = Scene::start([
        ("LIST any 500", List(10, vec![("a", 1)])),
        (
            "WATCH 10",
            Watch(vec![Added("a", 11), Modified("n", 12), Deleted("z", 13)]),
        ),
    ]);
    // client-go also tells of the deletion of an object that nobody was told of.
    scene
        .plays(&["Add(ns/a@1, initial)", "Update(ns/a@1->11)", "Add(ns/n@12)"])
        .await
        .stop()
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_new_object_under_the_same_key_is_a_deletion_and_an_add() {
    let scene = Scene::start([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        (
            "WATCH 10",
            Watch(vec![
                Added("a#2", 11),
                Status(kube_informer::source::ApiStatus::from_code(410, "")),
            ]),
        ),
        ("LIST 11 all", List(20, vec![("a#2", 11), ("b#2", 15)])),
        ("WATCH 20", Watch(vec![])),
    ]);
    scene
        .plays(&[
            "Add(ns/a@1, initial)",
            "Add(ns/b@2, initial)",
            "Delete(ns/a@1, Missed)",
            "Add(ns/a@11)",
            "Delete(ns/b@2, Missed)",
            "Add(ns/b@15)",
        ])
        .await
        .stop()
        .await;
}

#[tokio::test(start_paused = true)]
async fn bad_objects_are_set_aside_and_stop_nobody() {
    let scene = Scene::start([
        (
            "LIST any 500",
            BadList(10, vec![("a", 1), ("b", 1)], vec![Some("ns/x"), None]),
        ),
        (
            "WATCH 10",
            Watch(vec![
                Bad("ns/a"),
                Modified("b", 12),
                Status(kube_informer::source::ApiStatus::from_code(410, "")),
            ]),
        ),
        ("LIST 12 all", BadList(20, vec![("b", 12)], vec![Some("ns/a")])),
        ("WATCH 20", Watch(vec![Deleted("a", 21)])),
    ]);
    let mut scene = scene;
    let told = scene.after(Duration::from_millis(1)).await;
    assert_eq!(
        told,
        [
            "Add(ns/a@1, initial)",
            "Add(ns/b@1, initial)",
            "Update(ns/b@1->12)"
        ]
    );
    assert!(
        scene.informer.store().is_stale("ns/a"),
        "the last good state is kept, and known to be stale"
    );
    let scene = scene.plays(&["Delete(ns/a@21, Event)"]).await;
    let status = scene.informer.status();
    assert_eq!((status.objects, status.reflector.invalid_objects), (1, 4));
    assert!(!scene.informer.store().is_stale("ns/a"));
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn objects_that_could_share_a_key_are_set_aside() {
    let mut scene = Scene::start([
        (
            "LIST any 500",
            List(10, vec![("x/a/b", 1), ("x/..", 2), ("b", 3)]),
        ),
        ("WATCH 10", Watch(vec![Added("x/a%2f", 11), Added("x/c:d", 12)])),
    ]);
    let told = scene.after(Duration::from_millis(1)).await;
    assert_eq!(told, ["Add(ns/b@3, initial)", "Add(x/c:d@12)"]);
    let status = scene.informer.status().reflector;
    let bad = status.last_invalid_object.unwrap();
    assert_eq!((status.invalid_objects, bad.key), (3, None));
    assert!(bad.reason.contains("not one segment of a path"));
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_deleted_invalid_object_is_no_longer_stale() {
    let mut scene = Scene::start([
        (
            "LIST any 500",
            BadList(10, vec![("a", 1)], vec![Some("ns/x"), Some("ns/y")]),
        ),
        (
            "WATCH 10",
            Watch(vec![
                After(Duration::from_secs(5)),
                Status(kube_informer::source::ApiStatus::from_code(410, "")),
            ]),
        ),
        ("LIST 10 all", BadList(20, vec![("a", 1)], vec![Some("ns/y")])),
        ("WATCH 20", Watch(vec![])),
    ]);
    scene.after(Duration::from_secs(1)).await;
    assert_eq!(
        scene.informer.store().stale_keys(),
        ["ns/x", "ns/y"].map(Into::into)
    );
    let scene = scene.plays(&[]).await;
    assert_eq!(scene.informer.store().stale_keys(), ["ns/y".into()]);
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn stopping_interrupts_requests_and_pauses() {
    for script in [vec![], vec![("LIST any 500", Error(status(500, "boom")))]] {
        let mut scene = Scene::start(script);
        scene.after(Duration::from_millis(10)).await;
        let before = tokio::time::Instant::now();
        let informer = scene.informer.clone();
        scene.stop().await;
        assert_eq!(before.elapsed(), Duration::ZERO);
        assert!(informer.synced().await.is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn no_answer_leads_to_more_than_four_requests_without_pause() {
    let scene = Scene::streaming([
        ("STREAM newest", Watch(vec![Added("a", 1), Close])),
        ("STREAM newest", Watch(vec![Added("a", 1), Close])),
        ("LIST any 500", Error(expired())),
        ("LIST newest 500", Error(expired())),
        ("STREAM newest", Error(expired())),
        ("LIST newest 500", Error(expired())),
        ("STREAM newest", Watch(vec![End(7)])),
    ]);
    let scene = scene.plays(&[]).await;
    let pauses = scene.script.pauses();
    assert_eq!(pauses[..3], [0, 0, 0]);
    assert!(
        FIRST_PAUSE.contains(&pauses[3]) && pauses[5] >= 2000,
        "{pauses:?}"
    );
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_regressed_version_is_reported_and_its_state_accepted() {
    let scene = Scene::start([
        ("LIST any 500", List(100, vec![("a", 50), ("b", 60)])),
        ("WATCH 100", Watch(vec![Bookmark(40)])),
        ("LIST newest 500", List(41, vec![("a", 30)])),
        ("WATCH 41", Watch(vec![])),
    ]);
    let scene = scene
        .plays(&[
            "Add(ns/a@50, initial)",
            "Add(ns/b@60, initial)",
            "Delete(ns/b@60, Missed)",
            "Update(ns/a@50->30)",
        ])
        .await;
    let error = scene.informer.status().reflector.last_error.unwrap();
    assert_eq!(error.class, ErrorClass::VersionRegressed);
    assert!(error.message.contains("from 100 to 41"), "{}", error.message);
    assert_eq!(scene.informer.status().applied, Some("41".into()));
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_event_that_comes_again_out_of_order_is_not_applied() {
    let scene = Scene::start([
        ("LIST any 500", List(10, vec![])),
        (
            "WATCH 10",
            Watch(vec![Added("a", 11), Modified("a", 12), Added("a", 11)]),
        ),
        ("LIST newest 500", List(13, vec![("a", 12)])),
        ("WATCH 13", Watch(vec![])),
    ]);
    let scene = scene.plays(&["Add(ns/a@11)", "Update(ns/a@11->12)"]).await;
    assert_eq!(scene.informer.status().reflector.last_error, None);
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_list_without_a_version_leads_to_a_watch_of_the_newest() {
    let scene = Scene::start([
        ("LIST any 500", Unversioned(vec![("a", 5)])),
        (
            "WATCH MostRecent",
            Watch(vec![Added("b", 9), Added("a", 5), Modified("b", 10), Close]),
        ),
        ("WATCH 10", Watch(vec![])),
    ]);
    scene
        .plays(&["Add(ns/a@5, initial)", "Add(ns/b@9)", "Update(ns/b@9->10)"])
        .await
        .stop()
        .await;
}

/// Some aggregated servers answer so.
#[tokio::test(start_paused = true)]
async fn a_list_at_version_zero_has_no_version() {
    let scene = Scene::start([
        ("LIST any 500", List(0, vec![("a", 5), ("b", 7)])),
        (
            "WATCH MostRecent",
            Watch(vec![
                Added("b", 7),
                Added("a", 5),
                Bookmark(0),
                Modified("a", 9),
                Close,
            ]),
        ),
        (
            "WATCH 9",
            Watch(vec![
                After(Duration::from_secs(1)),
                Modified("b", 10),
                Modified("b", 0),
                Close,
            ]),
        ),
        ("WATCH 10", Watch(vec![])),
    ]);
    let scene = scene
        .plays(&[
            "Add(ns/a@5, initial)",
            "Add(ns/b@7, initial)",
            "Update(ns/a@5->9)",
            "Update(ns/b@7->10)",
            "Update(ns/b@10->0)",
        ])
        .await;
    let status = scene.informer.status();
    assert_eq!((status.reflector.lists, status.applied), (1, Some("10".into())));
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_continue_token_that_comes_again_is_an_error() {
    let scene = Scene::start([
        ("LIST any 500", Page(10, vec![("a", 1)], "t1")),
        ("LIST any 500 t1", Page(10, vec![("b", 2)], "t1")),
        ("LIST any 500", Page(10, vec![("a", 1)], "t1")),
        ("LIST any 500 t1", Page(10, vec![("b", 2)], "t2")),
        ("LIST any 500 t2", Page(10, vec![("c", 3)], "t1")),
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let scene = scene.plays(&["Add(ns/a@1, initial)"]).await;
    let pauses = scene.script.pauses();
    assert!(
        FIRST_PAUSE.contains(&pauses[1]) && SECOND_PAUSE.contains(&pauses[4]),
        "{pauses:?}"
    );
    let error = scene.informer.status().reflector.last_error.unwrap();
    assert_eq!((error.class, error.number), (ErrorClass::Decode, 2));
    assert!(error.message.contains("continue token came twice"), "{error:?}");
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn those_who_wait_for_a_version_are_told_when_versions_go_back() {
    let scene = Scene::start([
        ("LIST any 500", List(100, vec![])),
        (
            "WATCH 100",
            Watch(vec![After(Duration::from_secs(5)), Bookmark(40)]),
        ),
        ("LIST newest 500", List(41, vec![])),
        ("WATCH 41", Watch(vec![])),
    ]);
    scene.informer.synced().await.unwrap();
    let error = scene
        .informer
        .store()
        .wait_until(&"105".into())
        .await
        .unwrap_err();
    assert!(
        matches!(error, kube_informer::store::WaitError::VersionRegressed { .. }),
        "{error}"
    );
    scene.informer.store().wait_until(&"41".into()).await.unwrap();
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn no_mix_of_answers_leads_to_more_than_four_requests() {
    let scene = Scene::start([
        ("LIST any 500", Error(expired())),
        ("LIST newest 500", List(10, vec![])),
        ("WATCH 10", Watch(vec![Added("a", 11), Close])),
        ("WATCH 11", Watch(vec![Added("b", 12), Close])),
        ("WATCH 12", Watch(vec![Added("c", 13)])),
    ]);
    let scene = scene
        .plays(&["Add(ns/a@11)", "Add(ns/b@12)", "Add(ns/c@13)"])
        .await;
    let pauses = scene.script.pauses();
    assert_eq!(pauses[..3], [0, 0, 0]);
    assert!(pauses[3] >= 1000, "{pauses:?}");
    scene.stop().await;
}

fn absent() -> Answer {
    Error(status(404, "404 page not found"))
}

/// Departs from the original, whose pauses grow to half a minute and whose cache says nothing of it.
#[tokio::test(start_paused = true)]
async fn an_unknown_resource_is_polled_with_short_pauses() {
    let unknown = (0..20).map(|_| ("LIST any 500", absent()));
    let served = [
        // The server's storage is being made.
        ("LIST any 500", Error(status(429, "storage is (re)initializing"))),
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Watch(vec![])),
    ];
    let scene = Scene::streaming([("STREAM newest", absent())].into_iter().chain(unknown).chain([
        ("LIST any 500", Error(status(429, "storage is (re)initializing"))),
        ("STREAM newest", Watch(vec![Added("a", 1), End(10)])),
    ]));
    let scene = scene.plays(&["Add(ns/a@1, initial)"]).await;
    let pauses = scene.script.pauses();
    assert_eq!(pauses[0], 0, "an answer to a streaming list alone says little");
    assert!(
        pauses[6..21].iter().all(|pause| (3000..=6001).contains(pause)),
        "{pauses:?}"
    );
    assert!(
        FIRST_PAUSE.contains(&pauses[21]),
        "the pauses start over: {pauses:?}"
    );
    scene.stop().await;

    let unknown = (0..3).map(|_| ("LIST any 500", absent()));
    let scene = Scene::start(unknown.chain(served));
    scene.plays(&["Add(ns/a@1, initial)"]).await.stop().await;
}

#[tokio::test(start_paused = true)]
async fn that_a_resource_is_unknown_deletes_nothing() {
    let mut scene = Scene::start([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        ("WATCH 10", Watch(vec![After(Duration::from_secs(5)), Close])),
        ("WATCH 10", absent()),
        ("LIST 10 all", absent()),
        ("LIST 10 all", absent()),
        ("LIST 10 all", List(20, vec![("b", 2), ("c", 15)])),
        ("WATCH 20", Watch(vec![])),
    ]);
    let told = scene.after(Duration::from_millis(5100)).await;
    assert_eq!(told.len(), 2);
    assert!(matches!(
        scene.informer.status().reflector.phase,
        Phase::NotServed { .. }
    ));
    assert_eq!(
        scene.informer.store().len(),
        2,
        "its version may just be served no longer"
    );
    // What was deleted meanwhile is found missing.
    let scene = scene.plays(&["Delete(ns/a@1, Missed)", "Add(ns/c@15)"]).await;
    assert_eq!(scene.informer.status().reflector.phase, Phase::Watching);
    scene.stop().await;
}
