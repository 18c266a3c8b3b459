//! The roles and bindings with which a cluster of `kube-sim` begins are those of a real API server.
//!
//! With `CONFORMANCE_RECORD=1` the file is written instead of compared: run that after a change of the Kubernetes version.

use conformance::real_server::RealServer;
use serde_json::Value;
use std::path::Path;

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

    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/kube-sim/src/access/roles.jsonl");
    if std::env::var_os("CONFORMANCE_RECORD").is_some() {
        std::fs::write(file, table).unwrap();
    } else {
        let recorded = std::fs::read_to_string(file).unwrap();
        let differs = recorded.lines().zip(table.lines()).find(|(old, new)| old != new);
        assert_eq!(differs, None);
        assert_eq!(recorded.len(), table.len());
    }
}
