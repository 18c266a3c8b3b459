//! What an expression may cost at most, before anything is known of the values that it will see but their schemas.
//!
//! A real server refuses a definition whose rules may cost too much, so that some object is never refused because of what its rules
//! cost. The rules for that are those of cel-go and of Kubernetes' libraries, with what is odd in them: a definition is
//! taken or refused by these numbers.

use std::collections::{HashMap, VecDeque};

use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};

use super::checker::{Checked, Type};
use super::pairs::{KEY, PAIR, PAIRS, VALUE};
use super::parsed::{parts, room_of};
use crate::nesting;
use path::Path;
use range::Range;
use sizes::Step;

mod calls;
mod path;
mod range;
mod sizes;

pub(in crate::schema) use sizes::{Sizes, sizes_of};

/// The cost of a new list, map and object.
const LIST: Range = Range::exactly(10);
const MAP: Range = Range::exactly(30);
const OBJECT: Range = Range::exactly(40);

/// The variable of an optional value that `cel` evaluates once, and cel-go as often as it is mentioned.
const OPTIONAL: &str = "@target";

/// The most that an expression may cost, where `self` has these sizes.
pub(in crate::schema) fn most_of(checked: &Checked, of_self: &Sizes) -> u64 {
    let expression = checked.expression();
    nesting::with_room(room_of(expression), || {
        let mut estimate = Estimate {
            checked,
            of_self,
            paths: HashMap::new(),
            sizes: HashMap::new(),
            entries: HashMap::new(),
            locals: Vec::new(),
        };
        estimate.cost(expression).max
    })
}

/// The sizes of what is in a list or a map.
#[derive(Clone, Copy, Debug)]
struct Entry {
    is_list: bool,
    key: Range,
    value: Range,
}

impl Entry {
    fn or(self, other: Self) -> Self {
        Self {
            is_list: self.is_list,
            key: self.key.or(other.key),
            value: self.value.or(other.value),
        }
    }
}

/// A variable of a loop, or one that is bound.
#[derive(Clone)]
struct Local<'a> {
    name: &'a str,
    path: Path<'a>,
    size: Option<Range>,
    entry: Option<Entry>,
    /// What mentioning it costs.
    cost: Range,
}

/// What is known of an argument.
struct Argument<'a> {
    expression: &'a IdedExpr,
    path: Path<'a>,
    size: Option<Range>,
}

/// What a call costs, and how large its result is.
struct Call {
    cost: Range,
    size: Option<Range>,
}

struct Estimate<'a> {
    checked: &'a Checked,
    of_self: &'a Sizes,
    paths: HashMap<u64, Path<'a>>,
    sizes: HashMap<u64, Range>,
    entries: HashMap<u64, Entry>,
    locals: Vec<Local<'a>>,
}

impl<'a> Estimate<'a> {
    fn cost(&mut self, part: &'a IdedExpr) -> Range {
        match &part.expr {
            Expr::Unspecified | Expr::Literal(_) => Range::NONE,
            Expr::Ident(_) => self.of_name(part),
            Expr::Select(_) if self.checked.is_name(part) => self.of_name(part),
            Expr::Select(select) => {
                let cost = self.cost(&select.operand);
                if select.test {
                    return cost;
                }
                let has_fields = matches!(
                    self.checked.type_of(&select.operand),
                    Type::Map(_) | Type::Struct(_)
                );
                let path = self.path_of(&select.operand).with(Step::Field(&select.field));
                self.paths.insert(part.id, path);
                match has_fields {
                    true => cost.plus(Range::ONE),
                    false => cost,
                }
            }
            Expr::Call(call) => self.of_call(part, call),
            Expr::List(list) => {
                let (cost, items) = self.of_all(list.elements.iter());
                let entry = Entry {
                    is_list: true,
                    key: Range::ONE,
                    value: items,
                };
                self.entries.insert(part.id, entry);
                cost.plus(LIST)
            }
            Expr::Map(map) => {
                let entries = || {
                    map.entries.iter().filter_map(|entry| match &entry.expr {
                        EntryExpr::MapEntry(entry) => Some(entry),
                        EntryExpr::StructField(_) => None,
                    })
                };
                let (of_keys, key) = self.of_all(entries().map(|entry| &entry.key));
                let (of_values, value) = self.of_all(entries().map(|entry| &entry.value));
                let is_list = false;
                self.entries.insert(part.id, Entry { is_list, key, value });
                of_keys.plus(of_values).plus(MAP)
            }
            Expr::Struct(of) => {
                let fields = of.entries.iter().filter_map(|entry| match &entry.expr {
                    EntryExpr::StructField(field) => Some(&field.value),
                    EntryExpr::MapEntry(_) => None,
                });
                self.of_all(fields).0.plus(OBJECT)
            }
            Expr::Comprehension(of) if is_bind(of) => self.of_bind(part, of),
            Expr::Comprehension(of) => self.of_loop(part, of),
        }
    }

    /// What some parts cost, and how large each of them is.
    fn of_all(&mut self, parts: impl Iterator<Item = &'a IdedExpr>) -> (Range, Range) {
        let (mut cost, mut size) = (Range::NONE, None);
        for part in parts {
            cost = cost.plus(self.cost(part));
            let of = self.size_or_any(part);
            size = Some(size.map_or(of, |size: Range| size.or(of)));
        }
        (cost, size.unwrap_or(Range::NONE))
    }

    fn of_name(&mut self, part: &'a IdedExpr) -> Range {
        let (path, cost) = match self.local(part) {
            Some(local) => (local.path.clone(), local.cost),
            None => (Path::default().with(Step::Field("self")), Range::ONE),
        };
        self.paths.insert(part.id, path);
        cost
    }

    fn of_call(&mut self, part: &'a IdedExpr, call: &'a CallExpr) -> Range {
        if matches!(&*call.func_name, KEY | VALUE) {
            return self.of_name(part);
        }
        let mut costs = Vec::new();
        let mut arguments = Vec::new();
        for argument in &call.args {
            costs.push(self.cost(argument));
            arguments.push(self.argument(argument));
        }
        if let ("dyn", [argument], [cost]) = (&*call.func_name, &*call.args, &*costs) {
            self.copy_sizes(part, argument);
            return cost.plus(Range::ONE);
        }
        let checked = self.checked;
        let Some(called) = checked.called(part) else {
            return Range::NONE;
        };
        let target = call.target.as_deref().filter(|_| called.is_member);
        let of_target = target.map_or(Range::NONE, |target| self.cost(target));
        let target = target.map(|target| self.argument(target));
        let (mut cost, mut size) = (Range::EMPTY, None);
        for overload in &called.overloads {
            let one = self.of_overload(part, called, overload, target.as_ref(), &arguments, &costs);
            cost = cost.or(one.cost);
            size = match (size, one.size) {
                (Some(size), Some(one)) => Some(Range::or(size, one)),
                (size, one) => size.or(one),
            };
            if let (operators::INDEX, [of, _]) = (&*called.name, &*call.args) {
                let step = match overload.arguments.first() {
                    Some(Type::List(_)) => Some(Step::Item),
                    Some(Type::Map(_)) => Some(Step::Value),
                    _ => None,
                };
                if let Some(step) = step {
                    size = self.entry_of(of).map(|entry| entry.value);
                    let path = self.path_of(of).with(step);
                    self.paths.insert(part.id, path);
                }
            }
            size = size.or_else(|| self.size_of(part));
        }
        if let Some(size) = size {
            self.sizes.insert(part.id, size);
        }
        of_target.plus(cost)
    }

    fn argument(&mut self, part: &'a IdedExpr) -> Argument<'a> {
        Argument {
            expression: part,
            path: self.path_of(part),
            size: self.size_of(part),
        }
    }

    fn of_bind(&mut self, part: &'a IdedExpr, of: &'a ComprehensionExpr) -> Range {
        let around = self.cost(&of.iter_range);
        let value = self.cost(&of.accu_init);
        let (bind, mention) = match &*of.accu_var {
            OPTIONAL => (Range::NONE, value),
            _ if is_of_pair(&of.accu_init) => (Range::NONE, Range::ONE),
            _ => (around.plus(value), Range::ONE),
        };
        match self.local(&of.accu_init).filter(|_| is_of_pair(&of.accu_init)) {
            // Where a variable is found is looked up where it is mentioned.
            Some(local) => {
                let local = Local {
                    name: &of.accu_var,
                    ..local.clone()
                };
                self.locals.push(local);
            }
            None => self.push_bound(&of.accu_var, &of.accu_init, mention),
        }
        let cost = bind.plus(self.cost(&of.result));
        self.locals.pop();
        self.copy_sizes(part, &of.result);
        cost
    }

    fn of_loop(&mut self, part: &'a IdedExpr, of: &'a ComprehensionExpr) -> Range {
        let range = ranged(of);
        let mut cost = self.cost(range).plus(self.cost(&of.accu_init));
        let around = self.locals.len();
        self.push_bound(&of.accu_var, &of.accu_init, Range::ONE);
        self.push_round(of, range);
        let round = self.cost(&of.loop_cond);
        let round = round.plus(self.cost(&of.loop_step));
        self.locals.truncate(around + 1);
        cost = cost.plus(self.cost(&of.result));
        self.locals.truncate(around);
        let rounds = self.size_or_any(range);
        match &of.accu_init.expr {
            Expr::Literal(_) => {
                if let Some(size) = self.size_of(&of.accu_init) {
                    self.sizes.insert(part.id, size);
                }
            }
            Expr::List(_) | Expr::Map(_) => {
                self.sizes.insert(part.id, rounds);
                if let Some(entry) = self.entry_of(&of.loop_step) {
                    self.entries.insert(part.id, entry);
                }
            }
            _ => {}
        }
        cost.plus(rounds.times(round))
    }

    /// The variables of a round.
    fn push_round(&mut self, of: &'a ComprehensionExpr, range: &'a IdedExpr) {
        let entry = self.entry_of(range);
        let is_list = match entry {
            Some(entry) => entry.is_list,
            None => matches!(self.checked.type_of(range), Type::List(_)),
        };
        let key = (
            entry.map(|entry| entry.key),
            if is_list { Step::Index } else { Step::Key },
        );
        let value = (
            entry.map(|entry| entry.value),
            if is_list { Step::Item } else { Step::Value },
        );
        let one = if is_list { value } else { key };
        let variables = match of.iter_var == PAIR {
            true => vec![(KEY, key), (VALUE, value)],
            false => vec![(&*of.iter_var, one)],
        };
        for (name, (size, step)) in variables {
            // In a real server, the first variable of a pair may hide what the loop goes through.
            let is_hidden = name == VALUE && is_named(range, first_of_pair(&of.loop_step));
            let path = match self.locals.last().filter(|_| is_hidden) {
                Some(key) => key.path.with(step),
                None => self.path_of(range).with(step),
            };
            self.locals.push(Local {
                name,
                path,
                size,
                entry: None,
                cost: Range::ONE,
            });
        }
    }

    fn push_bound(&mut self, name: &'a str, to: &'a IdedExpr, cost: Range) {
        let local = Local {
            name,
            path: self.path_of(to),
            size: self.size_of(to),
            entry: self.entry_of(to),
            cost,
        };
        self.locals.push(local);
    }

    /// The variable that is mentioned.
    fn local(&self, part: &IdedExpr) -> Option<&Local<'a>> {
        let name = match &part.expr {
            Expr::Ident(name) => name,
            Expr::Call(call) if is_of_pair(part) => &call.func_name,
            _ => return None,
        };
        self.locals.iter().rev().find(|local| local.name == name)
    }

    fn path_of(&self, part: &IdedExpr) -> Path<'a> {
        match self.local(part) {
            Some(local) => local.path.clone(),
            None => self.paths.get(&part.id).cloned().unwrap_or_default(),
        }
    }

    /// The size of what is found in an object.
    fn found(&self, path: &Path<'_>) -> Option<Range> {
        let sizes = path.of(self.of_self)?;
        Some(Range::up_to(sizes.most))
    }

    fn entry_of(&self, part: &IdedExpr) -> Option<Entry> {
        let of_local = || self.local(part).and_then(|local| local.entry);
        self.entries.get(&part.id).copied().or_else(of_local)
    }

    fn size_of(&mut self, part: &IdedExpr) -> Option<Range> {
        if let Some(size) = self.sizes.get(&part.id).copied().or_else(|| written(part)) {
            return Some(size);
        }
        if let Some(size) = self.found(&self.path_of(part)) {
            self.sizes.insert(part.id, size);
            return Some(size);
        }
        if self.is_scalar(self.checked.type_of(part)) {
            return Some(Range::ONE);
        }
        self.local(part).and_then(|local| local.size)
    }

    /// Whether all values of a type have one size.
    fn is_scalar(&self, of: &Type) -> bool {
        match of {
            Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => true,
            of => of
                .in_optional()
                .is_some_and(|of| self.is_scalar(self.checked.known(of))),
        }
    }

    fn size_or_any(&mut self, part: &IdedExpr) -> Range {
        self.size_of(part).unwrap_or(Range::ANY)
    }

    fn copy_sizes(&mut self, to: &IdedExpr, from: &IdedExpr) {
        if let Some(size) = self.size_of(from) {
            self.sizes.insert(to.id, size);
        }
        if let Some(entry) = self.entry_of(from) {
            self.entries.insert(to.id, entry);
        }
    }
}

/// The size of what is written in the expression.
fn written(part: &IdedExpr) -> Option<Range> {
    let size = match &part.expr {
        Expr::Literal(LiteralValue::String(text)) => text.inner().chars().count(),
        Expr::Literal(LiteralValue::Bytes(bytes)) => bytes.inner().len(),
        Expr::Literal(_) => 1,
        Expr::List(list) => list.elements.len(),
        Expr::Map(map) => map.entries.len(),
        _ => return None,
    };
    Some(Range::exactly(size as u64))
}

/// What a loop goes through.
fn ranged(of: &ComprehensionExpr) -> &IdedExpr {
    match &of.iter_range.expr {
        Expr::Call(call) if call.func_name == PAIRS => call.args.first().unwrap_or(&of.iter_range),
        _ => &of.iter_range,
    }
}

/// Whether it is the key or the value of a round with two variables.
fn is_of_pair(part: &IdedExpr) -> bool {
    matches!(&part.expr, Expr::Call(call) if matches!(&*call.func_name, KEY | VALUE))
}

/// Whether it mentions a variable of this name.
fn is_named(part: &IdedExpr, name: Option<&str>) -> bool {
    matches!(&part.expr, Expr::Ident(mentioned) if Some(&**mentioned) == name)
}

/// The name of the first of two variables, by the part of a loop that binds it.
fn first_of_pair(step: &IdedExpr) -> Option<&str> {
    let mut open = VecDeque::from([step]);
    while let Some(part) = open.pop_front() {
        match &part.expr {
            Expr::Comprehension(of) if is_of_pair(&of.accu_init) => return Some(&of.accu_var),
            _ => open.extend(parts(part)),
        }
    }
    None
}

/// Whether it is no loop, but binds a variable.
fn is_bind(of: &ComprehensionExpr) -> bool {
    let is_empty = matches!(&of.iter_range.expr, Expr::List(list) if list.elements.is_empty());
    let never =
        matches!(&of.loop_cond.expr, Expr::Literal(LiteralValue::Boolean(goes_on)) if !*goes_on.inner());
    is_empty && never
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::checker::{Declared, checked, type_of};
    use super::*;

    /// What a schema describes, as `costs.txt` has it.
    fn described() -> Value {
        let text = |most: u32| json!({"type": "string", "maxLength": most});
        let list = |most: u32, items: Value| json!({"type": "array", "maxItems": most, "items": items});
        let map = |most: u32, values: Value| json!({"type": "object", "maxProperties": most, "additionalProperties": values});
        let object = |properties: Value| json!({"type": "object", "properties": properties});
        let item = json!({"type": "object", "required": ["k", "v"], "properties": {
            "k": text(8), "v": {"type": "integer"}, "t": list(3, text(4)),
        }});
        let named = object(json!({"name": text(8), "tags": list(3, text(4))}));
        let within = object(json!({"x": list(2, text(30)), "ns": list(20, named)}));
        object(json!({
            "n": {"type": "integer"}, "d": {"type": "number"}, "b": {"type": "boolean"},
            "s": {"type": "string"}, "s5": text(5), "e": {"type": "string", "enum": ["a", "bbb"]},
            "by": {"type": "string", "format": "byte"}, "by9": {"type": "string", "format": "byte", "maxLength": 9},
            "dur": {"type": "string", "format": "duration"}, "date": {"type": "string", "format": "date"},
            "time": {"type": "string", "format": "date-time"},
            "l": {"type": "array", "items": {"type": "integer"}}, "l7": list(7, json!({"type": "integer"})),
            "ls": {"type": "array", "items": {"type": "string"}}, "ls7": list(7, text(10)),
            "lo": list(20, item), "ll": list(5, list(6, text(3))),
            "m": {"type": "object", "additionalProperties": {"type": "string"}}, "m9": map(9, text(6)),
            "mo": map(4, object(json!({"x": text(2)}))),
            "ios": {"x-kubernetes-int-or-string": true}, "ios4": {"x-kubernetes-int-or-string": true, "maxLength": 4},
            "o": object(json!({"namespace": text(63), "a-b": {"type": "string"}, "in": within})),
            "emb": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
        }))
    }

    fn costs_of(expression: &str) -> u64 {
        let schema = described();
        let of = type_of(&schema, true, "self").expect("it has a type");
        let sizes = sizes_of(&schema, true).expect("it has sizes");
        let declared = Declared::default().with("self", of.clone()).with("oldSelf", of);
        let checked = checked(expression, &declared).unwrap_or_else(|why| panic!("{expression}: {why}"));
        most_of(&checked, &sizes)
    }

    #[test]
    fn costs_are_those_of_a_real_server() {
        for line in include_str!("estimate/costs.txt").lines() {
            let (cost, expression) = line.split_once(' ').expect("a cost and an expression");
            assert_eq!(costs_of(expression).to_string(), cost, "{expression}");
        }
    }

    #[test]
    fn what_is_mentioned_twice_again_and_again_takes_no_longer() {
        let many = ".optMap(x, x)".repeat(80);
        assert_eq!(costs_of(&format!("self.?s5{many}.hasValue()")), u64::MAX);
    }

    #[test]
    fn deep_expressions_are_estimated_on_any_thread() {
        let thread = std::thread::Builder::new().stack_size(256 * 1024);
        let found = thread.spawn(|| costs_of(&format!("self.n > 1{}", "+1".repeat(240))));
        assert_eq!(found.expect("a thread").join().expect("it has enough stack"), 243);
    }
}
