//! Replicas over HTTP: one works at a time, and a handover is as fast as its rules allow.

use jiff::Timestamp;
use kube_controller::leader_election::{LeaderElectionConfig, LeaderElector, Leadership};
use kube_sim::SimServer;
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
