//! Sharded lists and watches (KEP-5866), as a kube-apiserver 1.36 with the gate `ShardedListAndWatch` serves them.

use crate::client::{CONFIGMAPS, Client, WIDGETS, configmap, widget, with_widgets};
use kube_sim::Sim;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

const UID: &str = "object.metadata.uid";
const HALVES: [(&str, &str); 2] = [
    ("0x0000000000000000", "0x8000000000000000"),
    ("0x8000000000000000", "0x10000000000000000"),
];

fn selector(field: &str, (start, end): (&str, &str)) -> String {
    format!("shardRange({field}, '{start}', '{end}')")
}

fn query(selector: &str) -> String {
    let mut pairs = form_urlencoded::Serializer::new(String::new());
    pairs.append_pair("shardSelector", selector).finish()
}

/// The half of the hashes that an object's uid is in.
fn half_of(object: &Value) -> usize {
    let uid = object["metadata"]["uid"].as_str().unwrap();
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    usize::from(uid.bytes().fold(0xcbf2_9ce4_8422_2325, step) >= 1 << 63)
}

fn many(client: &Client) {
    for n in 0..40 {
        client.store().create(configmap(&format!("m-{n:02}"), n)).unwrap();
    }
}

#[tokio::test]
async fn a_list_has_the_objects_of_its_ranges() {
    let client = Client::empty();
    many(&client);
    let mut seen = BTreeSet::new();
    for (number, half) in HALVES.into_iter().enumerate() {
        let selector = selector(UID, half);
        let list = client
            .get(&format!("{CONFIGMAPS}?{}", query(&selector)))
            .await
            .ok();
        assert_eq!(list["metadata"]["shardInfo"], json!({"selector": selector}));
        for object in list["items"].as_array().unwrap() {
            assert_eq!(half_of(object), number);
            assert!(seen.insert(object["metadata"]["name"].to_string()));
        }
    }
    assert_eq!(seen.len(), 40);

    let both = HALVES.map(|half| selector(UID, half)).join("||");
    let answer = client.get(&format!("{CONFIGMAPS}?{}", query(&both))).await;
    assert_eq!(answer.names().len(), 40);
    let echoed = HALVES.map(|half| selector(UID, half)).join(" || ");
    assert_eq!(answer.ok()["metadata"]["shardInfo"]["selector"], echoed);
}

#[tokio::test]
async fn namespaces_are_whole_in_one_range() {
    let client = Client::empty();
    let mut counts = BTreeSet::new();
    many(&client);
    for half in HALVES {
        let selector = selector("object.metadata.namespace", half);
        let answer = client
            .get(&format!("/api/v1/configmaps?{}", query(&selector)))
            .await;
        counts.insert(answer.names().len());
    }
    assert_eq!(counts, [0, 40].into());
}

#[tokio::test]
async fn remaining_counts_are_of_all_shards() {
    let client = Client::empty();
    many(&client);
    let selector = query(&selector(UID, HALVES[0]));
    let page = client.get(&format!("{CONFIGMAPS}?limit=5&{selector}")).await.ok();
    let metadata = &page["metadata"];
    assert_eq!(page["items"].as_array().unwrap().len(), 5);
    assert_eq!(metadata["remainingItemCount"], 35);
    let token = metadata["continue"].as_str().unwrap();
    let rest = client
        .get(&format!("{CONFIGMAPS}?{selector}&continue={token}"))
        .await
        .ok();
    assert!(
        rest["items"]
            .as_array()
            .unwrap()
            .iter()
            .all(|object| half_of(object) == 0)
    );
    assert!(rest["metadata"]["shardInfo"].is_object());
}

#[tokio::test]
async fn only_whole_lists_of_built_in_kinds_echo_it() {
    let client = with_widgets();
    for n in 0..10 {
        client.store().create(widget(&format!("w-{n}"), 1)).unwrap();
    }
    let half = query(&selector(UID, HALVES[0]));
    let widgets = client.get(&format!("{WIDGETS}?{half}")).await.ok();
    assert!(
        widgets["items"]
            .as_array()
            .unwrap()
            .iter()
            .all(|object| half_of(object) == 0)
    );
    assert_eq!(widgets["metadata"]["shardInfo"], Value::Null);
    for form in [
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
        "application/json;as=Table;g=meta.k8s.io;v=v1",
    ] {
        let list = client.get_as(&format!("{CONFIGMAPS}?{half}"), form).await.ok();
        assert_eq!(list["metadata"]["shardInfo"], Value::Null, "{form}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_has_the_events_of_its_ranges() {
    let client = Client::empty();
    many(&client);
    let half = query(&selector(UID, HALVES[1]));
    let path = format!("{CONFIGMAPS}?watch=1&allowWatchBookmarks=true&{half}");
    let mut initial = client
        .watch(&format!(
            "{path}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
        ))
        .await;
    let names = (0..40).map(|n| format!("m-{n:02}"));
    let mut expected: BTreeSet<_> = names.collect();
    loop {
        let event = initial.next().await.unwrap();
        if event["type"] == "BOOKMARK" {
            assert_eq!(event["object"]["metadata"]["shardInfo"], Value::Null);
            break;
        }
        assert_eq!(half_of(&event["object"]), 1);
        assert!(expected.remove(event["object"]["metadata"]["name"].as_str().unwrap()));
    }
    for name in expected {
        client
            .store()
            .delete("v1", "ConfigMap", Some("default"), &name)
            .unwrap();
    }
    assert!(
        initial.is_silent(Duration::from_secs(30)).await,
        "they are of the other half"
    );
}

#[tokio::test]
async fn a_deletion_of_a_collection_is_of_its_ranges() {
    let client = Client::empty();
    many(&client);
    let selector = selector(UID, HALVES[0]);
    let path = format!("{CONFIGMAPS}?{}", query(&selector));
    let deleted = client.delete(&path, Value::Null).await.ok();
    assert_eq!(deleted["metadata"]["shardInfo"]["selector"], selector);
    let left = client.get(CONFIGMAPS).await.ok();
    let left = left["items"].as_array().unwrap();
    assert!(!left.is_empty() && left.iter().all(|object| half_of(object) == 1));
}

#[tokio::test]
async fn a_malformed_shard_selector_is_an_internal_error() {
    let client = Client::empty();
    let message = "invalid shard selector: unsupported function \"f\"; only shardRange() and || are allowed";
    for path in [CONFIGMAPS.to_owned(), format!("{CONFIGMAPS}?watch=1")] {
        let and = if path.contains('?') { '&' } else { '?' };
        let answer = client.get(&format!("{path}{and}{}", query("f()"))).await;
        assert_eq!(answer.refusal(), (500, String::new(), message.into()));
    }
    assert_eq!(
        client.get(&format!("{CONFIGMAPS}?shardSelector=")).await.code,
        200
    );
}

#[tokio::test]
async fn without_sharded_lists_the_selector_is_ignored() {
    let client = Client::new(Sim::builder().sharded_lists(false).build().unwrap());
    many(&client);
    for text in [selector(UID, HALVES[0]), "f()".into()] {
        let list = client.get(&format!("{CONFIGMAPS}?{}", query(&text))).await.ok();
        assert_eq!(list["items"].as_array().unwrap().len(), 40);
        assert_eq!(list["metadata"]["shardInfo"], Value::Null);
    }
}
