//! The conditions of a status.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

/// Adds a condition, or replaces the one of its type. Returns whether anything has changed.
///
/// `last_transition_time` is when the condition got its status: if there is a condition of this type with the
/// same status, its time is kept. So pass the current time, and `patch_status` writes only if something else
/// has changed.
///
/// ```
/// use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
/// use k8s_openapi::jiff::Timestamp;
/// use kube_controller::controllerutil::set_condition;
///
/// let ready = |status: &str, reason: &str| Condition {
///     type_: "Ready".into(),
///     status: status.into(),
///     reason: reason.into(),
///     message: String::new(),
///     observed_generation: Some(1), // metadata.generation of the object that was reconciled
///     last_transition_time: Time(Timestamp::now()),
/// };
/// let mut conditions = Vec::new(); // those that the status has
/// assert!(set_condition(&mut conditions, ready("False", "Starting")));
/// assert!(!set_condition(&mut conditions, ready("False", "Starting")));
/// assert!(set_condition(&mut conditions, ready("True", "Available")));
/// assert_eq!(conditions.len(), 1);
/// ```
pub fn set_condition(conditions: &mut Vec<Condition>, mut condition: Condition) -> bool {
    let known = conditions.iter_mut().find(|known| known.type_ == condition.type_);
    let Some(known) = known else {
        conditions.push(condition);
        return true;
    };
    if known.status == condition.status {
        condition.last_transition_time = known.last_transition_time.clone();
    }
    let changed = *known != condition;
    *known = condition;
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use k8s_openapi::jiff::Timestamp;

    fn condition(type_: &str, status: &str, reason: &str, second: i64) -> Condition {
        Condition {
            type_: type_.into(),
            status: status.into(),
            reason: reason.into(),
            message: String::new(),
            observed_generation: None,
            last_transition_time: Time(Timestamp::from_second(second).unwrap()),
        }
    }

    #[test]
    fn a_condition_keeps_its_time_until_its_status_changes() {
        let mut conditions = vec![condition("Synced", "True", "Written", 1)];
        for (status, reason, second, expected_second, changed) in [
            ("False", "Starting", 10, 10, true),
            ("False", "Starting", 20, 10, false),
            ("False", "Waiting", 30, 10, true),
            ("True", "Available", 40, 40, true),
        ] {
            let set = set_condition(&mut conditions, condition("Ready", status, reason, second));
            assert_eq!(set, changed, "{second}");
            let expected = condition("Ready", status, reason, expected_second);
            assert_eq!(conditions[1], expected, "{second}");
        }
        assert_eq!(conditions.len(), 2);
        assert_eq!(conditions[0], condition("Synced", "True", "Written", 1));
    }
}
