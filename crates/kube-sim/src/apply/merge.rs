//! Puts what is applied into an object, and takes fields out of one.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::fields::{FieldSet, Node, Step};
use super::types::{Items, Shape, Type};

/// The object with what is applied to it. Nothing is removed by this.
pub(super) fn merge(live: &Value, applied: &Value, ty: Type<'_>) -> Value {
    let shape = match applied {
        Value::Null => ty.shape(live),
        applied => ty.shape(applied),
    };
    match (shape, live, applied) {
        (Shape::Map(members), Value::Object(live), Value::Object(applied)) => {
            let mut merged = live.clone();
            for (name, value) in applied {
                let value = match live.get(name) {
                    Some(live) => merge(live, value, members.any(name)),
                    None => value.clone(),
                };
                merged.insert(name.clone(), value);
            }
            Value::Object(merged)
        }
        (Shape::Map(_), Value::Object(live), Value::Null) if !live.is_empty() => Value::Object(live.clone()),
        (Shape::List(items), Value::Array(live), Value::Array(applied)) => {
            Value::Array(merge_lists(live, applied, items))
        }
        (Shape::List(_), Value::Array(live), Value::Null) if !live.is_empty() => Value::Array(live.clone()),
        _ => applied.clone(),
    }
}

/// Both lists' items. Those that are applied are in the order in which they are applied, each of the others where it was among
/// its neighbours.
fn merge_lists(live: &[Value], applied: &[Value], items: Items<'_>) -> Vec<Value> {
    let live: Vec<_> = items.steps(live).collect();
    let applied: Vec<_> = items.steps(applied).collect();
    let mut held: BTreeMap<&Step, Option<&Value>> = BTreeMap::new();
    for (step, item) in &live {
        // Items that nothing tells apart give way to the one that is applied.
        held.entry(step)
            .and_modify(|held| *held = None)
            .or_insert(Some(item));
    }
    let is_applied: BTreeMap<_, _> = applied.iter().map(|(step, _)| (step, ())).collect();
    let merged = |(step, item): &(Step, &Value)| match held.get(step) {
        Some(Some(live)) => merge(live, item, items.item()),
        _ => (*item).clone(),
    };
    let mut out = Vec::with_capacity(live.len().max(applied.len()));
    let mut rest = &applied[..];
    for (step, item) in &live {
        if !is_applied.contains_key(step) {
            out.push((*item).clone());
            continue;
        }
        // The first of the rest that is in both lists: only there the lists meet again.
        let Some(next) = rest.iter().position(|(step, _)| held.contains_key(step)) else {
            continue;
        };
        if rest[next].0 == *step {
            let (now, later) = rest.split_at(next + 1);
            out.extend(now.iter().map(merged));
            rest = later;
        }
    }
    out.extend(rest.iter().map(merged));
    out
}

/// The object without these fields. An object or a list of which nothing is left goes, too.
pub(super) fn remove(value: &Value, fields: &FieldSet, ty: Type<'_>) -> Option<Value> {
    match (ty.shape(value), value) {
        (Shape::Map(members), Value::Object(object)) => {
            let mut left = Map::new();
            for (name, value) in object {
                let kept = match fields.get(&Step::Field(name.clone())) {
                    None => Some(value.clone()),
                    Some(Node { is_member: true, .. }) => None,
                    Some(node) => remove(value, &node.below, members.any(name)),
                };
                left.extend(kept.map(|kept| (name.clone(), kept)));
            }
            (!left.is_empty()).then_some(Value::Object(left))
        }
        (Shape::List(items), Value::Array(list)) => {
            let left = list.iter().filter_map(|item| {
                let Ok(step) = items.step(item) else {
                    return Some(item.clone());
                };
                match fields.get(&step) {
                    None => Some(item.clone()),
                    Some(Node { is_member: true, .. }) => None,
                    Some(node) => remove(item, &node.below, items.item()),
                }
            });
            let left: Vec<_> = left.collect();
            (!left.is_empty()).then_some(Value::Array(left))
        }
        _ => Some(value.clone()),
    }
}

/// The set with every field above a member that the schema names: who sets a field of `spec` also holds `spec`.
pub(super) fn with_parents(fields: &FieldSet, ty: Type<'_>) -> FieldSet {
    let mut out = FieldSet::default();
    for (step, node) in fields.nodes() {
        let (declared, below) = match (step, ty.shape(&Value::Null), ty.shape(&Value::Array(Vec::new()))) {
            (Step::Field(name), Shape::Map(members), _) => (members.declares(name), members.any(name)),
            (Step::Key(_) | Step::Value(_), _, Shape::List(items)) => (false, items.item()),
            _ => (false, Type::Deduced),
        };
        let node = Node {
            is_member: node.is_member || (declared && !node.below.is_empty()),
            below: with_parents(&node.below, below),
        };
        out.put(step.clone(), node);
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::Schema;

    fn schema() -> Schema {
        Schema::parse(&json!({"type": "object", "properties": {
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "keyed": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {
                "type": "object", "properties": {"name": {"type": "string"}, "value": {"type": "string"}},
            }},
            "atomic": {"type": "array", "items": {"type": "string"}},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
        }}))
    }

    fn merged(live: Value, applied: Value) -> Value {
        merge(&live, &applied, Type::of(Some(&schema())))
    }

    #[test]
    fn maps_and_items_are_merged_and_atomic_lists_replaced() {
        let live =
            json!({"map": {"a": "1"}, "keyed": [{"name": "x", "value": "1"}], "atomic": ["a"], "set": ["a"]});
        let applied = json!({"map": {"b": "2"}, "keyed": [{"name": "x"}, {"name": "y"}], "atomic": ["b"], "set": ["b"]});
        assert_eq!(
            merged(live.clone(), applied),
            json!({
                "map": {"a": "1", "b": "2"}, "keyed": [{"name": "x", "value": "1"}, {"name": "y"}], "atomic": ["b"],
                "set": ["a", "b"],
            })
        );
        let nothing = json!({"map": {}, "keyed": [], "set": null});
        assert_eq!(merged(live.clone(), nothing), live);
    }

    #[test]
    fn applied_items_keep_their_order_and_others_their_place() {
        for (live, applied, all) in [
            ("ab", "ba", "ba"),
            ("abc", "ca", "bca"),
            ("axb", "bya", "xbya"),
            ("xab", "ab", "xab"),
            ("abx", "cab", "cabx"),
            ("a", "bac", "bac"),
            ("xyz", "ab", "xyzab"),
        ] {
            let set = |letters: &str| json!({"set": letters.chars().map(String::from).collect::<Vec<_>>()});
            assert_eq!(merged(set(live), set(applied)), set(all), "{live} {applied}");
        }
    }

    #[test]
    fn what_is_empty_after_a_removal_goes_too() {
        let object = json!({"map": {"a": "1"}, "keyed": [{"name": "x"}, {"name": "y"}], "atomic": ["a"]});
        let fields =
            json!({"f:map": {"f:a": {}}, "f:keyed": {"k:{\"name\":\"x\"}": {}}, "f:atomic": {"i:0": {}}});
        let fields = FieldSet::from_json(&fields).unwrap();
        let left = remove(&object, &fields, Type::of(Some(&schema())));
        assert_eq!(left, Some(json!({"keyed": [{"name": "y"}], "atomic": ["a"]})));
    }

    #[test]
    fn parents_that_the_schema_names_are_added() {
        let fields = json!({"f:map": {"f:a": {}}, "f:keyed": {"k:{\"name\":\"x\"}": {"f:value": {}}}});
        let fields = FieldSet::from_json(&fields).unwrap();
        let all = with_parents(&fields, Type::of(Some(&schema())));
        assert_eq!(
            all.to_json(),
            json!({
                "f:map": {".": {}, "f:a": {}}, "f:keyed": {".": {}, "k:{\"name\":\"x\"}": {"f:value": {}}},
            })
        );
    }
}
