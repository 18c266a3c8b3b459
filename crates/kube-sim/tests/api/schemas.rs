//! What schemas make of objects. The messages are compared with a real server's by `conformance`; here is what it takes
//! to use them.

use http::Method;
use kube_sim::Sim;
use serde_json::{Value, json};

use crate::client::Client;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const THINGS: &str = "/apis/example.com/v1/namespaces/default/things";

fn definition(versions: Value) -> Value {
    json!({
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
            "versions": versions,
        },
    })
}

fn version(name: &str, properties: Value) -> Value {
    let schema =
        json!({"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}});
    json!({"name": name, "served": true, "storage": name == "v1", "schema": {"openAPIV3Schema": schema}})
}

fn thing(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": name}, "spec": spec})
}

async fn defined(versions: Value) -> Client {
    let client = Client::empty();
    client.post(DEFINITIONS, definition(versions)).await.ok();
    client
}

#[tokio::test]
async fn rules_are_not_asked_about_what_has_no_name() {
    let rule = json!([{"rule": "self != 'a'", "message": "not a"}]);
    let text = json!({"text": {"type": "string", "x-kubernetes-validations": rule}});
    let client = defined(json!([version("v1", text)])).await;
    let (code, _, message) = client
        .post(THINGS, thing("", json!({"text": "a"})))
        .await
        .refusal();
    assert_eq!(code, 422);
    let unasked = "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the \
                   existing errors to complete validation";
    let wanted = format!(
        "Thing.example.com \"\" is invalid: [metadata.name: Required value: name or generateName is required, {unasked}]"
    );
    assert_eq!(message, wanted);
}

#[tokio::test]
async fn unknown_fields_are_dropped_with_a_warning() {
    let client = defined(json!([version("v1", json!({"size": {"type": "integer"}}))])).await;
    let answer = client
        .post(THINGS, thing("a", json!({"size": 1, "say": "\"hi\""})))
        .await;
    assert_eq!(answer.headers["warning"], r#"299 - "unknown field \"spec.say\"""#);
    assert_eq!(answer.ok()["spec"], json!({"size": 1}));
    let silent = format!("{THINGS}?fieldValidation=Ignore");
    let answer = client.post(&silent, thing("b", json!({"say": "hi"}))).await;
    assert!(!answer.headers.contains_key("warning"));
    let strict = format!("{THINGS}?fieldValidation=Strict");
    let (code, _, message) = client
        .post(&strict, thing("c", json!({"say": "hi"})))
        .await
        .refusal();
    let expected = "Thing in version \"v1\" cannot be handled as a Thing: strict decoding error: unknown field \"spec.say\"";
    assert_eq!((code, message.as_str()), (400, expected));
}

#[tokio::test]
async fn a_version_shows_only_the_fields_of_its_schema() {
    let both = json!({"size": {"type": "integer"}, "colour": {"type": "string", "default": "red"}});
    let client = defined(json!([
        version("v1", both),
        version(
            "v2",
            json!({"size": {"type": "integer"}, "shape": {"type": "string", "default": "round"}})
        ),
    ]))
    .await;
    let made = client.post(THINGS, thing("a", json!({"size": 1}))).await.ok();
    assert_eq!(made["spec"], json!({"size": 1, "colour": "red"}));
    let other = client
        .get(&format!("{}/a", THINGS.replace("/v1/", "/v2/")))
        .await
        .ok();
    // Defaults are those of the version in which an object is written, and of the one in which it is stored.
    assert_eq!(other["spec"], json!({"size": 1}));
    let list = client.get(&THINGS.replace("/v1/", "/v2/")).await.ok();
    assert_eq!(list["items"][0]["spec"], other["spec"]);
}

#[tokio::test]
async fn a_store_takes_what_a_client_may_not_write() {
    let sim = Sim::builder().build().unwrap();
    let mut without = definition(json!([{"name": "v1", "served": true, "storage": true}]));
    without["apiVersion"] = "apiextensions.k8s.io/v1".into();
    without["kind"] = "CustomResourceDefinition".into();
    let client = Client::new(sim.clone());
    let refused = client.post(DEFINITIONS, without.clone()).await.refusal();
    assert_eq!(refused.0, 422);
    sim.store().create(without).unwrap();
    let made = client
        .post(THINGS, thing("a", json!({"any": [{"thing": 1}]})))
        .await
        .ok();
    assert_eq!(made["spec"], json!({"any": [{"thing": 1}]}));
}

#[tokio::test]
async fn autoscalers_are_served_in_both_versions() {
    let client = Client::empty();
    let path =
        |version: &str| format!("/apis/autoscaling/{version}/namespaces/default/horizontalpodautoscalers");
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"});
    let spec = json!({
        "maxReplicas": 5, "minReplicas": 1, "scaleTargetRef": target, "targetCPUUtilizationPercentage": 70,
    });
    let made = client
        .post(&path("v1"), json!({"metadata": {"name": "a"}, "spec": spec}))
        .await
        .ok();
    assert_eq!(
        (&made["apiVersion"], &made["spec"]),
        (&json!("autoscaling/v1"), &spec)
    );
    let v2 = client.get(&format!("{}/a", path("v2"))).await.ok();
    let metric = &v2["spec"]["metrics"][0]["resource"];
    assert_eq!(
        metric["target"],
        json!({"type": "Utilization", "averageUtilization": 70})
    );
    let one = format!("{}/a", path("v1"));
    let patch = json!({"spec": {"targetCPUUtilizationPercentage": 80}});
    assert_eq!(
        client.merge(&one, patch).await.ok()["spec"]["targetCPUUtilizationPercentage"],
        80
    );
    let list = client.get(&path("v2")).await.ok();
    let metric = &list["items"][0]["spec"]["metrics"][0]["resource"]["target"];
    assert_eq!(metric["averageUtilization"], 80);
}

#[tokio::test]
async fn discovery_tells_the_storage_version_by_its_hash() {
    let client = Client::empty();
    let group = client.get("/apis/apps/v1").await.ok();
    let named = |name: &str| {
        let resources = group["resources"].as_array().unwrap();
        resources
            .iter()
            .find(|resource| resource["name"] == name)
            .unwrap()
            .clone()
    };
    // As a real server has it.
    assert_eq!(named("daemonsets")["storageVersionHash"], "dd7pWHUlMKQ=");
    assert!(named("daemonsets/status")["storageVersionHash"].is_null());
}

#[tokio::test]
async fn reviews_have_no_tables() {
    let client = Client::empty();
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let headers = [("content-type", "application/json"), ("accept", table)];
    let review = json!({"spec": {"nonResourceAttributes": {"verb": "get", "path": "/"}}});
    let answer = client
        .send(Method::POST, path, &headers, review.to_string())
        .await;
    assert_eq!(answer.code, 406);
    assert_eq!(client.post(path, review).await.code, 201);
    assert_eq!(client.post(path, json!({"spec": {}})).await.code, 422);
}

#[tokio::test]
async fn multiples_and_enumerations_are_checked_as_in_go() {
    let tenth = json!({"type": "number", "multipleOf": 0.1});
    let choice = json!({"type": "string", "nullable": true, "enum": ["a", null]});
    let client = defined(json!([version("v1", json!({"tenth": tenth, "choice": choice}))])).await;
    for (name, spec, code) in [
        ("a", json!({"tenth": 0.3}), 201),
        ("b", json!({"tenth": 0.35}), 422),
        ("c", json!({"choice": "a"}), 201),
        ("d", json!({"choice": null}), 422),
    ] {
        let answer = client.post(THINGS, thing(name, spec)).await;
        assert_eq!(answer.code, code, "{name}");
    }
}

#[tokio::test]
async fn a_schema_that_is_too_deep_is_refused() {
    let mut deep = json!({"type": "string"});
    for _ in 0..600 {
        deep = json!({"type": "array", "items": deep});
    }
    let answer = Client::empty()
        .post(
            DEFINITIONS,
            definition(json!([version("v1", json!({"deep": deep}))])),
        )
        .await;
    let (code, _, message) = answer.refusal();
    assert_eq!(code, 422);
    assert!(message.contains("nested too deep"), "{message}");
}

#[tokio::test]
async fn warnings_fit_into_the_headers_of_an_answer() {
    let client = defined(json!([version("v1", json!({}))])).await;
    let names = (0..500).map(|n| (format!("{}-{n}", "long".repeat(50)), json!(1)));
    let answer = client.post(THINGS, thing("a", names.collect())).await;
    let warnings: usize = answer
        .headers
        .get_all("warning")
        .iter()
        .map(|value| value.len())
        .sum();
    assert!((1000..6000).contains(&warnings), "{warnings}");
    answer.ok();
}

#[tokio::test]
async fn urls_are_told_as_by_go() {
    let rule = json!([{"rule": "isURL(self)", "message": "no URL"}]);
    let host = json!([{"rule": "url(self).getHost() == 'none'", "messageExpression": "url(self).getHost()"}]);
    let text = |rules| json!({"type": "string", "maxLength": 25, "x-kubernetes-validations": rules});
    let client = defined(json!([version(
        "v1",
        json!({"url": text(rule), "of": text(host)})
    )]))
    .await;
    // A `#` begins no fragment until it is known that the text is a URL.
    for bad in [
        "http://h:31#f",
        "http://h#f",
        "http://a b@h/",
        "http://a%zzb@h/",
        "http://h%41/",
        "http://::1/",
        "http://a:1:2/",
        "http://[::1]x/",
        "http://[::1%eth0]/",
        "http://[fe80::1%25]/",
        "http://[x]/",
        "http://[1.2.3.4]/",
        "http://a[b]/",
    ] {
        let answer = client.post(THINGS, thing("a", json!({"url": bad}))).await;
        assert!(answer.refusal().2.ends_with(": no URL"), "{bad}");
    }
    let dry = format!("{THINGS}?dryRun=All");
    for good in [
        "http://h/p#f",
        "http://h\"x/",
        "http:p%zz",
        "*",
        "//h:x/p",
        "x://a:b:1/",
        "http://h%c3%a4/",
    ] {
        client.post(&dry, thing("a", json!({"url": good}))).await.ok();
    }
    for (url, host) in [
        ("http://h/p#f", "h"),
        ("//h/p", "h"),
        ("http://h%c3%a4/", "h\u{e4}"),
        ("http://[::1%25eth0]:8/", "[::1%eth0]:8"),
    ] {
        let (.., message) = client
            .post(THINGS, thing("a", json!({"of": url})))
            .await
            .refusal();
        assert!(message.ends_with(&format!(": {host}")), "{message}");
    }
}

#[tokio::test]
async fn rules_say_which_index_is_out_of_bounds() {
    let rule = json!([{"rule": "self.split('/')[1] == 'a'"}]);
    let text = json!({"text": {"type": "string", "maxLength": 9, "x-kubernetes-validations": rule}});
    let client = defined(json!([version("v1", text)])).await;
    let (.., message) = client
        .post(THINGS, thing("a", json!({"text": "b"})))
        .await
        .refusal();
    assert!(
        message.contains(": index out of bounds: 1 evaluating rule"),
        "{message}"
    );
}
