//! Discovery, tables, metadata only.

use http::Method;
use serde_json::{Value, json};

use crate::client::{CONFIGMAPS, Client, WIDGETS, widget, with_widgets};
use kube_sim::Sim;

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

#[tokio::test]
async fn resources_are_discovered() {
    let client = with_widgets();
    assert_eq!(client.get("/api").await.ok()["versions"], json!(["v1"]));
    let core = client.get("/api/v1").await.ok();
    let find = |name: &str| {
        core["resources"]
            .as_array()
            .unwrap()
            .iter()
            .find(|r| r["name"] == name)
            .unwrap()
            .clone()
    };
    let pods = find("pods");
    assert_eq!(
        (
            &pods["kind"],
            &pods["singularName"],
            &pods["shortNames"],
            &pods["namespaced"]
        ),
        (&json!("Pod"), &json!("pod"), &json!(["po"]), &json!(true))
    );
    assert_eq!(find("pods/status")["verbs"], json!(["get", "patch", "update"]));
    let groups = client.get("/apis").await.ok();
    let widgets = groups["groups"]
        .as_array()
        .unwrap()
        .iter()
        .find(|g| g["name"] == "sim.example")
        .unwrap();
    assert_eq!(widgets["preferredVersion"]["groupVersion"], "sim.example/v1");
    assert_eq!(client.get("/apis/sim.example").await.ok()["kind"], "APIGroup");
    assert_eq!(
        client.get("/apis/sim.example/v1").await.ok()["resources"][0]["shortNames"],
        json!(["wd"])
    );
    assert_eq!(client.get("/apis/apps/v9").await.code, 404);

    let answer = client.get_as("/apis", AGGREGATED).await;
    assert_eq!(
        answer.headers["content-type"],
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    );
    let all = answer.ok();
    assert!(
        all["items"]
            .as_array()
            .unwrap()
            .iter()
            .any(|g| g["metadata"]["name"] == "apps")
    );
    let core = client.get_as("/api", AGGREGATED).await.ok();
    assert_eq!(core["items"][0]["versions"][0]["version"], "v1");
}

#[tokio::test]
async fn what_a_client_has_discovered_is_not_sent_again() {
    let client = with_widgets();
    let ask = async |path: &str, known: &str| {
        let headers = [("accept", AGGREGATED), ("if-none-match", known)];
        client.send(Method::GET, path, &headers, "").await
    };
    for path in ["/api", "/apis"] {
        let first = ask(path, "\"0\"").await;
        assert_eq!(first.code, 200);
        assert_eq!(first.headers["vary"], "Accept");
        assert_eq!(first.headers["cache-control"], "public");
        let tag = first.headers["etag"].to_str().unwrap();
        assert_eq!(tag.len(), 130);
        let again = ask(path, tag).await;
        assert_eq!((again.code, again.body.len()), (304, 0));
        assert_eq!(again.headers["etag"], tag);
    }
    // A clause for what is not aggregated does not count; what cannot be had is refused, whatever the client has.
    let tag = ask("/apis", "").await.headers["etag"].clone();
    let aggregated = AGGREGATED.split(',').next().unwrap();
    let old = aggregated.replace("v2", "v2beta1");
    for (path, accept, code) in [
        ("/apis", format!("application/json,{aggregated}"), 304),
        ("/apis", format!("{old},{aggregated}"), 304),
        ("/apis/", aggregated.to_owned(), 406),
        ("/apis", old, 406),
    ] {
        let headers = [("accept", &*accept), ("if-none-match", tag.to_str().unwrap())];
        let answer = client.send(Method::GET, path, &headers, "").await;
        assert_eq!(answer.code, code, "{path} as {accept}");
    }
    // Another resource, another answer.
    let apis = ask("/apis", "").await.headers["etag"]
        .to_str()
        .unwrap()
        .to_owned();
    let definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.sim.example";
    client.delete(definition, Value::Null).await.ok();
    assert_eq!(ask("/apis", &apis).await.code, 200);
    assert!(
        !client.get("/apis").await.headers.contains_key("etag"),
        "only aggregated answers"
    );
}

#[tokio::test]
async fn the_server_tells_of_itself() {
    let client = Client::empty();
    assert_eq!(client.get("/version").await.ok()["minor"], "36");
    let protobuf = "application/vnd.kubernetes.protobuf";
    assert_eq!(client.get_as("/version", protobuf).await.ok()["major"], "1");
    for path in ["/healthz", "/readyz", "/livez", "/readyz/ping"] {
        assert_eq!(
            (client.get(path).await.code, &client.get(path).await.body[..]),
            (200, &b"ok"[..])
        );
    }
    // What kubectl looks for before it creates something.
    assert_eq!(
        client.get("/openapi/v3").await.ok()["paths"]["apis/apps/v1"]["serverRelativeURL"],
        "/openapi/v3/apis/apps/v1"
    );
    let core = client.get("/openapi/v3/api/v1").await.ok();
    let patch = &core["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]["patch"];
    assert_eq!(
        patch["x-kubernetes-group-version-kind"],
        json!({"group": "", "version": "v1", "kind": "Pod"})
    );
    assert_eq!(client.get("/openapi/v3/apis/none/v1").await.code, 404);
}

#[tokio::test]
async fn openapi_has_every_path_that_is_served() {
    let client = with_widgets();
    for (document, count) in [
        ("apis/apps/v1", 38),
        ("apis/batch/v1", 15),
        ("apis/autoscaling/v2", 8),
        ("api/v1", 113),
    ] {
        let document = client.get(&format!("/openapi/v3/{document}")).await.ok();
        assert_eq!(document["paths"].as_object().unwrap().len(), count);
    }
    let apps = client.get("/openapi/v3/apis/apps/v1").await.ok();
    let scale = &apps["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale"];
    assert_eq!(scale["patch"]["x-kubernetes-group-version-kind"]["kind"], "Scale");
    assert!(apps["components"]["schemas"]["io.k8s.api.autoscaling.v1.Scale"].is_object());
    let watched = &apps["paths"]["/apis/apps/v1/watch/namespaces/{namespace}/deployments/{name}"]["get"];
    assert_eq!(watched["x-kubernetes-action"], "watch");
    let widgets = client.get("/openapi/v3/apis/sim.example/v1").await.ok();
    let deleted = &widgets["paths"]["/apis/sim.example/v1/namespaces/{namespace}/widgets"]["delete"];
    assert_eq!(deleted["x-kubernetes-action"], "deletecollection");
    // Only groups of built-in kinds have a path that lists what is in them.
    assert!(apps["paths"]["/apis/apps/v1/"].is_object());
    assert!(widgets["paths"]["/apis/sim.example/v1/"].is_null());
    let schema_of = |document: &Value, path: &str| {
        let listed = &document["paths"][path]["get"]["responses"]["200"];
        let schema = &listed["content"]["application/json"]["schema"]["$ref"];
        let name = schema.as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        (document["components"]["schemas"][&name].clone(), name)
    };
    let path = "/apis/apps/v1/namespaces/{namespace}/deployments";
    assert_eq!(schema_of(&apps, path).1, "io.k8s.api.apps.v1.DeploymentList");
    let (list, name) = schema_of(&widgets, "/apis/sim.example/v1/namespaces/{namespace}/widgets");
    assert_eq!(name, "example.sim.v1.WidgetList");
    assert_eq!(
        list["properties"]["items"]["items"]["$ref"],
        "#/components/schemas/example.sim.v1.Widget"
    );
    let widget = &widgets["components"]["schemas"]["example.sim.v1.Widget"];
    for schema in [widget, &list] {
        let fields = &schema["x-kubernetes-selectable-fields"];
        assert_eq!(*fields, json!([{"fieldPath": "spec.color"}]));
    }
}

#[tokio::test]
async fn tables_are_what_kubectl_prints() {
    let client = Client::new(Sim::builder().nodes(1).pods(1).build().unwrap());
    let pods = client.get_as("/api/v1/pods", TABLE).await.ok();
    let columns: Vec<_> = pods["columnDefinitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        columns,
        [
            "Name",
            "Ready",
            "Status",
            "Restarts",
            "Age",
            "IP",
            "Node",
            "Nominated Node",
            "Readiness Gates"
        ]
    );
    let row = &pods["rows"][0];
    let stored = &client.store().list("v1", "Pod", None).unwrap()[0];
    assert_eq!(row["cells"][0], stored["metadata"]["name"]);
    assert_eq!(
        (&row["cells"][2], &row["cells"][6]),
        (&json!("Running"), &json!("node-0"))
    );
    assert_eq!(
        (&row["object"]["kind"], &row["object"]["metadata"]),
        (&json!("PartialObjectMetadata"), &stored["metadata"])
    );

    let beta = client
        .get_as(
            "/api/v1/pods",
            "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
        )
        .await
        .ok();
    assert_eq!(beta["apiVersion"], "meta.k8s.io/v1beta1");
    assert_eq!(beta["rows"][0]["object"]["apiVersion"], "meta.k8s.io/v1beta1");
    assert_eq!(beta["rows"][0]["cells"], row["cells"]);

    let path = "/api/v1/nodes/node-0?includeObject=";
    let node = client.get_as(&format!("{path}None"), TABLE).await.ok();
    assert_eq!(
        (&node["rows"][0]["cells"][1], &node["rows"][0]["object"]),
        (&json!("Ready"), &json!(null))
    );
    assert_eq!(
        client.get_as(&format!("{path}Object"), TABLE).await.ok()["rows"][0]["object"]["kind"],
        "Node"
    );
    assert_eq!(client.get_as(&format!("{path}Foo"), TABLE).await.code, 400);

    let client = with_widgets();
    client.store().create(widget("w", 7)).unwrap();
    let table = client.get_as(WIDGETS, TABLE).await.ok();
    assert_eq!(
        (&table["columnDefinitions"][1]["name"], &table["rows"][0]["cells"]),
        (&json!("Size"), &json!(["w", 7]))
    );
}

#[tokio::test]
async fn metadata_comes_alone() {
    let client = Client::empty();
    client.configmaps(&["a", "b"]);
    let list = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";
    let answer = client.get_as(&format!("{CONFIGMAPS}?limit=1"), list).await.ok();
    assert_eq!(
        (&answer["kind"], &answer["metadata"]["remainingItemCount"]),
        (&json!("PartialObjectMetadataList"), &json!(1))
    );
    let whole = client.get(&format!("{CONFIGMAPS}/a")).await.ok();
    let expected = json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": whole["metadata"]});
    assert_eq!(answer["items"], json!([expected]));
    let one = client
        .get_as(
            &format!("{CONFIGMAPS}/a"),
            "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
        )
        .await;
    assert_eq!(one.ok(), expected);
}

#[tokio::test]
async fn forms_are_negotiated() {
    let client = Client::empty();
    for accept in ["*/*", "", "application/json;as=Nope,*/*"] {
        assert_eq!(
            client.get_as(CONFIGMAPS, accept).await.ok()["kind"],
            "ConfigMapList",
            "{accept}"
        );
    }
    for accept in [
        "text/html",
        "application/*",
        "application/json;as=Table;v=v9;g=meta.k8s.io",
        // The metadata of an object is not that of a list, whatever else would do.
        "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json",
    ] {
        assert_eq!(client.get_as(CONFIGMAPS, accept).await.code, 406, "{accept}");
    }
    let answer = client
        .get_as(
            CONFIGMAPS,
            "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
        )
        .await;
    assert_eq!(
        answer.refusal().2,
        "you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)"
    );
}

#[tokio::test]
async fn components_are_reported_to_who_asks() {
    let client = Client::empty();
    let path = "/api/v1/componentstatuses";
    let list = client.get(path).await;
    assert_eq!(list.names(), ["controller-manager", "scheduler", "etcd-0"]);
    assert_eq!(
        list.headers["warning"],
        "299 - \"v1 ComponentStatus is deprecated in v1.19+\""
    );
    let table = client
        .get_as(
            &format!("{path}/etcd-0"),
            "application/json;as=Table;v=v1;g=meta.k8s.io",
        )
        .await
        .json();
    assert_eq!(table["rows"][0]["cells"], json!(["etcd-0", "Healthy", "ok", ""]));
    assert_eq!(client.get(&format!("{path}/x")).await.code, 404);
    let made = json!({"metadata": {"name": "x"}});
    assert_eq!(client.post(path, made).await.code, 405);
    assert_eq!(client.get(&format!("{path}?watch=true")).await.code, 405);
}

#[tokio::test]
async fn openapi_v2_has_all_kinds_in_one_document() {
    let client = crate::client::with_widgets();
    let document = client.get("/openapi/v2").await.json();
    assert_eq!(document["swagger"], "2.0");
    let definitions = document["definitions"].as_object().unwrap();
    let text = document.to_string();
    assert!(!text.contains("#/components/"), "a reference of version 3");
    for part in text.split("#/definitions/").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(definitions.contains_key(name), "{name}");
    }
    let pod = &definitions["io.k8s.api.core.v1.Pod"]["properties"];
    assert_eq!(pod["spec"]["$ref"], "#/definitions/io.k8s.api.core.v1.PodSpec");
    assert_eq!(
        definitions["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]["type"],
        "string"
    );
    let widget = &definitions["example.sim.v1.Widget"];
    assert_eq!(
        widget["x-kubernetes-selectable-fields"][0]["fieldPath"],
        "spec.color"
    );
    let list = &document["paths"]["/apis/sim.example/v1/namespaces/{namespace}/widgets"]["get"];
    let schema = &list["responses"]["200"]["schema"]["$ref"];
    assert_eq!(schema, "#/definitions/example.sim.v1.WidgetList");
    let patch = &document["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]["patch"];
    assert_eq!(patch["x-kubernetes-group-version-kind"]["kind"], "Pod");
    assert_eq!(patch["parameters"][0]["name"], "dryRun");

    let accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    let message = client.get_as("/openapi/v2", accept).await;
    assert_eq!(
        message.headers["content-type"],
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    );
    // The first field is the version: number 1, three bytes.
    assert_eq!(&message.body[..5], b"\x0a\x032.0");
}

// Clients of version 2 would refuse the fields that it does not name.
#[tokio::test]
async fn what_a_definition_leaves_open_is_open_in_version_2() {
    let client = Client::empty();
    let schema = |more: Value| {
        let mut schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"a": {"type": "string"}}},
            "none": {"type": "string", "nullable": true},
            "list": {"type": "array", "items": {"type": "string"}, "default": ["x"]},
        }, "required": ["none", "list"]}}});
        schema
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        schema
    };
    for (kind, more) in [
        ("Open", json!({"x-kubernetes-preserve-unknown-fields": true})),
        ("Closed", json!({})),
    ] {
        let (singular, plural) = (kind.to_lowercase(), format!("{}s", kind.to_lowercase()));
        let definition = json!({
            "metadata": {"name": format!("{plural}.forms.example")},
            "spec": {
                "group": "forms.example", "scope": "Cluster",
                "names": {"kind": kind, "listKind": format!("{kind}List"), "plural": plural, "singular": singular},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema(more)}}],
            },
        });
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        client.post(path, definition).await.ok();
    }
    let document = client.get("/openapi/v2").await.json();
    let of = |kind: &str| document["definitions"][format!("example.forms.v1.{kind}")].clone();
    assert_eq!(
        of("Open"),
        json!({
            "type": "object",
            "x-kubernetes-group-version-kind": [{"group": "forms.example", "version": "v1", "kind": "Open"}],
        })
    );
    assert_eq!(
        of("Closed")["properties"]["spec"],
        json!({"type": "object", "required": ["list"], "properties": {
            "free": {"x-kubernetes-preserve-unknown-fields": true},
            "none": {},
            "list": {"type": "array", "items": {"type": "string"}},
        }})
    );
}
