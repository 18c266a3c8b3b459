//! Kinds that are known only at run time: `dynamic-kinds v1/ConfigMap apps/v1/Deployment example.com/v1/Widget`.
//!
//! Of each, the number of objects is printed, and the names of those in one namespace.

use anyhow::Context;
use kube::core::{DynamicObject, GroupVersionKind};
use kube_informer::{SharedInformerFactory, source::Selection};
use std::time::Duration;

/// `group/version/Kind`, or `version/Kind` for the core group.
fn kind(text: &str) -> anyhow::Result<GroupVersionKind> {
    match *text.split('/').collect::<Vec<_>>() {
        [version, kind] => Ok(GroupVersionKind::gvk("", version, kind)),
        [group, version, kind] => Ok(GroupVersionKind::gvk(group, version, kind)),
        _ => anyhow::bail!("{text:?} is not group/version/Kind"),
    }
}

#[allow(clippy::print_stdout)] // an example talks
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let client = kube::Client::try_default().await?;
    let factory = SharedInformerFactory::new(client.clone());
    let mut informers = vec![];
    for text in std::env::args().skip(1) {
        // Discovery knows the plural, which cannot be guessed from the kind.
        let (resource, _) = kube::discovery::pinned_kind(&client, &kind(&text)?)
            .await
            .with_context(|| format!("the cluster does not serve {text}"))?;
        informers.push(factory.informer_for_resource::<DynamicObject>(resource, Selection::default()));
    }
    factory.start();
    factory.wait_for_sync(Duration::from_secs(30)).await?;
    for informer in &informers {
        let names = informer.lister().namespace("default").list();
        let names: Vec<_> = names
            .iter()
            .filter_map(|object| object.metadata.name.as_deref())
            .collect();
        println!(
            "{}: {} objects; in default: {names:?}",
            informer.resource(),
            informer.store().len()
        );
    }
    factory.shutdown().await?;
    Ok(())
}
