//! Events: what a controller tells people about an object, as `kubectl describe` shows it.
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
//! [`Recorder::record`] puts the event in line and returns. [`Recorder::publish`] also waits until the server has answered, as kube's does, unless it
//! does not answer. The recorder writes to `events.k8s.io/v1`, from a task of its own, by the rules of client-go's packages `tools/events` and
//! `tools/record`:
//!
//! - *Series*: an event that equals one of the last six minutes is counted in its series. The first repetition is written at
//!   once, later ones every 30 minutes and at the end of the series, which is six minutes after its last event. The resource version
//!   of an object makes no difference: an object whose status is written is still the same object.
//! - *Aggregation*: from the tenth different note within ten minutes on, events that differ in nothing else are one event, whose note
//!   starts with `(combined from similar events): `.
//! - *Spam filter*: of one object and type, 25 new events are written at once, and one more every five minutes. What
//!   is counted in a series costs no request and is not limited.
//! - *Retries*: a write that the server has not answered, or answered with 429 or 5xx, is tried 12 times, 10 seconds apart. Any other
//!   refusal drops the event.
//!
//! Differences from client-go: the notes of a series are equal, where `tools/events` counts different notes under the first one, and
//! starts a series anew when the resource version changes; 429 and 5xx are retried.
//!
//! # Bounds
//! 1000 writes wait in line. When the line is full, what would need another is dropped. 4096 series, and as many counters for aggregation and
//! spam, are remembered; the one that was used least recently makes room. What was dropped, and why, is counted in the
//! [status](Recorder::status) and logged.
//!
//! # Stopping
//! [`Recorder::shutdown`] tries once more to write everything that waits, for 30 seconds at most. Without it, that happens when the last clone of the
//! recorder is dropped, as long as the runtime lives.
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
mod writer;

pub use recorder::{InvalidEvent, Recorder, RecorderStatus, Unwritten};

use crate::names::hostname;
use k8s_openapi::api::core::v1::ObjectReference;

/// What has happened to an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// How serious it is.
    pub type_: EventType,
    /// Why the action was taken, as a word in PascalCase, for programs: 1 to 128 bytes.
    pub reason: String,
    /// What has happened, for people. What is over 1024 bytes is cut off, and makes no difference.
    pub note: Option<String>,
    /// What the controller did, as a word in PascalCase: 1 to 128 bytes.
    pub action: String,
    /// Another object that this concerns.
    pub secondary: Option<ObjectReference>,
}

/// How serious an event is.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash)]
pub enum EventType {
    /// Nothing to worry about.
    Normal,
    /// Somebody should have a look.
    Warning,
}

/// Who publishes events.
///
/// A name converts into a reporter whose instance is the host, which is the pod's name in a pod: `"my-controller".into()`.
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
