//! A handler for objects that pass a filter.

use super::handler::ResourceEventHandler;
use crate::object::{CachedObject, DeleteCause, Deleted, ObjectKey};
use foldhash::fast::RandomState;
use std::collections::HashSet;

/// A handler that receives only objects that pass a filter, created by [`ResourceEventHandler::filtered`].
///
/// The filter is called once for each new state. The notification depends on whether the handler knows the object:
///
/// | the handler knows the object | the new state passes | the handler receives |
/// |---|---|---|
/// | yes | yes | an update |
/// | no | yes | an add; one that is not initial, unless the object is new |
/// | yes | no | a deletion ([`Unselected`](crate::DeleteCause::Unselected)) with the old state |
/// | no | no | nothing |
///
/// The deletion of a known object is always passed on, whatever its last state. So the handler receives a legal
/// history even if intermediate states were [coalesced](super::Delivery), or if the filter's result for an object
/// changes.
///
/// # Memory
/// The keys of the objects that pass are stored.
#[doc(alias = "FilteringResourceEventHandler")]
pub struct Filtered<H, F> {
    handler: H,
    filter: F,
    /// The objects that the handler knows.
    known: HashSet<ObjectKey, RandomState>,
}

impl<H, F> Filtered<H, F> {
    pub(super) fn new(handler: H, filter: F) -> Self {
        Self {
            handler,
            filter,
            known: HashSet::default(),
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
            self.known.insert(O::key_of(&object));
            self.handler.on_add(object, initial).await;
        }
    }

    async fn on_update(&mut self, old: O::Handle, new: O::Handle) {
        let key = O::key_of(&new);
        match (self.known.contains(&key), (self.filter)(&new)) {
            (true, true) => self.handler.on_update(old, new).await,
            (false, true) => {
                self.known.insert(key);
                self.handler.on_add(new, false).await;
            }
            (true, false) => {
                self.known.remove(&key);
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
        if self.known.remove(&deleted.key) {
            self.handler.on_delete(deleted).await;
        }
    }
}

#[cfg(test)]
mod tests;
