//! The paths of columns that definitions add: JSONPath as client-go has it.
//!
//! Names, `['names']`, indices, ranges, `*`, `..`, unions and filters (`[?(@.type=="Ready")]`). What a path finds is found in the
//! order of the object.

use serde_json::{Map, Value};

/// A path, read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Path(Vec<Step>);

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Field(String),
    Wildcard,
    Descend,
    /// From, to (exclusive) and step.
    Slice(Option<i64>, Option<i64>, usize),
    /// One item, from the end if it is negative.
    Index(i64),
    Union(Vec<Path>),
    Filter(Path, Option<(Comparison, Operand)>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    Value(Value),
    Path(Path),
}

/// An index or a comparison that does not fit what it is applied to: the path finds nothing.
struct Unfit;

impl Path {
    /// `None` if it cannot be read.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut steps = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            rest = step(rest, &mut steps)?;
        }
        Some(Self(steps))
    }

    /// The first value that it finds.
    pub(super) fn first<'a>(&self, object: &'a Map<String, Value>) -> Option<&'a Value> {
        // The outermost object is no `Value`: the first step is made here.
        let (first, rest) = self.0.split_first()?;
        let mut found: Vec<&'a Value> = match first {
            Step::Field(name) => object.get(name).into_iter().collect(),
            Step::Wildcard => object.values().collect(),
            Step::Descend => {
                let mut all = Vec::new();
                object.values().for_each(|value| descend(value, &mut all));
                // A name after it is one of the outermost object, too.
                if let Some(Step::Field(name)) = rest.first() {
                    let outermost = object.get(name);
                    let within = apply(&rest[..1], all).ok()?;
                    let found = outermost.into_iter().chain(within).collect();
                    return apply(&rest[1..], found).ok()?.first().copied();
                }
                all
            }
            _ => return None,
        };
        found = apply(rest, found).ok()?;
        found.first().copied()
    }
}

/// Takes one step off the text.
fn step<'a>(text: &'a str, steps: &mut Vec<Step>) -> Option<&'a str> {
    if let Some(rest) = text.strip_prefix("[?(") {
        let end = end_of_filter(rest)?;
        steps.push(filter(&rest[..end])?);
        return rest[end..].strip_prefix(")]");
    }
    if let Some(rest) = text.strip_prefix("..") {
        steps.push(Step::Descend);
        return match rest.chars().next() {
            Some(c) if c.is_alphanumeric() || c == '_' => field(rest, steps),
            _ => Some(rest),
        };
    }
    match text.chars().next()? {
        '@' | '$' | ' ' => Some(&text[1..]),
        '.' => field(&text[1..], steps),
        '[' => {
            let (inner, rest) = text[1..].split_once(']')?;
            let mut parts: Vec<_> = inner.split(',').map(|part| bracketed(part.trim())).collect();
            steps.push(match parts.len() {
                1 => parts.pop()??,
                _ => {
                    let paths = parts.into_iter().map(|part| Some(Path(vec![part?])));
                    Step::Union(paths.collect::<Option<_>>()?)
                }
            });
            Some(rest)
        }
        _ => None,
    }
}

/// Takes a name off the text; a backslash makes what follows a part of it.
fn field<'a>(text: &'a str, steps: &mut Vec<Step>) -> Option<&'a str> {
    let mut name = String::new();
    let mut escaped = false;
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => {
                name.push(c);
                escaped = false;
            }
            '\\' => escaped = true,
            ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}' => {
                end = at;
                break;
            }
            c => name.push(c),
        }
    }
    steps.push(if name == "*" {
        Step::Wildcard
    } else {
        Step::Field(name)
    });
    Some(&text[end..])
}

/// What is between brackets.
fn bracketed(text: &str) -> Option<Step> {
    if text == "*" {
        return Some(Step::Slice(None, None, 1));
    }
    if let Some(name) = text.strip_prefix('\'') {
        return Some(Step::Field(name.strip_suffix('\'')?.to_owned()));
    }
    let number = |text: &str| match text {
        "" => Some(None),
        text => text.parse::<i64>().ok().map(Some),
    };
    let mut parts = text.splitn(3, ':');
    let from = number(parts.next()?)?;
    let Some(to) = parts.next() else {
        return Some(Step::Index(from?));
    };
    let every = number(parts.next().unwrap_or(""))?.unwrap_or(1);
    let every = usize::try_from(every).ok().filter(|every| *every > 0)?;
    Some(Step::Slice(from, number(to)?, every))
}

/// Where the expression of a filter ends; a parenthesis in quotes does not end it.
fn end_of_filter(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match quote {
            None if c == ')' => return Some(at),
            None if matches!(c, '"' | '\'') => quote = Some(c),
            Some(open) if c == open && before != '\\' => quote = None,
            _ => {}
        }
        before = c;
    }
    None
}

fn filter(text: &str) -> Option<Step> {
    // None within another: a text from outside must not decide how deep this recurses.
    if text.contains("[?(") {
        return None;
    }
    let is_comparison = |c: char| matches!(c, '!' | '<' | '>' | '=');
    let Some(at) = text.find(is_comparison) else {
        return Some(Step::Filter(Path::parse(text)?, None));
    };
    let (left, right) = text.split_at(at);
    let length = right.find(|c| !is_comparison(c))?;
    let comparison = match &right[..length] {
        "==" => Comparison::Equal,
        "!=" => Comparison::NotEqual,
        "<" => Comparison::Less,
        "<=" => Comparison::LessOrEqual,
        ">" => Comparison::Greater,
        ">=" => Comparison::GreaterOrEqual,
        _ => return None,
    };
    let right = operand(right[length..].trim())?;
    Some(Step::Filter(Path::parse(left)?, Some((comparison, right))))
}

fn operand(text: &str) -> Option<Operand> {
    let quoted = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    if let Some(text) = quoted('"').or_else(|| quoted('\'')) {
        let text = text
            .replace("\\\"", "\"")
            .replace("\\'", "'")
            .replace("\\\\", "\\");
        return Some(Operand::Value(text.into()));
    }
    if text.starts_with(['@', '$', '.']) {
        return Path::parse(text).map(Operand::Path);
    }
    match serde_json::from_str(text).ok()? {
        value @ (Value::Number(_) | Value::Bool(_)) => Some(Operand::Value(value)),
        _ => None,
    }
}

fn apply<'a>(steps: &[Step], mut found: Vec<&'a Value>) -> Result<Vec<&'a Value>, Unfit> {
    for step in steps {
        found = step.apply(found)?;
    }
    Ok(found)
}

impl Step {
    fn apply<'a>(&self, values: Vec<&'a Value>) -> Result<Vec<&'a Value>, Unfit> {
        let mut found = Vec::new();
        for value in values {
            match (self, value) {
                (Self::Field(name), value) => found.extend(value.get(name)),
                (Self::Wildcard, Value::Array(items)) => found.extend(items),
                (Self::Wildcard, Value::Object(members)) => found.extend(members.values()),
                (Self::Wildcard, _) => {}
                (Self::Descend, value) => descend(value, &mut found),
                (Self::Union(paths), value) => {
                    for path in paths {
                        found.extend(apply(&path.0, vec![value])?);
                    }
                }
                (_, Value::Null) => {}
                (Self::Index(at), Value::Array(items)) => {
                    let at = if *at < 0 {
                        at.saturating_add_unsigned(items.len() as u64)
                    } else {
                        *at
                    };
                    let at = usize::try_from(at).map_err(|_| Unfit)?;
                    found.push(items.get(at).ok_or(Unfit)?);
                }
                (Self::Slice(from, to, every), Value::Array(items)) => {
                    found.extend(slice(items, *from, *to)?.iter().step_by(*every));
                }
                (Self::Filter(left, comparison), Value::Array(items)) => {
                    for item in items {
                        if passes(item, left, comparison.as_ref())? {
                            found.push(item);
                        }
                    }
                }
                _ => return Err(Unfit),
            }
        }
        Ok(found)
    }
}

/// A value that has others in it, and all of those.
fn descend<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            found.push(value);
            items.iter().for_each(|item| descend(item, found));
        }
        Value::Object(members) if !members.is_empty() => {
            found.push(value);
            members.values().for_each(|member| descend(member, found));
        }
        _ => {}
    }
}

fn slice(items: &[Value], from: Option<i64>, to: Option<i64>) -> Result<&[Value], Unfit> {
    let place = |at: Option<i64>, default: usize| match at {
        None => Ok(default),
        Some(at) if at < 0 => usize::try_from(at.saturating_add_unsigned(items.len() as u64)),
        Some(at) => usize::try_from(at),
    };
    let (from, to) = (
        place(from, 0).map_err(|_| Unfit)?,
        place(to, items.len()).map_err(|_| Unfit)?,
    );
    if from == to {
        return Ok(&[]);
    }
    items.get(from..to).ok_or(Unfit)
}

fn passes(item: &Value, left: &Path, comparison: Option<&(Comparison, Operand)>) -> Result<bool, Unfit> {
    let lefts = apply(&left.0, vec![item]);
    let Some((comparison, right)) = comparison else {
        return Ok(lefts.is_ok_and(|found| !found.is_empty()));
    };
    let rights = match right {
        Operand::Value(value) => vec![value],
        Operand::Path(path) => apply(&path.0, vec![item])?,
    };
    match (&lefts?[..], &rights[..]) {
        ([], _) | (_, []) => Ok(false),
        ([left], [right]) => comparison.holds(left, right),
        _ => Err(Unfit),
    }
}

impl Comparison {
    fn holds(self, left: &Value, right: &Value) -> Result<bool, Unfit> {
        let order = match (left, right) {
            (Value::String(left), Value::String(right)) => left.cmp(right),
            (Value::Number(left), Value::Number(right)) => {
                let order = left.as_f64().partial_cmp(&right.as_f64());
                order.ok_or(Unfit)?
            }
            (Value::Bool(left), Value::Bool(right)) if matches!(self, Self::Equal | Self::NotEqual) => {
                left.cmp(right)
            }
            _ => return Err(Unfit),
        };
        Ok(match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(path: &str) -> Option<Value> {
        let object = json!({
            "metadata": {"annotations": {"a.example/b": "dotted"}},
            "spec": {"hosts": ["a", "b", "c"], "size": 5, "deep": {"er": {"name": "n"}}},
            "status": {"conditions": [
                {"type": "Synced", "status": "False", "n": 1},
                {"type": "Ready", "status": "True", "n": 2},
            ]},
        });
        Path::parse(path)?.first(object.as_object()?).cloned()
    }

    #[test]
    fn paths_find_what_client_gos_find() {
        for (path, value) in [
            (".spec.size", json!(5)),
            (".spec.hosts", json!(["a", "b", "c"])),
            (".spec.hosts[1]", json!("b")),
            (".spec.hosts[-1]", json!("c")),
            (".spec.hosts[*]", json!("a")),
            (".spec.hosts[1:]", json!("b")),
            (".spec.hosts[2,0]", json!("c")),
            (".spec['size']", json!(5)),
            ("$.spec.size", json!(5)),
            (r".metadata.annotations.a\.example/b", json!("dotted")),
            (".metadata.annotations['a.example/b']", json!("dotted")),
            (r#".status.conditions[?(@.type=="Ready")].status"#, json!("True")),
            (r".status.conditions[?(@.type == 'Ready')].status", json!("True")),
            (r#".status.conditions[?(@.type!="Ready")].status"#, json!("False")),
            (".status.conditions[?(@.n>1)].type", json!("Ready")),
            (".status.conditions[?(@.status)].type", json!("Synced")),
            ("..name", json!("n")),
            (".spec..name", json!("n")),
            (".spec.deep.*.name", json!("n")),
        ] {
            assert_eq!(found(path), Some(value), "{path}");
        }
    }

    #[test]
    fn paths_find_nothing_where_nothing_fits() {
        for path in [
            ".spec.other",
            ".spec.size.more",
            ".spec.hosts[3]",
            ".spec.size[0]",
            r#".status.conditions[?(@.type=="Other")].status"#,
            r#".status.conditions[?(@.n=="Ready")].status"#,
            "",
        ] {
            assert_eq!(found(path), None, "{path}");
        }
    }

    #[test]
    fn what_is_no_path_is_not_read() {
        for path in [
            "spec",
            ".spec[",
            ".spec[x]",
            ".spec[?(@.a==b)]",
            ".spec[?(@.a=)]",
            ".spec[::0]",
            ".a}b",
        ] {
            assert_eq!(Path::parse(path), None, "{path}");
        }
    }
}
