//! The requests: GET, POST and PUT of one Lease, each with a timeout.

use super::clock::Clock;
use crate::time::after;
use kube::api::{ApiResource, DeleteParams, DynamicObject, ListParams, PostParams, Preconditions};
use kube::{Api, Client};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Why a request did not do what it should.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockError {
    /// Somebody else wrote first.
    #[error("somebody else wrote the Lease first")]
    Conflict,
    #[error("the server did not answer within {0:?}")]
    TimedOut(Duration),
    /// A write without a version overwrites whatever is there; one without a uid makes a deleted Lease again.
    #[error("the Lease has no uid or no resourceVersion")]
    Unconditional,
    /// The server changed what was written.
    #[error("the server answered with another holder")]
    OtherHolder,
    /// What the server says without the rest of its status.
    #[error("{} ({})", .0.message, .0.code)]
    Refused(Box<kube::core::Status>),
    #[error("{0}")]
    Request(kube::Error),
}

impl From<kube::Error> for LockError {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) if status.code == 409 => Self::Conflict,
            kube::Error::Api(status) if !status.message.is_empty() => Self::Refused(status),
            error => Self::Request(error),
        }
    }
}

/// One Lease.
#[derive(Debug)]
pub(crate) struct LeaseLock {
    api: Api<DynamicObject>,
    kind: ApiResource,
    namespace: String,
    name: String,
    labels: BTreeMap<String, String>,
    clock: Arc<dyn Clock>,
    timeout: Duration,
}

impl LeaseLock {
    pub(crate) fn new(
        client: Client,
        namespace: &str,
        name: &str,
        clock: Arc<dyn Clock>,
        timeout: Duration,
    ) -> Self {
        let kind = ApiResource {
            group: "coordination.k8s.io".into(),
            version: "v1".into(),
            api_version: "coordination.k8s.io/v1".into(),
            kind: "Lease".into(),
            plural: "leases".into(),
        };
        Self {
            api: Api::namespaced_with(client, namespace, &kind),
            kind,
            namespace: namespace.into(),
            name: name.into(),
            labels: BTreeMap::new(),
            clock,
            timeout,
        }
    }

    /// The Lease, to be written by [`create`](Self::create).
    pub(crate) fn absent(&self) -> DynamicObject {
        let mut lease = DynamicObject::new(&self.name, &self.kind).within(&self.namespace);
        if !self.labels.is_empty() {
            lease.metadata.labels = Some(self.labels.clone());
        }
        lease
    }

    /// Has the Lease made with this label.
    pub(crate) fn label(&mut self, name: &str, value: &str) {
        self.labels.insert(name.into(), value.into());
    }

    /// The newest state of all Leases in the namespace with this label.
    pub(crate) async fn list(&self, name: &str, value: &str) -> Result<Vec<DynamicObject>, LockError> {
        let labelled = ListParams::default().labels(&format!("{name}={value}"));
        Ok(self.in_time(self.api.list(&labelled)).await?.items)
    }

    /// Deletes another Lease of the namespace, if it is still in this state.
    pub(crate) async fn delete(&self, lease: &DynamicObject) -> Result<(), LockError> {
        let params = DeleteParams {
            preconditions: Some(Preconditions {
                uid: lease.metadata.uid.clone(),
                resource_version: lease.metadata.resource_version.clone(),
            }),
            ..DeleteParams::default()
        };
        let name = lease.metadata.name.as_deref().unwrap_or_default();
        self.in_time(self.api.delete(name, &params)).await.map(drop)
    }

    pub(crate) async fn get(&self) -> Result<Option<DynamicObject>, LockError> {
        self.in_time(self.api.get_opt(&self.name)).await
    }

    pub(crate) async fn create(&self, lease: &DynamicObject) -> Result<DynamicObject, LockError> {
        self.in_time(self.api.create(&params(), lease)).await
    }

    /// Replaces the version that `lease` was read from.
    pub(crate) async fn update(&self, lease: &DynamicObject) -> Result<DynamicObject, LockError> {
        let version = lease.metadata.resource_version.as_deref();
        let uid = lease.metadata.uid.as_deref();
        if matches!(version, None | Some("" | "0")) || matches!(uid, None | Some("")) {
            return Err(LockError::Unconditional);
        }
        let mut lease = lease.clone();
        if !self.labels.is_empty() {
            // Others find it by them, so one that was removed comes back.
            let labels = lease.metadata.labels.get_or_insert_default();
            labels.extend(self.labels.clone());
        }
        self.in_time(self.api.replace(&self.name, &params(), &lease))
            .await
    }

    async fn in_time<T>(&self, request: impl Future<Output = kube::Result<T>>) -> Result<T, LockError> {
        let timeout = self.clock.sleep_until(after(self.clock.now(), self.timeout));
        tokio::select! {
            biased;
            answer = request => Ok(answer?),
            () = timeout => Err(LockError::TimedOut(self.timeout)),
        }
    }
}

/// Names the writer in `managedFields`.
fn params() -> PostParams {
    PostParams {
        field_manager: Some(env!("CARGO_PKG_NAME").into()),
        ..PostParams::default()
    }
}
