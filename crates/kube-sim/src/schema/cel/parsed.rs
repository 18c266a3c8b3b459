//! Reads expressions, within the limits of a real server.
//!
//! Whatever reads, checks, meters or evaluates an expression recurses once for each of its levels, and so does dropping it.

use cel::Program;
use cel::common::ast::{EntryExpr, Expr, IdedEntryExpr, IdedExpr};

use super::ENVIRONMENT;
use crate::nesting;

/// The variable with the values of named expressions.
pub(super) const VARIABLES: &str = "variables";

/// The most characters of an expression, as in a real server.
const LONGEST: usize = 100_000;

/// The most levels of an expression, as in a real server.
const DEEPEST: usize = 250;

/// A level of an expression needs at most as much stack as so many levels of JSON.
const ROOM: usize = 4;

/// An expression of so many bytes has not many levels.
const SHORT: usize = 64;

/// The parts of an expression, or what is wrong with it, as cel-go says it.
pub(super) fn parsed(source: &str) -> Result<Program, String> {
    let length = source.chars().count();
    if length > LONGEST {
        let why = format!("expression code point size exceeds limit: size: {length}, limit {LONGEST}");
        return Err(nowhere(&why));
    }
    let levels = if source.len() <= SHORT { 0 } else { nesting::MAX };
    nesting::with_room(levels, || {
        let program = ENVIRONMENT
            .compile(source)
            .map_err(|error| said(error.to_string()))?;
        match levels_of(program.expression()) > DEEPEST {
            true => Err(nowhere("max recursion depth exceeded")),
            false => Ok(program),
        }
    })
}

/// An error of the parser. If brackets are too deep, it says so among many others.
fn said(error: String) -> String {
    match error.contains("Recursion limit of 96 exceeded") {
        true => nowhere("expression recursion limit exceeded: 96"),
        false => error,
    }
}

/// An error of the expression as a whole.
fn nowhere(why: &str) -> String {
    format!("ERROR: <input>:-1:0: {why}")
}

/// The levels of JSON that need as much stack as the expression.
pub(super) fn room_of(expression: &IdedExpr) -> usize {
    ROOM * levels_of(expression)
}

fn levels_of(expression: &IdedExpr) -> usize {
    deepest(expression, |_| true)
}

/// How many levels more than the values that it refers to the value of an expression may have.
pub(super) fn levels_made(expression: &IdedExpr) -> usize {
    deepest(expression, |part| {
        !matches!(part, Expr::Literal(_) | Expr::Ident(_) | Expr::Select(_))
    })
}

/// The most of such parts in one another.
fn deepest(expression: &IdedExpr, counts: impl Fn(&Expr) -> bool) -> usize {
    let mut deepest = 0;
    let mut open = vec![(expression, 0)];
    while let Some((expression, above)) = open.pop() {
        let level = above + usize::from(counts(&expression.expr));
        deepest = deepest.max(level);
        open.extend(parts(expression).into_iter().map(|part| (part, level)));
    }
    deepest
}

/// What an expression consists of.
pub(super) fn parts(expression: &IdedExpr) -> Vec<&IdedExpr> {
    fn of_entry(entry: &IdedEntryExpr) -> Vec<&IdedExpr> {
        match &entry.expr {
            EntryExpr::StructField(field) => vec![&field.value],
            EntryExpr::MapEntry(entry) => vec![&entry.key, &entry.value],
        }
    }
    match &expression.expr {
        Expr::Unspecified | Expr::Literal(_) | Expr::Ident(_) => Vec::new(),
        Expr::Select(select) => vec![&select.operand],
        Expr::Call(call) => call.target.as_deref().into_iter().chain(&call.args).collect(),
        Expr::List(list) => list.elements.iter().collect(),
        Expr::Map(map) => map.entries.iter().flat_map(of_entry).collect(),
        Expr::Struct(of) => of.entries.iter().flat_map(of_entry).collect(),
        Expr::Comprehension(of) => {
            let (range, before) = (&of.iter_range, &of.accu_init);
            vec![range, before, &of.loop_cond, &of.loop_step, &of.result]
        }
    }
}

/// Gives each part of an expression to a function.
pub(super) fn each_part(expression: &mut IdedExpr, with: &mut impl FnMut(&mut IdedExpr)) {
    let entries = |entries: &mut Vec<IdedEntryExpr>, with: &mut dyn FnMut(&mut IdedExpr)| {
        for entry in entries {
            match &mut entry.expr {
                EntryExpr::StructField(field) => with(&mut field.value),
                EntryExpr::MapEntry(entry) => {
                    with(&mut entry.key);
                    with(&mut entry.value);
                }
            }
        }
    };
    match &mut expression.expr {
        Expr::Unspecified | Expr::Literal(_) | Expr::Ident(_) => {}
        Expr::Select(select) => with(&mut select.operand),
        Expr::Call(call) => {
            let parts = call.target.as_deref_mut().into_iter().chain(&mut call.args);
            parts.for_each(with);
        }
        Expr::List(list) => list.elements.iter_mut().for_each(with),
        Expr::Map(map) => entries(&mut map.entries, with),
        Expr::Struct(of) => entries(&mut of.entries, with),
        Expr::Comprehension(of) => {
            let parts = [
                &mut of.iter_range,
                &mut of.accu_init,
                &mut of.loop_cond,
                &mut of.loop_step,
                &mut of.result,
            ];
            parts.into_iter().for_each(with);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(source: &str) -> String {
        parsed(source).err().unwrap_or_default()
    }

    #[test]
    fn what_has_too_many_levels_or_characters_is_refused() {
        for (source, why) in [
            (format!("1{}", "+1".repeat(1000)), "max recursion depth exceeded"),
            (
                format!("a{}", ".a".repeat(49_000)),
                "max recursion depth exceeded",
            ),
            (format!("a{}", ".b()".repeat(300)), "max recursion depth exceeded"),
            (
                format!("{}1{}", "(".repeat(40_000), ")".repeat(40_000)),
                "expression recursion limit exceeded",
            ),
            (
                "x".repeat(100_001),
                "expression code point size exceeds limit: size: 100001, limit 100000",
            ),
        ] {
            let found = fault(&source);
            assert!(found.contains(why), "{found}");
        }
    }

    #[test]
    fn as_many_levels_as_in_a_real_server_are_read() {
        for source in [
            format!("{}1{}", "(".repeat(90), ")".repeat(90)),
            format!("{}1{}", "[".repeat(90), "]".repeat(90)),
            format!("{}1", "true?1:".repeat(90)),
            format!("1{}", "+1".repeat(240)),
            format!("a{}", ".a".repeat(240)),
            format!("true{}", "||true".repeat(10_000)),
            format!("{}true", "!".repeat(90_000)),
        ] {
            assert_eq!(fault(&source), "");
        }
    }
}
