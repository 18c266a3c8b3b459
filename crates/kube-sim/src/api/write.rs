//! CREATE, UPDATE, PATCH and DELETE.

use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value, json};

use crate::api::patch::Patch;
use crate::api::{Api, Target, rfc3339};
use crate::object::{Stored, join_key};
use crate::resources::Resource;
use crate::selector::Selector;
use crate::status::{Cause, StatusError};
use crate::storage::{TooLarge, Transaction};

mod check;
mod definition;

type Object = Map<String, Value>;

/// Who writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writer {
    /// A client over HTTP: a status is only written through its subresource.
    Client { dry_run: bool },
    /// The owner of the server: objects are taken as they are, status included.
    Owner,
}

/// The largest object that etcd takes.
const MAX_OBJECT: usize = 1536 * 1024;

impl Writer {
    /// How many bytes an object may have.
    fn limit(self) -> usize {
        match self {
            Writer::Client { .. } => MAX_OBJECT,
            Writer::Owner => usize::MAX,
        }
    }

    fn dry_run(self) -> bool {
        self == Writer::Client { dry_run: true }
    }
}

/// What a deletion leaves.
pub(crate) enum Deleted {
    /// The object as it was last, or as it is while its finalizers hold it.
    Object(Arc<Stored>),
    /// The object is gone; its uid.
    Gone(String),
}

/// What the body of a DELETE asks for.
#[derive(Debug, Default)]
pub(crate) struct DeleteOptions {
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
    pub(crate) dry_run: bool,
}

impl DeleteOptions {
    /// The policies are known, but there is no garbage collector here that would follow them.
    pub(crate) fn check_policy(policy: &str) -> Result<(), StatusError> {
        if matches!(policy, "" | "Foreground" | "Background" | "Orphan") {
            return Ok(());
        }
        let supported = "\"Foreground\", \"Background\", \"Orphan\", \"nil\"";
        let cause = Cause::unsupported("propagationPolicy", format_args!("\"{policy}\""), supported);
        Err(StatusError::invalid("meta.k8s.io", "DeleteOptions", "", &[cause]))
    }
}

impl Api {
    pub(crate) fn create(
        &self,
        target: &Target,
        mut object: Object,
        writer: Writer,
    ) -> Result<Arc<Stored>, StatusError> {
        let resource = &target.resource;
        check::type_meta(target, &object)?;
        check::namespace(target, &mut object)?;
        check::generation(target, &object)?;
        let name = check::new_name(resource, &mut object)?;
        if !text(metadata(&object), "resourceVersion").is_empty() {
            let message = "resourceVersion should not be set on objects to be created";
            return Err(StatusError::internal(message));
        }
        check::labels(resource, &name, &object)?;
        check::finalizer_names(resource, &name, &object)?;
        self.prepare_new(resource, &mut object, writer)?;
        check::kept_generation(resource, &name, &object)?;
        let key = join_key(target.namespace.as_deref().unwrap_or(""), &name);
        self.storage.transact(|transaction| {
            self.check_namespace(transaction, target)?;
            if transaction.get(resource, &key).is_some() {
                return Err(StatusError::already_exists(resource, &name));
            }
            if writer.dry_run() {
                return Ok(Arc::new(Stored::encode(resource, &object, 0)));
            }
            let stored = transaction.put_within(resource, &object, writer.limit());
            let stored = stored.map_err(|TooLarge(bytes)| StatusError::too_large_object(bytes))?;
            self.defined(transaction, resource, &object);
            Ok(stored)
        })
    }

    /// The fields that the server fills in.
    fn prepare_new(
        &self,
        resource: &Resource,
        object: &mut Object,
        writer: Writer,
    ) -> Result<(), StatusError> {
        let created = match text(metadata(object), "creationTimestamp") {
            given if writer == Writer::Owner && !given.is_empty() => given.to_owned(),
            _ => rfc3339(self.now()),
        };
        let meta = metadata_mut(object);
        if writer != Writer::Owner || text(meta, "uid").is_empty() {
            meta.insert("uid".into(), new_uid().into());
        }
        meta.insert("creationTimestamp".into(), created.into());
        drop_empty(meta);
        if writer != Writer::Owner {
            meta.remove("deletionTimestamp");
            meta.remove("deletionGracePeriodSeconds");
        }
        if resource.has_generation() {
            meta.insert("generation".into(), 1.into());
        }
        if writer != Writer::Owner && resource.status {
            object.remove("status");
        }
        match resource.id().as_str() {
            "pods" => {
                object
                    .entry("status")
                    .or_insert_with(|| json!({"phase": "Pending", "qosClass": "BestEffort"}));
            }
            "namespaces" => prepare_namespace(object),
            definition::ID => definition::prepare(object, &rfc3339(self.now()))?,
            _ => {}
        }
        Ok(())
    }

    fn check_namespace(&self, transaction: &mut Transaction<'_>, target: &Target) -> Result<(), StatusError> {
        let Some(namespace) = target.namespace.as_deref() else {
            return Ok(());
        };
        let Some(namespaces) = self.find("", "v1", "namespaces") else {
            return Ok(());
        };
        match transaction.get(&namespaces, namespace) {
            Some(_) => Ok(()),
            None => Err(StatusError::not_found(&namespaces, namespace)),
        }
    }

    /// Replaces an object, or its status.
    pub(crate) fn replace(
        &self,
        target: &Target,
        mut new: Object,
        writer: Writer,
    ) -> Result<Arc<Stored>, StatusError> {
        check::type_meta(target, &new)?;
        check::namespace(target, &mut new)?;
        check::generation(target, &new)?;
        let name = target.name.as_deref().unwrap_or("");
        check::same_name(text(metadata(&new), "name"), name)?;
        check::is_version(text(metadata(&new), "resourceVersion"))?;
        self.storage.transact(|transaction| {
            let (current, old) = self.current(transaction, target)?;
            let (resource, uid) = (&target.resource, text(metadata(&new), "uid"));
            if !uid.is_empty() && uid != text(metadata(&old), "uid") {
                return Err(check::uid_precondition(
                    resource,
                    &current,
                    uid,
                    text(metadata(&old), "uid"),
                ));
            }
            // For built-in kinds 0 is as good as none.
            let version = text(metadata(&new), "resourceVersion");
            if version.is_empty() || (version == "0" && !resource.custom) {
                if resource.custom && writer != Writer::Owner {
                    return Err(check::version_required(resource, name));
                }
                metadata_mut(&mut new).insert(
                    "resourceVersion".into(),
                    current.resource_version.to_string().into(),
                );
            }
            self.update(transaction, target, current, old, new, writer)
        })
    }

    /// Changes an object, or its status, by a patch.
    pub(crate) fn patch(
        &self,
        target: &Target,
        patch: &Patch,
        writer: Writer,
    ) -> Result<Arc<Stored>, StatusError> {
        self.storage.transact(|transaction| {
            let (current, old) = self.current(transaction, target)?;
            let Value::Object(mut new) = patch.apply(Value::Object(old.clone()))? else {
                return Err(StatusError::bad_request(
                    "the patch makes the object something else than an object",
                ));
            };
            let name = target.name.as_deref().unwrap_or("");
            check::type_meta(target, &new)?;
            check::namespace(target, &mut new)?;
            check::same_name(text(metadata(&new), "name"), name)?;
            check::is_version(text(metadata(&new), "resourceVersion"))?;
            check::same_uid(&target.resource, name, metadata(&old), metadata(&new))?;
            self.update(transaction, target, current, old, new, writer)
        })
    }

    /// Changes an object, status included, as the owner of the server.
    pub(crate) fn modify(
        &self,
        target: &Target,
        change: impl FnOnce(&mut Value) + Send,
    ) -> Result<(), StatusError> {
        self.storage.transact(|transaction| {
            let (current, old) = self.current(transaction, target)?;
            let mut new = Value::Object(old.clone());
            change(&mut new);
            let Value::Object(new) = new else { return Ok(()) };
            self.update(transaction, target, current, old, new, Writer::Owner)
                .map(drop)
        })
    }

    fn current(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
    ) -> Result<(Arc<Stored>, Object), StatusError> {
        let name = target.name.as_deref().unwrap_or("");
        let current = transaction.get(&target.resource, &target.key());
        let current = current.ok_or_else(|| StatusError::not_found(&target.resource, name))?;
        let object = current.decode(&target.head());
        Ok((current, object))
    }

    /// Puts `new` in the place of `old`, if it may be there and differs.
    fn update(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        current: Arc<Stored>,
        old: Object,
        mut new: Object,
        writer: Writer,
    ) -> Result<Arc<Stored>, StatusError> {
        let resource = &target.resource;
        if text(metadata(&new), "resourceVersion") != current.resource_version.to_string() {
            return Err(StatusError::stale(resource, current.name()));
        }
        check::labels(resource, current.name(), &new)?;
        check::finalizer_names(resource, current.name(), &new)?;
        check::finalizers(resource, current.name(), &old, &new)?;
        if writer != Writer::Owner {
            check::deletion(resource, current.name(), &old, &new)?;
        }
        if writer != Writer::Owner && resource.status {
            keep_other_part(resource, target.subresource.as_deref(), &old, &mut new);
        }
        keep_system_fields(&old, &mut new);
        if new == old {
            return Ok(current);
        }
        if resource.has_generation() && spec_differs(resource, &old, &new) {
            bump_generation(&mut new);
        }
        if resource.id() == definition::ID {
            definition::prepare(&mut new, &rfc3339(self.now()))?;
        }
        if writer.dry_run() {
            return Ok(Arc::new(Stored::encode(resource, &new, current.resource_version)));
        }
        if is_being_deleted(&new) && finalizers(&new).is_empty() {
            self.remove(transaction, target, &current);
            return Ok(Arc::new(Stored::encode(resource, &new, current.resource_version)));
        }
        let stored = transaction.put_within(resource, &new, writer.limit());
        let stored = stored.map_err(|TooLarge(bytes)| StatusError::too_large_object(bytes))?;
        self.defined(transaction, resource, &new);
        Ok(stored)
    }

    pub(crate) fn delete(&self, target: &Target, options: &DeleteOptions) -> Result<Deleted, StatusError> {
        self.storage.transact(|transaction| {
            let (current, object) = self.current(transaction, target)?;
            self.delete_in(transaction, target, &current, object, options)
        })
    }

    /// Deletes what the selector selects; returns it.
    pub(crate) fn delete_collection(
        &self,
        target: &Target,
        selector: &Selector,
        options: &DeleteOptions,
    ) -> Result<Vec<Arc<Stored>>, StatusError> {
        self.storage.transact(|transaction| {
            let mut objects = transaction.list(&target.resource, &target.prefix());
            objects.retain(|object| selector.matches(object));
            for current in &objects {
                let object = current.decode(&target.head());
                self.delete_in(transaction, target, current, object, options)?;
            }
            Ok(objects)
        })
    }

    fn delete_in(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        current: &Arc<Stored>,
        mut object: Object,
        options: &DeleteOptions,
    ) -> Result<Deleted, StatusError> {
        let (resource, name) = (&target.resource, current.name());
        let uid = text(metadata(&object), "uid").to_owned();
        check::preconditions(resource, current, &uid, options)?;
        if resource.id() == "namespaces" && matches!(name, "default" | "kube-system" | "kube-public") {
            return Err(StatusError::forbidden(
                resource,
                name,
                "this namespace may not be deleted",
            ));
        }
        let held = !finalizers(&object).is_empty();
        if held && is_being_deleted(&object) {
            return Ok(Deleted::Object(current.clone()));
        }
        if held || returns_object(resource) {
            let meta = metadata_mut(&mut object);
            meta.insert("deletionTimestamp".into(), rfc3339(self.now()).into());
            meta.insert("deletionGracePeriodSeconds".into(), 0.into());
            if resource.has_generation() {
                bump_generation(&mut object);
            }
            if resource.id() == "namespaces" {
                object.insert("status".into(), json!({"phase": "Terminating"}));
            }
        }
        let version = current.resource_version;
        match (held, options.dry_run) {
            (true, true) => Ok(Deleted::Object(Arc::new(Stored::encode(
                resource, &object, version,
            )))),
            (true, false) => Ok(Deleted::Object(transaction.put(resource, &object))),
            (false, dry_run) => {
                let version = if dry_run {
                    version
                } else {
                    self.remove(transaction, target, current)
                };
                Ok(match returns_object(resource) {
                    true => Deleted::Object(Arc::new(Stored::encode(resource, &object, version))),
                    false => Deleted::Gone(uid),
                })
            }
        }
    }

    /// Removes an object and what it contains; returns the resource version of the removal.
    fn remove(&self, transaction: &mut Transaction<'_>, target: &Target, current: &Stored) -> u64 {
        let resource = &target.resource;
        if resource.id() == "namespaces" {
            let prefix = format!("{}/", current.name());
            for inner in self.registry().iter().filter(|r| r.namespaced) {
                remove_all(transaction, inner, &prefix);
            }
        }
        if resource.id() == definition::ID
            && let Some((plural, group)) = current.name().split_once('.')
            && let Some(defined) = self.with_registry(|registry| registry.undefine(group, plural))
        {
            remove_all(transaction, &defined, "");
            transaction.wake(&defined);
        }
        transaction.remove(resource, &current.key);
        transaction.resource_version()
    }

    /// A custom resource definition makes its resource appear, or change.
    fn defined(&self, transaction: &mut Transaction<'_>, resource: &Resource, object: &Object) {
        if resource.id() == definition::ID
            && let Ok(defined) = Resource::from_definition(&Value::Object(object.clone()))
        {
            self.with_registry(|registry| registry.define(defined.clone()));
            transaction.wake(&defined);
        }
    }
}

fn remove_all(transaction: &mut Transaction<'_>, resource: &Resource, prefix: &str) {
    for object in transaction.list(resource, prefix) {
        transaction.remove(resource, &object.key);
    }
}

/// Kinds whose deletion is answered with the object rather than with a status.
fn returns_object(resource: &Resource) -> bool {
    resource.id() == definition::ID
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

/// Through the main resource the status stays as it is; through the status subresource only the status changes.
fn keep_other_part(resource: &Resource, subresource: Option<&str>, old: &Object, new: &mut Object) {
    if subresource != Some("status") {
        new.remove("status");
        if let Some(status) = old.get("status") {
            new.insert("status".into(), status.clone());
        }
        return;
    }
    let status = new.remove("status");
    let metadata = new.remove("metadata").filter(|_| !resource.custom);
    *new = old.clone();
    new.remove("status");
    new.extend(status.map(|status| ("status".into(), status)));
    new.extend(metadata.map(|metadata| ("metadata".into(), metadata)));
}

fn keep_system_fields(old: &Object, new: &mut Object) {
    let (old, new) = (metadata(old), metadata_mut(new));
    for name in [
        "name",
        "generateName",
        "namespace",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        match old.get(name) {
            Some(value) => new.insert(name.into(), value.clone()),
            None => new.remove(name),
        };
    }
    drop_empty(new);
}

/// Empty is absent, as in the Go types that a real server reads objects into.
fn drop_empty(metadata: &mut Object) {
    metadata.retain(|name, value| match name.as_str() {
        "labels" | "annotations" | "finalizers" | "ownerReferences" => {
            !(value.is_null()
                || value.as_object().is_some_and(Map::is_empty)
                || value.as_array().is_some_and(Vec::is_empty))
        }
        _ => true,
    });
}

/// Built-in kinds have a spec; everything of a custom resource but metadata and status counts.
fn spec_differs(resource: &Resource, old: &Object, new: &Object) -> bool {
    if !resource.custom {
        return old.get("spec") != new.get("spec");
    }
    let rest = |(name, _): &(&String, &Value)| {
        !matches!(name.as_str(), "metadata" | "status" | "apiVersion" | "kind")
    };
    !old.iter().filter(rest).eq(new.iter().filter(rest))
}

fn bump_generation(object: &mut Object) {
    let meta = metadata_mut(object);
    let generation = meta.get("generation").and_then(Value::as_i64).unwrap_or(0);
    meta.insert("generation".into(), generation.saturating_add(1).into());
}

fn prepare_namespace(object: &mut Object) {
    let meta = metadata_mut(object);
    let name = meta.get("name").cloned().unwrap_or_default();
    if let Some(labels) = meta.entry("labels").or_insert_with(|| json!({})).as_object_mut() {
        labels.insert("kubernetes.io/metadata.name".into(), name);
    }
    object.insert("spec".into(), json!({"finalizers": ["kubernetes"]}));
    object.insert("status".into(), json!({"phase": "Active"}));
}

fn is_being_deleted(object: &Object) -> bool {
    metadata(object)
        .get("deletionTimestamp")
        .is_some_and(|at| !at.is_null())
}

fn finalizers(object: &Object) -> Vec<&str> {
    let list = metadata(object).get("finalizers").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn metadata(object: &Object) -> &Object {
    static EMPTY: LazyLock<Object> = LazyLock::new(Map::new);
    object
        .get("metadata")
        .and_then(Value::as_object)
        .unwrap_or(&EMPTY)
}

fn metadata_mut(object: &mut Object) -> &mut Object {
    let slot = object.entry("metadata").or_insert_with(|| json!({}));
    if !slot.is_object() {
        *slot = json!({});
    }
    slot.as_object_mut().expect("it was just made an object")
}

fn text<'a>(object: &'a Object, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or("")
}

/// A random uid, as a version 4 UUID.
fn new_uid() -> String {
    uid_from(rand::random())
}

/// The version 4 UUID with these random bits.
pub(crate) fn uid_from(bits: u128) -> String {
    let bits = bits & !(0xf000 << 64) & !(0xc000 << 48) | (0x4000 << 64) | (0x8000 << 48);
    let hex = format!("{bits:032x}");
    format!(
        "{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}

fn invalid(resource: &Resource, name: &str, cause: Cause) -> StatusError {
    StatusError::invalid(&resource.group, called(resource), name, &[cause])
}

/// What the refusal of a change calls an object's kind.
fn called(resource: &Resource) -> &str {
    if resource.custom {
        &resource.plural
    } else {
        &resource.kind
    }
}
