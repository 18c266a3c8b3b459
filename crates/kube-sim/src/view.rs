//! One store, two APIs: events are objects of the core group and of `events.k8s.io`, which calls some fields differently.
//!
//! They are stored as the core group has them, and converted where they come in and go out. So are
//! HorizontalPodAutoscalers, as `autoscaling/v2` has them.
//!
//! # Custom resources
//!
//! They are stored in the storage version of their definition, and each stored object knows in which version that was. What is
//! written in another version loses the fields that the storage version does not have, and what is read in another version those
//! that this one does not have, unless a webhook converts it (`conversion`). Defaults are those of the version in which an object
//! is written and of the one in which it is stored.

mod autoscaling;

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::conversion::{self, Conversion};
use crate::nesting;
use crate::object::Stored;
use crate::resources::Resource;
use crate::schema::fit;
use crate::selector::Selector;
use crate::status::StatusError;

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

/// What the core group has also when it is empty, and `events.k8s.io` only if it is not.
const REPORTERS: [(&str, &str); 2] = [
    ("reportingController", "reportingComponent"),
    ("reportingInstance", "reportingInstance"),
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
    for (_, stored) in REPORTERS {
        object.entry(stored).or_insert_with(|| "".into());
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
    for (served, _) in REPORTERS {
        if object.get(served).is_some_and(|text| *text == "") {
            object.remove(served);
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
    let converted = resource.is_view() || (resource.is_autoscaler() && version == "v1");
    if !converted && !is_converted(resource, stored) {
        return Cow::Borrowed(stored);
    }
    nesting::with_room(stored.depth, || {
        let mut object = decode(resource, version, stored);
        if resource.custom
            && object
                .get("apiVersion")
                .is_none_or(|given| *given != *resource.api_version(version))
        {
            convert(resource, version, &mut object);
        }
        to_served(resource, &mut object);
        Cow::Owned(Stored::encode(resource, &object, stored.resource_version))
    })
}

/// Whether a selector selects an object as it goes out in the version of its resource.
pub(crate) fn selects(selector: &Selector, resource: &Resource, stored: &Stored) -> bool {
    match selector.reads_fields() && is_converted(resource, stored) {
        true => selector.matches(&served(resource, &resource.version, stored)),
        false => selector.matches(stored),
    }
}

/// Decodes a stored object as one of a version of its resource; needs room for its depth. What has two APIs stays as it is stored, and so
/// does what a webhook converts where it cannot be waited for.
pub(crate) fn decode(resource: &Resource, version: &str, stored: &Stored) -> Map<String, Value> {
    if !resource.custom {
        return stored.decode(&resource.head(version));
    }
    let mut object = decode_as_stored(resource, stored);
    if &*stored.version != version {
        match resource.definition.webhook {
            Some(_) => _ = convert_by_webhook(resource, version, &mut object),
            None => convert(resource, version, &mut object),
        }
    }
    object
}

/// Decodes a stored object in the version in which it is stored.
pub(crate) fn decode_as_stored(resource: &Resource, stored: &Stored) -> Map<String, Value> {
    let mut object = stored.decode(&resource.head(&stored.version));
    if resource.custom
        && is_older(resource, stored)
        && let Some(schema) = resource.schema(&stored.version)
        && let Err(error) = fit::custom(&mut object, &schema)
    {
        tracing::debug!(%error, "a stored object does not fit its schema");
    }
    object
}

/// That an object can be stored, and read again in a version, by the answers that webhooks have given for this request: what comes now
/// changes something.
///
/// # Errors
///
/// A webhook is to be asked first, or has failed.
pub(crate) fn ensure_converted(
    resource: &Resource,
    version: &str,
    object: &Map<String, Value>,
) -> Result<(), StatusError> {
    if resource.definition.webhook.is_some() {
        let stored = encode(resource, object, u64::MAX);
        conversion::complete()?;
        served(resource, version, &stored);
    }
    conversion::complete()
}

/// Encodes an object in the version in which it is stored.
pub(crate) fn encode(resource: &Resource, object: &Map<String, Value>, resource_version: u64) -> Stored {
    let storage = resource.preferred();
    let given = object.get("apiVersion").and_then(Value::as_str).unwrap_or("");
    if !resource.custom || given == resource.api_version(storage) {
        return Stored::encode(resource, object, resource_version);
    }
    let mut object = object.clone();
    if !convert_by_webhook(resource, storage, &mut object) {
        convert(resource, storage, &mut object);
    }
    // A real server does that when it reads the object again, for the answer.
    if let Some(schema) = resource.schema(storage) {
        fit::read(&mut object, &schema);
    }
    Stored::encode(resource, &object, resource_version)
}

/// Whether a custom resource is stored as something else than this object, which is the same when it is read.
pub(crate) fn is_stored_otherwise(
    resource: &Resource,
    stored: &Stored,
    object: &Map<String, Value>,
    managed: &Option<Value>,
) -> bool {
    if !resource.custom || !(is_older(resource, stored) || *stored.version != *resource.preferred()) {
        return false;
    }
    let mut object = object.clone();
    if let (Some(Value::Object(metadata)), Some(managed)) = (object.get_mut("metadata"), managed) {
        metadata.insert("managedFields".into(), managed.clone());
    }
    !encode(resource, &object, stored.resource_version).is_same(stored)
}

/// Whether a stored object may differ from what goes out in the version of its resource.
fn is_converted(resource: &Resource, stored: &Stored) -> bool {
    resource.custom && (is_older(resource, stored) || !resource.is_same_in(&stored.version))
}

/// Whether a custom resource was stored before its definition was as it is.
fn is_older(resource: &Resource, stored: &Stored) -> bool {
    stored.resource_version <= resource.since
}

/// Lets a webhook make an object of one version one of another; returns whether there is one that can be waited for.
fn convert_by_webhook(resource: &Resource, version: &str, object: &mut Map<String, Value>) -> bool {
    if resource.definition.webhook.is_none() {
        return false;
    }
    match conversion::known(resource, version, object) {
        Conversion::Unasked => return false,
        Conversion::Pending => {}
        Conversion::Known(converted) => *object = converted,
    }
    true
}

/// Makes an object of one version one of another: what that one does not have goes.
fn convert(resource: &Resource, version: &str, object: &mut Map<String, Value>) {
    object.insert("apiVersion".into(), resource.api_version(version).into());
    if let Some(schema) = resource.schema(version) {
        fit::converted(object, &schema);
    }
}
