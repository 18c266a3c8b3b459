//! Prints changes.

use super::Failure;
use super::table::Table;
use crate::args::{WatchArgs, WatchOutput};
use crate::discovery::Resource;
use crate::output;
use jiff::Timestamp;
use kube::core::DynamicObject;
use kube_informer::{Notification, SharedInformer};
use serde::Serialize;
use serde_json::Value;
use std::io;
use std::sync::Arc;

/// Prints changes in one of the formats.
pub(crate) struct Printer {
    format: Format,
    show_object: bool,
    informer: SharedInformer<DynamicObject>,
}

enum Format {
    Json,
    Name { prefix: String },
    Table(Table),
}

/// A line of `-o json`.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    event: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_resource_version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_version: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    initial: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    tombstone: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<Value>,
}

impl Printer {
    pub(crate) fn new(
        args: &WatchArgs,
        resource: &Resource,
        informer: SharedInformer<DynamicObject>,
    ) -> Self {
        let format = match args.output {
            WatchOutput::Json => Format::Json,
            WatchOutput::Name => Format::Name {
                prefix: resource.object_prefix(),
            },
            WatchOutput::Table => Format::Table(Table::new(resource.namespaced, false)),
            WatchOutput::Wide => Format::Table(Table::new(resource.namespaced, true)),
        };
        Self {
            format,
            show_object: args.show_object,
            informer,
        }
    }

    /// Prints a change.
    ///
    /// # Errors
    /// The reader has closed the output.
    pub(crate) fn change(&mut self, change: &Notification<DynamicObject>) -> io::Result<()> {
        let object = change.object().filter(|_| self.show_object);
        let object = object.map(|object| serde_json::to_value(&**object)).transpose()?;
        match &mut self.format {
            Format::Json => return json_change(change, object),
            Format::Name { prefix } => output::line(&format!("{prefix}/{}", change.key().name()))?,
            Format::Table(table) => {
                if !table.has_header() {
                    let keys = self.informer.store().snapshot();
                    table.fit(
                        keys.keys()
                            .map(|key| (key.namespace().unwrap_or_default(), key.name())),
                    );
                    output::line(&table.header())?;
                }
                output::line(&table.row(change, Timestamp::now()))?;
            }
        }
        match object {
            Some(object) => output::lines(&format!("{object:#}")),
            None => Ok(()),
        }
    }

    /// Prints that all existing objects have been printed.
    ///
    /// # Errors
    /// The reader has closed the output.
    pub(crate) fn synced(&self) -> io::Result<()> {
        match self.format {
            Format::Json => json(&Line {
                event: "synced",
                ..Line::default()
            }),
            Format::Name { .. } => Ok(()),
            Format::Table(_) => {
                let status = self.informer.status();
                let version = status
                    .applied
                    .map(|version| format!(" at resource version {version}"));
                let (objects, resource) = (status.objects, self.informer.resource());
                output::diagnostic(&format!(
                    "synced: {objects} {resource}{}; changes follow (Ctrl-C ends)",
                    version.unwrap_or_default()
                ));
                Ok(())
            }
        }
    }

    /// Prints a failure, unless the log shows it.
    ///
    /// # Errors
    /// The reader has closed the output.
    pub(crate) fn failure(&self, failure: &Failure) -> io::Result<()> {
        match self.format {
            Format::Json => json(&Line {
                event: "error",
                class: Some(&failure.class),
                message: Some(&failure.message),
                ..Line::default()
            }),
            Format::Name { .. } | Format::Table(_) => Ok(()),
        }
    }
}

fn json(line: &Line<'_>) -> io::Result<()> {
    output::line(&serde_json::to_string(line)?)
}

fn json_change(change: &Notification<DynamicObject>, object: Option<Value>) -> io::Result<()> {
    let key = change.key();
    let mut line = Line {
        key: Some(&key),
        resource_version: change.object().and_then(version),
        object,
        ..Line::default()
    };
    match change {
        Notification::Add { initial, .. } => {
            line.event = "add";
            line.initial = *initial;
        }
        Notification::Update { old, .. } => {
            line.event = "update";
            line.old_resource_version = version(old);
        }
        Notification::Delete(deleted) => {
            line.event = "delete";
            line.tombstone = deleted.is_tombstone();
        }
    }
    json(&line)
}

fn version(object: &Arc<DynamicObject>) -> Option<&str> {
    object.metadata.resource_version.as_deref()
}
