//! One target as a stream of what there is to print of it.

use super::news::{News, Told};
use crate::cmd::cache;
use crate::feed::{Feed, Step};
use futures::Stream;
use kube::core::DynamicObject;
use kube_informer::reflector::ReflectorStatus;
use kube_informer::{Notification, Partition, SharedInformer};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// How long the initial state may take before it is told why. The next time is twice as far away, and so on.
const UNSYNCED: Duration = Duration::from_secs(3);
/// How often it is checked whether an outage is over: whether all changes of a list have been told, or a watch has resumed.
const ENDING: Duration = Duration::from_millis(50);

/// Something to print.
pub(super) enum Happened {
    Change(Notification<DynamicObject>),
    /// The next initial adds are of objects that were saved, which the server has not confirmed.
    Restored,
    /// All existing objects have been told.
    Synced,
    /// The initial state is not complete yet, for this reason.
    Unsynced(String),
    News(News),
}

/// An informer whose changes and status are told in the order in which they happened.
pub(super) struct Following {
    informer: SharedInformer<DynamicObject>,
    feed: Feed<DynamicObject>,
    status: watch::Receiver<ReflectorStatus>,
    told: Told,
    /// When to tell next that the initial state is not complete, and how long after the time before. `None` once it is.
    unsynced: Option<(Instant, Duration)>,
    /// Whether anything was told yet.
    started: bool,
    happened: VecDeque<Happened>,
    /// Whether unchanged objects are told again.
    resyncs: bool,
}

impl Following {
    /// Subscribes to the informer.
    ///
    /// # Errors
    /// The informer has stopped.
    pub(super) fn new(informer: SharedInformer<DynamicObject>, resync: Duration) -> anyhow::Result<Self> {
        Ok(Self {
            feed: Feed::new(informer.subscribe("print")?),
            status: informer.reflector_status(Partition::SINGLE),
            informer,
            told: Told::default(),
            unsynced: Some((Instant::now() + UNSYNCED, UNSYNCED)),
            started: false,
            happened: VecDeque::new(),
            resyncs: !resync.is_zero(),
        })
    }

    /// The same of an informer over shards, whose failures are not told here: it has many reflectors, which come and go.
    ///
    /// # Errors
    /// The informer has stopped.
    pub(super) fn of_shards(
        informer: SharedInformer<DynamicObject>,
        resync: Duration,
    ) -> anyhow::Result<Self> {
        let status = informer.reflector_status(Partition::new(u32::MAX));
        let following = Self::new(informer, resync)?;
        Ok(Self { status, ..following })
    }

    /// What happens, until the informer has stopped; each with the target's number.
    pub(super) fn events(self, target: usize) -> impl Stream<Item = (usize, Happened)> + Send {
        futures::stream::unfold(self, move |mut following| async move {
            let happened = following.next().await?;
            Some(((target, happened), following))
        })
    }

    async fn next(&mut self) -> Option<Happened> {
        while self.happened.is_empty() {
            let (ending, unsynced) = (self.told.is_ending(), self.unsynced);
            tokio::select! {
                step = self.feed.next() => self.step(step?),
                Ok(()) = self.status.changed() => self.read_status(),
                () = tokio::time::sleep(ENDING), if ending => self.read_status(),
                () = until(unsynced) => self.tell_unsynced(),
            }
            let caught_up = self.told.caught_up(&self.informer, &self.feed);
            self.happened.extend(caught_up.map(Happened::News));
        }
        self.happened.pop_front()
    }

    fn read_status(&mut self) {
        let status = self.status.borrow_and_update().clone();
        let news = self.told.news(&status, || self.informer.status().applied);
        self.happened.extend(news.into_iter().map(Happened::News));
    }

    fn step(&mut self, step: Step<DynamicObject>) {
        // A list is counted in the status before its changes are passed on.
        if self.status.has_changed().unwrap_or_default() {
            self.read_status();
        }
        if !std::mem::replace(&mut self.started, true) && cache::is_restored(&self.informer) {
            self.happened.push_back(Happened::Restored);
        }
        self.happened.push_back(match step {
            // Of another time are only the cells that came with it.
            Step::Change(Notification::Update { old, new }) if !self.resyncs && is_same(&old, &new) => {
                return;
            }
            Step::Change(change) => {
                self.told.change(&change);
                Happened::Change(change)
            }
            Step::Synced => {
                self.told.synced(&self.status.borrow());
                self.unsynced = None;
                Happened::Synced
            }
        });
    }

    fn tell_unsynced(&mut self) {
        let why = self
            .informer
            .unsynced()
            .into_iter()
            .map(|unsynced| unsynced.why)
            .next();
        self.happened.extend(why.map(Happened::Unsynced));
        self.unsynced = self
            .unsynced
            .map(|(_, after)| (Instant::now() + after * 2, after * 2));
    }
}

/// Whether two objects are the same state of one.
pub(super) fn is_same(one: &DynamicObject, other: &DynamicObject) -> bool {
    let version = |object: &DynamicObject| object.metadata.resource_version.clone();
    version(one).is_some() && version(one) == version(other)
}

async fn until(time: Option<(Instant, Duration)>) {
    match time {
        Some((time, _)) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}
