//! Faults by rule: which requests they meet, and what becomes of those.

use std::io;
use std::time::Duration;

use http::Method;
use http_body_util::BodyExt as _;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube_sim::faults::{ANY, DELETE, GET, LIST, PATCH, POST, PUT, WATCH};
use kube_sim::script::Answer;
use kube_sim::{Sim, SimServer};
use serde_json::{Value, json};
use tokio::time::Instant;
use tower::Service as _;

use crate::client::{CONFIGMAPS, Client, WIDGETS, configmap, version, widget, with_widgets};

const A: &str = "/api/v1/namespaces/default/configmaps/a";

fn request(method: Method, path: &str) -> http::Request<http_body_util::Full<bytes::Bytes>> {
    http::Request::builder()
        .method(method)
        .uri(path)
        .body(Default::default())
        .unwrap()
}

/// The error of a call whose connection breaks before it is answered.
async fn broken(client: &Client, method: Method, path: &str) -> io::ErrorKind {
    let called = client.sim.service().call(request(method, path)).await;
    called.expect_err("a broken connection").kind()
}

/// What comes of a body, and whether it breaks off.
async fn body(client: &Client, path: &str) -> (String, bool) {
    let mut body = client.open(request(Method::GET, path)).await.into_body();
    let mut text = String::new();
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => text.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap()),
            Err(error) => {
                let error = error.downcast::<io::Error>().unwrap();
                assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
                return (text, true);
            }
        }
    }
    (text, false)
}

#[tokio::test]
async fn refusals_are_those_of_a_real_server() {
    let client = Client::empty();
    client.configmaps(&["a"]);
    for (code, reason, message) in [
        (401, "Unauthorized", "Unauthorized"),
        (
            403,
            "Forbidden",
            "configmaps \"a\" is forbidden: a fault of the simulator",
        ),
        (404, "NotFound", "configmaps \"a\" not found"),
        (
            409,
            "Conflict",
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your \
             changes to the latest version and try again",
        ),
        (
            410,
            "Expired",
            "The resourceVersion for the provided list is too old.",
        ),
        (
            429,
            "TooManyRequests",
            "the server has received too many requests and has asked us to try again later",
        ),
        (
            500,
            "InternalError",
            "Internal error occurred: a fault of the simulator",
        ),
        (
            503,
            "ServiceUnavailable",
            "the server is currently unable to handle the request",
        ),
    ] {
        client.sim.faults().refuse(GET, "configmaps", code).times(1);
        let refusal = client.get(A).await.refusal();
        assert_eq!(refusal, (code, reason.to_owned(), message.to_owned()));
        assert_eq!(client.get(A).await.code, 200);
    }
    client.sim.faults().refuse(POST, "configmaps", 409).times(1);
    let refusal = client.post(CONFIGMAPS, configmap("b", 1)).await.refusal();
    assert_eq!(refusal.1, "AlreadyExists");
    client.sim.faults().refuse(ANY, "*", 429).retry_after(7).times(1);
    let throttled = client.get("/api/v1/pods").await;
    assert_eq!(
        (throttled.code, &throttled.headers["retry-after"]),
        (429, &"7".parse().unwrap())
    );
    assert_eq!(throttled.json()["details"]["retryAfterSeconds"], 7);
}

#[tokio::test]
async fn a_rule_meets_what_it_names() {
    let client = with_widgets();
    client.post(WIDGETS, widget("w", 1)).await.ok();
    client.configmaps(&["a", "b"]);
    let (status, other) = (
        format!("{WIDGETS}/w/status"),
        "/api/v1/namespaces/kube-system/configmaps",
    );
    let codes = async || {
        [
            client.merge(&format!("{WIDGETS}/w"), json!({})).await.code,
            client.merge(&status, json!({})).await.code,
            client.get(A).await.code,
            client.get(&format!("{CONFIGMAPS}/b")).await.code,
            client.get(CONFIGMAPS).await.code,
            client.get(other).await.code,
        ]
    };
    let ok = [200; 6];
    assert_eq!(codes().await, ok);
    let faults = client.sim.faults();
    let on = |met: [bool; 6]| met.map(|met| if met { 500 } else { 200 });
    for (fault, met) in [
        (
            faults.refuse(PATCH, "widgets", 500),
            [true, false, false, false, false, false],
        ),
        (
            faults.refuse(PUT | PATCH, "widgets/status", 500),
            [false, true, false, false, false, false],
        ),
        (
            faults.refuse(PATCH, "widgets.sim.example/*", 500),
            [true, true, false, false, false, false],
        ),
        (
            faults.refuse(ANY, "*/status", 500),
            [false, true, false, false, false, false],
        ),
        (faults.refuse(ANY, "widgets.example", 500), [false; 6]),
        (faults.refuse(PUT | DELETE, "*", 500), [false; 6]),
        (
            faults.refuse(GET, "configmaps", 500).name("b"),
            [false, false, false, true, false, false],
        ),
        (
            faults.refuse(LIST, "*", 500).namespace("kube-system"),
            [false, false, false, false, false, true],
        ),
        (
            faults.refuse(GET | LIST, "configmaps", 500).nth(2),
            [false, false, false, true, false, false],
        ),
        (
            faults.refuse(ANY, "*", 500).nth(2).times(3),
            [false, true, true, true, false, false],
        ),
        (
            faults.refuse(ANY, "*", 500).times(3).nth(2),
            [false, true, true, true, false, false],
        ),
        (faults.refuse(ANY, "*", 500), [true; 6]),
    ] {
        let description = format!("{fault:?}");
        let fault = fault.start();
        assert_eq!(codes().await, on(met), "{description}");
        assert_eq!(fault.hits(), met.iter().filter(|met| **met).count() as u64);
        fault.remove();
        assert_eq!(codes().await, ok);
    }
    // The name of what is created is in the body.
    faults.refuse(POST, "configmaps", 500).name("d");
    assert_eq!(client.post(CONFIGMAPS, configmap("c", 1)).await.code, 201);
    assert_eq!(client.post(CONFIGMAPS, configmap("d", 1)).await.code, 500);
    faults.clear();
    assert_eq!(client.post(CONFIGMAPS, configmap("d", 1)).await.code, 201);
}

#[tokio::test(start_paused = true)]
async fn an_applied_fault_spoils_only_the_answer() {
    let client = Client::empty();
    let faults = client.sim.faults();
    faults.refuse(POST, "configmaps", 504).applied().times(1);
    assert_eq!(client.post(CONFIGMAPS, configmap("a", 1)).await.code, 504);
    assert_eq!(client.get(A).await.code, 200);
    faults.cut(DELETE, "configmaps").times(1);
    assert_eq!(
        broken(&client, Method::DELETE, A).await,
        io::ErrorKind::ConnectionReset
    );
    assert_eq!(client.get(A).await.code, 200);
    faults.cut(DELETE, "configmaps").applied().times(1);
    assert_eq!(
        broken(&client, Method::DELETE, A).await,
        io::ErrorKind::ConnectionReset
    );
    assert_eq!(client.get(A).await.code, 404);

    faults.silence(POST, "configmaps").applied().times(1);
    let never = client.post(CONFIGMAPS, configmap("a", 1));
    assert!(
        tokio::time::timeout(Duration::from_secs(3600), never)
            .await
            .is_err()
    );
    assert_eq!(client.get(A).await.code, 200);
}

#[tokio::test(start_paused = true)]
async fn delays_add_up_and_the_oldest_answer_counts() {
    let client = Client::empty();
    let faults = client.sim.faults();
    faults.delay(LIST, "configmaps", Duration::from_secs(3));
    faults.delay(ANY, "configmaps", Duration::from_secs(4)).applied();
    faults.refuse(LIST, "configmaps", 503).times(1);
    faults.answer(LIST, "*", Answer::json("5"));
    let start = Instant::now();
    assert_eq!(client.get(CONFIGMAPS).await.code, 503);
    assert_eq!(start.elapsed().as_secs(), 7);
    assert_eq!(client.get(CONFIGMAPS).await.json(), 5);
}

#[tokio::test(start_paused = true)]
async fn answers_break_off() {
    let client = Client::empty();
    client.configmaps(&["a"]);
    let whole = body(&client, CONFIGMAPS).await.0;
    client.sim.faults().truncate(LIST | WATCH, "configmaps");
    let (half, broke) = body(&client, CONFIGMAPS).await;
    assert!(
        broke && whole.starts_with(&half) && half.len() == (whole.len() - 1) / 2,
        "{half}"
    );
    let (frame, broke) = body(&client, &format!("{CONFIGMAPS}?watch=true")).await;
    assert!(
        broke && frame.starts_with("{\"type\":\"ADDED\"") && !frame.contains('\n'),
        "{frame}"
    );
}

#[tokio::test(start_paused = true)]
async fn watches_are_cut_and_begin_anew() {
    let client = Client::empty();
    client.configmaps(&["a"]);
    let path = format!("{CONFIGMAPS}?watch=true&timeoutSeconds=60");
    let open = |path: String| {
        let opened = client.open(request(Method::GET, &path));
        async { opened.await.into_body() }
    };
    let (mut maps, mut pods) = (
        open(path.clone()).await,
        open("/api/v1/pods?watch=true&timeoutSeconds=60".into()).await,
    );
    maps.frame().await.unwrap().unwrap();
    client.sim.faults().cut_watches::<ConfigMap>();
    let error = maps.frame().await.unwrap().unwrap_err();
    assert_eq!(
        error.downcast::<io::Error>().unwrap().kind(),
        io::ErrorKind::ConnectionReset
    );
    assert!(maps.frame().await.is_none());
    let mut again = open(path).await;
    again.frame().await.unwrap().unwrap();
    assert!(again.frame().await.is_none(), "its time is over");
    assert!(pods.frame().await.is_none(), "the others were not cut");
}

#[tokio::test(start_paused = true)]
async fn watches_that_are_held_miss_nothing() {
    let client = Client::empty();
    client.configmaps(&["a"]);
    let path = format!("{CONFIGMAPS}?watch=true");
    let mut early = client.watch(&path).await;
    assert_eq!(early.event().await.1, "a");
    let held = client.sim.faults().hold_watches::<ConfigMap>().start();
    let mut late = client.watch(&path).await;
    client.configmaps(&["b"]);
    client
        .store()
        .delete("v1", "ConfigMap", Some("default"), "a")
        .unwrap();
    assert!(
        early.is_silent(Duration::from_secs(600)).await && late.is_silent(Duration::from_secs(600)).await
    );
    held.remove();
    assert_eq!(late.event().await.1, "a");
    for watch in [&mut early, &mut late] {
        let events =
            [watch.event().await, watch.event().await].map(|(kind, name, _)| format!("{kind} {name}"));
        assert_eq!(events, ["ADDED b", "DELETED a"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_continued_list_expires_when_it_is_told_to() {
    let client = Client::empty();
    client.configmaps(&["a", "b", "c"]);
    client.sim.faults().expire_continue("configmaps").times(1);
    let page = async |token: &Value| {
        let token = token.as_str().unwrap_or("");
        client
            .get(&format!("{CONFIGMAPS}?limit=1&continue={token}"))
            .await
    };
    let first = page(&Value::Null).await.ok();
    let expired = page(&first["metadata"]["continue"]).await;
    assert_eq!(expired.refusal().0, 410);
    assert_eq!(page(&expired.json()["metadata"]["continue"]).await.names(), ["b"]);
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_may_never_say_that_it_is_complete() {
    let client = Client::empty();
    client.configmaps(&["a"]);
    let query = "watch=true&timeoutSeconds=9&allowWatchBookmarks=true&sendInitialEvents=true";
    let path = format!("{CONFIGMAPS}?{query}&resourceVersionMatch=NotOlderThan");
    client
        .sim
        .faults()
        .withhold_initial_events_end("configmaps")
        .times(1);
    let rest = client.watch(&path).await.rest().await;
    assert_eq!(
        rest,
        ["ADDED a", "BOOKMARK"],
        "the last one is that before the end"
    );
    assert_eq!(client.watch(&path).await.rest().await.len(), 3);
}

/// A watch cache that is stuck: old states where they are allowed, new ones where they are asked for, and what was seen
/// already once more.
#[tokio::test(start_paused = true)]
async fn stale_reads_are_as_old_as_the_api_allows() {
    let client = Client::empty();
    let first = client.configmaps(&["a"])[0];
    let stale = client.sim.faults().stale_reads::<ConfigMap>().start();
    let second = client.configmaps(&["b"])[0];
    let names = async |query: &str| client.get(&format!("{CONFIGMAPS}?{query}")).await.names();
    assert_eq!(names("resourceVersion=0").await, ["a"]);
    assert_eq!(names(&format!("resourceVersion={first}")).await, ["a"]);
    assert_eq!(names(&format!("resourceVersion={second}")).await, ["a", "b"]);
    assert_eq!(names("").await, ["a", "b"]);
    let b = format!("{CONFIGMAPS}/b");
    assert_eq!(client.get(&format!("{b}?resourceVersion=0")).await.code, 404);
    assert_eq!(client.get(&b).await.code, 200);
    let list = client.get(&format!("{CONFIGMAPS}?resourceVersion=0")).await.ok();
    assert_eq!(version(&list), first);
    let mut watch = client
        .watch(&format!(
            "{CONFIGMAPS}?watch=true&resourceVersion=0&timeoutSeconds=1"
        ))
        .await;
    assert_eq!(watch.rest().await, ["ADDED a", "ADDED b"]);
    stale.remove();
    assert_eq!(names("resourceVersion=0").await, ["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn a_restart_loses_the_watch_history_and_nothing_else() {
    let client = Client::empty();
    let made = client.configmaps(&["a", "b"]);
    let path = format!(
        "{CONFIGMAPS}?watch=true&timeoutSeconds=1&resourceVersion={}",
        made[0]
    );
    let open = client.open(request(Method::GET, &path)).await;
    client.sim.faults().restart();
    assert!(open.into_body().collect().await.is_err());
    let event = client.watch(&path).await.next().await.unwrap();
    assert_eq!(
        (&event["type"], &event["object"]["code"]),
        (&json!("ERROR"), &json!(410))
    );
    assert_eq!(client.get(CONFIGMAPS).await.names(), ["a", "b"]);
    let newest = format!(
        "{CONFIGMAPS}?watch=true&timeoutSeconds=1&resourceVersion={}",
        made[1]
    );
    assert_eq!(client.watch(&newest).await.rest().await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_restored_cluster_is_as_it_was() {
    let client = Client::empty();
    let owner = client
        .post(CONFIGMAPS, json!({"metadata": {"name": "owner"}}))
        .await
        .ok();
    let reference = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"], "blockOwnerDeletion": true,
    });
    let child = json!({"metadata": {"name": "child", "finalizers": ["example.com/f"], "ownerReferences": [reference]}});
    client.post(CONFIGMAPS, child).await.ok();
    let foreground = json!({"propagationPolicy": "Foreground"});
    client
        .delete(&format!("{CONFIGMAPS}/owner"), foreground)
        .await
        .ok();
    let backup = client.sim.faults().backup();
    let then = client.store().resource_version();
    let end = async || {
        let patch = json!({"metadata": {"finalizers": null}});
        client.merge(&format!("{CONFIGMAPS}/child"), patch).await
    };
    end().await.ok();
    client.store().create(crate::client::widget_definition()).unwrap();
    assert_eq!(client.get(CONFIGMAPS).await.names(), [""; 0]);

    client.sim.faults().restore(&backup);
    assert_eq!(client.store().resource_version(), then);
    assert_eq!(client.get(CONFIGMAPS).await.names(), ["child", "owner"]);
    assert_eq!(client.get(WIDGETS).await.code, 404);
    // What was going on then goes on: the owner waits for its child, and follows it.
    end().await.ok();
    assert_eq!(client.get(CONFIGMAPS).await.names(), [""; 0]);
}

#[tokio::test]
async fn the_seed_decides_by_chance() {
    let codes = async |seed| {
        let client = Client::new(Sim::builder().seed(seed).build().unwrap());
        client.sim.faults().refuse(LIST, "pods", 503).probability(0.3);
        let mut codes = Vec::new();
        for _ in 0..200 {
            codes.push(client.get("/api/v1/pods").await.code);
        }
        codes
    };
    let (one, again, other) = (codes(1).await, codes(1).await, codes(2).await);
    assert!(one == again && one != other);
    let refused = one.iter().filter(|code| **code == 503).count();
    assert!((30..90).contains(&refused), "{refused} of 200");
}

#[tokio::test]
async fn faults_are_made_from_outside_if_that_is_asked_for() {
    let endpoint = "/kube-sim/faults";
    let closed = Client::empty();
    assert_eq!(closed.get(endpoint).await.code, 404);
    let client = Client::new(Sim::builder().control_endpoint().build().unwrap());
    let fault = json!({
        "verbs": ["update", "patch"], "resource": "configmaps", "times": 2,
        "fault": {"refuse": {"code": 409, "retryAfterSeconds": 3}},
    });
    let made = client.post(endpoint, fault).await;
    assert_eq!((made.code, made.json()), (201, json!({"id": 1})));
    client.configmaps(&["a"]);
    let conflict = client.merge(A, json!({})).await;
    assert_eq!(
        (conflict.code, &conflict.headers["retry-after"]),
        (409, &"3".parse().unwrap())
    );
    let list = client.get(endpoint).await.ok();
    let shown = json!([{
        "id": 1, "hits": 1, "verbs": ["update", "patch"], "resource": "configmaps", "skip": 0, "times": 2,
        "applied": false, "fault": {"refuse": {"code": 409, "retryAfterSeconds": 3}},
    }]);
    assert_eq!(list["faults"], shown);
    assert_eq!(
        client.delete(&format!("{endpoint}/1"), json!(null)).await.code,
        200
    );
    assert_eq!(client.merge(A, json!({})).await.code, 200);
    for fault in [
        json!({"delay": 5}),
        json!("cut"),
        json!("truncate"),
        json!("silence"),
        json!("expireContinue"),
        json!("withholdInitialEventsEnd"),
        json!("holdWatches"),
        json!("staleReads"),
    ] {
        let rule = json!({"verbs": ["*"], "resource": "pods", "fault": fault});
        assert_eq!(client.post(endpoint, rule).await.code, 201, "{fault}");
    }
    assert_eq!(client.delete(endpoint, json!(null)).await.code, 200);
    for (rule, why) in [
        (
            json!({"verbs": ["read"], "resource": "pods", "fault": "cut"}),
            "no verb \"read\": use get, list",
        ),
        (
            json!({"verbs": ["get"], "resource": "pods", "fault": "bogus"}),
            "unknown variant `bogus`",
        ),
        (
            json!({"verbs": ["get"], "fault": "cut"}),
            "missing field `resource`",
        ),
        (
            json!({"verbs": ["get"], "resource": "pods", "fault": "cut", "probability": 2}),
            "must be from 0 to 1",
        ),
    ] {
        let (code, _, message) = client.post(endpoint, rule).await.refusal();
        assert!(code == 400 && message.contains(why), "{message}");
    }
    assert_eq!(client.post("/kube-sim/restart", json!({})).await.code, 200);
    let log = client.get("/kube-sim/requests").await.ok();
    assert!(
        log["requests"]
            .as_array()
            .unwrap()
            .contains(&json!(format!("PATCH {A}")))
    );
}

#[tokio::test]
async fn a_broken_connection_breaks_over_a_socket_too() {
    let server = SimServer::builder().start().await.unwrap();
    let mut config = kube::Config::new(server.url().parse().unwrap());
    config.default_retry = false;
    let pods = kube::Api::<Pod>::all(kube::Client::try_from(config).unwrap());
    for fault in [
        server.faults().cut(LIST, "pods"),
        server.faults().truncate(LIST, "pods"),
    ] {
        let fault = fault.times(1).start();
        assert!(pods.list(&Default::default()).await.is_err());
        assert_eq!(fault.hits(), 1);
        assert!(pods.list(&Default::default()).await.is_ok());
    }
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn eventually_waits_for_anything_or_tells_what_was_asked() {
    let client = Client::empty();
    let store = client.store();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(5)).await;
        store.create(configmap("a", 1)).unwrap();
    });
    let start = Instant::now();
    let get = async || client.store().get("v1", "ConfigMap", Some("default"), "a").ok();
    assert_eq!(client.sim.eventually(get).await.unwrap()["data"]["k"], "v");
    assert_eq!(start.elapsed().as_secs(), 5);

    // Also for what is no object.
    let mut n = 0;
    let third = client.sim.eventually(|| {
        n += 1;
        std::future::ready((n == 3).then_some(n))
    });
    assert_eq!(third.await.unwrap(), 3);

    // Also on another thread.
    let sim = client.sim.clone();
    let there = tokio::spawn(async move {
        let found = async || sim.store().get("v1", "ConfigMap", Some("default"), "a").ok();
        sim.eventually(found).await
    });
    assert!(there.await.unwrap().is_ok());

    client.get("/api/v1/pods?limit=5").await;
    for _ in 0..30 {
        client.get("/api/v1/nodes").await;
    }
    let never = client
        .sim
        .eventually_within(Duration::from_secs(2), async || None::<()>);
    let error = never.await.unwrap_err().to_string();
    assert_eq!(
        error,
        "this did not come true within 2s; the last requests:\n  GET /api/v1/pods?limit=5\n  GET /api/v1/nodes (30 times)"
    );
}
