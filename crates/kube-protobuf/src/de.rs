//! Reading: a message is a serde map whose entries are the fields that its JSON has, in the order of their numbers.

mod access;
mod fields;
mod node;
mod times;

#[cfg(feature = "k8s-openapi")]
use crate::table::Message;
use crate::{Descriptor, Envelope, Error, MAX_DEPTH};
use access::TypeMeta;
use node::Node;
use serde::de::{DeserializeOwned, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
#[cfg(feature = "k8s-openapi")]
pub(crate) use times::{micro_time, time};

/// Deserializes one object in protobuf, as if it were the JSON that Kubernetes has for it.
///
/// It describes itself: whatever a type asks for, it gets what JSON has in this place. So `#[serde(flatten)]`, untagged
/// enums and `serde_json::Value` work. Strings are borrowed where the type allows it.
///
/// Most callers want [`from_slice`] or [`from_message`]; this type is for `serde_path_to_error`, `DeserializeSeed` and
/// the like.
pub struct Deserializer<'de>(Node<'de, 'de>);

impl<'de> Deserializer<'de> {
    /// Of an object in its [`Envelope`], which gives it its apiVersion and kind.
    ///
    /// # Errors
    ///
    /// If this is no envelope, or there is no message of this kind.
    pub fn from_slice(bytes: &'de [u8]) -> Result<Self, Error> {
        Node::envelope(&Envelope::parse(bytes)?, MAX_DEPTH).map(Self)
    }

    /// Of a message that is within another one, which leaves it so many levels.
    #[cfg(feature = "k8s-openapi")]
    pub(crate) fn within(message: &'static Message, bytes: &'de [u8], depth: usize) -> Result<Self, Error> {
        Node::message(message, bytes, TypeMeta::None, depth).map(Self)
    }

    /// Of a bare message: an event of a watch, an item of a list. It has no apiVersion and no kind, as the items of an API
    /// server's lists have none in JSON.
    ///
    /// # Errors
    ///
    /// If the message is broken, or is something else than an object in JSON, such as a time.
    pub fn from_message(message: Descriptor, bytes: &'de [u8]) -> Result<Self, Error> {
        Node::message(message.0, bytes, TypeMeta::None, MAX_DEPTH).map(Self)
    }
}

impl std::fmt::Debug for Deserializer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Deserializer").finish_non_exhaustive()
    }
}

impl<'de> serde::Deserializer<'de> for Deserializer<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.deserialize_option(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.deserialize_newtype_struct(name, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.deserialize_ignored_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}

/// Reads an object in its [`Envelope`].
///
/// ```
/// use k8s_openapi::api::core::v1::Namespace;
///
/// let object = serde_json::json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}});
/// let bytes = kube_protobuf::to_vec(&object, kube_protobuf::UnknownFields::Deny)?;
/// let namespace: Namespace = kube_protobuf::from_slice(&bytes)?;
/// assert_eq!(namespace.metadata.name.as_deref(), Some("a"));
/// # Ok::<(), kube_protobuf::Error>(())
/// ```
///
/// # Errors
///
/// See [`ErrorKind`](crate::ErrorKind). No bytes make it panic. Beside what `T` allocates it allocates strings that are
/// made (times, base64), and an index of eight bytes a field for messages that are not in the order in which Go writes.
pub fn from_slice<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Error> {
    T::deserialize(Deserializer::from_slice(bytes)?)
}

/// Reads a bare message, which has no apiVersion and no kind, such as an event of a watch:
///
/// ```
/// use kube_protobuf::Descriptor;
/// # let object = serde_json::json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}});
/// # let object = kube_protobuf::to_vec(&object, kube_protobuf::UnknownFields::Deny)?;
/// # let frame = kube_protobuf::watch_event_to_vec("ADDED", &object);
///
/// let event: serde_json::Value = kube_protobuf::from_message(Descriptor::watch_event(), &frame)?;
/// assert_eq!(event["type"], "ADDED");
/// assert_eq!(event["object"]["metadata"]["name"], "a");
/// # Ok::<(), kube_protobuf::Error>(())
/// ```
///
/// # Errors
///
/// As [`from_slice`].
pub fn from_message<'de, T: Deserialize<'de>>(message: Descriptor, bytes: &'de [u8]) -> Result<T, Error> {
    T::deserialize(Deserializer::from_message(message, bytes)?)
}

/// Reads an object in its [`Envelope`] as [`from_slice`] does, into a type that borrows nothing. With the feature `k8s-openapi`, the kinds
/// of that crate (single objects; lists are read by serde) take less than half of the instructions.
///
/// ```
/// use k8s_openapi::api::core::v1::Namespace;
///
/// let object = serde_json::json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}});
/// let bytes = kube_protobuf::to_vec(&object, kube_protobuf::UnknownFields::Deny)?;
/// let namespace: Namespace = kube_protobuf::decode_slice(&bytes)?;
/// assert_eq!(namespace.metadata.name.as_deref(), Some("a"));
/// # Ok::<(), kube_protobuf::Error>(())
/// ```
///
/// # Errors
///
/// As [`from_slice`].
pub fn decode_slice<T: DeserializeOwned + 'static>(bytes: &[u8]) -> Result<T, Error> {
    #[cfg(feature = "k8s-openapi")]
    if let Ok(envelope) = Envelope::parse(bytes)
        && let Some(message) = envelope.message()
        && let Some(object) = crate::typed::read(message.0, envelope.raw)
    {
        return Ok(object);
    }
    from_slice(bytes)
}

/// Reads a bare message as [`from_message`] does, into a type that borrows nothing. With the feature `k8s-openapi`, the kinds of that
/// crate (single objects) take less than half of the instructions. It has no apiVersion and no kind.
///
/// ```
/// use k8s_openapi::api::core::v1::Namespace;
/// use kube_protobuf::{Descriptor, UnknownFields, decode_message, message_to_vec};
///
/// let message = Descriptor::of("v1", "Namespace").unwrap();
/// let item = message_to_vec(message, &serde_json::json!({"metadata": {"name": "a"}}), UnknownFields::Deny)?;
/// let namespace: Namespace = decode_message(message, &item)?;
/// assert_eq!(namespace.metadata.name.as_deref(), Some("a"));
/// # Ok::<(), kube_protobuf::Error>(())
/// ```
///
/// # Errors
///
/// As [`from_slice`].
pub fn decode_message<T: DeserializeOwned + 'static>(message: Descriptor, bytes: &[u8]) -> Result<T, Error> {
    #[cfg(feature = "k8s-openapi")]
    if let Some(object) = crate::typed::read(message.0, bytes) {
        return Ok(object);
    }
    from_message(message, bytes)
}

/// Reads an object in its [`Envelope`] as the [`Value`](serde_json::Value) that the server's JSON has.
///
/// # Errors
///
/// As [`from_slice`].
pub fn to_value(bytes: &[u8]) -> Result<serde_json::Value, Error> {
    from_slice(bytes)
}
