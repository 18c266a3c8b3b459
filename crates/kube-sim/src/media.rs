//! Media types: inside, the server speaks JSON. Here YAML and Kubernetes' protobuf are made of it and read as it.
//!
//! Which one is answered in follows from the Accept header by a real server's rules: the clause of the highest quality
//! that names a type which is served so. What is behind gets a header that asks for the same form in JSON. Built-in kinds
//! are served in JSON, YAML and protobuf, custom resources in the first two (their metadata in protobuf, too), tables
//! never in protobuf, and watches never in YAML.

mod negotiation;
mod whole;
pub(crate) mod yaml;

use std::future::Future;
use std::io;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use futures::{StreamExt as _, stream};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderValue, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use kube_protobuf::UnknownFields;
use serde_json::{Map, Value};

use crate::api::Api;
use crate::compression;
use crate::http::MAX_BODY;
use crate::nesting;
use crate::response::{BoxError, SimBody, frames, refusal};
use crate::status::StatusError;
use negotiation::Negotiated;

/// In a response's extensions: its body is the frames of a watch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frames;

/// The body of a request whose own type does not matter.
pub(crate) type RequestBody = UnsyncBoxBody<Bytes, io::Error>;

/// How an object is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Json,
    Yaml,
    Protobuf,
}

impl Encoding {
    fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Yaml => "application/yaml",
            Self::Protobuf => "application/vnd.kubernetes.protobuf",
        }
    }

    fn of_body(content_type: &str) -> Option<Self> {
        let content_type = content_type.split(';').next().unwrap_or_default().trim();
        [Self::Json, Self::Yaml, Self::Protobuf]
            .into_iter()
            .find(|encoding| encoding.media_type() == content_type)
    }
}

const ALL: &str = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
const STREAMS: &str = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";

/// The media types that a body may have, for the message that refuses another one.
pub(crate) fn accepted(custom: bool) -> &'static str {
    match custom {
        true => "application/json, application/yaml",
        false => ALL,
    }
}

/// Why no clause of an Accept header can be served. Built-in kinds are behind a router that looks at media types before
/// anybody looks at forms.
pub(crate) fn not_acceptable(accept: &str, custom: bool, collection: bool) -> StatusError {
    if custom || negotiation::has_media_type(accept) {
        return StatusError::not_acceptable(ALL);
    }
    match collection {
        true => StatusError::no_such_media_type(&format!("{ALL}, {STREAMS}")),
        false => StatusError::no_such_media_type(ALL),
    }
}

/// Answers a request by what answers its JSON.
pub(crate) async fn translated<B, E, F>(
    api: &Api,
    request: Request<B>,
    answer: impl FnOnce(Request<RequestBody>) -> F,
) -> Result<Response<SimBody>, E>
where
    B: http_body::Body + Send + 'static,
    B::Error: Into<BoxError>,
    F: Future<Output = Result<Response<SimBody>, E>>,
{
    let (mut parts, body) = request.into_parts();
    let zips = compression::is_accepted(&parts.headers);
    let negotiated = Negotiated::new(api, &parts);
    if let Some(accept) = negotiated
        .accept
        .as_deref()
        .and_then(|accept| accept.parse().ok())
    {
        parts.headers.insert(ACCEPT, accept);
    }
    let body = body
        .map_frame(|frame| frame.map_data(|mut data| data.copy_to_bytes(data.remaining())))
        .map_err(io::Error::other)
        .boxed_unsync();
    let content_type = parts
        .headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let body = match content_type.and_then(Encoding::of_body) {
        Some(encoding) if encoding != Encoding::Json && negotiated.reads(encoding) => {
            match to_json(encoding, body).await {
                Ok(json) => {
                    let json_type = HeaderValue::from_static(Encoding::Json.media_type());
                    parts.headers.insert(CONTENT_TYPE, json_type);
                    Full::new(json).map_err(|never| match never {}).boxed_unsync()
                }
                Err(error) => return Ok(written(refusal(&error), negotiated).await),
            }
        }
        _ => body,
    };
    let response = answer(Request::from_parts(parts, body)).await?;
    let response = written(response, negotiated).await;
    Ok(match zips {
        true => compression::compressed(response).await,
        false => response,
    })
}

/// Reads a body. An empty one stays empty: a deletion need not have options.
async fn to_json(encoding: Encoding, body: RequestBody) -> Result<Bytes, StatusError> {
    let body = match Limited::new(body, MAX_BODY).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => return Err(StatusError::too_large_body(MAX_BODY)),
        Err(_) => return Err(StatusError::unread_body()),
    };
    if body.is_empty() {
        return Ok(body);
    }
    let value: Result<Value, String> = match encoding {
        Encoding::Protobuf => kube_protobuf::to_value(&body).map_err(|error| error.to_string()),
        _ => yaml::read(&body),
    };
    match value {
        Ok(value) => Ok(value.to_string().into()),
        Err(error) => Err(StatusError::bad_request(format!(
            "the object provided is unrecognized: {error}"
        ))),
    }
}

/// Writes a response in the encoding that was asked for, if it is JSON.
async fn written(mut response: Response<SimBody>, negotiated: Negotiated) -> Response<SimBody> {
    let encoding = match response.status().is_success() {
        true => negotiated.answer,
        false => negotiated.refusal,
    };
    let json = Encoding::Json.media_type();
    let content_type = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let Some(parameters) = content_type.and_then(|content_type| content_type.strip_prefix(json)) else {
        return response;
    };
    if encoding == Encoding::Json {
        return response;
    }
    let mut content_type = format!("{}{parameters}", encoding.media_type());
    let is_watch = response.extensions().get::<Frames>().is_some();
    if is_watch {
        content_type += ";stream=watch";
    }
    let (parts, body) = response.into_parts();
    let body = match encoding {
        _ if is_watch => Ok(watch(body)),
        Encoding::Protobuf => whole::protobuf(body).await,
        _ => whole::yaml(body).await,
    };
    response = match body {
        Ok(body) => Response::from_parts(parts, body),
        Err(error) => return refusal(&error),
    };
    if let Ok(content_type) = content_type.parse() {
        response.headers_mut().insert(CONTENT_TYPE, content_type);
    }
    response
}

/// The frames of a watch in protobuf: four bytes of length, then an event. What cannot be written ends them.
fn watch(body: SimBody) -> SimBody {
    let start = Some((body.into_data_stream(), BytesMut::new()));
    frames(stream::unfold(start, |state| async move {
        let (mut chunks, mut rest) = state?;
        match chunks.next().await? {
            Ok(chunk) => rest.extend_from_slice(&chunk),
            Err(error) => return Some((Err(error), None)),
        }
        let mut out = BytesMut::new();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            match event(&rest.split_to(end + 1)) {
                Ok(event) => put_frame(&mut out, &event),
                Err(error) => {
                    put_frame(&mut out, &error_event(&error));
                    return Some((Ok(out.freeze()), None));
                }
            }
        }
        Some((Ok(out.freeze()), Some((chunks, rest))))
    }))
}

fn put_frame(out: &mut BytesMut, event: &[u8]) {
    out.put_u32(event.len() as u32);
    out.put_slice(event);
}

fn event(json: &[u8]) -> Result<Vec<u8>, StatusError> {
    nesting::with_room(nesting::of_json(json), || {
        let mut event: Map<String, Value> = parsed(json)?;
        let object = event.remove("object").unwrap_or_default();
        let object = kube_protobuf::to_vec(&object, UnknownFields::Ignore).map_err(unwritable)?;
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        Ok(kube_protobuf::watch_event_to_vec(kind, &object))
    })
}

fn error_event(error: &StatusError) -> Vec<u8> {
    let status = kube_protobuf::to_vec(&error.to_value(), UnknownFields::Ignore);
    kube_protobuf::watch_event_to_vec("ERROR", &status.unwrap_or_default())
}

/// JSON that the server has made.
fn parsed(json: &[u8]) -> Result<Map<String, Value>, StatusError> {
    nesting::parse(json).map_err(|error| StatusError::internal(error.to_string()))
}

/// An object that is in the store, which takes anything, but that does not fit its kind.
fn unwritable(error: kube_protobuf::Error) -> StatusError {
    StatusError::internal(format!("the object cannot be written in protobuf: {error}"))
}
