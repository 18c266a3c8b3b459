//! The specs of built-in kinds: what a real server fills in, and what it refuses, and of what it warns.
//!
//! `defaults` has a table of the fields that Kubernetes' API documents with a default. What Go writes whether it is set or not (an
//! empty struct, a zero that is no pointer) is in the published schemas as a default, and is filled in from there. `validation` says what an object may be, and what it may become;
//! `warnings` what a client is told of an object that is taken. `templates` says which kinds have a template of pods, and where.

pub(crate) mod annotations;
mod app_armor;
mod at;
mod defaults;
mod fixes;
mod templates;
mod validation;
mod warnings;

pub(crate) use app_armor::read_app_armor;
pub(crate) use defaults::fill_in;
pub(crate) use fixes::{
    admit_node, admit_pod, count_templates, drop_disabled, drop_topology, drop_unavailable, keep_admitted,
    name_data_source, name_job_pods, quality_of_service, write_empty,
};
pub(crate) use templates::template_of;
pub(crate) use validation::{
    added_causes, api_service_name_fault, causes_of_change, causes_of_creation,
    causes_of_ephemeral_containers, causes_of_status, selects, webhook_service_faults, webhook_url_faults,
};
pub(crate) use warnings::{Change, warnings};
