//! Templates of `-o jsonpath=...`: text with paths in braces, as kubectl has them.
//!
//! Known are text, `{PATH}` with the paths of [`crate::path`], strings such as `{"\n"}`, and
//! `{range PATH}...{end}`, in which `@` (or nothing) before a path stands for the element.

use crate::path::{Path, plain};
use crate::text::printable;
use serde_json::Value;

/// The most ranges in each other.
const MOST_RANGES: usize = 16;

/// A template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    /// The values at a path, with spaces between them; `None` stands for the whole object or element.
    Values(Option<Path>),
    /// The parts for each value at a path.
    Range(Path, Vec<Part>),
}

impl Template {
    /// Parses a template. Text without any braces is a path, as in `-o jsonpath=.metadata.name`.
    ///
    /// # Errors
    /// Says what is wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("the template is empty; give one such as {.metadata.name}".into());
        }
        if !text.contains('{') {
            return Ok(Self(vec![expression(text)?]));
        }
        let mut rest = text;
        // The parts of each open range, the template's own first.
        let mut open: Vec<(Option<Path>, Vec<Part>)> = vec![(None, vec![])];
        while !rest.is_empty() {
            let (before, inside, after) = split(rest)?;
            let parts = &mut open.last_mut().ok_or("no part is open")?.1;
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            rest = after;
            let Some(inside) = inside.map(str::trim) else {
                break;
            };
            if let Some(path) = inside.strip_prefix("range ") {
                if open.len() > MOST_RANGES {
                    return Err(format!("more than {MOST_RANGES} ranges in each other"));
                }
                open.push((Some(path_of(path)?), vec![]));
            } else if inside == "end" {
                match open.pop() {
                    Some((Some(path), inner)) => {
                        let parts = &mut open.last_mut().ok_or("no part is open")?.1;
                        parts.push(Part::Range(path, inner));
                    }
                    _ => return Err("{end} without {range ...}".into()),
                }
            } else {
                parts.push(expression(inside)?);
            }
        }
        match (open.pop(), open.is_empty()) {
            (Some((None, parts)), true) => Ok(Self(parts)),
            _ => Err("{range ...} without {end}".into()),
        }
    }

    /// What the template makes of an object. What is not printable in values is escaped; the template's own text is as it is.
    pub(crate) fn of(&self, object: &Value) -> String {
        let mut text = String::new();
        write(&self.0, object, &mut text);
        text
    }
}

fn write(parts: &[Part], value: &Value, text: &mut String) {
    for part in parts {
        match part {
            Part::Text(part) => text.push_str(part),
            Part::Values(None) => text.push_str(&printable(&plain(value))),
            Part::Values(Some(path)) => {
                let values: Vec<_> = path.find(value).into_iter().map(plain).collect();
                text.push_str(&printable(&values.join(" ")));
            }
            Part::Range(path, parts) => path
                .find(value)
                .into_iter()
                .for_each(|value| write(parts, value, text)),
        }
    }
}

/// The text before the next braces, what is in them, and what follows.
fn split(text: &str) -> Result<(&str, Option<&str>, &str), String> {
    let Some((before, rest)) = text.split_once('{') else {
        return Ok((text, None, ""));
    };
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in rest.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (_, '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '}') => return Ok((before, Some(&rest[..at]), &rest[at + 1..])),
            (None, _) => {}
        }
    }
    Err(format!("{{{rest} has no closing brace"))
}

/// A string in quotes, or a path.
fn expression(text: &str) -> Result<Part, String> {
    if text.starts_with(['"', '\'']) {
        return string(text).map(Part::Text);
    }
    match text.strip_prefix(['@', '$']).unwrap_or(text) {
        "" | "." => Ok(Part::Values(None)),
        _ => path_of(text).map(|path| Part::Values(Some(path))),
    }
}

/// A path, of those of kubectl that are known here.
fn path_of(text: &str) -> Result<Path, String> {
    let text = text.trim();
    let text = text.strip_prefix('@').unwrap_or(text);
    Path::parse(text).map_err(|error| {
        format!(
            "{error}; known are .field, ['field'], [0], [*], [?(@.field==\"value\")], \"text\" and {{range PATH}}...{{end}}, \
             but not .., slices and other filters: use -o json and jq for those"
        )
    })
}

/// A string of Go in quotes of either kind.
fn string(text: &str) -> Result<String, String> {
    let quote = text.chars().next().unwrap_or('"');
    let wrong = || format!("{text} is no string in quotes");
    let inner = text[1..].strip_suffix(quote).ok_or_else(wrong)?;
    let mut string = String::new();
    let mut characters = inner.chars();
    while let Some(c) = characters.next() {
        if c != '\\' {
            string.push(c);
            continue;
        }
        string.push(match characters.next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some(c @ ('\\' | '"' | '\'' | '/')) => c,
            _ => {
                return Err(format!(
                    "{text} has an escape that is not known; known are \\n, \\t, \\r, \\\\ and quotes"
                ));
            }
        });
    }
    Ok(string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn templates_print_what_kubectl_prints() {
        let pod = json!({
            "metadata": {"name": "web-0", "labels": {"a.b/c": "x"}},
            "spec": {"containers": [{"name": "a", "image": "i:1"}, {"name": "b", "image": "i:2"}]},
            "status": {"n": 3},
        });
        for (template, expected) in [
            ("{.metadata.name}", "web-0"),
            (".metadata.name", "web-0"),
            ("metadata.name", "web-0"),
            ("{$.metadata.name}", "web-0"),
            ("{@.metadata.name}", "web-0"),
            ("name: {.metadata.name}!", "name: web-0!"),
            (r#"{.metadata.name}{"\t"}{.status.n}{"\n"}"#, "web-0\t3\n"),
            (r#"{'a}b'}{.status.n}"#, "a}b3"),
            ("{.spec.containers[*].image}", "i:1 i:2"),
            (
                r#"{range .spec.containers[*]}{.name}={@.image}{"\n"}{end}done"#,
                "a=i:1\nb=i:2\ndone",
            ),
            ("{range .spec.containers[*].name}<{@}>{end}", "<a><b>"),
            (r"{.metadata.labels.a\.b/c}", "x"),
            (r#"{.spec.containers[?(@.name=="b")].image}"#, "i:2"),
            ("{.status}", r#"{"n":3}"#),
            ("{.missing}", ""),
            ("{.spec.containers[0]['name']}", "a"),
        ] {
            let parsed = Template::parse(template).unwrap_or_else(|error| panic!("{template}: {error}"));
            assert_eq!(parsed.of(&pod), expected, "{template}");
        }
    }

    #[test]
    fn values_cannot_forge_lines() {
        let template = Template::parse(r#"{.a}{"\n"}"#).unwrap();
        assert_eq!(template.of(&json!({"a": "x\n\u{1b}[2J"})), "x\\u000a\\u001b[2J\n");
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for (template, expected) in [
            ("", "the template is empty"),
            ("{.a", "no closing brace"),
            ("{range .a[*]}{.b}", "{range ...} without {end}"),
            ("{.a}{end}", "{end} without {range ...}"),
            ("{..a}", "but not .., slices and other filters"),
            ("{.a[0:2]}", "but not .., slices and other filters"),
            (r#"{"\x"}"#, "an escape that is not known"),
            ("{\"a}", "no closing brace"),
        ] {
            let error = Template::parse(template).unwrap_err();
            assert!(error.contains(expected), "{template}: {error}");
        }
        let deep = "{range .a}".repeat(100);
        assert!(
            Template::parse(&deep)
                .unwrap_err()
                .contains("more than 16 ranges")
        );
    }
}
