//! Saves an informer's cache from time to time and at its end; `loader` reads it.

use super::Shared;
use super::loader::{WarmCache, versions_of};
use super::partitions::WHOLE;
use super::processor::{Untold, identity_of};
use super::reflectors::ReflectorFactory;
use crate::form::Decode;
use crate::object::{Partition, ResourceVersion};
use crate::store::Snapshot;
use crate::warm_start::directory;
use crate::warm_start::file::{self, Head, SavedPartition};
use crate::warm_start::told::Told;
use crate::warm_start::turns::{Counted, STALLED, Writing};
use std::collections::HashSet;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long the server may take to say who it is before the cache is saved without asking.
const IDENTITY_TIMEOUT: Duration = Duration::from_secs(10);
/// The same for an informer that ends.
const LAST_IDENTITY_TIMEOUT: Duration = Duration::from_millis(500);
/// How long the last save waits for the handlers to return, so that what they are being told counts as told.
const HANDLERS_TIMEOUT: Duration = Duration::from_secs(5);
/// So many deleted objects are saved, or as many as there are objects if these are more. A handler that takes nothing, run after
/// run, must not make the file grow for ever.
const LEAST_DELETED: usize = 1024;
/// How often an informer is saved whose version moves on while its objects do not change.
const IDLE_INTERVAL: Duration = Duration::from_secs(3600);

/// The server is another one than at the start.
struct AnotherServer;

/// Saves an informer's cache.
pub(super) struct Saver<O: Decode> {
    cache: WarmCache,
    shared: Arc<Shared<O>>,
    reflectors: Arc<ReflectorFactory<O>>,
    /// How long the last attempt to save took.
    took: Duration,
    /// The number of attempts.
    saves: u64,
    /// When the last save was, and of which generation of the store.
    last: Option<(Instant, u64)>,
    /// Whether the server is another one than at the start.
    ended: bool,
}

/// The task that saves an informer's cache, if it is saved.
pub(super) struct Saving<O: Decode> {
    task: JoinSet<Saver<O>>,
    /// Cancelled for the last save, which must be after the last change of the store.
    last: CancellationToken,
    shared: Arc<Shared<O>>,
}

impl<O: Decode> Saving<O> {
    pub(super) fn start(
        cache: Option<WarmCache>,
        shared: &Arc<Shared<O>>,
        reflectors: &Arc<ReflectorFactory<O>>,
    ) -> Self {
        let (mut task, last) = (JoinSet::new(), CancellationToken::new());
        if let Some(cache) = cache {
            let saver = Saver {
                cache,
                shared: shared.clone(),
                reflectors: reflectors.clone(),
                took: Duration::ZERO,
                saves: 0,
                last: None,
                ended: false,
            };
            task.spawn(saver.run(last.clone()));
        }
        Self {
            task,
            last,
            shared: shared.clone(),
        }
    }

    /// Waits for a panic of the task, and reports it. Cancel safe.
    pub(super) async fn failed(&mut self) {
        match self.task.join_next().await {
            Some(ended) => _ = self.saver(ended),
            None => std::future::pending().await,
        }
    }

    /// Saves for the last time. What handlers are being told counts as told if they return in time, which is when `returned` is
    /// cancelled.
    pub(super) async fn finish(mut self, untold: Untold<O>, returned: &CancellationToken) {
        self.last.cancel();
        let saver = self.task.join_next().await;
        let Some(saver) = saver.and_then(|ended| self.saver(ended)) else {
            return;
        };
        // Too late: they are told again by the next run.
        let _ = tokio::time::timeout(HANDLERS_TIMEOUT, returned.cancelled()).await;
        self.task.spawn(saver.last(self.last.clone(), untold));
        let ended = self.task.join_next().await;
        ended.and_then(|ended| self.saver(ended));
    }

    /// What the task returned; a panic is reported.
    fn saver(&self, ended: Result<Saver<O>, JoinError>) -> Option<Saver<O>> {
        ended
            .inspect_err(|_| self.not_saved("the task that saves the cache has panicked".to_owned()))
            .ok()
    }

    fn not_saved(&self, why: String) {
        tracing::warn!(resource = self.shared.resource, "{why}");
        if let Some(progress) = &self.shared.warm_start {
            progress.not_saved(why);
        }
    }
}

impl<O: Decode> Saver<O> {
    /// Saves from time to time, until `last` is cancelled.
    async fn run(mut self, last: CancellationToken) -> Self {
        let synced = self.shared.partitions.synced();
        // An error means that the informer has stopped; then there will be a last save.
        let first = tokio::time::timeout(self.cache.file.interval, synced);
        last.run_until_cancelled(first).await;
        let (turns, interval) = (self.cache.file.turns.clone(), self.cache.file.interval);
        // A save that has begun is completed: a second one beside it could be overtaken by it.
        while let Some(turn) = last.run_until_cancelled(turns.next()).await {
            let saves = self.saves;
            self.save(&last, None).await;
            let saved = self.saves > saves;
            turn.end(if saved { self.took } else { Duration::ZERO });
            last.run_until_cancelled(tokio::time::sleep(interval)).await;
        }
        self
    }

    /// Saves for the last time: the store does not change any more, and no handler is called again.
    async fn last(mut self, last: CancellationToken, untold: Untold<O>) -> Self {
        self.save(&last, Some(&untold)).await;
        self
    }

    /// The identity of the server; `None` if it does not tell. If it does not answer in time, it is the one that it was. There is
    /// less time when `last` is cancelled.
    ///
    /// # Errors
    /// It is another one than at the start.
    async fn server(&self, last: &CancellationToken) -> Result<Option<String>, AnotherServer> {
        // The identity depends on no namespace, so any of those that are selected will do.
        let names = self.shared.partitions.names();
        let name = names.first().map_or(WHOLE, |name| &**name);
        let source = self.reflectors.source.partition(name, None);
        let patience = async {
            let question = tokio::time::sleep(IDENTITY_TIMEOUT);
            if last.run_until_cancelled(question).await.is_none() {
                tokio::time::sleep(LAST_IDENTITY_TIMEOUT).await;
            }
        };
        let now = tokio::select! {
            biased;
            answer = source.server_identity() => answer.ok(),
            () = patience => None,
        };
        // It does not tell any more, so it may be another one.
        if matches!(now, Some(None)) {
            return Ok(None);
        }
        let now = now.flatten();
        if now.is_some() && !self.cache.server.initialized() {
            // An error means that a reflector has just asked, too.
            let _ = self.cache.server.set(now.clone());
        }
        let first = self.cache.server.get().cloned().flatten();
        match (&first, &now) {
            (Some(first), Some(now)) if first != now => Err(AnotherServer),
            _ => Ok(first),
        }
    }

    /// Saves the cache if it has changed. `stopped` is what handlers have not been told of, if the informer has stopped.
    async fn save(&mut self, last: &CancellationToken, stopped: Option<&Untold<O>>) {
        if self.ended {
            return;
        }
        if self.is_unconfirmed() {
            if let Some(untold) = stopped {
                self.note_told(untold).await;
            }
            return;
        }
        let store = &self.shared.store;
        let generation = self.shared.processor.generation();
        let (snapshot, untold) = match stopped {
            None => self.shared.processor.snapshot(store),
            Some(untold) => (store.snapshot(), untold.deleted()),
        };
        let (partitions, saved) = self.partitions(&snapshot);
        let versions = versions_of(&saved);
        let mut deleted = self.in_partitions(untold, &partitions);
        let too_many = deleted.len().saturating_sub(snapshot.len().max(LEAST_DELETED));
        if too_many > 0 {
            tracing::warn!(
                resource = self.shared.resource,
                "handlers are far behind: {too_many} deletions that they were not told of are not saved"
            );
            deleted.drain(..too_many);
        }
        // At the same versions, the only difference can be that handlers have been told more. What was told goes with the old file.
        let same = (&versions, deleted.len()) == (&self.cache.saved, self.cache.untold)
            && self.cache.told.is_empty();
        let names = |versions: &[(String, ResourceVersion)]| {
            let names = versions.iter().map(|(name, _)| name.clone());
            names.collect::<Vec<_>>()
        };
        let is_idle = self.last.is_some_and(|(at, of)| {
            let alike = names(&versions) == names(&self.cache.saved) && deleted.len() == self.cache.untold;
            of == generation && alike && at.elapsed() < IDLE_INTERVAL
        });
        if partitions.is_empty() || same || (is_idle && stopped.is_none()) {
            return;
        }
        // After the snapshot: what is in it came from a server before.
        let Ok(server) = self.server(last).await else {
            return self.end().await;
        };
        let untold = deleted.len();
        let (at, started) = (SystemTime::now(), Instant::now());
        let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let head = Head {
            identity: self.cache.file.identity.clone(),
            server,
            seed: self.cache.seed,
            saved_at: since.as_millis() as u64,
            partitions: saved,
        };
        let (path, decoder) = (self.cache.file.path.clone(), self.reflectors.decoder.clone());
        let write = move |writing: Arc<Writing>| {
            let began = Instant::now();
            let replaced = directory::replace(&path, &writing, |file| {
                let file = Counted::new(file, writing.clone());
                file::write::<O>(file, head, &partitions, &snapshot, &deleted, &decoder)
            })?;
            // It has nothing any more that must not be told again.
            if !writing.is_given_up() {
                Told::remove(&path);
            }
            Ok((replaced, began.elapsed()))
        };
        let turns = self.cache.file.turns.clone();
        let written = turns.write(STALLED, stopped.is_some(), write).await;
        self.took = started.elapsed();
        self.saves += 1;
        match written {
            Ok((written, took)) => {
                self.took = took;
                (self.cache.saved, self.cache.untold) = (versions, untold);
                self.cache.deleted = HashSet::new();
                self.cache.told = Told::of(written.map_or(0, |written| written.file));
                self.last = Some((started, generation));
                let bytes = written.map_or(0, |written| written.bytes);
                self.cache.progress.saved(at, self.took, bytes);
                tracing::debug!(resource = self.shared.resource, bytes, took = ?self.took, "the cache was saved");
            }
            Err(error) => {
                let (file, resource) = (self.cache.file.path.display(), &*self.shared.resource);
                tracing::warn!(resource, %file, %error, "the cache could not be saved");
                self.cache.progress.not_saved(format!("{file}: {error}"));
            }
        }
    }

    /// Notes what the next run must not tell again, although the file stays as it is.
    async fn note_told(&mut self, untold: &Untold<O>) {
        let mut told = self.cache.told.clone();
        told.panicked |= untold.has_panic();
        let unbearable = untold.unbearable();
        let untold: HashSet<_> = untold.deleted().iter().map(identity_of::<O>).collect();
        let (store, partitions) = (&self.shared.store, &self.shared.partitions);
        for (key, uid) in &self.cache.deleted {
            // What the store still has, it has had again, and will delete; what was not restored yet, nobody was told of.
            let is_held = store.get(key.as_str()).is_some_and(|held| {
                let held = (key.clone(), O::uid_of(&held).map(str::to_owned));
                self.cache.deleted.contains(&held)
            });
            let partition = partitions.partition_of(key.namespace(), uid.as_deref());
            let restored = partition.is_some_and(|partition| partitions.is_restored(partition));
            let deletion = (key.clone(), uid.clone());
            if unbearable.contains(&deletion) || restored && !is_held && !untold.contains(&deletion) {
                told.deletions.insert((key.to_string(), uid.clone()));
            }
        }
        if told == self.cache.told {
            return;
        }
        self.cache.told = told.clone();
        let path = self.cache.file.path.clone();
        let write = move |writing: Arc<Writing>| told.write(&path, &writing);
        if let Err(error) = self.cache.file.turns.clone().write(STALLED, true, write).await {
            let (file, resource) = (self.cache.file.path.display(), &*self.shared.resource);
            tracing::warn!(resource, %file, %error, "what handlers were told could not be saved");
        }
    }

    /// Whether the file holds something that the server has not confirmed yet, and that would be lost with it.
    fn is_unconfirmed(&self) -> bool {
        let partitions = &self.shared.partitions;
        if partitions.shards().is_some() {
            return self.cache.progress.is_pending() || partitions.has_unconfirmed_shards();
        }
        self.cache.restored.iter().any(|name| partitions.waits_for(name))
    }

    /// Deleted objects, each once, with the number of its partition among those that are saved.
    fn in_partitions(&self, deleted: Vec<O::Handle>, saved: &[Partition]) -> Vec<(u32, O::Handle)> {
        let mut seen = HashSet::new();
        let deleted = deleted.into_iter().filter_map(|object| {
            let key = O::key_of(&object);
            let uid = O::uid_of(&object);
            let partition = self.shared.partitions.partition_of(key.namespace(), uid)?;
            let number = saved.iter().position(|saved| *saved == partition)?;
            let uid = uid.map(str::to_owned);
            seen.insert((key, uid)).then_some((number as u32, object))
        });
        deleted.collect()
    }

    /// The partitions to save, with the same in words. What is not confirmed may be of another server than the one that would
    /// be saved with it.
    fn partitions(&self, snapshot: &Snapshot<O::Handle>) -> (Vec<Partition>, Vec<SavedPartition>) {
        let stale = snapshot.stale_partitions();
        let partitions = snapshot.resource_versions().filter_map(|(partition, version)| {
            let saved = SavedPartition {
                name: self.shared.partitions.synced_name(partition)?,
                version: version?.clone(),
                complete: !stale.contains(&partition),
                objects: 0,
            };
            Some((partition, saved))
        });
        partitions.unzip()
    }

    /// The server is another one than at the start: nothing tells which objects are of which.
    async fn end(&mut self) {
        self.ended = true;
        let why = "the server is another cluster than at the start of the informer";
        tracing::warn!(
            resource = self.shared.resource,
            "{why}; its cache is not saved any more"
        );
        self.cache.progress.not_saved(why.to_owned());
        let path = self.cache.file.path.clone();
        let _ = tokio::task::spawn_blocking(move || fs::remove_file(path)).await;
    }
}
