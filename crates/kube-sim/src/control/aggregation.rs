//! ClusterRoles that are made of others: their rules are those of the roles that they select.

use serde_json::{Map, Value};

use crate::access::policy::GROUP;
use crate::api::{Api, Target};
use crate::resources::Resource;
use crate::specs;
use crate::storage::Transaction;

/// Whether objects of this resource may be made of others, and others of them.
pub(super) fn concerns(resource: &Resource) -> bool {
    resource.group == GROUP && resource.plural == "clusterroles"
}

impl Api {
    /// Writes the rules of all aggregated roles. A role that changes is looked at again, as others may be made of it.
    pub(super) fn aggregate_roles(
        &self,
        transaction: &mut Transaction<'_>,
        roles: &std::sync::Arc<Resource>,
    ) {
        let all = transaction.list(roles, "");
        let all: Vec<_> = all
            .iter()
            .map(|stored| (stored, stored.decode(&roles.head("v1"))))
            .collect();
        for (stored, role) in &all {
            let Some(selectors) = role
                .get("aggregationRule")
                .and_then(|rule| rule["clusterRoleSelectors"].as_array())
            else {
                continue;
            };
            let mut rules: Vec<&Value> = Vec::new();
            for selector in selectors {
                let others = all.iter().filter(|(other, _)| other.key != stored.key);
                for rule in others
                    .filter(|(_, other)| specs::selects(selector, labels(other)))
                    .flat_map(|(_, other)| rules_of(other))
                {
                    if !rules.contains(&rule) {
                        rules.push(rule);
                    }
                }
            }
            if !rules.iter().copied().eq(rules_of(role)) {
                let rules: Vec<_> = rules.into_iter().cloned().collect();
                let target = Target::of(roles.clone(), &stored.key);
                self.change_here(transaction, &target, |role| {
                    _ = role.insert("rules".into(), rules.into())
                });
            }
        }
    }
}

fn labels(object: &Map<String, Value>) -> &Value {
    object
        .get("metadata")
        .map_or(&Value::Null, |metadata| &metadata["labels"])
}

fn rules_of(role: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    role.get("rules").and_then(Value::as_array).into_iter().flatten()
}
