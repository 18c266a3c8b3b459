//! Custom resource definitions that wait for names, or for the end of their objects.

use super::{Object, drop_finalizer, finalizers, is_being_deleted, rfc3339};
use crate::api::Api;
use crate::api::write::DeleteOptions;
use crate::api::write::definition::{self, CLEANUP, Condition};
use crate::storage::Transaction;
use crate::target::Target;

/// How many objects of a definition are deleted in one transaction: others are served in between.
const PORTION: usize = 100;

impl Api {
    /// Does what a definition waits for, if it can be done now.
    pub(super) fn look_at_definition(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        object: &Object,
    ) {
        if is_being_deleted(object) {
            if finalizers(object).contains(&CLEANUP) {
                self.end_definition(transaction, target, object);
            }
            return;
        }
        let mut named = object.clone();
        definition::accept_names(&mut named, &self.registry(), &rfc3339(self.now()));
        if named != *object {
            self.change_here(transaction, target, |object| *object = named);
        }
    }

    /// Deletes the objects of a definition that is being deleted, and lets it go when they are gone.
    fn end_definition(&self, transaction: &mut Transaction<'_>, target: &Target, object: &Object) {
        let now = rfc3339(self.now());
        let begun = Condition {
            kind: "Terminating",
            holds: true,
            reason: "InstanceDeletionInProgress",
            message: "CustomResource deletion is in progress",
        };
        self.change_here(transaction, target, |object| begun.put(object, &now));
        let (mut reason, mut message) = ("NeverEstablished", "resource was never established");
        let defined = self.registry().of_id(target.name.as_deref().unwrap_or(""));
        if let Some(defined) = defined.filter(|defined| defined.custom && definition::is_established(object))
        {
            let objects = transaction.snapshot(&defined);
            let going_on = objects.range("", None).filter(|object| !object.deleting);
            let portion: Vec<_> = going_on.take(PORTION).cloned().collect();
            for current in &portion {
                let of_one = Target::of(defined.clone(), &current.key);
                let object = of_one.decode(current);
                self.delete_here(transaction, &of_one, current, object, &DeleteOptions::default());
            }
            if portion.len() == PORTION {
                let definition = transaction.place(&target.resource, &target.key());
                return transaction.enqueue(definition);
            }
            // The removal of the last one makes this look again, after those that it owned.
            if !portion.is_empty() || !transaction.has_none(&defined) {
                return;
            }
            (reason, message) = ("InstanceDeletionCompleted", "removed all instances");
        }
        let done = Condition {
            kind: "Terminating",
            holds: false,
            reason,
            message,
        };
        self.change_here(transaction, target, |object| {
            done.put(object, &now);
            drop_finalizer(object, CLEANUP);
        });
    }
}
