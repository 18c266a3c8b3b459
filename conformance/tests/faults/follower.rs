//! Informers that are followed: every notification is put down, and every request.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::client::ClientBuilder;
use kube::core::ApiResource;
use kube_informer::form::{Decode, Packed};
use kube_informer::reflector::ReflectorOptions;
use kube_informer::source::{ClientSource, ErrorClass, Selection};
use kube_informer::{
    CachedObject, Delivery, FieldPath, HandlerOptions, Notification, ResourceEventHandler, SharedInformer,
};
use rand::Rng;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tower::util::MapRequestLayer;

use crate::history::{Change, KnownObjects, Log, Told};
use crate::record::State;
use crate::writers::PREFIX;

/// Reads the number of the write from an object in its form.
pub(crate) trait Written: Decode {
    fn write(object: &Self::Handle) -> Option<u64>;
}

impl Written for ConfigMap {
    fn write(object: &Arc<Self>) -> Option<u64> {
        object.data.as_ref()?.get("write")?.parse().ok()
    }
}

impl Written for Packed<ConfigMap> {
    fn write(object: &Self) -> Option<u64> {
        let path: FieldPath = "/data/write".parse().expect("a path");
        let text: String = object.field(&path).expect("a text")?;
        text.parse().ok()
    }
}

fn state<O: Written>(object: &O::Handle) -> State {
    State {
        uid: O::uid_of(object).unwrap_or_default().to_owned(),
        version: version::<O>(object),
        write: O::write(object).unwrap_or_default(),
    }
}

fn version<O: CachedObject>(object: &O::Handle) -> u64 {
    let version = O::resource_version_of(object).expect("a version");
    version.as_str().parse().expect("a number")
}

fn told<O: Written>(notification: &Notification<O>) -> Told {
    let change = match notification {
        Notification::Add { .. } => Change::Add,
        Notification::Update { old, .. } => Change::Update(version::<O>(old)),
        Notification::Delete(_) => Change::Delete,
    };
    Told {
        key: notification.key().to_string(),
        change,
        state: state::<O>(notification.object().expect("a state")),
    }
}

/// A handler that takes its time with each notification, up to so many milliseconds.
struct Follower {
    log: Log,
    slowness: u64,
}

impl Follower {
    async fn hear(&self, told: Told) {
        self.log.push(told);
        if self.slowness > 0 {
            let time = rand::rng().random_range(0..self.slowness);
            tokio::time::sleep(Duration::from_millis(time)).await;
        }
    }
}

impl<O: Written> ResourceEventHandler<O> for Follower {
    async fn on_add(&mut self, object: O::Handle, initial: bool) {
        self.hear(told::<O>(&Notification::Add { object, initial })).await;
    }

    async fn on_update(&mut self, old: O::Handle, new: O::Handle) {
        self.hear(told::<O>(&Notification::Update { old, new })).await;
    }

    async fn on_delete(&mut self, deleted: kube_informer::Deleted<O::Handle>) {
        self.hear(told::<O>(&Notification::Delete(deleted))).await;
    }
}

/// The requests that were sent: when, and the path with its query.
type Requests = Arc<Mutex<Vec<(Instant, String)>>>;

/// The failures that an informer reported, by class.
#[derive(Debug, Clone, Default)]
pub(crate) struct Errors(Arc<Mutex<BTreeMap<&'static str, usize>>>);

impl Errors {
    fn push(&self, class: ErrorClass) {
        let mut errors = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *errors.entry(class.as_str()).or_default() += 1;
    }

    /// How many there were of a class.
    pub(crate) fn count(&self, class: ErrorClass) -> usize {
        let errors = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        errors.get(class.as_str()).copied().unwrap_or(0)
    }
}

/// The handlers: how slow each is, in milliseconds at most, how many notifications wait for it before they are merged,
/// and when it is added.
const HANDLERS: [(&str, u64, usize, Duration); 4] = [
    ("quick", 0, 1024, Duration::ZERO),
    ("slow", 60, 4, Duration::ZERO),
    ("late", 0, 1024, Duration::from_secs(25)),
    ("late and slow", 60, 4, Duration::from_secs(45)),
];

/// An informer with its handlers.
pub(crate) struct Followed {
    pub(crate) name: &'static str,
    /// What each handler was told.
    pub(crate) logs: Vec<(String, Log)>,
    requests: Requests,
    pub(crate) errors: Errors,
    store: Box<dyn Fn() -> KnownObjects + Send>,
    stop: CancellationToken,
    running: JoinHandle<()>,
}

impl Followed {
    /// An informer of all config maps, with [handlers](HANDLERS).
    pub(crate) fn start<O: Written>(
        name: &'static str,
        mut config: kube::Config,
        options: ReflectorOptions,
        queue_capacity: usize,
    ) -> Self {
        config.default_retry = false;
        let requests = Requests::default();
        let sent = requests.clone();
        let count = MapRequestLayer::new(move |request: http::Request<kube::client::Body>| {
            let mut sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
            sent.push((Instant::now(), request.uri().to_string()));
            request
        });
        let client = ClientBuilder::try_from(config).expect("a client");
        let client = client.with_layer(&count).build();
        let source = ClientSource::new(client, ApiResource::erase::<ConfigMap>(&()), Selection::default());
        let errors = Errors::default();
        let met = errors.clone();
        let (informer, runner) = SharedInformer::<O>::builder(source)
            .reflector_options(options)
            .on_error(move |error| met.push(error.class))
            .queue_capacity(queue_capacity)
            .build();
        let mut logs = vec![];
        for (handler, slowness, capacity, late) in HANDLERS {
            let log = Log::default();
            logs.push((format!("{name}, {handler}"), log.clone()));
            let follower = Follower { log, slowness };
            let options = HandlerOptions::named(handler).delivery(Delivery::Coalesced { capacity });
            let informer = informer.clone();
            let add = move || {
                let added = informer.add_handler(options, follower);
                added.expect("an informer that runs").detach();
            };
            match late.is_zero() {
                true => add(),
                false => drop(tokio::spawn(async move {
                    tokio::time::sleep(late).await;
                    add();
                })),
            }
        }
        let stop = CancellationToken::new();
        let running = runner.run(stop.clone());
        Self {
            name,
            logs,
            requests,
            errors,
            store: Box::new(move || in_store(&informer)),
            stop,
            running: tokio::spawn(async move { running.await.expect("no handler panics") }),
        }
    }

    /// What the store holds of the writers' objects.
    pub(crate) fn store(&self) -> KnownObjects {
        (self.store)()
    }

    pub(crate) fn requests(&self) -> Vec<(Instant, String)> {
        self.requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.running.await.expect("the informer ends");
    }
}

fn in_store<O: Written>(informer: &SharedInformer<O>) -> KnownObjects {
    let objects = informer.store().list();
    let written = objects
        .iter()
        .filter(|object| O::name_of(object).starts_with(PREFIX));
    written
        .map(|object| {
            let State { uid, version, .. } = state::<O>(object);
            (O::key_of(object).to_string(), (uid, version))
        })
        .collect()
}
