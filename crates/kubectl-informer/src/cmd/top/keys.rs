//! What is shown on the screen, and what keys do to it.

use super::model::{Model, Ranked, State};
use super::table::sorted;
use crate::args::{Sort, TopArgs};
use crate::terminal;
use clap::ValueEnum as _;
use kube_informer::ObjectKey;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind};
use tokio::time::Instant;

/// The number of objects of a kind that the screen lists.
const OBJECTS: usize = 200;
/// The rows by which a page moves.
const PAGE: usize = 10;

/// What the screen shows.
pub(super) struct App {
    pub(super) sort: Sort,
    /// Only kinds whose names contain this.
    pub(super) filter: String,
    /// Whether the objects of a kind are sorted by their sizes, and not by their changes.
    pub(super) largest_first: bool,
    /// Only objects whose keys contain this.
    pub(super) objects_filter: String,
    /// Whether keys are text for the filter of the page.
    pub(super) typing: bool,
    pub(super) view: View,
    /// The selected row, or how far the history is scrolled.
    pub(super) selected: usize,
    /// Whether the user has quit.
    pub(super) ended: bool,
}

/// A page of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum View {
    /// All kinds.
    Kinds,
    /// The objects of a kind.
    Objects { kind: usize },
    /// The last changes of an object.
    Changes { kind: usize, key: ObjectKey },
}

impl App {
    pub(super) fn new(args: &TopArgs) -> Self {
        Self {
            sort: args.sort,
            filter: args.filter.clone().unwrap_or_default(),
            largest_first: false,
            objects_filter: String::new(),
            typing: false,
            view: View::Kinds,
            selected: 0,
            ended: false,
        }
    }

    /// The numbers of the kinds that are shown, in their order.
    pub(super) fn kinds(&self, model: &Model, now: Instant) -> Vec<usize> {
        let mut kinds = sorted(&model.kinds, self.sort, &self.filter, now);
        kinds.retain(|number| {
            let kind = &model.kinds[*number];
            kind.objects() > 0 || kind.changes > 0 || kind.state != State::Watching
        });
        kinds
    }

    /// The objects of a kind that are shown, in their order.
    pub(super) fn objects(&self, model: &Model, kind: usize) -> Vec<Ranked> {
        model.kinds[kind].objects_with(OBJECTS, &self.objects_filter, self.largest_first)
    }

    /// The filter of the page.
    pub(super) fn filter(&self) -> &str {
        match self.view {
            View::Kinds => &self.filter,
            View::Objects { .. } | View::Changes { .. } => &self.objects_filter,
        }
    }

    /// Does what a key means.
    pub(super) fn key(&mut self, key: KeyEvent, model: &Model, now: Instant) {
        if key.kind == KeyEventKind::Release {
            return;
        }
        if terminal::is_interrupt(&key) {
            self.ended = true;
        } else if self.typing {
            self.type_filter(key.code);
        } else {
            self.command(key.code, model, now);
        }
        self.selected = self.selected.min(self.last(model, now));
    }

    fn type_filter(&mut self, key: KeyCode) {
        let filter = match self.view {
            View::Kinds => &mut self.filter,
            View::Objects { .. } | View::Changes { .. } => &mut self.objects_filter,
        };
        match key {
            KeyCode::Char(c) => filter.push(c),
            KeyCode::Backspace => {
                filter.pop();
            }
            KeyCode::Esc => {
                filter.clear();
                self.typing = false;
            }
            KeyCode::Enter => self.typing = false,
            _ => {}
        }
    }

    fn command(&mut self, key: KeyCode, model: &Model, now: Instant) {
        match key {
            KeyCode::Char('q') => self.ended = true,
            KeyCode::Up | KeyCode::Char('k') => self.selected = self.selected.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.selected += 1,
            KeyCode::PageUp => self.selected = self.selected.saturating_sub(PAGE),
            KeyCode::PageDown => self.selected += PAGE,
            KeyCode::Home => self.selected = 0,
            KeyCode::End => self.selected = usize::MAX,
            KeyCode::Char('s') if self.view == View::Kinds => self.sort = next(self.sort),
            KeyCode::Char('s') if matches!(self.view, View::Objects { .. }) => {
                self.largest_first = !self.largest_first;
            }
            KeyCode::Char('/') => self.typing = !matches!(self.view, View::Changes { .. }),
            KeyCode::Enter | KeyCode::Right => self.open(model, now),
            KeyCode::Esc | KeyCode::Backspace | KeyCode::Left => self.back(model, now),
            _ => {}
        }
    }

    /// Opens the selected row.
    fn open(&mut self, model: &Model, now: Instant) {
        let opened = match &self.view {
            View::Kinds => {
                let kinds = self.kinds(model, now);
                kinds.get(self.selected).map(|kind| View::Objects { kind: *kind })
            }
            View::Objects { kind } => {
                let objects = self.objects(model, *kind);
                objects.get(self.selected).map(|object| View::Changes {
                    kind: *kind,
                    key: object.key.clone(),
                })
            }
            View::Changes { .. } => None,
        };
        if let Some(view) = opened {
            self.view = view;
            self.selected = 0;
        }
    }

    /// Goes back to where the page was opened, with its row selected.
    fn back(&mut self, model: &Model, now: Instant) {
        let (view, selected) = match &self.view {
            View::Kinds => return,
            View::Objects { kind } => {
                self.objects_filter.clear();
                let kinds = self.kinds(model, now);
                (View::Kinds, kinds.iter().position(|shown| shown == kind))
            }
            View::Changes { kind, key } => {
                let objects = self.objects(model, *kind);
                let selected = objects.iter().position(|object| object.key == *key);
                (View::Objects { kind: *kind }, selected)
            }
        };
        self.view = view;
        self.selected = selected.unwrap_or_default();
    }

    /// The last row that can be selected.
    fn last(&self, model: &Model, now: Instant) -> usize {
        let rows = match &self.view {
            View::Kinds => self.kinds(model, now).len(),
            View::Objects { kind } => self.objects(model, *kind).len(),
            View::Changes { kind, key } => {
                let changes = model.history.of(*kind, key);
                changes.map(|change| 1 + change.lines.len()).sum()
            }
        };
        rows.saturating_sub(1)
    }
}

fn next(sort: Sort) -> Sort {
    let all = Sort::value_variants();
    let at = all.iter().position(|one| *one == sort).unwrap_or_default();
    all[(at + 1) % all.len()]
}

#[cfg(test)]
mod tests {
    use super::super::model::tests::{Steps, model, now};
    use super::*;
    use clap::Parser as _;
    use ratatui::crossterm::event::KeyModifiers;

    fn app() -> App {
        let args = crate::args::Args::parse_from(["kubectl-informer", "top", "--sort", "name"]);
        match args.command {
            crate::args::Command::Top(args) => App::new(&args),
            other => panic!("{other:?}"),
        }
    }

    fn press(app: &mut App, model: &Model, keys: &[KeyCode]) {
        for key in keys {
            app.key(KeyEvent::from(*key), model, Instant::now());
        }
    }

    fn filled() -> Model {
        let mut model = model();
        let steps = Steps::new();
        for step in [
            steps.add("a", "1", true),
            steps.add("b", "1", true),
            steps.update("b", "1", "2"),
        ] {
            model.apply(0, &step, Instant::now(), now());
        }
        model
    }

    #[test]
    fn enter_opens_a_kind_then_an_object_and_escape_closes() {
        let (mut app, model) = (app(), filled());
        press(&mut app, &model, &[KeyCode::Enter]);
        assert_eq!(app.view, View::Objects { kind: 0 });
        let names: Vec<_> = app
            .objects(&model, 0)
            .iter()
            .map(|object| object.key.to_string())
            .collect();
        assert_eq!(names, ["ns/b", "ns/a"]);
        press(&mut app, &model, &[KeyCode::Down, KeyCode::Down, KeyCode::Enter]);
        let key = ObjectKey::from("ns/a");
        assert_eq!(app.view, View::Changes { kind: 0, key });
        press(&mut app, &model, &[KeyCode::Enter, KeyCode::Esc]);
        assert_eq!((&app.view, app.selected), (&View::Objects { kind: 0 }, 1));
        press(&mut app, &model, &[KeyCode::Esc, KeyCode::Esc]);
        assert_eq!((&app.view, app.ended), (&View::Kinds, false));
    }

    #[test]
    fn objects_are_sorted_and_filtered() {
        let (mut app, mut model) = (app(), filled());
        let long = Steps::new().add("long", "a long value", true);
        model.apply(0, &long, Instant::now(), now());
        let names = |app: &App| -> Vec<_> {
            let objects = app.objects(&model, 0).into_iter();
            objects.map(|object| object.key.to_string()).collect()
        };
        press(&mut app, &model, &[KeyCode::Enter]);
        assert_eq!(names(&app), ["ns/b", "ns/long", "ns/a"]);
        press(&mut app, &model, &[KeyCode::Char('s')]);
        assert_eq!(names(&app), ["ns/long", "ns/b", "ns/a"]);
        press(
            &mut app,
            &model,
            &[KeyCode::Char('/'), KeyCode::Char('l'), KeyCode::Enter],
        );
        assert_eq!((names(&app), app.filter()), (vec!["ns/long".to_owned()], "l"));
        // The filter is one of this page.
        press(
            &mut app,
            &model,
            &[KeyCode::Enter, KeyCode::Char('/'), KeyCode::Esc],
        );
        assert_eq!(names(&app), ["ns/long"]);
        press(&mut app, &model, &[KeyCode::Esc]);
        assert_eq!((&app.view, app.filter()), (&View::Kinds, ""));
        press(&mut app, &model, &[KeyCode::Enter]);
        assert_eq!(names(&app).len(), 3);
    }

    #[test]
    fn a_slash_starts_the_filter() {
        let (mut app, model) = (app(), filled());
        press(
            &mut app,
            &model,
            &[KeyCode::Char('/'), KeyCode::Char('q'), KeyCode::Enter],
        );
        assert_eq!((&*app.filter, app.typing, app.ended), ("q", false, false));
        assert!(app.kinds(&model, Instant::now()).is_empty());
        // There is nothing to open.
        press(&mut app, &model, &[KeyCode::Enter]);
        assert_eq!(app.view, View::Kinds);
        press(&mut app, &model, &[KeyCode::Char('/'), KeyCode::Esc]);
        assert_eq!(app.kinds(&model, Instant::now()), [0]);
    }

    #[test]
    fn keys_sort_and_quit() {
        let (mut app, model) = (app(), filled());
        press(&mut app, &model, &[KeyCode::Char('s')]);
        assert_eq!(app.sort, Sort::Changes);
        press(&mut app, &model, &[KeyCode::End, KeyCode::PageDown]);
        assert_eq!(app.selected, 0);
        press(&mut app, &model, &[KeyCode::Char('q')]);
        assert!(app.ended);
        let mut app = self::app();
        app.typing = true;
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        app.key(interrupt, &model, Instant::now());
        assert!(app.ended);
    }
}
