//! JSON: splitting and scanning.
//!
//! [`nesting`] finds the end of an object or array (it processes [`block`]s) and [`value`] that of any value, both
//! across chunks. [`feed`] and [`members`] use them to parse the envelope of a body as it arrives; [`grammar`] checks
//! values of several lines. [`walk`] visits the parts of an object that has arrived completely.

mod block;
mod bookmark;
mod feed;
mod grammar;
mod labels;
mod list;
mod members;
mod nesting;
mod planned;
mod scan;
mod text;
mod value;
mod walk;
mod watch;

pub(super) use bookmark::bookmark;
pub(super) use labels::labels;
pub(super) use list::ListReader;
pub(super) use scan::scan;
pub(super) use watch::WatchReader;

fn is_whitespace(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}
