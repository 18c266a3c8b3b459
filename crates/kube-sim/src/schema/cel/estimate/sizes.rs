//! How large what is in custom resources may be, by their schemas and by the largest request.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use crate::schema::cel::checker::{NAMES, has_metadata};
use crate::schema::cel::values::escaped;

/// The bytes of the largest request.
const REQUEST: u64 = 3 * 1024 * 1024;

/// A part of something.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    Field(&'a str),
    Item,
    Index,
    Key,
    Value,
}

/// How large something may be.
#[derive(Clone, Debug, Default)]
pub(in crate::schema) struct Sizes {
    /// The most characters, bytes, items or entries.
    pub(super) most: u64,
    /// The fewest bytes of it as JSON.
    least_json: u64,
    fields: BTreeMap<String, Sizes>,
    each: Option<Box<Sizes>>,
    is_map: bool,
}

impl Sizes {
    fn new(most: u64, least_json: u64) -> Self {
        Self {
            most,
            least_json,
            ..Self::default()
        }
    }

    /// How often this may be in the largest object.
    pub(in crate::schema) fn most_times(&self) -> u64 {
        REQUEST / (self.least_json + 1)
    }

    /// The part of this.
    pub(super) fn step(&self, step: Step<'_>) -> Option<&Self> {
        /// A real server takes keys for empty texts.
        static KEY: Sizes = Sizes {
            most: 0,
            least_json: 2,
            fields: BTreeMap::new(),
            each: None,
            is_map: false,
        };
        match step {
            Step::Field(name) => self.fields.get(name),
            Step::Item | Step::Value => self.each.as_deref(),
            Step::Key => self.is_map.then_some(&KEY),
            Step::Index => None,
        }
    }

    /// Of a property.
    pub(in crate::schema) fn property(&self, name: &str) -> Option<&Self> {
        self.fields.get(&escaped(name)?)
    }

    /// Of each item or value.
    pub(in crate::schema) fn each(&self) -> Option<&Self> {
        self.each.as_deref()
    }
}

/// How large what a schema describes may be; none if rules cannot see it.
pub(in crate::schema) fn sizes_of(schema: &Value, is_root: bool) -> Option<Sizes> {
    let limit = |name: &str| schema[name].as_i64().map(|limit| limit.max(0));
    // A character takes up to four bytes. As in a real server, too many overflow.
    let most_bytes = || limit("maxLength").map(|most| most.wrapping_mul(4) as u64);
    if schema["x-kubernetes-int-or-string"] == true {
        return Some(Sizes::new(most_bytes().unwrap_or(REQUEST - 2), 1));
    }
    let within = |of: &Value| sizes_of(of, of["x-kubernetes-embedded-resource"] == true);
    Some(match schema["type"].as_str()? {
        "array" => {
            let each = within(&schema["items"])?;
            let most = limit("maxItems").map(|most| most as u64);
            let most = most.unwrap_or((REQUEST - 2) / (each.least_json + 1));
            Sizes {
                each: Some(Box::new(each)),
                ..Sizes::new(most, 2)
            }
        }
        "object" if schema["additionalProperties"].is_object() => {
            let each = within(&schema["additionalProperties"])?;
            let most = limit("maxProperties").map(|most| most as u64);
            let most = most.unwrap_or((REQUEST - 2) / (each.least_json + 6));
            Sizes {
                each: Some(Box::new(each)),
                is_map: true,
                ..Sizes::new(most, 2)
            }
        }
        "object" => of_object(schema, is_root),
        "string" => {
            let (most, least) = match schema["format"].as_str().unwrap_or("") {
                "byte" => (limit("maxLength").map(|most| most as u64), 2),
                "duration" => (Some(32), 3),
                "date" => (Some(12), 12),
                "date-time" => (Some(32), 21),
                _ => (most_bytes().or_else(|| longest_of(&schema["enum"])), 2),
            };
            Sizes::new(most.unwrap_or(REQUEST - 2), least)
        }
        "boolean" => Sizes::new(0, 4),
        "number" | "integer" => Sizes::new(0, 1),
        _ => return None,
    })
}

fn longest_of(values: &Value) -> Option<u64> {
    let values = values.as_array().filter(|values| !values.is_empty())?;
    let lengths = values.iter().filter_map(Value::as_str).map(str::len);
    Some(lengths.max().unwrap_or(0) as u64)
}

fn of_object(schema: &Value, is_root: bool) -> Sizes {
    let adds_metadata = is_root && !has_metadata(&schema["properties"]);
    let text = || Sizes::new(REQUEST - 2, 2);
    let is_added = |name: &str| adds_metadata && matches!(name, "kind" | "apiVersion" | "metadata");
    let mut sizes = Sizes::new(0, 2);
    let required = schema["required"].as_array().into_iter().flatten();
    let required: HashSet<_> = required.filter_map(Value::as_str).collect();
    let mut add = |name: &str, of: Sizes, has_default: bool| {
        if required.contains(name) && !has_default {
            sizes.least_json += name.len() as u64 + of.least_json + 4;
        }
        if let Some(name) = escaped(name) {
            sizes.fields.insert(name, of);
        }
    };
    for (name, of) in schema["properties"].as_object().into_iter().flatten() {
        if is_added(name) {
            continue;
        }
        let is_root = of["x-kubernetes-embedded-resource"] == true;
        if let Some(sizes) = sizes_of(of, is_root) {
            add(name, sizes, !of["default"].is_null());
        }
    }
    if adds_metadata {
        add("kind", text(), false);
        add("apiVersion", text(), false);
        let metadata = Sizes {
            fields: NAMES.map(|name| (name.to_owned(), text())).into(),
            ..Sizes::new(0, 2)
        };
        add("metadata", metadata, false);
    }
    sizes
}
