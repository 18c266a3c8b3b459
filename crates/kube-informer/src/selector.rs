//! Label, field and shard selectors, as Kubernetes defines them.
//!
//! A selector is parsed once and then matched without decoding or allocating. Parsing, formatting and matching follow
//! the API server's `labelSelector` and `fieldSelector`, so the same selector can be sent to the server or applied to
//! a store.

mod convert;
mod digest;
mod field;
mod label;
mod parse;
mod requirement;
mod shard;
mod syntax;

pub use convert::InvalidRequirement;
pub(crate) use digest::{LabelDigest, LabelPrefilter, RUN};
pub use field::{FieldRequirement, FieldSelector, UnsupportedField};
pub use label::LabelSelector;
pub use parse::ParseSelectorError;
pub use requirement::{LabelOperator, LabelRequirement};
pub use shard::{HashRange, ParseHashRangeError, ShardField, ShardSelector, shard_hash};

#[cfg(test)]
mod tests;
