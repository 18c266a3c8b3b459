//! Brings answers of different servers into one form: what must differ gets a name instead.

use base64::Engine as _;
use serde_json::{Map, Value, json};

/// Names for what a server chose itself, in the order in which it was seen.
#[derive(Default)]
pub(crate) struct Symbols {
    versions: Vec<String>,
    uids: Vec<String>,
}

fn symbol(seen: &mut Vec<String>, kind: &str, text: &str) -> String {
    let at = seen.iter().position(|other| other == text);
    let at = at.unwrap_or_else(|| {
        seen.push(text.to_owned());
        seen.len() - 1
    });
    format!("<{kind} {}>", at + 1)
}

impl Symbols {
    /// One object, list, table or status.
    pub(crate) fn body(&mut self, mut body: Value) -> Value {
        let own = match is_collection(&body) {
            true => body["metadata"]
                .as_object_mut()
                .and_then(|metadata| metadata.remove("resourceVersion")),
            false => None,
        };
        self.value(&mut body);
        if let Some(version) = own {
            body["metadata"]["resourceVersion"] = self.state(version);
        }
        body
    }

    /// The events of a watch; bookmarks in between come when they come.
    pub(crate) fn events(&mut self, mut events: Vec<Value>) -> Value {
        let is_mere_bookmark = |event: &Value| {
            event["type"] == "BOOKMARK" && !event.to_string().contains("k8s.io/initial-events-end")
        };
        events.retain(|event| !is_mere_bookmark(event));
        let events = events.into_iter().map(|mut event| {
            let object = event["object"].take();
            event["object"] = match event["type"] == "BOOKMARK" {
                true => self.bookmark(object),
                false => self.body(object),
            };
            event
        });
        json!({"events": events.collect::<Vec<_>>()})
    }

    fn bookmark(&mut self, mut object: Value) -> Value {
        for pointer in [
            "/metadata/resourceVersion",
            "/rows/0/object/metadata/resourceVersion",
        ] {
            if let Some(version) = object.pointer_mut(pointer) {
                *version = self.state(version.take());
            }
        }
        self.value(&mut object);
        object
    }

    /// The version of a state: on a server where others write too, it is anything from the last version on.
    fn state(&self, version: Value) -> Value {
        let Some(number) = version.as_str().and_then(|text| text.parse::<u64>().ok()) else {
            return version;
        };
        let mut known: Vec<(u64, usize)> = Vec::new();
        known.extend(
            self.versions
                .iter()
                .enumerate()
                .filter_map(|(at, text)| Some((text.parse().ok()?, at))),
        );
        known.sort_unstable();
        let before = known.partition_point(|(version, _)| *version <= number);
        match known.get(before.wrapping_sub(1)) {
            Some((_, at)) if before < known.len() => format!("<version {} or later>", at + 1).into(),
            None if before < known.len() => "<before all versions>".into(),
            _ => "<the newest version>".into(),
        }
    }

    fn value(&mut self, value: &mut Value) {
        match value {
            Value::Object(map) => self.object(map),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            _ => {}
        }
    }

    fn object(&mut self, map: &mut Map<String, Value>) {
        if let Some(Value::Array(entries)) = map.get_mut("managedFields") {
            entries.sort_by_key(manager);
        }
        if map.contains_key("priority") && map.contains_key("format") {
            // Of a column: documentation.
            map.remove("description");
        }
        for (name, value) in map.iter_mut() {
            let Value::String(text) = value else {
                match name.as_str() {
                    "cells" => ages(value),
                    _ => self.value(value),
                }
                continue;
            };
            match name.as_str() {
                "resourceVersion" if text.starts_with('<') => {}
                "resourceVersion" if !text.is_empty() => *text = symbol(&mut self.versions, "version", text),
                "uid" => *text = symbol(&mut self.uids, "uid", text),
                "continue" if !text.is_empty() => *value = self.token(text),
                "message" => *text = self.message(text),
                "name" | "generateName" => *text = generated(text),
                _ if is_time(text) => *text = "<time>".into(),
                _ => {}
            }
        }
    }

    /// What a continue token says, which the documentation calls opaque. Whether its key begins with a slash depends on
    /// whether etcd or the server's cache has answered, so on how old the cache is.
    fn token(&self, text: &str) -> Value {
        let decoded = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(text).ok();
        let decoded = decoded.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        match decoded {
            Some(mut token) => {
                if let Some(start) = token["start"].as_str() {
                    token["start"] = match start.trim_start_matches('/') {
                        start if start.starts_with("made-") => "made-<random>".into(),
                        start => start.into(),
                    };
                }
                if token["rv"] != -1 {
                    token["rv"] = self.state(token["rv"].to_string().into());
                }
                token
            }
            None => text.into(),
        }
    }

    /// Resource versions and uids in a text for people.
    fn message(&self, text: &str) -> String {
        let mut text = text.to_owned();
        // How two pods differ, as Go prints it.
        if let Some(at) = text.find("\n@@ ") {
            text.truncate(at);
            if text.contains(" is invalid: [") {
                text.push(']');
            }
        }
        // Where the server keeps its objects in etcd.
        if let (Some(from), Some(to)) = (text.find("Key: /"), text.find("/configmaps/")) {
            text.replace_range(from + "Key: /".len()..to, "registry");
        }
        // What is no uid of a server's may be a word.
        for (at, uid) in self.uids.iter().enumerate().filter(|(_, uid)| uid.len() == 36) {
            text = text.replace(uid, &format!("<uid {}>", at + 1));
        }
        if text.contains("too old resource version") || text.contains("Too large resource version") {
            return digits(&text, |_| Some("<a version>".into()));
        }
        // Elsewhere a number is no version, even if an object that the server made while it started has that one.
        if !text.contains("ResourceVersion") {
            return text;
        }
        digits(&text, |number| {
            let at = self.versions.iter().position(|version| version == number)?;
            Some(format!("<version {}>", at + 1))
        })
    }
}

/// By what the entries of `managedFields` are sorted if they are of the same time.
fn manager(entry: &Value) -> [String; 4] {
    ["operation", "manager", "apiVersion", "subresource"].map(|name| entry[name].to_string())
}

fn is_collection(body: &Value) -> bool {
    let kind = body["kind"].as_str().unwrap_or("");
    kind == "Table" || (kind.ends_with("List") && body["items"].is_array())
}

/// Replaces runs of digits.
fn digits(text: &str, replace: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        out.push_str(&rest[..start]);
        let number = &rest[start..];
        let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
        out.push_str(&replace(&number[..end]).unwrap_or_else(|| number[..end].to_owned()));
        rest = &number[end..];
    }
    out + rest
}

/// A name made from the prefix `made-`, whose end is random.
fn generated(text: &str) -> String {
    match text.strip_prefix("made-") {
        Some(suffix) if suffix.len() == 5 => "made-<random>".into(),
        _ => text.to_owned(),
    }
}

fn is_time(text: &str) -> bool {
    let shape = |c: char| if c.is_ascii_digit() { '0' } else { c };
    let shape: String = text.chars().map(shape).collect();
    shape.starts_with("0000-00-00T00:00:00") && shape.ends_with('Z')
}

/// Ages, times and uids in the cells of a table's row.
fn ages(cells: &mut Value) {
    let uid = regex::Regex::new("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").expect("a pattern");
    for cell in cells.as_array_mut().into_iter().flatten() {
        let is_age = |text: &str| {
            text.strip_suffix('s')
                .is_some_and(|seconds| !seconds.is_empty() && seconds.bytes().all(|b| b.is_ascii_digit()))
        };
        match cell.as_str() {
            Some(text) if is_age(text) => *cell = "<age>".into(),
            Some(text) if is_time(text) => *cell = "<time>".into(),
            Some(text) => *cell = uid.replace_all(text, "<uid>").into(),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_in_a_message_is_a_version_where_one_is_told() {
        let mut symbols = Symbols::default();
        symbols.body(json!({"kind": "Namespace", "metadata": {"resourceVersion": "30"}}));
        let mut message = |text: &str| symbols.body(json!({"message": text}))["message"].clone();
        assert_eq!(
            message(r#"violates PodSecurity "restricted:v1.30""#),
            r#"violates PodSecurity "restricted:v1.30""#
        );
        assert_eq!(
            message("the ResourceVersion in record (30)"),
            "the ResourceVersion in record (<version 1>)"
        );
    }
}
