//! One view of several namespaces that come and go: `tenants team=web` counts the pods and lists the config maps of
//! all namespaces that a label selector selects, as they get and lose the label.
//!
//! One informer watches the namespaces and keeps a `NamespaceSet` up to date; the others are over that set. Nothing else is
//! watched, so it takes no right to see other namespaces' pods.

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod};
use kube_informer::factory::Namespaces;
use kube_informer::{
    CachedObject, InformerRequest, NamespaceSet, Notification, ResourceEventHandlerFuncs,
    SharedInformerFactory,
};
use std::time::Duration;

#[allow(clippy::print_stdout, clippy::print_stderr)] // an example talks
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let selector = std::env::args().nth(1).unwrap_or_default();
    let tenants = NamespaceSet::default();
    let factory = SharedInformerFactory::builder(kube::Client::try_default().await?)
        .namespaces(&tenants)
        .on_error(|error| eprintln!("{} in {:?}: {}", error.resource, error.namespace, error.message))
        .build();

    let selected = InformerRequest::<Namespace>::new()
        .namespaces(Namespaces::All)
        .label_selector(selector);
    let namespaces = factory.informer_with(selected);
    let (added, removed) = (tenants.clone(), tenants.clone());
    // A namespace that loses the label is deleted from this informer, as if it did not exist any more.
    let follow = ResourceEventHandlerFuncs::<Namespace>::new()
        .on_add(move |namespace, _| _ = added.add(Namespace::name_of(&namespace)))
        .on_delete(move |deleted| _ = removed.remove(deleted.key.name()));
    let following = namespaces.add_handler("follow", follow)?;

    let pods = factory.informer::<Pod>();
    let configs = factory.informer::<ConfigMap>();
    configs
        .add_handler("log", |change: Notification<ConfigMap>| println!("{change:?}"))?
        .detach();
    factory.start();
    // First the namespaces are known, then what is in them.
    following.synced().await?;
    factory.wait_for_sync(Duration::from_secs(30)).await?;
    loop {
        println!("{} pods in {:?}", pods.store().len(), tenants.names());
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(10)) => {}
            result = tokio::signal::ctrl_c() => {
                result?;
                break;
            }
        }
    }
    factory.shutdown().await?;
    Ok(())
}
