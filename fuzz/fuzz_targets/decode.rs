//! Any object: what a form decodes is what `serde_json` decodes.

#![no_main]

use kube_informer::form;
use kube_informer::wire::{Encoding, Raw};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// The same, but for the last digits of a number, which `serde_json` rounds, and the sign of zero.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            let (one, other) = (one.as_f64().unwrap(), other.as_f64().unwrap());
            (one - other).abs() <= one.abs() * 1e-14
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| other.get(name).is_some_and(|other| same(value, other)))
        }
        (one, other) => one == other,
    }
}

fuzz_target!(|data: &[u8]| {
    let mut body = br#"{"metadata":{"name":"a"},"spec":"#.to_vec();
    body.extend_from_slice(data);
    body.push(b'}');
    let Ok(raw) = Raw::scan(Encoding::Json, body.clone().into()) else { return };
    match (form::decode::<Value>(&raw), serde_json::from_slice::<Value>(&body)) {
        (Ok(read), Ok(model)) => assert!(same(&read, &model), "{read} is not {model}"),
        (read, model) => assert_eq!(read.is_ok(), model.is_ok()),
    }
});
