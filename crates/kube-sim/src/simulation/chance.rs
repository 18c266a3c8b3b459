//! What a seed decides, by the name of what is decided.
//!
//! There is no stream of random numbers that all draw from: each decision has a generator of its own, made of the seed
//! and of the decision's name. So a fault that is taken away, or a request more, leaves all other decisions as they were.

use std::time::Duration;

/// The decisions of one seed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chance(pub(super) u64);

impl Chance {
    /// The generator for the decision with this name.
    pub(super) fn of(self, name: &str) -> fastrand::Rng {
        // FNV-1a, then the finalizer of SplitMix64.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325 ^ self.0, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        fastrand::Rng::with_seed(hash ^ (hash >> 31))
    }
}

/// Whether something happens that has this probability.
pub(super) fn happens(rng: &mut fastrand::Rng, probability: f64) -> bool {
    rng.f64() < probability
}

/// A time up to `longest` milliseconds: short ones and long ones are as likely.
pub(super) fn time(rng: &mut fastrand::Rng, longest: u64) -> u64 {
    let bits = u64::BITS - longest.leading_zeros();
    let most = 1_u64 << rng.u32(1..=bits.max(1)).min(62);
    rng.u64(1..=most.min(longest.max(1)))
}

pub(super) fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_differ_by_seed_and_by_name() {
        let draw = |seed, name| Chance(seed).of(name).u64(..);
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
    }

    #[test]
    fn times_are_short_and_long_up_to_the_longest() {
        let mut rng = Chance(1).of("times");
        let times: Vec<_> = (0..1000).map(|_| time(&mut rng, 10_000)).collect();
        assert!(times.iter().all(|time| (1..=10_000).contains(time)));
        assert!(times.iter().filter(|time| **time < 100).count() > 300);
        assert!(times.iter().filter(|time| **time > 1000).count() > 100);
    }
}
