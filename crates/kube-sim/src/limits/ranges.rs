//! LimitRanges: what a container asks for if it does not say, and between which limits.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::usage::{list, of_container, of_pod};
use crate::meta::{Object, metadata_mut};
use crate::quantity::{Amount, Amounts};

/// The annotation that says what a pod got.
const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// Gives the containers of a pod what the range has for those that do not say.
pub(super) fn complete(range: &Object, pod: &mut Object) {
    let [limits, requests] = ["default", "defaultRequest"].map(|member| {
        let mut all = Map::new();
        for limit in limits_of(range).filter(|limit| limit["type"] == "Container") {
            all.extend(limit[member].as_object().cloned().unwrap_or_default());
        }
        all
    });
    let Some(Value::Object(spec)) = pod.get_mut("spec") else {
        return;
    };
    let mut given = Vec::new();
    for (member, kind) in [("containers", "container"), ("initContainers", "init container")] {
        let containers = spec.get_mut(member).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten().filter_map(Value::as_object_mut) {
            let name = container
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or("")
                .to_owned();
            let [limits, requests] = [("limits", &limits), ("requests", &requests)]
                .map(|(member, defaults)| give(container, member, defaults));
            for (names, what) in [(requests, "request"), (limits, "limit")] {
                if !names.is_empty() {
                    given.push(format!("{} {what} for {kind} {name}", names.join(", ")));
                }
            }
        }
    }
    if !given.is_empty() {
        let annotations = metadata_mut(pod)
            .entry("annotations")
            .or_insert_with(|| json!({}));
        if let Value::Object(annotations) = annotations {
            let text = format!("LimitRanger plugin set: {}", given.join("; "));
            annotations.insert(ANNOTATION.into(), text.into());
        }
    }
}

/// Adds what is missing in a container's `limits` or `requests`; returns its names, in order.
fn give(container: &mut Object, member: &str, defaults: &Object) -> Vec<String> {
    let resources = container.entry("resources").or_insert_with(|| json!({}));
    let Value::Object(resources) = resources else {
        return Vec::new();
    };
    let mut there = match resources.remove(member) {
        Some(Value::Object(there)) => there,
        _ => Object::new(),
    };
    let mut names = Vec::new();
    for (name, value) in defaults {
        if !there.contains_key(name) {
            there.insert(name.clone(), value.clone());
            names.push(name.clone());
        }
    }
    if !there.is_empty() {
        resources.insert(member.into(), there.into());
    }
    names.sort();
    names
}

fn limits_of(range: &Object) -> impl Iterator<Item = &Value> {
    range
        .get("spec")
        .into_iter()
        .flat_map(|spec| list(&spec["limits"]))
}

/// What a pod or a claim breaks of a range, as one message.
pub(super) fn refusal(range: &Object, id: &str, object: &Object) -> Option<String> {
    let spec = object.get("spec").unwrap_or(&Value::Null);
    let mut broken = Vec::new();
    for limit in limits_of(range) {
        let rule = Rule {
            kind: limit["type"].as_str().unwrap_or(""),
            limit,
        };
        match (id, rule.kind) {
            ("pods", "Container") => {
                for container in list(&spec["containers"]).chain(list(&spec["initContainers"])) {
                    let [requests, limits] =
                        ["requests", "limits"].map(|member| of_container(container, member));
                    rule.check(&requests, &limits, &mut broken);
                }
            }
            ("pods", "Pod") => {
                let [requests, limits] = ["requests", "limits"].map(|member| of_pod(object, member));
                rule.check(&requests, &limits, &mut broken);
            }
            ("persistentvolumeclaims", "PersistentVolumeClaim") => {
                rule.check_claim(&of_container(spec, "requests"), &mut broken);
            }
            _ => {}
        }
    }
    let mut said = BTreeSet::new();
    broken.retain(|why| said.insert(why.clone()));
    match broken.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        more => Some(format!("[{}]", more.join(", "))),
    }
}

/// One of the limits of a range.
struct Rule<'a> {
    kind: &'a str,
    limit: &'a Value,
}

impl Rule<'_> {
    fn check(&self, requests: &Amounts, limits: &Amounts, broken: &mut Vec<String>) {
        for (name, least) in Amount::read_all(&self.limit["min"]) {
            broken.extend(self.minimum(&name, &least, requests.get(&name), limits.get(&name)));
        }
        for (name, most) in Amount::read_all(&self.limit["max"]) {
            broken.extend(self.maximum(&name, &most, requests.get(&name), limits.get(&name)));
        }
        for (name, most) in Amount::read_all(&self.limit["maxLimitRequestRatio"]) {
            broken.extend(self.ratio(&name, &most, requests.get(&name), limits.get(&name)));
        }
    }

    /// A claim has requests only.
    fn check_claim(&self, requests: &Amounts, broken: &mut Vec<String>) {
        for (name, least) in Amount::read_all(&self.limit["min"]) {
            broken.extend(self.minimum(&name, &least, requests.get(&name), None));
        }
        for (name, most) in Amount::read_all(&self.limit["max"]) {
            let why = match requests.get(&name) {
                None => Some("  No request is specified".to_owned()),
                Some(request) if request.quantity() > most.quantity() => {
                    Some(format!(", but request is {request}"))
                }
                Some(_) => None,
            };
            broken.extend(why.map(|why| self.message("maximum", &name, &most, &why)));
        }
    }

    fn minimum(
        &self,
        name: &str,
        least: &Amount,
        request: Option<&Amount>,
        limit: Option<&Amount>,
    ) -> Option<String> {
        let too_little = |amount: &&Amount| amount.quantity() < least.quantity();
        let why = match (request, limit) {
            (None, _) => "  No request is specified".to_owned(),
            (Some(request), _) if too_little(&request) => format!(", but request is {request}"),
            (_, limit) => format!(", but limit is {}", limit.filter(too_little)?),
        };
        Some(self.message("minimum", name, least, &why))
    }

    fn maximum(
        &self,
        name: &str,
        most: &Amount,
        request: Option<&Amount>,
        limit: Option<&Amount>,
    ) -> Option<String> {
        let too_much = |amount: &&Amount| amount.quantity() > most.quantity();
        let why = match (limit, request) {
            (None, _) => "  No limit is specified".to_owned(),
            (Some(limit), _) if too_much(&limit) => format!(", but limit is {limit}"),
            (_, request) => format!(", but request is {}", request.filter(too_much)?),
        };
        Some(self.message("maximum", name, most, &why))
    }

    fn message(&self, which: &str, name: &str, bound: &Amount, why: &str) -> String {
        let stop = if why.starts_with(' ') { "." } else { "" };
        format!("{which} {name} usage per {} is {bound}{stop}{why}", self.kind)
    }

    fn ratio(
        &self,
        name: &str,
        most: &Amount,
        request: Option<&Amount>,
        limit: Option<&Amount>,
    ) -> Option<String> {
        let given = |amount: Option<&Amount>| amount.filter(|amount| !amount.is_zero()).map(Amount::number);
        let why = match (given(request), given(limit)) {
            (None, _) => "no request is specified or request is 0".to_owned(),
            (_, None) => "no limit is specified or limit is 0".to_owned(),
            (Some(request), Some(limit)) if limit / request > most.number() => {
                format!("provided ratio is {:.6}", limit / request)
            }
            _ => return None,
        };
        let kind = self.kind;
        Some(format!(
            "{name} max limit to request ratio per {kind} is {most}, but {why}"
        ))
    }
}
