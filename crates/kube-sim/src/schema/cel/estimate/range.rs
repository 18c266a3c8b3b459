//! From how little to how much.

/// What CEL calls a traversal of a text: a tenth for each character.
pub(super) const TRAVERSAL: f64 = 0.1;

/// How much there may be of something: characters, items, or units of cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) min: u64,
    pub(super) max: u64,
}

impl Range {
    pub(super) const NONE: Self = Self::exactly(0);
    pub(super) const ONE: Self = Self::exactly(1);
    pub(super) const ANY: Self = Self::up_to(u64::MAX);
    /// Of nothing: with another one, that one.
    pub(super) const EMPTY: Self = Self {
        min: u64::MAX,
        max: 0,
    };

    pub(super) const fn exactly(count: u64) -> Self {
        Self {
            min: count,
            max: count,
        }
    }

    pub(super) const fn up_to(max: u64) -> Self {
        Self { min: 0, max }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            min: self.min.saturating_add(other.min),
            max: self.max.saturating_add(other.max),
        }
    }

    pub(super) fn times(self, other: Self) -> Self {
        Self {
            min: self.min.saturating_mul(other.min),
            max: self.max.saturating_mul(other.max),
        }
    }

    /// Rounded up.
    pub(super) fn by(self, factor: f64) -> Self {
        // A cast of what does not fit is the largest number.
        let of = |count: u64| (count as f64 * factor).ceil() as u64;
        Self {
            min: of(self.min),
            max: of(self.max),
        }
    }

    pub(super) fn traversed(self) -> Self {
        self.by(TRAVERSAL)
    }

    /// One or the other.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}
