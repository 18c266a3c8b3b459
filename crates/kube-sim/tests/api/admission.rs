//! Admission webhooks, which are asked over TLS. The words of refusals are those of a kube-apiserver 1.36.3.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use super::client::{Answer, CONFIGMAPS, Client, configmap};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

/// A server of webhooks, which remembers what it was asked.
pub(super) struct Webhook {
    port: u16,
    authority: String,
    asked: Arc<Mutex<Vec<Value>>>,
    _serving: JoinSet<()>,
}

impl Webhook {
    /// A webhook whose response to a request, without the uid, is what `answer` makes of it. At another path than `/` it says it
    /// does not know it. A member `whole` is merged into the review instead, a text `body` takes its place, with a `code` and a
    /// `type`; `silent` says nothing.
    pub(super) async fn new(answer: impl Fn(&Value) -> Value + Send + Sync + 'static) -> Self {
        let key = KeyPair::generate().unwrap();
        let names = ["127.0.0.1".to_owned(), "hook.default.svc".to_owned()];
        let mut params = CertificateParams::new(names).unwrap();
        // As those make it who use `openssl req -x509`.
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(key.serialize_der().into()),
            )
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answer, seen) = (Arc::new(answer), asked.clone());
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                let (acceptor, answer, seen) = (acceptor.clone(), answer.clone(), seen.clone());
                connections.spawn(async move {
                    let Ok(stream) = acceptor.accept(socket).await else {
                        return;
                    };
                    let review = service_fn(move |request| review(request, answer.clone(), seen.clone()));
                    let serving = hyper::server::conn::http1::Builder::new();
                    let _ = serving.serve_connection(TokioIo::new(stream), review).await;
                });
            }
        });
        Self {
            port,
            authority: STANDARD.encode(certificate.pem()),
            asked,
            _serving: serving,
        }
    }

    async fn allows() -> Self {
        Self::new(|_| json!({"allowed": true})).await
    }

    /// One that adds an annotation with its name, whose value counts.
    pub(super) async fn annotates(name: &'static str) -> Self {
        Self::new(move |request| {
            let annotations = &request["object"]["metadata"]["annotations"];
            let count: u64 = annotations[name]
                .as_str()
                .map_or(0, |count| count.parse().unwrap());
            let mut annotations = annotations.as_object().cloned().unwrap_or_default();
            annotations.insert(name.into(), (count + 1).to_string().into());
            patch(json!([{"op": "add", "path": "/metadata/annotations", "value": annotations}]))
        })
        .await
    }

    pub(super) fn client_config(&self) -> Value {
        // Two slashes are one.
        json!({"url": format!("https://127.0.0.1:{}//", self.port), "caBundle": self.authority})
    }

    pub(super) fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }
}

async fn review(
    request: Request<Incoming>,
    answer: Arc<impl Fn(&Value) -> Value>,
    asked: Arc<Mutex<Vec<Value>>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await.map(|body| body.to_bytes());
    let review: Value = serde_json::from_slice(&body.unwrap_or_default()).unwrap_or_default();
    asked.lock().unwrap().push(review["request"].clone());
    if path != "/" {
        let mut response = Response::new(Full::default());
        *response.status_mut() = http::StatusCode::NOT_FOUND;
        return Ok(response);
    }
    let mut response = json!({"uid": review["request"]["uid"]});
    let answer = answer(&review["request"]);
    if answer["silent"] == true {
        std::future::pending::<()>().await;
    }
    if let Some(body) = answer["body"].as_str() {
        let mut response = Response::builder().status(answer["code"].as_u64().unwrap_or(200) as u16);
        if let Some(kind) = answer["type"].as_str() {
            response = response.header("content-type", kind);
        }
        return Ok(response.body(Full::new(body.to_owned().into())).unwrap());
    }
    if let Some(whole) = answer["whole"].as_object() {
        let mut review =
            json!({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response});
        review.as_object_mut().unwrap().extend(whole.clone());
        return Ok(Response::new(Full::new(review.to_string().into())));
    }
    let members = answer.as_object().unwrap().clone();
    response.as_object_mut().unwrap().extend(members);
    let review = json!({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response});
    Ok(Response::new(Full::new(review.to_string().into())))
}

pub(super) fn patch(operations: Value) -> Value {
    let patch = STANDARD.encode(operations.to_string());
    json!({"allowed": true, "patchType": "JSONPatch", "patch": patch})
}

fn denied() -> Value {
    json!({"allowed": false, "status": {"message": "not today", "code": 403, "reason": "Forbidden"}})
}

/// A webhook of a configuration, about ConfigMaps; `more` is merged into it.
pub(super) fn hook(name: &str, client: Value, more: Value) -> Value {
    let mut hook = json!({
        "name": format!("{name}.sim.example"), "clientConfig": client, "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}],
    });
    hook.as_object_mut()
        .unwrap()
        .extend(more.as_object().cloned().unwrap_or_default());
    hook
}

fn rule(group: &str, resources: &[&str]) -> Value {
    json!({"rules": [{"apiGroups": [group], "apiVersions": ["*"], "operations": ["*"], "resources": resources}]})
}

/// Has a webhook asked about what [`hook`] says, in a configuration of its own.
async fn configure_one(client: &Client, kind: &str, name: &str, webhook: &Webhook) {
    let hooks = json!([hook(name, webhook.client_config(), json!({}))]);
    configure(client, kind, name, hooks).await;
}

pub(super) async fn configure(client: &Client, kind: &str, name: &str, webhooks: Value) {
    let path = format!(
        "/apis/admissionregistration.k8s.io/v1/{}webhookconfigurations",
        kind.to_lowercase()
    );
    let made = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": format!("{kind}WebhookConfiguration"),
        "metadata": {"name": name}, "webhooks": webhooks,
    });
    client.post(&path, made).await.ok();
}

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
async fn a_service_keeps_what_was_drawn_for_it() {
    let client = Client::empty();
    let webhook = Webhook::allows().await;
    let rules = rule("", &["services"]);
    configure(
        &client,
        "Validating",
        "v",
        json!([hook("v", webhook.client_config(), rules)]),
    )
    .await;
    let spec = json!({"type": "NodePort", "ports": [{"port": 80}]});
    let made = client
        .post(
            "/api/v1/namespaces/default/services",
            json!({"metadata": {"name": "a"}, "spec": spec}),
        )
        .await
        .ok();
    let [asked] = &webhook.asked()[..] else {
        panic!("asked once")
    };
    assert!(made["spec"]["clusterIP"].is_string() && made["spec"]["ports"][0]["nodePort"].is_u64());
    assert_eq!(asked["object"]["spec"], made["spec"]);
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
async fn a_webhook_writes_only_what_a_client_may_write() {
    let client = Client::empty();
    let webhook = Webhook::new(|request| match request["operation"].as_str() {
        Some("CREATE") => patch(json!([
            {"op": "add", "path": "/status", "value": {"replicas": 3}},
            {"op": "add", "path": "/metadata/deletionTimestamp", "value": "2020-01-01T00:00:00Z"},
            {"op": "add", "path": "/metadata/deletionGracePeriodSeconds", "value": 3},
            {"op": "add", "path": "/metadata/resourceVersion", "value": "7"},
        ])),
        Some("UPDATE") => patch(json!([
            {"op": "add", "path": "/metadata/finalizers", "value": ["sim.example/held", "sim.example/more"]},
        ])),
        _ => json!({"allowed": true}),
    })
    .await;
    let config = webhook.client_config();
    let hooks = json!([
        hook("m", config.clone(), rule("apps", &["deployments"])),
        hook("n", config, json!({}))
    ]);
    configure(&client, "Mutating", "m", hooks).await;
    let template =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let spec = json!({"selector": {"matchLabels": {"a": "b"}}, "template": template});
    let made = client
        .post(DEPLOYMENTS, json!({"metadata": {"name": "d"}, "spec": spec}))
        .await
        .ok();
    assert_eq!(made["status"]["replicas"], Value::Null);
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
        assert_eq!(made["metadata"][field], Value::Null, "{field}");
    }
    // Nobody adds finalizers to what is being deleted.
    let mut map = configmap("a", 0);
    map["metadata"]["finalizers"] = json!(["sim.example/held"]);
    client.store().create(map).unwrap();
    let path = format!("{CONFIGMAPS}/a");
    client.delete(&path, Value::Null).await.ok();
    let (code, _, message) = client.merge(&path, json!({"data": {"k": "w"}})).await.refusal();
    assert_eq!(code, 422);
    assert!(message.contains("no new finalizers can be added"), "{message}");
}

// What is written as null stays there.
#[tokio::test]
async fn what_is_empty_stays_so_when_a_webhook_changes_the_rest() {
    const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
    const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    let client = Client::empty();
    let webhook = Webhook::annotates("m").await;
    let config = webhook.client_config();
    let hooks = json!([
        hook("r", config.clone(), rule("rbac.authorization.k8s.io", &["roles"])),
        hook("s", config, rule("discovery.k8s.io", &["endpointslices"]))
    ]);
    configure(&client, "Mutating", "m", hooks).await;
    let role = json!({"metadata": {"name": "a"}, "rules": null});
    let slice = json!({"metadata": {"name": "a"}, "addressType": "IPv4", "endpoints": [], "ports": null});
    for (path, field, object) in [(ROLES, "rules", role), (SLICES, "ports", slice)] {
        client.post(path, object.clone()).await.ok();
        let changed = client.put(&format!("{path}/a"), object).await.ok();
        assert_eq!(changed.get(field), Some(&Value::Null), "{field}");
        let generation = &changed["metadata"]["generation"];
        assert!(generation.is_null() || generation == 1, "{field}: {generation}");
    }
}

#[tokio::test]
async fn a_webhook_says_what_a_generated_name_begins_with() {
    let client = Client::empty();
    let webhook =
        Webhook::new(|_| patch(json!([{"op": "add", "path": "/metadata/generateName", "value": "b-"}])))
            .await;
    let other = Webhook::allows().await;
    configure_one(&client, "Mutating", "m", &webhook).await;
    configure_one(&client, "Validating", "v", &other).await;
    let path = format!("{CONFIGMAPS}?timeout=5s");
    for metadata in [json!({}), json!({"generateName": "a-"})] {
        let made = client.post(&path, json!({"metadata": metadata})).await.ok();
        let name = made["metadata"]["name"].as_str().unwrap();
        assert!(name.starts_with("b-") && name.len() == 7, "{name}");
        let asked = other.asked().pop().unwrap();
        assert_eq!(asked["name"], made["metadata"]["name"]);
    }
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
async fn owners_that_a_webhook_repeats_are_kept_once() {
    let client = Client::empty();
    let webhook = Webhook::new(
        |request| match &request["object"]["metadata"]["ownerReferences"] {
            Value::Array(owners) => {
                let twice = [owners.as_slice(), owners.as_slice()].concat();
                patch(json!([{"op": "add", "path": "/metadata/ownerReferences", "value": twice}]))
            }
            _ => json!({"allowed": true}),
        },
    )
    .await;
    configure_one(&client, "Mutating", "m", &webhook).await;
    client.post(CONFIGMAPS, configmap("o", 0)).await.ok();
    let path = format!("{CONFIGMAPS}/o");
    let uid = client.get(&path).await.ok()["metadata"]["uid"].clone();
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": uid});
    let mut owned = configmap("a", 0);
    owned["metadata"]["ownerReferences"] = json!([owner]);
    let created = client.post(CONFIGMAPS, owned).await;
    let patched = client.merge(&format!("{CONFIGMAPS}/a"), json!({})).await;
    for answer in [created, patched] {
        let said = warnings(&answer);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].contains("entries after mutating admission happens; API"),
            "{said:?}"
        );
        assert_eq!(answer.ok()["metadata"]["ownerReferences"], json!([owner]));
    }
}

#[tokio::test]
async fn managers_that_a_webhook_breaks_are_put_back() {
    let client = Client::empty();
    let webhook = Webhook::new(|request| match request["object"]["data"]["break"].as_str() {
        Some(at) => patch(json!([
            {"op": "add", "path": format!("/metadata/managedFields/0/{at}"), "value": "other"},
        ])),
        None => json!({"allowed": true}),
    })
    .await;
    configure_one(&client, "Mutating", "m", &webhook).await;
    for (at, manager, warned) in [("operation", Value::Null, 1), ("manager", json!("other"), 0)] {
        let mut map = configmap(at, 0);
        map["data"] = json!({"break": at});
        let created = client.post(CONFIGMAPS, map).await;
        let patched = client
            .merge(&format!("{CONFIGMAPS}/{at}"), json!({"data": {"x": "y"}}))
            .await;
        for answer in [created, patched] {
            let said = warnings(&answer);
            assert_eq!(said.len(), warned, "{said:?}");
            let expected = "was in an invalid state after admission";
            assert!(said.iter().all(|warning| warning.contains(expected)), "{said:?}");
            let entry = &answer.ok()["metadata"]["managedFields"][0];
            assert_eq!(entry["operation"], "Update");
            assert!(manager.is_null() || entry["manager"] == manager, "{entry}");
        }
    }
}

#[tokio::test]
async fn a_webhook_can_change_a_scale_that_is_applied() {
    let client = Client::empty();
    let template =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let spec = json!({"selector": {"matchLabels": {"a": "b"}}, "template": template});
    let made = json!({"metadata": {"name": "d"}, "spec": spec});
    client.post(DEPLOYMENTS, made).await.ok();
    let webhook =
        Webhook::new(|_| patch(json!([{"op": "replace", "path": "/spec/replicas", "value": 7}]))).await;
    let rules = rule("apps", &["deployments/scale"]);
    let hooks = json!([hook("m", webhook.client_config(), rules)]);
    configure(&client, "Mutating", "m", hooks).await;
    let scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"}, "spec": {"replicas": 3}});
    let headers = [("content-type", "application/apply-patch+yaml")];
    let path = format!("{DEPLOYMENTS}/d/scale?fieldManager=m&force=true");
    let applied = client
        .send(Method::PATCH, &path, &headers, scale.to_string())
        .await;
    assert_eq!(applied.ok()["spec"]["replicas"], 7);
    let now = client.get(&format!("{DEPLOYMENTS}/d")).await.json();
    assert_eq!(now["spec"]["replicas"], 7);
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
