//! The server behind a socket, and the binary.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use http::{Request, Response};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube_sim::{Sim, SimServer, StartError};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{self, client::IntoClientRequest};

async fn get(server: &SimServer, path: &str) -> Response<Incoming> {
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    let request = Request::get(path)
        .header("host", "localhost")
        .body(Empty::<Bytes>::new())
        .unwrap();
    sender.send_request(request).await.unwrap()
}

async fn json_of(response: Response<Incoming>) -> Value {
    serde_json::from_slice(&response.into_body().collect().await.unwrap().to_bytes()).unwrap()
}

#[tokio::test]
async fn lists_and_watches_go_over_sockets() {
    let server = SimServer::builder()
        .nodes(3)
        .pods(500)
        .churn(50.0)
        .start()
        .await
        .unwrap();
    assert!(server.url().starts_with("http://127.0.0.1:"));
    let list = json_of(get(&server, "/api/v1/pods").await).await;
    assert!(list["items"].as_array().unwrap().len() > 450);

    let response = get(&server, "/api/v1/pods?watch=1&resourceVersion=1").await;
    assert_eq!(response.headers()["transfer-encoding"], "chunked");
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while bytes.iter().filter(|b| **b == b'\n').count() < 520 {
        bytes.extend_from_slice(
            &body
                .frame()
                .await
                .expect("the watch goes on")
                .unwrap()
                .into_data()
                .unwrap(),
        );
    }
    server.shutdown().await;
}

#[tokio::test]
async fn http2_needs_no_upgrade() {
    let server = SimServer::builder().pods(20).start().await.unwrap();
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
    tokio::spawn(connection);
    for _ in 0..3 {
        let request = Request::get(format!("{}/api/v1/pods", server.url()))
            .body(Empty::<Bytes>::new())
            .unwrap();
        let list = json_of(sender.send_request(request).await.unwrap()).await;
        assert_eq!(list["items"].as_array().unwrap().len(), 20);
    }
    // What is asked for by HEAD has no body, also if it is refused.
    for path in ["/api/v1/pods", "/api/v1/nodes/none/proxy", "/version", "/none"] {
        let request = Request::head(format!("{}{path}", server.url()));
        let request = request.body(Empty::<Bytes>::new()).unwrap();
        let answer = sender.send_request(request).await.unwrap();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        assert!(body.is_empty(), "{path}");
    }
    server.shutdown().await;
}

/// Also with watches open, with connections that are idle and with clients that do not read.
#[tokio::test]
async fn shutdown_ends_everything() {
    let server = SimServer::builder()
        .nodes(3)
        .pods(1000)
        .churn(100.0)
        .start()
        .await
        .unwrap();
    let address = server.address();
    let mut watch = get(&server, "/api/v1/namespaces/default/configmaps?watch=1")
        .await
        .into_body();
    let _idle = TcpStream::connect(address).await.unwrap();
    let _stalled = get(&server, "/api/v1/pods").await;
    let started = Instant::now();
    server.shutdown().await;
    assert!(
        started.elapsed() < Duration::from_secs(3),
        "{:?}",
        started.elapsed()
    );
    // A clean end, not a cut.
    assert!(watch.frame().await.is_none());
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_port_that_is_taken_is_an_error() {
    let server = SimServer::builder().start().await.unwrap();
    let error = SimServer::builder()
        .port(server.address().port())
        .start()
        .await
        .unwrap_err();
    assert!(
        matches!(error, StartError::Listen { address, .. } if address == server.address()),
        "{error}"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_kubeconfig_leads_to_the_server() {
    let server = SimServer::builder().start().await.unwrap();
    let config: Value = serde_json::from_str(&server.kubeconfig()).unwrap();
    assert_eq!(config["clusters"][0]["cluster"]["server"], server.url());
    assert_eq!(config["current-context"], config["contexts"][0]["name"]);
}

/// The client that most use, with the service in the process.
#[tokio::test(start_paused = true)]
async fn kube_clients_can_call_it_in_the_process() {
    let sim = Sim::builder().nodes(2).pods(30).build().unwrap();
    let client = kube::Client::new(sim.service(), "default");
    let pods = Api::<Pod>::all(client.clone());
    let page = pods.list(&ListParams::default().limit(10)).await.unwrap();
    assert_eq!(
        (page.items.len(), page.metadata.remaining_item_count),
        (10, Some(20))
    );
    assert!(
        page.items
            .iter()
            .all(|pod| pod.spec.as_ref().is_some_and(|spec| !spec.containers.is_empty()))
    );

    let maps = Api::<ConfigMap>::default_namespaced(client);
    let version = sim.store().resource_version().to_string();
    let mut map = ConfigMap {
        data: Some([("k".into(), "v".into())].into()),
        ..Default::default()
    };
    map.metadata.name = Some("a".into());
    let made = maps.create(&PostParams::default(), &map).await.unwrap();
    let patch = Patch::Merge(json!({"data": {"l": "w"}}));
    maps.patch("a", &PatchParams::default(), &patch).await.unwrap();
    let stale = maps
        .replace("a", &PostParams::default(), &made)
        .await
        .unwrap_err();
    assert!(matches!(stale, kube::Error::Api(status) if status.code == 409));
    maps.delete("a", &Default::default()).await.unwrap();

    let events = maps
        .watch(&WatchParams::default().timeout(5), &version)
        .await
        .unwrap();
    let events: Vec<_> = events.try_collect().await.unwrap();
    let kinds: Vec<_> = events
        .iter()
        .map(|event| match event {
            WatchEvent::Added(_) => "added",
            WatchEvent::Modified(_) => "modified",
            WatchEvent::Deleted(_) => "deleted",
            WatchEvent::Bookmark(_) => "bookmark",
            WatchEvent::Error(_) => "error",
        })
        .collect();
    assert_eq!(kinds, ["added", "modified", "deleted", "bookmark"]);
}

/// Runs the binary; killed if the test fails.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn program(args: &[&str]) -> Program {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kube-sim"));
    Program(
        command
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    )
}

/// The URL it prints first.
fn url_of(program: &mut Program) -> String {
    let mut line = String::new();
    BufReader::new(program.0.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    line.trim().to_owned()
}

/// The exit code and what it wrote to standard error.
fn end_of(program: &mut Program) -> (Option<i32>, String) {
    let mut text = String::new();
    program
        .0
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    (program.0.wait().unwrap().code(), text)
}

#[test]
fn the_binary_serves_until_a_signal() {
    for signal in ["-TERM", "-INT"] {
        let path = std::env::temp_dir().join(format!("kube-sim-test-{}{signal}", std::process::id()));
        let mut sim = program(&[
            "--nodes",
            "2",
            "--pods",
            "5",
            "--churn",
            "10",
            "--kubeconfig",
            path.to_str().unwrap(),
        ]);
        let url = url_of(&mut sim);
        let address = url
            .strip_prefix("http://")
            .expect("a URL on the first line")
            .to_owned();
        let written = std::fs::read_to_string(&path).unwrap();
        // It may have a token in it.
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::remove_file(&path).unwrap();
        assert!(written.contains(&url), "{written}");
        assert!(std::net::TcpStream::connect(&address).is_ok());

        let started = Instant::now();
        assert!(
            Command::new("kill")
                .args([signal, &sim.0.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(end_of(&mut sim), (Some(0), String::new()));
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn the_binary_says_what_is_wrong() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (code, text) = end_of(&mut program(&["--port", &port]));
    assert_eq!((code, text.lines().count()), (Some(1), 1), "{text}");
    assert!(
        text.contains(&port) && text.contains("choose another --port"),
        "{text}"
    );

    let (code, text) = end_of(&mut program(&["--kubeconfig", "/nonexistent/dir/file"]));
    assert_eq!((code, text.lines().count()), (Some(1), 1), "{text}");
    assert!(
        text.contains("cannot write the kubeconfig /nonexistent/dir/file"),
        "{text}"
    );

    for wrong in [
        ["--port", "x"],
        ["--churn", "-1"],
        ["--churn", "NaN"],
        ["--nope", "1"],
    ] {
        assert_eq!(end_of(&mut program(&wrong)).0, Some(2), "{wrong:?}");
    }
}

#[tokio::test]
async fn tokens_travel_over_tls() {
    use base64::Engine as _;
    use tokio_rustls::TlsConnector;
    use tokio_rustls::rustls::crypto::ring::default_provider;
    use tokio_rustls::rustls::pki_types::pem::PemObject as _;
    use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
    use tokio_rustls::rustls::{ClientConfig, RootCertStore};

    let server = SimServer::builder().rbac().tls().start().await.unwrap();
    assert!(server.url().starts_with("https://127.0.0.1:"));
    let config: serde_json::Value = serde_json::from_str(&server.kubeconfig()).unwrap();
    let authority = config["clusters"][0]["cluster"]["certificate-authority-data"]
        .as_str()
        .unwrap();
    let authority = base64::engine::general_purpose::STANDARD
        .decode(authority)
        .unwrap();
    let token = config["users"][0]["user"]["token"].as_str().unwrap();
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(&authority).unwrap())
        .unwrap();
    let client = ClientConfig::builder_with_provider(std::sync::Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = TlsConnector::from(std::sync::Arc::new(client));
    for (token, expected) in [(token, 200), ("other", 401)] {
        let stream = tokio::net::TcpStream::connect(server.address()).await.unwrap();
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let stream = connector.connect(name, stream).await.unwrap();
        let io = hyper_util::rt::TokioIo::new(stream);
        let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await.unwrap();
        let request = http::Request::get("/api/v1/namespaces")
            .header("host", server.address().to_string())
            .header("connection", "close")
            .header("authorization", format!("Bearer {token}"))
            .body(http_body_util::Empty::<bytes::Bytes>::new())
            .unwrap();
        let answer = async move { sender.send_request(request).await.unwrap().status() };
        let (status, _) = futures::future::join(answer, connection).await;
        assert_eq!(status, expected);
    }
    server.shutdown().await;
}

/// Asks for a watch over a WebSocket, from a page or from nowhere.
async fn websocket(
    server: &SimServer,
    path: &str,
    origin: Option<&str>,
) -> Result<WebSocketStream<TcpStream>, tungstenite::Error> {
    let mut request = format!("ws://{}{path}", server.address())
        .into_client_request()
        .unwrap();
    if let Some(origin) = origin {
        request.headers_mut().insert("origin", origin.parse().unwrap());
    }
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let (socket, _) = tokio_tungstenite::client_async(request, stream).await?;
    Ok(socket)
}

#[tokio::test]
async fn watches_go_over_websockets() {
    let server = SimServer::builder().start().await.unwrap();
    let create = |name: &str| {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}});
        server.store().create(map).unwrap();
    };
    create("a");
    let path = "/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=0";
    let mut socket = websocket(&server, path, Some("http://here")).await.unwrap();
    let mut name_of_next = async || {
        let message = socket.next().await.unwrap().unwrap();
        let event: Value = serde_json::from_str(message.to_text().unwrap()).unwrap();
        assert_eq!(event["type"], "ADDED");
        event["object"]["metadata"]["name"].clone()
    };
    assert_eq!(name_of_next().await, "a");
    create("b");
    create("c");
    assert_eq!(name_of_next().await, "b");
    assert_eq!(name_of_next().await, "c");
    server.shutdown().await;
    // Nothing is left to be read but the end.
    while let Some(Ok(message)) = socket.next().await {
        assert!(message.is_close());
    }
}

#[tokio::test]
async fn watch_over_a_websocket_needs_an_origin_and_an_answer() {
    let server = SimServer::builder().start().await.unwrap();
    let good = "/api/v1/pods?watch=true";
    for (path, origin, code) in [
        (good, None, 403),
        ("/api/v1/bogus?watch=true", Some("http://here"), 404),
        ("/api/v1/pods", Some("http://here"), 200),
        ("/api/v1/namespaces/watch/pods", Some("http://here"), 200),
        ("/api/v1/namespaces/default?watch=true", Some("http://here"), 200),
    ] {
        match websocket(&server, path, origin).await {
            Err(tungstenite::Error::Http(answer)) => assert_eq!(answer.status(), code, "{path}"),
            other => panic!("{path}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn reason_of_no_process_comes_on_the_error_channel() {
    let server = SimServer::builder().nodes(1).start().await.unwrap();
    let node = json_of(get(&server, "/api/v1/nodes").await).await["items"][0]["metadata"]["name"].take();
    let spec = json!({"nodeName": node, "containers": [{"name": "c", "image": "i"}]});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"}, "spec": spec});
    server.store().create(pod).unwrap();
    let ask = async |what: &str, protocols: &'static str| {
        let mut request = format!("ws://{}/api/v1/namespaces/default/pods/{what}", server.address())
            .into_client_request()
            .unwrap();
        request
            .headers_mut()
            .insert("sec-websocket-protocol", protocols.parse().unwrap());
        let stream = TcpStream::connect(server.address()).await.unwrap();
        tokio_tungstenite::client_async(request, stream).await
    };
    // The first message is empty, on the first channel that the server writes to.
    for (what, first) in [
        ("p/exec?command=ls&stdout=true&stderr=true", 1),
        ("p/exec?command=ls&stdout=0&stderr=1&stdin=1", 2),
        ("p/exec?command=ls", 3),
        ("p/attach?stdout=yes", 1),
    ] {
        let (socket, answer) = ask(what, "v4.channel.k8s.io, v5.channel.k8s.io").await.unwrap();
        assert_eq!(answer.headers()["sec-websocket-protocol"], "v5.channel.k8s.io");
        let messages: Vec<_> = socket.map(|message| message.unwrap()).collect().await;
        let [opened, status, end] = &messages[..] else {
            panic!("{what}: {messages:?}");
        };
        assert_eq!(opened.clone().into_data(), [first][..], "{what}");
        let status = status.clone().into_data();
        assert_eq!(status[0], 3);
        let status: Value = serde_json::from_slice(&status[1..]).unwrap();
        assert_eq!(status["code"], 501);
        assert!(
            status["message"]
                .as_str()
                .unwrap()
                .ends_with("there is no process to talk to")
        );
        assert!(status.get("kind").is_none());
        assert!(end.is_close());
    }
    for (what, protocol, code) in [
        ("p/exec?command=ls", "v4.channel.k8s.io", 501),
        ("p/portforward?ports=80", "v5.channel.k8s.io", 501),
        ("p/exec?command=ls&container=other", "v5.channel.k8s.io", 400),
        ("other/exec?command=ls", "v5.channel.k8s.io", 404),
    ] {
        match ask(what, protocol).await {
            Err(tungstenite::Error::Http(answer)) => assert_eq!(answer.status(), code, "{what}"),
            other => panic!("{what}: {other:?}"),
        }
    }
}
