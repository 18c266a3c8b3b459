//! Objects that come at once are made on several threads, and handed on in the order in which they came.

use futures::{FutureExt, StreamExt, future::BoxFuture, stream};
use instances as _;
use kube_informer::form::{Decode, DecodeError, DecoderConfig, Metadata};
use kube_informer::low_level::wire::{Encoding, RawObject};
use kube_informer::source::{
    ApiError, Item, ListMeta, ListPart, ListRequest, ListStream, ListerWatcher, WatchEvent, WatchRequest,
    WatchStream,
};
use kube_informer::{CachedObject, Notification, ObjectKey, Partition, SharedInformer};
use serde::Deserialize;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::thread::{ThreadId, available_parallelism, current};
use tokio_util::sync::CancellationToken;

static THREADS: Mutex<Option<HashSet<ThreadId>>> = Mutex::new(None);

#[derive(Debug, Deserialize, CachedObject)]
struct Fields {
    metadata: Metadata,
    step: u64,
}

/// An object that knows which threads made it and its like.
#[derive(Debug)]
struct Thing;

impl CachedObject for Thing {
    type Handle = Arc<Fields>;

    fn name_of(object: &Self::Handle) -> &str {
        &object.metadata.name
    }

    fn namespace_of(_: &Self::Handle) -> Option<&str> {
        None
    }

    fn uid_of(_: &Self::Handle) -> Option<&str> {
        None
    }

    fn resource_version_of(object: &Self::Handle) -> Option<kube_informer::ResourceVersion> {
        object.metadata.resource_version.as_deref().map(Into::into)
    }

    fn label_of<'a>(_: &'a Self::Handle, _: &str) -> Option<&'a str> {
        None
    }
}

impl Decode for Thing {
    type Decoder = ();

    const EXPENSIVE: bool = true;

    fn decoder(_: DecoderConfig) {}

    fn decode_raw(_: &(), key: &ObjectKey, raw: &RawObject) -> Result<Self::Handle, DecodeError> {
        THREADS
            .lock()
            .unwrap()
            .get_or_insert_default()
            .insert(current().id());
        assert!(!key.starts_with("panics"), "this one panics");
        Fields::decode_raw(&(), key, raw)
    }
}

fn thing(name: &str, step: u64) -> Item<Thing> {
    let ballast = "x".repeat(4000);
    let body = format!(
        r#"{{"metadata":{{"name":"{name}","resourceVersion":"{step}"}},"step":{step},"ballast":"{ballast}"}}"#
    );
    Item::Raw(RawObject::scan(Encoding::Json, body.into()).unwrap())
}

/// Lists 1000 things, then has 2000 events of ten of them ready at once.
struct Source;

const LISTED: u64 = 1000;
const EVENTS: u64 = 2000;

impl ListerWatcher<Thing> for Source {
    fn resource(&self) -> String {
        "things".into()
    }

    fn list(&self, _: ListRequest) -> BoxFuture<'_, Result<ListStream<Thing>, ApiError>> {
        let items = (1..=LISTED).map(|n| ListPart::Item(thing(&format!("thing-{n}"), n)));
        let bad = ListPart::Item(thing("panics", 1));
        let end = ListPart::End(ListMeta {
            resource_version: Some("1000".into()),
            ..ListMeta::default()
        });
        let parts: Vec<_> = items.chain([bad, end]).map(Ok).collect();
        async move { Ok(stream::iter(parts).boxed()) }.boxed()
    }

    fn watch(&self, _: WatchRequest) -> BoxFuture<'_, Result<WatchStream<Thing>, ApiError>> {
        let steps = LISTED + 1..=LISTED + EVENTS;
        let events: Vec<_> = steps
            .map(|step| {
                Ok(WatchEvent::Modified(thing(
                    &format!("thing-{}", step % 10 + 1),
                    step,
                )))
            })
            .collect();
        async move { Ok(stream::iter(events).chain(stream::pending()).boxed()) }.boxed()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_comes_at_once_is_made_by_several_threads_in_order() {
    let (things, runner) = SharedInformer::<Thing>::builder(Source).build();
    let options = kube_informer::HandlerOptions::named("order").delivery(kube_informer::Delivery::Unbounded);
    let mut changes = things.subscribe(options).unwrap();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    let (mut added, mut updated) = (0, 0);
    let mut last = HashMap::new();
    while updated < EVENTS {
        match changes.next().await.unwrap() {
            Notification::Add { object, .. } => {
                added += 1;
                assert_eq!(object.step, added, "in the list's order");
                last.insert(object.metadata.name.clone(), object.step);
            }
            Notification::Update { old, new } => {
                updated += 1;
                let before = last.insert(new.metadata.name.clone(), new.step).unwrap();
                assert_eq!(old.step, before);
                assert!(new.step > before, "in the order of the object's events");
            }
            Notification::Delete(gone) => panic!("{gone:?}"),
        }
    }
    assert_eq!(added, LISTED);
    let status = things.reflector_status(Partition::SINGLE).borrow().clone();
    let bad = status
        .last_invalid_object
        .expect("the one that panicked is reported");
    assert_eq!(bad.to_string(), "panics: decoding it panicked");
    let threads = THREADS.lock().unwrap().take().unwrap().len();
    let cores = available_parallelism().unwrap().get();
    assert!(threads > 1 || cores == 1, "{threads} threads on {cores} cores");
    stop.cancel();
    running.await.unwrap().unwrap();
}
