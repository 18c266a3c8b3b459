//! Priorities.

/// The priority of an item; higher ones come first. See [Ordering](crate#ordering) for how starvation of low ones is
/// prevented.
///
/// The usual scheme is that of controller-runtime: initial objects and resyncs are [`LOW`](Priority::LOW), changes
/// are [`NORMAL`](Priority::NORMAL).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[doc(alias = "LowPriority")]
pub struct Priority(pub i8);

impl Priority {
    /// For work that can wait: initial objects, resyncs (-100).
    pub const LOW: Self = Self(-100);
    /// The default (0).
    pub const NORMAL: Self = Self(0);
    /// For work that cannot wait (100).
    pub const HIGH: Self = Self(100);
}
