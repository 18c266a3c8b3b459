//! The life of an object with a finalizer, and the helpers that write, over HTTP.

use instances as _;
use k8s_openapi::api::apps::v1::{Deployment, DeploymentStatus};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use kube_controller::controller::Action;
use kube_controller::controllerutil::{OperationResult, create_or_update, patch_status};
use kube_controller::finalizer::{Error, Event, finalizer};
use kube_sim::SimServer;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const OURS: &str = "example.com/ours";
const DONE: Action = Action::requeue(Duration::from_secs(7));

struct Scene {
    server: SimServer,
    client: Client,
    maps: Api<ConfigMap>,
}

impl Scene {
    async fn new() -> Self {
        let server = SimServer::builder().start().await.unwrap();
        let client = Client::try_from(kube::Config::new(server.url().parse().unwrap())).unwrap();
        Self {
            server,
            maps: Api::namespaced(client.clone(), "default"),
            client,
        }
    }

    fn create(&self, finalizers: &[&str]) {
        let map = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "namespace": "default", "finalizers": finalizers},
        });
        self.server.store().create(map).unwrap();
    }

    fn delete(&self) {
        let store = self.server.store();
        store.delete("v1", "ConfigMap", Some("default"), "a").unwrap();
    }

    /// What a cache would have.
    async fn read(&self) -> Arc<ConfigMap> {
        Arc::new(self.maps.get("a").await.unwrap())
    }

    async fn set(&self, finalizers: Value) {
        let patch = json!({"metadata": {"finalizers": finalizers}});
        let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
        self.maps.patch("a", &params, &patch).await.unwrap();
    }

    fn stored(&self) -> Option<Vec<String>> {
        let map = self
            .server
            .store()
            .get("v1", "ConfigMap", Some("default"), "a")
            .ok()?;
        let finalizers = serde_json::from_value(map["metadata"]["finalizers"].clone());
        Some(finalizers.unwrap_or_default())
    }

    /// A pass whose reconcile counts what it is called with.
    async fn pass(&self, map: Arc<ConfigMap>) -> (Action, usize, usize) {
        let (applied, cleaned) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let action = finalizer(&self.maps, OURS, map, async |event| {
            match event {
                Event::Apply(_) => applied.fetch_add(1, Ordering::Relaxed),
                Event::Cleanup(_) => cleaned.fetch_add(1, Ordering::Relaxed),
            };
            Ok::<_, Infallible>(DONE)
        });
        (action.await.unwrap(), applied.into_inner(), cleaned.into_inner())
    }

    /// A pass whose reconcile fails.
    async fn failing_pass(&self, finalizer_name: &str) -> Error<std::io::Error> {
        let map = self.read().await;
        let failed = finalizer(&self.maps, finalizer_name, map, async |_| {
            Err(std::io::Error::other("no"))
        });
        failed.await.unwrap_err()
    }
}

#[tokio::test]
async fn a_finalizer_is_added_applied_cleaned_up_and_removed() {
    // Case 86.
    let scene = Scene::new().await;
    scene.create(&[]);
    let first = scene.pass(scene.read().await).await;
    assert_eq!(first, (Action::await_change(), 0, 0), "adding ends the pass");
    assert_eq!(scene.stored().unwrap(), [OURS]);
    assert_eq!(scene.pass(scene.read().await).await, (DONE, 1, 0));
    scene.delete();
    assert_eq!(scene.pass(scene.read().await).await, (DONE, 0, 1));
    assert_eq!(scene.stored(), None, "nothing holds it any more");
    scene.server.shutdown().await;
}

#[tokio::test]
async fn an_object_that_is_being_deleted_gets_no_finalizer() {
    // Case 86.
    let scene = Scene::new().await;
    scene.create(&["example.com/other"]);
    let living = scene.read().await;
    scene.delete();
    let deleting = scene.read().await;
    let version = deleting.metadata.resource_version.clone();
    for seen in [deleting, living] {
        assert_eq!(scene.pass(seen).await, (Action::await_change(), 0, 0));
    }
    assert_eq!(scene.stored().unwrap(), ["example.com/other"]);
    assert_eq!(scene.read().await.metadata.resource_version, version);
    scene.server.shutdown().await;
}

#[tokio::test]
async fn a_failure_keeps_its_finalizer_and_no_other() {
    // Case 85.
    let scene = Scene::new().await;
    scene.create(&[OURS, "example.com/other"]);
    assert!(matches!(scene.failing_pass(OURS).await, Error::ApplyFailed(_)));
    scene.delete();
    let failed = scene.failing_pass("example.com/other").await;
    assert!(
        failed.to_string().starts_with("failed to clean up object: "),
        "{failed}"
    );
    assert_eq!(scene.pass(scene.read().await).await, (DONE, 0, 1));
    assert_eq!(scene.stored().unwrap(), ["example.com/other"]);
    scene.server.shutdown().await;
}

#[tokio::test]
async fn a_stale_cache_doubles_and_removes_nothing() {
    let scene = Scene::new().await;
    scene.create(&[]);
    let stale = scene.read().await;
    scene.set(json!(["example.com/other"])).await;
    assert_eq!(scene.pass(stale.clone()).await.0, Action::await_change());
    assert_eq!(scene.pass(stale).await.0, Action::await_change());
    assert_eq!(scene.stored().unwrap(), ["example.com/other", OURS]);

    // The index of ours has changed by the time of the removal.
    scene.delete();
    let stale = scene.read().await;
    scene.set(json!([OURS])).await;
    assert_eq!(scene.pass(stale.clone()).await, (DONE, 0, 1));
    assert_eq!(scene.stored(), None);

    // It is gone; then it is another one.
    assert_eq!(scene.pass(stale.clone()).await, (DONE, 0, 1));
    scene.create(&[OURS]);
    assert_eq!(scene.pass(stale).await, (DONE, 0, 1));
    assert_eq!(scene.stored().unwrap(), [OURS], "the new object's");
    scene.server.shutdown().await;
}

#[tokio::test]
async fn an_unqualified_name_is_refused_without_a_request() {
    let scene = Scene::new().await;
    scene.create(&[]);
    let failed = scene.failing_pass("not a name").await;
    assert!(matches!(failed, Error::InvalidFinalizer));
    assert_eq!(scene.stored().unwrap(), Vec::<String>::new());
    scene.server.shutdown().await;
}

#[tokio::test]
async fn create_or_update_writes_only_what_has_changed() {
    // Case 84.
    let scene = Scene::new().await;
    let set = async |replicas: &str| {
        let mut map = ConfigMap::default();
        map.metadata.name = Some("web".into());
        let done = create_or_update(&scene.maps, map, |map| {
            let data = map.data.get_or_insert_default();
            data.insert("replicas".into(), replicas.into());
            Ok::<_, Infallible>(())
        });
        let (result, map) = done.await.unwrap();
        (result, map.metadata.resource_version)
    };
    let (created, first) = set("1").await;
    assert_eq!(created, OperationResult::Created);
    assert_eq!(set("1").await, (OperationResult::Unchanged, first.clone()));
    let (updated, second) = set("2").await;
    assert_eq!(updated, OperationResult::Updated);
    assert_ne!(second, first);

    let mut map = ConfigMap::default();
    map.metadata.name = Some("web".into());
    let renamed = create_or_update(&scene.maps, map, |map| {
        map.metadata.name = Some("shop".into());
        Ok::<_, Infallible>(())
    });
    let error = renamed.await.unwrap_err();
    assert_eq!(error.to_string(), "the object web must not be renamed");
    scene.server.shutdown().await;
}

#[tokio::test]
async fn a_status_is_written_when_it_differs() {
    let scene = Scene::new().await;
    let stored = scene.server.store().create(json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {}, "template": {}},
        "status": {"replicas": 1, "readyReplicas": 1},
    }));
    stored.unwrap();
    let api: Api<Deployment> = Api::namespaced(scene.client.clone(), "default");
    let seen = api.get("web").await.unwrap();
    let status = DeploymentStatus {
        replicas: Some(3),
        ..DeploymentStatus::default()
    };
    let written = patch_status(&api, &seen, &status)
        .await
        .unwrap()
        .expect("written");
    assert_eq!(written.status.as_ref(), Some(&status));
    assert!(patch_status(&api, &written, &status).await.unwrap().is_none());
    let version = api.get("web").await.unwrap().metadata.resource_version;
    assert_eq!(version, written.metadata.resource_version, "nothing was written");

    // The object has another version than the one that was reconciled.
    let fewer = DeploymentStatus {
        replicas: Some(2),
        ..DeploymentStatus::default()
    };
    let again = patch_status(&api, &seen, &fewer).await.unwrap().expect("written");
    assert_eq!(again.status, Some(fewer));

    let mut other = seen;
    other.metadata.uid = Some("another".into());
    let error = patch_status(&api, &other, &DeploymentStatus::default())
        .await
        .unwrap_err();
    assert!(matches!(error, kube::Error::Api(status) if status.code == 422));
    scene.server.shutdown().await;
}
