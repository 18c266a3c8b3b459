//! Informers of many kinds, which hold objects packed, and their changes as one stream.

use crate::feed::{Feed, Step};
use crate::target::Target;
use futures::stream::{BoxStream, SelectAll};
use futures::{FutureExt as _, StreamExt as _};
use kube::core::DynamicObject;
use kube_informer::form::Packed;
use kube_informer::informer::InformerStatus;
use kube_informer::low_level::wire::Encoding;
use kube_informer::reflector::{ReflectorOptions, ReflectorStatus};
use kube_informer::{Delivery, FieldPlan, HandlerOptions, Partition, SharedInformer};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// How objects are held: as compressed JSON, with managedFields, which tell who changed what.
pub(crate) type Form = Packed<DynamicObject>;

/// The bytes that a cache takes beside an object for its key and its place in the store.
pub(crate) const BESIDE: u64 = 122;

/// What happened to a target, by its number.
pub(crate) type Happened = (usize, Step<Form>);

/// The time that the informers have to stop after a signal.
const STOP: Duration = Duration::from_secs(2);
/// The number of kinds that are listed at a time, and for how long one of them keeps others from it.
const STARTS: usize = 16;
const START: Duration = Duration::from_secs(10);
/// The number of changes of each informer that wait at most; changes of one object are merged then.
const CAPACITY: usize = 100_000;

/// Informers while they run, one for each target.
pub(crate) struct Informers {
    events: SelectAll<BoxStream<'static, Happened>>,
    informers: Vec<SharedInformer<Form>>,
    running: JoinSet<anyhow::Result<()>>,
}

impl Informers {
    /// Starts them, some at a time. They stop when the token is cancelled.
    ///
    /// # Errors
    /// One has stopped already.
    pub(crate) fn start(
        targets: &[Target],
        options: &ReflectorOptions,
        stop: &CancellationToken,
    ) -> anyhow::Result<Self> {
        let starts = Arc::new(Semaphore::new(STARTS));
        let mut informers = Self {
            events: SelectAll::new(),
            informers: Vec::new(),
            running: JoinSet::new(),
        };
        for (number, target) in targets.iter().enumerate() {
            let (informer, runner) =
                SharedInformer::<Form>::builder(target.source().encoding(Encoding::Json))
                    .reflector_options(options.clone())
                    .plan(FieldPlan::default())
                    .stop_timeout(STOP)
                    .build();
            let delivery = Delivery::Coalesced { capacity: CAPACITY };
            let feed = Feed::new(informer.subscribe(HandlerOptions::named("changes").delivery(delivery))?);
            let events = futures::stream::unfold(feed, move |mut feed| async move {
                let step = feed.next().await?;
                Some(((number, step), feed))
            });
            informers.events.push(events.boxed());
            let (stop, starts, started) = (stop.clone(), starts.clone(), informer.clone());
            let mut status = informer.reflector_status(Partition::SINGLE);
            informers.running.spawn(async move {
                let Some(permit) = stop.run_until_cancelled(starts.acquire_owned()).await else {
                    return Ok(());
                };
                let listed = async {
                    // Others need not wait for one that is refused.
                    let refused = status.wait_for(ReflectorStatus::is_refused);
                    tokio::select! {
                        _ = started.synced() => {}
                        _ = refused => {}
                        () = tokio::time::sleep(START) => {}
                    }
                    drop(permit);
                    std::future::pending::<()>().await;
                };
                tokio::select! {
                    ran = runner.run(stop.clone()) => Ok(ran?),
                    () = listed => Ok(()),
                }
            });
            informers.informers.push(informer);
        }
        Ok(informers)
    }

    /// What happens next; `None` when all informers have stopped. It yields now and then, also while much waits to be read, so
    /// that a time limit or a signal around the caller is noticed. Cancel safe.
    pub(crate) async fn next(&mut self) -> Option<Happened> {
        tokio::task::consume_budget().await;
        self.events.next().await
    }

    /// What has happened already.
    pub(crate) fn ready(&mut self) -> Option<Happened> {
        self.events.next().now_or_never().flatten()
    }

    /// The status of each.
    pub(crate) fn statuses(&self) -> impl Iterator<Item = InformerStatus> {
        self.informers.iter().map(SharedInformer::status)
    }

    /// Waits until all informers have stopped.
    ///
    /// # Errors
    /// One has failed.
    pub(crate) async fn stopped(&mut self) -> anyhow::Result<()> {
        while let Some(ran) = self.running.join_next().await {
            ran??;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn others_get_their_turn_while_much_waits() {
        let waiting = futures::stream::repeat_with(|| (0, Step::Synced)).take(1000);
        let mut informers = Informers {
            events: SelectAll::from_iter([waiting.boxed()]),
            informers: Vec::new(),
            running: JoinSet::new(),
        };
        tokio::select! {
            biased;
            () = async { while informers.next().await.is_some() {} } => panic!("all of it is read first"),
            () = tokio::task::yield_now() => {}
        }
    }
}
