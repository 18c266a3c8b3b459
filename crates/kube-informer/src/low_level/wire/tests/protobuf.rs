//! Protobuf, with `kube_protobuf` as what the server writes.

use super::*;
use kube_protobuf::UnknownFields::Deny;
use kube_protobuf::{Descriptor, message_to_vec, to_vec, watch_event_to_vec};
use serde_json::{Value, json};

fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name, "namespace": "shop", "uid": format!("uid-{name}"), "resourceVersion": "7",
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "labels": {"app": "web", "tier": "x".repeat(300)},
            "annotations": {"k8s.io/initial-events-end": "true"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}],
            "managedFields": [
                {"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {}}},
                {"manager": "n", "operation": "Apply"},
            ],
        },
        "spec": {"containers": [{"name": "main"}], "nodeName": "node-1"},
    })
}

fn message(object: &Value) -> Bytes {
    let message = Descriptor::of("v1", "Pod").unwrap();
    message_to_vec(message, object, Deny).unwrap().into()
}

fn envelope(object: &Value) -> Bytes {
    to_vec(object, Deny).unwrap().into()
}

fn list(names: &[&str]) -> Bytes {
    let items: Vec<_> = names.iter().map(|name| pod(name)).collect();
    let metadata = json!({"resourceVersion": "9", "continue": "next", "remainingItemCount": 3});
    envelope(&json!({"apiVersion": "v1", "kind": "PodList", "metadata": metadata, "items": items}))
}

fn frame(event: &str, object: &[u8]) -> Vec<u8> {
    let event = watch_event_to_vec(event, object);
    let length = u32::try_from(event.len()).unwrap().to_be_bytes();
    [&length[..], &event].concat()
}

fn cut_bytes(body: &Bytes, places: &[u16]) -> Vec<Bytes> {
    let mut ends: Vec<usize> = places
        .iter()
        .map(|&place| body.len() * usize::from(place) / 65536)
        .collect();
    ends.push(body.len());
    ends.sort_unstable();
    let mut start = 0;
    let cut = ends
        .iter()
        .map(|&end| body.slice(std::mem::replace(&mut start, end)..end));
    cut.collect()
}

type Listed = (Vec<Bytes>, Result<ListMeta, FrameError>);

fn read_list(chunks: Vec<Bytes>, max: usize) -> Listed {
    let mut reader = ListReader::with_max_object_size(Encoding::Protobuf, max);
    let mut items = Vec::new();
    for chunk in chunks {
        reader.push(chunk);
        loop {
            match reader.next() {
                Ok(Some(item)) => items.push(item),
                Ok(None) => break,
                Err(error) => return (items, Err(error)),
            }
        }
    }
    (items, reader.finish())
}

fn read_watch(chunks: Vec<Bytes>, max: usize) -> (Vec<(EventType, Bytes)>, Result<(), FrameError>) {
    let mut reader = WatchReader::with_max_object_size(Encoding::Protobuf, max);
    let mut frames = Vec::new();
    for chunk in chunks {
        reader.push(chunk);
        loop {
            match reader.next() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => return (frames, Err(error)),
            }
        }
    }
    (frames, reader.finish())
}

fn scan(bytes: Bytes) -> Result<RawObject, ScanError> {
    RawObject::scan_with(Encoding::Protobuf, bytes, &FieldPlan::without_managed_fields())
}

fn value(body: &[u8]) -> Value {
    kube_protobuf::from_message(Descriptor::of("v1", "Pod").unwrap(), body).unwrap()
}

#[test]
fn a_list_is_split_into_its_items() {
    let (items, end) = read_list(vec![list(&["a", "b"])], 1 << 20);
    assert_eq!(items, [message(&pod("a")), message(&pod("b"))]);
    let end = end.unwrap();
    assert_eq!(end.resource_version, Some("9".into()));
    assert_eq!(
        (end.continue_token.as_deref(), end.remaining_item_count),
        (Some("next"), Some(3))
    );
    assert_eq!(
        (end.kind.as_deref(), end.api_version.as_deref()),
        (Some("PodList"), Some("v1"))
    );
    let (items, end) = read_list(vec![list(&[])], 1 << 20);
    assert!(items.is_empty() && end.is_ok());
}

#[test]
fn an_item_is_scanned_as_an_event_is() {
    let mut reader = ListReader::new(Encoding::Protobuf);
    reader.push(list(&["a"]));
    let item = reader
        .next_scanned(&FieldPlan::default())
        .unwrap()
        .expect("an item")
        .unwrap();
    let event = RawObject::scan(Encoding::Protobuf, envelope(&pod("a"))).unwrap();
    for raw in [&item, &event] {
        assert_eq!(
            (raw.namespace(), raw.name(), raw.uid()),
            (Some("shop"), "a", Some("uid-a"))
        );
        assert_eq!((raw.api_version(), raw.kind()), (Some("v1"), Some("Pod")));
        assert_eq!(raw.resource_version(), Some("7".into()));
        assert_eq!(raw.label("app").as_deref(), Some("web"));
        assert_eq!(raw.labels().count(), 2);
        assert!(raw.owner_references().is_some_and(|owners| !owners.is_empty()));
    }
    assert_eq!(item.fingerprint(), event.fingerprint());
    let other = RawObject::scan(Encoding::Protobuf, envelope(&pod("b"))).unwrap();
    assert_ne!(item.fingerprint(), other.fingerprint());
}

#[test]
fn managed_fields_are_cut() {
    let mut expected = pod("a");
    expected["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("managedFields");
    for members in ["apiVersion", "kind"] {
        expected.as_object_mut().unwrap().remove(members);
    }
    let expected = value(&message(&expected));
    for bytes in [message(&pod("a")), envelope(&pod("a"))] {
        let raw = scan(bytes.clone()).unwrap();
        assert_eq!(value(&raw.body()), expected);
        assert_eq!(body_with_uid(&raw), *raw.body());
        assert!(raw.write_body_without_uid(&mut Vec::new()).is_some());
        assert_eq!(*raw.bytes(), bytes);
        let detached = raw.into_owned();
        assert_eq!(value(&detached.body()), expected);
    }
    let whole = RawObject::scan(Encoding::Protobuf, envelope(&pod("a"))).unwrap();
    assert_eq!(*whole.body(), *message(&pod("a")), "without the envelope");
}

// A ServiceAccount is no more than that, and the server ends an envelope with two empty fields.
#[test]
fn managed_fields_at_the_end_of_a_message_are_cut() {
    let mut account = pod("a");
    account.as_object_mut().unwrap().remove("spec");
    account["kind"] = "ServiceAccount".into();
    let item = message_to_vec(Descriptor::of("v1", "ServiceAccount").unwrap(), &account, Deny).unwrap();
    let event = [&*envelope(&account), &[0x1a, 0, 0x22, 0]].concat();
    let (item, event) = (scan(item.into()).unwrap(), scan(event.into()).unwrap());
    assert!(item.body().len() < item.bytes().len());
    assert_eq!(item.body(), event.body());
    assert_eq!(body_with_uid(&event), *event.body());
}

#[test]
fn a_version_identifies_a_state_in_any_encoding() {
    let by_version = FieldPlan::default().by_version();
    let fingerprint = |encoding, pod: &Value, plan: &FieldPlan| {
        let bytes = match encoding {
            Encoding::Json => pod.to_string().into(),
            _ => message(pod),
        };
        let raw = RawObject::scan_with(encoding, bytes, plan).unwrap();
        (raw.fingerprint(), raw.is_identified_by_version())
    };
    let of_body = |encoding, pod: &Value| fingerprint(encoding, pod, &FieldPlan::default());
    let of_version = |encoding, pod: &Value| fingerprint(encoding, pod, &by_version);
    let (json, protobuf) = (Encoding::Json, Encoding::Protobuf);

    let a = pod("a");
    assert_ne!(of_body(protobuf, &a), of_body(json, &a));
    let same = of_version(json, &a);
    assert!(same.1);
    assert_eq!(of_version(protobuf, &a), same);
    let mut later = a.clone();
    later["metadata"]["resourceVersion"] = "8".into();
    assert_ne!(of_version(protobuf, &later), same);

    let mut bare = a;
    bare["metadata"].as_object_mut().unwrap().remove("uid");
    for encoding in [json, protobuf] {
        assert_eq!(of_version(encoding, &bare), of_body(encoding, &bare));
    }
}

#[test]
fn what_cannot_be_keyed_is_an_error() {
    let without_name = message(&json!({"metadata": {"namespace": "shop"}}));
    assert_eq!(scan(without_name).unwrap_err().reason(), &ScanReason::NoName);
    let error = scan(message(&json!({"metadata": {"name": "a/b"}}))).unwrap_err();
    assert_eq!(error.reason(), &ScanReason::InvalidName("metadata.name"));
    // A label that is not UTF-8, behind a name.
    let label = b"\x0a\x0b\x0a\x01a\x5a\x06\x0a\x01k\x12\x01\xff";
    let error = scan(Bytes::from_static(label)).unwrap_err();
    assert_eq!(error.key(), Some(&"a".into()));
    assert_eq!(error.reason(), &ScanReason::InvalidText("metadata.labels"));
    let twice = [&message(&json!({"metadata": {"name": "a"}}))[..]; 2].concat();
    assert!(scan(twice.into()).is_err(), "metadata twice");
}

#[test]
fn what_is_no_list_is_an_error() {
    let reason = |body: Bytes| read_list(vec![body], 1 << 20).1.unwrap_err().reason().clone();
    let status = envelope(&json!({"apiVersion": "v1", "kind": "Status", "message": "no"}));
    assert_eq!(
        reason(status),
        FrameReason::NotAList {
            kind: Some("Status".into())
        }
    );
    assert_eq!(
        reason("<html>".into()),
        FrameReason::Expected("an object in protobuf")
    );
    assert_eq!(reason(Bytes::new()), FrameReason::Truncated);
    let large = read_list(vec![list(&["a"])], 100).1.unwrap_err();
    assert_eq!(large.reason(), &FrameReason::TooLarge { limit: 100 });
}

#[test]
fn frames_of_a_watch_are_read() {
    let object = envelope(&pod("a"));
    let body = [
        frame("ADDED", &object),
        frame("BOOKMARK", &object),
        frame("PAUSED", &object),
    ]
    .concat();
    let (frames, end) = read_watch(vec![body.into()], 1 << 20);
    assert_eq!(end, Ok(()));
    let events: Vec<_> = frames.iter().map(|(event, _)| event.as_str()).collect();
    assert_eq!(events, ["ADDED", "BOOKMARK", "PAUSED"]);
    assert!(frames.iter().all(|(_, read)| *read == object));
    let read = parse_bookmark(Encoding::Protobuf, &frames[1].1).unwrap();
    assert_eq!(
        (read.resource_version, read.initial_events_end),
        (Some("7".into()), true)
    );

    let large = read_watch(vec![frame("ADDED", &object).into()], 100)
        .1
        .unwrap_err();
    assert_eq!(large.reason(), &FrameReason::TooLarge { limit: 100 });
    let nothing = read_watch(vec![Bytes::from_static(&[0, 0, 0, 0])], 100)
        .1
        .unwrap_err();
    assert_eq!(nothing.reason(), &FrameReason::Missing("type"));
}

proptest! {
    #[test]
    fn chunk_boundaries_make_no_difference(places in places(), end in 0..=65535u16) {
        let max = 1 << 20;
        let body = list(&["a", "b", "c"]);
        prop_assert_eq!(read_list(cut_bytes(&body, &places), max), read_list(vec![body.clone()], max));
        let watch: Bytes = ["ADDED", "DELETED"].map(|event| frame(event, &envelope(&pod("a")))).concat().into();
        prop_assert_eq!(read_watch(cut_bytes(&watch, &places), max), read_watch(vec![watch.clone()], max));
        // Behind the list there are only two empty fields of the envelope.
        let part = body.slice(..(body.len() - 4) * usize::from(end) / 65536);
        prop_assert!(read_list(cut_bytes(&part, &places), max).1.is_err(), "a part of a list");
    }

    #[test]
    fn broken_bytes_are_errors_wherever_chunks_end(
        change in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        places in places(),
    ) {
        let broken = |bytes: Bytes| {
            let mut bytes = bytes.to_vec();
            for (at, byte) in &change {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Bytes::from(bytes)
        };
        let body = broken(list(&["a", "b"]));
        let (items, _) = read_list(cut_bytes(&body, &places), 1 << 20);
        prop_assert_eq!(&items, &read_list(vec![body], 1 << 20).0);
        let watch = broken(frame("ADDED", &envelope(&pod("a"))).into());
        prop_assert_eq!(
            read_watch(cut_bytes(&watch, &places), 1 << 20).0,
            read_watch(vec![watch], 1 << 20).0
        );
        for object in items.into_iter().chain([broken(envelope(&pod("a")))]) {
            let _ = parse_bookmark(Encoding::Protobuf, &object);
            if let Ok(raw) = scan(object) {
                prop_assert!(raw.body().len() <= raw.bytes().len());
                prop_assert_eq!(body_with_uid(&raw), &*raw.body());
                raw.labels().for_each(drop);
            }
        }
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(body in proptest::collection::vec(any::<u8>(), 0..300)) {
        for start in [&b""[..], b"k8s\0", b"k8s\0\x0a\x0d\x0a\x02v1\x12\x07PodList\x12"] {
            let body = Bytes::from([start, &body].concat());
            let _ = read_list(vec![body.clone()], 1 << 20);
            let _ = read_watch(vec![body.clone()], 1 << 20);
            let _ = parse_bookmark(Encoding::Protobuf, &body);
            let _ = scan(body);
        }
    }
}
