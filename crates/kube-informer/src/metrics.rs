//! What reflectors and informers tell the `metrics` facade, under the names that client-go's users know.

use crate::object::{Partition, ResourceVersion};
use kube::core::TypeMeta;
use metrics::{Counter, Gauge, Histogram, Unit, counter, gauge, histogram};
use metrics::{describe_counter, describe_gauge, describe_histogram};
use std::collections::HashMap;
use std::time::Duration;

/// Whose metrics these are.
#[derive(Clone)]
pub(crate) struct Labels([(&'static str, String); 4]);

impl Labels {
    /// `resource` is `pods` or `deployments.apps`; the version is known if the source tells the type of its objects.
    pub(crate) fn new(name: &str, resource: &str, types: Option<&TypeMeta>) -> Self {
        let (resource, group) = resource.split_once('.').unwrap_or((resource, ""));
        let api_version = types.map_or("", |types| &types.api_version);
        let version = api_version.rsplit('/').next().unwrap_or_default();
        Self([
            ("name", name.to_owned()),
            ("group", group.to_owned()),
            ("version", version.to_owned()),
            ("resource", resource.to_owned()),
        ])
    }

    /// For what cannot be summed over the namespaces of an informer; the namespace is empty if there is only one part.
    fn within(&self, namespace: &str) -> [(&'static str, String); 5] {
        let [name, group, version, resource] = self.0.clone();
        [
            name,
            group,
            version,
            resource,
            ("namespace", namespace.to_owned()),
        ]
    }
}

const REFLECTOR_VERSION: &str = "reflector_last_resource_version";
const STORE_VERSION: &str = "informer_store_resource_version";

/// The list and watch of a reflector.
pub(crate) struct ReflectorMetrics {
    lists: Counter,
    list_duration: Histogram,
    items_per_list: Histogram,
    received_bytes: Counter,
    watches: Counter,
    short_watches: Counter,
    watch_duration: Histogram,
    items_per_watch: Histogram,
    last_resource_version: Gauge,
}

impl ReflectorMetrics {
    /// For a reflector that does not run yet.
    pub(crate) fn none() -> Self {
        Self {
            lists: Counter::noop(),
            list_duration: Histogram::noop(),
            items_per_list: Histogram::noop(),
            received_bytes: Counter::noop(),
            watches: Counter::noop(),
            short_watches: Counter::noop(),
            watch_duration: Histogram::noop(),
            items_per_watch: Histogram::noop(),
            last_resource_version: Gauge::noop(),
        }
    }

    pub(crate) fn new(all: &Labels, namespace: &str) -> Self {
        describe_reflector();
        let Labels(labels) = all;
        Self {
            lists: counter!("reflector_lists_total", labels),
            list_duration: histogram!("reflector_list_duration_seconds", labels),
            items_per_list: histogram!("reflector_items_per_list", labels),
            received_bytes: counter!("reflector_received_bytes_total", labels),
            watches: counter!("reflector_watches_total", labels),
            short_watches: counter!("reflector_short_watches_total", labels),
            watch_duration: histogram!("reflector_watch_duration_seconds", labels),
            items_per_watch: histogram!("reflector_items_per_watch", labels),
            last_resource_version: gauge!(REFLECTOR_VERSION, &all.within(namespace)),
        }
    }

    pub(crate) fn listed(&self, items: usize, took: Duration) {
        self.lists.increment(1);
        self.list_duration.record(took);
        self.items_per_list.record(items as f64);
    }

    pub(crate) fn received(&self, bytes: usize) {
        self.received_bytes.increment(bytes as u64);
    }

    pub(crate) fn watching(&self) {
        self.watches.increment(1);
    }

    pub(crate) fn watched(&self, items: u64, lasted: Duration, short: bool) {
        self.watch_duration.record(lasted);
        self.items_per_watch.record(items as f64);
        self.short_watches.increment(u64::from(short));
    }

    pub(crate) fn seen(&self, version: &ResourceVersion) {
        set_version(&self.last_resource_version, version);
    }
}

/// The application of changes by an informer.
pub(crate) struct InformerMetrics {
    labels: Labels,
    processing_latency: Histogram,
    /// Of each part of the collection, where its versions show.
    parts: HashMap<Partition, PartMetrics>,
}

struct PartMetrics {
    store_resource_version: Gauge,
    namespace: String,
}

impl InformerMetrics {
    pub(crate) fn new(labels: &Labels) -> Self {
        describe_informer();
        Self {
            processing_latency: histogram!("informer_processing_latency_seconds", &labels.0),
            labels: labels.clone(),
            parts: HashMap::new(),
        }
    }

    /// A part of the collection is watched from now on; its namespace is empty if it is the whole of it.
    pub(crate) fn added(&mut self, partition: Partition, namespace: &str) {
        let part = PartMetrics {
            store_resource_version: gauge!(STORE_VERSION, &self.labels.within(namespace)),
            namespace: namespace.to_owned(),
        };
        self.parts.insert(partition, part);
    }

    /// A part of the collection is no longer watched: the versions that it had mean nothing any more.
    pub(crate) fn removed(&mut self, partition: Partition) {
        if let Some(part) = self.parts.remove(&partition) {
            part.store_resource_version.set(0.0);
            gauge!(REFLECTOR_VERSION, &self.labels.within(&part.namespace)).set(0.0);
        }
    }

    pub(crate) fn processed(&self, took: Duration) {
        self.processing_latency.record(took);
    }

    pub(crate) fn applied(&self, partition: Partition, version: &ResourceVersion) {
        if let Some(part) = self.parts.get(&partition) {
            set_version(&part.store_resource_version, version);
        }
    }
}

/// The length of a queue. It is moved rather than set, so that several queues with the same labels add up.
pub(crate) struct QueuedItems(Gauge);

impl QueuedItems {
    /// For a queue that nobody gave a name.
    pub(crate) fn none() -> Self {
        Self(Gauge::noop())
    }

    pub(crate) fn new(Labels(labels): &Labels) -> Self {
        describe_gauge!(
            "informer_queued_items",
            Unit::Count,
            "Changes that wait to be applied to the store"
        );
        Self(gauge!("informer_queued_items", labels))
    }

    pub(crate) fn moved(&self, from: usize, to: usize) {
        if from != to {
            self.0.increment(to as f64 - from as f64);
        }
    }
}

impl std::fmt::Debug for QueuedItems {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("QueuedItems")
    }
}

/// A version that is no number leaves the gauge as it is.
fn set_version(gauge: &Gauge, version: &ResourceVersion) {
    if let Some(digits) = version.low_digits() {
        gauge.set(digits as f64);
    }
}

fn describe_reflector() {
    let (count, seconds) = (Unit::Count, Unit::Seconds);
    describe_counter!("reflector_lists_total", count, "Lists that were completed");
    describe_histogram!(
        "reflector_list_duration_seconds",
        seconds,
        "Time from the request for a list to its end"
    );
    describe_histogram!("reflector_items_per_list", count, "Objects in a list");
    describe_counter!(
        "reflector_received_bytes_total",
        Unit::Bytes,
        "Size of the objects that came, as JSON or protobuf"
    );
    describe_counter!("reflector_watches_total", count, "Watches that were opened");
    describe_counter!(
        "reflector_short_watches_total",
        count,
        "Watches that ended within a second without any event"
    );
    describe_histogram!(
        "reflector_watch_duration_seconds",
        seconds,
        "Time from the opening of a watch to its end"
    );
    describe_histogram!("reflector_items_per_watch", count, "Changes in a watch");
    describe_gauge!(
        REFLECTOR_VERSION,
        "The last 15 digits of the resource version up to which changes have been seen"
    );
}

fn describe_informer() {
    describe_histogram!(
        "informer_processing_latency_seconds",
        Unit::Seconds,
        "Time it takes to apply what was taken from the queue at once"
    );
    describe_gauge!(
        STORE_VERSION,
        "The last 15 digits of the resource version up to which the store is complete"
    );
}
