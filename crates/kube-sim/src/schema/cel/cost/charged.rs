//! The functions that metered expressions call: they take a cost, then do what the function does that they stand for.

use cel::common::types::{CelInt, CelList, CelOptional, CelString, DYN_TYPE, INT_TYPE};
use cel::common::value::{CowVal, Val};
use cel::{DeclarationError, Env, ExecutionError};

use super::patterns;
use super::purse::{BYTES, CHARGE, exceeded, pay};
use crate::schema::cel::functions::argument::length;

/// Charges for the size of a value.
pub(super) const SIZED: &str = "@sized";

/// Charges for the size of an optional value.
pub(super) const COPIED: &str = "@copied";

/// Charges for what compares each item of a list with each other.
pub(super) const CROWDED: &str = "@crowded";

/// Charges for what a loop goes through.
pub(super) const LOOPED: &str = "@looped";

/// Charges for so many items.
pub(super) const COUNTED: &str = "@counted";

/// What these functions of the extension for strings are called instead.
pub(super) const REPLACE: &str = "@replace";
pub(super) const JOIN: &str = "@join";
pub(super) const INDEX_OF: &str = "@indexOf";
pub(super) const LAST_INDEX_OF: &str = "@lastIndexOf";

/// Declares what metered expressions call.
pub(in crate::schema::cel) fn declare(environment: &mut Env) -> Result<(), DeclarationError> {
    environment.add_overload(CHARGE, "charge", vec![INT_TYPE, DYN_TYPE], charge)?;
    environment.add_overload(SIZED, "sized", vec![DYN_TYPE], sized)?;
    environment.add_overload(COPIED, "copied", vec![DYN_TYPE], copied)?;
    environment.add_overload(CROWDED, "crowded", vec![DYN_TYPE], crowded)?;
    environment.add_overload(LOOPED, "looped", vec![DYN_TYPE], looped)?;
    environment.add_overload(COUNTED, "counted", vec![DYN_TYPE], counted)?;
    let any = |count: usize| (0..count).map(|_| DYN_TYPE).collect();
    environment.add_overload(REPLACE, "replace", any(3), replace)?;
    environment.add_overload(REPLACE, "replace_some", any(4), replace)?;
    environment.add_overload(JOIN, "join", any(1), join)?;
    environment.add_overload(JOIN, "join_with", any(2), join)?;
    environment.add_overload(INDEX_OF, "index_of", any(2), index_of)?;
    environment.add_overload(INDEX_OF, "index_of_from", any(3), index_of)?;
    environment.add_overload(LAST_INDEX_OF, "last_index_of", any(2), last_index_of)?;
    environment.add_overload(LAST_INDEX_OF, "last_index_of_from", any(3), last_index_of)?;
    patterns::declare(environment)
}

/// Takes what a value costs, and gives the value back.
fn sized<'b, 'v>(mut arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let Some(value) = arguments.pop() else {
        return Err(exceeded());
    };
    pay(length(value.as_ref()) / BYTES)?;
    Ok(value)
}

/// The same of an optional value only.
fn copied<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let is_optional = |value: &CowVal<'_, '_>| value.downcast_ref::<CelOptional<'_>>().is_some();
    match arguments.first().is_some_and(is_optional) {
        true => sized(arguments),
        false => arguments.into_iter().next().ok_or_else(exceeded),
    }
}

/// So many bytes of the items of a loop cost one. `cel` copies each item into its round, which a real server does not: it must stay far
/// below what the rounds themselves cost, but for large items.
const LOOP: u64 = 1000;

fn looped<'b, 'v>(mut arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let Some(value) = arguments.pop() else {
        return Err(exceeded());
    };
    // Of a map, only the keys are copied.
    if value.downcast_ref::<CelList<'_>>().is_some() {
        pay(length(value.as_ref()) / LOOP)?;
    }
    Ok(value)
}

/// `replace` of the extension for strings, which may make a string of the product of two lengths.
fn replace<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let text = |at: usize| {
        let argument = arguments
            .get(at)
            .and_then(|argument| argument.downcast_ref::<CelString<'_>>());
        argument
            .map(|text| text.inner().to_owned())
            .ok_or_else(|| mismatch("replace"))
    };
    let (target, old, new) = (text(0)?, text(1)?, text(2)?);
    let count = match arguments.get(3) {
        None => None,
        Some(count) => match count.downcast_ref::<CelInt>() {
            Some(count) => usize::try_from(*count.inner()).ok(),
            None => return Err(mismatch("replace")),
        },
    };
    let places = match old.len() {
        0 => target.chars().count() + 1,
        _ => target.matches(&*old).count(),
    };
    let places = places.min(count.unwrap_or(usize::MAX)) as u64;
    pay((target.len() as u64).saturating_add(places.saturating_mul(new.len() as u64)) / BYTES)?;
    let replaced = match count {
        Some(count) => target.replacen(&*old, &new, count),
        None => target.replace(&*old, &new),
    };
    Ok(CowVal::owned(CelString::from(replaced)))
}

/// `join` of the extension for lists.
fn join<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let list = arguments
        .first()
        .and_then(|list| list.downcast_ref::<CelList<'_>>());
    let items = list.ok_or_else(|| mismatch("join"))?.inner().iter();
    let items: Option<Vec<&str>> = items
        .map(|item| item.downcast_ref::<CelString<'_>>().map(|text| text.inner()))
        .collect();
    let items = items.ok_or_else(|| mismatch("join"))?;
    let between = match arguments.get(1) {
        None => "",
        Some(text) => match text.downcast_ref::<CelString<'_>>() {
            Some(text) => text.inner(),
            None => return Err(mismatch("join")),
        },
    };
    let own: u64 = items.iter().map(|item| item.len() as u64).sum();
    pay(own.saturating_add((items.len() as u64).saturating_mul(between.len() as u64)) / BYTES)?;
    Ok(CowVal::owned(CelString::from(items.join(between))))
}

/// Takes what comparing the items of a list with one another costs, and gives the list back.
fn crowded<'b, 'v>(mut arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let Some(value) = arguments.pop() else {
        return Err(exceeded());
    };
    if let Some(list) = value.downcast_ref::<CelList<'_>>() {
        let items = list.inner().len() as u64;
        pay(items.saturating_mul(length(value.as_ref())) / BYTES)?;
    }
    Ok(value)
}

/// Takes what so many items cost, and gives the number back.
fn counted<'b, 'v>(mut arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let Some(value) = arguments.pop() else {
        return Err(exceeded());
    };
    if let Some(count) = value.downcast_ref::<CelInt>() {
        pay(u64::try_from(*count.inner()).unwrap_or(0))?;
    }
    Ok(value)
}

/// The text, what is looked for, and where from.
fn searched<'a>(
    arguments: &'a [CowVal<'_, '_>],
    function: &str,
) -> Result<(&'a str, &'a str, Option<i64>), ExecutionError> {
    let text = |at: usize| {
        let argument = arguments.get(at);
        let text = argument.and_then(|argument| argument.downcast_ref::<CelString<'_>>());
        text.map(CelString::inner).ok_or_else(|| mismatch(function))
    };
    let from = match arguments.get(2) {
        None => None,
        Some(from) => Some(
            *from
                .downcast_ref::<CelInt>()
                .ok_or_else(|| mismatch(function))?
                .inner(),
        ),
    };
    let (text, part) = (text(0)?, text(1)?);
    pay((text.len() + part.len()) as u64 / BYTES)?;
    Ok((text, part, from))
}

/// Where a character is in a text; the text's end if it has fewer.
fn offset_of(text: &str, character: i64) -> usize {
    let places = text.char_indices().map(|(offset, _)| offset);
    let place = usize::try_from(character)
        .ok()
        .and_then(|at| places.clone().nth(at));
    place.unwrap_or(text.len())
}

/// Where a search from a character begins, in bytes.
fn start_of(text: &str, part: &str, from: i64, function: &str) -> Result<usize, ExecutionError> {
    let start = offset_of(text, from);
    match from < 0 || (start == text.len() && !part.is_empty()) {
        true => Err(ExecutionError::function_error(
            function,
            format!("index out of range: {from}"),
        )),
        false => Ok(start),
    }
}

/// The place as CEL counts, in characters.
fn place<'b, 'v>(text: &str, found: Option<usize>) -> CowVal<'b, 'v> {
    let at = found.map_or(-1, |at| text[..at].chars().count() as i64);
    CowVal::owned(CelInt::from(at))
}

/// `indexOf` of the extension for strings, in time that does not depend on the product of two lengths.
fn index_of<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    if let Some(at) = index_in_list(&arguments, false) {
        return at;
    }
    let (text, part, from) = searched(&arguments, "indexOf")?;
    let start = from.map_or(Ok(0), |from| start_of(text, part, from, "indexOf"))?;
    let found = text[start..].find(part).map(|at| start + at);
    Ok(place(text, found))
}

/// `lastIndexOf` in the same way: the last place that is not after the third argument.
fn last_index_of<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    if let Some(at) = index_in_list(&arguments, true) {
        return at;
    }
    let (text, part, from) = searched(&arguments, "lastIndexOf")?;
    let end = match from {
        None => text.len(),
        Some(from) => {
            let start = start_of(text, part, from, "lastIndexOf")?;
            (start + part.len()).min(text.len())
        }
    };
    let end = (0..=end).rev().find(|end| text.is_char_boundary(*end));
    Ok(place(text, text[..end.unwrap_or(0)].rfind(part)))
}

/// Where an item is in a list, and whether the arguments are a list and an item at all.
fn index_in_list<'b, 'v>(
    arguments: &[CowVal<'b, 'v>],
    from_end: bool,
) -> Option<Result<CowVal<'b, 'v>, ExecutionError>> {
    let [list, item] = arguments else { return None };
    let list = list.downcast_ref::<CelList<'_>>()?;
    if let Err(exceeded) = pay(length(list) / BYTES) {
        return Some(Err(exceeded));
    }
    let mut items = list.inner().iter();
    let is = |other: &dyn Val| other.equals(item.as_ref());
    let found = match from_end {
        true => items.rposition(|other| is(&**other)),
        false => items.position(|other| is(&**other)),
    };
    let at = found.map_or(-1, |at| at as i64);
    Some(Ok(CowVal::owned(CelInt::from(at))))
}

/// Arguments of other types.
fn mismatch(function: &str) -> ExecutionError {
    ExecutionError::no_such_overload(function, Vec::new())
}

/// Takes the cost, the first argument, and gives the second one back.
fn charge<'b, 'v>(mut arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let cost = arguments
        .first()
        .and_then(|cost| cost.downcast_ref::<CelInt>())
        .and_then(|cost| u64::try_from(*cost.inner()).ok());
    pay(cost.unwrap_or(1))?;
    arguments.pop().ok_or_else(exceeded)
}
