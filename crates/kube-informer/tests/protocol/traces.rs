//! Traces observed in client-go, and where we depart from them on purpose.

use super::*;

#[tokio::test(start_paused = true)]
async fn t1_an_expired_stream() {
    let scene = Scene::lists([
        (request(ANY), listed(10, "a@1")),
        (watch(10), Answer::watch([expired_event()])),
        (list_at(10), listed(11, "a@1")),
        (watch(11), watched("")),
    ]);
    // client-go tells every handler of the unchanged object here.
    let scene = scene.plays("Add(ns/a@1, initial)").await;
    let pauses = scene.pauses();
    assert!(
        pauses[0] == 0 && FIRST_PAUSE.contains(&pauses[1]) && pauses[2] == 0,
        "{pauses:?}"
    );
    assert_eq!(
        scene.informer.status().reflector.failures,
        0,
        "no failure, but the way of things"
    );
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn t2_an_expired_stream_then_an_expired_list() {
    let scene = Scene::lists([
        (request(ANY), listed(10, "a@1 b@2")),
        (watch(10), watched("*a@12").chunk(expired_event())),
        (list_at(12), expired()),
        // client-go asks for the newest state in one piece here; pages spare the server.
        (request(NEWEST), listed(20, "a@15")),
        (watch(20), watched("")),
    ]);
    let told = "Add(ns/a@1, initial); Add(ns/b@2, initial); Update(ns/a@1->12); Delete(ns/b@2, Missed); \
                Update(ns/a@12->15)";
    let scene = scene.plays(told).await;
    assert_eq!(scene.pauses()[2..], [0, 0]);
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn t3_watches_that_close() {
    let scene = Scene::lists([
        (request(ANY), listed(10, "")),
        (watch(10), watched("+a@12").close()),
        (watch(12), watched("=13").close()),
        (watch(13), watched("").close()),
        (list_at(13), listed(13, "a@12")),
        (watch(13), watched("=14")),
    ]);
    let scene = scene.plays("Add(ns/a@12)").await;
    let pauses = scene.pauses();
    assert_eq!(pauses[..3], [0, 0, 0]);
    assert!(FIRST_PAUSE.contains(&pauses[3]), "{pauses:?}");
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn t4_streaming_lists_that_close_early() {
    let scene = Scene::streams([
        (stream(None), watched("+a@1").close()),
        (stream(None), watched("").close()),
        (request(ANY), listed(10, "a@1")),
        (watch(10), watched("")),
    ]);
    let scene = scene.plays("Add(ns/a@1, initial)").await;
    assert_eq!(scene.pauses(), [0, 0, 0]);
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn t6_refused_streaming_lists_are_tried_again_each_time() {
    for refusal in [
        (422, "Invalid"),
        (500, "InternalError"),
        (403, "Forbidden"),
        (404, "NotFound"),
        (400, "BadRequest"),
    ] {
        let refused = || Answer::status(refusal.0, refusal.1, "no streaming lists here");
        let scene = Scene::streams([
            (stream(None), refused()),
            (request(ANY), listed(10, "a@1")),
            (watch(10), Answer::watch([expired_event()])),
            (stream(Some(10)), refused()),
            (list_at(10), listed(11, "a@1")),
            (watch(11), watched("")),
        ]);
        let scene = scene.plays("Add(ns/a@1, initial)").await;
        let pauses = scene.pauses();
        assert!(FIRST_PAUSE.contains(&pauses[2]), "{pauses:?}");
        assert_eq!((pauses[0], pauses[1], pauses[3], pauses[4]), (0, 0, 0, 0));
        scene.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn t7_events_and_what_they_mean() {
    let wrong_kind = Kind::new("v1", "Pod").object("ns/p", "15");
    let scene = Scene::lists([
        (request(ANY), listed(10, "a@1")),
        (
            watch(10),
            watched("+a@11 *n@12 -zz@13")
                .chunk(event("ADDED", &wrong_kind))
                .chunk(maps().bookmark("16")),
        ),
    ]);
    // client-go tells of the deletion of an object that nobody was told of, and drops the one of a wrong kind
    // without a word.
    let scene = scene
        .plays("Add(ns/a@1, initial); Update(ns/a@1->11); Add(ns/n@12)")
        .await;
    let status = scene.informer.status();
    assert_eq!(status.reflector.invalid_objects, 1);
    assert_eq!(
        status.reflector.last_invalid_object.unwrap().to_string(),
        "ns/p: expected kind ConfigMap, got Pod"
    );
    assert_eq!(
        (status.applied, status.reflector.resource_version),
        (Some("16".into()), Some("16".into()))
    );
    assert_eq!(scene.names(), "a n");
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn t7_an_unknown_type_of_event_is_followed_by_a_list() {
    // client-go's stream decoder makes an internal error of it.
    let scene = Scene::lists([
        (request(ANY), listed(10, "a@1")),
        (watch(10), watched("*a@11").chunk(event("RENAMED", &map("a", 12)))),
        (list_at(11), listed(13, "a@12")),
        (watch(13), watched("")),
    ]);
    let scene = scene
        .plays("Add(ns/a@1, initial); Update(ns/a@1->11); Update(ns/a@11->12)")
        .await;
    assert!(FIRST_PAUSE.contains(&scene.pauses()[1]));
    assert_eq!(scene.last_error().class, ErrorClass::Decode);
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn t12_a_watch_that_cannot_be_opened() {
    for (code, reason) in [
        (500, "InternalError"),
        (403, "Forbidden"),
        (410, "Expired"),
        (504, "Timeout"),
    ] {
        let scene = Scene::lists([
            (request(ANY), listed(10, "a@1")),
            (watch(10), Answer::status(code, reason, "no")),
            (list_at(10), listed(10, "a@1")),
            (watch(10), watched("")),
        ]);
        let scene = scene.plays("Add(ns/a@1, initial)").await;
        assert!(FIRST_PAUSE.contains(&scene.pauses()[1]));
        assert_eq!(scene.last_error().operation, "watch");
        scene.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn t13_a_watch_that_is_refused_then_throttled() {
    let scene = Scene::lists([
        (request(ANY), listed(10, "a@1")),
        (watch(10), Answer::refused()),
        (
            watch(10),
            Answer::watch([error_event(429, "TooManyRequests", "slow down")]),
        ),
        (watch(10), Answer::status(429, "TooManyRequests", "slow down")),
        (watch(10), watched("*a@11")),
    ]);
    let scene = scene.plays("Add(ns/a@1, initial); Update(ns/a@1->11)").await;
    let pauses = scene.pauses();
    assert!(
        FIRST_PAUSE.contains(&pauses[1]) && SECOND_PAUSE.contains(&pauses[2]),
        "{pauses:?}"
    );
    assert!(THIRD_PAUSE.contains(&pauses[3]), "{pauses:?}");
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn t14_an_internal_error_in_the_stream() {
    let scene = Scene::lists([
        (request(ANY), listed(10, "a@1")),
        (
            watch(10),
            Answer::watch([error_event(500, "InternalError", "etcd is upset")]),
        ),
        (list_at(10), listed(11, "")),
        (watch(11), watched("")),
    ]);
    let scene = scene.plays("Add(ns/a@1, initial); Delete(ns/a@1, Missed)").await;
    assert!(FIRST_PAUSE.contains(&scene.pauses()[1]));
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn t17_cancelled_before_it_runs() {
    // client-go still sends a list.
    for initial in [InitialState::List, InitialState::Auto, InitialState::WatchList] {
        let server = ScriptedServer::new();
        let client = kube::Client::new(server.service(), "default");
        let source = ClientSource::new(client, ApiResource::erase::<ConfigMap>(&()), Selection::default())
            .encoding(Encoding::Json);
        let options = ReflectorOptions {
            initial,
            ..Default::default()
        };
        let (_informer, runner) = SharedInformer::<ConfigMap>::builder(source)
            .reflector_options(options)
            .build();
        let stop = CancellationToken::new();
        stop.cancel();
        runner.run(stop).await.unwrap();
        assert!(server.requests().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn t18_cancelled_while_it_waits_or_asks() {
    // client-go waits out a pause of its streaming list: it returned after 4.8 s.
    let throttled = || Answer::status(429, "TooManyRequests", "slow down").header("retry-after", "100");
    let scripts = [
        (InitialState::Auto, vec![(stream(None), throttled())]),
        (InitialState::Auto, vec![(stream(None), Answer::never())]),
        (InitialState::Auto, vec![(stream(None), watched("+a@1"))]),
        (InitialState::List, vec![(request(ANY), throttled())]),
        (InitialState::List, vec![(request(ANY), Answer::never())]),
        (
            InitialState::List,
            vec![(
                request(ANY),
                Answer::json(r#"{"kind":"ConfigMapList","items":[{"#).open(),
            )],
        ),
        (
            InitialState::List,
            vec![(request(ANY), listed(10, "")), (watch(10), throttled())],
        ),
        (
            InitialState::List,
            vec![(request(ANY), listed(10, "")), (watch(10), Answer::never())],
        ),
        (
            InitialState::List,
            vec![(request(ANY), listed(10, "")), (watch(10), watched(""))],
        ),
    ];
    for (initial, script) in scripts {
        let mut scene = Scene::starts(script, initial);
        scene.after(Duration::from_millis(10)).await;
        scene.server.assert_finished();
        let before = tokio::time::Instant::now();
        scene.stop().await;
        assert_eq!(before.elapsed(), Duration::ZERO);
    }
}

#[tokio::test(start_paused = true)]
async fn t24_pages() {
    let page = |objects: &str, next: &str| Answer::json(maps().page("10", self::objects(objects), next));
    let scene = Scene::lists([
        (request(ANY), page("a@1", "t1")),
        (request("limit=500&continue=t1"), page("b@2", "t 2&x")),
        (request("limit=500&continue=t+2%26x"), listed(99, "c@3")),
        // The version is that of the first page. A server that pages lists of any state gets paged lists from now on.
        (watch(10), Answer::watch([expired_event()])),
        (
            request("limit=500&resourceVersion=10&resourceVersionMatch=NotOlderThan"),
            listed(11, "a@1 b@2 c@3"),
        ),
        (watch(11), watched("")),
    ]);
    scene
        .plays("Add(ns/a@1, initial); Add(ns/b@2, initial); Add(ns/c@3, initial)")
        .await
        .stop()
        .await;
}

#[tokio::test(start_paused = true)]
async fn t25_pauses_stay_long_during_an_outage() {
    // client-go starts over every two minutes, outage or not. Others stay near one second while lists fail.
    let server = ScriptedServer::new().otherwise(|_| Answer::code(500));
    let resource = ApiResource::erase::<ConfigMap>(&());
    let mut scene: Scene = Scene::of(server, resource, Selection::default(), InitialState::List);
    scene.after(Duration::from_secs(900)).await;
    let pauses = scene.pauses();
    assert_they_grow(&pauses);
    assert!(pauses.len() > 15, "{pauses:?}");
    scene.stop().await;
}
