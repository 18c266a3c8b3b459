//! Any object: what a form decodes is what `serde_json` decodes.

#![no_main]

#[path = "../../crates/kube-informer/src/form/decoding/same.rs"]
mod same;

use kube_informer::form;
use kube_informer::low_level::wire::{Encoding, RawObject};
use libfuzzer_sys::fuzz_target;
use same::same;
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let mut body = br#"{"metadata":{"name":"a"},"spec":"#.to_vec();
    body.extend_from_slice(data);
    body.push(b'}');
    let Ok(raw) = RawObject::scan(Encoding::Json, body.clone().into()) else { return };
    match (form::decode::<Value>(&raw), serde_json::from_slice::<Value>(&body)) {
        (Ok(read), Ok(model)) => assert!(same(&read, &model), "{read} is not {model}"),
        // `serde_json` takes 127 levels, a form takes 256.
        (Ok(_), Err(model)) => assert!(model.to_string().starts_with("recursion limit"), "{model}"),
        (read, model) => assert_eq!(read.is_ok(), model.is_ok()),
    }
});
