//! Whether an object is decoded when it arrives, before somebody reads it.
//!
//! Where most objects are read soon after they changed, as by a controller, the next one will be, too. It is decoded while its bytes are
//! at hand, as informers of other forms do: the reader has it at once, and it need not be decompressed. Where few are
//! read, or while more arrive than are read, none is decoded in vain.

use crate::form::{DecodeError, DecoderConfig};
use crate::low_level::wire::RawObject;
use std::sync::{
    OnceLock,
    atomic::{AtomicU8, Ordering},
};

/// The balance above which objects are decoded.
const ENOUGH: u8 = 8;
const MOST: u8 = 16;

type DecodeRaw<K> = fn(&DecoderConfig, &RawObject) -> Result<K, DecodeError>;

/// The balance of a collection: an arrival takes 1, the first read of an object gives 2. So it rises if more than half of
/// the objects are read, and falls otherwise.
pub(super) struct Ahead<K> {
    balance: AtomicU8,
    /// Known since the first read.
    decode: OnceLock<DecodeRaw<K>>,
}

impl<K> Default for Ahead<K> {
    fn default() -> Self {
        Self {
            balance: AtomicU8::new(0),
            decode: OnceLock::new(),
        }
    }
}

impl<K> Ahead<K> {
    /// Counts an object that arrives. Returns how to decode it if it is likely to be read.
    pub(super) fn arrival(&self) -> Option<DecodeRaw<K>> {
        let balance = self
            .balance
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |balance| {
                balance.checked_sub(1)
            })
            .unwrap_or(0);
        (balance > ENOUGH).then(|| self.decode.get().copied()).flatten()
    }

    /// Counts an object that is read for the first time.
    pub(super) fn read(&self, decode: DecodeRaw<K>) {
        self.decode.get_or_init(|| decode);
        let more = |balance: u8| (balance < MOST).then(|| MOST.min(balance + 2));
        _ = self
            .balance
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    }
}
