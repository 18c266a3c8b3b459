//! The start from a state that an earlier run has saved.
//!
//! A watch from the saved version is right only if the server's history is the one that the state was saved from. So the
//! server is asked for its identity and for its version first. Unless both prove it, the state is compared with a list.

use super::{Reflector, Sink, State, Wanted};
use crate::FieldPlan;
use crate::form::Decode;
use crate::object::{ObjectKey, ResourceVersion};
use crate::queue::Delta;
use crate::source::{ApiError, DecodeResult, Item, ListPart, ListRequest, ListVersion, ListerWatcher};
use crate::warm_start::Progress;
use futures::StreamExt;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::{OnceCell, Semaphore};

/// How long the server may take to prove that it is the same before the saved state is passed on without a proof.
const PATIENCE: Duration = Duration::from_secs(1);
/// After so many answers that are errors, a list is asked for instead.
const ATTEMPTS: u32 = 3;

/// After so many of the newest saved objects that are gone, nothing proves the server's history.
const WITNESSES: usize = 4;

/// What an earlier run has saved of one partition.
pub(crate) struct Saved<O: Decode> {
    /// The partition's name.
    pub(crate) name: String,
    pub(crate) entries: Vec<(ObjectKey, DecodeResult<O>)>,
    /// The last states of objects of whose deletion a handler had not been told.
    pub(crate) deleted: Vec<O::Handle>,
    pub(crate) version: ResourceVersion,
    /// Whether all objects are among the entries.
    pub(crate) complete: bool,
    pub(crate) run: Arc<SavedRun>,
}

impl<O: Decode> Saved<O> {
    /// It is not needed.
    pub(crate) fn give_up(self, why: &str) {
        self.run.progress.rejected(&self.name, why.to_owned());
    }

    /// Takes the objects for which `of` returns true, for a partition of this name. `is_last` says that nothing else is wanted of it.
    pub(crate) fn take(&mut self, name: String, of: impl Fn(&O::Handle) -> bool, is_last: bool) -> Self {
        let is_of = |(_, object): &mut (ObjectKey, DecodeResult<O>)| match object {
            DecodeResult::Decoded { object, .. } => of(object),
            DecodeResult::Unchanged | DecodeResult::Invalid(_) => false,
        };
        let entries = self.entries.extract_if(.., is_of).collect();
        self.entries.shrink_to_fit();
        self.run.progress.divided(&self.name, &name, is_last);
        Self {
            name,
            entries,
            deleted: self.deleted.extract_if(.., |object| of(object)).collect(),
            version: self.version.clone(),
            complete: self.complete,
            run: self.run.clone(),
        }
    }
}

/// What the partitions that an earlier run has saved have in common.
pub(crate) struct SavedRun {
    /// The identity of the server from which they were saved, if it was known.
    pub(crate) server: Option<String>,
    /// The identity of the server now; `None` if the server does not tell.
    pub(crate) server_now: Arc<OnceCell<Option<String>>>,
    /// The highest version among them. Versions are those of the server as a whole.
    pub(crate) newest: ResourceVersion,
    /// Why they are not of this server, if that has turned out for one of them.
    pub(crate) disproof: OnceLock<String>,
    pub(crate) progress: Arc<Progress>,
}

/// A saved state of which it is not known yet whether it is one of this server.
pub(super) struct Origin {
    name: String,
    version: ResourceVersion,
    complete: bool,
    /// The newest saved objects, the newest first.
    witnesses: Vec<Witness>,
    run: Arc<SavedRun>,
    /// How often the server was reached without an answer that can be used.
    refused: u32,
}

/// A state of an object that the server's history must have.
struct Witness {
    key: ObjectKey,
    uid: Option<String>,
    version: ResourceVersion,
}

/// What a watch must bring before a saved state is confirmed.
pub(super) struct Unconfirmed {
    /// Everything up to this version.
    pub(super) version: ResourceVersion,
    /// The deletions of these: objects that are gone. If one is missing, the server's history is another one, in which the object never was.
    gone: Vec<ObjectKey>,
}

/// What the server says of a saved state.
enum Verdict {
    /// It is one of its history if that has this.
    Same(Unconfirmed),
    /// It is not.
    Other(String),
    /// It does not say.
    Unknown,
}

impl<O: Decode, S: Sink<O>> Reflector<O, S> {
    /// Starts with a saved state.
    pub(super) async fn restore(&mut self, saved: Saved<O>) -> State<O> {
        let Saved {
            name,
            mut entries,
            deleted,
            version,
            complete,
            run,
        } = saved;
        let origin = Origin {
            name,
            version,
            complete,
            witnesses: witnesses(&entries),
            run,
            refused: 0,
        };
        self.reporter.connecting();
        let source = self.config.source.clone();
        let lists = self.config.lists.clone();
        let verdict = verdict(&*source, lists, &self.config.plan, &origin);
        let verdict = tokio::time::timeout(PATIENCE, verdict).await;
        if let Ok(Ok(Verdict::Other(why))) = verdict {
            self.reporter.is_another_server(&why);
            origin.run.progress.rejected(&origin.name, why);
            return State::Populating(Wanted::MostRecent);
        }
        self.seen = Some(origin.version.clone());
        // What was saved may have been identified by version. It matters only if the server went back.
        self.server.identified_by_version = true;
        let later = undelete(&mut entries, deleted);
        self.sink.restore(entries, origin.version.clone()).await;
        for (key, delta) in later {
            self.sink.push(key, delta, None).await;
        }
        self.sink.flush();
        match verdict {
            Ok(Ok(verdict)) => self.judged(&origin, verdict).await,
            Ok(Err(error)) => self.not_judged(origin, &error),
            Err(_) => State::Verifying(origin),
        }
    }

    /// Asks the server again whether the state that was restored is one of its history.
    pub(super) async fn verify(&mut self, origin: Origin) -> State<O> {
        self.before_request().await;
        self.reporter.connecting();
        let source = self.config.source.clone();
        let lists = self.config.lists.clone();
        match verdict(&*source, lists, &self.config.plan, &origin).await {
            Ok(verdict) => self.judged(&origin, verdict).await,
            Err(error) => self.not_judged(origin, &error),
        }
    }

    /// Handles a question that failed. It is asked again, unless the server keeps answering with errors: a list may work, and
    /// is right in any case.
    fn not_judged(&mut self, mut origin: Origin, error: &ApiError) -> State<O> {
        self.pacing.not_fulfilled();
        self.failed("list", error);
        // A server that has much to do says nothing against it, and a list would be more work.
        let refused = !matches!(error, ApiError::Unreachable(_)) && !error.is_throttling();
        origin.refused += u32::from(refused);
        let next = match origin.refused < ATTEMPTS {
            true => State::Verifying(origin),
            false => State::Populating(Wanted::NotOlderThanSeen),
        };
        next.after_pause(error.retry_after())
    }

    async fn judged(&mut self, origin: &Origin, verdict: Verdict) -> State<O> {
        let resource = self.reporter.resource();
        match verdict {
            Verdict::Same(unconfirmed) if origin.complete => {
                let now = &unconfirmed.version;
                tracing::debug!(resource, saved = %origin.version, %now, "the watch goes on from a saved state");
                self.unconfirmed = Some(unconfirmed);
                State::Watching(None)
            }
            Verdict::Same(_) | Verdict::Unknown => {
                tracing::debug!(resource, saved = %origin.version, "a saved state is compared with a list");
                State::Populating(Wanted::NotOlderThanSeen)
            }
            Verdict::Other(why) => {
                self.reporter.is_another_server(&why);
                origin.run.progress.cold(why);
                // Whether this server can be listed or not: these are not its objects.
                self.sink.restore(Vec::new(), origin.version.clone()).await;
                State::Populating(Wanted::Afresh)
            }
        }
    }

    /// Reports to the sink that the server has confirmed the restored state.
    pub(super) async fn confirmed(&mut self) {
        self.unconfirmed = None;
        self.sink.flush();
        self.sink.confirmed().await;
    }

    /// Takes notice of a deletion, which may be one that a saved state needs.
    pub(super) fn is_gone(&mut self, key: &ObjectKey) {
        if let Some(unconfirmed) = &mut self.unconfirmed {
            unconfirmed.gone.retain(|gone| gone != key);
        }
    }

    /// The watch has brought everything up to the version that confirms the restored state, though it did not say so.
    /// Returns whether that confirms it.
    pub(super) async fn is_confirmed_by_silence(&mut self) -> bool {
        if let Some(Unconfirmed { version, gone }) = &self.unconfirmed
            && !gone.is_empty()
        {
            self.seen = Some(version.clone());
            return false;
        }
        self.confirmed().await;
        true
    }

    /// Whether the restored state is none of this server: an object is gone, and the watch has not told of its deletion.
    pub(super) fn is_disproved(&mut self) -> bool {
        let unconfirmed = self
            .unconfirmed
            .take_if(|unconfirmed| !unconfirmed.gone.is_empty());
        unconfirmed.is_some()
    }

    /// Whether everything has been passed on up to the version that confirms the restored state.
    pub(super) fn is_confirmed(&self) -> bool {
        match (&self.unconfirmed, &self.seen) {
            (Some(wanted), Some(seen)) => *seen >= wanted.version,
            _ => false,
        }
    }
}

/// Puts objects of whose deletion a handler had not been told back to what was saved, and returns the changes that delete them
/// again. So handlers are told of their deletion like of any other that they missed.
fn undelete<O: Decode>(
    entries: &mut Vec<(ObjectKey, DecodeResult<O>)>,
    deleted: Vec<O::Handle>,
) -> Vec<(ObjectKey, Delta<DecodeResult<O>>)> {
    // The successive objects of each key. The last one may still exist.
    let mut successive = BTreeMap::<_, Vec<_>>::new();
    for object in deleted {
        let objects = successive.entry(O::key_of(&object)).or_default();
        objects.push(DecodeResult::Decoded {
            object,
            fingerprint: None,
        });
    }
    let mut exist = HashMap::new();
    for (place, (key, _)) in entries.iter().enumerate() {
        if !successive.is_empty() && successive.contains_key(key) {
            exist.insert(key.clone(), place);
        }
    }
    let mut later = Vec::new();
    for (key, objects) in successive {
        let mut objects = objects.into_iter();
        let Some(first) = objects.next() else { continue };
        let mut change = |delta| later.push((key.clone(), delta));
        let Some(place) = exist.get(&key) else {
            objects.for_each(|next| change(Delta::Updated(next)));
            change(Delta::Deleted(None));
            entries.push((key, first));
            continue;
        };
        let (_, last) = &mut entries[*place];
        let last = std::mem::replace(last, first);
        objects
            .chain([last])
            .for_each(|next| change(Delta::Updated(next)));
    }
    later
}

/// The newest objects that were saved.
fn witnesses<O: Decode>(entries: &[(ObjectKey, DecodeResult<O>)]) -> Vec<Witness> {
    let mut newest: Vec<(ResourceVersion, &ObjectKey, &O::Handle)> = Vec::with_capacity(WITNESSES + 1);
    for (key, object) in entries {
        let DecodeResult::Decoded { object, .. } = object else {
            continue;
        };
        let version = O::resource_version_of(object).filter(ResourceVersion::is_version);
        let Some(version) = version else { continue };
        let place = newest.partition_point(|(other, ..)| *other > version);
        if place < WITNESSES {
            newest.truncate(WITNESSES - 1);
            newest.insert(place, (version, key, object));
        }
    }
    let witnesses = newest.into_iter().map(|(version, key, object)| Witness {
        key: key.clone(),
        uid: O::uid_of(object).map(str::to_owned),
        version,
    });
    witnesses.collect()
}

/// Asks the server whether a saved state is one of its history.
async fn verdict<O: Decode>(
    source: &dyn ListerWatcher<O>,
    lists: Option<Arc<Semaphore>>,
    plan: &FieldPlan,
    origin: &Origin,
) -> Result<Verdict, ApiError> {
    let verdict = evidence(source, lists, plan, origin).await?;
    let run = &origin.run;
    Ok(match (verdict, run.disproof.get()) {
        (Verdict::Other(why), _) => Verdict::Other(run.disproof.get_or_init(|| why).clone()),
        (_, Some(why)) => Verdict::Other(why.clone()),
        (verdict, None) => verdict,
    })
}

async fn evidence<O: Decode>(
    source: &dyn ListerWatcher<O>,
    lists: Option<Arc<Semaphore>>,
    plan: &FieldPlan,
    origin: &Origin,
) -> Result<Verdict, ApiError> {
    let run = &origin.run;
    let now = run
        .server_now
        .get_or_try_init(|| source.server_identity())
        .await?;
    match (&run.server, now) {
        (Some(saved), Some(now)) if saved == now => {}
        (Some(saved), Some(now)) => {
            return Ok(Verdict::Other(format!(
                "it was saved from another cluster, with the identity {saved:?} instead of {now:?}"
            )));
        }
        _ => return Ok(Verdict::Unknown),
    }
    let _turn = match lists {
        // It is never closed, so there is no error.
        Some(lists) => lists.acquire_owned().await.ok(),
        None => None,
    };
    let mut witnesses = origin.witnesses.iter();
    let mut witness = witnesses.next();
    let mut gone = Vec::new();
    loop {
        let (now, found) = ask(source, plan, witness).await?;
        let Some(now) = now else {
            return Ok(Verdict::Unknown);
        };
        match now.partial_cmp(&run.newest) {
            Some(Ordering::Less) => {
                return Ok(Verdict::Other(format!(
                    "the server went back from version {} to {now}: it was restored",
                    run.newest
                )));
            }
            Some(_) => {}
            None => return Ok(Verdict::Unknown),
        }
        // Nothing that was saved can be compared.
        let Some(asked) = witness else {
            return Ok(Verdict::Unknown);
        };
        match found {
            Found::Object(version) if version < asked.version => {
                return Ok(Verdict::Other(format!(
                    "the server has {} at version {version} instead of {}: it was restored",
                    asked.key, asked.version
                )));
            }
            Found::Object(_) | Found::Unselective => {
                return Ok(Verdict::Same(Unconfirmed { version: now, gone }));
            }
            Found::Nothing => match witnesses.next() {
                Some(next) => {
                    gone.push(asked.key.clone());
                    witness = Some(next);
                }
                None => return Ok(Verdict::Unknown),
            },
        }
    }
}

/// What the server has of a witness.
enum Found {
    /// It has it, at this version.
    Object(ResourceVersion),
    /// It does not have it, or has another one of the same name.
    Nothing,
    /// The source shows any object instead.
    Unselective,
}

/// The newest version of a collection, by a list of one object; `None` if the server does not say.
pub(super) async fn version_now<O: Decode>(
    source: &dyn ListerWatcher<O>,
    plan: &FieldPlan,
) -> Result<Option<ResourceVersion>, ApiError> {
    let (version, _) = ask(source, plan, None).await?;
    Ok(version)
}

/// The newest version of a collection, and what it has of an object.
async fn ask<O: Decode>(
    source: &dyn ListerWatcher<O>,
    plan: &FieldPlan,
    witness: Option<&Witness>,
) -> Result<(Option<ResourceVersion>, Found), ApiError> {
    let request = ListRequest {
        limit: Some(1),
        plan: plan.clone(),
        object: witness.map(|witness| witness.key.clone()),
        ..ListRequest::new(ListVersion::MostRecent)
    };
    let mut parts = source.list(request).await?;
    let mut found = Found::Nothing;
    while let Some(part) = parts.next().await {
        // A source that does not limit its lists may have all of it at hand.
        tokio::task::consume_budget().await;
        match part? {
            ListPart::Item(item) => {
                let version = item.version();
                let (key, uid) = match &item {
                    Item::Raw(raw) => (Some(raw.key()), raw.uid()),
                    Item::Object(object) => (Some(O::key_of(object)), O::uid_of(object)),
                    Item::Invalid(invalid) => (invalid.key.clone(), None),
                };
                found = match (witness, version) {
                    (Some(witness), _) if key.as_ref() != Some(&witness.key) => Found::Unselective,
                    (Some(witness), Some(version)) if uid == witness.uid.as_deref() => Found::Object(version),
                    _ => Found::Nothing,
                };
            }
            ListPart::End(end) => {
                let version = end.resource_version.filter(ResourceVersion::is_version);
                return Ok((version, found));
            }
        }
    }
    Err(ApiError::while_reading("the list has no end"))
}
