//! Webhooks and policies whose rules name another version than the request: they see that one. What they see is what a real server shows
//! them.

use kube_sim::Sim;
use serde_json::{Value, json};

use crate::client::{Client, WIDGETS, widget};
use crate::conversions::{converted, converter, definition, long};
use crate::webhook::{Webhook, configure, hook, patch};

const HPAS: &str = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
const EVENTS: &str = "/api/v1/namespaces/default/events";
const REGISTRATION: &str = "/apis/admissionregistration.k8s.io/v1";

fn rules(group: &str, versions: &[&str], resources: &[&str]) -> Value {
    json!([{"apiGroups": [group], "apiVersions": versions, "operations": ["*"], "resources": resources}])
}

/// A webhook of this version of widgets.
fn of_widgets(name: &str, webhook: &Webhook, version: &str) -> Value {
    let rules = rules("sim.example", &[version], &["widgets", "widgets/status"]);
    hook(name, webhook.client_config(), json!({"rules": rules}))
}

/// A cluster whose widgets are converted, and who converts them.
async fn cluster() -> (Client, Webhook) {
    let webhook = converter().await;
    let client = Client::new(Sim::builder().crd(definition(&webhook)).build().unwrap());
    (client, webhook)
}

/// One that lengthens widgets of version 2.
async fn lengthens() -> Webhook {
    Webhook::new(|_| patch(json!([{"op": "replace", "path": "/spec/length", "value": "7cm"}]))).await
}

#[tokio::test]
async fn a_webhook_is_shown_the_version_that_its_rules_name() {
    let (client, _converter) = cluster().await;
    let webhook = Webhook::allows().await;
    configure(
        &client,
        "Validating",
        "v",
        json!([of_widgets("v", &webhook, "v2")]),
    )
    .await;
    client.post(WIDGETS, widget("a", 3)).await.ok();
    let one = format!("{WIDGETS}/a");
    client.merge(&one, json!({"spec": {"size": 4}})).await.ok();
    client
        .merge(&format!("{one}/status"), json!({"status": {"ready": true}}))
        .await
        .ok();
    client.delete(&one, Value::Null).await.ok();
    let kind = |version: &str| json!({"group": "sim.example", "version": version, "kind": "Widget"});
    let resource = |version: &str| json!({"group": "sim.example", "version": version, "resource": "widgets"});
    let asked = webhook.asked();
    let lengths = asked.iter().map(|asked| {
        assert_eq!(
            [&asked["kind"], &asked["requestKind"]],
            [&kind("v2"), &kind("v1")]
        );
        assert_eq!(
            [&asked["resource"], &asked["requestResource"]],
            [&resource("v2"), &resource("v1")]
        );
        let length = |name: &str| {
            let object = &asked[name];
            assert!(
                object.is_null() || object["apiVersion"] == "sim.example/v2",
                "{object}"
            );
            object["spec"]["length"].as_str().unwrap_or("").to_owned()
        };
        (length("object"), length("oldObject"))
    });
    let lengths: Vec<_> = lengths.collect();
    let wanted = [("3cm", ""), ("4cm", "3cm"), ("4cm", "4cm"), ("", "4cm")];
    assert_eq!(lengths, wanted.map(|(new, old)| (new.to_owned(), old.to_owned())));
    // What is validated is what will be there.
    assert_eq!(asked[1]["object"]["metadata"]["generation"], 2);
}

#[tokio::test]
async fn what_a_webhook_changes_in_its_version_is_converted_back() {
    let (client, _converter) = cluster().await;
    let (first, second, last) = (lengthens().await, Webhook::allows().await, lengthens().await);
    let mut again = of_widgets("c", &last, "v2");
    again["reinvocationPolicy"] = "IfNeeded".into();
    let hooks = json!([
        of_widgets("a", &first, "v2"),
        of_widgets("b", &second, "v1"),
        again
    ]);
    configure(&client, "Mutating", "m", hooks).await;
    let made = client.post(WIDGETS, widget("a", 3)).await.ok();
    assert_eq!(
        (&made["apiVersion"], &made["spec"]),
        (&json!("sim.example/v1"), &json!({"size": 7}))
    );
    // The second one is shown in its version what the first one has changed.
    assert_eq!(second.asked()[0]["object"]["spec"], json!({"size": 7}));
    let changed = client
        .merge(&format!("{WIDGETS}/a"), json!({"spec": {"size": 9}}))
        .await
        .ok();
    assert_eq!(changed["spec"], json!({"size": 7}));
    let asked = last.asked().pop().unwrap();
    assert_eq!(asked["oldObject"]["spec"], json!({"length": "7cm"}));
}

#[tokio::test]
async fn the_first_rule_that_names_a_version_decides() {
    let (client, _converter) = cluster().await;
    let webhook = Webhook::allows().await;
    let config = webhook.client_config();
    let rule = |versions: &[&str]| rules("sim.example", versions, &["widgets"])[0].clone();
    let hooks = json!([
        hook(
            "own",
            config.clone(),
            json!({"rules": [rule(&["v2"]), rule(&["v1"])]})
        ),
        hook(
            "exact",
            config.clone(),
            json!({"matchPolicy": "Exact", "rules": [rule(&["v2"])]})
        ),
    ]);
    configure(&client, "Validating", "v", hooks).await;
    client.post(WIDGETS, widget("a", 3)).await.ok();
    let asked = webhook.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0]["object"]["spec"], json!({"size": 3}));
}

#[tokio::test]
async fn what_cannot_be_converted_for_a_webhook_is_refused() {
    let failing = Webhook::new(|request| {
        let objects = request["objects"].as_array().unwrap().iter();
        let wanted = &request["desiredAPIVersion"];
        let fails = |object: &Value| object["spec"]["size"] == 13 || object["spec"]["length"] == "13cm";
        match objects.clone().any(fails) {
            true => json!({"result": {"status": "Failed", "message": "unlucky"}}),
            false => {
                let converted: Option<Vec<Value>> = objects.map(|object| converted(object, wanted)).collect();
                json!({"convertedObjects": converted, "result": {"status": "Success"}})
            }
        }
    })
    .await;
    let client = Client::new(Sim::builder().crd(definition(&failing)).build().unwrap());
    let why = |from: &str| format!("conversion webhook for sim.example/{from}, Kind=Widget failed: unlucky");
    let webhook = Webhook::allows().await;
    let mut lenient = of_widgets("v", &webhook, "v2");
    lenient["failurePolicy"] = "Ignore".into();
    configure(&client, "Validating", "v", json!([lenient])).await;
    let refused = client.post(WIDGETS, widget("a", 13)).await.refusal();
    let message = format!("Internal error occurred: {}", why("v1"));
    assert_eq!(refused, (500, "InternalError".to_owned(), message));

    let unlucky =
        Webhook::new(|_| patch(json!([{"op": "replace", "path": "/spec/length", "value": "13cm"}]))).await;
    configure(&client, "Mutating", "m", json!([of_widgets("m", &unlucky, "v2")])).await;
    let refused = client.post(WIDGETS, widget("a", 13)).await.refusal();
    let message = format!("Internal error occurred: Internal error occurred: {}", why("v1"));
    assert_eq!(refused, (500, "InternalError".to_owned(), message));
    let refused = client.post(WIDGETS, widget("a", 3)).await;
    let (code, _, message) = refused.refusal();
    assert_eq!((code, message), (500, why("v2")));
    assert!(webhook.asked().is_empty());
}

#[tokio::test]
async fn policies_see_the_version_that_their_rules_name() {
    let (client, _converter) = cluster().await;
    let constraints = json!({"resourceRules": rules("sim.example", &["v2"], &["widgets"])});
    let bind = async |sort: &str, spec: Value, binding: Value| {
        let path = format!("{REGISTRATION}/{sort}admissionpolicies");
        client
            .post(&path, json!({"metadata": {"name": "p"}, "spec": spec}))
            .await
            .ok();
        let path = format!("{REGISTRATION}/{sort}admissionpolicybindings");
        client
            .post(&path, json!({"metadata": {"name": "p"}, "spec": binding}))
            .await
            .ok();
    };
    let said = "object.spec.length + ' ' + request.kind.version + ' ' + request.requestKind.version";
    let spec = json!({
        "matchConstraints": constraints,
        "validations": [{"expression": "object.spec.length != '3cm'", "messageExpression": said}],
    });
    bind(
        "validating",
        spec,
        json!({"policyName": "p", "validationActions": ["Deny"]}),
    )
    .await;
    let (code, _, message) = client.post(WIDGETS, widget("a", 3)).await.refusal();
    assert_eq!(code, 422);
    assert!(message.ends_with("denied request: 3cm v2 v1"), "{message}");

    let expression = "[JSONPatch{op: 'replace', path: '/spec/length', value: '11cm'}]";
    let spec = json!({
        "matchConstraints": constraints, "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}],
    });
    bind("mutating", spec, json!({"policyName": "p"})).await;
    let made = client.post(WIDGETS, widget("a", 3)).await.ok();
    assert_eq!(
        (&made["apiVersion"], &made["spec"]),
        (&json!("sim.example/v1"), &json!({"size": 11}))
    );
    let v2 = WIDGETS.replace("/v1/", "/v2/");
    let made = client.post(&v2, long("b", "3cm")).await.ok();
    assert_eq!(made["spec"], json!({"length": "11cm"}));
}

#[tokio::test]
async fn built_in_kinds_are_converted_too() {
    let client = Client::empty();
    let scales = Webhook::new(|_| {
        patch(json!([
            {"op": "replace", "path": "/spec/maxReplicas", "value": 8},
            {"op": "replace", "path": "/spec/metrics/0/resource/target/averageUtilization", "value": 52},
        ]))
    })
    .await;
    let notes =
        Webhook::new(|_| patch(json!([{"op": "replace", "path": "/note", "value": "changed"}]))).await;
    let hooks = json!([
        hook(
            "a",
            scales.client_config(),
            json!({"rules": rules("autoscaling", &["v2"], &["horizontalpodautoscalers"])})
        ),
        hook(
            "b",
            notes.client_config(),
            json!({"rules": rules("events.k8s.io", &["v1"], &["events"])})
        ),
    ]);
    configure(&client, "Mutating", "m", hooks).await;
    let made = client
        .post(
            HPAS,
            json!({
                "apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "h"}, "spec": {
                    "maxReplicas": 3, "targetCPUUtilizationPercentage": 40,
                    "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
                },
            }),
        )
        .await
        .ok();
    let spec = &made["spec"];
    assert_eq!(
        [
            &made["apiVersion"],
            &spec["maxReplicas"],
            &spec["targetCPUUtilizationPercentage"]
        ],
        [&json!("autoscaling/v1"), &json!(8), &json!(52)]
    );
    let event = json!({
        "metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}, "message": "hello",
    });
    let made = client.post(EVENTS, event).await.ok();
    assert_eq!(made["message"], "changed");
    let asked = notes.asked().pop().unwrap();
    assert_eq!(
        (
            &asked["kind"]["group"],
            &asked["requestKind"]["group"],
            &asked["object"]["apiVersion"]
        ),
        (&json!("events.k8s.io"), &json!(""), &json!("events.k8s.io/v1"))
    );
    assert_eq!(
        (&asked["object"]["note"], &asked["object"]["regarding"]["name"]),
        (&json!("hello"), &json!("p"))
    );
}
