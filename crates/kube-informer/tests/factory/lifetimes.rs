//! How long a factory's informers run.

use super::*;

#[tokio::test(start_paused = true)]
async fn an_unused_informer_stops_after_the_grace_period() {
    let cluster = Cluster::new();
    let factory = cluster.factory().build();
    let configs = factory.informer::<ConfigMap>();
    factory.start();
    factory.wait_for_sync(GRACE).await.unwrap();
    tokio::time::sleep(10 * GRACE).await;
    assert_eq!(cluster.watches(), 1, "it is used");
    drop(configs);
    tokio::time::sleep(GRACE - MOMENT).await;
    assert_eq!(cluster.watches(), 1);
    tokio::time::sleep(2 * MOMENT).await;
    assert_eq!(cluster.watches(), 0);
    assert_eq!(
        format!("{factory:?}"),
        "SharedInformerFactory { informers: [], .. }"
    );

    let requests = cluster.requests();
    let configs = factory.informer::<ConfigMap>();
    configs.synced().await.unwrap();
    assert!(cluster.requests() > requests);
    assert_eq!(configs.store().len(), 2);
    assert!(cluster.is_followed(|| configs.store().len(), "new").await);
    factory.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_request_within_the_grace_period_gets_the_same_informer() {
    let cluster = Cluster::new();
    let factory = cluster.factory().build();
    factory.start();
    let configs = factory.informer::<ConfigMap>();
    configs.synced().await.unwrap();
    let held = configs.store().get("x/a").unwrap();
    drop(configs);
    let requests = cluster.requests();
    for _ in 0..10 {
        tokio::time::sleep(GRACE - MOMENT).await;
        let configs = factory.informer::<ConfigMap>();
        assert!(configs.has_synced());
        assert!(Arc::ptr_eq(&held, &configs.store().get("x/a").unwrap()));
    }
    let lists = cluster.requests.lock().unwrap()[requests..]
        .iter()
        .filter(|uri| !uri.contains("watch=true"))
        .count();
    assert_eq!(lists, 0);
    factory.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn everybody_who_reads_or_is_told_is_a_user() {
    type Use = fn(SharedInformer<ConfigMap>) -> Box<dyn Any>;
    let uses: [(&str, Use); 7] = [
        ("handle", |informer| Box::new(informer.clone())),
        ("lister", |informer| Box::new(informer.lister())),
        ("store", |informer| Box::new(informer.store().clone())),
        ("handler", |informer| {
            Box::new(
                informer
                    .add_handler("h", |_: Notification<ConfigMap>| ())
                    .unwrap(),
            )
        }),
        ("stream", |informer| Box::new(informer.subscribe("s").unwrap())),
        ("own writes", |informer| Box::new(WriteTracker::new(informer))),
        ("own writes of a clone", |informer| {
            Box::new(WriteTracker::new(informer).clone())
        }),
    ];
    let cluster = Cluster::new();
    let factory = cluster.factory().build();
    factory.start();
    for (name, make) in uses {
        let user = make(factory.informer());
        tokio::time::sleep(3 * GRACE).await;
        assert_eq!(cluster.watches(), 1, "{name}");
        drop(user);
        tokio::time::sleep(GRACE + MOMENT).await;
        assert_eq!(cluster.watches(), 0, "{name}");
    }
    let snapshot = factory.informer::<ConfigMap>().store().snapshot();
    tokio::time::sleep(GRACE + MOMENT).await;
    assert_eq!(cluster.watches(), 0, "a snapshot does not change anyway");
    drop(snapshot);

    // A detached handler is one until the end, even if the factory is dropped.
    let told = Arc::new(Mutex::new(0));
    let count = told.clone();
    let handler = move |_: Notification<ConfigMap>| *count.lock().unwrap() += 1;
    factory
        .informer()
        .add_handler("detached", handler)
        .unwrap()
        .detach();
    tokio::time::sleep(3 * GRACE).await;
    let again = factory.clone();
    drop(factory);
    assert!(cluster.is_followed(|| *told.lock().unwrap(), "new").await);
    again.shutdown().await.unwrap();
    assert_eq!(cluster.watches(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_is_still_at_work_is_a_user() {
    let cluster = Cluster::new();
    let factory = cluster.factory().build();
    factory.start();
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    struct Slow(Arc<tokio::sync::Semaphore>);
    impl kube_informer::ResourceEventHandler<ConfigMap> for Slow {
        async fn on_add(&mut self, _: Arc<ConfigMap>, _: bool) {
            self.0.acquire().await.unwrap().forget();
        }
    }
    let registration = factory
        .informer()
        .add_handler("slow", Slow(gate.clone()))
        .unwrap();
    tokio::time::sleep(MOMENT).await;
    let draining = tokio::spawn(registration.drain());
    tokio::time::sleep(3 * GRACE).await;
    assert_eq!(cluster.watches(), 1);
    gate.add_permits(2);
    draining.await.unwrap();
    tokio::time::sleep(GRACE + MOMENT).await;
    assert_eq!(cluster.watches(), 0);
    factory.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn nothing_is_left_behind_by_informers_that_come_and_go() {
    let cluster = Cluster::new();
    let metrics = tokio::runtime::Handle::current().metrics();
    // The client has a task of its own.
    let before = metrics.num_alive_tasks();
    let factory = cluster.factory().idle_timeout(Duration::ZERO).build();
    factory.start();
    let tenants = NamespaceSet::new(["x"]);
    for _ in 0..5 {
        let request = InformerRequest::<ConfigMap>::new().namespaces(&tenants);
        let configs = factory.informer_with(request.clone());
        configs
            .add_handler("h", |_: Notification<ConfigMap>| ())
            .unwrap()
            .remove()
            .await;
        configs.synced().await.unwrap();
        assert_eq!(metrics.num_alive_tasks(), before + 3, "run, driver, reflector");
        tenants.add("y");
        configs.synced().await.unwrap();
        assert_eq!((metrics.num_alive_tasks(), cluster.watches()), (before + 4, 2));
        tenants.remove("y");
        tokio::time::sleep(MOMENT).await;
        assert_eq!((metrics.num_alive_tasks(), cluster.watches()), (before + 3, 1));
        assert!(same(&configs, &factory.informer_with(request)));
        drop(configs);
        tokio::time::sleep(MOMENT).await;
        assert_eq!((metrics.num_alive_tasks(), cluster.watches()), (before, 0));
    }
    let kept = factory.informer::<ConfigMap>();
    kept.synced().await.unwrap();
    factory.shutdown().await.unwrap();
    assert_eq!((metrics.num_alive_tasks(), cluster.watches()), (before, 0));
    assert_eq!(kept.store().len(), 2, "readable after the end");
    assert!(same(&kept, &factory.informer()));
    assert!(
        factory.informer::<Secret>().synced().await.is_err(),
        "there is no start after the end"
    );
    factory.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn who_never_starts_is_stopped_all_the_same() {
    let cluster = Cluster::new();
    let factory = cluster.factory().build();
    let configs = factory.informer::<ConfigMap>();
    let mut changes = configs.subscribe("test").unwrap();
    let error = factory.wait_for_sync(MOMENT).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("configmaps as ConfigMap (no error so far, connecting)"),
        "{error}"
    );
    let (one, two) = tokio::join!(factory.shutdown(), factory.shutdown());
    assert!(one.is_ok() && two.is_ok());
    assert!(changes.next().await.is_none() && configs.synced().await.is_err());
    assert_eq!(cluster.requests(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_informer_run_by_hand_has_no_users_to_wait_for() {
    let cluster = Cluster::new();
    let source = ClientSource::new(
        cluster.client.clone(),
        ApiResource::erase::<ConfigMap>(&()),
        Selection::default(),
    );
    let (informer, runner) = SharedInformer::<ConfigMap>::builder(source).build();
    drop(informer);
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    tokio::time::sleep(10 * GRACE).await;
    assert_eq!(cluster.watches(), 1);
    stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_failed_informer_is_reported_and_replaced_at_a_request() {
    let cluster = Cluster::new();
    let factory = cluster.factory().build();
    factory.start();
    let configs = factory.informer::<ConfigMap>();
    let secrets = factory.informer::<Secret>();
    configs
        .add_handler("bad", |_: Notification<ConfigMap>| panic!("cannot cope"))
        .unwrap()
        .detach();
    let error = factory.failed().await;
    assert!(matches!(&error, RunError::HandlerPanicked { handler, .. } if handler == "bad"));
    tokio::time::sleep(MOMENT).await;
    assert!(configs.subscribe("late").is_err(), "this one is over");
    assert!(secrets.has_synced());

    let fresh = factory.informer::<ConfigMap>();
    assert!(!same(&configs, &fresh));
    fresh.synced().await.unwrap();
    assert_eq!(fresh.store().len(), 2);
    factory.wait_for_sync(GRACE).await.unwrap();
    let error = factory.shutdown().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"handler "bad" of the informer for configmaps panicked: cannot cope"#
    );
}

#[tokio::test(start_paused = true)]
async fn an_informer_has_stopped_when_its_last_handler_has_returned() {
    let cluster = Cluster::new();
    let resource = ApiResource::erase::<ConfigMap>(&());
    let source = ClientSource::new(cluster.client.clone(), resource, Selection::default());
    let (configs, runner) = SharedInformer::<ConfigMap>::builder(source).build();
    struct Slow;
    impl kube_informer::ResourceEventHandler<ConfigMap> for Slow {
        async fn on_add(&mut self, _: Arc<ConfigMap>, _: bool) {
            tokio::time::sleep(Duration::from_secs(5)).await;
        }
    }
    configs.add_handler("slow", Slow).unwrap().detach();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    configs.synced().await.unwrap();
    tokio::time::sleep(MOMENT).await;
    assert!(!configs.is_stopped());
    stop.cancel();
    tokio::time::sleep(MOMENT).await;
    assert!(!configs.is_stopped(), "the handler has not returned");
    configs.stopped().await;
    assert!(configs.is_stopped());
    assert!(
        configs
            .add_handler("late", |_: Notification<ConfigMap>| ())
            .is_err()
    );
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_informer_whose_runner_is_dropped_has_stopped() {
    let cluster = Cluster::new();
    let resource = ApiResource::erase::<ConfigMap>(&());
    let source = ClientSource::new(cluster.client.clone(), resource, Selection::default());
    let (configs, runner) = SharedInformer::<ConfigMap>::builder(source).build();
    assert!(!configs.is_stopped());
    let waiting = tokio::spawn({
        let configs = configs.clone();
        async move { configs.stopped().await }
    });
    drop(runner);
    waiting.await.unwrap();
    let factory = cluster.factory().build();
    factory.shutdown().await.unwrap();
    assert!(factory.informer::<ConfigMap>().is_stopped(), "asked for too late");
}

#[test]
fn informers_and_handlers_run_where_the_factory_started() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let entered = runtime.enter();
    let cluster = Cluster::new();
    let factory = cluster.factory().build();
    let configs = factory.informer::<ConfigMap>();
    let (told, handled_on) = std::sync::mpsc::channel();
    let handler = move |_: Notification<ConfigMap>| told.send(std::thread::current().id()).unwrap();
    let registration = configs.add_handler("thread", handler).unwrap();
    factory.start();
    drop(entered);
    let thread = std::thread::spawn(move || {
        runtime.block_on(async {
            registration.synced().await.unwrap();
            factory.shutdown().await.unwrap();
        });
        std::thread::current().id()
    });
    let thread = thread.join().unwrap();
    assert_eq!(handled_on.iter().collect::<Vec<_>>(), [thread; 2]);
}
