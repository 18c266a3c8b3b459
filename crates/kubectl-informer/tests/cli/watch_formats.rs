//! What `watch` prints of a change: its fields, in formats, of several resources.

use crate::process::Running;
use crate::{config_map, secret};
use conformance::cluster::Cluster;
use serde_json::{Value, json};

fn start(cluster: &Cluster, args: &str) -> Running {
    Running::start(&format!("watch {args} {}", cluster.arguments()))
}

/// The next lines.
async fn lines(watch: &mut Running, count: usize) -> Vec<String> {
    let mut lines = Vec::new();
    while lines.len() < count {
        lines.push(watch.line().await);
    }
    lines
}

#[tokio::test(flavor = "multi_thread")]
async fn a_diff_tells_fields_and_managers() {
    let cluster = Cluster::start().await;
    let created = cluster.create(config_map("default", "a", "web")).await;
    let mut json = start(&cluster, "cm a -o json --diff");
    json.until("synced").await;
    let mut table = start(&cluster, "cm a --diff");
    lines(&mut table, 2).await;

    let mut changed = config_map("default", "a", "db");
    changed["data"] = json!({"k": "w", "new": "1"});
    let updated = cluster.update(changed).await;
    let manager = updated["metadata"]["managedFields"][0]["manager"].as_str();
    let mut line = json.json().await;
    assert_eq!(line["oldResourceVersion"], created["metadata"]["resourceVersion"]);
    let change = |path: &str, op: &str, old: Option<&str>, new: &str| {
        let mut change = json!({"path": path, "op": op, "new": new});
        if let Some(old) = old {
            change["old"] = old.into();
        }
        if let Some(manager) = manager {
            change["manager"] = manager.into();
        }
        change
    };
    assert_eq!(
        line["changes"].take(),
        json!([
            change("data.k", "replace", Some("v"), "w"),
            change("data.new", "add", None, "1"),
            change("metadata.labels.app", "replace", Some("web"), "db"),
        ])
    );

    let rows = lines(&mut table, 4).await;
    let by = manager
        .map(|manager| format!("   by {manager}"))
        .unwrap_or_default();
    assert!(rows[0].starts_with("update"), "{rows:?}");
    assert_eq!(
        rows[1..],
        [
            format!(r#"    ~ data.k: "v" -> "w"{by}"#),
            format!(r#"    + data.new: "1"{by}"#),
            format!(r#"    ~ metadata.labels.app: "web" -> "db"{by}"#),
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn heartbeats_are_no_changes_unless_all_are_wanted() {
    let cluster = Cluster::start().await;
    let lease = |second: u8| {
        json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"namespace": "default", "name": "l"},
            "spec": {"holderIdentity": "me", "renewTime": format!("2026-01-01T00:00:{second:02}.000000Z")},
        })
    };
    cluster.create(lease(1)).await;
    let mut content = start(&cluster, "lease l -o json --diff");
    let mut all = start(&cluster, "lease l -o json --diff=all");
    let mut table = start(&cluster, "lease l --diff");
    content.until("synced").await;
    all.until("synced").await;
    lines(&mut table, 2).await;
    cluster.update(lease(2)).await;
    assert_eq!(content.json().await["changes"], json!([]));
    let changes = all.json().await["changes"].take();
    let paths: Vec<_> = changes
        .as_array()
        .unwrap()
        .iter()
        .map(|change| &change["path"])
        .collect();
    for path in ["metadata.resourceVersion", "spec.renewTime"] {
        assert!(paths.contains(&&json!(path)), "{changes}");
    }
    let rows = lines(&mut table, 2).await;
    assert_eq!(rows[1], "    only bookkeeping and heartbeats (see --diff=all)");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_diff_shows_no_value_of_a_secret() {
    let cluster = Cluster::start().await;
    cluster.create(secret("default", "s", "web")).await;
    let mut json = start(&cluster, "secrets -o json --diff=all");
    let mut table = start(&cluster, "secrets --diff=all");
    json.until("synced").await;
    lines(&mut table, 2).await;
    let mut changed = secret("default", "s", "web");
    changed["data"] = json!({"password": "b3RoZXI=", "more": "bW9yZQ=="});
    changed["metadata"]["annotations"] =
        json!({"kubectl.kubernetes.io/last-applied-configuration": "b3RoZXI="});
    cluster.update(changed).await;

    let line = json.json().await;
    let changes = line["changes"].as_array().unwrap();
    let redacted: Vec<_> = changes
        .iter()
        .filter(|change| change["redacted"] == true)
        .collect();
    let paths: Vec<_> = redacted
        .iter()
        .map(|change| (change["path"].as_str().unwrap(), &change["op"]))
        .collect();
    assert_eq!(
        paths,
        [
            ("data.more", &json!("add")),
            ("data.password", &json!("replace")),
            ("metadata.annotations", &json!("add")),
        ]
    );
    let rows = lines(&mut table, 3).await;
    assert!(rows[1].starts_with("    + data.more: (not shown)"), "{rows:?}");
    assert!(
        rows[2].starts_with("    ~ data.password: (not shown)"),
        "{rows:?}"
    );
    let all = format!("{line}{rows:?}");
    for value in ["aHVudGVyMg", "b3RoZXI", "bW9yZQ"] {
        assert!(!all.contains(value), "{all}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn several_resources_are_told_apart() {
    let cluster = Cluster::start().await;
    cluster.create(config_map("default", "a", "web")).await;
    cluster.create(secret("default", "a", "web")).await;
    cluster.create(secret("default", "b", "web")).await;
    let mut watch = start(&cluster, "cm,secrets -l app=web -o json");
    let mut told = Vec::new();
    while told.len() < 5 {
        let line = watch.json().await;
        told.push((
            line["resource"].to_string(),
            line["event"].to_string(),
            line["key"].to_string(),
        ));
    }
    told.sort();
    let line = |resource: &str, event: &str, key: Option<&str>| {
        (
            json!(resource).to_string(),
            json!(event).to_string(),
            json!(key).to_string(),
        )
    };
    assert_eq!(
        told,
        [
            line("configmaps", "add", Some("default/a")),
            line("configmaps", "synced", None),
            line("secrets", "add", Some("default/a")),
            line("secrets", "add", Some("default/b")),
            line("secrets", "synced", None),
        ]
    );

    for args in ["configmap/a secret/b", "cm/a secret/b configmaps/a"] {
        let mut watch = start(&cluster, args);
        // Each with the header of its kind.
        let mut rows = lines(&mut watch, 4).await;
        rows.retain(|row| !row.starts_with("EVENT"));
        let mut names: Vec<_> = rows
            .iter()
            .map(|row| row.split_whitespace().nth(1).unwrap())
            .collect();
        names.sort_unstable();
        assert_eq!(names, ["configmap/a", "secret/b"], "{args}");
    }
    let mut watch = start(&cluster, "secrets a b -o name");
    let mut rows = lines(&mut watch, 2).await;
    rows.sort();
    assert_eq!(rows, ["secret/a", "secret/b"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn yaml_has_whole_objects() {
    let cluster = Cluster::start().await;
    let mut created = cluster.create(config_map("default", "a", "web")).await;
    let mut watch = start(&cluster, "cm a -o yaml");
    assert_eq!(lines(&mut watch, 2).await, ["---", "# initial"]);
    let deleted = async {
        cluster.delete(&created).await;
        let mut document = String::new();
        loop {
            match watch.line().await.as_str() {
                "---" => return document,
                line => document.push_str(&format!("{line}\n")),
            }
        }
    };
    let document: Value = serde_saphyr::from_str(&deleted.await).unwrap();
    created["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("managedFields");
    assert_eq!(document, created);
    assert_eq!(watch.line().await, "# delete");
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_are_those_of_the_user() {
    let cluster = Cluster::start().await;
    cluster.create(config_map("default", "a", "web")).await;
    let columns = "-o custom-columns=NAME:.metadata.name,APP:metadata.labels['app'],X:.nothing";
    let mut watch = start(&cluster, &format!("cm a {columns}"));
    let rows = lines(&mut watch, 2).await;
    assert_eq!(
        rows,
        ["EVENT       NAME   APP   X", "initial     a      web   <none>"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn colours_are_for_terminals() {
    let cluster = Cluster::start().await;
    cluster.create(config_map("default", "a", "web")).await;
    let at = cluster.arguments();
    for (variables, color, colored) in [
        (&[][..], "auto", false),
        (&[], "always", true),
        (&[("NO_COLOR", "1")], "always", true),
        (&[("CLICOLOR_FORCE", "1")], "auto", true),
        (&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], "auto", false),
        (&[("CLICOLOR_FORCE", "1")], "never", false),
    ] {
        let args = format!("watch cm a --color {color} {at}");
        let args: Vec<_> = args.split(' ').collect();
        let mut watch = Running::start_in(variables, &args);
        lines(&mut watch, 2).await;
        // Each time another value.
        cluster
            .update(config_map(
                "default",
                "a",
                &format!("{color}-{}", variables.len()),
            ))
            .await;
        cluster.update(config_map("default", "a", "web")).await;
        let row = watch.line().await;
        assert_eq!(
            row.starts_with("\u{1b}[33mupdate\u{1b}[0m"),
            colored,
            "{variables:?} {color}: {row:?}"
        );
        assert_eq!(row.contains('\u{1b}'), colored, "{variables:?} {color}: {row:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_prints_a_line_for_each_change() {
    let cluster = Cluster::start().await;
    cluster.create(config_map("default", "a", "web")).await;
    let template = r#"-o jsonpath={.metadata.name}{"\t"}{.metadata.labels.app}{"\n"}"#;
    let mut watch = start(&cluster, &format!("cm {template}"));
    assert_eq!(watch.line().await, "a\tweb");
    cluster.update(config_map("default", "a", "db")).await;
    assert_eq!(watch.line().await, "a\tdb");
}

#[tokio::test(flavor = "multi_thread")]
async fn since_leaves_old_objects_out() {
    let server = kube_sim::SimServer::builder().start().await.unwrap();
    let mut old = config_map("default", "old", "web");
    old["metadata"]["creationTimestamp"] = "2020-01-01T00:00:00Z".into();
    server.store().create(old.clone()).unwrap();
    server
        .store()
        .create(config_map("default", "new", "web"))
        .unwrap();
    let at = format!("--server {}", server.url());
    for (since, expected) in [
        ("1h", &["default/new"][..]),
        ("0", &[]),
        ("80000h", &["default/new", "default/old"]),
    ] {
        let mut watch = Running::start(&format!("watch cm -o json --since {since} {at}"));
        let lines = watch.until("synced").await;
        let keys: Vec<_> = lines.iter().filter_map(|line| line["key"].as_str()).collect();
        assert_eq!(keys, expected, "{since}");
        old["data"]["k"] = since.into();
        server.store().update(old.clone()).unwrap();
        assert_eq!(watch.json().await["event"], "update");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_diff_leaves_the_applied_copy_out() {
    let cluster = Cluster::start().await;
    cluster.create(config_map("default", "a", "web")).await;
    let mut watch = start(&cluster, "cm --diff");
    lines(&mut watch, 2).await;
    let mut applied = config_map("default", "a", "db");
    applied["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": "{}"});
    cluster.update(applied).await;
    let rows = lines(&mut watch, 2).await;
    assert!(
        rows[1].starts_with("    ~ metadata.labels.app: \"web\" -> \"db\""),
        "{rows:?}"
    );
    // Nothing of the annotation comes before the next change.
    cluster.create(config_map("default", "b", "web")).await;
    assert!(watch.line().await.starts_with("add "));
}
