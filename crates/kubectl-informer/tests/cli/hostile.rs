//! What servers say cannot do anything to a terminal.

use crate::process::Running;
use crate::scripted;
use kube_sim::script::{Answer, Kind, Received, ScriptedListener, ScriptedServer};
use nix::sys::signal::Signal;
use serde_json::Value;

/// Colours, clears the screen and reverses what follows; U+009B is an escape sequence of its own.
const EVIL: &str = "a\u{1b}[31m\u{9b}2J\u{202e}\u{7f}\nb";
const ESCAPED: &str = r"a\u001b[31m\u009b2J\u202e\u007f\u000ab";

/// One config map; its watch is refused.
fn answer(request: &Received) -> Answer {
    let maps = Kind::new("v1", "ConfigMap");
    if request.parameter("watch").is_some() {
        return Answer::status(403, "Forbidden", EVIL);
    }
    let mut object = maps.object("default/x", "5");
    object["metadata"]["name"] = EVIL.into();
    object["metadata"]["labels"]["app"] = EVIL.into();
    object["data"]["k"] = EVIL.into();
    Answer::json(maps.list("5", [object]))
}

async fn server() -> (ScriptedServer, ScriptedListener) {
    scripted::server(answer).await
}

fn assert_safe(text: &str) {
    let printable = |c: char| matches!(c, ' '..='~' | '\n');
    assert!(text.chars().all(printable), "{text:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_and_labels_are_escaped_for_people() {
    let (_server, listener) = server().await;
    for (format, lines) in [("table", 2), ("wide", 2), ("name", 1)] {
        let args = format!(
            "watch cm --initial list -o {format} -vv --server {}",
            listener.url()
        );
        let mut watch = Running::start(&args);
        let mut last = String::new();
        for _ in 0..lines {
            last = watch.line().await;
            assert_safe(&last);
        }
        let times = if format == "wide" { 2 } else { 1 };
        assert_eq!(last.matches(ESCAPED).count(), times, "{last}");
        watch.signal(Signal::SIGTERM);
        let ended = watch.end().await;
        assert_safe(&ended.out);
        assert_safe(&ended.err);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn json_is_escaped_and_keeps_its_values() {
    let (_server, listener) = server().await;
    let args = format!(
        "watch cm --initial list -o json --show-object --server {}",
        listener.url()
    );
    let mut watch = Running::start(&args);
    let mut lines = std::collections::HashMap::new();
    while !(lines.contains_key("add") && lines.contains_key("error")) {
        let line = watch.line().await;
        assert_safe(&line);
        let line: Value = serde_json::from_str(&line).unwrap();
        lines.insert(line["event"].as_str().unwrap().to_owned(), line);
    }
    assert_eq!(lines["add"]["key"], format!("default/{EVIL}"));
    assert_eq!(lines["add"]["object"]["data"]["k"], EVIL);
    assert_eq!(lines["error"]["class"], "forbidden");
    watch.signal(Signal::SIGTERM);
    let ended = watch.end().await;
    assert_safe(&ended.err);
    assert!(
        ended.err.contains(r"\u009b"),
        "standard error tells of the failure: {ended:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_are_escaped_below_their_row() {
    let (_server, listener) = server().await;
    let args = format!(
        "watch cm --initial list --show-object --server {}",
        listener.url()
    );
    let mut watch = Running::start(&args);
    let mut lines = Vec::new();
    while lines.last().is_none_or(|line| line != "}") {
        lines.push(watch.line().await);
    }
    let object = lines[2..].join("\n");
    assert_safe(&object);
    let object: Value = serde_json::from_str(&object).unwrap();
    assert_eq!(object["data"]["k"], EVIL);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_escaped() {
    let server = ScriptedServer::new().otherwise(|_| Answer::status(403, "Forbidden", EVIL));
    let listener = server.listen().await.unwrap();
    let ended = Running::start(&format!("watch cm --server {}", listener.url()))
        .end()
        .await;
    assert_eq!(ended.code, Some(1));
    assert_safe(&ended.err);
    assert!(
        ended.err.contains(r"a\u001b[31m\u009b2J\u202e\u007f b"),
        "{ended:?}"
    );
    assert_eq!(ended.err.lines().count(), 1);
}
