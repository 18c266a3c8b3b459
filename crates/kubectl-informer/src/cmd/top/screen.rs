//! The screen.

use super::Top;
use super::keys::{App, View};
use super::model::{Kind, Model, State};
use crate::age;
use crate::args::TopArgs;
use crate::output;
use crate::terminal::{self, Terminal, Theme};
use crate::text::{bytes, printable};
use clap::ColorChoice;
use ratatui::Frame;
use ratatui::crossterm::event::Event;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table, TableState};
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

/// How often the screen is drawn when no key is pressed.
const TICK: Duration = Duration::from_millis(500);
/// The changes that are applied before the screen is looked after again.
const BATCH: usize = 1000;

/// Shows the screen until the user quits.
///
/// # Errors
/// The terminal cannot be used.
pub(super) async fn show(top: &mut Top, args: &TopArgs, stop: &CancellationToken) -> anyhow::Result<()> {
    let mut terminal = Terminal::open()?;
    let mut keys = terminal::events();
    let mut app = App::new(args);
    let colors = output::has_colors(ColorChoice::Auto);
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !app.ended {
        tokio::select! {
            () = stop.cancelled() => break,
            _ = ticks.tick() => top.model.read_states(top.informers.statuses(), Instant::now()),
            key = keys.recv() => match key {
                Some(Event::Key(key)) => app.key(key, &top.model, Instant::now()),
                Some(_) => {}
                None => break,
            },
            happened = top.informers.next() => {
                let Some(happened) = happened else { break };
                top.apply(happened);
                for _ in 0..BATCH {
                    let Some(happened) = top.informers.ready() else { break };
                    top.apply(happened);
                }
                continue;
            }
        }
        let server = printable(&top.server).into_owned();
        terminal.draw(|frame| draw(frame, &server, &top.model, &app, colors, Instant::now()))?;
    }
    Ok(())
}

/// Draws a page.
fn draw(frame: &mut Frame<'_>, server: &str, model: &Model, app: &App, colors: bool, now: Instant) {
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(2), Constraint::Min(1), Constraint::Length(1)])
            .areas(frame.area());
    let theme = Theme { colors };
    let where_ = match &app.view {
        View::Kinds => summary(model, app, now),
        View::Objects { kind } => about(&model.kinds[*kind], app, now),
        View::Changes { kind, key } => format!(
            "last changes of {} {}, the newest first",
            model.kinds[*kind].resource.full_name(),
            key.as_str()
        ),
    };
    let head_lines = vec![
        Line::from(vec![
            Span::styled("kubectl informer top", theme.title()),
            Span::raw(format!("  {server}")),
        ]),
        Line::from(printable(&where_).into_owned()),
    ];
    frame.render_widget(Paragraph::new(head_lines), head);
    match &app.view {
        View::Kinds => draw_kinds(frame, body, model, app, theme, now),
        View::Objects { kind } => draw_objects(frame, body, model, app, *kind, theme),
        View::Changes { kind, key } => {
            let mut lines = Vec::new();
            for change in model.history.of(*kind, key) {
                let time = change.time.strftime("%H:%M:%SZ");
                lines.push(Line::styled(format!("{time}  {}", change.event), theme.title()));
                lines.extend(change.lines.iter().map(|line| {
                    let style = of_sign(theme, line.chars().next());
                    Line::styled(format!("    {}", printable(line)), style)
                }));
            }
            if lines.is_empty() {
                lines.push(Line::from(
                    "no change since this screen was opened, or only ones that are long past",
                ));
            }
            let scroll = u16::try_from(app.selected).unwrap_or(u16::MAX);
            frame.render_widget(Paragraph::new(lines).scroll((scroll, 0)), body);
        }
    }
    let keys = match (&app.view, app.typing) {
        (_, true) => format!("filter: {}_   Enter: done   Esc: none", printable(app.filter())),
        (View::Kinds, false) => "Enter: open   s: sort   /: filter   q: quit".into(),
        (View::Objects { .. }, false) => {
            "Enter: its changes   s: sort   /: filter   Esc: back   q: quit".into()
        }
        (View::Changes { .. }, false) => "up, down: scroll   Esc: back   q: quit".into(),
    };
    frame.render_widget(Paragraph::new(keys).style(theme.faint()), foot);
}

/// The width from which each column of the kinds is shown: the number of changes, the lag and the manager, and the largest object are
/// left out first.
const SHOWN_FROM: [u16; 9] = [0, 0, 0, 0, 100, 100, 100, 130, 0];

/// The style of a changed field, by its sign.
fn of_sign(theme: Theme, sign: Option<char>) -> Style {
    match sign {
        Some('+') => theme.color(Color::Green),
        Some('-') => theme.color(Color::Red),
        _ => theme.color(Color::Yellow),
    }
}

fn summary(model: &Model, app: &App, now: Instant) -> String {
    let objects: usize = model.kinds.iter().map(Kind::objects).sum();
    let sizes: u64 = model.kinds.iter().map(|kind| kind.bytes).sum();
    let rate: f64 = model.kinds.iter().map(|kind| kind.per_second(now)).sum();
    let sort = format!("{:?}", app.sort).to_lowercase();
    format!(
        "{objects} objects, {} of JSON, {rate:.1} changes a second; by {sort}{}",
        bytes(sizes),
        only(app.filter())
    )
}

/// Which rows there are.
fn only(filter: &str) -> String {
    match filter.is_empty() {
        true => String::new(),
        false => format!(", only *{filter}*"),
    }
}

fn about(kind: &Kind, app: &App, now: Instant) -> String {
    let managers = kind.managers(4).into_iter();
    let managers: Vec<_> = managers
        .map(|manager| format!("{} ({})", manager.name, manager.changes))
        .collect();
    let managers = match managers.is_empty() {
        true => String::new(),
        false => format!(", by {}", managers.join(", ")),
    };
    let sort = match app.largest_first {
        true => "bytes",
        false => "changes",
    };
    format!(
        "{}: {} objects, {}, {:.1} changes a second{managers}; sorted by {sort}{}",
        kind.resource.full_name(),
        kind.objects(),
        bytes(kind.bytes),
        kind.per_second(now),
        only(app.filter())
    )
}

fn draw_kinds(frame: &mut Frame<'_>, area: Rect, model: &Model, app: &App, theme: Theme, now: Instant) {
    let kinds = app.kinds(model, now);
    let names = kinds
        .iter()
        .map(|number| model.kinds[*number].resource.full_name().len());
    let longest = u16::try_from(names.max().unwrap_or_default()).unwrap_or(u16::MAX);
    // Names come first, since several kinds begin alike.
    let shown = |column: usize| area.width >= SHOWN_FROM[column];
    let rows = kinds.into_iter().map(|number| {
        let kind = &model.kinds[number];
        let rate = kind.per_second(now);
        let (largest, busiest) = (kind.largest_one(), kind.busiest_one());
        let managers = kind.managers(1).into_iter().next();
        let (last, style) = match &kind.state {
            State::Listing => ("listing...".to_owned(), theme.faint()),
            State::Failing(why) | State::Refused(why) => (why.clone(), theme.color(Color::Red)),
            State::Watching => {
                let busiest = busiest.map(|object| format!("{} ({})", object.key, object.changes));
                (busiest.unwrap_or_default(), Style::new())
            }
        };
        let rate_style = match rate > 0.0 {
            true => theme.color(Color::Yellow),
            false => theme.faint(),
        };
        let cells = [
            Cell::from(printable(&kind.resource.full_name()).into_owned()),
            Cell::from(format!("{:>8}", kind.objects())),
            Cell::from(format!("{:>9}", bytes(kind.bytes))),
            Cell::from(format!("{rate:>8.1}")).style(rate_style),
            Cell::from(format!("{:>8}", kind.changes)),
            Cell::from(kind.lag(now).map_or("    -".into(), |lag| {
                format!("{:>5}", age::human(Duration::from_secs(lag)))
            })),
            Cell::from(managers.map_or(String::new(), |manager| printable(&manager.name).into_owned())),
            Cell::from(largest.map_or(String::new(), |object| {
                format!("{} ({})", printable(&object.key), bytes(object.bytes))
            })),
            Cell::from(printable(&last).into_owned()).style(style),
        ];
        let cells = cells.into_iter().enumerate();
        Row::new(cells.filter(|(column, _)| shown(*column)).map(|(_, cell)| cell))
    });
    let header = [
        "RESOURCE",
        " OBJECTS",
        "    BYTES",
        "A SECOND",
        " CHANGES",
        "  LAG",
        "BY",
        "LARGEST",
        "BUSIEST",
    ];
    let widths = [
        Constraint::Length(longest.clamp(8, (area.width / 5 * 2).max(8))),
        Constraint::Length(8),
        Constraint::Length(9),
        Constraint::Length(8),
        Constraint::Length(8),
        Constraint::Length(5),
        Constraint::Fill(1),
        Constraint::Fill(2),
        Constraint::Fill(2),
    ];
    let widths = widths.into_iter().enumerate();
    let widths = widths
        .filter(|(column, _)| shown(*column))
        .map(|(_, width)| width);
    let header = header.into_iter().enumerate();
    let header = header.filter(|(column, _)| shown(*column)).map(|(_, name)| name);
    let table = Table::new(rows, widths)
        .header(Row::new(header).style(theme.title()))
        .row_highlight_style(theme.selected());
    frame.render_stateful_widget(table, area, &mut TableState::new().with_selected(app.selected));
}

fn draw_objects(frame: &mut Frame<'_>, area: Rect, model: &Model, app: &App, kind: usize, theme: Theme) {
    let rows = app.objects(model, kind).into_iter().map(|object| {
        Row::new([
            printable(&object.key).into_owned(),
            format!("{:>9}", bytes(object.bytes)),
            format!("{:>8}", object.changes),
        ])
    });
    let widths = [Constraint::Fill(1), Constraint::Length(9), Constraint::Length(8)];
    let table = Table::new(rows, widths)
        .header(Row::new(["OBJECT", "    BYTES", " CHANGES"]).style(theme.title()))
        .row_highlight_style(theme.selected());
    frame.render_stateful_widget(table, area, &mut TableState::new().with_selected(app.selected));
}

#[cfg(test)]
mod tests {
    use super::super::model::tests::{Steps, model, now};
    use super::*;
    use crate::feed::Step;
    use clap::Parser as _;
    use kube_informer::ObjectKey;
    use ratatui::backend::TestBackend;

    fn app() -> App {
        let args = crate::args::Args::parse_from(["kubectl-informer", "top"]);
        match args.command {
            crate::args::Command::Top(args) => App::new(&args),
            other => panic!("{other:?}"),
        }
    }

    /// The lines of the screen, without spaces at their ends.
    fn drawn(model: &Model, app: &App) -> Vec<String> {
        drawn_on(110, model, app)
    }

    /// The same on a terminal with so many columns.
    fn drawn_on(width: u16, model: &Model, app: &App) -> Vec<String> {
        let mut terminal = ratatui::Terminal::new(TestBackend::new(width, 9)).unwrap();
        terminal
            .draw(|frame| draw(frame, "http://127.0.0.1:1", model, app, false, Instant::now()))
            .unwrap();
        let buffer = terminal.backend().buffer().clone();
        let lines = buffer.content().chunks(width.into()).map(|cells| {
            let line: String = cells.iter().map(|cell| cell.symbol()).collect();
            line.trim_end().to_owned()
        });
        lines.collect()
    }

    fn filled() -> Model {
        let mut model = model();
        let steps = Steps::new();
        for step in [
            steps.add("a", "1", true),
            steps.add("b\u{1b}[2J", "1", true),
            Step::Synced,
            steps.update("a", "1", "2"),
        ] {
            model.apply(0, &step, Instant::now(), now());
        }
        model
    }

    #[test]
    fn kinds_are_rows_with_what_stands_out() {
        let lines = drawn(&filled(), &app());
        assert_eq!(lines[0], "kubectl informer top  http://127.0.0.1:1");
        assert!(lines[1].starts_with("2 objects, "), "{lines:?}");
        let header: Vec<_> = lines[2].split_whitespace().collect();
        assert_eq!(
            header.join(" "),
            "RESOURCE OBJECTS BYTES A SECOND CHANGES LAG BY BUSIEST"
        );
        let cells: Vec<_> = lines[3].split_whitespace().collect();
        assert_eq!(cells[..2], ["configmaps", "2"], "{lines:?}");
        // One change in the time since then.
        let rate: f64 = cells[4].parse().unwrap();
        assert!(rate > 0.0 && rate <= 1.0, "{lines:?}");
        assert_eq!(cells[5..], ["1", "1s", "kubectl", "ns/a", "(1)"], "{lines:?}");
        assert_eq!(lines[8], "Enter: open   s: sort   /: filter   q: quit");
    }

    #[test]
    fn a_narrow_screen_has_fewer_columns() {
        let lines = drawn_on(70, &filled(), &app());
        let header: Vec<_> = lines[2].split_whitespace().collect();
        assert_eq!(header.join(" "), "RESOURCE OBJECTS BYTES A SECOND BUSIEST");
        assert!(
            lines[3].starts_with("configmaps ") && lines[3].ends_with(" ns/a (1)"),
            "{lines:?}"
        );
        let wide = drawn_on(160, &filled(), &app());
        assert!(
            wide[2].contains(" LARGEST ") && wide[2].ends_with(" BUSIEST"),
            "{wide:?}"
        );
        assert!(
            wide[3].contains(" ns/a (") && wide[3].ends_with(" ns/a (1)"),
            "{wide:?}"
        );
        // However narrow it is.
        for width in [1, 8, 20] {
            drawn_on(width, &filled(), &app());
        }
    }

    #[test]
    fn names_of_objects_cannot_move_the_cursor() {
        let mut app = app();
        app.view = View::Objects { kind: 0 };
        let lines = drawn(&filled(), &app);
        assert!(lines[4].starts_with(r"ns/b\u001b[2J"), "{lines:?}");
    }

    #[test]
    fn an_object_shows_its_changes_as_diffs() {
        let (mut app, model) = (app(), filled());
        app.view = View::Changes {
            kind: 0,
            key: ObjectKey::from("ns/a"),
        };
        let lines = drawn(&model, &app);
        assert_eq!(lines[2], "00:00:03Z  update");
        assert_eq!(lines[3], r#"    ~ data.k: "1" -> "2"   by kubectl"#);
        app.selected = 1;
        assert_eq!(drawn(&model, &app)[2], lines[3]);
    }

    #[test]
    fn a_refused_kind_says_why() {
        let mut model = model();
        model.kinds[0].state = State::Refused("you may not list configmaps".into());
        let lines = drawn(&model, &app());
        assert!(lines[3].contains("you may not list configmaps"), "{lines:?}");
    }
}
