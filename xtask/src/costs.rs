//! What the hot paths cost in instructions and allocations, held against what is recorded in `bench/costs/COSTS.md`.
//!
//! `bench/costs` runs the paths. It counts allocations itself; callgrind counts instructions. Wall time is not looked at, since it
//! depends on the machine and on what else runs there. What instructions depend on is recorded with them, and they are compared
//! only where it is the same; see [`Machine`]. Where it is not, the step compares allocations alone and says why.

mod callgrind;
mod table;

use crate::workspace::{Outcome, cargo, command, output, root, run, succeeds, target, target_root};
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use table::{Column, Cost, Machine, Row, Table};

const FILE: &str = "bench/costs/COSTS.md";
const UPDATE: &str = "cargo xtask costs --update";
/// The name of the function in `bench/costs` that runs each path.
const MEASURED: &str = "costs_measured";

/// Compares what the paths cost now with what is recorded.
pub(crate) fn check() -> Result<Outcome> {
    let text = fs::read_to_string(root().join(FILE)).with_context(|| format!("cannot read {FILE}"))?;
    let recorded = Table::parse(&text).with_context(|| format!("{FILE} is not as `{UPDATE}` writes it"))?;
    let program = build()?;
    let mut machine = machine()?;
    let mut rows = allocations(&program)?;
    let mut refusal = recorded.machine.refuses(Column::Instructions, &machine);
    if refusal.is_none() {
        refusal = instructions(&program, &mut machine, &mut rows)?
            .or_else(|| recorded.machine.refuses(Column::Instructions, &machine));
    }
    let now = Table { machine, rows };
    let judgement = table::compare(&recorded, &now);
    for line in &judgement.said {
        println!("{line}");
    }
    if !judgement.failures.is_empty() {
        bail!(
            "what these paths cost is not what is recorded:\n  {}\nIf it is meant, record it with `{UPDATE}`, and say why in \
             the commit. Where the instructions of a path are: bench/README.md.",
            judgement.failures.join("\n  ")
        );
    }
    Ok(match refusal {
        Some(why) => Outcome::NotRun(format!(
            "instructions, because {why}; allocations are as recorded"
        )),
        None => Outcome::Passed,
    })
}

/// Records what the paths cost now.
pub(crate) fn update() -> Result<Outcome> {
    let program = build()?;
    let mut machine = machine()?;
    let mut rows = allocations(&program)?;
    if let Some(why) = instructions(&program, &mut machine, &mut rows)? {
        bail!("instructions cannot be recorded here, because {why}");
    }
    fs::write(root().join(FILE), Table { machine, rows }.to_string())
        .with_context(|| format!("cannot write {FILE}"))?;
    Ok(Outcome::Passed)
}

fn build() -> Result<PathBuf> {
    let mut build = cargo("build --locked --manifest-path bench/Cargo.toml -p bench-costs --profile costs");
    build.env("CARGO_TARGET_DIR", target_root());
    // Other flags make another program.
    for flags in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CFLAGS"] {
        build.env_remove(flags);
    }
    run(&mut build)?;
    Ok(target("costs").join("costs"))
}

/// This machine, but for the processor, which the program tells.
fn machine() -> Result<Machine> {
    let verbose = output(&mut command("rustc", "-vV"))?;
    let version = verbose.lines().next().unwrap_or_default();
    let host = verbose
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap_or_default();
    let cc = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let c_compiler = output(Command::new(cc).arg("--version")).unwrap_or_default();
    Ok(Machine {
        rustc: format!("{version}, {host}"),
        c_compiler: c_compiler.lines().next().unwrap_or("none").to_owned(),
        processor: None,
    })
}

/// Runs the program alone.
fn allocations(program: &Path) -> Result<Vec<Row>> {
    let lines = lines(&output(&mut Command::new(program))?)?;
    lines
        .iter()
        .filter(|line| line["path"].is_string())
        .map(row)
        .collect()
}

fn row(line: &Value) -> Result<Row> {
    let number = |field: &str| {
        line[field]
            .as_f64()
            .with_context(|| format!("no number `{field}` in {line}"))
    };
    let operations = number("operations")?;
    Ok(Row {
        path: line["path"].as_str().context("no path")?.to_owned(),
        operations,
        cost: Cost {
            instructions: None,
            in_c: None,
            allocations: Some(number("allocations")? / operations),
            bytes: Some(number("bytes")? / operations),
        },
    })
}

fn lines(output: &str) -> Result<Vec<Value>> {
    output
        .lines()
        .map(|line| serde_json::from_str(line).with_context(|| format!("bench/costs printed {line}")))
        .collect()
}

/// Runs the program under callgrind and adds what it counted to the rows, or returns why that is not possible.
fn instructions(program: &Path, machine: &mut Machine, rows: &mut [Row]) -> Result<Option<String>> {
    if !machine.rustc.ends_with("x86_64-unknown-linux-gnu") {
        return Ok(Some("they are counted on x86_64-unknown-linux-gnu only".into()));
    }
    if !succeeds(&mut command("valgrind", "--version")) {
        return Ok(Some("valgrind is not here and could not be installed".into()));
    }
    let folder = target("costs").join("callgrind");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let mut callgrind = command(
        "valgrind",
        "--quiet --tool=callgrind --demangle=no --dump-line=no --combine-dumps=yes",
    );
    callgrind
        .arg(format!("--callgrind-out-file={}", folder.join("out").display()))
        .arg(format!("--toggle-collect={MEASURED}"))
        .arg(format!("--dump-after={MEASURED}"))
        .arg(program);
    let printed = lines(&output(&mut callgrind)?)?;
    let processor = printed.first().and_then(|line| line["processor"].as_str());
    machine.processor = Some(
        processor
            .context("bench/costs did not say what the processor can do")?
            .to_owned(),
    );
    // As callgrind writes it.
    let object = fs::canonicalize(program)?;
    let counted = callgrind::read(
        &fs::read_to_string(folder.join("out"))?,
        &object.to_string_lossy(),
        MEASURED,
    );
    if counted.len() != rows.len() {
        bail!("callgrind counted {} paths of {}", counted.len(), rows.len());
    }
    for (row, counts) in rows.iter_mut().zip(counted) {
        row.cost.instructions = Some(counts.in_rust as f64 / row.operations);
        row.cost.in_c = Some(counts.in_c as f64 / row.operations);
    }
    Ok(None)
}
