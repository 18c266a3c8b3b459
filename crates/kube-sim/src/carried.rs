//! What a computation takes with it to another thread: one whose stack has more room, for example.

use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;

/// Whoever puts it there knows its type.
pub(crate) type Carried = Arc<dyn Any + Send + Sync>;

thread_local! {
    static CARRIED: RefCell<Option<Carried>> = const { RefCell::new(None) };
}

/// Runs `f` with this, or with nothing.
pub(crate) fn within<T>(carried: Option<Carried>, f: impl FnOnce() -> T) -> T {
    struct Restore(Option<Carried>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CARRIED.set(self.0.take());
        }
    }
    let _restore = Restore(CARRIED.replace(carried));
    f()
}

/// What this thread was given.
pub(crate) fn now() -> Option<Carried> {
    CARRIED.with_borrow(Clone::clone)
}
