//! Watches: every combination of version, initial events, match and bookmarks; what selectors let through.

use crate::case::{Ask, Case, delete, get, merge, post, put};
use crate::lists::{VERSIONS, history, query};
use crate::objects::{CONFIG_MAPS, config_map};

/// A watch that ends by itself, called by its query. On a busy machine it takes seconds until all are open and the changes are made.
fn watch(query: &str) -> Ask {
    get(&format!("{CONFIG_MAPS}?watch=true&timeoutSeconds=8&{query}")).named(format!("watch ?{query}"))
}

fn combinations() -> Vec<Ask> {
    let mut asks = Vec::new();
    for version in VERSIONS {
        for initial in ["", "true", "false"] {
            for matching in ["", "NotOlderThan", "Exact"] {
                for bookmarks in ["", "true"] {
                    let parameters = [
                        ("resourceVersion", version),
                        ("sendInitialEvents", initial),
                        ("resourceVersionMatch", matching),
                        ("allowWatchBookmarks", bookmarks),
                    ];
                    asks.push(watch(&query(&parameters)));
                }
            }
        }
    }
    asks
}

fn changes() -> Vec<Ask> {
    let b = format!("{CONFIG_MAPS}/b");
    vec![
        post(CONFIG_MAPS, &config_map("e", "web")).named("create e"),
        merge(&b, &serde_json::json!({"metadata": {"labels": {"app": "web"}}})).named("b becomes web"),
        put(&b, &config_map("b", "db")).named("b becomes db"),
        delete(&b).named("delete b"),
        post(CONFIG_MAPS, &config_map("b", "db")).named("create b again"),
    ]
}

pub(crate) fn cases() -> Vec<Case> {
    let selectors = [
        "labelSelector=app%3Dweb",
        "labelSelector=app%21%3Dweb",
        "fieldSelector=metadata.name%3Db",
        "labelSelector=app%3Dweb&fieldSelector=metadata.name%3Db",
        "labelSelector=%3D%3D",
        "fieldSelector=bogus",
    ];
    let initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let selected = selectors.iter().flat_map(|selector| {
        [
            watch(&format!("{selector}&resourceVersion={{newest}}")),
            watch(&format!("{selector}&resourceVersion={{old}}")),
            watch(&format!("{selector}&{initial}")),
        ]
    });
    let odd = [
        watch("continue=abc"),
        watch("limit=1&resourceVersion={old}"),
        watch("resourceVersion={newest}&sendInitialEvents=bogus&resourceVersionMatch=NotOlderThan"),
        get(&format!("{CONFIG_MAPS}?watch=1&timeoutSeconds=2&resourceVersion={{newest}}")).named("watch=1"),
        get(&format!("{CONFIG_MAPS}?watch&timeoutSeconds=2&resourceVersion={{newest}}")).named("watch without a value"),
        get(&format!("{CONFIG_MAPS}?watch=true&timeoutSeconds=abc")).named("a timeout that is no number"),
        get(&format!("{CONFIG_MAPS}/b?watch=true&timeoutSeconds=2&resourceVersion={{newest}}")).named("watch of a name"),
        get("/api/v1/watch/namespaces/{ns}/configmaps?timeoutSeconds=5&resourceVersion={newest}").named("old path"),
        get("/api/v1/watch/namespaces/{ns}/configmaps/b?timeoutSeconds=5&resourceVersion={newest}").named("old path of a name"),
        get("/api/v1/configmaps?watch=true&timeoutSeconds=5&fieldSelector=metadata.namespace%3D{ns}&resourceVersion={newest}").named("all namespaces"),
        get("/api/v1/namespaces/nowhere/configmaps?watch=true&timeoutSeconds=2").named("nowhere"),
    ];
    vec![
        history("watch").watch(combinations(), changes()),
        history("watch-expired").forget().watch(combinations(), changes()),
        history("watch-selected").watch(selected, changes()),
        history("watch-odd").watch(odd, changes()),
    ]
}
