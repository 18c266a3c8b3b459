//! `advise`: tells what caches of a cluster would cost, and what to do about it.
//!
//! Each kind is listed in pages until its sample is large enough ([`sample`]), then all kinds are watched for some seconds
//! ([`activity`]). What the caches take follows from the sample ([`estimate`]), and the advice from that ([`mod@report`]).

mod activity;
mod estimate;
mod page;
mod report;
mod sample;

use crate::args::{AdviseArgs, AdviseOutput};
use crate::counts::Count;
use crate::grid;
use crate::open_files;
use crate::output;
use crate::progress;
use crate::signals::{Meaning, Stop};
use crate::target::{Kinds, Skipped, Target, grouped};
use crate::text::{bytes, printable};
use activity::Activity;
use anyhow::bail;
use estimate::Form;
use futures::StreamExt as _;
use kube_informer::source::ErrorClass;
use report::{Changes, KindReport, Report};
use sample::Sample;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::Instant;

/// The number of kinds that are listed at a time.
const AT_ONCE: usize = 4;
/// The time after a signal at which the program ends even if a task hangs.
const GRACE: Duration = Duration::from_secs(4);

pub(crate) async fn run(args: AdviseArgs) -> anyhow::Result<ExitCode> {
    let stop = Stop::on_signal(Meaning::Interruption, Some(GRACE))?;
    match stop.token.run_until_cancelled(report(&args)).await {
        Some(report) => tell(&report?, args.output)?,
        None => return Err(stop.interrupted("before everything was looked at; there is no advice")),
    }
    Ok(ExitCode::SUCCESS)
}

async fn report(args: &AdviseArgs) -> anyhow::Result<Report> {
    let found = Kinds::find(&args.cluster).await?;
    let server = found.server()?;
    let Kinds { targets, mut skipped } = found;
    let known = skipped.len();
    let mut samples = samples(args, &targets, &mut skipped).await;
    if samples.is_empty() {
        let why = skipped
            .get(known)
            .map(|skipped| format!("{}: {}", skipped.resource, skipped.why))
            .unwrap_or_default();
        bail!("cannot list any kind; {why}{}", args.cluster.instead(&why));
    }
    let mut kinds: Vec<_> = samples
        .iter()
        .map(|(target, sample)| KindReport::of(target, sample))
        .collect();
    if args.period > Duration::ZERO {
        let progress = progress::doing(&format!("watching for {:?}", args.period));
        // A kind without objects is not worth a connection.
        let watches = samples.drain(..).enumerate();
        let watches = watches.filter(|(_, (_, sample))| sample.objects > 0);
        let most = open_files::most_connections();
        let watches = watches
            .zip(0..)
            .map(|((number, (target, sample)), place)| async move {
                let activity = match place < most {
                    true => Activity::watch(target, sample, args.period).await,
                    false => Activity::not_watched(open_files::too_many(most)),
                };
                (number, activity)
            });
        for (number, activity) in futures::future::join_all(watches).await {
            kinds[number].changes = Some(Changes::from(activity));
        }
        progress.finish_and_clear();
    }
    Ok(Report::new(server, kinds, skipped))
}

/// Takes a sample of each kind; those that give none are skipped.
async fn samples<'t>(
    args: &AdviseArgs,
    targets: &'t [Target],
    skipped: &mut Vec<Skipped>,
) -> Vec<(&'t Target, Sample)> {
    let deadline = Instant::now() + args.time_limit;
    let progress = progress::doing("taking samples");
    let taken = targets.iter().map(|target| async move {
        let sample = Sample::take(target, u64::from(args.sample), deadline).await;
        let why = match sample {
            Ok(Some(sample)) => return (target, Ok(sample)),
            Ok(None) => "it was not reached within --time-limit".to_owned(),
            Err(error) if error.class() == ErrorClass::Forbidden => {
                format!("forbidden: {}", error.chain())
            }
            Err(error) => error.chain(),
        };
        (target, Err(why))
    });
    let mut taken = futures::stream::iter(taken).buffered(AT_ONCE);
    let mut samples = Vec::new();
    while let Some((target, sample)) = taken.next().await {
        let resource = target.resource.full_name();
        progress.set_message(format!("sampled {}", printable(&resource)));
        match sample {
            Ok(sample) => samples.push((target, sample)),
            Err(why) => skipped.push(Skipped { resource, why }),
        }
    }
    progress.finish_and_clear();
    samples
}

fn tell(report: &Report, output: AdviseOutput) -> anyhow::Result<()> {
    match output {
        AdviseOutput::Text => output::lines(&text(report))?,
        AdviseOutput::Json => output::line(&serde_json::to_string(report)?)?,
        AdviseOutput::Html => output::raw(page::html(report).as_bytes())?,
    }
    Ok(())
}

/// The report for people.
fn text(report: &Report) -> String {
    let mut lines = vec![format!("{} at {}", report.server, report.time), String::new()];
    for (number, advice) in report.advice.iter().enumerate() {
        lines.push(format!("{}. {advice}", number + 1));
    }
    lines.push(String::new());
    lines.push("Memory of a cache, by form:".into());
    let header = ["RESOURCE", "OBJECTS", "JSON"].map(ToOwned::to_owned).into_iter();
    let header: Vec<_> = header
        .chain(Form::ALL.map(|form| form.name().to_uppercase()))
        .collect();
    let shown: Vec<_> = report.kinds.iter().filter(|kind| kind.objects > 0).collect();
    let memory = shown.iter().map(|kind| {
        let mut row = vec![kind.resource.clone(), objects(kind)];
        match kind.sampled {
            0 => row.push("not asked for".into()),
            _ => row.extend(
                [bytes(kind.bytes)]
                    .into_iter()
                    .chain(Form::ALL.map(|form| bytes(kind.bytes_as(form)))),
            ),
        }
        row
    });
    let total = report.total.iter().map(|total| bytes(total.bytes));
    let json = bytes(report.kinds.iter().map(|kind| kind.bytes).sum());
    let total: Vec<_> = ["together".into(), String::new(), json]
        .into_iter()
        .chain(total)
        .collect();
    lines.extend(grid::table(std::iter::once(header).chain(memory).chain([total])));
    lines.extend(report.not_in_the_sum().map(|without| format!("({without})")));
    let empty = report.kinds.len() - shown.len();
    match empty {
        0 => {}
        1 => lines.push("(1 kind has no objects)".into()),
        _ => lines.push(format!("({empty} kinds have no objects)")),
    }
    let fields = shown.iter().filter(|kind| !kind.fields.is_empty()).map(|kind| {
        let fields = kind.fields.iter().take(4);
        let fields = fields.map(|field| format!("{} {:.0} %", field.path, 100.0 * field.share));
        vec![kind.resource.clone(), fields.collect::<Vec<_>>().join(", ")]
    });
    let fields: Vec<_> = fields.collect();
    if !fields.is_empty() {
        lines.extend([String::new(), "What makes up the bytes:".into()]);
        lines.extend(grid::table(fields.into_iter()));
    }
    lines.extend(changes(report));
    if !report.skipped.is_empty() {
        lines.push(String::new());
        lines.push("Skipped:".into());
        let skipped = report.skipped.iter();
        let skipped = grouped(skipped.map(|skipped| (&*skipped.resource, &*skipped.why)));
        lines.extend(skipped.iter().map(|(kinds, why)| format!("{kinds}: {why}")));
    }
    if !report.made.is_empty() {
        lines.push(String::new());
        lines.push("How the estimates are made (measured with pods on kube-apiserver: bench/RESULTS.md of kube-informer):".into());
        let made = report.made.iter();
        lines.extend(grid::table(
            made.map(|made| vec![made.form.name().to_owned(), made.how.clone()]),
        ));
    }
    lines.join("\n")
}

/// The kinds that change, that which changes most first.
fn changes(report: &Report) -> Vec<String> {
    let mut busy: Vec<_> = report
        .kinds
        .iter()
        .filter_map(|kind| Some((kind, kind.changes.as_ref()?)))
        .filter(|(_, changes)| changes.changes > 0 || changes.failure.is_some())
        .collect();
    busy.sort_by(|(_, one), (_, other)| other.per_second.total_cmp(&one.per_second));
    if busy.is_empty() {
        return vec![];
    }
    let header = ["RESOURCE", "CHANGES", "A SECOND", "FIELDS", "BY"].map(ToOwned::to_owned);
    let rows = busy.into_iter().map(|(kind, changes)| {
        let names = |counts: &[Count]| {
            let names: Vec<_> = counts.iter().take(3).map(|count| count.name.as_str()).collect();
            names.join(", ")
        };
        let fields = match &changes.failure {
            Some(failure) => format!("the watch ended early: {failure}"),
            None => names(&changes.fields),
        };
        vec![
            kind.resource.clone(),
            changes.changes.to_string(),
            format!("{:.1}", changes.per_second),
            fields,
            names(&changes.managers),
        ]
    });
    let mut lines = vec![String::new(), "What changes:".into()];
    lines.extend(grid::table(std::iter::once(header.to_vec()).chain(rows)));
    lines
}

/// The number of objects, as far as it is known.
fn objects(kind: &KindReport) -> String {
    match kind.at_least {
        true => format!("{}+", kind.objects),
        false => kind.objects.to_string(),
    }
}
