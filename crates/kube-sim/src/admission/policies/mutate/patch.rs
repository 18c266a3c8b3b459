//! Puts what an expression made into an object: a configuration that is merged, or a JSON patch.

use serde_json::{Map, Value, json};

use super::{Unmade, type_of, untyped};
use crate::admission::{Object, form_of};
use crate::api::patch::{MAX_COPIED, Patch};
use crate::apply;
use crate::nesting;
use crate::schema::{self, Failure};
use crate::status::StatusError;
use crate::target::Target;

/// The object that is made of one as a policy sees it.
pub(super) fn change(target: &Target, is_patch: bool, seen: Value, made: Value) -> Result<Object, Unmade> {
    let changed = match is_patch {
        true => patched(seen, made)?,
        false => merged(target, seen, made).map_err(Unmade::Failed)?,
    };
    match changed {
        Value::Object(object) if object.values().map(nesting::of).max().unwrap_or(0) < nesting::COMMON => {
            Ok(object)
        }
        Value::Object(_) => Err(Unmade::Failed("the object has too many levels".into())),
        _ => Err(Unmade::Failed("JSON Patch: it leaves no object".into())),
    }
}

fn patched(seen: Value, made: Value) -> Result<Value, Unmade> {
    let failed = |why: &str| Unmade::Failed(why.to_owned());
    let Value::Array(made) = made else {
        return Err(failed(
            "type mismatch: JSONPatchType.expression should evaluate to array",
        ));
    };
    let mut changed = seen.clone();
    // What reading the object costs, which each operation does.
    let size = seen.to_string().len();
    let mut copied = 0;
    for operation in made {
        if !schema::goes_on(size / 8) {
            return Err(Unmade::Failed(Failure::Exhausted.message()));
        }
        let Value::Object(operation) = operation else {
            return Err(failed(
                "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch",
            ));
        };
        let operation = read(operation).map_err(Unmade::Failed)?;
        let is_test = operation["op"] == "test";
        copied += copied_by(&operation, &changed);
        if copied > MAX_COPIED {
            return Err(Unmade::Failed(format!(
                "JSON Patch: Unable to complete the copy, the accumulated size increase of copy is {copied}, exceeding the limit \
                 {MAX_COPIED}"
            )));
        }
        match apply_one(&operation, changed) {
            Ok(object) => changed = object,
            // What fails a test is not applied at all, and is no failure.
            Err(why) if is_test && !why.contains("is missing path") => return Ok(seen),
            Err(why) => return Err(Unmade::Failed(format!("JSON Patch: {why}"))),
        }
    }
    Ok(changed)
}

/// How many bytes an operation copies.
fn copied_by(operation: &Value, document: &Value) -> usize {
    let from = operation["from"].as_str().unwrap_or("");
    match operation["op"] == "copy" {
        true => document.pointer(from).map_or(0, |value| value.to_string().len()),
        false => 0,
    }
}

/// An operation as JSON has it.
fn read(operation: Map<String, Value>) -> Result<Value, String> {
    let text = |name: &str| operation.get(name).and_then(Value::as_str).unwrap_or("");
    let mut read = json!({"op": text("op"), "path": text("path")});
    if !text("from").is_empty() {
        read["from"] = text("from").into();
    }
    if let Some(value) = operation.get("value") {
        let mut value = value.clone();
        if let Value::Object(members) = &value
            && let Some(name) = type_of(members)
        {
            check_types(&value, name)?;
        }
        untyped(&mut value);
        read["value"] = value;
    }
    Ok(read)
}

/// Applies an operation; says in Go's words why it cannot be.
fn apply_one(operation: &Value, document: Value) -> Result<Value, String> {
    let text = |name: &str| operation[name].as_str().unwrap_or("");
    let (op, path, from) = (text("op"), text("path"), text("from"));
    let is_there = |path: &str| document.pointer(path).is_some();
    let parent = |path: &str| path.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned();
    let missing = |why: &str| Err(why.to_owned());
    match op {
        "add" if !is_there(&parent(path)) => {
            return missing(&format!(
                "add operation does not apply: doc is missing path: \"{path}\": missing value"
            ));
        }
        "replace" if !is_there(&parent(path)) => {
            return missing(&format!(
                "replace operation does not apply: doc is missing path: {path}: missing value"
            ));
        }
        "replace" if !is_there(path) => {
            return missing(&format!(
                "replace operation does not apply: doc is missing key: {path}: missing value"
            ));
        }
        "remove" if !is_there(&parent(path)) => {
            return missing(&format!(
                "remove operation does not apply: doc is missing path: \"{path}\": missing value"
            ));
        }
        "remove" if !is_there(path) => {
            let key = path.rsplit('/').next().unwrap_or("");
            return missing(&format!(
                "error in remove for path: '{path}': Unable to remove nonexistent key: {key}: missing value"
            ));
        }
        "move" if !is_there(from) => {
            return missing(&format!(
                "move operation does not apply: doc is missing from path: {from}: missing value"
            ));
        }
        "copy" if !is_there(from) => {
            return missing(&format!(
                "copy operation does not apply: doc is missing from path: {from}: missing value"
            ));
        }
        "test" if !is_there(&parent(path)) => {
            return missing(&format!(
                "test operation does not apply: is missing path: {path}: missing value"
            ));
        }
        "add" | "replace" | "remove" | "move" | "copy" | "test" => {}
        other => return missing(&format!("Unexpected kind: {other}")),
    }
    let body = json!([operation]).to_string();
    let patch = Patch::read("application/json-patch+json", body.as_bytes(), false);
    let said = |error: StatusError| error.message().to_owned();
    patch.map_err(said)?.apply(document).map_err(said)
}

fn merged(target: &Target, seen: Value, mut made: Value) -> Result<Value, String> {
    match &made {
        Value::Object(members) if type_of(members) == Some("Object") => {}
        _ => return Err("unsupported return type from ApplyConfiguration expression".into()),
    }
    check_types(&made, "Object")?;
    untyped(&mut made);
    // A real server knows the types of what is stored, and this one.
    if let Some([group, version, kind]) = form_of(target).filter(|[.., kind]| kind != "Binding") {
        return Err(format!(
            "error applying patch: failed to convert patch object to typed object: no corresponding type for {group}/{version}, \
             Kind={kind}"
        ));
    }
    if let Value::Object(made) = &mut made {
        for name in ["apiVersion", "kind"] {
            made.insert(name.into(), seen[name].clone());
        }
    }
    apply::merged_by_policy(target, seen, &made).map_err(|why| format!("error applying patch: {why}"))
}

/// Checks that the types of objects are named as the places that they are in.
fn check_types(value: &Value, name: &str) -> Result<(), String> {
    let mut faults = Vec::new();
    find_faults(value, name, &mut faults);
    match faults.is_empty() {
        true => Ok(()),
        false => Err(format!("type mismatch: {}", faults.join("\n"))),
    }
}

fn find_faults(value: &Value, expected: &str, faults: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            let found = type_of(members);
            if let Some(found) = found.filter(|found| *found != expected) {
                faults.push(format!(
                    "unexpected type name {found:?}, expected {expected:?}, which matches field name path from root Object type"
                ));
            }
            for (name, value) in members {
                // What is in a map that has no type is of the place of the map.
                match found {
                    Some(_) => find_faults(value, &format!("{expected}.{name}"), faults),
                    None => find_faults(value, expected, faults),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| find_faults(item, expected, faults)),
        _ => {}
    }
}
