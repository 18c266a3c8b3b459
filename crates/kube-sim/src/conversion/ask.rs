//! What is asked of a conversion webhook, and what its answer comes to.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::restore::restored;
use super::webhook::Webhook;
use super::{Missing, Object, Session};
use crate::api::Api;
use crate::meta::{text, uid_from};
use crate::nesting;
use crate::object::Stored;
use crate::resources::Resource;
use crate::schema::fit;
use crate::status::{StatusError, quoted};
use crate::view;
use crate::webhook::{self, Caller, Field, Review};

/// How long a webhook may take.
const TIMEOUT: Duration = Duration::from_secs(30);

const GROUP: &str = "apiextensions.k8s.io";

/// How many bytes of objects a webhook is sent at once, so that its answer is not too large to be read. One object may be larger.
const MOST_AT_ONCE: usize = 1024 * 1024;

/// The fields of an answer that Go reads, with its types.
const FIELDS: [Field; 7] = [
    Field::new("/response", "ConversionReview", "{version}.ConversionResponse"),
    Field::new("/response/uid", "ConversionResponse", "types.UID"),
    Field::new(
        "/response/convertedObjects",
        "ConversionResponse",
        "[]runtime.RawExtension",
    ),
    Field::new("/response/result", "ConversionResponse", "v1.Status"),
    Field::new("/response/result/status", "Status", "string"),
    Field::new("/response/result/message", "Status", "string"),
    Field::new("/response/result/code", "Status", "int32"),
];

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
            let converted = converted.map(|mut converted| {
                fit_all(&resource, &version, &mut converted);
                converted.pop().unwrap_or_default()
            });
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
        let mut others = (0..objects.len())
            .filter(|at| &*objects[*at].version != version)
            .collect::<Vec<_>>()
            .into_iter()
            .peekable();
        while others.peek().is_some() {
            let mut bytes = 0;
            let mut some = Vec::new();
            while let Some(at) =
                others.next_if(|at| some.is_empty() || bytes + objects[*at].len() <= MOST_AT_ONCE)
            {
                bytes += objects[at].len();
                some.push(at);
            }
            let decoded = some.iter().map(|at| {
                let stored = &objects[*at];
                nesting::with_room(stored.depth, || view::decode_as_stored(resource, stored))
            });
            let mut converted = self.convert(resource, version, decoded.collect()).await?;
            fit_all(resource, version, &mut converted);
            for (at, converted) in some.into_iter().zip(converted) {
                let resource_version = objects[at].resource_version;
                objects[at] = Arc::new(Stored::encode(resource, &converted, resource_version));
            }
        }
        Ok(objects)
    }

    /// The objects as the webhook makes them: they may not fit the schema of their version.
    ///
    /// # Errors
    ///
    /// What the webhook says, or that it says nothing.
    pub(crate) async fn convert(
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
        let wanted = resource.api_version(version);
        let answered = self.objects_of(webhook, &wanted, &objects, &said).await?;
        let pairs = objects.iter().zip(answered);
        let converted =
            pairs.map(|(original, answered)| restored(original, answered, &wanted, &resource.kind, &said));
        let converted: Result<_, String> = converted.collect();
        converted.map_err(StatusError::internal)
    }

    /// What a webhook makes of objects: as many, but whatever it likes.
    async fn objects_of(
        &self,
        webhook: &Webhook,
        wanted: &str,
        objects: &[Object],
        said: &str,
    ) -> Result<Vec<Value>, StatusError> {
        let Some(version) = webhook.review else {
            return Err(StatusError::internal("no supported conversion review versions"));
        };
        let review = Review {
            group: GROUP,
            version,
            kind: "ConversionReview",
            fields: &FIELDS,
        };
        let uid = uid_from(fastrand::u128(..));
        let body = json!({
            "kind": review.kind,
            "apiVersion": review.api_version(),
            "request": {"uid": uid, "desiredAPIVersion": wanted, "objects": objects},
        });
        let body = body.to_string().into_bytes();
        let answer = webhook::post(self, &webhook.client, Caller::Conversion(TIMEOUT), body).await;
        let converted = answer
            .and_then(|answer| answer.review(&review))
            .and_then(|answer| objects_in(answer, &review, &uid))
            .map_err(|why| StatusError::internal(format!("{said} failed: {why}")))?;
        let (got, expected) = (converted.len(), objects.len());
        if got != expected {
            let why = format!("{said} returned {got} objects, expected {expected}");
            return Err(StatusError::internal(why));
        }
        Ok(converted)
    }
}

/// Makes converted objects fit the schema of their version.
fn fit_all(resource: &Resource, version: &str, objects: &mut [Object]) {
    if let Some(schema) = resource
        .schema(version)
        .filter(|_| resource.definition.webhook.is_some())
    {
        // Defaults are those of the version in which an object is stored, when it is read.
        objects
            .iter_mut()
            .for_each(|object| fit::converted(object, &schema));
    }
}

/// The objects that an answer has.
fn objects_in(mut answer: Value, review: &Review<'_>, uid: &str) -> Result<Vec<Value>, String> {
    // In v1beta1 a webhook need not say what it sends, or what it answers.
    let is_strict = review.version == "v1";
    if is_strict {
        review.ensure_is(&answer)?;
    }
    let response = &mut answer["response"];
    if response.is_null() {
        return Err("no response provided".into());
    }
    let text_of = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let given = text_of(&response["uid"]);
    if is_strict && given != uid {
        let (uid, given) = (quoted(uid), quoted(&given));
        return Err(format!("expected response.uid={uid}, got {given}"));
    }
    let result = &response["result"];
    let (status, message) = (text_of(&result["status"]), text_of(&result["message"]));
    match (status.as_str(), message.is_empty()) {
        ("Success", _) => {}
        (status, true) => return Err(format!("response.result.status was '{status}', not 'Success'")),
        (_, false) => return Err(message),
    }
    match response["convertedObjects"].take() {
        Value::Array(objects) => Ok(objects),
        _ => Ok(Vec::new()),
    }
}
