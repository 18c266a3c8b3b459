//! The garbage collector: what becomes of the dependents of an object that is deleted, and of objects without owners.

use serde_json::{Value, json};

use super::{drop_finalizer, metadata, metadata_mut, text};
use crate::api::Api;
use crate::api::write::{DeleteOptions, Propagation};
use crate::meta::Object;
use crate::object::{Stored, join_key};
use crate::storage::{Place, Transaction};
use crate::target::Target;

/// The owners that an object names.
#[derive(Default)]
struct Owners {
    /// How many of them are there, and are not waiting for it to go.
    solid: usize,
    /// The uids of those that are not there.
    dangling: Vec<String>,
    /// The uids of those that are deleted once their dependents are.
    waiting: Vec<String>,
}

impl Api {
    /// Does what the object's deletion, or that of its owners, asks for.
    pub(super) fn collect(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        current: &Stored,
        object: &Object,
    ) {
        if current.deleting {
            return match Propagation::of(object) {
                Some(Propagation::Orphan) => self.orphan_dependents(transaction, target, current.uid()),
                Some(Propagation::Foreground) => self.delete_dependents(transaction, target, current.uid()),
                _ => {}
            };
        }
        let Some(owners) = self.owners(transaction, current.namespace(), object) else {
            return;
        };
        let gone = [&owners.dangling[..], &owners.waiting[..]].concat();
        if gone.is_empty() {
            return;
        }
        if owners.solid > 0 {
            return self.change_here(transaction, target, |object| disown(object, &gone));
        }
        let dependents = transaction.dependents(current.uid());
        let propagation = match Propagation::of(object) {
            _ if !owners.waiting.is_empty() && !dependents.is_empty() => {
                if dependents.iter().any(|place| transaction.is_in_foreground(place)) {
                    // Perhaps it owns its owner: none of them may wait for the other.
                    self.change_here(transaction, target, unblock);
                }
                Propagation::Foreground
            }
            asked => asked.unwrap_or(Propagation::Background),
        };
        let options = DeleteOptions {
            propagation: Some(propagation),
            ..DeleteOptions::default()
        };
        if let Ok((current, object)) = self.current(transaction, target) {
            if !owners.dangling.is_empty() {
                // A fixture with a made-up owner goes this way, too: whoever wonders finds the reason here.
                let (resource, key) = (target.resource.id(), &*current.key);
                tracing::info!(resource, key, uids = ?owners.dangling, "deleted: its owners do not exist");
            }
            self.delete_here(transaction, target, &current, object, &options);
        }
    }

    /// Whether an object names an owner that is not there, or waits for it to go.
    pub(super) fn lacks_owner(
        &self,
        transaction: &mut Transaction<'_>,
        namespace: &str,
        object: &Object,
    ) -> bool {
        let owners = self.owners(transaction, namespace, object);
        owners.is_some_and(|owners| !owners.dangling.is_empty() || !owners.waiting.is_empty())
    }

    /// The owners of an object in a namespace, or in none; none if one of them cannot be judged.
    fn owners(&self, transaction: &mut Transaction<'_>, namespace: &str, object: &Object) -> Option<Owners> {
        let references = metadata(object).get("ownerReferences")?.as_array()?;
        let mut owners = Owners::default();
        for reference in references {
            let field = |name: &str| reference[name].as_str().unwrap_or("");
            let (resource, _) = self.registry().of_kind(field("apiVersion"), field("kind"))?;
            if resource.namespaced && namespace.is_empty() {
                return None;
            }
            let key = match resource.namespaced {
                true => join_key(namespace, field("name")),
                false => field("name").to_owned(),
            };
            match transaction.get(&resource, &key) {
                Some(found) if found.uid() == field("uid") => {
                    match transaction.foreground().contains_key(found.uid()) {
                        true => owners.waiting.push(field("uid").into()),
                        false => owners.solid += 1,
                    }
                }
                _ => owners.dangling.push(field("uid").into()),
            }
        }
        Some(owners)
    }

    /// The dependents forget their owner, which may go then.
    fn orphan_dependents(&self, transaction: &mut Transaction<'_>, target: &Target, uid: &str) {
        for dependent in transaction.dependents(uid) {
            if let Some(dependent) = self.target_of(&dependent) {
                self.change_here(transaction, &dependent, |object| {
                    disown(object, &[uid.to_owned()])
                });
            }
        }
        self.change_here(transaction, target, |object| drop_finalizer(object, "orphan"));
    }

    /// The dependents go first; those that do not block their owner may be the later ones.
    fn delete_dependents(&self, transaction: &mut Transaction<'_>, target: &Target, uid: &str) {
        let dependents = transaction.dependents(uid);
        let blocks = |transaction: &mut Transaction<'_>, place: &Place| {
            let dependent = self.target_of(place)?;
            let (_, object) = self.current(transaction, &dependent).ok()?;
            let references = metadata(&object).get("ownerReferences")?.as_array()?;
            let blocking =
                |reference: &Value| reference["uid"] == uid && reference["blockOwnerDeletion"] == true;
            references.iter().any(blocking).then_some(())
        };
        let blocked = dependents
            .iter()
            .any(|place| blocks(transaction, place).is_some());
        for place in dependents {
            if !self.is_being_deleted_at(transaction, &place) {
                transaction.enqueue(place);
            }
        }
        if !blocked {
            self.change_here(transaction, target, |object| {
                drop_finalizer(object, "foregroundDeletion")
            });
        }
    }

    fn target_of(&self, place: &Place) -> Option<Target> {
        Some(Target::of(self.registry().of_id(&place.resource)?, &place.key))
    }

    fn is_being_deleted_at(&self, transaction: &mut Transaction<'_>, place: &Place) -> bool {
        let resource = self.registry().of_id(&place.resource);
        let found = resource.and_then(|resource| transaction.get(&resource, &place.key));
        found.is_some_and(|stored| stored.deleting)
    }
}

/// Takes owners from an object.
fn disown(object: &mut Object, uids: &[String]) {
    if let Some(references) = metadata_mut(object)
        .get_mut("ownerReferences")
        .and_then(Value::as_array_mut)
    {
        references.retain(|reference| {
            let uid = reference
                .as_object()
                .map_or("", |reference| text(reference, "uid"));
            !uids.iter().any(|gone| gone == uid)
        });
    }
}

/// The object keeps none of its owners from being deleted.
fn unblock(object: &mut Object) {
    let references = metadata_mut(object)
        .get_mut("ownerReferences")
        .and_then(Value::as_array_mut);
    for reference in references.into_iter().flatten() {
        if !reference["blockOwnerDeletion"].is_null() {
            reference["blockOwnerDeletion"] = json!(false);
        }
    }
}
