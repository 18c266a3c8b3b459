//! Expressions that are compiled once, however often they are evaluated.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use cel::IdedExpr;
use cel::common::ast::Expr;

use super::cost::Metered;
use super::parsed::VARIABLES;
use super::parsed::{levels_made, parsed, parts, room_of};
use super::typed;
use crate::nesting;

/// How many bytes of expressions are kept.
const KEPT: usize = 1024 * 1024;

/// A compiled expression, metered, and the names that it selects of `variables`.
pub(super) struct Program {
    pub(super) expression: Metered,
    pub(super) names: BTreeSet<String>,
    /// How many levels more than those its value may have.
    pub(super) made: usize,
}

type Compiled = Result<Arc<Program>, String>;

#[derive(Default)]
struct Programs {
    bytes: usize,
    compiled: HashMap<String, Compiled>,
}

static PROGRAMS: LazyLock<Mutex<Programs>> = LazyLock::new(Mutex::default);

/// The program of an expression, or why there is none.
pub(super) fn compiled(expression: &str) -> Compiled {
    let lock = || PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = lock().compiled.get(expression) {
        return known.clone();
    }
    let compiled = compile(expression);
    let mut programs = lock();
    programs.bytes += expression.len();
    if programs.bytes > KEPT {
        *programs = Programs::default();
        programs.bytes = expression.len();
    }
    programs.compiled.insert(expression.to_owned(), compiled.clone());
    compiled
}

fn compile(expression: &str) -> Compiled {
    let program = parsed(expression)?;
    let mut expression = program.expression().clone();
    nesting::with_room(room_of(&expression), || typed::as_maps(&mut expression));
    Ok(Arc::new(Program {
        names: names(&expression),
        made: levels_made(&expression),
        expression: Metered::of(expression, false),
    }))
}

/// The names that an expression selects of `variables`.
fn names(expression: &IdedExpr) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![expression];
    while let Some(expression) = open.pop() {
        if let Expr::Select(select) = &expression.expr
            && matches!(&select.operand.expr, Expr::Ident(name) if name == VARIABLES)
        {
            found.insert(select.field.clone());
        }
        open.extend(parts(expression));
    }
    found
}
