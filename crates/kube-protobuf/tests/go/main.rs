//! What Go makes of an object in JSON and in protobuf, held against what this crate makes of it.
//!
//! `conformance/protobuf` fills every field of every kind with Kubernetes' own sources. Some of what it prints is kept in
//! `tests/recorded.jsonl`; the test that needs Go takes all of it.

use kube_protobuf::{
    Descriptor, Envelope, ErrorKind, UnknownFields, from_message, json_to_vec, to_value, to_vec,
    watch_event_to_vec,
};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    name: String,
    api_version: String,
    kind: String,
    json: Value,
    #[serde(with = "base64")]
    protobuf: Vec<u8>,
    /// What Go writes in protobuf after it has read `json`, if that is something else.
    #[serde(with = "base64", default)]
    encoded: Vec<u8>,
}

mod typed;

/// Bytes as Go has them in JSON.
mod base64 {
    use ::base64::Engine as _;
    use ::base64::prelude::BASE64_STANDARD;
    use serde::{Deserialize as _, Deserializer, de::Error as _};

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        BASE64_STANDARD.decode(text).map_err(D::Error::custom)
    }
}

impl Line {
    fn read(&self) -> Value {
        let read = match self.kind.as_str() {
            "WatchEvent" => from_message(Descriptor::watch_event(), &self.protobuf),
            _ => to_value(&self.protobuf),
        };
        read.unwrap_or_else(|error| panic!("{} {} {}: {error}", self.name, self.api_version, self.kind))
    }

    fn written(&self) -> Vec<u8> {
        let written = match self.kind.as_str() {
            "WatchEvent" => to_vec(&self.json["object"], UnknownFields::Deny)
                .map(|object| watch_event_to_vec(self.json["type"].as_str().unwrap(), &object)),
            _ => to_vec(&self.json, UnknownFields::Deny),
        };
        written.unwrap_or_else(|error| panic!("{} {} {}: {error}", self.name, self.api_version, self.kind))
    }

    fn encoded(&self) -> &[u8] {
        if self.encoded.is_empty() {
            &self.protobuf
        } else {
            &self.encoded
        }
    }
}

/// Where two values differ.
fn difference(path: &str, ours: &Value, theirs: &Value) -> Option<String> {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let keys: BTreeSet<_> = ours.keys().chain(theirs.keys()).collect();
            keys.into_iter()
                .find_map(|key| match (ours.get(key), theirs.get(key)) {
                    (Some(ours), Some(theirs)) => difference(&format!("{path}.{key}"), ours, theirs),
                    (ours, theirs) => Some(format!("{path}.{key}: {ours:?}, not {theirs:?}")),
                })
        }
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => ours
            .iter()
            .zip(theirs)
            .enumerate()
            .find_map(|(at, (ours, theirs))| difference(&format!("{path}[{at}]"), ours, theirs)),
        (ours, theirs) if ours == theirs => None,
        (ours, theirs) => Some(format!("{path}: {ours}, not {theirs}")),
    }
}

fn check(line: &Line) {
    let name = format!("{} {} {}", line.name, line.api_version, line.kind);
    if let Some(difference) = difference("", &line.read(), &line.json) {
        panic!("{name}: {difference}");
    }
    let (written, encoded) = (line.written(), line.encoded());
    if written != encoded {
        let at = written
            .iter()
            .zip(encoded)
            .take_while(|(ours, theirs)| ours == theirs)
            .count();
        let around = |bytes: &[u8]| {
            bytes[at.saturating_sub(20)..bytes.len().min(at + 20)]
                .escape_ascii()
                .to_string()
        };
        panic!(
            "{name}: byte {at} is another one:\n{}\n{}",
            around(&written),
            around(encoded)
        );
    }
    if let Ok(envelope) = Envelope::parse(encoded) {
        let message = Descriptor::of(&line.api_version, &line.kind).unwrap();
        let from_text = json_to_vec(message, &line.json.to_string(), UnknownFields::Deny).unwrap();
        assert!(from_text == envelope.raw, "{name}: another message from text");
    }
}

fn recorded() -> impl Iterator<Item = Line> {
    include_str!("recorded.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
}

#[test]
fn recorded_objects_are_read_and_written_as_by_go() {
    recorded().for_each(|line| check(&line));
}

#[test]
fn types_are_read_from_protobuf_as_from_json() {
    for line in recorded() {
        typed::check(&line);
    }
}

#[test]
fn every_beginning_of_an_object_is_read_or_refused() {
    for line in recorded() {
        for end in (0..line.protobuf.len()).step_by(7) {
            if let Err(error) = to_value(&line.protobuf[..end]) {
                assert!(
                    matches!(
                        error.kind(),
                        ErrorKind::Envelope | ErrorKind::Malformed | ErrorKind::UnknownKind
                    ),
                    "{error}"
                );
            }
        }
    }
}

#[test]
#[ignore = "needs Go: conformance/run"]
fn every_kind_is_read_and_written_as_by_go() {
    let build = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/protobuf/build");
    let built = Command::new(build).stderr(Stdio::inherit()).output().unwrap();
    assert!(built.status.success());
    let program = String::from_utf8(built.stdout).unwrap();
    let mut child = Command::new(program.trim())
        .arg("10")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut kinds, mut typed) = (BTreeSet::new(), BTreeSet::new());
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line: Line = serde_json::from_str(&line.unwrap()).unwrap();
        check(&line);
        let kind = (line.api_version.clone(), line.kind.clone());
        if typed::check(&line).is_some() {
            typed.insert(kind.clone());
        }
        kinds.insert(kind);
    }
    assert!(child.wait().unwrap().success());
    assert!(kinds.len() > 370, "{} kinds", kinds.len());
    assert!(typed.len() > 90, "{} types", typed.len());
}
