//! Where things are, and how commands are run.

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How a step that did not fail ended.
pub(crate) enum Outcome {
    /// It was checked.
    Passed,
    /// It could not be checked on this machine, and why.
    NotRun(String),
}

/// The workspace's root.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is a folder of the workspace")
}

/// What is kept between runs, outside of the checkout.
pub(crate) fn cache() -> PathBuf {
    std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".cache")))
        .unwrap_or_else(std::env::temp_dir)
        .join("kube-informer")
}

/// A folder outside of the checkout, where cargo finds neither this workspace nor its `.cargo/config.toml`. Each
/// checkout has its own.
pub(crate) fn outside() -> PathBuf {
    let mut hasher = DefaultHasher::new();
    root().hash(&mut hasher);
    cache().join(format!("outside-{:016x}", hasher.finish()))
}

/// A target folder of its own for builds that would otherwise invalidate each other's.
pub(crate) fn target(name: &str) -> PathBuf {
    target_root().join(name)
}

/// The target folder of the workspace.
pub(crate) fn target_root() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// A command at the workspace's root.
///
/// What `cargo run` says of this program to it is not passed on: build scripts that look at such variables, as ring's does, would run again after
/// each `cargo` of one's own, and with them all that depends on it.
pub(crate) fn command(program: &str, arguments: &str) -> Command {
    let mut command = Command::new(program);
    command.args(arguments.split_whitespace()).current_dir(root());
    let given = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in given {
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
    command
}

/// A cargo command at the workspace's root.
pub(crate) fn cargo(arguments: &str) -> Command {
    command("cargo", arguments)
}

/// A program of the workspace, as the step `test` has built it for its package's tests `tests`. Built by itself, its dependencies would have
/// other features, and be built once more.
pub(crate) fn program_of_tests(name: &str, tests: &str) -> Result<PathBuf> {
    run(&mut cargo(&format!(
        "test --locked --quiet --workspace --test {tests} --no-run"
    )))?;
    Ok(target_root().join("debug").join(name))
}

/// A cargo command with another toolchain, which must be [installed](has_toolchain).
pub(crate) fn cargo_of(toolchain: &str, arguments: &str) -> Command {
    let mut command = command("rustup", &format!("run {toolchain} cargo"));
    command.args(arguments.split_whitespace());
    command
}

/// A cargo command as a user of the crates runs it: outside of the checkout, without its configuration.
pub(crate) fn cargo_outside(folder: &Path, arguments: &str) -> Command {
    let mut command = cargo(arguments);
    command
        .current_dir(folder)
        .env_remove("K8S_OPENAPI_ENABLED_VERSION")
        .env("CARGO_TARGET_DIR", target("outside"));
    command
}

/// Prints and runs a command, which must succeed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    println!("$ {}", shown(command));
    let status = command
        .status()
        .with_context(|| format!("cannot run {}", shown(command)))?;
    if !status.success() {
        bail!("`{}` failed: {status}", shown(command));
    }
    Ok(())
}

/// Runs a command, which must succeed, and returns what it prints.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command
        .output()
        .with_context(|| format!("cannot run {}", shown(command)))?;
    if !output.status.success() {
        bail!(
            "`{}` failed: {}",
            shown(command),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Whether a command can be run, and succeeds.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// Whether a toolchain is there, if need be after installing it.
pub(crate) fn has_toolchain(version: &str) -> bool {
    succeeds(&mut cargo_of(version, "--version"))
        || succeeds(&mut command(
            "rustup",
            &format!("toolchain install {version} --profile minimal"),
        ))
}

/// The workspace's packages that are published, as `cargo metadata` describes them.
pub(crate) fn published() -> Result<Vec<Value>> {
    Ok(metadata()?
        .into_iter()
        .filter(|package| package["publish"].is_null())
        .collect())
}

fn metadata() -> Result<Vec<Value>> {
    let mut metadata: Value = serde_json::from_str(&output(&mut cargo(
        "metadata --no-deps --format-version 1 --locked",
    ))?)?;
    match metadata["packages"].take() {
        Value::Array(packages) => Ok(packages),
        _ => bail!("`cargo metadata` lists no packages"),
    }
}

/// A string of `cargo metadata`.
pub(crate) fn text<'a>(package: &'a Value, field: &str) -> &'a str {
    package[field].as_str().unwrap_or_default()
}

fn shown(command: &Command) -> String {
    let mut shown = String::new();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            shown += &format!("{}={} ", name.display(), value.display());
        }
    }
    shown += &command.get_program().display().to_string();
    for argument in command.get_args() {
        shown += &format!(" {}", argument.display());
    }
    shown
}
