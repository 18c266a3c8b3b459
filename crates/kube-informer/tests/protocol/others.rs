//! What others get wrong.

use super::*;

#[tokio::test(start_paused = true)]
async fn others_1_an_undecodable_event_makes_its_key_stale() {
    let scene = Scene::lists([
        (request(ANY), listed(10, "a@1 b@2")),
        (
            watch(10),
            watched("")
                .chunk(event("MODIFIED", &bad("a", 11)))
                .chunk(frames("*b@12").concat()),
        ),
    ]);
    let scene = scene
        .plays("Add(ns/a@1, initial); Add(ns/b@2, initial); Update(ns/b@2->12)")
        .await;
    let status = scene.informer.status();
    let said = status.reflector.last_invalid_object.unwrap();
    assert_eq!(said.key, Some("ns/a".into()));
    assert!(said.reason.starts_with("data.password: invalid type"), "{said}");
    assert!(scene.informer.store().is_stale("ns/a"));
    assert_eq!(
        scene
            .informer
            .store()
            .get("ns/a")
            .unwrap()
            .metadata
            .resource_version
            .as_deref(),
        Some("1")
    );
    assert_eq!(status.applied, Some("12".into()), "the others go on");
    assert_eq!(status.reflector.last_error, None);
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn others_2_a_streaming_list_reports_undecodable_objects() {
    let scene = Scene::streams([(
        stream(None),
        watched("+a@1")
            .chunk(event("ADDED", &bad("x", 2)))
            .chunk(frames("+b@3 |5").concat()),
    )]);
    let scene = scene.plays("Add(ns/a@1, initial); Add(ns/b@3, initial)").await;
    assert!(scene.informer.has_synced());
    assert_eq!(scene.informer.store().stale_keys(), ["ns/x".into()]);
    assert_eq!(scene.informer.status().reflector.invalid_objects, 1);
    scene.stop().await;
}

/// Collects what is logged, for as long as the guard lives.
fn logged() -> (
    Arc<Mutex<Vec<u8>>>,
    (tracing::Dispatch, tracing::subscriber::DefaultGuard),
) {
    #[derive(Clone)]
    struct Log(Arc<Mutex<Vec<u8>>>);
    impl std::io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let log = Log(Arc::default());
    let kept = log.0.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || log.clone())
        .finish();
    // While there is only one subscriber, what a thread without it is the first to log is off for all threads.
    let second = tracing::Dispatch::new(tracing_subscriber::registry());
    (kept, (second, tracing::subscriber::set_default(subscriber)))
}

#[tokio::test(start_paused = true)]
async fn others_3_one_invalid_item_stops_nobody_and_is_never_shown() {
    let secrets = Kind::new("v1", "Secret");
    let with = |key: &str, data: Value| {
        let mut secret = secrets.object(key, "5");
        secret["data"] = data;
        secret
    };
    let items = [
        with("ns/good", json!({"p": "aHVudGVyMg=="})),
        with("ns/list", json!({"p": ["hunter2"]})),
        with("ns/text", json!("hunter2")),
        with("ns/base64", json!({"p": "hunter2!"})),
        json!({"metadata": {"name": 7, "annotations": {"a": "hunter2"}}, "data": {"p": "hunter2"}}),
        json!("hunter2"),
        json!({"metadata": {"name": "labels", "namespace": "ns", "labels": {"hunter2": ["hunter2"]}}}),
    ];
    let again = items.clone();
    let (log, guard) = logged();
    let path = "GET /api/v1/secrets";
    let mut bad_event = with("ns/good", json!({"p": "hunter2!"}));
    bad_event["metadata"]["resourceVersion"] = "11".into();
    let server = ScriptedServer::new()
        .expect(format!("{path}?{ANY}"), Answer::json(secrets.list("9", items)))
        .expect(
            format!("{path}?{WATCH}&resourceVersion=9"),
            Answer::watch([event("MODIFIED", &bad_event), expired_event()]),
        )
        .expect(
            format!("{path}?resourceVersion=11&resourceVersionMatch=NotOlderThan"),
            Answer::json(secrets.list("12", again)),
        )
        .expect(
            format!("{path}?{WATCH}&resourceVersion=12"),
            Answer::watch(["{\"type\":\"ODD\",\"object\":{\"hunter2\":1}}"]),
        )
        .otherwise(|_| Answer::json(r#"{"kind":"Odd","items":"hunter2"}"#));
    let resource = ApiResource::erase::<Secret>(&());
    let scene: Scene<Secret> = Scene::of(server, resource, Selection::default(), InitialState::List);
    let mut informer_says = vec![];
    let mut status = scene.informer.reflector_status(kube_informer::Partition::SINGLE);
    let informer = scene.informer.clone();
    let watcher = tokio::spawn(async move {
        while status.changed().await.is_ok() {
            informer_says.push(format!("{:?} {:?}", &*status.borrow(), informer.status()));
        }
        informer_says
    });
    let scene = scene.plays("Add(ns/good@5, initial)").await;
    let reflector = scene.informer.status().reflector;
    assert_eq!(
        (reflector.invalid_objects, reflector.lists),
        (13, 2),
        "{reflector:?}"
    );
    assert_eq!(
        scene.informer.store().stale_keys(),
        ["ns/base64", "ns/labels", "ns/list", "ns/text"].map(Into::into),
        "what has a key is known to be there; the good one is good again"
    );
    let log_text = || String::from_utf8(log.lock().unwrap().clone()).unwrap();
    for place in [
        "ns/list: data.p: invalid type",
        "item 4 of a list",
        "item 5 of a list",
        "ns/labels: metadata.labels",
    ] {
        assert!(log_text().contains(place), "{place}: {}", log_text());
    }
    scene.stop().await;
    drop(guard);
    let says = watcher.await.unwrap().concat();
    assert!(says.contains("ns/labels"), "{says}");
    assert!(!says.contains("aHVudGVyMg") && !log_text().contains("aHVudGVyMg"));
    assert!(!says.contains("hunter2"), "{says}");
    assert!(!log_text().contains("hunter2"), "{}", log_text());
}

#[tokio::test(start_paused = true)]
async fn others_4_pauses_grow_whatever_fails() {
    let failures: [Make; 6] = [
        || Answer::status(500, "InternalError", "no"),
        || Answer::refused(),
        || Answer::json("{"),
        || Answer::json("<html>"),
        || Answer::json(r#"{"kind":"ConfigMapList","items":["#).broken(),
        || Answer::code(302),
    ];
    for failure in failures {
        let server = ScriptedServer::new().otherwise(move |_| failure());
        let resource = ApiResource::erase::<ConfigMap>(&());
        let mut scene: Scene = Scene::of(server, resource, Selection::default(), InitialState::List);
        scene.after(Duration::from_secs(200)).await;
        let pauses = scene.pauses();
        assert_they_grow(&pauses);
        scene.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn others_5_no_answers_make_a_hot_loop() {
    fn version() -> u32 {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(1000);
        NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
    }
    // What is always answered to watches. Lists work, and streaming lists do not.
    let watches: [(&str, Make); 12] = [
        ("closed", || watched("").close()),
        ("empty", || Answer::json("")),
        ("one event", || watched(&format!("+a@{}", version())).close()),
        ("one bookmark", || watched(&format!("={}", version())).close()),
        ("bookmarks", || {
            watched(&format!("={} ={}", version(), version())).close()
        }),
        ("cut", || {
            watched(&format!("*a@{}", version())).chunk("{\"type\":").broken()
        }),
        ("broken", || watched("").broken()),
        ("410", expired),
        ("410 event", || Answer::watch([expired_event()])),
        ("500 event", || {
            Answer::watch([error_event(500, "InternalError", "no")])
        }),
        ("garbage", || watched("=5").chunk("garbage")),
        ("old bookmark", || watched("=5")),
    ];
    for (name, answer) in watches {
        for initial in [InitialState::List, InitialState::Auto, InitialState::WatchList] {
            let server = ScriptedServer::new().otherwise(move |request| match request.parameter("watch") {
                None => listed(version(), "a@1"),
                Some(_) => answer(),
            });
            let resource = ApiResource::erase::<ConfigMap>(&());
            let mut scene: Scene = Scene::of(server, resource, Selection::default(), initial);
            scene.after(Duration::from_secs(600)).await;
            let pauses = scene.pauses();
            let longest_burst = pauses.split(|pause| *pause >= 500).map(<[_]>::len).max().unwrap() + 1;
            assert!(
                longest_burst <= 4,
                "{name}, {initial:?}: {longest_burst} at once: {pauses:?}"
            );
            assert!(
                pauses.len() < 150,
                "{name}, {initial:?}: {} requests in ten minutes",
                pauses.len()
            );
            scene.stop().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn others_6_a_watch_that_starts_with_410_leads_to_a_list() {
    for gone in [expired(), Answer::status(410, "Gone", "gone"), Answer::code(410)] {
        let scene = Scene::lists([
            (request(ANY), listed(10, "a@1")),
            (watch(10), gone),
            (list_at(10), listed(20, "b@15")),
            (watch(20), watched("")),
        ]);
        let scene = scene
            .plays("Add(ns/a@1, initial); Delete(ns/a@1, Missed); Add(ns/b@15)")
            .await;
        assert_eq!(scene.last_error().class, ErrorClass::Gone);
        scene.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn others_6_an_expired_page_leads_to_one_unpaged_list() {
    let scene = Scene::lists([
        (request(ANY), Answer::json(maps().page("10", objects("a@1"), "t"))),
        (
            request("limit=500&continue=t"),
            Answer::status(410, "Expired", "The provided continue parameter is too old"),
        ),
        (request("resourceVersion=0"), listed(12, "b@2")),
        (watch(12), watched("")),
    ]);
    let scene = scene.plays("Add(ns/b@2, initial)").await;
    assert_eq!(scene.pauses(), [0, 0, 0]);
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn others_7_all_who_wait_are_woken() {
    let scene = Scene::lists([
        (request(ANY), listed(10, "a@1").delayed(Duration::from_secs(5))),
        (
            watch(10),
            watched("")
                .pause(Duration::from_secs(1))
                .chunk(frames("-a@11 +b@12").concat()),
        ),
    ]);
    let waiters: Vec<_> = (0..5)
        .map(|_| {
            let informer = scene.informer.clone();
            tokio::spawn(async move { informer.synced().await })
        })
        .collect();
    // One who is not polled until what it was to be told of is gone again.
    let mut sleepy = scene.informer.subscribe("sleepy").unwrap();
    let mut woken = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(60)).await;
        let mut told = vec![];
        while let Some(change) = sleepy.next().await {
            told.push(format!("{change:?}"));
            if told.len() == 3 {
                break;
            }
        }
        told
    });
    let scene = scene
        .plays("Add(ns/a@1, initial); Delete(ns/a@11, Event); Add(ns/b@12)")
        .await;
    for waiter in waiters {
        assert!(waiter.is_finished());
        waiter.await.unwrap().unwrap();
    }
    let told = tokio::time::timeout(Duration::from_secs(1), &mut woken)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        told,
        ["Add(ns/a@1, initial)", "Delete(ns/a@11, Event)", "Add(ns/b@12)"]
    );
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn others_7_one_who_merges_and_was_asleep_does_not_stall() {
    let scene = Scene::lists([
        (request(ANY), listed(10, "")),
        (
            watch(10),
            watched("")
                .pause(Duration::from_secs(1))
                .chunk(frames("+a@11 -a@12").concat())
                .pause(Duration::from_secs(100))
                .chunk(frames("+b@13").concat()),
        ),
    ]);
    let options = kube_informer::HandlerOptions::named("sleepy")
        .delivery(kube_informer::Delivery::Coalesced { capacity: 0 });
    let mut sleepy = scene.informer.subscribe(options).unwrap();
    let told = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(60)).await;
        sleepy.next().await.map(|change| format!("{change:?}"))
    });
    let scene = scene
        .plays("Add(ns/a@11); Delete(ns/a@12, Event); Add(ns/b@13)")
        .await;
    assert_eq!(told.await.unwrap().unwrap(), "Add(ns/b@13)");
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn others_10_an_unchanged_object_keeps_its_allocation() {
    let scene = Scene::streams([
        (
            stream(None),
            watched("+a@1 +b@2 |10")
                .pause(Duration::from_secs(50))
                .chunk(expired_event()),
        ),
        (
            stream(Some(10)),
            watched("+a@1 +b@11 |12")
                .pause(Duration::from_secs(50))
                .chunk(expired_event()),
        ),
        (stream(Some(12)), Answer::status(422, "Invalid", "no")),
        (
            list_at(12),
            Answer::json(maps().list(
                "13",
                objects("a@1 b@11").into_iter().map(|mut item| {
                    // As the items of a list of a built-in kind are sent.
                    item.as_object_mut().unwrap().remove("kind");
                    item.as_object_mut().unwrap().remove("apiVersion");
                    item
                }),
            )),
        ),
        (watch(13), watched("")),
    ]);
    let mut scene = scene;
    let told = scene.after(Duration::from_secs(20)).await;
    assert_eq!(told.len(), 2);
    let (a, b) = (
        scene.informer.store().get("ns/a").unwrap(),
        scene.informer.store().get("ns/b").unwrap(),
    );
    let scene = scene.plays("Update(ns/b@2->11)").await;
    assert!(Arc::ptr_eq(&a, &scene.informer.store().get("ns/a").unwrap()));
    assert!(!Arc::ptr_eq(&b, &scene.informer.store().get("ns/b").unwrap()));
    assert_eq!(scene.informer.status().reflector.lists, 3);
    scene.stop().await;
}
