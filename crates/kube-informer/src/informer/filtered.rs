//! A handler that is only told of some objects.

use super::handler::ResourceEventHandler;
use crate::object::{CachedObject, DeleteCause, Deleted, ObjectKey};
use foldhash::fast::RandomState;
use std::collections::HashSet;

/// A handler that is only told of objects that pass a filter, made by
/// [`ResourceEventHandler::filtered`].
///
/// The filter is asked once for each new state. What follows depends on whether the handler has been told of the object:
///
/// | the handler knows the object | the new state passes | the handler is told of |
/// |---|---|---|
/// | yes | yes | an update |
/// | no | yes | an add; one that is not initial, unless the object is new |
/// | yes | no | a deletion ([`Unselected`](crate::DeleteCause::Unselected)) with the old state |
/// | no | no | nothing |
///
/// The deletion of an object that the handler knows is told, whatever its last state. So the handler is told a legal history
/// even if states in between were [merged](super::Delivery), or if the filter changes its mind.
///
/// # Memory
/// The keys of the objects that pass are kept.
#[doc(alias = "FilteringResourceEventHandler")]
pub struct Filtered<H, F> {
    handler: H,
    filter: F,
    /// What the handler knows.
    told: HashSet<ObjectKey, RandomState>,
}

impl<H, F> Filtered<H, F> {
    pub(super) fn new(handler: H, filter: F) -> Self {
        Self {
            handler,
            filter,
            told: HashSet::default(),
        }
    }
}

impl<O, H, F> ResourceEventHandler<O> for Filtered<H, F>
where
    O: CachedObject,
    H: ResourceEventHandler<O>,
    F: FnMut(&O::Handle) -> bool + Send + 'static,
{
    async fn on_add(&mut self, object: O::Handle, initial: bool) {
        if (self.filter)(&object) {
            self.told.insert(O::key_of(&object));
            self.handler.on_add(object, initial).await;
        }
    }

    async fn on_update(&mut self, old: O::Handle, new: O::Handle) {
        let key = O::key_of(&new);
        match (self.told.contains(&key), (self.filter)(&new)) {
            (true, true) => self.handler.on_update(old, new).await,
            (false, true) => {
                self.told.insert(key);
                self.handler.on_add(new, false).await;
            }
            (true, false) => {
                self.told.remove(&key);
                let deleted = Deleted {
                    key,
                    last_known: Some(old),
                    cause: DeleteCause::Unselected,
                };
                self.handler.on_delete(deleted).await;
            }
            (false, false) => {}
        }
    }

    async fn on_delete(&mut self, deleted: Deleted<O::Handle>) {
        if self.told.remove(&deleted.key) {
            self.handler.on_delete(deleted).await;
        }
    }
}

#[cfg(test)]
mod tests;
