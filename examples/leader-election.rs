//! Two replicas, of which one works. The first leader is asked to stop after five seconds, and the other takes over.
//!
//! Run it twice at the same time, and there are four.

use kube_controller::leader_election::{
    LeaderElectionConfig, LeaderElectionError, LeaderElector, Leadership, unique_identity,
};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Works until the leadership ends. A controller would run its workers here.
#[allow(clippy::print_stdout)] // an example talks
async fn work(name: &'static str, leadership: Leadership) {
    println!("{name}: leads");
    while leadership
        .token()
        .run_until_cancelled(tokio::time::sleep(Duration::from_secs(1)))
        .await
        .is_some()
    {
        println!("{name}: works");
    }
    println!("{name}: has stopped");
}

/// One replica, usually a process of its own. It stands for election until the shutdown.
fn start(
    name: &'static str,
    client: kube::Client,
    shutdown: CancellationToken,
) -> anyhow::Result<JoinHandle<Result<(), LeaderElectionError>>> {
    let config = LeaderElectionConfig::new("default", "leader-election-example", unique_identity());
    let mut elector = LeaderElector::new(client, config)?;
    Ok(tokio::spawn(async move {
        while !shutdown.is_cancelled() {
            match elector
                .run(shutdown.clone(), move |leadership| work(name, leadership))
                .await
            {
                Ok(_) | Err(LeaderElectionError::Lost { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }))
}

/// Waits for SIGTERM, which ends a pod, or Ctrl-C.
async fn terminated() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            _ = terminate.recv() => Ok(()),
            interrupted = tokio::signal::ctrl_c() => interrupted,
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let client = kube::Client::try_default().await?;
    let (stop_first, stop_second) = (CancellationToken::new(), CancellationToken::new());
    let first = start("first", client.clone(), stop_first.clone())?;
    let second = start("second", client, stop_second.clone())?;

    let mut terminated = std::pin::pin!(terminated());
    tokio::select! {
        ended = &mut terminated => ended?,
        () = tokio::time::sleep(Duration::from_secs(5)) => {
            stop_first.cancel();
            terminated.await?;
        }
    }
    stop_first.cancel();
    stop_second.cancel();
    first.await??;
    second.await??;
    Ok(())
}
