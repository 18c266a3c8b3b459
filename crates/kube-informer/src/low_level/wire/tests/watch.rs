//! Watches.

use super::{
    arbitrary::{Json, json, sample, shuffle, space, string},
    *,
};
use proptest::collection::vec;
use serde_json::value::RawValue;

#[derive(serde::Deserialize)]
struct Model<'a> {
    r#type: String,
    #[serde(borrow)]
    object: &'a RawValue,
}

fn frame() -> impl Strategy<Value = String> {
    let event = proptest::sample::select(vec![
        "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "{\"}", "",
    ]);
    let object = prop_oneof![
        json(),
        sample().prop_map(|sample| Json::Token(sample.event((0, 1), "")))
    ];
    (
        event,
        object,
        vec((string(), json()), 0..3),
        any::<u64>(),
        space(),
    )
        .prop_map(|(event, object, others, order, space)| {
            let mut members = vec![
                ("\"type\"".to_owned(), Json::text(event)),
                ("\"object\"".to_owned(), object),
            ];
            members.extend(others);
            shuffle(&mut members, order);
            Json::Object(members).write(space)
        })
}

proptest! {
    #[test]
    fn a_watch_is_split_as_by_serde_json(
        frames in vec(frame(), 0..6),
        between in proptest::sample::select(vec!["", "\n", " \r\n"]),
        places in places(),
    ) {
        let body = frames.join(between) + between;
        let model: Vec<_> = serde_json::Deserializer::from_str(&body)
            .into_iter::<Model<'_>>()
            .map(Result::unwrap)
            .map(|model| {
                let object = Bytes::copy_from_slice(model.object.get().as_bytes());
                (EventType::from(&*model.r#type), object)
            })
            .collect();
        let (frames, end) = read_watch(cut(&body, &places));
        prop_assert_eq!(frames, model);
        prop_assert_eq!(end, Ok(()));
    }

    #[test]
    fn a_watch_cut_off_in_a_frame_is_an_error(frame in frame(), cut_at in any::<u16>(), places in places()) {
        let mut length = 1 + (frame.len() - 2) * usize::from(cut_at) / 65536;
        while !frame.is_char_boundary(length) {
            length -= 1;
        }
        let body = format!("{frame}\n{}", &frame[..length]);
        let (frames, end) = read_watch(cut(&body, &places));
        prop_assert_eq!(frames.len(), 1);
        let error = end.unwrap_err();
        prop_assert_eq!(error.reason(), &FrameReason::Truncated);
    }
}

#[track_caller]
fn check(body: &str, whole: usize, expected: Result<(), FrameReason>) {
    for places in [
        &[][..],
        &[0x4000, 0x8000, 0xC000],
        &(0..=u16::MAX).step_by(256).collect::<Vec<_>>(),
    ] {
        let (frames, end) = read_watch(cut(body, places));
        assert_eq!(frames.len(), whole, "{body}");
        assert_eq!(end.map_err(|error| error.reason().clone()), expected, "{body}");
    }
}

#[test]
fn a_watch_may_end_between_frames() {
    check("", 0, Ok(()));
    check("\u{feff} \n", 0, Ok(()));
    check(
        r#"{"type":"ADDED","object":{}}{"object":null,"type":"X"}"#,
        2,
        Ok(()),
    );
}

#[test]
fn bad_frames_are_errors() {
    let one = r#"{"type":"ADDED","object":{}}"#;
    let after = |rest: &str| format!("{one}\n{rest}");
    check(
        &after(r#"{"type":"ADDED"}"#),
        1,
        Err(FrameReason::Missing("object")),
    );
    check(&after(r#"{"object":{}}"#), 1, Err(FrameReason::Missing("type")));
    check(
        &after(r#"{"type":null,"object":{}}"#),
        1,
        Err(FrameReason::Invalid("type")),
    );
    check(
        &after(r#"{"type":"\x","object":{}}"#),
        1,
        Err(FrameReason::Invalid("type")),
    );
    check(&after("[]"), 1, Err(FrameReason::Expected("an object")));
    check(&after("}"), 1, Err(FrameReason::Expected("an object")));
    check(&after("{\"type\""), 1, Err(FrameReason::Truncated));
}

#[test]
fn a_broken_frame_ends_with_its_line() {
    let next = "{\"type\":\"ADDED\",\"object\":{\"a\":\"b\"}}\n";
    let expected = |broken: &str, what| {
        let body = format!("{next}{{\"type\":\"MODIFIED\",\"object\":{broken}\n{next}{next}");
        check(&body, 1, Err(FrameReason::Expected(what)));
        let other = format!("{next}{{\"other\":{broken}\n{next}{next}");
        check(&other, 1, Err(FrameReason::Expected(what)));
    };
    expected(r#"{"kind":"Pod",,,"#, "a member");
    expected(r#"{"kind":"Pod","#, "a member");
    expected(r#"{"kind":"Po"#, "the end of a string");
    expected(r#"{"kind" "Pod""#, "a colon");
    expected(r#"{"kind":,"#, "a value");
    expected(r#"{"a":{"b":[1,2}"#, "a comma or the end of the object or array");
    expected(r#"{"a":{"b":{}}"#, "a comma or the end of the object or array");
    expected(r#"{"a":[{"b":1}"#, "a comma or the end of the object or array");
    expected(r#"{"a":["#, "a comma or the end of the object or array");
    expected(r#"{"a":"#, "a comma or the end of the object or array");
}

/// One frame lacks a bracket, the next has one too many.
#[test]
fn two_broken_frames_are_not_one() {
    let broken = r#"{"type":"ADDED","object":{"metadata":{"name":"a"},"x":{"b":{}}}"#;
    let closing = r#"{"type":"ADDED","object":{"metadata":{"name":"b"}}}}}"#;
    let body = format!("{broken}\n{closing}\n");
    for places in [&[][..], &[0x4000, 0x8000, 0xC000]] {
        let mut reader = WatchReader::new(Encoding::Json);
        for chunk in cut(&body, places) {
            reader.push(chunk);
        }
        assert!(reader.next_with(&FieldPlan::default()).is_err());
    }
}

#[test]
fn errors_have_the_same_offset_for_all_chunk_boundaries() {
    let body = "{\"type\":\"ADDED\",\"object\":{\"a\":[\n1,2],\"b\":[,3]}}\n{}";
    for cuts in [0, 1, 7, 40] {
        let places: Vec<u16> = (0..cuts).map(|n| (n * 65535 / 40) as u16).collect();
        let (_, end) = read_watch(cut(body, &places));
        let error = end.unwrap_err();
        assert_eq!(error.offset() as usize, body.find(",3").unwrap(), "{places:?}");
    }
}

#[test]
fn a_frame_of_several_lines_is_a_frame() {
    let body =
        "{\n \"type\": \"ADDED\",\n \"object\": {\n\t\"a\": [\r\n1,\n\"\\n\", null\n], \"b\": {}\n}\n}\n";
    check(&body.repeat(3), 3, Ok(()));
}

#[test]
fn the_last_of_duplicate_members_counts() {
    let body = r#"{"type":"ADDED","object":1,"type":"ERROR","object":2}"#;
    let (frames, _) = read_watch(cut(body, &[]));
    assert_eq!(frames, [(EventType::Error, "2".into())]);
}

#[test]
fn frames_that_were_not_read_are_an_error_at_the_end() {
    let mut reader = WatchReader::new(Encoding::Json);
    reader.push(r#"{"type":"ADDED","object":{}}"#.into());
    assert_eq!(reader.finish().unwrap_err().reason(), &FrameReason::Truncated);
}

#[test]
fn chunks_may_be_pushed_ahead() {
    let mut reader = WatchReader::new(Encoding::Json);
    for chunk in [
        "{\"type\":\"AD",
        "",
        "DED\",\"object\":{",
        "}}{\"type\":\"ERROR\",",
        "\"object\":1}",
    ] {
        reader.push(chunk.into());
    }
    assert_eq!(reader.next().unwrap().unwrap().0, EventType::Added);
    assert_eq!(reader.next().unwrap().unwrap().0, EventType::Error);
    assert_eq!(reader.next(), Ok(None));
}

#[test]
fn an_object_above_the_limit_is_an_error() {
    let mut reader = WatchReader::with_max_object_size(Encoding::Json, 10);
    reader.push(r#"{"type":"ADDED","object":"12345678"}{"type":"ADDED","object":"123456789"}"#.into());
    assert!(matches!(reader.next(), Ok(Some(_))));
    let error = reader.next().unwrap_err();
    assert_eq!(error.reason(), &FrameReason::TooLarge { limit: 10 });
    assert_eq!(reader.next(), Err(error), "an error stays");
}

#[test]
fn debugging_a_reader_shows_no_body() {
    let mut reader = WatchReader::new(Encoding::Json);
    reader.push(r#"{"type":"ADDED","object":{"secret":1}}{"object":"secret","type":"#.into());
    assert!(matches!(reader.next(), Ok(Some(_))));
    assert_eq!(reader.next(), Ok(None));
    assert!(!format!("{reader:?}").contains("secret"));
}

#[test]
fn a_bookmark_marks_the_end_of_the_initial_events() {
    let read = |body: &str| parse_bookmark(Encoding::Json, &body.to_owned().into());
    let end = |value: &str| {
        let body = format!(
            r#"{{"metadata":{{"annotations":{{"k8s.io/initial-events-end":{value}}},"resourceVersion":"5"}}}}"#
        );
        read(&body).unwrap()
    };
    assert!(end("\"true\"").initial_events_end);
    for value in ["\"True\"", "\"false\"", "\"\"", "null", "\"true \""] {
        assert!(!end(value).initial_events_end, "{value}");
    }
    assert_eq!(end("null").resource_version, Some("5".into()));
    let none = Bookmark {
        resource_version: None,
        initial_events_end: false,
    };
    for body in [
        "{}",
        r#"{"metadata":null}"#,
        r#"{"metadata":{"annotations":null,"resourceVersion":""}}"#,
    ] {
        assert_eq!(read(body), Ok(none.clone()), "{body}");
    }
    for body in ["", "[]", "{", "{}1", r#"{"metadata":{"resourceVersion":5}}"#] {
        assert!(read(body).is_err(), "{body}");
    }
}
