use super::*;
use crate::form::{DecoderConfig, Packed, Packer};
use crate::low_level::wire::{Encoding, RawObject};
use crate::store::Indexer;
use k8s_openapi::api::core::v1::Pod;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

const IDENTITY: &str = "v1 pods";

/// A pod of one of forty replica sets; pods of one set are alike.
fn pod(number: usize) -> String {
    let set = number % 40;
    let noise = |n: usize| {
        format!(
            "{:x}",
            (set * 100 + n + 7)
                .wrapping_mul(0x2545_F491_4F6C_DD1D)
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        )
    };
    let env: Vec<_> = (0..20)
        .map(|n| json!({"name": noise(n), "value": noise(n + 50)}))
        .collect();
    let pod = json!({
        "metadata": {
            "name": format!("web-{set}-{number}"), "namespace": format!("ns-{}", number % 2),
            "uid": format!("{number:036}"), "resourceVersion": (number + 100).to_string(),
            "labels": {"app": "web", "set": set.to_string()},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": format!("web-{set}"), "uid": noise(1)}],
        },
        "spec": {"nodeName": format!("node-{}", number % 7), "containers": [{"name": "c", "env": env}]},
        "status": {"podIP": format!("10.0.0.{number}")},
    });
    pod.to_string()
}

fn packer() -> Arc<Packer<Pod>> {
    Arc::new(Packed::<Pod>::decoder(DecoderConfig::default()))
}

fn pack(packer: &Packer<Pod>, body: &str) -> Packed<Pod> {
    let raw = RawObject::scan_with(Encoding::Json, body.to_owned().into(), &Packed::<Pod>::plan()).unwrap();
    Packed::decode_raw(packer, &raw.key(), &raw).unwrap()
}

fn head() -> Head {
    Head {
        identity: IDENTITY.into(),
        server: Some("uid".into()),
        seed: 42,
        saved_at: 7,
        partitions: vec![SavedPartition {
            name: String::new(),
            version: "900".into(),
            complete: true,
            objects: 0,
        }],
    }
}

/// A file of so many pods, and what the packer of these said of them.
fn file(pods: usize) -> (Vec<u8>, Arc<Packer<Pod>>, Snapshot<Packed<Pod>>) {
    let (packer, (store, mut writer)) = (packer(), Indexer::new());
    for number in 0..pods {
        let pod = pack(&packer, &pod(number));
        let fingerprint = Some(pod.fingerprint());
        writer
            .upsert(pod.key().clone(), pod, fingerprint, Partition::SINGLE)
            .unwrap();
    }
    writer.publish();
    let mut bytes = Vec::new();
    let snapshot = store.snapshot();
    let written = write::<Packed<Pod>>(&mut bytes, head(), &[Partition::SINGLE], &snapshot, &[], &packer);
    assert_eq!(written.unwrap().unwrap().bytes, bytes.len() as u64);
    (bytes, packer, snapshot)
}

fn load(bytes: &[u8], packer: &Arc<Packer<Pod>>) -> Result<Loaded<Packed<Pod>>, LoadError> {
    read(bytes, bytes.len() as u64, IDENTITY, |_| true, || true, packer)
}

/// The objects of all partitions.
fn entries(loaded: Loaded<Packed<Pod>>) -> impl Iterator<Item = (ObjectKey, DecodeResult<Packed<Pod>>)> {
    let objects = loaded.objects.into_iter().flatten();
    objects.flat_map(|objects| objects.entries)
}

/// An object's fingerprint, labels, uid and body.
type Content = (u64, Vec<(String, String)>, String, Vec<u8>);

/// The objects by key.
fn contents(entries: &Entries<Packed<Pod>>) -> BTreeMap<String, Content> {
    let entries = entries.iter().map(|(key, object)| {
        let DecodeResult::Decoded { object, fingerprint } = object else {
            panic!("an object");
        };
        assert_eq!(key, object.key());
        assert_eq!(*fingerprint, Some(object.fingerprint()));
        let labels = object
            .labels()
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let uid = object.uid().unwrap().to_owned();
        let content = (object.fingerprint().get(), labels.collect(), uid, object.body());
        (key.to_string(), content)
    });
    entries.collect()
}

#[test]
fn what_is_read_is_what_was_saved() {
    for pods in [0, 1, 10, 63, 64, 65, 1000] {
        let (bytes, original, snapshot) = file(pods);
        let packer = packer();
        let loaded = load(&bytes, &packer).unwrap();
        let mut expected = head();
        expected.partitions[0].objects = pods as u64;
        assert_eq!(loaded.head, expected);
        let before = snapshot.iter().map(|object| {
            let decoded = DecodeResult::Decoded {
                object: object.clone(),
                fingerprint: Some(object.fingerprint()),
            };
            (object.key().clone(), decoded)
        });
        let entries = &loaded.objects[0].as_ref().unwrap().entries;
        assert_eq!(contents(entries), contents(&before.collect()));
        assert_eq!(packer.stats().objects, original.stats().objects);
        assert_eq!(
            packer.stats().kept_bytes,
            original.stats().kept_bytes,
            "as small as before"
        );
    }
}

#[test]
fn what_is_saved_again_is_the_same() {
    let (bytes, ..) = file(500);
    let packer = packer();
    let loaded = load(&bytes, &packer).unwrap();
    let (store, mut writer) = Indexer::new();
    for (key, object) in entries(loaded) {
        let object = object.into_object().unwrap();
        let fingerprint = Some(object.fingerprint());
        writer
            .upsert(key, object, fingerprint, Partition::SINGLE)
            .unwrap();
    }
    writer.publish();
    let mut again = Vec::new();
    write::<Packed<Pod>>(
        &mut again,
        head(),
        &[Partition::SINGLE],
        &store.snapshot(),
        &[],
        &packer,
    )
    .unwrap();
    assert_eq!(again.len(), bytes.len());
}

#[test]
fn later_objects_use_the_restored_dictionary_and_families() {
    let (bytes, original, _snapshot) = file(500);
    let packer = packer();
    let _loaded = load(&bytes, &packer).unwrap();
    let (stats, restored) = (original.stats(), packer.stats());
    assert!(restored.families > 20 && stats.dictionary_bytes > 0);
    assert_eq!(restored.dictionary_bytes, stats.dictionary_bytes);
    // One that is like the base of its family, of which there is one for each set.
    let smallest = (500..540).min_by_key(|number| pack(&original, &pod(*number)).size());
    let smallest = pod(smallest.unwrap());
    assert_eq!(pack(&packer, &smallest).size(), pack(&original, &smallest).size());
    assert_eq!(packer.stats().families, restored.families, "no family of its own");
}

#[test]
fn a_file_that_is_cut_anywhere_is_not_used() {
    let (bytes, ..) = file(2);
    for length in 0..bytes.len() {
        let packer = packer();
        let error = load(&bytes[..length], &packer).err();
        assert!(error.is_some(), "{length} of {} bytes", bytes.len());
        assert_eq!(packer.stats(), self::packer().stats(), "the decoder is as before");
    }
    // The length of the file when it was opened, and less when it was read.
    let packer = packer();
    let length = bytes.len() as u64;
    let cut = read::<Packed<Pod>>(
        &bytes[..bytes.len() - 1],
        length,
        IDENTITY,
        |_| true,
        || true,
        &packer,
    );
    assert!(matches!(cut, Err(LoadError::Damaged(_))));
    let mut more = bytes.clone();
    more.push(0);
    assert!(matches!(load(&more, &packer), Err(LoadError::Damaged(_))));
}

#[test]
fn a_file_with_any_byte_changed_is_not_used() {
    let (mut bytes, ..) = file(2);
    for place in 0..bytes.len() {
        for change in [1, 0x80] {
            bytes[place] ^= change;
            assert!(load(&bytes, &packer()).is_err(), "byte {place}");
            bytes[place] ^= change;
        }
    }
    assert!(load(&bytes, &packer()).is_ok());
}

/// Where each block begins, and where the last one ends.
fn blocks(bytes: &[u8]) -> Vec<usize> {
    let (mut at, mut all) = (HEADER as usize, Vec::new());
    while at < bytes.len() {
        all.push(at);
        let length: [u8; 4] = bytes[at + 1..at + ROOM].try_into().unwrap();
        at += FRAME as usize + u32::from_le_bytes(length) as usize;
    }
    all.push(at);
    all
}

#[test]
fn a_block_that_is_missing_twice_or_elsewhere_is_noticed() {
    let (bytes, packer, snapshot) = file(3000);
    let blocks = blocks(&bytes);
    assert!(blocks.len() > 4, "{blocks:?}");
    for window in blocks.windows(3) {
        let [start, middle, end] = [window[0], window[1], window[2]];
        let parts = |parts: &[&[u8]]| parts.concat();
        for damaged in [
            parts(&[&bytes[..start]]),
            parts(&[&bytes[..start], &bytes[middle..]]),
            parts(&[&bytes[..middle], &bytes[start..]]),
            parts(&[
                &bytes[..start],
                &bytes[middle..end],
                &bytes[start..middle],
                &bytes[end..],
            ]),
        ] {
            assert!(load(&damaged, &self::packer()).is_err(), "{window:?}");
        }
    }
    // A block of an older file in the same place, as a crash may leave it.
    let mut older = Vec::new();
    write::<Packed<Pod>>(&mut older, head(), &[Partition::SINGLE], &snapshot, &[], &packer).unwrap();
    assert_eq!(older.len(), bytes.len());
    let mut mixed = bytes.clone();
    let place = blocks[2]..blocks[3];
    mixed[place.clone()].copy_from_slice(&older[place]);
    assert!(load(&mixed, &self::packer()).is_err());
}

#[test]
fn a_reading_that_is_given_up_leaves_the_decoder_as_it_was() {
    let (bytes, ..) = file(3000);
    let length = bytes.len() as u64;
    let blocks = blocks(&bytes).len() as u64 - 2;
    for read_until in [0, blocks - 1, blocks] {
        let (packer, count) = (packer(), std::cell::Cell::new(0));
        let goes_on = || count.replace(count.get() + 1) < read_until;
        let read = read::<Packed<Pod>>(&bytes[..], length, IDENTITY, |_| true, goes_on, &packer);
        assert_eq!(matches!(read, Err(LoadError::GivenUp)), read_until < blocks);
        let as_it_was = packer.stats() == self::packer().stats();
        assert_eq!(as_it_was, read_until < blocks, "{read_until} of {blocks} blocks");
    }
}

#[test]
fn families_that_a_file_replaces_take_no_memory() {
    let (bytes, ..) = file(500);
    let (fresh, used) = (packer(), packer());
    let before: Vec<_> = (0..500).map(|number| pack(&used, &pod(number + 1000))).collect();
    assert!(used.stats().family_bytes > 0);
    let _restored = [&fresh, &used].map(|packer| load(&bytes, packer).unwrap());
    drop(before);
    assert_eq!(used.stats().family_bytes, fresh.stats().family_bytes);
}

#[test]
fn a_file_of_something_else_is_refused_with_the_reason() {
    let (mut bytes, ..) = file(3);
    let packer = packer();
    let refused = |bytes: &[u8], identity: &str| {
        let refused = read::<Packed<Pod>>(bytes, bytes.len() as u64, identity, |_| true, || true, &packer);
        refused.err().unwrap().to_string()
    };
    assert_eq!(
        refused(&bytes, "v1 nodes"),
        "it was saved for something else (v1 pods) than what is wanted (v1 nodes)"
    );
    bytes[8] = 9;
    assert_eq!(
        refused(&bytes, IDENTITY),
        "it has format 9, this program reads format 3"
    );
    bytes[0] = 0;
    assert_eq!(refused(&bytes, IDENTITY), "it is not a saved cache");
}

#[test]
fn a_stale_object_is_saved_without_its_fingerprint() {
    let packer = packer();
    let (store, mut writer) = Indexer::new();
    for number in 0..2 {
        let pod = pack(&packer, &pod(number));
        let fingerprint = Some(pod.fingerprint());
        writer
            .upsert(pod.key().clone(), pod, fingerprint, Partition::SINGLE)
            .unwrap();
    }
    writer.mark_stale(&"ns-1/web-1-1".into(), Partition::SINGLE);
    writer.publish();
    let mut bytes = Vec::new();
    let snapshot = store.snapshot();
    write::<Packed<Pod>>(&mut bytes, head(), &[Partition::SINGLE], &snapshot, &[], &packer).unwrap();
    let loaded = load(&bytes, &self::packer()).unwrap();
    for (key, object) in entries(loaded) {
        let DecodeResult::Decoded { fingerprint, .. } = object else {
            panic!("an object");
        };
        assert_eq!(fingerprint.is_some(), &*key == "ns-0/web-0-0", "{key}");
    }
}

#[test]
fn deleted_objects_are_read_apart_from_the_others() {
    let packer = packer();
    let (store, mut writer) = Indexer::new();
    let [live, gone] = [0, 1].map(|number| pack(&packer, &pod(number)));
    writer
        .upsert(live.key().clone(), live, None, Partition::SINGLE)
        .unwrap();
    writer.publish();
    let mut bytes = Vec::new();
    let (snapshot, deleted) = (store.snapshot(), [(0, gone.clone())]);
    write::<Packed<Pod>>(
        &mut bytes,
        head(),
        &[Partition::SINGLE],
        &snapshot,
        &deleted,
        &packer,
    )
    .unwrap();
    let mut loaded = load(&bytes, &self::packer()).unwrap();
    assert_eq!(loaded.head.partitions[0].objects, 1);
    let objects = loaded.objects.pop().unwrap().unwrap();
    let live: Vec<_> = objects.entries.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(live, ["ns-0/web-0-0"]);
    assert_eq!(objects.deleted.len(), 1);
    assert_eq!(objects.deleted[0].body(), gone.body());
}

/// The file with the checksums that its content should have.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let file = u64::from_le_bytes(bytes[12..20].try_into().unwrap());
    let mut at = HEADER as usize;
    for position in 0.. {
        let Some(length) = bytes.get(at + 1..at + ROOM) else {
            break;
        };
        let end = at + ROOM + u32::from_le_bytes(length.try_into().unwrap()) as usize;
        if end + 8 > bytes.len() {
            break;
        }
        let sum = checksum(file, position, &bytes[at..end]);
        bytes[end..end + 8].copy_from_slice(&sum.to_le_bytes());
        at = end + 8;
    }
    bytes
}

proptest! {
    #[test]
    fn no_content_with_right_checksums_makes_it_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        thread_local!(static FILE: Vec<u8> = file(70).0);
        let mut bytes = FILE.with(Clone::clone);
        for (place, byte) in changes {
            let place = HEADER as usize + place.index(bytes.len() - HEADER as usize);
            bytes[place] = byte;
        }
        let bytes = sealed(bytes);
        if let Ok(loaded) = load(&bytes, &packer()) {
            let objects = loaded.objects.into_iter().flatten();
            let objects = objects.flat_map(|Objects { entries, deleted }| {
                let live = entries.into_iter().filter_map(|(_, object)| object.into_object());
                live.chain(deleted)
            });
            for object in objects {
                let _ = (object.body(), object.uid(), object.labels().count(), object.decode());
            }
        }
    }
}
