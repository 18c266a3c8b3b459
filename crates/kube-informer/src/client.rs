//! A kube client for programs that hold large collections.
//!
//! It does what kube's own client does, and costs a program less: the API server sends a list or a streaming list in many small pieces,
//! and with kube's client each piece wakes a task that reads the connection, then the task that reads the answer. Here
//!
//! - the informer's own task reads the connection of a watch or of a list that is not in pages, which is used for nothing else and
//!   closed at its end. All other requests share connections, as with kube's client;
//! - what arrives in a burst, more than 256 KiB within 10 ms, is read a millisecond later, in large pieces. What arrives more slowly
//!   is read at once.
//!
//! 30,000 pods of a real API server, held packed, take seven tenths of the processor time that they take with kube's client
//! ([measured](https://github.com/kube-informer/kube-informer/blob/main/bench/RESULTS.md#a-real-api-server)). Everything
//! in this crate works with either client.
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
//! - Each watch and each such list opens a connection, with a TLS handshake.
//! - [`valid_until`](Client::valid_until) does not know when a certificate expires that a credential plugin has given.
//! - Answers are not compressed, unless an informer [asks for it](crate::source::ClientSource::compression).
//! - Single requests have no `tracing` spans, and their failures are not logged. Those of informers are told as with any client.
//! - It is for rustls. With kube's feature `openssl-tls` there is only kube's client.
//! - Behind a proxy ([`Config::proxy_url`]) it is kube's client.

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
use tower::retry::RetryLayer;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt as _};

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

/// A client of this configuration, as of [`Client::try_from`]. It sends nothing yet. Must be called on a tokio runtime.
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
/// Certificates or credentials cannot be read, or a credential plugin fails.
///
/// # Panics
/// Without a proxy: no provider of cryptography is compiled into the program (kube's features `ring` and `aws-lc-rs` are one each), or several
/// are and none of them is [installed](https://docs.rs/rustls/latest/rustls/crypto/struct.CryptoProvider.html#method.install_default);
/// kube's client installs `aws-lc-rs` by itself.
pub fn try_from(config: Config) -> Result<Client, kube::Error> {
    if config.proxy_url.is_some() {
        return Client::try_from(config);
    }
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    let https = config.rustls_https_connector_with_connector(PacedConnector(http))?;
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
