//! Stands in for `metrics.rs` without the feature: does nothing.

use crate::object::{Partition, ResourceVersion};
use kube::core::TypeMeta;
use std::time::Duration;

pub(crate) struct Labels;

impl Labels {
    pub(crate) fn new(_name: &str, _resource: &str, _types: Option<&TypeMeta>) -> Self {
        Self
    }
}

pub(crate) struct ReflectorMetrics;

impl ReflectorMetrics {
    pub(crate) fn none() -> Self {
        Self
    }

    pub(crate) fn new(_labels: &Labels, _namespace: &str) -> Self {
        Self
    }

    pub(crate) fn listed(&self, _items: usize, _took: Duration) {}

    pub(crate) fn watching(&self) {}

    pub(crate) fn watched(&self, _items: u64, _lasted: Duration, _short: bool) {}

    pub(crate) fn seen(&self, _version: &ResourceVersion) {}
}

pub(crate) struct InformerMetrics;

impl InformerMetrics {
    pub(crate) fn new(_labels: &Labels) -> Self {
        Self
    }

    pub(crate) fn added(&mut self, _partition: Partition, _namespace: &str) {}

    pub(crate) fn removed(&mut self, _partition: Partition) {}

    pub(crate) fn processed(&self, _took: Duration) {}

    pub(crate) fn applied(&self, _partition: Partition, _version: &ResourceVersion) {}
}

#[derive(Debug)]
pub(crate) struct QueuedItems;

impl QueuedItems {
    pub(crate) fn none() -> Self {
        Self
    }

    pub(crate) fn new(_labels: &Labels) -> Self {
        Self
    }

    pub(crate) fn moved(&self, _from: usize, _to: usize) {}
}
