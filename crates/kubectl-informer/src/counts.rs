//! How often names occur: a bounded number of them.

use serde::Serialize;
use std::collections::HashMap;

/// The number of names that are counted each; what comes after counts as [`OTHERS`].
const MOST_NAMES: usize = 200;
const OTHERS: &str = "others";

/// How often something occurred.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Count {
    pub(crate) name: String,
    pub(crate) changes: u64,
}

/// Names and how often they occurred.
#[derive(Debug, Default)]
pub(crate) struct Counts(HashMap<String, u64>);

impl Counts {
    /// Counts an occurrence.
    pub(crate) fn add(&mut self, name: &str) {
        let known = self.0.contains_key(name);
        let name = match known || self.0.len() < MOST_NAMES {
            true => name,
            false => OTHERS,
        };
        match self.0.get_mut(name) {
            Some(count) => *count += 1,
            None => {
                self.0.insert(name.to_owned(), 1);
            }
        }
    }

    /// The names that occurred most often.
    pub(crate) fn most(&self, number: usize) -> Vec<Count> {
        let mut counts: Vec<_> = self.0.iter().collect();
        counts.sort_by(|one, other| (other.1, one.0).cmp(&(one.1, other.0)));
        let counts = counts.into_iter().take(number).map(|(name, changes)| Count {
            name: name.clone(),
            changes: *changes,
        });
        counts.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_names_is_bounded() {
        let mut counts = Counts::default();
        for number in 0..1000 {
            counts.add(&number.to_string());
        }
        let most = counts.most(1000);
        assert_eq!(most.len(), MOST_NAMES + 1);
        assert_eq!((&*most[0].name, most[0].changes), (OTHERS, 800));
    }

    #[test]
    fn equal_counts_are_sorted_by_name() {
        let mut counts = Counts::default();
        ["b", "a", "c", "c"].iter().for_each(|name| counts.add(name));
        let names: Vec<_> = counts.most(3).into_iter().map(|count| count.name).collect();
        assert_eq!(names, ["c", "a", "b"]);
    }
}
