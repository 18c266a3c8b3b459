//! The condition that ends a watch, as `kubectl wait` has it.

use crate::path::{Path, plain};
use serde_json::Value;
use std::fmt;

/// What is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Condition {
    /// A condition of the status has this status.
    Status { kind: String, status: String },
    /// A field has this value, or any.
    Field { path: Path, value: Option<String> },
    /// There is an object.
    Create,
    /// There is no object.
    Delete,
}

impl Condition {
    /// Parses what `kubectl wait --for` takes.
    ///
    /// # Errors
    /// Says what is wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            _ if text.eq_ignore_ascii_case("create") => Ok(Self::Create),
            _ if text.eq_ignore_ascii_case("delete") => Ok(Self::Delete),
            Some(("condition", rest)) => {
                let (kind, status) = rest.split_once('=').unwrap_or((rest, "True"));
                if kind.is_empty() {
                    return Err("expected the type of a condition, such as condition=Ready".into());
                }
                Ok(Self::Status {
                    kind: kind.to_owned(),
                    status: status.to_owned(),
                })
            }
            Some(("jsonpath", rest)) => {
                // An equals sign within the path, in a filter, is inside of its braces.
                let (path, value) = match rest.rfind('}') {
                    Some(end) => (&rest[..=end], &rest[end + 1..]),
                    None => rest.split_at(rest.find('=').unwrap_or(rest.len())),
                };
                let value = match value.strip_prefix('=') {
                    Some("") => return Err(format!("{text:?} has no value after its last =")),
                    Some(value) => Some(value.to_owned()),
                    None if value.is_empty() => None,
                    None => return Err(format!("{value:?} after the path: expected =VALUE")),
                };
                Ok(Self::Field {
                    path: Path::parse(path)?,
                    value,
                })
            }
            _ => Err("expected condition=TYPE[=STATUS], jsonpath='{.PATH}'[=VALUE], create or delete".into()),
        }
    }

    /// Whether an object meets it.
    pub(crate) fn is_met(&self, object: &Value) -> bool {
        match self {
            Self::Create => true,
            Self::Delete => false,
            Self::Status { kind, status } => {
                let conditions = object["status"]["conditions"].as_array();
                let is_wanted = |condition: &&Value| {
                    let found = condition["type"].as_str();
                    found.is_some_and(|found| found.eq_ignore_ascii_case(kind))
                };
                let Some(condition) = conditions.and_then(|all| all.iter().find(is_wanted)) else {
                    return false;
                };
                let found = condition["status"].as_str().unwrap_or_default();
                found.eq_ignore_ascii_case(status) && is_current(condition, object)
            }
            Self::Field { path, value } => {
                let found = path.find(object);
                let is_wanted = |found: &&Value| value.as_ref().is_none_or(|value| plain(found) == *value);
                !found.is_empty() && found.iter().all(is_wanted)
            }
        }
    }
}

/// Whether the controller that wrote a condition had seen the object's latest generation, as far as it says so.
fn is_current(condition: &Value, object: &Value) -> bool {
    let observed = [condition, &object["status"]];
    let observed = observed
        .iter()
        .find_map(|value| value["observedGeneration"].as_i64());
    match (observed, object["metadata"]["generation"].as_i64()) {
        (Some(observed), Some(generation)) => observed >= generation,
        _ => true,
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status { kind, status } => write!(f, "condition={kind}={status}"),
            Self::Field { path, value: None } => write!(f, "jsonpath={}", path.text()),
            Self::Field {
                path,
                value: Some(value),
            } => write!(f, "jsonpath={}={value}", path.text()),
            Self::Create => f.write_str("create"),
            Self::Delete => f.write_str("delete"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn conditions_are_those_of_kubectl_wait() {
        let pod = json!({
            "metadata": {"generation": 2},
            "status": {"phase": "Running", "restarts": 3, "conditions": [
                {"type": "Ready", "status": "True"},
                {"type": "Old", "status": "True", "observedGeneration": 1},
                {"type": "Off", "status": "False"},
            ]},
        });
        for (condition, expected) in [
            ("condition=Ready", true),
            ("condition=ready=true", true),
            ("condition=Ready=False", false),
            ("condition=Off=false", true),
            ("condition=Old", false),
            ("condition=Missing", false),
            ("jsonpath={.status.phase}=Running", true),
            ("jsonpath={.status.phase}=Pending", false),
            ("jsonpath=.status.phase=Running", true),
            ("jsonpath={.status.restarts}=3", true),
            ("jsonpath={.status.phase}", true),
            ("jsonpath={.status.podIP}", false),
            (
                r#"jsonpath={.status.conditions[?(@.type=="Ready")].status}=True"#,
                true,
            ),
            (
                r#"jsonpath={.status.conditions[?(@.type=="Ready")].status}"#,
                true,
            ),
            ("create", true),
            ("delete", false),
        ] {
            let parsed = Condition::parse(condition).unwrap();
            assert_eq!(parsed.is_met(&pod), expected, "{condition}");
        }
    }

    #[test]
    fn malformed_conditions_are_refused() {
        for (condition, expected) in [
            ("Ready", "expected condition=TYPE"),
            ("condition=", "the type of a condition"),
            ("jsonpath={.a", "no closing brace"),
            ("jsonpath={.a}=", "no value after"),
            ("jsonpath={.a}x", "expected =VALUE"),
            ("created", "create or delete"),
        ] {
            let error = Condition::parse(condition).unwrap_err();
            assert!(error.contains(expected), "{condition}: {error}");
        }
    }
}
