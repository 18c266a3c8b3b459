//! Shard selectors (KEP-5866): ranges of the hash of a field, as
//! `shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000') || shardRange(...)`.
//!
//! The language is a part of CEL: it is parsed as CEL and never evaluated. The hash is FNV-1a with 64 bits.

use std::fmt;

use cel::IdedExpr;
use cel::common::ast::{CallExpr, Expr, LiteralValue, operators};
use cel::parser::Parser;

use crate::object::Stored;
use crate::status::quoted;

/// The objects whose field has a hash in one of these ranges.
#[derive(Debug, PartialEq)]
pub(crate) struct Shards {
    field: Field,
    ranges: Vec<Range>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Field {
    Uid,
    Namespace,
}

/// The hashes from `start` to before `end`, which may be 2^64.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Range {
    start: u128,
    end: u128,
}

impl Shards {
    /// Parses a selector. The error is what a real server says.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err(
                "empty shard selector is not allowed; omit the parameter for unfiltered lists".into(),
            );
        }
        let parsed = Parser::new().parse(text).map_err(|errors| {
            let first = errors.errors.into_iter().next();
            format!(
                "CEL parse error: {}",
                first.map(|error| error.msg).unwrap_or_default()
            )
        })?;
        let mut found = Vec::new();
        walk(&parsed, &mut found)?;
        let field = found.first().map_or(Field::Uid, |(field, _)| *field);
        if let Some((other, _)) = found.iter().find(|(other, _)| *other != field) {
            let (field, other) = (quoted(field.path()), quoted(other.path()));
            return Err(format!(
                "all shard ranges must use the same field, got {field} and {other}"
            ));
        }
        let ranges = found.into_iter().map(|(_, range)| range).collect();
        Ok(Self { field, ranges })
    }

    pub(crate) fn matches(&self, object: &Stored) -> bool {
        let value = match self.field {
            Field::Uid => object.uid(),
            Field::Namespace => object.namespace(),
        };
        let hash = u128::from(hash(value));
        self.ranges
            .iter()
            .any(|range| range.start <= hash && hash < range.end)
    }
}

/// As it is echoed in lists.
impl fmt::Display for Shards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, Range { start, end }) in self.ranges.iter().enumerate() {
            let or = if number > 0 { " || " } else { "" };
            let field = self.field.path();
            write!(f, "{or}shardRange({field}, '0x{start:016x}', '0x{end:016x}')")?;
        }
        Ok(())
    }
}

impl Field {
    const fn path(self) -> &'static str {
        match self {
            Self::Uid => "object.metadata.uid",
            Self::Namespace => "object.metadata.namespace",
        }
    }
}

/// FNV-1a with 64 bits.
fn hash(value: &str) -> u64 {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    value.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

fn walk(expression: &IdedExpr, found: &mut Vec<(Field, Range)>) -> Result<(), String> {
    let Expr::Call(call) = &expression.expr else {
        let kind = kind(&expression.expr);
        return Err(format!(
            "unexpected expression kind {kind}; expected shardRange() call or || operator"
        ));
    };
    match &*call.func_name {
        operators::LOGICAL_OR => call.args.iter().try_for_each(|side| walk(side, found)),
        "shardRange" => {
            found.push(range(call)?);
            Ok(())
        }
        name => Err(format!(
            "unsupported function {}; only shardRange() and || are allowed",
            quoted(name)
        )),
    }
}

fn range(call: &CallExpr) -> Result<(Field, Range), String> {
    let [field, start, end] = &*call.args else {
        let given = call.args.len();
        return Err(format!("shardRange() requires exactly 3 arguments, got {given}"));
    };
    let path = field_path(&field.expr).map_err(|why| format!("shardRange() first argument: {why}"))?;
    let fields = [Field::Uid, Field::Namespace];
    let Some(field) = fields.into_iter().find(|field| field.path() == path) else {
        return Err(format!(
            "unsupported field path {}; supported: object.metadata.uid, object.metadata.namespace",
            quoted(&path)
        ));
    };
    let start = bound(&start.expr, "hexStart")?;
    let end = bound(&end.expr, "hexEnd")?;
    if start >= end {
        return Err(format!(
            "shard range start 0x{start:016x} must be less than end 0x{end:016x}"
        ));
    }
    Ok((field, Range { start, end }))
}

fn field_path(expression: &Expr) -> Result<String, String> {
    match expression {
        Expr::Ident(name) => Ok(name.clone()),
        Expr::Select(select) => Ok(format!("{}.{}", field_path(&select.operand.expr)?, select.field)),
        other => Err(format!(
            "expected field path (e.g. object.metadata.uid), got expression kind {}",
            kind(other)
        )),
    }
}

/// 16 hexadecimal digits, or 2^64.
fn bound(expression: &Expr, name: &str) -> Result<u128, String> {
    let Expr::Literal(literal) = expression else {
        let kind = kind(expression);
        return Err(format!(
            "{name} must be a string literal (e.g. '0xff'), got expression kind {kind}"
        ));
    };
    let LiteralValue::String(text) = literal else {
        return Err(format!(
            "{name} must be a string literal, got {}",
            go_type(literal)
        ));
    };
    let text = text.inner();
    let Some(digits) = text.strip_prefix("0x") else {
        return Err(format!("{name} must have '0x' prefix, got {}", quoted(text)));
    };
    if digits.is_empty() {
        return Err(format!("{name}: hex value is required after '0x'"));
    }
    if digits.len() > 17 {
        let (count, digits) = (digits.len(), quoted(digits));
        return Err(format!(
            "{name}: hex value too long ({count} chars, max 17): {digits}"
        ));
    }
    if let Some(wrong) = digits.chars().find(|c| !matches!(c, '0'..='9' | 'a'..='f')) {
        let (wrong, text) = (quoted(&wrong.to_string()), quoted(text));
        return Err(format!("{name}: invalid hex character {wrong} in {text}"));
    }
    match digits.len() {
        16 => {}
        17 if digits == "10000000000000000" => {}
        17 => {
            return Err(format!(
                "{name}: 17-digit hex value must be '0x10000000000000000' (2^64), got {}",
                quoted(text)
            ));
        }
        _ => {
            let padded = quoted(&format!("0x{digits:0>16}"));
            return Err(format!(
                "{name} must be a 0x-prefixed 16-digit hex value, got {} (did you mean {padded}?)",
                quoted(text)
            ));
        }
    }
    // Up to 17 digits always fit.
    u128::from_str_radix(digits, 16).map_err(|error| format!("{name}: {error}"))
}

/// The number of a kind of expression in cel-go, which messages show.
fn kind(expression: &Expr) -> u8 {
    match expression {
        Expr::Unspecified => 0,
        Expr::Call(_) => 1,
        Expr::Comprehension(_) => 2,
        Expr::Ident(_) => 3,
        Expr::List(_) => 4,
        Expr::Literal(_) => 5,
        Expr::Map(_) => 6,
        Expr::Select(_) => 7,
        Expr::Struct(_) => 8,
    }
}

/// The type in Go of a literal's value.
fn go_type(literal: &LiteralValue) -> &'static str {
    match literal {
        LiteralValue::Boolean(_) => "bool",
        LiteralValue::Bytes(_) => "[]uint8",
        LiteralValue::Double(_) => "float64",
        LiteralValue::Int(_) => "int64",
        LiteralValue::Null => "structpb.NullValue",
        LiteralValue::String(_) => "string",
        LiteralValue::UInt(_) => "uint64",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UID: &str = "object.metadata.uid";

    #[test]
    fn the_hash_is_fnv_1a() {
        // Vectors of the authors of FNV.
        assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn selectors_are_written_as_they_are_echoed() {
        let half = format!("shardRange({UID}, '0x0000000000000000', '0x8000000000000000')");
        let rest = format!("shardRange({UID}, '0x8000000000000000', '0x10000000000000000')");
        let namespaces = "shardRange(object.metadata.namespace, '0x00000000000000aa', '0x00000000000000ff')";
        for (given, echoed) in [
            (half.clone(), half.clone()),
            (format!(" {half}||{rest} "), format!("{half} || {rest}")),
            (half.replace(", ", ","), half.clone()),
            (half.replace('\'', "\""), half.clone()),
            (format!("({half})"), half.clone()),
            (namespaces.to_owned(), namespaces.to_owned()),
        ] {
            assert_eq!(Shards::parse(&given).unwrap().to_string(), echoed);
        }
        let many = vec![&*half; 256].join(" || ");
        assert_eq!(Shards::parse(&many).unwrap().to_string(), many);
    }

    #[test]
    fn what_is_wrong_with_a_selector_is_said() {
        let full = |start: &str, end: &str| format!("shardRange({UID}, '{start}', '{end}')");
        let start = "0x0000000000000000";
        for (text, fault) in [
            (
                "  ".to_owned(),
                "empty shard selector is not allowed; omit the parameter for unfiltered lists",
            ),
            (
                "1".into(),
                "unexpected expression kind 5; expected shardRange() call or || operator",
            ),
            (
                format!("{UID} > '0x0'"),
                "unsupported function \"_>_\"; only shardRange() and || are allowed",
            ),
            (
                "f()".into(),
                "unsupported function \"f\"; only shardRange() and || are allowed",
            ),
            (
                format!("shardRange({UID}, '0x0')"),
                "shardRange() requires exactly 3 arguments, got 2",
            ),
            (
                "shardRange('a', '0x0', '0x1')".into(),
                "shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 5",
            ),
            (
                "shardRange(object.metadata.name, '0x0', '0x1')".into(),
                "unsupported field path \"object.metadata.name\"; supported: object.metadata.uid, \
                 object.metadata.namespace",
            ),
            (
                format!("shardRange({UID}, 0, 8)"),
                "hexStart must be a string literal, got int64",
            ),
            (
                format!("shardRange({UID}, a, 8)"),
                "hexStart must be a string literal (e.g. '0xff'), got expression kind 3",
            ),
            (full("0", "0x1"), "hexStart must have '0x' prefix, got \"0\""),
            (full("0x", "0x1"), "hexStart: hex value is required after '0x'"),
            (
                full("0x000000000000000000", "0x1"),
                "hexStart: hex value too long (18 chars, max 17): \"000000000000000000\"",
            ),
            (
                full(start, "0xg"),
                "hexEnd: invalid hex character \"g\" in \"0xg\"",
            ),
            (
                full(start, "0xff"),
                "hexEnd must be a 0x-prefixed 16-digit hex value, got \"0xff\" (did you mean \"0x00000000000000ff\"?)",
            ),
            (
                full(start, "0x20000000000000000"),
                "hexEnd: 17-digit hex value must be '0x10000000000000000' (2^64), got \"0x20000000000000000\"",
            ),
            (
                full(start, start),
                "shard range start 0x0000000000000000 must be less than end 0x0000000000000000",
            ),
            (
                format!(
                    "{} || shardRange(object.metadata.namespace, '{start}', '0x8000000000000000')",
                    full(start, "0x8000000000000000")
                ),
                "all shard ranges must use the same field, got \"object.metadata.uid\" and \
                 \"object.metadata.namespace\"",
            ),
        ] {
            assert_eq!(Shards::parse(&text).unwrap_err(), fault, "{text}");
        }
        let fault = Shards::parse("shardRange(").unwrap_err();
        assert!(fault.starts_with("CEL parse error: "), "{fault}");
    }
}
