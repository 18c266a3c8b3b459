//! Conversion webhooks: others make objects of one version of a custom resource objects of another.
//!
//! Whoever reads is answered when the webhook has ([`Api::converted`]). A write is computed under the storage's lock, where nobody can
//! wait for the network. So it is tried, as for admission webhooks: it takes what its [`Session`] has been answered so far, and where
//! an answer is missing, nothing is written; the webhook is asked with the lock free, and the write is tried again. What the control
//! plane does concerns metadata only, and converts nothing.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use crate::carried::{self, Carried};
use crate::meta::metadata_mut;
use crate::resources::Resource;
use crate::status::StatusError;
use crate::webhook::Answers;

mod ask;
mod restore;
pub(crate) mod webhook;

type Object = Map<String, Value>;

/// What webhooks have answered for one request, and what they are to be asked for it.
#[derive(Default)]
pub(crate) struct Session {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    answers: Answers<Key, Result<Object, StatusError>>,
    missing: Vec<Missing>,
    /// The first failure that an attempt came to.
    failed: Option<StatusError>,
}

/// An object as text, without its resource version, and the API version that is wanted.
type Key = (String, String);

/// An object to be converted.
pub(crate) struct Missing {
    key: Key,
    resource: Resource,
    object: Object,
    version: String,
}

/// What is known of the conversion of an object.
pub(crate) enum Conversion {
    /// Nobody can wait for it here.
    Unasked,
    /// It will be, in the next attempt.
    Pending,
    Known(Object),
}

impl Session {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins an attempt.
    pub(crate) fn begin(&self) {
        let mut state = self.lock();
        state.answers.begin();
        state.missing.clear();
        state.failed = None;
    }

    /// What the attempt has missed.
    pub(crate) fn missing(&self) -> Vec<Missing> {
        std::mem::take(&mut self.lock().missing)
    }

    /// Why the attempt cannot succeed.
    pub(crate) fn failure(&self) -> Option<StatusError> {
        self.lock().failed.take()
    }
}

/// Runs `f` in a session, or outside of any.
pub(crate) fn within<T>(session: Option<Arc<Session>>, f: impl FnOnce() -> T) -> T {
    carried::within(session.map(|session| session as Carried), f)
}

/// The session in which this thread is.
pub(crate) fn session() -> Option<Arc<Session>> {
    carried::now()?.downcast().ok()
}

/// What the session has been answered about an object.
pub(crate) fn known(resource: &Resource, version: &str, object: &Object) -> Conversion {
    let Some(session) = session() else {
        return Conversion::Unasked;
    };
    let mut plain = object.clone();
    metadata_mut(&mut plain).remove("resourceVersion");
    let key = (Value::Object(plain).to_string(), version.to_owned());
    let mut state = session.lock();
    match state.answers.get(&key).cloned() {
        Some(Ok(mut converted)) => {
            restore_version(object, &mut converted);
            Conversion::Known(converted)
        }
        Some(Err(error)) => {
            state.failed.get_or_insert(error);
            Conversion::Pending
        }
        None => {
            if !state.missing.iter().any(|missing| missing.key == key) {
                state.missing.push(Missing {
                    key,
                    resource: resource.clone(),
                    object: object.clone(),
                    version: version.to_owned(),
                });
            }
            Conversion::Pending
        }
    }
}

/// That nothing is missing up to here: what comes now changes something.
///
/// # Errors
///
/// The attempt is to end here.
pub(crate) fn complete() -> Result<(), StatusError> {
    let Some(session) = session() else { return Ok(()) };
    let state = session.lock();
    match &state.failed {
        Some(error) => Err(error.clone()),
        None if state.missing.is_empty() => Ok(()),
        None => Err(StatusError::internal("objects have not been converted yet")),
    }
}

fn restore_version(original: &Object, converted: &mut Object) {
    let metadata = metadata_mut(converted);
    match original
        .get("metadata")
        .and_then(|metadata| metadata.get("resourceVersion"))
    {
        Some(version) => metadata.insert("resourceVersion".into(), version.clone()),
        None => metadata.remove("resourceVersion"),
    };
}
