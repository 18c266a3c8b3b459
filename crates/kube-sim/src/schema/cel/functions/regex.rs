//! What a regular expression finds in a string.

use std::sync::Arc;

use cel::Value;

use super::{Result, failed, mismatch, string, text};
use crate::schema::Pattern;
use crate::schema::cel::cost::pay_for_pattern;

/// What is found, up to so many.
fn found(arguments: &[Value], most: usize) -> Result<Vec<Value>> {
    let (source, pattern) = match arguments {
        [source, pattern, ..] => (text(source)?, text(pattern)?),
        _ => return Err(mismatch()),
    };
    pay_for_pattern(pattern, source)?;
    let pattern = Pattern::new(pattern);
    if let Some(why) = pattern.error() {
        return Err(failed(format!("Illegal regex: {why}")));
    }
    Ok(pattern.found_in(source, most).into_iter().map(string).collect())
}

pub(super) fn find(arguments: &[Value]) -> Result {
    Ok(found(arguments, 1)?.pop().unwrap_or_else(|| string("")))
}

pub(super) fn find_all(arguments: &[Value]) -> Result {
    let most = match arguments.get(2) {
        None => usize::MAX,
        // Less than none are all.
        Some(Value::Int(most)) => usize::try_from(*most).unwrap_or(usize::MAX),
        Some(_) => return Err(mismatch()),
    };
    Ok(Value::List(Arc::new(found(arguments, most)?)))
}
