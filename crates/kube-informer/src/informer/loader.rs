//! Reads an informer's saved cache at its start.

use super::Shared;
use super::processor::identity_of;
use super::saved::SavedPartitions;
use crate::form::Decode;
use crate::informer::ShardSet;
use crate::object::{ObjectKey, ResourceVersion};
use crate::reflector::{Saved, SavedRun};
use crate::warm_start::file::{self, LoadError, Loaded, Objects, SavedPartition};
use crate::warm_start::told::Told;
use crate::warm_start::{CacheFile, Progress, directory};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};
use std::{fs, io};
use tokio::sync::OnceCell;

/// How long a disk may take for one block of a file. An informer whose disk hangs starts without.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// An informer's cache file, and what its objects have in common.
pub(super) struct WarmCache {
    pub(super) file: CacheFile,
    pub(super) progress: Arc<Progress>,
    /// The seed of fingerprints, which must be that of the file.
    pub(super) seed: u64,
    /// The identity of the server, once it has said it.
    pub(super) server: Arc<OnceCell<Option<String>>>,
    /// The versions in the file, by the names of the partitions.
    pub(super) saved: Vec<(String, ResourceVersion)>,
    /// The number of deleted objects in the file.
    pub(super) untold: usize,
    /// Those of them that are told again by this run, until the file is replaced: their keys and uids.
    pub(super) deleted: HashSet<(ObjectKey, Option<String>)>,
    /// What is not told again.
    pub(super) told: Told,
    /// The wanted partitions that the file has, whether they are restored or not. Until the server has confirmed all of them, the file is what they are compared
    /// with at the next start, so it is not replaced.
    pub(super) restored: Vec<String>,
}

/// How far the reading of a file on a blocking thread is.
#[derive(Default)]
struct Reading {
    blocks: AtomicU64,
    given_up: AtomicBool,
}

impl Reading {
    fn blocks(&self) -> u64 {
        self.blocks.load(Ordering::Relaxed)
    }

    /// A block was read. Returns whether to go on.
    fn goes_on(&self) -> bool {
        self.blocks.fetch_add(1, Ordering::Relaxed);
        !self.given_up.load(Ordering::Relaxed)
    }
}

/// Ends the reading at the next block on drop.
#[derive(Default)]
struct GiveUpOnDrop(Arc<Reading>);

impl Drop for GiveUpOnDrop {
    fn drop(&mut self) {
        self.0.given_up.store(true, Ordering::Relaxed);
    }
}

/// Reads an informer's file. Without one, or with one that cannot be used, nothing is restored.
pub(super) async fn load<O: Decode>(
    file: CacheFile,
    progress: Arc<Progress>,
    shared: &Arc<Shared<O>>,
    decoder: &Arc<O::Decoder>,
) -> (WarmCache, SavedPartitions<O>) {
    let mut cache = WarmCache {
        file,
        progress,
        seed: 0,
        server: Arc::default(),
        saved: Vec::new(),
        untold: 0,
        deleted: HashSet::new(),
        told: Told::default(),
        restored: Vec::new(),
    };
    let mut saved = SavedPartitions::default();
    match read_in_time(&cache.file, shared, decoder).await {
        Ok((loaded, told)) => {
            let saved_at = SystemTime::UNIX_EPOCH + Duration::from_millis(loaded.head.saved_at);
            cache.restore(loaded, told, shared.partitions.shards(), &mut saved);
            match saved.is_empty() {
                true if cache.told.panicked => {
                    let why = "a handler panicked before the server had confirmed the file";
                    cache.progress.cold(why.to_owned());
                }
                true => {
                    let why = "the file has none of the wanted namespaces";
                    cache.progress.cold(why.to_owned());
                }
                false => cache.progress.loaded(saved.names().cloned().collect(), saved_at),
            }
        }
        Err(reason) => {
            let (file, resource) = (cache.file.path.display(), &*shared.resource);
            tracing::info!(resource, %file, reason, "the cache starts empty");
            cache.progress.cold(reason);
            cache.seed = rand::random();
        }
    }
    (cache, saved)
}

/// The file, and what was told since it was written; or why there is nothing to be restored.
async fn read_in_time<O: Decode>(
    file: &CacheFile,
    shared: &Shared<O>,
    decoder: &Arc<O::Decoder>,
) -> Result<(Loaded<O>, Told), String> {
    let wanted = shared.partitions.names();
    // Which shards are added, and when, is not known yet.
    let is_sharded = shared.partitions.shards().is_some();
    let (path, identity, decoder) = (file.path.clone(), file.identity.clone(), decoder.clone());
    let reading = GiveUpOnDrop::default();
    let progress_of_reading = reading.0.clone();
    let mut read = tokio::task::spawn_blocking(move || {
        directory::remove_leftovers(&path);
        let wanted = |name: &str| is_sharded || wanted.contains(name);
        let goes_on = || progress_of_reading.goes_on();
        let loaded = read::<O>(&path, &identity, wanted, goes_on, &decoder)?;
        let told = Told::read(&path, loaded.file);
        Ok::<_, LoadError>((loaded, told))
    });
    loop {
        let before = reading.0.blocks();
        match tokio::time::timeout(READ_TIMEOUT, &mut read).await {
            Ok(Ok(loaded)) => return loaded.map_err(|error| error.to_string()),
            Ok(Err(_)) => return Err("reading the file failed".to_owned()),
            Err(_) if reading.0.blocks() > before => {}
            Err(_) => {
                let seconds = READ_TIMEOUT.as_secs();
                return Err(format!("nothing of the file could be read for {seconds} s"));
            }
        }
    }
}

impl WarmCache {
    /// Takes over what was read, as far as it is wanted and this run may have it.
    fn restore<O: Decode>(
        &mut self,
        Loaded { head, objects, .. }: Loaded<O>,
        told: Told,
        set: Option<&ShardSet>,
        saved: &mut SavedPartitions<O>,
    ) {
        self.seed = head.seed;
        // A file that does not say of which server it is can be bettered even if nothing changes.
        if head.server.is_some() {
            self.saved = versions_of(&head.partitions);
        }
        let run = Arc::new(SavedRun {
            server: head.server,
            server_now: self.server.clone(),
            newest: newest_of(&head.partitions),
            disproof: OnceLock::new(),
            progress: self.progress.clone(),
        });
        for (partition, objects) in head.partitions.into_iter().zip(objects) {
            let Some(Objects {
                mut entries,
                mut deleted,
            }) = objects
            else {
                continue;
            };
            self.untold += deleted.len();
            self.restored.push(partition.name.clone());
            deleted.retain(|object| !told.has(&O::key_of(object), O::uid_of(object)));
            self.deleted.extend(deleted.iter().map(identity_of::<O>));
            if told.panicked {
                entries.clear();
            }
            let one = Saved {
                name: partition.name,
                entries,
                deleted,
                version: partition.version,
                complete: partition.complete && !told.panicked,
                run: run.clone(),
            };
            if !(told.panicked && one.deleted.is_empty()) {
                saved.add(one, set);
            }
        }
        self.told = told;
    }
}

/// The names and versions of partitions, sorted.
pub(super) fn versions_of(partitions: &[SavedPartition]) -> Vec<(String, ResourceVersion)> {
    let versions = partitions.iter();
    let versions = versions.map(|saved| (saved.name.clone(), saved.version.clone()));
    let mut versions: Vec<_> = versions.collect();
    versions.sort_by(|(a, _), (b, _)| a.cmp(b));
    versions
}

/// The highest version. Versions that cannot be compared are not higher.
fn newest_of(partitions: &[SavedPartition]) -> ResourceVersion {
    let versions = partitions.iter().map(|saved| &saved.version);
    let newest = versions.reduce(|newest, version| if version > newest { version } else { newest });
    newest.cloned().unwrap_or_else(|| ResourceVersion::from(0))
}

fn read<O: Decode>(
    path: &std::path::Path,
    identity: &str,
    wanted: impl Fn(&str) -> bool,
    goes_on: impl Fn() -> bool,
    decoder: &Arc<O::Decoder>,
) -> Result<Loaded<O>, LoadError> {
    // Opening something else than a file, a pipe say, may wait for ever.
    if !fs::metadata(path)?.is_file() {
        return Err(LoadError::NotOurs);
    }
    let file = fs::File::open(path)?;
    let length = file.metadata()?.len();
    file::read(
        io::BufReader::new(file),
        length,
        identity,
        wanted,
        goes_on,
        decoder,
    )
}
