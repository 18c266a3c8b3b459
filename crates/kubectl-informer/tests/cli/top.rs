//! `top`, as a table. The screen is tested where it is drawn.

use crate::process::{Running, run};
use crate::{config_map, secret};
use conformance::cluster::Cluster;
use kube_sim::SimServer;
use kube_sim::faults::{LIST, WATCH};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

fn kind<'t>(table: &'t Value, resource: &str) -> &'t Value {
    let kinds = table["kinds"].as_array().unwrap();
    let found = kinds.iter().find(|kind| kind["resource"] == resource);
    found.unwrap_or_else(|| panic!("no {resource} in {table}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pipe_gets_one_table() {
    let server = SimServer::builder().pods(40).churn(100.0).start().await.unwrap();
    let ended = run(&format!("top --for 1s --server {}", server.url())).await;
    assert_eq!((ended.code, &*ended.err), (Some(0), ""), "{ended:?}");
    let header: Vec<_> = ended.out.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(
        header.join(" "),
        "RESOURCE OBJECTS BYTES CHANGES A SECOND LAG BY LARGEST BUSIEST"
    );
    // What changes most comes first.
    let first = ended.out.lines().nth(1).unwrap();
    assert!(first.starts_with("pods "), "{ended:?}");
    assert!(!ended.out.contains('\u{1b}'));
}

#[tokio::test(flavor = "multi_thread")]
async fn all_namespaces_override_one() {
    let server = SimServer::builder().pods(4).start().await.unwrap();
    let args = format!(
        "top pods -n nowhere -A --for 1s -o json --server {}",
        server.url()
    );
    let ended = run(&args).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let table: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(kind(&table, "pods")["objects"], 4);
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_objects_and_managers_are_counted() {
    let cluster = Cluster::start().await;
    cluster.create(config_map("default", "busy", "a")).await;
    let mut large = config_map("default", "large", "a");
    large["data"]["k"] = "x".repeat(5000).into();
    cluster.create(large).await;
    let top = Running::start(&format!(
        "top configmaps --for 4s -o json {}",
        cluster.arguments()
    ));
    // It has listed them by the time that it counts, and counts no sooner.
    let ended = tokio::join!(top.end(), async {
        for number in 0..2000 {
            cluster
                .update(config_map("default", "busy", &number.to_string()))
                .await;
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            if number > 250 {
                break;
            }
        }
    });
    let ended = ended.0;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let table: Value = serde_json::from_str(&ended.out).unwrap();
    let maps = kind(&table, "configmaps");
    assert!(maps["objects"].as_u64() >= Some(2), "{maps}");
    assert!(
        maps["changes"].as_u64() > Some(0) && maps["perSecond"].as_f64() > Some(0.0),
        "{maps}"
    );
    assert_eq!(maps["largest"][0]["key"], "default/large");
    assert_eq!(maps["busiest"][0]["key"], "default/busy");
    assert!(maps["lagSeconds"].as_u64() <= Some(10), "{maps}");
    assert_eq!(maps["managers"].as_array().unwrap().len(), 1, "{maps}");
}

#[tokio::test(flavor = "multi_thread")]
async fn values_of_secrets_are_not_printed() {
    let cluster = Cluster::start().await;
    cluster.create(secret("default", "login", "web")).await;
    for output in ["table", "json"] {
        let args = format!("top secrets --for 0 -o {output} --once {}", cluster.arguments());
        let ended = run(&args).await;
        assert!(ended.out.contains("default/login"), "{ended:?}");
        assert!(!ended.out.contains("aHVudGVyMg"), "{ended:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_sorted_and_filtered() {
    let server = SimServer::builder().nodes(2).pods(30).start().await.unwrap();
    let args = format!(
        "top --for 0 --sort name --filter s -o json --server {}",
        server.url()
    );
    let ended = run(&args).await;
    let table: Value = serde_json::from_str(&ended.out).unwrap();
    let names: Vec<_> = table["kinds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kind| kind["resource"].as_str().unwrap().to_owned())
        .collect();
    assert!(
        names.contains(&"pods".to_owned()) && names.is_sorted(),
        "{names:?}"
    );
    let args = format!("top --for 0 --filter node -o json --server {}", server.url());
    let table: Value = serde_json::from_str(&run(&args).await.out).unwrap();
    assert_eq!(table["kinds"].as_array().unwrap().len(), 1, "{table}");
    assert_eq!(kind(&table, "nodes")["changes"], 0);
    let ended = run(&format!("top --for 0 --filter xyzzy --server {}", server.url())).await;
    assert!(
        ended
            .err
            .contains("no kind that has objects has \"xyzzy\" in its name"),
        "{ended:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kind_that_is_forbidden_is_told() {
    let server = SimServer::builder().pods(5).start().await.unwrap();
    server.faults().refuse(LIST | WATCH, "nodes", 403).start();
    let args = format!("top nodes,pods --for 0 -o json --server {}", server.url());
    let ended = run(&args).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let table: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(table["skipped"][0]["resource"], "nodes", "{table}");
    assert_eq!(kind(&table, "pods")["objects"], json!(5));
}

/// Many users may see few kinds, and only some kinds are listed at a time, for ten seconds at most: one of the last comes late if
/// those that are refused take their time.
#[tokio::test(flavor = "multi_thread")]
async fn kinds_that_are_forbidden_hold_up_no_others() {
    const REFUSED: &str = "configmaps endpoints events limitranges namespaces nodes persistentvolumeclaims persistentvolumes \
        pods podtemplates replicationcontrollers resourcequotas secrets serviceaccounts services mutatingadmissionpolicies \
        mutatingadmissionpolicybindings mutatingwebhookconfigurations validatingadmissionpolicies \
        validatingadmissionpolicybindings validatingwebhookconfigurations customresourcedefinitions apiservices \
        controllerrevisions daemonsets deployments replicasets statefulsets horizontalpodautoscalers cronjobs jobs \
        certificatesigningrequests leases endpointslices flowschemas prioritylevelconfigurations ingressclasses ingresses \
        ipaddresses networkpolicies servicecidrs runtimeclasses poddisruptionbudgets";
    let server = SimServer::builder().pods(5).start().await.unwrap();
    for resource in REFUSED.split_whitespace() {
        server.faults().refuse(LIST | WATCH, resource, 403).start();
    }
    let args = format!("top --for 0 --time-limit 15s -o json --server {}", server.url());
    let ended = run(&args).await;
    let table: Value = serde_json::from_str(&ended.out).unwrap();
    assert!(kind(&table, "priorityclasses.scheduling.k8s.io")["objects"].as_u64() > Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_it_prints_no_table() {
    let server = SimServer::builder().pods(5).start().await.unwrap();
    let top = Running::start(&format!("top pods --for 1h --server {}", server.url()));
    let watched = || {
        let asked = server.requests();
        asked
            .iter()
            .any(|request| request.parameter("watch").is_some())
            .then_some(())
    };
    server.eventually(async || watched()).await.unwrap();
    top.signal(Signal::SIGTERM);
    let ended = top.end().await;
    assert_eq!((ended.code, &*ended.out), (Some(143), ""), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_nothing_is_a_failure() {
    let server = SimServer::builder().pods(5).start().await.unwrap();
    server.faults().refuse(LIST | WATCH, "nodes", 403).start();
    let ended = run(&format!("top nodes --once --for 0 --server {}", server.url())).await;
    assert_eq!((ended.code, &*ended.out), (Some(1), ""), "{ended:?}");
    assert!(ended.err.contains("cannot list any kind; nodes: "), "{ended:?}");
}
