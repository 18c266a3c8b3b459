//! Paths of fields, as `kubectl wait` and custom columns have them: the part of Kubernetes' JSONPath that names fields.

use serde_json::Value;

/// A path such as `.status.conditions[?(@.type=="Ready")].status`.
///
/// Known are fields (`.spec`, `.app\.kubernetes\.io/name`, `['spec']`), elements of lists (`[0]`, `[-1]`, `[*]`) and
/// those of which a field equals a value (`[?(@.type=="Ready")]`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path {
    text: String,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Field(String),
    Index(isize),
    All,
    Where(Path, Value),
}

impl Path {
    /// Parses a path. The braces around it, the `$` and the dot at its start may be missing.
    ///
    /// # Errors
    /// Says what is wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let trimmed = text.trim();
        let inner = match trimmed.strip_prefix('{') {
            Some(inner) => inner
                .strip_suffix('}')
                .ok_or_else(|| format!("{text:?} has no closing brace"))?,
            None => trimmed,
        };
        let inner = inner.trim();
        let mut rest = inner.strip_prefix('$').unwrap_or(inner);
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let step;
            (step, rest) = match rest.strip_prefix('[') {
                Some(inside) => bracket(inside).ok_or_else(|| {
                    format!(
                        "{text:?}: expected a field, an index, * or ?(@.field==\"value\") in brackets, at {rest:?}"
                    )
                })?,
                None => {
                    let (name, after) = field(rest.strip_prefix('.').unwrap_or(rest));
                    if name.is_empty() {
                        return Err(format!("{text:?}: expected the name of a field at {rest:?}"));
                    }
                    match name.as_str() {
                        "*" => (Step::All, after),
                        _ => (Step::Field(name), after),
                    }
                }
            };
            steps.push(step);
        }
        if steps.is_empty() {
            return Err(format!("{text:?} names no field"));
        }
        Ok(Self {
            text: text.to_owned(),
            steps,
        })
    }

    /// The path as it was given.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The values at this path; null counts as no value.
    pub(crate) fn find<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        let mut found = vec![value];
        for step in &self.steps {
            found = found.into_iter().flat_map(|value| step.of(value)).collect();
        }
        found.retain(|value| !value.is_null());
        found
    }
}

impl Step {
    fn of<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        match self {
            Self::Field(name) => value.get(name).into_iter().collect(),
            Self::Index(index) => {
                let list = value.as_array().map_or(&[][..], Vec::as_slice);
                let index = match index {
                    0.. => Some(index.unsigned_abs()),
                    _ => list.len().checked_sub(index.unsigned_abs()),
                };
                index.and_then(|index| list.get(index)).into_iter().collect()
            }
            Self::All => elements(value),
            Self::Where(path, wanted) => {
                let mut elements = elements(value);
                elements.retain(|element| path.find(element).contains(&wanted));
                elements
            }
        }
    }
}

/// The elements of a list, or the values of a map.
fn elements(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(list) => list.iter().collect(),
        Value::Object(map) => map.values().collect(),
        _ => vec![],
    }
}

/// A field's name without the backslashes of its dots, and the rest.
fn field(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => name.extend(characters.next().map(|(_, c)| c)),
            '.' | '[' => return (name, &text[at..]),
            _ => name.push(c),
        }
    }
    (name, "")
}

/// What follows an opening bracket, and the rest after the closing one.
fn bracket(text: &str) -> Option<(Step, &str)> {
    if let Some(quoted) = text.strip_prefix(['\'', '"']) {
        let end = quoted.find([text.chars().next()?])?;
        let name = quoted[..end].replace("\\.", ".");
        return Some((Step::Field(name), quoted[end + 1..].strip_prefix(']')?));
    }
    if let Some(filter) = text.strip_prefix("?(") {
        let (filter, rest) = filter.split_once(")]")?;
        let (path, value) = filter.split_once("==")?;
        let path = Path::parse(path.trim().strip_prefix('@')?).ok()?;
        return Some((Step::Where(path, literal(value.trim())?), rest));
    }
    let (inside, rest) = text.split_once(']')?;
    match inside.trim() {
        "*" => Some((Step::All, rest)),
        index => Some((Step::Index(index.parse().ok()?), rest)),
    }
}

/// A number, a boolean or a string in quotes of either kind.
fn literal(text: &str) -> Option<Value> {
    let single = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    match single {
        Some(text) => Some(text.into()),
        None => serde_json::from_str(text).ok(),
    }
}

/// A value as kubectl prints it: strings without quotes, everything else as JSON.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_find_what_kubectl_finds() {
        let pod = json!({
            "metadata": {"name": "web-0", "labels": {"app.kubernetes.io/name": "web"}, "deletionTimestamp": null},
            "spec": {"containers": [{"name": "a", "image": "i:1"}, {"name": "b", "image": "i:2"}]},
            "status": {"conditions": [{"type": "Ready", "status": "True", "n": 1}, {"type": "Other", "status": "False"}]},
        });
        for (path, expected) in [
            ("{.metadata.name}", json!(["web-0"])),
            ("metadata.name", json!(["web-0"])),
            ("$.metadata['name']", json!(["web-0"])),
            (r"{.metadata.labels.app\.kubernetes\.io/name}", json!(["web"])),
            (".metadata.labels['app.kubernetes.io/name']", json!(["web"])),
            (r#".metadata.labels["app\.kubernetes\.io/name"]"#, json!(["web"])),
            (".spec.containers[*].image", json!(["i:1", "i:2"])),
            (".spec.containers[0].image", json!(["i:1"])),
            (".spec.containers[-1].image", json!(["i:2"])),
            (".spec.containers[-3].image", json!([])),
            (
                r#"{.status.conditions[?(@.type=="Ready")].status}"#,
                json!(["True"]),
            ),
            (
                ".status.conditions[?(@.type == 'Other')].status",
                json!(["False"]),
            ),
            (".status.conditions[?(@.n==1)].type", json!(["Ready"])),
            (".metadata.labels.*", json!(["web"])),
            (".metadata.deletionTimestamp", json!([])),
            (".nothing.here", json!([])),
        ] {
            let found = Path::parse(path).unwrap();
            assert_eq!(json!(found.find(&pod)), expected, "{path}");
        }
    }

    #[test]
    fn malformed_paths_are_refused() {
        for (path, expected) in [
            ("", "names no field"),
            ("{}", "names no field"),
            ("{.a", "no closing brace"),
            ("..a", "the name of a field at \"..a\""),
            (".a..b", "the name of a field at \"..b\""),
            (".a.", "the name of a field at \".\""),
            (".a[", "in brackets"),
            (".a[x]", "in brackets, at \"[x]\""),
            (".a['x]", "in brackets"),
            (".a[?(@.b>1)]", "in brackets"),
            (".a[?(@.b==x)]", "in brackets"),
        ] {
            let error = Path::parse(path).unwrap_err();
            assert!(error.contains(expected), "{path}: {error}");
        }
    }
}
