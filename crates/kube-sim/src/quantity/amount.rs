//! Quantities to add, to subtract and to show as Kubernetes does: the shortest way to write a number in the form in which
//! it was given, or as it was given if Go's reader takes that for the shortest.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use super::{ONE, Quantity};

/// Quantities by the names of resources, such as `cpu`.
pub(crate) type Amounts = BTreeMap<String, Amount>;

/// How a quantity was written, and how a sum that begins with it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `1Gi`
    Binary,
    /// `1G`
    Decimal,
    /// `1e9`
    Exponent,
}

/// A quantity with its form.
#[derive(Debug, Clone)]
pub(crate) struct Amount {
    quantity: Quantity,
    form: Form,
    /// As it was written, if it is shown so; none if it was computed.
    text: Option<String>,
}

/// The largest sum of bytes.
const MOST_BINARY: Quantity = Quantity(i64::MAX as i128 * ONE);

impl Amount {
    pub(crate) fn of(whole: usize) -> Self {
        Self {
            quantity: Quantity(i128::try_from(whole).unwrap_or(i128::MAX).saturating_mul(ONE)),
            form: Form::Decimal,
            text: None,
        }
    }

    /// Reads a quantity; none if it is not one.
    pub(crate) fn read(value: &Value) -> Option<Self> {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let form = match text.trim_start_matches(|c: char| !c.is_ascii_alphabetic()) {
            suffix if suffix.ends_with('i') => Form::Binary,
            suffix if suffix.starts_with(['e', 'E']) && suffix.len() > 1 => Form::Exponent,
            _ => Form::Decimal,
        };
        let quantity = Quantity::read(value)?;
        Some(Self {
            quantity: match form {
                Form::Binary => quantity.min(MOST_BINARY),
                _ => quantity,
            },
            form,
            text: Some(text).filter(|text| is_kept(text, form)),
        })
    }

    /// Reads an object of quantities, such as a container's `requests`; what is not one is left out.
    pub(crate) fn read_all(value: &Value) -> Amounts {
        let members = value.as_object().into_iter().flat_map(Map::iter);
        members
            .filter_map(|(name, value)| Some((name.clone(), Self::read(value)?)))
            .collect()
    }

    pub(crate) fn quantity(&self) -> Quantity {
        self.quantity
    }

    /// The number, for ratios.
    pub(crate) fn number(&self) -> f64 {
        // Nobody needs more than the 53 bits that are kept.
        self.quantity.0 as f64 / ONE as f64
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.quantity == Quantity::ZERO
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.compute(other, i128::saturating_add);
    }

    /// Subtracts, down to zero.
    pub(crate) fn subtract(&mut self, other: &Self) {
        self.compute(other, i128::saturating_sub);
        self.quantity = self.quantity.max(Quantity::ZERO);
    }

    /// Rounds up to a whole number.
    pub(crate) fn round_up(&mut self) {
        self.round_up_to(ONE);
    }

    /// Rounds up to thousandths, as which a real server keeps what there is of resources.
    pub(crate) fn round_up_to_milli(&mut self) {
        self.round_up_to(ONE / 1000);
    }

    fn round_up_to(&mut self, unit: i128) {
        if self.quantity.0 % unit != 0 {
            let units = self.quantity.0.div_euclid(unit).saturating_add(1);
            self.quantity = Quantity(units.saturating_mul(unit));
            self.text = None;
        }
    }

    fn compute(&mut self, other: &Self, operation: impl Fn(i128, i128) -> i128) {
        // Nothing has no form of its own.
        if self.is_zero() {
            self.form = other.form;
        }
        self.quantity = Quantity(operation(self.quantity.0, other.quantity.0));
        self.text = None;
    }

    fn decimal(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut number, mut exponent) = (self.quantity.0, -9);
        while number % 1000 == 0 && exponent < 18 {
            number /= 1000;
            exponent += 3;
        }
        match (self.form, exponent) {
            (_, 0) => write!(f, "{number}"),
            (Form::Exponent, _) => write!(f, "{number}e{exponent}"),
            (_, -9) => write!(f, "{number}n"),
            (_, -6) => write!(f, "{number}u"),
            (_, -3) => write!(f, "{number}m"),
            (_, 3) => write!(f, "{number}k"),
            (_, 6) => write!(f, "{number}M"),
            (_, 9) => write!(f, "{number}G"),
            (_, 12) => write!(f, "{number}T"),
            (_, 15) => write!(f, "{number}P"),
            _ => write!(f, "{number}E"),
        }
    }
}

/// Whether Go's reader takes a text for the shortest: it looks at few digits, and keeps `+5`, `1E3` and `1.500`, too.
fn is_kept(text: &str, form: Form) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = unsigned
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(end);
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    let Some((factor, exponent)) = super::factor(suffix) else {
        return false;
    };
    if form == Form::Binary {
        let digits_of_factor = usize::try_from(factor.ilog2() * 3 / 10).unwrap_or(usize::MAX);
        let fits = whole.len().saturating_add(digits_of_factor) <= 14;
        return fits && part.is_empty() && whole.parse().is_ok_and(|whole: u64| whole & 7 != 0);
    }
    let digits = format!("{whole}{part}");
    let scale = i32::try_from(part.len()).map_or(i32::MIN, |more| exponent.saturating_sub(more));
    let fits = digits.len() <= 18 && scale >= -9;
    fits && scale % 3 == 0 && !digits.ends_with("000") && !digits.starts_with('0')
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = &self.text {
            return f.write_str(text);
        }
        let whole = self.quantity.0 / ONE;
        match self.form {
            _ if self.is_zero() => f.write_str("0"),
            Form::Binary if self.quantity.is_whole() && whole.unsigned_abs() >= 1024 => {
                let (mut number, mut suffixes) = (whole, ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].iter());
                let mut suffix = suffixes.next();
                while number % 1024 == 0
                    && let Some(next) = suffixes.next()
                {
                    number /= 1024;
                    suffix = Some(next);
                }
                write!(f, "{number}{}", suffix.copied().unwrap_or(""))
            }
            _ => self.decimal(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(text: &str) -> Amount {
        Amount::read(&json!(text)).expect("a quantity")
    }

    #[test]
    fn what_is_computed_is_shown_in_the_form_of_its_parts() {
        for (one, other, sum) in [
            ("1", "1", "2"),
            ("500m", "500m", "1"),
            ("1500m", "1", "2500m"),
            ("600", "400", "1k"),
            ("512Mi", "512Mi", "1Gi"),
            ("1Gi", "512Mi", "1536Mi"),
            ("1Gi", "1G", "2073741824"),
            ("1Ki", "100m", "1024100m"),
            ("0", "1Ki", "1Ki"),
            ("1e3", "1e3", "2e3"),
            ("1n", "1u", "1001n"),
            ("500", "12", "512"),
            ("1Ei", "1Ei", "2Ei"),
        ] {
            let mut amount = read(one);
            amount.add(&read(other));
            assert_eq!(amount.to_string(), sum, "{one} + {other}");
        }
    }

    #[test]
    fn quantities_are_shown_in_their_shortest_form() {
        for (written, shown) in [
            ("1000m", "1"),
            ("1024Ki", "1Mi"),
            ("0.5", "500m"),
            ("0.5Gi", "512Mi"),
            ("1.5Gi", "1536Mi"),
            ("0.1Ki", "102400m"),
            ("100Ki", "100Ki"),
            ("1000", "1k"),
            ("1024", "1024"),
            ("-1000m", "-1"),
            ("8Ei", "9223372036854775807"),
            ("1E", "1E"),
            ("1000E", "1000E"),
            ("1e3", "1e3"),
            ("10e2", "1e3"),
            ("0.1n", "1n"),
            ("0Gi", "0"),
        ] {
            assert_eq!(read(written).to_string(), shown, "{written}");
        }
        assert_eq!(Amount::read(&json!(3)).expect("a number").to_string(), "3");
    }

    #[test]
    fn what_go_takes_for_the_shortest_is_kept() {
        for text in ["+5", "007", "1E3", "1e0", "1.500", "1500m", "12Ki", "1001Mi"] {
            assert_eq!(read(text).to_string(), text);
        }
    }

    #[test]
    fn subtraction_ends_at_zero() {
        let mut amount = read("1Gi");
        amount.subtract(&read("2Gi"));
        assert!(amount.is_zero());
        assert_eq!(amount.to_string(), "0");
    }

    #[test]
    fn fractions_are_rounded_up_to_whole_numbers() {
        let mut amount = read("1500m");
        amount.round_up();
        assert_eq!(amount.to_string(), "2");
    }
}
