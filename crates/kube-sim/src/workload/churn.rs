//! What happens to the objects of a workload: status updates, label changes, deletions and creations, heartbeats.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rand::Rng;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{EPOCH, Workload, node_name, time};
use crate::api::write::{DeleteOptions, Writer};
use crate::api::{Api, Target};
use crate::status::StatusError;

/// Changes that go on by themselves.
pub(crate) struct Churn {
    changes: Arc<AtomicU64>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Churn {
    /// Starts `per_second` changes a second of the workload's first `pods` pods.
    pub(crate) fn start(api: Arc<Api>, workload: Workload, pods: usize, per_second: f64) -> Self {
        let (changes, stop, tasks) = (
            Arc::new(AtomicU64::new(0)),
            api.closing.child_token(),
            TaskTracker::new(),
        );
        let changer = Changer::new(api, workload, pods, per_second);
        tasks.spawn(run(changer, per_second, changes.clone(), stop.clone()));
        tasks.close();
        Self { changes, stop, tasks }
    }

    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// Stops at once; the future is ready when no change comes any more.
    pub(crate) fn stop(&self) -> impl Future<Output = ()> + Send + use<> {
        self.stop.cancel();
        let tasks = self.tasks.clone();
        async move { tasks.wait().await }
    }
}

async fn run(mut changer: Changer, per_second: f64, changes: Arc<AtomicU64>, stop: CancellationToken) {
    let mut ticks = tokio::time::interval(Duration::from_secs_f64(1.0 / per_second));
    // The rate holds on average also when it is finer than the timer, or the machine is busy.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            _ = ticks.tick() => {}
        }
        match changer.change() {
            Ok(()) => {
                changes.fetch_add(1, Ordering::Relaxed);
            }
            // Somebody else may have changed or deleted the object: not an error of the workload.
            Err(error) => tracing::debug!(%error, "a change of the workload was refused"),
        }
    }
}

/// Makes one change after the other.
struct Changer {
    api: Arc<Api>,
    workload: Workload,
    rng: StdRng,
    /// The pods there are: namespace and name.
    pods: Vec<(String, String)>,
    /// The number of the next new pod.
    next_pod: u64,
    /// A pod was deleted: the next change makes another.
    owed: bool,
    made: u64,
    per_second: f64,
}

impl Changer {
    fn new(api: Arc<Api>, workload: Workload, pods: usize, per_second: f64) -> Self {
        let rng = workload.rng("churn", 0);
        let names = workload.pods(pods as u64).map(|pod| {
            let text = |name: &str| pod["metadata"][name].as_str().unwrap_or("").to_owned();
            (text("namespace"), text("name"))
        });
        let names = names.collect();
        Self {
            api,
            rng,
            pods: names,
            next_pod: pods as u64,
            owed: false,
            made: 0,
            per_second,
            workload,
        }
    }

    /// The workload's time: it passes with the changes, so that they depend on nothing but the seed.
    fn now(&self) -> i64 {
        EPOCH + (self.made as f64 / self.per_second) as i64
    }

    fn change(&mut self) -> Result<(), StatusError> {
        self.made += 1;
        if std::mem::take(&mut self.owed) {
            return self.create_pod();
        }
        let kind = self.rng.random_range(0..100);
        match kind {
            _ if self.pods.is_empty() && self.workload.nodes == 0 => Ok(()),
            _ if self.workload.nodes > 0 && (kind < 5 || self.pods.is_empty()) => self.heartbeat(),
            0..75 => self.update_status(),
            75..90 => self.relabel(),
            _ => self.delete_pod(),
        }
    }

    fn create_pod(&mut self) -> Result<(), StatusError> {
        let pod = self.workload.pod(self.next_pod, self.now());
        self.next_pod += 1;
        let text = |name: &str| pod["metadata"][name].as_str().unwrap_or("").to_owned();
        let (namespace, name) = (text("namespace"), text("name"));
        let target = self.target("pods", Some(&namespace), None)?;
        let Value::Object(pod) = pod else { return Ok(()) };
        self.api.create(&target, pod, Writer::Owner)?;
        self.pods.push((namespace, name));
        Ok(())
    }

    fn delete_pod(&mut self) -> Result<(), StatusError> {
        let index = self.rng.random_range(0..self.pods.len());
        let (namespace, name) = self.pods.swap_remove(index);
        self.owed = true;
        let target = self.target("pods", Some(&namespace), Some(&name))?;
        self.api.delete(&target, &DeleteOptions::default()).map(drop)
    }

    /// A container restarts, or becomes ready or not.
    fn update_status(&mut self) -> Result<(), StatusError> {
        let now = time(self.now());
        let restart = self.rng.random_bool(0.3);
        self.modify_pod(|pod| {
            let status = &mut pod["status"];
            let container = &mut status["containerStatuses"][0];
            let ready = container["ready"] != true;
            container["ready"] = ready.into();
            if restart {
                container["restartCount"] = (container["restartCount"].as_i64().unwrap_or(0) + 1).into();
                container["state"] = json!({"running": {"startedAt": now}});
            }
            for condition in status["conditions"].as_array_mut().into_iter().flatten() {
                if condition["type"] == "Ready" || condition["type"] == "ContainersReady" {
                    condition["status"] = if ready { "True" } else { "False" }.into();
                    condition["lastTransitionTime"] = now.as_str().into();
                }
            }
            stamp(pod, &now);
        })
    }

    fn relabel(&mut self) -> Result<(), StatusError> {
        let (now, revision) = (time(self.now()), self.made);
        let tier = ["backend", "frontend", "edge"][self.rng.random_range(0..3)];
        self.modify_pod(|pod| {
            pod["metadata"]["labels"]["tier"] = tier.into();
            pod["metadata"]["labels"]["revision"] = revision.to_string().into();
            stamp(pod, &now);
        })
    }

    fn modify_pod(&mut self, change: impl FnOnce(&mut Value)) -> Result<(), StatusError> {
        let index = self.rng.random_range(0..self.pods.len());
        let (namespace, name) = &self.pods[index];
        let target = self.target("pods", Some(namespace), Some(name))?;
        let changed = self.api.modify(&target, change);
        if changed.as_ref().is_err_and(|error| error.code() == 404) {
            // Somebody else deleted it.
            self.pods.swap_remove(index);
        }
        changed
    }

    fn heartbeat(&mut self) -> Result<(), StatusError> {
        let now = time(self.now());
        let name = node_name(self.rng.random_range(0..self.workload.nodes));
        let target = self.target("nodes", None, Some(&name))?;
        let beat = self.made;
        self.api.modify(&target, |node| {
            for condition in node["status"]["conditions"].as_array_mut().into_iter().flatten() {
                condition["lastHeartbeatTime"] = now.as_str().into();
            }
            node["metadata"]["annotations"]["kube-sim/heartbeat"] = beat.to_string().into();
            stamp(node, &now);
        })
    }

    fn target(
        &self,
        plural: &str,
        namespace: Option<&str>,
        name: Option<&str>,
    ) -> Result<Target, StatusError> {
        let resource = self
            .api
            .find("", "v1", plural)
            .ok_or_else(StatusError::no_such_resource)?;
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Ok(Target {
            resource,
            version: "v1".into(),
            namespace: owned(namespace),
            name: owned(name),
            subresource: None,
        })
    }
}

/// The last manager notes when it wrote.
fn stamp(object: &mut Value, now: &str) {
    if let Some(entry) = object["metadata"]["managedFields"]
        .as_array_mut()
        .and_then(|entries| entries.last_mut())
    {
        entry["time"] = now.into();
    }
}
