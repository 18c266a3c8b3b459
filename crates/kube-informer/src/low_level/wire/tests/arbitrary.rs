//! Generates JSON of any shape and formatting.

use proptest::{collection::vec, prelude::*};

/// A value, including the order of its members and the formatting of its strings and numbers.
#[derive(Debug, Clone)]
pub(super) enum Json {
    /// A literal, a number, or a string with quotes and escapes.
    Token(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(super) fn text(text: &str) -> Self {
        Self::Token(serde_json::to_string(text).unwrap())
    }

    /// An object with these members, whose names have no quotes yet.
    pub(super) fn object(members: Vec<(&str, Json)>) -> Self {
        let quote = |name| serde_json::to_string(name).unwrap();
        Self::Object(
            members
                .into_iter()
                .map(|(name, value)| (quote(name), value))
                .collect(),
        )
    }

    /// Formats it with `space` wherever whitespace is allowed.
    pub(super) fn write(&self, space: &str) -> String {
        let mut out = String::new();
        self.write_to(&mut out, space);
        out
    }

    fn write_to(&self, out: &mut String, space: &str) {
        match self {
            Self::Token(token) => out.push_str(token),
            Self::Array(values) => {
                out.push('[');
                for (i, value) in values.iter().enumerate() {
                    out.push_str(if i > 0 { "," } else { "" });
                    out.push_str(space);
                    value.write_to(out, space);
                    out.push_str(space);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (i, (name, value)) in members.iter().enumerate() {
                    out.push_str(if i > 0 { "," } else { "" });
                    out.push_str(space);
                    out.push_str(name);
                    out.push_str(space);
                    out.push(':');
                    out.push_str(space);
                    value.write_to(out, space);
                    out.push_str(space);
                }
                out.push('}');
            }
        }
    }
}

pub(super) fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![3 => Just(""), 1 => Just(" "), 1 => Just("\n  "), 1 => Just(" \r\n\t")]
}

/// Generates the inside of a string with many brackets, quotes and backslashes.
fn inside() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z0-9./-]{1,12}",
        1 => "[{}\\[\\],: ]{1,8}",
        1 => proptest::sample::select(vec![
            "\\\"", "\\\\", "\\\\\\\\", "\\/", "\\n", "\\u0026", "\\u003c", "\\ud83d\\ude00", "\\u005c", "\\u0022", "é", "日本", "😀",
        ]).prop_map(str::to_owned),
    ];
    prop_oneof![
        9 => vec(piece, 0..6).prop_map(|pieces| pieces.concat()),
        // Runs of backslashes across the blocks of a SIMD scanner.
        1 => (0..80usize, 0..70usize).prop_map(|(a, b)| format!("{}{}", "x".repeat(a), "\\\\".repeat(b))),
    ]
}

/// Generates a string including its quotes.
pub(super) fn string() -> impl Strategy<Value = String> {
    inside().prop_map(|inside| format!("\"{inside}\""))
}

fn leaf() -> impl Strategy<Value = Json> {
    prop_oneof![
        4 => string(),
        1 => proptest::sample::select(vec![
            "null", "true", "false", "0", "-0.5e+10", "12345678901234567890123456789012345678901234567890",
        ]).prop_map(str::to_owned),
    ]
    .prop_map(Json::Token)
}

pub(super) fn json() -> impl Strategy<Value = Json> {
    leaf().prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Json::Array),
            vec((string(), inner), 0..6).prop_map(Json::Object),
        ]
    })
}

/// A Kubernetes object, and the expected result of its scan.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    pub(super) metadata: Json,
    pub(super) rest: Vec<(String, Json)>,
    pub(super) kind: String,
    pub(super) api_version: String,
}

impl Sample {
    /// Formats it as an item of a list of a built-in kind.
    pub(super) fn item(&self, space: &str) -> String {
        let mut members = self.rest.clone();
        members.insert(0, ("\"metadata\"".into(), self.metadata.clone()));
        Json::Object(members).write(space)
    }

    /// Formats it as the object of an event, with kind and apiVersion at `places` among the members.
    pub(super) fn event(&self, places: (usize, usize), space: &str) -> String {
        let mut members = self.rest.clone();
        members.insert(0, ("\"metadata\"".into(), self.metadata.clone()));
        let kind = ("\"kind\"".into(), Json::text(&self.kind));
        let api_version = ("\"apiVersion\"".into(), Json::text(&self.api_version));
        members.insert(places.0 % (members.len() + 1), kind);
        members.insert(places.1 % (members.len() + 1), api_version);
        Json::Object(members).write(space)
    }
}

fn metadata() -> impl Strategy<Value = Json> {
    let known = (
        "[a-z0-9][a-z0-9.-]{0,19}",
        proptest::option::of("[a-z0-9-]{0,20}"),
        proptest::option::of("[0-9a-f-]{0,36}"),
        proptest::option::of("[0-9]{0,12}"),
        proptest::option::of(vec((string(), string()), 0..5)),
    );
    (known, vec((string(), json()), 0..4), any::<u64>()).prop_map(
        |((name, namespace, uid, version, labels), others, order)| {
            let mut members = vec![("\"name\"".to_owned(), Json::text(&name))];
            let mut add = |name: &str, value: Option<Json>| {
                members.extend(value.map(|value| (format!("\"{name}\""), value)));
            };
            add("namespace", namespace.map(|text| Json::text(&text)));
            add("\\u0075id", uid.map(|text| Json::text(&text)));
            add("resourceVersion", version.map(|text| Json::text(&text)));
            let text = |(name, value)| (name, Json::Token(value));
            add(
                "labels",
                labels.map(|labels| Json::Object(labels.into_iter().map(text).collect())),
            );
            members.extend(others);
            shuffle(&mut members, order);
            Json::Object(members)
        },
    )
}

pub(super) fn sample() -> impl Strategy<Value = Sample> {
    let rest = vec((string(), json()), 0..5);
    (metadata(), rest, "[A-Z][a-z]{1,8}", "[a-z.]{0,9}/?v1").prop_map(
        |(metadata, rest, kind, api_version)| Sample {
            metadata,
            rest,
            kind,
            api_version,
        },
    )
}

/// Permutes `values` into permutation number `order`.
pub(super) fn shuffle<T>(values: &mut [T], mut order: u64) {
    for i in (1..values.len()).rev() {
        values.swap(i, (order % (i as u64 + 1)) as usize);
        order /= i as u64 + 1;
    }
}
