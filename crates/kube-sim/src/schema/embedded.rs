//! Objects within objects (`x-kubernetes-embedded-resource`): what they must have.

use serde_json::{Map, Value};

use super::{Schema, walk};
use crate::meta::faults;
use crate::names::{dns_1035_label_fault, dns_label_faults, path_segment_faults, path_segment_prefix_faults};
use crate::path::Path;
use crate::status::{Cause, Told, quoted};

/// What is wrong with the type and the metadata of objects within an object.
pub(super) fn all_faults(object: &Map<String, Value>, schema: &Schema) -> Vec<Cause> {
    let mut causes = Told::default();
    walk::values(object, schema, &mut |value, schema, path| {
        if let (Value::Object(object), true) = (value, schema.embedded && !causes.is_full()) {
            check(object, path, &mut causes);
        }
    });
    causes.into_vec()
}

/// The same for a value that is one, or has some in it.
pub(super) fn faults_of(value: &Value, schema: &Schema) -> Vec<Cause> {
    let Value::Object(object) = value else {
        return Vec::new();
    };
    let mut causes = Told::default();
    if schema.embedded {
        if let Some(metadata) = object.get("metadata")
            && let Some(error) = super::fit::misfit_of_metadata(metadata)
        {
            causes.push(Cause::invalid("metadata", metadata, &error));
            return causes.into_vec();
        }
        check(object, &Path::Root, &mut causes);
    }
    causes.extend(all_faults(object, schema));
    causes.into_vec()
}

fn check(object: &Map<String, Value>, path: &Path<'_>, causes: &mut Told) {
    for name in ["apiVersion", "kind"] {
        let field = path.field(name).to_string();
        match object.get(name).and_then(Value::as_str) {
            None => causes.push(Cause::required(field, "")),
            Some("") => causes.push(Cause::invalid(field, "\"\"", "must not be empty")),
            Some(kind) if name == "kind" => {
                if let Some(fault) = dns_1035_label_fault(&kind.to_lowercase()) {
                    let why = format!("may have mixed case, but should otherwise match: {fault}");
                    causes.push(Cause::invalid(field, quoted(kind), &why));
                }
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

fn check_metadata(metadata: &Map<String, Value>, path: &Path<'_>, causes: &mut Told) {
    let path = path.to_string();
    for (name, rules) in [
        (
            "generateName",
            path_segment_prefix_faults as fn(&str) -> Vec<&'static str>,
        ),
        ("name", path_segment_faults),
        ("namespace", dns_label_faults),
    ] {
        causes.extend(faults::of_name(metadata, name, &path, rules));
    }
    faults::of_rest(metadata, &path, causes);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(object: &Value) -> usize {
        let schema = Schema::parse(
            &json!({"type": "object", "additionalProperties": {"type": "array", "items": {
                "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true,
            }}}),
        );
        let causes = all_faults(object.as_object().unwrap(), &schema);
        assert!(!causes.is_empty());
        causes
            .iter()
            .map(|cause| cause.field.len() + cause.message.len())
            .sum()
    }

    #[test]
    fn many_objects_of_faults_share_the_room() {
        let manager = json!({"operation": "Update", "manager": "\u{7f}".repeat(1_000)});
        let owner = json!({"kind": "A", "name": "b", "uid": "c", "apiVersion": "v1", "controller": true});
        for metadata in [
            json!({"managedFields": [manager]}),
            json!({"ownerReferences": vec![owner; 150]}),
        ] {
            let object = json!({"apiVersion": "v1", "kind": "A", "metadata": metadata});
            let told = told(&json!({"list": vec![object; 100]}));
            assert!(told < 16 << 20, "{told}");
        }
    }

    #[test]
    fn a_long_key_is_not_told_with_each_object_below_it() {
        let told = told(&json!({"k".repeat(50_000): vec![json!({}); 2_000]}));
        assert!(told < 16 << 20, "{told}");
    }
}
