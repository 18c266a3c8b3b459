//! Seeing to it that a list in pages comes to an end.

use crate::source::ApiError;
use foldhash::fast::RandomState;
use std::collections::HashSet;
use std::hash::BuildHasher;

/// How many pages in a row may have no objects. Some servers look through a number of objects for each page, and may find
/// none that is wanted.
const EMPTY_PAGES: u32 = 1000;

/// The pages of a list so far.
#[derive(Default)]
pub(super) struct Pages {
    hasher: RandomState,
    /// The hashes of their tokens.
    tokens: HashSet<u64>,
    objects: usize,
    empty: u32,
}

impl Pages {
    /// Goes on to the page of a token, after so many objects.
    ///
    /// # Errors
    /// The list would never end.
    pub(super) fn turn(&mut self, token: &str, objects: usize) -> Result<(), ApiError> {
        self.empty = match objects > self.objects {
            true => 0,
            false => self.empty + 1,
        };
        self.objects = objects;
        if !self.tokens.insert(self.hasher.hash_one(token)) {
            return Err(ApiError::Protocol(
                "a continue token came twice, so the list would never end".into(),
            ));
        }
        if self.empty >= EMPTY_PAGES {
            let text = format!("{EMPTY_PAGES} pages in a row have no objects");
            return Err(ApiError::Protocol(text));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_comes_again_is_an_error() {
        let mut pages = Pages::default();
        for (token, objects) in [("a", 5), ("b", 10), ("c", 10)] {
            assert!(pages.turn(token, objects).is_ok());
        }
        assert!(pages.turn("a", 15).is_err());
    }

    #[test]
    fn many_pages_without_objects_are_an_error() {
        let mut pages = Pages::default();
        for page in 0..999 {
            assert!(pages.turn(&format!("a{page}"), 0).is_ok());
        }
        assert!(pages.turn("an object", 1).is_ok());
        for page in 0..999 {
            assert!(pages.turn(&format!("b{page}"), 1).is_ok());
        }
        assert!(pages.turn("c", 1).is_err());
    }
}
