//! A real API server with the pods, which are made and changed through its API.

use crate::http::{Churn, not_found, started};
use crate::pods::{self, Pods, Size};
use anyhow::Context as _;
use conformance::real_server::RealServer;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use hyper::body::Incoming;
use hyper::{Method, Request, Response};
use kube_sim::SimBody;
use serde_json::Value;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// How many requests are under way at once while the server is filled, and while pods change.
const AT_ONCE: usize = 16;

/// What filling may take; 50,000 pods take 7 minutes on two processors that others use too.
const PATIENCE: Duration = Duration::from_secs(1800);

/// The server, which ends when this is dropped.
pub struct Real {
    writer: Arc<Writer>,
}

impl Real {
    /// A server with so many pods and the mark.
    pub async fn filled(generator: Arc<Pods>, pods: usize) -> anyhow::Result<Self> {
        // Each pod is written twice, and history is kept for some minutes.
        let server = RealServer::builder()
            .etcd_flag("--quota-backend-bytes=8589934592")
            .start()
            .await?;
        let writer = Writer {
            server,
            generator,
            pods,
            changes: Mutex::new(0),
        };
        let writer = Arc::new(writer);
        tokio::time::timeout(PATIENCE, writer.clone().fill())
            .await
            .context("filling takes too long")??;
        Ok(Self { writer })
    }

    /// How clients reach it.
    pub fn kubeconfig(&self) -> String {
        self.writer.server.kubeconfig().display().to_string()
    }

    /// What changes the pods on demand.
    pub fn writer(&self) -> Arc<Writer> {
        self.writer.clone()
    }

    /// Of some of the pods, as a list has them.
    pub async fn mean_size(&self) -> anyhow::Result<Size> {
        let list = self
            .writer
            .server
            .request("GET", "/api/v1/pods?limit=500", None)
            .await?;
        let items = list["items"].as_array().context("a list without items")?;
        Ok(Size::of(items.iter().cloned()))
    }
}

pub struct Writer {
    server: RealServer,
    generator: Arc<Pods>,
    pods: usize,
    /// How many changes there have been; locked while more are made.
    changes: Mutex<usize>,
}

impl Writer {
    pub async fn answer(self: Arc<Self>, request: Request<Incoming>) -> io::Result<Response<SimBody>> {
        match (request.method(), request.uri().path()) {
            (&Method::POST, "/bench/churn") => {
                let churn = Churn::read(&request);
                Ok(started(churn.wait, async move { self.churn(churn).await }).await)
            }
            _ => Ok(not_found()),
        }
    }

    async fn fill(self: Arc<Self>) -> anyhow::Result<()> {
        for namespace in pods::namespaces() {
            self.server
                .request("POST", "/api/v1/namespaces", Some(&namespace))
                .await?;
        }
        let teams = (0..AT_ONCE).map(|first| {
            let writer = self.clone();
            tokio::spawn(async move {
                for n in (first..writer.pods).step_by(AT_ONCE) {
                    writer.create(writer.generator.pod(n)).await?;
                }
                anyhow::Ok(())
            })
        });
        for team in teams.collect::<Vec<_>>() {
            team.await??;
        }
        self.create(self.generator.mark(self.pods)).await
    }

    /// As a controller and a kubelet do it, so that managedFields are the server's own: an object, then its status.
    async fn create(&self, mut pod: Value) -> anyhow::Result<()> {
        without_what_servers_choose(&mut pod);
        let namespace = pod["metadata"]["namespace"].as_str().unwrap_or_default();
        let path = format!("/api/v1/namespaces/{namespace}/pods?fieldManager=kube-controller-manager");
        self.server.request("POST", &path, Some(&pod)).await?;
        self.set_status(pod).await
    }

    async fn set_status(&self, mut pod: Value) -> anyhow::Result<()> {
        without_what_servers_choose(&mut pod);
        let text = |name| pod["metadata"][name].as_str().unwrap_or_default();
        let (namespace, name) = (text("namespace"), text("name"));
        let path = format!("/api/v1/namespaces/{namespace}/pods/{name}/status?fieldManager=kubelet");
        self.server.request("PUT", &path, Some(&pod)).await?;
        Ok(())
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
        let pause = Duration::from_secs_f64(1.0 / rate.max(1) as f64);
        let ticks = tokio::time::interval(pause);
        let numbers = *made..*made + changes;
        let ticking = stream::unfold((ticks, numbers), |(mut ticks, mut numbers)| async move {
            let number = numbers.next()?;
            if rate > 0 {
                ticks.tick().await;
            }
            Some((number, (ticks, numbers)))
        });
        ticking
            .map(|number| {
                let pod = self.generator.pod(pods::changed(number, self.pods));
                self.change(pod, number, stamp)
            })
            .buffer_unordered(AT_ONCE)
            .try_collect::<()>()
            .await?;
        *made += changes;
        self.change(self.generator.mark(self.pods), *made, false).await
    }

    async fn change(&self, mut pod: Value, number: usize, stamp: bool) -> anyhow::Result<()> {
        pods::restart(&mut pod, number);
        if stamp {
            pods::stamp(&mut pod);
        }
        self.set_status(pod).await
    }
}

fn without_what_servers_choose(pod: &mut Value) {
    for name in ["uid", "creationTimestamp", "generation", "managedFields"] {
        pod["metadata"]
            .as_object_mut()
            .map(|metadata| metadata.remove(name));
    }
}
