//! `demo`.

use crate::process::{Running, run};
use kube_sim::SimServer;
use nix::sys::signal::Signal;

#[tokio::test(flavor = "multi_thread")]
async fn it_ends_with_a_comparison_that_holds() {
    let ended = run("demo --nodes 5 --pods 60 --churn 100 --seed 7 --for 1.5s").await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for expected in [
        "synced: 5 nodes and",
        "by-node",
        "events/s",
        "simulator included",
        "everything is equal",
    ] {
        assert!(ended.out.contains(expected), "no {expected:?} in {ended:?}");
    }
    assert!(
        !ended.out.contains('\u{1b}'),
        "no terminal, no escape sequences: {ended:?}"
    );
    assert_eq!(ended.err, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_cluster_will_do() {
    let ended = run("demo --nodes 0 --pods 0 --churn 0 --for 0s").await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("everything is equal"), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_brings_the_comparison_early() {
    let mut demo = Running::start("demo --nodes 2 --pods 10 --churn 20 --for 1h");
    while !demo.line().await.contains("events/s") {}
    demo.signal(Signal::SIGINT);
    let ended = demo.end().await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("everything is equal"), "{ended:?}");
}

/// What the screen shows of each form; the screen itself is tested where it is drawn.
#[tokio::test(flavor = "multi_thread")]
async fn a_follower_tells_what_its_form_takes() {
    let server = SimServer::builder().pods(30).start().await.unwrap();
    let mut digests = Vec::new();
    for form in ["typed", "packed"] {
        let mut follower = Running::start_with_input(&["__follow", form, &server.url()]);
        let status = loop {
            let status = follower.json().await;
            if status["synced"] == true && status["handled"] == 30 {
                break status;
            }
        };
        assert_eq!(
            (&status["objects"], &status["lists"]),
            (&30.into(), &1.into()),
            "{status}"
        );
        assert!(status["rss_mib"].as_f64() > Some(0.0), "{status}");
        digests.push(status["digest"].clone());
        follower.close_input();
        assert_eq!(follower.end().await.code, Some(0));
    }
    assert_eq!(digests[0], digests[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_follower_lets_changes_wait() {
    let server = SimServer::builder().pods(30).churn(200.0).start().await.unwrap();
    let mut follower = Running::start_with_input(&["__follow", "packed", &server.url()]);
    follower.type_line("100").await;
    while follower.json().await["waiting"].as_u64() < Some(5) {}
    follower.type_line("0").await;
    server.stop_churn().await;
    while follower.json().await["waiting"] != 0 {}
}
