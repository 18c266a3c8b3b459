//! Which event is new, which one repeats another, and which one is too much.

use super::lru::Lru;
use super::{Event, EventType, Reporter};
use crate::names::is_dns_subdomain;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::{Event as ApiEvent, EventSeries};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How many different notes start to be combined, if they come within [`GROUP_INTERVAL`] of each other.
const GROUP_THRESHOLD: usize = 10;
const GROUP_INTERVAL: Duration = Duration::from_secs(600);
/// How many new events of one object and type there may be at once, and how long it takes until there may be one more.
const SPAM_BURST: f64 = 25.0;
const SPAM_INTERVAL: Duration = Duration::from_secs(300);
/// When a series that has not gone on is over.
pub(super) const SERIES_IDLE: Duration = Duration::from_secs(360);
const REMEMBERED: usize = 4096;
const COMBINED: &str = "(combined from similar events): ";
/// The API's limit of a note.
const NOTE_BYTES: usize = 1024;

/// What events have in common that differ in their notes at most. References are those of [`whatever_version`].
#[derive(Debug, Clone, PartialEq)]
struct Group {
    type_: EventType,
    action: String,
    reason: String,
    regarding: ObjectReference,
    related: Option<ObjectReference>,
}

impl Eq for Group {}

impl Hash for Group {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.type_, &self.action, &self.reason).hash(state);
        hash_reference(&self.regarding, state);
    }
}

fn hash_reference<H: Hasher>(reference: &ObjectReference, state: &mut H) {
    (
        &reference.kind,
        &reference.namespace,
        &reference.name,
        &reference.uid,
    )
        .hash(state);
}

/// The same object after each of its changes: else every write of its status would begin another series.
fn whatever_version(reference: &ObjectReference) -> ObjectReference {
    ObjectReference {
        resource_version: None,
        ..reference.clone()
    }
}

/// The object and type by which spam is measured: no version, and no field.
#[derive(Debug, Clone, PartialEq)]
struct Source(EventType, ObjectReference);

impl Eq for Source {}

impl Hash for Source {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
        hash_reference(&self.1, state);
    }
}

/// Identifies a series.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct SeriesKey {
    group: Arc<Group>,
    /// Equal notes; `None` stands for all that are combined.
    note: Option<Option<String>>,
}

/// An event and how often it has happened.
#[derive(Debug, Clone)]
pub(super) struct Series {
    event: ApiEvent,
    count: i32,
    /// The count that the server knows, or is about to be told.
    told: i32,
    last_observed: Timestamp,
    last: Instant,
}

impl Series {
    fn is_told(&self) -> bool {
        self.count == self.told
    }

    /// The event as it is to be written now.
    pub(super) fn tell(&mut self) -> ApiEvent {
        self.told = self.count;
        let mut event = self.event.clone();
        event.series = (self.count > 1).then_some(EventSeries {
            count: self.count,
            last_observed_time: MicroTime(self.last_observed),
        });
        event
    }
}

/// What became of an event.
#[derive(Debug)]
pub(super) enum Observed {
    /// It is new, and has to be written.
    New(SeriesKey),
    /// It is the first repetition of another one, which has to be written.
    Repeated(SeriesKey),
    /// It was counted.
    Counted,
    /// It was dropped by the spam filter.
    Spam,
}

/// Remembers events.
#[derive(Debug)]
pub(super) struct Correlator {
    reporter: Reporter,
    groups: Lru<Arc<Group>, Notes>,
    series: Lru<SeriesKey, Series>,
    spam: Lru<Source, Bucket>,
    /// Series that made room for others, and have counts to be written.
    evicted: Vec<Series>,
    /// The time in the last name, so that no two names are equal.
    named: i128,
}

#[derive(Debug)]
struct Notes {
    different: HashSet<Option<String>>,
    last: Instant,
}

#[derive(Debug)]
struct Bucket {
    tokens: f64,
    last: Instant,
}

impl Correlator {
    pub(super) fn new(reporter: Reporter) -> Self {
        Self {
            reporter,
            groups: Lru::new(REMEMBERED),
            series: Lru::new(REMEMBERED),
            spam: Lru::new(REMEMBERED),
            evicted: Vec::new(),
            named: 0,
        }
    }

    pub(super) fn observe(&mut self, event: &Event, regarding: &ObjectReference) -> Observed {
        let (now, time) = (Instant::now(), Timestamp::now());
        let note = event.note.clone().map(|note| cut(note, NOTE_BYTES));
        let group = Arc::new(Group {
            type_: event.type_,
            action: event.action.clone(),
            reason: event.reason.clone(),
            regarding: whatever_version(regarding),
            related: event.secondary.as_ref().map(whatever_version),
        });
        let combined = self.is_combined(&group, &note, now);
        let key = SeriesKey {
            group,
            note: (!combined).then_some(note),
        };
        if let Some(series) = self
            .series
            .get(&key)
            .filter(|series| now - series.last < SERIES_IDLE)
        {
            series.count = series.count.saturating_add(1);
            series.last_observed = time;
            series.last = now;
            return match series.count {
                2 => Observed::Repeated(key),
                _ => Observed::Counted,
            };
        }
        let object = ObjectReference {
            field_path: None,
            ..whatever_version(regarding)
        };
        if !self.allows(Source(event.type_, object), now) {
            return Observed::Spam;
        }
        let series = Series {
            event: self.api_event(event, regarding, combined, time),
            count: 1,
            told: 0,
            last_observed: time,
            last: now,
        };
        self.remember(key.clone(), series);
        Observed::New(key)
    }

    fn remember(&mut self, key: SeriesKey, series: Series) {
        // One that is over, and was not taken out yet.
        let over = self.series.remove(&key);
        let evicted = self.series.insert(key, series).map(|(_, series)| series);
        let ended = over.into_iter().chain(evicted);
        self.evicted.extend(ended.filter(|series| !series.is_told()));
    }

    /// Takes back an event that is new, and could not be put in line.
    pub(super) fn forget(&mut self, key: &SeriesKey) {
        self.series.remove(key);
    }

    /// What is to be written of a series, unless that was written meanwhile; and whether it is new to the server.
    pub(super) fn tell(&mut self, key: &SeriesKey) -> Option<(ApiEvent, bool)> {
        let series = self.series.get(key).filter(|series| !series.is_told())?;
        let is_new = series.told == 0;
        Some((series.tell(), is_new))
    }

    /// The series that have gone on since they were written, and, if `idle_only`, are over.
    pub(super) fn untold(&mut self, idle_only: bool) -> Vec<ApiEvent> {
        let now = Instant::now();
        let over = |series: &Series| now - series.last >= SERIES_IDLE;
        let mut untold = std::mem::take(&mut self.evicted);
        // Without a count that the server knows, its creation waits in line.
        if idle_only {
            let ended = self.series.extract_if(|series| over(series) && series.told > 0);
            untold.extend(ended.into_iter().filter(|series| !series.is_told()));
        } else {
            let going_on = self.series.iter_mut();
            let told = going_on.filter(|(_, series)| series.told > 0 && !series.is_told());
            untold.extend(told.map(|(_, series)| {
                let copy = series.clone();
                series.told = series.count;
                copy
            }));
        }
        untold.iter_mut().map(Series::tell).collect()
    }

    /// Whether a note is one of so many that they are combined.
    fn is_combined(&mut self, group: &Arc<Group>, note: &Option<String>, now: Instant) -> bool {
        let known = self.groups.get(group);
        let Some(notes) = known.filter(|notes| now - notes.last <= GROUP_INTERVAL) else {
            let notes = Notes {
                different: HashSet::from([note.clone()]),
                last: now,
            };
            self.groups.insert(group.clone(), notes);
            return false;
        };
        notes.last = now;
        if notes.different.contains(note) {
            return false;
        }
        let combined = notes.different.len() >= GROUP_THRESHOLD - 1;
        if !combined {
            notes.different.insert(note.clone());
        }
        combined
    }

    /// Takes a token of the source's bucket, if there is one.
    fn allows(&mut self, source: Source, now: Instant) -> bool {
        let Some(bucket) = self.spam.get(&source) else {
            let tokens = SPAM_BURST - 1.0;
            self.spam.insert(source, Bucket { tokens, last: now });
            return true;
        };
        let earned = (now - bucket.last).as_secs_f64() / SPAM_INTERVAL.as_secs_f64();
        bucket.tokens = (bucket.tokens + earned).min(SPAM_BURST);
        bucket.last = now;
        let allowed = bucket.tokens >= 1.0;
        if allowed {
            bucket.tokens -= 1.0;
        }
        allowed
    }

    fn api_event(
        &mut self,
        event: &Event,
        regarding: &ObjectReference,
        combined: bool,
        time: Timestamp,
    ) -> ApiEvent {
        let note = event.note.as_deref();
        let note = match combined {
            true => Some(format!("{COMBINED}{}", note.unwrap_or_default())),
            false => note.map(str::to_owned),
        };
        let Reporter { controller, instance } = self.reporter.clone();
        let instance = instance.filter(|instance| !instance.is_empty());
        let instance = cut(instance.unwrap_or_else(|| controller.clone()), 128);
        let namespace = regarding.namespace.clone().filter(|name| !name.is_empty());
        ApiEvent {
            metadata: ObjectMeta {
                name: Some(self.name(regarding, time)),
                namespace: Some(namespace.unwrap_or_else(|| "default".into())),
                ..ObjectMeta::default()
            },
            event_time: Some(MicroTime(time)),
            reporting_controller: Some(controller),
            reporting_instance: Some(instance),
            type_: Some(format!("{:?}", event.type_)),
            reason: Some(event.reason.clone()),
            action: Some(event.action.clone()),
            note: note.map(|note| cut(note, NOTE_BYTES)),
            regarding: Some(regarding.clone()),
            related: event.secondary.clone(),
            ..ApiEvent::default()
        }
    }

    /// A name that nobody else uses: the object's, and the time.
    fn name(&mut self, regarding: &ObjectReference, time: Timestamp) -> String {
        self.named = time.as_nanosecond().max(self.named + 1);
        let of = regarding.name.as_deref().unwrap_or_default();
        let name = format!("{of}.{:x}", self.named);
        match is_dns_subdomain(&name) {
            true => name,
            // Such as that of a ClusterRole: `system:node`.
            false => format!("{:032x}", fastrand::u128(..)),
        }
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.series.len()
    }
}

/// Cuts a string to a number of bytes, and shows that something is missing.
fn cut(mut text: String, bytes: usize) -> String {
    const MORE: &str = "...";
    if text.len() > bytes {
        let fits = |end: &usize| text.is_char_boundary(*end);
        let end = (0..=bytes - MORE.len()).rev().find(fits);
        text.truncate(end.unwrap_or_default());
        text.push_str(MORE);
    }
    text
}
