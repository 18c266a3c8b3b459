//! Listing in pages, and seeing to it that this comes to an end.

use crate::source::{ApiError, ListMeta, ListRequest};
use foldhash::fast::RandomState;
use std::collections::HashSet;
use std::hash::BuildHasher;

/// How many pages in a row may have no objects. Some servers look through a number of objects for each page, and may find
/// none that is wanted.
const EMPTY_PAGES: u32 = 1000;

/// The requests for the pages of one list.
pub(super) struct Pages {
    request: ListRequest,
    /// What the first page said of the list.
    first: Option<ListMeta>,
    /// Whether the list was started over, in one piece.
    restarted: bool,
    hasher: RandomState,
    /// The hashes of the tokens so far.
    tokens: HashSet<u64>,
    objects: usize,
    empty: u32,
}

/// What follows a page.
#[derive(Debug, PartialEq)]
pub(super) enum Turn {
    /// There is another one.
    Next,
    /// The next page can no longer be had. What was listed so far is void; the whole list is asked for in one piece.
    Restart,
    /// That was the last one.
    Complete(ListMeta),
}

impl Pages {
    /// A list that starts with this request, which has no token.
    pub(super) fn new(request: ListRequest) -> Self {
        Self {
            request,
            first: None,
            restarted: false,
            hasher: RandomState::default(),
            tokens: HashSet::new(),
            objects: 0,
            empty: 0,
        }
    }

    /// The request for the next page.
    pub(super) fn request(&self) -> &ListRequest {
        &self.request
    }

    /// Decides what follows a page. `objects` is the number of objects received so far.
    ///
    /// # Errors
    /// The page failed, or the list would never end.
    pub(super) fn turn(
        &mut self,
        page: Result<ListMeta, ApiError>,
        objects: usize,
    ) -> Result<Turn, ApiError> {
        let mut end = match page {
            Ok(end) => end,
            Err(ApiError::Status(status))
                if status.is_expired() && self.request.continue_token.is_some() && !self.restarted =>
            {
                let request = ListRequest {
                    limit: None,
                    continue_token: None,
                    ..self.request.clone()
                };
                *self = Self {
                    restarted: true,
                    ..Self::new(request)
                };
                return Ok(Turn::Restart);
            }
            Err(error) => return Err(error),
        };
        let token = end.continue_token.take();
        let first = self.first.get_or_insert(end);
        let Some(token) = token else {
            return Ok(Turn::Complete(first.clone()));
        };
        self.check(&token, objects)?;
        self.request.continue_token = Some(token);
        Ok(Turn::Next)
    }

    fn check(&mut self, token: &str, objects: usize) -> Result<(), ApiError> {
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
    use crate::source::{ApiStatus, ListVersion};

    fn pages() -> Pages {
        Pages::new(ListRequest {
            limit: Some(5),
            ..ListRequest::new(ListVersion::MostRecent)
        })
    }

    fn page(version: &str, token: Option<&str>) -> Result<ListMeta, ApiError> {
        Ok(ListMeta {
            resource_version: Some(version.into()),
            continue_token: token.map(str::to_owned),
            ..ListMeta::default()
        })
    }

    fn expired() -> Result<ListMeta, ApiError> {
        Err(ApiStatus::from_code(410, "too old").into())
    }

    #[test]
    fn a_list_in_pages_has_the_version_of_its_first_page() {
        let mut pages = pages();
        assert_eq!(pages.turn(page("7", Some("a")), 5).unwrap(), Turn::Next);
        assert_eq!(pages.request().continue_token.as_deref(), Some("a"));
        let end = page("8", None).unwrap();
        let Turn::Complete(end) = pages.turn(Ok(end), 8).unwrap() else {
            panic!("there is no other page");
        };
        assert_eq!(end.resource_version, Some("7".into()));
    }

    #[test]
    fn a_list_whose_page_expires_starts_over_once() {
        let mut pages = pages();
        assert!(pages.turn(expired(), 0).is_err(), "the first page has no token");
        pages.turn(page("7", Some("a")), 5).unwrap();
        assert_eq!(pages.turn(expired(), 5).unwrap(), Turn::Restart);
        assert_eq!(pages.request(), &ListRequest::new(ListVersion::MostRecent));
        // A server that pages though nobody asked for it.
        assert_eq!(pages.turn(page("9", Some("a")), 5).unwrap(), Turn::Next);
        assert!(pages.turn(expired(), 5).is_err());
    }

    #[test]
    fn a_token_that_comes_again_is_an_error() {
        let mut pages = pages();
        for (token, objects) in [("a", 5), ("b", 10), ("c", 10)] {
            assert!(pages.turn(page("7", Some(token)), objects).is_ok());
        }
        assert!(pages.turn(page("7", Some("a")), 15).is_err());
    }

    #[test]
    fn many_pages_without_objects_are_an_error() {
        let mut pages = pages();
        for number in 0..999 {
            assert!(pages.turn(page("7", Some(&format!("a{number}"))), 0).is_ok());
        }
        assert!(pages.turn(page("7", Some("an object")), 1).is_ok());
        for number in 0..999 {
            assert!(pages.turn(page("7", Some(&format!("b{number}"))), 1).is_ok());
        }
        assert!(pages.turn(page("7", Some("c")), 1).is_err());
    }
}
