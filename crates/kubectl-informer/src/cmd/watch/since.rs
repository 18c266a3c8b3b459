//! Which of the objects that exist at the start are new enough to be printed.

use jiff::{SignedDuration, Timestamp};
use kube::core::DynamicObject;
use kube_informer::Notification;
use serde_json::Value;
use std::time::Duration;

/// A time before which objects are old.
pub(super) struct Since(Timestamp);

impl Since {
    /// This long ago.
    pub(super) fn new(ago: Duration) -> Self {
        Self::before(Timestamp::now(), ago)
    }

    fn before(now: Timestamp, ago: Duration) -> Self {
        let ago = SignedDuration::try_from(ago).unwrap_or(SignedDuration::MAX);
        Self(now.checked_sub(ago).unwrap_or(Timestamp::MIN))
    }

    /// Whether it tells of an object that existed at the start and was written last before that time. One that does not
    /// tell when it was written is not old.
    pub(super) fn is_old(&self, change: &Notification<DynamicObject>) -> bool {
        match change {
            Notification::Add {
                object,
                initial: true,
            } => written(object).is_some_and(|time| time < self.0),
            _ => false,
        }
    }
}

/// When an object was written last, as far as it tells.
fn written(object: &DynamicObject) -> Option<Timestamp> {
    let metadata = &object.metadata;
    let managers = metadata
        .managed_fields
        .iter()
        .flatten()
        .filter_map(|entry| entry.time.as_ref());
    let metadata_times = managers.chain(&metadata.creation_timestamp).map(|time| time.0);
    let text = |value: &Value| value.as_str()?.parse().ok();
    let data = &object.data;
    let event_times = [
        &data["lastTimestamp"],
        &data["eventTime"],
        &data["series"]["lastObservedTime"],
    ];
    metadata_times
        .chain(event_times.into_iter().filter_map(text))
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::Arc;

    fn initial(object: Value) -> Notification<DynamicObject> {
        Notification::Add {
            object: Arc::new(serde_json::from_value(object).unwrap()),
            initial: true,
        }
    }

    #[test]
    fn what_was_written_last_counts() {
        let since = Since::before("2026-01-01T01:00:00Z".parse().unwrap(), Duration::from_secs(600));
        let created = "2026-01-01T00:00:00Z";
        for (object, expected) in [
            (
                json!({"metadata": {"name": "a", "creationTimestamp": created}}),
                true,
            ),
            (
                json!({"metadata": {"name": "a", "creationTimestamp": created, "managedFields": [
                    {"manager": "m", "time": "2026-01-01T00:55:00Z"},
                ]}}),
                false,
            ),
            (
                json!({"metadata": {"name": "a", "creationTimestamp": created}, "lastTimestamp": "2026-01-01T00:59:00Z"}),
                false,
            ),
            (
                json!({"metadata": {"name": "a", "creationTimestamp": created}, "lastTimestamp": null}),
                true,
            ),
            (json!({"metadata": {"name": "a"}}), false),
        ] {
            assert_eq!(since.is_old(&initial(object.clone())), expected, "{object}");
        }
    }

    #[test]
    fn any_duration_will_do() {
        let now = Timestamp::now();
        assert_eq!(Since::before(now, Duration::MAX).0, Timestamp::MIN);
        assert_eq!(Since::before(now, Duration::ZERO).0, now);
    }

    #[test]
    fn changes_are_never_old() {
        let since = Since::new(Duration::ZERO);
        let object = json!({"metadata": {"name": "a", "creationTimestamp": "2026-01-01T00:00:00Z"}});
        let Notification::Add { object, .. } = initial(object) else {
            panic!("an add")
        };
        assert!(!since.is_old(&Notification::Add {
            object,
            initial: false
        }));
    }
}
