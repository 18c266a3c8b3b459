//! Model checks of the lock protocol in every interleaving of threads, up to a number of preemptions.
//!
//! A lost wake-up shows as a deadlock, which loom reports.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use loom::future::block_on;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use crate::WorkQueue;
use crate::loom_clock::advance;

const TICK: Duration = Duration::from_secs(1);

/// Three preemptions suffice to find errors in such protocols; `LOOM_MAX_PREEMPTIONS` overrides this.
fn model(test: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = model.preemption_bound.or(Some(3));
    model.check(test);
}

/// Gets an item and finishes it.
fn get_one(queue: &WorkQueue<u8>) -> thread::JoinHandle<u8> {
    let queue = queue.clone();
    thread::spawn(move || *block_on(queue.get()).expect("not shut down"))
}

/// Polls a `get` once and drops it; adds a received item again.
fn get_and_give_up(queue: &WorkQueue<u8>) -> thread::JoinHandle<()> {
    let queue = queue.clone();
    thread::spawn(move || {
        let mut get = pin!(queue.get());
        if let Poll::Ready(got) = get.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            queue.add(*got.expect("not shut down"));
        }
    })
}

#[test]
fn each_getter_gets_an_item() {
    model(|| {
        let queue = WorkQueue::new();
        let getters = [get_one(&queue), get_one(&queue)];
        queue.add(1);
        queue.add(2);
        let mut got = getters.map(|getter| getter.join().unwrap());
        got.sort_unstable();
        assert_eq!(got, [1, 2]);
    });
}

#[test]
fn a_dropped_getter_takes_no_wake_up_with_it() {
    model(|| {
        let queue = WorkQueue::new();
        let dropped = get_and_give_up(&queue);
        let getter = get_one(&queue);
        queue.add(1);
        assert_eq!(getter.join().unwrap(), 1);
        dropped.join().unwrap();
    });
}

#[test]
fn no_add_is_lost_and_no_two_workers_have_one_item() {
    model(|| {
        let queue = WorkQueue::new();
        let version = Arc::new(AtomicUsize::new(0));
        let seen = Arc::new(AtomicUsize::new(0));
        let busy = Arc::new(AtomicUsize::new(0));
        let workers = [(); 2].map(|()| {
            let (queue, version, seen, busy) = (queue.clone(), version.clone(), seen.clone(), busy.clone());
            thread::spawn(move || {
                while let Some(item) = block_on(queue.get()) {
                    assert_eq!(busy.fetch_add(1, Ordering::SeqCst), 0, "one worker for each item");
                    seen.store(version.load(Ordering::SeqCst), Ordering::SeqCst);
                    busy.fetch_sub(1, Ordering::SeqCst);
                    drop(item);
                }
            })
        });
        for v in 1..=2 {
            version.store(v, Ordering::SeqCst);
            queue.add(7);
        }
        queue.shut_down();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        assert_eq!(seen.load(Ordering::SeqCst), 2, "the last add has had its run");
    });
}

#[test]
fn every_drain_ends_when_all_is_done() {
    model(|| {
        let queue = WorkQueue::new();
        queue.add(1);
        let item = block_on(queue.get()).unwrap().into_owned();
        queue.add(1);
        let other = thread::spawn({
            let queue = queue.clone();
            move || block_on(queue.shut_down_with_drain())
        });
        let worker = thread::spawn({
            let queue = queue.clone();
            move || {
                drop(item);
                while let Some(item) = block_on(queue.get()) {
                    drop(item);
                }
            }
        });
        assert!(block_on(queue.shut_down_with_drain()));
        assert!(other.join().unwrap());
        worker.join().unwrap();
        assert!(queue.is_empty());
    });
}

#[test]
fn shut_down_wakes_every_getter() {
    model(|| {
        let queue = WorkQueue::<u8>::new();
        let getters = [(); 2].map(|()| {
            let queue = queue.clone();
            thread::spawn(move || block_on(queue.get()).is_none())
        });
        queue.add_after(1, TICK);
        queue.shut_down();
        assert!(getters.into_iter().all(|getter| getter.join().unwrap()));
    });
}

#[test]
fn due_items_reach_all_who_wait() {
    model(|| {
        let queue = WorkQueue::new();
        let getters = [get_one(&queue), get_one(&queue)];
        queue.add_after(2, 2 * TICK);
        queue.add_after(1, TICK);
        advance(TICK);
        advance(TICK);
        let mut got = getters.map(|getter| getter.join().unwrap());
        got.sort_unstable();
        assert_eq!(got, [1, 2]);
    });
}

#[test]
fn a_dropped_timekeeper_hands_the_time_on() {
    model(|| {
        let queue = WorkQueue::new();
        let dropped = get_and_give_up(&queue);
        let getter = get_one(&queue);
        queue.add_after(1, TICK);
        advance(TICK);
        assert_eq!(getter.join().unwrap(), 1);
        dropped.join().unwrap();
    });
}
