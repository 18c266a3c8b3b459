//! Which fields an update changed, and who did it.

use crate::args::Diff;
use crate::field_path::{FieldPath, Step};
use crate::managers::Managers;
use crate::output;
use crate::path::plain;
use anstyle::AnsiColor;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::io;

/// The annotation in which `kubectl apply` keeps the object as it was applied: a second copy of it, which changes with
/// whatever else changes.
pub(crate) const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A field that an update changed.
#[derive(Debug, PartialEq)]
pub(crate) struct Change {
    pub(crate) path: FieldPath,
    /// The value before; `None` if there was none.
    pub(crate) old: Option<Value>,
    /// The value after; `None` if there is none.
    pub(crate) new: Option<Value>,
    /// Whether the values must not be shown.
    pub(crate) secret: bool,
    /// The field manager that made the change, as far as managedFields tell.
    pub(crate) manager: Option<String>,
}

impl Change {
    /// `+` for a field that is new, `-` for one that is gone, `~` for one with another value.
    pub(crate) fn sign(&self) -> char {
        match (&self.old, &self.new) {
            (None, _) => '+',
            (_, None) => '-',
            _ => '~',
        }
    }

    /// The values, and who changed them: `"blue" -> "green"   by kubectl-patch`.
    pub(crate) fn values(&self) -> String {
        let values = match (&self.old, &self.new) {
            _ if self.secret => "(not shown)".to_owned(),
            (Some(old), Some(new)) => format!("{} -> {}", short(old), short(new)),
            (one, other) => one.as_ref().or(other.as_ref()).map(short).unwrap_or_default(),
        };
        let manager = self.manager.as_ref().map(|manager| format!("   by {manager}"));
        format!("{values}{}", manager.unwrap_or_default())
    }
}

/// As a line of `-o json` has it.
impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Json<'a> {
            path: String,
            op: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            old: Option<&'a Value>,
            #[serde(skip_serializing_if = "Option::is_none")]
            new: Option<&'a Value>,
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            redacted: bool,
            #[serde(skip_serializing_if = "Option::is_none")]
            manager: Option<&'a str>,
        }
        let op = match self.sign() {
            '+' => "add",
            '-' => "remove",
            _ => "replace",
        };
        Json {
            path: self.path.to_string(),
            op,
            old: self.old.as_ref().filter(|_| !self.secret),
            new: self.new.as_ref().filter(|_| !self.secret),
            redacted: self.secret,
            manager: self.manager.as_deref(),
        }
        .serialize(serializer)
    }
}

/// Prints changed fields, a line each; `all` is the option with which all are compared.
///
/// # Errors
/// The reader has closed the output.
pub(crate) fn print(changes: &[Change], indent: &str, all: &str, colors: bool) -> io::Result<()> {
    if changes.is_empty() {
        return output::line(&format!("{indent}only bookkeeping and heartbeats (see {all})"));
    }
    for change in changes {
        let sign = change.sign();
        let color = match sign {
            '+' => AnsiColor::Green,
            '-' => AnsiColor::Red,
            _ => AnsiColor::Yellow,
        };
        let head = format!("{indent}{sign} {}", change.path);
        output::colored(
            Some(color).filter(|_| colors),
            &head,
            &format!(": {}", change.values()),
        )?;
    }
    Ok(())
}

/// The colour of an event: `add`, `update` or `delete`.
pub(crate) fn color(event: &str) -> Option<AnsiColor> {
    match event {
        "add" => Some(AnsiColor::Green),
        "update" => Some(AnsiColor::Yellow),
        "delete" => Some(AnsiColor::Red),
        _ => None,
    }
}

/// A value, in its beginning if it is long.
fn short(value: &Value) -> String {
    const SHOWN: usize = 120;
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}... ({} bytes)", &text[..end], text.len()),
        None => text,
    }
}

/// The object without the copy of it that `kubectl apply` keeps in it.
fn without_last_applied(object: &Value) -> Cow<'_, Value> {
    if object["metadata"]["annotations"].get(LAST_APPLIED).is_none() {
        return Cow::Borrowed(object);
    }
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut()
        && let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut)
    {
        annotations.remove(LAST_APPLIED);
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
    Cow::Owned(object)
}

/// The fields that differ between two states of an object.
pub(crate) fn changes(old: &Value, new: &Value, diff: Diff) -> Vec<Change> {
    let mut found = Found {
        path: vec![],
        changes: vec![],
    };
    match diff {
        Diff::Content => found.compare(&without_last_applied(old), &without_last_applied(new)),
        Diff::All => found.compare(old, new),
    }
    let managers = Managers::of(new, old);
    let (kind, is_secret) = (new["kind"].as_str().unwrap_or_default(), is_secret(new));
    let mut changes = found.changes;
    changes.retain(|change| diff == Diff::All || !change.path.is_bookkeeping(kind));
    for change in &mut changes {
        change.secret = is_secret && change.path.may_be_secret();
        change.manager = managers.of_field(change.path.steps()).map(ToOwned::to_owned);
    }
    changes
}

/// Who made some changes, each once.
pub(crate) fn managers(changes: &[Change]) -> BTreeSet<&str> {
    changes
        .iter()
        .filter_map(|change| change.manager.as_deref())
        .collect()
}

fn is_secret(object: &Value) -> bool {
    object["kind"] == "Secret" && object["apiVersion"] == "v1"
}

struct Found {
    path: Vec<Step>,
    changes: Vec<Change>,
}

impl Found {
    fn compare(&mut self, old: &Value, new: &Value) {
        match (old, new) {
            (old, new) if old == new => {}
            (Value::Object(old), Value::Object(new)) => self.objects(old, new),
            (Value::Array(before), Value::Array(after)) => match keys(before, after) {
                Some(keys) => {
                    let known = self.changes.len();
                    self.lists(before, after, keys);
                    // Nothing but the order.
                    if self.changes.len() == known {
                        self.push(Some(old), Some(new));
                    }
                }
                None if before.len() == after.len() && before.iter().chain(after).all(Value::is_object) => {
                    for (index, (old, new)) in before.iter().zip(after).enumerate() {
                        self.at(Step::Index(index), |found| found.compare(old, new));
                    }
                }
                None => self.push(Some(old), Some(new)),
            },
            (old, new) => self.push(Some(old), Some(new)),
        }
    }

    fn objects(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        let names: BTreeSet<_> = old.keys().chain(new.keys()).collect();
        for name in names {
            self.at(Step::Field(name.clone()), |found| {
                found.either(old.get(name), new.get(name));
            });
        }
    }

    fn lists(&mut self, old: &[Value], new: &[Value], keys: Keys) {
        let by_key = |list: &'_ [Value]| -> HashMap<_, _> {
            let places = list.iter().enumerate();
            places
                .map(|(at, element)| (identity(keys, element), at))
                .collect()
        };
        let (known, wanted) = (by_key(old), by_key(new));
        for before in old {
            let after = wanted.get(&identity(keys, before)).and_then(|at| new.get(*at));
            self.at(element(keys, after.unwrap_or(before)), |found| {
                found.either(Some(before), after);
            });
        }
        let is_new = |after: &&Value| !known.contains_key(&identity(keys, after));
        for after in new.iter().filter(is_new) {
            self.at(element(keys, after), |found| found.push(None, Some(after)));
        }
    }

    fn either(&mut self, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (Some(old), Some(new)) => self.compare(old, new),
            (old, new) => self.push(old, new),
        }
    }

    fn at(&mut self, step: Step, compare: impl FnOnce(&mut Self)) {
        self.path.push(step);
        compare(self);
        self.path.pop();
    }

    fn push(&mut self, old: Option<&Value>, new: Option<&Value>) {
        self.changes.push(Change {
            path: FieldPath::new(self.path.clone()),
            old: old.cloned(),
            new: new.cloned(),
            secret: false,
            manager: None,
        });
    }
}

type Keys = &'static [&'static str];

/// The fields by which Kubernetes tells elements of lists apart. The first ones that an element has, and that no other
/// element of the list has equal, are its key.
const KEYS: &[Keys] = &[
    &["name"],
    &["type"],
    &["uid"],
    &["ip"],
    &["containerPort", "protocol"],
    &["port", "protocol"],
    &["mountPath"],
    &["devicePath"],
    &["key", "effect"],
    &["topologyKey", "whenUnsatisfiable"],
    &["key"],
    &["port"],
];

/// The key of the elements of two states of a list.
fn keys(old: &[Value], new: &[Value]) -> Option<Keys> {
    let identify = |keys: &Keys, list: &[Value]| {
        let mut seen = BTreeSet::new();
        list.iter().all(|element| {
            let values = identity(keys, element);
            values.iter().all(Option::is_some) && seen.insert(values)
        })
    };
    let mut known = KEYS.iter().copied();
    known.find(|keys| identify(keys, old) && identify(keys, new))
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(_) | Value::Number(_) => Some(plain(value)),
        _ => None,
    }
}

/// The values of its keys, by which an element is told from others.
fn identity(keys: Keys, element: &Value) -> Vec<Option<String>> {
    keys.iter().map(|key| scalar(&element[*key])).collect()
}

fn element(keys: Keys, element: &Value) -> Step {
    Step::Element {
        keys: keys.iter().map(|key| (*key, plain(&element[*key]))).collect(),
        element: element.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Each change as people see it, without managers.
    fn shown(old: Value, new: Value, diff: Diff) -> Vec<String> {
        let text = |value: Option<Value>| value.map_or("none".into(), |value| value.to_string());
        changes(&old, &new, diff)
            .into_iter()
            .map(|change| format!("{}: {} -> {}", change.path, text(change.old), text(change.new)))
            .collect()
    }

    #[test]
    fn fields_are_told_by_their_paths() {
        let old = json!({
            "metadata": {"name": "a", "labels": {"app": "x", "gone": "1"}},
            "spec": {"containers": [{"name": "c", "image": "i:1"}, {"name": "d"}], "args": ["x"], "n": 1},
            "status": {"conditions": [{"type": "Ready", "status": "False"}]},
        });
        let new = json!({
            "metadata": {"name": "a", "labels": {"app": "y", "example.com/new": "2"}},
            "spec": {"containers": [{"name": "e"}, {"name": "c", "image": "i:2"}], "args": ["x", "y"], "n": "1"},
            "status": {"conditions": [{"type": "Ready", "status": "True"}], "phase": "Running"},
        });
        assert_eq!(
            shown(old, new, Diff::Content),
            [
                r#"metadata.labels.app: "x" -> "y""#,
                r#"metadata.labels["example.com/new"]: none -> "2""#,
                r#"metadata.labels.gone: "1" -> none"#,
                r#"spec.args: ["x"] -> ["x","y"]"#,
                r#"spec.containers[name=c].image: "i:1" -> "i:2""#,
                r#"spec.containers[name=d]: {"name":"d"} -> none"#,
                r#"spec.containers[name=e]: none -> {"name":"e"}"#,
                r#"spec.n: 1 -> "1""#,
                r#"status.conditions[type=Ready].status: "False" -> "True""#,
                r#"status.phase: none -> "Running""#,
            ]
        );
    }

    #[test]
    fn lists_are_compared_by_their_keys() {
        let list = |elements: Value| json!({"list": elements});
        let check = |old: Value, new: Value, expected: &[&str]| {
            assert_eq!(shown(list(old), list(new), Diff::Content), expected);
        };
        // One port number for two protocols; names are not unique.
        check(
            json!([{"port": 53, "protocol": "UDP", "x": 1}, {"port": 53, "protocol": "TCP"}]),
            json!([{"port": 53, "protocol": "TCP"}, {"port": 53, "protocol": "UDP", "x": 2}]),
            &["list[port=53,protocol=UDP].x: 1 -> 2"],
        );
        check(
            json!([{"name": "v", "mountPath": "/a"}, {"name": "v", "mountPath": "/b"}]),
            json!([{"name": "v", "mountPath": "/a", "readOnly": true}, {"name": "v", "mountPath": "/b"}]),
            &["list[mountPath=/a].readOnly: none -> true"],
        );
        check(
            json!([{"x": 1}, {"x": 2}]),
            json!([{"x": 1}, {"x": 3}]),
            &["list[1].x: 2 -> 3"],
        );
        check(
            json!([{"name": "a"}, {"name": "b"}]),
            json!([{"name": "b"}, {"name": "a"}]),
            &[r#"list: [{"name":"a"},{"name":"b"}] -> [{"name":"b"},{"name":"a"}]"#],
        );
    }

    #[test]
    fn bookkeeping_and_heartbeats_are_left_out() {
        let state = |kind: &str, n: u64| {
            json!({
                "kind": kind,
                "metadata": {"resourceVersion": n.to_string(), "managedFields": [{"manager": n.to_string()}]},
                "spec": {"renewTime": n},
                "status": {"conditions": [{"type": "Ready", "lastHeartbeatTime": n, "lastProbeTime": n}]},
            })
        };
        assert_eq!(
            shown(state("Lease", 1), state("Lease", 2), Diff::Content),
            [""; 0]
        );
        assert_eq!(
            shown(state("Other", 1), state("Other", 2), Diff::Content),
            ["spec.renewTime: 1 -> 2"]
        );
        assert_eq!(shown(state("Lease", 1), state("Lease", 2), Diff::All).len(), 5);
    }

    #[test]
    fn the_applied_copy_is_no_change() {
        let object = |applied: Option<&str>, replicas: u64| {
            let mut object = json!({"metadata": {"name": "a"}, "spec": {"replicas": replicas}});
            if let Some(applied) = applied {
                object["metadata"]["annotations"] = json!({ LAST_APPLIED: applied });
            }
            object
        };
        let changed = ["spec.replicas: 1 -> 2"];
        assert_eq!(
            shown(object(None, 1), object(Some("x"), 2), Diff::Content),
            changed
        );
        assert_eq!(
            shown(object(Some("x"), 1), object(Some("y"), 2), Diff::Content),
            changed
        );
        assert_eq!(
            shown(object(Some("x"), 1), object(None, 2), Diff::Content),
            changed
        );
        assert_eq!(
            shown(object(Some("x"), 1), object(Some("y"), 2), Diff::All).len(),
            2
        );
    }

    #[test]
    fn patterns_tell_no_elements_apart() {
        let old =
            json!({"data": {"a.conf": "1"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}});
        let new = json!({"data": {"a.conf": "2"}, "status": {"conditions": [{"type": "Ready", "status": "False"}]}});
        let changes = changes(&old, &new, Diff::All);
        let patterns: Vec<_> = changes.iter().map(|change| change.path.pattern()).collect();
        assert_eq!(patterns, ["data.*", "status.conditions[*].status"]);
    }

    #[test]
    fn secrets_are_marked() {
        let secret = |value: &str| {
            json!({
                "apiVersion": "v1", "kind": "Secret", "type": value, "data": {"password": value},
                "metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": value}},
            })
        };
        let marked: Vec<_> = changes(&secret("a"), &secret("b"), Diff::All)
            .into_iter()
            .map(|change| (change.path.to_string(), change.secret))
            .collect();
        let applied = "metadata.annotations[\"kubectl.kubernetes.io/last-applied-configuration\"]";
        assert_eq!(
            marked,
            [
                ("data.password".into(), true),
                (applied.into(), true),
                ("type".into(), false)
            ]
        );
    }

    #[test]
    fn long_lists_are_compared_element_by_element() {
        const ELEMENTS: usize = 5000;
        let object = |value: usize| {
            let list: Vec<_> = (0..ELEMENTS)
                .map(|number| json!({"name": format!("n{number}"), "value": value + number}))
                .collect();
            let owned = (0..ELEMENTS).map(|number| {
                (
                    format!(r#"k:{{"name":"n{number}"}}"#),
                    json!({".": {}, "f:value": {}}),
                )
            });
            let owned: Map<String, Value> = owned.collect();
            let manager = json!({"manager": "m", "fieldsV1": {"f:spec": {"f:env": owned}}});
            json!({"metadata": {"managedFields": [manager]}, "spec": {"env": list}})
        };
        let changes = changes(&object(0), &object(1), Diff::Content);
        assert_eq!(changes.len(), ELEMENTS);
        assert_eq!(changes[7].path.to_string(), "spec.env[name=n7].value");
        assert!(
            changes
                .iter()
                .all(|change| change.manager.as_deref() == Some("m"))
        );
    }
}
