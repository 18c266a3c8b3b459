//! Puts what an expression costs into the expression itself.

use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};

use super::charged::{COPIED, COUNTED, CROWDED, INDEX_OF, JOIN, LAST_INDEX_OF, LOOPED, REPLACE, SIZED};
use super::patterns::{FIND, FIND_ALL, FIND_ALL_KEPT, MATCHES};
use super::purse::CHARGE;
use crate::schema::cel::parsed::VARIABLES;
use crate::schema::cel::parsed::each_part;

/// What making a list or a map costs.
const CONTAINER: u64 = 10;

/// What may not be evaluated has a charge of its own if it costs so much: a charge takes time, too.
const LARGE: u64 = 5;

/// The expression with a charge for each round of its loops.
pub(in crate::schema::cel) fn metered(mut expression: IdedExpr) -> IdedExpr {
    meter(&mut expression);
    expression
}

/// Returns what the expression costs outside of its loops.
fn meter(expression: &mut IdedExpr) -> u64 {
    match &mut expression.expr {
        Expr::Unspecified | Expr::Literal(_) => 0,
        Expr::Ident(_) => 1,
        Expr::Select(select) => u64::from(!select.test) + meter(&mut select.operand),
        Expr::Call(call) if branches(call) => {
            let [first, rest @ ..] = &mut call.args[..] else {
                return 0;
            };
            let rest = rest.iter_mut().map(meter_branch);
            let rest = match call.func_name.as_str() {
                operators::CONDITIONAL => rest.max().unwrap_or(0),
                _ => rest.sum(),
            };
            meter(first) + rest
        }
        Expr::Call(call) => {
            let target = call.target.as_mut().map_or(0, |target| meter(target));
            let cost = 1 + target + call.args.iter_mut().map(meter).sum::<u64>();
            bound(call);
            read(call);
            if makes(call) {
                size(expression);
            }
            cost
        }
        Expr::List(list) => CONTAINER + list.elements.iter_mut().map(meter_part).sum::<u64>(),
        Expr::Map(map) => {
            CONTAINER
                + map
                    .entries
                    .iter_mut()
                    .map(|entry| meter_entry(&mut entry.expr))
                    .sum::<u64>()
        }
        Expr::Struct(structure) => {
            let entries = structure.entries.iter_mut();
            CONTAINER + entries.map(|entry| meter_entry(&mut entry.expr)).sum::<u64>()
        }
        Expr::Comprehension(of) => {
            // They are copied. What is in a list, or was made by the rounds, has been charged for.
            let ends = [&mut of.accu_init, &mut of.result].map(|part| match &part.expr {
                Expr::List(_) => meter(part),
                Expr::Ident(name) if *name == of.accu_var => meter(part),
                _ => meter_part(part),
            });
            let once = meter(&mut of.iter_range) + ends.iter().sum::<u64>();
            let round = meter(&mut of.loop_cond) + meter_step(&mut of.loop_step);
            wrapped(&mut of.iter_range, LOOPED);
            // The condition, unless it is none: then `cel` recognizes steps of some shapes, which must stay.
            match of.loop_cond.expr {
                Expr::Literal(_) => charge_for_step(&mut of.loop_step, round.max(1)),
                _ => charge_for(&mut of.loop_cond, round.max(1)),
            }
            once
        }
    }
}

/// Whether some of what an expression selects from may be an optional value.
pub(super) fn has_optional(expression: &IdedExpr, optional_old: bool) -> bool {
    let references = expression.references();
    let calls = [operators::OPT_SELECT, operators::OPT_INDEX].map(|name| references.has_function(name));
    let names = ["optional", VARIABLES].map(|name| references.has_variable(name));
    calls.contains(&true) || names.contains(&true) || optional_old && references.has_variable("oldSelf")
}

/// Charges for what becomes an optional value, which is copied: what is selected from one, too.
pub(super) fn meter_optional(expression: &mut IdedExpr) {
    name_types(expression);
    each_part(expression, &mut meter_optional);
    let is_copied = match &expression.expr {
        Expr::Select(select) => !select.test,
        Expr::Call(call) => OPTIONAL.contains(&&*call.func_name),
        _ => false,
    };
    if is_copied {
        wrapped(expression, COPIED);
    }
}

/// What makes optional values: the first only of others.
const OPTIONAL: [&str; 5] = [
    operators::INDEX,
    operators::OPT_INDEX,
    operators::OPT_SELECT,
    "of",
    "ofNonZeroValue",
];

/// Makes one name of that of a type, from which nothing is selected.
fn name_types(expression: &mut IdedExpr) {
    if let Expr::Select(select) = &expression.expr
        && !select.test
        && let Expr::Select(package) = &select.operand.expr
        && package.field == "protobuf"
        && matches!(&package.operand.expr, Expr::Ident(name) if name == "google")
    {
        expression.expr = Expr::Ident(format!("google.protobuf.{}", select.field));
    }
}

fn meter_entry(entry: &mut EntryExpr) -> u64 {
    match entry {
        EntryExpr::StructField(field) => meter_part(&mut field.value),
        EntryExpr::MapEntry(entry) => meter_part(&mut entry.key) + meter_part(&mut entry.value),
    }
}

/// The same of what is copied into a list or a map.
fn meter_part(part: &mut IdedExpr) -> u64 {
    let cost = meter(part);
    let is_sized = matches!(&part.expr, Expr::Call(call) if call.func_name == SIZED);
    if !is_sized && !matches!(part.expr, Expr::Literal(_)) {
        size(part);
    }
    cost
}

/// Whether what comes after the first argument of a call may not be evaluated. The call itself costs nothing, as in a real server.
fn branches(call: &CallExpr) -> bool {
    matches!(
        (&*call.func_name, call.args.len()),
        (operators::CONDITIONAL, 3) | (operators::LOGICAL_AND | operators::LOGICAL_OR, 2)
    )
}

/// The same of what may not be evaluated: it is charged for when it is, unless it is little.
fn meter_branch(part: &mut IdedExpr) -> u64 {
    let cost = meter(part);
    if cost < LARGE {
        return cost;
    }
    charge_for(part, cost);
    0
}

/// The same of the step of a loop, in which `cel` recognizes what adds to a list: only what is added has a size.
fn meter_step(step: &mut IdedExpr) -> u64 {
    let Expr::Call(call) = &mut step.expr else {
        return meter(step);
    };
    match (call.func_name.as_str(), &mut call.args[..]) {
        (operators::CONDITIONAL, [condition, one, other]) => {
            let (cost, other) = (meter_step(one), meter_step(other));
            match added(one).filter(|_| cost >= LARGE) {
                // It is charged for where something is added.
                Some(part) => {
                    charge_for(part, cost);
                    meter(condition) + other
                }
                None => meter(condition) + cost.max(other),
            }
        }
        (operators::ADD, [one, other]) => 1 + meter_step(one) + meter_step(other),
        // The first is what the rounds before came to, the second what is asked in each.
        (operators::LOGICAL_AND | operators::LOGICAL_OR, [one, other]) => meter(one) + meter(other),
        _ => meter(step),
    }
}

/// Whether a call may make something large.
fn makes(call: &CallExpr) -> bool {
    const OTHERS: [&str; 23] = [
        operators::ADD,
        "escapeKey",
        "format",
        "lowerAscii",
        "upperAscii",
        "reverse",
        "trim",
        "split",
        "substring",
        "string",
        "bytes",
        "flatten",
        "quote",
        "strings.quote",
        "getEscapedPath",
        "getQuery",
        "getScheme",
        "getHost",
        "getHostname",
        "getPort",
        FIND,
        FIND_ALL,
        FIND_ALL_KEPT,
    ];
    OTHERS.contains(&&*call.func_name) || RIGHTS.contains(&&*call.func_name)
}

/// What names the rights that it makes.
const RIGHTS: [&str; 9] = [
    "path",
    "group",
    "serviceAccount",
    "resource",
    "subresource",
    "namespace",
    "name",
    "fieldSelector",
    "labelSelector",
];

/// Has those functions charged before they begin whose costs depend on more than one argument.
fn bound(call: &mut CallExpr) {
    let name = match (call.func_name.as_str(), call.args.len(), &call.target) {
        ("replace", 2 | 3, Some(_)) => REPLACE,
        ("join", 0 | 1, Some(_)) => JOIN,
        ("indexOf", 1 | 2, Some(_)) => INDEX_OF,
        ("lastIndexOf", 1 | 2, Some(_)) => LAST_INDEX_OF,
        ("matches", 1, Some(_)) | ("matches", 2, None) => MATCHES,
        _ => return,
    };
    call.func_name = name.to_owned();
    call.args.splice(0..0, call.target.take().map(|target| *target));
}

/// What reads its arguments as a whole.
const WHOLE: [&str; 46] = [
    operators::EQUALS,
    operators::NOT_EQUALS,
    operators::LESS,
    operators::LESS_EQUALS,
    operators::GREATER,
    operators::GREATER_EQUALS,
    operators::IN,
    "contains",
    "startsWith",
    "endsWith",
    "size",
    "charAt",
    "split",
    "substring",
    "slice",
    "sort",
    "@sortByAssociatedKeys",
    "flatten",
    "reverse",
    "int",
    "uint",
    "double",
    "bool",
    "bytes",
    "timestamp",
    "duration",
    "quantity",
    "isQuantity",
    "semver",
    "isSemver",
    "ip",
    "isIP",
    "cidr",
    "isCIDR",
    "containsIP",
    "containsCIDR",
    "isGreaterThan",
    "isLessThan",
    "compareTo",
    "url",
    "isURL",
    "validate",
    "isSorted",
    "sum",
    "min",
    "max",
];

/// Charges for what a call reads as a whole before it begins.
fn read(call: &mut CallExpr) {
    let wrap: fn(&mut IdedExpr) = match call.func_name.as_str() {
        "distinct" => |part| wrapped(part, CROWDED),
        "contains" | "equivalent" | "intersects" if is_of_sets(call) => {
            return call.args.iter_mut().for_each(size);
        }
        "range" => return call.args.iter_mut().for_each(|part| wrapped(part, COUNTED)),
        // What they are called on is no value.
        "isCanonical" | "named" | "escapeKey" => return call.args.iter_mut().for_each(size),
        name if RIGHTS.contains(&name) => return call.args.iter_mut().for_each(size),
        name if WHOLE.contains(&name) => size,
        _ => return,
    };
    let parts = call.target.as_deref_mut().into_iter().chain(&mut call.args);
    // The size of a literal is that of the expression.
    parts
        .filter(|part| !matches!(part.expr, Expr::Literal(_)))
        .for_each(wrap);
}

/// Whether a call is one of the functions of sets, which pay for comparing each item with each other themselves.
fn is_of_sets(call: &CallExpr) -> bool {
    call.args.len() == 2
        && matches!(call.target.as_deref(), Some(IdedExpr { expr: Expr::Ident(name), .. }) if name == "sets")
}

/// Charges for the size of what an expression comes to.
fn size(expression: &mut IdedExpr) {
    wrapped(expression, SIZED);
}

/// Puts a call of one argument around an expression.
fn wrapped(expression: &mut IdedExpr, function: &str) {
    let inner = std::mem::take(expression);
    *expression = IdedExpr {
        id: inner.id,
        expr: Expr::Call(CallExpr {
            func_name: function.to_owned(),
            target: None,
            args: vec![inner],
        }),
    };
}

/// Charges in the part of a step that each round evaluates: what a step depends on, what it adds to a list, or all of it.
fn charge_for_step(step: &mut IdedExpr, cost: u64) {
    if let Expr::Call(call) = &mut step.expr
        && call.func_name == operators::CONDITIONAL
        && let Some(condition) = call.args.first_mut()
    {
        return charge_for(condition, cost);
    }
    match added(step) {
        Some(part) => charge_for(part, cost),
        None => charge_for(step, cost),
    }
}

/// What a step adds to a list.
fn added(step: &mut IdedExpr) -> Option<&mut IdedExpr> {
    let Expr::Call(call) = &mut step.expr else {
        return None;
    };
    match (
        call.func_name.as_str(),
        call.args.last_mut().map(|last| &mut last.expr),
    ) {
        (operators::ADD, Some(Expr::List(list))) => list.elements.first_mut(),
        _ => None,
    }
}

fn charge_for(part: &mut IdedExpr, cost: u64) {
    let inner = std::mem::take(part);
    let id = inner.id;
    let cost = i64::try_from(cost).unwrap_or(i64::MAX);
    let cost = IdedExpr {
        id,
        expr: Expr::Literal(LiteralValue::Int(cost.into())),
    };
    *part = IdedExpr {
        id,
        expr: Expr::Call(CallExpr {
            func_name: CHARGE.to_owned(),
            target: None,
            args: vec![cost, inner],
        }),
    };
}
