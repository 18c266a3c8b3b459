//! Pods as bytes in both encodings.

use bytes::Bytes;
use kube_informer::low_level::wire::Encoding;
use kube_protobuf::{Descriptor, Envelope, UnknownFields, json_to_vec, message_to_vec, watch_event_to_vec};
use serde_json::json;
use std::sync::LazyLock;

#[path = "../../wire/src/pods.rs"]
mod pods;

/// How many pods a collection has: more than a dictionary is trained with.
pub const PODS: usize = 200;

pub const BOTH: [(Encoding, &str); 2] = [(Encoding::Json, "JSON"), (Encoding::Protobuf, "protobuf")];

/// The state number `state` of a pod, as an item of a list in JSON; the first state is 0. States differ in what the restart of
/// a container changes.
fn pod_json(number: usize, state: usize) -> String {
    // Making a pod takes longer than all that is measured of it.
    static FIRST: LazyLock<Vec<String>> = LazyLock::new(|| (0..PODS).map(pods::pod).collect());
    let pod = &FIRST[number];
    if state == 0 {
        return pod.clone();
    }
    let version = format!("\"resourceVersion\":\"{}\"", 1_000_000 + number * 7);
    pod.replace(
        &version,
        &format!("\"resourceVersion\":\"{}\"", version_of(number, state)),
    )
    .replace("\"restartCount\":0", &format!("\"restartCount\":{state}"))
    .replace("2026-07-01T10:00:", &format!("2026-07-01T11:{:02}:", state % 60))
}

/// The resource version of a state that is not the first: those of one state follow those of the one before.
fn version_of(number: usize, state: usize) -> usize {
    2_000_000 + state * 10_000 + number
}

/// A resource version after all that so many states have.
pub fn version_after(state: usize) -> usize {
    2_000_000 + state * 10_000 + 9_999
}

fn message(pod: &str) -> Vec<u8> {
    json_to_vec(
        Descriptor::of("v1", "Pod").expect("known"),
        pod,
        UnknownFields::Deny,
    )
    .expect("a pod")
}

/// A pod in this state as an item of a list.
pub fn item(encoding: Encoding, number: usize, state: usize) -> Bytes {
    let pod = pod_json(number, state);
    match encoding {
        Encoding::Protobuf => message(&pod).into(),
        _ => pod.into(),
    }
}

/// A pod that stands alone: as in an event of a watch.
pub fn object(encoding: Encoding, number: usize) -> Bytes {
    let pod = item(encoding, number, 0);
    match encoding {
        Encoding::Protobuf => Envelope::new("v1", "Pod", &pod).to_vec().into(),
        _ => pod,
    }
}

/// A list of these items.
pub fn list(encoding: Encoding, items: &[Bytes], version: usize) -> Bytes {
    let metadata = json!({"resourceVersion": version.to_string()});
    match encoding {
        Encoding::Protobuf => {
            let list = Descriptor::of("v1", "PodList").expect("known");
            let mut bytes =
                message_to_vec(list, &json!({"metadata": metadata}), UnknownFields::Deny).expect("a list");
            for item in items {
                bytes.push(2 << 3 | 2);
                put_varint(&mut bytes, item.len());
                bytes.extend_from_slice(item);
            }
            Envelope::new("v1", "PodList", &bytes).to_vec().into()
        }
        _ => {
            let mut bytes =
                format!("{{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{metadata},\"items\":[")
                    .into_bytes();
            for (number, item) in items.iter().enumerate() {
                if number > 0 {
                    bytes.push(b',');
                }
                bytes.extend_from_slice(item);
            }
            bytes.extend_from_slice(b"]}\n");
            bytes.into()
        }
    }
}

/// An event that a pod has this state now.
pub fn event(encoding: Encoding, number: usize, state: usize) -> Bytes {
    let pod = pod_json(number, state);
    match encoding {
        Encoding::Protobuf => {
            let object = Envelope::new("v1", "Pod", &message(&pod)).to_vec();
            framed(&watch_event_to_vec("MODIFIED", &object))
        }
        _ => {
            let pod = &pod[1..];
            format!("{{\"type\":\"MODIFIED\",\"object\":{{\"kind\":\"Pod\",\"apiVersion\":\"v1\",{pod}}}\n")
                .into()
        }
    }
}

/// The event that ends a watch whose version is too old.
pub fn expired(encoding: Encoding) -> Bytes {
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "too old resource version", "reason": "Expired", "code": 410});
    match encoding {
        Encoding::Protobuf => {
            let status = kube_protobuf::to_vec(&status, UnknownFields::Deny).expect("a status");
            framed(&watch_event_to_vec("ERROR", &status))
        }
        _ => format!("{}\n", json!({"type": "ERROR", "object": status})).into(),
    }
}

fn framed(event: &[u8]) -> Bytes {
    let length = u32::try_from(event.len()).expect("a short event").to_be_bytes();
    [&length[..], event].concat().into()
}

fn put_varint(bytes: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
