//! Tables: what `kubectl get` prints.

use serde_json::{Map, Value, json};

use crate::resources::{Column, Resource};

type Object = Map<String, Value>;

/// The columns of a resource, and the time to which ages refer.
pub(crate) struct Table {
    definitions: Value,
    kind: Kind,
    columns: Vec<Column>,
    now: jiff::Timestamp,
}

enum Kind {
    Pod,
    Node,
    Namespace,
    ConfigMap,
    ComponentStatus,
    Custom,
    Other,
}

impl Table {
    pub(crate) fn new(resource: &Resource, now: jiff::Timestamp) -> Self {
        let kind = match resource.id().as_str() {
            _ if resource.custom => Kind::Custom,
            "pods" => Kind::Pod,
            "nodes" => Kind::Node,
            "namespaces" => Kind::Namespace,
            "configmaps" => Kind::ConfigMap,
            "componentstatuses" => Kind::ComponentStatus,
            _ => Kind::Other,
        };
        let mut columns = resource.columns.clone();
        if resource.custom && columns.is_empty() {
            columns.push(Column {
                name: "Age".into(),
                kind: "date".into(),
                path: ".metadata.creationTimestamp".into(),
                priority: 0,
            });
        }
        Self {
            definitions: definitions(&kind, &columns),
            kind,
            columns,
            now,
        }
    }

    pub(crate) fn set_now(&mut self, now: jiff::Timestamp) {
        self.now = now;
    }

    pub(crate) fn definitions(&self) -> &Value {
        &self.definitions
    }

    /// The cells of one row.
    pub(crate) fn cells(&self, object: &Object) -> Vec<Value> {
        let age = Value::from(self.age(text(object, "/metadata/creationTimestamp")));
        let mut cells = vec![Value::from(text(object, "/metadata/name"))];
        match self.kind {
            Kind::Pod => cells.extend(self.pod(object, age)),
            Kind::Node => cells.extend(node(object, age)),
            Kind::Namespace => cells.extend([or_unknown(text(object, "/status/phase")), age]),
            Kind::ConfigMap => cells.extend([data(object).into(), age]),
            Kind::ComponentStatus => cells.extend(component(object)),
            Kind::Custom => cells.extend(self.columns.iter().map(|column| self.custom(column, object))),
            Kind::Other => cells.push(age),
        }
        cells
    }

    fn age(&self, timestamp: &str) -> String {
        match timestamp.parse::<jiff::Timestamp>() {
            Ok(then) => human_duration(self.now.as_second() - then.as_second()),
            Err(_) => "<unknown>".into(),
        }
    }

    fn custom(&self, column: &Column, object: &Object) -> Value {
        // Columns only use names separated by dots; any other path finds nothing.
        let pointer = column.path.replace('.', "/");
        match get(object, &pointer) {
            Some(value) if column.kind == "date" => self.age(value.as_str().unwrap_or("")).into(),
            Some(value @ (Value::String(_) | Value::Number(_) | Value::Bool(_))) => value.clone(),
            Some(value) => value.to_string().into(),
            None => Value::Null,
        }
    }

    fn pod(&self, object: &Object, age: Value) -> Vec<Value> {
        let containers = list(object, "/spec/containers").len();
        let statuses = list(object, "/status/containerStatuses");
        let ready = statuses.iter().filter(|s| s["ready"] == true).count();
        let restarts = statuses.iter().filter_map(|s| s["restartCount"].as_i64());
        let restarts = restarts.fold(0, i64::saturating_add);
        let last = statuses
            .iter()
            .filter_map(|s| s["lastState"]["terminated"]["finishedAt"].as_str())
            .max();
        let restarts = match last {
            Some(last) if restarts > 0 => format!("{restarts} ({} ago)", self.age(last)),
            _ => restarts.to_string(),
        };
        let reason = pod_reason(object, statuses, ready);
        vec![
            format!("{ready}/{containers}").into(),
            reason.into(),
            restarts.into(),
            age,
            or_none(text(object, "/status/podIP")),
            or_none(text(object, "/spec/nodeName")),
            or_none(text(object, "/status/nominatedNodeName")),
            "<none>".into(),
        ]
    }
}

/// The most informative of the phase, the pod's reason and the reasons for which its containers wait.
fn pod_reason(object: &Object, statuses: &[Value], ready: usize) -> String {
    if !text(object, "/metadata/deletionTimestamp").is_empty() {
        return "Terminating".into();
    }
    let mut reason = match text(object, "/status/reason") {
        "" => text(object, "/status/phase"),
        reason => reason,
    };
    for status in statuses.iter().rev() {
        let state = &status["state"];
        let why = [&state["waiting"]["reason"], &state["terminated"]["reason"]];
        if let Some(why) = why.iter().find_map(|w| w.as_str()) {
            reason = why;
        }
    }
    if reason == "Completed" && ready > 0 {
        reason = "Running";
    }
    if reason.is_empty() {
        "Unknown".into()
    } else {
        reason.into()
    }
}

/// The number of entries of a config map.
fn data(object: &Object) -> usize {
    let entries = |name: &str| object.get(name).and_then(Value::as_object).map_or(0, Map::len);
    entries("data") + entries("binaryData")
}

fn node(object: &Object, age: Value) -> Vec<Value> {
    let conditions = list(object, "/status/conditions");
    let ready = conditions
        .iter()
        .find(|c| c["type"] == "Ready")
        .map(|c| c["status"] == "True");
    let mut status = match ready {
        Some(true) => "Ready",
        Some(false) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if get(object, "/spec/unschedulable") == Some(&Value::Bool(true)) {
        status.push_str(",SchedulingDisabled");
    }
    let labels = get(object, "/metadata/labels").and_then(Value::as_object);
    let roles: Vec<_> = labels
        .into_iter()
        .flatten()
        .filter_map(|(name, _)| name.strip_prefix("node-role.kubernetes.io/"))
        .collect();
    let address = |kind: &str| {
        let addresses = list(object, "/status/addresses");
        let found = addresses.iter().find(|a| a["type"] == kind);
        or_none(found.and_then(|a| a["address"].as_str()).unwrap_or(""))
    };
    let info = |name: &str| text(object, &format!("/status/nodeInfo/{name}")).to_owned();
    vec![
        status.into(),
        or_none(&roles.join(",")),
        age,
        info("kubeletVersion").into(),
        address("InternalIP"),
        address("ExternalIP"),
        or_unknown(&info("osImage")),
        or_unknown(&info("kernelVersion")),
        or_unknown(&info("containerRuntimeVersion")),
    ]
}

fn definitions(kind: &Kind, columns: &[Column]) -> Value {
    let column = |name: &str, kind: &str, priority: i64| {
        let format = if name == "Name" { "name" } else { "" };
        json!({"name": name, "type": kind, "format": format, "description": name, "priority": priority})
    };
    let (narrow, wide): (&[&str], &[&str]) = match kind {
        Kind::Pod => (
            &["Name", "Ready", "Status", "Restarts", "Age"],
            &["IP", "Node", "Nominated Node", "Readiness Gates"],
        ),
        Kind::Node => (
            &["Name", "Status", "Roles", "Age", "Version"],
            &[
                "Internal-IP",
                "External-IP",
                "OS-Image",
                "Kernel-Version",
                "Container-Runtime",
            ],
        ),
        Kind::Namespace => (&["Name", "Status", "Age"], &[]),
        Kind::ConfigMap => (&["Name", "Data", "Age"], &[]),
        Kind::ComponentStatus => (&["Name", "Status", "Message", "Error"], &[]),
        Kind::Custom => (&["Name"], &[]),
        Kind::Other => (&["Name", "Age"], &[]),
    };
    let mut all: Vec<_> = narrow.iter().map(|name| column(name, "string", 0)).collect();
    all.extend(wide.iter().map(|name| column(name, "string", 1)));
    all.extend(columns.iter().map(|c| column(&c.name, &c.kind, c.priority)));
    all.into()
}

/// The status, message and error of a component.
fn component(object: &Object) -> [Value; 3] {
    let conditions = list(object, "/conditions");
    let healthy = conditions.iter().find(|condition| condition["type"] == "Healthy");
    let said = |name: &str| {
        healthy
            .map_or("", |condition| condition[name].as_str().unwrap_or(""))
            .into()
    };
    let status = match healthy.and_then(|condition| condition["status"].as_str()) {
        Some("True") => "Healthy",
        Some("False") => "Unhealthy",
        _ => "Unknown",
    };
    [status.into(), said("message"), said("error")]
}

fn get<'a>(object: &'a Object, pointer: &str) -> Option<&'a Value> {
    let mut parts = pointer.split('/').skip(1);
    let first = object.get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.get(part))
}

fn text<'a>(object: &'a Object, pointer: &str) -> &'a str {
    get(object, pointer).and_then(Value::as_str).unwrap_or("")
}

fn list<'a>(object: &'a Object, pointer: &str) -> &'a [Value] {
    get(object, pointer)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn or_none(text: &str) -> Value {
    if text.is_empty() {
        "<none>".into()
    } else {
        text.into()
    }
}

fn or_unknown(text: &str) -> Value {
    if text.is_empty() {
        "<unknown>".into()
    } else {
        text.into()
    }
}

/// A duration as kubectl and the server's tables write it: at most two units, and one if it is long.
///
/// `kubectl-informer` has the same rule for its own table: an age printer is not what a simulator is for, so it is not
/// public.
fn human_duration(seconds: i64) -> String {
    let two = |high: i64, unit: &str, low: i64, below: &str| match low {
        0 => format!("{high}{unit}"),
        low => format!("{high}{unit}{low}{below}"),
    };
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400);
    match seconds {
        ..-1 => "<invalid>".into(),
        -1 => "0s".into(),
        0..120 => format!("{seconds}s"),
        120..600 => two(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(days, "d", hours % 24, "h"),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => two(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_kubectls() {
        for (seconds, text) in [
            (-5, "<invalid>"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (156, "2m36s"),
            (601, "10m"),
            (7200, "120m"),
            (10_800, "3h"),
            (11_000, "3h3m"),
            (90_000, "25h"),
            (180_000, "2d2h"),
            (864_000, "10d"),
        ] {
            assert_eq!(human_duration(seconds), text, "{seconds}");
        }
    }
}
