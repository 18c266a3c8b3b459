//! Values that come back as they were, and bytes that nobody wrote.

use k8s_openapi::Resource;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{Node, Pod, Service};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube_protobuf::{
    Descriptor, UnknownFields, decode_message, from_message, json_to_vec, message_to_vec, to_value, to_vec,
};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-z/.-]{1,12}", any::<String>()]
}

fn strings() -> impl Strategy<Value = Value> {
    prop::collection::btree_map(text(), text(), 1..4).prop_map(|strings| json!(strings))
}

fn some(
    name: &'static str,
    value: impl Strategy<Value = Value>,
) -> impl Strategy<Value = (&'static str, Option<Value>)> {
    (Just(name), prop::option::of(value))
}

fn object(fields: Vec<(&'static str, Option<Value>)>) -> Value {
    fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

/// Text that JSON keeps: an empty one is dropped by `omitempty`.
fn full_text() -> impl Strategy<Value = Value> {
    text().prop_filter_map("empty", |text| (!text.is_empty()).then(|| json!(text)))
}

prop_compose! {
    fn container()(
        name in text(),
        image in some("image", full_text()),
        args in some("args", prop::collection::vec(text(), 1..3).prop_map(|args| json!(args))),
        tty in some("tty", Just(json!(true))),
        user in some("securityContext", any::<Option<i64>>().prop_map(|user| object(vec![("runAsUser", user.map(Value::from))]))),
    ) -> Value {
        let mut container = object(vec![image, args, tty, user]);
        container["name"] = name.into();
        container["resources"] = json!({});
        container
    }
}

prop_compose! {
    /// A pod as an API server has it in JSON.
    fn pod()(
        name in some("name", full_text()),
        labels in some("labels", strings()),
        seconds in some("creationTimestamp", (1..253_402_300_800_i64).prop_map(|seconds| {
            let (days, second) = (seconds / 86_400 % 28 + 1, seconds % 86_400);
            json!(format!("2024-01-{days:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60))
        })),
        generation in some("generation", any::<i64>().prop_filter("zero", |n| *n != 0).prop_map(Value::from)),
        grace in some("deletionGracePeriodSeconds", any::<i64>().prop_map(Value::from)),
        containers in prop::collection::vec(container(), 1..3),
        priority in some("priority", any::<i32>().prop_map(Value::from)),
        overhead in some("overhead", Just(json!({"cpu": "1"}))),
    ) -> Value {
        let mut spec = object(vec![priority, overhead]);
        spec["containers"] = containers.into();
        let metadata = object(vec![name, labels, seconds, generation, grace]);
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {}})
    }
}

/// Bytes like those of messages: numbers and lengths that fit, more or less.
fn message(depth: u32) -> BoxedStrategy<Vec<u8>> {
    let leaf = prop::collection::vec(any::<u8>(), 0..12).boxed();
    leaf.prop_recursive(depth, 64, 6, |inner| {
        let record = (1_u8..16, 0_u8..6, inner, any::<u8>()).prop_map(|(number, wire, bytes, byte)| {
            let mut record = vec![number << 3 | wire];
            match wire {
                2 => {
                    record.push(bytes.len().min(127) as u8);
                    record.extend(&bytes[..bytes.len().min(127)]);
                }
                1 => record.extend([byte; 8]),
                5 => record.extend([byte; 4]),
                _ => record.push(byte & 0x7f),
            }
            record
        });
        prop::collection::vec(record, 0..6).prop_map(|records| records.concat())
    })
    .boxed()
}

fn alike<T: Resource + DeserializeOwned + PartialEq + Debug + 'static>(
    bytes: &[u8],
) -> Result<(), TestCaseError> {
    let message = Descriptor::of(T::API_VERSION, T::KIND).unwrap();
    let (with_serde, without) = (
        from_message::<T>(message, bytes),
        decode_message::<T>(message, bytes),
    );
    prop_assert_eq!(
        without.map_err(|e| e.to_string()),
        with_serde.map_err(|e| e.to_string())
    );
    Ok(())
}

proptest! {
    #[test]
    fn a_value_is_read_as_it_was_written(pod in pod()) {
        let bytes = to_vec(&pod, UnknownFields::Deny).unwrap();
        prop_assert_eq!(to_value(&bytes).unwrap(), pod);
    }

    #[test]
    fn arbitrary_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for name in ["PodList", "Secret", "Event", "Service"] {
            let message = Descriptor::of("v1", name).unwrap();
            let _ = from_message::<Value>(message, &bytes);
        }
        let _ = to_value(&[&b"k8s\0"[..], &bytes].concat());
    }

    #[test]
    fn arbitrary_messages_are_read_or_refused(bytes in message(5)) {
        for (api_version, kind) in [("v1", "Pod"), ("v1", "List"), ("apiextensions.k8s.io/v1", "CustomResourceDefinition")] {
            let message = Descriptor::of(api_version, kind).unwrap();
            let Ok(value) = from_message::<Value>(message, &bytes) else { continue };
            let written = message_to_vec(message, &value, UnknownFields::Deny);
            let from_text = json_to_vec(message, &value.to_string(), UnknownFields::Deny);
            prop_assert_eq!(from_text.map_err(|e| e.to_string()), written.as_ref().map(Vec::clone).map_err(|e| e.to_string()));
            let Ok(written) = written else { continue };
            // Not the value: a pointer to what is null in JSON is no pointer after this.
            let value: Value = from_message(message, &written).unwrap();
            prop_assert_eq!(message_to_vec(message, &value, UnknownFields::Deny).unwrap(), written);
        }
    }

    #[test]
    fn types_are_read_alike_with_serde_and_without(bytes in message(5)) {
        alike::<Pod>(&bytes)?;
        alike::<Node>(&bytes)?;
        alike::<Service>(&bytes)?;
        alike::<StatefulSet>(&bytes)?;
        alike::<CustomResourceDefinition>(&bytes)?;
    }

    #[test]
    fn changed_pods_are_read_alike(value in pod(), at in any::<prop::sample::Index>(), byte: u8) {
        let message = Descriptor::of("v1", "Pod").unwrap();
        let mut bytes = message_to_vec(message, &value, UnknownFields::Deny).unwrap();
        alike::<Pod>(&bytes)?;
        let at = at.index(bytes.len());
        alike::<Pod>(&bytes[..at])?;
        bytes[at] = byte;
        alike::<Pod>(&bytes)?;
    }

    #[test]
    fn arbitrary_values_are_written_or_refused(value in pod(), path in 0_usize..6, other in prop_oneof![
        Just(json!(null)), Just(json!([])), Just(json!({})), Just(json!(1.5)), Just(json!("x")), Just(json!([null])),
    ]) {
        let mut value = value;
        let path = ["/metadata", "/spec", "/spec/containers", "/spec/containers/0", "/status", "/spec/containers/0/resources"][path];
        *value.pointer_mut(path).unwrap() = other;
        if let Ok(bytes) = to_vec(&value, UnknownFields::Ignore) {
            prop_assert!(to_value(&bytes).is_ok());
        }
    }
}
