//! What a webhook may not change of an object, and what it must not make of its metadata.

use serde_json::Value;

use super::Object;
use crate::meta::{go_type, metadata, text};
use crate::names::{annotation_faults, label_faults};
use crate::status::{Cause, Told, go_kind};

/// What a webhook has made of an object, with the metadata that the object had, but for labels and annotations.
///
/// # Errors
///
/// It is another object. The text says of which webhook that is (`said`), where a real server does.
pub(super) fn restored(
    original: &Object,
    answered: Value,
    wanted: &str,
    kind: &str,
    said: &str,
) -> Result<Object, String> {
    let mut converted = object_of(answered)?;
    let invalid = |what: &str, expected: &str, got: &str| {
        format!(
            "{said} returned invalid object at index 0: invalid {what} (expected {expected}, received {got})"
        )
    };
    let got = text(&converted, "apiVersion");
    if wanted != got {
        return Err(invalid("groupVersion", wanted, got));
    }
    if kind != text(&converted, "kind") {
        return Err(invalid("kind", kind, text(&converted, "kind")));
    }
    let given = match converted.remove("metadata") {
        Some(Value::Object(given)) => given,
        _ => Object::new(),
    };
    for (field, name) in [("name", "name"), ("namespace", "namespace"), ("uid", "UID")] {
        let (expected, got) = (text(metadata(original), field), text(&given, field));
        if expected != got {
            let why = format!("must have the same {name}: {expected} != {got}");
            return Err(format!("{said} returned invalid object: {why}"));
        }
    }
    let mut kept = metadata(original).clone();
    for field in ["labels", "annotations"] {
        let before = kept.remove(field);
        let texts = texts_of(field, given.get(field), before.as_ref())
            .map_err(|why| format!("{said} returned invalid metadata: {why}"))?;
        if let Some(texts) = texts {
            kept.insert(field.into(), Value::Object(texts.clone()));
        }
    }
    converted.insert("metadata".into(), Value::Object(kept));
    Ok(converted)
}

/// The members of what should be an object.
fn object_of(answered: Value) -> Result<Object, String> {
    let converted = match answered {
        Value::Object(converted) => converted,
        Value::Null => return Err("unexpected end of JSON input".into()),
        other => {
            let kind = go_kind(&other);
            return Err(format!(
                "json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
            ));
        }
    };
    match text(&converted, "kind") {
        // It is the webhook's own text, which a real server shows as well.
        "" => Err(format!(
            "Object 'Kind' is missing in '{}'",
            Value::Object(converted)
        )),
        _ => Ok(converted),
    }
}

/// The labels or annotations that an object is given. Those that it had need not be valid.
fn texts_of<'a>(
    field: &str,
    given: Option<&'a Value>,
    before: Option<&Value>,
) -> Result<Option<&'a Object>, String> {
    let texts = match given {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(texts)) => texts,
        Some(other) => {
            let kind = go_type(other);
            return Err(format!(
                "invalid metadata.{field} of type {kind} in converted object"
            ));
        }
    };
    if let Some((name, value)) = texts.iter().find(|(_, value)| !value.is_string()) {
        let kind = go_type(value);
        return Err(format!(
            "metadata.{field}[{name}] must be a string, but is {kind} in converted object"
        ));
    }
    if given != before {
        let mut causes = Told::default();
        match field {
            "labels" => causes.extend(label_faults(texts, "metadata.labels")),
            _ => causes.extend(annotation_faults(texts, "metadata.annotation")),
        }
        none_of(&causes.into_vec())?;
    }
    Ok(Some(texts))
}

/// That there are no causes; all of them, if there are.
fn none_of(causes: &[Cause]) -> Result<(), String> {
    let texts: Vec<_> = causes
        .iter()
        .map(|cause| format!("{}: {}", cause.field, cause.message))
        .collect();
    match &texts[..] {
        [] => Ok(()),
        [one] => Err(one.clone()),
        many => Err(format!("[{}]", many.join(", "))),
    }
}
