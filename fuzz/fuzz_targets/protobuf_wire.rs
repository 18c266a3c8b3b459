//! Any bytes read as protobuf, as a LIST, a WATCH and an object: chunks make no difference, and whatever is wrong is an
//! error.

#![no_main]

use bytes::Bytes;
use k8s_openapi::api::core::v1::Pod;
use kube_informer::{FieldPlan, form};
use kube_informer::low_level::wire::{
    Encoding, FrameError, ListMeta, ListReader, RawObject, WatchReader, parse_bookmark,
};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// The objects that a body has before its end, and its end.
type Read<T> = (Vec<Bytes>, Result<T, FrameError>);

fn list(body: &[u8], chunk: usize) -> Read<ListMeta> {
    let mut reader = ListReader::new(Encoding::Protobuf);
    let mut items = Vec::new();
    for chunk in body.chunks(chunk) {
        reader.push(Bytes::copy_from_slice(chunk));
        loop {
            match reader.next() {
                Ok(Some(item)) => items.push(item),
                Ok(_) => break,
                Err(error) => return (items, Err(error)),
            }
        }
    }
    (items, reader.finish())
}

fn watch(body: &[u8], chunk: usize) -> Read<()> {
    let mut reader = WatchReader::new(Encoding::Protobuf);
    let mut objects = Vec::new();
    for chunk in body.chunks(chunk) {
        reader.push(Bytes::copy_from_slice(chunk));
        loop {
            match reader.next() {
                Ok(Some((_, object))) => objects.push(object),
                Ok(None) => break,
                Err(error) => return (objects, Err(error)),
            }
        }
    }
    (objects, reader.finish())
}

fn check_object(object: &Bytes) {
    let _ = parse_bookmark(Encoding::Protobuf, object);
    let plan = FieldPlan::without_managed_fields();
    let Ok(raw) = RawObject::scan_with(Encoding::Protobuf, object.clone(), &plan) else { return };
    assert!(!raw.name().is_empty());
    for (name, _) in raw.labels() {
        assert!(raw.label(&name).is_some());
    }
    // The length of the metadata may take more bytes than it needs, never fewer.
    assert!(raw.body().len() <= object.len());
    // Whatever it is of, reading it must not panic.
    let _ = form::decode::<Value>(&raw);
    let _ = form::decode::<Pod>(&raw);
}

fuzz_target!(|data: &[u8]| {
    let Some((&size, body)) = data.split_first() else { return };
    let (size, whole) = (usize::from(size) + 1, body.len().max(1));
    let (items, end) = list(body, whole);
    let (in_chunks, end_in_chunks) = list(body, size);
    assert_eq!((&items, end.is_ok()), (&in_chunks, end_in_chunks.is_ok()));
    let (objects, end) = watch(body, whole);
    let (in_chunks, end_in_chunks) = watch(body, size);
    assert_eq!((&objects, end.is_ok()), (&in_chunks, end_in_chunks.is_ok()));
    let object = Bytes::copy_from_slice(body);
    items.iter().chain(&objects).chain([&object]).for_each(check_object);
});
