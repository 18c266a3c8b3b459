//! Media types: inside, the server speaks JSON. Requests in YAML and Kubernetes' protobuf are converted to JSON here, and answers
//! to YAML. Objects, lists and watches in protobuf are written by [`render`](crate::api::render), from messages that are kept
//! beside the objects; other answers (a status, discovery) are converted to protobuf here.
//!
//! Which one is answered in follows from the Accept header by a real server's rules: the clause of the highest quality
//! that names a type which is served so. The handler gets a header that asks for the same form in
//! JSON, and the encoding. Built-in kinds
//! are served in JSON, YAML and protobuf, custom resources in the first two (their metadata in protobuf, too), tables
//! never in protobuf, and watches never in YAML.

mod negotiation;
mod pretty;
mod whole;

use std::future::Future;
use std::io;

use bytes::{Buf as _, Bytes};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderValue, Request, Response, StatusCode, request};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use serde_json::{Map, Value};

use crate::api::Api;
use crate::api::render::Encoding;
use crate::compression;
use crate::nesting;
use crate::response::Frames;
use crate::response::{BoxError, SimBody, json_response, refusal};
use crate::status::StatusError;
use crate::target::MAX_BODY;
use crate::yaml::{self, RepeatedKeys};
use negotiation::Negotiated;

/// The body of a request whose own type does not matter.
pub(crate) type RequestBody = UnsyncBoxBody<Bytes, io::Error>;

impl Encoding {
    const fn media_type(self) -> &'static str {
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

/// Why a watch cannot be served in YAML.
pub(crate) fn not_streamed() -> StatusError {
    StatusError::not_acceptable(STREAMS)
}

/// The same for discovery, which is not behind the router everywhere.
pub(crate) fn not_discoverable(accept: &str, routed: bool) -> StatusError {
    match routed && !negotiation::has_media_type(accept) {
        true => StatusError::no_such_media_type(ALL),
        false => StatusError::not_acceptable(ALL),
    }
}

/// A response whose body is rendered in this encoding.
pub(crate) fn rendered(encoding: Encoding, status: StatusCode, body: SimBody) -> Response<SimBody> {
    let mut response = json_response(status, body);
    if encoding == Encoding::Protobuf {
        let content_type = HeaderValue::from_static(Encoding::Protobuf.media_type());
        response.headers_mut().insert(CONTENT_TYPE, content_type);
    }
    response
}

/// The same for the frames of a watch.
pub(crate) fn rendered_watch(encoding: Encoding, body: SimBody) -> Response<SimBody> {
    let mut response = rendered(encoding, StatusCode::OK, body);
    if encoding == Encoding::Protobuf {
        let content_type = HeaderValue::from_static("application/vnd.kubernetes.protobuf;stream=watch");
        response.headers_mut().insert(CONTENT_TYPE, content_type);
    }
    response.extensions_mut().insert(Frames);
    response
}

/// Answers a request by what answers its JSON.
pub(crate) async fn translated<B, E, F>(
    api: &Api,
    request: Request<B>,
    answer: impl FnOnce(Request<RequestBody>, Encoding) -> F,
) -> Result<Response<SimBody>, E>
where
    B: http_body::Body + Send + 'static,
    B::Error: Into<BoxError>,
    F: Future<Output = Result<Response<SimBody>, E>>,
{
    let (mut parts, body) = request.into_parts();
    let zips = compression::is_accepted(&parts.headers);
    let is_for_people = is_about_resources(&parts) && pretty::is_asked(&parts);
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
        Some(encoding) if encoding != Encoding::Json && negotiated.reads(encoding, &parts.method) => {
            match to_json(encoding, body).await {
                Ok((json, repeated)) => {
                    parts.extensions.insert(repeated);
                    let json_type = HeaderValue::from_static(Encoding::Json.media_type());
                    parts.headers.insert(CONTENT_TYPE, json_type);
                    Full::new(json).map_err(|never| match never {}).boxed_unsync()
                }
                Err(error) => return Ok(written(refusal(&error), negotiated).await),
            }
        }
        _ => body,
    };
    let response = answer(Request::from_parts(parts, body), negotiated.answer).await?;
    let mut response = written(response, negotiated).await;
    if is_for_people && is_whole_json(&response) {
        let (parts, body) = response.into_parts();
        response = Response::from_parts(parts, pretty::indented(body).await);
    }
    Ok(match zips {
        true => compression::compressed(response).await,
        false => response,
    })
}

/// Whether a request is about what has media types: versions, health and OpenAPI are what they are.
fn is_about_resources(request: &request::Parts) -> bool {
    let path = request.uri.path().trim_start_matches('/');
    ["api", "apis"].contains(&path.split('/').next().unwrap_or_default())
}

/// Whether a response is JSON, and no watch.
fn is_whole_json(response: &Response<SimBody>) -> bool {
    let content_type = response.headers().get(CONTENT_TYPE);
    let is_json = content_type.is_some_and(|content_type| {
        content_type
            .as_bytes()
            .starts_with(Encoding::Json.media_type().as_bytes())
    });
    is_json && response.extensions().get::<Frames>().is_none()
}

/// Reads a body, and the keys that are in it twice. An empty one stays empty: a deletion need not have options.
async fn to_json(encoding: Encoding, body: RequestBody) -> Result<(Bytes, RepeatedKeys), StatusError> {
    let body = match Limited::new(body, MAX_BODY).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => return Err(StatusError::too_large_body(MAX_BODY)),
        Err(_) => return Err(StatusError::unread_body()),
    };
    if body.is_empty() {
        return Ok((body, RepeatedKeys::default()));
    }
    let read = match encoding {
        Encoding::Protobuf => match kube_protobuf::to_value(&body) {
            Ok(value) => Ok((value, RepeatedKeys::default())),
            Err(error) => Err(error.to_string()),
        },
        _ => yaml::read(&body),
    };
    match read {
        Ok((value, repeated)) => Ok((value.to_string().into(), repeated)),
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
    let content_type = format!("{}{parameters}", encoding.media_type());
    let (parts, body) = response.into_parts();
    let body = match encoding {
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

/// JSON that the server has made.
fn parsed(json: &[u8]) -> Result<Map<String, Value>, StatusError> {
    nesting::parse(json).map_err(|error| StatusError::internal(error.to_string()))
}
