//! Errors of requests.

use super::InvalidName;
use kube::client::AuthError;
use serde_json::Value;
use std::{error::Error as StdError, fmt, io, time::Duration};

/// The longest pause that is waited for at a server's request.
pub(crate) const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(300);

/// A boxed cause, as reported by the client.
pub(crate) type BoxError = Box<dyn StdError + Send + Sync>;

/// Why a list or watch request failed.
///
/// [`class`](ApiError::class) returns the kind of failure, and [`is_retryable`](ErrorClass::is_retryable)
/// whether a retry can succeed. `Display` prints one level; [`source`](StdError::source) returns the next.
///
/// ```
/// use kube_informer::source::{ApiError, ApiStatus, ErrorClass};
///
/// let error = ApiError::from(ApiStatus::from_code(403, "pods is forbidden"));
/// assert_eq!(error.class(), ErrorClass::Forbidden);
/// assert_eq!(error.to_string(), "the server answered 403 Forbidden: pods is forbidden");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApiError {
    /// The server answered with a `Status`.
    #[error("the server answered {0}")]
    Status(#[from] ApiStatus),
    /// There is no connection: it was refused, there is no route or no such host, connecting timed out, or
    /// the connection was closed before a response.
    #[error("cannot reach the server")]
    Unreachable(#[source] BoxError),
    /// The server's certificate or the client's was rejected.
    #[error("cannot agree on TLS with the server")]
    Tls(#[source] BoxError),
    /// Credentials could not be obtained, for example because an exec plugin failed.
    #[error("cannot get credentials for the server")]
    Credentials(#[source] BoxError),
    /// The response timed out.
    #[error("the server did not answer in time")]
    Timeout(#[source] BoxError),
    /// The response was interrupted.
    #[error("the answer broke off")]
    Interrupted(#[source] BoxError),
    /// The response is not one of a Kubernetes API server.
    #[error("unexpected answer: {0}")]
    Protocol(String),
    /// A name is not valid in the path of the request, so the request was not sent.
    #[error("the request was not sent")]
    InvalidName(#[from] InvalidName),
    /// The request could not be built or sent.
    #[error("cannot send the request")]
    Request(#[source] BoxError),
}

/// The kind of a failure, for messages.
///
/// ```
/// use kube_informer::source::ErrorClass;
/// assert_eq!(ErrorClass::Forbidden.to_string(), "forbidden");
/// assert!(ErrorClass::Unreachable.is_retryable());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorClass {
    /// The user is not permitted to do this (403).
    Forbidden,
    /// The server rejected the credentials (401), or none could be obtained.
    Unauthorized,
    /// The server does not serve the resource (404).
    NotFound,
    /// No connection could be established, or it was closed before a response.
    Unreachable,
    /// The TLS handshake failed.
    Tls,
    /// The response timed out.
    Timeout,
    /// The resource version is too old: the server no longer has its history.
    Gone,
    /// The server asks the client to retry later (429, 503).
    Throttled,
    /// The response could not be read.
    Decode,
    /// The server's resource version regressed: the server was restored from a backup or replaced.
    VersionRegressed,
    /// The request is invalid, for example because a namespace is not a DNS label, and was not sent.
    Invalid,
    /// Any other failure.
    Other,
}

impl ErrorClass {
    /// Whether the same request can succeed later without intervention.
    pub fn is_retryable(self) -> bool {
        !matches!(
            self,
            Self::Forbidden | Self::Unauthorized | Self::NotFound | Self::Tls | Self::Invalid
        )
    }

    /// The class as a lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Forbidden => "forbidden",
            Self::Unauthorized => "unauthorized",
            Self::NotFound => "not-found",
            Self::Unreachable => "unreachable",
            Self::Tls => "tls",
            Self::Timeout => "timeout",
            Self::Gone => "gone",
            Self::Throttled => "throttled",
            Self::Decode => "decode",
            Self::VersionRegressed => "went-back",
            Self::Invalid => "invalid",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl ApiError {
    /// The kind of this failure.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Status(status) => status.class(),
            Self::Unreachable(_) => ErrorClass::Unreachable,
            Self::Tls(_) => ErrorClass::Tls,
            Self::Credentials(_) => ErrorClass::Unauthorized,
            Self::Timeout(_) => ErrorClass::Timeout,
            Self::Protocol(_) => ErrorClass::Decode,
            Self::InvalidName(_) => ErrorClass::Invalid,
            Self::Interrupted(_) | Self::Request(_) => ErrorClass::Other,
        }
    }

    /// The server's `Status`, if it sent one.
    pub fn status(&self) -> Option<&ApiStatus> {
        match self {
            Self::Status(status) => Some(status),
            _ => None,
        }
    }

    /// How long the server asks to wait before the next attempt.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        self.status()?.retry_after
    }

    /// Whether the server asks to retry the same request later, so that a different request would not help.
    pub(crate) fn is_throttling(&self) -> bool {
        self.status().is_some_and(ApiStatus::is_throttling)
    }

    /// The error and its causes in one line.
    pub fn chain(&self) -> String {
        chain(self)
    }

    /// An error of the connection while an answer was being read.
    pub(crate) fn while_reading(error: impl Into<BoxError>) -> Self {
        Self::Interrupted(error.into())
    }

    /// Classifies the client's error for a request without a response.
    pub(crate) fn from_client(error: kube::Error) -> Self {
        if let Some(auth) = credentials_error(&error) {
            return Self::Credentials(plugin_failure(auth).unwrap_or_else(|| error.into()));
        }
        match innermost_io(&error).map(|e| e.kind()) {
            Some(io::ErrorKind::TimedOut) if !is_connect(&error) => Self::Timeout(error.into()),
            // TLS libraries report their errors as I/O errors of kind `InvalidData`.
            Some(io::ErrorKind::InvalidData) => Self::Tls(error.into()),
            Some(_) => Self::Unreachable(error.into()),
            None if matches!(error, kube::Error::Service(_) | kube::Error::HyperError(_)) => {
                Self::Unreachable(error.into())
            }
            None => Self::Request(error.into()),
        }
    }
}

/// The [client](crate::client) has no connection.
#[cfg(feature = "rustls-tls")]
#[derive(Debug, thiserror::Error)]
#[error("cannot connect")]
pub(crate) struct ConnectError(#[source] pub(crate) BoxError);

/// An error and its causes in one line, without causes that the level above already printed, and without the name that kube has for
/// what is between it and the connection.
fn chain(error: &(dyn StdError + 'static)) -> String {
    let text_of = |error: &(dyn StdError + 'static)| match error.downcast_ref() {
        Some(kube::Error::Service(cause)) => cause.to_string(),
        _ => error.to_string(),
    };
    let mut text = text_of(error);
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = text_of(cause);
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    text
}

/// Whether connecting failed, including by a timeout.
fn is_connect(error: &(dyn StdError + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    causes.any(|cause| {
        #[cfg(feature = "rustls-tls")]
        if cause.is::<ConnectError>() {
            return true;
        }
        let client = cause.downcast_ref::<hyper_util::client::legacy::Error>();
        client.is_some_and(hyper_util::client::legacy::Error::is_connect)
    })
}

/// The innermost I/O error in a chain of causes.
fn innermost_io<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e io::Error> {
    let mut found = None;
    let mut next = Some(error);
    while let Some(cause) = next {
        if let Some(mut io) = cause.downcast_ref::<io::Error>() {
            // The source of an I/O error that wraps another is the source of that other.
            while let Some(inner) = io.get_ref().and_then(|inner| inner.downcast_ref::<io::Error>()) {
                io = inner;
            }
            found = Some(io);
        }
        next = cause.source();
    }
    found
}

/// The error of obtaining credentials, which is reported as an error of the underlying service.
fn credentials_error<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e AuthError> {
    std::iter::successors(Some(error), |&error| error.source()).find_map(|cause| cause.downcast_ref())
}

/// The failure of a credential plugin, without the plugin's output, which may contain a token.
fn plugin_failure(error: &AuthError) -> Option<BoxError> {
    match error {
        AuthError::AuthExecRun { out, .. } => {
            Some(format!("the credential plugin failed with {}", out.status).into())
        }
        AuthError::AuthExecParse(_) => Some("the credential plugin printed no ExecCredential".into()),
        _ => None,
    }
}

/// The number of characters of a server's message that are kept.
const MESSAGE: usize = 4096;

/// A `Status` of the API, with which a server rejects a request.
///
/// <https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/>
///
/// ```
/// use kube_informer::source::{ApiStatus, Reason};
///
/// let status = ApiStatus::from_code(410, "too old resource version: 5 (90)");
/// assert_eq!(status.reason, Reason::Gone);
/// assert!(status.is_expired());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApiStatus {
    /// The HTTP status code.
    pub code: u16,
    /// The machine-readable reason.
    pub reason: Reason,
    /// The human-readable message; at most the first 4,096 characters that the server sent.
    pub message: String,
    /// How long the server asks to wait before the next attempt. This crate waits for five minutes at most.
    pub retry_after: Option<Duration>,
    /// Details, each with a reason and a message, as in `metav1.StatusCause`.
    pub causes: Vec<(String, String)>,
    /// Whether it ended a watch that had begun, as an event. Otherwise it is the answer to a request.
    pub is_event: bool,
}

impl ApiStatus {
    /// A status with a code and a message only.
    pub fn from_code(code: u16, message: impl Into<String>) -> Self {
        Self {
            code,
            reason: Reason::from_code(code),
            message: message.into(),
            retry_after: None,
            causes: vec![],
            is_event: false,
        }
    }

    /// The same status as an event of a watch.
    pub(crate) fn into_event(self) -> Self {
        Self {
            is_event: true,
            ..self
        }
    }

    /// Whether a resource version or continue token is older than the server's history (410).
    pub fn is_expired(&self) -> bool {
        matches!(self.reason, Reason::Expired | Reason::Gone) || self.code == 410
    }

    /// Whether the server asks the client to retry later (429).
    pub fn is_too_many_requests(&self) -> bool {
        self.reason == Reason::TooManyRequests || self.code == 429
    }

    /// Whether the server asks to retry the same request later: a 429, or a server error with a time to wait.
    pub(crate) fn is_throttling(&self) -> bool {
        let asks = self.retry_after.is_some() && (500..600).contains(&self.code);
        self.is_too_many_requests() || (asks && !self.is_expired() && !self.is_too_large_resource_version())
    }

    /// Whether the server has not reached the requested resource version yet, in any of the three forms in
    /// which servers report this.
    pub fn is_too_large_resource_version(&self) -> bool {
        const TEXT: &str = "Too large resource version";
        let timeout = self.reason == Reason::Timeout || self.code == 504;
        self.causes
            .iter()
            .any(|(kind, message)| kind == "ResourceVersionTooLarge" || (timeout && message == TEXT))
            || (timeout && self.message.contains(TEXT))
    }

    /// The kind of this failure.
    pub fn class(&self) -> ErrorClass {
        match (&self.reason, self.code) {
            _ if self.is_expired() => ErrorClass::Gone,
            (Reason::Forbidden, _) | (_, 403) => ErrorClass::Forbidden,
            (Reason::Unauthorized, _) | (_, 401) => ErrorClass::Unauthorized,
            (Reason::NotFound, _) | (_, 404) => ErrorClass::NotFound,
            (Reason::TooManyRequests, _) | (_, 429 | 503) => ErrorClass::Throttled,
            (Reason::Timeout | Reason::ServerTimeout, _) | (_, 504) => ErrorClass::Timeout,
            _ => ErrorClass::Other,
        }
    }

    /// Decodes the JSON of a `Status`; `None` if `body` is not a `Status`. `code` is used if the body has no
    /// code. A field of the wrong type counts as absent, so that the other fields can still be used.
    pub(crate) fn from_json(body: &[u8], code: u16) -> Option<Self> {
        let json: Value = serde_json::from_slice(body).ok()?;
        if json["kind"] != "Status" {
            return None;
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let given = json["code"].as_u64().and_then(|code| code.try_into().ok());
        let code = given.filter(|&code| code != 0).unwrap_or(code);
        let details = &json["details"];
        let causes = details["causes"].as_array().into_iter().flatten();
        Some(Self {
            code,
            reason: match json["reason"].as_str() {
                None | Some("") => Reason::from_code(code),
                Some(reason) => Reason::from(reason),
            },
            message: text(&json["message"]).chars().take(MESSAGE).collect(),
            retry_after: details["retryAfterSeconds"]
                .as_u64()
                .filter(|&seconds| seconds > 0)
                .map(Duration::from_secs),
            causes: causes
                .map(|cause| (text(&cause["reason"]), text(&cause["message"])))
                .collect(),
            is_event: false,
        })
    }
}

impl fmt::Display for ApiStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, self.reason)?;
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        Ok(())
    }
}

impl StdError for ApiStatus {}

/// The machine-readable reason of a `Status` (`metav1.StatusReason`).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs)] // the names are the API's own
pub enum Reason {
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    NotAcceptable,
    AlreadyExists,
    Conflict,
    Gone,
    Expired,
    UnsupportedMediaType,
    Invalid,
    TooManyRequests,
    InternalError,
    StoreReadError,
    ServiceUnavailable,
    Timeout,
    ServerTimeout,
    /// Any other reason.
    Other(String),
}

/// Each reason with its name and its status code.
const REASONS: &[(Reason, &str, u16)] = &[
    (Reason::BadRequest, "BadRequest", 400),
    (Reason::Unauthorized, "Unauthorized", 401),
    (Reason::Forbidden, "Forbidden", 403),
    (Reason::NotFound, "NotFound", 404),
    (Reason::MethodNotAllowed, "MethodNotAllowed", 405),
    (Reason::NotAcceptable, "NotAcceptable", 406),
    (Reason::Conflict, "Conflict", 409),
    (Reason::AlreadyExists, "AlreadyExists", 409),
    (Reason::Gone, "Gone", 410),
    (Reason::Expired, "Expired", 410),
    (Reason::UnsupportedMediaType, "UnsupportedMediaType", 415),
    (Reason::Invalid, "Invalid", 422),
    (Reason::TooManyRequests, "TooManyRequests", 429),
    (Reason::InternalError, "InternalError", 500),
    (Reason::StoreReadError, "StorageReadError", 500),
    (Reason::ServiceUnavailable, "ServiceUnavailable", 503),
    (Reason::Timeout, "Timeout", 504),
    (Reason::ServerTimeout, "ServerTimeout", 500),
];

impl Reason {
    fn from_code(code: u16) -> Self {
        let known = REASONS.iter().find(|(_, _, c)| *c == code);
        known.map_or_else(|| Self::Other(String::new()), |(reason, _, _)| reason.clone())
    }
}

impl From<&str> for Reason {
    fn from(text: &str) -> Self {
        let known = REASONS.iter().find(|(_, name, _)| *name == text);
        known.map_or_else(|| Self::Other(text.to_owned()), |(reason, _, _)| reason.clone())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, REASONS.iter().find(|(reason, _, _)| reason == self)) {
            (_, Some((_, name, _))) => f.write_str(name),
            (Self::Other(text), _) if !text.is_empty() => f.write_str(text),
            _ => f.write_str("(no reason given)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn errors_of_credential_plugins_omit_their_output() {
        let plugin = |script: &str| {
            let out = std::process::Command::new("sh").args(["-c", script]).output();
            let failure = AuthError::AuthExecRun {
                cmd: script.into(),
                out: Box::new(out.unwrap()),
            };
            ApiError::from_client(kube::Error::Service(failure.into()))
        };
        let error = plugin("echo token: hunter2; echo hunter2 >&2; exit 3");
        assert_eq!(error.class(), ErrorClass::Unauthorized);
        assert_eq!(
            error.chain(),
            "cannot get credentials for the server: the credential plugin failed with exit status: 3"
        );
        let error = ApiError::from_client(kube::Error::Service(AuthError::MissingCommand.into()));
        assert_eq!(error.class(), ErrorClass::Unauthorized);
        assert!(
            error.chain().contains("command must be specified"),
            "{}",
            error.chain()
        );
    }

    #[test]
    fn a_status_is_read_from_json() {
        let body = br#"{"kind":"Status","apiVersion":"v1","status":"Failure","message":"slow down","reason":"TooManyRequests",
            "details":{"retryAfterSeconds":7,"causes":[{"reason":"x","message":"y"}]},"code":429}"#;
        let status = ApiStatus::from_json(body, 0).unwrap();
        assert!(status.is_too_many_requests());
        assert_eq!(status.retry_after, Some(Duration::from_secs(7)));
        assert_eq!(status.causes, [("x".into(), "y".into())]);
        assert_eq!(ApiStatus::from_json(br#"{"kind":"Pod"}"#, 500), None);
        assert_eq!(ApiStatus::from_json(b"<html>", 500), None);
    }

    #[test]
    fn a_status_ignores_fields_of_the_wrong_type() {
        let expired = |more: &str| {
            let body = format!(r#"{{"kind":"Status","code":410,"reason":"Expired","message":"old",{more}}}"#);
            ApiStatus::from_json(body.as_bytes(), 500).unwrap()
        };
        let plain = expired(r#""status":"Failure""#);
        assert_eq!((plain.code, &*plain.message), (410, "old"));
        for junk in [
            "null",
            "7",
            "-1",
            "1.5",
            "[]",
            r#""x""#,
            "{}",
            "[null,7]",
            "true",
            "99999999999999999999",
        ] {
            assert_eq!(expired(&format!(r#""details":{junk}"#)), plain, "{junk}");
            assert_eq!(expired(&format!(r#""metadata":{junk}"#)), plain, "{junk}");
            let status = expired(&format!(
                r#""details":{{"causes":{junk},"name":{junk},"group":{junk}}}"#
            ));
            assert!(status.is_expired(), "{junk}");
            let cause = format!(r#"{{"reason":{junk},"message":"kept","field":{junk}}}"#);
            let status = expired(&format!(
                r#""details":{{"causes":[{cause}],"retryAfterSeconds":"7"}}"#
            ));
            assert_eq!(
                (status.retry_after, &*status.causes[0].1),
                (None, "kept"),
                "{junk}"
            );
            for field in ["code", "message", "apiVersion", "status"] {
                let body = format!(r#"{{"kind":"Status","reason":"Gone","{field}":{junk}}}"#);
                let status = ApiStatus::from_json(body.as_bytes(), 500).unwrap();
                assert!(status.is_expired(), "{body}");
            }
            let body = format!(r#"{{"kind":"Status","code":410,"reason":{junk}}}"#);
            assert!(
                ApiStatus::from_json(body.as_bytes(), 500).unwrap().is_expired(),
                "{body}"
            );
        }
    }

    #[test]
    fn all_forms_of_a_too_large_version_are_recognized() {
        let mut by_cause = ApiStatus::from_code(504, "x");
        by_cause
            .causes
            .push(("ResourceVersionTooLarge".into(), "anything".into()));
        let mut by_cause_message = ApiStatus::from_code(504, "x");
        by_cause_message
            .causes
            .push((String::new(), "Too large resource version".into()));
        let by_message = ApiStatus::from_code(504, "Timeout: Too large resource version: 9, current: 5");
        for status in [by_cause, by_cause_message, by_message] {
            assert!(status.is_too_large_resource_version(), "{status:?}");
        }
        assert!(!ApiStatus::from_code(500, "Too large resource version").is_too_large_resource_version());
    }

    #[test]
    fn a_failed_handshake_is_found_behind_other_errors() {
        let class = |error: io::Error| ApiError::from_client(kube::Error::Service(Box::new(error))).class();
        let handshake = || io::Error::new(io::ErrorKind::InvalidData, "unknown issuer");
        assert_eq!(class(handshake()), ErrorClass::Tls);
        assert_eq!(
            class(io::Error::other(io::Error::other(handshake()))),
            ErrorClass::Tls
        );
        assert_eq!(
            class(io::Error::from(io::ErrorKind::ConnectionRefused)),
            ErrorClass::Unreachable
        );
        assert_eq!(
            class(io::Error::other(io::Error::from(io::ErrorKind::TimedOut))),
            ErrorClass::Timeout
        );
    }

    #[tokio::test]
    async fn a_connect_timeout_is_unreachable() {
        use hyper_util::rt::{TokioExecutor, TokioIo};
        let connector = tower::service_fn(|_: http::Uri| {
            let late = io::Error::from(io::ErrorKind::TimedOut);
            std::future::ready(Err::<TokioIo<tokio::net::TcpStream>, _>(late))
        });
        let client = hyper_util::client::legacy::Client::builder(TokioExecutor::new())
            .build::<_, kube::client::Body>(connector);
        let request = http::Request::get("http://a")
            .body(kube::client::Body::empty())
            .unwrap();
        let error = client.request(request).await.unwrap_err();
        let error = ApiError::from_client(kube::Error::Service(error.into()));
        assert_eq!(error.class(), ErrorClass::Unreachable, "{}", error.chain());
    }

    #[cfg(feature = "rustls-tls")]
    #[test]
    fn a_connect_timeout_of_our_client_is_unreachable() {
        let late = io::Error::new(io::ErrorKind::TimedOut, "late");
        let error = ConnectError(late.into());
        let error = ApiError::from_client(kube::Error::Service(error.into()));
        assert_eq!(error.class(), ErrorClass::Unreachable);
        assert_eq!(error.chain(), "cannot reach the server: cannot connect: late");
    }

    #[test]
    fn a_server_that_asks_to_wait_throttles() {
        let status = |code, message, retry_after: Option<u64>| ApiStatus {
            retry_after: retry_after.map(Duration::from_secs),
            ..ApiStatus::from_code(code, message)
        };
        assert!(status(429, "", None).is_throttling());
        for code in [500, 503, 504] {
            assert!(status(code, "", Some(1)).is_throttling());
            assert!(!status(code, "", None).is_throttling());
        }
        assert!(!status(404, "", Some(1)).is_throttling());
        assert!(!status(410, "", Some(1)).is_throttling());
        assert!(!status(504, "Too large resource version: 9, current: 5", Some(1)).is_throttling());
    }

    /// A load balancer without available servers accepts connections and closes them.
    #[test]
    fn a_connection_closed_before_a_response_is_unreachable() {
        for kind in [
            io::ErrorKind::UnexpectedEof,
            io::ErrorKind::BrokenPipe,
            io::ErrorKind::ConnectionReset,
        ] {
            let error = io::Error::other(io::Error::new(kind, "tls handshake eof"));
            let error = ApiError::from_client(kube::Error::Service(Box::new(error)));
            assert_eq!(error.class(), ErrorClass::Unreachable, "{kind}");
            assert_eq!(error.chain(), "cannot reach the server: tls handshake eof");
        }
    }

    #[test]
    fn reasons_round_trip() {
        for (reason, name, _) in REASONS {
            assert_eq!(Reason::from(*name), *reason);
            assert_eq!(reason.to_string(), *name);
        }
        assert_eq!(Reason::from("Odd").to_string(), "Odd");
    }
}
