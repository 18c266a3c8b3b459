//! CREATE, UPDATE and PATCH; `delete` has DELETE.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::access::User;
use crate::admission::{Admission, Operation};
use crate::api::Api;
use crate::api::fields::{self, FieldValidation};
use crate::api::patch::Patch;
use crate::apply::reset_fields;
use crate::apply::{self, MANAGED_FIELDS, Ownership};
use crate::meta::{
    Object, finalizers, is_being_deleted, metadata, metadata_mut, put_at, rfc3339, text, uid_from,
};
use crate::number;
use crate::object::{Stored, join_key};
use crate::resources::Resource;
use crate::specs;
use crate::status::{Cause, StatusError};
use crate::storage::{TooLarge, Transaction};
use crate::target::Target;
use crate::view;

mod check;
mod definition;
mod delete;
mod service;
mod signing;
mod subresource;
mod token;

pub(crate) use definition::ID as DEFINITIONS;
pub(crate) use delete::{DeleteOptions, Deleted, Propagation};
pub(crate) use subresource::Scale;
pub(crate) use token::ISSUER;

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

    /// A uid for a new object, the same in each attempt to write it.
    fn new_uid(self) -> String {
        match self.admission() {
            Some(admission) => admission.uid(new_uid),
            None => new_uid(),
        }
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
        if !before.custom || self.is_current(before) {
            return Ok(Cow::Borrowed(target));
        }
        let now = self.find(&before.group, &target.version, &before.plural);
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

    pub(crate) fn create_in(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        mut object: Object,
        writer: Writer<'_>,
    ) -> Result<Arc<Stored>, StatusError> {
        let resource = &target.resource;
        view::to_stored(resource, &mut object);
        check::type_meta(target, &object)?;
        check::namespace(target, &mut object)?;
        check::generation(target, &object)?;
        self.check_namespace(transaction, target, &object)?;
        let generates = text(metadata(&object), "name").is_empty();
        let mut name = check::new_name(resource, &mut object)?;
        // A dry run does not come as far as to where it is refused.
        let given = text(metadata(&object), "resourceVersion").to_owned();
        if !given.is_empty() && !writer.dry_run() {
            let message = "resourceVersion should not be set on objects to be created";
            return Err(StatusError::internal(message));
        }
        check::labels(resource, &name, &object)?;
        check::finalizer_names(resource, &name, &object)?;
        check::owners(resource, &name, &object)?;
        prepare_for_creation(resource, &mut object, writer);
        if let Writer::Client {
            manager: Some(manager),
            ..
        } = writer
        {
            let given = metadata_mut(&mut object).remove(MANAGED_FIELDS);
            let managed = Ownership::new(target, self.now()).track(None, None, &object, given, manager);
            set_managers(&mut object, managed);
        }
        if let Some(admission) = writer.admission() {
            let meta = metadata_mut(&mut object);
            if generates {
                name = admission.name(name);
                meta.remove("name");
            }
            // Those are the server's, which gives them later.
            meta.remove("uid");
            meta.remove("creationTimestamp");
            self.mutate(transaction, Operation::Create, target, writer, None, &mut object)?;
            check::type_meta(target, &object)?;
            check::namespace(target, &mut object)?;
            if resource.status && resource.id() != "nodes" {
                object.remove("status");
            }
            check::generation(target, &object)?;
            let meta = metadata_mut(&mut object);
            // The version of what is not there yet is nobody's to say.
            meta.remove("resourceVersion");
            if !given.is_empty() {
                meta.insert("resourceVersion".into(), given.as_str().into());
            }
            if text(meta, "name").is_empty() {
                meta.insert("name".into(), name.into());
            }
            name = check::new_name(resource, &mut object)?;
            check::labels(resource, &name, &object)?;
            check::finalizer_names(resource, &name, &object)?;
            check::owners(resource, &name, &object)?;
            prepare_for_creation(resource, &mut object, writer);
        }
        if writer != Writer::Owner {
            self.complete_new(transaction, resource, &name, &mut object, writer)?;
        }
        self.prepare_new(resource, &mut object, writer)?;
        check::kept_generation(resource, &name, &object)?;
        if writer != Writer::Owner {
            check::spec(resource, &name, &specs::causes(resource, &object))?;
            self.validate(target, None, &object)?;
        }
        if let Some(user) = writer.user() {
            self.check_escalation(transaction, target, user, None, &object, &name)?;
        }
        self.validate_by_webhooks(transaction, Operation::Create, target, writer, None, &object)?;
        let key = join_key(target.namespace.as_deref().unwrap_or(""), &name);
        if transaction.get(resource, &key).is_some() {
            return Err(StatusError::already_exists(resource, &name));
        }
        as_stored(resource, &mut object);
        if writer.dry_run() {
            return Ok(Arc::new(Stored::encode(
                resource,
                &object,
                given.parse().unwrap_or(0),
            )));
        }
        let stored = put(transaction, resource, &mut object, writer)?;
        self.defined(transaction, resource, &object, &stored);
        self.written(transaction, resource, &object, &stored, None, writer);
        Ok(stored)
    }

    /// What the server adds to a new object itself, so that no manager owns it.
    fn complete_new(
        &self,
        transaction: &mut Transaction<'_>,
        resource: &Resource,
        name: &str,
        object: &mut Object,
        writer: Writer<'_>,
    ) -> Result<(), StatusError> {
        let uid = writer.new_uid();
        metadata_mut(object).insert("uid".into(), uid.as_str().into());
        match resource.id().as_str() {
            "pods" => {
                self.prioritize(transaction, resource, name, object)?;
                specs::admit_pod(object);
                let class = specs::quality_of_service(object);
                object.insert("status".into(), json!({"phase": "Pending", "qosClass": class}));
            }
            "jobs.batch" => specs::name_job_pods(object, name, &uid),
            "services" => service::allocate(transaction, resource, name, None, object, &mut writer.random())?,
            "persistentvolumeclaims" => specs::name_data_source(object),
            "persistentvolumes" => {
                put_at(
                    object,
                    "status.lastPhaseTransitionTime",
                    rfc3339(writer.now(self)).into(),
                );
            }
            _ => {}
        }
        Ok(())
    }

    /// Gives a pod the priority of its class, or of the class that is for all pods without one.
    fn prioritize(
        &self,
        transaction: &mut Transaction<'_>,
        pods: &Resource,
        name: &str,
        pod: &mut Object,
    ) -> Result<(), StatusError> {
        let classes = self.find("scheduling.k8s.io", "v1", "priorityclasses");
        let (Some(classes), Some(Value::Object(spec))) = (classes, pod.get_mut("spec")) else {
            return Ok(());
        };
        let number = |value: Option<&Value>| value.and_then(Value::as_i64);
        let head = classes.head("v1");
        let class = match text(spec, "priorityClassName") {
            "" => {
                let all = transaction.list(&classes, "");
                let all = all.iter().map(|class| class.decode(&head));
                all.filter(|class| class.get("globalDefault") == Some(&Value::Bool(true)))
                    .min_by_key(|class| number(class.get("value")))
            }
            given => match transaction.get(&classes, given) {
                Some(class) => Some(class.decode(&head)),
                None => {
                    let why = format!("no PriorityClass with name {given} was found");
                    return Err(StatusError::forbidden(pods, name, &why));
                }
            },
        };
        let priority = class
            .as_ref()
            .and_then(|class| number(class.get("value")))
            .unwrap_or(0);
        if let Some(given) = number(spec.get("priority")).filter(|given| *given != priority) {
            let why = format!(
                "the integer value of priority ({given}) must not be provided in pod spec; priority admission controller \
                 computed {priority} from the given PriorityClass name"
            );
            return Err(StatusError::forbidden(pods, name, &why));
        }
        spec.insert("priority".into(), priority.into());
        let Some(class) = class else { return Ok(()) };
        spec.insert("priorityClassName".into(), text(metadata(&class), "name").into());
        let policy = text(&class, "preemptionPolicy");
        let given = text(spec, "preemptionPolicy");
        if !given.is_empty() && !policy.is_empty() && given != policy {
            let why = format!(
                "the string value of PreemptionPolicy ({given}) must not be provided in pod spec; priority admission \
                 controller computed {policy} from the given PriorityClass name"
            );
            return Err(StatusError::forbidden(pods, name, &why));
        }
        if !policy.is_empty() {
            spec.insert("preemptionPolicy".into(), policy.into());
        }
        Ok(())
    }

    /// The fields that the server fills in.
    fn prepare_new(
        &self,
        resource: &Resource,
        object: &mut Object,
        writer: Writer<'_>,
    ) -> Result<(), StatusError> {
        let created = match text(metadata(object), "creationTimestamp") {
            given if writer == Writer::Owner && !given.is_empty() => given.to_owned(),
            _ => rfc3339(writer.now(self)),
        };
        let meta = metadata_mut(object);
        if text(meta, "uid").is_empty() {
            meta.insert("uid".into(), new_uid().into());
        }
        meta.insert("creationTimestamp".into(), created.into());
        if resource.has_generation() {
            meta.insert("generation".into(), 1.into());
        }
        match resource.id().as_str() {
            "pods" => {
                object
                    .entry("status")
                    .or_insert_with(|| json!({"phase": "Pending", "qosClass": "BestEffort"}));
            }
            "namespaces" => prepare_namespace(object),
            definition::ID => {
                definition::prepare(object, &rfc3339(writer.now(self)), writer == Writer::Owner)?
            }
            _ => {}
        }
        Ok(())
    }

    /// The namespace of a new object exists, and is not being terminated.
    fn check_namespace(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        object: &Object,
    ) -> Result<(), StatusError> {
        let Some(namespace) = target.namespace.as_deref() else {
            return Ok(());
        };
        let Some(namespaces) = self.find("", "v1", "namespaces") else {
            return Ok(());
        };
        match transaction.get(&namespaces, namespace) {
            // The first selectable field of a namespace is its phase.
            Some(found) if found.field(0) == "Terminating" => {
                let meta = metadata(object);
                let given = [text(meta, "name"), text(meta, "generateName"), "Unknown"];
                let name = given.into_iter().find(|name| !name.is_empty()).unwrap_or("");
                Err(StatusError::terminating(&target.resource, name, namespace))
            }
            Some(_) => Ok(()),
            None => Err(StatusError::not_found(&namespaces, namespace)),
        }
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
            fields::fit(target, &mut new)
                .and_then(|errors| fields.note(errors))
                .map_err(|error| StatusError::misfit_patch(&error))?;
            fields.dedup_owners(&mut new);
            view::to_stored(&target.resource, &mut new);
            let name = target.name.as_deref().unwrap_or("");
            check::type_meta(target, &new).map_err(|error| match target.resource.custom {
                true => error,
                false => StatusError::misfit_patch(error.message()),
            })?;
            check::namespace(target, &mut new)?;
            check::same_name(text(metadata(&new), "name"), name)?;
            check::version(text(metadata(&new), "resourceVersion"))?;
            let times = if target.resource.custom { 1 } else { 2 };
            check::same_uid(&target.resource, name, metadata(&old), metadata(&new))
                .map_err(|error| error.repeated(times))?;
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
        let mut object = current.decode(&target.head());
        if view::is_outdated(&target.resource, &current) {
            view::refit(&target.resource, &target.version, &mut object);
        }
        Ok((current, object))
    }

    /// Puts `new` in the place of `old`, if it may be there and differs.
    pub(crate) fn update(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        current: Arc<Stored>,
        mut old: Object,
        mut new: Object,
        writer: Writer<'_>,
    ) -> Result<Arc<Stored>, StatusError> {
        let resource = &target.resource;
        // What says nothing of the version is about any, if its kind allows that. 0 says nothing.
        match check::version(text(metadata(&new), "resourceVersion"))? {
            0 if resource.is_updated_unconditionally() || writer == Writer::Owner => {}
            0 => return Err(check::version_required(resource, current.name())),
            version if version == current.resource_version => {}
            _ => return Err(StatusError::stale(resource, current.name())),
        }
        let [held, given] = [&mut old, &mut new].map(|object| metadata_mut(object).remove(MANAGED_FIELDS));
        self.prepare_change(target, current.name(), &old, &mut new, writer)?;
        if writer != Writer::Owner {
            fill_in(resource, &mut new);
            if resource.id() == "daemonsets.apps" && target.subresource.is_none() {
                specs::count_templates(&old, &mut new);
            }
            // What was put into the store may lack them; nobody has changed them.
            if new != old {
                fill_in(resource, &mut old);
            }
            if target.subresource.is_none() {
                specs::keep_admitted(resource, &old, &mut new);
            }
        }
        let managed = match writer {
            Writer::Client {
                manager: Some(manager),
                ..
            } => {
                let ownership = Ownership::new(target, self.now());
                ownership.track(Some(&old), held.as_ref(), &new, given, manager)
            }
            Writer::Client { manager: None, .. } => given,
            Writer::Owner => given.or_else(|| held.clone()),
        };
        let webhooks = writer
            .admission()
            .filter(|_| target.subresource.as_deref() != Some("scale"));
        let before = webhooks.map(|_| with_managers(&old, &held));
        if let (Some(_), Some(before)) = (webhooks, &before) {
            let mut seen = with_managers(&new, &managed);
            self.mutate(
                transaction,
                Operation::Update,
                target,
                writer,
                Some(before),
                &mut seen,
            )?;
            metadata_mut(&mut seen).remove(MANAGED_FIELDS);
            check::type_meta(target, &seen)?;
            check::namespace(target, &mut seen)?;
            check::same_name(text(metadata(&seen), "name"), current.name())?;
            if !text(metadata(&seen), "uid").is_empty() {
                check::same_uid(resource, current.name(), metadata(&old), metadata(&seen))?;
            }
            self.prepare_change(target, current.name(), &old, &mut seen, writer)?;
            new = seen;
        }
        if writer != Writer::Owner && target.subresource.is_none() && resource.id() == "services" {
            let random = &mut writer.random();
            service::allocate(
                transaction,
                resource,
                current.name(),
                Some(&old),
                &mut new,
                random,
            )?;
        }
        let unchanged = new == old && apply::differ_only_in_time(managed.as_ref(), held.as_ref());
        if writer != Writer::Owner && !unchanged {
            self.validate(target, Some(&old), &new)?;
            if target.subresource.is_none() {
                let causes = specs::causes_of_change(resource, &old, &new);
                check::spec(resource, current.name(), &causes)?;
            }
        }
        if let Some(user) = writer.user() {
            self.check_escalation(transaction, target, user, Some(&old), &new, current.name())?;
        }
        if let Some(before) = &before {
            let new = with_managers(&new, &managed);
            self.validate_by_webhooks(transaction, Operation::Update, target, writer, Some(before), &new)?;
        }
        if unchanged {
            return Ok(current);
        }
        set_managers(&mut new, managed);
        // Where a pod runs is not what is wanted of it.
        let counts = resource.has_generation() && target.subresource.as_deref() != Some("binding");
        if counts && spec_differs(resource, &old, &new) {
            bump_generation(&mut new);
        }
        if resource.id() == definition::ID {
            definition::prepare(&mut new, &rfc3339(self.now()), writer == Writer::Owner)?;
            definition::note_storage_version(&mut new);
        }
        as_stored(resource, &mut new);
        if writer.dry_run() {
            return Ok(Arc::new(Stored::encode(resource, &new, current.resource_version)));
        }
        if is_to_be_removed(resource, &old, &new) {
            self.remove(transaction, target, &current);
            return Ok(Arc::new(Stored::encode(resource, &new, current.resource_version)));
        }
        let stored = put(transaction, resource, &mut new, writer)?;
        self.defined(transaction, resource, &new, &stored);
        self.written(transaction, resource, &new, &stored, Some(&current), writer);
        Ok(stored)
    }

    /// Refuses what no update may change of the metadata or by a subresource, and keeps what is not this request's to write.
    fn prepare_change(
        &self,
        target: &Target,
        name: &str,
        old: &Object,
        new: &mut Object,
        writer: Writer<'_>,
    ) -> Result<(), StatusError> {
        let (resource, subresource) = (&target.resource, target.subresource.as_deref());
        if subresource == Some("ephemeralcontainers") {
            check::ephemeral_containers(name, old, new)?;
        }
        if subresource == Some("finalize") {
            check::namespace_finalizers(name, new)?;
        }
        if writer != Writer::Owner && resource.status {
            keep_other_part(resource, subresource, old, new);
            if resource.id() == signing::ID && subresource.is_some() {
                signing::check(resource, name, old, new)?;
                signing::stamp(new, &rfc3339(writer.now(self)));
            }
        }
        // The metadata of built-in kinds is validated several times on the way.
        let times =
            |times: usize| move |error: StatusError| error.repeated(if resource.custom { 1 } else { times });
        check::labels(resource, name, new).map_err(times(4))?;
        check::finalizer_names(resource, name, new)?;
        check::finalizers(resource, name, old, new).map_err(times(2))?;
        check::owners(resource, name, new).map_err(times(4))?;
        if writer != Writer::Owner {
            check::deletion(resource, name, old, new).map_err(times(2))?;
        }
        keep_system_fields(old, new);
        for name in ["apiVersion", "kind"] {
            if let (false, Some(value)) = (new.contains_key(name), old.get(name)) {
                new.insert(name.into(), value.clone());
            }
        }
        if resource.id() == "namespaces" {
            name_namespace(new);
        }
        Ok(())
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
            view::to_stored(resource, &mut changed);
            fill_in(resource, &mut changed);
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

    /// A custom resource definition makes its resource appear, or change.
    fn defined(
        &self,
        transaction: &mut Transaction<'_>,
        resource: &Resource,
        object: &Object,
        stored: &Stored,
    ) {
        if resource.id() == definition::ID
            && let Ok(mut defined) = Resource::from_definition(&Value::Object(object.clone()))
        {
            defined.since = stored.resource_version;
            self.with_registry(|registry| registry.define(defined.clone()));
            transaction.wake(&defined);
        }
    }
}

/// Makes a new object one that a client may create: what only the server writes is taken away, what it adds is there.
fn prepare_for_creation(resource: &Resource, object: &mut Object, writer: Writer<'_>) {
    let meta = metadata_mut(object);
    drop_empty(meta);
    if writer != Writer::Owner {
        meta.remove("deletionTimestamp");
        meta.remove("deletionGracePeriodSeconds");
    }
    if resource.id() == "namespaces" {
        label_namespace(object);
    }
    if writer != Writer::Owner {
        // A node says itself what it has.
        if resource.status && resource.id() != "nodes" {
            object.remove("status");
        }
        fill_in(resource, object);
    }
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

/// Through the main resource the status stays as it is; through the status subresource only the status changes.
fn keep_other_part(resource: &Resource, subresource: Option<&str>, old: &Object, new: &mut Object) {
    if subresource == Some("ephemeralcontainers") {
        let containers = new.get("spec").map(|spec| spec["ephemeralContainers"].clone());
        *new = old.clone();
        let spec = new.entry("spec").or_insert_with(|| json!({}));
        if let (Some(spec), Some(containers)) = (spec.as_object_mut(), containers.filter(Value::is_array)) {
            spec.insert("ephemeralContainers".into(), containers);
        }
        return;
    }
    if subresource == Some("approval") {
        keep_member(old, new, "spec");
        signing::keep_all_but_conditions(old, new);
        return;
    }
    if subresource != Some("status") {
        keep_member(old, new, "status");
        if resource.id() == "namespaces" && subresource.is_none() {
            keep_member(old, new, "spec");
        }
        return;
    }
    let status = new.remove("status");
    let given = new.remove("metadata");
    *new = old.clone();
    new.remove("status");
    new.extend(status.map(|status| ("status".into(), status)));
    let kept = reset_fields(resource, subresource);
    if kept.contains(&&["metadata"][..]) {
        return;
    }
    new.extend(given.map(|metadata| ("metadata".into(), metadata)));
    for path in kept {
        if let ["metadata", name] = path {
            keep_member(metadata(old), metadata_mut(new), name);
        }
    }
}

fn keep_member(old: &Object, new: &mut Object, name: &str) {
    match old.get(name) {
        Some(value) => new.insert(name.into(), value.clone()),
        None => new.remove(name),
    };
}

/// Whether the update of an object that is being deleted ends it: nothing holds it any more.
fn is_to_be_removed(resource: &Resource, old: &Object, new: &Object) -> bool {
    let graceful = metadata(old)
        .get("deletionGracePeriodSeconds")
        .and_then(Value::as_i64);
    let held = resource.id() == "namespaces" && !namespace_finalizers(new).is_empty();
    is_being_deleted(old) && finalizers(new).is_empty() && matches!(graceful, None | Some(0)) && !held
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
        keep_member(old, new, name);
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

/// Most built-in kinds have a spec; of others, and of a custom resource, everything but metadata and status counts.
fn spec_differs(resource: &Resource, old: &Object, new: &Object) -> bool {
    // What a Deployment's annotations say is for its controller.
    let annotations = |object: &Object| metadata(object).get("annotations").cloned();
    if resource.id() == "deployments.apps" && annotations(old) != annotations(new) {
        return true;
    }
    let has_spec = !resource.custom && (resource.status || old.contains_key("spec"));
    if has_spec {
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

pub(crate) fn set_managers(object: &mut Object, managed: Option<Value>) {
    metadata_mut(object).extend(managed.map(|managed| (MANAGED_FIELDS.into(), managed)));
}

/// Fills in the defaults of a built-in kind, in the version that is stored.
fn fill_in(resource: &Resource, object: &mut Object) {
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

fn prepare_namespace(object: &mut Object) {
    let mut held = namespace_finalizers(object);
    if !held.contains(&"kubernetes") {
        held.push("kubernetes");
    }
    let spec = json!({"finalizers": held});
    object.insert("spec".into(), spec);
    object.insert("status".into(), json!({"phase": "Active"}));
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
