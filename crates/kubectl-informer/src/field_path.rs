//! The way from an object to one of its fields.

use serde_json::Value;
use std::fmt;

/// The way to a field.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FieldPath(Vec<Step>);

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// A field of an object.
    Field(String),
    /// The element of a list that has these values; with it comes all of the element.
    Element {
        keys: Vec<(&'static str, String)>,
        element: Value,
    },
    /// The element of a list without keys.
    Index(usize),
}

impl FieldPath {
    pub(crate) fn new(steps: Vec<Step>) -> Self {
        Self(steps)
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.0
    }

    /// The path without what tells one element of a list from another, and one key of `data` from another:
    /// `status.conditions[*].status`.
    pub(crate) fn pattern(&self) -> String {
        let mut pattern = String::new();
        for (at, name) in self.names().into_iter().enumerate() {
            match name {
                "*" => pattern.push_str("[*]"),
                _ if at == 1 && pattern == "data" => pattern.push_str(".*"),
                name if at == 0 => pattern.push_str(name),
                name => {
                    pattern.push('.');
                    pattern.push_str(name);
                }
            }
        }
        pattern
    }

    /// Whether it is the server's bookkeeping, which changes with every write.
    pub(crate) fn is_version(&self) -> bool {
        matches!(
            self.names()[..],
            ["metadata", "managedFields" | "resourceVersion", ..]
        )
    }

    fn names(&self) -> Vec<&str> {
        let names = self.0.iter().map(|step| match step {
            Step::Field(name) => name.as_str(),
            Step::Element { .. } | Step::Index(_) => "*",
        });
        names.collect()
    }

    /// Whether it changes with every write, or without any other change.
    pub(crate) fn is_bookkeeping(&self, kind: &str) -> bool {
        match self.names()[..] {
            ["metadata", "managedFields" | "resourceVersion", ..] => true,
            [
                "metadata",
                "annotations",
                "control-plane.alpha.kubernetes.io/leader",
            ] => true,
            ["spec", "renewTime"] => kind == "Lease",
            ["status", "conditions", "*", "lastHeartbeatTime" | "lastProbeTime"] => true,
            _ => false,
        }
    }

    /// Whether a value of a Secret at this path may be secret. Annotations may contain what was applied.
    pub(crate) fn may_be_secret(&self) -> bool {
        matches!(
            self.names()[..],
            ["data" | "stringData", ..] | ["metadata", "annotations", ..]
        )
    }
}

/// As `status.conditions[type=Ready].status`, and `metadata.labels["app.kubernetes.io/name"]`.
impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Field(name)
                    if name.contains(|c: char| !(c.is_ascii_alphanumeric() || "_-$".contains(c))) =>
                {
                    write!(f, "[{}]", Value::from(name.as_str()))?;
                }
                Step::Field(name) if at == 0 => f.write_str(name)?,
                Step::Field(name) => write!(f, ".{name}")?,
                Step::Element { keys, .. } => {
                    let keys: Vec<_> = keys.iter().map(|(key, value)| format!("{key}={value}")).collect();
                    write!(f, "[{}]", keys.join(","))?;
                }
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
