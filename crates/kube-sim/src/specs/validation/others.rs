//! Leases, events, nodes and classes.

use std::collections::HashSet;

use super::at::{At, Causes};
use super::names;
use crate::names::{as_one, dns_label_faults, label_value_faults};
use crate::status::{Cause, quoted};

pub(super) fn lease(object: &At<'_>, causes: &mut Causes) {
    let spec = object.at("spec");
    let duration = spec.at("leaseDurationSeconds");
    if duration.number().is_some_and(|seconds| seconds <= 0) {
        causes.push(duration.invalid("must be greater than 0"));
    }
    spec.at("leaseTransitions").not_negative(causes);
}

/// An event of the core group; one with a time is a new one.
pub(super) fn event(event: &At<'_>, causes: &mut Causes) {
    of_namespace(event, causes);
    if event.has("eventTime") {
        reported(event, "reportingComponent", causes);
    }
}

/// An event is where the object is that it is about; that of an object without a namespace is in `default`, and a new one may be in
/// `kube-system`.
fn of_namespace(event: &At<'_>, causes: &mut Causes) {
    let object = event.at("involvedObject");
    let metadata = event.at("metadata");
    let (of_object, of_event) = (object.text_at("namespace"), metadata.text_at("namespace"));
    let is_new = event.has("eventTime");
    let fits = match of_object {
        "" => matches!(of_event, "default" | "") || (is_new && of_event == "kube-system"),
        _ => is_new || of_object == of_event,
    };
    if !fits {
        causes.push(object.at("namespace").invalid("does not match event.namespace"));
    }
}

/// An event of `events.k8s.io`, as it is stored.
pub(super) fn new_event(event: &At<'_>, causes: &mut Causes) {
    of_namespace(event, causes);
    reported(event, "reportingController", causes);
    nothing_old(event, causes);
}

/// What a new event must say; `controller` is what the API calls who reports it.
fn reported(event: &At<'_>, controller: &str, causes: &mut Causes) {
    const LONGEST: usize = 128;
    const LONGEST_NOTE: usize = 1024;
    let long =
        |at: &At<'_>, most: usize| at.invalid_as("\"\"", &format!("can have at most {most} characters"));
    event.at("eventTime").need(causes);
    let reporter = event.naming(controller, event.get("reportingComponent"));
    reporter.need(causes);
    names::qualified_name(&reporter, causes);
    for name in ["reportingInstance", "action", "reason"] {
        let at = event.at(name);
        at.need(causes);
        if at.text().len() > LONGEST {
            causes.push(long(&at, LONGEST));
        }
    }
    if event.text_at("message").len() > LONGEST_NOTE {
        causes.push(long(&event.at("message"), LONGEST_NOTE));
    }
}

/// What only events of `events.k8s.io` must not have: clients of the core group send old events with a new time.
fn nothing_old(event: &At<'_>, causes: &mut Causes) {
    let kind = event.at("type");
    if !matches!(kind.text(), "Normal" | "Warning") {
        causes.push(kind.invalid_as("\"\"", &format!("has invalid value: {}", kind.text())));
    }
    let old = ["firstTimestamp", "lastTimestamp", "count"];
    for name in event.those(&old).filter(|name| event.get(name) != 0) {
        causes.push(event.at(name).invalid_as("\"\"", "needs to be unset"));
    }
}

pub(super) fn node(object: &At<'_>, causes: &mut Causes) {
    let spec = object.at("spec");
    let mut seen = HashSet::new();
    let metadata = object.at("metadata");
    for (n, taint) in spec.items("taints").enumerate() {
        // A real server says so.
        let name = format!("taints[{n}]");
        let taint = metadata.naming(&name, taint.value());
        let (key, value, effect) = (taint.at("key"), taint.at("value"), taint.at("effect"));
        names::qualified_name(&key, causes);
        let fault = as_one(&label_value_faults(value.text()), ";");
        causes.extend(fault.map(|fault| value.invalid(&fault)));
        effect.need_one_of(&["NoSchedule", "PreferNoSchedule", "NoExecute"], causes);
        if !seen.insert((key.text().to_owned(), effect.text().to_owned())) {
            let shown = format!(
                "{{\"Key\":{},\"Value\":{},\"Effect\":{},\"TimeAdded\":{}}}: taints must be unique by key and effect pair",
                quoted(key.text()),
                quoted(value.text()),
                quoted(effect.text()),
                taint.get("timeAdded")
            );
            causes.push(taint.duplicate_shown(&shown));
        }
    }
    ranges(&spec, causes);
}

/// At most one range of each family.
fn ranges(spec: &At<'_>, causes: &mut Causes) {
    let mut families = Vec::new();
    let mut misfit = None;
    for (n, range) in spec.items("podCIDRs").enumerate() {
        range.fits(names::range_fault, causes);
        let family = names::range(range.text()).map(|(start, _)| start.to_canonical().is_ipv4());
        families.push(family);
        if family.is_none() && misfit.is_none() {
            misfit = Some(format!("[{n}]: <nil> (invalid CIDR address: {})", range.text()));
        }
    }
    if families.len() < 2 {
        return;
    }
    let all = spec.at("podCIDRs");
    if let Some(misfit) = misfit {
        let why = "invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR";
        causes.push(Cause::internal(all.path(), &format!("{why}{misfit}")));
    }
    if !names::is_one_of_each(&families) {
        causes.push(all.invalid_in_json("may specify no more than one CIDR for each IP family"));
    }
}

pub(super) fn runtime_class(class: &At<'_>, causes: &mut Causes) {
    class.at("handler").need_fit(dns_label_faults, causes);
}
