//! DELETE: at once, gracefully, or when the last finalizer is gone.

use std::sync::Arc;

use jiff::SignedDuration;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    Object, bump_generation, check, definition, finalizers, is_being_deleted, metadata, metadata_mut,
    namespace_finalizers,
};
use crate::admission::{Admission, Operation};
use crate::api::Api;
use crate::conversion;
use crate::meta::rfc3339;
use crate::object::Stored;
use crate::resources::Resource;
use crate::selector::Selector;
use crate::status::{Cause, StatusError};
use crate::storage::Transaction;
use crate::target::Target;
use crate::view;

/// The grace period of a pod that does not say.
const POD_GRACE: i64 = 30;

/// What a deletion leaves.
pub(crate) enum Deleted {
    /// The object as it was last, or as it is while something holds it.
    Object(Arc<Stored>),
    /// The object is gone; its uid.
    Gone(String),
}

/// What becomes of the objects that an object owns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// They are deleted after it.
    Background,
    /// They are deleted before it.
    Foreground,
    /// They stay.
    Orphan,
}

impl Propagation {
    /// The finalizer with which the owner waits.
    pub(crate) fn finalizer(self) -> Option<&'static str> {
        match self {
            Self::Background => None,
            Self::Foreground => Some("foregroundDeletion"),
            Self::Orphan => Some("orphan"),
        }
    }

    /// What the finalizers of an object ask for.
    pub(crate) fn of(object: &Object) -> Option<Self> {
        finalizers(object)
            .into_iter()
            .find_map(|finalizer| match finalizer {
                "orphan" => Some(Self::Orphan),
                "foregroundDeletion" => Some(Self::Foreground),
                _ => None,
            })
    }
}

/// What the body of a DELETE asks for.
#[derive(Debug, Default)]
pub(crate) struct DeleteOptions {
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
    pub(crate) propagation: Option<Propagation>,
    /// Seconds.
    pub(crate) grace: Option<i64>,
    /// A pod is removed in one step, without the change that announces it.
    pub(crate) at_once: bool,
    /// `orphanDependents` is given, and false.
    pub(crate) deletes_dependents: bool,
    pub(crate) dry_run: bool,
}

impl DeleteOptions {
    /// A deletion by the owner of the server.
    pub(crate) fn at_once() -> Self {
        Self {
            propagation: Some(Propagation::Background),
            at_once: true,
            ..Self::default()
        }
    }

    pub(crate) fn policy(policy: &str) -> Result<Propagation, StatusError> {
        match policy {
            "Foreground" => Ok(Propagation::Foreground),
            "Background" => Ok(Propagation::Background),
            "Orphan" => Ok(Propagation::Orphan),
            _ => {
                let supported = "\"Foreground\", \"Background\", \"Orphan\", \"nil\"";
                let cause = Cause::unsupported("propagationPolicy", format_args!("\"{policy}\""), supported);
                Err(StatusError::invalid("meta.k8s.io", "DeleteOptions", "", &[cause]))
            }
        }
    }
}

impl Api {
    pub(crate) fn delete(
        &self,
        target: &Target,
        options: &DeleteOptions,
        admission: Option<&Admission>,
    ) -> Result<Deleted, StatusError> {
        self.transact(|transaction| {
            let (current, object) = self.current(transaction, target)?;
            may_be_deleted(&target.resource, &current, options)?;
            let ends = admission.is_some()
                && target.resource.id() == "pods"
                && !options.at_once
                && self.grace(&mut object.clone(), options) == Grace::Pending;
            // Nobody is asked about what is ending anyway.
            if !ends {
                self.admit_deletion(transaction, target, admission, &object)?;
            }
            let object = unconverted(target, &current).unwrap_or(object);
            self.delete_in(transaction, target, &current, object, options)
        })
    }

    /// Deletes what the selector selects; returns it.
    pub(crate) fn delete_collection(
        &self,
        target: &Target,
        selector: &Selector,
        options: &DeleteOptions,
        admission: Option<&Admission>,
    ) -> Result<Vec<Arc<Stored>>, StatusError> {
        self.transact(|transaction| {
            let mut objects = transaction.list(&target.resource, &target.prefix());
            objects.retain(|object| view::selects(selector, &target.resource, object));
            let shown = match target.resource.definition.webhook {
                Some(_) => objects.iter().map(|object| converted(target, object)).collect(),
                None => objects.clone(),
            };
            conversion::complete()?;
            if admission.is_some() {
                // All are asked about before one is deleted.
                let asked: Vec<_> = objects
                    .iter()
                    .map(|current| {
                        let object = target.decode(current);
                        self.admit_deletion(transaction, target, admission, &object)
                    })
                    .collect();
                asked.into_iter().collect::<Result<(), _>>()?;
            }
            for current in &objects {
                let object = unconverted(target, current).unwrap_or_else(|| target.decode(current));
                self.delete_in(transaction, target, current, object, options)?;
            }
            Ok(shown)
        })
    }

    /// Asks the webhooks about a deletion.
    fn admit_deletion(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        admission: Option<&Admission>,
        object: &Object,
    ) -> Result<(), StatusError> {
        let Some(admission) = admission else {
            return Ok(());
        };
        let old = super::served(&target.resource, Some(object));
        admission.mutate(self, transaction, Operation::Delete, target, None, old.as_ref())?;
        admission.validate(self, transaction, Operation::Delete, target, None, old.as_ref())
    }

    pub(crate) fn delete_in(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        current: &Arc<Stored>,
        mut object: Object,
        options: &DeleteOptions,
    ) -> Result<Deleted, StatusError> {
        let resource = &target.resource;
        let uid = current.uid().to_owned();
        may_be_deleted(resource, current, options)?;
        if resource.id() == "namespaces" {
            if !is_being_deleted(&object) {
                self.terminate(&mut object, options);
                return Ok(self.marked(transaction, resource, &object, current, options));
            }
            if !namespace_finalizers(&object).is_empty() {
                return Ok(Deleted::Object(current.clone()));
            }
        }
        if resource.id() == definition::ID && !is_being_deleted(&object) {
            definition::terminate(&mut object, &rfc3339(self.now()));
            let place = transaction.place(resource, &current.key);
            match options.at_once {
                _ if options.dry_run => {}
                true => transaction.enqueue(place),
                false => transaction.enqueue_at(Instant::now() + definition::END, place),
            }
            return Ok(self.marked(transaction, resource, &object, current, options));
        }
        let before = object.clone();
        let graceful = match resource.id().as_str() {
            "pods" if !options.at_once => self.grace(&mut object, options),
            _ => Grace::None,
        };
        if graceful == Grace::Pending {
            return Ok(Deleted::Object(current.clone()));
        }
        wait_for_dependents(resource, &mut object, options.propagation);
        let held = !finalizers(&object).is_empty();
        view::ensure_converted(resource, &target.version, &object)?;
        match graceful {
            Grace::None if held => self.mark(&mut object),
            Grace::Period(seconds) if held || seconds > 0 => {}
            _ => {
                if graceful != Grace::None && !options.dry_run {
                    transaction.put(resource, &object);
                }
                let version = match options.dry_run {
                    true => current.resource_version,
                    false => self.remove(transaction, target, current),
                };
                return Ok(match returns_object(resource) {
                    true => Deleted::Object(Arc::new(view::encode(resource, &object, version))),
                    false => Deleted::Gone(uid),
                });
            }
        }
        if object == before {
            return Ok(Deleted::Object(current.clone()));
        }
        Ok(self.marked(transaction, resource, &object, current, options))
    }

    /// Stores an object that is being deleted, unless this is only tried.
    fn marked(
        &self,
        transaction: &mut Transaction<'_>,
        resource: &Resource,
        object: &Object,
        current: &Arc<Stored>,
        options: &DeleteOptions,
    ) -> Deleted {
        if options.dry_run {
            let version = current.resource_version;
            return Deleted::Object(Arc::new(view::encode(resource, object, version)));
        }
        let stored = transaction.put(resource, object);
        self.defined(transaction, resource, object, &stored);
        self.written(
            transaction,
            resource,
            object,
            &stored,
            Some(current),
            super::Writer::Owner,
        );
        Deleted::Object(stored)
    }

    /// Marks an object that its finalizers hold.
    fn mark(&self, object: &mut Object) {
        if !is_being_deleted(object) {
            count_deletion(object);
            let now = rfc3339(self.now());
            metadata_mut(object).insert("deletionTimestamp".into(), now.into());
        }
        metadata_mut(object).insert("deletionGracePeriodSeconds".into(), 0.into());
    }

    /// Marks a namespace: its content goes first.
    fn terminate(&self, object: &mut Object, options: &DeleteOptions) {
        let now = rfc3339(self.now());
        let meta = metadata_mut(object);
        meta.insert("deletionTimestamp".into(), now.into());
        if let Some(propagation) = options.propagation {
            set_propagation(object, propagation);
        }
        let status = object.entry("status").or_insert_with(|| json!({}));
        status["phase"] = "Terminating".into();
    }

    /// Gives a pod the time to end that it asks for, or that is left.
    fn grace(&self, pod: &mut Object, options: &DeleteOptions) -> Grace {
        let given = options.grace.map(|seconds| if seconds < 0 { 1 } else { seconds });
        let now = self.now();
        let Some(planned) = metadata(pod).get("deletionTimestamp").and_then(Value::as_str) else {
            let spec = |name: &str| pod.get("spec").map_or(&Value::Null, |spec| &spec[name]);
            let ended = pod
                .get("status")
                .and_then(|status| status["phase"].as_str())
                .is_some_and(|phase| matches!(phase, "Failed" | "Succeeded"));
            let period = match given {
                _ if ended || spec("nodeName").as_str().unwrap_or("").is_empty() => 0,
                Some(seconds) => seconds,
                None => spec("terminationGracePeriodSeconds")
                    .as_i64()
                    .unwrap_or(POD_GRACE),
            };
            count_deletion(pod);
            self.plan(pod, now + SignedDuration::from_secs(period), period);
            return Grace::Period(period);
        };
        let before = metadata(pod)
            .get("deletionGracePeriodSeconds")
            .and_then(Value::as_i64);
        let before = match before {
            None | Some(0) => return Grace::None,
            Some(before) => before,
        };
        let Some(mut period) = given.filter(|seconds| *seconds < before) else {
            return Grace::Pending;
        };
        // The period can only become shorter, and ends in the future.
        let planned = planned.parse().unwrap_or(now);
        let mut ends = planned - SignedDuration::from_secs(before - period);
        if ends < now {
            ends = now;
            period = period.min(1);
        }
        self.plan(pod, ends, period);
        Grace::Period(period)
    }

    fn plan(&self, pod: &mut Object, ends: jiff::Timestamp, period: i64) {
        let meta = metadata_mut(pod);
        meta.insert("deletionTimestamp".into(), rfc3339(ends).into());
        meta.insert("deletionGracePeriodSeconds".into(), period.into());
    }

    /// Removes an object and what belongs to it; returns the resource version of the removal.
    pub(super) fn remove(&self, transaction: &mut Transaction<'_>, target: &Target, current: &Stored) -> u64 {
        let resource = &target.resource;
        if resource.id() == definition::ID
            && let Some((plural, group)) = current.name().split_once('.')
            && let Some(defined) = self.with_registry(|registry| registry.undefine(group, plural))
        {
            for object in transaction.list(&defined, "") {
                transaction.remove(&defined, &object.key);
                self.removed(transaction, &defined, &object);
            }
            transaction.wake(&defined);
        }
        if resource.id() == definition::ID {
            self.name(transaction, current.name(), None);
        }
        transaction.remove(resource, &current.key);
        let version = transaction.resource_version();
        self.removed(transaction, resource, current);
        version
    }
}

/// Refuses the deletion of what is protected, or is not what the client means.
fn may_be_deleted(resource: &Resource, current: &Stored, options: &DeleteOptions) -> Result<(), StatusError> {
    if resource.id() == "namespaces" {
        let name = current.name();
        if matches!(name, "default" | "kube-system" | "kube-public") {
            let why = "this namespace may not be deleted";
            return Err(StatusError::forbidden(resource, name, why));
        }
        check::namespace_preconditions(resource, current, options)?;
    }
    check::preconditions(resource, current, current.uid(), options)
}

/// An object as a webhook makes it one of the version that is asked for.
fn converted(target: &Target, stored: &Stored) -> Arc<Stored> {
    let shown = view::served(&target.resource, &target.version, stored);
    Arc::new(shown.into_owned())
}

/// An object as it is stored, if a webhook would have to convert it: what a deletion changes is the same in all versions.
fn unconverted(target: &Target, stored: &Stored) -> Option<Object> {
    let resource = &target.resource;
    let converts = resource.definition.webhook.is_some() && *stored.version != *target.version;
    converts.then(|| view::decode_as_stored(resource, stored))
}

/// How long a pod has to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grace {
    /// The question does not arise.
    None,
    /// It is ending, and this deletion changes nothing.
    Pending,
    /// So many seconds.
    Period(i64),
}

/// The first deletion of an object that is not removed with it counts as a change of what is wanted.
fn count_deletion(object: &mut Object) {
    let generation = metadata(object).get("generation").and_then(Value::as_i64);
    if generation.is_some_and(|generation| generation > 0) {
        bump_generation(object);
    }
}

/// Gives the object the finalizer of what becomes of its dependents: asked for, as its finalizers say, or by default.
fn wait_for_dependents(resource: &Resource, object: &mut Object, asked: Option<Propagation>) {
    let default = match resource.id().as_str() {
        // A record of what happened owns nothing.
        "events" | "events.events.k8s.io" => return,
        // As before there was a garbage collector.
        "jobs.batch" | "replicationcontrollers" => Propagation::Orphan,
        _ => Propagation::Background,
    };
    let propagation = asked.or_else(|| Propagation::of(object)).unwrap_or(default);
    set_propagation(object, propagation);
}

fn set_propagation(object: &mut Object, propagation: Propagation) {
    let before = finalizers(object);
    let wanted = propagation.finalizer();
    let collected = |finalizer: &str| matches!(finalizer, "orphan" | "foregroundDeletion");
    let has = |name: &str| before.contains(&name);
    if has("orphan") == (wanted == Some("orphan"))
        && has("foregroundDeletion") == (wanted == Some("foregroundDeletion"))
    {
        return;
    }
    let kept = before.iter().copied().filter(|finalizer| !collected(finalizer));
    let finalizers: Vec<Value> = kept.chain(wanted).map(Value::from).collect();
    let meta = metadata_mut(object);
    match finalizers.is_empty() {
        true => meta.remove("finalizers"),
        false => meta.insert("finalizers".into(), finalizers.into()),
    };
}

/// Kinds whose deletion is answered with the object rather than with a status.
fn returns_object(resource: &Resource) -> bool {
    let in_group = |group: &str, plurals: &[&str]| {
        resource.group == group && plurals.contains(&resource.plural.as_str())
    };
    let devices = [
        "deviceclasses",
        "resourceclaims",
        "resourceclaimtemplates",
        "resourceslices",
    ];
    let storage = [
        "csidrivers",
        "csinodes",
        "storageclasses",
        "volumeattachments",
        "volumeattributesclasses",
    ];
    resource.id() == definition::ID
        || in_group("resource.k8s.io", &devices)
        || in_group("storage.k8s.io", &storage)
        || resource.group.is_empty()
            && matches!(
                resource.plural.as_str(),
                "pods"
                    | "namespaces"
                    | "services"
                    | "serviceaccounts"
                    | "persistentvolumes"
                    | "persistentvolumeclaims"
                    | "podtemplates"
                    | "resourcequotas"
            )
}
