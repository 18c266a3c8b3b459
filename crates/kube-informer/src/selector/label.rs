//! Label selectors.

use super::parse::{self, ParseSelectorError};
use std::{fmt, str::FromStr, sync::Arc};

/// Selects objects by their labels; an object is selected if every requirement holds.
///
/// ```
/// use kube_informer::selector::LabelSelector;
/// use std::collections::BTreeMap;
///
/// let selector = LabelSelector::parse("app in (web, api), tier=front, !canary")?;
/// let labels = BTreeMap::from([("app", "web"), ("tier", "front")]);
/// assert!(selector.matches(|label| labels.get(label).copied()));
/// assert_eq!(selector.to_string(), "app in (api,web),!canary,tier=front");
/// # Ok::<_, kube_informer::selector::ParseSelectorError>(())
/// ```
///
/// # Syntax
/// Requirements are separated by commas:
///
/// | text | holds if the label |
/// |---|---|
/// | `key` | is there |
/// | `!key` | is not there |
/// | `key=value`, `key==value` | is there and has this value |
/// | `key!=value` | is not there, or has another value |
/// | `key in (a,b)` | is there and has one of these values |
/// | `key notin (a,b)` | is not there, or has none of these values |
/// | `key>5`, `key<5` | is there and is an integer above or below |
///
/// Keys and values must be such as labels may have; a value may be empty.
#[doc(alias = "Selector")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LabelSelector {
    /// Sorted by key.
    requirements: Arc<[LabelRequirement]>,
}

/// One condition of a [`LabelSelector`].
#[doc(alias = "Requirement")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LabelRequirement {
    key: Box<str>,
    operator: LabelOperator,
    /// Sorted, without duplicates.
    values: Box<[Box<str>]>,
    /// The value as a number, for comparisons.
    number: i64,
}

/// How a [`LabelRequirement`] relates a label to its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LabelOperator {
    /// `key`
    Exists,
    /// `!key`
    DoesNotExist,
    /// `key=value`
    Equals,
    /// `key==value`, which means the same
    DoubleEquals,
    /// `key!=value`
    NotEquals,
    /// `key in (...)`
    In,
    /// `key notin (...)`
    NotIn,
    /// `key>value`
    GreaterThan,
    /// `key<value`
    LessThan,
}

impl LabelSelector {
    /// Selects every object.
    #[doc(alias = "Everything")]
    pub fn everything() -> Self {
        Self {
            requirements: Arc::default(),
        }
    }

    /// Reads a selector as the API server does.
    ///
    /// # Errors
    /// The text is not a selector, or a key or value is not one that a label can have. The error says at which
    /// character.
    pub fn parse(text: &str) -> Result<Self, ParseSelectorError> {
        let mut requirements = parse::label_requirements(text)?;
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(Self {
            requirements: requirements.into(),
        })
    }

    /// Whether an object with these labels is selected. `label` gives the value of a label, if it is there.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements
            .iter()
            .all(|requirement| requirement.holds(label(&requirement.key)))
    }

    /// Whether every object is selected, so that no label needs to be looked at.
    #[doc(alias = "Empty")]
    pub fn is_everything(&self) -> bool {
        self.requirements.is_empty()
    }

    /// The conditions, sorted by key.
    pub fn requirements(&self) -> &[LabelRequirement] {
        &self.requirements
    }

    /// The value that an object must have for `label` to be selected, if there is just one.
    #[doc(alias = "RequiresExactMatch")]
    pub fn required_value(&self, label: &str) -> Option<&str> {
        use LabelOperator::{DoubleEquals, Equals, In};
        let required = self
            .requirements
            .iter()
            .filter(|requirement| &*requirement.key == label);
        required
            .into_iter()
            .find_map(|requirement| match (requirement.operator, &*requirement.values) {
                (Equals | DoubleEquals | In, [value]) => Some(&**value),
                _ => None,
            })
    }
}

impl LabelRequirement {
    pub(super) fn new(key: &str, operator: LabelOperator, mut values: Vec<&str>, number: i64) -> Self {
        values.sort_unstable();
        values.dedup();
        Self {
            key: key.into(),
            operator,
            values: values.into_iter().map(Box::from).collect(),
            number,
        }
    }

    /// The label.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// How the label is related to the values.
    pub fn operator(&self) -> LabelOperator {
        self.operator
    }

    /// The values, sorted; one for most operators, none for those about existence.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &str> {
        self.values.iter().map(|value| &**value)
    }

    /// Whether this holds for an object on which the label has this value, or is missing.
    #[doc(alias = "Matches")]
    pub fn holds(&self, value: Option<&str>) -> bool {
        use LabelOperator::*;
        let among = |value: &str| self.values.iter().any(|other| **other == *value);
        match self.operator {
            Exists => value.is_some(),
            DoesNotExist => value.is_none(),
            Equals | DoubleEquals | In => value.is_some_and(among),
            NotEquals | NotIn => !value.is_some_and(among),
            GreaterThan => value.and_then(integer).is_some_and(|value| value > self.number),
            LessThan => value.and_then(integer).is_some_and(|value| value < self.number),
        }
    }
}

/// A label's value as a number, for comparisons.
pub(super) fn integer(value: &str) -> Option<i64> {
    value.parse().ok()
}

impl Default for LabelSelector {
    fn default() -> Self {
        Self::everything()
    }
}

impl FromStr for LabelSelector {
    type Err = ParseSelectorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

/// As the server writes it: requirements sorted by key, values sorted.
impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, requirement) in self.requirements.iter().enumerate() {
            let comma = if number > 0 { "," } else { "" };
            write!(f, "{comma}{requirement}")?;
        }
        Ok(())
    }
}

impl fmt::Display for LabelRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use LabelOperator::*;
        let (key, values) = (&self.key, self.values.join(","));
        match self.operator {
            Exists => write!(f, "{key}"),
            DoesNotExist => write!(f, "!{key}"),
            Equals => write!(f, "{key}={values}"),
            DoubleEquals => write!(f, "{key}=={values}"),
            NotEquals => write!(f, "{key}!={values}"),
            In => write!(f, "{key} in ({values})"),
            NotIn => write!(f, "{key} notin ({values})"),
            GreaterThan => write!(f, "{key}>{values}"),
            LessThan => write!(f, "{key}<{values}"),
        }
    }
}
