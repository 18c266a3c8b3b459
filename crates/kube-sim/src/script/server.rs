//! The server that answers from a script.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures::{FutureExt as _, future::BoxFuture};
use http::{Request, Response};
use http_body_util::BodyExt as _;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::{Answer, Expected, Received};
use crate::response::SimBody;

/// A server that answers from a script; see the [module](super).
///
/// All clones are one server.
#[derive(Debug, Clone, Default)]
#[must_use = "ask `assert_finished` at the end"]
pub struct ScriptedServer {
    state: Arc<Mutex<State>>,
}

/// Answers requests that are not in the script.
type Otherwise = Box<dyn FnMut(&Received) -> Answer + Send>;

#[derive(Default)]
struct State {
    steps: Vec<Step>,
    otherwise: Option<Otherwise>,
    received: Vec<Received>,
    /// Descriptions of requests that are not in the script.
    deviations: Vec<String>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("steps", &self.steps)
            .field("received", &self.received)
            .finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Step {
    expected: Expected,
    /// Taken when the request has come.
    answer: Option<Answer>,
}

impl ScriptedServer {
    /// A server without expected requests.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an expected request and its response. This can be done at any time.
    pub fn expect(self, request: impl Into<Expected>, answer: Answer) -> Self {
        let step = Step {
            expected: request.into(),
            answer: Some(answer),
        };
        self.state().steps.push(step);
        self
    }

    /// How to answer requests that the script has nothing for, or nothing more; they are no deviations then.
    ///
    /// ```
    /// use kube_sim::script::{Answer, ScriptedServer};
    /// // An outage without end.
    /// let server = ScriptedServer::new().otherwise(|_| Answer::code(503));
    /// # server.assert_finished();
    /// ```
    pub fn otherwise(self, answer: impl FnMut(&Received) -> Answer + Send + 'static) -> Self {
        self.state().otherwise = Some(Box::new(answer));
        self
    }

    /// The server as a service, for a client in this process.
    pub fn service(&self) -> ScriptedService {
        ScriptedService {
            state: self.state.clone(),
        }
    }

    /// Puts the server behind a free port of 127.0.0.1, without TLS, until what is returned is dropped.
    ///
    /// ```
    /// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use kube_sim::script::{Answer, ScriptedServer};
    ///
    /// let server = ScriptedServer::new().expect("GET /version", Answer::json(r#"{"major":"1"}"#));
    /// let listener = server.listen().await?;
    /// assert!(listener.url().starts_with("http://127.0.0.1:"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// There is no free port, or none may be used.
    ///
    /// # Cancel safety
    /// If the future is dropped, nothing listens.
    pub async fn listen(&self) -> io::Result<ScriptedListener> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let service = self.service();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                let service = TowerToHyperService::new(service.clone());
                connections.spawn(async move {
                    let builder = auto::Builder::new(TokioExecutor::new());
                    // An answer that breaks off is what the script says, no error here.
                    let _ = builder.serve_connection(TokioIo::new(socket), service).await;
                });
            }
        });
        Ok(ScriptedListener {
            address,
            _tasks: tasks,
        })
    }

    /// The requests received so far.
    pub fn requests(&self) -> Vec<Received> {
        self.state().received.clone()
    }

    /// Whether all requests of the script have been received, and no others.
    pub fn is_finished(&self) -> bool {
        self.unfinished().is_none()
    }

    /// Asserts that all requests of the script have been received, and no others.
    ///
    /// # Panics
    /// Panics if they have not; the message lists the differences.
    #[track_caller]
    pub fn assert_finished(&self) {
        if let Some(report) = self.unfinished() {
            panic!("{report}");
        }
    }

    fn unfinished(&self) -> Option<String> {
        let state = self.state();
        let open = state.steps.iter().filter(|step| step.answer.is_some());
        let missing = open.map(|step| format!("this request did not come: {}", step.expected));
        let wrong: Vec<_> = state.deviations.iter().cloned().chain(missing).collect();
        let log = || {
            state
                .received
                .iter()
                .map(|request| format!("\n  {request}"))
                .collect::<String>()
        };
        (!wrong.is_empty()).then(|| format!("{}\nthese came:{}", wrong.join("\n"), log()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The answer to a request.
    ///
    /// # Errors
    /// The request is not the one that is expected.
    fn answer(&mut self, request: Received) -> Result<Answer, String> {
        let mut steps = self
            .steps
            .iter_mut()
            .filter(|step| step.expected.is_for(&request))
            .peekable();
        let known = steps.peek().is_some();
        let result = match steps.find(|step| step.answer.is_some()) {
            Some(Step { expected, answer }) if expected.matches(&request) => {
                Ok(answer.take().expect("a step whose answer was not taken"))
            }
            Some(Step { expected, .. }) => {
                let headers = expected.header_names().map(|name| {
                    let value = request
                        .headers
                        .get(name)
                        .map_or("none".into(), |value| format!("{value:?}"));
                    format!(" ({name}: {value})")
                });
                let headers: String = headers.collect();
                Err(format!(
                    "a request differs\n  expected {expected}\n  but got  {request}{headers}"
                ))
            }
            None => match &mut self.otherwise {
                Some(otherwise) => Ok(otherwise(&request)),
                None if known => {
                    self.deviations
                        .push(format!("this request is beyond the script: {request}"));
                    Ok(Answer::never())
                }
                None => Err(format!("the script has nothing for {request}")),
            },
        };
        if let Err(deviation) = &result {
            self.deviations.push(deviation.clone());
        }
        self.received.push(request);
        result
    }
}

/// A [`ScriptedServer`] as a tower service.
///
/// It is always ready. A call fails only where the script says so.
#[derive(Debug, Clone)]
pub struct ScriptedService {
    state: Arc<Mutex<State>>,
}

impl<B> tower::Service<Request<B>> for ScriptedService
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<SimBody>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let state = self.state.clone();
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
            let request = Received::new(parts, body);
            let answer = state
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .answer(request);
            answer
                .unwrap_or_else(|deviation| panic!("{deviation}"))
                .give()
                .await
        }
        .boxed()
    }
}

/// A [`ScriptedServer`] behind a socket. Dropping it closes the port and every connection.
#[derive(Debug)]
#[must_use = "the server stops listening when it is dropped"]
pub struct ScriptedListener {
    address: SocketAddr,
    _tasks: JoinSet<()>,
}

impl ScriptedListener {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base of its URLs, such as `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}
