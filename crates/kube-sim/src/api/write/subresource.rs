//! Parts of objects that are sent in a form of their own: scales, evictions and bindings; `token` has tokens.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{DeleteOptions, Object, Writer, check, is_being_deleted, metadata, metadata_mut, node, text};
use crate::admission::Operation;
use crate::api::Api;
use crate::api::patch::Patch;
use crate::apply::Ownership;
use crate::meta::put_at;
use crate::meta::rfc3339;
use crate::object::Stored;
use crate::resources::{Resource, ScalePaths};
use crate::schema;
use crate::selector::Selector;
use crate::status::{Cause, StatusError};
use crate::storage::Transaction;
use crate::target::Target;

/// What a real server has for the replicas of a custom resource that says no number.
const UNSET: i64 = i32::MIN as i64;

/// A change of a scale.
pub(crate) enum Scale<'a> {
    Replace(Object),
    Patch(&'a Patch),
    Apply {
        config: &'a Object,
        manager: &'a str,
        force: bool,
    },
}

impl Api {
    /// The scale of an object.
    pub(crate) fn scale(&self, target: &Target) -> Result<Value, StatusError> {
        self.storage.transact(|transaction| {
            let (_, object) = self.current(transaction, target)?;
            scale_of(&target.resource, &object)
        })
    }

    /// Changes the number of replicas that an object wants.
    pub(crate) fn rescale(
        &self,
        target: &Target,
        change: Scale<'_>,
        writer: Writer<'_>,
    ) -> Result<Value, StatusError> {
        self.transact(|transaction| {
            let target = &*self.as_defined_now(target)?;
            let resource = &target.resource;
            let (current, old) = self.current(transaction, target)?;
            let asked = self.asked_scale(target, &old, &change)?;
            let (new, applied) = self.admitted_scale(transaction, target, &old, asked, writer)?;
            if let (Some(why), None) = (misfit(&new), &applied) {
                return Err(no_scale(resource, &change, &why));
            }
            let replicas = checked_replicas(target, &current, &new, applied.is_some())?;
            let scaled = applied.unwrap_or_else(|| {
                let mut scaled = old.clone();
                if let Some(paths) = &resource.scale {
                    put_at(&mut scaled, &paths.wanted, replicas.into());
                }
                scaled
            });
            let stored = self.update(transaction, target, current, old, scaled, writer)?;
            scale_of(resource, &target.decode(&stored))
        })
    }

    /// The scale that is asked for, and the object as it comes of it if it was applied.
    fn asked_scale(
        &self,
        target: &Target,
        old: &Object,
        change: &Scale<'_>,
    ) -> Result<(Value, Option<Object>), StatusError> {
        match change {
            Scale::Replace(new) => Ok((Value::Object(new.clone()), None)),
            Scale::Patch(patch) => {
                let scale = scale_or(&target.resource, old, Some(UNSET))?;
                Ok((patch.apply(scale)?, None))
            }
            Scale::Apply {
                config,
                manager,
                force,
            } => {
                let ownership = Ownership::new(target, self.now());
                let applied = ownership.apply_scale(old, config, manager, *force)?;
                match target.resource.custom {
                    true => Err(unconverted(config)),
                    false => Ok((Value::Object((*config).clone()), Some(applied))),
                }
            }
        }
    }

    /// What webhooks and policies leave of a scale.
    fn admitted_scale(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        old: &Object,
        (new, mut applied): (Value, Option<Object>),
        writer: Writer<'_>,
    ) -> Result<(Value, Option<Object>), StatusError> {
        let resource = &target.resource;
        let (admission, mut new) = match (writer.admission(), new) {
            (Some(admission), Value::Object(new)) => (admission, new),
            (_, new) => return Ok((new, applied)),
        };
        let update = Operation::Update;
        // As in a real server, those that change it and those that check it are told otherwise that there was no number.
        let [unset, none] = [UNSET, 0].map(|missing| scale_or(resource, old, Some(missing)));
        let (unset, none) = (unset?, none?);
        // What is applied is a part of what comes of it.
        let whole = match &applied {
            Some(applied) => scale_of(resource, applied)?.as_object().cloned(),
            None => None,
        };
        let shown = whole.as_ref().or(Some(&new));
        let seen = admission.mutate(self, transaction, update, target, shown, unset.as_object())?;
        admission.validate(self, transaction, update, target, seen.as_ref(), none.as_object())?;
        let replicas = |scale: &Object| scale.get("spec").map(|spec| spec["replicas"].clone());
        match (&mut applied, seen) {
            (Some(applied), Some(seen)) if replicas(&seen) != whole.as_ref().and_then(replicas) => {
                let wanted = replicas(&seen).unwrap_or_default();
                if let Some(paths) = &resource.scale {
                    put_at(applied, &paths.wanted, wanted.clone());
                }
                put_at(&mut new, "spec.replicas", wanted);
            }
            (None, Some(seen)) => new = seen,
            _ => {}
        }
        Ok((Value::Object(new), applied))
    }

    /// Deletes a pod, if the budget that it falls under has room for that.
    pub(crate) fn evict(
        &self,
        target: &Target,
        eviction: &Object,
        options: &DeleteOptions,
    ) -> Result<(), StatusError> {
        same_name(target, eviction, "Eviction")?;
        self.transact(|transaction| {
            let (pod, object) = self.current(transaction, target)?;
            let phase = object
                .get("status")
                .and_then(|status| status["phase"].as_str())
                .unwrap_or("");
            if !is_being_deleted(&object) && !matches!(phase, "Succeeded" | "Failed" | "Pending") {
                self.take_from_budget(transaction, &pod, &object, options.dry_run)?;
            }
            self.delete_in(transaction, target, &pod, object, options)
                .map(drop)
        })
    }

    /// Counts the eviction of a pod that runs against its budget.
    fn take_from_budget(
        &self,
        transaction: &mut Transaction<'_>,
        pod: &Arc<Stored>,
        object: &Object,
        dry_run: bool,
    ) -> Result<(), StatusError> {
        let (Some(budgets), Some(pods)) = (
            self.find("policy", "v1", "poddisruptionbudgets"),
            self.find("", "v1", "pods"),
        ) else {
            return Ok(());
        };
        let mut concerned = Vec::new();
        for stored in transaction.list(&budgets, &format!("{}/", pod.namespace())) {
            let target = Target::of(budgets.clone(), &stored.key);
            let budget = target.decode(&stored);
            let selector = budget.get("spec").map_or(&Value::Null, |spec| &spec["selector"]);
            if selector.is_object() && Selector::parse(&pods, &selector_text(selector), "")?.matches(pod) {
                concerned.push((target, stored, budget));
            }
        }
        if concerned.len() > 1 {
            return Err(StatusError::internal(
                "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
            ));
        }
        let Some((target, stored, budget)) = concerned.pop() else {
            return Ok(());
        };
        let status = budget.get("status").unwrap_or(&Value::Null);
        let number = |name: &str| status[name].as_i64().unwrap_or(0);
        let generation = metadata(&budget).get("generation").and_then(Value::as_i64);
        let name = stored.name();
        if number("observedGeneration") < generation.unwrap_or(0) {
            let why = format!("The disruption budget {name} is still being processed by the server.");
            return Err(StatusError::disruption(&why, Some(10)));
        }
        let (wanted, found) = (number("desiredHealthy"), number("currentHealthy"));
        let always = budget
            .get("spec")
            .is_some_and(|spec| spec["unhealthyPodEvictionPolicy"] == "AlwaysAllow");
        if !is_ready(object) && (always || (found >= wanted && wanted > 0)) {
            return Ok(());
        }
        let allowed = number("disruptionsAllowed");
        if allowed <= 0 {
            let why = match found <= wanted {
                true => format!(
                    "The disruption budget {name} needs {wanted} healthy pods and has {found} currently"
                ),
                false => format!("The disruption budget {name} does not allow evicting pods currently"),
            };
            return Err(StatusError::disruption(&why, None));
        }
        if dry_run {
            return Ok(());
        }
        let mut counted = budget.clone();
        let now = rfc3339(self.now());
        put_at(&mut counted, "status.disruptionsAllowed", (allowed - 1).into());
        if let Some(status) = counted.get_mut("status") {
            status["disruptedPods"][pod.name()] = now.as_str().into();
            if allowed == 1 {
                let others = status["conditions"].as_array().into_iter().flatten();
                let mut conditions: Vec<_> = others
                    .filter(|condition| condition["type"] != "DisruptionAllowed")
                    .cloned()
                    .collect();
                conditions.push(json!({
                    "type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": "",
                    "observedGeneration": number("observedGeneration"), "lastTransitionTime": now,
                }));
                status["conditions"] = conditions.into();
            }
        }
        self.update(transaction, &target, stored, budget, counted, Writer::Owner)
            .map(drop)
    }

    /// Gives the pod that a binding names its node.
    pub(crate) fn bind_named(
        &self,
        target: &Target,
        binding: &Object,
        writer: Writer<'_>,
    ) -> Result<(), StatusError> {
        let Some(pods) = self.find("", "v1", "pods") else {
            return Err(StatusError::no_such_resource());
        };
        let name = text(metadata(binding), "name");
        if name.is_empty() {
            return Err(StatusError::bad_request("Name parameter required."));
        }
        let pod = Target {
            resource: pods,
            name: Some(name.to_owned()),
            subresource: Some("binding".to_owned()),
            ..target.clone()
        };
        self.assign(&pod, binding, &[], writer)
    }

    /// Gives a pod its node, and labels that say where that is.
    pub(crate) fn bind(
        &self,
        target: &Target,
        binding: &Object,
        writer: Writer<'_>,
    ) -> Result<(), StatusError> {
        self.assign(target, binding, &node::TOPOLOGY, writer)
    }

    /// Gives a pod its node, and these labels of it.
    fn assign(
        &self,
        target: &Target,
        binding: &Object,
        labels: &[&str],
        writer: Writer<'_>,
    ) -> Result<(), StatusError> {
        same_name(target, binding, "Binding")?;
        let node = binding.get("target").unwrap_or(&Value::Null);
        let field = |name: &str| node[name].as_str().unwrap_or("");
        match (field("kind"), field("name")) {
            ("" | "Node", "") => return Err(StatusError::internal("target.name: Required value")),
            ("" | "Node", _) => {}
            (kind, _) => {
                return Err(StatusError::internal(format!(
                    "target.kind: Unsupported value: \"{kind}\": supported values: \"Node\", \"<empty>\""
                )));
            }
        }
        self.transact(|transaction| {
            let (current, old) = self.current(transaction, target)?;
            let name = current.name();
            if is_being_deleted(&old) {
                let why = format!("pod {name} is being deleted, cannot be assigned to a host");
                return Err(StatusError::binding_conflict(name, &why));
            }
            let bound = old
                .get("spec")
                .and_then(|spec| spec["nodeName"].as_str())
                .unwrap_or("");
            if !bound.is_empty() {
                let why = format!("pod {name} is already assigned to node \"{bound}\"");
                return Err(StatusError::binding_conflict(name, &why));
            }
            let mut new = old.clone();
            put_at(&mut new, "spec.nodeName", field("name").into());
            for kind in ["annotations", "labels"] {
                if let Some(Value::Object(more)) = metadata(binding).get(kind) {
                    let entries = metadata_mut(&mut new).entry(kind).or_insert_with(|| json!({}));
                    if let Some(entries) = entries.as_object_mut() {
                        entries.extend(more.clone());
                    }
                }
            }
            if field("kind") == "Node" {
                self.put_labels_of_node(transaction, field("name"), labels, &mut new);
            }
            let status = new.entry("status").or_insert_with(|| json!({}));
            let conditions = status["conditions"].as_array().into_iter().flatten();
            let mut conditions: Vec<_> = conditions
                .filter(|condition| condition["type"] != "PodScheduled")
                .cloned()
                .collect();
            conditions.push(json!({
                "type": "PodScheduled", "status": "True", "lastProbeTime": null,
                "lastTransitionTime": rfc3339(writer.now(self)),
            }));
            status["conditions"] = conditions.into();
            match writer.dry_run() {
                true => Ok(()),
                // Spec and status together, as only the server may.
                false => self
                    .update(transaction, target, current, old, new, Writer::Owner)
                    .map(drop),
            }
        })
    }
}

/// What is asked of an object is asked under its name.
fn same_name(target: &Target, given: &Object, kind: &str) -> Result<(), StatusError> {
    match target.name.as_deref() == Some(text(metadata(given), "name")) {
        true => Ok(()),
        false => Err(StatusError::bad_request(format!(
            "name in URL does not match name in {kind} object"
        ))),
    }
}

fn is_ready(pod: &Object) -> bool {
    let conditions = pod
        .get("status")
        .and_then(|status| status["conditions"].as_array());
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

/// What Go says of a scale that is none.
fn misfit(scale: &Value) -> Option<String> {
    let definition = schema::of_kind("autoscaling", "v1", "Scale")?;
    schema::fit::builtin(&mut scale.as_object()?.clone(), definition).err()
}

/// The refusal of what is no scale.
fn no_scale(resource: &Resource, change: &Scale<'_>, why: &str) -> StatusError {
    match change {
        Scale::Patch(_) => StatusError::misfit_patch(why),
        _ if resource.custom => StatusError::bad_request(
            "no kind is registered for the type v1.Scale in scheme \"pkg/runtime/scheme.go:111\"",
        ),
        _ => StatusError::bad_request(format!(
            "Scale in version \"v1\" cannot be handled as a Scale: {why}"
        )),
    }
}

/// The replicas that a scale asks for, if it is one of the object in its current state. What is applied need not repeat the name.
fn checked_replicas(
    target: &Target,
    current: &Stored,
    new: &Value,
    is_applied: bool,
) -> Result<i64, StatusError> {
    let name = target.name.as_deref().unwrap_or("");
    let given = |name: &str| new[name].as_str().filter(|given| !given.is_empty());
    let (kind, version) = (
        given("kind").unwrap_or("Scale"),
        given("apiVersion").unwrap_or("autoscaling/v1"),
    );
    if (kind, version) != ("Scale", "autoscaling/v1") {
        let why = format!("{kind} in version \"{version}\" cannot be handled as a Scale: unknown conversion");
        return Err(StatusError::bad_request(why));
    }
    let meta = |name: &str| new["metadata"][name].as_str().unwrap_or("");
    if !(is_applied && meta("name").is_empty()) {
        check::same_name(meta("name"), name)?;
    }
    let version = check::version(meta("resourceVersion"))?;
    if version != 0 && version != current.resource_version {
        return Err(StatusError::stale(&target.resource, name));
    }
    let replicas = new["spec"]["replicas"].as_i64().unwrap_or(0);
    if let (UNSET, true, Some(paths)) = (replicas, target.resource.custom, &target.resource.scale) {
        let why = format!("the spec replicas field \".{}\" cannot be empty", paths.wanted);
        return Err(StatusError::bad_request(why));
    }
    if let (true, true, Some(paths)) = (replicas < 0, target.resource.custom, &target.resource.scale) {
        let field = format!(".{}", paths.wanted);
        let cause = Cause::invalid(field, replicas, "should be a non-negative integer");
        return Err(super::invalid(&target.resource, name, cause));
    }
    if replicas < 0 {
        let why = "must be greater than or equal to 0";
        let cause = Cause::invalid("spec.replicas", replicas, why);
        return Err(StatusError::invalid("autoscaling", "Scale", name, &[cause]));
    }
    Ok(replicas)
}

/// A real server does not convert the scale of a custom resource when it is applied.
fn unconverted(config: &Object) -> StatusError {
    let meta = metadata(config);
    let (namespace, name) = (text(meta, "namespace"), text(meta, "name"));
    StatusError::internal(format!(
        "failed to convert new object ({namespace}/{name}; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to \
         an invalid group/version: autoscaling/v1"
    ))
}

fn scale_of(resource: &Resource, object: &Object) -> Result<Value, StatusError> {
    scale_or(resource, object, None)
}

/// The same; a custom resource without a number of replicas has `missing`.
fn scale_or(resource: &Resource, object: &Object, missing: Option<i64>) -> Result<Value, StatusError> {
    let Some(paths) = &resource.scale else {
        return Err(StatusError::no_such_resource());
    };
    let at = |path: &str| {
        let mut parts = path.split('.');
        let first = object.get(parts.next()?)?;
        parts.try_fold(first, |value, part| value.get(part))
    };
    let number = |path: &str| at(path).and_then(Value::as_i64);
    let wanted = match number(&paths.wanted).or(missing.filter(|_| resource.custom)) {
        None if resource.custom => {
            let why = format!("the spec replicas field \".{}\" does not exist", paths.wanted);
            return Err(StatusError::internal_error(why));
        }
        // The default of built-in kinds.
        wanted => wanted.unwrap_or(1),
    };
    let meta: Object = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), metadata(object).get(name)?.clone())))
        .collect();
    let mut spec = json!({});
    if wanted != 0 {
        spec["replicas"] = wanted.into();
    }
    let mut status = json!({"replicas": number(&paths.found).unwrap_or(0)});
    let selector = selector_of(paths, object, at);
    if !selector.is_empty() {
        status["selector"] = selector.into();
    }
    Ok(json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": meta, "spec": spec, "status": status,
    }))
}

fn selector_of<'a>(paths: &ScalePaths, object: &'a Object, at: impl Fn(&str) -> Option<&'a Value>) -> String {
    if !paths.selector.is_empty() {
        return at(&paths.selector)
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned();
    }
    let selector = object.get("spec").map_or(&Value::Null, |spec| &spec["selector"]);
    let is_structured = selector["matchLabels"].is_object() || selector["matchExpressions"].is_array();
    match is_structured {
        true => selector_text(selector),
        // That of a ReplicationController is a map.
        false => selector_text(&json!({"matchLabels": selector})),
    }
}

/// A label selector as in a query: its requirements in the order of their keys.
fn selector_text(selector: &Value) -> String {
    let mut requirements = Vec::new();
    for (key, value) in selector["matchLabels"].as_object().into_iter().flatten() {
        requirements.push((key.clone(), format!("{key}={}", value.as_str().unwrap_or(""))));
    }
    for expression in selector["matchExpressions"].as_array().into_iter().flatten() {
        let key = expression["key"].as_str().unwrap_or("");
        let values = expression["values"].as_array().into_iter().flatten();
        let mut values: Vec<_> = values.filter_map(Value::as_str).collect();
        values.sort_unstable();
        let values = values.join(",");
        let requirement = match expression["operator"].as_str().unwrap_or("") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        };
        requirements.push((key.to_owned(), requirement));
    }
    requirements.sort_by(|a, b| a.0.cmp(&b.0));
    let requirements: Vec<_> = requirements
        .into_iter()
        .map(|(_, requirement)| requirement)
        .collect();
    requirements.join(",")
}
