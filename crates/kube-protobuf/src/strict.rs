//! What Go's strict decoding finds wrong with JSON: fields that there are not, and fields that are there twice.

use crate::table::{Form, Label, Message, Presence};
use crate::{Descriptor, Error};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::HashSet;
use std::fmt;

/// A field that strict decoding refuses. Its text is an API server's.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StrictError {
    /// The message does not have it.
    Unknown {
        /// Such as `spec.containers[0].imagee`.
        path: String,
    },
    /// It was there before.
    Duplicate {
        /// Such as `metadata.labels.app`.
        path: String,
    },
}

impl fmt::Display for StrictError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { path } => write!(f, "unknown field \"{path}\""),
            Self::Duplicate { path } => write!(f, "duplicate field \"{path}\""),
        }
    }
}

impl std::error::Error for StrictError {}

/// The unknown and duplicate fields of an object in JSON, in the order of the text, as an API server lists them for
/// [`fieldValidation=Strict`](https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation).
///
/// ```
/// use kube_protobuf::{Descriptor, strict_errors};
///
/// let message = Descriptor::of("v1", "ConfigMap").unwrap();
/// let errors = strict_errors(message, br#"{"dat": {}, "metadata": {"name": "a", "name": "b"}}"#)?;
/// let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
/// assert_eq!(errors, ["unknown field \"dat\"", "duplicate field \"metadata.name\""]);
/// # Ok::<(), kube_protobuf::Error>(())
/// ```
///
/// Types are not looked at: what is an object where a string should be is passed over. At most 100 fields are told, as by an
/// API server.
///
/// # Errors
///
/// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) if it is no JSON, or has more than 127 levels.
pub fn strict_errors(message: Descriptor, json: &[u8]) -> Result<Vec<StrictError>, Error> {
    let mut path = String::new();
    let mut errors = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let place = Place {
        shape: Shape::Message(message.0),
        path: &mut path,
        errors: &mut errors,
    };
    let read = place.deserialize(&mut deserializer);
    read.and_then(|()| deserializer.end())
        .map_err(|error| Error::json(&error))?;
    Ok(errors)
}

/// So many fields are told of.
const MOST_ERRORS: usize = 100;

/// What is expected at a place.
#[derive(Clone, Copy)]
enum Shape {
    Message(&'static Message),
    Map(Option<&'static Message>),
    /// Scalars, and what is stored as it is.
    Any,
}

impl Shape {
    fn of(message: Option<&'static Message>) -> Self {
        message.map_or(Self::Any, |message| match message.form {
            Form::Fields => Self::Message(message),
            // What reads itself in Go, such as a schema where there may be a boolean, too, is not strict.
            _ => Self::Any,
        })
    }

    /// What a field of a message is; `None` if there is none.
    fn field(message: &'static Message, name: &str) -> Option<Self> {
        if message.has_type_meta && matches!(name, "apiVersion" | "kind") {
            return Some(Self::Any);
        }
        message
            .fields
            .iter()
            .find_map(|field| match (field.presence, field.kind.message()) {
                (Presence::Inline, Some(inlined)) => Self::field(inlined, name),
                _ if field.name != name => None,
                (_, message) if field.label == Label::Map => Some(Self::Map(message)),
                (_, message) => Some(Self::of(message)),
            })
    }
}

struct Place<'a> {
    shape: Shape,
    path: &'a mut String,
    errors: &'a mut Vec<StrictError>,
}

impl Place<'_> {
    /// Goes on below, where `step` leads.
    fn below(&mut self, shape: Shape, step: &str) -> Place<'_> {
        if !step.starts_with('[') && !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(step);
        Place {
            shape,
            path: self.path,
            errors: self.errors,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.shape {
            Shape::Any => deserializer.deserialize_ignored_any(IgnoredAny).map(|_| ()),
            _ => deserializer.deserialize_any(self),
        }
    }
}

macro_rules! passed_over {
    ($($visit:ident: $type:ty),*) => {
        $(fn $visit<E>(self, _: $type) -> Result<(), E> {
            Ok(())
        })*
    };
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    passed_over!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<(), A::Error> {
        let (shape, length) = (self.shape, self.path.len());
        for index in 0.. {
            let below = self.below(shape, &format!("[{index}]"));
            let next = elements.next_element_seed(below)?;
            self.path.truncate(length);
            if next.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<(), A::Error> {
        let length = self.path.len();
        let mut seen = HashSet::new();
        while let Some(name) = entries.next_key::<String>()? {
            let shape = match self.shape {
                Shape::Message(message) => Shape::field(message, &name),
                Shape::Map(message) => Some(Shape::of(message)),
                Shape::Any => Some(Shape::Any),
            };
            let below = self.below(shape.unwrap_or(Shape::Any), &name);
            let path = || below.path.clone();
            let error = match shape {
                None => Some(StrictError::Unknown { path: path() }),
                Some(_) if seen.contains(&name) => Some(StrictError::Duplicate { path: path() }),
                Some(_) => None,
            };
            if below.errors.len() < MOST_ERRORS {
                below.errors.extend(error);
            }
            entries.next_value_seed(below)?;
            self.path.truncate(length);
            seen.insert(name);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(kind: (&str, &str), json: &str) -> Vec<String> {
        let message = Descriptor::of(kind.0, kind.1).unwrap();
        let errors = strict_errors(message, json.as_bytes()).unwrap();
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_hundred_fields_are_told_of() {
        let fields: Vec<_> = (0..200).map(|n| format!("\"bogus-{n}\": 1")).collect();
        let json = format!("{{{}}}", fields.join(","));
        assert_eq!(errors(("v1", "ConfigMap"), &json).len(), 100);
    }

    #[test]
    fn unknown_and_duplicate_fields_come_in_order() {
        let json = r#"{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"labels": {"a": "b", "a": "c"}, "x": 1},
            "spec": {"y": {}, "replicas": 1, "replicas": 2, "template": {"spec": {"containers": [
                {"name": "a"}, {"z": [], "resources": {"limits": {"anything": "1"}}}]}}}}"#;
        let expected = [
            "duplicate field \"metadata.labels.a\"",
            "unknown field \"metadata.x\"",
            "unknown field \"spec.y\"",
            "duplicate field \"spec.replicas\"",
            "unknown field \"spec.template.spec.containers[1].z\"",
        ];
        assert_eq!(errors(("apps/v1", "Deployment"), json), expected);
    }

    #[test]
    fn embedded_fields_schemas_and_raw_objects_are_known() {
        let json = r#"{"spec": {"volumes": [{"name": "a", "emptyDir": {}}]}}"#;
        assert!(errors(("v1", "Pod"), json).is_empty());
        let json = r#"{"data": {"any": {"thing": 1}}}"#;
        assert!(errors(("apps/v1", "ControllerRevision"), json).is_empty());
        let json = r#"{"spec": {"versions": [{"schema": {"openAPIV3Schema": {"properties": {"a": {"typ": 1, "items": {"typ": 1}}},
            "additionalProperties": true}}}]}}"#;
        assert_eq!(
            errors(("apiextensions.k8s.io/v1", "CustomResourceDefinition"), json),
            ["unknown field \"spec.versions[0].schema.openAPIV3Schema.properties.a.typ\""]
        );
    }

    #[test]
    fn what_is_no_json_is_an_error() {
        let message = Descriptor::of("v1", "Pod").unwrap();
        for json in ["", "{", "{} {}"] {
            let error = strict_errors(message, json.as_bytes()).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Malformed);
        }
        assert_eq!(strict_errors(message, b"[{\"a\": 1}]").unwrap().len(), 1);
    }
}
