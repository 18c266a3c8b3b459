//! Who owns which fields of an object, and server-side apply, which is made of that.
//!
//! [`Ownership::track`] keeps `managedFields` as objects are created and changed: who changes a field owns it, alone.
//! [`Ownership::apply`] puts an applied configuration into an object: fields that others own and that it changes are conflicts,
//! and fields that it no longer has go, unless somebody else owns them.
//!
//! `fields` has sets of fields, `types` what a schema says about ownership, `compare` and `merge` go through objects,
//! `managers` reads and writes `managedFields`. Behaviours are those of a real server and of structured-merge-diff, the library that
//! it uses; see also [the documentation](https://kubernetes.io/docs/reference/using-api/server-side-apply/).
//!
//! # Versions
//!
//! Nothing is converted, but the versions of a custom resource may have schemas of their own. What a manager owns is of one version:
//! it is compared, taken and given up by that version's schema, served or not, and an object that does not fit it cannot be applied.
//! Nor can one in which something is owned in a version that the definition no longer has; an update of it forgets all managers.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jiff::Timestamp;
use kube_protobuf::Envelope;
use serde_json::{Map, Value, json};

use crate::conversion::{self, Conversion};
use crate::meta::put_at;
use crate::meta::{Object, metadata, metadata_mut, text};
use crate::number;
use crate::schema::Schema;
use crate::status::{StatusError, go_json};
use crate::target::Target;
use crate::view;
use compare::{Comparison, fields_of};
use fields::FieldSet;
use managers::{Entry, Managers, Operation};
use types::Type;

mod check;
mod compare;
mod fields;
mod managers;
mod merge;
mod policy;
mod reset;
mod types;

pub(crate) use managers::{differ_only_in_time, fault as fault_of_managers};
pub(crate) use policy::merged_by_policy;
pub(crate) use reset::reset_fields;

/// The member of the metadata that has the managers.
pub(crate) const MANAGED_FIELDS: &str = "managedFields";

/// Where client-side apply keeps what was applied.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The manager that upgrades from client-side apply, and keeps [`LAST_APPLIED`] up to date.
const KUBECTL: &str = "kubectl";

/// The manager of what was there before anything was applied.
const BEFORE_APPLY: &str = "before-first-apply";

/// What nobody owns.
static UNOWNED: LazyLock<FieldSet> = LazyLock::new(|| {
    let top = ["apiVersion", "kind", "metadata"].map(|name| FieldSet::of_path(&[name]));
    let names = [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        MANAGED_FIELDS,
        "resourceVersion",
    ];
    let metadata = names.map(|name| FieldSet::of_path(&["metadata", name]));
    let all = top.into_iter().chain(metadata);
    all.fold(FieldSet::default(), FieldSet::union)
});

/// The fields of one object and who owns them, in one request.
pub(crate) struct Ownership<'a> {
    target: &'a Target,
    schema: Option<Arc<Schema>>,
    api_version: String,
    now: Timestamp,
}

/// What a manager owns and somebody else applies with another value.
type Conflicts = Vec<(Entry, FieldSet)>;

/// Why an object cannot be applied.
enum Refusal {
    Conflicts(Conflicts),
    Other(StatusError),
}

impl<'a> Ownership<'a> {
    pub(crate) fn new(target: &'a Target, now: Timestamp) -> Self {
        Self {
            target,
            schema: target.resource.schema(&target.version),
            api_version: target.resource.api_version(&target.version),
            now,
        }
    }

    fn ty(&self) -> Type<'_> {
        Type::of(self.schema.as_deref())
    }

    /// The schema of the version that an entry is of. All versions of a built-in kind have one.
    fn schema_of(&self, api_version: &str) -> Option<Arc<Schema>> {
        match self.target.resource.custom && api_version != self.api_version {
            true => {
                let version = api_version.rsplit('/').next().unwrap_or("");
                self.target.resource.schema(version)
            }
            false => self.schema.clone(),
        }
    }

    /// What an object has from the start: what Go's empty object of a built-in kind has in JSON.
    fn base(&self) -> Arc<Object> {
        static BUILTIN: LazyLock<Mutex<HashMap<String, Arc<Object>>>> = LazyLock::new(Mutex::default);
        if self.target.resource.custom {
            return Arc::new(self.head());
        }
        let kind = self.target.resource.kind.as_str();
        let mut known = BUILTIN.lock().unwrap_or_else(PoisonError::into_inner);
        let base = known
            .entry(format!("{}/{kind}", self.api_version))
            .or_insert_with(|| {
                let empty = Envelope::new(&self.api_version, kind, &[]).to_vec();
                Arc::new(match kube_protobuf::to_value(&empty) {
                    Ok(Value::Object(empty)) => empty,
                    _ => self.head(),
                })
            });
        base.clone()
    }

    fn head(&self) -> Object {
        let kind = self.target.resource.kind.as_str();
        Map::from_iter([
            ("apiVersion".into(), self.api_version.as_str().into()),
            ("kind".into(), kind.into()),
        ])
    }

    fn is_scale(&self) -> bool {
        self.target.subresource.as_deref() == Some("scale")
    }

    /// The fields that this request cannot write, and so not own.
    fn reset(&self) -> FieldSet {
        let paths = reset_fields(&self.target.resource, self.target.subresource.as_deref());
        let sets = paths.iter().map(|path| FieldSet::of_path(path));
        sets.fold(FieldSet::default(), FieldSet::union)
    }

    fn compare(&self, old: &Object, new: &Object) -> Comparison {
        self.compare_as(old, new, self.ty())
    }

    fn compare_as(&self, old: &Object, new: &Object, ty: Type<'_>) -> Comparison {
        let comparison = Comparison::of(old, new, &self.base(), ty);
        comparison.without_all(&self.reset()).without(&UNOWNED)
    }

    /// How two states of an object differ in each version that somebody owns something in.
    ///
    /// # Errors
    ///
    /// An object that does not fit the schema of another version, in a real server's words.
    fn compare_versions(
        &self,
        old: &Object,
        new: &Object,
        managers: &Managers,
    ) -> Result<BTreeMap<String, Comparison>, String> {
        let mut comparisons = BTreeMap::from([(self.api_version.clone(), self.compare(old, new))]);
        for entry in &managers.0 {
            if comparisons.contains_key(&entry.api_version) {
                continue;
            }
            let schema = self.schema_of(&entry.api_version);
            let ty = Type::of(schema.as_deref());
            let [old, new] = [old, new].map(|object| self.in_version(&entry.api_version, object));
            let (old, new) = (&*old, &*new);
            if self.target.resource.custom {
                converted(old, ty).map_err(|why| format!("failed to convert old object: {why}"))?;
                converted(new, ty).map_err(|why| format!("failed to convert new object: {why}"))?;
            }
            let comparison = self.compare_as(old, new, ty);
            comparisons.insert(entry.api_version.clone(), comparison);
        }
        Ok(comparisons)
    }

    /// An object as a webhook converts it, if one does.
    fn in_version<'o>(&self, api_version: &str, object: &'o Object) -> Cow<'o, Object> {
        let resource = &self.target.resource;
        if resource.definition.webhook.is_none() || text(object, "apiVersion") == api_version {
            return Cow::Borrowed(object);
        }
        let version = api_version.rsplit('/').next().unwrap_or("");
        match conversion::known(resource, version, object) {
            Conversion::Known(converted) => Cow::Owned(converted),
            // Without the answer, nothing comes of this attempt.
            Conversion::Pending | Conversion::Unasked => Cow::Borrowed(object),
        }
    }

    /// The same of a value.
    fn value_in_version<'o>(&self, api_version: &str, value: &'o Value) -> Cow<'o, Value> {
        match value
            .as_object()
            .map(|object| self.in_version(api_version, object))
        {
            Some(Cow::Owned(converted)) => Cow::Owned(Value::Object(converted)),
            _ => Cow::Borrowed(value),
        }
    }

    /// When a manager has changed something; a real server does not say when somebody scaled an object.
    fn time(&self) -> Option<Timestamp> {
        (!self.is_scale()).then_some(self.now)
    }

    fn entry(&self, manager: &str, operation: Operation, fields: FieldSet) -> Entry {
        let manager = if manager.is_empty() { "unknown" } else { manager };
        Entry {
            manager: manager.to_owned(),
            operation,
            api_version: self.api_version.clone(),
            time: None,
            subresource: self.target.subresource.clone().unwrap_or_default(),
            fields,
        }
    }

    /// Follows a definition that has changed. Of built-in kinds, what is owned in versions that are not known is forgotten.
    ///
    /// # Errors
    ///
    /// A version that the definition no longer has, or whose schema `live` does not fit, in a real server's words.
    fn bring_up_to_date(&self, managers: &mut Managers, live: &Object) -> Result<(), String> {
        let resource = &self.target.resource;
        if !resource.custom {
            // The other API of a store with two of them has other versions.
            if resource.is_view() || resource.plural == "events" {
                return Ok(());
            }
            let versions = resource.versions.iter();
            let known: Vec<_> = versions.map(|version| resource.api_version(version)).collect();
            managers.0.retain(|entry| known.contains(&entry.api_version));
            return Ok(());
        }
        for entry in &mut managers.0 {
            let schema = self.schema_of(&entry.api_version);
            let ty = Type::of(schema.as_deref());
            if entry.api_version != self.api_version {
                self.must_be_defined(&entry.api_version)?;
                converted(&self.in_version(&entry.api_version, live), ty)?;
            }
            entry.fields = merge::reconciled(&entry.fields, ty);
        }
        Ok(())
    }

    /// Refuses a version that the definition does not have, served or not.
    fn must_be_defined(&self, api_version: &str) -> Result<(), String> {
        let resource = &self.target.resource;
        let mut versions = resource.definition.versions.keys();
        match versions.any(|version| resource.api_version(version) == api_version) {
            true => Ok(()),
            false => Err(format!(
                "request to convert CR to an invalid group/version: {api_version}"
            )),
        }
    }

    /// The `managedFields` of an object that is created or, in the place of `live`, changed.
    ///
    /// `held` are those that `live` has, `given` those that the client sent. The objects themselves have none.
    pub(crate) fn track(
        &self,
        live: Option<&Object>,
        held: Option<&Value>,
        new: &Object,
        given: Option<Value>,
        manager: &str,
    ) -> Option<Value> {
        let before = match &given {
            _ if self.target.subresource.is_some() => held,
            Some(given) if managers::is_reset(given) => None,
            Some(sent) if Managers::read(Some(sent)).is_ok_and(|managers| !managers.is_empty()) => Some(sent),
            _ => held,
        };
        // What is not tracked from the start, or no longer, is tracked again when it is applied.
        if before.is_none() && live.is_some() {
            return None;
        }
        let base;
        let old = match live {
            Some(live) => live,
            None => {
                base = self.base();
                &base
            }
        };
        let served;
        let [old, new] = match self.target.resource.is_view() {
            true => {
                served = [old, new].map(|object| {
                    let mut object = object.clone();
                    view::to_served(&self.target.resource, &mut object);
                    object
                });
                [&served[0], &served[1]]
            }
            false => [old, new],
        };
        let comparison = self.compare(old, new);
        if comparison.is_empty() && before.is_some() && before == held {
            return held.cloned();
        }
        let managers = Managers::read(before).unwrap_or_default();
        if managers.is_empty() && live.is_some() {
            return None;
        }
        match comparison.is_empty() {
            true => managers.write(),
            // Where the versions do not fit each other, it is no longer known who owns what.
            false => self.updated(managers, old, new, manager).ok()?.write(),
        }
    }

    /// The managers after an update.
    fn updated(
        &self,
        mut managers: Managers,
        old: &Object,
        new: &Object,
        manager: &str,
    ) -> Result<Managers, String> {
        self.bring_up_to_date(&mut managers, old)?;
        let mut comparisons = self.compare_versions(old, new, &managers)?;
        for entry in &mut managers.0 {
            if let Some(comparison) = comparisons.get(&entry.api_version) {
                let fields = std::mem::take(&mut entry.fields);
                let fields = fields
                    .difference(&comparison.added)
                    .difference(&comparison.modified);
                entry.fields = fields.difference(&comparison.removed);
            }
        }
        let own = comparisons.remove(&self.api_version).unwrap_or_default();
        let changed = own.added.union(own.modified);
        managers.drop_empty();
        if !changed.is_empty() {
            let mut entry = self.entry(manager, Operation::Update, changed);
            entry.time = self.time();
            if let Some(before) = managers.find(&entry) {
                let fields = std::mem::take(&mut before.fields);
                entry.fields = entry.fields.union(fields);
            }
            managers.put(entry);
        }
        managers.cap();
        Ok(managers)
    }

    /// The object that becomes of `live`, or of nothing, by what a manager applies.
    ///
    /// # Errors
    ///
    /// A configuration of another kind or that does not fit its schema, and conflicts unless they are to be taken by `force`.
    pub(crate) fn apply(
        &self,
        live: Option<&Object>,
        config: &Object,
        manager: &str,
        force: bool,
    ) -> Result<Object, StatusError> {
        let mut applied = self.applied(live, config, manager, force);
        if let (Err(Refusal::Conflicts(conflicts)), KUBECTL, Some(live)) = (&mut applied, manager, live)
            && let Some(allowed) = self.last_applied(live)
        {
            for (_, fields) in conflicts.iter_mut() {
                *fields = std::mem::take(fields).difference(&allowed);
            }
            conflicts.retain(|(_, fields)| !fields.is_empty());
            if conflicts.is_empty() {
                applied = self.applied(Some(live), config, manager, true);
            }
        }
        let mut object = applied.map_err(|refusal| match refusal {
            Refusal::Conflicts(mut conflicts) => {
                if self.is_scale() {
                    for (entry, fields) in &mut conflicts {
                        entry.api_version = "autoscaling/v1".into();
                        *fields = FieldSet::of_path(&["spec", "replicas"]);
                    }
                }
                conflict(conflicts)
            }
            Refusal::Other(error) => error,
        })?;
        if manager == KUBECTL {
            set_last_applied(&mut object, config);
        }
        Ok(object)
    }

    /// The object that becomes of `live` when its scale is applied.
    ///
    /// # Errors
    ///
    /// As those of [`apply`](Self::apply), in the words of a scale.
    pub(crate) fn apply_scale(
        &self,
        live: &Object,
        config: &Object,
        manager: &str,
        force: bool,
    ) -> Result<Object, StatusError> {
        const SCALE: (&str, &str) = ("autoscaling/v1", "Scale");
        let resource = &self.target.resource;
        check_type(config, SCALE)?;
        let mut whole = self.head();
        let meta = ["name", "namespace", "uid", "resourceVersion", MANAGED_FIELDS];
        let meta = meta
            .iter()
            .filter_map(|name| metadata(config).get_key_value(*name));
        let meta = meta.map(|(name, value)| (name.clone(), value.clone()));
        whole.insert("metadata".into(), Value::Object(meta.collect()));
        let replicas = config.get("spec").and_then(|spec| spec.get("replicas"));
        if let (Some(replicas), Some(paths)) = (replicas, &resource.scale) {
            put_at(&mut whole, &paths.wanted, replicas.clone());
        }
        self.apply(Some(live), &whole, manager, force)
    }

    fn applied(
        &self,
        live: Option<&Object>,
        config: &Object,
        manager: &str,
        force: bool,
    ) -> Result<Object, Refusal> {
        self.check(config).map_err(Refusal::Other)?;
        let held = live.and_then(|live| metadata(live).get(MANAGED_FIELDS));
        let mut managers = Managers::read(held).map_err(|_| {
            let message = "failed to decode managed fields: they are not valid";
            Refusal::Other(StatusError::internal(message))
        })?;
        let base = self.base();
        if managers.is_empty()
            && let Some(live) = live
        {
            let updated = self.updated(managers, &base, live, BEFORE_APPLY);
            managers = updated.map_err(|why| Refusal::Other(StatusError::internal(why)))?;
        }
        let old = live.unwrap_or(&base);
        self.bring_up_to_date(&mut managers, old)
            .map_err(|why| Refusal::Other(StatusError::internal(why)))?;

        let ty = self.ty();
        let config = Value::Object(config.clone());
        let fields = fields_of(&config, ty).recursive_difference(&self.reset());
        let mut entry = self.entry(manager, Operation::Apply, fields);
        let before = managers.find(&entry).cloned();
        entry.time = before.as_ref().and_then(|before| before.time);
        managers.put(entry.clone());

        let merged = match live {
            Some(live) => merge::merge(Value::Object(live.clone()), &config, ty),
            None => config,
        };
        let new = match before {
            Some(before) if !before.fields.is_empty() => {
                let pruned = self.pruned(merged, &before, &managers);
                pruned.map_err(|why| {
                    Refusal::Other(StatusError::internal(format!("failed to prune fields: {why}")))
                })?
            }
            _ => merged,
        };
        let Value::Object(mut new) = new else {
            return Err(Refusal::Other(StatusError::internal(
                "nothing is left of the object",
            )));
        };

        let comparisons = self
            .compare_versions(old, &new, &managers)
            .map_err(|why| Refusal::Other(StatusError::internal(why)))?;
        let mut conflicts = Vec::new();
        for other in managers.0.iter_mut().filter(|other| !other.is_same(&entry)) {
            let Some(comparison) = comparisons.get(&other.api_version) else {
                continue;
            };
            let [added, modified] = [&comparison.added, &comparison.modified];
            let taken = other
                .fields
                .intersection(added)
                .union(other.fields.intersection(modified));
            let fields = std::mem::take(&mut other.fields);
            let fields = fields.difference(added).difference(modified);
            other.fields = fields.difference(&comparison.removed);
            if !taken.is_empty() {
                conflicts.push((other.clone(), taken));
            }
        }
        if !force && !conflicts.is_empty() {
            return Err(Refusal::Conflicts(conflicts));
        }
        // Nobody's time changes if nothing does, however numbers are written.
        let unchanged = live.filter(|live| number::are_equal_objects(live, &new));
        if let Some(live) = unchanged {
            new = live.clone();
        }
        let is_changed = unchanged.is_none();
        if let Some(own) = managers.find(&entry) {
            if is_changed {
                own.time = self.time();
            }
            own.fields = std::mem::take(&mut own.fields).difference(&UNOWNED);
        }
        managers.drop_empty();
        let metadata = metadata_mut(&mut new);
        metadata.remove(MANAGED_FIELDS);
        metadata.extend(managers.write().map(|managed| (MANAGED_FIELDS.into(), managed)));
        Ok(new)
    }

    fn check(&self, config: &Object) -> Result<(), StatusError> {
        let shown = check_type(config, (&self.api_version, &self.target.resource.kind))?;
        if metadata(config).get(MANAGED_FIELDS).is_some_and(Value::is_array) {
            return Err(StatusError::bad_request("metadata.managedFields must be nil"));
        }
        let faults = check::faults(&Value::Object(config.clone()), self.ty());
        let faults = match &faults[..] {
            [] => return Ok(()),
            [fault] => fault.clone(),
            faults => format!("errors:\n  {}", faults.join("\n  ")),
        };
        let meta = metadata(config);
        let (namespace, name) = (text(meta, "namespace"), text(meta, "name"));
        Err(StatusError::internal(format!(
            "failed to create typed patch object ({namespace}/{name}; {shown}): {faults}"
        )))
    }

    /// The merged object without what its applier no longer applies and nobody else owns.
    ///
    /// # Errors
    ///
    /// An object that does not fit the schema of a version in which something is owned, in a real server's words.
    fn pruned(&self, merged: Value, before: &Entry, managers: &Managers) -> Result<Value, String> {
        let mut held: BTreeMap<&str, FieldSet> = BTreeMap::new();
        for entry in &managers.0 {
            let of_version = held.entry(&entry.api_version).or_default();
            *of_version = std::mem::take(of_version).union(entry.fields.clone());
        }
        let own = held.remove(before.api_version.as_str()).unwrap_or_default();
        if held.is_empty() && before.fields.clone().difference(&own).is_empty() {
            return Ok(merged);
        }
        fn remove(from: &Value, fields: &FieldSet, ty: Type<'_>) -> Value {
            merge::remove(from, fields, ty).unwrap_or_else(|| json!({}))
        }
        fn all(object: &Value, ty: Type<'_>) -> FieldSet {
            merge::with_parents(&fields_of(object, ty), ty)
        }
        let schema = self.schema_of(&before.api_version);
        let ty = Type::of(schema.as_deref());
        let merged = self.value_in_version(&before.api_version, &merged);
        if before.api_version != self.api_version && self.target.resource.custom {
            let object = merged.as_object().cloned().unwrap_or_default();
            converted(&object, ty)
                .map_err(|why| format!("failed to convert merged object to last applied version: {why}"))?;
        }
        let last = merge::with_parents(&before.fields, ty);
        let mut pruned = remove(&merged, &last, ty);
        // What somebody owns stays, first in the version that was applied before.
        let own = std::iter::once((before.api_version.as_str(), own));
        for (version, held) in own.chain(held) {
            let schema = self.schema_of(version);
            let ty = Type::of(schema.as_deref());
            let merged = self.value_in_version(version, &merged);
            let kept =
                all(&self.value_in_version(version, &pruned), ty).union(merge::with_parents(&held, ty));
            pruned = remove(&merged, &all(&merged, ty).difference(&kept), ty);
        }
        // What nobody owns stays, if it was not owned before either.
        let pruned = self.value_in_version(&before.api_version, &pruned);
        let gone = all(&merged, ty).difference(&all(&pruned, ty));
        let pruned = remove(&merged, &gone.intersection(&last), ty);
        Ok(self.value_in_version(&self.api_version, &pruned).into_owned())
    }

    /// The fields that client-side apply set and that still have these values.
    fn last_applied(&self, live: &Object) -> Option<FieldSet> {
        let annotations = metadata(live).get("annotations")?.as_object()?;
        let last: Value = serde_json::from_str(annotations.get(LAST_APPLIED)?.as_str()?).ok()?;
        let object = last
            .as_object()
            .filter(|last| text(last, "apiVersion") == self.api_version)?;
        let comparison = Comparison::of(object, live, &Map::new(), self.ty());
        let fields = fields_of(&last, self.ty());
        let fields = fields
            .difference(&comparison.modified)
            .difference(&comparison.added);
        Some(fields.difference(&comparison.removed))
    }
}

/// Whether an object is one of another version's schema: nothing is converted but the version's name.
fn converted(object: &Object, ty: Type<'_>) -> Result<(), String> {
    let faults = check::faults(&Value::Object(object.clone()), ty);
    match &faults[..] {
        [] => Ok(()),
        [fault] => Err(fault.clone()),
        faults => Err(format!("errors:\n  {}", faults.join("\n  "))),
    }
}

/// Checks the type of what is applied; returns it as a real server shows it.
fn check_type(config: &Object, expected: (&str, &str)) -> Result<String, StatusError> {
    let (api_version, kind) = (text(config, "apiVersion"), text(config, "kind"));
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let shown = format!("{group}/{version}, Kind={kind}");
    match (api_version, kind) == expected {
        true => Ok(shown),
        false => Err(StatusError::bad_request(format!("invalid object type: {shown}"))),
    }
}

/// Keeps the annotation of client-side apply up to date, if it is there.
fn set_last_applied(object: &mut Object, config: &Object) {
    let annotations = metadata_mut(object).get_mut("annotations");
    let last = annotations.and_then(|annotations| annotations.get_mut(LAST_APPLIED));
    let Some(last) = last.filter(|last| last.as_str().is_some_and(|last| !last.is_empty())) else {
        return;
    };
    let mut config = config.clone();
    if let Some(Value::Object(annotations)) = metadata_mut(&mut config).get_mut("annotations") {
        annotations.remove(LAST_APPLIED);
    }
    *last = format!("{}\n", go_json(&Value::Object(config))).into();
}

fn conflict(mut conflicts: Conflicts) -> StatusError {
    conflicts.sort_by(|(one, _), (other, _)| one.manager.cmp(&other.manager));
    let by_manager: Vec<_> = conflicts
        .iter()
        .map(|(entry, fields)| (entry.shown(), fields.paths()))
        .collect();
    let causes: Vec<_> = by_manager
        .iter()
        .flat_map(|(manager, paths)| {
            let message = format!("conflict with {manager}");
            paths
                .iter()
                .map(move |path| json!({"reason": "FieldManagerConflict", "message": message, "field": path}))
        })
        .collect();
    let message = match &by_manager[..] {
        [(manager, paths)] if paths.len() == 1 => {
            format!(
                "Apply failed with 1 conflict: conflict with {manager}: {}",
                paths[0]
            )
        }
        _ => {
            let lines = by_manager.iter().flat_map(|(manager, paths)| {
                let head = format!("conflicts with {manager}:");
                std::iter::once(head).chain(paths.iter().map(|path| format!("- {path}")))
            });
            let lines: Vec<_> = lines.collect();
            format!(
                "Apply failed with {} conflicts: {}",
                causes.len(),
                lines.join("\n")
            )
        }
    };
    StatusError::apply_conflict(message, causes)
}
