//! The forms in which objects are sent: whole, metadata only, or as a table.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use serde_json::{Map, Value, json};

use crate::api::Target;
use crate::api::view;
use crate::nesting;
use crate::object::Stored;
use crate::resources::Resource;
use crate::table;

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
}

impl Render {
    pub(crate) fn new(target: &Target, form: Form, now: jiff::Timestamp) -> Self {
        let resource = &target.resource;
        Self {
            form,
            resource: resource.clone(),
            head: target.head(),
            item_head: resource.item_head(&target.version),
            table: table::Table::new(resource, now),
            list_kind: resource.list_kind.clone(),
            version: target.version.clone(),
            api_version: resource.api_version(&target.version),
            custom: resource.custom,
            columns_sent: false,
        }
    }

    /// One object, as the answer to a request.
    pub(crate) fn object(&self, out: &mut BytesMut, object: &Stored) {
        self.object_at(out, object, object.resource_version);
    }

    fn object_at(&self, out: &mut BytesMut, object: &Stored, resource_version: u64) {
        let object = &*view::served(&self.resource, &self.version, object);
        match self.form {
            Form::Full if resource_version == object.resource_version => object.write(out, &self.head),
            Form::Full => object.write_at(out, &self.head, resource_version),
            Form::Metadata => object.write_metadata(out, METADATA_HEAD, resource_version),
            Form::Table(include, version) => {
                self.table_open(out, version, &resource_version.to_string(), None);
                self.row(out, object, resource_version, include, version);
                out.put_slice(b"]}");
            }
        }
    }

    /// An item of a list.
    pub(crate) fn item(&self, out: &mut BytesMut, object: &Stored) {
        let object = &*view::served(&self.resource, &self.version, object);
        match self.form {
            Form::Full => object.write(out, &self.item_head),
            Form::Metadata => object.write_metadata(out, METADATA_HEAD, object.resource_version),
            Form::Table(include, version) => {
                self.row(out, object, object.resource_version, include, version);
            }
        }
    }

    fn row(
        &self,
        out: &mut BytesMut,
        object: &Stored,
        resource_version: u64,
        include: Include,
        version: TableVersion,
    ) {
        let cells = || self.table.cells(&object.decode(&self.head));
        let cells = nesting::with_room(object.depth, cells);
        put_json(out, br#"{"cells":"#, &cells);
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

    /// The parts of a list before and after its items.
    ///
    /// `metadata` is that of the list without its resource version.
    pub(crate) fn list_frame(
        &self,
        resource_version: u64,
        mut metadata: Map<String, Value>,
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
    ) {
        out.put_slice(match kind {
            EventKind::Added => br#"{"type":"ADDED","object":"#,
            EventKind::Modified => br#"{"type":"MODIFIED","object":"#,
            EventKind::Deleted => br#"{"type":"DELETED","object":"#,
        });
        self.object_at(out, object, resource_version);
        self.columns_sent = true;
        out.put_slice(b"}\n");
    }

    /// A bookmark: a frame with a resource version only. `end` marks the end of the initial events.
    pub(crate) fn bookmark(&mut self, out: &mut BytesMut, resource_version: u64, end: bool) {
        let mut metadata = json!({"resourceVersion": resource_version.to_string()});
        if end {
            metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
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
    }
}

fn put_json(out: &mut BytesMut, before: &[u8], value: &impl serde::Serialize) {
    out.put_slice(before);
    serde_json::to_writer(out.writer(), value).expect("a buffer takes all writes");
}
