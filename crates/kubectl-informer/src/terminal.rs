//! The terminal as a screen: drawn by ratatui, with keys.

use anyhow::Context as _;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::{Color, Modifier, Style};
use ratatui::{DefaultTerminal, Frame};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;

/// How soon the thread that reads keys notices the end.
const KEYS: Duration = Duration::from_millis(100);

/// Whether the terminal is a screen.
static IS_SCREEN: AtomicBool = AtomicBool::new(false);

/// The terminal while it shows the screen. Dropping it shows again what was there before.
pub(crate) struct Terminal(DefaultTerminal);

impl Terminal {
    /// Takes the terminal.
    ///
    /// # Errors
    /// It cannot be used, for example because it is none.
    pub(crate) fn open() -> anyhow::Result<Self> {
        let terminal = ratatui::try_init().context("cannot use this terminal as a screen")?;
        IS_SCREEN.store(true, Ordering::Relaxed);
        Ok(Self(terminal))
    }

    /// Draws the screen.
    ///
    /// # Errors
    /// The terminal is gone.
    pub(crate) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> anyhow::Result<()> {
        self.0.draw(draw)?;
        Ok(())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

/// Shows again what was there before the screen, if there is one: for an end of the process in which nothing is dropped.
pub(crate) fn restore() {
    if IS_SCREEN.swap(false, Ordering::Relaxed) {
        ratatui::restore();
    }
}

/// What is pressed and else happens to the terminal. It is read by a thread, which ends when nobody wants it any more.
pub(crate) fn events() -> mpsc::Receiver<Event> {
    let (sender, receiver) = mpsc::channel(16);
    std::thread::spawn(move || {
        while !sender.is_closed() {
            match event::poll(KEYS) {
                Ok(false) => {}
                Ok(true) => {
                    let sent = event::read().map(|event| sender.blocking_send(event));
                    if !matches!(sent, Ok(Ok(()))) {
                        return;
                    }
                }
                Err(_) => return,
            }
        }
    });
    receiver
}

/// Whether a key is Ctrl-C, which is no signal while the terminal is a screen.
pub(crate) fn is_interrupt(key: &KeyEvent) -> bool {
    key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c')
}

/// The styles; without colours, if the user wants none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Theme {
    pub(crate) colors: bool,
}

impl Theme {
    pub(crate) fn title(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(crate) fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(crate) fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    pub(crate) fn color(self, color: Color) -> Style {
        match self.colors {
            true => Style::new().fg(color),
            false => Style::new(),
        }
    }
}
