//! What the control plane does about deletions. The order of events is that of a kube-apiserver 1.36 with its
//! kube-controller-manager.

use http::Method;
use kube_sim::{Controller, Sim};
use serde_json::{Value, json};

use crate::client::{CONFIGMAPS, Client, version};

const NAMESPACES: &str = "/api/v1/namespaces";

fn path(name: &str) -> String {
    format!("{CONFIGMAPS}/{name}")
}

/// Creates a ConfigMap with owners, who block their deletion, and finalizers; returns a reference to it.
async fn create(client: &Client, name: &str, owners: &[&Value], finalizers: &[&str]) -> Value {
    let object = json!({"metadata": {"name": name, "ownerReferences": owners, "finalizers": finalizers}});
    let made = client.post(CONFIGMAPS, object).await.ok();
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": made["metadata"]["uid"],
        "blockOwnerDeletion": true,
    })
}

async fn delete(client: &Client, name: &str, policy: &str) -> Value {
    let options = json!({"propagationPolicy": policy});
    client.delete(&path(name), options).await.ok()
}

/// The events of the ConfigMaps after `version`.
async fn events(client: &Client, version: u64) -> Vec<String> {
    let query = format!("watch=true&timeoutSeconds=1&resourceVersion={version}");
    let mut watch = client.watch(&format!("{CONFIGMAPS}?{query}")).await;
    watch.rest().await
}

fn now(client: &Client) -> u64 {
    client.store().resource_version()
}

#[tokio::test(start_paused = true)]
async fn dependents_follow_their_owner_in_the_background() {
    let client = Client::empty();
    let a = create(&client, "a", &[], &[]).await;
    let b = create(&client, "b", &[&a], &[]).await;
    create(&client, "c", &[&b], &[]).await;
    create(&client, "d", &[&a], &["example.com/f"]).await;
    let before = now(&client);
    assert_eq!(delete(&client, "a", "Background").await["status"], "Success");
    let story = ["DELETED a", "DELETED b", "MODIFIED d", "DELETED c"];
    assert_eq!(events(&client, before).await, story);
    // Finalizers hold a dependent as they hold anything.
    assert_eq!(client.get(CONFIGMAPS).await.names(), ["d"]);
}

#[tokio::test(start_paused = true)]
async fn an_owner_waits_for_its_dependents_in_the_foreground() {
    let client = Client::empty();
    let a = create(&client, "a", &[], &[]).await;
    let b = create(&client, "b", &[&a], &[]).await;
    create(&client, "c", &[&b], &["example.com/f"]).await;
    let before = now(&client);
    let answer = delete(&client, "a", "Foreground").await;
    assert_eq!(answer["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    assert_eq!(answer["metadata"]["deletionGracePeriodSeconds"], 0);
    assert_eq!(
        events(&client, before).await,
        ["MODIFIED a", "MODIFIED b", "MODIFIED c"]
    );
    let before = now(&client);
    client
        .merge(&path("c"), json!({"metadata": {"finalizers": null}}))
        .await
        .ok();
    assert_eq!(
        events(&client, before).await,
        ["DELETED c", "DELETED b", "DELETED a"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_owner_does_not_wait_for_what_does_not_block_it() {
    let client = Client::empty();
    let mut a = create(&client, "a", &[], &[]).await;
    a["blockOwnerDeletion"] = json!(false);
    create(&client, "b", &[&a], &[]).await;
    let before = now(&client);
    delete(&client, "a", "Foreground").await;
    assert_eq!(
        events(&client, before).await,
        ["MODIFIED a", "DELETED a", "DELETED b"]
    );
}

#[tokio::test(start_paused = true)]
async fn owners_that_own_each_other_do_not_wait_for_ever() {
    let client = Client::empty();
    let a = create(&client, "a", &[], &[]).await;
    let b = create(&client, "b", &[&a], &[]).await;
    client
        .merge(&path("a"), json!({"metadata": {"ownerReferences": [b]}}))
        .await
        .ok();
    delete(&client, "a", "Foreground").await;
    assert_eq!(client.get(CONFIGMAPS).await.names(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn orphans_lose_their_owner_and_stay() {
    let client = Client::empty();
    let a = create(&client, "a", &[], &[]).await;
    create(&client, "b", &[&a], &[]).await;
    let before = now(&client);
    let answer = delete(&client, "a", "Orphan").await;
    assert_eq!(answer["metadata"]["finalizers"], json!(["orphan"]));
    assert_eq!(
        events(&client, before).await,
        ["MODIFIED a", "MODIFIED b", "DELETED a"]
    );
    let left = client.get(&path("b")).await.ok();
    assert_eq!(left["metadata"]["ownerReferences"], json!(null));
}

/// The later deletion decides, as long as the owner waits.
#[tokio::test(start_paused = true)]
async fn an_owner_that_waits_can_be_told_to_orphan() {
    let client = Client::empty();
    let a = create(&client, "a", &[], &[]).await;
    create(&client, "b", &[&a], &["example.com/f"]).await;
    create(&client, "c", &[], &[]).await;
    delete(&client, "a", "Foreground").await;
    let reference = json!({"metadata": {"ownerReferences": [a]}});
    delete(&client, "a", "Orphan").await;
    assert_eq!(client.get(&path("a")).await.code, 404);
    let left = client.get(&path("b")).await.ok();
    assert_eq!(left["metadata"]["ownerReferences"], json!(null));
    // What comes to be owned by it later has no owner.
    client.merge(&path("c"), reference).await.ok();
    assert_eq!(client.get(CONFIGMAPS).await.names(), ["b"]);
}

#[tokio::test(start_paused = true)]
async fn one_owner_is_enough_to_stay() {
    let client = Client::empty();
    let (a, b) = (
        create(&client, "a", &[], &[]).await,
        create(&client, "b", &[], &[]).await,
    );
    create(&client, "c", &[&a, &b], &[]).await;
    delete(&client, "a", "Background").await;
    let left = client.get(&path("c")).await.ok();
    assert_eq!(left["metadata"]["ownerReferences"], json!([b]));
    delete(&client, "b", "Background").await;
    assert_eq!(client.get(&path("c")).await.code, 404);
}

/// As when an owner is deleted, or recreated, between the time a controller reads it and creates a child of it.
#[tokio::test(start_paused = true)]
async fn what_is_created_for_an_owner_that_is_gone_goes_too() {
    let client = Client::empty();
    let a = create(&client, "a", &[], &[]).await;
    delete(&client, "a", "Background").await;
    create(&client, "a", &[], &[]).await;
    let before = now(&client);
    create(&client, "b", &[&a], &[]).await;
    assert_eq!(events(&client, before).await, ["ADDED b", "DELETED b"]);
    // Of an unknown kind, nobody can say whether the owner is there.
    let mut unknown = a.clone();
    unknown["kind"] = json!("Gadget");
    create(&client, "c", &[&unknown], &[]).await;
    // The owner of the server sets scenes that need not be consistent.
    let alone = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "d", "namespace": "default", "ownerReferences": [a]},
    });
    client.store().create(alone).unwrap();
    assert_eq!(client.get(CONFIGMAPS).await.names(), ["a", "c", "d"]);
}

#[tokio::test]
async fn jobs_leave_their_pods_unless_asked() {
    let client = Client::empty();
    let jobs = "/apis/batch/v1/namespaces/default/jobs";
    let pod = json!({"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]});
    client
        .post(
            jobs,
            json!({"metadata": {"name": "j"}, "spec": {"template": {"spec": pod}}}),
        )
        .await
        .ok();
    let answer = client.delete(&format!("{jobs}/j"), json!(null)).await.ok();
    assert_eq!(answer["metadata"]["finalizers"], json!(["orphan"]));
    assert_eq!(client.get(&format!("{jobs}/j")).await.code, 404);
}

#[tokio::test]
async fn owners_are_checked() {
    let client = Client::empty();
    let owner =
        |name: &str| json!({"apiVersion": "v1", "kind": "Pod", "name": name, "uid": "1", "controller": true});
    for (owners, message) in [
        (
            json!([owner("a"), owner("b")]),
            "ConfigMap \"x\" is invalid: metadata.ownerReferences: Invalid value: \
             [{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"a\",\"uid\":\"1\",\"controller\":true},\
             {\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"b\",\"uid\":\"1\",\"controller\":true}]: Only one \
             reference can have Controller set to true. Found \"true\" in references for Pod/a and Pod/b",
        ),
        (
            json!([{"apiVersion": "v1", "kind": "Pod", "name": "a"}]),
            "ConfigMap \"x\" is invalid: metadata.ownerReferences.uid: Invalid value: \"\": must not be empty",
        ),
    ] {
        let object = json!({"metadata": {"name": "x", "ownerReferences": owners}});
        let (code, _, refusal) = client.post(CONFIGMAPS, object).await.refusal();
        assert_eq!((code, refusal.as_str()), (422, message));
    }
}

/// A namespace is filled, deleted, and held by a finalizer of what is in it.
#[tokio::test(start_paused = true)]
async fn a_namespace_ends_when_its_content_has() {
    let client = Client::empty();
    client
        .post(NAMESPACES, json!({"metadata": {"name": "team"}}))
        .await
        .ok();
    let maps = format!("{NAMESPACES}/team/configmaps");
    let held = json!({"metadata": {"name": "held", "finalizers": ["example.com/f"]}});
    client.post(&maps, held).await.ok();
    client
        .post(&maps, json!({"metadata": {"name": "free"}}))
        .await
        .ok();
    let before = now(&client);
    let team = format!("{NAMESPACES}/team");
    let answer = client.delete(&team, json!(null)).await.ok();
    assert_eq!(answer["status"], json!({"phase": "Terminating"}));
    assert_eq!(answer["metadata"]["deletionGracePeriodSeconds"], json!(null));

    let waiting = client.get(&team).await.ok();
    let condition = |n: usize| {
        let condition = &waiting["status"]["conditions"][n];
        ["type", "status", "reason", "message"].map(|name| condition[name].as_str().unwrap().to_owned())
    };
    assert_eq!(
        condition(3),
        [
            "NamespaceContentRemaining",
            "True",
            "SomeResourcesRemain",
            "Some resources are remaining: configmaps. has 1 resource instances"
        ]
    );
    assert_eq!(
        condition(4)[3],
        "Some content in the namespace has finalizers remaining: example.com/f in 1 resource instances"
    );
    let (code, reason, message) = client
        .post(&maps, json!({"metadata": {"generateName": "late-"}}))
        .await
        .refusal();
    let terminating = "configmaps \"late-\" is forbidden: unable to create new content in namespace team because it \
                       is being terminated";
    assert_eq!(
        (code, reason.as_str(), message.as_str()),
        (403, "Forbidden", terminating)
    );
    // What is there can be changed, and deleting once more changes nothing.
    client
        .merge(&format!("{maps}/held"), json!({"data": {"k": "w"}}))
        .await
        .ok();
    assert_eq!(client.delete(&team, json!(null)).await.ok(), waiting);

    client
        .merge(&format!("{maps}/held"), json!({"metadata": {"finalizers": null}}))
        .await
        .ok();
    assert_eq!(client.get(&team).await.code, 404);
    let mut watch = client
        .watch(&format!(
            "{NAMESPACES}?watch=true&timeoutSeconds=1&resourceVersion={before}"
        ))
        .await;
    let story = ["MODIFIED team", "MODIFIED team", "MODIFIED team", "DELETED team"];
    assert_eq!(watch.rest().await, story);
}

#[tokio::test]
async fn a_namespace_without_its_controller_waits_for_finalize() {
    let client = Client::new(Sim::builder().controllers([]).build().unwrap());
    let team = format!("{NAMESPACES}/team");
    client
        .post(NAMESPACES, json!({"metadata": {"name": "team"}}))
        .await
        .ok();
    client.delete(&team, json!(null)).await.ok();
    // Only the subresource changes what holds it.
    let spec = json!({"spec": {"finalizers": []}});
    let unchanged = client.merge(&team, spec).await.ok();
    assert_eq!(unchanged["spec"]["finalizers"], json!(["kubernetes"]));
    let finalize = format!("{team}/finalize");
    let with = |finalizers: Value| json!({"metadata": {"name": "team"}, "spec": {"finalizers": finalizers}});
    let (code, _, message) = client.put(&finalize, with(json!(["bogus"]))).await.refusal();
    let refusal = "Namespace \"team\" is invalid: spec.finalizers[0]: Invalid value: \"bogus\": name is neither a \
                   standard finalizer name nor is it fully qualified";
    assert_eq!((code, message.as_str()), (422, refusal));
    let method = client.send(Method::GET, &finalize, &[], "").await.refusal().0;
    assert_eq!(method, 405);
    let more = client
        .put(&finalize, with(json!(["kubernetes", "example.com/x"])))
        .await
        .ok();
    assert_eq!(more["status"]["phase"], "Terminating");
    assert_eq!(client.get(&team).await.code, 200);
    client.put(&finalize, with(json!([]))).await.ok();
    assert_eq!(client.get(&team).await.code, 404);
}

#[tokio::test]
async fn a_namespace_begins_with_what_it_is_asked_to() {
    let client = Client::new(Sim::builder().controllers(Controller::ALL).build().unwrap());
    client
        .post(NAMESPACES, json!({"metadata": {"name": "team"}}))
        .await
        .ok();
    for (namespace, kind, name) in [
        ("team", "configmaps", "kube-root-ca.crt"),
        ("team", "serviceaccounts", "default"),
        ("kube-system", "serviceaccounts", "default"),
        ("default", "services", "kubernetes"),
    ] {
        let path = format!("{NAMESPACES}/{namespace}/{kind}");
        assert_eq!(client.get(&path).await.names(), [name]);
        // They come again.
        let uid = |object: Value| object["metadata"]["uid"].clone();
        let first = uid(client.get(&format!("{path}/{name}")).await.ok());
        client.delete(&format!("{path}/{name}"), json!(null)).await.ok();
        assert_ne!(uid(client.get(&format!("{path}/{name}")).await.ok()), first);
    }
    client
        .delete(&format!("{NAMESPACES}/team"), json!(null))
        .await
        .ok();
    assert_eq!(client.get(&format!("{NAMESPACES}/team")).await.code, 404);
    let services = format!("{NAMESPACES}/kube-system/services");
    assert_eq!(client.get(&services).await.names(), [""; 0], "one is enough");
    // By default there is nothing that nobody created.
    assert_eq!(Client::empty().get(CONFIGMAPS).await.names(), [""; 0]);
}

/// Each deletion of a pod: what the answer says of the grace period, and the events that follow.
#[tokio::test(start_paused = true)]
async fn pods_have_time_to_end_if_they_have_a_node() {
    let pods = "/api/v1/namespaces/default/pods";
    let alone = || Client::new(Sim::builder().controllers([]).build().unwrap());
    let containers = json!([{"name": "c", "image": "i"}]);
    let bound = json!({"nodeName": "n1", "terminationGracePeriodSeconds": 5, "containers": containers});
    for (client, spec, options, period, story) in [
        (
            alone(),
            json!({"containers": containers}),
            json!(null),
            0,
            &["MODIFIED p", "DELETED p"][..],
        ),
        (alone(), bound.clone(), json!(null), 5, &["MODIFIED p"]),
        (
            alone(),
            json!({"nodeName": "n1", "containers": containers}),
            json!(null),
            30,
            &["MODIFIED p"],
        ),
        (
            alone(),
            bound.clone(),
            json!({"gracePeriodSeconds": 7}),
            7,
            &["MODIFIED p"],
        ),
        (
            alone(),
            bound.clone(),
            json!({"gracePeriodSeconds": 0}),
            0,
            &["MODIFIED p", "DELETED p"],
        ),
        // The kubelet of the node ends it.
        (
            Client::empty(),
            bound,
            json!(null),
            5,
            &["MODIFIED p", "MODIFIED p", "DELETED p"],
        ),
    ] {
        let made = client
            .post(pods, json!({"metadata": {"name": "p"}, "spec": spec}))
            .await
            .ok();
        let answer = client.delete(&format!("{pods}/p"), options).await.ok();
        assert_eq!(answer["metadata"]["deletionGracePeriodSeconds"], period);
        assert_eq!(answer["metadata"]["generation"], 2);
        let query = format!("watch=true&timeoutSeconds=1&resourceVersion={}", version(&made));
        let mut watch = client.watch(&format!("{pods}?{query}")).await;
        assert_eq!(watch.rest().await, story);
    }
}

#[tokio::test(start_paused = true)]
async fn a_grace_period_only_becomes_shorter() {
    let client = Client::new(Sim::builder().controllers([]).build().unwrap());
    let pods = "/api/v1/namespaces/default/pods";
    client
        .post(
            pods,
            json!({"metadata": {"name": "p"}, "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "i"}]}}),
        )
        .await
        .ok();
    let mut periods = Vec::new();
    for options in [
        json!(null),
        json!({"gracePeriodSeconds": 60}),
        json!({"gracePeriodSeconds": 3}),
    ] {
        let answer = client.delete(&format!("{pods}/p"), options).await.ok();
        periods.push(answer["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap());
    }
    assert_eq!(periods, [30, 30, 3]);
    client
        .delete(&format!("{pods}/p"), json!({"gracePeriodSeconds": 0}))
        .await
        .ok();
    assert_eq!(client.get(&format!("{pods}/p")).await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn first_objects_of_a_server_are_there_on_request() {
    let paths = [
        "/apis/apiregistration.k8s.io/v1/apiservices/v1.apps",
        "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/probes",
        "/apis/networking.k8s.io/v1/servicecidrs/kubernetes",
        "/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking",
    ];
    let with = Sim::builder()
        .controllers([Controller::BootstrapObjects])
        .build()
        .unwrap();
    let with = Client::new(with);
    let without = Client::empty();
    for path in paths {
        assert_eq!(with.get(path).await.code, 200, "{path}");
        assert_eq!(without.get(path).await.code, 404, "{path}");
    }
    let schema = with.get(paths[1]).await.ok();
    let conditions = &schema["status"]["conditions"];
    assert_eq!(
        conditions[0]["lastTransitionTime"],
        schema["metadata"]["creationTimestamp"]
    );
}

const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const VOLUMES: &str = "/api/v1/persistentvolumes";
const CLASSES: &str = "/apis/storage.k8s.io/v1/volumeattributesclasses";
const PODS: &str = "/api/v1/namespaces/default/pods";

fn claim(name: &str) -> Value {
    let resources = json!({"requests": {"storage": "1Gi"}});
    json!({"metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": resources, "volumeAttributesClassName": "fast"}})
}

/// A pod on a node that uses a claim.
fn user_of(claim: &str) -> Value {
    json!({"metadata": {"name": "user"}, "spec": {
        "nodeName": "n",
        "containers": [{"name": "c", "image": "i"}],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}],
    }})
}

#[tokio::test]
async fn a_claim_stays_as_long_as_a_pod_uses_it() {
    let client = Client::empty();
    for name in ["free", "used"] {
        let made = client.post(CLAIMS, claim(name)).await.ok();
        assert_eq!(
            made["metadata"]["finalizers"],
            json!(["kubernetes.io/pvc-protection"])
        );
    }
    client.post(PODS, user_of("used")).await.ok();
    for name in ["free", "used"] {
        client.delete(&format!("{CLAIMS}/{name}"), json!({})).await.ok();
    }
    assert_eq!(client.get(CLAIMS).await.names(), ["used"]);
    client.delete(&format!("{PODS}/user"), json!({})).await.ok();
    assert!(client.get(CLAIMS).await.names().is_empty());
}

// If each deletion of a pod had all others looked at for each claim, this would take minutes.
#[tokio::test]
async fn pods_without_claims_are_nothing_to_deleted_claims() {
    let client = Client::empty();
    let names: Vec<_> = (0..100).map(|n| format!("c{n}")).collect();
    for name in &names {
        client.post(CLAIMS, claim(name)).await.ok();
    }
    let volume = |name| json!({"name": name, "persistentVolumeClaim": {"claimName": name}});
    let mut user = user_of("c0");
    user["metadata"]["name"] = "z".into();
    user["spec"]["volumes"] = names.iter().map(volume).collect();
    client.post(PODS, user).await.ok();
    for name in &names {
        client.delete(&format!("{CLAIMS}/{name}"), json!({})).await.ok();
    }
    let pods = (0..300).map(|n| format!("p{n}"));
    for name in pods.clone() {
        let spec = json!({"nodeName": "n", "containers": [{"name": "c", "image": "i"}]});
        client
            .post(PODS, json!({"metadata": {"name": name}, "spec": spec}))
            .await
            .ok();
    }
    for name in pods {
        client.delete(&format!("{PODS}/{name}"), json!({})).await.ok();
    }
    assert_eq!(client.get(CLAIMS).await.names().len(), 100);
    client.delete(&format!("{PODS}/z"), json!({})).await.ok();
    assert!(client.get(CLAIMS).await.names().is_empty());
}

#[tokio::test]
async fn a_class_stays_as_long_as_a_claim_has_it() {
    let client = Client::empty();
    let class = json!({"metadata": {"name": "fast"}, "driverName": "a.b", "parameters": {"a": "b"}});
    client.post(CLASSES, class).await.ok();
    client.post(CLAIMS, claim("c")).await.ok();
    client.delete(&format!("{CLASSES}/fast"), json!({})).await.ok();
    assert_eq!(client.get(CLASSES).await.names(), ["fast"]);
    client.delete(&format!("{CLAIMS}/c"), json!({})).await.ok();
    assert!(client.get(CLASSES).await.names().is_empty());
}

#[tokio::test]
async fn a_volume_stays_as_long_as_it_is_bound() {
    let client = Client::empty();
    let volume = json!({"metadata": {"name": "v"}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"},
    }});
    client.post(VOLUMES, volume).await.ok();
    let (path, status) = (format!("{VOLUMES}/v"), format!("{VOLUMES}/v/status"));
    client
        .merge(&status, json!({"status": {"phase": "Bound"}}))
        .await
        .ok();
    client.delete(&path, json!({})).await.ok();
    assert_eq!(client.get(VOLUMES).await.names(), ["v"]);
    client
        .merge(&status, json!({"status": {"phase": "Released"}}))
        .await
        .ok();
    assert!(client.get(VOLUMES).await.names().is_empty());
}

#[tokio::test]
async fn a_claim_stays_where_no_controller_lets_it_go() {
    let sim = Sim::builder()
        .controllers([Controller::GarbageCollector])
        .build()
        .unwrap();
    let client = Client::new(sim);
    client.post(CLAIMS, claim("c")).await.ok();
    client.delete(&format!("{CLAIMS}/c"), json!({})).await.ok();
    assert_eq!(client.get(CLAIMS).await.names(), ["c"]);
}

#[tokio::test]
async fn nodes_are_ready_where_somebody_stands_in_for_them() {
    for (controllers, taints) in [(&Controller::DEFAULT[..], 0), (&[], 1)] {
        let sim = Sim::builder().controllers(controllers.iter().copied());
        let client = Client::new(sim.build().unwrap());
        let node = client.post("/api/v1/nodes", json!({"metadata": {"name": "n"}}));
        let node = node.await.ok();
        let given = node["spec"]["taints"].as_array().map_or(0, Vec::len);
        assert_eq!(given, taints, "{node}");
    }
}
