//! The connections of a client whose executor lends them to those who read from them.

use futures::StreamExt as _;
use http::Uri;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, PostParams};
use kube::client::{ClientBuilder, ConfigExt as _};
use kube::core::ApiResource;
use kube_informer::source::{
    ClientSource, ConnectionExecutor, ListPart, ListRequest, ListVersion, ListerWatcher, Selection,
    WatchEvent, WatchFrom, WatchRequest, WatchStream,
};
use kube_sim::SimServer;
use serde_json::json;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::Id;
use tower::{ServiceBuilder, ServiceExt};

/// The task that read last from any connection.
type Reader = Arc<Mutex<Option<Id>>>;

/// A connection that remembers who reads from it.
struct Recorded {
    io: TokioIo<TcpStream>,
    reader: Reader,
}

impl hyper::rt::Read for Recorded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: hyper::rt::ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        *self.reader.lock().unwrap() = tokio::task::try_id();
        Pin::new(&mut self.io).poll_read(cx, buffer)
    }
}

impl hyper::rt::Write for Recorded {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

impl Connection for Recorded {
    fn connected(&self) -> Connected {
        self.io.connected()
    }
}

/// A client that remembers who reads from its connections.
fn recording(server: &SimServer) -> (kube::Client, Reader) {
    let reader = Reader::default();
    let recorder = reader.clone();
    let connector = ServiceExt::<Uri>::map_response(HttpConnector::new(), move |io| Recorded {
        io,
        reader: recorder.clone(),
    });
    let config = kube::Config::new(server.url().parse().unwrap());
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .service(Client::builder(ConnectionExecutor::default()).build(connector));
    (kube::Client::new(service, "default"), reader)
}

fn source(client: &kube::Client) -> ClientSource {
    let resource = ApiResource::erase::<ConfigMap>(&());
    ClientSource::new(client.clone(), resource, Selection::default())
}

/// The version of a list that was read to its end.
async fn list(source: &ClientSource) -> WatchFrom {
    let request = ListRequest::new(ListVersion::MostRecent);
    let mut parts = ListerWatcher::<ConfigMap>::list(source, request).await.unwrap();
    while let Some(part) = parts.next().await {
        if let ListPart::End(end) = part.unwrap() {
            return WatchFrom::Version(end.resource_version.unwrap());
        }
    }
    panic!("a list without an end");
}

async fn watch(source: &ClientSource, from: WatchFrom) -> WatchStream<ConfigMap> {
    let request = WatchRequest::new(from, Duration::from_secs(300));
    ListerWatcher::<ConfigMap>::watch(source, request).await.unwrap()
}

async fn next_name(events: &mut WatchStream<ConfigMap>) -> String {
    loop {
        let event = tokio::time::timeout(Duration::from_secs(20), events.next()).await;
        if let WatchEvent::Added(item) = event.expect("in time").expect("no end").unwrap() {
            return format!("{item:?}");
        }
    }
}

async fn create(client: &kube::Client, name: &str) {
    let map = json!({"metadata": {"name": name, "namespace": "default"}});
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let map = serde_json::from_value(map).unwrap();
    let parameters = PostParams::default();
    let create = maps.create(&parameters, &map);
    let created = tokio::time::timeout(Duration::from_secs(20), create).await;
    created.expect("nobody keeps others waiting").unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_reads_a_list_or_watch_reads_its_connection() {
    let server = SimServer::builder().start().await.unwrap();
    let (client, reader) = recording(&server);
    let other = kube::Client::try_from(kube::Config::new(server.url().parse().unwrap())).unwrap();
    let reading = tokio::spawn(async move {
        let source = source(&client);
        let own = tokio::task::id();
        for round in 0..3 {
            let from = list(&source).await;
            assert_eq!(*reader.lock().unwrap(), Some(own), "a list");
            let mut events = watch(&source, from).await;
            // Polled once, it has borrowed its connection and waits.
            assert!(futures::poll!(events.next()).is_pending());
            let name = format!("map-{round}");
            create(&other, &name).await;
            assert!(next_name(&mut events).await.contains(&name));
            assert_eq!(*reader.lock().unwrap(), Some(own), "a watch");
        }
    });
    reading.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_who_does_not_read_keeps_nobody_waiting() {
    let server = SimServer::builder().start().await.unwrap();
    let config = kube::Config::new(server.url().parse().unwrap());
    let executor = ConnectionExecutor::default();
    let client = ClientBuilder::try_from((config, executor)).unwrap().build();
    let source = source(&client);
    let from = list(&source).await;
    let mut idle = watch(&source, from.clone()).await;
    let mut events = watch(&source, from.clone()).await;
    for n in 0..20 {
        create(&client, &format!("map-{n}")).await;
        drop(watch(&source, from.clone()).await);
        list(&source).await;
    }
    for n in 0..20 {
        let name = format!("map-{n})");
        assert!(next_name(&mut events).await.contains(&name));
    }
    drop(events);
    create(&client, "last").await;
    assert!(
        next_name(&mut idle).await.contains("map-0)"),
        "nothing is lost meanwhile"
    );
}
