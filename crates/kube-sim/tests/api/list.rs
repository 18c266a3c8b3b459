//! GET and LIST, as a real kube-apiserver 1.36 answers them.

use std::time::Duration;

use crate::client::{CONFIGMAPS, Client, WIDGETS, configmap, version, widget, with_widgets};
use kube_sim::Sim;
use serde_json::json;
use tokio::time::Instant;

#[tokio::test]
async fn objects_are_read_with_kind_and_lists_without() {
    let client = Client::empty();
    client.configmaps(&["b", "a"]);
    let one = client.get(&format!("{CONFIGMAPS}/a")).await.ok();
    assert_eq!(
        (&one["kind"], &one["apiVersion"]),
        (&json!("ConfigMap"), &json!("v1"))
    );
    assert!(one["metadata"]["uid"].is_string() && one["metadata"]["creationTimestamp"].is_string());

    let answer = client.get(CONFIGMAPS).await;
    assert_eq!(answer.names(), ["a", "b"]);
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    let open = format!(
        r#"{{"kind":"ConfigMapList","apiVersion":"v1","metadata":{{"resourceVersion":"{}"}},"items":[{{"metadata":{{"name":"a","namespace":"default","uid":"#,
        client.store().resource_version()
    );
    assert!(text.starts_with(&open), "{text}");
    assert!(text.ends_with("}]}\n"), "{text}");

    let empty = client.get("/api/v1/namespaces/default/secrets").await;
    assert!(empty.body.ends_with(b",\"items\":[]}\n"), "{:?}", empty.body);
    // A namespace that does not exist is an empty one.
    assert_eq!(
        client.get("/api/v1/namespaces/nowhere/pods").await.names(),
        [""; 0]
    );
}

#[tokio::test]
async fn custom_resources_keep_their_kind_in_any_member_order() {
    let client = with_widgets();
    client.store().create(widget("w", 1)).unwrap();
    let answer = client.get(WIDGETS).await;
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    assert!(text.starts_with(r#"{"apiVersion":"sim.example/v1","items":[{"apiVersion":"sim.example/v1","kind":"Widget","metadata":{"creationTimestamp":"#), "{text}");
    let close = format!(
        r#"],"kind":"WidgetList","metadata":{{"continue":"","resourceVersion":"{}"}}}}"#,
        client.store().resource_version()
    );
    assert!(text.trim_end().ends_with(&close), "{text}");
}

#[tokio::test]
async fn lists_are_in_the_order_of_their_keys() {
    let client = Client::empty();
    for namespace in ["a-b", "a"] {
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        client.store().create(object).unwrap();
    }
    for (namespace, name) in [("a", "z"), ("a", "b"), ("a-b", "c"), ("default", "a")] {
        let mut object = configmap(name, 0);
        object["metadata"]["namespace"] = namespace.into();
        client.store().create(object).unwrap();
    }
    // '-' comes before '/', so a-b comes before a: as in etcd.
    assert_eq!(
        client.get("/api/v1/configmaps").await.names(),
        ["c", "b", "z", "a"]
    );
    assert_eq!(
        client.get("/api/v1/namespaces/a/configmaps").await.names(),
        ["b", "z"]
    );
}

#[tokio::test]
async fn pages_are_of_one_state() {
    let client = Client::empty();
    client.configmaps(&["a", "b", "c", "d", "e"]);
    let first = client.get(&format!("{CONFIGMAPS}?limit=2")).await;
    assert_eq!(first.names(), ["a", "b"]);
    let metadata = first.json()["metadata"].clone();
    assert_eq!(metadata["remainingItemCount"], 3);

    // What happens in between is not seen.
    client
        .store()
        .delete("v1", "ConfigMap", Some("default"), "c")
        .unwrap();
    client.store().create(configmap("bb", 9)).unwrap();
    client.store().update(configmap("d", 9)).unwrap();
    let token = metadata["continue"].as_str().unwrap();
    let second = client
        .get(&format!("{CONFIGMAPS}?limit=2&continue={token}"))
        .await;
    assert_eq!(second.names(), ["c", "d"]);
    assert_eq!(second.json()["items"][1]["metadata"]["labels"]["n"], "3");
    assert_eq!(
        second.json()["metadata"]["resourceVersion"],
        metadata["resourceVersion"]
    );
    assert_eq!(second.json()["metadata"]["remainingItemCount"], 1);

    let token = second.json()["metadata"]["continue"].as_str().unwrap().to_owned();
    let last = client
        .get(&format!("{CONFIGMAPS}?limit=2&continue={token}"))
        .await;
    assert_eq!(last.names(), ["e"]);
    assert_eq!(
        last.json()["metadata"],
        json!({"resourceVersion": metadata["resourceVersion"]})
    );

    let (code, _, message) = client
        .get(&format!("{CONFIGMAPS}?continue={token}&resourceVersion=5"))
        .await
        .refusal();
    assert_eq!(
        (code, message.as_str()),
        (
            400,
            "specifying resource version is not allowed when using continue"
        )
    );
    assert_eq!(client.get(&format!("{CONFIGMAPS}?continue=abc")).await.code, 400);
}

#[tokio::test]
async fn pages_with_a_selector_do_not_count_what_remains() {
    let client = Client::empty();
    client.configmaps(&["a", "b", "c"]);
    let page = client
        .get(&format!("{CONFIGMAPS}?limit=1&labelSelector=n!%3D0"))
        .await;
    assert_eq!(page.names(), ["b"]);
    assert!(page.json()["metadata"]["continue"].is_string());
    assert_eq!(page.json()["metadata"]["remainingItemCount"], json!(null));
}

#[tokio::test]
async fn expired_pages_say_how_to_go_on() {
    let client = Client::empty();
    client.configmaps(&["a", "b", "c"]);
    let first = client.get(&format!("{CONFIGMAPS}?limit=1")).await.ok();
    let token = first["metadata"]["continue"].as_str().unwrap();
    client
        .store()
        .delete("v1", "ConfigMap", Some("default"), "b")
        .unwrap();
    client.store().compact(client.store().resource_version());

    let answer = client
        .get(&format!("{CONFIGMAPS}?limit=1&continue={token}"))
        .await;
    let (code, reason, message) = answer.refusal();
    assert_eq!((code, reason.as_str()), (410, "Expired"));
    assert!(
        message.starts_with("The provided continue parameter is too old"),
        "{message}"
    );
    // The new token goes on at the same key, in the newest state.
    let token = answer.json()["metadata"]["continue"].as_str().unwrap().to_owned();
    let rest = client
        .get(&format!("{CONFIGMAPS}?limit=1&continue={token}"))
        .await;
    assert_eq!(rest.names(), ["c"]);
    assert_eq!(version(&rest.json()), client.store().resource_version());
}

#[tokio::test]
async fn states_of_the_past_can_be_listed_while_they_are_remembered() {
    let client = Client::empty();
    let versions = client.configmaps(&["a", "b"]);
    client.store().update(configmap("a", 7)).unwrap();
    client
        .store()
        .delete("v1", "ConfigMap", Some("default"), "b")
        .unwrap();

    let at = |version: u64, more: &str| format!("{CONFIGMAPS}?resourceVersion={version}{more}");
    let exact = client.get(&at(versions[1], "&resourceVersionMatch=Exact")).await;
    assert_eq!(exact.names(), ["a", "b"]);
    assert_eq!(exact.json()["items"][0]["metadata"]["labels"]["n"], "0");
    assert_eq!(version(&exact.json()), versions[1]);
    // With a limit and no match, as before there were matches.
    assert_eq!(client.get(&at(versions[0], "&limit=5")).await.names(), ["a"]);
    // Not older than: the newest.
    assert_eq!(client.get(&at(versions[0], "")).await.names(), ["a"]);
    assert_eq!(
        version(&client.get(&at(versions[0], "")).await.json()),
        client.store().resource_version()
    );
    // Any state comes whole.
    let any = client.get(&at(0, "&limit=1")).await;
    assert_eq!(any.json()["metadata"]["continue"], json!(null));

    client.store().compact(versions[1]);
    let (code, reason, _) = client
        .get(&at(versions[0], "&resourceVersionMatch=Exact"))
        .await
        .refusal();
    assert_eq!((code, reason.as_str()), (410, "Expired"));
    assert_eq!(
        client
            .get(&at(versions[1], "&resourceVersionMatch=Exact"))
            .await
            .code,
        200
    );
}

#[tokio::test(start_paused = true)]
async fn a_version_that_has_not_come_is_waited_for() {
    let client = Client::empty();
    let started = Instant::now();
    for match_ in ["", "&resourceVersionMatch=Exact"] {
        let answer = client
            .get(&format!("{CONFIGMAPS}?resourceVersion=99999{match_}"))
            .await;
        let (code, reason, message) = answer.refusal();
        assert_eq!((code, reason.as_str()), (504, "Timeout"));
        assert_eq!(
            message,
            format!(
                "Timeout: Too large resource version: 99999, current: {}",
                client.store().resource_version()
            )
        );
        assert_eq!(answer.headers["retry-after"], "1");
        assert_eq!(
            answer.json()["details"]["causes"][0]["reason"],
            "ResourceVersionTooLarge"
        );
    }
    assert_eq!(started.elapsed().as_secs(), 6);

    let next = client.store().resource_version() + 1;
    let store = client.store();
    let creates = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        store.create(configmap("a", 0)).unwrap();
    });
    assert_eq!(
        client
            .get(&format!("{CONFIGMAPS}?resourceVersion={next}"))
            .await
            .names(),
        ["a"]
    );
    creates.await.unwrap();
}

#[tokio::test]
async fn selectors_select() {
    let client = Client::new(Sim::builder().nodes(2).pods(60).build().unwrap());
    let count = async |path: &str| client.get(path).await.names().len();
    let all = count("/api/v1/pods").await;
    assert_eq!(all, 60);
    let on_nodes = [
        count("/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-0").await,
        count("/api/v1/pods?fieldSelector=spec.nodeName%3D%3Dnode-1,status.phase%3DRunning").await,
    ];
    assert_eq!(on_nodes.iter().sum::<usize>(), 60);
    assert_eq!(
        count("/api/v1/pods?fieldSelector=spec.nodeName!%3Dnode-0").await,
        on_nodes[1]
    );
    let backend = count("/api/v1/pods?labelSelector=tier%3Dbackend").await;
    assert_eq!(
        backend + count("/api/v1/pods?labelSelector=tier+notin+(backend)").await,
        60
    );
    assert_eq!(
        count("/api/v1/nodes?fieldSelector=metadata.name%3Dnode-1").await,
        1
    );
    assert_eq!(
        count("/api/v1/nodes?fieldSelector=spec.unschedulable%3Dtrue").await,
        0
    );
    assert_eq!(
        count("/api/v1/pods?fieldSelector=metadata.namespace%3Ddefault").await,
        0
    );

    for (path, message) in [
        (
            "/api/v1/pods?labelSelector=a%3D%3D%3Db",
            "unable to parse requirement: found '=', expected: identifier",
        ),
        (
            "/api/v1/pods?fieldSelector=bad",
            "invalid selector: 'bad'; can't understand 'bad'",
        ),
        (
            "/api/v1/pods?fieldSelector=spec.foo%3Da",
            "field label not supported: spec.foo",
        ),
        (
            "/api/v1/configmaps?fieldSelector=data.x%3D1",
            "\"data.x\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
        ),
    ] {
        assert_eq!(
            client.get(path).await.refusal(),
            (400, "BadRequest".into(), message.into())
        );
    }
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let client = Client::empty();
    let (code, reason, message) = client.get(&format!("{CONFIGMAPS}/nope")).await.refusal();
    assert_eq!(
        (code, reason.as_str(), message.as_str()),
        (404, "NotFound", "configmaps \"nope\" not found")
    );
    let (code, _, message) = client.get("/api/v1/namespaces/default/nosuch").await.refusal();
    assert_eq!(
        (code, message.as_str()),
        (404, "the server could not find the requested resource")
    );
    for path in ["/apis/nosuch/v1/foo", "/nosuch", "/%ff/x"] {
        let answer = client.get(path).await;
        assert_eq!(
            (answer.code, &answer.body[..]),
            (404, &b"404 page not found\n"[..]),
            "{path}"
        );
    }
    let (code, reason, _) = client.get("/apis/apps/v2/deployments").await.refusal();
    assert_eq!((code, reason.as_str()), (404, "NotFound"));
    for path in [
        "/api/v1/nodes/a/b/c",
        "/api/v1/pods/a",
        "/api/v1/namespaces/default/nodes",
        "/api/v1/namespaces/default/configmaps/a/status",
    ] {
        assert_eq!(client.get(path).await.code, 404, "{path}");
    }
}

#[tokio::test]
async fn a_long_list_comes_in_chunks_and_whole() {
    let client = Client::new(Sim::builder().nodes(5).pods(300).build().unwrap());
    let answer = client.get("/api/v1/pods").await;
    assert!(answer.body.len() > 2 * 1024 * 1024);
    let items = answer.json()["items"].as_array().unwrap().clone();
    let stored = client.store().list("v1", "Pod", None).unwrap();
    assert_eq!(items.len(), stored.len());
    for (item, mut stored) in items.into_iter().zip(stored) {
        stored
            .as_object_mut()
            .unwrap()
            .retain(|name, _| name != "apiVersion" && name != "kind");
        assert_eq!(item, stored);
    }
}
