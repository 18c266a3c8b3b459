//! A controller that creates objects with generated names, and never one too many: for each config map with the label
//! `token=wanted`, it keeps one secret with the label `token-of=<name>`.
//!
//! Right after a secret was created, the cache does not have it yet. A controller that only looks into the cache creates
//! another one, and another one, for as long as the cache is behind. `WriteTracker` keeps it from looking too early.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, ObjectMeta, PostParams};
use kube_informer::informer::{WriteTracker, enqueue};
use kube_informer::selector::LabelSelector;
use kube_informer::{CachedObject, InformerRequest, Lister, ObjectKey, SharedInformerFactory};
use kube_workqueue::{Requeue, WorkQueue, Workers};
use std::time::Duration;

#[derive(Clone)]
struct Controller {
    client: kube::Client,
    configs: Lister<ConfigMap>,
    secrets: Lister<Secret>,
    writes: WriteTracker<Secret>,
}

impl Controller {
    async fn reconcile(self, key: ObjectKey) -> anyhow::Result<Requeue> {
        if !self.writes.caught_up(&key) {
            return Ok(Requeue::After(Duration::from_millis(100)));
        }
        let (Ok(_), Some(namespace)) = (self.configs.get(&key), key.namespace()) else {
            return Ok(Requeue::No);
        };
        let selector = LabelSelector::parse(&format!("token-of={}", key.name()))?;
        if !self.secrets.namespace(namespace).select(&selector).is_empty() {
            return Ok(Requeue::No);
        }
        let secret = Secret {
            metadata: ObjectMeta {
                generate_name: Some("token-".into()),
                labels: Some([("token-of".to_owned(), key.name().to_owned())].into()),
                ..Default::default()
            },
            ..Default::default()
        };
        let secrets = Api::<Secret>::namespaced(self.client, namespace);
        let created = secrets.create(&PostParams::default(), &secret).await?;
        let version = created.metadata.resource_version.unwrap_or_default();
        // Under the key that is reconciled: the new secret's name is known to nobody else.
        self.writes.record(key, version.as_str().into());
        Ok(Requeue::No)
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let client = kube::Client::try_default().await?;
    let factory = SharedInformerFactory::new(client.clone());
    let configs = factory.informer_with(InformerRequest::<ConfigMap>::new().label_selector("token=wanted"));
    let secrets = factory.informer_with(InformerRequest::<Secret>::new().label_selector("token-of"));

    let queue = WorkQueue::<ObjectKey>::new();
    let (of_configs, of_secrets) = (queue.clone(), queue.clone());
    configs
        .add_handler("configs", enqueue::object(move |key| of_configs.add(key)))?
        .detach();
    let config_of = |secret: &std::sync::Arc<Secret>| {
        let name = Secret::label_of(secret, "token-of")?;
        Some(ObjectKey::new(Secret::namespace_of(secret), name))
    };
    let handler = enqueue::mapped::<Secret, _>(config_of, move |key| of_secrets.add(key));
    secrets.add_handler("secrets", handler)?.detach();

    factory.start();
    factory.wait_for_sync(Duration::from_secs(30)).await?;
    let controller = Controller {
        client,
        configs: configs.lister(),
        secrets: secrets.lister(),
        writes: WriteTracker::new(secrets),
    };
    let workers = Workers::new(queue.clone(), 4).run(move |key: ObjectKey| controller.clone().reconcile(key));
    let workers = tokio::spawn(workers);
    tokio::signal::ctrl_c().await?;
    factory.shutdown().await?;
    queue.shut_down_with_drain().await;
    workers.await?;
    Ok(())
}
