//! `measure`.

use crate::process::{Running, run};
use crate::{cluster, pod, scripted};
use conformance::cluster::Cluster;
use kube_sim::SimServer;
use kube_sim::faults::{LIST, WATCH};
use kube_sim::script::{Answer, Kind, event};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

fn members(line: &Value) -> Vec<&str> {
    let mut names: Vec<_> = line.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_cache_is_told_once_with_the_reason() {
    let server = SimServer::builder().start().await.unwrap();
    for (args, expected) in [
        (
            "-n nowhere",
            "no pods in namespace \"nowhere\"; there is no such namespace",
        ),
        (
            "-n nowhere --form packed",
            "no pods in namespace \"nowhere\"; there is no such namespace",
        ),
        (
            "-n nowhere --form typed,packed",
            "no pods in namespace \"nowhere\"; there is no such namespace",
        ),
        ("-n nowhere -A", "no pods in any namespace"),
    ] {
        let ended = run(&format!("measure pods {args} --server {}", server.url())).await;
        assert_eq!(
            (ended.code, ended.err.trim_end()),
            (Some(0), expected),
            "{args}: {ended:?}"
        );
    }
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn both_phases_in_json() {
    let cluster = Cluster::start().await;
    for n in 0..40 {
        cluster.create(pod(&format!("pod-{n}"))).await;
    }
    let list = cluster.list("v1", "Pod").await;
    let mut measure = Running::start(&format!(
        "measure pods -A --form typed --events 2 -o json {}",
        cluster.arguments()
    ));
    let sync = measure.json().await;
    assert_eq!(
        members(&sync),
        [
            "base_mib",
            "bytes_received",
            "cpu_s",
            "encoding",
            "objects",
            "peak_mib",
            "phase",
            "rss_mib",
            "wall_s"
        ]
    );
    assert_eq!((&sync["phase"], &sync["objects"]), (&json!("sync"), &json!(40)));
    assert_eq!(sync["encoding"], "protobuf");
    let size: usize = list.iter().map(|pod| pod.to_string().len()).sum();
    let received = sync["bytes_received"].as_u64().unwrap();
    assert!(
        (size / 4..size).contains(&(received as usize)),
        "{received} for objects of {size} in JSON"
    );
    for name in ["wall_s", "cpu_s", "rss_mib"] {
        assert!(sync[name].as_f64().unwrap() > 0.0, "{sync}");
    }
    assert!(sync["peak_mib"].as_f64() >= sync["rss_mib"].as_f64(), "{sync}");

    for mut pod in list.into_iter().take(2) {
        pod["metadata"]["labels"]["changed"] = "yes".into();
        cluster.update(pod).await;
    }
    let events = measure.json().await;
    assert_eq!(
        members(&events),
        ["cpu_s", "events", "peak_mib", "phase", "rss_mib", "wall_s"]
    );
    assert_eq!(
        (&events["phase"], &events["events"]),
        (&json!("events"), &json!(2))
    );
    let ended = measure.end().await;
    assert_eq!((ended.code, &*ended.out, &*ended.err), (Some(0), "", ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_events_it_ends_after_the_sync() {
    let cluster = Cluster::start().await;
    let ended = run(&format!("measure namespaces {}", cluster.arguments())).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.starts_with("sync    4 objects, "), "{ended:?}");
    assert_eq!(ended.out.lines().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kind_without_a_rust_type_is_measured_and_told() {
    let cluster = cluster().await;
    let ended = run(&format!("measure wd -o json {}", cluster.arguments())).await;
    let line: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!((ended.code, &line["objects"]), (Some(0), &json!(0)));
    assert!(
        ended
            .err
            .contains("no Rust type is built in for widgets.example.com"),
        "{ended:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn packed_objects_tell_what_they_take() {
    let cluster = Cluster::start().await;
    for n in 0..400 {
        cluster.create(pod(&format!("pod-{n}"))).await;
    }
    let command = format!("measure pods -A --form packed {}", cluster.arguments());
    let ended = run(&format!("{command} -o json")).await;
    let line: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(
        (ended.code, &line["objects"]),
        (Some(0), &json!(400)),
        "{ended:?}"
    );
    let packing = |name: &str| line["packing"][name].as_u64().unwrap();
    assert_eq!(packing("dictionaries"), 1, "{line}");
    assert!(packing("dictionary_bytes") > 0, "{line}");
    // The first 64 are kept as they are.
    let (sent, kept) = (packing("body_bytes_per_object"), packing("kept_bytes_per_object"));
    assert!(kept * 3 < sent * 2, "{kept} of {sent}");
    assert!(packing("bytes_per_object") > kept);

    let ended = run(&command).await;
    let lines: Vec<_> = ended.out.lines().collect();
    assert!(lines[0].starts_with("sync    400 objects, "), "{ended:?}");
    assert!(
        lines[1].starts_with("packed  ") && lines[1].contains("a dictionary of "),
        "{ended:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn several_forms_are_measured_side_by_side() {
    let cluster = Cluster::start().await;
    for n in 0..40 {
        cluster.create(pod(&format!("pod-{n}"))).await;
    }
    let command = format!(
        "measure pods -A --form typed,packed,metadata {}",
        cluster.arguments()
    );
    let ended = run(&command).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.err.starts_with("too few objects to tell"), "{ended:?}");
    assert_eq!(ended.err.lines().count(), 1, "{ended:?}");
    let rows: Vec<_> = ended.out.lines().collect();
    assert!(
        rows[0].starts_with("FORM       PHASE   OBJECTS   CACHE"),
        "{ended:?}"
    );
    let starts = [
        "typed      sync    40 ",
        "packed     sync    40 ",
        "metadata   sync    40 ",
    ];
    for (row, start) in rows[1..].iter().zip(starts) {
        assert!(row.starts_with(start), "{ended:?}");
    }
    assert_eq!(rows.len(), 5);
    // What they take is counted, and no memory of the program is among it.
    let packed: Vec<_> = rows[2].split_whitespace().collect();
    assert!(packed[4] == "KiB" || packed[4] == "B", "{ended:?}");
    assert!(rows[4].starts_with("packed  "), "{ended:?}");

    let ended = run(&format!("{command} -o json")).await;
    let lines: Vec<Value> = ended
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let forms: Vec<_> = lines.iter().map(|line| line["form"].as_str().unwrap()).collect();
    assert_eq!(forms, ["typed", "packed", "metadata"]);
    for line in &lines {
        assert!(line["base_mib"].as_f64() <= line["peak_mib"].as_f64(), "{line}");
    }

    let ended = run(&format!("{command} --cache /nonexistent")).await;
    assert_eq!(ended.code, Some(2), "{ended:?}");
    // What goes wrong is said once, by the first of them.
    let ended = run("measure pods --form typed,packed --server http://127.0.0.1:1").await;
    assert_eq!((ended.code, ended.err.lines().count()), (Some(1), 1), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_are_told_with_what_to_do() {
    let server = SimServer::builder().start().await.unwrap();
    let refused = server.faults().refuse(LIST | WATCH, "pods", 403).start();
    let at = format!("--server {}", server.url());
    for (command, expected) in [
        (format!("measure pods {at}"), "error: cannot "),
        (
            format!(
                "record pods {at} --file /tmp/kubectl-informer-{}.rec",
                server.address().port()
            ),
            "error: cannot record to ",
        ),
    ] {
        let ended = run(&command).await;
        assert_eq!((ended.code, ended.err.lines().count()), (Some(1), 1), "{ended:?}");
        assert!(ended.err.starts_with(expected), "{ended:?}");
        assert!(
            ended
                .err
                .ends_with("; it takes the verbs list and watch on pods\n"),
            "{ended:?}"
        );
    }
    refused.remove();
    let away = server.faults().refuse(LIST | WATCH, "pods", 503).start();
    let mut measure = Running::start(&format!("measure pods {at}"));
    measure.said("pods: reconnecting: ").await;
    away.remove();
    assert_eq!(measure.end().await.code, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_object_is_left_out_and_told() {
    let (_server, listener) = scripted::server(|request| match request.parameter("watch") {
        Some(_) => Answer::never(),
        None => {
            let maps = Kind::new("v1", "ConfigMap");
            let mut bad = maps.object("default/bad", "5");
            bad["metadata"]["labels"] = json!("hunter2");
            Answer::json(maps.list("5", [bad, maps.object("default/good", "4")]))
        }
    })
    .await;
    let args = format!("measure cm --initial list --server {}", listener.url());
    let ended = run(&args).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.starts_with("sync    1 object, "), "{ended:?}");
    assert!(
        ended.err.starts_with("configmaps: left out: default/bad: ") && !ended.err.contains("hunter2"),
        "{ended:?}"
    );
    assert_eq!(ended.err.lines().count(), 1, "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_before_the_sync_it_measures_nothing() {
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let (asked, mut lists) = tokio::sync::mpsc::unbounded_channel();
        let (_server, listener) = scripted::server(move |_| {
            asked.send(()).unwrap();
            Answer::never()
        })
        .await;
        let measure = Running::start(&format!("measure cm -A --server {}", listener.url()));
        lists.recv().await.unwrap();
        measure.signal(signal);
        let ended = measure.end().await;
        assert_eq!((ended.code, &*ended.out), (Some(code), ""), "{ended:?}");
        assert_eq!(
            ended.err,
            "error: interrupted before the cache had synced; nothing was measured\n"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_while_it_waits_it_tells_how_far_it_came() {
    let (_server, listener) = scripted::server(|request| match request.parameter("watch") {
        Some(_) => Answer::never(),
        None => Answer::json(Kind::new("v1", "ConfigMap").list("5", Vec::<Value>::new())),
    })
    .await;
    let args = format!("measure cm --initial list --events 3 --server {}", listener.url());
    let mut measure = Running::start(&args);
    assert!(measure.line().await.starts_with("sync    0 objects"));
    measure.signal(Signal::SIGINT);
    let ended = measure.end().await;
    assert_eq!((ended.code, &*ended.out), (Some(130), ""), "{ended:?}");
    let none = "no configmaps in namespace \"default\"; -A watches all namespaces";
    assert_eq!(
        ended.err,
        format!("{none}\nerror: interrupted after 0 of 3 changes\n")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_one_object_in_a_burst_are_all_counted() {
    let kind = Kind::new("v1", "ConfigMap");
    let changes: String = (6..5006)
        .map(|version| event("MODIFIED", &kind.object("ns/a", &version.to_string())))
        .collect();
    let (_server, listener) = scripted::server(move |request| match request.parameter("watch") {
        Some(_) => Answer::watch([changes.clone()]),
        None => Answer::json(kind.list("5", [kind.object("ns/a", "5")])),
    })
    .await;
    let args = format!(
        "measure cm -A --initial list --events 5000 --server {}",
        listener.url()
    );
    let ended = run(&args).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("events  5000 events, "), "{ended:?}");
    assert!(ended.out.contains(" in JSON\n"), "{ended:?}");
}
