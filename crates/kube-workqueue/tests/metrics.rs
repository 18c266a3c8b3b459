//! The metrics of a queue, value by value.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use kube_workqueue::{Priority, WorkQueue};
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use tokio::time::sleep;

/// What changed since the last look; of a gauge that is set, the value if it was.
#[derive(Debug, Default, PartialEq)]
struct Values {
    depth: f64,
    /// The depths of the priorities that have changed.
    depths: BTreeMap<i8, f64>,
    adds: u64,
    retries: u64,
    queued: Vec<f64>,
    worked: Vec<f64>,
    unfinished: f64,
    longest: f64,
}

fn look(snapshotter: &Snapshotter) -> Values {
    let (mut values, mut depths) = (HashMap::new(), HashMap::new());
    for (key, _, _, value) in snapshotter.snapshot().into_vec() {
        let mut labels: HashMap<_, _> = key
            .key()
            .labels()
            .map(|label| (label.key(), label.value()))
            .collect();
        assert_eq!(labels.remove("name"), Some("test"));
        if let ("workqueue_depth", DebugValue::Gauge(depth)) = (key.key().name(), &value) {
            let priority: i8 = labels.remove("priority").unwrap().parse().unwrap();
            depths.insert(priority, depth.into_inner());
            assert!(labels.is_empty(), "{labels:?}");
            continue;
        }
        assert!(labels.is_empty(), "{labels:?}");
        values.insert(key.key().name().to_owned(), value);
    }
    let round = |seconds: f64| (seconds * 1000.0).round() / 1000.0;
    let mut gauge = |name: &str| match values.remove(name) {
        Some(DebugValue::Gauge(value)) => round(value.into_inner()),
        other => panic!("{name}: {other:?}"),
    };
    let unfinished = gauge("workqueue_unfinished_work_seconds");
    let longest = gauge("workqueue_longest_running_processor_seconds");
    let mut counter = |name: &str| match values.remove(name) {
        Some(DebugValue::Counter(value)) => value,
        other => panic!("{name}: {other:?}"),
    };
    let (adds, retries) = (
        counter("workqueue_adds_total"),
        counter("workqueue_retries_total"),
    );
    let mut histogram = |name: &str| match values.remove(name) {
        Some(DebugValue::Histogram(values)) => values.into_iter().map(|v| round(v.into_inner())).collect(),
        other => panic!("{name}: {other:?}"),
    };
    let queued = histogram("workqueue_queue_duration_seconds");
    let worked = histogram("workqueue_work_duration_seconds");
    assert!(values.is_empty(), "nothing else: {values:?}");
    Values {
        depth: depths.values().sum(),
        depths: depths.into_iter().filter(|(_, depth)| *depth != 0.0).collect(),
        adds,
        retries,
        queued,
        worked,
        unfinished,
        longest,
    }
}

fn named_queue() -> (WorkQueue<&'static str>, Snapshotter) {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let queue = metrics::with_local_recorder(&recorder, || WorkQueue::builder().name("test").build());
    (queue, snapshotter)
}

fn changed(depth: f64, adds: u64, retries: u64) -> Values {
    Values {
        depth,
        depths: (depth != 0.0).then_some((0, depth)).into_iter().collect(),
        adds,
        retries,
        ..Values::default()
    }
}

#[tokio::test(start_paused = true)]
async fn every_step_of_an_item_shows() {
    let (queue, snapshotter) = named_queue();
    queue.add("foo");
    assert_eq!(look(&snapshotter), changed(1.0, 1, 0));
    sleep(Duration::from_millis(100)).await;
    let foo = queue.get().await.unwrap();
    assert_eq!(
        look(&snapshotter),
        Values {
            queued: vec![0.1],
            ..changed(-1.0, 0, 0)
        }
    );

    (0..5).for_each(|_| queue.add("foo"));
    assert_eq!(look(&snapshotter), changed(1.0, 1, 0));
    sleep(Duration::from_millis(25)).await;
    drop(foo);
    assert_eq!(
        look(&snapshotter),
        Values {
            worked: vec![0.025],
            ..changed(0.0, 0, 0)
        }
    );
    sleep(Duration::from_millis(10)).await;
    let foo = queue.get().await.unwrap();
    assert_eq!(
        look(&snapshotter),
        Values {
            queued: vec![0.035],
            ..changed(-1.0, 0, 0)
        }
    );
    drop(foo);
    assert_eq!(
        look(&snapshotter),
        Values {
            worked: vec![0.0],
            ..changed(0.0, 0, 0)
        }
    );

    queue.add_after("bar", Duration::from_millis(40));
    assert_eq!(look(&snapshotter), changed(0.0, 0, 1));
    sleep(Duration::from_millis(40)).await;
    assert_eq!(queue.len(), 1);
    assert_eq!(look(&snapshotter), changed(1.0, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn unfinished_work_shows_until_it_is_done() {
    let (queue, snapshotter) = named_queue();
    queue.add("foo");
    queue.add("bar");
    sleep(Duration::from_millis(100)).await;
    let foo = queue.get().await.unwrap();
    sleep(Duration::from_millis(100)).await;
    let bar = queue.get().await.unwrap();
    sleep(Duration::from_millis(301)).await;
    let values = look(&snapshotter);
    assert_eq!((values.unfinished, values.longest), (0.7, 0.4), "as of 500 ms");
    sleep(Duration::from_millis(500)).await;
    let values = look(&snapshotter);
    assert_eq!((values.unfinished, values.longest), (1.7, 0.9), "as of 1000 ms");
    queue.shut_down();
    sleep(Duration::from_millis(500)).await;
    let values = look(&snapshotter);
    assert_eq!(
        (values.unfinished, values.longest),
        (2.7, 1.4),
        "after a shutdown, too"
    );
    drop((foo, bar));
    sleep(Duration::from_millis(500)).await;
    let values = look(&snapshotter);
    assert_eq!((values.unfinished, values.longest), (0.0, 0.0), "idle");
}

#[tokio::test(start_paused = true)]
async fn a_dropped_queue_leaves_nothing_in_the_gauges() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let build = || metrics::with_local_recorder(&recorder, || WorkQueue::builder().name("test").build());
    let (queue, other) = (build(), build());
    ["a", "b", "c"].into_iter().for_each(|item| queue.add(item));
    other.add("x");
    let taken = queue.get().await.unwrap();
    queue.add("a");
    sleep(Duration::from_millis(600)).await;
    let before = look(&snapshotter);
    assert_eq!(before.depth, 4.0, "b, c and a again; x");
    // A guard that is never dropped does not count for ever.
    std::mem::forget(taken);
    drop(queue);
    let after = look(&snapshotter);
    assert_eq!((after.depth, after.unfinished, after.longest), (-3.0, 0.0, 0.0));
    sleep(Duration::from_secs(2)).await;
    let later = look(&snapshotter);
    assert_eq!((later.depth, later.unfinished, later.longest), (0.0, 0.0, 0.0));
}

/// Case 50.
#[tokio::test(start_paused = true)]
async fn the_depth_is_that_of_each_priority() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    // Also priorities that come later are reported to it.
    let _guard = metrics::set_default_local_recorder(&recorder);
    let queue = WorkQueue::builder().name("test").build();
    let depths = || Vec::from_iter(look(&snapshotter).depths);
    let add = |priority: i8, item| queue.with_priority(Priority(priority)).add(item);
    add(-100, "a");
    add(-100, "b");
    assert_eq!(depths(), [(-100, 2.0)]);
    add(7, "a");
    assert_eq!(depths(), [(-100, -1.0), (7, 1.0)], "right after it was raised");
    add(0, "a");
    assert_eq!(depths(), [], "it is never lowered");

    let a = queue.get().await.unwrap();
    assert_eq!(depths(), [(7, -1.0)]);
    add(-100, "a");
    assert_eq!(depths(), [(-100, 1.0)], "it is queued while it is processed");
    add(0, "a");
    assert_eq!(depths(), [(-100, -1.0), (0, 1.0)]);
    drop(a);
    assert_eq!(depths(), [], "it stays queued");

    let later = queue.with_priority(Priority(9));
    later.add_after("b", Duration::from_secs(1));
    later.add_after("c", Duration::from_secs(1));
    assert_eq!(depths(), []);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(queue.len(), 3);
    assert_eq!(depths(), [(-100, -1.0), (9, 2.0)], "right after they were due");
    drop(later);
    drop(queue);
    assert_eq!(depths(), [(0, -1.0), (9, -2.0)]);
}

#[tokio::test]
async fn a_queue_without_a_name_has_no_metrics() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || WorkQueue::new().add("foo"));
    assert!(snapshotter.snapshot().into_vec().is_empty());
}
