//! Events: messages of a controller about an object, which `kubectl describe` shows.
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::Pod;
//! use kube::{Client, Resource};
//! use kube_controller::events::{Event, EventType, Recorder, Reporter};
//!
//! # async fn example(client: Client, pod: Pod) -> Result<(), kube::Error> {
//! let reporter = Reporter {
//!     controller: "my-controller".into(),
//!     instance: std::env::var("CONTROLLER_POD_NAME").ok(),
//! };
//! let recorder = Recorder::new(client, reporter);
//! let event = Event {
//!     type_: EventType::Warning,
//!     reason: "PullFailed".into(),
//!     note: Some("the image does not exist".into()),
//!     action: "Pulling".into(),
//!     secondary: None,
//! };
//! recorder.publish(&event, &pod.object_ref(&())).await?;
//! # Ok(()) }
//! ```
//!
//! [`Recorder::record`] queues the event and returns. [`Recorder::publish`] also waits for the server's
//! answer, as kube's does, but not if the server does not answer. The recorder writes to `events.k8s.io/v1`
//! from its own task, by the rules of client-go's packages `tools/events` and `tools/record`:
//!
//! - *Series*: an event that equals one of the last six minutes is counted in its series. The first
//!   repetition is written at once, later ones every 30 minutes and at the end of the series, which is six
//!   minutes after its last event. The resource version of an object makes no difference: an object whose
//!   status is written is still the same object.
//! - *Aggregation*: if events differ only in their notes, then from the tenth note within ten minutes on they
//!   are one event, whose note starts with `(combined from similar events): `.
//! - *Spam filter*: for each object and type, 25 new events are written at once, and one more every five
//!   minutes. Events that are only counted in a series cost no request and are not limited.
//! - *Retries*: a write that the server has not answered, or answered with 429 or 5xx, is tried 12 times, 10
//!   seconds apart. Any other refusal drops the event.
//!
//! Differences from client-go: all events of a series have equal notes, and 429 and 5xx are retried.
//! (`tools/events` counts events with different notes under the first note, and starts a new series when the
//! resource version changes.)
//!
//! # Bounds
//! The queue holds up to 1000 writes. When it is full, events that need another write are dropped. The
//! recorder remembers 4096 series, and as many counters for aggregation and for spam; beyond that, it forgets
//! the least recently used one. Dropped events are counted by reason in the [status](Recorder::status), and
//! logged.
//!
//! # Stopping
//! [`Recorder::shutdown`] tries once more to write all queued events, for 30 seconds at most. Without it,
//! this happens when the last clone of the recorder is dropped, if the runtime still runs.
//!
//! # Access
//! ```yaml
//! - apiGroups: ["events.k8s.io"]
//!   resources: ["events"]
//!   verbs: ["create", "patch"]
//! ```

mod correlator;
mod lru;
mod recorder;
mod status;
mod writer;

pub use recorder::{InvalidEvent, Recorder, Unwritten};
pub use status::RecorderStatus;

use crate::names::hostname;
use k8s_openapi::api::core::v1::ObjectReference;

/// What has happened to an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// How serious it is.
    pub type_: EventType,
    /// Why the action was taken, as a word in PascalCase, for programs: 1 to 128 bytes.
    pub reason: String,
    /// What has happened, for people. Everything beyond 1024 bytes is cut off, and is not compared.
    pub note: Option<String>,
    /// What the controller did, as a word in PascalCase: 1 to 128 bytes.
    pub action: String,
    /// Another object that this concerns.
    pub secondary: Option<ObjectReference>,
}

/// How serious an event is.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash)]
pub enum EventType {
    /// Information.
    Normal,
    /// A problem that somebody should look at.
    Warning,
}

/// Who publishes events.
///
/// A name converts into a reporter whose instance is the host, which is the pod's name in a pod:
/// `"my-controller".into()`.
#[derive(Clone, Debug, Eq, PartialEq, Hash)]
pub struct Reporter {
    /// The controller: a qualified name, such as `my-controller` or `example.com/my-controller`.
    pub controller: String,
    /// The process, such as the name of its pod, of up to 128 bytes. Default: the controller's name.
    pub instance: Option<String>,
}

impl From<String> for Reporter {
    fn from(controller: String) -> Self {
        Self {
            controller,
            instance: None,
        }
    }
}

impl From<&str> for Reporter {
    fn from(controller: &str) -> Self {
        Self {
            controller: controller.into(),
            instance: hostname(),
        }
    }
}

#[cfg(test)]
mod tests;
