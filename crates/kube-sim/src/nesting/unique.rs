//! JSON, or YAML in its place, read together with what is told of members that are there twice, or that are unknown.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::MOST_STRICT_ERRORS;
use crate::path::Path;

/// Reads the operations of a JSON patch, of which nothing is kept.
pub(super) struct Operations<'a> {
    pub(super) faults: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Operations<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Operations<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of operations")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut operations: A) -> Result<(), A::Error> {
        let mut index = 0;
        while operations
            .next_element_seed(Operation(Reading::new(
                &Path::Root.index(index),
                &mut *self.faults,
            )))?
            .is_some()
        {
            index += 1;
        }
        Ok(())
    }
}

struct Operation<'a>(Reading<'a, String>);

impl<'de> DeserializeSeed<'de> for Operation<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Operation<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an operation")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        const MEMBERS: [&str; 4] = ["op", "path", "from", "value"];
        let mut reading = self.0;
        let (mut given, mut told) = (HashSet::new(), HashSet::new());
        while let Some(name) = entries.next_key::<String>()? {
            let path = reading.path.field(&name);
            let is_known = MEMBERS.contains(&name.as_str());
            let is_fault = !is_known || !given.insert(name.clone());
            if is_fault && told.insert(name.clone()) {
                let what = if is_known { "duplicate" } else { "unknown" };
                add(reading.faults, || format!("{what} field \"{path}\""));
            }
            // In what is unknown, nothing is looked for.
            if is_known {
                entries.next_value_seed(reading.at(&path))?;
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Paths may be long, so they are made only for what is told.
fn add(faults: &mut Vec<String>, fault: impl FnOnce() -> String) {
    if faults.len() < MOST_STRICT_ERRORS {
        faults.push(fault());
    }
}

/// Reads an object.
pub(super) struct Object<'a> {
    pub(super) faults: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = Map<String, Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
        Reading::<String>::new(&Path::Root, self.faults).members(entries)
    }
}

/// The name of a member as it is read, and what is told when it is there again.
pub(crate) trait Name<'de>: Deserialize<'de> {
    /// Whether each repetition is told, or the first one.
    const EACH: bool;

    fn text(&self) -> &str;

    fn into_text(self) -> String;

    /// `path` is that of the member.
    fn again(&self, path: &Path<'_>) -> String;
}

impl Name<'_> for String {
    const EACH: bool = false;

    fn text(&self) -> &str {
        self
    }

    fn into_text(self) -> String {
        self
    }

    fn again(&self, path: &Path<'_>) -> String {
        format!("duplicate field \"{path}\"")
    }
}

/// Reads anything; of members that are there twice, the last counts.
pub(crate) struct Reading<'a, N> {
    path: &'a Path<'a>,
    faults: &'a mut Vec<String>,
    name: PhantomData<N>,
}

impl<'de, N: Name<'de>> DeserializeSeed<'de> for Reading<'_, N> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, N: Name<'de>> Visitor<'de> for Reading<'_, N> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = elements.next_element_seed(Reading::<N>::new(
            &self.path.index(items.len()),
            &mut *self.faults,
        ))? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Value, A::Error> {
        self.members(entries).map(Value::Object)
    }
}

impl<'a, N> Reading<'a, N> {
    pub(crate) fn new(path: &'a Path<'a>, faults: &'a mut Vec<String>) -> Self {
        Self {
            path,
            faults,
            name: PhantomData,
        }
    }

    fn at<'b>(&'b mut self, path: &'b Path<'b>) -> Reading<'b, N> {
        Reading::new(path, &mut *self.faults)
    }

    fn members<'de, A: MapAccess<'de>>(mut self, mut entries: A) -> Result<Map<String, Value>, A::Error>
    where
        N: Name<'de>,
    {
        let mut members = Map::new();
        let mut told: HashSet<String> = HashSet::new();
        while let Some(name) = entries.next_key::<N>()? {
            let path = self.path.field(name.text());
            let is_again = members.contains_key(name.text());
            if is_again && (N::EACH || told.insert(name.text().to_owned())) {
                add(self.faults, || name.again(&path));
            }
            let value = entries.next_value_seed(self.at(&path))?;
            members.insert(name.into_text(), value);
        }
        Ok(members)
    }
}
