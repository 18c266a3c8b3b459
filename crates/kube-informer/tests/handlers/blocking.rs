//! Handlers that block their thread.

use super::*;

#[tokio::test]
async fn a_blocking_handler_blocks_nobody() {
    let (informer, stop, running) = start([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let (release, gate) = std::sync::mpsc::channel::<()>();
    let (told, mut record) = recorder();
    let slow = informer
        .add_handler(
            "slow",
            blocking(move |change: Change| {
                gate.recv().unwrap();
                record(change);
            }),
        )
        .unwrap();
    let quick = informer.add_handler("quick", |_: Change| ()).unwrap();
    quick.synced().await.unwrap();
    assert_eq!(told.lock().unwrap().len(), 0);
    release.send(()).unwrap();
    release.send(()).unwrap();
    slow.synced().await.unwrap();
    assert_eq!(told.lock().unwrap().len(), 2);
    stop.cancel();
    running.await.unwrap().unwrap();
}

/// A blocking handler that ends its own registration in its first call.
async fn ends_itself<F: Future<Output = ()>>(end: impl Fn(Registration) -> F + Send + 'static) {
    let (informer, stop, running) = start([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let (give, take) = std::sync::mpsc::channel::<Registration>();
    let (told, mut record) = recorder();
    let (returned, mut calls) = tokio::sync::mpsc::unbounded_channel();
    let function = move |change: Change| {
        record(change);
        if let Ok(own) = take.recv() {
            tokio::runtime::Handle::current().block_on(end(own));
        }
        returned.send(()).unwrap();
    };
    let registration = informer.add_handler("own", blocking(function)).unwrap();
    give.send(registration).unwrap();
    drop(give);
    let first = tokio::time::timeout(Duration::from_secs(20), calls.recv()).await;
    assert_eq!(first.expect("does not hang"), Some(()));
    while calls.recv().await.is_some() {}
    assert!(!told.lock().unwrap().is_empty() && informer.handlers().is_empty());
    stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocking_handler_may_remove_or_drain_itself() {
    ends_itself(Registration::remove).await;
    ends_itself(Registration::drain).await;
}

#[test]
fn blocking_handlers_that_hang_stop_nothing_else() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let (release, gate) = std::sync::mpsc::channel::<()>();
    let gate = Arc::new(Mutex::new(gate));
    runtime.block_on(async {
        let (informer, stop, running) = start([
            ("LIST any 500", List(10, vec![("a", 1)])),
            ("WATCH 10", Watch(vec![])),
        ]);
        for number in 0..4 {
            let gate = gate.clone();
            let hang = move |_: Change| _ = gate.lock().map(|gate| gate.recv());
            let name = HandlerOptions::named(format!("hangs-{number}"));
            informer.add_handler(name, blocking(hang)).unwrap().detach();
        }
        let quick = informer.add_handler("quick", blocking(|_: Change| ())).unwrap();
        let patience = Duration::from_secs(20);
        let synced = tokio::time::timeout(patience, quick.synced()).await;
        synced.expect("another blocking handler").unwrap();
        let pool = tokio::time::timeout(patience, tokio::task::spawn_blocking(|| ())).await;
        pool.expect("a thread of the pool").unwrap();
        drop(release);
        stop.cancel();
        running.await.unwrap().unwrap();
    });
}
