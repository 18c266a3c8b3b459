//! `record`, `show`, `diff` and `replay`.

use crate::process::{Running, run};
use crate::{cluster, config_map, scripted, secret, widgets};
use conformance::cluster::Cluster;
use jiff::Timestamp;
use kube_sim::SimServer;
use kube_sim::faults::{LIST, WATCH};
use kube_sim::script::Answer;
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A folder, and the name of a recording in it.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.rec");
    (folder, file)
}

/// Records what `make` does, and ends the recorder by a signal.
async fn record(what: &str, cluster: &Cluster, file: &Path, make: impl AsyncFnOnce()) {
    let args = format!("record {what} --file {} {}", file.display(), cluster.arguments());
    let mut recorder = Running::start(&args);
    recorder.said("recording changes").await;
    make().await;
    // A change that is recorded last, and is not looked at.
    let marker = cluster.create(config_map("default", "zz-marker", "x")).await;
    cluster.delete(&marker).await;
    wait_for(file, "zz-marker").await;
    recorder.signal(Signal::SIGINT);
    let ended = recorder.end().await;
    assert_eq!((ended.code, &*ended.out), (Some(0), ""), "{ended:?}");
    assert!(ended.err.contains(" changes in "), "{ended:?}");
}

/// Waits until a recording has the deletion of an object of this name.
async fn wait_for(file: &Path, name: &str) {
    wait_for_change(file, "delete", name).await;
}

/// Waits until a recording has such a change, which has this text.
async fn wait_for_change(file: &Path, event: &str, text: &str) {
    let event = format!("\"event\":\"{event}\"");
    for _ in 0..600 {
        let ended = run(&format!("diff {} -o json", file.display())).await;
        if ended
            .out
            .lines()
            .any(|line| line.contains(&event) && line.contains(text))
        {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("{event} with {text} was not recorded in time");
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_is_looked_at_by_time_and_object() {
    let cluster = cluster().await;
    let (_folder, file) = folder();
    let path = file.display();
    let widget = json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"namespace": "default", "name": "w"}, "size": 1,
    });
    cluster.create(config_map("default", "a", "first")).await;
    cluster.create(widget).await;
    record("configmaps,widgets -A", &cluster, &file, async || {
        cluster.update(config_map("default", "a", "second")).await;
        // The two have different times then.
        wait_for_change(&file, "update", "second").await;
        cluster.update(config_map("default", "a", "third")).await;
        let b = cluster.create(config_map("default", "b", "x")).await;
        cluster.delete(&b).await;
    })
    .await;
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let ended = run(&format!("diff {path} configmap/a -o json")).await;
    let changes = lines(&ended.out);
    assert_eq!(changes.len(), 2, "{ended:?}");
    let label = &changes[0]["changes"][0];
    assert_eq!(
        (&label["path"], &label["old"], &label["new"]),
        (&json!("metadata.labels.app"), &json!("first"), &json!("second"))
    );
    let ended = run(&format!("diff {path} cm a b -n default")).await;
    let rows: Vec<_> = ended.out.lines().collect();
    assert!(rows[0].starts_with("TIME "), "{ended:?}");
    assert!(
        rows[1].contains(" update ") && rows[1].contains("configmap/a"),
        "{ended:?}"
    );
    assert!(
        rows[2].starts_with("    ~ metadata.labels.app: \"first\" -> \"second\""),
        "{ended:?}"
    );
    assert!(rows.iter().any(|row| row.contains(" add ")), "{ended:?}");
    assert!(rows.iter().any(|row| row.contains(" delete ")), "{ended:?}");
    // The columns begin where the header says.
    let column = |row: &str, text: &str| row.find(text).unwrap_or_else(|| panic!("no {text} in {row}"));
    assert_eq!(
        column(rows[0], "NAME  "),
        column(rows[1], "configmap/a"),
        "{ended:?}"
    );
    assert_eq!(column(rows[0], "EVENT"), column(rows[1], "update"), "{ended:?}");
    // What is not there is told.
    for nothing in ["show", "diff"] {
        let ended = run(&format!("{nothing} {path} cm/nope")).await;
        assert_eq!((ended.code, &*ended.out), (Some(0), ""), "{ended:?}");
        assert!(
            ended
                .err
                .contains(" matches; the recording has configmaps, widgets.example.com of "),
            "{ended:?}"
        );
    }
    for (times, expected) in [
        ("diff --from 2s --to 1s", "--to is before --from"),
        ("diff --from 9h", "--from is after the end of the recording, at "),
        (
            "diff --to 2020-01-01T00:00:00Z",
            "--to 2020-01-01T00:00:00Z is before the recording began, at ",
        ),
        (
            "show --at 2020-01-01T00:00:00Z",
            "--at 2020-01-01T00:00:00Z is before the recording began, at ",
        ),
    ] {
        let ended = run(&format!("{times} {path}")).await;
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(expected), "{ended:?}");
    }
    // What is asked for was recorded in part only.
    let partly = run(&format!("diff {path} --from 2020-01-01T00:00:00Z")).await;
    assert_eq!(partly.code, Some(0), "{partly:?}");
    assert_eq!(partly.out, run(&format!("diff {path}")).await.out);
    assert!(
        partly.err.contains("the recording began after --from, at "),
        "{partly:?}"
    );

    // No time of the recording, but nothing happened then.
    let nothing = run(&format!("diff {path} --from 1ms --to 2ms")).await;
    assert_eq!(nothing.code, Some(0), "{nothing:?}");
    assert!(nothing.err.contains("no recorded change matches"), "{nothing:?}");

    // As it was between the two updates, and at the end.
    let second = changes[0]["time"].as_str().unwrap();
    for (at, expected) in [(format!("--at {second}"), "second"), (String::new(), "third")] {
        let ended = run(&format!("show {path} cm/a {at} -o json")).await;
        let objects = lines(&ended.out);
        assert_eq!(
            objects[0]["metadata"]["labels"]["app"], expected,
            "{at}: {ended:?}"
        );
        assert!(objects[0]["metadata"].get("managedFields").is_none());
    }
    let ended = run(&format!("show {path} wd -o yaml")).await;
    assert!(ended.out.contains("size: 1"), "{ended:?}");
    let ended = run(&format!("show {path} -n default")).await;
    assert!(ended.out.contains("widget.example.com/w"), "{ended:?}");
    let ended = run(&format!("show {path} wd,cm -n default -o name --at 9h")).await;
    assert_eq!(ended.out, "configmap/a\nwidget.example.com/w", "{ended:?}");
    assert!(
        ended.err.contains("the recording ended before --at, at "),
        "{ended:?}"
    );
    let ended = run(&format!("show {path} cm/a --at {second}")).await;
    assert_eq!(ended.err, "", "{ended:?}");
    let nothing = run(&format!("show {path} cm/nope")).await;
    let told = nothing
        .err
        .trim_end()
        .rsplit_once(" to ")
        .map(|(_, time)| time.parse::<Timestamp>());
    assert!(matches!(told, Some(Ok(_))), "{nothing:?}");
    let all = run(&format!("show {path} -A -n nowhere")).await;
    assert_eq!(all.out, run(&format!("show {path}")).await.out, "{all:?}");
    assert!(all.out.contains("widget.example.com/w"), "{all:?}");
    let ended = run(&format!("show {path} pods")).await;
    assert_eq!(ended.code, Some(1));
    assert!(
        ended
            .err
            .contains("the recording has no \"pods\", only configmaps, widgets.example.com"),
        "{ended:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_redacted_unless_asked_for() {
    let cluster = Cluster::start().await;
    cluster.create(secret("default", "login", "web")).await;
    // redacted-…, in base64.
    for (option, expected) in [("", "cmVkYWN0ZWQt"), ("--with-secrets", "aHVudGVyMg==")] {
        let (_folder, file) = folder();
        record(
            &format!("secrets,configmaps {option}"),
            &cluster,
            &file,
            async || {},
        )
        .await;
        let ended = run(&format!("show {} secret/login -o json", file.display())).await;
        let password = &lines(&ended.out)[0]["data"]["password"];
        assert!(password.as_str().unwrap().starts_with(expected), "{ended:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_recorder_leaves_a_readable_file() {
    let cluster = Cluster::start().await;
    let (_folder, file) = folder();
    let args = format!("record cm --file {} {}", file.display(), cluster.arguments());
    let mut recorder = Running::start(&args);
    recorder.said("recording changes").await;
    let a = cluster.create(config_map("default", "a", "x")).await;
    cluster.delete(&a).await;
    wait_for(&file, "default/a").await;
    recorder.signal(Signal::SIGKILL);
    recorder.exit_code().await;
    // What was being written is not whole.
    let mut bytes = std::fs::read(&file).unwrap();
    let whole = bytes.clone();
    bytes.extend_from_slice(&whole[37..60]);
    std::fs::write(&file, &bytes[..bytes.len() - 3]).unwrap();
    let ended = run(&format!("diff {} -o json", file.display())).await;
    assert!(ended.out.contains("default/a"), "{ended:?}");

    std::fs::write(&file, &whole[..whole.len() - 3]).unwrap();
    let ended = run(&format!("show {}", file.display())).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.err.contains("the recording is incomplete: "), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_is_no_stream() {
    let ended = run("record cm --file - --server http://127.0.0.1:1").await;
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("not written to standard output"), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn other_files_are_refused() {
    let (folder, file) = folder();
    std::fs::write(&file, "hello").unwrap();
    for command in ["show", "diff", "replay"] {
        let ended = run(&format!("{command} {}", file.display())).await;
        assert_eq!((ended.code, &*ended.out), (Some(1), ""), "{ended:?}");
        assert!(
            ended
                .err
                .contains("it is no recording of kubectl informer record"),
            "{ended:?}"
        );
        let ended = run(&format!("{command} {}/none", folder.path().display())).await;
        assert!(ended.err.starts_with("error: cannot open "), "{ended:?}");
    }
    let cluster = Cluster::start().await;
    let ended = run(&format!(
        "record cm --file {} {}",
        file.display(),
        cluster.arguments()
    ))
    .await;
    assert_eq!(ended.code, Some(1));
    assert!(
        ended
            .err
            .contains("exists, and is not written over; give another --file"),
        "{ended:?}"
    );
    assert_eq!(std::fs::read(&file).unwrap(), b"hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_forbidden_leaves_no_file() {
    let server = SimServer::builder().start().await.unwrap();
    server.faults().refuse(LIST | WATCH, "pods", 403).start();
    let (_folder, file) = folder();
    let ended = run(&format!(
        "record pods -A --file {} --server {}",
        file.display(),
        server.url()
    ))
    .await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("pods: ") && !file.exists(), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_recording_tells_why_nothing_was_listed() {
    let server = SimServer::builder().start().await.unwrap();
    server.faults().refuse(LIST | WATCH, "pods", 403).start();
    let (_folder, file) = folder();
    // Shorter than the time between two looks at what the informers tell.
    let args = format!(
        "record pods -A --for 1900ms --file {} --server {}",
        file.display(),
        server.url()
    );
    let ended = run(&args).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.err.contains("cannot list pods: ") && ended.err.contains("403"),
        "{ended:?}"
    );
    assert!(!file.exists(), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_that_does_not_exist_is_told() {
    let server = SimServer::builder().start().await.unwrap();
    let (_folder, file) = folder();
    let args = format!(
        "record pods -n nowhere --file {} --server {}",
        file.display(),
        server.url()
    );
    let mut recorder = Running::start(&args);
    recorder.said("synced: 0 objects").await;
    recorder
        .said("no pods in namespace \"nowhere\"; there is no such namespace")
        .await;
    recorder.signal(Signal::SIGINT);
    assert_eq!(recorder.end().await.code, Some(0));
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_ends_after_its_time() {
    let cluster = Cluster::start().await;
    let (_folder, file) = folder();
    let args = format!(
        "record ns --for 3s --file {} {}",
        file.display(),
        cluster.arguments()
    );
    let ended = run(&args).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let ended = run(&format!("show {}", file.display())).await;
    assert!(ended.out.contains("kube-system"), "{ended:?}");
}

/// A parser may refuse to read again what is nested as deep as servers allow.
#[tokio::test(flavor = "multi_thread")]
async fn objects_that_are_nested_too_deep_are_left_out() {
    let server = SimServer::builder().crd(widgets()).start().await.unwrap();
    let widget = |name: &str, levels: usize| {
        let deep = (0..levels).fold(json!(1), |inner, _| json!([inner]));
        json!({
            "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"namespace": "default", "name": name}, "deep": deep,
        })
    };
    let store = server.store();
    for (name, levels) in [("a", 100), ("b", 124), ("c", 200)] {
        store.create(widget(name, levels)).unwrap();
    }
    let (_folder, file) = folder();
    let args = format!(
        "record widgets -A --file {} --server {}",
        file.display(),
        server.url()
    );
    let mut recorder = Running::start(&args);
    recorder.said("recording changes").await;
    // It grows too deep, one that was too deep becomes flat, and one goes.
    store.update(widget("a", 150)).unwrap();
    store.update(widget("b", 5)).unwrap();
    store
        .delete("example.com/v1", "Widget", Some("default"), "c")
        .unwrap();
    store.create(widget("d", 1)).unwrap();
    wait_for_change(&file, "add", "default/d").await;
    recorder.signal(Signal::SIGINT);
    assert_eq!(recorder.end().await.code, Some(0));
    let ended = run(&format!("diff {} -o json", file.display())).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let told: Vec<_> = lines(&ended.out)
        .iter()
        .map(|line| (line["event"].clone(), line["key"].clone()))
        .collect();
    let expected = [
        ("delete", "default/a"),
        ("add", "default/b"),
        ("add", "default/d"),
    ];
    assert_eq!(told, expected.map(|(event, key)| (json!(event), json!(key))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_of_what_was_never_listed_fails() {
    let server = SimServer::builder().start().await.unwrap();
    let refused = server.faults().refuse(LIST | WATCH, "secrets", 503).start();
    let (_folder, file) = folder();
    let at = format!("--file {} --server {}", file.display(), server.url());
    let mut recorder = Running::start(&format!("record secrets,namespaces {at}"));
    recorder.said("secrets: reconnecting").await;
    for _ in 0..600 {
        let shown = run(&format!("show {}", file.display())).await;
        if shown.out.contains("kube-system") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    recorder.signal(Signal::SIGINT);
    let ended = recorder.end().await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.err.contains("lacks what was not listed: secrets ("),
        "{ended:?}"
    );

    std::fs::remove_file(&file).unwrap();
    let ended = run(&format!("record secrets --for 1s {at}")).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("nothing was recorded: secrets ("), "{ended:?}");
    refused.remove();
    // The file is not in the way.
    let mut recorder = Running::start(&format!("record secrets {at}"));
    recorder.said("recording changes").await;
    recorder.signal(Signal::SIGINT);
    assert_eq!(recorder.end().await.code, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_before_the_first_list_interrupts() {
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let (asked, mut lists) = tokio::sync::mpsc::unbounded_channel();
        let (_server, listener) = scripted::server(move |_| {
            asked.send(()).unwrap();
            Answer::never()
        })
        .await;
        let (_folder, file) = folder();
        let args = format!("record cm --file {} --server {}", file.display(), listener.url());
        let recorder = Running::start(&args);
        lists.recv().await.unwrap();
        recorder.signal(signal);
        let ended = recorder.end().await;
        assert_eq!(ended.code, Some(code), "{ended:?}");
        assert_eq!(
            ended.err,
            "error: interrupted before everything was listed; nothing was recorded: configmaps (its list was not complete)\n"
        );
        assert!(!file.exists());
    }
}

/// What a client sees of the replay is what was there.
#[tokio::test(flavor = "multi_thread")]
async fn a_replay_is_a_cluster_for_any_client() {
    let cluster = cluster().await;
    let (folder, file) = folder();
    let widget = json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"namespace": "default", "name": "w"}, "size": 1,
    });
    cluster.create(widget).await;
    let a = cluster.create(config_map("default", "a", "first")).await;
    record("configmaps,widgets", &cluster, &file, async || {
        cluster.update(config_map("default", "a", "second")).await;
        let mut held = config_map("default", "held", "x");
        held["metadata"]["finalizers"] = json!(["example.com/hold"]);
        let mut held = cluster.create(held).await;
        cluster.delete(&held).await;
        held["metadata"]["finalizers"] = json!([]);
        cluster.update(held).await;
        cluster.create(config_map("default", "b", "x")).await;
    })
    .await;
    let kubeconfig = folder.path().join("kubeconfig");
    let mut replay = Running::start(&format!(
        "replay {} --speed max --kubeconfig {}",
        file.display(),
        kubeconfig.display()
    ));
    let url = replay.line().await;
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    let told = replay.said("played ").await;
    assert!(told.ends_with("serving until Ctrl-C"), "{told}");
    let maps = run(&format!(
        "watch cm --until create -o json --show-object --server {url}"
    ))
    .await;
    let maps = lines(&maps.out);
    let objects: Vec<_> = maps.iter().filter(|line| line["event"] == "add").collect();
    let keys: Vec<_> = objects.iter().map(|line| line["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["default/a", "default/b"]);
    assert_eq!(objects[0]["object"]["metadata"]["labels"]["app"], "second");
    assert_eq!(objects[0]["object"]["metadata"]["uid"], a["metadata"]["uid"]);
    let wait = "wait widgets -o json --until create".replace("wait", "watch");
    let widgets = run(&format!(
        "{wait} --show-object --kubeconfig {}",
        kubeconfig.display()
    ))
    .await;
    assert_eq!(lines(&widgets.out)[0]["object"]["size"], 1);
    replay.signal(Signal::SIGTERM);
    let ended = replay.end().await;
    assert_eq!(ended.code, Some(0));
    assert!(ended.out.contains(" get configmaps -A"), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_speed_of_a_replay_is_that_of_the_recording() {
    let server = SimServer::builder().pods(5).start().await.unwrap();
    let (_folder, file) = folder();
    let pod = server.store().list("v1", "Pod", None).unwrap().remove(0);
    let at = format!("--server {}", server.url());
    let mut recorder = Running::start(&format!("record pods -A --file {} {at}", file.display()));
    recorder.said("recording changes").await;
    let mut changed = pod.clone();
    changed["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("resourceVersion");
    for time in ["one", "two"] {
        changed["metadata"]["labels"]["time"] = time.into();
        server.store().update(changed.clone()).unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
        wait_for_change(&file, "update", time).await;
    }
    recorder.signal(Signal::SIGINT);
    assert_eq!(recorder.end().await.code, Some(0));
    let mut replay = Running::start(&format!("replay {} --speed 10", file.display()));
    replay.line().await;
    let started = std::time::Instant::now();
    let played = replay.said("played ").await;
    assert_eq!(played, "played 5 objects and 2 changes; serving until Ctrl-C");
    // A tenth of 1.5 seconds, at the least.
    assert!(started.elapsed() >= std::time::Duration::from_millis(140));
    let bad = run(&format!("replay {} --speed 0", file.display())).await;
    assert_eq!(bad.code, Some(2), "{bad:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_before_damage_is_shown() {
    let cluster = Cluster::start().await;
    let (folder, file) = folder();
    cluster.create(config_map("default", "a", "first")).await;
    // What is recorded later is in another block.
    record("configmaps", &cluster, &file, async || {}).await;
    let mut bytes = std::fs::read(&file).unwrap();
    // A checksum.
    *bytes.last_mut().unwrap() ^= 1;
    let damaged = folder.path().join("damaged.rec");
    std::fs::write(&damaged, bytes).unwrap();
    let path = damaged.display();
    let ended = run(&format!("show {path} cm/a -o json")).await;
    assert_eq!(
        lines(&ended.out)[0]["metadata"]["labels"]["app"],
        "first",
        "{ended:?}"
    );
    assert!(ended.err.contains("what comes before it was read"), "{ended:?}");
    assert_eq!(ended.code, Some(1));
    let ended = run(&format!("diff {path}")).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");

    let mut replay = Running::start(&format!("replay {path} --speed max"));
    let url = replay.line().await;
    replay.said("what comes before it was read").await;
    replay.said("serving until Ctrl-C").await;
    let names = run(&format!("watch cm -o name --until create --server {url}")).await;
    assert_eq!(names.out, "configmap/a", "{names:?}");
    replay.signal(Signal::SIGINT);
    assert_eq!(replay.end().await.code, Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_initial_state_comes_as_it_is_asked_for() {
    let server = SimServer::builder().start().await.unwrap();
    let (_folder, file) = folder();
    let args = format!(
        "record cm --initial list --file {} --server {}",
        file.display(),
        server.url()
    );
    let mut recorder = Running::start(&args);
    recorder.said("recording changes").await;
    let asked = server.requests();
    assert!(
        asked
            .iter()
            .all(|request| request.parameter("sendInitialEvents").is_none())
    );
    recorder.signal(Signal::SIGINT);
    assert_eq!(recorder.end().await.code, Some(0));
}
