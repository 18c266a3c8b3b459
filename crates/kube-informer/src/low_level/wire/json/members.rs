//! Parses the members of an object as it arrives.

use super::feed::{Feed, Take};
use crate::low_level::wire::FrameError;
use bytes::Bytes;

/// The maximum size of a member's name, or of a value other than an object; far above what Kubernetes uses.
pub(super) const MAX_ENVELOPE_VALUE: usize = 1 << 20;

/// Some proxies and file systems put this before UTF-8 text.
const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// The position between the members of an object. The caller reads the values.
#[derive(Debug, Default)]
pub(super) enum Members {
    #[default]
    Start,
    /// After the opening bracket.
    First,
    /// After a comma.
    Another,
    InName,
    Colon(Bytes),
    /// After a value, which the caller has read.
    Behind,
}

/// What comes next in an object.
#[derive(Debug)]
pub(super) enum Next {
    /// A member with this name (including quotes); the caller must read its value next.
    Member(Bytes),
    /// The end of the object.
    End,
}

impl Members {
    /// Parses the next part of the object; `None` if it has not arrived yet.
    pub(super) fn next(&mut self, feed: &mut Feed) -> Result<Option<Next>, FrameError> {
        loop {
            if let Self::InName = self {
                let Some(name) = feed.value(Take::UpTo(MAX_ENVELOPE_VALUE))? else {
                    return Ok(None);
                };
                *self = Self::Colon(name);
            }
            let Some(byte) = feed.peek() else { return Ok(None) };
            match (std::mem::take(self), byte) {
                (Self::First | Self::Another, b'"') => {
                    *self = Self::InName;
                    continue;
                }
                (Self::Start, b'{') => *self = Self::First,
                (Self::Start, byte) if is_byte_order_mark(feed.offset(), byte) => {}
                (Self::Behind, b',') => *self = Self::Another,
                (Self::Colon(name), b':') => {
                    feed.bump();
                    *self = Self::Behind;
                    return Ok(Some(Next::Member(name)));
                }
                (Self::First | Self::Behind, b'}') => {
                    feed.bump();
                    return Ok(Some(Next::End));
                }
                (at, _) => return Err(feed.expected(at.expected())),
            }
            feed.bump();
        }
    }

    fn expected(&self) -> &'static str {
        match self {
            Self::Start => "an object",
            Self::First => "a member or the end of the object",
            Self::Another | Self::InName => "a member",
            Self::Colon(_) => "a colon",
            Self::Behind => "a comma or the end of the object",
        }
    }
}

fn is_byte_order_mark(offset: u64, byte: u8) -> bool {
    usize::try_from(offset).is_ok_and(|offset| BYTE_ORDER_MARK.get(offset) == Some(&byte))
}
