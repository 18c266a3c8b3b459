//! Label, field and shard selectors.

mod shards;

use crate::names::{label_key_fault, label_value_fault};
use crate::object::Stored;
use crate::resources::Resource;
use crate::status::StatusError;
use shards::Shards;

/// The selection of a request; everything by default.
#[derive(Debug, Default)]
pub(crate) struct Selector {
    labels: Vec<LabelTerm>,
    fields: Vec<FieldTerm>,
    shards: Option<Shards>,
}

#[derive(Debug, PartialEq)]
struct LabelTerm {
    key: String,
    test: Test,
}

#[derive(Debug, PartialEq)]
enum Test {
    Exists,
    Missing,
    In(Vec<String>),
    NotIn(Vec<String>),
    Greater(i64),
    Less(i64),
}

#[derive(Debug, PartialEq)]
struct FieldTerm {
    field: Field,
    value: String,
    equal: bool,
}

#[derive(Debug, PartialEq)]
enum Field {
    Name,
    Namespace,
    /// The `n`th selectable field of the resource.
    Other(usize),
}

impl Selector {
    pub(crate) fn parse(resource: &Resource, labels: &str, fields: &str) -> Result<Self, StatusError> {
        let labels = parse_labels(labels).map_err(StatusError::bad_request)?;
        Ok(Self {
            labels,
            fields: parse_fields(resource, fields)?,
            shards: None,
        })
    }

    /// Restricts the selection to the object of this name.
    pub(crate) fn and_named(mut self, name: &str) -> Self {
        self.fields.push(FieldTerm {
            field: Field::Name,
            value: name.to_owned(),
            equal: true,
        });
        self
    }

    /// Restricts the selection to the ranges of a shard selector. Without one (an empty text), nothing changes.
    pub(crate) fn and_shards(mut self, text: &str) -> Result<Self, StatusError> {
        if !text.is_empty() {
            // A real server answers 500, without a reason.
            let shards = Shards::parse(text)
                .map_err(|why| StatusError::internal(format!("invalid shard selector: {why}")))?;
            self.shards = Some(shards);
        }
        Ok(self)
    }

    /// The shard selector, as it is echoed.
    pub(crate) fn shards(&self) -> Option<String> {
        self.shards.as_ref().map(ToString::to_string)
    }

    /// The one namespace whose objects the fields select.
    pub(crate) fn namespace(&self) -> Option<&str> {
        let mut terms = self.fields.iter();
        let term = terms.find(|term| term.field == Field::Namespace && term.equal);
        term.map(|term| term.value.as_str())
            .filter(|namespace| !namespace.is_empty())
    }

    /// Whether labels and fields do not matter.
    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Whether fields matter that not every object has.
    pub(crate) fn reads_fields(&self) -> bool {
        let is_own = |term: &FieldTerm| matches!(term.field, Field::Other(_));
        self.fields.iter().any(is_own)
    }

    pub(crate) fn matches(&self, object: &Stored) -> bool {
        self.labels
            .iter()
            .all(|term| term.matches(object.label(&term.key)))
            && self.fields.iter().all(|term| term.matches(object))
            && self.shards.as_ref().is_none_or(|shards| shards.matches(object))
    }
}

impl LabelTerm {
    fn matches(&self, label: Option<&str>) -> bool {
        let number = || label.and_then(|l| l.parse::<i64>().ok());
        match &self.test {
            Test::Exists => label.is_some(),
            Test::Missing => label.is_none(),
            Test::In(values) => label.is_some_and(|l| values.iter().any(|v| v == l)),
            Test::NotIn(values) => !label.is_some_and(|l| values.iter().any(|v| v == l)),
            Test::Greater(limit) => number().is_some_and(|n| n > *limit),
            Test::Less(limit) => number().is_some_and(|n| n < *limit),
        }
    }
}

impl FieldTerm {
    fn matches(&self, object: &Stored) -> bool {
        let value = match self.field {
            Field::Name => object.name(),
            Field::Namespace => object.namespace(),
            Field::Other(n) => object.field(n),
        };
        (value == self.value) == self.equal
    }
}

/// Splits a label selector into words and operators, as the real lexer does.
fn lex(text: &str) -> Vec<&str> {
    let special = |c: char| "=!(),<>".contains(c);
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '=' | '!' if rest[1..].starts_with('=') => 2,
            c if special(c) => 1,
            _ => rest
                .find(|c: char| special(c) || c.is_whitespace())
                .unwrap_or(rest.len()),
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

struct Tokens<'a> {
    tokens: Vec<&'a str>,
    next: usize,
}

impl<'a> Tokens<'a> {
    /// The next token; empty at the end.
    fn peek(&self) -> &'a str {
        self.tokens.get(self.next).copied().unwrap_or("")
    }

    fn take(&mut self) -> &'a str {
        let token = self.peek();
        self.next += 1;
        token
    }

    fn word(&mut self) -> Result<&'a str, String> {
        let token = self.take();
        if is_word(token) {
            Ok(token)
        } else {
            Err(format!("found '{token}', expected: identifier"))
        }
    }
}

fn is_word(token: &str) -> bool {
    !token.is_empty() && !token.contains(['=', '!', '(', ')', ',', '<', '>'])
}

fn parse_labels(text: &str) -> Result<Vec<LabelTerm>, String> {
    let mut tokens = Tokens {
        tokens: lex(text),
        next: 0,
    };
    let mut terms = Vec::new();
    while tokens.next < tokens.tokens.len() {
        if !is_word(tokens.peek()) && tokens.peek() != "!" {
            return Err(format!(
                "found '{}', expected: !, identifier, or 'end of string'",
                tokens.peek()
            ));
        }
        let term = parse_requirement(&mut tokens);
        terms.push(term.map_err(|why| format!("unable to parse requirement: {why}"))?);
        match tokens.take() {
            "" => break,
            "," if is_word(tokens.peek()) || tokens.peek() == "!" => {}
            "," => {
                return Err(format!(
                    "found '{}', expected: identifier after ','",
                    tokens.peek()
                ));
            }
            other => return Err(format!("found '{other}', expected: ',' or 'end of string'")),
        }
    }
    Ok(terms)
}

fn parse_requirement(tokens: &mut Tokens<'_>) -> Result<LabelTerm, String> {
    if tokens.peek() == "!" {
        tokens.take();
        let key = valid_key(tokens.word()?)?;
        return Ok(LabelTerm {
            key,
            test: Test::Missing,
        });
    }
    let key = valid_key(tokens.word()?)?;
    if matches!(tokens.peek(), "" | ",") {
        return Ok(LabelTerm {
            key,
            test: Test::Exists,
        });
    }
    let test = match tokens.take() {
        "=" | "==" => Test::In(vec![parse_value(tokens, &key)?]),
        "!=" => Test::NotIn(vec![parse_value(tokens, &key)?]),
        "in" => Test::In(parse_values(tokens, &key)?),
        "notin" => Test::NotIn(parse_values(tokens, &key)?),
        ">" => Test::Greater(parse_bound(tokens, &key)?),
        "<" => Test::Less(parse_bound(tokens, &key)?),
        other => return Err(format!("found '{other}', expected: in, notin, =, ==, !=, gt, lt")),
    };
    Ok(LabelTerm { key, test })
}

/// A value; empty if a comma or the end follows.
fn parse_value(tokens: &mut Tokens<'_>, key: &str) -> Result<String, String> {
    if matches!(tokens.peek(), "" | ",") {
        return Ok(String::new());
    }
    valid_value(key, tokens.word()?)
}

fn parse_bound(tokens: &mut Tokens<'_>, key: &str) -> Result<i64, String> {
    let value = parse_value(tokens, key)?;
    let why = "for 'Gt', 'Lt' operators, the value must be an integer";
    value
        .parse()
        .map_err(|_| format!("values[0]: Invalid value: \"{value}\": {why}"))
}

fn parse_values(tokens: &mut Tokens<'_>, key: &str) -> Result<Vec<String>, String> {
    match tokens.take() {
        "(" => {}
        other => return Err(format!("found '{other}' expected: '('")),
    }
    let mut values = Vec::new();
    loop {
        values.push(match tokens.peek() {
            "," | ")" => String::new(),
            _ => valid_value(key, tokens.word()?)?,
        });
        match tokens.take() {
            "," => {}
            ")" => return Ok(values),
            other => return Err(format!("found '{other}', expected: ',' or ')'")),
        }
    }
}

fn valid_key(key: &str) -> Result<String, String> {
    match label_key_fault(key) {
        None => Ok(key.to_owned()),
        Some(fault) => Err(format!("<nil>: Invalid value: \"{key}\": {fault}")),
    }
}

fn valid_value(key: &str, value: &str) -> Result<String, String> {
    match label_value_fault(value) {
        None => Ok(value.to_owned()),
        Some(fault) => Err(format!("values[0][{key}]: Invalid value: \"{value}\": {fault}")),
    }
}

fn parse_fields(resource: &Resource, text: &str) -> Result<Vec<FieldTerm>, StatusError> {
    let terms = split_terms(text).into_iter().filter(|term| !term.is_empty());
    let terms = terms.map(|term| parse_field(resource, text, term));
    terms.filter_map(Result::transpose).collect()
}

/// Splits at commas without a preceding backslash.
fn split_terms(text: &str) -> Vec<&str> {
    let (mut terms, mut start, mut escaped) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        if c == ',' && !escaped {
            terms.push(&text[start..at]);
            start = at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    terms.push(&text[start..]);
    terms
}

/// `None` for `=`, which requires nothing.
fn parse_field(resource: &Resource, text: &str, term: &str) -> Result<Option<FieldTerm>, StatusError> {
    let split = term.find(['=', '!']).and_then(|at| {
        let (name, rest) = term.split_at(at);
        let operator = ["!=", "==", "="]
            .into_iter()
            .find(|operator| rest.starts_with(operator))?;
        Some((name, operator, &rest[operator.len()..]))
    });
    let Some((name, operator, value)) = split else {
        let message = format!("invalid selector: '{text}'; can't understand '{term}'");
        return Err(StatusError::bad_request(message));
    };
    let value = unescape(value).map_err(StatusError::bad_request)?;
    let field = match name {
        "" if value.is_empty() => return Ok(None),
        "metadata.name" => Field::Name,
        "metadata.namespace" => Field::Namespace,
        _ => Field::Other(
            resource
                .fields
                .iter()
                .position(|f| f == name)
                .ok_or_else(|| StatusError::bad_request(unknown_field(resource, name)))?,
        ),
    };
    Ok(Some(FieldTerm {
        field,
        value,
        equal: operator != "!=",
    }))
}

/// Unescapes a value, in which `,`, `=` and `\` must be escaped by a backslash.
fn unescape(value: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c @ ('\\' | ',' | '=')) => out.push(c),
                other => {
                    let other = other.map(String::from).unwrap_or_default();
                    return Err(format!(
                        "invalid field selector: invalid escape sequence: \\{other}"
                    ));
                }
            },
            ',' | '=' => {
                return Err(format!(
                    "invalid field selector: unescaped character in value: {}",
                    c as u32
                ));
            }
            c => out.push(c),
        }
    }
    Ok(out)
}

fn unknown_field(resource: &Resource, name: &str) -> String {
    if resource.group == "batch" && resource.plural == "jobs" {
        return format!("field label \"{name}\" not supported for Job");
    }
    if resource.custom || !resource.fields.is_empty() {
        return format!("field label not supported: {name}");
    }
    format!("\"{name}\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse_labels(text)
            .expect_err(text)
            .replace("unable to parse requirement: ", "")
    }

    #[test]
    fn label_selectors_parse() {
        let terms = parse_labels("a=b, c!=d,e in (f, g),h notin (i),j,!k,l>5,m==").unwrap();
        let tests: Vec<_> = terms.into_iter().map(|t| (t.key, t.test)).collect();
        let owned = |v: &[&str]| v.iter().map(|s| s.to_string()).collect::<Vec<_>>();
        let expected = [
            ("a", Test::In(owned(&["b"]))),
            ("c", Test::NotIn(owned(&["d"]))),
            ("e", Test::In(owned(&["f", "g"]))),
            ("h", Test::NotIn(owned(&["i"]))),
            ("j", Test::Exists),
            ("k", Test::Missing),
            ("l", Test::Greater(5)),
            ("m", Test::In(owned(&[""]))),
        ];
        assert_eq!(tests, expected.map(|(k, t)| (k.to_owned(), t)));
        assert_eq!(parse_labels("").unwrap(), []);
    }

    /// The messages are those of a real server.
    #[test]
    fn malformed_label_selectors_are_refused() {
        assert_eq!(error("a===b"), "found '=', expected: identifier");
        assert_eq!(error("a in x"), "found 'x' expected: '('");
        assert_eq!(error("a b"), "found 'b', expected: in, notin, =, ==, !=, gt, lt");
        assert_eq!(error("!"), "found '', expected: identifier");
        assert_eq!(
            error("a gt 1"),
            "found 'gt', expected: in, notin, =, ==, !=, gt, lt"
        );
        assert!(error("A.b/c=d").contains("prefix part a lowercase RFC 1123 subdomain"));
        assert!(error("/c=d").ends_with("prefix part must be non-empty"));
        assert!(error("a/b/c=d").contains("a valid label key must consist of"));
        assert!(error(&format!("a={}", "b".repeat(64))).ends_with("must be no more than 63 bytes"));
        assert!(error("a>").starts_with("values[0]: Invalid value: \"\": for 'Gt'"));
        assert!(error("-a=b").contains("name part must consist of"));
        assert!(error("a=b-").contains("a valid label must be"));
        assert_eq!(error("a=b,"), "found '', expected: identifier after ','");
        assert_eq!(
            error(","),
            "found ',', expected: !, identifier, or 'end of string'"
        );
    }

    /// The messages are those of a real server.
    #[test]
    fn values_of_fields_are_escaped() {
        let registry = crate::resources::Registry::builtin();
        let config_maps = registry.find("", "v1", "configmaps").unwrap();
        let terms = |text: &str| parse_fields(&config_maps, text);
        let value = |text: &str| terms(text).unwrap().remove(0).value;
        assert_eq!(value("metadata.name=a\\,b\\=c\\\\,"), "a,b=c\\");
        assert_eq!(terms("=").unwrap(), []);
        let error = |text: &str| terms(text).unwrap_err().message().to_owned();
        assert_eq!(
            error("metadata.name=a=b"),
            "invalid field selector: unescaped character in value: 61"
        );
        assert_eq!(
            error("metadata.name=a\\"),
            "invalid field selector: invalid escape sequence: \\"
        );
        assert_eq!(error("a,b=c"), "invalid selector: 'a,b=c'; can't understand 'a'");
    }

    #[test]
    fn missing_labels_are_not_in() {
        let term = |test| LabelTerm {
            key: "k".into(),
            test,
        };
        assert!(term(Test::NotIn(vec!["x".into()])).matches(None));
        assert!(!term(Test::In(vec!["".into()])).matches(None));
        assert!(term(Test::Less(5)).matches(Some("4")));
        assert!(!term(Test::Greater(5)).matches(Some("x")));
    }
}
