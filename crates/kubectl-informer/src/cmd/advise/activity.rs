//! Which kinds change most, and which of their fields.

use super::sample::Sample;
use crate::args::Diff;
use crate::counts::{Count, Counts};
use crate::diff;
use crate::discovery::Resource;
use crate::informers::Form;
use crate::target::Target;
use futures::StreamExt as _;
use kube_informer::ResourceVersion;
use kube_informer::form::Decode as _;
use kube_informer::low_level::wire::{Encoding, RawObject};
use kube_informer::source::{
    ApiError, Item, ListerWatcher, WatchEvent, WatchFrom, WatchRequest, WatchStream,
};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The number of objects of a kind whose last state is kept, to tell what a change changed.
const MOST_STATES: usize = 5000;
/// The pause after a watch that the server has ended.
const BETWEEN_WATCHES: Duration = Duration::from_millis(200);

/// The changes of a kind while it was watched.
#[derive(Debug, Default)]
pub(super) struct Activity {
    pub(super) changes: u64,
    /// The time in which they happened.
    pub(super) period: Duration,
    /// Those of which is known which fields they changed.
    pub(super) compared: u64,
    /// Those that changed nothing but heartbeats and bookkeeping.
    pub(super) heartbeats: u64,
    fields: Counts,
    managers: Counts,
    /// Why the watch ended early.
    pub(super) failure: Option<String>,
}

impl Activity {
    /// Of a kind that is not watched for this reason.
    pub(super) fn not_watched(why: String) -> Self {
        Self {
            failure: Some(why),
            ..Self::default()
        }
    }

    /// Watches a kind from where its sample was taken.
    pub(super) async fn watch(target: &Target, mut sample: Sample, period: Duration) -> Self {
        let Some(mut version) = sample.version.clone() else {
            return Self::not_watched("its list has no version".into());
        };
        let mut activity = Self::default();
        let mut source = target.source().encoding(Encoding::Json);
        if target.resource.is_secret() {
            source = source.metadata_only();
        }
        let until = Instant::now() + period;
        // A server may end a watch at any time; the next one goes on where it was.
        loop {
            let request = WatchRequest::new(
                WatchFrom::Version(version.clone()),
                period + Duration::from_secs(5),
            );
            let watch = ListerWatcher::<Form>::watch(&source, request);
            let ended = match timeout_at(until, watch).await {
                Ok(Ok(events)) => {
                    let resource = &target.resource;
                    activity
                        .read(events, &mut sample, resource, until, &mut version)
                        .await
                }
                Ok(Err(error)) => Err(error),
                Err(_) => {
                    activity.failure = Some("the server did not answer in time".into());
                    break;
                }
            };
            if let Err(error) = ended {
                activity.failure = Some(error.chain());
                break;
            }
            if timeout_at(until, tokio::time::sleep(BETWEEN_WATCHES))
                .await
                .is_err()
            {
                break;
            }
        }
        activity.period = sample.listed.elapsed();
        activity
    }

    /// Reads a watch until its end, or until then, and notes the version of what came.
    async fn read(
        &mut self,
        mut events: WatchStream<Form>,
        sample: &mut Sample,
        resource: &Resource,
        until: Instant,
        version: &mut ResourceVersion,
    ) -> Result<(), ApiError> {
        while let Ok(Some(event)) = timeout_at(until, events.next()).await {
            let event = event?;
            let came = match &event {
                WatchEvent::Added(item) | WatchEvent::Modified(item) | WatchEvent::Deleted(item) => {
                    item.version()
                }
                WatchEvent::Bookmark { resource_version, .. } => resource_version.clone(),
                WatchEvent::Error(_) => None,
            };
            if let Some(came) = came {
                *version = came;
            }
            match event {
                WatchEvent::Added(item) | WatchEvent::Modified(item) => {
                    self.changes += 1;
                    if let Item::Raw(raw) = item
                        && !resource.is_secret()
                    {
                        self.compare(&raw, sample, resource);
                    }
                }
                WatchEvent::Deleted(_) => self.changes += 1,
                WatchEvent::Bookmark { .. } => {}
                WatchEvent::Error(status) => return Err(ApiError::Status(status)),
            }
        }
        Ok(())
    }

    /// Counts which fields an object has changed since its last known state.
    fn compare(&mut self, raw: &RawObject, sample: &mut Sample, resource: &Resource) {
        let key = raw.key();
        let before = sample.states.get(&key);
        let before = before.and_then(|before| resource.object(&before.body()).ok());
        if let Some(before) = before
            && let Ok(after) = resource.object(raw.bytes())
            && before["metadata"]["uid"] == after["metadata"]["uid"]
        {
            self.compared += 1;
            let mut changes = diff::changes(&before, &after, Diff::All);
            changes.retain(|change| !change.path.is_version());
            // A change counts once for a field, even if it changed several elements of a list.
            let fields: BTreeSet<_> = changes.iter().map(|change| change.path.pattern()).collect();
            fields.iter().for_each(|path| self.fields.add(path));
            diff::managers(&changes)
                .into_iter()
                .for_each(|name| self.managers.add(name));
            self.heartbeats += u64::from(diff::changes(&before, &after, Diff::Content).is_empty());
        }
        if (sample.states.len() < MOST_STATES || sample.states.contains_key(&key))
            && let Ok(state) = Form::decode_raw(&sample.packer, &key, raw)
        {
            sample.states.insert(key, state);
        }
    }

    /// The fields that changed most often.
    pub(super) fn fields(&self, number: usize) -> Vec<Count> {
        self.fields.most(number)
    }

    /// The field managers that changed objects most often.
    pub(super) fn managers(&self, number: usize) -> Vec<Count> {
        self.managers.most(number)
    }
}
