//! Reads strings.

use super::walk::{Fault, Walk};
use crate::low_level::wire::ScanReason;
use std::{borrow::Cow, ops::Range};

/// The result of reading a string.
#[derive(Debug)]
pub(super) enum Read<'a> {
    /// Null or an empty string.
    Nothing,
    /// A string, and its range without the quotes.
    Text(Cow<'a, str>, Range<usize>),
    /// An invalid string or another value. The walk can continue after it.
    Fault(Fault),
}

/// Reads the value of `field`, which should be a string.
pub(super) fn read<'a>(walk: &mut Walk<'a>, field: &'static str) -> Result<Read<'a>, Fault> {
    let place = walk.value()?;
    let offset = place.start;
    let token = walk.slice(place.clone());
    if token == b"null" {
        return Ok(Read::Nothing);
    }
    if !token.starts_with(b"\"") {
        let reason = ScanReason::WrongType {
            field,
            expected: "a text",
        };
        return Ok(Read::Fault(Fault { reason, offset }));
    }
    Ok(match decode(token) {
        None => Read::Fault(Fault {
            reason: ScanReason::InvalidText(field),
            offset,
        }),
        Some(text) if text.is_empty() => Read::Nothing,
        Some(text) => Read::Text(text, place.start + 1..place.end - 1),
    })
}

/// Decodes a string that includes its quotes; `None` if it has an invalid escape or a control character, or is not
/// UTF-8.
pub(super) fn decode(token: &[u8]) -> Option<Cow<'_, str>> {
    let inner = token.get(1..token.len().checked_sub(1)?)?;
    if !is_plain(inner) {
        return serde_json::from_slice(token).ok().map(Cow::Owned);
    }
    std::str::from_utf8(inner).ok().map(Cow::Borrowed)
}

/// Decodes the name of a member that includes its quotes, as bytes to compare.
pub(super) fn member_name(token: &[u8]) -> Cow<'_, [u8]> {
    let inner = &token[1..token.len() - 1];
    if !is_plain(inner)
        && let Ok(name) = serde_json::from_slice::<String>(token)
    {
        return Cow::Owned(name.into_bytes());
    }
    Cow::Borrowed(inner)
}

/// Whether the inside of a string has neither escapes nor control characters. The loop has no early exit, so that the
/// compiler vectorizes it.
fn is_plain(inner: &[u8]) -> bool {
    inner
        .iter()
        .fold(true, |plain, &b| plain & (b != b'\\') & (b >= 0x20))
}
