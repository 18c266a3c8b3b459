//! Profiles that restrict what containers do, of seccomp and of AppArmor: in fields, and in the annotations that were there before.

use std::collections::HashSet;

use serde_json::Value;

use super::at::{At, Causes};
use super::volume;
use crate::specs::annotations::{APP_ARMOR, SECCOMP, SECCOMP_OF_CONTAINERS};
use crate::specs::app_armor::LONGEST_PROFILE;
use crate::status::{Cause, quoted};

/// All containers of a pod, in the order in which a real server looks at them.
pub(super) const CONTAINERS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

const PROFILES: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];

/// What is before the name of a profile of the node's own.
const LOCAL: &str = "localhost/";

pub(super) fn seccomp(profile: &At<'_>, causes: &mut Causes) {
    if !profile.is_set() {
        return;
    }
    let (kind, path) = (profile.at("type"), profile.at("localhostProfile"));
    match kind.text() {
        "" => causes.push(kind.required("type is required when seccompProfile is set")),
        _ => kind.one_of(&PROFILES, causes),
    }
    match (kind.text(), path.is_set()) {
        ("Localhost", false) => causes.push(path.required("must be set when seccomp type is Localhost")),
        ("Localhost", true) => volume::relative(&path, causes),
        (_, true) => {
            // The whole profile, as Go shows it.
            let (kind, local) = (kind.in_json(), path.in_json());
            let shown = format!("{{\"Type\":{kind},\"LocalhostProfile\":{local}}}");
            causes.push(path.invalid_as(shown, "can only be set when seccomp type is Localhost"));
        }
        (_, false) => {}
    }
}

pub(super) fn app_armor(profile: &At<'_>, causes: &mut Causes) {
    if !profile.is_set() {
        return;
    }
    let (kind, name) = (profile.at("type"), profile.at("localhostProfile"));
    match kind.text() {
        "" => causes.push(kind.required("type is required when appArmorProfile is set")),
        "Localhost" => {
            if name.text().trim() != name.text() {
                causes.push(name.invalid("must not be padded with whitespace"));
            } else if name.text().is_empty() {
                causes.push(name.required("must be set when AppArmor type is Localhost"));
            }
            if name.text().len() > LONGEST_PROFILE {
                causes.push(name.too_long(LONGEST_PROFILE));
            }
        }
        "RuntimeDefault" | "Unconfined" if name.is_set() => {
            causes.push(name.invalid_in_json("can only be set when AppArmor type is Localhost"));
        }
        _ => kind.one_of(&PROFILES, causes),
    }
}

/// The annotations of a pod or of a template.
pub(super) fn annotations(annotations: &At<'_>, spec: &At<'_>, causes: &mut Causes) {
    let all = annotations.value().as_object().into_iter().flatten();
    let all = all.map(|(name, value)| (&**name, value.as_str().unwrap_or("")));
    let of_containers = |(name, _): &(&str, &str)| name.starts_with(SECCOMP_OF_CONTAINERS);
    let of_pod = all.clone().filter(|(name, _)| *name == SECCOMP);
    for (name, profile) in of_pod.chain(all.clone().filter(of_containers)) {
        match profile.strip_prefix(LOCAL) {
            Some(path) => {
                let path = Value::from(path);
                volume::relative(&annotations.naming(name, &path), causes);
            }
            None if matches!(profile, "runtime/default" | "docker/default" | "unconfined") => {}
            None => {
                let at = annotations.naming(name, &Value::Null);
                causes.push(at.invalid_as(quoted(profile), "must be a valid seccomp profile"));
            }
        }
    }
    let containers = CONTAINERS.into_iter().flat_map(|list| spec.items(list));
    let names: HashSet<_> = containers.map(|container| container.text_at("name")).collect();
    for (name, profile) in all {
        let Some(container) = name.strip_prefix(APP_ARMOR) else {
            continue;
        };
        let path = format!("{annotations}[{name}]");
        if !names.contains(container) {
            causes.push(Cause::invalid(
                path.clone(),
                quoted(container),
                "container not found",
            ));
        }
        let is_known = matches!(profile, "" | "runtime/default" | "unconfined");
        if !is_known && !profile.starts_with(LOCAL) {
            let why = format!("invalid AppArmor profile name: {}", quoted(profile));
            causes.push(Cause::invalid(path, quoted(profile), &why));
        }
    }
}

/// A profile is the same in the annotation and in the field, or only one of them is there.
pub(super) fn contradictions(annotations: &Value, spec: &At<'_>, causes: &mut Causes) {
    let annotation = |prefix: &str, name: &str| annotations[format!("{prefix}{name}")].as_str();
    let context = spec.at("securityContext");
    let seccomp = "seccompProfile";
    contradiction("seccomp", annotation(SECCOMP, ""), &context.at(seccomp), causes);
    for list in CONTAINERS {
        for container in spec.items(list) {
            let annotation = annotation(SECCOMP_OF_CONTAINERS, container.text_at("name"));
            let context = container.at("securityContext");
            contradiction("seccomp", annotation, &context.at(seccomp), causes);
        }
    }
    // Windows has no such profiles.
    if spec.at("os").text_at("name") == "windows" {
        return;
    }
    let of_pod = context.get("appArmorProfile");
    for list in CONTAINERS {
        for container in spec.items(list) {
            let annotation = annotation(APP_ARMOR, container.text_at("name"));
            let context = container.at("securityContext");
            let profile = match context.get("appArmorProfile") {
                Value::Null => of_pod,
                profile => profile,
            };
            let at = context.naming("appArmorProfile", profile);
            contradiction("apparmor", annotation, &at, causes);
        }
    }
}

/// Refuses a field that is there and says something else than the annotation.
fn contradiction(sort: &str, annotation: Option<&str>, profile: &At<'_>, causes: &mut Causes) {
    let Some(annotation) = annotation.filter(|_| profile.is_set()) else {
        return;
    };
    let kind = profile.at("type");
    let local = annotation.strip_prefix(LOCAL);
    let is_same_type = match kind.text() {
        "Unconfined" => annotation == "unconfined",
        "RuntimeDefault" => {
            annotation == "runtime/default" || (sort == "seccomp" && annotation == "docker/default")
        }
        "Localhost" => local.is_some(),
        _ => true,
    };
    let name = profile.at("localhostProfile");
    if !is_same_type {
        let why = format!("{sort} type in annotation and field must match");
        causes.push(kind.forbidden(&why));
    } else if kind.text() == "Localhost" && local != name.value().as_str() {
        let why = format!("{sort} profile in annotation and field must match");
        causes.push(name.forbidden(&why));
    }
}
