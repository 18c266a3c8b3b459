use super::*;
use crate::low_level::wire::{Encoding, RawObject};
use crate::object::{Fingerprint, KnownObjects};
use crate::queue::Delta;
use crate::source::{ApiStatus, ListMeta, ListPart, ListRequest, ListStream, WatchRequest, WatchStream};
use futures::{FutureExt as _, StreamExt as _, future::BoxFuture, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc;

fn raw() -> RawObject {
    let body = r#"{"metadata":{"name":"a","namespace":"y","uid":"u","resourceVersion":"39"}}"#;
    RawObject::scan(Encoding::Json, body.into()).unwrap()
}

/// A server with one object, in the namespace `y`, whatever was asked for. It goes back from version 45 to 40, and says so by a
/// list or by an event.
struct GoesBack {
    object: RawObject,
    by_event: bool,
    lists: AtomicUsize,
}

impl ListerWatcher<ConfigMap> for GoesBack {
    fn resource(&self) -> String {
        "configmaps".into()
    }

    fn list(&self, _: ListRequest) -> BoxFuture<'_, Result<ListStream<ConfigMap>, ApiError>> {
        let version = match self.lists.fetch_add(1, Ordering::Relaxed) {
            0 => "45",
            _ => "40",
        };
        let meta = ListMeta {
            resource_version: Some(version.into()),
            ..ListMeta::default()
        };
        let parts = [
            ListPart::Item(Item::Raw(self.object.clone())),
            ListPart::End(meta),
        ];
        async { Ok(stream::iter(parts.map(Ok)).boxed()) }.boxed()
    }

    fn watch(&self, _: WatchRequest) -> BoxFuture<'_, Result<WatchStream<ConfigMap>, ApiError>> {
        let event = match self.by_event {
            true => WatchEvent::Bookmark {
                resource_version: Some("40".into()),
                initial_events_end: false,
            },
            false => WatchEvent::Error(ApiStatus::from_code(410, "too old")),
        };
        async { Ok(stream::iter([Ok(event)]).boxed()) }.boxed()
    }
}

/// The keys of a list, each with whether its object is unchanged.
type Listed = Vec<(ObjectKey, bool)>;

/// Holds the object, and passes on what lists say.
struct Holds(RawObject, mpsc::UnboundedSender<Listed>);

impl KnownObjects for Holds {
    fn get(&self, key: &str) -> Option<(ObjectKey, Fingerprint)> {
        Some((key.into(), self.0.fingerprint()))
    }
}

impl Sink<ConfigMap> for Holds {
    async fn replace(
        &mut self,
        entries: Vec<(ObjectKey, DecodeResult<ConfigMap>)>,
        _: Option<ResourceVersion>,
    ) {
        let entries = entries.into_iter();
        let listed = entries.map(|(key, object)| (key, matches!(object, DecodeResult::Unchanged)));
        let _ = self.1.send(listed.collect());
    }

    async fn push(&mut self, _: ObjectKey, _: Delta<DecodeResult<ConfigMap>>, _: Option<ResourceVersion>) {}

    fn bookmark(&mut self, _: ResourceVersion) {}
}

/// The first two lists of a reflector, also if it is of one namespace of several.
async fn lists(object: &RawObject, by_event: bool, namespace: Option<&str>) -> [Listed; 2] {
    let (listed, mut lists) = mpsc::unbounded_channel();
    let source = GoesBack {
        object: object.clone(),
        by_event,
        lists: AtomicUsize::new(0),
    };
    let mut reflector = Reflector::new(source, Holds(object.clone(), listed));
    if let Some(namespace) = namespace {
        reflector = reflector.named_after(namespace);
    }
    let running = tokio::spawn(reflector.run(CancellationToken::new()));
    let first = [lists.recv().await.unwrap(), lists.recv().await.unwrap()];
    running.abort();
    first
}

#[tokio::test(start_paused = true)]
async fn after_a_restore_an_equal_version_is_no_equal_state() {
    let bytes = raw().into_bytes();
    let by_version = RawObject::scan_with(Encoding::Json, bytes, &FieldPlan::default().by_version()).unwrap();
    for (object, still_unchanged) in [(raw(), true), (by_version, false)] {
        for by_event in [true, false] {
            let listed = |unchanged| vec![(ObjectKey::from("y/a"), unchanged)];
            assert_eq!(
                lists(&object, by_event, None).await,
                [listed(true), listed(still_unchanged)]
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_known_object_of_another_namespace_is_not_listed() {
    for (namespace, listed) in [("x", 0), ("y", 1)] {
        let [first, _] = lists(&raw(), true, Some(namespace)).await;
        assert_eq!(first.len(), listed, "{namespace}");
    }
}

/// A server at version 50, whose watch sends a bookmark that is behind, then a deletion.
struct LagsBehind;

impl ListerWatcher<ConfigMap> for LagsBehind {
    fn resource(&self) -> String {
        "configmaps".into()
    }

    fn server_identity(&self) -> BoxFuture<'_, Result<Option<String>, ApiError>> {
        async { Ok(Some("uid".to_owned())) }.boxed()
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListStream<ConfigMap>, ApiError>> {
        assert_eq!((request.limit, request.object), (Some(1), Some("y/a".into())));
        let meta = ListMeta {
            resource_version: Some("50".into()),
            ..ListMeta::default()
        };
        let parts = [ListPart::Item(Item::Raw(raw())), ListPart::End(meta)];
        async { Ok(stream::iter(parts.map(Ok)).boxed()) }.boxed()
    }

    fn watch(&self, _: WatchRequest) -> BoxFuture<'_, Result<WatchStream<ConfigMap>, ApiError>> {
        let bookmark = WatchEvent::Bookmark {
            resource_version: Some("45".into()),
            initial_events_end: false,
        };
        let deleted = br#"{"metadata":{"name":"a","namespace":"y","uid":"u","resourceVersion":"50"}}"#;
        let deleted = RawObject::scan(Encoding::Json, deleted[..].into()).unwrap();
        let events = stream::iter([Ok(bookmark)]).chain(stream::once(async move {
            tokio::time::sleep(Duration::from_millis(500)).await;
            Ok(WatchEvent::Deleted(Item::Raw(deleted)))
        }));
        async { Ok(events.chain(stream::pending()).boxed()) }.boxed()
    }
}

/// Passes on what is reported.
struct Reports(mpsc::UnboundedSender<&'static str>);

impl KnownObjects for Reports {
    fn get(&self, _: &str) -> Option<(ObjectKey, Fingerprint)> {
        None
    }
}

impl Sink<ConfigMap> for Reports {
    async fn replace(&mut self, _: Vec<(ObjectKey, DecodeResult<ConfigMap>)>, _: Option<ResourceVersion>) {
        let _ = self.0.send("replaced");
    }

    async fn confirmed(&mut self) {
        let _ = self.0.send("confirmed");
    }

    async fn push(&mut self, _: ObjectKey, _: Delta<DecodeResult<ConfigMap>>, _: Option<ResourceVersion>) {
        let _ = self.0.send("changed");
    }

    fn bookmark(&mut self, _: ResourceVersion) {
        let _ = self.0.send("bookmark");
    }
}

#[tokio::test(start_paused = true)]
async fn a_bookmark_that_is_behind_confirms_nothing() {
    let (reports, mut reported) = mpsc::unbounded_channel();
    let mut object = ConfigMap::default();
    object.metadata.name = Some("a".into());
    object.metadata.namespace = Some("y".into());
    object.metadata.uid = Some("u".into());
    object.metadata.resource_version = Some("39".into());
    let object = DecodeResult::Decoded {
        object: Arc::new(object),
        fingerprint: None,
    };
    let run = SavedRun {
        server: Some("uid".into()),
        server_now: Arc::default(),
        newest: "40".into(),
        disproof: Default::default(),
        progress: Arc::new(crate::warm_start::Progress::new(
            crate::warm_start::Start::Pending,
        )),
    };
    let saved = Saved {
        name: String::new(),
        entries: vec![("y/a".into(), object)],
        deleted: Vec::new(),
        version: "40".into(),
        complete: true,
        run: Arc::new(run),
    };
    let reflector = Reflector::new(LagsBehind, Reports(reports)).starting_with(Some(saved));
    let running = tokio::spawn(reflector.run(CancellationToken::new()));
    for expected in ["replaced", "bookmark", "changed", "confirmed"] {
        assert_eq!(reported.recv().await, Some(expected));
    }
    running.abort();
}
