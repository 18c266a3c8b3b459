//! What to write in the place of an option that kubectl has and a command here has not.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// The error of a command line, with a hint for options that people know from kubectl. clap's own hint, to write `-- -w`, is left out:
/// no argument begins with a dash.
pub(crate) fn with_hint(mut error: Error) -> Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let hint = match &**option {
        "-w" | "--watch" | "--watch-only" => {
            Some("`watch` always watches; `--since 0` leaves out what exists")
        }
        "--for" => Some("`--until` takes the conditions of `kubectl wait --for`"),
        "--sort-by" | "--no-headers" => {
            Some("changes are printed in the order in which they happen; `-o json` is for programs")
        }
        "-f" | "--filename" | "-k" | "--kustomize" => Some("name the objects, as in pod/web-0"),
        _ => None,
    };
    let hints = hint.into_iter().map(StyledStr::from).collect::<Vec<_>>();
    error.remove(ContextKind::Suggested);
    if !hints.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(hints));
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use clap::Parser as _;

    #[test]
    fn options_of_kubectl_are_answered_with_hints() {
        let check = |line: &str, expected: Option<&str>| {
            let error = Args::try_parse_from(line.split(' ')).unwrap_err();
            let message = with_hint(error).to_string();
            assert!(!message.contains("as a value"), "{message}");
            let hint = message.lines().find(|line| line.contains("tip:"));
            assert_eq!(hint.is_some(), expected.is_some(), "{message}");
            assert!(message.contains(expected.unwrap_or_default()), "{message}");
        };
        check("ki watch pods -w", Some("`watch` always watches"));
        check("ki watch pod/a --for create", Some("`--until` takes"));
        check("ki watch pods --sort-by=.metadata.name", Some("in the order"));
        check("ki watch pods --chunk-size -2", None);
        check("ki watch pods --timeot 2s", Some("--timeout"));
    }
}
