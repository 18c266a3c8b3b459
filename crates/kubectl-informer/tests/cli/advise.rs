//! `advise`.

use crate::process::{Running, run};
use crate::{cluster, pod, scripted, secret};
use conformance::cluster::Cluster;
use kube_sim::SimServer;
use kube_sim::script::{Answer, Kind, event};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

fn kind<'r>(report: &'r Value, resource: &str) -> &'r Value {
    let kinds = report["kinds"].as_array().unwrap();
    let found = kinds.iter().find(|kind| kind["resource"] == resource);
    found.unwrap_or_else(|| panic!("no {resource} in {report}"))
}

fn form(kind: &Value, name: &str) -> u64 {
    let forms = kind["forms"].as_array().unwrap();
    let found = forms.iter().find(|form| form["form"] == name).unwrap();
    found["bytes"].as_u64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn caches_are_estimated_from_a_sample() {
    let cluster = cluster().await;
    for n in 0..300 {
        cluster.create(pod(&format!("pod-{n}"))).await;
    }
    let args = format!("advise --sample 150 --for 0 {}", cluster.arguments());
    let ended = run(&format!("{args} -o json")).await;
    assert_eq!((ended.code, &*ended.err), (Some(0), ""), "{ended:?}");
    let report: Value = serde_json::from_str(&ended.out).unwrap();
    let pods = kind(&report, "pods");
    assert_eq!((&pods["objects"], &pods["sampled"]), (&json!(300), &json!(150)));
    let list = cluster.list("v1", "Pod").await;
    let size: usize = list.iter().map(|pod| pod.to_string().len()).sum();
    let told = pods["bytes"].as_u64().unwrap();
    assert!(
        (size * 8 / 10..size * 12 / 10).contains(&(told as usize)),
        "{told} of {size}"
    );
    assert!(form(pods, "packed") * 5 < form(pods, "client-go"), "{pods}");
    assert!(form(pods, "client-go") < form(pods, "kube-rs"), "{pods}");
    assert!(form(pods, "pruned") < form(pods, "typed"), "{pods}");
    // The annotation of 500 characters; managed fields are about as long.
    let fields = pods["fields"].as_array().unwrap();
    let mut largest = fields.iter().take(2).map(|field| &field["path"]);
    assert!(
        largest.any(|path| path == "metadata.annotations[\"example.com/filling\"]"),
        "{pods}"
    );
    assert_eq!(kind(&report, "widgets.example.com")["objects"], 0);

    let ended = run(&args).await;
    for expected in [
        "1. hold pods as Packed<Pod>: ",
        "RESOURCE",
        "What makes up the bytes:",
        "How the estimates are made",
    ] {
        assert!(ended.out.contains(expected), "no {expected:?} in {}", ended.out);
    }
    // A review has no objects.
    assert!(!ended.out.contains("reviews"), "{}", ended.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_value_of_an_object_is_printed() {
    let cluster = Cluster::start().await;
    cluster.create(secret("default", "login", "web")).await;
    let map = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "default", "name": "m"},
        "data": {"private-key-name": "private-value"},
    });
    cluster.create(map).await;
    for output in ["text", "json", "html"] {
        let ended = run(&format!("advise --for 0 -o {output} {}", cluster.arguments())).await;
        assert_eq!(ended.code, Some(0), "{ended:?}");
        for private in ["aHVudGVyMg", "password", "private-key-name", "private-value"] {
            assert!(!ended.out.contains(private), "{private} in {}", ended.out);
        }
        assert!(ended.out.contains("configmaps"), "{}", ended.out);
    }
    let ended = run(&format!("advise secrets --for 0 -o json {}", cluster.arguments())).await;
    let report: Value = serde_json::from_str(&ended.out).unwrap();
    let secrets = kind(&report, "secrets");
    assert_eq!((&secrets["objects"], &secrets["sampled"]), (&json!(1), &json!(0)));
    assert_eq!(secrets["forms"], json!([]));
}

/// Secrets are asked for as metadata.
#[tokio::test(flavor = "multi_thread")]
async fn values_of_secrets_are_not_requested() {
    let server = SimServer::builder().start().await.unwrap();
    let ended = run(&format!("advise --for 100ms --server {}", server.url())).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let asked = server.requests();
    let secrets: Vec<_> = asked
        .iter()
        .filter(|request| request.path.ends_with("/secrets"))
        .collect();
    assert!(!secrets.is_empty());
    for request in secrets {
        let accept = request.headers["accept"].to_str().unwrap();
        assert!(accept.contains("PartialObjectMetadata"), "{accept}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_most_is_told() {
    let server = SimServer::builder().pods(50).churn(100.0).start().await.unwrap();
    let ended = run(&format!("advise --for 2s -o json --server {}", server.url())).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let report: Value = serde_json::from_str(&ended.out).unwrap();
    let pods = &kind(&report, "pods")["changes"];
    assert!(pods["changes"].as_u64().unwrap() > 0, "{pods}");
    assert!(pods["compared"].as_u64().unwrap() > 0, "{pods}");
    let fields = pods["fields"].as_array().unwrap();
    assert!(
        !fields.is_empty() && !pods["managers"].as_array().unwrap().is_empty(),
        "{pods}"
    );
    let advice = report["advice"].to_string();
    assert!(advice.contains("pods change "), "{advice}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kind_that_is_forbidden_is_named() {
    let (_server, listener) =
        scripted::server(|_| Answer::status(403, "Forbidden", "you may not list configmaps")).await;
    let ended = run(&format!("advise --server {}", listener.url())).await;
    assert_eq!((ended.code, &*ended.out), (Some(1), ""), "{ended:?}");
    assert!(
        ended.err.starts_with("error: cannot list any kind; configmaps: ")
            && ended.err.contains(
                "you may not list configmaps; if you may list them in one namespace, give it with -n"
            ),
        "{ended:?}"
    );

    let server = SimServer::builder().pods(5).start().await.unwrap();
    server
        .faults()
        .refuse(kube_sim::faults::LIST, "nodes", 403)
        .start();
    let ended = run(&format!("advise --for 0 --server {}", server.url())).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let line = ended
        .out
        .lines()
        .find(|line| line.starts_with("nodes: "))
        .unwrap();
    assert!(line.contains("forbidden: "), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_and_resources_select() {
    let server = SimServer::builder().pods(30).start().await.unwrap();
    let pods = server.store().list("v1", "Pod", None).unwrap();
    let namespace = pods[0]["metadata"]["namespace"].as_str().unwrap();
    let there = pods
        .iter()
        .filter(|pod| pod["metadata"]["namespace"] == namespace)
        .count();
    let args = format!(
        "advise pods,nodes -n {namespace} --for 0 -o json --server {}",
        server.url()
    );
    let ended = run(&args).await;
    let report: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(report["kinds"].as_array().unwrap().len(), 1);
    assert_eq!(kind(&report, "pods")["objects"], json!(there));
    assert_eq!(
        report["skipped"],
        json!([{"resource": "nodes", "why": "its objects are in no namespace"}])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_it_gives_no_advice() {
    let server = SimServer::builder().pods(5).start().await.unwrap();
    let advise = Running::start(&format!("advise pods --for 1h --server {}", server.url()));
    let watches = || {
        let asked = server.requests();
        asked
            .iter()
            .any(|request| request.parameter("watch").is_some())
            .then_some(())
    };
    server.eventually(async || watches()).await.unwrap();
    advise.signal(Signal::SIGINT);
    let ended = advise.end().await;
    assert_eq!((ended.code, &*ended.out), (Some(130), ""), "{ended:?}");
    assert!(
        ended.err.contains("interrupted before everything was looked at"),
        "{ended:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_has_the_charts() {
    let server = SimServer::builder().pods(200).churn(50.0).start().await.unwrap();
    let ended = run(&format!("advise --for 1s -o html --server {}", server.url())).await;
    assert_eq!((ended.code, &*ended.err), (Some(0), ""), "{ended:?}");
    assert!(ended.out.starts_with("<!DOCTYPE html>") && ended.out.ends_with("</html>"));
    for chart in ["id=\"forms\"", "id=\"fields\"", "id=\"changes\""] {
        assert!(ended.out.contains(chart), "{chart}");
    }
    assert!(!ended.out.contains("<script"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_listed_in_time_is_kept() {
    let maps = Kind::new("v1", "ConfigMap");
    let (_server, listener) = scripted::server(move |request| match request.parameter("continue") {
        None => Answer::json(maps.page("5", [maps.object("default/a", "5")], "more")),
        Some(_) => Answer::never(),
    })
    .await;
    let args = format!(
        "advise cm --for 0 --time-limit 2s -o json --server {}",
        listener.url()
    );
    let ended = run(&args).await;
    let report: Value = serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    let maps = kind(&report, "configmaps");
    assert_eq!(
        (&maps["objects"], &maps["atLeast"]),
        (&json!(1), &json!(true)),
        "{report}"
    );
    assert_eq!(report["skipped"], json!([]), "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_that_the_server_ends_is_gone_on_with() {
    let maps = Kind::new("v1", "ConfigMap");
    let (sender, asked) = std::sync::mpsc::channel();
    let mut watches = 0;
    let (_server, listener) = scripted::server(move |request| {
        let Some(_) = request.parameter("watch") else {
            return Answer::json(maps.list("5", [maps.object("default/a", "5")]));
        };
        watches += 1;
        sender
            .send(request.parameter("resourceVersion").map(ToOwned::to_owned))
            .unwrap();
        match watches {
            1 => Answer::watch([event("MODIFIED", &maps.object("default/a", "6"))]).close(),
            2 => Answer::watch([event("MODIFIED", &maps.object("default/a", "7"))]).close(),
            _ => Answer::status(503, "ServiceUnavailable", "down"),
        }
    })
    .await;
    let ended = run(&format!(
        "advise cm --for 10s -o json --server {}",
        listener.url()
    ))
    .await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let report: Value = serde_json::from_str(&ended.out).unwrap();
    let changes = &kind(&report, "configmaps")["changes"];
    assert_eq!(changes["changes"], 2, "{report}");
    assert!(changes["failure"].as_str().unwrap().contains("down"), "{report}");
    let asked: Vec<_> = asked.try_iter().flatten().take(3).collect();
    assert_eq!(asked, ["5", "6", "7"]);
}
