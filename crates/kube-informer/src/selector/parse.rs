//! A parser for label selectors, with errors that point at the character.

use super::{
    requirement::{LabelOperator, LabelRequirement, integer},
    syntax::{self, Fault},
};

/// A string that is not a selector, with the position of the error.
///
/// ```
/// use kube_informer::selector::LabelSelector;
///
/// let error = LabelSelector::parse("app in (web api)").unwrap_err();
/// assert_eq!(error.offset(), 12);
/// assert_eq!(error.to_string(), r#"invalid selector "app in (web api)": expected ',' or ')' at "api" (character 13)"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid selector {input:?}: {expected} at {} (character {})", self.found(), self.character())]
pub struct ParseSelectorError {
    input: String,
    offset: usize,
    expected: &'static str,
}

impl ParseSelectorError {
    pub(super) fn new(input: &str, offset: usize, expected: &'static str) -> Self {
        Self {
            input: input.to_owned(),
            offset,
            expected,
        }
    }

    /// The byte offset of the error in the input; the input's length if something is missing at the end.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// What was expected there.
    pub fn expected(&self) -> &'static str {
        self.expected
    }

    /// The position in characters, starting at 1.
    fn character(&self) -> usize {
        self.input[..self.offset].chars().count() + 1
    }

    fn found(&self) -> String {
        let rest = &self.input[self.offset..];
        let Some(first) = rest.chars().next() else {
            return "the end".to_owned();
        };
        let length = rest.find(ends_word).unwrap_or(rest.len()).max(first.len_utf8());
        format!("{:?}", &rest[..length])
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn ends_word(c: char) -> bool {
    is_space(c) || matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<')
}

/// Parses requirements in the order of the input.
pub(super) fn label_requirements(input: &str) -> Result<Vec<LabelRequirement>, ParseSelectorError> {
    let mut parser = Parser { input, at: 0 };
    let mut requirements = Vec::new();
    if parser.peek().is_none() {
        return Ok(requirements);
    }
    loop {
        requirements.push(parser.requirement()?);
        if parser.peek().is_none() {
            return Ok(requirements);
        }
        if !parser.take(",") {
            return Err(parser.expected("expected ',' or the end"));
        }
    }
}

struct Parser<'a> {
    input: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    /// The remaining input, starting at the next character that is not a space.
    fn rest(&mut self) -> &'a str {
        let rest = self.input[self.at..].trim_start_matches(is_space);
        self.at = self.input.len() - rest.len();
        rest
    }

    fn peek(&mut self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Consumes a symbol if it comes next.
    fn take(&mut self, symbol: &str) -> bool {
        let found = self.rest().starts_with(symbol);
        self.at += if found { symbol.len() } else { 0 };
        found
    }

    /// Consumes a key, a value, `in` or `notin`; returns an empty string if a symbol comes next.
    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let word = &rest[..rest.find(ends_word).unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    fn expected(&mut self, what: &'static str) -> ParseSelectorError {
        self.rest();
        ParseSelectorError::new(self.input, self.at, what)
    }

    /// Validates the word that was just consumed.
    fn check(
        &self,
        word: &'a str,
        check: impl Fn(&str) -> Result<(), Fault>,
    ) -> Result<&'a str, ParseSelectorError> {
        let start = self.at - word.len();
        match check(word) {
            Ok(()) => Ok(word),
            Err((at, why)) => Err(ParseSelectorError::new(self.input, start + at, why)),
        }
    }

    fn requirement(&mut self) -> Result<LabelRequirement, ParseSelectorError> {
        let absent = self.take("!");
        let key = self.word();
        if key.is_empty() {
            let or_not = if absent {
                "expected a label key"
            } else {
                "expected '!' or a label key"
            };
            return Err(self.expected(or_not));
        }
        self.check(key, syntax::check_key)?;
        if absent {
            return Ok(LabelRequirement::new(
                key,
                LabelOperator::DoesNotExist,
                Vec::new(),
                0,
            ));
        }
        if matches!(self.peek(), None | Some(',')) {
            return Ok(LabelRequirement::new(key, LabelOperator::Exists, Vec::new(), 0));
        }
        let operator = self.operator()?;
        let (values, number) = match operator {
            LabelOperator::In | LabelOperator::NotIn => (self.values()?, 0),
            LabelOperator::GreaterThan | LabelOperator::LessThan => {
                let value = self.value()?;
                let start = self.at - value.len();
                let number = integer(value)
                    .ok_or_else(|| ParseSelectorError::new(self.input, start, "expected an integer"))?;
                (vec![value], number)
            }
            _ => (vec![self.value()?], 0),
        };
        Ok(LabelRequirement::new(key, operator, values, number))
    }

    fn operator(&mut self) -> Result<LabelOperator, ParseSelectorError> {
        use LabelOperator::*;
        let symbols = [
            ("==", DoubleEquals),
            ("=", Equals),
            ("!=", NotEquals),
            (">", GreaterThan),
            ("<", LessThan),
        ];
        if let Some((_, operator)) = symbols.into_iter().find(|(symbol, _)| self.take(symbol)) {
            return Ok(operator);
        }
        self.rest();
        let start = self.at;
        match self.word() {
            "in" => Ok(In),
            "notin" => Ok(NotIn),
            _ => {
                self.at = start;
                Err(self.expected("expected '=', '==', '!=', '<', '>', 'in' or 'notin'"))
            }
        }
    }

    /// Parses one value, which ends the requirement.
    fn value(&mut self) -> Result<&'a str, ParseSelectorError> {
        let value = self.word();
        if value.is_empty() && !matches!(self.peek(), None | Some(',')) {
            return Err(self.expected("expected a value"));
        }
        self.check(value, syntax::check_value)
    }

    /// Parses values in parentheses; any of them may be empty.
    fn values(&mut self) -> Result<Vec<&'a str>, ParseSelectorError> {
        if !self.take("(") {
            return Err(self.expected("expected '('"));
        }
        let mut values = Vec::new();
        loop {
            let value = self.word();
            values.push(self.check(value, syntax::check_value)?);
            if self.take(")") {
                return Ok(values);
            }
            if !self.take(",") {
                return Err(self.expected("expected ',' or ')'"));
            }
        }
    }
}
