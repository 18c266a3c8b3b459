//! A server of webhooks, and their configurations.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{Request, Response};
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

use super::client::Client;

/// A server of webhooks, which remembers what it was asked.
pub(crate) struct Webhook {
    pub(crate) port: u16,
    pub(crate) authority: String,
    asked: Arc<Mutex<Vec<Value>>>,
    _serving: JoinSet<()>,
}

impl Webhook {
    /// A webhook whose response to a request, without the uid, is what `answer` makes of it. At another path than `/` it says it
    /// does not know it. A member `whole` is merged into the review instead, a text `body` takes its place, with a `code` and a
    /// `type`; `silent` says nothing.
    pub(crate) async fn new(answer: impl Fn(&Value) -> Value + Send + Sync + 'static) -> Self {
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

    pub(crate) async fn allows() -> Self {
        Self::new(|_| json!({"allowed": true})).await
    }

    /// One that adds an annotation with its name, whose value counts.
    pub(crate) async fn annotates(name: &'static str) -> Self {
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

    pub(crate) fn client_config(&self) -> Value {
        // Two slashes are one.
        json!({"url": format!("https://127.0.0.1:{}//", self.port), "caBundle": self.authority})
    }

    pub(crate) fn asked(&self) -> Vec<Value> {
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

pub(crate) fn patch(operations: Value) -> Value {
    let patch = STANDARD.encode(operations.to_string());
    json!({"allowed": true, "patchType": "JSONPatch", "patch": patch})
}

pub(crate) fn denied() -> Value {
    json!({"allowed": false, "status": {"message": "not today", "code": 403, "reason": "Forbidden"}})
}

/// A webhook of a configuration, about ConfigMaps; `more` is merged into it.
pub(crate) fn hook(name: &str, client: Value, more: Value) -> Value {
    let mut hook = json!({
        "name": format!("{name}.sim.example"), "clientConfig": client, "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}],
    });
    hook.as_object_mut()
        .unwrap()
        .extend(more.as_object().cloned().unwrap_or_default());
    hook
}

pub(crate) fn rule(group: &str, resources: &[&str]) -> Value {
    json!({"rules": [{"apiGroups": [group], "apiVersions": ["*"], "operations": ["*"], "resources": resources}]})
}

/// Has a webhook asked about what [`hook`] says, in a configuration of its own.
pub(crate) async fn configure_one(client: &Client, kind: &str, name: &str, webhook: &Webhook) {
    let hooks = json!([hook(name, webhook.client_config(), json!({}))]);
    configure(client, kind, name, hooks).await;
}

pub(crate) async fn configure(client: &Client, kind: &str, name: &str, webhooks: Value) {
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
