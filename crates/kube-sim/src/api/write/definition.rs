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
        let mut causes = schema_faults(&definition);
        causes.extend(scale_faults(&definition));
        causes.extend(approval_fault(&definition));
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
    let status = object.entry("status").or_insert(status);
    if let (Some(condition), Some(conditions)) = (approval(&definition), status["conditions"].as_array_mut())
    {
        conditions.retain(|found| found["type"] != APPROVED);
        let (is_approved, reason, message) = condition;
        conditions.push(json!({
            "type": APPROVED, "status": if is_approved { "True" } else { "False" }, "lastTransitionTime": now,
            "reason": reason, "message": message,
        }));
    }
    Ok(())
}

/// A version that becomes the one in which objects are stored is remembered, since objects may be stored in it from now on.
pub(super) fn note_storage_version(object: &mut Object) {
    let versions = object
        .get("spec")
        .map(|spec| spec["versions"].clone())
        .unwrap_or_default();
    let mut versions = versions.as_array().into_iter().flatten();
    let Some(storage) = versions
        .find(|version| version["storage"] == true)
        .map(|version| version["name"].clone())
    else {
        return;
    };
    if let Some(Value::Array(stored)) = object
        .get_mut("status")
        .and_then(|status| status.get_mut("storedVersions"))
        && !stored.contains(&storage)
    {
        stored.push(storage);
    }
}

/// Where a definition of a group of the community says who has approved it (KEP-1111), and the condition about it.
const APPROVAL: &str = "api-approved.kubernetes.io";
const APPROVED: &str = "KubernetesAPIApprovalPolicyConformant";

/// Whether a definition of a group of the community is approved, and why; nothing about other groups.
fn approval(definition: &Value) -> Option<(bool, &'static str, String)> {
    const SEE: &str = "see https://github.com/kubernetes/enhancements/pull/1111";
    let group = definition["spec"]["group"].as_str().unwrap_or("");
    let is_protected = ["k8s.io", "kubernetes.io"].iter().any(|of| {
        group
            .strip_suffix(of)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    });
    if !is_protected {
        return None;
    }
    let must = format!("protected groups must have approval annotation \"{APPROVAL}\"");
    let given = definition["metadata"]["annotations"][APPROVAL]
        .as_str()
        .unwrap_or("");
    let is_url = given
        .parse::<http::Uri>()
        .is_ok_and(|url| url.scheme().is_some() && url.host().is_some());
    Some(match given {
        "" => (false, "MissingAnnotation", format!("{must}, {SEE}")),
        _ if given.starts_with("unapproved") => (
            false,
            "UnapprovedAnnotation",
            format!("not approved: \"{given}\""),
        ),
        _ if is_url => (true, "ApprovedAnnotation", format!("approved in {given}")),
        _ => {
            let why = format!("{must} with either a URL or a reason starting with \"unapproved\", {SEE}");
            (false, "InvalidAnnotation", why)
        }
    })
}

fn approval_fault(definition: &Value) -> Option<Cause> {
    let (_, reason, message) = approval(definition)?;
    let field = format!("metadata.annotations[{APPROVAL}]");
    let given = &definition["metadata"]["annotations"][APPROVAL];
    match reason {
        "MissingAnnotation" => Some(Cause::required(field, &message)),
        "InvalidAnnotation" => Some(Cause::invalid(field, given, &message)),
        _ => None,
    }
}

/// What is wrong with where versions have their scales.
fn scale_faults(definition: &Value) -> Vec<Cause> {
    let versions = definition.pointer("/spec/versions").and_then(Value::as_array);
    let subresources = || {
        versions
            .into_iter()
            .flatten()
            .map(|version| &version["subresources"])
    };
    // Where all versions have the same ones, a real server looks at them once.
    let is_one = subresources()
        .zip(subresources().skip(1))
        .all(|(one, next)| one == next);
    let mut causes = Vec::new();
    for (index, subresources) in subresources()
        .enumerate()
        .take(if is_one { 1 } else { usize::MAX })
    {
        let path = match is_one {
            true => "spec.subresources.scale".to_owned(),
            false => format!("spec.versions[{index}].subresources.scale"),
        };
        let scale = &subresources["scale"];
        if !scale.is_object() {
            continue;
        }
        for (field, starts, why) in [
            (
                "specReplicasPath",
                &[".spec."][..],
                "should be a json path under .spec",
            ),
            (
                "statusReplicasPath",
                &[".status."],
                "should be a json path under .status",
            ),
            (
                "labelSelectorPath",
                &[".spec.", ".status."],
                "should be a json path under either .spec or .status",
            ),
        ] {
            let path = format!("{path}.{field}");
            match scale[field].as_str().unwrap_or("") {
                "" if field == "labelSelectorPath" => {}
                "" => causes.push(Cause::required(path, "")),
                given if !given.starts_with('.') => {
                    let why = "must be a simple json path starting with .";
                    causes.push(Cause::invalid(path, format!("\"{given}\""), why));
                }
                given if starts.iter().any(|start| given.starts_with(start)) => {}
                given => causes.push(Cause::invalid(path, format!("\"{given}\""), why)),
            }
        }
    }
    causes
}

/// What may not be said of all of an object where its status is a subresource.
fn root_fault(schema: &Value, path: String) -> Option<Cause> {
    const FORBIDDEN: [&str; 13] = [
        "default",
        "nullable",
        "enum",
        "maxProperties",
        "minProperties",
        "allOf",
        "oneOf",
        "anyOf",
        "not",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string",
        "x-kubernetes-list-type",
        "x-kubernetes-map-type",
    ];
    FORBIDDEN.iter().any(|name| schema.get(name).is_some()).then(|| {
        let why = "only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength \
             Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example \
             XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is \
             enabled";
        Cause::invalid(path, "{}", why)
    })
}

/// What is wrong with the schemas of a definition.
fn schema_faults(definition: &Value) -> Vec<Cause> {
    let versions = definition.pointer("/spec/versions").and_then(Value::as_array);
    let schemas = || versions.into_iter().flatten().map(|version| &version["schema"]);
    // Where all versions have one schema, a real server looks at it once.
    let is_one = schemas().zip(schemas().skip(1)).all(|(one, next)| one == next);
    let of_version = |(index, version): (usize, &Value)| {
        let path = match is_one {
            true => "spec.validation.openAPIV3Schema".to_owned(),
            false => format!("spec.versions[{index}].schema.openAPIV3Schema"),
        };
        match version.pointer("/schema/openAPIV3Schema") {
            Some(schema) if schema.is_object() => {
                let mut causes = schema::faults(schema, &path);
                if version.pointer("/subresources/status").is_some() {
                    causes.extend(root_fault(schema, path));
                }
                causes
            }
            _ => vec![Cause::required(path, "")],
        }
    };
    versions
        .into_iter()
        .flatten()
        .enumerate()
        .take(if is_one { 1 } else { usize::MAX })
        .flat_map(of_version)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use serde_json::{Value, json};

    use crate::api::Api;
    use crate::api::write::Writer;
    use crate::faults::Rules;
    use crate::resources::Registry;
    use crate::storage::Storage;
    use crate::store::Store;
    use crate::target::Target;

    fn definition(properties: Value) -> Value {
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"},
            "spec": {
                "group": "example.com", "scope": "Cluster", "names": {"plural": "things", "kind": "Thing"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                    "type": "object", "properties": {"spec": {"type": "object", "properties": properties}},
                }}}],
            },
        })
    }

    #[tokio::test]
    async fn a_late_write_is_made_as_is_defined_now() {
        let storage = Storage::new(1000, 100);
        let rules = Rules::new(0);
        let minute = Duration::from_secs(60);
        let api = Arc::new(Api::new(
            storage,
            Registry::builtin(),
            minute,
            Vec::new(),
            rules,
            false,
        ));
        let store = Store::new(api.clone());
        store
            .create(definition(json!({"a": {"type": "integer"}})))
            .unwrap();
        // What was routed before the definition changed, and is written after that.
        let target = Target {
            resource: api.find("example.com", "v1", "things").unwrap(),
            version: "v1".into(),
            namespace: None,
            name: None,
            subresource: None,
        };
        store
            .update(definition(json!({"b": {"type": "integer", "default": 2}})))
            .unwrap();
        let create = || {
            let thing = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"a": 1}});
            let writer = Writer::Client {
                dry_run: false,
                manager: Some("m"),
                user: None,
                admission: None,
            };
            let Value::Object(thing) = thing else {
                unreachable!()
            };
            api.create(&target, thing, writer).map(drop)
        };
        create().unwrap();
        let thing = store.get("example.com/v1", "Thing", None, "t").unwrap();
        assert_eq!(thing["spec"], json!({"b": 2}));
        let name = "things.example.com";
        store
            .delete("apiextensions.k8s.io/v1", "CustomResourceDefinition", None, name)
            .unwrap();
        assert_eq!(create().unwrap_err().code(), 404);
    }
}
