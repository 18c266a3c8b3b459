//! Regular expressions as Go reads them.

use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};

mod go;

/// The most memory that a compiled expression takes; Go's takes no more.
const LARGEST: usize = 64 * 1024 * 1024;

/// A regular expression that is compiled when it is first needed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pattern {
    source: Box<str>,
    /// Or why it is none; nothing if only Go can compile it.
    compiled: OnceLock<Result<Option<Regex>, String>>,
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
        self.compiled()
            .ok()
            .flatten()
            .is_none_or(|regex| regex.is_match(text))
    }

    /// What the pattern matches in the text, one after the other.
    pub(crate) fn found_in<'a>(&self, text: &'a str, most: usize) -> Vec<&'a str> {
        let regex = self.compiled().ok().flatten();
        let found = regex.map(|regex| regex.find_iter(text).take(most));
        found.into_iter().flatten().map(|found| found.as_str()).collect()
    }

    fn compiled(&self) -> Result<Option<&Regex>, &str> {
        let compiled = self.compiled.get_or_init(|| {
            let translated = go::translated(&self.source).map_err(|error| error.to_string())?;
            Ok(RegexBuilder::new(&translated).size_limit(LARGEST).build().ok())
        });
        match compiled {
            Ok(regex) => Ok(regex.as_ref()),
            Err(why) => Err(why),
        }
    }

    pub(crate) fn is_compiled(&self) -> bool {
        self.compiled.get().is_some()
    }

    /// Compiles it, and says in Go's words why it is no regular expression.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.compiled().err()
    }

    /// Why it is no regular expression, in Go's words.
    pub(crate) fn error(&self) -> Option<String> {
        go::translated(&self.source).err().map(|error| error.to_string())
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
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
    }

    #[test]
    fn what_only_go_knows_is_read() {
        for (pattern, text) in [
            (r"^\Qa.b\E.$", "a.bc"),
            (r"^\103\x{42}$", "CB"),
            (r"^a\<b\>$", "a<b>"),
            (r"^a{,2}$", "a{,2}"),
            (r"^[a[b&&c]+$", "[&c"),
            (r"^a(?i)*B$", "aab"),
            (r"^\p{^Greek}\pN$", "a1"),
            (r"^(?<1>a)(?P<b>c)$", "ac"),
        ] {
            let pattern = Pattern::new(pattern);
            assert_eq!(pattern.error(), None);
            assert!(pattern.is_in(text), "{pattern:?}");
            assert!(!pattern.is_in("zz"), "{pattern:?}");
        }
    }

    #[test]
    fn what_go_refuses_is_refused_in_its_words() {
        for (pattern, why) in [
            ("(", "missing closing ): `(`"),
            ("a**", "invalid nested repetition operator: `**`"),
            ("x*{2}", "invalid nested repetition operator: `*{2}`"),
            ("a{1001}", "invalid repeat count: `{1001}`"),
            ("(?:a{100}){11}", "invalid repeat count: `{11}`"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            (r"\Z", r"invalid escape sequence: `\Z`"),
            (r"\p{Bogus}", r"invalid character class range: `\p{Bogus}`"),
            ("[b-a]", "invalid character class range: `b-a`"),
            ("|*", "missing argument to repetition operator: `*`"),
            (r"a\", "trailing backslash at end of expression: ``"),
        ] {
            let error = Pattern::new(pattern).error();
            assert_eq!(error, Some(format!("error parsing regexp: {why}")));
        }
    }
}
