//! The forms of answers: whole, metadata only, tables; in lists, single objects and watches.

use crate::case::{Ask, Case, delete, get, merge, post, put};
use crate::lists::history;
use crate::objects::{CONFIG_MAPS, DEFINITIONS, PODS, WIDGETS, config_map, definition, pod, widget};
use serde_json::json;

const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";

const ACCEPTED: [&str; 17] = [
    METADATA,
    METADATA_LIST,
    TABLE,
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
    "application/json;as=Table;g=meta.k8s.io;v=v1beta1",
    "application/json;as=Table;g=meta.k8s.io;v=v2,application/json",
    "application/json;as=Table;g=example.com;v=v1",
    "application/json;as=Bogus;g=meta.k8s.io;v=v1",
    "application/json;as=Bogus;g=meta.k8s.io;v=v1, */*",
    "*/*",
    "application/*",
    "text/html",
    "text/html,*/*;q=0.8",
    "application/json;q=0.5",
    "application/json;charset=utf-8",
    "bogus",
    "",
];

fn in_all_forms(path: &str, what: &str) -> Vec<Ask> {
    ACCEPTED
        .map(|accept| {
            get(path)
                .accept(accept)
                .named(format!("{what}, accept {accept:?}"))
        })
        .into()
}

/// What a client may ask of discovery, of which client-go asks for the fifth.
const DISCOVERED: [&str; 20] = [
    "application/json",
    ALL_AT_ONCE,
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
    "application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList",
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json",
    "application/json,application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json",
    "application/json;as=APIGroupDiscoveryList;v=v2",
    "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io",
    "application/json;g=apidiscovery.k8s.io;v=v2",
    "application/json;v=v1",
    "application/json;pretty=1",
    "application/json;as=Table;g=meta.k8s.io;v=v1",
    "application/json;as=Table;g=meta.k8s.io;v=v1,application/json",
    "application/*",
    "application/*;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    "*/*",
    "text/html",
    "text/html,application/json",
    "",
];

const ALL_AT_ONCE: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Which form discovery has by each path, and what is said where it has none.
fn discovery() -> Case {
    let paths = [
        "/api",
        "/api/",
        "/apis",
        "/apis/",
        "/api/v1",
        "/apis/apps",
        "/apis/apps/v1",
    ];
    let asks = paths.into_iter().flat_map(|path| {
        DISCOVERED.map(|accept| {
            get(path)
                .accept(accept)
                .named(format!("{path}, accept {accept:?}"))
                .only(["/kind", "/apiVersion", "/message", "/reason", "/details", "/code"])
        })
    });
    Case::new("discovery-forms").asks(asks)
}

fn watched(query: &str, accept: &'static str) -> Ask {
    get(&format!("{CONFIG_MAPS}?watch=true&timeoutSeconds=5&{query}"))
        .accept(accept)
        .named(format!("watch ?{query}, accept {accept:?}"))
}

pub(crate) fn cases() -> Vec<Case> {
    let initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let watches = [METADATA, METADATA_LIST, TABLE].into_iter().flat_map(|accept| {
        [
            watched(initial, accept),
            watched("resourceVersion={newest}", accept),
            watched("", accept),
        ]
    });
    let more = [
        watched("resourceVersion={newest}&includeObject=None", TABLE),
        watched("resourceVersion={newest}&includeObject=Object", TABLE),
        watched("resourceVersion=1000000000000", TABLE),
        watched("resourceVersion=abc", TABLE),
        watched("resourceVersion={newest}", "application/json;stream=watch"),
        watched("resourceVersion={newest}", "text/html"),
    ];
    let changes = [
        post(CONFIG_MAPS, &config_map("e", "web")).named("create e"),
        put(&format!("{CONFIG_MAPS}/e"), &config_map("e", "db")).named("update e"),
        delete(&format!("{CONFIG_MAPS}/e")).named("delete e"),
    ];
    let included = ["", "None", "Metadata", "Object", "bogus", "object"].map(|include| {
        get(&format!("{CONFIG_MAPS}?includeObject={include}"))
            .accept(TABLE)
            .named(format!("table ?includeObject={include}"))
    });
    let running = json!({"status": {"phase": "Running", "podIP": "10.0.0.7", "podIPs": [{"ip": "10.0.0.7"}], "startTime": null}});
    let pods = Case::new("pod-table")
        .ask(post(PODS, &pod("p")).named("create p").only(["/kind"]))
        .ask(
            get(&format!("{PODS}/p"))
                .accept(TABLE)
                .named("pending")
                .only(["/rows/0/cells", "/metadata"]),
        )
        .ask(
            merge(&format!("{PODS}/p/status"), &running)
                .named("runs")
                .only(["/status/phase"]),
        )
        .ask(
            get(PODS)
                .accept(TABLE)
                .named("running")
                .only(["/rows/0/cells", "/metadata", "/rows/0/object"]),
        )
        .ask(get(PODS).accept(METADATA_LIST).named("metadata"));
    let namespaces = Case::new("other-tables")
        .ask(
            get("/api/v1/namespaces/default")
                .accept(TABLE)
                .named("a namespace")
                .only(["/rows/0/cells"]),
        )
        .ask(
            get("/api/v1/nodes")
                .accept(TABLE)
                .named("nodes")
                .only(["/rows", "/kind"]),
        )
        .ask(
            get("/apis/apps/v1/namespaces/{ns}/deployments")
                .accept(TABLE)
                .named("deployments")
                .only(["/rows", "/kind"]),
        );
    let widgets = Case::new("widget-forms")
        .ask(post(DEFINITIONS, &definition()).named("define").only(["/kind"]))
        .until(get(WIDGETS), 200)
        .ask(post(WIDGETS, &widget("w", 1)).named("create w"))
        .ask(
            post(
                WIDGETS,
                &json!({"apiVersion": "{ns}.example.com/v1", "kind": "Widget", "metadata": {"name": "x"}}),
            )
            .named("create x"),
        )
        .together(in_all_forms(WIDGETS, "list"))
        .together(in_all_forms(&format!("{WIDGETS}/w"), "get"));
    vec![
        history("forms")
            .together(in_all_forms(CONFIG_MAPS, "list"))
            .together(in_all_forms(&format!("{CONFIG_MAPS}/a"), "get"))
            .together(included)
            .ask(
                get(&format!("{CONFIG_MAPS}?limit=1"))
                    .accept(TABLE)
                    .named("a page of a table"),
            )
            .ask(
                get(&format!("{CONFIG_MAPS}?limit=1"))
                    .accept(METADATA_LIST)
                    .named("a page of metadata"),
            )
            .ask(
                get(&format!("{CONFIG_MAPS}/missing"))
                    .accept(TABLE)
                    .named("a table of what is missing"),
            )
            .ask(
                post(CONFIG_MAPS, &config_map("z", "web"))
                    .accept(METADATA)
                    .named("create, metadata only"),
            )
            .ask(
                delete(&format!("{CONFIG_MAPS}/z"))
                    .accept(TABLE)
                    .named("delete, as a table"),
            ),
        discovery(),
        history("forms-watched").watch(watches.chain(more), changes),
        pods,
        namespaces,
        widgets,
    ]
}
