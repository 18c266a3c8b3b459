//! AppArmor profiles, which were annotations before they were fields.

use std::fmt;

use serde_json::{Value, json};

use super::annotations::APP_ARMOR;
use super::fixes::objects;
use crate::meta::{Object, metadata};

/// The longest name of a profile, in bytes.
pub(super) const LONGEST_PROFILE: usize = 4095;

/// The annotation with the profile of a container.
pub(super) fn annotation(container: &str) -> String {
    format!("{APP_ARMOR}{container}")
}

/// What is said of an annotation.
pub(super) fn warning(path: impl fmt::Display) -> String {
    format!("{path}: deprecated since v1.30; use the \"appArmorProfile\" field instead")
}

/// The profile that an annotation means; none if it is none.
pub(super) fn profile(annotation: &str) -> Option<Value> {
    match annotation {
        "unconfined" => Some(json!({"type": "Unconfined"})),
        "runtime/default" => Some(json!({"type": "RuntimeDefault"})),
        other => {
            let profile = other.strip_prefix("localhost/")?;
            (!profile.is_empty()).then(|| json!({"type": "Localhost", "localhostProfile": profile}))
        }
    }
}

/// Gives the containers of a new pod the profiles of its annotations; returns what is to be said of these.
pub(crate) fn read_app_armor(pod: &mut Object) -> Vec<String> {
    let mut told = Vec::new();
    let annotations = metadata(pod).get("annotations").and_then(Value::as_object);
    let is_any = |annotations: &Object| annotations.keys().any(|name| name.starts_with(APP_ARMOR));
    let Some(annotations) = annotations.filter(|all| is_any(all)).cloned() else {
        return told;
    };
    let Some(Value::Object(spec)) = pod.get_mut("spec") else {
        return told;
    };
    // Windows has no such profiles.
    if spec.get("os").is_some_and(|os| os["name"] == "windows") {
        return told;
    }
    let of_pod = spec
        .get("securityContext")
        .map(|context| context["appArmorProfile"].clone());
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        for container in objects(spec, list) {
            let name = annotation(container.get("name").and_then(Value::as_str).unwrap_or(""));
            let context = container.get("securityContext");
            let is_said = context.is_some_and(|context| !context["appArmorProfile"].is_null());
            let Some(given) = annotations
                .get(&name)
                .and_then(Value::as_str)
                .filter(|_| !is_said)
            else {
                continue;
            };
            let profile = profile(given).filter(is_valid);
            if profile.is_some() && profile == of_pod {
                continue;
            }
            told.push(warning(format_args!("metadata.annotations[{name}]")));
            if let Some(profile) = profile {
                let context = container.entry("securityContext").or_insert(Value::Null);
                if context.is_null() {
                    *context = json!({});
                }
                context["appArmorProfile"] = profile;
            }
        }
    }
    told
}

/// Whether the name of a profile may be one in a field.
fn is_valid(profile: &Value) -> bool {
    let name = profile["localhostProfile"].as_str().unwrap_or("");
    name.trim() == name && name.len() <= LONGEST_PROFILE
}
