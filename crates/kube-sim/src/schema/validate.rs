//! Validation of a value against a schema, with a kube-apiserver's messages.
//!
//! Every part of a schema that concerns a value is checked, also when its type is wrong, as a real server does. The
//! causes are in the order of the fields' names.

use serde_json::{Map, Number, Value};

use super::ratchet::Unchanged;
use super::{Additional, Limits, Schema, Type, cel, embedded, format, lists, prune};
use crate::path::{Path, below};
use crate::status::{Cause, Told, quoted, shown};

/// What is wrong with a value, and how much of it was checked: that decides which alternative of `anyOf` is told of.
#[derive(Default)]
struct Findings {
    causes: Told,
    checks: usize,
}

impl Findings {
    fn merge(&mut self, other: Self) {
        self.causes.extend(other.causes.into_vec());
        self.checks += other.checks;
    }

    fn add(&mut self, path: &str, reason: &'static str, message: String) {
        let field = match path {
            "" => "<nil>".to_owned(),
            path => path.trim_start_matches('.').to_owned(),
        };
        self.causes.push(Cause {
            field: field.into(),
            reason,
            message,
        });
    }

    fn invalid(&mut self, path: &str, value: &Value, why: String) {
        let message = format!("Invalid value: {}: {path} in body {why}", shown(value));
        self.add(path, "FieldValueInvalid", message);
    }

    fn mistyped(&mut self, path: &str, expected: &str, given: &str) {
        let message =
            format!("Invalid value: {given:?}: {path} in body must be of type {expected}: {given:?}");
        self.add(path, "FieldValueTypeInvalid", message);
    }
}

/// The causes for which an object does not fit the schema of its kind. What is as it was in `old` may stay so.
///
/// Through the subresource `status`, only the status is looked at.
pub(crate) fn validate_object(
    schema: &Schema,
    old: Option<&Map<String, Value>>,
    new: &Map<String, Value>,
    subresource: Option<&str>,
) -> Vec<Cause> {
    let mut causes = match (subresource, schema.properties.get("status")) {
        (Some("status"), None) => Vec::new(),
        (Some("status"), Some(node)) => {
            let old = old.and_then(|old| old.get("status"));
            match new.get("status") {
                Some(status) => within("status", all_causes(status, old, node.get())),
                None => Vec::new(),
            }
        }
        _ => {
            let old = old.map(|old| Value::Object(old.clone()));
            let new = Value::Object(new.clone());
            all_causes(&new, old.as_ref(), schema)
        }
    };
    causes.extend(embedded::all_faults(new, schema));
    let had_duplicates = old.is_some_and(|old| !lists::duplicates(old, schema).is_empty());
    if !had_duplicates {
        causes.extend(lists::duplicates(new, schema));
    }
    if schema.has_rules {
        // That it has no name is found before.
        let is_nameless =
            || old.is_none() && new.get("metadata").is_some_and(|metadata| metadata["name"] == "");
        if causes.iter().any(blocks_rules) || is_nameless() {
            let why = "some validation rules were not checked because the object was invalid; correct the existing \
                 errors to complete validation";
            causes.push(Cause::invalid("<nil>", "null", why));
        } else {
            causes.extend(cel::broken(schema, old, new));
        }
    }
    causes
}

/// The causes for which a default does not fit its schema; `path` leads to it. One that loses its unknown fields may have some.
pub(crate) fn validate_default(
    schema: &Schema,
    default: &Value,
    path: &str,
    loses_unknown: bool,
) -> Vec<Cause> {
    // An integer or a string may be anything here, as in a real server.
    let checked = match schema.int_or_string {
        true => Vec::new(),
        false => all_causes(default, None, schema),
    };
    let mut causes = within(path, checked);
    causes.extend(within(path, embedded::faults_of(default, schema)));
    let mut pruned = default.clone();
    if !loses_unknown && prune::unknown_in(&mut pruned, schema) {
        causes.insert(
            0,
            Cause::invalid(path.to_owned(), default, "must not have unknown fields"),
        );
    }
    if causes.is_empty() && schema.has_rules {
        causes = within(path, cel::broken_by(schema, None, default, &Path::Root));
    }
    causes
}

/// Whether an object is so wrong that its rules cannot be asked.
fn blocks_rules(cause: &Cause) -> bool {
    matches!(
        cause.reason,
        "FieldValueNotSupported"
            | "FieldValueRequired"
            | "FieldValueTooLong"
            | "FieldValueTooMany"
            | "FieldValueTypeInvalid"
    )
}

/// The causes of a part as those of the whole; their texts stay.
fn within(part: &str, mut causes: Vec<Cause>) -> Vec<Cause> {
    for cause in &mut causes {
        cause.field = match &*cause.field {
            "<nil>" => part.to_owned().into(),
            field => format!("{part}.{field}").into(),
        };
    }
    causes
}

/// What is wrong with a whole value.
fn all_causes(value: &Value, old: Option<&Value>, schema: &Schema) -> Vec<Cause> {
    check(value, old, schema, "", &mut Unchanged::default())
        .causes
        .into_vec()
}

/// Checks a value. What is wrong with one that is as it was may stay.
fn check(
    value: &Value,
    old: Option<&Value>,
    schema: &Schema,
    path: &str,
    unchanged: &mut Unchanged,
) -> Findings {
    let mut findings = check_value(value, old, schema, path, unchanged);
    if !findings.causes.is_empty() && old.is_some_and(|old| unchanged.holds(value, old, schema)) {
        findings.causes = Told::default();
    }
    findings
}

fn check_value(
    value: &Value,
    old: Option<&Value>,
    schema: &Schema,
    path: &str,
    unchanged: &mut Unchanged,
) -> Findings {
    let mut findings = Findings::default();
    check_alone(value, schema, path, &mut findings);
    match value {
        Value::Null => return findings,
        Value::Array(items) => {
            if let Some(node) = &schema.items {
                let old_items = lists::OldItems::of(old, schema);
                for (index, item) in items.iter().enumerate() {
                    let path = below(path, format_args!("[{index}]"));
                    findings.merge(check(item, old_items.get(item), node.get(), &path, unchanged));
                }
            }
        }
        Value::Object(members) => check_object(members, old, schema, path, &mut findings, unchanged),
        _ => {}
    }
    findings.checks += 1;
    findings
}

/// Checks a value, but for what is in it.
fn check_alone(value: &Value, schema: &Schema, path: &str, findings: &mut Findings) {
    check_type(value, schema, path, findings);
    if value.is_null() {
        if let Some(limits) = &schema.limits {
            check_allowed(value, limits, path, findings);
        }
        return;
    }
    if let Value::Number(number) = value {
        check_range(number, schema, path, findings);
    }
    if let Some(limits) = &schema.limits {
        check_combinations(value, limits, path, findings);
        match value {
            Value::String(text) => check_string(value, text, limits, path, findings),
            Value::Number(number) => check_number(number, limits, path, findings),
            Value::Array(items) => check_count(items, limits, path, findings),
            _ => {}
        }
        check_allowed(value, limits, path, findings);
    }
    if let Value::String(text) = value
        && matches!(schema.kind, None | Some(Type::String))
    {
        let format = &*schema.format;
        if !format.is_empty() && !schema.int_or_string && !format::fits(format, text) {
            let message = format!(
                "Invalid value: {0}: {path} in body must be of type {format}: {0}",
                quoted(text)
            );
            findings.add(path, "FieldValueTypeInvalid", message);
        }
    }
}

fn check_type(value: &Value, schema: &Schema, path: &str, findings: &mut Findings) {
    let kind = |expected: Type| match (expected, value) {
        (Type::Object, Value::Object(_))
        | (Type::Array, Value::Array(_))
        | (Type::String, Value::String(_))
        | (Type::Boolean, Value::Bool(_))
        | (Type::Number, Value::Number(_)) => true,
        (Type::Integer, Value::Number(number)) => is_whole(number),
        _ => false,
    };
    let given = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let expected = match schema.kind {
        _ if schema.int_or_string => {
            if kind(Type::Integer) || kind(Type::String) || (value.is_null() && schema.nullable) {
                findings.checks += 1;
                return;
            }
            "integer,string"
        }
        None => return,
        Some(expected) => {
            if kind(expected) || (value.is_null() && schema.nullable) {
                findings.checks += 1;
                return;
            }
            // A format is told of before the type, and the value by the name of its Go type.
            let named = match value {
                Value::Number(number) if number.is_i64() => "int64",
                Value::Number(_) => "float64",
                _ => "",
            };
            let other = !matches!(value, Value::String(_) | Value::Array(_) | Value::Null);
            if other && format::is_known(expected, &schema.format) {
                findings.mistyped(path, &schema.format, named);
                return;
            }
            expected.name()
        }
    };
    findings.mistyped(path, expected, given);
}

/// Whether a number is one of the range of its type, which a real server tells of the object as a whole.
fn check_range(number: &Number, schema: &Schema, path: &str, findings: &mut Findings) {
    let whole = number.as_i64().or_else(|| {
        let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
        (float.abs() < 9.2e18).then_some(float as i64)
    });
    let (fits, of) = match (schema.kind, &*schema.format) {
        (Some(Type::Integer), "int32") => (
            whole.is_some_and(|number| i32::try_from(number).is_ok()),
            "integer with format int32",
        ),
        (Some(Type::Integer), "int64") => (whole.is_some(), "integer with format int64"),
        (Some(Type::Integer), _) => (whole.is_some(), "integer (default format)"),
        _ => return,
    };
    if !fits {
        let message = format!("Invalid value: \"\": Checked value must be of type {of} in {path}");
        findings.add("", "FieldValueInvalid", message);
    }
}

/// Whether a number is whole; Go knows a floating-point number to be whole only as far as all of them can be told apart.
fn is_whole(number: &Number) -> bool {
    const EXACT: f64 = 9_007_199_254_740_991.0;
    let is_exact = |number: f64| number.fract() == 0.0 && number.abs() <= EXACT;
    number.is_i64() || number.as_f64().is_some_and(is_exact)
}

fn check_allowed(value: &Value, limits: &Limits, path: &str, findings: &mut Findings) {
    let equal = |allowed: &Value| match (allowed, value) {
        (Value::Number(allowed), Value::Number(given)) => allowed.as_f64() == given.as_f64(),
        _ => allowed == value,
    };
    // Go passes over null: it is never among the values.
    let mut allowed = limits.allowed.iter().filter(|allowed| !allowed.is_null());
    if limits.allowed.is_empty() || allowed.any(equal) {
        return;
    }
    let quoted = limits.allowed.iter().map(|allowed| match allowed {
        Value::String(text) => crate::status::quoted(text),
        other => crate::status::quoted(&shown(other)),
    });
    let supported: Vec<_> = quoted.collect();
    let message = format!(
        "Unsupported value: {}: supported values: {}",
        shown(value),
        supported.join(", ")
    );
    findings.add(path, "FieldValueNotSupported", message);
}

fn check_string(value: &Value, text: &str, limits: &Limits, path: &str, findings: &mut Findings) {
    let length = text.chars().count() as u64;
    if let Some(max) = limits.max_length.filter(|max| length > *max) {
        let bytes = if max == 1 { "byte" } else { "bytes" };
        let message = format!("Too long: may not be more than {max} {bytes}");
        findings.add(path, "FieldValueTooLong", message);
    } else if let Some(min) = limits.min_length.filter(|min| length < *min) {
        findings.invalid(path, value, format!("should be at least {min} chars long"));
    } else if !limits.pattern.is_in(text) {
        findings.invalid(path, value, format!("should match '{}'", limits.pattern.as_str()));
    }
}

fn check_number(given: &Number, limits: &Limits, path: &str, findings: &mut Findings) {
    let (Some(number), value) = (given.as_f64(), Value::Number(given.clone())) else {
        return;
    };
    if let Some(factor) = &limits.multiple_of {
        let divisor = factor.as_f64().unwrap_or(1.0);
        let multiple = match divisor < 1.0 {
            true => 1.0 / divisor * number,
            false => number / divisor,
        };
        if !is_nearly_whole(multiple) {
            findings.invalid(path, &value, format!("should be a multiple of {factor}"));
        }
    }
    let shown = |limit: &Number| match limit.as_f64() {
        Some(limit) if limit.fract() == 0.0 && limit.abs() < 1e15 => format!("{limit:.0}"),
        _ => limit.to_string(),
    };
    if let Some(min) = &limits.minimum {
        let limit = min.as_f64().unwrap_or(f64::MIN);
        if limits.exclusive_minimum && number <= limit {
            findings.invalid(path, &value, format!("should be greater than {}", shown(min)));
        } else if !limits.exclusive_minimum && number < limit {
            let why = format!("should be greater than or equal to {}", shown(min));
            findings.invalid(path, &value, why);
        }
    }
    if let Some(max) = &limits.maximum {
        let limit = max.as_f64().unwrap_or(f64::MAX);
        if limits.exclusive_maximum && number >= limit {
            findings.invalid(path, &value, format!("should be less than {}", shown(max)));
        } else if !limits.exclusive_maximum && number > limit {
            findings.invalid(
                path,
                &value,
                format!("should be less than or equal to {}", shown(max)),
            );
        }
    }
}

/// Whether a quotient is whole but for what floating point leaves, as Go's validation takes it.
fn is_nearly_whole(number: f64) -> bool {
    let whole = number.trunc();
    number == whole || (number - whole).abs() / (number.abs() + whole.abs()) < 1e-9
}

fn check_count(items: &[Value], limits: &Limits, path: &str, findings: &mut Findings) {
    let count = items.len() as u64;
    if let Some(min) = limits.min_items.filter(|min| count < *min) {
        findings.invalid(path, &count.into(), format!("should have at least {min} items"));
    }
    if let Some(max) = limits.max_items.filter(|max| count > *max) {
        findings.add(path, "FieldValueTooMany", too_many(count, max));
    }
    let repeats = |(index, item): (usize, &Value)| items[..index].contains(item);
    if limits.unique_items && items.iter().enumerate().any(repeats) {
        findings.invalid(path, &"".into(), "shouldn't contain duplicates".into());
    }
}

fn too_many(count: u64, max: u64) -> String {
    let items = if max == 1 { "item" } else { "items" };
    format!("Too many: {count}: must have at most {max} {items}")
}

fn check_object(
    members: &Map<String, Value>,
    old: Option<&Value>,
    schema: &Schema,
    path: &str,
    findings: &mut Findings,
    unchanged: &mut Unchanged,
) {
    let count = members.len() as u64;
    if let Some(limits) = &schema.limits {
        if let Some(min) = limits.min_properties.filter(|min| count < *min) {
            findings.invalid(
                path,
                &count.into(),
                format!("should have at least {min} properties"),
            );
        }
        if let Some(max) = limits.max_properties.filter(|max| count > *max) {
            findings.add(path, "FieldValueTooMany", too_many(count, max));
        }
    }
    let schema_has = |name: &String| schema.properties.contains_key(name);
    for (name, value) in members {
        let node = match (schema.properties.get(name), &schema.additional) {
            (Some(node), _) => node,
            (None, Additional::Values(node)) => node,
            (None, Additional::Nothing) => {
                let message =
                    format!("Invalid value: {name:?}: {path}.{name} in body is a forbidden property");
                findings.add(path, "FieldValueInvalid", message);
                continue;
            }
            _ => continue,
        };
        // The metadata of objects is checked elsewhere.
        if let super::Node::Here(schema) = node {
            // What an object is may not stay wrong.
            let may_stay = !path.is_empty() || !matches!(name.as_str(), "apiVersion" | "kind");
            let path = match path {
                "" if schema_has(name) => name.clone(),
                path => below(path, format_args!(".{name}")),
            };
            let old = old.filter(|_| may_stay).and_then(|old| old.get(name));
            findings.merge(check(value, old, schema, &path, unchanged));
        }
    }
    for name in &schema.required {
        if !members.contains_key(name) {
            let path = below(path, format_args!(".{name}"));
            findings.add(&path, "FieldValueRequired", "Required value".into());
        }
    }
}

fn check_combinations(value: &Value, limits: &Limits, path: &str, findings: &mut Findings) {
    // Within an alternative, nothing may stay as it was.
    let against = |schema: &Schema| check(value, None, schema, path, &mut Unchanged::default());
    let results = |schemas: &[Schema]| -> Vec<Findings> { schemas.iter().map(against).collect() };
    let best = |failed: Vec<Findings>| {
        failed
            .into_iter()
            .reduce(|best, next| if next.checks > best.checks { next } else { best })
            .unwrap_or_default()
    };
    if !limits.any_of.is_empty() {
        let results = results(&limits.any_of);
        if !results.iter().any(|result| result.causes.is_empty()) {
            combination(findings, path, "must validate at least one schema (anyOf)");
            findings.merge(best(results));
        }
    }
    if !limits.one_of.is_empty() {
        let results = results(&limits.one_of);
        match results.iter().filter(|result| result.causes.is_empty()).count() {
            1 => {}
            0 => {
                let why = "must validate one and only one schema (oneOf). Found none valid";
                combination(findings, path, why);
                findings.merge(best(results));
            }
            many => {
                let why =
                    format!("must validate one and only one schema (oneOf). Found {many} valid alternatives");
                combination(findings, path, &why);
            }
        }
    }
    if !limits.all_of.is_empty() {
        let results = results(&limits.all_of);
        let fit = results.iter().filter(|result| result.causes.is_empty()).count();
        let all = results.len();
        results.into_iter().for_each(|result| findings.merge(result));
        if fit < all {
            let none = if fit == 0 { ". None validated" } else { "" };
            combination(
                findings,
                path,
                &format!("must validate all the schemas (allOf){none}"),
            );
        }
    }
    if let Some(not) = &limits.not
        && against(not).causes.is_empty()
    {
        combination(findings, path, "must not validate the schema (not)");
    }
}

/// What a real server tells of the object as a whole, naming the path in its text.
fn combination(findings: &mut Findings, path: &str, why: &str) {
    let message = format!("Invalid value: \"\": {path:?} {why}");
    findings.add("", "FieldValueInvalid", message);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_key_is_not_told_with_each_fault_below_it() {
        let schema = Schema::parse(&json!({"type": "object", "additionalProperties": {
            "type": "array", "items": {"type": "string"},
        }}));
        for length in [3_000, 50_000] {
            let object = json!({"k".repeat(length): vec![1; 4_000]});
            let causes = validate_object(&schema, None, object.as_object().unwrap(), None);
            let told: usize = causes
                .iter()
                .map(|cause| cause.field.len() + cause.message.len())
                .sum();
            assert!((1..16 << 20).contains(&told), "{told}");
        }
    }
}
