//! Kubernetes' protobuf encoding for any serde type: what an API server writes in protobuf is read as its JSON would be.
//!
//! An API server answers in `application/vnd.kubernetes.protobuf` if it is asked to, for its built-in kinds. That is smaller
//! than JSON, and costs the server and the client a fraction of the time. But types for Rust, such as `k8s-openapi`'s, are
//! made for JSON. This crate reads the one as the other: [`from_slice`] reads any `Deserialize` type, without a type of its
//! own in between.
//!
//! ```
//! use k8s_openapi::api::core::v1::Pod;
//! use kube_protobuf::{UnknownFields, from_slice, to_vec};
//!
//! let pod = serde_json::json!({
//!     "apiVersion": "v1", "kind": "Pod",
//!     "metadata": {"name": "web", "creationTimestamp": "2026-01-02T03:04:05Z"},
//!     "spec": {"containers": [{"name": "main", "resources": {"limits": {"cpu": "500m"}}}]},
//!     "status": {},
//! });
//! let body = to_vec(&pod, UnknownFields::Deny)?; // as a server would answer
//! let read: Pod = from_slice(&body)?;
//! assert_eq!(read, serde_json::from_value(pod)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Which function
//!
//! | the bytes | any type | types of `k8s-openapi` |
//! |---|---|---|
//! | with an envelope (`k8s\0`): the body of an answer, the object of a watch's event | [`from_slice`] | [`decode_slice`] |
//! | a bare message: an item of a list, the event of a watch itself | [`from_message`] | [`decode_message`] |
//!
//! Without the feature `k8s-openapi`, the second column does what the first does.
//!
//! # How it works
//!
//! Tables say of every message of a Kubernetes release which fields it has, what each is called in JSON, and what Go's
//! pointers, `omitempty` and embedded structs make of a field that is zero. `cargo xtask protobuf` makes them from
//! Kubernetes' Go modules. The [`Deserializer`] follows a table through the bytes.
//!
//! # k8s-openapi's types
//!
//! Most of the time that serde takes goes into finding a field by its name, and into code that each type has once more. With the
//! feature `k8s-openapi` (off by default), [`decode_slice`] and [`decode_message`] read the kinds of that crate by generated code that goes by the fields' numbers:
//! a pod in less than half of the instructions. Other types, lists and metadata, and bytes that are not as Go writes them, are read by serde, so that
//! results and errors are the same. The feature makes programs larger by the code of all kinds.
//!
//! # What is the same as in JSON
//!
//! Everything that the server's JSON has, with its names, forms (times, quantities, base64, JSON in JSON) and zeros; also
//! `"items": []` of an empty list, and the apiVersion and kind of a stateful set's claims and of a metadata list's items, which the
//! server adds to JSON. A program
//! made from Kubernetes' own sources compares the two for every field of every kind (`conformance/protobuf`).
//!
//! Not the same: an array or map without elements where JSON may say `[]` or `null`, since protobuf knows no difference
//! (it is null, or missing with `omitempty`, as Go has it after reading protobuf); and fields that are newer than the
//! tables, which are passed over.
//!
//! # What is not in protobuf
//!
//! Custom resources (their metadata is), the objects of aggregated API servers, and `Table`. An API server answers 406 for some of these and
//! JSON for others, so a request should accept both: `application/vnd.kubernetes.protobuf, application/json`.
//!
//! # CBOR
//!
//! It is not read: an object inside that is CBOR is an error. Kubernetes' CBOR has JSON's names, so it needs no
//! tables, but a reader of its own.

mod de;
mod descriptor;
mod encoder;
mod envelope;
mod error;
mod strict;
mod table;
#[rustfmt::skip]
#[allow(non_upper_case_globals)] // named as the messages are
mod tables;
mod text;
#[cfg(feature = "k8s-openapi")]
mod typed;
mod wire;

pub use de::{Deserializer, decode_message, decode_slice, from_message, from_slice, to_value};
pub use descriptor::Descriptor;
pub use encoder::{UnknownFields, json_to_vec, message_to_vec, to_vec, watch_event_to_vec};
pub use envelope::{Envelope, MAGIC};
pub use error::{Error, ErrorKind};
pub use strict::{StrictError, strict_errors};

/// How deep messages may be nested, in reading and writing. Where a message contains JSON, `serde_json` reads another 127 levels of it;
/// in writing, a [`Value`](serde_json::Value) may have twice as many levels as messages, and text any number.
///
/// In a program that is built without optimization, k8s-openapi's larger types need more than 2 MiB of stack for this.
pub const MAX_DEPTH: usize = 256;
