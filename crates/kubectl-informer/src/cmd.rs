//! The commands.

mod advise;
mod cache;
mod completion;
mod demo;
mod man;
mod measure;
mod record;
mod replay;
mod show;
mod top;
mod watch;

use crate::args::{Args, Command};
use crate::failure;
use crate::text::printable;
use std::fmt;
use std::process::ExitCode;
use tokio::runtime::Builder;
use tracing::field::Field;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt as _;
use tracing_subscriber::fmt::format::{self, Writer};

/// Runs the command; errors are printed to standard error.
pub(crate) fn run(args: Args) -> ExitCode {
    // Its output and standard error tell of failures themselves.
    let default = match args.command {
        Command::Watch(_) | Command::Top(_) | Command::Record(_) => {
            "error,kube_client=off,kube_controller::leader_election=warn"
        }
        // It tells of failed requests and unreadable objects itself.
        Command::Measure(_) => "warn,kube_client=off,kube_informer::reflector=error",
        _ => "warn,kube_client=off",
    };
    log_to_stderr(default, args.verbose);
    let runtime = match args.command {
        // On one thread, an informer takes the least processor time and memory.
        Command::Measure(_) => Builder::new_current_thread().enable_all().build(),
        // Another one prints, and may have to wait for it.
        Command::Watch(_) => Builder::new_multi_thread().worker_threads(1).enable_all().build(),
        _ => Builder::new_multi_thread().enable_all().build(),
    };
    let result = match runtime {
        Ok(runtime) => {
            let result = runtime.block_on(command(args.command));
            // The demo may have ended while its cluster is still made, by a task that does not yield.
            runtime.shutdown_background();
            result
        }
        Err(error) => Err(anyhow::Error::new(error).context("cannot start the runtime")),
    };
    failure::exit_code(result)
}

async fn command(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Demo(args) => demo::run(args).await,
        Command::Watch(args) => watch::run(args).await,
        Command::Measure(args) => measure::run(args).await,
        Command::Advise(args) => advise::run(args).await,
        Command::Top(args) => top::run(args).await,
        Command::Record(args) => record::run(args).await,
        Command::Show(args) => show::show(&args),
        Command::Diff(args) => show::diff(&args),
        Command::Replay(args) => replay::run(args).await,
        Command::Completion(args) => completion::script(args.shell),
        Command::Complete { words } => completion::candidates(&words).await,
        Command::Follow(args) => demo::follow(args).await,
        Command::Man(args) => man::write(&args.folder),
    }
}

/// `RUST_LOG` takes precedence over the number of `-v`s.
fn log_to_stderr(default: &str, verbose: u8) {
    // Our own messages contain the failures of kube's client.
    let default = match verbose {
        0 => default,
        1 => "warn,kube_informer=debug,kubectl_informer=debug",
        _ => "debug",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_target(false)
        // Only on a terminal, and not if NO_COLOR is set.
        .with_ansi(anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never)
        .with_writer(std::io::stderr)
        // It would print them by `eprintln!`, which panics if standard error is closed.
        .log_internal_errors(false)
        .fmt_fields(format::debug_fn(write_field).delimited(" "))
        .init();
}

/// Escapes messages and fields, because they contain text from servers.
fn write_field(writer: &mut Writer<'_>, field: &Field, value: &dyn fmt::Debug) -> fmt::Result {
    let value = format!("{value:?}");
    match field.name() {
        "message" => write!(writer, "{}", printable(&value)),
        name => write!(writer, "{name}={}", printable(&value)),
    }
}
