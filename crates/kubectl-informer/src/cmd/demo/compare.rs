//! Compares the informers' objects with the server's list.

use super::workers::{Item, Kind, Ledger};
use crate::connection::Connection;
use anyhow::{Context as _, bail};
use kube_informer::store::{Index, Indexer};
use kube_informer::{ObjectKey, ResourceVersion};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The number of objects in a page of the list.
const PAGE: usize = 500;

/// What is compared after the objects themselves: an object's version and node.
pub(super) struct Listed {
    version: Option<ResourceVersion>,
    node: Option<String>,
}

/// The objects of a list.
pub(super) type List = BTreeMap<ObjectKey, Listed>;

/// The differences, and the number of comparisons.
#[derive(Default)]
pub(super) struct Comparison {
    differences: Vec<String>,
    pub(super) indexed: usize,
    pub(super) in_ledger: usize,
}

impl Comparison {
    pub(super) fn differences(&self) -> &[String] {
        &self.differences
    }

    fn differs(&mut self, what: String) {
        self.differences.push(what);
    }

    /// Compares each object of a LIST with the one in the cache, both as complete JSON.
    pub(super) async fn cache<K: Serialize>(
        &mut self,
        connection: &Connection,
        path: &str,
        cache: &Indexer<Arc<K>>,
    ) -> anyhow::Result<List> {
        let snapshot = cache.snapshot();
        let (mut list, mut token) = (List::new(), String::new());
        loop {
            let mut page = page(connection, path, &token).await?;
            let kind = page["kind"]
                .as_str()
                .unwrap_or_default()
                .trim_end_matches("List")
                .to_owned();
            let api_version = page["apiVersion"].take();
            token = page["metadata"]["continue"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            let items = page["items"].as_array_mut().context("a list without items")?;
            for mut item in items.drain(..) {
                // Items of a list need not contain their kind.
                item["kind"] = kind.as_str().into();
                item["apiVersion"] = api_version.clone();
                drop_nulls(&mut item);
                let key = key_of(&item);
                let cached = snapshot
                    .get(&key)
                    .map(|cached| serde_json::to_value(&**cached))
                    .transpose()?;
                self.object(&key, &item, cached.as_ref());
                list.insert(key, listed(&item));
            }
            if token.is_empty() {
                break;
            }
        }
        for key in snapshot.keys().filter(|key| !list.contains_key(*key)) {
            self.differs(format!("{path} {key} is in the cache, but not in the list"));
        }
        Ok(list)
    }

    fn object(&mut self, key: &ObjectKey, listed: &Value, cached: Option<&Value>) {
        match cached {
            None => self.differs(format!(
                "{} {key} is in the list, but not in the cache",
                listed["kind"]
            )),
            Some(cached) if cached == listed => {}
            Some(cached) => {
                let place = difference(listed, cached, String::new());
                let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
                self.differs(format!(
                    "{} {key} is not the same at {} (listed at version {}, cached at {})",
                    listed["kind"],
                    place.unwrap_or_default(),
                    version(listed),
                    version(cached),
                ));
            }
        }
    }

    /// Compares the index with one built from the list.
    pub(super) fn index<K: Send + Sync + 'static>(
        &mut self,
        cache: &Indexer<Arc<K>>,
        index: &Index<String>,
        list: &List,
    ) -> anyhow::Result<()> {
        let mut expected: BTreeMap<&str, Vec<&ObjectKey>> = BTreeMap::new();
        for (key, listed) in list {
            if let Some(node) = &listed.node {
                expected.entry(node).or_default().push(key);
            }
        }
        let snapshot = cache.snapshot();
        for (value, _) in snapshot.index_values(index)? {
            if !expected.contains_key(value.as_str()) {
                self.differs(format!("the index has {value:?}, which nothing has"));
            }
        }
        for (value, keys) in expected {
            let found: BTreeSet<_> = snapshot.keys_by_index(index, value)?.collect();
            self.indexed += found.len();
            if !found.iter().copied().eq(keys) {
                self.differs(format!(
                    "the index has other objects under {value:?} than the list"
                ));
            }
        }
        Ok(())
    }

    /// Compares the workers' records with the lists.
    pub(super) fn ledger(&mut self, ledger: &Ledger, nodes: &List, pods: &List) {
        let listed = |(kind, key): &Item| match kind {
            Kind::Node => nodes.get(key),
            Kind::Pod => pods.get(key),
        };
        self.in_ledger = ledger.len();
        for (item, version) in ledger {
            match listed(item) {
                Some(listed) if listed.version == *version => {}
                Some(_) => self.differs(format!(
                    "the workers last saw an old version of {:?} {}",
                    item.0, item.1
                )),
                None => self.differs(format!(
                    "the workers still know {:?} {}, which is gone",
                    item.0, item.1
                )),
            }
        }
        let all = nodes
            .keys()
            .map(|key| (Kind::Node, key))
            .chain(pods.keys().map(|key| (Kind::Pod, key)));
        for (kind, key) in all {
            if !ledger.contains_key(&(kind, key.clone())) {
                self.differs(format!("the workers never saw {kind:?} {key}"));
            }
        }
    }
}

/// Requests a page of a list, without any part of an informer.
async fn page(connection: &Connection, path: &str, token: &str) -> anyhow::Result<Value> {
    let mut query = form_urlencoded::Serializer::new(format!("limit={PAGE}"));
    if !token.is_empty() {
        query.append_pair("continue", token);
    }
    let answer = connection
        .get(&format!("{path}?{}", query.finish()), "application/json")
        .await?;
    if !answer.status.is_success() {
        let message = answer.message().unwrap_or_default();
        bail!("the list of {path} was refused: {message}");
    }
    Ok(answer.json()?)
}

fn key_of(object: &Value) -> ObjectKey {
    let metadata = &object["metadata"];
    ObjectKey::new(
        metadata["namespace"].as_str(),
        metadata["name"].as_str().unwrap_or_default(),
    )
}

fn listed(object: &Value) -> Listed {
    Listed {
        version: object["metadata"]["resourceVersion"]
            .as_str()
            .map(ResourceVersion::from),
        node: object["spec"]["nodeName"].as_str().map(ToOwned::to_owned),
    }
}

/// Removes members that are null: to the API they are equal to absent ones, and Rust types do not distinguish the two.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// The path of the first difference of two values; never the values.
fn difference(a: &Value, b: &Value, path: String) -> Option<String> {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let names: BTreeSet<_> = a.keys().chain(b.keys()).collect();
            names.into_iter().find_map(|name| {
                let path = format!("{path}/{name}");
                match (a.get(name), b.get(name)) {
                    (Some(a), Some(b)) => difference(a, b, path),
                    _ => Some(path),
                }
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.find_map(|(index, (a, b))| difference(a, b, format!("{path}/{index}")))
        }
        _ => (a != b).then_some(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_difference_is_found_wherever_it_is() {
        let object = json!({"a": {"b": [1, {"c": "x"}], "d": null}});
        let check = |other: Value, expected: Option<&str>| {
            assert_eq!(difference(&object, &other, String::new()).as_deref(), expected);
            assert_eq!(object == other, expected.is_none());
        };
        check(object.clone(), None);
        check(json!({"a": {"b": [1, {"c": "y"}], "d": null}}), Some("/a/b/1/c"));
        check(json!({"a": {"b": [1, {"c": "x"}]}}), Some("/a/d"));
        check(json!({"a": {"b": [1], "d": null}}), Some("/a/b"));
        check(
            json!({"a": {"b": [1, {"c": "x", "e": 1}], "d": null}}),
            Some("/a/b/1/e"),
        );
    }

    #[test]
    fn objects_that_differ_are_told() {
        let mut comparison = Comparison::default();
        let object = json!({"kind": "Pod", "metadata": {"name": "a", "resourceVersion": "5"}});
        comparison.object(&"a".into(), &object, Some(&object));
        assert!(comparison.differences().is_empty());
        let other = json!({"kind": "Pod", "metadata": {"name": "a", "resourceVersion": "4"}});
        comparison.object(&"a".into(), &object, Some(&other));
        comparison.object(&"a".into(), &object, None);
        assert_eq!(
            comparison.differences(),
            [
                "\"Pod\" a is not the same at /metadata/resourceVersion (listed at version \"5\", cached at \"4\")",
                "\"Pod\" a is in the list, but not in the cache",
            ]
        );
    }

    #[test]
    fn a_ledger_is_compared_both_ways() {
        let object = |version: &str| json!({"metadata": {"resourceVersion": version}});
        let nodes = List::from([("n".into(), listed(&object("1")))]);
        let pods = List::from([
            ("p".into(), listed(&object("2"))),
            ("q".into(), listed(&object("3"))),
        ]);
        let ledger = |entries: &[(Kind, &str, &str)]| -> Ledger {
            let entry =
                |(kind, key, version): &(Kind, &str, &str)| ((*kind, (*key).into()), Some((*version).into()));
            entries.iter().map(entry).collect()
        };
        let differences = |ledger: Ledger| {
            let mut comparison = Comparison::default();
            comparison.ledger(&ledger, &nodes, &pods);
            comparison.differences().to_vec()
        };
        let complete = [
            (Kind::Node, "n", "1"),
            (Kind::Pod, "p", "2"),
            (Kind::Pod, "q", "3"),
        ];
        assert!(differences(ledger(&complete)).is_empty());
        assert_eq!(
            differences(ledger(&complete[..2])),
            ["the workers never saw Pod q"]
        );
        let old = [complete[0], complete[1], (Kind::Pod, "q", "2")];
        assert_eq!(
            differences(ledger(&old)),
            ["the workers last saw an old version of Pod q"]
        );
        let more = [complete.as_slice(), &[(Kind::Pod, "gone", "2")]].concat();
        assert_eq!(
            differences(ledger(&more)),
            ["the workers still know Pod gone, which is gone"]
        );
    }
}
