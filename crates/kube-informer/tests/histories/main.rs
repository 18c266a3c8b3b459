//! Random histories of a few objects, told by a server with random faults: the cache always ends equal to the server,
//! and each handler is told a legal history.
//!
//! Half of the servers have protobuf, and may be replaced by ones without it. Half of the histories are of several namespaces, each with its own list and watch, which are added and removed at
//! random.
//!
//! A few hundred histories run with the other tests. `HISTORIES=100000 cargo test --release -p kube-informer --test
//! histories` runs more. A failure names its seed; `HISTORY=seed` runs that one alone, `HISTORIES` times, since the
//! informer's own timeouts are random (the default is 100).

mod model;

use instances as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::ApiResource;
use kube_informer::reflector::{Backoff, InitialState, ReflectorOptions};
use kube_informer::source::{ClientSource, Selection};
use kube_informer::{
    CachedObject as _, DeleteCause, Delivery, HandlerOptions, NamespaceSet, ResourceEventHandler,
    SharedInformer,
};
use model::{Object, Server, State};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long things may take once the server behaves: a watch that is silent from before ends after ten and a half
/// minutes, and a pause is a minute at most.
const PATIENCE: Duration = Duration::from_secs(1500);

/// What a handler was told so far.
#[derive(Default)]
struct Told {
    known: State,
    log: Vec<String>,
    wrong: Vec<String>,
}

/// The namespaces that were taken out at some time.
type Removed = Arc<Mutex<BTreeSet<String>>>;

/// A handler that checks what it is told.
struct Follower {
    server: Server,
    removed: Removed,
    told: Arc<Mutex<Told>>,
    /// How long each call takes, in milliseconds, at the most.
    delay: u64,
    rng: StdRng,
}

fn read(object: &ConfigMap) -> (String, Object) {
    let number = |text: Option<&String>| text.unwrap().parse().unwrap();
    let read = Object {
        uid: number(object.metadata.uid.as_ref()),
        version: number(object.metadata.resource_version.as_ref()),
        value: number(object.data.as_ref().unwrap().get("value")),
    };
    (ConfigMap::key_of(&Arc::new(object.clone())).to_string(), read)
}

impl Follower {
    fn new(server: &Server, removed: &Removed, seed: u64, delay: u64) -> (Arc<Mutex<Told>>, Self) {
        let told = Arc::<Mutex<Told>>::default();
        let (server, rng) = (server.clone(), StdRng::seed_from_u64(seed));
        (
            told.clone(),
            Self {
                server,
                removed: removed.clone(),
                told,
                delay,
                rng,
            },
        )
    }

    async fn call(&mut self, what: String, change: impl FnOnce(&mut State, &Server) -> Result<(), String>) {
        {
            let mut told = self.told.lock().unwrap();
            let result = change(&mut told.known, &self.server);
            if let Err(wrong) = result {
                told.wrong.push(format!("{wrong}: {what}"));
            }
            told.log.push(what);
        }
        if self.delay > 0 {
            let delay = self.rng.random_range(0..self.delay);
            tokio::time::sleep(Duration::from_millis(delay)).await;
        }
    }
}

fn check(condition: bool, message: &str) -> Result<(), String> {
    if condition {
        Ok(())
    } else {
        Err(message.to_owned())
    }
}

impl ResourceEventHandler<ConfigMap> for Follower {
    async fn on_add(&mut self, object: Arc<ConfigMap>, initial: bool) {
        let (key, object) = read(&object);
        let what = format!("add {key} {object:?} {initial}");
        self.call(what, |known, server| {
            check(server.had(&key, &object), "the server never had that")?;
            let held = known.insert(key, object);
            check(held.is_none(), "it was there already")
        })
        .await;
    }

    async fn on_update(&mut self, old: Arc<ConfigMap>, new: Arc<ConfigMap>) {
        let ((_, old), (key, new)) = (read(&old), read(&new));
        let what = format!("update {key} {old:?} {new:?}");
        self.call(what, |known, server| {
            let held = known.insert(key.clone(), new.clone());
            check(server.had(&key, &new), "the server never had that")?;
            check(held.as_ref() == Some(&old), "that is not what was told before")?;
            check(old.uid == new.uid, "that is another object")?;
            check(
                !Server::comparable(old.version, new.version) || old.version < new.version,
                "that is older",
            )
        })
        .await;
    }

    async fn on_delete(&mut self, deleted: kube_informer::Deleted<Arc<ConfigMap>>) {
        let last = deleted.last_known.as_ref().map(|object| read(object).1);
        let what = format!("delete {} {last:?} {:?}", deleted.key, deleted.cause);
        if deleted.cause == DeleteCause::Unselected {
            let namespace = deleted.key.namespace().unwrap();
            if !self.removed.lock().unwrap().contains(namespace) {
                let wrong = format!("nobody took its namespace out: {what}");
                self.told.lock().unwrap().wrong.push(wrong);
            }
        }
        self.call(what, |known, _| {
            let held = known.remove(deleted.key.as_str());
            check(held.is_some(), "it was not there")?;
            check(
                held.map(|held| held.uid) == last.map(|last| last.uid),
                "that is another object",
            )
        })
        .await;
    }
}

/// Runs a history, and returns how many requests there were and how many answers in protobuf.
///
/// # Errors
/// What is wrong.
async fn history(seed: u64) -> Result<(usize, usize), String> {
    let several = seed % 2 == 1;
    let mut rng = StdRng::seed_from_u64(!seed);
    let faults = [0.02, 0.1, 0.3][rng.random_range(0..3)];
    let initial = [InitialState::Auto, InitialState::List, InitialState::WatchList][rng.random_range(0..3)];
    let streams = initial == InitialState::WatchList || rng.random_bool(0.7);
    let server = Server::new(seed, faults, streams);
    let client = kube::Client::new(server.clone(), "default");
    let source = ClientSource::new(client, ApiResource::erase::<ConfigMap>(&()), Selection::default());
    let options = ReflectorOptions {
        initial,
        backoff: Backoff {
            jitter: f64::from(rng.random_range(0..2)),
            ..Backoff::default()
        },
        ..ReflectorOptions::default()
    };
    let namespaces = several.then(|| NamespaceSet::new(NAMESPACES.iter().copied().filter(|_| rng.random())));
    let builder = match &namespaces {
        None => SharedInformer::<ConfigMap>::builder(source),
        Some(namespaces) => SharedInformer::over_namespaces(source, namespaces),
    };
    let (informer, runner) = builder
        .reflector_options(options)
        .queue_capacity([1, 3, 4096][rng.random_range(0..3)])
        .build();
    let mut followers = vec![];
    let removed = Removed::default();
    let mut follow = |name: &str, delay, capacity| {
        let (told, follower) = Follower::new(&server, &removed, seed, delay);
        let options = HandlerOptions::named(name).delivery(Delivery::Coalesced { capacity });
        informer.add_handler(options, follower).unwrap().detach();
        followers.push((name.to_owned(), told));
    };
    follow("first", 0, 1024);
    follow("slow", 30_000, rng.random_range(0..4));
    let before = rng.random_range(0..5);
    (0..before).for_each(|_| server.write());
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));

    let acts = rng.random_range(3..40);
    let late = rng.random_range(0..acts);
    for act in 0..acts {
        let pause = match rng.random_range(0..10) {
            0..4 => 0,
            4..6 => rng.random_range(1..1000),
            6..9 => rng.random_range(1000..30_000),
            _ => rng.random_range(30_000..700_000),
        };
        if pause > 0 {
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        if act == late {
            follow("late", rng.random_range(0..2) * 5000, 2);
        }
        if let Some(namespaces) = namespaces.as_ref().filter(|_| rng.random_bool(0.3)) {
            toggle(namespaces, NAMESPACES[rng.random_range(0..3)], &removed);
        }
        server.act();
    }
    server.behave();
    let truth = || match &namespaces {
        None => server.state(None),
        Some(set) => set
            .names()
            .iter()
            .flat_map(|name| server.state(Some(name)))
            .collect(),
    };
    settles(&informer, &server, &truth, &followers).await?;
    for _ in 0..3 {
        server.write();
        tokio::time::sleep(Duration::from_millis(rng.random_range(0..2000))).await;
    }
    settles(&informer, &server, &truth, &followers).await?;
    for (name, told) in &followers {
        let told = told.lock().unwrap();
        if !told.wrong.is_empty() {
            return Err(format!(
                "{name} was told wrong: {:#?}\nof {:#?}",
                told.wrong, told.log
            ));
        }
    }
    let requests = server.requests();
    if several {
        // A namespace that is added again starts afresh.
        // One that is empty may not have been listed yet.
        let synced = tokio::time::timeout(Duration::from_secs(120), informer.synced()).await;
        check(synced.is_ok_and(|synced| synced.is_ok()), "it does not sync")?;
    } else {
        calm(&requests)?;
    }
    stop.cancel();
    running
        .await
        .map_err(|error| error.to_string())?
        .map_err(|error| error.to_string())?;
    Ok((requests.len(), server.protobuf_answers()))
}

type Followers = Vec<(String, Arc<Mutex<Told>>)>;

const NAMESPACES: [&str; 3] = ["x", "y", "z"];

/// Adds a namespace, or removes it if it is there.
fn toggle(namespaces: &NamespaceSet, name: &str, removed: &Removed) {
    if namespaces.add(name) {
        return;
    }
    removed.lock().unwrap().insert(name.to_owned());
    namespaces.remove(name);
}

/// Waits until the cache is what the server has, and all handlers know it.
async fn settles(
    informer: &SharedInformer<ConfigMap>,
    server: &Server,
    truth: &impl Fn() -> State,
    followers: &Followers,
) -> Result<(), String> {
    let deadline = Instant::now() + PATIENCE;
    let state = truth();
    loop {
        let held: State = informer
            .store()
            .list()
            .iter()
            .map(|object| read(object))
            .collect();
        let behind = followers
            .iter()
            .find(|(_, told)| told.lock().unwrap().known != state);
        if held == state && behind.is_none() && informer.store().stale_keys().is_empty() {
            return Ok(());
        }
        if Instant::now() > deadline {
            let told: BTreeMap<_, _> = followers
                .iter()
                .map(|(name, told)| (name, told.lock().unwrap().log.clone()))
                .collect();
            return Err(format!(
                "the server has {state:#?}\nthe cache has {held:#?}\n{:?} is behind\nstale: {:?}\nstatus: {:?}\ntold: {told:#?}\n\
                 requests: {:#?}",
                behind.map(|(name, _)| name),
                informer.store().stale_keys(),
                informer.status(),
                server.requests(),
            ));
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
}

/// Checks that requests never come in a rush: at most four, further pages aside, follow each other without a pause.
fn calm(requests: &[(Instant, String)]) -> Result<(), String> {
    let starts: Vec<_> = requests
        .iter()
        .filter(|(_, text)| !text.contains("continue="))
        .collect();
    match starts
        .windows(5)
        .find(|window| window[4].0 - window[0].0 < Duration::from_millis(500))
    {
        Some(rush) => Err(format!("a rush of requests: {rush:#?}")),
        None => Ok(()),
    }
}

fn run(seed: u64) -> Result<(usize, usize), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(history(seed))
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{variable} is no number")))
}

#[test]
fn caches_end_equal_and_handlers_are_told_legal_histories() {
    let only = number("HISTORY");
    let count = number("HISTORIES").unwrap_or(if only.is_some() { 100 } else { 300 });
    let (next, requests, protobuf) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let failures = Mutex::new(vec![]);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while failures.lock().unwrap().len() < 3 {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    let seed = only.unwrap_or(number);
                    let result = std::panic::catch_unwind(|| run(seed));
                    match result.unwrap_or_else(|_| Err("it panicked, see above".into())) {
                        Ok((sent, in_protobuf)) => {
                            requests.fetch_add(sent as u64, Ordering::Relaxed);
                            protobuf.fetch_add(in_protobuf as u64, Ordering::Relaxed);
                        }
                        Err(wrong) => failures.lock().unwrap().push(format!("HISTORY={seed}: {wrong}")),
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(requests.into_inner() > 3 * count, "hardly any requests");
    let protobuf = protobuf.into_inner();
    assert!(
        only.is_some() || protobuf > count,
        "hardly any protobuf: {protobuf}"
    );
}
