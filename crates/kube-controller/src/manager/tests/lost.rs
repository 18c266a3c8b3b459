//! A lease that is lost.

use super::*;
use crate::leader_election::LeaderElectionError;

#[tokio::test(start_paused = true)]
async fn what_informers_depend_on_ends_with_a_lost_lease() {
    let scene = Scene::new();
    let manager = scene.candidate("first");
    manager
        .add("around", RunWhen::AroundInformers, scene.diary.runnable("around"))
        .unwrap();
    manager
        .add("leading", RunWhen::Leading, scene.diary.runnable("leading"))
        .unwrap();
    let started = Started::new(manager);
    sleep(seconds(5)).await;
    scene.diary.read();
    scene.connected.store(false, Ordering::SeqCst);
    started.task.await.unwrap().unwrap_err();
    assert_eq!(scene.diary.sorted(), "around ends, leading ends");
}

#[tokio::test(start_paused = true)]
async fn a_lost_lease_ends_the_run_with_an_error() {
    // Case 72.
    let scene = Scene::new();
    let manager = scene.candidate("first");
    manager.add("stubborn", RunWhen::Always, stubborn).unwrap();
    manager
        .add("leading", RunWhen::Leading, scene.diary.runnable("leading"))
        .unwrap();
    let started = Started::new(manager);
    sleep(seconds(5)).await;
    scene.connected.store(false, Ordering::SeqCst);
    let began = Instant::now();
    let error = started.task.await.unwrap().unwrap_err();
    assert!(began.elapsed() < seconds(15), "it waits for the work only");
    let [Cause::Election(LeaderElectionError::Lost { .. })] = error.causes() else {
        panic!("{error:?}");
    };
    assert_eq!(
        scene.diary.read(),
        "leading starts, leading may work, leading ends"
    );
}

/// Writes when it is dropped.
struct Present(Diary);

impl Drop for Present {
    fn drop(&mut self) {
        self.0.write("gone");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_lost_during_the_stop_ends_the_work() {
    // Case 72, while it stops: whether what holds up the stop leads or not.
    for holds_up in [RunWhen::Always, RunWhen::Leading] {
        let scene = Scene::new();
        let manager = scene.candidate("first").graceful_shutdown_timeout(Duration::MAX);
        manager.add("stubborn", holds_up, stubborn).unwrap();
        let present = Present(scene.diary.clone());
        let works = async move |_| {
            let _present = present;
            std::future::pending::<Result<(), Infallible>>().await
        };
        manager.add("works", RunWhen::Leading, works).unwrap();
        let started = Started::new(manager);
        sleep(seconds(5)).await;
        scene.connected.store(false, Ordering::SeqCst);
        let began = Instant::now();
        let stopped = tokio::time::timeout(seconds(60), started.stop()).await;
        let error = stopped.expect("the lease runs out").unwrap_err();
        assert!(began.elapsed() <= seconds(15), "{:?}", began.elapsed());
        let [Cause::Election(LeaderElectionError::WorkNotStopped { .. })] = error.causes() else {
            panic!("{error:?}");
        };
        tokio::task::yield_now().await;
        assert_eq!(scene.diary.read(), "gone");
    }
}

// The work has not ended when the lease has run out. It is aborted, and a shard group, say, hands over its shards.
#[tokio::test(start_paused = true)]
async fn what_informers_depend_on_ends_after_aborted_work() {
    let scene = Scene::new();
    let manager = scene.candidate("first");
    manager.add("stubborn", RunWhen::Leading, stubborn).unwrap();
    let present = Present(scene.diary.clone());
    let works = async move |_| {
        let _present = present;
        std::future::pending::<Result<(), Infallible>>().await
    };
    manager.add("works", RunWhen::Warm, works).unwrap();
    manager
        .add("around", RunWhen::AroundInformers, scene.diary.runnable("around"))
        .unwrap();
    let started = Started::new(manager);
    sleep(seconds(5)).await;
    scene.diary.read();
    scene.connected.store(false, Ordering::SeqCst);
    let error = started.stop().await.unwrap_err();
    let [Cause::Election(LeaderElectionError::WorkNotStopped { .. })] = error.causes() else {
        panic!("{error:?}");
    };
    assert_eq!(scene.diary.read(), "gone, around ends");
}

// The lease is renewed again before it has run out, so it does not limit the work.
#[tokio::test(start_paused = true)]
async fn a_lost_lease_that_comes_back_ends_the_run() {
    for grace in [seconds(20), seconds(0)] {
        let scene = Scene::new();
        let manager = scene.candidate("first").graceful_shutdown_timeout(grace);
        manager.add("stubborn", RunWhen::Leading, stubborn).unwrap();
        manager
            .add("leading", RunWhen::Leading, scene.diary.runnable("leading"))
            .unwrap();
        let started = Started::new(manager);
        sleep(seconds(5)).await;
        scene.diary.read();
        scene.connected.store(false, Ordering::SeqCst);
        sleep(seconds(11)).await;
        scene.connected.store(true, Ordering::SeqCst);
        let ended = tokio::time::timeout(grace, started.task).await;
        let error = ended.expect("it ends").unwrap().unwrap_err();
        let [Cause::Election(LeaderElectionError::WorkNotStopped { lease })] = error.causes() else {
            panic!("{error:?}");
        };
        assert_eq!(lease, "default/test");
        assert_eq!(scene.holder(), "first", "it runs out");
        let ended = if grace.is_zero() { "" } else { "leading ends" };
        assert_eq!(scene.diary.read(), ended);
    }
}

#[tokio::test(start_paused = true)]
async fn the_program_ends_soon_after_aborted_work() {
    for stops in [false, true] {
        let scene = Scene::new();
        let manager = scene.candidate("first").graceful_shutdown_timeout(seconds(100));
        manager.add("stubborn", RunWhen::Leading, stubborn).unwrap();
        manager.add("around", RunWhen::AroundInformers, stubborn).unwrap();
        let started = Started::new(manager);
        sleep(seconds(5)).await;
        scene.connected.store(false, Ordering::SeqCst);
        if stops {
            started.shutdown.cancel();
        }
        let began = Instant::now();
        let error = started.task.await.unwrap().unwrap_err();
        assert!(began.elapsed() <= seconds(17), "{:?}", began.elapsed());
        let [Cause::Election(_), Cause::NotStopped { names, timeout }] = error.causes() else {
            panic!("{error:?}");
        };
        assert_eq!(
            (names.as_slice(), *timeout),
            (&["around".to_owned()][..], seconds(2))
        );
    }
}

// Nobody renews the lease then, and nobody would tell that it has run out.
#[tokio::test(start_paused = true)]
async fn an_election_that_panics_ends_the_run() {
    for leads in [true, false] {
        let scene = Scene::new();
        let first = (!leads).then(|| Started::new(scene.candidate("first")));
        sleep(seconds(5)).await;
        let manager = scene.candidate("second");
        let present = Present(scene.diary.clone());
        let works = async move |_| {
            let _present = present;
            std::future::pending::<Result<(), Infallible>>().await
        };
        manager.add("works", RunWhen::Leading, works).unwrap();
        let started = Started::new(manager);
        sleep(seconds(5)).await;
        scene.panics.store(true, Ordering::SeqCst);
        // Before the lease runs out.
        let ended = tokio::time::timeout(seconds(10), started.task).await;
        let error = ended.expect("it ends").unwrap().unwrap_err();
        let [Cause::Election(LeaderElectionError::WorkPanicked { message })] = error.causes() else {
            panic!("{error:?}");
        };
        assert_eq!(message, "the client is broken");
        tokio::task::yield_now().await;
        assert_eq!(scene.diary.read(), "gone");
        drop(first);
    }
}
