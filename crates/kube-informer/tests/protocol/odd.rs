//! Answers that no well-behaved server gives.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_frame_that_is_cut_in_the_middle_is_not_lost() {
    let frame = frames("*a@11").remove(0);
    for at in [1, 10, 40, frame.len() - 2] {
        let (start, _) = frame.split_at(at);
        for cut in [Answer::watch([start]).broken(), Answer::watch([start]).close()] {
            let scene = Scene::lists([
                (request(ANY), listed(10, "a@1")),
                (watch(10), cut),
                (list_at(10), listed(11, "a@11")),
                (watch(11), watched("")),
            ]);
            scene
                .plays("Add(ns/a@1, initial); Update(ns/a@1->11)")
                .await
                .stop()
                .await;
        }
    }
    // With something before it, the watch goes on from there.
    let (start, _) = frame.split_at(40);
    let scene = Scene::lists([
        (request(ANY), listed(10, "")),
        (watch(10), watched("+b@11").chunk(start.to_owned()).broken()),
        (watch(11), watched("+a@12")),
    ]);
    scene.plays("Add(ns/b@11); Add(ns/a@12)").await.stop().await;
}

#[tokio::test(start_paused = true)]
async fn chunks_of_one_byte_will_do() {
    let many: String = (0..300).map(|n| format!("o{n}@{} ", n + 1)).collect();
    let list = maps().list("1000", objects(&many));
    let events = frames("*o0@1001 =1002 -o1@1003").concat();
    let scene = Scene::lists([
        (request(ANY), Answer::json("").in_chunks_of(1, list)),
        (watch(1000), watched("").in_chunks_of(1, events)),
    ]);
    let mut scene = scene;
    let told = scene.after(Duration::from_secs(200)).await;
    assert_eq!(told.len(), 302);
    assert_eq!(
        told[300..],
        ["Update(ns/o0@1->1001)", "Delete(ns/o1@1003, Event)"]
    );
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn garbage_in_a_watch_is_followed_by_a_list() {
    for garbage in [
        "garbage",
        "\0\0\0",
        "{}\n",
        r#"{"type":7,"object":{}}"#,
        r#"{"type":"ADDED"}"#,
        r#"{"type":"ERROR","object":{"kind":"Pod"}}"#,
        "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Pod\",,,\n{\"type\":\"ADDED\",\"object\":{}}\n",
        "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Pod\",,,\n",
    ] {
        let scene = Scene::lists([
            (request(ANY), listed(10, "")),
            (watch(10), watched("+a@11").chunk(garbage)),
            (list_at(11), listed(12, "a@11 b@12")),
            (watch(12), watched("")),
        ]);
        let scene = scene.plays("Add(ns/a@11); Add(ns/b@12)").await;
        assert!(
            FIRST_PAUSE.contains(&scene.pauses()[1]),
            "{garbage:?}: {:?}",
            scene.pauses()
        );
        assert_eq!(scene.last_error().class, ErrorClass::Decode, "{garbage:?}");
        scene.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_bookmark_that_cannot_be_read_is_followed_by_a_list() {
    for bookmark in [
        json!({"metadata": {"resourceVersion": 7}}),
        json!({"metadata": "x"}),
        json!(7),
    ] {
        let scene = Scene::lists([
            (request(ANY), listed(10, "")),
            (watch(10), watched("").chunk(event("BOOKMARK", &bookmark))),
            (list_at(10), listed(12, "")),
            (watch(12), watched("")),
        ]);
        let scene = scene.plays("").await;
        assert_eq!(scene.last_error().class, ErrorClass::Decode);
        scene.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_bookmark_that_says_nothing_is_ignored() {
    for bookmark in [
        json!({}),
        json!({"metadata": {}}),
        json!({"metadata": null}),
        json!({"metadata": {"resourceVersion": ""}}),
    ] {
        let scene = Scene::lists([
            (request(ANY), listed(10, "")),
            (
                watch(10),
                watched("")
                    .chunk(event("BOOKMARK", &bookmark))
                    .chunk(frames("+a@11").concat()),
            ),
        ]);
        let scene = scene.plays("Add(ns/a@11)").await;
        assert_eq!(scene.informer.status().applied, Some("11".into()));
        scene.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_no_list_is_an_error_and_changes_nothing() {
    let table = r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"11"},"columnDefinitions":[],"rows":[]}"#;
    let answers = [
        ("", ErrorClass::Decode),
        ("<!DOCTYPE html><html>sign in</html>", ErrorClass::Decode),
        ("null", ErrorClass::Decode),
        ("{}", ErrorClass::Decode),
        ("[]", ErrorClass::Decode),
        (
            r#"{"kind":"ConfigMap","metadata":{"name":"a"}}"#,
            ErrorClass::Decode,
        ),
        (r#"{"kind":"Status","status":"Success"}"#, ErrorClass::Decode),
        (table, ErrorClass::Decode),
        (
            r#"{"kind":"ConfigMapList","items":[{"metadata":{"name":"x"}}]"#,
            // It was one, and broke off.
            ErrorClass::Other,
        ),
    ];
    for (body, class) in answers {
        let mut scene = Scene::lists([
            (request(ANY), listed(10, "a@1")),
            (watch(10), Answer::watch([expired_event()])),
            (list_at(10), Answer::json(body)),
            (
                list_at(10),
                Answer::json(body).broken().delayed(Duration::from_secs(20)),
            ),
            (list_at(10), listed(11, "a@1")),
            (watch(11), watched("")),
        ]);
        assert_eq!(
            scene.after(Duration::from_secs(15)).await,
            ["Add(ns/a@1, initial)"]
        );
        let error = scene.last_error();
        assert_eq!((error.operation, error.class), ("list", class), "{body}");
        assert_eq!(scene.names(), "a");
        assert!(scene.informer.has_synced());
        scene.plays("").await.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_status_says_what_stands_in_the_way() {
    let cases: [(Make, ErrorClass, &str); 9] = [
        (
            || Answer::status(401, "Unauthorized", "Unauthorized"),
            ErrorClass::Unauthorized,
            "401 Unauthorized",
        ),
        (
            || Answer::status(403, "Forbidden", "you may not"),
            ErrorClass::Forbidden,
            "403 Forbidden: you may not",
        ),
        (
            || Answer::status(404, "NotFound", "no such thing"),
            ErrorClass::NotFound,
            "404 NotFound: no such thing",
        ),
        (
            || Answer::code(404).chunk("404 page not found\n"),
            ErrorClass::NotFound,
            "no API status",
        ),
        (
            || Answer::code(503),
            ErrorClass::Throttled,
            "503 ServiceUnavailable",
        ),
        (
            || Answer::code(302).header("location", "https://login.example.com"),
            ErrorClass::Other,
            "302",
        ),
        (
            Answer::refused,
            ErrorClass::Unreachable,
            "cannot reach the server",
        ),
        (
            || Answer::status(410, "Expired", "too old"),
            ErrorClass::Gone,
            "410 Expired",
        ),
        (
            || Answer::status(504, "Timeout", "too slow"),
            ErrorClass::Timeout,
            "504 Timeout",
        ),
    ];
    for (answer, class, text) in cases {
        for initial in [InitialState::List, InitialState::Auto, InitialState::WatchList] {
            let server = ScriptedServer::new().otherwise(move |_| answer());
            let resource = ApiResource::erase::<ConfigMap>(&());
            let mut scene: Scene = Scene::of(server, resource, Selection::default(), initial);
            scene.after(Duration::from_secs(5)).await;
            let reflector = scene.informer.status().reflector;
            let error = scene.last_error();
            assert_eq!(error.class, class, "{initial:?}: {error:?}");
            assert!(error.message.contains(text), "{initial:?}: {error:?}");
            let waits = match class {
                ErrorClass::NotFound => matches!(reflector.phase, Phase::NotServed { .. }),
                _ => matches!(reflector.phase, Phase::BackingOff { .. }),
            };
            assert!(reflector.failures >= 2 && waits, "{reflector:?}");
            scene.stop().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_table_in_a_watch_is_set_aside() {
    let table = json!({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {"resourceVersion": "11"}, "rows": []});
    let scene = Scene::lists([
        (request(ANY), listed(10, "")),
        (
            watch(10),
            watched("")
                .chunk(event("ADDED", &table))
                .chunk(frames("+a@12").concat()),
        ),
    ]);
    let scene = scene.plays("Add(ns/a@12)").await;
    assert_eq!(scene.informer.status().reflector.invalid_objects, 1);
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn objects_of_the_wrong_kind_in_a_list_are_set_aside() {
    let pod = Kind::new("v1", "Pod").object("ns/p", "2");
    let items = [map("a", 1), pod, map("b", 3)];
    let scene = Scene::lists([
        (request(ANY), Answer::json(maps().list("10", items))),
        (watch(10), watched("")),
    ]);
    let scene = scene.plays("Add(ns/a@1, initial); Add(ns/b@3, initial)").await;
    let said = scene.informer.status().reflector.last_invalid_object.unwrap();
    assert_eq!(said.to_string(), "ns/p: expected kind ConfigMap, got Pod");
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_falls_silent_is_opened_again() {
    let mut scene = Scene::lists([
        (request(ANY), listed(10, "")),
        (
            watch(10),
            watched("+a@11")
                .pause(Duration::from_secs(200))
                .chunk(frames("+b@12").concat()),
        ),
        (watch(12), watched("")),
        (watch(12), Answer::never()),
        (list_at(12), listed(12, "a@11 b@12")),
        (watch(12), watched("")),
    ]);
    scene.after(Duration::from_secs(2200)).await;
    let requests = scene.server.requests();
    let timeout = |n: usize| {
        requests[n]
            .parameter("timeoutSeconds")
            .unwrap()
            .parse::<u128>()
            .unwrap()
            * 1000
    };
    let pauses = scene.pauses();
    assert_eq!(pauses[1], timeout(1) + 30_000, "whatever came until then");
    assert_eq!(pauses[2], timeout(2) + 30_000);
    // The third one's answer does not even begin.
    let first = FIRST_PAUSE;
    assert!(
        (60_000 + first.start()..=60_000 + first.end()).contains(&pauses[3]),
        "{pauses:?}"
    );
    assert_eq!(scene.last_error().class, ErrorClass::Timeout);
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_list_that_falls_silent_is_given_up() {
    let (start, rest) = (
        r#"{"kind":"ConfigMapList","metadata":{"resourceVersion":"10"},"items":["#,
        "]}",
    );
    let mut scene = Scene::lists([
        (request(ANY), Answer::json(start).open()),
        (request(ANY), Answer::never()),
        // A slow one is no silent one.
        (
            request(ANY),
            Answer::json(start)
                .pause(Duration::from_secs(50))
                .chunk(map("a", 1).to_string())
                .pause(Duration::from_secs(50))
                .chunk(rest),
        ),
        (watch(10), watched("")),
    ]);
    let told = scene.after(Duration::from_secs(290)).await;
    scene.server.assert_finished();
    assert_eq!(told, ["Add(ns/a@1, initial)"]);
    assert_eq!(scene.last_error().class, ErrorClass::Timeout);
    scene.stop().await;
}

/// This many bytes of a body, each after so many seconds.
fn drips(answer: Answer, bytes: u32, seconds: u64) -> Answer {
    let drip = |answer: Answer, _| answer.pause(Duration::from_secs(seconds)).chunk(" ");
    (0..bytes).fold(answer, drip)
}

#[tokio::test(start_paused = true)]
async fn a_body_that_drips_is_given_up() {
    let start = r#"{"kind":"ConfigMapList","metadata":{"resourceVersion":"10"},"items":["#;
    let mut scene = Scene::lists([
        (request(ANY), drips(Answer::json(start), 100, 59)),
        (request(ANY), drips(Answer::code(500), 100, 29)),
        (request(ANY), listed(10, "")),
        (watch(10), drips(watched(""), 100, 59)),
        (watch(10), watched("+a@11")),
    ]);
    // After the latest end of the first watch, before the earliest end of the second.
    let told = scene.after(Duration::from_secs(980)).await;
    scene.server.assert_finished();
    assert_eq!(told, ["Add(ns/a@11)"]);
    let requests = scene.server.requests();
    let timeout: u128 = requests[3].parameter("timeoutSeconds").unwrap().parse().unwrap();
    let pauses = scene.pauses();
    assert!((300_000..=303_001).contains(&pauses[0]), "{pauses:?}");
    assert!((30_000..=35_001).contains(&pauses[1]), "{pauses:?}");
    assert_eq!(pauses[3], (timeout + 30) * 1000);
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_list_over_a_slow_network_may_take_long() {
    let mut large = map("a", 1);
    large["data"] = json!({"x": "x".repeat(150_000)});
    let body = maps().list("10", [large]);
    let size = body.len();
    // 80 bytes a second.
    let chunks = (0..size)
        .step_by(800)
        .map(|at| body[at..size.min(at + 800)].to_owned());
    let slow = chunks.fold(Answer::json(""), |answer, chunk| {
        answer.pause(Duration::from_secs(10)).chunk(chunk)
    });
    let mut scene = Scene::lists([(request(ANY), slow), (watch(10), watched(""))]);
    assert_eq!(
        scene.after(Duration::from_secs(2000)).await,
        ["Add(ns/a@1, initial)"]
    );
    scene.server.assert_finished();
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn no_option_is_too_long() {
    let longest = Duration::MAX;
    let watch = "watch=true&allowWatchBookmarks=true&timeoutSeconds=1073741823..=2147483647";
    let initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    let server = ScriptedServer::new()
        .expect(
            request(&format!("{watch}&{initial}")),
            watched("+a@1 |10 =11 +b@12").close(),
        )
        .expect(request(&format!("{watch}&resourceVersion=12")), Answer::code(404))
        .expect(
            request("resourceVersion=12&resourceVersionMatch=NotOlderThan"),
            Answer::code(500),
        );
    let client = kube::Client::new(server.service(), "default");
    let source = ClientSource::new(client, ApiResource::erase::<ConfigMap>(&()), Selection::default())
        .encoding(Encoding::Json);
    let backoff = Backoff {
        jitter: f64::INFINITY,
        reset_after: longest,
        ..Backoff::default()
    };
    let options = ReflectorOptions {
        backoff,
        watch_timeout: longest,
        streaming_timeout: longest,
        bookmark_timeout: Some(longest),
        not_served_cap: longest,
        ..Default::default()
    };
    let (informer, runner) = SharedInformer::<ConfigMap>::builder(source)
        .reflector_options(options)
        .build();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(informer.store().len(), 2);
    let phase = informer.status().reflector.phase;
    assert!(matches!(phase, Phase::NotServed { .. }), "{phase:?}");
    assert_eq!(
        server.requests().len(),
        2,
        "the pause is endless, as was asked for"
    );
    stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_without_an_end_is_given_up_and_remembered() {
    let scene = Scene::streams([
        (
            stream(None),
            watched("+a@1")
                .pause(Duration::from_secs(29))
                .chunk(frames("+b@2 =3").concat()),
        ),
        (request(ANY), listed(10, "a@1")),
        (watch(10), Answer::watch([expired_event()])),
        (list_at(10), listed(11, "a@1")),
        (watch(11), watched("")),
    ]);
    let scene = scene.plays("Add(ns/a@1, initial)").await;
    assert_eq!(scene.pauses()[0], 59_000, "30 s after the last object");
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_list_that_fails_midway_leaves_the_cache_as_it_was() {
    let list = maps().list("20", objects("c@15 d@16"));
    for at in [20, 100, list.len() - 1] {
        let (start, _) = list.split_at(at);
        let scene = Scene::lists([
            (request(ANY), listed(10, "a@1 b@2")),
            (watch(10), Answer::watch([expired_event()])),
            (list_at(10), Answer::json(start.to_owned()).broken()),
            (list_at(10), Answer::json(maps().page("20", objects("c@15"), "t"))),
            // The list was not asked for in pages; that the server makes some is its own affair.
            (request("continue=t"), Answer::code(500)),
            (list_at(10), listed(21, "a@1 b@2")),
            (watch(21), watched("")),
        ]);
        let scene = scene.plays("Add(ns/a@1, initial); Add(ns/b@2, initial)").await;
        scene.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn objects_that_differ_in_uid_are_different_objects() {
    let scene = Scene::lists([
        (request(ANY), listed(10, "a@1 b@2")),
        (watch(10), watched("+a#2@11").chunk(expired_event())),
        (list_at(11), listed(20, "a#2@11 b#2@15")),
        (watch(20), watched("-b#2@21")),
    ]);
    let told = "Add(ns/a@1, initial); Add(ns/b@2, initial); Delete(ns/a@1, Missed); Add(ns/a@11); \
                Delete(ns/b@2, Missed); Add(ns/b@15); Delete(ns/b@21, Event)";
    scene.plays(told).await.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_bad_object_that_is_gone_is_no_longer_stale() {
    let mut listed_items = objects("a@1 b@1");
    listed_items.extend([bad("x", 2), bad("y", 3), bad("z", 4)]);
    let scene = Scene::lists([
        (request(ANY), Answer::json(maps().list("10", listed_items))),
        (
            watch(10),
            watched("")
                .chunk(event("MODIFIED", &bad("a", 11)))
                .chunk(event("DELETED", &bad("x", 12)))
                .chunk(event("MODIFIED", &bad("b", 13)))
                .pause(Duration::from_secs(20))
                .chunk(expired_event()),
        ),
        (
            list_at(13),
            Answer::json(maps().list("20", [bad("z", 4), bad("b", 13)])),
        ),
        (watch(20), watched("*z@21")),
    ]);
    let mut scene = scene;
    assert_eq!(scene.after(Duration::from_secs(10)).await.len(), 2);
    assert_eq!(
        scene.informer.store().stale_keys(),
        ["ns/a", "ns/b", "ns/y", "ns/z"].map(Into::into)
    );
    let scene = scene.plays("Delete(ns/a@1, Missed); Add(ns/z@21)").await;
    assert_eq!(scene.informer.store().stale_keys(), ["ns/b".into()]);
    assert_eq!(scene.names(), "b z");
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn one_server_can_serve_two_informers() {
    let server = ScriptedServer::new()
        .expect(
            "GET /api/v1/configmaps?limit=500&resourceVersion=0",
            listed(10, "a@1"),
        )
        .expect(
            "GET /api/v1/secrets?limit=500&resourceVersion=0",
            Answer::json(Kind::new("v1", "Secret").list("10", [(); 0])),
        )
        .expect(watch(10), watched(""))
        .expect(
            format!("GET /api/v1/secrets?{WATCH}&resourceVersion=10"),
            watched(""),
        );
    let lists = InitialState::List;
    let maps: Scene = Scene::of(
        server.clone(),
        ApiResource::erase::<ConfigMap>(&()),
        Selection::default(),
        lists,
    );
    let secrets: Scene<Secret> = Scene::of(
        server.clone(),
        ApiResource::erase::<Secret>(&()),
        Selection::default(),
        lists,
    );
    maps.informer.synced().await.unwrap();
    secrets.informer.synced().await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    server.assert_finished();
    maps.stop().await;
    secrets.stop().await;
}

#[tokio::test]
async fn a_scripted_server_behind_a_socket() {
    let server = ScriptedServer::new()
        .expect(request(ANY), listed(10, "a@1"))
        .expect(watch(10), watched("+b@11").chunk("{\"type\":").broken())
        .expect(watch(11), watched("-a@12"));
    let listener = server.listen().await.unwrap();
    let config = kube::Config::new(listener.url().parse().unwrap());
    let client = kube::Client::try_from(config).unwrap();
    let source = ClientSource::new(client, ApiResource::erase::<ConfigMap>(&()), Selection::default())
        .encoding(Encoding::Json);
    let options = ReflectorOptions {
        initial: InitialState::List,
        ..Default::default()
    };
    let (informer, runner) = SharedInformer::<ConfigMap>::builder(source)
        .reflector_options(options)
        .build();
    let mut changes = informer.subscribe("test").unwrap();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    let mut told = BTreeMap::new();
    while told.len() < 3 {
        let change = tokio::time::timeout(Duration::from_secs(20), changes.next())
            .await
            .unwrap()
            .unwrap();
        told.insert(format!("{change:?}"), matches!(change, Notification::Delete(_)));
    }
    assert!(told["Delete(ns/a@12, Event)"], "{told:?}");
    server.assert_finished();
    stop.cancel();
    running.await.unwrap().unwrap();
}

/// It would try again up to 15 times, say nothing of it, and the waiting would count against streaming lists.
#[tokio::test]
async fn a_client_that_would_retry_by_itself_does_not() {
    let throttled = |code, reason| Answer::status(code, reason, "slow down");
    let server = ScriptedServer::new()
        .expect(stream(None), throttled(429, "TooManyRequests"))
        .expect(
            stream(None),
            throttled(503, "ServiceUnavailable").header("retry-after", "1"),
        )
        .expect(stream(None), watched("+a@1 |10 +b@11").close())
        .expect(watch(11), throttled(429, "TooManyRequests"))
        .expect(watch(11), throttled(504, "Timeout").header("retry-after", "1"))
        .expect(watch(11), watched("+c@12"));
    let listener = server.listen().await.unwrap();
    let config = kube::Config::new(listener.url().parse().unwrap());
    assert!(config.default_retry);
    let client = kube::Client::try_from(config).unwrap();
    let source = ClientSource::new(client, ApiResource::erase::<ConfigMap>(&()), Selection::default())
        .encoding(Encoding::Json);
    let short = Duration::from_millis(5);
    let options = ReflectorOptions {
        backoff: Backoff {
            initial: short,
            cap: short,
            ..Backoff::default()
        },
        ..Default::default()
    };
    let errors = Arc::new(Mutex::new(vec![]));
    let seen = errors.clone();
    let (informer, runner) = SharedInformer::<ConfigMap>::builder(source)
        .reflector_options(options)
        .on_error(move |error| {
            seen.lock()
                .unwrap()
                .push(format!("{} {}", error.operation, error.class))
        })
        .build();
    let mut changes = informer.subscribe("test").unwrap();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    for _ in 0..3 {
        let change = tokio::time::timeout(Duration::from_secs(60), changes.next());
        change.await.unwrap().unwrap();
    }
    server.assert_finished();
    assert_eq!(
        *errors.lock().unwrap(),
        [
            "watch-list throttled",
            "watch-list throttled",
            "watch throttled",
            "watch timeout"
        ]
    );
    let at: Vec<_> = server.requests().iter().map(|request| request.at).collect();
    let second = Duration::from_secs(1);
    assert!(
        at[2] - at[1] >= second && at[5] - at[4] >= second,
        "as long as the server asked for"
    );
    stop.cancel();
    running.await.unwrap().unwrap();
}

/// A router that forgets a connection does not say so. Servers send bookmarks about every minute.
#[tokio::test(start_paused = true)]
async fn a_watch_without_the_expected_bookmarks_is_reopened() {
    let short = Duration::from_secs(30);
    let mut scene = Scene::lists([
        (request(ANY), listed(10, "a@1")),
        (
            watch(10),
            watched("=11")
                .pause(short)
                .chunk(maps().bookmark("12"))
                .pause(3 * short)
                .chunk(maps().bookmark("13")),
        ),
        (watch(13), watched("")),
        // Before that, the server's version is asked for.
        (request("limit=1"), listed(13, "a@1")),
        (watch(13), watched("*a@14")),
    ]);
    let told = scene.after(Duration::from_secs(550)).await;
    scene.server.assert_finished();
    assert_eq!(told.join("; "), "Add(ns/a@1, initial); Update(ns/a@1->14)");
    let pauses = scene.pauses();
    assert_eq!(
        (pauses[..2].to_vec(), pauses[2] + pauses[3]),
        (vec![0, 300_000], 180_000)
    );
    assert!((75_000..=90_000).contains(&pauses[2]), "{pauses:?}");
    assert_eq!(
        scene.informer.status().reflector.failures,
        0,
        "no failure, but the way of things"
    );
    scene.stop().await;
}
