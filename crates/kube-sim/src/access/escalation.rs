//! Nobody grants rights beyond their own: what is checked when roles and bindings are written.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::policy::{Decision, GROUP, Rule, is_path, rules_in};
use super::{Attributes, MASTERS, Subject, User};
use crate::api::Api;
use crate::status::{StatusError, quoted};
use crate::storage::Transaction;
use crate::target::Target;

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
        // So that the garbage collector can do its work.
        if old.is_some_and(|old| is_without_owners(old) == is_without_owners(new)) {
            return Ok(());
        }
        let policy = self.policy(transaction);
        let namespace = target.namespace.as_deref().unwrap_or("");
        let may = |verb: &str, plural: &str, name: &str| {
            let wanted = Attributes {
                verb: verb.into(),
                subject: Subject::Resource {
                    group: GROUP.into(),
                    resource: plural.into(),
                    subresource: String::new(),
                    namespace: namespace.into(),
                    name: name.into(),
                },
            };
            matches!(policy.decide(user, &wanted), Decision::Allowed(_))
        };
        let wanted = match resource.plural.as_str() {
            "roles" | "clusterroles" => {
                // The name that the path has: a new object has none there.
                let named = target.name.as_deref().unwrap_or("");
                if may("escalate", &resource.plural, named) {
                    return Ok(());
                }
                Arc::new(rules_in(new))
            }
            _ => {
                let reference = new.get("roleRef").unwrap_or(&Value::Null);
                let text = |name: &str| reference[name].as_str().unwrap_or("");
                let plural = match text("kind") {
                    "ClusterRole" => "clusterroles",
                    _ => "roles",
                };
                if may("bind", plural, text("name")) {
                    return Ok(());
                }
                // A real server calls what is missing by the resource of the request.
                policy
                    .rules_of(text("kind"), text("name"), namespace)
                    .ok_or_else(|| StatusError::not_found(resource, text("name")))?
            }
        };
        let grants = policy.grants(user, namespace);
        let lacking = lacks(&grants.rules, &wanted)
            .map_err(|TooMany| StatusError::forbidden(resource, name, TOO_MANY))?;
        if lacking.is_empty() {
            // What is made of others can get any rule later, and what it was made of may have been all it lost.
            let is_aggregated = old.is_some_and(aggregates) || aggregates(new);
            return match is_aggregated && !has_all(&grants.rules) {
                true => {
                    let why = "must have cluster-admin privileges to use the aggregationRule";
                    Err(StatusError::forbidden(resource, name, why))
                }
                false => Ok(()),
            };
        }
        let groups: Vec<_> = user.groups.iter().map(|group| quoted(group)).collect();
        let mut lacking: Vec<_> = lacking.iter().map(shown).collect();
        lacking.sort();
        let mut why = format!(
            "user {} (groups=[{}]) is attempting to grant RBAC permissions not currently held:\n{}",
            quoted(&user.name),
            groups.join(" "),
            lacking.join("\n")
        );
        let missing = grants.missing.iter();
        let missing = missing.map(|(_, name)| format!("{} {} not found", resource.id(), quoted(name)));
        match &missing.collect::<Vec<_>>()[..] {
            [] => {}
            [one] => why.push_str(&format!("; resolution errors: [{one}]")),
            several => why.push_str(&format!("; resolution errors: [[{}]]", several.join(", "))),
        }
        Err(StatusError::forbidden(resource, name, &why))
    }
}

/// An object without what the garbage collector writes.
fn is_without_owners(object: &Map<String, Value>) -> Map<String, Value> {
    let mut object = object.clone();
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata
            .retain(|name, _| !matches!(name.as_str(), "finalizers" | "ownerReferences" | "managedFields"));
    }
    object
}

/// Whether a role is made of others.
fn aggregates(role: &Map<String, Value>) -> bool {
    let rule = role.get("aggregationRule").unwrap_or(&Value::Null);
    let selectors = rule["clusterRoleSelectors"].as_array();
    selectors.is_some_and(|selectors| !selectors.is_empty())
}

/// Whether rules allow everything.
fn has_all(own: &[Rule]) -> bool {
    let all = || vec!["*".to_owned()];
    let of_resources = Rule {
        verbs: all(),
        groups: all(),
        resources: all(),
        ..Rule::default()
    };
    let of_paths = Rule {
        verbs: all(),
        paths: all(),
        ..Rule::default()
    };
    let wanted = [of_resources, of_paths];
    lacks(own, &wanted).is_ok_and(|lacking| lacking.is_empty())
}

/// How many combinations of what the lists of rules name are compared: more take long, and no role needs them.
const COMBINATIONS: usize = 10_000;
const TOO_MANY: &str = "the rules have more than 10000 combinations of verbs, groups, resources and names to be compared with the \
    rights of the user: write fewer, or use \"*\"";

#[derive(Debug)]
struct TooMany;

/// What is lacking of rules: rules of one path, or of one group, resource and name, of which the verbs are joined again.
fn lacks(own: &[Rule], wanted: &[Rule]) -> Result<Vec<Rule>, TooMany> {
    let mut lacking: HashMap<Rule, Vec<String>> = HashMap::new();
    let mut left = COMBINATIONS;
    for rule in wanted {
        if own.iter().any(|own| covers(own, rule)) {
            continue;
        }
        let lists = [
            &rule.verbs,
            &rule.groups,
            &rule.resources,
            &rule.names,
            &rule.paths,
        ];
        let [verbs, groups, resources, names, paths] = lists.map(|list| once(list));
        let names: Vec<Vec<String>> = match names[..] {
            [] => vec![Vec::new()],
            _ => names.into_iter().map(one).collect(),
        };
        let count = [groups.len(), resources.len(), names.len()];
        let count = count.into_iter().try_fold(1, usize::checked_mul);
        let count = count.and_then(|count| count.checked_add(paths.len())?.checked_mul(verbs.len()));
        left = count.and_then(|count| left.checked_sub(count)).ok_or(TooMany)?;
        for verb in verbs {
            let mut see = |part: Rule| {
                let part_of_verb = Rule {
                    verbs: one(verb),
                    ..part.clone()
                };
                if own.iter().any(|own| covers(own, &part_of_verb)) {
                    return;
                }
                let key = if part.paths.is_empty() { part } else { part_of_verb };
                let verbs = lacking.entry(key).or_default();
                if !verbs.iter().any(|other| other == verb) {
                    verbs.push(verb.to_owned());
                }
            };
            for path in &paths {
                let paths = one(path);
                see(Rule {
                    paths,
                    ..Rule::default()
                });
            }
            for (group, resource) in groups
                .iter()
                .flat_map(|group| resources.iter().map(move |of| (group, of)))
            {
                for names in names.iter().cloned() {
                    see(Rule {
                        groups: one(group),
                        resources: one(resource),
                        names,
                        ..Rule::default()
                    });
                }
            }
        }
    }
    let lacking = lacking.into_iter();
    Ok(lacking.map(|(part, verbs)| Rule { verbs, ..part }).collect())
}

fn one(text: &str) -> Vec<String> {
    vec![text.to_owned()]
}

/// The items of a list, each once.
fn once(list: &[String]) -> Vec<&str> {
    let mut seen = HashSet::new();
    let items = list.iter().map(String::as_str);
    items.filter(|item| seen.insert(*item)).collect()
}

/// Whether a rule's resource has all that another rule's resource means: `*` is any, `*/scale` any with that subresource.
fn has_resource(own: &str, wanted: &str) -> bool {
    let of_any = || {
        let (_, subresource) = wanted.split_once('/')?;
        Some(own.strip_prefix("*/")? == subresource)
    };
    own == "*" || own == wanted || of_any() == Some(true)
}

/// Whether a rule has all of another.
fn covers(rule: &Rule, part: &Rule) -> bool {
    let has = |own: &[String], wanted: &[String]| {
        wanted
            .iter()
            .all(|wanted| own.iter().any(|own| own == "*" || own == wanted))
    };
    let has_resources = part
        .resources
        .iter()
        .all(|wanted| rule.resources.iter().any(|own| has_resource(own, wanted)));
    // No name means all of them; nothing else does.
    let mut names = part.names.iter();
    let has_names =
        rule.names.is_empty() || (!part.names.is_empty() && names.all(|name| rule.names.contains(name)));
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
    use serde_json::json;

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
        // In names, `*` is a name.
        assert!(!covers(&rule(&["get"], &["pods"], &["*"]), &named));
        assert_eq!(
            shown(&named),
            "{APIGroups:[\"\"], Resources:[\"pods\"], ResourceNames:[\"a\"], Verbs:[\"get\"]}"
        );
    }

    #[test]
    fn rules_of_too_many_combinations_are_not_compared() {
        let many: Vec<String> = (0..100).map(|number| number.to_string()).collect();
        let wide = Rule {
            verbs: many.clone(),
            groups: many.clone(),
            resources: many.clone(),
            names: many.clone(),
            paths: Vec::new(),
        };
        assert!(lacks(&[], std::slice::from_ref(&wide)).is_err());
        // One rule that has it all needs no comparison.
        let all = Rule {
            verbs: one("*"),
            groups: one("*"),
            resources: one("*"),
            ..Rule::default()
        };
        assert_eq!(lacks(&[all], &[wide]).unwrap(), []);
        let repeated = Rule {
            verbs: vec!["get".into(); 20_000],
            paths: one("/x"),
            ..Rule::default()
        };
        let once = Rule {
            verbs: one("get"),
            ..repeated.clone()
        };
        assert_eq!(lacks(&[], &[repeated]).unwrap(), [once]);
    }
}
