//! The options of the commands that write and read recordings.

use super::{Diff, ScopeArgs, duration};
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Args as ArgGroup, ColorChoice, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Record the changes of resources in a file.
///
/// First the objects that exist are recorded, then every change as it happens, until Ctrl-C or --for. The file is
/// compressed. A recorder that is killed leaves a file that can be read; at most its last two seconds are missing. `show` and
/// `diff` look at it, `replay` plays it to any client; `zstdcat` prints it as lines of JSON.
///
/// The values of secrets and of their annotations are replaced, unless --with-secrets is given. What other objects contain
/// (the environment of a pod, say) is recorded as it is; the file can be read by its owner only.
#[derive(Debug, ArgGroup)]
#[command(after_help = "Examples:
  kubectl informer record pods,deployments,replicasets -A --file rollout.rec
  kubectl informer record pods -n shop --file hour.rec --for 1h
  kubectl informer show rollout.rec pods --at 5m
  kubectl informer diff rollout.rec deployment/web
  kubectl informer replay rollout.rec --speed 10")]
pub(crate) struct RecordArgs {
    /// What to record, as kubectl has it: pods; pods,deploy; pod web-0 web-1; pod/web-0 deployment/web
    #[arg(required = true, value_name = "RESOURCE")]
    pub(crate) resources: Vec<String>,
    /// The file, which must not exist
    #[arg(short, long, value_name = "FILE", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub(crate) file: PathBuf,
    /// How long to record, with the time that the list takes; by default until Ctrl-C
    #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
    pub(crate) period: Option<Duration>,
    /// Record the values of secrets, too
    #[arg(long)]
    pub(crate) with_secrets: bool,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

/// A recording, and a selection of its objects.
#[derive(Debug, ArgGroup)]
pub(crate) struct RecordingArgs {
    /// The recording
    #[arg(value_name = "FILE", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub(crate) file: PathBuf,
    /// Which objects, as kubectl has it: pods; pods,deploy; pod web-0 web-1; pod/web-0; by default all
    #[arg(value_name = "RESOURCE")]
    pub(crate) resources: Vec<String>,
    /// Only objects of this namespace; by default those of all
    #[arg(short, long, value_name = "NS")]
    pub(crate) namespace: Option<String>,
    /// All namespaces, which is the default; overrides --namespace
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,
}

/// Print the objects of a recording as they were at a time.
///
/// A time is one of RFC 3339, such as 2026-01-31T12:00:00Z, or a duration since the recording began, such as 5m.
#[derive(Debug, ArgGroup)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) recording: RecordingArgs,
    /// The time; by default the end of the recording, or its last entry if it is incomplete
    #[arg(long, value_name = "TIME", value_parser = Moment::parse)]
    pub(crate) at: Option<Moment>,
    /// How to print the objects: a table, their names, or whole
    #[arg(short, long, value_enum, default_value_t = ShowOutput::Table, value_name = "FORMAT")]
    pub(crate) output: ShowOutput,
    /// Keep the managedFields in objects that are printed
    #[arg(long)]
    pub(crate) show_managed_fields: bool,
}

/// How `show` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShowOutput {
    /// A row for each object
    Table,
    /// A line for each object, such as pod/web-0
    Name,
    /// A line of JSON for each object
    Json,
    /// A document of YAML for each object
    Yaml,
}

/// Print the changes of a recording, with the fields that changed and who changed them.
///
/// A time is one of RFC 3339, such as 2026-01-31T12:00:00Z, or a duration since the recording began, such as 5m.
#[derive(Debug, ArgGroup)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    pub(crate) recording: RecordingArgs,
    /// Only changes at this time and after it
    #[arg(long, value_name = "TIME", value_parser = Moment::parse)]
    pub(crate) from: Option<Moment>,
    /// Only changes up to this time
    #[arg(long, value_name = "TIME", value_parser = Moment::parse)]
    pub(crate) to: Option<Moment>,
    /// Which fields are compared
    #[arg(long, value_enum, default_value_t = Diff::Content, value_name = "FIELDS")]
    pub(crate) fields: Diff,
    /// How to print a change
    #[arg(short, long, value_enum, default_value_t = DiffOutput::Table, value_name = "FORMAT")]
    pub(crate) output: DiffOutput,
    /// Whether to colour what is printed; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    pub(crate) color: ColorChoice,
}

/// How `diff` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffOutput {
    /// A row for each change, and a line for each field
    Table,
    /// A line of JSON for each change
    Json,
}

/// Play a recording to any client, through a simulated API server.
///
/// The server listens on a port of 127.0.0.1. It has the objects that were there when the recording had begun; then the
/// changes are made as fast as they were recorded, or --speed times as fast. After the last one it serves on until Ctrl-C.
/// Versions of objects are those of the simulated server.
#[derive(Debug, ArgGroup)]
pub(crate) struct ReplayArgs {
    /// The recording
    #[arg(value_name = "FILE", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub(crate) file: PathBuf,
    /// How many times as fast as it was recorded, or `max`
    #[arg(long, default_value = "1", value_name = "FACTOR", value_parser = Speed::parse)]
    pub(crate) speed: Speed,
    /// The port to listen on; any free one by default
    #[arg(long, default_value_t = 0, value_name = "PORT")]
    pub(crate) port: u16,
    /// Where to write a kubeconfig for the server; a file that is there is kept, unless kube-sim or a replay wrote it
    #[arg(long, value_name = "FILE", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub(crate) kubeconfig: Option<PathBuf>,
}

/// A time of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// This long after it began.
    After(Duration),
    At(jiff::Timestamp),
}

impl Moment {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let after = duration(text).map(Self::After);
        let at = || text.parse().map(Self::At);
        after
            .or_else(|_| at())
            .map_err(|_| "expected a time such as 2026-01-31T12:00:00Z, or a duration such as 5m".into())
    }

    /// In milliseconds since the recording began; zero for times before.
    pub(crate) fn millis(self, started: jiff::Timestamp) -> u64 {
        match self {
            Self::After(after) => u64::try_from(after.as_millis()).unwrap_or(u64::MAX),
            Self::At(at) => u64::try_from(at.duration_since(started).as_millis()).unwrap_or_default(),
        }
    }
}

/// How fast a recording is played.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Speed {
    Times(f64),
    /// Without waiting.
    Max,
}

impl Speed {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match text.parse::<f64>() {
            _ if text == "max" => Ok(Self::Max),
            Ok(times) if (0.001..=1_000_000.0).contains(&times) => Ok(Self::Times(times)),
            _ => Err("must be a number from 0.001 to 1000000, or max".into()),
        }
    }
}
