//! What was measured, as Markdown: `TABLES.md` in the folder of the lines.

use crate::cases::Case;
use crate::results::{Lines, Results, Spread};
use anyhow::{Context as _, Result};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;

/// A figure of an informer's phase.
struct Column {
    title: &'static str,
    phase: &'static str,
    digits: usize,
    value: fn(&Value) -> Option<f64>,
}

const fn column(
    title: &'static str,
    phase: &'static str,
    digits: usize,
    value: fn(&Value) -> Option<f64>,
) -> Column {
    Column {
        title,
        phase,
        digits,
        value,
    }
}

const SYNC: &[Column] = &[
    column("CPU s", "sync", 2, |line| line["cpu_s"].as_f64()),
    column("wall s", "sync", 2, |line| line["wall_s"].as_f64()),
    column("server, CPU s", "sync", 2, |line| line["server_cpu_s"].as_f64()),
    column("RSS MiB", "sync", 0, |line| line["rss_mib"].as_f64()),
    column("peak MiB", "sync", 0, |line| line["peak_mib"].as_f64()),
    column("KiB per object", "sync", 2, |line| {
        Some(line["rss_mib"].as_f64()? * 1024.0 / line["pods"].as_f64()?)
    }),
];
const CHANGES: &[Column] = &[
    column("changes per CPU s, at a rate", "churn", 0, per_cpu_second),
    column("in a burst", "burst", 0, per_cpu_second),
    column("RSS MiB after both", "burst", 0, |line| line["rss_mib"].as_f64()),
];
const LATENCY: &[Column] = &[
    column("p50, us", "latency", 0, |line| line["late_us"][0].as_f64()),
    column("p99, us", "latency", 0, |line| line["late_us"][1].as_f64()),
    column("CPU s", "latency", 2, |line| line["cpu_s"].as_f64()),
];
const READS: &[Column] = &[
    column("reads per s", "reads", 0, |line| line["reads_per_s"].as_f64()),
    column("a read, p50, us", "reads", 2, |line| line["read_us"][0].as_f64()),
    column("p99, us", "reads", 2, |line| line["read_us"][1].as_f64()),
    column("change to handler, p50, us", "reads", 0, |line| {
        line["late_us"][0].as_f64()
    }),
    column("p99, us", "reads", 0, |line| line["late_us"][1].as_f64()),
];
const RELIST: &[Column] = &[
    column("CPU s", "relist", 2, |line| line["cpu_s"].as_f64()),
    column("wall s", "relist", 2, |line| line["wall_s"].as_f64()),
    column("peak MiB", "relist", 0, |line| line["peak_mib"].as_f64()),
];
const GETS: &[Column] = &[
    column("get, ns", "get", 0, |line| line["ns"].as_f64()),
    column("list of 100 by label, ms", "select", 3, |line| {
        line["ms"].as_f64()
    }),
];
const REAL_CHANGES: &[Column] = &[
    column("changes per CPU s", "churn", 0, per_cpu_second),
    column("change to handler, p50, us", "latency", 0, |line| {
        line["late_us"][0].as_f64()
    }),
    column("p99, us", "latency", 0, |line| line["late_us"][1].as_f64()),
];

/// CPU time below a clock tick counts as one.
pub fn per_cpu_second(line: &Value) -> Option<f64> {
    Some(line["changes"].as_f64()? / line["cpu_s"].as_f64()?.max(0.001))
}

const HEAD: &str = "\
# Tables

Written by `bench/run`, from the lines beside this file: medians, and in brackets what all rounds lie between. CPU seconds are those of the
process, user and system; MiB are resident memory. What each case does, and what it does not show: [`bench/README.md`](../README.md).
";

/// Writes the tables of all cases that were measured.
pub fn write(results: &Results) -> Result<()> {
    let mut text = HEAD.to_owned();
    for case in Case::ALL {
        if let Some(lines) = results.read(case)? {
            text += &section(case, &lines)?;
        }
    }
    let file = results.folder().join("TABLES.md");
    fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
}

fn section(case: Case, lines: &Lines) -> Result<String> {
    let title = match case {
        Case::Size => "First sync, by the number of objects",
        Case::Changes => "Changes",
        Case::Latency => "From the server's write to the handler",
        Case::Reads => "Reads while objects change",
        Case::Relist => "A list again, nothing changed",
        Case::Gets => "Gets and lists by label, by the number of objects",
        Case::Queue => "Work queues",
        Case::Handlers => "One more handler",
        Case::Controllers => "Controllers",
        Case::Warm => "Warm starts",
        Case::Simulator => "kube-sim itself",
        Case::Real => "A real API server",
    };
    let mut text = format!("\n## {title}\n\n{}\n\n", how(&lines.run));
    match case {
        Case::Size => text += &informers(lines, SYNC),
        Case::Changes => text += &informers(lines, CHANGES),
        Case::Latency => text += &informers(lines, LATENCY),
        Case::Reads => text += &informers(lines, READS),
        Case::Relist => text += &informers(lines, RELIST),
        Case::Gets => text += &informers(lines, GETS),
        Case::Queue => text += &queue(lines),
        Case::Handlers => text += &handlers(lines),
        Case::Controllers => text += &controllers(lines),
        Case::Warm => text += &warm(lines),
        Case::Simulator => text += &simulator(lines),
        Case::Real => {
            let columns: Vec<&Column> = SYNC.iter().chain(REAL_CHANGES).collect();
            text += &informer_table(lines, &columns);
        }
    }
    let skipped = lines.skipped();
    if !skipped.is_empty() {
        writeln!(text, "\nLeft out:\n\n- {}", skipped.join("\n- "))?;
    }
    Ok(text)
}

/// The command and the machine, in a line.
fn how(run: &Value) -> String {
    let machine = &run["machine"];
    let text = |value: &Value| value.as_str().unwrap_or("unknown").to_owned();
    format!(
        "`{}`, rounds: {}. {} processors, {}, {:.0} GiB; load {} when it began. {}; {}; commit {}.",
        text(&run["command"]),
        run["rounds"],
        machine["processors"],
        text(&machine["processor"]),
        machine["memory_mib"].as_f64().unwrap_or_default() / 1024.0,
        machine["load"],
        text(&machine["rustc"]),
        text(&machine["go"]),
        text(&machine["commit"]),
    )
}

fn informers(lines: &Lines, columns: &[Column]) -> String {
    informer_table(lines, &columns.iter().collect::<Vec<_>>())
}

fn informer_table(lines: &Lines, columns: &[&Column]) -> String {
    let mut head = vec!["objects".to_owned(), "client".to_owned()];
    head.extend(columns.iter().map(|column| column.title.to_owned()));
    let mut rows = Vec::new();
    for pods in sizes(lines) {
        for client in lines.clients() {
            let cells: Vec<String> = columns
                .iter()
                .map(|column| {
                    let fits = |line: &Value| line["pods"] == pods && line["phase"] == column.phase;
                    cell(lines.spread(&client, fits, column.value), column.digits)
                })
                .collect();
            if cells.iter().any(|cell| !cell.is_empty()) {
                // `<` would begin a tag.
                let name = shown(&client).replace('<', "\\<");
                rows.push([vec![pods.to_string(), name], cells].concat());
            }
        }
    }
    table(&head, &rows, 2)
}

/// The numbers of objects that were measured.
pub fn sizes(lines: &Lines) -> Vec<u64> {
    let mut sizes: Vec<u64> = lines
        .lines
        .iter()
        .filter(|line| line.get("skipped").is_none())
        .filter_map(|line| line["pods"].as_u64())
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// A client as people call it.
pub fn shown(client: &str) -> String {
    let (form, list) = client
        .split_once('/')
        .map_or((client, ""), |(form, list)| (form, list));
    let name = match form {
        "packed" => "kube-informer, Packed<Pod>",
        "pruned" => "kube-informer, Pod",
        "typed" => "kube-informer, Pod with managedFields",
        "metadata" => "kube-informer, metadata",
        "metadata-managed" => "kube-informer, metadata with managedFields",
        "projection" => "kube-informer, projection",
        "client-go-protobuf" => "client-go",
        "client-go" => "client-go, JSON",
        other => other,
    };
    match list {
        "stream" => format!("{name}, streaming list"),
        _ => name.to_owned(),
    }
}

/// Each figure of the work queues, and how many times less ours needs.
fn queue(lines: &Lines) -> String {
    let mut figures: Vec<&str> = Vec::new();
    for figure in lines.lines.iter().filter_map(|line| line["figure"].as_str()) {
        if !figures.contains(&figure) {
            figures.push(figure);
        }
    }
    let head = ["", "kube-workqueue", "client-go", "client-go's, divided by ours"].map(str::to_owned);
    let rows = figures.into_iter().map(|figure| {
        let of = |client: &str| {
            lines.spread(
                client,
                |line| line["figure"] == figure,
                |line| line["value"].as_f64(),
            )
        };
        let (ours, theirs) = (of("kube-workqueue"), of("client-go"));
        let ratio = theirs
            .zip(ours)
            .map(|(theirs, ours)| format!("{:.1}", theirs.median / ours.median));
        vec![
            figure.to_owned(),
            cell(ours, 1),
            cell(theirs, 1),
            ratio.unwrap_or_default(),
        ]
    });
    table(&head, &rows.collect::<Vec<_>>(), 1)
}

fn handlers(lines: &Lines) -> String {
    let head = ["", "ns of CPU", "allocations"].map(str::to_owned);
    let rows = ["kube-informer", "client-go"].map(|client| {
        let of = |field: &'static str| {
            lines.spread(
                client,
                |line| line.get("ns").is_some(),
                move |line| line[field].as_f64(),
            )
        };
        vec![client.to_owned(), cell(of("ns"), 0), cell(of("allocations"), 1)]
    });
    let mut text = table(&head, &rows, 1);
    let stalled: Vec<Vec<String>> = lines
        .lines
        .iter()
        .filter(|line| line.get("stalled").is_some())
        .map(|line| {
            [
                "pods",
                "handlers",
                "stalled",
                "updates_per_s",
                "longest_queue",
                "grown_kib",
            ]
            .map(|field| line[field].to_string())
            .to_vec()
        })
        .collect();
    if !stalled.is_empty() {
        let head = [
            "objects",
            "handlers that work",
            "that never return",
            "updates per s",
            "longest queue",
            "grown, KiB",
        ]
        .map(str::to_owned);
        text += &format!(
            "\nkube-informer's, with handlers that never return:\n\n{}",
            table(&head, &stalled, 0)
        );
    }
    text
}

/// A figure of a controller: its title, job, phase, where it is in a line, and its digits.
pub type Figure = (
    &'static str,
    &'static str,
    Option<&'static str>,
    fn(&Value) -> Option<f64>,
    usize,
);

pub const CONTROLLERS: &[Figure] = &[
    (
        "reconciles of nothing a second",
        "nothing",
        None,
        |line| line["per_s"].as_f64(),
        0,
    ),
    (
        "a CPU second",
        "nothing",
        None,
        |line| line["per_cpu_s"].as_f64(),
        0,
    ),
    (
        "RSS, MiB",
        "pods",
        Some("settled"),
        |line| line["rss_mib"].as_f64(),
        0,
    ),
    (
        "20 changes/s: told to reconcile, p50, us",
        "pods",
        Some("rest"),
        |line| line["told_us"][0].as_f64(),
        0,
    ),
    ("p99", "pods", Some("rest"), |line| line["told_us"][1].as_f64(), 0),
    (
        "change to reconcile, p50, us",
        "pods",
        Some("rest"),
        |line| line["change_us"][0].as_f64(),
        0,
    ),
    (
        "p99",
        "pods",
        Some("rest"),
        |line| line["change_us"][1].as_f64(),
        0,
    ),
    (
        "1,000 changes/s: told to reconcile, p50, us",
        "pods",
        Some("load"),
        |line| line["told_us"][0].as_f64(),
        0,
    ),
    ("p99", "pods", Some("load"), |line| line["told_us"][1].as_f64(), 0),
    (
        "change to reconcile, p50, us",
        "pods",
        Some("load"),
        |line| line["change_us"][0].as_f64(),
        0,
    ),
    (
        "p99",
        "pods",
        Some("load"),
        |line| line["change_us"][1].as_f64(),
        0,
    ),
    (
        "CPU us a change",
        "pods",
        Some("load"),
        |line| line["cpu_us"].as_f64(),
        0,
    ),
];

/// A figure of a controller.
pub fn controller(lines: &Lines, client: &str, (_, job, phase, value, _): &Figure) -> Option<Spread> {
    let fits = |line: &Value| line["job"] == *job && phase.is_none_or(|phase| line["phase"] == phase);
    lines.spread(client, fits, value)
}

fn controllers(lines: &Lines) -> String {
    let clients = lines.clients();
    let head = [vec![String::new()], clients.clone()].concat();
    let rows: Vec<Vec<String>> = CONTROLLERS
        .iter()
        .map(|figure| {
            let cells = clients
                .iter()
                .map(|client| cell(controller(lines, client, figure), figure.4));
            [vec![figure.0.to_owned()], cells.collect()].concat()
        })
        .collect();
    let mut text = table(&head, &rows, 1);
    let memory: Vec<&str> = lines
        .lines
        .iter()
        .filter_map(|line| line["said"].as_str())
        .collect();
    if !memory.is_empty() {
        text += &format!(
            "\nBeside the cache, in kube-controller:\n\n- {}\n",
            memory.join("\n- ")
        );
    }
    text
}

fn warm(lines: &Lines) -> String {
    let mut starts: Vec<&str> = Vec::new();
    for start in lines.lines.iter().filter_map(|line| line["start"].as_str()) {
        if !starts.contains(&start) {
            starts.push(start);
        }
    }
    const FIELDS: [(&str, &str, usize); 6] = [
        ("readable, ms", "readable_ms", 0),
        ("synced, ms", "synced_ms", 0),
        ("received, bytes", "received_bytes", 0),
        ("heap, MiB", "settled_mib", 1),
        ("CPU while changing, % of a core", "cpu_percent_of_a_core", 2),
        ("file, bytes", "saved_bytes", 0),
    ];
    let head = [
        vec!["start".to_owned()],
        FIELDS.map(|(title, ..)| title.to_owned()).to_vec(),
    ]
    .concat();
    let rows: Vec<Vec<String>> = starts
        .into_iter()
        .map(|start| {
            let cells = FIELDS.map(|(_, field, digits)| {
                cell(
                    lines.spread(
                        "packed",
                        |line| line["start"] == start,
                        |line| line[field].as_f64(),
                    ),
                    digits,
                )
            });
            [vec![start.to_owned()], cells.to_vec()].concat()
        })
        .collect();
    table(&head, &rows, 1)
}

fn simulator(lines: &Lines) -> String {
    let mut kinds: Vec<(&str, &str)> = Vec::new();
    for line in &lines.lines {
        if let (Some(what), Some(unit)) = (line["what"].as_str(), line["unit"].as_str())
            && !kinds.contains(&(what, unit))
        {
            kinds.push((what, unit));
        }
    }
    let figure = |what: &str| {
        lines.spread(
            "kube-sim",
            |line| line["what"] == what,
            |line| line["figure"].as_f64(),
        )
    };
    let rows: Vec<Vec<String>> = kinds
        .into_iter()
        .map(|(what, unit)| vec![what.to_owned(), cell(figure(what), 2), unit.to_owned()])
        .collect();
    table(
        &["".to_owned(), "kube-sim".to_owned(), "unit".to_owned()],
        &rows,
        1,
    )
}

/// The median, and what all values lie between if that is not the same.
fn cell(spread: Option<Spread>, digits: usize) -> String {
    let Some(Spread { median, least, most }) = spread else {
        return String::new();
    };
    let [median, least, most] = [median, least, most].map(|value| format!("{value:.digits$}"));
    match least == most {
        true => median,
        false => format!("{median} ({least} to {most})"),
    }
}

/// A table whose first columns have text.
fn table(head: &[String], rows: &[Vec<String>], of_text: usize) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rules: Vec<&str> = (0..head.len())
        .map(|at| if at < of_text { "---" } else { "---:" })
        .collect();
    let mut text = line(head) + &format!("|{}|\n", rules.join("|"));
    rows.iter().for_each(|row| text += &line(row));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_cell_has_the_median_and_the_extremes() {
        let spread = |median, least, most| Some(Spread { median, least, most });
        assert_eq!(cell(None, 2), "");
        assert_eq!(cell(spread(1.0, 1.001, 1.0), 2), "1.00");
        assert_eq!(cell(spread(2.0, 1.5, 3.25), 2), "2.00 (1.50 to 3.25)");
    }

    #[test]
    fn a_table_has_a_row_for_each_size_and_client() {
        let sync = |client: &str, pods: u64, rss: f64| json!({"client": client, "pods": pods, "phase": "sync", "rss_mib": rss, "cpu_s": 1.0});
        let skipped = json!({"client": "kube-rs", "pods": 10, "skipped": "too large"});
        let lines = Lines {
            run: json!({}),
            lines: vec![
                sync("packed", 5, 1.0),
                sync("packed", 5, 3.0),
                sync("kube-rs", 5, 8.0),
                skipped,
            ],
        };
        let text = section(Case::Size, &lines).unwrap();
        assert!(
            text.contains("| 5 | kube-informer, Packed\\<Pod> | 1.00 |  |  | 2 (1 to 3) |"),
            "{text}"
        );
        assert!(text.contains("| 5 | kube-rs | 1.00 |"), "{text}");
        assert!(text.contains("- kube-rs, 10 objects: too large"), "{text}");
        assert!(!text.contains("| 10 |"), "{text}");
    }
}
