//! Packed objects in an informer, against a simulated cluster over real HTTP.

use instances as _;
use k8s_openapi::api::core::v1::Pod;
use kube::core::ApiResource;
use kube_informer::FieldPlan;
use kube_informer::form::Packed;
use kube_informer::source::{ClientSource, Selection};
use kube_informer::{
    DeleteCause, FieldPath, Notification, ResourceEventHandlerFuncs, ResourceVersion, SharedInformer,
    SharedInformerFactory,
};
use kube_sim::{Sim, SimServer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn client(server: &SimServer) -> kube::Client {
    kube::Client::try_from(kube::Config::new(server.url().parse().unwrap())).unwrap()
}

/// The cluster's pods without their managed fields, by key.
fn truth(sim: &Sim) -> BTreeMap<String, Value> {
    let pods = sim.store().list("v1", "Pod", None).unwrap().into_iter();
    pods.map(|mut pod| {
        let metadata = pod["metadata"].as_object_mut().unwrap();
        metadata.remove("managedFields");
        let key = format!(
            "{}/{}",
            metadata["namespace"].as_str().unwrap(),
            metadata["name"].as_str().unwrap()
        );
        // The items of a list do not say what they are.
        pod.as_object_mut()
            .unwrap()
            .retain(|name, _| name != "kind" && name != "apiVersion");
        (key, pod)
    })
    .collect()
}

fn body(pod: &Packed<Pod>) -> Value {
    let mut body: Value = serde_json::from_slice(&pod.body()).unwrap();
    body.as_object_mut()
        .unwrap()
        .retain(|name, _| name != "kind" && name != "apiVersion");
    body
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_packed_cache_ends_equal_to_a_changing_cluster() {
    let server = SimServer::builder()
        .nodes(10)
        .pods(300)
        .churn(400.0)
        .seed(3)
        .bookmark_interval(Duration::from_millis(100))
        .start()
        .await
        .unwrap();
    let (managed, node): (FieldPath, FieldPath) = (
        "/metadata/managedFields".parse().unwrap(),
        "/spec/nodeName".parse().unwrap(),
    );
    let source = ClientSource::new(
        client(&server),
        ApiResource::erase::<Pod>(&()),
        Selection::default(),
    );
    let plan = FieldPlan::new([managed], [node.clone()]).unwrap();
    let (pods, runner) = SharedInformer::<Packed<Pod>>::builder(source).plan(plan).build();
    let packer = runner.decoder();
    let by_node = pods.store().add_index("by-node", Packed::index_by(node)).unwrap();

    let known: Arc<Mutex<BTreeMap<String, Packed<Pod>>>> = Arc::default();
    let (added, updated, deleted) = (known.clone(), known.clone(), known.clone());
    let handler = ResourceEventHandlerFuncs::<Packed<Pod>>::new()
        .on_add(move |pod, _| {
            assert!(
                added.lock().unwrap().insert(pod.key().to_string(), pod).is_none(),
                "added twice"
            );
        })
        .on_update(move |old, new| {
            assert_eq!(old.uid(), new.uid());
            assert!(
                updated
                    .lock()
                    .unwrap()
                    .insert(new.key().to_string(), new)
                    .is_some()
            );
        })
        .on_delete(move |gone| assert!(deleted.lock().unwrap().remove(&*gone.key).is_some()));
    let handler = pods.add_handler("follow", handler).unwrap();

    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    pods.synced().await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    server.stop_churn().await;
    assert!(server.changes() > 50);
    let version = ResourceVersion::from(server.store().resource_version());
    tokio::time::timeout(Duration::from_secs(30), pods.store().wait_until(&version))
        .await
        .unwrap()
        .unwrap();
    handler.drain().await;

    let truth = truth(&server);
    assert_eq!(pods.store().list_keys().len(), truth.len());
    let known = std::mem::take(&mut *known.lock().unwrap());
    assert_eq!(known.keys().collect::<Vec<_>>(), truth.keys().collect::<Vec<_>>());
    for (key, pod) in &truth {
        let held = pods.store().get(key).unwrap();
        assert_eq!(&body(&held), pod, "{key}");
        assert_eq!(body(&known[key]), *pod, "{key}");
        assert_eq!(
            held.decode().unwrap().metadata.name.as_deref(),
            pod["metadata"]["name"].as_str()
        );
        assert_eq!(held.label("app"), pod["metadata"]["labels"]["app"].as_str());
    }
    for n in 0..10 {
        let expected = truth
            .values()
            .filter(|pod| pod["spec"]["nodeName"] == format!("node-{n}"))
            .count();
        assert_eq!(
            pods.store()
                .by_index(&by_node, &format!("node-{n}"))
                .unwrap()
                .len(),
            expected
        );
    }
    assert_eq!(packer.stats().dictionaries, 1);

    stop.cancel();
    running.await.unwrap().unwrap();
    drop((pods, known));
    assert_eq!(packer.stats().objects, 0, "nothing outlives the informer");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_factory_makes_packed_informers() {
    let server = SimServer::builder().pods(100).start().await.unwrap();
    let factory = SharedInformerFactory::new(client(&server));
    let pods =
        factory.informer_for_resource::<Packed<Pod>>(ApiResource::erase::<Pod>(&()), Selection::default());
    factory.start();
    factory.wait_for_sync(Duration::from_secs(30)).await.unwrap();
    let mut changes = pods.subscribe("test").unwrap();
    let all = truth(&server);
    use futures::StreamExt;
    for _ in &all {
        assert!(matches!(
            changes.next().await,
            Some(Notification::Add { initial: true, .. })
        ));
    }
    let (key, pod) = all.first_key_value().unwrap();
    let (namespace, name) = key.split_once('/').unwrap();
    let api: kube::Api<Pod> = kube::Api::namespaced(client(&server), namespace);
    let now = kube::api::DeleteParams::default().grace_period(0);
    api.delete(name, &now).await.unwrap();
    loop {
        match changes.next().await.unwrap() {
            Notification::Delete(gone) => {
                assert_eq!((gone.key.as_str(), &gone.cause), (&**key, &DeleteCause::Event));
                let last = gone.last_known.unwrap().decode().unwrap();
                assert_eq!(last.metadata.uid.as_deref(), pod["metadata"]["uid"].as_str());
                break;
            }
            other => assert!(matches!(other, Notification::Update { .. }), "{other:?}"),
        }
    }
    factory.shutdown().await.unwrap();
}
