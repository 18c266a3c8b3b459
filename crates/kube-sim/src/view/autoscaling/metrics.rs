//! Metrics as the annotations of `autoscaling/v1` have them: of types of their own, in which the values of version 2 have other names.

use serde_json::{Map, Value, json};

use super::Object;

/// The sources of a metric, in the order of their fields.
const SOURCES: [&str; 5] = ["object", "pods", "resource", "containerResource", "external"];

/// What a quantity is that nobody has given, where the Go type always has one.
const ZERO: &str = "0";

/// Whether metrics are those that are wanted, or those that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Wanted,
    Found,
}

impl Side {
    /// Where version 2 has the values, which is what their names begin with in version 1.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Wanted => "target",
            Self::Found => "current",
        }
    }

    /// A quantity that is always there in what is found, and in what is wanted if it is given.
    fn quantity(self, given: &Value) -> Value {
        match self {
            Self::Wanted => given.clone(),
            Self::Found => or_zero(given),
        }
    }
}

/// Metrics of version 2 as the text of an annotation.
pub(super) fn to_text<'a>(metrics: impl Iterator<Item = &'a Value>, side: Side) -> String {
    let of_one = |metric: &Value| {
        let given = SOURCES.into_iter().filter(|name| metric[name].is_object());
        let sources = given.map(|name| (name, source_of_v1(name, &metric[name], side)));
        let kind = ("type", metric["type"].to_string());
        object_of(std::iter::once(kind).chain(sources))
    };
    let all: Vec<_> = metrics.map(of_one).collect();
    format!("[{}]", all.join(","))
}

/// The metrics of version 2 that an annotation has, if they can be read.
pub(super) fn of_text(text: &str, side: Side) -> Option<Value> {
    let metrics: Vec<Object> = serde_json::from_str(text).ok()?;
    let of_one = |metric: Object| {
        let kind = metric.get("type").cloned().unwrap_or_default();
        let mut of_v2 = Object::from_iter([("type".to_owned(), kind)]);
        for name in SOURCES {
            if let Some(source) = metric.get(name).filter(|source| source.is_object()) {
                of_v2.insert(name.into(), source_of_v2(name, source, side));
            }
        }
        Value::Object(of_v2)
    };
    Some(metrics.into_iter().map(of_one).collect())
}

/// The text of a source, with its fields as Go writes them.
fn source_of_v1(kind: &str, source: &Value, side: Side) -> String {
    let values = &source[side.name()];
    let named = |what: &str| format!("{}{what}", side.name());
    let metric = &source["metric"];
    let selector = selector(&metric["selector"]);
    let field = |name: &str, value: &Value| (name.to_owned(), text_of(value));
    let fields = match kind {
        "object" => {
            let described = &source["describedObject"];
            let names = ["kind", "name", "apiVersion"];
            let target = object_of(names.map(|name| (name, text_of(&described[name]))));
            vec![
                ("target".to_owned(), target),
                field("metricName", &metric["name"]),
                field(&named("Value"), &or_zero(&values["value"])),
                ("selector".to_owned(), selector),
                field("averageValue", &values["averageValue"]),
            ]
        }
        "pods" => vec![
            field("metricName", &metric["name"]),
            field(&named("AverageValue"), &or_zero(&values["averageValue"])),
            ("selector".to_owned(), selector),
        ],
        "external" => vec![
            field("metricName", &metric["name"]),
            ("metricSelector".to_owned(), selector),
            field(&named("Value"), &side.quantity(&values["value"])),
            field(&named("AverageValue"), &values["averageValue"]),
        ],
        _ => vec![
            field("name", &source["name"]),
            field(&named("AverageUtilization"), &values["averageUtilization"]),
            field(&named("AverageValue"), &side.quantity(&values["averageValue"])),
            field("container", &source["container"]),
        ],
    };
    object_of(fields)
}

/// A source as version 2 has it.
fn source_of_v2(kind: &str, source: &Value, side: Side) -> Value {
    let named = |what: &str| &source[format!("{}{what}", side.name())];
    let metric = |selector: &str| json!({"name": source["metricName"], "selector": source[selector]});
    // Which of the values is the target.
    let target = |kind: &str, values: Value| {
        let mut values = values;
        if let (Side::Wanted, Value::Object(values)) = (side, &mut values) {
            values.insert("type".into(), kind.into());
        }
        values
    };
    let place = side.name();
    let mut of_v2 = match kind {
        "object" => {
            let average = &source["averageValue"];
            let value = or_zero(named("Value"));
            let (kind, value) = match (side, average.is_null()) {
                (Side::Wanted, false) if value == ZERO => ("AverageValue", Value::Null),
                (Side::Wanted, false) => ("AverageValue", value),
                _ => ("Value", value),
            };
            json!({
                "describedObject": source["target"], "metric": metric("selector"),
                place: target(kind, json!({"value": value, "averageValue": average})),
            })
        }
        "pods" => json!({
            "metric": metric("selector"),
            place: target("AverageValue", json!({"averageValue": or_zero(named("AverageValue"))})),
        }),
        "external" => {
            let value = side.quantity(named("Value"));
            let kind = if value.is_null() { "AverageValue" } else { "Value" };
            let values = json!({"value": value, "averageValue": named("AverageValue")});
            json!({"metric": metric("metricSelector"), place: target(kind, values)})
        }
        _ => {
            let utilization = named("AverageUtilization");
            let kind = match utilization.is_null() {
                true => "AverageValue",
                false => "Utilization",
            };
            let value = side.quantity(named("AverageValue"));
            let values = json!({"averageUtilization": utilization, "averageValue": value});
            json!({"name": source["name"], "container": source["container"], place: target(kind, values)})
        }
    };
    drop_nulls(&mut of_v2);
    of_v2
}

fn or_zero(given: &Value) -> Value {
    match given {
        Value::Null => ZERO.into(),
        given => given.clone(),
    }
}

/// A selector as Go writes it.
fn selector(selector: &Value) -> String {
    match selector.is_object() {
        true => object_of(["matchLabels", "matchExpressions"].map(|name| (name, text_of(&selector[name])))),
        false => String::new(),
    }
}

/// A value as text; none for null.
fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        value => value.to_string(),
    }
}

/// The text of an object with these fields, of which those are left out that have none.
pub(super) fn object_of<N: std::fmt::Display>(fields: impl IntoIterator<Item = (N, String)>) -> String {
    let given = fields.into_iter().filter(|(_, text)| !text.is_empty());
    let fields: Vec<_> = given.map(|(name, text)| format!("\"{name}\":{text}")).collect();
    format!("{{{}}}", fields.join(","))
}

fn drop_nulls(value: &mut Value) {
    let Value::Object(members) = value else { return };
    members.values_mut().for_each(drop_nulls);
    let left = std::mem::take(members);
    *members = left
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .collect::<Map<_, _>>();
}
