//! What a pod's containers may use, changed while they run, by the subresource `resize`.

use serde_json::{Map, Value};

use super::{Object, fill_in};
use crate::resources::Resource;
use crate::specs;
use crate::status::{Cause, StatusError};

const MUTABLE: [&str; 2] = ["cpu", "memory"];

/// Makes a pod the old one with the resources of the new one.
pub(super) fn keep_all_but_resources(old: &Object, new: &mut Object) {
    let given = new.remove("spec").unwrap_or_default();
    *new = old.clone();
    let Some(Value::Object(spec)) = new.get_mut("spec") else {
        return;
    };
    put(spec, "resources", &given);
    for list in ["containers", "initContainers"] {
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let given = given[list].as_array().into_iter().flatten();
            let given = given.into_iter().find(|given| given["name"] == container["name"]);
            if let (Some(given), Value::Object(container)) = (given, container) {
                put(container, "resources", given);
                put(container, "resizePolicy", given);
            }
        }
    }
}

fn put(into: &mut Map<String, Value>, name: &str, from: &Value) {
    match from.get(name) {
        Some(value) => into.insert(name.to_owned(), value.clone()),
        None => into.remove(name),
    };
}

/// What may be in the way of a change; `new` may have more than resources that are others.
pub(super) fn check(resource: &Resource, name: &str, old: &Object, new: &Object) -> Result<(), StatusError> {
    let count = |object: &Object, list: &str| containers(object, list).len();
    for list in ["containers", "initContainers"] {
        if count(old, list) != count(new, list) {
            let why = "containers may not be added or removed on resize";
            let cause = Cause::forbidden(format!("spec.{list}"), why);
            return Err(StatusError::invalid("", "Pod", name, &[cause]));
        }
    }
    let mut resized = new.clone();
    // What is not requested is what the limit is.
    fill_in(resource, &mut resized);
    keep_all_but_resources(old, &mut resized);
    let mut causes = specs::added_causes(resource, old, &resized);
    let class = |pod: &Object| specs::quality_of_service(pod);
    if class(old) != class(&resized) {
        let why = "Pod QOS Class may not change as a result of resizing";
        causes.push(Cause::invalid("spec", format_args!("{:?}", class(old)), why));
    }
    let resources = |object: &Object| object.get("spec").map(|spec| spec["resources"].clone());
    if resources(old).is_some_and(|old| old.is_object())
        && resources(&resized).is_none_or(|new| new.is_null())
    {
        let why = "pod-level resources cannot be removed";
        causes.push(Cause::forbidden("spec.resources", why));
    }
    let mut changes_others = false;
    for list in ["containers", "initContainers"] {
        for (n, (before, after)) in containers(old, list)
            .iter()
            .zip(containers(&resized, list))
            .enumerate()
        {
            for of in ["requests", "limits"] {
                let (before, after) = (&before["resources"][of], &after["resources"][of]);
                if is_any_missing(before, after) {
                    let why = format!("resource {of} cannot be removed");
                    let field = format!("spec.{list}[{n}].resources.{of}");
                    causes.push(Cause::forbidden(field, &why));
                }
                changes_others |= others(before) != others(after);
            }
            changes_others |= before["resources"]["claims"] != after["resources"]["claims"];
            changes_others |= before["resizePolicy"] != after["resizePolicy"];
        }
    }
    if changes_others {
        let why = "only cpu and memory resources are mutable";
        causes.push(Cause::forbidden("spec", why));
    }
    match causes.is_empty() {
        true => Ok(()),
        false => Err(StatusError::invalid("", "Pod", name, &causes)),
    }
}

fn containers<'a>(pod: &'a Object, list: &str) -> &'a [Value] {
    let containers = pod.get("spec").and_then(|spec| spec[list].as_array());
    containers.map_or(&[], Vec::as_slice)
}

fn is_any_missing(before: &Value, after: &Value) -> bool {
    MUTABLE
        .iter()
        .any(|resource| before.get(resource).is_some() && after.get(resource).is_none())
}

/// The quantities that nobody can change while a container runs.
fn others(quantities: &Value) -> Vec<(&String, &Value)> {
    let all = quantities.as_object().into_iter().flatten();
    all.filter(|(name, _)| !MUTABLE.contains(&name.as_str()))
        .collect()
}
