//! Conversion webhooks: others make objects of one version of a custom resource objects of another.
//!
//! Whoever reads is answered when the webhook has ([`Api::converted`]). A write is computed under the storage's lock, where nobody can
//! wait for the network. So it is tried, as for admission webhooks: it takes what its [`Session`] has been answered so far, and where
//! an answer is missing, nothing is written; the webhook is asked with the lock free, and the write is tried again. What the control
//! plane does concerns metadata only, and converts nothing.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::admission;
use crate::api::Api;
use crate::meta::{metadata, metadata_mut, text, uid_from};
use crate::nesting;
use crate::object::Stored;
use crate::resources::Resource;
use crate::schema::fit;
use crate::status::{StatusError, quoted};
use crate::view;

type Object = Map<String, Value>;

/// How long a webhook may take.
const TIMEOUT: Duration = Duration::from_secs(30);

const GROUP: &str = "apiextensions.k8s.io";

/// Where a definition says that its objects are converted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Webhook {
    client: Value,
    /// The version of the ConversionReview; none if the webhook knows none of this server's.
    review: Option<&'static str>,
}

impl Webhook {
    /// That of a definition; none if its objects are not converted by one.
    pub(crate) fn of(definition: &Value) -> Option<Self> {
        let conversion = &definition["spec"]["conversion"];
        let webhook = Some(&conversion["webhook"]).filter(|_| conversion["strategy"] == "Webhook")?;
        let reviews = webhook["conversionReviewVersions"].as_array();
        let mut reviews = reviews.into_iter().flatten().filter_map(Value::as_str);
        Some(Self {
            client: webhook["clientConfig"].clone(),
            review: reviews.find_map(|version| ["v1", "v1beta1"].into_iter().find(|known| *known == version)),
        })
    }
}

thread_local! {
    static SESSION: RefCell<Option<Arc<Session>>> = const { RefCell::new(None) };
}

/// What webhooks have answered for one request, and what they are to be asked for it.
#[derive(Default)]
pub(crate) struct Session {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    answers: HashMap<Key, Result<Object, StatusError>>,
    missing: Vec<Missing>,
    /// The first failure that an attempt came to.
    failed: Option<StatusError>,
}

/// An object as text, without its resource version, and the API version that is wanted.
type Key = (String, String);

/// An object to be converted.
pub(crate) struct Missing {
    key: Key,
    resource: Resource,
    object: Object,
    version: String,
}

/// What is known of the conversion of an object.
pub(crate) enum Conversion {
    /// Nobody can wait for it here.
    Unasked,
    /// It will be, in the next attempt.
    Pending,
    Known(Object),
}

impl Session {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins an attempt.
    pub(crate) fn begin(&self) {
        let mut state = self.lock();
        state.missing.clear();
        state.failed = None;
    }

    /// What the attempt has missed.
    pub(crate) fn missing(&self) -> Vec<Missing> {
        std::mem::take(&mut self.lock().missing)
    }

    /// Why the attempt cannot succeed.
    pub(crate) fn failure(&self) -> Option<StatusError> {
        self.lock().failed.take()
    }
}

/// Runs `f` in a session, or outside of any.
pub(crate) fn within<T>(session: Option<Arc<Session>>, f: impl FnOnce() -> T) -> T {
    struct Restore(Option<Arc<Session>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            SESSION.set(self.0.take());
        }
    }
    let _restore = Restore(SESSION.replace(session));
    f()
}

/// The session in which this thread is.
pub(crate) fn session() -> Option<Arc<Session>> {
    SESSION.with_borrow(Clone::clone)
}

/// What the session has been answered about an object.
pub(crate) fn known(resource: &Resource, version: &str, object: &Object) -> Conversion {
    let Some(session) = session() else {
        return Conversion::Unasked;
    };
    let mut plain = object.clone();
    metadata_mut(&mut plain).remove("resourceVersion");
    let key = (Value::Object(plain).to_string(), version.to_owned());
    let mut state = session.lock();
    match state.answers.get(&key).cloned() {
        Some(Ok(mut converted)) => {
            restore_version(object, &mut converted);
            Conversion::Known(converted)
        }
        Some(Err(error)) => {
            state.failed.get_or_insert(error);
            Conversion::Pending
        }
        None => {
            if !state.missing.iter().any(|missing| missing.key == key) {
                state.missing.push(Missing {
                    key,
                    resource: resource.clone(),
                    object: object.clone(),
                    version: version.to_owned(),
                });
            }
            Conversion::Pending
        }
    }
}

/// That nothing is missing up to here: what comes now changes something.
///
/// # Errors
///
/// The attempt is to end here.
pub(crate) fn complete() -> Result<(), StatusError> {
    let Some(session) = session() else { return Ok(()) };
    let state = session.lock();
    match &state.failed {
        Some(error) => Err(error.clone()),
        None if state.missing.is_empty() => Ok(()),
        None => Err(StatusError::internal("objects have not been converted yet")),
    }
}

fn restore_version(original: &Object, converted: &mut Object) {
    let metadata = metadata_mut(converted);
    match original
        .get("metadata")
        .and_then(|metadata| metadata.get("resourceVersion"))
    {
        Some(version) => metadata.insert("resourceVersion".into(), version.clone()),
        None => metadata.remove("resourceVersion"),
    };
}

impl Api {
    /// Asks for what an attempt has missed.
    pub(crate) async fn convert_missing(&self, session: &Session, missing: Vec<Missing>) {
        for missing in missing {
            let Missing {
                key,
                resource,
                object,
                version,
            } = missing;
            let converted = self.convert(&resource, &version, vec![object]).await;
            let converted = converted.map(|mut converted| converted.pop().unwrap_or_default());
            session.lock().answers.insert(key, converted);
        }
    }

    /// These objects in a version of their resource.
    ///
    /// # Errors
    ///
    /// What the webhook says, or that it says nothing.
    pub(crate) async fn converted(
        &self,
        resource: &Resource,
        version: &str,
        mut objects: Vec<Arc<Stored>>,
    ) -> Result<Vec<Arc<Stored>>, StatusError> {
        if resource.definition.webhook.is_none() {
            return Ok(objects);
        }
        let others: Vec<usize> = (0..objects.len())
            .filter(|at| &*objects[*at].version != version)
            .collect();
        let decoded = others.iter().map(|at| {
            let stored = &objects[*at];
            nesting::with_room(stored.depth, || view::decode_as_stored(resource, stored))
        });
        let decoded: Vec<_> = decoded.collect();
        if decoded.is_empty() {
            return Ok(objects);
        }
        let converted = self.convert(resource, version, decoded).await?;
        for (at, converted) in others.into_iter().zip(converted) {
            let resource_version = objects[at].resource_version;
            objects[at] = Arc::new(Stored::encode(resource, &converted, resource_version));
        }
        Ok(objects)
    }

    async fn convert(
        &self,
        resource: &Resource,
        version: &str,
        objects: Vec<Object>,
    ) -> Result<Vec<Object>, StatusError> {
        let Some(webhook) = &resource.definition.webhook else {
            return Ok(objects);
        };
        let depth = |object: &Object| object.values().map(nesting::of).max().unwrap_or(0);
        if objects.iter().any(|object| depth(object) >= nesting::COMMON) {
            let most = nesting::COMMON;
            let why = format!("webhooks do not convert objects of more than {most} levels");
            return Err(StatusError::internal(why));
        }
        let from = objects.first().map_or("", |object| text(object, "apiVersion"));
        let said = format!("conversion webhook for {from}, Kind={}", resource.kind);
        let fault = |why: String| StatusError::internal(format!("{said} {why}"));
        let Some(review) = webhook.review else {
            return Err(StatusError::internal("no supported conversion review versions"));
        };
        let (uid, wanted) = (uid_from(fastrand::u128(..)), resource.api_version(version));
        let body = json!({
            "kind": "ConversionReview",
            "apiVersion": format!("{GROUP}/{review}"),
            "request": {"uid": uid, "desiredAPIVersion": wanted, "objects": objects},
        });
        let answer = admission::post(self, &webhook.client, TIMEOUT, body.to_string().into_bytes()).await;
        let converted = answer
            .and_then(|answer| objects_of(&answer, review, &uid))
            .map_err(|why| fault(format!("failed: {why}")))?;
        if converted.len() != objects.len() {
            let (got, expected) = (converted.len(), objects.len());
            return Err(fault(format!("returned {got} objects, expected {expected}")));
        }
        let pairs = objects.iter().zip(converted);
        pairs
            .map(|(original, converted)| completed(resource, version, original, converted).map_err(fault))
            .collect()
    }
}

/// The objects that an answer has.
fn objects_of(answer: &Bytes, review: &str, uid: &str) -> Result<Vec<Value>, String> {
    let mut answer: Value = serde_json::from_slice(answer).map_err(|_| "the answer is no JSON".to_owned())?;
    if review == "v1" {
        let kind = (text_of(&answer["apiVersion"]), text_of(&answer["kind"]));
        if kind != ("apiextensions.k8s.io/v1", "ConversionReview") {
            let got = format!("{}, Kind={}", kind.0, kind.1);
            return Err(format!(
                "expected webhook response of {GROUP}/v1, Kind=ConversionReview, got {got}"
            ));
        }
    }
    let response = &mut answer["response"];
    if response.is_null() {
        return Err("no response provided".into());
    }
    let given = text_of(&response["uid"]);
    if review == "v1" && given != uid {
        return Err(format!(
            "expected response.uid={}, got {}",
            quoted(uid),
            quoted(given)
        ));
    }
    let result = &response["result"];
    match (text_of(&result["status"]), text_of(&result["message"])) {
        ("Success", _) => {}
        (status, "") => return Err(format!("response.result.status was '{status}', not 'Success'")),
        (_, message) => return Err(message.to_owned()),
    }
    match response["convertedObjects"].take() {
        Value::Array(objects) => Ok(objects),
        _ => Ok(Vec::new()),
    }
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

/// That a label or an annotation is none.
fn misplaced(field: &str, texts: &Object) -> String {
    let found = texts.iter().find(|(_, value)| !value.is_string());
    let (name, kind) = found.map_or(("", ""), |(name, value)| {
        let kind = match value {
            Value::Null => "<nil>",
            Value::Bool(_) => "bool",
            Value::Number(number) if number.is_i64() => "int64",
            Value::Number(_) => "float64",
            Value::Array(_) => "[]interface {}",
            _ => "map[string]interface {}",
        };
        (name, kind)
    });
    format!(
        "returned invalid metadata: metadata.{field}[{name}] must be a string, but is {kind} in converted object"
    )
}

/// A converted object with the original's metadata, but for labels and annotations.
fn completed(
    resource: &Resource,
    version: &str,
    original: &Object,
    converted: Value,
) -> Result<Object, String> {
    let Value::Object(mut converted) = converted else {
        return Err("returned invalid object at index 0: it is no object".into());
    };
    let invalid = |what: &str, expected: &str, got: &str| {
        format!("returned invalid object at index 0: invalid {what} (expected {expected}, received {got})")
    };
    let (wanted, got) = (resource.api_version(version), text(&converted, "apiVersion"));
    if wanted != got {
        return Err(invalid("groupVersion", &wanted, got));
    }
    if resource.kind != text(&converted, "kind") {
        return Err(invalid("kind", &resource.kind, text(&converted, "kind")));
    }
    let given = match converted.remove("metadata") {
        Some(Value::Object(given)) => given,
        _ => Object::new(),
    };
    for (field, name) in [("name", "name"), ("namespace", "namespace"), ("uid", "UID")] {
        let (expected, got) = (text(metadata(original), field), text(&given, field));
        if expected != got {
            return Err(format!(
                "returned invalid object: must have the same {name}: {expected} != {got}"
            ));
        }
    }
    let mut kept = metadata(original).clone();
    for field in ["labels", "annotations"] {
        kept.remove(field);
        match given.get(field) {
            None | Some(Value::Null) => {}
            Some(Value::Object(texts)) if texts.values().all(Value::is_string) => {
                kept.insert(field.into(), Value::Object(texts.clone()));
            }
            Some(Value::Object(texts)) => return Err(misplaced(field, texts)),
            Some(_) => {
                return Err(format!(
                    "returned invalid metadata: invalid metadata.{field} in converted object"
                ));
            }
        }
    }
    converted.insert("metadata".into(), Value::Object(kept));
    if let Some(schema) = resource.schema(version) {
        // Defaults are those of the version in which an object is stored, when it is read.
        fit::converted(&mut converted, &schema);
    }
    Ok(converted)
}
