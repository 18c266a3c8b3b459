//! The syntax of Go's `regexp` package, written as that of the `regex` crate.
//!
//! Both are RE2's, but they differ in what a class such as `\d` has in it, in escapes and operators that only one of them knows, in
//! limits, and in what is an error. The [documentation of Go](https://pkg.go.dev/regexp/syntax) has its syntax.
//!
//! Every flag and class is written out, so that nothing of the result depends on what is around it. Whether a text matches is all that
//! is asked: groups have no names there, and no operator is lazy.

use std::fmt::Write as _;

use regex::Regex;

/// The most that operators which count may repeat something, also as a product when one is within another.
const MOST_REPEATED: u64 = 1000;

/// The most groups within one another.
const DEEPEST: usize = 1000;

/// Why Go does not take an expression.
#[derive(Debug)]
pub(super) struct Fault<'a> {
    what: &'static str,
    part: &'a str,
}

impl std::fmt::Display for Fault<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "error parsing regexp: {}: `{}`", self.what, self.part)
    }
}

const CLASS_RANGE: &str = "invalid character class range";
const ESCAPE: &str = "invalid escape sequence";
const NAME: &str = "invalid named capture";
const PERL: &str = "invalid or unsupported Perl syntax";
const NESTED_REPEAT: &str = "invalid nested repetition operator";
const REPEAT_COUNT: &str = "invalid repeat count";
const NO_BRACKET: &str = "missing closing ]";
const NO_PAREN: &str = "missing closing )";
const NOTHING_TO_REPEAT: &str = "missing argument to repetition operator";
const TRAILING_BACKSLASH: &str = "trailing backslash at end of expression";
const UNEXPECTED_PAREN: &str = "unexpected )";
const TOO_DEEP: &str = "expression nests too deeply";

/// The expression as the `regex` crate reads it.
///
/// # Errors
///
/// What Go says about an expression that is none.
pub(super) fn translated(source: &str) -> Result<String, Fault<'_>> {
    let mut parser = Parser {
        source,
        rest: source,
        flags: Flags::default(),
        groups: vec![Group::default()],
    };
    parser.read()?;
    match parser.groups.pop() {
        Some(whole) if parser.groups.is_empty() => Ok(whole.close().text),
        _ => Err(Fault {
            what: NO_PAREN,
            part: source,
        }),
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    fold: bool,
    lines: bool,
    dot_is_all: bool,
}

/// Something that can be repeated.
struct Atom {
    text: String,
    /// How often its innermost parts are repeated, by those operators that count.
    repeated: u64,
}

/// What is between a parenthesis and what closes it.
#[derive(Default)]
struct Group {
    /// The alternatives before the last `|`.
    before: String,
    atoms: Vec<Atom>,
    repeated: u64,
    /// The flags that hold again behind the group.
    flags: Flags,
}

impl Group {
    fn next_alternative(&mut self) {
        for atom in self.atoms.drain(..) {
            self.before.push_str(&atom.text);
            self.repeated = self.repeated.max(atom.repeated);
        }
        self.before.push('|');
    }

    fn close(mut self) -> Atom {
        self.next_alternative();
        self.before.pop();
        Atom {
            text: format!("(?:{})", self.before),
            repeated: self.repeated,
        }
    }
}

struct Parser<'a> {
    source: &'a str,
    rest: &'a str,
    flags: Flags,
    /// The open groups, the whole expression first.
    groups: Vec<Group>,
}

/// The part of `from` that is before `rest`, its end.
fn before<'a>(from: &'a str, rest: &str) -> &'a str {
    &from[..from.len() - rest.len()]
}

impl<'a> Parser<'a> {
    fn group(&mut self) -> &mut Group {
        if self.groups.is_empty() {
            self.groups.push(Group::default());
        }
        let last = self.groups.len() - 1;
        &mut self.groups[last]
    }

    fn push(&mut self, text: impl Into<String>) {
        let text = text.into();
        self.group().atoms.push(Atom { text, repeated: 0 });
    }

    fn open(&mut self, outside: Flags) {
        self.groups.push(Group {
            flags: outside,
            ..Group::default()
        });
    }

    fn take(&mut self) -> Option<char> {
        let character = self.rest.chars().next()?;
        self.rest = &self.rest[character.len_utf8()..];
        Some(character)
    }

    fn read(&mut self) -> Result<(), Fault<'a>> {
        // From the operator before, if there is nothing between.
        let mut last_repeat: Option<&'a str> = None;
        while let Some(next) = self.rest.chars().next() {
            let from = self.rest;
            let mut repeat = None;
            match next {
                '(' if from.starts_with("(?") => self.flags_or_group()?,
                '(' => {
                    self.take();
                    self.open(self.flags);
                }
                '|' => {
                    self.take();
                    self.group().next_alternative();
                }
                ')' => self.close()?,
                '^' | '$' | '.' => {
                    self.take();
                    self.push(match (next, self.flags) {
                        ('^', Flags { lines: true, .. }) => "(?m:^)",
                        ('^', _) => r"\A",
                        ('$', Flags { lines: true, .. }) => "(?m:$)",
                        ('$', _) => r"\z",
                        (_, Flags { dot_is_all: true, .. }) => "(?s:.)",
                        _ => r"[^\n]",
                    });
                }
                '[' => self.class()?,
                '*' | '+' | '?' => {
                    self.take();
                    self.repeat(from, &next.to_string(), last_repeat)?;
                    repeat = Some(from);
                }
                '{' => match count(from) {
                    None => {
                        self.take();
                        self.literal('{');
                    }
                    Some((counted, rest)) => {
                        self.rest = rest;
                        let Some(Count { least, most }) = counted else {
                            return Err(Fault {
                                what: REPEAT_COUNT,
                                part: before(from, rest),
                            });
                        };
                        let operator = match most {
                            Some(most) => format!("{{{least},{most}}}"),
                            None => format!("{{{least},}}"),
                        };
                        self.repeat(from, &operator, last_repeat)?;
                        self.counted(most.unwrap_or(least), most == Some(0), before(from, self.rest))?;
                        repeat = Some(from);
                    }
                },
                '\\' => self.escaped()?,
                literal => {
                    self.take();
                    self.literal(literal);
                }
            }
            last_repeat = repeat;
        }
        Ok(())
    }

    fn literal(&mut self, character: char) {
        self.code_point(u32::from(character));
    }

    fn code_point(&mut self, code: u32) {
        let mut text = String::new();
        match char::from_u32(code) {
            // What is no character is in no text.
            None => text.push_str(r"\P{Any}"),
            Some(_) if self.flags.fold => _ = write!(text, r"(?i:\x{{{code:x}}})"),
            Some(_) => _ = write!(text, r"\x{{{code:x}}}"),
        }
        self.push(text);
    }

    /// Repeats the last atom; `from` is the rest from the operator on, which has been taken.
    fn repeat(&mut self, from: &'a str, operator: &str, last: Option<&'a str>) -> Result<(), Fault<'a>> {
        if let Some(rest) = self.rest.strip_prefix('?') {
            self.rest = rest;
        }
        let rest = self.rest;
        if let Some(last) = last {
            return Err(Fault {
                what: NESTED_REPEAT,
                part: before(last, rest),
            });
        }
        match self.group().atoms.last_mut() {
            Some(atom) => {
                atom.text = format!("(?:{}){operator}", atom.text);
                Ok(())
            }
            None => Err(Fault {
                what: NOTHING_TO_REPEAT,
                part: before(from, rest),
            }),
        }
    }

    /// Counts how often the last atom is repeated.
    fn counted(&mut self, times: u64, never: bool, part: &'a str) -> Result<(), Fault<'a>> {
        let Some(atom) = self.group().atoms.last_mut() else {
            return Ok(());
        };
        atom.repeated = match times {
            _ if never => 0,
            0 => atom.repeated,
            times => times * atom.repeated.max(1),
        };
        match atom.repeated > MOST_REPEATED {
            true => Err(Fault {
                what: REPEAT_COUNT,
                part,
            }),
            false => Ok(()),
        }
    }

    fn close(&mut self) -> Result<(), Fault<'a>> {
        if self.groups.len() < 2 {
            return Err(Fault {
                what: UNEXPECTED_PAREN,
                part: self.source,
            });
        }
        if self.groups.len() > DEEPEST {
            return Err(Fault {
                what: TOO_DEEP,
                part: self.source,
            });
        }
        self.take();
        if let Some(group) = self.groups.pop() {
            self.flags = group.flags;
            self.group().atoms.push(group.close());
        }
        Ok(())
    }

    /// `(?P<name>`, `(?i)`, `(?i:`.
    fn flags_or_group(&mut self) -> Result<(), Fault<'a>> {
        let from = self.rest;
        let name = from.strip_prefix("(?P<").filter(|rest| !rest.is_empty());
        let name = name.or_else(|| from.strip_prefix("(?<").filter(|rest| !rest.is_empty()));
        if let Some(named) = name {
            let Some((name, rest)) = named.split_once('>') else {
                return Err(Fault {
                    what: NAME,
                    part: from,
                });
            };
            let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            if !is_name {
                let part = before(from, rest);
                return Err(Fault { what: NAME, part });
            }
            self.rest = rest;
            self.open(self.flags);
            return Ok(());
        }
        self.rest = &from[2..];
        let (mut flags, mut value, mut any) = (self.flags, true, false);
        while let Some(next) = self.take() {
            match next {
                'i' => flags.fold = value,
                'm' => flags.lines = value,
                's' => flags.dot_is_all = value,
                'U' => {}
                '-' if value => {
                    (value, any) = (false, false);
                    continue;
                }
                ':' | ')' if value || any => {
                    if next == ':' {
                        self.open(self.flags);
                    }
                    self.flags = flags;
                    return Ok(());
                }
                _ => break,
            }
            any = true;
        }
        Err(Fault {
            what: PERL,
            part: before(from, self.rest),
        })
    }

    /// A backslash and what it makes of what follows.
    fn escaped(&mut self) -> Result<(), Fault<'a>> {
        let from = self.rest;
        if let Some(quoted) = from.strip_prefix(r"\Q") {
            let (literals, rest) = quoted.split_once(r"\E").unwrap_or((quoted, ""));
            self.rest = rest;
            literals.chars().for_each(|literal| self.literal(literal));
            return Ok(());
        }
        let simple = match from.as_bytes().get(1) {
            Some(b'A') => Some(r"\A"),
            Some(b'z') => Some(r"\z"),
            Some(b'b') => Some(r"(?-u:\b)"),
            Some(b'B') => Some(r"(?-u:\B)"),
            Some(b'C') => {
                return Err(Fault {
                    what: ESCAPE,
                    part: &from[..2],
                });
            }
            _ => None,
        };
        if let Some(simple) = simple {
            self.rest = &from[2..];
            self.push(simple);
            return Ok(());
        }
        match self.group_of_characters()? {
            Some(class) => self.push_class(&class),
            None => {
                let code = self.escape()?;
                self.code_point(code);
            }
        }
        Ok(())
    }

    fn push_class(&mut self, class: &str) {
        let text = match self.flags.fold {
            true => format!("(?i:{class})"),
            false => class.to_owned(),
        };
        self.push(text);
    }

    /// `\p{Greek}`, `\d`.
    fn group_of_characters(&mut self) -> Result<Option<String>, Fault<'a>> {
        let from = self.rest;
        let perl = match from.as_bytes().get(1) {
            Some(b'd') => "[0-9]",
            Some(b'D') => "[^0-9]",
            Some(b'w') => "[0-9A-Za-z_]",
            Some(b'W') => "[^0-9A-Za-z_]",
            Some(b's') => r"[\t\n\f\r ]",
            Some(b'S') => r"[^\t\n\f\r ]",
            Some(b'p' | b'P') => return self.unicode(from).map(Some),
            _ => return Ok(None),
        };
        self.rest = &from[2..];
        Ok(Some(perl.to_owned()))
    }

    /// `\pN`, `\p{Greek}`, `\p{^Greek}`: a general category or a script.
    fn unicode(&mut self, from: &'a str) -> Result<String, Fault<'a>> {
        let fault = |part| Fault {
            what: CLASS_RANGE,
            part,
        };
        self.rest = &from[2..];
        let name = match self.take() {
            Some('{') => {
                let Some((name, rest)) = self.rest.split_once('}') else {
                    return Err(fault(from));
                };
                self.rest = rest;
                name
            }
            _ => before(&from[2..], self.rest),
        };
        let mut negated = from.as_bytes()[1] == b'P';
        let name = match name.strip_prefix('^') {
            Some(name) => {
                negated = !negated;
                name
            }
            None => name,
        };
        let letter = if negated { 'P' } else { 'p' };
        let is_name = !name.is_empty()
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b' '));
        let classes = ["gc", "sc"].map(|kind| format!(r"\{letter}{{{kind}={name}}}"));
        let known = classes
            .into_iter()
            .find(|class| is_name && Regex::new(class).is_ok());
        known.ok_or_else(|| fault(before(from, self.rest)))
    }

    /// The code point of an escape.
    fn escape(&mut self) -> Result<u32, Fault<'a>> {
        let from = self.rest;
        self.take();
        let Some(first) = self.take() else {
            return Err(Fault {
                what: TRAILING_BACKSLASH,
                part: "",
            });
        };
        let octal = |rest: &str| {
            let next = rest.chars().next()?;
            next.to_digit(8)
        };
        match first {
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => return Ok(c.into()),
            '0'..='7' if first == '0' || octal(self.rest).is_some() => {
                let mut code = u32::from(first) - u32::from('0');
                for _ in 0..2 {
                    let Some(digit) = octal(self.rest) else { break };
                    code = code * 8 + digit;
                    self.take();
                }
                return Ok(code);
            }
            'x' => {
                if let Some(code) = self.hexadecimal() {
                    return Ok(code);
                }
            }
            'a' => return Ok(7),
            'f' => return Ok(12),
            'n' => return Ok(10),
            'r' => return Ok(13),
            't' => return Ok(9),
            'v' => return Ok(11),
            _ => {}
        }
        Err(Fault {
            what: ESCAPE,
            part: before(from, self.rest),
        })
    }

    /// What follows `\x`: two digits, or any number of them in braces.
    fn hexadecimal(&mut self) -> Option<u32> {
        let first = self.take()?;
        if first != '{' {
            let second = self.take();
            return Some(first.to_digit(16)? * 16 + second?.to_digit(16)?);
        }
        let (mut code, mut digits) = (0, 0);
        loop {
            match self.take()? {
                '}' => return (digits > 0).then_some(code),
                digit => code = code * 16 + digit.to_digit(16)?,
            }
            digits += 1;
            if code > u32::from(char::MAX) {
                return None;
            }
        }
    }

    /// `[a-z[:digit:]\pL]`.
    fn class(&mut self) -> Result<(), Fault<'a>> {
        let whole = self.rest;
        self.take();
        let mut class = String::from("[");
        if let Some(rest) = self.rest.strip_prefix('^') {
            self.rest = rest;
            class.push('^');
        }
        let mut is_first = true;
        while is_first || !self.rest.starts_with(']') {
            is_first = false;
            if let Some(named) = self.named_class()? {
                class.push_str(named);
                continue;
            }
            if self.rest.starts_with('\\')
                && let Some(group) = self.group_of_characters()?
            {
                class.push_str(&group);
                continue;
            }
            let from = self.rest;
            let low = self.class_character(whole)?;
            let mut high = low;
            if self.rest.starts_with('-') && self.rest.len() > 1 && !self.rest.starts_with("-]") {
                self.take();
                high = self.class_character(whole)?;
                if high < low {
                    let part = before(from, self.rest);
                    return Err(Fault {
                        what: CLASS_RANGE,
                        part,
                    });
                }
            }
            put_range(&mut class, low, high);
        }
        self.take();
        class.push(']');
        self.push_class(&class);
        Ok(())
    }

    /// `[:alpha:]`, which stands in the brackets of a class.
    fn named_class(&mut self) -> Result<Option<&'a str>, Fault<'a>> {
        const NAMES: [&str; 14] = [
            "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
            "space", "upper", "word", "xdigit",
        ];
        let from = self.rest;
        let Some((name, rest)) = from.strip_prefix("[:").and_then(|named| named.split_once(":]")) else {
            return Ok(None);
        };
        let part = before(from, rest);
        match NAMES.contains(&name.strip_prefix('^').unwrap_or(name)) {
            true => {
                self.rest = rest;
                Ok(Some(part))
            }
            false => Err(Fault {
                what: CLASS_RANGE,
                part,
            }),
        }
    }

    fn class_character(&mut self, whole: &'a str) -> Result<u32, Fault<'a>> {
        if self.rest.starts_with('\\') {
            return self.escape();
        }
        match self.take() {
            Some(character) => Ok(character.into()),
            None => Err(Fault {
                what: NO_BRACKET,
                part: whole,
            }),
        }
    }
}

/// Adds the characters of a range; what is between are no characters.
fn put_range(class: &mut String, low: u32, high: u32) {
    for (first, last) in [(0, 0xd7ff), (0xe000, u32::from(char::MAX))] {
        let (low, high) = (low.max(first), high.min(last));
        if low <= high {
            _ = write!(class, r"\x{{{low:x}}}-\x{{{high:x}}}");
        }
    }
}

struct Count {
    least: u64,
    /// None: any number.
    most: Option<u64>,
}

/// Reads `{2}`, `{2,}` or `{2,3}`, and what follows; no count if the numbers are too large, or the wrong way round.
fn count(text: &str) -> Option<(Option<Count>, &str)> {
    let (least, rest) = number(text.strip_prefix('{')?)?;
    let (most, rest) = match rest.strip_prefix(',') {
        None => (Some(least), rest),
        Some(rest) if rest.starts_with('}') => (None, rest),
        Some(rest) => {
            let (most, rest) = number(rest)?;
            (Some(most), rest)
        }
    };
    let rest = rest.strip_prefix('}')?;
    let highest = most.unwrap_or(least);
    let fits = least <= MOST_REPEATED && highest <= MOST_REPEATED && least <= highest;
    Some((fits.then_some(Count { least, most }), rest))
}

fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let leads_with_zero = digits.len() > 1 && digits.starts_with('0');
    if digits.is_empty() || leads_with_zero {
        return None;
    }
    Some((digits.parse().unwrap_or(u64::MAX), rest))
}
