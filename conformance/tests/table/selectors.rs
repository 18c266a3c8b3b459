//! Label and field selectors, sound and malformed.

use crate::case::{Ask, Case, post};
use crate::lists::list;
use crate::objects::{CONFIG_MAPS, DEFINITIONS, PODS, SECRETS, WIDGETS, config_map, definition, pod, widget};
use serde_json::json;

const LABELS: [&str; 56] = [
    "",
    " ",
    "app=web",
    "app==web",
    "app = web",
    "app!=web",
    "app",
    "!app",
    "! app",
    "app,!missing",
    "app in (web,db)",
    "app in (web)",
    "app in ()",
    "app in (web,)",
    "app in web",
    "app in (web",
    "app notin (web)",
    "app notin(web,db)",
    "missing notin (a)",
    "n>1",
    "n<2",
    "n>x",
    "n>",
    "n gt 1",
    "n lt 2",
    "n>1,n<3",
    "app=",
    "app==",
    "app===web",
    "=web",
    "==",
    ",",
    "app,",
    ",app",
    "app=web,app=db",
    "app=web,,app=db",
    "app web",
    "app=web db",
    "-app=web",
    "app=-web",
    "app=web-",
    "app=a/b",
    "example.com/app=web",
    "/app=web",
    "example.com/=web",
    "Example.com/app=web",
    "a/b/c=d",
    "app=é",
    "é=web",
    "(app)",
    "app)",
    "in in (in)",
    "notin",
    "!",
    "!!app",
    "app=aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggg",
];

const FIELDS: [&str; 22] = [
    "",
    "metadata.name=a",
    "metadata.name==a",
    "metadata.name!=a",
    "metadata.name = a",
    "metadata.name=a,metadata.namespace={ns}",
    "metadata.name=a,",
    ",",
    "metadata.name",
    "=",
    "=a",
    "metadata.name=",
    "metadata.name!=",
    "metadata.uid=x",
    "metadata.labels.app=web",
    "data.k=v",
    "bogus=1",
    "metadata.name=a,bogus=1",
    "metadata.name in (a)",
    "metadata.name=a=b",
    "metadata.name=a\\,b",
    "metadata.name=a\\",
];

fn selected(path: &str, by: &str, selector: &str) -> Ask {
    let encoded: String = selector
        .bytes()
        .map(|byte| match byte {
            b'{' | b'}' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        })
        .collect();
    list(path, &format!("{by}={encoded}")).named(format!("{by} {selector:?}"))
}

pub(crate) fn cases() -> Vec<Case> {
    let numbered = json!({"metadata": {"name": "n", "labels": {"n": "2", "in": "in"}}});
    let config_maps = |name: &str| {
        Case::new(name)
            .ask(post(CONFIG_MAPS, &config_map("a", "web")).named("create a"))
            .ask(post(CONFIG_MAPS, &config_map("b", "db")).named("create b"))
            .ask(post(CONFIG_MAPS, &numbered).named("create n"))
    };
    let secret = json!({"metadata": {"name": "s"}, "type": "example.com/x", "data": {"k": "dg=="}});
    let pods = [
        "spec.nodeName=n1",
        "spec.nodeName!=n1",
        "spec.nodeName=",
        "status.phase=Pending",
        "status.phase!=Running",
        "spec.restartPolicy=Always",
        "spec.schedulerName=default-scheduler",
        "spec.serviceAccountName=",
        "status.podIP=",
        "status.nominatedNodeName=",
        "spec.hostNetwork=false",
        "spec.bogus=1",
        "status.podIPs=",
        "metadata.name=p,spec.nodeName=n1",
    ];
    let widgets = [
        "spec.colour=red",
        "spec.colour!=red",
        "spec.size=1",
        "metadata.name=w1",
        "spec.colour=",
        "bogus",
    ];
    vec![
        config_maps("label-selectors")
            .together(LABELS.map(|selector| selected(CONFIG_MAPS, "labelSelector", selector))),
        config_maps("field-selectors")
            .together(FIELDS.map(|selector| selected(CONFIG_MAPS, "fieldSelector", selector))),
        Case::new("pod-fields")
            .ask(post(PODS, &pod("p")).named("create p"))
            .together(pods.map(|selector| selected(PODS, "fieldSelector", selector))),
        Case::new("secret-fields")
            .ask(post(SECRETS, &secret).named("create s"))
            .together(
                ["type=example.com/x", "type!=example.com/x", "data.k=v"]
                    .map(|s| selected(SECRETS, "fieldSelector", s)),
            ),
        Case::new("widget-fields")
            .ask(post(DEFINITIONS, &definition()).named("define").only(["/kind"]))
            .until(list(WIDGETS, ""), 200)
            .ask(post(WIDGETS, &widget("w1", 1)).named("create w1"))
            .ask(post(WIDGETS, &widget("w2", 2)).named("create w2"))
            .together(widgets.map(|selector| selected(WIDGETS, "fieldSelector", selector))),
    ]
}
