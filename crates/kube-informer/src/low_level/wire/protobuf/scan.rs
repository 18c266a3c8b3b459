//! Scans an object in one pass: its envelope, the records of its message, and those of its metadata. Everything else is
//! passed over by its length.

use super::object_meta;
use super::records::{Record, Records, entry, fault, is_plain_entry};
use super::{METADATA, envelope};
use crate::low_level::wire::error::Fault;
use crate::low_level::wire::fingerprint::{self, BodyHash};
use crate::low_level::wire::meta::{Meta, Span, Text};
use crate::low_level::wire::{FieldPlan, ScanError, ScanReason};
use crate::object::{ObjectKey, ResourceVersion, is_path_segment};
use smallvec::SmallVec;
use std::ops::Range;

/// Extracts [`Meta`], including the cut of the managed fields if `plan` prunes them.
pub(in crate::low_level::wire) fn scan(bytes: &[u8], plan: &FieldPlan) -> Result<Meta, ScanError> {
    if u32::try_from(bytes.len()).is_err() {
        return Err(ScanError::new(None, ScanReason::TooLarge, 0));
    }
    let mut scan = Scan {
        bytes,
        prunes_managed_fields: plan.prunes_managed_fields(),
        ..Scan::default()
    };
    let scanned = scan.object();
    let fault = scanned.and_then(|envelope| scan.no_key().map_or(Ok(envelope), Err));
    let envelope = fault.map_err(|fault| {
        let key = scan.key();
        ScanError::new(key, fault.reason, fault.offset)
    })?;
    let uid = scan.uid.as_ref().map(|uid| uid.text);
    let version = scan.resource_version.map(|version| version.text);
    let by_version = fingerprint::of_version(plan, uid, version);
    let of_body = || {
        let mut hash = BodyHash::new(plan);
        hash.part(&bytes[envelope.message.clone()]);
        hash.finish()
    };
    let fingerprint = by_version.unwrap_or_else(of_body);
    let text = |place: Option<Range<usize>>| place.map_or(Text::None, |place| Text::Plain(Span::new(place)));
    let placed = |placed: Option<Placed<'_>>| text(placed.map(|placed| placed.place));
    Ok(Meta {
        api_version: text(envelope.api_version),
        kind: text(envelope.kind),
        namespace: placed(scan.namespace),
        name: placed(scan.name),
        uid: placed(scan.uid),
        resource_version: version.map(ResourceVersion::from),
        labels: scan.labels.map(Span::new),
        owners: scan.owners.map(Span::new),
        fingerprint,
        by_version: by_version.is_some(),
        cuts: scan.cuts,
        fields: SmallVec::new(),
    })
}

#[derive(Default)]
struct Scan<'a> {
    bytes: &'a [u8],
    prunes_managed_fields: bool,
    has_metadata: bool,
    name: Option<Placed<'a>>,
    namespace: Option<Placed<'a>>,
    uid: Option<Placed<'a>>,
    resource_version: Option<Placed<'a>>,
    /// From the first to the last label.
    labels: Option<Range<usize>>,
    /// From the first to the last owner reference.
    owners: Option<Range<usize>>,
    cuts: SmallVec<[Span; 1]>,
}

/// A string that is not empty, and its place in the bytes.
struct Placed<'a> {
    text: &'a str,
    place: Range<usize>,
}

impl<'a> Scan<'a> {
    fn object(&mut self) -> Result<envelope::Envelope, Fault> {
        let envelope = envelope::open(self.bytes)?;
        let message = envelope.message.clone();
        self.cut(0..message.start);
        let mut records = Records::new(self.bytes, message.clone());
        while let Some(record) = records.next()? {
            if record.number == METADATA {
                self.metadata(&record)?;
            }
        }
        // Not merged with a cut that ends the message.
        let trailer = message.end..self.bytes.len();
        if !trailer.is_empty() {
            self.cuts.push(Span::new(trailer));
        }
        Ok(envelope)
    }

    fn metadata(&mut self, record: &Record) -> Result<(), Fault> {
        let place = record.value.bytes().filter(|_| !self.has_metadata);
        let place = place.ok_or_else(|| fault(record.place.start, "metadata once, as a message"))?;
        self.has_metadata = true;
        let mut records = Records::new(self.bytes, place);
        while let Some(record) = records.next()? {
            match record.number {
                object_meta::NAME => self.name = self.text(&record, "metadata.name")?,
                object_meta::NAMESPACE => self.namespace = self.text(&record, "metadata.namespace")?,
                object_meta::UID => self.uid = self.text(&record, "metadata.uid")?,
                object_meta::RESOURCE_VERSION => {
                    self.resource_version = self.text(&record, "metadata.resourceVersion")?;
                }
                object_meta::LABELS => {
                    if !self.is_label(&record)? {
                        return Err(Fault {
                            reason: ScanReason::InvalidText("metadata.labels"),
                            offset: record.place.start,
                        });
                    }
                    extend(&mut self.labels, record.place);
                }
                object_meta::OWNER_REFERENCES => extend(&mut self.owners, record.place),
                object_meta::MANAGED_FIELDS if self.prunes_managed_fields => self.cut(record.place),
                _ => {}
            }
        }
        Ok(())
    }

    fn is_label(&self, record: &Record) -> Result<bool, Fault> {
        let Some(place) = record.value.bytes() else {
            return Ok(false);
        };
        Ok(is_plain_entry(&self.bytes[place.clone()]) || entry(self.bytes, place)?.is_some())
    }

    /// A string; `None` if it is empty.
    fn text(&self, record: &Record, field: &'static str) -> Result<Option<Placed<'a>>, Fault> {
        let offset = record.place.start;
        let place = record.value.bytes().ok_or(Fault {
            reason: ScanReason::WrongType {
                field,
                expected: "a string",
            },
            offset,
        })?;
        match std::str::from_utf8(&self.bytes[place.clone()]) {
            Ok(text) => Ok((!text.is_empty()).then_some(Placed { text, place })),
            Err(_) => Err(Fault {
                reason: ScanReason::InvalidText(field),
                offset,
            }),
        }
    }

    /// Adds a part that is left out; parts come in order.
    fn cut(&mut self, place: Range<usize>) {
        match self.cuts.last_mut() {
            _ if place.is_empty() => {}
            Some(last) if last.end() == place.start => *last = Span::new(last.start()..place.end),
            _ => self.cuts.push(Span::new(place)),
        }
    }

    fn key(&self) -> Option<ObjectKey> {
        let name = self.name.as_ref()?.text;
        let namespace = self.namespace.as_ref().map(|namespace| namespace.text);
        let key = || ObjectKey::new(namespace, name);
        self.no_key().is_none().then(key)
    }

    /// The error if the object has no valid key.
    fn no_key(&self) -> Option<Fault> {
        let invalid =
            |name: &Option<Placed<'_>>| name.as_ref().is_some_and(|name| !is_path_segment(name.text));
        let reason = match () {
            () if self.name.is_none() => ScanReason::NoName,
            () if invalid(&self.name) => ScanReason::InvalidName("metadata.name"),
            () if invalid(&self.namespace) => ScanReason::InvalidName("metadata.namespace"),
            () => return None,
        };
        Some(Fault { reason, offset: 0 })
    }
}

fn extend(span: &mut Option<Range<usize>>, place: Range<usize>) {
    let start = span.as_ref().map_or(place.start, |span| span.start);
    *span = Some(start..place.end);
}
