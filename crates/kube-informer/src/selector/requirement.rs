//! One condition on a label.

use std::fmt;

/// One condition of a [`LabelSelector`](super::LabelSelector).
#[doc(alias = "Requirement")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LabelRequirement {
    key: Box<str>,
    operator: LabelOperator,
    /// Sorted, without duplicates.
    values: Box<[Box<str>]>,
    /// The value as an integer, for `GreaterThan` and `LessThan`.
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
    /// `key==value`, the same as `key=value`
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

    /// The operator.
    pub fn operator(&self) -> LabelOperator {
        self.operator
    }

    /// The values, sorted. Most operators have one, those for existence have none.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &str> {
        self.values.iter().map(|value| &**value)
    }

    /// The value that the label must have, if there is exactly one.
    pub(super) fn only_value(&self) -> Option<&str> {
        use LabelOperator::{DoubleEquals, Equals, In};
        match (self.operator, &*self.values) {
            (Equals | DoubleEquals | In, [value]) => Some(value),
            _ => None,
        }
    }

    /// Whether this holds for an object whose label has this value (`None`: whose label is missing).
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

/// Parses a label's value as an integer, for comparisons.
pub(super) fn integer(value: &str) -> Option<i64> {
    value.parse().ok()
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
