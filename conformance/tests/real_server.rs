//! The server that the other tests stand on: what can be done to it, and that nothing of it stays.

use conformance::real_server::{Part, RealServer, ServerError, User};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PODS: &str = "/api/v1/pods";

/// The code with which the server refuses a list of pods; 200 if it does not.
async fn pods_as(client: &kube::Client) -> u16 {
    let request = http::Request::get(PODS).body(Vec::new()).unwrap();
    match client.request::<Value>(request).await {
        Ok(_) => 200,
        Err(kube::Error::Api(status)) => status.code,
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
#[ignore = "needs a real API server: conformance/run"]
async fn rights_and_tokens_are_given_and_withdrawn() {
    let server = RealServer::start().await.unwrap();
    let nobody = server.client(&User::nobody()).await.unwrap();
    assert_eq!(pods_as(&nobody).await, 403);
    server.allow("nobody", "", "pods").await.unwrap();
    server.allow("nobody", "", "pods").await.unwrap();
    assert_eq!(pods_as(&nobody).await, 200);
    server.forbid("nobody", "", "pods").await.unwrap();
    assert_eq!(pods_as(&nobody).await, 403);

    // Tokens are read at the start only.
    server.dismiss("nobody").unwrap();
    assert_eq!(pods_as(&nobody).await, 403);
    server.start_again(Part::ApiServer).unwrap();
    server.ready().await.unwrap();
    assert_eq!(pods_as(&nobody).await, 401);
    server.admit(User::nobody()).unwrap();
    server.start_again(Part::ApiServer).unwrap();
    server.ready().await.unwrap();
    assert_eq!(pods_as(&nobody).await, 403);
}

#[tokio::test]
#[ignore = "needs a real API server: conformance/run"]
async fn a_gate_a_flag_and_a_restart() {
    let server = RealServer::builder()
        .gate("ShardedListAndWatch", true)
        .flag("--goaway-chance=0.01")
        .start()
        .await
        .unwrap();
    let config_maps = "/api/v1/namespaces/default/configmaps";
    let object = json!({"metadata": {"name": "a"}});
    server.request("POST", config_maps, Some(&object)).await.unwrap();
    let before = server.resource_version().await.unwrap();

    server.kill(Part::ApiServer).unwrap();
    assert!(matches!(
        server.ready().await,
        Err(ServerError::NotReady {
            part: Part::ApiServer,
            ..
        })
    ));
    assert!(server.request("GET", config_maps, None).await.is_err());
    server.start_again(Part::ApiServer).unwrap();
    server.ready().await.unwrap();
    let list = server.request("GET", config_maps, None).await.unwrap();
    assert!(
        list["items"]
            .as_array()
            .unwrap()
            .iter()
            .any(|item| item["metadata"]["name"] == "a")
    );
    assert!(
        server.resource_version().await.unwrap() >= before,
        "etcd has kept its data"
    );

    server.start_again(Part::Etcd).unwrap();
    server.ready().await.unwrap();
    server
        .request("GET", &format!("{config_maps}/a"), None)
        .await
        .unwrap();

    server.suspend(Part::ApiServer).unwrap();
    let silent = tokio::time::timeout(Duration::from_secs(1), server.request("GET", config_maps, None)).await;
    assert!(silent.is_err(), "a suspended server answered");
    server.resume(Part::ApiServer).unwrap();
    server.request("GET", config_maps, None).await.unwrap();

    let wrong = RealServer::builder().flag("--no-such-flag").start().await;
    let error = wrong.unwrap_err().to_string();
    assert!(
        error.contains("kube-apiserver has ended") && error.contains("unknown flag"),
        "{error}"
    );
}

/// The programs that run in a folder, by their working directory.
fn running_in(folder: &Path) -> Vec<PathBuf> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let links = processes.filter_map(|process| std::fs::read_link(process.path().join("cwd")).ok());
    links.filter(|cwd| cwd.starts_with(folder)).collect()
}

#[tokio::test]
#[ignore = "needs a real API server: conformance/run"]
async fn nothing_is_left_behind() {
    let server = RealServer::start().await.unwrap();
    let folder = server.folder().to_owned();
    assert_eq!(running_in(&folder).len(), 2);
    server.suspend(Part::Etcd).unwrap();
    drop(server);
    assert!(!folder.exists());
    assert_eq!(running_in(&folder), Vec::<PathBuf>::new());

    // A test that panics, and one that is killed: this one again, in a process of its own.
    for dies_by in ["panic", "kill"] {
        let mut test = Command::new(std::env::current_exe().unwrap())
            .args(["a_test_that_dies", "--exact", "--ignored", "--nocapture"])
            .env("DIES_BY", dies_by)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(test.stdout.take().unwrap())
            .lines()
            .map(Result::unwrap);
        let folder = lines.find_map(|line| {
            line.split_once("folder: ")
                .map(|(_, folder)| PathBuf::from(folder))
        });
        let folder = folder.expect("the test says where its server is");
        if dies_by == "kill" {
            assert!(folder.exists());
            test.kill().unwrap();
        }
        test.wait().unwrap();
        let patience = Instant::now() + Duration::from_secs(20);
        while folder.exists() || !running_in(&folder).is_empty() {
            assert!(
                Instant::now() < patience,
                "left behind after {dies_by}: {}",
                folder.display()
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Run by the test above.
#[tokio::test]
#[ignore = "part of `nothing_is_left_behind`"]
#[allow(clippy::print_stdout)]
async fn a_test_that_dies() {
    let Ok(dies_by) = std::env::var("DIES_BY") else {
        return;
    };
    let server = RealServer::start().await.unwrap();
    println!("folder: {}", server.folder().display());
    assert_ne!(dies_by, "panic");
    std::future::pending::<()>().await;
}
