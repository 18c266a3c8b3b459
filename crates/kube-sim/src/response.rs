//! Responses and their bodies.

use bytes::Bytes;
use futures::{Stream, StreamExt as _};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use serde_json::Value;

use crate::status::StatusError;

mod order;

pub(crate) use order::InOrder;

/// In a response's extensions: its body is the frames of a watch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frames;

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The body of a response: chunks as they become ready.
pub type SimBody = UnsyncBoxBody<Bytes, BoxError>;

pub(crate) fn whole(bytes: Bytes) -> SimBody {
    Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}

pub(crate) fn streamed(chunks: impl Stream<Item = Bytes> + Send + 'static) -> SimBody {
    StreamBody::new(chunks.map(|chunk| Ok(http_body::Frame::data(chunk)))).boxed_unsync()
}

pub(crate) fn frames(chunks: impl Stream<Item = Result<Bytes, BoxError>> + Send + 'static) -> SimBody {
    StreamBody::new(chunks.map(|chunk| chunk.map(http_body::Frame::data))).boxed_unsync()
}

pub(crate) fn json_response(status: StatusCode, body: SimBody) -> Response<SimBody> {
    with_type(status, body, "application/json")
}

/// A response that no cache may keep, as all of a real server.
pub(crate) fn with_type(status: StatusCode, body: SimBody, content_type: &'static str) -> Response<SimBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

pub(crate) fn json_value(status: StatusCode, value: &Value) -> Response<SimBody> {
    let mut text = serde_json::to_vec(&InOrder::of(value)).expect("a value can be written");
    text.push(b'\n');
    json_response(status, whole(text.into()))
}

/// There is nothing to be answered.
pub(crate) fn nothing() -> Response<SimBody> {
    let mut response = with_type(StatusCode::NO_CONTENT, whole(Bytes::new()), "");
    response.headers_mut().remove(CONTENT_TYPE);
    response
}

/// With line breaks, as a real server answers what it does not encode as an object.
pub(crate) fn json_lines(value: &Value) -> Response<SimBody> {
    json_response(StatusCode::OK, whole(format!("{value:#}").into()))
}

pub(crate) fn text(status: StatusCode, text: &'static str) -> Response<SimBody> {
    let body = whole(Bytes::from_static(text.as_bytes()));
    with_type(status, body, "text/plain; charset=utf-8")
}

pub(crate) fn refusal(error: &StatusError) -> Response<SimBody> {
    let status = StatusCode::from_u16(error.code()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = json_value(status, &error.to_value());
    if let Some(seconds) = error.retry_after() {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}
