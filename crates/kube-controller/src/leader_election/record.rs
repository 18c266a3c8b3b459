//! What a Lease says of the election.
//!
//! It is read and written as JSON, not as a struct: fields that this crate does not know are kept, and a value that is no
//! number or no time does no harm.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};
use std::time::Duration;

/// The `spec` of a Lease. Two are equal if nothing of the election has changed between them.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Record(Map<String, Value>);

impl Record {
    /// Reads the `spec` of an object; without one, nobody holds the Lease.
    pub(crate) fn of(data: &Value) -> Self {
        Self(
            data.get("spec")
                .and_then(Value::as_object)
                .cloned()
                .unwrap_or_default(),
        )
    }

    /// Puts this into an object, in place of its `spec`.
    pub(crate) fn write(self, data: &mut Value) {
        match data {
            Value::Object(fields) => _ = fields.insert("spec".into(), self.0.into()),
            data => *data = serde_json::json!({ "spec": self.0 }),
        }
    }

    /// Who holds the Lease, if somebody does.
    pub(crate) fn holder(&self) -> Option<&str> {
        let holder = self.0.get("holderIdentity").and_then(Value::as_str);
        holder.filter(|holder| !holder.is_empty())
    }

    /// For how long the Lease is held after a renewal, if it says so with a positive number.
    pub(crate) fn duration(&self) -> Option<Duration> {
        let seconds = self.0.get("leaseDurationSeconds").and_then(Value::as_u64);
        seconds.filter(|&seconds| seconds > 0).map(Duration::from_secs)
    }

    fn transitions(&self) -> i32 {
        let transitions = self.0.get("leaseTransitions").and_then(Value::as_i64);
        let transitions = transitions.unwrap_or(0).clamp(0, i32::MAX.into());
        i32::try_from(transitions).unwrap_or(i32::MAX)
    }

    /// The first record of a Lease.
    pub(crate) fn first(identity: &str, seconds: i32, now: Timestamp) -> Self {
        let mut record = Self::default();
        record.set(identity, seconds, now);
        record.0.insert("acquireTime".into(), micro_time(now));
        record.0.insert("leaseTransitions".into(), 0.into());
        record
    }

    /// This record, held by `identity` from now on: renewed if it was before, else taken over.
    pub(crate) fn held_by(mut self, identity: &str, seconds: i32, now: Timestamp) -> Self {
        if self.holder() != Some(identity) {
            let transitions = self.transitions().saturating_add(1);
            self.0.insert("leaseTransitions".into(), transitions.into());
            self.0.insert("acquireTime".into(), micro_time(now));
        }
        self.set(identity, seconds, now);
        self
    }

    /// This record, held by nobody.
    pub(crate) fn released(mut self, now: Timestamp) -> Self {
        self.set("", 1, now);
        self.0.insert("acquireTime".into(), micro_time(now));
        self
    }

    fn set(&mut self, holder: &str, seconds: i32, now: Timestamp) {
        let before = self.0.get("renewTime");
        let mut renewed = micro_time(now);
        if before == Some(&renewed) {
            // Others notice a renewal by its bytes, even if the time of day stands still.
            let later = now.checked_add(SignedDuration::from_micros(1));
            renewed = micro_time(later.unwrap_or(Timestamp::UNIX_EPOCH));
        }
        self.0.insert("renewTime".into(), renewed);
        self.0.insert("holderIdentity".into(), holder.into());
        self.0.insert("leaseDurationSeconds".into(), seconds.into());
    }
}

/// As the API wants it: RFC 3339 with microseconds.
fn micro_time(time: Timestamp) -> Value {
    time.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string().into()
}
