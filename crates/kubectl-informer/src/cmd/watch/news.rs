//! What a reflector's status says that people want to know: failures, when the connection is back, and how many changes
//! were missed.

use crate::failure::reason;
use crate::feed::Feed;
use kube::core::DynamicObject;
use kube_informer::reflector::{Failure, Phase, ReflectorStatus};
use kube_informer::source::ErrorClass;
use kube_informer::{Notification, ResourceVersion, SharedInformer};
use serde::Serialize;
use std::cmp::Ordering;
use std::time::Duration;
use tokio::time::Instant;

/// How long a watch has to last after an outage until it counts as resumed, if it brings nothing. A server may tell in the
/// first event of a watch that the version is too old.
const RESUMED: Duration = Duration::from_secs(1);

/// Something to tell.
pub(super) enum News {
    /// A request failed, and is repeated.
    Failed { class: ErrorClass, message: String },
    /// An object could not be read.
    Invalid { message: String },
    /// The watch goes on after failures or a new list.
    Back(Back),
}

impl News {
    /// A failure.
    pub(super) fn of(failure: &Failure<'_>) -> Self {
        Self::Failed {
            class: failure.class,
            message: format!("{}: {}", failure.operation, reason(failure)),
        }
    }
}

/// The end of an outage.
pub(super) struct Back {
    pub(super) after: Duration,
    /// What a new list showed; `None` if the watch continued where it was.
    pub(super) missed: Option<Missed>,
}

/// How many changes were inferred from a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct Missed {
    pub(super) added: u64,
    pub(super) updated: u64,
    pub(super) deleted: u64,
}

/// What has been told of a reflector.
#[derive(Default)]
pub(super) struct Told {
    synced: bool,
    errors: u64,
    /// The class of the last message, if no retry helps by itself: the request is repeated every few seconds, and told once.
    refused: Option<ErrorClass>,
    invalid_objects: u64,
    lists: u64,
    outage: Option<Outage>,
}

struct Outage {
    since: Instant,
    /// The number of watches that had been opened at the last failure. After a failure the phase is `Watching` for a
    /// moment more; only another watch ends the outage.
    watches: u64,
    /// When the server had last been heard at the last failure.
    heard: Option<Instant>,
    /// Since when such a watch is open. The outage ends then, but is told only once the watch [has resumed](Self::has_resumed).
    opened: Option<Instant>,
    missed: Option<Missed>,
    /// The version of the list, once changes are watched again.
    listed: Option<ResourceVersion>,
    /// Whether the list showed an older state than there was: the server was restored, or replaced.
    went_back: bool,
    /// The version of the store before the list. If the server went back, it may be higher than all of the new one.
    before: Option<ResourceVersion>,
}

impl Outage {
    /// Whether the watch that has been open since then is known to continue where the last one was.
    fn has_resumed(&self, opened: Instant, status: &ReflectorStatus) -> bool {
        status.last_heard > self.heard || opened.elapsed() >= RESUMED
    }

    /// Whether the store has the list, or what came after it, when it is complete up to this version.
    fn is_over(&self, applied: &ResourceVersion) -> bool {
        let Some(listed) = &self.listed else {
            return false;
        };
        match applied.partial_cmp(listed) {
            Some(Ordering::Less) => false,
            Some(Ordering::Equal) => true,
            _ => !self.went_back || self.before.as_ref() != Some(applied),
        }
    }
}

impl Told {
    /// The initial state is complete; outages from now on are told.
    pub(super) fn synced(&mut self, status: &ReflectorStatus) {
        self.synced = true;
        self.lists = status.lists;
        self.outage = None;
    }

    /// The news in the status. Of several failures since the last call only the last one is known, and their number.
    pub(super) fn news(
        &mut self,
        status: &ReflectorStatus,
        applied: impl FnOnce() -> Option<ResourceVersion>,
    ) -> Vec<News> {
        let mut news = Vec::new();
        news.extend(self.failure(status));
        news.extend(self.invalid(status));
        if self.synced && status.lists > self.lists {
            let outage = self.outage(status);
            outage.missed.get_or_insert_default();
            outage.listed = None;
            self.lists = status.lists;
        }
        if let Some(outage) = &mut self.outage {
            // The list may be complete by the time that the outage is seen.
            if outage.before.is_none() || status.phase != Phase::Watching {
                outage.before = applied();
            }
            match outage.missed {
                _ if status.phase != Phase::Watching => outage.opened = None,
                Some(_) if outage.listed.is_none() => outage.listed = status.resource_version.clone(),
                Some(_) => {}
                None if outage.watches == status.watches => {}
                None => {
                    let opened = *outage.opened.get_or_insert_with(Instant::now);
                    if outage.has_resumed(opened, status) {
                        let after = opened - outage.since;
                        news.push(News::Back(Back { after, missed: None }));
                        self.outage = None;
                    }
                }
            }
        }
        news
    }

    fn outage(&mut self, status: &ReflectorStatus) -> &mut Outage {
        self.outage.get_or_insert_with(|| Outage {
            since: Instant::now(),
            watches: status.watches,
            heard: status.last_heard,
            opened: None,
            missed: None,
            listed: None,
            went_back: false,
            before: None,
        })
    }

    fn failure(&mut self, status: &ReflectorStatus) -> Option<News> {
        if status.phase == Phase::Watching {
            self.refused = None;
        }
        let error = status.last_error.as_ref();
        let error = error.filter(|error| error.number > self.errors)?;
        self.errors = error.number;
        if self.synced {
            let outage = self.outage(status);
            // Of a failure that is over by now, the watch that goes on is open already.
            outage.watches = status.watches - u64::from(status.failures == 0 && status.watches > 0);
            outage.heard = status.last_heard;
            outage.opened = None;
            outage.listed = None;
            outage.went_back |= error.class == ErrorClass::VersionRegressed;
        }
        let refused = Some(error.class).filter(|class| !class.is_retryable());
        let told = std::mem::replace(&mut self.refused, refused);
        (refused.is_none() || told != refused).then(|| News::Failed {
            class: error.class,
            message: format!("{}: {}", error.operation, reason(error)),
        })
    }

    fn invalid(&mut self, status: &ReflectorStatus) -> Option<News> {
        let bad = status.last_invalid_object.as_ref()?;
        let several = status.invalid_objects.checked_sub(self.invalid_objects)?;
        self.invalid_objects = status.invalid_objects;
        let others = match several {
            0 => return None,
            1 => String::new(),
            several => format!("{several} objects could not be read, the last: "),
        };
        let message = format!("{others}{bad}");
        Some(News::Invalid { message })
    }

    /// Counts a change that a list showed.
    pub(super) fn change(&mut self, change: &Notification<DynamicObject>) {
        if let Some(missed) = self.outage.as_mut().and_then(|outage| outage.missed.as_mut()) {
            match change {
                Notification::Add { .. } => missed.added += 1,
                Notification::Update { .. } => missed.updated += 1,
                Notification::Delete(_) => missed.deleted += 1,
            }
        }
    }

    /// Whether the end of an outage is to be told without a change of the status: the changes of a list are still on their way, or
    /// a watch may have resumed.
    pub(super) fn is_ending(&self) -> bool {
        let outage = self.outage.as_ref();
        outage.is_some_and(|outage| outage.listed.is_some() || outage.opened.is_some())
    }

    /// The end of the outage, if all changes that the list showed have been told.
    pub(super) fn caught_up(
        &mut self,
        informer: &SharedInformer<DynamicObject>,
        feed: &Feed<DynamicObject>,
    ) -> Option<News> {
        let outage = self.outage.as_ref()?;
        let status = informer.status();
        let watches = status.reflector.phase == Phase::Watching;
        if !watches || !outage.is_over(status.applied.as_ref()?) || status.queued > 0 || !feed.is_drained() {
            return None;
        }
        let outage = self.outage.take()?;
        Some(News::Back(Back {
            after: outage.since.elapsed(),
            missed: outage.missed,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_the_server_before_is_not_that_of_the_list() {
        let version = |version: &str| Some(ResourceVersion::from(version));
        for (before, listed, went_back, applied, is_over) in [
            ("5", version("7"), false, "5", false),
            ("5", version("7"), false, "7", true),
            ("5", version("7"), false, "8", true),
            ("5", version("5"), false, "5", true),
            // Changes had come behind the list when the outage was seen.
            ("8", version("7"), false, "8", true),
            // Another server, with fewer changes.
            ("5", version("3"), true, "5", false),
            ("5", version("3"), true, "3", true),
            ("5", version("3"), true, "4", true),
            ("5", None, false, "5", false),
        ] {
            let outage = Outage {
                since: Instant::now(),
                watches: 0,
                heard: None,
                opened: None,
                missed: None,
                listed,
                went_back,
                before: version(before),
            };
            let found = outage.is_over(&ResourceVersion::from(applied));
            assert_eq!(found, is_over, "{before} {:?} {applied}", outage.listed);
        }
    }
}
