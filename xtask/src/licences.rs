//! cargo-deny, from crates.io, kept between runs; `deny.toml` says what it allows.

use crate::workspace::{Outcome, cache, cargo, command, root, run, succeeds, target};
use anyhow::Result;
use std::path::PathBuf;
use std::process::Command;

const VERSION: &str = "0.20.2";

/// Licences, sources and versions of the dependencies. Once they are downloaded this needs no network.
pub(crate) fn check() -> Result<Outcome> {
    let Some(deny) = installed() else {
        return Ok(not_installed());
    };
    run(&mut cargo("fetch --locked"))?;
    let arguments = "--offline --locked --all-features check licenses sources bans";
    run(Command::new(deny).current_dir(root()).args(arguments.split(' ')))?;
    Ok(Outcome::Passed)
}

/// Known faults of the dependencies, and withdrawn versions of them.
pub(crate) fn advisories() -> Result<Outcome> {
    let Some(deny) = installed() else {
        return Ok(not_installed());
    };
    let deny = |arguments: &str| {
        let mut command = Command::new(&deny);
        command.current_dir(root()).args(arguments.split(' '));
        command
    };
    if !succeeds(&mut deny("--locked fetch db")) {
        return Ok(Outcome::NotRun("the advisory database cannot be fetched".into()));
    }
    run(&mut deny("--locked --all-features check advisories"))?;
    Ok(Outcome::Passed)
}

fn not_installed() -> Outcome {
    Outcome::NotRun(format!("cargo-deny {VERSION} cannot be installed"))
}

fn installed() -> Option<PathBuf> {
    let folder = cache().join(format!("cargo-deny-{VERSION}"));
    let deny = folder.join("bin/cargo-deny");
    let works = || succeeds(Command::new(&deny).arg("--version"));
    if !works() {
        println!("cargo-deny {VERSION} is built, which takes some minutes");
        // Without optimization it is built in a third of the time, and checks in seconds all the same.
        let mut install = command(
            "cargo",
            "install cargo-deny --debug --locked --no-default-features --quiet",
        );
        install.args(["--version", VERSION, "--root"]).arg(&folder);
        succeeds(install.env("CARGO_TARGET_DIR", target("cargo-deny")));
    }
    works().then_some(deny)
}
