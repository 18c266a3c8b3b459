//! A document of OpenAPI v2 in protobuf: the messages of gnostic's `OpenAPIv2.proto`, by their numbers there, as far as a
//! document of this server has them.

use serde_json::Value;

/// The message `Document`.
pub(crate) fn document(document: &Value) -> Vec<u8> {
    let mut out = Message::default();
    out.text(1, &document["swagger"]);
    let mut info = Message::default();
    info.text(1, &document["info"]["title"]);
    info.text(2, &document["info"]["version"]);
    out.message(2, &info);
    let mut paths = Message::default();
    for (path, item) in members(&document["paths"]) {
        paths.named(2, path, &path_item(item));
    }
    out.message(8, &paths);
    out.message(9, &schemas(&document["definitions"]));
    out.0
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn path_item(item: &Value) -> Message {
    let mut out = Message::default();
    for (number, method) in [(2, "get"), (3, "put"), (4, "post"), (5, "delete"), (8, "patch")] {
        if let Some(of_method) = item.get(method) {
            out.message(number, &operation(of_method));
        }
    }
    out
}

fn operation(operation: &Value) -> Message {
    let mut out = Message::default();
    for parameter in items(&operation["parameters"]) {
        let mut query = Message::default();
        query.text(2, &parameter["in"]);
        query.text(4, &parameter["name"]);
        query.text(6, &parameter["type"]);
        query.flag(20, &parameter["uniqueItems"]);
        // One that is not the body, but in the query.
        out.message(8, &Message::of(1, &Message::of(2, &Message::of(3, &query))));
    }
    let mut responses = Message::default();
    for (code, response) in members(&operation["responses"]) {
        let mut said = Message::default();
        said.text(1, &response["description"]);
        said.message(2, &Message::of(1, &schema(&response["schema"])));
        responses.named(1, code, &Message::of(1, &said));
    }
    out.message(9, &responses);
    out.extensions(13, operation);
    out
}

/// The messages `Definitions` and `Properties`.
fn schemas(schemas: &Value) -> Message {
    let mut out = Message::default();
    for (name, of_name) in members(schemas) {
        out.named(1, name, &schema(of_name));
    }
    out
}

fn schema(of: &Value) -> Message {
    let mut out = Message::default();
    out.text(1, &of["$ref"]);
    out.text(2, &of["format"]);
    out.text(3, &of["title"]);
    out.text(4, &of["description"]);
    out.any(5, of.get("default"));
    out.double(7, &of["maximum"]);
    out.flag(8, &of["exclusiveMaximum"]);
    out.double(9, &of["minimum"]);
    out.flag(10, &of["exclusiveMinimum"]);
    for (number, name) in [
        (11, "maxLength"),
        (12, "minLength"),
        (14, "maxItems"),
        (15, "minItems"),
    ] {
        out.number(number, &of[name]);
    }
    out.text(13, &of["pattern"]);
    items(&of["required"]).for_each(|name| out.text(19, name));
    items(&of["enum"]).for_each(|value| out.any(20, Some(value)));
    match &of["additionalProperties"] {
        flag @ Value::Bool(_) => {
            let mut item = Message::default();
            item.flag(2, flag);
            out.message(21, &item);
        }
        Value::Null => {}
        values => out.message(21, &Message::of(1, &schema(values))),
    }
    if of["type"].is_string() {
        let mut kind = Message::default();
        kind.text(1, &of["type"]);
        out.message(22, &kind);
    }
    if of["items"].is_object() {
        out.message(23, &Message::of(1, &schema(&of["items"])));
    }
    if of["properties"].is_object() {
        out.message(25, &schemas(&of["properties"]));
    }
    out.extensions(31, of);
    out
}

/// A message that is being written.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    /// A message with one field, which is a message.
    fn of(number: u64, inner: &Message) -> Self {
        let mut out = Self::default();
        out.message(number, inner);
        out
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn bytes(&mut self, number: u64, bytes: &[u8]) {
        self.varint(number << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn message(&mut self, number: u64, message: &Message) {
        self.bytes(number, &message.0);
    }

    /// A message with a name and a value.
    fn named(&mut self, number: u64, name: &str, value: &Message) {
        let mut named = Self::default();
        named.bytes(1, name.as_bytes());
        named.message(2, value);
        self.message(number, &named);
    }

    fn text(&mut self, number: u64, text: &Value) {
        if let Some(text) = text.as_str() {
            self.bytes(number, text.as_bytes());
        }
    }

    fn flag(&mut self, number: u64, flag: &Value) {
        if *flag == true {
            self.varint(number << 3);
            self.varint(1);
        }
    }

    fn number(&mut self, number: u64, value: &Value) {
        if let Some(value) = value.as_u64() {
            self.varint(number << 3);
            self.varint(value);
        }
    }

    fn double(&mut self, number: u64, value: &Value) {
        if let Some(value) = value.as_f64() {
            self.varint(number << 3 | 1);
            self.0.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// A value of any type, as YAML, which JSON is.
    fn any(&mut self, number: u64, value: Option<&Value>) {
        if let Some(value) = value {
            let mut any = Self::default();
            any.bytes(2, value.to_string().as_bytes());
            self.message(number, &any);
        }
    }

    /// The members `x-…`.
    fn extensions(&mut self, number: u64, of: &Value) {
        for (name, value) in members(of).filter(|(name, _)| name.starts_with("x-")) {
            let mut any = Self::default();
            any.bytes(2, value.to_string().as_bytes());
            self.named(number, name, &any);
        }
    }
}
