use super::*;
use crate::predicates;
use futures::FutureExt;
use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{OwnerReference, Time};
use kube::core::ApiResource;
use kube_informer::source::ClientSource;
use kube_informer::source::Selection;
use kube_informer::{DeleteCause, Deleted};
use std::sync::Arc;

/// An informer that does not run.
fn pods() -> SharedInformer<Pod> {
    let client = kube::Client::new(kube_sim::Sim::builder().build().unwrap().service(), "default");
    let source = ClientSource::new(client, ApiResource::erase::<Pod>(&()), Selection::default());
    SharedInformer::builder(source).build().0
}

fn pod(change: impl FnOnce(&mut Pod)) -> Arc<Pod> {
    let mut pod = Pod::default();
    (pod.metadata.namespace, pod.metadata.name) = (Some("shop".into()), Some("web-0".into()));
    (pod.metadata.uid, pod.metadata.resource_version) = (Some("1".into()), Some("1".into()));
    change(&mut pod);
    pod.into()
}

/// A pod with these owners: apiVersion, kind, name, whether it is the controller.
fn owned(owners: &[(&str, &str, &str, bool)]) -> Arc<Pod> {
    let owners = owners
        .iter()
        .map(|&(api_version, kind, name, controller)| OwnerReference {
            api_version: api_version.into(),
            kind: kind.into(),
            name: name.into(),
            controller: Some(controller),
            ..Default::default()
        });
    pod(|pod| pod.metadata.owner_references = Some(owners.collect()))
}

fn add(object: &Arc<Pod>, initial: bool) -> Notification<Pod> {
    let object = object.clone();
    Notification::Add { object, initial }
}

fn update(old: &Arc<Pod>, new: &Arc<Pod>) -> Notification<Pod> {
    let (old, new) = (old.clone(), new.clone());
    Notification::Update { old, new }
}

fn delete(last_known: Option<&Arc<Pod>>, cause: DeleteCause) -> Notification<Pod> {
    Notification::Delete(Deleted {
        key: "shop/web-0".into(),
        last_known: last_known.cloned(),
        cause,
    })
}

/// What a change puts on the queue, in the order of the queue: keys and priorities.
fn requested(source: Source<Pod>, change: Notification<Pod>) -> Vec<(String, i8)> {
    let queue = WorkQueue::new();
    let mut handler = source.handler(Intake::new(queue.clone(), Duration::ZERO, None));
    handler(change);
    let mut requested = Vec::new();
    while let Some(item) = queue.get().now_or_never().flatten() {
        requested.push((item.to_string(), item.priority().0));
    }
    requested
}

fn keys(source: Source<Pod>, change: Notification<Pod>) -> Vec<String> {
    let requested = requested(source, change);
    requested.into_iter().map(|(key, _)| key).collect()
}

/// Cases 53 and 62.
#[tokio::test]
async fn each_change_requests_its_object() {
    let pods = pods();
    let (old, new) = (
        pod(|_| ()),
        pod(|pod| pod.metadata.resource_version = Some("2".into())),
    );
    for (change, priority) in [
        (add(&old, true), -100),
        (add(&old, false), 0),
        (update(&old, &new), 0),
        (update(&old, &old), -100),
        (delete(Some(&old), DeleteCause::Event), 0),
        (delete(Some(&old), DeleteCause::Missed), 0),
    ] {
        let requested = requested(Source::own(&pods), change);
        assert_eq!(requested, [("shop/web-0".to_owned(), priority)]);
    }
}

/// Cases 55 to 61.
#[tokio::test]
async fn owners_are_told_by_group_and_kind() {
    let pods = pods();
    let sets = || Source::owned(&pods, OwnerKind::of::<ReplicaSet>());
    let controllers = || Source::owned(&pods, OwnerKind::of::<ReplicaSet>().controller_only());
    let old = owned(&[
        ("apps/v1", "ReplicaSet", "a", false),
        ("apps/v1beta1", "ReplicaSet", "b", true),
        ("example.com/v1", "ReplicaSet", "other-group", true),
        ("v1", "ReplicaSet", "no-group", false),
        ("apps/v1", "StatefulSet", "other-kind", false),
        ("", "ReplicaSet", "no-version", false),
        ("apps/v1/beta", "ReplicaSet", "bad-version", false),
    ]);
    let new = owned(&[
        ("apps/v1", "ReplicaSet", "b", true),
        ("apps/v1", "ReplicaSet", "c", false),
    ]);
    assert_eq!(keys(sets(), add(&old, false)), ["shop/a", "shop/b"]);
    assert_eq!(keys(sets(), update(&old, &new)), ["shop/a", "shop/b", "shop/c"]);
    assert_eq!(keys(sets(), update(&new, &new)), ["shop/b", "shop/c"]);
    assert_eq!(
        keys(sets(), delete(Some(&new), DeleteCause::Event)),
        ["shop/b", "shop/c"]
    );
    assert_eq!(keys(controllers(), update(&old, &new)), ["shop/b"]);
    assert_eq!(keys(sets(), add(&pod(|_| ()), false)), [""; 0]);
    assert_eq!(keys(sets(), delete(None, DeleteCause::Missed)), [""; 0]);

    let nodes = Source::owned(&pods, OwnerKind::of::<Node>());
    assert_eq!(
        keys(nodes, add(&owned(&[("v1", "Node", "node", false)]), false)),
        ["node"]
    );
    let other = owned(&[("apps/v1", "StatefulSet", "other-kind", true)]);
    assert_eq!(keys(controllers(), add(&other, false)), [""; 0]);
}

/// Cases 54 and 63.
#[tokio::test]
async fn mapped_keys_are_a_union_with_the_sources_priority() {
    let pods = pods();
    let node = |name: &str| pod(|pod| pod.spec.get_or_insert_default().node_name = Some(name.into()));
    let source = || {
        Source::mapped(&pods, |pod: &Arc<Pod>| {
            let node = pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
            node.into_iter().chain(["all".to_owned()])
        })
    };
    assert_eq!(keys(source(), update(&node("a"), &node("b"))), ["a", "all", "b"]);
    let urgent = source().priority(Priority(7));
    let expected = [("a".to_owned(), 7), ("all".to_owned(), 7)];
    assert_eq!(requested(urgent, add(&node("a"), true)), expected);
}

/// Cases 62, 64 to 66 and 68, and the rule that deletions, their beginnings and other uids pass.
#[tokio::test]
async fn filters_judge_updates_only_and_hide_no_deletion() {
    let pods = pods();
    let source = || Source::own(&pods).filter(predicates::generation);
    let passes = |source: Source<Pod>, change| !keys(source, change).is_empty();
    let old = pod(|pod| pod.metadata.generation = Some(1));
    let new = |change: fn(&mut Pod)| {
        let mut pod = (*old).clone();
        change(&mut pod);
        update(&old, &pod.into())
    };
    assert!(!passes(source(), update(&old, &old)));
    assert!(!passes(
        source(),
        new(|pod| pod.metadata.resource_version = Some("2".into()))
    ));
    assert!(passes(source(), new(|pod| pod.metadata.generation = Some(2))));
    assert!(passes(source(), add(&old, false)));
    assert!(passes(source(), delete(Some(&old), DeleteCause::Event)));
    let deleted = |pod: &mut Pod| {
        pod.metadata.deletion_timestamp = Some(Time(Default::default()));
    };
    assert!(passes(source(), new(deleted)));
    let being_deleted = pod(|pod| {
        pod.metadata.generation = Some(1);
        deleted(pod);
    });
    assert!(
        !passes(source(), update(&being_deleted, &being_deleted)),
        "only its beginning"
    );
    assert!(passes(source(), new(|pod| pod.metadata.uid = Some("2".into()))));
    let versions = || Source::own(&pods).filter(predicates::resource_version);
    assert!(!passes(versions(), new(|pod| pod.metadata.generation = Some(2))));
    assert!(passes(
        versions(),
        new(|pod| pod.metadata.resource_version = Some("2".into()))
    ));
    // A selector's filter, for the objects that it selects before or after.
    let selects = |pod: &Pod| pod.metadata.generation == Some(1);
    let selected = || Source::own(&pods).filter_updates(move |old, new| selects(old) || selects(new));
    assert!(
        passes(selected(), new(|pod| pod.metadata.generation = Some(2))),
        "it leaves"
    );
    assert!(passes(
        selected(),
        delete(Some(&being_deleted), DeleteCause::Event)
    ));
}

#[tokio::test]
async fn a_stream_of_keys_is_debounced_by_the_queue() {
    tokio::time::pause();
    let queue = WorkQueue::new();
    let intake = Intake::new(queue.clone(), Duration::from_secs(1), None);
    intake.request("a".into(), Priority::NORMAL);
    assert!(queue.is_empty());
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(queue.len(), 1);
}
