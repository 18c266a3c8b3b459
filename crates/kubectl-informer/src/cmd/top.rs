//! `top`: shows which kinds, objects and field managers change most.
//!
//! An informer for each kind holds its objects packed ([`Informers`]); [`model`] counts what they tell. The screen and the
//! table show the model.

mod history;
mod keys;
mod model;
mod screen;
mod table;

use crate::args::{TopArgs, TopOutput, reflector_options};
use crate::informers::{Happened, Informers};
use crate::open_files;
use crate::output;
use crate::progress;
use crate::signals::{Meaning, Stop};
use crate::target::{Kinds, Skipped};
use anyhow::bail;
use jiff::Timestamp;
use model::{Model, State};
use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::Instant;

/// The bytes of diffs that are kept.
const HISTORY: usize = 16 << 20;
/// The time after a signal at which the program ends even if a task hangs.
const GRACE: Duration = Duration::from_secs(4);

pub(crate) async fn run(args: TopArgs) -> anyhow::Result<ExitCode> {
    let json = args.output == Some(TopOutput::Json);
    let once = args.once || json || !std::io::stdout().is_terminal();
    let meaning = match once {
        true => Meaning::Interruption,
        false => Meaning::End,
    };
    // The screen resets the terminal before it ends, however long that takes.
    let stop = Stop::on_signal(meaning, once.then_some(GRACE))?;
    let found = stop.token.run_until_cancelled(Kinds::find(&args.cluster)).await;
    let Some(found) = found else {
        return match once {
            true => Err(stop.interrupted("before the server told what it has")),
            false => Ok(ExitCode::SUCCESS),
        };
    };
    let found = found?;
    let server = found.server()?;
    let Kinds {
        mut targets,
        mut skipped,
    } = found;
    let most = open_files::most_connections();
    skipped.extend(targets.drain(most.min(targets.len())..).map(|target| Skipped {
        resource: target.resource.full_name(),
        why: open_files::too_many(most),
    }));
    let mut top = Top {
        server,
        model: Model::new(targets.iter().map(|target| target.resource.clone()), HISTORY),
        skipped,
        informers: Informers::start(&targets, &reflector_options(), &stop.token)?,
    };
    let shown = match once {
        true => top.once(&args, &stop).await,
        false => screen::show(&mut top, &args, &stop.token).await,
    };
    stop.token.cancel();
    top.informers.stopped().await?;
    shown.map(|()| ExitCode::SUCCESS)
}

/// The kinds of a cluster, and what is known of them.
struct Top {
    server: String,
    model: Model,
    skipped: Vec<Skipped>,
    informers: Informers,
}

impl Top {
    /// Prints one table.
    async fn once(&mut self, args: &TopArgs, stop: &Stop) -> anyhow::Result<()> {
        let progress = progress::doing("listing all kinds");
        let listed = stop.token.run_until_cancelled(self.listed(args.time_limit)).await;
        progress.set_message(format!("counting changes for {:?}", args.period));
        let started = Instant::now();
        let counted = match listed {
            Some(()) => {
                stop.token
                    .run_until_cancelled(self.counted(started + args.period))
                    .await
            }
            None => None,
        };
        if counted.is_none() {
            return Err(stop.interrupted("before the changes were counted"));
        }
        drop(progress);
        if let Some(why) = self.nothing_listed() {
            bail!("cannot list any kind; {why}{}", args.cluster.instead(&why));
        }
        let table = table::Table::of(self, args, started);
        match args.output {
            Some(TopOutput::Json) => output::line(&serde_json::to_string(&table)?)?,
            _ => output::lines(&table.text())?,
        }
        if let Some(why) = table.unwatched() {
            bail!("no kind is watched any more; {why}");
        }
        if table.is_empty() {
            output::diagnostic(&match &args.filter {
                Some(text) => format!("no kind that has objects has {text:?} in its name"),
                None => "no kind has objects".to_owned(),
            });
        }
        Ok(())
    }

    /// The first kind and why it was not listed, if none was.
    fn nothing_listed(&self) -> Option<String> {
        let mut why = None;
        for kind in &self.model.kinds {
            if kind.listed {
                return None;
            }
            let state = kind.state.problem().unwrap_or("it was not listed in time");
            why.get_or_insert_with(|| format!("{}: {state}", kind.resource.full_name()));
        }
        why
    }

    /// Waits until every kind is listed or refused, and forgets the changes until then.
    async fn listed(&mut self, limit: Duration) {
        let until = Instant::now() + limit;
        let is_open = |model: &Model| {
            let open = |state: &State| matches!(state, State::Listing | State::Failing(_));
            model.kinds.iter().any(|kind| open(&kind.state))
        };
        while is_open(&self.model) && Instant::now() < until {
            self.read_until(until.min(Instant::now() + Duration::from_millis(50)))
                .await;
        }
        self.model.forget_changes(Instant::now());
    }

    /// Counts changes until then, and looks now and then which kinds are watched.
    async fn counted(&mut self, until: Instant) {
        while Instant::now() < until {
            self.read_until(until.min(Instant::now() + Duration::from_millis(250)))
                .await;
        }
    }

    /// Takes notice of what happens until then.
    async fn read_until(&mut self, time: Instant) {
        loop {
            tokio::select! {
                happened = self.informers.next() => match happened {
                    Some(happened) => self.apply(happened),
                    None => return tokio::time::sleep_until(time).await,
                },
                () = tokio::time::sleep_until(time) => {
                    self.model.read_states(self.informers.statuses(), Instant::now());
                    return;
                }
            }
        }
    }

    fn apply(&mut self, (kind, step): Happened) {
        self.model.apply(kind, &step, Instant::now(), Timestamp::now());
    }
}
