//! The columns of `watch`: those of the server's tables, as kubectl shows them.

use crate::process::Running;
use crate::{config_map, pod, scripted, widgets};
use conformance::cluster::Cluster;
use kube_sim::script::{Answer, Kind, Received, event};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The cells of the next row, without spaces and without the last one, which is the age.
async fn cells(watch: &mut Running) -> String {
    let line = watch.line().await;
    let cells: Vec<_> = line.split_whitespace().collect();
    cells[..cells.len() - 1].join(" ")
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_are_those_of_kubectl() {
    let cluster = Cluster::start().await;
    let created = cluster.create(pod("web-0")).await;
    let mut watch = Running::start(&format!("watch pods {}", cluster.arguments()));
    let mut wide = Running::start(&format!("watch pods -A -o wide {}", cluster.arguments()));
    let header = watch.line().await;
    assert_eq!(header, "EVENT       NAME    READY   STATUS    RESTARTS   AGE");
    assert_eq!(cells(&mut watch).await, "initial web-0 0/1 Pending 0");
    let header = wide.line().await;
    let header: Vec<_> = header
        .split("   ")
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .collect();
    assert_eq!(
        header.join(","),
        "EVENT,NAMESPACE,NAME,READY,STATUS,RESTARTS,AGE,IP,NODE,NOMINATED NODE,READINESS GATES"
    );
    let row = wide.line().await;
    assert!(
        row.starts_with("initial     default     web-0   0/1     Pending   0"),
        "{row}"
    );
    assert!(
        row.ends_with("<none>   <none>   <none>           <none>"),
        "{row}"
    );
    cluster.delete(&created).await;
    // A real server lets the pod end first.
    let row = cells(&mut watch).await;
    assert!(
        row.starts_with("update web-0") || row.starts_with("delete web-0"),
        "{row}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn custom_resources_have_their_own_columns() {
    let cluster = Cluster::start().await;
    let mut definition = widgets();
    definition["spec"]["versions"][0]["additionalPrinterColumns"] = json!([
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
        {"name": "Missing", "type": "string", "jsonPath": ".spec.missing"},
        {"name": "Hidden", "type": "string", "jsonPath": ".spec.hidden", "priority": 1},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]);
    cluster.create(definition).await;
    let widget = json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"namespace": "default", "name": "w"},
        "spec": {"size": 3, "hidden": "x"},
    });
    cluster.create(widget).await;
    let mut watch = Running::start(&format!("watch widgets {}", cluster.arguments()));
    assert_eq!(watch.line().await, "EVENT       NAME   SIZE   MISSING   AGE");
    assert_eq!(cells(&mut watch).await, "initial w 3");
    let mut watch = Running::start(&format!("watch widgets -o wide {}", cluster.arguments()));
    assert_eq!(
        watch.line().await,
        "EVENT       NAME   SIZE   MISSING   HIDDEN   AGE"
    );
    assert_eq!(cells(&mut watch).await, "initial w 3 x");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cells_are_no_part_of_an_object() {
    let cluster = Cluster::start().await;
    cluster.create(config_map("default", "a", "web")).await;
    let args = format!("watch cm a --diff=all --show-object {}", cluster.arguments());
    let mut watch = Running::start(&args);
    let mut printed = String::new();
    let mut object = async |watch: &mut Running| {
        loop {
            let line = watch.line().await;
            printed.push_str(&line);
            if line == "}" {
                return;
            }
        }
    };
    object(&mut watch).await;
    cluster.update(config_map("default", "a", "db")).await;
    object(&mut watch).await;
    assert!(printed.contains("metadata.labels.app"), "{printed}");
    assert!(!printed.contains("kubectl-informer"), "{printed}");
}

fn asks_for_table(request: &Received) -> bool {
    let accept = request
        .headers
        .get("accept")
        .and_then(|accept| accept.to_str().ok());
    accept.is_some_and(|accept| accept.contains("as=Table"))
}

/// A table of a config map, at this age.
fn table(version: &str, age: &str) -> Value {
    let object = Kind::new("v1", "ConfigMap").object("default/a", "5");
    json!({
        "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {"resourceVersion": version},
        "columnDefinitions": [
            {"name": "Name", "type": "string", "format": "name", "description": "", "priority": 0},
            {"name": "Age", "type": "string", "format": "", "description": "", "priority": 0},
        ],
        "rows": [{"cells": ["a", age], "object": object}],
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_may_refuse_tables() {
    let maps = Kind::new("v1", "ConfigMap");
    let (server, listener) = scripted::server(move |request| match request.parameter("watch") {
        _ if asks_for_table(request) => Answer::status(406, "NotAcceptable", "only JSON"),
        Some(_) => Answer::watch([event("ADDED", &maps.object("default/b", "6"))]).open(),
        None => Answer::json(maps.list("5", [maps.object("default/a", "5")])),
    })
    .await;
    let args = format!("watch cm --initial list --server {}", listener.url());
    let mut watch = Running::start(&args);
    assert_eq!(
        watch.line().await,
        "EVENT       NAMESPACE   NAME   AGE    VERSION"
    );
    assert!(watch.line().await.starts_with("initial     default     a"));
    assert!(watch.line().await.starts_with("add         default     b"));
    let asked = server.requests().into_iter().filter(asks_for_table).count();
    assert_eq!(asked, 1, "nothing else is asked for as a table");
}

/// A new list shows the same object at another age.
#[tokio::test(flavor = "multi_thread")]
async fn another_age_is_no_update() {
    let lists = AtomicUsize::new(0);
    let (_server, listener) = scripted::server(move |request| match request.parameter("watch") {
        None => {
            let age = format!("{}s", lists.fetch_add(1, Ordering::Relaxed));
            Answer::json(table("5", &age).to_string())
        }
        Some(_) if lists.load(Ordering::Relaxed) < 3 => Answer::watch([event(
            "ERROR",
            &kube_sim::script::status(410, "Expired", "too old"),
        )]),
        Some(_) => {
            let mut table = table("6", "9s");
            table["rows"][0]["object"]["metadata"]["resourceVersion"] = "6".into();
            Answer::watch([event("MODIFIED", &table)]).open()
        }
    })
    .await;
    let args = format!("watch cm --initial list --server {}", listener.url());
    let mut watch = Running::start(&args);
    assert_eq!(watch.line().await, "EVENT       NAME   AGE");
    assert_eq!(watch.line().await, "initial     a      0s");
    // On a busy machine the update may already count as missed.
    watch.said("listed again").await;
    assert_eq!(watch.line().await, "update      a      9s");
}
