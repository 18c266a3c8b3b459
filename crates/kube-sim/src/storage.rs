//! Objects, their history and their snapshots: what etcd and the watch cache are to a real API server.
//!
//! Every change gets the next resource version, which is global. Each resource has a map of its objects, persistent so
//! that a snapshot of it costs nothing, and a window of its last changes. Watchers keep no queue: they read from the
//! window at their own pace and fail when it has moved past them. A snapshot at an older resource version is the
//! present one with the later changes undone.
//!
//! # Consistency
//!
//! All is under one lock, held for one change or one look at a time, never across an await or a network write.
//!
//! # Memory
//!
//! One copy of each object's serialized bytes: 768 MiB of them as they are, for all clusters of the process. Beyond that, an object is
//! kept as its difference from one that is much like it, as the pods of a ReplicaSet are; it is put together again when somebody reads
//! it. The window holds on to at most `history` replaced versions for each resource.
//! An object also keeps its messages in protobuf: one for each version of its kind that was asked for in protobuf (about 0.7 times
//! the bytes of its JSON), and one for its metadata; all of them together take 512 MiB at the most. Replaced and deleted objects drop them [`ENCODED`] changes later.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::nesting;
use crate::object::{Families, Stored};
use crate::resources::Resource;
use crate::storage::sorted::Sorted;
use crate::view;

mod sorted;

/// Replaced and deleted objects keep their messages in protobuf for this many further changes of their resource, for watchers
/// that are a little behind. For watchers further behind, messages are made each time.
const ENCODED: usize = 1024;

/// A change, as watchers see it.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) resource_version: u64,
    /// The object after the change; for a deletion its last state.
    pub(crate) object: Arc<Stored>,
    /// The object before the change; none when it was created.
    pub(crate) previous: Option<Arc<Stored>>,
    pub(crate) deleted: bool,
}

/// All objects at one resource version, by the ids of their resources.
#[derive(Debug, Clone)]
pub(crate) struct Backup {
    resource_version: u64,
    objects: BTreeMap<String, Sorted>,
}

impl Backup {
    /// The objects of one resource.
    pub(crate) fn snapshot(&self, id: &str) -> Snapshot {
        Snapshot {
            resource_version: self.resource_version,
            objects: self.objects.get(id).cloned().unwrap_or_default(),
        }
    }
}

/// All objects of one resource at one resource version.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) resource_version: u64,
    objects: Sorted,
}

impl Snapshot {
    pub(crate) fn get(&self, key: &str) -> Option<Arc<Stored>> {
        self.objects.get(key).cloned()
    }

    /// The objects whose keys start with `prefix` and come after `after`, in order.
    pub(crate) fn range<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a str>,
    ) -> impl Iterator<Item = &'a Arc<Stored>> {
        let start = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        self.objects
            .from(start)
            .take_while(move |object| object.key.starts_with(prefix))
    }
}

/// The window of changes no longer reaches back to the resource version asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Forgotten {
    /// The oldest resource version that can still be asked for.
    pub(crate) oldest: u64,
}

/// An object is too large to be stored: so many bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TooLarge(pub(crate) usize);

/// Where an object is: the id of its resource, and its key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) resource: Arc<str>,
    pub(crate) key: Arc<str>,
}

pub(crate) struct Storage {
    inner: Mutex<Inner>,
    version: watch::Sender<u64>,
    /// Whether there are places to look at.
    work: AtomicBool,
}

struct Inner {
    resource_version: u64,
    history: usize,
    /// The most levels that a stored object ever had.
    deepest: usize,
    /// In order, so that watches are woken in the same one each time.
    collections: BTreeMap<String, Collection>,
    /// The objects that an object owns, by its uid.
    dependents: HashMap<Box<str>, BTreeSet<Place>>,
    /// Objects that wait for their dependents to be deleted first, by their uids.
    foreground: HashMap<Box<str>, Place>,
    /// Objects that a controller of the control plane has to look at, in order, each once.
    work: VecDeque<Place>,
    queued: BTreeSet<Place>,
    /// Those that a controller looks at later, and when.
    later: Vec<(Instant, Place)>,
    /// The first of these times, if nobody waits for it yet.
    alarm: Option<Instant>,
}

struct Collection {
    id: Arc<str>,
    objects: Sorted,
    changes: VecDeque<Change>,
    /// Changes up to this resource version are no longer in `changes`.
    forgotten: u64,
    changed: watch::Sender<()>,
    families: Families,
}

impl Storage {
    /// An empty storage at `first`, that remembers the last `history` changes of each resource.
    pub(crate) fn new(first: u64, history: usize) -> Self {
        let inner = Inner {
            resource_version: first,
            history,
            deepest: 0,
            collections: BTreeMap::new(),
            dependents: HashMap::new(),
            foreground: HashMap::new(),
            work: VecDeque::new(),
            queued: BTreeSet::new(),
            later: Vec::new(),
            alarm: None,
        };
        Self {
            inner: Mutex::new(inner),
            version: watch::Sender::new(first),
            work: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing that runs under the lock leaves it half changed: a panic elsewhere need not end the server.
        self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(crate) fn resource_version(&self) -> u64 {
        *self.version.borrow()
    }

    /// The newest resource version, and its changes.
    pub(crate) fn versions(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    /// Runs `f` alone: it sees one state and its changes become visible together. It has room for any stored object.
    pub(crate) fn transact<T: Send>(&self, f: impl FnOnce(&mut Transaction<'_>) -> T + Send) -> T {
        let mut inner = self.lock();
        let before = inner.resource_version;
        let state = &mut *inner;
        let result = nesting::with_room(state.deepest, || f(&mut Transaction { inner: state }));
        if inner.resource_version != before {
            self.version.send_replace(inner.resource_version);
        }
        let has_work = !inner.work.is_empty() || !inner.later.is_empty();
        self.work.store(has_work, Ordering::Release);
        result
    }

    pub(crate) fn has_work(&self) -> bool {
        self.work.load(Ordering::Acquire)
    }

    /// When there will be work, said once.
    pub(crate) fn alarm(&self) -> Option<Instant> {
        self.has_work().then(|| self.lock().alarm.take())?
    }

    pub(crate) fn get(&self, resource: &Resource, key: &str) -> Option<Arc<Stored>> {
        self.lock()
            .collections
            .get(&resource.storage_id())?
            .objects
            .get(key)
            .cloned()
    }

    pub(crate) fn snapshot(&self, resource: &Resource) -> Snapshot {
        let mut inner = self.lock();
        let resource_version = inner.resource_version;
        Snapshot {
            resource_version,
            objects: inner.collection(resource).objects.clone(),
        }
    }

    /// The state at an older resource version.
    pub(crate) fn snapshot_at(&self, resource: &Resource, version: u64) -> Result<Snapshot, Forgotten> {
        let mut inner = self.lock();
        let collection = inner.collection(resource);
        if version < collection.forgotten {
            return Err(Forgotten {
                oldest: collection.forgotten,
            });
        }
        let mut objects = collection.objects.clone();
        for change in collection
            .changes
            .iter()
            .rev()
            .take_while(|c| c.resource_version > version)
        {
            match &change.previous {
                Some(previous) => objects.insert(previous.clone()),
                None => objects.remove(&change.object.key),
            };
        }
        Ok(Snapshot {
            resource_version: version,
            objects,
        })
    }

    /// Up to `max` changes after `version`, and the resource version up to which nothing is missing then.
    pub(crate) fn changes_after(
        &self,
        resource: &Resource,
        version: u64,
        max: usize,
    ) -> Result<(Vec<Change>, u64), Forgotten> {
        let mut inner = self.lock();
        let newest = inner.resource_version;
        let collection = inner.collection(resource);
        if version < collection.forgotten {
            return Err(Forgotten {
                oldest: collection.forgotten,
            });
        }
        let from = collection
            .changes
            .partition_point(|c| c.resource_version <= version);
        let changes: Vec<_> = collection.changes.range(from..).take(max).cloned().collect();
        let complete = from + changes.len() == collection.changes.len();
        let last = changes.last().map_or(version, |c| c.resource_version);
        Ok((changes, if complete { newest.max(version) } else { last }))
    }

    /// Wakes whoever waits for changes of the resource.
    pub(crate) fn subscribe(&self, resource: &Resource) -> watch::Receiver<()> {
        self.lock().collection(resource).changed.subscribe()
    }

    pub(crate) fn backup(&self) -> Backup {
        let inner = self.lock();
        let objects = |(id, collection): (&String, &Collection)| (id.clone(), collection.objects.clone());
        Backup {
            resource_version: inner.resource_version,
            objects: inner.collections.iter().map(objects).collect(),
        }
    }

    /// Goes back to an older state and its resource version; no changes before or after it are known then.
    pub(crate) fn restore(&self, backup: &Backup) {
        let mut inner = self.lock();
        inner.resource_version = backup.resource_version;
        inner.dependents.clear();
        inner.foreground.clear();
        inner.later.clear();
        let mut places = Vec::new();
        for (id, collection) in &mut inner.collections {
            collection.objects = backup.objects.get(id).cloned().unwrap_or_default();
            collection.changes.clear();
            collection.forgotten = backup.resource_version;
            collection.changed.send_replace(());
            for object in collection.objects.from(Bound::Included("")) {
                object.revive();
                let place = Place {
                    resource: collection.id.clone(),
                    key: object.key.clone(),
                };
                places.extend(object.owners().map(|owner| (owner.into(), place.clone())));
            }
        }
        for (owner, place) in places {
            let of_owner: &mut BTreeSet<Place> = inner.dependents.entry(owner).or_default();
            of_owner.insert(place);
        }
        self.version.send_replace(backup.resource_version);
    }

    /// Forgets all changes up to and including `version`.
    pub(crate) fn compact(&self, version: u64) {
        let mut inner = self.lock();
        let version = version.min(inner.resource_version);
        for collection in inner.collections.values_mut() {
            let n = collection
                .changes
                .partition_point(|c| c.resource_version <= version);
            collection.changes.drain(..n);
            collection.forgotten = collection.forgotten.max(version);
            collection.changed.send_replace(());
        }
    }
}

impl Inner {
    fn collection(&mut self, resource: &Resource) -> &mut Collection {
        let id = resource.storage_id();
        self.collections.entry(id).or_insert_with_key(|id| Collection {
            id: id.as_str().into(),
            objects: Sorted::default(),
            changes: VecDeque::new(),
            forgotten: 0,
            changed: watch::Sender::new(()),
            families: Families::default(),
        })
    }

    /// Keeps the index of owners: `before` gives way to `after`.
    fn index(&mut self, resource: &Resource, before: Option<&Stored>, after: Option<&Stored>) {
        let owned = |object: Option<&Stored>| object.is_some_and(|object| object.owners().next().is_some());
        if !owned(before) && !owned(after) {
            return;
        }
        let id = self.collection(resource).id.clone();
        let place = |object: &Stored| Place {
            resource: id.clone(),
            key: object.key.clone(),
        };
        if let Some(object) = before {
            for owner in object.owners() {
                if let Some(places) = self.dependents.get_mut(owner) {
                    places.remove(&place(object));
                    if places.is_empty() {
                        self.dependents.remove(owner);
                    }
                }
            }
        }
        if let Some(object) = after {
            for owner in object.owners() {
                let places = self.dependents.entry(owner.into()).or_default();
                places.insert(place(object));
            }
        }
    }

    fn record(&mut self, resource: &Resource, change: Change) {
        let history = self.history;
        let collection = self.collection(resource);
        collection.changes.push_back(change);
        while collection.changes.len() > history {
            if let Some(old) = collection.changes.pop_front() {
                collection.forgotten = old.resource_version;
            }
        }
        let newest = collection.changes.len();
        let aged = newest.checked_sub(ENCODED + 1);
        if let Some(previous) = aged.and_then(|at| collection.changes[at].previous.as_ref()) {
            previous.retire();
        }
        collection.changed.send_replace(());
    }
}

/// A look at the storage that may change it; see [`Storage::transact`].
pub(crate) struct Transaction<'a> {
    inner: &'a mut Inner,
}

impl Transaction<'_> {
    /// The objects that the one with this uid owns.
    pub(crate) fn dependents(&self, uid: &str) -> Vec<Place> {
        let places = self.inner.dependents.get(uid);
        places.into_iter().flatten().cloned().collect()
    }

    /// Gives an object to the controllers of the control plane, behind those that wait already.
    pub(crate) fn enqueue(&mut self, place: Place) {
        if self.inner.queued.insert(place.clone()) {
            self.inner.work.push_back(place);
        }
    }

    /// Gives an object to the controllers at a later time.
    pub(crate) fn enqueue_at(&mut self, at: Instant, place: Place) {
        self.inner.later.push((at, place));
        // By the last one all are due: each waits as long.
        self.inner.alarm = Some(self.inner.alarm.map_or(at, |alarm| alarm.max(at)));
    }

    /// The next object for the controllers.
    pub(crate) fn next_work(&mut self, now: Instant) -> Option<Place> {
        let due: Vec<_> = self.inner.later.extract_if(.., |(at, _)| *at <= now).collect();
        due.into_iter().for_each(|(_, place)| self.enqueue(place));
        let next = self.inner.work.pop_front()?;
        self.inner.queued.remove(&next);
        Some(next)
    }

    /// Takes an object from those that wait for the controllers.
    pub(crate) fn dequeue(&mut self, place: &Place) {
        if self.inner.queued.remove(place) {
            self.inner.work.retain(|waiting| waiting != place);
        }
    }

    /// Whether the object there waits for the deletion of what it owns.
    pub(crate) fn is_in_foreground(&self, place: &Place) -> bool {
        self.inner.foreground.values().any(|waiting| waiting == place)
    }

    /// The objects that wait for the deletion of what they own, by their uids.
    pub(crate) fn foreground(&mut self) -> &mut HashMap<Box<str>, Place> {
        &mut self.inner.foreground
    }

    pub(crate) fn place(&mut self, resource: &Resource, key: &str) -> Place {
        Place {
            resource: self.inner.collection(resource).id.clone(),
            key: key.into(),
        }
    }

    /// Wakes the watches of a resource, to see whether it is still what it was.
    pub(crate) fn wake(&mut self, resource: &Resource) {
        self.inner.collection(resource).changed.send_replace(());
    }

    pub(crate) fn resource_version(&self) -> u64 {
        self.inner.resource_version
    }

    pub(crate) fn get(&mut self, resource: &Resource, key: &str) -> Option<Arc<Stored>> {
        self.inner.collection(resource).objects.get(key).cloned()
    }

    /// All objects of a resource as they are now, for later, too.
    pub(crate) fn snapshot(&mut self, resource: &Resource) -> Snapshot {
        Snapshot {
            resource_version: self.inner.resource_version,
            objects: self.inner.collection(resource).objects.clone(),
        }
    }

    /// Whether there are no objects of a resource.
    pub(crate) fn has_none(&mut self, resource: &Resource) -> bool {
        self.snapshot(resource).range("", None).next().is_none()
    }

    /// The objects whose keys start with `prefix`.
    pub(crate) fn list(&mut self, resource: &Resource, prefix: &str) -> Vec<Arc<Stored>> {
        let snapshot = self.snapshot(resource);
        snapshot.range(prefix, None).cloned().collect()
    }

    /// Creates or replaces an object, under the next resource version.
    pub(crate) fn put(&mut self, resource: &Resource, object: &Map<String, Value>) -> Arc<Stored> {
        let version = self.inner.resource_version + 1;
        self.store(resource, view::encode(resource, object, version))
    }

    /// The same for an object of up to `max` bytes.
    pub(crate) fn put_within(
        &mut self,
        resource: &Resource,
        object: &Map<String, Value>,
        max: usize,
    ) -> Result<Arc<Stored>, TooLarge> {
        let version = self.inner.resource_version + 1;
        let object = view::encode(resource, object, version);
        match object.len() {
            bytes if bytes > max => Err(TooLarge(bytes)),
            _ => Ok(self.store(resource, object)),
        }
    }

    fn store(&mut self, resource: &Resource, mut object: Stored) -> Arc<Stored> {
        let resource_version = object.resource_version;
        self.inner.resource_version = resource_version;
        self.inner.deepest = self.inner.deepest.max(object.depth);
        let collection = self.inner.collection(resource);
        object.pack(&mut collection.families);
        let object = Arc::new(object);
        let previous = collection.objects.insert(object.clone());
        if !previous
            .as_ref()
            .is_some_and(|previous| object.has_owners_of(previous))
        {
            self.inner.index(resource, previous.as_deref(), Some(&object));
        }
        let change = Change {
            resource_version,
            object: object.clone(),
            previous,
            deleted: false,
        };
        self.inner.record(resource, change);
        object
    }

    /// Removes an object, which takes the next resource version too.
    pub(crate) fn remove(&mut self, resource: &Resource, key: &str) -> Option<Arc<Stored>> {
        let object = self.inner.collection(resource).objects.remove(key)?;
        self.inner.index(resource, Some(&object), None);
        self.inner.resource_version += 1;
        let resource_version = self.inner.resource_version;
        let previous = Some(object.clone());
        let change = Change {
            resource_version,
            object: object.clone(),
            previous,
            deleted: true,
        };
        self.inner.record(resource, change);
        Some(object)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};
    use serde_json::json;

    use super::*;
    use crate::resources::Registry;

    fn state(snapshot: &Snapshot) -> BTreeMap<String, u64> {
        snapshot
            .range("", None)
            .map(|o| (o.key.to_string(), o.resource_version))
            .collect()
    }

    /// Whether the object keeps a message, which it is asked for.
    fn keeps_message(object: &Stored) -> bool {
        let mut made = false;
        let make = || {
            made = true;
            Ok::<_, ()>(Vec::new())
        };
        let _ = object.message(("a", "v1"), object.resource_version, make);
        !made
    }

    #[test]
    fn replaced_objects_keep_messages_for_some_changes() {
        let resource = Registry::builtin()
            .find("", "v1", "nodes")
            .expect("a built-in kind");
        let storage = Storage::new(10, 2 * ENCODED);
        let put = |name: &str| {
            let node = Map::from_iter([("metadata".to_owned(), json!({"name": name}))]);
            storage.transact(|transaction| transaction.put(&resource, &node))
        };
        let first = put("a");
        assert_eq!([keeps_message(&first), keeps_message(&first)], [false, true]);
        let backup = storage.backup();
        let second = put("a");
        keeps_message(&second);
        for _ in 1..ENCODED {
            put("b");
        }
        assert!(keeps_message(&first));
        put("b");
        assert_eq!([keeps_message(&first), keeps_message(&first)], [false, false]);
        assert!(keeps_message(&second));
        // What is there again keeps them again.
        storage.restore(&backup);
        assert_eq!([keeps_message(&first), keeps_message(&first)], [false, true]);
    }

    #[test]
    fn at_the_alarm_all_that_waits_for_a_time_is_due() {
        let storage = Storage::new(10, 0);
        let (first, second) = (Instant::now(), Instant::now() + Duration::from_secs(1));
        let place = |key: &str| Place {
            resource: "nodes".into(),
            key: key.into(),
        };
        storage.transact(|transaction| {
            transaction.enqueue_at(first, place("a"));
            transaction.enqueue_at(second, place("b"));
        });
        let alarm = storage.alarm().expect("two wait");
        let due = storage.transact(|transaction| [(); 3].map(|()| transaction.next_work(alarm)));
        assert_eq!(due, [Some(place("a")), Some(place("b")), None]);
        assert!(storage.alarm().is_none());
    }

    /// After random changes: each remembered version has the state it had then, and the changes after it lead to now.
    #[test]
    fn the_past_is_as_it_was() {
        let resource = Registry::builtin()
            .find("", "v1", "nodes")
            .expect("a built-in kind");
        let mut rng = StdRng::seed_from_u64(5);
        for history in [0, 1, 7, 100] {
            let storage = Storage::new(10, history);
            let mut states = vec![(10, BTreeMap::new())];
            for _ in 0..60 {
                let name = format!("n{}", rng.random_range(0..6));
                storage.transact(|transaction| {
                    if rng.random_bool(0.3) {
                        transaction.remove(&resource, &name);
                    } else if let serde_json::Value::Object(node) = json!({"metadata": {"name": name}}) {
                        transaction.put(&resource, &node);
                    }
                });
                states.push((storage.resource_version(), state(&storage.snapshot(&resource))));
            }
            states.dedup_by_key(|(version, _)| *version);
            let now = states.last().expect("there are states").clone();
            for (n, (version, then)) in states.iter().enumerate() {
                let remembered = n + history >= states.len() - 1;
                assert_eq!(
                    storage.snapshot_at(&resource, *version).is_ok(),
                    remembered,
                    "{history}: {version}"
                );
                let Ok(snapshot) = storage.snapshot_at(&resource, *version) else {
                    continue;
                };
                assert_eq!(&state(&snapshot), then, "{history}: {version}");
                let (changes, position) = storage
                    .changes_after(&resource, *version, usize::MAX)
                    .expect("as remembered as the snapshot");
                let mut replayed = then.clone();
                for change in changes {
                    let key = change.object.key.to_string();
                    match change.deleted {
                        true => replayed.remove(&key),
                        false => replayed.insert(key, change.resource_version),
                    };
                }
                assert_eq!((position, &replayed), (now.0, &now.1));
            }
        }
    }
}
