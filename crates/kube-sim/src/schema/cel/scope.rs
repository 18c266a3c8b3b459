//! Expressions over variables of any type: match conditions and admission policies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cel::common::value::Val;
use cel::objects::{Key, Map as CelMap};
use cel::{Context, ExecutionError, Value as CelValue};
use serde_json::Value;

use super::cost::{self, Budget, purse};
use super::functions::argument::length;
use super::functions::authorizer::{Authorizer, Named, Rights};
use super::parsed::VARIABLES;
use super::programs::{Program, compiled};
use super::{ENVIRONMENT, Schema, said, to_cel, typed};

/// The most levels of the value of a named expression.
const DEEPEST: usize = 1000;

/// Variables, named expressions, and what is left to be spent on evaluating others. Values are of any type: an expression is not
/// checked before it is evaluated.
pub(crate) struct Scope {
    context: Context<'static, 'static>,
    budget: Budget,
    /// In the order in which they may refer to earlier ones.
    named: Vec<(String, String)>,
    /// Where each is in that order.
    places: BTreeMap<String, usize>,
    depths: Depths,
    /// What those that were asked for came to.
    values: BTreeMap<String, Result<CelValue, Failure>>,
}

/// What an expression comes to.
#[derive(Debug, PartialEq)]
pub(crate) enum Answer {
    Bool(bool),
    Text(String),
    Null,
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
    /// As it is said of an expression.
    pub(crate) fn of(&self, expression: &str) -> String {
        format!("expression '{expression}' resulted in error: {}", self.message())
    }

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

/// How many levels the values of named expressions may have: what is made of other values is deeper than they are.
#[derive(Default)]
pub(crate) struct Depths(BTreeMap<String, usize>);

impl Depths {
    /// Adds a named expression; returns how many levels its value may have.
    pub(crate) fn add(&mut self, name: &str, expression: &str) -> usize {
        let depth = compiled(expression).map_or(0, |program| {
            let below = program.names.iter().map(|name| self.of(name)).max();
            program.made + below.unwrap_or(0)
        });
        self.0.insert(name.to_owned(), depth);
        depth
    }

    fn of(&self, name: &str) -> usize {
        self.0.get(name).copied().unwrap_or(0)
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
            places: BTreeMap::new(),
            depths: Depths::default(),
            values: BTreeMap::new(),
        }
    }

    /// Lets expressions ask for rights, also for those of what the request is about.
    pub(crate) fn authorize(&mut self, authorizer: &Authorizer, request: Named) {
        for (name, value) in Rights::variables(authorizer, request) {
            self.context.add_variable_from_value(name, value);
        }
    }

    /// Names an expression: later ones find what it comes to in `variables`. It is evaluated when one asks for it, once.
    pub(crate) fn name(&mut self, name: &str, expression: &str) {
        self.depths.add(name, expression);
        self.places.insert(name.to_owned(), self.named.len());
        self.named.push((name.to_owned(), expression.to_owned()));
    }

    /// Gives a variable another value, with which named expressions are evaluated again.
    pub(crate) fn set(&mut self, name: &str, value: &Value) {
        let value = to_cel(value, &Schema::default());
        self.context.add_variable_from_value(name, value);
        self.values.clear();
    }

    /// Puts a parameter into the place of the one before, with budgets of its own.
    pub(crate) fn set_params(&mut self, params: &Value) {
        self.set("params", params);
        self.begin_anew();
    }

    /// Gives what is evaluated from here on a budget of its own.
    pub(crate) fn begin_anew(&mut self) {
        self.budget = Budget::new();
    }

    /// Whether conditions hold, which have a budget of their own; the first that does not ends it. What refers to something that is
    /// not there may hold, or is an error.
    ///
    /// # Errors
    ///
    /// What is wrong with those that cannot be evaluated, unless another does not hold.
    pub(crate) fn conditions<'a>(
        &mut self,
        expressions: impl Iterator<Item = &'a str>,
        unknown_holds: bool,
    ) -> Result<bool, String> {
        let budget = std::mem::replace(&mut self.budget, Budget::of_conditions());
        let mut errors = Vec::new();
        let mut hold = true;
        for expression in expressions {
            match self.evaluate(expression) {
                Ok(Answer::Bool(false)) => {
                    hold = false;
                    break;
                }
                Ok(_) => {}
                Err(Failure::Unknown(_)) if unknown_holds => {}
                Err(failure @ Failure::Exhausted) => {
                    errors = vec![failure.message()];
                    break;
                }
                Err(failure) => errors.push(failure.of(expression)),
            }
        }
        self.budget = budget;
        match &errors[..] {
            _ if !hold => Ok(false),
            [] => Ok(true),
            [error] => Err(error.clone()),
            several => Err(format!("[{}]", several.join(", "))),
        }
    }

    pub(crate) fn evaluate(&mut self, expression: &str) -> Result<Answer, Failure> {
        Ok(match self.value(expression)? {
            CelValue::Bool(is) => Answer::Bool(is),
            CelValue::String(text) => Answer::Text(text.to_string()),
            CelValue::Null => Answer::Null,
            _ => Answer::Other,
        })
    }

    /// The object or the list that an expression makes, with the types that it names.
    pub(crate) fn make(&mut self, expression: &str) -> Result<Value, Failure> {
        let value = self.value(expression)?;
        typed::to_json(&value).map_err(Failure::Error)
    }

    fn value(&mut self, expression: &str) -> Result<CelValue, Failure> {
        let program = compiled(expression).map_err(Failure::Error)?;
        let all = self.named.len();
        for at in self.wanting(&program) {
            let (name, expression) = self.named[at].clone();
            let value = match self.depths.of(&name) > DEEPEST {
                true => Err(Failure::Costly),
                false => compiled(&expression)
                    .map_err(Failure::Error)
                    .and_then(|program| self.resolve(&program, at)),
            };
            self.values.insert(name, value);
        }
        self.resolve(&program, all)
    }

    /// The named expressions that a program refers to, itself or by others, and that have no value yet, in their order.
    fn wanting(&self, program: &Program) -> BTreeSet<usize> {
        let mut open = self.places_in(program, self.named.len());
        let mut wanting = BTreeSet::new();
        while let Some(at) = open.pop_last() {
            let (name, expression) = &self.named[at];
            if self.values.contains_key(name) {
                continue;
            }
            wanting.insert(at);
            if let Ok(program) = compiled(expression) {
                open.extend(self.places_in(&program, at));
            }
        }
        wanting
    }

    /// Which of the first `before` named expressions a program refers to.
    fn places_in(&self, program: &Program, before: usize) -> BTreeSet<usize> {
        let places = program.names.iter().filter_map(|name| self.places.get(name));
        places.copied().filter(|at| *at < before).collect()
    }

    /// Evaluates a program that may refer to the first `before` named expressions.
    fn resolve(&mut self, program: &Program, before: usize) -> Result<CelValue, Failure> {
        let mut values = Vec::new();
        for at in self.places_in(program, before) {
            let (name, _) = &self.named[at];
            if let Some(Ok(value)) = self.values.get(name) {
                values.push((Key::String(Arc::new(name.clone())), value.clone()));
            }
        }
        let mut context = self.context.new_inner_scope();
        let values = CelMap {
            map: Arc::new(values.into_iter().collect()),
        };
        let values: Result<Box<dyn Val>, _> = CelValue::Map(values).try_into();
        let values = values.map_err(|error| self.failed(&error))?;
        if !purse::goes_on_by(length(&*values) / purse::BYTES) {
            return Err(Failure::Exhausted);
        }
        context.add_variable_as_val(VARIABLES, values);
        let spent = self.budget.spend(&program.expression, &context);
        match spent {
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
