//! What was measured, as SVG: lines over the number of objects, and bars.
//!
//! The charts have no background, and a style that follows the reader's theme: [`themed`].

use crate::cases::Case;
use crate::results::{Lines, Results, Spread};
use crate::tables::{self, CONTROLLERS, shown, sizes};
use anyhow::{Context as _, Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use serde_json::Value;
use std::fs;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

const WIDTH: u32 = 760;
const FONT: &str = "sans-serif";
/// The colours of text and of lines that help to read, in a light theme; [`themed`] replaces them in a dark one.
const INK: RGBColor = RGBColor(0x1f, 0x23, 0x28);
const RULE: RGBColor = RGBColor(0xd1, 0xd9, 0xe0);

/// What can be told apart in both themes, also by those who do not see all colours.
fn colour(client: &str) -> RGBColor {
    match client.split('/').next().unwrap_or_default() {
        "packed" | "kube-workqueue" | "kube-controller" | "kube-informer" => RGBColor(0x1f, 0x77, 0xd4),
        "pruned" | "typed" => RGBColor(0x56, 0xb4, 0xe9),
        "kube-rs" => RGBColor(0xd5, 0x5e, 0x00),
        "client-go-protobuf" => RGBColor(0x00, 0x9e, 0x73),
        "client-go" | "lock + hash map" => RGBColor(0x8c, 0xb3, 0x5f),
        "controller-runtime" => RGBColor(0xcc, 0x79, 0xa7),
        _ => RGBColor(0x8b, 0x94, 0x9e),
    }
}

/// Draws the charts of all cases that were measured.
pub fn draw(results: &Results) -> Result<()> {
    let by_size: [OverSize; 4] = [
        OverSize {
            name: "memory",
            title: "Memory after the first sync, MiB",
            objects: "objects of 10.8 KB",
            case: Case::Size,
            phase: "sync",
            value: |line| line["rss_mib"].as_f64(),
        },
        OverSize {
            name: "cpu",
            title: "CPU time of the first sync, s",
            objects: "objects of 10.8 KB",
            case: Case::Size,
            phase: "sync",
            value: |line| line["cpu_s"].as_f64(),
        },
        OverSize {
            name: "get",
            title: "CPU time of a get by key, ns",
            objects: "small objects, read in no order",
            case: Case::Gets,
            phase: "get",
            value: |line| line["ns"].as_f64(),
        },
        OverSize {
            name: "select",
            title: "CPU time of a list by label that has 100 objects, ms",
            objects: "small objects",
            case: Case::Gets,
            phase: "select",
            value: |line| line["ms"].as_f64(),
        },
    ];
    for chart in by_size {
        if let Some(lines) = results.read(chart.case)? {
            over_size(results, &chart, &lines)?;
        }
    }
    let phases: [Bars; 7] = [
        (
            "changes",
            "Changes per second of CPU time, 1,000 a second (more is better)",
            Case::Changes,
            "churn",
            tables::per_cpu_second,
        ),
        (
            "burst",
            "Changes per second of CPU time, in a burst (more is better)",
            Case::Changes,
            "burst",
            tables::per_cpu_second,
        ),
        (
            "latency-p50",
            "From the server's write to the handler, median, us",
            Case::Latency,
            "latency",
            |line| line["late_us"][0].as_f64(),
        ),
        (
            "latency-p99",
            "From the server's write to the handler, 99th percentile, us",
            Case::Latency,
            "latency",
            |line| line["late_us"][1].as_f64(),
        ),
        (
            "reads",
            "Reads per second while 1,000 objects a second change (more is better)",
            Case::Reads,
            "reads",
            |line| line["reads_per_s"].as_f64(),
        ),
        (
            "relist",
            "CPU time of a list again, nothing changed, s",
            Case::Relist,
            "relist",
            |line| line["cpu_s"].as_f64(),
        ),
        (
            "relist-peak",
            "Peak of memory during it, MiB",
            Case::Relist,
            "relist",
            |line| line["peak_mib"].as_f64(),
        ),
    ];
    for (name, title, case, phase, value) in phases {
        if let Some(lines) = results.read(case)? {
            let of = |client: &str| lines.spread(client, |line| line["phase"] == phase, value);
            let rows = lines
                .clients()
                .into_iter()
                .filter_map(|client| Some((shown(&client), of(&client)?, colour(&client))));
            bars(results, name, title, &rows.collect::<Vec<_>>())?;
        }
    }
    if let Some(lines) = results.read(Case::Queue)? {
        queue(results, &lines)?;
    }
    if let Some(lines) = results.read(Case::Controllers)? {
        for (name, title, at) in [
            (
                "controllers-cpu",
                "Reconciles of nothing per second of CPU time (more is better)",
                1,
            ),
            (
                "controllers-memory",
                "Memory of a controller of 10.8 KB pods, MiB",
                2,
            ),
            (
                "controllers-latency",
                "1,000 changes/s: from the server's write to the reconcile, 99th percentile, us",
                10,
            ),
        ] {
            let of = |client: &str| tables::controller(&lines, client, &CONTROLLERS[at]);
            let rows = lines
                .clients()
                .into_iter()
                .filter_map(|client| Some((client.clone(), of(&client)?, colour(&client))));
            bars(results, name, title, &rows.collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

/// The CPU time of each operation of the work queues.
fn queue(results: &Results, lines: &Lines) -> Result<()> {
    let mut rows: Vec<(String, Spread, RGBColor)> = Vec::new();
    for figure in lines.lines.iter().filter_map(|line| line["figure"].as_str()) {
        let Some(name) = figure.strip_suffix("_cpu_ns") else {
            continue;
        };
        for client in ["kube-workqueue", "client-go"] {
            let label = format!("{}, {client}", name.replace('_', " "));
            if rows.iter().any(|(known, ..)| *known == label) {
                continue;
            }
            let spread = lines.spread(
                client,
                |line| line["figure"] == figure,
                |line| line["value"].as_f64(),
            );
            rows.extend(spread.map(|spread| (label, spread, colour(client))));
        }
    }
    bars(
        results,
        "queue",
        "CPU time of one item through a work queue, ns",
        &rows,
    )
}

/// A bar for each client: name, title, case, phase, value.
type Bars = (
    &'static str,
    &'static str,
    Case,
    &'static str,
    fn(&Value) -> Option<f64>,
);

/// A chart over the number of objects.
struct OverSize {
    name: &'static str,
    title: &'static str,
    /// What is counted.
    objects: &'static str,
    case: Case,
    phase: &'static str,
    value: fn(&Value) -> Option<f64>,
}

/// A line for each client, both axes logarithmic.
fn over_size(results: &Results, chart: &OverSize, lines: &Lines) -> Result<()> {
    let points = |client: &str| -> Vec<(f64, f64)> {
        let at = |pods: u64| {
            lines.spread(
                client,
                |line| line["pods"] == pods && line["phase"] == chart.phase,
                chart.value,
            )
        };
        sizes(lines)
            .into_iter()
            .filter_map(|pods| Some((pods as f64, at(pods)?.median.max(0.001))))
            .collect()
    };
    let series: Vec<(String, Vec<(f64, f64)>)> = lines
        .clients()
        .into_iter()
        .map(|client| (client.clone(), points(&client)))
        .filter(|(_, points)| !points.is_empty())
        .collect();
    let all = || series.iter().flat_map(|(_, points)| points);
    let bounds = |of: fn(&(f64, f64)) -> f64| {
        let (least, most) = all().map(of).fold((f64::MAX, 0.0f64), |(least, most), at| {
            (least.min(at), most.max(at))
        });
        (
            10f64.powf(least.log10().floor()),
            10f64.powf(most.log10().ceil()).max(least * 10.0),
        )
    };
    if series.is_empty() {
        return Ok(());
    }
    let ((left, _), (bottom, top)) = (bounds(|point| point.0), bounds(|point| point.1));
    let right = all().map(|point| point.0).fold(left * 10.0, f64::max);
    let OverSize {
        name, title, objects, ..
    } = *chart;
    save(results, name, title, 420, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin_top(44)
            .margin_right(240)
            .x_label_area_size(40)
            .y_label_area_size(64)
            .build_cartesian_2d((left..right).log_scale(), (bottom..top).log_scale())?;
        chart
            .configure_mesh()
            .axis_style(RULE)
            .bold_line_style(RULE)
            .light_line_style(TRANSPARENT)
            .label_style((FONT, 16).into_font().color(&INK))
            .x_desc(objects)
            .x_label_formatter(&|&at| {
                if is_power_of_ten(at) {
                    thousands(at)
                } else {
                    String::new()
                }
            })
            .y_label_formatter(&|&at| {
                if is_power_of_ten(at) {
                    thousands(at)
                } else {
                    String::new()
                }
            })
            .draw()?;
        let mut ends: Vec<(i32, i32, String, RGBColor)> = Vec::new();
        for (client, points) in &series {
            let colour = colour(client);
            chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?;
            chart.draw_series(points.iter().map(|&point| Circle::new(point, 3, colour.filled())))?;
            if let Some(&last) = points.last() {
                let (x, y) = chart.backend_coord(&last);
                ends.push((
                    x,
                    y,
                    format!("{} ({})", shown(client), significant(last.1)),
                    colour,
                ));
            }
        }
        // Names stand behind the ends of the lines, one below the other.
        ends.sort_by_key(|end| end.1);
        let edge = ends.iter().map(|end| end.0).max().unwrap_or_default();
        let mut free = 0;
        for (x, y, text, colour) in ends {
            // A line that ends before the others has its name above its end.
            let at = if x == edge { y.max(free) } else { y - 14 };
            if x == edge {
                free = at + 16;
            }
            area.draw(&Text::new(text, (x + 8, at), left_of(16, colour)))?;
        }
        Ok(())
    })
}

/// A bar for each row, from zero to its median, with the range of all rounds as a line.
fn bars(results: &Results, name: &str, title: &str, rows: &[(String, Spread, RGBColor)]) -> Result<()> {
    const BAR: i32 = 18;
    const STEP: i32 = 26;
    const TOP: i32 = 48;
    let Some(most) = rows
        .iter()
        .map(|row| row.1.most)
        .reduce(f64::max)
        .filter(|&most| most > 0.0)
    else {
        return Ok(());
    };
    let (start, width) = (250, WIDTH as i32 - 250 - 110);
    save(
        results,
        name,
        title,
        (TOP + rows.len() as i32 * STEP + 12) as u32,
        |area| {
            let at = |value: f64| start + (value / most * f64::from(width)).round() as i32;
            for (number, (label, spread, colour)) in rows.iter().enumerate() {
                let top = TOP + number as i32 * STEP;
                let middle = top + BAR / 2;
                let right = TextStyle::from((FONT, 16).into_font())
                    .color(&INK)
                    .pos(Pos::new(HPos::Right, VPos::Center));
                area.draw(&Text::new(label.clone(), (start - 8, middle), right))?;
                area.draw(&Rectangle::new(
                    [(start, top), (at(spread.median).max(start + 1), top + BAR)],
                    colour.filled(),
                ))?;
                if spread.least < spread.most {
                    area.draw(&PathElement::new(
                        vec![(at(spread.least), middle), (at(spread.most), middle)],
                        INK.stroke_width(1),
                    ))?;
                }
                area.draw(&Text::new(
                    significant(spread.median),
                    (at(spread.most) + 8, middle),
                    left_of(16, INK),
                ))?;
            }
            Ok(())
        },
    )
}

fn left_of(size: i32, colour: RGBColor) -> TextStyle<'static> {
    let mut style = TextStyle::from((FONT, size).into_font()).pos(Pos::new(HPos::Left, VPos::Center));
    style.color = colour.to_backend_color();
    style
}

/// Draws what is below the title, and writes the file.
fn save(
    results: &Results,
    name: &str,
    title: &str,
    height: u32,
    content: impl FnOnce(&Area<'_>) -> Result<(), DrawingAreaErrorKind<std::io::Error>>,
) -> Result<()> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        let title = Text::new(title.to_owned(), (12, 20), left_of(19, INK));
        let drawn = area
            .draw(&title)
            .and_then(|()| content(&area))
            .and_then(|()| area.present());
        drawn.map_err(|error| anyhow!("{name}: {error}"))?;
    }
    let file = results.folder().join(format!("{name}.svg"));
    fs::write(&file, themed(&svg)).with_context(|| format!("cannot write {}", file.display()))
}

/// The same drawing with the colours of the reader's theme: rules of a style win over the attributes that plotters writes.
fn themed(svg: &str) -> String {
    let rule = |from: RGBColor, to: &str| {
        let from = format!("#{:02X}{:02X}{:02X}", from.0, from.1, from.2);
        format!("[fill=\"{from}\"]{{fill:{to}}}[stroke=\"{from}\"]{{stroke:{to}}}")
    };
    let style = format!(
        "<style>@media (prefers-color-scheme: dark){{{}{}}}</style>",
        rule(INK, "#e6edf3"),
        rule(RULE, "#3d444d")
    );
    match svg
        .find("<svg")
        .and_then(|start| Some(start + svg[start..].find('>')? + 1))
    {
        Some(end) => format!("{}\n{style}{}", &svg[..end], &svg[end..]),
        None => svg.to_owned(),
    }
}

fn is_power_of_ten(value: f64) -> bool {
    let power = value.log10();
    (power - power.round()).abs() < 1e-6
}

/// A number with separators: `100,000`.
fn thousands(value: f64) -> String {
    if value < 1.0 {
        // Shortest, without what binary fractions add.
        return format!("{}", (value * 1e6).round() / 1e6);
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with three digits that mean something.
fn significant(value: f64) -> String {
    match value {
        100.0.. => thousands(value.round()),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_with_the_digits_that_matter() {
        assert_eq!(
            ["1,234,568", "95.3", "0.87"].map(str::to_owned),
            [1_234_567.8, 95.26, 0.871].map(significant)
        );
    }

    #[test]
    fn charts_follow_the_theme_of_the_reader() {
        let themed = themed("<svg width=\"1\">\n<text fill=\"#1F2328\">a</text></svg>");
        assert!(
            themed.starts_with("<svg width=\"1\">\n<style>@media (prefers-color-scheme: dark)"),
            "{themed}"
        );
        assert!(themed.contains("[fill=\"#1F2328\"]{fill:#e6edf3}"), "{themed}");
    }
}
