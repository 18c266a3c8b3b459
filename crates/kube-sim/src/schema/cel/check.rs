//! What is wrong with an expression of a policy before it is evaluated: what does not parse, what is not there, and what cannot come
//! to the type that is wanted.
//!
//! Types are known of literals, of lists of them, of the objects that policies make, of what compares, and of what is in an object:
//! `dyn`, which is none that is wanted. What is not known may come to any type.

use cel::Program;
use cel::common::ast::{
    ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, SelectExpr, StructExpr, operators,
};

use super::parsed::{parsed, room_of};
use super::{fault, typed};
use crate::nesting;

/// The type of what is not known.
const ANY: &str = "";

/// The type of what is in an object.
const DYN: &str = "dyn";

/// Variables that are objects of any form.
const OBJECTS: [&str; 3] = ["object", "oldObject", "params"];

/// The names of types and constants, which any expression may mention.
const COMMON: [&str; 19] = [
    "bool",
    "int",
    "uint",
    "double",
    "string",
    "bytes",
    "list",
    "map",
    "null_type",
    "type",
    "optional",
    "optional_type",
    "math",
    "strings",
    "lists",
    "jsonpatch",
    "sets",
    "ip",
    "format",
];

/// The fields of variables of which not everything is known.
const FIELDS: [(&str, &[&str]); 2] = [
    ("namespaceObject", &["metadata", "spec", "status"]),
    (
        "request",
        &[
            "kind",
            "resource",
            "subResource",
            "requestKind",
            "requestResource",
            "requestSubResource",
            "name",
            "namespace",
            "operation",
            "userInfo",
            "dryRun",
            "options",
        ],
    ),
];

/// What an expression may mention.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) names: &'a [&'a str],
    /// The fields of `variables`.
    pub(crate) variables: &'a [&'a str],
    /// Whether objects with types may be made.
    pub(crate) makes: bool,
}

struct Check<'a> {
    program: &'a Program,
    /// The variables that there are, and those of the loops around.
    names: Vec<&'a str>,
    known: Known<'a>,
}

/// Why an expression is refused that is to come to one of these types.
pub(crate) fn fault_of(expression: &str, wanted: &[&str], known: Known<'_>) -> Option<String> {
    let program = match parsed(expression) {
        Ok(program) => program,
        Err(_) => return fault(expression),
    };
    let mut check = Check {
        program: &program,
        names: known.names.iter().chain(&COMMON).copied().collect(),
        known,
    };
    let room = room_of(program.expression());
    let found = match nesting::with_room(room, || check.type_of(program.expression())) {
        Ok(found) => found,
        Err(why) => return Some(format!("compilation failed: {why}")),
    };
    if wanted.is_empty()
        || found == ANY
        || wanted.contains(&found.as_str())
        || (found == "list()" && wanted[0].starts_with("list("))
    {
        return None;
    }
    Some(match wanted {
        [one] => format!("must evaluate to {one} but got {found}"),
        several => format!("must evaluate to one of [{}] but got {found}", several.join(" ")),
    })
}

impl<'a> Check<'a> {
    /// An error where a part of the expression is, as cel-go shows it.
    fn error(&self, at: u64, why: &str) -> String {
        let info = self.program.source_info();
        let start = info.offset_for(at).map_or(0, |(start, _)| start as usize);
        let before: String = info.source.chars().take(start).collect();
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|found| *found != '\n').count() + 1;
        let source = info.source.lines().nth(line - 1).unwrap_or("");
        let dots = ".".repeat(column - 1);
        format!("ERROR: <input>:{line}:{column}: {why}\n | {source}\n | {dots}^")
    }

    /// Whether a variable is known to have no such field.
    fn lacks(&self, name: &str, field: &str) -> bool {
        let fields = FIELDS
            .iter()
            .find(|(of, _)| *of == name)
            .map(|(_, fields)| *fields);
        match name {
            "variables" => !self.known.variables.contains(&field),
            _ => fields.is_some_and(|fields| !fields.contains(&field)),
        }
    }

    fn knows(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    fn undeclared(&self, at: u64, name: &str) -> String {
        self.error(at, &format!("undeclared reference to '{name}' (in container '')"))
    }

    fn type_of(&mut self, expression: &'a IdedExpr) -> Result<String, String> {
        let any = || Ok(ANY.to_owned());
        match &expression.expr {
            Expr::Unspecified => any(),
            Expr::Literal(literal) => Ok(of_literal(literal).to_owned()),
            Expr::Ident(name) if OBJECTS.contains(&name.as_str()) && self.knows(name) => Ok(DYN.to_owned()),
            Expr::Ident(name) if self.knows(name) => any(),
            Expr::Ident(name) => Err(self.undeclared(expression.id, name)),
            Expr::Select(select) => self.type_of_field(expression.id, select),
            Expr::Call(call) => {
                if let Some(target) = &call.target {
                    self.type_of(target)?;
                }
                let arguments: Result<Vec<_>, _> = call.args.iter().map(|part| self.type_of(part)).collect();
                Ok(of_call(&call.func_name, &arguments?))
            }
            Expr::List(list) => {
                let items: Result<Vec<_>, _> = list.elements.iter().map(|item| self.type_of(item)).collect();
                let items = items?;
                let first = items.first().map_or(ANY, String::as_str);
                match items.iter().all(|item| item == first) {
                    true => Ok(format!("list({first})")),
                    false => Ok("list()".to_owned()),
                }
            }
            Expr::Map(map) => {
                for entry in &map.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        self.type_of(&entry.key)?;
                        self.type_of(&entry.value)?;
                    }
                }
                any()
            }
            Expr::Struct(of) => self.type_of_object(expression.id, of),
            Expr::Comprehension(of) => {
                self.check_loop(of)?;
                any()
            }
        }
    }

    fn type_of_field(&mut self, at: u64, select: &'a SelectExpr) -> Result<String, String> {
        let operand = self.type_of(&select.operand)?;
        if let Expr::Ident(name) = &select.operand.expr
            && self.lacks(name, &select.field)
        {
            return Err(self.error(at, &format!("undefined field '{}'", select.field)));
        }
        Ok(match select.test {
            true => "bool".to_owned(),
            false if operand == DYN => operand,
            false => ANY.to_owned(),
        })
    }

    fn type_of_object(&mut self, at: u64, of: &'a StructExpr) -> Result<String, String> {
        if !(self.known.makes && typed::is_known(&of.type_name)) {
            return Err(self.undeclared(at, &of.type_name));
        }
        for entry in &of.entries {
            let EntryExpr::StructField(field) = &entry.expr else {
                continue;
            };
            let found = self.type_of(&field.value)?;
            let fields = ["op", "path", "from", "value"];
            if of.type_name == "JSONPatch" && !fields.contains(&field.field.as_str()) {
                let name = &field.field;
                let why = format!("expected type of field '{name}' is '' but provided type is '{found}'");
                return Err(self.error(entry.id, &why));
            }
        }
        Ok(of.type_name.clone())
    }

    /// A loop has variables of its own.
    fn check_loop(&mut self, of: &'a ComprehensionExpr) -> Result<(), String> {
        self.type_of(&of.iter_range)?;
        self.type_of(&of.accu_init)?;
        let before = self.names.len();
        self.names.extend([of.iter_var.as_str(), of.accu_var.as_str()]);
        self.names.extend(of.iter_var2.as_deref());
        let parts = [&of.loop_cond, &of.loop_step, &of.result];
        let result = parts
            .into_iter()
            .try_for_each(|part| self.type_of(part).map(drop));
        self.names.truncate(before);
        result
    }
}

fn of_literal(literal: &LiteralValue) -> &'static str {
    match literal {
        LiteralValue::Boolean(_) => "bool",
        LiteralValue::Bytes(_) => "bytes",
        LiteralValue::Double(_) => "double",
        LiteralValue::Int(_) => "int",
        LiteralValue::Null => "null_type",
        LiteralValue::String(_) => "string",
        LiteralValue::UInt(_) => "uint",
    }
}

fn of_call(function: &str, arguments: &[String]) -> String {
    const COMPARES: [&str; 10] = [
        operators::EQUALS,
        operators::NOT_EQUALS,
        operators::LESS,
        operators::LESS_EQUALS,
        operators::GREATER,
        operators::GREATER_EQUALS,
        operators::IN,
        operators::LOGICAL_AND,
        operators::LOGICAL_OR,
        operators::LOGICAL_NOT,
    ];
    match (function, arguments) {
        (name, _) if COMPARES.contains(&name) => "bool",
        ("size", _) => "int",
        ("string", _) => "string",
        (operators::INDEX, [one, _]) if one == DYN => DYN,
        (operators::CONDITIONAL, [_, one, other]) if one == other => one,
        (operators::ADD, [one, other]) if one == other => one,
        (operators::ADD, [one, other]) if one == "string" || other == "string" => "string",
        _ => ANY,
    }
    .to_owned()
}
