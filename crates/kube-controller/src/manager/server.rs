//! Metrics and probes over HTTP.

use super::Readiness;
use crate::leader_election::LeaderElectionStatus;
use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use metrics::{Unit, describe_gauge, gauge};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// How long the Lease may be overdue until the process is taken for stuck, as in controller-runtime.
const TOLERANCE: Duration = Duration::from_secs(20);
/// How long a client may take to send a request.
const REQUEST: Duration = Duration::from_secs(2);
/// How long it may take until the client has read the answer, from the start on. Each connection has one request.
const CONNECTION: Duration = Duration::from_secs(30);
/// How many clients are served at a time; others wait.
const CONNECTIONS: usize = 64;
/// How often the exporter sums up what histograms have recorded.
const UPKEEP: Duration = Duration::from_secs(5);

const OBJECTS: &str = "informer_objects";
const OBJECTS_BYTES: &str = "informer_objects_bytes";
const LAST_HEARD: &str = "informer_last_heard_seconds";

/// The bounds of histograms: seconds, from the reconciles of nothing to those of a minute.
const SECONDS: [f64; 20] = [
    0.0001, 0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0, 10.0, 15.0,
    30.0, 45.0, 60.0,
];
/// Of those that count objects.
const ITEMS: [f64; 7] = [0.0, 1.0, 10.0, 100.0, 1000.0, 10_000.0, 100_000.0];

/// A socket that listens.
pub(super) struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

/// What is asked for.
pub(super) struct Probes {
    pub(super) readiness: Readiness,
    pub(super) election: Option<(String, LeaderElectionStatus)>,
    metrics: Option<PrometheusHandle>,
    /// The metrics that were set, each with its resource.
    shown: Mutex<BTreeSet<(&'static str, String)>>,
}

impl Probes {
    pub(super) fn new(readiness: Readiness, election: Option<(String, LeaderElectionStatus)>) -> Self {
        Self {
            readiness,
            election,
            metrics: exporter(),
            shown: Mutex::default(),
        }
    }

    fn answer(&self, method: &Method, path: &str) -> Response<Full<Bytes>> {
        if !matches!(*method, Method::GET | Method::HEAD) {
            let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "use GET\n".into());
            response
                .headers_mut()
                .insert(ALLOW, "GET, HEAD".parse().expect("a header"));
            return response;
        }
        match path {
            "/healthz" => verdict(self.is_healthy()),
            "/readyz" => verdict(self.readiness.check().map_err(|not_ready| not_ready.reasons)),
            "/metrics" => self.metrics(),
            _ => text(
                StatusCode::NOT_FOUND,
                "there are /healthz, /readyz and /metrics\n".into(),
            ),
        }
    }

    /// Whether the process need not be restarted.
    fn is_healthy(&self) -> Result<(), Vec<String>> {
        let Some((lease, election)) = &self.election else {
            return Ok(());
        };
        let checked = election.check(TOLERANCE);
        checked.map_err(|expired| vec![format!("leader election {lease}: {expired}")])
    }

    fn metrics(&self) -> Response<Full<Bytes>> {
        let Some(exporter) = &self.metrics else {
            let why = "the program has another recorder of metrics, which has to export them\n";
            return text(StatusCode::NOT_FOUND, why.into());
        };
        self.gauges();
        let mut response = text(StatusCode::OK, exporter.render());
        let content = "text/plain; version=0.0.4; charset=utf-8"
            .parse()
            .expect("a header");
        response.headers_mut().insert(CONTENT_TYPE, content);
        response
    }

    /// Sets what is read when it is asked for.
    fn gauges(&self) {
        describe_gauge!(
            OBJECTS,
            Unit::Count,
            "Objects in the store; of several informers, the sum; 0 when no informer runs any more"
        );
        describe_gauge!(
            OBJECTS_BYTES,
            Unit::Bytes,
            "Memory of the objects in the store, of forms that count it (Packed); of several informers, the sum"
        );
        describe_gauge!(
            LAST_HEARD,
            Unit::Seconds,
            "Time since the server last sent a list, a change or a bookmark; of several namespaces or informers, the longest"
        );
        let informers = self.readiness.informers();
        let mut now = BTreeMap::new();
        for informers in informers.chunk_by(|a, b| a.resource == b.resource) {
            let mut show = |name, value| now.insert((name, informers[0].resource.clone()), value);
            let objects: usize = informers.iter().map(|informer| informer.status.objects).sum();
            show(OBJECTS, objects as f64);
            let bytes = informers.iter().filter_map(|informer| informer.status.bytes);
            if let Some(bytes) = bytes.reduce(u64::saturating_add) {
                show(OBJECTS_BYTES, bytes as f64);
            }
            let partitions = informers.iter().flat_map(|informer| &informer.status.partitions);
            let heard = partitions
                .filter_map(|partition| partition.reflector.last_heard)
                .min();
            if let Some(heard) = heard {
                let silent = tokio::time::Instant::now().saturating_duration_since(heard);
                show(LAST_HEARD, silent.as_secs_f64());
            }
        }
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, resource) in &*shown {
            // A metric that was shown stays. No alert is about what is not a number.
            let gone = if *name == LAST_HEARD { f64::NAN } else { 0.0 };
            now.entry((name, resource.clone())).or_insert(gone);
        }
        for ((name, resource), value) in &now {
            gauge!(*name, "resource" => resource.clone()).set(*value);
        }
        *shown = now.into_keys().collect();
        drop(shown);
        if let Some((lease, election)) = &self.election {
            describe_gauge!(
                "leader_election_master_status",
                "Whether this replica leads: 1 if it does"
            );
            let leads = f64::from(u8::from(election.is_leader()));
            gauge!("leader_election_master_status", "name" => lease.clone()).set(leads);
        }
    }
}

fn verdict(result: Result<(), Vec<String>>) -> Response<Full<Bytes>> {
    match result {
        Ok(()) => text(StatusCode::OK, "ok\n".into()),
        Err(reasons) => text(StatusCode::SERVICE_UNAVAILABLE, reasons.join("\n") + "\n"),
    }
}

fn text(code: StatusCode, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = code;
    let content = "text/plain; charset=utf-8".parse().expect("a header");
    response.headers_mut().insert(CONTENT_TYPE, content);
    response
}

/// The exporter of this process; `None` if the program has a recorder of its own.
fn exporter() -> Option<PrometheusHandle> {
    static EXPORTER: OnceLock<Option<PrometheusHandle>> = OnceLock::new();
    let install = || {
        let items = Matcher::Prefix("reflector_items".into());
        let builder = PrometheusBuilder::new().set_buckets(&SECONDS).ok()?;
        let recorder = builder
            .set_buckets_for_metric(items, &ITEMS)
            .ok()?
            .build_recorder();
        let exporter = recorder.handle();
        metrics::set_global_recorder(recorder).ok()?;
        Some(exporter)
    };
    EXPORTER.get_or_init(install).clone()
}

impl Server {
    pub(super) fn bind(address: SocketAddr) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        // Informers take the recorder that there is when they are built, which is before anything runs.
        let _ = exporter();
        Ok(Self { listener, address })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until it is stopped.
    pub(super) async fn serve(self, probes: Probes, stop: CancellationToken) {
        let listener = match tokio::net::TcpListener::from_std(self.listener) {
            Ok(listener) => listener,
            Err(error) => {
                tracing::error!(%error, "probes and metrics are not served");
                return;
            }
        };
        let probes = Arc::new(probes);
        let mut connections = JoinSet::new();
        let mut upkeep = tokio::time::interval(UPKEEP);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                Some(_) = connections.join_next() => {}
                _ = upkeep.tick() => {
                    if let Some(exporter) = &probes.metrics {
                        exporter.run_upkeep();
                    }
                }
                accepted = listener.accept(), if connections.len() < CONNECTIONS => match accepted {
                    Ok((socket, _)) => _ = connections.spawn(connection(socket, probes.clone())),
                    Err(error) => {
                        // Too many open files, perhaps.
                        tracing::warn!(%error, "a connection was not accepted");
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                },
            }
        }
    }
}

async fn connection(socket: impl AsyncRead + AsyncWrite + Unpin, probes: Arc<Probes>) {
    let service = service_fn(move |request: Request<Incoming>| {
        let answer = probes.answer(request.method(), request.uri().path());
        async { Ok::<_, Infallible>(answer) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST)
        .keep_alive(false)
        .serve_connection(TokioIo::new(socket), service);
    match tokio::time::timeout(CONNECTION, served).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "a connection of a probe broke off"),
        Err(_) => tracing::debug!("a client did not read its answer within {CONNECTION:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::Namespace;
    use kube_informer::SharedInformerFactory;
    use kube_informer::form::Packed;
    use kube_sim::Sim;
    use tokio::io::AsyncWriteExt as _;

    fn probes() -> (Probes, SharedInformerFactory) {
        let client = kube::Client::new(Sim::builder().build().unwrap().service(), "default");
        let factory = SharedInformerFactory::new(client);
        let probes = Probes {
            readiness: Readiness::new(factory.clone()),
            election: None,
            metrics: None,
            shown: Mutex::default(),
        };
        (probes, factory)
    }

    #[tokio::test(start_paused = true)]
    async fn the_metrics_of_an_informer_that_is_gone_say_so() {
        let (probes, factory) = probes();
        let recorder = PrometheusBuilder::new().build_recorder();
        let shown = |name| {
            metrics::with_local_recorder(&recorder, || probes.gauges());
            let sample = format!(r#"{name}{{resource="namespaces"}} "#);
            let rendered = recorder.handle().render();
            let value = rendered.lines().find_map(|line| line.strip_prefix(&sample));
            value.map(str::to_owned)
        };
        let informer = factory.informer::<Namespace>();
        factory.start();
        informer.synced().await.unwrap();
        assert_eq!(shown("informer_objects").as_deref(), Some("4"));
        // Decoded objects are not counted.
        assert_eq!(shown("informer_objects_bytes"), None);
        let packed = factory.informer::<Packed<Namespace>>();
        factory.start();
        packed.synced().await.unwrap();
        let bytes = packed.status().bytes.unwrap();
        assert!(bytes > 4 * 50, "{bytes}");
        assert_eq!(shown("informer_objects"), Some("8".into()));
        assert_eq!(shown("informer_objects_bytes"), Some(bytes.to_string()));
        drop((informer, packed));
        tokio::time::sleep(Duration::from_secs(120)).await;
        assert_eq!(shown("informer_objects").as_deref(), Some("0"));
        assert_eq!(shown("informer_objects_bytes").as_deref(), Some("0"));
        assert_eq!(shown("informer_last_heard_seconds").as_deref(), Some("NaN"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_never_reads_is_served_for_a_time_only() {
        let (probes, _) = probes();
        // It holds the request, and less than an answer.
        let (mut client, socket) = tokio::io::duplex(64);
        let request = "GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n";
        client.write_all(request.as_bytes()).await.unwrap();
        let minute = Duration::from_secs(60);
        let served = tokio::time::timeout(minute, connection(socket, Arc::new(probes)));
        served.await.expect("another client has its place");
    }
}
