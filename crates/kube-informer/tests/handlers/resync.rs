//! Resync periods.

use super::*;

/// The notifications of a handler that does not ask for more than its name.
fn counter(informer: &SharedInformer<ConfigMap>, options: HandlerOptions) -> Arc<Mutex<usize>> {
    let count = Arc::new(Mutex::new(0));
    let counted = count.clone();
    informer
        .add_handler(options, move |_: Change| *counted.lock().unwrap() += 1)
        .unwrap()
        .detach();
    count
}

#[tokio::test(start_paused = true)]
async fn resyncs_are_rounded_and_raised() {
    let script = Script::new([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let (informer, runner) = SharedInformer::builder(script)
        .resync(Duration::from_secs(2))
        .build();
    let by_default = counter(&informer, "default".into());
    let never = counter(&informer, HandlerOptions::named("never").resync(Duration::ZERO));
    let often = counter(
        &informer,
        HandlerOptions::named("often").resync(Duration::from_millis(100)),
    );
    tokio::spawn(runner.run(CancellationToken::new()));
    tokio::time::sleep(MOMENT).await;
    let late = counter(
        &informer,
        HandlerOptions::named("late").resync(Duration::from_millis(500)),
    );
    tokio::time::sleep(Duration::from_millis(2600)).await;
    let counts = [&by_default, &never, &often, &late].map(|count| *count.lock().unwrap());
    // Two initial adds each, then: one resync after 2 s; none; two, because 100 ms were raised to a second; for the
    // late one the time counts from when it came, so it is due at the second look.
    assert_eq!(counts, [4, 2, 6, 4]);
}

#[tokio::test(start_paused = true)]
async fn a_handler_gets_its_resync_where_the_informer_has_none() {
    let (informer, _stop, _running) = start([
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let every = |seconds| HandlerOptions::named("h").resync(Duration::from_secs(seconds));
    let early = counter(&informer, every(30));
    tokio::time::sleep(MOMENT).await;
    // The informer runs already.
    let late = counter(&informer, every(10));
    let (without, rare) = (counter(&informer, "h".into()), counter(&informer, every(3600)));
    tokio::time::sleep(Duration::from_secs(101)).await;
    let counts = [&early, &late, &without, &rare].map(|count| *count.lock().unwrap());
    // One add each, then what is due: looked for every 10 s.
    assert_eq!(counts, [1 + 3, 1 + 10, 1, 1]);
}

#[tokio::test(start_paused = true)]
async fn the_longest_resync_period_is_never() {
    let script = Script::new([
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let (informer, runner) = SharedInformer::builder(script)
        .resync(Duration::MAX)
        .stop_timeout(Duration::MAX)
        .build();
    let early = counter(&informer, HandlerOptions::named("early").resync(Duration::MAX));
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    informer.synced().await.unwrap();
    let often = HandlerOptions::named("often").resync(Duration::from_secs(1));
    let (late, often) = (counter(&informer, "late".into()), counter(&informer, often));
    let wait = informer
        .store()
        .wait_until(&"10".into())
        .timeout(Duration::MAX)
        .await;
    assert_eq!(wait, Ok(()));
    tokio::time::sleep(Duration::from_secs(100 * 86_400)).await;
    assert_eq!([early, late, often].map(|count| *count.lock().unwrap()), [1; 3]);
    stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_unchanged_relist_does_not_delay_a_resync() {
    let relists = (0..5).flat_map(|_| {
        [
            (
                "WATCH 10",
                Watch(vec![
                    After(Duration::from_secs(3)),
                    Status(kube_informer::source::ApiStatus::from_code(410, "")),
                ]),
            ),
            ("LIST 10 all", List(10, vec![("a", 1)])),
        ]
    });
    let script = Script::new(
        [("LIST any 500", List(10, vec![("a", 1)]))]
            .into_iter()
            .chain(relists),
    );
    let (informer, runner) = SharedInformer::builder(script)
        .resync(Duration::from_secs(10))
        .build();
    let without = counter(&informer, HandlerOptions::named("without").resync(Duration::ZERO));
    let with = counter(&informer, "with".into());
    tokio::spawn(runner.run(CancellationToken::new()));
    tokio::time::sleep(Duration::from_millis(9_900)).await;
    let before = *with.lock().unwrap();
    assert!(before >= 2, "an add and at least one relist: {before}");
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(*with.lock().unwrap() > before, "relists do not restart the timer");
    assert_eq!(*without.lock().unwrap(), 1);
}
