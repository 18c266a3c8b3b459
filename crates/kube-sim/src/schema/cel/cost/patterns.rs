//! Regular expressions in expressions: what they cost to compile and to look for.
//!
//! One that is written in an expression is compiled once and kept with it ([`Patterns::taken_from`]). One that there is no room for is
//! compiled for each evaluation, and costs nothing but time. One that is computed costs each time what it takes to compile.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::iter::Peekable;
use std::rc::Rc;
use std::sync::Arc;

use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue};
use cel::common::types::{CelBool, CelInt, CelList, CelString, DYN_TYPE, INT_TYPE, STRING_TYPE};
use cel::common::value::{CowVal, Val};
use cel::{DeclarationError, Env, ExecutionError};

use super::purse::{exceeded, goes_on_by, pay};
use crate::schema::Pattern;
use crate::schema::cel::functions::argument::failed;
use crate::schema::cel::parsed::each_part;

/// What the functions are called instead, with the place of a pattern that is kept or with one that is computed.
const MATCHES_KEPT: &str = "@matchesKept";
pub(super) const MATCHES: &str = "@matches";
const FIND_KEPT: &str = "@findKept";
pub(super) const FIND: &str = "find";
pub(super) const FIND_ALL_KEPT: &str = "@findAllKept";
pub(super) const FIND_ALL: &str = "findAll";

/// What each part of a regular expression costs when it is compiled. One of more than ten thousand is too much for any rule.
const OF_PART: u64 = 100;

/// How many parts the regular expressions that are kept with an expression may have, so that they take some megabytes.
const ROOM: u64 = 100_000;

/// So many bytes of text, and of a regular expression, cost one, as in a real server.
const TEXT: u64 = 10;
const SOURCE: u64 = 4;

/// So many of those that there is no room for are compiled at a time.
const AT_ONCE: usize = 4;

thread_local! {
    /// Those of the expression that this thread evaluates.
    static PATTERNS: RefCell<Patterns> = RefCell::default();
    /// Those that were compiled for this evaluation, with their places.
    static COMPILED: RefCell<VecDeque<(usize, Rc<Pattern>)>> = RefCell::default();
}

/// The regular expressions that are written in an expression.
#[derive(Clone, Default)]
pub(super) struct Patterns(Arc<[Written]>);

/// One of them, and whether it is kept when it is compiled.
struct Written {
    pattern: Pattern,
    is_kept: bool,
}

impl Patterns {
    /// Takes them out of an expression, which refers to them by their places from then on.
    pub(super) fn taken_from(expression: &mut IdedExpr) -> Self {
        let mut taken = Taken::default();
        taken.visit(expression);
        Self(taken.patterns.into())
    }

    /// Lets functions find them.
    pub(super) fn within<T>(&self, f: impl FnOnce() -> T) -> T {
        let before = (PATTERNS.replace(self.clone()), COMPILED.take());
        let result = f();
        PATTERNS.set(before.0);
        COMPILED.set(before.1);
        result
    }

    /// Calls a function with the one at a place.
    fn with<T>(
        &self,
        place: usize,
        f: impl FnOnce(&Pattern) -> Result<T, ExecutionError>,
    ) -> Result<T, ExecutionError> {
        let mismatch = || ExecutionError::no_such_overload(MATCHES, Vec::new());
        let written = self.0.get(place).ok_or_else(mismatch)?;
        let known = COMPILED.with_borrow(|all| all.iter().find(|(of, _)| *of == place).cloned());
        let pattern = known.as_ref().map_or(&written.pattern, |(_, pattern)| &**pattern);
        // It is the rule's only in so far as others wait for it.
        if !pattern.is_compiled() && !goes_on_by(weight(pattern.as_str()).saturating_mul(OF_PART)) {
            return Err(exceeded());
        }
        if written.is_kept || known.is_some() {
            return f(pattern);
        }
        let fresh = Rc::new(Pattern::new(pattern.as_str()));
        let result = f(&fresh);
        COMPILED.with_borrow_mut(|all| {
            all.truncate(AT_ONCE - 1);
            all.push_front((place, fresh));
        });
        result
    }
}

#[derive(Default)]
struct Taken {
    patterns: Vec<Written>,
    weight: u64,
}

impl Taken {
    fn visit(&mut self, expression: &mut IdedExpr) {
        each_part(expression, &mut |part| self.visit(part));
        if let Expr::Call(call) = &mut expression.expr {
            self.take(call);
        }
    }

    fn take(&mut self, call: &mut CallExpr) {
        let name = match (call.func_name.as_str(), call.args.len(), &call.target) {
            ("matches", 1, Some(_)) | ("matches", 2, None) => MATCHES_KEPT,
            (FIND, 1, Some(_)) => FIND_KEPT,
            (FIND_ALL, 1 | 2, Some(_)) => FIND_ALL_KEPT,
            _ => return,
        };
        let at = usize::from(call.target.is_none());
        let Some(Expr::Literal(LiteralValue::String(source))) = call.args.get(at).map(|part| &part.expr)
        else {
            return;
        };
        let weight = self.weight.saturating_add(weight(source.inner()));
        let is_kept = weight <= ROOM;
        if is_kept {
            self.weight = weight;
        }
        let place = self.patterns.len() as i64;
        let pattern = Pattern::new(source.inner());
        self.patterns.push(Written { pattern, is_kept });
        call.args[at].expr = Expr::Literal(LiteralValue::Int(place.into()));
        call.func_name = name.to_owned();
        call.args.splice(0..0, call.target.take().map(|target| *target));
    }
}

/// Declares the functions.
pub(super) fn declare(environment: &mut Env) -> Result<(), DeclarationError> {
    let (text, place) = (|| STRING_TYPE, || INT_TYPE);
    environment.add_overload(
        MATCHES,
        "matches_pattern",
        vec![DYN_TYPE, DYN_TYPE],
        matches::<false>,
    )?;
    environment.add_overload(
        MATCHES_KEPT,
        "matches_kept",
        vec![DYN_TYPE, place()],
        matches::<true>,
    )?;
    environment.add_member_overload(FIND, "string_find", text(), vec![text()], find::<false>)?;
    environment.add_overload(FIND_KEPT, "find_kept", vec![DYN_TYPE, place()], find::<true>)?;
    environment.add_member_overload(
        FIND_ALL,
        "string_find_all",
        text(),
        vec![text()],
        find_all::<false>,
    )?;
    let some = vec![text(), place()];
    environment.add_member_overload(FIND_ALL, "string_find_some", text(), some, find_all::<false>)?;
    environment.add_overload(
        FIND_ALL_KEPT,
        "find_all_kept",
        vec![DYN_TYPE, place()],
        find_all::<true>,
    )?;
    let some = vec![DYN_TYPE, place(), DYN_TYPE];
    environment.add_overload(FIND_ALL_KEPT, "find_some_kept", some, find_all::<true>)
}

/// Calls a function with a text and a compiled regular expression, once these have been paid for. The second argument is the place of one
/// that is `WRITTEN`, or one that is computed.
fn with_pattern<const WRITTEN: bool, T>(
    arguments: &[CowVal<'_, '_>],
    name: &str,
    f: impl FnOnce(&str, &Pattern) -> T,
) -> Result<T, ExecutionError> {
    let mismatch = || ExecutionError::no_such_overload(name, Vec::new());
    let [text, pattern, ..] = arguments else {
        return Err(mismatch());
    };
    let text = text.downcast_ref::<CelString<'_>>().ok_or_else(mismatch)?.inner();
    let search = |pattern: &Pattern| {
        if let Some(why) = pattern.fault() {
            return Err(failed(match name {
                MATCHES => why.to_owned(),
                _ => format!("Illegal regex: {why}"),
            }));
        }
        let length = pattern.as_str().len() as u64;
        pay((text.len() as u64 / TEXT).saturating_mul((length / SOURCE).max(1)))?;
        Ok(f(text, pattern))
    };
    if !WRITTEN {
        let source = pattern.downcast_ref::<CelString<'_>>();
        let source = source.ok_or_else(mismatch)?.inner();
        pay(weight(source).saturating_mul(OF_PART))?;
        return search(&Pattern::new(source));
    }
    let place = pattern.downcast_ref::<CelInt>().ok_or_else(mismatch)?;
    let place = usize::try_from(*place.inner()).map_err(|_| mismatch())?;
    PATTERNS.with_borrow(Clone::clone).with(place, search)
}

fn matches<'b, 'v, const WRITTEN: bool>(
    arguments: Vec<CowVal<'b, 'v>>,
) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let is_in = with_pattern::<WRITTEN, _>(&arguments, MATCHES, |text, pattern| pattern.is_in(text))?;
    Ok(CowVal::owned(CelBool::from(is_in)))
}

fn find<'b, 'v, const WRITTEN: bool>(
    arguments: Vec<CowVal<'b, 'v>>,
) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let found = with_pattern::<WRITTEN, _>(&arguments, FIND, |text, pattern| {
        pattern.found_in(text, 1).concat()
    })?;
    Ok(CowVal::owned(CelString::from(found)))
}

fn find_all<'b, 'v, const WRITTEN: bool>(
    arguments: Vec<CowVal<'b, 'v>>,
) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let most = match arguments.get(2) {
        None => usize::MAX,
        Some(most) => {
            let most = most.downcast_ref::<CelInt>();
            let most = most.ok_or_else(|| ExecutionError::no_such_overload(FIND_ALL, Vec::new()))?;
            // Less than none are all.
            usize::try_from(*most.inner()).unwrap_or(usize::MAX)
        }
    };
    let owned = |found: &str| -> Box<dyn Val> { Box::new(CelString::from(found.to_owned())) };
    let found: Vec<_> = with_pattern::<WRITTEN, _>(&arguments, FIND_ALL, |text, pattern| {
        let found = pattern.found_in(text, most);
        found.into_iter().map(owned).collect()
    })?;
    Ok(CowVal::owned(CelList::from(found)))
}

type Chars<'a> = Peekable<std::str::Chars<'a>>;

/// What a class of Unicode is made of.
const CLASS: u64 = 300;

/// The parts of what a backslash begins.
fn escaped(rest: &mut Chars<'_>) -> u64 {
    match rest.next() {
        Some('p' | 'P') => {
            if rest.next() == Some('{') {
                rest.by_ref().take_while(|found| *found != '}').for_each(drop);
            }
            CLASS
        }
        Some('Q') => quoted(rest),
        _ => 1,
    }
}

/// The characters up to `\E`.
fn quoted(rest: &mut Chars<'_>) -> u64 {
    let mut parts = 0;
    while let Some(next) = rest.next() {
        if next == '\\' && rest.next_if_eq(&'E').is_some() {
            break;
        }
        parts += 1;
    }
    parts
}

/// The parts of a class of characters, in which a bracket that closes comes last, unless it comes first.
fn class(rest: &mut Chars<'_>) -> u64 {
    let negated = rest.peek() == Some(&'^');
    rest.next_if(|_| negated);
    let mut parts = u64::from(rest.next_if_eq(&']').is_some());
    while let Some(next) = rest.next() {
        parts += match next {
            ']' => return parts.max(1),
            // A class with a name.
            '[' if rest.peek() == Some(&':') => {
                rest.by_ref().take_while(|found| *found != ']').count() as u64
            }
            '\\' => escaped(rest),
            _ => 1,
        };
    }
    parts
}

/// About how many parts a regular expression has when what it repeats is written out.
fn weight(source: &str) -> u64 {
    let mut groups: Vec<u64> = vec![0];
    let mut last: u64 = 0;
    let mut rest: Chars<'_> = source.chars().peekable();
    while let Some(next) = rest.next() {
        let part = match next {
            '(' => {
                groups.push(0);
                continue;
            }
            ')' if groups.len() > 1 => groups.pop().unwrap_or(0),
            '\\' => escaped(&mut rest),
            '[' => class(&mut rest),
            '{' => {
                let counts: String = rest.by_ref().take_while(|found| *found != '}').collect();
                let most = counts.split(',').filter_map(|count| count.parse().ok()).max();
                last.saturating_mul(most.unwrap_or(1u64).saturating_sub(1))
            }
            _ => 1,
        };
        if next != '{' {
            last = part;
        }
        if let Some(group) = groups.last_mut() {
            *group = group.saturating_add(part);
        }
    }
    groups.into_iter().fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::super::purse::curbed;
    use super::*;
    use crate::schema::{Answer, Failure, Scope};

    fn evaluated(expression: &str) -> Result<Answer, Failure> {
        Scope::new(&[("object", &"a".into())]).evaluate(expression)
    }

    // A real server evaluates them.
    #[test]
    fn written_patterns_of_many_parts_cost_what_others_cost() {
        let one = r"object.matches('^[\\p{L}\\p{N}]{1,256}$')";
        assert_eq!(evaluated(one), Ok(Answer::Bool(true)));
        // The second is compiled once for each evaluation.
        let two =
            r"object.matches('^[\\p{L}]{2,253}$') || [1, 2, 3].all(n, object.matches('^[\\p{L}]{1,253}$'))";
        let once = curbed(3 * 253 * CLASS * OF_PART, None, || evaluated(two));
        assert_eq!(once, Some(Ok(Answer::Bool(true))));
    }

    #[test]
    fn a_number_is_no_pattern() {
        for function in ["matches", "find", "findAll"] {
            let expression = format!("type(object.{function}(dyn(0))) == type(object.{function}('b'))");
            let why = Failure::Error("no such overload".into());
            assert_eq!(evaluated(&expression), Err(why), "{function}");
        }
    }

    #[test]
    fn a_bracket_that_is_a_character_ends_no_group() {
        for pattern in [
            r"(abc[)]){1000}",
            r"(abc\)){1000}",
            r"(abc\Q)\E){1000}",
            r"(abc[^])]){1000}",
            r"(abc[[:alpha:])]){1000}",
        ] {
            assert!(weight(pattern) >= 4000, "{pattern}: {}", weight(pattern));
        }
        assert!(weight(r"(\pL{50}){20}") > 100_000);
        assert!(weight("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$") < 50);
    }
}
