//! ClusterRoles that are made of others: their rules are those of the roles that they select.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::access::policy::GROUP;
use crate::api::Api;
use crate::resources::Resource;
use crate::specs;
use crate::storage::Transaction;
use crate::target::Target;

/// Whether objects of this resource may be made of others, and others of them.
pub(super) fn concerns(resource: &Resource) -> bool {
    resource.group == GROUP && resource.plural == "clusterroles"
}

struct Role {
    key: Arc<str>,
    labels: Value,
    /// None: the role has rules of its own.
    selectors: Option<Vec<Value>>,
    rules: Vec<Value>,
}

impl Role {
    fn read(key: &Arc<str>, role: &Map<String, Value>) -> Self {
        let metadata = role.get("metadata").unwrap_or(&Value::Null);
        let rule = role.get("aggregationRule").unwrap_or(&Value::Null);
        let rules = role.get("rules").and_then(Value::as_array);
        Self {
            key: key.clone(),
            labels: metadata["labels"].clone(),
            selectors: rule["clusterRoleSelectors"].as_array().cloned(),
            rules: rules.cloned().unwrap_or_default(),
        }
    }
}

impl Api {
    /// Writes the rules of all aggregated roles.
    pub(super) fn aggregate_roles(&self, transaction: &mut Transaction<'_>, resource: &Arc<Resource>) {
        let stored = transaction.list(resource, "");
        if !stored.iter().any(|role| role.mentions("\"aggregationRule\"")) {
            return;
        }
        let head = resource.head("v1");
        let mut roles: Vec<_> = stored
            .iter()
            .map(|stored| Role::read(&stored.key, &stored.decode(&head)))
            .collect();
        for at in aggregate(&mut roles) {
            let rules = std::mem::take(&mut roles[at].rules);
            let target = Target::of(resource.clone(), &roles[at].key);
            self.change_here(transaction, &target, |role| {
                _ = role.insert("rules".into(), rules.into())
            });
        }
    }
}

/// Computes the rules of aggregated roles, one after the other, as each may be made of others; returns which ones differ.
///
/// Roles that select each other may never come to rest: three of them can hand a rule around for ever. So there are as many passes as
/// the longest chain of roles can need, and no more.
fn aggregate(roles: &mut [Role]) -> Vec<usize> {
    let aggregated: Vec<usize> = (0..roles.len())
        .filter(|at| roles[*at].selectors.is_some())
        .collect();
    let mut differ = vec![false; roles.len()];
    for _ in 0..aggregated.len() {
        let mut rests = true;
        for at in &aggregated {
            let rules = selected_by(&roles[*at], roles);
            if rules != roles[*at].rules {
                (roles[*at].rules, differ[*at], rests) = (rules, true, false);
            }
        }
        if rests {
            break;
        }
    }
    aggregated.into_iter().filter(|at| differ[*at]).collect()
}

/// The rules of the roles that a role selects.
fn selected_by(role: &Role, roles: &[Role]) -> Vec<Value> {
    let mut rules: Vec<Value> = Vec::new();
    for selector in role.selectors.iter().flatten() {
        let others = roles.iter().filter(|other| other.key != role.key);
        for rule in others
            .filter(|other| specs::selects(selector, &other.labels))
            .flat_map(|other| &other.rules)
        {
            if !rules.contains(rule) {
                rules.push(rule.clone());
            }
        }
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn role(name: &str, selects: Option<&str>, rules: &[&str]) -> Role {
        let selectors = selects.map(|name| json!([{"matchLabels": {"name": name}}]));
        let role = json!({
            "metadata": {"labels": {"name": name}}, "aggregationRule": {"clusterRoleSelectors": selectors}, "rules": rules,
        });
        Role::read(&name.into(), role.as_object().unwrap())
    }

    fn rules(roles: &[Role]) -> Vec<Value> {
        roles.iter().map(|role| json!(role.rules)).collect()
    }

    #[test]
    fn a_chain_of_roles_passes_rules_on() {
        // Against the order in which they are computed.
        let mut roles = [
            role("a", Some("b"), &[]),
            role("b", Some("c"), &[]),
            role("c", None, &["r"]),
        ];
        assert_eq!(aggregate(&mut roles), [0, 1]);
        assert_eq!(rules(&roles), [json!(["r"]), json!(["r"]), json!(["r"])]);
        assert!(aggregate(&mut roles).is_empty());
    }

    #[test]
    fn roles_that_select_each_other_end() {
        let mut two = [role("a", Some("b"), &[]), role("b", Some("a"), &["r"])];
        assert_eq!(aggregate(&mut two), [0]);
        assert_eq!(rules(&two), [json!(["r"]), json!(["r"])]);
        // These never agree.
        let mut three = [
            role("a", Some("b"), &[]),
            role("b", Some("c"), &["r"]),
            role("c", Some("a"), &[]),
        ];
        assert!(!aggregate(&mut three).is_empty());
    }
}
