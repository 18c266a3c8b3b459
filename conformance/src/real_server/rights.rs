//! What users may do: roles, given and withdrawn; and what only etcd can do.

use std::time::Duration;

use serde_json::{Value, json};

use super::{RealServer, ServerError};

/// The verbs that an informer needs.
const READING: [&str; 3] = ["get", "list", "watch"];

impl RealServer {
    /// Sends a request as `admin`; None as body sends none.
    ///
    /// # Errors
    ///
    /// What the server answered, if it is not a success, or why it did not answer.
    pub async fn request(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, ServerError> {
        let content_type = match method {
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        let body = body.map_or_else(Vec::new, |body| body.to_string().into_bytes());
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", content_type)
            .body(body)
            .map_err(ServerError::client)?;
        self.admin.request(request).await.map_err(|error| match error {
            kube::Error::Api(status) => ServerError::Refused {
                request: format!("{method} {path}"),
                code: status.code,
                message: status.message.clone(),
            },
            error => ServerError::client(error),
        })
    }

    /// Lets a user get, list and watch a resource in all namespaces, and waits until the server says so.
    ///
    /// Idempotent, and effective without a restart.
    ///
    /// # Errors
    ///
    /// What the server answered.
    pub async fn allow(&self, user: &str, group: &str, resource: &str) -> Result<(), ServerError> {
        let name = role_name(user, group, resource);
        let role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name},
            "rules": [{"apiGroups": [group], "resources": [resource], "verbs": READING}],
        });
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
        });
        for (plural, object) in [("clusterroles", role), ("clusterrolebindings", binding)] {
            let path = format!("/apis/rbac.authorization.k8s.io/v1/{plural}");
            let created = self.request("POST", &path, Some(&object)).await;
            unless(409, created)?;
        }
        self.wait_until_allowed(user, group, resource, true).await
    }

    /// Withdraws what [`allow`](Self::allow) gave, and waits until the server says so.
    ///
    /// Idempotent, and effective without a restart; watches that are open go on.
    ///
    /// # Errors
    ///
    /// What the server answered.
    pub async fn forbid(&self, user: &str, group: &str, resource: &str) -> Result<(), ServerError> {
        let name = role_name(user, group, resource);
        for plural in ["clusterrolebindings", "clusterroles"] {
            let path = format!("/apis/rbac.authorization.k8s.io/v1/{plural}/{name}");
            unless(404, self.request("DELETE", &path, None).await)?;
        }
        self.wait_until_allowed(user, group, resource, false).await
    }

    async fn wait_until_allowed(
        &self,
        user: &str,
        group: &str,
        resource: &str,
        expected: bool,
    ) -> Result<(), ServerError> {
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": user, "resourceAttributes": {"group": group, "resource": resource, "verb": "watch"}},
        });
        let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
        for _ in 0..600 {
            let answer = self.request("POST", path, Some(&review)).await?;
            if answer["status"]["allowed"] == expected {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Err(ServerError::client(format!(
            "the rights of {user} have not changed in time"
        )))
    }

    /// Compacts etcd: what it keeps begins with the state at `resource_version`.
    ///
    /// The API server remembers more, until it is started again: its watch history and the states of lists.
    ///
    /// # Errors
    ///
    /// What etcd answered.
    pub async fn compact(&self, resource_version: u64) -> Result<(), ServerError> {
        let config = kube::Config::new(self.etcd_url().parse().map_err(ServerError::client)?);
        let etcd = kube::Client::try_from(config).map_err(ServerError::client)?;
        let body = json!({"revision": resource_version.to_string(), "physical": true}).to_string();
        let request = http::Request::post("/v3/kv/compaction").header("content-type", "application/json");
        let request = request.body(body.into_bytes()).map_err(ServerError::client)?;
        etcd.request_text(request)
            .await
            .map_err(ServerError::client)
            .map(drop)
    }

    /// The newest resource version of all.
    ///
    /// # Errors
    ///
    /// What the server answered.
    pub async fn resource_version(&self) -> Result<u64, ServerError> {
        let list = self.request("GET", "/api/v1/namespaces?limit=1", None).await?;
        let version = list["metadata"]["resourceVersion"]
            .as_str()
            .and_then(|text| text.parse().ok());
        version.ok_or_else(|| ServerError::client("a list without a resource version"))
    }
}

fn role_name(user: &str, group: &str, resource: &str) -> String {
    format!("conformance:{user}:{resource}.{group}")
}

fn unless(expected: u16, result: Result<Value, ServerError>) -> Result<(), ServerError> {
    match result {
        Err(ServerError::Refused { code, .. }) if code == expected => Ok(()),
        Err(error) => Err(error),
        Ok(_) => Ok(()),
    }
}
