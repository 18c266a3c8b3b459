//! Reads the values of a path, and passes over everything else.

use super::DecodeError;
use super::protobuf::{message_of, of_fault};
use crate::FieldPath;
use serde::Deserialize as _;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::fmt;

/// Reads the values at a path of a message as JSON has them. Only what is on the path is decoded.
pub(in crate::form) fn of_message(
    types: Option<(&str, &str)>,
    body: &[u8],
    path: &FieldPath,
) -> Result<Vec<Value>, DecodeError> {
    let message = message_of(types)?;
    let steps: Vec<&str> = path.steps().collect();
    let mut found = Vec::new();
    // They are not in the message.
    if let ([step], Some((api_version, kind))) = (&steps[..], types) {
        for (name, value) in [("apiVersion", api_version), ("kind", kind)] {
            if [name, "*"].contains(step) {
                found.push(value.into());
            }
        }
    }
    let seed = Values {
        steps: &steps,
        found: &mut found,
    };
    let read = kube_protobuf::Deserializer::from_message(message, body)
        .and_then(|message| seed.deserialize(message));
    read.map_err(|fault| of_fault(&fault))?;
    Ok(found)
}

/// Reads the values at some steps below a value. A step `*` stands for all members of an object or items of an array; a value
/// that has no members is passed over.
struct Values<'a> {
    steps: &'a [&'a str],
    found: &'a mut Vec<Value>,
}

impl<'de> DeserializeSeed<'de> for Values<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.steps.is_empty() {
            self.found.push(Value::deserialize(deserializer)?);
            return Ok(());
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Values<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let Self { steps, found } = self;
        while let Some(name) = members.next_key::<String>()? {
            if steps[0] == "*" || steps[0] == name {
                let steps = &steps[1..];
                members.next_value_seed(Values { steps, found })?;
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Self { steps, found } = self;
        if steps[0] != "*" {
            return IgnoredAny.visit_seq(items).map(|_| ());
        }
        let steps = &steps[1..];
        while items.next_element_seed(Values { steps, found })?.is_some() {}
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
}
