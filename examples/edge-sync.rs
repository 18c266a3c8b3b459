//! A cloud/edge synchroniser: `edge-sync v1/Pod v1/ConfigMap apps/v1/Deployment`, or without arguments pods and nodes.
//!
//! One manager holds an informer for each kind, made by one factory, however many ask for it. *Downstream*, handlers turn
//! every change into a message with its kind and version set, and put it on a channel that a sender empties towards the
//! edge. The channel is bounded: when the edge is slow, handlers wait, and what happens meanwhile to one object is
//! merged into one change. *Upstream*, what the edge asks for is answered from the caches; the API server is not asked.
//!
//! What the edge gets is every change and what kind of change it was, so there is nothing to reconcile, and no `kube-controller`.
//!
//! Here the edge is a task that prints what it gets and asks a few things. It ends after ten seconds, or with Ctrl-C.

use anyhow::Context;
use kube::core::{DynamicObject, GroupVersionKind};
use kube_informer::source::Selection;
use kube_informer::{
    CachedObject, Deleted, ObjectKey, ResourceEventHandler, SharedInformer, SharedInformerFactory,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// What goes to the edge.
struct Message {
    operation: &'static str,
    /// `apps/v1/Deployment/shop/web`.
    route: String,
    /// The object with kind and version, as JSON.
    content: String,
}

impl Message {
    fn new(
        operation: &'static str,
        kind: &GroupVersionKind,
        object: &Arc<DynamicObject>,
    ) -> anyhow::Result<Self> {
        let key = DynamicObject::key_of(object);
        let mut object = DynamicObject::clone(object);
        // Objects that came in a list may not say what they are; at the edge there is nobody to ask.
        object.types = Some(kube::core::TypeMeta {
            api_version: kind.api_version(),
            kind: kind.kind.clone(),
        });
        object.metadata.managed_fields = None;
        Ok(Self {
            operation,
            route: format!("{}/{}/{key}", kind.api_version(), kind.kind),
            content: serde_json::to_string(&object)?,
        })
    }
}

/// Downstream: sends a message for every change of one kind.
struct Downstream {
    kind: GroupVersionKind,
    edge: mpsc::Sender<Message>,
}

impl Downstream {
    #[allow(clippy::print_stderr)] // an example talks
    async fn send(&self, operation: &'static str, object: &Arc<DynamicObject>) {
        match Message::new(operation, &self.kind, object) {
            // An error would mean that the sender is gone: the program ends.
            Ok(message) => drop(self.edge.send(message).await),
            Err(error) => eprintln!("{}: {error}", self.kind.kind),
        }
    }
}

impl ResourceEventHandler<DynamicObject> for Downstream {
    async fn on_add(&mut self, object: Arc<DynamicObject>, _initial: bool) {
        self.send("insert", &object).await;
    }

    async fn on_update(&mut self, _old: Arc<DynamicObject>, new: Arc<DynamicObject>) {
        self.send("update", &new).await;
    }

    async fn on_delete(&mut self, deleted: Deleted<Arc<DynamicObject>>) {
        if let Some(last_known) = deleted.last_known {
            self.send("delete", &last_known).await;
        }
    }
}

/// Upstream: what the edge asks for, and where the answer goes.
enum Request {
    Get {
        kind: GroupVersionKind,
        key: ObjectKey,
        answer: oneshot::Sender<Option<Message>>,
    },
    Names {
        kind: GroupVersionKind,
        answer: oneshot::Sender<Vec<ObjectKey>>,
    },
}

/// All informers, by kind.
struct Manager {
    client: kube::Client,
    factory: SharedInformerFactory,
    informers: HashMap<GroupVersionKind, SharedInformer<DynamicObject>>,
}

impl Manager {
    fn new(client: kube::Client) -> Self {
        Self {
            factory: SharedInformerFactory::new(client.clone()),
            client,
            informers: HashMap::new(),
        }
    }

    /// Keeps the edge informed of a kind. The informer runs when the factory is started, or at once if it was.
    async fn synchronise(
        &mut self,
        kind: GroupVersionKind,
        edge: &mpsc::Sender<Message>,
    ) -> anyhow::Result<()> {
        // Discovery knows the plural, which cannot be guessed from the kind.
        let (resource, _) = kube::discovery::pinned_kind(&self.client, &kind)
            .await
            .with_context(|| format!("the cluster does not serve {}", kind.kind))?;
        let informer = (self.factory).informer_for_resource::<DynamicObject>(resource, Selection::default());
        let downstream = Downstream {
            kind: kind.clone(),
            edge: edge.clone(),
        };
        informer.add_handler("downstream", downstream)?.detach();
        self.informers.insert(kind, informer);
        Ok(())
    }

    /// Answers what the edge asks for from the caches, until it asks for nothing more.
    async fn answer(&self, mut requests: mpsc::Receiver<Request>) {
        while let Some(request) = requests.recv().await {
            // Whoever does not wait for the answer any more does not get it.
            match request {
                Request::Get { kind, key, answer } => {
                    let object =
                        (self.informers.get(&kind)).and_then(|informer| informer.lister().get(&key).ok());
                    let message = object.and_then(|object| Message::new("response", &kind, &object).ok());
                    let _ = answer.send(message);
                }
                Request::Names { kind, answer } => {
                    let objects = self.informers.get(&kind).map(|informer| informer.lister().list());
                    let names = objects.iter().flatten().map(DynamicObject::key_of).collect();
                    let _ = answer.send(names);
                }
            }
        }
    }
}

/// The edge: counts the messages that come, and asks for one object of each kind.
#[allow(clippy::print_stdout)] // an example talks
async fn edge(
    kinds: Vec<GroupVersionKind>,
    mut messages: mpsc::Receiver<Message>,
    cloud: mpsc::Sender<Request>,
) -> anyhow::Result<()> {
    for kind in kinds {
        let (answer, names) = oneshot::channel();
        cloud
            .send(Request::Names {
                kind: kind.clone(),
                answer,
            })
            .await?;
        let names = names.await?;
        println!("the edge knows of {} of kind {}", names.len(), kind.kind);
        let Some(key) = names.into_iter().next() else {
            continue;
        };
        let (answer, object) = oneshot::channel();
        cloud.send(Request::Get { kind, key, answer }).await?;
        if let Some(Message { route, content, .. }) = object.await? {
            println!("the edge asked for {route}: {} bytes", content.len());
        }
    }
    let mut received = BTreeMap::new();
    while let Some(Message {
        operation,
        route,
        content,
    }) = messages.recv().await
    {
        *received.entry(operation).or_insert(0) += 1;
        if operation != "insert" {
            println!("{operation} {route}: {} bytes", content.len());
        }
    }
    println!("messages: {received:?}");
    Ok(())
}

/// `group/version/Kind`, or `version/Kind` for the core group.
fn kind(text: &str) -> anyhow::Result<GroupVersionKind> {
    match *text.split('/').collect::<Vec<_>>() {
        [version, kind] => Ok(GroupVersionKind::gvk("", version, kind)),
        [group, version, kind] => Ok(GroupVersionKind::gvk(group, version, kind)),
        _ => anyhow::bail!("{text:?} is not group/version/Kind"),
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut kinds: Vec<_> = std::env::args()
        .skip(1)
        .map(|text| kind(&text))
        .collect::<Result<_, _>>()?;
    if kinds.is_empty() {
        kinds = vec![kind("v1/Pod")?, kind("v1/Node")?];
    }
    // Room for a few messages; what does not fit waits, merged, in the handlers' queues.
    let (to_edge, from_cloud) = mpsc::channel(64);
    let (to_cloud, from_edge) = mpsc::channel(16);
    let mut manager = Manager::new(kube::Client::try_default().await?);
    for kind in &kinds {
        manager.synchronise(kind.clone(), &to_edge).await?;
    }
    drop(to_edge);
    manager.factory.start();
    manager.factory.wait_for_sync(Duration::from_secs(30)).await?;

    let edge = tokio::spawn(edge(kinds, from_cloud, to_cloud));
    tokio::select! {
        () = async { manager.answer(from_edge).await; std::future::pending().await } => {}
        () = tokio::time::sleep(Duration::from_secs(10)) => {}
        ended = tokio::signal::ctrl_c() => ended?,
    }
    // The handlers end with the informers, the channel with the handlers, and the edge with the channel.
    manager.factory.shutdown().await?;
    edge.await?
}
