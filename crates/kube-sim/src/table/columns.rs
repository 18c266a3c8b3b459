//! The columns of built-in kinds, as a real server has them.

mod core;
mod others;
mod workloads;

use serde_json::Value;

use super::cells;
use super::row::Row;

/// A column, and what it shows of an object.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    /// Whether kubectl shows it only on request.
    pub(super) is_wide: bool,
    pub(super) cell: fn(&Row<'_>) -> Value,
}

const fn string(name: &'static str, cell: fn(&Row<'_>) -> Value) -> Column {
    Column {
        name,
        kind: "string",
        is_wide: false,
        cell,
    }
}

const fn integer(name: &'static str, cell: fn(&Row<'_>) -> Value) -> Column {
    Column {
        kind: "integer",
        ..string(name, cell)
    }
}

const fn boolean(name: &'static str, cell: fn(&Row<'_>) -> Value) -> Column {
    Column {
        kind: "boolean",
        ..string(name, cell)
    }
}

const fn wide(name: &'static str, cell: fn(&Row<'_>) -> Value) -> Column {
    Column {
        is_wide: true,
        ..string(name, cell)
    }
}

const NAME: Column = string("Name", |row| row.text("/metadata/name").into());
const AGE: Column = string("Age", |row| row.since("/metadata/creationTimestamp").into());
const TEMPLATE: &str = "/spec/template/spec/containers";
const CONTAINERS: Column = wide("Containers", |row| row.each(TEMPLATE, "name").into());
const IMAGES: Column = wide("Images", |row| row.each(TEMPLATE, "image").into());
const SELECTOR: Column = wide("Selector", |row| cells::selector(row.get("/spec/selector")));
const DESIRED: Column = integer("Desired", |row| row.number("/spec/replicas").into());
const CURRENT: Column = integer("Current", |row| row.number("/status/replicas").into());
const READY: Column = integer("Ready", |row| row.number("/status/readyReplicas").into());
const READY_OF_DESIRED: Column = string("Ready", |row| {
    format!(
        "{}/{}",
        row.number("/status/readyReplicas"),
        row.number("/spec/replicas")
    )
    .into()
});
const USERS: Column = wide("Users", |row| cells::subjects(row, "User"));
const GROUPS: Column = wide("Groups", |row| cells::subjects(row, "Group"));
const SERVICE_ACCOUNTS: Column = wide("ServiceAccounts", |row| cells::subjects(row, "ServiceAccount"));
const ROLE: Column = string("Role", |row| {
    format!("{}/{}", row.text("/roleRef/kind"), row.text("/roleRef/name")).into()
});
const WEBHOOKS: Column = integer("Webhooks", |row| row.length("/webhooks").into());
const PARAM_KIND: Column = string("ParamKind", |row| match row.get("/spec/paramKind") {
    Some(_) => format!(
        "{}/{}",
        row.text("/spec/paramKind/apiVersion"),
        row.text("/spec/paramKind/kind")
    )
    .into(),
    None => "<unset>".into(),
});
const POLICY_NAME: Column = string("PolicyName", |row| row.text("/spec/policyName").into());
const PARAM_REF: Column = string("ParamRef", cells::param_ref);

/// The columns of a resource, by what messages call it.
pub(super) fn of(id: &str) -> &'static [Column] {
    let (plural, group) = id.split_once('.').unwrap_or((id, ""));
    match group {
        "" => core::of(plural),
        "apps" | "autoscaling" | "batch" | "policy" => workloads::of(plural),
        "discovery.k8s.io" | "networking.k8s.io" => others::of_networking(plural),
        "resource.k8s.io" | "storage.k8s.io" => others::of_storage(plural),
        _ => others::of(plural),
    }
}

pub(super) const SCALE: &[Column] = &[
    NAME,
    DESIRED,
    integer("Available", |row| row.number("/status/replicas").into()),
    AGE,
];

/// Where a real server has no columns of its own either.
const DEFAULT: &[Column] = &[
    NAME,
    Column {
        kind: "date",
        ..string("Created At", |row| row.text("/metadata/creationTimestamp").into())
    },
];
