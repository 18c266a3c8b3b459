//! The whole way of an object: from the body of a response to the store and the handlers.

use crate::meter::Meter;
use crate::objects::{BOTH, PODS, event, expired, item, list, version_after};
use crate::server::{client, runtime};
use bytes::Bytes;
use futures::channel::mpsc::UnboundedSender;
use k8s_openapi::api::core::v1::Pod;
use kube::core::ApiResource;
use kube_informer::form::Packed;
use kube_informer::low_level::wire::Encoding;
use kube_informer::reflector::{InitialState, ReflectorOptions};
use kube_informer::source::{ClientSource, Selection};
use kube_informer::{Notification, SharedInformer};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

const HANDLERS: usize = 20;

pub fn measure(meter: &mut Meter) {
    if !meter.wants("informer: ") {
        return;
    }
    for (encoding, name) in BOTH {
        let items: Vec<Bytes> = (0..PODS).map(|number| item(encoding, number, 0)).collect();
        lists(meter, encoding, name, &items);
        events(meter, encoding, name, &items);
        relists(meter, encoding, name, &items);
        if encoding == Encoding::Protobuf {
            handlers(meter, &items);
        }
    }
}

/// How often the handlers were called.
#[derive(Clone, Default)]
struct Told(Arc<(AtomicUsize, Notify)>);

impl Told {
    fn count(&self) {
        self.0.0.fetch_add(1, Relaxed);
        self.0.1.notify_one();
    }

    fn now(&self) -> usize {
        self.0.0.load(Relaxed)
    }

    async fn until(&self, count: usize) {
        while self.now() < count {
            self.0.1.notified().await;
        }
    }
}

/// An informer that runs, with handlers that count.
struct Running {
    runtime: Runtime,
    told: Told,
    watch: UnboundedSender<Bytes>,
    stop: CancellationToken,
}

impl Running {
    fn start(encoding: Encoding, prepared: Vec<Bytes>, handlers: usize) -> Self {
        let runtime = runtime();
        let told = Told::default();
        let stop = CancellationToken::new();
        let watch = runtime.block_on(async {
            let (client, watch) = client(encoding, prepared);
            let source = ClientSource::new(client, ApiResource::erase::<Pod>(&()), Selection::default());
            let options = ReflectorOptions {
                initial: InitialState::List,
                ..Default::default()
            };
            let (informer, runner) = SharedInformer::<Packed<Pod>>::builder(source.encoding(encoding))
                .reflector_options(options)
                .build();
            for number in 0..handlers {
                let told = told.clone();
                let handler = move |_: Notification<Packed<Pod>>| told.count();
                informer
                    .add_handler(format!("count-{number}").as_str(), handler)
                    .expect("not stopped")
                    .detach();
            }
            tokio::spawn(runner.run(stop.clone()));
            informer.synced().await.expect("not stopped");
            told.until(PODS * handlers).await;
            watch
        });
        Self {
            runtime,
            told,
            watch,
            stop,
        }
    }

    /// Sends what comes and waits until the handlers were called so often.
    fn send(&self, events: impl IntoIterator<Item = Bytes>, calls: usize) {
        let expected = self.told.now() + calls;
        events
            .into_iter()
            .for_each(|event| self.watch.unbounded_send(event).expect("the server runs"));
        self.runtime.block_on(self.told.until(expected));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// From the start of an informer until its handler was told of everything.
fn lists(meter: &mut Meter, encoding: Encoding, name: &str, items: &[Bytes]) {
    let body = list(encoding, items, version_after(0));
    meter.path(&format!("informer: list a pod, packed, {name}"), PODS, || {
        drop(Running::start(encoding, vec![body.clone()], 1));
    });
}

fn events(meter: &mut Meter, encoding: Encoding, name: &str, items: &[Bytes]) {
    let informer = Running::start(encoding, vec![list(encoding, items, version_after(0))], 1);
    let mut states = 1..;
    let mut next = |number_of: usize| -> Vec<Bytes> {
        let state = states.next().expect("endless");
        (0..number_of)
            .map(|number| event(encoding, number, state))
            .collect()
    };
    // One time to warm up, one time to be measured.
    let mut alone = [next(PODS), next(PODS)].into_iter();
    let mut burst = [next(PODS), next(PODS)].into_iter();
    meter.path(&format!("informer: apply an event, packed, {name}"), PODS, || {
        alone
            .next()
            .expect("two")
            .into_iter()
            .for_each(|event| informer.send([event], 1));
    });
    meter.path(
        &format!("informer: apply an event of a burst, packed, {name}"),
        PODS,
        || {
            informer.send(burst.next().expect("two"), PODS);
        },
    );
}

/// The watch expires, and the list that follows has nothing new. Then one pod changes, so that the end can be seen.
fn relists(meter: &mut Meter, encoding: Encoding, name: &str, items: &[Bytes]) {
    const MARK: usize = 0;
    // The state of that pod in each list, and the state after all of which the list's version is.
    let lists = [(0, 0), (0, 2), (3, 4)].map(|(mark, after)| {
        let mut items = items.to_vec();
        items[MARK] = item(encoding, MARK, mark);
        list(encoding, &items, version_after(after))
    });
    let informer = Running::start(encoding, lists.into(), 1);
    let mut changes = [3, 5].map(|state| event(encoding, MARK, state)).into_iter();
    meter.path(
        &format!("informer: list an unchanged pod again, packed, {name}"),
        PODS,
        || {
            informer.send([expired(encoding), changes.next().expect("two")], 1);
        },
    );
}

/// What one more handler costs is measured with many: the rest of the way is shared by them.
fn handlers(meter: &mut Meter, items: &[Bytes]) {
    let encoding = Encoding::Protobuf;
    let body = list(encoding, items, version_after(0));
    let informer = Running::start(encoding, vec![body], HANDLERS);
    let mut bursts = [1, 2]
        .map(|state| {
            (0..PODS)
                .map(|number| event(encoding, number, state))
                .collect::<Vec<_>>()
        })
        .into_iter();
    meter.path(
        &format!("informer: tell one of {HANDLERS} handlers of an event, packed, protobuf"),
        PODS * HANDLERS,
        || {
            informer.send(bursts.next().expect("two"), PODS * HANDLERS);
        },
    );
}
