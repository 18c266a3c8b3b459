//! What functions are called with, and what they say of it.

use std::sync::Arc;

use cel::common::types::{CelBool, CelBytes, CelInt, CelList, CelMap, CelOptional, CelString, Kind};
use cel::common::value::Val;
use cel::objects::Opaque;
use cel::{ExecutionError, Value};

use super::value::Own;

/// What a function makes of its arguments.
pub(super) type Result<T = Value> = std::result::Result<T, ExecutionError>;

/// The function of an error that shows what a real server shows.
const SAID: &str = "@said";

/// An error with this text.
pub(in crate::schema::cel) fn failed(why: impl Into<String>) -> ExecutionError {
    ExecutionError::function_error(SAID, why.into())
}

/// The text of an error that one of these functions has failed with.
pub(in crate::schema::cel) fn said(error: &ExecutionError) -> Option<&str> {
    match error {
        ExecutionError::FunctionError { function, message } if function == SAID => Some(message),
        _ => None,
    }
}

/// Arguments of types that a function does not take.
pub(super) fn mismatch() -> ExecutionError {
    ExecutionError::no_such_overload("", Vec::new())
}

/// What a function is called with. Strings and lists are not copied: a loop may call it with the same ones many times.
pub(super) enum Argument<'a> {
    Text(&'a str),
    Int(i64),
    Bool(bool),
    List(&'a [Box<dyn Val + 'a>]),
    Own(Arc<dyn Opaque>),
    /// What no function takes.
    Other,
}

impl<'a> Argument<'a> {
    pub(super) fn of(value: &'a (dyn Val + 'a)) -> Self {
        if let Some(text) = value.downcast_ref::<CelString<'_>>() {
            return Self::Text(text.inner());
        }
        if let Some(number) = value.downcast_ref::<CelInt>() {
            return Self::Int(*number.inner());
        }
        if let Some(is) = value.downcast_ref::<CelBool>() {
            return Self::Bool(*is.inner());
        }
        if let Some(list) = value.downcast_ref::<CelList<'a>>() {
            return Self::List(list.inner());
        }
        opaque(value).map_or(Self::Other, Self::Own)
    }

    pub(super) fn text(&self) -> Result<&'a str> {
        match self {
            Self::Text(text) => Ok(text),
            _ => Err(mismatch()),
        }
    }

    /// The value of one of Kubernetes' types.
    pub(super) fn own(&self) -> Result<&Own> {
        match self {
            Self::Own(value) => value.downcast_ref::<Own>().ok_or_else(mismatch),
            _ => Err(mismatch()),
        }
    }
}

pub(super) fn first<'s, 'a>(arguments: &'s [Argument<'a>]) -> Result<&'s Argument<'a>> {
    arguments.first().ok_or_else(mismatch)
}

/// A value of another type than those of CEL.
fn opaque(value: &dyn Val) -> Option<Arc<dyn Opaque>> {
    let is_opaque =
        value.get_type().kind() == Kind::Opaque && value.downcast_ref::<CelOptional<'_>>().is_none();
    match is_opaque.then(|| Value::try_from(value)) {
        Some(Ok(Value::Opaque(value))) => Some(value),
        _ => None,
    }
}

/// About how many bytes a value of one of Kubernetes' types has.
fn size_of(value: &dyn Val) -> usize {
    let value = opaque(value);
    let own = value.as_ref().and_then(|value| value.downcast_ref::<Own>());
    own.map_or(0, Own::len)
}

pub(super) fn string(text: impl Into<String>) -> Value {
    Value::String(Arc::new(text.into()))
}

/// What a part of a list takes beside what is in it, and of a map with its key.
const ITEM: u64 = 32;
const ENTRY: u64 = 64;

/// About how many bytes a value takes.
pub(in crate::schema::cel) fn length(value: &dyn Val) -> u64 {
    let of = |length: usize| length as u64;
    if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        return of(text.inner().len());
    }
    if let Some(bytes) = value.downcast_ref::<CelBytes<'_>>() {
        return of(bytes.inner().len());
    }
    if let Some(list) = value.downcast_ref::<CelList<'_>>() {
        return list.inner().iter().map(|item| ITEM + length(&**item)).sum();
    }
    if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
        let entries = map.inner().iter();
        return entries
            .map(|(key, item)| ENTRY + length(key.inner()) + length(&**item))
            .sum();
    }
    if let Some(optional) = value.downcast_ref::<CelOptional<'_>>() {
        return optional.inner().map_or(0, length);
    }
    of(size_of(value))
}
