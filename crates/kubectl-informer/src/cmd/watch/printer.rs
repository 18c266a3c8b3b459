//! Prints changes.

use super::news::{Back, Missed, News};
use super::table::{Table, event};
use super::tables::{self, Row, Tables};
use crate::args::{Diff, WatchArgs, WatchOutput};
use crate::cmd::cache;
use crate::columns::Columns;
use crate::condition::Condition;
use crate::diff::{self, Change};
use crate::grid::Grid;
use crate::output;
use crate::target::Target;
use crate::template::Template;
use crate::text::elapsed;
use anstyle::AnsiColor;
use jiff::Timestamp;
use kube::core::DynamicObject;
use kube_informer::selector::HashRange;
use kube_informer::source::ErrorClass;
use kube_informer::{DeleteCause, Notification, SharedInformer};
use serde::Serialize;
use serde_json::Value;
use std::io;
use std::sync::Arc;

/// The number of objects of each resource that decide how wide the columns of the user are at first.
const MEASURED: usize = 500;

/// Prints changes in one of the formats.
pub(super) struct Printer {
    format: Format,
    diff: Option<Diff>,
    show_object: bool,
    show_managed_fields: bool,
    colors: bool,
    /// Whether there are several resources, so that a name alone does not tell what it names.
    several: bool,
}

enum Format {
    Json,
    Yaml,
    Name,
    Table(Table),
    Columns(Columns, Grid),
    Template(Template),
}

/// What is watched.
pub(super) struct Watched {
    /// For messages: `pods in namespace "shop"`.
    pub(super) described: String,
    /// The same, if it is one object.
    one: String,
    /// `deployments.apps`.
    resource: String,
    /// `deployment.apps`.
    prefix: String,
    pub(super) informer: SharedInformer<DynamicObject>,
    /// Where the cells of its objects are; `None` if they are not asked for.
    tables: Option<Arc<Tables>>,
    /// Whether the initial objects were saved by an earlier run.
    restored: bool,
}

impl Watched {
    pub(super) fn new(
        target: &Target,
        informer: SharedInformer<DynamicObject>,
        tables: Option<Arc<Tables>>,
    ) -> Self {
        Self {
            described: target.described(),
            one: target.described_as_one(),
            resource: target.resource.full_name(),
            prefix: target.resource.object_prefix(),
            informer,
            tables,
            restored: false,
        }
    }

    /// The name of an object as it is shown.
    fn name(&self, name: &str, several: bool) -> String {
        match several {
            true => format!("{}/{name}", self.prefix),
            false => name.to_owned(),
        }
    }

    /// Makes a table wide enough for the objects that exist.
    fn fit(&self, table: &mut Table, several: bool) {
        let objects = self.informer.store().snapshot();
        let mut has_cells = false;
        for object in objects.iter().take(MEASURED) {
            if let Some(row) = self.row(object) {
                let name = object.metadata.name.as_deref().unwrap_or_default();
                table.fit_row(&row, &self.name(name, several), object);
                has_cells = true;
            }
        }
        if !has_cells {
            table.fit(objects.keys().map(|key| {
                let namespace = key.namespace().unwrap_or_default().to_owned();
                (namespace, self.name(key.name(), several))
            }));
        }
    }

    /// The cells of an object.
    fn row(&self, object: &DynamicObject) -> Option<Row> {
        self.tables.as_ref()?.row(object)
    }
}

/// A line of `-o json`.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    event: &'a str,
    /// Only if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_resource_version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_version: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    initial: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    restored: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    tombstone: bool,
    /// Whether the object is only of another process's shard now.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unselected: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    ranges: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missed: Option<Missed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<Change>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<Value>,
}

impl Printer {
    pub(super) fn new(args: &WatchArgs, targets: &[Target]) -> Self {
        let namespaced = targets.iter().any(|target| target.resource.namespaced);
        let all_namespaces = namespaced && args.scope.all_namespaces;
        let table = |wide| Table::new(namespaced, all_namespaces, wide, args.show_labels);
        let format = match &args.output {
            WatchOutput::Json => Format::Json,
            WatchOutput::Yaml => Format::Yaml,
            WatchOutput::Name => Format::Name,
            WatchOutput::Table => Format::Table(table(false)),
            WatchOutput::Wide => Format::Table(table(true)),
            WatchOutput::Columns(columns) => Format::Columns(columns.clone(), Grid::default()),
            WatchOutput::Template(template) => Format::Template(template.clone()),
        };
        let mut resources = targets.iter().map(|target| &target.resource);
        let first = resources.next();
        Self {
            format,
            diff: args.diff,
            show_object: args.show_object,
            show_managed_fields: args.show_managed_fields,
            colors: output::has_colors(args.color),
            several: resources.any(|resource| Some(resource) != first),
        }
    }

    /// Prints a change.
    ///
    /// # Errors
    /// The reader has closed the output.
    pub(super) fn change(
        &mut self,
        watched: &[Watched],
        target: usize,
        change: &Notification<DynamicObject>,
    ) -> anyhow::Result<()> {
        let of = &watched[target];
        let changes = match (change, self.diff) {
            (Notification::Update { old, new }, Some(diff)) => {
                Some(diff::changes(&whole(old)?, &whole(new)?, diff))
            }
            _ => None,
        };
        let shows_object = self.show_object && !matches!(self.format, Format::Yaml);
        let object = match change.object().filter(|_| shows_object) {
            Some(object) => Some(self.value(object)?),
            None => None,
        };
        let several = self.several;
        let shown = change.object().map(|object| self.value(object));
        match &mut self.format {
            Format::Json => {
                return Ok(json_change(
                    change,
                    object,
                    changes,
                    several.then_some(&of.resource),
                    of.restored,
                )?);
            }
            Format::Name => output::line(&format!("{}/{}", of.prefix, change.key().name()))?,
            Format::Template(template) => {
                let text = template.of(&shown.transpose()?.unwrap_or_default());
                // One line break at the end is there anyway.
                let text = text.strip_suffix('\n').unwrap_or(&text);
                output::raw(format!("{text}\n").as_bytes())?;
            }
            Format::Yaml => {
                let shown = shown.transpose()?.unwrap_or_default();
                output::line("---")?;
                output::line(&format!("# {}", event(change)))?;
                output::lines(serde_saphyr::to_string(&shown)?.trim_end())?;
            }
            Format::Table(table) => {
                if table.is_new() {
                    watched.iter().for_each(|watched| watched.fit(table, several));
                }
                let name = of.name(change.key().name(), several);
                let row = change.object().and_then(|object| of.row(object));
                let lines = table.lines(change, &name, row, Timestamp::now());
                if let Some(header) = &lines.header {
                    output::line(header)?;
                }
                self.row(change, &lines.row)?;
            }
            Format::Columns(columns, grid) => {
                if !grid.has_rows() {
                    columns.header(grid);
                    // Formatted for the widths, with the longest event.
                    for watched in watched {
                        for object in watched.informer.store().snapshot().iter().take(MEASURED) {
                            columns.row(grid, "tombstone", &serde_json::to_value(&**object)?);
                        }
                    }
                    output::line(&columns.header(grid))?;
                }
                let row = columns.row(grid, event(change), &shown.transpose()?.unwrap_or_default());
                self.row(change, &row)?;
            }
        }
        if let Some(changes) = changes {
            self.changes(&changes)?;
        }
        match object {
            Some(object) => Ok(output::lines(&format!("{object:#}"))?),
            None => Ok(()),
        }
    }

    /// An object as it is printed.
    fn value(&self, object: &Arc<DynamicObject>) -> serde_json::Result<Value> {
        let mut value = whole(object)?;
        if !self.show_managed_fields
            && let Some(metadata) = value["metadata"].as_object_mut()
        {
            metadata.remove("managedFields");
        }
        Ok(value)
    }

    /// Prints a row, which starts with the event.
    fn row(&self, change: &Notification<DynamicObject>, row: &str) -> io::Result<()> {
        let color = match change {
            Notification::Add { initial: true, .. } => None,
            change => diff::color(event(change)),
        };
        let (head, tail) = row.split_at(event(change).len());
        self.styled(color, head, tail)
    }

    fn styled(&self, color: Option<AnsiColor>, head: &str, tail: &str) -> io::Result<()> {
        output::colored(color.filter(|_| self.colors), head, tail)
    }

    /// Prints the fields that an update changed; in YAML as comments.
    fn changes(&self, changes: &[Change]) -> io::Result<()> {
        let indent = match self.format {
            Format::Yaml => "# ",
            _ => "    ",
        };
        diff::print(changes, indent, "--diff=all", self.colors)
    }

    /// Prints that the next objects of a target were saved by an earlier run.
    pub(super) fn restored(&self, of: &mut Watched) {
        of.restored = true;
        let objects = of.informer.store().len();
        output::diagnostic(&format!(
            "restored: {objects} {}, not confirmed by the server yet",
            of.described
        ));
    }

    /// Prints that all existing objects of a target have been printed.
    ///
    /// # Errors
    /// The reader has closed the output.
    pub(super) fn synced(&self, of: &Watched, why_none: Option<&str>) -> io::Result<()> {
        if of.restored && cache::is_restored(&of.informer) {
            match self.format {
                Format::Json => self.json(
                    of,
                    Line {
                        event: "confirmed",
                        ..Line::default()
                    },
                )?,
                _ => output::diagnostic(&format!("confirmed: {}", of.described)),
            }
        }
        let empty = why_none.map(|why| format!("no {}{why}", of.described));
        if let Format::Json = self.format {
            return self.json(
                of,
                Line {
                    event: "synced",
                    message: empty.as_deref(),
                    ..Line::default()
                },
            );
        }
        let status = of.informer.status();
        let version = status
            .applied
            .map(|version| format!(" at resource version {version}"));
        let version = version.unwrap_or_default();
        output::diagnostic(&match why_none {
            Some(why) => format!("synced: no {}{version}{why}", of.described),
            None if status.objects == 1 => format!("synced: 1 {}{version}", of.one),
            None => format!("synced: {} {}{version}", status.objects, of.described),
        });
        Ok(())
    }

    /// Prints that a target has not synced for some time, and why.
    ///
    /// # Errors
    /// The reader has closed the output.
    pub(super) fn unsynced(&self, of: &Watched, why: &str) -> io::Result<()> {
        self.notice(of, "unsynced", &format!("not synced yet: {why}"))
    }

    /// Prints which ranges of hashes this process has.
    ///
    /// # Errors
    /// The reader has closed the output.
    pub(super) fn shards(&self, ranges: &[HashRange]) -> io::Result<()> {
        let ranges: Vec<_> = ranges.iter().map(ToString::to_string).collect();
        match self.format {
            Format::Json => json(&Line {
                event: "shards",
                ranges: Some(ranges),
                ..Line::default()
            }),
            _ => {
                let list = ranges.join(" ");
                let colon = if ranges.is_empty() { "" } else { ": " };
                output::diagnostic(&format!("shards: {} ranges{colon}{list}", ranges.len()));
                Ok(())
            }
        }
    }

    /// Prints that the condition is met.
    ///
    /// # Errors
    /// The reader has closed the output.
    pub(super) fn met(&self, condition: &Condition) -> io::Result<()> {
        match self.format {
            Format::Json => json(&Line {
                event: "met",
                message: Some(&condition.to_string()),
                ..Line::default()
            }),
            _ => {
                output::diagnostic(&format!("met: {condition}"));
                Ok(())
            }
        }
    }

    /// Says news of a target on standard error, and as a line of JSON.
    ///
    /// # Errors
    /// The reader has closed the output.
    pub(super) fn news(&self, of: &Watched, news: &News) -> io::Result<()> {
        let (event, class, message, missed) = match news {
            News::Failed { class, message } => ("error", Some(class.as_str()), message.clone(), None),
            News::Invalid { message } => ("error", Some("decode"), message.clone(), None),
            News::Back(back) => ("reconnected", None, told(back), back.missed),
        };
        let verb = match news {
            News::Failed { class, .. } if class.is_retryable() => "reconnecting: ",
            News::Failed {
                class: ErrorClass::NotFound,
                ..
            } => "not served, asking again: ",
            News::Failed { .. } => "refused, asking again: ",
            News::Invalid { .. } | News::Back(_) => "",
        };
        output::diagnostic(&format!("{}: {verb}{message}", of.described));
        match self.format {
            Format::Json => self.json(
                of,
                Line {
                    event,
                    class,
                    message: Some(&message),
                    missed,
                    ..Line::default()
                },
            ),
            _ => Ok(()),
        }
    }

    fn notice(&self, of: &Watched, event: &str, message: &str) -> io::Result<()> {
        if let Format::Json = self.format {
            return self.json(
                of,
                Line {
                    event,
                    message: Some(message),
                    ..Line::default()
                },
            );
        }
        output::diagnostic(&format!("{}: {message}", of.described));
        Ok(())
    }

    fn json(&self, of: &Watched, line: Line<'_>) -> io::Result<()> {
        json(&Line {
            resource: self.several.then_some(&of.resource),
            ..line
        })
    }
}

/// An object as the server has it.
fn whole(object: &Arc<DynamicObject>) -> serde_json::Result<Value> {
    let mut value = serde_json::to_value(&**object)?;
    tables::remove_row(&mut value);
    Ok(value)
}

/// The end of an outage in words.
fn told(back: &Back) -> String {
    let after = elapsed(back.after);
    match back.missed {
        None => format!("back after {after}; the watch goes on where it was"),
        Some(Missed {
            added: 0,
            updated: 0,
            deleted: 0,
        }) => format!("back after {after}; listed again, nothing had changed"),
        Some(Missed {
            added,
            updated,
            deleted,
        }) => format!(
            "back after {after}; listed again, missed {added} added, {updated} updated, {deleted} deleted"
        ),
    }
}

fn json(line: &Line<'_>) -> io::Result<()> {
    output::line(&serde_json::to_string(line)?)
}

fn json_change(
    change: &Notification<DynamicObject>,
    object: Option<Value>,
    changes: Option<Vec<Change>>,
    resource: Option<&String>,
    restored: bool,
) -> io::Result<()> {
    let key = change.key();
    let mut line = Line {
        resource: resource.map(String::as_str),
        key: Some(&key),
        resource_version: change.object().and_then(version),
        changes,
        object,
        ..Line::default()
    };
    match change {
        Notification::Add { initial, .. } => {
            line.event = "add";
            line.initial = *initial;
            line.restored = *initial && restored;
        }
        Notification::Update { old, .. } => {
            line.event = "update";
            line.old_resource_version = version(old);
        }
        Notification::Delete(deleted) => {
            line.event = "delete";
            line.tombstone = deleted.is_tombstone();
            line.unselected = deleted.cause == DeleteCause::Unselected;
        }
    }
    json(&line)
}

fn version(object: &Arc<DynamicObject>) -> Option<&str> {
    object.metadata.resource_version.as_deref()
}
