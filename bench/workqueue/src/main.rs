//! Measures kube-workqueue. Prints `name value` lines, the same as the Go program beside it; see `run.sh`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hash::Hash;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::time::{Duration, Instant};

use kube_workqueue::WorkQueue;

/// Counts the bytes in use; off while time is measured.
struct Counting;

static IN_USE: AtomicIsize = AtomicIsize::new(0);
static COUNTING: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

fn count(bytes: isize) {
    if COUNTING.load(Ordering::Relaxed) {
        IN_USE.fetch_add(bytes, Ordering::Relaxed);
    }
}

// SAFETY: passes every call to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size as isize - layout.size() as isize);
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const HOUR: Duration = Duration::from_secs(3600);

fn keys(from: usize, count: usize) -> Vec<Arc<str>> {
    (from..from + count).map(|n| format!("namespace-{}/name-{n}", n % 100).into()).collect()
}

fn per_op(began: Instant, ops: usize) -> f64 {
    began.elapsed().as_nanos() as f64 / ops as f64
}

/// One task adds, takes and finishes one item after another.
async fn uncontended<T: Eq + Hash + Clone + Send + 'static>(keys: &[T]) -> f64 {
    let (queue, rounds) = (WorkQueue::new(), 2_000_000 / keys.len());
    let began = Instant::now();
    for _ in 0..rounds {
        for key in keys {
            queue.add(key.clone());
            drop(black_box(queue.get().await));
        }
    }
    per_op(began, rounds * keys.len())
}

/// Two threads add, two tasks take and finish, until all is done.
async fn two_and_two<T: Eq + Hash + Clone + Send + Sync + 'static>(one: Vec<T>, two: Vec<T>) -> f64 {
    let (queue, adds) = (WorkQueue::new(), one.len() + two.len());
    let consume = |queue: WorkQueue<T>| async move {
        let mut count = 0;
        while let Some(item) = queue.get().await {
            black_box(&*item);
            count += 1;
        }
        count
    };
    let consumers = [tokio::spawn(consume(queue.clone())), tokio::spawn(consume(queue.clone()))];
    let began = Instant::now();
    let producers = [one, two].map(|keys| {
        let queue = queue.clone();
        std::thread::spawn(move || keys.into_iter().for_each(|key| queue.add(key)))
    });
    for producer in producers {
        tokio::task::spawn_blocking(|| producer.join().unwrap()).await.unwrap();
    }
    queue.shut_down_with_drain().await;
    let time = per_op(began, adds);
    let [one, two] = consumers;
    assert_eq!(one.await.unwrap() + two.await.unwrap(), adds);
    time
}

fn delayed_adds() -> f64 {
    let queue = WorkQueue::new();
    let count = 1_000_000u64;
    let began = Instant::now();
    for n in 0..count {
        // Times in no order, so that the heap has to work.
        queue.add_after(n, HOUR + Duration::from_millis(n.wrapping_mul(2_654_435_761) % 1_000_000));
    }
    per_op(began, count as usize)
}

/// Bytes beyond the item itself.
fn delayed_bytes(count: u64) -> f64 {
    COUNTING.store(true, Ordering::Relaxed);
    let before = IN_USE.load(Ordering::Relaxed);
    let queue = WorkQueue::new();
    (0..count).for_each(|n| queue.add_after(n, HOUR));
    let bytes = IN_USE.load(Ordering::Relaxed) - before;
    COUNTING.store(false, Ordering::Relaxed);
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

async fn run() {
    let numbers: Vec<u64> = (0..1000).collect();
    println!("uncontended_int_ns {:.1}", uncontended(&numbers).await);
    println!("uncontended_string_ns {:.1}", uncontended(&keys(0, 1000)).await);
    let (one, two) = ((0..1_000_000u64).collect(), (1_000_000..2_000_000u64).collect());
    println!("two_and_two_int_ns {:.1}", two_and_two(one, two).await);
    println!("two_and_two_string_ns {:.1}", two_and_two(keys(0, 500_000), keys(500_000, 500_000)).await);
    println!("delayed_add_ns {:.1}", delayed_adds());
    println!("delayed_bytes {:.1}", delayed_bytes(1_000_000));
    println!("delayed_bytes_just_grown {:.1}", delayed_bytes((1 << 20) + 1));
    let (median, p99) = wake_up().await;
    println!("wake_up_median_us {median:.0}");
    println!("wake_up_p99_us {p99:.0}");
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    tokio::spawn(run()).await.unwrap();
}
