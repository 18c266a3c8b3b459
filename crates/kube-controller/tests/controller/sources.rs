//! What is watched: how it starts, and which objects it leads to.

use crate::harness::{Cluster, Failure, Running, SECOND, references, start};
use k8s_openapi::api::core::v1::{ConfigMap, Node, Secret, ServiceAccount};
use kube::Api;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind, PartialObjectMeta};
use kube_controller::controller::{
    Action, Config, Controller, Error, OwnerKind, Priority, RunnerError, Source,
};
use kube_controller::predicates;
use kube_controller::reflector::ObjectRef;
use kube_controller::watcher;
use kube_informer::form::Packed;
use kube_informer::{ObjectKey, SharedInformerFactory};
use kube_sim::script::{Answer, Kind, Received, ScriptedServer};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

async fn done() -> Result<Action, Failure> {
    Ok(Action::await_change())
}

fn everything() -> watcher::Config {
    watcher::Config::default()
}

/// A client of a server that answers every request the same way.
fn client(answer: impl FnMut(&Received) -> Answer + Send + 'static) -> kube::Client {
    kube::Client::new(ScriptedServer::new().otherwise(answer).service(), "default")
}

fn forbidden() -> Answer {
    Answer::status(403, "Forbidden", "you may not")
}

/// Six kinds of a cluster, and one that is refused for an hour: the others react within a second.
#[tokio::test(start_paused = true)]
async fn a_refused_source_holds_up_no_other() {
    let cluster = Cluster::new();
    let owner = cluster.map("owner");
    let allowed = Arc::new(AtomicBool::new(false));
    let is_allowed = allowed.clone();
    let refused = client(move |request| {
        let secrets = Kind::new("v1", "PodTemplate");
        let mut template = secrets.object("default/template", "7");
        template["metadata"]["ownerReferences"] = references(&[&owner]);
        match request.parameter("watch") {
            _ if !is_allowed.load(Ordering::Relaxed) => forbidden(),
            None => Answer::json(secrets.list("7", [template])),
            Some(_) => Answer::watch(Vec::<String>::new()).open(),
        }
    });
    type Templates = k8s_openapi::api::core::v1::PodTemplate;
    let named = |name: &str| ObjectRef::new(name).within("default");
    let controller = cluster
        .controller()
        .owns(Api::<Templates>::all(refused), everything())
        .owns(Api::<Secret>::all(cluster.client()), everything())
        .owns(Api::<ServiceAccount>::all(cluster.client()), everything())
        .owns(
            Api::<k8s_openapi::api::core::v1::Service>::all(cluster.client()),
            everything(),
        )
        .watches(Api::<Node>::all(cluster.client()), everything(), move |_| {
            [named("owner")]
        })
        .owns(
            Api::<k8s_openapi::api::core::v1::Endpoints>::all(cluster.client()),
            everything(),
        );
    let mut running = start(controller, |_| done());
    let first = running.run().await;
    assert!(first.at < SECOND, "{first:?}");
    let error = running.error().await.to_string();
    assert!(
        error.contains("podtemplates") && error.contains("you may not"),
        "{error}"
    );

    for minute in 0..60 {
        tokio::time::sleep(60 * SECOND).await;
        while running.run_now().is_some() {}
        match minute % 3 {
            0 => cluster.touch("owner"),
            1 => cluster.secret(&format!("secret-{minute}"), &[&cluster.get("ConfigMap", "owner")]),
            _ => drop(cluster.create(json!({
                "apiVersion": "v1", "kind": "Node", "metadata": {"name": format!("node-{minute}")},
            }))),
        }
        running.run_within(SECOND).await;
    }
    assert_eq!(running.errors(), [""; 0], "it is said once");
    allowed.store(true, Ordering::Relaxed);
    let run = running.run().await;
    assert_eq!(
        run.attempt.priority,
        Priority::LOW,
        "what it owns comes when it is served"
    );
}

/// Case 6: of a source that does not answer, the start waits for its time, and the error says why.
#[tokio::test(start_paused = true)]
async fn a_silent_source_is_waited_for_until_its_time() {
    let cluster = Cluster::new();
    cluster.map("a");
    let silent = client(|_| Answer::never());
    let controller = cluster
        .controller()
        .owns(Api::<Secret>::all(silent.clone()), everything())
        .watches(
            Api::<Node>::all(client(|_| Answer::code(503))),
            everything(),
            |_| [],
        )
        .with_config(Config::default().sync_timeout(30 * SECOND));
    let mut running = start(controller, |_| done());
    let first = running.run().await;
    assert_eq!(first.at.as_secs(), 30);
    let mut errors = running.errors();
    errors.sort();
    assert!(
        errors[0].starts_with("nodes have not synced within 30 s: "),
        "{errors:?}"
    );
    assert!(errors[0].contains("503"), "the reason: {errors:?}");
    assert!(
        errors[1].starts_with("secrets have not synced within 30 s: "),
        "{errors:?}"
    );
}

/// Cases 5 and 94: nothing is reconciled without the controller's own kind, and the stream says why.
#[tokio::test(start_paused = true)]
async fn the_own_kind_is_waited_for_and_its_absence_reported() {
    let controller = Controller::<ConfigMap>::new(Api::all(client(|_| forbidden())), everything());
    let mut running = start(controller, |_| done());
    let error = running.error().await;
    let Error::RunnerError(RunnerError::Refused { resource, unsynced }) = &error else {
        panic!("{error}");
    };
    assert_eq!(resource, "configmaps");
    assert!(unsynced[0].why.contains("you may not"), "{error}");
    assert!(error.to_string().contains("you may not"), "{error}");
    running.quiet_for(3600 * SECOND).await;
    assert!(!running.task.is_finished(), "it goes on trying");
}

/// Case 7.
#[tokio::test(start_paused = true)]
async fn stopping_while_sources_sync_is_no_error() {
    let stop = tokio::time::sleep(5 * SECOND);
    let controller = Controller::<ConfigMap>::new(Api::all(client(|_| Answer::never())), everything());
    let mut running = start(controller.graceful_shutdown_on(stop), |_| done());
    (&mut running.task).await.unwrap();
    assert!(running.errors().is_empty());
}

/// The failures of a watch that had synced are reported, too.
#[tokio::test(start_paused = true)]
async fn later_failures_of_requests_are_reported() {
    let kind = Kind::new("v1", "ConfigMap");
    let list = kind.list("7", [kind.object("default/a", "7")]);
    let broken = client(move |request| match request.parameter("watch") {
        None => Answer::json(list.clone()),
        Some(_) => Answer::code(500).delayed(10 * SECOND),
    });
    let mut running = start(
        Controller::<ConfigMap>::new(Api::all(broken), everything()),
        |_| done(),
    );
    assert_eq!(running.run().await.name, "a");
    let error = running.error().await.to_string();
    assert!(
        error.starts_with("watch of configmaps failed") && error.contains("500"),
        "{error}"
    );
}

/// Cases 34, 35, 53, 55: the owners before and after a change, also those that are no controllers.
#[tokio::test(start_paused = true)]
async fn changes_of_owned_objects_lead_to_their_owners() {
    let cluster = Cluster::new();
    let (a, b, c) = (cluster.map("a"), cluster.map("b"), cluster.map("c"));
    cluster.secret("child", &[&a]);
    let controller = cluster
        .controller()
        .owns(Api::<Secret>::all(cluster.client()), everything());
    let mut running = start(controller, |_| done());
    assert_eq!(running.names(3).await, ["a", "b", "c"]);
    running.quiet_for(SECOND).await;
    cluster.change("Secret", "child", |secret| {
        secret["metadata"]["ownerReferences"] = references(&[&b, &c]);
    });
    assert_eq!(running.names(3).await, ["a", "b", "c"], "the former owner, too");
    cluster.change("Secret", "child", |secret| {
        secret["metadata"]["labels"] = json!({"a": "b"})
    });
    assert_eq!(running.names(2).await, ["b", "c"], "each once");
    cluster.delete("Secret", "child");
    assert_eq!(running.names(2).await, ["b", "c"]);
    running.quiet_for(SECOND).await;
}

/// Their metadata comes in protobuf, though nothing else of them does.
#[tokio::test(start_paused = true)]
async fn owned_objects_may_be_custom_resources() {
    let cluster = Cluster::new();
    cluster.create(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    }));
    let widget = |name: &str, owner: &serde_json::Value| {
        cluster.create(json!({
            "apiVersion": "example.com/v1", "kind": "Widget",
            "metadata": {"name": name, "namespace": "default", "ownerReferences": references(&[owner])},
        }))
    };
    let (a, b) = (cluster.map("a"), cluster.map("b"));
    widget("listed", &a);
    let widgets = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Widget"));
    let api = Api::<DynamicObject>::all_with(cluster.client(), &widgets);
    let controller = cluster.controller().owns_with(api, widgets, everything());
    let mut running = start(controller, |_| done());
    assert_eq!(running.names(2).await, ["a", "b"]);
    running.quiet_for(SECOND).await;
    widget("watched", &b);
    assert_eq!(running.run().await.name, "b");
    cluster.delete_of("example.com/v1", "Widget", "listed");
    assert_eq!(running.run().await.name, "a");
    running.quiet_for(SECOND).await;
}

#[tokio::test(start_paused = true)]
async fn a_filter_that_panics_hides_no_change() {
    let cluster = Cluster::new();
    cluster.map("a");
    let controller = cluster.controller().filter_updates(|_, new: &ConfigMap| {
        assert!(new.data.is_none(), "the filter does not expect this");
        false
    });
    let mut running = start(controller, |_| done());
    running.run().await;
    cluster.touch("a");
    assert_eq!(running.run().await.name, "a");
}

/// A controller over a factory's informers.
async fn start_over(
    cluster: &Cluster,
    make: impl FnOnce(&SharedInformerFactory) -> Controller<ConfigMap>,
) -> (SharedInformerFactory, Running<ConfigMap>) {
    let factory = SharedInformerFactory::new(cluster.client());
    let running = start(make(&factory), |_| done());
    factory.start();
    (factory, running)
}

/// Cases 36, 59, 67: a filter of one source leaves the others alone.
#[tokio::test(start_paused = true)]
async fn shared_informers_are_watched_in_any_form() {
    let cluster = Cluster::new();
    let owner = cluster.map("owner");
    cluster.map("named-by-node");
    let (factory, mut running) = start_over(&cluster, |factory| {
        let owned = Source::owned(
            &factory.metadata_informer::<Secret>(),
            OwnerKind::of::<ConfigMap>().controller_only(),
        );
        let nodes = Source::mapped(&factory.informer::<Node>(), |_| {
            [ObjectKey::from("default/named-by-node")]
        });
        Controller::for_informer(&factory.informer::<Packed<ConfigMap>>())
            .source(owned.filter(predicates::labels).filter(predicates::annotations))
            .source(nodes.priority(Priority::HIGH))
    })
    .await;
    assert_eq!(running.names(2).await, ["named-by-node", "owner"]);
    cluster.secret("child", &[&owner]);
    running.quiet_for(SECOND).await;
    let become_controller = |secret: &mut serde_json::Value| {
        secret["metadata"]["ownerReferences"][0]["controller"] = json!(true);
    };
    cluster.change("Secret", "child", become_controller);
    running.quiet_for(SECOND).await;
    cluster.change("Secret", "child", |secret| {
        secret["metadata"]["labels"] = json!({"a": "b"})
    });
    running.quiet_for(SECOND).await;
    cluster.change("Secret", "child", |secret| {
        secret["metadata"]["labels"] = json!({"a": "c"});
        secret["metadata"]["annotations"] = json!({"a": "c"});
    });
    assert_eq!(running.run().await.name, "owner", "both filters let it pass");
    cluster.delete("Secret", "child");
    assert_eq!(running.run().await.name, "owner", "no filter hides a deletion");
    cluster.create(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node"}}));
    let run = running.run().await;
    assert_eq!(
        (run.name.as_str(), run.attempt.priority),
        ("named-by-node", Priority::HIGH)
    );
    cluster.touch("owner");
    assert_eq!(running.run().await.name, "owner");
    factory.shutdown().await.unwrap();
    let error = running.error().await.to_string();
    assert!(error.ends_with("has stopped"), "{error}");
    running.task.await.unwrap();
}

/// Case 32.
#[tokio::test(start_paused = true)]
async fn controllers_share_an_informer() {
    let cluster = Cluster::new();
    cluster.map("a");
    let factory = SharedInformerFactory::new(cluster.client());
    let maps = factory.informer::<ConfigMap>();
    let mut one = start(Controller::for_informer(&maps), |_| done());
    let mut two = start(Controller::for_informer(&maps).named("other"), |_| done());
    factory.start();
    for running in [&mut one, &mut two] {
        assert_eq!(running.run().await.name, "a");
    }
    cluster.touch("a");
    for running in [&mut one, &mut two] {
        assert_eq!(running.run().await.name, "a");
    }
}

/// The rule for all predicates: a deletion that begins passes.
#[tokio::test(start_paused = true)]
async fn no_filter_hides_the_beginning_of_a_deletion() {
    let cluster = Cluster::new();
    cluster.create(json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "default", "finalizers": ["example.com/cleanup"]},
    }));
    let controller = cluster
        .controller()
        .filter(predicates::labels)
        .filter_updates(|_, _| false);
    let mut running = start(controller, |_| done());
    running.run().await;
    cluster.change("ConfigMap", "a", |map| {
        map["metadata"]["labels"] = json!({"a": "b"})
    });
    running.quiet_for(SECOND).await;
    cluster.delete("ConfigMap", "a");
    assert_eq!(running.run().await.name, "a");
    cluster.touch("a");
    running.quiet_for(SECOND).await;
}

/// Case 98: all keys of the old and the new object.
#[tokio::test(start_paused = true)]
async fn mapped_objects_lead_to_keys_before_and_after() {
    let cluster = Cluster::new();
    for name in ["a", "b", "c"] {
        cluster.map(name);
    }
    let secret = |uses: &str| {
        json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "secret", "namespace": "default", "annotations": {"uses": uses}},
        })
    };
    let mapper = |secret: Secret| {
        let uses = secret.metadata.annotations.unwrap_or_default().remove("uses");
        let names: Vec<_> = uses.unwrap_or_default().split(' ').map(str::to_owned).collect();
        names
            .into_iter()
            .map(|name| ObjectRef::new(&name).within("default"))
    };
    let controller = cluster
        .controller()
        .watches(Api::<Secret>::all(cluster.client()), everything(), mapper);
    let mut running = start(controller, |_| done());
    running.names(3).await;
    cluster.create(secret("a b"));
    assert_eq!(running.names(2).await, ["a", "b"]);
    cluster.change("Secret", "secret", |object| {
        object["metadata"]["annotations"]["uses"] = json!("b c");
    });
    assert_eq!(running.names(3).await, ["a", "b", "c"]);
    running.quiet_for(SECOND).await;
}

/// Case 58: an owner whose kind has no namespaces, known at run time only.
#[tokio::test(start_paused = true)]
async fn owners_without_a_namespace_are_found() {
    let cluster = Cluster::new();
    let node = cluster.create(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node"}}));
    let owners = json!([
        {"apiVersion": "v1", "kind": "Node", "name": "node", "uid": node["metadata"]["uid"]},
    ]);
    let nodes = Api::<Node>::all(cluster.client());
    let of_type =
        Controller::new(nodes, everything()).owns(Api::<Secret>::all(cluster.client()), everything());
    let mut of_type = start(of_type, |_| done());
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Node"));
    let nodes = Api::<DynamicObject>::all_with(cluster.client(), &resource);
    let dynamic = Controller::new_with(nodes, everything(), resource)
        .owns(Api::<Secret>::all(cluster.client()), everything());
    let mut dynamic = start(dynamic, |_| done());
    of_type.run().await;
    dynamic.run().await;
    cluster.create(json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "child", "namespace": "default", "ownerReferences": owners},
    }));
    assert_eq!(of_type.run().await.name, "node");
    assert_eq!(dynamic.run().await.name, "node");
    dynamic.quiet_for(SECOND).await;
    assert!(dynamic.errors().is_empty());
}

/// Case 37: metadata only, also of the controller's own kind.
#[tokio::test(start_paused = true)]
async fn metadata_is_enough_for_a_controller() {
    let cluster = Cluster::new();
    cluster.map("a");
    let metadata = Api::<PartialObjectMeta<ConfigMap>>::all(cluster.client());
    let mut running = start(Controller::new(metadata, everything()), |_| done());
    assert_eq!(running.run().await.name, "a");
}

/// Only what is selected, in one namespace.
#[tokio::test(start_paused = true)]
async fn selectors_and_namespaces_narrow_the_watch() {
    let cluster = Cluster::new();
    cluster.map("other");
    let labelled = |namespace: &str| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": namespace, "namespace": namespace, "labels": {"app": "web"}},
        })
    };
    cluster.create(labelled("default"));
    cluster.create(labelled("kube-system"));
    let maps = Api::<ConfigMap>::namespaced(cluster.client(), "kube-system");
    let mut running = start(Controller::new(maps, everything().labels("app=web")), |_| done());
    assert_eq!(running.run().await.name, "kube-system");
    running.quiet_for(SECOND).await;
}

impl<K: kube::Resource> Running<K> {
    async fn run_within(&mut self, time: Duration) {
        tokio::time::timeout(time, self.run())
            .await
            .expect("a run in time");
    }
}
