//! `--cache`: what was seen is saved, and the next run starts from it.

use crate::process::{Running, run};
use crate::{config_map, pod};
use kube_sim::SimServer;
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

async fn server() -> SimServer {
    SimServer::builder().controllers([]).start().await.unwrap()
}

fn watch(server: &SimServer, directory: &Path) -> Running {
    let (url, directory) = (server.url(), directory.display());
    Running::start(&format!(
        "watch configmaps -o json --cache {directory} --server {url}"
    ))
}

fn put(server: &SimServer, name: &str, value: &str) {
    let map = config_map("default", name, value);
    let store = server.store();
    match store.get("v1", "ConfigMap", Some("default"), name) {
        Ok(_) => store.update(map).unwrap(),
        Err(_) => store.create(map).unwrap(),
    };
}

/// The event, key and marks of each line.
fn told(lines: &[Value]) -> Vec<String> {
    let told = lines.iter().map(|line| {
        let mut text = line["event"].as_str().unwrap().to_owned();
        text.extend(line["key"].as_str().map(|key| format!(" {key}")));
        for mark in ["initial", "restored"] {
            if line[mark] == true {
                text.push(' ');
                text.push_str(mark);
            }
        }
        text
    });
    told.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_goes_on_where_the_last_one_ended() {
    let (server, directory) = (server().await, TempDir::new().unwrap());
    for name in ["a", "b", "c"] {
        put(&server, name, "old");
    }
    let mut first = watch(&server, directory.path());
    let lines = first.until("synced").await;
    assert!(!told(&lines).concat().contains("restored"), "{lines:?}");
    first.signal(Signal::SIGINT);
    let ended = first.end().await;
    assert_eq!((ended.code, &*ended.err), (Some(0), ""));

    put(&server, "b", "new");
    put(&server, "d", "new");
    server
        .store()
        .delete("v1", "ConfigMap", Some("default"), "c")
        .unwrap();
    let mut second = watch(&server, directory.path());
    let lines = second.until("synced").await;
    let mut told = told(&lines);
    let end = told.split_off(told.len() - 2);
    assert_eq!(end, ["confirmed", "synced"]);
    let changes = told.split_off(3);
    told.sort();
    assert_eq!(
        told,
        ["a", "b", "c"].map(|name| format!("add default/{name} initial restored"))
    );
    assert_eq!(changes, ["update default/b", "add default/d", "delete default/c"]);
    put(&server, "e", "new");
    assert_eq!(second.json().await["key"], "default/e");
    second.signal(Signal::SIGINT);
    let ended = second.end().await;
    assert_eq!(ended.code, Some(0));
    assert!(ended.err.contains("restored: 3 configmaps"), "{}", ended.err);
}

/// Waits until there is a saved file.
async fn file_of(directory: &Path) {
    let saved = async {
        loop {
            let names = std::fs::read_dir(directory).unwrap();
            let mut paths = names.map(|entry| entry.unwrap().path());
            if paths.any(|path| path.extension().is_some_and(|end| end == "cache")) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let saved = tokio::time::timeout(Duration::from_secs(60), saved).await;
    saved.expect("a file in time");
}

/// The versions of the objects that are there after what the lines tell of.
fn versions_told(lines: &[Value]) -> BTreeMap<String, Value> {
    let mut told = BTreeMap::new();
    for line in lines {
        let Some(key) = line["key"].as_str() else { continue };
        match line["event"].as_str().unwrap() {
            "delete" => drop(told.remove(key)),
            _ => drop(told.insert(key.to_owned(), line["resourceVersion"].clone())),
        }
    }
    told
}

/// The versions of the objects that the server has.
fn there(server: &SimServer) -> BTreeMap<String, Value> {
    let maps = server.store().list("v1", "ConfigMap", Some("default")).unwrap();
    let version = |map: &Value| {
        let metadata = &map["metadata"];
        let key = format!("default/{}", metadata["name"].as_str().unwrap());
        (key, metadata["resourceVersion"].clone())
    };
    maps.iter().map(version).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_that_is_killed_at_any_time_loses_no_file() {
    let (server, directory) = (server().await, TempDir::new().unwrap());
    // It takes some time to write so much.
    for number in 0..300 {
        let mut map = config_map("default", &format!("m-{number}"), "old");
        map["data"]["k"] = "x".repeat(20_000).into();
        server.store().create(map).unwrap();
    }
    let mut saved = false;
    for round in 0..12 {
        put(&server, "changed", &round.to_string());
        put(&server, &format!("new-{round}"), "");
        let gone = server
            .store()
            .delete("v1", "ConfigMap", Some("default"), &format!("m-{round}"));
        gone.unwrap();
        let mut watch = watch(&server, directory.path());
        let lines = watch.until("synced").await;
        // On a busy machine, it may be told first that the list takes long.
        let restored = lines.iter().any(|line| line["restored"] == true);
        assert!(restored || !saved, "round {round}: the file is gone");
        saved |= restored || round == 3;
        assert_eq!(versions_told(&lines), there(&server), "round {round}");
        // It has begun to save, or is about to. Once, it is given the time to end that.
        match round {
            3 => file_of(directory.path()).await,
            round => tokio::time::sleep(Duration::from_millis(round * 7)).await,
        }
        watch.signal(Signal::SIGKILL);
        assert_eq!(watch.exit_code().await, None, "killed");
    }
    // Only what was left a while ago is removed: it might have been made just now, by another process.
    for entry in std::fs::read_dir(directory.path()).unwrap() {
        let file = std::fs::File::options()
            .append(true)
            .open(entry.unwrap().path())
            .unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(120))
            .unwrap();
    }
    let mut last = watch(&server, directory.path());
    let lines = last.until("synced").await;
    assert!(lines.iter().any(|line| line["restored"] == true), "{lines:?}");
    last.signal(Signal::SIGINT);
    assert_eq!(last.end().await.code, Some(0));
    // What the killed ones left behind has been removed.
    let names = std::fs::read_dir(directory.path()).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_and_forms_without_bytes_are_refused() {
    let (server, directory) = (server().await, TempDir::new().unwrap());
    let (url, directory) = (server.url(), directory.path().display());
    for (command, reason) in [
        ("watch secrets", "--cache does not save Secrets to disk"),
        ("measure pods --form metadata", "--cache needs --form packed"),
    ] {
        let ended = run(&format!("{command} --cache {directory} --server {url}")).await;
        assert_eq!(ended.code, Some(2));
        assert!(ended.err.contains(reason), "{}", ended.err);
    }
    let ended = run(&format!(
        "watch pods --until create --cache {directory} --server {url}"
    ))
    .await;
    assert_eq!(ended.code, Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_no_directory_for_a_cache() {
    let (server, file) = (server().await, tempfile::NamedTempFile::new().unwrap());
    let (url, file) = (server.url(), file.path().display());
    let ended = run(&format!("watch pods --cache {file} --server {url}")).await;
    assert_eq!(ended.code, Some(2));
    let why = format!("--cache: {file} is not a directory");
    assert!(ended.err.contains(&why), "{}", ended.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn measure_shows_what_a_saved_cache_is_worth() {
    let (server, directory) = (server().await, TempDir::new().unwrap());
    for number in 0..200 {
        server.store().create(pod(&format!("pod-{number}"))).unwrap();
    }
    let command = format!(
        "measure pods --form packed -o json --cache {} --server {}",
        directory.path().display(),
        server.url()
    );
    let lines = |text: &str| -> Vec<Value> {
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
    };
    let cold = lines(&run(&command).await.out);
    let warm = lines(&run(&command).await.out);
    assert_eq!(cold.len(), 1);
    assert_eq!(cold[0]["restored"], Value::Null);
    let phases = warm.iter().map(|line| line["phase"].as_str().unwrap());
    assert_eq!(phases.collect::<Vec<_>>(), ["restore", "sync"]);
    for line in &warm {
        assert_eq!((&line["restored"], &line["objects"]), (&json!(true), &json!(200)));
    }
    let received = |line: &Value| line["bytes_received"].as_u64().unwrap();
    assert!(received(&warm[1]) * 20 < received(&cold[0]));
}
