use super::*;
use crate::informer::coalescing::{Change, QueuedNotification};
use crate::informer::handler::handle;
use crate::informer::listener::Listener;
use crate::informer::{Delivery, HandlerOptions};
use crate::object::Partition;
use crate::store::{Indexer, StoreWriter};
use futures::FutureExt;
use k8s_openapi::api::core::v1::ConfigMap;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// The uid and version of each object.
type Objects = BTreeMap<ObjectKey, (u64, u64)>;

fn object(name: &str, (uid, version): (u64, u64)) -> Arc<ConfigMap> {
    let mut object = ConfigMap::default();
    object.metadata.name = Some(name.into());
    object.metadata.uid = Some(uid.to_string());
    object.metadata.resource_version = Some(version.to_string());
    Arc::new(object)
}

fn state(object: &Arc<ConfigMap>) -> (u64, u64) {
    let number = |text: &Option<String>| text.as_ref().unwrap().parse().unwrap();
    (
        number(&object.metadata.uid),
        number(&object.metadata.resource_version),
    )
}

/// Decides which versions pass; a new verdict changes which ones do.
#[derive(Clone, Default)]
struct Verdict(Arc<AtomicU64>);

impl Verdict {
    fn passes(&self, (_, version): (u64, u64)) -> bool {
        let salt = self.0.load(Ordering::Relaxed);
        (version.wrapping_mul(0x9E37_79B9) >> (salt % 16 + 4)) & 1 == 1
    }
}

#[derive(Debug, Clone)]
enum Step {
    Change(u8),
    Delete(u8),
    /// The deletion was missed: another uid.
    Recreate(u8),
    Resync,
    ChangeMind,
    Take(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..4u8).prop_map(Step::Change),
        2 => (0..4u8).prop_map(Step::Delete),
        1 => (0..4u8).prop_map(Step::Recreate),
        1 => Just(Step::Resync),
        1 => Just(Step::ChangeMind),
        4 => (1..4u8).prop_map(Step::Take),
    ]
}

/// The server, the store, and the notifications of a driver.
struct World {
    objects: Objects,
    last: u64,
    store: Indexer<Arc<ConfigMap>>,
    writer: StoreWriter<Arc<ConfigMap>>,
    listener: Option<Listener<ConfigMap>>,
}

impl World {
    fn tell(&mut self, changes: Vec<QueuedNotification<ConfigMap>>) {
        self.writer.publish();
        if let Some(listener) = &self.listener {
            listener.push(changes, Instant::now());
        }
    }

    fn put(&mut self, name: &str, recreate: bool) {
        self.last += 1;
        let held = self.objects.get(name).copied();
        let uid = held.filter(|_| !recreate).map_or(self.last, |(uid, _)| uid);
        let new = object(name, (uid, self.last));
        self.objects.insert(name.into(), (uid, self.last));
        self.writer
            .upsert(name.into(), new.clone(), None, Partition::SINGLE)
            .unwrap();
        let change = |change| QueuedNotification {
            key: name.into(),
            change,
        };
        let add = || Change::Added {
            object: new.clone(),
            initial: false,
            is_restored: false,
        };
        let changes = match held.map(|held| object(name, held)) {
            None => vec![change(add())],
            Some(old) if recreate => vec![change(gone(old, DeleteCause::Missed)), change(add())],
            Some(old) => vec![change(Change::Updated {
                old,
                new,
                is_resync: false,
            })],
        };
        self.tell(changes);
    }

    fn delete(&mut self, name: &str) {
        let Some(held) = self.objects.remove(name) else {
            return;
        };
        self.last += 1;
        self.writer.remove(name);
        // The final state was not notified before, as in a DELETED event.
        let last = object(name, (held.0, self.last));
        self.tell(vec![QueuedNotification {
            key: name.into(),
            change: gone(last, DeleteCause::Event),
        }]);
    }

    fn resync(&mut self) {
        let again = self.objects.iter();
        let again =
            again.map(|(key, held)| QueuedNotification::resync(key.clone(), object(key.as_str(), *held)));
        self.tell(again.collect());
    }

    fn add_handler(&mut self, delivery: Delivery) {
        let options = HandlerOptions::named("test").delivery(delivery);
        let listener = Listener::new("configmaps".into(), options, None);
        listener.set_resync(Duration::from_secs(1));
        listener.start_with(self.store.snapshot());
        self.listener = Some(listener);
    }
}

fn gone(last: Arc<ConfigMap>, cause: DeleteCause) -> Change<ConfigMap> {
    Change::Deleted { last, cause }
}

/// A handler that panics if a notification does not follow from what it knows.
struct Knows(Arc<Mutex<Objects>>, Verdict);

impl ResourceEventHandler<ConfigMap> for Knows {
    async fn on_add(&mut self, object: Arc<ConfigMap>, _: bool) {
        assert!(self.1.passes(state(&object)), "an object that does not pass");
        let known = self
            .0
            .lock()
            .unwrap()
            .insert(ConfigMap::key_of(&object), state(&object));
        assert_eq!(known, None, "added twice");
    }

    async fn on_update(&mut self, old: Arc<ConfigMap>, new: Arc<ConfigMap>) {
        assert!(self.1.passes(state(&new)), "an object that does not pass");
        let known = self
            .0
            .lock()
            .unwrap()
            .insert(ConfigMap::key_of(&new), state(&new));
        assert_eq!(known, Some(state(&old)), "updated from what was not told");
        assert_eq!(state(&old).0, state(&new).0, "another object");
    }

    async fn on_delete(&mut self, deleted: Deleted<Arc<ConfigMap>>) {
        let known = self.0.lock().unwrap().remove(&deleted.key);
        let last = deleted.last_known.as_ref().map(|last| state(last).0);
        assert_eq!(known.map(|(uid, _)| uid), last, "deleted what was not told");
    }
}

proptest! {
    #[test]
    fn a_filtered_handler_receives_a_legal_history(
        steps in prop::collection::vec(step(), 0..60),
        capacity in prop::option::of(0..6usize),
        late in 0..30usize,
    ) {
        let delivery = capacity.map_or(Delivery::Unbounded, |capacity| Delivery::Coalesced { capacity });
        let (store, writer) = Indexer::new();
        let mut world = World { objects: Objects::new(), last: 0, store, writer, listener: None };
        let (known, verdict) = (Arc::<Mutex<Objects>>::default(), Verdict::default());
        let asked = verdict.clone();
        let mut handler =
            Knows(known.clone(), verdict.clone()).filtered(move |object| asked.passes(state(object)));
        let mut take = |world: &World, most: usize| {
            for _ in 0..most {
                let next = world.listener.as_ref().and_then(|listener| listener.next().now_or_never());
                let Some(Some(notification)) = next else { break };
                handle(&mut handler, notification).now_or_never().expect("does not wait");
            }
        };
        for (at, step) in steps.into_iter().enumerate() {
            if at == late {
                world.add_handler(delivery);
            }
            match step {
                Step::Change(key) => world.put(&key.to_string(), false),
                Step::Delete(key) => world.delete(&key.to_string()),
                Step::Recreate(key) => world.put(&key.to_string(), true),
                Step::Resync => world.resync(),
                Step::ChangeMind => _ = verdict.0.fetch_add(1, Ordering::Relaxed),
                Step::Take(most) => take(&world, most.into()),
            }
        }
        if world.listener.is_none() {
            world.add_handler(delivery);
        }
        world.resync();
        take(&world, usize::MAX);
        let mut expected = world.objects.clone();
        expected.retain(|_, held| verdict.passes(*held));
        prop_assert_eq!(&*known.lock().unwrap(), &expected);
    }
}
