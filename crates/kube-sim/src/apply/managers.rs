//! `metadata.managedFields`: who owns which fields, and since when.

use std::collections::HashMap;
use std::collections::hash_map::Entry::{Occupied, Vacant};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::fields::FieldSet;
use crate::meta::rfc3339;
use crate::nesting;
use crate::status::quoted;

/// How many entries of updates an object has at most, as in a real server.
const MAX_UPDATERS: usize = 10;

/// The manager of the fields of the updates that are the oldest where there are too many.
const OLD_UPDATES: &str = "ancient-changes";

/// The levels of an object around the fields of an entry.
const LEVELS_ABOVE: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Operation {
    Apply,
    Update,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

/// What a manager owns by one operation on one subresource; of updates also by version.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) manager: String,
    pub(super) operation: Operation,
    pub(super) api_version: String,
    pub(super) time: Option<Timestamp>,
    pub(super) subresource: String,
    pub(super) fields: FieldSet,
}

/// What tells the entries of an object apart: of updates, the version does too.
type Identity = (Operation, String, String, String);

impl Entry {
    /// Reads the entry at a place of the list.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in a real server's words, which also show fields that cannot be read.
    fn read(at: usize, value: &Value) -> Result<Self, String> {
        let text = |name: &str| value[name].as_str().unwrap_or("").to_owned();
        let operation = match value["operation"].as_str() {
            Some("Apply") => Operation::Apply,
            Some("Update") => Operation::Update,
            _ => return Err("operation must be `Apply` or `Update`".into()),
        };
        if text("apiVersion").is_empty() {
            return Err("apiVersion must not be empty".into());
        }
        match text("fieldsType").as_str() {
            "FieldsV1" => {}
            "" => return Err(format!("missing fieldsType in managed fields entry {at}")),
            other => {
                let other = quoted(other);
                return Err(format!("invalid fieldsType {other} in managed fields entry {at}"));
            }
        }
        let fields = match &value["fieldsV1"] {
            Value::Null => Ok(FieldSet::default()),
            fields => FieldSet::from_json(fields),
        };
        let fields = fields.map_err(|_| "error decoding versioned set: error decoding set")?;
        Ok(Self {
            manager: text("manager"),
            operation,
            api_version: text("apiVersion"),
            time: text("time").parse().ok(),
            subresource: text("subresource"),
            fields,
        })
    }

    fn identity(&self) -> Identity {
        let version = match self.operation {
            Operation::Apply => String::new(),
            Operation::Update => self.api_version.clone(),
        };
        (
            self.operation,
            self.manager.clone(),
            self.subresource.clone(),
            version,
        )
    }

    /// Whether the other entry is of the same manager, and takes this one's place.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let version = self.operation == Operation::Apply || self.api_version == other.api_version;
        version
            && self.operation == other.operation
            && self.manager == other.manager
            && self.subresource == other.subresource
    }

    fn seconds(&self) -> i64 {
        self.time.map_or(0, Timestamp::as_second)
    }

    fn to_json(&self) -> Value {
        let mut entry = json!({
            "operation": self.operation.name(), "apiVersion": self.api_version, "fieldsType": "FieldsV1",
        });
        for (name, text) in [("manager", &self.manager), ("subresource", &self.subresource)] {
            if !text.is_empty() {
                entry[name] = text.as_str().into();
            }
        }
        if let Some(time) = self.time {
            entry["time"] = rfc3339(time).into();
        }
        entry["fieldsV1"] = self.fields.to_json();
        entry
    }

    /// How a conflict names the manager.
    pub(super) fn shown(&self) -> String {
        let mut shown = format!("{:?}", self.manager);
        if !self.subresource.is_empty() {
            shown += &format!(" with subresource {:?}", self.subresource);
        }
        if self.operation == Operation::Update {
            shown += &format!(" using {}", self.api_version);
        }
        shown
    }
}

/// The managers of an object.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Managers(pub(super) Vec<Entry>);

impl Managers {
    /// Reads `managedFields`; there are no managers where there is nothing.
    ///
    /// # Errors
    ///
    /// What is wrong with the first entry that cannot be read.
    pub(super) fn read(value: Option<&Value>) -> Result<Self, String> {
        let mut managers = Self::default();
        // A client may send thousands of them.
        let mut places: HashMap<Identity, usize> = HashMap::new();
        match value {
            None | Some(Value::Null) => {}
            Some(Value::Array(entries)) => {
                for (at, entry) in entries.iter().enumerate() {
                    let entry = Entry::read(at, entry)?;
                    match places.entry(entry.identity()) {
                        Occupied(place) => managers.0[*place.get()] = entry,
                        Vacant(place) => {
                            place.insert(managers.0.len());
                            managers.0.push(entry);
                        }
                    }
                }
            }
            Some(_) => return Err("they are no list".into()),
        }
        Ok(managers)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn find(&mut self, entry: &Entry) -> Option<&mut Entry> {
        self.0.iter_mut().find(|other| other.is_same(entry))
    }

    /// Puts the entry in the place of the one of the same manager.
    pub(super) fn put(&mut self, entry: Entry) {
        match self.find(&entry) {
            Some(before) => *before = entry,
            None => self.0.push(entry),
        }
    }

    /// Leaves out those who own nothing.
    pub(super) fn drop_empty(&mut self) {
        self.0.retain(|entry| !entry.fields.is_empty());
    }

    /// Merges the oldest updates while there are too many, those of a version with each other.
    pub(super) fn cap(&mut self) {
        let is_update = |entry: &Entry| entry.operation == Operation::Update;
        let mut count = self.0.iter().filter(|entry| is_update(entry)).count();
        if count <= MAX_UPDATERS {
            return;
        }
        self.sort();
        let (updates, mut others): (Vec<_>, Vec<_>) = self.0.drain(..).partition(is_update);
        let mut merged: Vec<Entry> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for entry in updates {
            let same = places
                .get(&entry.api_version)
                .and_then(|place| merged.get_mut(*place));
            match same {
                _ if count <= MAX_UPDATERS => others.push(entry),
                None => {
                    places.insert(entry.api_version.clone(), merged.len());
                    merged.push(entry);
                }
                Some(bucket) => {
                    bucket.manager = OLD_UPDATES.to_owned();
                    bucket.subresource = String::new();
                    bucket.time = entry.time;
                    bucket.fields = std::mem::take(&mut bucket.fields).union(entry.fields);
                    count -= 1;
                }
            }
        }
        others.extend(merged);
        self.0 = others;
    }

    fn sort(&mut self) {
        self.0.sort_by(|one, other| {
            let by_kind = one.operation.cmp(&other.operation);
            let by_time = by_kind.then_with(|| one.seconds().cmp(&other.seconds()));
            let by_name = by_time.then_with(|| one.manager.cmp(&other.manager));
            let by_version = by_name.then_with(|| one.api_version.cmp(&other.api_version));
            by_version.then_with(|| one.subresource.cmp(&other.subresource))
        });
    }

    /// `managedFields`; none if there are no managers, or if an object with it were nested too deeply.
    pub(super) fn write(mut self) -> Option<Value> {
        let levels = self.0.iter().map(|entry| entry.fields.levels()).max()?;
        if levels + LEVELS_ABOVE > nesting::MAX {
            return None;
        }
        self.sort();
        Some(self.0.iter().map(Entry::to_json).collect())
    }
}

/// Whether `managedFields` are sent to be forgotten: an empty list, or one empty entry.
pub(super) fn is_reset(value: &Value) -> bool {
    match value.as_array().map(Vec::as_slice) {
        Some([]) => true,
        Some([Value::Object(entry)]) => entry.is_empty(),
        _ => false,
    }
}

/// What is wrong with the first entry of `managedFields` that cannot be read.
pub(crate) fn fault(managed: Option<&Value>) -> Option<String> {
    Managers::read(managed).err()
}

/// Whether two `managedFields` are the same but for their times.
pub(crate) fn differ_only_in_time(one: Option<&Value>, other: Option<&Value>) -> bool {
    let (Some(Value::Array(one)), Some(Value::Array(other))) = (one, other) else {
        return one == other;
    };
    fn timeless(entry: &Value) -> impl Iterator<Item = (&String, &Value)> {
        let members = entry.as_object().into_iter().flat_map(Map::iter);
        members.filter(|(name, _)| *name != "time")
    }
    one.len() == other.len()
        && one
            .iter()
            .zip(other)
            .all(|(one, other)| timeless(one).eq(timeless(other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(manager: &str, operation: &str, version: &str, time: &str) -> Value {
        json!({
            "manager": manager, "operation": operation, "apiVersion": version, "time": time, "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {format!("f:{manager}"): {}}},
        })
    }

    fn time(second: usize) -> String {
        format!("2026-01-01T00:00:{second:02}Z")
    }

    #[test]
    fn entries_are_sorted_by_operation_time_and_name() {
        let sorted = json!([
            entry("z", "Apply", "v1", &time(9)),
            entry("b", "Update", "v1", &time(1)),
            entry("a", "Update", "v1", &time(2)),
            entry("a", "Update", "v2", &time(2)),
        ]);
        let mut entries = sorted.as_array().unwrap().clone();
        entries.reverse();
        let managers = Managers::read(Some(&entries.into())).unwrap();
        assert_eq!(managers.write(), Some(sorted));
    }

    #[test]
    fn the_oldest_updates_of_a_version_are_merged() {
        let mut entries: Vec<_> = (0..13)
            .map(|n| {
                entry(
                    &format!("m{n:02}"),
                    "Update",
                    if n == 1 { "v2" } else { "v1" },
                    &time(n),
                )
            })
            .collect();
        entries.push(entry("applier", "Apply", "v1", &time(0)));
        let mut managers = Managers::read(Some(&entries.into())).unwrap();
        managers.cap();
        let written = managers.write().unwrap();
        let names: Vec<_> = written
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["manager"].as_str())
            .collect();
        let expected = [
            "applier",
            "m01",
            "ancient-changes",
            "m05",
            "m06",
            "m07",
            "m08",
            "m09",
            "m10",
            "m11",
            "m12",
        ];
        assert_eq!(names, expected.map(Some));
        let old = json!({"f:data": {"f:m00": {}, "f:m02": {}, "f:m03": {}, "f:m04": {}}});
        assert_eq!(
            (&written[2]["fieldsV1"], &written[2]["time"]),
            (&old, &json!(time(4)))
        );
    }

    #[test]
    fn what_is_no_entry_is_not_read() {
        let good = entry("a", "Update", "v1", &time(1));
        for (name, value, why) in [
            (
                "operation",
                json!("Bogus"),
                "operation must be `Apply` or `Update`",
            ),
            ("apiVersion", json!(""), "apiVersion must not be empty"),
            (
                "fieldsType",
                json!(""),
                "missing fieldsType in managed fields entry 1",
            ),
            (
                "fieldsType",
                json!("x"),
                "invalid fieldsType \"x\" in managed fields entry 1",
            ),
            (
                "fieldsV1",
                json!([]),
                "error decoding versioned set: error decoding set",
            ),
        ] {
            let mut bad = good.clone();
            bad[name] = value;
            assert_eq!(fault(Some(&json!([good, bad]))).as_deref(), Some(why), "{name}");
        }
        assert!(
            is_reset(&json!([]))
                && is_reset(&json!([{}]))
                && !is_reset(&json!(null))
                && !is_reset(&json!([good]))
        );
    }
}
