//! What a phase costs this process.

use crate::Arguments;
use crate::usage::{at_rest, cpu_time, memory, percentiles};
use anyhow::{Context as _, bail};
use kube_informer::source::ClientSource;
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::Notify;

/// When a client gives up: a phase takes minutes at most.
const PATIENCE: Duration = Duration::from_secs(900);

/// The namespace of the pod that the server changes last in each phase.
const MARK: &str = "zz-mark";

/// What the one handler of every form does: it takes the key and counts.
#[derive(Clone, Default)]
pub struct Counter(Arc<Counts>);

#[derive(Default)]
struct Counts {
    /// Whether it is asked how late notifications are.
    timed: AtomicBool,
    late: Mutex<Vec<Duration>>,
    notifications: AtomicUsize,
    marks: AtomicUsize,
    marked: Notify,
}

impl Counter {
    /// A notification came for the object of this namespace and name. `at` says when the server changed it, in nanoseconds
    /// since 1970.
    pub fn count(&self, namespace: &str, name: &str, at: impl FnOnce() -> Option<String>) {
        std::hint::black_box(name);
        if self.0.timed.load(Relaxed) {
            let now = SystemTime::now();
            let at = at()
                .and_then(|at| at.parse().ok())
                .map(|at| UNIX_EPOCH + Duration::from_nanos(at));
            if let Some(late) = at.and_then(|at| now.duration_since(at).ok()) {
                self.0.late.lock().unwrap().push(late);
            }
        }
        self.0.notifications.fetch_add(1, Relaxed);
        if namespace == MARK {
            self.0.marks.fetch_add(1, Relaxed);
            self.0.marked.notify_one();
        }
    }

    /// How late the notifications were since the last call.
    fn take_late(&self) -> Vec<Duration> {
        std::mem::take(&mut *self.0.late.lock().unwrap())
    }

    fn now(&self) -> (usize, usize) {
        (self.0.notifications.load(Relaxed), self.0.marks.load(Relaxed))
    }
}

/// What may come after the sync.
#[derive(Clone, Copy)]
pub enum Phase {
    /// Changes at a rate.
    Churn,
    /// Changes all at once.
    Burst,
    /// A relist that finds nothing changed; kube-sim alone can make clients do that.
    Relist,
    /// Changes at a rate: how late is the handler told of them?
    Latency,
    /// The same, while threads read as fast as they can.
    Reads,
}

impl Phase {
    pub fn read(name: &str) -> anyhow::Result<Self> {
        Ok(match name {
            "churn" => Self::Churn,
            "burst" => Self::Burst,
            "relist" => Self::Relist,
            "latency" => Self::Latency,
            "reads" => Self::Reads,
            other => bail!("no phase is called {other}"),
        })
    }
}

/// Reads the objects of a cache by number, as a program does that knows their keys.
#[derive(Clone)]
pub struct Reader {
    count: usize,
    /// Looks an object up and reads a field of it; says whether it was there.
    read: Arc<dyn Fn(usize) -> bool + Send + Sync>,
}

impl Reader {
    pub fn new(count: usize, read: impl Fn(usize) -> bool + Send + Sync + 'static) -> Self {
        Self {
            count,
            read: Arc::new(read),
        }
    }

    /// Reads in an order without a pattern until `stop`. Returns how often, and how long some of the reads took.
    fn run(&self, start: usize, stop: &AtomicBool) -> (usize, Vec<Duration>) {
        let (mut reads, mut times) = (0, Vec::new());
        while !stop.load(Relaxed) {
            let number = (start + reads).wrapping_mul(2_654_435_761) % self.count;
            // Looking at the clock takes as long as a read.
            let timed = (reads % 61 == 0).then(Instant::now);
            assert!((self.read)(number), "an object or its field is missing");
            times.extend(timed.map(|begun| begun.elapsed()));
            reads += 1;
        }
        (reads, times)
    }
}

/// Runs the phases one after the other, the process idle in between, and prints a line of JSON for each.
pub struct Measurement {
    pub arguments: Arguments,
    /// Of what changes the pods.
    pub control: kube::Client,
    pub counter: Counter,
    /// Counts the bytes of the bodies that come; `None`: they are not counted.
    pub source: Option<ClientSource>,
}

impl Measurement {
    /// All phases of a client that has just been started. A member of a shard group gets its shards by `sync`. `reader` reads what is in the
    /// cache when it is called.
    pub async fn run(
        &self,
        sync: impl Future<Output = anyhow::Result<()>>,
        reader: impl Fn() -> Reader,
    ) -> anyhow::Result<()> {
        // From the start of the process: connecting is part of the price.
        let mut spent = Spent::default();
        if self.is_member() {
            let base = async { Ok(()) };
            print(self.phase("base", 0, spent, (0, 0), base).await?);
            spent = self.spent()?;
        }
        print(
            self.phase("sync", self.arguments.pods, spent, (0, 0), sync)
                .await?,
        );
        let rate = self.arguments.rate;
        for phase in &self.arguments.phases {
            print(match phase {
                Phase::Churn => self.changes("churn", rate, "").await?,
                Phase::Burst => self.changes("burst", 0, "").await?,
                Phase::Relist => self.relist().await?,
                Phase::Latency => self.latency("latency").await?,
                Phase::Reads => self.reads(reader()).await?,
            });
        }
        Ok(())
    }

    fn is_member(&self) -> bool {
        self.arguments.member.is_some()
    }

    async fn changes(&self, name: &str, rate: usize, options: &str) -> anyhow::Result<Value> {
        let changes = self.arguments.changes;
        let wait = if self.is_member() { "&wait=1" } else { "" };
        let path = format!("/bench/churn?changes={changes}&rate={rate}{options}{wait}");
        let begin = async { self.request("POST", &path).await.map(drop) };
        self.phase(name, changes, self.spent()?, self.counter.now(), begin)
            .await
    }

    async fn latency(&self, name: &str) -> anyhow::Result<Value> {
        self.counter.take_late();
        self.counter.0.timed.store(true, Relaxed);
        let mut figures = self.changes(name, self.arguments.rate, "&stamp=1").await?;
        self.counter.0.timed.store(false, Relaxed);
        let late = self.counter.take_late();
        anyhow::ensure!(!late.is_empty(), "this form does not know when a pod was changed");
        figures["late_us"] = json!(percentiles(late));
        Ok(figures)
    }

    async fn reads(&self, reader: Reader) -> anyhow::Result<Value> {
        let stop = Arc::new(AtomicBool::new(false));
        let begun = Instant::now();
        let readers = [0, 1].map(|number| {
            let (reader, stop) = (reader.clone(), stop.clone());
            std::thread::spawn(move || reader.run(number * 1_000_003, &stop))
        });
        // The phase waits for the process to come to rest, so reading ends when the last change has come.
        let (_, marks) = self.counter.now();
        let ending = tokio::spawn({
            let (counter, stop) = (self.counter.clone(), stop.clone());
            async move {
                let deadline = begun + PATIENCE;
                while counter.now().1 == marks && Instant::now() < deadline {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                stop.store(true, Relaxed);
                begun.elapsed()
            }
        });
        let figures = self.latency("reads").await;
        stop.store(true, Relaxed);
        let took = ending.await?;
        let (mut reads, mut times) = (0, Vec::new());
        for reader in readers {
            let (count, some) = reader.join().map_err(|_| anyhow::anyhow!("a reader panicked"))?;
            reads += count;
            times.extend(some);
        }
        let mut figures = figures?;
        figures["reads_per_s"] = json!((reads as f64 / took.as_secs_f64()).round());
        figures["read_us"] = json!(percentiles(times));
        Ok(figures)
    }

    async fn relist(&self) -> anyhow::Result<Value> {
        let lists = self.request("GET", "/bench/lists").await?;
        let begin = async { self.request("POST", "/bench/expire").await.map(drop) };
        let figures = self
            .phase("relist", 0, self.spent()?, self.counter.now(), begin)
            .await?;
        anyhow::ensure!(
            lists != self.request("GET", "/bench/lists").await?,
            "there was no relist"
        );
        Ok(figures)
    }

    /// Waits until the handler was told of `expected` objects and of the mark, unless this is a member of a shard group, and the process has
    /// come to rest.
    async fn phase(
        &self,
        name: &str,
        expected: usize,
        before: Spent,
        (told, marks): (usize, usize),
        begin: impl Future<Output = anyhow::Result<()>>,
    ) -> anyhow::Result<Value> {
        // Not for the first phase, whose peak is that of the process so far.
        if before.cpu > Duration::ZERO {
            std::fs::write("/proc/self/clear_refs", "5").context("the peak cannot be reset")?;
        }
        let server_before = server_cpu_s()?;
        let started = Instant::now();
        begin.await?;
        while !self.is_member() {
            let (now, marked) = self.counter.now();
            if marked > marks && now > told + expected {
                break;
            }
            anyhow::ensure!(
                started.elapsed() < PATIENCE,
                "{name}: told of {} of {expected}",
                now - told
            );
            // A mark, or the one of the phase before; looking more often would cost more than small clients do.
            let _ = tokio::time::timeout(Duration::from_millis(500), self.counter.0.marked.notified()).await;
        }
        let wall = started.elapsed();
        let server_cpu_s = server_cpu_s()?
            .zip(server_before)
            .map(|(now, before)| rounded(now - before));
        at_rest().await;
        let expected = match self.is_member() {
            true => self.counter.now().0 - told,
            false => expected,
        };
        let spent = self.spent()?;
        let cpu_s = (spent.cpu - before.cpu).as_secs_f64();
        let (rss_mib, peak_mib) = memory()?;
        let Arguments { form, list, pods, .. } = &self.arguments;
        Ok(json!({
            "form": form, "list": list, "pods": pods, "phase": name, "changes": expected,
            "wall_s": rounded(wall.as_secs_f64()), "cpu_s": rounded(cpu_s), "rss_mib": rounded(rss_mib),
            "peak_mib": rounded(peak_mib), "server_cpu_s": server_cpu_s, "switches": spent.switches - before.switches,
            "received_mb": self.source.is_some().then(|| rounded((spent.received - before.received) as f64 / 1e6)),
        }))
    }

    fn spent(&self) -> anyhow::Result<Spent> {
        let usage = getrusage(UsageWho::RUSAGE_SELF)?;
        Ok(Spent {
            cpu: cpu_time(),
            switches: usage.voluntary_context_switches() + usage.involuntary_context_switches(),
            received: self.source.as_ref().map_or(0, ClientSource::bytes_received),
        })
    }

    async fn request(&self, method: &str, path: &str) -> anyhow::Result<String> {
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .body(Vec::new())?;
        Ok(self.control.request_text(request).await?)
    }
}

/// What the process has used since it started.
#[derive(Default)]
struct Spent {
    cpu: Duration,
    /// How often a thread made way for another.
    switches: i64,
    received: u64,
}

/// The CPU time of the API server since it started, whose process the variable API_PID names.
fn server_cpu_s() -> anyhow::Result<Option<f64>> {
    let Ok(pid) = std::env::var("API_PID") else {
        return Ok(None);
    };
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).context("API_PID is no process")?;
    // The name, in brackets, may have spaces in it.
    let fields = stat.rsplit_once(')').context("a process without a name")?.1;
    let ticks: Vec<f64> = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    // Linux shows hundredths of a second, whatever it counts in.
    Ok(Some(ticks.iter().sum::<f64>() / 100.0))
}

fn print(figures: Value) {
    println!("{figures}");
}

fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
