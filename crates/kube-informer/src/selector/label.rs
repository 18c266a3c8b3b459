//! Label selectors.

use super::{
    parse::{self, ParseSelectorError},
    requirement::LabelRequirement,
};
use std::{fmt, str::FromStr, sync::Arc};

/// Selects objects by their labels. An object matches if every requirement holds.
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
/// | requirement | holds if the label |
/// |---|---|
/// | `key` | is there |
/// | `!key` | is not there |
/// | `key=value`, `key==value` | is there and has this value |
/// | `key!=value` | is not there, or has another value |
/// | `key in (a,b)` | is there and has one of these values |
/// | `key notin (a,b)` | is not there, or has none of these values |
/// | `key>5`, `key<5` | is there and is an integer above or below |
///
/// Keys and values must be valid for labels; a value may be empty.
#[doc(alias = "Selector")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LabelSelector {
    /// Sorted by key.
    requirements: Arc<[LabelRequirement]>,
}

impl LabelSelector {
    /// Selects every object.
    #[doc(alias = "Everything")]
    pub fn everything() -> Self {
        Self {
            requirements: Arc::default(),
        }
    }

    /// Parses a selector in the same way as the API server.
    ///
    /// # Errors
    /// The input is not a selector, or a key or value is not valid for a label. The error states the character.
    pub fn parse(input: &str) -> Result<Self, ParseSelectorError> {
        Ok(Self::of(parse::label_requirements(input)?))
    }

    pub(super) fn of(mut requirements: Vec<LabelRequirement>) -> Self {
        requirements.sort_by(|a, b| a.key().cmp(b.key()));
        Self {
            requirements: requirements.into(),
        }
    }

    /// Whether an object with these labels matches. `label` returns the value of a label, if it is present.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements
            .iter()
            .all(|requirement| requirement.holds(label(requirement.key())))
    }

    /// Whether every object matches, so that no label needs to be read.
    #[doc(alias = "Empty")]
    pub fn is_everything(&self) -> bool {
        self.requirements.is_empty()
    }

    /// The conditions, sorted by key.
    pub fn requirements(&self) -> &[LabelRequirement] {
        &self.requirements
    }

    /// The value that `label` must have for an object to match, if there is exactly one.
    #[doc(alias = "RequiresExactMatch")]
    pub fn required_value(&self, label: &str) -> Option<&str> {
        let of_label = |requirement: &&LabelRequirement| requirement.key() == label;
        self.requirements
            .iter()
            .filter(of_label)
            .find_map(LabelRequirement::only_value)
    }
}

impl Default for LabelSelector {
    fn default() -> Self {
        Self::everything()
    }
}

impl FromStr for LabelSelector {
    type Err = ParseSelectorError;

    fn from_str(input: &str) -> Result<Self, Self::Err> {
        Self::parse(input)
    }
}

/// Formats it as the server does: requirements sorted by key, values sorted.
impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, requirement) in self.requirements.iter().enumerate() {
            let comma = if number > 0 { "," } else { "" };
            write!(f, "{comma}{requirement}")?;
        }
        Ok(())
    }
}
