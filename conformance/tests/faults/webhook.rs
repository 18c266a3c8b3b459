//! Who says which tokens are good: a webhook that a real API server asks. So a token can be withdrawn while it runs.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Knows one token, of the user of the same name.
pub(crate) struct Webhook {
    address: SocketAddr,
    good: Arc<AtomicBool>,
    _serving: JoinSet<()>,
}

impl Webhook {
    pub(crate) async fn knows(token: &'static str) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let good = Arc::new(AtomicBool::new(true));
        let answers = good.clone();
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                let good = answers.clone();
                let review = service_fn(move |request| review(request, token, good.clone()));
                connections.spawn(async move {
                    // The API server may end it at any time.
                    let _ = http1::Builder::new()
                        .serve_connection(TokioIo::new(socket), review)
                        .await;
                });
            }
        });
        Ok(Self {
            address,
            good,
            _serving: serving,
        })
    }

    /// Says from now on that the token is good, or that it is not. The server believes what it was told for some time.
    pub(crate) fn set_good(&self, good: bool) {
        self.good.store(good, Ordering::Relaxed);
    }

    /// Writes the file that tells an API server of it.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let url = format!("http://{}/", self.address);
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "webhook",
            "clusters": [{"name": "webhook", "cluster": {"server": url}}],
            "users": [{"name": "server", "user": {}}],
            "contexts": [{"name": "webhook", "context": {"cluster": "webhook", "user": "server"}}],
        });
        std::fs::write(path, config.to_string())
    }
}

async fn review(
    request: Request<Incoming>,
    token: &str,
    good: Arc<AtomicBool>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.map(|body| body.to_bytes());
    let asked: Value = serde_json::from_slice(&body.unwrap_or_default()).unwrap_or_default();
    let known = asked["spec"]["token"] == token && good.load(Ordering::Relaxed);
    let status = match known {
        true => json!({"authenticated": true, "user": {"username": token, "uid": token}}),
        false => json!({"authenticated": false}),
    };
    let answer = json!({"apiVersion": asked["apiVersion"], "kind": "TokenReview", "status": status});
    let mut response = Response::new(Full::new(answer.to_string().into()));
    response.headers_mut().insert(
        http::header::CONTENT_TYPE,
        http::HeaderValue::from_static("application/json"),
    );
    Ok(response)
}
