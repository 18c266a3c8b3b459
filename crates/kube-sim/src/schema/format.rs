//! Formats of strings that a definition may ask for.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regex::Regex;

use super::Type;

/// Whether a string has a format. Formats that a kube-apiserver does not know say nothing.
pub(crate) fn fits(format: &str, text: &str) -> bool {
    match format.replace('-', "").as_str() {
        "bsonobjectid" => text.len() == 24 && text.bytes().all(|b| b.is_ascii_hexdigit()),
        "uri" => is_uri(text),
        "email" => is_email(text),
        "hostname" => is_hostname(text),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "cidr" => is_cidr(text),
        "mac" => is_mac(text),
        "uuid" => is_uuid(text, None),
        "uuid3" => is_uuid(text, Some('3')),
        "uuid4" => is_uuid(text, Some('4')),
        "uuid5" => is_uuid(text, Some('5')),
        "isbn" => is_isbn10(text) || is_isbn13(text),
        "isbn10" => is_isbn10(text),
        "isbn13" => is_isbn13(text),
        "creditcard" => is_credit_card(text),
        "ssn" => found(r"^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$", text),
        "hexcolor" => found("^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$", text),
        "rgbcolor" => is_rgb(text),
        "byte" => text.is_empty() || STANDARD.decode(text).is_ok(),
        "date" => is_date(text),
        "duration" => is_duration(text),
        "datetime" => is_date_time(text),
        "k8sshortname" => text.len() <= 63 && is_label(text),
        "k8slongname" => text.len() <= 253 && text.split('.').all(is_label),
        _ => true,
    }
}

/// Whether a format says something about values of a type by its name; without a type, about any.
pub(crate) fn is_known_of(kind: &str, format: &str) -> bool {
    let kinds = [Type::String, Type::Integer, Type::Number];
    let mut kinds = kinds
        .into_iter()
        .filter(|known| kind.is_empty() || known.name() == kind);
    kinds.any(|known| is_known(known, format))
}

/// Whether a format says something about values of a type.
pub(crate) fn is_known(kind: Type, format: &str) -> bool {
    match kind {
        Type::String => KNOWN.contains(&format.replace('-', "").as_str()),
        Type::Integer => matches!(format, "int32" | "int64"),
        Type::Number => matches!(format, "float" | "double"),
        _ => false,
    }
}

/// The formats of strings, without hyphens.
const KNOWN: [&str; 26] = [
    "bsonobjectid",
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "byte",
    "password",
    "date",
    "duration",
    "datetime",
    "k8sshortname",
    "k8slongname",
];

fn found(pattern: &str, text: &str) -> bool {
    Regex::new(pattern).is_ok_and(|regex| regex.is_match(text))
}

fn is_uri(text: &str) -> bool {
    if text.starts_with('/') {
        return !text.contains(char::is_whitespace);
    }
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let mut letters = scheme.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        && !rest.contains(char::is_whitespace)
}

fn is_email(text: &str) -> bool {
    let address = match (text.find('<'), text.strip_suffix('>')) {
        (Some(start), Some(before)) => &before[start + 1..],
        _ => text,
    };
    address.rsplit_once('@').is_some_and(|(name, domain)| {
        let plain = |part: &str| {
            !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || "<>,;:".contains(c))
        };
        plain(name) && plain(domain) && !name.contains('@')
    })
}

fn is_hostname(text: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
    };
    let top = text.rsplit('.').next().unwrap_or("");
    let named = !text.contains('.') || (top.len() >= 2 && top.chars().all(char::is_alphabetic));
    text.len() <= 255 && text.split('.').all(label) && named
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else {
        return false;
    };
    let most = match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    bits.bytes().all(|b| b.is_ascii_digit()) && bits.parse::<u8>().is_ok_and(|bits| bits <= most)
}

fn is_mac(text: &str) -> bool {
    let pairs = |separator| {
        let parts: Vec<&str> = text.split(separator).collect();
        matches!(parts.len(), 6 | 8 | 20)
            && parts
                .iter()
                .all(|part| part.len() == 2 && part.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    let groups: Vec<&str> = text.split('.').collect();
    let dotted = matches!(groups.len(), 3 | 4 | 10)
        && groups
            .iter()
            .all(|part| part.len() == 4 && part.bytes().all(|b| b.is_ascii_hexdigit()));
    pairs(':') || pairs('-') || dotted
}

fn is_uuid(text: &str, version: Option<char>) -> bool {
    static UUID: LazyLock<Regex> = LazyLock::new(|| {
        let pattern =
            "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?([0-9a-f])[0-9a-f]{3}-?([0-9a-f])[0-9a-f]{3}-?[0-9a-f]{12}$";
        Regex::new(pattern).expect("the expression is right")
    });
    let Some(parts) = UUID.captures(text) else {
        return false;
    };
    let variant = "89abAB".contains(&parts[2]);
    match version {
        None => true,
        Some('3') => &parts[1] == "3",
        Some(version) => parts[1].starts_with(version) && variant,
    }
}

fn digits_of(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, ' ' | '-')).collect()
}

fn is_isbn10(text: &str) -> bool {
    let digits = digits_of(text);
    let value = |(place, c): (usize, char)| match c {
        'X' if place == 9 => Some(10 * (place + 1)),
        _ => Some(c.to_digit(10)? as usize * (place + 1)),
    };
    let sum: Option<usize> = digits.chars().enumerate().map(value).sum();
    digits.len() == 10 && sum.is_some_and(|sum| sum % 11 == 0)
}

fn is_isbn13(text: &str) -> bool {
    let digits = digits_of(text);
    let value =
        |(place, c): (usize, char)| Some(c.to_digit(10)? as usize * if place % 2 == 0 { 1 } else { 3 });
    let sum: Option<usize> = digits.chars().enumerate().map(value).sum();
    digits.len() == 13 && sum.is_some_and(|sum| sum % 10 == 0)
}

fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let known = "^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|\
         3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})$";
    let doubled = |(place, c): (usize, char)| {
        let digit = c.to_digit(10).unwrap_or(0);
        match place % 2 {
            0 => digit,
            _ if digit > 4 => digit * 2 - 9,
            _ => digit * 2,
        }
    };
    let sum: u32 = digits.chars().rev().enumerate().map(doubled).sum();
    found(known, &digits) && sum.is_multiple_of(10)
}

fn is_rgb(text: &str) -> bool {
    let inside = text.strip_prefix("rgb(").and_then(|rest| rest.strip_suffix(')'));
    inside.is_some_and(|inside| {
        let parts: Vec<&str> = inside.split(',').collect();
        parts.len() == 3 && parts.iter().all(|part| part.trim().parse::<u8>().is_ok())
    })
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok()
}

fn is_date_time(text: &str) -> bool {
    static SHAPE: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$";
        Regex::new(pattern).expect("the expression is right")
    });
    SHAPE.is_match(text) && text[..10].parse::<jiff::civil::Date>().is_ok()
}

fn is_duration(text: &str) -> bool {
    static GO: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new("^[+-]?(0|(([0-9]+\\.?[0-9]*|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$")
            .expect("the expression is right")
    });
    static WORDS: LazyLock<Regex> = LazyLock::new(|| {
        let units = "ns|nanos?|nanoseconds?|us|µs|micros?|microseconds?|ms|millis?|milliseconds?|s|secs?|seconds?|m|mins?|\
             minutes?|h|hours?|d|days?|w|weeks?";
        Regex::new(&format!("(?i)^([0-9]+\\s*({units})\\s*)+$")).expect("the expression is right")
    });
    GO.is_match(text) || WORDS.is_match(text)
}

fn is_label(text: &str) -> bool {
    let edge = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.starts_with(edge) && text.ends_with(edge) && text.chars().all(|c| edge(c) || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_from_other_strings() {
        for (format, good, bad) in [
            ("date-time", "2026-01-02T03:04:05Z", "2026-01-02"),
            ("date-time", "2026-01-02t03:04:05.6+02:00", "2026-01-02T03:04:05"),
            ("date-time", "2026-01-02T23:59:59Z", "2026-01-02T24:00:00Z"),
            ("date", "2026-01-02", "2026-13-02"),
            ("duration", "1h30m", "1 fortnight"),
            ("uuid", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6ba7b810"),
            (
                "uuid4",
                "9b2f0c4e-3c5a-4c1b-8f7e-0d4c2a1b3e5f",
                "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
            ),
            ("ipv4", "10.0.0.1", "10.0.0.256"),
            ("ipv6", "fe80::1", "10.0.0.1"),
            ("cidr", "10.0.0.0/8", "10.0.0.0/33"),
            ("mac", "01:23:45:67:89:ab", "01:23"),
            ("email", "a@example.com", "example.com"),
            ("uri", "https://example.com/a", "example"),
            ("hostname", "a.example.com", "-a"),
            ("byte", "aGk=", "hi!"),
            ("isbn10", "0321751043", "0321751044"),
            ("isbn13", "978-0321751041", "978-0321751042"),
            ("creditcard", "4111 1111 1111 1111", "4111"),
            ("hexcolor", "#ff00aa", "#ff00a"),
            ("rgbcolor", "rgb(1, 2, 255)", "rgb(1, 2, 256)"),
            ("ssn", "111-22-3333", "111"),
            ("k8s-short-name", "a-1", "A"),
            ("k8s-long-name", "a.b-1", "a..b"),
        ] {
            assert!(fits(format, good), "{format}: {good}");
            assert!(!fits(format, bad), "{format}: {bad}");
        }
        assert!(fits("of-nobody", "anything"));
    }
}
