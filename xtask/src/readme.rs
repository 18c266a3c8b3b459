//! The code in the READMEs and the programs in the guides compile for somebody who copies them: in a crate outside of the workspace,
//! with just the dependencies that the page names.
//!
//! Other blocks of a guide are doctests, whose hidden lines nobody would copy. A block that says that it is of Rust with a `main` is a whole program. Any other is the inside of an async function that may use `?`; where
//! kube-informer is among the dependencies, it has a `client` and a `factory`.
//!
//! So does a project that `cargo generate` makes from `examples/sample-controller`.

use crate::workspace::{Outcome, cargo_outside, outside, program_of_tests, published, root, run, text};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Compiles the code of all READMEs and guides and a generated project, and runs the first program of the one at the root against the simulator.
pub(crate) fn check() -> Result<Outcome> {
    let packages = published()?;
    let mut patches = String::from("[patch.crates-io]\n");
    for package in &packages {
        let folder = Path::new(text(package, "manifest_path"))
            .parent()
            .context("a manifest in no folder")?;
        patches += &format!(
            "{} = {{ path = '{}' }}\n",
            text(package, "name"),
            folder.display()
        );
    }
    let first = checked("kube-informer-readme", &root().join("README.md"), &patches)?
        .context("README.md has no dependencies")?;
    for package in &packages {
        let name = text(package, "name");
        checked(
            &format!("{name}-crate-readme"),
            &root().join("crates").join(name).join("README.md"),
            &patches,
        )?;
        for guide in guides(&root().join("crates").join(name).join("src/guide"))? {
            let page = guide.file_stem().unwrap_or_default().to_string_lossy();
            checked(&format!("{name}-guide-{page}"), &guide, &patches)?;
        }
    }
    generated(
        "my-controller",
        &root().join("examples/sample-controller"),
        &patches,
    )?;
    against_simulator(&first)?;
    Ok(Outcome::Passed)
}

/// The pages of a guide, if there is one.
fn guides(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let pages = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut pages = pages.collect::<Result<Vec<_>>>()?;
    pages.sort();
    Ok(pages)
}

/// Checks a project with this name from a template, as `cargo generate` makes it.
fn generated(name: &str, template: &Path, patches: &str) -> Result<()> {
    let folder = outside().join(name);
    let _ = fs::remove_dir_all(&folder);
    copy(template, &folder)?;
    let manifest = fs::read_to_string(folder.join("Cargo.toml.liquid"))?;
    let manifest = manifest.replace("{{project-name}}", name);
    fs::write(
        folder.join("Cargo.toml"),
        format!("{manifest}\n{patches}\n[workspace]\n"),
    )?;
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    run(&mut cargo_outside(&folder, "check --quiet --all-targets"))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &to)?,
            false => fs::copy(entry.path(), to).map(drop)?,
        }
    }
    Ok(())
}

/// Checks a README's code, if it has any, and returns the folder of the crate.
fn checked(name: &str, readme: &Path, patches: &str) -> Result<Option<PathBuf>> {
    let text = fs::read_to_string(readme).with_context(|| format!("cannot read {}", readme.display()))?;
    let programs = blocks(&text, "rust");
    let Some(dependencies) = blocks(&text, "toml")
        .into_iter()
        .find(|block| block.contains("[dependencies]"))
    else {
        if programs.is_empty() {
            return Ok(None);
        }
        bail!(
            "{} has code, but no block with its [dependencies]",
            readme.display()
        );
    };
    let folder = outside().join(name);
    let _ = fs::remove_dir_all(&folder);
    // Examples may use the dependencies of tests, which some pages are about.
    fs::create_dir_all(folder.join("examples"))?;
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("src/lib.rs"), "")?;
    let package =
        format!("[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n");
    fs::write(
        folder.join("Cargo.toml"),
        format!("{package}\n{dependencies}\n{patches}\n[workspace]\n"),
    )?;
    // The same versions as in the workspace, so that a run does not depend on its day.
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    for (at, code) in programs.iter().enumerate() {
        let with_informer = dependencies.contains("kube-informer =");
        fs::write(
            folder.join(format!("examples/block-{}.rs", at + 1)),
            program(code, with_informer),
        )?;
    }
    run(&mut cargo_outside(&folder, "check --quiet --examples"))?;
    Ok(Some(folder))
}

fn program(code: &str, with_informer: bool) -> String {
    if code.contains("fn main()") {
        return code.to_owned();
    }
    let given = if with_informer {
        "let client = kube::Client::try_default().await?;\n\
         let factory = kube_informer::SharedInformerFactory::new(client.clone());\n"
    } else {
        ""
    };
    format!(
        "#![allow(unused)]\n#[tokio::main]\nasync fn main() -> Result<(), Box<dyn std::error::Error>> {{\n\
         {given}{code}\nOk(())\n}}\n"
    )
}

/// The blocks of a language, in order, whatever rustdoc is told of them (`rust,no_run`).
fn blocks(markdown: &str, language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = markdown.lines();
    while let Some(line) = lines.next() {
        if let Some(found) = line.strip_prefix("```") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            if found.split(',').next() == Some(language) {
                blocks.push(block.join("\n") + "\n");
            }
        }
    }
    blocks
}

/// Runs the first program with a cluster of 200 pods.
fn against_simulator(folder: &Path) -> Result<()> {
    let program = program_of_tests("kube-sim", "server")?;
    let kubeconfig = outside().join("kubeconfig.json");
    let _ = fs::remove_file(&kubeconfig);
    let mut simulator = Simulator::start(&program, &kubeconfig)?;
    simulator.wait(&kubeconfig)?;
    run(cargo_outside(folder, "run --quiet --example block-1")
        .env("KUBECONFIG", &kubeconfig)
        .stdout(Stdio::null()))
}

/// The simulator's process, which ends with this value.
struct Simulator(Child);

impl Simulator {
    fn start(program: &Path, kubeconfig: &Path) -> Result<Self> {
        let child = Command::new(program)
            .args(["--pods", "200", "--kubeconfig"])
            .arg(kubeconfig)
            .stdout(Stdio::null())
            .spawn()
            .context("cannot run kube-sim")?;
        Ok(Self(child))
    }

    fn wait(&mut self, kubeconfig: &Path) -> Result<()> {
        let patience = Instant::now() + Duration::from_secs(60);
        while !kubeconfig.exists() {
            if let Some(status) = self.0.try_wait()? {
                bail!("kube-sim ended: {status}");
            }
            if Instant::now() > patience {
                bail!("kube-sim did not start within a minute");
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
