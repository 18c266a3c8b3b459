//! Walking the members of an object as it arrives.

use super::feed::{Feed, Take};
use crate::wire::FrameError;
use bytes::Bytes;

/// How long the name of a member, or a value besides objects, may be: far above what anything of Kubernetes has.
pub(super) const MAX_ENVELOPE_VALUE: usize = 1 << 20;

/// Some proxies and file systems put this ahead of UTF-8 text.
const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// Where we are between the members of an object. The values are read by whoever uses this.
#[derive(Debug, Default)]
pub(super) enum Members {
    #[default]
    Start,
    /// Behind the opening bracket.
    First,
    /// Behind a comma.
    Another,
    InName,
    Colon(Bytes),
    /// Behind a value, once that has been read.
    Behind,
}

/// What comes next in an object.
#[derive(Debug)]
pub(super) enum Next {
    /// A member of this name (with its quotes); its value is to be read now.
    Member(Bytes),
    /// The end of the object.
    End,
}

impl Members {
    /// What comes next; `None` until it has arrived.
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
