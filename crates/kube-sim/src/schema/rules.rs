//! Whether the rules of a definition are such: what is said of them, and what they say.

use serde_json::Value;

use super::cel;
use crate::status::{Cause, Told, quoted};

/// Why an object breaks a rule.
const REASONS: [&str; 4] = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

/// A type of an object that has rules. A real server puts a number behind it, so that no expression can mention it.
const SELF_TYPE: &str = "selfType";

/// The rules of a schema, each with the path to it.
fn each<'a>(schema: &'a Value, path: &'a str) -> impl Iterator<Item = (&'a Value, String)> {
    let rules = schema["x-kubernetes-validations"].as_array();
    let rules = rules.into_iter().flatten().enumerate();
    rules.map(move |(n, rule)| (rule, format!("{path}.x-kubernetes-validations[{n}]")))
}

/// What is wrong with what is said of the rules of a schema, without those within.
pub(super) fn of_words(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    for (rule, path) in each(schema, path) {
        let text = |name: &str| rule[name].as_str().unwrap_or("");
        let at = |name: &str| format!("{path}.{name}");
        let (words, message) = (text("rule").trim(), text("message").trim());
        let breaks = |text: &str| text.contains(['\n', '\r']);
        if words.is_empty() {
            causes.push(Cause::required(at("rule"), "rule is not specified"));
        } else if !text("message").is_empty() && message.is_empty() {
            let shown = quoted(text("message"));
            causes.push(Cause::invalid(
                at("message"),
                shown,
                "must be non-empty if specified",
            ));
        } else if breaks(message) {
            let shown = quoted(text("message"));
            causes.push(Cause::invalid(
                at("message"),
                shown,
                "must not contain line breaks",
            ));
        } else if breaks(words) && message.is_empty() {
            let why = "message must be specified if rule contains line breaks";
            causes.push(Cause::required(at("message"), why));
        }
        if !text("messageExpression").is_empty() && text("messageExpression").trim().is_empty() {
            let why = "messageExpression must be non-empty if specified";
            causes.push(Cause::required(at("messageExpression"), why));
        }
        let reason = &rule["reason"];
        if !reason.is_null() && !REASONS.contains(&text("reason")) {
            let supported = REASONS.map(quoted).join(", ");
            causes.push(Cause::unsupported(at("reason"), reason, &supported));
        }
    }
}

/// What is wrong with the expressions of the rules of a schema, and of those within.
pub(super) fn of_expressions(schema: &Value, path: &str) -> Vec<Cause> {
    let mut told = Told::default();
    within(schema, None, true, path, None, &mut told);
    told.into_vec()
}

/// `of` is the type of what the schema describes, if a schema around has rules. In `uncorrelated`, values are not compared with what they
/// were.
fn within(
    schema: &Value,
    of: Option<&cel::TypeOf>,
    is_root: bool,
    path: &str,
    uncorrelated: Option<&str>,
    told: &mut Told,
) {
    if told.is_full() {
        return;
    }
    let has_rules = each(schema, path).next().is_some();
    let is_root = is_root || schema["x-kubernetes-embedded-resource"] == true;
    let own = (of.is_none() && has_rules).then(|| cel::type_of(schema, is_root, SELF_TYPE));
    let of = of.or(own.as_ref().and_then(Option::as_ref));
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let of = of.and_then(|of| cel::property(of, name));
        let path = crate::path::below(path, format_args!(".properties[{name}]"));
        within(property, of, false, &path, uncorrelated, told);
    }
    for name in ["items", "additionalProperties"] {
        let Some(part) = schema.get(name).filter(|part| part.is_object()) else {
            continue;
        };
        let is_compared = name != "items" || schema["x-kubernetes-list-type"] == "map";
        let uncorrelated = uncorrelated.or((!is_compared).then_some(path));
        let of = of.and_then(cel::each);
        within(part, of, false, &format!("{path}.{name}"), uncorrelated, told);
    }
    match of {
        Some(of) => {
            for (rule, path) in each(schema, path) {
                if told.is_full() {
                    return;
                }
                of_rule(rule, of, &path, uncorrelated, told);
            }
        }
        None if has_rules => {
            let why = "Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: \
                       unable to convert structural schema to CEL declarations";
            told.push(Cause {
                field: format!("{path}.x-kubernetes-validations").into(),
                reason: "InternalError",
                message: why.to_owned(),
            });
        }
        None => {}
    }
}

fn of_rule(rule: &Value, of: &cel::TypeOf, path: &str, uncorrelated: Option<&str>, told: &mut Told) {
    let text = |name: &str| rule[name].as_str().unwrap_or("");
    let mut fault = |name: &str, shown: String, why: &str| {
        told.push(Cause::invalid(format!("{path}.{name}"), shown, why));
    };
    let optional = &rule["optionalOldSelf"];
    let old = match *optional == true {
        true => cel::TypeOf::optional(of.clone()),
        false => of.clone(),
    };
    let declared = cel::Declared::default()
        .with("self", of.clone())
        .with("oldSelf", old);
    let words = text("rule");
    let compares = match cel::checked(words, &declared) {
        Ok(cel::TypeOf::Bool) => cel::mentions(words, "oldSelf"),
        found => {
            let why = found.err();
            let why = why.unwrap_or_else(|| "cel expression must evaluate to a bool".to_owned());
            fault("rule", cel::go_struct(rule), &why);
            false
        }
    };
    let expression = text("messageExpression");
    if !expression.is_empty() {
        match cel::checked(expression, &declared) {
            Ok(cel::TypeOf::String) => {}
            found => {
                let why = found.map_err(|why| format!("messageExpression {why}"));
                let why = why.map_or_else(
                    |why| why,
                    |_| "messageExpression must evaluate to a string".to_owned(),
                );
                fault("messageExpression", cel::go_struct(rule), &why);
            }
        }
    }
    if compares && let Some(above) = uncorrelated {
        let why =
            format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {above}");
        fault("rule", quoted(words), &why);
    } else if !compares && !optional.is_null() {
        let why = "may not be set if oldSelf is not used in rule";
        fault("optionalOldSelf", optional.to_string(), why);
    }
}
