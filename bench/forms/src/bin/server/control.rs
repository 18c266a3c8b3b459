//! What the bench does to the collection, and to the watches that are open.

use crate::pods::{self, Pods};
use anyhow::Context as _;
use bytes::Bytes;
use futures::stream;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::{Method, Request, Response};
use kube_sim::{Sim, SimBody};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use tokio::sync::{Mutex, watch};
use tower::Service as _;

/// The namespace and name of the pod that is changed last. The namespace is the last one of a list.
pub const MARK: (&str, &str) = ("zz-mark", "mark");

const GONE: &str = r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version","reason":"Expired","code":410}}
"#;

/// What open watches obey.
#[derive(Clone, Default)]
struct Watches {
    /// They send nothing for now.
    held: bool,
    /// Those that began under a smaller number end with 410.
    expired: u64,
}

pub struct Control {
    sim: Sim,
    generator: Arc<Pods>,
    pods: usize,
    watches: watch::Sender<Watches>,
    lists: AtomicUsize,
    /// How many changes there have been; locked while more are made.
    changes: Mutex<usize>,
}

impl Control {
    pub fn new(sim: Sim, generator: Arc<Pods>, pods: usize) -> Self {
        Self {
            sim,
            generator,
            pods,
            watches: watch::Sender::new(Watches::default()),
            lists: AtomicUsize::new(0),
            changes: Mutex::new(0),
        }
    }

    pub async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<SimBody>, Infallible> {
        let query = request.uri().query().unwrap_or_default().to_owned();
        match (request.method(), request.uri().path()) {
            (&Method::POST, "/bench/churn") => {
                let number = |name| {
                    parameter(&query, name)
                        .and_then(|text| text.parse().ok())
                        .unwrap_or(0)
                };
                let (changes, rate) = (number("changes"), number("rate"));
                Ok(text(self.started(async move |control| {
                    control.churn(changes, rate).await
                })))
            }
            (&Method::POST, "/bench/expire") => Ok(text(self.started(async |control| control.expire()))),
            (&Method::GET, "/bench/lists") => Ok(text(self.lists.load(Relaxed).to_string())),
            _ => {
                let watching = matches!(parameter(&query, "watch"), Some("1" | "true"));
                if !watching || parameter(&query, "sendInitialEvents") == Some("true") {
                    self.lists.fetch_add(1, Relaxed);
                }
                let response = self.sim.service().call(request).await?;
                Ok(if watching {
                    response.map(|body| self.governed(body))
                } else {
                    response
                })
            }
        }
    }

    /// Runs `work` behind the request's back: what takes long must not keep the client waiting.
    fn started<F>(self: &Arc<Self>, work: impl FnOnce(Arc<Self>) -> F) -> String
    where
        F: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        let work = work(self.clone());
        tokio::spawn(async move {
            if let Err(error) = work.await {
                eprintln!("the server's work failed: {error:#}");
                std::process::exit(1);
            }
        });
        "started".into()
    }

    async fn churn(&self, changes: usize, rate: usize) -> anyhow::Result<()> {
        anyhow::ensure!(
            changes <= self.pods,
            "no pod is changed twice, and there are {}",
            self.pods
        );
        let mut made = self.changes.lock().await;
        let hold = |held| self.watches.send_modify(|watches| watches.held = held);
        hold(rate == 0);
        let pause = Duration::from_secs_f64(1.0 / rate.max(1) as f64);
        let mut ticks = tokio::time::interval(pause);
        for _ in 0..changes {
            if rate > 0 {
                ticks.tick().await;
            }
            *made += 1;
            // A prime: the pods come in an order that is not that of any list.
            let (namespace, name) = self.generator.key(*made * 2_654_435_761 % self.pods);
            self.change(&namespace, &name, *made)?;
        }
        self.change(MARK.0, MARK.1, *made)?;
        hold(false);
        Ok(())
    }

    fn change(&self, namespace: &str, name: &str, number: usize) -> anyhow::Result<()> {
        let store = self.sim.store();
        let mut pod = store
            .get("v1", "Pod", Some(namespace), name)
            .context("a pod is missing")?;
        pods::restart(&mut pod, number);
        store.update(pod).context("a change was refused")?;
        Ok(())
    }

    fn expire(&self) -> anyhow::Result<()> {
        self.watches.send_modify(|watches| watches.expired += 1);
        self.change(MARK.0, MARK.1, 0)
    }

    /// The body of a watch that can be held back, and ended.
    fn governed(&self, body: SimBody) -> SimBody {
        let watches = self.watches.subscribe();
        let born = watches.borrow().expired;
        let frames = stream::unfold(Some((body, watches)), move |state| async move {
            let (mut body, mut watches) = state?;
            loop {
                let Watches { held, expired } = watches.borrow_and_update().clone();
                if expired > born {
                    return Some((Ok(Frame::data(Bytes::from_static(GONE.as_bytes()))), None));
                }
                tokio::select! {
                    biased;
                    changed = watches.changed() => if changed.is_err() { return None },
                    frame = body.frame(), if !held => return Some((frame?, Some((body, watches)))),
                }
            }
        });
        StreamBody::new(frames).boxed_unsync()
    }
}

fn parameter<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    query
        .split('&')
        .find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

fn text(text: String) -> Response<SimBody> {
    Response::new(Full::from(text).map_err(|never| match never {}).boxed_unsync())
}
