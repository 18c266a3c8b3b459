//! The last changes of all objects, in a ring of bounded bytes.

use jiff::Timestamp;
use kube_informer::ObjectKey;
use std::collections::VecDeque;

/// The last changes, the oldest first.
pub(super) struct History {
    entries: VecDeque<Entry>,
    bytes: usize,
    most_bytes: usize,
}

/// A change of an object.
pub(super) struct Entry {
    kind: usize,
    key: ObjectKey,
    pub(super) time: Timestamp,
    pub(super) event: &'static str,
    /// The fields that changed.
    pub(super) lines: Vec<String>,
}

impl Entry {
    fn bytes(&self) -> usize {
        let lines = self.lines.iter().map(|line| line.len() + size_of::<String>());
        size_of::<Self>() + self.key.len() + lines.sum::<usize>()
    }
}

impl History {
    pub(super) fn new(most_bytes: usize) -> Self {
        Self {
            entries: VecDeque::new(),
            bytes: 0,
            most_bytes,
        }
    }

    /// Adds a change; the oldest ones make room for it.
    pub(super) fn push(
        &mut self,
        kind: usize,
        key: &ObjectKey,
        time: Timestamp,
        event: &'static str,
        lines: Vec<String>,
    ) {
        let entry = Entry {
            kind,
            key: key.clone(),
            time,
            event,
            lines,
        };
        self.bytes += entry.bytes();
        self.entries.push_back(entry);
        while self.bytes > self.most_bytes {
            let Some(oldest) = self.entries.pop_front() else {
                break;
            };
            self.bytes -= oldest.bytes();
        }
    }

    /// The changes of an object, the newest first.
    pub(super) fn of(&self, kind: usize, key: &ObjectKey) -> impl Iterator<Item = &Entry> {
        let entries = self.entries.iter().rev();
        entries.filter(move |entry| entry.kind == kind && entry.key == *key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_changes_make_room() {
        let mut history = History::new(2000);
        let key = ObjectKey::from("ns/a");
        for number in 0..1000 {
            history.push(0, &key, Timestamp::UNIX_EPOCH, "update", vec![number.to_string()]);
            assert!(history.bytes <= 2000);
        }
        let lines: Vec<_> = history.of(0, &key).map(|entry| entry.lines[0].as_str()).collect();
        assert_eq!(lines[..2], ["999", "998"]);
        assert!((2..100).contains(&lines.len()), "{}", lines.len());
        assert_eq!(history.of(1, &key).count(), 0);
        // One that is larger than the ring is not kept either.
        history.push(0, &key, Timestamp::UNIX_EPOCH, "update", vec!["x".repeat(3000)]);
        assert_eq!((history.of(0, &key).count(), history.bytes), (0, 0));
    }
}
