//! What clients cost the server, under the names and labels of a real one's `/metrics`.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use prometheus::core::Collector;
use prometheus::{
    HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
    TEXT_FORMAT, TextEncoder,
};

use crate::response::{BoxError, SimBody, whole, with_type};
use crate::target::Target;

/// What requests are told apart by.
const REQUEST: [&str; 7] = [
    "component",
    "group",
    "resource",
    "scope",
    "subresource",
    "verb",
    "version",
];

/// The metrics of one server.
pub(crate) struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    watches: IntGaugeVec,
    sizes: HistogramVec,
    events: IntCounterVec,
}

impl Default for Metrics {
    fn default() -> Self {
        let requests = Opts::new(
            "apiserver_request_total",
            "Requests for resources that were answered; a watch counts when it ends",
        );
        let requests = IntCounterVec::new(requests, &[&REQUEST[..], &["dry_run", "code"]].concat());
        let watches = Opts::new("apiserver_longrunning_requests", "Watches that are open");
        let sizes = HistogramOpts::new(
            "apiserver_response_sizes",
            "Bytes of the answers to reads, compressed as they are sent; those of a watch count when it ends",
        );
        let sizes = sizes.buckets((3..10).map(|power| 10f64.powi(power)).collect());
        let events = Opts::new(
            "apiserver_watch_events_total",
            "Events that were sent to watches, bookmarks among them",
        );
        let registry = Registry::new();
        Self {
            requests: registered(&registry, requests),
            watches: registered(&registry, IntGaugeVec::new(watches, &REQUEST)),
            sizes: registered(&registry, HistogramVec::new(sizes, &REQUEST)),
            events: registered(
                &registry,
                IntCounterVec::new(events, &["group", "resource", "version"]),
            ),
            registry,
        }
    }
}

fn registered<M: Collector + Clone + 'static>(registry: &Registry, metric: prometheus::Result<M>) -> M {
    let metric = metric.expect("names and labels are valid");
    registry
        .register(Box::new(metric.clone()))
        .expect("each has a name of its own");
    metric
}

impl Metrics {
    /// The answer to `/metrics`.
    pub(crate) fn answer(&self) -> Response<SimBody> {
        let text = TextEncoder::new().encode_to_string(&self.registry.gather());
        let text = text.expect("a string can be written");
        with_type(StatusCode::OK, whole(text.into()), TEXT_FORMAT)
    }

    /// Counts the events of watches of this resource.
    pub(crate) fn events_of(&self, target: &Target) -> IntCounter {
        let resource = &target.resource;
        self.events
            .with_label_values(&[&*resource.group, &*resource.plural, &*target.version])
    }

    /// A request that begins.
    pub(crate) fn began(&self, request: Measurable<'_>) -> Measured {
        let Target {
            resource,
            version,
            subresource,
            ..
        } = request.target;
        let labels = [
            "apiserver",
            &resource.group,
            &resource.plural,
            request.scope,
            subresource.as_deref().unwrap_or_default(),
            request.verb,
            version,
        ];
        let open = (request.verb == WATCH).then(|| self.watches.with_label_values(&labels));
        if let Some(open) = &open {
            open.inc();
        }
        Measured {
            requests: self.requests.clone(),
            sizes: matches!(request.verb, "GET" | "LIST" | WATCH).then(|| self.sizes.clone()),
            labels: labels.map(str::to_owned),
            dry_run: request.dry_run.to_owned(),
            open,
            code: None,
            bytes: AtomicU64::new(0),
        }
    }
}

/// The verb of watches.
pub(crate) const WATCH: &str = "WATCH";

/// What the metrics tell of a request.
pub(crate) struct Measurable<'a> {
    pub(crate) target: &'a Target,
    /// `resource` for one object, `namespace` or `cluster`.
    pub(crate) scope: &'a str,
    pub(crate) verb: &'a str,
    pub(crate) dry_run: &'a str,
}

/// A request until its answer has been sent, or nobody wants it any more.
pub(crate) struct Measured {
    requests: IntCounterVec,
    /// For a read.
    sizes: Option<HistogramVec>,
    labels: [String; REQUEST.len()],
    dry_run: String,
    /// For a watch.
    open: Option<IntGauge>,
    /// Of the answer, if it counts.
    code: Option<StatusCode>,
    bytes: AtomicU64,
}

impl Measured {
    /// It is answered. What sends the body finds this among the extensions of the response.
    pub(crate) fn answered(mut self, response: &mut Response<SimBody>) {
        // A real server refuses these before it counts.
        let code = response.status();
        let counts = !matches!(
            code,
            StatusCode::METHOD_NOT_ALLOWED | StatusCode::UNSUPPORTED_MEDIA_TYPE
        );
        self.code = counts.then_some(code);
        if self.open.is_none() {
            self.count();
        }
        response.extensions_mut().insert(Arc::new(self));
    }

    fn count(&self) {
        let Some(code) = self.code else {
            return;
        };
        let labels = self.labels.iter().map(String::as_str);
        let labels: Vec<_> = labels.chain([&*self.dry_run, code.as_str()]).collect();
        self.requests.with_label_values(&labels).inc();
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        if let Some(open) = &self.open {
            open.dec();
            self.count();
        }
        if let (Some(sizes), Some(_)) = (&self.sizes, self.code) {
            let bytes = self.bytes.load(Ordering::Relaxed);
            sizes.with_label_values(&self.labels).observe(bytes as f64);
        }
    }
}

/// The response, whose body is measured as it is sent.
pub(crate) fn measured(mut response: Response<SimBody>) -> Response<SimBody> {
    match response.extensions_mut().remove::<Arc<Measured>>() {
        Some(request) => response.map(|body| Sent { body, request }.boxed_unsync()),
        None => response,
    }
}

struct Sent {
    body: SimBody,
    request: Arc<Measured>,
}

impl Body for Sent {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
        {
            self.request.bytes.fetch_add(data.len() as u64, Ordering::Relaxed);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
