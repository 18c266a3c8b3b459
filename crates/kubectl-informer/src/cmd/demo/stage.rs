//! The demo on a terminal: the same pods as `Pod` and as `Packed<Pod>`, side by side, through some bad days.

use super::CANNOT_START;
use super::follower::{self, Status};
use crate::args::DemoArgs;
use crate::output;
use crate::terminal::{self, Terminal, Theme};
use crate::text::counted;
use anyhow::{Context as _, bail};
use clap::ColorChoice;
use kube_sim::faults::{ANY, Fault};
use kube_sim::{SimServer, StartError};
use ratatui::Frame;
use ratatui::crossterm::event::{Event, KeyCode};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Color;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Gauge, Paragraph, Sparkline, Wrap};
use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, Interval};
use tokio_util::sync::CancellationToken;

/// How often the screen is drawn.
const TICK: Duration = Duration::from_millis(250);
/// The time limit for steps that usually take no time, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);
/// The time in which the caches become equal to the server's.
const COMPARED: Duration = Duration::from_secs(60);
/// How long a handler takes in the scene of the slow handler: more than the changes leave it.
const SLOW: Duration = Duration::from_millis(50);
/// The states of a follower that its chart shows.
const CHARTED: usize = 240;

/// What happens in the demo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scene {
    Start,
    List,
    Changes,
    SlowHandler,
    Relist,
    Restart,
    Comparison,
}

impl Scene {
    /// Those that take a part of the time, in tenths.
    const TIMED: [(Self, u32); 4] = [
        (Self::Changes, 3),
        (Self::SlowHandler, 3),
        (Self::Relist, 2),
        (Self::Restart, 2),
    ];

    fn caption(self) -> &'static str {
        match self {
            Self::Start => "A simulated cluster is made, with an API server.",
            Self::List => "The initial list: each cache asks the server for all pods.",
            Self::Changes => "Pods change: both caches follow by a watch.",
            Self::SlowHandler => {
                "A slow handler: 50 ms for each change. What waits is bounded: changes of one pod are merged."
            }
            Self::Relist => {
                "A relist: the watches break, and the history is gone. What is held unchanged is not decoded again."
            }
            Self::Restart => {
                "The API server is away, then comes back without its history. Reads go on from memory."
            }
            Self::Comparison => "The changes have stopped: both caches are compared with the server.",
        }
    }
}

/// A form of the pods, in a process of its own.
struct Follower {
    child: Child,
    commands: ChildStdin,
    status: watch::Receiver<Status>,
}

impl Follower {
    fn start(form: &str, server: &SimServer) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("cannot find this program")?;
        let mut child = Command::new(program)
            .args(["__follow", form, &server.url()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start a second process of this program")?;
        let (Some(commands), Some(out)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("a process without pipes");
        };
        let (sender, status) = watch::channel(Status::default());
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if let Ok(status) = serde_json::from_str(&line)
                    && sender.send(status).is_err()
                {
                    return;
                }
            }
        });
        Ok(Self {
            child,
            commands,
            status,
        })
    }

    /// Lets its handler take this long for each change.
    fn take(&mut self, time: Duration) -> anyhow::Result<()> {
        writeln!(self.commands, "{}", time.as_millis()).context("a process of the demo has ended")
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        // It ends with its input, too; but not if it hangs.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A form as it is shown.
struct Shown {
    name: &'static str,
    status: Status,
    /// The newest states' memory in MiB.
    memory: VecDeque<u64>,
    /// The CPU time of the last second, in percent of one processor.
    cpu: f64,
    /// The CPU times of the last second.
    cpu_times: VecDeque<(Instant, f64)>,
}

impl Shown {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            status: Status::default(),
            memory: VecDeque::new(),
            cpu: 0.0,
            cpu_times: VecDeque::new(),
        }
    }

    fn update(&mut self, status: Status, now: Instant) {
        self.memory.push_back(status.rss_mib as u64);
        if self.memory.len() > CHARTED {
            self.memory.pop_front();
        }
        self.cpu_times.push_back((now, status.cpu_s));
        while self.cpu_times.len() > 2 && now - self.cpu_times[0].0 > Duration::from_secs(1) {
            self.cpu_times.pop_front();
        }
        let (since, before) = self.cpu_times[0];
        let period = (now - since).as_secs_f64();
        if period > 0.0 {
            self.cpu = 100.0 * (status.cpu_s - before) / period;
        }
        self.status = status;
    }
}

/// Plays the demo once the server has started. Returns whether anything differs at the end.
pub(super) async fn play(
    args: &DemoArgs,
    mut starting: JoinHandle<Result<SimServer, StartError>>,
    stop: &CancellationToken,
) -> anyhow::Result<bool> {
    let mut stage = Stage {
        terminal: Terminal::open()?,
        events: terminal::events(),
        stop: stop.clone(),
        followers: Vec::new(),
        picture: Picture {
            scene: Scene::Start,
            pods: args.pods,
            changes: 0,
            forms: [Shown::new("Pod"), Shown::new("Packed<Pod>")],
        },
        theme: Theme {
            colors: output::has_colors(ColorChoice::Auto),
        },
        ticks: tokio::time::interval(TICK),
        ended: false,
        heeds: true,
    };
    let server = loop {
        tokio::select! {
            started = &mut starting => break started?.context(CANNOT_START)?,
            stepped = stage.step() => stepped?,
        }
        if stage.ended {
            return Ok(false);
        }
    };
    let differs = stage.play(args, &server).await;
    server.shutdown().await;
    differs
}

/// What has been seen, in lines that stay.
fn told(picture: &Picture, pods: usize, is_equal: bool) -> String {
    let mut lines: Vec<_> = picture
        .forms
        .iter()
        .map(|form| {
            format!(
                "{:<12} {pods} pods in {:>6.0} MiB (peak {:.0} MiB), {:.1} CPU seconds, {}",
                form.name,
                form.status.rss_mib,
                form.status.peak_mib,
                form.status.cpu_s,
                counted(form.status.lists, "list")
            )
        })
        .collect();
    lines.push(match is_equal {
        true => "both caches are equal to the server's, each pod by its version".into(),
        false => "DIFFERENT: a cache did not become equal to the server's".into(),
    });
    lines.join("\n")
}

struct Stage {
    terminal: Terminal,
    events: mpsc::Receiver<Event>,
    stop: CancellationToken,
    /// Those of the picture's forms, once the server has started.
    followers: Vec<Follower>,
    picture: Picture,
    theme: Theme,
    ticks: Interval,
    /// Whether the user wants the end.
    ended: bool,
    /// Whether that matters.
    heeds: bool,
}

/// What is shown.
struct Picture {
    scene: Scene,
    /// The pods at the start.
    pods: usize,
    /// The changes in the cluster so far.
    changes: u64,
    forms: [Shown; 2],
}

impl Stage {
    /// Plays the scenes, and tells what has been seen. Returns whether anything differs at the end.
    async fn play(mut self, args: &DemoArgs, server: &SimServer) -> anyhow::Result<bool> {
        self.picture.scene = Scene::List;
        for form in ["typed", "packed"] {
            self.followers.push(Follower::start(form, server)?);
        }
        let synced = |picture: &Picture| picture.forms.iter().all(|form| form.status.synced);
        if !self.until(server, Instant::now() + PATIENCE, synced).await? {
            bail!("stopped before the informers had synced");
        }
        for (scene, tenths) in Scene::TIMED {
            self.scene(server, scene, args.period * tenths / 10).await?;
        }
        self.picture.scene = Scene::Comparison;
        server.stop_churn().await;
        let pods = server.store().list("v1", "Pod", None)?;
        let text = |pod: &serde_json::Value, name: &str| {
            pod["metadata"][name].as_str().unwrap_or_default().to_owned()
        };
        let expected = follower::digest(pods.iter().map(|pod| {
            let key = format!("{}/{}", text(pod, "namespace"), text(pod, "name"));
            (key, text(pod, "resourceVersion"))
        }));
        // It is short, and the end of everything.
        self.heeds = false;
        let equal = |picture: &Picture| picture.forms.iter().all(|form| form.status.digest == expected);
        let is_equal = self.until(server, Instant::now() + COMPARED, equal).await?;
        // The terminal shows again what was there before.
        drop(self.terminal);
        output::lines(&told(&self.picture, pods.len(), is_equal))?;
        Ok(!is_equal)
    }

    /// Plays a scene.
    async fn scene(&mut self, server: &SimServer, scene: Scene, time: Duration) -> anyhow::Result<()> {
        if self.ended {
            return Ok(());
        }
        self.picture.scene = scene;
        let begun = Instant::now();
        let mut away: Option<Fault> = None;
        match scene {
            Scene::SlowHandler => self.take(SLOW)?,
            Scene::Relist => {
                // What the watches have not read when they break is no longer in the history.
                let held = server.faults().hold_watches_of("pods").start();
                self.until(server, begun + time / 4, |_| false).await?;
                server.faults().compact();
                server.faults().cut_watches_of("pods");
                held.remove();
            }
            Scene::Restart => {
                away = Some(server.faults().refuse(ANY, "pods", 503).start());
                server.faults().restart();
            }
            Scene::Start | Scene::List | Scene::Changes | Scene::Comparison => {}
        }
        self.until(server, begun + time / 2, |_| false).await?;
        if let Some(away) = away {
            away.remove();
        }
        self.until(server, begun + time, |_| false).await?;
        if scene == Scene::SlowHandler {
            self.take(Duration::ZERO)?;
        }
        Ok(())
    }

    fn take(&mut self, time: Duration) -> anyhow::Result<()> {
        self.followers
            .iter_mut()
            .try_for_each(|follower| follower.take(time))
    }

    /// Shows what happens until `done`. Returns whether that was in time, and nobody has ended it.
    async fn until(
        &mut self,
        server: &SimServer,
        end: Instant,
        done: impl Fn(&Picture) -> bool,
    ) -> anyhow::Result<bool> {
        loop {
            self.picture.changes = server.changes();
            self.step().await?;
            if done(&self.picture) {
                return Ok(true);
            }
            if (self.ended && self.heeds) || Instant::now() >= end {
                return Ok(false);
            }
        }
    }

    /// Waits for what happens next, or a moment, and shows it.
    async fn step(&mut self) -> anyhow::Result<()> {
        tokio::select! {
            () = self.stop.cancelled(), if self.heeds => self.ended = true,
            event = self.events.recv() => match event {
                Some(Event::Key(key)) => {
                    self.ended |= key.code == KeyCode::Char('q') || terminal::is_interrupt(&key);
                }
                Some(_) => {}
                None => bail!("the terminal is gone"),
            },
            _ = self.ticks.tick() => {}
        }
        let now = Instant::now();
        for (shown, follower) in self.picture.forms.iter_mut().zip(&mut self.followers) {
            if let Some(status) = follower.child.try_wait()? {
                bail!("the process that holds {} has ended: {status}", shown.name);
            }
            if follower.status.has_changed().unwrap_or_default() {
                shown.update(follower.status.borrow_and_update().clone(), now);
            }
        }
        let (picture, theme) = (&self.picture, self.theme);
        self.terminal.draw(|frame| draw(frame, picture, theme))
    }
}

fn draw(frame: &mut Frame<'_>, picture: &Picture, theme: Theme) {
    // On a small screen the charts are what shrinks.
    let [head, caption, body, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(caption_height(picture.scene, frame.area().width)),
        Constraint::Fill(1),
        Constraint::Length(2),
    ])
    .areas(frame.area());
    let title = Line::from(vec![
        Span::styled("kube-informer demo", theme.title()),
        Span::raw(format!(
            "  the same {} pods, held in two forms; {} changes so far",
            picture.pods, picture.changes
        )),
    ]);
    frame.render_widget(title, head);
    let block = Block::bordered().border_style(theme.color(Color::Yellow));
    frame.render_widget(
        Paragraph::new(picture.scene.caption())
            .style(theme.title())
            .wrap(Wrap { trim: true })
            .block(block),
        caption,
    );
    let columns: [Rect; 2] = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).areas(body);
    let most = picture
        .forms
        .iter()
        .map(|form| form.status.peak_mib)
        .fold(1.0, f64::max);
    for (form, area) in picture.forms.iter().zip(columns) {
        draw_form(frame, area, form, picture.pods, most, theme);
    }
    let [typed, packed] = &picture.forms;
    let compared = match packed.status.synced && typed.status.synced {
        true => format!(
            "Packed<Pod> holds them in {:.0} instead of {:.0} MiB, with {:.1} instead of {:.1} CPU seconds",
            packed.status.rss_mib, typed.status.rss_mib, packed.status.cpu_s, typed.status.cpu_s
        ),
        false => String::new(),
    };
    let lines = vec![
        Line::styled(compared, theme.title()),
        Line::styled("q: end, with the comparison", theme.faint()),
    ];
    frame.render_widget(Paragraph::new(lines), foot);
}

/// The height of the caption with its frame: one line, or two if the screen is narrow.
fn caption_height(scene: Scene, width: u16) -> u16 {
    match crate::text::width(scene.caption()) + 2 <= usize::from(width) {
        true => 3,
        false => 4,
    }
}

fn draw_form(frame: &mut Frame<'_>, area: Rect, form: &Shown, pods: usize, most: f64, theme: Theme) {
    let color = match form.name {
        "Pod" => Color::Red,
        _ => Color::Green,
    };
    let block = Block::bordered().title(Line::styled(format!(" {} ", form.name), theme.title()));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let [gauge, rest] = Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(inner);
    let [numbers, chart] = Layout::vertical([Constraint::Max(6), Constraint::Fill(1)]).areas(rest);
    let status = &form.status;
    let memory = Gauge::default()
        .ratio((status.rss_mib / most).clamp(0.0, 1.0))
        .label(format!("{:.0} MiB", status.rss_mib))
        .gauge_style(theme.color(color));
    frame.render_widget(memory, gauge);
    let state = match &status.trouble {
        Some(trouble) => Line::styled(
            format!("no watch: {}", crate::text::printable(trouble)),
            theme.color(Color::Red),
        ),
        None if status.synced => Line::from("watching"),
        None => Line::from("listing"),
    };
    let numbers_lines = vec![
        Line::from(format!("pods        {} of {pods} at the start", status.objects)),
        Line::from(format!(
            "CPU         {:.1} s, now {:.0} %",
            status.cpu_s, form.cpu
        )),
        Line::from(format!(
            "handler     {} told, {} waiting",
            status.handled, status.waiting
        )),
        Line::from(format!("lists       {}", status.lists)),
        state,
    ];
    frame.render_widget(Paragraph::new(numbers_lines), numbers);
    let width = usize::from(chart.width);
    let skipped = form.memory.len().saturating_sub(width);
    let data: Vec<u64> = form.memory.iter().skip(skipped).copied().collect();
    let sparkline = Sparkline::default()
        .data(&data)
        .max(most as u64)
        .style(theme.color(color));
    frame.render_widget(sparkline, chart);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::backend::TestBackend;

    fn picture(scene: Scene) -> Picture {
        let mut forms = [Shown::new("Pod"), Shown::new("Packed<Pod>")];
        let now = Instant::now();
        for (form, memory) in forms.iter_mut().zip([400.0, 20.0]) {
            for second in 0..3_u32 {
                let status = Status {
                    objects: 5000,
                    synced: true,
                    handled: 5100,
                    waiting: 7,
                    lists: 1,
                    rss_mib: memory,
                    peak_mib: memory,
                    cpu_s: memory / 100.0 + 0.5 * f64::from(second),
                    ..Status::default()
                };
                form.update(status, now + Duration::from_secs(second.into()));
            }
        }
        Picture {
            scene,
            pods: 5000,
            changes: 100,
            forms,
        }
    }

    fn drawn(picture: &Picture) -> String {
        drawn_on(picture, 100, 20)
    }

    fn drawn_on(picture: &Picture, width: u16, height: u16) -> String {
        let mut terminal = ratatui::Terminal::new(TestBackend::new(width, height)).unwrap();
        let theme = Theme { colors: false };
        terminal.draw(|frame| draw(frame, picture, theme)).unwrap();
        let buffer = terminal.backend().buffer().clone();
        let lines = buffer.content().chunks(width.into()).map(|cells| {
            let line: String = cells.iter().map(|cell| cell.symbol()).collect();
            line.trim_end().to_owned()
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn both_forms_are_side_by_side() {
        let text = drawn(&picture(Scene::SlowHandler));
        for expected in [
            "the same 5000 pods, held in two forms; 100 changes so far",
            "A slow handler: 50 ms for each change.",
            "400 MiB",
            "20 MiB",
            "handler     5100 told, 7 waiting",
            "CPU         5.0 s, now 50 %",
            "Packed<Pod> holds them in 20 instead of 400 MiB, with 1.2 instead of 5.0 CPU seconds",
        ] {
            assert!(text.contains(expected), "no {expected:?} in\n{text}");
        }
        let line = text.lines().find(|line| line.contains(" Pod ")).unwrap();
        assert!(line.contains(" Packed<Pod> "), "{text}");
    }

    #[test]
    fn a_small_screen_has_all_but_the_charts() {
        let text = drawn_on(&picture(Scene::SlowHandler), 60, 14);
        for expected in [
            "kube-informer demo",
            "A slow handler: 50 ms for each change.",
            "changes of one pod are merged.",
            "400 MiB",
            "pods        5000",
            "CPU         5.0 s",
            "Packed<Pod> holds them in 20",
            "q: end",
        ] {
            assert!(text.contains(expected), "no {expected:?} in\n{text}");
        }
    }

    #[test]
    fn an_outage_says_why() {
        let mut picture = picture(Scene::Restart);
        picture.forms[1].status.trouble = Some("503\u{1b}[2J".into());
        let text = drawn(&picture);
        assert!(
            text.contains(r"no watch: 503\u001b[2J") && text.contains("watching"),
            "{text}"
        );
    }

    #[test]
    fn the_end_tells_what_was_seen() {
        let text = told(&picture(Scene::Comparison), 5001, true);
        assert!(
            text.starts_with(
                "Pod          5001 pods in    400 MiB (peak 400 MiB), 5.0 CPU seconds, 1 list\n"
            ),
            "{text}"
        );
        assert!(text.ends_with("both caches are equal to the server's, each pod by its version"));
        assert!(told(&picture(Scene::Comparison), 5001, false).contains("DIFFERENT"));
    }

    #[test]
    fn the_scenes_take_the_whole_time() {
        assert_eq!(Scene::TIMED.iter().map(|(_, tenths)| tenths).sum::<u32>(), 10);
    }
}
