//! `measure` of several forms: each in a process of its own, one after the other, so that none counts another's memory.

use super::Packing;
use crate::args::{Decode, MeasureArgs, MeasureOutput};
use crate::grid;
use crate::output;
use crate::signals::Stop;
use crate::text::bytes;
use anyhow::{Context as _, anyhow};
use clap::ValueEnum as _;
use serde::Deserialize as _;
use serde_json::Value;
use std::process::{ExitCode, Stdio};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

/// The fewest objects by which the memory of one can be told: the program takes some MiB for connections and code, however few there are.
const FEWEST: u64 = 1000;

/// Measures each of the forms.
///
/// # Errors
/// A process cannot be started, or ends by itself before it has measured.
pub(super) async fn measure(args: &MeasureArgs, stop: &Stop) -> anyhow::Result<ExitCode> {
    let mut lines = Vec::new();
    for form in &args.form {
        let name = name(*form);
        let measured = stop
            .token
            .run_until_cancelled(one(&name, args.output, &mut lines))
            .await;
        match measured {
            None => return Err(stop.interrupted(&format!("before the form {name} was measured"))),
            // The process has said why.
            Some(measured) => match measured? {
                0 => {}
                code => return Ok(ExitCode::from(code)),
            },
        }
    }
    if args.output == MeasureOutput::Text {
        output::lines(&text(&lines))?;
        let are_few = |(_, line): &(String, Value)| {
            let objects = line["objects"].as_u64().unwrap_or_default();
            packing(line).is_none() && (1..FEWEST).contains(&objects)
        };
        if lines.iter().any(are_few) {
            output::diagnostic(
                "too few objects to tell the memory of one: some MiB of CACHE are what the program takes for any number of them",
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn name(form: Decode) -> String {
    form.to_possible_value()
        .map(|value| value.get_name().to_owned())
        .unwrap_or_default()
}

/// A table of what was measured, and what packed objects take.
fn text(lines: &[(String, Value)]) -> String {
    let header = [
        "FORM",
        "PHASE",
        "OBJECTS",
        "CACHE",
        "AN OBJECT",
        "PEAK",
        "TIME",
        "CPU",
        "RECEIVED",
    ];
    let header = header.map(ToOwned::to_owned).to_vec();
    let rows = lines.iter().map(|(form, line)| row(form, line));
    let mut text = grid::table(std::iter::once(header).chain(rows));
    text.extend(lines.iter().filter_map(|(_, line)| Some(packing(line)?.text())));
    text.join("\n")
}

/// What packed objects take, if they are those of a line.
fn packing(line: &Value) -> Option<Packing> {
    Packing::deserialize(&line["packing"]).ok()
}

/// Measures a form in another process. Returns its exit code.
async fn one(form: &str, format: MeasureOutput, told: &mut Vec<(String, Value)>) -> anyhow::Result<u8> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let mut child = Command::new(program)
        .args(std::env::args_os().skip(1))
        .args(["--alone", form])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .context("cannot start a process for each form")?;
    let lines = child
        .stdout
        .take()
        .ok_or_else(|| anyhow!("the process for {form} has no output"))?;
    let mut lines = BufReader::new(lines).lines();
    while let Some(line) = lines.next_line().await? {
        let mut line: Value =
            serde_json::from_str(&line).context("what a process has measured cannot be read")?;
        match format {
            MeasureOutput::Text => told.push((form.to_owned(), line)),
            MeasureOutput::Json => {
                line["form"] = form.into();
                output::line(&line.to_string())?;
            }
        }
    }
    let ended = child.wait().await?;
    // A process that a signal has ended has no code.
    Ok(ended.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// The row of a phase. What the cache takes is counted by the packer, or else it is what the memory of the program grew by.
fn row(form: &str, line: &Value) -> Vec<String> {
    let number = |name: &str| line[name].as_f64();
    let mib = |mib: f64| bytes((mib * f64::from(1 << 20)) as u64);
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".into());
    let objects = line["objects"].as_u64();
    let grown = number("rss_mib")
        .zip(number("base_mib"))
        .map(|(all, base)| ((all - base).max(0.0) * f64::from(1 << 20)) as u64);
    let (cache, fewest) = match packing(line) {
        Some(packing) => (Some(packing.cache_bytes), 1),
        None => (grown, FEWEST),
    };
    let each = cache
        .zip(objects.filter(|objects| *objects >= fewest))
        .map(|(cache, objects)| bytes(cache / objects));
    let count = objects.or(line["events"].as_u64());
    vec![
        form.to_owned(),
        line["phase"].as_str().unwrap_or_default().to_owned(),
        or_none(count.map(|count| count.to_string())),
        or_none(cache.map(bytes)),
        or_none(each),
        or_none(number("peak_mib").map(mib)),
        or_none(number("wall_s").map(|seconds| format!("{seconds:.2} s"))),
        or_none(number("cpu_s").map(|seconds| format!("{seconds:.2} s"))),
        or_none(line["bytes_received"].as_u64().map(bytes)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_memory_of_the_program_is_not_the_caches() {
        let line = json!({
            "phase": "sync", "objects": 1024, "wall_s": 0.5, "cpu_s": 0.25, "rss_mib": 18.0, "peak_mib": 20.0, "base_mib": 8.0,
            "bytes_received": 1 << 20,
        });
        let row = row("typed", &line);
        assert_eq!(
            row,
            [
                "typed", "sync", "1024", "10 MiB", "10 KiB", "20 MiB", "0.50 s", "0.25 s", "1.0 MiB"
            ]
        );
        let packed = json!({
            "phase": "sync", "objects": 1000, "rss_mib": 18.0, "base_mib": 8.0, "packing": {
                "body_bytes_per_object": 3000, "kept_bytes_per_object": 500, "bytes_per_object": 700, "cache_bytes": 1_024_000,
                "dictionaries": 1, "dictionary_bytes": 16_384, "families": 0, "family_bytes": 0, "label_sets": 3,
            },
        });
        assert_eq!(
            super::row("packed", &packed)[2..5],
            ["1000", "1.0 MiB", "1.0 KiB"]
        );
        let text = text(&[("packed".into(), packed)]);
        assert!(text.contains("\npacked  700 bytes an object: "), "{text}");
        let few = json!({"phase": "sync", "objects": 2, "rss_mib": 18.0, "base_mib": 8.0});
        assert_eq!(super::row("typed", &few)[2..5], ["2", "10 MiB", "-"]);
    }
}
