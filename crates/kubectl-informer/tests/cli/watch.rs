//! `watch`.

use crate::process::Running;
use crate::{cluster, config_map, in_its_place, pod, secret, without_managers};
use conformance::cluster::Cluster;
use conformance::real_server::{Part, RealServer};
use kube_sim::SimServer;
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn keys(lines: &[Value]) -> Vec<&str> {
    let mut keys: Vec<_> = lines.iter().filter_map(|line| line["key"].as_str()).collect();
    keys.sort_unstable();
    keys
}

fn version(object: &Value) -> Value {
    object["metadata"]["resourceVersion"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_is_a_line_of_json() {
    let cluster = Cluster::start().await;
    let a = cluster.create(config_map("default", "a", "web")).await;
    let mut watch = Running::start(&format!("watch configmaps -o json {}", cluster.arguments()));
    assert_eq!(
        watch.json().await,
        json!({"event": "add", "key": "default/a", "resourceVersion": version(&a), "initial": true})
    );
    assert_eq!(watch.line().await, r#"{"event":"synced"}"#);

    let b = cluster.create(config_map("default", "b", "web")).await;
    // As text: the order of the members is part of what people see.
    let expected = format!(
        r#"{{"event":"add","key":"default/b","resourceVersion":{}}}"#,
        version(&b)
    );
    assert_eq!(watch.line().await, expected);

    let changed = cluster.update(config_map("default", "b", "db")).await;
    let expected = format!(
        r#"{{"event":"update","key":"default/b","oldResourceVersion":{},"resourceVersion":{}}}"#,
        version(&b),
        version(&changed)
    );
    assert_eq!(watch.line().await, expected);

    cluster.delete(&b).await;
    let mut line = watch.json().await;
    let number = |version: Value| version.as_str().unwrap().parse::<u64>().unwrap();
    // That of the deletion, which nobody else is told.
    let deleted = number(line["resourceVersion"].take());
    assert!(deleted > number(version(&changed)), "{deleted}");
    assert_eq!(
        line,
        json!({"event": "delete", "key": "default/b", "resourceVersion": null})
    );
    watch.signal(Signal::SIGINT);
    let ended = watch.end().await;
    assert_eq!((ended.code, &*ended.out, &*ended.err), (Some(0), "", ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_that_comes_twice_at_once_is_one() {
    let cluster = Cluster::start().await;
    for signal in [Signal::SIGINT, Signal::SIGTERM].repeat(4) {
        let mut watch = Running::start(&format!("watch configmaps -o json {}", cluster.arguments()));
        watch.until("synced").await;
        // As `timeout` does: to the program, and to its process group.
        watch.signal(signal);
        watch.signal(signal);
        assert_eq!(watch.exit_code().await, Some(0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_selected_is_shown() {
    let cluster = Cluster::start().await;
    for (namespace, name, label) in [
        ("default", "a", "web"),
        ("default", "b", "db"),
        ("kube-system", "c", "web"),
    ] {
        cluster.create(secret(namespace, name, label)).await;
    }
    for (selection, expected) in [
        ("", vec!["default/a", "default/b"]),
        ("-A", vec!["default/a", "default/b", "kube-system/c"]),
        ("-n kube-system", vec!["kube-system/c"]),
        ("-A -l app=web", vec!["default/a", "kube-system/c"]),
        ("-A --selector app!=web", vec!["default/b"]),
        ("-A --field-selector metadata.name=b", vec!["default/b"]),
        ("-n nowhere", vec![]),
        ("--namespace=", vec!["default/a", "default/b"]),
    ] {
        let mut watch = Running::start(&format!(
            "watch secrets {selection} -o json {}",
            cluster.arguments()
        ));
        let lines = watch.until("synced").await;
        assert_eq!(keys(&lines), expected, "{selection}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kubeconfig_says_where_and_which_namespace() {
    let cluster = Cluster::start().await;
    cluster.create(secret("kube-system", "c", "web")).await;
    let kubeconfig = std::fs::read_to_string(cluster.kubeconfig())
        .unwrap()
        .replace("\"namespace\": \"default\"", "\"namespace\": \"kube-system\"");
    let path = std::env::temp_dir().join(format!("kubectl-informer-test-{}.yaml", std::process::id()));
    std::fs::write(&path, kubeconfig).unwrap();
    let args = format!(
        "watch secrets -o json --context {} --kubeconfig {}",
        cluster.context(),
        path.display()
    );
    let lines = Running::start(&args).until("synced").await;
    std::fs::remove_file(&path).unwrap();
    assert_eq!(keys(&lines), ["kube-system/c"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_have_many_names() {
    let cluster = cluster().await;
    let widget = json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"namespace": "default", "name": "w"}, "size": 1,
    });
    cluster.create(widget).await;
    for (name, expected) in [
        ("ns", 4),
        ("namespace", 4),
        ("Namespaces", 4),
        ("namespaces.v1.", 4),
        ("deploy", 0),
        ("deployments.apps", 0),
        ("Deployment.v1.apps", 0),
        ("wd", 1),
        ("widget", 1),
        ("widgets.example.com", 1),
        ("Widget.v1.example.com", 1),
    ] {
        let mut watch = Running::start(&format!("watch {name} -o json {}", cluster.arguments()));
        assert_eq!(watch.until("synced").await.len(), expected + 1, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_are_shown_whole_and_only_when_asked() {
    let cluster = Cluster::start().await;
    let stored = cluster.create(secret("default", "s", "web")).await;
    let args = format!("watch secrets -o json {}", cluster.arguments());
    let mut watch = Running::start(&format!("{args} --show-object"));
    let shown = watch.json().await["object"].take();
    assert_eq!(without_managers(shown), without_managers(stored));

    let mut watch = Running::start(&format!("{args} -vv"));
    let lines = watch.until("synced").await;
    watch.signal(Signal::SIGTERM);
    let ended = watch.end().await;
    for text in [format!("{lines:?}"), ended.out, ended.err] {
        assert!(
            !text.contains("aHVudGVyMg") && !text.contains("hunter2"),
            "{text}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn people_get_a_table_or_names() {
    let cluster = Cluster::start().await;
    cluster.create(config_map("default", "a", "web")).await;
    let at = cluster.arguments();
    let cells = |line: String| line.split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>();
    let mut table = Running::start(&format!("watch cm {at}"));
    assert_eq!(cells(table.line().await), ["EVENT", "NAME", "DATA", "AGE"]);
    let row = cells(table.line().await);
    assert_eq!(row[..3], ["initial", "a", "1"]);

    let mut labels = Running::start(&format!("watch cm {at} -A --show-labels"));
    assert_eq!(
        cells(labels.line().await),
        ["EVENT", "NAMESPACE", "NAME", "DATA", "AGE", "LABELS"]
    );
    // A real server has others.
    while !labels.line().await.ends_with("app=web") {}

    let mut names = Running::start(&format!("watch cm {at} -o name"));
    assert_eq!(names.line().await, "configmap/a");
    names.signal(Signal::SIGTERM);
    let ended = names.end().await;
    assert_eq!((ended.code, &*ended.out), (Some(0), ""));
}

/// Only on the simulator: another server, whose history is another one, comes in the place of the first.
#[tokio::test(flavor = "multi_thread")]
async fn it_never_gives_up_and_tells_what_it_missed() {
    let first = SimServer::builder().start().await.unwrap();
    let port = first.address().port();
    for name in ["a", "b"] {
        first.store().create(config_map("default", name, "web")).unwrap();
    }
    let mut watch = Running::start(&format!("watch cm -o json --server {}", first.url()));
    assert_eq!(keys(&watch.until("synced").await), ["default/a", "default/b"]);
    first.shutdown().await;
    let error = watch.json().await;
    assert_eq!(
        (&error["event"], &error["class"]),
        (&json!("error"), &json!("unreachable"))
    );
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("cannot reach the server"),
        "{error}"
    );

    let second = in_its_place(port).await;
    second.store().create(config_map("default", "b", "web")).unwrap();
    // Other objects of the same names: deleted while nobody looked, and one is created anew.
    let lines = watch.until("add").await;
    let lines: Vec<_> = lines.iter().filter(|line| line["event"] != "error").collect();
    let deleted: Vec<_> = lines.iter().filter(|line| line["event"] == "delete").collect();
    assert_eq!(deleted.len(), 2);
    assert!(deleted.iter().all(|line| line["tombstone"] == true), "{lines:?}");
    let added = lines.last().unwrap();
    assert_eq!((&added["key"], added.get("initial")), (&json!("default/b"), None));
}

/// Only on a real server: it is killed, and remembers no history when it is back.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a real API server: conformance/run"]
async fn it_tells_what_it_missed_while_a_real_server_was_away() {
    let cluster = Cluster::real(RealServer::start().await.unwrap()).await;
    let mut objects = Vec::new();
    for name in ["a", "b", "c"] {
        objects.push(cluster.create(config_map("default", name, "web")).await);
    }
    let mut watch = Running::start(&format!("watch cm -o json {}", cluster.arguments()));
    watch.until("synced").await;
    // It sees nothing of what follows: its connection is gone before, and its place in the history after.
    watch.signal(Signal::SIGSTOP);
    let server = cluster.real_server().unwrap();
    server.start_again(Part::ApiServer).unwrap();
    server.ready().await.unwrap();
    cluster.delete(&objects[0]).await;
    cluster.delete(&objects[1]).await;
    cluster.create(config_map("default", "b", "web")).await;
    let changed = cluster.update(config_map("default", "c", "db")).await;
    server.start_again(Part::ApiServer).unwrap();
    server.ready().await.unwrap();
    watch.signal(Signal::SIGCONT);
    let mut told = Vec::new();
    while told.len() < 4 {
        let line = watch.json().await;
        if line["event"] != "error" {
            told.push(line);
        }
    }
    // Deletions first; the order of the rest is that of the list.
    let short = |line: &Value| {
        (
            line["event"].clone(),
            line["key"].clone(),
            line["tombstone"] == true,
        )
    };
    let mut deletions: Vec<_> = told[..2].iter().map(short).collect();
    deletions.sort_by_key(|(_, key, _)| key.to_string());
    let gone = |key: &str| (json!("delete"), json!(key), true);
    assert_eq!(deletions, [gone("default/a"), gone("default/b")], "{told:?}");
    assert_eq!(short(&told[2]), (json!("add"), json!("default/b"), false));
    assert_eq!(short(&told[3]), (json!("update"), json!("default/c"), false));
    assert_eq!(told[3]["oldResourceVersion"], version(&objects[2]));
    assert_eq!(told[3]["resourceVersion"], version(&changed));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_ends_it_also_when_nobody_reads() {
    let cluster = Cluster::start().await;
    for n in 0..300 {
        cluster.create(pod(&format!("pod-{n}"))).await;
    }
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        // Far more than a pipe holds.
        let mut watch = Running::start(&format!(
            "watch po -A -o json --show-object {}",
            cluster.arguments()
        ));
        watch.line().await;
        let asked = Instant::now();
        watch.signal(signal);
        assert_eq!(watch.exit_code().await, Some(0));
        assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_has_gone_is_no_failure() {
    let cluster = Cluster::start().await;
    let mut watch = Running::start(&format!("watch cm -o json {}", cluster.arguments()));
    watch.until("synced").await;
    watch.close_output();
    cluster.create(config_map("default", "a", "web")).await;
    assert_eq!(watch.exit_code().await, Some(0));
    assert_eq!(watch.end().await.err, "");
}

/// Only on the simulator: it goes away, which the log tells.
#[tokio::test(flavor = "multi_thread")]
async fn it_goes_on_when_nobody_reads_its_log() {
    let first = SimServer::builder().start().await.unwrap();
    let port = first.address().port();
    let mut watch = Running::start(&format!("watch cm -o json --server {}", first.url()));
    watch.until("synced").await;
    watch.close_errors();
    first.shutdown().await;
    watch.until("error").await;
    let second = in_its_place(port).await;
    second.store().create(config_map("default", "a", "web")).unwrap();
    let lines = watch.until("add").await;
    assert_eq!(lines.last().unwrap()["key"], "default/a");
}
