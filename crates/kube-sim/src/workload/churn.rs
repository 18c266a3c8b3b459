//! What happens to the objects of a workload: status updates, label changes, deletions and creations, heartbeats.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rand::Rng;
use rand::rngs::StdRng;
use serde_json::{Map, Value, json};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{EPOCH, Workload, node_name, time};
use crate::api::Api;
use crate::api::write::{DeleteOptions, Writer};
use crate::status::StatusError;
use crate::target::Target;

/// The shortest time between two changes.
const SHORTEST: Duration = Duration::from_micros(1);
/// The longest time between two changes.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

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
    let mut ticks = tokio::time::interval(period(per_second));
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

/// The time between two changes: at most a million a second, at least one a year.
fn period(per_second: f64) -> Duration {
    let period = Duration::try_from_secs_f64(1.0 / per_second).unwrap_or(LONGEST);
    period.clamp(SHORTEST, LONGEST)
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
        self.api
            .delete(&target, &DeleteOptions::at_once(), None)
            .map(drop)
    }

    /// A container restarts, or becomes ready or not.
    fn update_status(&mut self) -> Result<(), StatusError> {
        let now = time(self.now());
        let restart = self.rng.random_bool(0.3);
        self.modify_pod(|pod| {
            let Some(container) = members(pod, "/status/containerStatuses/0") else {
                return;
            };
            let member = |name: &str| container.get(name).unwrap_or(&Value::Null);
            let ready = member("ready") != true;
            let restarts = member("restartCount").as_i64().unwrap_or(0);
            container.insert("ready".into(), ready.into());
            if restart {
                container.insert("restartCount".into(), restarts.saturating_add(1).into());
                container.insert("state".into(), json!({"running": {"startedAt": now}}));
            }
            for condition in conditions(pod) {
                let kind = condition.get("type").and_then(Value::as_str);
                if matches!(kind, Some("Ready" | "ContainersReady")) {
                    let status = if ready { "True" } else { "False" };
                    condition.insert("status".into(), status.into());
                    condition.insert("lastTransitionTime".into(), now.as_str().into());
                }
            }
            stamp(pod, &now);
        })
    }

    fn relabel(&mut self) -> Result<(), StatusError> {
        let (now, revision) = (time(self.now()), self.made);
        let tier = ["backend", "frontend", "edge"][self.rng.random_range(0..3)];
        self.modify_pod(|pod| {
            for (name, value) in [("tier", tier.to_owned()), ("revision", revision.to_string())] {
                if let Some(labels) = entries(pod, "labels") {
                    labels.insert(name.into(), value.into());
                }
            }
            stamp(pod, &now);
        })
    }

    fn modify_pod(&mut self, change: impl FnOnce(&mut Value) + Send) -> Result<(), StatusError> {
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
            for condition in conditions(node) {
                condition.insert("lastHeartbeatTime".into(), now.as_str().into());
            }
            if let Some(annotations) = entries(node, "annotations") {
                annotations.insert("kube-sim/heartbeat".into(), beat.to_string().into());
            }
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

/// The members of an object within `value`; none if somebody has put something else there.
fn members<'a>(value: &'a mut Value, pointer: &str) -> Option<&'a mut Map<String, Value>> {
    value.pointer_mut(pointer)?.as_object_mut()
}

/// The labels or annotations, which are made if there are none.
fn entries<'a>(object: &'a mut Value, name: &str) -> Option<&'a mut Map<String, Value>> {
    let entries = members(object, "/metadata")?
        .entry(name)
        .or_insert_with(|| json!({}));
    entries.as_object_mut()
}

fn conditions(object: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    let conditions = object.pointer_mut("/status/conditions");
    let conditions = conditions.and_then(Value::as_array_mut).into_iter().flatten();
    conditions.filter_map(Value::as_object_mut)
}

/// The last manager notes when it wrote.
fn stamp(object: &mut Value, now: &str) {
    let managers = object.pointer_mut("/metadata/managedFields");
    let last = managers
        .and_then(Value::as_array_mut)
        .and_then(|entries| entries.last_mut());
    if let Some(entry) = last.and_then(Value::as_object_mut) {
        entry.insert("time".into(), now.into());
    }
}
