//! What a table says of a pod: how many of its containers are ready, the most telling reason for its state, and restarts.

use serde_json::{Value, json};

use super::row::{Object, Row};

pub(super) struct Summary {
    pub(super) ready: String,
    pub(super) reason: String,
    pub(super) restarts: String,
}

/// Restarts, and the time of the last one.
#[derive(Clone, Copy, Default)]
struct Restarts<'a> {
    count: i64,
    last: Option<(jiff::Timestamp, &'a str)>,
}

impl<'a> Restarts<'a> {
    fn add(&mut self, status: &'a Value) {
        let count = status["restartCount"].as_i64().unwrap_or(0);
        self.count = self.count.saturating_add(count);
        let finished = status["lastState"]["terminated"]["finishedAt"]
            .as_str()
            .unwrap_or("");
        if let Ok(time) = finished.parse::<jiff::Timestamp>()
            && self.last.is_none_or(|(last, _)| last < time)
        {
            self.last = Some((time, finished));
        }
    }
}

impl Summary {
    pub(super) fn of(row: &Row<'_>) -> Self {
        let phase = row.text("/status/phase");
        let conditions = row.list("/status/conditions");
        let mut reason = match row.text("/status/reason") {
            "" => phase.to_owned(),
            reason => reason.to_owned(),
        };
        let is_gated = |condition: &Value| {
            condition["type"] == "PodScheduled" && condition["reason"] == "SchedulingGated"
        };
        if conditions.iter().any(is_gated) {
            reason = "SchedulingGated".into();
        }
        let sidecars: Vec<_> = row
            .list("/spec/initContainers")
            .iter()
            .filter(|container| container["restartPolicy"] == "Always")
            .map(|container| &container["name"])
            .collect();
        let total = row.length("/spec/containers") + sidecars.len();
        let mut ready = 0;
        let (mut all, mut of_sidecars) = (Restarts::default(), Restarts::default());
        let mut is_initializing = false;
        for (at, status) in row.list("/status/initContainerStatuses").iter().enumerate() {
            let is_sidecar = sidecars.contains(&&status["name"]);
            all.add(status);
            if is_sidecar {
                of_sidecars.add(status);
            }
            let terminated = &status["state"]["terminated"];
            if terminated.is_object() && exit_code(terminated) == 0 {
                continue;
            }
            if is_sidecar && status["started"] == true {
                ready += usize::from(status["ready"] == true);
                continue;
            }
            reason = match status["state"]["waiting"]["reason"].as_str() {
                _ if terminated.is_object() => format!("Init:{}", end_reason(terminated)),
                Some(why) if !why.is_empty() && why != "PodInitializing" => format!("Init:{why}"),
                _ => format!("Init:{at}/{}", row.length("/spec/initContainers")),
            };
            is_initializing = true;
            break;
        }
        if !is_initializing || holds(conditions, "Initialized") {
            all = of_sidecars;
            let mut is_running = false;
            let mut failure = None;
            for status in row.list("/status/containerStatuses").iter().rev() {
                all.add(status);
                let state = &status["state"];
                match state["waiting"]["reason"].as_str() {
                    Some(why) if !why.is_empty() => reason = why.to_owned(),
                    _ if state["terminated"].is_object() => {
                        reason = end_reason(&state["terminated"]);
                        if exit_code(&state["terminated"]) != 0 {
                            failure = Some(reason.clone());
                        }
                    }
                    _ if status["ready"] == true && state["running"].is_object() => {
                        is_running = true;
                        ready += 1;
                    }
                    _ => {}
                }
            }
            if reason == "Completed" {
                reason = match failure {
                    _ if is_running && holds(conditions, "Ready") => "Running".into(),
                    Some(failure) => failure,
                    None if is_running => "NotReady".into(),
                    None => reason,
                };
            }
        }
        if row.is_deleted() {
            if row.text("/status/reason") == "NodeLost" {
                reason = "Unknown".into();
            } else if !matches!(phase, "Succeeded" | "Failed") {
                reason = "Terminating".into();
            }
        }
        let restarts = match all.last {
            Some((_, last)) if all.count != 0 => format!("{} ({} ago)", all.count, row.age(last)),
            _ => all.count.to_string(),
        };
        Self {
            ready: format!("{ready}/{total}"),
            reason,
            restarts,
        }
    }
}

fn exit_code(terminated: &Value) -> i64 {
    terminated["exitCode"].as_i64().unwrap_or(0)
}

/// Why a container ended.
fn end_reason(terminated: &Value) -> String {
    match (terminated["reason"].as_str(), terminated["signal"].as_i64()) {
        (Some(reason), _) if !reason.is_empty() => reason.to_owned(),
        (_, Some(signal)) if signal != 0 => format!("Signal:{signal}"),
        _ => format!("ExitCode:{}", exit_code(terminated)),
    }
}

fn holds(conditions: &[Value], kind: &str) -> bool {
    let found = conditions.iter().find(|condition| condition["type"] == kind);
    found.is_some_and(|condition| condition["status"] == "True")
}

pub(super) fn readiness_gates(row: &Row<'_>) -> Value {
    let gates = row.list("/spec/readinessGates");
    if gates.is_empty() {
        return "<none>".into();
    }
    let conditions = row.list("/status/conditions");
    let open = |gate: &&Value| {
        gate["conditionType"]
            .as_str()
            .is_some_and(|kind| holds(conditions, kind))
    };
    format!("{}/{}", gates.iter().filter(open).count(), gates.len()).into()
}

/// The conditions of the row of a pod that has ended.
pub(super) fn ended(object: &Object) -> Option<Value> {
    let (reason, message) = match object.get("status")?.get("phase")?.as_str()? {
        "Succeeded" => ("Succeeded", "The pod has completed successfully."),
        "Failed" => ("Failed", "The pod failed."),
        _ => return None,
    };
    Some(json!([{"type": "Completed", "status": "True", "reason": reason, "message": message}]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(status: Value) -> [String; 3] {
        let pod = json!({
            "metadata": {"name": "p"},
            "spec": {
                "initContainers": [{"name": "i"}, {"name": "s", "restartPolicy": "Always"}],
                "containers": [{"name": "a"}, {"name": "b"}],
            },
            "status": status,
        });
        let row = Row {
            object: pod.as_object().unwrap(),
            now: "2026-01-01T00:01:00Z".parse().unwrap(),
        };
        let Summary {
            ready,
            reason,
            restarts,
        } = Summary::of(&row);
        [ready, reason, restarts]
    }

    #[test]
    fn a_pods_state_has_the_most_telling_reason() {
        let running = json!({"running": {}});
        let waiting = |why: &str| json!({"waiting": {"reason": why}});
        let ended = |code: i64, why: &str| json!({"terminated": {"exitCode": code, "reason": why}});
        let of = |name: &str, state: &Value| json!({"name": name, "ready": state["running"].is_object(), "state": state});
        let both =
            |a: &Value, b: &Value| json!({"phase": "Running", "containerStatuses": [of("a", a), of("b", b)]});
        for (status, ready, reason) in [
            (json!({}), "0/3", ""),
            (json!({"phase": "Pending"}), "0/3", "Pending"),
            (json!({"phase": "Failed", "reason": "Evicted"}), "0/3", "Evicted"),
            (
                json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]}),
                "0/3",
                "SchedulingGated",
            ),
            (both(&running, &running), "2/3", "Running"),
            (
                both(&running, &waiting("CrashLoopBackOff")),
                "1/3",
                "CrashLoopBackOff",
            ),
            (both(&ended(0, "Completed"), &ended(1, "Error")), "0/3", "Error"),
            (both(&ended(0, "Completed"), &running), "1/3", "NotReady"),
            (both(&ended(2, ""), &running), "1/3", "ExitCode:2"),
            (
                json!({"phase": "Pending", "initContainerStatuses": [of("i", &running)]}),
                "0/3",
                "Init:0/2",
            ),
            (
                json!({"phase": "Pending", "initContainerStatuses": [of("i", &waiting("ErrImagePull"))]}),
                "0/3",
                "Init:ErrImagePull",
            ),
            (
                json!({"phase": "Pending", "initContainerStatuses": [of("i", &ended(3, ""))]}),
                "0/3",
                "Init:ExitCode:3",
            ),
            (
                json!({"phase": "Running", "initContainerStatuses": [
                    of("i", &ended(0, "Completed")),
                    {"name": "s", "ready": true, "started": true, "state": {"running": {}}},
                ]}),
                "1/3",
                "Running",
            ),
        ] {
            let [is_ready, why, _] = summary(status.clone());
            assert_eq!((is_ready.as_str(), why.as_str()), (ready, reason), "{status}");
        }
    }

    #[test]
    fn a_pods_restarts_are_those_of_what_still_runs() {
        let finished = |time: &str| json!({"terminated": {"finishedAt": time}});
        let status = json!({
            "phase": "Running",
            "initContainerStatuses": [
                {"name": "i", "restartCount": 7, "state": {"terminated": {"exitCode": 0}}},
                {"name": "s", "restartCount": 1, "started": true, "state": {"running": {}}},
            ],
            "containerStatuses": [
                {"name": "a", "restartCount": 2, "lastState": finished("2026-01-01T00:00:30Z")},
                {"name": "b", "restartCount": 1, "lastState": finished("2026-01-01T00:00:10Z")},
            ],
        });
        assert_eq!(summary(status)[2], "4 (30s ago)");
    }
}
