//! `demo`.

use crate::process::{Running, run};
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
