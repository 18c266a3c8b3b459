//! Stores: what reads objects by reference, and what fills it from a stream.

use super::{Lookup, ObjectRef};
use crate::watcher::Event;
use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, Stream, StreamExt};
use kube::ResourceExt;
use kube::core::{Selector, SelectorExt};
use kube_informer::form::{DecodeError, WholeObject};
use kube_informer::informer::Stopped;
#[doc(no_inline)]
pub use kube_informer::informer::Stopped as WriterDropped;
use kube_informer::{ObjectKey, SharedInformer};
use kube_workqueue::WorkQueue;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::task::{Context, Poll, ready};
use tokio::sync::watch;

/// What reads the objects of one kind, whatever the form in which they are held.
pub(crate) trait Read<K> {
    fn get(&self, key: &str) -> Option<Result<Arc<K>, DecodeError>>;
    fn contains(&self, key: &str) -> bool;
    fn keys(&self) -> Vec<ObjectKey>;
    fn len(&self) -> usize;
    /// Calls `each` for every object until it returns false.
    fn each(&self, each: &mut dyn FnMut(Result<Arc<K>, DecodeError>) -> bool);
    fn ready(&self) -> BoxFuture<'_, Result<(), Stopped>>;
}

impl<O: WholeObject> Read<O::Object> for SharedInformer<O> {
    fn get(&self, key: &str) -> Option<Result<Arc<O::Object>, DecodeError>> {
        self.store().get(key).as_ref().map(O::object_of)
    }

    fn contains(&self, key: &str) -> bool {
        self.store().contains(key)
    }

    fn keys(&self) -> Vec<ObjectKey> {
        self.store().list_keys()
    }

    fn len(&self) -> usize {
        self.store().len()
    }

    fn each(&self, each: &mut dyn FnMut(Result<Arc<O::Object>, DecodeError>) -> bool) {
        let _ = self
            .store()
            .list()
            .iter()
            .all(|handle| each(O::object_of(handle)));
    }

    fn ready(&self) -> BoxFuture<'_, Result<(), Stopped>> {
        self.synced().boxed()
    }
}

/// Reads the objects of one kind by reference: the objects of a [`Controller`](crate::Controller::store), or
/// of any shared informer.
///
/// A clone reads the same objects. If they are held in a packed form, each call decodes what it returns;
/// decoded objects that somebody still uses are shared. An object that does not match its type is left out;
/// the controller reports it.
///
/// ```no_run
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube_controller::reflector::{ObjectRef, Store};
///
/// # fn example(factory: kube_informer::SharedInformerFactory) {
/// let store = Store::of(&factory.informer::<ConfigMap>());
/// if let Some(settings) = store.get(&ObjectRef::new("settings").within("shop")) {
///     println!("{:?}", settings.data);
/// }
/// # }
/// ```
pub struct Store<K: Lookup + 'static>(Objects<K>);

/// Where the objects of a [`Store`] are. Two variants, because only those of a writer need not be `Send`.
enum Objects<K> {
    Informer(Arc<dyn Read<K> + Send + Sync>),
    Written(Arc<Written<K>>),
}

impl<K: Lookup + 'static> Store<K> {
    /// A view of the objects of a shared informer.
    pub fn of<O: WholeObject<Object = K>>(informer: &SharedInformer<O>) -> Self {
        Self(Objects::Informer(Arc::new(informer.clone())))
    }

    pub(crate) fn objects(&self) -> &dyn Read<K> {
        match &self.0 {
            Objects::Informer(objects) => &**objects,
            Objects::Written(objects) => &**objects,
        }
    }

    /// Waits until the store holds the whole collection.
    ///
    /// # Errors
    /// The informer was stopped first.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn wait_until_ready(&self) -> Result<(), Stopped> {
        let ready = self.objects().ready();
        ready.await
    }

    /// The object, if there is one. For a cluster-scoped kind, the namespace of the reference is ignored.
    #[must_use]
    pub fn get(&self, reference: &ObjectRef<K>) -> Option<Arc<K>> {
        let objects = self.objects();
        let found = objects.get(&reference.key());
        found.or_else(|| objects.get(&reference.name))?.ok()
    }

    /// All objects, in no particular order.
    #[must_use]
    pub fn state(&self) -> Vec<Arc<K>> {
        self.state_filter(|_| true)
    }

    /// The first object found that `predicate` accepts.
    #[must_use]
    pub fn find<P: Fn(&K) -> bool>(&self, predicate: P) -> Option<Arc<K>> {
        let mut found = None;
        self.objects().each(&mut |object| {
            found = object.ok().filter(|object| predicate(object));
            found.is_none()
        });
        found
    }

    /// The objects that `predicate` accepts, in no particular order.
    #[must_use]
    pub fn state_filter<P: Fn(&K) -> bool>(&self, predicate: P) -> Vec<Arc<K>> {
        let mut accepted = Vec::new();
        self.objects().each(&mut |object| {
            accepted.extend(object.ok().filter(|object| predicate(object)));
            true
        });
        accepted
    }

    /// The objects whose labels match `selector`, in no particular order.
    #[must_use]
    pub fn state_filter_selector(&self, selector: &Selector) -> Vec<Arc<K>>
    where
        K: ResourceExt,
    {
        self.state_filter(|object| selector.matches(object.labels()))
    }

    /// How many objects there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.objects().len()
    }

    /// Whether there are no objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<K: Lookup + 'static> Clone for Store<K> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Objects::Informer(objects) => Objects::Informer(objects.clone()),
            Objects::Written(objects) => Objects::Written(objects.clone()),
        })
    }
}

impl<K: Lookup + 'static> fmt::Debug for Store<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("objects", &self.len()).finish()
    }
}

/// The objects of a [`Writer`], and who is told of changes.
struct Written<K> {
    held: RwLock<HashMap<ObjectKey, Arc<K>>>,
    ready: watch::Receiver<bool>,
    /// `None` once the writer has ended.
    subscribers: Mutex<Option<Vec<Weak<Subscriber>>>>,
}

/// Who is told of changes.
#[derive(Default)]
struct Subscriber {
    /// The keys that it has not been told of. It is shut down with the writer.
    queue: WorkQueue<ObjectKey>,
    /// The same keys, for clones. It is locked while the queue changes.
    unread: Mutex<BTreeSet<ObjectKey>>,
}

impl Subscriber {
    fn add(&self, key: &ObjectKey) {
        let mut unread = self.unread();
        unread.insert(key.clone());
        self.queue.add(key.clone());
    }

    fn unread(&self) -> MutexGuard<'_, BTreeSet<ObjectKey>> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K> Written<K> {
    /// A new subscriber, which is told of what `other` has not been told of.
    fn subscribe(&self, other: Option<&Subscriber>) -> Arc<Subscriber> {
        let subscriber = Arc::new(Subscriber::default());
        let mut subscribers = self.subscribers();
        if let Some(other) = other {
            other.unread().iter().for_each(|key| subscriber.add(key));
        }
        match &mut *subscribers {
            Some(subscribers) => {
                subscribers.retain(|subscriber| subscriber.strong_count() > 0);
                subscribers.push(Arc::downgrade(&subscriber));
            }
            None => subscriber.queue.shut_down(),
        }
        drop(subscribers);
        subscriber
    }

    fn subscribers(&self) -> MutexGuard<'_, Option<Vec<Weak<Subscriber>>>> {
        self.subscribers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn each_subscriber(&self, each: impl Fn(&Subscriber)) {
        let subscribers = self.subscribers();
        let alive = subscribers.iter().flatten().filter_map(Weak::upgrade);
        alive.for_each(|subscriber| each(&subscriber));
    }

    /// Ends the streams of all subscribers, also of those that come later.
    fn end(&self) {
        let subscribers = self.subscribers().take();
        let alive = subscribers.iter().flatten().filter_map(Weak::upgrade);
        alive.for_each(|subscriber| subscriber.queue.shut_down());
    }

    fn read<T>(&self, read: impl FnOnce(&HashMap<ObjectKey, Arc<K>>) -> T) -> T {
        read(&self.held.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write<T>(&self, write: impl FnOnce(&mut HashMap<ObjectKey, Arc<K>>) -> T) -> T {
        write(&mut self.held.write().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<K> Read<K> for Written<K> {
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

/// Fills a [`Store`] with what a stream of [events](Event) says. When it is dropped, the store stays as it
/// is.
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
pub struct Writer<K: Lookup + 'static> {
    objects: Arc<Written<K>>,
    /// The objects of a list that has not ended.
    listed: HashMap<ObjectKey, Arc<K>>,
    ready: watch::Sender<bool>,
    shared: bool,
}

/// A store and what fills it.
#[must_use]
pub fn store<K>() -> (Store<K>, Writer<K>)
where
    K: Lookup<DynamicType: Default> + Clone + 'static,
{
    let writer = Writer::default();
    (writer.as_reader(), writer)
}

/// A store whose writer can be [subscribed](Writer::subscribe) to.
///
/// Changes of an object that a subscriber has not been told of are one change, so there is no buffer that
/// could be full, and no subscriber holds up another. The size is not used; it is there for programs written
/// for kube.
#[must_use]
pub fn store_shared<K>(buffer: usize) -> (Store<K>, Writer<K>)
where
    K: Lookup<DynamicType: Default> + Clone + 'static,
{
    let writer = Writer::new_shared(buffer, K::DynamicType::default());
    (writer.as_reader(), writer)
}

impl<K: Lookup<DynamicType: Default> + Clone + 'static> Default for Writer<K> {
    fn default() -> Self {
        Self::new(K::DynamicType::default())
    }
}

impl<K: Lookup + Clone + 'static> Writer<K> {
    /// What fills a store of its own; [`as_reader`](Self::as_reader) is that store. Of which kind it is makes
    /// no difference: the parameter is there for programs written for kube.
    #[must_use]
    pub fn new(_kind: K::DynamicType) -> Self {
        let (ready, is_ready) = watch::channel(false);
        Self {
            objects: Arc::new(Written {
                held: RwLock::default(),
                ready: is_ready,
                subscribers: Mutex::new(Some(Vec::new())),
            }),
            listed: HashMap::new(),
            ready,
            shared: false,
        }
    }

    /// [`new`](Self::new), for a store that can be [subscribed](Self::subscribe) to; see [`store_shared`].
    #[must_use]
    pub fn new_shared(_buffer: usize, kind: K::DynamicType) -> Self {
        let mut writer = Self::new(kind);
        writer.shared = true;
        writer
    }

    /// Another view of the store.
    pub fn as_reader(&self) -> Store<K> {
        Store(Objects::Written(self.objects.clone()))
    }

    /// The objects that change from now on. `None` if the store is not [shared](store_shared).
    pub fn subscribe(&self) -> Option<ReflectHandle<K>> {
        self.shared
            .then(|| ReflectHandle::new(self.objects.clone(), None))
    }

    /// Changes the store as the event says.
    pub fn apply_watcher_event(&mut self, event: &Event<K>) {
        match event {
            Event::Apply(object) => {
                let key = key_of(object);
                let object = Arc::new(object.clone());
                self.objects.write(|held| held.insert(key.clone(), object));
                self.objects.each_subscriber(|subscriber| subscriber.add(&key));
            }
            Event::Delete(object) => {
                let key = key_of(object);
                self.objects.write(|held| held.remove(&key));
            }
            Event::Init => self.listed.clear(),
            Event::InitApply(object) => {
                self.listed.insert(key_of(object), Arc::new(object.clone()));
            }
            Event::InitDone => {
                let listed = std::mem::take(&mut self.listed);
                let keys: Vec<_> = listed.keys().cloned().collect();
                let _replaced = self.objects.write(|held| std::mem::replace(held, listed));
                self.ready.send_replace(true);
                self.objects
                    .each_subscriber(|subscriber| keys.iter().for_each(|key| subscriber.add(key)));
            }
        }
    }
}

/// The key under which an object is held; that of an object without a name is empty.
fn key_of<K: Lookup>(object: &K) -> ObjectKey {
    let (namespace, name) = (object.namespace(), object.name());
    ObjectKey::new(namespace.as_deref(), name.as_deref().unwrap_or_default())
}

impl<K: Lookup> Drop for Writer<K> {
    fn drop(&mut self) {
        self.objects.end();
    }
}

impl<K: Lookup> fmt::Debug for Writer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("ready", &*self.ready.borrow())
            .finish_non_exhaustive()
    }
}

/// The objects of a shared store that change, as a stream: each with its newest state. It ends with the
/// [`Writer`], which a [`reflector`](super::reflector()) drops when its stream ends.
///
/// As in kube, deletions are not in the stream, nor is an object that is deleted before it was read. A controller notices a
/// deletion by a finalizer, or by the objects that it owns; to be told of each, add a handler to an
/// [informer](kube_informer::SharedInformer).
///
/// A clone is told of the same changes, also of those that the original has not read.
pub struct ReflectHandle<K: Lookup + 'static> {
    objects: Arc<Written<K>>,
    subscriber: Arc<Subscriber>,
    changed: BoxStream<'static, ObjectKey>,
}

impl<K: Lookup> ReflectHandle<K> {
    fn new(objects: Arc<Written<K>>, other: Option<&Subscriber>) -> Self {
        let subscriber = objects.subscribe(other);
        let changed = stream::unfold(subscriber.clone(), |subscriber| async {
            let key = subscriber.queue.get().await?.clone();
            Some((key, subscriber))
        });
        Self {
            objects,
            subscriber,
            changed: changed.boxed(),
        }
    }

    /// The store.
    pub fn reader(&self) -> Store<K> {
        Store(Objects::Written(self.objects.clone()))
    }
}

impl<K: Lookup> ReflectHandle<K> {
    fn poll_key(&mut self, cx: &mut Context<'_>) -> Poll<Option<ObjectKey>> {
        let mut unread = self.subscriber.unread();
        let polled = self.changed.poll_next_unpin(cx);
        if let Poll::Ready(Some(key)) = &polled {
            unread.remove(key);
        }
        polled
    }
}

impl<K: Lookup> Clone for ReflectHandle<K> {
    fn clone(&self) -> Self {
        Self::new(self.objects.clone(), Some(&self.subscriber))
    }
}

impl<K: Lookup> Stream for ReflectHandle<K> {
    type Item = Arc<K>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Arc<K>>> {
        while let Some(key) = ready!(self.poll_key(cx)) {
            // What was deleted meanwhile is left out.
            let object = self.objects.read(|held| held.get(&key).cloned());
            if object.is_some() {
                return Poll::Ready(object);
            }
        }
        Poll::Ready(None)
    }
}

impl<K: Lookup> fmt::Debug for ReflectHandle<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReflectHandle").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reflector::reflector;
    use std::borrow::Cow;
    use std::pin::pin;
    use std::rc::Rc;

    /// What a program made itself: no resource, and only for one thread.
    #[derive(Debug, Clone, PartialEq)]
    struct Local(Rc<str>);

    impl Lookup for Local {
        type DynamicType = ();

        fn kind((): &()) -> Cow<'_, str> {
            "Local".into()
        }

        fn group((): &()) -> Cow<'_, str> {
            "".into()
        }

        fn version((): &()) -> Cow<'_, str> {
            "v1".into()
        }

        fn plural((): &()) -> Cow<'_, str> {
            "locals".into()
        }

        fn name(&self) -> Option<Cow<'_, str>> {
            Some((&*self.0).into())
        }

        fn namespace(&self) -> Option<Cow<'_, str>> {
            Some("ns".into())
        }

        fn resource_version(&self) -> Option<Cow<'_, str>> {
            None
        }

        fn uid(&self) -> Option<Cow<'_, str>> {
            None
        }
    }

    #[test]
    fn objects_need_be_neither_resources_nor_send() {
        let (reader, mut writer) = store_shared::<Local>(1);
        let mut changed = writer.subscribe().unwrap();
        let local = |name: &str| Local(name.into());
        writer.apply_watcher_event(&Event::Apply(local("a")));
        writer.apply_watcher_event(&Event::Apply(local("b")));
        writer.apply_watcher_event(&Event::Delete(local("a")));
        let reference = |name| ObjectRef::<Local>::new(name).within("ns");
        assert_eq!(reader.get(&reference("b")).as_deref(), Some(&local("b")));
        assert_eq!(reader.get(&reference("a")), None);
        drop(writer);
        let next = |changed: &mut ReflectHandle<Local>| changed.next().now_or_never().unwrap();
        assert_eq!(next(&mut changed).as_deref(), Some(&local("b")), "a is gone");
        assert_eq!(next(&mut changed), None);
    }

    #[test]
    fn stores_of_objects_that_are_shared_are_shared() {
        fn is_shared<T: Send + Sync + 'static>() {}
        is_shared::<Store<k8s_openapi::api::core::v1::ConfigMap>>();
        is_shared::<Writer<k8s_openapi::api::core::v1::ConfigMap>>();
    }

    #[test]
    fn subscribers_end_with_the_stream_that_fills_the_store() {
        let (_, writer) = store_shared::<Local>(1);
        let mut handle = writer.subscribe().unwrap();
        let local = Local("a".into());
        let mut reflected = pin!(reflector(writer, stream::iter([Ok(Event::Apply(local.clone()))])));
        assert!(matches!(reflected.next().now_or_never(), Some(Some(Ok(_)))));
        assert_eq!(handle.next().now_or_never().unwrap().as_deref(), Some(&local));
        assert_eq!(handle.next().now_or_never(), None);
        assert!(matches!(reflected.next().now_or_never(), Some(None)));
        // `reflected` still exists.
        assert_eq!(handle.next().now_or_never(), Some(None));
    }

    #[test]
    fn a_clone_is_told_of_what_the_original_has_not_read() {
        let (_, mut writer) = store_shared::<Local>(1);
        let mut handle = writer.subscribe().unwrap();
        let local = |name: &str| Local(name.into());
        let next = |handle: &mut ReflectHandle<Local>| {
            let next = handle.next().now_or_never();
            next.map(|object| object.map(|object| object.0.clone()))
        };
        writer.apply_watcher_event(&Event::Apply(local("read")));
        assert_eq!(next(&mut handle), Some(Some("read".into())));
        writer.apply_watcher_event(&Event::Apply(local("unread")));
        let mut clone = handle.clone();
        assert_eq!(next(&mut clone), Some(Some("unread".into())));
        assert_eq!(next(&mut clone), None);
        drop(writer);
        let mut late = handle.clone();
        for handle in [&mut handle, &mut late] {
            assert_eq!(next(handle), Some(Some("unread".into())));
            assert_eq!(next(handle), Some(None));
        }
    }

    #[test]
    fn a_clone_made_after_the_end_ends() {
        let (_, writer) = store_shared::<Local>(1);
        let handle = writer.subscribe().unwrap();
        drop(writer);
        let ended =
            |mut handle: ReflectHandle<Local>| handle.next().now_or_never().map(|item| item.is_none());
        assert_eq!(ended(handle.clone()), Some(true));
        assert_eq!(ended(handle), Some(true));
    }
}
