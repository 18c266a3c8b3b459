//! Asks one server everything, and brings its answers into a form that can be compared.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::stream::{self, StreamExt};
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::{Map, Value, json};

use crate::case::{Ask, Case, Step};
use crate::normal::Symbols;

/// How many cases run at once.
const WIDTH: usize = 8;

/// The answers to all requests, by `case: request`.
pub(crate) type Answers = BTreeMap<String, Value>;

/// A server under comparison.
pub(crate) trait Subject: Sync {
    fn client(&self) -> &kube::Client;

    /// Loses the history before a version.
    fn forget(&self, resource_version: u64) -> impl Future<Output = ()> + Send;
}

pub(crate) async fn answers(subject: &impl Subject, cases: Vec<Case>) -> Answers {
    let forgets = |case: &Case| case.steps.iter().any(|step| matches!(step, Step::Forget));
    let (alone, together): (Vec<_>, Vec<_>) = cases.into_iter().partition(forgets);
    let run = |case: Case| Run::new(subject.client().clone(), &case).case(case, subject);
    let mut answers: Vec<_> = stream::iter(together)
        .map(run)
        .buffer_unordered(WIDTH)
        .collect()
        .await;
    for case in alone {
        answers.push(run(case).await);
    }
    answers.into_iter().flatten().collect()
}

/// One case on one server.
struct Run {
    client: kube::Client,
    case: String,
    saved: BTreeMap<&'static str, String>,
    symbols: Symbols,
    answers: Vec<(String, Value)>,
}

/// An answer as it came.
struct RawObject {
    code: u16,
    headers: http::HeaderMap,
    body: Vec<u8>,
}

impl Run {
    fn new(client: kube::Client, case: &Case) -> Self {
        let saved = BTreeMap::from([("ns", case.name.clone())]);
        Self {
            client,
            case: case.name.clone(),
            saved,
            symbols: Symbols::default(),
            answers: Vec::new(),
        }
    }

    async fn case(mut self, case: Case, subject: &impl Subject) -> Vec<(String, Value)> {
        let namespace = json!({"metadata": {"name": case.name}});
        let made = send(
            &self.client,
            self.request(&crate::case::post("/api/v1/namespaces", &namespace)),
        )
        .await;
        assert_eq!(
            made.code,
            201,
            "{}: {}",
            case.name,
            String::from_utf8_lossy(&made.body)
        );
        for step in case.steps {
            match step {
                Step::Ask(ask) => self.ask(&ask).await,
                Step::Together(asks) => {
                    let requests = asks.iter().map(|ask| send(&self.client, self.request(ask)));
                    let raws = futures::future::join_all(requests).await;
                    asks.iter().zip(raws).for_each(|(ask, raw)| self.take(ask, raw));
                }
                Step::Watch { watches, meanwhile } => self.watch(&watches, &meanwhile).await,
                // Not the newest version of all: a lease that the server renews at this moment has one of its own.
                Step::Forget => subject.forget(self.saved["newest"].parse().unwrap()).await,
                Step::Until(ask, code) => self.until(&ask, |raw| raw.code == code).await,
                Step::UntilShown(ask, pointer, text) => {
                    let shows = |raw: &RawObject| {
                        let body: Option<Value> = serde_json::from_slice(&raw.body).ok();
                        body.is_some_and(|body| body.pointer(pointer).and_then(Value::as_str) == Some(text))
                    };
                    self.until(&ask, shows).await;
                }
            }
        }
        self.answers
    }

    async fn ask(&mut self, ask: &Ask) {
        let mut raw = send(&self.client, self.request(ask)).await;
        // A real server that is busy with a new definition may say so once, also after it has served the resource.
        for _ in 0..20 {
            if raw.code != 503 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
            raw = send(&self.client, self.request(ask)).await;
        }
        self.take(ask, raw);
    }

    async fn until(&mut self, ask: &Ask, is_it: impl Fn(&RawObject) -> bool) {
        for _ in 0..600 {
            if is_it(&send(&self.client, self.request(ask)).await) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let last = send(&self.client, self.request(ask)).await.code;
        panic!("{}: {}: never as expected, at last {last}", self.case, ask.name);
    }

    /// The watches are open before anything changes.
    async fn watch(&mut self, watches: &[Ask], meanwhile: &[Ask]) {
        let open = watches.iter().map(|ask| open(&self.client, self.request(ask)));
        let open = futures::future::join_all(open).await;
        let (opened, ends): (Vec<_>, Vec<_>) = open.into_iter().unzip();
        // What has been sent before the headers are read counts as open; a moment for those that answer late.
        for ask in meanwhile {
            self.ask(ask).await;
        }
        let bodies = futures::future::join_all(ends.into_iter().map(read)).await;
        for ((ask, (code, headers)), body) in watches.iter().zip(opened).zip(bodies) {
            self.take(ask, RawObject { code, headers, body });
        }
    }

    fn request(&self, ask: &Ask) -> http::Request<Body> {
        let mut request = http::Request::builder()
            .method(ask.method)
            .uri(self.fill(&ask.path))
            .header("accept", ask.accept);
        if ask.body.is_some() {
            request = request.header("content-type", ask.content_type);
        }
        if let Some((name, groups)) = &ask.user {
            request = request.header("impersonate-user", *name);
            request = groups.iter().fold(request, |request, group| {
                request.header("impersonate-group", *group)
            });
        }
        let body = self.fill(ask.body.as_deref().unwrap_or(""));
        request
            .body(body.into_bytes().into())
            .unwrap_or_else(|error| panic!("{}: {error}", ask.name))
    }

    fn fill(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, value) in &self.saved {
            text = text.replace(&format!("{{{name}}}"), value);
        }
        text
    }

    fn take(&mut self, ask: &Ask, raw: RawObject) {
        let json: Option<Value> = serde_json::from_slice(&raw.body).ok();
        for (name, pointer) in &ask.saved {
            let found = json.as_ref().and_then(|json| json.pointer(pointer)?.as_str());
            let found = found.unwrap_or_else(|| panic!("{}: {}: no {pointer}", self.case, ask.name));
            self.saved.insert(name, found.to_owned());
        }
        let body = match json {
            Some(event) if event["type"].is_string() && event["object"].is_object() => {
                self.symbols.events(vec![event])
            }
            Some(json) => self.symbols.body(json),
            None => self.events(&raw.body),
        };
        let body = match &ask.only[..] {
            [] => body,
            only => only
                .iter()
                .map(|pointer| {
                    (
                        (*pointer).to_owned(),
                        body.pointer(pointer).cloned().unwrap_or_default(),
                    )
                })
                .collect::<Map<_, _>>()
                .into(),
        };
        let mut answer = json!({"code": raw.code, "body": body});
        for header in ["content-type", "retry-after"] {
            if let Some(value) = raw.headers.get(header) {
                answer[header] = value.to_str().unwrap_or("").into();
            }
        }
        let warnings = raw.headers.get_all("warning").into_iter();
        let warnings: Vec<_> = warnings
            .map(|warning| String::from_utf8_lossy(warning.as_bytes()))
            .collect();
        if !warnings.is_empty() {
            answer["warnings"] = json!(warnings);
        }
        let name = format!("{}: {}", self.case, ask.name);
        assert!(
            self.answers.iter().all(|(other, _)| *other != name),
            "twice: {name}"
        );
        self.answers.push((name, answer));
    }

    /// The events of a watch, or a text.
    fn events(&mut self, body: &[u8]) -> Value {
        let text = String::from_utf8_lossy(body);
        let events: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
        match events {
            Ok(events) => self.symbols.events(events),
            Err(_) => text.into_owned().into(),
        }
    }
}

async fn send(client: &kube::Client, request: http::Request<Body>) -> RawObject {
    let ((code, headers), body) = open(client, request).await;
    let body = read(body).await;
    RawObject { code, headers, body }
}

async fn open(client: &kube::Client, request: http::Request<Body>) -> ((u16, http::HeaderMap), Body) {
    let what = format!("{} {}", request.method(), request.uri());
    let answer = tokio::time::timeout(Duration::from_secs(60), client.send(request)).await;
    let answer = answer.unwrap_or_else(|_| panic!("{what}: no answer"));
    let (parts, body) = answer
        .unwrap_or_else(|error| panic!("{what}: {error}"))
        .into_parts();
    ((parts.status.as_u16(), parts.headers), body)
}

async fn read(body: Body) -> Vec<u8> {
    let body = tokio::time::timeout(Duration::from_secs(60), body.collect()).await;
    let body = body.expect("an answer ends").expect("an answer arrives whole");
    body.to_bytes().to_vec()
}
