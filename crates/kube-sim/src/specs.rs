//! The specs of built-in kinds: what a real server fills in.
//!
//! `defaults` has a table of the fields that Kubernetes' API documents with a default. What Go writes whether it is set or not (an
//! empty struct, a zero that is no pointer) is in the published schemas as a default, and is filled in from there.

mod defaults;
mod fixes;

pub(crate) use defaults::fill_in;
pub(crate) use fixes::{admit_pod, name_data_source, name_job_pods, quality_of_service};
