//! The table of changes.
//!
//! The columns are those of the server's table, as kubectl shows them: behind the event, and with the namespace first if several are
//! shown. An object without cells is shown in columns of our own.

use super::following::is_same;
use super::tables::{Column, Row};
use crate::age;
use crate::grid::Grid;
use crate::text::{printable, width};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::DynamicObject;
use kube_informer::{DeleteCause, Notification};

/// The number of rows of other kinds after which a header is repeated.
const IN_SIGHT: usize = 20;

/// A table of changes.
pub(super) struct Table {
    /// Whether any of the resources has namespaces.
    namespaced: bool,
    /// Whether objects of several namespaces are shown.
    all_namespaces: bool,
    wide: bool,
    show_labels: bool,
    /// The widths of the columns that all kinds have in common.
    common: Grid,
    kinds: Vec<Kind>,
    rows: usize,
}

/// Rows with the same header.
struct Kind {
    header: Vec<String>,
    grid: Grid,
    /// The number of the row after which the header was in sight last; `None` before it is printed.
    seen: Option<usize>,
}

/// The first columns of a header that kinds can have in common.
const COMMON: [&str; 3] = ["EVENT", "NAMESPACE", "NAME"];

/// What is printed of a change.
pub(super) struct Lines {
    /// The header, if it is not in sight.
    pub(super) header: Option<String>,
    pub(super) row: String,
}

impl Table {
    pub(super) fn new(namespaced: bool, all_namespaces: bool, wide: bool, show_labels: bool) -> Self {
        Self {
            namespaced,
            all_namespaces,
            wide,
            show_labels,
            common: Grid::default(),
            kinds: Vec::new(),
            rows: 0,
        }
    }

    /// Whether nothing was printed yet.
    pub(super) fn is_new(&self) -> bool {
        self.rows == 0
    }

    /// Makes the columns of our own wide enough for these namespaces and names.
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
        let cells = self.own(usual.map(ToOwned::to_owned));
        let header = self.own_header();
        self.row(header, cells);
    }

    /// Makes the columns wide enough for this object, too.
    pub(super) fn fit_row(&mut self, row: &Row, name: &str, object: &DynamicObject) {
        let cells = self.cells_of(row, "tombstone", name, &object.metadata);
        self.row(self.header_of(row), cells);
    }

    /// What is printed of a change of an object that people know by this name.
    pub(super) fn lines(
        &mut self,
        change: &Notification<DynamicObject>,
        name: &str,
        row: Option<Row>,
        now: Timestamp,
    ) -> Lines {
        let (header, cells) = match row.zip(change.object()) {
            Some((row, object)) => {
                let row = as_of(row, change, now);
                let cells = self.cells_of(&row, event(change), name, &object.metadata);
                (self.header_of(&row), cells)
            }
            None => (self.own_header(), self.own_cells(change, name, now)),
        };
        self.rows += 1;
        let rows = self.rows;
        let (kind, row) = self.row(header, cells);
        let seen = kind.seen.replace(rows);
        let is_shown = seen.is_some_and(|seen| seen + IN_SIGHT >= rows);
        Lines {
            header: (!is_shown).then(|| kind.grid.row(kind.header.iter().cloned())),
            row,
        }
    }

    /// Puts cells in a row below their header, and makes the columns wide enough for both.
    fn row(&mut self, header: Vec<String>, cells: Vec<String>) -> (&mut Kind, String) {
        let number = match self.kinds.iter().position(|kind| kind.header == header) {
            Some(number) => number,
            None => {
                let mut grid = Grid::default();
                grid.row(header.iter().cloned());
                self.kinds.push(Kind {
                    header,
                    grid,
                    seen: None,
                });
                self.kinds.len() - 1
            }
        };
        let kind = &mut self.kinds[number];
        let common = kind
            .header
            .iter()
            .take_while(|name| COMMON.contains(&&***name))
            .count();
        kind.grid.widen(&self.common, common);
        let row = kind.grid.row(cells.into_iter());
        self.common.widen(&kind.grid, common);
        (kind, row)
    }

    fn header_of(&self, row: &Row) -> Vec<String> {
        let namespace = self.all_namespaces.then(|| "NAMESPACE".to_owned());
        let columns = row.columns.iter().filter(|column| self.shows(column));
        std::iter::once("EVENT".to_owned())
            .chain(namespace)
            .chain(columns.map(|column| column.name.to_uppercase()))
            .chain(self.show_labels.then(|| "LABELS".to_owned()))
            .collect()
    }

    fn cells_of(&self, row: &Row, event: &str, name: &str, metadata: &ObjectMeta) -> Vec<String> {
        let namespace = metadata.namespace.clone().unwrap_or_default();
        let namespace = self.all_namespaces.then_some(namespace);
        let labels = self
            .show_labels
            .then(|| match metadata.labels.as_ref().map(labels) {
                Some(labels) if labels != "-" => labels,
                _ => "<none>".to_owned(),
            });
        let columns = row.columns.iter().enumerate();
        let cells = columns.filter(|(_, column)| self.shows(column));
        let cells = cells.map(|(number, column)| match column.is_name() {
            true => name.to_owned(),
            false => row.cells.get(number).cloned().unwrap_or_default(),
        });
        std::iter::once(event.to_owned())
            .chain(namespace)
            .chain(cells)
            .chain(labels)
            .collect()
    }

    fn shows(&self, column: &Column) -> bool {
        self.wide || !column.is_wide()
    }

    fn own_header(&self) -> Vec<String> {
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
        self.own(header.map(ToOwned::to_owned))
    }

    fn own_cells(&self, change: &Notification<DynamicObject>, name: &str, now: Timestamp) -> Vec<String> {
        let key = change.key();
        let meta = change.object().map(|object| &object.metadata);
        let before = match change {
            Notification::Update { old, .. } => old.metadata.resource_version.clone(),
            _ => None,
        };
        let text = |text: Option<String>| text.unwrap_or_else(|| "-".into());
        self.own([
            event(change).to_owned(),
            key.namespace().unwrap_or_default().to_owned(),
            name.to_owned(),
            text(change.object().and_then(|object| age_of(object, now))),
            text(meta.and_then(|meta| meta.resource_version.clone())),
            text(before),
            text(meta.and_then(|meta| meta.uid.clone())),
            text(meta.and_then(|meta| meta.labels.as_ref()).map(labels)),
        ])
    }

    /// Those of our own cells that this table shows.
    fn own(&self, cells: [String; 8]) -> Vec<String> {
        let shown = [
            true,
            self.namespaced,
            true,
            true,
            true,
            self.wide,
            self.wide,
            self.wide || self.show_labels,
        ];
        let cells = cells.into_iter().zip(shown).filter(|(_, shown)| *shown);
        cells.map(|(cell, _)| cell).collect()
    }
}

/// The cells as of now: what the server has not sent just now has an age of that time.
fn as_of(mut row: Row, change: &Notification<DynamicObject>, now: Timestamp) -> Row {
    let is_old = match change {
        Notification::Add { .. } => false,
        // A resync.
        Notification::Update { old, new } => is_same(old, new),
        Notification::Delete(deleted) => deleted.is_tombstone(),
    };
    let age = row.columns.iter().position(|column| column.name == "Age");
    if let Some(age) = age.filter(|_| is_old)
        && let Some(cell) = row.cells.get_mut(age)
        && let Some(age) = change.object().and_then(|object| age_of(object, now))
    {
        *cell = age;
    }
    row
}

fn age_of(object: &DynamicObject, now: Timestamp) -> Option<String> {
    let created = object.metadata.creation_timestamp.as_ref()?;
    Some(age(created.0, now))
}

/// The name of the event. A tombstone is a deletion that was missed and inferred from a later list.
pub(super) fn event(change: &Notification<DynamicObject>) -> &'static str {
    match change {
        Notification::Add { initial: true, .. } => "initial",
        Notification::Add { .. } => "add",
        Notification::Update { .. } => "update",
        Notification::Delete(deleted) if deleted.is_tombstone() => "tombstone",
        Notification::Delete(deleted) if deleted.cause == DeleteCause::Unselected => "left",
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
    use kube_informer::Deleted;
    use serde_json::json;
    use std::sync::Arc;

    fn object(name: &str, version: &str) -> Arc<DynamicObject> {
        let object = json!({"metadata": {
            "name": name, "namespace": "shop", "uid": "u1", "resourceVersion": version,
            "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"app": "web", "tier": "edge"},
        }});
        Arc::new(serde_json::from_value(object).unwrap())
    }

    /// What is printed of changes with these names, at a time.
    fn print(
        table: &mut Table,
        changes: &[(&Notification<DynamicObject>, &str)],
        row: impl Fn(&Notification<DynamicObject>) -> Option<Row>,
    ) -> String {
        let now = "2026-01-01T00:03:05Z".parse().unwrap();
        let mut printed = Vec::new();
        for (change, name) in changes {
            let lines = table.lines(change, name, row(change), now);
            printed.extend(lines.header);
            printed.push(lines.row);
        }
        printed.join("\n")
    }

    fn columns(columns: serde_json::Value) -> Arc<[Column]> {
        serde_json::from_value::<Vec<_>>(columns).unwrap().into()
    }

    /// The columns of pods; their first cell is the name of the object.
    fn pod_row(cells: [&str; 4]) -> Row {
        Row {
            columns: columns(json!([
                {"name": "Name", "format": "name", "priority": 0}, {"name": "Ready"},
                {"name": "Age"}, {"name": "Node", "priority": 1},
            ])),
            cells: cells.map(ToOwned::to_owned).to_vec(),
        }
    }

    #[test]
    fn columns_are_the_servers_if_it_has_some() {
        let add = Notification::Add {
            object: object("web-0", "5"),
            initial: true,
        };
        let gone = Notification::Delete(Deleted {
            key: "shop/web-0".into(),
            last_known: Some(object("web-0", "5")),
            cause: DeleteCause::Missed,
        });
        for (all_namespaces, wide, expected) in [
            (
                false,
                false,
                "EVENT       NAME    READY   AGE\ninitial     web-0   1/1     9s\ntombstone   web-0   1/1     3m5s",
            ),
            (
                true,
                true,
                "EVENT       NAMESPACE   NAME    READY   AGE   NODE\n\
                 initial     shop        web-0   1/1     9s    node-1\n\
                 tombstone   shop        web-0   1/1     3m5s   node-1",
            ),
        ] {
            let mut table = Table::new(true, all_namespaces, wide, false);
            let row = || pod_row(["web-0", "1/1", "9s", "node-1"]);
            table.fit_row(&row(), "web-0", &object("web-0", "5"));
            let rows = print(&mut table, &[(&add, "web-0"), (&gone, "web-0")], |_| Some(row()));
            assert_eq!(rows, expected);
        }
    }

    #[test]
    fn headers_of_several_kinds_stay_in_sight() {
        let mut table = Table::new(true, false, false, false);
        let add = |name: &str| Notification::Add {
            object: object(name, "5"),
            initial: false,
        };
        let (pod, other) = (add("pod"), add("other"));
        let mut changes = vec![(&pod, "pod"), (&other, "other"), (&pod, "pod")];
        changes.extend(std::iter::repeat_n((&other, "other"), IN_SIGHT));
        changes.push((&pod, "pod"));
        let rows = print(&mut table, &changes, |change| {
            let is_pod = change.key().name() == "pod";
            is_pod.then(|| pod_row(["pod", "1/1", "9s", "n"]))
        });
        let headers: Vec<_> = (rows.lines().enumerate())
            .filter(|(_, line)| line.starts_with("EVENT"))
            .map(|(number, line)| (number, line.contains("READY")))
            .collect();
        assert_eq!(headers, [(0, true), (2, false), (5 + IN_SIGHT, true)], "{rows}");
    }

    #[test]
    fn a_wide_column_of_one_kind_widens_no_others() {
        let row = |names: [&str; 2], cells: [&str; 2]| Row {
            columns: columns(json!([{"name": names[0], "format": "name"}, {"name": names[1]}])),
            cells: cells.map(ToOwned::to_owned).to_vec(),
        };
        let event = |name: &str| row(["Name", "Message"], [name, "a long message"]);
        let add = |name: &str| Notification::Add {
            object: object(name, "5"),
            initial: false,
        };
        let (pod, other) = (add("pod"), add("an-event"));
        let mut table = Table::new(true, false, false, true);
        let rows = print(&mut table, &[(&other, "an-event"), (&pod, "pod")], |change| {
            Some(match change.key().name() {
                "pod" => row(["Name", "Ready"], ["pod", "1/1"]),
                name => event(name),
            })
        });
        assert_eq!(
            rows,
            "\
EVENT   NAME       MESSAGE          LABELS
add     an-event   a long message   app=web,tier=edge
EVENT   NAME       READY   LABELS
add     pod        1/1     app=web,tier=edge"
        );
    }

    #[test]
    fn columns_grow_and_stay_aligned() {
        let mut table = Table::new(true, false, false, false);
        table.fit([("shop".into(), "web-0".into())].into_iter());
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
        let rows = print(
            &mut table,
            &[(&add, "web-0"), (&update, "a-very-long-name"), (&gone, "web-0")],
            |_| None,
        );
        assert_eq!(
            rows,
            "\
EVENT       NAMESPACE   NAME    AGE    VERSION
initial     shop        web-0   3m5s   5
update      shop        a-very-long-name   3m5s   6
tombstone   shop        web-0              3m5s   5"
        );
    }

    #[test]
    fn wide_characters_and_escapes_keep_columns_aligned() {
        let mut table = Table::new(false, false, false, false);
        let names = ["世界-0", "Grüße", "a\u{9b}2J\nb"];
        table.fit(names.into_iter().map(|name| (String::new(), name.into())));
        let adds = names.map(|name| Notification::Add {
            object: object(name, "5"),
            initial: false,
        });
        let changes: Vec<_> = adds.iter().zip(names).collect();
        assert_eq!(
            print(&mut table, &changes, |_| None),
            "\
EVENT       NAME               AGE    VERSION
add         世界-0             3m5s   5
add         Grüße              3m5s   5
add         a\\u009b2J\\u000ab   3m5s   5"
        );
    }

    #[test]
    fn wide_shows_more_and_cluster_scoped_no_namespace() {
        let mut table = Table::new(false, false, true, false);
        let update = Notification::Update {
            old: object("n", "5"),
            new: object("n", "6"),
        };
        let rows = print(&mut table, &[(&update, "n")], |_| None);
        let cells: Vec<_> = rows.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(
            cells,
            ["update", "n", "3m5s", "6", "5", "u1", "app=web,tier=edge"]
        );
    }
}
