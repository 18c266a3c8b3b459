//! The inputs here were sent to a kube-apiserver 1.36.3, which accepts and rejects the same ones.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[test]
fn valid_selectors_are_formatted_as_by_the_server() {
    let longest = "a".repeat(63);
    let accepted = [
        ("", ""),
        (" \t\r\n", ""),
        ("x", "x"),
        ("! x", "!x"),
        ("x=a", "x=a"),
        ("x==a", "x==a"),
        ("x=", "x="),
        ("x!=", "x!="),
        ("x=,y", "x=,y"),
        ("x = a , y", "x=a,y"),
        ("x in(b,a,b)", "x in (a,b)"),
        ("x in ()", "x in ()"),
        ("x in (,)", "x in ()"),
        ("x in (a,)", "x in (,a)"),
        ("x in (b,,a)", "x in (,a,b)"),
        ("x notin (b,a)", "x notin (a,b)"),
        ("in", "in"),
        ("!in", "!in"),
        ("in in (in)", "in in (in)"),
        ("notin notin (notin,in)", "notin notin (in,notin)"),
        ("x=notin", "x=notin"),
        ("x > 007", "x>007"),
        ("x<9223372036854775807", "x<9223372036854775807"),
        ("x=a_b.c-d", "x=a_b.c-d"),
        ("a.b-c/Y", "a.b-c/Y"),
        ("z,y=1,x in (2)", "x in (2),y=1,z"),
        ("y=2,y=1", "y=2,y=1"),
        (&*longest, &*longest),
    ];
    for (input, canonical) in accepted {
        assert_eq!(
            LabelSelector::parse(input).unwrap().to_string(),
            canonical,
            "{input:?}"
        );
    }
}

#[test]
fn errors_point_at_the_invalid_character() {
    let (key, value) = ("a".repeat(64), format!("x={}", "a".repeat(64)));
    let rejected = [
        ("x>9223372036854775808", 2),
        ("x>a", 2),
        ("x>", 2),
        ("x>5.0", 2),
        ("x>-5", 2),
        ("x>=5", 2),
        (",x", 0),
        ("x,", 2),
        ("x,,y", 2),
        ("!", 1),
        ("!!x", 1),
        ("!x=a", 2),
        ("!x in (a)", 3),
        ("x y", 2),
        ("x=a b", 4),
        ("x===a", 3),
        ("x=!a", 2),
        ("x!a", 1),
        ("x in a", 5),
        ("x in (a", 7),
        ("x in (a b)", 8),
        ("x in (a=b)", 7),
        ("x in", 4),
        ("x in ((a))", 6),
        ("x in (a))", 8),
        ("x)", 1),
        ("(x)", 0),
        ("x=(a)", 2),
        ("x=a=b", 3),
        ("x=-a", 2),
        ("x=a-", 3),
        ("_x", 0),
        ("x_", 1),
        ("/y", 0),
        ("x/", 2),
        ("x/y/z", 3),
        ("X/y", 0),
        ("a..b/y", 2),
        ("-a/y", 0),
        ("a.b-/y=v", 3),
        ("x@y", 1),
        ("x=a@b", 3),
        ("x=é", 2),
        ("é", 0),
        ("x!==a", 3),
        ("x<>5", 2),
        ("y, x in (a, é)", 12),
        (&*key, 63),
        (&*value, 65),
    ];
    for (input, offset) in rejected {
        let error = LabelSelector::parse(input).unwrap_err();
        assert_eq!(error.offset(), offset, "{error}");
    }
}

#[test]
fn an_error_counts_characters_and_shows_the_word() {
    let error = LabelSelector::parse("ok, x=é, y").unwrap_err().to_string();
    assert!(error.ends_with(r#"at "é" (character 7)"#), "{error}");
    let error = LabelSelector::parse("x in (a").unwrap_err().to_string();
    assert!(
        error.ends_with("expected ',' or ')' at the end (character 8)"),
        "{error}"
    );
}

#[test]
fn operators_match_as_documented() {
    // With the label missing, empty, "a", "b", "5" and "12".
    let cases = [
        ("x", [false, true, true, true, true, true]),
        ("!x", [true, false, false, false, false, false]),
        ("x=a", [false, false, true, false, false, false]),
        ("x==", [false, true, false, false, false, false]),
        ("x!=a", [true, true, false, true, true, true]),
        ("x in (a,b)", [false, false, true, true, false, false]),
        ("x in (,b)", [false, true, false, true, false, false]),
        ("x notin (a,5)", [true, true, false, true, false, true]),
        ("x>5", [false, false, false, false, false, true]),
        ("x<12", [false, false, false, false, true, false]),
        ("x,x!=a", [false, true, false, true, true, true]),
        ("", [true; 6]),
    ];
    for (input, expected) in cases {
        let selector = LabelSelector::parse(input).unwrap();
        let values = [None, Some(""), Some("a"), Some("b"), Some("5"), Some("12")];
        let found = values.map(|value| selector.matches(|label| value.filter(|_| label == "x")));
        assert_eq!(found, expected, "{input:?}");
    }
}

#[test]
fn a_prefilter_excludes_most_objects_that_do_not_match() {
    let passing = |input: &str| {
        let prefilter = LabelPrefilter::new(&LabelSelector::parse(input).unwrap());
        let digests = (0..1000).map(|number| {
            let mut digest = LabelDigest::NO_LABELS;
            digest.add("app", &format!("app-{number}"));
            digest.add("tier", "front");
            digest
        });
        digests.filter(|digest| prefilter.passes(*digest)).count()
    };
    assert!(
        (1..50).contains(&passing("app=app-7")),
        "{}",
        passing("app=app-7")
    );
    assert!((2..100).contains(&passing("app in (app-7,app-8),tier=front")));
    assert_eq!(passing("tier=back"), 0);
    for input in [
        "",
        "tier=front",
        "app",
        "!app",
        "app!=app-7",
        "app notin (app-7)",
        "app>5",
    ] {
        assert_eq!(passing(input), 1000, "{input:?}");
    }
}

#[test]
fn the_required_value_of_a_label() {
    let selector = LabelSelector::parse("a=1,b in (2),c in (3,4),d!=5,e").unwrap();
    let required = ["a", "b", "c", "d", "e", "f"].map(|label| selector.required_value(label));
    assert_eq!(required, [Some("1"), Some("2"), None, None, None, None]);
}

#[test]
fn field_selectors() {
    let accepted = [
        ("", ""),
        ("metadata.name==a", "metadata.name=a"),
        ("metadata.name!=a", "metadata.name!=a"),
        ("metadata.name=", "metadata.name="),
        (",b=2,a=1,", "a=1,b=2"),
        (r"f=a\=b\,c\\d", r"f=a\=b\,c\\d"),
    ];
    for (input, canonical) in accepted {
        assert_eq!(
            FieldSelector::parse(input).unwrap().to_string(),
            canonical,
            "{input:?}"
        );
    }
    let rejected = [
        ("name", 4),
        ("b=1,name,c", 8),
        ("f=a=b", 3),
        ("f===a", 3),
        (r"f=a\b", 4),
        (r"f=a\", 4),
        ("f!a", 3),
    ];
    for (input, offset) in rejected {
        assert_eq!(
            FieldSelector::parse(input).unwrap_err().offset(),
            offset,
            "{input:?}"
        );
    }
}

#[test]
fn field_selectors_on_the_key() {
    let select = |input: &str, key: &str| FieldSelector::parse(input).unwrap().matches_key(&key.into());
    assert_eq!(select("metadata.namespace=", "node-1"), Ok(true));
    assert_eq!(select("metadata.namespace=a,metadata.name=b", "a/b"), Ok(true));
    assert_eq!(select("metadata.namespace!=a", "a/b"), Ok(false));
    assert_eq!(
        &*select("metadata.name=b,spec.x=1", "a/b").unwrap_err().field,
        "spec.x"
    );
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("in".to_owned()),
        Just("notin".to_owned()),
        "[a-c0-9]([a-c0-9._-]{0,3}[a-c0-9])?"
    ]
}

fn requirement() -> impl Strategy<Value = String> {
    let values = prop::collection::vec(prop_oneof![word(), Just(String::new())], 1..4);
    prop_oneof![
        word(),
        word().prop_map(|key| format!("!{key}")),
        (word(), "=|==|!=", word()).prop_map(|(key, operator, value)| format!("{key} {operator} {value}")),
        (word(), " in | notin ", values)
            .prop_map(|(key, operator, values)| { format!("{key}{operator}({})", values.join(" ,")) }),
        (word(), "[<>]", 0u32..20).prop_map(|(key, operator, value)| format!("{key}{operator}{value}")),
    ]
}

proptest! {
    #[test]
    fn any_input_is_parsed_or_rejected_at_a_valid_offset(input in r"([a-c0 =!(),<>/.é\\-]|in|notin){0,16}") {
        for error in [LabelSelector::parse(&input).err(), FieldSelector::parse(&input).err()].into_iter().flatten() {
            prop_assert!(error.offset() <= input.len());
            prop_assert!(error.to_string().contains("character"));
        }
    }

    #[test]
    fn formatting_and_parsing_are_inverse(requirements in prop::collection::vec(requirement(), 0..5)) {
        let selector = LabelSelector::parse(&requirements.join(", ")).unwrap();
        prop_assert_eq!(&LabelSelector::parse(&selector.to_string()).unwrap(), &selector);
        prop_assert_eq!(selector.requirements().len(), requirements.len());
    }

    #[test]
    fn a_selector_matches_if_all_requirements_hold(
        requirements in prop::collection::vec(requirement(), 0..4),
        labels in prop::collection::btree_map(word(), word(), 0..4),
    ) {
        let labels: BTreeMap<String, String> = labels;
        let matches = |input: &str| {
            LabelSelector::parse(input).unwrap().matches(|label| labels.get(label).map(String::as_str))
        };
        prop_assert_eq!(matches(&requirements.join(",")), requirements.iter().all(|input| matches(input)));
    }

    #[test]
    fn a_prefilter_passes_every_matching_object(
        requirements in prop::collection::vec(requirement(), 0..4),
        labels in prop::collection::btree_map(word(), word(), 0..4),
    ) {
        let selector = LabelSelector::parse(&requirements.join(",")).unwrap();
        let prefilter = LabelPrefilter::new(&selector);
        let mut digest = LabelDigest::NO_LABELS;
        labels.iter().for_each(|(name, value)| digest.add(name, value));
        if selector.matches(|label| labels.get(label).map(String::as_str)) {
            prop_assert!(prefilter.passes(digest));
            prop_assert!(prefilter.passes(LabelDigest::UNKNOWN));
        }
    }

    #[test]
    fn a_field_value_survives_escaping(value in r"[a-c=,\\é]{0,8}") {
        let escaped = value.replace('\\', r"\\").replace(',', r"\,").replace('=', r"\=");
        let selector = FieldSelector::parse(&format!("f={escaped}")).unwrap();
        prop_assert_eq!(selector.required_value("f"), Some(&*value));
        prop_assert_eq!(selector.to_string(), format!("f={escaped}"));
    }
}
