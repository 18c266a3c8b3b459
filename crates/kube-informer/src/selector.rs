//! Selectors: which objects are wanted, by label or by field, as Kubernetes defines them.
//!
//! They are parsed once and then matched without decoding or allocating anything. What they mean, which texts are
//! accepted and how they are written is what the API server does with `labelSelector` and `fieldSelector`, so the same
//! selector can be sent to the server or applied to a store.

mod digest;
mod field;
mod label;
mod parse;
mod requirement;
mod syntax;

pub(crate) use digest::{LabelDigest, LabelPrefilter};
pub use field::{FieldRequirement, FieldSelector, UnsupportedField};
pub use label::LabelSelector;
pub use parse::ParseSelectorError;
pub use requirement::{LabelOperator, LabelRequirement};

#[cfg(test)]
mod tests;
