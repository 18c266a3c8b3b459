//! What was measured, as lines of JSON in a file for each case.
//!
//! The first line says how and where it was measured (`{"run": ..}`). Each other line has the client and the round, and either what
//! was measured or why it was not (`skipped`).

use crate::cases::Case;
use crate::machine;
use crate::options::Options;
use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use std::cell::Cell;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// A folder with the files of the cases.
pub struct Results {
    folder: PathBuf,
    /// How many clients have failed.
    failed: Cell<usize>,
}

/// The lines of a case.
pub struct Lines {
    /// How and where they were measured.
    pub run: Value,
    pub lines: Vec<Value>,
}

impl Results {
    pub fn in_folder(folder: PathBuf) -> Result<Self> {
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Self {
            folder,
            failed: Cell::new(0),
        })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn file(&self, case: Case) -> PathBuf {
        self.folder.join(format!("{}.jsonl", case.name()))
    }

    /// Begins a case anew.
    pub fn begin(&self, case: Case, options: &Options) -> Result<()> {
        let run = json!({"run": {
            "command": options.command(), "rounds": options.rounds(), "templates": options.templates, "machine": machine::description(),
        }});
        fs::write(self.file(case), format!("{run}\n"))
            .with_context(|| format!("cannot write {}", self.file(case).display()))
    }

    pub fn add(&self, case: Case, line: &Value) -> Result<()> {
        let mut file = OpenOptions::new().append(true).open(self.file(case))?;
        writeln!(file, "{line}")?;
        Ok(())
    }

    /// Notes why something was not measured, and says so.
    pub fn skip(&self, case: Case, client: &str, pods: usize, why: &str) -> Result<()> {
        eprintln!("{} of {client}, {pods} objects: left out: {why}", case.name());
        self.add(case, &json!({"client": client, "pods": pods, "skipped": why}))
    }

    /// Notes that a client has failed.
    pub fn fail(&self, case: Case, client: &str, pods: usize, why: &str) -> Result<()> {
        self.failed.set(self.failed.get() + 1);
        self.skip(case, client, pods, &format!("it failed: {why}"))
    }

    /// Whether no client has failed.
    pub fn check(&self) -> Result<()> {
        match self.failed.get() {
            0 => Ok(()),
            count => bail!(
                "{count} measurements failed; what was measured is in {}",
                self.folder.display()
            ),
        }
    }

    /// The lines of a case; `None` if it was not measured.
    pub fn read(&self, case: Case) -> Result<Option<Lines>> {
        let file = self.file(case);
        if !file.exists() {
            return Ok(None);
        }
        let text = fs::read_to_string(&file)?;
        let read =
            |line: &str| serde_json::from_str(line).with_context(|| format!("{}: {line}", file.display()));
        let mut lines: Vec<Value> = text.lines().map(read).collect::<Result<_>>()?;
        let run = lines.first().and_then(|line| line.get("run")).cloned();
        let run =
            run.with_context(|| format!("{} does not begin with how it was measured", file.display()))?;
        lines.remove(0);
        Ok(Some(Lines { run, lines }))
    }
}

impl Lines {
    /// The values of a field of a client's lines that fit, with their median.
    pub fn spread(
        &self,
        client: &str,
        fits: impl Fn(&Value) -> bool,
        field: impl Fn(&Value) -> Option<f64>,
    ) -> Option<Spread> {
        let lines = self
            .lines
            .iter()
            .filter(|line| line["client"] == client && fits(line));
        Spread::of(lines.filter_map(field).collect())
    }

    /// The clients, in the order in which they ran first.
    pub fn clients(&self) -> Vec<String> {
        let mut clients: Vec<String> = Vec::new();
        for client in self
            .lines
            .iter()
            .filter(|line| line.get("skipped").is_none())
            .filter_map(|line| line["client"].as_str())
        {
            if !clients.iter().any(|known| known == client) {
                clients.push(client.to_owned());
            }
        }
        clients
    }

    /// What was left out, and why.
    pub fn skipped(&self) -> Vec<String> {
        let skipped = self.lines.iter().filter_map(|line| {
            let why = line["skipped"].as_str()?;
            Some(format!(
                "{}, {} objects: {why}",
                line["client"].as_str()?,
                line["pods"]
            ))
        });
        skipped.collect()
    }
}

/// A median and what it lies between.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub median: f64,
    pub least: f64,
    pub most: f64,
}

impl Spread {
    /// `None` of nothing.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = match values.len() % 2 {
            0 => (values.get(middle)? + values.get(middle.checked_sub(1)?)?) / 2.0,
            _ => *values.get(middle)?,
        };
        Some(Self {
            median,
            least: *values.first()?,
            most: *values.last()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_has_the_median_and_the_extremes() {
        let spread = |median, least, most| Some(Spread { median, least, most });
        assert_eq!(Spread::of(vec![]), None);
        assert_eq!(Spread::of(vec![4.0]), spread(4.0, 4.0, 4.0));
        assert_eq!(Spread::of(vec![9.0, 1.0, 4.0]), spread(4.0, 1.0, 9.0));
        assert_eq!(Spread::of(vec![9.0, 1.0, 4.0, 6.0]), spread(5.0, 1.0, 9.0));
    }
}
