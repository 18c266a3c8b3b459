//! Maps of strings, such as labels.

use super::{
    text,
    walk::{Fault, Walk},
};
use crate::low_level::wire::ScanReason;
use std::borrow::Cow;

/// The members of the object `span`, which must have been accepted by [`check`]; otherwise some are missing.
pub(in crate::low_level::wire) fn labels(span: &[u8]) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let name = next_string(span, &mut at)?;
        let value = next_string(span, &mut at)?;
        Some((name, value))
    })
}

/// The next string after `at`. In a map of strings, names and values alternate.
fn next_string<'a>(span: &'a [u8], at: &mut usize) -> Option<Cow<'a, str>> {
    *at += memchr::memchr(b'"', &span[*at..])?;
    let mut walk = Walk::new(&span[*at..]);
    let token = walk.value().ok()?;
    *at += token.end;
    text::decode(walk.slice(token))
}

/// Skips the object that is the value of `field`. Returns an error if a member is not a string.
pub(super) fn check(walk: &mut Walk<'_>, field: &'static str) -> Result<Option<Fault>, Fault> {
    let mut fault = None;
    walk.members(|walk, name| {
        let value = walk.value()?;
        let offset = value.start;
        let value = walk.slice(value);
        if !value.starts_with(b"\"") {
            let reason = ScanReason::WrongType {
                field,
                expected: "an object of texts",
            };
            fault = Some(Fault { reason, offset });
        } else if text::decode(walk.slice(name)).is_none() || text::decode(value).is_none() {
            fault = Some(Fault {
                reason: ScanReason::InvalidText(field),
                offset,
            });
        }
        Ok(())
    })?;
    Ok(fault)
}
