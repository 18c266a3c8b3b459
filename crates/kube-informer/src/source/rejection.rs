//! Responses that refuse a request.

use super::body::{Chunks, Patience};
use super::negotiation::{encoding_of, status as status_of};
use super::{ApiError, ApiStatus};
use http::{Response, header};
use kube::client::Body;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, SystemTime};

/// The time limit for the body of an error. It is short, and adds little to the status code.
const ERROR: Duration = Duration::from_secs(30);
/// The maximum number of bytes of an error's body that are read.
const ERROR_BODY: usize = 1 << 20;

/// The error for a response with a status other than 200 to a request with this path.
pub(super) async fn rejection(path: &str, response: Response<Body>, received: Arc<AtomicU64>) -> ApiError {
    let code = response.status().as_u16();
    let encoding = encoding_of(&response);
    let retry_after = retry_after(response.headers());
    let media_type = response
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|v| v.to_str().ok());
    let media_type = media_type.unwrap_or("no media type").to_owned();
    let mut chunks = Chunks::new(response, Patience::of(ERROR), received);
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = chunks.next().await {
        body.extend_from_slice(&chunk);
        if body.len() > ERROR_BODY {
            break;
        }
    }
    let Some(mut status) = status_of(encoding, &body, code) else {
        let status = match code {
            404 => ApiStatus::from_code(
                404,
                format!("nothing is served at {path}, and the answer ({media_type}) is no API status"),
            ),
            _ => ApiStatus::from_code(code, format!("the answer ({media_type}) is no API status")),
        };
        return ApiError::Status(ApiStatus {
            retry_after,
            ..status
        });
    };
    status.retry_after = retry_after.or(status.retry_after);
    ApiError::Status(status)
}

/// A `Retry-After` header: seconds, or a date.
fn retry_after(headers: &http::HeaderMap) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_in_both_forms() {
        let header =
            |text: String| http::HeaderMap::from_iter([(header::RETRY_AFTER, text.parse().unwrap())]);
        assert_eq!(retry_after(&header("7".into())), Some(Duration::from_secs(7)));
        let soon = SystemTime::now() + Duration::from_secs(100);
        let parsed = retry_after(&header(httpdate::fmt_http_date(soon))).unwrap();
        assert!(
            parsed > Duration::from_secs(90) && parsed <= Duration::from_secs(100),
            "{parsed:?}"
        );
        let past = SystemTime::now() - Duration::from_secs(100);
        assert_eq!(
            retry_after(&header(httpdate::fmt_http_date(past))),
            Some(Duration::ZERO)
        );
        assert_eq!(retry_after(&header("soon".into())), None);
    }
}
