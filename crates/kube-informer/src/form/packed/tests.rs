use super::coding::Compressor;
use super::*;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::core::{DynamicObject, TypeMeta};
use serde_json::{Value, json};

pub(super) fn packer<K: Send + Sync + 'static>(plan: FieldPlan) -> Packer<K> {
    Packed::decoder(DecoderConfig {
        plan,
        ..DecoderConfig::default()
    })
}

pub(super) fn pack<K: Send + Sync + 'static>(packer: &Packer<K>, object: &Value) -> Packed<K> {
    let plan = &packer.plan();
    let raw = RawObject::scan_with(Encoding::Json, object.to_string().into(), plan).unwrap();
    Packed::decode_raw(packer, &raw.key(), &raw).unwrap()
}

/// A config map of some hundred bytes. Config maps of one sort are similar, but each contains no repetition.
pub(super) fn config_map(number: usize, sort: &str) -> Value {
    let noise = |n: u64| (sort.len() as u64 * 100 + n).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let settings = (0..16).map(|n| {
        (
            format!("setting-{:x}", noise(n)),
            format!("{:x}{}", noise(n + 50), number % 10),
        )
    });
    json!({
        "metadata": {
            "name": format!("{sort}-{number}"), "namespace": "shop", "uid": format!("{number:036}"),
            "resourceVersion": (number + 1).to_string(), "labels": {"sort": sort},
            "managedFields": [{"manager": sort}],
        },
        "data": settings.collect::<std::collections::BTreeMap<_, _>>(),
    })
}

fn path(path: &str) -> FieldPath {
    path.parse().unwrap()
}

#[test]
fn metadata_is_read_without_decoding() {
    let packer = packer::<ConfigMap>(FieldPlan::default());
    for number in 0..200 {
        let packed = pack(&packer, &config_map(number, "web"));
        assert_eq!(packed.key().as_str(), format!("shop/web-{number}"));
        assert_eq!(
            (packed.namespace(), packed.name()),
            (Some("shop"), packed.key().name())
        );
        assert_eq!(packed.uid().unwrap(), format!("{number:036}"));
        assert_eq!(
            packed.resource_version(),
            Some(&(&*(number + 1).to_string()).into())
        );
        assert_eq!(packed.labels().collect::<Vec<_>>(), [("sort", "web")]);
        assert_eq!((packed.label("sort"), packed.label("so")), (Some("web"), None));
        assert_eq!(
            serde_json::from_slice::<Value>(&packed.body()).unwrap(),
            config_map(number, "web")
        );
    }
    let bare = pack(&packer, &json!({"metadata": {"name": "a"}}));
    assert_eq!(
        (bare.uid(), bare.resource_version(), bare.labels().count()),
        (None, None, 0)
    );
}

#[test]
fn a_dictionary_is_made_of_the_first_objects() {
    let packer = packer::<ConfigMap>(FieldPlan::without_managed_fields());
    let all: Vec<_> = (0..264)
        .map(|number| pack(&packer, &config_map(number, "web")))
        .collect();
    assert_eq!(packer.stats().dictionaries, 1);
    assert_eq!(packer.stats().label_sets, 1);
    let kept = |packed: &Packed<ConfigMap>| packed.header().kept as usize;
    assert!(
        all[..64]
            .iter()
            .all(|packed| kept(packed) + 36 == packed.body().len()),
        "small collections stay plain, without the uid, which is beside"
    );
    let (first, later) = (kept(&all[0]), all[64..].iter().map(kept).max().unwrap());
    assert!(later * 3 < first, "{later} of {first} bytes");
    for (number, packed) in all.iter().enumerate() {
        let mut expected = config_map(number, "web");
        expected["metadata"]
            .as_object_mut()
            .unwrap()
            .remove("managedFields");
        assert_eq!(serde_json::from_slice::<Value>(&packed.body()).unwrap(), expected);
    }
    let stats = packer.stats();
    assert_eq!(stats.objects, 264);
    assert_eq!(
        stats.total_bytes,
        all.iter().map(|packed| packed.size() as u64).sum::<u64>()
    );
    drop(all);
    let stats = packer.stats();
    assert_eq!(
        (
            stats.objects,
            stats.body_bytes,
            stats.kept_bytes,
            stats.total_bytes
        ),
        (0, 0, 0, 0)
    );
}

#[test]
fn a_new_dictionary_is_made_when_the_ratio_gets_worse() {
    let packer = packer::<ConfigMap>(FieldPlan::default());
    for number in 0..1200 {
        pack(&packer, &config_map(number, "web"));
    }
    assert_eq!(packer.stats().dictionaries, 1);
    let kept = |number| {
        pack(&packer, &config_map(number, "entirely-different"))
            .header()
            .kept
    };
    let before = kept(0);
    (1..2700).for_each(|number| _ = kept(number));
    assert_eq!(packer.stats().dictionaries, 2);
    assert!(kept(4000) * 3 < before * 2, "{} of {before} bytes", kept(4000));
}

/// A config map of digits in no order, which nothing compresses as well as entropy tables that are there already.
fn digits(number: u64) -> Value {
    let noise = |n: u64| (number * 10 + n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let digits = (0..10).map(|n| format!("{:020}", noise(n)));
    json!({"metadata": {"name": format!("map-{number}")}, "data": {"digits": digits.collect::<String>()}})
}

/// Training pays only after many objects. What was saved of a trained one needs none when it is restored.
#[test]
fn a_dictionary_is_trained_after_many_objects() {
    let packer = Arc::new(packer::<ConfigMap>(FieldPlan::default()));
    let is_trained = |packer: &Packer<ConfigMap>| {
        let state = packer.state();
        state.compressor.as_ref().is_some_and(Compressor::is_trained)
    };
    let mut all: Vec<_> = (0..4096).map(|number| pack(&packer, &digits(number))).collect();
    assert!(!is_trained(&packer));
    assert_eq!(packer.stats().dictionaries, 1);
    all.extend((4096..4200).map(|number| pack(&packer, &digits(number))));
    assert!(is_trained(&packer));
    assert_eq!(packer.stats().dictionaries, 2);
    for (number, packed) in (0..).zip(&all) {
        assert_eq!(
            serde_json::from_slice::<Value>(&packed.body()).unwrap(),
            digits(number)
        );
    }
    let kept = |objects: &[Packed<ConfigMap>]| {
        objects[..20]
            .iter()
            .map(|packed| packed.header().kept)
            .sum::<u32>()
    };
    let (before, after) = (kept(&all[1000..]), kept(&all[4180..]));
    assert!(after * 10 < before * 9, "{after} of {before} bytes");

    let mut record = Vec::new();
    Packed::save_objects(&packer).unwrap().finish(&mut record);
    let restored = Arc::new(self::packer(FieldPlan::default()));
    Packed::restore_objects(&restored)
        .unwrap()
        .finish(&record)
        .unwrap();
    assert!(is_trained(&restored) && restored.state().trained);
}

/// An object of about two KiB, most of which is determined by `owner` and `state`.
fn owned(owner: u64, state: u64, number: u64) -> Value {
    let noise = |n: u64| format!("{:016x}", (n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let part = |seed: u64| (0..40).map(|n| noise(seed * 1000 + n)).collect::<String>();
    json!({
        "metadata": {"name": format!("pod-{owner}-{number}"), "uid": noise(number), "ownerReferences": [{"uid": noise(owner)}]},
        "spec": {"a": part(owner)},
        "status": {"b": part(owner * 77 + state), "c": noise(number * 3)},
    })
}

/// Packs objects, checks that they can be read, and returns their sizes.
fn sizes(packer: &Packer<DynamicObject>, objects: impl Iterator<Item = Value>) -> Vec<u32> {
    let all: Vec<_> = objects.map(|object| (pack(packer, &object), object)).collect();
    let read = |(packed, object): (Packed<DynamicObject>, Value)| {
        assert_eq!(serde_json::from_slice::<Value>(&packed.body()).unwrap(), object);
        packed.header().kept
    };
    all.into_iter().map(read).collect()
}

/// A packer whose dictionary was made of unrelated objects.
fn learned() -> Packer<DynamicObject> {
    let packer = packer(FieldPlan::default());
    sizes(&packer, (0..64).map(|number| owned(1 << 20, number, number)));
    assert_eq!(packer.stats().dictionaries, 1);
    packer
}

#[test]
fn objects_with_the_same_owner_are_stored_as_deltas() {
    let packer = learned();
    let siblings = sizes(&packer, (0..200).map(|number| owned(number / 20, 0, number)));
    for family in siblings.chunks(20) {
        let (first, rest) = (family[0], &family[1..]);
        assert!(rest.iter().all(|size| size * 4 < first), "{family:?}");
    }
    assert_eq!(packer.stats().families, 10);
    assert!(packer.stats().family_bytes > 10 * 1000, "{:?}", packer.stats());
}

// Whatever the seed of their hashes is.
#[test]
fn siblings_that_come_in_turns_are_found() {
    let packer = learned();
    let in_turns = (0..500).map(|number| pack(&packer, &owned(number % 250, 0, number)));
    let _all: Vec<_> = in_turns.collect();
    assert_eq!(packer.stats().families, 250);
}

#[test]
fn a_family_gets_a_new_base_when_its_objects_change() {
    let packer = learned();
    let sizes = sizes(&packer, (0..60).map(|number| owned(7, number / 20, number)));
    for (state, family) in sizes.chunks(20).enumerate() {
        assert!(
            family[2..].iter().all(|size| size * 4 < sizes[0]),
            "{state}: {family:?}"
        );
    }
}

#[test]
fn families_of_dissimilar_objects_are_not_compared() {
    let packer = learned();
    let before = packer.stats();
    let alone = sizes(&packer, (0..100).map(|number| owned(number + 100, 0, number)));
    let same_owner = |number| {
        let mut object = owned(number + 100, 0, number);
        object["metadata"]["ownerReferences"] = json!([{"uid": "the same"}]);
        object
    };
    let together = sizes(&packer, (0..100).map(same_owner));
    let close = |a: u32, b: u32| a.abs_diff(b) * 50 < a;
    assert!(
        together[20..]
            .iter()
            .zip(&alone[20..])
            .all(|(a, b)| close(*a, *b)),
        "{together:?}, {alone:?}"
    );
    assert_eq!(packer.stats().families, before.families + 1);
}

#[test]
fn cached_bases_are_bounded_and_unused_families_removed() {
    let packer = learned();
    let all: Vec<_> = (0..1500)
        .flat_map(|owner| [owned(owner, 0, 2 * owner), owned(owner, 0, 2 * owner + 1)])
        .map(|object| (pack(&packer, &object), object))
        .collect();
    let stats = packer.stats();
    assert_eq!(stats.families, 1500);
    // The limit of cached bases and one more, plus the stored size of all.
    assert!(stats.family_bytes < 1500 * 1500 + (256 << 10) + 4096, "{stats:?}");
    for (packed, object) in &all {
        assert_eq!(serde_json::from_slice::<Value>(&packed.body()).unwrap(), *object);
    }
    // Families are used again after their bases were evicted.
    sizes(&packer, (0..1500).map(|owner| owned(owner, 0, 9000 + owner)));
    drop(all);
    for owner in 2000..5000 {
        sizes(&packer, (0..2).map(|number| owned(owner, 0, number)));
    }
    assert!(packer.stats().families < 3100, "{:?}", packer.stats());
}

#[test]
fn incompressible_bodies_are_stored_uncompressed() {
    let packer = packer::<ConfigMap>(FieldPlan::default());
    for number in 0..100_u64 {
        let noise: String = (0..40)
            .map(|n| format!("{:x}", (number * 40 + n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)))
            .collect();
        let object = json!({"metadata": {"name": number.to_string()}, "data": {"x": noise}});
        let packed = pack(&packer, &object);
        assert!(packed.header().kept <= packed.header().size);
        assert_eq!(serde_json::from_slice::<Value>(&packed.body()).unwrap(), object);
    }
}

#[test]
fn a_large_object_is_compressed_without_a_dictionary() {
    let packer = packer::<ConfigMap>(FieldPlan::default());
    let object = json!({"metadata": {"name": "large"}, "data": {"x": "all the same ".repeat(100_000)}});
    let packed = pack(&packer, &object);
    assert!(packed.size() < 2000, "{}", packed.size());
    assert_eq!(
        packed.decode().unwrap().data.as_ref().unwrap()["x"].len(),
        1_300_000
    );
}

#[test]
fn declared_and_undeclared_fields_are_equal() {
    let object = json!({
        "metadata": {"name": "a", "ownerReferences": [{"uid": "u1"}, {"uid": "u2"}]},
        "spec": {"nodeName": "node-1", "priority": null, "n": 7},
    });
    let paths = [
        "/spec/nodeName",
        "/metadata/ownerReferences/*/uid",
        "/spec/priority",
        "/spec/none",
        "/spec/n",
    ]
    .map(path);
    let declared = pack(
        &packer::<DynamicObject>(FieldPlan::new([], paths.clone()).unwrap()),
        &object,
    );
    let undeclared = pack(&packer::<DynamicObject>(FieldPlan::default()), &object);
    for packed in [&declared, &undeclared] {
        assert_eq!(packed.field::<String>(&paths[0]), Ok(Some("node-1".into())));
        assert_eq!(
            packed.fields::<String>(&paths[1]),
            Ok(vec!["u1".into(), "u2".into()])
        );
        assert_eq!(packed.field::<String>(&paths[1]), Ok(Some("u2".into())));
        assert_eq!(packed.field::<String>(&paths[2]), Ok(None));
        assert_eq!(packed.field::<String>(&paths[3]), Ok(None));
        assert_eq!(packed.field::<u32>(&paths[4]), Ok(Some(7)));
        let error = packed.field::<u32>(&paths[0]).unwrap_err().to_string();
        assert_eq!(error, "/spec/nodeName: invalid type (line 1, column 8)");
    }
}

#[test]
fn schema_errors_are_returned_by_decode() {
    let packed = pack(
        &packer::<Pod>(FieldPlan::default()),
        &json!({"metadata": {"name": "a"}, "spec": {"containers": "hunter2"}}),
    );
    let error = packed.decode().unwrap_err().to_string();
    assert!(
        error.starts_with("spec.containers: invalid type") && !error.contains("hunter2"),
        "{error}"
    );
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    let deep = format!(r#"{{"metadata":{{"name":"a"}},"spec":{deep}}}"#);
    let raw = RawObject::scan(Encoding::Json, deep.into()).unwrap();
    let packed: Packed<DynamicObject> =
        Packed::decode_raw(&packer(FieldPlan::default()), &raw.key(), &raw).unwrap();
    let error = packed.decode().unwrap_err().to_string();
    assert!(error.contains("levels deep"), "{error}");
}

#[test]
fn a_dynamic_object_knows_its_kind() {
    let types = TypeMeta {
        api_version: "v1".into(),
        kind: "ConfigMap".into(),
    };
    let packer = Packed::<DynamicObject>::decoder(DecoderConfig {
        types: Some(types.clone()),
        ..DecoderConfig::default()
    });
    assert_eq!(
        pack(&packer, &config_map(0, "web")).decode().unwrap().types,
        Some(types)
    );
}

#[test]
fn debugging_shows_no_body() {
    let packed = pack(&packer::<ConfigMap>(FieldPlan::default()), &config_map(0, "web"));
    assert!(!format!("{packed:?}").contains("setting"), "{packed:?}");
}

fn pack_text<K: Send + Sync + 'static>(packer: &Packer<K>, body: &str) -> Packed<K> {
    let raw = RawObject::scan_with(Encoding::Json, body.to_owned().into(), &packer.plan()).unwrap();
    Packed::decode_raw(packer, &raw.key(), &raw).unwrap()
}

fn types(api_version: &str, kind: &str) -> TypeMeta {
    TypeMeta {
        api_version: api_version.into(),
        kind: kind.into(),
    }
}

#[test]
fn each_object_keeps_its_own_api_version() {
    let packer = packer::<DynamicObject>(FieldPlan::default());
    let body = |version: &str, number: u32| {
        format!(
            r#"{{"apiVersion":"example.com/{version}","kind":"Widget","metadata":{{"name":"w{number}"}},"spec":{{}}}}"#
        )
    };
    // The decoded form of a packed object is still alive when the next packed object reuses its address.
    let held: Vec<_> = (0..100)
        .map(|number| pack_text(&packer, &body("v1", number)).decode().unwrap())
        .collect();
    for (number, held) in (0..).zip(held) {
        let decoded = pack_text(&packer, &body("v2", number)).decode().unwrap();
        assert_eq!(held.types, Some(types("example.com/v1", "Widget")));
        assert_eq!(decoded.types, Some(types("example.com/v2", "Widget")));
    }
}

#[test]
fn an_object_without_a_kind_has_that_of_its_collection() {
    let config = |types| DecoderConfig {
        types,
        plan: FieldPlan::new([], [path("/kind")]).unwrap(),
        ..DecoderConfig::default()
    };
    let known = Packed::<DynamicObject>::decoder(config(Some(types("v1", "Thing"))));
    let unknown = Packed::<DynamicObject>::decoder(config(None));
    let check = |packer: &Packer<DynamicObject>, head: &str, expected: Option<TypeMeta>| {
        let packed = pack_text(packer, &format!(r#"{{{head}"metadata":{{"name":"a"}}}}"#));
        let read = |field: &str| packed.field::<String>(&path(field)).unwrap();
        assert_eq!(packed.decode().unwrap().types, expected, "{head}");
        let fields = (
            read("/apiVersion").unwrap_or_default(),
            read("/kind").unwrap_or_default(),
        );
        let expected = expected.map(|types| (types.api_version, types.kind));
        assert_eq!(fields, expected.unwrap_or_default(), "{head}");
    };
    check(&known, "", Some(types("v1", "Thing")));
    check(&known, r#""kind":null,"#, Some(types("v1", "Thing")));
    check(
        &known,
        r#""kind":"Other","apiVersion":"v2","#,
        Some(types("v2", "Other")),
    );
    check(&known, r#""kind":"Other","#, Some(types("v1", "Other")));
    check(&known, r#""apiVersion":"v2","#, Some(types("v2", "Thing")));
    check(
        &known,
        r#""kind":"A","kind":"B","apiVersion":"v2","#,
        Some(types("v2", "B")),
    );
    check(&unknown, "", None);
    check(&unknown, r#""kind":"Other","#, Some(types("", "Other")));
    check(
        &unknown,
        r#""kind":"A","kind":"B","apiVersion":"v2","#,
        Some(types("v2", "B")),
    );
}

/// Packs `body` with and without `path` declared, and checks that `field` returns the same value as `decode`.
#[track_caller]
fn check_field(body: &str, field: &str, expected: Option<Value>) {
    let field = path(field);
    for fields in [vec![], vec![field.clone()]] {
        let packed = pack_text(&packer::<Value>(FieldPlan::new([], fields).unwrap()), body);
        let decoded = packed.decode().unwrap();
        let in_decoded = decoded
            .pointer(&field.to_string())
            .filter(|value| !value.is_null());
        assert_eq!(in_decoded, expected.as_ref(), "decoded: {field} of {body}");
        assert_eq!(
            packed.field::<Value>(&field).unwrap(),
            expected,
            "{field} of {body}"
        );
    }
}

#[test]
fn kind_version_and_metadata_are_fields_too() {
    let body = r#"{"apiVersion":"v1","kind":"Thing","metadata":{"name":"a","labels":{"x":"y"}},"spec":1}"#;
    check_field(body, "/apiVersion", Some(json!("v1")));
    check_field(body, "/kind", Some(json!("Thing")));
    check_field(
        body,
        "/metadata",
        Some(json!({"name": "a", "labels": {"x": "y"}})),
    );
    check_field(body, "/metadata/name", Some(json!("a")));
    check_field(body, "/metadata/labels", Some(json!({"x": "y"})));
    check_field(body, "/metadata/labels/x", Some(json!("y")));
    check_field(body, "/kind/x", None);
    let packed = pack_text(&packer::<Value>(FieldPlan::default()), body);
    let all = packed.fields::<Value>(&path("/*")).unwrap();
    assert_eq!(
        all,
        [
            json!("v1"),
            json!("Thing"),
            json!({"name": "a", "labels": {"x": "y"}}),
            json!(1)
        ]
    );
}

#[test]
fn the_last_of_duplicate_members_counts() {
    let object = |rest: &str| format!(r#"{{"metadata":{{"name":"a"}},{rest}}}"#);
    check_field(
        &object(r#""spec":{"a":1},"spec":{"a":2}"#),
        "/spec/a",
        Some(json!(2)),
    );
    check_field(&object(r#""spec":{"a":1,"a":2}"#), "/spec/a", Some(json!(2)));
    check_field(&object(r#""spec":{"a":1},"spec":{"b":2}"#), "/spec/a", None);
    check_field(&object(r#""spec":{"a":1},"spec":null"#), "/spec/a", None);
    check_field(&object(r#""spec":{"a":1},"sp\u0065c":3"#), "/spec/a", None);
    check_field(&object(r#""spec":{"a":1,"a":null}"#), "/spec/a", None);
    check_field(
        &object(r#""spec":{"a":{"b":1},"x":0,"a":{}},"y":1"#),
        "/spec/a/b",
        None,
    );
    let body = r#"{"metadata":{"name":"a","x":{"y":1}},"metadata":{"name":"b","x":{"z":2}}}"#;
    check_field(body, "/metadata/x/y", None);
    check_field(body, "/metadata/x/z", Some(json!(2)));
    check_field(body, "/metadata/name", Some(json!("b")));

    let body = object(r#""spec":{"a":[{"n":1},{"n":2}],"b":[{"n":3,"n":4}],"a":[{"n":5}]}"#);
    let every = path("/spec/*/*/n");
    for fields in [vec![], vec![path("/spec/b"), every.clone()]] {
        let packed = pack_text(&packer::<Value>(FieldPlan::new([], fields).unwrap()), &body);
        assert_eq!(packed.fields::<u32>(&every).unwrap(), [4, 5]);
    }
    let body = r#"{"metadata":{"name":"a","labels":{"x":"1","y":"2","x":"3"}}}"#;
    let packed = pack_text(&packer::<Value>(FieldPlan::default()), body);
    assert_eq!(packed.labels().collect::<Vec<_>>(), [("y", "2"), ("x", "3")]);
}

#[test]
fn a_declared_field_lacks_pruned_parts() {
    let object = json!({"metadata": {"name": "a", "managedFields": [{"manager": "m"}]}, "spec": {"a": [{"b": 1, "c": 2}]}});
    let pruned = [path("/metadata/managedFields"), path("/spec/*/*/b")];
    let fields = ["/metadata", "/spec/a", "/metadata/managedFields/*/manager"].map(path);
    let packer = packer::<Value>(FieldPlan::new(pruned, fields.clone()).unwrap());
    let packed = pack(&packer, &object);
    let read = |field: &FieldPath| packed.field::<Value>(field).unwrap();
    assert_eq!(read(&fields[0]), Some(json!({"name": "a"})));
    assert_eq!(
        read(&fields[1]),
        packed.decode().unwrap().pointer("/spec/a").cloned()
    );
    assert_eq!(
        read(&fields[2]),
        Some(json!("m")),
        "a part of what is left out is kept if it is declared"
    );
}

#[test]
fn a_number_does_not_depend_on_its_neighbours() {
    let numbers = [
        "0.1",
        "1.1e23",
        "8.41e21",
        "2.2250738585072011e-308",
        "5e-324",
        "9007199254740993.0",
        "1.7976931348623157e308",
        "-0",
        "-0.0",
        "0",
        "-1",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615",
        "123456789.123456789",
        "7.0420557077594588669468784357561207962098443483187940792729600000e+59",
        "0.000000000000000000000000000000001e33",
    ];
    let bits = |value: &Value| match value {
        Value::Number(number) => (
            number.as_i64(),
            number.as_u64(),
            number.as_f64().unwrap().to_bits(),
        ),
        other => panic!("{other} is no number"),
    };
    for number in numbers {
        let alone = format!(r#"{{"metadata":{{"name":"a"}},"a":{number},"b":[-0,"-0 "]}}"#);
        let beside = alone.replace(r#"-0 ""#, r#"-0 ",18446744073709551616"#);
        let field = path("/a");
        let mut read = Vec::new();
        for body in [&alone, &beside] {
            for fields in [vec![], vec![field.clone()]] {
                let packed = pack_text(&packer::<Value>(FieldPlan::new([], fields).unwrap()), body);
                let decoded = packed.decode().unwrap();
                assert_eq!(
                    (&decoded["b"][0], &decoded["b"][1]),
                    (&json!(0), &json!("-0 ")),
                    "{body}"
                );
                read.extend([bits(&decoded["a"]), bits(&packed.field(&field).unwrap().unwrap())]);
            }
        }
        assert!(read.windows(2).all(|two| two[0] == two[1]), "{number}: {read:?}");
        if number != "-0" {
            assert_eq!(
                f64::from_bits(read[0].2).to_bits(),
                number.parse::<f64>().unwrap().to_bits(),
                "{number}"
            );
        }
    }
    let body = r#"{"metadata":{"name":"a"},"a":-0,"b":18446744073709551616}"#;
    let packed = pack_text(&packer::<Value>(FieldPlan::default()), body);
    assert_eq!(packed.field::<i64>(&path("/a")), Ok(Some(0)));
}

#[test]
fn a_body_is_as_it_was_sent_wherever_the_uid_is() {
    let uid = "0d1f2a3b-0d1f-4a3b-8c5d-0123456789ab";
    let packer = packer::<DynamicObject>(FieldPlan::default());
    for body in [
        format!(r#"{{"metadata":{{"uid":"{uid}","name":"a"}}}}"#),
        format!(r#"{{"{uid}":"{uid}{uid}","metadata":{{"name":"a","uid":"{uid}"}}}}"#),
        format!(
            r#"{{"metadata":{{"name":"a","uid":"\u0030{}"}},"spec":"{uid}"}}"#,
            &uid[1..]
        ),
        format!(r#"{{"metadata":{{"name":"a","uid":"\u0030{}"}}}}"#, &uid[1..]),
        r#"{"metadata":{"name":"a","uid":""}}"#.to_owned(),
    ] {
        let packed = pack_text(&packer, &body);
        assert_eq!(String::from_utf8(packed.body()).unwrap(), body);
        assert_eq!(
            packed.uid(),
            Some(uid).filter(|_| body.contains("0d1f") || body.contains("u0030"))
        );
    }
}

#[test]
fn uids_of_any_length_are_stored() {
    let packer = packer::<Value>(FieldPlan::new([], [path("/spec")]).unwrap());
    for length in [0, 1, 36, 65_535, 65_536, 1 << 20] {
        let uid = "u".repeat(length);
        let packed = pack(
            &packer,
            &json!({"metadata": {"name": "a", "uid": uid}, "spec": 7}),
        );
        assert_eq!(
            packed.uid(),
            Some(&*uid).filter(|uid| !uid.is_empty()),
            "{length}"
        );
        assert_eq!(packed.field::<u32>(&path("/spec")), Ok(Some(7)));
    }
}

/// A body of `size` bytes without repetition. Two of one `sort` differ in names and in some numbers.
fn sibling(sort: u64, size: usize, number: u64) -> Value {
    let noise = |n: u64| {
        format!(
            "{:016x}",
            (n + 1)
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .rotate_left(29)
                .wrapping_mul(n | 1)
        )
    };
    let lines = (0..size as u64 / 24).map(|n| match n % 32 {
        0 => noise(number * 7919 + n),
        _ => noise(sort * 1_000_003 + n),
    });
    json!({
        "metadata": {"name": format!("s{sort}-{number}"), "ownerReferences": [{"uid": noise(sort)}]},
        "spec": lines.collect::<Vec<_>>(),
    })
}

#[test]
fn siblings_of_up_to_128_kib_are_stored_as_deltas() {
    let packer = learned();
    let size = |object: &Value| object.to_string().len();
    for (sort, kilobytes) in (0..).zip([2, 8, 16, 24, 28, 32, 35, 40, 48, 60, 64, 80, 100, 120, 126]) {
        let objects: Vec<_> = (0..6)
            .map(|number| sibling(sort, kilobytes << 10, number))
            .collect();
        assert!(
            objects.iter().map(size).max().unwrap() <= 128 << 10,
            "{kilobytes} KiB"
        );
        let kept = sizes(&packer, objects.into_iter());
        assert!(
            kept[1..].iter().all(|size| size * 10 < kept[0]),
            "{kilobytes} KiB: {kept:?}"
        );
    }
}

#[test]
fn a_small_object_does_not_keep_a_large_base() {
    let packer = learned();
    let small: Vec<_> = (0..50)
        .flat_map(|sort| {
            let large: Vec<_> = (0..3)
                .map(|number| pack(&packer, &sibling(sort, 60 << 10, number)))
                .collect();
            let small = pack(&packer, &sibling(sort, 300, 3));
            assert!(small.header().kept < large[0].header().kept / 10);
            [small]
        })
        .collect();
    // Families that are no longer needed are removed when more objects arrive.
    sizes(
        &packer,
        (0..600).map(|number| owned(5000 + number / 2, 0, number)),
    );
    let stats = packer.stats();
    assert!(stats.objects == 50 && stats.family_bytes < 1 << 20, "{stats:?}");
    drop(small);
}
