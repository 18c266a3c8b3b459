//! Which nodes a pod or a volume wants, and which pods beside it.

use super::at::{At, Causes};
use super::names;
use crate::names::{dns_label_faults, subdomain_faults};
use crate::status::quoted;

/// Where a pod is to run, and beside which others.
pub(super) fn affinity(affinity: &At<'_>, causes: &mut Causes) {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
    let weight = |preferred: &At<'_>, causes: &mut Causes| {
        let weight = preferred.number_at("weight").unwrap_or(0);
        if !(1..=100).contains(&weight) {
            causes.push(
                preferred
                    .at("weight")
                    .invalid_as(weight, "must be in the range 1-100"),
            );
        }
    };
    let nodes = affinity.at("nodeAffinity");
    if nodes.has(REQUIRED) {
        node_selector(&nodes.at(REQUIRED), causes);
    }
    for preferred in nodes.items(PREFERRED) {
        weight(&preferred, causes);
        node_term(&preferred.at("preference"), causes);
    }
    for name in ["podAffinity", "podAntiAffinity"] {
        let pods = affinity.at(name);
        for term in pods.items(REQUIRED) {
            pod_term(&term, causes);
        }
        for preferred in pods.items(PREFERRED) {
            weight(&preferred, causes);
            pod_term(&preferred.at("podAffinityTerm"), causes);
        }
    }
}

/// Nodes by terms, one of which must hold.
pub(super) fn node_selector(selector: &At<'_>, causes: &mut Causes) {
    let terms = selector.at("nodeSelectorTerms");
    if selector.count("nodeSelectorTerms") == 0 {
        causes.push(terms.required("must have at least one node selector term"));
    }
    for term in selector.items("nodeSelectorTerms") {
        node_term(&term, causes);
    }
}

fn node_term(term: &At<'_>, causes: &mut Causes) {
    for expression in term.items("matchExpressions") {
        let (operator, values) = (expression.at("operator"), expression.at("values"));
        let count = expression.count("values");
        match operator.text() {
            "In" | "NotIn" if count == 0 => {
                causes.push(values.required("must be specified when `operator` is 'In' or 'NotIn'"));
            }
            "Exists" | "DoesNotExist" if count > 0 => {
                causes.push(
                    values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
                );
            }
            "Gt" | "Lt" if count != 1 => {
                causes
                    .push(values.required("must be specified single value when `operator` is 'Lt' or 'Gt'"));
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            _ => causes.push(operator.invalid_in_json("not a valid selector operator")),
        }
        names::label_key(&expression.at("key"), expression.text_at("key"), causes);
    }
    for field in term.items("matchFields") {
        let (key, operator) = (field.at("key"), field.at("operator"));
        match operator.text() {
            "In" | "NotIn" if field.count("values") != 1 => {
                let why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
                causes.push(field.at("values").required(why));
            }
            "In" | "NotIn" => {}
            _ => causes.push(operator.invalid_in_json("not a valid selector operator")),
        }
        if key.text() != "metadata.name" {
            causes.push(key.invalid("not a valid field selector key"));
        }
        for value in field.items("values") {
            value.fits(subdomain_faults, causes);
        }
    }
}

fn pod_term(term: &At<'_>, causes: &mut Causes) {
    names::selector(&term.at("labelSelector"), causes);
    names::selector(&term.at("namespaceSelector"), causes);
    for namespace in term.items("namespaces") {
        let faults = dns_label_faults(namespace.text()).into_iter();
        causes.extend(faults.map(|fault| term.at("namespace").invalid_as(quoted(namespace.text()), fault)));
    }
    let key = term.at("topologyKey");
    if key.text().is_empty() {
        causes.push(key.required("can not be empty"));
    }
    names::qualified_name(&key, causes);
}
