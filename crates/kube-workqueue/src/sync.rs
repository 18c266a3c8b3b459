//! The lock and the reference count; those of loom under its model checker (`--cfg loom`).

#[cfg(loom)]
pub(crate) use loom::sync::Arc;
#[cfg(not(loom))]
pub(crate) use std::sync::Arc;

#[cfg(loom)]
use loom::sync as imp;
#[cfg(not(loom))]
use std::sync as imp;

use std::hint;
use std::sync::{PoisonError, TryLockError};

pub(crate) use imp::MutexGuard;

/// The number of spin iterations (some microseconds) for which a thread backs off from a taken lock before it waits
/// for it. Moving the lock and its data to another processor takes longer than an operation, so it pays to let the
/// current owner continue.
#[cfg(not(loom))]
const PAUSE: usize = 256;
#[cfg(loom)]
const PAUSE: usize = 0;

/// A mutex without poisoning: its data is consistent whenever user code can panic.
#[derive(Debug)]
pub(crate) struct Mutex<T>(imp::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(imp::Mutex::new(value))
    }

    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        match self.0.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => self.lock_taken(),
        }
    }

    #[cold]
    fn lock_taken(&self) -> MutexGuard<'_, T> {
        for _ in 0..PAUSE {
            hint::spin_loop();
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
