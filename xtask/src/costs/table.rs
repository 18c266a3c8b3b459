//! The table of costs: as Markdown, and what is worse in one than in another.

use anyhow::{Context as _, Result, bail, ensure};
use std::fmt;

/// How much worse a figure may be, in per cent.
const TOLERATED: f64 = 5.0;

const TITLE: &str = "\
# Costs

What the hot paths cost, for one operation each: written by `cargo xtask costs --update`, and held against what they cost now by
`cargo xtask costs`, which CI runs. *Instructions* are those of Rust code, as callgrind counts them. Those *in C* are zstd's. Those of libc,
which allocates and copies, are left out, since they differ between its versions; *allocations* and *bytes allocated* stand for them. How to
read and to change this is said in [`bench/README.md`](../README.md#costs).

";
const HEAD: &str =
    "\n| path | instructions | in C | allocations | bytes allocated |\n|---|---:|---:|---:|---:|\n";

/// The paths with their costs, and where these were counted.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Table {
    pub(super) machine: Machine,
    pub(super) rows: Vec<Row>,
}

/// What instructions depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Machine {
    /// The version and the target.
    pub(super) rustc: String,
    /// It compiles zstd.
    pub(super) c_compiler: String,
    /// What the processor can do as valgrind shows it; dependencies choose their code by that when they run. `None`: not asked.
    pub(super) processor: Option<String>,
}

impl Machine {
    /// Why figures that were recorded here cannot be compared with those of another machine; `None` if they can.
    pub(super) fn refuses(&self, column: Column, other: &Self) -> Option<String> {
        let differs = |what: &str, recorded: &str, now: &str| {
            (recorded != now).then(|| format!("{what} is another one: recorded with {recorded}; now {now}"))
        };
        let compiler = || differs("the compiler", &self.rustc, &other.rustc);
        let processor = || {
            let (recorded, now) = self.processor.as_deref().zip(other.processor.as_deref())?;
            differs("the processor under valgrind", recorded, now)
        };
        match column {
            Column::Instructions => compiler().or_else(processor),
            Column::InC => compiler()
                .or_else(processor)
                .or_else(|| differs("the C compiler", &self.c_compiler, &other.c_compiler)),
            Column::Allocations | Column::Bytes => None,
        }
    }
}

/// A path.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) path: String,
    /// How many operations were counted together; not in the table.
    pub(super) operations: f64,
    pub(super) cost: Cost,
}

/// What an operation costs; `None`: not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Cost {
    pub(super) instructions: Option<f64>,
    pub(super) in_c: Option<f64>,
    pub(super) allocations: Option<f64>,
    pub(super) bytes: Option<f64>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Column {
    Instructions,
    InC,
    Allocations,
    Bytes,
}

impl Column {
    const ALL: [Self; 4] = [Self::Instructions, Self::InC, Self::Allocations, Self::Bytes];

    fn name(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::InC => "instructions in C",
            Self::Allocations => "allocations",
            Self::Bytes => "bytes allocated",
        }
    }

    /// The figure, with the digits that the table has.
    fn of(self, cost: &Cost) -> Option<f64> {
        match self {
            Self::Instructions => cost.instructions.map(f64::round),
            Self::InC => cost.in_c.map(f64::round),
            Self::Allocations => cost.allocations.map(|count| (count * 100.0).round() / 100.0),
            Self::Bytes => cost.bytes.map(f64::round),
        }
    }

    fn shown(self, value: f64) -> String {
        match self {
            Self::Allocations => format!("{value:.2}"),
            _ => format!("{value:.0}"),
        }
    }

    /// What a figure may differ by whatever the percentage. Hashes have random seeds, so that tables are looked up in more or less
    /// steps; and what the compiler inlines into a path of some hundred instructions may change with code beside it.
    fn noise(self) -> f64 {
        match self {
            Self::Instructions | Self::InC => 32.0,
            Self::Allocations => 0.02,
            Self::Bytes => 2.0,
        }
    }
}

impl Table {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let field = |name: &str| {
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix(&format!("- {name}: ")));
            line.map(str::to_owned)
                .with_context(|| format!("there is no line `- {name}: `"))
        };
        let machine = Machine {
            rustc: field("rustc")?,
            c_compiler: field("C compiler")?,
            processor: Some(field("processor")?),
        };
        let rows = text
            .lines()
            .filter(|line| line.starts_with("| "))
            .skip(1)
            .map(parse_row)
            .collect::<Result<Vec<_>>>()?;
        ensure!(!rows.is_empty(), "there is no row");
        Ok(Self { machine, rows })
    }

    fn cost(&self, path: &str) -> Option<&Cost> {
        self.rows.iter().find(|row| row.path == path).map(|row| &row.cost)
    }
}

fn parse_row(line: &str) -> Result<Row> {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [path, instructions, in_c, allocations, bytes] = cells[..] else {
        bail!("a row with {} columns: {line}", cells.len());
    };
    let number = |text: &str| {
        text.parse()
            .map(Some)
            .with_context(|| format!("not a number, in {line}: {text}"))
    };
    Ok(Row {
        path: path.to_owned(),
        operations: 1.0,
        cost: Cost {
            instructions: number(instructions)?,
            in_c: number(in_c)?,
            allocations: number(allocations)?,
            bytes: number(bytes)?,
        },
    })
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine {
            rustc,
            c_compiler,
            processor,
        } = &self.machine;
        f.write_str(TITLE)?;
        writeln!(
            f,
            "- rustc: {rustc}\n- C compiler: {c_compiler}\n- processor: {}",
            processor.as_deref().unwrap_or_default()
        )?;
        f.write_str(HEAD)?;
        for Row { path, cost, .. } in &self.rows {
            write!(f, "| {path} |")?;
            for column in Column::ALL {
                write!(
                    f,
                    " {} |",
                    column.of(cost).map_or(String::new(), |value| column.shown(value))
                )?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// What a comparison has found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Judgement {
    /// What must not be: worse, gone or not recorded.
    pub(super) failures: Vec<String>,
    /// What is worth knowing.
    pub(super) said: Vec<String>,
}

pub(super) fn compare(recorded: &Table, now: &Table) -> Judgement {
    let mut judgement = Judgement::default();
    for column in [Column::Instructions, Column::InC] {
        if let Some(why) = recorded.machine.refuses(column, &now.machine) {
            judgement
                .said
                .push(format!("{} are not compared: {why}", column.name()));
        }
    }
    for Row {
        path, cost: before, ..
    } in &recorded.rows
    {
        let Some(cost) = now.cost(path) else {
            judgement
                .failures
                .push(format!("{path}: recorded, but not measured any more"));
            continue;
        };
        for column in Column::ALL {
            if recorded.machine.refuses(column, &now.machine).is_none()
                && let Some((before, now)) = column.of(before).zip(column.of(cost))
            {
                judgement.figure(path, column, before, now);
            }
        }
    }
    let new = now.rows.iter().filter(|row| recorded.cost(&row.path).is_none());
    judgement
        .failures
        .extend(new.map(|row| format!("{}: measured, but not recorded", row.path)));
    judgement
}

impl Judgement {
    fn figure(&mut self, path: &str, column: Column, before: f64, now: f64) {
        let tolerated = before * TOLERATED / 100.0;
        let (worse, better) = (now - before > tolerated, before - now > tolerated);
        if (now - before).abs() <= column.noise() || !(worse || better) {
            return;
        }
        let percent = match before {
            0.0 => "from nothing".to_owned(),
            _ => format!("{:+.1} %", (now - before) / before * 100.0),
        };
        let (name, before, now) = (column.name(), column.shown(before), column.shown(now));
        let figure = format!("{path}: {name}: recorded {before}, now {now} ({percent})");
        match worse {
            true => self.failures.push(figure),
            false => self
                .said
                .push(format!("{figure}: better; record it, so that it stays")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(path: &str, instructions: f64) -> Row {
        let cost = Cost {
            instructions: Some(instructions),
            in_c: Some(500.0),
            allocations: Some(2.0),
            bytes: Some(64.0),
        };
        Row {
            path: path.into(),
            operations: 1.0,
            cost,
        }
    }

    fn table(rows: impl IntoIterator<Item = Row>) -> Table {
        let machine = Machine {
            rustc: "rustc 1".into(),
            c_compiler: "cc 12".into(),
            processor: Some("avx2".into()),
        };
        Table {
            machine,
            rows: rows.into_iter().collect(),
        }
    }

    #[test]
    fn a_figure_worse_by_more_than_5_percent_fails() {
        let judgement = compare(&table([row("get", 1000.0)]), &table([row("get", 1051.0)]));
        assert_eq!(
            judgement.failures,
            ["get: instructions: recorded 1000, now 1051 (+5.1 %)"]
        );
    }

    #[test]
    fn a_figure_worse_by_less_than_5_percent_passes() {
        let judgement = compare(&table([row("get", 1000.0)]), &table([row("get", 1049.0)]));
        assert_eq!(judgement, Judgement::default());
    }

    #[test]
    fn some_instructions_of_a_short_path_are_noise() {
        let short = |now| {
            compare(&table([row("get", 200.0)]), &table([row("get", now)]))
                .failures
                .len()
        };
        assert_eq!([short(232.0), short(233.0)], [0, 1]);
    }

    #[test]
    fn a_better_figure_is_said_and_passes() {
        let judgement = compare(&table([row("get", 1000.0)]), &table([row("get", 900.0)]));
        assert_eq!(judgement.failures, [""; 0]);
        assert_eq!(
            judgement.said,
            ["get: instructions: recorded 1000, now 900 (-10.0 %): better; record it, so that it stays"]
        );
    }

    #[test]
    fn each_column_is_compared() {
        let mut worse = row("get", 1000.0);
        worse.cost = Cost {
            instructions: Some(2000.0),
            in_c: Some(1000.0),
            allocations: Some(3.0),
            bytes: Some(128.0),
        };
        let failures = compare(&table([row("get", 1000.0)]), &table([worse])).failures;
        assert_eq!(failures.len(), 4, "{failures:?}");
        assert_eq!(failures[2], "get: allocations: recorded 2.00, now 3.00 (+50.0 %)");
    }

    #[test]
    fn an_allocation_where_there_was_none_fails() {
        let free = |allocations| {
            let mut row = row("get", 1000.0);
            row.cost.allocations = Some(allocations);
            table([row])
        };
        let failures = compare(&free(0.0), &free(1.0)).failures;
        assert_eq!(
            failures,
            ["get: allocations: recorded 0.00, now 1.00 (from nothing)"]
        );
        assert_eq!(compare(&free(0.0), &free(0.01)).failures, [""; 0]);
    }

    #[test]
    fn a_missing_path_fails() {
        let failures = compare(
            &table([row("get", 1.0), row("list", 1.0)]),
            &table([row("get", 1.0)]),
        )
        .failures;
        assert_eq!(failures, ["list: recorded, but not measured any more"]);
    }

    #[test]
    fn a_path_that_is_not_recorded_fails() {
        let failures = compare(
            &table([row("get", 1.0)]),
            &table([row("get", 1.0), row("list", 1.0)]),
        )
        .failures;
        assert_eq!(failures, ["list: measured, but not recorded"]);
    }

    #[test]
    fn with_another_compiler_only_allocations_count() {
        let mut now = table([row("get", 5000.0)]);
        now.machine.rustc = "rustc 2".into();
        let judgement = compare(&table([row("get", 1000.0)]), &now);
        assert_eq!(judgement.failures, [""; 0]);
        assert!(
            judgement.said[0].starts_with("instructions are not compared: the compiler is another one"),
            "{judgement:?}"
        );
        now.rows[0].cost.allocations = Some(4.0);
        assert_eq!(compare(&table([row("get", 1000.0)]), &now).failures.len(), 1);
    }

    #[test]
    fn with_another_c_compiler_instructions_in_c_do_not_count() {
        let mut now = table([row("get", 1000.0)]);
        now.machine.c_compiler = "cc 13".into();
        now.rows[0].cost.in_c = Some(900.0);
        assert_eq!(compare(&table([row("get", 1000.0)]), &now).failures, [""; 0]);
        now.rows[0].cost.instructions = Some(2000.0);
        assert_eq!(compare(&table([row("get", 1000.0)]), &now).failures.len(), 1);
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let table = table([row("store: get", 1000.0), row("key: format", 2.0)]);
        assert_eq!(Table::parse(&table.to_string()).unwrap(), table);
    }

    #[test]
    fn a_damaged_table_is_an_error_that_says_where() {
        let text = table([row("get", 1000.0)])
            .to_string()
            .replace("| 1000 |", "| many |");
        let error = format!("{:#}", Table::parse(&text).unwrap_err());
        assert!(error.contains("not a number, in | get | many |"), "{error}");
        assert!(Table::parse("").is_err());
    }
}
