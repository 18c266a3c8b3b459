//! JSON: splitting and scanning.
//!
//! [`nesting`] finds the end of an object or array (by looking at [`block`]s) and [`value`] that of any value, both across chunks. On them stand
//! [`feed`] with [`members`], which walk the envelope of a body as it arrives (and [`grammar`], which checks a value of several
//! lines), and [`walk`], which walks an object that
//! is all there.

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
