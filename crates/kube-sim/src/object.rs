//! How an object is kept: its serialized bytes, and beside them only what selectors and frames need.
//!
//! A real API server sends one object in several forms: in a LIST without `apiVersion` and `kind` (built-in kinds) or
//! with them (custom resources), in GET and WATCH always with them, as metadata only, and in a DELETED event under the
//! resource version of the deletion. All of them are cut from the same bytes: the body from `"metadata":` to the end,
//! with the place of the resource version and the end of the metadata remembered. Messages in protobuf are made of them when they
//! are asked for, and kept.

use std::sync::Arc;

use bytes::{BufMut, Bytes};
use serde_json::{Map, Value};

use crate::nesting;
use crate::resources::Resource;

mod body;
mod messages;
mod room;

pub(crate) use body::Families;

use body::Body;
use messages::Messages;

/// One version of one object.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) key: Arc<str>,
    pub(crate) resource_version: u64,
    /// The version of a custom resource that it is; empty for built-in kinds.
    pub(crate) version: Arc<str>,
    /// How many levels its JSON has.
    pub(crate) depth: usize,
    /// `"metadata":{…},"spec":{…}}`: the object without its opening brace, `apiVersion` and `kind`.
    body: Body,
    /// Where the digits of the resource version are.
    version_at: (u32, u32),
    uid: Box<str>,
    /// `uid\0` of each owner.
    owners: Box<str>,
    /// Whether it has a deletion timestamp.
    pub(crate) deleting: bool,
    /// Where `"metadata":{…}` ends.
    metadata_end: u32,
    /// `key\0value\0` of each label.
    labels: Box<str>,
    /// `value\0` of each of the resource's selectable fields, in its order.
    fields: Box<str>,
    messages: Messages,
}

/// The order in which a real server writes the metadata of built-in kinds; what is not named follows at the end.
const METADATA_ORDER: [&str; 14] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
];

/// Instead of the place of what is not there.
const NOWHERE: (u32, u32) = (0, 0);

impl Stored {
    /// Serializes `object` under `resource_version`; 0: it has none, and is not stored.
    pub(crate) fn encode(resource: &Resource, object: &Map<String, Value>, resource_version: u64) -> Self {
        let mut out = Vec::with_capacity(16 * 1024);
        out.extend_from_slice(b"\"metadata\":{");
        let empty = Map::new();
        let metadata = object
            .get("metadata")
            .and_then(Value::as_object)
            .unwrap_or(&empty);
        let version_at = encode_metadata(&mut out, resource, metadata, resource_version);
        out.push(b'}');
        let metadata_end = out.len() as u32;
        for (name, value) in object {
            if !matches!(name.as_str(), "metadata" | "apiVersion" | "kind") {
                out.push(b',');
                encode_member(&mut out, name, value);
            }
        }
        out.push(b'}');
        let version = version_of(resource, object);
        Self {
            key: key_of(metadata).into(),
            resource_version,
            depth: 1 + object.values().map(nesting::of).max().unwrap_or(0),
            body: Body::new(&out),
            version_at,
            uid: metadata.get("uid").and_then(Value::as_str).unwrap_or("").into(),
            owners: encode_owners(metadata),
            deleting: metadata.get("deletionTimestamp").is_some_and(|at| !at.is_null()),
            metadata_end,
            labels: encode_labels(metadata),
            fields: encode_fields(resource, &version, object),
            version,
            messages: Messages::default(),
        }
    }

    /// Whether the text is somewhere in the object's JSON, which says without decoding it what the object cannot have.
    pub(crate) fn mentions(&self, text: &str) -> bool {
        std::str::from_utf8(&self.body.bytes()).is_ok_and(|body| body.contains(text))
    }

    /// The value of a label.
    pub(crate) fn label(&self, name: &str) -> Option<&str> {
        let mut parts = self.labels.split_terminator('\0');
        while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
            if key == name {
                return Some(value);
            }
        }
        None
    }

    /// The value of the `n`th selectable field of the resource; empty when the object has none.
    pub(crate) fn field(&self, n: usize) -> &str {
        self.fields.split_terminator('\0').nth(n).unwrap_or("")
    }

    /// The uid; empty if the object has none.
    pub(crate) fn uid(&self) -> &str {
        &self.uid
    }

    /// The uids of the objects that own this one.
    pub(crate) fn owners(&self) -> impl Iterator<Item = &str> {
        self.owners.split_terminator('\0')
    }

    pub(crate) fn has_owners_of(&self, other: &Self) -> bool {
        self.owners == other.owners
    }

    pub(crate) fn name(&self) -> &str {
        self.key.rsplit('/').next().unwrap_or("")
    }

    /// The namespace; empty for cluster-scoped objects.
    pub(crate) fn namespace(&self) -> &str {
        self.key.split_once('/').map_or("", |(namespace, _)| namespace)
    }

    /// Writes the object; `head` is what opens it, up to its metadata.
    pub(crate) fn write(&self, out: &mut impl BufMut, head: &[u8]) {
        out.put_slice(head);
        out.put_slice(&self.body.bytes());
    }

    /// Writes the object under another resource version.
    pub(crate) fn write_at(&self, out: &mut impl BufMut, head: &[u8], resource_version: u64) {
        self.write_part(out, head, resource_version, self.body.len());
    }

    /// Writes only the metadata, under `resource_version`.
    pub(crate) fn write_metadata(&self, out: &mut impl BufMut, head: &[u8], resource_version: u64) {
        self.write_part(out, head, resource_version, self.metadata_end as usize);
        out.put_u8(b'}');
    }

    fn write_part(&self, out: &mut impl BufMut, head: &[u8], resource_version: u64, end: usize) {
        let (from, to) = (self.version_at.0 as usize, self.version_at.1 as usize);
        let body = self.body.bytes();
        out.put_slice(head);
        if self.version_at == NOWHERE {
            out.put_slice(&body[..end]);
            return;
        }
        out.put_slice(&body[..from]);
        out.put_slice(resource_version.to_string().as_bytes());
        out.put_slice(&body[to..end]);
    }

    /// Whether the other is the same in the same version.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.version == other.version && self.body.bytes() == other.body.bytes()
    }

    pub(crate) fn len(&self) -> usize {
        self.body.len()
    }

    /// Takes less memory from now on, if there is no room for objects as they are. `families` are those of its resource.
    pub(crate) fn pack(&mut self, families: &mut Families) {
        let family = match &*self.owners {
            "" => self.namespace(),
            owners => owners,
        };
        if let Some(packed) = self.body.packed(&body::ROOM, family, families) {
            self.body = packed;
        }
    }

    /// The message in protobuf of this name and served version, under a resource version. `make` makes it of the object's JSON if nobody has asked
    /// for it before.
    pub(crate) fn message<E>(
        &self,
        name: (&'static str, &str),
        resource_version: u64,
        make: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Bytes, E> {
        self.messages.get(name, resource_version, make)
    }

    /// Keeps no messages any more: the object has been replaced or deleted, and hardly anybody asks for it.
    pub(crate) fn retire(&self) {
        self.messages.retire();
    }

    /// Keeps messages again: the object is there again.
    pub(crate) fn revive(&self) {
        self.messages.revive();
    }

    /// Decodes the object, with the `apiVersion` and `kind` that `head` gives it; needs room for its depth.
    pub(crate) fn decode(&self, head: &[u8]) -> Map<String, Value> {
        let mut bytes = Vec::with_capacity(head.len() + self.body.len());
        self.write(&mut bytes, head);
        nesting::parse(&bytes).expect("what was serialized parses")
    }
}

/// `namespace/name`, or `name` for cluster-scoped objects: the order of keys is the order of lists.
pub(crate) fn key_of(metadata: &Map<String, Value>) -> String {
    let text = |name| metadata.get(name).and_then(Value::as_str).unwrap_or("");
    join_key(text("namespace"), text("name"))
}

pub(crate) fn join_key(namespace: &str, name: &str) -> String {
    if namespace.is_empty() {
        name.to_owned()
    } else {
        format!("{namespace}/{name}")
    }
}

fn encode_metadata(
    out: &mut Vec<u8>,
    resource: &Resource,
    metadata: &Map<String, Value>,
    resource_version: u64,
) -> (u32, u32) {
    let version = Value::from(resource_version.to_string());
    let mut version_at = NOWHERE;
    let mut put = |name: &str, value: &Value| {
        if out.last() != Some(&b'{') {
            out.push(b',');
        }
        encode_member(out, name, value);
        if name == "resourceVersion" {
            let end = out.len() as u32 - 1;
            version_at = (end - (value.as_str().map_or(0, str::len) as u32), end);
        }
    };
    if resource.custom {
        // Custom resources are written as maps: sorted.
        let mut metadata = metadata.clone();
        match resource_version {
            0 => metadata.remove("resourceVersion"),
            _ => metadata.insert("resourceVersion".into(), version),
        };
        metadata.iter().for_each(|(name, value)| put(name, value));
        return version_at;
    }
    for name in METADATA_ORDER {
        match metadata.get(name) {
            _ if name == "resourceVersion" && resource_version == 0 => {}
            _ if name == "resourceVersion" => put(name, &version),
            Some(value) => put(name, value),
            None => {}
        }
    }
    for (name, value) in metadata
        .iter()
        .filter(|(name, _)| !METADATA_ORDER.contains(&name.as_str()))
    {
        put(name, value);
    }
    version_at
}

fn encode_member(out: &mut Vec<u8>, name: &str, value: &Value) {
    serde_json::to_writer(&mut *out, name).expect("a vector takes all writes");
    out.push(b':');
    serde_json::to_writer(out, value).expect("a vector takes all writes");
}

fn encode_labels(metadata: &Map<String, Value>) -> Box<str> {
    let mut joined = String::new();
    for (name, value) in metadata
        .get("labels")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        joined.extend([name, "\0", value.as_str().unwrap_or(""), "\0"]);
    }
    joined.into()
}

fn encode_owners(metadata: &Map<String, Value>) -> Box<str> {
    let references = metadata.get("ownerReferences").and_then(Value::as_array);
    let uids = references
        .into_iter()
        .flatten()
        .filter_map(|reference| reference["uid"].as_str());
    uids.flat_map(|uid| [uid, "\0"]).collect::<String>().into()
}

/// The version of a custom resource that an object is: the one in which objects are stored, unless it says another.
fn version_of(resource: &Resource, object: &Map<String, Value>) -> Arc<str> {
    let storage = &resource.definition.storage;
    let given = object.get("apiVersion").and_then(Value::as_str);
    match given.and_then(|given| given.rsplit('/').next()) {
        Some(given) if resource.custom && given != &**storage => given.into(),
        _ => storage.clone(),
    }
}

fn encode_fields(resource: &Resource, version: &str, object: &Map<String, Value>) -> Box<str> {
    let mut joined = String::new();
    for path in resource.fields_in(version) {
        let mut value = object.get(path.split('.').next().unwrap_or(""));
        for part in path.split('.').skip(1) {
            value = value.and_then(|v| v.get(part));
        }
        match value {
            Some(Value::String(text)) => joined.push_str(text),
            Some(Value::Bool(flag)) => joined.push_str(if *flag { "true" } else { "false" }),
            Some(Value::Number(number)) => joined.push_str(&number.to_string()),
            _ => joined.push_str(crate::resources::default_field(path)),
        }
        joined.push('\0');
    }
    joined.into()
}
