//! What makes pods: deployments, sets, jobs.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::at::{At, Causes};
use super::{cron, names, pod, volume};
use crate::names::dns_label_faults;
use crate::specs::fixes::{CONTROLLER_UID, JOB_NAME, labels_of_job};
use crate::status::go_json;

pub(super) fn deployment(object: &At<'_>, causes: &mut Causes) {
    let spec = object.at("spec");
    spec.at("replicas").not_negative(causes);
    selected_template(&spec, &DEPLOYMENT, causes);
    let strategy = spec.at("strategy");
    let (kind, rolling) = (strategy.at("type"), strategy.at("rollingUpdate"));
    match kind.text() {
        "Recreate" if rolling.is_set() => {
            let why = "may not be specified when strategy `type` is 'Recreate'";
            causes.push(rolling.forbidden(why));
        }
        "Recreate" => {}
        "RollingUpdate" => rolling_update(&rolling, causes),
        _ => causes.push(strategy.unsupported_as(&shown(&strategy), &["Recreate", "RollingUpdate"])),
    }
    spec.at("minReadySeconds").not_negative(causes);
    spec.at("revisionHistoryLimit").not_negative(causes);
    let progress = spec.at("progressDeadlineSeconds");
    progress.not_negative(causes);
    let least = spec.number_at("minReadySeconds").unwrap_or(0);
    if progress.number().is_some_and(|seconds| seconds <= least) {
        causes.push(progress.invalid("must be greater than minReadySeconds"));
    }
}

/// A strategy of no known type, as Go shows it.
fn shown(strategy: &At<'_>) -> String {
    format!(
        "{{\"Type\":{},\"RollingUpdate\":null}}",
        strategy.at("type").in_json()
    )
}

fn rolling_update(rolling: &At<'_>, causes: &mut Causes) {
    let (surge, unavailable) = (rolling.at("maxSurge"), rolling.at("maxUnavailable"));
    names::number_or_percentage(&unavailable, causes);
    names::number_or_percentage(&surge, causes);
    let is_zero = |at: &At<'_>| at.number() == Some(0) || names::percentage(at) == Some(0);
    if is_zero(&surge) && is_zero(&unavailable) {
        causes.push(unavailable.invalid("may not be 0 when `maxSurge` is 0"));
    }
    names::at_most_all(&unavailable, causes);
}

pub(super) fn replica_set(object: &At<'_>, causes: &mut Causes) {
    let spec = object.at("spec");
    spec.at("replicas").not_negative(causes);
    spec.at("minReadySeconds").not_negative(causes);
    selected_template(&spec, &DEPLOYMENT, causes);
}

pub(super) fn replication_controller(object: &At<'_>, causes: &mut Causes) {
    let spec = object.at("spec");
    spec.at("minReadySeconds").not_negative(causes);
    if spec.count("selector") == 0 {
        causes.push(spec.at("selector").required(""));
    }
    spec.at("replicas").not_negative(causes);
    let template = spec.at("template");
    if !template.is_set() {
        causes.push(template.required(""));
        return;
    }
    let metadata = template.at("metadata");
    let labels = metadata.get("labels");
    let selects = |(key, value): (&str, At<'_>)| labels[key] == *value.value();
    if !spec.entries("selector").all(selects) {
        let why = "`selector` does not match template `labels`";
        causes.push(metadata.at("labels").invalid(why));
    }
    pod::template(&template, causes);
    runs_always(&template, "ReplicationController", causes);
}

pub(super) fn stateful_set(object: &At<'_>, causes: &mut Causes) {
    let spec = object.at("spec");
    let policy = spec.at("podManagementPolicy");
    match policy.text() {
        "" => causes.push(policy.required("")),
        "OrderedReady" | "Parallel" => {}
        _ => causes.push(policy.invalid_in_json("must be 'OrderedReady' or 'Parallel'")),
    }
    let strategy = spec.at("updateStrategy");
    let (kind, rolling) = (strategy.at("type"), strategy.at("rollingUpdate"));
    match kind.text() {
        "" => causes.push(strategy.required("")),
        "OnDelete" if rolling.is_set() => {
            let why = "only allowed for updateStrategy 'RollingUpdate'";
            let shown = format!(
                "{{\"Partition\":{},\"MaxUnavailable\":{}}}",
                rolling.number_at("partition").unwrap_or(0),
                rolling.get("maxUnavailable")
            );
            causes.push(rolling.invalid_as(shown, why));
        }
        "OnDelete" => {}
        "RollingUpdate" => rolling.at("partition").not_negative(causes),
        _ => causes.push(strategy.invalid_as(shown(&strategy), "must be 'RollingUpdate' or 'OnDelete'")),
    }
    let retention = spec.at("persistentVolumeClaimRetentionPolicy");
    for name in retention.those(&["whenDeleted", "whenScaled"]) {
        retention.at(name).one_of(&["Retain", "Delete"], causes);
    }
    spec.at("replicas").not_negative(causes);
    spec.at("minReadySeconds").not_negative(causes);
    spec.at("ordinals").at("start").not_negative(causes);
    for claim in spec.items("volumeClaimTemplates") {
        volume::claim_spec(&claim.at("spec"), causes);
    }
    spec.at("serviceName").fits_if_set(dns_label_faults, causes);
    let as_made = as_made(&spec);
    selected_template(&object.naming("spec", &as_made), &STATEFUL_SET, causes);
}

/// The spec of a StatefulSet as its pods see it: they are called by its name, and each claim that it makes is a volume of the
/// template, before the template's own, in the place of one of its name.
fn as_made(spec: &At<'_>) -> Value {
    let mut completed = spec.value().clone();
    if let Some(Value::Object(pod)) = completed.pointer_mut("/template/spec") {
        pod.remove("hostname");
        pod.remove("subdomain");
    }
    let claims = spec.items("volumeClaimTemplates").map(|claim| {
        let name = claim.at("metadata").get("name").clone();
        json!({"name": name, "persistentVolumeClaim": {"claimName": name}})
    });
    let mut volumes: Vec<Value> = claims.collect();
    if volumes.is_empty() {
        return completed;
    }
    let name_of = |volume: &Value| volume["name"].as_str().unwrap_or("").to_owned();
    let names: HashSet<String> = volumes.iter().map(name_of).collect();
    let template = spec.at("template");
    let own = template
        .at("spec")
        .get("volumes")
        .as_array()
        .into_iter()
        .flatten();
    volumes.extend(own.filter(|volume| !names.contains(&name_of(volume))).cloned());
    if let Some(Value::Object(pod)) = completed.pointer_mut("/template/spec") {
        pod.insert("volumes".into(), volumes.into());
    }
    completed
}

pub(super) fn daemon_set(object: &At<'_>, causes: &mut Causes) {
    let spec = object.at("spec");
    selected_template(&spec, &DAEMON_SET, causes);
    let strategy = spec.at("updateStrategy");
    let (kind, rolling) = (strategy.at("type"), strategy.at("rollingUpdate"));
    match kind.text() {
        "OnDelete" => {}
        "RollingUpdate" => {
            let (surge, unavailable) = (rolling.at("maxSurge"), rolling.at("maxUnavailable"));
            names::number_or_percentage(&unavailable, causes);
            names::number_or_percentage(&surge, causes);
            let is_zero =
                |at: &At<'_>| !at.is_set() || at.number() == Some(0) || names::percentage(at) == Some(0);
            match (is_zero(&unavailable), is_zero(&surge)) {
                (true, true) => causes.push(unavailable.required("cannot be 0 when maxSurge is 0")),
                (false, false) => {
                    causes.push(surge.invalid("may not be set when maxUnavailable is non-zero"));
                }
                _ => {}
            }
            names::at_most_all(&unavailable, causes);
            names::at_most_all(&surge, causes);
        }
        _ => causes.push(strategy.unsupported_as(&shown(&strategy), &["RollingUpdate", "OnDelete"])),
    }
    spec.at("minReadySeconds").not_negative(causes);
    spec.at("revisionHistoryLimit").not_negative(causes);
}

/// What differs in how a real server speaks of a selector.
struct Selected {
    empty: &'static str,
    needs_one: bool,
    /// What is said of a selector with faults as a whole.
    whole: Option<&'static str>,
    /// Whether how its pods run is looked at even if the selector has faults.
    always_runs: bool,
    /// Whether labels and annotations of the template are looked at twice.
    repeats: bool,
    kind: &'static str,
}

const DEPLOYMENT: Selected = Selected {
    empty: "empty selector is invalid for deployment",
    needs_one: true,
    whole: Some("invalid label selector"),
    always_runs: false,
    repeats: false,
    kind: "ReplicaSet",
};

const STATEFUL_SET: Selected = Selected {
    empty: "empty selector is invalid for statefulset",
    needs_one: true,
    whole: Some(""),
    always_runs: true,
    repeats: true,
    kind: "StatefulSet",
};

const DAEMON_SET: Selected = Selected {
    empty: "empty selector is invalid for daemonset",
    needs_one: false,
    whole: None,
    always_runs: true,
    repeats: false,
    kind: "DaemonSet",
};

/// A selector, and a template of pods that it selects.
fn selected_template(spec: &At<'_>, kind: &Selected, causes: &mut Causes) {
    let (selector, template) = (spec.at("selector"), spec.at("template"));
    let before = causes.len();
    names::selector(&selector, causes);
    let is_sound = causes.len() == before;
    if !selector.is_set() && kind.needs_one {
        causes.push(selector.required(""));
    }
    let metadata = template.at("metadata");
    let labels = metadata.at("labels");
    let is_empty =
        selector.is_set() && selector.count("matchLabels") + selector.count("matchExpressions") == 0;
    if is_empty {
        // It selects everything.
        causes.push(selector.invalid(kind.empty));
    } else if is_sound && !selects(selector.value(), labels.value()) {
        let why = "`selector` does not match template `labels`";
        causes.push(labels.invalid_as(go_json(labels.value()), why));
    }
    match kind.whole {
        Some(why) if !is_sound => {
            causes.push(selector.invalid_as(names::selector_shown(selector.value()), why));
        }
        _ => pod::template(&template, causes),
    }
    if is_sound && kind.repeats {
        pod::template_metadata(&template, causes);
    }
    if is_sound || kind.always_runs {
        runs_always(&template, kind.kind, causes);
    }
}

fn runs_always(template: &At<'_>, kind: &str, causes: &mut Causes) {
    let spec = template.at("spec");
    spec.at("restartPolicy").one_of(&["Always"], causes);
    if spec.has("activeDeadlineSeconds") {
        let why = format!("activeDeadlineSeconds in {kind} is not Supported");
        causes.push(spec.at("activeDeadlineSeconds").forbidden(&why));
    }
}

/// Whether a selector selects these labels.
pub(crate) fn selects(selector: &Value, labels: &Value) -> bool {
    if selector.is_null() {
        return false;
    }
    let nothing = Map::new();
    let of = |name: &str| selector[name].as_object().unwrap_or(&nothing);
    let equal = of("matchLabels").iter().all(|(key, value)| labels[key] == *value);
    let mut expressions = selector["matchExpressions"].as_array().into_iter().flatten();
    equal
        && expressions.all(|expression| {
            let label = expression["key"]
                .as_str()
                .map_or(&Value::Null, |key| &labels[key]);
            let values = expression["values"].as_array();
            let is_among = values.is_some_and(|values| values.contains(label));
            match expression["operator"].as_str() {
                Some("In") => is_among,
                Some("NotIn") => !is_among,
                Some("Exists") => !label.is_null(),
                _ => label.is_null(),
            }
        })
}

/// A job; one that a cron job makes has no selector.
pub(super) fn job(object: &At<'_>, causes: &mut Causes) {
    let spec = object.at("spec");
    let (selector, template) = (spec.at("selector"), spec.at("template"));
    let mut faults = Causes::new();
    match selector.is_set() {
        true => names::selector(&selector, &mut faults),
        false => faults.push(selector.required("")),
    }
    let is_sound = faults.is_empty();
    if selector.is_set() && !spec.is_true_at("manualSelector") {
        generated_selector(object, is_sound, causes);
    }
    job_spec(&spec, causes);
    causes.append(&mut faults);
    let metadata = template.at("metadata");
    let labels = metadata.at("labels");
    if (is_sound || !selector.is_set()) && !selects(selector.value(), labels.value()) {
        let why = "`selector` does not match template `labels`";
        causes.push(labels.invalid_as(go_json(labels.value()), why));
    }
    let last = spec.number_at("completions").unwrap_or(0).saturating_sub(1);
    if spec.text_at("completionMode") == "Indexed" && last >= 0 {
        let metadata = object.at("metadata");
        let name = metadata.at("name");
        // Its pods are called by its name and their index.
        let host = format!("{}-{last}", name.text());
        if !dns_label_faults(&host).is_empty() {
            let why = format!("will not able to create pod with invalid DNS label: {host}");
            causes.push(name.invalid(&why));
        }
    }
}

/// The selector of a job and the labels of its template, as the server completes them: they are about this job and no other.
fn generated_selector(object: &At<'_>, is_sound: bool, causes: &mut Causes) {
    let (metadata, spec) = (object.at("metadata"), object.at("spec"));
    let (selector, template) = (spec.at("selector"), spec.at("template"));
    let expected = labels_of_job(metadata.text_at("name"), metadata.text_at("uid"));
    let template = template.at("metadata");
    let labels = template.get("labels");
    // A job that an old server has made has the older labels only.
    let is_new = !labels[CONTROLLER_UID].is_null() && !labels[JOB_NAME].is_null()
        || !selector.get("matchLabels")[CONTROLLER_UID].is_null();
    let needed = if is_new { 4 } else { 2 };
    for (key, value) in &expected[..needed] {
        let (label, why) = (template.entry("labels", key), format!("must be '{value}'"));
        if !label.is_set() {
            causes.push(label.required(&why));
        } else if label.text() != *value {
            causes.push(label.invalid_as(go_json(labels), &why));
        }
    }
    let expected = expected.map(|(key, value)| (key.to_owned(), value.into()));
    if is_sound && !selects(selector.value(), &Map::from_iter(expected).into()) {
        let shown = names::selector_shown(selector.value());
        causes.push(selector.invalid_as(shown, "`selector` not auto-generated"));
    }
}

fn job_spec(spec: &At<'_>, causes: &mut Causes) {
    for name in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
    ] {
        spec.at(name).not_negative(causes);
    }
    let is_indexed = spec.text_at("completionMode") == "Indexed";
    let mode = spec.at("completionMode");
    mode.may_be_one_of(&["NonIndexed", "Indexed"], causes);
    if is_indexed && !spec.has("completions") {
        let why = "when completion mode is Indexed";
        causes.push(spec.at("completions").required(why));
    }
    spec.at("maxFailedIndexes").not_negative(causes);
    spec.at("backoffLimitPerIndex").not_negative(causes);
    if spec.has("backoffLimitPerIndex") && !is_indexed {
        let at = spec.at("backoffLimitPerIndex");
        causes.push(at.invalid("requires indexed completion mode"));
    }
    if spec.has("maxFailedIndexes") {
        if !spec.has("backoffLimitPerIndex") {
            let why = "when maxFailedIndexes is specified";
            causes.push(spec.at("backoffLimitPerIndex").required(why));
        }
        if !is_indexed {
            causes.push(
                spec.at("maxFailedIndexes")
                    .invalid("requires indexed completion mode"),
            );
        }
    }
    failure_policy(spec, causes);
    let replacement = spec.at("podReplacementPolicy");
    if spec.has("podFailurePolicy") {
        replacement.may_be_one_of(&["Failed"], causes);
    } else {
        replacement.may_be_one_of(&["Failed", "TerminatingOrFailed"], causes);
    }
    let template = spec.at("template");
    pod::template(&template, causes);
    let pod = template.at("spec");
    let policy = pod.at("restartPolicy");
    match policy.text() {
        "" | "Always" => causes.push(policy.required("valid values: \"OnFailure\", \"Never\"")),
        "OnFailure" if spec.has("podFailurePolicy") => {
            let why = "only \"Never\" is supported when podFailurePolicy is specified";
            causes.push(policy.invalid_in_json(why));
        }
        "OnFailure" | "Never" => {}
        _ => policy.one_of(&["Never", "OnFailure"], causes),
    }
}

fn failure_policy(spec: &At<'_>, causes: &mut Causes) {
    let policy = spec.at("podFailurePolicy");
    for rule in policy.items("rules") {
        rule.at("action")
            .need_one_of(&["Count", "FailIndex", "FailJob", "Ignore"], causes);
        let codes = rule.at("onExitCodes");
        if codes.is_set() {
            codes.at("operator").need_one_of(&["In", "NotIn"], causes);
            if codes.count("values") == 0 {
                let why = "at least one value is required";
                causes.push(codes.at("values").invalid_as("[]", why));
            }
            for value in codes.items("values") {
                if codes.text_at("operator") == "In" && value.number() == Some(0) {
                    causes.push(value.invalid("must not be 0 for the In operator"));
                }
            }
        }
        for pattern in rule.items("onPodConditions") {
            names::qualified_name(&pattern.at("type"), causes);
            pattern
                .at("status")
                .need_one_of(&["False", "True", "Unknown"], causes);
        }
        let (has_codes, has_conditions) = (codes.is_set(), rule.count("onPodConditions") > 0);
        if has_codes && has_conditions {
            causes
                .push(rule.invalid_alone("specifying both OnExitCodes and OnPodConditions is not supported"));
        } else if !has_codes && !has_conditions {
            causes.push(rule.invalid_alone("specifying one of OnExitCodes and OnPodConditions is required"));
        }
    }
}

pub(super) fn cron_job(object: &At<'_>, causes: &mut Causes) {
    let spec = object.at("spec");
    let (schedule, zone) = (spec.at("schedule"), spec.at("timeZone"));
    match schedule.text() {
        "" => causes.push(schedule.required("")),
        text => {
            let (of_schedule, rest) = match text.starts_with("TZ=") || text.starts_with("CRON_TZ=") {
                true => text.split_once(' ').unwrap_or((text, "")),
                false => ("", text),
            };
            let fault = cron::fault(rest.trim_start());
            causes.extend(fault.map(|fault| schedule.invalid(&fault)));
            if !of_schedule.is_empty() {
                let why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
                causes.push(schedule.invalid(why));
            }
        }
    }
    if zone.is_set() {
        time_zone(&zone, causes);
    }
    spec.at("startingDeadlineSeconds").not_negative(causes);
    let policy = spec.at("concurrencyPolicy");
    policy.need_one_of(&["Allow", "Forbid", "Replace"], causes);
    spec.at("successfulJobsHistoryLimit").not_negative(causes);
    spec.at("failedJobsHistoryLimit").not_negative(causes);
    let template = spec.at("jobTemplate");
    let job = template.at("spec");
    job_spec(&job, causes);
    if job.has("selector") {
        causes.push(job.at("selector").invalid("`selector` will be auto-generated"));
    }
    if job.is_true_at("manualSelector") {
        causes.push(job.at("manualSelector").unsupported(&["nil", "false"]));
    }
}

/// Whether a name may be one of the IANA time zone database; of what is in an area, all names may be.
fn is_zone(name: &str) -> bool {
    const AREAS: [&str; 16] = [
        "Africa",
        "America",
        "Antarctica",
        "Arctic",
        "Asia",
        "Atlantic",
        "Australia",
        "Brazil",
        "Canada",
        "Chile",
        "Etc",
        "Europe",
        "Indian",
        "Mexico",
        "Pacific",
        "US",
    ];
    const ALONE: [&str; 43] = [
        "CET",
        "CST6CDT",
        "Cuba",
        "EET",
        "EST",
        "EST5EDT",
        "Egypt",
        "Eire",
        "Factory",
        "GB",
        "GB-Eire",
        "GMT",
        "GMT+0",
        "GMT-0",
        "GMT0",
        "Greenwich",
        "HST",
        "Hongkong",
        "Iceland",
        "Iran",
        "Israel",
        "Jamaica",
        "Japan",
        "Kwajalein",
        "Libya",
        "MET",
        "MST",
        "MST7MDT",
        "NZ",
        "NZ-CHAT",
        "Navajo",
        "PRC",
        "PST8PDT",
        "Poland",
        "Portugal",
        "ROC",
        "ROK",
        "Singapore",
        "Turkey",
        "UCT",
        "UTC",
        "W-SU",
        "WET",
    ];
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b"/_+-".contains(&b);
    match name.split_once('/') {
        Some((area, rest)) => AREAS.contains(&area) && !rest.is_empty() && rest.bytes().all(is_word),
        None => ALONE.contains(&name) || matches!(name, "Universal" | "Zulu"),
    }
}

fn time_zone(zone: &At<'_>, causes: &mut Causes) {
    let name = zone.text();
    if name.is_empty() {
        causes.push(zone.invalid_in_json("timeZone must be nil or non-empty string"));
    } else if name.eq_ignore_ascii_case("local") {
        causes.push(zone.invalid_in_json(
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
        ));
    } else if !is_zone(name) {
        causes.push(zone.invalid_in_json(&format!("unknown time zone {name}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_of(claims: &Value, volumes: &Value) -> Vec<Value> {
        let spec = json!({"volumeClaimTemplates": claims, "template": {"spec": {"volumes": volumes}}});
        let object = Map::from_iter([("spec".to_owned(), spec)]);
        let completed = as_made(&At::root(&object).at("spec"));
        let volumes = completed["template"]["spec"]["volumes"].as_array().cloned();
        let volumes = volumes.unwrap_or_default().into_iter();
        volumes.map(|volume| volume["name"].clone()).collect()
    }

    // As in a real server.
    #[test]
    fn a_claim_without_a_name_takes_the_place_of_volumes_without() {
        let volumes = json!([{"emptyDir": {}}, {"name": "", "emptyDir": {}}, {"name": "a"}, {"name": "b"}]);
        let claims = json!([{"metadata": {}}, {"metadata": {"name": "b"}}]);
        assert_eq!(names_of(&claims, &volumes), [json!(null), json!("b"), json!("a")]);
    }

    // Each compared with each other, this would take minutes.
    #[test]
    fn very_many_claims_are_put_before_very_many_volumes() {
        let claims = (0..80_000)
            .map(|n| json!({"metadata": {"name": format!("c{n}")}}))
            .collect();
        let volumes = (0..80_000).map(|n| json!({"name": format!("v{n}")})).collect();
        assert_eq!(names_of(&claims, &volumes).len(), 160_000);
    }
}
