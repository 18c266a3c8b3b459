//! UPDATE: what may change of an object, and what stays as it is.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::admission::Operation;
use crate::api::Api;
use crate::apply::{self, MANAGED_FIELDS, Ownership, reset_fields};
use crate::meta::{Object, finalizers, is_being_deleted, metadata, metadata_mut, rfc3339, text};
use crate::object::Stored;
use crate::resources::Resource;
use crate::specs::{self, Change};
use crate::status::StatusError;
use crate::storage::Transaction;
use crate::target::Target;
use crate::view;

use super::{
    Writer, advice, as_read, as_stored, bump_generation, check, definition, drop_empty, drop_link, fill_in,
    keep_member, name_namespace, namespace_finalizers, put, resize, service, set_managers, signing,
    with_managers,
};

impl Api {
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
        ensure_version(resource, &current, &new, writer)?;
        let [held, given] = [&mut old, &mut new].map(|object| metadata_mut(object).remove(MANAGED_FIELDS));
        let is_resized = target.subresource.as_deref() == Some("resize") && !is_being_deleted(&old);
        if writer != Writer::Owner && is_resized {
            self.apply_defaults_of_ranges(transaction, target, &mut new);
        }
        self.prepare_change(target, current.name(), &old, &mut new, writer)?;
        if writer != Writer::Owner {
            complete_change(target, &mut old, &mut new);
        }
        let mut managed = self.managers_after(target, [&old, &new], held.as_ref(), given, writer);
        let webhooks = writer
            .admission()
            .filter(|_| target.subresource.as_deref() != Some("scale"));
        let before = webhooks.map(|_| with_managers(&old, &held));
        if let Some(before) = &before {
            let seen = with_managers(&new, &managed);
            (new, managed) = self.change_by_webhooks(transaction, target, &old, before, seen, writer)?;
        }
        if writer != Writer::Owner {
            writer.dedup_owners(&mut new);
        }
        drop_link(&mut new);
        if writer != Writer::Owner && target.subresource.is_none() && resource.id() == "services" {
            let (name, random) = (current.name(), &mut writer.random());
            service::allocate(transaction, resource, name, Some(&old), &mut new, random)?;
        }
        let unchanged = new == old && apply::differ_only_in_time(managed.as_ref(), held.as_ref());
        if writer != Writer::Owner {
            self.check_change(
                transaction,
                target,
                [&old, &new],
                current.name(),
                unchanged,
                writer,
            )?;
        }
        if writer != Writer::Owner {
            self.check_room(transaction, target, current.name(), [&old, &new])?;
        }
        if let Some(before) = &before {
            let mut new = with_managers(&new, &managed);
            if counts(target, &old, &new) {
                bump_generation(&mut new);
            }
            self.validate_by_webhooks(transaction, Operation::Update, target, writer, Some(before), &new)?;
        }
        let charges = match writer {
            Writer::Owner => Vec::new(),
            Writer::Client { .. } => self.charges(transaction, target, current.name(), Some(&old), &new)?,
        };
        // What was stored in another version or by another schema is stored anew.
        if unchanged && !view::is_stored_otherwise(resource, &current, &new, &managed) {
            return Ok(current);
        }
        set_managers(&mut new, managed);
        self.finish_change(target, &old, &mut new, writer)?;
        if writer.dry_run() {
            return Ok(Arc::new(view::encode(resource, &new, current.resource_version)));
        }
        if is_to_be_removed(resource, &old, &new) {
            self.remove(transaction, target, &current);
            return Ok(Arc::new(view::encode(resource, &new, current.resource_version)));
        }
        self.pay(transaction, charges);
        let stored = put(transaction, resource, &mut new, writer)?;
        self.defined(transaction, resource, &new, &stored);
        self.written(transaction, resource, &new, &stored, Some(&current), writer);
        Ok(stored)
    }

    /// Who owns which fields after a change.
    fn managers_after(
        &self,
        target: &Target,
        [old, new]: [&Object; 2],
        held: Option<&Value>,
        given: Option<Value>,
        writer: Writer<'_>,
    ) -> Option<Value> {
        match writer {
            Writer::Client {
                manager: Some(manager),
                ..
            } => Ownership::new(target, self.now()).track(Some(old), held, new, given, manager),
            Writer::Client { manager: None, .. } => given,
            Writer::Owner => given.or_else(|| held.cloned()),
        }
    }

    /// What mutating webhooks and policies leave of an object, of which they see `seen`, and of its managers; they may not make it
    /// another one.
    fn change_by_webhooks(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        old: &Object,
        before: &Object,
        mut seen: Object,
        writer: Writer<'_>,
    ) -> Result<(Object, Option<Value>), StatusError> {
        self.mutate(
            transaction,
            Operation::Update,
            target,
            writer,
            Some(before),
            &mut seen,
        )?;
        let name = text(metadata(old), "name");
        check::managers(&target.resource, name, &seen)?;
        let managed = metadata_mut(&mut seen).remove(MANAGED_FIELDS);
        check::type_meta(target, &seen)?;
        check::namespace(target, &mut seen)?;
        check::same_name(text(metadata(&seen), "name"), name)?;
        check::same_uid(&target.resource, name, metadata(old), metadata(&seen))?;
        self.prepare_change(target, name, old, &mut seen, writer)?;
        Ok((seen, managed))
    }

    /// Refuses what a client may not make of an object.
    fn check_change(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        [old, new]: [&Object; 2],
        name: &str,
        unchanged: bool,
        writer: Writer<'_>,
    ) -> Result<(), StatusError> {
        if !unchanged {
            let mut causes = self.schema_faults(target, Some(old), new, writer.admission())?;
            if target.resource.custom && target.subresource.is_none() {
                causes.splice(0..0, check::changed_metadata(&target.resource, new));
            }
            check::spec(&target.resource, name, &causes)?;
            let causes = match target.subresource.as_deref() {
                None => specs::causes_of_change(&target.resource, old, new),
                Some("ephemeralcontainers") => {
                    specs::causes_of_ephemeral_containers(&target.resource, old, new)
                }
                Some("status") => specs::causes_of_status(&target.resource, old, new),
                Some(_) => Vec::new(),
            };
            check::spec(&target.resource, name, &causes)?;
        }
        let change = match target.subresource.as_deref() {
            None | Some("scale") => Some(Change::Update {
                old,
                counts: counts(target, old, new),
            }),
            Some("status") => Some(Change::Status),
            Some(_) => None,
        };
        if let Some(change) = change {
            advice::warn(target, change, new, writer);
        }
        if let Some(user) = writer.user() {
            self.check_escalation(transaction, target, user, Some(old), new, name)?;
            self.check_signer(transaction, target, user, [old, new], name)?;
        }
        self.check_growth(transaction, target, [old, new], name)?;
        self.check_ranges(transaction, target, name, Some(old), new)?;
        self.check_pod_security(transaction, target, name, Some(old), new, writer)
    }

    /// Makes a changed object what is stored.
    fn finish_change(
        &self,
        target: &Target,
        old: &Object,
        new: &mut Object,
        writer: Writer<'_>,
    ) -> Result<(), StatusError> {
        let resource = &target.resource;
        if counts(target, old, new) {
            bump_generation(new);
        }
        if resource.id() == definition::ID {
            let (registry, now) = (self.registry(), rfc3339(self.now()));
            definition::prepare(
                new,
                Some(old),
                Vec::new(),
                &registry,
                &now,
                writer == Writer::Owner,
            )?;
        }
        as_stored(resource, new);
        as_read(target, new);
        view::ensure_converted(resource, &target.version, new)
    }

    /// Refuses what no update may change of the metadata or by a subresource, and keeps what is not this request's to write.
    pub(super) fn prepare_change(
        &self,
        target: &Target,
        name: &str,
        old: &Object,
        new: &mut Object,
        writer: Writer<'_>,
    ) -> Result<(), StatusError> {
        let (resource, subresource) = (&target.resource, target.subresource.as_deref());
        if subresource == Some("resize") {
            resize::check(resource, name, old, new)?;
        }
        if subresource == Some("finalize") {
            check::namespace_finalizers(name, new)?;
        }
        if writer != Writer::Owner && resource.status {
            keep_other_part(resource, subresource, old, new);
            if resource.id() == signing::ID && subresource.is_some() {
                signing::stamp(old, new, &rfc3339(writer.now(self)));
                signing::check(resource, name, subresource, [old, new])?;
            }
        }
        // Metadata is validated several times on the way; most of that of custom resources with their schema.
        let times = |times: usize| move |error: StatusError| error.repeated(times);
        check::strings(resource, new)?;
        if !resource.custom || writer == Writer::Owner {
            check::labels(resource, name, new).map_err(times(4))?;
            check::finalizer_names(resource, name, new).map_err(times(2))?;
        }
        check::finalizers(resource, name, old, new).map_err(times(2))?;
        if !resource.custom || writer == Writer::Owner {
            check::owners(resource, name, new).map_err(times(4))?;
        }
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
}

/// That the version that a client names is the current one. What says nothing of the version is about any, if its kind allows that; 0
/// says nothing.
fn ensure_version(
    resource: &Resource,
    current: &Stored,
    new: &Object,
    writer: Writer<'_>,
) -> Result<(), StatusError> {
    match check::version(text(metadata(new), "resourceVersion"))? {
        0 if resource.is_updated_unconditionally() || writer == Writer::Owner => Ok(()),
        0 => Err(check::version_required(resource, current.name())),
        version if version == current.resource_version => Ok(()),
        _ => Err(StatusError::stale(resource, current.name())),
    }
}

/// Gives what a client has changed what it need not say.
fn complete_change(target: &Target, old: &mut Object, new: &mut Object) {
    let resource = &target.resource;
    fill_in(resource, new);
    match resource.id().as_str() {
        "daemonsets.apps" if target.subresource.is_none() => specs::count_templates(old, new),
        "statefulsets.apps" => specs::drop_unavailable(Some(old), new),
        "leases.coordination.k8s.io" => specs::drop_disabled(Some(old), new),
        "endpointslices.discovery.k8s.io" => specs::drop_topology(Some(old), new),
        _ => {}
    }
    specs::write_empty(resource, new);
    // What was put into the store may lack them; nobody has changed them.
    if new != old {
        fill_in(resource, old);
        specs::write_empty(resource, old);
    }
    if target.subresource.is_none() {
        specs::keep_admitted(resource, old, new);
    }
}

/// Through the main resource the status stays as it is; through the status subresource only the status changes.
pub(super) fn keep_other_part(
    resource: &Resource,
    subresource: Option<&str>,
    old: &Object,
    new: &mut Object,
) {
    if subresource == Some("ephemeralcontainers") {
        let containers = new.get("spec").map(|spec| spec["ephemeralContainers"].clone());
        *new = old.clone();
        let spec = new.entry("spec").or_insert_with(|| json!({}));
        if let Some(spec) = spec.as_object_mut() {
            match containers.filter(Value::is_array) {
                Some(containers) => spec.insert("ephemeralContainers".into(), containers),
                None => spec.remove("ephemeralContainers"),
            };
        }
        return;
    }
    if subresource == Some("resize") {
        return resize::keep_all_but_resources(old, new);
    }
    if subresource == Some("approval") {
        keep_member(old, new, "spec");
        signing::keep_all_but_conditions(old, new);
        return;
    }
    if subresource != Some("status") {
        keep_member(old, new, "status");
        if subresource.is_none() && matches!(resource.id().as_str(), "namespaces" | signing::ID) {
            keep_member(old, new, "spec");
        }
        return;
    }
    let status = new.remove("status");
    let given = new.remove("metadata");
    *new = old.clone();
    new.remove("status");
    new.extend(status.map(|status| ("status".into(), status)));
    if resource.id() == signing::ID {
        signing::keep_decisions(old, new);
    }
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

/// Whether the update of an object that is being deleted ends it: nothing holds it any more.
pub(super) fn is_to_be_removed(resource: &Resource, old: &Object, new: &Object) -> bool {
    let graceful = metadata(old)
        .get("deletionGracePeriodSeconds")
        .and_then(Value::as_i64);
    let held = resource.id() == "namespaces" && !namespace_finalizers(new).is_empty();
    is_being_deleted(old) && finalizers(new).is_empty() && matches!(graceful, None | Some(0)) && !held
}

pub(super) fn keep_system_fields(old: &Object, new: &mut Object) {
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

/// Whether a change makes another generation of an object.
fn counts(target: &Target, old: &Object, new: &Object) -> bool {
    let resource = &target.resource;
    // Where a pod runs is not what is wanted of it.
    if !resource.is_counted_on_update() || target.subresource.as_deref() == Some("binding") {
        return false;
    }
    let differs = |name: &str| metadata(old).get(name) != metadata(new).get(name);
    let by_metadata = match resource.id().as_str() {
        // What a Deployment's annotations say is for its controller.
        "deployments.apps" => target.subresource.is_none() && differs("annotations"),
        // The labels of a slice say whose it is.
        "endpointslices.discovery.k8s.io" => differs("labels"),
        _ => false,
    };
    by_metadata || spec_differs(resource, old, new)
}

/// Most built-in kinds have a spec; of others, and of a custom resource, everything but metadata and status counts.
fn spec_differs(resource: &Resource, old: &Object, new: &Object) -> bool {
    let has_spec = !resource.custom && (resource.status || old.contains_key("spec"));
    if has_spec {
        return old.get("spec") != new.get("spec");
    }
    // A status that is no subresource is what is wanted as everything else.
    let rest = |(name, _): &(&String, &Value)| match name.as_str() {
        "metadata" | "apiVersion" | "kind" => false,
        "status" => resource.custom && !resource.status,
        _ => true,
    };
    !old.iter().filter(rest).eq(new.iter().filter(rest))
}
