//! Webhooks, and which writes they and policies are asked about.

use std::time::Duration;

use serde_json::Value;

use super::Operation;
use crate::specs;
use crate::target::Target;

/// One webhook of a configuration, with a real server's defaults for what the configuration does not say.
#[derive(Debug)]
pub(super) struct Hook {
    pub(super) name: String,
    constraints: Constraints,
    /// The names and the expressions of `matchConditions`.
    pub(super) conditions: Vec<String>,
    /// `failurePolicy: Ignore`.
    pub(super) ignores_failures: bool,
    /// `reinvocationPolicy: IfNeeded`.
    pub(super) is_reinvoked: bool,
    pub(super) has_side_effects: bool,
    pub(super) timeout: Duration,
    /// The version of the AdmissionReview; none if the webhook knows none of this server's.
    pub(super) review: Option<&'static str>,
    pub(super) client: Value,
}

/// Which writes a webhook or a policy is about.
#[derive(Debug)]
pub(super) struct Constraints {
    /// None says nothing.
    rules: Vec<Rule>,
    excluded: Vec<Rule>,
    /// `matchPolicy: Equivalent`: rules that name another version of the resource fit, too.
    equivalent: bool,
    namespaces: Value,
    objects: Value,
}

#[derive(Debug)]
struct Rule {
    /// Those of the objects that it is about; all if there are none.
    names: Vec<String>,
    operations: Vec<String>,
    groups: Vec<String>,
    versions: Vec<String>,
    resources: Vec<String>,
    scope: String,
}

impl Hook {
    pub(super) fn read(hook: &Value) -> Self {
        let is = |name: &str, value: &str| hook[name].as_str() == Some(value);
        let conditions = hook["matchConditions"].as_array().into_iter().flatten();
        let versions = hook["admissionReviewVersions"].as_array().into_iter().flatten();
        let seconds = hook["timeoutSeconds"].as_u64().unwrap_or(10);
        Self {
            name: hook["name"].as_str().unwrap_or("").to_owned(),
            constraints: Constraints::read(hook, "rules"),
            conditions: conditions
                .filter_map(|condition| condition["expression"].as_str())
                .map(str::to_owned)
                .collect(),
            ignores_failures: is("failurePolicy", "Ignore"),
            is_reinvoked: is("reinvocationPolicy", "IfNeeded"),
            has_side_effects: !is("sideEffects", "None") && !is("sideEffects", "NoneOnDryRun"),
            timeout: Duration::from_secs(seconds),
            review: versions
                .filter_map(Value::as_str)
                .find_map(|version| ["v1", "v1beta1"].into_iter().find(|known| *known == version)),
            client: hook["clientConfig"].clone(),
        }
    }

    /// That of the same targets that the rules name, if they fit.
    pub(super) fn fits<'a>(&self, operation: Operation, same: &'a [Target]) -> Option<&'a Target> {
        // A webhook without rules is about nothing.
        let rules = Some(&self.constraints).filter(|constraints| !constraints.rules.is_empty());
        rules?.fits(operation, same, "")
    }

    pub(super) fn selects_namespaces(&self) -> bool {
        selects_some(&self.constraints.namespaces)
    }

    pub(super) fn fits_namespace(&self, labels: &Value) -> bool {
        self.constraints.fits_namespace(labels)
    }

    pub(super) fn fits_object(&self, labels: [Option<&Value>; 2]) -> bool {
        self.constraints.fits_object(labels)
    }
}

impl Constraints {
    /// Reads what is said of a webhook, or of a policy, whose rules are called so.
    pub(super) fn read(said: &Value, rules: &str) -> Self {
        let all = |name: &str| {
            let rules = said[name].as_array().into_iter().flatten();
            rules.map(Rule::read).collect()
        };
        Self {
            rules: all(rules),
            excluded: all("excludeResourceRules"),
            equivalent: said["matchPolicy"] != "Exact",
            namespaces: said["namespaceSelector"].clone(),
            objects: said["objectSelector"].clone(),
        }
    }

    /// That of the same targets that the rules name, if they fit: the first one, which is the request's, or by the first rule that
    /// names one.
    pub(super) fn fits<'a>(
        &self,
        operation: Operation,
        same: &'a [Target],
        name: &str,
    ) -> Option<&'a Target> {
        let (given, others) = same.split_first()?;
        let others = if self.equivalent { others } else { &[] };
        let of = |rules: &[Rule]| {
            let fits = |rule: &Rule, target: &Target| rule.fits(operation, target, name);
            if rules.iter().any(|rule| fits(rule, given)) {
                return Some(given);
            }
            rules
                .iter()
                .find_map(|rule| others.iter().find(|other| fits(rule, other)))
        };
        match of(&self.excluded) {
            Some(_) => None,
            None if self.rules.is_empty() => Some(given),
            None => of(&self.rules),
        }
    }

    pub(super) fn fits_namespace(&self, labels: &Value) -> bool {
        !selects_some(&self.namespaces) || specs::selects(&self.namespaces, labels)
    }

    /// Whether the object, or what it was, has the labels that the webhook wants. One that is not there has no labels, not even none.
    pub(super) fn fits_object(&self, labels: [Option<&Value>; 2]) -> bool {
        let mut there = labels.into_iter().flatten();
        !selects_some(&self.objects) || there.any(|labels| specs::selects(&self.objects, labels))
    }
}

/// Whether a selector does not select everything.
fn selects_some(selector: &Value) -> bool {
    selector.as_object().is_some_and(|selector| !selector.is_empty())
}

impl Rule {
    fn read(rule: &Value) -> Self {
        let list = |name: &str| {
            let items = rule[name].as_array().into_iter().flatten();
            items.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Self {
            names: list("resourceNames"),
            operations: list("operations"),
            groups: list("apiGroups"),
            versions: list("apiVersions"),
            resources: list("resources"),
            scope: rule["scope"].as_str().unwrap_or("*").to_owned(),
        }
    }

    fn fits(&self, operation: Operation, target: &Target, name: &str) -> bool {
        let has = |list: &[String], what: &str| list.iter().any(|item| item == "*" || item == what);
        let resource = &target.resource;
        let is_cluster_wide = !resource.namespaced;
        let fits_scope = match self.scope.as_str() {
            "Namespaced" => !is_cluster_wide,
            "Cluster" => is_cluster_wide,
            _ => true,
        };
        let subresource = target.subresource.as_deref().unwrap_or("");
        let fits_resource = self.resources.iter().any(|rule| {
            let (plural, part) = rule.split_once('/').unwrap_or((rule, ""));
            (plural == "*" || plural == resource.plural) && (part == "*" || part == subresource)
        });
        (self.names.is_empty() || self.names.iter().any(|given| given == name))
            && fits_scope
            && fits_resource
            && has(&self.operations, operation.name())
            && has(&self.groups, &resource.group)
            && has(&self.versions, &target.version)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::resources::Registry;

    fn fits(rule: Value, group: &str, plural: &str, subresource: Option<&str>) -> bool {
        let resource = Registry::builtin().find(group, "v1", plural).unwrap();
        let target = Target {
            subresource: subresource.map(str::to_owned),
            ..Target::of(resource, "n/a")
        };
        let hook = Hook::read(&json!({"rules": [rule]}));
        hook.fits(Operation::Create, &[target]).is_some()
    }

    #[test]
    fn a_rule_fits_what_all_of_its_lists_name() {
        let rule = |resources: &[&str], scope: &str| json!({"operations": ["CREATE"], "apiGroups": ["apps"], "apiVersions": ["*"], "resources": resources, "scope": scope});
        for (resources, scope, subresource, wanted) in [
            (&["deployments"][..], "*", None, true),
            (&["deployments"], "*", Some("status"), false),
            (&["deployments/status"], "*", Some("status"), true),
            (&["*"], "Namespaced", None, true),
            (&["*"], "*", Some("status"), false),
            (&["*/*"], "*", Some("status"), true),
            (&["*/scale"], "*", Some("status"), false),
            (&["*"], "Cluster", None, false),
            (&["replicasets"], "*", None, false),
        ] {
            let found = fits(rule(resources, scope), "apps", "deployments", subresource);
            assert_eq!(found, wanted, "{resources:?} {scope} {subresource:?}");
        }
        assert!(!fits(rule(&["*"], "*"), "", "pods", None));
    }
}
