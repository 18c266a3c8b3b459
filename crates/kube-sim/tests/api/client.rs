//! A small client for a cluster in the process: requests without a socket, on whatever clock the test has.

use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use kube_sim::{Sim, SimBody, Store};
use serde_json::{Value, json};
use tower::ServiceExt;

pub(crate) const CONFIGMAPS: &str = "/api/v1/namespaces/default/configmaps";
pub(crate) const WIDGETS: &str = "/apis/sim.example/v1/namespaces/default/widgets";

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a JSON body")
    }

    /// The fields that a refusal names.
    pub(crate) fn refused_fields(&self) -> Vec<String> {
        let status = self.json();
        assert_eq!(self.code, 422, "{status}");
        let causes = status["details"]["causes"].as_array().expect("causes").iter();
        causes
            .map(|cause| cause["field"].as_str().expect("a field").to_owned())
            .collect()
    }

    /// The names of a list's items.
    pub(crate) fn names(&self) -> Vec<String> {
        let items = self.json()["items"].as_array().expect("a list").clone();
        items
            .iter()
            .map(|item| item["metadata"]["name"].as_str().unwrap().to_owned())
            .collect()
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Value {
        assert!(self.code < 300, "{} {:?}", self.code, self.body);
        self.json()
    }

    /// The code, reason and message of a refusal.
    #[track_caller]
    pub(crate) fn refusal(&self) -> (u16, String, String) {
        let status = self.json();
        assert_eq!(
            (&status["kind"], &status["status"]),
            (&json!("Status"), &json!("Failure"))
        );
        if self.code != 200 {
            assert_eq!(status["code"], self.code);
        }
        let text = |name: &str| status[name].as_str().unwrap_or("").to_owned();
        (self.code, text("reason"), text("message"))
    }
}

pub(crate) struct Client {
    pub(crate) sim: Sim,
}

impl Client {
    pub(crate) fn new(sim: Sim) -> Self {
        Self { sim }
    }

    pub(crate) fn empty() -> Self {
        Self::new(Sim::builder().build().unwrap())
    }

    pub(crate) fn store(&self) -> Store {
        self.sim.store()
    }

    pub(crate) async fn open(&self, request: Request<Full<Bytes>>) -> Response<SimBody> {
        self.sim.service().oneshot(request).await.expect("a connection")
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self.open(request.body(Full::new(body.into())).unwrap()).await;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer {
            code: parts.status.as_u16(),
            headers: parts.headers,
            body,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], "").await
    }

    pub(crate) async fn get_as(&self, path: &str, accept: &str) -> Answer {
        self.send(Method::GET, path, &[("accept", accept)], "").await
    }

    pub(crate) async fn post(&self, path: &str, object: Value) -> Answer {
        self.send(
            Method::POST,
            path,
            &[("content-type", "application/json")],
            object.to_string(),
        )
        .await
    }

    pub(crate) async fn put(&self, path: &str, object: Value) -> Answer {
        self.send(
            Method::PUT,
            path,
            &[("content-type", "application/json")],
            object.to_string(),
        )
        .await
    }

    pub(crate) async fn merge(&self, path: &str, patch: Value) -> Answer {
        self.patch(path, "application/merge-patch+json", patch).await
    }

    pub(crate) async fn patch(&self, path: &str, kind: &str, patch: Value) -> Answer {
        self.send(Method::PATCH, path, &[("content-type", kind)], patch.to_string())
            .await
    }

    pub(crate) async fn delete(&self, path: &str, options: Value) -> Answer {
        let body = if options.is_null() {
            String::new()
        } else {
            options.to_string()
        };
        self.send(
            Method::DELETE,
            path,
            &[("content-type", "application/json")],
            body,
        )
        .await
    }

    /// Starts a watch.
    pub(crate) async fn watch(&self, path: &str) -> Watch {
        self.watch_as(path, "application/json").await
    }

    pub(crate) async fn watch_as(&self, path: &str, accept: &str) -> Watch {
        let request = Request::get(path)
            .header("accept", accept)
            .body(Full::default())
            .unwrap();
        let response = self.open(request).await;
        assert_eq!(response.status(), 200, "{path}");
        Watch {
            body: response.into_body(),
            buffer: BytesMut::new(),
        }
    }

    /// Creates configmaps, each with the label `n` and its number.
    pub(crate) fn configmaps(&self, names: &[&str]) -> Vec<u64> {
        names
            .iter()
            .enumerate()
            .map(|(n, name)| version(&self.store().create(configmap(name, n)).unwrap()))
            .collect()
    }
}

pub(crate) struct Watch {
    body: SimBody,
    buffer: BytesMut,
}

impl Watch {
    /// The next event; none when the watch has ended.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.iter().position(|b| *b == b'\n') {
                let frame = self.buffer.split_to(end);
                self.buffer.advance(1);
                return Some(serde_json::from_slice(&frame).expect("a JSON frame"));
            }
            match self.body.frame().await {
                Some(frame) => self
                    .buffer
                    .extend_from_slice(&frame.unwrap().into_data().unwrap()),
                None => {
                    assert!(self.buffer.is_empty(), "a frame was cut");
                    return None;
                }
            }
        }
    }

    /// The type, name and resource version of the next event.
    pub(crate) async fn event(&mut self) -> (String, String, u64) {
        let event = self.next().await.expect("an event");
        let object = &event["object"];
        let name = object["metadata"]["name"].as_str().unwrap_or("").to_owned();
        (event["type"].as_str().unwrap().to_owned(), name, version(object))
    }

    /// All events until the end, as types and names.
    pub(crate) async fn rest(&mut self) -> Vec<String> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            let name = event["object"]["metadata"]["name"]
                .as_str()
                .unwrap_or("")
                .to_owned();
            events.push(
                format!("{} {name}", event["type"].as_str().unwrap())
                    .trim_end()
                    .to_owned(),
            );
        }
        events
    }

    /// Whether nothing comes for a while (of a paused clock).
    pub(crate) async fn is_silent(&mut self, duration: Duration) -> bool {
        tokio::time::timeout(duration, self.next()).await.is_err()
    }
}

pub(crate) fn version(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"]
        .as_str()
        .and_then(|v| v.parse().ok())
        .unwrap_or(0)
}

pub(crate) fn configmap(name: &str, n: usize) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default", "labels": {"n": n.to_string()}},
        "data": {"k": "v"},
    })
}

pub(crate) fn widget_definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.sim.example"},
        "spec": {
            "group": "sim.example",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "subresources": {"status": {}},
                "selectableFields": [{"jsonPath": ".spec.color"}],
                "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
                    "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"color": {"type": "string"}}},
                }}},
            }],
        },
    })
}

pub(crate) fn widget(name: &str, size: u64) -> Value {
    json!({
        "apiVersion": "sim.example/v1", "kind": "Widget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"size": size, "color": "red"},
    })
}

/// A cluster that knows widgets.
pub(crate) fn with_widgets() -> Client {
    Client::new(Sim::builder().crd(widget_definition()).build().unwrap())
}
