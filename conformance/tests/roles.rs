//! The roles, bindings and other objects with which a cluster of `kube-sim` begins are those of a real API server.
//!
//! With `CONFORMANCE_RECORD=1` the file is written instead of compared: run that after a change of the Kubernetes version.

use conformance::real_server::RealServer;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// A line for each object, in the order of the kinds and of the keys.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a real API server: conformance/run"]
async fn the_simulators_first_roles_are_a_real_servers() {
    const GROUP: &str = "rbac.authorization.k8s.io/v1";
    let server = RealServer::start().await.unwrap();
    let mut table = String::new();
    for kind in ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"] {
        let path = format!("/apis/{GROUP}/{}s", kind.to_lowercase());
        let mut list = server.request("GET", &path, None).await.unwrap();
        for role in list["items"].as_array_mut().unwrap() {
            if role["metadata"]["labels"]["kubernetes.io/bootstrapping"] != "rbac-defaults" {
                continue;
            }
            role["apiVersion"] = GROUP.into();
            role["kind"] = kind.into();
            let Value::Object(metadata) = &mut role["metadata"] else {
                panic!("an object without metadata")
            };
            metadata
                .retain(|name, _| matches!(name.as_str(), "name" | "namespace" | "labels" | "annotations"));
            table.push_str(&format!("{role}\n"));
        }
    }

    compare("access/roles.jsonl", &table);
}

/// What a server creates when it starts, beside roles; not what depends on its options or on the day.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a real API server: conformance/run"]
async fn the_simulators_first_objects_are_a_real_servers() {
    let server = RealServer::start().await.unwrap();
    let mut table = String::new();
    for (group_version, kind) in [
        ("apiregistration.k8s.io/v1", "APIService"),
        ("flowcontrol.apiserver.k8s.io/v1", "FlowSchema"),
        ("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration"),
    ] {
        let path = format!("/apis/{group_version}/{}s", kind.to_lowercase());
        let mut list = server.request("GET", &path, None).await.unwrap();
        // The server writes each status a little later.
        for _ in 0..200 {
            let items = list["items"].as_array().unwrap();
            let is_done = |item: &Value| item["status"]["conditions"].is_array();
            if kind == "PriorityLevelConfiguration" || items.iter().all(is_done) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
            list = server.request("GET", &path, None).await.unwrap();
        }
        for object in list["items"].as_array_mut().unwrap() {
            object["apiVersion"] = group_version.into();
            object["kind"] = kind.into();
            let Value::Object(metadata) = &mut object["metadata"] else {
                panic!("an object without metadata")
            };
            metadata.retain(|name, _| matches!(name.as_str(), "name" | "labels" | "annotations"));
            let conditions = object["status"]["conditions"].as_array_mut();
            for condition in conditions.into_iter().flatten() {
                condition.as_object_mut().unwrap().remove("lastTransitionTime");
            }
            table.push_str(&format!("{object}\n"));
        }
    }
    compare("control/first.jsonl", &table);
}

/// Compares a file of the simulator with what a real server has, or writes it.
fn compare(file: &str, table: &str) {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/kube-sim/src");
    let file = sources.join(file);
    if std::env::var_os("CONFORMANCE_RECORD").is_some() {
        std::fs::write(file, table).unwrap();
    } else {
        let recorded = std::fs::read_to_string(file).unwrap();
        let differs = recorded.lines().zip(table.lines()).find(|(old, new)| old != new);
        assert_eq!(differs, None);
        assert_eq!(recorded.len(), table.len());
    }
}
