//! The initial state as a streaming list, and what takes its place.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_complete_streaming_list_is_applied_at_once() {
    let events = vec![
        Added("a", 1),
        Added("b", 2),
        Modified("a", 3),
        Added("c", 4),
        Deleted("c", 5),
        Bookmark(5),
        After(Duration::from_secs(20)),
        End(6),
        Modified("a", 7),
    ];
    let mut scene = Scene::streaming([("STREAM newest", Watch(events))]);
    assert_eq!(
        scene.after(Duration::from_secs(10)).await,
        [""; 0],
        "nothing before the end"
    );
    let scene = scene
        .plays(&[
            "Add(ns/a@3, initial)",
            "Add(ns/b@2, initial)",
            "Update(ns/a@3->7)",
        ])
        .await;
    assert_eq!(scene.informer.status().applied, Some("7".into()));
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn after_a_streaming_list_a_watch_that_ends_is_opened_again() {
    let scene = Scene::streaming([
        (
            "STREAM newest",
            Watch(vec![Added("a", 1), End(2), Added("b", 3), Close]),
        ),
        (
            "WATCH 3",
            Watch(vec![Status(kube_informer::source::ApiStatus::from_code(410, ""))]),
        ),
        ("STREAM 3", Watch(vec![Added("b", 3), End(9)])),
    ]);
    scene
        .plays(&["Add(ns/a@1, initial)", "Add(ns/b@3)", "Delete(ns/a@1, Missed)"])
        .await
        .stop()
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_list_takes_the_place_of_a_streaming_list_that_fails() {
    for error in [
        status(422, "no"),
        status(400, "no"),
        status(403, "no"),
        status(500, "no"),
    ] {
        let scene = Scene::streaming([
            ("STREAM newest", Error(error)),
            ("LIST any 500", List(10, vec![("a", 1)])),
            (
                "WATCH 10",
                Watch(vec![Status(kube_informer::source::ApiStatus::from_code(410, ""))]),
            ),
            (
                "STREAM 10",
                Watch(vec![Status(kube_informer::source::ApiStatus::from_code(
                    500, "no",
                ))]),
            ),
            ("LIST 10 all", List(11, vec![("a", 1)])),
            ("WATCH 11", Watch(vec![])),
        ]);
        let scene = scene.plays(&["Add(ns/a@1, initial)"]).await;
        let pauses = scene.script.pauses();
        assert_eq!(
            (pauses[0], pauses[1], pauses[3], pauses[4]),
            (0, 0, 0, 0),
            "at once"
        );
        scene.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn streaming_lists_that_break_off_are_followed_by_a_list() {
    let scene = Scene::streaming([
        ("STREAM newest", Watch(vec![Added("a", 1), Close])),
        ("STREAM newest", Watch(vec![Close])),
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let scene = scene.plays(&["Add(ns/a@1, initial)"]).await;
    assert_eq!(scene.script.pauses(), [0, 0, 0]);
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn changes_of_what_has_come_are_no_progress() {
    // A server that knows nothing of streaming lists sends what exists, and then what changes.
    let mut events = vec![Added("a", 1)];
    for version in 2..100 {
        events.extend([After(Duration::from_secs(5)), Modified("a", version)]);
    }
    let mut scene = Scene::streaming([
        ("STREAM newest", Watch(events)),
        ("LIST any 500", List(100, vec![("a", 9)])),
        ("WATCH 100", Watch(vec![])),
    ]);
    assert_eq!(scene.after(Duration::from_secs(29)).await, [""; 0]);
    assert_eq!(
        scene.after(Duration::from_secs(2)).await,
        ["Add(ns/a@9, initial)"]
    );
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn objects_that_come_after_changes_are_no_progress() {
    let mut events = vec![Added("a", 1)];
    for version in 2..100 {
        let name: &'static str = format!("n-{version}").leak();
        events.extend([
            After(Duration::from_secs(5)),
            Modified("a", version),
            Added(name, version),
            Deleted("unknown", version),
        ]);
    }
    let mut scene = Scene::streaming([
        ("STREAM newest", Watch(events)),
        ("LIST any 500", List(100, vec![("a", 9)])),
        ("WATCH 100", Watch(vec![])),
    ]);
    let told = scene.after(Duration::from_secs(36)).await;
    assert_eq!(told, ["Add(ns/a@9, initial)"]);
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_without_the_mark_is_remembered() {
    // A server that knows nothing of streaming lists, and objects that nobody changes, such as events.
    let mut events = Vec::new();
    for version in 1..40 {
        let name: &'static str = format!("n-{version}").leak();
        events.extend([Added(name, version), After(Duration::from_secs(20))]);
    }
    events.push(Close);
    let scene = Scene::streaming([
        ("STREAM newest", Watch(events)),
        ("LIST any 500", List(100, vec![("n-9", 9)])),
        ("WATCH 100", Error(expired())),
        ("LIST 100 all", List(101, vec![("n-9", 9)])),
        ("WATCH 101", Watch(vec![])),
    ]);
    let scene = scene.plays(&["Add(ns/n-9@9, initial)"]).await;
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn streaming_lists_that_are_refused_do_not_slow_watches_down() {
    let refusal = || Error(status(500, "no"));
    let outage = (0..8).flat_map(|_| [("STREAM newest", refusal()), ("LIST any 500", refusal())]);
    let cut_after_20_s = vec![
        Added("a", 1),
        End(10),
        After(Duration::from_secs(20)),
        Modified("a", 11),
        Close,
    ];
    let returned = [
        ("STREAM newest", Watch(cut_after_20_s)),
        ("WATCH 11", Watch(vec![])),
    ];
    let scene = Scene::streaming(outage.chain(returned));
    let scene = scene.plays(&["Add(ns/a@1, initial)", "Update(ns/a@1->11)"]).await;
    assert_eq!(scene.script.pauses().last(), Some(&20_000));
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_changes_is_no_progress() {
    // The next event is always there when the reflector asks for it.
    let mut events = vec![Added("a", 1)];
    for version in 2..500 {
        let passed = Jump(Duration::from_secs(1));
        events.extend([passed, Modified("a", version), Bookmark(version)]);
    }
    let mut scene = Scene::streaming([
        ("STREAM newest", Watch(events)),
        ("LIST any 500", List(500, vec![("a", 9)])),
        ("WATCH 500", Watch(vec![])),
    ]);
    let told = scene.after(Duration::from_secs(60)).await;
    assert_eq!(told, ["Add(ns/a@9, initial)"]);
    let pause = scene.script.pauses()[0];
    assert!((30_000..=31_000).contains(&pause), "{pause}");
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_suspended_process_does_not_blame_the_server() {
    let suspended = Jump(Duration::from_secs(600));
    let events = vec![Added("a", 1), After(Duration::from_secs(1)), suspended];
    let scene = Scene::streaming([
        ("STREAM newest", Watch(events)),
        ("STREAM newest", Watch(vec![Added("a", 1), End(10)])),
    ]);
    scene.plays(&["Add(ns/a@1, initial)"]).await.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_that_repeats_what_is_over_is_not_believed() {
    let repeating = [
        vec![Added("a", 1), Modified("a", 3), Added("a", 1), End(4)],
        vec![Added("a", 1), Deleted("a", 3), Added("a", 1), End(4)],
        vec![
            Added("a", 1),
            Deleted("a", 3),
            Added("a#2", 4),
            Deleted("a", 3),
            End(4),
        ],
    ];
    for events in repeating {
        let scene = Scene::streaming([
            ("STREAM newest", Watch(events)),
            ("LIST any 500", List(10, vec![("a#3", 5)])),
            ("WATCH 10", Watch(vec![])),
        ]);
        scene.plays(&["Add(ns/a@5, initial)"]).await.stop().await;
    }
    // The same again is no harm.
    let scene = Scene::streaming([(
        "STREAM newest",
        Watch(vec![
            Added("a", 1),
            Added("a", 1),
            Deleted("b", 2),
            Deleted("b", 2),
            End(4),
        ]),
    )]);
    scene.plays(&["Add(ns/a@1, initial)"]).await.stop().await;
}

#[tokio::test(start_paused = true)]
async fn streaming_lists_that_end_early_count_as_early_watches() {
    let streams = [
        vec![Status(kube_informer::source::ApiStatus::from_code(410, ""))],
        vec![Added("a", 1), Close],
    ];
    let streams = streams.map(|events| ("STREAM newest", Watch(events)));
    let rest = [
        ("LIST newest 500", List(10, vec![])),
        ("WATCH 10", Watch(vec![Bookmark(11), Close])),
        ("WATCH 11", Watch(vec![Bookmark(12), Close])),
        ("WATCH 12", Watch(vec![])),
    ];
    let script = streams.into_iter().chain(rest);
    let scene = Scene::with(Script::streaming(script), ReflectorOptions::default())
        .plays(&[])
        .await;
    // After that, the silent watch has the version asked for.
    assert_eq!(scene.script.pauses()[..5], [0, 0, 0, 1000, 2000]);
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_waits_out_what_a_list_could_not_avoid() {
    let mut unavailable = kube_informer::source::ApiStatus::from_code(503, "starting");
    unavailable.retry_after = Some(Duration::from_secs(40));
    let scene = Scene::streaming([
        ("STREAM newest", Error(refused())),
        (
            "STREAM newest",
            Watch(vec![Status(kube_informer::source::ApiStatus::from_code(
                429,
                "slow down",
            ))]),
        ),
        ("STREAM newest", Error(unavailable.into())),
        ("STREAM newest", Watch(vec![Added("a", 1), End(2)])),
    ]);
    let scene = scene.plays(&["Add(ns/a@1, initial)"]).await;
    let error = scene.informer.status().reflector.last_error.unwrap();
    assert_eq!(
        (error.operation, error.class),
        ("watch-list", ErrorClass::Throttled)
    );
    let pauses = scene.script.pauses();
    assert_eq!(pauses[2], 40_000, "as long as it asked for");
    assert!(
        FIRST_PAUSE.contains(&pauses[0]) && SECOND_PAUSE.contains(&pauses[1]),
        "{pauses:?}"
    );
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_falls_back_to_the_newest_version() {
    for error in [
        expired(),
        status(504, "Timeout: Too large resource version: 12, current: 5"),
    ] {
        let scene = Scene::streaming([
            (
                "STREAM newest",
                Watch(vec![
                    End(12),
                    Status(kube_informer::source::ApiStatus::from_code(410, "")),
                ]),
            ),
            ("STREAM 12", Error(error)),
            ("STREAM newest", Watch(vec![Added("a", 13), End(20)])),
        ]);
        let scene = scene.plays(&["Add(ns/a@13)"]).await;
        assert_eq!(scene.script.pauses()[1], 0);
        scene.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_that_never_ends_is_given_up_and_remembered() {
    let scene = Scene::streaming([
        (
            "STREAM newest",
            Watch(vec![
                Added("a", 1),
                After(Duration::from_secs(29)),
                Added("b", 2),
                Bookmark(3),
            ]),
        ),
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Error(expired())),
        ("LIST 10 all", List(11, vec![("a", 1)])),
        ("WATCH 11", Watch(vec![])),
    ]);
    let scene = scene.plays(&["Add(ns/a@1, initial)"]).await;
    assert_eq!(scene.script.pauses()[0], 59_000, "30 s after the last object");
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_unanswered_request_for_a_streaming_list_times_out() {
    let options = ReflectorOptions {
        streaming_timeout: Duration::from_secs(5),
        ..Default::default()
    };
    let over = Status(kube_informer::source::ApiStatus::from_code(410, ""));
    let script = Script::streaming([
        ("STREAM newest", Hang),
        ("LIST any 500", List(10, vec![])),
        ("WATCH 10", Watch(vec![After(Duration::from_secs(10)), over])),
        // No answer says nothing about streaming lists.
        ("STREAM 10", Watch(vec![End(11)])),
    ]);
    let scene = Scene::with(script, options).plays(&[]).await;
    assert_eq!(scene.script.pauses()[0], 5000);
    let error = scene.informer.status().reflector.last_error.unwrap();
    assert_eq!(
        (error.operation, error.class),
        ("watch-list", ErrorClass::Timeout)
    );
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_form_of_the_initial_state_can_be_chosen() {
    let streaming_only = ReflectorOptions {
        initial: InitialState::WatchList,
        ..Default::default()
    };
    let script = Script::new([
        ("STREAM newest", Error(status(500, "no"))),
        ("STREAM newest", Watch(vec![End(5)])),
    ]);
    let scene = Scene::with(script, streaming_only).plays(&[]).await;
    assert!(
        FIRST_PAUSE.contains(&scene.script.pauses()[0]),
        "no list; a pause"
    );
    scene.stop().await;
    let list_only = ReflectorOptions {
        initial: InitialState::List,
        ..Default::default()
    };
    let script = Script::streaming([("LIST any 500", List(5, vec![])), ("WATCH 5", Watch(vec![]))]);
    Scene::with(script, list_only).plays(&[]).await.stop().await;
}
