//! Asking webhooks, those of admission and those that convert: one request each, and what is made of its answer.

mod answer;
mod answers;
mod authorities;
mod call;

pub(crate) use answer::{Field, Review};
pub(crate) use answers::Answers;
pub(crate) use authorities::{are_usable, authority_fault};
pub(crate) use call::{Caller, post};
