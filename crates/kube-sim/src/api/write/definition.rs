//! Custom resource definitions: the fields that the server sets.

use serde_json::{Value, json};

use super::Object;
use crate::resources::Resource;
use crate::schema;
use crate::status::{Cause, StatusError};

pub(crate) const ID: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// Checks a definition and sets its defaults and its status: it is established immediately.
///
/// A `lenient` check lets versions have no schema, or one that a real server refuses.
pub(super) fn prepare(object: &mut Object, now: &str, lenient: bool) -> Result<(), StatusError> {
    let definition = Value::Object(object.clone());
    let name = definition
        .pointer("/metadata/name")
        .and_then(Value::as_str)
        .unwrap_or("");
    let resource = Resource::from_definition(&definition).map_err(|why| {
        let cause = Cause::invalid("spec", "{}", &why);
        StatusError::invalid("apiextensions.k8s.io", "CustomResourceDefinition", name, &[cause])
    })?;
    if !lenient {
        let causes = schema_faults(&definition);
        if !causes.is_empty() {
            return Err(StatusError::invalid(
                "apiextensions.k8s.io",
                "CustomResourceDefinition",
                name,
                &causes,
            ));
        }
    }
    if let Some(names) = object.get_mut("spec").and_then(|spec| spec.get_mut("names")) {
        names["singular"] = resource.singular.as_str().into();
        names["listKind"] = resource.list_kind.as_str().into();
    }
    let names = object.get("spec").map(|spec| spec["names"].clone());
    let condition = |kind: &str, reason: &str, message: &str| json!({"type": kind, "status": "True", "lastTransitionTime": now, "reason": reason, "message": message});
    let status = json!({
        "conditions": [
            condition("NamesAccepted", "NoConflicts", "no conflicts found"),
            condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
        ],
        "acceptedNames": names,
        "storedVersions": [resource.versions.first()],
    });
    object.entry("status").or_insert(status);
    Ok(())
}

/// What is wrong with the schemas of a definition.
fn schema_faults(definition: &Value) -> Vec<Cause> {
    let versions = definition.pointer("/spec/versions").and_then(Value::as_array);
    let of_version = |(index, version): (usize, &Value)| {
        let path = format!("spec.versions[{index}].schema.openAPIV3Schema");
        match version.pointer("/schema/openAPIV3Schema") {
            Some(schema) if schema.is_object() => schema::faults(schema, &path),
            _ => vec![Cause::required(path, "")],
        }
    };
    versions
        .into_iter()
        .flatten()
        .enumerate()
        .flat_map(of_version)
        .collect()
}
