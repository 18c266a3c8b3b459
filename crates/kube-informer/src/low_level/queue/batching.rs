//! How changes are batched between the network and the handlers.
//!
//! Each step processes what is available and does not wait for more. The reflector decodes the objects of one read
//! ([`DECODED_TOGETHER`]), pushes each change, and wakes the consumer when it has nothing left to push or after
//! [`WORTH_WAKING`] changes. The consumer pops everything that is queued, up to the queue's capacity
//! ([`QUEUE_CAPACITY`]), applies it and publishes once.

/// The most objects that are decoded together, on all cores.
pub(crate) const DECODED_TOGETHER: usize = 128;
/// Objects of fewer bytes than this in total are decoded on the reflector's thread.
pub(crate) const DECODED_ALONE: usize = 128 << 10;
/// The consumer is woken for this many changes even if more are about to follow.
pub(crate) const WORTH_WAKING: usize = 32;
/// After this many events a reflector reports the seen version even if more are about to follow.
pub(crate) const UNREPORTED: u64 = 128;
/// The default capacity of an informer's queue, in changes.
pub(crate) const QUEUE_CAPACITY: usize = 2048;
