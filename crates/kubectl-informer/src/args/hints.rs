//! What to write in the place of a word that other programs have and a command here has not.

use crate::args::Args;
use clap::CommandFactory as _;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// The error of a command line, with a hint for options and commands that people know from kubectl or from another command here.
/// clap's own hint, to write `-- -w`, is left out: no argument begins with a dash.
pub(crate) fn with_hint(mut error: Error) -> Error {
    let hint = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(option))) => {
            of_option(command(&error), option)
        }
        (ErrorKind::InvalidSubcommand, _) => match error.get(ContextKind::InvalidSubcommand) {
            Some(ContextValue::String(command)) if of_command(command).is_some() => of_command(command),
            _ => return error,
        },
        _ => return error,
    };
    error.remove(ContextKind::Suggested);
    if let Some(hint) = hint {
        // Nor what sounds alike, which stands in the usage, too.
        error.remove(ContextKind::SuggestedSubcommand);
        if error.remove(ContextKind::SuggestedArg).is_some()
            && let Some(command) = Args::command().find_subcommand(command(&error))
        {
            let name = format!("kubectl informer {}", command.get_name());
            let usage = command.clone().bin_name(name).render_usage();
            error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
        }
        let hints = vec![StyledStr::from(hint)];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(hints));
    }
    error
}

/// The command whose usage is told with an error: the third word after `Usage:`, as in `Usage: kubectl informer watch`.
fn command(error: &Error) -> String {
    let usage = match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => usage.to_string(),
        _ => String::new(),
    };
    usage.split_whitespace().nth(3).unwrap_or_default().to_owned()
}

fn of_command(command: &str) -> Option<&'static str> {
    match command {
        "get" | "list" => Some("`watch` prints the objects that exist, then every change"),
        "wait" => Some("`watch --until` takes the conditions of `kubectl wait --for`"),
        "describe" => Some("`watch -o yaml` prints whole objects, `watch events` what happened"),
        "events" => Some("`watch events`"),
        "version" => Some("`kubectl informer --version`"),
        _ => None,
    }
}

fn of_option(command: String, option: &str) -> Option<&'static str> {
    match (&*command, option) {
        ("watch", "-w" | "--watch" | "--watch-only") => {
            Some("`watch` always watches; `--since 0` leaves out what exists")
        }
        ("record", "-w" | "--watch" | "--watch-only") => {
            Some("`record` always watches, until Ctrl-C or for as long as `--for` says")
        }
        ("top", "-w" | "--watch" | "--watch-only") => {
            Some("on a terminal `top` shows changes as they happen, until `q`")
        }
        ("advise", "-w" | "--watch" | "--watch-only") => Some("`--for` says how long all kinds are watched"),
        ("measure", "-w" | "--watch" | "--watch-only" | "--for" | "--timeout") => {
            Some("`--events N` follows so many changes")
        }
        ("watch" | "advise" | "top", "--form") => Some("`measure --form` tells what each form costs"),
        ("show" | "diff" | "replay", "-w" | "--watch" | "--watch-only") => {
            Some("a recording is of the past; `watch` prints what happens now")
        }
        ("watch", "--output-watch-events") => Some("`watch` always prints the event"),
        ("watch", "--show-kind") => {
            Some("names have their kind if several resources are watched, and with `-o name`")
        }
        ("watch", "--for") => Some("`--until` takes the conditions of `kubectl wait --for`"),
        ("watch", "--sort-by") => {
            Some("changes are printed in the order in which they happen; `-o json` is for programs")
        }
        ("watch", "--no-headers") => Some("`-o name`, `-o jsonpath=TEMPLATE` and `-o json` have no headers"),
        ("watch", "-L" | "--label-columns") => Some("`--show-labels` shows all labels"),
        ("top" | "advise", "-l" | "--selector" | "--field-selector") => {
            Some("kinds are counted whole; name some, as in pods,deployments, or one `--namespace`")
        }
        ("top" | "advise", "-f" | "--filename" | "-k" | "--kustomize") => {
            Some("name kinds, as in pods,deployments")
        }
        ("measure", "-f" | "--filename" | "-k" | "--kustomize") => Some("name one resource, as in pods"),
        ("top", "--sort-by") => Some("`--sort` takes changes, bytes, objects, lag or name"),
        ("record", "-o" | "--output") => {
            Some("`--file` names the file; `show` and `diff` print what is in it")
        }
        ("record", "--diff") => Some("`diff` prints the changes of a recording"),
        ("show", "--diff") => Some("`diff` prints the changes of a recording"),
        (
            "replay",
            "-A" | "--all-namespaces" | "-n" | "--namespace" | "-l" | "--selector" | "--field-selector",
        ) => Some("the whole recording is played; the client that reads it selects"),
        ("replay", "--at" | "--from" | "--to" | "--since") => {
            Some("a recording is played from its beginning; `show` and `diff` take times")
        }
        ("replay", "-s" | "--server") => {
            Some("a replay is a server of its own; `--port` chooses where it listens")
        }
        ("show" | "diff", "-s" | "--server" | "--context") => {
            Some("a recording is a file, and no server is asked; its first argument is the file")
        }
        ("show" | "diff" | "replay", "-f" | "--file" | "--filename") => {
            Some("the recording is the first argument, without an option")
        }
        ("show" | "diff", "-l" | "--selector" | "--field-selector") => {
            Some("objects of a recording are selected by --namespace and by name, as in pod/web-0")
        }
        ("show", "--since" | "--from" | "--to") => {
            Some("`--at` chooses one time; `diff` has `--from` and `--to`")
        }
        ("diff", "--at" | "--since") => Some("`--from` and `--to` choose the time"),
        ("record", "--timeout") => Some("`--for` says how long"),
        (_, "-f" | "--filename" | "-k" | "--kustomize") => Some("name the objects, as in pod/web-0"),
        (_, "--cache-dir") => Some("nothing that the server told is kept in files; leave it out"),
        (_, "--disable-compression" | "--match-server-version" | "--warnings-as-errors") => {
            Some("it has no effect here; leave it out")
        }
        (_, "--profile" | "--profile-output" | "--log-flush-frequency" | "--vmodule") => {
            Some("kubectl's own profiles and log are not here; leave it out")
        }
        (_, "--username" | "--password") => {
            Some("Kubernetes has no basic authentication any more; `--token` or `--user` says who asks")
        }
        (_, "--as-user-extra") => Some("the kubeconfig can say so (`as-user-extra` of a user)"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    #[test]
    fn words_of_other_programs_are_answered_with_hints() {
        let check = |line: &str, expected: Option<&str>| {
            let error = Args::try_parse_from(line.split(' ')).unwrap_err();
            let message = with_hint(error).to_string();
            assert!(!message.contains("as a value"), "{message}");
            assert!(message.matches("tip:").count() <= 1, "{message}");
            let hint = message.lines().find(|line| line.contains("tip:"));
            assert_eq!(hint.is_some(), expected.is_some(), "{message}");
            assert!(message.contains(expected.unwrap_or_default()), "{message}");
        };
        check("ki watch pods -w", Some("`watch` always watches"));
        check("ki watch pod/a --for create", Some("`--until` takes"));
        check("ki watch pods --sort-by=.metadata.name", Some("in the order"));
        check("ki watch pods --no-headers", Some("`-o name`"));
        check("ki watch -f pod.yaml", Some("pod/web-0"));
        check("ki show -f a.rec", Some("the first argument"));
        check("ki replay --file=a.rec", Some("the first argument"));
        check("ki show a.rec -l app=web", Some("by --namespace and by name"));
        check("ki diff a.rec --at 5m", Some("`--from` and `--to`"));
        check("ki record pods --timeout 5s --file a", Some("`--for`"));
        check("ki top -w", Some("until `q`"));
        check("ki top -l app=web", Some("counted whole"));
        check("ki top --sort-by=cpu", Some("`--sort` takes"));
        check("ki top -f a.yaml", Some("name kinds"));
        check("ki advise --field-selector a=b", Some("counted whole"));
        check("ki advise -w", Some("`--for`"));
        check("ki measure pods -w", Some("`--events N`"));
        check("ki measure pods --for 3s", Some("`--events N`"));
        check("ki watch pods --form packed", Some("`measure --form`"));
        check("ki measure -f pod.yaml", Some("one resource"));
        check("ki record pods -w --file a", Some("always watches"));
        check("ki record pods -o a", Some("`--file` names"));
        check("ki show a.rec -w", Some("`watch` prints"));
        check("ki show a.rec --diff", Some("`diff` prints"));
        check("ki show a.rec -s http://127.0.0.1:1", Some("no server is asked"));
        check("ki replay a.rec -n shop", Some("the client"));
        check("ki replay a.rec --from 5m", Some("from its beginning"));
        check("ki watch pods --output-watch-events", Some("always prints"));
        check("ki watch pods --show-kind", Some("`-o name`"));
        check("ki watch pods --cache-dir /tmp/c", Some("leave it out"));
        check("ki top --match-server-version", Some("leave it out"));
        check("ki watch pods --password a", Some("`--token`"));
        check("ki get pods", Some("`watch` prints"));
        check("ki wait pod/a --for create", Some("`watch --until`"));
        check("ki events -A", Some("`watch events`"));
        check("ki watch pods --watch=true", Some("always watches"));
        check("ki version", Some("--version"));
        check("ki wach pods", Some("'watch'"));
        check("ki watch pods --chunk-size -2", None);
        check("ki watch pods --timeot 2s", Some("--timeout"));
    }
}
