//! What a MutatingAdmissionPolicy applies: it is merged as by server-side apply, but nobody owns it.

use serde_json::Value;

use super::types::{Shape, Type};
use super::{check, merge};
use crate::path::below;
use crate::schema;
use crate::target::Target;

/// The object with what a policy applies to it.
///
/// # Errors
///
/// What is wrong with what is applied, in a real server's words.
pub(crate) fn merged_by_policy(target: &Target, live: Value, applied: &Value) -> Result<Value, String> {
    let text = |name: &str| live[name].as_str().unwrap_or("");
    let (group, version) = text("apiVersion")
        .split_once('/')
        .unwrap_or(("", text("apiVersion")));
    // A subresource may have a kind of its own.
    let schema = match target.resource.custom && text("kind") == target.resource.kind {
        true => target.resource.schema(version),
        false => schema::of_kind(group, version, text("kind")).map(|found| found.schema().clone()),
    };
    let ty = Type::of(schema.as_deref());
    match &check::faults(applied, ty)[..] {
        [] => {}
        [fault] => return Err(format!("failed to convert patch object to typed object: {fault}")),
        faults => {
            let faults = faults.join("\n  ");
            return Err(format!(
                "failed to convert patch object to typed object: errors:\n  {faults}"
            ));
        }
    }
    let mut atomic = Vec::new();
    find_atomic(applied, ty, "", &mut atomic);
    match atomic.is_empty() {
        true => Ok(merge::merge(live, applied, ty)),
        false => Err(format!(
            "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {}",
            atomic.join(", ")
        )),
    }
}

/// The places of objects and lists that can only be replaced as a whole.
fn find_atomic(value: &Value, ty: Type<'_>, path: &str, found: &mut Vec<String>) {
    let nested = value.is_object() || value.is_array();
    if nested && ty.is_atomic() {
        found.push(path.to_owned());
    }
    match (ty.shape(value), value) {
        (Shape::Map(of), Value::Object(members)) => {
            for (name, value) in members.iter().filter(|(name, _)| of.declares(name)) {
                find_atomic(value, of.any(name), &below(path, format_args!(".{name}")), found);
            }
        }
        (Shape::List(of), Value::Array(items)) => {
            for (at, item) in items.iter().enumerate() {
                find_atomic(item, of.item(), &below(path, format_args!("[{at}]")), found);
            }
        }
        _ => {}
    }
}
