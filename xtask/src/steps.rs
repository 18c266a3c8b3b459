//! The steps, in the order in which CI runs them: what is cheap and fails often comes first.

use crate::workspace::{
    Outcome, cargo, cargo_of, command, has_toolchain, program_of_tests, published, root, run, succeeds,
    target, target_root, text,
};
use crate::{api, costs, features, licences, package, protobuf, readme, spelling};
use anyhow::{Context as _, Result, bail};
use std::fs::File;
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

struct Step {
    name: &'static str,
    about: &'static str,
    run: fn() -> Result<Outcome>,
    /// CI runs it beside the steps after it, because it keeps one processor busy and does not look at the clock.
    beside: bool,
}

const STEPS: &[Step] = &[
    step("fmt", "formatting", fmt),
    step(
        "spelling",
        "codespell on everything that is written by hand",
        spelling::check,
    ),
    step(
        "licences",
        "licences, sources and versions of the dependencies",
        licences::check,
    ),
    step(
        "advisories",
        "known faults of the dependencies",
        licences::advisories,
    ),
    step("clippy", "lints of all targets with all features", clippy),
    step("doc", "documentation, without warnings", doc),
    step(
        "api",
        "the libraries' public items are those of api/*.txt; --update writes them",
        api::check,
    ),
    step("test", "all tests of the workspace", test),
    step(
        "loom",
        "every interleaving of the work queue's lock and wake-ups",
        loom,
    ),
    Step {
        beside: true,
        ..step(
            "costs",
            "instructions and allocations of the hot paths are those of bench/costs/COSTS.md; --update writes them",
            costs::check,
        )
    },
    step(
        "features",
        "each combination of two cargo features, and the oldest Kubernetes version",
        features::check,
    ),
    step("msrv", "the oldest supported Rust", msrv),
    step(
        "outside",
        "bench/ and fuzz/, which stand outside of the workspace",
        outside,
    ),
    step(
        "package",
        "what is published, and its documentation as docs.rs builds it",
        package::check,
    ),
    step(
        "readme",
        "the code in the READMEs and a project from the template, with just their dependencies",
        readme::check,
    ),
    step("demo", "the demo, for five seconds", demo),
    step(
        "conformance",
        "what only a real API server can prove",
        conformance,
    ),
];

const fn step(name: &'static str, about: &'static str, run: fn() -> Result<Outcome>) -> Step {
    Step {
        name,
        about,
        run,
        beside: false,
    }
}

/// Runs what the command line asks for: nothing (a list), `ci`, `publish-dry-run`, `api --update`, `costs --update`, `man`, `protobuf`, or any steps.
pub(crate) fn run_arguments(arguments: &[String]) -> Result<()> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => list(),
        ["ci"] => all()?,
        ["publish-dry-run"] => package::publish_dry_run()?,
        ["api", "--update"] => report("api", api::update()?),
        ["costs", "--update"] => report("costs", costs::update()?),
        ["man"] => report("man", man()?),
        ["protobuf"] => report("protobuf", protobuf::update()?),
        _ => {
            for name in arguments {
                report(name, timed(named(name)?)?.0);
            }
        }
    }
    Ok(())
}

fn list() {
    println!("cargo xtask STEP...              runs these steps");
    println!(
        "cargo xtask ci                   runs all, in this order; .ci/run installs what they need first"
    );
    println!("cargo xtask api --update         writes the lists of public items");
    println!("cargo xtask costs --update       writes what the hot paths cost");
    println!("cargo xtask man                  writes the manual pages of kubectl-informer to target/man");
    println!("cargo xtask protobuf             writes kube-protobuf's tables from Kubernetes' Go modules");
    println!("cargo xtask publish-dry-run      publishes all crates, except for the upload\n");
    for step in STEPS {
        println!("{:12} {}", step.name, step.about);
    }
}

fn named(name: &str) -> Result<&'static Step> {
    STEPS
        .iter()
        .find(|step| step.name == name)
        .with_context(|| format!("there is no step `{name}`; `cargo xtask` lists them"))
}

fn all() -> Result<()> {
    let (mut ended, mut beside) = (Vec::new(), Vec::new());
    let mut one = |step: &'static Step| -> Result<()> {
        match step.beside {
            true => beside.push(Beside::start(step)?),
            false => ended.push((step.name, timed(step)?)),
        }
        Ok(())
    };
    let result = STEPS.iter().try_for_each(&mut one);
    // Whatever failed, nothing is left behind.
    let joined: Vec<Result<()>> = beside.into_iter().map(Beside::join).collect();
    result?;
    joined.into_iter().collect::<Result<()>>()?;
    println!("\n== all steps");
    for (name, (outcome, took)) in ended {
        println!("{:>5} s  {name}", took.as_secs());
        report(name, outcome);
    }
    Ok(())
}

/// A step in a process of its own.
struct Beside {
    step: &'static Step,
    process: Child,
    /// What it prints.
    printed: PathBuf,
}

impl Beside {
    fn start(step: &'static Step) -> Result<Self> {
        let printed = target_root().join(format!("{}.log", step.name));
        let file = File::create(&printed).with_context(|| format!("cannot write {}", printed.display()))?;
        let process = command(&std::env::current_exe()?.to_string_lossy(), step.name)
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()?;
        Ok(Self {
            step,
            process,
            printed,
        })
    }

    /// Waits for its end, and prints what it has printed.
    fn join(mut self) -> Result<()> {
        let status = self.process.wait()?;
        print!("{}", std::fs::read_to_string(&self.printed)?);
        if !status.success() {
            bail!("step `{}`: {status}", self.step.name);
        }
        Ok(())
    }
}

fn report(name: &str, outcome: Outcome) {
    if let Outcome::NotRun(why) = outcome {
        println!("NOT RUN: {name}: {why}");
    }
}

fn timed(step: &Step) -> Result<(Outcome, Duration)> {
    println!("\n== {}: {}", step.name, step.about);
    let started = Instant::now();
    let outcome = (step.run)().with_context(|| format!("step `{}`", step.name))?;
    Ok((outcome, started.elapsed()))
}

/// Runs commands of cargo; the step has passed if all succeed.
fn cargo_all(commands: &[&str]) -> Result<Outcome> {
    for arguments in commands {
        run(&mut cargo(arguments))?;
    }
    Ok(Outcome::Passed)
}

fn fmt() -> Result<Outcome> {
    cargo_all(&["fmt --all --check"])
}

fn clippy() -> Result<Outcome> {
    cargo_all(&["clippy --workspace --all-targets --all-features --locked -- -D warnings"])
}

fn doc() -> Result<Outcome> {
    for choice in [
        "--workspace --all-features",
        "-p kube-informer --no-default-features",
    ] {
        let doc = format!("doc --no-deps --locked {choice}");
        run(cargo(&doc).env("RUSTDOCFLAGS", "-D warnings"))?;
    }
    Ok(Outcome::Passed)
}

fn test() -> Result<Outcome> {
    // More tests at once than processors, because many wait most of the time.
    let threads = std::thread::available_parallelism().map_or(4, |processors| 2 * processors.get());
    // --all-targets would leave out the documentation's examples; the programs of examples/ are built with the tests.
    run(cargo("test --workspace --locked").env("RUST_TEST_THREADS", threads.to_string()))?;
    Ok(Outcome::Passed)
}

fn loom() -> Result<Outcome> {
    run(cargo("test -p kube-workqueue --release --lib --locked loom")
        .env("RUSTFLAGS", "--cfg loom")
        .env("CARGO_TARGET_DIR", target("loom")))?;
    Ok(Outcome::Passed)
}

fn msrv() -> Result<Outcome> {
    let packages = published()?;
    let version = text(packages.first().context("nothing is published")?, "rust_version");
    if !has_toolchain(version) {
        return Ok(Outcome::NotRun(format!("Rust {version} cannot be installed")));
    }
    let mut check = cargo_of(version, "check --locked --all-features");
    for package in &packages {
        check.args(["-p", text(package, "name")]);
    }
    run(check.env("CARGO_TARGET_DIR", target("msrv")))?;
    Ok(Outcome::Passed)
}

fn outside() -> Result<Outcome> {
    for manifest in ["bench/Cargo.toml", "fuzz/Cargo.toml"] {
        run(
            cargo("check --workspace --all-targets --locked --quiet --manifest-path")
                .arg(manifest)
                .env("CARGO_TARGET_DIR", target_root()),
        )?;
    }
    Ok(Outcome::Passed)
}

fn demo() -> Result<Outcome> {
    // Not with --release: that would build everything once more for five seconds of work.
    let program = program_of_tests("kubectl-informer", "cli")?;
    run(command(&program.to_string_lossy(), "demo --for 5s").current_dir(root()))?;
    Ok(Outcome::Passed)
}

fn man() -> Result<Outcome> {
    let folder = target("man");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    run(cargo("run --locked -- __man").arg(&folder))?;
    Ok(Outcome::Passed)
}

fn conformance() -> Result<Outcome> {
    if !succeeds(&mut command("go", "version")) {
        return Ok(Outcome::NotRun(
            "conformance/run needs Go, which is not here".into(),
        ));
    }
    // The tests of the workspace have run on the simulator already.
    run(&mut command("conformance/run", "--real --locked"))?;
    Ok(Outcome::Passed)
}
