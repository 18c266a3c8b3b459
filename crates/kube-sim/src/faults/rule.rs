//! One rule: the requests that it meets, and what becomes of them.

use std::fmt;
use std::ops::BitOr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::script::Answer;
use crate::storage::{Backup, Snapshot, Storage};
use crate::target::Target;

/// The state of one resource that reads see.
pub(crate) type Stale = Option<Snapshot>;

/// What is asked of a resource; joined by `|`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<&'static str>")]
pub struct Verbs(u8);

/// Reads of one object (`get`).
pub const GET: Verbs = Verbs(1);
/// Lists (`list`).
pub const LIST: Verbs = Verbs(2);
/// Watches (`watch`).
pub const WATCH: Verbs = Verbs(4);
/// Creations (`create`).
pub const POST: Verbs = Verbs(8);
/// Updates (`update`).
pub const PUT: Verbs = Verbs(16);
/// Patches (`patch`).
pub const PATCH: Verbs = Verbs(32);
/// Deletions, also of collections (`delete`, `deletecollection`).
pub const DELETE: Verbs = Verbs(64);
/// Anything.
pub const ANY: Verbs = Verbs(127);

/// Each verb, as the API calls it.
const NAMES: [(&str, Verbs); 7] = [
    ("get", GET),
    ("list", LIST),
    ("watch", WATCH),
    ("create", POST),
    ("update", PUT),
    ("patch", PATCH),
    ("delete", DELETE),
];

impl BitOr for Verbs {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Debug for Verbs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Vec::from(*self).join("|"))
    }
}

impl From<Verbs> for Vec<&'static str> {
    fn from(verbs: Verbs) -> Self {
        let named = NAMES.iter().filter(|(_, verb)| verbs.contains(*verb));
        named.map(|(name, _)| *name).collect()
    }
}

impl TryFrom<Vec<String>> for Verbs {
    type Error = String;

    fn try_from(names: Vec<String>) -> Result<Self, String> {
        names.iter().try_fold(Self(0), |verbs, name| match name.as_str() {
            "*" => Ok(ANY),
            "deletecollection" => Ok(verbs | DELETE),
            name => match NAMES.iter().find(|(other, _)| *other == name) {
                Some((_, verb)) => Ok(verbs | *verb),
                None => Err(format!(
                    "no verb {name:?}: use get, list, watch, create, update, patch, delete or *"
                )),
            },
        })
    }
}

impl Verbs {
    fn contains(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Resources, as a rule names them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub(crate) struct Pattern {
    /// `*`, `pods`, or `deployments.apps`.
    resource: String,
    /// None: the resource itself. `*`: the resource and all its subresources.
    subresource: Option<String>,
}

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        Self::new(&text)
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        match pattern.subresource {
            Some(subresource) => format!("{}/{subresource}", pattern.resource),
            None => pattern.resource,
        }
    }
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        let (resource, subresource) = match text.split_once('/') {
            Some((resource, subresource)) => (resource, Some(subresource.to_owned())),
            // As in RBAC, `*` is everything.
            None => (text, (text == "*").then(|| "*".to_owned())),
        };
        Self {
            resource: resource.to_owned(),
            subresource,
        }
    }

    /// Whether it names the resource that error messages call `id`.
    pub(crate) fn fits_id(&self, id: &str) -> bool {
        let plural = id.split('.').next().unwrap_or(id);
        matches!(self.resource.as_str(), "*") || self.resource == id || self.resource == plural
    }

    pub(crate) fn fits(&self, target: &Target) -> bool {
        let subresource = target.subresource.as_deref();
        let part = match self.subresource.as_deref() {
            Some("*") => true,
            wanted => wanted == subresource,
        };
        part && self.fits_id(&target.resource.id())
    }
}

/// What a request is, beside its target.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub(crate) verb: Verbs,
    /// The name of the object, also of one that is created.
    pub(crate) name: Option<String>,
    /// A list that continues another.
    pub(crate) continues: bool,
    /// A watch that begins with the end of what there is.
    pub(crate) streams: bool,
}

/// What becomes of a request.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Effect {
    Delay(#[serde(with = "milliseconds")] Duration),
    #[serde(rename_all = "camelCase")]
    Refuse {
        code: u16,
        #[serde(
            default,
            rename = "retryAfterSeconds",
            skip_serializing_if = "Option::is_none"
        )]
        retry_after: Option<u64>,
    },
    /// Only from code.
    #[serde(skip_deserializing, serialize_with = "named")]
    Answer(Answer),
    Cut,
    Truncate,
    Silence,
    ExpireContinue,
    WithholdInitialEventsEnd,
    HoldWatches,
    StaleReads,
}

/// What cannot be written is shown by its name alone.
fn named<T, S: serde::Serializer>(_: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_unit()
}

mod milliseconds {
    use super::{Deserialize, Duration};

    pub(super) fn serialize<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }
}

/// A fault, as it was described.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Rule {
    pub(crate) verbs: Verbs,
    pub(crate) resource: Pattern,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) namespace: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// How many requests it lets pass first.
    #[serde(default)]
    pub(crate) skip: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) times: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) probability: Option<f64>,
    #[serde(default)]
    pub(crate) applied: bool,
    #[serde(rename = "fault")]
    pub(crate) effect: Effect,
    /// What stale reads see.
    #[serde(skip)]
    pub(crate) past: Option<Backup>,
}

impl Rule {
    pub(crate) fn new(verbs: Verbs, resource: &str, effect: Effect) -> Self {
        Self {
            verbs,
            resource: Pattern::new(resource),
            namespace: None,
            name: None,
            skip: 0,
            times: None,
            probability: None,
            applied: false,
            effect,
            past: None,
        }
    }

    /// Whether it is about a request.
    pub(crate) fn fits(&self, target: &Target, facts: &Facts) -> bool {
        let same = |wanted: &Option<String>, given: &Option<String>| wanted.is_none() || wanted == given;
        let kind = match &self.effect {
            Effect::ExpireContinue => facts.continues,
            Effect::WithholdInitialEventsEnd => facts.streams,
            _ => true,
        };
        kind && self.verbs.contains(facts.verb)
            && self.resource.fits(target)
            && same(&self.namespace, &target.namespace)
            && same(&self.name, &facts.name)
    }
}

/// What all rules together make of a request.
#[derive(Debug, Default)]
pub(crate) struct Meeting {
    /// Before the server sees the request.
    pub(crate) delay: Duration,
    /// After the server has acted.
    pub(crate) late: Duration,
    /// What is answered in its place, and whether the server acts first.
    pub(crate) ending: Option<(Effect, bool)>,
    pub(crate) expire_continue: bool,
    pub(crate) withhold_bookmark: bool,
    pub(crate) stale: Stale,
}

/// What whoever sends a request in this process has decided about it, as an extension of the request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Decided {
    /// The code of a refusal.
    pub(crate) refused: Option<u16>,
    /// The resource version at which the watch cache of the server is stuck.
    pub(crate) stale: Option<u64>,
}

impl Meeting {
    /// Adds what was decided for this request alone. Rules go first.
    pub(crate) fn follow(&mut self, decided: &Decided, storage: &Storage, target: &Target) {
        if let (Some(code), None) = (decided.refused, &self.ending) {
            let refusal = Effect::Refuse {
                code,
                retry_after: None,
            };
            self.ending = Some((refusal, false));
        }
        if let (Some(version), None) = (decided.stale, &self.stale) {
            self.stale = storage.snapshot_at(&target.resource, version).ok();
        }
    }

    /// Whether another rule has decided already what this one would.
    pub(super) fn is_decided_for(&self, rule: &Rule) -> bool {
        matches!(
            rule.effect,
            Effect::Refuse { .. } | Effect::Answer(_) | Effect::Cut | Effect::Truncate | Effect::Silence
        ) && self.ending.is_some()
    }

    pub(super) fn take(&mut self, rule: &Rule, target: &Target) {
        match &rule.effect {
            Effect::Delay(time) if rule.applied => self.late += *time,
            Effect::Delay(time) => self.delay += *time,
            Effect::ExpireContinue => self.expire_continue = true,
            Effect::WithholdInitialEventsEnd => self.withhold_bookmark = true,
            // Asked for by the watch itself, as long as it runs.
            Effect::HoldWatches => {}
            Effect::StaleReads => {
                let past = rule.past.as_ref();
                self.stale = past.map(|past| past.snapshot(&target.resource.storage_id()));
            }
            effect => self.ending = Some((effect.clone(), rule.applied)),
        }
    }
}
