//! What is known of a cluster's kinds: their objects, sizes, changes and the last diffs.

use super::history::History;
use crate::args::Diff;
use crate::counts::{Count, Counts};
use crate::diff;
use crate::discovery::Resource;
use crate::feed::Step;
use crate::informers::Form;
use jiff::{SignedDuration, Timestamp};
use kube_informer::informer::InformerStatus;
use kube_informer::reflector::Phase;
use kube_informer::{Notification, ObjectKey};
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::time::Duration;
use tokio::time::Instant;

/// The number of seconds over which changes a second are counted.
const WINDOW: usize = 10;
/// By how much clocks may differ.
const CLOCKS_DIFFER: SignedDuration = SignedDuration::from_mins(5);
/// The number of changed fields that the history keeps of one change.
const MOST_LINES: usize = 50;

/// All kinds.
pub(super) struct Model {
    pub(super) kinds: Vec<Kind>,
    pub(super) history: History,
}

/// A kind.
pub(super) struct Kind {
    pub(super) resource: Resource,
    objects: HashMap<ObjectKey, Object>,
    /// The JSON of all objects.
    pub(super) bytes: u64,
    /// The changes since the first list was complete.
    pub(super) changes: u64,
    managers: Counts,
    recent: Recent,
    /// When changes began to be counted.
    counted_from: Instant,
    pub(super) state: State,
    /// How long it has not been watched since changes are counted, and since when it is not.
    unwatched: Duration,
    unwatched_since: Option<Instant>,
    /// Whether all its objects have been known once.
    pub(super) listed: bool,
    /// When that was.
    listed_at: Timestamp,
}

/// Where a kind stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// Its objects are being listed.
    Listing,
    Watching,
    /// A request failed, and is repeated.
    Failing(String),
    /// It is not asked for again.
    Refused(String),
}

impl State {
    /// Why nothing is known of the kind just now.
    pub(super) fn problem(&self) -> Option<&str> {
        match self {
            Self::Failing(why) | Self::Refused(why) => Some(why),
            Self::Listing | Self::Watching => None,
        }
    }
}

/// What is known of an object beside its bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Object {
    size: u64,
    changes: u64,
}

/// The changes of the last seconds, and how old they were when they came.
#[derive(Default)]
struct Recent(VecDeque<Second>);

struct Second {
    at: Instant,
    changes: u64,
    /// The longest time from a write to its arrival, in whole seconds; the server notes no others.
    lag: Option<u64>,
}

/// An object, and a number by which it stands out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ranked {
    pub(super) key: ObjectKey,
    pub(super) bytes: u64,
    pub(super) changes: u64,
}

impl Model {
    pub(super) fn new(resources: impl Iterator<Item = Resource>, history_bytes: usize) -> Self {
        Self {
            kinds: resources.map(Kind::new).collect(),
            history: History::new(history_bytes),
        }
    }

    /// Counts changes from now on.
    pub(super) fn forget_changes(&mut self, now: Instant) {
        for kind in &mut self.kinds {
            kind.changes = 0;
            kind.managers = Counts::default();
            kind.recent = Recent::default();
            kind.count_from(now);
            kind.objects.values_mut().for_each(|object| object.changes = 0);
        }
    }

    /// Takes notice of failures and recoveries.
    pub(super) fn read_states(&mut self, statuses: impl Iterator<Item = InformerStatus>, now: Instant) {
        for (kind, status) in self.kinds.iter_mut().zip(statuses) {
            let reflector = status.reflector;
            kind.state = match reflector
                .last_error
                .filter(|_| reflector.phase != Phase::Watching)
            {
                Some(error) if !error.class.is_retryable() => State::Refused(error.message),
                Some(error) if reflector.failures > 0 => State::Failing(error.message),
                _ if status.synced => State::Watching,
                _ => State::Listing,
            };
            match (&kind.state, kind.unwatched_since) {
                (State::Watching, Some(since)) => {
                    kind.unwatched += now - since;
                    kind.unwatched_since = None;
                }
                (State::Watching, None) | (_, Some(_)) => {}
                (_, None) => kind.unwatched_since = Some(now),
            }
        }
    }

    /// Takes notice of what happened to a kind.
    pub(super) fn apply(&mut self, number: usize, step: &Step<Form>, now: Instant, time: Timestamp) {
        let kind = &mut self.kinds[number];
        let change = match step {
            Step::Synced => {
                kind.state = State::Watching;
                kind.listed = true;
                kind.listed_at = time;
                kind.count_from(now);
                return;
            }
            Step::Change(change) => change,
        };
        let key = change.key();
        match change {
            Notification::Add { object, initial } => {
                let body = object.body();
                kind.put(&key, body.len() as u64);
                if !initial {
                    kind.changed(&key, now, None);
                    self.history.push(number, &key, time, "add", vec![]);
                }
            }
            // One object in the place of another of the same name.
            Notification::Update { old, new } if old.uid() != new.uid() => {
                kind.changed(&key, now, None);
                kind.remove(&key);
                self.history.push(number, &key, time, "delete", vec![]);
                kind.put(&key, new.body().len() as u64);
                kind.changed(&key, now, None);
                self.history.push(number, &key, time, "add", vec![]);
            }
            Notification::Update { old, new } => {
                let (before, after) = (old.body(), new.body());
                kind.put(&key, after.len() as u64);
                let (Ok(before), Ok(after)) = (kind.resource.object(&before), kind.resource.object(&after))
                else {
                    return;
                };
                let mut changes = diff::changes(&before, &after, Diff::All);
                changes.retain(|change| !change.path.is_version());
                kind.changed(&key, now, lag(&before, &after, kind.listed_at, time));
                diff::managers(&changes)
                    .into_iter()
                    .for_each(|name| kind.managers.add(name));
                let told = changes.iter().take(MOST_LINES);
                let mut lines: Vec<_> = told
                    .map(|change| format!("{} {}: {}", change.sign(), change.path, change.values()))
                    .collect();
                if changes.len() > MOST_LINES {
                    lines.push(format!("and {} other fields", changes.len() - MOST_LINES));
                }
                self.history.push(number, &key, time, "update", lines);
            }
            Notification::Delete(_) => {
                kind.changed(&key, now, None);
                kind.remove(&key);
                self.history.push(number, &key, time, "delete", vec![]);
            }
        }
    }
}

/// The time from an update until now, in whole seconds, if the object's managers tell when it was made. An update that was made long
/// before the list was made by a clock that tells nothing.
fn lag(before: &Value, after: &Value, listed_at: Timestamp, now: Timestamp) -> Option<u64> {
    let last = |object: &Value| -> Option<Timestamp> {
        let entries = object["metadata"]["managedFields"].as_array()?;
        let times = entries.iter().filter_map(|entry| entry["time"].as_str());
        times.filter_map(|time| time.parse().ok()).max()
    };
    let written = last(after).filter(|time| last(before).is_none_or(|before| before < *time))?;
    if listed_at.duration_since(written) > CLOCKS_DIFFER {
        return None;
    }
    // The clocks may differ.
    Some(u64::try_from(now.duration_since(written).as_secs()).unwrap_or_default())
}

impl Kind {
    fn new(resource: Resource) -> Self {
        Self {
            resource,
            objects: HashMap::new(),
            bytes: 0,
            changes: 0,
            managers: Counts::default(),
            recent: Recent::default(),
            counted_from: Instant::now(),
            state: State::Listing,
            unwatched: Duration::ZERO,
            unwatched_since: None,
            listed: false,
            listed_at: Timestamp::UNIX_EPOCH,
        }
    }

    fn put(&mut self, key: &ObjectKey, size: u64) {
        let object = self.objects.entry(key.clone()).or_default();
        self.bytes = self.bytes - object.size + size;
        object.size = size;
    }

    fn remove(&mut self, key: &ObjectKey) {
        if let Some(object) = self.objects.remove(key) {
            self.bytes -= object.size;
        }
    }

    fn changed(&mut self, key: &ObjectKey, now: Instant, lag: Option<u64>) {
        self.changes += 1;
        if let Some(object) = self.objects.get_mut(key) {
            object.changes += 1;
        }
        self.recent.add(now, lag);
    }

    fn count_from(&mut self, now: Instant) {
        self.counted_from = now;
        self.unwatched = Duration::ZERO;
        self.unwatched_since = self.unwatched_since.map(|_| now);
    }

    pub(super) fn objects(&self) -> usize {
        self.objects.len()
    }

    /// How long it was watched since changes are counted.
    pub(super) fn watched(&self, now: Instant) -> Duration {
        let unwatched = self.unwatched_since.map_or(Duration::ZERO, |since| now - since);
        let counted = now.saturating_duration_since(self.counted_from);
        counted.saturating_sub(self.unwatched + unwatched)
    }

    /// The changes a second of the last ten seconds, or since changes are counted; at least of one second.
    pub(super) fn per_second(&self, now: Instant) -> f64 {
        let changes: u64 = self.recent.of_window(now).map(|second| second.changes).sum();
        let counted = now.saturating_duration_since(self.counted_from).as_secs_f64();
        changes as f64 / counted.clamp(1.0, WINDOW as f64)
    }

    /// The longest time from a write to its arrival in the last ten seconds, in whole seconds.
    pub(super) fn lag(&self, now: Instant) -> Option<u64> {
        self.recent.of_window(now).filter_map(|second| second.lag).max()
    }

    /// The field managers that changed objects most often.
    pub(super) fn managers(&self, number: usize) -> Vec<Count> {
        self.managers.most(number)
    }

    /// The largest objects.
    pub(super) fn largest(&self, number: usize) -> Vec<Ranked> {
        self.ranked(number, "", largest)
    }

    /// The objects whose keys contain this: the largest first, or those that changed most often, then the largest.
    pub(super) fn objects_with(&self, number: usize, text: &str, largest_first: bool) -> Vec<Ranked> {
        let rank = match largest_first {
            true => largest,
            false => busiest,
        };
        self.ranked(number, text, rank)
    }

    /// The largest object.
    pub(super) fn largest_one(&self) -> Option<Ranked> {
        first(self.objects.iter(), largest)
    }

    /// The object that changed most often.
    pub(super) fn busiest_one(&self) -> Option<Ranked> {
        first(
            self.objects.iter().filter(|(_, object)| object.changes > 0),
            busiest,
        )
    }

    /// The objects that changed most often.
    pub(super) fn busiest(&self, number: usize) -> Vec<Ranked> {
        let mut busiest = self.ranked(number, "", busiest);
        busiest.retain(|object| object.changes > 0);
        busiest
    }

    fn ranked(&self, number: usize, text: &str, rank: fn(&Object) -> (u64, u64)) -> Vec<Ranked> {
        type Found<'k> = (&'k ObjectKey, &'k Object);
        let order = |one: &Found<'_>, other: &Found<'_>| (rank(other.1), one.0).cmp(&(rank(one.1), other.0));
        let found = self.objects.iter().filter(|(key, _)| key.as_str().contains(text));
        let mut objects: Vec<Found<'_>> = found.collect();
        if number < objects.len() && number > 0 {
            objects.select_nth_unstable_by(number - 1, order);
        }
        objects.truncate(number);
        objects.sort_by(order);
        let ranked = objects.into_iter().map(|(key, object)| Ranked {
            key: key.clone(),
            bytes: object.size,
            changes: object.changes,
        });
        ranked.collect()
    }
}

/// The object with the highest rank; of several the one whose key is first.
fn first<'o>(
    objects: impl Iterator<Item = (&'o ObjectKey, &'o Object)>,
    rank: fn(&Object) -> (u64, u64),
) -> Option<Ranked> {
    let first =
        objects.max_by(|(one, first), (other, second)| (rank(first), other).cmp(&(rank(second), one)));
    first.map(|(key, object)| Ranked {
        key: key.clone(),
        bytes: object.size,
        changes: object.changes,
    })
}

fn largest(object: &Object) -> (u64, u64) {
    (object.size, object.changes)
}

fn busiest(object: &Object) -> (u64, u64) {
    (object.changes, object.size)
}

impl Recent {
    fn add(&mut self, now: Instant, lag: Option<u64>) {
        while self.0.front().is_some_and(|second| !is_recent(second, now)) {
            self.0.pop_front();
        }
        match self.0.back_mut() {
            Some(second) if now - second.at < Duration::from_secs(1) => {
                second.changes += 1;
                second.lag = second.lag.max(lag);
            }
            _ => self.0.push_back(Second {
                at: now,
                changes: 1,
                lag,
            }),
        }
    }

    fn of_window(&self, now: Instant) -> impl Iterator<Item = &Second> {
        self.0.iter().filter(move |second| is_recent(second, now))
    }
}

fn is_recent(second: &Second, now: Instant) -> bool {
    now.saturating_duration_since(second.at) < Duration::from_secs(WINDOW as u64)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use kube::core::DynamicObject;
    use kube_informer::form::{Decode as _, DecoderConfig, Packer};
    use kube_informer::low_level::wire::{Encoding, RawObject};
    use kube_informer::{DeleteCause, Deleted};
    use serde_json::json;

    /// Makes steps of config maps.
    pub(crate) struct Steps(Packer<DynamicObject>);

    impl Steps {
        pub(crate) fn new() -> Self {
            Self(Form::decoder(DecoderConfig::default()))
        }

        /// A value is also the second at which it was written.
        fn object(&self, name: &str, value: &str) -> Form {
            self.object_of(name, value, name)
        }

        fn object_of(&self, name: &str, value: &str, uid: &str) -> Form {
            let time = format!("2026-01-01T00:00:{:0>2}Z", &value[..1]);
            let object = json!({
                "apiVersion": "v1", "kind": "ConfigMap", "data": {"k": value},
                "metadata": {"namespace": "ns", "name": name, "uid": uid, "managedFields": [
                    {"manager": "kubectl", "time": time, "fieldsV1": {"f:data": {"f:k": {}}}},
                ]},
            });
            let raw = RawObject::scan(Encoding::Json, object.to_string().into()).unwrap();
            Form::decode_raw(&self.0, &raw.key(), &raw).unwrap()
        }

        pub(crate) fn add(&self, name: &str, value: &str, initial: bool) -> Step<Form> {
            self.add_of(name, value, name, initial)
        }

        fn add_of(&self, name: &str, value: &str, uid: &str, initial: bool) -> Step<Form> {
            Step::Change(Notification::Add {
                object: self.object_of(name, value, uid),
                initial,
            })
        }

        pub(crate) fn update(&self, name: &str, from: &str, to: &str) -> Step<Form> {
            Step::Change(Notification::Update {
                old: self.object(name, from),
                new: self.object(name, to),
            })
        }

        pub(crate) fn delete(&self, name: &str, value: &str) -> Step<Form> {
            Step::Change(Notification::Delete(Deleted {
                key: ObjectKey::new(Some("ns"), name),
                last_known: Some(self.object(name, value)),
                cause: DeleteCause::Missed,
            }))
        }
    }

    /// A model of config maps.
    pub(crate) fn model() -> Model {
        let resource = crate::discovery::tests::resource("", "v1", "ConfigMap", "configmaps", "cm");
        Model::new([resource].into_iter(), 1 << 20)
    }

    pub(crate) fn now() -> Timestamp {
        "2026-01-01T00:00:03Z".parse().unwrap()
    }

    #[test]
    fn changes_are_counted_by_kind_and_manager() {
        let mut model = model();
        let steps = Steps::new();
        let start = Instant::now();
        for step in [
            steps.add("a", "1", true),
            steps.add("b", "12345", true),
            Step::Synced,
            steps.update("a", "1", "22"),
            steps.update("a", "22", "20"),
            steps.add("c", "1", false),
            steps.delete("c", "1"),
        ] {
            model.apply(0, &step, start, now());
        }
        let kind = &model.kinds[0];
        assert_eq!(
            (kind.objects(), kind.changes, &kind.state),
            (2, 4, &State::Watching)
        );
        // At first of a second, then of as many as there were, at most ten.
        for (seconds, expected) in [(0, 4.0), (1, 4.0), (4, 1.0), (8, 0.5)] {
            assert_eq!(kind.per_second(start + Duration::from_secs(seconds)), expected);
        }
        assert_eq!(kind.lag(start), Some(1));
        assert_eq!(kind.per_second(start + Duration::from_secs(10)), 0.0);
        assert_eq!(
            kind.managers(5),
            [Count {
                name: "kubectl".into(),
                changes: 2
            }]
        );
        let names = |objects: Vec<Ranked>| -> Vec<String> {
            objects.iter().map(|object| object.key.to_string()).collect()
        };
        assert_eq!(names(kind.largest(1)), ["ns/b"]);
        assert_eq!(names(kind.busiest(5)), ["ns/a"]);
        assert_eq!(kind.busiest_one().as_ref(), kind.busiest(1).first());
        let sizes = kind.largest(5).iter().map(|object| object.bytes).sum::<u64>();
        assert_eq!(kind.bytes, sizes);
    }

    #[test]
    fn a_clock_that_is_far_behind_is_no_lag() {
        let mut model = model();
        let steps = Steps::new();
        let days_later = now() + SignedDuration::from_hours(48);
        for step in [
            steps.add("a", "1", true),
            Step::Synced,
            steps.update("a", "1", "2"),
        ] {
            model.apply(0, &step, Instant::now(), days_later);
        }
        assert_eq!(
            (model.kinds[0].changes, model.kinds[0].lag(Instant::now())),
            (1, None)
        );
    }

    #[test]
    fn another_object_of_the_same_name_is_no_update() {
        let mut model = model();
        let steps = Steps::new();
        model.apply(0, &steps.add("a", "1", true), Instant::now(), now());
        let Step::Change(Notification::Update { old, .. }) = steps.update("a", "1", "2") else {
            panic!("an update");
        };
        let Step::Change(Notification::Add { object: new, .. }) = steps.add_of("a", "22", "other", false)
        else {
            panic!("an add");
        };
        let replaced = Step::Change(Notification::Update { old, new });
        model.apply(0, &replaced, Instant::now(), now());
        let kind = &model.kinds[0];
        assert_eq!((kind.objects(), kind.changes), (1, 2));
        assert_eq!(kind.managers(1), []);
        let events: Vec<_> = model
            .history
            .of(0, &ObjectKey::from("ns/a"))
            .map(|entry| entry.event)
            .collect();
        assert_eq!(events, ["add", "delete"]);
    }

    #[test]
    fn the_history_has_diffs() {
        let mut model = model();
        let steps = Steps::new();
        model.apply(0, &steps.update("a", "1", "2"), Instant::now(), now());
        let key = ObjectKey::from("ns/a");
        let entries: Vec<_> = model.history.of(0, &key).collect();
        assert_eq!(entries[0].lines, [r#"~ data.k: "1" -> "2"   by kubectl"#]);
    }
}
