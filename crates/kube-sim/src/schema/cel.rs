//! Rules in CEL (`x-kubernetes-validations`).
//!
//! A rule sees the value as `self`, and what it was as `oldSelf`. A rule that names `oldSelf` is a transition rule: it holds
//! where there is no old value. Other rules are not asked where nothing has changed.
//!
//! # Limits
//!
//! What rules cost is [estimated](estimate) when they are defined, and counted when they are asked (`cost`).

use std::cell::OnceCell;
use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

use cel::objects::OptionalValue;
use cel::{Context, Env, ExecutionError, Program, Value as CelValue, extensions};
use serde_json::{Map, Value};

use super::lists;
use super::{Additional, Rule, Schema, Type};
use crate::path::Path;
use crate::status::Cause;
use cost::{Budget, Metered};
use messages::{broken_rule, given_up, said, unevaluated};
use parsed::parsed;
use values::{optional, to_cel};

mod checker;
mod cost;
mod estimate;
mod functions;
mod memberless;
mod messages;
mod pairs;
mod parsed;
mod programs;
mod scope;
mod typed;
mod values;

pub(crate) use checker::{Checked, Declared, Type as TypeOf, checked};
pub(super) use checker::{each, property, type_of};
pub(crate) use cost::{goes_on, lightly, until_stopped, with_room};
pub(super) use estimate::{Sizes, most_of, sizes_of};
pub(crate) use functions::authorizer::{Authorizer, Named, Right, RightAsked, RightOf};
pub(super) use messages::go_struct;
pub(crate) use scope::{Answer, Depths, Failure, Scope};
pub(crate) use typed::TYPE;
pub(crate) use values::is_reserved;

static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| {
    let mut environment = Env::stdlib();
    for extension in [extensions::strings, extensions::lists] {
        if let Err(error) = environment.add_extension(extension) {
            tracing::debug!(%error, "an extension of CEL is not there");
        }
    }
    if let Err(error) = functions::declare(&mut environment) {
        tracing::debug!(%error, "functions of Kubernetes are not there");
    }
    if let Err(error) = cost::declare(&mut environment) {
        tracing::debug!(%error, "what rules cost is not counted");
    }
    if let Err(error) = memberless::declare(&mut environment) {
        tracing::debug!(%error, "what has no members is not an empty map");
    }
    if let Err(error) = pairs::declare(&mut environment) {
        tracing::debug!(%error, "loops have one variable");
    }
    if let Err(error) = typed::declare(&mut environment) {
        tracing::debug!(%error, "keys are not escaped");
    }
    Arc::new(environment)
});

/// A compiled rule; compiled when it is first asked.
#[derive(Clone, Default)]
pub(crate) struct Compiled(OnceLock<Option<Arc<Programs>>>);

struct Programs {
    rule: Metered,
    message: Option<Metered>,
    transition: bool,
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Compiled")
    }
}

/// Rules are equal if their texts are.
impl PartialEq for Compiled {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Whether an expression mentions a variable.
pub(super) fn mentions(expression: &str, variable: &str) -> bool {
    expression.contains(variable)
        && parsed(expression).is_ok_and(|program| program.references().has_variable(variable))
}

/// The rules that an object breaks.
pub(super) fn broken(
    schema: &Schema,
    old: Option<&Map<String, Value>>,
    new: &Map<String, Value>,
) -> Vec<Cause> {
    let old = old.map(|old| Value::Object(old.clone()));
    let new = Value::Object(new.clone());
    broken_by(schema, old.as_ref(), &new, &Path::Root)
}

/// The rules that a value breaks; `path` leads to it.
pub(super) fn broken_by(schema: &Schema, old: Option<&Value>, new: &Value, path: &Path<'_>) -> Vec<Cause> {
    let mut asking = Asking {
        causes: Vec::new(),
        budget: Budget::new(),
        given_up: false,
    };
    asking.visit(new, old, schema, path);
    asking.causes
}

/// One value whose rules are asked.
struct Asking {
    causes: Vec<Cause>,
    budget: Budget,
    /// What was asked has cost too much: nothing more is asked.
    given_up: bool,
}

impl Asking {
    fn visit(&mut self, value: &Value, old: Option<&Value>, schema: &Schema, path: &Path<'_>) {
        if value.is_null() || !schema.has_rules {
            return;
        }
        let seen = Seen::new(value, old, schema);
        if !schema.rules.is_empty() && !goes_on(bytes_of(value) + old.map_or(0, bytes_of)) {
            self.given_up = true;
        }
        for rule in &schema.rules {
            if self.given_up {
                return;
            }
            match check(rule, &seen, path, &mut self.budget) {
                Ok(cause) => self.causes.extend(cause),
                Err(cause) => {
                    self.causes.push(cause);
                    self.given_up = true;
                }
            }
        }
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    let old = old.and_then(|old| old.get(name));
                    match (schema.properties.get(name), &schema.additional) {
                        (Some(super::Node::Here(schema)), _) => {
                            self.visit(value, old, schema, &path.field(name));
                        }
                        (None, Additional::Values(node)) => {
                            self.visit(value, old, node.get(), &path.key(name));
                        }
                        _ => {}
                    }
                }
            }
            Value::Array(items) => {
                if let Some(node) = &schema.items {
                    let old_items = lists::OldItems::of(old, schema);
                    for (index, item) in items.iter().enumerate() {
                        self.visit(item, old_items.get(item), node.get(), &path.index(index));
                    }
                }
            }
            _ => {}
        }
    }
}

/// What is said of a value that breaks a rule; an error if the rule was given up.
fn check(rule: &Rule, seen: &Seen<'_>, path: &Path<'_>, budget: &mut Budget) -> Result<Option<Cause>, Cause> {
    let (value, schema) = (seen.value, seen.schema);
    let compiled = rule.compiled.0.get_or_init(|| compile(rule).map(Arc::new));
    let Some(programs) = compiled else {
        return Ok(None);
    };
    let Some(context) = seen.by(programs.transition, rule.optional_old_self) else {
        return Ok(None);
    };
    let (said_rule, message) = match (&*rule.message, rule.rule.trim()) {
        ("", text) => (text.to_owned(), format!("failed rule: {text}")),
        (message, _) => (message.to_owned(), message.to_owned()),
    };
    if schema.kind == Some(Type::Integer) && !schema.int_or_string && value.is_f64() {
        let why = format!("invalid data, expected int, got float64 evaluating rule: {said_rule}");
        return Ok(Some(unevaluated(schema, path, &why)));
    }
    let held = budget.spend(&programs.rule, context);
    let held = held.map_err(|exceeded| unevaluated(schema, path, &given_up(exceeded, &said_rule)))?;
    let why = match held {
        Ok(CelValue::Bool(true)) => return Ok(None),
        Ok(_) => {
            let expressed = programs
                .message
                .as_ref()
                .and_then(|expression| budget.spend(expression, context).ok());
            match expressed {
                Some(Ok(CelValue::String(text))) if !text.trim().is_empty() => text.trim().to_owned(),
                _ => message,
            }
        }
        // What is not there cannot be checked.
        Err(ExecutionError::UndeclaredReference(name)) => {
            tracing::debug!(%name, "a rule is not checked: it refers to what is not there");
            return Ok(None);
        }
        Err(error) => {
            let why = format!("{} evaluating rule: {said_rule}", said(&error));
            return Ok(Some(unevaluated(schema, path, &why)));
        }
    };
    Ok(Some(broken_rule(rule, value, path, &why)))
}

/// What the rules of one value see. It is made when the first of them is asked: it may be large, and they may be many.
struct Seen<'a> {
    value: &'a Value,
    old: Option<&'a Value>,
    schema: &'a Schema,
    has_changed: OnceCell<bool>,
    /// With the value alone, with what it was, and with that as an optional value.
    contexts: [OnceCell<Context<'static, 'static>>; 3],
}

impl<'a> Seen<'a> {
    fn new(value: &'a Value, old: Option<&'a Value>, schema: &'a Schema) -> Self {
        Self {
            value,
            old,
            schema,
            has_changed: OnceCell::new(),
            contexts: Default::default(),
        }
    }

    /// What a rule sees; nothing if it is not to be asked.
    fn by(&self, is_transition: bool, optional_old: bool) -> Option<&Context<'static, 'static>> {
        let with = |place: usize, old: &dyn Fn() -> Option<CelValue>| {
            self.contexts[place].get_or_init(|| {
                let mut context = Context::with_env(ENVIRONMENT.clone());
                context.add_variable_from_value("self", to_cel(self.value, self.schema));
                if let Some(old) = old() {
                    context.add_variable_from_value("oldSelf", old);
                }
                context
            })
        };
        let old = || self.old.map(|old| to_cel(old, self.schema));
        let optional_of = || old().map_or_else(OptionalValue::none, OptionalValue::of);
        match (is_transition, optional_old) {
            (false, _) => self.has_changed().then(|| with(0, &|| None)),
            (true, false) => self.old.map(|_| with(1, &old)),
            (true, true) => Some(with(2, &|| Some(optional(optional_of())))),
        }
    }

    fn has_changed(&self) -> bool {
        *self.has_changed.get_or_init(|| self.old != Some(self.value))
    }
}

/// About how many bytes a value takes.
fn bytes_of(value: &Value) -> usize {
    const ITEM: usize = 32;
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(|item| ITEM + bytes_of(item)).sum(),
        Value::Object(members) => {
            let members = members.iter();
            members
                .map(|(name, value)| ITEM + name.len() + bytes_of(value))
                .sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn compile(rule: &Rule) -> Option<Programs> {
    let program = parsed(&rule.rule).ok()?;
    let transition = program.references().has_variable("oldSelf");
    let message = match &*rule.message_expression {
        "" => None,
        expression => parsed(expression).ok(),
    };
    let metered = |program: &Program| Metered::of(program.expression().clone(), rule.optional_old_self);
    Some(Programs {
        rule: metered(&program),
        message: message.as_ref().map(metered),
        transition,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn broken_by(rule: Value, old: Value, new: Value) -> Vec<String> {
        let schema = Schema::parse(&json!({
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "x-kubernetes-validations": [rule],
                    "properties": {
                        "min": {"type": "integer"}, "max": {"type": "integer"}, "part": {"type": "number"},
                        "class": {"type": "string"}, "for": {"type": "string"}, "a-b": {"type": "string"},
                        "after": {"type": "string", "format": "duration"},
                        "list": {"type": "array", "items": {"type": "integer"}},
                        "names": {"type": "array", "items": {"type": "string"}},
                    },
                },
            },
        }));
        let with = |spec: Value| match json!({"spec": spec}) {
            Value::Object(object) => object,
            _ => unreachable!("it is an object"),
        };
        let old = (!old.is_null()).then(|| with(old));
        let causes = broken(&schema, old.as_ref(), &with(new));
        causes
            .iter()
            .map(|cause| format!("{}: {}", cause.field, cause.message))
            .collect()
    }

    #[test]
    fn what_has_no_members_is_like_an_empty_map() {
        let told = |rule: &str| {
            let rule = json!({"rule": format!("{rule} ? false : false")});
            broken_by(rule, json!(null), json!({"class": "a", "list": [1]})).concat()
        };
        for (rule, why) in [
            ("null.a == 1", "no such key: a"),
            ("has(dyn(null).a)", "failed rule"),
            ("has(dyn(null).a.b)", "no such key: a"),
            ("dyn(self.class)['a'] == 1", "no such key: a"),
            ("!has(dyn(self.class).a) && dyn(1).b == 2", "no such key: b"),
            ("null.a == 1 || null.b == 1", "no such key: a"),
            ("self.list.exists(n, has(dyn(n).a))", "failed rule"),
        ] {
            let told = told(rule);
            assert!(told.contains(why), "{rule}: {told}");
        }
    }

    #[test]
    fn a_broken_rule_is_told_of_with_its_message() {
        let rule = json!({"rule": "self.min <= self.max", "message": "min is above max"});
        assert!(broken_by(rule.clone(), json!(null), json!({"min": 1, "max": 2})).is_empty());
        let found = broken_by(rule, json!(null), json!({"min": 3, "max": 2}));
        assert_eq!(found, ["spec: Invalid value: min is above max"]);
        let rule = json!({
            "rule": "self.min < 5", "messageExpression": "'not ' + string(self.min)",
            "reason": "FieldValueForbidden", "fieldPath": ".min",
        });
        let found = broken_by(rule, json!(null), json!({"min": 7}));
        assert_eq!(found, ["spec.min: Forbidden: not 7"]);
        let found = broken_by(json!({"rule": "self.min < 5"}), json!(null), json!({"max": 1}));
        assert_eq!(
            found,
            ["spec: Invalid value: \"object\": no such key: min evaluating rule: self.min < 5"]
        );
    }

    #[test]
    fn of_two_errors_the_left_one_is_told_of() {
        let told = |rule: &str| broken_by(json!({"rule": rule}), json!(null), json!({"class": "a"})).concat();
        for (rule, why) in [
            ("self.min > 1 || self.max > 1", "no such key: min"),
            ("self.min > 1 && self.max > 1", "no such key: min"),
            ("self.max > 1 || self.min > 1 || self.max > 1", "no such key: max"),
            (
                "self.class == 'b' || self.max > 1 && self.min > 1",
                "no such key: max",
            ),
            (
                "has(self.class) ? !(self.min > 1 || self.max > 1) : true",
                "no such key: min",
            ),
            ("self.min > 1 || self.class == 'b'", "no such key: min"),
            ("self.class == 'b' || self.min > 1", "no such key: min"),
            ("self.min > 1 && self.class == 'b'", "failed rule"),
            ("self.min > 1 || dyn(self.class)", "no such key: min"),
            ("dyn(self.class) || self.min > 1", "no such overload"),
        ] {
            let told = told(rule);
            assert!(told.contains(why), "{rule}: {told}");
        }
        for rule in [
            "self.min > 1 || self.class == 'a'",
            "self.class == 'a' || self.min > 1",
        ] {
            assert_eq!(told(rule), "", "{rule}");
        }
    }

    #[test]
    fn deep_logic_is_evaluated_on_any_thread() {
        let nested = "(self.class == 'b' || self.class == 'a' && ".repeat(45);
        let nested = format!("{nested}self.min > 1{}", ")".repeat(45));
        let chosen = format!("{}self.min > 1", "self.class == 'b' ? true : ".repeat(90));
        let long = format!("self.min > 1{}", " || self.max > 1".repeat(5_000));
        let thread = std::thread::Builder::new().stack_size(256 * 1024);
        let work = move || {
            for rule in [nested, chosen, long] {
                let told = broken_by(json!({"rule": rule}), json!(null), json!({"class": "a"})).concat();
                assert!(told.contains("no such key: min"), "{told}");
            }
        };
        thread.spawn(work).unwrap().join().unwrap();
    }

    #[test]
    fn what_cannot_be_converted_is_told_of() {
        let told = |rule: &str| broken_by(json!({"rule": rule}), json!(null), json!({"class": "a"})).concat();
        for (rule, why) in [
            (
                "int(self.class) > 1",
                "type conversion error from 'string' to 'int'",
            ),
            (
                "uint(self.class) > 1u",
                "type conversion error from 'string' to 'uint'",
            ),
            (
                "double(self.class) > 1.0",
                "type conversion error from 'string' to 'double'",
            ),
            (
                "bool(self.class)",
                "type conversion error from 'string' to 'bool'",
            ),
            (
                "duration(self.class) > duration('1s')",
                "type conversion error from 'string' to 'google.protobuf.Duration'",
            ),
            (
                "timestamp(self.class) > timestamp('2020-01-01T00:00:00Z')",
                "type conversion error from 'string' to 'google.protobuf.Timestamp'",
            ),
            (
                "timestamp(size(self.class) * 999999999999) > timestamp('2020-01-01T00:00:00Z')",
                "timestamp overflow",
            ),
            (
                "timestamp(self.class + '2020-13-01T00:00:00Z') > timestamp('2020-01-01T00:00:00Z')",
                "type conversion error from 'string' to 'google.protobuf.Timestamp'",
            ),
            ("int(double(size(self.class)) * 1e300) > 1", "integer overflow"),
        ] {
            let told = told(rule);
            assert!(told.contains(why), "{rule}: {told}");
        }
    }

    #[test]
    fn a_transition_rule_compares_with_the_old_value() {
        let rule = json!({"rule": "self.class == oldSelf.class", "message": "class is immutable"});
        assert!(broken_by(rule.clone(), json!(null), json!({"class": "a"})).is_empty());
        assert!(broken_by(rule.clone(), json!({"class": "a"}), json!({"class": "a"})).is_empty());
        let found = broken_by(rule, json!({"class": "a"}), json!({"class": "b"}));
        assert_eq!(found, ["spec: Invalid value: class is immutable"]);
        let rule = json!({"rule": "oldSelf.hasValue() || self.class == 'new'", "optionalOldSelf": true});
        assert!(broken_by(rule.clone(), json!(null), json!({"class": "new"})).is_empty());
        assert_eq!(
            broken_by(rule.clone(), json!(null), json!({"class": "b"})).len(),
            1
        );
        assert!(broken_by(rule, json!({"class": "a"}), json!({"class": "b"})).is_empty());
    }

    #[test]
    fn what_has_not_changed_may_break_a_rule() {
        let rule = json!({"rule": "self.min < 5"});
        assert!(broken_by(rule.clone(), json!({"min": 7}), json!({"min": 7})).is_empty());
        assert_eq!(
            broken_by(rule, json!({"min": 7}), json!({"min": 7, "max": 1})).len(),
            1
        );
    }

    #[test]
    fn a_rule_that_costs_too_much_is_given_up() {
        let numbers: Vec<_> = (0..200).collect();
        let spec = json!({"list": numbers, "min": 9});
        for rule in [
            "self.list.all(a, self.list.all(b, self.list.all(c, a + b + c >= 0)))",
            "self.list.all(a, self.list.all(b, self.list.all(c, a + b + c >= 0))) || true",
            "self.list.map(a, self.list.map(b, self.list.filter(c, a + b + c >= 0))).size() > 0",
            "self.list.exists_one(a, self.list.exists_one(b, self.list.exists_one(c, a + b + c >= 900)))",
        ] {
            let rule = json!({"rule": rule});
            let found = broken_by(rule, json!(null), spec.clone());
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(
                found[0].contains("no further validation rules will be run"),
                "{found:?}"
            );
        }
        let quick =
            json!({"rule": "self.list.exists(a, self.list.exists(b, self.list.exists(c, a + b + c >= 0)))"});
        assert!(broken_by(quick, json!(null), spec).is_empty());
    }

    #[test]
    fn what_is_read_as_a_whole_costs_as_much_as_its_size() {
        let numbers: Vec<_> = (0..1000).collect();
        let spec = json!({"list": numbers, "class": "x".repeat(100_000)});
        for rule in [
            "self.list.all(a, self.class.contains('y') || true)",
            "self.list.all(a, self.class.matches('(x*)*y') || true)",
            "self.list.all(a, self.class.indexOf('xxxxxxxxxxxxxxxxxxy') < 0)",
            "self.list.all(a, self.class.lastIndexOf('yxxxxxxxxxxxxxxxxxx') < 0)",
            "self.list.all(a, self.class == self.class)",
            "self.list.all(a, self.list.all(b, -1 in self.list || true))",
            "self.list.all(a, self.list.distinct().size() > 0)",
            "self.list.all(a, self.list.all(b, self.list.sort().size() > 0))",
            "self.list.all(a, lists.range(999999).size() > 0)",
            "self.list.all(a, ''.matches('(\\\\pL{50}){20}' + string(a)) || true)",
        ] {
            let found = broken_by(json!({"rule": rule}), json!(null), spec.clone());
            assert_eq!(found.len(), 1, "{rule}: {found:?}");
            assert!(found[0].contains("call cost exceeds limit"), "{rule}: {found:?}");
        }
    }

    #[test]
    fn what_becomes_optional_costs_as_much_as_its_size() {
        let numbers: Vec<_> = (0..1000).collect();
        let spec = json!({"list": numbers, "class": "x".repeat(100_000)});
        let given_up = |rule: Value, old: Value| {
            let found = broken_by(rule.clone(), old, spec.clone());
            let given_up = found.iter().any(|why| why.contains("call cost exceeds limit"));
            assert!(found.len() == usize::from(given_up), "{rule}: {found:?}");
            given_up
        };
        for of_each in [
            "self.?class.hasValue()",
            "self[?'class'].hasValue()",
            "optional.of(self.class).hasValue()",
            "optional.ofNonZeroValue(self.class).hasValue()",
            "self.?class.orValue('') != ''",
            "jsonpatch.escapeKey(self.class) != ''",
        ] {
            let rule = json!({"rule": format!("self.list.all(a, {of_each})")});
            assert!(given_up(rule, json!(null)), "{of_each}");
        }
        for of_each in [
            "o.class",
            "o['class']",
            "o.optMap(v, true)",
            "o.optMap(v, self)",
            "o.optFlatMap(v, o)",
        ] {
            let rule = format!("[optional.of(self)].all(o, self.list.all(a, {of_each}.hasValue()))");
            assert!(given_up(json!({"rule": rule}), json!(null)), "{of_each}");
        }
        for (of_each, is_given_up) in [("oldSelf.class", true), ("oldSelf", false)] {
            let rule = format!("self.list.all(a, {of_each}.hasValue())");
            let rule = json!({"rule": rule, "optionalOldSelf": true});
            assert_eq!(
                given_up(rule, json!({"class": spec["class"]})),
                is_given_up,
                "{of_each}"
            );
        }
        let types =
            "type(timestamp('2020-01-01T00:00:00Z')) == google.protobuf.Timestamp && self.?class.hasValue()";
        assert!(!given_up(json!({"rule": types}), json!(null)));
    }

    #[test]
    fn what_kubernetes_functions_read_and_make_costs_as_much() {
        let numbers: Vec<_> = (0..1000).collect();
        let large = "x".repeat(100_000);
        let spec = json!({"list": numbers, "class": large, "names": vec![large.as_str(); 10]});
        for rule in [
            "[url('http://' + self.class)].all(u, self.list.all(a, type(u.getHost()) == string))",
            "[url('/' + self.class)].all(u, self.list.all(a, u == u))",
            "[semver('1.2.3-' + self.class)].all(v, self.list.all(a, v.compareTo(v) == 0))",
            "[semver('1.2.3-' + self.class)].all(v, self.list.all(a, v != optional.of(v)))",
            "self.list.all(a, type(self.class.findAll('')) == list)",
            "self.list.all(a, type(self.class.find(string(a) + '(\\\\pL{50}){20}')) == string)",
            "self.list.all(a, sets.contains([[self.class]], [[self.class]]))",
            "self.list.all(a, self.names.all(b, true))",
        ] {
            let found = broken_by(json!({"rule": rule}), json!(null), spec.clone());
            assert_eq!(found.len(), 1, "{rule}: {found:?}");
            assert!(found[0].contains("call cost exceeds limit"), "{rule}: {found:?}");
        }
    }

    // What a real server makes of these and others is compared by `conformance`.
    #[test]
    fn a_rule_over_three_hundred_items_is_not_too_much() {
        let names: Vec<_> = (0..300).map(|at| format!("item-{at}.example.com")).collect();
        let spec = json!({"names": names});
        for rule in [
            "self.names.all(a, a.find('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$') == a)",
            "self.names.all(a, self.names.exists_one(b, b == a))",
            "self.names.all(a, self.names.filter(b, b == a).size() == 1)",
            "self.names.all(a, a in self.names)",
        ] {
            let found = broken_by(json!({"rule": rule}), json!(null), spec.clone());
            assert!(found.is_empty(), "{rule}: {found:?}");
        }
    }

    #[test]
    fn a_search_finds_what_it_did_before_it_had_a_price() {
        let spec = json!({"class": "ta©o©αT", "min": 2});
        for rule in [
            "self.class.indexOf('©') == 2 && self.class.indexOf('©', 3) == 4 && self.class.indexOf('x') == -1",
            "self.class.lastIndexOf('©') == 4 && self.class.lastIndexOf('©', 3) == 2 && self.class.lastIndexOf('©α', 4) == 4",
            "self.class.indexOf('', 2) == 2 && self.class.lastIndexOf('') == 7 && ''.lastIndexOf('@@') == -1",
            "self.class.matches('^ta') && matches(self.class, 'T$') && !self.class.matches('^T') && 'a1'.matches('[a-z]\\\\d')",
            "'bananananana'.lastIndexOf('nana', 7) == 6 && 'abc'.indexOf('', 20) == 3",
        ] {
            let found = broken_by(json!({"rule": rule}), json!(null), spec.clone());
            assert!(found.is_empty(), "{rule}: {found:?}");
        }
        let out_of_range = json!({"rule": "'abc'.indexOf('b', 20) == 1"});
        assert_eq!(broken_by(out_of_range, json!(null), spec).len(), 1);
    }

    #[test]
    fn values_are_of_the_types_of_their_schema() {
        let spec = json!({"part": 2, "for": "x", "a-b": "y", "after": "90s", "list": [3, 1]});
        for rule in [
            "self.part > 1.5 && type(self.part) == double",
            "self.__for__ == 'x' && self.a__dash__b == 'y'",
            "self.for == 'x' && has(self.for) && self.for.matches('^x$')",
            "self.after > duration('1m')",
            "self.list.all(x, x > 0) && self.list.map(x, x * 2) == [6, 2]",
            "!has(self.min) && self.?min.orValue(5) == 5",
            "self.__for__.matches('^x$') && self.__for__.upperAscii() == 'X'",
        ] {
            assert!(
                broken_by(json!({"rule": rule}), json!(null), spec.clone()).is_empty(),
                "{rule}"
            );
        }
    }

    // A value for each rule would take minutes.
    #[test]
    fn many_rules_look_at_one_value() {
        let rules: Vec<_> = (0..5_000)
            .map(|n| json!({"rule": format!("{n} >= 0 || self == oldSelf")}))
            .collect();
        let schema = Schema::parse(&json!({"type": "object", "x-kubernetes-validations": rules}));
        let numbers: Vec<_> = (0..100_000).collect();
        let [old, new] = ["a", "b"].map(|name| json!({"name": name, "numbers": numbers}));
        assert!(super::broken_by(&schema, Some(&old), &new, &Path::Root).is_empty());
    }

    #[test]
    fn a_large_value_is_not_light() {
        let schema =
            Schema::parse(&json!({"type": "object", "x-kubernetes-validations": [{"rule": "true"}]}));
        let broken = |length: usize| {
            let value = json!({"text": "x".repeat(length)});
            lightly(|| super::broken_by(&schema, None, &value, &Path::Root))
        };
        assert_eq!(broken(1_000).map(|causes| causes.len()), Some(0));
        assert!(broken(1_000_000).is_none());
    }

    #[test]
    fn a_rule_with_an_unknown_function_holds() {
        let rule = json!({"rule": "quantities(self.class).isGreaterThan(quantity('1Gi'))"});
        assert!(broken_by(rule, json!(null), json!({"class": "1Mi"})).is_empty());
    }
}
