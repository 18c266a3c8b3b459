//! A cluster, and a controller that tells what it does.

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Resource, ResourceExt};
use kube_controller::controller::{Action, Attempt, Controller, Error};
use kube_controller::reflector::ObjectRef;
use kube_controller::watcher;
use kube_sim::Sim;
use serde_json::{Value, json};
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

pub(crate) const MS: Duration = Duration::from_millis(1);
pub(crate) const SECOND: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Failure(pub(crate) &'static str);

pub(crate) struct Cluster {
    sim: Sim,
}

impl Cluster {
    pub(crate) fn new() -> Self {
        Self {
            sim: Sim::builder().build().unwrap(),
        }
    }

    pub(crate) fn client(&self) -> kube::Client {
        kube::Client::new(self.sim.service(), "default")
    }

    pub(crate) fn maps(&self) -> Api<ConfigMap> {
        Api::all(self.client())
    }

    /// A controller of all config maps.
    pub(crate) fn controller(&self) -> Controller<ConfigMap> {
        Controller::new(self.maps(), watcher::Config::default())
    }

    pub(crate) fn create(&self, object: Value) -> Value {
        self.sim.store().create(object).unwrap()
    }

    /// Creates a config map in `default`.
    pub(crate) fn map(&self, name: &str) -> Value {
        self.create(json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"},
        }))
    }

    /// Creates a secret in `default` with these owners.
    pub(crate) fn secret(&self, name: &str, owners: &[&Value]) {
        self.create(json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": name, "namespace": "default", "ownerReferences": references(owners)},
        }));
    }

    pub(crate) fn get(&self, kind: &str, name: &str) -> Value {
        self.sim.store().get("v1", kind, Some("default"), name).unwrap()
    }

    /// The object in a namespace, if there is one.
    pub(crate) fn find(&self, kind: &str, namespace: &str, name: &str) -> Option<Value> {
        self.sim.store().get("v1", kind, Some(namespace), name).ok()
    }

    /// Changes an object in `default`.
    pub(crate) fn change(&self, kind: &str, name: &str, change: impl FnOnce(&mut Value)) {
        self.change_in(kind, Some("default"), name, change);
    }

    pub(crate) fn change_in(
        &self,
        kind: &str,
        namespace: Option<&str>,
        name: &str,
        change: impl FnOnce(&mut Value),
    ) {
        let mut object = self.sim.store().get("v1", kind, namespace, name).unwrap();
        change(&mut object);
        self.sim.store().update(object).unwrap();
    }

    /// Changes the data of a config map.
    pub(crate) fn touch(&self, name: &str) {
        let version = self.sim.store().resource_version().to_string();
        self.change("ConfigMap", name, |map| map["data"] = json!({"touched": version}));
    }

    pub(crate) fn delete(&self, kind: &str, name: &str) {
        self.delete_of("v1", kind, name);
    }

    pub(crate) fn delete_of(&self, api_version: &str, kind: &str, name: &str) {
        let store = self.sim.store();
        store.delete(api_version, kind, Some("default"), name).unwrap();
    }
}

/// References to these config maps.
pub(crate) fn references(owners: &[&Value]) -> Value {
    let owners = owners.iter().map(|owner| {
        let metadata = &owner["metadata"];
        json!({"apiVersion": "v1", "kind": "ConfigMap", "name": metadata["name"], "uid": metadata["uid"]})
    });
    owners.collect()
}

/// One call of a reconciler.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) name: String,
    /// Since the start of the controller.
    pub(crate) at: Duration,
    pub(crate) attempt: Attempt,
}

pub(crate) type Report<K> = Result<(ObjectRef<K>, Action), Error<Failure, watcher::Error>>;

/// A controller that is polled by a task.
pub(crate) struct Running<K: Resource> {
    runs: mpsc::UnboundedReceiver<Run>,
    reports: mpsc::UnboundedReceiver<Report<K>>,
    pub(crate) task: JoinHandle<()>,
}

/// Runs a controller whose error policy is a backoff.
pub(crate) fn start<K, Fut>(
    controller: Controller<K>,
    reconcile: impl FnMut(Arc<K>) -> Fut + Send + 'static,
) -> Running<K>
where
    K: Resource<DynamicType: Eq + Hash + Clone + Send> + Send + Sync + 'static,
    Fut: Future<Output = Result<Action, Failure>> + Send + 'static,
{
    start_with(controller, reconcile, |_| Action::backoff())
}

pub(crate) fn start_with<K, Fut>(
    controller: Controller<K>,
    mut reconcile: impl FnMut(Arc<K>) -> Fut + Send + 'static,
    policy: impl Fn(&Failure) -> Action + Send + 'static,
) -> Running<K>
where
    K: Resource<DynamicType: Eq + Hash + Clone + Send> + Send + Sync + 'static,
    Fut: Future<Output = Result<Action, Failure>> + Send + 'static,
{
    let (called, runs) = mpsc::unbounded_channel();
    let (reported, reports) = mpsc::unbounded_channel();
    let began = Instant::now();
    let reconciler = move |object: Arc<K>, _: Arc<()>| {
        let run = Run {
            name: object.name_any(),
            at: began.elapsed(),
            attempt: Attempt::current().unwrap(),
        };
        let _ = called.send(run);
        reconcile(object)
    };
    let policy = move |_: Arc<K>, failure: &Failure, _: Arc<()>| policy(failure);
    let stream = controller.run(reconciler, policy, Arc::new(()));
    let task = tokio::spawn(async move {
        let mut stream = std::pin::pin!(stream);
        while let Some(report) = stream.next().await {
            let _ = reported.send(report);
        }
    });
    Running { runs, reports, task }
}

impl<K: Resource> Running<K> {
    /// The next call of the reconciler.
    pub(crate) async fn run(&mut self) -> Run {
        let run = timeout(Duration::from_secs(4000), self.runs.recv()).await;
        run.expect("the reconciler is called in time")
            .expect("the controller runs")
    }

    /// The names in the next calls, sorted.
    pub(crate) async fn names(&mut self, count: usize) -> Vec<String> {
        let mut names = Vec::new();
        for _ in 0..count {
            names.push(self.run().await.name);
        }
        names.sort();
        names
    }

    /// No call within this time.
    pub(crate) async fn quiet_for(&mut self, time: Duration) {
        let run = timeout(time, self.runs.recv()).await;
        assert!(run.is_err(), "{run:?}");
    }

    /// A call that has been made already.
    pub(crate) fn run_now(&mut self) -> Option<Run> {
        self.runs.try_recv().ok()
    }

    /// The controller has ended, and has not called the reconciler again.
    pub(crate) async fn no_more_runs(&mut self) {
        let run = self.runs.recv().await;
        assert!(run.is_none(), "{run:?}");
    }

    /// The next item of the stream.
    pub(crate) async fn report(&mut self) -> Report<K> {
        let report = timeout(Duration::from_secs(4000), self.reports.recv()).await;
        report.expect("a result in time").expect("the controller runs")
    }

    /// The next error of the stream.
    pub(crate) async fn error(&mut self) -> Error<Failure, watcher::Error> {
        loop {
            if let Err(error) = self.report().await {
                return error;
            }
        }
    }

    /// The errors that the stream has given so far.
    pub(crate) fn errors(&mut self) -> Vec<String> {
        let mut errors = Vec::new();
        while let Ok(report) = self.reports.try_recv() {
            errors.extend(report.err().map(|error| error.to_string()));
        }
        errors
    }
}
