//! What the bench does to kube-sim's collection, and to the watches that are open.

use crate::http::{Churn, not_found, parameter, started, text};
use crate::pods::{self, MARK, Pods};
use anyhow::Context as _;
use bytes::Bytes;
use futures::stream;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::{Method, Request, Response};
use kube_protobuf::{UnknownFields, to_vec, watch_event_to_vec};
use kube_sim::{Sim, SimBody};
use serde_json::json;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use tokio::sync::{Mutex, watch};
use tokio::time::MissedTickBehavior;
use tower::Service as _;

/// The event that ends a watch whose version is too old, in the encoding of the watch.
fn gone(protobuf: bool) -> anyhow::Result<Bytes> {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "too old resource version", "reason": "Expired", "code": 410,
    });
    if !protobuf {
        return Ok(format!("{}\n", json!({"type": "ERROR", "object": status})).into());
    }
    let event = watch_event_to_vec("ERROR", &to_vec(&status, UnknownFields::Deny)?);
    let length = u32::try_from(event.len())?.to_be_bytes();
    Ok([&length[..], &event].concat().into())
}

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
                Ok(started(churn.wait, async move { self.churn(churn).await }).await)
            }
            (&Method::POST, "/bench/expire") => Ok(started(false, async move { self.expire() }).await),
            (&Method::GET, "/bench/lists") => Ok(text(self.lists.load(Relaxed).to_string())),
            (_, path) if path.starts_with("/bench/") => Ok(not_found()),
            _ => {
                let watching = matches!(parameter(&request, "watch"), Some("1" | "true"));
                if !watching || parameter(&request, "sendInitialEvents") == Some("true") {
                    self.lists.fetch_add(1, Relaxed);
                }
                let response = self.sim.service().call(request).await?;
                if !watching {
                    return Ok(response);
                }
                let content_type = response
                    .headers()
                    .get(CONTENT_TYPE)
                    .and_then(|value| value.to_str().ok());
                let gone = gone(content_type.is_some_and(|value| value.contains("protobuf")));
                let gone = gone.map_err(io::Error::other)?;
                Ok(response.map(|body| self.governed(body, gone)))
            }
        }
    }

    async fn churn(
        &self,
        Churn {
            changes, rate, stamp, ..
        }: Churn,
    ) -> anyhow::Result<()> {
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
        if stamp {
            // Changes that are late must not come all at once, each behind those before it.
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        }
        for _ in 0..changes {
            if rate > 0 {
                ticks.tick().await;
            }
            *made += 1;
            let (namespace, name) = self.generator.key(pods::changed(*made, self.pods));
            self.change(&namespace, &name, *made, stamp)?;
        }
        self.change(MARK.0, MARK.1, *made, false)?;
        hold(false);
        Ok(())
    }

    fn change(&self, namespace: &str, name: &str, number: usize, stamp: bool) -> anyhow::Result<()> {
        let store = self.sim.store();
        let mut pod = store
            .get("v1", "Pod", Some(namespace), name)
            .context("a pod is missing")?;
        pods::restart(&mut pod, number);
        if stamp {
            pods::stamp(&mut pod);
        }
        store.update(pod).context("a change was refused")?;
        Ok(())
    }

    fn expire(&self) -> anyhow::Result<()> {
        self.watches.send_modify(|watches| watches.expired += 1);
        self.change(MARK.0, MARK.1, 0, false)
    }

    /// The body of a watch that can be held back, and ended.
    fn governed(&self, body: SimBody, gone: Bytes) -> SimBody {
        let watches = self.watches.subscribe();
        let born = watches.borrow().expired;
        let frames = stream::unfold(Some((body, watches)), move |state| {
            let gone = gone.clone();
            async move {
                let (mut body, mut watches) = state?;
                loop {
                    let Watches { held, expired } = watches.borrow_and_update().clone();
                    if expired > born {
                        return Some((Ok(Frame::data(gone)), None));
                    }
                    tokio::select! {
                        biased;
                        changed = watches.changed() => if changed.is_err() { return None },
                        frame = body.frame(), if !held => return Some((frame?, Some((body, watches)))),
                    }
                }
            }
        });
        StreamBody::new(frames).boxed_unsync()
    }
}
