use super::*;
use crate::object::ResourceVersion;
use proptest::prelude::*;
use std::collections::HashMap;

/// An object of which only the version matters: name, uid, version.
struct Thing;

type State = (String, u32, u32);

impl CachedObject for Thing {
    type Handle = State;

    fn name_of(object: &State) -> &str {
        &object.0
    }
    fn namespace_of(_: &State) -> Option<&str> {
        None
    }
    fn uid_of(_: &State) -> Option<&str> {
        None
    }
    fn resource_version_of(object: &State) -> Option<ResourceVersion> {
        Some(ResourceVersion::from(u64::from(object.2)))
    }
    fn label_of<'a>(_: &'a State, _: &str) -> Option<&'a str> {
        None
    }
}

/// A server with a few objects, which makes legal histories.
#[derive(Default)]
struct World {
    objects: HashMap<String, State>,
    version: u32,
    uid: u32,
}

#[derive(Debug, Clone)]
enum Step {
    /// Create, update or (sometimes) delete this object.
    Change(u8),
    Delete(u8),
    Sync(u8),
    Take(u8),
}

impl World {
    fn change(&mut self, name: String) -> QueuedNotification<Thing> {
        self.version += 1;
        let change = match self.objects.get_mut(&name) {
            Some(state) => {
                let old = state.clone();
                state.2 = self.version;
                Change::Updated {
                    old,
                    new: state.clone(),
                    is_resync: false,
                }
            }
            None => {
                self.uid += 1;
                let object = (name.clone(), self.uid, self.version);
                self.objects.insert(name.clone(), object.clone());
                Change::Added {
                    object,
                    initial: self.uid < 3,
                    is_restored: false,
                }
            }
        };
        let key = ObjectKey::from(name.as_str());
        QueuedNotification { key, change }
    }

    fn delete(&mut self, name: &str) -> Option<QueuedNotification<Thing>> {
        let last = self.objects.remove(name)?;
        Some(QueuedNotification {
            key: name.into(),
            change: Change::Deleted {
                last,
                cause: DeleteCause::Event,
            },
        })
    }

    fn sync(&self, name: &str) -> Option<QueuedNotification<Thing>> {
        let state = self.objects.get(name)?.clone();
        Some(QueuedNotification::resync(name.into(), state))
    }
}

/// What a handler knows; every notification must fit it.
#[derive(Default)]
struct Handler {
    known: HashMap<String, State>,
}

impl Handler {
    fn take(&mut self, notification: Notification<Thing>) -> Result<(), String> {
        let key = notification.key().to_string();
        let known = self.known.get(&key).cloned();
        match notification {
            Notification::Add { object, .. } => {
                if known.is_some() {
                    return Err(format!("{key} was added twice"));
                }
                self.known.insert(key, object);
            }
            Notification::Update { old, new } => {
                if known.as_ref() != Some(&old) || old.1 != new.1 || new.2 < old.2 {
                    return Err(format!(
                        "{key} was {known:?}, but the update says {old:?} -> {new:?}"
                    ));
                }
                self.known.insert(key, new);
            }
            Notification::Delete(deleted) => {
                let (Some(known), Some(last)) = (known, deleted.last_known) else {
                    return Err(format!("{key} was deleted, but not known"));
                };
                if known.1 != last.1 {
                    return Err(format!("{key} was {known:?}, but {last:?} was deleted"));
                }
                self.known.remove(&key);
            }
        }
        Ok(())
    }
}

fn take(queue: &mut CoalescingQueue<Thing>, handler: &mut Handler) -> Result<bool, TestCaseError> {
    let Some(change) = queue.pop() else {
        return Ok(false);
    };
    handler
        .take(change.into_notification())
        .map_err(TestCaseError::fail)?;
    Ok(true)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..4u8).prop_map(Step::Change),
        3 => (0..4u8).prop_map(Step::Delete),
        2 => (0..4u8).prop_map(Step::Sync),
        3 => (1..4u8).prop_map(Step::Take),
    ]
}

proptest! {
    #[test]
    fn a_slow_handler_sees_a_legal_history_and_the_final_state(
        capacity in 0..8usize,
        every in any::<bool>(),
        // The index has the lower halves of numbers.
        first in prop_oneof![Just(0), Just(u64::from(u32::MAX) - 10)],
        steps in proptest::collection::vec(step(), 0..300),
    ) {
        let delivery = if every { Delivery::Unbounded } else { Delivery::Coalesced { capacity } };
        let mut queue = CoalescingQueue::<Thing>::new(delivery);
        queue.entries.first = first;
        let (mut world, mut handler) = (World::default(), Handler::default());
        let mut pushed = 0;
        for step in steps {
            let change = match step {
                Step::Change(n) => Some(world.change(n.to_string())),
                Step::Delete(n) => world.delete(&n.to_string()),
                Step::Sync(n) => world.sync(&n.to_string()),
                Step::Take(n) => {
                    for _ in 0..n {
                        take(&mut queue, &mut handler)?;
                    }
                    None
                }
            };
            if let Some(change) = change {
                pushed += 1;
                queue.push(change, Instant::now());
            }
            if !every {
                prop_assert!(queue.len() <= capacity + 2 * 4, "{} wait", queue.len());
            }
        }
        let mut taken = 0;
        while take(&mut queue, &mut handler)? {
            taken += 1;
        }
        prop_assert!(taken <= pushed);
        prop_assert_eq!(handler.known, world.objects);
    }

    #[test]
    fn nothing_is_merged_while_there_is_room(changes in proptest::collection::vec(0..4u8, 0..50)) {
        let mut queue = CoalescingQueue::<Thing>::new(Delivery::Coalesced { capacity: 50 });
        let mut world = World::default();
        for n in &changes {
            queue.push(world.change(n.to_string()), Instant::now());
        }
        prop_assert_eq!(queue.len(), changes.len());
    }
}

#[test]
fn an_initial_add_stays_initial_and_before_the_mark() {
    let mut queue = CoalescingQueue::<Thing>::new(Delivery::Coalesced { capacity: 1 });
    let mut world = World::default();
    queue.push(world.change("a".into()), Instant::now());
    queue.push_mark();
    queue.push(world.change("a".into()), Instant::now());
    assert_eq!(queue.len(), 1);
    assert!(!queue.take_mark());
    let Some(Notification::Add { object, initial }) = queue.pop().map(QueuedNotification::into_notification)
    else {
        panic!("expected an add")
    };
    assert_eq!((object.2, initial), (2, true));
    assert!(queue.take_mark() && !queue.take_mark());
}

#[test]
fn the_deletion_of_a_restored_object_is_told() {
    let mut queue = CoalescingQueue::<Thing>::new(Delivery::Coalesced { capacity: 0 });
    let mut world = World::default();
    for _ in 0..2 {
        let mut change = world.change("a".into());
        if let Change::Added { is_restored, .. } = &mut change.change {
            *is_restored = true;
        }
        queue.push(change, Instant::now());
    }
    queue.push(world.delete("a").unwrap(), Instant::now());
    // It comes and goes again, which nobody has to know.
    queue.push(world.change("a".into()), Instant::now());
    queue.push(world.delete("a").unwrap(), Instant::now());
    let told = std::iter::from_fn(|| queue.pop()).map(|change| match change.into_notification() {
        Notification::Add { object, .. } => format!("add {}", object.2),
        Notification::Update { new, .. } => format!("update {}", new.2),
        Notification::Delete(deleted) => format!("delete {}", deleted.last_known.unwrap().2),
    });
    assert_eq!(told.collect::<Vec<_>>(), ["add 2", "delete 2"]);
}

#[test]
fn the_mark_keeps_its_place_when_holes_are_closed() {
    let mut queue = CoalescingQueue::<Thing>::new(Delivery::Coalesced { capacity: 0 });
    let mut world = World::default();
    for name in ["before", "gone", "also gone"] {
        queue.push(world.change(name.into()), Instant::now());
    }
    queue.push_mark();
    queue.push(world.change("after".into()), Instant::now());
    for name in ["gone", "also gone", "after"] {
        queue.push(world.delete(name).unwrap(), Instant::now());
    }
    queue.push(world.change("last".into()), Instant::now());
    assert_eq!(queue.entries.holes, 0, "they were closed");
    assert!(!queue.take_mark());
    assert_eq!(queue.pop().unwrap().key.as_str(), "before");
    assert!(queue.take_mark());
    assert_eq!(queue.pop().unwrap().key.as_str(), "last");
}

#[test]
fn endless_creation_and_deletion_leaves_nothing_behind() {
    let mut queue = CoalescingQueue::<Thing>::new(Delivery::Coalesced { capacity: 0 });
    let mut world = World::default();
    for n in 0..1000 {
        let name = n.to_string();
        queue.push(world.change(name.clone()), Instant::now());
        queue.push(world.delete(&name).unwrap(), Instant::now());
    }
    assert_eq!(queue.len(), 0);
    assert_eq!(queue.last.as_ref().map(|last| last.numbers.len()), Some(0));
    assert_eq!(queue.entries.slots.len(), 0);
}

#[test]
fn holes_are_closed_behind_what_waits() {
    let mut queue = CoalescingQueue::<Thing>::new(Delivery::Coalesced { capacity: 0 });
    let mut world = World::default();
    queue.push(world.change("waits".into()), Instant::now());
    for n in 0..1000 {
        let name = n.to_string();
        queue.push(world.change(name.clone()), Instant::now());
        queue.push(world.delete(&name).unwrap(), Instant::now());
        assert!(queue.entries.slots.len() <= 3);
    }
    queue.push(world.change("waits".into()), Instant::now());
    assert_eq!(queue.len(), 1, "still found");
}

// The peak of a first sync are the adds that wait: a million of them.
#[test]
fn what_waits_takes_four_words() {
    let words = size_of::<QueuedNotification<k8s_openapi::api::core::v1::ConfigMap>>() / size_of::<usize>();
    assert_eq!(words, 4);
}

#[test]
fn storage_for_a_flood_is_given_back() {
    for delivery in [Delivery::default(), Delivery::Coalesced { capacity: 0 }] {
        let mut queue = CoalescingQueue::<Thing>::new(delivery);
        let mut world = World::default();
        for n in 0..10_000 {
            queue.push(world.change(n.to_string()), Instant::now());
        }
        assert!(queue.last.is_none(), "adds are merged with nothing");
        queue.push(world.change("0".into()), Instant::now());
        assert_eq!(queue.len(), 10_000);
        assert!(queue.last.is_some());
        while queue.pop().is_some() {}
        assert!(queue.entries.slots.capacity() <= 2 * KEPT_STORAGE);
        assert!(queue.last.is_none());
    }
}
