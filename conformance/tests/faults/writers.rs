//! Writers: they create, change, delete and create again a few objects, go on whatever happens, and put on record what
//! the server answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Method;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::record::Record;

/// The namespaces that are written to; all informers watch all namespaces.
const NAMESPACES: [&str; 3] = ["default", "kube-public", "kube-node-lease"];
const NAMES: f64 = 60.0;
/// What the names of the writers' objects start with; the server has others.
pub(crate) const PREFIX: &str = "written-";
const WRITERS: u64 = 5;
/// How long a writer waits for an answer, and at most between two writes.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE_MS: u64 = 150;

/// Writers at work.
pub(crate) struct Writers {
    stop: Arc<AtomicBool>,
    running: JoinSet<Instant>,
}

impl Writers {
    /// Some that write at the same time, to the same objects.
    pub(crate) fn start(client: &kube::Client, record: &Arc<Record>, seed: u64) -> Self {
        let stop = Arc::<AtomicBool>::default();
        let mut running = JoinSet::new();
        for number in 0..WRITERS {
            let mut writer = Writer {
                client: client.clone(),
                record: record.clone(),
                rng: StdRng::seed_from_u64(seed.wrapping_add(number)),
            };
            let stop = stop.clone();
            running.spawn(async move {
                let mut last = Instant::now();
                while !stop.load(Ordering::Relaxed) {
                    writer.write().await;
                    last = Instant::now();
                    let pause = writer.rng.random_range(0..PAUSE_MS);
                    tokio::time::sleep(Duration::from_millis(pause)).await;
                }
                last
            });
        }
        Self { stop, running }
    }

    /// Stops them; returns when the last write was over.
    pub(crate) async fn stop(self) -> Instant {
        self.stop.store(true, Ordering::Relaxed);
        let ends = self.running.join_all().await;
        ends.into_iter().max().expect("there are writers")
    }
}

struct Writer {
    client: kube::Client,
    record: Arc<Record>,
    rng: StdRng,
}

/// The answer to a write.
enum Answer {
    Done(Value),
    Refused,
    Unknown,
}

impl Writer {
    async fn write(&mut self) {
        let namespace = NAMESPACES[self.rng.random_range(0..NAMESPACES.len())];
        // A few objects change all the time, most of them rarely: a relist shows both.
        let place = self.rng.random_range(0.0..1.0_f64).powi(3);
        let name = format!("{PREFIX}{:.0}", (place * NAMES).floor());
        let key = format!("{namespace}/{name}");
        let all = format!("/api/v1/namespaces/{namespace}/configmaps");
        let one = format!("{all}/{name}");
        match self.rng.random_range(0..100) {
            0..60 => {
                let number = self.record.tries_to_write(&key);
                let change = json!({"data": self.data(number)});
                let answer = self.send(Method::PATCH, &one, Some(change)).await;
                self.wrote(number, answer);
            }
            60..85 => {
                let number = self.record.tries_to_write(&key);
                let object = json!({"metadata": {"name": name}, "data": self.data(number)});
                let answer = self.send(Method::POST, &all, Some(object)).await;
                self.wrote(number, answer);
            }
            _ => match self.send(Method::DELETE, &one, None).await {
                Answer::Done(status) => self.record.deleted(&key, status["details"]["uid"].as_str()),
                Answer::Refused => {}
                Answer::Unknown => self.record.deleted(&key, None),
            },
        }
    }

    fn wrote(&self, number: u64, answer: Answer) {
        match answer {
            Answer::Done(object) => {
                let text = |name: &str| object["metadata"][name].as_str().unwrap_or_default();
                let version = text("resourceVersion").parse().expect("a number");
                self.record.wrote(number, text("uid"), version);
            }
            Answer::Refused => self.record.refused(number),
            Answer::Unknown => self.record.unknown(),
        }
    }

    /// Something with the number of the write in it, large or small.
    fn data(&mut self, number: u64) -> Value {
        let size = match self.rng.random_range(0..10) {
            0 => 20_000,
            1..4 => 2_000,
            _ => 20,
        };
        let filling: String = (0..self.rng.random_range(0..size))
            .map(|_| char::from(self.rng.random_range(b'a'..=b'z')))
            .collect();
        json!({"write": number.to_string(), "filling": filling})
    }

    async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        let media_type = match method {
            Method::PATCH => "application/merge-patch+json",
            _ => "application/json",
        };
        let body = body.map_or_else(Vec::new, |body| body.to_string().into_bytes());
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", media_type)
            .body(body)
            .expect("a request that is one");
        match tokio::time::timeout(PATIENCE, self.client.request::<Value>(request)).await {
            Ok(Ok(answer)) => Answer::Done(answer),
            // What has been done is never answered so; a failure within the server may hide that it was done.
            Ok(Err(kube::Error::Api(status))) if (400..500).contains(&status.code) => Answer::Refused,
            Ok(Err(_)) | Err(_) => Answer::Unknown,
        }
    }
}
