//! Labels.

use super::object_meta::LABELS;
use super::records::{Records, entry};
use std::borrow::Cow;

/// The labels among the records in `span`, which a scan has accepted.
pub(in crate::low_level::wire) fn labels(span: &[u8]) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    let mut records = Records::new(span, 0..span.len());
    std::iter::from_fn(move || {
        while let Ok(Some(record)) = records.next() {
            if record.number == LABELS
                && let Some(place) = record.value.bytes()
                && let Ok(Some((name, value))) = entry(span, place)
            {
                return Some((name.into(), value.into()));
            }
        }
        None
    })
}
