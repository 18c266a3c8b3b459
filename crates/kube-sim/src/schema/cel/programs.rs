//! Expressions that are compiled once, however often they are evaluated.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use cel::IdedExpr;
use cel::common::ast::{EntryExpr, Expr};

use super::scope::VARIABLES;
use super::{ENVIRONMENT, cost, typed};

/// How many bytes of expressions are kept.
const KEPT: usize = 1024 * 1024;

/// A compiled expression, metered, and the names that it selects of `variables`.
pub(super) struct Program {
    pub(super) expression: IdedExpr,
    pub(super) names: BTreeSet<String>,
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
    let program = ENVIRONMENT
        .compile(expression)
        .map_err(|error| error.to_string())?;
    let mut names = BTreeSet::new();
    find_names(program.expression(), &mut names);
    let mut expression = program.expression().clone();
    typed::as_maps(&mut expression);
    Ok(Arc::new(Program {
        expression: cost::metered(expression),
        names,
    }))
}

/// The names that an expression selects of `variables`.
fn find_names(expression: &IdedExpr, found: &mut BTreeSet<String>) {
    let mut entry = |entry: &EntryExpr| match entry {
        EntryExpr::StructField(field) => find_names(&field.value, found),
        EntryExpr::MapEntry(entry) => {
            find_names(&entry.key, found);
            find_names(&entry.value, found);
        }
    };
    match &expression.expr {
        Expr::Unspecified | Expr::Literal(_) | Expr::Ident(_) => {}
        Expr::Select(select) => {
            if matches!(&select.operand.expr, Expr::Ident(name) if name == VARIABLES) {
                found.insert(select.field.clone());
            }
            find_names(&select.operand, found);
        }
        Expr::Call(call) => {
            let parts = call.target.iter().map(|target| &**target).chain(&call.args);
            parts.for_each(|part| find_names(part, found));
        }
        Expr::List(list) => list
            .elements
            .iter()
            .for_each(|element| find_names(element, found)),
        Expr::Map(map) => map.entries.iter().for_each(|part| entry(&part.expr)),
        Expr::Struct(structure) => structure.entries.iter().for_each(|part| entry(&part.expr)),
        Expr::Comprehension(of) => {
            let parts = [
                &of.iter_range,
                &of.accu_init,
                &of.loop_cond,
                &of.loop_step,
                &of.result,
            ];
            parts.into_iter().for_each(|part| find_names(part, found));
        }
    }
}
