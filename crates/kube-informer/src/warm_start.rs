//! Warm start: an informer's cache is saved to a directory, and read at the next start.
//!
//! A program that restarts must list everything again before it can work. With a warm start, the store has
//! the objects of the last save within a fraction of a second. The watch resumes where it was, so the server
//! sends only later changes.
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::Pod;
//! use kube_informer::form::Packed;
//! use kube_informer::warm_start::WarmStart;
//! use kube_informer::{HandlerOptions, Notification, SharedInformerFactory};
//!
//! # async fn example(client: kube::Client) -> Result<(), Box<dyn std::error::Error>> {
//! let factory = SharedInformerFactory::builder(client)
//!     .warm_start(WarmStart::in_directory("/var/cache/shop-controller"))
//!     .build();
//! let pods = factory.informer::<Packed<Pod>>();
//! // Is notified of the pods in the file first, then of what has changed while the program was down.
//! let log = |change: Notification<Packed<Pod>>| println!("{change:?}");
//! pods.add_handler("log", log)?.detach();
//! // Is notified of a pod only when the server has confirmed it.
//! let act = |change: Notification<Packed<Pod>>| println!("{change:?}");
//! pods.add_handler(HandlerOptions::named("act").after_sync(), act)?.detach();
//! factory.start();
//!
//! pods.restored().await?;
//! println!("{} pods, some of which may be gone", pods.store().len());
//! pods.synced().await?;
//! println!("{} pods, confirmed by the server", pods.store().len());
//! factory.shutdown().await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Stale until confirmed
//! Objects from the file are in the store at once, but they are *stale until confirmed*. An informer [has
//! synced](crate::SharedInformer::has_synced) only when the server has confirmed its objects, as without a
//! warm start. So code that waits for the sync, as controllers do, needs no change.
//! [`restored`](crate::SharedInformer::restored) waits only for the file, the
//! [status](crate::informer::PartitionStatus::unconfirmed) says which partitions are not confirmed yet, and a
//! [handler can wait](crate::HandlerOptions::after_sync) for the sync.
//!
//! A handler that does not wait gets an initial add for each restored object (if the informer is over shards
//! and had synced without any, an add that is not initial). Then it gets what it has
//! missed, like any other changes: adds (not initial ones), updates, and deletions with the last known state,
//! each once. It has synced when it has been notified of everything that happened until the confirmation.
//!
//! The objects are confirmed in one of these cases:
//! - The server has accepted a watch from the saved version, and has sent everything up to the version that
//!   it had when the informer asked for that version at the start; or it has sent nothing more for a second.
//! - A list was read. Only objects whose fingerprints have changed are decoded. The informer lists if the
//!   server no longer knows the saved version (410 Gone), or if it cannot prove that the server is the same.
//!
//! # Whose file it is
//! A file belongs to one resource, selection, [plan](crate::FieldPlan), encoding and form, and to one version
//! of this crate. The name of the file contains a hash of these. If any of them changes, the informer starts
//! without a file and creates another one; delete the directory to get rid of the old files. A change of the
//! set of namespaces keeps the file: each namespace has its own version, and a new namespace is listed.
//!
//! The file of an informer [over shards](crate::SharedInformer::over_shards) belongs to the number of shards
//! and to the field that is hashed, and contains the ranges of its objects. The next run restores a saved
//! range as soon as it is added to the set, within a minute of the start; until then the range is held in
//! memory. Other ranges are listed. Ranges that are not added within that minute are dropped.
//!
//! A file also belongs to one server, identified by the uid of the namespace `kube-system`:
//!
//! | the server | then |
//! |---|---|
//! | has the same uid, a version that is not older than any saved one, and the newest saved object in the saved state or a newer one | the watch is resumed |
//! | the same, but the newest saved objects, up to three, are gone | the watch is resumed; a list follows unless the watch tells of their deletion |
//! | has none of the four newest saved objects any more, or none was saved | the file is used, but a list follows |
//! | has another uid: it is another cluster | the file is not used |
//! | has an older version, or an older state of that object: it was restored from a backup | the file is not used |
//! | does not return its uid, because the program may not read that namespace | the file is used, but a list follows |
//! | does not answer within a second, or answers with an error | the file is used, and the server is asked again; a list follows if it keeps answering with errors other than throttling |
//!
//! If the server turns out to be another one only after the file was used, the restored objects leave the
//! store at once, handlers are notified of their deletion, and a list follows. To avoid this, allow the
//! program to `get` the namespace `kube-system`; it needs no access to other namespaces for this.
//!
//! A server that was restored from a backup may have made so many changes since then that its version is
//! higher than the saved one. The newest saved object reveals that, because the restore has reset its state.
//! If that object has been changed since then until its version is higher as well, or if nothing but deletions was lost, the restore
//! cannot be noticed. So restore a cluster with `etcdutl snapshot restore --bump-revision --mark-compacted`, as etcd
//! recommends for the sake of all informers: the saved version is then gone, and a list follows. Or delete
//! the directory.
//!
//! # What is saved
//! [`Packed`](crate::form::Packed) objects are saved as their compressed bytes, with the dictionaries and
//! family bases that they need, and [`DynamicObject`](kube::core::DynamicObject)s as JSON. Other forms are
//! saved only if they [implement it](crate::form::Decode::save_objects), because a decoded object does not
//! have the bytes from which it was decoded. Informers with a transform are not saved, because the program
//! that reads the file may have another transform.
//!
//! Secrets are not saved unless you [allow it](WarmStart::allow_secrets). Files can be read by their owner
//! only (`0600`), and so can the directory if the informer creates it. Objects of other kinds may contain
//! secrets, too. Use one directory per process and cluster, in which nobody else can write. Replicas on one
//! machine or on a shared volume need a directory each: in a common one they replace each other's files, the
//! last one wins, and the records of delivered notifications are mixed up.
//!
//! Each informer is saved when it is stopped, soon after it has synced, and from time to time (see
//! [`interval`](WarmStart::interval)). A save takes a snapshot of the store and runs on a blocking thread. If
//! a program is killed, what it learned after the last save is lost; the next run learns it from the server.
//!
//! # Deletions that were not delivered
//! A handler may lag behind when the cache is saved. So a save contains, beside a state of the store, the
//! last state of each deleted object of whose deletion some handler has not been notified yet. The next run
//! notifies its handlers of each by an initial add and a deletion, as for an object that was deleted while
//! the program was down. A deletion is delivered when the handler's call has returned or panicked; for a
//! stream, when the next item is requested.
//!
//! | the program | deletions |
//! |---|---|
//! | was stopped | are delivered once, by this run or the next one |
//! | was stopped while a call took longer than 5 s | the next run repeats that one |
//! | was stopped before the server had confirmed the whole file | each later run repeats those of objects in the file, until it is confirmed |
//! | gave all of its shards to other replicas, and was stopped | are delivered at least once: the next run repeats those delivered since the last save |
//! | was killed, at any time | are delivered at least once: the next run repeats those delivered since the last save |
//!
//! This holds for handlers that are added before the informer runs, in both runs. A handler that [waits for
//! the sync](crate::HandlerOptions::after_sync) is notified only of objects that exist. The number of saved
//! deletions is limited to the number of objects, or to 1024 if there are fewer. If a handler lags further
//! behind, the oldest are dropped, and the log says so. Removed handlers and dropped streams do not count. A
//! work queue is not saved: for a handler that puts keys on a queue, the deletion is delivered when the key
//! is on the queue.
//!
//! # Handlers that panic
//! If a handler panics because of a deletion, that deletion counts as delivered. If a panic has ended a
//! handler, the deletion of the object at which it panicked is not delivered again to any handler, even if
//! others have not been notified of it.
//!
//! An object that is gone cannot make a handler panic at every start either. If a panic [ended the
//! informer](crate::PanicPolicy::Stop) before the server had confirmed the file, the next run restores only
//! the deletions that were not delivered, and lists. That run does not notify of objects that were deleted
//! while the program was down, as without a warm start. The status says so. A small file beside the cache,
//! ending with `.told`, records this. The next save removes it. The file is not written if the program aborts
//! on a panic, or if the consumer of a stream panics.
//!
//! # Limits
//! - An update that a handler missed is not repeated: the initial add of the next run has the newest state.
//!   So a [filtered](crate::ResourceEventHandler::filtered) handler is not notified that an object no longer
//!   passes the filter, if the program ended before it could be.
//! - Nothing is saved while a namespace from the file is not confirmed, even if others are. If the program is
//!   no longer allowed to list a namespace, remove that namespace from the set.
//! - Each namespace checks the server when it starts. A namespace that has resumed its watch continues even
//!   if a later one finds that the server was restored from a backup.
//! - If the disk delivers nothing of a file for 10 s, a thread waits until it does, and so the runtime cannot
//!   end before.
//! - A second of silence confirms the restored state. Over a slow connection, or from an API server that lags
//!   behind, events may still be on their way then, and arrive after `has_synced`. Handlers must cope with
//!   late events in any case.
//! - If you [save](crate::form::Decode::save_objects) a form of your own, start its records with a version,
//!   and refuse those of another version.
//! - Informers that stop together are saved one after another, and the time limit of handlers runs meanwhile.
//!   So a stop takes as long as the disk needs for all of them. If the disk takes nothing for 10 s, all
//!   remaining saves are given up; the status says so, and the older files stay. The older files of the last
//!   informers also stay if the program is killed meanwhile.
//! - With shards by uid, a deletion that was not delivered is lost if an object of the same name was created
//!   in another shard, and that shard is restored first. Each range that was saved on its own has its own
//!   watch after the next start.
//! - An informer over shards saves the ranges that it has when it is stopped. If the program leaves its shard
//!   group first, nothing is left to save then: the next start reads what was saved while the informer ran.
//!   Stop the informer, then leave the group. A `kube_controller` manager does so if the group is a runnable
//!   around informers.
//! - With several namespaces, [`Start`] says that there was a file if it was used for one of them. The status
//!   of each partition says which are unconfirmed.
//! - If the file is of another cluster and the server has not said so yet, the informer has already taken its
//!   compression dictionary and keeps it. Some kilobytes of that cluster's objects are then in the new file,
//!   too.
//! - If the server refuses to return its uid when the informer starts, it is not asked again before the next
//!   start: the file has no uid, and the next start lists. If the server does not answer when the cache is
//!   saved, it is taken to be the same as before. So do not point an address at another cluster while the
//!   program runs.
//! - Secrets are recognized by the name of the resource, `secrets`, or by their kind. A source of your own
//!   must have one of them, or no `cache_identity`. Files of Secrets are removed when an informer is built
//!   without `allow_secrets`.
//! - Each save writes the whole cache. Raise the interval for caches of gigabytes.
//!
//! # Costs
//! Loading does not decode objects: it takes the bytes as they are in the file. `bench/run --only warm`, in
//! the repository, measures how soon the objects can be read, how much data confirms them, the most memory
//! while loading, and what saving costs while 100 objects change each second. Each handler that does not wait
//! for the sync holds an initial add of each restored object until it has processed it.
//!
//! # Durability
//! A file is written under another name, synced and renamed. All parts of it have checksums, and its last
//! block says that it is complete. So after a kill, a full disk or a crash, the next start finds the old
//! state or the new one, never half of one; or it starts without a file, and the
//! [status](WarmStartStatus::start) says why. A file in another format, for example of a later version of
//! this crate, is not used.

pub(crate) mod directory;
pub(crate) mod file;
pub(crate) mod told;
pub(crate) mod turns;

use crate::FieldPlan;
use kube::core::TypeMeta;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use tokio::sync::watch;
use turns::Turns;
use xxhash_rust::xxh3::xxh3_64;

/// Where and when the caches of informers are saved; see the [module](self).
///
/// ```
/// use kube_informer::warm_start::WarmStart;
/// use std::time::Duration;
///
/// let warm_start = WarmStart::in_directory("/var/cache/shop-controller").interval(Duration::from_secs(60));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarmStart {
    directory: PathBuf,
    interval: Duration,
    secrets: bool,
    turns: Turns,
}

impl WarmStart {
    /// Saves caches in this directory, which is created if it does not exist. Each replica of a program needs
    /// its own directory.
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            interval: Duration::from_secs(300),
            secrets: false,
            turns: Turns::default(),
        }
    }

    /// The shortest time between two saves of an informer whose objects change. Default: 5 minutes; at least
    /// one second. Each save writes the whole cache. In any case, the informers of a factory, and all
    /// informers with clones of this value, are saved one after another, with a pause after each save that is
    /// a hundred times as long as the save took. So saving takes at most 1 % of the time of one core.
    ///
    /// If only the resource version has advanced, the cache is saved at most once an hour, and at the stop.
    #[must_use = "this is a builder"]
    pub fn interval(mut self, interval: Duration) -> Self {
        self.interval = interval.max(Duration::from_secs(1));
        self
    }

    /// Saves Secrets, too, as plain text that only the file's mode protects. Default: they are not saved.
    #[must_use = "this is a builder"]
    pub fn allow_secrets(mut self) -> Self {
        self.secrets = true;
        self
    }
}

/// Why the cache of an informer cannot be saved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WarmStartError {
    /// The form has no bytes to save.
    #[error("objects held as {form} cannot be saved; Packed and DynamicObject can")]
    Form {
        /// The form.
        form: String,
    },
    /// Secrets are not saved.
    #[error("Secrets are not saved to disk, unless this is allowed by WarmStart::allow_secrets")]
    Secrets,
    /// The source does not say what it selects.
    #[error("the source of {resource} does not say what it selects (ListerWatcher::cache_identity)")]
    Source {
        /// The resource.
        resource: String,
    },
    /// Transformed objects are not saved.
    #[error("the informer for {resource} has a transform, and what is transformed is not saved")]
    Transform {
        /// The resource.
        resource: String,
    },
}

/// The state of an informer's warm start, see
/// [`InformerStatus::warm_start`](crate::informer::InformerStatus::warm_start).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WarmStartStatus {
    /// What was read at the start.
    pub start: Start,
    /// The number of saves that succeeded.
    pub saves: u64,
    /// When the last one began.
    pub saved_at: Option<SystemTime>,
    /// Its size in bytes.
    pub saved_bytes: u64,
    /// How long it took.
    pub save_took: Duration,
    /// Why the last attempt to save failed, if it did. The informer works without.
    pub save_error: Option<String>,
}

/// What an informer has read at its start.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Start {
    /// The file is being read, or the server is being asked whether it is the same; or the informer does not
    /// run yet.
    Pending,
    /// There was a file. With several namespaces: with the saved objects of one of them at least.
    Restored {
        /// The number of objects in the store that come from it, counted when they were restored.
        objects: u64,
        /// When it was saved.
        saved_at: SystemTime,
    },
    /// The informer started without a file, or its content turned out to be of another server.
    Cold {
        /// Why.
        reason: String,
    },
    /// The informer can neither be saved nor restored.
    Disabled(WarmStartError),
}

/// The file of one informer.
#[derive(Debug, Clone)]
pub(crate) struct CacheFile {
    pub(crate) path: PathBuf,
    /// What the file belongs to.
    pub(crate) identity: String,
    pub(crate) interval: Duration,
    pub(crate) turns: Turns,
}

/// What determines the file of an informer.
pub(crate) struct Subject<'a> {
    pub(crate) resource: &'a str,
    /// What the source selects.
    pub(crate) source: Option<String>,
    pub(crate) plan: &'a FieldPlan,
    pub(crate) kind: Option<TypeMeta>,
    pub(crate) form: String,
    /// The whole name of the form.
    pub(crate) form_type: &'a str,
    pub(crate) can_be_saved: bool,
    pub(crate) transforms: bool,
    /// The informer's name, which may be empty.
    pub(crate) name: &'a str,
    /// What a factory calls a source of the caller's; else empty.
    pub(crate) own_source: &'a str,
}

impl CacheFile {
    pub(crate) fn of(options: &WarmStart, subject: Subject<'_>) -> Result<Self, WarmStartError> {
        let Subject {
            resource,
            source,
            plan,
            kind,
            form,
            form_type,
            can_be_saved,
            transforms,
            name,
            own_source,
        } = subject;
        let own = || resource.to_owned();
        let safe = |character: char| match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '-' => character,
            _ => '_',
        };
        let file: String = resource.chars().take(100).map(safe).collect();
        let is_secret = |kind: TypeMeta| (&*kind.api_version, &*kind.kind) == ("v1", "Secret");
        if (resource == "secrets" || kind.is_some_and(is_secret)) && !options.secrets {
            directory::remove_caches(&options.directory, &file);
            return Err(WarmStartError::Secrets);
        }
        if !can_be_saved {
            return Err(WarmStartError::Form { form });
        }
        if transforms {
            return Err(WarmStartError::Transform { resource: own() });
        }
        let source = source.ok_or_else(|| WarmStartError::Source { resource: own() })?;
        let paths = |paths: &[crate::FieldPath]| {
            let paths = paths.iter().map(ToString::to_string);
            paths.collect::<Vec<_>>()
        };
        let (pruned, fields) = (paths(plan.pruned()), paths(plan.fields()));
        // Another version of this crate may read or find other things in the same bytes.
        let version = env!("CARGO_PKG_VERSION");
        let identity = format!(
            "{source}; form {form_type}; without {pruned:?}; with fields {fields:?}; informer {name:?}; own source {own_source:?}; \
             kube-informer {version}"
        );
        let file = format!("{file}-{:016x}.cache", xxh3_64(identity.as_bytes()));
        Ok(Self {
            path: options.directory.join(file),
            identity,
            interval: options.interval,
            turns: options.turns.clone(),
        })
    }
}

/// How far an informer's warm start is; shared by its handles and tasks.
pub(crate) struct Progress(watch::Sender<State>);

struct State {
    status: WarmStartStatus,
    /// The names of the partitions whose saved objects have not been put into the store, nor rejected.
    pending: BTreeSet<String>,
    /// When they were saved.
    saved_at: SystemTime,
}

impl Progress {
    pub(crate) fn new(start: Start) -> Self {
        let status = WarmStartStatus {
            start,
            saves: 0,
            saved_at: None,
            saved_bytes: 0,
            save_took: Duration::ZERO,
            save_error: None,
        };
        Self(watch::Sender::new(State {
            status,
            pending: BTreeSet::new(),
            saved_at: SystemTime::UNIX_EPOCH,
        }))
    }

    pub(crate) fn status(&self) -> WarmStartStatus {
        self.0.borrow().status.clone()
    }

    /// The file was read; it has these partitions that are wanted.
    pub(crate) fn loaded(&self, partitions: BTreeSet<String>, saved_at: SystemTime) {
        self.0.send_modify(|state| {
            state.pending = partitions;
            state.saved_at = saved_at;
        });
    }

    /// The objects of a partition are in the store. Does nothing if it is known already what became of it.
    pub(crate) fn restored(&self, partition: &str, restored: usize) {
        self.0.send_modify(|state| {
            if !state.pending.remove(partition) {
                return;
            }
            let restored = restored as u64;
            match &mut state.status.start {
                Start::Restored { objects, .. } => *objects += restored,
                start => {
                    *start = Start::Restored {
                        objects: restored,
                        saved_at: state.saved_at,
                    }
                }
            }
        });
    }

    /// A partition starts with some of the objects that were saved in another one; the `last` leaves nothing
    /// of it.
    pub(crate) fn divided(&self, saved: &str, partition: &str, last: bool) {
        self.0.send_modify(|state| {
            if last {
                state.pending.remove(saved);
            }
            state.pending.insert(partition.to_owned());
        });
    }

    /// Whether it is not known yet what becomes of some of what was saved.
    pub(crate) fn is_pending(&self) -> bool {
        !self.0.borrow().pending.is_empty()
    }

    /// There is no file, or it is not used.
    pub(crate) fn cold(&self, reason: String) {
        self.0
            .send_modify(|state| state.status.start = Start::Cold { reason });
    }

    /// The objects of a partition will not be put into the store, if they have not been.
    pub(crate) fn rejected(&self, partition: &str, reason: String) {
        self.0.send_modify(|state| {
            if state.pending.remove(partition) && !matches!(state.status.start, Start::Restored { .. }) {
                state.status.start = Start::Cold { reason };
            }
        });
    }

    pub(crate) fn saved(&self, at: SystemTime, took: Duration, bytes: u64) {
        self.0.send_modify(|state| {
            let status = &mut state.status;
            status.saves += 1;
            (status.saved_at, status.save_took, status.saved_bytes) = (Some(at), took, bytes);
            status.save_error = None;
        });
    }

    pub(crate) fn not_saved(&self, why: String) {
        self.0.send_modify(|state| state.status.save_error = Some(why));
    }

    /// Waits until the file's objects are in the store, or it is certain that they will not be.
    pub(crate) async fn settled(&self) {
        let settled = |state: &State| state.pending.is_empty() && state.status.start != Start::Pending;
        // An error would mean that the sender was dropped, but `self` holds it.
        let _ = self.0.subscribe().wait_for(settled).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FieldPath;

    fn subject(plan: &FieldPlan) -> Subject<'_> {
        Subject {
            resource: "things",
            source: Some("things".to_owned()),
            plan,
            kind: None,
            form: "Thing".to_owned(),
            form_type: "a::Thing",
            can_be_saved: true,
            transforms: false,
            name: "",
            own_source: "",
        }
    }

    #[test]
    fn forms_and_plans_that_look_alike_have_files_of_their_own() {
        let plan = |paths: &[&str]| {
            let paths = paths.iter().map(|path| FieldPath::parse(path).unwrap());
            FieldPlan::new([], paths.collect::<Vec<_>>()).unwrap()
        };
        let (one, two) = (plan(&["/a,/b"]), plan(&["/a", "/b"]));
        let other = Subject {
            form_type: "b::Thing",
            ..subject(&one)
        };
        let options = WarmStart::in_directory("/nowhere");
        let mut files: Vec<_> = [subject(&one), subject(&two), other]
            .map(|subject| CacheFile::of(&options, subject).unwrap().path)
            .into();
        files.dedup();
        assert_eq!(files.len(), 3, "{files:?}");
    }

    #[test]
    fn secrets_are_known_by_their_kind_too() {
        let plan = FieldPlan::default();
        let secrets = || Subject {
            kind: Some(TypeMeta {
                api_version: "v1".to_owned(),
                kind: "Secret".to_owned(),
            }),
            ..subject(&plan)
        };
        let options = WarmStart::in_directory("/nowhere");
        let refused = CacheFile::of(&options, secrets());
        assert_eq!(refused.err(), Some(WarmStartError::Secrets));
        assert!(CacheFile::of(&options.allow_secrets(), secrets()).is_ok());
    }

    #[tokio::test]
    async fn one_restored_partition_makes_a_start_with_a_file() {
        for order in [["a", "b"], ["b", "a"]] {
            let progress = Progress::new(Start::Pending);
            let names = order.map(str::to_owned);
            progress.loaded(names.into(), SystemTime::UNIX_EPOCH);
            for name in order {
                match name {
                    "a" => progress.restored("a", 3),
                    _ => progress.rejected("b", "it is not selected".to_owned()),
                }
            }
            progress.settled().await;
            let start = progress.status().start;
            assert!(matches!(start, Start::Restored { objects: 3, .. }), "{start:?}");
            progress.rejected("a", "it has left".to_owned());
            assert_eq!(progress.status().start, start, "it is settled");
        }
    }
}
