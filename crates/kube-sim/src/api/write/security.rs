//! PodSecurity: pods are held against the policy of their namespace, and a namespace's new policy against its pods.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use super::{Writer, check};
use crate::api::Api;
use crate::meta::{Object, metadata};
use crate::object::Stored;
use crate::pod_security::{Policy, Standard, Violation, in_detail, in_short};
use crate::specs;
use crate::status::{StatusError, quoted};
use crate::storage::Transaction;
use crate::target::Target;

/// How many of a namespace's pods are held against a new policy, as by a real server, and how many bytes of them: a real server takes a
/// second at most.
const MOST_PODS: usize = 3000;
const MOST_BYTES: usize = 16 << 20;

/// What changes nothing of what a pod may do.
const HARMLESS: [&str; 3] = ["binding", "eviction", "status"];

impl Api {
    /// Refuses a pod that violates the policy of its namespace, and labels of a namespace that are no policy; warns of templates of such
    /// pods, and of pods that violate the new policy of their namespace.
    pub(super) fn check_pod_security(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        name: &str,
        old: Option<&Object>,
        new: &Object,
        writer: Writer<'_>,
    ) -> Result<(), StatusError> {
        match (target.resource.id().as_str(), target.subresource.as_deref()) {
            ("namespaces", None) => self.check_policy(transaction, target, name, old, new, writer),
            ("pods", subresource) => {
                let is_harmless = subresource.is_some_and(|subresource| HARMLESS.contains(&subresource));
                if is_harmless || old.is_some_and(|old| !is_significant(old, new)) {
                    return Ok(());
                }
                let policy = self.policy_around(transaction, target);
                let found = violations(policy.enforced, new);
                if !found.is_empty() {
                    let why = format!(
                        "violates PodSecurity {}: {}",
                        quoted(&policy.enforced.to_string()),
                        in_detail(&found)
                    );
                    return Err(StatusError::forbidden(&target.resource, name, &why));
                }
                warn_of(policy.warned, new, writer);
                Ok(())
            }
            (id, None) => {
                if let Some(template) = specs::template_of(id, new) {
                    let policy = self.policy_around(transaction, target);
                    warn_of(policy.warned, template, writer);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The policy of the namespace of what is written.
    fn policy_around(&self, transaction: &mut Transaction<'_>, target: &Target) -> Policy {
        let namespace = target.namespace.as_deref().unwrap_or("");
        let found = self.find("", "v1", "namespaces");
        let found = found.and_then(|namespaces| transaction.get(&namespaces, namespace));
        found.map_or_else(Policy::none, |namespace| Policy::of_stored(&namespace))
    }

    fn check_policy(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        name: &str,
        old: Option<&Object>,
        new: &Object,
        writer: Writer<'_>,
    ) -> Result<(), StatusError> {
        let policy = Policy::of(new);
        let Some(old) = old.map(Policy::of) else {
            return check::spec(&target.resource, name, &policy.faults);
        };
        if policy.faults != old.faults {
            check::spec(&target.resource, name, &policy.faults)?;
        }
        if !policy.enforced.allows_all_of(old.enforced) {
            for warning in self.warnings_of_pods(transaction, name, policy.enforced) {
                writer.warn(warning);
            }
        }
        Ok(())
    }

    /// Which pods of a namespace violate what is enforced from now on.
    fn warnings_of_pods(
        &self,
        transaction: &mut Transaction<'_>,
        namespace: &str,
        enforced: Standard,
    ) -> Vec<String> {
        let Some(pods) = self.find("", "v1", "pods") else {
            return Vec::new();
        };
        let all = transaction.list(&pods, &format!("{namespace}/"));
        // One pod of each owner first: its others are as it is.
        let mut owners = HashSet::new();
        let is_first = |pod: &&Arc<Stored>| {
            pod.owners()
                .next()
                .is_none_or(|owner| owners.insert(owner.to_owned()))
        };
        let (first, others): (Vec<_>, Vec<_>) = all.iter().partition(is_first);
        let mut found: BTreeMap<String, (&str, usize)> = BTreeMap::new();
        let head = pods.head("v1");
        let (mut checked, mut bytes) = (0, 0);
        for pod in first.into_iter().chain(others).take(MOST_PODS) {
            if bytes > MOST_BYTES {
                break;
            }
            checked += 1;
            bytes += pod.len();
            let violations = violations(enforced, &pod.decode(&head));
            if !violations.is_empty() {
                let (name, count) = found.entry(in_short(&violations)).or_insert((pod.name(), 0));
                *name = pod.name().min(name);
                *count += 1;
            }
        }
        let partly = (all.len() > checked).then(|| {
            let all = all.len();
            format!(
                "new PodSecurity enforce level only checked against the first {checked} of {all} existing pods"
            )
        });
        let any = (!found.is_empty()).then(|| {
            let [namespace, enforced] = [namespace, &enforced.to_string()].map(quoted);
            format!(
                "existing pods in namespace {namespace} violate the new PodSecurity enforce level {enforced}"
            )
        });
        let mut of_pods: Vec<_> = found.into_iter().map(of_pods).collect();
        of_pods.sort();
        partly.into_iter().chain(any).chain(of_pods).collect()
    }
}

/// What is said of pods that violate a policy in the same way: how many they are, and which is the first of them by name.
fn of_pods((violations, (name, count)): (String, (&str, usize))) -> String {
    match count {
        1 => format!("{name}: {violations}"),
        2 => format!("{name} (and 1 other pod): {violations}"),
        count => format!("{name} (and {} other pods): {violations}", count - 1),
    }
}

/// What a pod, or a template of pods, does that it may not.
fn violations(standard: Standard, pod: &Object) -> Vec<Violation> {
    let annotations = metadata(pod).get("annotations").unwrap_or(&Value::Null);
    let spec = pod.get("spec").unwrap_or(&Value::Null);
    standard.violations(annotations, spec)
}

fn warn_of(standard: Standard, pod: &Object, writer: Writer<'_>) {
    let found = violations(standard, pod);
    if !found.is_empty() {
        let standard = quoted(&standard.to_string());
        writer.warn(format!(
            "would violate PodSecurity {standard}: {}",
            in_detail(&found)
        ));
    }
}

/// Whether a change of a pod may let it do more: nothing else that may change does.
fn is_significant(old: &Object, new: &Object) -> bool {
    let differ = |list: &str| !images(old, list).eq(images(new, list));
    let by_name = |pod| {
        let all = images(pod, "ephemeralContainers");
        all.collect::<HashMap<_, _>>()
    };
    let (before, after) = (by_name(old), by_name(new));
    let is_other = |(name, image): (&&str, &&Value)| before.get(name) != Some(image);
    differ("containers") || differ("initContainers") || after.iter().any(is_other)
}

/// The name and the image of each container of a list.
fn images<'a>(pod: &'a Object, list: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let containers = pod.get("spec").and_then(|spec| spec[list].as_array());
    let containers = containers.into_iter().flatten();
    containers.map(|container| (container["name"].as_str().unwrap_or(""), &container["image"]))
}
