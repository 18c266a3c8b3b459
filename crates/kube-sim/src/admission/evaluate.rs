//! Evaluations that others must not wait for.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::api::Api;
use crate::schema;

/// Stops an evaluation when nobody waits for it any more.
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Evaluates something here if that is light, otherwise where work may block. In a simulated run it is always evaluated here, where
/// nobody else waits: which of two threads ends first would be chance.
///
/// # Cancel safety
///
/// If this is dropped, the evaluation ends soon.
pub(super) async fn evaluated<T: Send + 'static>(
    api: &Api,
    evaluate: impl Fn() -> T + Send + Sync + 'static,
) -> T {
    if api.is_simulated {
        return evaluate();
    }
    if let Some(light) = schema::lightly(&evaluate) {
        return light;
    }
    let flag = Arc::new(AtomicBool::new(false));
    let stop = Stop(flag.clone());
    let blocking = tokio::task::spawn_blocking(move || schema::until_stopped(flag, &evaluate));
    let evaluated = blocking.await;
    drop(stop);
    match evaluated {
        Ok(Some(evaluated)) => evaluated,
        // Only the flag stops it, which is set by nobody but this.
        Ok(None) => unreachable!("an evaluation is stopped by who waits for it"),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime is shutting down, and nobody gets the answer.
            Err(_) => std::future::pending().await,
        },
    }
}
