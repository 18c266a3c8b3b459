//! `completion`: scripts for shells, and the candidates that kubectl asks a plugin for.
//!
//! kubectl completes `kubectl informer ...` by running the executable `kubectl_complete-informer` with the words after
//! the plugin's name, the last of which is the incomplete one. It expects a candidate on each line, with a description
//! after a tab, and at the end a directive of Cobra's: a colon and a number. The script only calls `__complete`.

use crate::args::{Args, ConnectionArgs, Shell};
use crate::connection::Connection;
use crate::discovery::Resources;
use crate::output;
use clap::{Arg, Command, CommandFactory as _, Parser as _};
use std::ffi::OsString;
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

/// How long a server may take to say which resources it has.
const PATIENCE: Duration = Duration::from_secs(3);

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
    let mut candidates = match wanted(before, incomplete) {
        Wanted::Nothing => return directive(DEFAULT),
        Wanted::Listed(candidates) => candidates,
        Wanted::Resource => resources(before, incomplete).await,
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
    /// A resource of the server.
    Resource,
    /// A value that only the user knows, such as a file.
    Nothing,
}

fn wanted(before: &[String], incomplete: &str) -> Wanted {
    let mut root = Args::command();
    root.build();
    let mut command = &root;
    let mut words = before.iter();
    let mut positional = false;
    while let Some(word) = words.next() {
        if let Some(option) = option(command, word) {
            // The value is the next word.
            if takes_value(option) && !word.contains('=') && words.next().is_none() {
                return values(option, "", incomplete);
            }
        } else if let Some(found) = command.find_subcommand(word) {
            command = found;
        } else {
            positional = true;
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
    let first = command.get_positionals().next();
    match first {
        _ if !subcommands.is_empty() => Wanted::Listed(subcommands),
        Some(first) if !first.get_possible_values().is_empty() && !positional => {
            values(first, "", incomplete)
        }
        Some(first) if first.get_id().as_str().starts_with("resource") && !positional => Wanted::Resource,
        Some(first) if first.get_id() == "file" && !positional => Wanted::Nothing,
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

/// The values of an option that has a list of them. Those before a comma are kept, and not proposed again.
fn values(option: &Arg, before: &str, incomplete: &str) -> Wanted {
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

/// The resources that can be watched; none if the server does not say in time. The types before a comma are kept.
async fn resources(before: &[String], incomplete: &str) -> Vec<Candidate> {
    let known = incomplete.rfind(',').map_or("", |comma| &incomplete[..=comma]);
    // With a resource in the place of the one that is not there yet, the words may say which server it is.
    let command = ["kubectl-informer".to_owned()]
        .into_iter()
        .chain(before.iter().cloned());
    let command = command.chain(["pods".to_owned()]).map(OsString::from);
    let Some(connection) = Args::try_parse_from(command)
        .ok()
        .and_then(|args| args.command.into_connection())
    else {
        return vec![];
    };
    let found = tokio::time::timeout(PATIENCE, names(&connection)).await;
    let found = found.ok().and_then(Result::ok).unwrap_or_default();
    let named = found
        .into_iter()
        .map(|name| (format!("{known}{name}"), String::new()));
    named.collect()
}

async fn names(args: &ConnectionArgs) -> anyhow::Result<Vec<String>> {
    let connection = Connection::new(args).await?;
    Ok(Resources::of(&connection).await?.watchable())
}
