//! The sources of k8s-openapi, which are generated and formatted alike: the structs of each Kubernetes version.

use crate::workspace::{cargo, output};
use anyhow::{Context as _, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The structs of one Kubernetes version by their paths, such as `api::core::v1::Pod`.
pub(super) type Structs = BTreeMap<String, Struct>;

#[derive(Default)]
pub(super) struct Struct {
    /// Whether it is a kind of objects, and its apiVersion and kind are no fields.
    pub(super) is_kind: bool,
    /// By their names in JSON.
    pub(super) fields: BTreeMap<String, Field>,
}

pub(super) struct Field {
    /// Such as `type_`.
    pub(super) name: String,
    /// Such as `Option<Vec<api::core::v1::Container>>`.
    pub(super) kind: String,
}

/// What k8s-openapi has, by the minor version of Kubernetes.
pub(super) fn read() -> Result<BTreeMap<u32, Structs>> {
    let metadata: Value = serde_json::from_str(&output(&mut cargo("metadata --locked --format-version 1"))?)?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    let package = packages.iter().find(|package| package["name"] == "k8s-openapi");
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    let sources = Path::new(manifest.context("k8s-openapi is not used")?).with_file_name("src");
    let mut versions = BTreeMap::new();
    for entry in fs::read_dir(sources)? {
        let folder = entry?.path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        if let Some(minor) = name.strip_prefix("v1_") {
            let mut structs = Structs::new();
            collect(&folder, &folder, &mut structs)?;
            versions.insert(minor.parse()?, structs);
        }
    }
    Ok(versions)
}

fn collect(root: &Path, folder: &Path, structs: &mut Structs) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, structs)?;
        } else if let Some((name, found)) = parse(&fs::read_to_string(&path)?) {
            structs.insert(format!("{}::{name}", module(root, folder)?), found);
        }
    }
    Ok(())
}

/// `api::core::v1`.
fn module(root: &Path, folder: &Path) -> Result<String> {
    Ok(folder.strip_prefix(root)?.to_string_lossy().replace('/', "::"))
}

/// The struct of a file, if it has one with fields and a default. A time that is required has none.
fn parse(text: &str) -> Option<(String, Struct)> {
    let mut lines = text.lines();
    lines.find(|line| line.starts_with("#[derive(") && line.contains("Default"))?;
    let name = lines.next()?.strip_prefix("pub struct ")?.strip_suffix(" {")?;
    let mut found = Struct {
        is_kind: text.contains(&format!("impl crate::Resource for {name} ")),
        ..Struct::default()
    };
    let mut kinds = BTreeMap::new();
    for line in lines.by_ref().take_while(|line| *line != "}") {
        if let Some((field, kind)) = line
            .trim_start()
            .strip_prefix("pub ")
            .and_then(|field| field.split_once(": "))
        {
            kinds.insert(field, short(kind.trim_end_matches(',')));
        }
    }
    for line in lines {
        // "hostIP" => Field::Key_host_ip,
        let Some((json, field)) = line.trim_start().split_once(" => Field::Key_") else {
            continue;
        };
        let field = field.trim_end_matches(',');
        if let (Some(json), Some(kind)) = (
            json.strip_prefix('"').and_then(|json| json.strip_suffix('"')),
            kinds.get(field),
        ) {
            let (name, kind) = (field.to_owned(), kind.clone());
            found.fields.insert(json.to_owned(), Field { name, kind });
        }
    }
    found.is_kind &= !found.fields.contains_key("apiVersion");
    Some((name.to_owned(), found))
}

/// A type without the paths that need none.
fn short(kind: &str) -> String {
    let paths = [
        "std::string::",
        "std::vec::",
        "std::collections::",
        "std::boxed::",
        "crate::",
    ];
    paths
        .iter()
        .fold(kind.to_owned(), |kind, path| kind.replace(path, ""))
}
