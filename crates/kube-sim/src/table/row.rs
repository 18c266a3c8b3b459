//! One row of a table: an object, and the time to which ages refer.

use serde_json::{Map, Value};

pub(super) type Object = Map<String, Value>;

/// An object that is shown, with short ways to what it has.
pub(super) struct Row<'a> {
    pub(super) object: &'a Object,
    pub(super) now: jiff::Timestamp,
}

impl<'a> Row<'a> {
    /// What is at a path of names, such as `/spec/replicas`.
    pub(super) fn get(&self, pointer: &str) -> Option<&'a Value> {
        let mut parts = pointer.split('/').skip(1);
        let first = self.object.get(parts.next()?)?;
        parts
            .try_fold(first, |value, part| value.get(part))
            .filter(|value| !value.is_null())
    }

    /// A string; empty if there is none.
    pub(super) fn text(&self, pointer: &str) -> &'a str {
        self.get(pointer).and_then(Value::as_str).unwrap_or("")
    }

    /// A number; 0 if there is none.
    pub(super) fn number(&self, pointer: &str) -> i64 {
        self.get(pointer).and_then(Value::as_i64).unwrap_or(0)
    }

    /// A boolean, or what stands for it if there is none.
    pub(super) fn flag(&self, pointer: &str, default: bool) -> bool {
        self.get(pointer).and_then(Value::as_bool).unwrap_or(default)
    }

    /// The items of a list.
    pub(super) fn list(&self, pointer: &str) -> &'a [Value] {
        self.get(pointer)
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    /// The number of members of a map or items of a list.
    pub(super) fn length(&self, pointer: &str) -> usize {
        match self.get(pointer) {
            Some(Value::Object(members)) => members.len(),
            Some(Value::Array(items)) => items.len(),
            _ => 0,
        }
    }

    /// A field of each item of a list, joined by commas.
    pub(super) fn each(&self, pointer: &str, field: &str) -> String {
        let items = self.list(pointer).iter();
        let fields: Vec<_> = items.map(|item| item[field].as_str().unwrap_or("")).collect();
        fields.join(",")
    }

    pub(super) fn annotation(&self, name: &str) -> Option<&'a str> {
        self.get("/metadata/annotations")?.get(name)?.as_str()
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.get("/metadata/deletionTimestamp").is_some()
    }

    /// The time that has passed since the one at a path.
    pub(super) fn since(&self, pointer: &str) -> String {
        self.age(self.text(pointer))
    }

    /// The time that has passed since another.
    pub(super) fn age(&self, timestamp: &str) -> String {
        match timestamp.parse::<jiff::Timestamp>() {
            Ok(then) => human_duration(self.now.as_second() - then.as_second()),
            Err(_) => "<unknown>".into(),
        }
    }
}

/// The text, or what stands for an empty one.
pub(super) fn or<'a>(text: &'a str, default: &'a str) -> &'a str {
    if text.is_empty() { default } else { text }
}

/// What a quantity or a number-or-string says; `default` if it is not there.
pub(super) fn shown(value: Option<&Value>, default: &str) -> String {
    match value {
        None | Some(Value::Null) => default.to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// A duration as kubectl and the server's tables write it: at most two units, and one if it is long.
///
/// `kubectl-informer` has the same rule for its own table: an age printer is not what a simulator is for, so it is not
/// public.
pub(super) fn human_duration(seconds: i64) -> String {
    let two = |high: i64, unit: &str, low: i64, below: &str| match low {
        0 => format!("{high}{unit}"),
        low => format!("{high}{unit}{low}{below}"),
    };
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400);
    match seconds {
        ..-1 => "<invalid>".into(),
        -1 => "0s".into(),
        0..120 => format!("{seconds}s"),
        120..600 => two(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(days, "d", hours % 24, "h"),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => two(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_kubectls() {
        for (seconds, text) in [
            (-5, "<invalid>"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (156, "2m36s"),
            (601, "10m"),
            (7200, "120m"),
            (10_800, "3h"),
            (11_000, "3h3m"),
            (90_000, "25h"),
            (180_000, "2d2h"),
            (864_000, "10d"),
        ] {
            assert_eq!(human_duration(seconds), text, "{seconds}");
        }
    }
}
