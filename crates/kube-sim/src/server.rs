//! A simulated cluster behind a socket.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::ops::Deref;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::HOST;
use http::uri::Authority;
use http::{Request, StatusCode};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service as _;

use crate::response;
use crate::sim::{Sim, SimBuilder, StartError};
use crate::tls::Identity;

mod websocket;

/// The time that connections have to end when the server stops.
const GRACE: Duration = Duration::from_secs(1);

/// The time that a connection has to become one of TLS.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// What a request for another host is answered.
const MISDIRECTED: &str =
    "this server is for clients of this machine only: ask for it as 127.0.0.1 or localhost\n";

/// A [`Sim`] that listens for HTTP/1.1 and HTTP/2, over TLS on request ([`SimBuilder::tls`]).
///
/// On a loopback address it answers only requests for that address or for `localhost`, and refuses others
/// (421). Without this check, a web page in a browser on the same machine could read the server, because it
/// asks for no credentials by default.
///
/// It dereferences to its [`Sim`]. Dropping it stops it without waiting; [`shutdown`](Self::shutdown) waits.
///
/// ```
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use kube_sim::SimServer;
///
/// let server = SimServer::builder().nodes(3).pods(10).start().await?;
/// assert!(server.url().starts_with("http://127.0.0.1:"));
/// assert_eq!(server.store().list("v1", "Pod", None)?.len(), 10);
/// server.shutdown().await;
/// # Ok(()) }
/// ```
#[derive(Debug)]
#[must_use = "the server stops when it is dropped"]
pub struct SimServer {
    sim: Sim,
    address: SocketAddr,
    identity: Option<Identity>,
    tasks: TaskTracker,
    _stop_on_drop: tokio_util::sync::DropGuard,
}

impl SimBuilder {
    /// Creates the cluster and serves it over HTTP.
    ///
    /// # Errors
    ///
    /// The errors of [`build`](Self::build), or the server cannot listen on the address.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, there is no server.
    pub async fn start(self) -> Result<SimServer, StartError> {
        let address = (self.address, self.port).into();
        // Bound before the objects are created, so that a port that is in use is reported at once.
        let listener = listen(address);
        let listen_error = |source| StartError::Listen { address, source };
        let listener = listener.map_err(listen_error)?;
        let bound = listener.local_addr().map_err(listen_error)?;
        let identity = self.tls.then(|| Identity::new(bound.ip()));
        Ok(SimServer::serve(self.build()?, listener, bound, identity))
    }
}

impl Deref for SimServer {
    type Target = Sim;

    fn deref(&self) -> &Sim {
        &self.sim
    }
}

impl SimServer {
    /// A builder with its defaults: an empty cluster on any free port of 127.0.0.1.
    pub fn builder() -> SimBuilder {
        Sim::builder()
    }

    fn serve(sim: Sim, listener: TcpListener, address: SocketAddr, identity: Option<Identity>) -> Self {
        let tasks = TaskTracker::new();
        tasks.spawn(accept(sim.clone(), listener, identity.clone(), tasks.clone()));
        let _stop_on_drop = sim.closing().clone().drop_guard();
        Self {
            sim,
            address,
            identity,
            tasks,
            _stop_on_drop,
        }
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base of all its URLs, such as `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        let scheme = if self.identity.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// A kubeconfig for this server, for kubectl and other clients, in JSON, which is also valid YAML. It has
    /// the token of an administrator if the cluster asks for one ([`SimBuilder::rbac`]).
    pub fn kubeconfig(&self) -> String {
        let user = match self.sim.admin_token() {
            Some(token) => json!({"token": token}),
            None => json!({}),
        };
        let mut cluster = json!({"server": self.url()});
        if let Some(identity) = &self.identity {
            cluster["certificate-authority-data"] = STANDARD.encode(&*identity.authority).into();
        }
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "kube-sim", "cluster": cluster}],
            "users": [{"name": "kube-sim", "user": user}],
            "contexts": [{"name": "kube-sim", "context": {"cluster": "kube-sim", "user": "kube-sim", "namespace": "default"}}],
            "current-context": "kube-sim",
        });
        format!("{config:#}\n")
    }

    /// Stops the server: watches end, running requests have one second to end, and all tasks are joined.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the server still stops, as when the server is dropped; only the waiting
    /// ends.
    pub async fn shutdown(self) {
        self.sim.close().await;
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// Listens as servers in Go do: as many connections wait to be accepted as the system lets. With fewer, those of a thousand tasks that
/// begin at once are reset after a minute.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    const WAITING: u32 = 65_535;
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    // On Windows, this would let several servers listen on one port.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING)
}

/// Whether a request is for a name of this machine's loopback. Others come from web pages: a browser lets a
/// page send requests to its own host, whose name may have been given the address 127.0.0.1.
fn names_loopback<B>(request: &Request<B>) -> bool {
    let header = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    let authority = request.uri().authority().map(Authority::as_str).or(header);
    let Some(authority) = authority else { return true };
    let Ok(authority) = authority.parse::<Authority>() else {
        return false;
    };
    let host = authority.host().trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

async fn accept(sim: Sim, listener: TcpListener, identity: Option<Identity>, tasks: TaskTracker) {
    let closing = sim.closing().clone();
    loop {
        let stream = tokio::select! {
            () = closing.cancelled() => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // For example too many open files, which may be temporary.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let (sim, identity, closing) = (sim.clone(), identity.clone(), closing.clone());
        tasks.spawn(connection(sim, stream, identity, tasks.clone(), closing));
    }
}

async fn connection(
    sim: Sim,
    stream: TcpStream,
    identity: Option<Identity>,
    tasks: TaskTracker,
    closing: CancellationToken,
) {
    // Watch events are small and must be sent without delay.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY is not set");
    }
    let is_local = stream
        .local_addr()
        .is_ok_and(|address| address.ip().is_loopback());
    let Some(Identity { acceptor, .. }) = identity else {
        return serve(sim, stream, is_local, tasks, closing).await;
    };
    let stream = tokio::select! {
        () = closing.cancelled() => return,
        accepted = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)) => accepted,
    };
    match stream {
        Ok(Ok(stream)) => serve(sim, stream, is_local, tasks, closing).await,
        Ok(Err(error)) => tracing::debug!(%error, "a connection ended before it was secure"),
        Err(_) => tracing::debug!("a connection took too long to become secure"),
    }
}

async fn serve<S>(sim: Sim, stream: S, is_local: bool, tasks: TaskTracker, closing: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let builder = auto::Builder::new(TokioExecutor::new());
    let ending = closing.clone();
    let service = TowerToHyperService::new(tower::service_fn(move |mut request: Request<Incoming>| {
        let (mut service, is_meant) = (sim.service(), !is_local || names_loopback(&request));
        let (tasks, ending) = (tasks.clone(), ending.clone());
        async move {
            let wish = websocket::Wish::of(&mut request);
            let answer = match is_meant {
                true => service.call(request).await,
                false => Ok(response::text(StatusCode::MISDIRECTED_REQUEST, MISDIRECTED)),
            };
            answer.map(|answer| match wish {
                Some(wish) => wish.grant(answer, &tasks, ending),
                None => answer,
            })
        }
    }));
    let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            match tokio::time::timeout(GRACE, connection).await {
                Ok(result) => result,
                Err(_) => return,
            }
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection ended with an error");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_loopback_are_answered() {
        let request = |uri: &str, host: Option<&str>| {
            let request = Request::get(uri);
            let request = match host {
                Some(host) => request.header(HOST, host),
                None => request,
            };
            names_loopback(&request.body(()).unwrap())
        };
        for (host, expected) in [
            ("127.0.0.1:8080", true),
            ("127.3.2.1", true),
            ("localhost:8080", true),
            ("LocalHost", true),
            ("[::1]:8080", true),
            ("evil.example:8080", false),
            ("localhost.evil.example", false),
            ("192.168.0.1:8080", false),
            ("a@b@c", false),
            ("", false),
        ] {
            assert_eq!(request("/api", Some(host)), expected, "{host}");
        }
        assert!(request("/api", None));
        // HTTP/2, and what a proxy is sent.
        assert!(!request("http://evil.example/api", Some("localhost")));
        assert!(request("http://[::1]:1/api", None));
    }
}
