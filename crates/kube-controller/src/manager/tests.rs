//! The cases of controller-runtime's manager, on a paused clock.

mod lost;

use super::*;
use crate::watcher;
use http::{Request, Response};
use http_body_util::{BodyExt as _, StreamBody};
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kube::Api;
use kube::client::Body;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube_informer::reflector::Phase;
use kube_informer::source::Selection;
use kube_sim::Sim;
use serde_json::Value;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

/// What has happened, in order.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn write(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    fn read(&self) -> String {
        std::mem::take(&mut *self.0.lock().unwrap()).join(", ")
    }

    /// What has happened, in any order.
    fn sorted(&self) -> String {
        self.0.lock().unwrap().sort_unstable();
        self.read()
    }

    /// A runnable that writes when it begins, works and ends.
    fn runnable(
        &self,
        name: &'static str,
    ) -> impl FnOnce(RunContext) -> BoxFuture<'static, Result<(), Infallible>> + Send + 'static {
        let diary = self.clone();
        move |context| {
            async move {
                diary.write(format!("{name} starts"));
                tokio::select! {
                    () = context.stopped() => {}
                    () = context.elected() => {
                        diary.write(format!("{name} may work"));
                        context.stopped().await;
                    }
                }
                // Whatever ends later is told from what does not wait.
                sleep(Duration::from_secs(1)).await;
                diary.write(format!("{name} ends"));
                Ok(())
            }
            .boxed()
        }
    }
}

struct Scene {
    sim: Sim,
    diary: Diary,
    /// Whether the server can be reached.
    connected: Arc<AtomicBool>,
    /// Whether the client panics when it is to ask for a Lease.
    panics: Arc<AtomicBool>,
}

impl Scene {
    fn new() -> Self {
        Self {
            sim: Sim::builder().build().unwrap(),
            diary: Diary::default(),
            connected: Arc::new(AtomicBool::new(true)),
            panics: Arc::default(),
        }
    }

    /// A client whose requests and watches hang while it is not connected.
    fn client(&self) -> Client {
        let (client, connected) = (Client::new(self.sim.service(), "default"), self.connected.clone());
        let panics = self.panics.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let is_of_lease = request.uri().path().contains("/leases");
            let panics = is_of_lease && panics.load(Ordering::SeqCst);
            let (client, connected) = (client.clone(), connected.clone());
            async move {
                assert!(!panics, "the client is broken");
                if !connected.load(Ordering::SeqCst) {
                    std::future::pending::<()>().await;
                }
                let response = client.send(request).await?;
                let body = |body: Body| {
                    let frames = futures::stream::unfold(body, move |mut body: Body| {
                        let connected = connected.clone();
                        async move {
                            let frame = body.frame().await?;
                            if !connected.load(Ordering::SeqCst) {
                                std::future::pending::<()>().await;
                            }
                            Some((frame, body))
                        }
                    });
                    StreamBody::new(frames.boxed())
                };
                Ok::<Response<_>, kube::Error>(response.map(body))
            }
        });
        Client::new(service, "default")
    }

    fn manager(&self) -> Manager {
        Manager::new(self.client(), "tests")
    }

    fn candidate(&self, identity: &str) -> Manager {
        let config = LeaderElectionConfig::new("default", "test", identity);
        self.manager().leader_election(config).unwrap()
    }

    fn holder(&self) -> Value {
        let store = self.sim.store();
        let lease = store.get("coordination.k8s.io/v1", "Lease", Some("default"), "test");
        lease
            .map(|lease| lease["spec"]["holderIdentity"].clone())
            .unwrap_or_default()
    }

    /// Adds one runnable of each kind.
    fn add_all(&self, manager: &Manager) {
        let all = [
            ("leading", RunWhen::Leading),
            ("always", RunWhen::Always),
            ("warm", RunWhen::Warm),
        ];
        for (name, runs) in all {
            manager.add(name, runs, self.diary.runnable(name)).unwrap();
        }
    }
}

struct Started {
    shutdown: CancellationToken,
    task: JoinHandle<Result<(), ManagerError>>,
}

impl Started {
    fn new(manager: Manager) -> Self {
        let shutdown = CancellationToken::new();
        let task = tokio::spawn(manager.run_until(shutdown.clone()));
        Self { shutdown, task }
    }

    async fn stop(self) -> Result<(), ManagerError> {
        self.shutdown.cancel();
        self.task.await.unwrap()
    }
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[tokio::test(start_paused = true)]
async fn caches_come_first_and_others_stop_before_leaders() {
    // Case 70.
    let scene = Scene::new();
    let manager = scene.manager();
    let maps = manager.factory().informer::<ConfigMap>();
    scene.add_all(&manager);
    let diary = scene.diary.clone();
    let checked = maps.clone();
    let check = async move |context: RunContext| {
        assert!(checked.has_synced());
        context.stopped().await;
        assert!(!checked.is_stopped(), "caches stop after their readers");
        diary.write("caches were there");
        Ok::<_, Infallible>(())
    };
    manager.add("check", RunWhen::Leading, check).unwrap();
    scene.connected.store(false, Ordering::SeqCst);
    let started = Started::new(manager);
    sleep(seconds(5)).await;
    assert_eq!(scene.diary.read(), "warm starts, warm may work");
    scene.connected.store(true, Ordering::SeqCst);
    // The list that hangs is tried again.
    sleep(seconds(200)).await;
    let began = "always may work, always starts, leading may work, leading starts";
    assert_eq!(scene.diary.sorted(), began);
    started.stop().await.unwrap();
    let ended = scene.diary.read();
    assert!(ended.starts_with("always ends, caches were there, "), "{ended}");
    assert!(
        ended.contains("leading ends") && ended.contains("warm ends"),
        "{ended}"
    );
    assert!(maps.is_stopped());
}

#[tokio::test(start_paused = true)]
async fn what_informers_depend_on_ends_after_them() {
    let scene = Scene::new();
    let manager = scene.candidate("first");
    let maps = manager.factory().informer::<ConfigMap>();
    scene.add_all(&manager);
    let (diary, stopped) = (scene.diary.clone(), maps.clone());
    let around = async move |context: RunContext| {
        assert!(!stopped.has_synced(), "it starts before they have synced");
        context.stopped().await;
        assert!(stopped.is_stopped());
        diary.write("around ends");
        Ok::<_, Infallible>(())
    };
    manager.add("around", RunWhen::AroundInformers, around).unwrap();
    let started = Started::new(manager);
    sleep(seconds(5)).await;
    scene.diary.read();
    started.stop().await.unwrap();
    assert_eq!(scene.holder(), "");
    let ended = scene.diary.read();
    assert!(ended.starts_with("always ends, "), "{ended}");
    assert!(ended.ends_with(" ends, around ends"), "{ended}");
}

#[tokio::test(start_paused = true)]
async fn a_standby_is_warm_and_works_when_it_is_elected() {
    // Cases 71, 73, 74.
    let scene = Scene::new();
    let first = scene.candidate("first");
    scene.add_all(&first);
    let first = Started::new(first);
    sleep(seconds(5)).await;
    assert_eq!(scene.holder(), "first");
    scene.diary.read();

    let standby = Scene {
        sim: scene.sim.clone(),
        ..Scene::new()
    };
    let second = standby.candidate("second");
    let maps = second.factory().informer::<ConfigMap>();
    standby.add_all(&second);
    let status = second.election().unwrap();
    let second = Started::new(second);
    sleep(seconds(60)).await;
    assert_eq!(standby.diary.sorted(), "always starts, warm starts");
    assert!(maps.has_synced() && !status.is_leader());

    let holder = |scene: &Scene| scene.holder().as_str().unwrap().to_owned();
    let stopping = tokio::spawn(first.stop());
    while scene.holder() == "first" {
        sleep(Duration::from_millis(10)).await;
    }
    let ended = "always ends, leading ends, warm ends";
    assert_eq!(scene.diary.sorted(), ended, "released after the work");
    stopping.await.unwrap().unwrap();
    sleep(seconds(5)).await;
    assert_eq!(holder(&scene), "second");
    let elected = "always may work, leading may work, leading starts, warm may work";
    assert_eq!(standby.diary.sorted(), elected);
    second.stop().await.unwrap();
    assert_eq!(holder(&scene), "");
}

#[tokio::test(start_paused = true)]
async fn who_never_leads_never_runs_what_leads() {
    // Case 73.
    let scene = Scene::new();
    let first = Started::new(scene.candidate("first"));
    sleep(seconds(1)).await;
    let second = scene.candidate("second");
    scene.add_all(&second);
    let second = Started::new(second);
    sleep(seconds(30)).await;
    second.stop().await.unwrap();
    let expected = "always ends, always starts, warm ends, warm starts";
    assert_eq!(scene.diary.sorted(), expected);
    assert_eq!(scene.holder(), "first");
    first.stop().await.unwrap();
}

/// Runs until it is aborted.
async fn stubborn(_: RunContext) -> Result<(), Infallible> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn a_standby_that_stops_is_no_longer_elected() {
    let scene = Scene::new();
    let first = Started::new(scene.candidate("first"));
    sleep(seconds(1)).await;
    let second = scene.candidate("second").graceful_shutdown_timeout(Duration::MAX);
    let slow = async |context: RunContext| {
        context.stopped().await;
        sleep(seconds(60)).await;
        Ok::<_, Infallible>(())
    };
    second.add("slow", RunWhen::Always, slow).unwrap();
    second
        .add("warm", RunWhen::Warm, scene.diary.runnable("warm"))
        .unwrap();
    let second = Started::new(second);
    sleep(seconds(5)).await;
    second.shutdown.cancel();
    sleep(seconds(1)).await;
    first.stop().await.unwrap();
    sleep(seconds(30)).await;
    assert_eq!(scene.holder(), "", "somebody who stays may have it");
    assert_eq!(scene.diary.read(), "warm starts", "what may lead ends last");
    second.stop().await.unwrap();
    assert_eq!(scene.diary.read(), "warm ends");
}

#[tokio::test(start_paused = true)]
async fn what_is_aborted_is_told_to_stop() {
    for dropped in [false, true] {
        let scene = Scene::new();
        let manager = scene.candidate("first");
        manager.add("stubborn", RunWhen::Always, stubborn).unwrap();
        for (name, runs) in [
            ("always", RunWhen::Always),
            ("leading", RunWhen::Leading),
            ("warm", RunWhen::Warm),
        ] {
            let diary = scene.diary.clone();
            // What it has started is not aborted.
            let starts = async move |context: RunContext| {
                tokio::spawn(async move {
                    context.stopped().await;
                    diary.write(name);
                });
                std::future::pending::<Result<(), Infallible>>().await
            };
            manager.add(name, runs, starts).unwrap();
        }
        let started = Started::new(manager);
        sleep(seconds(5)).await;
        if dropped {
            started.task.abort();
            assert!(started.task.await.unwrap_err().is_cancelled());
        } else {
            let error = started.stop().await.unwrap_err();
            assert!(matches!(error.causes(), [Cause::NotStopped { .. }]), "{error}");
        }
        sleep(seconds(1)).await;
        assert_eq!(
            scene.diary.sorted(),
            "always, leading, warm",
            "dropped: {dropped}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_grace_period_bounds_the_stop() {
    // Case 75.
    let stop_after = async |grace: Duration, takes: Duration| {
        let scene = Scene::new();
        let manager = scene.candidate("first").graceful_shutdown_timeout(grace);
        let slow = async move |context: RunContext| {
            context.stopped().await;
            sleep(takes).await;
            Ok::<_, Infallible>(())
        };
        manager.add("slow", RunWhen::Leading, slow).unwrap();
        let started = Started::new(manager);
        sleep(seconds(5)).await;
        let began = Instant::now();
        let result = started.stop().await.map_err(|error| error.to_string());
        (result, began.elapsed(), scene.holder())
    };
    let over = Err("these did not stop within 30s: slow".to_owned());
    assert_eq!(
        stop_after(seconds(30), seconds(60)).await,
        (over, seconds(30), "first".into())
    );
    assert_eq!(
        stop_after(Duration::MAX, seconds(3600)).await,
        (Ok(()), seconds(3600), "".into())
    );
    assert_eq!(
        stop_after(seconds(30), seconds(20)).await,
        (Ok(()), seconds(20), "".into())
    );
    let at_once = (Ok(()), Duration::ZERO, "first".into());
    assert_eq!(stop_after(Duration::ZERO, seconds(1)).await, at_once);
}

#[tokio::test(start_paused = true)]
async fn a_failure_stops_the_others_and_all_are_told() {
    // Case 76.
    let scene = Scene::new();
    let manager = scene.manager();
    scene.add_all(&manager);
    let fails = async |_| {
        sleep(seconds(3)).await;
        Err("no luck")
    };
    manager.add("unlucky", RunWhen::Warm, fails).unwrap();
    let panics = async |context: RunContext| -> Result<(), Infallible> {
        context.stopped().await;
        panic!("at the disco");
    };
    manager.add("nervous", RunWhen::Leading, panics).unwrap();
    let done = async |_| Ok::<_, Infallible>(());
    manager.add("done", RunWhen::Always, done).unwrap();
    let error = Started::new(manager).task.await.unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "unlucky failed; nervous panicked: at the disco"
    );
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(source.to_string(), "no luck");
    assert!(
        scene
            .diary
            .read()
            .ends_with("always ends, leading ends, warm ends")
    );
}

#[tokio::test(start_paused = true)]
async fn runnables_are_added_once_and_not_while_it_stops() {
    // Cases 77, 79.
    let scene = Scene::new();
    let manager = scene.manager();
    let handle = manager.handle();
    manager
        .add("before", RunWhen::Always, scene.diary.runnable("before"))
        .unwrap();
    let taken = manager.add("before", RunWhen::Warm, scene.diary.runnable("before"));
    assert_eq!(taken, Err(AddError::NameTaken("before".into())));
    let (from_inside, diary) = (handle.clone(), scene.diary.clone());
    let adds = async move |_| from_inside.add("inside", RunWhen::Leading, diary.runnable("inside"));
    manager.add("adds", RunWhen::Warm, adds).unwrap();
    let started = Started::new(manager);
    sleep(seconds(2)).await;
    // The name of one that has ended is free again.
    handle
        .add("adds", RunWhen::Always, scene.diary.runnable("after"))
        .unwrap();
    sleep(seconds(2)).await;
    let mut starts: Vec<_> = scene.diary.read().split(", ").map(str::to_owned).collect();
    starts.retain(|line| line.ends_with("starts"));
    starts.sort_unstable();
    assert_eq!(starts, ["after starts", "before starts", "inside starts"]);

    started.shutdown.cancel();
    sleep(Duration::from_millis(500)).await;
    let late = handle.add("late", RunWhen::Always, scene.diary.runnable("late"));
    assert_eq!(late, Err(AddError::Stopped));
    started.task.await.unwrap().unwrap();
    assert_eq!(tokio::runtime::Handle::current().metrics().num_alive_tasks(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_silent_watch_is_not_ready_and_names_its_kind() {
    let scene = Scene::new();
    let factory = SharedInformerFactory::new(scene.client());
    // Only this one goes on.
    let other = SharedInformerFactory::new(Client::new(scene.sim.service(), "default"));
    let readiness = Readiness::new(factory.clone());
    let (maps, _nodes) = (factory.informer::<ConfigMap>(), other.informer::<Node>());
    let reasons = readiness.check().unwrap_err().reasons;
    assert!(reasons[0].starts_with("configmaps: not synced"), "{reasons:?}");
    factory.start();
    other.start();
    factory.wait_for_sync(seconds(10)).await.unwrap();
    for _ in 0..20 {
        assert_eq!(readiness.check(), Ok(()), "bookmarks come");
        sleep(seconds(30)).await;
    }
    while !maps.status().reflector.sends_bookmarks {
        sleep(seconds(1)).await;
    }
    scene.connected.store(false, Ordering::SeqCst);
    let began = Instant::now();
    while readiness.check().is_ok() {
        sleep(seconds(1)).await;
    }
    // A bookmark was due within a minute of the last one.
    assert!(
        (seconds(30)..=seconds(91)).contains(&began.elapsed()),
        "{:?}",
        began.elapsed()
    );
    let error = readiness.check().unwrap_err().to_string();
    assert!(error.starts_with("configmaps: "), "{error}");
    assert_eq!(Readiness::new(other.clone()).check(), Ok(()));
    scene.connected.store(true, Ordering::SeqCst);
    // The watch that hangs has its timeout.
    sleep(seconds(3600)).await;
    assert_eq!(readiness.check(), Ok(()));
    drop(maps);
    factory.shutdown().await.unwrap();
    other.shutdown().await.unwrap();
}

/// A server that caches no events sends no bookmarks of them, and after a restart it may send none of what does not change.
#[tokio::test(start_paused = true)]
async fn a_watch_without_bookmarks_is_ready_as_long_as_its_server_answers() {
    let scene = Scene::new();
    let factory = SharedInformerFactory::new(scene.client());
    let readiness = Readiness::new(factory.clone());
    let (maps, nodes) = (factory.informer::<ConfigMap>(), factory.informer::<Node>());
    factory.start();
    factory.wait_for_sync(seconds(10)).await.unwrap();
    while !maps.status().reflector.sends_bookmarks {
        sleep(seconds(1)).await;
    }
    let faults = scene.sim.faults();
    let held = faults.hold_watches_of("nodes").start();
    let watches = nodes.status().reflector.watches;
    while nodes.status().reflector.watches == watches {
        sleep(seconds(1)).await;
    }
    for _ in 0..40 {
        assert_eq!(readiness.check(), Ok(()), "nothing has changed");
        sleep(seconds(5)).await;
    }
    // The server hangs before the first bookmark of a watch.
    held.remove();
    let watches = || [&maps.status(), &nodes.status()].map(|status| status.reflector.watches);
    let before = watches();
    faults.restart();
    while std::iter::zip(watches(), before).any(|(now, before)| now == before) {
        sleep(seconds(1) / 10).await;
    }
    scene.connected.store(false, Ordering::SeqCst);
    let began = Instant::now();
    while readiness.check().is_ok() {
        sleep(seconds(1)).await;
    }
    // It is asked after 75 to 90 s; the watch ends after five minutes at the earliest.
    assert!(began.elapsed() < seconds(200), "{:?}", began.elapsed());
    let error = readiness.check().unwrap_err().to_string();
    assert!(error.contains("no answer within 5 s"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn the_readiness_says_that_a_kind_is_not_installed() {
    let scene = Scene::new();
    let factory = SharedInformerFactory::new(scene.client());
    let readiness = Readiness::new(factory.clone());
    let kind = GroupVersionKind::gvk("sim.example", "v1", "Widget");
    let widgets =
        factory.informer_for_resource::<DynamicObject>(ApiResource::from_gvk(&kind), Selection::default());
    factory.start();
    while !matches!(widgets.status().reflector.phase, Phase::NotServed { .. }) {
        sleep(seconds(1)).await;
    }
    let error = readiness.check().unwrap_err().to_string();
    let expected = "widgets.sim.example: not synced: not-found: the server has no such resource (yet): ";
    assert!(error.starts_with(expected), "{error}");
}

#[tokio::test(start_paused = true)]
async fn informers_of_controllers_are_part_of_the_readiness() {
    let scene = Scene::new();
    let client = scene.client();
    let config = watcher::Config::default;
    let controller = Controller::new(Api::<ConfigMap>::all(client.clone()), config())
        .owns(Api::<Pod>::all(client.clone()), config())
        .watches(Api::<Node>::all(client), config(), |_| None);
    let manager = scene.manager();
    let readiness = manager.readiness().clone();
    assert_eq!(readiness.check(), Ok(()), "there is nothing to wait for");
    let reconcile = async |_, _: Arc<()>| Ok::<_, Infallible>(Action::await_change());
    manager
        .add_controller(controller, reconcile, |_, _, _| Action::backoff(), Arc::new(()))
        .unwrap();
    let reasons = readiness.check().unwrap_err().reasons;
    let expected = ["configmaps: not synced", "nodes: not synced", "pods: not synced"];
    assert!(
        std::iter::zip(&reasons, expected).all(|(reason, expected)| reason.starts_with(expected)),
        "{reasons:?}"
    );
    let started = Started::new(manager);
    while readiness.check().is_err() {
        sleep(seconds(1)).await;
    }
    for _ in 0..20 {
        assert_eq!(readiness.check(), Ok(()), "bookmarks come");
        sleep(seconds(30)).await;
    }
    scene.connected.store(false, Ordering::SeqCst);
    // A bookmark was due within a minute of the last one.
    sleep(seconds(60 + 60)).await;
    let reasons = readiness.check().unwrap_err().reasons;
    let named = ["configmaps: ", "nodes: ", "pods: "];
    assert_eq!(reasons.len(), 3, "{reasons:?}");
    assert!(
        std::iter::zip(&reasons, named).all(|(reason, named)| reason.starts_with(named)),
        "{reasons:?}"
    );
    started.stop().await.unwrap();
    assert_eq!(readiness.check(), Ok(()), "they are gone");
}

#[test]
fn a_logged_error_says_each_cause_once() {
    #[derive(Debug, thiserror::Error)]
    #[error("the name is taken")]
    struct Cause;
    // With the text of its cause, as the errors of kube have it, and without.
    #[derive(Debug, thiserror::Error)]
    #[error("cannot write: {0}")]
    struct With(#[source] Cause);
    #[derive(Debug, thiserror::Error)]
    #[error("not reconciled")]
    struct Without(#[source] crate::finalizer::Error<With>);
    let error = Without(crate::finalizer::Error::ApplyFailed(With(Cause)));
    let expected = "not reconciled: failed to apply object: cannot write: the name is taken";
    assert_eq!(Chain(&error).to_string(), expected);
}
