//! Reads of many objects: all, those of a namespace, those that match a selector.

use super::{
    NAMESPACE_INDEX,
    index::{Namespace, Postings},
    slots::SlotSet,
    state::{Row, State},
};
use crate::object::CachedObject;
use crate::selector::{LabelPrefilter, LabelSelector};

/// The rows to read.
enum Scope<'a> {
    All,
    Slots(&'a SlotSet),
    /// The rows of a namespace, found by comparing keys.
    Keys(&'a str),
    Nothing,
}

impl<R> State<R> {
    /// The rows of a namespace; all rows for `None` or an empty name.
    fn scope<'a>(&'a self, namespace: Option<&'a str>) -> Scope<'a> {
        let Some(namespace) = namespace.filter(|namespace| !namespace.is_empty()) else {
            return Scope::All;
        };
        let index = self.named(NAMESPACE_INDEX);
        let postings = index.and_then(|index| index.postings().downcast_ref::<Postings<Namespace>>());
        match postings.map(|postings| postings.slots(namespace)) {
            None => Scope::Keys(namespace),
            Some(None) => Scope::Nothing,
            // Reading all rows is faster than going through the set. This is the usual case when one namespace is
            // watched.
            Some(Some(slots)) if slots.len() == self.rows.len() => Scope::All,
            Some(Some(slots)) => Scope::Slots(slots),
        }
    }

    /// The rows of a namespace.
    pub(crate) fn namespace<'a>(&'a self, namespace: &'a str) -> impl Iterator<Item = &'a Row<R>> {
        let (mut all, mut keys, mut slots) = (None, None, None);
        match self.scope(Some(namespace)) {
            Scope::All => all = Some(self.rows.iter()),
            Scope::Slots(set) => slots = Some(self.rows_at(Some(set))),
            Scope::Keys(namespace) => keys = Some(self.rows.iter().filter(in_namespace(namespace))),
            Scope::Nothing => {}
        }
        let (all, keys, slots) = (all.into_iter(), keys.into_iter(), slots.into_iter());
        all.flatten().chain(slots.flatten()).chain(keys.flatten())
    }

    /// Calls `each` with every row in scope; faster than an iterator.
    fn for_each_in(&self, scope: &Scope<'_>, mut each: impl FnMut(&Row<R>)) {
        match scope {
            Scope::All => self.rows.for_each(each),
            Scope::Slots(slots) => self.rows_at(Some(slots)).for_each(each),
            Scope::Keys(namespace) => self
                .rows
                .iter()
                .filter(in_namespace(namespace))
                .for_each(&mut each),
            Scope::Nothing => {}
        }
    }
}

fn in_namespace<R>(namespace: &str) -> impl Fn(&&Row<R>) -> bool {
    move |row| row.key.namespace() == Some(namespace)
}

impl<R: Clone> State<R> {
    /// The objects of a namespace, or of all namespaces.
    pub(crate) fn list(&self, namespace: Option<&str>) -> Vec<R> {
        let scope = self.scope(namespace);
        let mut objects = Vec::with_capacity(match scope {
            Scope::All => self.rows.len(),
            Scope::Slots(slots) => slots.len(),
            Scope::Keys(_) | Scope::Nothing => 0,
        });
        self.for_each_in(&scope, |row| objects.push(row.object.clone()));
        objects
    }

    /// The objects of a namespace, or of all namespaces, that match a selector.
    pub(crate) fn select<O: CachedObject<Handle = R>>(
        &self,
        namespace: Option<&str>,
        selector: &LabelSelector,
    ) -> Vec<R> {
        if selector.is_everything() {
            return self.list(namespace);
        }
        let prefilter = LabelPrefilter::new(selector);
        let passes = |slot: &u32| prefilter.passes(self.labels.get(*slot));
        let (mut objects, mut rows) = (Vec::new(), self.rows.cursor());
        let each = |slot| {
            if let Some(row) = rows.get(slot)
                && selector.matches(|label| O::label_of(&row.object, label))
            {
                objects.push(row.object.clone());
            }
        };
        match self.scope(namespace) {
            Scope::All => self.labels.for_each_passing(&prefilter, each),
            Scope::Slots(slots) => slots.iter().filter(passes).for_each(each),
            Scope::Keys(namespace) => {
                let rows = self.rows.slots();
                let of_namespace = rows.filter(|(_, row)| in_namespace(namespace)(row));
                of_namespace.map(|(slot, _)| slot).filter(passes).for_each(each);
            }
            Scope::Nothing => {}
        }
        objects
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{ObjectKey, Partition};
    use crate::store::Indexer;
    use k8s_openapi::api::core::v1::ConfigMap;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::sync::Arc;

    type Model = BTreeMap<ObjectKey, Arc<ConfigMap>>;

    /// A key in one of two namespaces and its new labels; `None` deletes the object.
    fn change() -> impl Strategy<Value = (ObjectKey, Option<BTreeMap<String, String>>)> {
        let labels = prop::collection::btree_map("[ab]", "[12]", 0..3);
        ("[xy]/[a-e]", prop::option::weighted(0.8, labels))
            .prop_map(|(key, labels)| (key.as_str().into(), labels))
    }

    fn check(store: &Indexer<Arc<ConfigMap>>, model: &Model) {
        let sorted = |objects: Vec<Arc<ConfigMap>>| {
            let mut keys: Vec<_> = objects.iter().map(ConfigMap::key_of).collect();
            keys.sort();
            keys
        };
        for namespace in [None, Some("x"), Some("y"), Some("z")] {
            let inside = |key: &ObjectKey| namespace.is_none() || key.namespace() == namespace;
            for input in [
                "",
                "a",
                "!a",
                "a=1",
                "a!=1",
                "a in (1,2)",
                "a=1,b=2",
                "a=1,b!=2",
                "c=1",
            ] {
                let selector = LabelSelector::parse(input).unwrap();
                let expected = model.iter().filter(|(key, object)| {
                    inside(key) && selector.matches(|label| ConfigMap::label_of(object, label))
                });
                let expected: Vec<_> = expected.map(|(key, _)| key.clone()).collect();
                let selected = store.select::<ConfigMap>(namespace, &selector);
                assert_eq!(sorted(selected), expected, "{input:?} in {namespace:?}");
            }
            if let Some(namespace) = namespace {
                let snapshot = store.snapshot();
                let visited = snapshot.namespace(namespace).cloned().collect();
                assert_eq!(sorted(visited), sorted(store.list_namespace(namespace)));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn selected_and_listed_objects_equal_a_full_scan(
            changes in prop::collection::vec(change(), 0..40),
            (indexed, known) in any::<(bool, bool)>(),
        ) {
            let (store, writer) = if indexed { Indexer::new() } else { Indexer::without_indexes() };
            let mut writer = if known { writer.of::<ConfigMap>() } else { writer };
            let mut model = Model::new();
            for (key, labels) in changes {
                let Some(labels) = labels else {
                    writer.remove(&key);
                    model.remove(&key);
                    continue;
                };
                let mut object = ConfigMap::default();
                object.metadata.namespace = key.namespace().map(Into::into);
                object.metadata.name = Some(key.name().into());
                object.metadata.labels = Some(labels);
                let object = Arc::new(object);
                writer.upsert(key.clone(), object.clone(), None, Partition::SINGLE).unwrap();
                model.insert(key, object);
            }
            writer.publish();
            check(&store, &model);
        }
    }
}
