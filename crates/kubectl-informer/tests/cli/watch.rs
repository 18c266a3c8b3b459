//! `watch`.

use crate::process::Running;
use crate::{cluster, config_map};
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
    let server = cluster().start().await.unwrap();
    let store = server.store();
    let a = store.create(config_map("default", "a", "web")).unwrap();
    let mut watch = Running::start(&format!("watch configmaps -o json --server {}", server.url()));
    assert_eq!(
        watch.json().await,
        json!({"event": "add", "key": "default/a", "resourceVersion": version(&a), "initial": true})
    );
    assert_eq!(watch.line().await, r#"{"event":"synced"}"#);

    let b = store.create(config_map("default", "b", "web")).unwrap();
    // As text: the order of the members is part of what people see.
    let expected = format!(
        r#"{{"event":"add","key":"default/b","resourceVersion":{}}}"#,
        version(&b)
    );
    assert_eq!(watch.line().await, expected);

    let changed = store.update(config_map("default", "b", "db")).unwrap();
    let expected = format!(
        r#"{{"event":"update","key":"default/b","oldResourceVersion":{},"resourceVersion":{}}}"#,
        version(&b),
        version(&changed)
    );
    assert_eq!(watch.line().await, expected);

    store.delete("v1", "ConfigMap", Some("default"), "b").unwrap();
    let deleted = store.resource_version().to_string();
    let line = watch.json().await;
    assert_eq!(
        line,
        json!({"event": "delete", "key": "default/b", "resourceVersion": deleted})
    );
    watch.signal(Signal::SIGINT);
    let ended = watch.end().await;
    assert_eq!((ended.code, &*ended.out, &*ended.err), (Some(0), "", ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_selected_is_shown() {
    let server = cluster().start().await.unwrap();
    for (namespace, name, label) in [
        ("default", "a", "web"),
        ("default", "b", "db"),
        ("kube-system", "c", "web"),
    ] {
        server.store().create(config_map(namespace, name, label)).unwrap();
    }
    for (selection, expected) in [
        ("", vec!["default/a", "default/b"]),
        ("-A", vec!["default/a", "default/b", "kube-system/c"]),
        ("-n kube-system", vec!["kube-system/c"]),
        ("-A -l app=web", vec!["default/a", "kube-system/c"]),
        ("-A --selector app!=web", vec!["default/b"]),
        ("-A --field-selector metadata.name=b", vec!["default/b"]),
        ("-n nowhere", vec![]),
    ] {
        let mut watch = Running::start(&format!("watch cm {selection} -o json --server {}", server.url()));
        let lines = watch.until("synced").await;
        assert_eq!(keys(&lines), expected, "{selection}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kubeconfig_says_where_and_which_namespace() {
    let server = cluster().start().await.unwrap();
    server
        .store()
        .create(config_map("kube-system", "c", "web"))
        .unwrap();
    let kubeconfig = server
        .kubeconfig()
        .replace("\"namespace\": \"default\"", "\"namespace\": \"kube-system\"");
    let path = std::env::temp_dir().join(format!("kubectl-informer-test-{}.yaml", std::process::id()));
    std::fs::write(&path, kubeconfig).unwrap();
    let args = format!(
        "watch cm -o json --context kube-sim --kubeconfig {}",
        path.display()
    );
    let lines = Running::start(&args).until("synced").await;
    std::fs::remove_file(&path).unwrap();
    assert_eq!(keys(&lines), ["kube-system/c"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_have_many_names() {
    let server = cluster().start().await.unwrap();
    let widget = json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"namespace": "default", "name": "w"}, "size": 1,
    });
    server.store().create(widget).unwrap();
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
        let mut watch = Running::start(&format!("watch {name} -o json --server {}", server.url()));
        assert_eq!(watch.until("synced").await.len(), expected + 1, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_are_shown_whole_and_only_when_asked() {
    let server = cluster().start().await.unwrap();
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "default", "name": "s"},
        "type": "Opaque", "data": {"password": "aHVudGVyMg=="},
    });
    let stored = server.store().create(secret).unwrap();
    let args = format!("watch secrets -o json --server {}", server.url());
    let mut watch = Running::start(&format!("{args} --show-object"));
    assert_eq!(watch.json().await["object"], stored);

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
    let server = cluster().start().await.unwrap();
    let a = server.store().create(config_map("default", "a", "web")).unwrap();
    let url = server.url();
    let cells = |line: String| line.split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>();
    let mut table = Running::start(&format!("watch cm --server {url}"));
    assert_eq!(
        cells(table.line().await),
        ["EVENT", "NAMESPACE", "NAME", "AGE", "VERSION"]
    );
    let row = cells(table.line().await);
    assert_eq!(
        (&row[..3], &row[4..]),
        (
            &["initial", "default", "a"].map(String::from)[..],
            &[version(&a).as_str().unwrap().to_owned()][..]
        )
    );

    let mut wide = Running::start(&format!("watch cm --server {url} -o wide"));
    let header = wide.line().await;
    assert!(header.ends_with("LABELS"), "{header}");
    let row = wide.line().await;
    assert!(
        row.ends_with("app=web") && row.contains(a["metadata"]["uid"].as_str().unwrap()),
        "{row}"
    );

    let mut names = Running::start(&format!("watch cm --server {url} -o name"));
    assert_eq!(names.line().await, "configmap/a");
    names.signal(Signal::SIGTERM);
    let ended = names.end().await;
    assert_eq!((ended.code, &*ended.out), (Some(0), ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn it_never_gives_up_and_tells_what_it_missed() {
    let first = cluster().start().await.unwrap();
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

    // Its versions are ahead, and it has no history from before: as after a long outage.
    let second = cluster().nodes(50).history(0).port(port).start().await.unwrap();
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

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_ends_it_also_when_nobody_reads() {
    let server = cluster().nodes(3).pods(300).start().await.unwrap();
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        // Far more than a pipe holds.
        let mut watch = Running::start(&format!(
            "watch po -A -o json --show-object --server {}",
            server.url()
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
    let server = cluster().start().await.unwrap();
    let mut watch = Running::start(&format!("watch cm -o json --server {}", server.url()));
    watch.until("synced").await;
    watch.close_output();
    server.store().create(config_map("default", "a", "web")).unwrap();
    assert_eq!(watch.exit_code().await, Some(0));
    assert_eq!(watch.end().await.err, "");
}
