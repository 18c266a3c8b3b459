//! What the client of a request is to be warned of.

use std::sync::{Mutex, PoisonError};

/// The most characters of all warnings of a response. So it has no more warnings, either.
pub(crate) const MOST: usize = 4096;

/// What the client of a request is to be warned of, once.
#[derive(Debug, Default)]
pub(crate) struct Warnings(Mutex<Vec<String>>);

impl Warnings {
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes note of a warning, unless the response cannot have so many.
    pub(crate) fn add(&self, warning: String) {
        let mut warnings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if warnings.len() < MOST && !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
}

/// They are those of one request.
impl PartialEq for Warnings {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Warnings {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_warnings_than_a_response_can_have() {
        let warnings = Warnings::default();
        (0..10_000).for_each(|n| warnings.add(n.to_string()));
        (0..10).for_each(|n| warnings.add(n.to_string()));
        assert_eq!(warnings.take().len(), MOST);
    }
}
