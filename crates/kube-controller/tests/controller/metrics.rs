//! What a controller counts.

use crate::harness::{Cluster, Failure, SECOND, start_with};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use kube_controller::controller::{Action, Config};
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The counters and gauges of controllers, by their short name and result; of a histogram, how many values it has got.
fn look(snapshotter: &Snapshotter) -> BTreeMap<String, f64> {
    let mut values = BTreeMap::new();
    for (key, _, _, value) in snapshotter.snapshot().into_vec() {
        let Some(name) = key.key().name().strip_prefix("controller_runtime_") else {
            continue;
        };
        let mut labels: BTreeMap<_, _> = key
            .key()
            .labels()
            .map(|label| (label.key(), label.value()))
            .collect();
        assert_eq!(labels.remove("controller"), Some("configmap"));
        let result = labels.remove("result").map(|result| format!(" {result}"));
        assert!(labels.is_empty(), "{labels:?}");
        let value = match value {
            DebugValue::Counter(count) => count as f64,
            DebugValue::Gauge(value) => value.into_inner(),
            DebugValue::Histogram(values) => values.len() as f64,
        };
        values.insert(name.to_owned() + &result.unwrap_or_default(), value);
    }
    values
}

/// Cases 4 and 20.
#[tokio::test(start_paused = true)]
async fn each_result_is_counted() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let cluster = Cluster::new();
    let config = Config::default().reconcile_timeout(SECOND).concurrency(9);
    let config = config.backoff(3600 * SECOND, 3600 * SECOND);
    let reconcile = |map: Arc<ConfigMap>| async move {
        match &*map.name_any() {
            "well" => Ok(Action::await_change()),
            "later" => Ok(Action::requeue(3600 * SECOND)),
            "again" => Ok(Action::backoff()),
            "panic" => panic!("as asked"),
            "slow" => std::future::pending().await,
            "terminal" => Err(Failure("terminal")),
            _ => Err(Failure("error")),
        }
    };
    let policy = |failure: &Failure| match failure.0 {
        "terminal" => Action::await_change(),
        _ => Action::backoff(),
    };
    let mut running = start_with(cluster.controller().with_config(config), reconcile, policy);
    running.quiet_for(SECOND).await;
    let before = look(&snapshotter);
    let counted = before.iter().filter(|(name, _)| !name.starts_with("max"));
    assert!(counted.clone().all(|(_, value)| *value == 0.0), "{before:?}");
    assert_eq!(before["max_concurrent_reconciles"], 9.0);
    assert_eq!(counted.count(), 10, "all are there from the start: {before:?}");
    for name in ["well", "later", "again", "panic", "slow", "terminal", "error"] {
        cluster.map(name);
    }
    running.names(7).await;
    running.quiet_for(2 * SECOND).await;
    // What has been added since the last look.
    let mut values = look(&snapshotter);
    values.remove("max_concurrent_reconciles");
    let expected = [
        ("active_workers", 0.0),
        ("reconcile_errors_total", 4.0),
        ("reconcile_panics_total", 1.0),
        ("reconcile_time_seconds", 7.0),
        ("reconcile_timeouts_total", 1.0),
        ("reconcile_total error", 4.0),
        ("reconcile_total requeue", 1.0),
        ("reconcile_total requeue_after", 1.0),
        ("reconcile_total success", 1.0),
        ("terminal_reconcile_errors_total", 1.0),
    ];
    assert_eq!(
        values,
        expected.map(|(name, value)| (name.to_owned(), value)).into()
    );
}
