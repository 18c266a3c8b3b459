//! Rate limiters, which determine the delay before an item is retried.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use crate::clock::Instant;
use crate::sync::Mutex;

/// Determines when an item may be retried.
///
/// A queue calls it from many tasks concurrently, without holding its own lock.
#[doc(alias = "TypedRateLimiter")]
pub trait RateLimiter<T>: Send + Sync {
    /// The delay of the item. Each call counts as one more failure.
    #[doc(alias = "When")]
    fn when(&self, item: &T) -> Duration;

    /// Clears the failures of an item that has succeeded or is given up.
    #[doc(alias = "Forget")]
    fn forget(&self, item: &T);

    /// The number of counted failures of the item.
    #[doc(alias = "NumRequeues")]
    fn num_requeues(&self, item: &T) -> u32;
}

/// The default rate limiter of controllers: the longer of 5 ms·2ⁿ for an item that failed *n* times before (at most
/// 1000 s), and a token bucket for all items with 10 tokens per second and a burst of 100.
#[doc(alias = "DefaultControllerRateLimiter")]
#[doc(alias = "DefaultTypedControllerRateLimiter")]
pub fn default_controller_rate_limiter<T>() -> MaxOf<T>
where
    T: Eq + Hash + Clone + Send + 'static,
{
    MaxOf::new([
        Box::new(ItemExponential::default()) as Box<dyn RateLimiter<T>>,
        Box::new(TokenBucket::new(Duration::from_millis(100), 100)),
    ])
}

/// The number of failures of each item, until `forget` is called.
#[derive(Debug)]
struct Failures<T>(Mutex<HashMap<T, u32>>);

impl<T: Eq + Hash + Clone> Failures<T> {
    fn new() -> Self {
        Self(Mutex::new(HashMap::new()))
    }

    /// Increments the count of an item; returns the previous count.
    fn increment(&self, item: &T) -> u32 {
        let mut failures = self.0.lock();
        if let Some(count) = failures.get_mut(item) {
            let before = *count;
            *count = before.saturating_add(1);
            return before;
        }
        failures.insert(item.clone(), 1);
        0
    }

    fn get(&self, item: &T) -> u32 {
        self.0.lock().get(item).copied().unwrap_or(0)
    }

    fn forget(&self, item: &T) {
        let _forgotten = self.0.lock().remove_entry(item);
    }
}

/// Doubles an item's delay with each of its failures, up to a maximum.
///
/// It tracks every item that failed until `forget` is called.
#[derive(Debug)]
#[doc(alias = "ItemExponentialFailureRateLimiter")]
#[doc(alias = "TypedItemExponentialFailureRateLimiter")]
pub struct ItemExponential<T> {
    failures: Failures<T>,
    base: Duration,
    max: Duration,
}

impl<T: Eq + Hash + Clone> ItemExponential<T> {
    /// Delays of `base`, 2·`base`, 4·`base`, …, never more than `max`.
    pub fn new(base: Duration, max: Duration) -> Self {
        Self {
            failures: Failures::new(),
            base,
            max,
        }
    }
}

impl<T: Eq + Hash + Clone> Default for ItemExponential<T> {
    /// From 5 ms to 1000 s.
    fn default() -> Self {
        Self::new(Duration::from_millis(5), Duration::from_secs(1000))
    }
}

impl<T: Eq + Hash + Clone + Send> RateLimiter<T> for ItemExponential<T> {
    fn when(&self, item: &T) -> Duration {
        let failures = self.failures.increment(item);
        let delay = 2u32
            .checked_pow(failures)
            .and_then(|factor| self.base.checked_mul(factor));
        let overflow = if self.base.is_zero() { self.base } else { self.max };
        delay.unwrap_or(overflow).min(self.max)
    }

    fn forget(&self, item: &T) {
        self.failures.forget(item);
    }

    fn num_requeues(&self, item: &T) -> u32 {
        self.failures.get(item)
    }
}

/// A short delay for an item's first failures, a long one after that.
///
/// It tracks every item that failed until `forget` is called.
#[derive(Debug)]
#[doc(alias = "ItemFastSlowRateLimiter")]
#[doc(alias = "TypedItemFastSlowRateLimiter")]
pub struct ItemFastSlow<T> {
    failures: Failures<T>,
    fast: Duration,
    slow: Duration,
    max_fast_attempts: u32,
}

impl<T: Eq + Hash + Clone> ItemFastSlow<T> {
    /// `fast` for the first `max_fast_attempts` failures, then `slow`.
    pub fn new(fast: Duration, slow: Duration, max_fast_attempts: u32) -> Self {
        Self {
            failures: Failures::new(),
            fast,
            slow,
            max_fast_attempts,
        }
    }
}

impl<T: Eq + Hash + Clone + Send> RateLimiter<T> for ItemFastSlow<T> {
    fn when(&self, item: &T) -> Duration {
        match self.failures.increment(item) < self.max_fast_attempts {
            true => self.fast,
            false => self.slow,
        }
    }

    fn forget(&self, item: &T) {
        self.failures.forget(item);
    }

    fn num_requeues(&self, item: &T) -> u32 {
        self.failures.get(item)
    }
}

/// A token bucket for all items: each call takes one token. If the bucket is empty, the delay lasts until the call's
/// token is available.
#[derive(Debug)]
#[doc(alias = "BucketRateLimiter")]
#[doc(alias = "TypedBucketRateLimiter")]
pub struct TokenBucket {
    interval: Duration,
    /// The time by which `spent_until` may be ahead of the clock before calls are delayed.
    tolerance: Duration,
    /// The time at which all tokens taken so far would have been produced, one in each interval.
    spent_until: Mutex<Instant>,
}

/// As good as never. The tokens of the largest burst take no longer than can be said.
const LONGEST_INTERVAL: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

impl TokenBucket {
    /// A full bucket of `burst` tokens (at least one) that receives a new one every `interval`; an interval of zero
    /// means no limit, and one of more than ten years counts as ten years.
    pub fn new(interval: Duration, burst: u32) -> Self {
        let interval = interval.min(LONGEST_INTERVAL);
        let tolerance = interval.saturating_mul(burst.saturating_sub(1));
        Self {
            interval,
            tolerance,
            spent_until: Mutex::new(Instant::now()),
        }
    }
}

impl<T> RateLimiter<T> for TokenBucket {
    fn when(&self, _item: &T) -> Duration {
        let now = Instant::now();
        let mut spent_until = self.spent_until.lock();
        let start = now.max(*spent_until);
        if let Some(end) = start.checked_add(self.interval) {
            *spent_until = end;
        }
        (start - now).saturating_sub(self.tolerance)
    }

    fn forget(&self, _item: &T) {}

    fn num_requeues(&self, _item: &T) -> u32 {
        0
    }
}

/// The longest delay and the highest count of several limiters; each of them counts every failure.
///
/// ```
/// use kube_workqueue::{ItemExponential, MaxOf, RateLimiter, TokenBucket, WorkQueue};
/// use std::time::Duration;
///
/// let limiter = MaxOf::new([
///     Box::new(ItemExponential::new(Duration::from_millis(5), Duration::from_secs(1000))) as Box<dyn RateLimiter<String>>,
///     // A token every 20 ms, which is 50 a second, and a burst of 300.
///     Box::new(TokenBucket::new(Duration::from_millis(20), 300)),
/// ]);
/// let queue = WorkQueue::builder().rate_limiter(limiter).build();
/// # queue.add("a".to_owned());
/// ```
#[doc(alias = "MaxOfRateLimiter")]
#[doc(alias = "TypedMaxOfRateLimiter")]
pub struct MaxOf<T> {
    limiters: Vec<Box<dyn RateLimiter<T>>>,
}

impl<T> MaxOf<T> {
    /// The maximum of `limiters`; no delay if there are none.
    pub fn new(limiters: impl IntoIterator<Item = Box<dyn RateLimiter<T>>>) -> Self {
        Self {
            limiters: limiters.into_iter().collect(),
        }
    }
}

impl<T> RateLimiter<T> for MaxOf<T> {
    fn when(&self, item: &T) -> Duration {
        self.limiters
            .iter()
            .map(|limiter| limiter.when(item))
            .max()
            .unwrap_or_default()
    }

    fn forget(&self, item: &T) {
        for limiter in &self.limiters {
            limiter.forget(item);
        }
    }

    fn num_requeues(&self, item: &T) -> u32 {
        self.limiters
            .iter()
            .map(|limiter| limiter.num_requeues(item))
            .max()
            .unwrap_or_default()
    }
}

impl<T> std::fmt::Debug for MaxOf<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MaxOf")
            .field("limiters", &self.limiters.len())
            .finish()
    }
}

/// Limits another limiter's delays to a maximum.
#[derive(Debug)]
#[doc(alias = "WithMaxWaitRateLimiter")]
#[doc(alias = "TypedWithMaxWaitRateLimiter")]
pub struct WithMaxWait<L> {
    limiter: L,
    max: Duration,
}

impl<L> WithMaxWait<L> {
    /// The delays of `limiter`, at most `max`.
    pub fn new(limiter: L, max: Duration) -> Self {
        Self { limiter, max }
    }
}

impl<T, L: RateLimiter<T>> RateLimiter<T> for WithMaxWait<L> {
    fn when(&self, item: &T) -> Duration {
        self.limiter.when(item).min(self.max)
    }

    fn forget(&self, item: &T) {
        self.limiter.forget(item);
    }

    fn num_requeues(&self, item: &T) -> u32 {
        self.limiter.num_requeues(item)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const SECOND: Duration = Duration::from_secs(1);

    /// The delays of `n` failures of `item`, in milliseconds.
    fn delays(limiter: &dyn RateLimiter<&'static str>, item: &'static str, n: usize) -> Vec<u128> {
        (0..n).map(|_| limiter.when(&item).as_millis()).collect()
    }

    #[test]
    fn exponential_doubles_for_each_item_until_forgotten() {
        let limiter = ItemExponential::new(MS, SECOND);
        assert_eq!(delays(&limiter, "one", 5), [1, 2, 4, 8, 16]);
        assert_eq!(limiter.num_requeues(&"one"), 5);
        assert_eq!(delays(&limiter, "two", 2), [1, 2]);
        assert_eq!(limiter.num_requeues(&"two"), 2);
        limiter.forget(&"one");
        assert_eq!(limiter.num_requeues(&"one"), 0);
        assert_eq!(delays(&limiter, "one", 1), [1]);
        assert_eq!(limiter.num_requeues(&"two"), 2);
    }

    #[test]
    fn exponential_ends_at_its_maximum_without_overflow() {
        for (base, max) in [
            (MS, 1000 * SECOND),
            (60 * SECOND, 3_600_000 * SECOND),
            (Duration::MAX, Duration::MAX),
        ] {
            let limiter = ItemExponential::new(base, max);
            let last = (0..1001).map(|_| limiter.when(&"one")).last();
            assert_eq!(last, Some(max));
        }
        let nothing = ItemExponential::new(Duration::ZERO, SECOND);
        assert_eq!(delays(&nothing, "one", 100), [0; 100]);
    }

    #[test]
    fn the_default_exponential_is_that_of_controllers() {
        let limiter = ItemExponential::default();
        let delays = delays(&limiter, "one", 19);
        assert_eq!(delays[..3], [5, 10, 20]);
        assert_eq!(delays[17..], [655_360, 1_000_000]);
    }

    #[test]
    fn fast_slow_is_fast_first() {
        let limiter = ItemFastSlow::new(5 * MS, 10 * SECOND, 3);
        assert_eq!(delays(&limiter, "one", 5), [5, 5, 5, 10_000, 10_000]);
        assert_eq!(limiter.num_requeues(&"one"), 5);
        assert_eq!(delays(&limiter, "two", 1), [5]);
        limiter.forget(&"one");
        assert_eq!(limiter.num_requeues(&"one"), 0);
        assert_eq!(delays(&limiter, "one", 1), [5]);
    }

    #[test]
    fn max_of_advances_all_and_returns_the_worst() {
        let limiter = MaxOf::new([
            Box::new(ItemFastSlow::new(5 * MS, 3 * SECOND, 3)) as Box<dyn RateLimiter<&'static str>>,
            Box::new(ItemExponential::new(MS, SECOND)),
        ]);
        assert_eq!(delays(&limiter, "one", 5), [5, 5, 5, 3000, 3000]);
        assert_eq!(limiter.num_requeues(&"one"), 5);
        assert_eq!(delays(&limiter, "two", 2), [5, 5]);
        limiter.forget(&"one");
        assert_eq!(limiter.num_requeues(&"one"), 0);
        assert_eq!(delays(&limiter, "one", 1), [5]);
        assert_eq!(MaxOf::new([]).when(&"one"), Duration::ZERO);
    }

    #[test]
    fn max_wait_cuts_off_what_the_inner_limiter_says() {
        let limiter = WithMaxWait::new(ItemFastSlow::new(5 * MS, 1000 * SECOND, 100), 500 * SECOND);
        assert_eq!(delays(&limiter, "one", 100), [5; 100]);
        assert_eq!(delays(&limiter, "one", 2), [500_000; 2]);
        assert_eq!(limiter.num_requeues(&"one"), 102);
        limiter.forget(&"one");
        assert_eq!(delays(&limiter, "one", 1), [5]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_bucket_gives_its_burst_and_then_one_token_each_interval() {
        let limiter = TokenBucket::new(100 * MS, 100);
        assert_eq!(delays(&limiter, "one", 100), [0; 100]);
        assert_eq!(delays(&limiter, "two", 3), [100, 200, 300]);
        tokio::time::advance(350 * MS).await;
        assert_eq!(delays(&limiter, "one", 1), [50]);
        tokio::time::advance(3600 * SECOND).await;
        assert_eq!(
            delays(&limiter, "one", 101)[98..],
            [0, 0, 100],
            "it never holds more than its burst"
        );
        assert_eq!(RateLimiter::<&str>::num_requeues(&limiter, &"one"), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn buckets_of_odd_sizes() {
        assert_eq!(delays(&TokenBucket::new(Duration::ZERO, 0), "one", 50), [0; 50]);
        assert_eq!(
            delays(&TokenBucket::new(SECOND, 0), "one", 2),
            [0, 1000],
            "no burst is a burst of one"
        );
        let never = TokenBucket::new(Duration::MAX, u32::MAX);
        assert_eq!(delays(&never, "one", 3), [0; 3]);
        for burst in 1..4 {
            let never = TokenBucket::new(Duration::MAX, burst);
            assert_eq!(delays(&never, "one", burst as usize), vec![0; burst as usize]);
            assert!(
                RateLimiter::<&str>::when(&never, &"one") > 1000 * SECOND,
                "the burst is spent"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_default_limiter_is_the_worse_of_item_and_bucket() {
        let limiter = default_controller_rate_limiter();
        assert_eq!(delays(&limiter, "one", 3), [5, 10, 20]);
        let others: Vec<String> = (0..97).map(|n| n.to_string()).collect();
        assert!(
            others
                .into_iter()
                .all(|item| limiter.when(&&*item.leak()) == 5 * MS)
        );
        assert_eq!(delays(&limiter, "two", 2), [100, 200], "the bucket is empty");
    }
}
