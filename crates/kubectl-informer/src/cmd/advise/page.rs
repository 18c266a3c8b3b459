//! The report as one page of HTML: styles and charts are in it, it runs no script and loads nothing.

use super::estimate::Form;
use super::report::{KindReport, Report};
use crate::text::{bytes, printable};
use std::fmt::Write as _;

/// The number of kinds in a chart; the table has all.
const CHARTED: usize = 12;

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1c2733; --faint: #5d6b7a; --line: #d9e0e7; --paper: #fff; --card: #f6f8fa; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e3e9ef; --faint: #98a6b5; --line: #35414d; --paper: #12181f; --card: #1a222b; }
}
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto; padding: 2rem 1.5rem;
  max-width: 72rem; }
h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .7rem; } h3 { font-size: 1rem; margin: 1rem 0 .3rem; }
p.about { color: var(--faint); margin: .2rem 0 0; }
ol.advice { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1rem 1rem 2.4rem; }
ol.advice li { margin: .3rem 0; }
.chart { display: grid; grid-template-columns: fit-content(35%) minmax(4rem, 1fr) fit-content(40%); gap: .35rem .8rem; align-items: center; }
.chart .name { text-align: right; overflow-wrap: anywhere; }
.chart .value { font-variant-numeric: tabular-nums; color: var(--faint); overflow-wrap: anywhere; }
.bar { height: 1.15rem; border-radius: 3px; min-width: 2px; }
.stack { display: flex; height: 1.15rem; border-radius: 3px; overflow: hidden; background: var(--line); }
.stack span { height: 100%; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1rem; color: var(--faint); font-size: .85rem; overflow-wrap: anywhere; grid-column: 2 / 4; margin-bottom: .4rem; }
.legend i { display: inline-block; width: .7rem; height: .7rem; border-radius: 2px; margin-right: .35rem; }
@media (max-width: 45rem) { .legend { grid-column: 1 / 4; } }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: right; padding: .3rem .6rem; border-bottom: 1px solid var(--line); white-space: nowrap;
  font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 9rem; }
td.long { text-align: left; white-space: normal; }
dt { font-weight: 600; margin-top: .4rem; } dd { margin: 0; color: var(--faint); }
";

/// The colours of parts of a stack, the last one for the rest.
const PARTS: [&str; 7] = [
    "#3b7dd8", "#e08a3c", "#3fa37a", "#c2557f", "#8a6fd1", "#c9a227", "#8c99a6",
];

/// The page.
pub(super) fn html(report: &Report) -> String {
    let mut page = String::with_capacity(64 << 10);
    // Writing to a string cannot fail.
    let _ = write!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>Caches of {server}</title><style>{STYLE}</style></head><body>\
         <h1>What caches of this cluster cost</h1><p class=\"about\">{server}, {time}; by kubectl informer advise</p>",
        server = escaped(&report.server),
        time = escaped(&report.time),
    );
    page.push_str("<h2>What to do</h2><ol class=\"advice\">");
    for advice in &report.advice {
        let _ = write!(page, "<li>{}</li>", escaped(advice));
    }
    page.push_str("</ol>");
    forms(&mut page, report);
    fields(&mut page, report);
    changes(&mut page, report);
    table(&mut page, report);
    skipped(&mut page, report);
    page.push_str("<h2>How the estimates are made</h2><dl>");
    for made in &report.made {
        let _ = write!(
            page,
            "<dt>{}</dt><dd>{}</dd>",
            made.form.name(),
            escaped(&made.how)
        );
    }
    page.push_str(
        "</dl><p class=\"about\">Measured with pods on kube-apiserver: bench/RESULTS.md of kube-informer.</p></body></html>\n",
    );
    page
}

/// The memory of all caches, a bar for each form.
fn forms(page: &mut String, report: &Report) {
    let most = report
        .total
        .iter()
        .map(|total| total.bytes)
        .max()
        .unwrap_or_default();
    page.push_str(
        "<h2>Memory of caches of these kinds together, by form</h2><div class=\"chart\" id=\"forms\">",
    );
    for total in &report.total {
        let color = match total.form {
            Form::ClientGo | Form::KubeRs => PARTS[6],
            Form::Packed => PARTS[2],
            _ => PARTS[0],
        };
        bar(
            page,
            total.form.name(),
            total.bytes as f64,
            most as f64,
            color,
            &bytes(total.bytes),
        );
    }
    page.push_str("</div>");
    if let Some(without) = report.not_in_the_sum() {
        let _ = write!(page, "<p class=\"about\">The sums are {}.</p>", escaped(&without));
    }
}

fn bar(page: &mut String, name: &str, value: f64, most: f64, color: &str, told: &str) {
    let width = match most > 0.0 {
        true => 100.0 * value / most,
        false => 0.0,
    };
    let _ = write!(
        page,
        "<div class=\"name\">{}</div><div class=\"bar\" style=\"width:{width:.2}%;background:{color}\"></div>\
         <div class=\"value\">{}</div>",
        escaped(name),
        escaped(told),
    );
}

/// The fields that make up the bytes, a stack for each kind.
fn fields(page: &mut String, report: &Report) {
    page.push_str("<h2>What makes up the bytes</h2><div class=\"chart\" id=\"fields\">");
    for kind in report.kinds.iter().filter(|kind| kind.bytes > 0).take(CHARTED) {
        let _ = write!(
            page,
            "<div class=\"name\">{}</div><div class=\"stack\">",
            escaped(&kind.resource)
        );
        let rest = 1.0 - kind.fields.iter().map(|field| field.share).sum::<f64>();
        let parts = kind.fields.iter().map(|field| (field.path.as_str(), field.share));
        let parts: Vec<_> = parts.chain([("the rest", rest.max(0.0))]).collect();
        let colors = |number: usize| PARTS[number.min(PARTS.len() - 1)];
        for (number, (path, share)) in parts.iter().enumerate() {
            let color = if *path == "the rest" {
                PARTS[6]
            } else {
                colors(number)
            };
            let _ = write!(
                page,
                "<span title=\"{}: {:.0} %\" style=\"width:{:.2}%;background:{color}\"></span>",
                escaped(path),
                100.0 * share,
                100.0 * share,
            );
        }
        let _ = write!(
            page,
            "</div><div class=\"value\">{}</div><div class=\"legend\">",
            bytes(kind.bytes)
        );
        for (number, (path, share)) in parts.iter().enumerate() {
            let color = if *path == "the rest" {
                PARTS[6]
            } else {
                colors(number)
            };
            let _ = write!(
                page,
                "<span><i style=\"background:{color}\"></i>{} {:.0} %</span>",
                escaped(path),
                100.0 * share
            );
        }
        page.push_str("</div>");
    }
    page.push_str("</div>");
}

/// The kinds that change, a bar for each.
fn changes(page: &mut String, report: &Report) {
    let mut busy: Vec<&KindReport> = report
        .kinds
        .iter()
        .filter(|kind| kind.per_second() > 0.0)
        .collect();
    busy.sort_by(|one, other| other.per_second().total_cmp(&one.per_second()));
    page.push_str("<h2>Changes a second</h2><div class=\"chart\" id=\"changes\">");
    let most = busy.first().map_or(0.0, |kind| kind.per_second());
    for kind in busy.iter().take(CHARTED) {
        let field = kind.changes.as_ref().and_then(|changes| changes.fields.first());
        let manager = kind.changes.as_ref().and_then(|changes| changes.managers.first());
        let field = field.map(|field| format!(", {}", field.name));
        let manager = manager.map(|manager| format!(" by {}", manager.name));
        let told = format!(
            "{:.1}{}{}",
            kind.per_second(),
            field.unwrap_or_default(),
            manager.unwrap_or_default()
        );
        bar(page, &kind.resource, kind.per_second(), most, PARTS[1], &told);
    }
    page.push_str("</div>");
    if busy.is_empty() {
        page.push_str(
            "<p class=\"about\">Nothing changed while the kinds were watched, or they were not watched.</p>",
        );
    }
    let failed = report.kinds.iter().filter_map(|kind| {
        let failure = kind.changes.as_ref()?.failure.as_ref()?;
        Some((&kind.resource, failure))
    });
    let failed: Vec<_> = failed.collect();
    if failed.is_empty() {
        return;
    }
    page.push_str("<h3>Whose watch ended early</h3><table><tbody>");
    for (resource, why) in failed {
        let _ = write!(
            page,
            "<tr><td>{}</td><td class=\"long\">{}</td></tr>",
            escaped(resource),
            escaped(why)
        );
    }
    page.push_str("</tbody></table>");
}

fn table(page: &mut String, report: &Report) {
    page.push_str("<h2>All kinds</h2><div class=\"scroll\"><table><thead><tr><th>resource</th><th>objects</th><th>JSON</th>");
    for form in Form::ALL {
        let _ = write!(page, "<th>{}</th>", form.name());
    }
    page.push_str("</tr></thead><tbody>");
    for kind in report.kinds.iter().filter(|kind| kind.objects > 0) {
        let more = if kind.at_least { "+" } else { "" };
        let _ = write!(
            page,
            "<tr><td>{}</td><td>{}{more}</td>",
            escaped(&kind.resource),
            kind.objects
        );
        if kind.sampled == 0 {
            let _ = write!(page, "<td class=\"long\" colspan=\"8\">not asked for</td></tr>");
            continue;
        }
        let _ = write!(page, "<td>{}</td>", bytes(kind.bytes));
        for form in Form::ALL {
            let _ = write!(page, "<td>{}</td>", bytes(kind.bytes_as(form)));
        }
        page.push_str("</tr>");
    }
    page.push_str("</tbody></table></div>");
}

fn skipped(page: &mut String, report: &Report) {
    if report.skipped.is_empty() {
        return;
    }
    page.push_str("<h2>Skipped</h2><table><tbody>");
    for skipped in &report.skipped {
        let _ = write!(
            page,
            "<tr><td>{}</td><td class=\"long\">{}</td></tr>",
            escaped(&skipped.resource),
            escaped(&skipped.why)
        );
    }
    page.push_str("</tbody></table>");
}

/// Text from outside, as text of HTML or the value of an attribute.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Skipped;

    #[test]
    fn text_from_outside_is_no_html() {
        let hostile = "</style><script>alert('1' & \"2\")</script>\u{1b}";
        let report = Report::new(
            hostile.into(),
            vec![],
            vec![Skipped {
                resource: hostile.into(),
                why: hostile.into(),
            }],
        );
        let page = html(&report);
        assert!(!page.contains("<script") && !page.contains('\u{1b}'), "{page}");
        let shown =
            "&lt;/style&gt;&lt;script&gt;alert(&#39;1&#39; &amp; &quot;2&quot;)&lt;/script&gt;\\u001b";
        assert_eq!(page.matches(shown).count(), 4);
    }

    #[test]
    fn the_page_loads_nothing() {
        let page = html(&Report::new("http://127.0.0.1".into(), vec![], vec![]));
        for outside in ["src=", "href=", "url(", "@import"] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}
