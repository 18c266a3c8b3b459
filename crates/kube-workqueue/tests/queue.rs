//! What a user sees of the basic and the delaying queue, test by test beside client-go's own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube_workqueue::{
    ItemExponential, ItemFastSlow, MaxOf, Priority, Processing, RateLimiter, TokenBucket, WithMaxWait,
    WorkQueue,
};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::{advance, timeout};

const MS: Duration = Duration::from_millis(1);

fn start<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    tokio::spawn(future)
}

/// Lets every task that can run do so, and asks whether this one has ended.
async fn has_ended<T>(task: &JoinHandle<T>) -> bool {
    settle().await;
    task.is_finished()
}

async fn settle() {
    for _ in 0..32 {
        yield_now().await;
    }
}

async fn get<T: Eq + std::hash::Hash + Clone + Send + 'static>(queue: &WorkQueue<T>) -> Processing<'_, T> {
    timeout(Duration::from_secs(3600), queue.get())
        .await
        .expect("an item in time")
        .expect("not shut down")
}

async fn drain(queue: &WorkQueue<&'static str>) -> JoinHandle<bool> {
    let task = start({
        let queue = queue.clone();
        async move { queue.shut_down_with_drain().await }
    });
    settle().await;
    task
}

/// TestBasic, TestAddWhileProcessing: 50 producers, 10 consumers that add some items again while they have them.
async fn every_item_is_processed_by_one_at_a_time(drain: bool, again: bool) {
    let queue = WorkQueue::new();
    let running = Arc::new(Mutex::new(HashMap::<u32, u32>::new()));
    let consumers: Vec<_> = (0..10)
        .map(|_| {
            let (queue, running) = (queue.clone(), running.clone());
            start(async move {
                let mut runs = HashMap::<u32, u32>::new();
                while let Some(item) = queue.get().await {
                    assert_eq!(
                        running.lock().unwrap().insert(*item, 1),
                        None,
                        "two workers on {}",
                        *item
                    );
                    let runs = runs.entry(*item).or_default();
                    *runs += 1;
                    if again && *runs == 1 {
                        queue.add(*item);
                    }
                    yield_now().await;
                    running.lock().unwrap().remove(&item);
                }
                runs
            })
        })
        .collect();
    let producers: Vec<_> = (0..50)
        .map(|item| {
            let queue = queue.clone();
            start(async move {
                for _ in 0..20 {
                    queue.add(item);
                    yield_now().await;
                }
            })
        })
        .collect();
    for producer in producers {
        producer.await.unwrap();
    }
    if drain {
        assert!(queue.shut_down_with_drain().await);
        assert!(queue.is_empty() && running.lock().unwrap().is_empty());
    } else {
        queue.shut_down();
    }
    queue.add(1000);
    let mut all = HashMap::new();
    for consumer in consumers {
        for (item, runs) in consumer.await.unwrap() {
            *all.entry(item).or_insert(0) += runs;
        }
    }
    assert_eq!(
        all.len(),
        50,
        "each item ran, and what came after the shutdown did not"
    );
    assert!(
        !again || all.values().all(|&runs| runs >= 2),
        "each ran again: {all:?}"
    );
    assert_eq!(queue.len(), 0);
    assert!(queue.get().await.is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn basic() {
    every_item_is_processed_by_one_at_a_time(false, false).await;
    every_item_is_processed_by_one_at_a_time(true, false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn add_while_processing() {
    every_item_is_processed_by_one_at_a_time(false, true).await;
    every_item_is_processed_by_one_at_a_time(true, true).await;
}

#[tokio::test]
async fn items_come_in_the_order_of_their_adds() {
    let queue = WorkQueue::new();
    (0..1000).for_each(|item| queue.add(item));
    for expected in 0..1000 {
        assert_eq!(*get(&queue).await, expected);
    }
}

#[tokio::test]
async fn len_counts_what_is_queued_once() {
    let queue = WorkQueue::new();
    queue.add("foo");
    assert_eq!(queue.len(), 1);
    queue.add("bar");
    assert_eq!(queue.len(), 2);
    queue.add("foo");
    assert_eq!(queue.len(), 2);
    let _foo = get(&queue).await;
    assert_eq!(queue.len(), 1);
}

#[tokio::test]
async fn an_item_added_while_processing_comes_back_when_done() {
    let queue = WorkQueue::new();
    queue.add("foo");
    let foo = get(&queue).await;
    queue.add(*foo);
    assert_eq!(queue.len(), 0);
    drop(foo);
    assert_eq!(queue.len(), 1);
    let foo = get(&queue).await;
    assert_eq!(*foo, "foo");
    drop(foo);
    assert_eq!(queue.len(), 0);
}

#[tokio::test]
async fn adds_collapse_while_queued() {
    let queue = WorkQueue::new();
    queue.add("bar");
    queue.add("bar");
    drop(get(&queue).await);
    assert_eq!(queue.len(), 0);
}

#[tokio::test]
async fn adds_collapse_while_processing() {
    let queue = WorkQueue::new();
    queue.add("bar");
    let bar = get(&queue).await;
    queue.add("bar");
    queue.add("bar");
    let next = start({
        let queue = queue.clone();
        async move { drop(get(&queue).await) }
    });
    assert!(!has_ended(&next).await, "only after the first run is done");
    drop(bar);
    next.await.unwrap();
    assert_eq!(queue.len(), 0);
}

#[tokio::test]
async fn a_panicking_or_cancelled_worker_is_done() {
    let queue = WorkQueue::new();
    queue.add("foo");
    let worker = start({
        let queue = queue.clone();
        async move {
            let _foo = get(&queue).await;
            panic!("on purpose");
        }
    });
    assert!(worker.await.unwrap_err().is_panic());
    queue.add("foo");
    let worker = start({
        let queue = queue.clone();
        async move {
            let _foo = get(&queue).await;
            std::future::pending::<()>().await;
        }
    });
    settle().await;
    queue.add("foo");
    assert_eq!(queue.len(), 0, "the worker has it");
    worker.abort();
    assert!(worker.await.unwrap_err().is_cancelled());
    assert_eq!(queue.len(), 1);
}

#[tokio::test]
async fn drain_waits_for_what_is_processed() {
    let queue = WorkQueue::new();
    queue.add("foo");
    queue.add("bar");
    let (foo, bar) = (get(&queue).await, get(&queue).await);
    let drain = drain(&queue).await;
    assert!(queue.is_shutting_down());
    drop(foo);
    assert!(!has_ended(&drain).await);
    drop(bar);
    assert!(drain.await.unwrap());
}

#[tokio::test]
async fn drain_waits_for_what_is_queued() {
    let queue = WorkQueue::new();
    queue.add("foo");
    queue.add("bar");
    let foo = get(&queue).await;
    let drain = drain(&queue).await;
    drop(foo);
    assert!(!has_ended(&drain).await, "bar is queued");
    let bar = get(&queue).await;
    assert!(!has_ended(&drain).await, "bar is being processed");
    drop(bar);
    assert!(drain.await.unwrap());
    assert!(queue.get().await.is_none());
}

#[tokio::test]
async fn any_number_may_drain() {
    let queue = WorkQueue::new();
    queue.add("foo");
    let foo = get(&queue).await;
    let (one, two, cancelled) = (drain(&queue).await, drain(&queue).await, drain(&queue).await);
    cancelled.abort();
    assert!(!has_ended(&one).await && !has_ended(&two).await);
    drop(foo);
    assert!(one.await.unwrap() && two.await.unwrap());
    assert!(queue.shut_down_with_drain().await, "and later ones find it empty");
}

#[tokio::test]
async fn shut_down_does_not_wait() {
    let queue = WorkQueue::new();
    queue.add("foo");
    queue.add("bar");
    let (_foo, _bar) = (get(&queue).await, get(&queue).await);
    queue.shut_down();
    assert!(queue.get().await.is_none());
}

#[tokio::test]
async fn shut_down_releases_a_drain() {
    let queue = WorkQueue::new();
    queue.add("foo");
    queue.add("bar");
    let (_foo, _bar) = (get(&queue).await, get(&queue).await);
    let drain_task = drain(&queue).await;
    assert!(!has_ended(&drain_task).await);
    queue.shut_down();
    assert!(!drain_task.await.unwrap(), "it says that it was cut short");
    let again = drain(&queue).await;
    assert!(!has_ended(&again).await, "a later drain waits again");
}

#[tokio::test]
async fn an_item_added_while_processing_is_delivered_after_shutdown() {
    let queue = WorkQueue::new();
    queue.add("foo");
    let foo = get(&queue).await;
    queue.add("foo");
    let drain = drain(&queue).await;
    let next = start({
        let queue = queue.clone();
        async move { queue.get().await.map(Processing::into_owned) }
    });
    assert!(!has_ended(&next).await, "foo is still to come");
    let last = start({
        let queue = queue.clone();
        async move { queue.get().await.is_none() }
    });
    assert!(!has_ended(&last).await);
    drop(foo);
    let foo = next.await.unwrap().expect("foo again");
    assert!(last.await.unwrap(), "then there is nothing more");
    assert!(!has_ended(&drain).await);
    drop(foo);
    assert!(drain.await.unwrap());
}

#[tokio::test]
async fn a_ready_queue_lets_other_tasks_run() {
    let queue = WorkQueue::new();
    queue.add(0);
    let greedy = start({
        let queue = queue.clone();
        async move {
            while let Some(item) = queue.get().await {
                queue.add(*item);
            }
        }
    });
    settle().await;
    queue.shut_down();
    greedy.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_delayed_item_comes_once_and_not_early() {
    let queue = WorkQueue::new();
    queue.add_after("foo", 50 * MS);
    assert_eq!(queue.len(), 0);
    advance(49 * MS).await;
    assert_eq!(queue.len(), 0);
    advance(MS).await;
    assert_eq!(queue.len(), 1);
    drop(get(&queue).await);
    advance(10_000 * MS).await;
    assert_eq!(queue.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_taken_item_is_not_delayed_if_so_asked() {
    let queue = WorkQueue::builder().drop_delay_when_taken().build();
    queue.add_after("one", 10 * MS);
    queue.add_after("two", 20 * MS);
    queue.add("one");
    let one = get(&queue).await;
    assert_eq!(*one, "one");
    queue.add_after("one", 50 * MS);
    drop(one);
    advance(10 * MS).await;
    assert!(queue.is_empty(), "its first delay is gone");
    advance(10 * MS).await;
    assert_eq!(*get(&queue).await, "two");
    assert!(queue.is_empty());
    advance(30 * MS).await;
    assert_eq!(*get(&queue).await, "one");
}

#[tokio::test(start_paused = true)]
async fn of_two_times_the_earlier_counts() {
    for (first, second, due) in [(50, 70, 50), (50, 30, 30)] {
        let queue = WorkQueue::new();
        queue.add_after("foo", first * MS);
        queue.add_after("foo", second * MS);
        advance((due - 1) * MS).await;
        assert_eq!(queue.len(), 0);
        advance(MS).await;
        assert_eq!(queue.len(), 1);
        drop(get(&queue).await);
        advance(1000 * MS).await;
        assert_eq!(queue.len(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn delayed_items_come_at_their_times_to_who_waits() {
    let queue = WorkQueue::new();
    let began = tokio::time::Instant::now();
    let worker = start({
        let queue = queue.clone();
        async move {
            let mut seen = Vec::new();
            while let Some(item) = queue.get().await {
                seen.push((*item, began.elapsed().as_millis()));
            }
            seen
        }
    });
    settle().await;
    queue.add_after("third", 1000 * MS);
    settle().await;
    queue.add_after("first", 50 * MS);
    tokio::time::sleep(500 * MS).await;
    queue.add_after("fourth", 2000 * MS);
    queue.add("second");
    tokio::time::sleep(5000 * MS).await;
    queue.shut_down();
    let expected = [("first", 50), ("second", 500), ("third", 1000), ("fourth", 2500)];
    assert_eq!(worker.await.unwrap(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_getter_that_waits_is_less_than_a_tick_late() {
    let queue = WorkQueue::new();
    for micros in [1, 300, 999, 1000, 1001, 1500, 1999, 2000, 2700, 61_234] {
        tokio::time::sleep(Duration::from_micros(700)).await;
        advance(Duration::from_micros(400)).await;
        let delay = Duration::from_micros(micros);
        let due = tokio::time::Instant::now() + delay;
        queue.add_after(micros, delay);
        drop(get(&queue).await);
        let now = tokio::time::Instant::now();
        assert!(due <= now && now < due + MS, "{micros} us: {:?}", now - due);
    }
}

#[tokio::test(start_paused = true)]
async fn one_jump_in_time_keeps_the_order_of_deadlines() {
    let queue = WorkQueue::new();
    queue.add_after("foo", 1000 * MS);
    queue.add_after("bar", 500 * MS);
    queue.add_after("baz", 800 * MS);
    queue.add_after("twin", 800 * MS);
    assert_eq!(queue.len(), 0);
    advance(2000 * MS).await;
    queue.add("late");
    for expected in ["bar", "baz", "twin", "foo", "late"] {
        assert_eq!(*get(&queue).await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn an_add_does_not_end_a_wait() {
    let queue = WorkQueue::new();
    queue.add_after("foo", 1000 * MS);
    queue.add("foo");
    assert_eq!(queue.len(), 1);
    drop(get(&queue).await);
    assert_eq!(queue.len(), 0);
    advance(2000 * MS).await;
    assert_eq!(queue.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_item_due_while_processing_comes_when_done() {
    let queue = WorkQueue::new();
    queue.add("foo");
    let foo = get(&queue).await;
    queue.add_after("foo", 10 * MS);
    advance(20 * MS).await;
    assert_eq!(queue.len(), 0);
    drop(foo);
    assert_eq!(queue.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn items_due_during_a_run_are_queued_before_its_item() {
    let queue = WorkQueue::new();
    queue.add("again");
    let again = get(&queue).await;
    queue.add("again");
    queue.add_after("due", 10 * MS);
    advance(20 * MS).await;
    drop(again);
    assert_eq!(*get(&queue).await, "due");
    assert_eq!(*get(&queue).await, "again");
}

#[tokio::test(start_paused = true)]
async fn shutdown_forgets_what_waits_and_keeps_what_is_due() {
    let queue = WorkQueue::new();
    queue.add_after("due", 10 * MS);
    queue.add_after("waits", 1000 * MS);
    advance(10 * MS).await;
    queue.shut_down();
    queue.add_after("late", MS);
    advance(5000 * MS).await;
    assert_eq!(*get(&queue).await, "due");
    assert!(queue.get().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn endless_delays_are_no_trouble() {
    let queue = WorkQueue::new();
    queue.add_after("never", Duration::MAX);
    assert!(
        timeout(Duration::from_secs(86_400 * 365), queue.get())
            .await
            .is_err()
    );
    queue.add_after("now", Duration::ZERO);
    assert_eq!(*get(&queue).await, "now");
}

#[tokio::test(start_paused = true)]
async fn very_many_due_at_once_all_come() {
    let queue = WorkQueue::new();
    (0..100_000).for_each(|item| queue.add_after(item, 1000 * MS));
    advance(1000 * MS).await;
    assert_eq!(queue.len(), 100_000);
    for expected in 0..100_000 {
        assert_eq!(*queue.get().await.unwrap(), expected);
    }
    assert_eq!(queue.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn rate_limited_items_wait_longer_each_time() {
    let limiter = ItemExponential::new(MS, 1000 * MS);
    let queue = WorkQueue::builder().name("retries").rate_limiter(limiter).build();
    assert_eq!(queue.name(), "retries");
    for (item, delay) in [("one", 1), ("one", 2), ("two", 1), ("two", 2), ("one", 4)] {
        queue.add_rate_limited(item);
        advance((delay - 1) * MS).await;
        assert_eq!(queue.len(), 0);
        advance(MS).await;
        assert_eq!(queue.len(), 1);
        assert_eq!(*get(&queue).await, item);
    }
    assert_eq!((queue.num_requeues(&"one"), queue.num_requeues(&"two")), (3, 2));
    queue.forget(&"one");
    assert_eq!((queue.num_requeues(&"one"), queue.num_requeues(&"two")), (0, 2));
    queue.add_rate_limited("one");
    advance(MS).await;
    assert_eq!(queue.len(), 1);
}

/// Polls a `get` once, in a task of its own, and leaves it pending.
async fn waiting(queue: &WorkQueue<&'static str>) -> JoinHandle<Option<&'static str>> {
    let task = start({
        let queue = queue.clone();
        async move { queue.get().await.map(|item| *item) }
    });
    settle().await;
    assert!(!task.is_finished());
    task
}

#[tokio::test(start_paused = true)]
async fn a_dropped_get_passes_its_wake_up_on() {
    let queue = WorkQueue::new();
    let (first, second) = (waiting(&queue).await, waiting(&queue).await);
    queue.add("foo"); // wakes the first, which never gets to look
    first.abort();
    assert_eq!(second.await.unwrap(), Some("foo"));
    assert!(first.await.unwrap_err().is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_timekeeper_hands_the_time_on() {
    let queue = WorkQueue::new();
    queue.add_after("foo", 100 * MS);
    let (first, second) = (waiting(&queue).await, waiting(&queue).await);
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    let began = tokio::time::Instant::now();
    assert_eq!(second.await.unwrap(), Some("foo"));
    assert_eq!(began.elapsed(), 100 * MS);
}

#[tokio::test(start_paused = true)]
async fn a_timekeeper_that_gets_an_item_hands_the_time_on() {
    let queue = WorkQueue::new();
    queue.add_after("later", 100 * MS);
    let (first, second) = (waiting(&queue).await, waiting(&queue).await);
    queue.add("a");
    queue.add("b");
    assert_eq!(
        (first.await.unwrap(), second.await.unwrap()),
        (Some("b"), Some("a"))
    );
    let (third, fourth) = (waiting(&queue).await, waiting(&queue).await);
    queue.add_after("sooner", 10 * MS);
    let began = tokio::time::Instant::now();
    assert_eq!(third.await.unwrap(), Some("sooner"));
    assert_eq!(began.elapsed(), 10 * MS);
    assert_eq!(fourth.await.unwrap(), Some("later"));
    assert_eq!(began.elapsed(), 100 * MS);
}

#[tokio::test(start_paused = true)]
async fn all_who_wait_learn_of_the_shutdown() {
    let queue = WorkQueue::new();
    queue.add_after("foo", 100 * MS);
    let tasks = [
        waiting(&queue).await,
        waiting(&queue).await,
        waiting(&queue).await,
    ];
    queue.shut_down();
    for task in tasks {
        assert_eq!(task.await.unwrap(), None);
    }
}

#[tokio::test]
async fn higher_priorities_go_first_and_low_ones_are_raised() {
    let queue = WorkQueue::new();
    let low = queue.with_priority(Priority::LOW);
    ["a", "b", "c"].into_iter().for_each(|item| low.add(item));
    queue.add("d");
    queue.add("b");
    low.add("d");
    for expected in [
        ("d", Priority::NORMAL),
        ("b", Priority::NORMAL),
        ("a", Priority::LOW),
        ("c", Priority::LOW),
    ] {
        let item = get(&queue).await;
        assert_eq!((*item, item.priority()), expected);
    }
}

#[tokio::test]
async fn low_priorities_do_not_starve() {
    let queue = WorkQueue::new();
    let low = queue.with_priority(Priority::LOW);
    low.add("first low");
    low.add("second low");
    ["one", "two"].into_iter().for_each(|item| queue.add(item));
    let mut turns = Vec::new();
    for turn in 1..=16 {
        let item = get(&queue).await;
        match item.priority() {
            Priority::LOW => turns.push((turn, *item)),
            _ => queue.add(*item), // there is always more urgent work
        }
    }
    assert_eq!(turns, [(8, "first low"), (16, "second low")]);
}

#[test]
fn handles_guards_and_futures_can_be_sent() {
    fn is_send<T: Send>(_: &T) {}
    fn is_sync<T: Sync>(_: &T) {}
    let queue = WorkQueue::<String>::new();
    is_send(&queue);
    is_sync(&queue);
    is_send(&queue.get());
    is_send(&queue.shut_down_with_drain());
    fn guard<T: Send + Sync>() {}
    guard::<Processing<'static, String>>();
}

#[tokio::test(start_paused = true)]
async fn items_that_are_done_go_and_may_come_back() {
    let queue = WorkQueue::new();
    let items: Vec<Arc<u32>> = (0..1000).map(Arc::new).collect();
    for round in 0..3 {
        for item in &items {
            queue.add(item.clone());
        }
        assert_eq!(queue.len(), 1000);
        for item in &items {
            let taken = get(&queue).await;
            assert_eq!(*taken, *item);
            // Some come back while they are processed, and some as soon as they are done.
            if round == 0 && **item % 3 == 0 {
                queue.add(item.clone());
            }
            drop(taken);
            if round == 0 && **item % 3 == 1 {
                queue.add(item.clone());
            }
        }
        let again = queue.len();
        for _ in 0..again {
            assert_ne!(**get(&queue).await % 3, 2);
        }
        assert_eq!(again, if round == 0 { 667 } else { 0 });
        assert!(timeout(MS, queue.get()).await.is_err());
        assert!(items.iter().all(|item| Arc::strong_count(item) == 1));
    }
}

#[tokio::test(start_paused = true)]
async fn an_item_that_is_done_is_not_stored() {
    let queue = WorkQueue::new();
    let items: Vec<Arc<u32>> = (0..10).map(Arc::new).collect();
    let stored = || items.iter().filter(|item| Arc::strong_count(item) > 1).count();
    for item in &items {
        queue.add(item.clone());
    }
    for left in (0..10).rev() {
        drop(get(&queue).await);
        assert_eq!(stored(), left);
    }
    queue.add_after(items[0].clone(), MS);
    queue.shut_down();
    assert_eq!(stored(), 0, "a shutdown drops delayed items");
}

/// Delays and limits as long as they come are as good as never.
#[tokio::test(start_paused = true)]
async fn the_longest_delays_are_as_good_as_never() {
    let most = Duration::MAX;
    let limiters: [Box<dyn RateLimiter<u32>>; 4] = [
        Box::new(ItemExponential::new(most, most)),
        Box::new(ItemFastSlow::new(most, most, u32::MAX)),
        Box::new(TokenBucket::new(most, u32::MAX)),
        Box::new(TokenBucket::new(Duration::from_nanos(1), 0)),
    ];
    let limiter = WithMaxWait::new(MaxOf::new(limiters), most);
    let queue = WorkQueue::builder().rate_limiter(limiter).build();
    for n in 0..20 {
        queue.add_after(n, most);
        queue.add_rate_limited(n);
    }
    let nothing = tokio::time::timeout(Duration::from_secs(1 << 30), queue.get()).await;
    assert!(nothing.is_err());
    assert_eq!(queue.len(), 0);
    queue.add(7);
    assert_eq!(*queue.get().await.unwrap(), 7);
}
