//! Conversion webhooks that answer what they should not, late, or not at all. The messages are those of a kube-apiserver 1.36.3.

use std::time::Duration;

use kube_sim::Sim;
use serde_json::{Value, json};

use crate::client::{Client, WIDGETS, widget};
use crate::conversions::{converted, converter, definition, long};
use crate::webhook::Webhook;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const SAID: &str = "conversion webhook for sim.example/v1, Kind=Widget";

fn v2() -> String {
    WIDGETS.replace("/v1/", "/v2/")
}

/// The message with which a widget is refused, of which the webhook makes this.
async fn message_for(answer: impl Fn(&Value) -> Value + Send + Sync + 'static) -> String {
    let webhook = Webhook::new(answer).await;
    let client = Client::new(Sim::builder().crd(definition(&webhook)).build().unwrap());
    let mut made = widget("a", 3);
    made["metadata"]["labels"] = json!({"a": "b"});
    client.post(WIDGETS, made).await.ok();
    let refused = client.get(&format!("{}/a", v2())).await;
    let (code, _, message) = refused.refusal();
    assert_eq!(code, 500, "{message}");
    let list = client.get(&v2()).await.refusal();
    // Each request has a uid of its own.
    if !message.contains("response.uid") {
        assert_eq!(list, (code, String::new(), message.clone()));
    }
    message
}

/// What the webhook makes of the one object, at a pointer.
async fn message_with(pointer: &'static str, value: Value) -> String {
    message_for(move |request| {
        let mut object = converted(&request["objects"][0], &request["desiredAPIVersion"]).unwrap();
        match object.pointer_mut(pointer) {
            Some(there) => *there = value.clone(),
            None => object["metadata"][pointer.rsplit('/').next().unwrap()] = value.clone(),
        }
        json!({"convertedObjects": [object], "result": {"status": "Success"}})
    })
    .await
}

#[tokio::test]
async fn what_is_no_answer_of_a_webhook_is_told() {
    let body = |body: &'static str| move |_: &Value| json!({"body": body});
    let with_code = |code: u64, kind: &'static str, body: &'static str| move |_: &Value| json!({"body": body, "code": code, "type": kind});
    let no_struct = "couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type \
                     struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \
                     \"json:\\\"kind,omitempty\\\"\" }";
    let refusal = r#"{"apiVersion":"v1","kind":"Status","status":"Failure","message":"no more","code":409}"#;
    for (message, why) in [
        (message_for(body("not json")).await, no_struct),
        (
            message_for(body("{\"a\":")).await,
            "couldn't get version/kind; json parse error: unexpected end of JSON input",
        ),
        (
            message_for(body("")).await,
            "0-length response with status code: 200 and content type: application/json",
        ),
        (
            message_for(body("{}")).await,
            "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=",
        ),
        (
            message_for(body(r#"{"kind": 5}"#)).await,
            "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string",
        ),
        (
            message_for(body(refusal)).await,
            "converting (v1.Status) to (v1.ConversionReview): unknown conversion",
        ),
        (
            message_for(with_code(409, "application/json", refusal)).await,
            "no more",
        ),
        (
            message_for(with_code(409, "text/plain", "x")).await,
            "the server reported a conflict",
        ),
        (
            message_for(with_code(403, "text/plain", "denied")).await,
            "denied",
        ),
        (
            message_for(with_code(500, "text/plain", "a \"b\"")).await,
            "an error on the server (\"a \\\"b\\\"\") has prevented the request from succeeding",
        ),
        (
            message_for(with_code(418, "text/plain", "x")).await,
            "the server responded with the status code 418 but did not return more information",
        ),
    ] {
        assert_eq!(message, format!("{SAID} failed: {why}"));
    }
}

#[tokio::test]
async fn a_review_is_of_its_kind_and_its_fields_of_their_types() {
    let whole = |whole: Value| move |_: &Value| json!({"whole": whole});
    let response = |response: Value| move |_: &Value| response.clone();
    for (message, why) in [
        (
            message_for(whole(json!({"kind": "Other"}))).await,
            "no kind \"Other\" is registered for version \"apiextensions.k8s.io/v1\" in scheme \"pkg/runtime/scheme.go:111\"",
        ),
        (
            message_for(whole(json!({"apiVersion": "apiextensions.k8s.io/v1beta1"}))).await,
            "converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion",
        ),
        (
            message_for(whole(json!({"response": null}))).await,
            "no response provided",
        ),
        (
            message_for(response(json!({"uid": 5}))).await,
            "json: cannot unmarshal number into Go struct field ConversionResponse.response.uid of type types.UID",
        ),
        (
            message_for(response(json!({"convertedObjects": {}}))).await,
            "json: cannot unmarshal object into Go struct field ConversionResponse.response.convertedObjects of type []runtime.RawExtension",
        ),
        (
            message_for(response(json!({"result": {"status": "Failure"}}))).await,
            "response.result.status was 'Failure', not 'Success'",
        ),
    ] {
        assert_eq!(message, format!("{SAID} failed: {why}"));
    }
    let other = message_for(response(json!({"uid": "other"}))).await;
    assert!(other.ends_with(", got \"other\""), "{other}");
}

#[tokio::test]
async fn a_webhook_returns_the_objects_that_it_was_sent() {
    let objects = |objects: Value| move |_: &Value| json!({"convertedObjects": objects, "result": {"status": "Success"}});
    for (message, why) in [
        (
            message_for(objects(json!([]))).await,
            format!("{SAID} returned 0 objects, expected 1"),
        ),
        (
            message_for(objects(json!([{}, {}]))).await,
            format!("{SAID} returned 2 objects, expected 1"),
        ),
        (
            message_for(objects(json!([null]))).await,
            "unexpected end of JSON input".into(),
        ),
        (
            message_for(objects(json!(["a"]))).await,
            "json: cannot unmarshal string into Go value of type map[string]interface {}".into(),
        ),
        (
            message_for(objects(json!([{}]))).await,
            "Object 'Kind' is missing in '{}'".into(),
        ),
        (
            message_with("/apiVersion", json!("x/v9")).await,
            format!(
                "{SAID} returned invalid object at index 0: invalid groupVersion (expected sim.example/v2, received x/v9)"
            ),
        ),
        (
            message_with("/kind", json!("Other")).await,
            format!(
                "{SAID} returned invalid object at index 0: invalid kind (expected Widget, received Other)"
            ),
        ),
        (
            message_with("/metadata/name", json!("b")).await,
            format!("{SAID} returned invalid object: must have the same name: a != b"),
        ),
        (
            message_with("/metadata", json!({})).await,
            format!("{SAID} returned invalid object: must have the same name: a != "),
        ),
    ] {
        assert_eq!(message, why);
    }
}

#[tokio::test]
async fn a_webhook_gives_no_labels_that_are_none() {
    for (field, value, why) in [
        (
            "/metadata/labels",
            json!("x"),
            "invalid metadata.labels of type string in converted object",
        ),
        (
            "/metadata/labels",
            json!({"a": 1}),
            "metadata.labels[a] must be a string, but is int64 in converted object",
        ),
        (
            "/metadata/labels",
            json!({"a": "b c"}),
            "metadata.labels: Invalid value: \"b c\": a valid label must be",
        ),
        (
            "/metadata/labels",
            json!({"a": "b c", "d": "%"}),
            "[metadata.labels: Invalid value: \"b c\": a valid label must be",
        ),
        (
            "/metadata/annotations",
            json!({"a b": ""}),
            "metadata.annotation: Invalid value: \"a b\": name part must consist of",
        ),
        (
            "/metadata/annotations",
            json!({"a": "x".repeat(300_000)}),
            "metadata.annotation: Too long: may not be more than 262144 bytes",
        ),
    ] {
        let message = message_with(field, value).await;
        let expected = format!("{SAID} returned invalid metadata: {why}");
        assert!(message.starts_with(&expected), "{message}");
    }
}

#[tokio::test]
async fn a_list_is_converted_that_is_larger_than_an_answer() {
    let webhook = converter().await;
    let client = Client::new(Sim::builder().crd(definition(&webhook)).build().unwrap());
    for n in 0..12 {
        let mut large = widget(&format!("a{n:02}"), n);
        large["metadata"]["annotations"] = json!({"a": "x".repeat(200_000)});
        large["spec"] = json!({"size": n});
        client.post(WIDGETS, large).await.ok();
    }
    let list = client.get(&v2()).await.ok();
    assert_eq!(list["items"].as_array().unwrap().len(), 12);
    assert_eq!(list["items"][11]["spec"], json!({"length": "11cm"}));
    // Not all at once, as an answer may be no larger than two requests.
    let asked = webhook.asked();
    assert_eq!(asked.len(), 3);
    assert!(asked.iter().all(|asked| asked.to_string().len() < 1_200_000));
}

#[tokio::test]
async fn a_page_has_only_its_own_objects_converted() {
    let webhook = converter().await;
    let client = Client::new(Sim::builder().crd(definition(&webhook)).build().unwrap());
    for n in 0..20 {
        client.post(WIDGETS, widget(&format!("a{n:02}"), n)).await.ok();
    }
    let page = client.get(&format!("{}?limit=3", v2())).await.ok();
    assert_eq!(page["metadata"]["remainingItemCount"], 17);
    let converted: usize = webhook
        .asked()
        .iter()
        .map(|asked| asked["objects"].as_array().unwrap().len())
        .sum();
    assert_eq!(converted, 3);
}

#[tokio::test]
async fn a_silent_webhook_holds_only_those_who_need_it() {
    let webhook = Webhook::new(|_| json!({"silent": true})).await;
    let client = Client::new(Sim::builder().crd(definition(&webhook)).build().unwrap());
    client.post(WIDGETS, widget("a", 3)).await.ok();
    let mut watch = client
        .watch(&format!("{WIDGETS}?watch=1&resourceVersion=0"))
        .await;
    let (all, one) = (v2(), format!("{}/a", v2()));
    let hung = async {
        tokio::join!(
            client.get(&one),
            client.merge(&one, json!({"spec": {"length": "4cm"}})),
            client.post(&all, long("b", "4cm")),
        )
    };
    let free = async {
        client
            .merge(&format!("{WIDGETS}/a"), json!({"spec": {"size": 5}}))
            .await
            .ok();
        client.delete(&format!("{WIDGETS}/a"), Value::Null).await.ok();
        for expected in ["ADDED", "MODIFIED", "DELETED"] {
            assert_eq!(watch.event().await.0, expected);
        }
    };
    tokio::select! {
        _ = hung => panic!("nothing is answered without the webhook"),
        () = free => {}
    }
    let late = client
        .merge(&format!("{one}?timeout=1s"), json!({"spec": {"length": "4cm"}}))
        .await;
    assert_eq!(late.code, 404, "{:?}", late.refusal());
    client.post(WIDGETS, widget("a", 3)).await.ok();
    let late = client
        .merge(&format!("{one}?timeout=1s"), json!({"spec": {"length": "4cm"}}))
        .await;
    assert_eq!(late.refusal().1, "Timeout");
    assert_eq!(client.get(&format!("{WIDGETS}/a")).await.ok()["spec"]["size"], 3);
}

#[tokio::test]
async fn writes_in_two_versions_at_once_lose_nothing() {
    let webhook = converter().await;
    let client = Client::new(Sim::builder().crd(definition(&webhook)).build().unwrap());
    client.post(WIDGETS, widget("a", 0)).await.ok();
    let label = async |path: String, n: usize| {
        let labels = json!({"metadata": {"labels": {format!("l{n}"): "x"}}});
        client.merge(&path, labels).await.ok();
    };
    let writes = (0..12).map(|n| {
        let path = if n % 2 == 0 { v2() } else { WIDGETS.to_owned() };
        label(format!("{path}/a"), n)
    });
    futures::future::join_all(writes).await;
    let left = client.get(&format!("{}/a", v2())).await.ok();
    assert_eq!(left["metadata"]["labels"].as_object().unwrap().len(), 12);
    assert_eq!(left["spec"], json!({"length": "0cm"}));
}

#[tokio::test]
async fn objects_survive_a_change_of_the_storage_version() {
    let webhook = converter().await;
    let client = Client::new(Sim::builder().crd(definition(&webhook)).build().unwrap());
    client.post(WIDGETS, widget("a", 3)).await.ok();
    client.post(&v2(), long("b", "4cm")).await.ok();
    let mut watch = client.watch(&format!("{}?watch=1&resourceVersion=0", v2())).await;
    for length in ["3cm", "4cm"] {
        let event = watch.next().await.unwrap();
        assert_eq!(event["object"]["spec"], json!({"length": length}));
    }
    let mut versions = definition(&webhook)["spec"]["versions"].clone();
    versions[0]["storage"] = false.into();
    versions[1]["storage"] = true.into();
    let path = format!("{DEFINITIONS}/widgets.sim.example");
    client
        .merge(&path, json!({"spec": {"versions": versions}}))
        .await
        .ok();
    for (path, expected) in [
        (WIDGETS.to_owned(), json!([{"size": 3}, {"size": 4}])),
        (v2(), json!([{"length": "3cm"}, {"length": "4cm"}])),
    ] {
        let list = client.get(&path).await.ok();
        let specs: Vec<_> = list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["spec"].clone())
            .collect();
        assert_eq!(Value::from(specs), expected);
    }
    client
        .merge(&format!("{WIDGETS}/a"), json!({"spec": {"size": 9}}))
        .await
        .ok();
    let asked = webhook.asked().len();
    assert_eq!(
        client.get(&format!("{}/a", v2())).await.ok()["spec"],
        json!({"length": "9cm"})
    );
    assert_eq!(webhook.asked().len(), asked, "it is stored in version 2 now");
}

#[tokio::test]
async fn nothing_is_served_with_authorities_that_are_none() {
    let webhook = converter().await;
    let mut broken = definition(&webhook);
    let bundle = "/spec/conversion/webhook/clientConfig/caBundle";
    *broken.pointer_mut(bundle).unwrap() = json!("Z2FyYmFnZQ==");
    let client = Client::empty();
    client.post(DEFINITIONS, broken).await.ok();
    let why = "Internal error occurred: error resolving resource";
    for refused in [
        client.get(WIDGETS).await,
        client.post(WIDGETS, widget("a", 3)).await,
        client.delete(&format!("{}/a", v2()), Value::Null).await,
    ] {
        assert_eq!(refused.refusal(), (500, "InternalError".into(), why.into()));
    }
    let path = format!("{DEFINITIONS}/widgets.sim.example");
    let conversion = definition(&webhook)["spec"]["conversion"].clone();
    client
        .merge(&path, json!({"spec": {"conversion": conversion}}))
        .await
        .ok();
    client.post(WIDGETS, widget("a", 3)).await.ok();
    // What could be read stays so.
    let bundle = json!({"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": "Z2FyYmFnZQ=="}}}}});
    let refused = client.merge(&path, bundle).await;
    assert!(
        refused.refusal().2.ends_with(
            "spec.conversion.webhookClientConfig.caBundle: Invalid value: \"Z2FyYmFnZQ==\": unable to load root certificates: \
             unable to parse bytes as PEM block"
        ),
        "{:?}",
        refused.refusal()
    );
}

#[tokio::test]
async fn a_silent_webhook_is_given_up_after_30_seconds() {
    let webhook = Webhook::new(|_| json!({"silent": true})).await;
    let client = Client::new(Sim::builder().crd(definition(&webhook)).build().unwrap());
    client.post(WIDGETS, widget("a", 3)).await.ok();
    let asked = webhook.asked();
    let one = format!("{}/a", v2());
    let get = client.get(&one);
    tokio::pin!(get);
    // The webhook is asked in real time, then the clock is ours.
    while webhook.asked().len() == asked.len() {
        let waited = tokio::time::timeout(Duration::from_millis(5), &mut get).await;
        assert!(waited.is_err());
    }
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(31)).await;
    let message = get.await.refusal().2;
    let late = "net/http: request canceled (Client.Timeout exceeded while awaiting headers)";
    assert!(message.ends_with(late), "{message}");
}
