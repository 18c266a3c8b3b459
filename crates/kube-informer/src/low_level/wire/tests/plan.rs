//! Tests of pruning and extraction during a scan.

use super::{
    arbitrary::{Json, json, space},
    *,
};
use crate::{field_path::FieldPath, wire::FieldPlan};
use proptest::collection::vec;
use serde_json::Value;
use std::collections::HashSet;

fn paths(texts: &[String]) -> Vec<FieldPath> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// Removes the values at the path `steps`.
fn remove(value: &mut Value, steps: &[&str]) {
    match (value, steps) {
        (Value::Object(members), [last]) => members.retain(|name, _| name != last && *last != "*"),
        (Value::Object(members), [step, rest @ ..]) => {
            let inner = members
                .iter_mut()
                .filter(|(name, _)| name == step || *step == "*");
            inner.for_each(|(_, value)| remove(value, rest));
        }
        (Value::Array(items), ["*"]) => items.clear(),
        (Value::Array(items), ["*", rest @ ..]) => items.iter_mut().for_each(|item| remove(item, rest)),
        _ => {}
    }
}

/// The values at the path `steps`, in the order of the JSON if members are sorted.
fn find<'v>(value: &'v Value, steps: &[&str], found: &mut Vec<&'v Value>) {
    match (value, steps) {
        (value, []) => found.push(value),
        (Value::Object(members), [step, rest @ ..]) => {
            let inner = members.iter().filter(|(name, _)| name == step || *step == "*");
            inner.for_each(|(_, value)| find(value, rest, found));
        }
        (Value::Array(items), ["*", rest @ ..]) => items.iter().for_each(|item| find(item, rest, found)),
        _ => {}
    }
}

/// Restricts members to a few unique names, so that paths match them.
fn with_few_names(json: Json) -> Json {
    match json {
        Json::Object(members) => {
            let mut seen = HashSet::new();
            let few = members.into_iter().map(|(name, value)| {
                let name = ["\"a\"", "\"b\"", "\"\\u0063\""][name.len() % 3];
                (name.to_owned(), with_few_names(value))
            });
            Json::Object(few.filter(|(name, _)| seen.insert(name.clone())).collect())
        }
        Json::Array(items) => Json::Array(items.into_iter().map(with_few_names).collect()),
        token => token,
    }
}

fn path() -> impl Strategy<Value = String> {
    let step = proptest::sample::select(vec!["a", "b", "c", "*"]);
    let place = proptest::sample::select(vec!["/spec", "/status", "/metadata/x", "/metadata/labels"]);
    (place, vec(step, 0..4)).prop_map(|(place, steps)| {
        steps
            .into_iter()
            .fold(place.to_owned(), |path, step| format!("{path}/{step}"))
    })
}

fn labels() -> impl Strategy<Value = Json> {
    vec("[ab]", 0..3).prop_map(|names| {
        let names: HashSet<_> = names.into_iter().collect();
        Json::object(names.iter().map(|name| (&**name, Json::text("v"))).collect())
    })
}

proptest! {
    #[test]
    fn pruning_and_extraction_equal_those_on_a_tree(
        values in (json(), json(), json()),
        labels in labels(),
        pruned in vec(path(), 0..4),
        fields in vec(path(), 0..4),
        space in space(),
    ) {
        let [spec, status, x] = <[Json; 3]>::from(values).map(with_few_names);
        let metadata = Json::object(vec![("x", x), ("labels", labels), ("uid", Json::text("u1")), ("name", Json::text("a"))]);
        let body = Json::object(vec![("spec", spec), ("metadata", metadata), ("status", status)]).write(space);
        let plan = FieldPlan::new(paths(&pruned), paths(&fields)).unwrap();
        let raw = RawObject::scan_with(Encoding::Json, body.clone().into(), &plan).unwrap();
        prop_assert_eq!(raw.fingerprint(), scan(&body).unwrap().fingerprint());

        let model: Value = serde_json::from_str(&body).unwrap();
        for (number, field) in plan.fields().iter().enumerate() {
            let mut expected = Vec::new();
            find(&model, &field.steps().collect::<Vec<_>>(), &mut expected);
            let found = raw.extracted(number as u16).map(|value| serde_json::from_slice::<Value>(value).unwrap());
            let mut found: Vec<_> = found.map(|value| value.to_string()).collect();
            let mut expected: Vec<_> = expected.into_iter().map(Value::to_string).collect();
            found.sort();
            expected.sort();
            prop_assert_eq!(found, expected);
        }
        let mut model = model;
        for path in plan.pruned() {
            remove(&mut model, &path.steps().collect::<Vec<_>>());
        }
        let body: Value = serde_json::from_slice(&raw.body()).unwrap();
        prop_assert_eq!(body, model);
        prop_assert!(raw.write_body_without_uid(&mut Vec::new()).is_some());
        prop_assert_eq!(body_with_uid(&raw), &*raw.body());
    }
}

#[test]
fn a_wildcard_prunes_items_of_arrays() {
    let pruned = |path: &str, body: &str| {
        let plan = FieldPlan::new(paths(&[path.to_owned()]), []).unwrap();
        let body = format!(r#"{{"metadata":{{"name":"a"}},"spec":{body}}}"#);
        let raw = RawObject::scan_with(Encoding::Json, body.into(), &plan).unwrap();
        let body = String::from_utf8(raw.body().into_owned()).unwrap();
        body[r#"{"metadata":{"name":"a"},"spec":"#.len()..body.len() - 1].to_owned()
    };
    assert_eq!(pruned("/spec/*", r#"["secret",{"b":1},[] ]"#), "[ ]");
    assert_eq!(pruned("/spec/*", r#"{"a":"secret", "b":1}"#), "{}");
    assert_eq!(
        pruned("/spec/a/*", r#"{"a":[1 , 2],"b":[3]}"#),
        r#"{"a":[],"b":[3]}"#
    );
    assert_eq!(pruned("/spec/*/*", "[[1,2],[],{\"a\":3},4]"), "[[],[],{},4]");
    assert_eq!(
        pruned("/spec/*/a", r#"[{"a":1,"b":2},{"a":3},5]"#),
        r#"[{"b":2},{},5]"#
    );
}

#[test]
fn required_metadata_cannot_be_pruned() {
    for path in [
        "/metadata",
        "/kind",
        "/apiVersion",
        "/*",
        "/metadata/name",
        "/metadata/*",
        "/*/uid",
    ] {
        let path = FieldPath::parse(path).unwrap();
        assert_eq!(FieldPlan::new([path.clone()], []).unwrap_err().0, path);
    }
    let path = FieldPath::parse("/status").unwrap();
    let plan = FieldPlan::new([path.clone(), path.clone()], []).unwrap();
    assert_eq!(plan.pruned(), [path]);
}

#[test]
fn fields_are_extracted_from_the_last_of_equal_members() {
    let check = |body: &str, path: &str, expected: &[&str]| {
        let plan = FieldPlan::new([], [path.parse().unwrap()]).unwrap();
        let raw = RawObject::scan_with(Encoding::Json, body.to_owned().into(), &plan).unwrap();
        let found: Vec<_> = raw
            .extracted(0)
            .map(|value| str::from_utf8(value).unwrap())
            .collect();
        assert_eq!(found, expected, "{path} of {body}");
    };
    let body = r#"{"kind":"A","spec":{"a":1,"b":{"c":[1,2]}},"metadata":{"name":"a","x":1,"x":2},"spec":{"b":{"c":[3],"c":[4,5]},"a":6,"a":7},"kind":"B"}"#;
    check(body, "/kind", &[r#""B""#]);
    check(body, "/spec/a", &["7"]);
    check(body, "/spec/*/c/*", &["4", "5"]);
    check(body, "/metadata/x", &["2"]);
    check(body, "/metadata", &[r#"{"name":"a","x":1,"x":2}"#]);
    check(
        &body.replace(r#""b":{"c":[3],"#, r#""d":{"c":[3],"#),
        "/spec/b/c",
        &[],
    );
    check(&body.replace(r#""kind":"B""#, r#""spec":null"#), "/spec/*", &[]);
}
