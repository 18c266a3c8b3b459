//! The notifications that handlers receive.

use crate::object::{CachedObject, Deleted, ObjectKey};
use std::fmt;

/// One change, as handlers and streams receive it.
///
/// For one key the notifications of a handler are a legal history: an [`Add`](Self::Add), any number of
/// [`Update`](Self::Update)s, a [`Delete`](Self::Delete), and so on. A new object under the same key (another uid) is
/// a deletion and an add.
pub enum Notification<O: CachedObject> {
    /// An object is new in the store.
    Add {
        /// The object.
        object: O::Handle,
        /// Whether the object belongs to the initial state: that of the informer, or that of a handler that was added
        /// late.
        initial: bool,
    },
    /// An object has changed, or is repeated for a resync.
    Update {
        /// The state that the handler received before.
        old: O::Handle,
        /// The current state.
        new: O::Handle,
    },
    /// An object was deleted.
    Delete(Deleted<O::Handle>),
}

impl<O: CachedObject> Notification<O> {
    /// The object's key.
    pub fn key(&self) -> ObjectKey {
        match self {
            Self::Add { object, .. } => O::key_of(object),
            Self::Update { new, .. } => O::key_of(new),
            Self::Delete(deleted) => deleted.key.clone(),
        }
    }

    /// The latest state in this notification: the new object, or the last known state of a deleted one.
    pub fn object(&self) -> Option<&O::Handle> {
        match self {
            Self::Add { object, .. } => Some(object),
            Self::Update { new, .. } => Some(new),
            Self::Delete(deleted) => deleted.last_known.as_ref(),
        }
    }

    /// The last known state, if this is a deletion.
    pub(super) fn deleted(&self) -> Option<&O::Handle> {
        match self {
            Self::Delete(deleted) => deleted.last_known.as_ref(),
            Self::Add { .. } | Self::Update { .. } => None,
        }
    }
}

impl<O: CachedObject> Clone for Notification<O> {
    fn clone(&self) -> Self {
        match self {
            Self::Add { object, initial } => Self::Add {
                object: object.clone(),
                initial: *initial,
            },
            Self::Update { old, new } => Self::Update {
                old: old.clone(),
                new: new.clone(),
            },
            Self::Delete(deleted) => Self::Delete(deleted.clone()),
        }
    }
}

/// Shows the kind of change, the key and the resource version, never the object.
impl<O: CachedObject> fmt::Debug for Notification<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = |object: &O::Handle| {
            O::resource_version_of(object)
                .map(|v| v.to_string())
                .unwrap_or_default()
        };
        let key = self.key();
        match self {
            Self::Add {
                object,
                initial: true,
            } => write!(f, "Add({key}@{}, initial)", version(object)),
            Self::Add {
                object,
                initial: false,
            } => write!(f, "Add({key}@{})", version(object)),
            Self::Update { old, new } => write!(f, "Update({key}@{}->{})", version(old), version(new)),
            Self::Delete(deleted) => {
                let last = deleted.last_known.as_ref().map(version).unwrap_or_default();
                write!(f, "Delete({key}@{last}, {:?})", deleted.cause)
            }
        }
    }
}
