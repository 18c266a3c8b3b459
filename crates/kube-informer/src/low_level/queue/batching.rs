//! How changes are batched between the network and the handlers.
//!
//! Each step processes what is available and does not wait for more. The reflector decodes the objects of one read
//! ([`DECODED_TOGETHER`]), pushes each change, and wakes the consumer when it has nothing left to push or after
//! [`WORTH_WAKING`] changes. The consumer pops everything that is queued, up to the queue's capacity, applies it and
//! publishes once.

/// The most objects that are decoded together, on all cores.
pub(crate) const DECODED_TOGETHER: usize = 128;
/// Objects of fewer bytes than this in total are decoded on the reflector's thread.
pub(crate) const DECODED_ALONE: usize = 128 << 10;
/// The consumer is woken for this many changes even if more are about to follow. A power of two.
pub(crate) const WORTH_WAKING: usize = 32;
