//! Quantities, each in the shortest form in which Kubernetes writes it.

use serde_json::{Map, Value};

use super::{Additional, Node, Schema};
use crate::quantity::Amount;

/// The definition of a quantity.
const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";

/// Writes the quantities of an object as a server does that has read them: `1000m` is `1`, and so is a number.
pub(crate) fn shorten(object: &mut Map<String, Value>, schema: &Schema) {
    for (name, value) in object {
        match (schema.properties.get(name), &schema.additional) {
            (Some(node), _) | (None, Additional::Values(node)) => shorten_in(value, node),
            _ => {}
        }
    }
}

fn shorten_in(value: &mut Value, node: &Node) {
    match (&mut *value, node) {
        (_, Node::There { definition, .. }) if definition.name == QUANTITY => {
            if let Some(amount) = Amount::read(value) {
                *value = amount.to_string().into();
            }
        }
        (Value::Object(object), _) => shorten(object, node.get()),
        (Value::Array(items), _) => {
            if let Some(node) = &node.get().items {
                items.iter_mut().for_each(|item| shorten_in(item, node));
            }
        }
        _ => {}
    }
}
