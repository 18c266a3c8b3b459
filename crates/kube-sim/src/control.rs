//! The control plane: the controllers without which deleted objects of a real cluster would never go away.
//!
//! Every change says which objects its controllers have to look at (`written`, `removed`). They do so right
//! after the request that made the change, before it is answered, one object and one transaction at a time,
//! until none is left. So everybody sees the steps, and nobody has to wait for the end. Only the objects of a
//! definition that is deleted go a moment later: clients delete a definition, and then watch for its end.
//!
//! # Speed
//!
//! A change that concerns no controller costs a look-up or two. Dependents are found by an index on the uids
//! of owners, which the storage keeps; what belongs to a namespace by its prefix.

use std::sync::PoisonError;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::api::Api;
use crate::api::write::{DEFINITIONS, DeleteOptions, Propagation, Writer};
use crate::conversion;
use crate::meta::{Object, finalizers, is_being_deleted, metadata, metadata_mut, rfc3339, text};
use crate::object::Stored;
use crate::resources::{Registry, Resource};
use crate::storage::{Backup, Place, Transaction};
use crate::target::Target;

mod aggregation;
mod collector;
pub(crate) mod controller;
mod definitions;
mod first;
mod namespaces;
mod protection;
mod registration;

pub(crate) use protection::protect;

use controller::Controller;

impl Api {
    pub(crate) fn runs(&self, controller: Controller) -> bool {
        self.controllers.contains(&controller)
    }

    /// An object was created, or took the place of `previous`.
    pub(crate) fn written(
        &self,
        transaction: &mut Transaction<'_>,
        resource: &Resource,
        object: &Object,
        stored: &Stored,
        previous: Option<&Stored>,
        writer: Writer<'_>,
    ) {
        let place = transaction.place(resource, &stored.key);
        // The server itself looks after those, with and without controllers.
        let was_there = previous.is_none_or(|previous| previous.deleting);
        if stored.deleting && was_there && &*place.resource == DEFINITIONS {
            transaction.enqueue(place.clone());
        }
        if self.controllers.is_empty() {
            return;
        }
        let foreground = transaction.foreground();
        if stored.deleting && Propagation::of(object) == Some(Propagation::Foreground) {
            foreground.insert(stored.uid().into(), place.clone());
        } else if !foreground.is_empty() {
            // It may have been asked to orphan its dependents since.
            foreground.remove(stored.uid());
        }
        let same_owners = previous.is_some_and(|previous| stored.has_owners_of(previous));
        let new_owners = !same_owners
            && writer != Writer::Owner
            && stored.owners().next().is_some()
            && self.runs(Controller::GarbageCollector)
            && self.lacks_owner(transaction, stored.namespace(), object);
        let new_namespace = previous.is_none() && &*place.resource == "namespaces";
        if stored.deleting || new_owners || new_namespace {
            transaction.enqueue(place);
        }
        if let Some(previous) = previous {
            self.recheck_owners(transaction, previous);
            // A pod uses the same claims as long as it is there.
            if resource.plural != "pods" {
                self.recheck_protected(transaction, resource, previous);
            }
        }
        self.recheck_roles(transaction, resource);
        self.recheck_registration(transaction, resource, stored.name(), Some(object));
    }

    /// Aggregated roles are looked at when one of them, or of what they are made of, has changed: all at
    /// once, at no key.
    fn recheck_roles(&self, transaction: &mut Transaction<'_>, resource: &Resource) {
        if aggregation::concerns(resource) && self.runs(Controller::ClusterRoleAggregation) {
            let place = transaction.place(resource, "");
            transaction.enqueue(place);
        }
    }

    /// An object is gone.
    pub(crate) fn removed(&self, transaction: &mut Transaction<'_>, resource: &Resource, object: &Stored) {
        if !self.controllers.is_empty() {
            transaction.foreground().remove(object.uid());
            for dependent in transaction.dependents(object.uid()) {
                transaction.enqueue(dependent);
            }
            self.recheck_owners(transaction, object);
            self.recheck_protected(transaction, resource, object);
            self.recheck_roles(transaction, resource);
            self.recheck_registration(transaction, resource, object.name(), None);
            if resource.namespaced && self.concerns_namespace(transaction, resource, object) {
                let namespace = Place {
                    resource: "namespaces".into(),
                    key: object.namespace().into(),
                };
                transaction.enqueue(namespace);
            }
        }
        let definition = resource.custom.then(|| resource.id());
        if let Some(definition) = definition
            && self
                .registry()
                .of_id(&definition)
                .is_some_and(|now| now.terminating)
            && transaction.has_none(resource)
        {
            let definition = Place {
                resource: DEFINITIONS.into(),
                key: definition.into(),
            };
            // Behind the dependents, whose owners nobody can look for once their kind is gone.
            transaction.dequeue(&definition);
            transaction.enqueue(definition);
        }
    }

    /// The owners that wait for this dependent look at what is left.
    fn recheck_owners(&self, transaction: &mut Transaction<'_>, dependent: &Stored) {
        if transaction.foreground().is_empty() {
            return;
        }
        for owner in dependent.owners() {
            if let Some(place) = transaction.foreground().get(owner).cloned() {
                transaction.enqueue(place);
            }
        }
    }

    /// Whether the namespace waits for the object's end, or wants it back.
    fn concerns_namespace(
        &self,
        transaction: &mut Transaction<'_>,
        resource: &Resource,
        object: &Stored,
    ) -> bool {
        let published = namespaces::published(resource, object.name());
        let namespaces = self.find("", "v1", "namespaces");
        let namespace = namespaces.and_then(|namespaces| transaction.get(&namespaces, object.namespace()));
        namespace.is_some_and(|namespace| namespace.deleting || published)
    }

    /// Lets the controllers do what the last changes ask of them.
    pub(crate) fn settle(&self) {
        if !self.storage.has_work() {
            return;
        }
        // Whoever waits here finds the work done that was his to do.
        let _turn = self.settling.lock().unwrap_or_else(PoisonError::into_inner);
        // The work may be that of other requests: what this one has to wait for is no reason to leave it.
        conversion::within(None, || {
            while self.storage.transact(|transaction| {
                let place = transaction.next_work(Instant::now());
                place.map(|place| self.look_at(transaction, &place)).is_some()
            }) {}
        });
    }

    /// Brings an older state back, in which the controllers look at what is being deleted.
    pub(crate) fn restore(&self, backup: &Backup) {
        self.storage.restore(backup);
        let definitions = backup.snapshot(DEFINITIONS);
        self.with_registry(Registry::forget_definitions);
        self.storage.transact(|transaction| {
            for definition in definitions.range("", None) {
                self.define(transaction, &definition.decode(b"{"), definition.resource_version);
            }
            let registry = self.registry();
            for resource in registry.iter() {
                for stored in transaction
                    .list(resource, "")
                    .iter()
                    .filter(|stored| stored.deleting)
                {
                    let object = Target::of(resource.clone(), &stored.key).decode(stored);
                    self.written(transaction, resource, &object, stored, None, Writer::Owner);
                }
            }
        });
        self.settle();
    }

    fn look_at(&self, transaction: &mut Transaction<'_>, place: &Place) {
        let Some(resource) = self.registry().of_id(&place.resource) else {
            return;
        };
        if place.key.is_empty() {
            self.aggregate_roles(transaction, &resource);
            // What it has written itself is no reason to look again: roles that select each other may never
            // agree.
            return transaction.dequeue(place);
        }
        let target = Target::of(resource, &place.key);
        if &*place.resource == registration::API_SERVICES && self.runs(Controller::BootstrapObjects) {
            self.register(transaction, &target);
        }
        let Ok((current, object)) = self.current(transaction, &target) else {
            return;
        };
        if place.resource.as_ref() == DEFINITIONS {
            self.look_at_definition(transaction, &target, &object);
        }
        if target.resource.id() == "namespaces" {
            if !current.deleting {
                self.publish_into(transaction, &current);
            } else if self.runs(Controller::NamespaceLifecycle) {
                self.end_namespace(transaction, &target, &object);
            }
        }
        if self.runs(Controller::GarbageCollector) {
            self.collect(transaction, &target, &current, &object);
        }
        if current.deleting {
            if self.runs(Controller::Kubelet) {
                self.end_pod(transaction, &target);
            }
            self.unprotect(transaction, &target, &object);
        }
    }

    /// Ends a pod as its node does when its containers have ended.
    fn end_pod(&self, transaction: &mut Transaction<'_>, target: &Target) {
        if target.resource.id() != "pods" {
            return;
        }
        let Ok((current, object)) = self.current(transaction, target) else {
            return;
        };
        let period = metadata(&object)
            .get("deletionGracePeriodSeconds")
            .and_then(Value::as_i64);
        if is_being_deleted(&object) && period.is_some_and(|seconds| seconds > 0) {
            let now = DeleteOptions {
                grace: Some(0),
                ..DeleteOptions::default()
            };
            self.delete_here(transaction, target, &current, object, &now);
        }
    }

    /// Deletes an object on behalf of a controller.
    fn delete_here(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        current: &std::sync::Arc<Stored>,
        object: Object,
        options: &DeleteOptions,
    ) {
        if let Err(error) = self.delete_in(transaction, target, current, object, options) {
            tracing::debug!(%error, key = &*current.key, "a controller could not delete an object");
        }
    }

    /// Changes an object on behalf of a controller.
    fn change_here(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        change: impl FnOnce(&mut Object),
    ) {
        let Ok((current, old)) = self.current(transaction, target) else {
            return;
        };
        let mut new = old.clone();
        change(&mut new);
        let key = current.key.clone();
        if let Err(error) = self.update(transaction, target, current, old, new, Writer::Owner) {
            tracing::debug!(%error, key = &*key, "a controller could not change an object");
        }
    }
}

/// Takes a finalizer from an object.
fn drop_finalizer(object: &mut Object, finalizer: &str) {
    let left: Vec<Value> = finalizers(object)
        .into_iter()
        .filter(|other| *other != finalizer)
        .map(Value::from)
        .collect();
    metadata_mut(object).insert("finalizers".into(), json!(left));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::rules::Rules;
    use crate::resources::Registry;
    use crate::storage::Storage;
    use crate::store::Store;
    use std::sync::Arc;
    use std::time::Duration;

    /// A write that waits for a conversion webhook does the work of others, too.
    #[tokio::test(start_paused = true)]
    async fn work_is_done_by_a_request_that_waits_for_something_else() {
        let (storage, rules) = (Storage::new(1000, 100), Rules::new(0));
        let minute = Duration::from_secs(60);
        let api = Arc::new(Api::new(
            storage,
            Registry::builtin(),
            minute,
            Vec::new(),
            rules,
            false,
        ));
        let store = Store::new(api.clone());
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"},
            "spec": {
                "group": "example.com", "scope": "Cluster", "names": {"plural": "things", "kind": "Thing"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
            },
        });
        store.create(definition).unwrap();
        let target = Target::of(api.registry().of_id(DEFINITIONS).unwrap(), "things.example.com");
        api.storage.transact(|transaction| {
            let (current, object) = api.current(transaction, &target).unwrap();
            api.delete_here(transaction, &target, &current, object, &DeleteOptions::default());
        });
        tokio::time::advance(Duration::from_secs(1)).await;
        conversion::within(Some(Arc::default()), || {
            let things = api.registry().of_id("things.example.com").unwrap();
            let missing = conversion::known(
                &things,
                "v2",
                &Object::from_iter([("metadata".into(), json!({}))]),
            );
            assert!(matches!(missing, conversion::Conversion::Pending));
            api.settle();
        });
        let definitions = store.list("apiextensions.k8s.io/v1", "CustomResourceDefinition", None);
        assert_eq!(definitions.unwrap().len(), 0, "it has ended");
    }
}
