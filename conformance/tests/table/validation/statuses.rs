//! Addresses in statuses.

use serde_json::{Value, json};

use super::{container, said};
use crate::case::{Ask, Case, merge, post};
use crate::objects::PODS;

fn written(path: &str, what: &'static str, status: &Value) -> Ask {
    said(merge(
        &format!("{path}/status?dryRun=All"),
        &json!({"status": status}),
    ))
    .named(what)
}

fn pods() -> Case {
    let path = format!("{PODS}/x");
    let pod = json!({"metadata": {"name": "x"}, "spec": container(json!({}))});
    let of = |list: &str, all: &[&str]| {
        let addresses: Vec<_> = all.iter().map(|ip| json!({"ip": ip})).collect();
        let one = list.trim_end_matches('s');
        json!({one: all.first(), list: addresses})
    };
    let mut rows = Vec::new();
    for (names, list) in [
        (
            [
                "an address of the pod",
                "no address of the pod",
                "an address of the pod with zeros",
                "a mapped address of the pod",
                "an address of the pod that is none",
                "two families of the pod",
                "one family of the pod twice",
                "three addresses of the pod",
                "a second address of the pod that is none",
            ],
            "podIPs",
        ),
        (
            [
                "an address of the host",
                "no address of the host",
                "an address of the host with zeros",
                "a mapped address of the host",
                "an address of the host that is none",
                "two families of the host",
                "one family of the host twice",
                "three addresses of the host",
                "a second address of the host that is none",
            ],
            "hostIPs",
        ),
    ] {
        let statuses: [Value; 9] = [
            of(list, &["1.2.3.4"]),
            json!({list: [{}]}),
            of(list, &["010.0.0.1"]),
            of(list, &["::ffff:1.2.3.4"]),
            of(list, &["x"]),
            of(list, &["1.2.3.4", "2001:db8::1"]),
            of(list, &["1.2.3.4", "1.2.3.5"]),
            of(list, &["1.2.3.4", "2001:db8::1", "1.2.3.5"]),
            of(list, &["1.2.3.4", "<x>"]),
        ];
        rows.extend(names.into_iter().zip(statuses));
    }
    rows.push((
        "another first address of the pod",
        json!({"podIP": "1.2.3.4", "podIPs": [{"ip": "x"}]}),
    ));
    rows.push(("only a first address of the pod", json!({"podIP": "x"})));
    rows.push((
        "another first address of the host",
        json!({"hostIP": "1.2.3.4", "hostIPs": [{"ip": "1.2.3.5"}]}),
    ));
    rows.push(("only a first address of the host", json!({"hostIP": "x"})));
    rows.push((
        "both",
        json!({"podIP": "x", "podIPs": [{"ip": "x"}], "hostIP": "y", "hostIPs": [{"ip": "z"}]}),
    ));
    let asks = rows
        .into_iter()
        .map(|(what, status)| written(&path, what, &status));
    Case::new("validation-status-pod")
        .ask(said(post(PODS, &pod)).named("create"))
        .asks(asks)
}

/// Services and ingresses, of which the former say what balances them.
fn balancers() -> Vec<Case> {
    let kinds = [
        (
            "service",
            "/api/v1/namespaces/{ns}/services",
            json!({"type": "LoadBalancer", "ports": [{"port": 80}]}),
        ),
        (
            "unbalanced",
            "/api/v1/namespaces/{ns}/services",
            json!({"ports": [{"port": 80}]}),
        ),
        (
            "ingress",
            "/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses",
            json!({"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}),
        ),
    ];
    let cases = kinds.map(|(name, kind, spec)| {
        let path = format!("{kind}/x");
        let object = json!({"metadata": {"name": "x"}, "spec": spec});
        let rows = [
            ("an address", json!([{"ip": "1.2.3.4"}])),
            ("an address with zeros", json!([{"ip": "010.0.0.1"}])),
            ("a mapped address", json!([{"ip": "::ffff:1.2.3.4"}])),
            ("an address that is none", json!([{"ip": "<x>"}, {"ip": "y"}])),
            ("a host", json!([{"hostname": "a.example"}])),
            ("a host that is none", json!([{"hostname": "A_"}])),
            ("an address as a host", json!([{"hostname": "1.2.3.4"}])),
            ("nothing", json!([{}])),
            ("no points", json!([])),
        ];
        let mut rows: Vec<_> = rows.into();
        if name != "ingress" {
            rows.extend([
                ("a mode", json!([{"ip": "1.2.3.4", "ipMode": "Proxy"}])),
                ("a mode that is none", json!([{"ip": "1.2.3.4", "ipMode": "<X>"}])),
                ("a mode without an address", json!([{"ipMode": "VIP"}])),
            ]);
        }
        let asks = rows
            .into_iter()
            .map(|(what, points)| written(&path, what, &json!({"loadBalancer": {"ingress": points}})));
        Case::new(&format!("validation-status-{name}"))
            .ask(said(post(kind, &object)).named("create"))
            .asks(asks)
    });
    cases.into()
}

pub(super) fn statuses() -> Vec<Case> {
    let mut cases = balancers();
    cases.push(pods());
    cases
}
