//! WATCH.
//!
//! A watch is a position in the history of its resource. When the client has read everything so far, the watch reads
//! the changes after its position, writes those that the selector matches, and advances. If there are no changes, it
//! waits for one, for the time of a bookmark, or for its end.
//!
//! # Lagging
//!
//! Nothing is queued for a client that does not read. When the history no longer contains its position, it gets an
//! ERROR event with the status 410 (expired), and the watch ends.
//!
//! # Definitions
//!
//! A watch of custom resources ends when their definition changes or is deleted, as in a real server, after the
//! events of the deletions that result from that.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::{Stream, stream};
use prometheus::IntCounter;
use tokio::sync::watch as signal;
use tokio::time::Instant;

use crate::api::Api;
use crate::api::options::{Start, WatchOptions};
use crate::api::render::{CHUNK, Encoding, EventKind, Form, Render};
use crate::faults::Meeting;
use crate::object::Stored;
use crate::resources::Resource;
use crate::selector::Selector;
use crate::status::StatusError;
use crate::storage::{Change, Snapshot};
use crate::target::Target;
use crate::view;

/// A watch without `timeoutSeconds` ends after one to two times this, as in a real server.
const MIN_TIMEOUT: Duration = Duration::from_secs(1800);
/// The maximum number of changes that are read under the storage's lock at once.
const BATCH: usize = 64;
/// The time between the last bookmark and the end of the watch.
const BEFORE_END: Duration = Duration::from_secs(2);
/// The maximum of timeouts and bookmark intervals, because a clock cannot be advanced by more.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A running watch.
struct Watch {
    api: Arc<Api>,
    target: Target,
    selector: Selector,
    render: Render,
    /// How many events watches of the resource were sent.
    events: IntCounter,
    changed: signal::Receiver<()>,
    initial: VecDeque<Arc<Stored>>,
    /// Whether these objects are still as they are stored.
    unconverted: bool,
    /// What it takes for the present objects.
    stale: Option<Snapshot>,
    /// Whether it says where the initial events end.
    ends_initial: bool,
    phase: Phase,
    /// The resource version up to which everything has been sent.
    position: u64,
    asks_for_bookmarks: bool,
    /// Whether they come at their interval.
    bookmarks: bool,
    next_bookmark: Option<Instant>,
    deadline: Instant,
}

enum Phase {
    /// Waits until the server has reached this resource version, then sends the existing objects.
    Waiting(u64),
    /// Sends the existing objects, and then the end bookmark if true.
    Initial(bool),
    Changes,
    Done,
}

impl Api {
    /// The frames of a watch, many to a chunk.
    pub(crate) fn watch(
        self: Arc<Self>,
        target: Target,
        selector: Selector,
        options: &WatchOptions,
        (form, encoding): (Form, Encoding),
        faults: &Meeting,
    ) -> Result<impl Stream<Item = Bytes> + Send + use<>, StatusError> {
        let timeout = options
            .timeout
            .unwrap_or_else(|| MIN_TIMEOUT.mul_f64(1.0 + fastrand::f64()));
        let mut watch = Watch {
            render: Render::new(&target, form, encoding, self.now())?,
            events: self.metrics.events_of(&target),
            changed: self.storage.subscribe(&target.resource),
            initial: VecDeque::new(),
            unconverted: false,
            stale: faults.stale.clone(),
            ends_initial: !faults.withhold_bookmark,
            phase: Phase::Changes,
            position: 0,
            asks_for_bookmarks: options.bookmarks,
            // A real server does not cache events, and has bookmarks from its cache, but for those that end initial events.
            bookmarks: options.bookmarks && !is_event(&target.resource),
            next_bookmark: None,
            deadline: Instant::now() + timeout.min(LONGEST),
            api: self,
            target,
            selector,
        };
        match options.start {
            Start::After(version) => watch.position = version,
            Start::Now => watch.position = watch.api.storage.resource_version(),
            // A real server also ends these initial events with a bookmark.
            Start::Present => watch.load_present(options.bookmarks),
            Start::Initial(version) => watch.phase = Phase::Waiting(version),
        }
        watch.plan_bookmark();
        Ok(stream::unfold(watch, |mut watch| async move {
            watch.next().await.map(|chunk| (chunk, watch))
        }))
    }
}

fn is_event(resource: &Resource) -> bool {
    matches!(&*resource.group, "" | "events.k8s.io") && resource.plural == "events"
}

impl Watch {
    /// The next chunk; `None` if the watch has ended.
    async fn next(&mut self) -> Option<Bytes> {
        let mut out = BytesMut::new();
        loop {
            // A real server waits for a resource version past the timeout of the watch.
            let waits = matches!(self.phase, Phase::Waiting(_));
            if self.api.closing.is_cancelled() || (!waits && self.deadline <= Instant::now()) {
                self.phase = Phase::Done;
            }
            match self.phase {
                Phase::Done => return None,
                Phase::Waiting(version) => match self.wait_for(version).await? {
                    Ok(()) => self.load_present(self.asks_for_bookmarks),
                    Err(error) => self.fail(&mut out, &error),
                },
                Phase::Initial(end) => {
                    let written = match self.convert_initial().await {
                        Ok(()) => self.write_initial(&mut out, end),
                        Err(error) => Err(error),
                    };
                    self.check(&mut out, written);
                }
                Phase::Changes => {
                    // Checked before the changes are read, so that they include those that came with it.
                    let outdated = self.is_outdated();
                    let written = self.write_changes(&mut out).await;
                    self.check(&mut out, written);
                    if outdated && out.is_empty() {
                        self.phase = Phase::Done;
                    }
                }
            }
            if !out.is_empty() {
                return Some(out.freeze());
            }
            if let Phase::Changes = self.phase {
                self.wait().await;
            }
        }
    }

    /// Whether the definition of a custom resource was changed or deleted.
    fn is_outdated(&self) -> bool {
        let resource = &self.target.resource;
        resource.custom && !self.api.is_current(resource)
    }

    fn selects(&self, object: &Stored) -> bool {
        view::selects(&self.selector, &self.target.resource, object)
    }

    fn load_present(&mut self, end: bool) {
        let newest = || self.api.storage.snapshot(&self.target.resource);
        let snapshot = self.stale.take().unwrap_or_else(newest);
        let prefix = self.target.prefix();
        // What a webhook converts is selected when it has.
        self.unconverted = self.target.resource.definition.webhook.is_some();
        self.initial = snapshot
            .range(&prefix, None)
            .filter(|object| self.unconverted || self.selects(object))
            .cloned()
            .collect();
        self.position = snapshot.resource_version;
        self.phase = Phase::Initial(end);
    }

    async fn convert_initial(&mut self) -> Result<(), StatusError> {
        if std::mem::take(&mut self.unconverted) {
            let initial = self.initial.drain(..).collect();
            let mut converted = self.convert(initial).await?;
            converted.retain(|object| self.selects(object));
            self.initial = converted.into();
        }
        Ok(())
    }

    async fn convert(&self, objects: Vec<Arc<Stored>>) -> Result<Vec<Arc<Stored>>, StatusError> {
        let target = &self.target;
        self.api
            .converted(&target.resource, &target.version, objects)
            .await
    }

    /// Changes of objects in the version that is watched.
    async fn convert_changes(&self, changes: &mut Vec<Change>) -> Result<(), StatusError> {
        if self.target.resource.definition.webhook.is_none() {
            return Ok(());
        }
        changes.retain(|change| self.concerns(change));
        let objects = changes
            .iter()
            .flat_map(|change| [Some(&change.object), change.previous.as_ref()]);
        let objects = objects.flatten().cloned().collect();
        let mut converted = self.convert(objects).await?.into_iter();
        for change in changes {
            let places = [Some(&mut change.object), change.previous.as_mut()];
            for (place, object) in places.into_iter().flatten().zip(&mut converted) {
                *place = object;
            }
        }
        Ok(())
    }

    /// Whether an object is in the namespace that is watched.
    fn concerns(&self, change: &Change) -> bool {
        let namespace = self.target.namespace.as_deref();
        namespace.is_none_or(|namespace| namespace == change.object.namespace())
    }

    fn write_initial(&mut self, out: &mut BytesMut, end: bool) -> Result<(), StatusError> {
        out.reserve(CHUNK);
        while out.len() < CHUNK {
            let Some(object) = self.initial.pop_front() else {
                if end && self.ends_initial {
                    self.render.bookmark(out, self.position, true)?;
                    self.events.inc();
                }
                self.initial = VecDeque::new();
                self.phase = Phase::Changes;
                return Ok(());
            };
            self.render
                .event(out, EventKind::Added, &object, object.resource_version)?;
            self.events.inc();
        }
        Ok(())
    }

    async fn write_changes(&mut self, out: &mut BytesMut) -> Result<(), StatusError> {
        while out.len() < CHUNK {
            // Marked as seen before the changes are read, so that no change is missed in between.
            self.changed.mark_unchanged();
            let (mut changes, position) =
                match self
                    .api
                    .storage
                    .changes_after(&self.target.resource, self.position, BATCH)
                {
                    Ok(found) => found,
                    Err(forgotten) => return Err(StatusError::too_old(self.position, forgotten.oldest)),
                };
            let found = changes.len();
            self.convert_changes(&mut changes).await?;
            for change in &changes {
                self.write_change(out, change)?;
            }
            self.position = position;
            if found < BATCH {
                break;
            }
        }
        if self.next_bookmark.is_some_and(|at| at <= Instant::now()) {
            // A real server does not say that it has reached a version which it has not.
            if self.position <= self.api.storage.resource_version() {
                self.render.bookmark(out, self.position, false)?;
                self.events.inc();
            }
            self.plan_bookmark();
        }
        Ok(())
    }

    /// An object that starts to match is an addition, and one that stops to match a deletion, whatever the change was.
    fn write_change(&mut self, out: &mut BytesMut, change: &Change) -> Result<(), StatusError> {
        if !self.concerns(change) {
            return Ok(());
        }
        let before = change
            .previous
            .as_ref()
            .is_some_and(|previous| self.selects(previous));
        let after = !change.deleted && self.selects(&change.object);
        let (kind, object) = match (before, after, &change.previous) {
            (false, true, _) => (EventKind::Added, &change.object),
            (true, true, _) => (EventKind::Modified, &change.object),
            // The last state that matched, under the resource version of the change.
            (true, false, Some(previous)) => (EventKind::Deleted, previous),
            _ => return Ok(()),
        };
        self.render.set_now(self.api.now());
        self.render.event(out, kind, object, change.resource_version)?;
        self.events.inc();
        Ok(())
    }

    /// Waits for a change, a bookmark's time or the end.
    async fn wait(&mut self) {
        let wake = self.next_bookmark.unwrap_or(self.deadline).min(self.deadline);
        tokio::select! {
            biased;
            () = self.api.closing.cancelled() => self.phase = Phase::Done,
            result = self.changed.changed() => if result.is_err() { self.phase = Phase::Done },
            () = tokio::time::sleep_until(wake) => if wake == self.deadline { self.phase = Phase::Done },
        }
    }

    async fn wait_for(&mut self, version: u64) -> Option<Result<(), StatusError>> {
        tokio::select! {
            () = self.api.closing.cancelled() => None,
            result = self.api.wait_for(version) => Some(result),
        }
    }

    /// Ends the watch if something could not be written.
    fn check(&mut self, out: &mut BytesMut, written: Result<(), StatusError>) {
        if let Err(error) = written {
            self.fail(out, &error);
        }
    }

    fn fail(&mut self, out: &mut BytesMut, error: &StatusError) {
        self.render.error(out, error);
        self.events.inc();
        self.phase = Phase::Done;
    }

    /// Bookmarks come at an interval, and once before the end.
    fn plan_bookmark(&mut self) {
        let now = Instant::now();
        let next = now + self.api.bookmark_interval.min(LONGEST);
        let at = next.min(self.deadline - BEFORE_END.min(self.deadline - now));
        self.next_bookmark = (self.bookmarks && at > now).then_some(at);
    }
}
