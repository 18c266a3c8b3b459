//! Loops with two variables: the index and the item of a list, or the key and the value of a map.
//!
//! `cel` has loops with one. So they are loops over pairs, and bind both variables in each round.

use std::sync::Arc;

use cel::common::ast::{
    CallExpr, ComprehensionExpr, Expr, IdedExpr, ListExpr, LiteralValue, MapExpr, operators,
};
use cel::common::types::DYN_TYPE;
use cel::common::value::{CowVal, Val};
use cel::objects::{Key, Map};
use cel::parser::{Macro, MacroExprHelper, ParseError};
use cel::{DeclarationError, Env, ExecutionError, Value};

use super::cost::purse::pay;

/// Makes pairs of a list or a map.
pub(super) const PAIRS: &str = "@pairs";
pub(super) const KEY: &str = "@key";
pub(super) const VALUE: &str = "@value";

/// Adds an entry to a map, or all of another map.
const INSERT: &str = "cel.@mapInsert";

/// The variable of a round.
pub(super) const PAIR: &str = "@pair";
const RESULT: &str = "@result";

type Made = Result<Option<IdedExpr>, ParseError>;

pub(super) fn declare(environment: &mut Env) -> Result<(), DeclarationError> {
    environment.add_overload(PAIRS, "pairs", vec![DYN_TYPE], pairs)?;
    environment.add_overload(KEY, "key", vec![DYN_TYPE], |pair| part(&pair, 0))?;
    environment.add_overload(VALUE, "value_of_pair", vec![DYN_TYPE], |pair| part(&pair, 1))?;
    environment.add_overload(INSERT, "insert_entry", vec![DYN_TYPE, DYN_TYPE, DYN_TYPE], insert)?;
    environment.add_overload(INSERT, "insert_map", vec![DYN_TYPE, DYN_TYPE], insert)?;
    for (name, kind) in [
        ("all", Kind::All),
        ("exists", Kind::Exists),
        ("existsOne", Kind::One),
        ("exists_one", Kind::One),
        ("transformList", Kind::List),
        ("transformMap", Kind::Map),
        ("transformMapEntry", Kind::Entries),
    ] {
        let made = move |helper: &mut MacroExprHelper<'_>,
                         target: &mut Option<IdedExpr>,
                         given: &mut Vec<IdedExpr>| { made(kind, helper, target, given) };
        environment.add_macro(Macro::receiver(name, 3, made))?;
        if matches!(kind, Kind::List | Kind::Map | Kind::Entries) {
            environment.add_macro(Macro::receiver(name, 4, made))?;
        }
    }
    Ok(())
}

/// What a loop makes of its rounds.
#[derive(Clone, Copy)]
enum Kind {
    All,
    Exists,
    One,
    List,
    Map,
    Entries,
}

/// Makes a loop of `target.NAME(key, value, words)`, or of `target.NAME(key, value, condition, words)`.
fn made(
    kind: Kind,
    helper: &mut MacroExprHelper<'_>,
    target: &mut Option<IdedExpr>,
    given: &mut Vec<IdedExpr>,
) -> Made {
    let mut given = std::mem::take(given).into_iter();
    let key = name(given.next(), helper)?;
    let second = given.next();
    let at = second.as_ref().map_or(0, |second| second.id);
    let value = name(second, helper)?;
    if key == value {
        return Err(helper.new_error(at, format!("duplicate variable name: {key}")));
    }
    let (Some(range), Some(words)) = (target.take(), given.next_back()) else {
        return Ok(None);
    };
    let condition = given.next();
    let mut make = Make {
        helper,
        names: [key, value],
    };
    let range = make.call(PAIRS, vec![range]);
    let (start, goes_on, step) = match kind {
        Kind::All => {
            let so_far = make.name(RESULT);
            let goes_on = make.call(operators::NOT_STRICTLY_FALSE, vec![so_far]);
            (
                make.boolean(true),
                goes_on,
                make.joined(operators::LOGICAL_AND, words),
            )
        }
        Kind::Exists => {
            let so_far = make.name(RESULT);
            let not = make.call(operators::LOGICAL_NOT, vec![so_far]);
            let goes_on = make.call(operators::NOT_STRICTLY_FALSE, vec![not]);
            (
                make.boolean(false),
                goes_on,
                make.joined(operators::LOGICAL_OR, words),
            )
        }
        Kind::One => {
            let one = make.number(1);
            let more = make.joined_as_is(operators::ADD, one);
            let words = make.bound(words);
            let step = make.chosen(words, more);
            (make.number(0), make.boolean(true), step)
        }
        Kind::List => {
            let words = make.bound(words);
            let words = make.node(Expr::List(ListExpr::new(vec![words])));
            let step = make.joined_as_is(operators::ADD, words);
            let start = make.node(Expr::List(ListExpr::new(Vec::new())));
            (start, make.boolean(true), make.chosen_if(condition, step))
        }
        Kind::Map | Kind::Entries => {
            let so_far = make.name(RESULT);
            let words = make.bound(words);
            let arguments = match kind {
                Kind::Map => {
                    let key = make.of_pair(KEY);
                    vec![so_far, key, words]
                }
                _ => vec![so_far, words],
            };
            let step = make.call(INSERT, arguments);
            let start = make.node(Expr::Map(MapExpr::default()));
            (start, make.boolean(true), make.chosen_if(condition, step))
        }
    };
    let mut result = make.name(RESULT);
    if let Kind::One = kind {
        let one = make.number(1);
        result = make.call(operators::EQUALS, vec![result, one]);
    }
    let of = ComprehensionExpr {
        iter_range: range,
        iter_var: PAIR.to_owned(),
        iter_var2: None,
        accu_var: RESULT.to_owned(),
        accu_init: start,
        loop_cond: goes_on,
        loop_step: step,
        result,
    };
    Ok(Some(make.node(Expr::Comprehension(Box::new(of)))))
}

fn name(given: Option<IdedExpr>, helper: &MacroExprHelper<'_>) -> Result<String, ParseError> {
    match given {
        Some(IdedExpr {
            expr: Expr::Ident(name),
            ..
        }) => Ok(name),
        other => {
            let at = other.map_or(0, |other| other.id);
            Err(helper.new_error(at, "argument must be a simple name"))
        }
    }
}

/// Makes the parts of a loop.
struct Make<'a, 'h> {
    helper: &'a mut MacroExprHelper<'h>,
    names: [String; 2],
}

impl Make<'_, '_> {
    fn node(&mut self, expr: Expr) -> IdedExpr {
        self.helper.next_expr(expr)
    }

    fn name(&mut self, name: &str) -> IdedExpr {
        self.node(Expr::Ident(name.to_owned()))
    }

    fn boolean(&mut self, is: bool) -> IdedExpr {
        self.node(Expr::Literal(LiteralValue::Boolean(is.into())))
    }

    fn number(&mut self, number: i64) -> IdedExpr {
        self.node(Expr::Literal(LiteralValue::Int(number.into())))
    }

    fn call(&mut self, function: &str, args: Vec<IdedExpr>) -> IdedExpr {
        let func_name = function.to_owned();
        let call = CallExpr {
            func_name,
            target: None,
            args,
        };
        self.node(Expr::Call(call))
    }

    fn of_pair(&mut self, part: &str) -> IdedExpr {
        let pair = self.name(PAIR);
        self.call(part, vec![pair])
    }

    /// What a round says, with what was found before.
    fn joined(&mut self, function: &str, words: IdedExpr) -> IdedExpr {
        let words = self.bound(words);
        self.joined_as_is(function, words)
    }

    fn joined_as_is(&mut self, function: &str, more: IdedExpr) -> IdedExpr {
        let so_far = self.name(RESULT);
        self.call(function, vec![so_far, more])
    }

    fn chosen(&mut self, condition: IdedExpr, step: IdedExpr) -> IdedExpr {
        let so_far = self.name(RESULT);
        self.call(operators::CONDITIONAL, vec![condition, step, so_far])
    }

    fn chosen_if(&mut self, condition: Option<IdedExpr>, step: IdedExpr) -> IdedExpr {
        match condition {
            Some(condition) => {
                let condition = self.bound(condition);
                self.chosen(condition, step)
            }
            None => step,
        }
    }

    /// Words in which both variables have their values.
    fn bound(&mut self, mut words: IdedExpr) -> IdedExpr {
        for (name, part) in [(self.names[1].clone(), VALUE), (self.names[0].clone(), KEY)] {
            let value = self.of_pair(part);
            let of = ComprehensionExpr {
                iter_range: self.node(Expr::List(ListExpr::new(Vec::new()))),
                iter_var: "#unused".to_owned(),
                iter_var2: None,
                loop_cond: self.boolean(false),
                loop_step: self.name(&name),
                accu_var: name,
                accu_init: value,
                result: words,
            };
            words = self.node(Expr::Comprehension(Box::new(of)));
        }
        words
    }
}

fn mismatch(function: &str) -> ExecutionError {
    ExecutionError::no_such_overload(function, Vec::new())
}

fn owned<'b, 'v>(value: Value) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let made: Box<dyn Val> = value.try_into()?;
    Ok(CowVal::Owned(made))
}

fn pairs<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let given = arguments.first().ok_or_else(|| mismatch(PAIRS))?;
    let pair = |key: Value, value: &Value| Value::List(Arc::new(vec![key, value.clone()]));
    let pairs: Vec<_> = match Value::try_from(given.as_ref())? {
        Value::List(items) => {
            pay(items.len() as u64)?;
            let items = items.iter().enumerate();
            items.map(|(n, item)| pair(Value::Int(n as i64), item)).collect()
        }
        Value::Map(map) => {
            pay(map.map.len() as u64)?;
            let mut entries: Vec<_> = map.map.iter().collect();
            // Always in one order.
            entries.sort_by_key(|(key, _)| key.to_string());
            entries
                .into_iter()
                .map(|(key, value)| pair(of_key(key), value))
                .collect()
        }
        _ => return Err(mismatch(PAIRS)),
    };
    owned(Value::List(Arc::new(pairs)))
}

fn of_key(key: &Key) -> Value {
    match key {
        Key::Int(number) => Value::Int(*number),
        Key::Uint(number) => Value::UInt(*number),
        Key::Bool(is) => Value::Bool(*is),
        Key::String(text) => Value::String(text.clone()),
    }
}

fn part<'b, 'v>(arguments: &[CowVal<'b, 'v>], which: usize) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let pair = arguments.first().ok_or_else(|| mismatch(PAIRS))?;
    match Value::try_from(pair.as_ref())? {
        Value::List(pair) => owned(pair.get(which).cloned().ok_or_else(|| mismatch(PAIRS))?),
        _ => Err(mismatch(PAIRS)),
    }
}

fn insert<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let values: Result<Vec<_>, _> = arguments
        .iter()
        .map(|value| Value::try_from(value.as_ref()))
        .collect();
    let (map, more) = match &*values? {
        [Value::Map(map), Value::Map(more)] => {
            let more: Vec<_> = more
                .map
                .iter()
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            (map.clone(), more)
        }
        [Value::Map(map), key, value] => {
            let key: Key = key.clone().try_into().map_err(|_| mismatch(INSERT))?;
            (map.clone(), vec![(key, value.clone())])
        }
        _ => return Err(mismatch(INSERT)),
    };
    pay((map.map.len() + more.len()) as u64)?;
    let mut map = (*map.map).clone();
    for (key, value) in more {
        if map.contains_key(&key) {
            return Err(super::functions::argument::failed(format!(
                "insert failed: key {key} already exists"
            )));
        }
        map.insert(key, value);
    }
    owned(Value::Map(Map { map: Arc::new(map) }))
}
