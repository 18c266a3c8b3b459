//! Quantities such as `500m` and `1Gi`: to compare them, and to reckon with them ([`Amount`]).

use serde_json::Value;

mod amount;

pub(crate) use amount::{Amount, Amounts};

/// A quantity in billionths; what is finer is rounded up, and what is too large is the largest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Quantity(i128);

const ONE: i128 = 1_000_000_000;

impl Quantity {
    pub(crate) const ZERO: Self = Self(0);
    pub(crate) const ONE: Self = Self(ONE);

    /// Reads a quantity; none if it is not one.
    pub(crate) fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse(text),
            Value::Number(number) => Self::parse(&number.to_string()),
            _ => None,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let end = text
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-')))
            .unwrap_or(text.len());
        let (number, suffix) = text.split_at(end);
        let (sign, number) = match number.strip_prefix('-') {
            Some(number) => (-1, number),
            None => (1, number.strip_prefix('+').unwrap_or(number)),
        };
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        if whole.len() + part.len() == 0 {
            return None;
        }
        let (binary, decimal) = factor(suffix)?;
        // The digits as a whole number, and by which power of ten it is too large.
        let mut digits: i128 = 0;
        let mut exponent = decimal
            .saturating_sub(i32::try_from(part.len()).ok()?)
            .saturating_add(9);
        for digit in whole.bytes().chain(part.bytes()) {
            let digit = i128::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
            match digits
                .checked_mul(10)
                .and_then(|digits| digits.checked_add(digit))
            {
                Some(more) => digits = more,
                // More digits than any quantity needs.
                None => exponent = exponent.saturating_add(1),
            }
        }
        digits = digits.saturating_mul(binary);
        while exponent > 0 && digits != 0 && digits != i128::MAX {
            digits = digits.saturating_mul(10);
            exponent -= 1;
        }
        while exponent < 0 && digits > 1 {
            digits = digits / 10 + i128::from(digits % 10 != 0);
            exponent += 1;
        }
        Some(Self(sign * digits))
    }

    pub(crate) fn whole(number: i64) -> Self {
        Self(i128::from(number) * ONE)
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The whole number that it is; none if it is another one, or too large.
    pub(crate) fn as_i64(self) -> Option<i64> {
        i64::try_from(self.0 / ONE).ok().filter(|_| self.is_whole())
    }

    /// How many parts of one it is, where one has `parts`; a part that is not whole counts.
    pub(crate) fn in_parts(self, parts: i128) -> i128 {
        let part = ONE / parts;
        self.0.saturating_add(part - 1).div_euclid(part)
    }

    pub(crate) fn as_f64(self) -> f64 {
        self.0 as f64 / ONE as f64
    }

    pub(crate) fn is_whole(self) -> bool {
        self.0 % ONE == 0
    }
}

/// What a suffix multiplies by: a power of two, and the exponent of ten.
fn factor(suffix: &str) -> Option<(i128, i32)> {
    const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    if let Some(power) = BINARY.iter().position(|name| *name == suffix) {
        return Some((1 << (10 * (power + 1)), 0));
    }
    let exponent = match suffix {
        "n" => -9,
        "u" => -6,
        "m" => -3,
        "" => 0,
        "k" => 3,
        "M" => 6,
        "G" => 9,
        "T" => 12,
        "P" => 15,
        "E" => 18,
        _ => suffix.strip_prefix(['e', 'E'])?.parse().ok()?,
    };
    Some((1, exponent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn quantities_compare_by_what_they_are() {
        let read = |value: Value| Quantity::read(&value).expect("a quantity");
        for (one, other) in [
            (json!("1"), json!(1)),
            (json!("1000m"), json!("1")),
            (json!("1Ki"), json!("1024")),
            (json!("1e3"), json!("1k")),
            (json!("0.5"), json!("500m")),
            (json!("1.5Gi"), json!("1536Mi")),
            (json!("-1"), json!("-1000m")),
        ] {
            assert_eq!(read(one.clone()), read(other.clone()), "{one} {other}");
        }
        assert!(read(json!("1Gi")) > read(json!("1G")));
        assert!(read(json!("-1")) < Quantity::ZERO);
        assert!(!read(json!("100m")).is_whole());
        assert!(read(json!("99999999999999999999999999E")) > read(json!("1E")));
        assert!(read(json!("1e999999")) > read(json!("1E")));
        assert!(read(json!("1e2147483647")) > read(json!("1e-2147483648")));
    }

    #[test]
    fn what_is_no_quantity_is_none() {
        for text in ["", "x", "1x", "1e", "--1", ".", "1.2.3", "1ü"] {
            assert_eq!(Quantity::read(&json!(text)), None, "{text}");
        }
    }
}
