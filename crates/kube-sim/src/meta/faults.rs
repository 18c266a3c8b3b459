//! What is wrong with metadata: that of an object, or of one within it. All of it is said, in the order and the words of a real server,
//! as far as there is room.

use serde_json::Value;

use super::{Object, text};
use crate::names::{annotation_faults, label_faults, label_key_faults};
use crate::status::{Cause, Told, quoted};

/// How many bytes the name of a field manager may have.
pub(crate) const MAX_MANAGER: usize = 128;

/// The most bytes of the name of a subresource.
const MAX_SUBRESOURCE: usize = 256;

/// A generation is not negative.
pub(crate) fn of_generation(metadata: &Object, path: &str) -> Option<Cause> {
    let generation = metadata.get("generation").and_then(Value::as_i64);
    let negative = generation.filter(|generation| *generation < 0)?;
    let why = "must be greater than or equal to 0";
    Some(Cause::invalid(format!("{path}.generation"), negative, why))
}

/// Labels and annotations have keys of a form, and labels values of one.
pub(crate) fn of_labels(metadata: &Object, path: &str, causes: &mut Told) {
    let texts = |field: &str| {
        let texts = metadata.get(field).and_then(Value::as_object);
        texts.map(|texts| (texts, format!("{path}.{field}")))
    };
    if let Some((labels, path)) = texts("labels") {
        causes.extend(label_faults(labels, &path));
    }
    if let Some((annotations, path)) = texts("annotations") {
        causes.extend(annotation_faults(annotations, &path));
    }
}

/// Owners are named in full, are no events, and at most one of them controls the object.
pub(crate) fn of_owners(metadata: &Object, path: &str, causes: &mut Told) {
    let Some(owners) = metadata.get("ownerReferences").and_then(Value::as_array) else {
        return;
    };
    let path = format!("{path}.ownerReferences");
    let mut controller: Option<String> = None;
    let mut shown_owners: Option<String> = None;
    for owner in owners {
        if causes.is_full() {
            return;
        }
        of_owner(owner, &path, causes);
        if owner["controller"] == true {
            let text = |field: &str| owner[field].as_str().unwrap_or("");
            let this = format!("{}/{}", text("kind"), text("name"));
            match &controller {
                None => controller = Some(this),
                Some(first) => {
                    let shown = shown_owners.get_or_insert_with(|| {
                        let shown: Vec<_> = owners.iter().map(shown_owner).collect();
                        format!("[{}]", shown.join(","))
                    });
                    let why = format!(
                        "Only one reference can have Controller set to true. Found \"true\" in references for {first} \
                         and {this}"
                    );
                    causes.push(Cause::invalid(path.clone(), shown.clone(), &why));
                }
            }
        }
    }
}

fn of_owner(owner: &Value, path: &str, causes: &mut Told) {
    let text = |field: &str| owner[field].as_str().unwrap_or("");
    let api_version = text("apiVersion");
    let (group, version) = match api_version.split_once('/') {
        None => ("", api_version),
        // That is no version.
        Some((_, version)) if version.contains('/') => ("", ""),
        Some(both) => both,
    };
    for (field, value, why) in [
        ("apiVersion", version, "version must not be empty"),
        ("kind", text("kind"), "must not be empty"),
        ("name", text("name"), "must not be empty"),
        ("uid", text("uid"), "must not be empty"),
    ] {
        if value.is_empty() {
            let shown = quoted(text(field));
            causes.push(Cause::invalid(format!("{path}.{field}"), shown, why));
        }
    }
    if text("kind") == "Event" && matches!((group, version), ("", "v1") | ("events.k8s.io", "v1" | "v1beta1"))
    {
        let why = format!("{group}/{version}, Kind=Event is disallowed from being an owner");
        causes.push(Cause::invalid(path.to_owned(), shown_owner(owner), &why));
    }
}

/// A reference as a real server shows it: its members in the order of the Go type.
fn shown_owner(owner: &Value) -> String {
    const ORDER: [&str; 6] = [
        "apiVersion",
        "kind",
        "name",
        "uid",
        "controller",
        "blockOwnerDeletion",
    ];
    let members = ORDER.iter().filter(|name| !owner[**name].is_null());
    let members: Vec<_> = members
        .map(|name| format!("\"{name}\":{}", owner[*name]))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// Finalizers are names as those of labels; what depends on an object is either left or deleted.
pub(crate) fn of_finalizers(metadata: &Object, path: &str, causes: &mut Told) {
    let Some(all) = metadata.get("finalizers").and_then(Value::as_array) else {
        return;
    };
    let path = format!("{path}.finalizers");
    for finalizer in all.iter().filter_map(Value::as_str) {
        if causes.is_full() {
            return;
        }
        let faults = label_key_faults(finalizer);
        let invalid = |fault: &String| Cause::invalid(path.clone(), quoted(finalizer), fault);
        causes.extend(faults.iter().map(invalid));
    }
    if ["orphan", "foregroundDeletion"]
        .into_iter()
        .all(|name| all.iter().any(|finalizer| finalizer == name))
    {
        let shown: Vec<_> = all.iter().filter_map(Value::as_str).map(quoted).collect();
        let shown = format!("[{}]", shown.join(","));
        let why = "finalizer orphan and foregroundDeletion cannot be both set";
        causes.push(Cause::invalid(path, shown, why));
    }
}

/// The names of managers and subresources have an end, and what managers do has a name.
pub(crate) fn of_managers(metadata: &Object, path: &str, causes: &mut Told) {
    let entries = metadata.get("managedFields").and_then(Value::as_array);
    for (at, entry) in entries.into_iter().flatten().enumerate() {
        if causes.is_full() {
            return;
        }
        let field = |name: &str| format!("{path}.managedFields[{at}].{name}");
        let text = |name: &str| entry[name].as_str().unwrap_or("");
        if !matches!(text("operation"), "Apply" | "Update") {
            let why = "must be `Apply` or `Update`";
            causes.push(Cause::invalid(field("operation"), quoted(text("operation")), why));
        }
        if !matches!(text("fieldsType"), "" | "FieldsV1") {
            let shown = quoted(text("fieldsType"));
            causes.push(Cause::invalid(field("fieldsType"), shown, "must be `FieldsV1`"));
        }
        of_manager(text("manager"), &field("manager"), causes);
        if text("subresource").len() > MAX_SUBRESOURCE {
            causes.push(Cause::too_long(field("subresource"), MAX_SUBRESOURCE));
        }
    }
}

/// What is wrong with the name of a manager, which is in a field.
pub(crate) fn of_manager(name: &str, field: &str, causes: &mut Told) {
    if name.len() > MAX_MANAGER {
        causes.push(Cause::too_long(field.to_owned(), MAX_MANAGER));
    }
    let shown = quoted(name);
    let control = name.char_indices().filter(|(_, c)| c.is_control());
    causes.extend(control.map(|(at, c)| {
        let why = format!("invalid character U+{:04X} (at position {at})", u32::from(c));
        Cause::invalid(field.to_owned(), shown.clone(), &why)
    }));
}

/// Everything that is wrong with metadata but for the names in it.
pub(crate) fn of_rest(metadata: &Object, path: &str, causes: &mut Told) {
    causes.extend(of_generation(metadata, path));
    of_labels(metadata, path, causes);
    of_owners(metadata, path, causes);
    of_finalizers(metadata, path, causes);
    of_managers(metadata, path, causes);
}

/// What is wrong with a name, by the rules of its place.
pub(crate) fn of_name(
    metadata: &Object,
    name: &str,
    path: &str,
    rules: fn(&str) -> Vec<&'static str>,
) -> Vec<Cause> {
    let given = text(metadata, name);
    if given.is_empty() {
        return Vec::new();
    }
    let faults = rules(given).into_iter();
    let invalid = |fault| Cause::invalid(format!("{path}.{name}"), quoted(given), fault);
    faults.map(invalid).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_body_of_faults_is_not_answered_with_many_times_its_size() {
        let owners = vec![
            json!({"kind": "A", "name": "b", "uid": "c", "apiVersion": "v1", "controller": true});
            20_000
        ];
        let metadata = json!({"ownerReferences": owners});
        let manager = "\u{1}".repeat(100_000);
        let mut causes = [Told::default(), Told::default()];
        of_owners(metadata.as_object().unwrap(), "metadata", &mut causes[0]);
        of_manager(&manager, "manager", &mut causes[1]);
        for causes in causes {
            let told: usize = causes.into_vec().iter().map(|cause| cause.message.len()).sum();
            assert!((1..16 << 20).contains(&told), "{told}");
        }
    }

    #[test]
    fn many_managers_of_faults_share_the_room() {
        let entry = json!({"operation": "Update", "manager": "\u{7f}".repeat(2_000)});
        let metadata = json!({"managedFields": vec![entry; 100]});
        let mut causes = Told::default();
        of_managers(metadata.as_object().unwrap(), "metadata", &mut causes);
        let told: usize = causes.into_vec().iter().map(|cause| cause.message.len()).sum();
        assert!(told < 16 << 20, "{told}");
    }
}
