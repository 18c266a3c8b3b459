//! Which server, who asks, and through what.

use crate::process::{Ended, Running, run};
use crate::{scripted, secret};
use conformance::cluster::Cluster;
use kube_sim::script::{Answer, Kind, Received};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

/// No objects, and nothing happens.
fn quiet(request: &Received) -> Answer {
    match request.parameter("watch") {
        Some(_) => Answer::never(),
        None => Answer::json(Kind::new("v1", "ConfigMap").list("5", Vec::<Value>::new())),
    }
}

fn file(folder: &TempDir, name: &str, content: &Value) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, content.to_string()).unwrap();
    path
}

/// Lets it sync, ends it and returns all that it has said, down to each request.
async fn said(args: &str) -> String {
    let mut watch = Running::start(&format!("watch cm --initial list -o json -vv {args}"));
    let lines = watch.until("synced").await;
    watch.signal(Signal::SIGTERM);
    let Ended { out, err, .. } = watch.end().await;
    format!("{lines:?}{out}{err}")
}

#[tokio::test(flavor = "multi_thread")]
async fn user_info_of_a_url_is_sent_and_never_printed() {
    let (server, listener) = scripted::server(quiet).await;
    let with_user = listener.url().replace("http://", "http://jane:hunter2@");
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = json!({
        "clusters": [{"name": "c", "cluster": {"server": with_user}}], "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "none"}}],
    });
    let kubeconfig = file(&folder, "k", &kubeconfig);
    // Base64 of jane:hunter2.
    const SENT: &str = "amFuZTpodW50ZXIy";
    for args in [
        format!("--server {with_user}"),
        format!("--kubeconfig {}", kubeconfig.display()),
    ] {
        let before = server.requests().len();
        let said = said(&args).await;
        assert!(!said.contains("hunter2") && !said.contains(SENT), "{said}");
        let requests = server.requests();
        for request in &requests[before..] {
            assert_eq!(
                request.headers["authorization"],
                format!("Basic {SENT}"),
                "{request}"
            );
        }
        assert!(requests.len() > before + 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_show_no_passwords() {
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = |name: &str, cluster: Value, user: Value| {
        file(
            &folder,
            name,
            &json!({
                "clusters": [{"name": "c", "cluster": cluster}], "users": [{"name": "u", "user": user}],
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}], "current-context": "c",
            }),
        )
    };
    let plugin = |script: &str| json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": ["-c", script]}});
    let server = json!({"server": "http://127.0.0.1:1"});
    for (kubeconfig, expected) in [
        (
            kubeconfig(
                "url",
                json!({"server": "http://u:hunter2@127.0.0.1:1"}),
                json!({}),
            ),
            "cannot reach",
        ),
        (
            kubeconfig(
                "bad",
                json!({"server": "http://u:hunter2@127.0.0.1:1:x"}),
                json!({}),
            ),
            "cannot use context",
        ),
        (
            kubeconfig(
                "proxy",
                json!({"server": "http://127.0.0.1:1", "proxy-url": "socks5://u:hunter2@p:1"}),
                json!({}),
            ),
            "proxy-url of the kubeconfig",
        ),
        (
            kubeconfig(
                "yaml",
                server.clone(),
                json!({"token": "hunter2", "as-groups": "hunter2"}),
            ),
            "line 1, column",
        ),
        (
            kubeconfig("token", server.clone(), json!({"token": "hunter2\n"})),
            "the token cannot be sent",
        ),
        (
            kubeconfig("exec", server.clone(), plugin("echo hunter2; exit 3")),
            "plugin failed with exit status: 3",
        ),
        (
            kubeconfig("printed", server, plugin("echo token: [hunter2")),
            "printed no ExecCredential",
        ),
    ] {
        let args = [
            "watch",
            "pods",
            "-vv",
            "--kubeconfig",
            kubeconfig.to_str().unwrap(),
        ];
        let ended = Running::start_with(&args).end().await;
        assert_eq!((ended.code, &*ended.out), (Some(1), ""), "{ended:?}");
        assert!(ended.err.contains(expected), "no {expected:?} in {ended:?}");
        assert!(!ended.err.contains("hunter2"), "{ended:?}");
    }
    for server in [
        "http://u:hunter2@127.0.0.1:1",
        "http://u:hunter2@ho^st",
        "http://u:hunter2/x@host",
    ] {
        let ended = run(&format!("watch pods -vv --server {server}")).await;
        assert!(
            ended.err.contains("error: ") && !ended.err.contains("hunter2"),
            "{ended:?}"
        );
    }
}

/// The secrets that it finds with this environment.
async fn secrets(variables: &[(&str, &str)], args: &[&str]) -> Vec<Value> {
    let args = [&["watch", "secrets", "-o", "json"], args].concat();
    let lines = Running::start_in(variables, &args).until("synced").await;
    lines
        .into_iter()
        .filter_map(|mut line| line.get_mut("key").map(Value::take))
        .collect()
}

fn joined(files: &[&Path]) -> String {
    std::env::join_paths(files).unwrap().into_string().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn kubeconfigs_are_merged_as_kubectl_does() {
    let cluster = Cluster::start().await;
    cluster.create(secret("default", "d", "web")).await;
    cluster.create(secret("kube-system", "k", "web")).await;
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let empty = file(&folder, "empty", &json!({"current-context": ""}));
    let good = cluster.kubeconfig();
    for files in [[&*missing, &*good], [&*good, &*missing], [&*empty, &*good]] {
        let found = secrets(&[("KUBECONFIG", &joined(&files))], &[]).await;
        assert_eq!(found, ["default/d"], "{files:?}");
    }
    let ended = Running::start_in(
        &[("KUBECONFIG", &joined(&[&missing, &missing]))],
        &["watch", "pods"],
    );
    let ended = ended.end().await;
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.err.contains("no kubeconfig: there is no") && ended.err.contains("missing"),
        "{ended:?}"
    );

    // A context whose namespace is empty: the default one. An option that is empty: as if it were not there.
    let known = kube::config::Kubeconfig::read_from(&good).unwrap();
    let known = known
        .contexts
        .iter()
        .find(|context| context.name == cluster.context());
    let known = known.and_then(|context| context.context.clone()).unwrap();
    let context = |namespace: &str| {
        let context = json!({"cluster": known.cluster, "user": known.user, "namespace": namespace});
        file(
            &folder,
            "context",
            &json!({
                "current-context": "x", "contexts": [{"name": "x", "context": context}],
            }),
        )
    };
    let variable = joined(&[&context(""), &good]);
    let variables = [("KUBECONFIG", &*variable)];
    for args in [
        &[][..],
        &["-n", ""],
        &[
            "--namespace=",
            "--context=",
            "--kubeconfig=",
            "--server=",
            "-l",
            "",
        ],
    ] {
        assert_eq!(secrets(&variables, args).await, ["default/d"], "{args:?}");
    }
    context("kube-system");
    assert_eq!(secrets(&variables, &["-n", ""]).await, ["kube-system/k"]);
    context("a#b");
    let ended = Running::start_in(&variables, &["watch", "secrets"]).end().await;
    for text in ["\"a#b\"", "a DNS label", "context of the kubeconfig"] {
        assert!(ended.err.contains(text), "{ended:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_of_the_environment_is_used_but_for_no_proxy() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = format!("jane:hunter2@{}", listener.local_addr().unwrap());
    let asked = tokio::spawn(async move {
        let mut asked = Vec::new();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let length = stream.read(&mut request).await.unwrap();
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            stream.write_all(b"HTTP/1.1 403 Forbidden\r\n\r\n").await.unwrap();
            asked.push(request);
            if asked.len() == 2 {
                return asked;
            }
        }
    });
    let args = |server| ["watch", "pods", "-vv", "--server", server];
    for (name, server) in [
        ("no_proxy", "https://a.invalid:6443"),
        ("NO_PROXY", "https://no.invalid:6443"),
        ("NO_PROXY", "https://b.invalid:6443"),
    ] {
        let variables = [("HTTPS_PROXY", &*proxy), (name, "127.0.0.1,no.invalid")];
        let ended = Running::start_in(&variables, &args(server)).end().await;
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(
            ended.err.contains("cannot reach") && !ended.err.contains("hunter2"),
            "{ended:?}"
        );
    }
    let asked = asked.await.unwrap();
    for (request, host) in asked.iter().zip(["a.invalid", "b.invalid"]) {
        assert!(request.starts_with(&format!("CONNECT {host}:6443 ")), "{request}");
        assert!(request.contains("Basic amFuZTpodW50ZXIy"), "{request}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectls_options_say_who_asks() {
    let (server, listener) = scripted::server(quiet).await;
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = file(
        &folder,
        "k",
        &json!({
            "clusters": [
                {"name": "c", "cluster": {"server": "http://127.0.0.1:1"}},
                {"name": "other", "cluster": {"server": listener.url()}},
            ],
            "users": [
                {"name": "u", "user": {"token": "t1"}}, {"name": "other", "user": {"token": "t2"}},
                {"name": "basic", "user": {"username": "u", "password": "p"}},
            ],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}], "current-context": "c",
        }),
    );
    let kubeconfig = format!("--kubeconfig {} --cluster other", kubeconfig.display());
    for (args, expected) in [
        (kubeconfig.clone(), vec![("authorization", "Bearer t1")]),
        (
            format!("{kubeconfig} --user other"),
            vec![("authorization", "Bearer t2")],
        ),
        (
            format!("{kubeconfig} --user basic --token t3"),
            vec![("authorization", "Bearer t3")],
        ),
        (
            format!("-s {} --token t4 --request-timeout 0", listener.url()),
            vec![("authorization", "Bearer t4")],
        ),
        (
            format!("{kubeconfig} --as jane --as-group a --as-group b --as-uid 7"),
            vec![
                ("impersonate-user", "jane"),
                ("impersonate-group", "a"),
                ("impersonate-group", "b"),
                ("impersonate-uid", "7"),
            ],
        ),
    ] {
        let before = server.requests().len();
        let said = said(&args).await;
        for token in ["t1", "t2", "t3", "t4"] {
            assert!(!said.contains(&format!("Bearer {token}")), "{said}");
        }
        for request in &server.requests()[before..] {
            for (name, value) in &expected {
                let mut values = request.headers.get_all(*name).iter();
                assert!(values.any(|header| header == value), "{args}: {request:?}");
            }
        }
    }
    let ended = run(&format!("watch cm {kubeconfig} --user nobody")).await;
    assert!(ended.err.contains("has no user \"nobody\""), "{ended:?}");
    let ended = run(&format!("watch cm {kubeconfig} --as-group a")).await;
    assert_eq!(ended.code, Some(2), "{ended:?}");
}

/// A server of TLS that is no API server, and its certificate: for `sim.example`, signed by itself.
async fn tls_server() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(vec!["sim.example".into()]).unwrap();
    let key = made.signing_key.serialize_der().try_into().unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            if let Ok(mut stream) = acceptor.accept(stream).await {
                let _ = stream.read(&mut [0; 4096]).await;
                let _ = stream
                    .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]")
                    .await;
            }
        }
    });
    (url, made.cert.pem())
}

#[tokio::test(flavor = "multi_thread")]
async fn options_say_which_certificates_to_trust() {
    let (url, certificate) = tls_server().await;
    let folder = tempfile::tempdir().unwrap();
    let authority = folder.path().join("ca.crt");
    std::fs::write(&authority, certificate).unwrap();
    let empty = file(&folder, "empty", &json!({}));
    let (authority, empty) = (authority.display(), empty.display());
    const TRUSTED: &str = "does not look like a Kubernetes API server";
    for (args, expected) in [
        (String::new(), "cannot agree on TLS"),
        ("--insecure-skip-tls-verify".into(), TRUSTED),
        (
            format!("--certificate-authority {authority}"),
            "cannot agree on TLS",
        ),
        (
            format!("--certificate-authority {authority} --tls-server-name sim.example"),
            TRUSTED,
        ),
        (
            format!("--certificate-authority {empty}"),
            "empty holds no certificate",
        ),
        (
            "--certificate-authority /nonexistent/ca.crt".into(),
            "cannot read /nonexistent/ca.crt",
        ),
    ] {
        let ended = run(&format!("watch pods -s {url} {args}")).await;
        assert_eq!(ended.code, Some(1), "{args}: {ended:?}");
        assert!(ended.err.contains(expected), "{args}: {ended:?}");
    }
}
