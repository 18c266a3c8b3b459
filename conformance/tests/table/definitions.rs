//! Custom resources, and the definitions they come from and go with.

use crate::case::{Ask, Case, delete, get, json_patch, merge, post, put, strategic};
use crate::objects::{DEFINITION, DEFINITIONS, OLD_WIDGETS, WIDGETS, definition, widget};
use serde_json::{Value, json};

const W: &str = "/apis/{ns}.example.com/v1/namespaces/{ns}/widgets/w";
const OLD_W: &str = "/apis/{ns}.example.com/v1beta1/namespaces/{ns}/widgets/w";

fn defined(name: &str) -> Case {
    Case::new(name)
        .ask(get(WIDGETS).named("not yet defined"))
        .ask(post(DEFINITIONS, &definition()).named("define").only([
            "/kind",
            "/metadata/name",
            "/metadata/generation",
            "/spec/names",
        ]))
        .until(get(WIDGETS), 200)
        .until(get(OLD_WIDGETS), 200)
}

fn with(version: &str, kind: &str, metadata: Value) -> Value {
    json!({"apiVersion": format!("{{ns}}.example.com/{version}"), "kind": kind, "metadata": metadata, "spec": {"size": 1}})
}

fn create(name: &str, object: Value) -> Ask {
    post(WIDGETS, &object).named(name)
}

fn objects() -> Case {
    defined("widgets")
        .ask(create("w", widget("w", 1)).save_version("first"))
        .ask(create("w again", widget("w", 1)))
        .ask(create("another version", with("v1beta1", "Widget", json!({"name": "x"}))))
        .ask(create("another kind", with("v1", "Gadget", json!({"name": "x"}))))
        .ask(create("no kind", json!({"metadata": {"name": "x"}})))
        .ask(create("no name", with("v1", "Widget", json!({}))))
        .ask(create("a name that is not valid", with("v1", "Widget", json!({"name": "X"}))))
        .ask(create("a generated name", with("v1", "Widget", json!({"generateName": "made-"}))))
        .ask(create("a label that is a number", with("v1", "Widget", json!({"name": "x", "labels": {"a": 5}}))))
        .ask(create("text that is no JSON", json!(null)).text("{bogus"))
        .ask(create("a list", json!(null)).text("[]"))
        .ask(create("a number", json!(null)).text("5"))
        .ask(create("nothing", json!(null)).text("null"))
        .ask(create("no version", json!({"kind": "Widget", "metadata": {"name": "x"}})))
        .ask(put(W, &widget("w", 2)).named("update without a version"))
        .ask(merge(W, &json!({"spec": {"size": 2}})).named("change the spec").save_version("second"))
        .ask(merge(W, &json!({"spec": {"size": 2}})).named("change nothing"))
        .ask(merge(W, &json!({"metadata": {"labels": {"a": "b"}}})).named("change a label"))
        .ask(merge(W, &json!({"status": {"done": true}})).named("change the status, not there"))
        .ask(merge(&format!("{W}/status"), &json!({"status": {"done": true}, "spec": {"size": 9}, "metadata": {"labels": {"c": "d"}}})).named("change the status"))
        .ask(json_patch(W, &json!([{"op": "add", "path": "/spec/new", "value": 1}])).named("JSON patch"))
        .ask(strategic(W, &json!({"spec": {"size": 3}})).named("strategic patch"))
        .ask(get(W).named("as it is").save_version("newest"))
        .ask(get(OLD_W).named("in the other version"))
        .ask(get(OLD_WIDGETS).named("list in the other version").only(["/kind", "/apiVersion", "/items/1/apiVersion", "/items/1/kind"]))
        .ask(get(&format!("{W}/status")).named("its status"))
        .ask(get(&format!("{W}/scale")).named("its scale"))
        .ask(put(W, &with("v1", "Widget", json!({"name": "w", "resourceVersion": "{first}"}))).named("an old version"))
        .ask(put(W, &with("v1", "Widget", json!({"name": "w", "resourceVersion": "{newest}"}))).named("this version"))
        .ask(get(&format!("{WIDGETS}?limit=1")).named("a page"))
        .ask(get(&format!("{WIDGETS}?resourceVersion={{first}}&resourceVersionMatch=Exact")).named("as it was"))
        .ask(get("/apis/{ns}.example.com").named("discovery of the group"))
        .ask(get("/apis/{ns}.example.com/v1").named("discovery of the version").only(["/groupVersion", "/resources/0/name", "/resources/0/kind", "/resources/0/namespaced", "/resources/0/shortNames", "/resources/1/name"]))
        .ask(delete(W).named("delete"))
        .ask(get(W).named("gone"))
        .ask(create("a wrong type", json!({"apiVersion": "{ns}.example.com/v1", "kind": "Widget", "metadata": {"name": "x"}, "spec": {"size": "big"}})))
}

fn watched() -> Case {
    let watch = |path: &str, name: &str| {
        get(&format!(
            "{path}?watch=true&timeoutSeconds=5&resourceVersion={{first}}"
        ))
        .named(name.to_owned())
    };
    defined("widgets-watched")
        .ask(create("w", widget("w", 1)).save_version("first"))
        .watch(
            [
                watch(WIDGETS, "watch"),
                watch(OLD_WIDGETS, "watch in the other version"),
            ],
            [
                merge(W, &json!({"spec": {"size": 2}})).named("change in v1"),
                merge(OLD_W, &json!({"spec": {"size": 3}})).named("change in v1beta1"),
                merge(&format!("{W}/status"), &json!({"status": {"done": true}})).named("change the status"),
                delete(W).named("delete"),
            ],
        )
}

/// What watches of the objects see of the end of their definition.
fn removed() -> Case {
    defined("definition-deleted")
        .ask(create("w", widget("w", 1)).save_version("first"))
        .ask(post(DEFINITIONS, &definition()).named("define again"))
        .ask(delete(DEFINITION).named("delete the definition").only([
            "/kind",
            "/metadata/name",
            "/status/conditions/0/type",
        ]))
        .until(get(DEFINITION), 404)
        .until(get(WIDGETS), 404)
        .ask(get(WIDGETS).named("list of what is gone"))
        .ask(get(W).named("get of what is gone"))
        .ask(
            get(&format!(
                "{WIDGETS}?watch=true&timeoutSeconds=2&resourceVersion={{first}}"
            ))
            .named("watch of what is gone"),
        )
        .ask(get("/apis/{ns}.example.com/v1").named("discovery of what is gone"))
        .ask(post(WIDGETS, &widget("w", 1)).named("create of what is gone"))
        .ask(
            post(DEFINITIONS, &definition())
                .named("define anew")
                .only(["/kind"]),
        )
        .until(get(WIDGETS), 200)
        .ask(get(WIDGETS).named("empty again"))
        .ask(get(&format!("{WIDGETS}?watch=true&timeoutSeconds=3")).named("watch of nothing"))
}

fn refused() -> Case {
    let change = |pointer: &str, value: Value| {
        let mut changed = definition();
        *changed.pointer_mut(pointer).expect("a place in the definition") = value;
        changed
    };
    let only = ["/reason", "/code", "/details/kind", "/details/name"];
    Case::new("definition-refused")
        .ask(
            post(DEFINITIONS, &change("/metadata/name", json!("other")))
                .named("another name")
                .only(only),
        )
        .ask(
            post(DEFINITIONS, &change("/spec/versions/0/storage", json!(false)))
                .named("no storage version")
                .only(only),
        )
        .ask(
            post(DEFINITIONS, &change("/spec/scope", json!("Bogus")))
                .named("another scope")
                .only(only),
        )
        .ask(
            post(DEFINITIONS, &change("/spec/versions", json!([])))
                .named("no versions")
                .only(only),
        )
        .ask(
            post(DEFINITIONS, &change("/spec/versions/0/schema", json!(null)))
                .named("no schema")
                .only(only),
        )
}

pub(crate) fn cases() -> Vec<Case> {
    vec![objects(), watched(), removed(), refused()]
}
