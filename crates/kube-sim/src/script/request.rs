//! Expected and received requests.

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Method, request::Parts};
use tokio::time::Instant;

/// A request that a script expects: `"GET /api/v1/pods?limit=500"` becomes one.
///
/// The order of the query's parameters is ignored; other parameters are not allowed. A value can be `*`, which stands
/// for any, or a range of numbers such as `300..=600`. Of the headers only those are compared that are named here.
///
/// ```
/// use kube_sim::script::Expected;
///
/// let watch = Expected::from("GET /api/v1/pods?watch=true&timeoutSeconds=300..=600&resourceVersion=*")
///     .header("accept", "application/json");
/// assert_eq!(watch.to_string(),
///     "GET /api/v1/pods?resourceVersion=*&timeoutSeconds=300..=600&watch=true (accept: application/json)");
/// ```
///
/// # Panics
/// Conversion from a string panics if it is not a method and a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    method: Method,
    path: String,
    query: Vec<(String, String)>,
    headers: Vec<(HeaderName, String)>,
}

impl From<&str> for Expected {
    fn from(text: &str) -> Self {
        let (method, target) = text.split_once(' ').expect("a method and a path");
        assert!(target.starts_with('/'), "{text:?} has no path");
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Self {
            method: method.parse().expect("a method"),
            path: path.to_owned(),
            query: pairs(query),
            headers: Vec::new(),
        }
    }
}

impl From<String> for Expected {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl Expected {
    /// The request must also have this header, with exactly this value.
    ///
    /// # Panics
    /// `name` is no name of a header.
    #[must_use = "this is a builder"]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        let name = name.parse().expect("the name of a header");
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn is_for(&self, received: &Received) -> bool {
        self.method == received.method && self.path == received.path
    }

    pub(super) fn matches(&self, received: &Received) -> bool {
        let queries = self.query.iter().zip(&received.query);
        let header = |(name, value): &(HeaderName, String)| {
            received
                .headers
                .get(name)
                .is_some_and(|got| got == value.as_str())
        };
        self.is_for(received)
            && self.query.len() == received.query.len()
            && queries
                .into_iter()
                .all(|(expected, got)| expected.0 == got.0 && fits(&expected.1, &got.1))
            && self.headers.iter().all(header)
    }

    /// The names of the headers that are compared.
    pub(super) fn header_names(&self) -> impl Iterator<Item = &HeaderName> {
        self.headers.iter().map(|(name, _)| name)
    }
}

/// Whether a value is what a pattern stands for.
fn fits(pattern: &str, value: &str) -> bool {
    let number = |text: &str| text.parse::<u64>().ok();
    let range = pattern
        .split_once("..=")
        .and_then(|(low, high)| Some(number(low)?..=number(high)?));
    match (range, number(value)) {
        (Some(range), Some(value)) => range.contains(&value),
        _ => pattern == "*" || pattern == value,
    }
}

/// The parameters of a query, decoded, by name.
fn pairs(query: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    pairs.sort_by(|a, b| a.0.cmp(&b.0));
    pairs
}

fn write_target(
    f: &mut fmt::Formatter<'_>,
    method: &Method,
    path: &str,
    query: &[(String, String)],
) -> fmt::Result {
    write!(f, "{method} {path}")?;
    for (number, (name, value)) in query.iter().enumerate() {
        let separator = if number == 0 { '?' } else { '&' };
        write!(f, "{separator}{name}={value}")?;
    }
    Ok(())
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_target(f, &self.method, &self.path, &self.query)?;
        self.headers
            .iter()
            .try_for_each(|(name, value)| write!(f, " ({name}: {value})"))
    }
}

/// A received request.
///
/// `Display` shows it like [`Expected`] does: `GET /api/v1/pods?limit=500`, the parameters decoded and by name.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Received {
    /// The method.
    pub method: Method,
    /// The path as it was sent.
    pub path: String,
    /// The parameters of the query, decoded, in the order of their names.
    pub query: Vec<(String, String)>,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// When it was received, by tokio's clock.
    pub at: Instant,
}

impl Received {
    pub(crate) fn new(parts: Parts, body: Bytes) -> Self {
        Self {
            method: parts.method,
            path: parts.uri.path().to_owned(),
            query: pairs(parts.uri.query().unwrap_or("")),
            headers: parts.headers,
            body,
            at: Instant::now(),
        }
    }

    /// The value of a parameter of the query.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }
}

impl fmt::Display for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_target(f, &self.method, &self.path, &self.query)
    }
}
