//! A program that starts from the cache that its last run has saved: run it twice, and change a pod in between.

use k8s_openapi::api::core::v1::Pod;
use kube_informer::form::Packed;
use kube_informer::warm_start::{Start, WarmStart};
use kube_informer::{HandlerOptions, Notification, SharedInformerFactory};
use std::time::Duration;

#[allow(clippy::print_stdout)] // an example talks
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let directory = std::env::temp_dir().join("kube-informer-warm-start");
    let factory = SharedInformerFactory::builder(kube::Client::try_default().await?)
        // Of forms, `Packed` and `DynamicObject` are saved; Secrets are not.
        .warm_start(WarmStart::in_directory(&directory))
        .build();
    let pods = factory.informer::<Packed<Pod>>();

    // Is told of the pods in the file at once, then of what changed while the program was down.
    pods.add_handler("eager", |change: Notification<Packed<Pod>>| match change {
        Notification::Add { initial: true, .. } => {}
        change => println!("changed meanwhile, or now: {}", change.key()),
    })?
    .detach();
    // Is told of nothing that the server has not confirmed.
    let confirmed = HandlerOptions::named("confirmed").after_sync();
    pods.add_handler(confirmed, |change: Notification<Packed<Pod>>| {
        println!("confirmed: {}", change.key());
    })?
    .detach();
    factory.start();

    if pods.restored().await? {
        println!(
            "{} pods from {}, stale until confirmed",
            pods.store().len(),
            directory.display()
        );
    }
    if let Some(status) = pods.status().warm_start
        && let Start::Cold { reason } = status.start
    {
        println!("no pods from {}: {reason}", directory.display());
    }
    factory.wait_for_sync(Duration::from_secs(30)).await?;
    println!("{} pods, confirmed by the server", pods.store().len());
    tokio::signal::ctrl_c().await?;
    // Saves once more.
    factory.shutdown().await?;
    Ok(())
}
