//! Programs as they are written for kube's runtime.

use crate::harness::{Cluster, Failure, SECOND};
use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client, Resource};
use kube_controller::controller::{Action, Config, Controller, Error, RunnerError};
use kube_controller::reflector::{ObjectRef, Store};
use kube_controller::watcher;
use kube_informer::SharedInformerFactory;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

struct Context {
    client: Client,
}

/// Keeps a secret for each config map.
async fn reconcile(map: Arc<ConfigMap>, context: Arc<Context>) -> Result<Action, kube::Error> {
    let owner = map.controller_owner_ref(&()).expect("it has a name and a uid");
    let secret = Secret {
        metadata: ObjectMeta {
            name: map.metadata.name.clone(),
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        },
        string_data: map.data.clone(),
        ..Secret::default()
    };
    let namespace = map.metadata.namespace.as_deref().unwrap_or_default();
    let secrets = Api::<Secret>::namespaced(context.client.clone(), namespace);
    match secrets.create(&PostParams::default(), &secret).await {
        Err(kube::Error::Api(status)) if status.is_already_exists() => {}
        created => drop(created?),
    }
    Ok(Action::requeue(Duration::from_secs(300)))
}

fn error_policy(_: Arc<ConfigMap>, _: &kube::Error, _: Arc<Context>) -> Action {
    Action::requeue(Duration::from_secs(1))
}

#[tokio::test(start_paused = true)]
async fn a_program_that_makes_one_object_of_another() {
    let cluster = Cluster::new();
    cluster.map("a");
    let client = cluster.client();
    let maps = Api::<ConfigMap>::all(client.clone());
    let secrets = Api::<Secret>::all(client.clone());
    let results = Controller::new(maps, watcher::Config::default())
        .owns(secrets, watcher::Config::default())
        .with_config(Config::default().concurrency(2))
        .shutdown_on_signal()
        .run(reconcile, error_policy, Arc::new(Context { client }));
    let mut results = std::pin::pin!(results);
    let (object, action) = results.next().await.unwrap().unwrap();
    assert_eq!(object, ObjectRef::new("a").within("default"));
    assert_eq!(action, Action::requeue(Duration::from_secs(300)));
    let uid = cluster.get("Secret", "a")["metadata"]["uid"].clone();

    results.next().await.unwrap().unwrap();
    cluster.delete("Secret", "a");
    results.next().await.unwrap().unwrap();
    assert_ne!(
        cluster.get("Secret", "a")["metadata"]["uid"],
        uid,
        "it was made again"
    );
}

/// What is called inside the poll may borrow, and need not be sendable.
#[tokio::test(start_paused = true)]
async fn closures_and_context_may_be_local() {
    let cluster = Cluster::new();
    cluster.map("a");
    let calls = Cell::new(0);
    let failures = Rc::new(Cell::new(0));
    #[expect(clippy::arc_with_non_send_sync, reason = "that it is allowed is the point")]
    let context = Arc::new(Cell::new("not Sync"));
    let results = Controller::new(cluster.maps(), watcher::Config::default()).run(
        |_, _| {
            calls.set(calls.get() + 1);
            let fails = calls.get() == 1;
            async move {
                if fails {
                    Err(Failure("once"))
                } else {
                    Ok(Action::await_change())
                }
            }
        },
        |_, _, context| {
            assert_eq!(context.get(), "not Sync");
            failures.set(failures.get() + 1);
            Action::requeue(SECOND)
        },
        context,
    );
    let mut results = std::pin::pin!(results);
    results.try_next().await.unwrap_err();
    results.try_next().await.unwrap();
    assert_eq!((calls.get(), failures.get()), (2, 1));
}

/// Two controllers over one informer: streams of its changes, and a store.
#[tokio::test(start_paused = true)]
async fn controllers_for_streams_read_from_a_store() {
    let cluster = Cluster::new();
    let map = cluster.map("a");
    cluster.secret("child", &[&map]);
    let factory = SharedInformerFactory::new(cluster.client());
    let maps = factory.informer::<ConfigMap>();
    let changes = |informer: &kube_informer::SharedInformer<ConfigMap>| {
        let changes = informer.subscribe("stream").unwrap();
        changes.filter_map(async |change| change.object().cloned())
    };
    let secrets = factory.informer::<Secret>().subscribe("secrets").unwrap();
    let secrets = secrets.filter_map(async |change| change.object().cloned());
    let reconcile = |_: Arc<ConfigMap>, _: Arc<()>| async { Ok::<_, Failure>(Action::await_change()) };
    let policy = |_: Arc<ConfigMap>, _: &Failure, _: Arc<()>| Action::backoff();
    let results = Controller::for_shared_stream(changes(&maps), Store::of(&maps))
        .owns_shared_stream(secrets)
        .run(reconcile, policy, Arc::new(()));
    factory.start();
    let mut results = std::pin::pin!(results);
    let (object, _) = results.next().await.unwrap().unwrap();
    assert_eq!(object.name, "a");
    cluster.touch("a");
    results.next().await.unwrap().unwrap();
    cluster.delete("Secret", "child");
    results.next().await.unwrap().unwrap();
    factory.shutdown().await.unwrap();
    while results.next().await.is_some() {}
}

#[test]
fn a_controller_and_its_stream_can_be_sent() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    fn check(controller: Controller<ConfigMap>) {
        let controller = is_send(controller);
        let reconcile = |_: Arc<ConfigMap>, _: Arc<()>| async { Ok::<_, Failure>(Action::await_change()) };
        drop(is_send(controller.run(
            reconcile,
            |_, _, _| Action::backoff(),
            Arc::new(()),
        )));
    }
    let _ = check;
}

/// A program that tells all errors apart has no arm `_`.
#[test]
fn all_variants_of_kubes_errors_can_be_matched() {
    fn of_watch(error: &watcher::Error) -> &'static str {
        match error {
            watcher::Error::InitialListFailed(_) => "list",
            watcher::Error::WatchStartFailed(_) | watcher::Error::WatchFailed(_) => "watch",
            watcher::Error::WatchError(status) if status.code == 410 => "gone",
            watcher::Error::WatchError(_) => "status",
            watcher::Error::NoResourceVersion => "no version",
        }
    }
    fn of_controller(error: &Error<Failure, watcher::Error>) -> &'static str {
        match error {
            Error::ObjectNotFound(_) => "no object",
            Error::ReconcilerFailed(_, _) => "reconciler",
            Error::QueueError(error) => of_watch(error),
            Error::RunnerError(_) => "runner",
        }
    }
    let resource = "configmaps".to_owned();
    let ended = RunnerError::Stopped { resource };
    let (message, ended) = (ended.to_string(), Error::from(ended));
    assert_eq!((ended.to_string(), of_controller(&ended)), (message, "runner"));
    let queue = Error::QueueError(watcher::Error::NoResourceVersion);
    assert_eq!(of_controller(&queue), "no version");
}
