//! Whether an object is decoded when it arrives, before somebody reads it.
//!
//! Where most objects are read soon after they changed, as by a controller, the next one will be, too. It is decoded while its bytes are
//! at hand, as informers of other forms do: the reader has it at once, and it need not be decompressed. Where few are
//! read, or late, or while more arrive than are read, hardly any is decoded in vain.

use crate::form::{DecodeError, DecoderConfig};
use crate::low_level::wire::RawObject;
use std::sync::{
    OnceLock,
    atomic::{AtomicU8, Ordering},
};

/// What an arrival takes from the balance, and what a read gives: the balance rises if more than 3 of 5 objects are read.
const ARRIVAL: u8 = 3;
const READ: u8 = 5;
/// The balance above which objects are decoded, and the highest one, which is used up by 8 objects.
const ENOUGH: u8 = 24;
const MOST: u8 = 48;
/// A read of an object counts if fewer than this many others have arrived after it.
const SOON: usize = 32;

type DecodeRaw<K> = fn(&DecoderConfig, &RawObject) -> Result<K, DecodeError>;

/// How the objects of a collection arrive and are read.
pub(super) struct Ahead<K> {
    balance: AtomicU8,
    /// The number of the last arrival, which wraps around.
    arrivals: AtomicU8,
    /// Known since the first read that counts.
    decode: OnceLock<DecodeRaw<K>>,
}

/// When an object that nobody has read arrived: the number of its arrival, or 0 if reading it does not count (any more).
/// One of 8 old objects looks like one that has just arrived.
pub(super) struct Unread(AtomicU8);

impl Unread {
    /// Of an object whose first read does not count.
    pub(super) fn uncounted() -> Self {
        Self(AtomicU8::new(0))
    }

    /// The arrival, at the first read.
    pub(super) fn take(&self) -> Option<u8> {
        // Reading first is cheaper where an object is read again and again.
        let arrival = match self.0.load(Ordering::Relaxed) {
            0 => 0,
            _ => self.0.swap(0, Ordering::Relaxed),
        };
        (arrival != 0).then_some(arrival)
    }
}

impl<K> Default for Ahead<K> {
    fn default() -> Self {
        Self {
            balance: AtomicU8::new(0),
            arrivals: AtomicU8::new(0),
            decode: OnceLock::new(),
        }
    }
}

impl<K> Ahead<K> {
    /// Numbers an object that arrives.
    pub(super) fn arrival(&self) -> Unread {
        let number = self.arrivals.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        Unread(AtomicU8::new(number.max(1)))
    }

    /// Counts an object that has arrived. Returns how to decode it if it is likely to be read soon.
    pub(super) fn is_read_soon(&self) -> Option<DecodeRaw<K>> {
        let less = |balance: u8| (balance > 0).then(|| balance.saturating_sub(ARRIVAL));
        let balance = self
            .balance
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .unwrap_or(0);
        (balance > ENOUGH).then(|| self.decode.get().copied()).flatten()
    }

    /// An object that was decoded ahead had to go from the cache before it was read. It takes a while to try again.
    pub(super) fn was_in_vain(&self) {
        self.balance.store(0, Ordering::Relaxed);
    }

    /// Counts the first read of the object of an arrival, if it comes soon: while the cache, which has room for `room`
    /// such objects, would still hold what had been decoded then.
    pub(super) fn read(&self, arrival: u8, room: usize, decode: DecodeRaw<K>) {
        let later = self.arrivals.load(Ordering::Relaxed).wrapping_sub(arrival);
        if usize::from(later) >= SOON.min(room) {
            return;
        }
        self.decode.get_or_init(|| decode);
        let more = |balance: u8| (balance < MOST).then(|| MOST.min(balance + READ));
        _ = self
            .balance
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    }
}
