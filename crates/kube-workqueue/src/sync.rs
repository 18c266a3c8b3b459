//! The lock and the reference count, from loom when its model checker runs (`--cfg loom`).

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

/// For so many turns, some microseconds, a thread stays away from a lock that it found taken, and then gets in line. To
/// hand over the lock and what it guards from one processor to another takes longer than an operation: it pays to let
/// the other one do some more.
#[cfg(not(loom))]
const PAUSE: usize = 256;
#[cfg(loom)]
const PAUSE: usize = 0;

/// A mutex without poisoning: what it guards is whole again before user code can panic.
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
