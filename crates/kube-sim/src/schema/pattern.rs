//! Regular expressions as Go reads them.

use std::sync::OnceLock;

use regex::Regex;

/// A regular expression that is compiled when it is first needed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pattern {
    source: Box<str>,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    pub(crate) fn new(source: &str) -> Self {
        Self {
            source: source.into(),
            compiled: OnceLock::new(),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.source
    }

    /// Whether the pattern is in the text. An expression that Go takes and that cannot be compiled here is in any text.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        let compiled = self
            .compiled
            .get_or_init(|| Regex::new(&ascii(&self.source)).ok());
        compiled.as_ref().is_none_or(|regex| regex.is_match(text))
    }

    /// Why it is no regular expression.
    pub(crate) fn error(&self) -> Option<String> {
        Regex::new(&ascii(&self.source))
            .err()
            .map(|error| error.to_string())
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

/// Go's classes have only ASCII in them.
fn ascii(source: &str) -> String {
    let mut written = String::with_capacity(source.len());
    let mut characters = source.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            written.push(character);
            continue;
        }
        match characters.next() {
            Some('d') => written.push_str("[0-9]"),
            Some('D') => written.push_str("[^0-9]"),
            Some('w') => written.push_str("[0-9A-Za-z_]"),
            Some('W') => written.push_str("[^0-9A-Za-z_]"),
            Some('s') => written.push_str(r"[\t\n\f\r ]"),
            Some('S') => written.push_str(r"[^\t\n\f\r ]"),
            Some(other) => written.extend(['\\', other]),
            None => written.push('\\'),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_ascii_as_in_go() {
        let cron = Pattern::new(r"^(\d+|\*)(/\d+)?(\s+(\d+|\*)(/\d+)?){4}$");
        assert!(cron.is_in("* * * * */5"));
        assert!(!cron.is_in("* * * *"));
        assert!(!Pattern::new(r"^[\d-]+$").is_in("٣"));
        assert!(Pattern::new(r"^[\d-]+$").is_in("1-2"));
        assert!(Pattern::new("(").error().is_some());
    }
}
