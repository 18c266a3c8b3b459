//! Saved caches of several namespaces.

use std::time::Duration;

use kube_informer::warm_start::WarmStart;
use kube_informer::{NamespaceSet, SharedInformer};
use kube_sim::faults::ANY;
use serde_json::json;
use tempfile::TempDir;

use super::{Maps, Run, cluster, put_in, requests, saved_file, source};

#[tokio::test(start_paused = true)]
async fn each_namespace_goes_on_from_its_own_version() {
    let (sim, directory) = (cluster(2), TempDir::new().unwrap());
    for namespace in ["a", "b", "c"] {
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        sim.store().create(object).unwrap();
        put_in(&sim, namespace, "m", "old");
    }
    let over = |namespaces: &[&str]| {
        let set = NamespaceSet::new(namespaces.iter().copied());
        SharedInformer::<Maps>::over_namespaces(source(&sim), set)
            .warm_start(WarmStart::in_directory(directory.path()))
            .unwrap()
    };
    Run::synced(over(&["a", "b"])).await.stop().await;
    put_in(&sim, "a", "m", "new");
    // One is no longer wanted, one is new.
    let skip = sim.requests().len();
    let mut run = Run::synced(over(&["a", "c"])).await;
    assert_eq!(run.restored(), 1);
    let mut told = run.told().await;
    told.sort();
    assert_eq!(told, ["initial a/m old", "initial c/m old", "update a/m old new"]);
    let identity = requests(&sim, skip).into_iter();
    assert!(
        identity
            .filter(|request| request == "get all kube-system")
            .count()
            <= 2
    );
    run.stop().await;
}

// After a panic nothing is restored, but a namespace that cannot be listed then does not lose what was saved.
#[tokio::test(start_paused = true)]
async fn a_namespace_in_error_keeps_its_state_after_a_panic() {
    namespaces_with_one_in_error(true).await;
}

#[tokio::test(start_paused = true)]
async fn a_namespace_in_error_keeps_its_saved_state() {
    namespaces_with_one_in_error(false).await;
}

async fn namespaces_with_one_in_error(after_panic: bool) {
    let (sim, directory) = (cluster(0), TempDir::new().unwrap());
    for namespace in ["a", "b"] {
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        sim.store().create(object).unwrap();
        put_in(&sim, namespace, "m", "old");
        put_in(&sim, namespace, "gone", "old");
    }
    let over = || {
        let options = WarmStart::in_directory(directory.path()).interval(Duration::from_secs(1));
        SharedInformer::<Maps>::over_namespaces(source(&sim), NamespaceSet::new(["a", "b"]))
            .warm_start(options)
            .unwrap()
    };
    Run::synced(over()).await.stop().await;
    sim.store().delete("v1", "ConfigMap", Some("b"), "gone").unwrap();
    put_in(&sim, "a", "m", "new");
    let mut panicked = saved_file(directory.path()).into_os_string();
    panicked.push(".told");
    if after_panic {
        std::fs::write(&panicked, r#"{"deletions": [], "panicked": true}"#).unwrap();
    }
    let forbidden = sim.faults().refuse(ANY, "configmaps", 403).namespace("b").start();
    let run = Run::start(over());
    if !after_panic {
        assert!(run.maps.restored().await.unwrap());
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(run.maps.status().warm_start.unwrap().saves, 0);
    run.stop().await;
    forbidden.remove();
    let _ = std::fs::remove_file(panicked);
    let mut run = Run::synced(over()).await;
    let told = run.told().await;
    assert!(
        told.iter().any(|told| told.starts_with("delete b/gone old")),
        "{told:?}"
    );
    run.stop().await;
}
