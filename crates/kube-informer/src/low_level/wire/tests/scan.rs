//! Scans.

use super::{
    arbitrary::{sample, space},
    *,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// The string `name`, if it is present and not empty.
fn string<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value[name].as_str().filter(|string| !string.is_empty())
}

proptest! {
    #[test]
    fn a_scan_finds_what_serde_json_finds(
        sample in sample(),
        space in space(),
        places in proptest::option::of(any::<(usize, usize)>()),
    ) {
        let body = match places {
            Some(places) => sample.event(places, space),
            None => sample.item(space),
        };
        let model: Value = serde_json::from_str(&body).unwrap();
        let metadata = &model["metadata"];
        let raw = scan(&body).unwrap();
        prop_assert_eq!(Some(raw.name()), string(metadata, "name"));
        prop_assert_eq!(raw.namespace(), string(metadata, "namespace"));
        prop_assert_eq!(raw.uid(), string(metadata, "uid"));
        prop_assert_eq!(raw.resource_version(), string(metadata, "resourceVersion").map(Into::into));
        prop_assert_eq!(raw.kind(), string(&model, "kind"));
        prop_assert_eq!(raw.api_version(), string(&model, "apiVersion"));
        let labels: BTreeMap<String, String> =
            raw.labels().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        let model_labels: Option<BTreeMap<String, String>> =
            serde_json::from_value(metadata["labels"].clone()).unwrap();
        for (name, value) in &labels {
            let label = raw.label(name);
            prop_assert_eq!(label.as_deref(), Some(&**value));
        }
        prop_assert_eq!(labels, model_labels.unwrap_or_default());
        let detached = raw.into_owned();
        prop_assert_eq!(detached.bytes(), &body);
    }

    #[test]
    fn an_object_cut_off_is_an_error(sample in sample(), space in space(), cut_at in any::<u16>()) {
        let body = sample.item(space);
        let mut length = (body.len() - 1) * usize::from(cut_at) / 65536;
        while !body.is_char_boundary(length) {
            length -= 1;
        }
        let error = scan(&body[..length]).unwrap_err();
        prop_assert_eq!(error.reason(), &ScanReason::Truncated);
        // A key in an error must be correct.
        if let Some(key) = error.key() {
            prop_assert_eq!(key, &scan(&body).unwrap().key());
        }
    }
}

#[track_caller]
fn check(body: &str, key: Option<&str>, reason: ScanReason) {
    let error = scan(body).unwrap_err();
    assert_eq!(error.key().map(|key| key.as_str()), key, "{body}");
    assert_eq!(error.reason(), &reason, "{body}");
}

#[test]
fn bad_objects_are_errors() {
    let expected = ScanReason::Expected;
    check("", None, ScanReason::Truncated);
    check("1", None, expected("an object"));
    check("\u{feff}{}", None, expected("an object"));
    check("{}", None, ScanReason::NoName);
    check(r#"{"metadata":null}"#, None, ScanReason::NoName);
    check(r#"{"metadata":{"name":""}}"#, None, ScanReason::NoName);
    check(r#"{"metadata":{"name":null}}"#, None, ScanReason::NoName);
    check(
        r#"{"metadata":{"name":"a"}} {}"#,
        Some("a"),
        ScanReason::TrailingData,
    );
    check(r#"{"metadata":{"name":"a"},}"#, Some("a"), expected("a member"));
    check(
        r#"{"metadata":{"name":"a"} "b":1}"#,
        Some("a"),
        expected("a comma or the end of the object"),
    );
    check(
        r#"{"metadata":{"name":"a"},"b":[}"#,
        Some("a"),
        ScanReason::Truncated,
    );
    check(
        r#"{"metadata":{"name":"a"},"b":}"#,
        Some("a"),
        expected("a value"),
    );
    check(r#"{"metadata" {"name":"a"}}"#, None, expected("a colon"));
}

#[test]
fn members_of_the_wrong_type_do_not_hide_the_key() {
    let wrong = |field, expected| ScanReason::WrongType { field, expected };
    let rest = r#""name":"a","namespace":"n""#;
    for (body, reason) in [
        (
            format!(r#"{{"metadata":{{"uid":1,{rest}}}}}"#),
            wrong("metadata.uid", "a text"),
        ),
        (
            format!(r#"{{"metadata":{{"labels":[],{rest}}}}}"#),
            wrong("metadata.labels", "an object"),
        ),
        (
            format!(r#"{{"metadata":{{"labels":{{"a":1,"b":"c"}},{rest}}}}}"#),
            wrong("metadata.labels", "an object of texts"),
        ),
        (
            format!(r#"{{"metadata":{{"labels":{{"a":"\q"}},{rest}}}}}"#),
            ScanReason::InvalidText("metadata.labels"),
        ),
        (
            format!(r#"{{"metadata":{{"resourceVersion":{{}},{rest}}}}}"#),
            wrong("metadata.resourceVersion", "a text"),
        ),
        (
            format!(r#"{{"kind":[],"metadata":{{{rest}}}}}"#),
            wrong("kind", "a text"),
        ),
        (
            format!("{{\"metadata\":{{{rest}}},\"apiVersion\":\"\t\"}}"),
            ScanReason::InvalidText("apiVersion"),
        ),
    ] {
        check(&body, Some("n/a"), reason);
    }
}

#[test]
fn an_ambiguous_key_is_not_reported() {
    let wrong = |field, expected| ScanReason::WrongType { field, expected };
    check(
        r#"{"metadata":{"name":"a","namespace":1}}"#,
        None,
        wrong("metadata.namespace", "a text"),
    );
    check(
        r#"{"metadata":{"uid":2,"name":"a","namespace":1}}"#,
        None,
        wrong("metadata.uid", "a text"),
    );
    check(
        r#"{"metadata":{"name":1,"namespace":"n"}}"#,
        None,
        wrong("metadata.name", "a text"),
    );
    check(r#"{"metadata":{"name":"a","#, None, ScanReason::Truncated);
    check(
        r#"{"metadata":[{"name":"a"}]}"#,
        None,
        wrong("metadata", "an object"),
    );
}

#[test]
fn objects_that_could_share_a_key_have_none() {
    for (name, namespace, field) in [
        ("a/b", "n", "metadata.name"),
        ("b", "n/a", "metadata.namespace"),
        ("/", "n", "metadata.name"),
        ("..", "n", "metadata.name"),
        (".", "n", "metadata.name"),
        ("a%2fb", "n", "metadata.name"),
        ("a\\u002fb", "n", "metadata.name"),
        ("b", "..", "metadata.namespace"),
    ] {
        let metadata = format!(r#""name":"{name}","namespace":"{namespace}""#);
        let invalid = ScanReason::InvalidName(field);
        check(&format!(r#"{{"metadata":{{{metadata}}}}}"#), None, invalid);
        let wrong = ScanReason::WrongType {
            field: "metadata.uid",
            expected: "a text",
        };
        check(&format!(r#"{{"metadata":{{{metadata},"uid":1}}}}"#), None, wrong);
    }
    for name in ["system:node", "a..b", "A b", "..."] {
        assert!(
            scan(&format!(r#"{{"metadata":{{"name":"{name}"}}}}"#)).is_ok(),
            "{name}"
        );
    }
}

#[test]
fn invalid_utf8_is_an_error_where_it_is_read() {
    let scan = |body: &[u8]| RawObject::scan(Encoding::Json, Bytes::copy_from_slice(body));
    let error = scan(b"{\"metadata\":{\"name\":\"a\xff\"}}").unwrap_err();
    assert_eq!(error.reason(), &ScanReason::InvalidText("metadata.name"));
    assert!(scan(b"{\"metadata\":{\"name\":\"a\",\"labels\":{\"\xff\":\"\"}}}").is_err());
    assert!(scan(b"{\"metadata\":{\"name\":\"a\"},\"unread\":\"\xff\"}").is_ok());
}

#[test]
fn names_with_escapes_are_unescaped() {
    let raw = scan(r#"{"metadata":{"name":"system:a\u0026b","namespace":"\u006e"}}"#).unwrap();
    assert_eq!(raw.key().as_str(), "n/system:a&b");
    let error = scan(r#"{"metadata":{"name":"\ud800"}}"#).unwrap_err();
    assert_eq!(error.reason(), &ScanReason::InvalidText("metadata.name"));
}

#[test]
fn the_last_of_duplicate_members_counts() {
    let raw = scan(
        r#"{"kind":"A","metadata":{"name":"a","uid":"1","labels":{"x":"1"}},"kind":"B",
            "metadata":{"name":"a","name":"b","labels":{"x":"1","x":"2"}}}"#,
    )
    .unwrap();
    assert_eq!((raw.kind(), raw.name(), raw.uid()), (Some("B"), "b", None));
    assert_eq!(raw.label("x").as_deref(), Some("2"));
    assert_eq!(raw.label("y"), None);
}

#[test]
fn debugging_shows_no_body() {
    let raw = scan(r#"{"metadata":{"name":"a"},"data":"secret"}"#).unwrap();
    assert!(!format!("{raw:?}").contains("secret"));
}
