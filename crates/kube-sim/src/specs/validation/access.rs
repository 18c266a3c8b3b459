//! Roles and who has them.

use super::at::{At, Causes};
use super::names;
use crate::names::{path_segment_faults, subdomain_faults};

const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) fn role(role: &At<'_>, causes: &mut Causes) {
    for rule in role.items("rules") {
        self::rule(&rule, true, causes);
    }
}

pub(super) fn cluster_role(role: &At<'_>, causes: &mut Causes) {
    for rule in role.items("rules") {
        self::rule(&rule, false, causes);
    }
    let aggregation = role.at("aggregationRule");
    if aggregation.is_set() {
        if aggregation.count("clusterRoleSelectors") == 0 {
            let why = "at least one clusterRoleSelector required if aggregationRule is non-nil";
            causes.push(aggregation.at("clusterRoleSelectors").required(why));
        }
        for selector in aggregation.items("clusterRoleSelectors") {
            let before = causes.len();
            names::selector(&selector, causes);
            if causes.len() > before {
                causes.push(selector.invalid_as("null", "invalid label selector."));
            }
        }
    }
}

fn rule(rule: &At<'_>, is_namespaced: bool, causes: &mut Causes) {
    if rule.count("verbs") == 0 {
        causes.push(rule.at("verbs").required("verbs must contain at least one value"));
    }
    if rule.count("nonResourceURLs") > 0 {
        let paths = rule.at("nonResourceURLs");
        if is_namespaced {
            let why = "namespaced rules cannot apply to non-resource URLs";
            causes.push(paths.invalid(why));
        }
        let others = ["apiGroups", "resources", "resourceNames"];
        if others.iter().any(|name| rule.count(name) > 0) {
            let why = "rules cannot apply to both regular resources and non-resource URLs";
            causes.push(paths.invalid(why));
        }
        return;
    }
    if rule.count("apiGroups") == 0 {
        let why = "resource rules must supply at least one api group";
        causes.push(rule.at("apiGroups").required(why));
    }
    if rule.count("resources") == 0 {
        let why = "resource rules must supply at least one resource";
        causes.push(rule.at("resources").required(why));
    }
}

pub(super) fn role_binding(binding: &At<'_>, causes: &mut Causes) {
    self::binding(binding, &["Role", "ClusterRole"], causes);
}

pub(super) fn cluster_role_binding(binding: &At<'_>, causes: &mut Causes) {
    self::binding(binding, &["ClusterRole"], causes);
}

fn binding(binding: &At<'_>, kinds: &[&str], causes: &mut Causes) {
    let reference = binding.at("roleRef");
    let group = reference.at("apiGroup");
    if group.text() != GROUP {
        causes.push(group.unsupported_text(&[GROUP]));
    }
    reference.at("kind").text_one_of(kinds, causes);
    let name = reference.at("name");
    if name.need(causes) {
        name.fits(path_segment_faults, causes);
    }
    for subject in binding.items("subjects") {
        self::subject(&subject, kinds.len() == 1, causes);
    }
}

fn subject(subject: &At<'_>, of_cluster: bool, causes: &mut Causes) {
    let (kind, group) = (subject.at("kind"), subject.at("apiGroup"));
    subject.at("name").need(causes);
    match kind.text() {
        "ServiceAccount" => {
            let name = subject.at("name");
            if !name.text().is_empty() {
                name.fits(subdomain_faults, causes);
            }
            if !group.text().is_empty() {
                causes.push(group.unsupported_text(&[""]));
            }
            // In a namespace, it is that of the binding.
            if of_cluster {
                subject.at("namespace").need(causes);
            }
        }
        "User" | "Group" => {
            if group.text() != GROUP {
                causes.push(group.unsupported_text(&[GROUP]));
            }
        }
        _ => kind.text_one_of(&["ServiceAccount", "User", "Group"], causes),
    }
}
