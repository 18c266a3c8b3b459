//! CREATE: what a new object needs before it is stored.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::admission::Operation;
use crate::api::Api;
use crate::apply::{MANAGED_FIELDS, Ownership};
use crate::control::controller::Controller;
use crate::meta::{Object, metadata, metadata_mut, put_at, rfc3339, text};
use crate::object::{Stored, join_key};
use crate::resources::Resource;
use crate::specs::Change;
use crate::status::StatusError;
use crate::storage::Transaction;
use crate::target::Target;
use crate::{control, specs, view};

use super::{
    Writer, advice, as_read, as_stored, check, definition, drop_empty, drop_link, fill_in, label_namespace,
    namespace_finalizers, new_uid, put, service, set_managers, signing,
};

/// What a client says of a new object.
struct Sent {
    /// The name, drawn if it is to be.
    name: String,
    is_drawn: bool,
    /// The version that it names, which only a dry run answers with.
    version: String,
    /// Whether it has labels.
    is_labelled: bool,
}

impl Api {
    pub(crate) fn create_in(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        mut object: Object,
        writer: Writer<'_>,
    ) -> Result<Arc<Stored>, StatusError> {
        let resource = &target.resource;
        view::to_stored(resource, &mut object);
        let sent = self.accept_new(transaction, target, &mut object, writer)?;
        let given = sent.version.parse().unwrap_or(0);
        prepare_for_creation(resource, &mut object, writer);
        self.track_new(target, &mut object, writer);
        let name = self.admit_new(transaction, target, &mut object, sent, writer)?;
        self.prepare_new(resource, &mut object, writer)?;
        self.check_new(transaction, target, &object, &name, writer)?;
        self.validate_by_webhooks(transaction, Operation::Create, target, writer, None, &object)?;
        let charges = match writer {
            Writer::Owner => Vec::new(),
            Writer::Client { .. } => self.charges(transaction, target, &name, None, &object)?,
        };
        let key = join_key(target.namespace.as_deref().unwrap_or(""), &name);
        if let Some(there) = transaction.get(resource, &key) {
            let refused = match text(metadata(&object), "generateName") {
                "" => StatusError::already_exists,
                _ => StatusError::name_taken,
            };
            return Err(refused(resource, &name, there.deleting));
        }
        drop_link(&mut object);
        as_stored(resource, &mut object);
        as_read(target, &mut object);
        if writer.dry_run() {
            return Ok(Arc::new(view::encode(resource, &object, given)));
        }
        view::ensure_converted(resource, &target.version, &object)?;
        self.pay(transaction, charges);
        let stored = put(transaction, resource, &mut object, writer)?;
        self.defined(transaction, resource, &object, &stored);
        self.written(transaction, resource, &object, &stored, None, writer);
        Ok(stored)
    }

    /// Refuses what nobody may create, whatever becomes of it, and draws its name if it has none.
    fn accept_new(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        object: &mut Object,
        writer: Writer<'_>,
    ) -> Result<Sent, StatusError> {
        let resource = &target.resource;
        check::type_meta(target, object)?;
        check::namespace(target, object)?;
        check::generation(target, object)?;
        if resource.terminating {
            let why = "create not allowed while custom resource definition is terminating";
            let name = text(metadata(object), "name");
            return Err(StatusError::forbidden(resource, name, why));
        }
        self.check_namespace(transaction, target, object)?;
        let is_drawn = text(metadata(object), "name").is_empty();
        let labels = metadata(object).get("labels").and_then(Value::as_object);
        let is_labelled = labels.is_some_and(|labels| !labels.is_empty());
        let name = check::new_name(object, writer);
        // A dry run does not come as far as to where it is refused.
        let version = text(metadata(object), "resourceVersion").to_owned();
        let is_version = version.parse::<u64>().is_ok_and(|version| version != 0);
        if is_version && !writer.dry_run() {
            let message = "resourceVersion should not be set on objects to be created";
            return Err(StatusError::internal(message));
        }
        check::strings(resource, object)?;
        Ok(Sent {
            name,
            is_drawn,
            version,
            is_labelled,
        })
    }

    /// Writes down whose the fields of a new object are.
    fn track_new(&self, target: &Target, object: &mut Object, writer: Writer<'_>) {
        if let Writer::Client {
            manager: Some(manager),
            ..
        } = writer
        {
            let given = metadata_mut(object).remove(MANAGED_FIELDS);
            let managed = Ownership::new(target, self.now()).track(None, None, object, given, manager);
            set_managers(object, managed);
        }
    }

    /// Adds to a new object what the server and webhooks have to add, which no manager owns; returns its name.
    fn admit_new(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        object: &mut Object,
        sent: Sent,
        writer: Writer<'_>,
    ) -> Result<String, StatusError> {
        if writer == Writer::Owner {
            return Ok(sent.name);
        }
        let mut name = sent.name;
        // A job without labels and its template have the same ones in a real server, but for a copy that is made when a name is drawn.
        let shares_labels = !sent.is_labelled && !sent.is_drawn;
        self.apply_defaults_of_ranges(transaction, target, object);
        self.label_by_node(transaction, target, object);
        control::protect(&target.resource, object);
        // It is drawn when webhooks have been asked: they may change what it begins with.
        let known = match sent.is_drawn {
            true => text(metadata(object), "generateName").to_owned(),
            false => name.clone(),
        };
        self.admit_by_plugins(transaction, &target.resource, &known, object)?;
        if writer.admission().is_some() {
            if sent.is_drawn {
                metadata_mut(object).remove("name");
                name.clear();
            }
            name = self.create_by_webhooks(transaction, target, object, name, &sent.version, writer)?;
            writer.dedup_owners(object);
        }
        self.complete_new(
            transaction,
            &target.resource,
            &name,
            object,
            shares_labels,
            writer,
        )?;
        Ok(name)
    }

    /// Adds to a new object what webhooks see, and what is added again when they have changed it.
    fn admit_by_plugins(
        &self,
        transaction: &mut Transaction<'_>,
        resource: &Resource,
        name: &str,
        object: &mut Object,
    ) -> Result<(), StatusError> {
        match resource.id().as_str() {
            "pods" => {
                self.prioritize(transaction, resource, name, object)?;
                specs::admit_pod(object);
                self.admit_runtime_class(transaction, resource, name, object)?;
            }
            // With somebody who stands in for the nodes, they are ready at once.
            "nodes" if !self.runs(Controller::Kubelet) => specs::admit_node(object),
            "persistentvolumeclaims" => self.give_storage_class(transaction, object),
            "ingresses.networking.k8s.io" => self.give_ingress_class(transaction, object),
            _ => {}
        }
        Ok(())
    }

    /// Lets mutating webhooks and policies change a new object; returns its name, which they may have given it. `given` is the version
    /// that the client has named.
    fn create_by_webhooks(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        object: &mut Object,
        name: String,
        given: &str,
        writer: Writer<'_>,
    ) -> Result<String, StatusError> {
        let resource = &target.resource;
        // Those are the server's, which gives them later.
        for member in ["uid", "creationTimestamp"] {
            metadata_mut(object).remove(member);
        }
        let before = object.clone();
        self.mutate(transaction, Operation::Create, target, writer, None, object)?;
        // Containers may have come with it, or what was added before is gone.
        if *object != before {
            self.apply_defaults_of_ranges(transaction, target, object);
            let meta = metadata(object);
            let given = [text(meta, "name"), text(meta, "generateName")];
            let known = given
                .into_iter()
                .find(|name| !name.is_empty())
                .unwrap_or("")
                .to_owned();
            self.admit_by_plugins(transaction, resource, &known, object)?;
        }
        check::type_meta(target, object)?;
        check::namespace(target, object)?;
        if resource.status && resource.id() != "nodes" {
            object.remove("status");
        }
        check::generation(target, object)?;
        let meta = metadata_mut(object);
        // The version of what is not there yet is nobody's to say.
        meta.remove("resourceVersion");
        if !given.is_empty() {
            meta.insert("resourceVersion".into(), given.into());
        }
        if text(meta, "name").is_empty() {
            meta.insert("name".into(), name.into());
        }
        let name = check::new_name(object, writer);
        check::strings(resource, object)?;
        prepare_for_creation(resource, object, writer);
        Ok(name)
    }

    /// Refuses what may not be created, by a client or at all.
    fn check_new(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        object: &Object,
        name: &str,
        writer: Writer<'_>,
    ) -> Result<(), StatusError> {
        let resource = &target.resource;
        let mut causes = check::new_metadata(resource, name, object);
        if writer == Writer::Owner {
            return check::spec(resource, name, &causes);
        }
        causes.extend(check::new_managers(object));
        causes.extend(specs::causes_of_creation(resource, object));
        causes.extend(self.schema_faults(target, None, object, writer.admission())?);
        check::spec(resource, name, &causes)?;
        advice::warn(target, Change::Create, object, writer);
        if let Some(user) = writer.user() {
            self.check_escalation(transaction, target, user, None, object, name)?;
        }
        self.check_ranges(transaction, target, name, None, object)?;
        self.check_pod_security(transaction, target, name, None, object, writer)?;
        signing::check_subject(target, object, name)
    }

    /// What the server adds to a new object itself, so that no manager owns it.
    pub(super) fn complete_new(
        &self,
        transaction: &mut Transaction<'_>,
        resource: &Resource,
        name: &str,
        object: &mut Object,
        shares_labels: bool,
        writer: Writer<'_>,
    ) -> Result<(), StatusError> {
        let uid = writer.new_uid();
        metadata_mut(object).insert("uid".into(), uid.as_str().into());
        specs::write_empty(resource, object);
        match resource.id().as_str() {
            "pods" => {
                specs::read_app_armor(object)
                    .into_iter()
                    .for_each(|warning| writer.warn(warning));
                let class = specs::quality_of_service(object);
                object.insert("status".into(), json!({"phase": "Pending", "qosClass": class}));
            }
            "jobs.batch" => specs::name_job_pods(object, name, &uid, shares_labels),
            signing::ID => signing::name_requestor(object, writer.user()),
            "services" => service::allocate(transaction, resource, name, None, object, &mut writer.random())?,
            "persistentvolumeclaims" => specs::name_data_source(object),
            "statefulsets.apps" => specs::drop_unavailable(None, object),
            "leases.coordination.k8s.io" => specs::drop_disabled(None, object),
            "endpointslices.discovery.k8s.io" => specs::drop_topology(None, object),
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
    pub(super) fn prioritize(
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
    pub(super) fn prepare_new(
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
                let name = text(metadata(object), "name");
                let causes = check::new_metadata(resource, name, object);
                let (registry, now) = (self.registry(), rfc3339(writer.now(self)));
                definition::prepare(object, None, causes, &registry, &now, writer == Writer::Owner)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The namespace of a new object exists, and is not being terminated.
    pub(super) fn check_namespace(
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
}

/// Makes a new object one that a client may create: what only the server writes is taken away, what it adds is there.
pub(super) fn prepare_for_creation(resource: &Resource, object: &mut Object, writer: Writer<'_>) {
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

pub(super) fn prepare_namespace(object: &mut Object) {
    let mut held = namespace_finalizers(object);
    if !held.contains(&"kubernetes") {
        held.push("kubernetes");
    }
    let spec = json!({"finalizers": held});
    object.insert("spec".into(), spec);
    object.insert("status".into(), json!({"phase": "Active"}));
}
