//! What Go writes otherwise than it was given because it is empty. It leaves out a list or a map without items, `false`, 0 and `""` where
//! a field is no pointer, and makes a struct without fields of a null. Who compares what is stored with what was sent must see that.

use serde_json::{Map, Value};

use super::{Additional, Definition, Node, Schema, Type, builtin, canonical};

/// The fields that Go writes even if they are empty, though nobody must give them: their tags lack `omitempty`. And those that
/// validation refuses if they are empty, but not if they are not there.
const WRITTEN: &[(&str, &str)] = &[
    ("io.k8s.api.authentication.v1.TokenRequestSpec", "audiences"),
    (
        "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerStatus",
        "currentMetrics",
    ),
    ("io.k8s.api.autoscaling.v2.HPAScalingRules", "policies"),
    ("io.k8s.api.core.v1.ContainerImage", "names"),
    ("io.k8s.api.core.v1.ProjectedVolumeSource", "sources"),
    ("io.k8s.api.discovery.v1.EndpointSlice", "endpoints"),
    ("io.k8s.api.discovery.v1.EndpointSlice", "ports"),
    ("io.k8s.api.flowcontrol.v1.ResourcePolicyRule", "namespaces"),
    ("io.k8s.api.rbac.v1.ClusterRole", "rules"),
    ("io.k8s.api.rbac.v1.Role", "rules"),
    ("io.k8s.api.resource.v1.AllocatedDeviceStatus", "conditions"),
    ("io.k8s.api.resource.v1.DeviceClaim", "requests"),
    ("io.k8s.api.storage.v1.CSINodeDriver", "topologyKeys"),
    (
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus",
        "conditions",
    ),
    (
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus",
        "storedVersions",
    ),
];

/// Gives the keys of maps whose values are null what Go has without a value: it reads the key all the same.
pub(super) fn in_maps(object: &mut Map<String, Value>, schema: &Schema) {
    for (name, value) in object {
        match (schema.properties.get(name), &schema.additional) {
            (None, Additional::Values(node)) if value.is_null() => {
                if let Some(zero) = zero(node) {
                    *value = zero.into();
                }
            }
            (Some(node), _) | (None, Additional::Values(node)) => in_maps_of(value, node.get()),
            _ => {}
        }
    }
}

fn in_maps_of(value: &mut Value, schema: &Schema) {
    match (value, &schema.items) {
        (Value::Object(object), _) => in_maps(object, schema),
        (Value::Array(items), Some(node)) => {
            items.iter_mut().for_each(|item| in_maps_of(item, node.get()));
        }
        _ => {}
    }
}

/// What Go has of a type without a value, of those types that are scalars in JSON.
fn zero(node: &Node) -> Option<&'static str> {
    match canonical::type_of(node) {
        Some("Quantity") => Some("0"),
        _ => (node.get().kind == Some(Type::String)).then_some(""),
    }
}

/// Writes what is empty in an object of a built-in kind as Go does. Lists and maps of the object's own metadata stay as they were sent:
/// an empty list of `managedFields` there says something.
pub(super) fn leave_out(object: &mut Map<String, Value>, definition: &'static Definition) {
    let metadata = object.remove("metadata");
    in_members(object, Some(definition), definition.schema());
    if let Some(mut metadata) = metadata {
        in_metadata(&mut metadata);
        object.insert("metadata".into(), metadata);
    }
}

/// Leaves out the empty texts and numbers of an object's metadata.
pub(super) fn in_metadata(metadata: &mut Value) {
    if let (Value::Object(members), Some(definition)) = (metadata, builtin::named(builtin::METADATA)) {
        members.retain(|name, value| !(is_zero(value) && definition.omits_zero(name)));
    }
}

fn in_members(object: &mut Map<String, Value>, definition: Option<&Definition>, schema: &Schema) {
    let is_written = |field: &str| {
        let is_listed = |definition: &Definition| WRITTEN.contains(&(definition.name, field));
        schema.required.iter().any(|name| name == field) || definition.is_some_and(is_listed)
    };
    object.retain(
        |name, value| match (schema.properties.get(name), &schema.additional) {
            (Some(node), _) => {
                in_value(value, node);
                let omits = || definition.is_some_and(|definition| definition.omits_zero(name));
                (!is_empty(value, node.get()) || is_written(name)) && !(is_zero(value) && omits())
            }
            (None, Additional::Values(node)) => {
                in_value(value, node);
                true
            }
            _ => true,
        },
    );
}

fn in_value(value: &mut Value, node: &Node) {
    let is_struct = || {
        let default = node.default().and_then(Value::as_object);
        default.is_some_and(Map::is_empty)
    };
    let definition = match node {
        Node::There { definition, .. } => Some(*definition),
        Node::Here(_) => None,
    };
    match (&mut *value, &node.get().items) {
        (Value::Null, _) if is_struct() => *value = Value::Object(Map::new()),
        (Value::Object(object), _) => in_members(object, definition, node.get()),
        (Value::Array(items), Some(node)) => items.iter_mut().for_each(|item| in_value(item, node)),
        _ => {}
    }
}

/// Whether a scalar is what Go has without a value.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

fn is_empty(value: &Value, schema: &Schema) -> bool {
    match value {
        Value::Array(items) => items.is_empty() && schema.items.is_some(),
        Value::Object(members) => {
            let is_map = matches!(schema.additional, Additional::Values(_));
            members.is_empty() && is_map
        }
        _ => false,
    }
}
