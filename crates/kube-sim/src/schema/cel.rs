//! Rules in CEL (`x-kubernetes-validations`).
//!
//! A rule sees the value as `self`, and what it was as `oldSelf`. A rule that names `oldSelf` is a transition rule: it holds
//! where there is no old value. Other rules are not asked where nothing has changed.
//!
//! # Limits
//!
//! Of the functions that Kubernetes adds to CEL, there are those for strings and lists that the `cel` crate has. A rule that
//! calls another one (`quantity`, `url`, `ip`, `isSorted`) is not checked: it holds. Costs are not estimated.

use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

use cel::objects::{Key, Map as CelMap, Opaque, OptionalValue};
use cel::{Context, Env, ExecutionError, Program, Value as CelValue, extensions};
use serde_json::{Map, Value};

use super::lists;
use super::{Additional, Rule, Schema, Type};
use crate::path::Path;
use crate::status::Cause;

static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| {
    let mut environment = Env::stdlib();
    for extension in [extensions::strings, extensions::lists] {
        if let Err(error) = environment.add_extension(extension) {
            tracing::debug!(%error, "an extension of CEL is not there");
        }
    }
    Arc::new(environment)
});

/// A compiled rule; compiled when it is first asked.
#[derive(Clone, Default)]
pub(crate) struct Compiled(OnceLock<Option<Arc<Programs>>>);

struct Programs {
    rule: Program,
    message: Option<Program>,
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

/// Why a rule cannot be compiled.
pub(super) fn fault(rule: &str) -> Option<String> {
    let error = ENVIRONMENT.compile(rule).err()?;
    Some(format!("compilation failed: {error}"))
}

/// The rules that an object breaks.
pub(super) fn broken(
    schema: &Schema,
    old: Option<&Map<String, Value>>,
    new: &Map<String, Value>,
) -> Vec<Cause> {
    let mut causes = Vec::new();
    let old = old.map(|old| Value::Object(old.clone()));
    let new = Value::Object(new.clone());
    visit(&new, old.as_ref(), schema, &Path::Root, &mut causes);
    causes
}

fn visit(value: &Value, old: Option<&Value>, schema: &Schema, path: &Path<'_>, causes: &mut Vec<Cause>) {
    if value.is_null() || !schema.has_rules {
        return;
    }
    for rule in &schema.rules {
        causes.extend(check(rule, value, old, schema, path));
    }
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let old = old.and_then(|old| old.get(name));
                match (schema.properties.get(name), &schema.additional) {
                    (Some(super::Node::Here(schema)), _) => {
                        visit(value, old, schema, &path.field(name), causes);
                    }
                    (None, Additional::Values(node)) => {
                        visit(value, old, node.get(), &path.key(name), causes);
                    }
                    _ => {}
                }
            }
        }
        Value::Array(items) => {
            if let Some(node) = &schema.items {
                let old_items = lists::OldItems::of(old, schema);
                for (index, item) in items.iter().enumerate() {
                    visit(item, old_items.get(item), node.get(), &path.index(index), causes);
                }
            }
        }
        _ => {}
    }
}

fn check(rule: &Rule, value: &Value, old: Option<&Value>, schema: &Schema, path: &Path<'_>) -> Option<Cause> {
    let compiled = rule.compiled.0.get_or_init(|| compile(rule).map(Arc::new));
    let programs = compiled.as_ref()?;
    let mut context = Context::with_env(ENVIRONMENT.clone());
    match (programs.transition, old) {
        (true, Some(old)) => {
            let old = to_cel(old, schema);
            let old = match rule.optional_old_self {
                true => optional(OptionalValue::of(old)),
                false => old,
            };
            context.add_variable_from_value("oldSelf", old);
        }
        (true, None) if rule.optional_old_self => {
            context.add_variable_from_value("oldSelf", optional(OptionalValue::none()));
        }
        (true, None) => return None,
        (false, Some(old)) if old == value => return None,
        (false, _) => {}
    }
    context.add_variable_from_value("self", to_cel(value, schema));
    let message = match (&*rule.message, rule.rule.trim()) {
        ("", text) => format!("failed rule: {text}"),
        (message, _) => message.to_owned(),
    };
    let why = match programs.rule.execute(&context) {
        Ok(CelValue::Bool(true)) => return None,
        Ok(_) => {
            let expressed = programs.message.as_ref().map(|program| program.execute(&context));
            match expressed {
                Some(Ok(CelValue::String(text))) if !text.trim().is_empty() => text.trim().to_owned(),
                _ => message,
            }
        }
        // What is not there cannot be checked.
        Err(ExecutionError::UndeclaredReference(name)) => {
            tracing::debug!(%name, "a rule is not checked: it refers to what is not there");
            return None;
        }
        Err(error) => {
            let kind = schema.kind.map_or("", Type::name);
            let why = format!("{} evaluating rule: {message}", said(&error));
            let field = match path.to_string() {
                root if root.is_empty() => "<nil>".to_owned(),
                field => field,
            };
            return Some(Cause::invalid(field, format_args!("{kind:?}"), &why));
        }
    };
    let field = format!("{path}{}", rule.field_path);
    let field = match field.trim_start_matches('.') {
        "" => "<nil>".to_owned(),
        field => field.to_owned(),
    };
    Some(match &*rule.reason {
        "FieldValueForbidden" => Cause::forbidden(field, &why),
        "FieldValueRequired" => Cause::required(field, &why),
        "FieldValueDuplicate" => Cause::duplicate(field, value),
        // Objects and lists are not shown.
        _ if value.is_object() || value.is_array() => Cause {
            field: field.into(),
            reason: "FieldValueInvalid",
            message: format!("Invalid value: {why}"),
        },
        _ => Cause::invalid(field, value, &why),
    })
}

/// An error in the words of cel-go.
fn said(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(key) => format!("no such key: {key}"),
        ExecutionError::NoSuchOverload(_) => "no such overload".to_owned(),
        ExecutionError::DivisionByZero(_) => "division by zero".to_owned(),
        ExecutionError::RemainderByZero(_) => "modulus by zero".to_owned(),
        ExecutionError::Overflow(..) => "integer overflow".to_owned(),
        ExecutionError::IndexOutOfBounds(_) => "index out of bounds".to_owned(),
        // Others may show values.
        _ => "error".to_owned(),
    }
}

fn compile(rule: &Rule) -> Option<Programs> {
    let program = ENVIRONMENT.compile(&rule.rule).ok()?;
    let transition = program.references().has_variable("oldSelf");
    let message = match &*rule.message_expression {
        "" => None,
        expression => ENVIRONMENT.compile(expression).ok(),
    };
    Some(Programs {
        rule: program,
        message,
        transition,
    })
}

fn optional(value: OptionalValue) -> CelValue {
    let value: Arc<dyn Opaque> = Arc::new(value);
    CelValue::Opaque(value)
}

/// A value as its schema declares it to CEL.
fn to_cel(value: &Value, schema: &Schema) -> CelValue {
    match value {
        Value::Null => CelValue::Null,
        Value::Bool(flag) => CelValue::Bool(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(number) if schema.kind == Some(Type::Number) => CelValue::Float(number as f64),
            Some(number) => CelValue::Int(number),
            None => CelValue::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => string(text, schema),
        Value::Array(items) => {
            let of_items = schema.items.as_ref().map(super::Node::get);
            let items = items.iter().map(|item| match of_items {
                Some(schema) => to_cel(item, schema),
                None => to_cel(item, &Schema::default()),
            });
            CelValue::List(Arc::new(items.collect()))
        }
        Value::Object(members) => {
            let entries =
                members.iter().map(
                    |(name, value)| match (schema.properties.get(name), &schema.additional) {
                        (Some(node), _) => (escaped(name), to_cel(value, node.get())),
                        (None, Additional::Values(node)) => (name.clone(), to_cel(value, node.get())),
                        _ => (name.clone(), to_cel(value, &Schema::default())),
                    },
                );
            let map = entries.map(|(name, value)| (Key::String(Arc::new(name)), value));
            CelValue::Map(CelMap {
                map: Arc::new(map.collect()),
            })
        }
    }
}

fn string(text: &str, schema: &Schema) -> CelValue {
    use base64::Engine as _;
    let bytes = |text| base64::engine::general_purpose::STANDARD.decode(text).ok();
    match &*schema.format {
        "byte" => match bytes(text) {
            Some(bytes) => CelValue::Bytes(Arc::new(bytes)),
            None => CelValue::String(Arc::new(text.to_owned())),
        },
        // The crate's own functions read times and durations.
        "date-time" => called("timestamp", text),
        "duration" => called("duration", text),
        _ => CelValue::String(Arc::new(text.to_owned())),
    }
}

/// What a function of CEL makes of a string; the string if it cannot.
fn called(function: &str, text: &str) -> CelValue {
    let string = || CelValue::String(Arc::new(text.to_owned()));
    let Ok(program) = ENVIRONMENT.compile(&format!("{function}(text)")) else {
        return string();
    };
    let mut context = Context::with_env(ENVIRONMENT.clone());
    context.add_variable_from_value("text", string());
    program.execute(&context).unwrap_or_else(|_| string())
}

/// The name by which a rule calls a field, as Kubernetes escapes those that are no identifiers or are reserved.
fn escaped(name: &str) -> String {
    const RESERVED: [&str; 21] = [
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ];
    if RESERVED.contains(&name) {
        return format!("__{name}__");
    }
    let plain = !name.contains("__") && !name.contains(['.', '-', '/']);
    if plain {
        return name.to_owned();
    }
    name.replace("__", "__underscores__")
        .replace('.', "__dot__")
        .replace('-', "__dash__")
        .replace('/', "__slash__")
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
            ["spec: Invalid value: \"object\": no such key: min evaluating rule: failed rule: self.min < 5"]
        );
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
    fn values_are_of_the_types_of_their_schema() {
        let spec = json!({"part": 2, "for": "x", "a-b": "y", "after": "90s", "list": [3, 1]});
        for rule in [
            "self.part > 1.5 && type(self.part) == double",
            "self.__for__ == 'x' && self.a__dash__b == 'y'",
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

    #[test]
    fn a_rule_with_an_unknown_function_holds() {
        let rule = json!({"rule": "quantity(self.class).isGreaterThan(quantity('1Gi'))"});
        assert!(broken_by(rule, json!(null), json!({"class": "1Mi"})).is_empty());
    }
}
