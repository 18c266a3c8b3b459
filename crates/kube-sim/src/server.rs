//! A simulated cluster behind a socket.

use std::net::SocketAddr;
use std::ops::Deref;
use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::sim::{Sim, SimBuilder, StartError};

/// How long a connection may take to end once the server stops.
const GRACE: Duration = Duration::from_secs(1);

/// A [`Sim`] that listens for HTTP/1.1 and HTTP/2 (without TLS).
///
/// It can be used as the [`Sim`] it is. Dropping it stops it without waiting; [`shutdown`](Self::shutdown) waits.
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
    tasks: TaskTracker,
    _stop_on_drop: tokio_util::sync::DropGuard,
}

impl SimBuilder {
    /// Makes the cluster and serves it over HTTP.
    ///
    /// # Errors
    ///
    /// What [`build`](Self::build) refuses, or an address that cannot be listened on.
    pub async fn start(self) -> Result<SimServer, StartError> {
        let address = (self.address, self.port).into();
        // Before the objects are made: a port that is taken is known at once.
        let listener = TcpListener::bind(address).await;
        let listen_error = |source| StartError::Listen { address, source };
        let listener = listener.map_err(listen_error)?;
        let bound = listener.local_addr().map_err(listen_error)?;
        Ok(SimServer::serve(self.build()?, listener, bound))
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

    fn serve(sim: Sim, listener: TcpListener, address: SocketAddr) -> Self {
        let tasks = TaskTracker::new();
        tasks.spawn(accept(sim.clone(), listener, tasks.clone()));
        let _stop_on_drop = sim.closing().clone().drop_guard();
        Self {
            sim,
            address,
            tasks,
            _stop_on_drop,
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base of all its URLs, such as `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A kubeconfig that leads here, for kubectl and other clients: JSON, which is YAML too.
    pub fn kubeconfig(&self) -> String {
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "kube-sim", "cluster": {"server": self.url()}}],
            "users": [{"name": "kube-sim", "user": {}}],
            "contexts": [{"name": "kube-sim", "context": {"cluster": "kube-sim", "user": "kube-sim", "namespace": "default"}}],
            "current-context": "kube-sim",
        });
        format!("{config:#}\n")
    }

    /// Stops: watches end, requests that are being answered get a second to end, then all is joined.
    pub async fn shutdown(self) {
        self.sim.close().await;
        self.tasks.close();
        self.tasks.wait().await;
    }
}

async fn accept(sim: Sim, listener: TcpListener, tasks: TaskTracker) {
    let closing = sim.closing().clone();
    loop {
        let stream = tokio::select! {
            () = closing.cancelled() => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Such as too many open files: others may close theirs.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        tasks.spawn(connection(sim.clone(), stream, closing.clone()));
    }
}

async fn connection(sim: Sim, stream: TcpStream, closing: CancellationToken) {
    // Watch events are small and wanted at once.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY is not set");
    }
    let builder = auto::Builder::new(TokioExecutor::new());
    let service = TowerToHyperService::new(sim.service());
    let connection = builder.serve_connection(TokioIo::new(stream), service);
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
