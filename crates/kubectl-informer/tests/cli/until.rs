//! `watch --until`.

use crate::config_map;
use crate::process::{Ended, Running, run};
use conformance::cluster::Cluster;
use nix::sys::signal::Signal;
use serde_json::{Value, json};

/// A config map with a status; no server objects to more fields of it than one needs here.
fn map(name: &str, phase: &str) -> Value {
    let mut map = config_map("default", name, "web");
    map["data"] = json!({"phase": phase});
    map
}

/// A custom resource with conditions.
fn widget(name: &str, ready: &str) -> Value {
    json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"namespace": "default", "name": name},
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    })
}

async fn wait(cluster: &Cluster, args: &str) -> Ended {
    run(&format!("watch {args} {}", cluster.arguments())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_met_already_ends_at_once() {
    let cluster = crate::cluster().await;
    cluster.create(map("a", "Running")).await;
    cluster.create(widget("w", "True")).await;
    for args in [
        "cm a --until create",
        "cm/a --until jsonpath={.data.phase}=Running",
        "cm/a --until jsonpath={.data.phase} --timeout 0",
        "cm/b --until delete",
        "cm -A -l app=nothing --until delete",
        "wd --until condition=Ready",
        "wd/w cm/a --until create",
    ] {
        let ended = wait(&cluster, args).await;
        assert_eq!(ended.code, Some(0), "{args}: {ended:?}");
        assert!(ended.err.contains("met: "), "{args}: {ended:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_ends_when_every_object_meets_the_condition() {
    let cluster = crate::cluster().await;
    for name in ["a", "b"] {
        cluster.create(widget(name, "False")).await;
    }
    let mut watch = Running::start(&format!(
        "watch wd -o json --until condition=Ready {}",
        cluster.arguments()
    ));
    watch.until("synced").await;
    for name in ["a", "b"] {
        cluster.update(widget(name, "True")).await;
        watch.until("update").await;
    }
    let met = watch.json().await;
    assert_eq!(met, json!({"event": "met", "message": "condition=Ready=True"}));
    assert_eq!(watch.exit_code().await, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn creation_and_deletion_are_waited_for() {
    let cluster = Cluster::start().await;
    let start = |condition: &str| {
        Running::start(&format!(
            "watch cm a -o json --until {condition} {}",
            cluster.arguments()
        ))
    };
    let mut watch = start("create");
    watch.until("synced").await;
    let created = cluster.create(map("a", "Running")).await;
    assert_eq!(watch.exit_code().await, Some(0));

    let mut watch = start("delete");
    watch.until("synced").await;
    cluster.delete(&created).await;
    assert_eq!(watch.exit_code().await, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_has_an_exit_code_of_its_own() {
    let cluster = Cluster::start().await;
    cluster.create(map("a", "Pending")).await;
    cluster.create(map("b", "Running")).await;
    for (args, expected) in [
        (
            "cm -l app=web --until jsonpath={.data.phase}=Running --timeout 1s",
            "timed out after 1s: jsonpath={.data.phase}=Running is not met (configmaps in namespace \"default\": not by \
             default/a)",
        ),
        (
            "cm/c --until create --timeout 1s",
            "create is not met (configmap/c in namespace \"default\": there is none)",
        ),
        (
            "cm/a --until delete --timeout 1s",
            "delete is not met (configmap/a in namespace \"default\": not by default/a",
        ),
    ] {
        let ended = wait(&cluster, args).await;
        assert_eq!(ended.code, Some(124), "{args}: {ended:?}");
        let last = ended.err.lines().last().unwrap();
        assert!(
            last.starts_with("error: timed out") && last.contains(expected),
            "{args}: {ended:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_fails_does_not_wait() {
    let cluster = Cluster::start().await;
    cluster.create(map("a", "Pending")).await;
    let ended = wait(
        &cluster,
        "cm/a --until jsonpath={.data.phase}=Running --timeout 0",
    )
    .await;
    assert_eq!(ended.code, Some(124), "{ended:?}");
    let last = ended.err.lines().last().unwrap();
    assert!(last.contains("not by default/a"), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_before_the_condition_is_no_success() {
    let cluster = Cluster::start().await;
    let mut watch = Running::start(&format!(
        "watch cm/a -o json --until create {}",
        cluster.arguments()
    ));
    watch.until("synced").await;
    watch.signal(Signal::SIGINT);
    let ended = watch.end().await;
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert!(
        ended.err.contains("error: interrupted before create was met"),
        "{ended:?}"
    );
}
