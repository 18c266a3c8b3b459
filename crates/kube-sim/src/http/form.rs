//! The form of an answer that a client asks for.

use crate::api::render::{Form, Include, TableVersion};
use crate::status::StatusError;

/// The form that a client asks for.
pub(super) enum Asked {
    Form(Form),
    /// Metadata, of a list or of an object: one of them fits the request.
    Metadata {
        list: bool,
    },
}

/// The first form in the Accept header that the server speaks.
pub(super) fn negotiate(accept: &str, include: &str, custom: bool) -> Option<Result<Asked, StatusError>> {
    if accept.trim().is_empty() {
        return Some(Ok(Asked::Form(Form::Full)));
    }
    accept.split(',').find_map(|offer| {
        let mut parts = offer.split(';').map(str::trim);
        match parts.next() {
            Some("application/json" | "*/*") => {}
            // Only the part of a real server that serves custom resources understands it.
            Some("application/*") if custom => {}
            _ => return None,
        }
        let parameter = |name: &str| {
            offer
                .split(';')
                .find_map(|p| p.trim().strip_prefix(name)?.strip_prefix('='))
        };
        if parameter("stream").is_some_and(|stream| stream != "watch") {
            return None;
        }
        let group = parameter("g").is_none_or(|group| group == "meta.k8s.io");
        let version = parameter("v").unwrap_or("v1");
        let meta = group && version == "v1";
        let table =
            |version| Some(included(include).map(|include| Asked::Form(Form::Table(include, version))));
        match parameter("as") {
            None => Some(Ok(Asked::Form(Form::Full))),
            Some("Table") if meta => table(TableVersion::V1),
            Some("Table") if group && version == "v1beta1" => table(TableVersion::V1Beta1),
            Some("PartialObjectMetadata") if meta => Some(Ok(Asked::Metadata { list: false })),
            Some("PartialObjectMetadataList") if meta => Some(Ok(Asked::Metadata { list: true })),
            Some(_) => None,
        }
    })
}

/// What the rows of a table carry.
fn included(include: &str) -> Result<Include, StatusError> {
    match include {
        "" | "Metadata" => Ok(Include::Metadata),
        "None" => Ok(Include::Nothing),
        "Object" => Ok(Include::Object),
        other => {
            let why = format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: \"{other}\": must be \
                 'Metadata', 'Object', 'None', or empty"
            );
            Err(StatusError::bad_request(why))
        }
    }
}
