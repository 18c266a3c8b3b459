//! The scripted server, as a service and behind a socket.

use std::io;
use std::time::Duration;

use http_body_util::{BodyExt as _, Empty};
use kube::client::Body;
use kube_sim::script::{Answer, Expected, Kind, ScriptedServer, event};
use tokio::time::Instant;
use tower::Service as _;

fn get(target: &str) -> http::Request<Body> {
    http::Request::get(target)
        .header("accept", "application/json")
        .body(Body::empty())
        .unwrap()
}

/// What one of the server's own panics said.
async fn panic_of(server: &ScriptedServer, request: http::Request<Body>) -> String {
    let call = server.service().call(request);
    let panic = tokio::spawn(call).await.unwrap_err().into_panic();
    *panic.downcast::<String>().unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_answer_comes_piece_by_piece() {
    let pods = Kind::new("v1", "Pod");
    let answer = Answer::watch(["ab"])
        .delayed(Duration::from_secs(5))
        .pause(Duration::from_secs(7))
        .in_chunks_of(2, "cdefg")
        .broken();
    let server = ScriptedServer::new()
        .expect("GET /w?timeoutSeconds=300..=600&a=*", answer)
        .expect(
            "GET /w",
            Answer::json(pods.list("3", [pods.object("ns/a#2", "1")])),
        );
    let start = Instant::now();
    let response = server
        .service()
        .call(get("/w?a=x%20y&timeoutSeconds=301"))
        .await
        .unwrap();
    assert_eq!(start.elapsed().as_secs(), 5);
    let mut body = response.into_body();
    let mut chunks = vec![];
    let error = loop {
        match body.frame().await.unwrap() {
            Ok(frame) => chunks.push((start.elapsed().as_secs(), frame.into_data().unwrap())),
            Err(error) => break error,
        }
    };
    assert_eq!(
        chunks,
        [(5, "ab"), (12, "cd"), (12, "ef"), (12, "g")].map(|(t, c)| (t, c.into()))
    );
    assert_eq!(
        error.downcast_ref::<io::Error>().unwrap().kind(),
        io::ErrorKind::ConnectionReset
    );
    let body = server.service().call(get("/w")).await.unwrap().into_body();
    let list: serde_json::Value = serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap();
    assert_eq!(list["kind"], "PodList");
    assert_eq!(list["items"][0]["metadata"]["uid"], "ns/a#2");
    assert_eq!(list["items"][0]["metadata"]["name"], "a");
    server.assert_finished();
    let requests = server.requests();
    assert_eq!(requests[0].to_string(), "GET /w?a=x y&timeoutSeconds=301");
    assert_eq!(
        (requests[0].parameter("a"), requests[0].parameter("b")),
        (Some("x y"), None)
    );
}

#[tokio::test(start_paused = true)]
async fn a_deviation_is_named() {
    let expected = || Expected::from("GET /a?x=1").header("accept", "text/plain");
    let server = ScriptedServer::new().expect(expected(), Answer::json("{}"));
    let message = panic_of(&server, get("/a?x=1")).await;
    assert_eq!(
        message,
        "a request differs\n  expected GET /a?x=1 (accept: text/plain)\n  but got  GET /a?x=1 (accept: \"application/json\")"
    );
    for (target, text) in [
        ("/a", "GET /a"),
        ("/a?x=2", "GET /a?x=2"),
        ("/a?x=1&y=2", "GET /a?x=1&y=2"),
    ] {
        let server = ScriptedServer::new().expect("GET /a?x=1", Answer::json("{}"));
        let message = panic_of(&server, get(target)).await;
        assert_eq!(
            message,
            format!("a request differs\n  expected GET /a?x=1\n  but got  {text}")
        );
        assert!(!server.is_finished());
    }
    let message = panic_of(&server, get("/b")).await;
    assert_eq!(message, "the script has nothing for GET /b");
    let report = std::panic::catch_unwind(|| server.assert_finished()).unwrap_err();
    let report = report.downcast::<String>().unwrap();
    assert!(
        report.contains("this request did not come: GET /a?x=1"),
        "{report}"
    );
    assert!(
        report.ends_with("these came:\n  GET /a?x=1\n  GET /b"),
        "{report}"
    );
}

#[tokio::test(start_paused = true)]
async fn requests_beyond_the_script_are_never_answered() {
    let server = ScriptedServer::new()
        .expect("GET /a", Answer::json("1"))
        .expect("GET /b", Answer::refused())
        .expect("GET /a", Answer::never());
    let mut service = server.service();
    let error = service.call(get("/b")).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    assert!(service.call(get("/a")).await.is_ok());
    for beyond in [false, true] {
        let call = tokio::time::timeout(Duration::from_secs(3600), service.call(get("/a")));
        assert!(call.await.is_err());
        assert_ne!(server.is_finished(), beyond);
    }
}

#[tokio::test]
async fn it_listens_too() {
    let server = ScriptedServer::new()
        .expect("GET /a", Answer::watch([event("ADDED", &1)]).close())
        .expect(
            "GET /a",
            Answer::code(500)
                .chunk("half")
                .pause(Duration::from_millis(20))
                .broken(),
        )
        .expect("GET /a", Answer::refused());
    let listener = server.listen().await.unwrap();
    let uri: http::Uri = listener.url().parse().unwrap();
    let client = || async {
        let socket = tokio::net::TcpStream::connect(listener.address()).await.unwrap();
        let io = hyper_util::rt::TokioIo::new(socket);
        let (sender, connection) = hyper::client::conn::http1::handshake(io).await.unwrap();
        tokio::spawn(connection);
        sender
    };
    let request = || {
        let host = uri.authority().unwrap().as_str();
        http::Request::get("/a")
            .header("host", host)
            .body(Empty::<bytes::Bytes>::new())
            .unwrap()
    };
    let response = client().await.send_request(request()).await.unwrap();
    assert_eq!(response.headers()["content-type"], "application/json");
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(body, "{\"type\":\"ADDED\",\"object\":1}\n");
    let response = client().await.send_request(request()).await.unwrap();
    assert_eq!(response.status(), 500);
    assert!(response.into_body().collect().await.is_err());
    assert!(client().await.send_request(request()).await.is_err());
    server.assert_finished();
}
