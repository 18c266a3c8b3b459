//! Records of a saved cache: whatever they are, restoring packed objects from them and reading these neither panics nor allocates
//! more than they can stand for. The input is records, each after its length in two bytes; the last one is the packer's state.

#![no_main]

use k8s_openapi::api::core::v1::Pod;
use kube_informer::form::{Decode, DecoderConfig, Packed};
use kube_informer::FieldPath;
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

fuzz_target!(|data: &[u8]| {
    let packer = Arc::new(Packed::<Pod>::decoder(DecoderConfig::default()));
    let mut restore = Packed::<Pod>::restore_objects(&packer).expect("packed objects can be restored");
    let path = FieldPath::parse("/spec/nodeName").expect("a path");
    let (mut rest, mut restored) = (data, Vec::new());
    while let Some((length, behind)) = rest.split_first_chunk() {
        let Some((record, behind)) = behind.split_at_checked(u16::from_le_bytes(*length).into()) else {
            break;
        };
        rest = behind;
        if rest.is_empty() {
            let _ = restore.finish(record);
            break;
        }
        match restore.read(record) {
            Some(object) => restored.push(object),
            None => break,
        }
    }
    for object in restored {
        let _ = (object.body(), object.uid(), object.labels().count(), object.decode());
        let _ = object.field::<String>(&path);
    }
});
