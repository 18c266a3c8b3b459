//! What is wrong with an expression before it is evaluated: names and functions that there are not, fields that a type has not, and
//! arguments that a function does not take. The rules and the words are those of cel-go.
//!
//! # Limits
//!
//! An expression whose types are too large to be compared is not checked further.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use cel::Program;
use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, ListExpr, LiteralValue, MapExpr, SelectExpr,
    StructExpr, operators,
};

use super::pairs::{KEY, PAIRS, VALUE};
use super::parsed::{parsed, room_of};
use super::{typed, values};
use crate::nesting;
use crate::schema::Pattern;
use declarations::function;
use substitutions::{Known, Steps, Substitutions, more_general};
use types::{Fields, Joined, limited};

pub(super) use declarations::Overload;
pub(crate) use types::Type;

mod admission;
mod declarations;
mod declared;
mod formats;
mod substitutions;
mod types;

pub(super) use declared::{NAMES, has_metadata};
pub(in crate::schema) use declared::{each, property, type_of};

/// The most faults of an expression that are told, as in cel-go.
const MOST_FAULTS: usize = 100;

/// A line of so many bytes is shown with a fault, as by cel-go.
const LONGEST_LINE: usize = 16_384;

/// So many bytes of the expression may be shown with its faults.
const MOST_SHOWN: usize = 256 * 1024;

/// What an expression may mention.
#[derive(Clone, Default)]
pub(crate) struct Declared {
    variables: BTreeMap<String, Type>,
    /// Whether objects may be made whose types policies have.
    pub(crate) makes: bool,
    /// For all expressions that are checked with these, and with what was made of these.
    steps: Steps,
}

impl Declared {
    pub(crate) fn with(mut self, name: &str, of: Type) -> Self {
        self.variables.insert(name.to_owned(), of);
        self
    }

    /// The type of a name.
    fn get(&self, name: &str) -> Option<Type> {
        let of_own = || (self.makes && typed::is_known(name)).then(|| Type::Meta(Some(made(name).into())));
        let variable = self.variables.get(name).cloned();
        variable.or_else(|| declarations::named(name)).or_else(of_own)
    }

    fn calls(&self, name: &str) -> Option<&'static [Overload]> {
        let is_of_patches = name.starts_with("jsonpatch.");
        function(name).filter(|_| self.makes || !is_of_patches)
    }
}

/// The type of objects that policies make.
fn made(name: &str) -> Type {
    if name != "JSONPatch" {
        return Type::of_any_fields(name);
    }
    let texts = ["op", "path", "from"].map(|name| (name.to_owned(), Type::String));
    Type::of_fields(name, texts.into_iter().chain([("value".to_owned(), Type::Dyn)]))
}

/// An expression whose parts have types.
pub(crate) struct Checked {
    program: Program,
    /// Nothing if its types are too large.
    of: Option<Type>,
    known: Known,
    found: Found,
}

/// What was found of the parts of an expression, by their ids.
#[derive(Default)]
struct Found {
    types: HashMap<u64, Type>,
    calls: HashMap<u64, Called>,
    /// What selects no field, but spells a name.
    names: HashSet<u64>,
}

/// What a call calls.
pub(super) struct Called {
    /// With the namespace that it is in.
    pub(super) name: String,
    pub(super) is_member: bool,
    /// All that take the arguments.
    pub(super) overloads: Vec<&'static Overload>,
}

impl Checked {
    /// The type that the expression comes to; nothing if its types are too large to be compared.
    pub(crate) fn of(&self) -> Option<&Type> {
        self.of.as_ref()
    }

    pub(super) fn expression(&self) -> &IdedExpr {
        self.program.expression()
    }

    /// The type of a part. What it is made of may be parameters, which are [known](Self::known).
    pub(super) fn type_of(&self, part: &IdedExpr) -> &Type {
        self.found
            .types
            .get(&part.id)
            .map_or(&Type::Dyn, |of| self.known(of))
    }

    /// What a parameter stands for.
    pub(super) fn known<'a>(&'a self, of: &'a Type) -> &'a Type {
        self.known.resolved(of)
    }

    pub(super) fn called(&self, call: &IdedExpr) -> Option<&Called> {
        self.found.calls.get(&call.id)
    }

    pub(super) fn is_name(&self, select: &IdedExpr) -> bool {
        self.found.names.contains(&select.id)
    }
}

/// An expression with the types of its parts, or everything that is wrong with it.
pub(crate) fn checked(expression: &str, declared: &Declared) -> Result<Checked, String> {
    let program = parsed(expression).map_err(|error| {
        // cel-go puts a space before the lines that it shows.
        format!("compilation failed: {}", error.replace("\n|", "\n |"))
    })?;
    let mut check = Check {
        declared,
        scopes: Vec::new(),
        known: Substitutions::new(declared.steps.clone()),
        found: Found::default(),
        literals: Vec::new(),
        formats: 0,
        texts: Vec::new(),
        formatted: Vec::new(),
        faults: Vec::new(),
        more: 0,
    };
    let room = room_of(program.expression());
    let of = nesting::with_room(room, || {
        let found = check.type_of(program.expression());
        if check.faults.is_empty() && !check.known.is_tired() {
            check.check_literals();
            // Types that could not be compared any more differ from all others.
            if check.known.is_tired() {
                check.faults.clear();
            }
        }
        let of = check.known.applied(&found, true);
        (!check.known.is_tired()).then_some(of)
    });
    let Check {
        known,
        found,
        faults,
        more,
        ..
    } = check;
    match faults.is_empty() {
        true => Ok(Checked {
            program,
            of,
            known: known.into(),
            found,
        }),
        false => Err(format!("compilation failed: {}", said(&program, faults, more))),
    }
}

/// What is wrong with a part of an expression.
struct Fault {
    at: u64,
    why: String,
}

/// Faults as cel-go shows them, in the order of their places.
fn said(program: &Program, faults: Vec<Fault>, more: usize) -> String {
    let info = program.source_info();
    let start = |fault: &Fault| info.offset_for(fault.at).map_or(0, |(start, _)| start as usize);
    let mut faults: Vec<_> = faults
        .into_iter()
        .map(|fault| (start(&fault), fault.why))
        .collect();
    faults.sort_by_key(|(start, _)| *start);
    let most = (MOST_SHOWN / info.source.len().max(1)).clamp(1, MOST_FAULTS);
    let more = more + faults.len().saturating_sub(most);
    let mut lines: Vec<_> = faults
        .into_iter()
        .take(most)
        .map(|(start, why)| shown(&info.source, start, &why))
        .collect();
    if more > 0 {
        lines.push(format!("{more} more errors were truncated"));
    }
    lines.join("\n")
}

/// A fault at a place of an expression, with its line.
fn shown(source: &str, start: usize, why: &str) -> String {
    let before = source.get(..start).unwrap_or(source);
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|found| *found != '\n').count() + 1;
    let told = format!("ERROR: <input>:{line}:{column}: {why}");
    let source = source.lines().nth(line - 1).unwrap_or("");
    if source.len() > LONGEST_LINE {
        return told;
    }
    // What takes more than a byte has marks as wide as it may be.
    let mut letters = source.chars();
    let before = letters.by_ref().take(column - 1);
    let dots: String = before
        .map(|letter| if letter.is_ascii() { '.' } else { '\u{ff0e}' })
        .collect();
    let mark = if letters.next().is_none_or(|letter| letter.is_ascii()) {
        '^'
    } else {
        '\u{ff3e}'
    };
    let source = source.replace('\t', " ");
    format!("{told}\n | {source}\n | {dots}{mark}")
}

struct Check<'a> {
    declared: &'a Declared,
    /// The variables of the loops around.
    scopes: Vec<(&'a str, Type)>,
    known: Substitutions,
    found: Found,
    /// The types of what stands beside one another in lists and maps, each with its place.
    literals: Vec<Vec<(u64, Type)>>,
    /// How many calls are around that take lists of anything.
    formats: usize,
    /// Texts that a function reads, and the function.
    texts: Vec<(u64, &'static str, &'a str)>,
    /// Calls that put what they are given into a text.
    formatted: Vec<(u64, &'a str, &'a [IdedExpr])>,
    faults: Vec<Fault>,
    /// How many faults there are beyond those.
    more: usize,
}

impl<'a> Check<'a> {
    fn fault(&mut self, at: u64, why: fmt::Arguments<'_>) -> Type {
        match self.faults.len() < MOST_FAULTS {
            true => self.faults.push(Fault {
                at,
                why: limited(why),
            }),
            false => self.more += 1,
        }
        Type::Error
    }

    fn undeclared(&mut self, at: u64, name: &str) -> Type {
        self.fault(
            at,
            format_args!("undeclared reference to '{name}' (in container '')"),
        )
    }

    fn mismatch(&mut self, at: u64, wanted: &Type, found: &Type) -> Type {
        self.fault(at, format_args!("expected type '{wanted}' but found '{found}'"))
    }

    fn variable(&self, name: &str) -> Option<Type> {
        let inner = self.scopes.iter().rev().find(|(known, _)| *known == name);
        inner
            .map(|(_, of)| of.clone())
            .or_else(|| self.declared.get(name))
    }

    fn type_of(&mut self, expression: &'a IdedExpr) -> Type {
        let at = expression.id;
        let found = match &expression.expr {
            Expr::Unspecified => Type::Dyn,
            Expr::Literal(literal) => of_literal(literal),
            Expr::Ident(name) => match self.variable(name) {
                Some(of) => of,
                None => self.undeclared(at, name),
            },
            Expr::Select(select) => self.of_select(expression, select),
            Expr::Call(call) => self.of_call(at, call),
            Expr::List(list) => self.of_list(list),
            Expr::Map(map) => self.of_map(map),
            Expr::Struct(of) => self.of_struct(at, of),
            Expr::Comprehension(of) => self.of_loop(of),
        };
        let found = self.known.limited(found);
        self.found.types.insert(at, found.clone());
        found
    }

    fn of_select(&mut self, expression: &'a IdedExpr, select: &'a SelectExpr) -> Type {
        if let Some(of) = qualified(expression).and_then(|name| self.variable(&name)) {
            self.found.names.insert(expression.id);
            return of;
        }
        let found = self.of_field(expression.id, &select.operand, &select.field, false);
        match select.test {
            true => Type::Bool,
            false => self.known.applied(&found, false),
        }
    }

    /// The type of a field; `is_optional` if it may be missing.
    fn of_field(&mut self, at: u64, operand: &'a IdedExpr, field: &str, is_optional: bool) -> Type {
        let operand = self.type_of(operand);
        let operand = self.known.applied(&operand, false);
        let target = operand.in_optional().unwrap_or(&operand);
        let found = match target {
            Type::Map(entry) => entry.1.clone(),
            Type::Struct(of) => match &of.fields {
                Fields::Any => Type::Dyn,
                Fields::These(fields) => match declared::field(fields, field) {
                    Some(of) => of.clone(),
                    None => self.fault(at, format_args!("undefined field '{field}'")),
                },
            },
            Type::Parameter(_) => {
                self.known.assignable(&Type::Dyn, target);
                Type::Dyn
            }
            // Kubernetes' own, of which cel-go knows that they have fields, but not which.
            Type::Opaque(name, _) if name.starts_with("kubernetes.") => {
                self.fault(at, format_args!("unexpected failed resolution of '{name}'"))
            }
            target => {
                if !target.is_dyn_or_error() {
                    self.fault(
                        at,
                        format_args!("type '{target}' does not support field selection"),
                    );
                }
                Type::Dyn
            }
        };
        match is_optional || operand.in_optional().is_some() {
            true => Type::optional(found),
            false => found,
        }
    }

    fn of_call(&mut self, at: u64, call: &'a CallExpr) -> Type {
        let name = &*call.func_name;
        if let (operators::OPT_SELECT, [operand, field]) = (name, &*call.args) {
            let Expr::Literal(LiteralValue::String(field)) = &field.expr else {
                return self.fault(field.id, format_args!("unsupported optional field selection"));
            };
            let found = self.of_field(at, operand, field.inner(), true);
            let overloads = self.declared.calls(name).into_iter().flatten();
            self.note_call(at, name, false, overloads.collect());
            return self.known.applied(&found, false);
        }
        self.note_text(at, call);
        let is_format = usize::from(name == "format");
        self.formats += is_format;
        let found = self.of_named_call(at, call, name);
        self.formats -= is_format;
        found
    }

    fn of_named_call(&mut self, at: u64, call: &'a CallExpr, name: &str) -> Type {
        let mut arguments: Vec<_> = call.args.iter().map(|argument| self.type_of(argument)).collect();
        // Loops with two variables are told of where their range is.
        let at = match (name, &*call.args) {
            (PAIRS, [range]) => range.id,
            _ => at,
        };
        // Of what may be anything, so may be the keys and the values.
        if let (KEY | VALUE, [pair]) = (name, &*arguments)
            && self.known.applied(pair, false).is_dyn_or_error()
        {
            return Type::Dyn;
        }
        let Some(target) = call.target.as_deref() else {
            return match self.declared.calls(name) {
                Some(overloads) => self.resolved(at, call, overloads, &arguments),
                None => self.undeclared(at, name),
            };
        };
        let named = qualified(target).map(|target| format!("{target}.{name}"));
        if let Some(named) = named
            && let Some(overloads) = self.declared.calls(&named)
        {
            let found = self.resolved_of(at, name, false, overloads, &arguments);
            if let Some(called) = self.found.calls.get_mut(&at) {
                called.name = named;
            }
            return found;
        }
        arguments.insert(0, self.type_of(target));
        match self.declared.calls(name) {
            Some(overloads) => self.resolved_of(at, name, true, overloads, &arguments),
            None => self.undeclared(at, name),
        }
    }

    /// The result of a function that is called without a target.
    fn resolved(
        &mut self,
        at: u64,
        call: &'a CallExpr,
        overloads: &'static [Overload],
        arguments: &[Type],
    ) -> Type {
        if !matches!(&*call.func_name, operators::LOGICAL_AND | operators::LOGICAL_OR) {
            return self.resolved_of(at, &call.func_name, false, overloads, arguments);
        }
        self.note_call(at, &call.func_name, false, overloads.iter().collect());
        let mut result = Type::Bool;
        for (argument, found) in call.args.iter().zip(arguments) {
            if !self.known.assignable(found, &Type::Bool) {
                let found = self.known.applied(found, true);
                result = self.mismatch(argument.id, &Type::Bool, &found);
            }
        }
        result
    }

    fn resolved_of(
        &mut self,
        at: u64,
        name: &str,
        is_member: bool,
        overloads: &'static [Overload],
        arguments: &[Type],
    ) -> Type {
        let mut result: Option<Type> = None;
        let mut called = Vec::new();
        for overload in overloads
            .iter()
            .filter(|overload| overload.is_member == is_member)
        {
            if overload.arguments.len() != arguments.len() {
                continue;
            }
            let first = self.known.fresh_many(overload.letters());
            let wanted = overload.arguments.iter();
            let wanted: Vec<_> = wanted.map(|of| overload.instance(of, first)).collect();
            if !self.known.all_assignable(arguments, &wanted) {
                self.known.forget(first);
                continue;
            }
            called.push(overload);
            let found = self
                .known
                .applied(&overload.instance(&overload.result, first), false);
            result = Some(match result {
                None => found,
                Some(before) if before == Type::Dyn || before == found => before,
                Some(_) => Type::Dyn,
            });
        }
        if name != PAIRS {
            self.note_call(at, name, is_member, called);
        }
        result.unwrap_or_else(|| {
            if self.faults.len() >= MOST_FAULTS {
                self.more += 1;
                return Type::Error;
            }
            let shown: Vec<_> = arguments
                .iter()
                .map(|argument| self.known.applied(argument, true))
                .collect();
            if let (PAIRS, [range]) = (name, &*shown) {
                return self.fault(at, format_args!("{}", no_range(range)));
            }
            let (target, arguments) = shown.split_at(usize::from(is_member));
            let dot = if is_member { "." } else { "" };
            let target = Joined(target);
            let arguments = Joined(arguments);
            self.fault(
                at,
                format_args!(
                    "found no matching overload for '{name}' applied to '{target}{dot}({arguments})'"
                ),
            )
        })
    }

    fn note_call(&mut self, at: u64, name: &str, is_member: bool, overloads: Vec<&'static Overload>) {
        let name = name.to_owned();
        let called = Called {
            name,
            is_member,
            overloads,
        };
        self.found.calls.insert(at, called);
    }

    /// Keeps the text that a function is given to read, for [`check_literals`](Self::check_literals).
    fn note_text(&mut self, at: u64, call: &'a CallExpr) {
        if let ("format", Some(target), [given]) = (&*call.func_name, &call.target, &*call.args)
            && let Expr::Literal(LiteralValue::String(text)) = &target.expr
            && let Expr::List(given) = &given.expr
        {
            self.formatted.push((at, text.inner(), &given.elements));
        }
        let reader = ["duration", "timestamp", "matches"]
            .into_iter()
            .find(|name| *name == call.func_name);
        if let (Some(reader), Some(argument)) = (reader, call.args.first())
            && let Expr::Literal(LiteralValue::String(text)) = &argument.expr
        {
            self.texts.push((argument.id, reader, text.inner()));
        }
    }

    fn of_list(&mut self, list: &'a ListExpr) -> Type {
        let mut items = Vec::new();
        let mut of = None;
        for (n, item) in list.elements.iter().enumerate() {
            let found = self.type_of(item);
            let found = self.of_value(item.id, found, list.optional_indices.contains(&n));
            items.push((item.id, found.clone()));
            of = Some(self.joined(of, found));
        }
        self.note_beside(items);
        Type::list(of.unwrap_or_else(|| self.known.fresh()))
    }

    fn of_map(&mut self, map: &'a MapExpr) -> Type {
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        let (mut key_of, mut value_of) = (None, None);
        for entry in &map.entries {
            let EntryExpr::MapEntry(entry) = &entry.expr else {
                continue;
            };
            let key = self.type_of(&entry.key);
            keys.push((entry.key.id, key.clone()));
            key_of = Some(self.joined(key_of, key));
            let value = self.type_of(&entry.value);
            let value = self.of_value(entry.value.id, value, entry.optional);
            values.push((entry.value.id, value.clone()));
            value_of = Some(self.joined(value_of, value));
        }
        // Of a map, all that differ from the first are told.
        for beside in [keys, values] {
            if let Some((first, others)) = beside.split_first() {
                for other in others {
                    self.note_beside(vec![first.clone(), other.clone()]);
                }
            }
        }
        let key = key_of.unwrap_or_else(|| self.known.fresh());
        Type::map(key, value_of.unwrap_or_else(|| self.known.fresh()))
    }

    /// The type of what is put into a list, a map or an object: that of what is in an optional value.
    fn of_value(&mut self, at: u64, found: Type, is_optional: bool) -> Type {
        if !is_optional {
            return found;
        }
        match found.in_optional() {
            Some(of) => of.clone(),
            None if found == Type::Dyn => found,
            None => {
                self.mismatch(at, &Type::optional(found.clone()), &found);
                found
            }
        }
    }

    /// The type of both of two values.
    fn joined(&mut self, before: Option<Type>, found: Type) -> Type {
        match before {
            None => found,
            Some(before) if self.known.assignable(&before, &found) => more_general(before, found),
            Some(_) => Type::Dyn,
        }
    }

    /// Keeps types that are to be the same, for [`check_literals`](Self::check_literals).
    fn note_beside(&mut self, beside: Vec<(u64, Type)>) {
        if self.formats == 0 {
            self.literals.push(beside);
        }
    }

    fn of_struct(&mut self, at: u64, of: &'a StructExpr) -> Type {
        let Some(Type::Meta(Some(made))) = self.variable(&of.type_name) else {
            return self.undeclared(at, &of.type_name);
        };
        let Type::Struct(known) = &*made else {
            return self.fault(at, format_args!("'{}' is not a message type", of.type_name));
        };
        for entry in &of.entries {
            let EntryExpr::StructField(field) = &entry.expr else {
                continue;
            };
            let found = self.type_of(&field.value);
            let found = self.of_value(field.value.id, found, field.optional);
            let wanted = match &known.fields {
                Fields::Any => Some(&Type::Dyn),
                Fields::These(fields) => fields.get(&field.field),
            };
            if !wanted.is_some_and(|wanted| self.known.assignable(wanted, &found)) {
                // Of a field that there is not, a real server does not know the type.
                let wanted = wanted.map_or_else(String::new, |wanted| limited(format_args!("{wanted}")));
                let name = &field.field;
                self.fault(
                    entry.id,
                    format_args!(
                        "expected type of field '{name}' is '{wanted}' but provided type is '{found}'"
                    ),
                );
            }
        }
        (*made).clone()
    }

    /// A loop has variables of its own.
    fn of_loop(&mut self, of: &'a ComprehensionExpr) -> Type {
        let range = self.type_of(&of.iter_range);
        let start = self.type_of(&of.accu_init);
        let range = self.known.applied(&range, false);
        let [first, second] = match &range {
            Type::List(item) if of.iter_var2.is_some() => [Type::Int, (**item).clone()],
            Type::List(item) => [(**item).clone(), Type::Error],
            Type::Map(entry) => [entry.0.clone(), entry.1.clone()],
            Type::Dyn | Type::Error | Type::Parameter(_) => {
                self.known.assignable(&Type::Dyn, &range);
                [Type::Dyn, Type::Dyn]
            }
            range => {
                self.fault(of.iter_range.id, format_args!("{}", no_range(range)));
                [Type::Error, Type::Error]
            }
        };
        let around = self.scopes.len();
        self.scopes.push((&of.accu_var, start.clone()));
        self.scopes.push((&of.iter_var, first));
        self.scopes
            .extend(of.iter_var2.as_deref().map(|name| (name, second)));
        for (part, wanted) in [(&of.loop_cond, &Type::Bool), (&of.loop_step, &start)] {
            let found = self.type_of(part);
            if !self.known.assignable(wanted, &found) {
                self.mismatch(part.id, wanted, &found);
            }
        }
        self.scopes.truncate(around + 1);
        let result = self.type_of(&of.result);
        self.scopes.truncate(around);
        self.known.applied(&result, false)
    }

    /// What is not a matter of types: texts that a function cannot read, and what stands beside a value of any type.
    fn check_literals(&mut self) {
        for (at, reader, text) in std::mem::take(&mut self.texts) {
            let is_read = match reader {
                "matches" => Pattern::new(text).error().is_none(),
                reader => values::is_read(reader, text),
            };
            if !is_read {
                self.fault(at, format_args!("invalid {reader} argument"));
            }
        }
        for (at, text, given) in std::mem::take(&mut self.formatted) {
            let types = &self.found.types;
            let type_of = |part: &IdedExpr| types.get(&part.id).map_or(&Type::Dyn, |of| self.known.seen(of));
            if let Some((place, why)) = formats::fault(text, given, &type_of) {
                self.fault(place.unwrap_or(at), format_args!("{why}"));
            }
        }
        for beside in std::mem::take(&mut self.literals) {
            let mut applied = beside.iter().map(|(at, of)| (*at, self.known.applied(of, true)));
            let Some((_, first)) = applied.next() else {
                continue;
            };
            let other = applied.find(|(_, of)| *of != first);
            if let Some((at, other)) = other {
                self.mismatch(at, &first, &other);
            }
        }
    }
}

fn no_range(of: &Type) -> String {
    limited(format_args!(
        "expression of type '{of}' cannot be range of a comprehension (must be list, map, or dynamic)"
    ))
}

/// The name that a variable and fields of it spell: `a.b.c`.
fn qualified(expression: &IdedExpr) -> Option<String> {
    let mut parts = Vec::new();
    let mut part = expression;
    loop {
        match &part.expr {
            Expr::Ident(name) => {
                parts.push(&**name);
                parts.reverse();
                return Some(parts.join("."));
            }
            Expr::Select(select) if !select.test => {
                parts.push(&*select.field);
                part = &select.operand;
            }
            _ => return None,
        }
    }
}

fn of_literal(literal: &LiteralValue) -> Type {
    match literal {
        LiteralValue::Boolean(_) => Type::Bool,
        LiteralValue::Bytes(_) => Type::Bytes,
        LiteralValue::Double(_) => Type::Double,
        LiteralValue::Int(_) => Type::Int,
        LiteralValue::Null => Type::Null,
        LiteralValue::String(_) => Type::String,
        LiteralValue::UInt(_) => Type::Uint,
    }
}

#[cfg(test)]
mod tests;
