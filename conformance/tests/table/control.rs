//! What the server alone does about owners, namespaces that end, pods that have time to end, and updates that create.

use crate::case::{Ask, Case, delete, delete_with, get, merge, post, put};
use crate::objects::{CONFIG_MAPS, PODS, pod};
use serde_json::{Value, json};

const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases";
const OTHER: &str = "/api/v1/namespaces/{ns}-other";

fn a(suffix: &str) -> String {
    format!("{CONFIG_MAPS}/{suffix}")
}

fn updates_that_create() -> Case {
    let lease = |name: &str| json!({"metadata": {"name": name}, "spec": {"holderIdentity": "me"}});
    let at = |name: &str| format!("{LEASES}/{name}");
    let mut known = lease("c");
    known["metadata"]["uid"] = json!("11111111-2222-3333-4444-555555555555");
    let mut old = lease("b");
    old["metadata"]["resourceVersion"] = json!("5");
    let mut invalid = lease("f");
    invalid["metadata"]["labels"] = json!({"a": "-"});
    let put_empty = |kind: &str| {
        put(
            &format!("/api/v1/namespaces/{{ns}}/{kind}/x"),
            &json!({"metadata": {"name": "x"}}),
        )
    };
    Case::new("update-creates")
        .ask(
            put(&at("a"), &lease("a"))
                .named("a new lease")
                .save_version("first"),
        )
        .ask(put(&at("a"), &lease("a")).named("the same again"))
        .ask(put(&at("b"), &old).named("a new one with a version"))
        .ask(put(&at("b"), &old).named("and again"))
        .ask(
            put(&at("c"), &known)
                .named("a new one with a uid")
                .only(["/reason", "/details"]),
        )
        .ask(put(&at("d"), &lease("e")).named("under another name"))
        .ask(put(&format!("{}?dryRun=All", at("e")), &lease("e")).named("dry run"))
        .ask(get(&at("e")).named("not created"))
        .ask(put(&at("f"), &invalid).named("an invalid one"))
        .ask(
            put(
                "/apis/coordination.k8s.io/v1/namespaces/no-such/leases/a",
                &lease("a"),
            )
            .named("in no namespace"),
        )
        .ask(merge(&at("g"), &lease("g")).named("a patch"))
        .ask(put_empty("endpoints").named("endpoints"))
        .ask(put_empty("limitranges").named("a limit range").only(["/kind"]))
        .ask(put_empty("configmaps").named("a config map"))
        .ask(
            put(
                "/api/v1/namespaces/{ns}/services/x/status",
                &json!({"metadata": {"name": "x"}, "spec": {"ports": [{"port": 80}]}}),
            )
            .named("the status of a service")
            .only(["/reason"]),
        )
}

fn owners() -> Case {
    let owner = |name: &str, uid: &str, more: Value| {
        let mut owner = json!({"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid});
        owner
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        owner
    };
    let owned = |name: &str, owners: Value| {
        let object = json!({"metadata": {"name": name, "ownerReferences": owners}});
        post(CONFIG_MAPS, &object)
    };
    let controller = json!({"controller": true});
    let policy = |policy: &str| json!({"propagationPolicy": policy});
    Case::new("owners")
        .ask(owned("a", json!([owner("p", "1", controller.clone()), owner("q", "2", json!({}))])).named("two owners"))
        .ask(owned("b", json!([owner("p", "1", controller.clone()), owner("q", "2", controller)])).named("two controllers"))
        .ask(owned("b", json!([owner("", "", json!({}))])).named("no name and no uid"))
        .ask(owned("b", json!([{"name": "p", "uid": "1"}])).named("no kind"))
        .ask(owned("b", json!([{"apiVersion": "v1", "kind": "Event", "name": "e", "uid": "1"}])).named("an event"))
        .ask(merge(&a("a"), &json!({"metadata": {"ownerReferences": [owner("p", "", json!({}))]}})).named("a patch to no uid"))
        .ask(merge(&a("a"), &json!({"metadata": {"ownerReferences": []}})).named("a patch to none"))
        .ask(delete_with(&a("a"), &policy("Foreground")).named("in the foreground"))
        .ask(delete_with(&a("a"), &policy("Orphan")).named("then orphan"))
        .ask(delete(&a("a")).named("then anyhow"))
        .ask(delete_with(&a("a"), &policy("Background")).named("then in the background"))
        .ask(post("/apis/batch/v1/namespaces/{ns}/jobs", &json!({"metadata": {"name": "j"}, "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}})).named("a job").only(["/kind"]))
        .ask(delete("/apis/batch/v1/namespaces/{ns}/jobs/j").named("a job, anyhow").only(["/kind", "/metadata/finalizers"]))
}

fn namespaces() -> Case {
    let options = |options: Value| delete_with(OTHER, &options);
    let finalize = |finalizers: Value| {
        let body = json!({"metadata": {"name": "{ns}-other"}, "spec": {"finalizers": finalizers}});
        put(&format!("{OTHER}/finalize"), &body)
    };
    let create = |object: Value| post(&format!("{OTHER}/configmaps"), &object);
    let map = |name: &str| format!("{OTHER}/configmaps/{name}");
    Case::new("namespace-end")
        .ask(post("/api/v1/namespaces", &json!({"metadata": {"name": "{ns}-other"}})).named("create"))
        .ask(
            create(json!({"metadata": {"name": "a", "finalizers": ["example.com/f"]}}))
                .named("what is in it"),
        )
        .ask(
            merge(
                OTHER,
                &json!({"spec": {"finalizers": []}, "status": {"phase": "Gone"}}),
            )
            .named("a patch of what holds it"),
        )
        .ask(
            options(json!({"preconditions": {"uid": "11111111-2222-3333-4444-555555555555"}}))
                .named("another uid"),
        )
        .ask(
            options(json!({"preconditions": {"resourceVersion": "1"}}))
                .named("another version")
                .only(["/reason"]),
        )
        .ask(delete(&format!("{OTHER}?dryRun=All")).named("dry run"))
        .ask(options(json!({"propagationPolicy": "Foreground"})).named("delete"))
        .ask(delete(OTHER).named("delete again"))
        .ask(create(json!({"metadata": {"name": "b"}})).named("a new object"))
        .ask(create(json!({"metadata": {"generateName": "b-"}})).named("one with a prefix"))
        .ask(create(json!({"metadata": {}})).named("one without a name"))
        .ask(
            put(
                "/apis/coordination.k8s.io/v1/namespaces/{ns}-other/leases/a",
                &json!({"metadata": {"name": "a"}}),
            )
            .named("an update that would create"),
        )
        .ask(merge(&map("a"), &json!({"data": {"k": "v"}})).named("a change"))
        .ask(merge(&map("a"), &json!({"metadata": {"finalizers": null}})).named("and of its finalizers"))
        .ask(delete(&map("a")).named("a deletion"))
        .ask(finalize(json!(["kubernetes", "example.com/x"])).named("one holder more"))
        .ask(finalize(json!(["bogus"])).named("one that is none"))
        .ask(get(&format!("{OTHER}/finalize")).named("get finalize"))
        .ask(merge(&format!("{OTHER}/finalize"), &json!({"spec": {}})).named("patch finalize"))
        .ask(post(&format!("{OTHER}/finalize"), &json!({})).named("post finalize"))
        .ask(
            put(
                "/api/v1/namespaces/no-such/finalize",
                &json!({"metadata": {"name": "no-such"}, "spec": {}}),
            )
            .named("finalize none"),
        )
        .ask(finalize(json!([])).named("the end"))
        .ask(get(OTHER).named("it is gone"))
}

fn pods() -> Case {
    let at = |name: &str| format!("{PODS}/{name}");
    let shown = |ask: Ask| {
        ask.only([
            "/kind",
            "/metadata/deletionTimestamp",
            "/metadata/deletionGracePeriodSeconds",
            "/metadata/generation",
        ])
    };
    let grace = |name: &str, seconds: i64| delete_with(&at(name), &json!({"gracePeriodSeconds": seconds}));
    let mut free = pod("free");
    free["spec"].as_object_mut().unwrap().remove("nodeName");
    let mut held = pod("held");
    held["metadata"]["finalizers"] = json!(["example.com/f"]);
    Case::new("pod-end")
        .ask(post(PODS, &pod("p")).named("create").only(["/kind"]))
        .ask(shown(delete(&format!("{}?dryRun=All", at("p")))).named("dry run"))
        .ask(shown(delete(&at("p"))).named("delete"))
        .ask(shown(grace("p", 60)).named("a longer period"))
        .ask(shown(grace("p", 10)).named("a shorter period"))
        .ask(shown(grace("p", -1)).named("a negative period"))
        .ask(shown(merge(&at("p"), &json!({"metadata": {"labels": {"a": "b"}}}))).named("a change"))
        .ask(shown(grace("p", 0)).named("no period"))
        .ask(get(&at("p")).named("it is gone"))
        .ask(
            post(PODS, &free)
                .named("create one without a node")
                .only(["/kind"]),
        )
        .ask(shown(delete(&format!("{}?gracePeriodSeconds=20", at("free")))).named("delete it"))
        .ask(get(&at("free")).named("it is gone too"))
        .ask(
            post(PODS, &held)
                .named("create one with a finalizer")
                .only(["/kind"]),
        )
        .ask(shown(grace("held", 0)).named("delete that"))
        .ask(shown(get(&at("held"))).named("it is held"))
        .ask(
            merge(&at("held"), &json!({"metadata": {"finalizers": null}}))
                .named("let it go")
                .only(["/kind"]),
        )
        .ask(get(&at("held")).named("now it is gone"))
}

pub(crate) fn cases() -> Vec<Case> {
    vec![updates_that_create(), owners(), namespaces(), pods()]
}
