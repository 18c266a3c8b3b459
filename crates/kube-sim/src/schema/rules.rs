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
        let field = text("fieldPath");
        let mut wrong = |why: &str| causes.push(Cause::invalid(at("fieldPath"), quoted(field), why));
        if !field.is_empty() {
            if field.trim().is_empty() {
                wrong("must be non-empty if specified");
            }
            if breaks(field) {
                wrong("must not contain line breaks");
            }
            if !leads_to_field(field, schema) {
                wrong("must be a valid path");
            }
        }
    }
}

/// Whether a path such as `.a.b['c']` leads to a property, or to a value of a map.
fn leads_to_field(path: &str, schema: &Value) -> bool {
    let (mut rest, mut schema) = (path, schema);
    while let Some(start) = token(&mut rest) {
        let name = match start {
            "." => token(&mut rest).map(str::to_owned),
            "[" => {
                let name = token(&mut rest).and_then(unquoted);
                name.filter(|_| token(&mut rest) == Some("]"))
            }
            _ => None,
        };
        let properties = schema["properties"].as_object().filter(|all| !all.is_empty());
        let values = schema
            .get("additionalProperties")
            .filter(|values| !values.is_null());
        let below = name.and_then(|name| match properties {
            Some(properties) => properties.get(&name),
            None => values,
        });
        match below {
            Some(below) => schema = below,
            None => return false,
        }
    }
    true
}

/// Takes a dot, a bracket, a text in quotes, or what is before one of them.
fn token<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let end = match rest.chars().next()? {
        '.' | '[' | ']' => Some(1),
        '\'' => {
            let quotes = rest.match_indices('\'').skip(1);
            let mut ends = quotes.map(|(at, _)| at).filter(|at| !rest[..*at].ends_with('\\'));
            ends.next().map(|at| at + 1)
        }
        _ => rest.find(['.', '[', ']']),
    };
    let (token, after) = rest.split_at(end.unwrap_or(rest.len()));
    *rest = after;
    Some(token)
}

/// What is in single quotes.
fn unquoted(text: &str) -> Option<String> {
    let text = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut name = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        name.push(match letter {
            '\\' => match letters.next()? {
                'a' => '\u{7}',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'v' => '\u{b}',
                other @ ('\'' | '\\') => other,
                _ => return None,
            },
            letter => letter,
        });
    }
    Some(name)
}

/// The most that a rule may cost, wherever it applies, and all rules of a schema.
const OF_RULE: u64 = 10_000_000;
const OF_SCHEMA: u64 = 100_000_000;

/// So many rules are told of when all cost too much.
const MOST_EXPENSIVE: usize = 4;

/// What is wrong with the expressions of the rules of a schema, and of those within. What `was_there` may cost more than is allowed for
/// one rule.
pub(super) fn of_expressions(
    schema: &Value,
    path: &str,
    was_there: bool,
    declared: &cel::Declared,
) -> Vec<Cause> {
    let mut rules = Rules {
        was_there,
        declared: declared.clone(),
        told: Told::default(),
        total: 0,
        expensive: Vec::new(),
    };
    let root = Place {
        of: None,
        in_rules: false,
        is_unknown: false,
        is_root: true,
        uncorrelated: None,
        times: Some(1),
    };
    rules.within(schema, root, path);
    rules.add_total(path);
    rules.told.into_vec()
}

/// The types and sizes of what a schema describes.
#[derive(Clone, Copy)]
struct Described<'a> {
    of: &'a cel::TypeOf,
    sizes: &'a cel::Sizes,
}

impl<'a> Described<'a> {
    fn property(self, name: &str) -> Option<Self> {
        let (of, sizes) = (cel::property(self.of, name)?, self.sizes.property(name)?);
        Some(Self { of, sizes })
    }

    fn each(self) -> Option<Self> {
        let (of, sizes) = (cel::each(self.of)?, self.sizes.each()?);
        Some(Self { of, sizes })
    }
}

/// Where a schema is in another one.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// What it describes, if a schema around has rules, and rules can see this.
    of: Option<Described<'a>>,
    /// Whether a schema around has rules, or this one.
    in_rules: bool,
    /// Whether a schema around describes what rules cannot see, so that nothing is known of this.
    is_unknown: bool,
    is_root: bool,
    /// The schema in which values are not compared with what they were.
    uncorrelated: Option<&'a str>,
    /// How often it may apply, as far as the schemas around it say.
    times: Option<u64>,
}

/// The rules of a schema, while they are looked at.
struct Rules {
    was_there: bool,
    /// What all rules may mention.
    declared: cel::Declared,
    told: Told,
    total: u64,
    /// The paths to the rules that cost most, with their costs.
    expensive: Vec<(u64, String)>,
}

impl Rules {
    fn within(&mut self, schema: &Value, place: Place<'_>, path: &str) {
        if self.told.is_full() {
            return;
        }
        let has_rules = each(schema, path).next().is_some();
        let is_root = place.is_root || schema["x-kubernetes-embedded-resource"] == true;
        let in_rules = place.in_rules || has_rules;
        let needs_own = place.of.is_none() && !place.is_unknown && in_rules && has_rules_within(schema);
        let own = needs_own.then(|| {
            let of = cel::type_of(schema, is_root, SELF_TYPE)?;
            Some((of, cel::sizes_of(schema, is_root)?))
        });
        let is_unknown = place.is_unknown || matches!(own, Some(None));
        let own = own.as_ref().and_then(Option::as_ref);
        let of = place.of.or(own.map(|(of, sizes)| Described { of, sizes }));
        let below = Place {
            in_rules,
            is_unknown,
            is_root: false,
            times: times_within(schema, place.times),
            ..place
        };
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let path = crate::path::below(path, format_args!(".properties[{name}]"));
            let of = of.and_then(|of| of.property(name));
            self.within(property, Place { of, ..below }, &path);
        }
        for name in ["items", "additionalProperties"] {
            let Some(part) = schema.get(name).filter(|part| part.is_object()) else {
                continue;
            };
            let is_compared = name != "items" || schema["x-kubernetes-list-type"] == "map";
            let place = Place {
                of: of.and_then(Described::each),
                uncorrelated: place.uncorrelated.or((!is_compared).then_some(path)),
                ..below
            };
            self.within(part, place, &format!("{path}.{name}"));
        }
        match of {
            Some(of) => {
                for (rule, path) in each(schema, path) {
                    if self.told.is_full() {
                        return;
                    }
                    let times = place.times.unwrap_or_else(|| of.sizes.most_times());
                    self.of_rule(rule, of, times, place.uncorrelated, &path);
                }
            }
            None if has_rules => {
                let why = "Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: \
                           unable to convert structural schema to CEL declarations";
                self.told.push(Cause {
                    field: format!("{path}.x-kubernetes-validations").into(),
                    reason: "InternalError",
                    message: why.to_owned(),
                });
            }
            None => {}
        }
    }

    fn of_rule(
        &mut self,
        rule: &Value,
        of: Described<'_>,
        times: u64,
        uncorrelated: Option<&str>,
        path: &str,
    ) {
        let text = |name: &str| rule[name].as_str().unwrap_or("");
        let at = |name: &str| format!("{path}.{name}");
        let (words, expression) = (text("rule"), text("messageExpression"));
        let optional = &rule["optionalOldSelf"];
        let old = match *optional == true {
            true => cel::TypeOf::optional(of.of.clone()),
            false => of.of.clone(),
        };
        let declared = self
            .declared
            .clone()
            .with("self", of.of.clone())
            .with("oldSelf", old);
        let mut compares = false;
        match of_type(words, &declared, &cel::TypeOf::Bool) {
            Ok(checked) => {
                let cost = most_of(&checked, of.sizes).saturating_mul(times);
                self.count("estimated rule cost", cost, at("rule"));
                compares = cel::mentions(words, "oldSelf");
                if !expression.is_empty() {
                    match of_type(expression, &declared, &cel::TypeOf::String) {
                        Ok(checked) => {
                            let cost = most_of(&checked, of.sizes);
                            let name = "estimated messageExpression cost";
                            self.count(name, cost, at("messageExpression"));
                        }
                        Err(why) => {
                            let why = why.map_or_else(
                                || "messageExpression must evaluate to a string".to_owned(),
                                |why| format!("messageExpression {why}"),
                            );
                            let shown = cel::go_struct(rule);
                            self.told
                                .push(Cause::invalid(at("messageExpression"), shown, &why));
                        }
                    }
                }
            }
            Err(why) => {
                let why = why.unwrap_or_else(|| "cel expression must evaluate to a bool".to_owned());
                self.told
                    .push(Cause::invalid(at("rule"), cel::go_struct(rule), &why));
            }
        }
        if compares && let Some(above) = uncorrelated {
            let why =
                format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {above}");
            self.told.push(Cause::invalid(at("rule"), quoted(words), &why));
        } else if !compares && !optional.is_null() {
            let why = "may not be set if oldSelf is not used in rule";
            self.told
                .push(Cause::invalid(at("optionalOldSelf"), optional.to_string(), why));
        }
    }

    /// Takes what an expression may cost.
    fn count(&mut self, name: &str, cost: u64, path: String) {
        if cost > OF_RULE && !self.was_there {
            self.told
                .push(Cause::forbidden(path.clone(), &exceeds(name, cost, OF_RULE)));
        }
        self.total = self.total.saturating_add(cost);
        if cost >= OF_SCHEMA / 100 {
            self.expensive.push((cost, path));
            self.expensive.sort_by_key(|(cost, _)| std::cmp::Reverse(*cost));
            self.expensive.truncate(MOST_EXPENSIVE);
        }
    }

    fn add_total(&mut self, path: &str) {
        if self.total <= OF_SCHEMA {
            return;
        }
        for (_, path) in std::mem::take(&mut self.expensive) {
            let why =
                "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
            self.told.push(Cause::forbidden(path, why));
        }
        let name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        let why = exceeds(name, self.total, OF_SCHEMA);
        self.told.push(Cause::forbidden(path.to_owned(), &why));
    }
}

/// Whether a schema has rules, or one in it.
fn has_rules_within(schema: &Value) -> bool {
    let is_of_rules = each(schema, "").next().is_some();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let parts = ["items", "additionalProperties"].map(|name| &schema[name]);
    let mut below = properties.map(|(_, property)| property).chain(parts);
    is_of_rules || below.any(|part| part.is_object() && has_rules_within(part))
}

/// How often what is in a schema may apply, if all schemas around say how much there is.
fn times_within(schema: &Value, times: Option<u64>) -> Option<u64> {
    let most = |name: &str| schema[name].as_i64().map(|most| most.max(0) as u64);
    let each = match schema["type"].as_str() {
        Some("object") if !schema["additionalProperties"].is_null() => most("maxProperties")?,
        Some("array") => most("maxItems")?,
        _ => 1,
    };
    Some(times?.saturating_mul(each))
}

/// The most that an expression may cost; nothing if its types are not known.
fn most_of(checked: &cel::Checked, of_self: &cel::Sizes) -> u64 {
    match checked.of() {
        Some(_) => cel::most_of(checked, of_self),
        None => 0,
    }
}

/// An expression of a type; an error says what is wrong with it, if its type is not all that is.
fn of_type(
    expression: &str,
    declared: &cel::Declared,
    wanted: &cel::TypeOf,
) -> Result<cel::Checked, Option<String>> {
    let checked = cel::checked(expression, declared).map_err(Some)?;
    match checked.of() {
        Some(of) if of != wanted => Err(None),
        _ => Ok(checked),
    }
}

fn exceeds(name: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let factor = match factor {
        factor if factor > 100.0 => "more than 100x".to_owned(),
        factor if factor < 1.5 => format!("{factor:.6}x"),
        factor => format!("{factor:.1}x"),
    };
    format!(
        "{name} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where \
         arrays, maps, and strings are declared)"
    )
}
