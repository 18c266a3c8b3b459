//! kube-informer, whatever the form.

use crate::measure::{Counter, Measurement, Reader};
use k8s_openapi::api::core::v1::Pod;
use kube::core::{ApiResource, PartialObjectMeta};
use kube_informer::form::{Decode, Metadata, Packed};
use kube_informer::informer::enqueue;
use kube_informer::reflector::{InitialState, ReflectorOptions};
use kube_informer::selector::ShardField;
use kube_informer::source::{ClientSource, Selection};
use kube_informer::{CachedObject, FieldPath, FieldPlan, Notification, ObjectKey, ShardSet, SharedInformer};
use kube_workqueue::{Requeue, WorkQueue, Workers};
use serde::Deserialize;
use std::convert::Infallible;
use std::sync::LazyLock;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// How many shards the members of a shard group divide.
const SHARDS: u32 = 64;

/// A projection: what a scheduler or a router of requests might want to know of a pod.
#[derive(Deserialize, CachedObject)]
pub struct PodView {
    metadata: Metadata,
    #[serde(default)]
    #[expect(dead_code, reason = "held, not read")]
    spec: SpecView,
    #[serde(default)]
    #[expect(dead_code, reason = "held, not read")]
    status: StatusView,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SpecView {
    node_name: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct StatusView {
    phase: String,
    #[serde(rename = "podIP")]
    pod_ip: String,
}

/// How what the bench asks of a pod is read in a form.
pub struct Access<F: CachedObject> {
    /// When the server changed it: its annotation `bench/at`.
    at: fn(&F::Handle) -> Option<String>,
    /// On which node it is.
    node: fn(&F::Handle) -> Option<String>,
}

impl<F: CachedObject> Clone for Access<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: CachedObject> Copy for Access<F> {}

impl<F: CachedObject> Access<F> {
    /// Of a form in which neither can be read.
    pub fn none() -> Self {
        Self {
            at: |_| None,
            node: |_| None,
        }
    }
}

pub const POD: Access<Pod> = Access {
    at: |pod| pod.metadata.annotations.as_ref()?.get("bench/at").cloned(),
    node: |pod| pod.spec.as_ref()?.node_name.clone(),
};

pub const METADATA: Access<PartialObjectMeta<Pod>> = Access {
    at: |pod| pod.metadata.annotations.as_ref()?.get("bench/at").cloned(),
    node: |_| None,
};

pub const PACKED: Access<Packed<Pod>> = Access {
    at: |pod| {
        static AT: LazyLock<FieldPath> = LazyLock::new(|| path("/metadata/annotations/bench~1at"));
        pod.field(&AT).ok()?
    },
    node: |pod| {
        static NODE: LazyLock<FieldPath> = LazyLock::new(|| path("/spec/nodeName"));
        pod.field(&NODE).ok()?
    },
};

fn path(text: &str) -> FieldPath {
    FieldPath::parse(text).expect("a path")
}

pub fn source(client: kube::Client) -> ClientSource {
    ClientSource::new(client, ApiResource::erase::<Pod>(&()), Selection::default())
}

/// An informer that is to be measured.
pub struct Running {
    pub source: ClientSource,
    /// What is left out.
    pub plan: Option<FieldPlan>,
    pub streaming: bool,
    pub counter: Counter,
    pub measurement: Measurement,
    pub runtime: Handle,
}

impl Running {
    /// Measures an informer that holds the source's objects in this form.
    pub async fn run<F: Decode>(self, access: Access<F>) -> anyhow::Result<()> {
        let initial = match self.streaming {
            true => InitialState::WatchList,
            false => InitialState::List,
        };
        let options = ReflectorOptions {
            initial,
            plan: self.plan,
            ..Default::default()
        };
        let shards = ShardSet::new(ShardField::Uid, SHARDS as u16);
        let member = self.measurement.arguments.member;
        let builder = match member {
            Some(_) => SharedInformer::<F>::over_shards(self.source, &shards),
            None => SharedInformer::<F>::builder(self.source),
        };
        let (informer, runner) = builder.reflector_options(options).build();
        let counter = self.counter;
        match self.measurement.arguments.workers {
            0 => {
                let handler = move |change: Notification<F>| {
                    let at = || (access.at)(change.object()?);
                    let key = change.key();
                    counter.count(key.namespace().unwrap_or_default(), key.name(), at);
                };
                informer.add_handler("count", handler)?.detach();
            }
            workers => reconcile(&informer, workers, counter)?,
        }
        let stop = CancellationToken::new();
        let running = self.runtime.spawn(runner.run(stop.clone()));
        let store = informer.store().clone();
        let reader = move || {
            let (store, keys) = (store.clone(), store.list_keys());
            Reader::new(keys.len(), move |number| {
                store
                    .get(keys[number].as_str())
                    .and_then(|pod| (access.node)(&pod))
                    .is_some()
            })
        };
        let sync = async {
            if let Some((member, members)) = member {
                let first = |member: u16| (SHARDS * u32::from(member) / u32::from(members)) as u16;
                shards.add(first(member)..first(member + 1));
                informer.synced().await?;
            }
            Ok(())
        };
        self.measurement.run(sync, reader).await?;
        anyhow::ensure!(
            member.is_some() || informer.store().len() == self.measurement.arguments.pods + 1,
            "the store is not complete"
        );
        stop.cancel();
        running.await??;
        Ok(())
    }
}

/// As a controller does it: the handler puts the key on a work queue, and workers look the object up.
fn reconcile<F: Decode>(
    informer: &SharedInformer<F>,
    workers: usize,
    counter: Counter,
) -> anyhow::Result<()> {
    let queue = WorkQueue::<ObjectKey>::new();
    let workers = Workers::new(queue.clone(), workers);
    informer
        .add_handler("queue", enqueue::object(move |key| queue.add(key)))?
        .detach();
    let store = informer.store().clone();
    tokio::spawn(workers.run(move |key: ObjectKey| {
        std::hint::black_box(store.get(key.as_str()));
        counter.count(key.namespace().unwrap_or_default(), key.name(), || None);
        async { Ok::<_, Infallible>(Requeue::No) }
    }));
    Ok(())
}
