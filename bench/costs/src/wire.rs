//! From bytes to raw objects.

use crate::meter::Meter;
use crate::objects::{BOTH, PODS, event, item, list};
use bytes::Bytes;
use k8s_openapi::api::core::v1::Pod;
use kube_informer::form::{Decode as _, Packed};
use kube_informer::low_level::wire::{ListReader, RawObject, WatchReader};
use std::hint::black_box;

/// What hyper hands out on a fast connection.
const CHUNK: usize = 64 << 10;

pub fn measure(meter: &mut Meter) {
    if !meter.wants("wire: ") {
        return;
    }
    let plan = Packed::<Pod>::plan();
    for (encoding, name) in BOTH {
        let items: Vec<Bytes> = (0..PODS).map(|number| item(encoding, number, 0)).collect();
        let body = list(encoding, &items, 3_000_000);
        meter.path(&format!("wire: split a pod off a list, {name}"), PODS, || {
            let mut reader = ListReader::new(encoding);
            for chunk in chunks(&body) {
                reader.push(chunk);
                while let Some(item) = reader.next().expect("a list") {
                    black_box(item);
                }
            }
            reader.finish().expect("a whole list");
        });
        meter.path(&format!("wire: scan a pod, {name}"), PODS, || {
            for item in &items {
                black_box(RawObject::scan_with(encoding, item.clone(), &plan).expect("a pod"));
            }
        });
        let events: Vec<u8> = (0..PODS).flat_map(|number| event(encoding, number, 1)).collect();
        let events = Bytes::from(events);
        meter.path(&format!("wire: split a pod off a watch, {name}"), PODS, || {
            let mut reader = WatchReader::new(encoding);
            for chunk in chunks(&events) {
                reader.push(chunk);
                while let Some(event) = reader.next().expect("a watch") {
                    black_box(event);
                }
            }
            reader.finish().expect("a whole watch");
        });
    }
}

fn chunks(body: &Bytes) -> impl Iterator<Item = Bytes> {
    (0..body.len())
        .step_by(CHUNK)
        .map(|start| body.slice(start..body.len().min(start + CHUNK)))
}
