use super::super::tests::{config_map, pack, packer};
use super::super::{Packed, Packer};
use crate::form::{Decode as _, DecoderConfig};
use crate::low_level::wire::FieldPlan;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::{DynamicObject, TypeMeta};
use serde_json::{Value, json};
use std::sync::{Arc, atomic::Ordering};

fn packer_with<K: Send + Sync + 'static>(decoded_cache: usize) -> Packer<K> {
    Packed::decoder(DecoderConfig {
        decoded_cache: Some(decoded_cache),
        ..DecoderConfig::default()
    })
}

/// The number of tracked decoded objects.
fn tracked<K>(packer: &Packer<K>) -> usize {
    packer.shared.decoded.lock().alive.len()
}

/// How many decoded objects are kept, and their size.
fn kept_by<K>(packer: &Packer<K>) -> (usize, usize) {
    let entries = packer.shared.decoded.lock();
    (entries.recent.len(), entries.size)
}

#[test]
fn decoding_again_returns_the_same_object_while_it_lives() {
    let packer = packer_with::<ConfigMap>(0);
    let packed = pack(&packer, &config_map(1, "web"));
    let first = packed.decode().unwrap();
    assert!(Arc::ptr_eq(&first, &packed.clone().decode().unwrap()));
    assert_eq!(Arc::strong_count(&first), 1, "nothing is kept for later");
    let other = pack(&packer, &config_map(2, "web"));
    assert_eq!(other.decode().unwrap().metadata.name.as_deref(), Some("web-2"));
    // The number of tracked objects stays small, however many were decoded and dropped.
    for number in 0..1000 {
        pack(&packer, &config_map(number, "web")).decode().unwrap();
    }
    assert!(tracked(&packer) <= 128, "{}", tracked(&packer));
}

#[test]
fn what_was_read_last_is_kept_until_its_size_is_reached() {
    // Large enough for two of the three objects, whatever their numbers.
    let size = |packed: &Packed<ConfigMap>| packed.header().decoded_size();
    let any = pack(&packer_with::<ConfigMap>(0), &config_map(1, "web"));
    let packer = packer_with::<ConfigMap>(size(&any) * 5 / 2);
    let [a, b, c] = [1, 2, 3].map(|number| pack(&packer, &config_map(number, "web")));
    let kept = |packed: &Packed<ConfigMap>| Arc::strong_count(&packed.decode().unwrap()) == 2;
    let weak = [&a, &b].map(|packed| Arc::downgrade(&packed.decode().unwrap()));
    assert!(weak.iter().all(|weak| weak.strong_count() == 1), "both are kept");
    assert!(kept(&a), "read after the other");
    assert!(kept(&c));
    assert_eq!(
        weak.each_ref().map(|weak| weak.strong_count()),
        [1, 0],
        "the other had to go"
    );
    drop(a);
    assert_eq!(
        weak[0].strong_count(),
        0,
        "what is not cached any more is not kept"
    );
    assert_eq!(kept_by(&packer), (1, size(&c)));
}

#[test]
fn an_object_larger_than_what_may_be_kept_evicts_nothing() {
    let size = pack(&packer_with::<ConfigMap>(0), &config_map(1, "web"))
        .header()
        .decoded_size();
    let packer = packer_with::<ConfigMap>(size * 3 / 2);
    let small = pack(&packer, &config_map(1, "web"));
    let large = pack(&packer, &config_map(2, &"x".repeat(size)));
    small.decode().unwrap();
    large.decode().unwrap();
    assert_eq!(kept_by(&packer), (1, size));
}

/// Whether an object that was just packed is decoded already.
fn is_ahead<K>(packed: &Packed<K>) -> bool {
    packed.header().decoded.load(Ordering::Relaxed)
}

#[test]
fn while_objects_are_read_the_next_one_is_decoded_as_it_arrives() {
    let packer = packer::<ConfigMap>(FieldPlan::default());
    let arrives = |number| pack(&packer, &config_map(number, "web"));
    let mut all: Vec<_> = (0..100).map(arrives).collect();
    assert!(all.iter().all(|packed| !is_ahead(packed)), "nobody reads");
    assert_eq!(kept_by(&packer), (0, 0));
    for packed in &all {
        packed.decode().unwrap();
    }
    for number in 100..200 {
        let packed = arrives(number);
        assert!(is_ahead(&packed), "{number}");
        let decoded = packed.decode().unwrap();
        assert_eq!(Arc::strong_count(&decoded), 2, "kept already");
        assert_eq!(decoded.metadata.name.as_deref(), Some(packed.name()));
        all.push(packed);
    }
    let in_vain = (200..300).map(arrives).filter(is_ahead).count();
    assert!(in_vain < 10, "a burst that nobody reads: {in_vain}");
    for packed in &all[..20] {
        packed.decode().unwrap();
    }
    assert!(!is_ahead(&arrives(300)), "reading again is no new reader");
    assert!(kept_by(&packer).1 <= 1 << 20);
}

#[test]
fn where_less_than_half_is_read_hardly_anything_is_decoded_ahead() {
    let packer = packer::<ConfigMap>(FieldPlan::default());
    let mut ahead = 0;
    for number in 0..999 {
        let packed = pack(&packer, &config_map(number, "web"));
        ahead += usize::from(is_ahead(&packed));
        if number % 3 == 0 {
            packed.decode().unwrap();
        }
    }
    assert_eq!(ahead, 0);
}

#[test]
fn reads_of_old_objects_are_no_reads_of_arrivals() {
    let packer = packer::<ConfigMap>(FieldPlan::default());
    let arrives = |number| pack(&packer, &config_map(number, "web"));
    let old: Vec<_> = (0..1000).map(arrives).collect();
    for number in 0..500 {
        assert!(!is_ahead(&arrives(1000 + number)), "{number}");
        old[number * 7 % old.len()].decode().unwrap();
    }
}

#[test]
fn reads_that_come_after_the_cache_has_evicted_the_object_do_not_count() {
    let size = pack(&packer::<ConfigMap>(FieldPlan::default()), &config_map(1, "web"))
        .header()
        .decoded_size();
    // How many of 200 objects are decoded ahead, if each is read after `lag` others have arrived.
    let ahead = |lag: usize, room: usize| {
        let packer = packer_with::<ConfigMap>(size * room + size / 2);
        let (mut all, mut ahead) = (Vec::new(), 0);
        for number in 0..200 {
            all.push(pack(&packer, &config_map(number, "web")));
            ahead += usize::from(is_ahead(&all[number]));
            if let Some(read) = number.checked_sub(lag) {
                all[read].decode().unwrap();
            }
        }
        ahead
    };
    assert!(ahead(3, 10) > 150);
    assert_eq!(ahead(10, 5), 0);
    assert_eq!(ahead(40, 100), 0);
}

#[test]
fn it_takes_a_while_to_try_again_where_other_reads_evict_what_was_decoded_ahead() {
    let size = pack(&packer::<ConfigMap>(FieldPlan::default()), &config_map(1, "web"))
        .header()
        .decoded_size();
    let packer = packer_with::<ConfigMap>(size * 10);
    let arrives = |number| pack(&packer, &config_map(number, "web"));
    let old: Vec<_> = (0..12).map(arrives).collect();
    let mut ahead = 0;
    for number in 0..200 {
        let packed = arrives(number);
        ahead += usize::from(is_ahead(&packed));
        for old in &old {
            old.decode().unwrap();
        }
        packed.decode().unwrap();
    }
    assert!((1..20).contains(&ahead), "{ahead}");
}

#[test]
fn nothing_is_decoded_ahead_without_a_cache() {
    let packer = packer_with::<ConfigMap>(0);
    for number in 0..100 {
        let packed = pack(&packer, &config_map(number, "web"));
        assert!(!is_ahead(&packed), "{number}");
        packed.decode().unwrap();
    }
}

/// Panics for some objects, and does not match others.
#[derive(Debug, PartialEq, serde::Deserialize)]
struct Faulty {
    #[serde(deserialize_with = "faulty")]
    data: String,
}

fn faulty<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = <String as serde::Deserialize>::deserialize(deserializer)?;
    assert_ne!(text, "panic");
    Ok(text)
}

#[test]
fn an_object_that_cannot_be_decoded_ahead_fails_when_it_is_read() {
    let packer = packer::<Faulty>(FieldPlan::default());
    let arrives = |data: Value| pack(&packer, &json!({"metadata": {"name": "a"}, "data": data}));
    for _ in 0..20 {
        arrives(json!("good")).decode().unwrap();
    }
    let [wrong, panics] = [json!(7), json!("panic")].map(&arrives);
    assert!(!is_ahead(&wrong) && !is_ahead(&panics));
    assert!(wrong.decode().is_err());
    assert!(std::panic::catch_unwind(|| panics.decode()).is_err());
    let good = arrives(json!("good"));
    assert!(is_ahead(&good) && good.decode().unwrap().data == "good");
    for _ in 0..20 {
        arrives(json!(7)).decode().unwrap_err();
    }
    assert!(!is_ahead(&arrives(json!("good"))), "what fails is not read");
}

#[test]
fn what_is_decoded_ahead_equals_what_is_decoded_later() {
    let types = TypeMeta {
        api_version: "v1".into(),
        kind: "ConfigMap".into(),
    };
    for known in [None, Some(types)] {
        let packer = || {
            Packed::<DynamicObject>::decoder(DecoderConfig {
                plan: FieldPlan::without_managed_fields(),
                types: known.clone(),
                ..DecoderConfig::default()
            })
        };
        let read = packer();
        for number in 0..40 {
            let mut object = config_map(number, "web");
            if number % 2 == 0 {
                object["kind"] = json!("Other");
            }
            let (ahead, later) = (pack(&read, &object), pack(&packer(), &object));
            assert!(is_ahead(&ahead) || number < 16, "{number}");
            assert!(!is_ahead(&later));
            assert_eq!(ahead.decode(), later.decode());
        }
    }
}
