//! Reads bookmark events.

use super::{
    text::{self, Read},
    walk::{Fault, Walk},
};
use crate::{
    object::ResourceVersion,
    wire::{Bookmark, ScanError},
};
use std::borrow::Cow;

const NOTHING: Bookmark = Bookmark {
    resource_version: None,
    initial_events_end: false,
};

/// Reads the object of a bookmark event.
pub(in crate::low_level::wire) fn bookmark(bytes: &[u8]) -> Result<Bookmark, ScanError> {
    let mut found = NOTHING;
    let mut walk = Walk::new(bytes);
    walk.members(|walk, name| {
        if &*text::member_name(walk.slice(name)) == b"metadata" {
            found = metadata(walk)?;
        } else {
            walk.skip()?;
        }
        Ok(())
    })
    .and_then(|()| walk.end())
    .map_err(|fault| ScanError::new(None, fault.reason, fault.offset))?;
    Ok(found)
}

fn metadata(walk: &mut Walk<'_>) -> Result<Bookmark, Fault> {
    let mut found = NOTHING;
    if walk.peek() == Some(b'n') {
        walk.skip()?;
        return Ok(found);
    }
    walk.members(|walk, name| {
        match &*text::member_name(walk.slice(name)) {
            b"resourceVersion" => {
                let version = text(walk, "metadata.resourceVersion")?;
                found.resource_version = version.map(|text| ResourceVersion::from(&*text));
            }
            b"annotations" => found.initial_events_end = initial_events_end(walk)?,
            _ => walk.skip()?,
        }
        Ok(())
    })?;
    Ok(found)
}

fn initial_events_end(walk: &mut Walk<'_>) -> Result<bool, Fault> {
    let mut end = false;
    if walk.peek() != Some(b'{') {
        walk.skip()?;
        return Ok(false);
    }
    walk.members(|walk, name| {
        if &*text::member_name(walk.slice(name)) == b"k8s.io/initial-events-end" {
            end = text(walk, "metadata.annotations")?.as_deref() == Some("true");
        } else {
            walk.skip()?;
        }
        Ok(())
    })?;
    Ok(end)
}

fn text<'a>(walk: &mut Walk<'a>, field: &'static str) -> Result<Option<Cow<'a, str>>, Fault> {
    match text::read(walk, field)? {
        Read::Nothing => Ok(None),
        Read::Text(text, _) => Ok(Some(text)),
        Read::Fault(fault) => Err(fault),
    }
}
