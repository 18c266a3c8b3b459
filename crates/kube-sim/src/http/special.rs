//! Requests whose body or answer has a form of its own: reviews and most subresources.

use http::{Response, StatusCode};
use serde_json::{Map, Value, json};

use crate::admission::Operation;
use crate::api::options;
use crate::api::patch;
use crate::api::render::{self, Form};
use crate::api::write::Scale;
use crate::response::{self, SimBody, json_value};
use crate::status::StatusError;
use crate::target::Target;

use super::body::delete_options_of;
use super::form::{Asked, negotiate};
use super::subresource::{connects, is_of_node};
use super::{Call, accept};

impl Call {
    /// Answers what has a form of its own, which is no object that is stored.
    pub(super) fn special(&self, target: &Target) -> Result<Response<SimBody>, StatusError> {
        let done = || json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
        let method = self.request.method.as_str();
        let (code, value) = match (method, target.subresource.as_deref()) {
            ("POST", None) if target.name.is_none() && target.resource.is_bindings() => {
                options::check_write(&self.query, "CreateOptions")?;
                let binding = self.admitted(target, self.read_object(target)?)?;
                self.api.bind_named(target, &binding, self.writer())?;
                (StatusCode::CREATED, done())
            }
            ("POST", None) if target.name.is_none() && target.resource.review => (
                StatusCode::CREATED,
                self.api.review(
                    target,
                    self.read_object(target)?,
                    self.manager(),
                    self.user.as_ref(),
                )?,
            ),
            (_, Some("scale")) => (StatusCode::OK, self.scale(target)?),
            ("POST", Some("eviction")) => {
                let eviction = self.admitted(target, self.read_object(target)?)?;
                let options = eviction.get("deleteOptions").unwrap_or(&Value::Null);
                let mut options = delete_options_of(options)?;
                options.dry_run |= self.query.get("dryRun") == "All";
                self.api.evict(target, &eviction, &options)?;
                (StatusCode::CREATED, done())
            }
            ("POST", Some("binding")) => {
                options::check_write(&self.query, "CreateOptions")?;
                let binding = self.admitted(target, self.read_object(target)?)?;
                self.api.bind(target, &binding, self.writer())?;
                (StatusCode::CREATED, done())
            }
            ("POST", Some("token")) => {
                let request = self.admitted(target, self.read_object(target)?)?;
                (StatusCode::CREATED, self.api.token(target, &request)?)
            }
            (_, Some("log")) if method != "GET" => return Err(StatusError::method_not_allowed()),
            (_, Some(subresource)) if is_of_node(Some(subresource)) => {
                self.admit_connection(target)?;
                if let (Some(user), "attach" | "exec" | "portforward") = (&self.user, subresource) {
                    self.api.authorize_connection(user, target)?;
                }
                self.api.connect(target, subresource, &self.query)?;
                return Ok(response::nothing());
            }
            _ => return Err(StatusError::method_not_allowed()),
        };
        let of_scale = target.subresource.as_deref() == Some("scale");
        let accept = accept(&self.request.headers);
        match negotiate(accept, self.query.get("includeObject"), target.resource.custom) {
            Some(Ok(Asked::Form(Form::Table(include, version)))) if of_scale => {
                let table = render::scale_table(&value, include, version, self.api.now());
                Ok(json_value(code, &table))
            }
            _ => Ok(json_value(code, &value)),
        }
    }

    /// The scale of an object, or what it has been changed to.
    fn scale(&self, target: &Target) -> Result<Value, StatusError> {
        let body = &self.request.body;
        match self.request.method.as_str() {
            "GET" => self.api.scale(target),
            "PUT" => {
                options::check_write(&self.query, "UpdateOptions")?;
                let scale = Scale::Replace(self.read_object(target)?);
                self.api.rescale(target, scale, self.writer())
            }
            "PATCH" if patch::is_apply(self.content_type()) => {
                options::check_apply(&self.query)?;
                let (config, repeated) = patch::read_config(body)?;
                self.fields.note_of_apply(&repeated)?;
                let scale = Scale::Apply {
                    config: &config,
                    manager: self.query.get("fieldManager"),
                    force: self.query.flag("force") == Some(true),
                };
                self.api.rescale(target, scale, self.applier())
            }
            "PATCH" => {
                options::check_write(&self.query, "PatchOptions")?;
                let patch = self.read_patch(target)?;
                self.api.rescale(target, Scale::Patch(&patch), self.writer())
            }
            method => Err(refused_method(target, method)),
        }
    }

    /// Lets webhooks and policies refuse a connection: they see what the query asks for.
    fn admit_connection(&self, target: &Target) -> Result<(), StatusError> {
        let Some(admission) = self
            .admission
            .as_ref()
            .filter(|_| connects(target.subresource.as_deref()))
        else {
            return Ok(());
        };
        let mut options = Map::new();
        for name in ["stdin", "stdout", "stderr", "tty"] {
            if self.query.flag(name) == Some(true) {
                options.insert(name.into(), true.into());
            }
        }
        for name in ["container", "path"] {
            if !self.query.get(name).is_empty() {
                options.insert(name.into(), self.query.get(name).into());
            }
        }
        if !self.query.get("command").is_empty() {
            options.insert("command".into(), json!([self.query.get("command")]));
        }
        let connects = Operation::Connect;
        self.api
            .admit_posted(admission, connects, target, options, None)
            .map(drop)
    }

    /// What is posted to a subresource, as webhooks leave it.
    pub(super) fn admitted(
        &self,
        target: &Target,
        object: Map<String, Value>,
    ) -> Result<Map<String, Value>, StatusError> {
        match &self.admission {
            Some(admission) => {
                let creates = Operation::Create;
                self.api.admit_posted(admission, creates, target, object, None)
            }
            None => Ok(object),
        }
    }
}

/// Why a subresource has no such method. The part of a real server that serves custom resources says more than the router of the others.
pub(super) fn refused_method(target: &Target, method: &str) -> StatusError {
    match method {
        "POST" if target.resource.custom => StatusError::unsupported_verb(&target.resource, "create"),
        "DELETE" if target.resource.custom => StatusError::unsupported_verb(&target.resource, "delete"),
        _ => StatusError::method_not_allowed(),
    }
}
