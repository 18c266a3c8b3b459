//! Whether what a text has places for (`'%s is %d'.format([a, b])`) is given to it.

use cel::common::ast::{EntryExpr, Expr, IdedExpr};

use super::types::Type;

/// The type of each part of an expression.
type Types<'t> = dyn Fn(&IdedExpr) -> &'t Type + 't;

/// What is wrong with what is given to a text, and where: at one of its arguments, or nowhere else than at the call.
pub(super) fn fault(text: &str, given: &[IdedExpr], type_of: &Types<'_>) -> Option<(Option<u64>, String)> {
    let mut rest = text;
    let mut count = 0;
    while let Some(at) = rest.find('%') {
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            rest = after;
            continue;
        }
        if rest.is_empty() {
            return Some((None, "unexpected end of string".to_owned()));
        }
        let Some(argument) = given.get(count) else {
            return Some((None, format!("index {count} out of range")));
        };
        count += 1;
        let letter = match after_precision(rest) {
            Ok(after) => after.chars().next().unwrap_or(' '),
            Err(why) => {
                let why = format!("could not parse formatting clause: error while parsing precision: {why}");
                return Some((None, why));
            }
        };
        rest = after_precision(rest).unwrap_or("");
        rest = &rest[letter.len_utf8().min(rest.len())..];
        let found = match letter {
            's' => unreadable(argument, type_of).map(|part| (part, STRING)),
            'd' => one_of(argument, type_of, is_whole, DECIMAL),
            'f' => one_of(
                argument,
                type_of,
                |of| matches!(of, Type::Double | Type::String),
                FIXED,
            ),
            'e' => one_of(
                argument,
                type_of,
                |of| matches!(of, Type::Double | Type::String),
                SCIENTIFIC,
            ),
            'b' => one_of(argument, type_of, |of| is_whole(of) || *of == Type::Bool, BINARY),
            'x' | 'X' => one_of(
                argument,
                type_of,
                |of| is_whole(of) || matches!(of, Type::String | Type::Bytes),
                HEX,
            ),
            'o' => one_of(argument, type_of, is_whole, OCTAL),
            other => {
                // Go looks at a byte, not at a character.
                let mut bytes = [0; 4];
                let byte = other.encode_utf8(&mut bytes).bytes().next().unwrap_or(b' ');
                let clause = char::from(byte);
                let why =
                    format!("could not parse formatting clause: unrecognized formatting clause \"{clause}\"");
                return Some((None, why));
            }
        };
        if let Some((part, wants)) = found {
            let name = name_of(type_of(part));
            let why = format!("error during formatting: {wants}, was given {name}");
            return Some((Some(part.id), why));
        }
    }
    (given.len() > count).then(|| {
        let given = given.len();
        let why = format!("too many arguments supplied to string.format (expected {count}, got {given})");
        (None, why)
    })
}

const STRING: &str = "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps";
const DECIMAL: &str = "decimal clause can only be used on integers";
const FIXED: &str = "fixed-point clause can only be used on doubles";
const SCIENTIFIC: &str = "scientific clause can only be used on doubles";
const BINARY: &str = "only integers and bools can be formatted as binary";
const HEX: &str = "only integers, byte buffers, and strings can be formatted as hex";
const OCTAL: &str = "octal clause can only be used on integers";

fn after_precision(text: &str) -> Result<&str, String> {
    let Some(after) = text.strip_prefix('.') else {
        return Ok(text);
    };
    let end = after.find(|letter: char| !letter.is_ascii_digit());
    let end = end.ok_or("could not find end of precision specifier")?;
    let digits = &after[..end];
    match digits.parse::<i64>() {
        Ok(_) => Ok(&after[end..]),
        Err(_) => {
            let why = if digits.is_empty() {
                "invalid syntax"
            } else {
                "value out of range"
            };
            Err(format!(
                "error while converting precision to integer: strconv.Atoi: parsing {digits:?}: {why}"
            ))
        }
    }
}

fn is_whole(of: &Type) -> bool {
    matches!(of, Type::Int | Type::Uint)
}

fn one_of<'a>(
    part: &'a IdedExpr,
    type_of: &Types<'_>,
    fits: impl Fn(&Type) -> bool,
    wants: &'static str,
) -> Option<(&'a IdedExpr, &'static str)> {
    let of = type_of(part);
    (*of != Type::Dyn && !fits(of)).then_some((part, wants))
}

/// The part of an argument that no text can be made of.
fn unreadable<'a>(part: &'a IdedExpr, type_of: &Types<'_>) -> Option<&'a IdedExpr> {
    if matches!(type_of(part), Type::Opaque(..) | Type::Struct(_)) {
        return Some(part);
    }
    match &part.expr {
        Expr::List(list) => list.elements.iter().find_map(|item| unreadable(item, type_of)),
        Expr::Map(map) => map.entries.iter().find_map(|entry| match &entry.expr {
            EntryExpr::MapEntry(entry) => {
                unreadable(&entry.key, type_of).or_else(|| unreadable(&entry.value, type_of))
            }
            EntryExpr::StructField(_) => None,
        }),
        _ => None,
    }
}

/// The name of a type, without what it is made of.
fn name_of(of: &Type) -> String {
    match of {
        Type::List(_) => "list".to_owned(),
        Type::Map(_) => "map".to_owned(),
        Type::Opaque(name, _) => name.to_string(),
        Type::Meta(_) => "type".to_owned(),
        of => of.shown(),
    }
}
