//! The crate's own client, against a cluster: a simulated one, or a real one when `KUBE_INFORMER_SERVER` says so.

use conformance::cluster::Cluster;
use futures::StreamExt as _;
use instances as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::ApiResource;
use kube::{Client, Config};
use kube_informer::form::Packed;
use kube_informer::reflector::{InitialState, ReflectorOptions};
use kube_informer::source::{
    ApiError, ClientSource, ErrorClass, ListRequest, ListVersion, ListerWatcher, Selection,
};
use kube_informer::{SharedInformer, client};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(60);

fn config_map(name: &str, value: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "default", "name": name}, "data": {"value": value},
    })
}

fn config_maps(client: Client) -> ClientSource {
    let selection = Selection {
        namespace: Some("default".into()),
        ..Selection::default()
    };
    ClientSource::new(client, ApiResource::erase::<ConfigMap>(&()), selection)
}

#[tokio::test(flavor = "multi_thread")]
async fn informers_see_what_a_cluster_has_and_what_changes() {
    let cluster = Cluster::start().await;
    // More than a burst.
    let large = "x".repeat(200_000);
    for n in 0..20 {
        cluster.create(config_map(&format!("a{n}"), &large)).await;
    }
    let client = client::try_from(cluster.config()).unwrap();
    let stop = CancellationToken::new();
    let mut informers = Vec::new();
    for initial in [InitialState::List, InitialState::WatchList] {
        let options = ReflectorOptions {
            initial,
            ..ReflectorOptions::default()
        };
        let (informer, runner) = SharedInformer::<Packed<ConfigMap>>::builder(config_maps(client.clone()))
            .reflector_options(options)
            .build();
        tokio::spawn(runner.run(stop.clone()));
        tokio::time::timeout(PATIENCE, informer.synced())
            .await
            .unwrap()
            .unwrap();
        informers.push(informer);
    }
    for n in 0..20 {
        cluster.update(config_map(&format!("a{n}"), &n.to_string())).await;
    }
    let last = cluster.create(config_map("last", "last")).await;
    let version = last["metadata"]["resourceVersion"].as_str().unwrap();
    for informer in informers {
        let store = informer.store();
        let version = version.into();
        let seen = store.wait_until(&version);
        tokio::time::timeout(PATIENCE, seen).await.unwrap().unwrap();
        let snapshot = store.snapshot();
        let held: BTreeMap<String, String> = snapshot
            .iter()
            .map(|map| map.decode().unwrap())
            .filter_map(|map| {
                Some((
                    map.metadata.name.clone()?,
                    map.data.as_ref()?.get("value")?.clone(),
                ))
            })
            .filter(|(name, _)| name != "kube-root-ca.crt")
            .collect();
        let numbers = (0..20).map(|n| (format!("a{n}"), n.to_string()));
        let expected = numbers.chain([("last".to_owned(), "last".to_owned())]).collect();
        assert_eq!(held, expected);
    }
    stop.cancel();
}

/// A connection that a server has accepted.
struct Accepted(TcpStream);

impl Accepted {
    /// The path of the next request; `None`: the client has closed the connection.
    async fn request(&mut self) -> Option<String> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.0.read_u8().await.ok()?);
        }
        let head = String::from_utf8(head).unwrap();
        head.split(' ').nth(1).map(ToOwned::to_owned)
    }

    async fn answer(&mut self, body: &Value) {
        let body = body.to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        self.0.write_all((head + &body).as_bytes()).await.unwrap();
    }
}

/// A server, and a source of what it has.
async fn server() -> (TcpListener, ClientSource) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let client = client::try_from(Config::new(url.parse().unwrap())).unwrap();
    (listener, config_maps(client))
}

/// How many objects a list has.
async fn list(source: &ClientSource, version: ListVersion) -> Result<usize, ApiError> {
    let request = ListRequest {
        limit: Some(500),
        ..ListRequest::new(version)
    };
    let source: &dyn ListerWatcher<Packed<ConfigMap>> = source;
    let mut parts = source.list(request).await?;
    let mut objects = 0;
    while let Some(part) = parts.next().await {
        objects += usize::from(matches!(part?, kube_informer::source::ListPart::Item(_)));
    }
    Ok(objects)
}

fn config_map_list(names: &[&str]) -> Value {
    let items: Vec<_> = names.iter().map(|name| config_map(name, "")).collect();
    json!({"apiVersion": "v1", "kind": "ConfigMapList", "metadata": {"resourceVersion": "7"}, "items": items})
}

#[tokio::test]
async fn a_whole_list_has_a_connection_of_its_own_and_pages_share_one() {
    let (listener, source) = server().await;
    let serve = async {
        // Each list: a connection, which is closed.
        for names in [&["a", "b"][..], &["a"]] {
            let mut accepted = Accepted(listener.accept().await.unwrap().0);
            assert!(
                accepted
                    .request()
                    .await
                    .unwrap()
                    .ends_with("limit=500&resourceVersion=0")
            );
            accepted.answer(&config_map_list(names)).await;
            assert_eq!(accepted.request().await, None);
        }
        let mut accepted = Accepted(listener.accept().await.unwrap().0);
        for _ in 0..2 {
            assert!(accepted.request().await.unwrap().ends_with("limit=500"));
            accepted.answer(&config_map_list(&["a"])).await;
        }
    };
    let ask = async {
        assert_eq!(list(&source, ListVersion::Any).await.unwrap(), 2);
        assert_eq!(list(&source, ListVersion::Any).await.unwrap(), 1);
        assert_eq!(list(&source, ListVersion::MostRecent).await.unwrap(), 1);
        // The connection is back with the pool when its task, on this thread, has run.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(list(&source, ListVersion::MostRecent).await.unwrap(), 1);
    };
    tokio::time::timeout(PATIENCE, async { tokio::join!(serve, ask) })
        .await
        .unwrap();
}

#[tokio::test]
async fn failures_are_those_of_other_clients() {
    let (listener, source) = server().await;
    let cut = async {
        let mut accepted = Accepted(listener.accept().await.unwrap().0);
        accepted.request().await.unwrap();
    };
    let (error, ()) = tokio::join!(list(&source, ListVersion::Any), cut);
    assert_eq!(error.unwrap_err().class(), ErrorClass::Unreachable);
    drop(listener);
    let error = list(&source, ListVersion::Any).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Unreachable);
    let chain = error.chain();
    assert!(
        chain.starts_with("cannot reach the server: cannot connect: tcp connect error"),
        "{chain}"
    );
}

/// Linux tells which timer of a connection runs, and when it is due.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_silent_server_is_asked_whether_it_is_there() {
    for version in [ListVersion::Any, ListVersion::MostRecent] {
        let (listener, source) = server().await;
        let look = async {
            let (stream, client) = listener.accept().await.unwrap();
            let mut accepted = Accepted(stream);
            accepted.request().await.unwrap();
            // Other connections of this machine may have the same port at one end, but not at both.
            let ports =
                [client, listener.local_addr().unwrap()].map(|address| format!(":{:04X}", address.port()));
            // Until the request is acknowledged, it is that which has a timer.
            loop {
                let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
                let row = table.lines().find_map(|row| {
                    let columns: Vec<_> = row.split_whitespace().collect();
                    (columns[1].ends_with(&ports[0]) && columns[2].ends_with(&ports[1]))
                        .then(|| columns[5].to_owned())
                });
                let (timer, due) = row.as_deref().and_then(|row| row.split_once(':')).unwrap();
                if timer == "02" {
                    // In hundredths of a second, from the connection on: on a busy machine some of them are over.
                    let due = u64::from_str_radix(due, 16).unwrap();
                    assert!((1..=3_000).contains(&due), "{due}");
                    break;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            accepted.answer(&config_map_list(&["a"])).await;
        };
        let both = async { tokio::join!(list(&source, version), look) };
        let (listed, ()) = tokio::time::timeout(PATIENCE, both).await.unwrap();
        assert_eq!(listed.unwrap(), 1);
    }
}
