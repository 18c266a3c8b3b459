//! Creations.

use super::*;

#[tokio::test]
async fn creation_fills_in_what_the_server_knows() {
    let client = Client::empty();
    let answer = client
        .post(
            CONFIGMAPS,
            json!({"kind": "ConfigMap", "metadata": {"name": "a", "uid": "mine"}}),
        )
        .await;
    assert_eq!(answer.code, 201);
    let made = answer.json();
    let metadata = &made["metadata"];
    assert_eq!(
        (&made["apiVersion"], &metadata["namespace"]),
        (&json!("v1"), &json!("default"))
    );
    assert_eq!(metadata["uid"].as_str().unwrap().len(), 36);
    assert_eq!(
        metadata["creationTimestamp"].as_str().unwrap().len(),
        "2026-11-21T13:53:22Z".len()
    );
    assert_eq!(version(&made), client.store().resource_version());
    assert_eq!(metadata["generation"], json!(null));

    let named = client
        .post(CONFIGMAPS, json!({"metadata": {"generateName": "gen-"}}))
        .await
        .ok();
    let name = named["metadata"]["name"].as_str().unwrap();
    assert!(name.starts_with("gen-") && name.len() == 9, "{name}");

    // A pod has a generation, and its status is not the client's.
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}, "status": {"phase": "Running"}});
    let pod = client.post("/api/v1/namespaces/default/pods", pod).await.ok();
    assert_eq!(
        (&pod["metadata"]["generation"], &pod["status"]["phase"]),
        (&json!(1), &json!("Pending"))
    );
}

#[tokio::test]
async fn a_name_that_is_taken_may_be_on_its_way_out() {
    let client = Client::empty();
    let mut map = json!({"metadata": {"name": "a", "generateName": "a-", "finalizers": ["x.io/y"]}});
    client.post(CONFIGMAPS, map.clone()).await.ok();
    let text = "configmaps \"a\" already exists";
    let drawn = ", the server was not able to generate a unique name for the object";
    let (_, _, message) = client.post(CONFIGMAPS, map.clone()).await.refusal();
    assert_eq!(message, format!("{text}{drawn}"));
    client.delete(&format!("{CONFIGMAPS}/a"), json!({})).await.ok();
    let (code, _, message) = client.post(CONFIGMAPS, map.clone()).await.refusal();
    assert_eq!(
        (code, message),
        (409, format!("object is being deleted: {text}{drawn}"))
    );
    map["metadata"]["generateName"] = json!("");
    let (_, _, message) = client.post(CONFIGMAPS, map).await.refusal();
    assert_eq!(message, format!("object is being deleted: {text}"));
}

/// Two bytes of what ends with a dash are not looked at, as in a real server.
#[tokio::test]
async fn what_a_name_begins_with_is_told_of_itself() {
    let client = Client::empty();
    for (prefix, is_told_of) in [
        ("é-", true),
        ("aé-", true),
        ("A-", false),
        ("--", false),
        ("-", true),
    ] {
        let map = json!({"metadata": {"generateName": prefix}});
        let (code, _, message) = client.post(CONFIGMAPS, map).await.refusal();
        let found = message.contains("metadata.generateName: Invalid value");
        assert_eq!((code, found), (422, is_told_of), "{prefix}: {message}");
    }
}

/// Where the server counts generations the client's is not kept; elsewhere it is, as by a real server.
#[tokio::test]
async fn a_generation_is_the_servers_and_never_wraps() {
    let client = with_widgets();
    let pods = "/api/v1/namespaces/default/pods";
    for given in [json!(7), json!(i64::MAX), json!(-1), json!(null)] {
        let mut thing = widget("w", 1);
        thing["metadata"]["generation"] = given.clone();
        let made = client.post(WIDGETS, thing).await.ok();
        assert_eq!(made["metadata"]["generation"], 1, "{given}");
        let path = format!("{WIDGETS}/w");
        let patch = json!({"metadata": {"generation": given}, "spec": {"size": 2}});
        let patched = client.merge(&path, patch).await.ok();
        assert_eq!(patched["metadata"]["generation"], 2, "{given}");
        client.delete(&path, json!(null)).await.ok();

        let pod = json!({"metadata": {"name": "p", "generation": given}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
        let made = client.post(pods, pod).await.ok();
        assert_eq!(made["metadata"]["generation"], 1, "{given}");
        client.delete(&format!("{pods}/p"), json!(null)).await.ok();
    }
    let mut largest = configmap("a", 0);
    largest["metadata"]["generation"] = json!(i64::MAX);
    let made = client.post(CONFIGMAPS, largest).await.ok();
    assert_eq!(made["metadata"]["generation"], i64::MAX);
    let patch = json!({"metadata": {"generation": 3}, "data": {"k": "2"}});
    let patched = client.merge(A, patch).await.ok();
    assert_eq!(patched["metadata"]["generation"], i64::MAX);
    client
        .delete(A, json!({"gracePeriodSeconds": i64::MAX}))
        .await
        .ok();
    let post = async |generation: Value| {
        let mut configmap = configmap("a", 0);
        configmap["metadata"]["generation"] = generation;
        client.post(CONFIGMAPS, configmap).await.refusal()
    };
    let why = "ConfigMap \"a\" is invalid: metadata.generation: Invalid value: -1: must be greater than or equal to 0";
    assert_eq!(post(json!(-1)).await, refused(422, "Invalid", why));
    let why = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal string into Go struct \
               field ObjectMeta.metadata.generation of type int64";
    assert_eq!(post(json!("x")).await, refused(400, "BadRequest", why));
}

#[tokio::test]
async fn creations_that_are_wrong_are_refused() {
    let client = Client::empty();
    client.configmaps(&["a"]);
    let post = async |path: &str, object: Value| client.post(path, object).await.refusal();
    assert_eq!(
        post(CONFIGMAPS, configmap("a", 0)).await,
        refused(409, "AlreadyExists", "configmaps \"a\" already exists")
    );
    assert_eq!(
        post(
            CONFIGMAPS,
            json!({"metadata": {"name": "z", "namespace": "other"}})
        )
        .await,
        refused(
            400,
            "BadRequest",
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    );
    assert_eq!(
        post(CONFIGMAPS, json!({"metadata": {}})).await,
        refused(
            422,
            "Invalid",
            "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required"
        )
    );
    assert_eq!(
        post(
            "/api/v1/namespaces/nowhere/configmaps",
            json!({"metadata": {"name": "a"}})
        )
        .await,
        refused(404, "NotFound", "namespaces \"nowhere\" not found")
    );
    assert_eq!(
        post(
            CONFIGMAPS,
            json!({"metadata": {"name": "z", "resourceVersion": "5"}})
        )
        .await,
        refused(
            500,
            "",
            "resourceVersion should not be set on objects to be created"
        )
    );
    let (code, _, message) = post(CONFIGMAPS, json!({"metadata": {"name": "Bad_Name"}})).await;
    assert!(
        code == 422 && message.contains("metadata.name: Invalid value: \"Bad_Name\": a lowercase RFC 1123"),
        "{message}"
    );
    for wrong in [
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "z"}}),
        json!({"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "z"}}),
        json!({"metadata": {"name": "z", "labels": {"q": 5}}}),
        json!({"metadata": "text"}),
        json!([]),
    ] {
        assert_eq!(client.post(CONFIGMAPS, wrong.clone()).await.code, 400, "{wrong}");
    }
    assert_eq!(
        client
            .post(
                CONFIGMAPS,
                json!({"metadata": {"name": "z", "labels": {"x y": "a"}}})
            )
            .await
            .code,
        422
    );

    let (code, reason, message) = client
        .send(Method::POST, CONFIGMAPS, &[], "{\"password\": bad")
        .await
        .refusal();
    assert_eq!((code, reason.as_str()), (400, "BadRequest"));
    assert!(
        message.ends_with("({\"password\": bad)"),
        "how the body begins: {message}"
    );
    let text = client
        .send(
            Method::POST,
            CONFIGMAPS,
            &[("content-type", "text/plain")],
            "a: b",
        )
        .await;
    assert_eq!(text.code, 415);
    let large = client
        .send(Method::POST, CONFIGMAPS, &[], vec![b' '; 4 << 20])
        .await;
    assert_eq!(large.code, 413);
    assert_eq!(client.store().list("v1", "ConfigMap", None).unwrap().len(), 1);
}

const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";

/// A job with a selector and labels of its template.
fn job(selector: &Value, labels: &Value) -> Value {
    let pod = json!({"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]});
    let template = json!({"metadata": {"labels": labels}, "spec": pod});
    json!({"metadata": {"name": "j"}, "spec": {"selector": selector, "template": template}})
}

#[tokio::test]
async fn a_job_gets_what_its_selector_and_labels_lack() {
    let name = "batch.kubernetes.io/job-name";
    let uid_label = "batch.kubernetes.io/controller-uid";
    for selector in [
        json!(null),
        json!({}),
        json!({"matchLabels": {}}),
        json!({"matchLabels": {"job-name": "j"}}),
        json!({"matchExpressions": [{"key": "job-name", "operator": "Exists"}]}),
    ] {
        let client = Client::empty();
        let made = client
            .post(JOBS, job(&selector, &json!({"a": "b", "job-name": "j"})))
            .await
            .ok();
        let uid = &made["metadata"]["uid"];
        let labels = json!({"a": "b", "controller-uid": uid, "job-name": "j", uid_label: uid, name: "j"});
        assert_eq!(made["spec"]["template"]["metadata"]["labels"], labels);
        assert_eq!(made["metadata"]["labels"], labels);
        let mut selected = selector.clone();
        selected["matchLabels"][uid_label] = uid.clone();
        assert_eq!(made["spec"]["selector"], selected);
    }
    let client = Client::empty();
    let mut drawn = job(&json!(null), &json!({"a": "b"}));
    drawn["metadata"] = json!({"generateName": "j-"});
    let made = client.post(JOBS, drawn).await.ok();
    assert_eq!(made["metadata"]["labels"], json!({"a": "b"}));
    let mut own = job(&json!(null), &json!({"a": "b"}));
    own["metadata"]["labels"] = json!({"a": "b"});
    let made = client.post(JOBS, own).await.ok();
    assert_eq!(made["metadata"]["labels"], json!({"a": "b"}));
}

#[tokio::test]
async fn a_job_with_the_labels_of_another_is_refused() {
    let client = Client::empty();
    let selecting = |labels: Value| json!({"matchLabels": labels});
    for (selector, labels, faults) in [
        (
            selecting(json!({"controller-uid": "x"})),
            json!({"controller-uid": "x"}),
            vec![
                "spec.template.metadata.labels[controller-uid]: Invalid value: {\"batch.kubernetes.io/controller-uid\":\"UID\",\
                 \"batch.kubernetes.io/job-name\":\"j\",\"controller-uid\":\"x\",\"job-name\":\"j\"}: must be 'UID'",
                "spec.selector: Invalid value: {\"matchLabels\":{\"batch.kubernetes.io/controller-uid\":\"UID\",\
                 \"controller-uid\":\"x\"}}: `selector` not auto-generated",
            ],
        ),
        (
            json!(null),
            json!({"job-name": "x"}),
            vec![
                "spec.template.metadata.labels[job-name]: Invalid value: {\"batch.kubernetes.io/controller-uid\":\"UID\",\
                 \"batch.kubernetes.io/job-name\":\"j\",\"controller-uid\":\"UID\",\"job-name\":\"x\"}: must be 'j'",
            ],
        ),
        (
            json!(null),
            json!({"batch.kubernetes.io/controller-uid": "x"}),
            vec![
                "spec.template.metadata.labels[batch.kubernetes.io/controller-uid]: Invalid value: \
                 {\"batch.kubernetes.io/controller-uid\":\"x\",\"batch.kubernetes.io/job-name\":\"j\",\
                 \"controller-uid\":\"UID\",\"job-name\":\"j\"}: must be 'UID'",
                "spec.template.metadata.labels: Invalid value: {\"batch.kubernetes.io/controller-uid\":\"x\",\
                 \"batch.kubernetes.io/job-name\":\"j\",\"controller-uid\":\"UID\",\"job-name\":\"j\"}: \
                 `selector` does not match template `labels`",
            ],
        ),
        (
            selecting(json!({"a": "b"})),
            json!({"a": "b"}),
            vec![
                "spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"b\",\
                 \"batch.kubernetes.io/controller-uid\":\"UID\"}}: `selector` not auto-generated",
            ],
        ),
        (
            json!({"matchExpressions": [{"key": "a", "operator": "Foo"}]}),
            json!({"a": "b", "job-name": "j"}),
            vec![
                "spec.selector.matchExpressions[0].operator: Invalid value: \"Foo\": not a valid selector operator",
            ],
        ),
    ] {
        let answer = client.post(JOBS, job(&selector, &labels)).await;
        assert_eq!(answer.code, 422);
        let causes = answer.json()["details"]["causes"].as_array().unwrap().clone();
        let text = |cause: &Value, part: &str| cause[part].as_str().unwrap().to_owned();
        let said = causes
            .iter()
            .map(|cause| format!("{}: {}", text(cause, "field"), text(cause, "message")));
        let said: Vec<_> = said.map(|fault| without_uid(&fault)).collect();
        assert_eq!(said, faults);
    }
}

/// What is said, without the uid that was drawn for the object.
fn without_uid(text: &str) -> String {
    let is_uid = |word: &&str| word.len() == 36 && word.matches('-').count() == 4;
    let mut words = text.split(['"', '\'']);
    match words.find(is_uid) {
        Some(uid) => text.replace(uid, "UID"),
        None => text.to_owned(),
    }
}

#[tokio::test]
async fn the_labels_of_a_job_stay_what_they_are() {
    let client = Client::empty();
    let suspended = |mut job: Value| {
        job["spec"]["suspend"] = json!(true);
        job
    };
    let made = client
        .post(JOBS, suspended(job(&json!({}), &json!({"a": "b"}))))
        .await
        .ok();
    let one = format!("{JOBS}/j");
    for (label, value) in [("job-name", json!("x")), ("controller-uid", json!(null))] {
        let labels = json!({"spec": {"template": {"metadata": {"labels": {label: value}}}}});
        let (code, _, message) = client.merge(&one, labels).await.refusal();
        let field = format!("spec.template.metadata.labels[{label}]");
        assert!(code == 422 && message.contains(&field), "{message}");
    }
    let other = json!({"metadata": {"labels": {"c": "d"}}, "spec": {"suspend": false}});
    let changed = client.merge(&one, other).await.ok();
    assert_eq!(changed["spec"]["selector"], made["spec"]["selector"]);
}
