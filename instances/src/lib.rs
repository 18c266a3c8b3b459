//! Informers, requests and controllers of the kinds that most tests use. Nothing here is ever called.
//!
//! Without optimization, rustc takes an instance of generic code from a dependency that has it, and compiles it again
//! in each crate otherwise. An informer of pods is 11 seconds of compiling, most of it the decoding of a pod. So a test
//! names this crate (`use instances as _;`), and finds there what it has in common with others.

use futures::StreamExt;
use futures::future::{BoxFuture, FutureExt};
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod, Secret};
use kube::Client;
use kube::api::{DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, PartialObjectMeta};
use kube_informer::form::{Decode, StaticResource};
use kube_informer::source::{ClientSource, Selection};
use kube_informer::{Notification, SharedInformer, SharedInformerFactory};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::error::Error;
use std::fmt::Debug;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Boxed, so that what is in it is compiled here.
type Work = BoxFuture<'static, Result<(), Box<dyn Error + Send + Sync>>>;

macro_rules! kinds {
    ($of:ident: $($name:ident: $kind:ty),+ $(,)?) => {
        $(
            /// Of one kind.
            pub fn $name(client: &Client) -> Vec<Work> {
                $of::<$kind>(client)
            }
        )+
    };
}

kinds! {
    every_form:
    config_maps: ConfigMap,
    pods: Pod,
}

kinds! {
    usual_forms:
    deployments: Deployment,
    nodes: Node,
    replica_sets: ReplicaSet,
    secrets: Secret,
}

/// Of objects whose kind is known at run time.
pub fn dynamic_objects(client: &Client, resource: &ApiResource) -> Vec<Work> {
    let source = || ClientSource::new(client.clone(), resource.clone(), Selection::default());
    let informer = alone::<DynamicObject>(source());
    #[cfg(feature = "packed")]
    return vec![
        informer,
        alone::<kube_informer::form::Packed<DynamicObject>>(source()),
    ];
    #[cfg(not(feature = "packed"))]
    vec![informer]
}

fn every_form<K>(client: &Client) -> Vec<Work>
where
    K: StaticResource<Resource = K> + kube::Resource<DynamicType = ()>,
    K: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static,
    PartialObjectMeta<K>: StaticResource,
{
    let resource = ApiResource::erase::<K>(&());
    let source = ClientSource::new(client.clone(), resource, Selection::default());
    let mut all = usual_forms::<K>(client);
    all.push(alone::<K>(source));
    all.push(shared::<PartialObjectMeta<K>>(client));
    #[cfg(feature = "packed")]
    all.push(shared::<kube_informer::form::Packed<K>>(client));
    all
}

fn usual_forms<K>(client: &Client) -> Vec<Work>
where
    K: StaticResource<Resource = K> + kube::Resource<DynamicType = ()>,
    K: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static,
{
    vec![
        requests::<K>(kube::Api::all(client.clone())).boxed(),
        shared::<K>(client),
        // Which keeps them packed.
        #[cfg(feature = "controller")]
        controller::<K>(client),
    ]
}

async fn requests<K>(api: kube::Api<K>) -> Result<(), Box<dyn Error + Send + Sync>>
where
    K: Clone + Debug + Serialize + DeserializeOwned,
{
    let listed = api.list(&ListParams::default()).await?;
    api.list_metadata(&ListParams::default()).await?;
    for object in listed {
        let created = api.create(&PostParams::default(), &object).await?;
        api.replace("", &PostParams::default(), &created).await?;
    }
    let got = api.get("").await?;
    api.get_opt("").await?;
    api.patch("", &PatchParams::default(), &Patch::Merge(&got))
        .await?;
    api.patch_status("", &PatchParams::default(), &Patch::Merge(&got))
        .await?;
    let deleted = api.delete("", &Default::default()).await?;
    drop(format!("{got:?} {deleted:?}"));
    Ok(())
}

/// An informer of a factory.
fn shared<O: StaticResource>(client: &Client) -> Work {
    let factory = SharedInformerFactory::new(client.clone());
    async move {
        let informer = factory.informer::<O>();
        factory.start();
        factory.wait_for_sync(Duration::ZERO).await?;
        used(&informer).await?;
        Ok(factory.shutdown().await?)
    }
    .boxed()
}

/// An informer that is run by itself.
fn alone<O: Decode>(source: ClientSource) -> Work {
    let (informer, runner) = SharedInformer::<O>::builder(source).build();
    async move {
        tokio::spawn(runner.run(CancellationToken::new()));
        used(&informer).await
    }
    .boxed()
}

async fn used<O: Decode>(informer: &SharedInformer<O>) -> Result<(), Box<dyn Error + Send + Sync>> {
    informer
        .add_handler("instances", |_: Notification<O>| ())?
        .synced()
        .await?;
    let mut changes = informer.subscribe("instances")?;
    changes.next().await;
    informer.synced().await?;
    let store = informer.store();
    let (all, keys) = (store.list(), store.list_keys());
    let (one, some) = (store.get(""), store.list_namespace(""));
    let snapshot = store.snapshot();
    let counted = snapshot.iter().count() + snapshot.len() + keys.len() + all.len() + some.len();
    drop((one, snapshot.get("").cloned(), counted));
    informer.stopped().await;
    Ok(())
}

#[cfg(feature = "controller")]
fn controller<K>(client: &Client) -> Work
where
    K: kube::Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
{
    use kube_controller::controller::{Action, Controller};
    use kube_controller::watcher;
    use std::sync::Arc;

    type Owned = ConfigMap;
    let api = || kube::Api::<K>::all(client.clone());
    let owned = kube::Api::<Owned>::all(client.clone());
    let controller = Controller::new(api(), watcher::Config::default())
        .owns(owned, watcher::Config::default())
        .shutdown_on_signal();
    let reconcile =
        |_: Arc<K>, _: Arc<()>| std::future::ready(Ok::<_, std::fmt::Error>(Action::await_change()));
    let runs = controller.run(reconcile, |_, _, _| Action::await_change(), Arc::new(()));
    let done: BoxFuture<'static, ()> = runs.for_each(|_| std::future::ready(())).boxed();
    async move {
        done.await;
        Ok(())
    }
    .boxed()
}
