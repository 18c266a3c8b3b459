//! Answering requests.

use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use kube_sim::SimBody;
use std::io;
use tokio::net::TcpListener;

/// What is asked for with a churn.
#[derive(Clone, Copy)]
pub struct Churn {
    pub changes: usize,
    /// Changes a second; 0: no matter how many.
    pub rate: usize,
    /// Whether each pod gets the annotation [`AT`](crate::pods::AT).
    pub stamp: bool,
    /// Whether the answer comes when all have been made.
    pub wait: bool,
}

impl Churn {
    pub fn read<B>(request: &Request<B>) -> Self {
        let number = |name| parameter(request, name).and_then(|text| text.parse().ok());
        Self {
            changes: number("changes").unwrap_or(0),
            rate: number("rate").unwrap_or(0),
            stamp: parameter(request, "stamp").is_some(),
            wait: parameter(request, "wait").is_some(),
        }
    }
}

/// Serves HTTP/1.1 for ever.
pub async fn serve<A, F>(listener: TcpListener, answer: A) -> anyhow::Result<()>
where
    A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = io::Result<Response<SimBody>>> + Send + 'static,
{
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = service_fn(answer.clone());
        tokio::spawn(async move {
            // A client that goes away is not an error here.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

/// Runs `work` behind the request's back, unless the client wants to `wait`.
pub async fn started(
    wait: bool,
    work: impl Future<Output = anyhow::Result<()>> + Send + 'static,
) -> Response<SimBody> {
    let working = tokio::spawn(async move {
        if let Err(error) = work.await {
            eprintln!("the server's work failed: {error:#}");
            // Its guardian ends a real API server.
            std::process::exit(1);
        }
    });
    if wait {
        _ = working.await;
    }
    text("started".into())
}

pub fn parameter<'a, B>(request: &'a Request<B>, name: &str) -> Option<&'a str> {
    let query = request.uri().query().unwrap_or_default();
    query
        .split('&')
        .find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

pub fn text(text: String) -> Response<SimBody> {
    Response::new(Full::from(text).map_err(|never| match never {}).boxed_unsync())
}

pub fn not_found() -> Response<SimBody> {
    let mut response = text(String::new());
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}
