//! Tables: what `kubectl get` prints.

mod cells;
mod columns;
mod json_path;
mod pod;
mod row;

use serde_json::{Value, json};

use crate::resources::Resource;
use columns::Column;
use json_path::Path;
use row::{Object, Row};

/// The columns of a resource, and the time to which ages refer.
pub(crate) struct Table {
    definitions: Value,
    columns: Columns,
    is_of_pods: bool,
    now: jiff::Timestamp,
}

enum Columns {
    Builtin(&'static [Column]),
    /// Behind the name, those of the definition: their type, and what they show.
    Custom(Vec<(String, Path)>),
}

impl Table {
    pub(crate) fn new(resource: &Resource, version: &str, now: jiff::Timestamp) -> Self {
        let (definitions, columns) = match resource.custom {
            true => custom(resource, version),
            false => builtin(columns::of(&resource.storage_id())),
        };
        Self {
            definitions: definitions.into(),
            columns,
            is_of_pods: resource.storage_id() == "pods",
            now,
        }
    }

    /// That of a scale.
    pub(crate) fn of_scale(now: jiff::Timestamp) -> Self {
        let (definitions, columns) = builtin(columns::SCALE);
        Self {
            definitions: definitions.into(),
            columns,
            is_of_pods: false,
            now,
        }
    }

    pub(crate) fn set_now(&mut self, now: jiff::Timestamp) {
        self.now = now;
    }

    pub(crate) fn definitions(&self) -> &Value {
        &self.definitions
    }

    /// The cells of one row.
    pub(crate) fn cells(&self, object: &Object) -> Vec<Value> {
        let row = Row {
            object,
            now: self.now,
        };
        match &self.columns {
            Columns::Builtin(columns) => columns.iter().map(|column| (column.cell)(&row)).collect(),
            Columns::Custom(columns) => {
                let name = Value::from(row.text("/metadata/name"));
                let others = columns.iter().map(|(kind, path)| custom_cell(kind, path, &row));
                std::iter::once(name).chain(others).collect()
            }
        }
    }

    /// What a row says beside its cells: a pod that has ended is marked.
    pub(crate) fn conditions(&self, object: &Object) -> Option<Value> {
        if self.is_of_pods { pod::ended(object) } else { None }
    }
}

fn definition(name: &str, kind: &str, format: &str, description: &str, priority: i64) -> Value {
    json!({"name": name, "type": kind, "format": format, "description": description, "priority": priority})
}

fn builtin(columns: &'static [Column]) -> (Vec<Value>, Columns) {
    let definitions = columns.iter().map(|column| {
        let is_name = matches!(column.name, "Name" | "Attacher");
        let format = if is_name { "name" } else { "" };
        let priority = if column.is_wide { 1 } else { 0 };
        definition(column.name, column.kind, format, column.name, priority)
    });
    (definitions.collect(), Columns::Builtin(columns))
}

/// What a definition's column of names is described as.
const NAME: &str = "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client \
     to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration \
     definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";

/// The columns of a definition, up to the first whose path cannot be read.
fn custom(resource: &Resource, version: &str) -> (Vec<Value>, Columns) {
    let mut definitions = vec![definition("Name", "string", "name", NAME, 0)];
    let mut columns = Vec::new();
    let of_version = resource.definition.versions.get(version);
    for column in of_version.into_iter().flat_map(|version| &version.columns) {
        let Some(path) = Path::parse(&column.path) else {
            break;
        };
        let (kind, format) = (&column.kind, &column.format);
        let described = definition(&column.name, kind, format, &column.description, column.priority);
        definitions.push(described);
        columns.push((kind.clone(), path));
    }
    (definitions, Columns::Custom(columns))
}

/// What a column of a definition shows, if it is of the column's type.
fn custom_cell(kind: &str, path: &Path, row: &Row<'_>) -> Value {
    let Some(value) = path.first(row.object) else {
        return Value::Null;
    };
    match (kind, value) {
        ("string", Value::Null) => "<no value>".into(),
        ("string", Value::String(text)) => text.as_str().into(),
        ("string", other) => other.to_string().into(),
        ("integer", Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.into(),
            (None, Some(float)) => (float as i64).into(),
            _ => Value::Null,
        },
        ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) => value.clone(),
        ("date", Value::String(text)) => match text.parse::<jiff::Timestamp>() {
            Ok(_) => row.age(text).into(),
            Err(_) if text.is_empty() => "<unknown>".into(),
            Err(_) => "<invalid>".into(),
        },
        _ => Value::Null,
    }
}
