//! From raw objects to those that are held, and back.

use crate::meter::Meter;
use crate::objects::{BOTH, PODS, object};
use k8s_openapi::api::core::v1::Pod;
use kube::core::TypeMeta;
use kube_informer::form::{Decode, DecoderConfig, Packed};
use kube_informer::low_level::wire::RawObject;
use kube_informer::{FieldPath, FieldPlan, ObjectKey};
use std::hint::black_box;

pub fn measure(meter: &mut Meter) {
    if !meter.wants("form: ") {
        return;
    }
    let path = FieldPath::parse("/status/phase").expect("a path");
    let config = || DecoderConfig {
        types: Some(TypeMeta::resource::<Pod>()),
        ..Default::default()
    };
    for (encoding, name) in BOTH {
        let scanned = |plan: &FieldPlan| -> Vec<(ObjectKey, RawObject)> {
            let items = (0..PODS).map(|number| object(encoding, number));
            let raw = items.map(|item| RawObject::scan_with(encoding, item, plan).expect("a pod"));
            raw.map(|raw| (raw.key(), raw)).collect()
        };
        let typed = scanned(&Pod::plan());
        let decoder = Pod::decoder(config());
        meter.path(&format!("form: decode a Pod, {name}"), PODS, || {
            for (key, raw) in &typed {
                black_box(Pod::decode_raw(&decoder, key, raw).expect("a pod"));
            }
        });
        drop(typed);

        let raw = scanned(&Packed::<Pod>::plan());
        let packer = Packed::<Pod>::decoder(config());
        let pack =
            |(key, raw): &(ObjectKey, RawObject)| Packed::decode_raw(&packer, key, raw).expect("a pod");
        // The first ones train the dictionary and become the bases of their families.
        let packed: Vec<Packed<Pod>> = raw.iter().map(pack).collect();
        meter.path(&format!("form: pack a pod, {name}"), PODS, || {
            for raw in &raw {
                black_box(pack(raw));
            }
        });
        // As in a list, which is sorted by name.
        let mut siblings: Vec<_> = raw.iter().collect();
        siblings.sort_by_key(|(_, raw)| raw.owner_references());
        meter.path(
            &format!("form: pack a pod after its siblings, {name}"),
            PODS,
            || {
                for raw in &siblings {
                    black_box(pack(raw));
                }
            },
        );
        meter.path(&format!("form: decode a packed pod, cold, {name}"), PODS, || {
            for pod in &packed {
                black_box(pod.decode().expect("a pod"));
            }
        });
        meter.path(
            &format!("form: decode a packed pod, cached, {name}"),
            PODS,
            || {
                for pod in packed.iter().take(8).cycle().take(PODS) {
                    black_box(pod.decode().expect("a pod"));
                }
            },
        );
        meter.path(&format!("form: a field of a packed pod, {name}"), PODS, || {
            for pod in &packed {
                black_box(pod.field::<String>(&path).expect("a string"));
            }
        });
    }
}
