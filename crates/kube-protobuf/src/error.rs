//! What can go wrong, and where.

use std::fmt;

/// Why bytes could not be read or a value could not be written.
///
/// Its text starts with the place, such as `spec.containers[0].image`, unless it is the whole. It names fields, keys and
/// types, but no values of the object, except in messages of the type that is read into.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    /// From the inside out.
    path: Vec<Segment>,
}

/// What an [`Error`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes do not start with `k8s\0`, or what follows is no envelope, or one that this crate cannot open.
    Envelope,
    /// There is no protobuf message of this apiVersion and kind.
    UnknownKind,
    /// The bytes are no protobuf message, or not the one that was expected. More or other bytes are needed.
    Malformed,
    /// Messages are nested too deep.
    TooDeep,
    /// The value does not fit the type: another type of value, a missing field, a number out of range.
    Mismatch,
}

#[derive(Debug)]
pub(crate) enum Segment {
    Field(&'static str),
    Key(String),
    /// Of a field that there is not.
    Name(String),
    Index(usize),
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            path: Vec::new(),
        }))
    }

    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Malformed, message)
    }

    pub(crate) fn envelope(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Envelope, message)
    }

    pub(crate) fn mismatch(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Mismatch, message)
    }

    pub(crate) fn unknown_kind(api_version: &str, kind: &str) -> Self {
        let message = match (api_version, kind) {
            ("", _) => "it has no apiVersion".to_owned(),
            (_, "") => "it has no kind".to_owned(),
            _ => format!("there is no protobuf message of {api_version} {kind}"),
        };
        Self::new(ErrorKind::UnknownKind, message)
    }

    pub(crate) fn too_deep() -> Self {
        Self::new(
            ErrorKind::TooDeep,
            format!("more than {} levels", crate::MAX_DEPTH),
        )
    }

    /// Without the message of `serde_json`, which can have values of the object, unless it is about syntax.
    pub(crate) fn json(error: &serde_json::Error) -> Self {
        if error.is_data() {
            let at = format!("line {}, column {}", error.line(), error.column());
            Self::mismatch(format!("the JSON inside does not fit the type ({at})"))
        } else {
            Self::malformed(format!("the JSON inside: {error}"))
        }
    }

    /// Adds what the place is in.
    #[cold]
    pub(crate) fn within(mut self, segment: Segment) -> Self {
        self.0.path.push(segment);
        self
    }

    #[cold]
    pub(crate) fn within_field(self, field: &'static str) -> Self {
        self.within(Segment::Field(field))
    }

    #[cold]
    pub(crate) fn at_index(self, index: usize) -> Self {
        self.within(Segment::Index(index))
    }

    /// What the error is about.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The place, in JSON's names: `spec.containers[0].image`, `metadata.annotations["a.b/c"]`; empty for the whole.
    pub fn path(&self) -> String {
        let mut path = String::new();
        for segment in self.0.path.iter().rev() {
            match segment {
                Segment::Field(name) if path.is_empty() => path += name,
                Segment::Field(name) => {
                    path.push('.');
                    path += name;
                }
                Segment::Name(name) => {
                    path.push_str(if path.is_empty() { "" } else { "." });
                    path += name;
                }
                Segment::Key(key) => path += &format!("[{key:?}]"),
                Segment::Index(index) => path += &format!("[{index}]"),
            }
        }
        path
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.path.is_empty() {
            f.write_str(&self.0.message)
        } else {
            write!(f, "{}: {}", self.path(), self.0.message)
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("path", &self.path())
            .field("message", &self.0.message)
            .finish()
    }
}

impl std::error::Error for Error {}

/// serde's own messages name the value that was found; these name its type only.
impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::mismatch(message.to_string())
    }

    fn invalid_type(found: serde::de::Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        Self::mismatch(format!("invalid type: {}, expected {expected}", type_of(&found)))
    }

    fn invalid_value(found: serde::de::Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        Self::mismatch(format!("invalid value: {}, expected {expected}", type_of(&found)))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::mismatch(format!(
            "unknown variant, expected one of {}",
            expected.join(", ")
        ))
    }
}

fn type_of(value: &serde::de::Unexpected<'_>) -> &'static str {
    use serde::de::Unexpected::{Bool, Char, Float, Map, Option, Seq, Signed, Str, Unit, Unsigned};
    match value {
        Bool(_) => "a boolean",
        Unsigned(_) | Signed(_) => "an integer",
        Float(_) => "a floating-point number",
        Char(_) | Str(_) => "a string",
        Unit | Option => "null",
        Seq => "an array",
        Map => "an object",
        _ => "another value",
    }
}
