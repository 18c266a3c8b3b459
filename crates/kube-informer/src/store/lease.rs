//! What keeps a store filled.

use std::any::Any;
use std::sync::Arc;

/// Held by everybody who makes use of a store that somebody fills: when the last clone is dropped, nobody does any more.
#[derive(Clone)]
pub(crate) struct Lease {
    _guard: Arc<dyn Any + Send + Sync>,
}

impl Lease {
    /// A lease whose guard is dropped with its last clone.
    pub(crate) fn new(guard: impl Any + Send + Sync) -> Self {
        Self {
            _guard: Arc::new(guard),
        }
    }
}
