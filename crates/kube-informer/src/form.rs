//! Forms: how the bytes of an object become what is held of it.
//!
//! [`Object`] says how a type is held and read; [`Form`] adds how it is made from what a server sent. Any
//! [`kube::Resource`] that can be deserialized is a form: it is decoded once, when it arrives.
//!
//! ```
//! use bytes::Bytes;
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube_informer::{form::Form, wire::{Encoding, Raw}};
//!
//! let bytes = Bytes::from_static(br#"{"metadata":{"name":"a","namespace":"ns"},"data":{"k":"v"}}"#);
//! let raw = Raw::scan(Encoding::Json, bytes)?;
//! let object = ConfigMap::decode(&raw, None)?;
//! assert_eq!(object.data.as_ref().unwrap()["k"], "v");
//!
//! let raw = Raw::scan(Encoding::Json, Bytes::from_static(br#"{"metadata":{"name":"a"},"data":["secret"]}"#))?;
//! let error = ConfigMap::decode(&raw, None).unwrap_err();
//! assert_eq!(error.to_string(), "data: invalid type (line 1, column 32)");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

use crate::object::Object;
use crate::wire::{Encoding, Raw};
use kube::core::{DynamicObject, TypeMeta};
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use std::{any::Any, fmt, sync::Arc};

/// An [`Object`] that can be made from what a server sends.
pub trait Form: Object {
    /// Makes the form of `raw` that is held. `types` says what kind it is if it does not say so itself: the items of
    /// a list of built-in objects do not.
    ///
    /// # Errors
    /// The object is not what the type expects. The error says where, and never what stood there.
    fn decode(raw: &Raw, types: Option<&TypeMeta>) -> Result<Self::Ref, DecodeError>;
}

impl<K: kube::Resource + DeserializeOwned + Send + Sync + 'static> Form for K {
    fn decode(raw: &Raw, types: Option<&TypeMeta>) -> Result<Arc<K>, DecodeError> {
        let mut object: K = match raw.encoding() {
            Encoding::Json => json(raw.bytes())?,
        };
        // A dynamic object that does not know its kind is of little use; it must not depend on how it came, by a list
        // or by a watch, whether it does.
        if let Some(dynamic) = (&mut object as &mut dyn Any).downcast_mut::<DynamicObject>()
            && dynamic.types.is_none()
        {
            dynamic.types = types.cloned();
        }
        Ok(Arc::new(object))
    }
}

/// Reads JSON; an error is looked for a second time to learn the path, which costs nothing when there is none.
fn json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, DecodeError> {
    serde_json::from_slice(bytes).map_err(|error| {
        let mut deserializer = serde_json::Deserializer::from_slice(bytes);
        let path = match serde_path_to_error::deserialize::<_, T>(&mut deserializer) {
            Err(error) => error.path().to_string(),
            Ok(_) => String::new(),
        };
        DecodeError {
            path,
            reason: reason(&error),
            line: error.line(),
            column: error.column(),
        }
    })
}

/// What is wrong, without the value that is wrong: it may be part of a secret, and serde's own messages quote it.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match error.classify() {
        Category::Eof => "the object ends too early".to_owned(),
        Category::Syntax => "not JSON".to_owned(),
        Category::Io => "cannot be read".to_owned(),
        Category::Data => {
            let known = [
                "invalid type",
                "invalid value",
                "invalid length",
                "unknown variant",
                "unknown field",
            ];
            match known.into_iter().find(|known| text.starts_with(known)) {
                Some(known) => known.to_owned(),
                // Field names come from the type, not from the object.
                None if text.starts_with("missing field") => {
                    text.split(" at line").next().unwrap_or("").to_owned()
                }
                None => "invalid data".to_owned(),
            }
        }
    }
}

/// Why an object could not be decoded: where and what, but not the object's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError {
    path: String,
    reason: String,
    line: usize,
    column: usize,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() && self.path != "." {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{} (line {}, column {})", self.reason, self.line, self.column)
    }
}

impl std::error::Error for DecodeError {}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::{Pod, Secret};

    fn error<T: DeserializeOwned + fmt::Debug>(body: &str) -> String {
        json::<T>(body.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn errors_say_where_and_never_what() {
        let text = error::<Secret>(r#"{"metadata":{"name":"a"},"data":{"password":["hunter2"]}}"#);
        assert!(text.starts_with("data.password: invalid type"), "{text}");
        let texts = [
            text,
            error::<Secret>(r#"{"metadata":{"name":"a"},"data":"hunter2"}"#),
            error::<Secret>(r#"{"metadata":{"name":"a"},"data":{"x":"hunter2!"}}"#),
            error::<Pod>(r#"{"metadata":{"name":"a","creationTimestamp":"hunter2"}}"#),
            error::<Pod>(r#"{"kind":"hunter2","metadata":{}}"#),
            error::<Pod>(r#"{"metadata":{"name":"hunter2""#),
            error::<Pod>(r#"{"metadata":{"name":"hunter2"}} hunter2"#),
        ];
        for text in texts {
            assert!(!text.contains("hunter2"), "{text}");
        }
    }
}
