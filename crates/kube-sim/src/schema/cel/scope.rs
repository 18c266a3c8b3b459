//! Expressions over variables of any type: match conditions and admission policies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cel::common::ast::{EntryExpr, Expr, IdedExpr};
use cel::objects::{Key, Map as CelMap};
use cel::{Context, ExecutionError, Value as CelValue};
use serde_json::Value;

use super::cost::{self, Budget};
use super::{ENVIRONMENT, Schema, said, to_cel};

/// The variable with the values of named expressions.
const VARIABLES: &str = "variables";

/// Variables, named expressions, and what is left to be spent on evaluating others. Values are of any type: an expression is not
/// checked before it is evaluated.
pub(crate) struct Scope {
    context: Context<'static, 'static>,
    budget: Budget,
    /// In the order in which they may refer to earlier ones.
    named: Vec<(String, String)>,
    /// What those that were asked for came to.
    values: BTreeMap<String, Result<CelValue, Failure>>,
}

/// What an expression comes to.
#[derive(Debug, PartialEq)]
pub(crate) enum Answer {
    Bool(bool),
    Text(String),
    Other,
}

/// Why an expression comes to nothing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Failure {
    /// What cel-go says of it.
    Error(String),
    /// It refers to what is not there, such as a function that only Kubernetes has.
    Unknown(String),
    /// The evaluation costs more than one may.
    Costly,
    /// All evaluations cost more than they may.
    Exhausted,
}

impl Failure {
    /// In the words of a real server.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Error(why) => why.clone(),
            Self::Unknown(name) => format!("undeclared reference to '{name}'"),
            Self::Costly => "operation cancelled: actual cost limit exceeded".to_owned(),
            Self::Exhausted => {
                "validation failed due to running out of cost budget, no further validation rules will be run"
                    .to_owned()
            }
        }
    }
}

impl Scope {
    pub(crate) fn new(variables: &[(&str, &Value)]) -> Self {
        let mut context = Context::with_env(ENVIRONMENT.clone());
        for (name, value) in variables {
            context.add_variable_from_value(*name, to_cel(value, &Schema::default()));
        }
        Self {
            context,
            budget: Budget::new(),
            named: Vec::new(),
            values: BTreeMap::new(),
        }
    }

    /// Names an expression: later ones find what it comes to in `variables`. It is evaluated when one asks for it, once.
    pub(crate) fn name(&mut self, name: &str, expression: &str) {
        self.named.push((name.to_owned(), expression.to_owned()));
    }

    pub(crate) fn evaluate(&mut self, expression: &str) -> Result<Answer, Failure> {
        let before = self.named.len();
        Ok(match self.resolve(expression, before)? {
            CelValue::Bool(is) => Answer::Bool(is),
            CelValue::String(text) => Answer::Text(text.to_string()),
            _ => Answer::Other,
        })
    }

    /// Evaluates an expression that may refer to the first `before` named ones.
    fn resolve(&mut self, expression: &str, before: usize) -> Result<CelValue, Failure> {
        let program = ENVIRONMENT
            .compile(expression)
            .map_err(|error| Failure::Error(error.to_string()))?;
        let mut wanted = BTreeSet::new();
        find_names(program.expression(), &mut wanted);
        let mut values = Vec::new();
        for at in 0..before {
            let (name, expression) = self.named[at].clone();
            if !wanted.contains(&name) {
                continue;
            }
            if !self.values.contains_key(&name) {
                let value = self.resolve(&expression, at);
                self.values.insert(name.clone(), value);
            }
            if let Some(Ok(value)) = self.values.get(&name) {
                values.push((Key::String(Arc::new(name)), value.clone()));
            }
        }
        let mut context = self.context.new_inner_scope();
        let values = CelMap {
            map: Arc::new(values.into_iter().collect()),
        };
        context.add_variable_from_value(VARIABLES, CelValue::Map(values));
        let metered = cost::metered(program.expression().clone());
        match self.budget.spend(|| CelValue::resolve(&metered, &context)) {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(ExecutionError::UndeclaredReference(name))) => Err(Failure::Unknown(name.to_string())),
            Ok(Err(error)) => Err(self.failed(&error)),
            Err(cost::Exceeded::Rule) => Err(Failure::Costly),
            Err(cost::Exceeded::Object) => Err(Failure::Exhausted),
        }
    }

    /// An expression failed; maybe since a named one did.
    fn failed(&self, error: &ExecutionError) -> Failure {
        let named = match error {
            ExecutionError::NoSuchKey(key) => self.values.get(key.as_str()),
            _ => None,
        };
        match (named, error) {
            (Some(Err(Failure::Error(why))), ExecutionError::NoSuchKey(name)) => {
                Failure::Error(format!("composited variable \"{name}\" fails to evaluate: {why}"))
            }
            (Some(Err(failure)), _) => failure.clone(),
            _ => Failure::Error(said(error)),
        }
    }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scope() -> Scope {
        let object = json!({"replicas": 3, "name": "a"});
        let mut scope = Scope::new(&[("object", &object)]);
        scope.name("replicas", "object.replicas");
        scope.name("twice", "variables.replicas * 2");
        scope.name("missing", "object.missing");
        scope.name("above", "variables.missing + 1");
        scope
    }

    #[test]
    fn named_expressions_refer_to_earlier_ones() {
        let mut scope = scope();
        assert_eq!(scope.evaluate("variables.twice == 6"), Ok(Answer::Bool(true)));
        assert_eq!(
            scope.evaluate("object.name + string(variables.replicas)"),
            Ok(Answer::Text("a3".into()))
        );
    }

    #[test]
    fn a_named_expression_fails_where_it_is_asked_for() {
        let mut scope = scope();
        assert_eq!(
            scope.evaluate("has(object.missing) && variables.missing > 1"),
            Ok(Answer::Bool(false))
        );
        let why = "composited variable \"missing\" fails to evaluate: no such key: missing";
        assert_eq!(
            scope.evaluate("variables.missing > 1"),
            Err(Failure::Error(why.into()))
        );
        let outer = format!("composited variable \"above\" fails to evaluate: {why}");
        assert_eq!(scope.evaluate("variables.above > 1"), Err(Failure::Error(outer)));
    }

    #[test]
    fn values_that_double_are_given_up() {
        let object = json!("x".repeat(1000));
        let mut scope = Scope::new(&[("object", &object)]);
        scope.name("v0", "object");
        for n in 1..40 {
            let before = n - 1;
            scope.name(
                &format!("v{n}"),
                &format!("variables.v{before} + variables.v{before}"),
            );
        }
        let failure = scope.evaluate("variables.v39.size() > 0").unwrap_err();
        assert!(
            matches!(failure, Failure::Costly | Failure::Exhausted),
            "{failure:?}"
        );
    }
}
