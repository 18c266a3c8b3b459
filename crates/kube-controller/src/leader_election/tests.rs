//! The rules of client-go's election, one by one. The numbers are those of the catalogue of its own tests.

use super::candidate::Try;
use super::clock::{Clock, SystemClock};
use super::config::{ConfigError, LeaderElectionConfig, unique_identity};
use super::elector::{LeaderElectionError, LeaderElector};
use super::leadership::Leadership;
use super::lock::{LeaseLock, LockError};
use super::testing::{Answer, Cluster, Fate, config, seconds};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::Method;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

const LONG_AGO: &str = "2001-01-01T00:00:00.000000Z";
const LATER: &str = "2101-01-01T00:00:00.000000Z";

fn held_by(holder: &str) -> Value {
    json!({
        "holderIdentity": holder, "leaseDurationSeconds": 15, "leaseTransitions": 3,
        "acquireTime": LONG_AGO, "renewTime": LONG_AGO,
    })
}

fn renew(cluster: &Cluster, time: &str) {
    cluster.change(|lease| lease["spec"]["renewTime"] = time.into());
}

fn is_held(attempt: Result<Try, LockError>) -> bool {
    matches!(attempt, Ok(Try::Held(_)))
}

async fn until_cancelled(leadership: Leadership) {
    leadership.cancelled().await;
}

/// Runs the elector with work that lasts until it is cancelled, and waits until it has begun.
async fn leading(
    mut elector: LeaderElector,
) -> (
    Leadership,
    CancellationToken,
    tokio::task::JoinHandle<Result<Option<()>, LeaderElectionError>>,
) {
    let shutdown = CancellationToken::new();
    let (began, begun) = oneshot::channel();
    let task = tokio::spawn({
        let shutdown = shutdown.clone();
        async move {
            let work = |leadership: Leadership| async move {
                began.send(leadership.clone()).unwrap();
                leadership.cancelled().await;
            };
            elector.run(shutdown, work).await
        }
    });
    (begun.await.expect("it leads"), shutdown, task)
}

// 100
#[tokio::test(start_paused = true)]
async fn an_absent_lease_is_created() {
    let cluster = Cluster::new();
    let (mut a, status) = cluster.candidate("a");
    assert!(is_held(a.try_acquire().await));
    let spec = cluster.spec();
    assert_eq!(spec["holderIdentity"], "a");
    assert_eq!(spec["leaseDurationSeconds"], 15);
    assert_eq!(spec["leaseTransitions"], 0);
    assert_eq!(spec["acquireTime"], spec["renewTime"]);
    let time = spec["renewTime"].as_str().unwrap();
    assert_eq!(time.len(), "2001-01-01T00:00:00.000000Z".len(), "{time}");
    assert_eq!(status.leader().borrow().as_deref(), Some("a"));
}

// 100
#[tokio::test(start_paused = true)]
async fn a_lease_without_a_holder_is_taken() {
    for spec in [Value::Null, json!({}), held_by("")] {
        let cluster = Cluster::new();
        cluster.create(&spec);
        let (mut a, _) = cluster.candidate("a");
        assert!(is_held(a.try_acquire().await), "{spec}");
        assert_eq!(cluster.spec()["holderIdentity"], "a");
        let before = spec["leaseTransitions"].as_i64().unwrap_or(0);
        assert_eq!(cluster.spec()["leaseTransitions"], before + 1);
    }
}

// 100
#[tokio::test(start_paused = true)]
async fn a_create_that_comes_second_is_a_lost_try() {
    let cluster = Cluster::new();
    let ((mut a, _), (mut b, _)) = (cluster.candidate("a"), cluster.candidate("b"));
    let (a, b) = tokio::join!(a.try_acquire(), b.try_acquire());
    assert!(is_held(a) != is_held(b));
}

// 101, 102
#[tokio::test(start_paused = true)]
async fn a_lease_is_taken_when_it_was_unchanged_for_its_time() {
    let cluster = Cluster::new();
    cluster.create(&held_by("b"));
    let (mut a, status) = cluster.candidate("a");
    // However old its times are: the local clock has to see 15 seconds go by.
    assert!(matches!(a.try_acquire().await, Ok(Try::Rival)));
    assert_eq!(status.leader().borrow().as_deref(), Some("b"));
    sleep(Duration::from_millis(14_990)).await;
    assert!(matches!(a.try_acquire().await, Ok(Try::Rival)));
    sleep(Duration::from_millis(11)).await;
    assert!(is_held(a.try_acquire().await));
    let spec = cluster.spec();
    assert_eq!(spec["leaseTransitions"], 4);
    assert_ne!(spec["acquireTime"], LONG_AGO);
    assert_eq!(status.leader().borrow().as_deref(), Some("a"));
}

// 103
#[tokio::test(start_paused = true)]
async fn a_lease_that_is_renewed_is_not_taken() {
    let cluster = Cluster::new();
    cluster.create(&held_by("b"));
    let (mut a, _) = cluster.candidate("a");
    for second in 0..30 {
        // Forwards or backwards: what counts is that it has changed.
        renew(&cluster, [LONG_AGO, LATER][second % 2]);
        assert!(matches!(a.try_acquire().await, Ok(Try::Rival)));
        sleep(seconds(14)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_changed_label_renews_nothing() {
    let cluster = Cluster::new();
    cluster.create(&held_by("b"));
    let (mut a, _) = cluster.candidate("a");
    assert!(!is_held(a.try_acquire().await));
    sleep(seconds(10)).await;
    cluster.change(|lease| lease["metadata"]["labels"] = json!({"a": "b"}));
    assert!(!is_held(a.try_acquire().await));
    sleep(seconds(5)).await;
    assert!(is_held(a.try_acquire().await));
}

#[tokio::test(start_paused = true)]
async fn fields_of_others_are_kept() {
    let cluster = Cluster::new();
    let mut spec = held_by("");
    spec["strategy"] = "Future".into();
    cluster.create(&spec);
    let (labels, notes) = (json!({"app": "web"}), json!({"note": "hands off"}));
    cluster.change(|lease| {
        lease["metadata"]["labels"] = labels.clone();
        lease["metadata"]["annotations"] = notes.clone();
    });
    let (mut a, _) = cluster.candidate("a");
    assert!(is_held(a.try_acquire().await));
    cluster.change(|lease| lease["metadata"]["labels"]["app"] = "new".into());
    assert!(is_held(a.try_renew().await));
    a.release().await;
    let lease = cluster.lease();
    assert_eq!(lease["metadata"]["labels"]["app"], "new");
    assert_eq!(lease["metadata"]["annotations"], notes);
    assert_eq!(lease["spec"]["strategy"], "Future");
}

// 104
#[tokio::test(start_paused = true)]
async fn an_own_lease_is_renewed_and_keeps_its_acquire_time() {
    let cluster = Cluster::new();
    cluster.create(&held_by("a"));
    let (mut a, _) = cluster.candidate("a");
    for _ in 0..2 {
        assert!(is_held(a.try_acquire().await));
        let spec = cluster.spec();
        assert_eq!(spec["acquireTime"], LONG_AGO);
        assert_eq!(spec["leaseTransitions"], 3);
        assert_ne!(spec["renewTime"], LONG_AGO);
    }
}

// 106
#[tokio::test(start_paused = true)]
async fn a_released_lease_has_no_holder() {
    let cluster = Cluster::new();
    cluster.create(&held_by(""));
    let (mut a, status) = cluster.candidate("a");
    assert!(is_held(a.try_acquire().await));
    cluster.asked();
    a.release().await;
    assert_eq!(cluster.asked(), "GET PUT");
    let spec = cluster.spec();
    assert_eq!(spec["holderIdentity"], "");
    assert_eq!(spec["leaseDurationSeconds"], 1);
    assert_eq!(spec["leaseTransitions"], 4);
    assert_eq!(spec["acquireTime"], spec["renewTime"]);
    assert_eq!(status.leader().borrow().as_deref(), None);
    assert_eq!(status.check(Duration::ZERO), Ok(()));
    // There is nothing to release any more.
    a.release().await;
    assert_eq!(cluster.asked(), "");
    let (mut b, _) = cluster.candidate("b");
    assert!(is_held(b.try_acquire().await));
    assert_eq!(cluster.spec()["leaseTransitions"], 5);
}

// 106
#[tokio::test(start_paused = true)]
async fn a_lease_of_somebody_else_is_not_released() {
    let cluster = Cluster::new();
    let (mut a, _) = cluster.candidate("a");
    assert!(is_held(a.try_acquire().await));
    cluster.change(|lease| lease["spec"]["holderIdentity"] = "b".into());
    a.release().await;
    assert_eq!(cluster.spec()["holderIdentity"], "b");
}

// 107
#[tokio::test(start_paused = true)]
async fn a_release_is_tried_again_after_a_conflict() {
    let cluster = Cluster::new();
    let (mut a, _) = cluster.candidate("a");
    assert!(is_held(a.try_acquire().await));
    let mut refused = 0;
    cluster.requests(move |method| {
        refused += usize::from(method == Method::PUT);
        match (method, refused) {
            (&Method::PUT, 1) => Fate {
                arrives: false,
                answer: Answer::Status(409),
                ..Fate::OK
            },
            _ => Fate::OK,
        }
    });
    cluster.asked();
    a.release().await;
    assert_eq!(cluster.asked(), "GET PUT GET PUT");
    assert_eq!(cluster.spec()["holderIdentity"], "");
}

// 107
#[tokio::test(start_paused = true)]
async fn a_lease_is_released_when_the_shutdown_meets_a_request() {
    for met in [Method::GET, Method::POST, Method::PUT] {
        let cluster = Cluster::new();
        if met != Method::POST {
            cluster.create(&held_by("a"));
        }
        let slow = met.clone();
        cluster.requests(move |method| Fate {
            back: if *method == slow {
                seconds(1)
            } else {
                Duration::ZERO
            },
            ..Fate::OK
        });
        let shutdown = CancellationToken::new();
        let mut elector = cluster.elector("a");
        let run = elector.run(shutdown.clone(), until_cancelled);
        let cancel = async {
            sleep(Duration::from_millis(500)).await;
            cluster.requests(|_| Fate::OK);
            shutdown.cancel();
        };
        assert_eq!(tokio::join!(run, cancel).0, Ok(None), "{met}");
        // Nothing was written before the answer to the GET; it is not known then that the Lease is ours.
        let holder = if met == Method::GET { "a" } else { "" };
        assert_eq!(cluster.spec()["holderIdentity"], holder, "{met}");
    }
}

// 107
#[tokio::test(start_paused = true)]
async fn a_release_has_a_deadline_of_its_own() {
    let cluster = Cluster::new();
    let (_, shutdown, task) = leading(cluster.elector("a")).await;
    cluster.requests(|_| Fate::SILENCE);
    sleep(seconds(5)).await;
    let started = Instant::now();
    shutdown.cancel();
    assert_eq!(task.await.unwrap(), Ok(Some(())));
    assert!(started.elapsed() >= seconds(10), "{:?}", started.elapsed());
    assert!(started.elapsed() < seconds(11), "{:?}", started.elapsed());
    assert_eq!(cluster.spec()["holderIdentity"], "a");
}

// 108
#[tokio::test(start_paused = true)]
async fn a_leader_renews_without_reading() {
    let cluster = Cluster::new();
    let (_, shutdown, task) = leading(cluster.elector("a")).await;
    sleep(Duration::from_millis(4_500)).await;
    assert_eq!(cluster.asked(), "GET POST PUT PUT");
    shutdown.cancel();
    task.await.unwrap().unwrap();
    assert_eq!(cluster.asked(), "GET PUT");
}

// 109
#[tokio::test(start_paused = true)]
async fn a_leader_reads_after_a_conflict() {
    let cluster = Cluster::new();
    let (mut a, _) = cluster.candidate("a");
    assert!(is_held(a.try_acquire().await));
    cluster.change(|lease| lease["metadata"]["labels"] = json!({"a": "b"}));
    cluster.asked();
    assert!(is_held(a.try_renew().await));
    assert!(is_held(a.try_renew().await));
    assert_eq!(cluster.asked(), "PUT GET PUT PUT");
    assert_eq!(cluster.lease()["metadata"]["labels"]["a"], "b");
}

// 110
#[test]
fn bad_configurations_are_refused() {
    let base = || config("a");
    let (zero, max) = (Duration::ZERO, Duration::MAX);
    let short = Err(ConfigError::LeaseTooShort);
    let cases = [
        (base(), Ok(())),
        (config(""), Err(ConfigError::Empty { field: "identity" })),
        (
            LeaderElectionConfig {
                name: String::new(),
                ..base()
            },
            Err(ConfigError::Empty { field: "name" }),
        ),
        (
            LeaderElectionConfig {
                namespace: String::new(),
                ..base()
            },
            Err(ConfigError::Empty { field: "namespace" }),
        ),
        (
            LeaderElectionConfig {
                lease_duration: zero,
                ..base()
            },
            Err(ConfigError::Zero {
                field: "lease_duration",
            }),
        ),
        (
            LeaderElectionConfig {
                renew_deadline: zero,
                ..base()
            },
            Err(ConfigError::Zero {
                field: "renew_deadline",
            }),
        ),
        (
            LeaderElectionConfig {
                retry_period: zero,
                ..base()
            },
            Err(ConfigError::Zero {
                field: "retry_period",
            }),
        ),
        (
            LeaderElectionConfig {
                renew_deadline: seconds(15),
                ..base()
            },
            short,
        ),
        // The Lease says 10 seconds.
        (
            LeaderElectionConfig {
                lease_duration: Duration::from_millis(10_900),
                ..base()
            },
            short,
        ),
        (
            LeaderElectionConfig {
                renew_deadline: max,
                ..base()
            },
            short,
        ),
        (
            LeaderElectionConfig {
                lease_duration: max,
                renew_deadline: max,
                ..base()
            },
            short,
        ),
        (
            LeaderElectionConfig {
                lease_duration: max,
                ..base()
            },
            Ok(()),
        ),
        (
            LeaderElectionConfig {
                retry_period: max,
                ..base()
            },
            Err(ConfigError::DeadlineTooShort),
        ),
        (
            LeaderElectionConfig {
                renew_deadline: Duration::from_millis(2_400),
                ..base()
            },
            Err(ConfigError::DeadlineTooShort),
        ),
        (
            LeaderElectionConfig {
                renew_deadline: Duration::from_millis(2_401),
                ..base()
            },
            Ok(()),
        ),
    ];
    for (config, expected) in cases {
        assert_eq!(config.validate(), expected, "{config:?}");
    }
}

// 110
#[tokio::test(start_paused = true)]
async fn the_longest_durations_do_no_harm() {
    let cluster = Cluster::new();
    let config = LeaderElectionConfig {
        lease_duration: Duration::MAX,
        renew_deadline: seconds(1 << 30),
        retry_period: seconds(1 << 29),
        graceful_shutdown_timeout: Duration::MAX,
        ..config("a")
    };
    let (_, shutdown, task) = leading(LeaderElector::new(cluster.client(), config).unwrap()).await;
    assert_eq!(cluster.spec()["leaseDurationSeconds"], i32::MAX);
    shutdown.cancel();
    assert_eq!(task.await.unwrap(), Ok(Some(())));
}

// 111
#[tokio::test(start_paused = true)]
async fn a_stale_own_lease_is_unhealthy() {
    let cluster = Cluster::new();
    let (mut a, a_status) = cluster.candidate("a");
    let (mut b, b_status) = cluster.candidate("b");
    assert_eq!(a_status.check(Duration::ZERO), Ok(()));
    assert!(is_held(a.try_acquire().await));
    assert!(!is_held(b.try_acquire().await));
    sleep(seconds(20)).await;
    assert_eq!(a_status.check(seconds(5)), Ok(()));
    assert_eq!(a_status.check(Duration::MAX), Ok(()));
    sleep(Duration::from_millis(1)).await;
    let stale = a_status.check(seconds(5)).unwrap_err();
    assert!(stale.age > seconds(20));
    assert_eq!(b_status.check(Duration::ZERO), Ok(()));
    assert!(is_held(a.try_renew().await));
    assert_eq!(a_status.check(Duration::ZERO), Ok(()));
}

// 111
#[tokio::test(start_paused = true)]
async fn a_lease_that_is_gone_is_not_stale() {
    let cluster = Cluster::new();
    let (mut a, status) = cluster.candidate("a");
    assert!(is_held(a.try_acquire().await));
    cluster.delete();
    a.release().await;
    sleep(seconds(100)).await;
    assert_eq!(status.check(Duration::ZERO), Ok(()));
    assert_eq!(*status.leader().borrow(), None);
}

#[tokio::test(start_paused = true)]
async fn odd_numbers_and_times_do_no_harm() {
    let cases = [
        (json!(-5), 15),
        (json!(0), 15),
        (Value::Null, 15),
        (json!("soon"), 15),
        (json!(1.5), 15),
        (json!(3), 3),
        (json!(i32::MAX), i32::MAX.unsigned_abs().into()),
        (json!(u64::MAX), 60 * 60 * 24 * 365 * 100),
    ];
    for (duration, waits) in cases {
        let cluster = Cluster::new();
        cluster.create(&json!({
            "holderIdentity": "b", "leaseDurationSeconds": duration, "leaseTransitions": i32::MAX,
            "acquireTime": "yesterday", "renewTime": 12,
        }));
        let (mut a, _) = cluster.candidate("a");
        assert!(!is_held(a.try_acquire().await), "{duration}");
        tokio::time::advance(seconds(waits) - Duration::from_millis(1)).await;
        assert!(!is_held(a.try_acquire().await), "{duration}");
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(is_held(a.try_acquire().await), "{duration}");
        assert_eq!(cluster.spec()["leaseTransitions"], i32::MAX);
    }
    let cluster = Cluster::new();
    cluster.create(&json!({"holderIdentity": 7, "leaseTransitions": -3}));
    let (mut a, _) = cluster.candidate("a");
    assert!(is_held(a.try_acquire().await));
    assert_eq!(cluster.spec()["leaseTransitions"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_lease_is_not_taken_before_its_time() {
    let cluster = Cluster::new();
    cluster.create(&held_by("b"));
    let (mut a, _) = cluster.candidate("a");
    assert!(!is_held(a.try_acquire().await));
    cluster.delete();
    sleep(seconds(14)).await;
    assert!(!is_held(a.try_acquire().await));
    sleep(seconds(1)).await;
    assert!(is_held(a.try_acquire().await));
}

#[tokio::test(start_paused = true)]
async fn a_leader_makes_a_deleted_lease_again() {
    let cluster = Cluster::new();
    let (leadership, ..) = leading(cluster.elector("a")).await;
    cluster.delete();
    sleep(seconds(3)).await;
    assert_eq!(cluster.spec()["holderIdentity"], "a");
    assert_eq!(cluster.asked(), "GET POST PUT GET POST");
    assert!(leadership.is_live());
}

#[tokio::test(start_paused = true)]
async fn an_own_record_from_a_backup_is_not_taken_at_once() {
    let cluster = Cluster::new();
    cluster.create(&held_by("b"));
    let (mut a, _) = cluster.candidate("a");
    assert!(!is_held(a.try_acquire().await));
    // The server is restored to a state in which we led; b does not know yet.
    cluster.change(|lease| lease["spec"]["holderIdentity"] = "a".into());
    assert!(!is_held(a.try_acquire().await));
    sleep(seconds(15)).await;
    assert!(is_held(a.try_acquire().await));
}

#[tokio::test(start_paused = true)]
async fn another_holder_ends_the_leadership_at_once() {
    let cluster = Cluster::new();
    let elector = cluster.elector("a");
    let status = elector.status();
    let (leadership, _, task) = leading(elector).await;
    assert!(status.is_leader());
    cluster.change(|lease| lease["spec"]["holderIdentity"] = "b".into());
    leadership.cancelled().await;
    assert!(!status.is_leader());
    assert_eq!(status.leader().borrow().as_deref(), Some("b"));
    let lost = task.await.unwrap().unwrap_err();
    assert_eq!(lost.to_string(), "the leadership of lease default/test was lost");
    assert_eq!(cluster.spec()["holderIdentity"], "b");
}

#[tokio::test(start_paused = true)]
async fn a_leader_keeps_a_lease_whose_holder_was_cleared() {
    let cluster = Cluster::new();
    let (leadership, ..) = leading(cluster.elector("a")).await;
    cluster.change(|lease| lease["spec"] = Value::Null);
    sleep(seconds(3)).await;
    assert_eq!(cluster.spec()["holderIdentity"], "a");
    assert!(leadership.is_live());
}

#[tokio::test(start_paused = true)]
async fn a_write_without_a_condition_is_not_sent() {
    let cluster = Cluster::new();
    let (mut a, _) = cluster.candidate("a");
    assert!(is_held(a.try_acquire().await));
    let (clock, timeout) = (Arc::new(SystemClock), seconds(1));
    let lock = LeaseLock::new(cluster.client(), "default", "test", clock, timeout);
    let lease = lock.get().await.unwrap().unwrap();
    cluster.asked();
    for missing in [None, Some(String::new()), Some("0".to_owned())] {
        let mut other = lease.clone();
        other.metadata.resource_version = missing;
        assert!(matches!(lock.update(&other).await, Err(LockError::Unconditional)));
    }
    let mut other = lease.clone();
    other.metadata.uid = None;
    assert!(matches!(lock.update(&other).await, Err(LockError::Unconditional)));
    assert_eq!(cluster.asked(), "");
    assert!(lock.update(&lease).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn the_deadline_counts_from_the_request() {
    let cluster = Cluster::new();
    let started = Instant::now();
    cluster.requests(|method| match *method {
        Method::POST => Fate {
            back: seconds(4),
            ..Fate::OK
        },
        Method::PUT => Fate::SILENCE,
        _ => Fate::OK,
    });
    let (leadership, _, task) = leading(cluster.elector("a")).await;
    assert_eq!(started.elapsed(), seconds(4));
    leadership.cancelled().await;
    assert!(started.elapsed() >= seconds(10));
    assert!(started.elapsed() < seconds(10) + Duration::from_millis(10));
    assert!(matches!(
        task.await.unwrap(),
        Err(LeaderElectionError::Lost { .. })
    ));
}

#[tokio::test(start_paused = true)]
async fn a_takeover_that_is_answered_too_late_is_no_leadership() {
    let cluster = Cluster::new();
    let config = LeaderElectionConfig {
        lease_duration: seconds(2),
        renew_deadline: Duration::from_millis(900),
        retry_period: Duration::from_millis(500),
        ..config("a")
    };
    let mut first = true;
    cluster.requests(move |method| Fate {
        back: if *method == Method::POST && std::mem::take(&mut first) {
            Duration::from_millis(950)
        } else {
            Duration::ZERO
        },
        ..Fate::OK
    });
    let (leadership, ..) = leading(LeaderElector::new(cluster.client(), config).unwrap()).await;
    assert_eq!(cluster.asked(), "GET POST GET PUT");
    assert!(leadership.is_live());
}

#[tokio::test(start_paused = true)]
async fn requests_have_a_timeout() {
    let cluster = Cluster::new();
    cluster.requests(|_| Fate::SILENCE);
    let (mut a, _) = cluster.candidate("a");
    let started = Instant::now();
    let error = a.try_acquire().await.unwrap_err();
    assert_eq!(error.to_string(), "the server did not answer within 5s");
    assert_eq!(started.elapsed(), seconds(5));
}

#[tokio::test(start_paused = true)]
async fn failed_renewals_within_the_deadline_do_no_harm() {
    let cluster = Cluster::new();
    let (leadership, ..) = leading(cluster.elector("a")).await;
    let mut count = 0;
    cluster.requests(move |_| {
        count += 1;
        // After a renewal, three tries fail: a PUT and its GET, a GET, and another one.
        match count % 6 {
            0 | 1 => Fate::OK,
            _ => Fate {
                answer: Answer::Status(500),
                ..Fate::OK
            },
        }
    });
    sleep(seconds(300)).await;
    assert!(leadership.is_live());
}

#[tokio::test(start_paused = true)]
async fn candidates_wait_a_period_and_a_random_share() {
    let cluster = Cluster::new();
    cluster.create(&held_by("b"));
    let times = Arc::new(std::sync::Mutex::new(Vec::new()));
    let noted = times.clone();
    cluster.requests(move |_| {
        noted.lock().unwrap().push(Instant::now());
        Fate::OK
    });
    let mut elector = cluster.elector("a");
    let run = elector.run(CancellationToken::new(), until_cancelled);
    let renewing = async {
        for _ in 0..30 {
            sleep(seconds(10)).await;
            renew(&cluster, LATER);
            sleep(seconds(10)).await;
            renew(&cluster, LONG_AGO);
        }
    };
    tokio::select! {
        _ = run => unreachable!(),
        () = renewing => {}
    }
    let times = times.lock().unwrap();
    let pauses: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(
        pauses
            .iter()
            .all(|pause| (2_000..=4_402).contains(&pause.as_millis())),
        "{pauses:?}"
    );
    assert!(pauses.iter().any(|pause| pause.as_millis() < 2_500));
    assert!(pauses.iter().any(|pause| pause.as_millis() > 3_900));
}

#[tokio::test(start_paused = true)]
async fn the_lease_is_renewed_until_the_work_has_ended() {
    let cluster = Cluster::new();
    let shutdown = CancellationToken::new();
    let mut elector = cluster.elector("a");
    let began = CancellationToken::new();
    let run = elector.run(shutdown.clone(), {
        let began = began.clone();
        async move |leadership: Leadership| {
            began.cancel();
            leadership.cancelled().await;
            assert!(!leadership.is_live());
            sleep(seconds(20)).await;
            "done"
        }
    });
    let watch = async {
        began.cancelled().await;
        shutdown.cancel();
        let (mut b, _) = cluster.candidate("b");
        for _ in 0..19 {
            assert!(!is_held(b.try_acquire().await));
            sleep(seconds(1)).await;
        }
    };
    assert_eq!(tokio::join!(run, watch).0, Ok(Some("done")));
    assert_eq!(cluster.spec()["holderIdentity"], "");
}

#[tokio::test(start_paused = true)]
async fn work_that_ends_gives_the_lease_back() {
    let cluster = Cluster::new();
    let mut elector = cluster.elector("a");
    let (kept, mut leaked) = oneshot::channel();
    let work = async move |leadership: Leadership| {
        assert!(leadership.is_live());
        kept.send(leadership).unwrap();
        7
    };
    assert_eq!(elector.run(CancellationToken::new(), work).await, Ok(Some(7)));
    assert_eq!(cluster.spec()["holderIdentity"], "");
    assert!(!leaked.try_recv().unwrap().is_live());
    // It can stand again.
    let again = elector.run(CancellationToken::new(), async |_| 8).await;
    assert_eq!(again, Ok(Some(8)));
    assert_eq!(cluster.spec()["leaseTransitions"], 1);
}

#[tokio::test(start_paused = true)]
async fn work_that_does_not_stop_keeps_the_lease_from_release() {
    let cluster = Cluster::new();
    let shutdown = CancellationToken::new();
    let mut elector = cluster.elector("a");
    let dropped = CancellationToken::new();
    let guard = dropped.clone().drop_guard();
    let work = async move |_| {
        let _guard = guard;
        std::future::pending::<()>().await;
    };
    let started = Instant::now();
    let later = async {
        sleep(seconds(1)).await;
        shutdown.cancel();
    };
    let (result, ()) = tokio::join!(elector.run(shutdown.clone(), work), later);
    let error = result.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the work did not stop in time; lease default/test was not released"
    );
    assert_eq!(started.elapsed(), seconds(31));
    assert_eq!(cluster.spec()["holderIdentity"], "a");
    dropped.cancelled().await;
    // Its task has ended, so it may stand again.
    assert_eq!(
        elector.run(CancellationToken::new(), async |_| ()).await,
        Ok(Some(()))
    );
}

#[tokio::test(start_paused = true)]
async fn lost_work_has_until_the_lease_runs_out() {
    let cluster = Cluster::new();
    let mut elector = cluster.elector("a");
    let started = Instant::now();
    let silent = cluster.clone();
    let result = elector
        .run(CancellationToken::new(), async move |_| {
            silent.requests(|_| Fate::SILENCE);
            std::future::pending::<()>().await;
        })
        .await;
    assert!(matches!(result, Err(LeaderElectionError::WorkNotStopped { .. })));
    assert_eq!(started.elapsed(), seconds(15));
}

#[tokio::test(start_paused = true)]
async fn a_lost_lease_covers_slow_work_if_the_server_returns() {
    let cluster = Cluster::new();
    let mut elector = cluster.elector("a");
    let server = cluster.clone();
    let run = elector.run(CancellationToken::new(), async move |leadership: Leadership| {
        server.requests(|_| Fate::SILENCE);
        leadership.cancelled().await;
        server.requests(|_| Fate::OK);
        sleep(seconds(25)).await;
        assert!(!leadership.is_live());
    });
    let (mut b, _) = cluster.candidate("b");
    let rival = async {
        sleep(seconds(12)).await;
        for _ in 0..22 {
            assert!(!is_held(b.try_acquire().await));
            sleep(seconds(1)).await;
        }
    };
    let (result, ()) = tokio::join!(run, rival);
    assert!(
        matches!(result, Err(LeaderElectionError::Lost { .. })),
        "{result:?}"
    );
    // It was renewed, so it could be released.
    assert_eq!(cluster.spec()["holderIdentity"], "");
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_the_work_is_an_error_and_releases() {
    let cluster = Cluster::new();
    let mut elector = cluster.elector("a");
    let result = elector
        .run(CancellationToken::new(), async |_| panic!("no {}", "luck"))
        .await;
    let result: Result<Option<()>, _> = result;
    assert_eq!(result.unwrap_err().to_string(), "the work panicked: no luck");
    assert_eq!(cluster.spec()["holderIdentity"], "");
}

#[tokio::test(start_paused = true)]
async fn a_dropped_run_ends_its_work() {
    let cluster = Cluster::new();
    let mut elector = cluster.elector("a");
    let status = elector.status();
    let (began, begun) = oneshot::channel();
    let ended = Arc::new(AtomicBool::new(false));
    struct OnDrop(Arc<AtomicBool>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let guard = OnDrop(ended.clone());
    let work = async move |leadership: Leadership| {
        let _guard = guard;
        began.send(leadership).unwrap();
        std::future::pending::<()>().await;
    };
    let leadership = tokio::select! {
        _ = elector.run(CancellationToken::new(), work) => unreachable!(),
        leadership = begun => leadership.unwrap(),
    };
    assert!(!leadership.is_live());
    assert!(!status.is_leader());
    assert_eq!(cluster.spec()["holderIdentity"], "a");
    // The next run waits for the end of the work.
    let seen = ended.clone();
    let next = elector.run(CancellationToken::new(), async move |_| {
        seen.load(Ordering::SeqCst)
    });
    assert_eq!(next.await, Ok(Some(true)));
}

#[tokio::test(start_paused = true)]
async fn work_that_never_began_has_ended() {
    let cluster = Cluster::new();
    let mut elector = cluster.elector("a");
    let status = elector.status();
    // Dropped in the moment in which the work is started, before its first poll.
    tokio::select! {
        biased;
        _ = elector.run(CancellationToken::new(), until_cancelled) => unreachable!(),
        () = std::future::poll_fn(|_| match status.is_leader() {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }) => {}
    }
    let next = elector.run(CancellationToken::new(), async |_| 1);
    assert_eq!(timeout(seconds(60), next).await, Ok(Ok(Some(1))));
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_ends_the_wait_for_the_lease() {
    let cluster = Cluster::new();
    cluster.create(&held_by("b"));
    let shutdown = CancellationToken::new();
    let mut elector = cluster.elector("a");
    let run = elector.run(shutdown.clone(), until_cancelled);
    let later = async {
        sleep(seconds(1)).await;
        shutdown.cancel();
    };
    let started = Instant::now();
    assert_eq!(tokio::join!(run, later).0, Ok(None));
    assert_eq!(started.elapsed(), seconds(1));
    assert_eq!(cluster.spec(), held_by("b"));
    assert_eq!(cluster.asked(), "GET");
}

#[tokio::test(start_paused = true)]
async fn a_standby_takes_over_from_a_release_or_a_crash() {
    let cluster = Cluster::new();
    let (_, shutdown, a) = leading(cluster.elector("a")).await;
    let b = tokio::spawn(leading(cluster.elector("b")));
    sleep(seconds(10)).await;
    shutdown.cancel();
    a.await.unwrap().unwrap();
    let released = Instant::now();
    let (_, _, b) = b.await.unwrap();
    // One pause at most.
    assert!(
        released.elapsed() <= Duration::from_millis(4_402),
        "{:?}",
        released.elapsed()
    );

    let c = tokio::spawn(leading(cluster.elector("c")));
    sleep(seconds(20)).await;
    b.abort();
    let crashed = Instant::now();
    c.await.unwrap();
    assert!(
        crashed.elapsed() <= Duration::from_millis(15_000 + 2 * 4_402),
        "{:?}",
        crashed.elapsed()
    );
    assert!(crashed.elapsed() >= seconds(13));
}

#[tokio::test(start_paused = true)]
async fn every_new_leader_is_reported() {
    let cluster = Cluster::new();
    let (mut a, status) = cluster.candidate("a");
    let mut leader = status.leader();
    assert_eq!(*leader.borrow_and_update(), None);
    for holder in ["b", "c"] {
        cluster.requests(|_| Fate::OK);
        match cluster
            .sim
            .store()
            .list("coordination.k8s.io/v1", "Lease", None)
            .unwrap()
            .len()
        {
            0 => cluster.create(&held_by(holder)),
            _ => cluster.change(|lease| lease["spec"]["holderIdentity"] = holder.into()),
        }
        assert!(!is_held(a.try_acquire().await));
        assert!(leader.has_changed().unwrap());
        assert_eq!(leader.borrow_and_update().as_deref(), Some(holder));
        renew(&cluster, LATER);
        assert!(!is_held(a.try_acquire().await));
        assert!(!leader.has_changed().unwrap());
    }
}

/// A clock whose time of day is set by the test.
#[derive(Debug, Default)]
struct TimeOfDay(AtomicU64);

impl Clock for TimeOfDay {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<'static, ()> {
        tokio::time::sleep_until(deadline).boxed()
    }

    fn wall(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(self.0.load(Ordering::SeqCst).cast_signed())
    }
}

#[tokio::test(start_paused = true)]
async fn a_renewal_shows_even_if_the_time_of_day_stands_still() {
    let cluster = Cluster::new();
    let clock = Arc::new(TimeOfDay::default());
    let (mut a, _) = cluster.candidate_with(config("a"), clock.clone());
    let (mut b, _) = cluster.candidate("b");
    assert!(is_held(a.try_acquire().await));
    for second in [0, 0, 0, 500, 100, 100] {
        clock.0.store(second, Ordering::SeqCst);
        assert!(!is_held(b.try_acquire().await));
        sleep(seconds(14)).await;
        assert!(is_held(a.try_renew().await));
    }
}

#[tokio::test(start_paused = true)]
async fn a_leadership_is_over_when_its_time_is() {
    let cluster = Cluster::new();
    let mut elector = cluster.elector("a");
    let (began, begun) = oneshot::channel();
    let work = async move |leadership: Leadership| {
        began.send(leadership.clone()).unwrap();
        leadership.cancelled().await;
    };
    let mut run = Box::pin(elector.run(CancellationToken::new(), work));
    let leadership = tokio::select! {
        _ = &mut run => unreachable!(),
        leadership = begun => leadership.unwrap(),
    };
    // Nobody polls the elector, as if its thread were stuck.
    sleep(seconds(9)).await;
    assert!(leadership.is_live());
    sleep(seconds(1)).await;
    assert!(!leadership.token().is_cancelled());
    assert!(!leadership.is_live());
    assert!(timeout(seconds(1), run).await.is_ok());
    assert!(leadership.token().is_cancelled());
}

#[test]
fn identities_are_unique() {
    let (a, b) = (unique_identity(), unique_identity());
    assert_ne!(a, b);
    assert!(!a.starts_with(char::is_whitespace) && a.contains('_'));
}

#[tokio::test(start_paused = true)]
async fn a_term_is_told_in_events() {
    let told = Arc::new(std::sync::Mutex::new(Vec::new()));
    let server = kube_sim::script::ScriptedServer::new().otherwise({
        let told = told.clone();
        move |request| {
            let event: Value = serde_json::from_slice(&request.body).unwrap();
            let text = |field: &str| event[field].as_str().unwrap_or_default().to_owned();
            let regarding = event["regarding"]["name"].as_str().unwrap_or_default().to_owned();
            told.lock()
                .unwrap()
                .push((text("reason"), text("note"), regarding));
            kube_sim::script::Answer::json(event.to_string())
        }
    });
    let client = kube::Client::new(server.service(), "default");
    let recorder = crate::events::Recorder::new(client, "tests".into());
    let mut elector = Cluster::new().elector("a").with_recorder(recorder.clone());
    elector.run(CancellationToken::new(), async |_| ()).await.unwrap();
    recorder.shutdown(seconds(1)).await.unwrap();
    let expected = |note: &str| ("LeaderElection".to_owned(), note.to_owned(), "test".to_owned());
    assert_eq!(
        *told.lock().unwrap(),
        [expected("a became leader"), expected("a stopped leading")]
    );
}
