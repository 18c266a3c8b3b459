//! Two replicas that crash, lose their connection and take over from each other, before a server that fails: in the end the
//! world is as it should be, and no object was ever reconciled by two at once.
//!
//! `SOAK_SECONDS=1800 cargo test -p kube-controller --test soak -- --nocapture` does it for longer.

use http::{Request, Response};
use http_body_util::{BodyExt as _, StreamBody};
use instances as _;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::client::Body;
use kube::{Client, ResourceExt as _};
use kube_controller::controller::{Action, Config, Controller};
use kube_controller::controllerutil::set_controller_reference;
use kube_controller::leader_election::LeaderElectionConfig;
use kube_controller::manager::Manager;
use kube_informer::form::Packed;
use kube_informer::selector::LabelSelector;
use kube_informer::{Lister, ObjectKey};
use kube_sim::SimServer;
use kube_sim::faults::{ANY, Fault, GET, LIST, PATCH, POST, WATCH};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

const PARENTS: usize = 40;
const CHILDREN: usize = 4;

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// What is noted while the replicas run.
#[derive(Default)]
struct Notes {
    /// Who reconciles which object now.
    in_work: Mutex<HashMap<ObjectKey, String>>,
    twice: AtomicU64,
    reconciles: AtomicU64,
    crashes: AtomicU64,
    stops: AtomicU64,
    partitions: AtomicU64,
    lost: AtomicU64,
    faults: AtomicU64,
}

/// An object is in work while this lives.
struct InWork<'a>(&'a Notes, ObjectKey);

impl<'a> InWork<'a> {
    fn new(notes: &'a Notes, key: ObjectKey, who: &str) -> Self {
        notes.reconciles.fetch_add(1, Ordering::Relaxed);
        let other = notes.in_work.lock().unwrap().insert(key.clone(), who.to_owned());
        if other.is_some() {
            notes.twice.fetch_add(1, Ordering::Relaxed);
        }
        Self(notes, key)
    }
}

impl Drop for InWork<'_> {
    fn drop(&mut self) {
        self.0.in_work.lock().unwrap().remove(&self.1);
    }
}

/// A client whose requests and watches hang while it is not connected.
fn gated(client: Client, connected: Arc<AtomicBool>) -> Client {
    async fn gate(connected: &AtomicBool) {
        while !connected.load(Ordering::SeqCst) {
            sleep(millis(20)).await;
        }
    }
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, connected) = (client.clone(), connected.clone());
        async move {
            gate(&connected).await;
            let response = client.send(request).await?;
            gate(&connected).await;
            let body = |body: Body| {
                let frames = futures::stream::unfold(body, move |mut body: Body| {
                    let connected = connected.clone();
                    async move {
                        let frame = body.frame().await?;
                        gate(&connected).await;
                        Some((frame, body))
                    }
                });
                StreamBody::new(Box::pin(frames))
            };
            Ok::<Response<_>, kube::Error>(response.map(body))
        }
    });
    Client::new(service, "default")
}

/// Keeps as many secrets for each config map as it says, with the value that it says.
struct Program {
    who: String,
    notes: Arc<Notes>,
    client: Client,
    secrets: Lister<Packed<Secret>>,
}

async fn reconcile(map: Arc<ConfigMap>, program: Arc<Program>) -> Result<Action, kube::Error> {
    let _in_work = InWork::new(&program.notes, ObjectKey::of(&*map), &program.who);
    let wanted = map.data.clone().unwrap_or_default();
    let (count, value): (usize, _) = (wanted["children"].parse().unwrap(), &wanted["value"]);
    let secrets: Api<Secret> = Api::namespaced(program.client.clone(), "default");
    let selector = LabelSelector::parse(&format!("of={}", map.name_any())).unwrap();
    let held = program.secrets.namespace("default").select(&selector);
    let mut held: BTreeMap<String, Arc<Secret>> = held
        .iter()
        .filter_map(|secret| Some((secret.key().name().to_owned(), secret.decode().ok()?)))
        .collect();
    for number in 0..count {
        let name = format!("{}-{number}", map.name_any());
        match held.remove(&name) {
            None => {
                let mut secret = Secret::default();
                secret.metadata.name = Some(name);
                secret.metadata.namespace = map.namespace();
                secret.labels_mut().insert("of".into(), map.name_any());
                secret.annotations_mut().insert("value".into(), value.clone());
                set_controller_reference(&*map, &mut secret).expect("of one namespace");
                secrets.create(&PostParams::default(), &secret).await?;
            }
            Some(secret) if secret.annotations().get("value") != Some(value) => {
                let patch = json!({"metadata": {
                    "annotations": {"value": value}, "resourceVersion": secret.resource_version(),
                }});
                let patch = Patch::Merge(patch);
                secrets.patch(&name, &PatchParams::default(), &patch).await?;
            }
            Some(_) => {}
        }
    }
    for name in held.keys() {
        secrets.delete(name, &DeleteParams::default()).await?;
    }
    Ok(Action::await_change())
}

/// Runs one replica after the other, until it is over, each until it crashes, is stopped or cut off. The last one is stopped.
async fn replicas(number: u64, url: String, notes: Arc<Notes>, over: CancellationToken) {
    let mut rng = StdRng::seed_from_u64(number);
    for generation in 0.. {
        let who = format!("{number}-{generation}");
        let connected = Arc::new(AtomicBool::new(true));
        let client = Client::try_from(kube::Config::new(url.parse().unwrap())).unwrap();
        let client = gated(client, connected.clone());
        let election = LeaderElectionConfig {
            lease_duration: millis(6000),
            renew_deadline: millis(3000),
            retry_period: millis(200),
            ..LeaderElectionConfig::new("default", "soak", &*who)
        };
        let manager = Manager::new(client.clone(), "soak")
            .leader_election(election)
            .unwrap();
        let factory = manager.factory();
        let maps = factory.informer::<Packed<ConfigMap>>();
        let secrets = factory.informer::<Packed<Secret>>();
        let controller = Controller::for_informer(&maps)
            .named("soak")
            .owns_informer(&secrets)
            .with_config(Config::default().backoff(millis(5), millis(500)).concurrency(8));
        let program = Program {
            who,
            notes: notes.clone(),
            client,
            secrets: secrets.lister(),
        };
        let policy = |_, _: &kube::Error, _| Action::backoff();
        manager
            .add_controller(controller, reconcile, policy, Arc::new(program))
            .unwrap();
        let shutdown = CancellationToken::new();
        let mut running = Box::pin(manager.run_until(shutdown.clone()));
        let life = millis(rng.random_range(1000..15_000));
        let ended = tokio::select! {
            ended = &mut running => Some(ended),
            () = sleep(life) => None,
            () = over.cancelled() => {
                shutdown.cancel();
                running.await.unwrap();
                return;
            }
        };
        if let Some(ended) = ended {
            ended.expect_err("it lost the lease");
            notes.lost.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        match rng.random_range(0..3) {
            0 => {
                notes.crashes.fetch_add(1, Ordering::Relaxed);
                drop(running);
            }
            1 => {
                notes.stops.fetch_add(1, Ordering::Relaxed);
                shutdown.cancel();
                // It may have lost the lease meanwhile.
                _ = running.await;
            }
            _ => {
                notes.partitions.fetch_add(1, Ordering::Relaxed);
                connected.store(false, Ordering::SeqCst);
                if let Ok(Err(_)) = timeout(millis(10_000), &mut running).await {
                    notes.lost.fetch_add(1, Ordering::Relaxed);
                    continue;
                }
                // A standby has nothing to lose.
                connected.store(true, Ordering::SeqCst);
                shutdown.cancel();
                _ = running.await;
            }
        }
        sleep(millis(rng.random_range(0..2000))).await;
    }
}

/// What can go wrong with the server, one after the other.
async fn faults(server: &SimServer, notes: &Notes, rng: &mut StdRng) {
    let faults = server.faults();
    let pause = millis(rng.random_range(50..1500));
    let fault: Option<Fault> = match rng.random_range(0..10) {
        0 => Some(faults.refuse(ANY, "*", 500).probability(0.3).start()),
        1 => Some(
            faults
                .refuse(ANY, "*", 429)
                .probability(0.5)
                .retry_after(1)
                .start(),
        ),
        2 => Some(
            faults
                .refuse(PATCH | POST, "secrets", 409)
                .probability(0.5)
                .start(),
        ),
        3 => Some(faults.cut(ANY, "*").probability(0.3).applied().start()),
        4 => Some(faults.delay(GET | LIST | POST | PATCH, "*", millis(300)).start()),
        5 => Some(faults.hold_watches_of("secrets").start()),
        6 => Some(faults.truncate(LIST | WATCH, "*").probability(0.5).start()),
        7 => {
            faults.cut_watches_of("*");
            None
        }
        8 => {
            faults.compact();
            None
        }
        _ => {
            faults.restart();
            None
        }
    };
    notes.faults.fetch_add(1, Ordering::Relaxed);
    sleep(pause).await;
    if let Some(fault) = fault {
        fault.remove();
    }
}

/// What somebody changes.
fn change(server: &SimServer, rng: &mut StdRng, number: u64) {
    let store = server.store();
    let name = format!("map-{}", rng.random_range(0..PARENTS));
    if rng.random_range(0..10) == 0 {
        _ = store.delete("v1", "ConfigMap", Some("default"), &name);
        return;
    }
    let map = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"},
        "data": {"children": rng.random_range(0..=CHILDREN).to_string(), "value": number.to_string()},
    });
    match store.get("v1", "ConfigMap", Some("default"), &name) {
        Ok(_) => store.update(map).unwrap(),
        Err(_) => store.create(map).unwrap(),
    };
}

/// The children and their values: as they are, and as they should be.
fn worlds(server: &SimServer) -> [BTreeMap<String, String>; 2] {
    let list = |kind: &str| server.store().list("v1", kind, Some("default")).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let is = list("Secret").into_iter().map(|secret| {
        let metadata = &secret["metadata"];
        (text(&metadata["name"]), text(&metadata["annotations"]["value"]))
    });
    let mut should = BTreeMap::new();
    for map in list("ConfigMap") {
        let name = text(&map["metadata"]["name"]);
        if name.starts_with("map-") {
            let children: usize = text(&map["data"]["children"]).parse().unwrap();
            let value = text(&map["data"]["value"]);
            should.extend((0..children).map(|number| (format!("{name}-{number}"), value.clone())));
        }
    }
    [is.collect(), should]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[allow(clippy::print_stderr)] // what has happened, for `--nocapture`
async fn replicas_that_crash_end_equal_and_never_work_twice() {
    let seconds = std::env::var("SOAK_SECONDS")
        .ok()
        .and_then(|text| text.parse().ok());
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(10));
    let server = SimServer::builder()
        .bookmark_interval(millis(500))
        .start()
        .await
        .unwrap();
    let (notes, over) = (Arc::new(Notes::default()), CancellationToken::new());
    let running: Vec<_> = (0..2)
        .map(|number| tokio::spawn(replicas(number, server.url(), notes.clone(), over.clone())))
        .collect();
    let mut rng = StdRng::seed_from_u64(7);
    let mut changes = 0;
    while Instant::now() < end {
        let mut changing = tokio::time::interval(millis(10));
        let mut failing = std::pin::pin!(faults(&server, &notes, &mut rng));
        let mut others = StdRng::seed_from_u64(changes);
        loop {
            tokio::select! {
                () = &mut failing => break,
                _ = changing.tick() => {
                    changes += 1;
                    change(&server, &mut others, changes);
                }
            }
        }
    }
    server.faults().clear();
    // Replicas go on to come and go, so how long it takes says little.
    let settled = timeout(Duration::from_secs(3600), async {
        loop {
            let [is, should] = worlds(&server);
            if is == should {
                return;
            }
            sleep(millis(50)).await;
        }
    });
    let settled = settled.await;
    let lease = server
        .store()
        .get("coordination.k8s.io/v1", "Lease", Some("default"), "soak");
    eprintln!(
        "{} reconciles, {changes} changes, {} faults, {} crashes, {} stops, {} partitions, {} leases lost, {} transitions, {} twice",
        notes.reconciles.load(Ordering::Relaxed),
        notes.faults.load(Ordering::Relaxed),
        notes.crashes.load(Ordering::Relaxed),
        notes.stops.load(Ordering::Relaxed),
        notes.partitions.load(Ordering::Relaxed),
        notes.lost.load(Ordering::Relaxed),
        lease
            .map(|lease| lease["spec"]["leaseTransitions"].clone())
            .unwrap_or_default(),
        notes.twice.load(Ordering::Relaxed),
    );
    assert_eq!(
        notes.twice.load(Ordering::Relaxed),
        0,
        "an object was reconciled by two at once"
    );
    assert!(settled.is_ok(), "{:?}", worlds(&server));
    over.cancel();
    for replica in running {
        replica.await.unwrap();
    }
    assert!(notes.reconciles.load(Ordering::Relaxed) > 0);
    server.shutdown().await;
}
