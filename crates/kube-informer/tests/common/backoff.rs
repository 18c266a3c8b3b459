//! The pauses of the default backoff, in milliseconds.

use std::ops::RangeInclusive;

pub(crate) const FIRST_PAUSE: RangeInclusive<u128> = 1000..=2001;
pub(crate) const SECOND_PAUSE: RangeInclusive<u128> = 2000..=4001;
/// If it comes in the first 10 s of an outage.
pub(crate) const THIRD_PAUSE: RangeInclusive<u128> = 2500..=5001;

/// Checks the pauses of an outage in which every request fails at once.
#[track_caller]
pub(crate) fn assert_they_grow(pauses: &[u128]) {
    let mut elapsed = 0;
    let bases = [1000, 2000, 4000, 8000, 16_000].into_iter();
    for (pause, base) in pauses.iter().zip(bases.chain(std::iter::repeat(30_000))) {
        let range = |base| base..=2 * base + 1;
        let (short, long) = (range(base.min(2500)).contains(pause), range(base).contains(pause));
        let is_as_it_should_be = match elapsed {
            ..9_990 => short,
            10_010.. => long,
            _ => short || long,
        };
        assert!(is_as_it_should_be, "{pause} after {elapsed}: {pauses:?}");
        elapsed += pause;
    }
}
