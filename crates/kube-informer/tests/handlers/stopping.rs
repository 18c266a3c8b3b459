//! How handlers and informers end: removal, panics, shutdown.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_panicking_handler_ends_the_run_and_is_named() {
    let (informer, _stop, running) = start([
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let (_, other, gated) = Gated::new();
    let waiting = informer.add_handler("other", gated).unwrap();
    let bad = ResourceEventHandlerFuncs::new().on_add(|_, _| panic!("cannot cope"));
    let registration = informer.add_handler("bad", bad).unwrap();
    let error = running.await.unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "handler \"bad\" of the informer for configmaps panicked: cannot cope"
    );
    assert_eq!(registration.synced().await, Err(Stopped));
    assert_eq!(waiting.synced().await, Err(Stopped));
    assert!(other.lock().unwrap().is_empty());
    assert!(informer.add_handler("more", |_: Change| ()).is_err());
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_when_dropped_is_named() {
    struct Bad;
    impl Drop for Bad {
        fn drop(&mut self) {
            panic!("cannot go");
        }
    }
    let (informer, stop, running) = start([
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let bad = Bad;
    let handler = move |_: Change| _ = &bad;
    informer.add_handler("bad", handler).unwrap().detach();
    informer.synced().await.unwrap();
    stop.cancel();
    let error = running.await.unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "handler \"bad\" of the informer for configmaps panicked: cannot go"
    );
}

#[tokio::test(start_paused = true)]
async fn remove_drops_what_is_pending_and_waits_for_the_running_call() {
    let (informer, _stop, _running) = start([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let (gate, told, handler) = Gated::new();
    let registration = informer.add_handler("slow", handler).unwrap();
    tokio::time::sleep(MOMENT).await;
    let removal = tokio::spawn(registration.remove());
    tokio::time::sleep(MOMENT).await;
    assert!(!removal.is_finished(), "the call is still running");
    gate.add_permits(5);
    removal.await.unwrap();
    assert_eq!(told.lock().unwrap().len(), 1);
    assert_eq!(informer.handlers(), []);
}

#[tokio::test(start_paused = true)]
async fn drain_delivers_what_is_pending_first() {
    let (informer, _stop, _running) = start([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        (
            "WATCH 10",
            Watch(vec![After(Duration::from_secs(1)), Modified("a", 11)]),
        ),
    ]);
    let (gate, told, handler) = Gated::new();
    let registration = informer.add_handler("slow", handler).unwrap();
    tokio::time::sleep(MOMENT).await;
    let drained = tokio::spawn(registration.drain());
    tokio::time::sleep(Duration::from_secs(2)).await;
    gate.add_permits(5);
    drained.await.unwrap();
    assert_eq!(
        *told.lock().unwrap(),
        ["Add(ns/a@1, initial)", "Add(ns/b@2, initial)"]
    );
}

#[tokio::test(start_paused = true)]
async fn dropping_a_registration_removes_its_handler() {
    let (informer, _stop, _running) = start([
        ("LIST any 500", List(10, vec![])),
        (
            "WATCH 10",
            Watch(vec![After(Duration::from_secs(1)), Added("a", 11)]),
        ),
    ]);
    let (dropped_told, dropped) = recorder();
    let (kept_told, kept) = recorder();
    drop(informer.add_handler("dropped", dropped).unwrap());
    informer.add_handler("kept", kept).unwrap().detach();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(dropped_told.lock().unwrap().len(), 0);
    assert_eq!(*kept_told.lock().unwrap(), ["Add(ns/a@11)"]);
}

/// A handler that takes itself out when it is first told of something.
struct Once {
    registration: Arc<Mutex<Option<kube_informer::Registration>>>,
    calls: Arc<Mutex<usize>>,
}

impl ResourceEventHandler<ConfigMap> for Once {
    async fn on_add(&mut self, _: Arc<ConfigMap>, _: bool) {
        *self.calls.lock().unwrap() += 1;
        let registration = self.registration.lock().unwrap().take();
        registration.expect("called once").remove().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_can_remove_itself() {
    let (informer, runner) = SharedInformer::builder(Script::new([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        ("WATCH 10", Watch(vec![])),
    ]))
    .build();
    let (registration, calls) = (Arc::new(Mutex::new(None)), Arc::new(Mutex::new(0)));
    let handler = Once {
        registration: registration.clone(),
        calls: calls.clone(),
    };
    *registration.lock().unwrap() = Some(informer.add_handler("once", handler).unwrap());
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(*calls.lock().unwrap(), 1);
    stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn stopping_joins_every_task_and_ends_streams() {
    let metrics = tokio::runtime::Handle::current().metrics();
    let before = metrics.num_alive_tasks();
    let (informer, stop, running) = start([
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let mut stream = informer.subscribe("stream").unwrap();
    for name in ["one", "two"] {
        informer.add_handler(name, |_: Change| ()).unwrap().detach();
    }
    informer.synced().await.unwrap();
    stream.next().await.unwrap();
    tokio::time::sleep(MOMENT).await;
    assert_eq!(
        metrics.num_alive_tasks() - before,
        1 + 2 + 2,
        "the run, reflector and driver, two handlers"
    );
    stop.cancel();
    running.await.unwrap().unwrap();
    assert_eq!(metrics.num_alive_tasks(), before);
    assert!(stream.next().await.is_none());
    assert_eq!(informer.store().len(), 1, "the store stays readable");
    assert_eq!(informer.subscribe("late").err(), Some(Stopped));
}

#[tokio::test(start_paused = true)]
async fn a_stuck_handler_is_named_at_the_deadline() {
    let (informer, stop, running) = start([
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let (_gate, _, handler) = Gated::new();
    informer.add_handler("stuck", handler).unwrap().detach();
    informer.add_handler("fine", |_: Change| ()).unwrap().detach();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = tokio::time::Instant::now();
    stop.cancel();
    let error = running.await.unwrap().unwrap_err();
    assert!(
        matches!(error, RunError::Stuck { ref handlers, .. } if handlers == &["stuck"]),
        "{error}"
    );
    assert_eq!(before.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn an_isolated_panic_is_one_lost_call() {
    let (informer, _stop, running) = start([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let calls = Arc::new(Mutex::new(0));
    let counted = calls.clone();
    let bad = move |_: Change| {
        *counted.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += 1;
        panic!("cannot cope")
    };
    let options = HandlerOptions::named("bad").on_panic(PanicPolicy::Continue);
    let registration = informer.add_handler(options, bad).unwrap();
    registration.synced().await.unwrap();
    assert_eq!(*calls.lock().unwrap_or_else(|poisoned| poisoned.into_inner()), 2);
    assert!(!running.is_finished());
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_an_informer_that_will_never_run() {
    let (informer, runner) = SharedInformer::builder(Script::new([])).build();
    let handler = informer.add_handler("handler", |_: Change| ()).unwrap();
    let drained = tokio::spawn(informer.add_handler("drained", |_: Change| ()).unwrap().drain());
    let mut stream = informer.subscribe("stream").unwrap();
    tokio::time::sleep(MOMENT).await;
    drop(runner);
    assert_eq!(informer.synced().await, Err(Stopped));
    assert_eq!(handler.synced().await, Err(Stopped));
    assert!(stream.next().await.is_none());
    drained.await.unwrap();
    assert_eq!(informer.add_handler("late", |_: Change| ()).err(), Some(Stopped));
}

/// A source that is never at a loss for an event.
struct Endless;

impl kube_informer::source::ListerWatcher<ConfigMap> for Endless {
    fn resource(&self) -> String {
        "configmaps".into()
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListStream<ConfigMap>, ApiError>> {
        async move {
            let script = Script::new([("LIST any 500", List(10, vec![("a", 1)]))]);
            kube_informer::source::ListerWatcher::list(&script, request).await
        }
        .boxed()
    }

    fn watch(&self, _: WatchRequest) -> BoxFuture<'_, Result<WatchStream<ConfigMap>, ApiError>> {
        let events = (11..).map(|version| Ok(WatchEvent::Modified(Item::Object(object("a", version)))));
        async { Ok(futures::stream::iter(events).boxed()) }.boxed()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_informer_stops_even_if_its_source_never_pauses() {
    let (informer, runner) = SharedInformer::builder(Endless).build();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    informer.synced().await.unwrap();
    informer.store().wait_until(&"5000".into()).await.unwrap();
    let seen = informer.status().reflector.resource_version;
    assert!(
        seen.as_ref().is_some_and(|seen| *seen >= "4800".into()),
        "{seen:?}"
    );
    stop.cancel();
    tokio::time::timeout(Duration::from_secs(20), running)
        .await
        .expect("in time")
        .unwrap()
        .unwrap();
}
