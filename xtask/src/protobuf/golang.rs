//! Go sources: the structs with their tags. They are formatted by gofmt, so a field is a line.

use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// What the Go files of one folder declare.
#[derive(Default)]
pub(super) struct Sources {
    structs: BTreeMap<String, Vec<Field>>,
    /// Other types, such as `Verbs` with `[]string`.
    named: BTreeMap<String, String>,
    /// The packages by the name under which they are imported.
    imports: BTreeMap<String, String>,
    /// The types with a `MarshalJSON` of their own.
    pub(super) marshallers: BTreeSet<String>,
    /// The API group, and the version; a package without kinds has none.
    pub(super) group_version: Option<(String, String)>,
}

pub(super) struct Field {
    /// Such as `*metav1.Time`.
    pub(super) kind: String,
    pub(super) embedded: bool,
    /// The tag `json`, such as `metadata,omitempty`.
    pub(super) json: String,
    /// The number in the tag `protobuf`.
    pub(super) number: Option<u32>,
}

impl Field {
    pub(super) fn json_name(&self) -> &str {
        self.json.split(',').next().unwrap_or_default()
    }

    pub(super) fn has(&self, option: &str) -> bool {
        self.json.split(',').skip(1).any(|one| one == option)
    }

    pub(super) fn is_pointer(&self) -> bool {
        self.kind.starts_with('*')
    }
}

impl Sources {
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let mut sources = Self::default();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let generated = name.starts_with("generated") || name.starts_with("zz_generated");
            if name.ends_with(".go") && !name.ends_with("_test.go") && !generated {
                sources.add(&fs::read_to_string(&path)?);
            }
        }
        Ok(sources)
    }

    /// The fields of a struct.
    pub(super) fn fields(&self, name: &str) -> Option<&[Field]> {
        self.structs.get(name).map(Vec::as_slice)
    }

    /// The package (as protobuf names it) and the name of the struct of which it is a new name.
    pub(super) fn renamed(&self, name: &str) -> Option<(&str, &str)> {
        let (package, other) = self.named.get(name)?.split_once('.')?;
        Some((self.imports.get(package)?, other))
    }

    /// Whether it is a list of strings that protobuf makes a message of its own.
    pub(super) fn is_strings(&self, name: &str) -> bool {
        self.named.get(name).is_some_and(|kind| kind == "[]string")
    }

    fn add(&mut self, text: &str) {
        let mut within: Option<String> = None;
        let mut group = None;
        for line in text.lines() {
            if let Some(name) = &within {
                if line == "}" {
                    within = None;
                } else if let Some(field) = field(line) {
                    self.structs.entry(name.clone()).or_default().push(field);
                }
                continue;
            }
            if let Some(rest) = line.strip_prefix("type ") {
                let (name, kind) = rest.split_once(' ').unwrap_or((rest, ""));
                if kind == "struct {" || kind == "struct{}" {
                    within = (kind == "struct {").then(|| name.to_owned());
                    self.structs.entry(name.to_owned()).or_default();
                } else {
                    let kind = kind.split("//").next().unwrap_or_default().trim();
                    self.named.insert(name.to_owned(), kind.to_owned());
                }
            } else if line.starts_with("func (") && line.contains(") MarshalJSON()") {
                let receiver = line.split(')').next().unwrap_or_default();
                let name = receiver.rsplit([' ', '*']).next().unwrap_or_default();
                self.marshallers.insert(name.to_owned());
            } else if let Some((name, path)) = import(line) {
                self.imports.insert(name, path);
            } else if let Some(rest) = line.strip_prefix("const GroupName = ") {
                group = Some(rest.trim_matches('"').to_owned());
            } else if line.starts_with("var SchemeGroupVersion = ") {
                let version = line
                    .split("Version: \"")
                    .nth(1)
                    .and_then(|rest| rest.split('"').next());
                if let (Some(group), Some(version)) = (group.take(), version) {
                    self.group_version = Some((group, version.to_owned()));
                }
            }
        }
    }
}

/// A field's line, such as `metav1.ObjectMeta ` followed by its tags in backticks.
fn field(line: &str) -> Option<Field> {
    let line = line.strip_prefix('\t')?;
    if !line
        .starts_with(|first: char| first.is_ascii_uppercase() || first.is_ascii_lowercase() || first == '*')
    {
        return None;
    }
    let (declared, tags) = line.split_once('`').unwrap_or((line, ""));
    let mut words = declared.split("//").next()?.split_whitespace();
    let (name, kind) = (words.next()?, words.next());
    Some(Field {
        kind: kind.unwrap_or(name).to_owned(),
        embedded: kind.is_none(),
        json: tag(tags, "json").unwrap_or_default().to_owned(),
        number: tag(tags, "protobuf").and_then(|tag| tag.split(',').nth(1)?.parse().ok()),
    })
}

/// An import, such as `metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"`: its name, and its package in protobuf.
fn import(line: &str) -> Option<(String, String)> {
    let (name, path) = line.strip_prefix('\t')?.split_once('"')?;
    let path = path
        .strip_suffix('"')
        .filter(|path| path.starts_with("k8s.io/"))?;
    let name = match name.trim() {
        "" => path.rsplit('/').next()?,
        name => name,
    };
    Some((name.to_owned(), path.replace('/', ".").replace('-', "_")))
}

fn tag<'a>(tags: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tags.split_once(&format!("{name}:\""))?;
    rest.split('"').next()
}
