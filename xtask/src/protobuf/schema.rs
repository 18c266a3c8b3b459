//! `.proto` files, as Kubernetes' `go-to-protobuf` writes them: one statement a line.

use super::golang::Sources;
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::Path;

/// A package: its messages, and the Go sources beside them.
pub(super) struct Package {
    /// Such as `k8s.io.api.core.v1`.
    pub(super) name: String,
    pub(super) messages: Vec<Message>,
    pub(super) sources: Sources,
}

pub(super) struct Message {
    pub(super) name: String,
    pub(super) fields: Vec<Field>,
}

pub(super) struct Field {
    pub(super) number: u32,
    pub(super) label: Label,
    /// A scalar's name, or the full name of a message; of a map, its values'.
    pub(super) kind: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    One,
    Many,
    Map,
}

const SCALARS: [&str; 6] = ["bool", "bytes", "double", "int32", "int64", "string"];

impl Package {
    pub(super) fn read(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file)?;
        let mut package = Self {
            name: String::new(),
            messages: Vec::new(),
            sources: Sources::read(file.parent().context("a file in no folder")?)?,
        };
        for line in text.lines().map(str::trim) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["package", name] => package.name = name.trim_end_matches(';').to_owned(),
                ["message", name, "{"] => package.messages.push(Message {
                    name: name.to_owned(),
                    fields: Vec::new(),
                }),
                ["optional", kind, _, "=", number] => package.push(Label::One, kind, number)?,
                ["repeated", kind, _, "=", number] => package.push(Label::Many, kind, number)?,
                ["map<string,", kind, _, "=", number] => {
                    package.push(Label::Map, kind.trim_end_matches('>'), number)?;
                }
                [] | ["}"] | ["syntax" | "import" | "option", ..] => {}
                [first, ..]
                    if first.starts_with("//") || first.starts_with('*') || first.starts_with("/*") => {}
                _ if package.messages.is_empty() => {} // the licence
                _ => bail!("what is `{line}`?"),
            }
        }
        for message in &mut package.messages {
            message.fields.sort_by_key(|field| field.number);
        }
        Ok(package)
    }

    fn push(&mut self, label: Label, kind: &str, number: &str) -> Result<()> {
        let kind = match kind.strip_prefix('.') {
            Some(full) => full.to_owned(),
            None if SCALARS.contains(&kind) => kind.to_owned(),
            None if kind.contains('.') => kind.to_owned(),
            None => format!("{}.{kind}", self.name),
        };
        let message = self.messages.last_mut().context("a field in no message")?;
        message.fields.push(Field {
            number: number.trim_end_matches(';').parse()?,
            label,
            kind,
        });
        Ok(())
    }
}
