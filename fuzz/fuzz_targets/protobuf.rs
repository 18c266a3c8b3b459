//! Any bytes as any message: they are read or refused. What was read and can be written is written as the same bytes after it
//! has been read again, and as the same bytes from JSON as text. Types are read alike with serde and without it. The first byte chooses
//! the message; 0 an envelope.

#![no_main]

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{Pod, Secret};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube_protobuf::{
    Descriptor, ErrorKind, UnknownFields, decode_message, from_message, json_to_vec, message_to_vec, to_value,
};
use libfuzzer_sys::fuzz_target;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Debug;

const KINDS: [(&str, &str); 8] = [
    ("v1", "Pod"),
    ("v1", "PodList"),
    ("v1", "List"),
    ("v1", "Secret"),
    ("apps/v1", "StatefulSet"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("resource.k8s.io/v1", "ResourceSlice"),
    ("authentication.k8s.io/v1", "TokenReview"),
];

fn alike<T: DeserializeOwned + PartialEq + Debug + 'static>(message: Descriptor, bytes: &[u8]) {
    let (with_serde, without) = (from_message::<T>(message, bytes), decode_message::<T>(message, bytes));
    assert_eq!(without.map_err(|e| e.to_string()), with_serde.map_err(|e| e.to_string()));
}

fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else { return };
    if choice == 0 {
        let _ = to_value(bytes);
        return;
    }
    let message = match KINDS.get(usize::from(choice) - 1) {
        Some((api_version, kind)) => Descriptor::of(api_version, kind).unwrap(),
        None => Descriptor::watch_event(),
    };
    match choice {
        1 => alike::<Pod>(message, bytes),
        4 => alike::<Secret>(message, bytes),
        5 => alike::<StatefulSet>(message, bytes),
        6 => alike::<CustomResourceDefinition>(message, bytes),
        _ => {}
    }
    let Ok(value) = from_message::<Value>(message, bytes) else { return };
    let written = match message_to_vec(message, &value, UnknownFields::Deny) {
        Ok(written) => written,
        // Such as a quantity that is none, or a time with a year of ten digits.
        Err(error) => return assert!(matches!(error.kind(), ErrorKind::Mismatch | ErrorKind::TooDeep), "{error}"),
    };
    assert_eq!(json_to_vec(message, &value.to_string(), UnknownFields::Deny).unwrap(), written);
    let value: Value = from_message(message, &written).unwrap();
    assert_eq!(message_to_vec(message, &value, UnknownFields::Deny).unwrap(), written);
});
