//! A watch that resumes itself, and waiting for a condition.

mod common;

use common::{Answer::*, Event::*, *};
use futures::StreamExt;
use instances as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::ApiResource;
use kube_informer::informer::until_with_sync;
use kube_informer::reflector::Pager;
use kube_informer::source::ListVersion;
use kube_informer::source::{ApiError, ApiStatus, ClientSource, ErrorClass, Selection};
use kube_informer::watcher::{RetryWatchEvent, RetryWatcher, UntilError, until};
use kube_informer::{CachedObject, Notification, SharedInformer};
use kube_sim::script::{self, Kind, ScriptedServer};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn show(event: Result<RetryWatchEvent<ConfigMap>, ApiError>) -> String {
    let at = |object| {
        format!(
            "{}@{}",
            ConfigMap::key_of(object),
            ConfigMap::resource_version_of(object).unwrap()
        )
    };
    match &event {
        Ok(RetryWatchEvent::Added(object)) => format!("added {}", at(object)),
        Ok(RetryWatchEvent::Modified(object)) => format!("modified {}", at(object)),
        Ok(RetryWatchEvent::Deleted(object)) => format!("deleted {}", at(object)),
        Ok(RetryWatchEvent::Invalid(bad)) => format!("bad {bad}"),
        Err(error) => format!("error {}", error.class()),
    }
}

/// Everything that is yielded until the stream ends, or nothing comes for an hour.
async fn all(script: &Script) -> Vec<String> {
    let mut events = RetryWatcher::<ConfigMap>::new(script.clone(), "5".into());
    let mut shown = vec![];
    while let Ok(Some(event)) = tokio::time::timeout(Duration::from_secs(3600), events.next()).await {
        shown.push(show(event));
    }
    assert!(
        script.is_over(),
        "only these requests came: {:?}",
        script.requests()
    );
    shown
}

#[tokio::test(start_paused = true)]
async fn resumes_from_the_last_event_whatever_passes() {
    let mut throttled = ApiStatus::from_code(429, "slow down");
    throttled.retry_after = Some(Duration::from_secs(7));
    let script = Script::new([
        ("WATCH 5", Error(refused())),
        ("WATCH 5", Watch(vec![Added("a", 6), Bookmark(7), Close])),
        (
            "WATCH 7",
            Watch(vec![Modified("a", 8), Status(ApiStatus::from_code(500, "boom"))]),
        ),
        (
            "WATCH 8",
            Watch(vec![Break(ApiError::Interrupted("reset".into()))]),
        ),
        ("WATCH 8", Error(throttled.into())),
        (
            "WATCH 8",
            Watch(vec![
                After(Duration::from_secs(60)),
                Bad("ns/b"),
                Deleted("a", 9),
                Close,
            ]),
        ),
        ("WATCH 9", Watch(vec![])),
    ]);
    let shown = all(&script).await;
    assert_eq!(
        shown,
        [
            "added ns/a@6",
            "modified ns/a@8",
            "bad ns/b: scripted",
            "deleted ns/a@9"
        ]
    );
    assert_eq!(
        script.pauses(),
        [1000, 1000, 1000, 1000, 7000, 60_000],
        "a watch that lasted is resumed at once"
    );
}

#[tokio::test(start_paused = true)]
async fn a_quiet_watch_stays_open_and_moves_with_bookmarks() {
    let maps = Kind::new("v1", "ConfigMap");
    let watch = |from: u32| {
        let query = "watch=true&allowWatchBookmarks=true&timeoutSeconds=300..=600";
        format!("GET /api/v1/configmaps?{query}&resourceVersion={from}")
    };
    let quiet = Duration::from_secs(100);
    let server = ScriptedServer::new()
        .expect(
            watch(5),
            script::Answer::watch([maps.bookmark("6")])
                .pause(quiet)
                .chunk(maps.bookmark("7"))
                .pause(quiet)
                .close(),
        )
        .expect(
            watch(7),
            script::Answer::watch([""])
                .pause(quiet)
                .chunk(script::event("ADDED", &maps.object("ns/a", "8"))),
        );
    let client = kube::Client::new(server.service(), "default");
    let source = ClientSource::new(client, ApiResource::erase::<ConfigMap>(&()), Selection::default());
    let mut events = RetryWatcher::<ConfigMap>::new(source, "5".into());
    let event = tokio::time::timeout(Duration::from_secs(301), events.next()).await;
    assert_eq!(show(event.unwrap().unwrap()), "added ns/a@8");
    server.assert_finished();
}

#[tokio::test(start_paused = true)]
async fn no_server_can_ask_for_more_than_five_minutes() {
    let mut throttled = ApiStatus::from_code(429, "slow down");
    throttled.retry_after = Some(Duration::from_secs(u64::MAX));
    let script = Script::new([
        ("WATCH 5", Error(throttled.clone().into())),
        ("WATCH 5", Watch(vec![Status(throttled)])),
        ("WATCH 5", Watch(vec![Bookmark(0), Added("a", 6)])),
    ]);
    assert_eq!(all(&script).await, ["added ns/a@6"]);
    assert_eq!(script.pauses(), [300_000, 300_000]);
}

#[tokio::test(start_paused = true)]
async fn from_what_is_no_version_nothing_is_watched() {
    for sentinel in ["", "0"] {
        let script = Script::new([]);
        let mut events = RetryWatcher::<ConfigMap>::new(script.clone(), sentinel.into());
        let error = events.next().await.unwrap().err().unwrap();
        assert!(matches!(error, ApiError::Request(_)), "{}", error.chain());
        assert!(events.next().await.is_none() && script.requests().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn ends_when_it_cannot_go_on_without_losing_something() {
    for (answer, class) in [
        (Error(expired()), ErrorClass::Gone),
        (
            Watch(vec![Status(ApiStatus::from_code(410, "expired"))]),
            ErrorClass::Gone,
        ),
        (Error(status(403, "no")), ErrorClass::Forbidden),
        (Error(status(401, "no")), ErrorClass::Unauthorized),
        (
            Watch(vec![Break(ApiError::Protocol("garbage".into()))]),
            ErrorClass::Decode,
        ),
    ] {
        let script = Script::new([
            ("WATCH 5", Watch(vec![Added("a", 6), Close])),
            ("WATCH 6", answer),
        ]);
        assert_eq!(
            all(&script).await,
            ["added ns/a@6".to_owned(), format!("error {class}")]
        );
    }
}

#[tokio::test(start_paused = true)]
async fn until_returns_the_event_that_meets_the_condition() {
    let script = Script::new([
        (
            "WATCH 5",
            Watch(vec![Added("a", 6), Modified("a", 7), Modified("a", 8), Close]),
        ),
        ("WATCH 8", Error(expired())),
    ]);
    let mut events = RetryWatcher::<ConfigMap>::new(script, "5".into());
    let found = until(&mut events, |event| matches!(event, RetryWatchEvent::Modified(_)))
        .await
        .unwrap();
    assert_eq!(show(Ok(found)), "modified ns/a@7");
    let error = until(&mut events, |event| matches!(event, RetryWatchEvent::Deleted(_)))
        .await
        .err()
        .unwrap();
    assert!(matches!(error, UntilError::Failed(_)), "{error}");
    let error = until(&mut events, |_| true).await.err().unwrap();
    assert!(matches!(error, UntilError::Ended), "{error}");
}

/// What a pager lists, with the version; or the class of its error.
async fn listed(script: &Script, pager: impl FnOnce(Pager<ConfigMap>) -> Pager<ConfigMap>) -> String {
    let shown = match pager(Pager::new(script.clone())).list().await {
        Ok(list) => {
            let at = |object: &Arc<ConfigMap>| ConfigMap::key_of(object).to_string();
            let invalid = list.invalid.iter().map(|bad| format!("bad {bad}"));
            let all: Vec<_> = list.objects.iter().map(at).chain(invalid).collect();
            format!(
                "{} @{:?}",
                all.join(" "),
                list.resource_version.map(|version| version.to_string())
            )
        }
        Err(error) => format!("error {}", error.class()),
    };
    assert!(
        script.is_over(),
        "only these requests came: {:?}",
        script.requests()
    );
    shown
}

#[tokio::test(start_paused = true)]
async fn a_pager_lists_all_pages() {
    let script = Script::new([
        ("LIST newest 2", Page(10, vec![("a", 1), ("b", 2)], "next")),
        ("LIST newest 2 next", List(11, vec![("c", 3)])),
    ]);
    let shown = listed(&script, |pager| pager.page_size(2)).await;
    assert_eq!(shown, "ns/a ns/b ns/c @Some(\"10\")");
    let script = Script::new([("LIST any all", BadList(10, vec![("a", 1)], vec![Some("ns/b")]))]);
    let shown = listed(&script, |pager| pager.version(ListVersion::Any).page_size(0)).await;
    assert_eq!(shown, "ns/a bad ns/b: scripted @Some(\"10\")");
}

#[tokio::test(start_paused = true)]
async fn a_pager_whose_page_expires_lists_in_one_piece() {
    let first = || ("LIST newest 500", Page(10, vec![("a", 1)], "next"));
    let gone = || ("LIST newest 500 next", Error(expired()));
    let script = Script::new([first(), gone(), ("LIST newest all", List(20, vec![("b", 15)]))]);
    assert_eq!(listed(&script, |pager| pager).await, "ns/b @Some(\"20\")");
    let script = Script::new([first(), gone(), ("LIST newest all", Error(expired()))]);
    assert_eq!(
        listed(&script, |pager| pager).await,
        format!("error {}", ErrorClass::Gone)
    );
    let script = Script::new([first(), ("LIST newest 500 next", Error(refused()))]);
    assert_eq!(listed(&script, |pager| pager).await, "error unreachable");
}

/// An informer over a script, and what stops it.
fn informer(script: Script) -> (SharedInformer<ConfigMap>, CancellationToken) {
    let (informer, runner) = SharedInformer::builder(script).build();
    let stop = CancellationToken::new();
    tokio::spawn(runner.run(stop.clone()));
    (informer, stop)
}

#[tokio::test(start_paused = true)]
async fn until_with_sync_looks_at_the_store_when_it_has_synced() {
    let script = Script::new([
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let (informer, _stop) = informer(script);
    let met = until_with_sync(&informer, |store| store.len() == 1, |_| unreachable!()).await;
    assert!(met.unwrap().is_none());
    let met = until_with_sync(&informer, |_| false, |change| &*change.key() == "ns/a").await;
    assert_eq!(
        format!("{:?}", met.unwrap().unwrap()),
        "Add(ns/a@1, initial)",
        "what exists is a change"
    );
    assert_eq!(informer.handlers(), [], "nothing is left behind");
}

#[tokio::test(start_paused = true)]
async fn until_with_sync_goes_on_where_a_watch_would_fail() {
    let script = Script::new([
        ("LIST any 500", List(10, vec![("a", 1)])),
        (
            "WATCH 10",
            Watch(vec![Status(ApiStatus::from_code(410, "expired"))]),
        ),
        ("LIST 10 all", List(20, vec![("b", 15)])),
        ("WATCH 20", Watch(vec![])),
    ]);
    let (informer, _stop) = informer(script);
    let is_gone = |change: &Notification<ConfigMap>| matches!(change, Notification::Delete(deleted) if &*deleted.key == "ns/a");
    let met = until_with_sync(&informer, |store| store.get("ns/a").is_none(), is_gone).await;
    assert_eq!(format!("{:?}", met.unwrap().unwrap()), "Delete(ns/a@1, Missed)");
}

#[tokio::test(start_paused = true)]
async fn until_with_sync_ends_with_the_informer() {
    let (hanging, stop) = informer(Script::new([("LIST any 500", Hang)]));
    let waiting = until_with_sync(&hanging, |_| unreachable!(), |_| unreachable!());
    stop.cancel();
    assert!(waiting.await.is_err());
    let script = Script::new([("LIST any 500", List(10, vec![])), ("WATCH 10", Watch(vec![]))]);
    let (quiet, stop) = informer(script);
    quiet.synced().await.unwrap();
    let waiting = tokio::spawn(async move { until_with_sync(&quiet, |_| false, |_| true).await.is_err() });
    tokio::time::sleep(Duration::from_secs(60)).await;
    stop.cancel();
    assert!(waiting.await.unwrap());
}
