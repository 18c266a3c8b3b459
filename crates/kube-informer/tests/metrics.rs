//! The metrics of an informer, value by value.

mod common;

use common::{Answer::*, Event::*, *};
use instances as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube_informer::low_level::queue::{Batch, DeltaFifo};
use kube_informer::low_level::{DecodeResult, QueueSink};
use kube_informer::reflector::Reflector;
use kube_informer::source::{ListerWatcher, NamespacedSource};
use kube_informer::{NamespaceSet, SharedInformer};
use metrics::LocalRecorderGuard;
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The recorder of this test's thread, which is all of its runtime.
struct Recorder {
    snapshotter: Snapshotter,
    _installed: LocalRecorderGuard<'static>,
}

impl Recorder {
    fn install() -> Self {
        let recorder: &'static DebuggingRecorder = Box::leak(Box::default());
        Self {
            snapshotter: recorder.snapshotter(),
            _installed: metrics::set_default_local_recorder(recorder),
        }
    }

    /// What changed since the last look, by name, and by how much; a gauge that was set shows its value. What did not
    /// change is left out. All have these labels; versions have their namespace as well, which follows the name.
    fn look(&self, labels: [(&str, &str); 4]) -> BTreeMap<String, String> {
        let mut values = BTreeMap::new();
        for (key, _, _, value) in self.snapshotter.snapshot().into_vec() {
            let mut found: Vec<_> = (key.key().labels())
                .map(|label| (label.key(), label.value()))
                .collect();
            let mut name = key.key().name().to_owned();
            if name.ends_with("_resource_version") {
                let (label, namespace) = found.pop().unwrap();
                assert_eq!(label, "namespace");
                name = [&name, namespace].join(" ").trim_end().to_owned();
            }
            assert_eq!(found, labels);
            let value = match value {
                DebugValue::Counter(0) => continue,
                DebugValue::Counter(count) => count.to_string(),
                DebugValue::Gauge(value) if value == 0.0 => continue,
                DebugValue::Gauge(value) => value.to_string(),
                DebugValue::Histogram(values) if values.is_empty() => continue,
                DebugValue::Histogram(values) => {
                    let seconds: Vec<_> = values
                        .iter()
                        .map(|v| (v.into_inner() * 10.0).round() / 10.0)
                        .collect();
                    format!("{seconds:?}")
                }
            };
            values.insert(name, value);
        }
        values
    }
}

fn values(values: &[(&str, &str)]) -> BTreeMap<String, String> {
    values
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

const LABELS: [(&str, &str); 4] = [
    ("name", "test"),
    ("group", ""),
    ("version", ""),
    ("resource", "configmaps"),
];

#[tokio::test(start_paused = true)]
async fn lists_watches_and_what_is_applied_show() {
    let recorder = Recorder::install();
    let script = Script::new([
        ("LIST any 500", Page(10, vec![("a", 1), ("b", 2)], "more")),
        ("LIST any 500 more", List(10, vec![("c", 3)])),
        (
            "WATCH 10",
            Watch(vec![
                After(Duration::from_secs(4)),
                Modified("a", 11),
                Bookmark(15),
                After(Duration::from_secs(3)),
                Deleted("b", 16),
                Close,
            ]),
        ),
        ("WATCH 16", Watch(vec![Close])),
        ("LIST 16 500", Error(refused())),
        ("LIST 16 500", List(20, vec![])),
        ("WATCH 20", Watch(vec![])),
    ]);
    let (informer, runner) = SharedInformer::<ConfigMap>::builder(script).name("test").build();
    assert_eq!(recorder.look(LABELS), values(&[]));
    tokio::spawn(runner.run(CancellationToken::new()));
    informer.synced().await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(
        recorder.look(LABELS),
        values(&[
            ("informer_processing_latency_seconds", "[0.0]"),
            ("informer_store_resource_version", "10"),
            ("reflector_items_per_list", "[3.0]"),
            ("reflector_last_resource_version", "10"),
            ("reflector_list_duration_seconds", "[0.0]"),
            ("reflector_lists_total", "1"),
            ("reflector_watches_total", "1"),
        ]),
        "two pages are one list"
    );
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_eq!(
        recorder.look(LABELS),
        values(&[
            // The bookmark comes while the change is on its way, and goes with it.
            ("informer_processing_latency_seconds", "[0.0]"),
            ("informer_store_resource_version", "15"),
            ("reflector_last_resource_version", "15"),
        ])
    );
    tokio::time::sleep(Duration::from_millis(2500)).await;
    let watched = recorder.look(LABELS);
    assert_eq!(watched["reflector_watch_duration_seconds"], "[7.0, 0.0]");
    assert_eq!(
        watched["reflector_items_per_watch"], "[2.0, 0.0]",
        "bookmarks aside"
    );
    assert_eq!(watched["reflector_watches_total"], "1");
    assert_eq!(watched["reflector_short_watches_total"], "1");
    assert_eq!(watched["informer_store_resource_version"], "16");
    tokio::time::sleep(Duration::from_secs(60)).await;
    let relisted = recorder.look(LABELS);
    assert_eq!(relisted["reflector_lists_total"], "1", "one of them failed");
    assert_eq!(relisted["reflector_items_per_list"], "[0.0]");
    assert_eq!(relisted["reflector_last_resource_version"], "20");
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_is_a_list_and_a_watch() {
    let recorder = Recorder::install();
    let script = Script::streaming([(
        "STREAM newest",
        Watch(vec![
            Added("a", 1),
            After(Duration::from_secs(2)),
            Added("b", 2),
            End(10),
        ]),
    )]);
    let (informer, runner) = SharedInformer::<ConfigMap>::builder(script).name("test").build();
    tokio::spawn(runner.run(CancellationToken::new()));
    informer.synced().await.unwrap();
    let values = recorder.look(LABELS);
    assert_eq!(values["reflector_lists_total"], "1");
    assert_eq!(values["reflector_list_duration_seconds"], "[2.0]");
    assert_eq!(values["reflector_items_per_list"], "[2.0]");
    assert_eq!(values["reflector_watches_total"], "1");
}

/// Each namespace has a collection of one object, at a version of its own.
struct Numbered;

impl NamespacedSource<ConfigMap> for Numbered {
    fn resource(&self) -> String {
        "configmaps".into()
    }

    fn in_namespace(&self, namespace: &str) -> std::sync::Arc<dyn ListerWatcher<ConfigMap>> {
        let (version, watch) = match namespace {
            "n10" => (10, "WATCH 10"),
            _ => (20, "WATCH 20"),
        };
        let script = [("LIST any 500", List(version, vec![])), (watch, Watch(vec![]))];
        std::sync::Arc::new(Script::new(script))
    }
}

#[tokio::test(start_paused = true)]
async fn versions_of_namespaces_show_side_by_side() {
    let recorder = Recorder::install();
    let namespaces = NamespaceSet::new(["n10", "n20"]);
    let builder = SharedInformer::over_namespaces(Numbered, &namespaces);
    let (informer, runner) = builder.name("test").build();
    tokio::spawn(runner.run(CancellationToken::new()));
    informer.synced().await.unwrap();
    let shown = || {
        let mut values = recorder.look(LABELS);
        values.retain(|name, _| name.contains("_version") || name.contains("lists_total"));
        values
    };
    let expected = [
        ("informer_store_resource_version n10", "10"),
        ("informer_store_resource_version n20", "20"),
        ("reflector_last_resource_version n10", "10"),
        ("reflector_last_resource_version n20", "20"),
        ("reflector_lists_total", "2"),
    ];
    assert_eq!(shown(), values(&expected));
    // A look takes what was set: set again, to see what a removal sets.
    for name in [
        "informer_store_resource_version",
        "reflector_last_resource_version",
    ] {
        for namespace in ["n10", "n20"] {
            let labels = LABELS.into_iter().chain([("namespace", namespace)]);
            metrics::gauge!(name, &labels.collect::<Vec<_>>()).set(5.0);
        }
    }
    namespaces.remove("n10");
    tokio::time::sleep(Duration::from_secs(1)).await;
    let expected = [
        ("informer_store_resource_version n20", "5"),
        ("reflector_last_resource_version n20", "5"),
    ];
    assert_eq!(shown(), values(&expected), "0 of what is no longer watched");
}

#[tokio::test(start_paused = true)]
async fn what_is_queued_shows_adds_up_and_is_gone_with_the_queue() {
    let recorder = Recorder::install();
    // Two informers with the same labels whose queues nobody empties: their reflectors run on their own.
    let build = || {
        let script = Script::new([
            ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
            (
                "WATCH 10",
                Watch(vec![Modified("a", 11), Deleted("a", 12), Deleted("a", 13)]),
            ),
        ]);
        let gate = std::sync::Arc::new(tokio::sync::Semaphore::new(0));
        let handler = Gated(gate.clone());
        let informer = SharedInformer::builder(script)
            .name("test")
            .build_unshared(handler);
        (gate, informer)
    };
    let ((gate, first), (_, second)) = (build(), build());
    let stop = CancellationToken::new();
    let first = tokio::spawn(first.run(stop.clone()));
    let queued = || recorder.look(LABELS).get("informer_queued_items").cloned();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(
        queued().as_deref(),
        Some("2"),
        "the list is being handled; a change and a deletion wait"
    );
    let second = tokio::spawn(second.run(stop.clone()));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(
        queued().as_deref(),
        Some("2"),
        "two more: the other informer's add to it"
    );
    gate.add_permits(10);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(queued().as_deref(), Some("-2"));
    second.abort();
    assert!(second.await.unwrap_err().is_cancelled());
    assert_eq!(queued().as_deref(), Some("-2"), "gone with the queue");
    stop.cancel();
    first.await.unwrap();
}

/// A handler that needs a permit for every call.
struct Gated(std::sync::Arc<tokio::sync::Semaphore>);

impl kube_informer::ResourceEventHandler<ConfigMap> for Gated {
    async fn on_add(&mut self, _: std::sync::Arc<ConfigMap>, _: bool) {
        self.0.acquire().await.unwrap().forget();
    }
}

#[tokio::test(start_paused = true)]
async fn a_reflector_alone_reports_with_group_and_version() {
    let recorder = Recorder::install();
    let sim = kube_sim::Sim::builder().build().unwrap();
    let client = kube::Client::new(sim.service(), "default");
    let resource = kube::core::ApiResource::erase::<k8s_openapi::api::apps::v1::Deployment>(&());
    let source = kube_informer::source::ClientSource::new(client, resource, Default::default());
    let queue: DeltaFifo<DecodeResult<k8s_openapi::api::apps::v1::Deployment>> = DeltaFifo::new(10);
    let reflector = Reflector::new(source, QueueSink::new(queue.clone(), ())).name("mine");
    let stop = CancellationToken::new();
    let running = tokio::spawn(reflector.run(stop.clone()));
    let Batch { guard, .. } = queue.pop(1).await.unwrap();
    drop(guard);
    stop.cancel();
    running.await.unwrap();
    let labels = [
        ("name", "mine"),
        ("group", "apps"),
        ("version", "v1"),
        ("resource", "deployments"),
    ];
    assert_eq!(recorder.look(labels)["reflector_lists_total"], "1");
}
