//! A recording: the changes of some kinds in one file.
//!
//! # Format
//! The file is a sequence of zstd frames, so `zstdcat` prints it. It starts with a skippable frame of zstd's, which holds
//! [`MAGIC`] with the version of the format. Each frame after it is a block: it has a checksum, and decompresses to whole
//! lines of JSON. The first line is the [`Header`], each further one an [`Entry`], and the last one the [`Trailer`].
//!
//! # What is kept
//! An object is written whole when it appears. An update is written as a JSON Patch (RFC 6902) of the state before it,
//! unless the object itself is shorter.
//!
//! # Interruption
//! A block is written by one call and is complete. A recorder that is killed leaves a file that can be read up to its last
//! block, without a trailer; what follows it is ignored, and told ([`Reader::is_cut`]).

mod reader;
mod states;
mod writer;

pub(crate) use reader::Reader;
pub(crate) use states::{Change, Object, States, remove_managed_fields};
pub(crate) use writer::Writer;

use crate::discovery::Resource;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::{fmt, io};

/// The content of the first frame.
const MAGIC: &[u8] = b"kubectl-informer recording 1\n";
/// What the magic starts with in every version of the format.
const ANY_VERSION: &[u8] = b"kubectl-informer recording ";
/// The number by which zstd tells a frame that is to be skipped.
const SKIPPABLE: u32 = 0x184D_2A50;
/// The most bytes of a block before it is compressed. A block has about [`BLOCK`] of them, but a line is not divided.
const MOST_OF_BLOCK: usize = 64 << 20;
/// The most bytes of a line but the first, as parsed JSON takes many times as much memory. Servers take objects of about 3 MiB
/// at most. It also bounds an object that grew by patches.
pub(crate) const MOST_OF_LINE: usize = 8 << 20;
/// How deep an object may be nested: parsers refuse 128 levels, and an entry adds some.
pub(crate) const MOST_OF_LEVELS: usize = 120;
/// The bytes after which a block is written.
const BLOCK: usize = 4 << 20;

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    /// When the recording began, in RFC 3339.
    pub(crate) started: jiff::Timestamp,
    /// The server's URL.
    pub(crate) server: String,
    /// The resources, which entries name by their numbers.
    pub(crate) resources: Vec<Resource>,
    /// Whether the values of secrets are recorded.
    pub(crate) secrets: bool,
}

/// A line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Milliseconds since the recording began.
    #[serde(rename = "t")]
    pub(crate) time: u64,
    /// The resource's number.
    #[serde(rename = "r")]
    pub(crate) resource: usize,
    #[serde(rename = "e")]
    pub(crate) event: Event,
    /// The object, `namespace/name` or `name`; empty if there is none.
    #[serde(rename = "k", default, skip_serializing_if = "String::is_empty")]
    pub(crate) key: String,
    /// The object, whole; not decoded, since most readers look at few objects.
    #[serde(rename = "o", default, skip_serializing_if = "Option::is_none")]
    pub(crate) object: Option<Box<RawValue>>,
    /// The JSON Patch that makes the object of its state before; not decoded either.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub(crate) patch: Option<Box<RawValue>>,
}

/// The last line of a recording that was ended.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Trailer {
    /// Milliseconds since the recording began.
    ended: u64,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Event {
    /// The object was there at the beginning.
    Initial,
    /// All objects that were there at the beginning of the recording of this resource have been told.
    Synced,
    Add,
    Update,
    Delete,
}

impl Event {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Synced => "synced",
            Self::Add => "add",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

/// Why a file cannot be read.
#[derive(Debug)]
pub(crate) enum RecordingError {
    Io(io::Error),
    /// It is no recording.
    NotARecording,
    /// Another version of the format.
    Version(String),
    /// A block is damaged.
    Block {
        number: u64,
        why: String,
    },
    /// A line is not what it must be.
    Line {
        number: u64,
        why: String,
    },
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "it cannot be read: {error}"),
            Self::NotARecording => f.write_str("it is no recording of kubectl informer record"),
            Self::Version(version) => write!(
                f,
                "it has the format {version:?}, which this version of kubectl-informer does not know; use a newer one"
            ),
            Self::Block { number, why } => {
                write!(f, "block {number} is damaged ({why})")
            }
            Self::Line { number, why } => {
                write!(f, "line {number} is not what a recorder writes: {why}")
            }
        }
    }
}

impl std::error::Error for RecordingError {}

impl From<io::Error> for RecordingError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::tests::resource;
    use kube_informer::ObjectKey;
    use proptest::prelude::*;
    use serde_json::value::to_raw_value;
    use serde_json::{Value, json};

    fn header() -> Header {
        Header {
            started: "2026-01-01T00:00:00Z".parse().unwrap(),
            server: "http://127.0.0.1:1".into(),
            resources: vec![resource("", "v1", "ConfigMap", "configmaps", "cm")],
            secrets: false,
        }
    }

    fn object(name: &str, value: &str) -> Value {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "ns", "name": name, "uid": name},
            "data": {"k": value},
        })
    }

    fn entry(time: u64, event: Event, name: &str) -> Entry {
        Entry {
            time,
            resource: 0,
            event,
            key: format!("ns/{name}"),
            object: None,
            patch: None,
        }
    }

    fn whole(time: u64, event: Event, name: &str, value: &str) -> Entry {
        Entry {
            object: Some(to_raw_value(&object(name, value)).unwrap()),
            ..entry(time, event, name)
        }
    }

    fn update(time: u64, name: &str, from: &str, to: &str) -> Entry {
        Entry {
            patch: to_raw_value(&json_patch::diff(&object(name, from), &object(name, to))).ok(),
            ..entry(time, Event::Update, name)
        }
    }

    /// When files end.
    const ENDED: u64 = 9000;

    /// A file with a block for each of these groups of entries, whose recorder is still writing.
    fn unended(groups: &[Vec<Entry>]) -> Writer<Vec<u8>> {
        let mut writer = Writer::new(Vec::new(), &header()).unwrap();
        for group in groups {
            for entry in group {
                writer.write(entry).unwrap();
            }
            writer.flush().unwrap();
        }
        writer
    }

    /// A file with a block for each of these groups of entries, and one for the trailer.
    fn file(groups: &[Vec<Entry>]) -> Vec<u8> {
        let mut writer = unended(groups);
        writer.end(ENDED).unwrap();
        writer.into_inner()
    }

    fn groups() -> [Vec<Entry>; 3] {
        [
            vec![
                whole(0, Event::Initial, "a", "1"),
                whole(1, Event::Initial, "b", "1"),
            ],
            vec![update(1000, "a", "1", "2"), update(2000, "a", "2", "3")],
            vec![entry(3000, Event::Delete, "b")],
        ]
    }

    fn sample() -> Vec<u8> {
        file(&groups())
    }

    /// All entries as their lines, and the error at the end.
    fn read(bytes: &[u8]) -> (Vec<String>, Option<RecordingError>) {
        let mut entries = Vec::new();
        let mut reader = match Reader::new(bytes) {
            Ok(reader) => reader,
            Err(error) => return (entries, Some(error)),
        };
        loop {
            match reader.next() {
                Ok(Some(entry)) => entries.push(serde_json::to_string(&entry).unwrap()),
                Ok(None) => return (entries, None),
                Err(error) => return (entries, Some(error)),
            }
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = sample();
        let mut reader = Reader::new(&*bytes).unwrap();
        assert_eq!(*reader.header(), header());
        let mut states = States::new(reader.header());
        let mut told = Vec::new();
        while let Some(mut entry) = reader.next().unwrap() {
            let change = states.apply(&mut entry).unwrap();
            let value = |object: Option<Object>| {
                let value = object?.value(&header().resources[0]).unwrap();
                Some(value["data"]["k"].clone())
            };
            told.push((value(change.old), value(change.new)));
        }
        assert_eq!((reader.ended(), reader.is_cut()), (Some(ENDED), false));
        let text = |text: &str| Some(Value::from(text));
        assert_eq!(
            told,
            [
                (None, text("1")),
                (None, text("1")),
                (text("1"), text("2")),
                (text("2"), text("3")),
                (text("1"), None),
            ]
        );
        let left: Vec<_> = states.keys().collect();
        let key = ObjectKey::from("ns/a");
        assert_eq!(left, [(0, &key)]);
        assert_eq!(states.get(0, &key), Some(Ok(object("a", "3"))));
    }

    /// The states after objects of these names were recorded as these texts.
    fn states(objects: &[(&str, &str)]) -> States {
        let mut states = States::new(&header());
        for (name, text) in objects {
            let mut entry = entry(0, Event::Add, name);
            entry.object = Some(RawValue::from_string((*text).to_owned()).unwrap());
            states.apply(&mut entry).unwrap();
        }
        states
    }

    /// Objects are printed without being decoded, but as if they had been.
    #[test]
    fn the_text_of_an_object_has_its_type_and_no_managed_fields() {
        let whole = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"managedFields":[{"manager":"m"}],"name":"a","namespace":"ns"}}"#;
        let untyped = r#"{"metadata":{"managedFields":[{"manager":"m"}],"name":"b","namespace":"ns"}}"#;
        let spaced = "{\"apiVersion\":\"v1\",\t\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\",\r\"namespace\":\"ns\"}}";
        let states = states(&[("a", whole), ("b", untyped), ("c", spaced)]);
        let text = |name: &str, managed_fields| {
            let key = ObjectKey::from(format!("ns/{name}"));
            states.json(0, &key, managed_fields).unwrap().unwrap()
        };
        let bare = |name: &str| {
            format!(
                r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}","namespace":"ns"}}}}"#
            )
        };
        assert_eq!(text("a", true), whole);
        assert_eq!(
            ["a", "b", "c"].map(|name| text(name, false)),
            ["a", "b", "c"].map(bare)
        );
        assert!(text("b", true).contains(r#""managedFields":[{"manager":"m"}]"#));
    }

    #[test]
    fn an_object_nested_too_deep_is_an_error_when_it_is_read() {
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        let text = format!(r#"{{"metadata":{{"name":"a","namespace":"ns"}},"data":{deep}}}"#);
        let states = states(&[("a", &text)]);
        let why = states.get(0, &ObjectKey::from("ns/a")).unwrap().unwrap_err();
        assert!(why.contains("recursion limit"), "{why}");
    }

    /// The whole file is one stream of zstd.
    #[test]
    fn other_tools_can_read_it() {
        let bytes = sample();
        let mut plain = vec![0; 1 << 20];
        let length = zstd_safe::decompress(&mut plain[..], &bytes).unwrap();
        let text = std::str::from_utf8(&plain[..length]).unwrap();
        assert_eq!(text.lines().count(), 7);
        assert!(
            text.lines()
                .all(|line| serde_json::from_str::<Value>(line).is_ok())
        );
    }

    #[test]
    fn a_file_that_is_cut_is_read_up_to_its_last_block() {
        let bytes = sample();
        let (all, _) = read(&bytes);
        let mut counts = std::collections::BTreeSet::new();
        for length in 0..bytes.len() {
            match Reader::new(&bytes[..length]) {
                Ok(mut reader) => {
                    let mut entries = Vec::new();
                    while let Some(entry) = reader.next().unwrap() {
                        entries.push(serde_json::to_string(&entry).unwrap());
                    }
                    assert_eq!(entries, all[..entries.len()]);
                    counts.insert(entries.len());
                }
                Err(error) => assert!(matches!(error, RecordingError::NotARecording), "{error}"),
            }
        }
        // The header is in a block with the first entries.
        assert_eq!(counts.into_iter().collect::<Vec<_>>(), [2, 4, 5]);
        // In the trailer, and before it, as a recorder that is killed leaves it.
        for cut in [&bytes[..bytes.len() - 1], &unended(&groups()).into_inner()] {
            let mut cut = Reader::new(cut).unwrap();
            while cut.next().unwrap().is_some() {}
            assert_eq!((cut.ended(), cut.is_cut()), (None, true));
        }
    }

    /// Nothing of two files in one is left out without a word.
    #[test]
    fn what_follows_the_trailer_is_refused() {
        let (entries, error) = read(&[sample(), sample()].concat());
        assert_eq!(entries.len(), 5);
        let error = error.unwrap().to_string();
        assert!(
            error.contains("line 8 is not what a recorder writes: it is after the end"),
            "{error}"
        );
    }

    #[test]
    fn other_files_and_versions_are_refused() {
        let refused = |bytes: &[u8]| Reader::new(bytes).err().unwrap().to_string();
        assert!(refused(b"hello").contains("no recording"));
        assert!(refused(b"").contains("no recording"));
        let mut newer = sample();
        let digit = 8 + MAGIC.len() - 2;
        assert_eq!(newer[digit], b'1');
        newer[digit] = b'2';
        assert!(
            refused(&newer).contains("the format \"2\""),
            "{}",
            refused(&newer)
        );
    }

    #[test]
    fn entries_that_do_not_fit_are_refused() {
        let check = |mut entry: Entry, expected: &str| {
            let mut states = States::new(&header());
            states.apply(&mut whole(0, Event::Initial, "a", "1")).unwrap();
            let why = states.apply(&mut entry).unwrap_err();
            assert!(why.contains(expected), "{why}");
        };
        check(update(1, "unknown", "1", "2"), "ns/unknown is not known");
        check(entry(1, Event::Delete, "unknown"), "ns/unknown is not known");
        check(entry(1, Event::Update, "a"), "without the object");
        check(
            Entry {
                resource: 7,
                ..entry(1, Event::Delete, "a")
            },
            "no resource 7",
        );
        check(
            Entry {
                key: "ns/other".into(),
                ..whole(1, Event::Update, "a", "2")
            },
            "is ns/a",
        );
        check(
            whole(1, Event::Add, &"a".repeat(2000), "1"),
            "a key of more than 1024 bytes",
        );
        let copy = json!([{"op": "copy", "from": "/data", "path": "/data/again"}]);
        check(
            Entry {
                patch: to_raw_value(&copy).ok(),
                ..entry(1, Event::Update, "a")
            },
            "only add, remove and replace",
        );
        let absent = json!([{"op": "remove", "path": "/nothing"}]);
        check(
            Entry {
                patch: to_raw_value(&absent).ok(),
                ..entry(1, Event::Update, "a")
            },
            "the patch does not fit",
        );
    }

    #[test]
    fn entries_that_are_only_noted_make_the_same_objects() {
        let (mut applied, mut noted) = (States::new(&header()), States::new(&header()));
        let mut take = |entry: Entry, line| {
            applied.apply(&mut entry.clone()).unwrap();
            noted.note(&mut entry.clone(), line).unwrap();
            let key = ObjectKey::from(entry.key.as_str());
            assert_eq!(noted.get(0, &key), applied.get(0, &key), "line {line}");
            assert_eq!(noted.json(0, &key, true), applied.json(0, &key, true));
            assert_eq!(noted.changed(0, &key), applied.changed(0, &key));
        };
        take(whole(0, Event::Initial, "a", "0"), 2);
        // More than wait at a time.
        for n in 1..200 {
            take(update(n, "a", &(n - 1).to_string(), &n.to_string()), n + 2);
        }
        take(whole(200, Event::Update, "a", "whole"), 202);
        take(update(201, "a", "whole", "again"), 203);
        take(entry(202, Event::Delete, "a"), 204);
        take(whole(203, Event::Add, "a", "new"), 205);
    }

    #[test]
    fn a_noted_patch_that_does_not_fit_is_told_with_its_line() {
        let mut states = States::new(&header());
        states.note(&mut whole(0, Event::Initial, "a", "1"), 2).unwrap();
        let mut odd = entry(1, Event::Update, "a");
        odd.patch = to_raw_value(&json!([{"op": "remove", "path": "/nothing"}])).ok();
        states.note(&mut odd, 3).unwrap();
        states.note(&mut update(2, "a", "1", "2"), 4).unwrap();
        let key = ObjectKey::from("ns/a");
        for why in [
            states.get(0, &key).unwrap().map(drop),
            states.json(0, &key, false).unwrap().map(drop),
            states.apply(&mut update(3, "a", "2", "3")).map(drop),
        ] {
            assert!(why.unwrap_err().contains("the patch of line 3 does not fit"));
        }
        let why = states.note(&mut update(0, "b", "1", "2"), 5).unwrap_err();
        assert!(why.contains("ns/b is not known"), "{why}");
    }

    /// A block that decompresses to more than a block may have.
    #[test]
    fn a_block_that_is_too_large_is_refused() {
        let mut bytes = unended(&groups()).into_inner();
        let mut compressed = Vec::with_capacity(zstd_safe::compress_bound(MOST_OF_BLOCK + 1));
        zstd_safe::compress(&mut compressed, &vec![b' '; MOST_OF_BLOCK + 1], 1).unwrap();
        bytes.extend(compressed);
        let (entries, error) = read(&bytes);
        assert_eq!(entries.len(), 5);
        assert!(
            error
                .unwrap()
                .to_string()
                .contains("block 4 is damaged (more than 64 MiB)")
        );
    }

    /// A short file can have long lines, which would take much memory.
    #[test]
    fn a_line_that_is_too_long_is_refused() {
        let bytes = file(&[vec![whole(0, Event::Initial, "a", &"x".repeat(MOST_OF_LINE))]]);
        assert!(bytes.len() < 10_000);
        let error = read(&bytes).1.unwrap().to_string();
        assert!(
            error.starts_with("line 2 is not what a recorder writes: more than 8388608 bytes"),
            "{error}"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            read(&bytes);
            let mut file = sample();
            let at = file.len();
            file.extend(bytes);
            let (entries, _) = read(&file);
            prop_assert!(entries.len() >= 5 || at == 0);
        }

        /// A checksum does not let a changed block pass; the magic is compared.
        #[test]
        fn changed_bytes_are_noticed(at in 0_usize..10_000, change in 1_u8..) {
            let mut bytes = sample();
            let (all, _) = read(&bytes);
            let at = at % bytes.len();
            bytes[at] ^= change;
            let (entries, error) = read(&bytes);
            prop_assert!(entries == all[..entries.len()]);
            prop_assert!(error.is_some() || entries.len() <= all.len());
        }

        /// Lines of any JSON never panic.
        #[test]
        fn any_lines_are_applied_or_refused(lines in proptest::collection::vec(".{0,60}", 0..5)) {
            let mut states = States::new(&header());
            for line in lines {
                if let Ok(mut entry) = serde_json::from_str::<Entry>(&line) {
                    let _ = states.apply(&mut entry);
                }
            }
        }
    }
}
