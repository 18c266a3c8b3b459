//! A lease that keeps the informer of a store running.

use std::any::Any;
use std::sync::Arc;

/// Held by every user of a store that an informer fills. When the last clone is dropped, the store has no users any
/// more.
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
