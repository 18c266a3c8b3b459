//! Properties of the whole module, with `serde_json` as the model.

mod arbitrary;
mod fingerprint;
mod list;
mod plan;
#[cfg(feature = "protobuf")]
mod protobuf;
mod scan;
mod watch;

use super::*;
use bytes::Bytes;
use proptest::prelude::*;

/// Cuts `body` at the given places (each in parts per 65536 of its length), which need not be in order.
fn cut(body: &str, places: &[u16]) -> Vec<Bytes> {
    let body = Bytes::copy_from_slice(body.as_bytes());
    let mut ends: Vec<usize> = places
        .iter()
        .map(|&p| body.len() * usize::from(p) / 65536)
        .collect();
    ends.push(body.len());
    ends.sort_unstable();
    let mut start = 0;
    ends.iter()
        .map(|&end| body.slice(std::mem::replace(&mut start, end)..end))
        .collect()
}

/// Generates places to cut: none, a few, or very many.
fn places() -> impl Strategy<Value = Vec<u16>> {
    prop_oneof![
        Just(Vec::new()),
        proptest::collection::vec(any::<u16>(), 1..8),
        proptest::collection::vec(any::<u16>(), 300),
    ]
}

fn read_list(chunks: Vec<Bytes>) -> Result<(Vec<Bytes>, ListMeta), FrameError> {
    let mut reader = ListReader::new(Encoding::Json);
    let mut items = Vec::new();
    for chunk in chunks {
        reader.push(chunk);
        while let Some(item) = reader.next()? {
            items.push(item);
        }
    }
    Ok((items, reader.finish()?))
}

fn read_watch(chunks: Vec<Bytes>) -> (Vec<(EventType, Bytes)>, Result<(), FrameError>) {
    let mut reader = WatchReader::new(Encoding::Json);
    let mut frames = Vec::new();
    for chunk in chunks {
        reader.push(chunk);
        loop {
            match reader.next() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => return (frames, Err(error)),
            }
        }
    }
    (frames, reader.finish())
}

/// Formats the scan result of an object, or the error.
fn seen(object: Result<RawObject, ScanError>) -> String {
    let raw = match object {
        Ok(raw) => raw,
        Err(error) => return format!("{error:?}"),
    };
    let labels: Vec<_> = raw.labels().collect();
    let (body, found) = (raw.body(), raw.extracted(0).collect::<Vec<_>>());
    format!(
        "{raw:?} {labels:?} {:?} {body:?} {found:?} {:?}",
        raw.fingerprint(),
        raw.bytes()
    )
}

/// Formats each object of a body that `next` reads, and the end of the body.
fn seen_by<R>(
    mut reader: R,
    chunks: Vec<Bytes>,
    push: fn(&mut R, Bytes),
    mut next: impl FnMut(&mut R) -> Result<Option<String>, FrameError>,
    finish: fn(R) -> Result<(), FrameError>,
) -> (Vec<String>, Result<(), FrameError>) {
    let mut objects = Vec::new();
    for chunk in chunks {
        push(&mut reader, chunk);
        loop {
            match next(&mut reader) {
                Ok(Some(object)) => objects.push(object),
                Ok(None) => break,
                Err(error) => return (objects, Err(error)),
            }
        }
    }
    (objects, finish(reader))
}

fn scan(body: &str) -> Result<RawObject, ScanError> {
    RawObject::scan(Encoding::Json, Bytes::copy_from_slice(body.as_bytes()))
}

/// The body with the uid put back where it was left out.
fn body_with_uid(raw: &RawObject) -> Vec<u8> {
    let mut body = Vec::new();
    if let Some(place) = raw.write_body_without_uid(&mut body) {
        let uid = raw.uid().expect("it was left out").bytes();
        body.splice(place..place, uid);
    }
    body
}

/// Generates random fragments of JSON.
fn json_fragments() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        proptest::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "\\", " ", "\n", "null", "true", "-1e9", "\\u0041",
            "\u{feff}", "é",
        ])
        .prop_map(str::to_owned),
        proptest::sample::select(vec![
            "\"items\":[",
            "\"metadata\":{",
            "\"name\":\"a\"",
            "\"type\":\"ADDED\"",
            "\"object\":{}",
            "\"kind\":\"AList\"",
            "\"labels\":{\"a\":\"b\"}",
            "\"namespace\":\"n\"",
            "\"uid\":1",
        ])
        .prop_map(str::to_owned),
        ".{0,3}",
    ];
    proptest::collection::vec(token, 0..40).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn chunk_boundaries_make_no_difference(body in json_fragments(), places in places()) {
        prop_assert_eq!(read_list(cut(&body, &places)), read_list(cut(&body, &[])));
        prop_assert_eq!(read_watch(cut(&body, &places)), read_watch(cut(&body, &[])));
        let _ = scan(&body);
        let _ = parse_bookmark(Encoding::Json, &body.clone().into());
    }

    #[test]
    fn scanning_while_splitting_equals_scanning_afterwards(
        objects in proptest::collection::vec(("[{\\[ ]?", json_fragments(), any::<bool>()), 0..6),
        behind in ".{0,2}",
        places in places(),
        max in prop_oneof![Just(20_usize), Just(1 << 20)],
    ) {
        let path = |path: &str| path.parse().unwrap();
        let plan = &FieldPlan::new([path("/metadata/labels"), path("/b")], [path("/a/*")]).unwrap();
        let objects: Vec<String> = objects
            .into_iter()
            .map(|(start, fragments, valid)| match valid {
                true => r#"{"a":[1,"{"],"metadata":{"name":"a","labels":{"x":"{"}},"b":{} }"#.to_owned(),
                false => format!("{start}\"metadata\":{{\"name\":\"a\"}},{fragments}}}"),
            })
            .collect();
        let list = format!("{{\"kind\":\"AList\",\"items\":[{}]}}{behind}", objects.join(","));
        let reader = || ListReader::with_max_object_size(Encoding::Json, max);
        let finish = |reader: ListReader| reader.finish().map(|_| ());
        let item = |bytes| seen(RawObject::scan_with(Encoding::Json, bytes, plan));
        let apart = |reader: &mut ListReader| {
            Ok(reader.next()?.map(item))
        };
        let at_once = |reader: &mut ListReader| Ok(reader.next_scanned(plan)?.map(seen));
        prop_assert_eq!(
            seen_by(reader(), cut(&list, &places), ListReader::push, at_once, finish),
            seen_by(reader(), cut(&list, &places), ListReader::push, apart, finish)
        );

        let events = objects.iter().map(|object| format!("{{\"type\":\"ADDED\",\"object\":{object}}}\n"));
        let watch = events.chain([behind]).collect::<String>();
        let reader = || WatchReader::with_max_object_size(Encoding::Json, max);
        let apart = |reader: &mut WatchReader| {
            let event = reader.next()?;
            Ok(event.map(|(event, object)| {
                format!("{event} {}", seen(RawObject::scan_with(Encoding::Json, object, plan)))
            }))
        };
        let at_once = |reader: &mut WatchReader| {
            let event = reader.next_with(plan)?;
            Ok(event.map(|(event, object)| format!("{event} {}", seen(reader.scan(object, plan)))))
        };
        prop_assert_eq!(
            seen_by(reader(), cut(&watch, &places), WatchReader::push, at_once, WatchReader::finish),
            seen_by(reader(), cut(&watch, &places), WatchReader::push, apart, WatchReader::finish)
        );
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(body in proptest::collection::vec(any::<u8>(), 0..300)) {
        let body = Bytes::from(body);
        let _ = read_list(vec![body.clone()]);
        let _ = read_watch(vec![body.clone()]);
        let _ = parse_bookmark(Encoding::Json, &body);
        let _ = RawObject::scan(Encoding::Json, body);
    }

    /// If our reader, which is lenient, reads a complete list that `serde_json` can read too, both find the same
    /// items.
    #[test]
    fn random_lists_have_the_items_that_serde_json_finds(body in json_fragments()) {
        let body = format!("{{\"items\":[{body}]}}");
        if let Ok(model) = serde_json::from_str::<list::Model<'_>>(&body) {
            let (items, _) = read_list(cut(&body, &[])).unwrap();
            prop_assert_eq!(items, model.items.iter().map(|item| item.get()).collect::<Vec<_>>());
        }
    }
}
