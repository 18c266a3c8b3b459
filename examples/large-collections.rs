//! Keeping a large collection in little memory: pods packed, with an index by node; nodes as a struct of a few fields.

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::core::ApiResource;
use kube_informer::form::{Metadata, Packed};
use kube_informer::informer::Stopped;
use kube_informer::source::{ClientSource, Selection};
use kube_informer::{
    CachedObject, FieldPath, FieldPlan, Notification, SharedInformer, SharedInformerFactory,
};
use serde::Deserialize;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What this program wants to know of a node; nothing else is decoded or kept.
#[derive(Debug, Deserialize, CachedObject)]
#[object(resource = Node)]
struct NodeView {
    metadata: Metadata,
    #[serde(default)]
    spec: NodeSpec,
}

#[derive(Debug, Default, Deserialize)]
struct NodeSpec {
    #[serde(default)]
    unschedulable: bool,
}

#[allow(clippy::print_stdout)] // an example talks
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let client = kube::Client::try_default().await?;

    // The node's name is found while an object is scanned, so that the index never decodes a pod.
    let node_name = FieldPath::parse("/spec/nodeName")?;
    let plan = FieldPlan::new(
        [FieldPath::parse("/metadata/managedFields")?],
        [node_name.clone()],
    )?;
    let source = ClientSource::new(
        client.clone(),
        ApiResource::erase::<Pod>(&()),
        Selection::default(),
    );
    let (pods, runner) = SharedInformer::<Packed<Pod>>::builder(source).plan(plan).build();
    let by_node = pods.store().add_index("by-node", Packed::index_by(node_name))?;
    let packer = runner.decoder();
    print_restarts(&pods)?;

    let factory = SharedInformerFactory::new(client);
    let nodes = factory.informer::<NodeView>();

    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    factory.start();
    factory.wait_for_sync(Duration::from_secs(30)).await?;
    pods.synced().await?;

    for node in nodes.store().list() {
        let on_it = pods.store().by_index(&by_node, &*node.metadata.name)?.len();
        let cordoned = if node.spec.unschedulable { ", cordoned" } else { "" };
        println!("{}: {on_it} pods{cordoned}", node.metadata.name);
    }
    let stats = packer.stats();
    println!("{} pods in {} KiB", stats.objects, stats.total_bytes / 1024);

    tokio::signal::ctrl_c().await?;
    stop.cancel();
    running.await??;
    factory.shutdown().await?;
    Ok(())
}

/// A pod is decoded only when something is to be said about it.
#[allow(clippy::print_stdout)]
fn print_restarts(pods: &SharedInformer<Packed<Pod>>) -> Result<(), Stopped> {
    let handler = |change: Notification<Packed<Pod>>| {
        let Notification::Update { new, .. } = change else {
            return;
        };
        // An object that is not what its type expects shows here.
        let Ok(pod) = new.decode() else { return };
        let statuses = pod
            .status
            .iter()
            .flat_map(|status| status.container_statuses.iter().flatten());
        let restarts: i32 = statuses.map(|status| status.restart_count).sum();
        if restarts > 0 {
            println!("{}: {restarts} restarts", new.key());
        }
    };
    pods.add_handler("restarts", handler)?.detach();
    Ok(())
}
