//! What the roles and bindings in a cluster allow.

use serde_json::{Map, Value};

use super::{Attributes, MASTERS, Subject, User};
use crate::api::Api;
use crate::object::Stored;
use crate::resources::Resource;
use crate::storage::Transaction;

pub(crate) const GROUP: &str = "rbac.authorization.k8s.io";

/// One rule of a role; lists are sets, and `*` is everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
                    name,
                    ..
                } => {
                    has(&self.groups, group)
                        && self.resources.iter().any(|rule| is_resource(rule, resource))
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

/// Whether a rule's resource is this one: `*` is any, `*/scale` any with that subresource.
pub(crate) fn is_resource(rule: &str, resource: &str) -> bool {
    let of_any = || {
        let subresource = resource.split_once('/').map(|(_, subresource)| subresource);
        rule.strip_prefix("*/")
            .is_some_and(|rule| subresource == Some(rule))
    };
    rule == "*" || rule == resource || of_any()
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

/// All that a user may do in a namespace.
#[derive(Default)]
pub(crate) struct Grants {
    /// Each rule with what gives it.
    pub(crate) rules: Vec<(Rule, String)>,
    /// The roles that bindings name and that are not there: `Role` or `ClusterRole`, and the name.
    pub(crate) missing: Vec<(&'static str, String)>,
}

impl Grants {
    /// Whether one of the rules allows something.
    pub(crate) fn allow(&self, attributes: &Attributes) -> bool {
        self.rules.iter().any(|(rule, _)| rule.allows(attributes))
    }

    /// What is missing, as a refusal says it.
    pub(crate) fn errors(&self) -> Vec<String> {
        let missing = self.missing.iter();
        missing
            .map(|(kind, name)| format!("{}.{GROUP} \"{name}\" not found", kind.to_lowercase()))
            .collect()
    }
}

impl Api {
    /// Whether a user may do something, by the roles that are there now.
    pub(crate) fn decide(&self, user: &User, attributes: &Attributes) -> Decision {
        if user.is_in(MASTERS) {
            return Decision::Allowed(String::new());
        }
        let namespace = match &attributes.subject {
            Subject::Path(_) => "",
            Subject::Resource { namespace, .. } => namespace,
        };
        let grants = self
            .storage
            .transact(|transaction| self.grants(transaction, user, namespace));
        match grants.rules.iter().find(|(rule, _)| rule.allows(attributes)) {
            Some((_, by)) => Decision::Allowed(format!("RBAC: allowed by {by}")),
            None => Decision::NotAllowed(grants.errors()),
        }
    }

    /// All rules that a user has, those of the cluster first; with a namespace also those that he has in it.
    pub(crate) fn grants(&self, transaction: &mut Transaction<'_>, user: &User, namespace: &str) -> Grants {
        let mut grants = Grants::default();
        for (plural, prefix) in [
            ("clusterrolebindings", String::new()),
            ("rolebindings", format!("{namespace}/")),
        ] {
            if plural == "rolebindings" && namespace.is_empty() {
                continue;
            }
            let Some(resource) = self.find(GROUP, "v1", plural) else {
                continue;
            };
            for binding in transaction.list(&resource, &prefix) {
                self.add_binding(transaction, &mut grants, user, &resource, &binding, namespace);
            }
        }
        grants
    }

    fn add_binding(
        &self,
        transaction: &mut Transaction<'_>,
        grants: &mut Grants,
        user: &User,
        resource: &Resource,
        stored: &Stored,
        namespace: &str,
    ) {
        let binding = stored.decode(&resource.head("v1"));
        let subjects = binding.get("subjects").and_then(Value::as_array);
        let mut subjects = subjects.into_iter().flatten();
        let Some(subject) = subjects.find_map(|subject| subject_of(subject, user, namespace)) else {
            return;
        };
        let reference = binding.get("roleRef").unwrap_or(&Value::Null);
        let (kind, name) = (
            reference["kind"].as_str().unwrap_or(""),
            reference["name"].as_str().unwrap_or(""),
        );
        let of = match stored.namespace() {
            "" => format!("ClusterRoleBinding \"{}\"", stored.name()),
            namespace => format!("RoleBinding \"{}/{namespace}\"", stored.name()),
        };
        match self.rules_of(transaction, kind, name, namespace) {
            Some(rules) => {
                let by = format!("{of} of {kind} \"{name}\" to {subject}");
                grants
                    .rules
                    .extend(rules.into_iter().map(|rule| (rule, by.clone())));
            }
            None if kind == "ClusterRole" => grants.missing.push(("ClusterRole", name.to_owned())),
            None => grants.missing.push(("Role", name.to_owned())),
        }
    }

    /// The rules of a role, of the namespace or of the cluster; none if it is not there.
    pub(crate) fn rules_of(
        &self,
        transaction: &mut Transaction<'_>,
        kind: &str,
        name: &str,
        namespace: &str,
    ) -> Option<Vec<Rule>> {
        let (plural, key) = match kind {
            "ClusterRole" => ("clusterroles", name.to_owned()),
            _ => ("roles", format!("{namespace}/{name}")),
        };
        let resource = self.find(GROUP, "v1", plural)?;
        let role = transaction.get(&resource, &key)?.decode(&resource.head("v1"));
        Some(rules_in(&role))
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
            "verbs": ["get"], "apiGroups": [""], "resources": ["pods", "*/status"], "resourceNames": ["a"],
        }));
        let wants = |verb: &str, group: &str, resource: &str, name: &str| {
            let subject = Subject::Resource {
                group: group.into(),
                resource: resource.into(),
                namespace: "n".into(),
                name: name.into(),
            };
            let verb = verb.into();
            rule.allows(&Attributes { verb, subject })
        };
        assert!(wants("get", "", "pods", "a"));
        assert!(wants("get", "", "nodes/status", "a"));
        assert!(!wants("list", "", "pods", "a"));
        assert!(!wants("get", "apps", "pods", "a"));
        assert!(!wants("get", "", "pods/log", "a"));
        assert!(!wants("get", "", "pods", "b"));
        assert!(!wants("get", "", "pods", ""));
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
