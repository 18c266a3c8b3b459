//! The forms in which objects are sent: whole, metadata only, or as a table.

use std::sync::Arc;
use std::vec;

use bytes::{BufMut, Bytes, BytesMut};
use serde_json::{Map, Value, json};

use crate::nesting;
use crate::object::Stored;
use crate::resources::Resource;
use crate::response::InOrder;
use crate::status::StatusError;
use crate::table;
use crate::target::Target;
use crate::view;

pub(crate) mod protobuf;

use protobuf::Protobuf;

/// How an object is written. In YAML it is written outside, from JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Json,
    Yaml,
    Protobuf,
}

/// The form that a client requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Full,
    Metadata,
    Table(Include, TableVersion),
}

/// The versions of `meta.k8s.io` that have tables; clients with patience ask for the older one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableVersion {
    V1,
    V1Beta1,
}

impl TableVersion {
    fn table_head(self) -> &'static [u8] {
        match self {
            Self::V1 => br#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":"#,
            Self::V1Beta1 => br#"{"kind":"Table","apiVersion":"meta.k8s.io/v1beta1","metadata":"#,
        }
    }

    fn metadata_head(self) -> &'static [u8] {
        match self {
            Self::V1 => METADATA_HEAD,
            Self::V1Beta1 => br#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1beta1","#,
        }
    }
}

/// What a table's rows contain beside their cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Include {
    Nothing,
    Metadata,
    Object,
}

/// The kinds of watch events that carry an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventKind {
    Added,
    Modified,
    Deleted,
}

/// The size of a chunk of a list.
pub(crate) const CHUNK: usize = 64 * 1024;

/// So many objects are encoded before others get their turn.
const AT_ONCE: usize = 32;

/// The body of a list, which is put together while it is sent, so that it takes one pointer for each object and one chunk.
pub(crate) struct ListBody {
    items: Items,
    open: Option<Bytes>,
    close: Option<Bytes>,
}

enum Items {
    Json(Box<Render>, vec::IntoIter<Arc<Stored>>),
    /// All of them have been encoded before, to know how long the list is. What was not kept of that is encoded again, so that a list
    /// of a million objects is never in memory.
    Protobuf(Box<Protobuf>, vec::IntoIter<Arc<Stored>>),
}

impl Iterator for ListBody {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        self.close.as_ref()?;
        let mut out = BytesMut::with_capacity(CHUNK + CHUNK / 4);
        let mut first = false;
        if let Some(open) = self.open.take() {
            out.put_slice(&open);
            first = true;
        }
        while out.len() < CHUNK {
            let put = match &mut self.items {
                Items::Json(render, items) => items.next().map(|item| {
                    if !std::mem::take(&mut first) {
                        out.put_u8(b',');
                    }
                    render.item(&mut out, &item);
                }),
                Items::Protobuf(protobuf, items) => items.next().map(|item| {
                    let message = protobuf.message(&item, item.resource_version);
                    protobuf::put_item(&mut out, &message.expect("it was encoded before"));
                }),
            };
            if put.is_none() {
                out.put_slice(&self.close.take()?);
                break;
            }
        }
        Some(out.freeze())
    }
}

const METADATA_HEAD: &[u8] = br#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","#;

/// Writes the objects of one resource in one form.
pub(crate) struct Render {
    form: Form,
    resource: Arc<Resource>,
    head: Bytes,
    item_head: Bytes,
    table: table::Table,
    list_kind: String,
    version: String,
    api_version: String,
    custom: bool,
    /// Whether the columns were sent: only the first table of a watch contains them.
    columns_sent: bool,
    /// What writes in place of this one.
    protobuf: Option<Protobuf>,
}

impl Render {
    /// Fails if there is no protobuf of the kind, where that is asked for.
    pub(crate) fn new(
        target: &Target,
        form: Form,
        encoding: Encoding,
        now: jiff::Timestamp,
    ) -> Result<Self, StatusError> {
        let resource = &target.resource;
        let protobuf = match encoding {
            Encoding::Protobuf => Some(Protobuf::new(target, form)?),
            Encoding::Json | Encoding::Yaml => None,
        };
        Ok(Self {
            form,
            resource: resource.clone(),
            head: target.head(),
            item_head: resource.item_head(&target.version),
            table: table::Table::new(resource, &target.version, now),
            list_kind: resource.list_kind.clone(),
            version: target.version.clone(),
            api_version: resource.api_version(&target.version),
            custom: resource.custom,
            columns_sent: false,
            protobuf,
        })
    }

    /// Sets the time to which ages refer.
    pub(crate) fn set_now(&mut self, now: jiff::Timestamp) {
        self.table.set_now(now);
    }

    /// One object, as the answer to a request.
    pub(crate) fn object(&self, out: &mut BytesMut, object: &Stored) -> Result<(), StatusError> {
        if let Some(protobuf) = &self.protobuf {
            return protobuf.object(out, object);
        }
        self.object_at(out, object, object.resource_version);
        out.put_u8(b'\n');
        Ok(())
    }

    fn object_at(&self, out: &mut BytesMut, object: &Stored, resource_version: u64) {
        let stored = object;
        let object = &*view::served(&self.resource, &self.version, object);
        match self.form {
            Form::Full if resource_version == object.resource_version => object.write(out, &self.head),
            Form::Full => object.write_at(out, &self.head, resource_version),
            Form::Metadata => object.write_metadata(out, METADATA_HEAD, resource_version),
            Form::Table(include, version) => {
                self.table_open(out, version, &resource_version.to_string(), None);
                self.row(out, stored, object, resource_version, include, version);
                out.put_slice(b"]}");
            }
        }
    }

    /// An item of a list in JSON.
    fn item(&self, out: &mut BytesMut, object: &Stored) {
        let stored = object;
        let object = &*view::served(&self.resource, &self.version, object);
        match self.form {
            Form::Full => object.write(out, &self.item_head),
            Form::Metadata => object.write_metadata(out, METADATA_HEAD, object.resource_version),
            Form::Table(include, version) => {
                self.row(out, stored, object, object.resource_version, include, version);
            }
        }
    }

    /// A row of a table: its cells are those of the object in the form in which built-in kinds are stored, whatever version is
    /// asked for.
    fn row(
        &self,
        out: &mut BytesMut,
        stored: &Stored,
        object: &Stored,
        resource_version: u64,
        include: Include,
        version: TableVersion,
    ) {
        let shown = if self.custom { object } else { stored };
        let (cells, conditions) = nesting::with_room(shown.depth, || {
            let shown = shown.decode(&self.head);
            (self.table.cells(&shown), self.table.conditions(&shown))
        });
        put_json(out, br#"{"cells":"#, &cells);
        if let Some(conditions) = conditions {
            put_json(out, br#","conditions":"#, &conditions);
        }
        match include {
            Include::Nothing => out.put_slice(br#","object":null}"#),
            Include::Metadata => {
                out.put_slice(br#","object":"#);
                object.write_metadata(out, version.metadata_head(), resource_version);
                out.put_u8(b'}');
            }
            Include::Object => {
                out.put_slice(br#","object":"#);
                object.write_at(out, &self.head, resource_version);
                out.put_u8(b'}');
            }
        }
    }

    fn table_open(
        &self,
        out: &mut BytesMut,
        version: TableVersion,
        resource_version: &str,
        extra: Option<&Map<String, Value>>,
    ) {
        let mut metadata = extra.cloned().unwrap_or_default();
        metadata.insert("resourceVersion".into(), resource_version.into());
        put_json(out, version.table_head(), &metadata);
        match self.columns_sent {
            true => out.put_slice(br#","columnDefinitions":null"#),
            false => put_json(out, br#","columnDefinitions":"#, self.table.definitions()),
        }
        out.put_slice(br#","rows":["#);
    }

    /// A list; `metadata` is that of the list without its resource version, `length` that of its items.
    pub(crate) fn list(
        mut self,
        resource_version: u64,
        mut metadata: Map<String, Value>,
        items: Vec<Arc<Stored>>,
        length: usize,
    ) -> Result<ListBody, StatusError> {
        let Some(protobuf) = self.protobuf.take() else {
            let (open, close) = self.list_frame(resource_version, metadata, items.is_empty());
            return Ok(ListBody {
                items: Items::Json(self.into(), items.into_iter()),
                open: Some(open),
                close: Some(close),
            });
        };
        metadata.insert("resourceVersion".into(), resource_version.to_string().into());
        let (open, close) = protobuf.list_frame(metadata, length)?;
        Ok(ListBody {
            items: Items::Protobuf(protobuf.into(), items.into_iter()),
            open: Some(open),
            close: Some(close),
        })
    }

    /// How many bytes the items take in a [list](Self::list), where that has to be known before it is sent: in protobuf.
    pub(crate) fn length(&self, items: &[Arc<Stored>]) -> Result<usize, StatusError> {
        let Some(protobuf) = &self.protobuf else {
            return Ok(0);
        };
        let message = |item: &Arc<Stored>| protobuf.message(item, item.resource_version);
        let lengths = items
            .iter()
            .map(|item| Ok(protobuf::item_length(&message(item)?)));
        lengths.sum()
    }

    /// The [length](Self::length) of many items. Others get their turn meanwhile.
    pub(crate) async fn length_of_many(&self, items: &[Arc<Stored>]) -> Result<usize, StatusError> {
        let mut length = 0;
        // In JSON there is nothing to do, so there are no turns.
        let encoded = self.protobuf.as_ref().map_or(&items[..0], |_| items);
        for some in encoded.chunks(AT_ONCE) {
            length += self.length(some)?;
            tokio::task::yield_now().await;
        }
        Ok(length)
    }

    /// The parts of a list in JSON before and after its items.
    ///
    /// `metadata` is that of the list without its resource version.
    fn list_frame(
        &self,
        resource_version: u64,
        mut metadata: Map<String, Value>,
        is_empty: bool,
    ) -> (Bytes, Bytes) {
        let mut open = BytesMut::new();
        let version = resource_version.to_string();
        if let Form::Table(_, of) = self.form {
            self.table_open(&mut open, of, &version, Some(&metadata));
            return (open.freeze(), Bytes::from_static(b"]}\n"));
        }
        metadata.insert("resourceVersion".into(), version.into());
        let (kind, api_version) = match self.form {
            Form::Metadata => ("PartialObjectMetadataList", "meta.k8s.io/v1"),
            _ => (self.list_kind.as_str(), self.api_version.as_str()),
        };
        if self.custom && self.form == Form::Full {
            // A real server writes lists of custom resources as sorted maps, so their metadata comes last.
            metadata.entry("continue").or_insert_with(|| "".into());
            let open = format!(r#"{{"apiVersion":"{api_version}","items":["#);
            let close = format!(
                "],\"kind\":\"{kind}\",\"metadata\":{}}}\n",
                Value::Object(metadata)
            );
            return (open.into(), close.into());
        }
        let head = format!(r#"{{"kind":"{kind}","apiVersion":"{api_version}","metadata":"#);
        put_json(&mut open, head.as_bytes(), &metadata);
        // Of all lists, a real server makes only this one from nothing.
        if self.form == Form::Metadata && is_empty {
            open.put_slice(br#","items":null"#);
            return (open.freeze(), Bytes::from_static(b"}\n"));
        }
        open.put_slice(br#","items":["#);
        (open.freeze(), Bytes::from_static(b"]}\n"))
    }

    /// A frame of a watch.
    pub(crate) fn event(
        &mut self,
        out: &mut BytesMut,
        kind: EventKind,
        object: &Stored,
        resource_version: u64,
    ) -> Result<(), StatusError> {
        let kind = match kind {
            EventKind::Added => "ADDED",
            EventKind::Modified => "MODIFIED",
            EventKind::Deleted => "DELETED",
        };
        if let Some(protobuf) = &self.protobuf {
            return protobuf.event(out, kind, object, resource_version);
        }
        for part in [r#"{"type":""#, kind, r#"","object":"#] {
            out.put_slice(part.as_bytes());
        }
        self.object_at(out, object, resource_version);
        self.columns_sent = true;
        out.put_slice(b"}\n");
        Ok(())
    }

    /// The frame that ends a watch which failed.
    pub(crate) fn error(&self, out: &mut BytesMut, error: &StatusError) {
        if self.protobuf.is_some() {
            return protobuf::error(out, error);
        }
        put_json(
            out,
            br#"{"type":"ERROR","object":"#,
            &InOrder::of(&error.to_value()),
        );
        out.put_slice(b"}\n");
    }

    /// A bookmark: a frame with a resource version only. `end` marks the end of the initial events.
    pub(crate) fn bookmark(
        &mut self,
        out: &mut BytesMut,
        resource_version: u64,
        end: bool,
    ) -> Result<(), StatusError> {
        let mut metadata = json!({"resourceVersion": resource_version.to_string()});
        if end {
            metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        if let Some(protobuf) = &self.protobuf {
            return protobuf.bookmark(out, &metadata);
        }
        out.put_slice(br#"{"type":"BOOKMARK","object":"#);
        match self.form {
            Form::Full => put_json(out, &[&self.head[..], br#""metadata":"#].concat(), &metadata),
            Form::Metadata => put_json(out, &[METADATA_HEAD, br#""metadata":"#].concat(), &metadata),
            Form::Table(_, version) => {
                self.table_open(out, version, &resource_version.to_string(), None);
                let mut object = Map::new();
                object.insert("metadata".into(), metadata.clone());
                put_json(out, br#"{"cells":"#, &self.table.cells(&object));
                put_json(
                    out,
                    &[br#","object":"#, version.metadata_head(), br#""metadata":"#].concat(),
                    &metadata,
                );
                out.put_slice(b"}}]");
            }
        }
        self.columns_sent = true;
        out.put_slice(b"}}\n");
        Ok(())
    }
}

/// The table of a scale.
pub(crate) fn scale_table(
    scale: &Value,
    include: Include,
    version: TableVersion,
    now: jiff::Timestamp,
) -> Value {
    let table = table::Table::of_scale(now);
    let metadata_version = match version {
        TableVersion::V1 => "meta.k8s.io/v1",
        TableVersion::V1Beta1 => "meta.k8s.io/v1beta1",
    };
    let object = match include {
        Include::Nothing => Value::Null,
        Include::Object => scale.clone(),
        Include::Metadata => json!({
            "kind": "PartialObjectMetadata", "apiVersion": metadata_version, "metadata": scale["metadata"],
        }),
    };
    let cells = scale.as_object().map(|scale| table.cells(scale));
    json!({
        "kind": "Table", "apiVersion": metadata_version,
        "metadata": {"resourceVersion": scale["metadata"]["resourceVersion"]},
        "columnDefinitions": table.definitions(),
        "rows": [{"cells": cells, "object": object}],
    })
}

fn put_json(out: &mut BytesMut, before: &[u8], value: &impl serde::Serialize) {
    out.put_slice(before);
    serde_json::to_writer(out.writer(), value).expect("a buffer takes all writes");
}
