//! The queue beside a naive model: the same operations, in any order, must show the same.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use kube_workqueue::{ItemExponential, Priority, Processing, WorkQueue};
use proptest::prelude::*;
use tokio::time::advance;

const BASE: Duration = Duration::from_millis(2);
const MAX: Duration = Duration::from_millis(20);

type Item = u8;

#[derive(Debug, Clone)]
enum Op {
    Add(Item, Priority),
    AddAfter(Item, Priority, u64),
    AddRateLimited(Item, Priority),
    Forget(Item),
    /// Polls a new `get`; it stays if it is pending.
    Get,
    /// Polls the `get`s that are pending, from one of them on.
    PollGets(usize),
    DropGet(usize),
    Done(usize),
    Advance(u64),
    ShutDown,
    /// Polls a new drain; it stays if it is pending.
    Drain,
    PollDrains,
    Look,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let item = 0..6u8;
    let priority =
        prop_oneof![3 => Just(Priority::NORMAL), 1 => Just(Priority::LOW), 1 => Just(Priority::HIGH)];
    let add = (item.clone(), priority).boxed();
    let op = prop_oneof![
        12 => add.clone().prop_map(|(item, priority)| Op::Add(item, priority)),
        8 => (add.clone(), 0..20u64).prop_map(|((item, priority), ms)| Op::AddAfter(item, priority, ms)),
        4 => add.prop_map(|(item, priority)| Op::AddRateLimited(item, priority)),
        1 => item.prop_map(Op::Forget),
        12 => Just(Op::Get),
        6 => any::<usize>().prop_map(Op::PollGets),
        3 => any::<usize>().prop_map(Op::DropGet),
        10 => any::<usize>().prop_map(Op::Done),
        6 => (0..15u64).prop_map(Op::Advance),
        6 => Just(Op::Look),
    ];
    let end = prop_oneof![
        3 => Just(Op::Drain),
        1 => Just(Op::ShutDown),
        2 => Just(Op::PollDrains),
        2 => Just(Op::Look),
        4 => Just(Op::Get),
        6 => any::<usize>().prop_map(Op::PollGets),
        2 => any::<usize>().prop_map(Op::DropGet),
        6 => any::<usize>().prop_map(Op::Done),
        1 => (0..6u8).prop_map(|item| Op::Add(item, Priority::NORMAL)),
        1 => (0..6u8, 0..20u64).prop_map(|(item, ms)| Op::AddAfter(item, Priority::NORMAL, ms)),
    ];
    let parts = (
        prop::collection::vec(op, 0..120),
        prop::collection::vec(end, 0..30),
    );
    parts.prop_map(|(mut ops, end)| {
        ops.extend(end);
        ops
    })
}

/// Plain lists, searched from end to end.
#[derive(Default)]
struct Model {
    now: u64,
    drop_delay_when_taken: bool,
    /// In the order of getting in line.
    queued: Vec<(Item, Priority)>,
    /// What is processed, and with which priority it runs again, if it does.
    processing: BTreeMap<Item, Option<Priority>>,
    /// When due, in the order of the calls.
    waiting: Vec<(u64, Item, Priority)>,
    failures: BTreeMap<Item, u32>,
    taken: usize,
    shut_downs: usize,
    shutting_down: bool,
}

impl Model {
    fn add(&mut self, item: Item, priority: Priority) {
        if self.shutting_down {
            return;
        }
        if let Some(again) = self.processing.get_mut(&item) {
            *again = Some(again.map_or(priority, |other| other.max(priority)));
            return;
        }
        match self.queued.iter().position(|(other, _)| *other == item) {
            Some(at) if self.queued[at].1 < priority => drop(self.queued.remove(at)),
            Some(_) => return,
            None => {}
        }
        self.queued.push((item, priority));
    }

    fn add_after(&mut self, item: Item, priority: Priority, delay: u64) {
        if delay == 0 || self.shutting_down {
            return self.add(item, priority);
        }
        let due = self.now + delay;
        match self.waiting.iter_mut().position(|(_, other, _)| *other == item) {
            None => self.waiting.push((due, item, priority)),
            Some(at) => {
                let priority = priority.max(self.waiting[at].2);
                self.waiting[at].2 = priority;
                if due < self.waiting[at].0 {
                    self.waiting.remove(at);
                    self.waiting.push((due, item, priority));
                }
            }
        }
    }

    fn add_rate_limited(&mut self, item: Item, priority: Priority) {
        let failures = self.failures.entry(item).or_default();
        let delay = (BASE * 2u32.pow((*failures).min(10))).min(MAX);
        *failures += 1;
        self.add_after(item, priority, delay.as_millis() as u64);
    }

    fn advance(&mut self, by: u64) {
        self.now += by;
        self.waiting.sort_by_key(|(due, ..)| *due);
        while self.waiting.first().is_some_and(|(due, ..)| *due <= self.now) {
            let (_, item, priority) = self.waiting.remove(0);
            self.add(item, priority);
        }
    }

    fn get(&mut self) -> Poll<Option<(Item, Priority)>> {
        if self.queued.is_empty() {
            let again = self.processing.values().any(Option::is_some);
            return if self.shutting_down && !again {
                Poll::Ready(None)
            } else {
                Poll::Pending
            };
        }
        let fair = self.taken % 8 == 7;
        self.taken += 1;
        let most = self.queued.iter().map(|(_, priority)| *priority).max();
        let at = self
            .queued
            .iter()
            .position(|(_, priority)| fair || Some(*priority) == most);
        let (item, priority) = self.queued.remove(at.expect("not empty"));
        self.processing.insert(item, None);
        if self.drop_delay_when_taken {
            self.waiting.retain(|(_, other, _)| *other != item);
        }
        Poll::Ready(Some((item, priority)))
    }

    fn done(&mut self, item: Item) {
        if let Some(Some(priority)) = self.processing.remove(&item) {
            self.queued.push((item, priority));
        }
    }

    fn shut_down(&mut self) {
        self.shutting_down = true;
        self.waiting.clear();
    }

    fn is_drained(&self) -> bool {
        self.queued.is_empty() && self.processing.is_empty()
    }
}

type Pending<T> = Pin<Box<dyn Future<Output = T>>>;

/// The queue, the model, and what a run of operations holds on to.
struct Pair {
    queue: WorkQueue<Item>,
    model: Model,
    gets: Vec<Pending<Option<Processing<'static, Item>>>>,
    guards: Vec<Processing<'static, Item>>,
    /// Each with the number of shutdowns before it.
    drains: Vec<(Pending<bool>, usize)>,
}

impl Pair {
    fn new(drop_delay_when_taken: bool) -> Self {
        let builder = WorkQueue::builder().rate_limiter(ItemExponential::new(BASE, MAX));
        let builder = match drop_delay_when_taken {
            true => builder.drop_delay_when_taken(),
            false => builder,
        };
        Self {
            queue: builder.build(),
            model: Model {
                drop_delay_when_taken,
                ..Model::default()
            },
            gets: Vec::new(),
            guards: Vec::new(),
            drains: Vec::new(),
        }
    }

    async fn apply(&mut self, op: Op) {
        match op {
            Op::Add(item, priority) => {
                self.queue.with_priority(priority).add(item);
                self.model.add(item, priority);
            }
            Op::AddAfter(item, priority, ms) => {
                self.queue
                    .with_priority(priority)
                    .add_after(item, Duration::from_millis(ms));
                self.model.add_after(item, priority, ms);
            }
            Op::AddRateLimited(item, priority) => {
                self.queue.with_priority(priority).add_rate_limited(item);
                self.model.add_rate_limited(item, priority);
            }
            Op::Forget(item) => {
                self.queue.forget(&item);
                self.model.failures.remove(&item);
            }
            Op::Get => {
                let queue = self.queue.clone();
                self.gets.push(Box::pin(
                    async move { queue.get().await.map(Processing::into_owned) },
                ));
                self.poll_get(self.gets.len() - 1);
            }
            Op::PollGets(first) => self.poll_gets(first),
            Op::DropGet(at) if !self.gets.is_empty() => drop(self.gets.remove(at % self.gets.len())),
            Op::Done(at) if !self.guards.is_empty() => {
                let guard = self.guards.remove(at % self.guards.len());
                self.model.done(*guard);
            }
            Op::DropGet(_) | Op::Done(_) => {}
            Op::Advance(ms) => {
                advance(Duration::from_millis(ms)).await;
                self.model.advance(ms);
            }
            Op::ShutDown => {
                self.queue.shut_down();
                self.model.shut_down();
                self.model.shut_downs += 1;
            }
            Op::Drain => {
                let queue = self.queue.clone();
                self.drains.push((
                    Box::pin(async move { queue.shut_down_with_drain().await }),
                    self.model.shut_downs,
                ));
                self.model.shut_down();
                self.poll_drains();
            }
            Op::PollDrains => self.poll_drains(),
            Op::Look => self.look(),
        }
    }

    /// Not after each operation: looking queues what is due, and that must not be needed.
    fn look(&self) {
        assert_eq!(self.queue.len(), self.model.queued.len());
        assert_eq!(self.queue.is_shutting_down(), self.model.shutting_down);
        for item in 0..6 {
            let expected = self.model.failures.get(&item).copied().unwrap_or(0);
            assert_eq!(self.queue.num_requeues(&item), expected);
        }
    }

    fn poll_gets(&mut self, first: usize) {
        let count = self.gets.len();
        for at in (0..count)
            .rev()
            .map(|at| (first % count + at) % count)
            .collect::<Vec<_>>()
        {
            if at < self.gets.len() {
                self.poll_get(at);
            }
        }
    }

    fn poll_get(&mut self, at: usize) {
        let polled = self.gets[at]
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        let shown = match &polled {
            Poll::Pending => Poll::Pending,
            Poll::Ready(got) => Poll::Ready(got.as_ref().map(|guard| (**guard, guard.priority()))),
        };
        assert_eq!(shown, self.model.get());
        if let Poll::Ready(got) = polled {
            drop(self.gets.remove(at));
            self.guards.extend(got);
        }
    }

    fn poll_drains(&mut self) {
        let (drained, shut_downs) = (self.model.is_drained(), self.model.shut_downs);
        self.drains.retain_mut(|(drain, before)| {
            let expected = match (drained, shut_downs == *before) {
                (true, _) => Poll::Ready(true),
                (false, true) => Poll::Pending,
                (false, false) => Poll::Ready(false),
            };
            let polled = drain.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert_eq!(polled, expected);
            polled.is_pending()
        });
    }

    /// Ends what is under way: everything comes out, and the queue is empty.
    fn finish(mut self) {
        self.gets.clear();
        self.queue.shut_down();
        self.model.shut_down();
        loop {
            for guard in std::mem::take(&mut self.guards) {
                self.model.done(*guard);
            }
            let queue = self.queue.clone();
            self.gets.push(Box::pin(
                async move { queue.get().await.map(Processing::into_owned) },
            ));
            self.poll_get(0);
            if self.guards.is_empty() {
                break;
            }
        }
        assert!(self.model.is_drained() && self.queue.is_empty());
    }
}

/// Proptest's cases come from the environment variable `PROPTEST_CASES`; 256 unless told.
#[test]
fn the_queue_does_what_the_model_does() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    proptest!(|(ops in ops(), drop_delay_when_taken: bool)| {
        runtime.block_on(tokio::task::coop::unconstrained(async {
            let mut pair = Pair::new(drop_delay_when_taken);
            for op in ops {
                pair.apply(op).await;
            }
            pair.finish();
        }));
    });
}
