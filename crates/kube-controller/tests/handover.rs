//! Replicas over HTTP: one works at a time, and a handover is as fast as its rules allow.
//!
//! `MAPS=100000 cargo test --release -p kube-controller --test handover -- --nocapture standby` says how soon a standby of many objects
//! reconciles.

use instances as _;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ConfigMap;
use kube_controller::controller::{Action, Controller};
use kube_controller::leader_election::{LeaderElectionConfig, LeaderElector, Leadership};
use kube_controller::manager::Manager;
use kube_informer::form::Packed;
use kube_sim::SimServer;
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A replica that works until its shutdown.
struct Replica {
    shutdown: CancellationToken,
    task: JoinHandle<Option<()>>,
}

fn start(
    url: &str,
    replica: usize,
    working: Arc<AtomicUsize>,
    began: mpsc::UnboundedSender<(usize, Timestamp)>,
) -> Replica {
    let client = kube::Client::try_from(kube::Config::new(url.parse().unwrap())).unwrap();
    let config = LeaderElectionConfig {
        // Long enough for a machine that is busy with other tests.
        lease_duration: Duration::from_secs(60),
        renew_deadline: Duration::from_secs(40),
        retry_period: Duration::from_millis(100),
        ..LeaderElectionConfig::new("default", "handover", format!("replica-{replica}"))
    };
    let mut elector = LeaderElector::new(client, config).unwrap();
    let shutdown = CancellationToken::new();
    let task = tokio::spawn({
        let shutdown = shutdown.clone();
        async move {
            let work = async move |leadership: Leadership| {
                began.send((replica, Timestamp::now())).unwrap();
                assert_eq!(working.fetch_add(1, Ordering::SeqCst), 0, "two work");
                leadership.cancelled().await;
                working.fetch_sub(1, Ordering::SeqCst);
            };
            elector.run(shutdown, work).await.unwrap()
        }
    });
    Replica { shutdown, task }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[allow(clippy::print_stderr)] // the times, for `--nocapture`
async fn replicas_hand_over_and_one_works_at_a_time() {
    let server = SimServer::builder().start().await.unwrap();
    let working = Arc::new(AtomicUsize::new(0));
    let (sender, mut begun) = mpsc::unbounded_channel();
    let mut replicas: Vec<_> = (0..6)
        .map(|replica| Some(start(&server.url(), replica, working.clone(), sender.clone())))
        .collect();
    let mut released: Option<Timestamp> = None;
    for transitions in 0..6 {
        let (replica, began) = begun.recv().await.unwrap();
        let lease = server
            .store()
            .get("coordination.k8s.io/v1", "Lease", Some("default"), "handover")
            .unwrap();
        let spec = &lease["spec"];
        assert_eq!(spec["holderIdentity"], format!("replica-{replica}"));
        // A release counts no transition, the takeover after it does.
        assert_eq!(spec["leaseTransitions"], transitions);
        let sent: Timestamp = spec["acquireTime"].as_str().unwrap().parse().unwrap();
        eprintln!(
            "{:?} from the release to the work; {:?} of them from the takeover's request",
            released.map(|released| began.duration_since(released)),
            began.duration_since(sent)
        );
        let leader = replicas[replica].take().unwrap();
        leader.shutdown.cancel();
        assert_eq!(leader.task.await.unwrap(), Some(()));
        released = Some(Timestamp::now());
    }
    server.shutdown().await;
}

/// What exists when a standby is elected; `MAPS=100000` makes it more.
fn maps() -> usize {
    let given = std::env::var("MAPS").ok();
    given.map_or(500, |text| text.parse().expect("a number"))
}

// Its informer has synced and its queue is full before: it has only to take the first key.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[allow(clippy::print_stderr)] // the times, for `--nocapture`
async fn a_standby_reconciles_as_soon_as_it_is_elected() {
    let server = SimServer::builder().start().await.unwrap();
    for number in 0..maps() {
        let metadata = json!({"namespace": "default", "name": format!("map-{number}")});
        let data = json!({"text": "x".repeat(500)});
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data});
        server.store().create(map).unwrap();
    }
    let (sender, mut begun) = mpsc::unbounded_channel();
    let leader = start(&server.url(), 0, Arc::default(), sender.clone());
    begun.recv().await.unwrap();

    let client = kube::Client::try_from(kube::Config::new(server.url().parse().unwrap())).unwrap();
    let election = LeaderElectionConfig {
        lease_duration: Duration::from_secs(60),
        renew_deadline: Duration::from_secs(40),
        retry_period: Duration::from_millis(100),
        ..LeaderElectionConfig::new("default", "handover", "standby")
    };
    let manager = Manager::new(client, "standby").leader_election(election).unwrap();
    let informer = manager.factory().informer::<Packed<ConfigMap>>();
    let reconcile = move |_: Arc<ConfigMap>, _: Arc<()>| {
        let told = sender.send((1, Timestamp::now()));
        async move { Ok::<_, Infallible>(told.map(|()| Action::await_change()).unwrap()) }
    };
    let controller = Controller::for_informer(&informer);
    manager
        .add_controller(controller, reconcile, |_, error, _| match *error {}, Arc::new(()))
        .unwrap();
    let shutdown = CancellationToken::new();
    let running = tokio::spawn(manager.run_until(shutdown.clone()));
    // Everything is held, and the handler has put it on the queue.
    informer.synced().await.unwrap();
    while informer.handlers().iter().any(|(_, waiting)| *waiting > 0)
        || informer.handlers().is_empty()
        || informer.store().len() < maps()
    {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(begun.try_recv().is_err(), "another one leads");

    leader.shutdown.cancel();
    let (_, first) = begun.recv().await.unwrap();
    let elected = || {
        let lease = server
            .store()
            .get("coordination.k8s.io/v1", "Lease", Some("default"), "handover");
        let sent: Timestamp = lease.unwrap()["spec"]["acquireTime"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        sent
    };
    let sent = elected();
    let mut last = first;
    for _ in 1..maps() {
        (_, last) = begun.recv().await.unwrap();
    }
    eprintln!(
        "the first of {} reconciles {:?} after the request that won the election, the last {:?} after it",
        maps(),
        first.duration_since(sent),
        last.duration_since(sent)
    );
    leader.task.await.unwrap();
    shutdown.cancel();
    running.await.unwrap().unwrap();
    server.shutdown().await;
}
