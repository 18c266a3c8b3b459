//! Bodies in YAML, as Go's `sigs.k8s.io/yaml` reads them.

use crate::case::{Ask, Case, any, get, post};
use crate::objects::{CONFIG_MAPS, DEFINITIONS, WIDGETS, definition};

/// Plain scalars that YAML 1.1, YAML 1.2 and Go do not agree on.
const SCALARS: &[&str] = &[
    "0644",
    "0o644",
    "0O644",
    "0x1F",
    "0X1f",
    "0b11",
    "-0644",
    "+12",
    "08",
    "1_000",
    "_1",
    "1e3",
    "1e+3",
    "1.5e3",
    "1E3",
    "1.",
    ".5",
    "-.5",
    "+.5",
    "0.10",
    "190:20:30",
    "1:30",
    "y",
    "Y",
    "yes",
    "Yes",
    "YES",
    "n",
    "N",
    "no",
    "on",
    "On",
    "off",
    "OFF",
    "true",
    "True",
    "TRUE",
    "~",
    "null",
    "Null",
    "NULL",
    "nULL",
    "2001-01-01",
    "2001-01-01T00:00:00Z",
    "2001-1-1",
    "0.",
    "00",
    "-0",
    "9223372036854775807",
    "=",
    "<<",
    "!!str 5",
    "!!int '5'",
    "!!float 5",
    "!!bool 'yes'",
    "!!binary aGk=",
    "! 5",
    "'5'",
    "0x",
    "0b2",
    "0o8",
    "1,000",
    "12e03",
    "1e",
    "0e0",
    "-1.0",
    "1.0",
    "5.",
    "0777777777777777777777777",
];

fn apply(name: &str, text: &str) -> Ask {
    any(
        "PATCH",
        &format!("{WIDGETS}/w?fieldManager=one&force=true&dryRun=All"),
    )
    .text(text)
    .content_type("application/apply-patch+yaml")
    .named(name)
    .only(["/code", "/message", "/spec"])
}

fn widget(spec: &str) -> String {
    format!("apiVersion: {{ns}}.example.com/v1\nkind: Widget\nmetadata: {{name: w}}\nspec:\n{spec}")
}

fn scalars() -> Vec<Ask> {
    let scalar = |text: &&str| apply(&format!("{text:?}"), &widget(&format!("  v: {text}\n")));
    let key = |text: &&str| apply(&format!("key {text:?}"), &widget(&format!("  {text}: v\n")));
    let keys = ["5", "1.5", "true", "2001-01-01"];
    SCALARS.iter().map(scalar).chain(keys.iter().map(key)).collect()
}

/// Anchors that grow: each line is nine times the one before.
fn laughs(lines: usize) -> String {
    let mut spec = "  a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for n in 1..lines {
        let before = format!("*a{}", n - 1);
        spec += &format!("  a{n}: &a{n} [{}]\n", [before.as_str(); 9].join(", "));
    }
    widget(&spec)
}

pub(crate) fn cases() -> Vec<Case> {
    let texts = [
        ("an alias", "  a: &x {b: 1}\n  c: *x\n"),
        ("a merge", "  a: &x {b: 1, c: 2}\n  d:\n    <<: *x\n    c: 3\n"),
        (
            "merges",
            "  a: &x {b: 1}\n  e: &y {f: 1}\n  d:\n    <<: [*x, *y]\n",
        ),
        ("an anchor twice", "  a: &x 1\n  b: &x 2\n  c: *x\n"),
        ("a key without a value", "  a:\n  b: 1\n"),
        ("a block", "  a: |\n    x\n    y\n  b: >-\n    x\n    y\n"),
        ("a key twice", "  a: 1\n  a: 2\n"),
        ("a null byte", "  a: \"x\\0y\"\n"),
        ("an escape", "  a: \"\\x41\\u00e9\\n\"\n"),
        ("a comment", "  a: 1 # one\n  # two\n"),
    ];
    // Where the mistake is said to be, and how, differs.
    let wrong = [
        ("a merge of what is no map", "  a: &x 5\n  d:\n    <<: *x\n"),
        ("an alias of itself", "  a: &x [*x]\n"),
        ("an unknown alias", "  a: *x\n"),
        ("a key that is a list", "  ? [a, b]\n  : c\n"),
        ("a key that is a map", "  ? {a: b}\n  : c\n"),
        ("a tab", "\ta: 1\n"),
        ("a colon", "  a: b: c\n"),
        ("an open bracket", "  a: [1, 2\n"),
        ("a bad escape", "  a: \"\\q\"\n"),
    ];
    let documents = [
        (
            "a document with its marks",
            format!("---\n{}...\n", widget("  a: 1\n")),
        ),
        ("a directive", format!("%YAML 1.1\n---\n{}", widget("  a: 1\n"))),
        ("a byte order mark", format!("\u{feff}{}", widget("  a: 1\n"))),
        ("nothing but a comment", "# nothing\n".to_owned()),
        ("a few laughs", laughs(3)),
        ("many laughs", laughs(7)),
    ];
    let map = |name: &str, data: &str| {
        post(CONFIG_MAPS, &serde_json::json!(null))
            .text(&format!(
                "kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: {name}\n{data}"
            ))
            .content_type("application/yaml")
    };
    let strict = |path: &str, text: &str| {
        post(
            &format!("{path}?fieldValidation=Strict"),
            &serde_json::json!(null),
        )
        .text(text)
        .content_type("application/yaml")
    };
    let case = Case::new("yaml")
        .ask(post(DEFINITIONS, &definition()).named("define").only(["/kind"]))
        .until(get(WIDGETS), 200)
        .asks(scalars())
        .asks(texts.map(|(name, text)| apply(name, &widget(text))))
        .asks(wrong.map(|(name, text)| apply(name, &widget(text)).only(["/code"])))
        .asks(documents.map(|(name, text)| apply(name, &text)))
        .ask(map("a", "data:\n  k: v\n").named("a map"))
        .ask(map("b", "data:\n  k: 0644\n").named("a number for a string"))
        .ask(map("c", "data:\n  k: yes\n").named("a boolean for a string"))
        .ask(map("d", "data: {k: v}\ndata: {l: w}\n").named("a map with a key twice"))
        .ask(strict(CONFIG_MAPS, "kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: s\n  name: s\ndata:\n  a: b\n  a: c\nimmutable: false\nimmutable: true\nmore: 1\n").named("strictly, keys twice"))
        .ask(strict(WIDGETS, &widget("  a: 1\n  b: {c: 1, c: 2}\n  a: 2\n")).named("strictly, keys of a custom resource twice"))
        .asks(["Strict", "Warn"].map(|level| {
            let path = format!("{WIDGETS}/w?fieldManager=one&dryRun=All&fieldValidation={level}");
            any("PATCH", &path)
                .text(&widget("  a: 1\n  b: {c: 1, c: 2}\n  a: 2\n"))
                .content_type("application/apply-patch+yaml")
                .named(format!("applied, keys twice, {level}"))
        }))
        .ask(map("e", "data: [\n").named("what is no YAML").only(["/code"]))
        .ask(
            map("f", "data: &x {k: v}\nbinaryData: {}\nimmutable: no\n")
                .named("a word for a boolean")
                .only(["/immutable", "/data"]),
        );
    vec![case]
}
