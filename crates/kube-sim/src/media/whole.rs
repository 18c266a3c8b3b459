//! Answers that are whole, made of their JSON.

use bytes::Bytes;
use futures::stream;
use http_body_util::BodyExt as _;
use kube_protobuf::{UnknownFields, to_vec};
use serde_json::Value;

use super::parsed;
use crate::api::render::protobuf::unwritable;
use crate::nesting;
use crate::response::{BoxError, SimBody, frames, whole};
use crate::status::StatusError;

/// In protobuf: a status, discovery, an answer of one's own.
pub(super) async fn protobuf(body: SimBody) -> Result<SimBody, StatusError> {
    translated(body, |json| {
        let object = Value::Object(parsed(json)?);
        let bytes = to_vec(&object, UnknownFields::Ignore).map_err(unwritable)?;
        Ok(bytes.into())
    })
    .await
}

/// In YAML.
pub(super) async fn yaml(body: SimBody) -> Result<SimBody, StatusError> {
    translated(body, |json| {
        let yaml = serde_saphyr::to_string(&parsed(json)?);
        let yaml = yaml.map_err(|error| StatusError::internal(error.to_string()))?;
        Ok(yaml.into())
    })
    .await
}

async fn translated(
    body: SimBody,
    translate: impl FnOnce(&[u8]) -> Result<Bytes, StatusError> + Send,
) -> Result<SimBody, StatusError> {
    let json = match body.collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) => return Ok(broken(error)),
    };
    nesting::with_room(nesting::of_json(&json), || translate(&json)).map(whole)
}

/// A body that breaks off after what has come.
pub(super) fn broken_after(begun: Bytes, error: BoxError) -> SimBody {
    frames(stream::iter([Ok(begun), Err(error)]))
}

/// A body that breaks off, as the one in JSON does.
fn broken(error: BoxError) -> SimBody {
    frames(stream::once(async { Err(error) }))
}
