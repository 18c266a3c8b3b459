//! `managedFields`: the fields that a manager has set, derived from the fields themselves.

use serde_json::{Map, Value, json};

/// The entry of one manager that has set these fields of the object.
pub(super) fn entry(
    manager: &str,
    subresource: Option<&str>,
    time: &str,
    object: &Value,
    fields: &[&str],
    metadata: &[&str],
) -> Value {
    let mut set = Map::new();
    if !metadata.is_empty() {
        let members = metadata.iter().map(|name| (*name, &object["metadata"][*name]));
        set.insert("f:metadata".into(), members_set(members, false));
    }
    for name in fields {
        set.insert(format!("f:{name}"), set_of(&object[*name], false));
    }
    let mut entry = json!({
        "manager": manager,
        "operation": "Update",
        "apiVersion": "v1",
        "time": time,
        "fieldsType": "FieldsV1",
    });
    entry["fieldsV1"] = Value::Object(set);
    if let Some(subresource) = subresource {
        entry["subresource"] = subresource.into();
    }
    entry
}

const WHOLE: [&str; 10] = [
    "securityContext",
    "resources",
    "valueFrom",
    "user",
    "httpGet",
    "projected",
    "lifecycle",
    "configMap",
    "startupProbe",
    "livenessProbe",
];

/// `within` a map or list element, the set also contains the element itself, as ".".
fn set_of(fields: &Value, within: bool) -> Value {
    members_set(
        fields
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.as_str(), value)),
        within,
    )
}

fn members_set<'a>(members: impl Iterator<Item = (&'a str, &'a Value)>, within: bool) -> Value {
    let mut set = Map::new();
    if within {
        set.insert(".".into(), json!({}));
    }
    for (name, value) in members.filter(|(_, value)| !value.is_null()) {
        let member = match value {
            // Taken as set as a whole, which gives the sizes of real pods.
            Value::Object(_) if WHOLE.contains(&name) => json!({}),
            Value::Object(members) => set_of(
                value,
                !matches!(name, "metadata" | "spec" | "status") && !members.is_empty(),
            ),
            Value::Array(items) => list_set(name, items),
            _ => json!({}),
        };
        set.insert(format!("f:{name}"), member);
    }
    Value::Object(set)
}

fn list_set(name: &str, items: &[Value]) -> Value {
    let keys: &[&str] = match name {
        "containers" | "volumes" | "env" => &["name"],
        "ports" => &["containerPort", "protocol"],
        "volumeMounts" => &["mountPath"],
        "conditions" => &["type"],
        "ownerReferences" => &["uid"],
        "podIPs" | "hostIPs" => &["ip"],
        _ => return json!({}),
    };
    let mut set = Map::new();
    set.insert(".".into(), json!({}));
    for item in items {
        let key: Map<_, _> = keys
            .iter()
            .map(|key| (key.to_string(), item[*key].clone()))
            .collect();
        set.insert(format!("k:{}", Value::Object(key)), set_of(item, true));
    }
    Value::Object(set)
}
