//! The start from a state that an earlier run has saved.
//!
//! A watch from the saved version is right only if the server's history is the one that the state was saved from. So the
//! server is asked for its identity and for its version first. Unless both prove it, the state is compared with a list.

use super::{DecodeResult, Reflector, Sink, State, Wanted};
use crate::FieldPlan;
use crate::form::Decode;
use crate::object::{ObjectKey, ResourceVersion};
use crate::queue::Delta;
use crate::source::{ApiError, ListPart, ListRequest, ListVersion, ListerWatcher};
use crate::warm_start::Progress;
use futures::StreamExt;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OnceCell, Semaphore};

/// How long the server may take to prove that it is the same before the saved state is passed on without a proof.
const PATIENCE: Duration = Duration::from_secs(1);
/// After so many answers that are errors, a list is asked for instead.
const ATTEMPTS: u32 = 3;

/// What an earlier run has saved of one partition.
pub(crate) struct Saved<O: Decode> {
    pub(crate) entries: Vec<(ObjectKey, DecodeResult<O>)>,
    /// The last states of objects of whose deletion a handler had not been told.
    pub(crate) deleted: Vec<O::Handle>,
    pub(crate) version: ResourceVersion,
    /// Whether all objects are among the entries.
    pub(crate) complete: bool,
    /// The identity of the server from which it was saved, if it was known.
    pub(crate) server: Option<String>,
    /// The identity of the server now, shared by all partitions; `None` if the server does not tell.
    pub(crate) server_now: Arc<OnceCell<Option<String>>>,
    pub(crate) progress: Arc<Progress>,
}

impl<O: Decode> Saved<O> {
    /// It is not needed: its namespace is no longer selected.
    pub(crate) fn give_up(self) {
        self.progress
            .rejected("its namespaces are no longer selected".to_owned());
    }
}

/// A saved state of which it is not known yet whether it is one of this server.
pub(super) struct Origin {
    version: ResourceVersion,
    complete: bool,
    server: Option<String>,
    server_now: Arc<OnceCell<Option<String>>>,
    progress: Arc<Progress>,
    /// How often the server was reached without an answer that can be used.
    refused: u32,
}

/// What the server says of a saved state.
enum Verdict {
    /// It is one of its history, which goes on at least to this version.
    Same(ResourceVersion),
    /// It is not.
    Other(String),
    /// It does not say.
    Unknown,
}

impl<O: Decode, S: Sink<O>> Reflector<O, S> {
    /// Starts with a saved state.
    pub(super) async fn restore(&mut self, saved: Saved<O>) -> State<O> {
        let Saved {
            mut entries,
            deleted,
            version,
            complete,
            server,
            server_now,
            progress,
        } = saved;
        let origin = Origin {
            version,
            complete,
            server,
            server_now,
            progress,
            refused: 0,
        };
        self.reporter.connecting();
        let source = self.config.source.clone();
        let lists = self.config.lists.clone();
        let verdict = verdict(&*source, lists, &self.config.plan, &origin);
        let verdict = tokio::time::timeout(PATIENCE, verdict).await;
        if let Ok(Ok(Verdict::Other(why))) = verdict {
            self.reporter.is_another_server(&why);
            origin.progress.rejected(why);
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
            Ok(Ok(verdict)) => self.judged(&origin, verdict),
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
            Ok(verdict) => self.judged(&origin, verdict),
            Err(error) => self.not_judged(origin, &error),
        }
    }

    /// Handles a question that failed. It is asked again, unless the server keeps answering with errors: a list may work, and
    /// is right in any case.
    fn not_judged(&mut self, mut origin: Origin, error: &ApiError) -> State<O> {
        self.pacing.not_fulfilled();
        self.failed("list", error);
        origin.refused += u32::from(!matches!(error, ApiError::Unreachable(_)));
        let next = match origin.refused < ATTEMPTS {
            true => State::Verifying(origin),
            false => State::Populating(Wanted::NotOlderThanSeen),
        };
        next.after_pause(error.retry_after())
    }

    fn judged(&mut self, origin: &Origin, verdict: Verdict) -> State<O> {
        let resource = self.reporter.resource();
        match verdict {
            Verdict::Same(now) if origin.complete => {
                tracing::debug!(resource, saved = %origin.version, %now, "the watch goes on from a saved state");
                self.confirm_at = Some(now);
                State::Watching(None)
            }
            Verdict::Same(_) | Verdict::Unknown => {
                tracing::debug!(resource, saved = %origin.version, "a saved state is compared with a list");
                State::Populating(Wanted::NotOlderThanSeen)
            }
            Verdict::Other(why) => {
                self.reporter.is_another_server(&why);
                origin.progress.cold(why);
                State::Populating(Wanted::Afresh)
            }
        }
    }

    /// Reports to the sink that the server has confirmed the restored state.
    pub(super) async fn confirmed(&mut self) {
        self.confirm_at = None;
        self.sink.flush();
        self.sink.confirmed().await;
    }

    /// Whether everything has been passed on up to the version that confirms the restored state.
    pub(super) fn is_confirmed(&self) -> bool {
        match (&self.confirm_at, &self.seen) {
            (Some(wanted), Some(seen)) => seen >= wanted,
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

/// Asks the server whether a saved state is one of its history.
async fn verdict<O: Decode>(
    source: &dyn ListerWatcher<O>,
    lists: Option<Arc<Semaphore>>,
    plan: &FieldPlan,
    origin: &Origin,
) -> Result<Verdict, ApiError> {
    let now = origin
        .server_now
        .get_or_try_init(|| source.server_identity())
        .await?;
    match (&origin.server, now) {
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
    let Some(now) = newest_version(source, plan).await? else {
        return Ok(Verdict::Unknown);
    };
    Ok(match now.partial_cmp(&origin.version) {
        Some(Ordering::Less) => Verdict::Other(format!(
            "the server went back from version {} to {now}: it was restored",
            origin.version
        )),
        Some(_) => Verdict::Same(now),
        None => Verdict::Unknown,
    })
}

/// The newest version of a collection, for the price of one object.
async fn newest_version<O: Decode>(
    source: &dyn ListerWatcher<O>,
    plan: &FieldPlan,
) -> Result<Option<ResourceVersion>, ApiError> {
    let request = ListRequest {
        limit: Some(1),
        plan: plan.clone(),
        ..ListRequest::new(ListVersion::MostRecent)
    };
    let mut parts = source.list(request).await?;
    while let Some(part) = parts.next().await {
        if let ListPart::End(end) = part? {
            return Ok(end.resource_version.filter(ResourceVersion::is_version));
        }
    }
    Err(ApiError::while_reading("the list has no end"))
}
