//! Admission webhooks, which are asked over TLS. The words of refusals are those of a kube-apiserver 1.36.3.

use std::net::Ipv4Addr;

use http::Method;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::client::{Answer, CONFIGMAPS, Client, configmap};
use super::webhook::{Webhook, configure, configure_one, denied, hook, patch, rule};

mod changes;

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

async fn create(client: &Client, name: &str) -> Answer {
    client.post(CONFIGMAPS, configmap(name, 0)).await
}

#[tokio::test]
async fn webhooks_change_and_see_what_is_created() {
    let client = Client::empty();
    let (mutating, validating) = (Webhook::annotates("m").await, Webhook::allows().await);
    configure_one(&client, "Mutating", "m", &mutating).await;
    configure_one(&client, "Validating", "v", &validating).await;
    let map = json!({"metadata": {"generateName": "a-", "uid": "mine"}, "data": {"k": "v"}});
    let made = client
        .post(&format!("{CONFIGMAPS}?fieldManager=me"), map)
        .await
        .ok();
    assert_eq!(made["metadata"]["annotations"], json!({"m": "1"}));

    let [asked] = &mutating.asked()[..] else {
        panic!("asked once")
    };
    assert_eq!(
        (
            &asked["operation"],
            &asked["namespace"],
            &asked["name"],
            &asked["dryRun"]
        ),
        (&json!("CREATE"), &json!("default"), &Value::Null, &json!(false))
    );
    assert_eq!(
        asked["kind"],
        json!({"group": "", "version": "v1", "kind": "ConfigMap"})
    );
    assert_eq!(
        asked["resource"],
        json!({"group": "", "version": "v1", "resource": "configmaps"})
    );
    assert_eq!(
        asked["options"],
        json!({"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "me"})
    );
    let object = &asked["object"];
    assert_eq!(
        (&object["kind"], &object["apiVersion"]),
        (&json!("ConfigMap"), &json!("v1"))
    );
    assert_eq!(
        (&object["metadata"]["name"], &object["metadata"]["uid"]),
        (&Value::Null, &Value::Null)
    );

    let [asked] = &validating.asked()[..] else {
        panic!("asked once")
    };
    for field in ["name", "uid", "annotations"] {
        assert_eq!(
            asked["object"]["metadata"][field], made["metadata"][field],
            "{field}"
        );
    }
    let name = made["metadata"]["name"].as_str().unwrap();
    let path = format!("{CONFIGMAPS}/{name}");
    client.merge(&path, json!({"data": {"k": "w"}})).await.ok();
    let asked = validating.asked().pop().unwrap();
    assert_eq!(
        (&asked["operation"], &asked["name"]),
        (&json!("UPDATE"), &json!(name))
    );
    assert_eq!(asked["oldObject"]["data"], json!({"k": "v"}));
    assert_eq!(asked["object"]["data"], json!({"k": "w"}));
    assert_eq!(asked["object"]["metadata"]["annotations"], json!({"m": "2"}));
}

#[tokio::test]
async fn a_denial_says_who_and_why() {
    let client = Client::empty();
    let webhook = Webhook::new(|request| match request["name"].as_str() {
        Some("a") => denied(),
        Some("b") => json!({"allowed": false}),
        Some("c") => json!({"allowed": false, "status": {"reason": "Because", "code": 200}}),
        _ => json!({"allowed": true, "warnings": ["take \"care\""]}),
    })
    .await;
    configure_one(&client, "Validating", "v", &webhook).await;
    let by = "admission webhook \"v.sim.example\" denied the request";
    for (name, code, reason, message) in [
        ("a", 403, "Forbidden", format!("{by}: not today")),
        ("b", 400, "", format!("{by} without explanation")),
        ("c", 400, "Because", format!("{by}: Because")),
    ] {
        let refused = create(&client, name).await.refusal();
        assert_eq!(refused, (code, reason.to_owned(), message));
    }
    let made = create(&client, "d").await;
    assert_eq!(made.code, 201);
    assert_eq!(made.headers["warning"], r#"299 - "take \"care\"""#);
    // What was refused is not there, and nobody is asked about reads.
    assert_eq!(client.get(CONFIGMAPS).await.names(), ["d"]);
    assert_eq!(webhook.asked().len(), 4);
}

#[tokio::test]
async fn failures_count_as_their_policy_says() {
    let client = Client::empty();
    let webhook = Webhook::new(|request| match request["name"].as_str() {
        Some("uid") => json!({"allowed": true, "uid": "other"}),
        Some("patch") => patch(json!([])),
        _ => json!({"allowed": true}),
    })
    .await;
    let nobody = json!({"url": "https://127.0.0.1:1/x", "caBundle": webhook.authority});
    let elsewhere =
        json!({"url": format!("https://127.0.0.1:{}/x", webhook.port), "caBundle": webhook.authority});
    let untrusted = json!({"url": format!("https://127.0.0.1:{}/", webhook.port), "caBundle": Webhook::allows().await.authority});
    let service = json!({"service": {"name": "none", "namespace": "default", "path": "/x"}});
    let url = format!("https://127.0.0.1:{}", webhook.port);
    for (name, config, why) in [
        (
            "nobody",
            nobody.clone(),
            "failed to call webhook: Post \"https://127.0.0.1:1/x?timeout=10s\": dial tcp 127.0.0.1:1: connect: connection refused"
                .to_owned(),
        ),
        (
            "elsewhere",
            elsewhere,
            "failed to call webhook: the server could not find the requested resource".into(),
        ),
        (
            "untrusted",
            untrusted,
            format!(
                "failed to call webhook: Post \"{url}/?timeout=10s\": tls: failed to verify certificate: x509: certificate signed \
                 by unknown authority"
            ),
        ),
        (
            "service",
            service,
            "failed to call webhook: Post \"https://none.default.svc:443/x?timeout=10s\": service \"none\" not found".into(),
        ),
        (
            "patch",
            webhook.client_config(),
            "received invalid webhook response: validating webhook may not return response.patch".into(),
        ),
    ] {
        configure(&client, "Validating", name, json!([hook("v", config, json!({}))])).await;
        let message = format!("Internal error occurred: failed calling webhook \"v.sim.example\": {why}");
        let refused = create(&client, name).await.refusal();
        assert_eq!(refused, (500, "InternalError".to_owned(), message));
        let path = format!("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{name}");
        client.delete(&path, Value::Null).await.ok();
    }
    let ignored = hook("v", nobody, json!({"failurePolicy": "Ignore"}));
    let answers = hook("w", webhook.client_config(), json!({}));
    configure(&client, "Validating", "both", json!([ignored, answers])).await;
    assert_eq!(create(&client, "a").await.code, 201);
    let (_, _, message) = create(&client, "uid").await.refusal();
    assert!(message.contains("expected response.uid="), "{message}");
}

#[tokio::test]
async fn a_webhook_that_does_not_answer_is_given_up() {
    let client = Client::empty();
    let webhook = Webhook::new(|_| json!({"allowed": true})).await;
    // It accepts connections, and says nothing.
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("https://{}/", silent.local_addr().unwrap());
    let config = json!({"url": url, "caBundle": webhook.authority});
    configure(
        &client,
        "Mutating",
        "m",
        json!([hook("m", config, json!({"timeoutSeconds": 1}))]),
    )
    .await;
    let (code, _, message) = create(&client, "a").await.refusal();
    assert_eq!(code, 500);
    let end = format!("Post \"{url}?timeout=1s\": context deadline exceeded");
    assert!(message.ends_with(&end), "{message}");
}

#[tokio::test]
async fn selectors_and_conditions_say_what_is_asked() {
    let client = Client::empty();
    let webhook = Webhook::new(|_| denied()).await;
    let other = json!({"metadata": {"name": "other", "labels": {"team": "a"}}});
    client.post("/api/v1/namespaces", other).await.ok();
    let config = webhook.client_config();
    let of_object = json!({"objectSelector": {"matchLabels": {"n": "7"}}});
    let of_namespace =
        json!({"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "Exists"}]}});
    let condition = |expression: &str| json!({"matchConditions": [{"name": "c", "expression": expression}]});
    let holds = "request.operation == 'CREATE' && object.metadata.name.startsWith('big-')";
    configure(
        &client,
        "Validating",
        "v",
        json!([
            hook("object", config.clone(), of_object),
            hook("namespace", config.clone(), of_namespace),
            hook("condition", config, condition(holds)),
        ]),
    )
    .await;
    let by = async |path: &str, map: Value| {
        let answer = client.post(path, map).await;
        match answer.code {
            201 => String::new(),
            _ => answer.refusal().2.split('"').nth(1).unwrap().to_owned(),
        }
    };
    assert_eq!(by(CONFIGMAPS, configmap("a", 0)).await, "");
    assert_eq!(by(CONFIGMAPS, configmap("b", 7)).await, "object.sim.example");
    assert_eq!(
        by(CONFIGMAPS, configmap("big-a", 0)).await,
        "condition.sim.example"
    );
    let elsewhere = json!({"metadata": {"name": "a"}});
    let path = "/api/v1/namespaces/other/configmaps";
    assert_eq!(by(path, elsewhere).await, "namespace.sim.example");
    // One that cannot be evaluated refuses the write, or lets it pass.
    for (name, policy) in [("f", "Fail"), ("i", "Ignore")] {
        let mut broken = hook(name, webhook.client_config(), condition("object.bogus == 'x'"));
        broken["failurePolicy"] = policy.into();
        broken["rules"][0]["resources"] = json!(["secrets"]);
        configure(&client, "Mutating", name, json!([broken])).await;
        let answer = client
            .post(
                "/api/v1/namespaces/default/secrets",
                json!({"metadata": {"name": name}}),
            )
            .await;
        let message = "secrets \"f\" is forbidden: expression 'object.bogus == 'x'' resulted in error: no such key: bogus";
        match policy {
            "Fail" => assert_eq!(answer.refusal(), (403, "Forbidden".into(), message.into())),
            _ => assert_eq!(answer.code, 403),
        }
    }
}

#[tokio::test]
async fn mutating_webhooks_see_what_earlier_ones_changed() {
    let client = Client::empty();
    let (a, b) = (Webhook::annotates("a").await, Webhook::annotates("b").await);
    let again = json!({"reinvocationPolicy": "IfNeeded"});
    configure(
        &client,
        "Mutating",
        "m1",
        json!([
            hook("a", a.client_config(), again.clone()),
            hook("b", b.client_config(), json!({}))
        ]),
    )
    .await;
    let made = create(&client, "a").await.ok();
    assert_eq!(made["metadata"]["annotations"], json!({"a": "2", "b": "1"}));
    assert_eq!((a.asked().len(), b.asked().len()), (2, 1));
    assert_eq!(
        b.asked()[0]["object"]["metadata"]["annotations"],
        json!({"a": "1"})
    );
    // A dry run is one for webhooks, too.
    let dry = client
        .post(&format!("{CONFIGMAPS}?dryRun=All"), configmap("b", 0))
        .await
        .ok();
    assert_eq!(dry["metadata"]["annotations"], json!({"a": "2", "b": "1"}));
    assert_eq!(b.asked()[1]["dryRun"], true);
    assert_eq!(client.get(&format!("{CONFIGMAPS}/b")).await.code, 404);
}

#[tokio::test]
async fn deletions_and_subresources_are_asked_about() {
    let client = Client::empty();
    let webhook = Webhook::new(
        |request| match request["oldObject"]["metadata"]["name"].as_str() {
            Some("kept") => denied(),
            _ => json!({"allowed": true}),
        },
    )
    .await;
    let config = webhook.client_config();
    configure(
        &client,
        "Validating",
        "v",
        json!([
            hook("v", config.clone(), json!({})),
            hook("w", config, rule("apps", &["*/*"]))
        ]),
    )
    .await;
    for name in ["a", "b", "kept"] {
        create(&client, name).await.ok();
    }
    let refused = client.delete(&format!("{CONFIGMAPS}/kept"), Value::Null).await;
    assert_eq!(refused.code, 403);
    let asked = webhook.asked().pop().unwrap();
    assert_eq!(
        (&asked["operation"], &asked["object"], &asked["options"]["kind"]),
        (&json!("DELETE"), &Value::Null, &json!("DeleteOptions"))
    );
    // All of a collection are asked about before one of it goes.
    assert_eq!(client.delete(CONFIGMAPS, Value::Null).await.code, 403);
    assert_eq!(client.get(CONFIGMAPS).await.names(), ["a", "b", "kept"]);

    let template =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let spec = json!({"selector": {"matchLabels": {"a": "b"}}, "template": template});
    client
        .post(DEPLOYMENTS, json!({"metadata": {"name": "d"}, "spec": spec}))
        .await
        .ok();
    let before = webhook.asked().len();
    client
        .merge(
            &format!("{DEPLOYMENTS}/d/status"),
            json!({"status": {"replicas": 3}}),
        )
        .await
        .ok();
    client
        .merge(
            &format!("{DEPLOYMENTS}/d/scale"),
            json!({"spec": {"replicas": 3}}),
        )
        .await
        .ok();
    let asked = webhook.asked().split_off(before);
    let seen: Vec<_> = asked
        .iter()
        .map(|asked| {
            (
                asked["subResource"].as_str(),
                asked["kind"]["kind"].as_str(),
                asked["object"]["kind"].as_str(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            (Some("status"), Some("Deployment"), Some("Deployment")),
            (Some("scale"), Some("Scale"), Some("Scale"))
        ]
    );
}

#[tokio::test]
async fn what_changes_meanwhile_is_asked_about_again() {
    let client = Client::empty();
    client.configmaps(&["a"]);
    let store = client.store();
    let webhook = Webhook::new(move |request| {
        // Somebody else is quicker, time and again.
        let before = request["oldObject"]["data"]["other"].as_str().unwrap_or("");
        if before.len() < 40 {
            let other = format!("{before}x");
            let mut map = store.get("v1", "ConfigMap", Some("default"), "a").unwrap();
            map["data"]["other"] = other.into();
            store.update(map).unwrap();
        }
        json!({"allowed": true})
    })
    .await;
    configure_one(&client, "Validating", "v", &webhook).await;
    let path = format!("{CONFIGMAPS}/a");
    let made = client.merge(&path, json!({"data": {"mine": "y"}})).await.ok();
    assert_eq!(
        (&made["data"]["mine"], &made["data"]["other"]),
        (&json!("y"), &json!("x".repeat(40)))
    );
    assert_eq!(webhook.asked().len(), 41);
}

#[tokio::test]
async fn a_service_leads_to_its_target_port_on_this_machine() {
    let client = Client::empty();
    let webhook = Webhook::new(|_| denied()).await;
    let spec = json!({"ports": [{"port": 443, "targetPort": webhook.port}]});
    client
        .post(
            "/api/v1/namespaces/default/services",
            json!({"metadata": {"name": "hook"}, "spec": spec}),
        )
        .await
        .ok();
    let service = json!({"name": "hook", "namespace": "default", "path": "/"});
    let config = json!({"service": service, "caBundle": webhook.authority});
    configure(&client, "Validating", "v", json!([hook("v", config, json!({}))])).await;
    assert_eq!(create(&client, "a").await.code, 403);
    let headers = [("content-type", "application/apply-patch+yaml")];
    let path = format!("{CONFIGMAPS}/b?fieldManager=m");
    let map = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}"#;
    let applied = client.send(Method::PATCH, &path, &headers, map).await;
    assert_eq!(applied.code, 403);
    assert_eq!(webhook.asked()[1]["options"]["kind"], "CreateOptions");
}

#[tokio::test]
async fn what_is_not_there_has_no_labels_to_select() {
    let client = Client::empty();
    let webhook = Webhook::new(|_| denied()).await;
    let unlabelled = json!({"matchExpressions": [{"key": "n", "operator": "DoesNotExist"}]});
    let hooks = json!([hook(
        "v",
        webhook.client_config(),
        json!({"objectSelector": unlabelled})
    )]);
    configure(&client, "Validating", "v", hooks).await;
    assert_eq!(create(&client, "a").await.code, 201);
    let path = format!("{CONFIGMAPS}/a");
    assert_eq!(client.delete(&path, Value::Null).await.code, 200);
    let unlabelled = json!({"metadata": {"name": "b"}});
    assert_eq!(client.post(CONFIGMAPS, unlabelled).await.code, 403);
}

#[tokio::test]
async fn a_dry_deletion_is_one_for_webhooks_too() {
    let client = Client::empty();
    client.configmaps(&["a"]);
    let webhook = Webhook::allows().await;
    let config = webhook.client_config();
    configure(
        &client,
        "Validating",
        "v",
        json!([hook("v", config.clone(), json!({}))]),
    )
    .await;
    let path = format!("{CONFIGMAPS}/a");
    client.delete(&path, json!({"dryRun": ["All"]})).await.ok();
    assert_eq!(webhook.asked()[0]["dryRun"], true);
    // One that may do something else is not asked.
    let effects = json!({"sideEffects": "NoneOnDryRun"});
    configure(&client, "Mutating", "m", json!([hook("m", config, effects)])).await;
    client.delete(&path, json!({"dryRun": ["All"]})).await.ok();
    assert_eq!(client.get(&path).await.code, 200);
}

#[tokio::test]
async fn a_large_collection_passes_webhooks_of_both_kinds() {
    let client = Client::empty();
    let names: Vec<String> = (0..40).map(|number| format!("a{number:02}")).collect();
    client.configmaps(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let webhook = Webhook::allows().await;
    for kind in ["Mutating", "Validating"] {
        configure(
            &client,
            kind,
            "x",
            json!([hook("x", webhook.client_config(), json!({}))]),
        )
        .await;
    }
    client.delete(CONFIGMAPS, Value::Null).await.ok();
    assert!(client.get(CONFIGMAPS).await.names().is_empty());
    assert_eq!(webhook.asked().len(), 80);
}

#[tokio::test]
async fn time_that_passes_is_nothing_to_ask_about_again() {
    let client = Client::empty();
    let webhook = Webhook::new(|_| {
        std::thread::sleep(std::time::Duration::from_secs(1));
        json!({"allowed": true})
    })
    .await;
    let hooks = json!([hook(
        "v",
        webhook.client_config(),
        rule("", &["persistentvolumes"])
    )]);
    configure(&client, "Validating", "v", hooks).await;
    let spec =
        json!({"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}});
    let volume = json!({"metadata": {"name": "a"}, "spec": spec});
    client.post("/api/v1/persistentvolumes", volume).await.ok();
    assert_eq!(webhook.asked().len(), 1);
}

#[tokio::test]
async fn a_request_waits_for_webhooks_as_long_as_it_says() {
    let client = Client::empty();
    let webhook = Webhook::allows().await;
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let config =
        json!({"url": format!("https://{}/", silent.local_addr().unwrap()), "caBundle": webhook.authority});
    let hooks = json!([hook("m", config, json!({"timeoutSeconds": 30}))]);
    configure(&client, "Mutating", "m", hooks).await;
    let answer = client
        .post(&format!("{CONFIGMAPS}?timeout=100ms"), configmap("a", 0))
        .await;
    let (code, reason, _) = answer.refusal();
    assert_eq!((code, reason.as_str()), (504, "Timeout"));
}

#[tokio::test]
async fn warnings_come_once_and_also_with_a_denial() {
    let client = Client::empty();
    let webhook = Webhook::new(|request| {
        let allowed = request["name"] == "a";
        json!({"allowed": allowed, "warnings": ["careful", "careful"]})
    })
    .await;
    let config = webhook.client_config();
    let hooks = json!([hook("v", config.clone(), json!({})), hook("w", config, json!({}))]);
    configure(&client, "Validating", "v", hooks).await;
    for (name, code) in [("a", 201), ("b", 400)] {
        let answer = create(&client, name).await;
        assert_eq!(answer.code, code);
        let warnings: Vec<_> = answer.headers.get_all("warning").into_iter().collect();
        assert_eq!(warnings, ["299 - \"careful\""], "{name}");
    }
}

fn warnings(answer: &Answer) -> Vec<&str> {
    let all = answer.headers.get_all("warning").iter();
    all.map(|warning| warning.to_str().unwrap()).collect()
}

#[tokio::test]
async fn conditions_that_say_nothing_are_refused() {
    let client = Client::empty();
    let webhook = Webhook::allows().await;
    let hooks = |expression: &str| {
        let condition = json!({"matchConditions": [{"name": "c", "expression": expression}]});
        json!([hook("v", webhook.client_config(), condition)])
    };
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    for expression in ["object.(", "nothing.at == 'all'", "object.metadata.name"] {
        let broken = json!({"metadata": {"name": "broken"}, "webhooks": hooks(expression)});
        let (code, _, message) = client.post(path, broken).await.refusal();
        assert_eq!(code, 422);
        assert!(
            message.contains("webhooks[0].matchConditions[0].expression"),
            "{message}"
        );
    }
    // What is not in an object is known when it is evaluated.
    configure(&client, "Validating", "v", hooks("object.nothing == 'all'")).await;
    let (code, _, message) = create(&client, "a").await.refusal();
    assert_eq!(code, 403);
    assert!(message.contains("no such key: nothing"), "{message}");
    assert!(webhook.asked().is_empty());
}

#[tokio::test]
async fn nobody_is_asked_about_deletions_that_are_refused() {
    let client = Client::empty();
    client.configmaps(&["a"]);
    let webhook = Webhook::new(|_| denied()).await;
    let config = webhook.client_config();
    let hooks = json!([
        hook("v", config.clone(), json!({})),
        hook("w", config, rule("", &["namespaces"]))
    ]);
    configure(&client, "Validating", "v", hooks).await;
    let other = json!({"preconditions": {"uid": "other"}});
    let refused = client.delete(&format!("{CONFIGMAPS}/a"), other).await;
    assert_eq!(refused.code, 409);
    let refused = client.delete("/api/v1/namespaces/default", Value::Null).await;
    assert!(refused.refusal().2.contains("may not be deleted"));
    assert!(webhook.asked().is_empty());
}
