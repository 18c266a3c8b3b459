//! YAML, as Go's `sigs.k8s.io/yaml` reads it, as far as `serde_saphyr` can be told to: with octal numbers that begin with a
//! zero, words for booleans, and the last of equal keys.
//!
//! What is wrong is told without the text, which may be a secret.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_saphyr::{Budget, DuplicateKeyPolicy, Error, Options, Spanned};

use crate::nesting::MOST_STRICT_ERRORS;
use crate::target::MAX_BODY;

/// How much aliases may repeat: Go goes by how much of a document they are, up to this.
const MOST_REPEATED: usize = 400_000;

/// Reads one document.
///
/// # Errors
///
/// What Go says, where it does not quote the text; else where the mistake is.
pub(crate) fn read(text: &[u8]) -> Result<Value, String> {
    let read = serde_saphyr::from_slice_with_options(text, options());
    read.map_err(|error| said(error.without_snippet()))
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
    /// Those of a body that can be read; of another, those before what is wrong with it.
    pub(crate) fn of(text: &[u8]) -> Self {
        let mut repeated = Vec::new();
        _ = serde_saphyr::with_deserializer_from_slice_with_options(text, options(), |deserializer| {
            Keys(&mut repeated).deserialize(deserializer)
        });
        Self(repeated)
    }

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

/// Reads anything, and keeps the keys that are there twice.
struct Keys<'a>(&'a mut Vec<String>);

impl<'de> DeserializeSeed<'de> for Keys<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Keys<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Keys(&mut *self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let mut given = HashSet::new();
        while let Some(key) = entries.next_key::<Spanned<String>>()? {
            let line = key.referenced.line();
            if given.contains(&key.value) {
                if self.0.len() < MOST_STRICT_ERRORS {
                    self.0
                        .push(format!("line {line}: key {:?} already set in map", key.value));
                }
            } else {
                given.insert(key.value);
            }
            entries.next_value_seed(Keys(&mut *self.0))?;
        }
        Ok(())
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
        let value = crate::number::normal(read(text.as_bytes()).unwrap());
        let expected = json!({
            "a": 420, "b": 420, "c": -420, "d": true, "e": 31, "f": "0644", "g": 1000, "h": 8,
        });
        assert_eq!(value, expected);
    }

    #[test]
    fn all_keys_that_are_there_twice_are_told() {
        let text = "a: 1\nb:\n  c: {d: 1, d: 2}\n  e: [{f: 1}, {f: 1}]\nb: ~\n\"a\": 2\na: 3\n";
        assert_eq!(
            RepeatedKeys::of(text.as_bytes()).errors(),
            [
                r#"line 3: key "d" already set in map"#,
                r#"line 5: key "b" already set in map"#,
                r#"line 6: key "a" already set in map"#,
                r#"line 7: key "a" already set in map"#,
            ]
        );
        let deep = "[".repeat(1900) + &"]".repeat(1900);
        for other in ["a: [", "a: 1", &deep] {
            assert_eq!(RepeatedKeys::of(other.as_bytes()).error(), None);
        }
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
