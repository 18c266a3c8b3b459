//! Whether the objects that are watched meet the condition that ends the watch.

use crate::condition::Condition;
use kube::core::DynamicObject;
use kube_informer::{Notification, ObjectKey};
use std::collections::HashSet;

/// How far the objects of some targets are.
pub(super) struct Until {
    condition: Condition,
    targets: Vec<Progress>,
}

#[derive(Default)]
struct Progress {
    synced: bool,
    objects: usize,
    /// Those that do not meet the condition.
    unmet: HashSet<ObjectKey>,
}

impl Until {
    pub(super) fn new(condition: Condition, targets: usize) -> Self {
        Self {
            condition,
            targets: (0..targets).map(|_| Progress::default()).collect(),
        }
    }

    pub(super) fn condition(&self) -> &Condition {
        &self.condition
    }

    pub(super) fn synced(&mut self, target: usize) {
        self.targets[target].synced = true;
    }

    pub(super) fn change(&mut self, target: usize, change: &Notification<DynamicObject>) {
        let progress = &mut self.targets[target];
        let key = change.key();
        match change {
            Notification::Add { object, .. } | Notification::Update { new: object, .. } => {
                let added = matches!(change, Notification::Add { .. });
                progress.objects += usize::from(added);
                let object = serde_json::to_value(&**object).unwrap_or_default();
                match self.condition.is_met(&object) {
                    true => progress.unmet.remove(&key),
                    false => progress.unmet.insert(key),
                };
            }
            Notification::Delete(_) => {
                progress.objects = progress.objects.saturating_sub(1);
                progress.unmet.remove(&key);
            }
        }
    }

    /// Whether the objects of all targets are known.
    pub(super) fn is_listed(&self) -> bool {
        self.targets.iter().all(|target| target.synced)
    }

    /// Whether all targets are known and all their objects meet the condition.
    pub(super) fn is_met(&self) -> bool {
        self.targets.iter().all(|target| {
            target.synced
                && match self.condition {
                    Condition::Delete => target.objects == 0,
                    _ => target.objects > 0 && target.unmet.is_empty(),
                }
        })
    }

    /// What is missing, for messages; `names` are those of the targets.
    pub(super) fn missing(&self, names: &[&str]) -> String {
        let missing = self.targets.iter().zip(names).filter_map(|(target, name)| {
            let example = target
                .unmet
                .iter()
                .min()
                .map(ToString::to_string)
                .unwrap_or_default();
            match target {
                Progress { synced: false, .. } => Some(format!("{name}: not listed yet")),
                Progress { objects: 0, .. } if self.condition != Condition::Delete => {
                    Some(format!("{name}: there is none"))
                }
                Progress { unmet, .. } if unmet.len() == 1 => Some(format!("{name}: not by {example}")),
                Progress { objects, unmet, .. } if !unmet.is_empty() => Some(format!(
                    "{name}: not by {} of {objects}, such as {example}",
                    unmet.len(),
                )),
                _ => None,
            }
        });
        missing.collect::<Vec<_>>().join("; ")
    }
}
