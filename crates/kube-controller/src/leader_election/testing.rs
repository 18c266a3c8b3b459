//! A cluster whose network does what a test says.

use super::candidate::Candidate;
use super::clock::{Clock, SystemClock};
use super::config::LeaderElectionConfig;
use super::elector::LeaderElector;
use super::status::LeaderElectionStatus;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::{Method, Request, Response};
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use kube_sim::{Sim, SimService};
use rand::SeedableRng as _;
use rand::rngs::SmallRng;
use serde_json::{Value, json};
use std::io;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::sleep;

/// What becomes of one request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fate {
    /// How long it takes to the server.
    pub(crate) there: Duration,
    /// Whether it gets there. It does even if its sender no longer waits.
    pub(crate) arrives: bool,
    /// How long the answer takes.
    pub(crate) back: Duration,
    pub(crate) answer: Answer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The server's.
    Real,
    /// This status, whatever the server did.
    Status(u16),
    /// This status, before the request gets there: it was sent again after it seemed to have failed, and this is the answer to the second one.
    Resent(u16),
    Never,
}

impl Fate {
    pub(crate) const OK: Self = Self {
        there: Duration::ZERO,
        arrives: true,
        back: Duration::ZERO,
        answer: Answer::Real,
    };
    pub(crate) const SILENCE: Self = Self {
        arrives: false,
        answer: Answer::Never,
        ..Self::OK
    };
}

/// What becomes of the requests to come.
type Fates = Box<dyn FnMut(&Method) -> Fate + Send>;

/// What becomes of a request with this method and path.
type FateOf = dyn Fn(&Method, &str) -> Fate + Send + Sync;

/// The way to the server.
#[derive(Clone)]
pub(crate) struct Network {
    server: SimService,
    fate: Arc<FateOf>,
}

impl Network {
    pub(crate) fn client(sim: &Sim, fate: impl Fn(&Method) -> Fate + Send + Sync + 'static) -> Client {
        Self::client_by_path(sim, move |method, _| fate(method))
    }

    /// The fate of a request depends on its path, too.
    pub(crate) fn client_by_path(
        sim: &Sim,
        fate: impl Fn(&Method, &str) -> Fate + Send + Sync + 'static,
    ) -> Client {
        let network = Self {
            server: sim.service(),
            fate: Arc::new(fate),
        };
        Client::new(network, "default")
    }
}

impl tower::Service<Request<Body>> for Network {
    type Response = Response<Body>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let fate = (self.fate)(request.method(), request.uri().path());
        let mut server = self.server.clone();
        let delivered = tokio::spawn(async move {
            sleep(fate.there).await;
            if !fate.arrives {
                return None;
            }
            Some(tower::Service::call(&mut server, request).await)
        });
        async move {
            if let Answer::Resent(code) = fate.answer {
                sleep(fate.back).await;
                return Ok(refusal(code));
            }
            let real = delivered.await.expect("the server does not panic");
            sleep(fate.back).await;
            match fate.answer {
                Answer::Real => {
                    let (parts, body) = real.expect("an answer needs a request")?.into_parts();
                    let body = body.collect().await.expect("a whole body").to_bytes();
                    Ok(Response::from_parts(parts, Body::from(body.to_vec())))
                }
                Answer::Status(code) | Answer::Resent(code) => Ok(refusal(code)),
                Answer::Never => std::future::pending().await,
            }
        }
        .boxed()
    }
}

fn refusal(code: u16) -> Response<Body> {
    let status = json!({
        "apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code,
        "message": "no", "reason": "InternalError",
    });
    let mut response = Response::new(Body::from(status.to_string().into_bytes()));
    *response.status_mut() = code.try_into().expect("a status code");
    response
}

/// A cluster, what was asked of it, and what becomes of the next requests.
#[derive(Clone)]
pub(crate) struct Cluster {
    pub(crate) sim: Sim,
    asked: Arc<Mutex<Vec<Method>>>,
    fate: Arc<Mutex<Fates>>,
}

impl Cluster {
    pub(crate) fn new() -> Self {
        Self {
            sim: Sim::builder().build().expect("an empty cluster"),
            asked: Arc::default(),
            fate: Arc::new(Mutex::new(Box::new(|_| Fate::OK))),
        }
    }

    pub(crate) fn client(&self) -> Client {
        let (asked, fate) = (self.asked.clone(), self.fate.clone());
        Network::client(&self.sim, move |method| {
            asked.lock().unwrap().push(method.clone());
            fate.lock().unwrap()(method)
        })
    }

    pub(crate) fn candidate(&self, identity: &str) -> (Candidate, LeaderElectionStatus) {
        self.candidate_with(config(identity), Arc::new(SystemClock))
    }

    pub(crate) fn candidate_with(
        &self,
        config: LeaderElectionConfig,
        clock: Arc<dyn Clock>,
    ) -> (Candidate, LeaderElectionStatus) {
        let status = LeaderElectionStatus::new(&config.identity, config.announced_duration(), clock.clone());
        let jitter = SmallRng::seed_from_u64(0);
        let candidate = Candidate::new(self.client(), config.into(), clock, status.clone(), jitter);
        (candidate, status)
    }

    pub(crate) fn elector(&self, identity: &str) -> LeaderElector {
        LeaderElector::new(self.client(), config(identity)).expect("a good configuration")
    }

    /// From now on, requests have this fate.
    pub(crate) fn requests(&self, fate: impl FnMut(&Method) -> Fate + Send + 'static) {
        *self.fate.lock().unwrap() = Box::new(fate);
    }

    /// What was asked since the last call.
    pub(crate) fn asked(&self) -> String {
        let asked = std::mem::take(&mut *self.asked.lock().unwrap());
        asked.iter().map(Method::as_str).collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn lease(&self) -> Value {
        let found = self
            .sim
            .store()
            .get("coordination.k8s.io/v1", "Lease", Some("default"), "test");
        found.expect("a Lease")
    }

    pub(crate) fn spec(&self) -> Value {
        self.lease()["spec"].take()
    }

    pub(crate) fn create(&self, spec: &Value) {
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"namespace": "default", "name": "test"}, "spec": spec,
        });
        self.sim.store().create(lease).expect("no Lease yet");
    }

    /// Somebody changes the Lease, whatever its version.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Value)) {
        let mut lease = self.lease();
        change(&mut lease);
        lease["metadata"]["resourceVersion"] = Value::Null;
        self.sim.store().update(lease).expect("a Lease");
    }

    pub(crate) fn delete(&self) {
        let (version, kind) = ("coordination.k8s.io/v1", "Lease");
        let gone = self.sim.store().delete(version, kind, Some("default"), "test");
        gone.expect("a Lease");
    }
}

pub(crate) fn config(identity: &str) -> LeaderElectionConfig {
    LeaderElectionConfig::new("default", "test", identity)
}

pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
