//! YAML, as Go's `sigs.k8s.io/yaml` reads it, as far as `serde_saphyr` can be told to: with octal numbers that begin with a
//! zero, words for booleans, and the last of equal keys.
//!
//! What is wrong is told without the text, which may be a secret.

use serde::de::DeserializeSeed as _;
use serde_json::Value;
use serde_saphyr::{Budget, DuplicateKeyPolicy, Error, Options, Spanned};

use crate::nesting::{Name, Reading};
use crate::path::Path;
use crate::target::MAX_BODY;

/// How much aliases may repeat: Go goes by how much of a document they are, up to this.
const MOST_REPEATED: usize = 400_000;

/// Reads one document, and the keys that are in it twice.
///
/// # Errors
///
/// What Go says, where it does not quote the text; else where the mistake is.
pub(crate) fn read(text: &[u8]) -> Result<(Value, RepeatedKeys), String> {
    let mut repeated = Vec::new();
    let reading = Reading::<Spanned<String>>::new(&Path::Root, &mut repeated);
    let read = serde_saphyr::with_deserializer_from_slice_with_options(text, options(), |deserializer| {
        reading.deserialize(deserializer)
    });
    let value = read.map_err(|error| said(error.without_snippet()))?;
    Ok((value, RepeatedKeys(repeated)))
}

fn options() -> Options {
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
    options
}

/// What Go says about the keys of a body in YAML that are there twice, in their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct RepeatedKeys(Vec<String>);

impl RepeatedKeys {
    /// One error for each.
    pub(crate) fn errors(&self) -> &[String] {
        &self.0
    }

    /// One error for all, as Go's strict reader has it.
    pub(crate) fn error(&self) -> Option<String> {
        let lines = self.0.join("\n  ");
        (!lines.is_empty()).then(|| format!("yaml: unmarshal errors:\n  {lines}"))
    }
}

impl Name<'_> for Spanned<String> {
    const EACH: bool = true;

    fn text(&self) -> &str {
        &self.value
    }

    fn into_text(self) -> String {
        self.value
    }

    fn again(&self, _: &Path<'_>) -> String {
        format!(
            "line {}: key {:?} already set in map",
            self.referenced.line(),
            self.value
        )
    }
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
        let value = crate::number::normal(read(text.as_bytes()).unwrap().0);
        let expected = json!({
            "a": 420, "b": 420, "c": -420, "d": true, "e": 31, "f": "0644", "g": 1000, "h": 8,
        });
        assert_eq!(value, expected);
    }

    #[test]
    fn all_keys_that_are_there_twice_are_told() {
        let text = "a: 1\nb:\n  c: {d: 1, d: 2}\n  e: [{f: 1}, {f: 1}]\nb: ~\n\"a\": 2\na: 3\n";
        assert_eq!(
            read(text.as_bytes()).unwrap().1.errors(),
            [
                r#"line 3: key "d" already set in map"#,
                r#"line 5: key "b" already set in map"#,
                r#"line 6: key "a" already set in map"#,
                r#"line 7: key "a" already set in map"#,
            ]
        );
        assert_eq!(read(b"a: 1").unwrap().1.error(), None);
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
        assert_eq!(read(text.as_bytes()).unwrap().0["list"][4999], "x");
    }

    #[test]
    fn what_is_wrong_is_told_without_the_text() {
        let error = read(b"a: 1\nsecret: [\n").unwrap_err();
        assert_eq!(error, "yaml: line 2: it is not valid YAML");
    }
}
