//! A number of bytes that objects share.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that may be kept.
pub(super) struct Room {
    most: usize,
    taken: AtomicUsize,
}

impl Room {
    pub(super) const fn of(most: usize) -> Self {
        Self {
            most,
            taken: AtomicUsize::new(0),
        }
    }

    /// Takes some of the room, if there is so much.
    pub(super) fn take(&self, bytes: usize) -> bool {
        let taken = self.taken.fetch_add(bytes, Ordering::Relaxed);
        let fits = taken.saturating_add(bytes) <= self.most;
        if !fits {
            self.give_back(bytes);
        }
        fits
    }

    /// Takes some of the room, whether it is there or not.
    pub(super) fn add(&self, bytes: usize) {
        self.taken.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn is_full(&self) -> bool {
        self.taken.load(Ordering::Relaxed) >= self.most
    }

    pub(super) fn give_back(&self, bytes: usize) {
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let room = Room::of(10);
        assert_eq!([room.take(7), room.take(4), room.take(3)], [true, false, true]);
        room.give_back(7);
        assert_eq!([room.take(8), room.take(7), room.take(1)], [false, true, false]);
        assert!(!room.take(usize::MAX));
        assert!(room.take(0));
    }
}
