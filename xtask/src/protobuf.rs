//! The tables of `kube-protobuf`: what Kubernetes' protobuf messages are in JSON.
//!
//! They are made from the Go modules of one Kubernetes release: the `.proto` files say which fields a message has, the
//! struct tags of the Go sources say what becomes of each in JSON. For a new release, raise
//! `K8S_OPENAPI_ENABLED_VERSION` and run `cargo xtask protobuf`: what the generator does not understand ends it with an
//! error, and `conformance/protobuf` compares the result with what Go does.
//!
//! From the same model and the sources of k8s-openapi, the code is made that reads its structs (`typed`). It is as long as the tables: a
//! line for each field of each struct, of alpha and beta versions, too.

mod golang;
mod openapi;
mod schema;
mod tables;
mod typed;

use crate::workspace::{Outcome, command, output, root, succeeds};
use anyhow::{Context as _, Result, bail};
use schema::Package;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The Go modules, and the folder of each in which messages are.
const MODULES: [(&str, &str); 4] = [
    ("k8s.io/api", ""),
    ("k8s.io/apimachinery", "pkg"),
    ("k8s.io/apiextensions-apiserver", "pkg/apis"),
    ("k8s.io/kube-aggregator", "pkg/apis"),
];

/// Packages that no API server serves, and `runtime.schema`, which has no messages.
const LEFT_OUT: [&str; 2] = ["/testapigroup/", "/runtime/schema/"];

/// Writes the tables.
pub(crate) fn update() -> Result<Outcome> {
    if !succeeds(&mut command("go", "version")) {
        return Ok(Outcome::NotRun(
            "the tables are made from Go modules, and Go is not here".into(),
        ));
    }
    let mut packages = Vec::new();
    let mut versions = Vec::new();
    for (module, folder) in MODULES {
        let (version, path) = download(module)?;
        let mut files = Vec::new();
        collect_proto_files(&path.join(folder), &mut files)?;
        files.sort();
        for file in files {
            packages.push(Package::read(&file).with_context(|| format!("cannot read {}", file.display()))?);
        }
        versions.push(format!("{module} {version}"));
    }
    let versions = versions.join(", ");
    let sources = root().join("crates/kube-protobuf/src");
    tables::source(&packages, &versions)?.write(&sources.join("tables"))?;
    typed::source(&packages, &versions)?.write(&sources.join("typed/generated"))?;
    Ok(Outcome::Passed)
}

/// A module of generated code, with one of its own for each package.
struct Generated {
    root: String,
    packages: Vec<(String, String)>,
}

impl Generated {
    /// Writes the module, which is `FOLDER.rs`, and its modules in the folder, in which nothing else is.
    fn write(&self, folder: &Path) -> Result<()> {
        let mut files = vec![(folder.with_extension("rs"), &self.root)];
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir(folder)?;
        let packages = self.packages.iter();
        files.extend(packages.map(|(name, text)| (folder.join(format!("{name}.rs")), text)));
        for (file, text) in files {
            fs::write(&file, text.trim_end().to_owned() + "\n")?;
        }
        println!("{} is written", folder.display());
        Ok(())
    }
}

/// The newest patch release of a module for the newest Kubernetes version that k8s-openapi has, and its folder in Go's
/// cache.
fn download(module: &str) -> Result<(String, PathBuf)> {
    let minor = kubernetes_minor()?;
    let answer = output(&mut command(
        "go",
        &format!("mod download -json {module}@v0.{minor}"),
    ))?;
    let answer: Value = serde_json::from_str(&answer)?;
    match (&answer["Version"], &answer["Dir"]) {
        (Value::String(version), Value::String(dir)) => Ok((version.clone(), dir.into())),
        _ => bail!("`go mod download` says neither a version nor a folder of {module}"),
    }
}

/// 37 for `K8S_OPENAPI_ENABLED_VERSION = "1.37"`.
fn kubernetes_minor() -> Result<String> {
    let config = fs::read_to_string(root().join(".cargo/config.toml"))?;
    config
        .lines()
        .find_map(|line| line.strip_prefix("K8S_OPENAPI_ENABLED_VERSION = \"1."))
        .and_then(|rest| rest.strip_suffix('"'))
        .map(str::to_owned)
        .context(".cargo/config.toml has no K8S_OPENAPI_ENABLED_VERSION")
}

fn collect_proto_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect_proto_files(&path, files)?;
        } else if path.ends_with("generated.proto")
            && !LEFT_OUT.iter().any(|part| path.to_string_lossy().contains(part))
        {
            files.push(path);
        }
    }
    Ok(())
}
