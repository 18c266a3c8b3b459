//! Who may write a Lease, and when.

use super::*;

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
    cluster.create(&held_by(""));
    let (labels, notes) = (json!({"app": "web"}), json!({"note": "hands off"}));
    cluster.change(|lease| {
        lease["metadata"]["labels"] = labels.clone();
        lease["metadata"]["annotations"] = notes.clone();
        // Written while its feature gate was on.
        lease["spec"]["strategy"] = "Future".into();
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
