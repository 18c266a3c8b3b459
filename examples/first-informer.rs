//! A first informer: counts the pods of the cluster, then prints every change until Ctrl-C.

use k8s_openapi::api::core::v1::Pod;
use kube_informer::{Notification, SharedInformerFactory};
use std::time::Duration;

#[allow(clippy::print_stdout)] // an example talks
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let factory = SharedInformerFactory::new(kube::Client::try_default().await?);
    let pods = factory.informer::<Pod>();
    factory.start();
    factory.wait_for_sync(Duration::from_secs(30)).await?;
    println!("{} pods", pods.store().len());

    pods.add_handler("print", |change: Notification<Pod>| println!("{change:?}"))?
        .detach();
    tokio::signal::ctrl_c().await?;
    factory.shutdown().await?;
    Ok(())
}
