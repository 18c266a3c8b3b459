//! Definitions in the cluster: what their versions share, who gets a name, and how they end. What single requests are answered is
//! compared with a real server by `conformance`.

use std::time::Duration;

use kube_sim::{Controller, Sim};
use serde_json::{Value, json};

use crate::client::{Client, WIDGETS, widget, widget_definition};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Until then a definition without objects is gone.
const MOMENT: Duration = Duration::from_secs(1);

/// Widgets in two versions, which let selectors know different fields.
fn two_versions() -> Value {
    let mut definition = widget_definition();
    let version = |name: &str, field: &str| {
        json!({
            "name": name, "served": true, "storage": name == "v1", "selectableFields": [{"jsonPath": format!(".spec.{field}")}],
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": {
                "size": {"type": "integer"}, field: {"type": "string"},
            }}}}},
        })
    };
    definition["spec"]["versions"] = json!([version("v1", "color"), version("v2", "shape")]);
    definition
}

/// The reason of a definition's last condition in each event, until the definition is deleted.
async fn reasons(watch: &mut crate::client::Watch) -> Vec<String> {
    let mut reasons = Vec::new();
    loop {
        let event = watch.next().await.expect("an event");
        let conditions = event["object"]["status"]["conditions"].as_array();
        let last = conditions
            .and_then(|conditions| conditions.last())
            .expect("conditions");
        reasons.push(last["reason"].as_str().unwrap_or("").to_owned());
        if event["type"] == "DELETED" {
            return reasons;
        }
    }
}

#[tokio::test]
async fn a_watch_selects_by_the_fields_of_its_version() {
    let client = Client::new(Sim::builder().crd(two_versions()).build().unwrap());
    let path = WIDGETS.replace("/v1/", "/v2/");
    let selects = |field: &str| format!("?watch=1&fieldSelector=spec.{field}%3Dred");
    let mut by_color = client.watch(&format!("{WIDGETS}{}", selects("color"))).await;
    let mut by_shape = client.watch(&format!("{path}{}", selects("shape"))).await;
    client.post(WIDGETS, widget("a", 1)).await.ok();
    let (kind, name, _) = by_color.event().await;
    assert_eq!((kind.as_str(), name.as_str()), ("ADDED", "a"));
    // A shape cannot be stored in v1, so nothing has one.
    let shaped = json!({
        "apiVersion": "sim.example/v2", "kind": "Widget", "metadata": {"name": "b"}, "spec": {"shape": "red", "size": 1},
    });
    let made = client.post(&path, shaped).await.ok();
    assert_eq!(made["spec"], json!({"size": 1}));
    let mut definition = client
        .get(&format!("{DEFINITIONS}/widgets.sim.example"))
        .await
        .ok();
    for version in definition["spec"]["versions"].as_array_mut().unwrap() {
        version["storage"] = (version["name"] == "v2").into();
    }
    client
        .put(&format!("{DEFINITIONS}/widgets.sim.example"), definition)
        .await
        .ok();
    assert_eq!(
        by_shape.rest().await,
        [""; 0],
        "a watch ends with the definition it was of"
    );
    let mut by_shape = client.watch(&format!("{path}{}", selects("shape"))).await;
    client
        .merge(&format!("{path}/b"), json!({"spec": {"shape": "red"}}))
        .await
        .ok();
    let (kind, name, _) = by_shape.event().await;
    assert_eq!((kind.as_str(), name.as_str()), ("ADDED", "b"));
}

#[tokio::test(start_paused = true)]
async fn a_definition_ends_after_its_objects() {
    for controllers in [&[][..], &kube_sim::Controller::DEFAULT] {
        let builder = Sim::builder().crd(widget_definition());
        let client = Client::new(builder.controllers(controllers.iter().copied()).build().unwrap());
        let mut held = widget("held", 1);
        held["metadata"]["finalizers"] = json!(["example.com/held"]);
        client.post(WIDGETS, held).await.ok();
        client.post(WIDGETS, widget("free", 1)).await.ok();
        let mut definitions = client
            .watch(&format!("{DEFINITIONS}?watch=1&resourceVersion=0"))
            .await;
        definitions.event().await;
        let mut widgets = client
            .watch(&format!("{WIDGETS}?watch=1&resourceVersion=0"))
            .await;
        let path = format!("{DEFINITIONS}/widgets.sim.example");
        let deleted = client.delete(&path, json!(null)).await.ok();
        assert_eq!(
            deleted["metadata"]["finalizers"],
            json!(["customresourcecleanup.apiextensions.k8s.io"])
        );
        tokio::time::sleep(MOMENT).await;
        assert_eq!(client.get(WIDGETS).await.names(), ["held"]);
        let (code, reason, message) = client.post(WIDGETS, widget("late", 1)).await.refusal();
        let expected = "widgets.sim.example \"late\" is forbidden: create not allowed while custom resource definition is terminating";
        assert_eq!(
            (code, reason.as_str(), message.as_str()),
            (403, "Forbidden", expected)
        );
        let discovered = client.get("/apis/sim.example/v1").await.json();
        let verbs = &discovered["resources"][0]["verbs"];
        assert_eq!(
            *verbs,
            json!(["delete", "deletecollection", "get", "list", "watch"])
        );
        client
            .merge(
                &format!("{WIDGETS}/held"),
                json!({"metadata": {"finalizers": null}}),
            )
            .await
            .ok();
        assert_eq!(client.get(&path).await.code, 404);
        assert_eq!(client.get(WIDGETS).await.code, 404);
        let (pending, going) = ("InstanceDeletionPending", "InstanceDeletionInProgress");
        assert_eq!(reasons(&mut definitions).await, [pending, going, going]);
        let expected = [
            "ADDED free",
            "ADDED held",
            "MODIFIED held",
            "DELETED free",
            "DELETED held",
        ];
        let mut seen = widgets.rest().await;
        seen.sort();
        let mut expected = expected.map(str::to_owned).to_vec();
        expected.sort();
        assert_eq!(seen, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn what_its_objects_own_goes_with_a_definition() {
    let client = Client::new(Sim::builder().crd(widget_definition()).build().unwrap());
    let maps = "/api/v1/namespaces/default/configmaps";
    for (name, finalizers) in [("free", json!(null)), ("held", json!(["example.com/held"]))] {
        let mut owner = widget(name, 1);
        owner["metadata"]["finalizers"] = finalizers;
        let owner = client.post(WIDGETS, owner).await.ok();
        let owned = json!({"metadata": {"name": name, "ownerReferences": [{
            "apiVersion": "sim.example/v1", "kind": "Widget", "name": name, "uid": owner["metadata"]["uid"],
        }]}});
        client.post(maps, owned).await.ok();
    }
    let path = format!("{DEFINITIONS}/widgets.sim.example");
    client.delete(&path, json!(null)).await.ok();
    tokio::time::sleep(MOMENT).await;
    assert_eq!(client.get(maps).await.names(), ["held"]);
    let released = json!({"metadata": {"finalizers": null}});
    client.merge(&format!("{WIDGETS}/held"), released).await.ok();
    assert_eq!(client.get(&path).await.code, 404);
    assert!(client.get(maps).await.names().is_empty());
    // One whose objects own nothing.
    client.post(DEFINITIONS, widget_definition()).await.ok();
    client.post(WIDGETS, widget("free", 1)).await.ok();
    client.delete(&path, json!(null)).await.ok();
    tokio::time::sleep(MOMENT).await;
    assert_eq!(client.get(&path).await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn a_name_that_is_given_up_goes_to_who_waits_for_it() {
    let named = |plural: &str| {
        let mut definition = widget_definition();
        definition["metadata"]["name"] = format!("{plural}.sim.example").into();
        definition["spec"]["names"] = json!({"plural": plural, "singular": plural, "kind": "Widget"});
        definition
    };
    let client = Client::empty();
    let served = async || {
        let groups = client.get("/apis/sim.example/v1").await;
        let list = groups.json();
        let names = list["resources"].as_array().into_iter().flatten();
        names
            .filter_map(|resource| resource["name"].as_str().map(str::to_owned))
            .filter(|name| !name.contains('/'))
            .collect::<Vec<_>>()
    };
    for plural in ["ones", "twos", "threes"] {
        client.post(DEFINITIONS, named(plural)).await.ok();
    }
    assert_eq!(served().await, ["ones"]);
    client
        .delete(&format!("{DEFINITIONS}/ones.sim.example"), json!(null))
        .await
        .ok();
    tokio::time::sleep(MOMENT).await;
    let now = served().await;
    assert_eq!(now.len(), 1, "one of the two that wait: {now:?}");
    client
        .delete(&format!("{DEFINITIONS}/{}.sim.example", now[0]), json!(null))
        .await
        .ok();
    tokio::time::sleep(MOMENT).await;
    let last = served().await;
    assert_eq!(last.len(), 1);
    assert_ne!(last, now);
}

#[tokio::test(start_paused = true)]
async fn a_restored_state_has_its_definitions() {
    let client = Client::new(Sim::builder().crd(two_versions()).build().unwrap());
    client.post(WIDGETS, widget("a", 1)).await.ok();
    let backup = client.sim.faults().backup();
    let path = format!("{DEFINITIONS}/widgets.sim.example");
    client.delete(&path, json!(null)).await.ok();
    tokio::time::sleep(MOMENT).await;
    assert_eq!(client.get(WIDGETS).await.code, 404);
    client.sim.faults().restore(&backup);
    assert_eq!(client.get(WIDGETS).await.names(), ["a"]);
    let mut other = widget_definition();
    other["metadata"]["name"] = "others.sim.example".into();
    other["spec"]["names"]["plural"] = "others".into();
    let made = client.post(DEFINITIONS, other).await.ok();
    assert_eq!(made["status"]["conditions"][0]["status"], "False", "{made}");
}

const SERVICES: &str = "/apis/apiregistration.k8s.io/v1/apiservices";

/// What a kube-apiserver 1.36 was seen to do.
#[tokio::test(start_paused = true)]
async fn definitions_have_their_versions_registered() {
    let with = Sim::builder().controllers([Controller::BootstrapObjects]);
    let client = Client::new(with.build().unwrap());
    let schema = json!({"openAPIV3Schema": {"type": "object"}});
    let definition = |plural: &str| {
        json!({"metadata": {"name": format!("{plural}.reg.example")}, "spec": {
            "group": "reg.example", "scope": "Cluster", "names": {"plural": plural, "kind": plural},
            "versions": [
                {"name": "v1", "served": true, "storage": true, "schema": schema},
                {"name": "v2", "served": false, "storage": false, "schema": schema},
            ],
        }})
    };
    let registered = async || {
        let all = client.get(SERVICES).await.names();
        all.into_iter()
            .filter(|name| name.ends_with(".reg.example"))
            .collect::<Vec<_>>()
    };
    client.post(DEFINITIONS, definition("as")).await.ok();
    client.post(DEFINITIONS, definition("bs")).await.ok();
    assert_eq!(registered().await, ["v1.reg.example"]);
    let path = format!("{SERVICES}/v1.reg.example");
    let service = client.get(&path).await.ok();
    let spec = json!({"group": "reg.example", "groupPriorityMinimum": 1000, "version": "v1", "versionPriority": 100});
    assert_eq!(service["spec"], spec);
    assert_eq!(
        service["metadata"]["labels"],
        json!({"kube-aggregator.kubernetes.io/automanaged": "true"})
    );
    assert_eq!(service["status"]["conditions"][0]["reason"], "Local");

    // What is changed or removed comes again.
    client
        .merge(&path, json!({"spec": {"versionPriority": 7}}))
        .await
        .ok();
    assert_eq!(client.get(&path).await.ok()["spec"], spec);
    client.delete(&path, json!({})).await.ok();
    assert_eq!(registered().await, ["v1.reg.example"]);

    let serve = |served: bool| json!([{"op": "replace", "path": "/spec/versions/1/served", "value": served}]);
    let of_a = format!("{DEFINITIONS}/as.reg.example");
    client
        .patch(&of_a, "application/json-patch+json", serve(true))
        .await
        .ok();
    assert_eq!(registered().await, ["v1.reg.example", "v2.reg.example"]);
    client
        .patch(&of_a, "application/json-patch+json", serve(false))
        .await
        .ok();
    assert_eq!(registered().await, ["v1.reg.example"]);
    client.delete(&of_a, json!({})).await.ok();
    tokio::time::sleep(MOMENT).await;
    assert_eq!(
        registered().await,
        ["v1.reg.example"],
        "the other definition serves it, too"
    );
    // One that is not the server's to keep stays.
    client
        .merge(&path, json!({"metadata": {"labels": null}}))
        .await
        .ok();
    client
        .delete(&format!("{DEFINITIONS}/bs.reg.example"), json!({}))
        .await
        .ok();
    tokio::time::sleep(MOMENT).await;
    assert_eq!(client.get(DEFINITIONS).await.names(), [""; 0]);
    assert_eq!(registered().await, ["v1.reg.example"]);
}

/// An APIService of a version of `a.io`, with this in its spec.
fn api_service(version: &str, rest: Value) -> Value {
    let mut spec =
        json!({"group": "a.io", "version": version, "groupPriorityMinimum": 20000, "versionPriority": 1000});
    for (name, value) in rest.as_object().unwrap() {
        spec[name] = value.clone();
    }
    json!({"metadata": {"name": format!("{version}.{}", spec["group"].as_str().unwrap())}, "spec": spec})
}

#[tokio::test]
async fn an_api_service_has_a_port_and_no_generation() {
    let client = Client::empty();
    let service = api_service("v1", json!({"service": {"name": "x", "namespace": "y"}}));
    let created = client.post(SERVICES, service).await.ok();
    assert_eq!(created["spec"]["service"]["port"], 443);
    assert_eq!(created["metadata"].get("generation"), None);
    let path = format!("{SERVICES}/v1.a.io");
    let patch = json!({"spec": {"versionPriority": 7, "service": {"port": null}}});
    let changed = client.merge(&path, patch).await.ok();
    assert_eq!(
        (
            &changed["spec"]["service"]["port"],
            &changed["spec"]["versionPriority"]
        ),
        (&json!(443), &json!(7))
    );
    assert_eq!(changed["metadata"].get("generation"), None);
}

#[tokio::test]
async fn an_api_service_that_is_wrong_is_refused() {
    const GROUP_PRIORITY: &str =
        "spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000";
    const PRIORITY: &str = "spec.versionPriority: Invalid value: 0: must be positive and less than 1000";
    const NAMESPACE: &str = "spec.service.namespace: Required value";
    const NAME: &str = "spec.service.name: Required value";
    const BOTH: &str =
        "spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present";
    let client = Client::empty();
    let none = json!({"groupPriorityMinimum": null, "versionPriority": null, "service": {"name": "", "namespace": "y"},
        "insecureSkipTLSVerify": true, "caBundle": "YQ=="});
    let port =
        "spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive";
    let group = "spec.group: Required value: only v1 may have an empty group and it better be legacy kube";
    let local = [
        "spec.caBundle: Invalid value: \"1 bytes\": local APIServices may not have a caBundle",
        "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify",
    ];
    for (version, rest, causes) in [
        ("v1", none, &[GROUP_PRIORITY, PRIORITY, NAME, BOTH][..]),
        ("v1", json!({"service": {"port": 0}}), &[NAMESPACE, NAME, port]),
        ("v2", json!({"group": ""}), &[group]),
        (
            "v1",
            json!({"caBundle": "YQ==", "insecureSkipTLSVerify": true}),
            &local,
        ),
    ] {
        let service = api_service(version, rest);
        let name = service["metadata"]["name"].as_str().unwrap().to_owned();
        let (code, _, message) = client.post(SERVICES, service).await.refusal();
        let all = match causes {
            [one] => (*one).to_owned(),
            _ => format!("[{}]", causes.join(", ")),
        };
        let wanted = format!("APIService.apiregistration.k8s.io {name:?} is invalid: {all}");
        assert_eq!((code, message), (422, wanted));
    }
    client.post(SERVICES, api_service("v1", json!({}))).await.ok();
    let path = format!("{SERVICES}/v1.a.io");
    for (patch, fields) in [
        (json!({"versionPriority": null}), &["spec.versionPriority"][..]),
        (json!({"group": "b.io"}), &["metadata.name"]),
        (json!({"group": "B_"}), &["metadata.name", "spec.group"]),
        (json!({"version": "V1"}), &["metadata.name", "spec.version"]),
    ] {
        let refused = client.merge(&path, json!({"spec": patch})).await;
        assert_eq!(refused.refused_fields(), fields);
    }
}
