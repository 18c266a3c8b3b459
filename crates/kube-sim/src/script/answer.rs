//! The responses of a script.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use http::{HeaderName, HeaderValue, Response, StatusCode, header::CONTENT_TYPE};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use serde::Serialize;
use serde_json::{Value, json};

use crate::response::SimBody;

/// A script's response to one request.
///
/// An answer is made by one of the constructors and then extended: every [`chunk`](Self::chunk) is one chunk of the
/// body, every [`pause`](Self::pause) is time that passes, and [`close`](Self::close), [`open`](Self::open) or
/// [`broken`](Self::broken) says what follows the last chunk.
///
/// ```
/// use kube_sim::script::{Answer, Kind, event};
/// use std::time::Duration;
///
/// let pods = Kind::new("v1", "Pod");
/// let pod = event("ADDED", &pods.object("shop/web-0", "8"));
/// let (half, rest) = pod.split_at(30);
///
/// // An event in two chunks, a second apart; then a bookmark, half an event, and the connection breaks.
/// let watch = Answer::watch([half])
///     .pause(Duration::from_secs(1))
///     .chunk(rest.to_owned())
///     .chunk(pods.bookmark("9"))
///     .chunk(half.to_owned())
///     .broken();
/// // Later, perhaps.
/// let throttled = Answer::status(429, "TooManyRequests", "slow down").header("retry-after", "7");
/// # drop((watch, throttled));
/// ```
#[derive(Debug, Clone)]
#[must_use = "an answer does nothing until it is part of a script"]
pub struct Answer(Kept);

#[derive(Debug, Clone)]
enum Kept {
    Refused,
    Never,
    Response {
        delay: Duration,
        code: u16,
        headers: Vec<(HeaderName, HeaderValue)>,
        parts: Vec<Part>,
        end: End,
    },
}

#[derive(Debug, Clone)]
enum Part {
    Chunk(Bytes),
    Pause(Duration),
}

#[derive(Debug, Clone, Copy)]
enum End {
    Close,
    Open,
    Broken,
}

impl Answer {
    /// No connection: the request fails with [`io::ErrorKind::ConnectionRefused`]. Behind a socket, where the
    /// connection is made already, it closes without an answer.
    pub fn refused() -> Self {
        Self(Kept::Refused)
    }

    /// Never responds.
    pub fn never() -> Self {
        Self(Kept::Never)
    }

    /// An empty response with this status code and no content type.
    pub fn code(code: u16) -> Self {
        Self(Kept::Response {
            delay: Duration::ZERO,
            code,
            headers: Vec::new(),
            parts: Vec::new(),
            end: End::Close,
        })
    }

    /// A body of JSON, with code 200.
    pub fn json(body: impl Into<Bytes>) -> Self {
        Self::code(200)
            .header(CONTENT_TYPE.as_str(), "application/json")
            .chunk(body)
    }

    /// A [`Status`](status) of the API, with its code.
    pub fn status(code: u16, reason: &str, message: &str) -> Self {
        Self::status_body(code, &status(code, reason, message))
    }

    /// A response with the given `Status`.
    pub fn status_body(code: u16, status: &Value) -> Self {
        Self::code(code)
            .header(CONTENT_TYPE.as_str(), "application/json")
            .chunk(status.to_string())
    }

    /// A watch: code 200, each frame a chunk. It stays [open](Self::open) unless something else is said.
    pub fn watch(frames: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let answer = Self::code(200)
            .header(CONTENT_TYPE.as_str(), "application/json")
            .open();
        frames
            .into_iter()
            .fold(answer, |answer, frame| answer.chunk(frame.into()))
    }

    /// With this header, in place of an earlier one of that name.
    ///
    /// # Panics
    /// The name or the value cannot be those of a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Kept::Response { headers, .. } = &mut self.0 {
            let name: HeaderName = name.parse().expect("the name of a header");
            headers.retain(|(other, _)| *other != name);
            headers.push((name, value.parse().expect("the value of a header")));
        }
        self
    }

    /// The head of the answer comes only after this time.
    pub fn delayed(mut self, time: Duration) -> Self {
        if let Kept::Response { delay, .. } = &mut self.0 {
            *delay = time;
        }
        self
    }

    /// Then this chunk of the body.
    pub fn chunk(self, bytes: impl Into<Bytes>) -> Self {
        self.part(Part::Chunk(bytes.into()))
    }

    /// Then this piece of the body, in chunks of `size` bytes.
    pub fn in_chunks_of(self, size: usize, bytes: impl Into<Bytes>) -> Self {
        let bytes: Bytes = bytes.into();
        let chunks = (0..bytes.len()).step_by(size.max(1));
        chunks.fold(self, |answer, at| {
            answer.chunk(bytes.slice(at..bytes.len().min(at + size)))
        })
    }

    /// Then nothing for this time.
    pub fn pause(self, time: Duration) -> Self {
        self.part(Part::Pause(time))
    }

    /// After the last chunk, the body ends as it should.
    pub fn close(self) -> Self {
        self.end(End::Close)
    }

    /// After the last chunk, nothing more comes, and the body does not end.
    pub fn open(self) -> Self {
        self.end(End::Open)
    }

    /// After the last chunk, the connection breaks: the body fails with [`io::ErrorKind::ConnectionReset`].
    pub fn broken(self) -> Self {
        self.end(End::Broken)
    }

    fn part(mut self, part: Part) -> Self {
        if let Kept::Response { parts, .. } = &mut self.0 {
            parts.push(part);
        }
        self
    }

    fn end(mut self, how: End) -> Self {
        if let Kept::Response { end, .. } = &mut self.0 {
            *end = how;
        }
        self
    }

    /// Gives the answer.
    pub(crate) async fn give(self) -> io::Result<Response<SimBody>> {
        let (delay, code, headers, parts, end) = match self.0 {
            Kept::Refused => return Err(io::ErrorKind::ConnectionRefused.into()),
            Kept::Never => return std::future::pending().await,
            Kept::Response {
                delay,
                code,
                headers,
                parts,
                end,
            } => (delay, code, headers, parts, end),
        };
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        let parts = stream::iter(parts).filter_map(|part| async {
            match part {
                Part::Chunk(bytes) => Some(Ok(Frame::data(bytes))),
                Part::Pause(time) => {
                    tokio::time::sleep(time).await;
                    None
                }
            }
        });
        let end = stream::once(async move {
            match end {
                End::Close => None,
                End::Open => std::future::pending().await,
                End::Broken => {
                    // Lets a connection send what came before.
                    tokio::task::yield_now().await;
                    Some(Err(io::Error::from(io::ErrorKind::ConnectionReset).into()))
                }
            }
        });
        let body = StreamBody::new(parts.chain(end.filter_map(|end| async { end })));
        let mut response = Response::new(body.boxed_unsync());
        *response.status_mut() = StatusCode::from_u16(code).map_err(io::Error::other)?;
        response.headers_mut().extend(headers);
        Ok(response)
    }
}

/// One event of a watch, with its end of line.
///
/// ```
/// let frame = kube_sim::script::event("DELETED", &serde_json::json!({"a": 1}));
/// assert_eq!(frame, "{\"type\":\"DELETED\",\"object\":{\"a\":1}}\n");
/// ```
pub fn event(kind: &str, object: &impl Serialize) -> String {
    #[derive(Serialize)]
    struct Event<'a, T> {
        r#type: &'a str,
        object: &'a T,
    }
    let event = Event { r#type: kind, object };
    serde_json::to_string(&event).expect("an object that can be written as JSON") + "\n"
}

/// A `Status` that says no. As the object of an event `ERROR` it ends a watch.
///
/// ```
/// use kube_sim::script::{event, status};
/// let frame = event("ERROR", &status(410, "Expired", "too old resource version: 5 (90)"));
/// assert!(frame.contains(r#""code":410"#));
/// ```
pub fn status(code: u16, reason: &str, message: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code})
}

/// A kind of objects, to make bodies of.
///
/// ```
/// use kube_sim::script::Kind;
///
/// let nodes = Kind::new("v1", "Node");
/// let node = nodes.object("n1", "5");
/// assert_eq!(node["metadata"]["uid"], "n1");
/// let list = nodes.list("9", [node]);
/// assert!(list.starts_with(r#"{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[{"#));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    api_version: String,
    kind: String,
}

impl Kind {
    /// The kind of this name, such as `ConfigMap` of `v1`.
    pub fn new(api_version: &str, kind: &str) -> Self {
        Self {
            api_version: api_version.into(),
            kind: kind.into(),
        }
    }

    /// An object under a key, `namespace/name` or `name`, at a version. Its uid is the key, unless the name says
    /// otherwise: `ns/a#2` is `ns/a` with uid `ns/a#2`.
    pub fn object(&self, key: &str, version: &str) -> Value {
        let place = key.split('#').next().unwrap_or(key);
        let mut metadata = json!({"name": place, "uid": key, "resourceVersion": version});
        if let Some((namespace, name)) = place.split_once('/') {
            metadata["namespace"] = namespace.into();
            metadata["name"] = name.into();
        }
        json!({"kind": self.kind, "apiVersion": self.api_version, "metadata": metadata})
    }

    /// The body of a list.
    pub fn list(&self, version: &str, items: impl IntoIterator<Item = impl Serialize>) -> String {
        self.list_of(&json!({"resourceVersion": version}), items)
    }

    /// The body of a page of a list, with the token of the next one.
    pub fn page(&self, version: &str, items: impl IntoIterator<Item = impl Serialize>, next: &str) -> String {
        self.list_of(&json!({"resourceVersion": version, "continue": next}), items)
    }

    /// The body of a list with metadata of one's own making.
    pub fn list_of(&self, metadata: &Value, items: impl IntoIterator<Item = impl Serialize>) -> String {
        let item = |item| serde_json::to_string(&item).expect("an object that can be written as JSON");
        let items: Vec<_> = items.into_iter().map(item).collect();
        let (kind, api_version) = (format!("{}List", self.kind), &self.api_version);
        format!(
            r#"{{"kind":{},"apiVersion":{},"metadata":{metadata},"items":[{}]}}"#,
            Value::from(kind),
            Value::from(api_version.as_str()),
            items.join(",")
        )
    }

    /// A bookmark.
    pub fn bookmark(&self, version: &str) -> String {
        event(
            "BOOKMARK",
            &json!({"kind": self.kind, "apiVersion": self.api_version,
            "metadata": {"resourceVersion": version, "creationTimestamp": null}}),
        )
    }

    /// The bookmark that ends the initial events of a streaming list.
    pub fn initial_events_end(&self, version: &str) -> String {
        event(
            "BOOKMARK",
            &json!({"kind": self.kind, "apiVersion": self.api_version,
            "metadata": {"resourceVersion": version, "creationTimestamp": null,
                "annotations": {"k8s.io/initial-events-end": "true"}}}),
        )
    }
}
