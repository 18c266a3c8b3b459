//! Reads bookmark events.

use super::records::{Records, entry, fault};
use super::{METADATA, envelope, object_meta};
use crate::low_level::wire::error::Fault;
use crate::low_level::wire::{Bookmark, ScanError};
use crate::object::ResourceVersion;

/// Reads the object of a bookmark event.
pub(in crate::low_level::wire) fn bookmark(bytes: &[u8]) -> Result<Bookmark, ScanError> {
    read(bytes).map_err(|fault| ScanError::new(None, fault.reason, fault.offset))
}

fn read(bytes: &[u8]) -> Result<Bookmark, Fault> {
    let mut bookmark = Bookmark {
        resource_version: None,
        initial_events_end: false,
    };
    let mut records = Records::new(bytes, envelope::open(bytes)?.message);
    while let Some(record) = records.next()? {
        let Some(metadata) = record.value.bytes().filter(|_| record.number == METADATA) else {
            continue;
        };
        let mut records = Records::new(bytes, metadata);
        while let Some(record) = records.next()? {
            let value = record.value.bytes();
            match (record.number, value) {
                (object_meta::RESOURCE_VERSION, Some(place)) => {
                    let start = place.start;
                    let text = std::str::from_utf8(&bytes[place]);
                    let text = text.map_err(|_| fault(start, "a resource version in UTF-8"))?;
                    bookmark.resource_version = (!text.is_empty()).then(|| ResourceVersion::from(text));
                }
                (object_meta::ANNOTATIONS, Some(place)) => {
                    if let Some(("k8s.io/initial-events-end", value)) = entry(bytes, place)? {
                        bookmark.initial_events_end = value == "true";
                    }
                }
                _ => {}
            }
        }
    }
    Ok(bookmark)
}
