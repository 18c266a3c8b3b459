//! What is published: the files of each package, and its documentation as docs.rs builds it.

use crate::workspace::{
    Outcome, cargo, cargo_outside, command, output, outside, published, run, target, target_root, text,
};
use anyhow::{Result, bail, ensure};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// What may be in a package, besides its sources.
const FILES: [&str; 6] = [
    ".cargo_vcs_info.json",
    "Cargo.lock",
    "Cargo.toml",
    "Cargo.toml.orig",
    "LICENSE",
    "README.md",
];

/// Checks metadata and contents of each package, then builds the documentation of the libraries.
pub(crate) fn check() -> Result<Outcome> {
    let packages = published()?;
    for package in &packages {
        has_metadata(package)?;
        has_just_its_files(text(package, "name"))?;
    }
    let mut package_all = cargo("package --locked --no-verify --allow-dirty --quiet");
    let mut patches = String::from("[patch.crates-io]\n");
    let folder = outside().join("packages");
    fs::create_dir_all(&folder)?;
    for package in &packages {
        let (name, version) = (text(package, "name"), text(package, "version"));
        package_all.args(["-p", name]);
        patches += &format!("{name} = {{ path = '{}/{name}-{version}' }}\n", folder.display());
    }
    run(&mut package_all)?;
    for package in &packages {
        let archive = format!("{}-{}", text(package, "name"), text(package, "version"));
        let _ = fs::remove_dir_all(folder.join(&archive));
        let archive = target_root().join("package").join(archive + ".crate");
        // `m`: archives have one fixed time, by which cargo would not see that a package has changed.
        run(command("tar", "-xzmf").arg(archive).arg("-C").arg(&folder))?;
    }
    // Each package stands for itself, with those of this folder in the place of crates.io's.
    fs::create_dir_all(folder.join(".cargo"))?;
    fs::write(folder.join(".cargo/config.toml"), patches)?;
    for package in packages.iter().filter(|package| is_library(package)) {
        document(
            &folder.join(format!("{}-{}", text(package, "name"), text(package, "version"))),
            package,
        )?;
    }
    Ok(Outcome::Passed)
}

/// Does all that publishing does, but for the upload: each package is built from its archive, in the order in which
/// they need each other.
pub(crate) fn publish_dry_run() -> Result<()> {
    let mut publish = cargo("publish --dry-run --locked");
    // One folder for all; otherwise each package builds the dependencies again.
    publish.env("CARGO_TARGET_DIR", target("publish"));
    for package in published()? {
        publish.args(["-p", text(&package, "name")]);
    }
    run(&mut publish)
}

fn is_library(package: &Value) -> bool {
    let targets = package["targets"].as_array();
    targets.into_iter().flatten().any(|target| {
        let kinds = target["kind"].as_array();
        kinds
            .into_iter()
            .flatten()
            .any(|kind| kind == "lib" || kind == "proc-macro")
    })
}

/// As <https://docs.rs/about/metadata> says, except for the toolchain: docs.rs has a nightly one.
fn document(folder: &Path, package: &Value) -> Result<()> {
    let wanted = &package["metadata"]["docs"]["rs"];
    let mut doc = cargo_outside(folder, "doc --no-deps --lib --quiet");
    doc.env("RUSTDOCFLAGS", "-D warnings");
    if wanted["all-features"] == true {
        doc.arg("--all-features");
    }
    for feature in wanted["features"].as_array().into_iter().flatten() {
        doc.arg("--features").arg(feature.as_str().unwrap_or_default());
    }
    run(&mut doc)
}

/// crates.io takes at most five keywords and five categories, and wants a description and a licence.
fn has_metadata(package: &Value) -> Result<()> {
    let name = text(package, "name");
    for field in ["description", "license", "repository", "readme", "rust_version"] {
        ensure!(
            !text(package, field).is_empty(),
            "{name}: its manifest has no {field}"
        );
    }
    for field in ["keywords", "categories"] {
        let count = package[field].as_array().map_or(0, Vec::len);
        ensure!(
            (1..=5).contains(&count),
            "{name}: its manifest has {count} {field}"
        );
    }
    Ok(())
}

fn has_just_its_files(name: &str) -> Result<()> {
    let list = output(&mut cargo(&format!(
        "package --locked --allow-dirty --list -p {name}"
    )))?;
    for file in list.lines() {
        if !FILES.contains(&file) && !file.starts_with("src/") && !file.starts_with("examples/") {
            bail!("{name}: {file} has no place in the package");
        }
    }
    for wanted in ["LICENSE", "README.md"] {
        ensure!(
            list.lines().any(|file| file == wanted),
            "{name}: the package has no {wanted}"
        );
    }
    Ok(())
}
