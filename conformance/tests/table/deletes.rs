//! Deletions: preconditions, finalizers, collections.

use crate::case::{Ask, Case, any, delete, delete_with, get, merge, post, put};
use crate::objects::{CONFIG_MAPS, PODS, config_map, pod};
use serde_json::{Value, json};

fn a(suffix: &str) -> String {
    format!("{CONFIG_MAPS}/{suffix}")
}

fn delete_a(name: &str, options: Value) -> Ask {
    delete_with(&a("a"), &options).named(name)
}

fn create(name: &str) -> Ask {
    post(CONFIG_MAPS, &config_map(name, "web")).named(format!("create {name}"))
}

fn preconditions() -> Case {
    let on = |preconditions: Value| json!({"preconditions": preconditions});
    Case::new("delete")
        .ask(create("a").save_version("first").save("uid", "/metadata/uid"))
        .ask(merge(&a("a"), &json!({"data": {"k": "w"}})).named("change a").save_version("second"))
        .ask(delete_a("another uid", on(json!({"uid": "11111111-2222-3333-4444-555555555555"}))))
        .ask(delete_a("an old version", on(json!({"resourceVersion": "{first}"}))))
        .ask(delete_a("this uid and an old version", on(json!({"uid": "{uid}", "resourceVersion": "{first}"}))))
        .ask(delete_a("a policy that is none", json!({"propagationPolicy": "bogus"})))
        .ask(delete_a("a negative grace period", json!({"gracePeriodSeconds": -5})))
        .ask(delete_a("two policies", json!({"propagationPolicy": "Orphan", "orphanDependents": true})))
        .ask(delete_a("dry run", json!({"dryRun": ["All"]})))
        .ask(delete_a("dry run bogus", json!({"dryRun": ["bogus"]})))
        .ask(any("DELETE", &a("a")).text("{bogus").named("text that is no JSON"))
        .ask(delete_a("another kind of options", json!({"apiVersion": "v1", "kind": "ConfigMap"})))
        .ask(delete(&format!("{CONFIG_MAPS}/a?dryRun=All")).named("dry run in the query"))
        .ask(get(&a("a")).named("still there"))
        .ask(delete_a("this uid and version", on(json!({"uid": "{uid}", "resourceVersion": "{second}"}))))
        .ask(get(&a("a")).named("gone"))
        .ask(delete(&a("a")).named("again"))
        .ask(create("b"))
        .ask(delete_with(&a("b"), &json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background", "gracePeriodSeconds": 0})).named("all options"))
        .ask(create("c"))
        .ask(delete(&format!("{CONFIG_MAPS}/c?propagationPolicy=Background")).named("a policy in the query"))
        .ask(post(PODS, &pod("p")).named("create p").only(["/kind"]))
        .ask(delete_with(&format!("{PODS}/p"), &json!({"gracePeriodSeconds": 0})).named("a pod at once").only(["/kind", "/metadata/name", "/metadata/uid"]))
        .ask(get(&format!("{PODS}/p")).named("the pod"))
}

fn finalizers() -> Case {
    let held = json!({"metadata": {"name": "a", "finalizers": ["example.com/one", "example.com/two"]}});
    let only = |finalizers: Value| json!({"metadata": {"finalizers": finalizers}});
    Case::new("finalizers")
        .ask(post(CONFIG_MAPS, &held).named("create a"))
        .ask(delete(&a("a")).named("delete"))
        .ask(get(&a("a")).named("it is held").save_version("held"))
        .ask(delete(&a("a")).named("delete again"))
        .ask(get(&format!("{CONFIG_MAPS}?labelSelector=app")).named("a list without it"))
        .ask(merge(&a("a"), &only(json!(["example.com/one", "example.com/three"]))).named("a new finalizer"))
        .ask(merge(&a("a"), &only(json!(["example.com/one"]))).named("one finalizer less"))
        .ask(merge(&a("a"), &json!({"data": {"k": "w"}})).named("a change while it is held"))
        .ask(put(&a("a"), &json!({"metadata": {"name": "a", "deletionTimestamp": null, "finalizers": ["example.com/one"]}})).named("no way back"))
        .ask(merge(&a("a"), &only(json!(null))).named("the last finalizer"))
        .ask(get(&a("a")).named("gone"))
        .ask(post(CONFIG_MAPS, &held).named("create a again"))
        .watch(
            [get(&format!("{CONFIG_MAPS}?watch=true&timeoutSeconds=4&resourceVersion={{held}}")).named("watch")],
            [
                delete(&a("a")).named("delete, watched"),
                merge(&a("a"), &only(json!([]))).named("all finalizers, watched"),
                create("a").named("and create, watched"),
            ],
        )
}

/// What only a garbage collector brings to an end.
fn policies() -> Case {
    Case::new("delete-policies")
        .asks(["a", "b"].map(create))
        .ask(delete_a("in the foreground", json!({"propagationPolicy": "Foreground"})).only(["/kind"]))
        .ask(
            delete_with(&a("b"), &json!({"propagationPolicy": "Orphan"}))
                .named("orphans")
                .only(["/kind"]),
        )
}

fn collections() -> Case {
    Case::new("delete-collection")
        .asks(["a", "b", "c", "d"].map(create))
        .ask(
            merge(
                &a("b"),
                &json!({"metadata": {"labels": {"app": "db"}, "finalizers": ["example.com/f"]}}),
            )
            .named("b differs"),
        )
        .ask(delete(&format!("{CONFIG_MAPS}?labelSelector=%3D%3D")).named("a selector that is malformed"))
        .ask(delete(&format!("{CONFIG_MAPS}?fieldSelector=metadata.name%3Dd")).named("by name"))
        .ask(delete_with(CONFIG_MAPS, &json!({"propagationPolicy": "bogus"})).named("a policy that is none"))
        .ask(delete(&format!("{CONFIG_MAPS}?labelSelector=app%3Dweb&dryRun=All")).named("dry run"))
        .ask(delete(&format!("{CONFIG_MAPS}?labelSelector=app%3Dnone")).named("none"))
        .ask(delete(&format!("{CONFIG_MAPS}?labelSelector=app%3Dweb")).named("those of web"))
        .ask(delete(CONFIG_MAPS).named("all"))
        .ask(get(CONFIG_MAPS).named("what is left"))
}

pub(crate) fn cases() -> Vec<Case> {
    vec![preconditions(), finalizers(), policies(), collections()]
}
