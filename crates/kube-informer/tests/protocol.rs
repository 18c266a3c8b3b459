//! What an informer asks of an API server, request by request, and what it makes of each answer, byte by byte.
//!
//! Three groups: the requests themselves; behaviour observed in client-go (traces `t1` to `t25`) and what others get
//! wrong (`others_…`); answers that no well-behaved server gives. Where the outcome differs from client-go's on
//! purpose, the test says so.

use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube_informer::form::Form;
use kube_informer::informer::RunError;
use kube_informer::reflector::{InitialState, LastError, Phase, ReflectorOptions};
use kube_informer::source::{ClientSource, ErrorClass, Selection};
use kube_informer::{Notification, Notifications, SharedInformer};
use kube_sim::script::{Answer, Expected, Kind, ScriptedServer, event, status};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const PATH: &str = "/api/v1/configmaps";
/// The first list.
const ANY: &str = "limit=500&resourceVersion=0";
/// A list of the newest state.
const NEWEST: &str = "limit=500";
/// A first pause of the backoff, in milliseconds.
const FIRST_PAUSE: std::ops::RangeInclusive<u128> = 800..=1601;
const SECOND_PAUSE: std::ops::RangeInclusive<u128> = 1600..=3201;

fn maps() -> Kind {
    Kind::new("v1", "ConfigMap")
}

/// The config map `ns/name`.
fn map(name: &str, version: u32) -> Value {
    let mut object = maps().object(&format!("ns/{name}"), &version.to_string());
    object["data"] = json!({"version": version.to_string()});
    object
}

/// A config map that its type cannot hold; what it says is nobody's business.
fn bad(name: &str, version: u32) -> Value {
    let mut object = map(name, version);
    object["data"] = json!({"password": ["hunter2"]});
    object
}

/// `a@1 b@2`: these config maps.
fn objects(texts: &str) -> Vec<Value> {
    let object = |text: &str| {
        let (name, version) = text.split_once('@').unwrap();
        map(name, version.parse().unwrap())
    };
    texts.split_whitespace().map(object).collect()
}

/// `+a@1`: added; `*a@1`: modified; `-a@1`: deleted; `=7`: a bookmark; `|7`: the end of the initial events.
fn frames(texts: &str) -> Vec<String> {
    let frame = |text: &str| {
        let (sign, rest) = text.split_at(1);
        let of = |kind| event(kind, &objects(rest)[0]);
        match sign {
            "+" => of("ADDED"),
            "*" => of("MODIFIED"),
            "-" => of("DELETED"),
            "=" => maps().bookmark(rest),
            "|" => maps().initial_events_end(rest),
            _ => panic!("{text}"),
        }
    };
    texts.split_whitespace().map(frame).collect()
}

fn request(query: &str) -> Expected {
    let query = if query.is_empty() {
        String::new()
    } else {
        format!("?{query}")
    };
    Expected::from(format!("GET {PATH}{query}")).header("accept", "application/json")
}

/// A list at this version or a newer one, in one piece.
fn list_at(version: u32) -> Expected {
    request(&format!(
        "resourceVersion={version}&resourceVersionMatch=NotOlderThan"
    ))
}

const WATCH: &str = "watch=true&allowWatchBookmarks=true&timeoutSeconds=300..=600";

fn watch(version: u32) -> Expected {
    request(&format!("{WATCH}&resourceVersion={version}"))
}

/// A streaming list of the newest state, or one that is not older than a version.
fn stream(version: Option<u32>) -> Expected {
    let version = version.map_or(String::new(), |version| format!("&resourceVersion={version}"));
    request(&format!(
        "{WATCH}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan{version}"
    ))
}

fn listed(version: u32, texts: &str) -> Answer {
    Answer::json(maps().list(&version.to_string(), objects(texts)))
}

fn watched(texts: &str) -> Answer {
    Answer::watch(frames(texts))
}

fn error_event(code: u16, reason: &str, message: &str) -> String {
    event("ERROR", &status(code, reason, message))
}

fn expired() -> Answer {
    Answer::status(410, "Expired", "too old resource version: 1 (90)")
}

fn expired_event() -> String {
    error_event(410, "Expired", "too old resource version: 1 (90)")
}

/// An informer at work on a script.
struct Scene<K: Form = ConfigMap> {
    server: ScriptedServer,
    informer: SharedInformer<K>,
    notifications: Notifications<K>,
    stop: CancellationToken,
    running: JoinHandle<Result<(), RunError>>,
}

impl Scene {
    /// An informer that starts with a list.
    fn lists(script: impl IntoIterator<Item = (Expected, Answer)>) -> Self {
        Self::starts(script, InitialState::List)
    }

    /// An informer that starts with a streaming list.
    fn streams(script: impl IntoIterator<Item = (Expected, Answer)>) -> Self {
        Self::starts(script, InitialState::Auto)
    }

    fn starts(script: impl IntoIterator<Item = (Expected, Answer)>, initial: InitialState) -> Self {
        let expect = |server: ScriptedServer, (request, answer)| server.expect(request, answer);
        let server = script.into_iter().fold(ScriptedServer::new(), expect);
        let resource = ApiResource::erase::<ConfigMap>(&());
        Self::of(server, resource, Selection::default(), initial)
    }
}

impl<K: Form> Scene<K> {
    fn of(
        server: ScriptedServer,
        resource: ApiResource,
        selection: Selection,
        initial: InitialState,
    ) -> Self {
        let client = kube::Client::new(server.service(), "default");
        let options = ReflectorOptions {
            initial,
            ..Default::default()
        };
        let (informer, runner) = SharedInformer::builder(ClientSource::new(client, resource, selection))
            .reflector(options)
            .build();
        let notifications = informer.subscribe("test").unwrap();
        let stop = CancellationToken::new();
        let running = tokio::spawn(runner.run(stop.clone()));
        Self {
            server,
            informer,
            notifications,
            stop,
            running,
        }
    }

    /// Lets happen what happens within this (paused) time, and returns what was told until then.
    async fn after(&mut self, time: Duration) -> Vec<String> {
        let mut told = vec![];
        let end = tokio::time::sleep(time);
        tokio::pin!(end);
        loop {
            tokio::select! {
                biased;
                Some(notification) = self.notifications.next() => told.push(format!("{notification:?}")),
                () = &mut end => return told,
            }
        }
    }

    /// Plays the script and compares what was told, separated by commas. The time is too short for a watch to end.
    async fn plays(mut self, expected: &str) -> Self {
        let told = self.after(Duration::from_secs(290)).await;
        self.server.assert_finished();
        assert_eq!(told.join("; "), expected);
        self
    }

    /// The pauses between the requests, in milliseconds.
    fn pauses(&self) -> Vec<u128> {
        let requests = self.server.requests();
        requests
            .windows(2)
            .map(|pair| pair[1].at.duration_since(pair[0].at).as_millis())
            .collect()
    }

    fn last_error(&self) -> LastError {
        self.informer.status().reflector.last_error.expect("an error")
    }

    fn names(&self) -> String {
        let keys = self.informer.store().list_keys().into_iter();
        let mut names: Vec<_> = keys.map(|key| key.name().to_owned()).collect();
        names.sort();
        names.join(" ")
    }

    async fn stop(self) {
        self.stop.cancel();
        self.running.await.unwrap().unwrap();
    }
}

// The requests.

#[tokio::test(start_paused = true)]
async fn requests_have_exactly_these_shapes() {
    let scene = Scene::streams([
        (stream(None), Answer::watch(frames("+a@1 |10 +b@11")).close()),
        (watch(11), Answer::watch([expired_event()])),
        (stream(Some(11)), Answer::status(422, "Invalid", "no")),
        (list_at(11), listed(12, "a@1 b@11")),
        (watch(12), watched("")),
    ]);
    let scene = scene.plays("Add(ns/a@1, initial); Add(ns/b@11)").await;
    let timeouts: Vec<u64> = scene
        .server
        .requests()
        .iter()
        .filter_map(|request| request.parameter("timeoutSeconds")?.parse().ok())
        .collect();
    assert_eq!(timeouts.len(), 4);
    assert!(
        timeouts.windows(2).any(|pair| pair[0] != pair[1]),
        "random: {timeouts:?}"
    );
    assert!(
        scene
            .server
            .requests()
            .iter()
            .all(|request| request.body.is_empty())
    );
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_selection_is_part_of_every_request() {
    let path = "/apis/example.com/v1/namespaces/shop/widgets";
    let chosen = "labelSelector=app in (web,db)&fieldSelector=metadata.name!=x";
    let widgets = Kind::new("example.com/v1", "Widget");
    let widget = widgets.object("shop/w", "5");
    let server = ScriptedServer::new()
        .expect(
            format!("GET {path}?{chosen}&limit=500&resourceVersion=0"),
            Answer::json(widgets.page("9", [&widget], "t")),
        )
        .expect(
            format!("GET {path}?{chosen}&limit=500&continue=t"),
            Answer::json(widgets.list("9", [(); 0])),
        )
        .expect(
            format!("GET {path}?{chosen}&{WATCH}&resourceVersion=9"),
            Answer::watch([""; 0]),
        );
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Widget"));
    let selection = Selection {
        namespace: Some("shop".into()),
        labels: Some("app in (web,db)".into()),
        fields: Some("metadata.name!=x".into()),
    };
    let scene: Scene<DynamicObject> = Scene::of(server, resource, selection, InitialState::List);
    scene.plays("Add(shop/w@5, initial)").await.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_remaining_items_are_shown_while_a_list_is_read() {
    let metadata = json!({"resourceVersion": "10", "continue": "t", "remainingItemCount": 7});
    let mut scene = Scene::lists([
        (
            request(ANY),
            Answer::json(maps().list_of(&metadata, objects("a@1"))),
        ),
        (request("limit=500&continue=t"), Answer::never()),
    ]);
    scene.after(Duration::from_secs(1)).await;
    let phase = scene.informer.status().reflector.phase;
    assert!(
        matches!(
            phase,
            Phase::Listing {
                remaining: Some(7),
                ..
            }
        ),
        "{phase:?}"
    );
    scene.stop().await;
}

// Traces of client-go.

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
        (watch(13), watched("")),
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
async fn t6_streaming_lists_that_are_refused_are_tried_again_each_time() {
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
    assert_eq!(status.reflector.bad_objects, 1);
    assert_eq!(
        status.reflector.last_bad_object.unwrap().to_string(),
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
    assert!((3200..=6401).contains(&pauses[3]), "{pauses:?}");
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
        let source = ClientSource::new(client, ApiResource::erase::<ConfigMap>(&()), Selection::default());
        let options = ReflectorOptions {
            initial,
            ..Default::default()
        };
        let (_informer, runner) = SharedInformer::<ConfigMap>::builder(source)
            .reflector(options)
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
    let bases = [800, 1600, 3200, 6400, 12_800, 25_600]
        .into_iter()
        .chain(std::iter::repeat(30_000));
    for (pause, base) in pauses.iter().zip(bases) {
        assert!((base..=2 * base + 1).contains(pause), "{pauses:?}");
    }
    assert!(pauses.len() > 15, "{pauses:?}");
    scene.stop().await;
}

// What others get wrong.

#[tokio::test(start_paused = true)]
async fn others_1_an_event_that_does_not_decode_is_named_and_its_key_is_stale() {
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
    let said = status.reflector.last_bad_object.unwrap();
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
async fn others_2_an_object_of_a_streaming_list_that_does_not_decode_is_not_silently_absent() {
    let scene = Scene::streams([(
        stream(None),
        watched("+a@1")
            .chunk(event("ADDED", &bad("x", 2)))
            .chunk(frames("+b@3 |5").concat()),
    )]);
    let scene = scene.plays("Add(ns/a@1, initial); Add(ns/b@3, initial)").await;
    assert!(scene.informer.has_synced());
    assert_eq!(scene.informer.store().stale_keys(), ["ns/x".into()]);
    assert_eq!(scene.informer.status().reflector.bad_objects, 1);
    scene.stop().await;
}

/// Collects what is logged, for as long as the guard lives.
fn logged() -> (Arc<Mutex<Vec<u8>>>, tracing::subscriber::DefaultGuard) {
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
    (kept, tracing::subscriber::set_default(subscriber))
}

#[tokio::test(start_paused = true)]
async fn others_3_one_bad_item_stops_nobody_and_its_content_is_nowhere_to_be_seen() {
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
    let mut status = scene.informer.reflector_status();
    let informer = scene.informer.clone();
    let watcher = tokio::spawn(async move {
        while status.changed().await.is_ok() {
            informer_says.push(format!("{:?} {:?}", &*status.borrow(), informer.status()));
        }
        informer_says
    });
    let scene = scene.plays("Add(ns/good@5, initial)").await;
    let reflector = scene.informer.status().reflector;
    assert_eq!((reflector.bad_objects, reflector.lists), (13, 2), "{reflector:?}");
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
    let failures: [fn() -> Answer; 6] = [
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
        let bases = [800, 1600, 3200, 6400, 12_800, 25_600];
        assert!(
            pauses
                .iter()
                .zip(bases)
                .all(|(pause, base)| (base..=2 * base + 1).contains(pause)),
            "{pauses:?}"
        );
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
    let watches: [(&str, fn() -> Answer); 12] = [
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
async fn others_6_a_watch_that_is_gone_at_its_start_is_followed_by_a_list() {
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
async fn others_6_an_expired_page_is_followed_by_one_list_in_one_piece() {
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
        .delivery(kube_informer::Delivery::Merged { capacity: 0 });
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
async fn others_10_what_is_listed_again_unchanged_stays_the_same_object() {
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

// Pauses that the server asks for, and versions that it does not have.

#[tokio::test(start_paused = true)]
async fn the_server_can_ask_for_a_longer_pause_in_seconds_as_a_date_or_in_the_status() {
    let in_seconds = || Answer::status(429, "TooManyRequests", "slow down").header("retry-after", "100");
    let as_date = || {
        let date = httpdate(SystemTime::now() + Duration::from_secs(100));
        Answer::status(503, "ServiceUnavailable", "slow down").header("retry-after", &date)
    };
    let in_status = || {
        let mut status = status(429, "TooManyRequests", "slow down");
        status["details"] = json!({"retryAfterSeconds": 100});
        Answer::status_body(429, &status)
    };
    let without_body = || Answer::code(429).header("retry-after", "100");
    for answer in [
        &in_seconds as &dyn Fn() -> Answer,
        &as_date,
        &in_status,
        &without_body,
    ] {
        let scene = Scene::lists([
            (request(ANY), answer()),
            (request(ANY), listed(10, "")),
            (watch(10), watched("")),
        ]);
        let scene = scene.plays("").await;
        // A date has no fractions of a second.
        assert!(
            (98_000..=100_001).contains(&scene.pauses()[0]),
            "{:?}",
            scene.pauses()
        );
        scene.stop().await;
    }
    for answer in [&in_seconds as &dyn Fn() -> Answer, &in_status] {
        let scene = Scene::lists([
            (request(ANY), listed(10, "")),
            (watch(10), answer()),
            (watch(10), watched("")),
        ]);
        let scene = scene.plays("").await;
        assert_eq!(scene.pauses(), [0, 100_000]);
        scene.stop().await;
    }
    let scene = Scene::streams([(stream(None), in_seconds()), (stream(None), watched("|10"))]);
    assert_eq!(scene.plays("").await.pauses(), [100_000]);
}

/// The form of dates in headers.
fn httpdate(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Civil from days, after Howard Hinnant.
    let z = days + 719_468;
    let (era, doe) = (z / 146_097, z % 146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let (day, month) = (
        doy - (153 * mp + 2) / 5 + 1,
        if mp < 10 { mp + 3 } else { mp - 9 },
    );
    let year = yoe + era * 400 + u64::from(month <= 2);
    let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][(days % 7) as usize];
    let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let month = months[month as usize - 1];
    format!(
        "{weekday}, {day:02} {month} {year} {:02}:{:02}:{:02} GMT",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// The three forms in which servers say that they have not reached a version.
fn too_large() -> [Value; 3] {
    let mut by_cause = status(504, "Timeout", "Timeout");
    by_cause["details"] =
        json!({"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]});
    let mut by_message_of_cause = status(504, "Timeout", "Timeout");
    by_message_of_cause["details"] = json!({"causes": [{"message": "Too large resource version"}]});
    let by_message = status(
        504,
        "Timeout",
        "Timeout: Too large resource version: 10, current: 5",
    );
    [by_cause, by_message_of_cause, by_message]
}

#[tokio::test(start_paused = true)]
async fn a_version_that_the_server_has_not_reached_leads_to_the_newest_state() {
    for status in too_large() {
        let refusal = || Answer::status_body(504, &status);
        let scene = Scene::lists([
            (request(ANY), listed(10, "a@1")),
            (watch(10), Answer::watch([expired_event()])),
            (list_at(10), refusal()),
            (request(NEWEST), listed(5, "a@1")),
            (watch(5), refusal()),
            // What a watch says counts too.
            (request(NEWEST), listed(6, "a@1")),
            (watch(6), watched("").chunk(event("ERROR", &status))),
            (request(NEWEST), listed(7, "a@1")),
            (watch(7), watched("")),
        ]);
        let scene = scene.plays("Add(ns/a@1, initial)").await;
        assert_eq!(scene.pauses()[2], 0, "at once");
        scene.stop().await;
        let scene = Scene::streams([
            (stream(None), watched("+a@1 |10").chunk(expired_event())),
            (stream(Some(10)), refusal()),
            (stream(None), watched("+a@1 |5")),
        ]);
        let scene = scene.plays("Add(ns/a@1, initial)").await;
        assert_eq!(scene.last_error().class, ErrorClass::WentBack);
        assert_eq!(scene.pauses()[1], 0, "at once");
        scene.stop().await;
    }
}

// Answers that no well-behaved server gives.

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
            ErrorClass::Decode,
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
    let cases: [(fn() -> Answer, ErrorClass, &str); 9] = [
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
            assert!(
                reflector.failures >= 2 && matches!(reflector.phase, Phase::BackingOff { .. }),
                "{reflector:?}"
            );
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
    assert_eq!(scene.informer.status().reflector.bad_objects, 1);
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
    let said = scene.informer.status().reflector.last_bad_object.unwrap();
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
                .chunk(frames("=12").concat()),
        ),
        (watch(12), watched("")),
        (watch(12), Answer::never()),
        (list_at(12), listed(12, "a@11")),
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
    assert_eq!(pauses[1], 200_000 + timeout(1) + 30_000);
    assert_eq!(pauses[2], timeout(2) + 30_000);
    let first = FIRST_PAUSE;
    assert!(
        (timeout(3) + 30_000 + first.start()..=timeout(3) + 30_000 + first.end()).contains(&pauses[3]),
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
    let scene = Scene::lists([
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
    let scene = scene.plays("Add(ns/a@1, initial)").await;
    assert_eq!(scene.last_error().class, ErrorClass::Timeout);
    scene.stop().await;
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
    let mut config = kube::Config::new(listener.url().parse().unwrap());
    config.default_retry = false;
    let client = kube::Client::try_from(config).unwrap();
    let source = ClientSource::new(client, ApiResource::erase::<ConfigMap>(&()), Selection::default());
    let options = ReflectorOptions {
        initial: InitialState::List,
        ..Default::default()
    };
    let (informer, runner) = SharedInformer::<ConfigMap>::builder(source)
        .reflector(options)
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
