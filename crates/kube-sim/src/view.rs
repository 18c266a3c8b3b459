//! One store, two APIs: events are objects of the core group and of `events.k8s.io`, which calls some fields differently.
//!
//! They are stored as the core group has them, and converted where they come in and go out. So are
//! HorizontalPodAutoscalers, as `autoscaling/v2` has them. Custom resources that were stored under another schema become those of
//! the present one where they go out.

mod autoscaling;

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::nesting;
use crate::object::Stored;
use crate::resources::Resource;
use crate::schema::fit;

/// The names of a field in `events.k8s.io` and in the core group.
const EVENT_FIELDS: [(&str, &str); 7] = [
    ("regarding", "involvedObject"),
    ("note", "message"),
    ("reportingController", "reportingComponent"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
];

/// What both have, also when it is empty.
const ALWAYS: [(&str, Value); 3] = [
    ("eventTime", Value::Null),
    ("firstTimestamp", Value::Null),
    ("lastTimestamp", Value::Null),
];

/// Makes an object that came in what is stored.
pub(crate) fn to_stored(resource: &Resource, object: &mut Map<String, Value>) {
    if resource.is_autoscaler() && autoscaling::is_v1(object) {
        autoscaling::to_v2(object);
    }
    if !resource.is_view() {
        return;
    }
    for (served, stored) in EVENT_FIELDS {
        if let Some(value) = object.remove(served) {
            object.insert(stored.into(), value);
        }
    }
    fill(object);
}

/// Makes what is stored an object that goes out.
pub(crate) fn to_served(resource: &Resource, object: &mut Map<String, Value>) {
    if resource.is_autoscaler() && autoscaling::is_v1(object) {
        autoscaling::to_v1(object);
    }
    if !resource.is_view() {
        return;
    }
    fill(object);
    for (served, stored) in EVENT_FIELDS {
        if let Some(value) = object.remove(stored) {
            object.insert(served.into(), value);
        }
    }
}

fn fill(object: &mut Map<String, Value>) {
    object.entry("source").or_insert_with(|| json!({}));
    for (name, value) in ALWAYS {
        object.entry(name).or_insert(value);
    }
}

/// The object as it goes out in one of the versions of its resource.
pub(crate) fn served<'a>(resource: &Resource, version: &str, stored: &'a Stored) -> Cow<'a, Stored> {
    let outdated = is_outdated(resource, stored);
    let converted = resource.is_view() || (resource.is_autoscaler() && version == "v1");
    if !converted && !outdated {
        return Cow::Borrowed(stored);
    }
    nesting::with_room(stored.depth, || {
        let mut object = stored.decode(&resource.head(version));
        if outdated {
            refit(resource, version, &mut object);
        }
        to_served(resource, &mut object);
        Cow::Owned(Stored::encode(resource, &object, stored.resource_version))
    })
}

/// Whether a stored object may differ from what its schema makes of it: it was stored under another schema.
pub(crate) fn is_outdated(resource: &Resource, stored: &Stored) -> bool {
    resource.custom && (resource.has_several_schemas || stored.resource_version <= resource.since)
}

/// Makes an object that was stored what the schema of the version makes of it.
pub(crate) fn refit(resource: &Resource, version: &str, object: &mut Map<String, Value>) {
    if let Some(schema) = resource.schema(version)
        && let Err(error) = fit::custom(object, &schema)
    {
        tracing::debug!(%error, "a stored object does not fit its schema");
    }
}
