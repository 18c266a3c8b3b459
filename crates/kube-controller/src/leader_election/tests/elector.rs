//! What becomes of the work while a Lease is held, lost and given back.

use super::*;

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
async fn lost_work_ends_before_a_fast_clock_lets_the_lease_run_out() {
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
    // By a clock that is a tenth slow, while the rival's is a tenth fast.
    assert!(started.elapsed() > seconds(12));
    assert!(started.elapsed().mul_f64(1.1 / 0.9) < seconds(15));
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
