//! Reading k8s-openapi's types without serde: a message is read into the struct that is made of it, field by field.
//!
//! serde's way goes by the names of fields: each type has code that compares them, once more for each deserializer. Here a type
//! has a `match` over numbers (`generated`), which is a fraction of the instructions and of the code.
//!
//! What is not as Go writes it (records that are not in order, a message that is there twice, text that is no UTF-8, bytes that
//! are no protobuf) is not read here: `None` leaves it to serde's way, which reads it or says what is wrong.

#[rustfmt::skip]
#[allow(unreachable_code)] // after what only some versions have
mod generated;

use crate::de::{micro_time, time};
use crate::table;
use crate::text::ZERO_TIME;
use crate::wire::{Reader, Wire};
use crate::{Deserializer, MAX_DEPTH};
use k8s_openapi::ByteString;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, Time};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use k8s_openapi::jiff::Timestamp;
use serde::de::DeserializeOwned;
use std::any::Any;
use std::collections::BTreeMap;

/// Reads the message of a kind, if `T` is the type that k8s-openapi has for it.
pub(crate) fn read<T: 'static>(message: &'static table::Message, bytes: &[u8]) -> Option<T> {
    let mut object: Option<T> = None;
    generated::read(message, bytes, &mut object)?;
    object
}

/// Reads into an `Option<T>`.
fn read_into<T: Message + Default + 'static>(bytes: &[u8], object: &mut dyn Any) -> Option<()> {
    let object = object.downcast_mut::<Option<T>>()?;
    let read = merge(object.insert(T::default()), bytes, MAX_DEPTH);
    if read.is_none() {
        *object = None;
    }
    read
}

/// A struct that is made of a message.
trait Message {
    /// The fields that JSON always has, by number, and their values where the message has none: those of which the struct's
    /// default is another one.
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[]
    }

    /// Reads one record. Those that it has no field for are passed over.
    fn field(&mut self, input: Input<'_>) -> Option<()>;
}

/// One record, on its way into a field.
#[derive(Clone, Copy)]
struct Input<'de> {
    number: u32,
    value: Wire<'de>,
    /// Whether the record before it has the same number.
    again: bool,
    /// What follows it.
    rest: &'de [u8],
    /// How many levels there may be below.
    depth: usize,
}

impl<'de> Input<'de> {
    fn bytes(&self) -> Option<&'de [u8]> {
        match self.value {
            Wire::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Of what may be there once.
    fn once(&self) -> Option<()> {
        (!self.again).then_some(())
    }

    /// How many records with the same number there are from here on.
    fn count(&self) -> usize {
        let mut reader = Reader::new(self.rest);
        let following = std::iter::from_fn(|| reader.read().ok().flatten());
        1 + following
            .take_while(|record| record.number == self.number)
            .count()
    }
}

/// Reads a message into a struct. It is one function for all of them: little code is read from memory when a process has been idle.
fn merge(out: &mut dyn Message, bytes: &[u8], depth: usize) -> Option<()> {
    fields(out, bytes, depth.checked_sub(1)?)
}

fn fields(out: &mut dyn Message, bytes: &[u8], depth: usize) -> Option<()> {
    let mut zeros = out.zeros();
    let mut reader = Reader::new(bytes);
    let mut last = 0;
    loop {
        let record = reader.read().ok()?;
        let number = record.map_or(u32::MAX, |record| record.number);
        while let [(zero, value), rest @ ..] = zeros
            && *zero <= number
        {
            zeros = rest;
            if *zero < number {
                let (number, value) = (*zero, *value);
                let (again, rest) = (false, &[][..]);
                out.field(Input {
                    number,
                    value,
                    again,
                    rest,
                    depth,
                })?;
            }
        }
        let Some(record) = record else {
            return Some(());
        };
        if number < last {
            return None;
        }
        out.field(Input {
            number,
            value: record.value,
            again: number == last,
            rest: reader.rest(),
            depth,
        })?;
        last = number;
    }
}

/// What one record holds.
trait Value: Sized {
    fn read(input: Input<'_>) -> Option<Self>;
}

impl Value for bool {
    fn read(input: Input<'_>) -> Option<Self> {
        match input.value {
            Wire::Varint(value) => Some(value != 0),
            _ => None,
        }
    }
}

impl Value for i32 {
    fn read(input: Input<'_>) -> Option<Self> {
        match input.value {
            // Go takes the lower half of what does not fit.
            Wire::Varint(value) => Some(value as i32),
            _ => None,
        }
    }
}

impl Value for i64 {
    fn read(input: Input<'_>) -> Option<Self> {
        match input.value {
            Wire::Varint(value) => Some(value as i64),
            _ => None,
        }
    }
}

impl Value for f64 {
    fn read(input: Input<'_>) -> Option<Self> {
        match input.value {
            Wire::Fixed64(bits) => Some(f64::from_bits(bits)).filter(|value| value.is_finite()),
            _ => None,
        }
    }
}

impl Value for String {
    fn read(input: Input<'_>) -> Option<Self> {
        let text = std::str::from_utf8(input.bytes()?).ok()?;
        Some(text.to_owned())
    }
}

impl Value for ByteString {
    fn read(input: Input<'_>) -> Option<Self> {
        Some(Self(input.bytes()?.to_owned()))
    }
}

/// [`Form::Quantity`](table::Form).
impl Value for Quantity {
    fn read(input: Input<'_>) -> Option<Self> {
        input.depth.checked_sub(1)?;
        match only(input.bytes()?)? {
            [None, None, None] => Some(Self("0".to_owned())),
            [Some(Wire::Bytes(text)), None, None] => Some(Self(std::str::from_utf8(text).ok()?.to_owned())),
            _ => None,
        }
    }
}

/// [`Form::IntOrString`](table::Form).
impl Value for IntOrString {
    fn read(input: Input<'_>) -> Option<Self> {
        input.depth.checked_sub(1)?;
        match only(input.bytes()?)? {
            [None | Some(Wire::Varint(0)), None, _] => Some(Self::Int(0)),
            [None | Some(Wire::Varint(0)), Some(Wire::Varint(integer)), _] => Some(Self::Int(integer as i32)),
            [Some(Wire::Varint(1)), _, None] => Some(Self::String(String::new())),
            [Some(Wire::Varint(1)), _, Some(Wire::Bytes(text))] => {
                Some(Self::String(std::str::from_utf8(text).ok()?.to_owned()))
            }
            _ => None,
        }
    }
}

/// The values of a message's fields 1 to 3, if it has no other ones and none twice.
fn only(bytes: &[u8]) -> Option<[Option<Wire<'_>>; 3]> {
    let mut values = [None; 3];
    let mut reader = Reader::new(bytes);
    while let Some(record) = reader.read().ok()? {
        let value = values.get_mut(record.number as usize - 1)?;
        if value.replace(record.value).is_some() {
            return None;
        }
    }
    Some(values)
}

impl<M: Message + Default> Value for M {
    fn read(input: Input<'_>) -> Option<Self> {
        let mut message = M::default();
        merge(&mut message, input.bytes()?, input.depth)?;
        Some(message)
    }
}

// What `generated` calls, by what a field is.

/// A type that is not the one of the message: another version has changed it.
fn unread<T>(_: &T) -> Option<()> {
    None
}

/// A scalar.
fn set<T: Value>(field: &mut T, input: Input<'_>) -> Option<()> {
    *field = T::read(input)?;
    Some(())
}

/// A scalar that may be missing.
fn some<T: Value>(field: &mut Option<T>, input: Input<'_>) -> Option<()> {
    *field = Some(T::read(input)?);
    Some(())
}

/// A scalar that is missing where it is zero.
fn some_unless_empty<T: Value + Default + PartialEq>(field: &mut Option<T>, input: Input<'_>) -> Option<()> {
    *field = Some(T::read(input)?).filter(|value| *value != T::default());
    Some(())
}

/// A message that is no struct.
fn set_once<T: Value>(field: &mut T, input: Input<'_>) -> Option<()> {
    input.once()?;
    set(field, input)
}

fn some_once<T: Value>(field: &mut Option<T>, input: Input<'_>) -> Option<()> {
    input.once()?;
    some(field, input)
}

/// [`Form::Time`](table::Form).
fn some_time(field: &mut Option<Time>, input: Input<'_>) -> Option<()> {
    input.once()?;
    input.depth.checked_sub(1)?;
    let seconds = time(input.bytes()?).ok()?;
    *field = match seconds {
        Some(seconds) => Some(Time(timestamp(seconds, 0)?)),
        None => None,
    };
    Some(())
}

/// [`Form::MicroTime`](table::Form).
fn some_micro_time(field: &mut Option<MicroTime>, input: Input<'_>) -> Option<()> {
    input.once()?;
    input.depth.checked_sub(1)?;
    *field = match micro_time(input.bytes()?).ok()? {
        Some((seconds, microseconds)) => Some(MicroTime(timestamp(seconds, microseconds)?)),
        None => None,
    };
    Some(())
}

/// A time that JSON can have, with a year of four digits.
fn timestamp(seconds: i64, microseconds: u32) -> Option<Timestamp> {
    let nanoseconds = i32::try_from(microseconds * 1000).ok()?;
    Timestamp::new(seconds, nanoseconds)
        .ok()
        .filter(|_| seconds >= ZERO_TIME)
}

fn message(field: &mut dyn Message, input: Input<'_>) -> Option<()> {
    input.once()?;
    merge(field, input.bytes()?, input.depth)
}

/// A message whose fields are those of the message that it is in.
fn inline(field: &mut dyn Message, input: Input<'_>) -> Option<()> {
    input.once()?;
    fields(field, input.bytes()?, input.depth)
}

fn push<T: Value>(list: &mut Vec<T>, input: Input<'_>) -> Option<()> {
    list.push(T::read(input)?);
    Some(())
}

/// How much memory a list gets before its elements have been read: an element may be a thousand times as large as its record.
const MOST_RESERVED: usize = 1 << 20;

/// Makes room for the elements of a list, no more than that.
fn room<'a, T>(list: &'a mut Option<Vec<T>>, input: &Input<'_>) -> &'a mut Vec<T> {
    reserve(list.get_or_insert_default(), input)
}

fn reserve<'a, T>(list: &'a mut Vec<T>, input: &Input<'_>) -> &'a mut Vec<T> {
    if !input.again {
        list.reserve_exact(input.count().min(MOST_RESERVED / size_of::<T>().max(1)));
    }
    list
}

fn push_message<M: Message + Default>(list: &mut Vec<M>, input: Input<'_>) -> Option<()> {
    let slot = list.len();
    list.push(M::default());
    merge(&mut list[slot], input.bytes()?, input.depth)
}

fn entry<T: Value>(map: &mut BTreeMap<String, T>, input: Input<'_>) -> Option<()> {
    let (key, value) = key_and_value(&input)?;
    map.insert(key, T::read(value)?);
    Some(())
}

/// An entry of a map is a message of a key (1) and a value (2).
fn key_and_value<'de>(input: &Input<'de>) -> Option<(String, Input<'de>)> {
    let [key, value, None] = only(input.bytes()?)? else {
        return None;
    };
    let key = match key {
        Some(Wire::Bytes(key)) => std::str::from_utf8(key).ok()?.to_owned(),
        Some(_) => return None,
        None => String::new(),
    };
    let value = value.unwrap_or(Wire::Bytes(&[]));
    Some((key, Input { value, ..*input }))
}

// Types that have a form of their own are left to serde, each by itself.

fn by_serde<T: DeserializeOwned>(message: &'static table::Message, input: Input<'_>) -> Option<T> {
    let deserializer = Deserializer::within(message, input.bytes()?, input.depth).ok()?;
    T::deserialize(deserializer).ok()
}

fn set_by_serde<T: DeserializeOwned + Default>(
    field: &mut T,
    message: &'static table::Message,
    input: Input<'_>,
) -> Option<()> {
    let mut value = None;
    some_by_serde(&mut value, message, input)?;
    *field = value.unwrap_or_default();
    Some(())
}

fn some_by_serde<T: DeserializeOwned>(
    field: &mut Option<T>,
    message: &'static table::Message,
    input: Input<'_>,
) -> Option<()> {
    input.once()?;
    *field = by_serde(message, input)?;
    Some(())
}

fn push_by_serde<T: DeserializeOwned>(
    list: &mut Vec<T>,
    message: &'static table::Message,
    input: Input<'_>,
) -> Option<()> {
    list.push(by_serde(message, input)?);
    Some(())
}

fn entry_by_serde<T: DeserializeOwned>(
    map: &mut BTreeMap<String, T>,
    message: &'static table::Message,
    input: Input<'_>,
) -> Option<()> {
    let (key, value) = key_and_value(&input)?;
    map.insert(key, by_serde(message, value)?);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Descriptor, Envelope, UnknownFields, decode_message, decode_slice, from_message, from_slice,
        message_to_vec,
    };
    use k8s_openapi::api::core::v1::{Node, Pod, Secret, Service};
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
    use serde_json::{Value, json};

    fn descriptor(kind: &str) -> Descriptor {
        let group = if kind == "CustomResourceDefinition" {
            "apiextensions.k8s.io/v1"
        } else {
            "v1"
        };
        Descriptor::of(group, kind).unwrap()
    }

    /// Reads an object as Go would write it, without serde.
    fn without_serde<T: DeserializeOwned + 'static>(kind: &str, object: &Value) -> T {
        let message = descriptor(kind);
        let bytes = message_to_vec(message, object, UnknownFields::Deny).unwrap();
        read(message.0, &bytes).unwrap()
    }

    #[test]
    fn objects_are_read_without_serde() {
        let pod = json!({
            "metadata": {
                "name": "web", "creationTimestamp": "2026-01-02T03:04:05Z", "labels": {"a": "b", "c": ""},
                "managedFields": [{"manager": "m", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {}}, "time": "2026-01-02T03:04:05Z"}],
            },
            "spec": {
                "containers": [
                    {"name": "a", "ports": [{"containerPort": 80}], "resources": {"limits": {"cpu": "500m"}}, "stdin": true},
                    {"name": "b", "resources": {}, "livenessProbe": {"httpGet": {"path": "/", "port": "http"}}},
                ],
                "volumes": [{"name": "config", "configMap": {"name": "settings", "defaultMode": 420}}],
                "ephemeralContainers": [{"name": "e", "resources": {}}],
                "hostNetwork": true, "terminationGracePeriodSeconds": 0, "overhead": {"cpu": "1"},
                "securityContext": {"supplementalGroups": [1, 2], "fsGroup": 0},
            },
            "status": {"phase": "Running", "startTime": null, "qosClass": "Burstable"},
        });
        let read: Pod = without_serde("Pod", &pod);
        assert_eq!(read, serde_json::from_value(pod).unwrap());
        // No more memory than is needed.
        let spec = read.spec.unwrap();
        assert_eq!(
            (spec.containers.capacity(), spec.volumes.unwrap().capacity()),
            (2, 1)
        );

        let secret =
            json!({"metadata": {"name": "s"}, "data": {"a": "aHVudGVyMg==", "b": ""}, "type": "Opaque"});
        assert_eq!(
            without_serde::<Secret>("Secret", &secret),
            serde_json::from_value(secret).unwrap()
        );
        let service = json!({
            "metadata": {"name": "s"},
            "spec": {"ports": [{"port": 80, "targetPort": 8080}, {"port": 81, "targetPort": "http"}, {"port": 82, "targetPort": 0}]},
            "status": {
                "loadBalancer": {},
                "conditions": [{"type": "A", "status": "True", "lastTransitionTime": "2026-01-02T03:04:05Z", "reason": "", "message": ""}],
            },
        });
        assert_eq!(
            without_serde::<Service>("Service", &service),
            serde_json::from_value(service).unwrap()
        );
        let node: Value = json!({"metadata": {"name": "n"}, "spec": {}, "status": {
            "capacity": {"cpu": "8"}, "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}}, "nodeInfo": {
                "architecture": "", "bootID": "", "containerRuntimeVersion": "", "kernelVersion": "", "kubeProxyVersion": "",
                "kubeletVersion": "v1", "machineID": "", "operatingSystem": "", "osImage": "", "systemUUID": "",
            },
        }});
        assert_eq!(
            without_serde::<Node>("Node", &node),
            serde_json::from_value(node).unwrap()
        );
        let definition = json!({
            "metadata": {"name": "d"},
            "spec": {"group": "g", "scope": "Cluster", "names": {"plural": "d", "kind": "D"}, "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {
                    "type": "object", "default": {"a": 1}, "properties": {"a": {"not": {"enum": [1, "x", null]}, "minimum": 1.5}},
                    "additionalProperties": false, "items": [{"type": "string"}], "x-kubernetes-int-or-string": true,
                }},
            }]},
            "status": {"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": null},
        });
        let read: CustomResourceDefinition = without_serde("CustomResourceDefinition", &definition);
        assert_eq!(read, serde_json::from_value(definition).unwrap());
    }

    #[test]
    fn what_json_always_has_is_there_without_a_record() {
        for kind in ["Pod", "Node"] {
            let message = descriptor(kind);
            // An empty spec and an empty status are not null in JSON.
            let pod = decode_message::<Pod>(message, b"").unwrap();
            assert_eq!(pod, from_message::<Pod>(message, b"").unwrap());
        }
        let pod: Pod = read(descriptor("Pod").0, b"").unwrap();
        assert_eq!(
            pod,
            serde_json::from_value(json!({"metadata": {}, "spec": {"containers": null}, "status": {}}))
                .unwrap()
        );
    }

    #[test]
    fn an_envelope_is_refused_as_by_serde() {
        for (api_version, is_read) in [("v1", true), ("/v1", false), ("apps/v1", false)] {
            let envelope = Envelope::new(api_version, "Pod", b"").to_vec();
            assert_eq!(decode_slice::<Pod>(&envelope).is_ok(), is_read, "{api_version}");
            assert_eq!(from_slice::<Pod>(&envelope).is_ok(), is_read, "{api_version}");
        }
    }

    #[test]
    fn what_go_does_not_write_is_left_to_serde() {
        let read = |bytes: &[u8]| read::<Pod>(descriptor("Pod").0, bytes);
        assert!(read(b"\x0a\x03\x0a\x01a\x12\x00").is_some());
        for bytes in [
            &b"\x12\x00\x0a\x03\x0a\x01a"[..], // not in order
            b"\x0a\x00\x0a\x00",               // a message twice
            b"\x0a\x03\x0a\x01\xff",           // no UTF-8
            b"\x0a\x02\x08\x01",               // a name that is an integer
            b"\x0a\x03\x0a",                   // too short
        ] {
            assert_eq!(read(bytes), None, "{bytes:x?}");
        }
        // A list that asks for a thousand times its size.
        let empty_containers = [&b"\x12\x86\x06\x10\x00"[..], &b"\x12\x00".repeat(386)].concat();
        assert_eq!(read(&empty_containers), None);
        assert_eq!(super::read::<Pod>(descriptor("Node").0, b""), None);
        assert_eq!(super::read::<Value>(descriptor("Pod").0, b""), None);
    }
}
