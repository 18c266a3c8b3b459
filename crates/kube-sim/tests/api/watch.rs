//! WATCH, as a real kube-apiserver 1.36 answers it; on a paused clock.

use std::time::Duration;

use crate::client::{CONFIGMAPS, Client, WIDGETS, configmap, version, widget, with_widgets};
use kube_sim::Sim;
use serde_json::json;
use tokio::time::Instant;

const INITIAL: &str =
    "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

fn update(client: &Client, name: &str, n: usize) -> u64 {
    version(&client.store().update(configmap(name, n)).unwrap())
}

fn delete(client: &Client, name: &str) -> u64 {
    client
        .store()
        .delete("v1", "ConfigMap", Some("default"), name)
        .unwrap();
    client.store().resource_version()
}

#[tokio::test(start_paused = true)]
async fn a_watch_goes_on_after_any_remembered_version() {
    let client = Client::empty();
    let versions = client.configmaps(&["a", "b"]);
    let updated = update(&client, "a", 5);
    let deleted = delete(&client, "b");

    let mut watch = client
        .watch(&format!("{CONFIGMAPS}?watch=1&resourceVersion={}", versions[0]))
        .await;
    assert_eq!(watch.event().await, ("ADDED".into(), "b".into(), versions[1]));
    assert_eq!(watch.event().await, ("MODIFIED".into(), "a".into(), updated));
    // The last state, under the version of the deletion.
    assert_eq!(watch.event().await, ("DELETED".into(), "b".into(), deleted));
    assert!(watch.is_silent(Duration::from_secs(60)).await);
    // And live.
    let created = version(&client.store().create(configmap("c", 0)).unwrap());
    assert_eq!(watch.event().await, ("ADDED".into(), "c".into(), created));
}

#[tokio::test(start_paused = true)]
async fn events_carry_kind_and_body() {
    let client = Client::empty();
    let mut watch = client.watch(&format!("{CONFIGMAPS}?watch=true")).await;
    client.configmaps(&["a"]);
    let event = watch.next().await.unwrap();
    assert_eq!(event["object"], client.get(&format!("{CONFIGMAPS}/a")).await.ok());
    let mut deleted = event["object"].clone();
    deleted["metadata"]["resourceVersion"] = delete(&client, "a").to_string().into();
    assert_eq!(
        watch.next().await.unwrap(),
        json!({"type": "DELETED", "object": deleted})
    );
}

#[tokio::test(start_paused = true)]
async fn without_a_version_the_present_comes_first() {
    let client = Client::empty();
    client.configmaps(&["b", "a"]);
    for query in ["watch=1", "watch=1&resourceVersion=0"] {
        let mut watch = client
            .watch(&format!("{CONFIGMAPS}?{query}&timeoutSeconds=5"))
            .await;
        let started = Instant::now();
        assert_eq!(watch.rest().await, ["ADDED a", "ADDED b"], "{query}");
        assert_eq!(started.elapsed().as_secs(), 5);
    }
    // The old way to say watch.
    let mut watch = client
        .watch("/api/v1/watch/namespaces/default/configmaps?timeoutSeconds=1")
        .await;
    assert_eq!(watch.rest().await, ["ADDED a", "ADDED b"]);
}

#[tokio::test(start_paused = true)]
async fn initial_events_end_with_a_bookmark() {
    let client = with_widgets();
    client.configmaps(&["a", "b"]);
    let newest = client.store().resource_version();
    let mut watch = client
        .watch(&format!("{CONFIGMAPS}?{INITIAL}&labelSelector=n%3D1"))
        .await;
    assert_eq!(watch.event().await.1, "b");
    let bookmark = json!({
        "kind": "ConfigMap", "apiVersion": "v1",
        "metadata": {"resourceVersion": newest.to_string(), "annotations": {"k8s.io/initial-events-end": "true"}},
    });
    assert_eq!(
        watch.next().await.unwrap(),
        json!({"type": "BOOKMARK", "object": bookmark})
    );
    update(&client, "b", 1);
    update(&client, "a", 1);
    // The first one changed nothing.
    assert_eq!(watch.event().await, ("ADDED".into(), "a".into(), newest + 1));

    // Unless bookmarks are not wanted.
    let mut watch = client
        .watch(&format!(
            "{CONFIGMAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1"
        ))
        .await;
    assert_eq!(watch.rest().await, ["ADDED a", "ADDED b"]);
    // No events at all, from now on.
    let mut watch = client
        .watch(&format!(
            "{CONFIGMAPS}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&timeoutSeconds=1"
        ))
        .await;
    assert_eq!(watch.rest().await, [""; 0]);
    // Custom resources too.
    client.store().create(widget("w", 1)).unwrap();
    let mut watch = client
        .watch(&format!("{WIDGETS}?{INITIAL}&timeoutSeconds=1"))
        .await;
    assert_eq!(watch.rest().await, ["ADDED w", "BOOKMARK"]);
}

#[tokio::test(start_paused = true)]
async fn initial_events_of_an_old_version_come_from_the_present() {
    let client = Client::empty();
    client.configmaps(&["a"]);
    client.store().compact(client.store().resource_version());
    let mut watch = client
        .watch(&format!(
            "{CONFIGMAPS}?{INITIAL}&resourceVersion=1&timeoutSeconds=1"
        ))
        .await;
    assert_eq!(watch.rest().await, ["ADDED a", "BOOKMARK"]);
}

#[tokio::test(start_paused = true)]
async fn a_forgotten_version_is_an_error_event() {
    let client = Client::empty();
    let versions = client.configmaps(&["a", "b"]);
    client.store().compact(versions[1]);
    let mut watch = client
        .watch(&format!("{CONFIGMAPS}?watch=1&resourceVersion={}", versions[0]))
        .await;
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 410, "reason": "Expired",
        "message": format!("too old resource version: {} ({})", versions[0], versions[1]),
    });
    assert_eq!(
        watch.next().await.unwrap(),
        json!({"type": "ERROR", "object": status})
    );
    assert_eq!(watch.next().await, None);
    // The oldest one that is left.
    let mut watch = client
        .watch(&format!(
            "{CONFIGMAPS}?watch=1&resourceVersion={}&timeoutSeconds=1",
            versions[1]
        ))
        .await;
    assert_eq!(watch.rest().await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn the_window_has_as_many_changes_as_it_was_given() {
    let client = Client::new(Sim::builder().history(3).build().unwrap());
    let versions = client.configmaps(&["a", "b", "c", "d", "e"]);
    let from = |version: u64| format!("{CONFIGMAPS}?watch=1&timeoutSeconds=1&resourceVersion={version}");
    assert_eq!(
        client.watch(&from(versions[1])).await.rest().await,
        ["ADDED c", "ADDED d", "ADDED e"]
    );
    assert_eq!(client.watch(&from(versions[0])).await.rest().await, ["ERROR"]);
}

/// Nothing is queued for it; it reads from the window, and ends when the window has moved on.
#[tokio::test(start_paused = true)]
async fn a_watch_that_lags_behind_the_window_ends() {
    let client = Client::new(Sim::builder().history(3).build().unwrap());
    client.configmaps(&["a"]);
    let mut watch = client.watch(&format!("{CONFIGMAPS}?watch=1")).await;
    assert_eq!(watch.event().await.1, "a");
    for n in 1..=3 {
        update(&client, "a", n);
    }
    for _ in 1..=3 {
        assert_eq!(watch.event().await.0, "MODIFIED");
    }
    for n in 4..=7 {
        update(&client, "a", n);
    }
    let error = watch.next().await.unwrap();
    assert_eq!(
        (&error["type"], &error["object"]["code"]),
        (&json!("ERROR"), &json!(410))
    );
    assert_eq!(watch.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_version_from_the_future() {
    let client = Client::empty();
    client.configmaps(&["a"]);
    let future = client.store().resource_version() + 2;
    // Initial events wait for it, for 3 seconds.
    let started = Instant::now();
    let mut watch = client
        .watch(&format!("{CONFIGMAPS}?{INITIAL}&resourceVersion=99999"))
        .await;
    let error = watch.next().await.unwrap();
    assert_eq!(
        (
            &error["type"],
            &error["object"]["code"],
            &error["object"]["reason"]
        ),
        (&json!("ERROR"), &json!(504), &json!("Timeout"))
    );
    assert_eq!(
        error["object"]["details"]["causes"][0]["reason"],
        "ResourceVersionTooLarge"
    );
    assert_eq!((watch.next().await, started.elapsed().as_secs()), (None, 3));
    // A plain watch only shows what comes after it.
    let mut watch = client
        .watch(&format!("{CONFIGMAPS}?watch=1&resourceVersion={future}"))
        .await;
    update(&client, "a", 1);
    update(&client, "a", 2);
    assert!(watch.is_silent(Duration::from_secs(100)).await);
    assert_eq!(update(&client, "a", 3), future + 1);
    assert_eq!(watch.event().await.2, future + 1);
}

#[tokio::test(start_paused = true)]
async fn selectors_turn_changes_into_additions_and_deletions() {
    let client = Client::empty();
    client.configmaps(&["a", "b"]);
    let mut watch = client
        .watch(&format!("{CONFIGMAPS}?watch=1&labelSelector=n%3D7"))
        .await;
    let entered = update(&client, "a", 7);
    assert_eq!(watch.event().await, ("ADDED".into(), "a".into(), entered));
    let mut changed = configmap("a", 7);
    changed["data"]["k"] = "w".into();
    client.store().update(changed).unwrap();
    assert_eq!(watch.event().await.0, "MODIFIED");
    let left = update(&client, "a", 8);
    // The last state that was selected, under the version at which it left.
    let event = watch.next().await.unwrap();
    assert_eq!(event["type"], "DELETED");
    assert_eq!(
        (
            version(&event["object"]),
            &event["object"]["metadata"]["labels"]["n"]
        ),
        (left, &json!("7"))
    );
    assert_eq!(event["object"]["data"]["k"], "w");
    // What was not selected is not heard of.
    update(&client, "b", 3);
    delete(&client, "a");
    delete(&client, "b");
    assert!(watch.is_silent(Duration::from_secs(60)).await);

    let mut watch = client
        .watch(&format!("{CONFIGMAPS}?watch=1&fieldSelector=metadata.name%3Dx"))
        .await;
    client.configmaps(&["w", "x"]);
    assert_eq!(watch.event().await.1, "x");
}

#[tokio::test(start_paused = true)]
async fn a_namespace_sees_only_its_own() {
    let client = Client::empty();
    let mut one = client
        .watch("/api/v1/namespaces/kube-system/configmaps?watch=1&timeoutSeconds=1")
        .await;
    let mut all = client.watch("/api/v1/configmaps?watch=1&timeoutSeconds=1").await;
    client.configmaps(&["a"]);
    assert_eq!(all.rest().await, ["ADDED a"]);
    assert_eq!(one.rest().await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn bookmarks_come_at_their_interval_and_before_the_end() {
    let client = Client::empty();
    client.configmaps(&["a"]);
    let position = client.store().resource_version();
    let query = format!("watch=1&allowWatchBookmarks=true&resourceVersion={position}&timeoutSeconds=100");
    let mut watch = client.watch(&format!("{CONFIGMAPS}?{query}")).await;
    let started = Instant::now();
    // Another resource changes: the bookmark says that nothing was missed.
    client
        .store()
        .create(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}}))
        .unwrap();
    assert_eq!(watch.event().await, ("BOOKMARK".into(), "".into(), position + 1));
    assert_eq!(started.elapsed().as_secs(), 60);
    assert_eq!(watch.event().await.0, "BOOKMARK");
    assert_eq!(started.elapsed().as_secs(), 98);
    assert_eq!(watch.next().await, None);
    assert_eq!(started.elapsed().as_secs(), 100);

    let query = format!("watch=1&resourceVersion={position}&timeoutSeconds=100");
    assert_eq!(
        client.watch(&format!("{CONFIGMAPS}?{query}")).await.rest().await,
        [""; 0]
    );
    let often = Client::new(
        Sim::builder()
            .bookmark_interval(Duration::from_secs(10))
            .build()
            .unwrap(),
    );
    let mut watch = often
        .watch(&format!(
            "{CONFIGMAPS}?watch=1&allowWatchBookmarks=true&timeoutSeconds=35"
        ))
        .await;
    // The first ends the initial events, of which there are none.
    assert_eq!(watch.rest().await, ["BOOKMARK"; 5]);
    for events in ["/api/v1/events", "/apis/events.k8s.io/v1/events"] {
        let query = format!("watch=1&allowWatchBookmarks=true&resourceVersion={position}&timeoutSeconds=100");
        let mut watch = client.watch(&format!("{events}?{query}")).await;
        assert_eq!(watch.rest().await, [""; 0], "a real server does not cache events");
        let query = "watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=100";
        let mut watch = client.watch(&format!("{events}?{query}")).await;
        assert_eq!(watch.rest().await, ["BOOKMARK"], "the end of the initial events");
    }
}

/// So does a real server: who watches from a version of another history learns nothing by it.
#[tokio::test(start_paused = true)]
async fn a_watch_from_a_version_to_come_is_silent_until_then() {
    let client = Client::empty();
    client.configmaps(&["a"]);
    let future = client.store().resource_version() + 2;
    let query = format!("watch=1&allowWatchBookmarks=true&resourceVersion={future}&timeoutSeconds=100");
    let watch = async || client.watch(&format!("{CONFIGMAPS}?{query}")).await;
    assert_eq!(watch().await.rest().await, [""; 0]);
    let mut watch = watch().await;
    client.configmaps(&["b", "c", "d"]);
    assert_eq!(watch.event().await, ("ADDED".into(), "d".into(), future + 1));
    assert_eq!(watch.event().await.0, "BOOKMARK");
}

#[tokio::test(start_paused = true)]
async fn bookmarks_come_though_changes_never_rest() {
    let client = Client::empty();
    client.configmaps(&["a"]);
    let store = client.store();
    let start = store.resource_version();
    let changes = tokio::spawn(async move {
        for n in 0.. {
            tokio::time::sleep(Duration::from_millis(100)).await;
            store.update(configmap("a", n)).unwrap();
        }
    });
    let mut watch = client
        .watch(&format!(
            "{CONFIGMAPS}?watch=1&allowWatchBookmarks=true&timeoutSeconds=70&resourceVersion={start}"
        ))
        .await;
    let mut last = 0;
    let mut bookmarks = 0;
    while let Some(event) = watch.next().await {
        let seen = version(&event["object"]);
        assert!(seen >= last, "versions do not go back");
        last = seen;
        bookmarks += usize::from(event["type"] == "BOOKMARK");
    }
    assert_eq!(bookmarks, 2);
    changes.abort();
}

/// Without a timeout the server ends it after half an hour to an hour.
#[tokio::test(start_paused = true)]
async fn no_watch_is_for_ever() {
    let client = Client::empty();
    let started = Instant::now();
    assert_eq!(
        client.watch(&format!("{CONFIGMAPS}?watch=1")).await.rest().await,
        [""; 0]
    );
    assert!(
        (1800..3600).contains(&started.elapsed().as_secs()),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn closing_ends_watches() {
    let client = Client::new(Sim::builder().pods(2).churn(10.0).build().unwrap());
    let mut watch = client.watch("/api/v1/pods?watch=1").await;
    let mut quiet = client.watch(&format!("{CONFIGMAPS}?watch=1")).await;
    watch.event().await;
    client.sim.close().await;
    assert_eq!(quiet.next().await, None);
    watch.rest().await;
    // New ones end at once too; lists still work.
    assert_eq!(client.watch("/api/v1/pods?watch=1").await.next().await, None);
    assert_eq!(client.get("/api/v1/pods").await.code, 200);
}

#[tokio::test]
async fn contradictory_options_are_refused() {
    let client = Client::empty();
    let (code, reason, message) = client
        .get(&format!("{CONFIGMAPS}?watch=1&sendInitialEvents=true"))
        .await
        .refusal();
    assert_eq!((code, reason.as_str()), (422, "Invalid"));
    assert_eq!(
        message,
        "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
    );
    assert_eq!(
        client
            .get(&format!("{CONFIGMAPS}?watch=1&resourceVersion=abc"))
            .await
            .code,
        500
    );
    assert_eq!(
        client
            .get(&format!("{CONFIGMAPS}?watch=1&labelSelector=a+b"))
            .await
            .code,
        400
    );
}

#[tokio::test(start_paused = true)]
async fn other_forms_can_be_watched() {
    let client = Client::empty();
    client.configmaps(&["a"]);
    let metadata = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
    let mut watch = client
        .watch_as(&format!("{CONFIGMAPS}?{INITIAL}"), metadata)
        .await;
    let event = watch.next().await.unwrap();
    assert_eq!(
        (&event["object"]["kind"], &event["object"]["data"]),
        (&json!("PartialObjectMetadata"), &json!(null))
    );
    assert_eq!(event["object"]["metadata"]["labels"]["n"], "0");
    let end = watch.next().await.unwrap();
    assert_eq!(
        (&end["type"], &end["object"]["kind"]),
        (&json!("BOOKMARK"), &json!("PartialObjectMetadata"))
    );
    let deleted = delete(&client, "a");
    assert_eq!(watch.event().await, ("DELETED".into(), "a".into(), deleted));

    let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    client.configmaps(&["b"]);
    let mut watch = client.watch_as(&format!("{CONFIGMAPS}?{INITIAL}"), table).await;
    let event = watch.next().await.unwrap();
    assert_eq!(event["object"]["kind"], "Table");
    assert_eq!(event["object"]["rows"][0]["cells"][0], "b");
    let end = watch.next().await.unwrap();
    assert_eq!(
        end["object"]["rows"][0]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"],
        "true"
    );
}

#[tokio::test(start_paused = true)]
async fn ages_in_tables_are_those_of_the_event() {
    let client = Client::new(Sim::builder().build().unwrap());
    client.configmaps(&["a"]);
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    let mut watch = client.watch_as(&format!("{CONFIGMAPS}?{INITIAL}"), table).await;
    let age = |event: &serde_json::Value| event["object"]["rows"][0]["cells"][2].clone();
    assert_eq!(age(&watch.next().await.unwrap()), "0s");
    watch.next().await.unwrap();
    tokio::time::sleep(Duration::from_secs(90)).await;
    update(&client, "a", 1);
    assert_eq!(age(&watch.next().await.unwrap()), "90s");
}

#[tokio::test]
async fn a_watch_ends_with_the_definition_it_was_made_under() {
    let client = with_widgets();
    let store = client.store();
    store.create(widget("w", 1)).unwrap();
    let from = format!("{WIDGETS}?watch=1&resourceVersion={}", store.resource_version());
    let definition = store.get(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        None,
        "widgets.sim.example",
    );
    let mut definition = definition.unwrap();

    // A label of the definition is nothing to its objects; what it defines is.
    let mut watch = client.watch(&from).await;
    definition["metadata"]["labels"] = json!({"a": "b"});
    store.update(definition.clone()).unwrap();
    store.update(widget("w", 2)).unwrap();
    assert_eq!(watch.next().await.unwrap()["type"], "MODIFIED");
    definition["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("resourceVersion");
    definition["spec"]["names"]["shortNames"] = json!(["wdgt"]);
    store.update(definition).unwrap();
    assert_eq!(watch.next().await, None);

    let mut watch = client.watch(&from).await;
    assert_eq!(watch.next().await.unwrap()["type"], "MODIFIED");
    store
        .delete(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            None,
            "widgets.sim.example",
        )
        .unwrap();
    assert_eq!(watch.rest().await, ["DELETED w"]);
}

/// No number that a client sends ends the server: as large as they come, they mean what they mean to a real server.
#[tokio::test(start_paused = true)]
async fn timeouts_as_long_as_they_come_do_not_end_a_watch() {
    let sim = Sim::builder().bookmark_interval(Duration::MAX).build().unwrap();
    let client = Client::new(sim);
    for timeout in ["9223372036", "31536000"] {
        let path = format!("{CONFIGMAPS}?watch=1&allowWatchBookmarks=true&timeoutSeconds={timeout}");
        let mut watch = client.watch(&path).await;
        assert_eq!(watch.event().await.0, "BOOKMARK", "the end of what was there");
        assert!(watch.is_silent(Duration::from_secs(7200)).await, "{timeout}");
        client
            .get(&format!("{CONFIGMAPS}?timeoutSeconds={timeout}&limit={timeout}"))
            .await
            .ok();
    }
    // As a real server's nanoseconds, more wraps.
    for timeout in ["9223372036854775807", "9223372037", "-1", "-9223372036854775808"] {
        let path = format!("{CONFIGMAPS}?watch=1&timeoutSeconds={timeout}");
        assert_eq!(client.watch(&path).await.next().await, None, "{timeout}");
    }
    for number in ["9223372036854775808", "-9223372036854775809"] {
        for parameter in ["timeoutSeconds", "limit"] {
            let path = format!("{CONFIGMAPS}?{parameter}={number}");
            assert_eq!(client.get(&path).await.code, 400, "{path}");
        }
    }
    let huge = u64::MAX;
    let (code, reason, _) = client
        .get(&format!("{CONFIGMAPS}?resourceVersion={huge}"))
        .await
        .refusal();
    assert_eq!((code, reason.as_str()), (504, "Timeout"));
    let (code, _, _) = client
        .get(&format!("{CONFIGMAPS}/a?resourceVersion={huge}"))
        .await
        .refusal();
    assert_eq!(code, 504);
    let mut watch = client
        .watch(&format!("{CONFIGMAPS}?watch=1&resourceVersion={huge}"))
        .await;
    assert!(watch.is_silent(Duration::from_secs(60)).await);
}
