//! A program and its probes, over HTTP and with signals.
#![cfg(feature = "server")]

use futures::StreamExt as _;
use http::{Request, Response};
use http_body_util::{BodyExt as _, StreamBody};
use instances as _;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::client::Body;
use kube::{Api, Client};
use kube_controller::controller::{Action, Controller};
use kube_controller::leader_election::LeaderElectionConfig;
use kube_controller::manager::{Cause, Manager, RunContext, RunWhen};
use kube_controller::watcher;
use kube_sim::SimServer;
use serde_json::json;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

/// A client whose watches fall silent.
fn muted(client: Client, silent: Arc<AtomicBool>) -> Client {
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, silent) = (client.clone(), silent.clone());
        async move {
            let is_watch = request.uri().query().unwrap_or_default().contains("watch=true");
            let response = client.send(request).await?;
            let body = |body: Body| {
                let next = move |mut body: Body| {
                    let silent = silent.clone();
                    async move {
                        let frame = body.frame().await?;
                        if is_watch && silent.load(Ordering::SeqCst) {
                            std::future::pending::<()>().await;
                        }
                        Some((frame, body))
                    }
                };
                StreamBody::new(futures::stream::unfold(body, next).boxed())
            };
            Ok::<Response<_>, kube::Error>(response.map(body))
        }
    });
    Client::new(service, "default")
}

async fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let code = head.split(' ').nth(1).unwrap().parse().unwrap();
    (code, body.to_owned())
}

async fn eventually(address: SocketAddr, path: &str, code: u16) -> String {
    loop {
        let (got, body) = get(address, path).await;
        if got == code {
            return body;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The metrics of controller-runtime, with the labels by which they are told apart.
const CONTROLLER_RUNTIME: [(&str, &str); 19] = [
    (
        "controller_runtime_reconcile_total",
        r#"controller="secret",result="success"}"#,
    ),
    (
        "controller_runtime_reconcile_total",
        r#"controller="secret",result="error"}"#,
    ),
    (
        "controller_runtime_reconcile_total",
        r#"controller="secret",result="requeue"}"#,
    ),
    (
        "controller_runtime_reconcile_total",
        r#"controller="secret",result="requeue_after"}"#,
    ),
    (
        "controller_runtime_reconcile_errors_total",
        r#"controller="secret"}"#,
    ),
    (
        "controller_runtime_terminal_reconcile_errors_total",
        r#"controller="secret"}"#,
    ),
    (
        "controller_runtime_reconcile_panics_total",
        r#"controller="secret"}"#,
    ),
    (
        "controller_runtime_reconcile_timeouts_total",
        r#"controller="secret"}"#,
    ),
    (
        "controller_runtime_reconcile_time_seconds_bucket",
        r#"controller="secret","#,
    ),
    (
        "controller_runtime_max_concurrent_reconciles",
        r#"controller="secret"}"#,
    ),
    ("controller_runtime_active_workers", r#"controller="secret"}"#),
    ("workqueue_depth", r#"name="secret",priority="0"}"#),
    ("workqueue_adds_total", r#"name="secret"}"#),
    ("workqueue_queue_duration_seconds_bucket", r#"name="secret","#),
    ("workqueue_work_duration_seconds_bucket", r#"name="secret","#),
    ("workqueue_unfinished_work_seconds", r#"name="secret"}"#),
    ("workqueue_longest_running_processor_seconds", r#"name="secret"}"#),
    ("workqueue_retries_total", r#"name="secret"}"#),
    ("leader_election_master_status", r#"name="default/test"}"#),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn probes_and_metrics_are_served_from_start_to_end() {
    // Case 78.
    let bookmarks = Duration::from_millis(100);
    let server = SimServer::builder()
        .bookmark_interval(bookmarks)
        .start()
        .await
        .unwrap();
    let client = Client::try_from(kube::Config::new(server.url().parse().unwrap())).unwrap();
    let silent = Arc::new(AtomicBool::new(false));
    let election = LeaderElectionConfig::new("default", "test", "a");
    let manager = Manager::new(muted(client, silent.clone()), "test")
        .leader_election(election)
        .unwrap()
        .watch_silence(Duration::from_secs(2))
        .serve(0)
        .unwrap();
    let address = manager.address().unwrap();
    assert!(address.ip().is_loopback());
    let maps = manager.factory().informer::<ConfigMap>();
    for kind in ["ConfigMap", "Secret"] {
        let metadata = json!({"name": "a", "namespace": "default"});
        let object = json!({"apiVersion": "v1", "kind": kind, "metadata": metadata});
        server.store().create(object).unwrap();
    }
    let secrets = Api::<Secret>::all(manager.client().clone());
    let controller = Controller::new(secrets, watcher::Config::default());
    let reconcile = async |_, _: Arc<()>| Ok::<_, Infallible>(Action::await_change());
    let policy = |_, _: &Infallible, _| Action::backoff();
    manager
        .add_controller(controller, reconcile, policy, Arc::new(()))
        .unwrap();
    let (last, gate) = (CancellationToken::new(), CancellationToken::new());
    let (reached, held) = (last.clone(), gate.clone());
    let slow = async move |context: RunContext| {
        context.stopped().await;
        reached.cancel();
        held.cancelled().await;
        Ok::<_, Infallible>(())
    };
    manager.add("slow", RunWhen::Leading, slow).unwrap();
    let shutdown = CancellationToken::new();
    let running = tokio::spawn(manager.run_until(shutdown.clone()));

    assert_eq!(eventually(address, "/readyz", 200).await, "ok\n");
    assert_eq!(get(address, "/healthz").await, (200, "ok\n".into()));
    assert_eq!(get(address, "/else").await.0, 404);
    maps.synced().await.unwrap();
    // The candidate has a moment to win.
    let metrics = loop {
        let (code, metrics) = get(address, "/metrics").await;
        assert_eq!(code, 200);
        let leads = metrics.contains(r#"leader_election_master_status{name="default/test"} 1"#);
        if leads
            && metrics
                .contains(r#"controller_runtime_reconcile_total{controller="secret",result="success"} 1"#)
        {
            break metrics;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let objects = format!(
        r#"informer_objects{{resource="configmaps"}} {}"#,
        maps.store().len()
    );
    assert!(metrics.contains(&objects), "{metrics}");
    assert!(metrics.contains("reflector_lists_total{"), "{metrics}");
    for (name, labels) in CONTROLLER_RUNTIME {
        let sample = format!("{name}{{{labels}");
        assert!(metrics.contains(&sample), "{sample}: {metrics}");
    }
    for resource in ["configmaps", "secrets"] {
        for name in ["informer_objects", "informer_last_heard_seconds"] {
            let sample = format!(r#"{name}{{resource="{resource}"}}"#);
            assert!(metrics.contains(&sample), "{sample}: {metrics}");
        }
        let mut samples = metrics
            .lines()
            .filter(|line| line.starts_with("reflector_received_bytes_total{"));
        let received =
            samples.any(|line| line.contains(&format!(r#"resource="{resource}""#)) && !line.ends_with(" 0"));
        assert!(received, "{metrics}");
    }

    // The objects do not change, so what is heard from now on is a bookmark.
    for resource in ["configmaps", "secrets"] {
        let (synced, name) = (
            Instant::now(),
            format!(r#"informer_last_heard_seconds{{resource="{resource}"}} "#),
        );
        loop {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let since = synced.elapsed().as_secs_f64();
            let (_, metrics) = get(address, "/metrics").await;
            let mut samples = metrics.lines().filter_map(|line| line.strip_prefix(&name));
            if samples.any(|ago| ago.parse::<f64>().unwrap() < since) {
                break;
            }
        }
    }
    silent.store(true, Ordering::SeqCst);
    let why = eventually(address, "/readyz", 503).await;
    assert!(why.contains("not a bookmark for"), "{why}");
    // Either may be late first.
    let both = ["configmaps: not a bookmark for", "secrets: not a bookmark for"];
    while {
        let (_, why) = get(address, "/readyz").await;
        !both.iter().all(|late| why.contains(late))
    } {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(get(address, "/healthz").await.0, 200, "a restart would not help");

    shutdown.cancel();
    last.cancelled().await;
    assert_eq!(get(address, "/healthz").await.0, 200, "while it stops");
    gate.cancel();
    running.await.unwrap().unwrap();
    TcpStream::connect(address).await.expect_err("it is over");
    server.shutdown().await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_signal_stops_and_the_second_aborts() {
    let server = SimServer::builder().start().await.unwrap();
    let client = Client::try_from(kube::Config::new(server.url().parse().unwrap())).unwrap();
    let signal = |name: &str| {
        let me = std::process::id().to_string();
        let sent = std::process::Command::new("kill").args([name, &me]).status();
        assert!(sent.unwrap().success());
    };
    let started = |stubborn: bool| {
        let manager = Manager::new(client.clone(), "test");
        let (began, stopping) = (CancellationToken::new(), CancellationToken::new());
        let (begins, stops) = (began.clone(), stopping.clone());
        let runnable = async move |context: RunContext| {
            begins.cancel();
            context.stopped().await;
            stops.cancel();
            if stubborn {
                std::future::pending::<()>().await;
            }
            Ok::<_, Infallible>(())
        };
        manager.add("runnable", RunWhen::Always, runnable).unwrap();
        (tokio::spawn(manager.run()), began, stopping)
    };
    let (running, began, _) = started(false);
    began.cancelled().await;
    signal("-TERM");
    running.await.unwrap().unwrap();

    let (running, began, stopping) = started(true);
    began.cancelled().await;
    signal("-INT");
    stopping.cancelled().await;
    signal("-TERM");
    let error = running.await.unwrap().unwrap_err();
    assert!(matches!(error.causes(), [Cause::Aborted]), "{error}");
    server.shutdown().await;
}
