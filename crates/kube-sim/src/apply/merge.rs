//! Puts what is applied into an object, and takes fields out of one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::fields::{FieldSet, Node, Step};
use super::types::{Items, Shape, Type};

/// The object with what is applied to it. Nothing is removed by this.
pub(super) fn merge(live: Value, applied: &Value, ty: Type<'_>) -> Value {
    let shape = match applied {
        Value::Null => ty.shape(&live),
        applied => ty.shape(applied),
    };
    match (shape, live, applied) {
        (Shape::Map(members), Value::Object(mut merged), Value::Object(applied)) => {
            for (name, value) in applied {
                let value = match merged.remove(name) {
                    Some(live) => merge(live, value, members.any(name)),
                    None => value.clone(),
                };
                merged.insert(name.clone(), value);
            }
            Value::Object(merged)
        }
        (Shape::List(items), Value::Array(live), Value::Array(applied)) => {
            Value::Array(merge_lists(live, applied, items))
        }
        (Shape::Map(_), Value::Object(live), Value::Null) if !live.is_empty() => Value::Object(live),
        (Shape::List(_), Value::Array(live), Value::Null) if !live.is_empty() => Value::Array(live),
        _ => applied.clone(),
    }
}

/// Both lists' items. Those that are applied are in the order in which they are applied, each of the others where it was among
/// its neighbours.
fn merge_lists(live: Vec<Value>, applied: &[Value], items: Items<'_>) -> Vec<Value> {
    let applied: Vec<_> = items.steps(applied).collect();
    let is_applied: BTreeSet<_> = applied.iter().map(|(step, _)| step).collect();
    // The live items that are applied, too.
    let mut shared: BTreeMap<Step, Option<Value>> = BTreeMap::new();
    let mut live: Vec<_> = live
        .into_iter()
        .filter_map(|item| Some((items.step(&item).ok()?, Some(item))))
        .collect();
    for (step, item) in live.iter_mut().filter(|(step, _)| is_applied.contains(step)) {
        // Items that nothing tells apart give way to the one that is applied.
        let place = shared.entry(step.clone());
        place.and_modify(|item| *item = None).or_insert(item.take());
    }
    let is_shared: BTreeSet<_> = shared.keys().cloned().collect();
    let mut merged = |(step, item): &(Step, &Value)| match shared.get_mut(step).and_then(Option::take) {
        Some(live) => merge(live, item, items.item()),
        None => (*item).clone(),
    };
    let mut out = Vec::with_capacity(live.len().max(applied.len()));
    // The first item that is not merged yet, and the first one from there on that is in both lists.
    let mut start = 0;
    let shared_from = |at: usize| (at..applied.len()).find(|at| is_shared.contains(&applied[*at].0));
    let mut next = shared_from(0);
    for (step, item) in live {
        if let (Some(item), false) = (item, is_applied.contains(&step)) {
            out.push(item);
            continue;
        }
        // Only there the lists meet again.
        if let Some(at) = next.filter(|at| applied[*at].0 == step) {
            out.extend(applied[start..=at].iter().map(&mut merged));
            start = at + 1;
            next = shared_from(start);
        }
    }
    out.extend(applied[start..].iter().map(merged));
    out
}

/// The object without these fields. An object or a list of which nothing is left becomes null, if it is no field of these itself.
pub(super) fn remove(value: &Value, fields: &FieldSet, ty: Type<'_>) -> Option<Value> {
    match (ty.shape(value), value) {
        (Shape::Map(members), Value::Object(object)) => {
            let mut left = Map::new();
            for (name, value) in object {
                let kept = match fields.get(&Step::Field(name.clone())) {
                    None => Some(value.clone()),
                    Some(Node { is_member: true, .. }) => None,
                    Some(node) => Some(remove(value, &node.below, members.any(name)).unwrap_or_default()),
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
                    Some(node) => Some(remove(item, &node.below, items.item()).unwrap_or_default()),
                }
            });
            let left: Vec<_> = left.collect();
            (!left.is_empty()).then_some(Value::Array(left))
        }
        _ => Some(value.clone()),
    }
}

/// The set as it is by a schema that has changed since: what is below something that is now owned as a whole becomes that.
pub(super) fn reconciled(fields: &FieldSet, ty: Type<'_>) -> FieldSet {
    let mut out = FieldSet::default();
    for (step, node) in fields.nodes() {
        let (_, below) = type_below(step, ty);
        let node = match below.is_atomic() && !node.below.is_empty() {
            true => Node::member(),
            false => Node {
                is_member: node.is_member,
                below: reconciled(&node.below, below),
            },
        };
        out.put(step.clone(), node);
    }
    out
}

/// The type of what is at a step, and whether the schema names it.
fn type_below<'a>(step: &Step, ty: Type<'a>) -> (bool, Type<'a>) {
    let (object, list) = (ty.shape(&Value::Null), ty.shape(&Value::Array(Vec::new())));
    match (step, object, list) {
        (Step::Field(name), Shape::Map(members), _) => (members.declares(name), members.any(name)),
        (Step::Key(_) | Step::Value(_), _, Shape::List(items)) => (false, items.item()),
        _ => (false, Type::Deduced),
    }
}

/// The set with every field above a member that the schema names: who sets a field of `spec` also holds `spec`.
pub(super) fn with_parents(fields: &FieldSet, ty: Type<'_>) -> FieldSet {
    let mut out = FieldSet::default();
    for (step, node) in fields.nodes() {
        let (declared, below) = type_below(step, ty);
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
        merge(live, &applied, Type::of(Some(&schema())))
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
    fn what_is_empty_after_a_removal_is_null() {
        let object = json!({"map": {"a": "1"}, "keyed": [{"name": "x"}, {"name": "y"}], "atomic": ["a"]});
        let fields =
            json!({"f:map": {"f:a": {}}, "f:keyed": {"k:{\"name\":\"x\"}": {}}, "f:atomic": {"i:0": {}}});
        let fields = FieldSet::from_json(&fields).unwrap();
        let left = remove(&object, &fields, Type::of(Some(&schema())));
        assert_eq!(
            left,
            Some(json!({"map": null, "keyed": [{"name": "y"}], "atomic": ["a"]}))
        );
    }

    #[test]
    fn what_has_become_atomic_is_owned_as_a_whole() {
        let fields =
            json!({"f:atomic": {".": {}, "v:\"a\"": {}}, "f:set": {"v:\"a\"": {}}, "f:other": {"f:a": {}}});
        let fields = FieldSet::from_json(&fields).unwrap();
        let reconciled = reconciled(&fields, Type::of(Some(&schema())));
        let expected = json!({"f:atomic": {}, "f:set": {"v:\"a\"": {}}, "f:other": {"f:a": {}}});
        assert_eq!(reconciled.to_json(), expected);
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
