//! The command line.

#![allow(rustdoc::broken_intra_doc_links, rustdoc::invalid_html_tags)] // these texts are the help, as it is shown

use crate::columns::Columns;
use crate::condition::Condition;
use crate::template::Template;
use clap::{Args as ArgGroup, ColorChoice, CommandFactory as _, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

mod cluster;
pub(crate) mod hints;
mod recording;

pub(crate) use cluster::{ClusterArgs, ConnectionArgs, ScopeArgs, SelectionArgs, reflector_options};
pub(crate) use recording::{
    DiffArgs, DiffOutput, Moment, RecordArgs, RecordingArgs, ReplayArgs, ShowArgs, ShowOutput, Speed,
};

/// Kubernetes informers at the command line: a local copy of a collection that is kept up to date by a watch.
///
/// Start with `demo`: it needs no cluster.
#[derive(Debug, Parser)]
#[command(name = "kubectl-informer", bin_name = "kubectl informer", version)]
#[command(after_help = "Exit codes:
  0         it did what it was asked for; a reader that closes the output, as `head` does, is no failure
  1         failure, such as a server that cannot be reached, or a demo whose comparison finds a difference
  2         usage: the command line is invalid
  124       watch --until: the condition was not met within --timeout
  130, 143  SIGINT or SIGTERM came before it was done (watch without --until, demo,
            record, replay and the screen of top are done then)")]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Log more to standard error (-vv: every request)
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

impl Args {
    /// The words of a command line, with kubectl's options for the server and the namespace moved behind the command, as in
    /// `kubectl informer -n shop watch pods`. kubectl takes them in any place; a command says which of them it has. What kubectl
    /// writes in another way, as in `-v=6` and `--all-namespaces=true`, is taken, too.
    pub(crate) fn with_options_behind(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
        let mut rest = in_our_words(words.collect());
        let command = Self::command();
        let Some(watch) = command.find_subcommand("watch") else {
            return rest;
        };
        let moves = |id: &str| {
            let anywhere = ["namespace", "all_namespaces"].contains(&id);
            anywhere
                || watch
                    .get_arguments()
                    .any(|arg| arg.get_id() == id && arg.get_help_heading().is_some())
        };
        let known = |word: &str| {
            let (name, value) = word
                .split_once('=')
                .map_or((word, None), |(name, value)| (name, Some(value)));
            let arg = watch.get_arguments().find(|arg| match name.strip_prefix("--") {
                Some(long) => arg.get_long() == Some(long),
                None => {
                    name.strip_prefix('-').and_then(|name| name.chars().next()) == arg.get_short()
                        && arg.get_short().is_some()
                }
            })?;
            let attached = value.is_some() || (!name.starts_with("--") && name.len() > 2);
            moves(arg.get_id().as_str()).then(|| match arg.get_action().takes_values() && !attached {
                true => 2,
                false => 1,
            })
        };
        let (mut next, mut moved) = (1, Vec::new());
        while let Some(word) = rest.get(next) {
            match word.to_str() {
                Some(verbose) if verbose == "--verbose" || verbose.trim_end_matches('v') == "-" => next += 1,
                Some(option) if option.starts_with('-') => match known(option) {
                    Some(words) if next + words < rest.len() => moved.extend(rest.drain(next..next + words)),
                    _ => break,
                },
                _ => {
                    rest.splice(next + 1..next + 1, moved);
                    return rest;
                }
            }
        }
        // There is no command among them, which is told as it would be without them.
        rest.splice(next..next, moved);
        rest
    }
}

/// The flags of kubectl that people write with a value.
const FLAGS: [&str; 4] = [
    "--all-namespaces",
    "--insecure-skip-tls-verify",
    "--show-labels",
    "--show-managed-fields",
];

/// Words with kubectl's way to write flags, `--flag=true` and `-v=6`, in ours: `--flag` and `-vv`.
fn in_our_words(words: Vec<OsString>) -> Vec<OsString> {
    // What is completed is taken as it is.
    if words.iter().any(|word| word == "__complete") {
        return words;
    }
    let ours = |word: OsString| {
        let Some(text) = word.to_str() else {
            return Some(word);
        };
        if let Some((flag, value @ ("true" | "false"))) = text.split_once('=')
            && FLAGS.contains(&flag)
        {
            return (value == "true").then(|| flag.into());
        }
        let level = ["--v=", "-v=", "-v"]
            .iter()
            .find_map(|prefix| text.strip_prefix(prefix));
        match level.and_then(|level| level.parse::<u8>().ok()) {
            Some(0) => None,
            Some(1..=5) => Some("-v".into()),
            Some(_) => Some("-vv".into()),
            None => Some(word),
        }
    };
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let mut words = words.into_iter();
    let mut taken: Vec<_> = words.by_ref().take(end).filter_map(ours).collect();
    taken.extend(words);
    taken
}

// The help of each is what its arguments say: a comment here would take its place.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArgs),
    Watch(WatchArgs),
    Measure(MeasureArgs),
    Advise(AdviseArgs),
    Top(TopArgs),
    Record(RecordArgs),
    Show(ShowArgs),
    Diff(DiffArgs),
    Replay(ReplayArgs),
    Completion(CompletionArgs),
    #[command(alias = "__man")]
    Man(ManArgs),
    /// Print the candidates for the last of some words; kubectl asks for them
    #[command(name = "__complete", hide = true)]
    Complete {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Hold the pods of a server in one form and tell what that takes; the demo starts it
    #[command(name = "__follow", hide = true)]
    Follow(FollowArgs),
}

impl Command {
    /// The namespaces of a command that takes names of objects.
    pub(crate) fn scope(&self) -> Option<&ScopeArgs> {
        match self {
            Self::Watch(args) => Some(&args.scope),
            Self::Record(args) => Some(&args.scope),
            _ => None,
        }
    }

    /// The server of a command that has one.
    pub(crate) fn into_connection(self) -> Option<ConnectionArgs> {
        match self {
            Self::Watch(args) => Some(args.scope.connection),
            Self::Measure(args) => Some(args.selection.scope.connection),
            Self::Advise(args) => Some(args.cluster.connection),
            Self::Top(args) => Some(args.cluster.connection),
            Self::Record(args) => Some(args.scope.connection),
            Self::Show(_) | Self::Diff(_) | Self::Replay(_) => None,
            Self::Demo(_) | Self::Completion(_) | Self::Complete { .. } | Self::Follow(_) | Self::Man(_) => {
                None
            }
        }
    }
}

/// Print a completion script.
///
/// kubectl completes a plugin with the help of an executable: write the script for `kubectl` to a file
/// kubectl_complete-informer on the PATH, and make it executable. The other scripts are for the plugin under its own
/// name, kubectl-informer.
#[derive(Debug, ArgGroup)]
#[command(after_help = "Examples:
  kubectl informer completion kubectl > ~/.local/bin/kubectl_complete-informer
  chmod +x ~/.local/bin/kubectl_complete-informer
  source <(kubectl informer completion bash)")]
pub(crate) struct CompletionArgs {
    /// Who completes
    // The error without it says what there is.
    #[arg(value_enum, value_name = "kubectl|bash|zsh|fish|powershell")]
    pub(crate) shell: Shell,
}

/// Who completes command lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    /// kubectl, for `kubectl informer`
    Kubectl,
    /// The shell bash, for `kubectl-informer`
    Bash,
    /// The shell zsh, for `kubectl-informer`
    Zsh,
    /// The shell fish, for `kubectl-informer`
    Fish,
    /// PowerShell, for `kubectl-informer`
    Powershell,
}

/// Write manual pages.
///
/// Each command has a page, kubectl-informer-COMMAND.1, beside kubectl-informer.1. man finds them in a folder man1 of its MANPATH.
#[derive(Debug, ArgGroup)]
#[command(after_help = "Examples:
  kubectl informer man ~/.local/share/man/man1
  man kubectl-informer-watch")]
pub(crate) struct ManArgs {
    /// The folder, which is made if there is none
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

/// Show what an informer does, on a simulated cluster in this process.
///
/// A simulated API server listens on a loopback port, with nodes and pods that keep changing. Informers list and watch
/// them over HTTP, as they would a real server. At the end their caches are compared with the server's objects; the exit
/// code is 1 if anything differs. Ctrl-C ends it early, with the comparison.
///
/// On a terminal it is a screen: two processes hold the same pods, one as Pod, the other as Packed<Pod>; their memory and CPU
/// time stand side by side while pods change, a handler is slow, the history is lost, and the server is away. Elsewhere it
/// prints lines, and compares every object whole with an independent LIST.
#[derive(Debug, ArgGroup)]
pub(crate) struct DemoArgs {
    /// How many nodes the cluster has
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub(crate) nodes: usize,
    /// How many pods the cluster has at the start
    #[arg(long, default_value_t = 5000, value_name = "N")]
    pub(crate) pods: usize,
    /// How many changes a second happen in the cluster; 0: none
    #[arg(long, default_value_t = 200.0, value_name = "N", value_parser = rate)]
    pub(crate) churn: f64,
    /// The seed of the objects and changes: the same seed makes the same ones
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
    /// How long to follow the changes, such as 15s or 2m
    #[arg(long = "for", default_value = "15s", value_name = "DURATION", value_parser = duration)]
    pub(crate) period: Duration,
}

/// Hold the pods of a server in one form and tell what that takes.
#[derive(Debug, ArgGroup)]
pub(crate) struct FollowArgs {
    #[arg(value_enum)]
    pub(crate) form: Held,
    /// The server's URL
    pub(crate) server: String,
}

/// How a follower of the demo holds pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Held {
    Typed,
    Packed,
}

/// Print every change of resources, and never give up.
///
/// First come the objects that exist, each as an initial add; then every change as it happens. When the connection
/// breaks, the server restarts or its history is gone, the informer recovers and prints what it missed. If the output
/// is read more slowly than things change, successive changes of one object may be printed as one.
///
/// Standard error says when a request has failed and is repeated, when the connection is back and how many changes were
/// missed, and which namespace has no objects; with `-o json` these are lines of standard output, too.
#[derive(Debug, ArgGroup)]
#[command(after_help = "Examples:
  kubectl informer watch pods -A --diff
  kubectl informer watch deployments,replicasets,pods -l app=web
  kubectl informer watch pod web-0 --until condition=Ready --timeout 2m
  kubectl informer watch pods -o custom-columns=NAME:.metadata.name,PHASE:.status.phase
  kubectl informer watch events -A --since 5m -o jsonpath='{.reason}: {.message}'
  kubectl informer watch pods -A -o json --shard-group exporters --shard-namespace monitoring

Exit codes:
  0         ended by Ctrl-C, SIGTERM or a reader that closed the output; with --until: the condition is met
  1         failure, such as a server that cannot be reached at the start
  2         usage: the command line is invalid
  124       the condition was not met within --timeout
  130, 143  SIGINT or SIGTERM came before the condition was met")]
pub(crate) struct WatchArgs {
    /// What to watch, as kubectl has it: pods; pods,deploy; pod web-0 web-1; pod/web-0 deployment/web
    #[arg(required = true, value_name = "RESOURCE")]
    pub(crate) resources: Vec<String>,
    /// How to print a change: table, wide, name, json (one line each), yaml (the whole object),
    /// custom-columns=HEADER:PATH,..., or jsonpath=TEMPLATE.
    ///
    /// The columns of a table are those of kubectl, as the server makes them; with --cache, and if the server makes none, they are
    /// the name, the age and the version.
    ///
    /// A template is text with paths in braces, as kubectl has it: {.metadata.name}, {.spec.containers[*].image},
    /// {.status.conditions[?(@.type=="Ready")].status}, {"\n"}, {range .spec.containers[*]}{.name} {end}. Not known are
    /// .., slices, and filters with other operators than ==.
    #[arg(short, long, default_value = "table", value_name = "FORMAT", value_parser = watch_output)]
    pub(crate) output: WatchOutput,
    /// Print which fields each update changed, and which field manager did it; values of secrets are never shown.
    ///
    /// Left out are managedFields, resourceVersion and heartbeats (a lease's renewTime, the lastHeartbeatTime of
    /// conditions), unless it is --diff=all.
    #[arg(long, value_enum, value_name = "FIELDS", num_args = 0..=1, require_equals = true,
        default_missing_value = "content")]
    pub(crate) diff: Option<Diff>,
    /// Print the object with each change; for secrets, that is their data too
    #[arg(long)]
    pub(crate) show_object: bool,
    /// Keep the managedFields in objects that are printed
    #[arg(long)]
    pub(crate) show_managed_fields: bool,
    /// Show the labels of objects in the last column of a table
    #[arg(long)]
    pub(crate) show_labels: bool,
    /// End with exit code 0 as soon as every selected object meets a condition of `kubectl wait`.
    ///
    /// condition=TYPE[=STATUS] (the status is True by default), jsonpath='{.PATH}'[=VALUE] (without a value: the field
    /// exists), create (there is such an object), delete (there is none).
    #[arg(long, value_name = "CONDITION", value_parser = Condition::parse)]
    pub(crate) until: Option<Condition>,
    /// Of the objects that exist, print only those that were made or written in this time; 0: none of them.
    ///
    /// That is what creationTimestamp, managedFields and, of events, lastTimestamp tell.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) since: Option<Duration>,
    /// The time limit for --until, after which the exit code is 124; 0: check once. By default there is none
    #[arg(long, value_name = "DURATION", value_parser = duration, requires = "until")]
    pub(crate) timeout: Option<Duration>,
    /// Whether to colour what is printed; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    pub(crate) color: ColorChoice,
    /// How often to print every object again, even if unchanged; 0: never
    #[arg(long, default_value = "0", value_name = "DURATION", value_parser = duration)]
    pub(crate) resync: Duration,
    /// Save what was seen to this directory, and start from what was saved there.
    ///
    /// The saved objects are printed at once, then what changed since as any change, then that the server has confirmed
    /// it. Files can be read by their owner only; Secrets are not saved. Use a directory for each cluster.
    #[arg(long, value_name = "DIR", conflicts_with = "until")]
    pub(crate) cache: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) sharding: ShardArgs,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

/// A share of the objects.
#[derive(Debug, ArgGroup)]
pub(crate) struct ShardArgs {
    /// Share the objects with the other processes of this group: each watches those whose uid has a hash in its ranges.
    ///
    /// A process has 64 ranges divided by the number of processes. Ranges move when processes come and go; those of one that
    /// has died move after 15 seconds. The group is kept in Leases, which have to be got, listed, created, updated and deleted. A
    /// server without sharded lists (KEP-5866) sends all objects to each process, which leaves out the others. With -o json, a line
    /// {"event":"shards","ranges":["FIRST-END",...]} says which ranges it has, whenever they change.
    ///
    /// With --cache, the objects of ranges that this process had before are there at once; give each process a directory of its own. There is
    /// no --until: of what it waits for, a process would know its own share only, which changes.
    #[arg(long, value_name = "NAME", conflicts_with = "until")]
    pub(crate) shard_group: Option<String>,
    /// The namespace of the group's Leases; by default that of the context
    #[arg(long, value_name = "NAMESPACE", requires = "shard_group")]
    pub(crate) shard_namespace: Option<String>,
    /// The name of this process in the group, which no other one that runs may have; by default the host's name and a random number
    #[arg(long, value_name = "ID", requires = "shard_group")]
    pub(crate) shard_identity: Option<String>,
}

/// Measure what a cache of a resource costs.
///
/// Fills an informer's cache from the server and prints the objects, time, CPU, memory and bytes it took. The memory that the
/// program had in use before is told beside it. With --events, follows the changes until that many have arrived, and prints what they
/// cost.
#[derive(Debug, ArgGroup)]
#[command(after_help = "Examples:
  kubectl informer measure pods -A
  kubectl informer measure pods -A --form typed,packed,metadata
  kubectl informer measure pods -A --form packed --events 1000 -o json")]
pub(crate) struct MeasureArgs {
    /// How the objects are kept in memory; several are measured one after the other, each in a process of its own
    #[arg(
        long,
        value_enum,
        default_value = "typed",
        value_name = "FORM",
        value_delimiter = ','
    )]
    pub(crate) form: Vec<Decode>,
    /// Measure only this one of several forms, and print JSON
    #[arg(long, value_enum, hide = true)]
    pub(crate) alone: Option<Decode>,
    /// After the sync, wait for this many changes
    #[arg(long, value_name = "N")]
    pub(crate) events: Option<u64>,
    /// How to print the result
    #[arg(short, long, value_enum, default_value_t = MeasureOutput::Text, value_name = "FORMAT")]
    pub(crate) output: MeasureOutput,
    /// Save the cache to this directory, and start from what was saved there; needs --form packed
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
}

/// Tell what caches of a cluster would cost, and what to do about it.
///
/// Lists a sample of each kind, in pages, and watches all kinds for some seconds. From that it estimates what a cache of
/// each kind takes in client-go, in kube-rs and in each form here, which fields make up the bytes, what it saves to leave
/// some out, and which kinds and fields change most. Each estimate says how it was made.
///
/// Of objects only sizes and the names of fields are printed. Of secrets nothing is asked for but metadata.
#[derive(Debug, ArgGroup)]
#[command(after_help = "Examples:
  kubectl informer advise
  kubectl informer advise pods,deployments -n shop --for 1m
  kubectl informer advise -o html > advice.html")]
pub(crate) struct AdviseArgs {
    /// How many objects of each kind are looked at, the first of its list
    #[arg(long, default_value_t = 500, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) sample: u32,
    /// How long all kinds are watched; 0: not at all
    #[arg(long = "for", default_value = "10s", value_name = "DURATION", value_parser = duration)]
    pub(crate) period: Duration,
    /// The time limit for the samples; kinds that are not reached within it are named
    #[arg(long, default_value = "1m", value_name = "DURATION", value_parser = duration)]
    pub(crate) time_limit: Duration,
    /// How to print it
    #[arg(short, long, value_enum, default_value_t = AdviseOutput::Text, value_name = "FORMAT")]
    pub(crate) output: AdviseOutput,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

/// How `advise` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AdviseOutput {
    /// For people
    Text,
    /// One document of JSON
    Json,
    /// One page with charts that needs no other file
    Html,
}

/// Show which kinds, objects and field managers change most.
///
/// Holds all objects, compressed, and counts their changes: how many objects a kind has and how large they are, how often
/// they change and by whom, which are the largest and busiest, and how long a change takes to arrive. On a terminal it is a
/// screen; Enter opens a kind, and then one object's last changes as diffs. Elsewhere it prints one table, as with --once.
///
/// Values of secrets are never shown. The server notes the time of a write in whole seconds, so the lag is one of seconds.
#[derive(Debug, ArgGroup)]
#[command(after_help = "Keys:
  up, down, PgUp, PgDn  select          Enter  open the kind or the object
  s                     sort            Esc    back
  /                     filter          q      quit

Examples:
  kubectl informer top
  kubectl informer top pods,leases --sort bytes
  kubectl informer top --once --for 30s -o json")]
pub(crate) struct TopArgs {
    /// Print one table instead of the screen, which is the default if the output is no terminal
    #[arg(long)]
    pub(crate) once: bool,
    /// With --once: how long changes are counted after everything is listed
    #[arg(long = "for", default_value = "10s", value_name = "DURATION", value_parser = duration)]
    pub(crate) period: Duration,
    /// With --once: how long a kind may take to be listed; after that it is shown as it is
    #[arg(long, default_value = "1m", value_name = "DURATION", value_parser = duration)]
    pub(crate) time_limit: Duration,
    /// By what kinds are sorted
    #[arg(long, value_enum, default_value_t = Sort::Changes, value_name = "COLUMN")]
    pub(crate) sort: Sort,
    /// Only kinds whose names contain this
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
    /// How to print the table; json implies --once
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    pub(crate) output: Option<TopOutput>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

/// How `top` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TopOutput {
    /// A table
    Table,
    /// One document of JSON
    Json,
}

/// By what `top` sorts kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    /// Changes a second, then all changes
    Changes,
    /// The bytes of all objects
    Bytes,
    /// The number of objects
    Objects,
    /// How long changes take to arrive
    Lag,
    /// The resource's name
    Name,
}

/// How `watch` prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WatchOutput {
    /// One row for each change.
    Table,
    /// A table with more columns.
    Wide,
    /// The object's name alone, such as pod/web-0.
    Name,
    /// One line of JSON for each change.
    Json,
    /// The whole object as a YAML document.
    Yaml,
    /// A table with columns of the user.
    Columns(Columns),
    /// What a template makes of the object.
    Template(Template),
}

/// Which fields a diff shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Diff {
    /// All but managedFields, resourceVersion and heartbeats
    Content,
    /// All
    All,
}

/// How `measure` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MeasureOutput {
    /// For people
    Text,
    /// One line of JSON for each phase
    Json,
}

/// How objects are kept in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Decode {
    /// Decoded once, into a Rust type
    Typed,
    /// As their bytes without managedFields, compressed with a dictionary learned from the first objects
    Packed,
    /// Metadata without managedFields; the server sends only metadata
    Metadata,
}

/// The formats of `watch -o`, as they are completed.
pub(crate) const WATCH_OUTPUTS: [(&str, &str); 7] = [
    ("table", "One row for each change"),
    ("wide", "A table with more columns"),
    ("name", "The object's name alone, such as pod/web-0"),
    ("json", "One line of JSON for each change"),
    ("yaml", "The whole object as a YAML document"),
    ("custom-columns=", "A table with columns HEADER:PATH,..."),
    ("jsonpath=", "What a template makes of the object"),
];

/// The conditions of `watch --until`, as they are completed.
pub(crate) const CONDITIONS: [(&str, &str); 4] = [
    ("condition=", "A condition of the status, as in condition=Ready"),
    ("jsonpath=", "A field, as in jsonpath={.status.phase}=Running"),
    ("create", "There is such an object"),
    ("delete", "There is none"),
];

fn watch_output(text: &str) -> Result<WatchOutput, String> {
    const COLUMNS: &str = "custom-columns=";
    const TEMPLATE: &str = "jsonpath=";
    Ok(match text {
        "table" => WatchOutput::Table,
        "wide" => WatchOutput::Wide,
        "name" => WatchOutput::Name,
        "json" => WatchOutput::Json,
        "yaml" => WatchOutput::Yaml,
        text if text.starts_with(COLUMNS) => WatchOutput::Columns(Columns::parse(&text[COLUMNS.len()..])?),
        text if text.starts_with(TEMPLATE) => {
            WatchOutput::Template(Template::parse(&text[TEMPLATE.len()..])?)
        }
        _ => {
            return Err(
                "possible values: table, wide, name, json, yaml, custom-columns=HEADER:PATH,..., jsonpath=TEMPLATE"
                    .into(),
            );
        }
    })
}

/// The longest duration: a clock can be asked for the time after it.
const LONGEST: Duration = Duration::from_secs(87_600 * 3600);

/// `15s`, `1m30s`, `500ms`, or a plain number of seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let parsed = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => text
            .parse::<jiff::SignedDuration>()
            .ok()
            .and_then(|duration| duration.try_into().ok()),
    };
    match parsed {
        Some(duration) if duration > LONGEST => Err("must be at most 87600h, ten years".into()),
        parsed => parsed.ok_or_else(|| "expected a duration such as 15s, 1m30s or 500ms".into()),
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (0.0..=100_000.0).contains(&rate) => Ok(rate),
        _ => Err("must be a number from 0 to 100000".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn options_of_kubectl_may_stand_before_the_command() {
        let check = |line: &str, expected: &str| {
            let words = line.split(' ').map(OsString::from);
            assert_eq!(
                Args::with_options_behind(words).join(" ".as_ref()),
                expected,
                "{line}"
            );
        };
        check("ki -n shop watch pods", "ki watch -n shop pods");
        check("ki -nshop watch pods", "ki watch -nshop pods");
        check(
            "ki -A -v --context a top --once",
            "ki -v top -A --context a --once",
        );
        check(
            "ki --as=me --insecure-skip-tls-verify advise",
            "ki advise --as=me --insecure-skip-tls-verify",
        );
        check("ki -vv -s http://x watch pods", "ki -vv watch -s http://x pods");
        check("ki watch pods -v=6 --v=9 -v2 --v=0", "ki watch pods -vv -vv -v");
        check(
            "ki --all-namespaces=true watch pods --insecure-skip-tls-verify=false -- -v=1",
            "ki watch --all-namespaces pods -- -v=1",
        );
        // What is no option of kubectl's for all commands, and what is incomplete, stays where it is.
        for line in [
            "ki",
            "ki -n",
            "ki --diff watch",
            "ki watch -n shop",
            "ki -h",
            "ki --nope watch",
            "ki -A",
            "ki - watch",
            "ki __complete watch -v=6",
            "ki watch pods -v=x -vv",
        ] {
            check(line, line);
        }
    }

    #[test]
    fn every_format_that_is_completed_is_one() {
        for (format, _) in WATCH_OUTPUTS {
            let format = match format {
                "custom-columns=" => "custom-columns=A:.a",
                "jsonpath=" => "jsonpath={.a}",
                format => format,
            };
            assert!(watch_output(format).is_ok(), "{format}");
        }
    }

    #[test]
    fn every_condition_that_is_completed_is_one() {
        for (condition, _) in CONDITIONS {
            let condition = match condition {
                "condition=" => "condition=Ready",
                "jsonpath=" => "jsonpath={.status.phase}",
                condition => condition,
            };
            assert!(Condition::parse(condition).is_ok(), "{condition}");
        }
    }

    #[test]
    fn moments_are_times_or_durations() {
        let started: jiff::Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        for (text, expected) in [
            ("5m", Some(300_000)),
            ("2026-01-01T00:00:01Z", Some(1000)),
            ("2025-01-01T00:00:01Z", Some(0)),
            ("yesterday", None),
            ("-5m", None),
        ] {
            let moment = Moment::parse(text).ok();
            assert_eq!(moment.map(|moment| moment.millis(started)), expected, "{text}");
        }
    }

    #[test]
    fn speeds_are_numbers_or_max() {
        assert_eq!(Speed::parse("max"), Ok(Speed::Max));
        assert_eq!(Speed::parse("2.5"), Ok(Speed::Times(2.5)));
        for bad in ["0", "-1", "NaN", "inf", "fast", ""] {
            assert!(Speed::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations() {
        let check = |text, expected: Option<u64>| {
            assert_eq!(duration(text).ok(), expected.map(Duration::from_millis), "{text}");
        };
        check("15s", Some(15_000));
        check("1m30s", Some(90_000));
        check("500ms", Some(500));
        check("2", Some(2000));
        check("0.5", Some(500));
        for bad in [
            "",
            "-1s",
            "-1",
            "abc",
            "NaN",
            "inf",
            "5 parsecs",
            "1e19",
            "87601h",
        ] {
            check(bad, None);
        }
    }
}
