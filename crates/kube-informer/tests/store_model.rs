//! Random operations on a store and on plain maps, whose indexes are computed from scratch; both must always agree,
//! also in snapshots that were taken earlier.

use kube_informer::{
    Fingerprint, ObjectKey, Partition, ResourceVersion,
    low_level::{KnownObjects, StoreWriter},
    store::{Index, IndexError, Indexer, Snapshot},
};
use proptest::prelude::*;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Index functions panic on a thing with this tag.
const POISON: u8 = 9;
const KEYS: u32 = 400;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Thing {
    tags: Vec<u8>,
    group: Option<String>,
}

impl Thing {
    fn is_poison(&self) -> bool {
        self.tags.contains(&POISON)
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        self.group
            .as_ref()
            .map(|group| Fingerprint::new(group.len() as u64))
    }
}

#[derive(Debug, Clone)]
enum Op {
    Upsert(u32, Thing, u32),
    Remove(u32),
    /// The same for `.1` keys from `.0` on: enough to make trees grow and shrink.
    UpsertMany(u32, u32, Thing),
    RemoveMany(u32, u32),
    MarkStale(u32, bool),
    SetVersion(u32, u64),
    Publish,
    AddTagIndex,
    AddGroupIndex,
    Keep,
    LetGo(usize),
}

fn key(number: u32) -> ObjectKey {
    match number % 4 {
        0 => ObjectKey::from(format!("node-{number}")),
        namespace => ObjectKey::from(format!("ns-{namespace}/pod-{number}")),
    }
}

fn thing() -> impl Strategy<Value = Thing> {
    let tag = prop_oneof![20 => 0..6u8, 1 => Just(POISON)];
    let group = prop::option::of("[a-c]{1,2}");
    (prop::collection::vec(tag, 0..4), group).prop_map(|(tags, group)| Thing { tags, group })
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        12 => (0..KEYS, thing(), 0..3u32).prop_map(|(key, thing, partition)| Op::Upsert(key, thing, partition)),
        6 => (0..KEYS).prop_map(Op::Remove),
        3 => (0..KEYS, 0..KEYS, thing()).prop_map(|(from, count, thing)| Op::UpsertMany(from, count, thing)),
        2 => (0..KEYS, 0..KEYS).prop_map(|(from, count)| Op::RemoveMany(from, count)),
        2 => (0..KEYS, any::<bool>()).prop_map(|(key, stale)| Op::MarkStale(key, stale)),
        2 => (0..3u32, 1..100u64).prop_map(|(partition, version)| Op::SetVersion(partition, version)),
        8 => Just(Op::Publish),
        1 => Just(Op::AddTagIndex),
        1 => Just(Op::AddGroupIndex),
        3 => Just(Op::Keep),
        2 => any::<usize>().prop_map(Op::LetGo),
    ]
}

/// What a store must answer.
#[derive(Debug, Clone, Default)]
struct Model {
    things: BTreeMap<ObjectKey, (Thing, Partition)>,
    stale: BTreeSet<ObjectKey>,
    versions: BTreeMap<Partition, u64>,
    by_tag: bool,
    by_group: bool,
    /// Things that the index by tag panicked on, after they had been accepted.
    untagged: BTreeSet<ObjectKey>,
}

impl Model {
    fn keys(&self, wanted: impl Fn(&ObjectKey, &Thing) -> bool) -> BTreeSet<&ObjectKey> {
        self.things
            .iter()
            .filter(|(key, (thing, _))| wanted(key, thing))
            .map(|(key, _)| key)
            .collect()
    }

    fn tagged(&self, tag: u8) -> BTreeSet<&ObjectKey> {
        self.keys(|key, thing| thing.tags.contains(&tag) && !self.untagged.contains(key))
    }

    fn remove(&mut self, key: &ObjectKey) -> Option<Thing> {
        self.stale.remove(key);
        self.untagged.remove(key);
        self.things.remove(key).map(|(thing, _)| thing)
    }
}

struct Pair {
    indexer: Indexer<Arc<Thing>>,
    writer: StoreWriter<Arc<Thing>>,
    by_tag: Option<Index<u8>>,
    by_group: Option<Index<String>>,
    /// What the writer has, and what is published.
    own: Model,
    public: Model,
    /// Keys that were written since the last publication.
    touched: BTreeSet<ObjectKey>,
    kept: Vec<(Snapshot<Arc<Thing>>, Model)>,
}

impl Pair {
    fn new() -> Self {
        let (indexer, writer) = Indexer::new();
        let (own, public) = Default::default();
        Self {
            indexer,
            writer,
            by_tag: None,
            by_group: None,
            own,
            public,
            touched: BTreeSet::new(),
            kept: Vec::new(),
        }
    }

    fn upsert(&mut self, key: ObjectKey, thing: &Thing, partition: Partition) {
        let result = self.writer.upsert(
            key.clone(),
            Arc::new(thing.clone()),
            thing.fingerprint(),
            partition,
        );
        if thing.is_poison() && self.own.by_tag {
            let panic = result.unwrap_err();
            assert_eq!(
                (&*panic.index, &panic.key, &*panic.message),
                ("tag", &key, "poison")
            );
            return;
        }
        let old = self.own.remove(&key);
        assert_eq!(result.unwrap().as_deref(), old.as_ref());
        self.own.things.insert(key.clone(), (thing.clone(), partition));
        self.touched.insert(key);
    }

    fn remove(&mut self, key: &ObjectKey) {
        assert_eq!(
            self.writer.remove(key.as_str()).as_deref(),
            self.own.remove(key).as_ref()
        );
    }

    fn publish(&mut self) {
        self.writer.publish();
        if self.public.by_tag && !self.own.by_tag {
            let touched = std::mem::take(&mut self.touched);
            let missed = touched
                .into_iter()
                .filter(|key| self.own.things.get(key).is_some_and(|(t, _)| t.is_poison()));
            for key in missed {
                self.own.stale.insert(key.clone());
                self.own.untagged.insert(key);
            }
        }
        (self.own.by_tag, self.own.by_group) = (self.public.by_tag, self.public.by_group);
        self.touched.clear();
        self.public = self.own.clone();
    }

    fn add_tag_index(&mut self) {
        let added = self.indexer.add_index("tag", |thing: &Arc<Thing>| {
            if thing.is_poison() {
                // As a panic, without the message on the terminal.
                std::panic::resume_unwind(Box::new("poison"));
            }
            thing.tags.clone()
        });
        if self.public.by_tag {
            assert_eq!(added.unwrap_err(), IndexError::Conflict("tag".into()));
        } else if self.public.things.values().any(|(thing, _)| thing.is_poison()) {
            assert!(matches!(added, Err(IndexError::Panic(_))), "{added:?}");
        } else {
            self.by_tag = Some(added.unwrap());
            self.public.by_tag = true;
        }
    }

    fn add_group_index(&mut self) {
        let added = self
            .indexer
            .add_index("group", |thing: &Arc<Thing>| thing.group.clone());
        assert_eq!(added.is_err(), self.public.by_group);
        self.by_group = added.ok().or(self.by_group.take());
        self.public.by_group = true;
    }

    fn run(&mut self, op: Op) {
        match op {
            Op::Upsert(number, thing, partition) => {
                self.upsert(key(number), &thing, Partition::new(partition))
            }
            Op::Remove(number) => self.remove(&key(number)),
            Op::UpsertMany(from, count, thing) => {
                (from..from + count).for_each(|number| self.upsert(key(number), &thing, Partition::SINGLE));
            }
            Op::RemoveMany(from, count) => (from..from + count).for_each(|number| self.remove(&key(number))),
            Op::MarkStale(number, stale) => {
                if stale {
                    self.writer.mark_stale(&key(number), Partition::SINGLE);
                    self.own.stale.insert(key(number))
                } else {
                    self.writer.clear_stale(key(number).as_str());
                    self.own.stale.remove(&key(number))
                };
            }
            Op::SetVersion(partition, version) => {
                self.writer
                    .set_resource_version(Partition::new(partition), version.into());
                self.own.versions.insert(Partition::new(partition), version);
            }
            Op::Publish => self.publish(),
            Op::AddTagIndex => self.add_tag_index(),
            Op::AddGroupIndex => self.add_group_index(),
            Op::Keep => self.kept.push((self.indexer.snapshot(), self.public.clone())),
            Op::LetGo(at) if !self.kept.is_empty() => {
                let (snapshot, model) = self.kept.swap_remove(at % self.kept.len());
                self.check(&snapshot, &model);
            }
            Op::LetGo(_) => {}
        }
        self.check_writer();
    }

    fn check_writer(&self) {
        assert_eq!(self.writer.len(), self.own.things.len());
        let entries: BTreeMap<_, _> = self
            .writer
            .entries()
            .map(|e| (e.key, (&**e.object, e.partition)))
            .collect();
        assert_eq!(
            entries,
            self.own
                .things
                .iter()
                .map(|(key, (thing, p))| (key, (thing, *p)))
                .collect()
        );
        let first = Partition::new(1);
        let in_first = self
            .own
            .things
            .values()
            .filter(|(_, partition)| *partition == first)
            .count();
        assert_eq!(self.writer.partition(first).count(), in_first);
    }

    fn check(&self, snapshot: &Snapshot<Arc<Thing>>, model: &Model) {
        check_objects(snapshot, model);
        check_namespaces(snapshot, model);
        self.check_tags(snapshot, model);
        self.check_groups(snapshot, model);
    }

    fn check_tags(&self, snapshot: &Snapshot<Arc<Thing>>, model: &Model) {
        let Some(by_tag) = &self.by_tag else { return };
        if !model.by_tag {
            assert_eq!(
                snapshot.by_index(by_tag, &1).err(),
                Some(IndexError::NotInSnapshot("tag".into()))
            );
            return;
        }
        for tag in 0..=POISON {
            let found: Vec<_> = snapshot.keys_by_index(by_tag, &tag).unwrap().collect();
            assert_eq!(found.len(), snapshot.count(by_tag, &tag).unwrap());
            assert_eq!(
                found.into_iter().collect::<BTreeSet<_>>(),
                model.tagged(tag),
                "tag {tag}"
            );
        }
        let values: BTreeMap<_, _> = snapshot
            .index_values(by_tag)
            .unwrap()
            .map(|(tag, count)| (*tag, count))
            .collect();
        let expected = (0..=POISON)
            .map(|tag| (tag, model.tagged(tag).len()))
            .filter(|(_, count)| *count > 0);
        assert_eq!(values, expected.collect());
        assert_eq!(
            snapshot.by_index_name("tag", "1").err(),
            Some(IndexError::NotString("tag".into()))
        );

        let probe = Arc::new(Thing {
            tags: vec![1, 2, 2],
            group: None,
        });
        let alike: BTreeSet<_> = model
            .tagged(1)
            .union(&model.tagged(2))
            .map(|key| &model.things[*key].0)
            .collect();
        let found: Vec<_> = snapshot
            .sharing_index("tag", &"probe".into(), &probe)
            .unwrap()
            .map(|thing| &**thing)
            .collect();
        assert_eq!(found.len(), model.tagged(1).union(&model.tagged(2)).count());
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), alike);
    }

    fn check_groups(&self, snapshot: &Snapshot<Arc<Thing>>, model: &Model) {
        let Some(by_group) = &self.by_group else { return };
        if !model.by_group {
            assert_eq!(
                snapshot.by_index_name("group", "a").err(),
                Some(IndexError::Unknown("group".into()))
            );
            return;
        }
        let groups: BTreeSet<_> = model
            .things
            .values()
            .filter_map(|(thing, _)| thing.group.as_deref())
            .collect();
        assert_eq!(
            snapshot
                .index_values_by_name("group")
                .unwrap()
                .into_iter()
                .collect::<BTreeSet<_>>(),
            groups
        );
        for group in groups.into_iter().chain(["none"]) {
            let expected = model.keys(|_, thing| thing.group.as_deref() == Some(group));
            assert_eq!(
                snapshot
                    .keys_by_index_name("group", group)
                    .unwrap()
                    .collect::<BTreeSet<_>>(),
                expected
            );
            assert_eq!(snapshot.by_index(by_group, group).unwrap().len(), expected.len());
        }
    }
}

fn check_objects(snapshot: &Snapshot<Arc<Thing>>, model: &Model) {
    assert_eq!(snapshot.len(), model.things.len());
    assert_eq!(snapshot.entries().count(), model.things.len());
    let entries: BTreeMap<_, _> = snapshot.entries().map(|(key, thing)| (key, &**thing)).collect();
    assert_eq!(
        entries,
        model
            .things
            .iter()
            .map(|(key, (thing, _))| (key, thing))
            .collect()
    );
    for number in 0..2 * KEYS {
        let (key, expected) = (
            key(number),
            model.things.get(&key(number)).map(|(thing, _)| thing),
        );
        assert_eq!(snapshot.get(key.as_str()).map(|thing| &**thing), expected);
        assert_eq!(snapshot.contains(key.as_str()), expected.is_some());
        assert_eq!(
            KnownObjects::get(snapshot, key.as_str()),
            expected
                .filter(|_| !model.untagged.contains(&key))
                .and_then(Thing::fingerprint)
                .map(|fingerprint| (key.clone(), fingerprint))
        );
        assert_eq!(snapshot.is_stale(key.as_str()), model.stale.contains(&key));
    }
    assert_eq!(
        snapshot.stale_keys().collect::<BTreeSet<_>>(),
        model.stale.iter().collect()
    );
    assert_eq!(snapshot.stale_len(), model.stale.len());
    let lowest = model
        .versions
        .values()
        .min()
        .map(|version| ResourceVersion::from(*version));
    assert_eq!(snapshot.resource_version(), lowest.as_ref());
}

fn check_namespaces(snapshot: &Snapshot<Arc<Thing>>, model: &Model) {
    for namespace in ["ns-1", "ns-2", "ns-3", "ns-4", ""] {
        let expected = model.keys(|key, _| key.namespace() == Some(namespace));
        let listed = match namespace {
            "" => model.keys(|_, _| true).len(),
            _ => expected.len(),
        };
        assert_eq!(snapshot.namespace(namespace).count(), listed, "{namespace:?}");
        assert_eq!(
            snapshot
                .keys_by_index_name("namespace", namespace)
                .unwrap()
                .collect::<BTreeSet<_>>(),
            expected
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn a_store_is_as_plain_maps(ops in prop::collection::vec(op(), 0..60)) {
        let mut pair = Pair::new();
        for op in ops {
            pair.run(op);
        }
        pair.check(&pair.indexer.snapshot(), &pair.public);
        pair.publish();
        pair.check(&pair.indexer.snapshot(), &pair.public);
        for (snapshot, model) in &pair.kept {
            pair.check(snapshot, model);
        }
    }
}
