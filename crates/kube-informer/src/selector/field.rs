//! Field selectors.

use super::parse::ParseSelectorError;
use crate::object::ObjectKey;
use std::{borrow::Cow, fmt, str::FromStr, sync::Arc};

/// Selects objects by the values of some of their fields. An object matches if every requirement holds.
///
/// Which fields are supported depends on the kind, and only the server knows all of them. `metadata.name` and
/// `metadata.namespace` are supported for every kind; they are part of the key.
///
/// ```
/// use kube_informer::selector::FieldSelector;
///
/// let selector = FieldSelector::parse("metadata.namespace=shop,metadata.name!=web-0")?;
/// assert_eq!(selector.matches_key(&"shop/web-1".into()), Ok(true));
/// assert_eq!(selector.matches_key(&"shop/web-0".into()), Ok(false));
///
/// let by_node = FieldSelector::parse("spec.nodeName==node-1")?;
/// assert!(by_node.matches(|field| (field == "spec.nodeName").then_some("node-1")));
/// assert!(by_node.matches_key(&"shop/web-0".into()).is_err());
/// # Ok::<_, kube_informer::selector::ParseSelectorError>(())
/// ```
///
/// # Syntax
/// `field=value`, `field==value` and `field!=value`, separated by commas. In values, `,`, `=` and `\` are escaped
/// with a backslash.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FieldSelector {
    requirements: Arc<[FieldRequirement]>,
}

/// One condition of a [`FieldSelector`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FieldRequirement {
    /// The path of the field, such as `spec.nodeName`.
    pub field: Box<str>,
    /// Whether the field must have this value (true) or must not have it (false).
    pub equal: bool,
    /// The value.
    pub value: Box<str>,
}

/// A selector uses a field that is not in the key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("field {field:?} is not part of an object's key")]
#[non_exhaustive]
pub struct UnsupportedField {
    /// The path of the field.
    pub field: Box<str>,
}

impl FieldSelector {
    /// Selects every object.
    #[doc(alias = "Everything")]
    pub fn everything() -> Self {
        Self {
            requirements: Arc::default(),
        }
    }

    /// Selects the objects whose `field` has this value. Its text, for a request, has the value escaped.
    ///
    /// ```
    /// use kube_informer::selector::FieldSelector;
    ///
    /// let by_name = FieldSelector::one_term_equal("metadata.name", "a=b");
    /// assert_eq!(by_name.to_string(), r"metadata.name=a\=b");
    /// ```
    #[doc(alias = "OneTermEqualSelector")]
    pub fn one_term_equal(field: &str, value: &str) -> Self {
        let requirement = FieldRequirement {
            field: field.into(),
            equal: true,
            value: value.into(),
        };
        Self {
            requirements: [requirement].into(),
        }
    }

    /// Parses a selector in the same way as the API server.
    ///
    /// # Errors
    /// A term without an operator, a bare `=` or `,` in a value, or an unknown escape. The error states the
    /// character.
    #[doc(alias = "ParseSelector")]
    pub fn parse(input: &str) -> Result<Self, ParseSelectorError> {
        let terms = terms(input).into_iter().filter(|(_, term)| !term.is_empty());
        let read = |(at, term)| Ok((term, requirement(input, at, term)?));
        let mut requirements: Vec<(&str, FieldRequirement)> = terms.map(read).collect::<Result<_, _>>()?;
        requirements.sort_by_key(|(term, _)| *term);
        let requirements = requirements
            .into_iter()
            .map(|(_, requirement)| requirement)
            .collect();
        Ok(Self { requirements })
    }

    /// Whether an object with these fields matches. `field` returns the value of a field; a missing field counts as
    /// empty.
    pub fn matches<'a>(&self, field: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements.iter().all(|requirement| {
            let value = field(&requirement.field).unwrap_or_default();
            (*requirement.value == *value) == requirement.equal
        })
    }

    /// Whether the object with this key matches.
    ///
    /// # Errors
    /// The selector uses a field other than `metadata.name` and `metadata.namespace`.
    pub fn matches_key(&self, key: &ObjectKey) -> Result<bool, UnsupportedField> {
        let in_key = |field: &str| matches!(field, "metadata.name" | "metadata.namespace");
        if let Some(other) = self
            .requirements
            .iter()
            .find(|requirement| !in_key(&requirement.field))
        {
            return Err(UnsupportedField {
                field: other.field.clone(),
            });
        }
        Ok(self.matches(|field| {
            if field == "metadata.name" {
                Some(key.name())
            } else {
                key.namespace()
            }
        }))
    }

    /// Whether every object matches.
    #[doc(alias = "Empty")]
    pub fn is_everything(&self) -> bool {
        self.requirements.is_empty()
    }

    /// The conditions, in the order in which the server sorts them.
    pub fn requirements(&self) -> &[FieldRequirement] {
        &self.requirements
    }

    /// The value that `field` must have for an object to match, if there is one.
    #[doc(alias = "RequiresExactMatch")]
    pub fn required_value(&self, field: &str) -> Option<&str> {
        let required = self
            .requirements
            .iter()
            .find(|requirement| requirement.equal && *requirement.field == *field);
        required.map(|requirement| &*requirement.value)
    }
}

/// Splits a selector at unescaped commas; returns each part with its offset.
fn terms(input: &str) -> Vec<(usize, &str)> {
    let (mut terms, mut start, mut escaped) = (Vec::new(), 0, false);
    for (at, byte) in input.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b',' => {
                terms.push((start, &input[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    terms.push((start, &input[start..]));
    terms
}

/// Parses one term, which starts at byte `start` of the selector.
fn requirement(input: &str, start: usize, term: &str) -> Result<FieldRequirement, ParseSelectorError> {
    let operators = [("!=", false), ("==", true), ("=", true)];
    let (at, symbol, equal) = (0..term.len())
        .filter(|at| term.is_char_boundary(*at))
        .find_map(|at| {
            let (symbol, equal) = operators
                .iter()
                .find(|(symbol, _)| term[at..].starts_with(symbol))?;
            Some((at, symbol, *equal))
        })
        .ok_or_else(|| ParseSelectorError::new(input, start + term.len(), "expected '=', '==' or '!='"))?;
    let value = start + at + symbol.len();
    Ok(FieldRequirement {
        field: term[..at].into(),
        equal,
        value: unescape(input, value, &input[value..start + term.len()])?.into(),
    })
}

fn unescape<'a>(input: &str, start: usize, value: &'a str) -> Result<Cow<'a, str>, ParseSelectorError> {
    if !value.contains(['\\', '=']) {
        return Ok(value.into());
    }
    let mut plain = String::with_capacity(value.len());
    let mut chars = value.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '=' => {
                return Err(ParseSelectorError::new(
                    input,
                    start + at,
                    "expected '=' to be escaped as '\\='",
                ));
            }
            '\\' => match chars.next() {
                Some((_, c @ ('\\' | ',' | '='))) => plain.push(c),
                other => {
                    let at = other.map_or(value.len(), |(at, _)| at);
                    return Err(ParseSelectorError::new(
                        input,
                        start + at,
                        "expected '\\', ',' or '=' after '\\'",
                    ));
                }
            },
            _ => plain.push(c),
        }
    }
    Ok(plain.into())
}

impl Default for FieldSelector {
    fn default() -> Self {
        Self::everything()
    }
}

impl FromStr for FieldSelector {
    type Err = ParseSelectorError;

    fn from_str(input: &str) -> Result<Self, Self::Err> {
        Self::parse(input)
    }
}

/// Formats it as the server does.
impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, requirement) in self.requirements.iter().enumerate() {
            let comma = if number > 0 { "," } else { "" };
            write!(f, "{comma}{requirement}")?;
        }
        Ok(())
    }
}

impl fmt::Display for FieldRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.field)?;
        f.write_str(if self.equal { "=" } else { "!=" })?;
        self.value.chars().try_for_each(|c| match c {
            '\\' | ',' | '=' => write!(f, "\\{c}"),
            _ => write!(f, "{c}"),
        })
    }
}
