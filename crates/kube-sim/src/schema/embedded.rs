//! Objects within objects (`x-kubernetes-embedded-resource`): what they must have.

use serde_json::{Map, Value};

use super::{Schema, walk};
use crate::meta::text;
use crate::names::{
    dns_1035_label_fault, dns_label_fault, label_key_fault, label_value_fault, path_segment_fault,
    path_segment_prefix_fault,
};
use crate::path::Path;
use crate::status::{Cause, quoted};

/// What is wrong with the type and the metadata of objects within an object.
pub(super) fn faults(object: &Map<String, Value>, schema: &Schema) -> Vec<Cause> {
    let mut causes = Vec::new();
    walk::values(object, schema, &mut |value, schema, path| {
        if let (Value::Object(object), true) = (value, schema.embedded) {
            check(object, path, &mut causes);
        }
    });
    causes
}

/// The same for a value that is one, or has some in it.
pub(super) fn faults_of(value: &Value, schema: &Schema) -> Vec<Cause> {
    let Value::Object(object) = value else {
        return Vec::new();
    };
    let mut causes = Vec::new();
    if schema.embedded {
        if let Some(metadata) = object.get("metadata")
            && let Some(error) = super::fit::misfit_of_metadata(metadata)
        {
            causes.push(Cause::invalid("metadata", metadata, &error));
            return causes;
        }
        check(object, &Path::Root, &mut causes);
    }
    causes.extend(faults(object, schema));
    causes
}

fn check(object: &Map<String, Value>, path: &Path<'_>, causes: &mut Vec<Cause>) {
    for name in ["apiVersion", "kind"] {
        let field = path.field(name).to_string();
        match object.get(name).and_then(Value::as_str) {
            None => causes.push(Cause::required(field, "")),
            Some("") => causes.push(Cause::invalid(field, "\"\"", "must not be empty")),
            Some(kind) if name == "kind" => {
                let fault = dns_1035_label_fault(&kind.to_lowercase());
                causes.extend(fault.map(|fault| {
                    let why = format!("may have mixed case, but should otherwise match: {fault}");
                    Cause::invalid(field, quoted(kind), &why)
                }));
            }
            Some(version) if version.matches('/').count() > 1 => {
                let why = format!("unexpected GroupVersion string: {version}");
                causes.push(Cause::invalid(field, quoted(version), &why));
            }
            Some(_) => {}
        }
    }
    if let Some(Value::Object(metadata)) = object.get("metadata") {
        check_metadata(metadata, &path.field("metadata"), causes);
    }
}

fn check_metadata(metadata: &Map<String, Value>, path: &Path<'_>, causes: &mut Vec<Cause>) {
    for (name, fault) in [
        (
            "generateName",
            path_segment_prefix_fault as fn(&str) -> Option<&'static str>,
        ),
        ("name", path_segment_fault),
        ("namespace", dns_label_fault),
    ] {
        let given = text(metadata, name);
        if let Some(fault) = fault(given).filter(|_| !given.is_empty()) {
            causes.push(Cause::invalid(path.field(name).to_string(), quoted(given), fault));
        }
    }
    let members = |name: &str| {
        metadata
            .get(name)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
    };
    let field = path.field("labels").to_string();
    for (key, value) in members("labels") {
        let value = value.as_str().unwrap_or("");
        for (text, fault) in [
            (key.as_str(), label_key_fault(key)),
            (value, label_value_fault(value).map(str::to_owned)),
        ] {
            if let Some(fault) = fault {
                causes.push(Cause::invalid(field.clone(), format_args!("{text:?}"), &fault));
            }
        }
    }
    let field = path.field("annotations").to_string();
    for (key, _) in members("annotations") {
        if let Some(fault) = label_key_fault(&key.to_lowercase()) {
            causes.push(Cause::invalid(field.clone(), quoted(key), &fault));
        }
    }
}
