//! The table of changes.

use crate::age;
use crate::grid::Grid;
use crate::text::{printable, width};
use jiff::Timestamp;
use kube::core::DynamicObject;
use kube_informer::Notification;

/// A table of changes.
pub(super) struct Table {
    namespaced: bool,
    wide: bool,
    grid: Grid,
}

impl Table {
    pub(super) fn new(namespaced: bool, wide: bool) -> Self {
        Self {
            namespaced,
            wide,
            grid: Grid::default(),
        }
    }

    pub(super) fn has_header(&self) -> bool {
        self.grid.has_rows()
    }

    /// Makes the columns wide enough for these namespaces and names.
    pub(super) fn fit(&mut self, keys: impl Iterator<Item = (String, String)>) {
        let (mut namespace, mut name) = (0, 0);
        for key in keys {
            namespace = namespace.max(width(&printable(&key.0)));
            name = name.max(width(&printable(&key.1)));
        }
        let space = |width: usize| " ".repeat(width);
        let (namespace, name) = (space(namespace), space(name));
        // The usual maximum of the other columns.
        let (uid, none) = (space(36), String::new());
        let usual = [
            "tombstone",
            &namespace,
            &name,
            "123d",
            "12345678",
            "12345678",
            &uid,
            &none,
        ];
        self.format(usual.map(ToOwned::to_owned));
    }

    pub(super) fn header(&mut self) -> String {
        let header = [
            "EVENT",
            "NAMESPACE",
            "NAME",
            "AGE",
            "VERSION",
            "BEFORE",
            "UID",
            "LABELS",
        ];
        self.format(header.map(ToOwned::to_owned))
    }

    /// The row of a change of an object that people know by this name.
    pub(super) fn row(&mut self, change: &Notification<DynamicObject>, name: &str, now: Timestamp) -> String {
        let key = change.key();
        let meta = change.object().map(|object| &object.metadata);
        let before = match change {
            Notification::Update { old, .. } => old.metadata.resource_version.clone(),
            _ => None,
        };
        let text = |text: Option<String>| text.unwrap_or_else(|| "-".into());
        self.format([
            event(change).to_owned(),
            key.namespace().unwrap_or_default().to_owned(),
            name.to_owned(),
            text(
                meta.and_then(|meta| meta.creation_timestamp.as_ref())
                    .map(|time| age(time.0, now)),
            ),
            text(meta.and_then(|meta| meta.resource_version.clone())),
            text(before),
            text(meta.and_then(|meta| meta.uid.clone())),
            text(meta.and_then(|meta| meta.labels.as_ref()).map(labels)),
        ])
    }

    /// Formats the cells that this table shows.
    fn format(&mut self, cells: [String; 8]) -> String {
        let shown = [
            true,
            self.namespaced,
            true,
            true,
            true,
            self.wide,
            self.wide,
            self.wide,
        ];
        let cells = cells.into_iter().zip(shown).filter(|(_, shown)| *shown);
        self.grid.row(cells.map(|(cell, _)| cell))
    }
}

/// The name of the event. A tombstone is a deletion that was missed and inferred from a later list.
pub(super) fn event(change: &Notification<DynamicObject>) -> &'static str {
    match change {
        Notification::Add { initial: true, .. } => "initial",
        Notification::Add { .. } => "add",
        Notification::Update { .. } => "update",
        Notification::Delete(deleted) if deleted.is_tombstone() => "tombstone",
        Notification::Delete(_) => "delete",
    }
}

fn age(created: Timestamp, now: Timestamp) -> String {
    // Clocks differ: an object created in the future has age zero.
    age::human(now.duration_since(created).try_into().unwrap_or_default())
}

fn labels(labels: &std::collections::BTreeMap<String, String>) -> String {
    let pairs: Vec<_> = labels
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    match pairs.is_empty() {
        true => "-".into(),
        false => pairs.join(","),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube_informer::{DeleteCause, Deleted};
    use serde_json::json;
    use std::sync::Arc;

    fn object(name: &str, version: &str) -> Arc<DynamicObject> {
        let object = json!({"metadata": {
            "name": name, "namespace": "shop", "uid": "u1", "resourceVersion": version,
            "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"app": "web", "tier": "edge"},
        }});
        Arc::new(serde_json::from_value(object).unwrap())
    }

    #[test]
    fn columns_grow_and_stay_aligned() {
        let mut table = Table::new(true, false);
        table.fit([("shop".into(), "web-0".into())].into_iter());
        let now = "2026-01-01T00:03:05Z".parse().unwrap();
        let add = Notification::Add {
            object: object("web-0", "5"),
            initial: true,
        };
        let update = Notification::Update {
            old: object("a-very-long-name", "5"),
            new: object("a-very-long-name", "6"),
        };
        let gone = Notification::Delete(Deleted {
            key: "shop/web-0".into(),
            last_known: Some(object("web-0", "5")),
            cause: DeleteCause::Missed,
        });
        let rows = [
            table.header(),
            table.row(&add, "web-0", now),
            table.row(&update, "a-very-long-name", now),
            table.row(&gone, "web-0", now),
        ];
        assert_eq!(
            rows.join("\n"),
            "\
EVENT       NAMESPACE   NAME    AGE    VERSION
initial     shop        web-0   3m5s   5
update      shop        a-very-long-name   3m5s   6
tombstone   shop        web-0              3m5s   5"
        );
    }

    #[test]
    fn wide_characters_and_escapes_keep_columns_aligned() {
        let mut table = Table::new(false, false);
        let names = ["世界-0", "Grüße", "a\u{9b}2J\nb"];
        table.fit(names.into_iter().map(|name| (String::new(), name.into())));
        let now = "2026-01-01T00:03:05Z".parse().unwrap();
        let mut rows = vec![table.header()];
        rows.extend(names.map(|name| {
            let add = Notification::Add {
                object: object(name, "5"),
                initial: false,
            };
            table.row(&add, name, now)
        }));
        assert_eq!(
            rows.join("\n"),
            "\
EVENT       NAME               AGE    VERSION
add         世界-0             3m5s   5
add         Grüße              3m5s   5
add         a\\u009b2J\\u000ab   3m5s   5"
        );
    }

    #[test]
    fn wide_shows_more_and_cluster_scoped_no_namespace() {
        let mut table = Table::new(false, true);
        table.fit([(String::new(), "web-0".into())].into_iter());
        let now = "2026-01-01T00:03:05Z".parse().unwrap();
        let row = table.row(
            &Notification::Update {
                old: object("n", "5"),
                new: object("n", "6"),
            },
            "n",
            now,
        );
        let cells: Vec<_> = row.split_whitespace().collect();
        assert_eq!(
            cells,
            ["update", "n", "3m5s", "6", "5", "u1", "app=web,tier=edge"]
        );
    }
}
