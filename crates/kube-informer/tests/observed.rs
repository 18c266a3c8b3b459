//! What a `tracing` subscriber sees of an informer: spans, warnings, and never an object's content.

mod common;

use common::{Answer::*, Event::*, *};
use instances as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube_informer::low_level::queue::{Batch, Delta, DeltaFifo, Deltas, ProcessLoop};
use kube_informer::{Partition, ResourceEventHandler, SharedInformer};
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event as Logged, Level, Subscriber};
use tracing_subscriber::Registry;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// Writes down spans when they close, and events of level info and above.
#[derive(Clone, Default)]
struct Observer(Arc<Mutex<Vec<String>>>);

/// The fields of a span or event as text.
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Observer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields(attributes.metadata().name().to_owned());
        attributes.record(&mut fields);
        context.span(id).unwrap().extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, record: &Record<'_>, context: Context<'_, S>) {
        let span = context.span(id).unwrap();
        record.record(span.extensions_mut().get_mut::<Fields>().unwrap());
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let span = context.span(&id).unwrap();
        let text = span.extensions().get::<Fields>().unwrap().0.clone();
        self.0.lock().unwrap().push(text);
    }

    fn on_event(&self, event: &Logged<'_>, _: Context<'_, S>) {
        if *event.metadata().level() <= Level::INFO {
            let mut fields = Fields(event.metadata().level().to_string());
            event.record(&mut fields);
            self.0.lock().unwrap().push(fields.0);
        }
    }
}

impl Observer {
    /// Observes this test's thread, which is all of its runtime.
    fn install() -> (Self, tracing::subscriber::DefaultGuard) {
        let observer = Self::default();
        let subscriber = Registry::default().with(observer.clone());
        (observer, tracing::subscriber::set_default(subscriber))
    }

    fn lines(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

#[tokio::test(start_paused = true)]
async fn lists_watches_and_applications_are_spans() {
    let (observer, _installed) = Observer::install();
    let script = Script::new([
        ("LIST any 500", List(10, vec![("a", 1)])),
        (
            "WATCH 10",
            Watch(vec![After(Duration::from_secs(2)), Modified("a", 11), Close]),
        ),
        ("WATCH 11", Error(status(410, "too old"))),
        ("LIST 11 all", List(20, vec![])),
        ("WATCH 20", Watch(vec![])),
    ]);
    let (informer, runner) = SharedInformer::<ConfigMap>::builder(script).build();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    informer.synced().await.unwrap();
    tokio::time::sleep(Duration::from_secs(10)).await;
    stop.cancel();
    running.await.unwrap().unwrap();
    let lines = observer.lines();
    let (applied, asked): (Vec<_>, Vec<_>) = (lines.iter().map(String::as_str))
        .filter(|line| !line.starts_with("WARN"))
        .partition(|line| line.starts_with("apply"));
    assert_eq!(
        asked,
        [
            "list kind=\"configmaps\" streaming=false resource_version=10",
            "watch kind=\"configmaps\" resource_version=10",
            "watch kind=\"configmaps\" resource_version=11",
            "list kind=\"configmaps\" streaming=false resource_version=20",
            "watch kind=\"configmaps\" resource_version=20",
        ]
    );
    assert_eq!(
        applied,
        ["10", "11", "20"].map(|version| format!("apply kind=\"configmaps\" resource_version={version}"))
    );
    assert_eq!(lines.len(), 5 + 3 + 1, "one request failed: {lines:?}");
}

#[tokio::test(start_paused = true)]
async fn spans_show_kind_and_namespace_and_no_content() {
    let (observer, _installed) = Observer::install();
    let sim = kube_sim::Sim::builder().build().unwrap();
    let secret = |name: &str| {
        serde_json::json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "default"},
            "stringData": {"password": "swordfish"},
        })
    };
    sim.store().create(secret("a")).unwrap();
    let client = kube::Client::new(sim.service(), "default");
    let selection = kube_informer::source::Selection {
        namespace: Some("default".into()),
        ..Default::default()
    };
    let resource = kube::core::ApiResource::erase::<k8s_openapi::api::core::v1::Secret>(&());
    let source = kube_informer::source::ClientSource::new(client, resource, selection);
    let (informer, runner) = SharedInformer::<k8s_openapi::api::core::v1::Secret>::builder(source).build();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    informer.synced().await.unwrap();
    sim.store().create(secret("b")).unwrap();
    let version = sim.store().resource_version().into();
    informer.store().wait_until(&version).await.unwrap();
    stop.cancel();
    running.await.unwrap().unwrap();
    let text = observer.lines().join("\n");
    for span in ["list", "watch", "apply"] {
        let begin = format!("{span} kind=\"Secret\" namespace=\"default\"");
        assert!(text.contains(&begin), "no {begin} in {text}");
    }
    assert!(!text.contains("swordfish"), "{text}");
}

/// Takes its time over every change.
struct Slow(Duration);

impl ResourceEventHandler<ConfigMap> for Slow {
    async fn on_update(&mut self, _: Arc<ConfigMap>, _: Arc<ConfigMap>) {
        tokio::time::sleep(self.0).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_handler_is_warned_of_once_while_many_wait() {
    let (observer, _installed) = Observer::install();
    let changes = |count| (0..count).map(|n| Modified("a", 100 + n));
    let pauses = [
        // Slow, but few wait.
        (Duration::from_millis(200), 500, 0),
        // Many wait, but it is not slow.
        (Duration::from_millis(90), 1500, 0),
        // 24 s of 200 ms each until fewer than 1024 wait.
        (Duration::from_millis(200), 1024 + 121, 3),
    ];
    for (pause, count, warnings) in pauses {
        let script = Script::new([
            ("LIST any 500", List(10, vec![("a", 1)])),
            ("WATCH 10", Watch(changes(count).collect())),
        ]);
        let (informer, runner) = SharedInformer::builder(script).build();
        let options =
            kube_informer::HandlerOptions::named("slow").delivery(kube_informer::Delivery::Unbounded);
        informer.add_handler(options, Slow(pause)).unwrap().detach();
        let stop = CancellationToken::new();
        let running = tokio::spawn(runner.run(stop.clone()));
        tokio::time::sleep(Duration::from_secs(600)).await;
        stop.cancel();
        running.await.unwrap().unwrap();
        let lines = observer.lines();
        let warned: Vec<_> = lines
            .iter()
            .filter(|line| line.contains("a handler is slow"))
            .collect();
        assert_eq!(warned.len(), warnings, "{pause:?}, {count}: {warned:?}");
        let all = warned
            .iter()
            .all(|line| line.contains("handler=\"slow\"") && line.contains("resource=\"configmaps\""));
        assert!(all, "{warned:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_batch_is_a_warning_while_others_wait() {
    let (observer, _installed) = Observer::install();
    // How long a batch of one takes, how many wait behind it, and whether that is worth a warning.
    for (pause, waiting, warns) in [(101, 11, true), (101, 10, false), (99, 11, false)] {
        let queue = DeltaFifo::new(100);
        let mut first = true;
        let processing = ProcessLoop::new(queue.clone(), move |_: Batch<Deltas<u32>>| {
            let pause = std::mem::take(&mut first).then_some(Duration::from_millis(pause));
            async move { tokio::time::sleep(pause.unwrap_or_default()).await }
        });
        queue
            .push(Partition::SINGLE, "first".into(), Delta::Added(0), None)
            .await;
        let running = tokio::spawn(processing.name("test").run(CancellationToken::new()));
        tokio::time::sleep(Duration::from_millis(1)).await;
        for n in 0..waiting {
            queue
                .push(Partition::SINGLE, format!("{n}").into(), Delta::Added(n), None)
                .await;
        }
        queue.close();
        running.await.unwrap();
        let lines = observer.lines();
        let expected = "WARN message=processing is slow name=\"test\" entries=1 took=101ms waiting=11";
        assert_eq!(lines.iter().any(|line| line == expected), warns, "{lines:?}");
        assert_eq!(lines.len(), usize::from(warns), "{lines:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_that_takes_long_is_told() {
    let (observer, _installed) = Observer::install();
    for (seconds, told) in [(9, 0), (11, 1)] {
        let script = Script::streaming([(
            "STREAM newest",
            Watch(vec![Added("a", 1), After(Duration::from_secs(seconds)), End(10)]),
        )]);
        let (informer, runner) = SharedInformer::<ConfigMap>::builder(script).build();
        let running = tokio::spawn(runner.run(CancellationToken::new()));
        informer.synced().await.unwrap();
        let lines = observer.lines();
        let long = lines.iter().filter(|line| line.contains("a list took long"));
        assert_eq!(long.count(), told, "{lines:?}");
        running.abort();
    }
}
