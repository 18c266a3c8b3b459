//! What a real API server answers in protobuf and in JSON is the same.

use bytes::{Buf as _, Bytes};
use conformance::real_server::{RealServer, User};
use http_body_util::BodyExt as _;
use kube::client::Body;
use kube_protobuf::{Descriptor, UnknownFields, from_message, to_value, to_vec};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const JSON: &str = "application/json";

struct Answer {
    code: u16,
    content_type: String,
    body: Bytes,
}

impl Answer {
    fn value(&self) -> Value {
        match self.content_type.as_str() {
            PROTOBUF => to_value(&self.body).unwrap(),
            _ => serde_json::from_slice(&self.body).unwrap(),
        }
    }
}

struct Asking {
    client: kube::Client,
}

impl Asking {
    async fn ask(
        &self,
        method: &str,
        path: &str,
        accept: &str,
        body: Option<(&str, Vec<u8>)>,
    ) -> http::Response<Body> {
        let (content_type, body) = body.unwrap_or((JSON, Vec::new()));
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("accept", accept)
            .header("content-type", content_type)
            .body(Body::from(body))
            .unwrap();
        self.client.send(request).await.unwrap()
    }

    async fn answer(&self, method: &str, path: &str, accept: &str, body: Option<(&str, Vec<u8>)>) -> Answer {
        let response = self.ask(method, path, accept, body).await;
        let content_type = response.headers()["content-type"].to_str().unwrap().to_owned();
        Answer {
            code: response.status().as_u16(),
            content_type,
            body: response.into_body().collect().await.unwrap().to_bytes(),
        }
    }

    async fn get(&self, path: &str, accept: &str) -> Answer {
        self.answer("GET", path, accept, None).await
    }

    /// The same object or list in both encodings, unless it is not there in protobuf. Asked for until nothing changed in
    /// between.
    async fn both(&self, path: &str) -> Option<(Value, Value)> {
        self.both_as(path, "").await
    }

    /// The same of another form: the parameters of the media type.
    async fn both_as(&self, path: &str, form: &str) -> Option<(Value, Value)> {
        let (json, in_protobuf) = (format!("{JSON}{form}"), format!("{PROTOBUF}{form}"));
        loop {
            let before = self.get(path, &json).await.value();
            let protobuf = self.get(path, &in_protobuf).await;
            if protobuf.code == 406 {
                return None;
            }
            assert_eq!(
                (protobuf.code, protobuf.content_type.split(';').next()),
                (200, Some(PROTOBUF)),
                "{path}"
            );
            if self.get(path, &json).await.value() == before {
                return Some((protobuf.value(), before));
            }
        }
    }

    /// The paths of all collections.
    async fn collections(&self) -> Vec<String> {
        let mut versions = vec!["/api/v1".to_owned()];
        let groups = self.get("/apis", JSON).await.value();
        for group in groups["groups"].as_array().unwrap() {
            for version in group["versions"].as_array().unwrap() {
                versions.push(format!("/apis/{}", version["groupVersion"].as_str().unwrap()));
            }
        }
        let mut paths = Vec::new();
        for version in versions {
            let resources = self.get(&version, JSON).await.value();
            for resource in resources["resources"].as_array().unwrap() {
                if resource["verbs"].as_array().unwrap().contains(&json!("list")) {
                    paths.push(format!("{version}/{}", resource["name"].as_str().unwrap()));
                }
            }
        }
        paths
    }
}

/// Objects with many fields, by the path of their collection.
fn objects() -> Vec<(&'static str, Value)> {
    let template = json!({
        "metadata": {"labels": {"app": "a"}, "creationTimestamp": null},
        "spec": {
            "containers": [{
                "name": "a", "image": "b", "command": ["c"], "env": [{"name": "N", "value": "v"},
                    {"name": "F", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
                "envFrom": [{"prefix": "P", "configMapRef": {"name": "m", "optional": false}}],
                "ports": [{"containerPort": 80, "hostPort": 81}],
                "resources": {"limits": {"cpu": "1500m", "memory": "1Gi"}, "requests": {"cpu": "0.5"}},
                "livenessProbe": {"httpGet": {"port": "http", "path": "/"}, "periodSeconds": 3},
                "readinessProbe": {"tcpSocket": {"port": 80}, "initialDelaySeconds": 0},
                "lifecycle": {"preStop": {"sleep": {"seconds": 1}}},
                "securityContext": {"runAsUser": 0, "privileged": false, "capabilities": {"add": ["A"]}},
                "volumeMounts": [{"name": "v", "mountPath": "/v"}],
            }],
            "volumes": [{"name": "v", "projected": {"sources": [{"secret": {"name": "s"}}], "defaultMode": 0}}],
            "tolerations": [{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}],
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]}]}}},
        },
    });
    let selector = json!({"matchLabels": {"app": "a"}});
    let meta = json!({"name": "a", "annotations": {"a/b": "<&>\"ü"}, "finalizers": ["a/b"]});
    let object = |api_version: &str, kind: &str, rest: Value| {
        let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": meta});
        object
            .as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        object
    };
    let claim = json!({"metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}});
    let schema = json!({"type": "object", "properties": {
        "a": {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": true},
        "b": {"type": "array", "items": {"type": "string", "default": "x", "enum": ["x", null, "y"], "nullable": true}},
        "c": {"type": "object", "additionalProperties": {"type": "number", "minimum": 1.5, "maximum": 3, "multipleOf": 0.5}},
        "d": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "default": {"z": [1, {"y": null}]}},
    }});
    vec![
        (
            "/api/v1/namespaces/default/pods",
            object("v1", "Pod", json!({"spec": template["spec"]})),
        ),
        (
            "/apis/apps/v1/namespaces/default/deployments",
            object(
                "apps/v1",
                "Deployment",
                json!({"spec": {
            "replicas": 0, "selector": selector, "template": template, "paused": true,
            "strategy": {"rollingUpdate": {"maxSurge": "10%", "maxUnavailable": 0}}}}),
            ),
        ),
        (
            "/apis/apps/v1/namespaces/default/statefulsets",
            object(
                "apps/v1",
                "StatefulSet",
                json!({"spec": {
            "serviceName": "a", "selector": selector, "template": template, "volumeClaimTemplates": [claim]}}),
            ),
        ),
        (
            "/apis/apps/v1/namespaces/default/controllerrevisions",
            object(
                "apps/v1",
                "ControllerRevision",
                json!({"revision": 3, "data": {"b": [1.5, null], "a": "ü"}}),
            ),
        ),
        (
            "/api/v1/namespaces/default/secrets",
            object(
                "v1",
                "Secret",
                json!({"data": {"a": "AP8=", "b": ""}, "immutable": false}),
            ),
        ),
        (
            "/api/v1/namespaces/default/configmaps",
            object(
                "v1",
                "ConfigMap",
                json!({"data": {"a": "b"}, "binaryData": {"c": "AAE="}}),
            ),
        ),
        (
            "/api/v1/namespaces/default/services",
            object(
                "v1",
                "Service",
                json!({"spec": {
            "selector": {"app": "a"}, "ports": [{"port": 80, "targetPort": "http", "nodePort": 0}]}}),
            ),
        ),
        (
            "/apis/events.k8s.io/v1/namespaces/default/events",
            object(
                "events.k8s.io/v1",
                "Event",
                json!({
            "eventTime": "2026-01-02T03:04:05.000007Z", "reportingController": "a.b/c", "reportingInstance": "i",
            "action": "x", "reason": "r", "type": "Normal", "regarding": {"kind": "Pod", "name": "a", "namespace": "default"},
            "series": {"count": 2, "lastObservedTime": "2026-01-02T03:04:05.100000Z"}}),
            ),
        ),
        (
            "/apis/coordination.k8s.io/v1/namespaces/default/leases",
            object(
                "coordination.k8s.io/v1",
                "Lease",
                json!({"spec": {
            "holderIdentity": "h", "leaseDurationSeconds": 15, "renewTime": "2026-01-02T03:04:05.123456Z"}}),
            ),
        ),
        (
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced",
                "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]}}),
        ),
        (
            "/apis/rbac.authorization.k8s.io/v1/clusterroles",
            object(
                "rbac.authorization.k8s.io/v1",
                "ClusterRole",
                json!({"rules": null}),
            ),
        ),
        (
            "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
            object(
                "policy/v1",
                "PodDisruptionBudget",
                json!({"spec": {"minAvailable": "50%", "selector": {}}}),
            ),
        ),
        (
            "/apis/batch/v1/namespaces/default/cronjobs",
            object(
                "batch/v1",
                "CronJob",
                json!({"spec": {"schedule": "* * * * *",
            "jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "b"}]}}}}}}),
            ),
        ),
        (
            "/api/v1/persistentvolumes",
            object(
                "v1",
                "PersistentVolume",
                json!({"spec": {"capacity": {"storage": "1Ti"},
            "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}}),
            ),
        ),
        (
            "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
            object(
                "networking.k8s.io/v1",
                "Ingress",
                json!({"spec": {
            "rules": [{"host": "a.b", "http": {"paths": [{"path": "/", "pathType": "Prefix",
                "backend": {"service": {"name": "a", "port": {"number": 80}}}}]}}]}}),
            ),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a real API server: conformance/run"]
async fn objects_and_lists_are_equal_in_both_encodings() {
    let server = RealServer::start().await.unwrap();
    let asking = Asking {
        client: server.client(&User::admin()).await.unwrap(),
    };
    for (at, (path, object)) in objects().into_iter().enumerate() {
        // Written in either encoding.
        let body = match at % 2 {
            0 => (PROTOBUF, to_vec(&object, UnknownFields::Deny).unwrap()),
            _ => (JSON, object.to_string().into_bytes()),
        };
        let created = asking.answer("POST", path, PROTOBUF, Some(body)).await;
        assert_eq!(created.code, 201, "{path}: {}", created.value()["message"]);
        let name = object["metadata"]["name"].as_str().unwrap();
        let (protobuf, json) = asking.both(&format!("{path}/{name}")).await.unwrap();
        assert_eq!(protobuf, json);
    }
    let (mut equal, mut json_only) = (0, Vec::new());
    let mut paths = asking.collections().await;
    // Made for each answer, in another order each time.
    paths.retain(|path| path != "/api/v1/componentstatuses");
    for path in paths {
        match asking.both(&path).await {
            Some((protobuf, json)) => {
                assert_eq!(protobuf, json, "{path}");
                equal += 1;
            }
            None => json_only.push(path),
        }
    }
    assert!(equal > 50, "{equal} lists");
    assert_eq!(json_only, ["/apis/example.com/v1/widgets"]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a real API server: conformance/run"]
async fn what_is_no_object_is_equal_in_both_encodings() {
    let server = RealServer::start().await.unwrap();
    let asking = Asking {
        client: server.client(&User::admin()).await.unwrap(),
    };
    for path in [
        "/api",
        "/apis",
        "/api/v1",
        "/apis/apps/v1",
        "/apis/apps",
        "/api/v1/namespaces/x",
    ] {
        let protobuf = asking.get(path, PROTOBUF).await;
        let json = asking.get(path, JSON).await;
        assert_eq!(protobuf.code, json.code, "{path}");
        assert_eq!(protobuf.value(), json.value(), "{path}");
    }
    let metadata = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let (protobuf, json) = asking.both_as("/api/v1/namespaces", metadata).await.unwrap();
    assert_eq!(protobuf, json);

    let table = ";as=Table;g=meta.k8s.io;v=v1";
    let table = asking
        .get("/api/v1/namespaces", &format!("{PROTOBUF}{table}"))
        .await;
    assert_eq!(table.code, 406);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a real API server: conformance/run"]
async fn watches_are_equal_in_both_encodings() {
    let server = RealServer::start().await.unwrap();
    let asking = Asking {
        client: server.client(&User::admin()).await.unwrap(),
    };
    let path = "/api/v1/namespaces?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=2";
    let mut told = BTreeMap::new();
    for accept in [PROTOBUF, JSON] {
        let response = asking.ask("GET", path, accept, None).await;
        let content_type = response.headers()["content-type"].to_str().unwrap().to_owned();
        let mut body = response.into_body().collect().await.unwrap().to_bytes();
        let mut events = Vec::new();
        if accept == PROTOBUF {
            assert_eq!(content_type, "application/vnd.kubernetes.protobuf;stream=watch");
            while body.has_remaining() {
                let length = body.get_u32() as usize;
                let frame = body.split_to(length);
                events.push(from_message::<Value>(Descriptor::watch_event(), &frame).unwrap());
            }
        } else {
            events.extend(
                serde_json::Deserializer::from_slice(&body)
                    .into_iter()
                    .map(Result::unwrap),
            );
        }
        assert!(events.iter().any(|event: &Value| event["type"] == "BOOKMARK"));
        events.retain(|event| event["type"] == "ADDED");
        events.sort_by_key(|event| event["object"]["metadata"]["name"].to_string());
        told.insert(accept, events);
    }
    assert!(told[JSON].len() >= 4);
    assert_eq!(told[PROTOBUF], told[JSON]);
}
