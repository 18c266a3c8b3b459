//! What a Lease says of the election.
//!
//! It is read and written as JSON, not as a struct: fields that this crate does not know are kept, and a value that is no
//! number or no time does no harm.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};
use std::time::Duration;

/// How far a renewal may be ahead of the time of day.
const STANDSTILL: SignedDuration = SignedDuration::from_mins(1);

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
        let before = self.0.get("renewTime").and_then(Value::as_str);
        let renewed = micro_time(renewed_at(before.and_then(|before| before.parse().ok()), now));
        self.0.insert("renewTime".into(), renewed);
        self.0.insert("holderIdentity".into(), holder.into());
        self.0.insert("leaseDurationSeconds".into(), seconds.into());
    }
}

/// What a renewal after the one of `before` shows as its time.
///
/// Others notice a renewal by its bytes, and may have missed some renewals before it. So if the time of day stands still or goes back a little,
/// each renewal shows a later time than the one before. If it goes back by more, it shows that time, which nobody has seen lately.
fn renewed_at(before: Option<Timestamp>, now: Timestamp) -> Timestamp {
    let next = before.and_then(|before| before.checked_add(SignedDuration::from_micros(1)).ok());
    let is_due = |next: &Timestamp| {
        // Only microseconds are shown.
        next.as_microsecond() > now.as_microsecond() && next.duration_since(now) <= STANDSTILL
    };
    next.filter(is_due).unwrap_or(now)
}

/// As the API wants it: RFC 3339 with microseconds.
fn micro_time(time: Timestamp) -> Value {
    time.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeSet;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + seconds).unwrap()
    }

    /// The times of renewals at these seconds, by nanosecond clocks.
    fn renewals(seconds: impl IntoIterator<Item = i64>) -> Vec<Value> {
        let mut record = Record::first("a", 15, at(0));
        let times = seconds.into_iter().map(|seconds| {
            let now = at(seconds) + SignedDuration::from_nanos(500);
            record = std::mem::take(&mut record).held_by("a", 15, now);
            record.0["renewTime"].clone()
        });
        times.collect()
    }

    fn differ(times: &[Value]) -> bool {
        let texts: BTreeSet<_> = times.iter().map(Value::as_str).collect();
        texts.len() == times.len()
    }

    // A server without coordinated election drops these, so that only the record itself shows it.
    #[test]
    fn fields_that_are_not_known_are_kept() {
        let mut lease = json!({"spec": {"strategy": "Future"}});
        let record = Record::of(&lease).held_by("a", 15, at(0)).released(at(1));
        record.write(&mut lease);
        assert_eq!(lease["spec"]["strategy"], "Future");
    }

    // An observer may miss any of them.
    #[test]
    fn renewals_differ_while_the_time_of_day_stands_still() {
        let times = renewals(std::iter::repeat_n(0, 100));
        assert!(differ(&times), "{times:?}");
    }

    #[test]
    fn renewals_differ_when_the_time_of_day_goes_back() {
        for back in [2, 3600] {
            let times = renewals([0, 2, 4, 6, 6 - back, 8 - back, 10 - back]);
            assert!(differ(&times), "{times:?}");
        }
    }

    #[test]
    fn a_renewal_shows_the_time_of_day_again_when_it_goes_on() {
        let times = renewals([0, 0, 0, 1, 3600, 1]);
        let shown = ["22:13:21.000000Z", "23:13:20.000000Z", "22:13:21.000000Z"];
        for (time, shown) in std::iter::zip(&times[3..], shown) {
            assert!(time.as_str().unwrap().ends_with(shown), "{times:?}");
        }
    }
}
