//! How changes are batched between the network and the handlers.
//!
//! Each step of the way works on what has come together, and none waits for more to come, with one exception. The
//! reflector decodes what has arrived in one read ([`DECODED_TOGETHER`]), pushes each change, and wakes the consumer when
//! it has nothing left to push or after [`WORTH_WAKING`] changes. The consumer takes everything that is queued, up to the
//! queue's capacity, applies it and publishes once. The exception is a flood: while each yield to other tasks of the same
//! thread brings at least [`FLOOD`] more changes, the consumer goes on yielding, for at most [`LONGEST_WAIT`], because one
//! large batch costs less than many small ones.

use std::time::Duration;

/// The most objects that are decoded together, on all cores.
pub(crate) const DECODED_TOGETHER: usize = 128;
/// Objects of fewer bytes than this, together, are decoded on the reflector's own thread.
pub(crate) const DECODED_ALONE: usize = 128 << 10;
/// The consumer is woken for this many changes even if more follow at once. A power of two.
pub(crate) const WORTH_WAKING: usize = 32;
/// If yielding once brings this many changes, more are waited for.
pub(crate) const FLOOD: usize = 64;
/// The longest that a flood delays its first change.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_millis(10);
