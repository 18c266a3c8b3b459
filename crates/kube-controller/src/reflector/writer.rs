//! Stores that are filled from a stream.

use super::{Read, Store};
use crate::watcher::{self, Event};
use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, Stream, StreamExt};
use kube::Resource;
use kube_informer::ObjectKey;
use kube_informer::form::DecodeError;
use kube_informer::informer::Stopped;
use kube_workqueue::WorkQueue;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::task::{Context, Poll};
use tokio::sync::watch;

/// The objects, and who is told of changes.
struct Objects<K> {
    held: RwLock<HashMap<ObjectKey, Arc<K>>>,
    ready: watch::Receiver<bool>,
    subscribers: Mutex<Vec<Weak<Subscriber>>>,
}

/// The keys that a subscriber has not been told of. It is shut down with the writer.
struct Subscriber(WorkQueue<ObjectKey>);

impl<K> Objects<K> {
    fn subscribe(&self) -> Arc<Subscriber> {
        let subscriber = Arc::new(Subscriber(WorkQueue::new()));
        let mut subscribers = self.subscribers.lock().unwrap_or_else(PoisonError::into_inner);
        subscribers.retain(|subscriber| subscriber.strong_count() > 0);
        subscribers.push(Arc::downgrade(&subscriber));
        subscriber
    }

    fn each_subscriber(&self, each: impl Fn(&WorkQueue<ObjectKey>)) {
        let subscribers = self.subscribers.lock().unwrap_or_else(PoisonError::into_inner);
        let alive = subscribers.iter().filter_map(Weak::upgrade);
        alive.for_each(|subscriber| each(&subscriber.0));
    }

    fn read<T>(&self, read: impl FnOnce(&HashMap<ObjectKey, Arc<K>>) -> T) -> T {
        read(&self.held.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write<T>(&self, write: impl FnOnce(&mut HashMap<ObjectKey, Arc<K>>) -> T) -> T {
        write(&mut self.held.write().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<K: Send + Sync> Read<K> for Objects<K> {
    fn get(&self, key: &str) -> Option<Result<Arc<K>, DecodeError>> {
        self.read(|held| held.get(key).cloned()).map(Ok)
    }

    fn contains(&self, key: &str) -> bool {
        self.read(|held| held.contains_key(key))
    }

    fn keys(&self) -> Vec<ObjectKey> {
        self.read(|held| held.keys().cloned().collect())
    }

    fn len(&self) -> usize {
        self.read(HashMap::len)
    }

    fn each(&self, each: &mut dyn FnMut(Result<Arc<K>, DecodeError>) -> bool) {
        // Not under the lock: it is the caller's code.
        let all: Vec<_> = self.read(|held| held.values().cloned().collect());
        let _ = all.into_iter().all(|object| each(Ok(object)));
    }

    fn ready(&self) -> BoxFuture<'_, Result<(), Stopped>> {
        let mut ready = self.ready.clone();
        async move {
            ready
                .wait_for(|ready| *ready)
                .await
                .map(drop)
                .map_err(|_| Stopped)
        }
        .boxed()
    }
}

/// Fills a [`Store`] with what a stream of [events](Event) says. When it is dropped, the store stays as it is.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube_controller::reflector;
/// use kube_controller::watcher::Event;
///
/// let (reader, mut writer) = reflector::store::<ConfigMap>();
/// let mut map = ConfigMap::default();
/// map.metadata.name = Some("settings".into());
/// writer.apply_watcher_event(&Event::Apply(map));
/// assert_eq!(reader.len(), 1);
/// ```
pub struct Writer<K: Resource> {
    objects: Arc<Objects<K>>,
    /// The objects of a list that has not ended.
    listed: HashMap<ObjectKey, Arc<K>>,
    ready: watch::Sender<bool>,
    shared: bool,
}

/// A store and what fills it.
#[must_use]
pub fn store<K: Resource + Send + Sync + 'static>() -> (Store<K>, Writer<K>) {
    let (ready, is_ready) = watch::channel(false);
    let objects = Arc::new(Objects {
        held: RwLock::default(),
        ready: is_ready,
        subscribers: Mutex::default(),
    });
    let writer = Writer {
        objects: objects.clone(),
        listed: HashMap::new(),
        ready,
        shared: false,
    };
    (Store::reading(objects), writer)
}

/// A store whose writer can be [subscribed](Writer::subscribe) to.
///
/// Changes of an object that a subscriber has not been told of are one change, so there is no buffer that could be full, and no
/// subscriber holds up another. The size is not used; it is there for programs written for kube.
#[must_use]
pub fn store_shared<K: Resource + Send + Sync + 'static>(_buffer: usize) -> (Store<K>, Writer<K>) {
    let (store, mut writer) = store();
    writer.shared = true;
    (store, writer)
}

impl<K: Resource + Clone + Send + Sync + 'static> Writer<K> {
    /// Another view of the store.
    pub fn as_reader(&self) -> Store<K> {
        Store::reading(self.objects.clone())
    }

    /// The objects that change from now on. `None` if the store is not [shared](store_shared).
    pub fn subscribe(&self) -> Option<ReflectHandle<K>> {
        self.shared.then(|| ReflectHandle::new(self.objects.clone()))
    }

    /// Changes the store as the event says.
    pub fn apply_watcher_event(&mut self, event: &Event<K>) {
        match event {
            Event::Apply(object) => {
                let key = ObjectKey::of(object);
                let object = Arc::new(object.clone());
                self.objects.write(|held| held.insert(key.clone(), object));
                self.objects.each_subscriber(|queue| queue.add(key.clone()));
            }
            Event::Delete(object) => {
                let key = ObjectKey::of(object);
                self.objects.write(|held| held.remove(&key));
            }
            Event::Init => self.listed.clear(),
            Event::InitApply(object) => {
                self.listed
                    .insert(ObjectKey::of(object), Arc::new(object.clone()));
            }
            Event::InitDone => {
                let listed = std::mem::take(&mut self.listed);
                let keys: Vec<_> = listed.keys().cloned().collect();
                let _replaced = self.objects.write(|held| std::mem::replace(held, listed));
                self.ready.send_replace(true);
                self.objects
                    .each_subscriber(|queue| keys.iter().for_each(|key| queue.add(key.clone())));
            }
        }
    }
}

impl<K: Resource> Drop for Writer<K> {
    fn drop(&mut self) {
        self.objects.each_subscriber(WorkQueue::shut_down);
    }
}

impl<K: Resource> std::fmt::Debug for Writer<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer")
            .field("ready", &*self.ready.borrow())
            .finish_non_exhaustive()
    }
}

/// The objects of a shared store that change, as a stream: each with its newest state. It ends with the [`Writer`].
///
/// A clone is told of the same changes from then on.
pub struct ReflectHandle<K: Resource> {
    objects: Arc<Objects<K>>,
    changed: BoxStream<'static, Arc<K>>,
}

impl<K: Resource + Send + Sync + 'static> ReflectHandle<K> {
    fn new(objects: Arc<Objects<K>>) -> Self {
        let state = (objects.subscribe(), objects.clone());
        let changed = stream::unfold(state, |(subscriber, objects)| async {
            loop {
                let key = subscriber.0.get().await?.clone();
                if let Some(object) = objects.read(|held| held.get(&key).cloned()) {
                    return Some((object, (subscriber, objects)));
                }
            }
        });
        Self {
            objects,
            changed: changed.boxed(),
        }
    }

    /// The store.
    pub fn reader(&self) -> Store<K> {
        Store::reading(self.objects.clone())
    }
}

impl<K: Resource + Send + Sync + 'static> Clone for ReflectHandle<K> {
    fn clone(&self) -> Self {
        Self::new(self.objects.clone())
    }
}

impl<K: Resource> Stream for ReflectHandle<K> {
    type Item = Arc<K>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Arc<K>>> {
        self.changed.poll_next_unpin(cx)
    }
}

impl<K: Resource> std::fmt::Debug for ReflectHandle<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReflectHandle").finish_non_exhaustive()
    }
}

/// Fills the store with what passes through the stream.
pub fn reflector<K, W>(mut writer: Writer<K>, stream: W) -> impl Stream<Item = W::Item>
where
    K: Resource + Clone + Send + Sync + 'static,
    W: Stream<Item = Result<Event<K>, watcher::Error>>,
{
    stream.inspect(move |event| {
        if let Ok(event) = event {
            writer.apply_watcher_event(event);
        }
    })
}
