//! Objects for packers to fail on. A [`Recipe`] says all of an object, so that the truth about it can be made again at any
//! time and takes no memory.

use rand::{Rng, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Which object it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recipe {
    pub(crate) name: u32,
    /// Objects with the same owner are a family.
    pub(crate) owner: u32,
    /// Objects of one template are alike.
    pub(crate) template: u64,
    /// What makes an object differ from others of its template.
    pub(crate) number: u64,
    /// The nature of the data: which words there are.
    pub(crate) era: u64,
    /// About how many bytes the object has.
    pub(crate) size: usize,
    /// Whether it cannot be decoded.
    pub(crate) broken: bool,
}

/// What is true of an object.
pub(crate) struct Truth {
    /// As the server sends it.
    pub(crate) sent: Vec<u8>,
    /// Without managed fields.
    pub(crate) body: Vec<u8>,
    /// What the body means. The last of members with one name counts.
    pub(crate) value: Value,
    pub(crate) broken: bool,
    pub(crate) key: String,
    pub(crate) uid: String,
    pub(crate) labels: BTreeMap<String, String>,
    /// Its own kind and apiVersion.
    pub(crate) kind: Option<String>,
    pub(crate) api_version: Option<String>,
}

/// A JSON text, and what it means.
type Json = (String, Value);

const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "-0.0",
    "1",
    "-1",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "0.1",
    "1.10",
    "1E5",
    "1e-0",
    "5e-324",
    "2.2250738585072011e-308",
    "1.7976931348623157e308",
    "8.41e21",
    "9007199254740993.0",
    "0.30000000000000004",
    "1e-400",
    "123456789.123456789e-5",
];

const STRINGS: &[&str] = &[
    r#"\" \\ \/ \b \f \n \r \t"#,
    r"\u0000",
    r"\ud83d\ude00",
    "\u{1F600}\u{10FFFF}",
    "é\u{301}",
    "\u{2028}\u{7F}\u{9B}",
    "}]{[",
    r#"\",\"metadata\":{\"name\":\"x\"}"#,
    "-0",
    r"-0\u002e",
    "(\u{B5}/\u{30} \u{FD}\u{2F}\u{B5}\u{28})",
    r"\u006eame",
    "",
    "\u{EC}\u{30}\u{A4}\u{37}",
    "0123456789abcdef",
];

/// What a scan passes and no decoder does.
const GARBAGE: &[&str] = &[
    "tru",
    "1e999",
    r#""\x""#,
    "[1 2]",
    r#"{"a" 1}"#,
    "01",
    "\"\t\"",
    r#""\ud800""#,
    "[,]",
];

/// What a number means, told without either of the decoders.
fn number(text: &str) -> Json {
    let value = match text {
        "-0" => Value::from(0),
        _ => (text.parse::<i64>().map(Value::from))
            .or_else(|_| text.parse::<u64>().map(Value::from))
            .unwrap_or_else(|_| Value::from(text.parse::<f64>().unwrap())),
    };
    (text.to_owned(), value)
}

fn string(inner: &str) -> Json {
    let text = format!("\"{inner}\"");
    let value = serde_json::from_str(&text).unwrap();
    (text, value)
}

fn noise(rng: &mut StdRng, length: usize) -> String {
    (0..length)
        .map(|_| char::from(rng.random_range(b'0'..=b'z')).to_owned())
        .filter(|c| *c != '\\')
        .collect()
}

fn leaf(rng: &mut StdRng, era: u64, depth: u32) -> Json {
    let word = |rng: &mut StdRng| {
        format!(
            "{:x}",
            (era * 1000 + rng.random_range(1..120)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        )
    };
    match rng.random_range(0..16) {
        0 => number(NUMBERS.choose(rng).unwrap()),
        1 => number(&rng.random::<i64>().to_string()),
        2 => {
            let float = f64::from_bits(rng.random());
            let text = match (float.is_finite(), rng.random()) {
                (false, _) => "0.5".to_owned(),
                (true, true) => format!("{float:e}"),
                (true, false) => format!("{float}"),
            };
            number(&text)
        }
        3 | 4 => string(STRINGS.choose(rng).unwrap()),
        5 => {
            let length = rng.random_range(0..200);
            string(&noise(rng, length))
        }
        6 => string(&"x".repeat(rng.random_range(0..3000))),
        7 => ("null".to_owned(), Value::Null),
        8 => ("true".to_owned(), Value::Bool(true)),
        9 if depth < 3 => {
            let items: Vec<_> = (0..rng.random_range(0..6))
                .map(|_| leaf(rng, era, depth + 1))
                .collect();
            let text = items
                .iter()
                .map(|(text, _)| text.as_str())
                .collect::<Vec<_>>()
                .join(",");
            (
                format!("[{text}]"),
                items.into_iter().map(|(_, value)| value).collect(),
            )
        }
        10 if depth < 3 => {
            let members: Vec<_> = (0..rng.random_range(0..6))
                .map(|_| (rng.random_range(0..4).to_string(), leaf(rng, era, depth + 1)))
                .collect();
            object(members)
        }
        _ => string(
            &(0..rng.random_range(1..8))
                .map(|_| word(rng))
                .collect::<Vec<_>>()
                .join("-"),
        ),
    }
}

/// Members in this order; the last one of a name counts.
fn object(members: Vec<(String, Json)>) -> Json {
    let mut text = String::from("{");
    let mut map = Map::new();
    for (name, (value_text, value)) in members {
        let comma = if text.len() > 1 { "," } else { "" };
        write!(text, "{comma}\"{name}\":{value_text}").unwrap();
        let Value::String(name) = string(&name).1 else {
            unreachable!()
        };
        map.insert(name, value);
    }
    (text + "}", map.into())
}

impl Recipe {
    /// A random object; `template` and `number` are drawn by the caller, so that families form.
    pub(crate) fn draw(rng: &mut StdRng, name: u32, era: u64) -> Self {
        let size = *[
            200, 300, 600, 2000, 2000, 8000, 8000, 20_000, 45_000, 100_000, 131_000, 300_000,
        ]
        .choose(rng)
        .unwrap();
        // Large ones are rare, so that there is time for many.
        let size = if size > 10_000 && rng.random_ratio(4, 5) {
            size / 40
        } else {
            size
        };
        let owner = rng.random_range(0..40);
        // Most objects of an owner are alike.
        let template = if rng.random_ratio(4, 5) {
            u64::from(owner)
        } else {
            rng.random_range(0..1000)
        };
        Self {
            name,
            owner,
            template,
            number: rng.random(),
            era,
            size,
            broken: rng.random_ratio(1, 50),
        }
    }

    /// The next state of the object: usually a small change.
    pub(crate) fn next(self, rng: &mut StdRng, era: u64) -> Self {
        match rng.random_range(0..4) {
            0 => Self::draw(rng, self.name, era),
            1 => Self {
                number: rng.random(),
                size: Self::draw(rng, 0, era).size,
                ..self
            },
            _ => Self {
                number: rng.random(),
                ..self
            },
        }
    }

    pub(crate) fn truth(&self) -> Truth {
        let mut fixed = StdRng::seed_from_u64(self.template ^ self.era << 32);
        let mut own = StdRng::seed_from_u64(self.number);
        let space = *["", "", " ", "\n  "].choose(&mut fixed).unwrap();

        let mut members = Vec::new();
        let mut size = 0;
        while size < self.size {
            let mut name = format!("m{}", members.len());
            let mut value = leaf(&mut fixed, self.era, 0);
            if own.random_ratio(1, 40) {
                value = leaf(&mut own, self.era, 0);
            }
            if fixed.random_ratio(1, 30) {
                name = ["m0", r"\u006d1", "é", "m0"]
                    .choose(&mut fixed)
                    .unwrap()
                    .to_string();
            }
            size += name.len() + value.0.len() + 4;
            members.push((name, value));
        }
        let spec = object(members);
        let node = string(&format!("node-{}", own.random_range(0..5)));
        let items: Vec<_> = (0..own.random_range(0..4))
            .map(|_| object(vec![("n".into(), leaf(&mut own, self.era, 2))]))
            .collect();
        let items = (
            format!(
                "[{}]",
                items
                    .iter()
                    .map(|(text, _)| text.as_str())
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
            items.into_iter().map(|(_, value)| value).collect(),
        );

        let uid = match own.random_range(0..200) {
            0 => noise(&mut own, 70_000).replace(['"', '\\'], ""),
            1..20 => String::new(),
            _ => format!("{:032x}", own.random::<u128>()),
        };
        let mut labels = vec![("app".to_owned(), string(&format!("app-{}", self.template % 9)))];
        if own.random_ratio(1, 3) {
            labels.push(("number".into(), string(&self.number.to_string())));
            labels.push(("app".into(), string("last")));
        }
        let (key, namespace) = (format!("ns/o{}", self.name), string("ns"));
        let mut metadata = vec![
            ("name".to_owned(), string(&format!("o{}", self.name))),
            ("namespace".into(), namespace),
            ("uid".into(), string(&uid)),
            ("labels".into(), object(labels)),
            (
                "ownerReferences".into(),
                (
                    format!(
                        r#"[{{"apiVersion":"v1","kind":"Owner","name":"o","uid":"{}"}}]"#,
                        self.owner
                    ),
                    serde_json::json!([{"apiVersion": "v1", "kind": "Owner", "name": "o", "uid": self.owner.to_string()}]),
                ),
            ),
        ];
        if own.random() {
            metadata.swap(0, 3);
        }
        let mut metadata = object(metadata);
        let managed = format!(
            r#"{space},{space}"managedFields":[{{"manager":"m{}"}}]"#,
            self.number
        );
        let last = metadata.0.pop();
        let sent_metadata = metadata.0.clone() + &managed;
        metadata.0.extend(last);

        let mut top = vec![
            ("metadata".to_owned(), metadata.clone()),
            (
                "spec".into(),
                object(vec![("nodeName".into(), string("overridden"))]),
            ),
            ("status".into(), spec),
            (
                "spec".into(),
                object(vec![("nodeName".into(), node), ("items".into(), items)]),
            ),
        ];
        let (mut kind, mut api_version) = (None, None);
        if own.random_ratio(2, 3) {
            top.insert(0, ("kind".into(), string("Overridden")));
            top.push(("kind".into(), string("Own")));
            kind = Some("Own".to_owned());
        }
        if own.random_ratio(2, 3) {
            let version = format!("example.com/v{}", own.random_range(1..4));
            top.insert(0, ("apiVersion".into(), string(&version)));
            api_version = Some(version);
        }
        if self.broken {
            top.push((
                "broken".into(),
                (GARBAGE.choose(&mut own).unwrap().to_string(), Value::Null),
            ));
        }
        let (body, value) = object(top);
        let sent = body.replacen(&metadata.0, &(sent_metadata + "}"), 1);
        let labels = &value["metadata"]["labels"].as_object().unwrap().clone();
        Truth {
            sent: sent.into_bytes(),
            body: body.into_bytes(),
            value,
            broken: self.broken,
            key,
            uid,
            labels: labels
                .iter()
                .map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()))
                .collect(),
            kind,
            api_version,
        }
    }
}

/// What a path leads to, in no particular order.
pub(crate) fn find<'v>(value: &'v Value, steps: &[&str], found: &mut Vec<&'v Value>) {
    match (value, steps) {
        (value, []) => found.push(value),
        (Value::Object(members), [step, rest @ ..]) => {
            let inner = members.iter().filter(|(name, _)| name == step || *step == "*");
            inner.for_each(|(_, value)| find(value, rest, found));
        }
        (Value::Array(items), ["*", rest @ ..]) => items.iter().for_each(|item| find(item, rest, found)),
        _ => {}
    }
}
