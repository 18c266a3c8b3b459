//! What is wrong with a custom resource definition.

use std::collections::BTreeSet;

use serde_json::Value;

use super::versions::versions;
use super::{APPROVAL, approval, conversion, selectable};
use crate::names::{dns_1035_label_fault, subdomain_fault};
use crate::schema;
use crate::status::{Cause, quoted};

/// What is wrong with a definition, in the order of a real server. `old` is what it was.
pub(super) fn faults(definition: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = group_faults(definition);
    causes.extend(scope_fault(definition));
    causes.extend(pruning_fault(definition));
    causes.extend(version_faults(definition));
    causes.extend(schema_faults(definition, old));
    causes.extend(scale_faults(definition));
    causes.extend(column_faults(definition));
    causes.extend(selectable::faults(definition));
    causes.extend(name_faults(&definition["spec"]["names"]));
    causes.extend(conversion::faults(definition));
    causes.extend(storage_fault(definition));
    causes.extend(approval_fault(definition));
    causes
}

/// What may not change of a definition, and what its stored versions miss.
pub(super) fn faults_of_change(old: &Value, new: &Value, is_established: bool) -> Vec<Cause> {
    let immutable = |path: &'static str, pointer: &str| {
        let (before, now) = (old.pointer(pointer), new.pointer(pointer));
        let shown = || quoted(now.and_then(Value::as_str).unwrap_or(""));
        (before != now).then(|| Cause::invalid(path, shown(), "field is immutable"))
    };
    let mut causes = Vec::new();
    if is_established {
        causes.extend(immutable("spec.scope", "/spec/scope"));
        causes.extend(immutable("spec.names.kind", "/spec/names/kind"));
    }
    causes.extend(immutable("spec.group", "/spec/group"));
    causes.extend(immutable("spec.names.plural", "/spec/names/plural"));
    causes.extend(stored_version_faults(new));
    causes.extend(conversion::faults_of_change(old, new));
    causes
}

/// A version in which objects may be stored stays.
fn stored_version_faults(definition: &Value) -> Vec<Cause> {
    let stored = definition
        .pointer("/status/storedVersions")
        .and_then(Value::as_array);
    let stored: Vec<_> = stored.into_iter().flatten().filter_map(Value::as_str).collect();
    if stored.is_empty() {
        let why = "must have at least one stored version";
        return vec![Cause::invalid("status.storedVersions", "[]", why)];
    }
    let mut causes = Vec::new();
    let storage = versions(definition).find(|version| version["storage"] == true);
    let storage = storage.and_then(|version| version["name"].as_str()).unwrap_or("");
    if !stored.contains(&storage) {
        let shown = serde_json::to_string(&stored).unwrap_or_default();
        let why = format!("must have the storage version {storage}");
        causes.push(Cause::invalid("status.storedVersions", shown, &why));
    }
    let is_there = |name: &str| versions(definition).any(|version| version["name"] == name);
    for (index, name) in stored.iter().enumerate().filter(|(_, name)| !is_there(name)) {
        let why = format!(
            "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a \
             storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
        );
        causes.push(Cause::invalid(
            format!("status.storedVersions[{index}]"),
            quoted(name),
            &why,
        ));
    }
    causes
}

fn group_faults(definition: &Value) -> Vec<Cause> {
    let group = definition["spec"]["group"].as_str().unwrap_or("");
    if group.is_empty() {
        return vec![Cause::required("spec.group", "")];
    }
    let fault = match subdomain_fault(group) {
        None if !group.contains('.') => Some("should be a domain with at least one dot".to_owned()),
        fault => fault,
    };
    let fault = fault.map(|fault| Cause::invalid("spec.group", quoted(group), &fault));
    fault.into_iter().collect()
}

fn scope_fault(definition: &Value) -> Option<Cause> {
    match definition["spec"]["scope"].as_str().unwrap_or("") {
        "Cluster" | "Namespaced" => None,
        "" => Some(Cause::required("spec.scope", "")),
        other => {
            let supported = "\"Cluster\", \"Namespaced\"";
            Some(Cause::unsupported("spec.scope", quoted(other), supported))
        }
    }
}

fn pruning_fault(definition: &Value) -> Option<Cause> {
    (definition["spec"]["preserveUnknownFields"] == true).then(|| {
        let why = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        Cause::invalid("spec.preserveUnknownFields", true, why)
    })
}

/// A new definition has stored nothing, and will not if it does not say in which version.
fn storage_fault(definition: &Value) -> Option<Cause> {
    let stored = definition.pointer("/status/storedVersions");
    let has_stored = stored
        .and_then(Value::as_array)
        .is_some_and(|all| !all.is_empty());
    let is_said = versions(definition).any(|version| version["storage"] == true);
    let why = "must have at least one stored version";
    (!has_stored && !is_said).then(|| Cause::invalid("status.storedVersions", "null", why))
}

fn version_faults(definition: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut seen = BTreeSet::new();
    let mut is_repeated = false;
    for (index, version) in versions(definition).enumerate() {
        let name = version["name"].as_str().unwrap_or("");
        if let Some(fault) = dns_1035_label_fault(name) {
            let path = format!("spec.versions[{index}].name");
            causes.push(Cause::invalid(path, quoted(name), &fault));
        }
        let warning = version["deprecationWarning"].as_str();
        let fault = match warning {
            Some(_) if version["deprecated"] != true => Some("can only be set for deprecated versions"),
            Some("") => Some("must not be an empty string"),
            Some(warning) if warning.len() > 256 => Some("must be <= 256 characters long"),
            _ => None,
        };
        if let (Some(fault), Some(warning)) = (fault, warning) {
            let path = format!("spec.versions[{index}].deprecationWarning");
            causes.push(Cause::invalid(path, quoted(warning), fault));
        }
        is_repeated |= !seen.insert(name);
    }
    if is_repeated {
        causes.push(Cause::invalid(
            "spec.versions",
            "[]",
            "must contain unique version names",
        ));
    }
    if versions(definition)
        .filter(|version| version["storage"] == true)
        .count()
        != 1
    {
        let is_given = definition["spec"]["versions"].is_array();
        let shown = if is_given { "[]" } else { "null" };
        let why = "must have exactly one version marked as storage version";
        causes.push(Cause::invalid("spec.versions", shown, why));
    }
    // A real server keeps the name of the first one also in a field of old.
    let first = versions(definition).next();
    let first = first.and_then(|version| version["name"].as_str()).unwrap_or("");
    if let Some(fault) = dns_1035_label_fault(first).filter(|_| !first.is_empty()) {
        causes.push(Cause::invalid("spec.version", quoted(first), &fault));
    }
    causes
}

fn column_faults(definition: &Value) -> Vec<Cause> {
    const TYPES: [&str; 5] = ["integer", "number", "string", "boolean", "date"];
    const FORMATS: [&str; 8] = [
        "int32",
        "int64",
        "float",
        "double",
        "byte",
        "date",
        "date-time",
        "password",
    ];
    let mut causes = Vec::new();
    let columns_of = || versions(definition).map(|version| &version["additionalPrinterColumns"]);
    // Where all versions have the same columns, a real server looks at them once.
    let is_one = columns_of()
        .zip(columns_of().skip(1))
        .all(|(one, next)| one == next);
    let seen = if is_one { 1 } else { usize::MAX };
    for (index, columns) in columns_of().enumerate().take(seen) {
        let whose = if is_one {
            "spec".to_owned()
        } else {
            format!("spec.versions[{index}]")
        };
        for (at, column) in columns.as_array().into_iter().flatten().enumerate() {
            let path = |field: &str| format!("{whose}.additionalPrinterColumns[{at}].{field}");
            let text = |field: &str| column[field].as_str().unwrap_or("");
            if text("name").is_empty() {
                causes.push(Cause::required(path("name"), ""));
            }
            let types = "must be one of boolean,date,integer,number,string";
            match text("type") {
                "" => causes.push(Cause::required(path("type"), types)),
                given if !TYPES.contains(&given) => {
                    causes.push(Cause::invalid(path("type"), quoted(given), types));
                }
                _ => {}
            }
            let format = text("format");
            if !format.is_empty() && !FORMATS.contains(&format) {
                let why = "must be one of byte,date,date-time,double,float,int32,int64,password";
                causes.push(Cause::invalid(path("format"), quoted(format), why));
            }
            match text("jsonPath") {
                "" => causes.push(Cause::required(path("JSONPath"), "")),
                given if !given.starts_with('.') => {
                    let why = "must be a simple json path starting with .";
                    causes.push(Cause::invalid(path("JSONPath"), quoted(given), why));
                }
                _ => {}
            }
        }
    }
    causes
}

/// What is wrong with names. Those that are left out have a default if there is a kind.
fn name_faults(names: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let text = |name: &str| names[name].as_str().filter(|given| !given.is_empty());
    for (name, folds) in [
        ("plural", false),
        ("singular", false),
        ("kind", true),
        ("listKind", true),
    ] {
        let Some(given) = text(name) else {
            causes.push(Cause::required(format!("spec.names.{name}"), ""));
            continue;
        };
        let folded = if folds {
            given.to_lowercase()
        } else {
            given.to_owned()
        };
        if let Some(fault) = dns_1035_label_fault(&folded) {
            let mixed = if folds {
                "may have mixed case, but should otherwise match: "
            } else {
                ""
            };
            let path = format!("spec.names.{name}");
            causes.push(Cause::invalid(path, quoted(given), &format!("{mixed}{fault}")));
        }
    }
    let list = |name: &'static str| {
        let given = names[name].as_array().into_iter().flatten().enumerate();
        given.filter_map(move |(index, given)| {
            let given = given.as_str().unwrap_or("");
            let fault = dns_1035_label_fault(given)?;
            Some(Cause::invalid(
                format!("spec.names.{name}[{index}]"),
                quoted(given),
                &fault,
            ))
        })
    };
    causes.extend(list("shortNames"));
    if let (Some(kind), Some(list)) = (text("kind"), text("listKind"))
        && kind == list
    {
        let why = "kind and listKind may not be the same";
        causes.push(Cause::invalid("spec.names.listKind", quoted(list), why));
    }
    causes.extend(list("categories"));
    causes
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
fn schema_faults(definition: &Value, old: Option<&Value>) -> Vec<Cause> {
    let versions = definition.pointer("/spec/versions").and_then(Value::as_array);
    let schemas = || versions.into_iter().flatten().map(|version| &version["schema"]);
    // Where all versions have one schema, a real server looks at it once.
    let is_one = schemas().zip(schemas().skip(1)).all(|(one, next)| one == next);
    let of_old = || old.into_iter().flat_map(self::versions);
    let was_one = of_old()
        .zip(of_old().skip(1))
        .all(|(one, next)| one["schema"] == next["schema"]);
    // All rules of a definition share what it takes to look at them.
    let declared = schema::Declared::default();
    let of_version = |(index, version): (usize, &Value)| {
        let path = match is_one {
            true => "spec.validation.openAPIV3Schema".to_owned(),
            false => format!("spec.versions[{index}].schema.openAPIV3Schema"),
        };
        match version.pointer("/schema/openAPIV3Schema") {
            Some(schema) if schema.is_object() => {
                let mut was = of_old().filter(|was| was_one || was["name"] == version["name"]);
                let was_there = was.any(|was| was["schema"] == version["schema"]);
                let mut causes = schema::faults(schema, &path, was_there, &declared);
                if version.pointer("/subresources/status").is_some() {
                    causes.extend(root_fault(schema, path));
                }
                causes
            }
            _ => {
                let path = format!("spec.versions[{index}].schema.openAPIV3Schema");
                vec![Cause::required(path, "")]
            }
        }
    };
    let is_said = schemas().all(|schema| schema["openAPIV3Schema"].is_object());
    versions
        .into_iter()
        .flatten()
        .enumerate()
        .take(if is_one && is_said { 1 } else { usize::MAX })
        .flat_map(of_version)
        .collect()
}
