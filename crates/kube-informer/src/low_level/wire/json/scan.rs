//! Scans an object in one pass.
//!
//! The walk visits the top-level members, those of `metadata` and the labels, and skips everything else. It stops
//! only at structural errors: after a member of the wrong type it continues, so that the key is still found.

use super::{
    labels,
    planned::{Container, Found, Names},
    text::{self, Read},
    walk::{Fault, Walk},
};
use crate::{
    object::{ObjectKey, ResourceVersion, is_path_segment},
    wire::{
        FieldPlan, ScanError, ScanReason,
        fingerprint::{self, BodyHash},
        meta::{Meta, Span, Text},
        plan::{self, Node},
    },
};
use std::{borrow::Cow, ops::Range};

/// Extracts [`Meta`], including the fields and cuts of `plan`.
pub(in crate::low_level::wire) fn scan(bytes: &[u8], plan: &FieldPlan) -> Result<Meta, ScanError> {
    object(&mut Walk::new(bytes), plan, Walk::end)
}

/// Scans the object at the start of `bytes`; also returns its size. `None` if it is invalid or incomplete.
pub(super) fn scan_first(bytes: &[u8], plan: &FieldPlan) -> Option<(Meta, usize)> {
    let mut walk = Walk::new(bytes);
    let meta = object(&mut walk, plan, |_| Ok(())).ok()?;
    Some((meta, walk.at()))
}

/// Scans an object; `after` checks what follows it.
fn object<'a>(
    walk: &mut Walk<'a>,
    plan: &FieldPlan,
    after: impl FnOnce(&mut Walk<'a>) -> Result<(), Fault>,
) -> Result<Meta, ScanError> {
    let bytes = walk.bytes();
    if u32::try_from(bytes.len()).is_err() {
        return Err(ScanError::new(None, ScanReason::TooLarge, 0));
    }
    let mut scan = Scan::default();
    let mut hash = BodyHash::new(plan);
    let mut top = Container::default();
    let walked = walk
        .members(|walk, name| scan.top_member(walk, name, &mut top, plan.root(), &mut hash))
        .and_then(|()| after(walk));
    top.end(&mut scan.found);
    std::mem::take(&mut scan.names).end(walk, &mut scan.found);
    let fault = walked
        .err()
        .or(scan.fault)
        .or_else(|| scan.metadata.no_key(bytes));
    match fault {
        Some(fault) => Err(ScanError::new(
            scan.metadata.key(bytes),
            fault.reason,
            fault.offset,
        )),
        None => {
            let Metadata {
                uid,
                resource_version,
                ..
            } = &scan.metadata;
            let version = resource_version.as_ref().filter(|_| plan.is_by_version());
            let version = version.map(ResourceVersion::as_str);
            let by_version = fingerprint::of_version(plan, uid.of(bytes), version.as_deref());
            Ok(Meta {
                api_version: scan.api_version,
                kind: scan.kind,
                namespace: scan.metadata.namespace,
                name: scan.metadata.name,
                uid: scan.metadata.uid,
                resource_version: scan.metadata.resource_version,
                labels: scan.metadata.labels,
                owners: scan.metadata.owners,
                fingerprint: by_version.unwrap_or_else(|| hash.finish()),
                by_version: by_version.is_some(),
                cuts: scan.found.cuts,
                fields: scan.found.fields,
            })
        }
    }
}

#[derive(Default)]
struct Scan {
    api_version: Text,
    kind: Text,
    metadata: Metadata,
    found: Found,
    names: Names,
    /// The first error in the type of a member that is read.
    fault: Option<Fault>,
}

/// An object's `metadata`, set when it has been read completely, because the namespace may be its last member.
#[derive(Default)]
struct Metadata {
    /// Whether the namespace is present but cannot be read.
    key_unknown: bool,
    namespace: Text,
    name: Text,
    uid: Text,
    resource_version: Option<ResourceVersion>,
    labels: Option<Span>,
    owners: Option<Span>,
}

impl Metadata {
    fn key(&self, bytes: &[u8]) -> Option<ObjectKey> {
        let name = self.name.of(bytes).filter(|_| !self.key_unknown)?;
        let key = || ObjectKey::new(self.namespace.of(bytes), name);
        self.no_key(bytes).is_none().then(key)
    }

    /// The error if the object has no valid key.
    fn no_key(&self, bytes: &[u8]) -> Option<Fault> {
        let invalid = |text: &Text| text.of(bytes).is_some_and(|name| !is_path_segment(name));
        let reason = match () {
            () if matches!(self.name, Text::None) => ScanReason::NoName,
            () if invalid(&self.name) => ScanReason::InvalidName("metadata.name"),
            () if invalid(&self.namespace) => ScanReason::InvalidName("metadata.namespace"),
            () => return None,
        };
        Some(Fault { reason, offset: 0 })
    }
}

impl Scan {
    fn top_member(
        &mut self,
        walk: &mut Walk<'_>,
        name: Range<usize>,
        top: &mut Container,
        root: &Node,
        hash: &mut BodyHash,
    ) -> Result<(), Fault> {
        let start = name.start;
        let member = text::member_name(walk.slice(name.clone()));
        let nodes = plan::member(&[root], &member);
        let mut found = std::mem::take(&mut self.found);
        self.names.begin(&name, &nodes, &found);
        top.part(walk, start, &nodes, &mut found, |found, walk| match &*member {
            b"kind" | b"apiVersion" | b"metadata" => {
                let start = walk.at();
                match &*member {
                    b"kind" => self.kind = self.text(walk, "kind")?.unwrap_or_default(),
                    b"apiVersion" => self.api_version = self.text(walk, "apiVersion")?.unwrap_or_default(),
                    _ => self.metadata = self.metadata(walk, &nodes, found)?,
                }
                found.found(&nodes, start..walk.at());
                Ok(())
            }
            _ => found.value(walk, &nodes),
        })?;
        self.found = found;
        if !matches!(&*member, b"kind" | b"apiVersion") {
            hash.part(walk.slice(start..walk.at()));
        }
        Ok(())
    }

    fn metadata(
        &mut self,
        walk: &mut Walk<'_>,
        nodes: &[&Node],
        found: &mut Found,
    ) -> Result<Metadata, Fault> {
        let mut metadata = Metadata::default();
        if walk.peek() != Some(b'{') {
            self.no_object(walk, "metadata")?;
            return Ok(metadata);
        }
        let mut object = Container::default();
        let mut names = Names::default();
        walk.members(|walk, name| {
            let member = text::member_name(walk.slice(name.clone()));
            let nodes = plan::member(nodes, &member);
            names.begin(&name, &nodes, found);
            object.part(walk, name.start, &nodes, found, |found, walk| {
                let start = walk.at();
                if !self.metadata_member(walk, &member, &mut metadata)? {
                    found.value(walk, &nodes)?;
                    if &*member == b"ownerReferences" {
                        metadata.owners = Some(Span::new(start..walk.at()));
                    }
                    return Ok(());
                }
                if nodes.iter().any(|node| node.is_inner()) {
                    walk.back_to(start);
                    return found.value(walk, &nodes);
                }
                found.found(&nodes, start..walk.at());
                Ok(())
            })
        })?;
        object.end(found);
        names.end(walk, found);
        Ok(metadata)
    }

    /// Reads a member of the metadata if it is one that every scan extracts.
    fn metadata_member(
        &mut self,
        walk: &mut Walk<'_>,
        member: &[u8],
        found: &mut Metadata,
    ) -> Result<bool, Fault> {
        match member {
            b"name" => found.name = self.text(walk, "metadata.name")?.unwrap_or_default(),
            b"namespace" => match self.text(walk, "metadata.namespace")? {
                Some(namespace) => found.namespace = namespace,
                None => found.key_unknown = true,
            },
            b"uid" => found.uid = self.text(walk, "metadata.uid")?.unwrap_or_default(),
            b"resourceVersion" => {
                found.resource_version = match text::read(walk, "metadata.resourceVersion")? {
                    Read::Text(version, _) => Some(ResourceVersion::from(&*version)),
                    Read::Nothing => None,
                    Read::Fault(fault) => self.note(fault),
                };
            }
            b"labels" => found.labels = self.labels(walk)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn labels(&mut self, walk: &mut Walk<'_>) -> Result<Option<Span>, Fault> {
        if walk.peek() != Some(b'{') {
            self.no_object(walk, "metadata.labels")?;
            return Ok(None);
        }
        let start = walk.at();
        if let Some(fault) = labels::check(walk, "metadata.labels")? {
            return Ok(self.note(fault));
        }
        Ok(Some(Span::new(start..walk.at())))
    }

    /// Reads a string that may be null; `None` if it is null, empty or invalid.
    fn text(&mut self, walk: &mut Walk<'_>, field: &'static str) -> Result<Option<Text>, Fault> {
        Ok(match text::read(walk, field)? {
            Read::Nothing => Some(Text::None),
            Read::Text(Cow::Borrowed(_), place) => Some(Text::Plain(Span::new(place))),
            Read::Text(Cow::Owned(text), _) => Some(Text::Unescaped(text.into())),
            Read::Fault(fault) => self.note(fault),
        })
    }

    /// Skips a value that is not an object where one is expected; null counts as absent.
    fn no_object(&mut self, walk: &mut Walk<'_>, field: &'static str) -> Result<(), Fault> {
        let place = walk.value()?;
        let offset = place.start;
        if walk.slice(place) != b"null" {
            let reason = ScanReason::WrongType {
                field,
                expected: "an object",
            };
            self.note::<()>(Fault { reason, offset });
        }
        Ok(())
    }

    /// Records an error, so that the walk can continue; returns `None` in place of the invalid value.
    fn note<T>(&mut self, fault: Fault) -> Option<T> {
        self.fault.get_or_insert(fault);
        None
    }
}
