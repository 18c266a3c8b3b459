//! Objects, lists and watch events in protobuf. An object's message is made of its stored JSON once, and kept beside it.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use kube_protobuf::{Descriptor, Envelope, UnknownFields};
use serde_json::{Map, Value, json};

use super::Form;
use crate::nesting;
use crate::object::Stored;
use crate::resources::Resource;
use crate::status::StatusError;
use crate::target::Target;
use crate::view;

/// Writes the objects of one resource in protobuf.
pub(super) struct Protobuf {
    resource: Arc<Resource>,
    version: String,
    metadata_only: bool,
    api_version: String,
    kind: String,
    list_kind: String,
    message: Descriptor,
    list: Descriptor,
}

impl Protobuf {
    /// For all of an object, or for its metadata; there are no tables in protobuf.
    pub(super) fn new(target: &Target, form: Form) -> Result<Self, StatusError> {
        let resource = target.resource.clone();
        let metadata_only = form == Form::Metadata;
        let (api_version, kind, list_kind) = match metadata_only {
            true => (
                "meta.k8s.io/v1".to_owned(),
                "PartialObjectMetadata".to_owned(),
                "PartialObjectMetadataList".to_owned(),
            ),
            false => (
                resource.api_version(&target.version),
                resource.kind.clone(),
                resource.list_kind.clone(),
            ),
        };
        let message = |kind: &str| {
            Descriptor::of(&api_version, kind).ok_or_else(|| {
                unwritable(format_args!(
                    "there is no protobuf message of {api_version} {kind}"
                ))
            })
        };
        Ok(Self {
            message: message(&kind)?,
            list: message(&list_kind)?,
            resource,
            version: target.version.clone(),
            metadata_only,
            api_version,
            kind,
            list_kind,
        })
    }

    /// An object's message, without an envelope.
    pub(super) fn message(&self, object: &Stored, resource_version: u64) -> Result<Bytes, StatusError> {
        // The served version, too: an autoscaler's metadata has annotations in its old version only.
        let name = (self.message.name(), self.version.as_str());
        object.message(name, resource_version, || {
            let object = &*view::served(&self.resource, &self.version, object);
            let mut json = Vec::with_capacity(object.len() + 32);
            match self.metadata_only {
                true => object.write_metadata(&mut json, b"{", resource_version),
                false => object.write_at(&mut json, b"{", resource_version),
            }
            let json = std::str::from_utf8(&json).map_err(unwritable)?;
            let message = nesting::with_room(object.depth, || {
                kube_protobuf::json_to_vec(self.message, json, UnknownFields::Ignore)
            });
            message.map_err(unwritable)
        })
    }

    /// One object, as the answer to a request.
    pub(super) fn object(&self, out: &mut BytesMut, object: &Stored) -> Result<(), StatusError> {
        out.put_slice(&self.envelope(&self.message(object, object.resource_version)?));
        Ok(())
    }

    pub(super) fn event(
        &self,
        out: &mut BytesMut,
        kind: &str,
        object: &Stored,
        resource_version: u64,
    ) -> Result<(), StatusError> {
        let object = self.envelope(&self.message(object, resource_version)?);
        put_frame(out, kind, &object);
        Ok(())
    }

    pub(super) fn bookmark(&self, out: &mut BytesMut, metadata: &Value) -> Result<(), StatusError> {
        let bookmark = json!({"metadata": metadata});
        let message = kube_protobuf::message_to_vec(self.message, &bookmark, UnknownFields::Ignore);
        put_frame(out, "BOOKMARK", &self.envelope(&message.map_err(unwritable)?));
        Ok(())
    }

    /// The parts of a list before and after its items, which have so many bytes together.
    pub(super) fn list_frame(
        &self,
        metadata: Map<String, Value>,
        items: usize,
    ) -> Result<(Bytes, Bytes), StatusError> {
        let list = json!({"metadata": metadata});
        let head = kube_protobuf::message_to_vec(self.list, &list, UnknownFields::Ignore);
        let head = head.map_err(unwritable)?;
        let envelope = Envelope::new(&self.api_version, &self.list_kind, &[]);
        let (mut before, after) = envelope.around(head.len() + items);
        before.extend(head);
        Ok((before.into(), after.into()))
    }

    fn envelope(&self, message: &[u8]) -> Vec<u8> {
        Envelope::new(&self.api_version, &self.kind, message).to_vec()
    }
}

/// The event that ends a watch.
pub(super) fn error(out: &mut BytesMut, error: &StatusError) {
    let status = kube_protobuf::to_vec(&error.to_value(), UnknownFields::Ignore);
    put_frame(out, "ERROR", &status.unwrap_or_default());
}

/// A frame of a watch: four bytes of length, then an event.
fn put_frame(out: &mut BytesMut, kind: &str, object: &[u8]) {
    let event = kube_protobuf::watch_event_to_vec(kind, object);
    out.put_u32(event.len() as u32);
    out.put_slice(&event);
}

/// The field of a list that has its items.
const ITEMS: u8 = 2;

/// An item of a list.
pub(super) fn put_item(out: &mut BytesMut, message: &[u8]) {
    out.put_u8(ITEMS << 3 | 2);
    let mut length = message.len();
    while length >= 0x80 {
        out.put_u8(length as u8 | 0x80);
        length >>= 7;
    }
    out.put_u8(length as u8);
    out.put_slice(message);
}

/// How many bytes an item takes in a list.
pub(super) fn item_length(message: &[u8]) -> usize {
    let bits = usize::BITS - (message.len() | 1).leading_zeros();
    1 + bits.div_ceil(7) as usize + message.len()
}

/// An object that is in the store, which takes anything, but that does not fit its kind.
pub(crate) fn unwritable(why: impl std::fmt::Display) -> StatusError {
    StatusError::internal(format!("the object cannot be written in protobuf: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_takes_as_many_bytes_as_are_counted() {
        for length in [0, 1, 127, 128, 16_383, 16_384] {
            let (mut out, message) = (BytesMut::new(), vec![0; length]);
            put_item(&mut out, &message);
            assert_eq!(out.len(), item_length(&message), "{length}");
        }
    }
}
