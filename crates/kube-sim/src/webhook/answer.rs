//! What a webhook has answered, read as Go's client reads it, in its words.

use bytes::Bytes;
use serde_json::Value;

use crate::status::{go_kind, misfit, quoted};
use crate::{nesting, yaml};

/// How much of an answer is shown.
const MOST_SHOWN: usize = 2048;

/// An answer, whatever it is.
pub(crate) struct Answer {
    pub(super) code: u16,
    /// Its content type; none if it has none.
    pub(super) media: Option<String>,
    pub(super) body: Bytes,
}

/// What a webhook is to answer.
pub(crate) struct Review<'a> {
    pub(crate) group: &'a str,
    pub(crate) version: &'a str,
    pub(crate) kind: &'a str,
    /// The fields that have a type of their own.
    pub(crate) fields: &'a [Field],
}

/// A field of an answer with its type in Go.
pub(crate) struct Field {
    pointer: &'static str,
    within: &'static str,
    /// `{version}` stands for that of the review.
    go_type: &'static str,
}

impl Field {
    pub(crate) const fn new(pointer: &'static str, within: &'static str, go_type: &'static str) -> Self {
        Self {
            pointer,
            within,
            go_type,
        }
    }

    /// Why a review cannot be read: the field has another type.
    fn fault(&self, review: &Value, version: &str) -> Option<String> {
        let value = review.pointer(self.pointer)?;
        let path = self.pointer[1..].replace('/', ".");
        let field = format!("{}.{path}", self.within);
        misfit(value, &field, &self.go_type.replace("{version}", version))
    }
}

impl Review<'_> {
    pub(crate) fn api_version(&self) -> String {
        format!("{}/{}", self.group, self.version)
    }

    /// That a webhook has said that it sends this.
    ///
    /// # Errors
    ///
    /// What it has said instead.
    pub(crate) fn ensure_is(&self, answer: &Value) -> Result<(), String> {
        let text = |name: &str| answer[name].as_str().unwrap_or("");
        let (given, kind) = (text("apiVersion"), text("kind"));
        let wanted = self.api_version();
        if (given, kind) == (wanted.as_str(), self.kind) {
            return Ok(());
        }
        let given = if given.contains('/') {
            given.to_owned()
        } else {
            format!("/{given}")
        };
        Err(format!(
            "expected webhook response of {wanted}, Kind={}, got {given}, Kind={kind}",
            self.kind
        ))
    }

    /// That an answer is one that can be made this. What it does not say is taken to be so.
    fn ensure_can_be(&self, answer: &Value) -> Result<(), String> {
        let text = |name: &str| answer[name].as_str().unwrap_or("");
        let kind = Some(text("kind"))
            .filter(|kind| !kind.is_empty())
            .unwrap_or(self.kind);
        let wanted = self.api_version();
        let version = Some(text("apiVersion")).filter(|version| !version.is_empty());
        let given = version.unwrap_or(&wanted);
        if (given, kind) == (wanted.as_str(), self.kind) {
            return Ok(());
        }
        let (group, short) = given.rsplit_once('/').unwrap_or(("", given));
        let is_known = match kind {
            "Status" => given == "v1" || group == self.group,
            kind => kind == self.kind && group == self.group && matches!(short, "v1" | "v1beta1"),
        };
        Err(match is_known {
            true => format!(
                "converting ({short}.{kind}) to ({}.{}): unknown conversion",
                self.version, self.kind
            ),
            false => format!(
                "no kind {} is registered for version {} in scheme \"pkg/runtime/scheme.go:111\"",
                quoted(kind),
                quoted(given)
            ),
        })
    }
}

impl Answer {
    /// The review that a webhook has answered.
    ///
    /// # Errors
    ///
    /// It has answered something else.
    pub(crate) fn review(self, review: &Review<'_>) -> Result<Value, String> {
        if !(200..=206).contains(&self.code) {
            return Err(self.refusal());
        }
        if self.body.is_empty() {
            let media = self.media.as_deref().unwrap_or("application/json");
            let code = self.code;
            return Err(format!(
                "0-length response with status code: {code} and content type: {media}"
            ));
        }
        let answer = self.decoded()?;
        review.ensure_can_be(&answer)?;
        let faults = review.fields.iter();
        match faults
            .filter_map(|field| field.fault(&answer, review.version))
            .next()
        {
            Some(fault) => Err(fault),
            None => Ok(answer),
        }
    }

    /// The answer as JSON or YAML, whatever it says that it is.
    fn decoded(&self) -> Result<Value, String> {
        let unread = |why: String| format!("couldn't get version/kind; json parse error: {why}");
        let is_json = self.body.trim_ascii_start().starts_with(b"{");
        let answer: Value = match is_json {
            true if nesting::of_json(&self.body) > nesting::COMMON => {
                return Err("the answer has too many levels".into());
            }
            true => nesting::parse(&self.body).map_err(|error| unread(error.to_string()))?,
            false => yaml::read(&self.body)?.0,
        };
        match &answer {
            Value::Object(members) => {
                let names = ["apiVersion", "kind"].into_iter();
                let mut others = names.filter_map(|name| Some((name, members.get(name)?)));
                match others.find(|(_, value)| !value.is_string() && !value.is_null()) {
                    Some((name, value)) => Err(unread(format!(
                        "json: cannot unmarshal {} into Go struct field .{name} of type string",
                        go_kind(value)
                    ))),
                    None => Ok(answer),
                }
            }
            Value::Null => Ok(answer),
            other => Err(unread(format!(
                "json: cannot unmarshal {} into Go value of type struct {{ APIVersion string \
                 \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}",
                go_kind(other)
            ))),
        }
    }

    /// What a refusal says: the status in it, or what its code means.
    fn refusal(&self) -> String {
        if let Ok(status) = self.decoded() {
            let is = |name: &str, wanted: &str| status.get(name).is_none_or(|given| *given == *wanted);
            if status["status"] == "Failure" && is("kind", "Status") && is("apiVersion", "v1") {
                return status["message"].as_str().unwrap_or("").to_owned();
            }
        }
        let media = self.media.as_deref();
        let said = match media.is_none_or(|media| media.trim_start().starts_with("text/")) {
            true => String::from_utf8_lossy(&self.body[..self.body.len().min(MOST_SHOWN)])
                .trim()
                .to_owned(),
            false => "unknown".to_owned(),
        };
        meaning(self.code, said)
    }
}

/// What Go makes of a status code, and of what is said with it.
fn meaning(code: u16, said: String) -> String {
    let meaning = match code {
        400 => "the server rejected our request for an unknown reason",
        401 => "the server has asked for the client to provide credentials",
        403 | 415 => return said,
        404 => "the server could not find the requested resource",
        405 => "the server does not allow this method on the requested resource",
        406 if matches!(said.as_str(), "" | "unknown") => {
            "the server was unable to respond with a content type that the client supports"
        }
        406 => return said,
        409 => "the server reported a conflict",
        422 => "the server rejected our request due to an error in our request",
        429 => "the server has received too many requests and has asked us to try again later",
        503 => "the server is currently unable to handle the request",
        504 => {
            "the server was unable to return a response in the time allotted, but may still be processing the request"
        }
        500.. => {
            let said = quoted(&said);
            return format!("an error on the server ({said}) has prevented the request from succeeding");
        }
        code => {
            return format!(
                "the server responded with the status code {code} but did not return more information"
            );
        }
    };
    meaning.to_owned()
}
