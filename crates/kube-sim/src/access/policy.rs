//! What the roles and bindings in a cluster allow.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};

use super::{Attributes, MASTERS, Subject, User};
use crate::nesting;
use crate::object::Stored;
use crate::storage::Snapshot;

pub(crate) const GROUP: &str = "rbac.authorization.k8s.io";

/// One rule of a role; lists are sets, and `*` is everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Rule {
    pub(crate) verbs: Vec<String>,
    pub(crate) groups: Vec<String>,
    pub(crate) resources: Vec<String>,
    pub(crate) names: Vec<String>,
    pub(crate) paths: Vec<String>,
}

impl Rule {
    pub(crate) fn read(rule: &Value) -> Self {
        let list = |name: &str| -> Vec<String> {
            let items = rule[name].as_array().into_iter().flatten();
            items.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Self {
            verbs: list("verbs"),
            groups: list("apiGroups"),
            resources: list("resources"),
            names: list("resourceNames"),
            paths: list("nonResourceURLs"),
        }
    }

    fn allows(&self, attributes: &Attributes) -> bool {
        has(&self.verbs, &attributes.verb)
            && match &attributes.subject {
                Subject::Path(path) => self.paths.iter().any(|rule| is_path(rule, path)),
                Subject::Resource {
                    group,
                    resource,
                    subresource,
                    name,
                    ..
                } => {
                    let mut resources = self.resources.iter();
                    has(&self.groups, group)
                        && resources.any(|rule| is_resource(rule, resource, subresource))
                        && (self.names.is_empty() || self.names.contains(name))
                }
            }
    }
}

fn has(list: &[String], what: &str) -> bool {
    list.iter().any(|item| item == "*" || item == what)
}

/// Whether a rule's path is this one, or begins it.
pub(crate) fn is_path(rule: &str, path: &str) -> bool {
    match rule.strip_suffix('*') {
        Some(start) => path.starts_with(start),
        None => rule == path,
    }
}

/// Whether a rule's resource is this one: `*` is any, `*/scale` any with that subresource. There is none if it is empty.
fn is_resource(rule: &str, resource: &str, subresource: &str) -> bool {
    let is_part_of = |resource: &str| {
        let part = rule
            .strip_prefix(resource)
            .and_then(|rest| rest.strip_prefix('/'));
        part == Some(subresource)
    };
    match subresource {
        _ if rule == "*" => true,
        "" => rule == resource,
        _ => is_part_of(resource) || is_part_of("*"),
    }
}

pub(crate) enum Decision {
    /// With the reason, as reviews show it.
    Allowed(String),
    /// With the roles that bindings name and that are not there.
    NotAllowed(Vec<String>),
}

/// The rules of a role or of what is written as one.
pub(crate) fn rules_in(role: &Map<String, Value>) -> Vec<Rule> {
    let rules = role.get("rules").and_then(Value::as_array).into_iter().flatten();
    rules.map(Rule::read).collect()
}

/// A role that a binding names and that is not there: `Role` or `ClusterRole`, and the name.
pub(crate) type Missing = (&'static str, String);

/// All that a user may do in a namespace.
pub(crate) struct Grants {
    pub(crate) rules: Vec<Rule>,
    pub(crate) missing: Vec<Missing>,
}

impl Grants {
    /// What is missing, as a refusal says it.
    pub(crate) fn errors(&self) -> Vec<String> {
        errors(&self.missing)
    }
}

fn errors(missing: &[Missing]) -> Vec<String> {
    missing
        .iter()
        .map(|(kind, name)| format!("{}.{GROUP} \"{name}\" not found", kind.to_lowercase()))
        .collect()
}

/// The plurals of what makes a policy.
pub(super) const BINDINGS: [&str; 2] = ["clusterrolebindings", "rolebindings"];
pub(super) const ROLES: [&str; 2] = ["clusterroles", "roles"];

/// How many roles or bindings are kept decoded before the cache begins anew.
const KEPT: usize = 10_000;

/// What has been decoded, by its key, with what it was decoded from: another version of an object is another one.
struct Decoded<T>(Mutex<HashMap<Arc<str>, Origin<T>>>);

type Origin<T> = (Arc<Stored>, Arc<T>);

impl<T> Default for Decoded<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Decoded<T> {
    fn get(&self, stored: &Arc<Stored>, read: impl FnOnce(Map<String, Value>) -> T) -> Arc<T> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, decoded)) = lock().get(&stored.key)
            && Arc::ptr_eq(of, stored)
        {
            return decoded.clone();
        }
        let object = nesting::with_room(stored.depth, || stored.decode(b"{"));
        let decoded = Arc::new(read(object));
        let mut kept = lock();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(stored.key.clone(), (stored.clone(), decoded.clone()));
        decoded
    }
}

/// The roles and bindings that have been decoded, each with those of the cluster first.
#[derive(Default)]
pub(crate) struct DecodedPolicy {
    bindings: [Decoded<Binding>; 2],
    roles: [Decoded<Vec<Rule>>; 2],
}

struct Binding {
    subjects: Vec<Value>,
    kind: String,
    name: String,
}

impl Binding {
    fn read(binding: &Map<String, Value>) -> Self {
        let subjects = binding.get("subjects").and_then(Value::as_array);
        let reference = binding.get("roleRef").unwrap_or(&Value::Null);
        let text = |name: &str| reference[name].as_str().unwrap_or("").to_owned();
        Self {
            subjects: subjects.cloned().unwrap_or_default(),
            kind: text("kind"),
            name: text("name"),
        }
    }
}

/// The roles and bindings of one moment, which can be asked without the storage's lock.
pub(crate) struct Policy {
    pub(super) decoded: Arc<DecodedPolicy>,
    pub(super) bindings: [Option<Snapshot>; 2],
    pub(super) roles: [Option<Snapshot>; 2],
}

impl Policy {
    /// Whether a user may do something: the first rule that allows it says so.
    pub(crate) fn decide(&self, user: &User, attributes: &Attributes) -> Decision {
        if user.is_in(MASTERS) {
            return Decision::Allowed(String::new());
        }
        let namespace = match &attributes.subject {
            Subject::Path(_) => "",
            Subject::Resource { namespace, .. } => namespace,
        };
        let mut allowed = None;
        let missing = self.visit(user, namespace, |rules, by| {
            if !rules.iter().any(|rule| rule.allows(attributes)) {
                return ControlFlow::Continue(());
            }
            allowed = Some(format!("RBAC: allowed by {by}"));
            ControlFlow::Break(())
        });
        match allowed {
            Some(reason) => Decision::Allowed(reason),
            None => Decision::NotAllowed(errors(&missing)),
        }
    }

    /// All rules that a user has, those of the cluster first; with a namespace also those that he has in it.
    pub(crate) fn grants(&self, user: &User, namespace: &str) -> Grants {
        let mut own = Vec::new();
        let missing = self.visit(user, namespace, |rules, _| {
            own.extend(rules.iter().cloned());
            ControlFlow::Continue(())
        });
        Grants { rules: own, missing }
    }

    /// Shows the rules of each binding that means a user, and what gives them, until there is enough; returns the roles that are not
    /// there.
    fn visit(
        &self,
        user: &User,
        namespace: &str,
        mut see: impl FnMut(&[Rule], &str) -> ControlFlow<()>,
    ) -> Vec<Missing> {
        let mut missing = Vec::new();
        let prefixes = [
            Some(String::new()),
            (!namespace.is_empty()).then(|| format!("{namespace}/")),
        ];
        let levels = self.bindings.iter().zip(&self.decoded.bindings).zip(&prefixes);
        for ((snapshot, decoded), prefix) in levels {
            let (Some(snapshot), Some(prefix)) = (snapshot, prefix) else {
                continue;
            };
            for stored in snapshot.range(prefix, None) {
                let binding = decoded.get(stored, |binding| Binding::read(&binding));
                let mut subjects = binding.subjects.iter();
                let Some(subject) = subjects.find_map(|subject| subject_of(subject, user, namespace)) else {
                    continue;
                };
                let (kind, name) = (&binding.kind, &binding.name);
                let of = match stored.namespace() {
                    "" => format!("ClusterRoleBinding \"{}\"", stored.name()),
                    namespace => format!("RoleBinding \"{}/{namespace}\"", stored.name()),
                };
                match self.rules_of(kind, name, namespace) {
                    Some(rules) => {
                        let by = format!("{of} of {kind} \"{name}\" to {subject}");
                        if see(&rules, &by).is_break() {
                            return missing;
                        }
                    }
                    None if kind == "ClusterRole" => missing.push(("ClusterRole", name.clone())),
                    None => missing.push(("Role", name.clone())),
                }
            }
        }
        missing
    }

    /// The rules of a role, of the namespace or of the cluster; none if it is not there.
    pub(crate) fn rules_of(&self, kind: &str, name: &str, namespace: &str) -> Option<Arc<Vec<Rule>>> {
        let (at, key) = match kind {
            "ClusterRole" => (0, name.to_owned()),
            _ => (1, format!("{namespace}/{name}")),
        };
        let role = self.roles[at].as_ref()?.get(&key)?;
        Some(self.decoded.roles[at].get(&role, |role| rules_in(&role)))
    }
}

/// As whom a binding means the user, if it does.
fn subject_of(subject: &Value, user: &User, namespace: &str) -> Option<String> {
    let text = |name: &str| subject[name].as_str().unwrap_or("");
    let name = text("name");
    match text("kind") {
        "User" => (user.name == name).then(|| format!("User \"{name}\"")),
        "Group" => user.is_in(name).then(|| format!("Group \"{name}\"")),
        "ServiceAccount" => {
            let of = match text("namespace") {
                "" => namespace,
                given => given,
            };
            let is_meant = user.name == format!("{}{of}:{name}", super::SERVICE_ACCOUNT);
            (is_meant && !of.is_empty()).then(|| format!("ServiceAccount \"{name}/{of}\""))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_rule_allows_what_all_of_its_lists_have() {
        let rule = Rule::read(&json!({
            "verbs": ["get"], "apiGroups": [""], "resources": ["pods", "*/status", "x/y"], "resourceNames": ["a"],
        }));
        let wants = |verb: &str, group: &str, resource: (&str, &str), name: &str| {
            let (resource, subresource) = resource;
            let subject = Subject::Resource {
                group: group.into(),
                resource: resource.into(),
                subresource: subresource.into(),
                namespace: "n".into(),
                name: name.into(),
            };
            let verb = verb.into();
            rule.allows(&Attributes { verb, subject })
        };
        let pods = ("pods", "");
        assert!(wants("get", "", pods, "a"));
        assert!(wants("get", "", ("nodes", "status"), "a"));
        assert!(!wants("list", "", pods, "a"));
        assert!(!wants("get", "apps", pods, "a"));
        assert!(!wants("get", "", ("pods", "log"), "a"));
        assert!(!wants("get", "", pods, "b"));
        assert!(!wants("get", "", pods, ""));
    }

    // As a real server answers them.
    #[test]
    fn only_what_is_named_apart_is_a_subresource() {
        for (rule, resource, subresource, fits) in [
            ("*/log", "pods/log", "", false),
            ("*/log", "pods", "log", true),
            ("*/log", "a/b", "log", true),
            ("*/log", "a/b/log", "", false),
            ("*/log", "pods", "x/log", false),
            ("x/y", "x/y", "", true),
            ("x/y", "x", "y", true),
            ("*", "pods", "log", true),
        ] {
            let found = is_resource(rule, resource, subresource);
            assert_eq!(found, fits, "{rule} {resource} {subresource}");
        }
    }

    #[test]
    fn a_path_is_one_or_begins_with_one() {
        for (rule, path, fits) in [
            ("/healthz", "/healthz", true),
            ("/healthz", "/healthz/x", false),
            ("/api/*", "/api/v1", true),
            ("/api/*", "/api", false),
            ("*", "/x", true),
        ] {
            assert_eq!(is_path(rule, path), fits, "{rule} {path}");
        }
    }
}
