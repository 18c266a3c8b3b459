//! What a real server refuses in the specs of built-in kinds: objects that are right but for one thing.

mod networks;
mod others;
mod pods;
mod policies;
mod profiles;
mod statuses;
mod storage;
mod workloads;

use serde_json::{Value, json};

use crate::case::{Ask, Case, Step, merge, post};

/// Where a kind is created, and an object of it that is right.
struct Kind {
    name: &'static str,
    path: &'static str,
    right: Value,
}

impl Kind {
    fn new(name: &'static str, path: &'static str, spec: Value) -> Self {
        Self::whole(name, path, json!({"spec": spec}))
    }

    /// Of a kind without a spec.
    fn whole(name: &'static str, path: &'static str, mut right: Value) -> Self {
        right["metadata"]["name"] = "x".into();
        Self { name, path, right }
    }

    /// A case of objects that are made from the right one by a merge patch of the spec.
    fn specs(self, rows: impl IntoIterator<Item = (&'static str, Value)>) -> Case {
        self.objects(rows.into_iter().map(|(what, spec)| (what, json!({"spec": spec}))))
    }

    /// A case of objects that are made from the right one by a merge patch.
    fn objects(self, rows: impl IntoIterator<Item = (&'static str, Value)>) -> Case {
        let asks = rows.into_iter().map(|(what, patch)| {
            let mut object = self.right.clone();
            patched(&mut object, patch);
            let path = format!("{}?dryRun=All", self.path);
            said(post(&path, &object)).named(format!("{}: {what}", self.name))
        });
        Case::new(&format!("validation-{}", self.name)).asks(asks.collect::<Vec<_>>())
    }

    /// A case of changes of the right object, by merge patches.
    fn changes(self, rows: impl IntoIterator<Item = (&'static str, Value)>) -> Case {
        let path = format!("{}/x?dryRun=All", self.path);
        let changes = rows
            .into_iter()
            .map(|(what, patch)| said(merge(&path, &patch)).named(what));
        let case = Case::new(&format!("validation-changed-{}", self.name));
        case.ask(said(post(self.path, &self.right)).named("create"))
            .asks(changes.collect::<Vec<_>>())
    }
}

impl Case {
    /// The same, without the messages, which show the object.
    fn reasons(mut self) -> Self {
        for step in &mut self.steps {
            if let Step::Ask(ask) = step {
                ask.only = vec!["/reason"];
            }
        }
        self
    }
}

/// Only why it is refused is compared: what is accepted has other tables.
fn said(ask: Ask) -> Ask {
    ask.only(["/message", "/reason", "/details"])
}

/// A merge patch.
fn patched(value: &mut Value, patch: Value) {
    match (value, patch) {
        (Value::Object(object), Value::Object(patch)) => {
            for (name, patch) in patch {
                match patch {
                    Value::Null => _ = object.remove(&name),
                    patch => patched(object.entry(name).or_insert(json!({})), patch),
                }
            }
        }
        (value, patch) => *value = patch,
    }
}

fn with(mut value: Value, patch: Value) -> Value {
    patched(&mut value, patch);
    value
}

/// A spec with a container that has something more.
fn container(more: Value) -> Value {
    json!({"containers": [with(json!({"name": "c", "image": "nginx"}), more)]})
}

fn volume(more: Value) -> Value {
    json!({"volumes": [with(json!({"name": "v"}), more)]})
}

fn port(more: Value) -> Value {
    container(json!({"ports": [with(json!({"containerPort": 80}), more)]}))
}

fn env(more: Value) -> Value {
    container(json!({"env": [with(json!({"name": "A"}), more)]}))
}

fn mount(more: Value) -> Value {
    let spec = container(json!({"volumeMounts": [with(json!({"name": "v", "mountPath": "/v"}), more)]}));
    with(spec, json!({"volumes": [{"name": "v"}]}))
}

fn probe(more: Value) -> Value {
    container(json!({"livenessProbe": with(json!({"httpGet": {"port": 80}}), more)}))
}

fn resources(requests: Value, limits: Value) -> Value {
    container(json!({"resources": {"requests": requests, "limits": limits}}))
}

fn toleration(toleration: Value) -> Value {
    json!({"tolerations": [toleration]})
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = vec![
        pods::containers(),
        pods::volumes(),
        pods::pods(),
        pods::pod_changes(),
        pods::gated_changes(),
        pods::gated_without_affinity(),
        profiles::profiles_of_containers(),
        profiles::contradictions(),
        profiles::contradictions_of_templates(),
        profiles::of_pod_templates(),
        profiles::systems(),
        profiles::windows(),
        profiles::hosts(),
        profiles::quoted(),
        profiles::ephemeral(),
        profiles::without_values(),
    ];
    for more in [
        workloads::workloads(),
        workloads::jobs(),
        networks::services(),
        storage::storage(),
        networks::networks(),
        policies::policies(),
        others::others(),
        statuses::statuses(),
    ] {
        cases.extend(more);
    }
    cases
}
