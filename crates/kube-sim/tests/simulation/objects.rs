//! Objects of the tests, and what programs have in common.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Service, ServicePort, ServiceSpec};
use kube::api::{Api, ListParams, ObjectMeta, PostParams};
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};

pub(crate) fn services(client: &Client) -> Api<Service> {
    Api::default_namespaced(client.clone())
}

pub(crate) fn maps(client: &Client) -> Api<ConfigMap> {
    Api::default_namespaced(client.clone())
}

pub(crate) fn service(name: &str) -> Service {
    let port = ServicePort {
        port: 80,
        ..ServicePort::default()
    };
    Service {
        metadata: named(name),
        spec: Some(ServiceSpec {
            ports: Some(vec![port]),
            ..ServiceSpec::default()
        }),
        ..Service::default()
    }
}

pub(crate) fn map(metadata: ObjectMeta) -> ConfigMap {
    ConfigMap {
        metadata,
        ..ConfigMap::default()
    }
}

pub(crate) fn named(name: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.into()),
        ..ObjectMeta::default()
    }
}

/// A name of the server's choice.
pub(crate) fn generated(prefix: &str) -> ObjectMeta {
    ObjectMeta {
        generate_name: Some(format!("{prefix}-")),
        ..ObjectMeta::default()
    }
}

pub(crate) fn with_data(name: &str, data: Value) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}, "data": data})).expect("a map")
}

/// A value of a map's data.
pub(crate) fn value<'a>(map: &'a ConfigMap, key: &str) -> Option<&'a str> {
    map.data.as_ref()?.get(key).map(String::as_str)
}

/// A read from the cache of a server, as informers read.
pub(crate) fn cached() -> ListParams {
    ListParams::default().match_any()
}

/// That it is there already is what was wanted.
pub(crate) fn unless_exists<T>(created: kube::Result<T>) -> kube::Result<()> {
    match created {
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
        created => created.map(drop),
    }
}

/// That it is gone already is what was wanted.
pub(crate) fn unless_gone<T>(deleted: kube::Result<T>) -> kube::Result<()> {
    match deleted {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        deleted => deleted.map(drop),
    }
}

/// A loop of passes. A pass that fails is tried again with the next one.
pub(crate) async fn every_five_seconds(mut pass: impl AsyncFnMut() -> kube::Result<()>) {
    loop {
        let _ = pass().await;
        tokio::time::sleep(Duration::from_secs(5)).await;
    }
}

/// Waits, as a workload does, until something is so.
pub(crate) async fn until(mut so: impl AsyncFnMut() -> bool) {
    while !so().await {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// The workload of most tests: one service, and some time for its controller.
pub(crate) async fn creates_a_service(client: Client) {
    let created = services(&client)
        .create(&PostParams::default(), &service("web"))
        .await;
    assert_eq!(
        created.expect("the workload's requests succeed").name_any(),
        "web"
    );
    tokio::time::sleep(Duration::from_secs(30)).await;
}
