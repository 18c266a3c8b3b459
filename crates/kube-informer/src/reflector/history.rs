//! Whether the server's history still is the one of the version that was seen.
//!
//! A server that was restored, or replaced, may not have reached that version. A watch from it is no error then: it is silent, and later
//! leaves out what came before that version. So a server that is silent for longer than bookmarks take to come is asked for its version,
//! by a list of one object. Servers that send bookmarks are not asked, so that all that watch a server that was restarted do not ask at once. A server that has
//! passed the version again is not recognized.

use super::restoring::version_now;
use crate::FieldPlan;
use crate::form::Decode;
use crate::object::ResourceVersion;
use crate::source::{ApiError, ListerWatcher};
use crate::time::later;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// The silence after which a server is asked, or up to a fifth more. Bookmarks come about every minute.
const SILENCE: Duration = Duration::from_secs(75);
/// How long the answer may take.
const ANSWER: Duration = Duration::from_secs(5);
/// When a server that did not answer is asked again; twice as long after each further time, up to the longest. A failure is shown until then.
pub(super) const ASK_AGAIN: Duration = Duration::from_secs(30);
pub(super) const LONGEST_AGAIN: Duration = Duration::from_secs(60);

/// What is known of the server's history.
#[derive(Default)]
pub(super) struct History {
    /// The server could not be reached, or had too much to do, and has shown no version since.
    was_away: bool,
    /// When it has shown a version for the last time, or was back.
    heard: Option<Instant>,
    /// An answer was older than what was seen. A list has not shown yet whether that is true.
    doubted: bool,
    /// How many answers in a row were older although the list was not. Not every server has one version for all lists.
    false_alarms: u32,
}

impl History {
    /// The server could not be watched, but may have the version that was seen.
    pub(super) fn was_away(&mut self) {
        self.was_away = true;
        self.heard = None;
    }

    /// The server has shown a version that is not older than what was seen.
    pub(super) fn heard(&mut self) {
        self.was_away = false;
        self.heard = Some(Instant::now());
    }

    /// Whether silence proves nothing.
    pub(super) fn is_uncertain(&self) -> bool {
        self.was_away
    }

    /// When to ask the server if the watch that `started` then brings nothing. `None` if it need not be asked.
    pub(super) fn ask_at(&mut self, started: Instant, sends_bookmarks: bool) -> Option<Instant> {
        let heard = *self.heard.get_or_insert(started);
        // 75 s, 5 min, 20 min.
        let silence = SILENCE * 4u32.pow(self.false_alarms.min(2));
        let silence = silence.mul_f64(1.0 + 0.2 * fastrand::f64());
        (self.was_away || sends_bookmarks).then(|| later(heard, silence))
    }

    /// The server says that it has an older version than what was seen.
    pub(super) fn doubt(&mut self) {
        self.doubted = true;
    }

    /// Whether it has said so since the last list.
    pub(super) fn is_doubted(&self) -> bool {
        self.doubted
    }

    /// The collection was listed.
    pub(super) fn listed(&mut self, went_back: bool) {
        let false_alarm = std::mem::take(&mut self.doubted) && !went_back;
        self.false_alarms = match false_alarm {
            true => self.false_alarms + 1,
            false => 0,
        };
        self.heard();
    }
}

/// Asks the server for its version; `None` if it does not say.
pub(super) async fn ask<O: Decode>(
    source: Arc<dyn ListerWatcher<O>>,
    plan: FieldPlan,
    lists: Option<Arc<Semaphore>>,
) -> Result<Option<ResourceVersion>, ApiError> {
    let _turn = match lists {
        // It is never closed, so there is no error.
        Some(lists) => lists.acquire_owned().await.ok(),
        None => None,
    };
    let no_answer = |_| ApiError::Timeout(format!("no answer within {} s", ANSWER.as_secs()).into());
    let asked = version_now(&*source, &plan);
    tokio::time::timeout(ANSWER, asked).await.map_err(no_answer)?
}
