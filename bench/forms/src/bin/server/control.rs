//! What the bench does to kube-sim's collection, and to the watches that are open.

use crate::http::{Churn, not_found, parameter, started, text};
use crate::pods::{self, MARK, Pods};
use anyhow::Context as _;
use bytes::Bytes;
use futures::stream;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::{Method, Request, Response};
use kube_sim::{Sim, SimBody};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use tokio::sync::{Mutex, watch};
use tower::Service as _;

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

    pub async fn answer(self: Arc<Self>, request: Request<Incoming>) -> io::Result<Response<SimBody>> {
        match (request.method(), request.uri().path()) {
            (&Method::POST, "/bench/churn") => {
                let churn = Churn::read(&request);
                Ok(started(async move { self.churn(churn).await }))
            }
            (&Method::POST, "/bench/expire") => Ok(started(async move { self.expire() })),
            (&Method::GET, "/bench/lists") => Ok(text(self.lists.load(Relaxed).to_string())),
            (_, path) if path.starts_with("/bench/") => Ok(not_found()),
            _ => {
                let watching = matches!(parameter(&request, "watch"), Some("1" | "true"));
                if !watching || parameter(&request, "sendInitialEvents") == Some("true") {
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

    async fn churn(&self, Churn { changes, rate }: Churn) -> anyhow::Result<()> {
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
            let (namespace, name) = self.generator.key(pods::changed(*made, self.pods));
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
