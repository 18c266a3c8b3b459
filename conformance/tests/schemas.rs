//! The schemas of built-in kinds that `kube-sim` carries are those that a real API server publishes.
//!
//! With `CONFORMANCE_RECORD=1` the file is written instead of compared: run that after a change of the Kubernetes version.

use conformance::real_server::RealServer;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// A line for each schema, in the order of their names: the name, its kinds, its JSON without descriptions.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a real API server: conformance/run"]
async fn the_simulators_schemas_are_a_real_servers() {
    let server = RealServer::start().await.unwrap();
    let index = server.request("GET", "/openapi/v3", None).await.unwrap();
    let mut schemas = BTreeMap::new();
    for (path, place) in index["paths"].as_object().unwrap() {
        if !is_stable(path) {
            continue;
        }
        let url = place["serverRelativeURL"].as_str().unwrap();
        let mut document = server.request("GET", url, None).await.unwrap();
        let of_document = document["components"]["schemas"].take();
        for (name, schema) in of_document.as_object().unwrap() {
            schemas.entry(name.clone()).or_insert_with(|| schema.clone());
        }
    }
    let table: String = schemas
        .into_iter()
        .map(|(name, schema)| line(&name, schema))
        .collect();

    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/kube-sim/src/schema/builtin.tsv");
    if std::env::var_os("CONFORMANCE_RECORD").is_some() {
        std::fs::write(file, table).unwrap();
    } else {
        let recorded = std::fs::read_to_string(file).unwrap();
        let differs = recorded.lines().zip(table.lines()).find(|(old, new)| old != new);
        assert_eq!(differs, None);
        assert_eq!(recorded.len(), table.len());
    }
}

/// `api/v1`, `apis/autoscaling/v2`: versions that are neither alpha nor beta.
fn is_stable(path: &str) -> bool {
    let version = path.rsplit('/').next().unwrap_or("");
    version
        .strip_prefix('v')
        .is_some_and(|number| number.parse::<u8>().is_ok())
}

fn line(name: &str, mut schema: Value) -> String {
    const KINDS: &str = "x-kubernetes-group-version-kind";
    let text = |kind: &Value, field: &str| kind[field].as_str().unwrap_or("").to_owned();
    let kinds: Vec<_> = schema[KINDS]
        .as_array()
        .into_iter()
        .flatten()
        .map(|kind| {
            format!(
                "{}/{}/{}",
                text(kind, "group"),
                text(kind, "version"),
                text(kind, "kind")
            )
        })
        .collect();
    // Those of all groups, such as DeleteOptions, are not the schema of a resource.
    let kinds = if kinds.len() == 1 {
        kinds.join(" ")
    } else {
        String::new()
    };
    if kinds.is_empty()
        && let Some(schema) = schema.as_object_mut()
    {
        schema.remove(KINDS);
    }
    without_descriptions(&mut schema);
    format!("{name}\t{kinds}\t{schema}\n")
}

/// A property may be called `description`; a description is a string.
fn without_descriptions(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            drop_description(members);
            members.values_mut().for_each(without_descriptions);
        }
        Value::Array(items) => items.iter_mut().for_each(without_descriptions),
        _ => {}
    }
}

fn drop_description(members: &mut Map<String, Value>) {
    if members.get("description").is_some_and(Value::is_string) {
        members.remove("description");
    }
}
