//! What may stay invalid because it has not changed (KEP-4008).

use std::collections::HashMap;
use std::ptr;

use serde_json::Value;

use super::{Additional, ListType, Node, Schema, lists};

/// The values of an object that are, or are not, what they were. Each is compared at most once, and only if somebody asks.
#[derive(Default)]
pub(super) struct Unchanged(HashMap<*const Value, bool>);

impl Unchanged {
    /// Whether a value is what it was. The items of a list that is a map may have changed their places. What has members without a
    /// schema counts as changed, as in a real server.
    pub(super) fn holds(&mut self, value: &Value, old: &Value, schema: &Schema) -> bool {
        let address = ptr::from_ref(value);
        if let Some(known) = self.0.get(&address) {
            return *known;
        }
        let holds = self.compare(value, old, schema);
        self.0.insert(address, holds);
        holds
    }

    fn compare(&mut self, value: &Value, old: &Value, schema: &Schema) -> bool {
        match (value, old) {
            (Value::Array(items), Value::Array(before)) if schema.list_type == ListType::Map => {
                let old_items = lists::OldItems::of(Some(old), schema);
                let mut is_same = |item: &Value| match (old_items.get(item), &schema.items) {
                    (Some(old), Some(Node::Here(node))) => self.holds(item, old, node),
                    _ => false,
                };
                items.len() == before.len() && items.iter().all(&mut is_same)
            }
            (Value::Object(members), Value::Object(before)) => {
                let mut is_same = |(name, value): (&String, &Value)| {
                    let node = match (schema.properties.get(name), &schema.additional) {
                        (Some(Node::Here(node)), _) | (None, Additional::Values(Node::Here(node))) => node,
                        _ => return false,
                    };
                    before.get(name).is_some_and(|old| self.holds(value, old, node))
                };
                members.len() == before.len() && members.iter().all(&mut is_same)
            }
            _ => value == old,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;
    use crate::schema::validate_object;

    fn causes(schema: &Schema, old: Value, new: Value) -> usize {
        let object = |value: Value| match value {
            Value::Object(object) => object,
            _ => Map::new(),
        };
        validate_object(schema, Some(&object(old)), &object(new), None).len()
    }

    #[test]
    fn the_order_of_a_map_is_no_change_of_it() {
        let schema = Schema::parse(&json!({
            "type": "object",
            "properties": {"list": {
                "type": "array", "maxItems": 1, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}},
            }},
        }));
        let [a, b] = ["a", "b"].map(|key| json!({"k": key, "v": 1}));
        let old = json!([a, b]);
        for (new, told) in [
            (json!([a, b]), 0),
            (json!([b, a]), 0),
            (json!([b, {"k": "a", "v": 2}]), 1),
            (json!([b, {"k": "c", "v": 1}]), 1),
            (json!([b, a, {"k": "c"}]), 1),
        ] {
            let told_of = causes(&schema, json!({"list": old}), json!({"list": new}));
            assert_eq!(told_of, told, "{new}");
        }
    }

    #[test]
    fn members_without_a_schema_count_as_changed() {
        let part = json!({"type": "object", "required": ["a"], "x-kubernetes-preserve-unknown-fields": true, "properties": {"a": {}, "b": {}}});
        let of = |part: &Value| json!({"type": "object", "properties": {"part": part}});
        let schema = Schema::parse(&of(&part));
        let known = json!({"part": {"b": 1}});
        assert_eq!(causes(&schema, known.clone(), known), 0);
        let unknown = json!({"part": {"b": 1, "c": 1}});
        assert_eq!(causes(&schema, unknown.clone(), unknown), 1);
        let map = json!({"type": "object", "maxProperties": 1, "additionalProperties": {"type": "integer"}});
        let schema = Schema::parse(&of(&map));
        let pair = json!({"part": {"a": 1, "b": 1}});
        assert_eq!(causes(&schema, pair.clone(), pair), 0);
    }

    #[test]
    fn the_kind_of_an_object_may_not_stay_wrong() {
        let schema = Schema::parse(&json!({
            "type": "object", "properties": {"kind": {"type": "string", "enum": ["A"]}, "spec": {"type": "string", "enum": ["a"]}},
        }));
        let object = json!({"kind": "B", "spec": "b"});
        let changed = json!({"kind": "B", "spec": "b", "metadata": {"name": "a"}});
        assert_eq!(causes(&schema, object, changed), 1);
    }
}
