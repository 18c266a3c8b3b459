//! Faults make requests fail, delay answers and break watches.
//!
//! A fault is a rule: which requests it matches, and what happens to them.
//! [`Sim::faults`](crate::Sim::faults) creates faults with one line each. For example, a test of a controller
//! that must handle conflicts, lost watches and a stale cache:
//!
//! ```
//! # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use k8s_openapi::api::core::v1::{ConfigMap, Pod};
//! use kube_sim::Sim;
//! use kube_sim::faults::{PATCH, PUT};
//!
//! let sim = Sim::builder().build()?;
//! // The next three updates of a status conflict.
//! sim.faults().refuse(PUT | PATCH, "pods/status", 409).times(3);
//! // All watches of Pods break. Those of ConfigMaps fall silent, until the fault is removed.
//! sim.faults().cut_watches::<Pod>();
//! let silence = sim.faults().hold_watches::<ConfigMap>().start();
//! // The controller under test runs here, on a `kube::Client::new(sim.service(), "default")`.
//! silence.remove();
//! # Ok(()) }
//! ```
//!
//! # Requests
//! A rule matches requests by their verbs ([`GET`], [`LIST`], [`WATCH`], [`POST`], [`PUT`], [`PATCH`],
//! [`DELETE`], joined by `|`; [`ANY`]) and their resource, written as in the rules of RBAC: `pods`,
//! `pods/status`, `deployments.apps` where the group matters, `pods/*` with all its subresources, `*/status`,
//! and `*`. Methods with a type parameter need the feature `kube`; without it, use `cut_watches_of("pods")`
//! and the like. [`namespace`](NewFault::namespace), [`name`](NewFault::name), [`nth`](NewFault::nth),
//! [`times`](NewFault::times) and [`probability`](NewFault::probability) narrow it. No rule matches requests
//! that are not for a resource, such as discovery.
//!
//! Names of resources are not checked: a rule for a kind that does not exist never matches. In
//! `kube-controller`, `patch_status` and `apply_status` send `PATCH`; kube's `replace_status` sends `PUT`.
//! Keep the handle of [`start`](NewFault::start), and assert its [`hits`](Fault::hits).
//!
//! # Order
//! If several faults match a request, all delays apply, then the oldest other fault.
//! [`hits`](Fault::hits) and [`times`](NewFault::times) count the requests on which the fault acts.
//!
//! # Custom answers
//! [`Faults::answer`] answers with an [`Answer`] of your own, to the byte, as a [script](crate::script) does.
//!
//! # Over HTTP
//! With [`SimBuilder::control_endpoint`](crate::SimBuilder::control_endpoint), clients can create faults over
//! HTTP, under `/kube-sim/faults`.

use std::sync::Arc;
use std::time::Duration;

use crate::api::Api;
use crate::script::Answer;
use crate::storage::Backup;

mod control;
mod rule;
pub(crate) mod rules;
mod stream;

pub(crate) use control::answer as control;
pub(crate) use rule::{Decided, Effect, Facts, Meeting, Rule};
pub(crate) use stream::disturbed;

pub use rule::{ANY, DELETE, GET, LIST, PATCH, POST, PUT, Verbs, WATCH};

/// The faults of a simulated cluster; see the [module](self).
///
/// Clones are handles to the same ones.
#[derive(Clone)]
pub struct Faults {
    api: Arc<Api>,
}

impl std::fmt::Debug for Faults {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Faults").finish_non_exhaustive()
    }
}

/// The builder of a fault. The fault takes effect when the builder is dropped, which is at the end of the
/// statement. [`start`](Self::start) does the same and returns a handle.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use kube_sim::Sim;
/// use kube_sim::faults::POST;
///
/// let sim = Sim::builder().build()?;
/// // The second Pod in `shop` is created, but the answer says that it was not.
/// sim.faults().refuse(POST, "pods", 500).namespace("shop").nth(2).applied();
/// # Ok(()) }
/// ```
pub struct NewFault {
    api: Arc<Api>,
    /// None once it is in effect.
    rule: Option<Rule>,
}

impl std::fmt::Debug for NewFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewFault")
            .field("rule", &self.rule)
            .finish_non_exhaustive()
    }
}

/// A handle to a fault. The fault outlives it.
#[derive(Clone)]
pub struct Fault {
    api: Arc<Api>,
    id: u64,
}

impl std::fmt::Debug for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fault")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// The state of a cluster at one time, to be restored later: [`Faults::backup`].
#[derive(Debug, Clone)]
pub struct ClusterBackup(Backup);

impl Faults {
    pub(crate) fn new(api: Arc<Api>) -> Self {
        Self { api }
    }

    /// Answers with this status code and the `Status` that a real server sends with it: `Conflict` for 409
    /// (`AlreadyExists` for a creation), `TooManyRequests` for 429, and so on.
    pub fn refuse(&self, verbs: Verbs, resource: &str, code: u16) -> NewFault {
        self.rule(
            verbs,
            resource,
            Effect::Refuse {
                code,
                retry_after: None,
            },
        )
    }

    /// Answers matching requests with `answer`, whatever they are.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use kube_sim::Sim;
    /// use kube_sim::faults::{LIST, WATCH};
    /// use kube_sim::script::Answer;
    ///
    /// let sim = Sim::builder().build()?;
    /// sim.faults().answer(LIST, "pods", Answer::json("{\"items\": 5}")).times(1);
    /// sim.faults().answer(WATCH, "pods", Answer::watch(["garbage\n"]).broken()).times(1);
    /// # Ok(()) }
    /// ```
    pub fn answer(&self, verbs: Verbs, resource: &str, answer: Answer) -> NewFault {
        self.rule(verbs, resource, Effect::Answer(answer))
    }

    /// Delays requests by this time of tokio's clock before the server processes them. With
    /// [`applied`](NewFault::applied), the server processes them at once and delays the answer.
    pub fn delay(&self, verbs: Verbs, resource: &str, time: Duration) -> NewFault {
        self.rule(verbs, resource, Effect::Delay(time))
    }

    /// Breaks the connection before the server has seen the request; with [`applied`](NewFault::applied),
    /// after it has acted and before it answers. In this process, the call fails with
    /// [`ConnectionReset`](std::io::ErrorKind::ConnectionReset).
    pub fn cut(&self, verbs: Verbs, resource: &str) -> NewFault {
        self.rule(verbs, resource, Effect::Cut)
    }

    /// Breaks the connection amid the body of the answer; that of a watch amid the frame of its first event.
    /// The request takes effect.
    pub fn truncate(&self, verbs: Verbs, resource: &str) -> NewFault {
        self.rule(verbs, resource, Effect::Truncate)
    }

    /// Never answers. The request does not take effect, unless it is [`applied`](NewFault::applied).
    pub fn silence(&self, verbs: Verbs, resource: &str) -> NewFault {
        self.rule(verbs, resource, Effect::Silence)
    }

    /// Answers requests for further pages of a list with 410 and a token to continue with the newest state,
    /// as a server does if its history was compacted after the first page.
    pub fn expire_continue(&self, resource: &str) -> NewFault {
        self.rule(LIST, resource, Effect::ExpireContinue)
    }

    /// Streaming lists (watches with `sendInitialEvents`) never send the bookmark that ends the initial
    /// events.
    pub fn withhold_initial_events_end(&self, resource: &str) -> NewFault {
        self.rule(WATCH, resource, Effect::WithholdInitialEventsEnd)
    }

    /// Holds the watches of the resource, open ones and new ones: they deliver no events and no bookmarks,
    /// and do not end. When the fault is removed, they continue with everything that happened meanwhile.
    pub fn hold_watches_of(&self, resource: &str) -> NewFault {
        self.rule(WATCH, resource, Effect::HoldWatches)
    }

    /// Freezes the state that stale reads see, as if the watch cache of the server were stuck at this moment.
    /// It concerns reads at any version (`resourceVersion=0`) or at a version up to this one. It also
    /// concerns watches that begin with the existing objects: they begin with the frozen state and continue
    /// with the changes since, so they deliver changes that the client may have seen already. Consistent
    /// reads still see the newest state.
    pub fn stale_reads_of(&self, resource: &str) -> NewFault {
        self.rule(GET | LIST | WATCH, resource, Effect::StaleReads)
            .with(|rule| rule.past = Some(self.api.storage.backup()))
    }

    /// Breaks the open watches of a resource once, between two events. Later watches are not affected.
    pub fn cut_watches_of(&self, resource: &str) {
        self.api.faults.cut(resource);
    }

    /// [`cut_watches_of`](Self::cut_watches_of) the resource of this type.
    #[cfg(feature = "kube")]
    pub fn cut_watches<K: kube_core::Resource<DynamicType = ()>>(&self) {
        self.cut_watches_of(&id::<K>());
    }

    /// [`hold_watches_of`](Self::hold_watches_of) the resource of this type.
    #[cfg(feature = "kube")]
    pub fn hold_watches<K: kube_core::Resource<DynamicType = ()>>(&self) -> NewFault {
        self.hold_watches_of(&id::<K>())
    }

    /// [`stale_reads_of`](Self::stale_reads_of) the resource of this type.
    #[cfg(feature = "kube")]
    pub fn stale_reads<K: kube_core::Resource<DynamicType = ()>>(&self) -> NewFault {
        self.stale_reads_of(&id::<K>())
    }

    /// Removes all changes so far from the history: requests for older versions are answered with 410. Open
    /// watches that have delivered these changes continue.
    pub fn compact(&self) {
        self.api.storage.compact(self.api.storage.resource_version());
    }

    /// Simulates a restart of the server that loses its watch history: all watches break, and resuming one is
    /// answered with 410.
    pub fn restart(&self) {
        self.compact();
        self.api.faults.cut("*");
    }

    /// Keeps the current state for [`restore`](Self::restore). This costs next to nothing.
    pub fn backup(&self) -> ClusterBackup {
        ClusterBackup(self.api.storage.backup())
    }

    /// Brings an older state of the cluster back, and its resource versions with it, as a restored backup of
    /// etcd does. Definitions of custom resources are those of that time. All watches break, and the watch
    /// history is lost.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use kube_sim::Sim;
    /// use serde_json::json;
    ///
    /// let sim = Sim::builder().build()?;
    /// let before = sim.faults().backup();
    /// sim.store().create(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}))?;
    /// sim.faults().restore(&before);
    /// assert!(sim.store().get("v1", "Node", None, "n").is_err());
    /// # Ok(()) }
    /// ```
    pub fn restore(&self, backup: &ClusterBackup) {
        self.api.restore(&backup.0);
        self.api.faults.cut("*");
    }

    /// Ends all faults.
    pub fn clear(&self) {
        self.api.faults.retain(|_| false);
    }

    fn rule(&self, verbs: Verbs, resource: &str, effect: Effect) -> NewFault {
        NewFault {
            api: self.api.clone(),
            rule: Some(Rule::new(verbs, resource, effect)),
        }
    }
}

/// What rules call the resource of a type.
#[cfg(feature = "kube")]
fn id<K: kube_core::Resource<DynamicType = ()>>() -> String {
    match K::group(&()) {
        group if group.is_empty() => K::plural(&()).into_owned(),
        group => format!("{}.{group}", K::plural(&())),
    }
}

impl NewFault {
    /// Matches only requests in this namespace.
    pub fn namespace(self, namespace: &str) -> Self {
        self.with(|rule| rule.namespace = Some(namespace.into()))
    }

    /// Matches only requests for the object of this name; for creations, the name in the object counts.
    pub fn name(self, name: &str) -> Self {
        self.with(|rule| rule.name = Some(name.into()))
    }

    /// Ends the fault after it has acted this often. Default: it does not end; with [`nth`](Self::nth), after
    /// once.
    pub fn times(self, times: u64) -> Self {
        self.with(|rule| rule.times = Some(times))
    }

    /// Skips the first `n - 1` of the requests that it matches and acts on the next one, or on as many as
    /// [`times`](Self::times) says. Requests that an older fault has decided are not counted.
    pub fn nth(self, n: u64) -> Self {
        self.with(|rule| {
            rule.skip = n.saturating_sub(1);
            rule.times.get_or_insert(1);
        })
    }

    /// Acts only on some of the requests: each with this probability, from 0 to 1, decided by the cluster's
    /// [seed](crate::SimBuilder::seed).
    pub fn probability(self, probability: f64) -> Self {
        self.with(|rule| rule.probability = Some(probability.clamp(0.0, 1.0)))
    }

    /// The request takes effect, and only its answer is affected.
    pub fn applied(self) -> Self {
        self.with(|rule| rule.applied = true)
    }

    /// Adds a `Retry-After` of this many seconds to the header and the status. For
    /// [`refuse`](Faults::refuse).
    pub fn retry_after(self, seconds: u64) -> Self {
        self.with(|rule| {
            if let Effect::Refuse { retry_after, .. } = &mut rule.effect {
                *retry_after = Some(seconds);
            }
        })
    }

    /// Puts the fault into effect, and returns a handle to it.
    pub fn start(mut self) -> Fault {
        let rule = self.rule.take().expect("a fault takes effect once");
        Fault {
            id: self.api.faults.add(rule),
            api: self.api.clone(),
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Rule)) -> Self {
        if let Some(rule) = &mut self.rule {
            change(rule);
        }
        self
    }
}

impl Drop for NewFault {
    fn drop(&mut self) {
        if let Some(rule) = self.rule.take() {
            self.api.faults.add(rule);
        }
    }
}

impl Fault {
    /// The number of requests on which it has acted.
    pub fn hits(&self) -> u64 {
        self.api.faults.hits(self.id)
    }

    /// Ends the fault. Its effects remain; watches that it held continue.
    pub fn remove(&self) {
        self.api.faults.retain(|id| id != self.id);
    }
}
