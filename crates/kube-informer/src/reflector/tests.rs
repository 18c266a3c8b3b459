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
    let by_version = raw().identified_by_version(&FieldPlan::default());
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
