//! What the body of a request says: an object, or the options of a deletion.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use kube_protobuf::{Descriptor, strict_errors};
use serde_json::{Map, Value, json};

use crate::api::write::{DeleteOptions, Propagation};
use crate::api::{fields, options};
use crate::media;
use crate::nesting::{self, Unreadable};
use crate::response::BoxError;
use crate::script::Received;
use crate::status::{Cause, StatusError, misfit, unregistered};
use crate::target::{MAX_BODY, Target};

use super::Call;
use super::subresource::is_form_of_its_own;

pub(super) fn content_type(headers: &HeaderMap) -> &str {
    let given = headers.get(CONTENT_TYPE).and_then(|given| given.to_str().ok());
    given.unwrap_or_default()
}

impl Call {
    pub(super) fn content_type(&self) -> &str {
        content_type(&self.request.headers)
    }

    pub(super) fn read_object(&self, target: &Target) -> Result<Map<String, Value>, StatusError> {
        if !matches!(
            self.content_type().split(';').next().unwrap_or("").trim(),
            "" | "application/json"
        ) {
            let accepted = media::accepted(target.resource.custom);
            return Err(StatusError::unsupported_media_type(accepted));
        }
        // Nothing is an object without members.
        let body: &[u8] = match self.request.body.trim_ascii() {
            b"null" => b"{}",
            _ => &self.request.body,
        };
        let (mut object, duplicates) = nesting::parse_object(body).map_err(|error| {
            let error = match error {
                Unreadable::Invalid { .. } => not_an_object(body).unwrap_or_else(|| error.to_string()),
                _ => error.to_string(),
            };
            self.unrecognized(target, &format!("{UNREADABLE}{error}"))
        })?;
        if let Some(version) = text_of(&object, "apiVersion").strip_prefix('/') {
            // Of no group, said explicitly.
            let version = version.into();
            object.insert("apiVersion".into(), version);
        }
        if !target.resource.custom {
            if self.fields.is_strict() {
                self.check_strictly(target, &object)?;
            }
            // It says how the object is to be read.
            if target.resource.is_autoscaler() && target.subresource.is_none() {
                let version = || target.resource.api_version(&target.version).into();
                object.entry("apiVersion").or_insert_with(version);
            }
        }
        if is_form_of_its_own(target.subresource.as_deref()) || target.resource.review {
            return Ok(object);
        }
        if target.resource.custom && text_of(&object, "kind").is_empty() {
            let body = String::from_utf8_lossy(&self.request.body);
            return Err(self.unrecognized(target, &format!("Object 'Kind' is missing in '{body}'")));
        }
        let mut errors = duplicates;
        fields::fit(target, &mut object)
            .and_then(|dropped| {
                errors.extend(dropped);
                // Go's decoder of a built-in kind does not look at what is twice and unknown.
                if !target.resource.custom && !errors.is_empty() {
                    let told = self.strict_faults(target, &object);
                    errors = if told.is_empty() { errors } else { told };
                }
                self.fields.note(errors)
            })
            .map_err(|error| {
                let (kind, version) = (&target.resource.kind, &target.version);
                StatusError::bad_request(format!(
                    "{kind} in version \"{version}\" cannot be handled as a {kind}: {error}"
                ))
            })?;
        self.fields.dedup_owners(&mut object);
        Ok(object)
    }

    /// The refusal of a body of which not even the kind is known; it shows how the body begins.
    fn unrecognized(&self, target: &Target, why: &str) -> StatusError {
        let (kind, beginning) = (&target.resource.kind, beginning(&self.request.body));
        StatusError::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): {why} ({beginning})"
        ))
    }

    /// What strict decoding says of the body of a built-in kind, each once.
    fn strict_faults(&self, target: &Target, object: &Map<String, Value>) -> Vec<String> {
        let kind = target.resource.kind.as_str();
        let api_version = target.resource.api_version(&target.version);
        // Another kind is refused for that, or is that of a subresource.
        let is_meant = object.get("kind").is_none_or(|given| given == kind);
        let Some(message) = Descriptor::of(&api_version, kind).filter(|_| is_meant) else {
            return Vec::new();
        };
        // The text has been read before; at most it is too deep.
        let errors = strict_errors(message, &self.request.body).unwrap_or_default();
        let mut told: Vec<String> = Vec::new();
        for error in errors.iter().map(ToString::to_string) {
            if !told.contains(&error) {
                told.push(error);
            }
        }
        told
    }

    /// Refuses fields that a built-in kind does not have, and those that are there twice.
    fn check_strictly(&self, target: &Target, object: &Map<String, Value>) -> Result<(), StatusError> {
        let kind = target.resource.kind.as_str();
        let of_yaml = self.fields.strict_error_of_yaml();
        let of_json = self.strict_faults(target, object);
        let told: Vec<String> = of_yaml.into_iter().chain(of_json).collect();
        if told.is_empty() {
            return Ok(());
        }
        Err(StatusError::bad_request(format!(
            "{kind} in version \"{}\" cannot be handled as a {kind}: strict decoding error: {}",
            target.version,
            told.join(", ")
        )))
    }

    /// What a deletion asks for: by its body, or by its query if there is no body.
    pub(super) fn delete_options(&self) -> Result<DeleteOptions, StatusError> {
        if self.request.body.is_empty() {
            return delete_options_of(&Value::Object(self.delete_options_of_query()?));
        }
        let content_type = self.content_type().split(';').next().unwrap_or("").trim();
        if !matches!(content_type, "" | "application/json") {
            return Err(StatusError::unsupported_media_type(media::accepted(false)));
        }
        let body: Value = nesting::parse(&self.request.body).map_err(|error| {
            StatusError::bad_request(match error {
                Unreadable::TooDeep(_) | Unreadable::Syntax(_) | Unreadable::Empty => {
                    format!("{UNREADABLE}{error}")
                }
                Unreadable::Invalid { line, column } => {
                    format!("invalid JSON in DeleteOptions at line {line}, column {column}")
                }
            })
        })?;
        let unreadable = |why: &str| StatusError::bad_request(format!("{UNREADABLE}{why}"));
        if let Some(why) = not_an_object(&self.request.body) {
            return Err(unreadable(&why));
        }
        if let Some(why) = ["apiVersion", "kind"]
            .iter()
            .find_map(|name| misfit(&body[name], &format!(".{name}"), "string"))
        {
            return Err(unreadable(&why));
        }
        let text = |name: &str| body[name].as_str().unwrap_or("");
        if !matches!(text("kind"), "" | "DeleteOptions") {
            return Err(StatusError::bad_request(unregistered(
                text("kind"),
                text("apiVersion"),
            )));
        }
        match misfit_of_options(&body) {
            Some(why) => Err(StatusError::bad_request(why)),
            None => delete_options_of(&body),
        }
    }

    fn delete_options_of_query(&self) -> Result<Map<String, Value>, StatusError> {
        let mut options = Map::new();
        if let Some(policy) = self.query.given("propagationPolicy") {
            options.insert("propagationPolicy".into(), policy.into());
        }
        if let Some(orphans) = self.query.flag("orphanDependents") {
            options.insert("orphanDependents".into(), orphans.into());
        }
        if let Some(seconds) = self.query.number("gracePeriodSeconds")? {
            options.insert("gracePeriodSeconds".into(), seconds.into());
        }
        if let Some(dry_run) = self.query.given("dryRun") {
            options.insert("dryRun".into(), json!([dry_run]));
        }
        Ok(options)
    }
}

/// The first member of `DeleteOptions` that is not of its type.
fn misfit_of_options(options: &Value) -> Option<String> {
    const MEMBERS: [(&str, &str); 6] = [
        ("gracePeriodSeconds", "int64"),
        ("preconditions", "v1.Preconditions"),
        ("orphanDependents", "bool"),
        ("propagationPolicy", "v1.DeletionPropagation"),
        ("dryRun", "[]string"),
        ("ignoreStoreReadErrorWithClusterBreakingPotential", "bool"),
    ];
    let mut members = MEMBERS.iter();
    let of_preconditions = |(name, wanted)| {
        let field = format!("Preconditions.preconditions.{name}");
        misfit(&options["preconditions"][name], &field, wanted)
    };
    let mut dry_runs = options["dryRun"].as_array().into_iter().flatten();
    members
        .find_map(|(name, wanted)| misfit(&options[name], &format!("DeleteOptions.{name}"), wanted))
        .or_else(|| {
            let members = [("uid", "types.UID"), ("resourceVersion", "string")];
            members.into_iter().find_map(of_preconditions)
        })
        .or_else(|| dry_runs.find_map(|one| misfit(one, "DeleteOptions.dryRun", "string")))
}

/// Reads `DeleteOptions`.
pub(super) fn delete_options_of(body: &Value) -> Result<DeleteOptions, StatusError> {
    let precondition = |name: &str| body["preconditions"][name].as_str().map(str::to_owned);
    let policy = body["propagationPolicy"].as_str();
    let propagation = policy.map(DeleteOptions::policy).transpose()?;
    let policies = ["propagationPolicy", "orphanDependents"];
    if policies.iter().all(|name| !body[*name].is_null()) {
        let why = "orphanDependents and deletionPropagation cannot be both set";
        let cause = Cause::invalid("propagationPolicy", &body["propagationPolicy"], why);
        return Err(StatusError::invalid("meta.k8s.io", "DeleteOptions", "", &[cause]));
    }
    let orphans = body["orphanDependents"].as_bool().map(|orphans| match orphans {
        true => Propagation::Orphan,
        false => Propagation::Background,
    });
    let dry_runs = body["dryRun"].as_array().map_or(&[][..], Vec::as_slice);
    if dry_runs.iter().any(|given| *given != "All") {
        let cause = options::unsupported_dry_run(&body["dryRun"]);
        return Err(StatusError::invalid("meta.k8s.io", "DeleteOptions", "", &[cause]));
    }
    Ok(DeleteOptions {
        uid: precondition("uid"),
        resource_version: precondition("resourceVersion"),
        propagation: propagation.or(orphans),
        grace: body["gracePeriodSeconds"].as_i64(),
        at_once: false,
        deletes_dependents: orphans == Some(Propagation::Background),
        dry_run: !dry_runs.is_empty(),
    })
}

/// What a real server says first of a body that it cannot read.
const UNREADABLE: &str = "couldn't get version/kind; json parse error: ";

/// What Go says of JSON that is no object.
fn not_an_object(json: &[u8]) -> Option<String> {
    let found = match json.trim_ascii_start().first()? {
        b'[' => "array",
        b'"' => "string",
        b't' | b'f' => "bool",
        b'{' | b'n' => return None,
        _ => "number",
    };
    let fields =
        r#"APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"""#;
    Some(format!(
        "json: cannot unmarshal {found} into Go value of type struct {{ {fields} }}"
    ))
}

/// How a body begins: as text if it may be an object, else in hexadecimal.
fn beginning(body: &[u8]) -> String {
    const MOST: usize = 30;
    let shown = &body[..body.len().min(MOST)];
    let mut beginning = match body.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(shown).into_owned(),
        Some(_) => shown.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    if body.len() > MOST {
        beginning.push_str(" ...");
    }
    beginning
}

fn text_of<'a>(object: &'a Map<String, Value>, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or("")
}

pub(super) async fn read_body<B>(body: B) -> Result<Bytes, StatusError>
where
    B: http_body::Body,
    B::Error: Into<BoxError>,
{
    match Limited::new(body, MAX_BODY).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(StatusError::too_large_body(MAX_BODY)),
        Err(_) => Err(StatusError::unread_body()),
    }
}

/// The members that are twice in a patch, and those that no operation has.
pub(super) fn faults_of_patch(request: &Received) -> Vec<String> {
    let content_type = request
        .headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("");
    if request.method != Method::PATCH || nesting::of_json(&request.body) > nesting::COMMON {
        return Vec::new();
    }
    match content_type.split(';').next().unwrap_or("").trim() {
        "application/merge-patch+json" | "application/strategic-merge-patch+json" => {
            nesting::parse_object(&request.body).map_or_else(|_| Vec::new(), |(_, duplicates)| duplicates)
        }
        "application/json-patch+json" => {
            let faults = nesting::faults_of_operations(&request.body).unwrap_or_default();
            let told = faults.into_iter().map(|fault| format!("json patch {fault}"));
            told.collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_have_only_their_members_and_each_once() {
        for (patch, faults) in [
            (
                r#"[
                    {"op": "add", "path": "/a", "value": {"other": 1, "b": 1, "b": 2, "b": 3}, "foo": "bar"},
                    {"op": "add", "path": "/a", "path": "/b", "value": "y"}
                ]"#,
                &[
                    r#"duplicate field "[0].value.b""#,
                    r#"unknown field "[0].foo""#,
                    r#"duplicate field "[1].path""#,
                ][..],
            ),
            (
                r#"[{"op": "add", "foo": {"b": 1, "b": 2}, "foo": 2, "path": "/a"}]"#,
                &[r#"unknown field "[0].foo""#],
            ),
            (r#"[{"op": "add"}, {"op": "add"}]"#, &[]),
        ] {
            assert_eq!(
                nesting::faults_of_operations(patch.as_bytes()).ok().unwrap(),
                faults
            );
        }
    }
}
