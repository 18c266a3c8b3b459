//! Panics of user code.

use std::any::Any;

/// The message of a panic; `None` if its payload is not a string.
pub(crate) fn message(payload: &(dyn Any + Send)) -> Option<&str> {
    let string = payload.downcast_ref::<String>().map(String::as_str);
    string.or_else(|| payload.downcast_ref::<&str>().copied())
}
