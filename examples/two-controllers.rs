//! Two controllers that share one cache: one counts the pods of each node, the other looks for pods that restart.
//!
//! Handlers do nothing but put keys on a work queue; workers read the current state from the cache. Both controllers
//! ask the factory for pods and get the same informer: one watch, one store.

use k8s_openapi::api::core::v1::{Node, Pod};
use kube_informer::informer::enqueue;
use kube_informer::{ObjectKey, SharedInformerFactory};
use kube_workqueue::{Requeue, WorkQueue, Workers};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

/// The node a pod runs on.
fn node_of(pod: &Arc<Pod>) -> Option<String> {
    pod.spec.as_ref()?.node_name.clone()
}

/// Counts the pods of each node whose pods change.
#[allow(clippy::print_stdout)] // an example talks
fn count_pods(
    factory: &SharedInformerFactory,
) -> anyhow::Result<(WorkQueue<ObjectKey>, impl Future<Output = ()> + use<>)> {
    let (pods, nodes) = (factory.informer::<Pod>(), factory.informer::<Node>());
    let by_node = pods.store().add_index("by-node", node_of)?;
    let queue = WorkQueue::new();
    let changed = queue.clone();
    let node_key = |pod: &Arc<Pod>| node_of(pod).map(ObjectKey::from);
    let handler = enqueue::mapped::<Pod, _>(node_key, move |node| changed.add(node));
    pods.add_handler("count-pods", handler)?.detach();
    let workers = Workers::new(queue.clone(), 2);
    let store = pods.store().clone();
    let run = workers.run(move |node: ObjectKey| {
        let known = nodes.lister().get(&node).is_ok();
        let count = store.by_index(&by_node, node.as_str()).map(|pods| pods.len());
        async move {
            println!("{node}: {count:?} pods (node known: {known})");
            Ok::<_, Infallible>(Requeue::No)
        }
    });
    Ok((queue, async move {
        run.await;
    }))
}

/// Tells of pods with restarts.
#[allow(clippy::print_stdout)]
fn find_restarts(
    factory: &SharedInformerFactory,
) -> anyhow::Result<(WorkQueue<ObjectKey>, impl Future<Output = ()> + use<>)> {
    let pods = factory.informer::<Pod>();
    let queue = WorkQueue::new();
    let changed = queue.clone();
    pods.add_handler("find-restarts", enqueue::object(move |key| changed.add(key)))?
        .detach();
    let lister = pods.lister();
    let run = Workers::new(queue.clone(), 1).run(move |key: ObjectKey| {
        let pod = lister.get(&key).ok();
        async move {
            let status = pod
                .as_ref()
                .and_then(|pod| pod.status.as_ref()?.container_statuses.as_ref());
            let restarts: i32 = status
                .into_iter()
                .flatten()
                .map(|container| container.restart_count)
                .sum();
            if restarts > 0 {
                println!("{key}: {restarts} restarts");
            }
            Ok::<_, Infallible>(Requeue::No)
        }
    });
    Ok((queue, async move {
        run.await;
    }))
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let factory = SharedInformerFactory::new(kube::Client::try_default().await?);
    let (pods_queue, counting) = count_pods(&factory)?;
    let (restarts_queue, finding) = find_restarts(&factory)?;
    factory.start();
    factory.wait_for_sync(Duration::from_secs(30)).await?;
    // Workers start when the cache is complete, so that they do not act on half of it.
    let workers = [tokio::spawn(counting), tokio::spawn(finding)];

    tokio::signal::ctrl_c().await?;
    factory.shutdown().await?;
    pods_queue.shut_down_with_drain().await;
    restarts_queue.shut_down_with_drain().await;
    for worker in workers {
        worker.await?;
    }
    Ok(())
}
