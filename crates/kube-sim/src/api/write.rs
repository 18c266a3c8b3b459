//! CREATE, UPDATE and PATCH; `delete` has DELETE.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::access::User;
use crate::admission::{Admission, Operation, form_of};
use crate::api::Api;
use crate::api::fields::{self, FieldValidation};
use crate::api::patch::Patch;
use crate::apply::{MANAGED_FIELDS, Ownership, fault_of_managers};
use crate::conversion;
use crate::meta::{Object, finalizers, is_being_deleted, metadata, metadata_mut, text, uid_from};
use crate::number;
use crate::object::Stored;
use crate::resources::Resource;
use crate::schema;
use crate::specs;
use crate::status::{Cause, StatusError};
use crate::storage::{TooLarge, Transaction};
use crate::target::Target;
use crate::view;
use crate::warnings::Warnings;

mod advice;
mod charge;
mod check;
mod classes;
mod connect;
mod create;
pub(crate) mod definition;
mod delete;
mod node;
mod resize;
mod runtime;
mod security;
mod service;
mod signing;
mod subresource;
mod token;
mod update;

pub(crate) use definition::ID as DEFINITIONS;
pub(crate) use delete::{DeleteOptions, Deleted, Propagation};
pub(crate) use subresource::Scale;

/// Who writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writer<'a> {
    /// A client over HTTP: a status is only written through its subresource.
    Client {
        dry_run: bool,
        /// Who owns what is changed; none if the object says so already, since it was applied.
        manager: Option<&'a str>,
        /// Who asks, in a cluster with access control.
        user: Option<&'a User>,
        /// The webhooks to be asked.
        admission: Option<&'a Admission>,
        /// Where the client's warnings go.
        warnings: Option<&'a Warnings>,
    },
    /// The owner of the server: objects are taken as they are, status included.
    Owner,
}

/// The largest object that etcd takes.
const MAX_OBJECT: usize = 1536 * 1024;

impl<'a> Writer<'a> {
    /// How many bytes an object may have.
    fn limit(self) -> usize {
        match self {
            Writer::Client { .. } => MAX_OBJECT,
            Writer::Owner => usize::MAX,
        }
    }

    fn user(self) -> Option<&'a User> {
        match self {
            Writer::Client { user, .. } => user,
            Writer::Owner => None,
        }
    }

    fn admission(self) -> Option<&'a Admission> {
        match self {
            Writer::Client { admission, .. } => admission,
            Writer::Owner => None,
        }
    }

    fn warnings(self) -> Option<&'a Warnings> {
        match self {
            Writer::Client { warnings, .. } => warnings,
            Writer::Owner => None,
        }
    }

    /// Takes note of what the client is to be warned of.
    fn warn(self, warning: String) {
        if let Some(warnings) = self.warnings() {
            warnings.add(warning);
        }
    }

    /// Leaves each owner reference once when those who may change the object have done so.
    fn dedup_owners(self, object: &mut Object) {
        if let Some(warning) = fields::dedup_owners(object, " after mutating admission happens") {
            self.warn(warning);
        }
    }

    /// A uid for a new object, the same in each attempt to write it.
    fn new_uid(self) -> String {
        match self.admission() {
            Some(admission) => admission.uid(new_uid),
            None => new_uid(),
        }
    }

    /// The end of a generated name, the same in each attempt to write the object.
    fn suffix(self) -> String {
        const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        let draw = || {
            let letters = (0..5).map(|_| ALPHABET[fastrand::usize(..ALPHABET.len())] as char);
            letters.collect()
        };
        self.admission()
            .map_or_else(draw, |admission| admission.suffix(draw))
    }

    /// What is drawn for an object, the same in each attempt to write it.
    fn random(self) -> fastrand::Rng {
        self.admission()
            .map_or_else(fastrand::Rng::new, Admission::random)
    }

    /// The time that is written into an object, the same in each attempt.
    fn now(self, api: &Api) -> jiff::Timestamp {
        self.admission().map_or_else(|| api.now(), Admission::now)
    }

    fn dry_run(self) -> bool {
        matches!(self, Writer::Client { dry_run: true, .. })
    }
}

impl Api {
    pub(crate) fn create(
        &self,
        target: &Target,
        mut object: Object,
        writer: Writer<'_>,
    ) -> Result<Arc<Stored>, StatusError> {
        self.transact(|transaction| {
            let target = self.as_defined(target, &mut object, writer)?;
            self.create_in(transaction, &target, object, writer)
        })
    }

    /// The target as its definition is now, which nothing changes while a transaction runs: it may have changed, or gone, since the
    /// request was routed. Then the object is made one of the present schema, as it was made one of the former.
    ///
    /// Without this, an object could be stored behind the definition, and would never be read as the definition says.
    fn as_defined<'a>(
        &self,
        target: &'a Target,
        object: &mut Object,
        writer: Writer<'_>,
    ) -> Result<Cow<'a, Target>, StatusError> {
        let target = self.as_defined_now(target)?;
        if let (Cow::Owned(target), Writer::Client { .. }) = (&target, writer) {
            fields::fit(target, object).map_err(StatusError::bad_request)?;
        }
        Ok(target)
    }

    /// The same without an object.
    pub(crate) fn as_defined_now<'a>(&self, target: &'a Target) -> Result<Cow<'a, Target>, StatusError> {
        let before = &target.resource;
        let now = match before.custom {
            true => self.find(&before.group, &target.version, &before.plural),
            false => return Ok(Cow::Borrowed(target)),
        };
        if now.as_ref().is_some_and(|now| Arc::ptr_eq(now, before)) {
            return Ok(Cow::Borrowed(target));
        }
        let subresource = target.subresource.as_deref();
        let now = now.filter(|now| {
            now.namespaced == before.namespaced && subresource.is_none_or(|name| now.has_subresource(name))
        });
        let resource = now.ok_or_else(StatusError::no_such_resource)?;
        Ok(Cow::Owned(Target {
            resource,
            ..target.clone()
        }))
    }

    /// Replaces an object, or a part of it that is a subresource; returns whether it was created.
    ///
    /// Most kinds refuse to replace what is not there; for some, this creates it.
    pub(crate) fn replace(
        &self,
        target: &Target,
        mut new: Object,
        writer: Writer<'_>,
    ) -> Result<(Arc<Stored>, bool), StatusError> {
        view::to_stored(&target.resource, &mut new);
        check::type_meta(target, &new)?;
        check::namespace(target, &mut new)?;
        check::generation(target, &new)?;
        let name = target.name.as_deref().unwrap_or("");
        check::same_name(text(metadata(&new), "name"), name)?;
        check::version(text(metadata(&new), "resourceVersion"))?;
        self.transact(|transaction| {
            let target = &*self.as_defined(target, &mut new, writer)?;
            let (resource, uid) = (&target.resource, text(metadata(&new), "uid"));
            if resource.is_created_on_update() && transaction.get(resource, &target.key()).is_none() {
                self.may_create(transaction, target, writer)?;
                self.check_namespace(transaction, target, &new)?;
                if !uid.is_empty() {
                    return Err(check::uid_precondition(resource, &target.key(), uid, ""));
                }
                metadata_mut(&mut new).remove("resourceVersion");
                let created = self.create_in(transaction, target, new, writer)?;
                return Ok((created, true));
            }
            let (current, old) = self.current(transaction, target)?;
            if !uid.is_empty() && uid != text(metadata(&old), "uid") {
                return Err(check::uid_precondition(
                    resource,
                    &current.key,
                    uid,
                    text(metadata(&old), "uid"),
                ));
            }
            let updated = self.update(transaction, target, current, old, new, writer)?;
            Ok((updated, false))
        })
    }

    /// Creates or changes an object, or its status, by server-side apply; returns whether it was created.
    pub(crate) fn apply(
        &self,
        target: &Target,
        config: &Object,
        manager: &str,
        force: bool,
        writer: Writer<'_>,
    ) -> Result<(Arc<Stored>, bool), StatusError> {
        let mut config = Cow::Borrowed(config);
        if target.resource.custom {
            as_stored(&target.resource, config.to_mut());
        }
        let config = &*config;
        self.transact(|transaction| {
            let target = &*self.as_defined_now(target)?;
            let (resource, name) = (&target.resource, target.name.as_deref().unwrap_or(""));
            let ownership = Ownership::new(target, self.now());
            let check = |new: &mut Object| {
                fields::fit_applied(target, new).map_err(StatusError::bad_request)?;
                view::to_stored(resource, new);
                check::namespace(target, new)?;
                check::same_name(text(metadata(new), "name"), name)
            };
            if target.subresource.is_none() && transaction.get(resource, &target.key()).is_none() {
                self.may_create(transaction, target, writer)?;
                let mut new = ownership.apply(None, config, manager, force)?;
                let uid = text(metadata(&new), "uid");
                if !uid.is_empty() {
                    let why = format!(
                        "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
                    );
                    return Err(StatusError::conflict(resource, name, &why));
                }
                check(&mut new)?;
                metadata_mut(&mut new).remove("resourceVersion");
                return Ok((self.create_in(transaction, target, new, writer)?, true));
            }
            let (current, old) = self.current(transaction, target)?;
            let mut served = old.clone();
            view::to_served(resource, &mut served);
            let mut new = ownership.apply(Some(&served), config, manager, force)?;
            check(&mut new)?;
            check::version(text(metadata(&new), "resourceVersion"))?;
            check::same_uid(resource, name, metadata(&old), metadata(&new))?;
            Ok((self.update(transaction, target, current, old, new, writer)?, false))
        })
    }

    /// Who updates what is not there creates it, and must be allowed to.
    fn may_create(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        writer: Writer<'_>,
    ) -> Result<(), StatusError> {
        let user = writer.user();
        user.map_or(Ok(()), |user| self.authorize_creation(transaction, user, target))
    }

    /// Changes an object, or its status, by a patch.
    pub(crate) fn patch(
        &self,
        target: &Target,
        patch: &Patch,
        fields: &FieldValidation,
        writer: Writer<'_>,
    ) -> Result<Arc<Stored>, StatusError> {
        self.transact(|transaction| {
            let target = &*self.as_defined_now(target)?;
            let (current, old) = self.current(transaction, target)?;
            let mut served = old.clone();
            view::to_served(&target.resource, &mut served);
            let Value::Object(mut new) = patch.apply(Value::Object(served))? else {
                return Err(StatusError::bad_request(
                    "the patch makes the object something else than an object",
                ));
            };
            fields::fit_patched(target, &mut new, patch)
                .and_then(|errors| fields.note(errors))
                .map_err(|error| StatusError::misfit_patch(&error))?;
            view::to_stored(&target.resource, &mut new);
            let name = target.name.as_deref().unwrap_or("");
            check::type_meta(target, &new).map_err(|error| match target.resource.custom {
                true => error,
                false => StatusError::misfit_patch(error.message()),
            })?;
            check::namespace(target, &mut new)?;
            check::same_name(text(metadata(&new), "name"), name)?;
            check::version(text(metadata(&new), "resourceVersion"))?;
            check::same_uid(&target.resource, name, metadata(&old), metadata(&new))
                .map_err(|error| error.repeated(2))?;
            self.update(transaction, target, current, old, new, writer)
        })
    }

    /// Changes an object, status included, as the owner of the server.
    pub(crate) fn modify(
        &self,
        target: &Target,
        change: impl FnOnce(&mut Value) + Send,
    ) -> Result<(), StatusError> {
        self.transact(|transaction| {
            let (current, old) = self.current(transaction, target)?;
            let mut new = Value::Object(old.clone());
            change(&mut new);
            let Value::Object(new) = new else { return Ok(()) };
            self.update(transaction, target, current, old, new, Writer::Owner)
                .map(drop)
        })
    }

    /// Stores an object as it is given but for its version. One with another uid is removed first; a definition is not, because
    /// its objects would go with it.
    pub(crate) fn put_as_is(&self, target: &Target, mut object: Object) -> Result<(), StatusError> {
        self.transact(|transaction| {
            let target = &*self.as_defined_now(target)?;
            let resource = &target.resource;
            view::to_stored(resource, &mut object);
            metadata_mut(&mut object).remove("resourceVersion");
            as_stored(resource, &mut object);
            let mut current = transaction.get(resource, &target.key());
            if let Some(found) = &current
                && found.uid() != text(metadata(&object), "uid")
                && resource.id() != definition::ID
            {
                self.remove(transaction, target, found);
                current = None;
            }
            let stored = put(transaction, resource, &mut object, Writer::Owner)?;
            self.defined(transaction, resource, &object, &stored);
            let current = current.as_deref();
            self.written(transaction, resource, &object, &stored, current, Writer::Owner);
            Ok(())
        })
    }

    /// Removes an object, whatever holds it.
    pub(crate) fn remove_as_is(&self, target: &Target) -> Result<(), StatusError> {
        self.transact(|transaction| {
            let (current, _) = self.current(transaction, target)?;
            self.remove(transaction, target, &current);
            Ok(())
        })
    }

    /// Runs `f` alone, then what the controllers make of it.
    fn transact<T: Send>(&self, f: impl FnOnce(&mut Transaction<'_>) -> T + Send) -> T {
        let result = self.storage.transact(f);
        self.settle();
        result
    }

    pub(crate) fn current(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
    ) -> Result<(Arc<Stored>, Object), StatusError> {
        let name = target.name.as_deref().unwrap_or("");
        let current = transaction.get(&target.resource, &target.key());
        let current = current.ok_or_else(|| StatusError::not_found(&target.resource, name))?;
        let object = target.decode(&current);
        conversion::complete()?;
        Ok((current, object))
    }

    /// Lets the mutating webhooks change an object, which is again as its kind wants it then.
    fn mutate(
        &self,
        transaction: &mut Transaction<'_>,
        operation: Operation,
        target: &Target,
        writer: Writer<'_>,
        old: Option<&Object>,
        object: &mut Object,
    ) -> Result<(), StatusError> {
        let Some(admission) = writer.admission() else {
            return Ok(());
        };
        let resource = &target.resource;
        let [seen, old] = [Some(&*object), old].map(|object| served(resource, object));
        let changed = admission.mutate(self, transaction, operation, target, seen.as_ref(), old.as_ref())?;
        if let Some(mut changed) = changed.filter(|changed| Some(changed) != seen.as_ref()) {
            fields::fit(target, &mut changed).map_err(StatusError::internal_error)?;
            if let Some(why) = fault_of_managers(metadata(&changed).get(MANAGED_FIELDS)) {
                let before = metadata(object).get(MANAGED_FIELDS).cloned();
                metadata_mut(&mut changed).remove(MANAGED_FIELDS);
                set_managers(&mut changed, before);
                writer.warn(format!(
                    ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated \
                     mutating admission controller; please fix your requests: {why}"
                ));
            }
            view::to_stored(resource, &mut changed);
            fill_in(resource, &mut changed);
            specs::write_empty(resource, &mut changed);
            *object = changed;
        }
        Ok(())
    }

    /// Lets the validating webhooks refuse an object.
    fn validate_by_webhooks(
        &self,
        transaction: &mut Transaction<'_>,
        operation: Operation,
        target: &Target,
        writer: Writer<'_>,
        old: Option<&Object>,
        object: &Object,
    ) -> Result<(), StatusError> {
        let Some(admission) = writer.admission() else {
            return Ok(());
        };
        let [seen, old] = [Some(object), old].map(|object| served(&target.resource, object));
        admission.validate(self, transaction, operation, target, seen.as_ref(), old.as_ref())
    }
}

/// An object that admission has changed, as its kind wants it.
///
/// # Errors
///
/// What does not fit its kind.
pub(crate) fn completed(target: &Target, mut object: Object) -> Result<Object, String> {
    let form = form_of(target);
    let unknown = match &form {
        Some(form) => fields::fit_form(form, &mut object)?,
        None => fields::fit(target, &mut object)?,
    };
    if let (true, [_, ..]) = (form.is_some() || !target.resource.custom, &unknown[..]) {
        return Err(format!("strict decoding error: {}", unknown.join(", ")));
    }
    if form.is_none() {
        view::to_stored(&target.resource, &mut object);
        fill_in(&target.resource, &mut object);
        view::to_served(&target.resource, &mut object);
    }
    Ok(object)
}

/// An object as it is served.
fn served(resource: &Resource, object: Option<&Object>) -> Option<Object> {
    object.cloned().map(|mut object| {
        view::to_served(resource, &mut object);
        object
    })
}

fn with_managers(object: &Object, managed: &Option<Value>) -> Object {
    let mut object = object.clone();
    set_managers(&mut object, managed.clone());
    object
}

fn keep_member(old: &Object, new: &mut Object, name: &str) {
    match old.get(name) {
        Some(value) => new.insert(name.into(), value.clone()),
        None => new.remove(name),
    };
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

/// Takes away the address of the object itself, which servers no longer store.
fn drop_link(object: &mut Object) {
    metadata_mut(object).remove("selfLink");
}

fn bump_generation(object: &mut Object) {
    let meta = metadata_mut(object);
    let generation = meta.get("generation").and_then(Value::as_i64).unwrap_or(0);
    meta.insert("generation".into(), generation.saturating_add(1).into());
}

pub(crate) fn set_managers(object: &mut Object, managed: Option<Value>) {
    metadata_mut(object).extend(managed.map(|managed| (MANAGED_FIELDS.into(), managed)));
}

/// Fills in the defaults of a built-in kind, in the version that is stored.
fn fill_in(resource: &Resource, object: &mut Object) {
    if resource.id() == definition::ID {
        definition::fill_in(object);
    }
    // A definition has its own, and the other API of a store has none.
    let has_own = resource.is_view() || resource.id() == definition::ID;
    if let Some(version) = resource.versions.first().filter(|_| !has_own) {
        specs::fill_in(resource, version, object);
    }
}

/// What is free to have any form is stored as Go writes it.
fn as_stored(resource: &Resource, object: &mut Object) {
    if resource.custom {
        object.values_mut().for_each(number::normalize);
    }
}

/// Takes nulls from a custom resource and gives it its defaults again, as a real server does when it reads the object for the answer: a
/// status that nobody has written yet may have some.
///
/// What is stored in another version gets those of that one, as it is encoded.
fn as_read(target: &Target, object: &mut Object) {
    if *target.version != *target.resource.preferred() {
        return;
    }
    let schema = target.resource.schema(&target.version);
    if let Some(schema) = schema.filter(|_| target.resource.custom) {
        schema::fit::read(object, &schema);
    }
}

/// Stores an object. One that is too large is stored without its managers, unless they were asked for by applying it.
fn put(
    transaction: &mut Transaction<'_>,
    resource: &Resource,
    object: &mut Object,
    writer: Writer<'_>,
) -> Result<Arc<Stored>, StatusError> {
    let mut stored = transaction.put_within(resource, object, writer.limit());
    if let (Err(_), Writer::Client { manager: Some(_), .. }) = (&stored, writer)
        && metadata_mut(object).remove(MANAGED_FIELDS).is_some()
    {
        stored = transaction.put_within(resource, object, writer.limit());
    }
    stored.map_err(|TooLarge(bytes)| StatusError::too_large_object(bytes))
}

/// A namespace has a label with its name.
fn label_namespace(object: &mut Object) {
    let meta = metadata_mut(object);
    let name = meta.get("name").cloned().unwrap_or_default();
    if let Some(labels) = meta.entry("labels").or_insert_with(|| json!({})).as_object_mut() {
        labels.insert("kubernetes.io/metadata.name".into(), name);
    }
}

/// A namespace has a label with its name, and nothing where nothing holds it.
fn name_namespace(object: &mut Object) {
    label_namespace(object);
    if namespace_finalizers(object).is_empty() {
        object.insert("spec".into(), json!({}));
    }
}

/// What holds a namespace that is being deleted, beside its finalizers.
pub(crate) fn namespace_finalizers(object: &Object) -> Vec<&str> {
    let list = object.get("spec").and_then(|spec| spec["finalizers"].as_array());
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// A random uid, as a version 4 UUID.
fn new_uid() -> String {
    uid_from(fastrand::u128(..))
}

fn invalid(resource: &Resource, name: &str, cause: Cause) -> StatusError {
    StatusError::invalid(&resource.group, &resource.kind, name, &[cause])
}
