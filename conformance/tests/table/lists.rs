//! Lists: every combination of version, match, limit and continue; pages; what was changed between them.

use crate::case::{Ask, Case, delete, get, post, put};
use crate::objects::{CONFIG_MAPS, config_map};

/// A query of these parameters; the empty ones are left out.
pub(crate) fn query(parameters: &[(&str, &str)]) -> String {
    let given = parameters.iter().filter(|(_, value)| !value.is_empty());
    given
        .map(|(name, value)| format!("{name}={value}"))
        .collect::<Vec<_>>()
        .join("&")
}

/// A list with a query, called by it.
pub(crate) fn list(path: &str, query: &str) -> Ask {
    get(&format!("{path}?{query}")).named(format!("list ?{query}"))
}

/// A version that is far from being reached.
pub(crate) const FUTURE: &str = "9999999999";

pub(crate) const VERSIONS: [&str; 8] = ["", "0", "{old}", "{middle}", "{newest}", FUTURE, "abc", "-1"];

/// Objects with a history: `old` is the version of the first, `middle` that of a list of three, `newest` of all.
pub(crate) fn history(name: &str) -> Case {
    Case::new(name)
        .ask(
            post(CONFIG_MAPS, &config_map("a", "web"))
                .named("create a")
                .save_version("old"),
        )
        .ask(post(CONFIG_MAPS, &config_map("b", "web")).named("create b"))
        .ask(post(CONFIG_MAPS, &config_map("c", "db")).named("create c"))
        .ask(get(CONFIG_MAPS).named("three").save_version("middle"))
        .ask(
            list(CONFIG_MAPS, "limit=1")
                .named("first page")
                .save("token", "/metadata/continue"),
        )
        .ask(put(&format!("{CONFIG_MAPS}/b"), &config_map("b", "db")).named("update b"))
        .ask(delete(&format!("{CONFIG_MAPS}/c")).named("delete c"))
        .ask(post(CONFIG_MAPS, &config_map("d", "web")).named("create d"))
        .ask(get(CONFIG_MAPS).named("all").save_version("newest"))
}

fn combinations() -> Vec<Ask> {
    let mut asks = Vec::new();
    for version in VERSIONS {
        for matching in ["", "Exact", "NotOlderThan", "Bogus"] {
            for limit in ["", "2"] {
                for token in ["", "{token}", "bogus"] {
                    let parameters = [
                        ("resourceVersion", version),
                        ("resourceVersionMatch", matching),
                        ("limit", limit),
                        ("continue", token),
                    ];
                    asks.push(list(CONFIG_MAPS, &query(&parameters)));
                }
            }
        }
    }
    asks
}

pub(crate) fn cases() -> Vec<Case> {
    let pages = history("list-pages")
        .ask(list(CONFIG_MAPS, "continue={token}&limit=1").save("second", "/metadata/continue"))
        .ask(list(CONFIG_MAPS, "continue={second}&limit=1"))
        .ask(list(
            CONFIG_MAPS,
            "continue={second}&limit=1&labelSelector=app%3Ddb",
        ))
        .asks(
            ["0", "-1", "abc", "3", "100", "99999999999999999999"]
                .map(|limit| list(CONFIG_MAPS, &format!("limit={limit}"))),
        )
        .ask(list(CONFIG_MAPS, "limit=1&labelSelector=app%3Dweb"))
        .ask(list(CONFIG_MAPS, "limit=1&fieldSelector=metadata.name%3Da"))
        .ask(list(
            "/api/v1/configmaps",
            "fieldSelector=metadata.namespace%3D{ns}",
        ))
        .ask(list(
            "/api/v1/configmaps",
            "fieldSelector=metadata.namespace%3D{ns}&limit=1&resourceVersion={newest}",
        ))
        .ask(list(CONFIG_MAPS, "timeoutSeconds=abc"))
        .ask(list(CONFIG_MAPS, "timeoutSeconds=5"))
        .ask(list(CONFIG_MAPS, "watch=false"))
        .ask(list(CONFIG_MAPS, "sendInitialEvents=true"))
        .ask(list(
            CONFIG_MAPS,
            "sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=1",
        ))
        .ask(list(CONFIG_MAPS, "allowWatchBookmarks=true"))
        .ask(list("/api/v1/namespaces/nowhere/configmaps", ""));
    let single = history("get").asks(VERSIONS.map(|version| {
        get(&format!("{CONFIG_MAPS}/a?resourceVersion={version}"))
            .named(format!("get ?resourceVersion={version}"))
    }));
    let expired = history("list-expired").forget().together(combinations());
    vec![history("list").together(combinations()), pages, single, expired]
}
