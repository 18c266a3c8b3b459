//! The workload as clients see it.

use std::collections::BTreeMap;
use std::time::Duration;

use kube_sim::Sim;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::client::Client;

#[tokio::test(start_paused = true)]
async fn changes_come_at_their_rate_until_they_are_stopped() {
    let sim = Sim::builder()
        .nodes(5)
        .pods(50)
        .churn(50.0)
        .seed(3)
        .build()
        .unwrap();
    let client = Client::new(sim.clone());
    let first = client.store().resource_version();
    tokio::time::sleep(Duration::from_secs(10)).await;
    sim.stop_churn().await;
    let (changes, version) = (sim.changes(), client.store().resource_version());
    assert!((495..=502).contains(&changes), "{changes}");
    assert_eq!(changes, version - first, "each change is one resource version");
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(
        (sim.changes(), client.store().resource_version()),
        (changes, version)
    );
    // Stopped again, and without churn: at once.
    sim.stop_churn().await;
    Sim::builder().build().unwrap().stop_churn().await;
}

/// Rates that a timer cannot have do no harm, nor do pods that others have emptied or filled with something else.
#[tokio::test(start_paused = true)]
async fn changes_survive_odd_rates_and_odd_pods() {
    for rate in [f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, 1e30, -1.0] {
        let sim = Sim::builder().pods(1).churn(rate).build().unwrap();
        tokio::time::sleep(Duration::from_millis(1)).await;
        sim.stop_churn().await;
    }
    let sim = Sim::builder().nodes(1).pods(6).churn(1000.0).build().unwrap();
    let client = Client::new(sim.clone());
    for (n, status) in [
        json!({}),
        json!({"containerStatuses": [], "conditions": "none"}),
        json!({"containerStatuses": [1], "conditions": [1, {}]}),
        json!({"containerStatuses": [{"restartCount": i64::MAX}]}),
        json!("gone"),
    ]
    .into_iter()
    .enumerate()
    {
        let pod = &client.store().list("v1", "Pod", None).unwrap()[n];
        let mut pod = pod.clone();
        pod["status"] = status;
        pod["metadata"]["managedFields"] = json!(n);
        client.store().update(pod).unwrap();
    }
    let before = sim.changes();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(
        sim.changes() > before + 1900,
        "{} changes",
        sim.changes() - before
    );
    sim.stop_churn().await;
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_gives_the_same_history() {
    let history = async |seed| {
        let client = Client::new(
            Sim::builder()
                .nodes(2)
                .pods(10)
                .churn(100.0)
                .seed(seed)
                .build()
                .unwrap(),
        );
        tokio::time::sleep(Duration::from_secs(2)).await;
        client.sim.stop_churn().await;
        client.store().list("v1", "Pod", None).unwrap()
    };
    assert_eq!(history(1).await, history(1).await);
    assert_ne!(history(1).await, history(2).await);
}

/// Whoever applies all events to a list has what a later list shows: nothing is lost, doubled or out of order.
#[tokio::test(start_paused = true)]
async fn a_list_and_its_watch_are_the_collection() {
    let client = Client::new(
        Sim::builder()
            .nodes(3)
            .pods(40)
            .churn(200.0)
            .seed(9)
            .build()
            .unwrap(),
    );
    let list = client.get("/api/v1/pods").await.ok();
    let key = |object: &Value| {
        format!(
            "{}/{}",
            object["metadata"]["namespace"], object["metadata"]["name"]
        )
    };
    let bare = |object: &Value| {
        let mut object = object.clone();
        object
            .as_object_mut()
            .unwrap()
            .retain(|name, _| name != "kind" && name != "apiVersion");
        object
    };
    let mut held: BTreeMap<_, _> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| (key(o), o.clone()))
        .collect();
    let path = format!(
        "/api/v1/pods?watch=1&timeoutSeconds=6&resourceVersion={}",
        list["metadata"]["resourceVersion"].as_str().unwrap()
    );
    let mut watch = client.watch(&path).await;
    let sim = client.sim.clone();
    let stopper = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(5)).await;
        sim.stop_churn().await;
    });
    let started = Instant::now();
    let mut kinds = BTreeMap::new();
    while let Some(event) = watch.next().await {
        let kind = event["type"].as_str().unwrap().to_owned();
        let (key, object) = (key(&event["object"]), bare(&event["object"]));
        let known = match kind.as_str() {
            "DELETED" => held.remove(&key).is_some(),
            _ => held.insert(key, object).is_some(),
        };
        assert_eq!(known, kind != "ADDED");
        *kinds.entry(kind).or_insert(0) += 1;
    }
    stopper.await.unwrap();
    assert!(started.elapsed() >= Duration::from_secs(6));
    assert_eq!(kinds.len(), 3, "{kinds:?}");
    assert!(kinds.values().sum::<i32>() > 800, "{kinds:?}");
    let now = client.get("/api/v1/pods").await.ok();
    let now: BTreeMap<_, _> = now["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| (key(o), o.clone()))
        .collect();
    assert_eq!(held, now);
}
