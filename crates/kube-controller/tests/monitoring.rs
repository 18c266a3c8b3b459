//! The alerts and the dashboard of `examples/sample-controller` are about metrics that exist.
#![cfg(feature = "server")]

use instances as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client};
use kube_controller::controller::{Action, Controller};
use kube_controller::leader_election::LeaderElectionConfig;
use kube_controller::manager::Manager;
use kube_controller::watcher;
use kube_sim::SimServer;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

const ALERTS: &str = include_str!("../../../examples/sample-controller/monitoring/alerts.yaml");
const DASHBOARD: &str = include_str!("../../../examples/sample-controller/monitoring/dashboard.json");

/// The queries of the alerts; each is in one line.
fn of_alerts() -> Vec<String> {
    let queries = ALERTS
        .lines()
        .filter_map(|line| line.trim().strip_prefix("expr: "));
    queries.map(str::to_owned).collect()
}

/// The queries of the dashboard's panels, and of its variables.
fn of_dashboard() -> Vec<String> {
    fn collect(value: &Value, queries: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    match value.as_str() {
                        Some(query) if name == "expr" => queries.push(query.to_owned()),
                        Some(query) if name == "query" => {
                            queries.extend(
                                query
                                    .strip_prefix("label_values(")
                                    .and_then(|query| query.split_once(','))
                                    .map(|(metric, _)| metric.to_owned()),
                            );
                        }
                        _ => collect(value, queries),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, queries)),
            _ => {}
        }
    }
    let mut queries = Vec::new();
    collect(&serde_json::from_str(DASHBOARD).unwrap(), &mut queries);
    queries
}

/// The metrics in a query: its words, but for functions, aggregations, and what is in braces, brackets or behind `by`.
fn metrics(query: &str) -> BTreeSet<String> {
    let mut metrics = BTreeSet::new();
    let mut rest = query;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '{' || c == '[') {
        rest = &rest[start..];
        if let Some(end) = match rest.as_bytes()[0] {
            b'{' => rest.find('}'),
            b'[' => rest.find(']'),
            _ => None,
        } {
            rest = &rest[end + 1..];
            continue;
        }
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        rest = behind;
        if word == "by" {
            rest = &behind[behind.find(')').expect("labels") + 1..];
        } else if !behind.starts_with('(') && !behind.starts_with(" by (") {
            metrics.insert(word.to_owned());
        }
    }
    metrics
}

#[test]
fn the_metrics_of_a_query_are_found() {
    let query = r#"sum by (a) (rate(x_total{b="c"}[5m])) / histogram_quantile(0.9, sum by (le) (rate(y_bucket[1h]))) > 2"#;
    assert_eq!(
        metrics(query),
        BTreeSet::from(["x_total".to_owned(), "y_bucket".to_owned()])
    );
}

async fn scrape(address: SocketAddr) -> String {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let request = "GET /metrics HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n";
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alerts_and_dashboard_name_exported_metrics_only() {
    let server = SimServer::builder().start().await.unwrap();
    let metadata = json!({"name": "a", "namespace": "default"});
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
    server.store().create(map).unwrap();
    let client = Client::try_from(kube::Config::new(server.url().parse().unwrap())).unwrap();
    let manager = Manager::new(client.clone(), "test")
        .leader_election(LeaderElectionConfig::new("default", "test", "a"))
        .unwrap()
        .serve(0)
        .unwrap();
    let address = manager.address().unwrap();
    let controller = Controller::new(Api::<ConfigMap>::all(client), watcher::Config::default());
    let reconcile = async |_, _: Arc<()>| Ok::<_, Infallible>(Action::await_change());
    manager
        .add_controller(controller, reconcile, |_, _, _| Action::backoff(), Arc::new(()))
        .unwrap();
    let stop = CancellationToken::new();
    let running = tokio::spawn(manager.run_until(stop.clone()));

    let queries: Vec<_> = of_alerts().into_iter().chain(of_dashboard()).collect();
    assert!(of_alerts().len() > 5 && of_dashboard().len() > 20, "{queries:?}");
    let named: BTreeSet<_> = queries.iter().flat_map(|query| metrics(query)).collect();
    // Histograms show once they have a value: a list has ended, an object was reconciled.
    let mut missing = named.clone();
    for _ in 0..500 {
        let exported = scrape(address).await;
        missing.retain(|name| {
            let samples = [format!("{name}{{"), format!("{name} ")];
            !exported
                .lines()
                .any(|line| samples.iter().any(|sample| line.starts_with(sample)))
        });
        if missing.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(missing.is_empty(), "no such metrics: {missing:?}, of {named:?}");
    stop.cancel();
    running.await.unwrap().unwrap();
}
