//! The order of fields in what has a struct in a real server: those who compare answers as text see it.

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// The fields of the whole, of statuses, discovery and scales alike; what is not named here comes after, sorted.
const WHOLE: [&str; 16] = [
    "kind",
    "apiVersion",
    "metadata",
    "groupVersion",
    "name",
    "versions",
    "preferredVersion",
    "serverAddressByClientCIDRs",
    "resources",
    "groups",
    "spec",
    "status",
    "message",
    "reason",
    "details",
    "code",
];

/// The fields of what is within.
const PART: [&str; 21] = [
    "name",
    "singularName",
    "namespace",
    "namespaced",
    "groupVersion",
    "group",
    "version",
    "kind",
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "verbs",
    "shortNames",
    "categories",
    "storageVersionHash",
    "versions",
    "preferredVersion",
    "reason",
    "message",
    "field",
    "causes",
];

/// A value that is written in that order.
#[derive(Clone, Copy)]
pub(crate) struct InOrder<'a> {
    value: &'a Value,
    first: &'static [&'static str],
}

impl<'a> InOrder<'a> {
    pub(crate) fn of(value: &'a Value) -> Self {
        Self { value, first: &WHOLE }
    }

    fn within(value: &'a Value) -> Self {
        Self { value, first: &PART }
    }
}

impl Serialize for InOrder<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value {
            Value::Object(object) => {
                let mut map = serializer.serialize_map(Some(object.len()))?;
                for (name, value) in sorted(object, self.first) {
                    map.serialize_entry(name, &InOrder::within(value))?;
                }
                map.end()
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(InOrder::within)),
            other => other.serialize(serializer),
        }
    }
}

fn sorted<'a>(
    object: &'a Map<String, Value>,
    first: &'static [&'static str],
) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let named = first.iter().filter_map(|name| Some((*name, object.get(*name)?)));
    let others = object
        .iter()
        .map(|(name, value)| (name.as_str(), value))
        .filter(|(name, _)| !first.contains(name));
    named.chain(others)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_status_has_the_order_of_its_struct() {
        let status = json!({
            "apiVersion": "v1", "code": 422, "details": {
                "causes": [{"field": "spec", "message": "no", "reason": "FieldValueInvalid"}],
                "group": "apps", "kind": "Deployment", "name": "a", "retryAfterSeconds": 1, "uid": "u",
            },
            "kind": "Status", "message": "no", "metadata": {}, "reason": "Invalid", "status": "Failure",
        });
        let text = serde_json::to_string(&InOrder::of(&status)).expect("a value is JSON");
        let expected = concat!(
            r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no","reason":"Invalid","#,
            r#""details":{"name":"a","group":"apps","kind":"Deployment","uid":"u","#,
            r#""causes":[{"reason":"FieldValueInvalid","message":"no","field":"spec"}],"retryAfterSeconds":1},"code":422}"#,
        );
        assert_eq!(text, expected);
    }
}
