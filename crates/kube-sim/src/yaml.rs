//! YAML, as Go's `sigs.k8s.io/yaml` reads it, as far as `serde_saphyr` can be told to: with octal numbers that begin with a
//! zero, words for booleans, and the last of equal keys.
//!
//! What is wrong is told without the text, which may be a secret.

use serde_json::Value;
use serde_saphyr::{Budget, DuplicateKeyPolicy, Error, Options};

use crate::target::MAX_BODY;

/// How much aliases may repeat: Go goes by how much of a document they are, up to this.
const MOST_REPEATED: usize = 400_000;

/// Reads one document.
///
/// # Errors
///
/// What Go says, where it does not quote the text; else where the mistake is.
pub(crate) fn read(text: &[u8]) -> Result<Value, String> {
    let mut options = Options::default();
    options.duplicate_keys = DuplicateKeyPolicy::LastWins;
    options.legacy_octal_numbers = true;
    // As much as a body may have in it; what aliases repeat has a limit of its own.
    let mut budget = Budget::default();
    (budget.max_nodes, budget.max_events) = (MAX_BODY, 2 * MAX_BODY);
    // There is no rule of Go's about how many aliases an anchor has. The depth stays that of the crate, which fits on any stack.
    budget.enforce_alias_anchor_ratio = false;
    options.budget = Some(budget);
    options.alias_limits.max_total_replayed_events = MOST_REPEATED;
    let read = serde_saphyr::from_slice_with_options(text, options);
    read.map_err(|error| said(error.without_snippet()))
}

fn said(error: &Error) -> String {
    match error {
        Error::AliasError { error, .. } => said(error),
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            "yaml: document contains excessive aliasing".to_owned()
        }
        error => match error.location() {
            Some(location) => format!("yaml: line {}: it is not valid YAML", location.line()),
            None => "yaml: it is not valid YAML".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_and_booleans_are_read_as_in_go() {
        let text = "{a: 0644, b: 0o644, c: -0644, d: yes, e: 0x1F, f: '0644', g: 1e3, h: 08}";
        let value = crate::number::normal(read(text.as_bytes()).unwrap());
        let expected = json!({
            "a": 420, "b": 420, "c": -420, "d": true, "e": 31, "f": "0644", "g": 1000, "h": 8,
        });
        assert_eq!(value, expected);
    }

    #[test]
    fn anchors_that_grow_are_refused() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for n in 1..9 {
            let before = format!("*a{}", n - 1);
            text += &format!("a{n}: &a{n} [{}]\n", [before.as_str(); 9].join(", "));
        }
        let error = read(text.as_bytes()).unwrap_err();
        assert_eq!(error, "yaml: document contains excessive aliasing");
    }

    #[test]
    fn an_anchor_has_many_aliases() {
        let text = format!("a: &a x\nlist: [{}]\n", vec!["*a"; 5000].join(", "));
        assert_eq!(read(text.as_bytes()).unwrap()["list"][4999], "x");
    }

    #[test]
    fn what_is_wrong_is_told_without_the_text() {
        let error = read(b"a: 1\nsecret: [\n").unwrap_err();
        assert_eq!(error, "yaml: line 2: it is not valid YAML");
    }
}
