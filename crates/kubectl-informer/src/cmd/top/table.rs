//! The kinds as one table, for pipes.

use super::Top;
use super::model::{Kind, Ranked};
use crate::age;
use crate::args::{Sort, TopArgs};
use crate::counts::Count;
use crate::grid;
use crate::target::{Skipped, grouped};
use crate::text::bytes;
use serde::Serialize;
use std::time::Duration;
use tokio::time::Instant;

/// The number of managers and objects of a kind that are told.
const TOLD: usize = 5;

/// All kinds at one time.
#[derive(Serialize)]
pub(super) struct Table {
    server: String,
    /// How long changes were counted.
    seconds: f64,
    kinds: Vec<Row>,
    skipped: Vec<Skipped>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    resource: String,
    /// Why it is not watched any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    objects: usize,
    bytes: u64,
    changes: u64,
    /// How long it was watched while changes were counted.
    seconds: f64,
    per_second: f64,
    /// The longest time from a write to its arrival, in whole seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    lag_seconds: Option<u64>,
    managers: Vec<Count>,
    largest: Vec<Object>,
    busiest: Vec<Object>,
}

#[derive(Serialize)]
struct Object {
    key: String,
    bytes: u64,
    changes: u64,
}

impl From<Ranked> for Object {
    fn from(ranked: Ranked) -> Self {
        Self {
            key: ranked.key.to_string(),
            bytes: ranked.bytes,
            changes: ranked.changes,
        }
    }
}

impl Table {
    /// The kinds that have objects or changes, in the order that was asked for.
    pub(super) fn of(top: &Top, args: &TopArgs, started: Instant) -> Self {
        let now = Instant::now();
        let seconds = now.saturating_duration_since(started).as_secs_f64();
        let kinds = sorted(
            &top.model.kinds,
            args.sort,
            args.filter.as_deref().unwrap_or_default(),
            now,
        );
        let shown = kinds.iter().map(|number| &top.model.kinds[*number]);
        let shown = shown.filter(|kind| kind.listed && (kind.objects() > 0 || kind.changes > 0));
        let rows = shown.map(|kind| Row {
            resource: kind.resource.full_name(),
            problem: kind.state.problem().map(ToOwned::to_owned),
            objects: kind.objects(),
            bytes: kind.bytes,
            changes: kind.changes,
            seconds: rounded(kind.watched(now).as_secs_f64()),
            per_second: match kind.watched(now).as_secs_f64() {
                seconds if seconds > 0.0 => rounded(kind.changes as f64 / seconds),
                _ => 0.0,
            },
            lag_seconds: kind.lag(now),
            managers: kind.managers(TOLD),
            largest: kind.largest(TOLD).into_iter().map(Object::from).collect(),
            busiest: kind.busiest(TOLD).into_iter().map(Object::from).collect(),
        });
        let kinds = rows.collect();
        let unknown = top.model.kinds.iter().filter(|kind| !kind.listed);
        let unknown = unknown.map(|kind| Skipped {
            resource: kind.resource.full_name(),
            why: kind
                .state
                .problem()
                .unwrap_or("it was not listed in time")
                .to_owned(),
        });
        Self {
            server: top.server.clone(),
            seconds: rounded(seconds),
            kinds,
            skipped: unknown.chain(top.skipped.iter().cloned()).collect(),
        }
    }

    /// Whether there is no kind to show.
    pub(super) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Why nothing is known just now, if that is so of each kind.
    pub(super) fn unwatched(&self) -> Option<&str> {
        let mut problems = self.kinds.iter().map(|row| row.problem.as_deref());
        let first = problems.next()?;
        first.filter(|_| problems.all(|problem| problem.is_some()))
    }

    /// For people; kinds that offer no list are not worth a line.
    pub(super) fn text(&self) -> String {
        let header = [
            "RESOURCE", "OBJECTS", "BYTES", "CHANGES", "A SECOND", "LAG", "BY", "LARGEST", "BUSIEST",
        ];
        let rows = self.kinds.iter().map(|row| {
            let largest = row.largest.first();
            let busiest = row.busiest.first();
            vec![
                row.resource.clone(),
                row.objects.to_string(),
                bytes(row.bytes),
                row.changes.to_string(),
                format!("{:.1}", row.per_second),
                row.lag_seconds
                    .map_or("-".into(), |lag| age::human(Duration::from_secs(lag))),
                row.managers
                    .first()
                    .map_or("-".into(), |manager| manager.name.clone()),
                largest.map_or("-".into(), |object| {
                    format!("{} ({})", object.key, bytes(object.bytes))
                }),
                busiest.map_or("-".into(), |object| {
                    format!("{} ({})", object.key, object.changes)
                }),
            ]
        });
        let header = header.map(ToOwned::to_owned).to_vec();
        let mut lines = grid::table(std::iter::once(header).chain(rows));
        let skipped = self.skipped.iter();
        let skipped = skipped.filter(|skipped| !skipped.why.starts_with("it cannot be listed and watched"));
        let skipped = grouped(skipped.map(|skipped| (&*skipped.resource, &*skipped.why)));
        lines.extend(
            skipped
                .iter()
                .map(|(kinds, why)| format!("skipped {kinds}: {why}")),
        );
        let failing = self.kinds.iter();
        let failing = grouped(failing.filter_map(|row| Some((&*row.resource, row.problem.as_deref()?))));
        lines.extend(
            failing
                .iter()
                .map(|(kinds, why)| format!("not watched any more: {kinds}: {why}")),
        );
        lines.join("\n")
    }
}

fn rounded(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// The numbers of the kinds whose names contain the text, sorted.
pub(super) fn sorted(kinds: &[Kind], sort: Sort, filter: &str, now: Instant) -> Vec<usize> {
    let mut numbers: Vec<_> = (0..kinds.len())
        .filter(|number| kinds[*number].resource.full_name().contains(filter))
        .collect();
    let rank = |kind: &Kind| match sort {
        Sort::Changes => ((kind.per_second(now) * 10.0) as u64, kind.changes),
        Sort::Bytes => (kind.bytes, 0),
        Sort::Objects => (kind.objects() as u64, 0),
        Sort::Lag => (kind.lag(now).map_or(0, |lag| lag + 1), 0),
        Sort::Name => (0, 0),
    };
    numbers.sort_by_cached_key(|number| {
        let kind = &kinds[*number];
        (std::cmp::Reverse(rank(kind)), kind.resource.full_name())
    });
    numbers
}
