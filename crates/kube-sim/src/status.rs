//! Errors as a Kubernetes API server reports them: `Status` objects.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde_json::{Value, json};

/// Why a request was refused: what a Kubernetes API server puts into a `Status` object.
///
/// Messages, reasons and codes are those of a real kube-apiserver, so that clients that look at them behave as they
/// would in a cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct StatusError {
    code: u16,
    reason: Cow<'static, str>,
    message: String,
    details: Option<Box<Value>>,
    continue_token: Option<String>,
}

impl StatusError {
    pub(crate) fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason: reason.into(),
            message: message.into(),
            details: None,
            continue_token: None,
        }
    }

    /// The same with each cause so many times: a real server looks at some things several times.
    pub(crate) fn repeated(mut self, times: usize) -> Self {
        if let Some(Value::Array(causes)) = self
            .details
            .as_mut()
            .and_then(|details| details.get_mut("causes"))
        {
            *causes = std::iter::repeat_n(causes.clone(), times).flatten().collect();
        }
        self
    }

    pub(crate) fn with_details(mut self, details: Value) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// The same with the seconds after which a client may try again.
    pub(crate) fn retried_after(mut self, seconds: u64) -> Self {
        let details = self.details.get_or_insert_with(|| Box::new(json!({})));
        details["retryAfterSeconds"] = seconds.into();
        self
    }

    /// The HTTP status code, such as 404.
    pub fn code(&self) -> u16 {
        self.code
    }

    /// The reason, such as `NotFound`; empty when a real server gives none.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The message for people.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whole seconds after which a client may try again (the `Retry-After` header).
    pub fn retry_after(&self) -> Option<u64> {
        self.details.as_ref()?.get("retryAfterSeconds")?.as_u64()
    }

    /// The `Status` object.
    pub fn to_value(&self) -> Value {
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "code": self.code,
        });
        if !self.reason.is_empty() {
            status["reason"] = (*self.reason).into();
        }
        if let Some(details) = &self.details {
            status["details"] = (**details).clone();
        }
        if let Some(token) = &self.continue_token {
            status["metadata"]["continue"] = token.as_str().into();
        }
        status
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    pub(crate) fn no_such_resource() -> Self {
        Self::new(
            404,
            "NotFound",
            "the server could not find the requested resource",
        )
        .with_details(json!({}))
    }

    /// Fields that are applied are owned by others.
    pub(crate) fn apply_conflict(message: String, causes: Vec<Value>) -> Self {
        Self::new(409, "Conflict", message).with_details(json!({"causes": causes}))
    }

    /// A budget that does not let a pod go, and why; `retry` says when it may.
    pub(crate) fn disruption(why: &str, retry: Option<u64>) -> Self {
        let mut details = json!({"causes": [{"reason": "DisruptionBudget", "message": why}]});
        if let Some(seconds) = retry {
            details["retryAfterSeconds"] = seconds.into();
        }
        let message = "Cannot evict pod as it would violate the pod's disruption budget.";
        Self::new(429, "TooManyRequests", message).with_details(details)
    }

    /// A pod that is bound already, or will not be.
    pub(crate) fn binding_conflict(name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on pods/binding \"{name}\": {why}");
        Self::new(409, "Conflict", message).with_details(json!({"name": name, "kind": "pods/binding"}))
    }

    /// A token is to be bound to an object that is another one by now.
    pub(crate) fn stale_reference(kind: &str, name: &str, uid: &str) -> Self {
        let why = format!(
            "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have been \
             deleted and then recreated"
        );
        let message = format!("Operation cannot be fulfilled on {kind} \"{name}\": {why}");
        Self::new(409, "Conflict", message).with_details(json!({"name": name, "kind": kind}))
    }

    /// What a webhook makes of a write that it denies: the status that it gives, as a refusal.
    pub(crate) fn denied(webhook: &str, status: &Value) -> Self {
        let text = |name: &str| status[name].as_str().unwrap_or("");
        let by = format!("admission webhook \"{webhook}\" denied the request");
        let message = match (text("message"), text("reason")) {
            ("", "") => format!("{by} without explanation"),
            ("", reason) => format!("{by}: {reason}"),
            (message, _) => format!("{by}: {message}"),
        };
        let code = status["code"].as_u64().and_then(|code| u16::try_from(code).ok());
        Self {
            reason: text("reason").to_owned().into(),
            details: status["details"]
                .is_object()
                .then(|| Box::new(status["details"].clone())),
            ..Self::new(code.filter(|code| *code >= 400).unwrap_or(400), "", message)
        }
    }

    /// Nobody is known by the credentials of a request.
    pub(crate) fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    /// What a user may not do.
    pub(crate) fn forbidden_request(message: String, details: Value) -> Self {
        Self::new(403, "Forbidden", message).with_details(details)
    }

    /// A request has taken longer than it may.
    pub(crate) fn timed_out() -> Self {
        let message = "Timeout: request did not complete within the allotted timeout";
        Self::new(504, "Timeout", message).with_details(json!({}))
    }

    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(405, "MethodNotAllowed", message).with_details(json!({}))
    }

    /// Nobody is there to answer.
    pub(crate) fn unavailable(message: String) -> Self {
        Self::new(503, "ServiceUnavailable", message)
    }

    /// What a real server does and the simulator does not.
    pub(crate) fn not_implemented(message: impl Into<String>) -> Self {
        Self::new(501, "NotImplemented", message)
    }

    /// None of the media types that are asked for has the form that is asked for.
    pub(crate) fn not_acceptable(accepted: &str) -> Self {
        let message = format!("only the following media types are accepted: {accepted}");
        Self::new(406, "NotAcceptable", message)
    }

    /// None of the media types that are asked for is known.
    pub(crate) fn no_such_media_type(accepted: &str) -> Self {
        let message = format!("406: Not Acceptable\n\nAvailable representations: {accepted}");
        Self::new(406, "NotAcceptable", message).with_details(json!({}))
    }

    pub(crate) fn unsupported_media_type(accepted: &str) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {accepted}"
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// The answer to a patch of a built-in kind, which names no types.
    pub(crate) fn unsupported_patch() -> Self {
        Self::new(415, "UnsupportedMediaType", "415: Unsupported Media Type").with_details(json!({}))
    }

    pub(crate) fn unread_body() -> Self {
        Self::bad_request("the body of the request could not be read")
    }

    pub(crate) fn too_large_body(limit: usize) -> Self {
        let message = format!("Request entity too large: limit is {limit}");
        Self::new(413, "RequestEntityTooLarge", message)
    }

    pub(crate) fn too_many_operations(max: usize, given: usize) -> Self {
        let message = format!(
            "Request entity too large: The allowed maximum operations in a JSON patch is {max}, got {given}"
        );
        Self::new(413, "RequestEntityTooLarge", message)
    }

    /// What etcd, or the client of it, says to an object of so many bytes.
    pub(crate) fn too_large_object(bytes: usize) -> Self {
        const MESSAGE: usize = 2 * 1024 * 1024;
        Self::internal(match bytes {
            ..=MESSAGE => "etcdserver: request is too large".to_owned(),
            _ => format!(
                "rpc error: code = ResourceExhausted desc = trying to send message larger than max ({bytes} vs. {MESSAGE})"
            ),
        })
    }

    /// An internal error without a reason: what a real server makes of an error it did not expect.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    /// An internal error with its reason, such as that of admission.
    pub(crate) fn internal_error(why: impl fmt::Display) -> Self {
        let details = json!({"causes": [{"message": why.to_string()}]});
        let message = format!("Internal error occurred: {why}");
        Self::new(500, "InternalError", message).with_details(details)
    }

    pub(crate) fn invalid(group: &str, kind: &str, name: &str, causes: &[Cause]) -> Self {
        let mut texts: Vec<_> = causes
            .iter()
            .map(|c| format!("{}: {}", c.field, c.message))
            .collect();
        let mut seen = HashSet::new();
        texts.retain(|text| seen.insert(text.clone()));
        let text = if texts.len() == 1 {
            texts[0].clone()
        } else {
            format!("[{}]", texts.join(", "))
        };
        let qualified = if group.is_empty() {
            kind.to_owned()
        } else {
            format!("{kind}.{group}")
        };
        let causes: Vec<_> = causes
            .iter()
            .map(|c| json!({"reason": c.reason, "message": c.message, "field": c.field}))
            .collect();
        let mut details = json!({"causes": causes});
        if !kind.is_empty() {
            details["kind"] = kind.into();
        }
        if !group.is_empty() {
            details["group"] = group.into();
        }
        if !name.is_empty() {
            details["name"] = name.into();
        }
        Self::new(
            422,
            "Invalid",
            format!("{qualified} \"{name}\" is invalid: {text}"),
        )
        .with_details(details)
    }

    /// A patch that makes an object one that cannot be decoded. A real server quotes the object, which may be secret.
    pub(crate) fn misfit_patch(error: &str) -> Self {
        let cause = Cause::invalid("patch", "{}", error);
        Self::invalid("", "", "", &[cause])
    }

    pub(crate) fn unprocessable() -> Self {
        let message = "the server rejected our request due to an error in our request";
        Self::new(422, "Invalid", message).with_details(json!({}))
    }

    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    pub(crate) fn too_old(asked: u64, oldest: u64) -> Self {
        Self::expired(format!("too old resource version: {asked} ({oldest})"))
    }

    /// An expired continue token; `rest` goes on with the list, inconsistently.
    pub(crate) fn expired_continue(rest: String) -> Self {
        let message = "The provided continue parameter is too old to display a consistent list result. You can start \
             a new list without the continue parameter, or use the continue token in this response to retrieve the \
             remainder of the results. Continuing with the provided token results in an inconsistent list - objects \
             that were created, modified, or deleted between the time the first chunk was returned and now may show \
             up in the list.";
        Self {
            continue_token: Some(rest),
            ..Self::expired(message)
        }
    }

    pub(crate) fn too_large_resource_version(asked: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
        Self::new(504, "Timeout", message).with_details(json!({
            "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
            "retryAfterSeconds": 1,
        }))
    }
}

/// One reason why an object or its options are invalid.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Cause {
    pub(crate) field: Cow<'static, str>,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
}

impl Cause {
    pub(crate) fn forbidden(field: impl Into<Cow<'static, str>>, why: &str) -> Self {
        Self {
            field: field.into(),
            reason: "FieldValueForbidden",
            message: format!("Forbidden: {why}"),
        }
    }

    pub(crate) fn required(field: impl Into<Cow<'static, str>>, why: &str) -> Self {
        Self {
            field: field.into(),
            reason: "FieldValueRequired",
            message: match why {
                "" => "Required value".into(),
                why => format!("Required value: {why}"),
            },
        }
    }

    pub(crate) fn too_long(field: impl Into<Cow<'static, str>>, max: usize) -> Self {
        Self {
            field: field.into(),
            reason: "FieldValueTooLong",
            message: format!("Too long: may not be more than {max} bytes"),
        }
    }

    /// `value` is shown as it is: quote it if it is a string.
    pub(crate) fn invalid(field: impl Into<Cow<'static, str>>, value: impl fmt::Display, why: &str) -> Self {
        Self {
            field: field.into(),
            reason: "FieldValueInvalid",
            message: match why {
                "" => format!("Invalid value: {value}"),
                why => format!("Invalid value: {value}: {why}"),
            },
        }
    }

    pub(crate) fn too_many(field: impl Into<Cow<'static, str>>, found: usize, max: usize) -> Self {
        Self {
            field: field.into(),
            reason: "FieldValueTooMany",
            message: format!("Too many: {found}: must have at most {max} items"),
        }
    }

    /// `value` is shown as it is: quote it if it is a string.
    pub(crate) fn not_found(field: impl Into<Cow<'static, str>>, value: impl fmt::Display) -> Self {
        Self {
            field: field.into(),
            reason: "FieldValueNotFound",
            message: format!("Not found: {value}"),
        }
    }

    pub(crate) fn internal(field: impl Into<Cow<'static, str>>, why: &str) -> Self {
        Self {
            field: field.into(),
            reason: "InternalError",
            message: format!("Internal error: {why}"),
        }
    }

    /// A cause that shows no value.
    pub(crate) fn invalid_alone(field: impl Into<Cow<'static, str>>, why: &str) -> Self {
        Self {
            field: field.into(),
            reason: "FieldValueInvalid",
            message: format!("Invalid value: {why}"),
        }
    }

    pub(crate) fn duplicate(field: impl Into<Cow<'static, str>>, value: &Value) -> Self {
        Self::duplicate_shown(field, &shown(value))
    }

    /// `value` is shown as it is: quote it if it is a string.
    pub(crate) fn duplicate_shown(field: impl Into<Cow<'static, str>>, value: &str) -> Self {
        Self {
            field: field.into(),
            reason: "FieldValueDuplicate",
            message: format!("Duplicate value: {value}"),
        }
    }

    /// `value` is shown as it is: quote it if it is a string.
    pub(crate) fn unsupported(
        field: impl Into<Cow<'static, str>>,
        value: impl fmt::Display,
        supported: &str,
    ) -> Self {
        let message = format!("Unsupported value: {value}: supported values: {supported}");
        Self {
            field: field.into(),
            reason: "FieldValueNotSupported",
            message,
        }
    }
}

/// A value as Go shows it in the reason why it is refused.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        other => go_json(&crate::number::normal(other.clone())),
    }
}

/// JSON as Go writes it: `<`, `>` and `&` are escaped.
pub(crate) fn go_json(value: &Value) -> String {
    let json = value.to_string();
    if !json.contains(['<', '>', '&', '\u{2028}', '\u{2029}']) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 10);
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// What Go calls a value in JSON.
pub(crate) fn go_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// What Go says of a value that is not of the type of a field; null is of any.
pub(crate) fn misfit(value: &Value, field: &str, go_type: &str) -> Option<String> {
    let fits = match go_type {
        "int32" => value.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
        "int64" => value.is_i64(),
        "bool" => value.is_boolean(),
        list if list.starts_with("[]") => value.is_array(),
        "string" | "types.UID" | "v1.DeletionPropagation" => value.is_string(),
        text if text.ends_with(".PatchType") => value.is_string(),
        _ => value.is_object(),
    };
    if fits || value.is_null() {
        return None;
    }
    // Go shows a number only where it is the wrong one.
    let found = match value {
        Value::Number(number) if matches!(go_type, "int32" | "int64") => format!("number {number}"),
        value => go_kind(value).to_owned(),
    };
    Some(format!(
        "json: cannot unmarshal {found} into Go struct field {field} of type {go_type}"
    ))
}

/// What a real server says of a kind that it does not know.
pub(crate) fn unregistered(kind: &str, version: &str) -> String {
    format!(
        "no kind \"{kind}\" is registered for version \"{version}\" in scheme \"pkg/runtime/scheme.go:111\""
    )
}

/// How many bytes the causes of an answer may have before no more are told: a body of nothing but faults would be answered with
/// gigabytes.
const MAX_TOLD: usize = 1 << 20;

/// Causes, as far as there is room for them in an answer.
#[derive(Default)]
pub(crate) struct Told {
    causes: Vec<Cause>,
    bytes: usize,
}

impl Told {
    /// Whether nothing else will be told: what could only find more causes need not look for them.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes >= MAX_TOLD
    }

    pub(crate) fn push(&mut self, cause: Cause) {
        if !self.is_full() {
            // Also what is around it takes room.
            self.bytes += size_of::<Cause>() + cause.field.len() + cause.message.len();
            self.causes.push(cause);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.causes.is_empty()
    }

    pub(crate) fn into_vec(self) -> Vec<Cause> {
        self.causes
    }
}

impl Extend<Cause> for Told {
    fn extend<T: IntoIterator<Item = Cause>>(&mut self, causes: T) {
        for cause in causes {
            if self.is_full() {
                break;
            }
            self.push(cause);
        }
    }
}

/// A text in quotes, as Go escapes it.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(c),
            c if c.is_ascii() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if c.is_control() || c.is_whitespace() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

impl fmt::Display for StatusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.reason {
            "" => write!(f, "{} (code {})", self.message, self.code),
            reason => write!(f, "{} ({reason}, code {})", self.message, self.code),
        }
    }
}

impl std::error::Error for StatusError {}
