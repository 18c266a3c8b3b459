//! What a written object must satisfy, with a real server's messages.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{
    DeleteOptions, Object, Writer, definition, invalid, is_being_deleted, metadata, metadata_mut, signing,
    text,
};
use crate::meta::faults;
use crate::names::{begun_name, dns_label_faults, label_key_fault, path_segment_faults, subdomain_faults};
use crate::object::Stored;
use crate::resources::Resource;
use crate::schema;
use crate::specs;
use crate::status::{Cause, StatusError, Told, quoted, unregistered};
use crate::target::Target;

/// Where an object has its metadata.
const PATH: &str = "metadata";

/// `apiVersion` and `kind` fit the URL; built-in kinds may leave them out.
pub(super) fn type_meta(target: &Target, object: &Object) -> Result<(), StatusError> {
    let resource = &target.resource;
    if object
        .get("metadata")
        .is_some_and(|m| !m.is_object() && !m.is_null())
    {
        let kind = &resource.kind;
        let why = format!(
            "{kind} in version \"{}\" cannot be handled as a {kind}: metadata must be an object",
            target.version
        );
        return Err(StatusError::bad_request(why));
    }
    let (expected, given) = (resource.api_version(&target.version), text(object, "apiVersion"));
    let absent_is_fine = !resource.custom && given.is_empty();
    let kind = text(object, "kind");
    if resource.custom {
        if given != expected {
            let why = format!(
                "the API version in the data ({given}) does not match the expected API version ({expected})"
            );
            return Err(StatusError::bad_request(why));
        }
        if kind != resource.kind {
            let cause = Cause::invalid(
                "kind",
                format!("\"{kind}\""),
                &format!("must be {}", resource.kind),
            );
            return Err(StatusError::invalid(
                &resource.group,
                kind,
                text(metadata(object), "name"),
                &[cause],
            ));
        }
    } else if (given != expected && !absent_is_fine) || (kind != resource.kind && !kind.is_empty()) {
        let (group, version) = given.split_once('/').unwrap_or(("", given));
        let to = match resource.group.split('.').next().unwrap_or("") {
            "" => "core",
            group => group,
        };
        let why = match schema::of_kind(group, version, kind) {
            Some(_) => format!(
                "converting ({version}.{kind}) to ({to}.{}): unknown conversion",
                resource.kind
            ),
            None => unregistered(kind, given),
        };
        return Err(StatusError::bad_request(format!(
            "{kind} in version \"{given}\" cannot be handled as a {}: {why}",
            resource.kind
        )));
    }
    Ok(())
}

/// A generation is a whole number.
pub(super) fn generation(target: &Target, object: &Object) -> Result<(), StatusError> {
    let given = match metadata(object).get("generation") {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Number(number)) if number.is_i64() => return Ok(()),
        Some(Value::Number(number)) => format!("number {number}"),
        Some(Value::String(_)) => "string".into(),
        Some(Value::Bool(_)) => "bool".into(),
        Some(Value::Array(_)) => "array".into(),
        Some(Value::Object(_)) => "object".into(),
    };
    let (kind, version) = (&target.resource.kind, &target.version);
    let field = match target.resource.custom {
        true => "ObjectMeta.generation",
        false => "ObjectMeta.metadata.generation",
    };
    Err(StatusError::bad_request(format!(
        "{kind} in version \"{version}\" cannot be handled as a {kind}: json: cannot unmarshal {given} into Go struct \
         field {field} of type int64"
    )))
}

/// The namespace of the object is that of the URL; left out, it is filled in.
pub(super) fn namespace(target: &Target, object: &mut Object) -> Result<(), StatusError> {
    let given = text(metadata(object), "namespace");
    match target.namespace.as_deref() {
        Some(namespace) if given.is_empty() || given == namespace => {
            metadata_mut(object).insert("namespace".into(), namespace.into());
            Ok(())
        }
        // What belongs to the whole cluster loses it.
        None => {
            metadata_mut(object).remove("namespace");
            Ok(())
        }
        _ => Err(StatusError::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        )),
    }
}

/// The name of a new object, made from `generateName` if need be; it may be one that no object can have.
pub(super) fn new_name(object: &mut Object, writer: Writer<'_>) -> String {
    let meta = metadata_mut(object);
    if text(meta, "name").is_empty() {
        let suffix = writer.suffix();
        let prefix: String = text(meta, "generateName").chars().take(58).collect();
        if !prefix.is_empty() {
            meta.insert("name".into(), (prefix + &suffix).into());
        }
    }
    text(meta, "name").to_owned()
}

/// What is wrong with the metadata of a new object, in the order of a real server, which tells of its spec after that.
pub(super) fn new_metadata(resource: &Resource, name: &str, object: &Object) -> Vec<Cause> {
    let meta = metadata(object);
    let mut causes = prefix_faults(resource, text(meta, "generateName"), object);
    if name.is_empty() {
        causes.push(Cause::required(
            "metadata.name",
            "name or generateName is required",
        ));
    } else {
        let faults = name_faults(resource, name, object);
        let named = |fault: Cow<'_, str>| Cause::invalid("metadata.name", quoted(name), &fault);
        causes.extend(faults.into_iter().map(named));
    }
    // Where the server does not count generations, that of a new object is kept.
    causes.extend(faults::of_generation(meta, PATH));
    causes.extend(metadata_faults(resource, object));
    causes
}

/// What is wrong with the names that begin with this.
fn prefix_faults(resource: &Resource, prefix: &str, object: &Object) -> Vec<Cause> {
    if prefix.is_empty() {
        return Vec::new();
    }
    let faults = name_faults(resource, &begun_name(prefix), object).into_iter();
    faults
        .map(|fault| Cause::invalid("metadata.generateName", quoted(prefix), &fault))
        .collect()
}

/// What these find, each of which has its room.
fn told(object: &Object, parts: &[fn(&Object, &str, &mut Told)]) -> Vec<Cause> {
    let of = |part: &fn(&Object, &str, &mut Told)| {
        let mut causes = Told::default();
        part(metadata(object), PATH, &mut causes);
        causes.into_vec()
    };
    parts.iter().flat_map(of).collect()
}

/// What is wrong with the metadata of a custom resource that has changed; a real server looks at most of it three times.
pub(super) fn changed_metadata(resource: &Resource, object: &Object) -> Vec<Cause> {
    let mut causes = metadata_faults(resource, object);
    for _ in 0..2 {
        causes.extend(told(object, &[faults::of_labels, faults::of_owners]));
    }
    causes
}

/// What is wrong with the metadata of an object but for its name.
fn metadata_faults(resource: &Resource, object: &Object) -> Vec<Cause> {
    let mut causes = told(object, &[faults::of_labels, faults::of_owners]);
    causes.extend(finalizer_causes(resource, object));
    causes
}

/// Why an object cannot have this name.
fn name_faults(resource: &Resource, name: &str, object: &Object) -> Vec<Cow<'static, str>> {
    const LONGEST_CRON_JOB: usize = 52;
    let faults = match resource.id().as_str() {
        _ if resource.group == "rbac.authorization.k8s.io" => path_segment_faults(name),
        "apiservices.apiregistration.k8s.io" => {
            let faults = path_segment_faults(name);
            if faults.is_empty() {
                let other = specs::api_service_name_fault(name, object);
                return other.into_iter().map(Cow::Owned).collect();
            }
            faults
        }
        "namespaces" | "services" | "statefulsets.apps" => dns_label_faults(name),
        "events" | "events.events.k8s.io" | signing::ID => Vec::new(),
        _ => subdomain_faults(name),
    };
    // Its jobs are called by its name and a time.
    let is_long = resource.id() == "cronjobs.batch" && name.len() > LONGEST_CRON_JOB;
    let long = is_long.then_some("must be no more than 52 characters");
    faults.into_iter().chain(long).map(Cow::Borrowed).collect()
}

/// Labels and annotations are maps of strings.
pub(super) fn strings(resource: &Resource, object: &Object) -> Result<(), StatusError> {
    let is_of_strings = |field: &&str| match metadata(object).get(*field) {
        None | Some(Value::Null) => true,
        Some(Value::Object(texts)) => texts.values().all(Value::is_string),
        Some(_) => false,
    };
    match ["labels", "annotations"]
        .into_iter()
        .find(|field| !is_of_strings(field))
    {
        None => Ok(()),
        Some(field) => Err(not_strings(resource, field)),
    }
}

pub(super) fn labels(resource: &Resource, name: &str, object: &Object) -> Result<(), StatusError> {
    spec(resource, name, &told(object, &[faults::of_labels]))
}

/// The refusal of an object for its spec, if there are causes.
pub(super) fn spec(resource: &Resource, name: &str, causes: &[Cause]) -> Result<(), StatusError> {
    match causes.is_empty() {
        true => Ok(()),
        // Both APIs of events are one here.
        false if resource.is_view() => Err(StatusError::invalid("", &resource.kind, name, causes)),
        false => Err(refused_all(resource, name, causes)),
    }
}

fn refused_all(resource: &Resource, name: &str, causes: &[Cause]) -> StatusError {
    StatusError::invalid(&resource.group, &resource.kind, name, causes)
}

fn not_strings(resource: &Resource, field: &str) -> StatusError {
    let kind = &resource.kind;
    let why = format!("{kind} cannot be handled as a {kind}: metadata.{field} must map strings to strings");
    StatusError::bad_request(why)
}

pub(super) fn same_name(name: &str, url: &str) -> Result<(), StatusError> {
    if name == url {
        return Ok(());
    }
    if name.is_empty() {
        let why =
            format!("the name of the object ({url} based on URL) was undeterminable: name must be provided");
        return Err(StatusError::bad_request(why));
    }
    let why = format!("the name of the object ({name}) does not match the name on the URL ({url})");
    Err(StatusError::bad_request(why))
}

/// What has no uid keeps that of the object that it changes.
pub(super) fn same_uid(
    resource: &Resource,
    name: &str,
    old: &Map<String, Value>,
    new: &Map<String, Value>,
) -> Result<(), StatusError> {
    let uid = text(new, "uid");
    if uid.is_empty() || uid == text(old, "uid") {
        return Ok(());
    }
    Err(invalid(
        resource,
        name,
        Cause::invalid("metadata.uid", format!("\"{uid}\""), "field is immutable"),
    ))
}

pub(super) fn uid_precondition(resource: &Resource, key: &str, given: &str, uid: &str) -> StatusError {
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: /registry/{}/{}, ResourceVersion: 0, AdditionalErrorMsg: \
         Precondition failed: UID in precondition: {given}, UID in object meta: {uid}",
        resource.plural, key
    );
    StatusError::conflict(resource, key.rsplit('/').next().unwrap_or(""), &why)
}

pub(super) fn version_required(resource: &Resource, name: &str) -> StatusError {
    let cause = Cause::invalid("metadata.resourceVersion", 0, "must be specified for an update");
    StatusError::invalid(&resource.group, &resource.plural, name, &[cause])
}

/// A version is a number; none is 0.
pub(super) fn version(version: &str) -> Result<u64, StatusError> {
    match version.parse() {
        _ if version.is_empty() => Ok(0),
        Ok(version) => Ok(version),
        Err(_) => {
            let message = format!("strconv.ParseUint: parsing \"{version}\": invalid syntax");
            Err(StatusError::internal(message))
        }
    }
}

/// Nobody but the server says when an object is deleted, and with which grace period. Once it is being deleted, another time is ignored.
pub(super) fn deletion(
    resource: &Resource,
    name: &str,
    old: &Object,
    new: &Object,
) -> Result<(), StatusError> {
    let (old, new) = (metadata(old), metadata(new));
    let immutable =
        |field: &str, given: &Value| Cause::invalid(format!("metadata.{field}"), given, "field is immutable");
    let mut causes = Vec::new();
    let begins = !text(new, "deletionTimestamp").is_empty() && text(old, "deletionTimestamp").is_empty();
    if let Some(given) = new.get("deletionTimestamp").filter(|_| begins) {
        causes.push(immutable("deletionTimestamp", given));
    }
    let period = new
        .get("deletionGracePeriodSeconds")
        .filter(|given| !given.is_null());
    if let Some(given) = period.filter(|given| old.get("deletionGracePeriodSeconds") != Some(given)) {
        causes.push(immutable("deletionGracePeriodSeconds", given));
    }
    spec(resource, name, &causes)
}

/// Finalizers are names with a prefix, but for those of the server; for custom resources the prefix may be missing.
pub(super) fn finalizer_names(resource: &Resource, name: &str, object: &Object) -> Result<(), StatusError> {
    spec(resource, name, &finalizer_causes(resource, object))
}

fn finalizer_causes(resource: &Resource, object: &Object) -> Vec<Cause> {
    let mut causes = told(object, &[faults::of_finalizers]);
    // Definitions have one that is neither.
    if resource.custom || resource.id() == definition::ID {
        return causes;
    }
    for (at, finalizer) in super::finalizers(object).into_iter().enumerate() {
        let standard = matches!(finalizer, "orphan" | "foregroundDeletion" | "kubernetes");
        if !standard && !finalizer.contains('/') {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            let field = format!("{PATH}.finalizers[{at}]");
            causes.push(Cause::invalid(field, quoted(finalizer), why));
        }
    }
    causes
}

/// The finalizers that an object did not have before.
pub(super) fn added_finalizers<'a>(old: Option<&Object>, new: &'a Object) -> Vec<&'a str> {
    let before = old.map(super::finalizers).unwrap_or_default();
    let before: HashSet<_> = before.into_iter().collect();
    let mut added = super::finalizers(new);
    added.retain(|finalizer| !before.contains(finalizer));
    added
}

/// An object that is being deleted gets no new finalizers.
pub(super) fn finalizers(
    resource: &Resource,
    name: &str,
    old: &Object,
    new: &Object,
) -> Result<(), StatusError> {
    if !is_being_deleted(old) {
        return Ok(());
    }
    let added = added_finalizers(Some(old), new);
    if added.is_empty() {
        return Ok(());
    }
    let why = format!(
        "no new finalizers can be added if the object is being deleted, found new finalizers []string{{\"{}\"}}",
        added.join("\", \"")
    );
    Err(invalid(
        resource,
        name,
        Cause::forbidden("metadata.finalizers", &why),
    ))
}

/// What is wrong with the managers of a new object, which webhooks may have changed.
pub(super) fn new_managers(object: &Object) -> Vec<Cause> {
    told(object, &[faults::of_managers])
}

/// The managers that webhooks leave are some that could be.
pub(super) fn managers(resource: &Resource, name: &str, object: &Object) -> Result<(), StatusError> {
    // Metadata is validated several times on the way.
    let times = if resource.custom { 3 } else { 4 };
    spec(resource, name, &told(object, &[faults::of_managers])).map_err(|error| error.repeated(times))
}

/// Owners are named in full, are no events, and at most one of them controls the object.
pub(super) fn owners(resource: &Resource, name: &str, object: &Object) -> Result<(), StatusError> {
    spec(resource, name, &told(object, &[faults::of_owners]))
}

/// What holds a namespace has a name with a prefix, but for the server's own.
pub(super) fn namespace_finalizers(name: &str, object: &Object) -> Result<(), StatusError> {
    let mut causes = Vec::new();
    for (n, finalizer) in super::namespace_finalizers(object).into_iter().enumerate() {
        let (field, shown) = (format!("spec.finalizers[{n}]"), format!("\"{finalizer}\""));
        if let Some(fault) = label_key_fault(finalizer) {
            causes.push(Cause::invalid(field, shown, &fault));
        } else if finalizer != "kubernetes" && !finalizer.contains('/') {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            causes.push(Cause::invalid(field, shown, why));
        }
    }
    match causes.is_empty() {
        true => Ok(()),
        false => Err(StatusError::invalid("", "Namespace", name, &causes)),
    }
}

/// Those of a namespace's deletion are stated in other words.
pub(super) fn namespace_preconditions(
    resource: &Resource,
    current: &Stored,
    options: &DeleteOptions,
) -> Result<(), StatusError> {
    let version = current.resource_version.to_string();
    for (what, given, found) in [
        ("UID", &options.uid, current.uid()),
        ("ResourceVersion", &options.resource_version, version.as_str()),
    ] {
        if let Some(given) = given.as_deref().filter(|given| *given != found) {
            let why = format!(
                "Precondition failed: {what} in precondition: {given}, {what} in object meta: {found}"
            );
            return Err(StatusError::conflict(resource, current.name(), &why));
        }
    }
    Ok(())
}

pub(super) fn preconditions(
    resource: &Resource,
    current: &Stored,
    uid: &str,
    options: &DeleteOptions,
) -> Result<(), StatusError> {
    let conflict = |why: String| StatusError::delete_conflict(resource, current.name(), &why);
    if let Some(given) = options.uid.as_deref().filter(|given| *given != uid) {
        return Err(conflict(format!(
            "the UID in the precondition ({given}) does not match the UID in record ({uid}). The object might have \
             been deleted and then recreated"
        )));
    }
    let version = current.resource_version.to_string();
    if let Some(given) = options
        .resource_version
        .as_deref()
        .filter(|given| *given != version)
    {
        return Err(conflict(format!(
            "the ResourceVersion in the precondition ({given}) does not match the ResourceVersion in record \
             ({version}). The object might have been modified"
        )));
    }
    Ok(())
}
