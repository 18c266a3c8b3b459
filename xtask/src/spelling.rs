//! codespell, from PyPI, in a virtual environment that is kept between runs.

use crate::workspace::{Outcome, cache, command, output, root, succeeds};
use anyhow::{Result, ensure};
use std::path::PathBuf;
use std::process::Command;

const VERSION: &str = "2.4.3";

/// Words of Kubernetes, of names of crates and of tests (cut-off JSON), which codespell takes for mistakes.
const WORDS: &str = "notin,ratatui,ded,ect,tru,nd,alpha-numeric,atleast,requestor,ser";

/// Files that nobody writes by hand: locks, lists of public items, tables, and what was recorded from Kubernetes.
const GENERATED: [&str; 10] = [
    ":!api",
    ":!*.lock",
    ":!*go.sum",
    ":!conformance/recorded",
    ":!crates/kube-protobuf/src/tables*",
    ":!crates/kube-protobuf/src/typed/generated*",
    ":!crates/kube-sim/src/schema/builtin.tsv",
    ":!crates/kube-protobuf/tests/go/recorded.jsonl",
    ":!fuzz/seeds/protobuf",
    ":!conformance/table/answers.jsonl",
];

/// Checks all files that are written by hand.
pub(crate) fn check() -> Result<Outcome> {
    let Some(codespell) = installed() else {
        return Ok(Outcome::NotRun(format!(
            "codespell {VERSION} cannot be installed: it needs python3 with venv"
        )));
    };
    let files = output(command("git", "ls-files --cached --others --exclude-standard -- .").args(GENERATED))?;
    let status = Command::new(codespell)
        .current_dir(root())
        .args(["--ignore-words-list", WORDS])
        .args(files.lines())
        .status()?;
    ensure!(status.success(), "these words are misspelt");
    Ok(Outcome::Passed)
}

fn installed() -> Option<PathBuf> {
    let folder = cache().join(format!("codespell-{VERSION}"));
    let codespell = folder.join("bin/codespell");
    let works = || succeeds(Command::new(&codespell).arg("--version"));
    if !works() {
        succeeds(
            Command::new("python3")
                .args(["-m", "venv", "--clear"])
                .arg(&folder),
        );
        succeeds(Command::new(folder.join("bin/pip")).args([
            "install",
            "--quiet",
            &format!("codespell=={VERSION}"),
        ]));
    }
    works().then_some(codespell)
}
