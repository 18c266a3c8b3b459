//! The public items of each library, which are kept in `api/`, so that a change of them is seen in review.
//!
//! The list is made from rustdoc's JSON, whose format changes from version to version. So it is always made by the one
//! toolchain whose format the `public-api` crate of `Cargo.lock` reads.

use crate::workspace::{Outcome, cargo_of, has_toolchain, output, outside, root, run, target_root};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The toolchain that writes the format which `public-api` reads. Raise both together.
const TOOLCHAIN: &str = "1.95.0";

const LIBRARIES: [&str; 5] = [
    "kube-controller",
    "kube-informer",
    "kube-protobuf",
    "kube-sim",
    "kube-workqueue",
];

/// Compares the lists with the code.
pub(crate) fn check() -> Result<Outcome> {
    lists(|library, list| {
        let new = outside().join(format!("{library}.txt"));
        fs::write(&new, list)?;
        let old = file(library);
        if fs::read_to_string(&old).unwrap_or_default() == list {
            return Ok(());
        }
        // Fails when the files differ, as they do.
        let _ = run(Command::new("git")
            .args(["--no-pager", "diff", "--no-index", "-U0"])
            .arg(&old)
            .arg(&new));
        bail!(
            "the public items of {library} have changed; if they should, run `cargo xtask api --update` and commit api/"
        );
    })
}

/// Writes the lists.
pub(crate) fn update() -> Result<Outcome> {
    lists(|library, list| Ok(fs::write(file(library), list)?))
}

fn file(library: &str) -> PathBuf {
    root().join("api").join(format!("{library}.txt"))
}

fn lists(each: impl Fn(&str, &str) -> Result<()>) -> Result<Outcome> {
    if !has_toolchain(TOOLCHAIN) {
        return Ok(Outcome::NotRun(format!("Rust {TOOLCHAIN} cannot be installed")));
    }
    let rustdoc = unstable_rustdoc()?;
    for library in LIBRARIES {
        let json = rustdoc_json(&rustdoc, library)?;
        let api = public_api::Builder::from_rustdoc_json(&json)
            .omit_blanket_impls(true)
            .omit_auto_trait_impls(true)
            .omit_auto_derived_impls(true)
            .build()
            .with_context(|| format!("cannot read {}", json.display()))?;
        each(library, &format!("{api}"))?;
    }
    Ok(Outcome::Passed)
}

fn rustdoc_json(rustdoc: &Path, library: &str) -> Result<PathBuf> {
    let arguments = format!(
        "rustdoc --locked -p {library} --lib --all-features -- -Z unstable-options --output-format json"
    );
    run(cargo_of(TOOLCHAIN, &arguments).env("RUSTDOC", rustdoc))?;
    Ok(target_root()
        .join("doc")
        .join(format!("{}.json", library.replace('-', "_"))))
}

/// A rustdoc that takes unstable options. Set for all of cargo, `RUSTC_BOOTSTRAP` would also change how dependencies are
/// built.
fn unstable_rustdoc() -> Result<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let rustdoc = output(Command::new("rustup").args(["which", "rustdoc", "--toolchain", TOOLCHAIN]))?;
    let folder = outside();
    fs::create_dir_all(&folder)?;
    let script = folder.join("rustdoc");
    fs::write(
        &script,
        format!("#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec '{}' \"$@\"\n", rustdoc.trim()),
    )?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    Ok(script)
}
