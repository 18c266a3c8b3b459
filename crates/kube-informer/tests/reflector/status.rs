//! What the status of a reflector and its error hook say.

use super::*;

#[tokio::test(start_paused = true)]
async fn the_status_shows_a_pause_between_watches() {
    let early = (0..6).map(|n| {
        let request: &'static str = Box::leak(format!("WATCH {}", 10 + n).into_boxed_str());
        (request, Watch(vec![Bookmark(11 + n), Close]))
    });
    let mut scene = Scene::start([("LIST any 500", List(10, vec![]))].into_iter().chain(early));
    // Pauses of one, two and four seconds.
    scene.after(Duration::from_secs(5)).await;
    let phase = scene.informer.status().reflector.phase;
    let Phase::BackingOff { until } = phase else {
        panic!("{phase:?}")
    };
    assert_eq!(until.duration_since(tokio::time::Instant::now()).as_secs(), 2);
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_status_shows_that_a_watch_is_being_opened() {
    let mut scene = Scene::start([
        ("LIST any 500", List(10, vec![])),
        ("WATCH 10", Error(refused())),
        ("WATCH 10", Hang),
    ]);
    scene.after(Duration::from_secs(60)).await;
    assert!(scene.script.is_over());
    assert_eq!(scene.informer.status().reflector.phase, Phase::Connecting);
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_lasts_ends_a_row_of_failures() {
    let mut scene = Scene::start([
        ("LIST any 500", List(10, vec![])),
        ("WATCH 10", Error(refused())),
        ("WATCH 10", Watch(vec![])),
    ]);
    scene.after(Duration::from_millis(500)).await;
    assert_eq!(scene.informer.status().reflector.failures, 1);
    scene.after(Duration::from_secs(10)).await;
    assert!(scene.script.is_over());
    assert_eq!(scene.informer.status().reflector.failures, 0);
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_pauses_grow_while_lists_fail_and_the_status_says_why() {
    let failing = (0..9).map(|_| ("LIST any 500", Error(status(403, "no"))));
    let mut scene = Scene::start(failing);
    scene.after(Duration::from_secs(3600)).await;
    let pauses = scene.script.pauses();
    assert_they_grow(&pauses);
    let status = scene.informer.status().reflector;
    let error = status.last_error.unwrap();
    assert_eq!((error.class, status.failures), (ErrorClass::Forbidden, 9));
    assert_eq!(error.message, "the server answered 403 Forbidden: no");
    assert!(!scene.informer.has_synced());
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_hook_gets_every_failure_and_may_panic() {
    let script = Script::new([
        ("LIST any 500", Error(status(403, "no"))),
        ("LIST any 500", Error(refused())),
        ("LIST any 500", List(10, vec![])),
        ("WATCH 10", Error(status(500, "boom"))),
        ("LIST 10 all", List(11, vec![])),
        ("WATCH 11", Watch(vec![])),
    ]);
    let told = std::sync::Arc::new(std::sync::Mutex::new(vec![]));
    let record = told.clone();
    let (informer, runner) = SharedInformer::builder(script.clone())
        .on_error(move |error| {
            record
                .lock()
                .unwrap()
                .push(format!("{} {} {}", error.number, error.operation, error.class));
            assert!(error.operation == "list", "scripted panic");
        })
        .build();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(script.is_over() && informer.has_synced());
    assert_eq!(
        *told.lock().unwrap(),
        ["1 list forbidden", "2 list unreachable", "3 watch other"]
    );
    stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_status_says_when_the_server_was_last_heard() {
    let seconds = Duration::from_secs;
    let mut scene = Scene::start([
        ("LIST any 500", List(10, vec![("a", 1)])),
        (
            "WATCH 10",
            Watch(vec![
                After(seconds(10)),
                Modified("a", 11),
                // It says nothing new, but it says something.
                After(seconds(60)),
                Bookmark(11),
            ]),
        ),
    ]);
    let silent = |scene: &Scene| {
        let status = scene.informer.status().reflector;
        let heard = status.last_heard.expect("a list");
        (heard.elapsed(), status.bookmarks)
    };
    scene.after(seconds(5)).await;
    assert_eq!(silent(&scene), (seconds(5), 0));
    scene.after(seconds(10)).await;
    assert_eq!(silent(&scene), (seconds(5), 0));
    scene.after(seconds(60)).await;
    assert_eq!(silent(&scene), (seconds(5), 1));
}

/// A sink that notes how many lists are counted when it gets one.
struct Counts {
    status: Arc<OnceLock<watch::Receiver<ReflectorStatus>>>,
    counted: mpsc::UnboundedSender<u64>,
}

impl KnownObjects for Counts {
    fn get(&self, _: &str) -> Option<(ObjectKey, Fingerprint)> {
        None
    }
}

impl Sink<ConfigMap> for Counts {
    async fn replace(&mut self, _: Vec<(ObjectKey, DecodeResult<ConfigMap>)>, _: Option<ResourceVersion>) {
        let status = self.status.get().unwrap().borrow();
        self.counted.send(status.lists).unwrap();
    }

    async fn push(&mut self, _: ObjectKey, _: Delta<DecodeResult<ConfigMap>>, _: Option<ResourceVersion>) {}

    fn bookmark(&mut self, _: ResourceVersion) {}
}

/// Who sees what a list has changed can also see that there was a list.
#[tokio::test(start_paused = true)]
async fn a_list_is_counted_before_it_is_passed_on() {
    let (counted, mut lists) = mpsc::unbounded_channel();
    let status = Arc::new(OnceLock::new());
    let sink = Counts {
        status: status.clone(),
        counted,
    };
    let script = Script::new([("LIST any 500", List(10, vec![("a", 1)]))]);
    let reflector = Reflector::new(script, sink);
    status.set(reflector.status()).unwrap();
    let running = tokio::spawn(reflector.run(CancellationToken::new()));
    assert_eq!(lists.recv().await, Some(1));
    running.abort();
}
