//! Measures kube-workqueue. Prints `name value` lines, the same as the Go program beside it; see `bench/run`.

#[path = "../../counting.rs"]
mod counting;

use std::hash::Hash;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kube_workqueue::WorkQueue;

const HOUR: Duration = Duration::from_secs(3600);

const BURSTS: usize = 10;

fn keys(from: usize, count: usize) -> Vec<Arc<str>> {
    (from..from + count)
        .map(|n| format!("namespace-{}/name-{n}", n % 100).into())
        .collect()
}

/// Time passed, and processor time spent by all threads.
struct Stopwatch {
    wall: Instant,
    cpu: Duration,
}

impl Stopwatch {
    fn start() -> Self {
        Self {
            wall: Instant::now(),
            cpu: cpu_time(),
        }
    }

    /// Nanoseconds for each of `ops`.
    fn per_op(&self, ops: usize) -> Times {
        let per_op = |time: Duration| time.as_nanos() as f64 / ops as f64;
        Times {
            wall: per_op(self.wall.elapsed()),
            cpu: per_op(cpu_time() - self.cpu),
        }
    }
}

struct Times {
    wall: f64,
    cpu: f64,
}

fn cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is valid for the write.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// One task adds, takes and finishes one item after another.
async fn uncontended<T: Eq + Hash + Clone + Send + 'static>(keys: &[T]) -> Times {
    let (queue, rounds) = (WorkQueue::new(), 2_000_000 / keys.len());
    let began = Stopwatch::start();
    for _ in 0..rounds {
        for key in keys {
            queue.add(key.clone());
            drop(black_box(queue.get().await));
        }
    }
    began.per_op(rounds * keys.len())
}

/// Takes and finishes items until the shutdown.
async fn consume<T: Eq + Hash + Clone + Send + 'static>(queue: WorkQueue<T>) -> usize {
    let mut count = 0;
    while let Some(item) = queue.get().await {
        black_box(&*item);
        count += 1;
    }
    count
}

/// Adds, and lets others run now and then, as a task does that takes its events from a stream.
async fn produce<T: Eq + Hash + Clone + Send + 'static>(queue: WorkQueue<T>, keys: Vec<T>) {
    for key in keys {
        queue.add(key);
        tokio::task::consume_budget().await;
    }
}

/// Two tasks add, two tasks take and finish, until all is done.
async fn two_and_two<T: Eq + Hash + Clone + Send + Sync + 'static>(one: Vec<T>, two: Vec<T>) -> Times {
    let (queue, adds) = (WorkQueue::new(), one.len() + two.len());
    let consumers = [
        tokio::spawn(consume(queue.clone())),
        tokio::spawn(consume(queue.clone())),
    ];
    let began = Stopwatch::start();
    for producer in [one, two].map(|keys| tokio::spawn(produce(queue.clone(), keys))) {
        producer.await.unwrap();
    }
    queue.shut_down_with_drain().await;
    let time = began.per_op(adds);
    let [one, two] = consumers;
    assert_eq!(one.await.unwrap() + two.await.unwrap(), adds);
    time
}

/// The same with threads of their own for the producers.
async fn two_and_two_threads<T: Eq + Hash + Clone + Send + Sync + 'static>(
    one: Vec<T>,
    two: Vec<T>,
) -> Times {
    let (queue, adds) = (WorkQueue::new(), one.len() + two.len());
    let consumers = [
        tokio::spawn(consume(queue.clone())),
        tokio::spawn(consume(queue.clone())),
    ];
    let began = Stopwatch::start();
    let producers = [one, two].map(|keys| {
        let queue = queue.clone();
        std::thread::spawn(move || keys.into_iter().for_each(|key| queue.add(key)))
    });
    for producer in producers {
        tokio::task::spawn_blocking(|| producer.join().unwrap())
            .await
            .unwrap();
    }
    queue.shut_down_with_drain().await;
    let time = began.per_op(adds);
    let [one, two] = consumers;
    assert_eq!(one.await.unwrap() + two.await.unwrap(), adds);
    time
}

fn delayed_adds() -> Times {
    let queue = WorkQueue::new();
    let count = 1_000_000u64;
    let began = Stopwatch::start();
    for n in 0..count {
        // Times in no order, so that the heap has to work.
        queue.add_after(
            n,
            HOUR + Duration::from_millis(n.wrapping_mul(2_654_435_761) % 1_000_000),
        );
    }
    began.per_op(count as usize)
}

/// Bytes beyond the item itself.
fn delayed_bytes(count: u64) -> f64 {
    counting::count(true);
    let before = counting::bytes();
    let queue = WorkQueue::new();
    (0..count).for_each(|n| queue.add_after(n, HOUR));
    let bytes = counting::bytes() - before;
    counting::count(false);
    bytes as f64 / count as f64 - size_of::<u64>() as f64
}

/// How late due items reach a getter that waits: the median and the 99th percentile, in microseconds.
async fn wake_up() -> (f64, f64) {
    let (queue, count) = (WorkQueue::new(), 2000u64);
    let began = Instant::now();
    let due = |n: u64| Duration::from_micros(100_000 + n.wrapping_mul(2_654_435_761) % 4_000_000);
    let getter = tokio::spawn({
        let queue = queue.clone();
        async move {
            let mut late = Vec::new();
            while let Some(item) = queue.get().await {
                late.push(began.elapsed().saturating_sub(due(*item)).as_nanos() as f64 / 1000.0);
            }
            late
        }
    });
    for n in 0..count {
        queue.add_after(n, due(n).saturating_sub(began.elapsed()));
    }
    tokio::time::sleep(Duration::from_millis(4300)).await;
    queue.shut_down();
    let mut late = getter.await.unwrap();
    assert_eq!(late.len() as u64, count);
    late.sort_by(f64::total_cmp);
    (late[late.len() / 2], late[late.len() * 99 / 100])
}

/// Runs a task on this thread.
fn alone<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
        .block_on(future)
}

/// Bursts, as from initial lists: all are added, then all are taken and finished.
async fn burst<T: Eq + Hash + Clone + Send + 'static>(keys: &[T]) -> Times {
    let queue = WorkQueue::new();
    let began = Stopwatch::start();
    for _ in 0..BURSTS {
        for key in keys {
            queue.add(key.clone());
        }
        for _ in keys {
            drop(black_box(queue.get().await));
        }
    }
    began.per_op(BURSTS * keys.len())
}

fn main() {
    // Only where memory is measured, not where time is.
    counting::count(false);
    let only = std::env::args().nth(1).unwrap_or_default();
    let time = |name: &str, measure: &dyn Fn() -> Times| {
        if name.contains(&only) {
            let Times { wall, cpu } = measure();
            println!("{name}_ns {wall:.1}\n{name}_cpu_ns {cpu:.1}");
        }
    };
    let many = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    let numbers: Vec<u64> = (0..1000).collect();
    let (one, two): (Vec<u64>, Vec<u64>) = ((0..1_000_000).collect(), (1_000_000..2_000_000).collect());
    time("uncontended_int", &|| alone(uncontended(&numbers)));
    time("uncontended_string", &|| alone(uncontended(&keys(0, 1000))));
    time("burst_int", &|| alone(burst(&one[..100_000])));
    time("burst_string", &|| alone(burst(&keys(0, 100_000))));
    time("two_and_two_int", &|| {
        many.block_on(two_and_two(one.clone(), two.clone()))
    });
    time("two_and_two_string", &|| {
        many.block_on(two_and_two(keys(0, 500_000), keys(500_000, 500_000)))
    });
    time("two_and_two_threads_int", &|| {
        many.block_on(two_and_two_threads(one.clone(), two.clone()))
    });
    time("delayed_add", &delayed_adds);
    if "delayed_bytes".contains(&only) {
        println!("delayed_bytes {:.1}", delayed_bytes(1_000_000));
        println!("delayed_bytes_just_grown {:.1}", delayed_bytes((1 << 20) + 1));
    }
    if "wake_up".contains(&only) {
        let (median, p99) = many.block_on(wake_up());
        println!("wake_up_median_us {median:.0}");
        println!("wake_up_p99_us {p99:.0}");
    }
}
