//! Lists.

use super::{
    arbitrary::{Json, json, sample, shuffle, space, string},
    *,
};
use proptest::{collection::vec, option::of};
use serde_json::value::RawValue;

/// A list, as `serde_json` reads it.
#[derive(serde::Deserialize)]
pub(super) struct Model<'a> {
    #[serde(borrow)]
    pub(super) items: Vec<&'a RawValue>,
}

/// Generates the members of a list other than its items, in any order.
fn envelope() -> impl Strategy<Value = (ListMeta, Vec<(String, Json)>)> {
    let end = (
        of("[1-9][0-9]{0,9}"),
        of("[a-z=]{1,9}"),
        of(0u64..9),
        of("[A-Z]{3}List"),
        of("v[1-9]"),
    );
    (end, of(0..3usize), vec((string(), json()), 0..3)).prop_map(
        |((version, token, count, kind, api_version), other, others)| {
            let mut metadata = Vec::new();
            let text = |text: &String| Json::text(text);
            metadata.extend(version.as_ref().map(|v| ("resourceVersion", text(v))));
            metadata.extend(token.as_ref().map(|v| ("continue", text(v))));
            metadata.extend(count.map(|v| ("remainingItemCount", Json::Token(v.to_string()))));
            metadata.extend(other.map(|v| ("selfLink", Json::text(&"x".repeat(v)))));
            let mut members = vec![("\"metadata\"".to_owned(), Json::object(metadata))];
            members.extend(kind.as_ref().map(|v| ("\"kind\"".to_owned(), text(v))));
            members.extend(
                api_version
                    .as_ref()
                    .map(|v| ("\"apiVersion\"".to_owned(), text(v))),
            );
            members.extend(others);
            let end = ListMeta {
                resource_version: version.map(|v| v.as_str().into()),
                continue_token: token,
                remaining_item_count: count,
                kind,
                api_version,
            };
            (end, members)
        },
    )
}

proptest! {
    #[test]
    fn a_list_is_split_as_by_serde_json(
        items in vec(prop_oneof![json(), sample().prop_map(|sample| Json::Token(sample.event((0, 1), " ")))], 0..6),
        (end, mut members) in envelope(),
        order in any::<u64>(),
        space in space(),
        places in places(),
    ) {
        members.push(("\"it\\u0065ms\"".to_owned(), Json::Array(items)));
        shuffle(&mut members, order);
        let body = format!("{space}{}{space}", Json::Object(members).write(space));
        let model: Model<'_> = serde_json::from_str(&body).unwrap();
        let model: Vec<&str> = model.items.iter().map(|item| item.get()).collect();

        let (items, read_end) = read_list(cut(&body, &places)).unwrap();
        prop_assert_eq!(items, model);
        prop_assert_eq!(read_end, end);
    }

    #[test]
    fn a_list_cut_off_is_an_error(sample in sample(), space in space(), cut_at in any::<u16>(), places in places()) {
        let item = sample.item(space);
        let body = format!("{{\"items\":{space}[{item},{item}]}}");
        let mut length = (body.len() - 1) * usize::from(cut_at) / 65536;
        while !body.is_char_boundary(length) {
            length -= 1;
        }
        let error = read_list(cut(&body[..length], &places)).unwrap_err();
        prop_assert_eq!(error.reason(), &FrameReason::Truncated);
    }
}

#[track_caller]
fn check(body: &str, expected: Result<&[&str], FrameReason>) {
    for places in [
        &[][..],
        &[0x4000, 0x8000, 0xC000],
        &(0..=u16::MAX).step_by(256).collect::<Vec<_>>(),
    ] {
        let read = read_list(cut(body, places));
        match (&read, &expected) {
            (Ok((items, _)), Ok(expected)) => assert_eq!(items, expected, "{body}"),
            (Err(error), Err(expected)) => assert_eq!(error.reason(), expected, "{body}"),
            _ => panic!("{body}: {read:?}, not {expected:?}"),
        }
    }
}

#[test]
fn messages_truncate_long_names() {
    let long = "x".repeat(100_000);
    let end = read_list(cut(&format!(r#"{{"kind":"{long}"}}"#), &[]));
    assert!(end.unwrap_err().to_string().len() < 300);
    let error = scan(&format!(r#"{{"metadata":{{"name":"{long}","uid":1}}}}"#)).unwrap_err();
    assert!(error.to_string().len() < 400, "{error}");
    let bad = crate::source::InvalidObject {
        key: error.key().cloned(),
        reason: "bad".into(),
    };
    assert!(bad.to_string().len() < 400, "{bad}");
}

#[test]
fn a_remaining_count_that_is_no_number_is_ignored() {
    for junk in ["null", "-1", "1.5", r#""7""#, "{}", "99999999999999999999"] {
        let body =
            format!(r#"{{"metadata":{{"resourceVersion":"9","remainingItemCount":{junk}}},"items":[]}}"#);
        let (_, end) = read_list(cut(&body, &[])).unwrap();
        assert_eq!(
            (end.resource_version, end.remaining_item_count),
            (Some("9".into()), None),
            "{junk}"
        );
    }
}

#[test]
fn a_list_without_items_is_empty() {
    for body in [
        r#"{"items":[]}"#,
        r#"{"items":null}"#,
        r#"{"kind":"PodList"}"#,
        "\u{feff}\n {\"items\" : [ ] } \n",
    ] {
        check(body, Ok(&[]));
    }
}

#[test]
fn an_object_that_is_no_list_is_detected_by_its_kind() {
    let no_list = |kind: Option<&str>| {
        Err(FrameReason::NotAList {
            kind: kind.map(str::to_owned),
        })
    };
    check(r#"{"kind":"Status","message":"no"}"#, no_list(Some("Status")));
    check(
        r#"{"kind":"Table","rows":[{"object":{}}]}"#,
        Err(FrameReason::Table),
    );
    check("{}", no_list(None));
    check(r#"{"kind":null}"#, no_list(None));
    // A list kind may have any name, even this one.
    check(r#"{"kind":"Table","items":[{}]}"#, Ok(&["{}"]));
}

#[test]
fn items_need_not_be_objects() {
    check(
        r#"{"items":[1, null ,"a]",[]]}"#,
        Ok(&["1", "null", "\"a]\"", "[]"]),
    );
}

#[test]
fn bad_bodies_are_errors() {
    let expected = |what| Err(FrameReason::Expected(what));
    check("", Err(FrameReason::Truncated));
    check("  \n", Err(FrameReason::Truncated));
    check(r#"{"items":[]"#, Err(FrameReason::Truncated));
    check(r#"{"items":[]}}"#, Err(FrameReason::TrailingData));
    check(r#"{"items":[]}{}"#, Err(FrameReason::TrailingData));
    check(r#"{"items":[],"items":[]}"#, Err(FrameReason::RepeatedItems));
    check(r#"{"items":{}}"#, expected("an array of items"));
    check(r#"{"items":nil}"#, Err(FrameReason::Invalid("items")));
    check(r#"{"items":[{},]}"#, expected("a value"));
    check(r#"{"items":[,{}]}"#, expected("a value"));
    check(r#"{"items":[{}{}]}"#, expected("a comma or the end of the items"));
    check(r#"{"items":[],}"#, expected("a member"));
    check(r#"{,"items":[]}"#, expected("a member or the end of the object"));
    check(r#"{"items" []}"#, expected("a colon"));
    check(
        r#"{"items":[] "a":1}"#,
        expected("a comma or the end of the object"),
    );
    check(r#"{"kind":1,"items":[]}"#, Err(FrameReason::Invalid("kind")));
    check(
        r#"{"metadata":[],"items":[]}"#,
        Err(FrameReason::Invalid("metadata")),
    );
    check(r#"[]"#, expected("an object"));
}

#[test]
fn the_last_of_duplicate_members_counts() {
    let body = r#"{"kind":"A","metadata":{"continue":"a"},"kind":"B","items":[],
        "metadata":{"resourceVersion":"1","resourceVersion":"2","continue":""}}"#;
    let (_, end) = read_list(cut(body, &[])).unwrap();
    assert_eq!(end.kind.as_deref(), Some("B"));
    assert_eq!(end.resource_version, Some("2".into()));
    assert_eq!(end.continue_token, None);
}

#[test]
fn an_item_above_the_limit_is_an_error_long_before_it_ends() {
    for step in [7, 1000] {
        let mut reader = ListReader::with_max_object_size(Encoding::Json, 100);
        reader.push(r#"{"unread":""#.into());
        for _ in 0..1000 {
            reader.push("x".repeat(step).into());
            assert_eq!(reader.next(), Ok(None), "what is not read may have any size");
        }
        reader.push(r#"","items":[""#.into());
        let mut pushed = 0;
        let error = loop {
            reader.push("x".repeat(step).into());
            pushed += step;
            if let Err(error) = reader.next() {
                break error;
            }
        };
        assert_eq!(error.reason(), &FrameReason::TooLarge { limit: 100 });
        assert!(pushed <= 100 + step, "{pushed}");
        assert_eq!(reader.next(), Err(error), "an error stays");
    }
    let mut reader = ListReader::with_max_object_size(Encoding::Json, 5);
    reader.push(r#"{"items":["aaa","aaaa"]}"#.into());
    assert!(matches!(reader.next(), Ok(Some(_))));
    assert!(reader.next().is_err());
}

#[test]
fn an_item_in_one_chunk_is_a_slice_of_it() {
    let body = Bytes::from_static(br#"{"items":[{"a":1}]}"#);
    let (items, _) = read_list(vec![body.clone()]).unwrap();
    assert_eq!(items[0].as_ptr(), body[10..].as_ptr());
}

#[test]
fn nesting_of_any_depth_is_split() {
    let item = format!("{}{}", "[".repeat(300_000), "]".repeat(300_000));
    check(&format!(r#"{{"items":[{item}]}}"#), Ok(&[&item]));
}

#[test]
fn debugging_shows_no_body() {
    let mut reader = ListReader::new(Encoding::Json);
    reader.push(r#"{"items":[{"secret":1},{"secret"#.into());
    assert!(reader.next().unwrap().is_some());
    assert_eq!(reader.next(), Ok(None));
    assert!(!format!("{reader:?}").contains("secret"));
}
