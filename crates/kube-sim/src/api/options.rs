//! The options of LIST and WATCH: what the query says, checked as a real server checks it.

use std::collections::HashMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::meta::faults;
use crate::status::{Cause, StatusError, Told};

/// The parameters of a query; of a repeated one the first counts.
#[derive(Debug, Default)]
pub(crate) struct Query(HashMap<String, String>);

impl Query {
    pub(crate) fn of(pairs: &[(String, String)]) -> Self {
        let mut parameters = HashMap::new();
        for (name, value) in pairs {
            parameters.entry(name.clone()).or_insert_with(|| value.clone());
        }
        Self(parameters)
    }

    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// What is given, even if it is empty.
    pub(crate) fn given(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Anything that is given counts as true, except what says no.
    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        let value = self.0.get(name)?;
        Some(!matches!(value.to_ascii_lowercase().as_str(), "0" | "false"))
    }

    pub(crate) fn number(&self, name: &str) -> Result<Option<i64>, StatusError> {
        match self.given(name) {
            None => Ok(None),
            Some(text) => text.parse().map(Some).map_err(|error: std::num::ParseIntError| {
                use std::num::IntErrorKind::{NegOverflow, PosOverflow};
                let why = match error.kind() {
                    PosOverflow | NegOverflow => "value out of range",
                    _ => "invalid syntax",
                };
                StatusError::bad_request(format!("strconv.ParseInt: parsing \"{text}\": {why}"))
            }),
        }
    }
}

/// What `resourceVersion` and `resourceVersionMatch` ask of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// The newest state.
    Newest,
    /// Any state, whole: a limit is ignored.
    Any,
    /// The newest state, once the server has reached this resource version.
    NotOlderThan(u64),
    /// The state at exactly this resource version.
    Exact(u64),
}

#[derive(Debug)]
pub(crate) struct ListOptions {
    pub(crate) freshness: Freshness,
    pub(crate) limit: Option<usize>,
    pub(crate) token: Option<Continue>,
}

/// Where a watch begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// After this resource version.
    After(u64),
    /// With the present objects as ADDED events.
    Present,
    /// With the present objects, not older than this, then the bookmark that ends them.
    Initial(u64),
    /// With what changes from now on.
    Now,
}

#[derive(Debug)]
pub(crate) struct WatchOptions {
    pub(crate) start: Start,
    pub(crate) bookmarks: bool,
    pub(crate) timeout: Option<Duration>,
}

/// The place where a list goes on; clients see it as an opaque token, in a real server's format.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Continue {
    v: String,
    /// The resource version of the list; -1 to go on with the newest state.
    pub(crate) rv: i64,
    start: String,
}

impl Continue {
    /// Goes on after `key`, which starts with `prefix`.
    pub(crate) fn after(key: &str, prefix: &str, rv: i64) -> Self {
        // As a real server has it; nobody but the server should care.
        let slash = if rv == -1 { "" } else { "/" };
        let start = format!("{slash}{}\0", key.strip_prefix(prefix).unwrap_or(key));
        Self {
            v: "meta.k8s.io/v1".into(),
            rv,
            start,
        }
    }

    /// The answer when the list's state is forgotten: how to go on without it.
    pub(crate) fn expired(&self, prefix: &str) -> StatusError {
        StatusError::expired_continue(Self::after(&self.key(prefix), prefix, -1).encode())
    }

    /// The key after which the list goes on.
    pub(crate) fn key(&self, prefix: &str) -> String {
        format!(
            "{prefix}{}",
            self.start.trim_start_matches('/').trim_end_matches('\0')
        )
    }

    pub(crate) fn encode(&self) -> String {
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).expect("strings and a number serialize"))
    }

    fn decode(token: &str) -> Result<Self, StatusError> {
        let invalid = |why: &str| StatusError::bad_request(format!("invalid continue token: {why}"));
        let bytes = URL_SAFE_NO_PAD
            .decode(token.trim_end_matches('='))
            .map_err(|error| invalid(&format!("continue key is not valid: {}", illegal(token, error))))?;
        let decoded: Self = serde_json::from_slice(&bytes)
            .map_err(|error| invalid(&format!("continue key is not valid: {error}")))?;
        match decoded.v.as_str() {
            "meta.k8s.io/v1" if decoded.rv != 0 => Ok(decoded),
            "meta.k8s.io/v1" => Err(invalid(
                "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
            )),
            other => Err(invalid(&format!(
                "server does not recognize this encoded version \"{other}\""
            ))),
        }
    }
}

/// What a real server says about a text that is not base64.
fn illegal(token: &str, error: base64::DecodeError) -> String {
    let at = match error {
        base64::DecodeError::InvalidByte(at, _) | base64::DecodeError::InvalidLastSymbol(at, _) => at,
        _ => token.len().saturating_sub(1),
    };
    format!("illegal base64 data at input byte {at}")
}

fn invalid_options(causes: &[Cause]) -> StatusError {
    StatusError::invalid("meta.k8s.io", "ListOptions", "", causes)
}

const MATCH: &str = "resourceVersionMatch";

impl ListOptions {
    pub(crate) fn parse(query: &Query) -> Result<Self, StatusError> {
        query.number("timeoutSeconds")?;
        let limit = query.number("limit")?;
        let (version, matching, token) = (
            query.get("resourceVersion"),
            query.get(MATCH),
            query.get("continue"),
        );
        let mut causes = Vec::new();
        if query.flag("sendInitialEvents").is_some() {
            causes.push(Cause::forbidden(
                "sendInitialEvents",
                "sendInitialEvents is forbidden for list",
            ));
        }
        if !matching.is_empty() {
            check_match(&mut causes, version, matching, token);
        }
        if !causes.is_empty() {
            return Err(invalid_options(&causes));
        }
        let token = match token {
            "" => None,
            token => Some(Continue::decode(token)?),
        };
        if token.is_some() && !matches!(version, "" | "0") {
            let message = "specifying resource version is not allowed when using continue";
            return Err(StatusError::bad_request(message));
        }
        let version = parse_version(version)
            .map_err(|why| StatusError::bad_request(format!("invalid resource version: {why}")))?;
        let limit = limit.filter(|n| *n > 0).map(|n| n as usize);
        let freshness = match version {
            None => Freshness::Newest,
            Some(0) => Freshness::Any,
            // A limit without a match means what it meant before there were matches.
            Some(version) if matching == "Exact" || (matching.is_empty() && limit.is_some()) => {
                Freshness::Exact(version)
            }
            Some(version) => Freshness::NotOlderThan(version),
        };
        Ok(Self {
            freshness,
            limit,
            token,
        })
    }
}

fn check_match(causes: &mut Vec<Cause>, version: &str, matching: &str, token: &str) {
    if version.is_empty() {
        causes.push(Cause::forbidden(
            MATCH,
            "resourceVersionMatch is forbidden unless resourceVersion is provided",
        ));
    }
    if !token.is_empty() {
        causes.push(Cause::forbidden(
            MATCH,
            "resourceVersionMatch is forbidden when continue is provided",
        ));
    }
    if !matches!(matching, "Exact" | "NotOlderThan") {
        let supported = "\"Exact\", \"NotOlderThan\", \"\"";
        causes.push(Cause::unsupported(
            MATCH,
            format_args!("\"{matching}\""),
            supported,
        ));
    }
    if matching == "Exact" && version == "0" {
        let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
        causes.push(Cause::forbidden(MATCH, why));
    }
}

impl WatchOptions {
    pub(crate) fn parse(query: &Query) -> Result<Self, StatusError> {
        let timeout = query.number("timeoutSeconds")?;
        let initial = query.flag("sendInitialEvents");
        let matching = query.get(MATCH);
        check_watch(initial, matching, query.get("continue"))?;
        // A real server answers 500 here, without a reason.
        let version = parse_version(query.get("resourceVersion"))
            .map_err(StatusError::internal)?
            .unwrap_or(0);
        let start = match (initial, version) {
            (Some(true), version) => Start::Initial(version),
            (Some(false), 0) => Start::Now,
            (None, 0) => Start::Present,
            (_, version) => Start::After(version),
        };
        let timeout = timeout.map(nanoseconds).filter(|nanoseconds| *nanoseconds != 0);
        let timeout =
            timeout.map(|nanoseconds| Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0)));
        Ok(Self {
            start,
            bookmarks: query.flag("allowWatchBookmarks") == Some(true),
            timeout,
        })
    }
}

/// As a real server counts: 64 bits of nanoseconds are 292 years, more than that wraps; what is negative is over at once.
fn nanoseconds(seconds: i64) -> i64 {
    seconds.wrapping_mul(1_000_000_000)
}

fn check_watch(initial: Option<bool>, matching: &str, token: &str) -> Result<(), StatusError> {
    let mut causes = Vec::new();
    if initial.is_some() && matching != "NotOlderThan" {
        let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        causes.push(Cause::forbidden(MATCH, why));
    }
    if initial.is_none() && !matching.is_empty() {
        let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
        causes.push(Cause::forbidden(MATCH, why));
    }
    if !matches!(matching, "" | "NotOlderThan") {
        let supported = "\"NotOlderThan\"";
        causes.push(Cause::unsupported(
            MATCH,
            format_args!("\"{matching}\""),
            supported,
        ));
    }
    if !token.is_empty() {
        causes.push(Cause::forbidden(
            MATCH,
            "resourceVersionMatch is forbidden when continue is provided",
        ));
    }
    if causes.is_empty() {
        Ok(())
    } else {
        Err(invalid_options(&causes))
    }
}

/// The version that an object to be got must have reached.
pub(crate) fn minimum(query: &Query) -> Result<u64, StatusError> {
    let version = parse_version(query.get("resourceVersion")).map_err(StatusError::internal)?;
    Ok(version.unwrap_or(0))
}

/// What a write may say about itself; `kind` is that of its options, such as `CreateOptions`.
pub(crate) fn check_write(query: &Query, kind: &str) -> Result<(), StatusError> {
    let mut causes = Vec::new();
    if kind == "PatchOptions" && query.flag("force").is_some() {
        causes.push(Cause::forbidden(
            "force",
            "may not be specified for non-apply patch",
        ));
    }
    check_common(query, kind, causes)
}

/// The same for server-side apply, which names its manager.
pub(crate) fn check_apply(query: &Query) -> Result<(), StatusError> {
    let mut causes = Vec::new();
    if query.get("fieldManager").is_empty() {
        causes.push(Cause::required("fieldManager", "is required for apply patch"));
    }
    check_common(query, "PatchOptions", causes)
}

fn check_common(query: &Query, kind: &str, mut causes: Vec<Cause>) -> Result<(), StatusError> {
    let mut of_manager = Told::default();
    faults::of_manager(query.get("fieldManager"), "fieldManager", &mut of_manager);
    causes.extend(of_manager.into_vec());
    if let Some(other) = query.given("dryRun").filter(|given| *given != "All") {
        causes.push(unsupported_dry_run(&json!([other])));
    }
    match query.get("fieldValidation") {
        "" | "Ignore" | "Strict" | "Warn" => {}
        other => {
            let supported = "\"\", \"Ignore\", \"Strict\", \"Warn\"";
            causes.push(Cause::unsupported(
                "fieldValidation",
                format_args!("\"{other}\""),
                supported,
            ));
        }
    }
    match causes.is_empty() {
        true => Ok(()),
        false => Err(StatusError::invalid("meta.k8s.io", kind, "", &causes)),
    }
}

/// A list of dry runs of which one is not known.
pub(crate) fn unsupported_dry_run(given: &Value) -> Cause {
    Cause::unsupported("dryRun", given, "\"All\"")
}

fn parse_version(text: &str) -> Result<Option<u64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    // Not `+5`, which Rust's parser takes.
    match text.parse() {
        Ok(version) if text.bytes().all(|b| b.is_ascii_digit()) => Ok(Some(version)),
        _ => Err(format!(
            "resourceVersion: Invalid value: \"{text}\": strconv.ParseUint: parsing \"{text}\": invalid syntax"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(query: &str) -> Query {
        let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Query::of(&pairs)
    }

    fn list(query: &str) -> Result<ListOptions, StatusError> {
        ListOptions::parse(&parsed(query))
    }

    fn watch(query: &str) -> Result<WatchOptions, StatusError> {
        WatchOptions::parse(&parsed(query))
    }

    #[test]
    fn lists_know_what_they_are_asked_for() {
        let freshness = |query| list(query).unwrap().freshness;
        assert_eq!(freshness(""), Freshness::Newest);
        assert_eq!(freshness("resourceVersion=0&limit=5"), Freshness::Any);
        assert_eq!(freshness("resourceVersion=7"), Freshness::NotOlderThan(7));
        assert_eq!(freshness("resourceVersion=7&limit=5"), Freshness::Exact(7));
        assert_eq!(
            freshness("resourceVersion=7&limit=5&resourceVersionMatch=NotOlderThan"),
            Freshness::NotOlderThan(7)
        );
        assert_eq!(
            freshness("resourceVersion=7&resourceVersionMatch=Exact"),
            Freshness::Exact(7)
        );
        assert_eq!(list("limit=-1").unwrap().limit, None);
    }

    #[test]
    fn watches_know_where_they_begin() {
        let start = |query: &str| watch(query).unwrap().start;
        assert_eq!(start(""), Start::Present);
        assert_eq!(start("resourceVersion=0"), Start::Present);
        assert_eq!(start("resourceVersion=7"), Start::After(7));
        let initial = "resourceVersionMatch=NotOlderThan&sendInitialEvents";
        assert_eq!(start(&format!("{initial}=true")), Start::Initial(0));
        assert_eq!(
            start(&format!("{initial}=true&resourceVersion=7")),
            Start::Initial(7)
        );
        assert_eq!(start(&format!("{initial}=false")), Start::Now);
        assert_eq!(
            start(&format!("{initial}=false&resourceVersion=7")),
            Start::After(7)
        );
    }

    #[test]
    fn continue_tokens_are_a_real_servers() {
        let token = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MjY4LCJzdGFydCI6Ii9xYTFcdTAwMDAifQ";
        let decoded = Continue::decode(token).unwrap();
        assert_eq!(
            (decoded.rv, decoded.key("default/").as_str()),
            (268, "default/qa1")
        );
        assert_eq!(Continue::after("default/qa1", "default/", 268).encode(), token);
        for bad in ["abc", "", "e30", "bnVsbA", "eyJ2IjoieCIsInJ2IjoxLCJzdGFydCI6IiJ9"] {
            assert_eq!(Continue::decode(bad).unwrap_err().code(), 400, "{bad}");
        }
    }

    /// Codes and messages are a real server's.
    #[test]
    fn contradictions_are_refused() {
        for (query, code) in [
            ("limit=abc", 400),
            ("resourceVersion=abc", 400),
            ("resourceVersion=-1", 400),
            ("resourceVersion=%2B1", 400),
            ("resourceVersionMatch=Exact", 422),
            ("resourceVersionMatch=Foo&resourceVersion=1", 422),
            ("resourceVersion=0&resourceVersionMatch=Exact", 422),
            ("sendInitialEvents=true", 422),
        ] {
            assert_eq!(list(query).unwrap_err().code(), code, "{query}");
        }
        for (query, code) in [
            ("timeoutSeconds=x", 400),
            ("resourceVersion=abc", 500),
            ("sendInitialEvents=true", 422),
            ("resourceVersionMatch=NotOlderThan", 422),
            ("continue=abc", 422),
        ] {
            assert_eq!(watch(query).unwrap_err().code(), code, "{query}");
        }
        let message = "ListOptions.meta.k8s.io \"\" is invalid: [resourceVersionMatch: Forbidden: sendInitialEvents \
             requires setting resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: \
             \"Exact\": supported values: \"NotOlderThan\"]";
        assert_eq!(
            watch("sendInitialEvents=true&resourceVersionMatch=Exact")
                .unwrap_err()
                .message(),
            message
        );
    }
}
