//! The body of a WATCH in JSON: a sequence of `{"type":"ADDED","object":{…}}`.

use super::{
    feed::{Feed, Take},
    members::{MAX_ENVELOPE_VALUE, Members, Next},
    text,
};
use crate::low_level::wire::{EventType, FieldPlan, FrameError, FrameReason, Split};
use bytes::Bytes;

/// See [`WatchReader`](crate::low_level::wire::WatchReader).
pub(in crate::low_level::wire) struct WatchReader {
    feed: Feed,
    max: usize,
    members: Members,
    /// The member whose value is being read.
    at: Option<Member>,
    event: Option<EventType>,
    object: Option<Split>,
    failed: Option<FrameError>,
}

/// The members of an event.
#[derive(Debug, Clone, Copy)]
enum Member {
    Type,
    Object,
    Other,
}

impl WatchReader {
    pub(in crate::low_level::wire) fn new(max: usize) -> Self {
        Self {
            feed: Feed::of_lines(),
            max,
            members: Members::default(),
            at: None,
            event: None,
            object: None,
            failed: None,
        }
    }

    pub(in crate::low_level::wire) fn push(&mut self, chunk: Bytes) {
        self.feed.push(chunk);
    }

    /// The number of bytes that were read.
    pub(in crate::low_level::wire) fn offset(&self) -> u64 {
        self.feed.offset()
    }

    /// The next event and its object, which is scanned for `plan` if there is one; `None` if it has not arrived yet.
    pub(in crate::low_level::wire) fn next(
        &mut self,
        plan: Option<&FieldPlan>,
    ) -> Result<Option<(EventType, Split)>, FrameError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.advance(plan)
            .inspect_err(|error| self.failed = Some(error.clone()))
    }

    fn advance(&mut self, plan: Option<&FieldPlan>) -> Result<Option<(EventType, Split)>, FrameError> {
        loop {
            if let Some(member) = self.at {
                if !self.value(member, plan)? {
                    return Ok(None);
                }
                self.at = None;
            }
            match self.members.next(&mut self.feed)? {
                None => return Ok(None),
                Some(Next::End) => return self.frame().map(Some),
                Some(Next::Member(name)) => {
                    self.at = Some(match &*text::member_name(&name) {
                        b"type" => Member::Type,
                        b"object" => Member::Object,
                        _ => Member::Other,
                    });
                }
            }
        }
    }

    /// Reads the value of a member; `false` if it has not arrived yet.
    fn value(&mut self, member: Member, plan: Option<&FieldPlan>) -> Result<bool, FrameError> {
        let take = match member {
            Member::Type => Take::UpTo(MAX_ENVELOPE_VALUE),
            Member::Object => {
                self.object = self.feed.object(self.max, plan)?;
                return Ok(self.object.is_some());
            }
            Member::Other => Take::UpTo(self.max),
        };
        let Some(value) = self.feed.value(take)? else {
            return Ok(false);
        };
        match member {
            Member::Type if value.starts_with(b"\"") => {
                let event = text::decode(&value).ok_or_else(|| self.invalid("type"))?;
                self.event = Some(EventType::from(&*event));
            }
            Member::Type => return Err(self.invalid("type")),
            Member::Object | Member::Other => {}
        }
        Ok(true)
    }

    /// Ends a frame and resets the state for the next one.
    fn frame(&mut self) -> Result<(EventType, Split), FrameError> {
        let missing = |member| self.feed.error(FrameReason::Missing(member));
        let event = self.event.take().ok_or_else(|| missing("type"))?;
        let object = self.object.take().ok_or_else(|| missing("object"))?;
        Ok((event, object))
    }

    fn invalid(&self, member: &'static str) -> FrameError {
        self.feed.error(FrameReason::Invalid(member))
    }

    pub(in crate::low_level::wire) fn finish(mut self) -> Result<(), FrameError> {
        let between_frames =
            self.next(None)?.is_none() && matches!(self.members, Members::Start) && self.at.is_none();
        if !between_frames {
            return Err(self.feed.error(FrameReason::Truncated));
        }
        Ok(())
    }
}
