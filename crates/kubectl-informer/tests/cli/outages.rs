//! What `watch` says of failures: when it reconnects, why, and what it missed.

use crate::process::{Running, run};
use crate::{config_map, in_its_place, scripted};
use kube_sim::SimServer;
use kube_sim::faults::{LIST, WATCH};
use kube_sim::script::{Answer, Kind, event, status};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::time::Duration;

const MAPS: &str = "configmaps";

fn create(server: &SimServer, names: &[&str]) {
    for name in names {
        server.store().create(config_map("default", name, "web")).unwrap();
    }
}

fn change(server: &SimServer, name: &str) {
    server.store().update(config_map("default", name, "db")).unwrap();
}

fn delete(server: &SimServer, name: &str) {
    server
        .store()
        .delete("v1", "ConfigMap", Some("default"), name)
        .unwrap();
}

/// The lines up to the one that says that the connection is back.
async fn until_back(watch: &mut Running) -> (Vec<Value>, Value) {
    let mut lines = watch.until("reconnected").await;
    let back = lines.pop().unwrap();
    lines.retain(|line| line["event"] != "error");
    (lines, back)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_version_is_told_with_what_was_missed() {
    let server = SimServer::builder().start().await.unwrap();
    create(&server, &["a", "b"]);
    let mut watch = Running::start(&format!("watch cm -o json --server {}", server.url()));
    watch.until("synced").await;
    let away = server.faults().refuse(WATCH, MAPS, 503).start();
    server.faults().cut_watches_of(MAPS);
    watch
        .said("configmaps in namespace \"default\": reconnecting: ")
        .await;
    delete(&server, "a");
    change(&server, "b");
    create(&server, &["c"]);
    server.faults().compact();
    away.remove();

    let (told, back) = until_back(&mut watch).await;
    let told: Vec<_> = told
        .iter()
        .map(|line| (&line["event"], &line["key"], line["tombstone"] == true))
        .collect();
    assert_eq!(
        told,
        [
            (&json!("delete"), &json!("default/a"), true),
            (&json!("update"), &json!("default/b"), false),
            (&json!("add"), &json!("default/c"), false),
        ]
    );
    assert_eq!(back["missed"], json!({"added": 1, "updated": 1, "deleted": 1}));
    let said = watch.said("back after").await;
    assert!(
        said.ends_with("; listed again, missed 1 added, 1 updated, 1 deleted"),
        "{said}"
    );
}

/// Servers tell so of a watch that they have accepted.
#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_expires_in_a_watch_is_one_outage() {
    let maps = Kind::new("v1", "ConfigMap");
    let mut asked = (0, 0);
    let (_server, listener) = scripted::server(move |request| {
        let (lists, watches) = &mut asked;
        match request.parameter("watch") {
            None => {
                *lists += 1;
                Answer::json(match lists {
                    1 => maps.list("5", [maps.object("default/a", "5")]),
                    _ => maps.list("9", [maps.object("default/b", "9")]),
                })
            }
            Some(_) => {
                *watches += 1;
                match watches {
                    1 => Answer::watch([event("MODIFIED", &maps.object("default/a", "6"))]).close(),
                    2 => Answer::status(503, "ServiceUnavailable", "down").header("Retry-After", "1"),
                    3 => {
                        let expired = status(410, "Expired", "too old resource version");
                        let pause = Duration::from_millis(200);
                        Answer::watch([""; 0])
                            .pause(pause)
                            .chunk(event("ERROR", &expired))
                    }
                    _ => Answer::watch([""; 0]).open(),
                }
            }
        }
    })
    .await;
    let args = format!("watch cm --initial list -o json --server {}", listener.url());
    let mut watch = Running::start(&args);
    let lines = watch.until("reconnected").await;
    let back = lines.last().unwrap();
    assert_eq!(back["missed"], json!({"added": 1, "updated": 0, "deleted": 1}));
    let why = watch.said("reconnecting").await;
    assert!(why.contains("down"), "{why}");
    let said = watch.said("back after").await;
    assert!(
        said.ends_with("; listed again, missed 1 added, 0 updated, 1 deleted"),
        "{said}"
    );
    // The pause before the watch is asked for again is a part of it.
    assert!(!said.contains("ms"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_that_is_resumed_has_missed_nothing() {
    let server = SimServer::builder().start().await.unwrap();
    create(&server, &["a"]);
    let mut watch = Running::start(&format!("watch cm -o json --server {}", server.url()));
    watch.until("synced").await;
    // A watch that ends at once without any event is followed by a list.
    change(&server, "a");
    watch.until("update").await;
    let away = server.faults().refuse(WATCH, MAPS, 429).start();
    server.faults().cut_watches_of(MAPS);
    let why = watch.said("reconnecting").await;
    assert!(why.contains("429"), "{why}");
    create(&server, &["b"]);
    away.remove();

    let said = watch.said("back after").await;
    assert!(said.ends_with("; the watch goes on where it was"), "{said}");
    let mut told: Vec<Value> = Vec::new();
    let has = |told: &[Value], event: &str| told.iter().any(|line| line["event"] == event);
    while !(has(&told, "add") && has(&told, "reconnected")) {
        told.push(watch.json().await);
    }
    let back = told.iter().find(|line| line["event"] == "reconnected").unwrap();
    assert_eq!(back.get("missed"), None, "nothing was listed, so it is not known");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_is_not_back_before_another_one_is_open() {
    let server = SimServer::builder().start().await.unwrap();
    create(&server, &["a"]);
    let mut watch = Running::start(&format!("watch cm -o json --server {}", server.url()));
    watch.until("synced").await;
    // A watch that ends at once without any event is followed by a list.
    change(&server, "a");
    watch.until("update").await;
    let away = server.faults().refuse(WATCH, MAPS, 429).times(2).start();
    server.faults().cut_watches_of(MAPS);

    watch.until("reconnected").await;
    assert_eq!(away.hits(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resource_that_goes_away_is_not_served() {
    let server = SimServer::builder().start().await.unwrap();
    let mut watch = Running::start(&format!("watch cm --server {}", server.url()));
    watch.said("synced").await;
    let gone = server.faults().refuse(LIST | WATCH, MAPS, 404).start();
    server.faults().cut_watches_of(MAPS);
    watch.said("not served, asking again: ").await;
    gone.remove();
    watch.said("back after").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_server_in_its_place_is_told_to_people() {
    let first = SimServer::builder().start().await.unwrap();
    let port = first.address().port();
    create(&first, &["a", "b"]);
    let mut watch = Running::start(&format!("watch cm --server {}", first.url()));
    let synced = watch.said("synced").await;
    assert!(
        synced.starts_with("synced: 2 configmaps in namespace \"default\" at resource version "),
        "{synced}"
    );
    first.shutdown().await;
    let why = watch.said("reconnecting").await;
    assert!(
        why.contains("cannot reach the server: cannot connect: tcp connect error"),
        "{why}"
    );

    // The other `b` is deleted and added.
    let second = in_its_place(port).await;
    create(&second, &["b"]);
    let back = watch.said("back after").await;
    assert!(
        back.contains("listed again, missed 1 added, 0 updated, 2 deleted"),
        "{back}"
    );
    create(&second, &["c"]);
    let mut rows = Vec::new();
    while rows.len() < 7 {
        rows.push(watch.line().await);
    }
    assert!(
        rows.iter().filter(|row| row.starts_with("tombstone")).count() == 2,
        "{rows:?}"
    );
    assert!(rows[6].starts_with("add") && rows[6].contains(" c "), "{rows:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_without_objects_is_named() {
    let server = SimServer::builder().start().await.unwrap();
    let at = format!("--server {}", server.url());
    for (args, expected) in [
        (
            "",
            "no configmaps in namespace \"default\"; -A watches all namespaces",
        ),
        (
            "-n nowhere",
            "no configmaps in namespace \"nowhere\"; there is no such namespace",
        ),
        ("-A", "no configmaps in any namespace"),
    ] {
        let mut watch = Running::start(&format!("watch cm {args} -o json {at}"));
        let synced = watch.until("synced").await.pop().unwrap();
        assert_eq!(synced["message"], expected, "{args}");
        let mut watch = Running::start(&format!("watch cm {args} {at}"));
        let said = watch.said("synced").await;
        let (none, why) = expected.split_once(';').unwrap_or((expected, ""));
        assert!(
            said.starts_with(&format!("synced: {none} at resource version ")),
            "{said}"
        );
        assert!(said.ends_with(why), "{said}");
    }
    let mut watch = Running::start(&format!("watch cm/a -o json {at}"));
    let synced = watch.until("synced").await.pop().unwrap();
    let expected = "no configmap/a in namespace \"default\"; -A watches all namespaces";
    assert_eq!(synced["message"], expected);
    create(&server, &["a"]);
    let said = Running::start(&format!("watch cm {at}")).said("synced").await;
    assert!(
        said.starts_with("synced: 1 configmap in namespace \"default\""),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_sync_is_told_with_the_reason() {
    let (_server, listener) = scripted::server(|_| Answer::never()).await;
    let args = format!("watch cm --initial list --server {}", listener.url());
    let mut watch = Running::start(&args);
    let said = watch.said("not synced yet").await;
    assert!(
        said.starts_with("configmaps in namespace \"default\": not synced yet: "),
        "{said}"
    );
    watch.signal(Signal::SIGTERM);
    assert_eq!(watch.exit_code().await, Some(0));

    let mut watch = Running::start(&format!("{args} -o json"));
    assert_eq!(watch.json().await["event"], "unsynced");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_object_is_told_without_its_content() {
    let (_server, listener) = scripted::server(|request| match request.parameter("watch") {
        Some(_) => Answer::never(),
        None => {
            let maps = Kind::new("v1", "ConfigMap");
            let mut bad = maps.object("default/bad", "5");
            bad["metadata"]["labels"] = json!("hunter2");
            Answer::json(maps.list("5", [bad]))
        }
    })
    .await;
    let args = format!("watch cm --initial list -o json --server {}", listener.url());
    let mut watch = Running::start(&args);
    let error = watch.until("error").await.pop().unwrap();
    assert_eq!(error["class"], "decode");
    let said = watch.said("default/bad").await;
    assert!(!said.contains("hunter2"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn exit_codes_are_in_the_help() {
    for args in ["--help", "watch --help"] {
        let help = run(args).await.out;
        for text in ["Exit codes", "124", "130", "usage"] {
            assert!(help.contains(text), "{args}: {text}: {help}");
        }
    }
    // Each command has its whole description.
    for (command, text) in [
        ("watch", "the informer recovers and prints what it missed"),
        ("replay", "The server listens on a port of 127.0.0.1"),
        ("advise", "Each estimate says how it was made"),
    ] {
        let help = run(&format!("{command} --help")).await.out;
        assert!(help.contains(text), "{help}");
    }
}

/// The request is repeated every few seconds, and the server says the same each time.
#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_told_once() {
    let server = SimServer::builder().start().await.unwrap();
    let refused = server.faults().refuse(LIST | WATCH, MAPS, 403).start();
    let mut watch = Running::start(&format!("watch cm -o json --server {}", server.url()));
    let why = watch.json().await;
    assert_eq!(
        (&why["event"], &why["class"]),
        (&json!("error"), &json!("forbidden")),
        "{why}"
    );
    let message = why["message"].as_str().unwrap();
    assert!(
        message.ends_with("; it takes the verbs list and watch on configmaps"),
        "{message}"
    );
    // Others that are told are those of the time that it takes.
    let asked = || {
        server
            .requests()
            .iter()
            .filter(|request| request.path.ends_with(MAPS))
            .count()
    };
    server
        .eventually(async || (asked() > 2).then_some(()))
        .await
        .unwrap();
    refused.remove();
    let lines = watch.until("synced").await;
    assert!(lines.iter().all(|line| line["event"] != "error"), "{lines:?}");
    let said = watch.said("refused, asking again: ").await;
    assert!(
        said.starts_with("configmaps in namespace \"default\": "),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_is_a_resource_is_told() {
    let server = SimServer::builder().start().await.unwrap();
    let ended = run(&format!(
        "watch cm pods --until create --timeout 0 --server {}",
        server.url()
    ))
    .await;
    let expected = "; pods is a resource, too: several are separated by commas";
    assert!(ended.err.contains(expected), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recorder_says_when_it_is_back() {
    let server = SimServer::builder().start().await.unwrap();
    create(&server, &["a"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.rec");
    let args = format!("record cm --file {} --server {}", file.display(), server.url());
    let mut recorder = Running::start(&args);
    recorder.said("synced: 1 object").await;
    let away = server.faults().refuse(WATCH, MAPS, 503).start();
    server.faults().cut_watches_of(MAPS);
    recorder.said("configmaps: reconnecting: ").await;
    change(&server, "a");
    server.faults().compact();
    away.remove();
    let said = recorder.said("configmaps: back after ").await;
    assert!(
        said.ends_with("; listed again; what changed meanwhile is recorded as of now"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn kinds_that_cannot_be_watched_any_more_are_told_together() {
    let server = SimServer::builder().start().await.unwrap();
    create(&server, &["a"]);
    server.store().create(crate::pod("a")).unwrap();
    for resource in [MAPS, "pods"] {
        server.faults().refuse(WATCH, resource, 503).start();
    }
    let args = format!(
        "top cm,po --once --for 1s --time-limit 1s --server {}",
        server.url()
    );
    let ended = run(&args).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.out.contains("\nnot watched any more: configmaps, pods: "),
        "{ended:?}"
    );
    assert!(ended.err.contains("no kind is watched any more; "), "{ended:?}");
}
