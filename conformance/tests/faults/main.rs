//! Faults on a real API server: whatever goes wrong, informers are told histories that can have been, end equal to the
//! server, and do not storm it.
//!
//! Writers put on record what the server answered; informers watch through a proxy that cuts, breaks off in the middle
//! of a frame, falls silent, refuses, and is slow; the API server is killed and started again, which ends its watch
//! history, or suspended; etcd is away for 20 seconds, and compacted every 20 seconds; the token is revoked for a while
//! (a webhook that the server asks says so), and rights are withdrawn.
//!
//! `FAULTS_SECONDS` says how long (60), `FAULTS_SEED` what happens (random, and printed).

mod disturb;
mod follower;
mod history;
mod proxy;
mod record;
mod webhook;
mod writers;

use instances as _;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use conformance::program::Program;
use conformance::real_server::{RealServer, User};
use disturb::{Disturber, Fault, USER};
use follower::{Errors, Followed};
use history::{Change, Flaw, KnownObjects, Log, Told};
use k8s_openapi::api::core::v1::ConfigMap;
use kube_informer::form::Packed;
use kube_informer::reflector::{Backoff, InitialState, ReflectorOptions};
use proxy::{Door, Proxy};
use record::{Record, State};
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::Instant;
use webhook::Webhook;
use writers::{PREFIX, Writers};

/// How long all may take to find the server again once the faults are over; a pause is a minute at most.
const RECOVERY: Duration = Duration::from_secs(90);
/// How long after the last write all must know it.
const END: Duration = Duration::from_secs(5);

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is no number")))
}

/// The user that informers are; only the webhook knows its token.
fn user() -> User {
    User {
        token: USER.into(),
        ..User::new(USER)
    }
}

/// A server with writers, a proxy before it, and a user whose token and rights can be withdrawn.
struct Scene {
    seed: u64,
    time: Duration,
    server: RealServer,
    webhook: Webhook,
    proxy: Proxy,
    record: Arc<Record>,
    admin: kube::Client,
    /// Has the file that the server reads at each start.
    _folder: tempfile::TempDir,
}

impl Scene {
    #[allow(clippy::print_stdout)]
    async fn set() -> Self {
        let seed = number("FAULTS_SEED").unwrap_or_else(rand::random);
        let time = Duration::from_secs(number("FAULTS_SECONDS").unwrap_or(60));
        println!("FAULTS_SEED={seed}");
        let folder = tempfile::tempdir().unwrap();
        let webhook = Webhook::knows(USER).await.unwrap();
        webhook.write(&folder.path().join("webhook")).unwrap();
        let server = RealServer::builder()
            .flag("--etcd-compaction-interval=20s")
            .flag(&format!(
                "--authentication-token-webhook-config-file={}",
                folder.path().join("webhook").display()
            ))
            .flag("--authentication-token-webhook-version=v1")
            .flag("--authentication-token-webhook-cache-ttl=1s")
            .start()
            .await
            .unwrap();
        server.allow(USER, "", "configmaps").await.unwrap();
        let upstream = server.url().trim_start_matches("https://").parse().unwrap();
        let mut config = server.config(&User::admin()).await.unwrap();
        // A write that is sent twice would be on record once.
        config.default_retry = false;
        Self {
            seed,
            time,
            proxy: Proxy::to(upstream),
            webhook,
            record: Arc::default(),
            admin: kube::Client::try_from(config).unwrap(),
            server,
            _folder: folder,
        }
    }

    /// The configuration of a client behind the proxy.
    async fn behind(&mut self) -> (kube::Config, Door) {
        let door = self.proxy.door().await.unwrap();
        let mut config = self.server.config(&user()).await.unwrap();
        config.cluster_url = format!("https://{}", door.address).parse().unwrap();
        (config, door)
    }

    /// Writes the kubeconfig of a client behind the proxy.
    fn write_kubeconfig(&self, path: &Path, door: &Door) {
        let mut kubeconfig = serde_json::to_value(self.server.kubeconfig_of(&user())).unwrap();
        kubeconfig["clusters"][0]["cluster"]["server"] = format!("https://{}", door.address).into();
        std::fs::write(path, kubeconfig.to_string()).unwrap();
    }

    /// The writers' objects, as the server lists them.
    async fn state(&self) -> (KnownObjects, u64) {
        let list: Value = self
            .server
            .request("GET", "/api/v1/configmaps", None)
            .await
            .unwrap();
        let number = |metadata: &Value| metadata["resourceVersion"].as_str().unwrap().parse().unwrap();
        let mut state = KnownObjects::new();
        for item in list["items"].as_array().unwrap() {
            let metadata = &item["metadata"];
            let (namespace, name) = (&metadata["namespace"], &metadata["name"]);
            let (namespace, name) = (namespace.as_str().unwrap(), name.as_str().unwrap());
            if name.starts_with(PREFIX) {
                let uid = metadata["uid"].as_str().unwrap().to_owned();
                state.insert(format!("{namespace}/{name}"), (uid, number(metadata)));
            }
        }
        (state, number(&list["metadata"]))
    }

    /// Disturbs everybody while the writers write; returns when all handlers know the end, and how often what happened.
    ///
    /// # Panics
    /// They do not, in time.
    async fn play(&self, logs: &[(String, Log)], informers: Vec<Errors>) -> BTreeMap<Fault, u32> {
        let writers = Writers::start(&self.admin, &self.record, self.seed);
        let user = self.server.client(&user()).await.unwrap();
        let (server, proxy, webhook) = (&self.server, &self.proxy, &self.webhook);
        let disturber = Disturber::new(server, proxy, webhook, user, informers, self.seed);
        let faults = disturber.disturb(self.time).await.unwrap();
        self.server.ready().await.unwrap();

        let (_, after_all) = self.state().await;
        let recovered = |log: &Log| {
            let newest = log.told().iter().map(|told| told.state.version).max();
            newest >= Some(after_all)
        };
        let deadline = Instant::now() + RECOVERY;
        while let Some((name, log)) = logs.iter().find(|(_, log)| !recovered(log)) {
            let last = log.told().pop();
            assert!(
                Instant::now() < deadline,
                "{name} does not recover; told last: {last:?}"
            );
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        tokio::time::sleep(Duration::from_secs(3)).await;
        let last_write = writers.stop().await;
        let (state, _) = self.state().await;
        while let Some((name, log)) = logs.iter().find(|(_, log)| history::known(&log.told()) != state) {
            assert!(
                last_write.elapsed() < END,
                "{name} knows {:#?}\nthe server has {state:#?}",
                history::known(&log.told())
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        faults
    }
}

/// Checks that requests never come in a rush: at most four, further pages aside, follow each other without a pause.
fn calm(name: &str, requests: &[(Instant, String)]) {
    let starts: Vec<_> = requests
        .iter()
        .filter(|(_, text)| !text.contains("continue="))
        .collect();
    let rush = starts
        .windows(5)
        .find(|window| window[4].0 - window[0].0 < Duration::from_millis(800));
    assert!(rush.is_none(), "{name} sent a rush of requests: {rush:#?}");
}

/// A program behind the proxy: what it says it is told.
async fn listen_to(mut program: Program, log: Log) {
    while let Some(line) = program.next().await.unwrap() {
        let change = match line.event.as_str() {
            "add" => Change::Add,
            "update" => Change::Update(line.old_resource_version.parse().unwrap()),
            "delete" => Change::Delete,
            _ => continue,
        };
        let text = |pointer| {
            line.object
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let state = State {
            uid: text("/metadata/uid").to_owned(),
            version: line.resource_version.parse().unwrap(),
            write: text("/data/write").parse().unwrap_or_default(),
        };
        log.push(Told {
            key: line.key,
            change,
            state,
        });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a real API server and client-go: conformance/run"]
#[allow(clippy::print_stdout)]
async fn client_go_beside_us() {
    let mut scene = Scene::set().await;
    let folder = tempfile::tempdir().unwrap();
    let mut programs = JoinSet::new();
    let mut logs = vec![];
    for name in ["client-go", "kubectl informer"] {
        let door = scene.proxy.door().await.unwrap();
        let kubeconfig = folder.path().join(name);
        scene.write_kubeconfig(&kubeconfig, &door);
        let file = kubeconfig.to_str().unwrap();
        let program = match name {
            "client-go" => Program::oracle(&["--kubeconfig", file, "--show-object"]),
            _ => Program::command_line(&[
                "watch",
                "configmaps",
                "--all-namespaces",
                "--output=json",
                "--show-object",
                "--kubeconfig",
                file,
            ]),
        };
        let mut program = program.unwrap();
        while program.next().await.unwrap().expect("it runs").event != "synced" {}
        let log = Log::default();
        programs.spawn(listen_to(program, log.clone()));
        logs.push((name.to_owned(), log, door));
    }
    let played: Vec<_> = logs
        .iter()
        .map(|(name, log, _)| (name.clone(), log.clone()))
        .collect();
    let faults = scene.play(&played, vec![]).await;
    println!("faults: {faults:?}");
    for (name, log, door) in &logs {
        let told = log.told();
        let mut flaws: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (flaw, what) in history::flaws(&told, &scene.record) {
            flaws.entry(flaw).or_default().push(what);
        }
        let counts: Vec<_> = flaws
            .iter()
            .map(|(flaw, what)| format!("{flaw:?}: {}", what.len()))
            .collect();
        println!(
            "{name}: {} notifications, {} connections; {}",
            told.len(),
            door.connections(),
            counts.join(", ")
        );
        // What client-go does and we do not.
        if name == "client-go" {
            flaws.retain(|flaw, _| *flaw == Flaw::Wrong);
        }
        assert!(flaws.is_empty(), "{name}: {flaws:#?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a real API server: conformance/run"]
#[allow(clippy::print_stdout)]
async fn informers_survive_all_faults() {
    let mut scene = Scene::set().await;
    // Short pauses make for many attempts.
    let options = |initial| ReflectorOptions {
        backoff: Backoff {
            cap: Duration::from_secs(2),
            ..Backoff::default()
        },
        initial,
        ..ReflectorOptions::default()
    };
    let (typed, typed_door) = scene.behind().await;
    let (packed, packed_door) = scene.behind().await;
    let typed = Followed::start::<ConfigMap>("typed", typed, options(InitialState::Auto), 4096);
    let packed = Followed::start::<Packed<ConfigMap>>("packed", packed, options(InitialState::List), 3);
    let logs: Vec<_> = typed.logs.iter().chain(&packed.logs).cloned().collect();
    let errors = vec![typed.errors.clone(), packed.errors.clone()];
    let faults = scene.play(&logs, errors).await;
    let [done, refused, unknown] = scene.record.counts();
    println!("faults: {faults:?}\nwrites: {done} done, {refused} refused, {unknown} unknown");

    let (state, _) = scene.state().await;
    let mut flawed = vec![];
    for (name, log) in &logs {
        let told = log.told();
        println!("{name}: {} notifications", told.len());
        flawed.extend(
            history::flaws(&told, &scene.record)
                .into_iter()
                .map(|flaw| (name, flaw)),
        );
    }
    assert!(flawed.is_empty(), "{flawed:#?}");
    for (followed, door) in [(typed, typed_door), (packed, packed_door)] {
        let (name, requests) = (followed.name, followed.requests());
        assert_eq!(followed.store(), state, "{name}");
        calm(name, &requests);
        let connections = door.connections();
        let errors = &followed.errors;
        println!(
            "{name}: {} requests, {connections} connections, {errors:?}",
            requests.len()
        );
        assert!(
            connections <= requests.len(),
            "{name}: {connections} connections for {} requests",
            requests.len()
        );
        followed.stop().await;
    }
}
