//! What `advise` found, and the advice that follows from it.

use super::activity::Activity;
use super::estimate::{Estimate, Form};
use super::sample::{FieldSize, Sample};
use crate::counts::Count;
use crate::target::{Skipped, Target};
use crate::text;
use serde::Serialize;

/// The number of fields that are shown of a kind.
const FIELDS: usize = 6;
/// The number of kinds that an advice of one sort is given for.
const KINDS: usize = 5;
/// The memory of decoded objects from which it is worth a sentence.
const WORTH_HOLDING: u64 = 1 << 20;
/// The part of the bytes from which it is worth leaving a field out.
const WORTH_PRUNING: f64 = 0.1;
/// The part of the bytes from which one field alone is the reason for a projection.
const WORTH_PROJECTING: f64 = 0.4;
/// The changes a second from which a kind is busy.
const BUSY: f64 = 1.0;

/// All that `advise` has to say.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    /// The server's URL.
    pub(super) server: String,
    /// When the report was made.
    pub(super) time: String,
    /// What to do, the most effective first.
    pub(super) advice: Vec<String>,
    /// The memory of caches of all these kinds together.
    pub(super) total: Vec<Estimate>,
    /// The kinds, that of most bytes first.
    pub(super) kinds: Vec<KindReport>,
    /// Kinds of which nothing is known, and why.
    pub(super) skipped: Vec<Skipped>,
    /// How the estimates were made.
    pub(super) made: Vec<Made>,
}

/// How the estimates of a form were made.
#[derive(Debug, Serialize)]
pub(super) struct Made {
    pub(super) form: Form,
    pub(super) how: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct KindReport {
    pub(super) resource: String,
    pub(super) kind: String,
    pub(super) objects: u64,
    /// Whether there may be more objects.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) at_least: bool,
    /// The number of objects that were looked at.
    pub(super) sampled: u64,
    /// The JSON of all objects, as it follows from the sample.
    pub(super) bytes: u64,
    pub(super) bytes_per_object: u64,
    /// The fields that make up the most bytes.
    pub(super) fields: Vec<FieldSize>,
    pub(super) managed_fields: u64,
    pub(super) last_applied: u64,
    /// The memory of a cache in each form; empty without a sample.
    pub(super) forms: Vec<Estimate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) changes: Option<Changes>,
}

/// The changes of a kind while it was watched.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Changes {
    pub(super) seconds: f64,
    pub(super) changes: u64,
    pub(super) per_second: f64,
    /// The changes of which is known which fields they changed, and those of them that changed nothing but heartbeats.
    pub(super) compared: u64,
    pub(super) heartbeats: u64,
    pub(super) fields: Vec<Count>,
    pub(super) managers: Vec<Count>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) failure: Option<String>,
}

impl KindReport {
    pub(super) fn of(target: &Target, sample: &Sample) -> Self {
        let custom = target.resource.is_custom();
        let forms = match sample.sampled {
            0 => Vec::new(),
            _ => Form::ALL.map(|form| form.estimate(sample, custom)).into(),
        };
        Self {
            resource: target.resource.full_name(),
            kind: target.resource.kind.clone(),
            objects: sample.objects,
            at_least: sample.at_least,
            sampled: sample.sampled,
            bytes: sample.of_all(sample.sizes.all),
            bytes_per_object: sample.sizes.all.checked_div(sample.sampled).unwrap_or_default(),
            fields: sample.biggest_fields(FIELDS),
            managed_fields: sample.of_all(sample.sizes.managed_fields),
            last_applied: sample.of_all(sample.sizes.last_applied),
            forms,
            changes: None,
        }
    }

    /// The memory of a cache in a form; none without a sample.
    pub(super) fn bytes_as(&self, form: Form) -> u64 {
        let found = self.forms.iter().find(|estimate| estimate.form == form);
        found.map_or(0, |estimate| estimate.bytes)
    }

    pub(super) fn per_second(&self) -> f64 {
        self.changes.as_ref().map_or(0.0, |changes| changes.per_second)
    }

    fn share(&self, bytes: u64) -> f64 {
        bytes as f64 / self.bytes.max(1) as f64
    }
}

impl From<Activity> for Changes {
    fn from(activity: Activity) -> Self {
        let seconds = activity.period.as_secs_f64();
        let tenths = |value: f64| (value * 10.0).round() / 10.0;
        Self {
            seconds: tenths(seconds),
            changes: activity.changes,
            per_second: match seconds > 0.0 {
                true => tenths(activity.changes as f64 / seconds),
                false => 0.0,
            },
            compared: activity.compared,
            heartbeats: activity.heartbeats,
            fields: activity.fields(FIELDS),
            managers: activity.managers(FIELDS),
            failure: activity.failure,
        }
    }
}

impl Report {
    pub(super) fn new(server: String, mut kinds: Vec<KindReport>, skipped: Vec<Skipped>) -> Self {
        kinds.sort_by(|one, other| {
            (other.bytes, other.objects, &one.resource).cmp(&(one.bytes, one.objects, &other.resource))
        });
        let total = Form::ALL.map(|form| Estimate {
            form,
            bytes: kinds.iter().map(|kind| kind.bytes_as(form)).sum(),
        });
        Self {
            server,
            time: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            advice: advice(&kinds),
            total: total.into(),
            kinds,
            skipped,
            made: Form::ALL
                .map(|form| Made {
                    form,
                    how: form.made(),
                })
                .into(),
        }
    }
}

impl Report {
    /// Which kinds the sums do not contain.
    pub(super) fn not_in_the_sum(&self) -> Option<String> {
        let unsampled = self
            .kinds
            .iter()
            .filter(|kind| kind.objects > 0 && kind.sampled == 0);
        let unsampled: Vec<_> = unsampled.map(|kind| kind.resource.as_str()).collect();
        let skipped = match self.skipped.len() {
            0 => None,
            1 => Some("what was skipped".to_owned()),
            several => Some(format!("{several} that were skipped")),
        };
        let missing: Vec<_> = (!unsampled.is_empty())
            .then(|| first(&unsampled))
            .into_iter()
            .chain(skipped)
            .collect();
        (!missing.is_empty()).then(|| format!("without {}", missing.join(" and ")))
    }
}

/// Sentences that name the next step.
fn advice(kinds: &[KindReport]) -> Vec<String> {
    let mut advice = Vec::new();
    let worth = |kind: &&KindReport| kind.bytes_as(Form::Typed) >= WORTH_HOLDING;
    for kind in kinds.iter().filter(worth).take(KINDS) {
        let size = |form| text::bytes(kind.bytes_as(form));
        advice.push(format!(
            "hold {} as Packed<{}>: {} instead of {} decoded (client-go: {}, kube-rs: {})",
            kind.resource,
            kind.kind,
            size(Form::Packed),
            size(Form::Typed),
            size(Form::ClientGo),
            size(Form::KubeRs),
        ));
    }
    for (name, bytes_of) in [
        (
            "metadata.managedFields",
            (|kind| kind.managed_fields) as fn(&KindReport) -> u64,
        ),
        ("the last-applied-configuration annotation", |kind| {
            kind.last_applied
        }),
    ] {
        let pruned: Vec<_> = kinds
            .iter()
            .filter(|kind| worth(kind) && kind.share(bytes_of(kind)) >= WORTH_PRUNING)
            .collect();
        let bytes: u64 = pruned.iter().map(|kind| bytes_of(kind)).sum();
        let of: u64 = pruned.iter().map(|kind| kind.bytes).sum();
        if of == 0 {
            continue;
        }
        let names: Vec<_> = pruned.iter().map(|kind| kind.resource.as_str()).collect();
        advice.push(format!(
            "prune {name} of {}: {:.0} % of the bytes that are decoded ({} of {}); Packed<_> and \
             FieldPlan::without_managed_fields leave managedFields out, a FieldPlan or a transform any field",
            first(&names),
            100.0 * bytes as f64 / of as f64,
            text::bytes(bytes),
            text::bytes(of),
        ));
    }
    for kind in kinds.iter().filter(worth).take(KINDS) {
        let heavy = kind
            .fields
            .iter()
            .find(|field| field.path != "metadata.managedFields");
        if let Some(field) = heavy.filter(|field| field.share >= WORTH_PROJECTING) {
            advice.push(format!(
                "if nobody reads {} of {}, hold a projection without it: it is {:.0} % of the bytes ({}); a projection of \
                 names and labels alone takes {}",
                field.path,
                kind.resource,
                100.0 * field.share,
                text::bytes(field.bytes),
                text::bytes(kind.bytes_as(Form::Projection)),
            ));
        }
    }
    advice.extend(about_changes(kinds));
    if advice.is_empty() {
        let was_watched = |kind: &KindReport| {
            let changes = kind.changes.as_ref();
            kind.objects == 0 || changes.is_some_and(|changes| changes.failure.is_none())
        };
        let quiet = match kinds.iter().all(was_watched) {
            true => " and change little",
            false => "; how often all of them change was not seen",
        };
        advice.push(format!(
            "nothing to save: decoded in any form, these kinds take less than a MiB each{quiet}"
        ));
    }
    advice
}

fn about_changes(kinds: &[KindReport]) -> Vec<String> {
    let mut advice = Vec::new();
    let mut busy: Vec<_> = kinds.iter().filter(|kind| kind.per_second() >= BUSY).collect();
    busy.sort_by(|one, other| other.per_second().total_cmp(&one.per_second()));
    for kind in busy.into_iter().take(KINDS) {
        let Some(changes) = &kind.changes else { continue };
        let field = changes
            .fields
            .first()
            .map(|field| format!(", mostly of {}", field.name));
        let manager = changes
            .managers
            .first()
            .map(|manager| format!(" by {}", manager.name));
        let told = format!(
            "{} change {:.1} times a second{}{}",
            kind.resource,
            changes.per_second,
            field.unwrap_or_default(),
            manager.unwrap_or_default()
        );
        let heartbeats = 100 * changes.heartbeats / changes.compared.max(1);
        advice.push(match heartbeats {
            25.. => format!(
                "{told}; {heartbeats} % of it are heartbeats: compare what you read before you reconcile, with a predicate or \
                 on a projection"
            ),
            _ => format!("{told}: a handler that is slower than that needs a work queue with more workers"),
        });
    }
    advice
}

/// Some names, at most [`KINDS`] of them.
fn first(names: &[&str]) -> String {
    match names.len() {
        more @ 6.. => format!("{} and {} others", names[..KINDS].join(", "), more - KINDS),
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(resource: &str, bytes: u64, managed: u64, per_second: f64, heartbeats: u64) -> KindReport {
        KindReport {
            resource: resource.into(),
            kind: "Pod".into(),
            objects: 10,
            at_least: false,
            sampled: 10,
            bytes,
            bytes_per_object: bytes / 10,
            fields: vec![],
            managed_fields: managed,
            last_applied: 0,
            forms: Form::ALL
                .map(|form| Estimate {
                    form,
                    bytes: match form {
                        Form::Packed => bytes / 10,
                        _ => bytes * 8,
                    },
                })
                .into(),
            changes: Some(Changes {
                seconds: 10.0,
                changes: (per_second * 10.0) as u64,
                per_second,
                compared: 100,
                heartbeats,
                fields: vec![Count {
                    name: "spec.renewTime".into(),
                    changes: 9,
                }],
                managers: vec![Count {
                    name: "kubelet".into(),
                    changes: 9,
                }],
                failure: None,
            }),
        }
    }

    #[test]
    fn advice_names_the_next_step() {
        let kinds = vec![
            kind("pods", 100 << 20, 31 << 20, 0.0, 0),
            kind("leases.coordination.k8s.io", 1000, 900, 12.0, 90),
        ];
        let advice = advice(&kinds);
        assert_eq!(
            advice[0],
            "hold pods as Packed<Pod>: 10 MiB instead of 800 MiB decoded (client-go: 800 MiB, kube-rs: 800 MiB)"
        );
        assert!(
            advice[1].starts_with("prune metadata.managedFields of pods: 31 % of the bytes"),
            "{advice:?}"
        );
        assert!(
            advice[2].starts_with(
                "leases.coordination.k8s.io change 12.0 times a second, mostly of spec.renewTime by kubelet; 90 % of it"
            ),
            "{advice:?}"
        );
        assert_eq!(advice.len(), 3);
    }

    #[test]
    fn a_small_quiet_cluster_needs_nothing() {
        let advice = advice(&[kind("pods", 1000, 900, 0.0, 0)]);
        assert!(
            advice[0].ends_with("less than a MiB each and change little"),
            "{advice:?}"
        );
        // Unless nobody has looked.
        let mut unwatched = kind("pods", 1000, 900, 0.0, 0);
        unwatched.changes = None;
        let mut failed = kind("nodes", 1000, 900, 0.0, 0);
        failed.changes.as_mut().unwrap().failure = Some("forbidden".into());
        for kind in [unwatched, failed] {
            let advice = super::advice(&[kind]);
            assert!(advice[0].ends_with("was not seen"), "{advice:?}");
        }
    }

    #[test]
    fn the_sum_says_what_is_not_in_it() {
        let mut secrets = kind("secrets", 0, 0, 0.0, 0);
        secrets.sampled = 0;
        let pods = || kind("pods", 1000, 900, 0.0, 0);
        let skipped = || Skipped {
            resource: "nodes".into(),
            why: "forbidden".into(),
        };
        for (kinds, skipped, expected) in [
            (vec![pods()], vec![], None),
            (vec![pods()], vec![skipped()], Some("without what was skipped")),
            (
                vec![pods(), secrets],
                vec![skipped(), skipped()],
                Some("without secrets and 2 that were skipped"),
            ),
        ] {
            let report = Report::new("http://127.0.0.1".into(), kinds, skipped);
            assert_eq!(report.not_in_the_sum().as_deref(), expected);
        }
    }
}
