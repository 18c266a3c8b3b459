//! Reads of an informer's store that holds so many small pods, beside maps of the same pods: `store-gets PODS`. It prints a line of JSON
//! for each structure and kind of read: a get by key in no order, and a list of 100 by label. `bench/run --only gets` runs it.

use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, stream};
use k8s_openapi::api::core::v1::Pod;
use kube_informer::selector::LabelSelector;
use kube_informer::source::*;
use kube_informer::{CachedObject as _, ObjectKey, ResourceVersion, SharedInformer};
use serde_json::json;
use std::collections::HashMap;
use std::hint::black_box;
use std::time::Duration;
use store_bench::contenders::{Locked, Reader as _, Writer as _};
use store_bench::measure::{millis, nanos_each, time, typical_in_turn};
use store_bench::objects::{Object, key, pod_of_app, shuffled};
use tokio_util::sync::CancellationToken;

/// How many pods are selected by label.
const SELECTED: usize = 100;

/// Lists pods that are there already, and has no changes.
struct Fixed(Vec<Object>);

impl ListerWatcher<Pod> for Fixed {
    fn resource(&self) -> String {
        "pods".into()
    }

    fn list(&self, _: ListRequest) -> BoxFuture<'_, Result<ListStream<Pod>, ApiError>> {
        let items = self.0.clone().into_iter().map(Item::Object).map(ListPart::Item);
        let end = ListPart::End(ListMeta {
            resource_version: Some(ResourceVersion::from(1)),
            ..Default::default()
        });
        async move { Ok(stream::iter(items.chain([end]).map(Ok)).boxed()) }.boxed()
    }

    fn watch(&self, _: WatchRequest) -> BoxFuture<'_, Result<WatchStream<Pod>, ApiError>> {
        async { Ok(stream::pending().boxed()) }.boxed()
    }
}

#[tokio::main]
async fn main() {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok());
    let count: usize = count.expect("usage: store-gets PODS");
    let apps = count / SELECTED;
    let pods: Vec<Object> = (0..count)
        .map(|number| pod_of_app(number, number % apps, 1))
        .collect();
    let (informer, runner) = SharedInformer::<Pod>::builder(Fixed(pods.clone())).build();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    informer.synced().await.expect("it is not stopped");
    let mut locked = Locked::new();
    let keyed = || (0..count).map(key).zip(pods.iter().cloned());
    locked.write(keyed());
    let bare: HashMap<ObjectKey, Object, foldhash::quality::RandomState> = keyed().collect();

    let store = informer.store();
    gets(
        count,
        [
            ("kube-informer", &|key| store.get(key)),
            (Locked::NAME, &|key| locked.get(key)),
            ("bare hash map", &|key| bare.get(key).cloned()),
        ],
    );
    let selector = LabelSelector::parse("app=app-7").expect("a selector");
    let lister = informer.lister();
    let matches = |pod: &Object| selector.matches(|label| Pod::label_of(pod, label));
    selects(
        count,
        [
            ("kube-informer", &|| lister.select(&selector)),
            (Locked::NAME, &|| locked.filtered(matches)),
        ],
    );
    stop.cancel();
    running.await.expect("no panic").expect("no error");
}

type Get<'a> = (&'a str, &'a dyn Fn(&str) -> Option<Object>);

/// Each structure in turn gets some of the keys, in no order: never those that the one before it has just brought into the caches, if there
/// are so many.
fn gets<const N: usize>(count: usize, structures: [Get<'_>; N]) {
    let keys: Vec<ObjectKey> = shuffled(count).into_iter().map(key).collect();
    let some = count.min(5_000);
    let mut parts = keys.chunks_exact(some).cycle();
    let times = typical_in_turn::<N>(200, |number| {
        let keys = parts.next().expect("there are keys");
        let get = structures[number].1;
        time(|| {
            keys.iter()
                .for_each(|key| assert!(black_box(get(key.as_str())).is_some()))
        })
        .0
    });
    for ((name, _), time) in structures.iter().zip(times) {
        let ns = (nanos_each(time, some) * 10.0).round() / 10.0;
        println!(
            "{}",
            json!({"client": name, "phase": "get", "pods": count, "ns": ns})
        );
    }
}

type Select<'a> = (&'a str, &'a dyn Fn() -> Vec<Object>);

fn selects<const N: usize>(count: usize, structures: [Select<'_>; N]) {
    let expected = structures[0].1().len();
    assert!(
        (SELECTED..2 * SELECTED).contains(&expected),
        "{expected} are selected"
    );
    let times: [Duration; N] = typical_in_turn(30, |number| {
        let (time, found) = time(structures[number].1);
        assert_eq!(found.len(), expected);
        time
    });
    for ((name, _), time) in structures.iter().zip(times) {
        let ms = (millis(time) * 10_000.0).round() / 10_000.0;
        println!(
            "{}",
            json!({"client": name, "phase": "select", "pods": count, "selected": expected, "ms": ms})
        );
    }
}
