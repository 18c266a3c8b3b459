//! Times, durations and strings as Go writes them in JSON.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Go's zero time, the first second of year 1, which is null in JSON.
pub(crate) const ZERO_TIME: i64 = -62_135_596_800;

const SECONDS_A_DAY: i64 = 86_400;

/// RFC 3339 in UTC, with microseconds if there are any to write. Years beyond 9999 have more digits, as in Go.
pub(crate) fn time(seconds: i64, microseconds: Option<u32>) -> String {
    let (year, month, day) = civil(seconds.div_euclid(SECONDS_A_DAY));
    let second = seconds.rem_euclid(SECONDS_A_DAY);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let mut text = String::with_capacity(27);
    match usize::try_from(year) {
        // Written by hand, since there are ten times in a pod.
        Ok(year @ 0..=9999) => {
            push_digits(&mut text, year / 100);
            push_digits(&mut text, year % 100);
        }
        // Writing to a string does not fail.
        _ => {
            let sign = if year < 0 { "-" } else { "" };
            let _ = write!(text, "{sign}{:04}", year.unsigned_abs());
        }
    }
    for (separator, number) in [
        ('-', month),
        ('-', day),
        ('T', hour),
        (':', minute),
        (':', second),
    ] {
        text.push(separator);
        push_digits(&mut text, number as usize);
    }
    if let Some(microseconds) = microseconds {
        let _ = write!(text, ".{microseconds:06}");
    }
    text.push('Z');
    text
}

/// Two digits of a number below a hundred.
fn push_digits(text: &mut String, number: usize) {
    for digit in [number / 10 % 10, number % 10] {
        text.push(char::from(b'0' + digit as u8));
    }
}

/// Seconds since 1970, and nanoseconds of that second.
pub(crate) fn parse_time(text: &str) -> Option<(i64, u32)> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (date, rest) = rest.split_once('T')?;
    let mut date = date.split('-');
    let (year, month, day) = (date.next()?, digits(date.next()?, 2)?, digits(date.next()?, 2)?);
    if date.next().is_some() || !(4..=9).contains(&year.len()) {
        return None;
    }
    let year = digits(year, year.len())? * if negative { -1 } else { 1 };
    let at = rest.find(['Z', '+', '-'])?;
    let (clock, zone) = rest.split_at(at);
    let (clock, nanoseconds) = match clock.split_once('.') {
        Some((clock, fraction)) => (clock, nanoseconds(fraction)?),
        None => (clock, 0),
    };
    let mut clock = clock.split(':');
    let (hour, minute, second) = (
        digits(clock.next()?, 2)?,
        digits(clock.next()?, 2)?,
        digits(clock.next()?, 2)?,
    );
    let offset = match zone.split_at(1) {
        ("Z", "") => 0,
        (sign, offset) => {
            let (hours, minutes) = offset.split_once(':')?;
            let offset = digits(hours, 2)? * 3600 + digits(minutes, 2)? * 60;
            if sign == "-" { -offset } else { offset }
        }
    };
    let days = days(year, month, day)?;
    if clock.next().is_some() || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let seconds = days * SECONDS_A_DAY + hour * 3600 + minute * 60 + second - offset;
    Some((seconds, nanoseconds))
}

fn digits(text: &str, count: usize) -> Option<i64> {
    let all = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| all)
}

/// The nanoseconds of a fraction; further digits are cut off.
fn nanoseconds(fraction: &str) -> Option<u32> {
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    format!("{fraction:0<9.9}").parse().ok()
}

/// Year, month and day of a number of days since 1970, in the proleptic Gregorian calendar. The calendar repeats every
/// 400 years; a year that starts in March has its leap day at its end.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468; // since March 1st of year 0
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

/// The inverse of [`civil`]; `None` for a day that is not in the calendar.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let march_year = year - i64::from(month <= 2);
    let (era, year_of_era) = (march_year.div_euclid(400), march_year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
    let days = era * 146_097 + of_era - 719_468;
    (civil(days) == (year, month, day)).then_some(days)
}

const SECOND: u64 = 1_000_000_000;

/// A duration in nanoseconds as Go's `time.Duration` prints it: `1h0m0.5s`, `1.5ms`, `0s`.
pub(crate) fn duration(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let rest = nanoseconds.unsigned_abs();
    if rest == 0 {
        return "0s".to_owned();
    }
    if rest < SECOND {
        let (unit, name) = match rest {
            0..1_000 => (1, "ns"),
            1_000..1_000_000 => (1_000, "µs"),
            _ => (1_000_000, "ms"),
        };
        return format!("{sign}{}{name}", decimal(rest, unit));
    }
    let minutes = rest / (60 * SECOND);
    let seconds = decimal(rest % (60 * SECOND), SECOND);
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{sign}{seconds}s"),
        (0, minutes) => format!("{sign}{minutes}m{seconds}s"),
        (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}s"),
    }
}

/// `value / unit` as a decimal number, where `unit` is a power of ten.
fn decimal(value: u64, unit: u64) -> String {
    let digits = unit.ilog10() as usize;
    match value % unit {
        0 => (value / unit).to_string(),
        fraction => {
            let fraction = format!("{fraction:0digits$}");
            format!("{}.{}", value / unit, fraction.trim_end_matches('0'))
        }
    }
}

/// The nanoseconds of what Go's `time.ParseDuration` takes.
pub(crate) fn parse_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, unit) = rest.split_at(end);
        let end = unit
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(unit.len());
        let (unit, after) = unit.split_at(end);
        let unit: i128 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || whole.len() > 19 {
            return None;
        }
        // Beyond 18 digits a fraction is less than a nanosecond of an hour.
        let fraction = fraction.get(..18).unwrap_or(fraction);
        let mut value = if whole.is_empty() {
            0
        } else {
            whole.parse::<i128>().ok()? * unit
        };
        if !fraction.is_empty() {
            value += fraction.parse::<i128>().ok()? * unit / 10_i128.pow(u32::try_from(fraction.len()).ok()?);
        }
        total = total.checked_add(value).filter(|total| *total <= 1 << 63)?;
        rest = after;
    }
    i64::try_from(if negative { -total } else { total }).ok()
}

/// Whether it is a quantity: a decimal number, and a suffix or an exponent.
pub(crate) fn is_quantity(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let is_number = number.matches('.').count() <= 1 && number.bytes().any(|byte| byte.is_ascii_digit());
    let is_suffix = match suffix {
        "" | "n" | "u" | "m" | "k" | "M" | "G" | "T" | "P" | "E" => true,
        "Ki" | "Mi" | "Gi" | "Ti" | "Pi" | "Ei" => true,
        _ => suffix
            .strip_prefix(['e', 'E'])
            .is_some_and(|exponent| exponent.parse::<i32>().is_ok()),
    };
    is_number && is_suffix
}

/// A string. What is not UTF-8 is replaced byte by byte, as Go does when it writes JSON.
pub(crate) fn utf8(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(valid) => Cow::Borrowed(valid),
        Err(_) => Cow::Owned(replaced(bytes)),
    }
}

#[cold]
fn replaced(bytes: &[u8]) -> String {
    let mut rest = bytes;
    let mut text = String::new();
    loop {
        match std::str::from_utf8(rest) {
            Ok(valid) => return text + valid,
            Err(error) => {
                let (valid, invalid) = rest.split_at(error.valid_up_to());
                text += &String::from_utf8_lossy(valid);
                text.push(char::REPLACEMENT_CHARACTER);
                rest = &invalid[1..];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_are_those_of_go() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (ZERO_TIME, "0001-01-01T00:00:00Z"),
            (253_402_300_800, "10000-01-01T00:00:00Z"),
            (-62_198_755_200, "-0001-01-01T00:00:00Z"),
        ] {
            assert_eq!(time(seconds, None), text);
            assert_eq!(parse_time(text), Some((seconds, 0)));
        }
        assert_eq!(time(1, Some(20)), "1970-01-01T00:00:01.000020Z");
        assert_eq!(parse_time("1970-01-01T02:00:01.5+02:00"), Some((1, 500_000_000)));
        assert_eq!(
            parse_time("1969-12-31T23:00:01.1234567899-01:00"),
            Some((1, 123_456_789))
        );
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "2024",
            "2023-02-29T00:00:00Z",
            "2024-01-01",
            "2024-01-01T00:00:00",
            "2024-01-01T24:00:00Z",
            "2024-1-01T00:00:00Z",
            "2024-01-01T00:00:00.Z",
            "2024-01-01T00:00:00Zx",
            "2024-01-01T00:00:00+1",
            "+024-01-01T00:00:00Z",
            "9999999999999-01-01T00:00:00Z",
        ] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }

    #[test]
    fn durations_are_those_of_go() {
        for (nanoseconds, text) in [
            (0, "0s"),
            (1, "1ns"),
            (1_100, "1.1µs"),
            (2_200_000, "2.2ms"),
            (3_300_000_000, "3.3s"),
            (245_000_000_000, "4m5s"),
            (3_600_000_000_000, "1h0m0s"),
            (18_367_000_000_001, "5h6m7.000000001s"),
            (i64::MIN, "-2562047h47m16.854775808s"),
            (i64::MAX, "2562047h47m16.854775807s"),
        ] {
            assert_eq!(duration(nanoseconds), text);
            assert_eq!(parse_duration(text), Some(nanoseconds));
        }
        assert_eq!(parse_duration("1.5h.5m+"), None);
        assert_eq!(parse_duration("-1.5h"), Some(-5_400_000_000_000));
        assert_eq!(parse_duration("+5us"), Some(5_000));
        for text in [
            "",
            "-",
            "1",
            "s",
            ".s",
            "1x",
            "9223372037s1h",
            "1.1.1s",
            "99999999999999999999s",
        ] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }

    #[test]
    fn quantities_are_told_from_other_text() {
        for text in ["0", "1", "-1.5", "+.5", "500m", "2Gi", "1e3", "1E-6", "1.", "12E"] {
            assert!(is_quantity(text), "{text}");
        }
        for text in ["", "-", ".", "a", "1x", "1.1.1", "1 Gi", "1e", "m", "1mi"] {
            assert!(!is_quantity(text), "{text}");
        }
    }

    #[test]
    fn every_invalid_byte_becomes_one_character() {
        assert_eq!(utf8("ä".as_bytes()), "ä");
        assert_eq!(utf8(b"a\xe6\xbcb\xff"), "a\u{fffd}\u{fffd}b\u{fffd}");
    }

    proptest! {
        #[test]
        fn a_time_is_read_as_written(seconds in -400_000_000_000_i64..400_000_000_000, micros in 0_u32..1_000_000) {
            prop_assert_eq!(parse_time(&time(seconds, Some(micros))), Some((seconds, micros * 1000)));
        }

        #[test]
        fn any_seconds_have_a_text(seconds: i64) {
            prop_assert!(time(seconds, None).ends_with('Z'));
        }

        #[test]
        fn a_duration_is_read_as_written(nanoseconds: i64) {
            prop_assert_eq!(parse_duration(&duration(nanoseconds)), Some(nanoseconds));
        }

        #[test]
        fn any_text_is_a_time_or_none(text in "[-0-9T:.Z+hmsµ]{0,30}") {
            let _ = (parse_time(&text), parse_duration(&text));
        }
    }
}
