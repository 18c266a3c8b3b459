//! `completion`: scripts for shells, and the candidates that kubectl asks a plugin for.
//!
//! kubectl completes `kubectl informer ...` by running the executable `kubectl_complete-informer` with the words after
//! the plugin's name, the last of which is the incomplete one. It expects a candidate on each line, with a description
//! after a tab, and at the end a directive of Cobra's: a colon and a number. The script only calls `__complete`.

use crate::args::{self, Args, CONDITIONS, ConnectionArgs, Shell, WATCH_OUTPUTS};
use crate::config;
use crate::config::given;
use crate::connection::Connection;
use crate::discovery::{Resource, Resources};
use crate::output;
use crate::recording::Reader;
use clap::{Arg, Command, CommandFactory as _, Parser as _};
use kube::Resource as _;
use kube::core::DynamicObject;
use serde::Deserialize;
use std::ffi::OsString;
use std::fs::File;
use std::process::ExitCode;
use std::time::Duration;

/// The script that kubectl calls.
const KUBECTL: &str = "#!/usr/bin/env sh
# Completion of `kubectl informer`; it belongs on the PATH as kubectl_complete-informer and must be executable.
exec kubectl informer __complete -- \"$@\"
";

/// The number of Cobra's directive that asks the shell not to complete file names.
const NO_FILES: &str = ":4";
/// That which asks for what the shell does on its own.
const DEFAULT: &str = ":0";

/// How long a server may take to say what it has.
const PATIENCE: Duration = Duration::from_secs(3);
/// The most objects whose names are asked for.
const MOST: usize = 1000;
/// Only the metadata of objects.
const METADATA: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// Prints the script of a shell.
///
/// # Errors
/// The reader has closed the output.
pub(crate) fn script(shell: Shell) -> anyhow::Result<ExitCode> {
    let generator = match shell {
        Shell::Kubectl => {
            output::lines(KUBECTL.trim_end())?;
            return Ok(ExitCode::SUCCESS);
        }
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Fish => clap_complete::Shell::Fish,
        Shell::Powershell => clap_complete::Shell::PowerShell,
        Shell::Zsh => clap_complete::Shell::Zsh,
    };
    let mut script = Vec::new();
    clap_complete::generate(generator, &mut Args::command(), "kubectl-informer", &mut script);
    output::raw(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the candidates for the last word.
///
/// # Errors
/// The reader has closed the output.
pub(crate) async fn candidates(words: &[String]) -> anyhow::Result<ExitCode> {
    let (incomplete, before) = words
        .split_last()
        .map_or(("", words), |(last, before)| (&**last, before));
    // As they are parsed when the line is run.
    let words = ["kubectl-informer"].into_iter().map(OsString::from);
    let words = Args::with_options_behind(words.chain(before.iter().map(OsString::from)));
    let words = words
        .into_iter()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned());
    let before = &words.collect::<Vec<_>>()[..];
    let mut candidates = match wanted(before, incomplete) {
        Wanted::Nothing => return directive(DEFAULT),
        Wanted::Listed(candidates) => candidates,
        Wanted::Asked(question, prefix) => {
            let found = tokio::time::timeout(PATIENCE, answer(before, &question)).await;
            let found = found.ok().flatten().unwrap_or_default();
            let named = found
                .into_iter()
                .map(|name| (format!("{prefix}{name}"), String::new()));
            named.collect()
        }
    };
    candidates.retain(|(text, _)| text.starts_with(incomplete));
    for (text, about) in candidates {
        match about.lines().next() {
            Some(about) => output::pair(&text, about)?,
            None => output::line(&text)?,
        }
    }
    directive(NO_FILES)
}

fn directive(directive: &str) -> anyhow::Result<ExitCode> {
    output::line(directive)?;
    Ok(ExitCode::SUCCESS)
}

/// A word, and what it means.
type Candidate = (String, String);

/// What may stand in the place of the incomplete word.
enum Wanted {
    Listed(Vec<Candidate>),
    /// What has to be looked up, and what stands before it in the word.
    Asked(Question, String),
    /// A value that only the user knows, such as a file.
    Nothing,
}

/// What is looked up.
enum Question {
    /// The resources of the server.
    Resources,
    /// Those of a recording.
    Recorded(String),
    /// The objects of a resource, but for those that are named already.
    Objects(String, Vec<String>),
    Namespaces,
    /// What a kubeconfig has, by the option that takes it.
    Kubeconfig(String),
}

fn wanted(before: &[String], incomplete: &str) -> Wanted {
    let mut root = Args::command();
    root.build();
    let mut command = &root;
    let mut words = before.iter();
    let mut positionals: Vec<&str> = Vec::new();
    while let Some(word) = words.next() {
        if let Some(option) = option(command, word) {
            // The value is the next word.
            if takes_value(option) && !word.contains('=') && words.next().is_none() {
                return values(option, "", incomplete);
            }
        } else if let Some(found) = command.find_subcommand(word) {
            command = found;
        } else {
            positionals.push(word);
        }
    }
    if let Some((name, value)) = incomplete.split_once('=')
        && let Some(option) = option(command, name)
    {
        return values(option, &format!("{name}="), value);
    }
    if incomplete.starts_with('-') {
        return Wanted::Listed(options(command));
    }
    let subcommands = command.get_subcommands().filter(|command| !command.is_hide_set());
    let subcommands: Vec<_> = subcommands
        .map(|command| (command.get_name().to_owned(), about(command.get_about())))
        .collect();
    let takes = |number: usize, name: &str| {
        let positional = command.get_positionals().nth(number);
        positional.is_some_and(|positional| positional.get_id().as_str().starts_with(name))
    };
    // A list keeps what is before its last comma.
    let list = incomplete
        .rfind(',')
        .map_or("", |comma| &incomplete[..=comma])
        .to_owned();
    match (&*positionals, incomplete.split_once('/')) {
        _ if !subcommands.is_empty() => Wanted::Listed(subcommands),
        (_, Some((resource, _))) if takes(0, "resources") => {
            let question = Question::Objects(resource.to_owned(), vec![]);
            Wanted::Asked(question, format!("{resource}/"))
        }
        ([], _) if takes(0, "resource") => Wanted::Asked(Question::Resources, list),
        ([resource, names @ ..], None) if takes(0, "resources") && !resource.contains(['/', ',']) => {
            let names = names.iter().map(ToString::to_string).collect();
            Wanted::Asked(Question::Objects((*resource).to_owned(), names), String::new())
        }
        ([], _) if takes(0, "file") || takes(0, "folder") => Wanted::Nothing,
        ([file], _) if takes(0, "file") && takes(1, "resources") => {
            Wanted::Asked(Question::Recorded((*file).to_owned()), list)
        }
        ([], _) => match command.get_positionals().next() {
            Some(first) if !first.get_possible_values().is_empty() => values(first, "", incomplete),
            _ => Wanted::Listed(vec![]),
        },
        _ => Wanted::Listed(vec![]),
    }
}

fn option<'c>(command: &'c Command, word: &str) -> Option<&'c Arg> {
    let name = word.split('=').next().unwrap_or_default();
    command.get_arguments().find(|argument| {
        let long = argument
            .get_long()
            .is_some_and(|long| name.strip_prefix("--") == Some(long));
        let short = argument
            .get_short()
            .is_some_and(|short| name == format!("-{short}"));
        long || short
    })
}

/// Whether the next word is its value.
fn takes_value(option: &Arg) -> bool {
    option.get_action().takes_values() && !option.is_require_equals_set()
}

/// These candidates, which are values of an option.
fn listed(candidates: &[(&str, &str)], before: &str) -> Wanted {
    let candidates = candidates.iter();
    let candidates = candidates.map(|(text, about)| (format!("{before}{text}"), (*about).to_owned()));
    Wanted::Listed(candidates.collect())
}

/// The values of an option, if they can be known. Those before a comma are kept, and not proposed again.
fn values(option: &Arg, before: &str, incomplete: &str) -> Wanted {
    match option.get_id().as_str() {
        "namespace" | "shard_namespace" => return Wanted::Asked(Question::Namespaces, before.to_owned()),
        name @ ("context" | "cluster" | "user") => {
            return Wanted::Asked(Question::Kubeconfig(name.to_owned()), before.to_owned());
        }
        "output" if option.get_possible_values().is_empty() => return listed(&WATCH_OUTPUTS, before),
        "until" => return listed(&CONDITIONS, before),
        _ => {}
    }
    let given = match option.get_value_delimiter() {
        Some(delimiter) => incomplete.rfind(delimiter).map_or("", |end| &incomplete[..=end]),
        None => "",
    };
    let values: Vec<_> = option
        .get_possible_values()
        .into_iter()
        .filter(|value| !value.is_hide_set() && !given.split(',').any(|given| given == value.get_name()))
        .map(|value| {
            (
                format!("{before}{given}{}", value.get_name()),
                about(value.get_help()),
            )
        })
        .collect();
    match values.is_empty() {
        true => Wanted::Nothing,
        false => Wanted::Listed(values),
    }
}

fn options(command: &Command) -> Vec<Candidate> {
    let options = command.get_arguments().filter(|option| !option.is_hide_set());
    let named =
        options.filter_map(|option| Some((format!("--{}", option.get_long()?), about(option.get_help()))));
    named.collect()
}

fn about(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}

/// What a question's answer is; `None` if nobody knows.
async fn answer(before: &[String], question: &Question) -> Option<Vec<String>> {
    if let Question::Recorded(file) = question {
        let reader = Reader::new(File::open(file).ok()?).ok()?;
        return Some(
            reader
                .header()
                .resources
                .iter()
                .map(Resource::full_name)
                .collect(),
        );
    }
    let command = parsed(before)?;
    let named = command
        .scope()
        .and_then(|scope| given(&scope.namespace))
        .map(ToOwned::to_owned);
    let args = command.into_connection()?;
    match question {
        Question::Kubeconfig(option) => of_kubeconfig(&args, option),
        Question::Namespaces => names(&Connection::new(&args).await.ok()?, "/api/v1/namespaces").await,
        Question::Resources | Question::Recorded(_) => {
            let connection = Connection::new(&args).await.ok()?;
            Some(Resources::of(&connection).await.ok()?.watchable())
        }
        Question::Objects(resource, known) => {
            let connection = Connection::new(&args).await.ok()?;
            let resources = Resources::of(&connection).await.ok()?;
            let resource = resources.resolve(resource).ok()?;
            let namespace = resource
                .namespaced
                .then(|| named.unwrap_or(connection.default_namespace.clone()));
            let path = DynamicObject::url_path(&resource.api(), namespace.as_deref());
            let mut found = names(&connection, &path).await?;
            found.retain(|name| !known.contains(name));
            Some(found)
        }
    }
}

/// The command of incomplete words, which say which server it is. Without what is not there yet: the value of the last option, and what
/// the command needs.
fn parsed(before: &[String]) -> Option<args::Command> {
    let without_option = before.split_last().map_or(before, |(_, before)| before);
    let parse = |before: &[String], more: &[&str]| {
        let words = ["kubectl-informer"]
            .into_iter()
            .chain(before.iter().map(|word| &**word));
        let words = words.chain(more.iter().copied()).map(OsString::from);
        Args::try_parse_from(words).ok()
    };
    let tried = [before, without_option].into_iter().flat_map(|before| {
        let more: [&[&str]; 4] = [&[], &["pods"], &["--file", "x"], &["pods", "--file", "x"]];
        more.map(|more| parse(before, more))
    });
    Some(tried.flatten().next()?.command)
}

/// The names that a kubeconfig has for an option.
fn of_kubeconfig(args: &ConnectionArgs, option: &str) -> Option<Vec<String>> {
    let kubeconfig = config::kubeconfig(args).ok()??;
    Some(match option {
        "context" => kubeconfig.contexts.into_iter().map(|named| named.name).collect(),
        "cluster" => kubeconfig.clusters.into_iter().map(|named| named.name).collect(),
        _ => kubeconfig
            .auth_infos
            .into_iter()
            .map(|named| named.name)
            .collect(),
    })
}

/// The names of the first objects of a list.
async fn names(connection: &Connection, path: &str) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct List {
        items: Vec<Item>,
    }
    #[derive(Deserialize)]
    struct Item {
        metadata: Meta,
    }
    #[derive(Deserialize)]
    struct Meta {
        name: String,
    }
    let answer = connection
        .get(&format!("{path}?limit={MOST}"), METADATA)
        .await
        .ok()?;
    let list: List = answer.json().ok()?;
    Some(list.items.into_iter().map(|item| item.metadata.name).collect())
}
