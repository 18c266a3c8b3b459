//! Nobody grants rights beyond their own: what is checked when roles and bindings are written.

use serde_json::{Map, Value, json};

use super::policy::{GROUP, Rule, is_path, is_resource, rules_in};
use super::{Attributes, MASTERS, Subject, User};
use crate::api::{Api, Target};
use crate::status::{StatusError, quoted};
use crate::storage::Transaction;

impl Api {
    /// Refuses a role or a binding that grants more than the user has, unless that user may escalate or bind.
    pub(crate) fn check_escalation(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        user: &User,
        old: Option<&Map<String, Value>>,
        new: &Map<String, Value>,
        name: &str,
    ) -> Result<(), StatusError> {
        let resource = &target.resource;
        if resource.group != GROUP || user.is_in(MASTERS) {
            return Ok(());
        }
        let namespace = target.namespace.as_deref().unwrap_or("");
        let may = |transaction: &mut Transaction<'_>, verb: &str, plural: &str, name: &str| {
            let wanted = Attributes {
                verb: verb.into(),
                subject: Subject::Resource {
                    group: GROUP.into(),
                    resource: plural.into(),
                    namespace: namespace.into(),
                    name: name.into(),
                },
            };
            self.grants(transaction, user, namespace).allow(&wanted)
        };
        let same = |field: &str| old.is_some_and(|old| old.get(field) == new.get(field));
        let wanted = match resource.plural.as_str() {
            "roles" | "clusterroles" => {
                // The name that the path has: a new object has none there.
                let named = target.name.as_deref().unwrap_or("");
                if same("rules") && same("aggregationRule")
                    || may(transaction, "escalate", &resource.plural, named)
                {
                    return Ok(());
                }
                let aggregates = |role: &Map<String, Value>| {
                    role.get("aggregationRule").is_some_and(|rule| !rule.is_null())
                };
                if aggregates(new) && !same("aggregationRule") {
                    let all = ["apiGroups", "resources", "nonResourceURLs", "verbs"];
                    let all = all.map(|list| (list.to_owned(), json!(["*"])));
                    let all = Rule::read(&Value::Object(all.into_iter().collect()));
                    if !self.lacks(transaction, user, namespace, &[all]).is_empty() {
                        let why = "must have cluster-admin privileges to use the aggregationRule";
                        return Err(StatusError::forbidden(resource, name, why));
                    }
                }
                rules_in(new)
            }
            _ => {
                let reference = new.get("roleRef").unwrap_or(&Value::Null);
                let text = |name: &str| reference[name].as_str().unwrap_or("");
                let plural = match text("kind") {
                    "ClusterRole" => "clusterroles",
                    _ => "roles",
                };
                if same("roleRef") && same("subjects") || may(transaction, "bind", plural, text("name")) {
                    return Ok(());
                }
                // A real server calls what is missing by the resource of the request.
                self.rules_of(transaction, text("kind"), text("name"), namespace)
                    .ok_or_else(|| StatusError::not_found(resource, text("name")))?
            }
        };
        let lacking = self.lacks(transaction, user, namespace, &wanted);
        if lacking.is_empty() {
            return Ok(());
        }
        let groups: Vec<_> = user.groups.iter().map(|group| quoted(group)).collect();
        let mut lacking: Vec<_> = lacking.iter().map(shown).collect();
        lacking.sort();
        lacking.dedup();
        let mut why = format!(
            "user {} (groups=[{}]) is attempting to grant RBAC permissions not currently held:\n{}",
            quoted(&user.name),
            groups.join(" "),
            lacking.join("\n")
        );
        let missing = self.grants(transaction, user, namespace).missing;
        let missing = missing
            .iter()
            .map(|(_, name)| format!("{} {} not found", resource.id(), quoted(name)));
        match &missing.collect::<Vec<_>>()[..] {
            [] => {}
            [one] => why.push_str(&format!("; resolution errors: [{one}]")),
            several => why.push_str(&format!("; resolution errors: [[{}]]", several.join(", "))),
        }
        Err(StatusError::forbidden(resource, name, &why))
    }

    /// What a user lacks of these rules: rules of one path, or of one group, resource and name, of which the verbs are joined again.
    fn lacks(
        &self,
        transaction: &mut Transaction<'_>,
        user: &User,
        namespace: &str,
        wanted: &[Rule],
    ) -> Vec<Rule> {
        let grants = self.grants(transaction, user, namespace);
        let own: Vec<&Rule> = grants.rules.iter().map(|(rule, _)| rule).collect();
        let mut lacking: Vec<Rule> = Vec::new();
        for part in wanted.iter().flat_map(parts) {
            if own.iter().any(|rule| covers(rule, &part)) {
                continue;
            }
            let like = |other: &&mut Rule| {
                part.paths.is_empty()
                    && other.groups == part.groups
                    && other.resources == part.resources
                    && other.names == part.names
            };
            match lacking.iter_mut().find(like) {
                Some(other) if other.verbs.contains(&part.verbs[0]) => {}
                Some(other) => other.verbs.extend(part.verbs),
                None => lacking.push(part),
            }
        }
        lacking
    }
}

/// The same in rules of one verb, and of one group, resource and name, or of one path.
fn parts(rule: &Rule) -> Vec<Rule> {
    let mut parts = Vec::new();
    let one = |text: &String| vec![text.clone()];
    for verb in &rule.verbs {
        for path in &rule.paths {
            parts.push(Rule {
                verbs: one(verb),
                paths: one(path),
                ..Rule::default()
            });
        }
        for group in &rule.groups {
            for resource in &rule.resources {
                let names: Vec<Vec<String>> = match rule.names.is_empty() {
                    true => vec![Vec::new()],
                    false => rule.names.iter().map(one).collect(),
                };
                parts.extend(names.into_iter().map(|names| Rule {
                    verbs: one(verb),
                    groups: one(group),
                    resources: one(resource),
                    names,
                    paths: Vec::new(),
                }));
            }
        }
    }
    parts
}

/// Whether a rule has all of a part.
fn covers(rule: &Rule, part: &Rule) -> bool {
    let has = |own: &[String], wanted: &[String]| {
        wanted
            .iter()
            .all(|wanted| own.iter().any(|own| own == "*" || own == wanted))
    };
    let has_resources = part
        .resources
        .iter()
        .all(|wanted| rule.resources.iter().any(|own| is_resource(own, wanted)));
    let has_names = rule.names.is_empty() || (!part.names.is_empty() && has(&rule.names, &part.names));
    let has_paths = part
        .paths
        .iter()
        .all(|wanted| rule.paths.iter().any(|own| is_path(own, wanted)));
    has(&rule.verbs, &part.verbs)
        && has(&rule.groups, &part.groups)
        && has_resources
        && has_names
        && has_paths
}

/// A rule as Go shows it.
fn shown(rule: &Rule) -> String {
    let lists = [
        ("APIGroups", &rule.groups),
        ("Resources", &rule.resources),
        ("ResourceNames", &rule.names),
        ("NonResourceURLs", &rule.paths),
        ("Verbs", &rule.verbs),
    ];
    let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
    let lists: Vec<_> = lists
        .map(|(name, list)| {
            let list: Vec<_> = list.iter().map(|item| quoted(item)).collect();
            format!("{name}:[{}]", list.join(" "))
        })
        .collect();
    format!("{{{}}}", lists.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_covers_what_it_has_and_nothing_else() {
        let rule = |verbs: &[&str], resources: &[&str], names: &[&str]| {
            Rule::read(
                &json!({"verbs": verbs, "apiGroups": [""], "resources": resources, "resourceNames": names}),
            )
        };
        let own = rule(&["get", "list"], &["pods"], &[]);
        assert!(covers(&own, &rule(&["get"], &["pods"], &["a"])));
        assert!(!covers(&own, &rule(&["delete"], &["pods"], &[])));
        assert!(!covers(&own, &rule(&["get"], &["nodes"], &[])));
        assert!(!covers(&own, &rule(&["*"], &["pods"], &[])));
        let named = rule(&["get"], &["pods"], &["a"]);
        assert!(covers(&named, &named));
        assert!(!covers(&named, &rule(&["get"], &["pods"], &[])));
        assert_eq!(
            shown(&named),
            "{APIGroups:[\"\"], Resources:[\"pods\"], ResourceNames:[\"a\"], Verbs:[\"get\"]}"
        );
    }
}
