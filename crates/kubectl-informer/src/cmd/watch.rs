//! `watch`: prints every change of a resource.

mod age;
mod printer;
mod table;

use crate::args::WatchArgs;
use crate::feed::{Feed, Step};
use crate::signals::{Meaning, Stop};
use crate::target::Target;
use kube::core::DynamicObject;
use kube_informer::reflector::{Phase, ReflectorStatus};
use kube_informer::source::ErrorClass;
use kube_informer::{Partition, SharedInformer};
use printer::Printer;
use std::process::ExitCode;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The time that the informer has to stop after a signal.
const STOP: Duration = Duration::from_secs(2);
/// The time after a signal at which the program ends even if a task hangs.
const GRACE: Duration = Duration::from_secs(4);

pub(crate) async fn run(args: WatchArgs) -> anyhow::Result<ExitCode> {
    let stop = Stop::on_signal(Meaning::End, Some(GRACE))?.token;
    let Some(target) = stop.run_until_cancelled(Target::find(&args.selection)).await else {
        return Ok(ExitCode::SUCCESS);
    };
    let target = target?;
    tracing::debug!(
        resource = target.resource.full_name(),
        server = target.connection.url,
        "found"
    );
    let (informer, runner) = SharedInformer::<DynamicObject>::builder(target.source())
        .reflector_options(args.selection.reflector())
        .resync(args.resync)
        .stop_timeout(STOP)
        .build();
    let feed = Feed::new(informer.subscribe("print")?);
    let running = tokio::spawn(runner.run(stop.clone()));
    let printer = Printer::new(&args, &target.resource, informer.clone());
    let printed = print(feed, printer, &informer, &stop).await;
    stop.cancel();
    running.await??;
    printed.map(|()| ExitCode::SUCCESS)
}

/// Prints changes until the informer stops or the reader closes the output.
async fn print(
    mut feed: Feed<DynamicObject>,
    mut printer: Printer,
    informer: &SharedInformer<DynamicObject>,
    stop: &CancellationToken,
) -> anyhow::Result<()> {
    let mut status = informer.reflector_status(Partition::SINGLE);
    let mut told = Told::default();
    loop {
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            Ok(()) = status.changed() => {
                for failure in told.news(&status.borrow_and_update()) {
                    printer.failure(&failure)?;
                }
            }
            step = feed.next() => match step {
                Some(Step::Change(change)) => printer.change(&change)?,
                Some(Step::Synced) => printer.synced()?,
                None => return Ok(()),
            }
        }
    }
}

/// A failure to print.
struct Failure {
    class: String,
    message: String,
}

/// The failures that have been printed.
#[derive(Default)]
struct Told {
    errors: u64,
    /// Whether the last message said that the server does not know the resource, which is requested every few seconds.
    absent: bool,
    invalid_objects: u64,
}

impl Told {
    /// The new failures in the status. Of several failures since the last call only the last one is known, and their
    /// number.
    fn news(&mut self, status: &ReflectorStatus) -> Vec<Failure> {
        let mut news = Vec::new();
        self.absent &= status.phase != Phase::Watching;
        if let Some(error) = status
            .last_error
            .as_ref()
            .filter(|error| error.number > self.errors)
        {
            let absent = error.class == ErrorClass::NotFound;
            if !(absent && self.absent) {
                news.push(Failure {
                    class: error.class.to_string(),
                    message: format!("{}: {}", error.operation, error.message),
                });
            }
            self.absent = absent;
            self.errors = error.number;
        }
        if let Some(bad) = status
            .last_invalid_object
            .as_ref()
            .filter(|_| status.invalid_objects > self.invalid_objects)
        {
            let others = match status.invalid_objects - self.invalid_objects {
                1 => String::new(),
                several => format!("{several} objects could not be read, the last: "),
            };
            news.push(Failure {
                class: "decode".into(),
                message: format!("{others}{bad}"),
            });
            self.invalid_objects = status.invalid_objects;
        }
        news
    }
}
