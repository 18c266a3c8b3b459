//! The envelope of an object: what it is, and its message.

use super::MAGIC;
use super::records::{Records, fault};
use crate::low_level::wire::error::Fault;
use std::ops::Range;

/// An object's envelope, or the lack of one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Envelope {
    pub(super) api_version: Option<Range<usize>>,
    pub(super) kind: Option<Range<usize>>,
    /// The object's message.
    pub(super) message: Range<usize>,
}

/// Opens the envelope of an object. A bare message has none.
pub(super) fn open(bytes: &[u8]) -> Result<Envelope, Fault> {
    if !bytes.starts_with(MAGIC) {
        return Ok(Envelope {
            message: 0..bytes.len(),
            ..Envelope::default()
        });
    }
    let mut envelope = Envelope::default();
    let mut records = Records::new(bytes, MAGIC.len()..bytes.len());
    while let Some(record) = records.next()? {
        let value = || {
            let value = record.value.bytes();
            value.ok_or_else(|| fault(record.place.start, "an envelope"))
        };
        match record.number {
            1 => (envelope.api_version, envelope.kind) = type_meta(bytes, value()?)?,
            2 => envelope.message = value()?,
            3 | 4 if !value()?.is_empty() => {
                return Err(fault(record.place.start, "a message that is not encoded again"));
            }
            _ => {}
        }
    }
    Ok(envelope)
}

type TypeMeta = (Option<Range<usize>>, Option<Range<usize>>);

/// The places of apiVersion and kind.
pub(super) fn type_meta(bytes: &[u8], place: Range<usize>) -> Result<TypeMeta, Fault> {
    let mut types = (None, None);
    let mut records = Records::new(bytes, place);
    while let Some(record) = records.next()? {
        let value = record.value.bytes().filter(|place| !place.is_empty());
        if let Some(place) = &value
            && std::str::from_utf8(&bytes[place.clone()]).is_err()
        {
            return Err(fault(place.start, "a kind in UTF-8"));
        }
        match record.number {
            1 => types.0 = value,
            2 => types.1 = value,
            _ => {}
        }
    }
    Ok(types)
}
