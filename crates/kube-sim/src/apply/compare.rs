//! Which fields an object has, and in which two states of it differ.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::fields::{FieldSet, Node, Step};
use super::types::{Items, Members, Shape, Type};
use crate::meta::Object;
use crate::number;

/// The fields of an object that is applied: what it sets, and items of lists, but no objects and lists for what is in them.
pub(super) fn fields_of(value: &Value, ty: Type<'_>) -> FieldSet {
    node_of(value, ty).below
}

fn node_of(value: &Value, ty: Type<'_>) -> Node {
    let mut node = Node::default();
    match (ty.shape(value), value) {
        (Shape::Map(members), Value::Object(object)) => {
            for (name, value) in object {
                let mut below = node_of(value, members.any(name));
                let is_empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
                below.is_member |= is_empty || !members.declares(name);
                node.below.put(Step::Field(name.clone()), below);
            }
        }
        (Shape::List(items), Value::Array(list)) => {
            for (step, item) in items.steps(list) {
                // Items that nothing tells apart are owned together.
                let below = match node.below.get(&step) {
                    Some(_) => FieldSet::default(),
                    None => node_of(item, items.item()).below,
                };
                let is_member = true;
                node.below.put(step, Node { is_member, below });
            }
        }
        (Shape::Map(_) | Shape::List(_), _) => {}
        (Shape::Leaf, _) => node.is_member = true,
    }
    node
}

/// All fields of a value that comes or goes, itself included.
fn whole(value: &Value, ty: Type<'_>) -> Node {
    let mut node = Node::member();
    match (ty.shape(value), value) {
        (Shape::Map(members), Value::Object(object)) => {
            for (name, value) in object {
                if let Some(ty) = members.get(name) {
                    node.below.put(Step::Field(name.clone()), whole(value, ty));
                }
            }
        }
        (Shape::List(items), Value::Array(list)) => {
            for (step, item) in items.steps(list) {
                let item = match node.below.get(&step) {
                    Some(_) => Node::member(),
                    None => whole(item, items.item()),
                };
                node.below.put(step, item);
            }
        }
        _ => {}
    }
    node
}

/// In which fields two states of an object differ.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Comparison {
    pub(super) added: FieldSet,
    pub(super) modified: FieldSet,
    pub(super) removed: FieldSet,
}

impl Comparison {
    /// Compares `old` with `new`. What `base` has, both have, if only as it is there.
    pub(super) fn of(old: &Object, new: &Object, base: &Object, ty: Type<'_>) -> Self {
        let nodes = match ty.shape(&Value::Null) {
            Shape::Map(members) => Nodes::of_maps(old, new, Some(base), members),
            _ => Nodes::default(),
        };
        Self {
            added: nodes.added.below,
            modified: nodes.modified.below,
            removed: nodes.removed.below,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.modified.is_empty() && self.removed.is_empty()
    }

    /// Leaves out these fields.
    pub(super) fn without(self, fields: &FieldSet) -> Self {
        Self {
            added: self.added.difference(fields),
            modified: self.modified.difference(fields),
            removed: self.removed.difference(fields),
        }
    }

    /// Leaves out these fields and what is below them.
    pub(super) fn without_all(self, fields: &FieldSet) -> Self {
        Self {
            added: self.added.recursive_difference(fields),
            modified: self.modified.recursive_difference(fields),
            removed: self.removed.recursive_difference(fields),
        }
    }
}

/// The comparison of one value with another.
#[derive(Debug, Default)]
struct Nodes {
    added: Node,
    modified: Node,
    removed: Node,
}

impl Nodes {
    fn modified() -> Self {
        Self {
            modified: Node::member(),
            ..Self::default()
        }
    }

    fn of(old: Option<&Value>, new: Option<&Value>, base: Option<&Value>, ty: Type<'_>) -> Self {
        match (old.or(base), new.or(base)) {
            (Some(old), Some(new)) => Self::of_both(old, new, base, ty),
            (None, Some(new)) => Self {
                added: whole(new, ty),
                ..Self::default()
            },
            (Some(old), None) => Self {
                removed: whole(old, ty),
                ..Self::default()
            },
            (None, None) => Self::default(),
        }
    }

    fn of_both(old: &Value, new: &Value, base: Option<&Value>, ty: Type<'_>) -> Self {
        if is_scalar(old) && is_scalar(new) {
            return if number::are_equal(old, new) {
                Self::default()
            } else {
                Self::modified()
            };
        }
        // Null can be anything that the other value is.
        let [old_shape, new_shape] = [(old, new), (new, old)].map(|(one, other)| match one {
            Value::Null => ty.shape(other),
            value => ty.shape(value),
        });
        match (old_shape, new_shape) {
            _ if is_nothing(old) && is_nothing(new) => {
                if old == new {
                    Self::default()
                } else {
                    Self::modified()
                }
            }
            (Shape::Map(members), Shape::Map(_)) => {
                let empty = Map::new();
                let [old, new] = [old, new].map(|value| value.as_object().unwrap_or(&empty));
                Self::of_maps(old, new, base.and_then(Value::as_object), members)
            }
            (Shape::List(items), Shape::List(_)) => Self::of_lists(old, new, items),
            (Shape::Leaf, Shape::Leaf) if old == new => Self::default(),
            (Shape::Leaf, Shape::Leaf) => Self::modified(),
            // Another shape takes the place of the one before.
            _ => {
                let below = |value| Node {
                    is_member: false,
                    below: whole(value, ty).below,
                };
                Self {
                    added: below(new),
                    modified: Node::member(),
                    removed: below(old),
                }
            }
        }
    }

    fn of_maps(old: &Object, new: &Object, base: Option<&Object>, members: Members<'_>) -> Self {
        let mut nodes = Self::default();
        let only_new = new.keys().filter(|name| !old.contains_key(*name));
        for name in old.keys().chain(only_new) {
            // A real server drops fields that the schema does not have.
            let Some(ty) = members.get(name) else {
                continue;
            };
            let base = base.and_then(|base| base.get(name));
            let found = Self::of(old.get(name), new.get(name), base, ty);
            nodes.put(|| Step::Field(name.clone()), found);
        }
        nodes
    }

    fn of_lists(old: &Value, new: &Value, items: Items<'_>) -> Self {
        let mut nodes = Self::default();
        if old == new {
            return nodes;
        }
        let mut by_step: BTreeMap<Step, [Vec<&Value>; 2]> = BTreeMap::new();
        for (side, list) in [old, new].into_iter().enumerate() {
            for (step, item) in items.steps(list.as_array().map_or(&[], Vec::as_slice)) {
                by_step.entry(step).or_default()[side].push(item);
            }
        }
        let item = items.item();
        for (step, [old, new]) in by_step {
            let found = match (&old[..], &new[..]) {
                ([] | [_], [] | [_]) => Self::of(old.first().copied(), new.first().copied(), None, item),
                // Items that nothing tells apart are compared as one.
                ([_, _, ..], [_, _, ..]) if old == new => Self::default(),
                ([_, _, ..], [_, _, ..]) => Self::modified(),
                ([_, _, ..], _) => Self {
                    removed: Node::member(),
                    ..Self::of(None, new.first().copied(), None, item)
                },
                (_, _) => Self {
                    added: Node::member(),
                    ..Self::of(old.first().copied(), None, None, item)
                },
            };
            nodes.put(|| step.clone(), found);
        }
        nodes
    }

    fn put(&mut self, step: impl Fn() -> Step, found: Self) {
        for (into, node) in [
            (&mut self.added, found.added),
            (&mut self.modified, found.modified),
            (&mut self.removed, found.removed),
        ] {
            if !node.is_empty() {
                into.below.put(step(), node);
            }
        }
    }
}

fn is_scalar(value: &Value) -> bool {
    matches!(value, Value::Bool(_) | Value::Number(_) | Value::String(_))
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::Schema;

    fn schema() -> Schema {
        let strings = json!({"type": "string"});
        Schema::parse(&json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "n": {"type": "integer"},
                "set": {"type": "array", "x-kubernetes-list-type": "set", "items": strings},
                "keyed": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {
                    "type": "object", "properties": {"name": strings, "value": strings},
                }},
                "atomic": {"type": "array", "items": strings},
                "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": strings},
                "map": {"type": "object", "additionalProperties": strings},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            }},
        }}))
    }

    fn object(spec: Value) -> Value {
        json!({"spec": spec})
    }

    #[test]
    fn what_is_applied_is_owned_without_what_holds_it() {
        let applied = object(json!({
            "n": 1, "set": ["a", "b"], "keyed": [{"name": "x", "value": "y"}], "atomic": ["a"], "whole": {"a": "b"},
            "map": {"a": "b"}, "free": {"a": {"b": [1]}, "c": {}},
        }));
        let schema = schema();
        let fields = fields_of(&applied, Type::of(Some(&schema)));
        assert_eq!(
            fields.to_json(),
            json!({"f:spec": {
                "f:n": {}, "f:set": {"v:\"a\"": {}, "v:\"b\"": {}},
                "f:keyed": {"k:{\"name\":\"x\"}": {".": {}, "f:name": {}, "f:value": {}}},
                "f:atomic": {}, "f:whole": {}, "f:map": {"f:a": {}},
                "f:free": {"f:a": {".": {}, "f:b": {}}, "f:c": {}},
            }})
        );
    }

    fn compared(old: Value, new: Value, base: Value) -> [Value; 3] {
        let schema = schema();
        let [old, new, base] = [old, new, base].map(|value| match value {
            Value::Object(object) => object,
            _ => Map::new(),
        });
        let comparison = Comparison::of(&old, &new, &base, Type::of(Some(&schema)));
        [comparison.added, comparison.modified, comparison.removed].map(|set| set.to_json())
    }

    #[test]
    fn states_differ_in_leaves_items_and_what_comes_and_goes() {
        let old = json!({"n": 1, "set": ["a"], "keyed": [{"name": "x", "value": "1"}], "map": {"a": "1"}, "atomic": ["a"]});
        let new = json!({"n": 2, "set": ["b"], "keyed": [{"name": "y"}, {"name": "x", "value": "2"}], "atomic": ["a"], "whole": {"a": "b"}});
        let [added, modified, removed] = compared(object(old.clone()), object(new), json!({}));
        let keyed = json!({"k:{\"name\":\"y\"}": {".": {}, "f:name": {}}});
        assert_eq!(
            added,
            json!({"f:spec": {"f:set": {"v:\"b\"": {}}, "f:keyed": keyed, "f:whole": {}}})
        );
        assert_eq!(
            modified,
            json!({"f:spec": {"f:n": {}, "f:keyed": {"k:{\"name\":\"x\"}": {"f:value": {}}}}})
        );
        assert_eq!(
            removed,
            json!({"f:spec": {"f:set": {"v:\"a\"": {}}, "f:map": {".": {}, "f:a": {}}}})
        );
        // What comes whole has its parents, unless they are there from the start.
        let all = json!({"f:n": {}});
        let with = |all: &Value| json!({"f:spec": all});
        let n = object(json!({"n": 1}));
        assert_eq!(compared(json!({}), n.clone(), object(json!({})))[0], with(&all));
        assert_eq!(
            compared(json!({}), n, json!({}))[0],
            json!({"f:spec": {".": {}, "f:n": {}}})
        );
        assert_eq!(
            compared(object(old.clone()), object(old), json!({})),
            [json!({}), json!({}), json!({})]
        );
    }

    #[test]
    fn items_that_nothing_tells_apart_are_one() {
        let keyed = |values: &[&str]| {
            let items: Vec<_> = values
                .iter()
                .map(|value| json!({"name": "x", "value": value}))
                .collect();
            object(json!({"keyed": items}))
        };
        let x = |below: Value| json!({"f:spec": {"f:keyed": {"k:{\"name\":\"x\"}": below}}});
        let twice = keyed(&["1", "2"]);
        assert_eq!(
            compared(twice.clone(), keyed(&["1", "3"]), json!({}))[1],
            x(json!({}))
        );
        let [added, _, removed] = compared(twice.clone(), keyed(&["1"]), json!({}));
        assert_eq!(removed, x(json!({})));
        assert_eq!(added, x(json!({".": {}, "f:name": {}, "f:value": {}})));
        let schema = schema();
        assert_eq!(fields_of(&twice, Type::of(Some(&schema))).to_json(), x(json!({})));
    }
}
