//! A controller whose caches are behind: it makes no child twice, and its own writes do not wake it up.
//!
//! `RECONCILES=100000 cargo test --release -p kube-controller --test own_writes` does more of it.

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, StreamBody};
use instances as _;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::client::Body;
use kube::{Client, ResourceExt as _};
use kube_controller::controller::{self, Controller, Source};
use kube_controller::own_writes::{OwnWrites, ReconcileKey, TrackedInformer};
use kube_informer::selector::LabelSelector;
use kube_informer::{
    CachedObject, Delivery, HandlerOptions, Lister, Notification, ObjectKey, Registration, SharedInformer,
    SharedInformerFactory,
};
use kube_sim::SimServer;
use kube_workqueue::{Requeue, WorkQueue, Workers};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

/// How far the caches are behind.
const LAG: Duration = Duration::from_secs(1);
const CHILDREN: usize = 4;

/// A client whose watches deliver everything late.
fn late(client: Client) -> Client {
    let service = tower::service_fn(move |request: Request<Body>| {
        let client = client.clone();
        async move {
            let query = request.uri().query().unwrap_or_default();
            let is_watch = query.contains("watch=true");
            let response = client.send(request).await?;
            Ok::<Response<UnsyncBoxBody<Bytes, kube::Error>>, kube::Error>(match is_watch {
                true => response.map(delayed),
                false => response.map(|body| body.boxed_unsync()),
            })
        }
    });
    Client::new(service, "default")
}

fn delayed(mut body: Body) -> UnsyncBoxBody<Bytes, kube::Error> {
    let (sender, receiver) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(frame) = body.frame().await {
            if sender.send((Instant::now() + LAG, frame)).is_err() {
                break;
            }
        }
    });
    let frames = stream::unfold(receiver, async |mut receiver| {
        let (at, frame) = receiver.recv().await?;
        sleep_until(at).await;
        Some((frame, receiver))
    });
    StreamBody::new(frames).boxed_unsync()
}

/// Keeps as many secrets for each config map as it says, and notes in an annotation when it is done.
#[derive(Clone)]
struct Program {
    client: Client,
    writes: OwnWrites,
    maps: Lister<ConfigMap>,
    secrets: Lister<Secret>,
    reconciles: Arc<AtomicUsize>,
}

impl Program {
    async fn run(self, key: ObjectKey) -> Result<Requeue, kube::Error> {
        let run = ReconcileKey::new("secrets", key.clone());
        let seen = self.writes.wait(&run, Duration::from_secs(60)).await;
        seen.expect("the watch is late, not dead");
        self.reconciles.fetch_add(1, Ordering::Relaxed);
        self.writes.scope(&run, self.reconcile(&key)).await
    }

    /// One step towards what the config map wants.
    async fn reconcile(&self, key: &ObjectKey) -> Result<Requeue, kube::Error> {
        let Ok(map) = self.maps.get(key) else {
            return Ok(Requeue::No);
        };
        let wanted: usize = map.data.as_ref().unwrap()["secrets"].parse().unwrap();
        let selector = LabelSelector::parse(&format!("of={}", key.name())).unwrap();
        let held = self.secrets.namespace("default").select(&selector);
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), "default");
        if held.len() < wanted {
            let mut secret = Secret::default();
            secret.metadata.generate_name = Some(format!("{}-", key.name()));
            secret.labels_mut().insert("of".into(), key.name().into());
            secrets.create(&PostParams::default(), &secret).await?;
            return Ok(Requeue::After(Duration::ZERO));
        }
        if held.len() > wanted {
            // One that is deleted already would be an error.
            secrets
                .delete(&held[0].name_any(), &DeleteParams::default())
                .await?;
            return Ok(Requeue::After(Duration::ZERO));
        }
        let maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), "default");
        // With its version, so that the answer proves the write.
        let done = Patch::Merge(json!({"metadata": {
            "resourceVersion": map.resource_version(), "annotations": {"done": wanted.to_string()},
        }}));
        maps.patch(key.name(), &PatchParams::default(), &done).await?;
        Ok(Requeue::No)
    }
}

fn enqueue<O: CachedObject>(
    informer: &SharedInformer<O>,
    cache: TrackedInformer,
    queue: &WorkQueue<ObjectKey>,
    key_of: impl Fn(&Notification<O>) -> ObjectKey + Send + 'static,
) -> Registration {
    let queue = queue.clone();
    let handler = move |change: Notification<O>| {
        let (key, queue) = (key_of(&change), queue.clone());
        let run = ReconcileKey::new("secrets", key.clone());
        cache.unless_own(&run, &change, move || queue.add(key));
    };
    let options = HandlerOptions::named("secrets").delivery(Delivery::Unbounded);
    informer.add_handler(options, handler).unwrap()
}

/// Waits until the caches hold what the server has, and nothing is in line.
async fn settle(
    client: &Client,
    informers: (&SharedInformer<ConfigMap>, &SharedInformer<Secret>),
    handlers: [&Registration; 2],
    queue: &WorkQueue<ObjectKey>,
) {
    let last = async |of: Option<String>| of.unwrap_or_default().parse::<u64>().unwrap_or(0);
    loop {
        let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
        let secrets: Api<Secret> = Api::namespaced(client.clone(), "default");
        let mut maps_at = 0;
        for map in maps.list(&ListParams::default()).await.unwrap() {
            maps_at = maps_at.max(last(map.metadata.resource_version).await);
        }
        let mut secrets_at = 0;
        for secret in secrets.list(&ListParams::default()).await.unwrap() {
            secrets_at = secrets_at.max(last(secret.metadata.resource_version).await);
        }
        informers.0.store().wait_until(&maps_at.into()).await.unwrap();
        informers.1.store().wait_until(&secrets_at.into()).await.unwrap();
        // Deletions have no version here; they are seen a lag later.
        sleep(LAG + LAG / 2).await;
        if queue.is_empty() && handlers.iter().all(|handler| handler.queue_len() == 0) {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[allow(clippy::print_stderr)] // the time, for `--nocapture`
async fn no_child_is_made_twice_and_no_own_write_reconciles() {
    let reconciles = std::env::var("RECONCILES")
        .ok()
        .and_then(|text| text.parse().ok());
    let parents = reconciles.unwrap_or(2000) / (CHILDREN + 1);
    let server = SimServer::builder().history(1 << 20).start().await.unwrap();
    let client = Client::try_from(kube::Config::new(server.url().parse().unwrap())).unwrap();
    let map = |number: usize, secrets: usize| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": format!("map-{number}"), "namespace": "default"},
            "data": {"secrets": secrets.to_string()},
        })
    };
    for number in 0..parents {
        server.store().create(map(number, CHILDREN)).unwrap();
    }

    let factory = SharedInformerFactory::new(late(client.clone()));
    let (maps, secrets) = (factory.informer::<ConfigMap>(), factory.informer::<Secret>());
    let writes = OwnWrites::new();
    let queue = WorkQueue::new();
    let of_maps = enqueue(&maps, writes.track(&maps), &queue, Notification::key);
    let of_secrets = enqueue(&secrets, writes.track(&secrets), &queue, |change| {
        let owner = change.object().and_then(|secret| secret.labels().get("of"));
        ObjectKey::new(Some("default"), owner.expect("a secret of ours"))
    });
    factory.start();
    factory.wait_for_sync(Duration::from_secs(60)).await.unwrap();
    let program = Program {
        client: writes.client(client.clone()),
        writes,
        maps: maps.lister(),
        secrets: secrets.lister(),
        reconciles: Arc::default(),
    };
    let reconciles = program.reconciles.clone();
    let workers = Workers::new(queue.clone(), 1024);
    let stats = workers.stats();
    let began = Instant::now();
    let working = tokio::spawn(workers.run(move |key: ObjectKey| program.clone().run(key)));

    let done = async |count: usize| {
        while reconciles.load(Ordering::Relaxed) < count {
            sleep(Duration::from_millis(10)).await;
        }
        settle(&client, (&maps, &secrets), [&of_maps, &of_secrets], &queue).await;
        assert_eq!(
            reconciles.load(Ordering::Relaxed),
            count,
            "each was for something"
        );
        assert_eq!(stats.failed() + stats.panicked(), 0);
        let held: Api<Secret> = Api::namespaced(client.clone(), "default");
        let mut by_parent: HashMap<String, usize> = HashMap::new();
        for secret in held.list(&ListParams::default()).await.unwrap() {
            *by_parent.entry(secret.labels()["of"].clone()).or_default() += 1;
        }
        by_parent
    };

    // Each child and the end.
    let expected = parents * (CHILDREN + 1);
    let by_parent = done(expected).await;
    eprintln!("{expected} reconciles in {:?}", began.elapsed());
    assert_eq!(by_parent.len(), parents);
    assert!(
        by_parent.values().all(|count| *count == CHILDREN),
        "{by_parent:?}"
    );

    // Somebody else deletes a child: that is told, replaced, and found good.
    let held: Api<Secret> = Api::namespaced(client.clone(), "default");
    let first = held.list(&ListParams::default()).await.unwrap().items.remove(0);
    held.delete(&first.name_any(), &DeleteParams::default())
        .await
        .unwrap();
    let by_parent = done(expected + 2).await;
    assert!(
        by_parent.values().all(|count| *count == CHILDREN),
        "{by_parent:?}"
    );

    // Somebody wants less: each deletion is seen before the next one, and wakes nobody up.
    server.store().update(map(0, 1)).unwrap();
    let by_parent = done(expected + 2 + CHILDREN).await;
    assert_eq!(by_parent["map-0"], 1);

    queue.shut_down();
    working.await.unwrap();
    factory.shutdown().await.unwrap();
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_reads_its_own_writes_by_itself() {
    let parents = 50;
    let server = SimServer::builder().start().await.unwrap();
    let client = Client::try_from(kube::Config::new(server.url().parse().unwrap())).unwrap();
    for number in 0..parents {
        let map = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": format!("map-{number}"), "namespace": "default"},
            "data": {"secrets": CHILDREN.to_string()},
        });
        server.store().create(map).unwrap();
    }
    let factory = SharedInformerFactory::new(late(client.clone()));
    let (maps, secrets) = (factory.informer::<ConfigMap>(), factory.informer::<Secret>());
    let writes = OwnWrites::new();
    let program = Program {
        client: writes.client(client.clone()),
        writes: writes.clone(),
        maps: maps.lister(),
        secrets: secrets.lister(),
        reconciles: Arc::default(),
    };
    let reconciles = program.reconciles.clone();
    let owner_of = |secret: &Arc<Secret>| {
        let owner = secret.labels().get("of");
        owner.map(|owner| ObjectKey::new(Some("default"), owner))
    };
    let reconcile = |map: Arc<ConfigMap>, program: Arc<Program>| async move {
        program.reconciles.fetch_add(1, Ordering::Relaxed);
        let key = ObjectKey::of(&*map);
        Ok::<_, kube::Error>(match program.reconcile(&key).await? {
            Requeue::After(pause) => controller::Action::requeue(pause),
            Requeue::No => controller::Action::await_change(),
        })
    };
    let stop = CancellationToken::new();
    let results = Controller::for_informer(&maps)
        .source(Source::mapped(&secrets, owner_of))
        .read_your_writes(&writes)
        .graceful_shutdown_on(stop.clone().cancelled_owned())
        .run(
            reconcile,
            |_, _, _| controller::Action::backoff(),
            Arc::new(program),
        );
    factory.start();
    let running = tokio::spawn(results.for_each(async |result| drop(result.unwrap())));
    let expected = parents * (CHILDREN + 1);
    while reconciles.load(Ordering::Relaxed) < expected {
        sleep(Duration::from_millis(10)).await;
    }
    // Whatever the last writes lead to has come by then.
    sleep(LAG * 3).await;
    assert_eq!(reconciles.load(Ordering::Relaxed), expected);
    let held: Api<Secret> = Api::namespaced(client, "default");
    let held = held.list(&ListParams::default()).await.unwrap();
    assert_eq!(held.items.len(), parents * CHILDREN);
    stop.cancel();
    running.await.unwrap();
    factory.shutdown().await.unwrap();
    server.shutdown().await;
}
