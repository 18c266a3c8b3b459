//! Makes text from outside safe to print. Otherwise names, labels and messages of a server could move the cursor, hide
//! the text beside them or forge lines.

use std::borrow::Cow;
use std::time::Duration;
use unicode_width::UnicodeWidthStr as _;

/// The text with every character that is not printable escaped as JSON escapes it, such as `\u009b`: control characters
/// (line breaks among them), format characters such as bidirectional overrides, separators other than the space,
/// private use, and what Unicode does not assign. JSON that is escaped like this has the same value.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if is_ascii_printable(text) || text.chars().all(is_printable) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_printable(c) {
            escaped.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    escaped.into()
}

/// Whether all characters are printable ones of ASCII, as in most texts. Whole chunks are looked at, which is faster than one
/// character after the other.
pub(crate) fn is_ascii_printable(text: &str) -> bool {
    let mut chunks = text.as_bytes().chunks(128);
    chunks.all(|chunk| {
        chunk
            .iter()
            .fold(true, |all, byte| all & matches!(byte, b' '..=b'~'))
    })
}

/// Whether [`std::fmt::Debug`] prints a character unescaped. Combining characters are printable after another
/// character.
fn is_printable(c: char) -> bool {
    match c {
        ' '..='~' => true,
        '\0'..'\u{a0}' => false,
        _ => format!("a{c}").escape_debug().count() == 2,
    }
}

/// The number of terminal columns of a printable text.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// A number of things: `1 change`, `2 changes`.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        number => format!("{number} {thing}s"),
    }
}

/// A number of bytes for people: `512 B`, `9.9 KiB`, `95 MiB`, `4.6 GiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes < 1 << 10 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut units = UNITS.into_iter();
    let mut unit = units.next().unwrap_or_default();
    for next in units {
        if value < 999.5 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    match value < 9.95 {
        true => format!("{value:.1} {unit}"),
        false => format!("{value:.0} {unit}"),
    }
}

/// How long something took: `120ms`, `4.5s`.
pub(crate) fn elapsed(time: Duration) -> String {
    match time.as_millis() {
        millis @ ..1000 => format!("{millis}ms"),
        _ => format!("{:.1}s", time.as_secs_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_of_a_long_text_is_looked_at() {
        for at in [0, 1, 127, 128, 129, 255, 256] {
            for unprintable in ['\n', '\u{7f}', '\u{9b}', '\u{202e}'] {
                let mut text = "x".repeat(256);
                assert!(is_ascii_printable(&text));
                text.insert(at, unprintable);
                assert!(!is_ascii_printable(&text), "{at}");
                assert!(!printable(&text).contains(unprintable), "{at}");
            }
        }
    }

    #[test]
    fn what_is_not_printable_is_escaped() {
        for (text, expected) in [
            ("", ""),
            (r#"web-0 "a" \ ~"#, r#"web-0 "a" \ ~"#),
            ("Grüße, 世界, e\u{301}, 🦀", "Grüße, 世界, e\u{301}, 🦀"),
            ("a\u{1b}[31mb", r"a\u001b[31mb"),
            ("\0\t\r\n\u{7f}", r"\u0000\u0009\u000d\u000a\u007f"),
            ("\u{80}\u{85}\u{9b}\u{9f}", r"\u0080\u0085\u009b\u009f"),
            ("\u{a0}\u{ad}\u{3000}", r"\u00a0\u00ad\u3000"),
            (
                "\u{200b}\u{200e}\u{200f}\u{61c}\u{feff}",
                r"\u200b\u200e\u200f\u061c\ufeff",
            ),
            ("\u{2028}\u{2029}", r"\u2028\u2029"),
            ("\u{202a}\u{202e}\u{2066}\u{2069}", r"\u202a\u202e\u2066\u2069"),
            ("\u{e000}\u{e0041}\u{378}", r"\ue000\udb40\udc41\u0378"),
        ] {
            assert_eq!(printable(text), expected, "{text:?}");
        }
    }

    #[test]
    fn bidi_overrides_and_controls_are_all_escaped() {
        let ranges = [
            '\0'..=' ',
            '\u{7f}'..='\u{a0}',
            '\u{202a}'..='\u{202e}',
            '\u{2066}'..='\u{2069}',
        ];
        for c in ranges.into_iter().flatten().filter(|c| *c != ' ') {
            assert!(printable(&c.to_string()).starts_with("\\u"), "{c:?}");
        }
    }

    #[test]
    fn escaped_json_has_the_same_value() {
        let value = serde_json::json!({"a\u{9b}": ["\u{1b}]0;x\u{7}", "\u{e0041}", "\\u009b", "ü"]});
        let text = value.to_string();
        assert_ne!(printable(&text), text);
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&printable(&text)).unwrap(),
            value
        );
    }

    #[test]
    fn numbers_of_bytes_are_short() {
        for (number, expected) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (99 << 20, "99 MiB"),
            (1023 << 20, "1.0 GiB"),
            (4_939_212_390, "4.6 GiB"),
            (u64::MAX, "16384 PiB"),
        ] {
            assert_eq!(bytes(number), expected);
        }
    }

    #[test]
    fn one_thing_has_no_plural() {
        let counted = [0, 1, 2].map(|number| counted(number, "change"));
        assert_eq!(counted, ["0 changes", "1 change", "2 changes"]);
    }

    #[test]
    fn widths_are_columns() {
        for (text, expected) in [
            ("web-0", 5),
            ("Grüße", 5),
            ("世界", 4),
            ("e\u{301}", 1),
            ("🦀", 2),
        ] {
            assert_eq!(width(text), expected, "{text}");
        }
    }
}
