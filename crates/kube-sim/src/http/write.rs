//! Writes: POST, PUT, PATCH and DELETE of objects, and who makes them.

use std::sync::Arc;

use futures::stream;
use http::header::USER_AGENT;
use http::{Response, StatusCode};
use serde_json::{Map, Value, json};

use crate::api::options;
use crate::api::patch::{self, Patch};
use crate::api::render::Form;
use crate::api::write::{DeleteOptions, Deleted, Writer};
use crate::meta::faults;
use crate::nesting;
use crate::object::Stored;
use crate::response::{SimBody, json_value, refusal, streamed};
use crate::status::StatusError;
use crate::target::Target;

use super::Call;
use super::special::refused_method;
use super::warning::warn;

const PODS_OF_JOBS_STAY: &str = "child pods are preserved by default when jobs are deleted; set \
     propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning";

impl Call {
    /// The answer to a write, or its refusal, with the warnings that belong to it.
    pub(super) async fn admitted_by_webhooks(
        &self,
        write: impl Fn() -> Result<Response<SimBody>, StatusError> + Send + Sync,
    ) -> Response<SimBody> {
        let timeout = self.query.get("timeout");
        let written = self.api.admitted(self.admission.as_ref(), timeout, write).await;
        let mut response = written.unwrap_or_else(|error| refusal(&error));
        warn(&mut response, &self.warnings());
        response
    }

    /// The options of a write as webhooks see them.
    pub(super) fn options(&self) -> Value {
        let kind = match self.request.method.as_str() {
            "POST" => "CreateOptions",
            "PUT" => "UpdateOptions",
            "PATCH" => "PatchOptions",
            _ => "DeleteOptions",
        };
        let mut options = match kind {
            "DeleteOptions" if nesting::of_json(&self.request.body) <= nesting::COMMON => {
                nesting::parse(&self.request.body).unwrap_or_default()
            }
            _ => Map::new(),
        };
        options.insert("kind".into(), kind.into());
        options.insert("apiVersion".into(), "meta.k8s.io/v1".into());
        // A body says all, as for the deletion itself.
        if kind == "DeleteOptions" && !self.request.body.is_empty() {
            return Value::Object(options);
        }
        if self.query.get("dryRun") == "All" {
            options.insert("dryRun".into(), json!(["All"]));
        }
        for name in ["fieldManager", "fieldValidation", "propagationPolicy"] {
            if !self.query.get(name).is_empty() {
                options.insert(name.into(), self.query.get(name).into());
            }
        }
        if self.query.flag("force") == Some(true) {
            options.insert("force".into(), true.into());
        }
        Value::Object(options)
    }

    /// How many levels what is made of the body may have.
    pub(super) fn depth(&self) -> usize {
        // An operation of a JSON patch puts what there is deeper by the length of a path, whose slashes may be escaped.
        let paths = match self.content_type().starts_with("application/json-patch") {
            true => self
                .request
                .body
                .iter()
                .filter(|b| matches!(b, b'/' | b'\\'))
                .count(),
            false => 0,
        };
        nesting::of_json(&self.request.body) + paths
    }

    /// Answers what is no GET.
    pub(super) fn write(&self, target: &Target, form: Form) -> Result<Response<SimBody>, StatusError> {
        let collection = target.name.is_none();
        // Objects are made in one namespace, or in none.
        let placed = target.namespace.is_some() || !target.resource.namespaced;
        let finalizes = target.subresource.as_deref() == Some("finalize");
        match self.request.method.as_str() {
            "POST" if collection && placed => {
                options::check_write(&self.query, "CreateOptions")?;
                let object = self
                    .api
                    .create(target, self.read_object(target)?, self.writer())?;
                self.object(target, form, StatusCode::CREATED, &object)
            }
            "PUT" if !collection => {
                options::check_write(&self.query, "UpdateOptions")?;
                let (object, created) = self
                    .api
                    .replace(target, self.read_object(target)?, self.writer())?;
                let code = if created {
                    StatusCode::CREATED
                } else {
                    StatusCode::OK
                };
                self.object(target, form, code, &object)
            }
            "PATCH" if !collection && !finalizes && patch::is_apply(self.content_type()) => {
                options::check_apply(&self.query)?;
                let (object, created) = self.apply(target)?;
                let code = if created {
                    StatusCode::CREATED
                } else {
                    StatusCode::OK
                };
                self.object(target, form, code, &object)
            }
            "PATCH" if !collection && !finalizes => {
                options::check_write(&self.query, "PatchOptions")?;
                let patch = self.read_patch(target)?;
                let object = self.api.patch(target, &patch, &self.fields, self.writer())?;
                self.object(target, form, StatusCode::OK, &object)
            }
            "DELETE" if !collection && target.subresource.is_none() => self.delete(target, form),
            "DELETE" if collection && placed && target.resource.id() != "namespaces" => {
                self.delete_collection(target, form)
            }
            // A definition's scope is a part of its paths.
            "POST" | "DELETE" if collection && !placed && target.resource.custom => {
                Err(StatusError::no_such_resource())
            }
            method if target.subresource.is_some() => Err(refused_method(target, method)),
            _ => Err(StatusError::method_not_allowed()),
        }
    }

    /// The patch; whether it can be read does not matter if there is nothing to be patched.
    pub(super) fn read_patch(&self, target: &Target) -> Result<Patch, StatusError> {
        let read = Patch::read(self.content_type(), &self.request.body, target.resource.custom);
        read.map_err(|error| {
            let is_there = || self.api.storage.get(&target.resource, &target.key()).is_some();
            match error.code() == 415 || is_there() {
                true => error,
                false => StatusError::not_found(&target.resource, target.name.as_deref().unwrap_or("")),
            }
        })
    }

    fn apply(&self, target: &Target) -> Result<(Arc<Stored>, bool), StatusError> {
        let (config, repeated) = patch::read_config(&self.request.body)?;
        let config = Value::Object(config);
        nesting::with_room(nesting::of(&config), || {
            let Value::Object(config) = &config else {
                return Err(StatusError::method_not_allowed());
            };
            let manager = self.query.get("fieldManager");
            let force = self.query.flag("force") == Some(true);
            self.fields.note_of_apply(&repeated)?;
            self.api.apply(target, config, manager, force, self.applier())
        })
    }

    fn delete(&self, target: &Target, form: Form) -> Result<Response<SimBody>, StatusError> {
        let options = self.delete_options()?;
        self.warn_of_orphans(target, &options);
        match self.api.delete(target, &options, self.admission.as_ref())? {
            Deleted::Object(object) => {
                // As the old way to ask for what an object owns to be deleted has it.
                let stays = || self.api.storage.get(&target.resource, &target.key());
                let is_held =
                    options.deletes_dependents && stays().is_some_and(|now| now.uid() == object.uid());
                let code = if is_held {
                    StatusCode::ACCEPTED
                } else {
                    StatusCode::OK
                };
                self.object(target, form, code, &object)
            }
            Deleted::Gone(uid) => {
                let resource = &target.resource;
                let mut details = json!({"name": target.name, "kind": resource.plural, "uid": uid});
                if !resource.group.is_empty() {
                    details["group"] = resource.group.as_str().into();
                }
                let status = json!({
                    "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details,
                });
                Ok(json_value(StatusCode::OK, &status))
            }
        }
    }

    /// What becomes of the pods of jobs surprises people.
    fn warn_of_orphans(&self, target: &Target, options: &DeleteOptions) {
        if target.resource.id() == "jobs.batch" && options.propagation.is_none() {
            self.fields.warn(PODS_OF_JOBS_STAY.to_owned());
        }
    }

    fn delete_collection(&self, target: &Target, form: Form) -> Result<Response<SimBody>, StatusError> {
        let selector = self.sharded(self.selector(target)?)?;
        let options = self.delete_options()?;
        self.warn_of_orphans(target, &options);
        let objects = self
            .api
            .delete_collection(target, &selector, &options, self.admission.as_ref())?;
        let written = (form, self.encoding);
        let list = self.api.list_of(target, &selector, objects, written)?;
        Ok(self.rendered(StatusCode::OK, streamed(stream::iter(list))))
    }

    pub(super) fn writer(&self) -> Writer<'_> {
        Writer::Client {
            dry_run: self.query.get("dryRun") == "All",
            manager: Some(self.manager()),
            user: self.user.as_ref(),
            admission: self.admission.as_ref(),
            warnings: Some(&self.warnings),
        }
    }

    /// The writer of what is applied.
    pub(super) fn applier(&self) -> Writer<'_> {
        Writer::Client {
            dry_run: self.query.get("dryRun") == "All",
            manager: None,
            user: self.user.as_ref(),
            admission: self.admission.as_ref(),
            warnings: Some(&self.warnings),
        }
    }

    /// Who writes: by default the name of the client's program.
    pub(super) fn manager(&self) -> &str {
        match self.query.get("fieldManager") {
            "" => {
                let agent = self.request.headers.get(USER_AGENT);
                let agent = agent.and_then(|agent| agent.to_str().ok()).unwrap_or("");
                let name = agent.split('/').next().unwrap_or("");
                &name[..name.len().min(faults::MAX_MANAGER)]
            }
            manager => manager,
        }
    }
}
