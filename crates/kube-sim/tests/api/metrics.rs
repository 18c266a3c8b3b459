//! `/metrics`, with the names and labels of a kube-apiserver 1.36.

use crate::client::{CONFIGMAPS, Client, configmap};
use serde_json::json;

impl Client {
    /// The samples of a metric that are not zero, each with its labels but `component`, `group` and `version`, in order.
    async fn samples(&self, metric: &str) -> Vec<String> {
        let text = String::from_utf8(self.get("/metrics").await.body.to_vec()).unwrap();
        let samples = text.lines().filter_map(|line| {
            let (labels, value) = line.strip_prefix(metric)?.strip_prefix('{')?.split_once("} ")?;
            let labels = labels.split(',').filter_map(|label| {
                let (name, value) = label.split_once('=')?;
                let tells = !matches!(name, "component" | "group" | "version") && value != r#""""#;
                tells.then(|| value.trim_matches('"'))
            });
            (value != "0").then(|| format!("{}: {value}", labels.collect::<Vec<_>>().join(" ")))
        });
        samples.collect()
    }
}

#[tokio::test]
async fn requests_are_counted_as_by_a_real_server() {
    let client = Client::empty();
    let map = format!("{CONFIGMAPS}/a");
    client.post(CONFIGMAPS, configmap("a", 1)).await.ok();
    assert_eq!(client.post(CONFIGMAPS, configmap("a", 1)).await.code, 409);
    client
        .post(&format!("{CONFIGMAPS}?dryRun=All"), configmap("b", 1))
        .await
        .ok();
    let refused = client
        .post(&format!("{CONFIGMAPS}?dryRun=Some"), configmap("b", 1))
        .await;
    assert_eq!(refused.code, 422);
    client.get(&map).await.ok();
    assert_eq!(client.get(&format!("{CONFIGMAPS}/none")).await.code, 404);
    client.get(CONFIGMAPS).await.ok();
    client.get("/api/v1/configmaps").await.ok();
    client.merge(&map, json!({"data": {"a": "b"}})).await.ok();
    let applied = json!({"apiVersion": "v1", "kind": "ConfigMap"});
    let apply = format!("{map}?fieldManager=test");
    client
        .patch(&apply, "application/apply-patch+yaml", applied)
        .await
        .ok();
    client.put(&map, configmap("a", 2)).await.ok();
    client.delete(&map, json!(null)).await.ok();
    client.delete(CONFIGMAPS, json!(null)).await.ok();
    client.get("/api/v1/namespaces/default/pods/none/log").await;
    // None of these count.
    assert_eq!(client.post(&map, configmap("a", 1)).await.code, 405);
    assert_eq!(client.patch(&map, "text/plain", json!({})).await.code, 415);
    assert_eq!(client.get("/api/v1/nothing").await.code, 404);
    client.get("/api/v1").await.ok();
    let expected = [
        "200 configmaps cluster LIST: 1",
        "200 configmaps namespace DELETE: 1",
        "200 configmaps namespace LIST: 1",
        "200 configmaps resource APPLY: 1",
        "200 configmaps resource DELETE: 1",
        "200 configmaps resource GET: 1",
        "200 configmaps resource PATCH: 1",
        "200 configmaps resource PUT: 1",
        "201 configmaps resource POST: 1",
        "201 All configmaps resource POST: 1",
        "404 configmaps resource GET: 1",
        "404 pods resource log CONNECT: 1",
        "409 configmaps resource POST: 1",
        "422 invalid configmaps resource POST: 1",
    ];
    assert_eq!(client.samples("apiserver_request_total").await, expected);
}

#[tokio::test]
async fn a_watch_counts_when_it_ends() {
    let client = Client::empty();
    client.configmaps(&["a", "b"]);
    let mut watch = client.watch(&format!("{CONFIGMAPS}?watch=1")).await;
    let bytes = watch.next().await.unwrap().to_string().len();
    let open = ["configmaps namespace WATCH: 1"];
    assert_eq!(client.samples("apiserver_longrunning_requests").await, open);
    assert_eq!(
        client.samples("apiserver_watch_events_total").await,
        ["configmaps: 2"]
    );
    assert!(client.samples("apiserver_request_total").await.is_empty());
    drop(watch);
    assert!(client.samples("apiserver_longrunning_requests").await.is_empty());
    let ended = ["200 configmaps namespace WATCH: 1"];
    assert_eq!(client.samples("apiserver_request_total").await, ended);
    let sent = client.samples("apiserver_response_sizes_sum").await;
    let sent: usize = sent[0].rsplit_once(' ').unwrap().1.parse().unwrap();
    assert!(
        (2 * bytes..3 * bytes).contains(&sent),
        "{sent} for two events of {bytes}"
    );
}

#[tokio::test]
async fn the_bytes_of_answers_are_counted() {
    let client = Client::empty();
    client.configmaps(&["a", "b"]);
    let answer = client.get(CONFIGMAPS).await;
    let sent = format!("configmaps namespace LIST: {}", answer.body.len());
    assert_eq!(client.samples("apiserver_response_sizes_sum").await, [sent]);
    let counted = ["configmaps namespace LIST: 1"];
    assert_eq!(client.samples("apiserver_response_sizes_count").await, counted);
}

#[tokio::test]
async fn a_refused_watch_is_not_open() {
    let client = Client::empty();
    let answer = client
        .get(&format!("{CONFIGMAPS}?watch=1&labelSelector=a==b==c"))
        .await;
    assert_eq!(answer.code, 400);
    assert!(client.samples("apiserver_longrunning_requests").await.is_empty());
    let refused = ["400 configmaps namespace WATCH: 1"];
    assert_eq!(client.samples("apiserver_request_total").await, refused);
}
