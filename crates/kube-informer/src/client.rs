//! A [`kube::Client`] that uses less CPU time to receive large lists and streaming lists.
//!
//! It sends the same requests as kube's client, with the same authentication, TLS, timeouts and retries, and everything in this crate
//! works with either. An API server sends a large answer in many small pieces. With kube's client each piece wakes a task that reads
//! the connection, which wakes the task that reads the answer. Here
//!
//! - each watch, each streaming list, and each list that the server answers without pages has a connection of its own. The task that
//!   reads the answer reads the connection, too, and closes it at the end. Pages and all other requests share connections, as with
//!   kube's client;
//! - if more than 256 KiB arrive on a connection with TLS within 10 ms, the client waits about 1 ms each time it has read everything, and then
//!   reads up to 256 KiB at once. Slower data is read at once.
//!
//! The first sync of 30,000 pods as `Packed<Pod>` from a kube-apiserver takes a fifth to a third less CPU time: in one run 0.93 s by a list (kube's
//! client: 1.40 s) and 0.90 s by a streaming list (1.12 s). The pauses can make it take longer, 2.4 to 2.7 s instead of 1.8 to 2.8. Changes at
//! 150 a second cost the same with both
//! ([measured](https://github.com/kube-informer/kube-informer/blob/main/bench/RESULTS.md#a-client-of-ones-own)). Use it if CPU time is scarce and
//! lists of thousands of objects are a large part of what a program does; for small collections it brings little.
//!
//! ```toml
//! kube-informer = { version = "0.1", features = ["rustls-tls"] }
//! # One provider of cryptography: "ring" or "aws-lc-rs".
//! kube = { version = "5", default-features = false, features = ["client", "ring"] }
//! ```
//!
//! ```no_run
//! use kube_informer::SharedInformerFactory;
//!
//! # async fn run() -> Result<(), kube::Error> {
//! let client = kube_informer::client::try_default().await?;
//! let factory = SharedInformerFactory::new(client);
//! # Ok(())
//! # }
//! ```
//!
//! # What differs from kube's client
//! - A connection fails after 45 s if the other end is gone without closing it (a machine that was suspended, a route or a NAT entry that is
//!   lost), as with client-go: TCP keepalive probes it. With kube's client, a watch notices after its read timeout of 295 s, or after
//!   [`bookmark_timeout`](crate::reflector::ReflectorOptions::bookmark_timeout).
//! - A program has one more connection for each list of the kinds above, while it is read, each with a TLS handshake.
//! - If [`Config::proxy_url`] is set (by the kubeconfig, or by `HTTPS_PROXY` where there is a kubeconfig), [`try_from`] returns kube's client.
//! - The feature `rustls-tls` enables kube's. If kube's `openssl-tls` is on as well, kube prefers rustls, so every `kube::Client` of the program
//!   uses rustls then. Do not enable it in a program that must use OpenSSL.
//! - [`Client::valid_until`] is `None`. kube's client sets it if a credential plugin has given a certificate that expires.
//! - kube's span `HTTP` and its log events (`failed with ...`) do not exist. Informers have [spans of their own](crate#tracing), and tell
//!   their failures.
//! - kube's feature `gzip` has no effect. An informer can [ask for compression](crate::source::ClientSource::compression).
//! - It is a finished client: layers of kube's `ClientBuilder` cannot be put below its retries and authentication. A layer around it must keep
//!   the extensions of requests, or nothing has a connection of its own.

mod own_connection;
mod paced;

use crate::source::LongAnswer;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt as _, TryFutureExt as _};
use http::{Request, Response, Uri};
use http_body_util::BodyExt as _;
use hyper::rt::{Read, Write};
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use hyper_util::rt::TokioExecutor;
use kube::client::retry::RetryPolicy;
use kube::client::{Body, ConfigExt as _, DynBody};
use kube::{Client, Config};
use paced::PacedConnector;
use std::task::{Context, Poll};
use std::time::Duration;
use tower::retry::RetryLayer;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt as _};

/// How long a connection is silent before the other end is asked whether it is still there. This, and the time after which it counts as gone, are
/// those of client-go's pings.
const IDLE: Duration = Duration::from_secs(30);
const BETWEEN_PROBES: Duration = Duration::from_secs(5);
const PROBES: u32 = 3;
/// How long the other end may be silent though it is asked.
#[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
const SILENCE: Duration = IDLE.saturating_add(BETWEEN_PROBES.saturating_mul(PROBES));

/// A client for the cluster that [`Config::infer`] finds, as of [`Client::try_default`].
///
/// # Errors
/// No configuration is found, or [one that cannot be used](try_from).
///
/// # Panics
/// As [`try_from`].
pub async fn try_default() -> Result<Client, kube::Error> {
    try_from(Config::infer().await.map_err(kube::Error::InferConfig)?)
}

/// A client of this configuration, as of [`Client::try_from`]. It sends nothing yet.
///
/// ```no_run
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let mut config = kube::Config::infer().await?;
/// config.default_retry = false;
/// let client = kube_informer::client::try_from(config)?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Certificates, credentials or a header of the configuration cannot be used, a credential plugin fails, or kube's feature for the proxy is
/// off.
///
/// # Panics
/// - Outside of a tokio runtime.
/// - No provider of cryptography is compiled in (kube's features `ring` and `aws-lc-rs`).
/// - Both are, and none has been [installed](https://docs.rs/rustls/latest/rustls/crypto/struct.CryptoProvider.html#method.install_default) by
///   the program. kube's client installs `aws-lc-rs` by itself then; this function does not.
pub fn try_from(config: Config) -> Result<Client, kube::Error> {
    if config.proxy_url.is_some() {
        return Client::try_from(config);
    }
    let https = config.rustls_https_connector_with_connector(PacedConnector(tcp()))?;
    let mut connector = TimeoutConnector::new(https);
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    connector.set_reset_reader_on_write(config.reset_reader_on_write);
    let pool = legacy::Client::builder(TokioExecutor::new()).build(connector.clone());
    let retry = config
        .default_retry
        .then(|| RetryLayer::new(RetryPolicy::server_retry()));
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(retry)
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(Connections { pool, connector });
    let service = service.map_response(|response: Response<_>| response.map(boxed));
    Ok(Client::new(service, config.default_namespace))
}

/// Connects, and notices after 45 s that nobody is there any more.
fn tcp() -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    // While nothing is sent, as in a watch, probes ask.
    tcp.set_keepalive(Some(IDLE));
    tcp.set_keepalive_interval(Some(BETWEEN_PROBES));
    tcp.set_keepalive_retries(Some(PROBES));
    // What is sent, as a request on a connection that was kept, must be acknowledged.
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    tcp.set_tcp_user_timeout(Some(SILENCE));
    tcp
}

/// A body whatever its type.
fn boxed<B>(body: B) -> Box<DynBody>
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    Box::new(body.map_err(Into::into))
}

/// Sends requests with [`LongAnswer`] on connections of their own, and all others on shared ones.
#[derive(Clone)]
struct Connections<C> {
    pool: legacy::Client<C, Body>,
    connector: C,
}

impl<C> Service<Request<Body>> for Connections<C>
where
    C: Service<Uri, Error: Into<BoxError>, Future: Unpin + Send> + Clone + Send + Sync + 'static,
    C::Response: Read + Write + Connection + Unpin + Send + 'static,
{
    type Response = Response<Box<DynBody>>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        match request.extensions().get() {
            Some(LongAnswer) => own_connection::send(self.connector.clone(), request)
                .map_ok(|response| response.map(boxed))
                .boxed(),
            None => self
                .pool
                .request(request)
                .map_ok(|response| response.map(boxed))
                .map_err(BoxError::from)
                .boxed(),
        }
    }
}
