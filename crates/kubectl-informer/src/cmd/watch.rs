//! `watch`: prints every change of some resources.

mod following;
mod news;
mod printer;
mod sharding;
mod since;
mod table;
mod tables;
mod until;

use crate::args::{WatchArgs, WatchOutput};
use crate::cmd::cache;
use crate::failure::TimedOut;
use crate::output;
use crate::signals::{Meaning, Stop};
use crate::target::Target;
use following::{Following, Happened};
use futures::StreamExt as _;
use futures::stream::SelectAll;
use kube::core::DynamicObject;
use kube_informer::SharedInformer;
use kube_informer::selector::HashRange;
use kube_informer::source::ClientSource;
use news::News;
use printer::{Printer, Watched};
use sharding::Sharding;
use since::Since;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tables::Tables;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use until::Until;

/// The time that the informers have to stop after a signal.
const STOP: Duration = Duration::from_secs(2);
/// The time after a signal at which the program ends even if a task hangs.
const GRACE: Duration = Duration::from_secs(4);

pub(crate) async fn run(args: WatchArgs) -> anyhow::Result<ExitCode> {
    let meaning = match args.until {
        Some(_) => Meaning::Interruption,
        None => Meaning::End,
    };
    let grace = args.cache.as_ref().map_or(GRACE, |_| cache::GRACE);
    let stop = Stop::on_signal(meaning, Some(grace))?;
    // Without any time, it ends once everything is listed.
    let once = args.timeout == Some(Duration::ZERO);
    let deadline = args
        .timeout
        .filter(|_| !once)
        .map(|timeout| Instant::now() + timeout);
    let found = Target::find_all(&args.resources, &args.scope);
    let Some(targets) = stop.token.run_until_cancelled(found).await else {
        return interrupted(&args, &stop);
    };
    let targets = targets?;
    let (mut watched, mut running, mut events) = (Vec::new(), JoinSet::new(), SelectAll::new());
    let mut sharding = match (&args.sharding.shard_group, targets.first()) {
        (Some(group), Some(first)) => {
            let stop = stop.token.clone();
            Some(Sharding::join(group, &args.sharding, first, stop, STOP)?)
        }
        _ => None,
    };
    for (number, target) in targets.iter().enumerate() {
        tracing::debug!(
            resource = target.resource.full_name(),
            server = target.connection.url,
            "found"
        );
        let (source, tables) = source(target, &args);
        let shards = sharding.as_ref().map(|sharding| sharding.shards.clone());
        let builder = match &shards {
            Some(shards) => SharedInformer::<DynamicObject>::over_shards(source, shards),
            None => SharedInformer::<DynamicObject>::builder(source),
        };
        let mut builder = builder
            .reflector_options(args.scope.reflector())
            .resync(args.resync)
            .stop_timeout(STOP);
        if let Some(directory) = &args.cache {
            builder = cache::in_directory(builder, directory)?;
        }
        if shards.is_some() {
            let (failed, failures) = mpsc::unbounded_channel();
            builder = builder.on_error(move |failure| _ = failed.send(News::of(failure)));
            let failures = futures::stream::unfold(failures, move |mut failures| async move {
                let news = failures.recv().await?;
                Some(((number, Happened::News(news)), failures))
            });
            events.push(failures.boxed());
        }
        let (informer, runner) = builder.build();
        let following = match shards {
            Some(_) => Following::of_shards(informer.clone(), args.resync)?,
            None => Following::new(informer.clone(), args.resync)?,
        };
        events.push(following.events(number).boxed());
        let stop = stop.token.clone();
        running.spawn(async move {
            if let Some(shards) = shards {
                // Without any, there is nothing to list yet.
                let mut selected = shards.subscribe();
                let some = selected.wait_for(|selected| !selected.is_empty());
                let _ = stop.run_until_cancelled(some).await;
            }
            runner.run(stop).await
        });
        watched.push(Watched::new(target, informer, tables));
    }
    let until = args.until.clone();
    let mut screen = Screen {
        since: args.since.map(Since::new),
        printer: Printer::new(&args, &targets),
        until: until.map(|condition| Until::new(condition, targets.len())),
        targets,
        watched,
    };
    let shown = async {
        loop {
            let next = tokio::select! {
                // What is lost or gained is told before its objects are.
                biased;
                ranges = ranges_changed(&mut sharding) => {
                    screen.printer.shards(&ranges?)?;
                    continue;
                }
                next = events.next() => next,
            };
            let Some((target, happened)) = next else {
                return Ok(false);
            };
            if screen.show(target, happened).await? {
                return anyhow::Ok(true);
            }
            if once && screen.until.as_ref().is_some_and(Until::is_listed) {
                return Err(TimedOut(String::new()).into());
            }
        }
    };
    let shown = tokio::select! {
        () = stop.token.cancelled() => Ok(None),
        shown = shown => shown.map(Some),
        () = wait(deadline) => Err(TimedOut(String::new()).into()),
    };
    stop.token.cancel();
    while let Some(ran) = running.join_next().await {
        ran??;
    }
    if let Some(sharding) = sharding {
        sharding.left().await?;
    }
    for watched in &screen.watched {
        if let Some(error) = cache::save_error(&watched.informer) {
            output::diagnostic(&format!("{}: not saved: {error}", watched.described));
        }
    }
    match shown {
        Ok(Some(true)) => Ok(ExitCode::SUCCESS),
        Ok(_) => interrupted(&args, &stop),
        Err(error) if error.is::<TimedOut>() => Err(screen.timed_out(&args).into()),
        Err(error) => Err(error),
    }
}

/// The source of a target, with kubectl's columns if they are printed. A saved cache has none: they would be those of its time.
fn source(target: &Target, args: &WatchArgs) -> (ClientSource, Option<Arc<Tables>>) {
    let is_table = matches!(args.output, WatchOutput::Table | WatchOutput::Wide);
    if !is_table || args.cache.is_some() {
        return (target.source(), None);
    }
    let tables = Arc::new(Tables::default());
    let client = tables.client(target.connection.client.clone());
    (target.source_of(client), Some(tables))
}

/// The result after a signal.
fn interrupted(args: &WatchArgs, stop: &Stop) -> anyhow::Result<ExitCode> {
    match &args.until {
        Some(condition) => Err(stop.interrupted(&format!("before {condition} was met"))),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// The ranges of this process, when they have changed.
async fn ranges_changed(sharding: &mut Option<Sharding>) -> anyhow::Result<Vec<HashRange>> {
    match sharding {
        Some(sharding) => sharding.changed().await,
        None => std::future::pending().await,
    }
}

async fn wait(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// What is printed, and what is waited for.
struct Screen {
    /// Which of the existing objects are printed.
    since: Option<Since>,
    printer: Printer,
    until: Option<Until>,
    targets: Vec<Target>,
    watched: Vec<Watched>,
}

impl Screen {
    /// Prints what happened at a target. Returns whether the condition is met.
    ///
    /// # Errors
    /// The reader has closed the output.
    async fn show(&mut self, target: usize, happened: Happened) -> anyhow::Result<bool> {
        if let Happened::Restored = happened {
            self.printer.restored(&mut self.watched[target]);
            return Ok(false);
        }
        let of = &self.watched[target];
        match &happened {
            Happened::Change(change) if self.since.as_ref().is_some_and(|since| since.is_old(change)) => {}
            Happened::Change(change) => self.printer.change(&self.watched, target, change)?,
            Happened::Restored => {}
            Happened::News(news) => self.printer.news(of, news)?,
            Happened::Unsynced(why) => self.printer.unsynced(of, why)?,
            Happened::Synced => {
                let why_none = match of.informer.store().is_empty() {
                    true => Some(self.targets[target].why_none().await),
                    false => None,
                };
                self.printer.synced(of, why_none.as_deref())?;
            }
        }
        let Some(until) = &mut self.until else {
            return Ok(false);
        };
        match &happened {
            Happened::Change(change) => until.change(target, change),
            Happened::Synced => until.synced(target),
            Happened::Restored | Happened::News(_) | Happened::Unsynced(_) => return Ok(false),
        }
        if until.is_met() {
            self.printer.met(until.condition())?;
        }
        Ok(until.is_met())
    }

    /// The error when the condition was not met in time.
    fn timed_out(&self, args: &WatchArgs) -> TimedOut {
        let names: Vec<_> = self.watched.iter().map(|watched| &*watched.described).collect();
        let missing = self.until.as_ref().map(|until| until.missing(&names));
        let condition = args.until.as_ref().map(ToString::to_string).unwrap_or_default();
        let missing = missing.unwrap_or_default();
        TimedOut(match args.timeout {
            None | Some(Duration::ZERO) => format!("{condition} is not met ({missing})"),
            Some(after) => format!("timed out after {after:?}: {condition} is not met ({missing})"),
        })
    }
}
